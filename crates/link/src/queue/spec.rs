//! The queue of a link as a scenario writes it.

use super::limit::PATTERN;
use super::{DisciplineSpec, LinkPayload, QueueDiscipline, QueueLimit, Site};
use cogtcp_units::deserialize_text_or_named;
use serde::Serialize;

/// The queue of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum QueueSpec {
    /// Drop-tail of this length.
    DropTail(QueueLimit),
    /// Another discipline.
    Discipline(DisciplineSpec),
}

impl From<DisciplineSpec> for QueueSpec {
    fn from(discipline: DisciplineSpec) -> Self {
        Self::Discipline(discipline)
    }
}

/// Stands for any packet where none is at hand.
impl LinkPayload for () {}

impl QueueSpec {
    /// True if it draws random numbers.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Discipline(discipline) if discipline.kind::<()>().is_random())
    }

    /// Returns the discipline at work; `None`: drop-tail, which the link has itself.
    pub fn build<P: LinkPayload>(&self, site: impl FnOnce() -> Site) -> Option<Box<dyn QueueDiscipline<P>>> {
        match self {
            Self::DropTail(_) => None,
            Self::Discipline(discipline) => Some(discipline.kind().build(site())),
        }
    }
}

impl<'de> serde::Deserialize<'de> for QueueSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text_or_named::<DisciplineSpec, _, _>(deserializer, DisciplineSpec::EXPECTED, |text| {
            if let Some(discipline) = DisciplineSpec::of_name(text) {
                return Ok(discipline.into());
            }
            let names = DisciplineSpec::NAMES.join(", ");
            let length = text.parse().map(Self::DropTail);
            length.map_err(|message: String| format!("{message}, or a discipline ({names})"))
        })
    }
}

impl schemars::JsonSchema for QueueSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Queue".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut choices = vec![
            schemars::json_schema!({
                "type": "string",
                "description": "a queue length in packets or bytes, for example \"100 packets\" or \"64 KiB\": drop-tail",
                "pattern": PATTERN,
            }),
            schemars::json_schema!({
                "type": "string",
                "description": "a discipline with its default parameters",
                "enum": DisciplineSpec::NAMES,
            }),
        ];
        choices.extend(DisciplineSpec::entry_schemas(generator));
        schemars::json_schema!({ "description": DisciplineSpec::EXPECTED, "oneOf": choices })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CoDel, DisciplineSpec, QueueLimit, QueueSpec};
    use cogtcp_units::Duration;

    fn read(json: &str) -> Result<QueueSpec, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_queue_is_a_length_a_name_or_a_discipline_with_parameters() {
        assert_eq!(read("\"20 packets\""), Ok(QueueSpec::DropTail(QueueLimit::Packets(20))));
        assert_eq!(read("\"codel\""), Ok(DisciplineSpec::CoDel(CoDel::default()).into()));
        let slow = CoDel { target: Duration::from_millis(20), ..CoDel::default() };
        assert_eq!(read(r#"{ "codel": { "target": "20 ms" } }"#), Ok(DisciplineSpec::CoDel(slow).into()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let said = |json: &str| read(json).unwrap_err();
        assert!(
            said("\"20\"").contains("or a discipline (red, codel, fq_codel, dualpi2)"),
            "{}",
            said("\"20\"")
        );
        assert!(said(r#"{ "cake": {} }"#).contains("unknown variant `cake`"));
        assert!(said(r#"{ "codel": { "aim": "5 ms" } }"#).contains("unknown field `aim`"));
        assert!(said(r#"{ "codel": {}, "red": {} }"#).contains("keep either codel or red"));
        assert!(said("{}").contains("the name of a queue discipline"));
    }

    /// Every discipline is written as it is read, and its defaults make sense.
    #[test]
    fn disciplines_survive_writing() {
        for name in DisciplineSpec::NAMES {
            let spec = DisciplineSpec::of_name(name).unwrap();
            assert_eq!((spec.name(), spec.first_wrong()), (*name, Ok(())));
            let text = serde_json::to_string(&QueueSpec::from(spec.clone())).unwrap();
            assert_eq!(read(&text), Ok(spec.into()), "{text}");
        }
    }
}
