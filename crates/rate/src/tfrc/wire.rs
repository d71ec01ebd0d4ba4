//! The two packets of TFRC as bytes in network order.
//!
//! RFC 5348 lists the contents (section 3.2) and leaves the format to the protocol that uses TFRC. The format
//! here is our own.

use cogtcp_units::{Duration, Time};

const DATA: u8 = 1;
const FEEDBACK: u8 = 2;

/// The header of a data packet (section 3.2.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Data {
    /// Packet number, counted from 0. At one packet per microsecond 64 bits last for 500,000 years.
    pub(super) number: u64,
    /// When the packet was sent, by the sender's clock.
    pub(super) sent: Time,
    /// The sender's estimate of the round-trip time; zero: not measured yet.
    pub(super) rtt: Duration,
}

/// A feedback packet (section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Feedback {
    /// Send time of the last data packet received.
    pub(super) received_sent: Time,
    /// Time from the arrival of that packet to this feedback.
    pub(super) delay: Duration,
    /// Rate at which data arrived, in bytes per second.
    pub(super) receive_rate: u64,
    /// Loss event rate, 0 to 1.
    pub(super) loss_event_rate: f64,
    /// Packets known to be lost, for the sender's counters.
    pub(super) lost: u64,
}

impl Data {
    pub(super) const SIZE: usize = 25;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![DATA];
        for value in [self.number, self.sent.as_nanos(), self.rtt.as_nanos()] {
            bytes.extend(value.to_be_bytes());
        }
        bytes
    }

    /// Returns `None` where `bytes` are no data packet.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let [number, sent, rtt] = read(bytes, DATA)?;
        Some(Self { number, sent: Time::from_nanos(sent), rtt: Duration::from_nanos(rtt) })
    }
}

impl Feedback {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![FEEDBACK];
        let fixed = [self.received_sent.as_nanos(), self.delay.as_nanos(), self.receive_rate];
        for value in fixed.into_iter().chain([self.loss_event_rate.to_bits(), self.lost]) {
            bytes.extend(value.to_be_bytes());
        }
        bytes
    }

    /// Returns `None` where `bytes` are no feedback or hold a loss event rate outside 0 to 1.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let [sent, delay, receive_rate, rate, lost] = read(bytes, FEEDBACK)?;
        let loss_event_rate = f64::from_bits(rate);
        (0.0..=1.0).contains(&loss_event_rate).then_some(Self {
            received_sent: Time::from_nanos(sent),
            delay: Duration::from_nanos(delay),
            receive_rate,
            loss_event_rate,
            lost,
        })
    }
}

/// Reads `N` numbers after the byte that says which packet it is.
fn read<const N: usize>(bytes: &[u8], kind: u8) -> Option<[u64; N]> {
    let (first, rest) = bytes.split_first()?;
    if *first != kind || rest.len() < 8 * N {
        return None;
    }
    let mut values = [0; N];
    for (value, chunk) in values.iter_mut().zip(rest.chunks_exact(8)) {
        *value = u64::from_be_bytes(chunk.try_into().ok()?);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_written() {
        let data = Data { number: 7, sent: Time::from_millis(5), rtt: Duration::from_millis(80) };
        assert_eq!(data.encode().len(), Data::SIZE);
        assert_eq!(Data::decode(&data.encode()), Some(data));
        let feedback = Feedback {
            received_sent: Time::from_millis(9),
            delay: Duration::from_micros(3),
            receive_rate: 125_000,
            loss_event_rate: 0.015,
            lost: 4,
        };
        assert_eq!(Feedback::decode(&feedback.encode()), Some(feedback));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        let data = Data { number: 7, sent: Time::ZERO, rtt: Duration::ZERO }.encode();
        assert_eq!(Feedback::decode(&data), None);
        assert_eq!(Data::decode(&data[..24]), None);
        assert_eq!(Data::decode(&[]), None);
        let wild = Feedback {
            received_sent: Time::ZERO,
            delay: Duration::ZERO,
            receive_rate: 0,
            loss_event_rate: f64::NAN,
            lost: 0,
        };
        assert_eq!(Feedback::decode(&wild.encode()), None);
    }
}
