//! The interface as a page uses it.

use cogtcp_web::{Engine, Hooks};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const SMALL: &str = r#"
name = "small"
run = { duration = "10 s" }
[topology.single_hop]
link = { rate = "4 Mbit/s", delay = "20 ms", queue = "20 packets" }
[[flow]]
transport = "newreno"
from = "sender"
to = "receiver"
"#;

/// The JSON of an answer, and its columns.
fn ask(engine: &mut Engine, request: &Value) -> (Value, Vec<u8>) {
    split(&engine.ask(&request.to_string(), Hooks::default()))
}

fn split(answer: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let said = serde_json::from_slice(&answer[4..4 + length]).unwrap();
    (said, answer[(4 + length).next_multiple_of(8)..].to_vec())
}

#[test]
fn a_run_is_that_of_the_simulator_and_its_columns_lie_where_they_are_said_to() {
    let request = json!({ "ask": "run", "scenario": { "text": SMALL }, "seed": 3, "trace": "full" });
    let times = Arc::new(Mutex::new(Vec::new()));
    let told = times.clone();
    let watch = Arc::new(move |now| told.lock().unwrap().push(now));
    let (said, columns) =
        split(&Engine::default().ask(&request.to_string(), Hooks { watch: Some(watch), ..Hooks::default() }));
    let experiment = cogtcp_scenario::Scenario::parse(SMALL, "small.toml").unwrap().resolve().unwrap();
    let options = cogtcp_simulator::RunOptions {
        seed: Some(3),
        trace: cogtcp_simulator::TraceLevel::Full,
        ..Default::default()
    };
    let run = cogtcp_simulator::run(&experiment, &options).unwrap();
    assert_eq!(said["digest"], format!("{:016x}", run.digest));
    let flows = said["tables"].as_array().unwrap().iter().find(|table| table["name"] == "flows").unwrap();
    let goodput =
        flows["columns"].as_array().unwrap().iter().find(|column| column["name"] == "goodput_bps").unwrap();
    let at = usize::try_from(goodput["at"].as_u64().unwrap()).unwrap();
    let found = f64::from_le_bytes(columns[at..at + 8].try_into().unwrap());
    assert_eq!(Some(found), run.flows.number("goodput_bps", 0));
    assert!(!times.lock().unwrap().is_empty());
}

#[test]
fn what_is_wrong_has_a_place_and_a_remedy() {
    let text = SMALL.replace("newreno", "newrno");
    let (said, _) = ask(
        &mut Engine::default(),
        &json!({ "ask": "check", "scenario": { "text": text, "file": "mine.toml" } }),
    );
    let error = &said["error"];
    assert_eq!((&error["line"], &error["column"]), (&json!(7), &json!(13)), "{error}");
    assert!(error["remedy"].as_str().unwrap().contains("newreno"), "{error}");
    assert!(error["excerpt"].as_str().unwrap().contains('^'), "{error}");
    let (said, _) = ask(&mut Engine::default(), &json!({ "ask": "dance" }));
    assert!(said["error"]["text"].as_str().unwrap().contains("dance"));
}

#[test]
fn settings_transports_and_files_are_those_that_were_given() {
    let mut engine = Engine::default();
    let set = json!([["topology.single_hop.link.delay", "30 ms"]]);
    let scenario = json!({ "text": SMALL, "set": set, "transport": "cubic" });
    let (said, _) = ask(&mut engine, &json!({ "ask": "check", "scenario": scenario }));
    assert_eq!(said["values"]["topology"]["single_hop"]["link"]["delay"], "30 ms");
    assert_eq!(said["values"]["flow"][0]["transport"], "cubic");
    let text = SMALL.replace("rate = \"4 Mbit/s\",", "rate = \"4 Mbit/s\", trace = \"traces/mine.csv\",");
    let (said, _) = ask(&mut engine, &json!({ "ask": "check", "scenario": { "text": text } }));
    assert!(said["error"]["text"].as_str().unwrap().contains("no such file"), "{said}");
    let files = json!({ "traces/mine.csv": "time_s,rate_bps\n0,1000000\n5,2000000\n" });
    let (said, _) =
        ask(&mut engine, &json!({ "ask": "check", "scenario": { "text": text, "files": files } }));
    assert_eq!(said["error"], Value::Null, "{said}");
    let python = json!({ "text": SMALL, "transport": "mine:Control" });
    let (said, _) = ask(&mut engine, &json!({ "ask": "check", "scenario": python }));
    assert!(said["error"]["remedy"].as_str().unwrap().contains("pip"), "{said}");
}

#[test]
fn statistics_and_closed_forms() {
    let of = json!([
        { "what": "mean", "values": [1, 2, null, 3, 4, 5], "confidence": 0.95 },
        { "what": "p_value", "differences": [1, 3] },
        { "what": "holm", "p_values": [0.01, 0.016, 0.024, 0.049], "confidence": 0.95 },
        { "what": "sawtooth", "bandwidth_bps": 15e6, "rtt_s": 0.05, "on_s": 2.1, "off_s": 0.1, "rto_s": 1,
          "segment_size_bytes": 1000, "header_bytes": 0 },
        { "what": "pftk", "segment_size_bytes": 1000, "rtt_s": 0.1, "rto_s": 1, "loss_probability": 2 },
    ]);
    let (said, _) = ask(&mut Engine::default(), &json!({ "ask": "statistics", "of": of }));
    assert_eq!((&said[0]["mean"], &said[0]["n"]), (&json!(3.0), &json!(5)));
    assert!((said[1].as_f64().unwrap() - 0.295_167).abs() < 1e-6);
    assert_eq!(said[2], json!([true, true, true, true]));
    // dW = 24 - log2 24, packets dW - 1 + 3/2 dW^2, over 2.2 s (see crates/statistics).
    assert!((said[3].as_f64().unwrap() - 8000.0 * 583.830_5 / 2.2).abs() < 10.0, "{said}");
    assert!(said[4]["error"].as_str().unwrap().contains("loss_probability"));
}

#[test]
fn an_episode_is_stepped() {
    let mut engine = Engine::default();
    let (said, _) = ask(&mut engine, &json!({ "ask": "step_window", "window": 3000, "span_s": 1 }));
    assert!(said["error"]["text"].as_str().unwrap().contains("no episode"));
    let (said, _) = ask(&mut engine, &json!({ "ask": "episode", "scenario": { "text": SMALL } }));
    assert_eq!(said["delivered"], 0, "{said}");
    for second in 1..=10 {
        let (said, _) = ask(&mut engine, &json!({ "ask": "step_window", "window": 10_000, "span_s": 1 }));
        assert_eq!(said["is_over"], second == 10, "{said}");
        assert!(said["delivered"].as_u64().unwrap() > 0 || second == 1, "{said}");
    }
    let (said, _) = ask(&mut engine, &json!({ "ask": "step_sensing", "sensing_s": 1, "transmission_s": 1 }));
    assert!(said["error"]["text"].as_str().unwrap().contains("step_window"));
}

#[test]
fn a_value_is_found_where_it_stands() {
    let place = json!({ "ask": "place", "text": SMALL, "path": "topology.single_hop.link.delay" });
    let (said, _) = ask(&mut Engine::default(), &place);
    let line = SMALL.lines().nth(4).unwrap();
    assert_eq!(said, json!({ "line": 5, "column": line.find("\"20 ms\"").unwrap() + 1 }));
    let nowhere = json!({ "ask": "place", "text": SMALL, "path": "radio.0.sensing.off" });
    assert_eq!(ask(&mut Engine::default(), &nowhere).0["line"], Value::Null);
}

#[test]
fn a_raised_flag_ends_a_run() {
    let request = json!({ "ask": "run", "scenario": { "text": SMALL } }).to_string();
    let hooks = Hooks { cancel: Some(Arc::new(true.into())), ..Hooks::default() };
    let (said, _) = split(&Engine::default().ask(&request, hooks));
    assert_eq!(said["error"]["kind"], "run");
    assert!(said["error"]["text"].as_str().unwrap().contains("cancelled"), "{said}");
}

/// Page `docs/detectors/map.md` prints 0.839 and 0.159 at 0.1 s, 0.92 and 0.079 at 0.2 s.
#[test]
fn a_detector_is_that_of_the_documentation() {
    let question = |t_s: &[f64]| {
        let detector = json!({ "map": { "snr": "-22 dB" } });
        json!({ "ask": "statistics", "of": [{ "what": "detection", "detector": detector, "sensing_s": t_s }] })
    };
    let (said, _) = ask(&mut Engine::default(), &question(&[0.1, 0.2]));
    let rounded = |name: &str| {
        let values = said[0][name].as_array().unwrap().iter();
        values.map(|value| (value.as_f64().unwrap() * 1e3).round()).collect::<Vec<_>>()
    };
    assert_eq!(rounded("detection"), [839.0, 920.0]);
    assert_eq!(rounded("false_alarm"), [159.0, 79.0]);
    let (said, _) = ask(&mut Engine::default(), &question(&[0.1, -1.0]));
    assert!(said[0]["error"].as_str().unwrap().contains("-1 s"), "{said}");
}

/// What the page saves can be read by others: `tests/test_web_browser.py`. Here: which rows there are.
#[test]
fn a_table_of_several_runs_is_one_parquet_file() {
    let tfrc = SMALL.replace("newreno", "tfrc");
    let file = |runs: &[(&str, &str)], table: &str| {
        let runs: Vec<Value> = runs.iter().map(|(name, text)| json!([name, { "text": text }])).collect();
        let request = json!({ "ask": "parquet", "runs": runs, "seed": 3, "table": table, "metadata": [["key", "known"]] });
        let (said, columns) = ask(&mut Engine::default(), &request);
        let length = usize::try_from(said["file"]["length"].as_u64().unwrap_or_default()).unwrap();
        (said, columns[..length].to_vec())
    };
    let (_, two) = file(&[("one", SMALL), ("other", SMALL)], "flows");
    assert_eq!((&two[..4], &two[two.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    let holds = |file: &[u8], text: &str| file.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds(&two, "known") && holds(&two, "goodput_bps"));
    // A run without rows of the table does not stand in it; that none has rows is said.
    let (_, alone) = file(&[("one", SMALL)], "tcp_flows");
    let (said, both) = file(&[("one", SMALL), ("other", &tfrc)], "tcp_flows");
    assert_eq!(both, alone, "{said}");
    let (said, _) = file(&[("other", &tfrc)], "tcp_flows");
    assert_eq!(said["error"]["message"], "no run has rows of tcp_flows");
}
