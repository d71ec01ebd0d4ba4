//! Setting one value of the tree by its path.

use super::{Entry, KeyPath, SpannedValue, Value};
use crate::suggest;

/// The most steps of a path: deeper than any field.
const DEEPEST: usize = 20;

impl SpannedValue {
    /// Sets what stands at `path` to `value`; returns the paths set (several where the path has a "*").
    /// Missing tables on the way are made, also in place of a single value. An error is what is wrong and
    /// what would be right.
    pub(crate) fn set(&mut self, path: &str, value: &SpannedValue) -> Result<Vec<KeyPath>, (String, String)> {
        let steps: Vec<&str> = path.split('.').map(str::trim).collect();
        if steps.len() > DEEPEST || steps.iter().any(|step| step.is_empty()) {
            return Err((
                "this is not the path of a field".to_owned(),
                "write keys with dots between, for example run.duration or radio.0.sensing.off".to_owned(),
            ));
        }
        let mut set = Vec::new();
        self.set_steps(&steps, value, KeyPath::default(), &mut set)?;
        Ok(set)
    }

    fn set_steps(
        &mut self,
        steps: &[&str],
        value: &SpannedValue,
        at: KeyPath,
        set: &mut Vec<KeyPath>,
    ) -> Result<(), (String, String)> {
        let Some((step, rest)) = steps.split_first() else {
            *self = value.clone();
            set.push(at);
            return Ok(());
        };
        match &mut self.value {
            Value::Table(entries) => {
                let place = match entries.iter().position(|entry| entry.key == *step) {
                    Some(place) => place,
                    None => {
                        let node = SpannedValue::bare(Value::Table(Vec::new()));
                        entries.push(Entry { key: (*step).to_owned(), key_span: None, node });
                        entries.len() - 1
                    }
                };
                entries[place].node.set_steps(rest, value, at.key(step), set)
            }
            Value::Array(elements) if *step == "*" => {
                if elements.is_empty() {
                    return Err((format!("{at} is empty"), "there is nothing to set".to_owned()));
                }
                for (i, element) in elements.iter_mut().enumerate() {
                    element.set_steps(rest, value, at.index(i), set)?;
                }
                Ok(())
            }
            Value::Array(elements) => {
                let by_name = |element: &SpannedValue| element.name() == Some(step);
                let place = match step.parse() {
                    Ok(index) => Some(index).filter(|index| *index < elements.len()),
                    Err(_) => elements.iter().position(by_name),
                };
                let Some(place) = place else {
                    let names: Vec<&str> = elements.iter().filter_map(SpannedValue::name).collect();
                    let numbers = match elements.len() {
                        0 => "it is empty".to_owned(),
                        1 => "write 0".to_owned(),
                        more => format!("write a number from 0 to {} or \"*\"", more - 1),
                    };
                    let remedy = if names.is_empty() {
                        numbers
                    } else {
                        // `among` begins with a verb of its own.
                        let names = suggest::among(step, &names);
                        format!("{numbers}, or a name: {}", names.strip_prefix("write ").unwrap_or(&names))
                    };
                    return Err((format!("{at} has no element \"{step}\""), remedy));
                };
                elements[place].set_steps(rest, value, at.index(place), set)
            }
            // A choice written as a word or a plain quantity becomes one written as a table: "stay" { range =
            // ... }.
            _ => {
                self.value = Value::Table(Vec::new());
                self.set_steps(steps, value, at, set)
            }
        }
    }

    /// The value of the key "name".
    fn name(&self) -> Option<&str> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find_map(|entry| match (&*entry.key, &entry.node.value) {
            ("name", Value::Text(name)) => Some(name.as_str()),
            _ => None,
        })
    }
}
