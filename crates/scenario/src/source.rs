//! Where a scenario came from, to say where in it an error is.

use crate::ScenarioError;
use crate::excerpt::excerpt;
use crate::tree::{Node, Path, Span};
use std::sync::Arc;

/// The text that a scenario was read from, and what was changed in it since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The file, as its opener named it.
    pub(crate) file: Arc<str>,
    /// Its text, where there is one.
    pub(crate) text: Option<Arc<str>>,
    /// What was set after reading: no place in the text stands for it.
    pub(crate) changed: Vec<Path>,
}

impl Source {
    /// Errors (path, message, remedy) with their lines and columns.
    pub(crate) fn place(
        &self,
        problems: impl ExactSizeIterator<Item = (Path, String, String)>,
    ) -> Vec<ScenarioError> {
        // Only errors pay for a second reading of the text.
        let text = self.text.as_deref().filter(|_| problems.len() > 0);
        let root = text.and_then(|text| Node::from_toml(text).ok());
        problems
            .map(|(path, message, remedy)| {
                let changed = self.changed.iter().any(|changed| path.0.starts_with(&changed.0));
                let node = root.as_ref().filter(|_| !changed).map(|root| root.nearest(&path));
                self.error_at(&path, node.and_then(|node| node.span.clone()), message, remedy)
            })
            .collect()
    }

    /// An error at `path`, which stands at `span`.
    pub(crate) fn error_at(
        &self,
        path: &Path,
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
            _ => error,
        }
    }
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
    use super::line_and_column;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("ab\nµs x", 0), (1, 1));
        assert_eq!(line_and_column("ab\nµs x", 3), (2, 1));
        assert_eq!(line_and_column("ab\nµs x", 7), (2, 4));
        assert_eq!(line_and_column("ab", 99), (1, 3));
    }
}
