//! Drawn scenarios: in a debug build no run reaches a case that the code calls impossible.
//!
//! Each begins as a scenario that ships, a study's base or a starter, is changed in a few places, and gets
//! flows and UDP sources between any nodes.

use super::batches::cases;
use cogtcp_scenario::{Experiment, STARTERS, Scenario, all_transports, starter};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::RandomStream;
use std::path::{Path, PathBuf};

/// A scenario: its text, and the name of its file, by which it finds other files.
struct Given {
    text: String,
    name: String,
}

fn scenarios_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // A folder has its own order on every machine.
    paths.sort();
    paths
}

fn given() -> Vec<Given> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut studies: Vec<PathBuf> =
        std::fs::read_dir(root.join("studies")).unwrap().map(|entry| entry.unwrap().path()).collect();
    studies.sort();
    let folders = std::iter::once(root.join("scenarios"))
        .chain(studies.iter().map(|study| study.join("scenarios")).filter(|folder| folder.is_dir()));
    let files = folders.flat_map(|folder| scenarios_in(&folder)).map(|path| Given {
        text: Scenario::read(&path).unwrap_or_else(|error| panic!("{error}")).to_toml(),
        name: path.display().to_string(),
    });
    let starters = STARTERS.iter().map(|(kind, _)| {
        let scenario =
            Scenario::parse(&starter(kind).unwrap(), kind).unwrap_or_else(|error| panic!("{error}"));
        Given { text: scenario.to_toml(), name: (*kind).to_owned() }
    });
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

/// Changes one line: another word, another truth, or a number of another size.
fn change(text: &str, random: &mut RandomStream) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let place = random.below(lines.len() as u64) as usize;
    let changed = match lines[place].split_once(" = ") {
        Some((key, value)) if key != "duration" && key != "seed" => {
            let value = if key == "transport" {
                let all = all_transports();
                format!("{:?}", all[random.below(all.len() as u64) as usize].0)
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
    let all = all_transports();
    let transport = all[random.below(all.len() as u64) as usize].0;
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

/// Draws a scenario: its text and what it resolves to.
fn drawn(all: &[Given], seed: u64) -> (String, Experiment) {
    let mut random = RandomStream::new(seed, "drawn", 0);
    let Given { text, name } = &all[random.below(all.len() as u64) as usize];
    let resolve = |text: &str| {
        let scenario = Scenario::parse(text, name)?.set("run.duration", "3 s")?.with_seed(seed)?;
        Ok::<_, cogtcp_scenario::ScenarioError>((scenario.to_toml(), scenario.resolve()?))
    };
    let (mut text, mut experiment) = resolve(&shortened(text)).unwrap_or_else(|error| panic!("{error}"));
    // A change that the scenario refuses is another test's.
    for _ in 0..4 + random.below(12) {
        if let Ok(next) = resolve(&change(&text, &mut random)) {
            (text, experiment) = next;
        }
    }
    for number in 0..random.below(3) {
        if let Ok(next) = resolve(&format!("{text}{}", sender(&experiment, number, &mut random))) {
            (text, experiment) = next;
        }
    }
    (text, experiment)
}

#[test]
fn no_drawn_scenario_reaches_the_impossible() {
    let all = given();
    for seed in 0..cases() {
        let (text, experiment) = drawn(&all, seed);
        let levels =
            [TraceLevel::None, TraceLevel::None, TraceLevel::Series, TraceLevel::Full, TraceLevel::Packets];
        let trace = levels[seed as usize % levels.len()];
        let ran =
            std::panic::catch_unwind(|| run(&experiment, &RunOptions { trace, ..RunOptions::default() }));
        let ran = ran.unwrap_or_else(|_| panic!("seed {seed}, {trace:?}\n{text}"));
        assert!(ran.is_ok(), "seed {seed}, {trace:?}: {ran:?}\n{text}");
    }
}
