//! Starter scenarios for people who begin.

use crate::{ScenarioError, suggest};

/// The kinds of starter scenarios, and what each is, in a line.
pub const STARTERS: &[(&str, &str)] = &[];

/// A commented scenario of the kind `kind` (one of [`STARTERS`]), to be edited.
pub fn starter(kind: &str) -> Result<String, ScenarioError> {
    let names: Vec<&str> = STARTERS.iter().map(|(name, _)| *name).collect();
    Err(ScenarioError::of_file("", format!("unknown kind \"{kind}\""), suggest::among(kind, &names)))
}
