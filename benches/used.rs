//! What users run: cost of a packet by transport and by access, beside SACK over a plain link.
//!
//! *Packets* are those that links carry. Instructions are callgrind's, where `valgrind` is on the PATH: what a run takes
//! more than a run of a quarter of its time, so start and report cancel. Times are processor time in pairs with SACK over
//! the plain link, and with an engine built before where `ENGINE_BEFORE` names its bench.

use crate::pairs::{Cost, Pairs};
use crate::time;
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::TraceLevel;
use cogtcp_units::Duration;
use std::process::Command;

/// `sensed-link` without its radio.
const PLAIN: &str = "plain-link";
/// A scenario's own transport.
const OWN: &str = "own";

/// A scenario, its transport, and how long to simulate, s.
type Case = (&'static str, &'static str, u64);

const BASE: Case = (PLAIN, "sack", 1000);

const CASES: [Case; 15] = [
    (PLAIN, "linux-cubic", 1000),
    (PLAIN, "quic", 200),
    ("sensed-link", "sack", 1000),
    ("sensed-link", "newreno", 1000),
    ("sensed-link", "linux-reno", 1000),
    ("sensed-link", "linux-cubic", 1000),
    ("sensed-link", "linux-bbr", 1000),
    ("sensed-link", "tfrc", 400),
    ("sensed-link", "quic", 200),
    ("lte-cell", OWN, 60),
    ("leo", OWN, 200),
    ("wifi-dfs", OWN, 400),
    ("cbrs", OWN, 400),
    ("cr-single-hop", OWN, 200),
    ("dumbbell-bench", OWN, 60),
];

/// Returns a shipped scenario with this transport in all flows, for so many seconds.
fn experiment(scenario: &str, transport: &str, seconds: u64) -> Result<Experiment, String> {
    let name = if scenario == PLAIN { "sensed-link" } else { scenario };
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = |line: &str| match line.starts_with("transport = ") && transport != OWN {
        true => format!("transport = \"{transport}\"\n"),
        false => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let parsed = Scenario::parse(&text, &path).and_then(|scenario| scenario.resolve());
    let mut experiment = parsed.map_err(|error| error.to_string())?;
    if scenario == PLAIN {
        experiment.radios.clear();
    }
    experiment.run.duration = Duration::from_secs(seconds);
    experiment.run.warmup = experiment.run.warmup.min(experiment.run.duration / 2);
    Ok(experiment)
}

/// Runs one scenario, for a profiler: prints nanoseconds a packet, and packets.
pub(crate) fn profile(scenario: &str, transport: &str, seconds: &str) {
    let seconds = seconds.parse().map_err(|_| "write whole seconds".to_owned());
    match seconds.and_then(|seconds| experiment(scenario, transport, seconds)) {
        Ok(experiment) => {
            let (_, cpu, run) = time(&experiment, TraceLevel::None, 1);
            println!("{:.2} ns a packet, {} packets", cpu * 1e9 / run.packet_hops as f64, run.packet_hops);
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}

/// Prints the digest of every shipped scenario, with a trace and without: for comparisons of two builds.
pub(crate) fn digests() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let files = std::fs::read_dir(folder).expect("the folder of scenarios");
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let text = std::fs::read_to_string(file).expect("a scenario");
        let parsed =
            Scenario::parse(&text, &file.display().to_string()).and_then(|scenario| scenario.resolve());
        let digests: Vec<String> = match parsed {
            Ok(experiment) => [TraceLevel::Full, TraceLevel::None]
                .map(|trace| format!("{:016x}", time(&experiment, trace, 1).2.digest))
                .into(),
            Err(error) => vec![error.to_string()],
        };
        println!("{} {}", file.file_stem().unwrap_or_default().display(), digests.join(" "));
    }
}

/// Prints the table: `count` pairs of each case.
pub(crate) fn table(count: u32) {
    let before = std::env::var_os("ENGINE_BEFORE");
    println!(
        "\nA packet that a link carries, by transport and access; pairs with {} over {}",
        BASE.1, BASE.0
    );
    println!(
        "scenario        transport      ns a packet             times SACK's            instructions  times SACK's{}",
        if before.is_some() { "  before / now" } else { "" }
    );
    let base_count = instructions(BASE);
    for case in std::iter::once(BASE).chain(CASES) {
        let (scenario, transport, _) = case;
        let pairs = Pairs::take(count, || Ok(cost(case)), || cost(BASE));
        let Ok(pairs) = pairs else { continue };
        let count_of = if case == BASE { base_count.clone() } else { instructions(case) };
        let (own, ratio) = match (&count_of, &base_count) {
            (Ok(own), Ok(base)) => (format!("{own:.0}"), format!("{:.2}", own / base)),
            (Err(why), _) | (_, Err(why)) => (why.clone(), String::new()),
        };
        let beside = before.as_ref().map(|program| {
            let theirs = || ran(Command::new(program).args(arguments(case)));
            match Pairs::take(count, theirs, || cost(case)) {
                Ok(pairs) => pairs.for_work(0.0).to_string(),
                Err(why) => why,
            }
        });
        println!(
            "{scenario:<15} {transport:<14} {:<23} {:<23} {own:>12}  {ratio:>12}  {}",
            pairs.range(|theirs, _| theirs.seconds * 1e9 / theirs.work),
            pairs.for_work(0.0),
            beside.unwrap_or_default()
        );
    }
}

fn arguments((scenario, transport, seconds): Case) -> [String; 4] {
    ["--profile-used".into(), scenario.into(), transport.into(), seconds.to_string()]
}

fn cost((scenario, transport, seconds): Case) -> Cost {
    let experiment =
        experiment(scenario, transport, seconds).unwrap_or_else(|error| panic!("{scenario}: {error}"));
    let (_, cpu, run) = time(&experiment, TraceLevel::None, 1);
    Cost { seconds: cpu, work: run.packet_hops as f64 }
}

/// Cost of a case in another process, as [`profile`] prints it.
fn ran(command: &mut Command) -> Result<Cost, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(each), Some(work)) => Ok(Cost { seconds: each * work / 1e9, work }),
        _ => Err(format!("unexpected output: {text}")),
    }
}

/// Instructions a packet, by callgrind.
fn instructions((scenario, transport, seconds): Case) -> Result<f64, String> {
    let count = |seconds: u64| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        let output = command.args(arguments((scenario, transport, seconds))).output();
        let output = output.map_err(|_| "no valgrind".to_owned())?;
        let (told, printed) =
            (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        let of = |text: &str, place: Option<usize>| {
            let line = text[place?..].lines().next()?;
            line.chars().filter(char::is_ascii_digit).collect::<String>().parse::<f64>().ok()
        };
        let instructions = of(&told, told.find("refs:"));
        let packets = of(&printed, printed.find("packet, "));
        instructions.zip(packets).ok_or_else(|| "callgrind failed".to_owned())
    };
    let ((more, packets), (less, fewer)) = (count(seconds / 10)?, count(seconds / 40)?);
    Ok((more - less) / (packets - fewer))
}
