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
