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
    use super::super::testing::wrong;
    use super::super::{CoDel, DisciplineSpec, DualPi2, FqCoDel, QueueLimit, QueueSpec, Red};
    use cogtcp_units::{Duration, Probability};

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

    /// Each value is the last that is right, or the first that is wrong.
    #[test]
    fn settings_of_disciplines_have_bounds() {
        let none: [&str; 0] = [];
        let (zero, us) = (Duration::ZERO, Duration::from_micros);
        let least = Red {
            min_threshold: 1e-9,
            max_threshold: 2e-9,
            max_probability: Probability::new(1e-9).unwrap(),
            weight: 1.0,
            limit: 1,
            mean_packet: 1,
            ..Red::default()
        };
        assert_eq!(wrong(&least), none);
        assert_eq!(wrong(&Red { min_threshold: 0.0, ..least.clone() }), ["min_threshold"]);
        assert_eq!(wrong(&Red { max_threshold: 1e-9, ..least.clone() }), ["max_threshold"]);
        assert_eq!(wrong(&Red { max_threshold: 0.9e9, ..least.clone() }), none);
        assert_eq!(wrong(&Red { max_threshold: 1e9, ..least.clone() }), ["max_threshold"]);
        assert_eq!(wrong(&Red { max_probability: Probability::ZERO, ..least.clone() }), ["max_probability"]);
        assert_eq!(wrong(&Red { weight: 0.0, ..least.clone() }), ["weight"]);
        assert_eq!(wrong(&Red { weight: 1.001, ..least.clone() }), ["weight"]);
        assert_eq!(wrong(&Red { limit: 0, mean_packet: 0, ..least }), ["limit", "mean_packet"]);

        let least = CoDel { target: us(1), interval: us(1), limit: 1, ..CoDel::default() };
        assert_eq!(wrong(&least), none);
        assert_eq!(wrong(&CoDel { target: zero, limit: 0, ..least.clone() }), ["target", "limit"]);
        assert_eq!(wrong(&CoDel { target: us(2), ..least }), ["interval"]);

        let least =
            FqCoDel { target: us(1), interval: us(1), flows: 1, quantum: 1, limit: 1, ..FqCoDel::default() };
        assert_eq!(wrong(&least), none);
        assert_eq!(wrong(&FqCoDel { flows: 65_536, ..least.clone() }), none);
        assert_eq!(wrong(&FqCoDel { flows: 65_537, target: us(2), ..least.clone() }), ["interval", "flows"]);
        let nothing = FqCoDel { flows: 0, quantum: 0, limit: 0, ..least };
        assert_eq!(wrong(&nothing), ["flows", "quantum", "limit"]);

        let least = DualPi2 {
            target: us(1),
            update: us(100),
            alpha: 1e-9,
            beta: 1e-9,
            coupling: 1e-9,
            step: zero,
            limit: 1,
        };
        assert_eq!(wrong(&least), none);
        let most = DualPi2 { alpha: 0.9e6, beta: 0.9e6, coupling: 0.9e6, ..least.clone() };
        assert_eq!(wrong(&most), none);
        let nothing = DualPi2 {
            target: zero,
            update: us(99),
            alpha: 0.0,
            beta: 0.0,
            coupling: 0.0,
            step: zero,
            limit: 0,
        };
        assert_eq!(wrong(&nothing), ["target", "update", "alpha", "beta", "coupling", "limit"]);
        let beyond = DualPi2 { alpha: 1e6, beta: 1e6, coupling: 1e6, ..least };
        assert_eq!(wrong(&beyond), ["alpha", "beta", "coupling"]);
    }

    /// A length is drop-tail, which draws nothing and needs no discipline.
    #[test]
    fn red_and_dualpi2_draw() {
        let random: Vec<bool> = DisciplineSpec::NAMES
            .iter()
            .map(|name| QueueSpec::from(DisciplineSpec::of_name(name).unwrap()).is_random())
            .collect();
        assert_eq!(random, [true, false, false, true]);
        assert!(!QueueSpec::DropTail(QueueLimit::Packets(1)).is_random());
    }
}
