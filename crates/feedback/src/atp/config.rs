//! Settings of ATP.

use super::{AtpReceiver, AtpSender};
use cogtcp_endpoint::{Connection, Pair, Protocol};
use cogtcp_units::{Check, Duration, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of ATP in a scenario. Values are recalled from the paper unless they are called guesses.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AtpSettings {
    /// Time between two reports of the receiver, 1 ms to 1 min.
    pub epoch: Duration,
    /// k: a rate that may grow closes one k-th of the gap in each epoch, 1 to 100.
    pub increase_divisor: f64,
    /// phi: the rate grows only if the route allows so much more, 0 to 1 (a guess).
    pub increase_threshold: f64,
    /// beta: weight of the old mean of delays at the receiver, 0 to 0.999.
    pub smoothing: f64,
    /// Epochs without a report until the sender probes the route, 1 to 100.
    pub epochs_until_probe: u32,
}

impl Default for AtpSettings {
    fn default() -> Self {
        Self {
            epoch: Duration::from_secs(1),
            increase_divisor: 5.0,
            increase_threshold: 0.1,
            smoothing: 0.85,
            epochs_until_probe: 3,
        }
    }
}

impl Named for AtpSettings {
    const NAME: &'static str = "atp";
    const SUMMARY: &'static str =
        "ATP for ad hoc networks: the rate that nodes on the route tell, SACK, no window";
    const REFERENCE: &'static str = "Sundaresan et al., MobiHoc 2003";

    fn check(&self, found: &mut dyn Check) {
        let mut outside = |field: &str, is_inside: bool, is: &dyn std::fmt::Display, range: &str| {
            if !is_inside {
                found.error(field, format!("\"{is}\" is out of range"), format!("write {range}"));
            }
        };
        let epoch = Duration::from_millis(1)..=Duration::from_secs(60);
        outside("epoch", epoch.contains(&self.epoch), &self.epoch, "\"1 ms\" to \"1 min\"");
        let divisor = self.increase_divisor;
        outside("increase_divisor", (1.0..=100.0).contains(&divisor), &divisor, "1 to 100");
        let threshold = self.increase_threshold;
        outside("increase_threshold", (0.0..=1.0).contains(&threshold), &threshold, "0 to 1");
        outside("smoothing", (0.0..=0.999).contains(&self.smoothing), &self.smoothing, "0 to 0.999");
        let epochs = self.epochs_until_probe;
        outside("epochs_until_probe", (1..=100).contains(&epochs), &epochs, "1 to 100");
    }
}

impl Protocol for AtpSettings {
    fn is_reliable(&self) -> bool {
        true
    }

    fn wants_stamps(&self) -> bool {
        true
    }

    fn build(&self, connection: Connection) -> Pair {
        let segment_size = connection.segment_size.clamp(1, LARGEST_SEGMENT);
        Pair {
            sender: Box::new(AtpSender::new(segment_size, *self)),
            receiver: Box::new(AtpReceiver::new(*self)),
            segment_size,
        }
    }
}

/// Largest segment in bytes: an IPv4 packet without the headers of IPv4, UDP and ATP.
const LARGEST_SEGMENT: u32 = 65_000;
