//! Settings of TP-CRAHN.

use super::{TpCrahnReceiver, TpCrahnSender};
use cogtcp_endpoint::{Connection, Pair, Protocol};
use cogtcp_units::{Check, Duration, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of TP-CRAHN in a scenario.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TpCrahnSettings {
    /// Share of the new bandwidth-delay product that the window takes after a change of channel, 0.1 to 1 (a
    /// guess).
    pub utilisation: f64,
    /// Least retransmission timeout, 1 ms to 1 min (RFC 6298).
    pub min_rto: Duration,
    /// Longest pause without news of the node that paused the sender, 1 ms to 10 min (a guess).
    pub longest_pause: Duration,
}

impl Default for TpCrahnSettings {
    fn default() -> Self {
        Self { utilisation: 0.8, min_rto: Duration::from_secs(1), longest_pause: Duration::from_secs(10) }
    }
}

impl Named for TpCrahnSettings {
    const NAME: &'static str = "tp-crahn";
    const SUMMARY: &'static str = "TP-CRAHN for cognitive radio ad hoc networks: NewReno's window, nodes on the route tell what they do";
    const REFERENCE: &'static str = "Chowdhury, Di Felice and Akyildiz, INFOCOM 2009";

    fn check(&self, found: &mut dyn Check) {
        let mut outside = |field: &str, is_inside: bool, is: &dyn std::fmt::Display, range: &str| {
            if !is_inside {
                found.error(field, format!("\"{is}\" is out of range"), format!("write {range}"));
            }
        };
        let share = self.utilisation;
        outside("utilisation", (0.1..=1.0).contains(&share), &share, "0.1 to 1");
        let spans = Duration::from_millis(1)..=Duration::from_secs(60);
        outside("min_rto", spans.contains(&self.min_rto), &self.min_rto, "\"1 ms\" to \"1 min\"");
        let spans = Duration::from_millis(1)..=Duration::from_secs(600);
        let pause = self.longest_pause;
        outside("longest_pause", spans.contains(&pause), &pause, "\"1 ms\" to \"10 min\"");
    }
}

impl Protocol for TpCrahnSettings {
    fn is_reliable(&self) -> bool {
        true
    }

    fn wants_stamps(&self) -> bool {
        true
    }

    fn hears_route(&self) -> bool {
        true
    }

    fn build(&self, connection: Connection) -> Pair {
        let segment_size = connection.segment_size.clamp(1, LARGEST_SEGMENT);
        Pair {
            sender: Box::new(TpCrahnSender::new(segment_size, *self)),
            receiver: Box::new(TpCrahnReceiver::default()),
            segment_size,
        }
    }
}

/// Largest segment in bytes: an IPv4 packet without the headers of IPv4, UDP and TP-CRAHN.
const LARGEST_SEGMENT: u32 = 65_000;
