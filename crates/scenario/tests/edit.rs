//! Changing a scenario from outside: fields by path, transport, seed.

use cogtcp_scenario::{Scenario, ScenarioError, Traffic, starter};
use cogtcp_transport::Recovery;
use cogtcp_units::{Bytes, Duration, Rate};

fn dumbbell() -> Scenario {
    Scenario::parse(&starter("dumbbell").unwrap(), "d.toml").unwrap()
}

#[track_caller]
fn refused(result: Result<Scenario, ScenarioError>, words: &[&str]) {
    let shown = result.expect_err("this is accepted").to_string();
    for word in words {
        assert!(shown.contains(word), "\"{word}\" is not in: {shown}");
    }
}

#[test]
fn fields_are_set_by_path() {
    let scenario = dumbbell();
    let set = |path: &str, value: &str| scenario.set(path, value).unwrap().resolve().unwrap();
    assert_eq!(set("run.duration", "10 s").run.duration, Duration::from_secs(10));
    assert_eq!(set("run.duration", "\"10 s\"").run.duration, Duration::from_secs(10));
    assert_eq!(set("run.seed", "7").run.seed.get(), 7);
    let off =
        |path: &str| set(path, "200 ms").radios[0].kind.cycle().unwrap().sensing.clone().unwrap().off.mean();
    for path in ["radio.0.sensing.off", "radio.radio.sensing.off", "radio.*.sensing.off"] {
        assert_eq!(off(path), Duration::from_millis(200));
    }
    let law = set("radio.0.sensing.on", "{ exponential = \"7 s\" }").radios[0]
        .kind
        .cycle()
        .unwrap()
        .sensing
        .clone()
        .unwrap();
    assert_eq!(law.on.mean(), Duration::from_secs(7));
    let rate = set("topology.dumbbell.bottleneck.rate", "5 Mbit/s").links[2].forward.rate;
    assert_eq!(rate, Rate::from_bits_per_second(5_000_000));
    // A table that is not there yet is made.
    assert_eq!(set("flow.0.tcp.segment_size", "500 B").flows[0].tcp().unwrap().sender.handshake.mss, 500);
    assert_eq!(set("radio.0.channel.range", "[\"1 Mbit/s\", \"2 Mbit/s\"]").radios.len(), 1);
    assert_eq!(
        set("flow.*.traffic", "{ size = \"1 MB\" }").flows[1].traffic,
        Traffic::Size(Bytes::new(1_000_000))
    );
}

#[test]
fn wrong_overrides_are_refused() {
    let scenario = dumbbell();
    refused(scenario.set("run.durration", "10 s"), &["d.toml: run.durration", "did you mean \"duration\"?"]);
    // A field that is not there is named as it was written.
    assert_eq!(scenario.set("run.durration", "10 s").unwrap_err().field, "run.durration");
    refused(scenario.set("run.duration", "-10 s"), &["run.duration", "it is negative"]);
    refused(scenario.set("radio.1.sensing.off", "1 s"), &["no element \"1\"", "\"radio\""]);
    refused(scenario.set("radio.1.sensing.off", "1 s"), &["write 0, or a name: one of \"radio\""]);
    refused(scenario.set("radio.raido.sensing", "1 s"), &["no element \"raido\"", "did you mean \"radio\"?"]);
    refused(scenario.set("run.duration.x", "1 s"), &["run.duration: found a table; write a duration"]);
    refused(scenario.set("", "1 s"), &["this is not the path of a field"]);
    refused(scenario.set("run..duration", "1 s"), &["this is not the path of a field"]);
    refused(scenario.set("topology.chain.hops", "2"), &["exclude each other"]);
    // Meaning is checked when the scenario is resolved, and an overridden value has no line.
    let error = scenario.set("flow.0.to", "x").unwrap().resolve().unwrap_err();
    assert_eq!((error.field.as_str(), error.line), ("flow.0.to", None));
    // What was not overridden still has its line.
    let text = starter("dumbbell").unwrap();
    let line = text.lines().position(|line| line.starts_with("warmup")).unwrap() + 1;
    let error = scenario.set("run.duration", "1 ms").unwrap().resolve().unwrap_err();
    assert_eq!(
        (error.field.as_str(), error.line.map(|line| line.get() as usize)),
        ("run.warmup", Some(line)),
        "{error}"
    );
}

#[test]
fn an_override_of_nothing_changes_nothing() {
    let scenario = dumbbell();
    assert_eq!(scenario.set("run.duration", "60 s").unwrap(), scenario);
    assert_ne!(scenario.set("run.duration", "61 s").unwrap(), scenario);
}

#[test]
fn the_transport_of_all_but_fixed_flows_changes() {
    let cross =
        "[[flow]]\nname = \"cross\"\nfrom = \"s1\"\nto = \"d1\"\ntransport = \"reno\"\nfixed = true\n";
    let text = starter("dumbbell").unwrap() + cross;
    let scenario = Scenario::parse(&text, "d.toml").unwrap();
    let flows = scenario.with_transport("sack").unwrap().resolve().unwrap().flows;
    let names: Vec<&str> = flows.iter().map(|flow| flow.transport.as_str()).collect();
    assert_eq!(names, ["sack", "sack", "reno"]);
    assert_eq!(flows[0].tcp().unwrap().sender.recovery.algorithm, Recovery::Sack);
    assert_eq!(flows[2].tcp().unwrap().sender.recovery.algorithm, Recovery::Reno);
    refused(scenario.with_transport("sakc"), &["unknown transport \"sakc\"", "did you mean \"sack\"?"]);
}

#[test]
fn seeds_stay_in_range() {
    assert_eq!(
        dumbbell().with_seed(i64::MAX as u64).unwrap().resolve().unwrap().run.seed.get(),
        i64::MAX as u64
    );
    refused(dumbbell().with_seed(1 << 63), &["9223372036854775808 is out of range"]);
}

#[test]
fn what_is_not_set_stays_as_it_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files.filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let scenario = Scenario::read(&file).unwrap();
        let changed = scenario.set("name", "other").unwrap();
        assert_ne!(changed.to_toml(), scenario.to_toml());
        assert_eq!(changed.set("name", &scenario.name).unwrap().to_toml(), scenario.to_toml());
        assert_eq!(changed.set("name", &scenario.name).unwrap().resolve(), scenario.resolve());
        count += 1;
    }
    assert!(count > 20, "{count} scenarios");
}
