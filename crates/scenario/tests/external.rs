//! Congestion controls from outside: what names one, and who may.

use cogtcp_scenario::{Scenario, ScenarioError, is_external, starter};
use cogtcp_transport::{ParameterValue, Recovery};

#[test]
fn the_form_is_module_and_class() {
    for name in ["m:C", "pkg.mod:Outer.Inner", "_a1:_B"] {
        assert!(is_external(name), "{name}");
    }
    for name in ["newreno", "", ":", "m:", ":C", "a b:C", "m:C:D", "1m:C", "pkg..mod:C", "m.py:", "./m:C"] {
        assert!(!is_external(name), "{name}");
    }
}

#[test]
fn controls_from_outside_are_refused_where_they_are_named() {
    let text = starter("dumbbell").unwrap().replace("\"linux-cubic\"", "\"newreno\"");
    let inside = Scenario::parse(&text, "inside").unwrap();
    assert!(inside.external_controls().is_empty());
    inside.check_external(|_| false).unwrap();
    let text = text
        .replace("transport = \"newreno\"", "transport = \"m:C\"")
        .replace("stagger =", "tcp = { congestion = \"n:D\" }\nstagger =");
    let text = text.replacen("[tcp]", "[tcp]\ncongestion = \"o:E\"", 1);
    let scenario = Scenario::parse(&text, "outside").unwrap();
    assert_eq!(Vec::from_iter(scenario.external_controls()), ["m:C", "n:D", "o:E"]);
    scenario.check_external(|_| true).unwrap();
    let error = scenario.check_external(|name| name == "n:D").unwrap_err();
    let fields = |error: &ScenarioError| {
        let more = error.more.iter().map(|error| error.field.clone());
        std::iter::once(error.field.clone()).chain(more).collect::<Vec<_>>()
    };
    assert_eq!(fields(&error), ["tcp.congestion", "flow.0.transport"]);
    assert!(error.line.is_some() && error.remedy.contains("--allow-python"), "{error}");
    assert_eq!(fields(&scenario.check_external(|_| false).unwrap_err()).len(), 3);
}

#[test]
fn a_transport_or_a_control_may_come_from_outside() {
    let text = starter("dumbbell").unwrap().replace("\"linux-cubic\"", "\"newreno\"");
    let parse = |text: String| {
        Scenario::parse(&text, "external").unwrap().resolve().map(|mut found| found.flows.remove(0))
    };
    let flow = parse(
        text.replace("transport = \"newreno\"", "transport = \"m:C\"")
            .replace("stagger =", "tcp = { parameters = { gain = 2 } }\nstagger ="),
    )
    .unwrap();
    assert_eq!((flow.transport.as_str(), flow.tcp().unwrap().control.name.as_str()), ("m:C", "m:C"));
    assert_eq!(flow.tcp().unwrap().sender.recovery.algorithm, Recovery::Sack);
    assert_eq!(flow.tcp().unwrap().control.parameters.get("gain"), Some(&ParameterValue::Number(2.0)));
    let flow = parse(text.replace("stagger =", "tcp = { congestion = \"m:C\" }\nstagger =")).unwrap();
    assert_eq!((flow.transport.as_str(), flow.tcp().unwrap().control.name.as_str()), ("newreno", "m:C"));
    assert_eq!(flow.tcp().unwrap().sender.recovery.algorithm, Recovery::NewReno);
    let changed = Scenario::parse(&text, "external").unwrap().with_transport("m:C").unwrap();
    assert_eq!(changed.resolve().unwrap().flows[0].tcp().unwrap().control.name, "m:C");
    let message = parse(text.replace("\"newreno\"", "\"m:\"")).unwrap_err().to_string();
    assert!(message.contains("unknown transport \"m:\"") && message.contains("module:Class"), "{message}");
}
