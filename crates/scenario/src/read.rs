//! From text to a [`Scenario`] and back.

use crate::excerpt::change_excerpt;
use crate::limits::LARGEST_SCENARIO;
use crate::source::{Change, Source};
use crate::transports::{self, is_known};
use crate::tree::{self, KeyPath, SpannedValue};
use crate::{Scenario, ScenarioError, Transport, files, format, homes};
use cogtcp_units::Seed;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Scenario {
    /// Reads a TOML text. `source_name` is what errors call it: the file's path.
    pub fn parse(text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        Self::parse_in(text, source_name, None)
    }

    /// Reads a TOML text whose files are `files`, by the name that the scenario gives them. Nothing is read
    /// from the disk: for callers that have none.
    pub fn parse_with_files(
        text: &str,
        source_name: &str,
        files: Arc<BTreeMap<String, String>>,
    ) -> Result<Self, ScenarioError> {
        Self::parse_in(text, source_name, Some(files))
    }

    fn parse_in(
        text: &str,
        source_name: &str,
        given: Option<Arc<BTreeMap<String, String>>>,
    ) -> Result<Self, ScenarioError> {
        // A byte order mark is no part of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ScenarioError::of_file(source_name, "the file is empty", EMPTY_REMEDY));
        }
        let source = Source { text: Some(Arc::from(text)), given, ..Source::named(source_name) };
        let root = SpannedValue::from_toml(text).map_err(|errors| syntax_error(&source, errors))?;
        Self::from_tree(&root, source)
    }

    /// Reads a TOML file.
    pub fn read(path: &std::path::Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = files::read_given(path, LARGEST_SCENARIO, NO_SCENARIO).map_err(|why| {
            let remedy = match why.remedy {
                "" => "name a scenario file, or write a new one with \"cogtcp new\"",
                remedy => remedy,
            };
            let error = ScenarioError::of_file(&file, why.message, remedy);
            if let Some(at) = why.at { error.at(at) } else { error }
        })?;
        Self::parse(&text, &file)
    }

    /// Reads the JSON form, which [`Self::to_json`] writes; null means "not set". Errors name the field, not
    /// the line.
    pub fn from_json(text: &str, source_name: &str) -> Result<Self, ScenarioError> {
        let value = serde_json::from_str(text).map_err(|error| {
            let place = (error.line(), error.column());
            ScenarioError::of_file(source_name, format!("this is not JSON: {error}"), "").at(place)
        })?;
        let source = Source::named(source_name);
        Self::from_tree(&SpannedValue::from_json(value), source)
    }

    fn from_tree(root: &SpannedValue, mut source: Source) -> Result<Self, ScenarioError> {
        format::check(root, &source)?;
        let mut scenario: Self = tree::deserialize(root).map_err(|fault| {
            let path = fault.path();
            // What was set after reading stands nowhere in the text.
            let changed = source.changed.iter().any(|changed| path.0.starts_with(&changed.path.0));
            let span = fault.span.clone().filter(|_| !changed);
            let homes = fault.stray.as_ref().and_then(|key| homes::named(key, &path));
            let remedy = homes.map_or(fault.remedy.clone(), |homes| format!("{}; {homes}", fault.remedy));
            source.error_at(&path, span, fault.message, remedy)
        })?;
        // What is set after reading has every default: only the text shows what was named.
        for path in format::without_access(root) {
            if !source.without_access.contains(&path) {
                source.without_access.push(path);
            }
        }
        scenario.source = source;
        Ok(scenario)
    }

    /// The scenario as TOML, every default written out. Reading it gives the same scenario again.
    pub fn to_toml(&self) -> String {
        // Keys are text, and every whole number is below 2^63: nothing in a scenario is beyond TOML or JSON.
        toml::to_string_pretty(self).unwrap_or_else(|error| unreachable!("a scenario is TOML: {error}"))
    }

    /// The scenario as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| unreachable!("a scenario is JSON: {error}"))
    }

    /// The JSON Schema of scenarios, for editors.
    pub fn json_schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Self).to_value();
        plain_descriptions(&mut schema);
        schema
    }

    /// The same scenario under another transport: the preset of every flow that is not `fixed` becomes
    /// `transport`.
    pub fn with_transport(&self, transport: &str) -> Result<Self, ScenarioError> {
        let mut changed = self.clone();
        if !is_known(transport) {
            let (message, remedy) = transports::unknown(transport);
            return Err(ScenarioError::of_file(&self.source.file, message, remedy));
        }
        for (i, flow) in changed.flow.iter_mut().enumerate().filter(|(_, flow)| !flow.fixed) {
            // The settings of a transport that stays remain.
            if flow.transport.name() != transport {
                flow.transport = Transport::Named(transport.to_owned());
            }
            let path = KeyPath::of("flow").index(i).key("transport");
            changed.source.changed.push(Change { path, written: ("transport".into(), transport.into()) });
        }
        Ok(changed)
    }

    /// The same scenario with another seed.
    pub fn with_seed(&self, seed: u64) -> Result<Self, ScenarioError> {
        let mut changed = self.clone();
        changed.run.seed = Seed::new(seed).ok_or_else(|| {
            let remedy = format!("write a whole number from 0 to {}", Seed::MAX);
            ScenarioError::of_file(&self.source.file, format!("the seed {seed} is out of range"), remedy)
        })?;
        Ok(changed)
    }

    /// Returns the same scenario with the field at `path` set to `value`:
    /// `set("radio.0.sensing.off", "200 ms")`. Elements of lists go by number from 0, by name
    /// (`radio.uplink.pu`), or all at once by "*" (`flow.*.transport`). The value is written as in TOML; a
    /// text needs no quotes. A value that can be judged alone is checked here. [`Self::resolve`] checks the
    /// rest, so that several fields can be set one after the other.
    pub fn set(&self, path: &str, value: &str) -> Result<Self, ScenarioError> {
        let mut source = self.source.clone();
        let mut root = self.to_tree();
        // A text without quotes is no TOML value.
        let node = SpannedValue::from_toml_value(value.trim())
            .unwrap_or_else(|| SpannedValue::bare(tree::Value::Text(value.to_owned())));
        match root.set(path, &node) {
            Ok(paths) => {
                let written: (Arc<str>, Arc<str>) = (path.into(), value.trim().into());
                source
                    .changed
                    .extend(paths.into_iter().map(|path| Change { path, written: written.clone() }));
            }
            Err((message, remedy)) => {
                let mut error = ScenarioError::of_file(&source.file, message, remedy);
                error.field = path.to_owned();
                error.excerpt = change_excerpt(path, value.trim(), true).into();
                return Err(error);
            }
        }
        Self::from_tree(&root, source)
    }

    /// The scenario as a tree without places, every default in it.
    fn to_tree(&self) -> SpannedValue {
        let value = serde_json::to_value(self);
        SpannedValue::from_json(value.unwrap_or_else(|error| unreachable!("a scenario is JSON: {error}")))
    }
}

/// Descriptions come from doc comments: takes their line breaks out, and the marks that only rustdoc needs.
pub(crate) fn plain_descriptions(schema: &mut serde_json::Value) {
    use serde_json::Value;
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text.replace('\n', " ").replace("\\[", "[").replace("\\]", "]");
                    }
                    value => plain_descriptions(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(plain_descriptions),
        _ => {}
    }
}

const NO_SCENARIO: &str = "name a scenario file, which is a page of TOML";
const EMPTY_REMEDY: &str = "write a scenario, or make a first one with \"cogtcp new\"";

/// The first error of the TOML parser, with our place. What it finds after the first is mostly its
/// consequence.
pub(crate) fn syntax_error(source: &Source, errors: Vec<toml::de::Error>) -> ScenarioError {
    let first = errors.into_iter().min_by_key(|error| error.span().map_or(0, |span| span.start));
    let (span, message) = match &first {
        // The parser's message may run over several lines; an error of ours is one line.
        Some(error) => (error.span(), error.message().split_whitespace().collect::<Vec<_>>().join(" ")),
        None => (None, "unknown syntax".to_owned()),
    };
    source.error_at(&KeyPath::default(), span, format!("this is not TOML: {message}"), "")
}
