//! Runs: what ships, each transport, what a scenario can be made of, and drawn scenarios. All are short.

use super::Pinned;
use crate::committed;
use crate::drawn as drawing;
use cogtcp_records::{ColumnData, Run, Table};
use cogtcp_scenario::{Scenario, all_transports, is_known_transport};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

fn of_run(name: String, scenario: impl Fn() -> Scenario + 'static) -> Pinned {
    let scenario = Rc::new(scenario);
    let (of, told) = (name.clone(), Rc::clone(&scenario));
    Pinned { name, told: Box::new(move || line(&of, &told())), scenario: Some(Box::new(move || scenario())) }
}

/// Spans of scenarios in which little happens in 10 s, or too much for a test.
const SPANS: &[(&str, &str)] = &[
    ("cbrs", "60 s"),
    ("chain", "45 s"),
    ("graph", "35 s"),
    ("starter graph", "15 s"),
    ("train", "60 s"),
    ("train-journey", "120 s"),
    ("trains/train", "60 s"),
    ("tvws", "60 s"),
    ("starter tvws", "20 s"),
    ("adhoc-cr", "5 s"),
    ("manet/crahn", "40 s"),
    ("manet/manet", "40 s"),
    ("c2/cell", "6 s"),
    ("c2/convergence", "70 s"),
];

/// What ships: scenarios, bases of studies and starters.
pub(super) fn shipped() -> Vec<Pinned> {
    let of = |given: drawing::Given| {
        let name = given.name.clone();
        let span = SPANS.iter().find(|(of, _)| *of == name).map_or("10 s", |(_, span)| span);
        let scenario = move || set(&set(&given.scenario(), "run.warmup", "500 ms"), "run.duration", span);
        of_run(name, scenario)
    };
    drawing::given().into_iter().map(of).collect()
}

/// Every transport, and other transports around each congestion control: over a link that loses packets, beside others at a queue that marks, and over the air.
pub(super) fn transports() -> Vec<Pinned> {
    let of = |name: &str, place: &'static str| {
        let name = name.to_owned();
        let pinned = format!("{name}, {place}");
        let scenario = move || {
            let tried = named(place).with_transport(&name).unwrap();
            // What is not TCP has none of its settings.
            if tried.resolve().is_ok() { tried } else { set(&tried, "flow.0.tcp", "{}") }
        };
        of_run(pinned, scenario)
    };
    let all = all_transports();
    let alone = all.iter().flat_map(|(name, _)| ["hop", "shared", "air"].map(|place| of(name, place)));
    let around = ["quic", "mptcp"].into_iter().flat_map(|outer| {
        let inside = all.iter().map(move |(name, _)| format!("{outer}-{name}"));
        inside.filter(|name| is_known_transport(name)).map(|name| of(&name, "hop"))
    });
    alone.chain(around).collect()
}

/// The runs of `pinned/kinds.txt`.
pub(super) fn kinds() -> Vec<Pinned> {
    let text = include_str!("kinds.txt");
    let mut base = "";
    let mut runs = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(line) = line.strip_prefix("  ") else {
            base = line;
            continue;
        };
        let (name, settings) = line.split_once(": ").unwrap_or((line, ""));
        let (of, common) = base.split_once("; ").unwrap_or((base, ""));
        let scenario = move || settings.split("; ").fold(common.split("; ").fold(named(of), with), with);
        runs.push(of_run(format!("{of}: {name}"), scenario));
    }
    runs
}

pub(super) const RESOLVED_HEAD: &str = "run: whether seeds differ, a hash of the experiment, and the warnings; a hash of the scenario as it is written";

/// What the scenarios of all runs mean.
pub(super) fn resolved() -> Vec<Pinned> {
    let of = |pinned: Pinned| {
        let scenario = pinned.scenario.expect("a run has a scenario");
        let told = move || {
            let scenario = scenario();
            let experiment = scenario.resolve().unwrap_or_else(|error| panic!("{error}"));
            let written = format!("{}{}", scenario.to_toml(), scenario.to_json());
            let warnings: String = scenario
                .warnings()
                .iter()
                .map(|it| format!(" | {}: {}; {}", it.field, it.message, it.remedy))
                .collect();
            // Files are named by where the sources lie.
            let root =
                Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().display().to_string();
            let [means, written] = [format!("{experiment:?}"), written]
                .map(|text| committed::hash(text.replace(&root, "").as_bytes()));
            format!("{} {means:016x} {written:016x}{warnings}", experiment.is_random())
        };
        Pinned { name: pinned.name, told: Box::new(told), scenario: None }
    };
    shipped().into_iter().chain(transports()).chain(kinds()).map(of).collect()
}

/// Scenarios drawn from what ships.
pub(super) fn drawn() -> Vec<Pinned> {
    let of = |seed: u64| of_run(format!("{seed}"), move || drawing::drawn(seed));
    (1000..1200).map(of).collect()
}

/// A scenario of `pinned/bases`, a starter or one that ships.
fn named(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/runs/pinned/bases/{name}.toml"));
    if path.exists() {
        return Scenario::read(&path).unwrap_or_else(|error| panic!("{error}"));
    }
    let given = drawing::given().into_iter();
    let mut fitting = given.filter(|given| given.name == format!("starter {name}") || given.name == name);
    fitting.next_back().unwrap_or_else(|| panic!("no scenario is called {name}")).scenario()
}

fn with(scenario: Scenario, setting: &str) -> Scenario {
    setting.split_once(" = ").map_or_else(|| scenario.clone(), |(path, value)| set(&scenario, path, value))
}

fn set(scenario: &Scenario, path: &str, value: &str) -> Scenario {
    scenario.set(path, value).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) const HEAD: &str = "run                                                             Mbit/s   RTT ms    rtx   RTO  drops   events           digest           tables";

/// What a run gave, in a line.
fn line(name: &str, scenario: &Scenario) -> String {
    let experiment = scenario.resolve().unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
    let run = run(&experiment, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut line = String::new();
    let rtts: Vec<f64> = numbers(&run.flows, "rtt_mean_s").filter(|rtt| rtt.is_finite()).collect();
    let rtt = 1e3 * rtts.iter().sum::<f64>() / rtts.len() as f64;
    let goodput = numbers(&run.flows, "goodput_bps").filter(|it| it.is_finite()).sum::<f64>() / 1e6;
    let timeouts =
        (0..run.events.len()).filter(|row| run.events.text("kind", *row) == Some("timeout")).count();
    let drops: f64 = numbers(&run.flows, "drops").chain(numbers(&run.flows, "ack_drops")).sum();
    let retransmitted: f64 = numbers(&run.flows, "retransmitted_segments").sum();
    let _ = write!(
        line,
        "{goodput:>8.3} {rtt:>8.2} {retransmitted:>6} {timeouts:>5} {drops:>6.0} {:>8}",
        run.engine_events
    );
    let _ = write!(line, " {:016x} {:016x}", run.digest, hash(&run));
    line
}

fn numbers<'a>(table: &'a Table, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    (0..table.len()).filter_map(move |row| table.number(name, row))
}

/// Hashes every cell of every table (FNV-1a).
fn hash(run: &Run) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    for table in run.tables() {
        text(table.name, &mut add);
        for column in &table.columns {
            text(column.name, &mut add);
            match &column.data {
                ColumnData::U64(values) => values.iter().for_each(|value| add(*value)),
                ColumnData::I64(values) => values.iter().for_each(|value| add(*value as u64)),
                // Not-a-number has many forms.
                ColumnData::F64(values) => {
                    values.iter().for_each(|value| add(if value.is_nan() { 1 } else { value.to_bits() }));
                }
                ColumnData::Bool(values) => values.iter().for_each(|value| add(u64::from(*value))),
                ColumnData::Text { codes, dictionary } => {
                    codes.iter().for_each(|code| text(&dictionary[*code as usize], &mut add));
                }
            }
        }
    }
    hash
}

fn text(text: &str, add: &mut impl FnMut(u64)) {
    text.bytes().for_each(|byte| add(u64::from(byte)));
    add(0x100);
}
