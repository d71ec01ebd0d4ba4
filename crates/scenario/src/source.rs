//! Where a scenario came from, to say where in it an error is.

use crate::ScenarioError;
use crate::excerpt::{change_excerpt, excerpt};
use crate::tree::{KeyPath, Span, SpannedValue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The text that a scenario was read from, and what was changed in it since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The file, as its opener named it.
    pub(crate) file: Arc<str>,
    /// Its text, where there is one.
    pub(crate) text: Option<Arc<str>>,
    /// What was set after reading: no place in the text stands for it.
    pub(crate) changed: Vec<Change>,
    /// Tables of CR users that do not name their access.
    pub(crate) without_access: Vec<KeyPath>,
    /// Files that the scenario may name, by name: the only ones that there are. Without this they are read
    /// from the disk.
    pub(crate) given: Option<Arc<BTreeMap<String, String>>>,
}

/// A field that was set after reading.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) path: KeyPath,
    /// Path and value as they were written.
    pub(crate) written: (Arc<str>, Arc<str>),
}

impl Source {
    /// A source called `file`, without a text and without changes.
    pub(crate) fn named(file: &str) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// Errors (path, message, remedy) with their lines and columns.
    pub(crate) fn place(
        &self,
        problems: impl ExactSizeIterator<Item = (KeyPath, String, String)>,
    ) -> Vec<ScenarioError> {
        // Only errors pay for a second reading of the text.
        let text = self.text.as_deref().filter(|_| problems.len() > 0);
        let root = text.and_then(|text| SpannedValue::from_toml(text).ok());
        problems
            .map(|(path, message, remedy)| {
                let changed = self.changed.iter().any(|changed| path.0.starts_with(&changed.path.0));
                let node = root.as_ref().filter(|_| !changed).map(|root| root.nearest(&path));
                self.error_at(&path, node.and_then(|node| node.span.clone()), message, remedy)
            })
            .collect()
    }

    /// An error at `path`, which stands at `span`.
    pub(crate) fn error_at(
        &self,
        path: &KeyPath,
        span: Option<Span>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ScenarioError {
        let mut error = ScenarioError::of_file(&self.file, message, remedy);
        error.field = path.to_string();
        match (&self.text, span) {
            (Some(text), Some(span)) => {
                error.excerpt = excerpt(text, &span).into();
                error.at(line_and_column(text, span.start))
            }
            _ => {
                // The last change counts, of those that the field is part of, and else of its own parts.
                let is_part = |change: &&Change| path.0.starts_with(&change.path.0);
                let has_part = |change: &&Change| change.path.0.starts_with(&path.0);
                let mut changes = self.changed.iter().rev();
                let change = changes.clone().find(is_part).or_else(|| changes.find(has_part));
                if let Some(Change { written: (path, value), .. }) = change {
                    error.excerpt = change_excerpt(path, value, false).into();
                }
                error
            }
        }
    }
}

/// A location in a TOML file of any kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TomlLocation {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line of the source with carets under what stands there.
    pub excerpt: String,
    /// What the parser says of a text that is no TOML.
    pub fault: Option<String>,
}

/// Where the value at `path` ("axis.0.steps") of a TOML text stands, or the nearest part of it; of a text
/// that is no TOML, where the parser gave up. Nothing if no step of the path is there.
pub fn toml_place(text: &str, path: &str) -> Option<TomlLocation> {
    let (span, fault) = match SpannedValue::from_toml(text) {
        Ok(root) => {
            let path = KeyPath::of(path);
            let first = KeyPath(path.0.get(..1)?.to_vec());
            // What the whole file is the nearest part of is nowhere.
            if std::ptr::eq(root.nearest(&first), &raw const root) {
                return None;
            }
            (root.nearest(&path).span.clone()?, None)
        }
        Err(errors) => {
            let error = errors.first()?;
            (error.span()?, Some(error.message().to_owned()))
        }
    };
    let (line, column) = line_and_column(text, span.start);
    Some(TomlLocation { line, column, excerpt: excerpt(text, &span), fault })
}

/// Line and column, from 1, of the byte `at`. The column counts characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    // Every byte of UTF-8 but the continuation bytes begins a character.
    let column = before[start..].iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::{line_and_column, toml_place};

    #[test]
    fn a_value_of_any_toml_has_a_place() {
        let text = "title = 1\n[[axis]]\npath = \"a\"\nsteps = 0\n";
        let place = toml_place(text, "axis.0.steps").unwrap();
        assert_eq!((place.line, place.column, place.fault), (4, 9, None));
        assert_eq!(place.excerpt, "  |\n4 | steps = 0\n  |         ^");
        // Of what is not there, the nearest part.
        assert_eq!(toml_place(text, "axis.0.values").unwrap().line, 2);
        assert_eq!(toml_place(text, "seeds"), None);
        assert_eq!(toml_place(text, ""), None);
        let wrong = toml_place("a = 1\nb = \n", "a").unwrap();
        assert_eq!(wrong.line, 2);
        assert!(wrong.fault.is_some() && wrong.excerpt.contains("2 | b ="), "{wrong:?}");
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("ab\nµs x", 0), (1, 1));
        assert_eq!(line_and_column("ab\nµs x", 3), (2, 1));
        assert_eq!(line_and_column("ab\nµs x", 7), (2, 4));
        assert_eq!(line_and_column("ab", 99), (1, 3));
    }
}
