//! One station: its radio, its MAC and its queue.

use crate::contention::Contention;
use crate::queue::InterfaceQueue;
use crate::rate::RateTable;
use crate::receiver::Receiver;
use crate::{Cause, Counters, FrameKind, InterfaceId, MediumConfig, Outgoing};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Power, RandomStream, Rate, Time};

/// An interface of a node. A node of one radio has one; the three-radio node of the released CRAHN code has a control
/// interface, a transmitter that follows its receivers and a receiver.
#[derive(Clone, Debug)]
pub struct InterfaceConfig {
    /// The node that it belongs to, by the number that [`Positions`](crate::Positions) knows.
    pub node: u32,
    /// The channel at the start.
    pub channel: ChannelId,
    /// Transmitted power.
    pub power: Power,
    /// It tunes to the channel on which the next hop of the packet first in line listens.
    pub follows_receiver: bool,
    /// One that follows comes back to the channel it was put on after every packet, and leaves it only when its backoff is over:
    /// it is the node's only radio, on which others want to reach it.
    pub returns: bool,
    /// How long it is deaf after it has tuned by itself.
    pub tuning_delay: Duration,
    /// Share of its data frames that are lost whatever the signal.
    pub loss: f64,
    /// Its name in the keys of its random streams.
    pub name: String,
}

impl InterfaceConfig {
    /// The only interface of `node`, on channel 0, with ns-2's 0.28183815 W.
    pub fn new(node: u32) -> Self {
        Self {
            node,
            channel: ChannelId(0),
            power: Power::from_watts(0.281_838_15),
            follows_receiver: false,
            returns: false,
            tuning_delay: Duration::from_millis(1),
            loss: 0.0,
            name: format!("node {node}"),
        }
    }
}

/// What the MAC is at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mac {
    /// Nothing, or its backoff.
    Contending,
    /// SIFS before a CTS, an ACK or the data after a CTS.
    Answering { kind: FrameKind, to: u32, reserves: Duration, rate: Rate, at: Time },
    /// It has sent an RTS or data and waits for this answer.
    Waiting { answer: FrameKind, until: Time },
    /// Its frame for everybody is on the air.
    Broadcasting,
    /// It is in an exchange that has been worked out; something happens at `until`.
    InExchange { until: Time },
}

/// The packet that the MAC is at.
#[derive(Debug)]
pub(super) struct Service<T> {
    pub(super) packet: Outgoing<T>,
    pub(super) since: Time,
    pub(super) attempts: u32,
    pub(super) sequence: u32,
    /// Its receiver has handed it up.
    pub(super) arrived: bool,
    /// The rate of the present attempt.
    pub(super) rate: Rate,
    /// The channel of the present attempt.
    pub(super) channel: ChannelId,
    pub(super) with_rts: bool,
    /// What is known to whom it may concern of the last frame of the exchange.
    pub(super) cause: Cause,
}

/// No station.
pub(super) const NOBODY: u32 = u32::MAX;

/// Cache lines of a station that every frame nearby touches.
pub(super) const HOT_LINES: usize = 3;

/// Those of [`Cold`] that its own exchanges touch.
pub(super) const COLD_LINES: usize = 4;

/// What every frame nearby touches: kept small and together, in this order, so that a hearer costs [`HOT_LINES`] lines of cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Station<T> {
    pub(super) receiver: Receiver,
    pub(super) channel: ChannelId,
    /// Its own frame is on the air until it has been heard to its end.
    pub(super) is_sending: bool,
    /// Silence: since when its radio has been open, and until when it will be.
    pub(super) silent: bool,
    /// An exchange would have reached into a silence: it waits for the next change of a radio.
    pub(super) held: bool,
    pub(super) contention: Contention,
    /// When its own sending is over.
    pub(super) sends_until: Time,
    pub(super) nav: Time,
    /// When the NAV of an RTS is given up if nothing is heard before; `Time::MAX`: it stands.
    pub(super) nav_guard: Time,
    /// When the EIFS after a failed reception is over.
    pub(super) eifs_until: Time,
    /// What the MAC is at.
    pub(super) mac: Mac,
    pub(super) open_since: Time,
    pub(super) open_until: Time,
    /// Until when it expects the data after its CTS.
    pub(super) engaged_until: Time,
    pub(super) node: u32,
    /// Packets handed up ([`Counters::received`]): one that is for everybody touches nothing else here.
    pub(super) received: u64,
    pub(super) cold: Box<Cold<T>>,
}

const _: () = assert!(std::mem::offset_of!(Station<()>, node) <= HOT_LINES * 64, "the hot part has grown");

/// What only its own packets touch, that which each of them does first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Cold<T> {
    pub(super) queue: InterfaceQueue<T>,
    /// When the present packet became the first in line.
    pub(super) first_since: Time,
    pub(super) service: Option<Service<T>>,
    /// Transmitted power, W.
    pub(super) power: f64,
    /// How far its frames matter, m.
    pub(super) reach: f64,
    pub(super) follows_receiver: bool,
    pub(super) returns: bool,
    /// The channel that it was put on, where others look for it.
    pub(super) home: ChannelId,
    next_sequence: u32,
    /// The station that its packet first in line is for, or [`NOBODY`]; kept where senders wait for silent receivers.
    pub(super) watches: u32,
    pub(super) counters: Counters,
    /// The last packet handed up of each sender, by sender. Few: a line of memory or two.
    seen: Vec<(u32, u32)>,
    pub(super) loss: f64,
    pub(super) tuning_delay: Duration,
    pub(super) rates: Option<RateTable>,
    pub(super) losses: RandomStream,
    pub(super) errors: RandomStream,
    pub(super) fading: RandomStream,
}

impl<T> Station<T> {
    pub(super) fn new(
        config: &MediumConfig,
        interface: InterfaceConfig,
        reach: f64,
        number: u32,
        seed: u64,
    ) -> Self {
        let stream = |part: &str| RandomStream::new(seed, &format!("{part}/{}", interface.name), 0);
        let table = |control| {
            let rates = config.phy.rates.iter().map(|entry| entry.rate).collect();
            RateTable::new(control, rates, stream("rate"))
        };
        debug_assert!(number < u32::MAX, "the agenda has a place for it");
        let cold = Cold {
            power: interface.power.watts(),
            reach,
            follows_receiver: interface.follows_receiver,
            returns: interface.returns,
            home: interface.channel,
            tuning_delay: interface.tuning_delay,
            loss: interface.loss,
            queue: InterfaceQueue::new(config.mac.queue_packets),
            service: None,
            first_since: Time::ZERO,
            next_sequence: 0,
            watches: NOBODY,
            seen: Vec::new(),
            rates: config.rate_control.map(table),
            losses: stream("loss"),
            errors: stream("channel-errors"),
            fading: stream("fading"),
            counters: Counters::default(),
        };
        Self {
            node: interface.node,
            channel: interface.channel,
            receiver: Receiver::default(),
            mac: Mac::Contending,
            is_sending: false,
            silent: false,
            held: false,
            open_since: Time::ZERO,
            open_until: Time::MAX,
            sends_until: Time::ZERO,
            nav: Time::ZERO,
            nav_guard: Time::MAX,
            eifs_until: Time::ZERO,
            engaged_until: Time::ZERO,
            contention: Contention::new(&config.mac, stream("backoff")),
            received: 0,
            cold: Box::new(cold),
        }
    }

    /// Until when the NAV says that others have the medium.
    pub(super) fn nav(&self) -> Time {
        self.nav.min(self.nav_guard)
    }

    /// Sets the NAV, unless it reaches further already. `guard`: when an RTS that nothing follows is forgotten.
    pub(super) fn set_nav(&mut self, until: Time, guard: Time) {
        if until > self.nav() {
            // What reserved the medium before stands, even if this RTS is forgotten.
            self.nav_guard = guard.max(self.nav());
            self.nav = until;
        }
    }

    /// The packet that the MAC is at, or would be.
    pub(super) fn head(&self) -> Option<&Outgoing<T>> {
        self.cold.service.as_ref().map(|service| &service.packet).or_else(|| self.cold.queue.front())
    }

    /// The number that its frames are known by.
    pub(super) fn take_sequence(&mut self) -> u32 {
        let sequence = self.cold.next_sequence;
        self.cold.next_sequence = sequence.wrapping_add(1);
        sequence
    }

    /// Whether what was meant for it came from `from` with this number before.
    pub(super) fn has_seen(&mut self, from: InterfaceId, sequence: u32) -> bool {
        let seen = &mut self.cold.seen;
        match seen.binary_search_by_key(&from.0, |(sender, _)| *sender) {
            Ok(place) => std::mem::replace(&mut seen[place].1, sequence) == sequence,
            Err(place) => {
                seen.insert(place, (from.0, sequence));
                false
            }
        }
    }
}
