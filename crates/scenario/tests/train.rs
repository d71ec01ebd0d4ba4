//! The section [train]: what is wrong with it is said with its place, and it survives being written out.

use cogtcp_scenario::Scenario;
use cogtcp_train::prediction::PredictorConfig;
use std::path::Path;

fn shipped() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/train.toml");
    std::fs::read_to_string(path).unwrap()
}

/// The error of the shipped scenario with `from` replaced by `to`.
fn error(from: &str, to: &str) -> String {
    let right = shipped();
    let wrong = right.replacen(from, to, 1);
    assert_ne!(right, wrong, "{from}");
    Scenario::parse(&wrong, "train.toml").and_then(|scenario| scenario.resolve()).unwrap_err().to_string()
}

#[test]
fn what_cannot_work_is_refused() {
    for (from, to, field, words) in [
        ("router = \"router\"", "router = \"rooter\"", "train.router", "router"),
        ("router = \"router\"", "router = \"source\"", "train.router", "not an end of the radio's link"),
        ("radio = \"cr\"", "radio = \"rc\"", "train.radio", "name one of: cr"),
        ("links = [\"radio\"]", "links = [\"radio\", \"lan1\"]", "train.radio", "gates 2 links"),
        ("tu_advance = 1.0", "tu_advance = -1.0", "train.tu_advance", "0 to 100"),
        ("tu_advance = 1.0", "tu_advance = nan", "train.tu_advance", "out of range"),
        ("td_advance = 0.5", "td_advance = 1.5", "train.td_advance", "0 to 1"),
        ("poll_interval = \"5 s\"", "poll_interval = \"0 s\"", "train.poll_interval", "zero"),
        ("poll_interval = \"5 s\"", "poll_interval = \"5 us\"", "train.poll_interval", "too short"),
        ("false_interval = \"300 s\"", "false_interval = \"0 s\"", "false_interval", "zero"),
        ("missed = \"5 %\"", "missed = \"105 %\"", "missed", "not a probability"),
        ("td_advance", "td_advanced", "td_advanced", "td_advance"),
    ] {
        let text = error(from, to);
        assert!(text.starts_with("train.toml:") && text.contains(field) && text.contains(words), "{text}");
    }
}

#[test]
fn defaults_and_round_trip() {
    let scenario = Scenario::parse(&shipped(), "train.toml").unwrap();
    assert_eq!(Scenario::parse(&scenario.to_toml(), "again").unwrap(), scenario);
    assert_eq!(Scenario::from_json(&scenario.to_json(), "again").unwrap(), scenario);
    let train = scenario.train.as_ref().unwrap();
    assert!(
        train.connection_manager && train.buffer && matches!(train.prediction, PredictorConfig::Itinerary(_))
    );
    let exact = scenario.set("train.prediction", "oracle").unwrap();
    assert_eq!(exact.resolve().unwrap().train.unwrap().settings.prediction, PredictorConfig::Oracle);
}
