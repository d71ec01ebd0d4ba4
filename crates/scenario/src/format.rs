//! The version of the format of scenario files, and how older files are brought to it.

use crate::source::Source;
use crate::tree::{KeyPath, SpannedValue, Value};
use crate::{Scenario, ScenarioError};

/// The version that this cogtcp reads and writes: the value of the key `schema`. A file without it has
/// version 1, the version of cogtcp 0.1. A change that older files do not survive raises the version, and
/// [`Scenario::migrate`] gets the step from the version before.
pub const SCENARIO_SCHEMA: u32 = 1;

/// Refuses a document of another version, before any of its keys is looked at.
pub(crate) fn check(root: &SpannedValue, source: &Source) -> Result<(), ScenarioError> {
    let Value::Table(entries) = &root.value else { return Ok(()) };
    let Some(entry) = entries.iter().find(|entry| entry.key == "schema") else { return Ok(()) };
    let (message, remedy) = match entry.node.value {
        Value::Integer(Some(version)) if version > i128::from(SCENARIO_SCHEMA) => (
            format!(
                "the file was made by a newer cogtcp: it has schema {version}, and this one reads up to {SCENARIO_SCHEMA}"
            ),
            "update cogtcp".to_owned(),
        ),
        Value::Integer(Some(version)) if version < 1 => (
            format!("there is no schema {version}"),
            format!("write schema = {SCENARIO_SCHEMA}, or leave it out"),
        ),
        _ => return Ok(()),
    };
    Err(source.error_at(&KeyPath::of("schema"), entry.node.span.clone(), message, remedy))
}

impl Scenario {
    /// The TOML text `text` brought to the present version of the format, which it then names: what is
    /// written in it stays, comments too. `source_name` is what errors call it. An error is what
    /// [`Self::parse`] would say.
    pub fn migrate(text: &str, source_name: &str) -> Result<String, ScenarioError> {
        // Editors on Windows begin a text with a byte order mark, which TOML does not have.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let scenario = Self::parse(text, source_name)?;
        if scenario.schema.is_some() {
            return Ok(text.to_owned());
        }
        // Before the first key or table: there the document's own keys stand.
        let is_first = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
        let at: usize = text.split_inclusive('\n').take_while(|line| !is_first(line)).map(str::len).sum();
        // The line that is added ends as the file's own lines do.
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(format!("{}schema = {SCENARIO_SCHEMA}{line}{}", &text[..at], &text[at..]))
    }
}
