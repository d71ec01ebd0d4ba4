//! Scenarios in a few lines, and short ways to their results.

use cogtcp_records::{Column, ColumnData, Run, Table};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};

/// The experiment of a scenario text.
pub(crate) fn experiment(text: &str) -> Experiment {
    match Scenario::parse(text, "test.toml").and_then(|scenario| scenario.resolve()) {
        Ok(experiment) => experiment,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Runs a scenario text without traces.
pub(crate) fn run_text(text: &str) -> Run {
    run(&experiment(text), &RunOptions::default()).unwrap()
}

/// Runs a scenario text with all traces.
pub(crate) fn run_traced(text: &str) -> Run {
    run(&experiment(text), &RunOptions { trace: TraceLevel::Full, ..RunOptions::default() }).unwrap()
}

/// Whether two tables are the same to the bit, with not-a-number the same as itself. Their texts are then the
/// same too, and writing those takes longer than the runs.
pub(crate) fn is_same_table(one: &Table, two: &Table) -> bool {
    let is_same = |(one, two): (&Column, &Column)| {
        (one.name, one.unit, one.meaning) == (two.name, two.unit, two.meaning)
            && match (&one.data, &two.data) {
                (ColumnData::F64(ours), ColumnData::F64(theirs)) => {
                    ours.len() == theirs.len()
                        && ours.iter().zip(theirs).all(|(one, two)| one.to_bits() == two.to_bits())
                }
                (one, two) => one == two,
            }
    };
    (one.name, one.meaning, one.columns.len()) == (two.name, two.meaning, two.columns.len())
        && one.columns.iter().zip(&two.columns).all(is_same)
}

/// One saturated flow of 1000-byte segments, each acknowledged at once, over one link called "link".
pub(crate) fn single_hop(duration: &str, warmup: &str, transport: &str, link: &str, rest: &str) -> String {
    format!(
        r#"
name = "single-hop"
[run]
duration = "{duration}"
warmup = "{warmup}"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
receive_buffer = "100 MB"
{rest}
[topology.single_hop]
link = {{ {link} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{transport}"
"#
    )
}

/// The table called `name`, which this run has.
pub(crate) fn extension<'a>(run: &'a Run, name: &str) -> &'a Table {
    run.table(name).unwrap_or_else(|| panic!("there is no table {name}"))
}

/// The number in column `name`, first row.
pub(crate) fn first(table: &Table, name: &str) -> f64 {
    table.number(name, 0).unwrap_or_else(|| panic!("{} has no {name}", table.name))
}

/// All numbers of column `name`.
pub(crate) fn column(table: &Table, name: &str) -> Vec<f64> {
    (0..table.len()).map(|row| table.number(name, row).unwrap()).collect()
}

/// Times of the events of `kind`.
pub(crate) fn event_times(run: &Run, kind: &str) -> Vec<f64> {
    (0..run.events.len())
        .filter(|row| run.events.text("kind", *row) == Some(kind))
        .map(|row| run.events.number("time_s", row).unwrap())
        .collect()
}

/// `measured` lies within `tolerance` (relative) of `theory`.
#[track_caller]
pub(crate) fn assert_close(measured: f64, theory: f64, tolerance: f64) {
    let off = measured / theory - 1.0;
    assert!(off.abs() <= tolerance, "measured {measured}, theory {theory}: off by {:.2} %", off * 100.0);
}
