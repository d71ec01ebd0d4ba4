//! The range of every number of a scenario: the least and the greatest value that are accepted, and what is
//! said beyond.
//!
//! Of each key the values 1, 2 and 5 times a power of ten are tried, by bisection up and down from the value
//! that stands there; at the end zero and -1. The values that a message names are tried, too, with those a hair
//! below and above: `-++` at 1 says that 1 and more are accepted. So is zero, which may be accepted alone. A key
//! is tried in the first scenario that has it.

use super::{Pinned, kinds, shipped};
use cogtcp_scenario::Scenario;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

pub(super) const HEAD: &str = "key and value: least and greatest value that is accepted; what is said beyond";

/// A number in a scenario: its path, its value, and the unit behind it.
#[derive(Clone)]
struct Number {
    path: String,
    value: f64,
    after: String,
    is_whole: bool,
}

/// The numbers of every scenario that is pinned, each once.
pub(super) fn limits() -> Vec<Pinned> {
    let mut first: BTreeMap<String, (Rc<Scenario>, Number)> = BTreeMap::new();
    for scenario in shipped().into_iter().chain(kinds()).filter_map(|pinned| pinned.scenario) {
        let scenario = Rc::new(scenario());
        let mut found = Vec::new();
        numbers(&serde_json::from_str(&scenario.to_json()).unwrap(), "", &mut found);
        for number in found {
            first.entry(key(&number)).or_insert_with(|| (Rc::clone(&scenario), number));
        }
    }
    let pinned = |(name, (scenario, number)): (String, (Rc<Scenario>, Number))| Pinned {
        name,
        told: Box::new(move || range(&scenario, &number)),
        scenario: None,
    };
    first.into_iter().map(pinned).collect()
}

/// The path without numbers of elements and without the root, and the unit.
fn key(number: &Number) -> String {
    let steps = number.path.split('.').map(|step| if step.parse::<u32>().is_ok() { "*" } else { step });
    format!("{}{}", steps.collect::<Vec<_>>().join("."), number.after)
}

fn numbers(value: &Value, path: &str, found: &mut Vec<Number>) {
    let below = |step: &str| if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
    match value {
        Value::Object(table) => table.iter().for_each(|(step, value)| numbers(value, &below(step), found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, value)| numbers(value, &below(&n.to_string()), found));
        }
        Value::Number(number) => {
            let path = path.to_owned();
            let is_whole = !number.is_f64();
            let value = number.as_f64().unwrap();
            found.push(Number { path, value, after: String::new(), is_whole });
        }
        Value::String(text) => {
            // As "20 ms"; names may begin with a digit, too.
            let Some((number, unit)) = text.split_once(' ').filter(|(_, unit)| !unit.contains(' ')) else {
                return;
            };
            if let Ok(value) = number.parse::<f64>() {
                let after = format!(" {unit}");
                found.push(Number { path: path.to_owned(), value, after, is_whole: false });
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// What is said of a value; `None`: it is accepted.
fn said(scenario: &Scenario, number: &Number, value: f64) -> Option<String> {
    said_of(scenario, number, &written(number, value, &number.after))
}

fn written(number: &Number, value: f64, after: &str) -> String {
    if number.is_whole || !after.is_empty() { format!("{value}{after}") } else { format!("{value:?}") }
}

fn said_of(scenario: &Scenario, number: &Number, text: &str) -> Option<String> {
    let error = scenario.set(&number.path, text).and_then(|scenario| scenario.resolve()).err()?;
    Some(format!("{}: {}; {}", error.field, error.message, error.remedy))
}

/// Whether values a hair below, at and a hair above each value that a message names are accepted.
fn around(scenario: &Scenario, number: &Number, said: &str) -> String {
    let mut line = String::new();
    let remedy = said.rsplit("; ").next().unwrap_or_default();
    let quoted = remedy.split('"').skip(1).step_by(2).map(str::to_owned);
    let bare = remedy
        .split('"')
        .step_by(2)
        .flat_map(|text| text.split([' ', ',', ')']))
        .map(|word| word.to_owned() + &number.after);
    for value in quoted.chain(bare) {
        let (digits, after) = value.split_at(value.find(' ').unwrap_or(value.len()));
        let Ok(value) = digits.parse::<f64>() else { continue };
        let hair = if number.is_whole { 1.0 } else { (value.abs() * 1e-6).max(1e-9) };
        let marks = [value - hair, value, value + hair].map(|value| {
            if said_of(scenario, number, &written(number, value, after)).is_some() { '-' } else { '+' }
        });
        let _ = write!(line, " {value}{after} {}", marks.iter().collect::<String>());
    }
    line
}

/// The accepted range around the value, and what is said at its ends.
fn range(scenario: &Scenario, number: &Number) -> String {
    if said(scenario, number, number.value).is_some() {
        return "-".to_owned();
    }
    let lowest = if number.is_whole { 0 } else { -9 };
    let round = (lowest..=12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| tidy(digit, power)));
    let all: Vec<f64> = round.collect();
    let mut down: Vec<f64> = all.iter().copied().filter(|value| *value < number.value).rev().collect();
    down.extend([0.0, -1.0].into_iter().filter(|value| *value < number.value));
    let up: Vec<f64> = all.into_iter().filter(|value| *value > number.value).collect();
    let mut line = String::new();
    let zero = said_of(scenario, number, &written(number, 0.0, &number.after)).is_none();
    let ends = [down, up].map(|values| {
        let accepted = values.partition_point(|value| said(scenario, number, *value).is_none());
        let last = accepted.checked_sub(1).map_or(number.value, |last| values[last]);
        (last, values.get(accepted).and_then(|value| said(scenario, number, *value)))
    });
    let _ = write!(line, "{} to {}{}", ends[0].0, ends[1].0, if zero { ", 0" } else { "" });
    for said in ends.into_iter().filter_map(|(_, said)| said) {
        let _ = write!(line, " | {}{}", said.replace("  ", " "), around(scenario, number, &said));
    }
    line
}

/// `digit` times ten to the `power`, as it is written in decimals.
fn tidy(digit: f64, power: i32) -> f64 {
    format!("{digit}e{power}").parse().unwrap()
}
