//! What RFC 826 leaves open, as settings.

use cogtcp_units::{Check, Duration, overlay};
use cogtcp_wireless::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most packets that wait.
const MOST_HELD: u32 = 100_000;
/// The most requests.
const MOST_REQUESTS: u32 = 1000;
/// The longest span.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Whether addresses are resolved.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArpProtocol {
    /// Everybody knows the addresses of all.
    #[default]
    None,
    /// By the Address Resolution Protocol (RFC 826): requests of 28 bytes to all, replies to one, on the air
    /// as other packets.
    Rfc826,
}

/// From whom a node learns addresses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArpLearns {
    /// Senders of requests and replies about it; known entries of others are renewed (RFC 826, "merge").
    #[default]
    Merge,
    /// Everybody whose request or reply it hears (ns-2: `arpinput`).
    All,
    /// Replies to its own requests alone (ns-3: `ArpL3Protocol::Receive`).
    Replies,
}

/// Which packet goes when more are to be held than may be.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArpDrops {
    /// The one held longest: the latest stays (RFC 1122 section 2.3.2.2; ns-2).
    #[default]
    Oldest,
    /// The one that comes (ns-3).
    Newest,
}

overlay! {
    /// How neighbours' addresses are found.
    #[derive(Copy, Eq)]
    pub struct ArpConfig {}

    /// Address resolution in a scenario. Without `protocol`: none; under the MAC profiles ns2 and ns3 rfc826
    /// as these have it.
    #[derive(Copy, Eq)]
    #[schemars(rename = "Arp")]
    pub struct ArpSettings {
        /// Whether addresses are resolved: none; ns2, ns3: rfc826.
        protocol: ArpProtocol,
    }

    /// Packets that wait for an address (0 to 100000): 1; ns3: 3.
    held_packets: u32,
    /// Which one goes when there are more: oldest; ns3: newest.
    drops: ArpDrops,
    /// Requests without a reply after which the neighbour is gone (1 to 1000): 3; ns3: 4.
    requests: u32,
    /// From one request to the next, "0 s" when the next packet asks and nothing else: 1 s; ns2: 0 s.
    retry_interval: Duration,
    /// How long an address is good, "0 s" for ever: 60 s; ns2: 0 s; ns3: 120 s.
    lifetime: Duration,
    /// For how long packets for a neighbour that is gone are lost without a request: 0 s; ns3: 100 s.
    dead_time: Duration,
    /// From whom addresses are learned: merge; ns2: all; ns3: replies.
    learns: ArpLearns,
    /// Whether routing hears of a neighbour that is gone as of a failed link: yes; ns3: no.
    breaks_link: bool,
    /// Longest random wait of a request: 0 s; ns3: 10 ms.
    jitter: Duration,
}

impl ArpSettings {
    /// Returns the settings of the profile with what is set over them; `None`: every address is known.
    pub fn over(&self, profile: Profile) -> Option<ArpConfig> {
        let (usual, base) = match profile {
            Profile::Standard => (ArpProtocol::None, ArpConfig::rfc()),
            Profile::Ns2 => (ArpProtocol::Rfc826, ArpConfig::ns2()),
            Profile::Ns3 => (ArpProtocol::Rfc826, ArpConfig::ns3()),
        };
        match self.protocol.unwrap_or(usual) {
            ArpProtocol::None => None,
            ArpProtocol::Rfc826 => Some(self.overlay(base)),
        }
    }

    /// Reports wrong settings to `check` under `profile`.
    pub fn check(&self, profile: Profile, check: &mut impl Check) {
        if let Some(field) = self.first_set()
            && self.over(profile).is_none()
        {
            let message = "this has no effect: addresses are not resolved here".to_owned();
            check.error(field, message, "add protocol = \"rfc826\", or take it out".to_owned());
        }
        if let Some(packets) = self.held_packets.filter(|packets| *packets > MOST_HELD) {
            let remedy = format!("write 0 to {MOST_HELD}");
            check.error("held_packets", format!("{packets} packets are out of range"), remedy);
        }
        if let Some(requests) = self.requests {
            check.count("requests", requests, MOST_REQUESTS);
        }
        for (field, span) in [
            ("retry_interval", self.retry_interval),
            ("lifetime", self.lifetime),
            ("dead_time", self.dead_time),
            ("jitter", self.jitter),
        ] {
            check.span(field, span.unwrap_or_default(), true, LONGEST);
        }
    }
}

impl ArpConfig {
    /// RFC 826 with what RFC 1122 section 2.3.2 asks of hosts: the latest packet is held, an address is good
    /// for a minute, and requests are a second apart. That there are three of them, and that a failure is one
    /// of the link, is Linux's (`mcast_solicit`).
    pub const fn rfc() -> Self {
        Self {
            held_packets: 1,
            drops: ArpDrops::Oldest,
            requests: 3,
            retry_interval: Duration::from_secs(1),
            lifetime: Duration::from_secs(60),
            dead_time: Duration::ZERO,
            learns: ArpLearns::Merge,
            breaks_link: true,
            jitter: Duration::ZERO,
        }
    }

    /// ns-2.35 (`mac/arp.cc`): one packet is held (`hold_`), each asks, the fourth that asks in vain fails
    /// with it (`ARP_MAX_REQUEST_COUNT`), addresses are good for ever.
    pub const fn ns2() -> Self {
        Self {
            retry_interval: Duration::ZERO,
            lifetime: Duration::ZERO,
            learns: ArpLearns::All,
            ..Self::rfc()
        }
    }

    /// ns-3 (`arp-cache.cc`, `arp-l3-protocol.cc`): PendingQueueSize 3, MaxRetries 3 after the first,
    /// WaitReplyTimeout 1 s, AliveTimeout 120 s, DeadTimeout 100 s, RequestJitter 10 ms; routing hears
    /// nothing.
    pub const fn ns3() -> Self {
        Self {
            held_packets: 3,
            drops: ArpDrops::Newest,
            requests: 4,
            lifetime: Duration::from_secs(120),
            dead_time: Duration::from_secs(100),
            learns: ArpLearns::Replies,
            breaks_link: false,
            jitter: Duration::from_millis(10),
            ..Self::rfc()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Fields(Vec<String>);

    impl Check for Fields {
        fn error(&mut self, field: &str, _: String, _: String) {
            self.0.push(field.to_owned());
        }
    }

    fn wrong(profile: Profile, change: impl Fn(&mut ArpSettings)) -> Vec<String> {
        let mut settings = ArpSettings::default();
        change(&mut settings);
        let mut fields = Fields::default();
        settings.check(profile, &mut fields);
        fields.0
    }

    #[test]
    fn settings_are_bounded() {
        let of = |change: fn(&mut ArpSettings)| wrong(Profile::Ns2, change);
        assert!(of(|_| ()).is_empty());
        assert!(of(|it| it.held_packets = Some(0)).is_empty());
        assert!(of(|it| it.held_packets = Some(100_000)).is_empty());
        assert_eq!(of(|it| it.held_packets = Some(100_001)), ["held_packets"]);
        assert!(of(|it| it.requests = Some(1)).is_empty() && of(|it| it.requests = Some(1000)).is_empty());
        assert_eq!(of(|it| it.requests = Some(0)), ["requests"]);
        assert_eq!(of(|it| it.requests = Some(1001)), ["requests"]);
        for (field, set) in [
            ("retry_interval", (|it, span| it.retry_interval = Some(span)) as fn(&mut ArpSettings, Duration)),
            ("lifetime", |it, span| it.lifetime = Some(span)),
            ("dead_time", |it, span| it.dead_time = Some(span)),
            ("jitter", |it, span| it.jitter = Some(span)),
        ] {
            let day = Duration::from_secs(86_400);
            for (span, right) in [(Duration::ZERO, true), (day, true), (day + Duration::from_nanos(1), false)]
            {
                let found = wrong(Profile::Ns3, |it| set(it, span));
                assert_eq!(found, if right { vec![] } else { vec![field] }, "{span}");
            }
        }
        // Without resolution a setting of it says nothing.
        assert_eq!(wrong(Profile::Standard, |it| it.requests = Some(2)), ["requests"]);
        let resolved = |it: &mut ArpSettings| {
            (it.protocol, it.requests) = (Some(ArpProtocol::Rfc826), Some(2));
        };
        assert!(wrong(Profile::Standard, resolved).is_empty());
    }

    /// `arp-cache.cc` of ns-3 and `mac/arp.cc` of ns-2; RFC 1122 section 2.3.2.
    #[test]
    fn profiles_have_their_tables() {
        let of = |profile| ArpSettings::default().over(profile);
        assert_eq!(of(Profile::Standard), None);
        let (ns2, ns3) = (of(Profile::Ns2).unwrap(), of(Profile::Ns3).unwrap());
        let counts = |it: &ArpConfig| (it.held_packets, it.requests, it.breaks_link);
        assert_eq!(
            (counts(&ArpConfig::rfc()), counts(&ns2), counts(&ns3)),
            ((1, 3, true), (1, 3, true), (3, 4, false))
        );
        let seconds =
            |it: &ArpConfig| [it.retry_interval, it.lifetime, it.dead_time].map(|it| it.as_secs_f64());
        assert_eq!(seconds(&ArpConfig::rfc()), [1.0, 60.0, 0.0]);
        assert_eq!((seconds(&ns2), seconds(&ns3)), ([0.0, 0.0, 0.0], [1.0, 120.0, 100.0]));
        assert_eq!((ns2.jitter, ns3.jitter), (Duration::ZERO, Duration::from_millis(10)));
    }
}
