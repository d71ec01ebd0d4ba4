//! From the tree to types, by serde, with errors that know their path and place.

use super::{Entry, KeyPath, Span, SpannedValue, Step, Value};
use crate::flat::FLAT;
use crate::{TransportSpec, suggest, transports};
use serde::Deserialize;
use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeSeed, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use std::fmt;

/// What does not fit: where, what is wrong, what would be right.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The path, last step first while it is being built.
    steps: Vec<Step>,
    /// Where; set by the innermost value that knows.
    pub(crate) span: Option<Span>,
    /// What is wrong.
    pub(crate) message: String,
    /// What would be right.
    pub(crate) remedy: String,
    /// A key that does not belong here, and resembles none that does.
    pub(crate) stray: Option<String>,
}

impl Fault {
    fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { steps: Vec::new(), span: None, message: message.into(), remedy: remedy.into(), stray: None }
    }

    /// A key that none of `expected` is.
    fn stray(key: &str, expected: &[&str]) -> Self {
        let mut fault = Self::new(format!("unknown key \"{key}\""), suggest::among(key, expected));
        // A mistyped key belongs here.
        fault.stray = (!fault.remedy.starts_with("did you mean")).then(|| key.to_owned());
        fault
    }

    fn at(mut self, span: Option<&Span>) -> Self {
        // The innermost place is the most exact.
        if self.span.is_none() {
            self.span = span.cloned();
        }
        self
    }

    fn under(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The path from the root.
    pub(crate) fn path(&self) -> KeyPath {
        KeyPath(self.steps.iter().rev().cloned().collect())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    /// A quantity's own message: what is wrong, a semicolon, what would be right.
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        match message.split_once("; ") {
            Some((message, remedy)) => Self::new(message, remedy),
            None => Self::new(message, ""),
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("found {}", plain(unexpected)), format!("write {}", plain_expected(expected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            format!("{} is out of range", plain(unexpected)),
            format!("write {}", plain_expected(expected)),
        )
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let expected = plain_expected(expected).replace("an array of length", "a list of");
        Self::new(format!("found {length} values"), format!("write {expected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        // A key of the table of a transport that only other builds have.
        let is_transport = TransportSpec::ALL.iter().any(|info| expected.contains(&info.name));
        match transports::left_out(variant).filter(|_| is_transport) {
            Some((message, remedy)) => Self::new(message, remedy),
            None => Self::new(format!("unknown value \"{variant}\""), suggest::among(variant, expected)),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::stray(field, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("\"{field}\" is missing"), suggest::example(field))
    }
}

/// A found value in plain words.
fn plain(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => format!("{value}"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(text) => format!("the text \"{text}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map | Unexpected::NewtypeVariant | Unexpected::StructVariant => "a table".to_owned(),
        Unexpected::Other(text) => text.to_owned(),
        other => other.to_string(),
    }
}

/// What serde's own visitors expect, in plain words; our own visitors say it so already.
fn plain_expected(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" => "a text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list in [ ]".to_owned(),
        "a map" => "a table".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "f64" => "a number".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// Makes a `T` of the document `root`.
pub(crate) fn deserialize<'de, T: Deserialize<'de>>(root: &'de SpannedValue) -> Result<T, Fault> {
    T::deserialize(root)
}

impl<'de> de::Deserializer<'de> for &'de SpannedValue {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match &self.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            // serde's visitors know 64 bits, signed or not.
            Value::Integer(Some(integer)) => match (i64::try_from(*integer), u64::try_from(*integer)) {
                (Ok(integer), _) => visitor.visit_i64(integer),
                (_, Ok(integer)) => visitor.visit_u64(integer),
                _ => Err(de::Error::invalid_type(
                    Unexpected::Other(&format!("the number {integer}")),
                    &visitor as &dyn Expected,
                )),
            },
            Value::Integer(None) => Err(de::Error::invalid_type(
                Unexpected::Other("a number of more than 38 digits"),
                &visitor as &dyn Expected,
            )),
            // JSON could not say it: it would come back as nothing, or as the default.
            Value::Float(float) if float.is_infinite() => {
                Err(de::Error::invalid_value(Unexpected::Float(*float), &visitor as &dyn Expected))
            }
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Date(date) => Err(de::Error::invalid_type(
                Unexpected::Other(&format!("the date {date}")),
                &visitor as &dyn Expected,
            )),
            Value::Array(elements) => {
                let mut access = Elements { elements, next: 0 };
                visitor.visit_seq(&mut access).and_then(|value| {
                    // A visitor of fixed length stops early: what it left would be lost without a word.
                    if access.next < elements.len() {
                        return Err(Fault::new(
                            format!("found {} values", elements.len()),
                            format!("write {}", access.next),
                        ));
                    }
                    Ok(value)
                })
            }
            Value::Table(entries) => visitor.visit_map(Entries { left: entries.iter(), current: None }),
        };
        result.map_err(|fault| fault.at(self.span.as_ref()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match name {
            FLAT => visitor.visit_seq(Parts { node: self, known: Vec::new() }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        // serde's derived structs also accept a list of their fields in order; a scenario does not.
        if let Value::Array(_) = self.value {
            let fault: Fault = de::Error::invalid_type(Unexpected::Seq, &"a table");
            return Err(fault.at(self.span.as_ref()));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let result = match &self.value {
            Value::Text(name) => visitor.visit_enum(Choice { name, key_span: None, content: None }),
            Value::Table(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(Choice {
                    name: &entry.key,
                    key_span: entry.key_span.as_ref(),
                    content: Some(&entry.node),
                }),
                [] => {
                    Err(Fault::new("the table is empty", format!("write one of {}", suggest::list(variants))))
                }
                [first, second, ..] => match entries.iter().find(|entry| !variants.contains(&&*entry.key)) {
                    Some(entry) => Err(Fault::stray(&entry.key, variants).at(entry.key_span.as_ref())),
                    None => Err(Fault::new(
                        format!("\"{}\" and \"{}\" exclude each other", first.key, second.key),
                        format!("keep one of {}", suggest::list(variants)),
                    )
                    .at(second.key_span.as_ref())),
                },
            },
            _ => {
                let names = format!("one of {}", suggest::list(variants));
                match self.deserialize_any(Refuse(&names)) {
                    Ok(never) => match never {},
                    Err(fault) => Err(fault),
                }
            }
        };
        result.map_err(|fault| fault.at(self.span.as_ref()))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        map identifier ignored_any
    }
}

/// A visitor that takes nothing: it turns any value into the error "found ..., write ...".
struct Refuse<'a>(&'a str);

impl<'de, 'a> Visitor<'de> for Refuse<'a> {
    type Value = std::convert::Infallible;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

struct Elements<'de> {
    elements: &'de [SpannedValue],
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut Elements<'de> {
    type Error = Fault;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.elements.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(node)
            .map(Some)
            .map_err(|fault| fault.at(node.span.as_ref()).under(Step::Index(index)))
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len() - self.next)
    }
}

/// The two parts of a table ([`crate::Flat`]): one after the other takes the fields that it knows.
struct Parts<'de> {
    node: &'de SpannedValue,
    /// The fields of the first part, once it has been read.
    known: Vec<&'static str>,
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = Fault;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        seed.deserialize(self).map(Some)
    }
}

impl<'de> de::Deserializer<'de> for &mut Parts<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.node.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Value::Table(entries) = &self.node.value else {
            return self.node.deserialize_struct(name, fields, visitor);
        };
        // A key of the second part is unknown to the first: only the last part can refuse.
        let is_last = !self.known.is_empty();
        self.known.extend(fields);
        let unknown = entries.iter().find(|entry| !self.known.contains(&&*entry.key));
        if let Some(Entry { key, key_span, .. }) = unknown.filter(|_| is_last) {
            let fault = Fault::stray(key, &self.known);
            return Err(fault.at(key_span.as_ref()).under(Step::Key(key.clone())));
        }
        let left = entries.iter().filter(|entry| fields.contains(&&*entry.key));
        let result = visitor.visit_map(Entries { left, current: None });
        result.map_err(|fault| fault.at(self.node.span.as_ref()))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Entries<'de, I> {
    left: I,
    /// The one whose key was read last.
    current: Option<&'de Entry>,
}

impl<'de, I: Iterator<Item = &'de Entry>> MapAccess<'de> for Entries<'de, I> {
    type Error = Fault;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.current = self.left.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key: StringDeserializer<Fault> = entry.key.clone().into_deserializer();
        seed.deserialize(key)
            .map(Some)
            .map_err(|fault| fault.at(entry.key_span.as_ref()).under(Step::Key(entry.key.clone())))
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some(entry) = self.current else {
            return Err(Fault::new("a value is missing", ""));
        };
        seed.deserialize(&entry.node)
            .map_err(|fault| fault.at(entry.node.span.as_ref()).under(Step::Key(entry.key.clone())))
    }
    fn size_hint(&self) -> Option<usize> {
        let (least, most) = self.left.size_hint();
        most.filter(|most| *most == least)
    }
}

/// An externally tagged enum: its variant's name, and what stands under it.
struct Choice<'de> {
    name: &'de str,
    key_span: Option<&'de Span>,
    content: Option<&'de SpannedValue>,
}

impl<'de> Choice<'de> {
    fn content(&self) -> Result<&'de SpannedValue, Fault> {
        self.content.ok_or_else(|| {
            Fault::new(format!("\"{}\" needs a value", self.name), format!("write {{ {} = ... }}", self.name))
        })
    }
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Fault;
    type Variant = Self;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name: de::value::StrDeserializer<'_, Fault> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|fault| {
            let fault = fault.at(self.key_span);
            if self.content.is_some() { fault.under(Step::Key(self.name.to_owned())) } else { fault }
        })?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Fault;
    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(Fault::new(
                format!("\"{}\" takes no value", self.name),
                format!("write \"{}\" alone, in quotes", self.name),
            )),
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.content()?).map_err(|fault| fault.under(Step::Key(self.name.to_owned())))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        de::Deserializer::deserialize_any(self.content()?, visitor)
            .map_err(|fault| fault.under(Step::Key(self.name.to_owned())))
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.tuple_variant(0, visitor)
    }
}
