//! Results that are committed as text: a change of any of them fails until it is accepted.
//!
//! A line of `snapshots/pinned/` is a run ([`results`]), what its scenario means, or a key of scenarios ([`ranges`]). A run has what a
//! reader compares, and two hashes: of all events with their times, and of every cell of every table. They are
//! the same on every machine, as the model uses integer time and one libm (`clippy.toml`).
//!
//! To accept a change on purpose, run with `COGTCP_UPDATE_SNAPSHOTS=1`, read the difference, and enter it in
//! CHANGELOG "Changed results". A new run is accepted in the same way.

mod ranges;
mod results;

use cogtcp_scenario::Scenario;
use ranges::limits;
use results::{drawn, kinds, resolved, shipped, transports};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A line: its name, unique in its group, and what makes the rest of it.
struct Pinned {
    name: String,
    told: Box<dyn Fn() -> String>,
    /// The scenario of a run.
    scenario: Option<Box<dyn Fn() -> Scenario>>,
}

/// Makes a test for each part of a group, so that a test is short, and one for the names.
macro_rules! groups {
    ($($group:ident, $head:expr => $($part:ident)*;)*) => {$(
        mod $group {
            const PARTS: &[&str] = &[$(stringify!($part)),*];

            $(#[test]
            fn $part() {
                let part = PARTS.iter().position(|part| *part == stringify!($part)).unwrap();
                super::check(stringify!($group), $head, &super::$group(), part, PARTS.len());
            })*

            #[test]
            fn names() {
                super::check_names(stringify!($group), &super::$group());
            }
        }
    )*};
}

groups! {
    shipped, super::results::HEAD => p0 p1 p2 p3 p4 p5 p6 p7 p8 p9;
    transports, super::results::HEAD => p0 p1 p2 p3 p4 p5 p6 p7 p8 p9;
    kinds, super::results::HEAD => p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23;
    drawn, super::results::HEAD => p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23;
    resolved, super::results::RESOLVED_HEAD => p0 p1 p2 p3 p4 p5 p6 p7;
    limits, super::ranges::HEAD => p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15;
}

/// The line of a name, as it is committed.
fn line(pinned: &Pinned) -> String {
    assert!(pinned.name.len() <= WIDTH && !pinned.name.contains("  "), "not a name: {}", pinned.name);
    format!("{:<WIDTH$}  {}\n", pinned.name, (pinned.told)())
}

/// Characters of a name, at most.
const WIDTH: usize = 60;

fn is_updating() -> bool {
    std::env::var_os("COGTCP_UPDATE_SNAPSHOTS").is_some()
}

fn file(group: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/pinned/{group}.txt"))
}

/// The committed lines of a group, by name.
fn committed(group: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file(group)).unwrap_or_default();
    let lines = text.lines().skip(1);
    lines.filter_map(|line| Some((line.split_once("  ")?.0.to_owned(), format!("{line}\n")))).collect()
}

/// Makes every `parts`-th line from number `part` on, and compares with what is committed.
fn check(group: &str, head: &str, all: &[Pinned], part: usize, parts: usize) {
    let ours = all.iter().skip(part).step_by(parts);
    let now: BTreeMap<String, String> = ours.map(|pinned| (pinned.name.clone(), line(pinned))).collect();
    if is_updating() {
        update(group, head, all, now.clone());
    }
    let known = committed(group);
    let mut differences = String::new();
    for (name, line) in &now {
        let old = known.get(name).map_or("not there\n", String::as_str);
        if old != line {
            let _ = write!(differences, "- {old}+ {line}");
        }
    }
    assert!(differences.is_empty(), "results changed; see the head of pinned.rs\n  {head}\n{differences}");
}

/// The tests of a group run beside each other.
static WRITING: Mutex<()> = Mutex::new(());

/// Writes the lines `now` into the file of `group`, in the order of `all`; lines of other names go.
fn update(group: &str, head: &str, all: &[Pinned], now: BTreeMap<String, String>) {
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut lines = committed(group);
    lines.extend(now);
    let lines = all.iter().filter_map(|pinned| lines.get(&pinned.name).map(String::as_str));
    let text: String = [head, "\n"].into_iter().chain(lines).collect();
    std::fs::write(file(group), text).unwrap();
}

/// The committed file has the lines of the group, each once, and no other.
fn check_names(group: &str, all: &[Pinned]) {
    if is_updating() {
        return;
    }
    let known: Vec<String> = committed(group).into_keys().collect();
    let mut names: Vec<String> = all.iter().map(|pinned| pinned.name.clone()).collect();
    names.sort();
    assert_eq!(known, names, "see the head of pinned.rs");
}
