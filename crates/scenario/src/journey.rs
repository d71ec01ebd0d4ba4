//! A train's journey: the map file of its line, and the section of a radio that names it.

use crate::ScenarioError;
use crate::limits::LONGEST;
use crate::resolve::Findings;
use crate::source::Source;
use crate::tree::{self, KeyPath, SpannedValue};
use cogtcp_train::journey::Line;
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

/// A train's journey over the line of a map file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// The map file; relative to the scenario file.
    pub map: String,
    /// When the train leaves its first station.
    #[serde(default)]
    pub start: Duration,
    /// The rate of the links.
    #[serde(default)]
    pub rate: JourneyRate,
}

/// The rate of a journey's links.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JourneyRate {
    /// By the level, as the map says; without rates in the map: their own.
    #[default]
    ByLevel,
    /// Their own, whatever the map says.
    Own,
}

/// The map of a line, and where it came from.
#[derive(Clone, Debug)]
pub struct JourneyMap {
    /// What the map says; it need not make sense.
    line: Line,
    /// Where it came from: for errors.
    pub(crate) source: Source,
}

impl JourneyMap {
    /// Reads a TOML text. `source_name` is what errors call it: the file's path.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = Source { text: Some(text.into()), ..Source::named(source_name) };
        let root =
            SpannedValue::from_toml(text).map_err(|errors| crate::read::syntax_error(&source, errors))?;
        let line = tree::deserialize(&root).map_err(|fault| {
            source.error_at(&fault.path(), fault.span.clone(), fault.message, fault.remedy)
        })?;
        Ok(Self { line, source })
    }

    /// The line that the map describes, or everything that was found wrong with it.
    pub fn line(&self) -> Result<Line, ScenarioError> {
        let mut findings = Findings::default();
        self.line.check(LONGEST, &mut findings.under(&KeyPath::default()));
        match ScenarioError::from_all(Findings::place(findings.errors, &self.source)) {
            Some(error) => Err(error),
            None => Ok(self.line.clone()),
        }
    }

    /// The JSON Schema of map files, for editors.
    pub fn json_schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Line).to_value();
        crate::read::plain_descriptions(&mut schema);
        schema
    }
}
