//! Settings of TFRC-CR.

use super::TfrcCrSender;
use crate::TfrcReceiver;
use crate::tfrc::config::{check_segment, segment};
use cogtcp_endpoint::{Connection, Pair, Protocol};
use cogtcp_units::{Bytes, Check, Duration, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of TFRC-CR in a scenario.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TfrcCrSettings {
    /// Application data in a packet, 1 to 65482 B; without it: the segment size of \[tcp\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_size: Option<Bytes>,
    /// Whether old loss intervals count less during a long interval without loss (RFC 5348, section 5.5).
    pub history_discounting: bool,
    /// How long the sender stays paused after the primary user has left.
    pub wait_after_departure: Duration,
    /// Whether acknowledgements during a pause count: if they kept coming, the sender does not restart. The
    /// released code means to count them, but never does.
    pub acks_in_pause: bool,
}

impl Default for TfrcCrSettings {
    fn default() -> Self {
        Self {
            segment_size: None,
            history_discounting: true,
            // TIME_TO_WAIT_AFTER_PU of the released code.
            wait_after_departure: Duration::from_millis(500),
            acks_in_pause: true,
        }
    }
}

impl Named for TfrcCrSettings {
    const NAME: &'static str = "tfrc-cr";
    const SUMMARY: &'static str = "TFRC that asks a spectrum database and pauses while a primary user is there, lost data is not retransmitted";
    const REFERENCE: &'static str = "Al-Ali and Chowdhury, Ad Hoc Networks 11(6), 2013";

    fn check(&self, found: &mut dyn Check) {
        check_segment(self.segment_size, found);
        if self.wait_after_departure > LONGEST_WAIT {
            found.error(
                "wait_after_departure",
                format!("a wait of \"{}\" is out of range", self.wait_after_departure),
                "write \"0 s\" to \"1 h\"".to_owned(),
            );
        }
    }
}

impl Protocol for TfrcCrSettings {
    fn is_reliable(&self) -> bool {
        false
    }

    fn build(&self, connection: Connection) -> Pair {
        let segment_size = segment(self.segment_size, connection);
        Pair {
            sender: Box::new(TfrcCrSender::new(segment_size, self)),
            receiver: Box::new(TfrcReceiver::new(segment_size, self.history_discounting)),
            segment_size,
        }
    }
}

/// Longest wait after a primary user has left.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
