//! One station: its radio, its MAC and its queue.

use crate::contention::Attempts;
use crate::queue::InterfaceQueue;
use crate::rate::RateTable;
use crate::{Counters, ExchangeFailure, FrameKind, InterfaceId, MediumConfig, QueuedPacket};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Power, RandomStream, Rate, Time};

/// An interface of a node. A node of one radio has one; the three-radio node of the released CRAHN code has a
/// control interface, a transmitter that follows its receivers and a receiver.
#[derive(Clone, Debug)]
pub struct InterfaceConfig {
    /// The node that it belongs to, by the number that [`Positions`](crate::Positions) knows.
    pub node: u32,
    /// The channel at the start.
    pub channel: ChannelId,
    /// Transmitted power.
    pub power: Power,
    /// Greatest power that [`Medium::set_power`](super::Medium::set_power) may set; `power` if that is more.
    pub greatest_power: Power,
    /// It tunes to the channel on which the next hop of the packet first in line listens.
    pub follows_receiver: bool,
    /// A radio that follows returns to its own channel after every packet, and leaves it only after its
    /// backoff. It is the node's only radio, and others want to reach it there.
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
            greatest_power: Power::from_watts(0.0),
            follows_receiver: false,
            returns: false,
            // The channel switching delay of the released CRAHN code.
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
    pub(super) packet: QueuedPacket<T>,
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
    pub(super) cause: ExchangeFailure,
}

/// No station.
pub(super) const NOBODY: u32 = u32::MAX;

/// What the MAC is at, without the particulars.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    Contending,
    Answering,
    Waiting,
    Broadcasting,
    InExchange,
}

impl Mac {
    pub(super) fn phase(self) -> Phase {
        match self {
            Self::Contending => Phase::Contending,
            Self::Answering { .. } => Phase::Answering,
            Self::Waiting { .. } => Phase::Waiting,
            Self::Broadcasting => Phase::Broadcasting,
            Self::InExchange { .. } => Phase::InExchange,
        }
    }
}

/// Cache lines of a [`Station`] that its own exchanges touch.
pub(super) const OWN_LINES: usize = 6;

/// What only its own packets and what seldom happens touch, that which each of them does first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Station<T> {
    /// What the MAC is at.
    pub(super) mac: Mac,
    /// When its own sending is over.
    pub(super) sends_until: Time,
    /// When the EIFS after a failed reception is over.
    pub(super) eifs_until: Time,
    /// When the NAV of an RTS is given up if nothing is heard before; `Time::MAX`: it stands.
    pub(super) nav_guard: Time,
    /// Until when it expects the data after its CTS.
    pub(super) engaged_until: Time,
    /// Silence: since when its radio has been open, and until when it will be.
    pub(super) open_since: Time,
    pub(super) open_until: Time,
    pub(super) attempts: Attempts,
    pub(super) cold: Cold<T>,
}

/// Its queue, the packet that it is at, and what stays as it is.
#[derive(Debug)]
#[repr(C)]
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
    /// The station that its packet first in line is for, or [`NOBODY`]; kept where senders wait for silent
    /// receivers.
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
        // A stream for each purpose: no setting shifts the draws of another.
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
            mac: Mac::Contending,
            sends_until: Time::ZERO,
            eifs_until: Time::ZERO,
            nav_guard: Time::MAX,
            engaged_until: Time::ZERO,
            open_since: Time::ZERO,
            open_until: Time::MAX,
            attempts: Attempts::new(&config.mac, stream("backoff")),
            cold,
        }
    }

    /// The packet that the MAC is at, or would be.
    pub(super) fn head(&self) -> Option<&QueuedPacket<T>> {
        self.cold.service.as_ref().map(|service| &service.packet).or_else(|| self.cold.queue.front())
    }

    /// The number that its frames are known by.
    pub(super) fn take_sequence(&mut self) -> u32 {
        let sequence = self.cold.next_sequence;
        self.cold.next_sequence = sequence.wrapping_add(1);
        sequence
    }

    /// Whether a packet for it came from `from` with this number before.
    pub(super) fn has_seen(&mut self, from: InterfaceId, sequence: u32) -> bool {
        let seen = &mut self.cold.seen;
        match seen.binary_search_by_key(&from.0, |(sender, _)| *sender) {
            // A sender is done with a packet before it sends the next: copies are only of its last.
            Ok(place) => std::mem::replace(&mut seen[place].1, sequence) == sequence,
            Err(place) => {
                seen.insert(place, (from.0, sequence));
                false
            }
        }
    }
}
