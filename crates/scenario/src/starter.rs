//! Starter scenarios for people who begin.

use crate::{ScenarioError, suggest};

/// The kinds of starter scenarios, and what each is, in a line.
pub const STARTERS: &[(&str, &str)] = &[
    ("single-hop", "one link with a cognitive radio and primary users, one flow"),
    ("cr-users", "two CR users in full: sensing with errors, handoff, CSMA/CA"),
    ("cbrs", "20 Mbit/s on three channels with incumbents, under a SAS: grants and heartbeats"),
    ("wire-and-radio", "a wired path, then a radio hop that senses"),
    ("bonded", "Multipath TCP over a CR channel and a narrow licensed one"),
    ("lte-cell", "a private LTE cell of four users, scheduled by its base station"),
    ("wifi-dfs", "Wi-Fi on a DFS channel: radar, and 60 s of availability check"),
    ("tvws", "TV white space: a database withdraws channels"),
    ("leo", "a low-orbit satellite link: an outage and another delay every 15 s"),
    ("train", "a train whose router predicts outages and warns its clients"),
    ("traffic", "requests, a video and cross traffic over one sensed link"),
    ("dumbbell", "pairs of senders and receivers that share a bottleneck"),
    ("chain", "nodes in a row; all hops sense together"),
    ("graph", "any network, its links listed one by one"),
    ("ad-hoc", "mobile nodes that find routes over several hops"),
    ("ad-hoc-pu", "mobile CR users among primary users: sensing, handoff, CR-AODV"),
    ("lte-call", "a call beside a download in a private LTE cell"),
];

/// A commented scenario of the kind `kind` (one of [`STARTERS`]), to be edited.
pub fn starter(kind: &str) -> Result<String, ScenarioError> {
    let text = match kind {
        "single-hop" => include_str!("../starters/single-hop.toml"),
        "cr-users" => include_str!("../starters/cr-users.toml"),
        "cbrs" => include_str!("../starters/cbrs.toml"),
        "wire-and-radio" => include_str!("../starters/wire-and-radio.toml"),
        "bonded" => include_str!("../starters/bonded.toml"),
        "lte-cell" => include_str!("../starters/lte-cell.toml"),
        "wifi-dfs" => include_str!("../starters/wifi-dfs.toml"),
        "tvws" => include_str!("../starters/tvws.toml"),
        "leo" => include_str!("../starters/leo.toml"),
        "train" => include_str!("../starters/train.toml"),
        "traffic" => include_str!("../starters/traffic.toml"),
        "dumbbell" => include_str!("../starters/dumbbell.toml"),
        "chain" => include_str!("../starters/chain.toml"),
        "graph" => include_str!("../starters/graph.toml"),
        "ad-hoc" => include_str!("../starters/ad-hoc.toml"),
        "ad-hoc-pu" => include_str!("../starters/ad-hoc-pu.toml"),
        "lte-call" => include_str!("../starters/lte-call.toml"),
        _ => {
            let names: Vec<&str> = STARTERS.iter().map(|(name, _)| *name).collect();
            let message = format!("there is no starter \"{kind}\"");
            return Err(ScenarioError::of_file("", message, suggest::among(kind, &names)));
        }
    };
    Ok(text.to_owned())
}
