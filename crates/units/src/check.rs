//! How a configuration reports its wrong settings.

use crate::{Duration, Rate};
use std::fmt::Display;

/// The lowest and the highest rate of anything: beyond, it is a slip of the pen.
const RATES: (Rate, Rate) = (Rate::from_bits_per_second(1), Rate::from_bits_per_second(10_000_000_000_000));
/// The longest name of anything.
const LONGEST_NAME: usize = 100;

/// Collects errors in the fields of a configuration. A reader of a text knows where each field stands there.
pub trait Check {
    /// What is wrong with `field`, and what would be right.
    fn error(&mut self, field: &str, message: String, remedy: String);

    /// Reports `field` unless it is `right`.
    fn unless(&mut self, right: bool, field: &str, message: &str, remedy: &str) {
        if !right {
            self.error(field, message.to_owned(), remedy.to_owned());
        }
    }

    /// A span of at most `most`, and above zero unless `zero` is allowed.
    fn span(&mut self, field: &str, span: Duration, zero: bool, most: Duration) {
        if span.is_zero() && !zero {
            let remedy = format!("write one above zero, up to \"{most}\"");
            self.error(field, "the duration is zero".to_owned(), remedy);
        } else if span > most {
            self.error(field, format!("\"{span}\" is too long"), format!("write at most \"{most}\""));
        }
    }

    /// A number from 0 to `most`.
    fn number(&mut self, field: &str, value: f64, most: f64) {
        if !(0.0..=most).contains(&value) {
            self.error(field, format!("{value} is out of range"), format!("write a number from 0 to {most}"));
        }
    }

    /// A number from `low` to `high`, which are of this `unit` (with a blank before it).
    fn range(&mut self, field: &str, value: f64, (low, high): (f64, f64), unit: &str) {
        if !(low..=high).contains(&value) {
            let remedy = format!("write {low}{unit} to {high}{unit}");
            self.error(field, format!("{value}{unit} is out of range"), remedy);
        }
    }

    /// A rate that occurs.
    fn rate(&mut self, field: &str, rate: Rate) {
        let (low, high) = RATES;
        if rate < low {
            self.error(field, "the rate is zero".to_owned(), format!("write \"{low}\" to \"{high}\""));
        } else if rate > high {
            self.error(field, format!("\"{rate}\" is too fast"), format!("write at most \"{high}\""));
        }
    }

    /// A name that can stand in tables, in paths of streams, and on a command line.
    fn name(&mut self, field: &str, name: &str) {
        let wrong = if name.is_empty() {
            "the name is empty".to_owned()
        } else if name.trim() != name || name.chars().any(char::is_control) {
            format!("the name {name:?} has blanks at its ends, or control characters")
        } else if name.chars().count() > LONGEST_NAME {
            format!("the name is longer than {LONGEST_NAME} characters")
        } else {
            return;
        };
        self.error(field, wrong, "write a short name of letters, digits and dashes".to_owned());
    }

    /// Two bounds, the lower one first.
    fn order<T: PartialOrd + Display>(&mut self, field: &str, low: &T, high: &T)
    where
        Self: Sized,
    {
        if low > high {
            let message = format!("the range begins above its end (\"{low}\" > \"{high}\")");
            self.error(field, message, format!("write [\"{high}\", \"{low}\"]"));
        }
    }

    /// A whole number from 1 to `most`.
    fn count(&mut self, field: &str, value: u32, most: u32) {
        if !(1..=most).contains(&value) {
            self.error(
                field,
                format!("{value} is out of range"),
                format!("write a whole number from 1 to {most}"),
            );
        }
    }

    /// For the fields of the table in `field`.
    fn within<'a>(&'a mut self, field: &'a str) -> Within<'a, Self>
    where
        Self: Sized,
    {
        Within { outer: self, field }
    }
}

impl Check for &mut dyn Check {
    fn error(&mut self, field: &str, message: String, remedy: String) {
        (**self).error(field, message, remedy);
    }
}

/// Takes what is wrong with the fields of a table in a table.
#[derive(Debug)]
pub struct Within<'a, C> {
    outer: &'a mut C,
    field: &'a str,
}

impl<C: Check> Check for Within<'_, C> {
    fn error(&mut self, field: &str, message: String, remedy: String) {
        match field {
            "" => self.outer.error(self.field, message, remedy),
            field => self.outer.error(&format!("{}.{field}", self.field), message, remedy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Found(Vec<String>);

    impl Check for Found {
        fn error(&mut self, field: &str, message: String, remedy: String) {
            self.0.push(format!("{field}: {message}; {remedy}"));
        }
    }

    #[test]
    fn bounds_are_inclusive() {
        let mut found = Found::default();
        let second = Duration::from_secs(1);
        found.span("a", second, false, second);
        found.span("b", Duration::ZERO, true, second);
        found.number("c", 0.0, 2.0);
        found.number("d", 2.0, 2.0);
        found.count("e", 1, 3);
        found.count("f", 3, 3);
        assert_eq!(found.0, Vec::<String>::new());
        found.span("a", Duration::ZERO, false, second);
        found.span("b", Duration::from_nanos(1_000_000_001), true, second);
        found.number("c", -1e-9, 2.0);
        found.number("d", f64::NAN, 2.0);
        found.count("e", 0, 3);
        found.count("f", 4, 3);
        let fields: Vec<&str> = found.0.iter().map(|line| &line[..1]).collect();
        assert_eq!(fields, ["a", "b", "c", "d", "e", "f"], "{:?}", found.0);
        found.0.clear();
        found.within("table").count("g", 0, 3);
        found.within("table").count("", 0, 3);
        let fields: Vec<&str> = found.0.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(fields, ["table.g", "table"]);
    }

    /// The fields that `check` reports, one for each bound of a table.
    #[test]
    fn rates_names_ranges_and_orders_have_both_bounds() {
        let fields = |check: &dyn Fn(&mut Found)| {
            let mut found = Found::default();
            check(&mut found);
            found.0.len()
        };
        for (bits, wrong) in [(0, 1), (1, 0), (10_000_000_000_000, 0), (10_000_000_000_001, 1)] {
            assert_eq!(fields(&|it| it.rate("r", Rate::from_bits_per_second(bits))), wrong, "{bits}");
        }
        for (name, wrong) in [
            ("", 1),
            ("a", 0),
            ("a b", 0),
            (" a", 1),
            ("a ", 1),
            ("a\tb", 1),
            (&"é".repeat(100), 0),
            (&"é".repeat(101), 1),
        ] {
            assert_eq!(fields(&|it| it.name("n", name)), wrong, "{name:?}");
        }
        for (value, wrong) in [(0.9, 1), (1.0, 0), (2.0, 0), (2.1, 1), (f64::NAN, 1)] {
            assert_eq!(fields(&|it| it.range("v", value, (1.0, 2.0), " m")), wrong, "{value}");
        }
        for (low, high, wrong) in [(1, 2, 0), (2, 2, 0), (3, 2, 1)] {
            assert_eq!(fields(&|it| it.order("o", &low, &high)), wrong, "{low} {high}");
        }
        for (right, wrong) in [(true, 0), (false, 1)] {
            assert_eq!(fields(&|it| it.unless(right, "u", "wrong", "right")), wrong);
        }
        let mut found = Found::default();
        found.order("o", &3, &2);
        assert_eq!(found.0, ["o: the range begins above its end (\"3\" > \"2\"); write [\"2\", \"3\"]"]);
    }

    #[test]
    fn messages_say_what_would_be_right() {
        let mut found = Found::default();
        found.span("a", Duration::ZERO, false, Duration::from_secs(1));
        assert_eq!(found.0[0], "a: the duration is zero; write one above zero, up to \"1 s\"");
    }
}
