//! What an application sends, as a scenario names it: what each kind of traffic has to say of itself.

use crate::Application;
use cogtcp_units::{Bytes, Check, Duration, Rate, Time};
use std::fmt::Debug;

/// Bounds of a scenario's values.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The largest size of anything that is sent.
    pub size: Bytes,
    /// The longest duration.
    pub duration: Duration,
}

/// A kind of traffic as the registry knows it: its settings.
pub trait TrafficKind: Debug {
    /// The name in scenarios.
    fn name(&self) -> &'static str;

    /// Reports each setting that is wrong.
    fn check(&self, _bounds: &Bounds, _found: &mut dyn Check) {}

    /// True if the application waits for a last byte: then the transport must deliver everything.
    fn needs_all(&self) -> bool {
        true
    }

    /// True if two seeds may differ.
    fn is_random(&self) -> bool {
        false
    }

    /// True if each request has a connection of its own.
    fn opens_anew(&self) -> bool {
        false
    }

    /// Returns the client that the data of the flow `name` answer, in the run of seed `seed`; `None`: the
    /// application just sends. Every driver, under any clock, gets the same draws.
    fn client(&self, _name: &str, _start: Time, _seed: u64) -> Option<Application> {
        None
    }
}

/// There is always data to send.
#[derive(Clone, Copy, Debug)]
pub struct Saturated;

impl TrafficKind for Saturated {
    fn name(&self) -> &'static str {
        "saturated"
    }

    fn needs_all(&self) -> bool {
        false
    }
}

/// This much, then the connection closes.
impl TrafficKind for Bytes {
    fn name(&self) -> &'static str {
        "size"
    }

    fn check(&self, bounds: &Bounds, found: &mut dyn Check) {
        if *self == Self::new(0) {
            found.error("", "there is nothing to send".into(), "write a size above 0 B".into());
        } else if *self > bounds.size {
            let remedy = format!("write at most \"{}\"", bounds.size);
            found.error("", format!("\"{self}\" is too large"), remedy);
        }
    }
}

/// Data comes at this constant rate.
impl TrafficKind for Rate {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn check(&self, _: &Bounds, found: &mut dyn Check) {
        found.rate("", *self);
    }

    fn needs_all(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Bounds, TrafficKind};
    use cogtcp_units::{Bytes, Check, Duration};

    /// The fields that were refused.
    #[derive(Default)]
    struct Found(Vec<String>);

    impl Check for Found {
        fn error(&mut self, field: &str, _: String, _: String) {
            self.0.push(field.to_owned());
        }
    }

    /// Returns the fields that `kind` refuses where a size is 1000 B at most and a duration 100 s.
    pub(crate) fn wrong(kind: &impl TrafficKind) -> Vec<String> {
        let mut found = Found::default();
        kind.check(&Bounds { size: Bytes::new(1000), duration: Duration::from_secs(100) }, &mut found);
        found.0
    }
}

#[cfg(test)]
mod tests {
    use super::testing::wrong;
    use super::*;

    #[test]
    fn a_size_lies_within_its_bounds() {
        for (bytes, is_wrong) in [(0, true), (1, false), (1000, false), (1001, true)] {
            assert_eq!(wrong(&Bytes::new(bytes)).len(), usize::from(is_wrong), "{bytes}");
        }
        assert_eq!(wrong(&Rate::ZERO), [""]);
    }

    /// Of these only a size has an end, and none draws or opens a connection for each request.
    #[test]
    fn a_size_alone_needs_all() {
        let kinds: [&dyn TrafficKind; 3] = [&Saturated, &Bytes::new(1), &Rate::from_bits_per_second(1)];
        assert_eq!(kinds.map(TrafficKind::needs_all), [false, true, false]);
        for kind in kinds {
            assert!(!kind.is_random() && !kind.opens_anew(), "{}", kind.name());
            assert!(kind.client("flow", Time::ZERO, 1).is_none(), "{}", kind.name());
        }
    }
}
