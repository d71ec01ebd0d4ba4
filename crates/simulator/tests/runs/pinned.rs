//! Runs whose results are committed as text: a change of any of them fails until it is accepted.
//!
//! What ships, each transport, what a scenario can be made of (`pinned/kinds.txt`) and drawn scenarios, all
//! short. A line of `snapshots/pinned/` has what a reader compares, and two hashes: of all events with their
//! times, and of every cell of every table. They are the same on every machine, as the model uses integer time
//! and one libm (`clippy.toml`).
//!
//! To accept a change on purpose, run with `COGTCP_UPDATE_SNAPSHOTS=1`, read the difference, and enter it in
//! CHANGELOG "Changed results". A new run is accepted in the same way.

use crate::drawn as drawing;
use cogtcp_records::{ColumnData, Run, Table};
use cogtcp_scenario::{Scenario, all_transports, is_known_transport};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A run: its name, unique among its group's, and what makes its scenario.
struct Pinned {
    name: String,
    scenario: Box<dyn Fn() -> Scenario>,
}

/// Makes a test for each part of a group, so that a test is short, and one for the names.
macro_rules! groups {
    ($($group:ident: $($part:ident)*;)*) => {$(
        mod $group {
            const PARTS: &[&str] = &[$(stringify!($part)),*];

            $(#[test]
            fn $part() {
                let part = PARTS.iter().position(|part| *part == stringify!($part)).unwrap();
                super::check(stringify!($group), &super::$group(), part, PARTS.len());
            })*

            #[test]
            fn names() {
                super::check_names(stringify!($group), &super::$group());
            }
        }
    )*};
}

groups! {
    shipped: p0 p1 p2 p3 p4 p5 p6 p7 p8 p9;
    transports: p0 p1 p2 p3 p4 p5 p6 p7 p8 p9;
    kinds: p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23;
    drawn: p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23;
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
fn shipped() -> Vec<Pinned> {
    let of = |given: drawing::Given| {
        let name = given.name.clone();
        let span = SPANS.iter().find(|(of, _)| *of == name).map_or("10 s", |(_, span)| span);
        let scenario = move || set(&set(&given.scenario(), "run.warmup", "500 ms"), "run.duration", span);
        Pinned { name, scenario: Box::new(scenario) }
    };
    drawing::given().into_iter().map(of).collect()
}

/// Every transport, and other transports around each congestion control: over a link that loses packets, beside others at a queue that marks, and over the air.
fn transports() -> Vec<Pinned> {
    let of = |name: &str, place: &'static str| {
        let name = name.to_owned();
        let pinned = format!("{name}, {place}");
        let scenario = move || {
            let tried = named(place).with_transport(&name).unwrap();
            // What is not TCP has none of its settings.
            if tried.resolve().is_ok() { tried } else { set(&tried, "flow.0.tcp", "{}") }
        };
        Pinned { name: pinned, scenario: Box::new(scenario) }
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
fn kinds() -> Vec<Pinned> {
    let text = include_str!("pinned/kinds.txt");
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
        runs.push(Pinned { name: format!("{of}: {name}"), scenario: Box::new(scenario) });
    }
    runs
}

/// Scenarios drawn from what ships.
fn drawn() -> Vec<Pinned> {
    let of = |seed: u64| Pinned { name: format!("{seed}"), scenario: Box::new(move || drawing::drawn(seed)) };
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

/// Characters of a name.
const WIDTH: usize = 42;

const HEAD: &str = "run                                         Mbit/s   RTT ms    rtx   RTO  drops   events           digest           tables\n";

/// What a run gave, in a line.
fn line(pinned: &Pinned) -> String {
    let scenario = (pinned.scenario)();
    let experiment = scenario.resolve().unwrap_or_else(|error| panic!("{}: {error}", pinned.name));
    let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
    let run = run(&experiment, &options).unwrap_or_else(|error| panic!("{}: {error}", pinned.name));
    assert!(pinned.name.len() < WIDTH, "{} is too long", pinned.name);
    let mut line = format!("{:<WIDTH$}", pinned.name);
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
    let _ = writeln!(line, " {:016x} {:016x}", run.digest, hash(&run));
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

fn file(group: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/pinned/{group}.txt"))
}

/// The lines of a file of results, by the name of their run.
fn committed(group: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file(group)).unwrap_or_default();
    let lines = text.lines().skip(1);
    lines
        .map(|line| (line.chars().take(WIDTH).collect::<String>().trim_end().to_owned(), format!("{line}\n")))
        .collect()
}

/// Runs every `parts`-th run from number `part` on, and compares with what is committed.
fn check(group: &str, all: &[Pinned], part: usize, parts: usize) {
    let ours = all.iter().skip(part).step_by(parts);
    let now: BTreeMap<String, String> = ours.map(|pinned| (pinned.name.clone(), line(pinned))).collect();
    if std::env::var_os("COGTCP_UPDATE_SNAPSHOTS").is_some() {
        update(group, all, now.clone());
    }
    let known = committed(group);
    let mut differences = String::new();
    for (name, line) in &now {
        let old = known.get(name).map_or("not there\n", String::as_str);
        if old != line {
            let _ = write!(differences, "- {old}+ {line}");
        }
    }
    assert!(differences.is_empty(), "results changed; see the head of pinned.rs\n  {HEAD}{differences}");
}

/// The tests of a group run beside each other.
static WRITING: Mutex<()> = Mutex::new(());

/// Writes the lines `now` into the file of `group`, in the order of `all`; lines of other names go.
fn update(group: &str, all: &[Pinned], now: BTreeMap<String, String>) {
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut lines = committed(group);
    lines.extend(now);
    let lines = all.iter().filter_map(|pinned| lines.get(&pinned.name).map(String::as_str));
    let text: String = std::iter::once(HEAD).chain(lines).collect();
    std::fs::write(file(group), text).unwrap();
}

/// The committed file has the runs of the group, each once, and no other.
fn check_names(group: &str, all: &[Pinned]) {
    if std::env::var_os("COGTCP_UPDATE_SNAPSHOTS").is_some() {
        return;
    }
    let known: Vec<String> = committed(group).into_keys().collect();
    let mut names: Vec<String> = all.iter().map(|pinned| pinned.name.clone()).collect();
    names.sort();
    assert_eq!(known, names, "see the head of pinned.rs");
}
