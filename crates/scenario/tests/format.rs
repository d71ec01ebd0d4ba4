//! Versions of the format: what is newer is refused before anything else, what is older is brought to the
//! present one.

use cogtcp_scenario::{SCENARIO_SCHEMA, STARTERS, Scenario, starter};

fn error(first_line: &str) -> String {
    let text = format!("{first_line}\n{}", starter("single-hop").unwrap().replacen("schema = 1\n", "", 1));
    Scenario::parse(&text, "mine.toml").unwrap_err().to_string()
}

#[test]
fn a_newer_file_is_refused_before_its_keys_are() {
    let said = error("# first\nschema = 99\nunheard_of = true");
    assert!(said.starts_with("mine.toml:2:10: schema: the file was made by a newer cogtcp"), "{said}");
    assert!(said.contains("schema 99") && said.contains("update cogtcp"), "{said}");
    assert!(!said.contains("unheard_of"), "{said}");
    assert!(
        error("schema = 0").contains("there is no schema 0; write schema = 1"),
        "{}",
        error("schema = 0")
    );
    assert!(error("schema = \"1\"").contains("whole number"), "{}", error("schema = \"1\""));
    let json = r#"{ "schema": 7, "later": {} }"#;
    let said = Scenario::from_json(json, "mine.json").unwrap_err().to_string();
    assert!(said.contains("newer cogtcp"), "{said}");
}

#[test]
fn migrating_names_the_version_and_keeps_the_rest() {
    for (kind, _) in STARTERS {
        let old = starter(kind).unwrap().replacen(&format!("schema = {SCENARIO_SCHEMA}\n"), "", 1);
        let new = Scenario::migrate(&old, "old.toml").unwrap();
        let scenario = Scenario::parse(&new, "new.toml").unwrap();
        assert_eq!(scenario.schema, Some(SCENARIO_SCHEMA));
        // It says the same, and every line of it is still there, comments too.
        assert_eq!(scenario, Scenario::parse(&old, "old.toml").unwrap());
        assert_eq!(new.replacen(&format!("schema = {SCENARIO_SCHEMA}\n"), "", 1), old);
        // Once is enough.
        assert_eq!(Scenario::migrate(&new, "new.toml").unwrap(), new);
    }
}

#[test]
fn the_version_stands_before_the_first_table() {
    let text = starter("single-hop").unwrap().replacen("schema = 1\n", "", 1);
    let name = text.lines().find(|line| line.starts_with("name")).unwrap();
    let rest = text.replacen(name, "", 1);
    let table_first = rest.lines().skip_while(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\r\n");
    assert!(table_first.starts_with('['));
    // Without its name it is no scenario, and says so.
    assert!(Scenario::migrate(&table_first, "x").unwrap_err().to_string().contains("\"name\" is missing"));
    let crlf = text.replace('\n', "\r\n");
    let new = Scenario::migrate(&crlf, "x").unwrap();
    assert_eq!(new.replacen("schema = 1\r\n", "", 1), crlf);
}

/// A scenario of 0.2 whose CR user is written as `cr`, and does not name its access.
fn without_access(cr: &str) -> String {
    format!(
        r#"schema = 1
name = "old"
[run]
duration = "1 s"
[topology.single_hop]
link = {{ rate = "1 Mbit/s", delay = "1 us", queue = "20 packets" }}
[spectrum]
channels = {{ uniform = "1 Mbit/s" }}
pu = {{ exponential = {{ alpha = 0.5, beta = 0.5 }} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "sack"
[[radio]]
name = "first"
links = ["link"]
{cr}
"#
    )
}

#[test]
fn an_access_that_is_not_named_is_warned_of_and_written_in() {
    let keys = "sensing_time = \"100 ms\"\ntransmission_time = \"1 s\"\ndetector = \"perfect\"";
    let inline = keys.replace('\n', ", ");
    let dotted = keys.lines().map(|line| format!("cr.{line}")).collect::<Vec<_>>();
    let ways = [
        (
            format!("[radio.cr] # its cycle\n{keys}"),
            format!("[radio.cr] # its cycle\naccess = \"dcf\"\n{keys}"),
        ),
        (
            format!("  [radio.cr]\n  # why\n  {keys}"),
            format!("  [radio.cr]\n  # why\n  access = \"dcf\"\n  {keys}"),
        ),
        (format!("cr = {{ {inline} }}"), format!("cr = {{ access = \"dcf\", {inline} }}")),
        (dotted.join("\n"), format!("cr.access = \"dcf\"\n{}", dotted.join("\n"))),
    ];
    for (before, after) in ways {
        let text = without_access(&before);
        let scenario = Scenario::parse(&text, "old.toml").unwrap();
        let warnings: Vec<_> = scenario.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 1, "{before}: {warnings:?}");
        assert!(warnings[0].contains("radio.0.cr: access is not named, so this link has the MAC of 802.11"));
        assert_eq!(Scenario::migrate(&text, "old.toml").unwrap(), without_access(&after), "{before}");
        // Windows ends its lines in another way.
        let crlf = text.replace('\n', "\r\n");
        let expected = without_access(&after).replace('\n', "\r\n");
        assert_eq!(Scenario::migrate(&crlf, "old.toml").unwrap(), expected);
        let new = Scenario::parse(&without_access(&after), "new.toml").unwrap();
        assert_eq!(new, scenario);
        assert!(new.warnings().is_empty());
    }
    // A header of an inner table alone, and of one that follows.
    let inner = "[radio.cr.regulation.cbrs]\nheartbeat = \"10 s\"\n";
    for (before, after) in [
        (inner.to_owned(), format!("[radio.cr]\naccess = \"dcf\"\n\n{inner}")),
        (format!("[radio.cr]\n\n{inner}"), format!("[radio.cr]\n\naccess = \"dcf\"\n{inner}")),
    ] {
        let text = without_access(&before);
        assert_eq!(Scenario::migrate(&text, "x").unwrap(), without_access(&after), "{before}");
    }
}

#[test]
fn what_is_set_after_reading_names_the_access_or_keeps_the_warning() {
    let text = without_access(
        "cr = { sensing_time = \"100 ms\", transmission_time = \"1 s\", detector = \"perfect\" }",
    );
    let scenario = Scenario::parse(&text, "old.toml").unwrap();
    let other = scenario.set("run.duration", "2 s").unwrap();
    assert_eq!(other.warnings().len(), 1);
    assert!(scenario.set("radio.0.cr.access", "dcf").unwrap().warnings().is_empty());
    assert!(Scenario::from_json(&scenario.to_json(), "x").unwrap().warnings().is_empty());
}
