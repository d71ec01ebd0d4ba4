//! Where a key belongs that stands in the wrong table.

use crate::Scenario;
use crate::tree::{KeyPath, Step};
use serde_json::Value;
use std::collections::BTreeSet;

/// The deepest table that is looked at: deeper than any of the schema.
const DEEPEST: usize = 6;
/// The most tables that are named.
const MOST: usize = 3;

/// Says to which tables `key` belongs, which stands at `path`; those under the same section first. Nothing for
/// a key that no table has.
pub(crate) fn named(key: &str, path: &KeyPath) -> Option<String> {
    let schema = Scenario::json_schema();
    let mut found = BTreeSet::new();
    collect(&schema, &schema, key, &mut Vec::new(), &mut Vec::new(), &mut found);
    let section = match path.0.first() {
        Some(Step::Key(section)) => section.as_str(),
        _ => "",
    };
    let (near, far): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|home| home.split('.').next() == Some(section));
    let mut homes = if near.is_empty() { far } else { near };
    homes.sort_by_key(|home| (home.matches('.').count(), home.clone()));
    let homes: Vec<String> = homes.iter().take(MOST).map(|home| format!("[{home}]")).collect();
    let (last, rest) = homes.split_last()?;
    let list = if rest.is_empty() { last.clone() } else { format!("{} or {last}", rest.join(", ")) };
    Some(format!("\"{key}\" belongs to {list}"))
}

/// Collects the tables under `node` that have the property `key`. `at` is the path of `node`, `within` the
/// definitions on the way to it.
fn collect<'a>(
    root: &'a Value,
    node: &'a Value,
    key: &str,
    at: &mut Vec<&'a str>,
    within: &mut Vec<&'a str>,
    found: &mut BTreeSet<String>,
) {
    if let Some(name) = node["$ref"].as_str().and_then(|link| link.strip_prefix("#/$defs/")) {
        // A definition within itself has no other tables.
        if !within.contains(&name) {
            within.push(name);
            collect(root, &root["$defs"][name], key, at, within, found);
            within.pop();
        }
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        for choice in node[choices].as_array().into_iter().flatten() {
            collect(root, choice, key, at, within, found);
        }
    }
    if node["items"].is_object() {
        collect(root, &node["items"], key, at, within, found);
    }
    let Some(properties) = node["properties"].as_object() else { return };
    if properties.contains_key(key) && !at.is_empty() {
        found.insert(at.join("."));
    }
    if at.len() < DEEPEST {
        for (name, property) in properties {
            at.push(name);
            collect(root, property, key, at, within, found);
            at.pop();
        }
    }
}
