//! UDP sources: cross traffic and media without a transport that reacts.

use cogtcp_traffic::Pattern;
use cogtcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One UDP source, or `count` alike. Nothing answers what it sends.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// The name; no two sources share one. With `count` above 1, a "*" in it (or, without one, "-*" at its
    /// end) becomes 1, 2, ... Without a name: "u" and the number of the source in the scenario, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many sources this entry stands for (1 to 100000).
    #[serde(default = "one")]
    pub count: u32,
    /// The node that sends. A "*" becomes 1 to `count`: "s*" is s1, s2, ...
    pub from: String,
    /// The node that receives. A "*" becomes 1 to `count`.
    pub to: String,
    /// When packets are sent: { constant = "1 Mbit/s" }, { poisson = "1 Mbit/s" }, { on_off = { rate, on,
    /// off } } or { call = { codec = "g711" } }. Rates count the payload.
    pub pattern: Pattern,
    /// Payload of each packet (1 B to 64 KB); the headers of IPv4 and UDP add 28 B. Without it: 1 kB, or what
    /// the call's codec sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// When the source begins.
    #[serde(default)]
    pub start: Duration,
    /// When it stops; without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

fn one() -> u32 {
    1
}

/// Payload of each packet where nothing else is said.
const DEFAULT_SIZE: Bytes = Bytes::new(1000);

impl Udp {
    /// Returns the payload of each packet.
    pub fn payload(&self) -> Bytes {
        let decided = self.pattern.payload().map(|bytes| Bytes::new(u64::from(bytes)));
        self.size.or(decided).unwrap_or(DEFAULT_SIZE)
    }
}
