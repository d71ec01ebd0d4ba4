//! What is shipped: starters, scenarios, the JSON Schema and the reference in the documentation.

#[path = "../examples/generate/pages.rs"]
mod pages;
#[path = "../examples/generate/reference.rs"]
mod reference;

use cogtcp_scenario::{JourneyMap, STARTERS, Scenario, starter};
use reference::{journey_map_reference, reference};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Parses and resolves without a warning, and every written form gives the same scenario again.
fn check(text: &str, name: &str) {
    let scenario = Scenario::parse(text, name).unwrap_or_else(|error| panic!("{error}"));
    scenario.resolve().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.warnings(), [], "{name}");
    assert_eq!(Scenario::parse(&scenario.to_toml(), name).unwrap(), scenario, "{}", scenario.to_toml());
    assert_eq!(Scenario::from_json(&scenario.to_json(), name).unwrap(), scenario, "{}", scenario.to_json());
}

#[test]
fn starters_resolve() {
    assert!(STARTERS.len() >= 4);
    for (kind, _) in STARTERS {
        check(&starter(kind).unwrap(), kind);
    }
}

#[test]
fn an_unknown_starter_is_refused_with_a_suggestion() {
    let error = starter("dumbel").unwrap_err();
    assert!(error.remedy.contains("did you mean \"dumbbell\"?"), "{error}");
}

/// What a starter shows commented out works too, when the mark is taken off.
#[test]
fn commented_lines_of_starters_work() {
    let text = starter("single-hop").unwrap();
    let opened: String = text.lines().map(|line| uncomment(line) + "\n").collect();
    assert_ne!(text, opened);
    let experiment = Scenario::parse(&opened, "opened").unwrap().resolve().unwrap();
    assert!(experiment.radios[0].kind.cycle().unwrap().pu.is_some());
}

/// Takes the comment mark off a setting (`# key = value`).
fn uncomment(line: &str) -> String {
    let is_key = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !text.is_empty();
    match line.strip_prefix("# ").and_then(|rest| Some((rest, rest.split_once(" = ")?.0))) {
        Some((rest, key)) if is_key(key) => rest.to_owned(),
        _ => line.to_owned(),
    }
}

#[test]
fn shipped_scenarios_resolve() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let scenario = Scenario::read(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Some(scenario.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
            check(&std::fs::read_to_string(&path).unwrap(), &path.display().to_string());
            seen += 1;
        }
    }
    assert!(seen >= 7, "only {seen} scenarios in scenarios/");
}

const REGENERATE: &str = "run: cargo run -p cogtcp-scenario --example generate";

/// Every map file that is shipped describes a line.
#[test]
fn shipped_maps_are_lines() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("scenarios/maps")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let map =
            JourneyMap::parse(&text, &path.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
        map.line().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(map.line().unwrap().name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
        seen += 1;
    }
    assert!(seen >= 1);
}

#[test]
fn json_schemas_are_in_step() {
    for (name, schema) in [("scenario", Scenario::json_schema()), ("journey-map", JourneyMap::json_schema())]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/{name}.schema.json"));
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        assert!(committed == generated, "{} is out of step with the types; {REGENERATE}", path.display());
    }
}

#[test]
fn references_are_in_step() {
    let (index, pages) = reference();
    let mut all: Vec<_> = pages.into_iter().map(|(name, text)| (format!("scenario/{name}"), text)).collect();
    all.extend([("scenario".to_owned(), index), ("trains".to_owned(), journey_map_reference())]);
    for (name, generated) in all {
        let path = root().join(format!("docs/{name}.md"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(text.contains(&generated), "{} is out of step with the types; {REGENERATE}", path.display());
    }
}
