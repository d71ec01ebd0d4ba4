//! Two tables that are written as one.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// What [`Flat`] asks its deserializer for: the parts of one table, one after the other.
pub(crate) const FLAT: &str = "a table in two parts";

/// A table of `Shared` fields, which other tables have too, and of its `Own` fields, to which it
/// dereferences. In the schema it has the name and meaning of `Own`.
///
/// This is serde's `flatten`, which accepts unknown keys, and loses the places of errors. Only documents of
/// this crate can be read so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Flat<Shared, Own> {
    /// What other tables have too.
    #[serde(flatten)]
    pub shared: Shared,
    /// What only this one has.
    #[serde(flatten)]
    pub own: Own,
}

impl<Shared, Own> Deref for Flat<Shared, Own> {
    type Target = Own;
    fn deref(&self) -> &Own {
        &self.own
    }
}

impl<'de, Shared: Deserialize<'de>, Own: Deserialize<'de>> Deserialize<'de> for Flat<Shared, Own> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple_struct(FLAT, 2, Parts(PhantomData))
    }
}

struct Parts<Shared, Own>(PhantomData<(Shared, Own)>);

impl<'de, Shared: Deserialize<'de>, Own: Deserialize<'de>> Visitor<'de> for Parts<Shared, Own> {
    type Value = Flat<Shared, Own>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let lacks = |part| A::Error::invalid_length(part, &"the two parts of a table");
        let shared = parts.next_element()?.ok_or_else(|| lacks(0))?;
        let own = parts.next_element()?.ok_or_else(|| lacks(1))?;
        Ok(Flat { shared, own })
    }
}

impl<Shared: JsonSchema, Own: JsonSchema> JsonSchema for Flat<Shared, Own> {
    fn schema_name() -> Cow<'static, str> {
        Own::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        Own::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Own::json_schema(generator);
        let mut shared = Shared::json_schema(generator);
        let object = schema.ensure_object();
        for key in ["properties", "required"] {
            match (object.get_mut(key), shared.remove(key)) {
                (Some(Value::Object(own)), Some(Value::Object(shared))) => own.extend(shared),
                (Some(Value::Array(own)), Some(Value::Array(shared))) => own.extend(shared),
                (None, Some(shared)) => drop(object.insert(key.to_owned(), shared)),
                _ => {}
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{SpannedValue, deserialize};

    #[derive(Debug, Default, PartialEq, serde::Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields, default)]
    struct Size {
        width: u32,
        height: u32,
    }

    #[derive(Debug, PartialEq, serde::Deserialize, JsonSchema, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Named {
        name: String,
        #[serde(default)]
        list: Vec<u32>,
    }

    fn read(text: &str) -> Result<Flat<Size, Named>, String> {
        let root = SpannedValue::from_toml(text).unwrap();
        deserialize(&root).map_err(|fault| {
            let place = fault.span.as_ref().map(|span| text[span.clone()].to_owned());
            format!("{} at {place:?}: {fault}", fault.path())
        })
    }

    #[test]
    fn both_parts_are_read_whatever_their_order() {
        let read = read("list = [1]\nheight = 3\nname = \"x\"").unwrap();
        let own = Named { name: "x".to_owned(), list: vec![1] };
        assert_eq!(read, Flat { shared: Size { width: 0, height: 3 }, own });
        assert_eq!(read.name, "x");
        let written = toml::to_string(&read).unwrap();
        assert_eq!(written, "width = 0\nheight = 3\nname = \"x\"\nlist = [1]\n");
    }

    #[test]
    fn errors_know_all_fields_and_their_place() {
        let error = |text| read(text).unwrap_err();
        let unknown = error("name = \"x\"\nhight = 3");
        assert!(
            unknown.starts_with("hight at Some(\"hight\"): unknown key \"hight\"; did you mean \"height\"?"),
            "{unknown}"
        );
        assert!(unknown.contains("\"name\"") && unknown.contains("\"width\""), "{unknown}");
        assert!(error("nam = \"x\"").contains("did you mean \"name\"?"));
        assert!(error("height = 3").contains("\"name\" is missing"));
        assert!(error("name = \"x\"\nwidth = \"3\"").starts_with("width at Some(\"\\\"3\\\"\")"));
        assert!(error("name = 7").starts_with("name at Some(\"7\")"));
    }

    #[test]
    fn the_schema_has_both() {
        let schema = schemars::schema_for!(Flat<Size, Named>).to_value();
        let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["height", "list", "name", "width"]);
        assert_eq!((&schema["required"][0], &schema["title"]), (&"name".into(), &"Named".into()));
        assert_eq!(schema["additionalProperties"], false);
    }
}
