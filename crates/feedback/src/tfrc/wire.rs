//! The two packets of TFRC as bytes in network order.
//!
//! RFC 5348 lists the contents (section 3.2) and leaves the format to the protocol that uses TFRC. The format
//! here is our own.

use crate::wire;
use cogtcp_units::{Duration, Time};

const DATA: u8 = 1;
const FEEDBACK: u8 = 2;
/// Data and feedback of TFRC-CR's slow start after a pause.
const RESTARTED_DATA: u8 = 3;
const RESTARTED_FEEDBACK: u8 = 4;

/// The header of a data packet (section 3.2.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Data {
    /// Packet number, counted from 0. At one packet per microsecond 64 bits last for 500,000 years.
    pub(crate) number: u64,
    /// When the packet was sent, by the sender's clock.
    pub(crate) sent: Time,
    /// The sender's estimate of the round-trip time; zero: not measured yet.
    pub(crate) rtt: Duration,
    /// The sender restarts and asks the receiver to do the same (TFRC-CR).
    pub(crate) restarts: bool,
}

/// A feedback packet (section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Feedback {
    /// Send time of the last data packet received.
    pub(crate) received_sent: Time,
    /// Time from the arrival of that packet to this feedback.
    pub(crate) delay: Duration,
    /// Rate at which data arrived, in bytes per second.
    pub(crate) receive_rate: u64,
    /// Loss event rate, 0 to 1.
    pub(crate) loss_event_rate: f64,
    /// Packets known to be lost, for the sender's counters.
    pub(crate) lost: u64,
    /// Answers a packet with [`Data::restarts`] (TFRC-CR).
    pub(crate) restarts: bool,
}

impl Data {
    pub(crate) const SIZE: usize = 25;

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![if self.restarts { RESTARTED_DATA } else { DATA }];
        wire::write(&mut bytes, [self.number, self.sent.as_nanos(), self.rtt.as_nanos()]);
        bytes
    }

    /// Returns `None` where `bytes` are no data packet.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, [number, sent, rtt], _) = wire::read(bytes, &[DATA, RESTARTED_DATA])?;
        let restarts = kind == RESTARTED_DATA;
        Some(Self { number, sent: Time::from_nanos(sent), rtt: Duration::from_nanos(rtt), restarts })
    }
}

impl Feedback {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![if self.restarts { RESTARTED_FEEDBACK } else { FEEDBACK }];
        let fixed = [self.received_sent.as_nanos(), self.delay.as_nanos(), self.receive_rate];
        wire::write(&mut bytes, fixed.into_iter().chain([self.loss_event_rate.to_bits(), self.lost]));
        bytes
    }

    /// Returns `None` where `bytes` are no feedback or hold a loss event rate outside 0 to 1.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, [sent, delay, receive_rate, rate, lost], _) =
            wire::read(bytes, &[FEEDBACK, RESTARTED_FEEDBACK])?;
        let loss_event_rate = f64::from_bits(rate);
        (0.0..=1.0).contains(&loss_event_rate).then_some(Self {
            received_sent: Time::from_nanos(sent),
            delay: Duration::from_nanos(delay),
            receive_rate,
            loss_event_rate,
            lost,
            restarts: kind == RESTARTED_FEEDBACK,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_written() {
        let data =
            Data { number: 7, sent: Time::from_millis(5), rtt: Duration::from_millis(80), restarts: true };
        assert_eq!(data.encode().len(), Data::SIZE);
        assert_eq!(Data::decode(&data.encode()), Some(data));
        let feedback = Feedback {
            received_sent: Time::from_millis(9),
            delay: Duration::from_micros(3),
            receive_rate: 125_000,
            loss_event_rate: 0.015,
            lost: 4,
            restarts: true,
        };
        assert_eq!(Feedback::decode(&feedback.encode()), Some(feedback));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        let data = Data { number: 7, sent: Time::ZERO, rtt: Duration::ZERO, restarts: false }.encode();
        assert_eq!(Feedback::decode(&data), None);
        assert_eq!(Data::decode(&data[..24]), None);
        assert_eq!(Data::decode(&[]), None);
        let wild = Feedback {
            received_sent: Time::ZERO,
            delay: Duration::ZERO,
            receive_rate: 0,
            loss_event_rate: f64::NAN,
            lost: 0,
            restarts: false,
        };
        assert_eq!(Feedback::decode(&wild.encode()), None);
    }
}
