//! Changes of transmit power.

use crate::resolve::Findings;
use crate::tree::KeyPath;
use crate::{NodePower, Run};
use cogtcp_adhoc::PowerChange;
use cogtcp_units::Time;

/// Returns the changes in the order of time; of equal times in the order of the file.
pub(super) fn powers(
    changes: &[NodePower],
    nodes: usize,
    run: &Run,
    path: &KeyPath,
    findings: &mut Findings,
) -> Vec<PowerChange> {
    let mut found = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        let path = path.index(number);
        if change.power.watts() <= 0.0 {
            findings.error(
                &path.key("power"),
                "a frame without power reaches no node",
                "write one above zero",
            );
        }
        if change.at >= run.duration {
            let message = format!("\"{}\" is not in the run, which lasts \"{}\"", change.at, run.duration);
            findings.error(&path.key("at"), message, "write an earlier time");
        }
        let node = change.node.as_deref().map(|name| {
            let digits = name.strip_prefix('n').unwrap_or(name);
            digits.parse::<u32>().ok().filter(|node| (*node as usize) < nodes)
        });
        if node == Some(None) {
            let name = change.node.as_deref().unwrap_or_default();
            let message = format!("there is no node \"{name}\"");
            findings.error(&path.key("node"), message, format!("write \"n0\" to \"n{}\"", nodes - 1));
        }
        found.push(PowerChange { at: Time::ZERO + change.at, node: node.flatten(), power: change.power });
    }
    found.sort_by_key(|change| change.at);
    found
}
