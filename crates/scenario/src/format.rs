//! The version of the format of scenario files, and how older files are brought to it.

use crate::source::Source;
use crate::tree::{Entry, KeyPath, SpannedValue, Step, Value};
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

/// What a CR user without `access` is: the default of cogtcp 0.2, which a new file names.
const ACCESS_BEFORE: &str = "access = \"dcf\"";

/// Returns the paths of the CR users that do not name their access.
pub(crate) fn without_access(root: &SpannedValue) -> Vec<KeyPath> {
    let path = KeyPath::of("radio");
    let Value::Array(radios) = &root.nearest(&path).value else { return Vec::new() };
    let cr_users = (0..radios.len()).map(|radio| path.index(radio).key("cr"));
    cr_users.filter(|path| matches!(entries(root, path), Some(keys) if !names(keys, "access"))).collect()
}

/// Returns the entries of the table at `path`, if there is one.
fn entries<'a>(root: &'a SpannedValue, path: &KeyPath) -> Option<&'a [Entry]> {
    let parent = root.nearest(&KeyPath(path.0[..path.0.len() - 1].to_vec()));
    let Value::Table(above) = &parent.value else { return None };
    let entry = above.iter().find(|entry| path.0.last() == Some(&Step::Key(entry.key.clone())))?;
    match &entry.node.value {
        Value::Table(entries) => Some(entries),
        _ => None,
    }
}

fn names(entries: &[Entry], key: &str) -> bool {
    entries.iter().any(|entry| entry.key == key)
}

/// Returns where in `text` the access of the CR user at `path` is written, and what.
fn access_edit(text: &str, root: &SpannedValue, path: &KeyPath, line: &str) -> Option<(usize, String)> {
    let span = root.nearest(path).span.clone()?;
    let first = entries(root, path)?.first().and_then(|entry| entry.key_span.clone());
    let rest = text.get(span.start..)?;
    if rest.starts_with('{') {
        let comma = if first.is_some() { "," } else { " " };
        return Some((span.start + 1, format!(" {ACCESS_BEFORE}{comma}")));
    }
    let first = first.map_or(span.start, |first| first.start);
    let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[begin..first];
    let indent = &before[..before.len() - before.trim_start().len()];
    if rest.starts_with('[') && !before.trim_start().starts_with('[') {
        // A table under its header: before its first key, which begins a line.
        return Some((begin, format!("{indent}{ACCESS_BEFORE}{line}")));
    }
    if let Some(header) = before.trim_start().strip_prefix('[') {
        if rest.starts_with('[') && text[span.clone()].trim_end().ends_with(']') && span.end <= begin {
            // Only tables of its own follow the header.
            return Some((begin, format!("{indent}{ACCESS_BEFORE}{line}")));
        }
        // There is a header of a table within it alone: `[radio.cr.mac]`.
        let own = header.trim_end_matches('.');
        return Some((begin, format!("{indent}[{own}]{line}{ACCESS_BEFORE}{line}{line}")));
    }
    // Dotted keys: `cr.detector = ...`, on a line of their own or within braces.
    let within = before.rfind(['{', ',']).map_or(0, |at| at + 1);
    let dotted = before[within..].trim_start();
    let end = if within > 0 { ", ".to_owned() } else { format!("{line}{indent}") };
    Some((first - dotted.len(), format!("{dotted}{ACCESS_BEFORE}{end}")))
}

impl Scenario {
    /// The TOML text `text` brought to the present version of the format, which it then names. It also names
    /// the access of each CR user. What is written in it stays, comments too. `source_name` is what errors call it. An error is what
    /// [`Self::parse`] would say.
    pub fn migrate(text: &str, source_name: &str) -> Result<String, ScenarioError> {
        // Editors on Windows begin a text with a byte order mark, which TOML does not have.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let scenario = Self::parse(text, source_name)?;
        // The lines that are added end as the file's own lines do.
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut new = text.to_owned();
        if let (false, Ok(root)) = (scenario.source.without_access.is_empty(), SpannedValue::from_toml(text))
        {
            let paths = &scenario.source.without_access;
            let mut edits: Vec<_> =
                paths.iter().filter_map(|path| access_edit(text, &root, path, line)).collect();
            // From the end: an edit moves what stands after it.
            edits.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            for (at, insertion) in edits {
                new.insert_str(at, &insertion);
            }
            let done = Self::parse(&new, source_name);
            if !done.is_ok_and(|done| done == scenario && done.source.without_access.is_empty()) {
                let path = &paths[0];
                return Err(scenario.source.error_at(
                    path,
                    root.nearest(path).span.clone(),
                    "the place of access was not found",
                    format!("write {ACCESS_BEFORE} into this table by hand"),
                ));
            }
        }
        if scenario.schema.is_some() {
            return Ok(new);
        }
        // Before the first key or table: there the document's own keys stand.
        let is_first = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
        let at: usize = new.split_inclusive('\n').take_while(|line| !is_first(line)).map(str::len).sum();
        Ok(format!("{}schema = {SCENARIO_SCHEMA}{line}{}", &new[..at], &new[at..]))
    }
}
