//! What the interface answers, committed as text: captures, statistics, episodes and errors.

use crate::committed::{self, hash};
use cogtcp_web::{Engine, Hooks};
use serde_json::{Value, json};
use std::fmt::Write;

/// Answers requests in order, and compares what is said: texts above 400 characters as their hash.
fn compare(name: &str, requests: &[Value]) {
    let mut engine = Engine::default();
    let mut now = String::new();
    for request in requests {
        let answer = engine.ask(&request.to_string(), Hooks::default());
        let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
        let said = String::from_utf8(answer[4..4 + length].to_vec()).unwrap();
        let mut columns = &answer[(4 + length).next_multiple_of(8).min(answer.len())..];
        if request["ask"] == "capture" && columns.len() > 8 {
            // The first block names the version.
            columns = &columns[u32::from_le_bytes(columns[4..8].try_into().unwrap()) as usize..];
        }
        let said = if said.len() > 400 { format!("{:016x}", hash(said.as_bytes())) } else { said };
        let mut asked = request.clone();
        if let Some(text) = asked.pointer_mut("/scenario/text") {
            *text = json!("...");
        }
        let _ = writeln!(now, "{asked}\n  {said} {} B {:016x}", columns.len(), hash(columns));
    }
    committed::compare(name, &now);
}

const SMALL: &str = r#"
name = "small"
run = { duration = "4 s", warmup = "500 ms" }
[topology.dumbbell]
pairs = 2
access = { rate = "20 Mbit/s", delay = "2 ms" }
bottleneck = { rate = "2 Mbit/s", delay = "20 ms", queue = "20 packets", loss = 0.01 }
[[radio]]
name = "radio"
links = ["bottleneck"]
silence = "drop"
sensing = { off = "100 ms", on = "1 s" }
[[flow]]
transport = "linux-cubic"
from = "s1"
to = "d1"
tcp = { ecn = true }
[[flow]]
transport = "newreno"
from = "d2"
to = "s2"
fixed = true
traffic = { size = "100 kB" }
[[udp]]
from = "s2"
to = "d2"
pattern = { constant = "200 kbit/s" }
"#;

const AIR: &str = r#"
name = "air"
routing = "aodv"
run = { duration = "3 s" }
area = { width = "600 m", height = "300 m" }
mac = { rate = "2 Mbit/s", arp = { protocol = "rfc826" } }
[topology.ad_hoc]
nodes = 4
placement = { chain = "180 m" }
[[flow]]
from = "n0"
to = "n2"
transport = "newreno"
traffic = { size = "60 kB" }
"#;

const SENSING: &str = r#"
name = "pair"
run = { duration = "10 s" }
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "1 us", queue = "50 packets" }
[spectrum]
bands = 3
channels = { uniform = "1 Mbit/s" }
pu = { exponential = { alpha = 1.0, beta = 0.5 } }
[[radio]]
name = "cr"
links = ["link"]
cr = { access = "dcf", sensing_time = "50 ms", transmission_time = "500 ms", detector = { map = { snr = "-18 dB" } } }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;

#[test]
fn captures() {
    let at = |text: &str, transport: Option<&str>, link: &str, node: &str, outgoing: &str| {
        let point = json!({ "link": link, "node": node, "outgoing": outgoing });
        json!({ "ask": "capture", "scenario": { "text": text, "transport": transport }, "point": point })
    };
    let others = ["sack", "tfrc", "atp", "tp-crahn", "nada", "mptcp", "prague", "linux-bbr", "tahoe"];
    let plain = SMALL.replace("tcp = { ecn = true }\n", "");
    let mut requests: Vec<Value> =
        others.iter().map(|name| at(&plain, Some(name), "bottleneck", "r1", "forward")).collect();
    requests.extend([
        at(SMALL, None, "bottleneck", "r1", "forward"),
        at(SMALL, None, "bottleneck", "r2", "reverse"),
        at(SMALL, None, "access-s1", "s1", "forward"),
        at(SMALL, None, "nowhere", "s1", "forward"),
        at(AIR, None, "", "", ""),
        at(&AIR.replace("newreno", "atp"), None, "", "", ""),
        // Frames fail.
        at(&AIR.replace("mac =", "phy = { fading = \"rayleigh\" }\nmac ="), None, "", "", ""),
    ]);
    compare("captures", &requests);
}

#[test]
fn statistics() {
    let values = json!([3.1, 2.9, null, 4.4, 3.3, 2.2]);
    let baseline = json!([2.9, 2.5, 3.0, 4.5, null, 2.0]);
    let sawtooth = |rtt_s: f64, off_s: f64, bandwidth_bps: f64| {
        json!({ "what": "sawtooth", "bandwidth_bps": bandwidth_bps, "rtt_s": rtt_s, "on_s": 5.0, "off_s": off_s,
                "rto_s": 0.3, "segment_size_bytes": 1000, "header_bytes": 40 })
    };
    let pftk = |p: f64| json!({ "what": "pftk", "segment_size_bytes": 1000, "rtt_s": 0.1, "rto_s": 0.4, "loss_probability": p });
    let detection = |detector: Value| json!({ "what": "detection", "detector": detector, "sensing_s": [0.0, 0.001, 0.02, 0.2, 1.0] });
    let mut of = vec![
        json!({ "what": "mean", "values": values, "confidence": 0.95 }),
        json!({ "what": "mean", "values": [1.0], "confidence": 0.95 }),
        json!({ "what": "mean", "values": [1.0, 2.0], "confidence": 1.0 }),
        json!({ "what": "paired", "values": values, "baseline": baseline, "confidence": 0.9 }),
        json!({ "what": "paired", "values": [1.0], "baseline": [1.0, 2.0], "confidence": 0.9 }),
        json!({ "what": "p_value", "differences": [0.2, 0.4, null, -0.1, 0.3] }),
        json!({ "what": "p_value", "differences": [0.0, 0.0] }),
        json!({ "what": "holm", "p_values": [0.001, 0.02, 0.03, 0.4], "confidence": 0.95 }),
    ];
    of.extend([0.02, 0.1, 0.5].map(|rtt| sawtooth(rtt, 0.2, 1e7)));
    of.extend([0.0, 0.05, 1.0, 30.0].map(|off| sawtooth(0.1, off, 2e6)));
    of.extend([0.0, 1e-4, 0.01, 0.2, 1.0].map(pftk));
    of.push(detection(json!("perfect")));
    of.push(detection(json!("as_released")));
    of.push(detection(json!({ "map": { "snr": "-20 dB", "bandwidth": "1 MHz" } })));
    of.push(detection(json!({ "map": { "snr": "-10 dB", "bandwidth": "100 kHz", "p_on": 0.2 } })));
    of.push(detection(json!({ "simplified": { "snr": "-15 dB" } })));
    of.push(detection(
        json!({ "neyman_pearson": { "false_alarm": 0.1, "sampling_rate": "1 MHz", "snr": "-20 dB" } }),
    ));
    of.push(detection(json!({ "table": [["50 ms", 0.8, 0.2], ["200 ms", 0.95, 0.05]] })));
    let requests: Vec<Value> =
        of.into_iter().map(|one| json!({ "ask": "statistics", "of": [one] })).collect();
    compare("statistics", &requests);
}

#[test]
fn episodes() {
    let begin = |text: &str, flow: u64, radio: Option<&str>| json!({ "ask": "episode", "scenario": { "text": text }, "seed": 2, "flow": flow, "radio": radio });
    let window =
        |window: u64, span_s: f64| json!({ "ask": "step_window", "window": window, "span_s": span_s });
    let sensing = |sensing_s: f64, transmission_s: f64| json!({ "ask": "step_sensing", "sensing_s": sensing_s, "transmission_s": transmission_s });
    let mut requests = vec![window(1000, 1.0), begin(SMALL, 0, None)];
    requests.extend([3000, 20_000, 100_000, 1, 0].map(|bytes| window(bytes, 0.4)));
    requests.extend([window(8000, -1.0), window(8000, 0.0), window(8000, 9.0), window(8000, 1.0)]);
    requests.extend([begin(SMALL, 7, None), begin(SMALL, 0, Some("radio")), begin(SENSING, 0, Some("cr"))]);
    requests.extend([0.02, 0.1, 0.5].map(|sensing_s| sensing(sensing_s, 0.4)));
    requests.extend([sensing(0.05, 1.0), sensing(-1.0, 1.0), sensing(0.1, 0.0), window(1000, 1.0)]);
    requests.extend([0.3; 12].map(|transmission_s| sensing(0.05, transmission_s)));
    compare("episodes", &requests);
}

#[test]
fn places_and_errors() {
    let place = |path: &str| json!({ "ask": "place", "text": SMALL, "path": path });
    let check = |from: &str, to: &str| json!({ "ask": "check", "scenario": { "text": SMALL.replace(from, to), "file": "a.toml" } });
    let mut requests: Vec<Value> = [
        "run",
        "run.warmup",
        "radio.0.sensing.off",
        "flow.1.traffic",
        "flow.2",
        "topology.dumbbell.pairs",
        "",
    ]
    .map(place)
    .into();
    requests.extend([
        check("2 Mbit/s", "2 Mbits"),
        check("pairs = 2", "pairs = 0"),
        check("s2", "s3"),
        check("[[udp]]", "[[upd]]"),
        check("\"drop\"", "\"drip\""),
        check("\"4 s\"", "\"400 ms\""),
        check("loss = 0.01", "loss = 1.01"),
        check("name = \"radio\"", "name = \"radio"),
        json!({ "ask": "run", "scenario": { "text": SMALL }, "seed": 5, "trace": "packets" }),
        json!({ "ask": "run", "scenario": { "text": SMALL }, "trace": "series", "tables": ["flows", "links"] }),
        json!({ "ask": "run", "scenario": { "text": SMALL }, "tables": ["flaws"] }),
        json!({ "ask": "run" }),
        json!({ "asks": "run" }),
    ]);
    compare("places-and-errors", &requests);
}
