//! What the model does in each packet script, and in scripts with a change, committed as text.

use crate::committed::{self, hash};
use crate::scripts::files;
use cogtcp_packet_scripts::{Script, model};
use std::fmt::Write;

/// Changed copies of each script.
const CHANGES: u64 = 8;

/// The verdict of a script, its last packet, and a hash of all that happened.
fn verdict(text: &str, name: &str) -> String {
    let report = match Script::parse(text, name).and_then(|script| model::play(&script)) {
        Ok(report) => report,
        Err(error) => return format!("{error}\n"),
    };
    let hash = hash(format!("{:?} {:?}", report.mismatch, report.trace).as_bytes());
    match report.mismatch {
        None => {
            let last = report.trace.last().map_or("", |line| &line.text);
            format!("passes, {} lines, {last}  {hash:016x}\n", report.trace.len())
        }
        Some(it) => format!("line {}: {}: {} / {}  {hash:016x}\n", it.line, it.what, it.expected, it.got),
    }
}

/// The least that draws numbers: Knuth's 64-bit linear congruence.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// Changes a number, drops a word or a line, or repeats a line.
fn changed(text: &str, state: &mut u64) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = draw(state, lines.len());
    let words: Vec<&str> = lines[at].split(' ').collect();
    let word = draw(state, words.len());
    match draw(state, 6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let left = words.iter().enumerate().filter(|(n, _)| *n != word).map(|(_, word)| *word);
            lines[at] = left.collect::<Vec<_>>().join(" ");
        }
        more => {
            let is_digit = |(_, c): &(usize, char)| c.is_ascii_digit();
            let digits: Vec<usize> = lines[at].char_indices().filter(is_digit).map(|(n, _)| n).collect();
            if !digits.is_empty() {
                let digit = digits[draw(state, digits.len())];
                lines[at].replace_range(digit..=digit, ["0", "7", "1000"][more - 3]);
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Plays every fourth script from number `part` on.
fn compare(part: usize) {
    let mut now = String::new();
    for path in files().iter().skip(part).step_by(PARTS) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let _ = write!(now, "{name}: {}", verdict(&text, &name));
        for case in 0..CHANGES {
            let mut state = name.bytes().fold(case, |state, byte| state.wrapping_mul(31) + u64::from(byte));
            let _ = write!(now, "  {case}: {}", verdict(&changed(&text, &mut state), &name));
        }
    }
    committed::compare(&format!("scripts-{part}"), &now);
}

const PARTS: usize = 4;

#[test]
fn scripts_first_part() {
    compare(0);
}

#[test]
fn scripts_second_part() {
    compare(1);
}

#[test]
fn scripts_third_part() {
    compare(2);
}

#[test]
fn scripts_fourth_part() {
    compare(3);
}
