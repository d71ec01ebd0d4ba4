//! Drawn scenarios: in a debug build no run reaches a case that the code calls impossible.
//!
//! Each begins as a scenario that ships, a study's base or a starter, is changed in a few places, and gets
//! flows and UDP sources between any nodes.

use super::batches::cases;
use cogtcp_scenario::{Experiment, STARTERS, Scenario, all_transports, starter};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::RandomStream;
use std::path::{Path, PathBuf};

/// A scenario that ships: its name, and its file if it has one.
pub(super) struct Given {
    pub(super) name: String,
    path: Option<PathBuf>,
}

impl Given {
    pub(super) fn scenario(&self) -> Scenario {
        let read = match &self.path {
            Some(path) => Scenario::read(path),
            None => {
                let kind = self.name.trim_start_matches("starter ");
                starter(kind).and_then(|text| Scenario::parse(&text, kind))
            }
        };
        read.unwrap_or_else(|error| panic!("{error}"))
    }
}

fn scenarios_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // A folder has its own order on every machine.
    paths.sort();
    paths
}

/// Scenarios, bases of studies and starters.
pub(super) fn given() -> Vec<Given> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut studies: Vec<PathBuf> =
        std::fs::read_dir(root.join("studies")).unwrap().map(|entry| entry.unwrap().path()).collect();
    studies.sort();
    let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let shipped = scenarios_in(&root.join("scenarios")).into_iter().map(|path| (stem(&path), path));
    let bases = studies.iter().filter(|study| study.join("scenarios").is_dir()).flat_map(|study| {
        let of = move |path: PathBuf| (format!("{}/{}", stem(study), stem(&path)), path);
        scenarios_in(&study.join("scenarios")).into_iter().map(of)
    });
    let files = shipped.chain(bases).map(|(name, path)| Given { name, path: Some(path) });
    let starters = STARTERS.iter().map(|(kind, _)| Given { name: format!("starter {kind}"), path: None });
    files.chain(starters).collect()
}

/// Other values of keys whose values are words.
const WORDS: &[(&str, &[&str])] = &[
    (
        "silence",
        &[
            "\"hold\"",
            "\"drop\"",
            "\"refuse\"",
            "\"down\"",
            "\"down\"\nflush = \"queue\"",
            "\"down\"\nflush = \"wire\"",
        ],
    ),
    ("access", &["\"dcf\"", "\"none\"", "\"scheduled\""]),
    ("ends", &["\"synchronous\"", "\"independent\""]),
    ("while_peer_senses", &["\"wait\"", "\"retry\""]),
    ("transmit_radio", &["\"shared\"", "\"separate\""]),
    ("reception", &["\"sinr\"", "\"as_released\""]),
    ("channel", &["\"stay\"", "{ range = [\"1 Mbit/s\", \"8 Mbit/s\"] }"]),
    (
        "queue",
        &[
            "\"2 packets\"",
            "\"9 kB\"",
            "\"codel\"",
            "\"fq_codel\"",
            "{ fq_codel = { limit = 8 } }",
            "\"dualpi2\"",
            "{ red = {} }",
        ],
    ),
    ("loss", &["0.0", "0.01", "0.3"]),
    ("warmup", &["\"0 s\"", "\"1 s\""]),
    ("delayed_ack", &["\"off\"", "\"linux\"", "\"200 ms\""]),
    ("routing", &["\"aodv\"", "\"cr_aodv\"", "\"search\""]),
    ("radios", &["\"one\"", "\"two\"", "\"three\""]),
    ("on_link_failure", &["\"drop\"", "\"requeue\""]),
    ("prediction", &["\"oracle\"", "\"none\""]),
    ("start", &["\"0 s\"", "\"0.5 s\"", "\"1 s\"", "\"2.999 s\""]),
    ("traffic", TRAFFIC),
];

const TRAFFIC: &[&str] = &[
    "\"saturated\"",
    "{ size = \"50 kB\" }",
    "{ rate = \"300 kbit/s\" }",
    "{ requests = { size = \"20 kB\", every = \"200 ms\" } }",
    "{ video = {} }",
    "{ adaptive_video = {} }",
];

fn pick<'a>(random: &mut RandomStream, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len() as u64) as usize]
}

/// Draws one of some texts. Where one is added, the same is drawn as before, or the new one.
fn choose<'a>(random: &mut RandomStream, choices: impl IntoIterator<Item = &'a str>) -> usize {
    let salt = random.below(u64::MAX);
    let score = |text: &str| RandomStream::new(salt, text, 0).below(u64::MAX);
    let least = choices.into_iter().map(score).enumerate().min_by_key(|(_, score)| *score);
    least.expect("something to choose from").0
}

fn a_transport(random: &mut RandomStream) -> &'static str {
    let all = all_transports();
    all[choose(random, all.iter().map(|(name, _)| *name))].0
}

/// Changes one line: another word, another truth, or a number of another size.
fn change(text: &str, random: &mut RandomStream) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let place = choose(random, lines.iter().copied());
    let changed = match lines[place].split_once(" = ") {
        Some((key, value)) if key != "duration" && key != "seed" => {
            let value = if key == "transport" {
                format!("{:?}", a_transport(random))
            } else if let Some((_, words)) = WORDS.iter().find(|(word, _)| *word == key) {
                pick(random, words).to_owned()
            } else {
                other_value(value, random)
            };
            format!("{key} = {value}")
        }
        _ => lines[place].to_owned(),
    };
    let lines = lines.iter().enumerate().map(|(at, line)| if at == place { &changed } else { *line });
    lines.map(|line| format!("{line}\n")).collect()
}

fn other_value(value: &str, random: &mut RandomStream) -> String {
    match value {
        "true" => return "false".to_owned(),
        "false" => return "true".to_owned(),
        _ => {}
    }
    let first = value.find(|c: char| c.is_ascii_digit()).unwrap_or(value.len());
    let end =
        value[first..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(value.len(), |end| first + end);
    let number = &value[first..end];
    let factor = [0.0, 0.1, 0.5, 2.0][random.below(4) as usize];
    match number.parse::<f64>() {
        // A whole number stays one.
        Ok(known) if !number.contains('.') => {
            format!("{}{}{}", &value[..first], (known * factor).round() as u64, &value[end..])
        }
        Ok(known) => format!("{}{:?}{}", &value[..first], known * factor, &value[end..]),
        Err(_) => value.to_owned(),
    }
}

/// A flow or a UDP source between two nodes.
fn sender(experiment: &Experiment, number: u64, random: &mut RandomStream) -> String {
    let nodes = experiment.nodes.len() as u64;
    let from = random.below(nodes);
    let ends =
        [from, (from + 1 + random.below(nodes - 1)) % nodes].map(|node| &experiment.nodes[node as usize]);
    let [from, to] = ends;
    let start = random.below(2000);
    if random.below(3) == 0 {
        let pattern = pick(random, &["{ constant = \"200 kbit/s\" }", "{ poisson = \"300 kbit/s\" }"]);
        return format!(
            "[[udp]]\nname = \"drawn{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"500 B\"\nstart = \"{start} ms\"\n\
             pattern = {pattern}\n"
        );
    }
    let transport = a_transport(random);
    let (traffic, stop) = (pick(random, TRAFFIC), pick(random, &["", "", "stop = \"2.5 s\"\n"]));
    format!(
        "[[flow]]\nname = \"drawn{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{transport}\"\n\
         start = \"{start} ms\"\ntraffic = {traffic}\n{stop}"
    )
}

/// The text with the times of a run of 3 s.
fn shortened(text: &str) -> String {
    let in_time = |line: &str| match line.split_once(" = \"") {
        Some(("warmup" | "stagger", _)) => String::new(),
        Some((key @ ("start" | "stop"), value)) => match value.trim_end_matches(" s\"").parse::<f64>() {
            Ok(seconds) if seconds >= 1.0 => {
                format!("{key} = \"{} s\"\n", 0.5 + f64::from(u8::from(key == "stop")))
            }
            _ => format!("{line}\n"),
        },
        _ => format!("{line}\n"),
    };
    text.lines().map(in_time).collect()
}

/// Draws a scenario that resolves.
pub(super) fn drawn(seed: u64) -> Scenario {
    let mut random = RandomStream::new(seed, "drawn", 0);
    let all = given();
    let place = choose(&mut random, all.iter().map(|given| given.name.as_str()));
    let Given { name, path } = &all[place];
    let source = path.as_ref().map_or_else(|| name.clone(), |path| path.display().to_string());
    let resolve = |text: &str| {
        let scenario = Scenario::parse(text, &source)?.set("run.duration", "3 s")?.with_seed(seed)?;
        let experiment = scenario.resolve()?;
        Ok::<_, cogtcp_scenario::ScenarioError>((scenario, experiment))
    };
    let text = shortened(&all[place].scenario().to_toml());
    let (mut scenario, mut experiment) = resolve(&text).unwrap_or_else(|error| panic!("{error}"));
    // A change that the scenario refuses is another test's.
    for _ in 0..4 + random.below(12) {
        if let Ok(next) = resolve(&change(&scenario.to_toml(), &mut random)) {
            (scenario, experiment) = next;
        }
    }
    for number in 0..random.below(3) {
        let sender = sender(&experiment, number, &mut random);
        if let Ok(next) = resolve(&format!("{}{sender}", scenario.to_toml())) {
            (scenario, experiment) = next;
        }
    }
    scenario
}

#[test]
fn no_drawn_scenario_reaches_the_impossible() {
    for seed in 0..cases() {
        let scenario = drawn(seed);
        let (text, experiment) = (scenario.to_toml(), scenario.resolve().unwrap());
        let levels =
            [TraceLevel::None, TraceLevel::None, TraceLevel::Series, TraceLevel::Full, TraceLevel::Packets];
        let trace = levels[seed as usize % levels.len()];
        let ran =
            std::panic::catch_unwind(|| run(&experiment, &RunOptions { trace, ..RunOptions::default() }));
        let ran = ran.unwrap_or_else(|_| panic!("seed {seed}, {trace:?}\n{text}"));
        assert!(ran.is_ok(), "seed {seed}, {trace:?}: {ran:?}\n{text}");
    }
}
