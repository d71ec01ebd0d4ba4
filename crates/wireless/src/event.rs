//! Inputs and events of a medium.

use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Rate, Time};

/// A station: one radio and its MAC. The number is its MAC address: who sends names the interface.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct InterfaceId(pub u32);

/// Whom a packet is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Destination {
    /// Everybody who hears it: no RTS, no ACK, no second try, at the basic rate (9.2.7).
    Broadcast,
    /// One interface.
    Interface(InterfaceId),
}

/// A packet for an interface queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedPacket<T> {
    /// What the frame carries.
    pub payload: T,
    /// Its size without MAC header, bytes.
    pub bytes: u32,
    /// The next hop.
    pub to: Destination,
    /// The channel on which the next hop is believed to listen, for interfaces that follow their receivers;
    /// `None`: where it does listen, known at no cost.
    pub channel: Option<ChannelId>,
    /// It goes before packets that do not (routing).
    pub goes_first: bool,
}

/// The four frames of the DCF.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A packet.
    Data,
    /// Acknowledgement.
    Ack,
}

impl FrameKind {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rts => "rts",
            Self::Cts => "cts",
            Self::Data => "data",
            Self::Ack => "ack",
        }
    }
}

/// Why an exchange failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExchangeFailure {
    /// A primary user destroyed this frame.
    Interfered(FrameKind),
    /// The receiver's radio was silent.
    Unanswered,
    /// Other frames destroyed it, or its receiver was sending or busy with another.
    Collided,
    /// Noise, or a random error.
    Garbled,
    /// Too weak at its receiver, or its receiver is on another channel.
    OutOfReach,
    /// The receiver heard the RTS, but its medium was not free.
    Refused,
}

/// What a medium reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MediumEvent<T> {
    /// A packet arrived at an interface, for the first time.
    Received {
        /// When.
        time: Time,
        /// Where.
        at: InterfaceId,
        /// Who sent the frame.
        from: InterfaceId,
        /// Whether it was for everybody.
        broadcast: bool,
        /// When it became the first in line at its sender.
        first_in_line: Time,
        /// The packet.
        payload: T,
    },
    /// A packet is done with: acknowledged, or broadcast.
    Sent {
        /// When.
        time: Time,
        /// Its sender.
        from: InterfaceId,
        /// Whom it was for.
        to: Destination,
        /// The packet.
        payload: T,
        /// Exchanges it took.
        attempts: u32,
        /// From when it was first in line until now.
        service: Duration,
    },
    /// The retry limit was reached: the link to this neighbour has failed. What routing wants to hear.
    Failed {
        /// When.
        time: Time,
        /// Its sender.
        from: InterfaceId,
        /// Whom it was for.
        to: Destination,
        /// The packet.
        payload: T,
        /// Exchanges it took.
        attempts: u32,
        /// From when it was first in line until now.
        service: Duration,
        /// Why the last one failed.
        cause: ExchangeFailure,
        /// It did arrive: only its ACK did not. It is then no drop.
        arrived: bool,
    },
    /// One exchange failed. The packet is tried again, or [`Failed`](Self::Failed) follows.
    AttemptFailed {
        /// When the sender noticed.
        time: Time,
        /// The sender.
        from: InterfaceId,
        /// Why.
        cause: ExchangeFailure,
    },
    /// An interface queue that had turned a packet away has room again.
    QueueFree {
        /// When.
        time: Time,
        /// The interface.
        at: InterfaceId,
    },
    /// An exchange begins whose outcome is known already, with
    /// [`whole_exchanges`](crate::MediumConfig::whole_exchanges). Its result is reported at its time, like
    /// any other's; its frames follow at once.
    Exchange {
        /// The sender of the packet.
        from: InterfaceId,
        /// When it ends: the sender has its answer, or has waited for it.
        end: Time,
        /// From when to when the packet is on the air, where it arrives for the first time.
        data: Option<(Time, Time)>,
        /// Why it fails; `None`: it does not.
        cause: Option<ExchangeFailure>,
    },
    /// A frame goes on the air, with [`reports_frames`](crate::MediumConfig::reports_frames).
    OnAir {
        /// The sender.
        from: InterfaceId,
        /// Whom it is for.
        to: Destination,
        /// Which frame.
        kind: FrameKind,
        /// The channel.
        channel: ChannelId,
        /// Its start.
        start: Time,
        /// Its end.
        end: Time,
        /// Its rate.
        rate: Rate,
        /// The number of the sender's packet, by which a receiver knows copies of it.
        sequence: u32,
        /// The duration field: for how long after its end the medium is reserved.
        reserves: Duration,
    },
}

cogtcp_units::counts! {
    /// What a station counted.
    pub struct Counters {
        /// Exchanges begun: first attempts, retries and broadcasts.
        pub attempts: u64,
        /// Exchanges that failed, by cause.
        pub interfered: u64,
        /// See [`ExchangeFailure::Unanswered`].
        pub unanswered: u64,
        /// See [`ExchangeFailure::Collided`].
        pub collided: u64,
        /// See [`ExchangeFailure::Garbled`].
        pub garbled: u64,
        /// See [`ExchangeFailure::OutOfReach`].
        pub out_of_reach: u64,
        /// See [`ExchangeFailure::Refused`].
        pub refused: u64,
        /// Frames put on the air, of all kinds.
        pub frames: u64,
        /// Time spent sending.
        pub air_time: Duration,
        /// Packets accepted into the queue.
        pub queued: u64,
        /// Packets acknowledged or broadcast.
        pub sent: u64,
        /// Packets given up at a retry limit that had not arrived.
        pub given_up: u64,
        /// Packets given up that had arrived.
        pub given_up_arrived: u64,
        /// Packets displaced from the queue by routing, or taken out of it.
        pub removed: u64,
        /// Packets handed up, broadcasts among them.
        pub received: u64,
        /// Copies of a packet that had been handed up before.
        pub duplicates: u64,
    }
}

impl Counters {
    pub(crate) fn count(&mut self, cause: ExchangeFailure) {
        match cause {
            ExchangeFailure::Interfered(_) => self.interfered += 1,
            ExchangeFailure::Unanswered => self.unanswered += 1,
            ExchangeFailure::Collided => self.collided += 1,
            ExchangeFailure::Garbled => self.garbled += 1,
            ExchangeFailure::OutOfReach => self.out_of_reach += 1,
            ExchangeFailure::Refused => self.refused += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_and_taken_away_each_by_itself() {
        let one = Counters {
            attempts: 1,
            interfered: 2,
            unanswered: 3,
            collided: 4,
            garbled: 5,
            out_of_reach: 6,
            refused: 7,
            frames: 8,
            air_time: Duration::from_nanos(9),
            queued: 10,
            sent: 11,
            given_up: 12,
            given_up_arrived: 13,
            removed: 14,
            received: 15,
            duplicates: 16,
        };
        let mut sum = Counters::default();
        sum.add(&one);
        assert_eq!(sum, one);
        sum.add(&one);
        assert_eq!((sum.attempts, sum.air_time, sum.duplicates), (2, Duration::from_nanos(18), 32));
        assert_eq!(sum.since(&one), one);
    }

    #[test]
    fn each_failure_is_counted_once_under_its_cause() {
        let counted = |cause| {
            let mut counters = Counters::default();
            counters.count(cause);
            let Counters { interfered, unanswered, collided, garbled, out_of_reach, refused, .. } = counters;
            [interfered, unanswered, collided, garbled, out_of_reach, refused]
        };
        assert_eq!(counted(ExchangeFailure::Unanswered), [0, 1, 0, 0, 0, 0]);
        assert_eq!(counted(ExchangeFailure::Collided), [0, 0, 1, 0, 0, 0]);
        assert_eq!(counted(ExchangeFailure::Garbled), [0, 0, 0, 1, 0, 0]);
        assert_eq!(counted(ExchangeFailure::OutOfReach), [0, 0, 0, 0, 1, 0]);
        assert_eq!(counted(ExchangeFailure::Refused), [0, 0, 0, 0, 0, 1]);
    }
}
