//! The two packets of TP-CRAHN as bytes in network order. The format is our own.

use crate::wire;
use cogtcp_crosslayer::Stamp;
use cogtcp_units::{Duration, Time};

const DATA: u8 = 1;
const ACK: u8 = 2;
const MARKED_ACK: u8 = 3;

/// Most blocks in an acknowledgement, as in TCP with timestamps (RFC 2018).
pub(super) const MOST_BLOCKS: usize = 3;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Data {
    /// Place of the packet's data in the stream.
    pub(super) offset: u64,
    /// Number of the packet, counted from 0; a retransmission has a new one.
    pub(super) number: u64,
    /// When the packet was sent, by the sender's clock.
    pub(super) sent: Time,
}

/// An acknowledgement of one packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Ack {
    /// All data before this place has arrived.
    pub(super) cumulative: u64,
    /// Number and send time of the packet.
    pub(super) number: u64,
    pub(super) answers: Time,
    /// Time from its arrival to the acknowledgement.
    pub(super) delay: Duration,
    /// Least free queue of the route in bytes; [`u64::MAX`]: no node told one.
    pub(super) room: u64,
    /// Least rate of the route in bit/s; 0: no node told one.
    pub(super) rate: u64,
    /// A queue marked the packet.
    pub(super) is_marked: bool,
    /// Further data that has arrived: from, until.
    pub(super) blocks: Vec<(u64, u64)>,
}

impl Data {
    /// Bytes of the header, with room for the stamp.
    pub(super) const SIZE: u32 = 25 + Stamp::SIZE;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![DATA];
        wire::write(&mut bytes, [self.offset, self.number, self.sent.as_nanos()]);
        bytes.resize(Self::SIZE as usize, 0);
        bytes
    }

    /// Returns `None` where `bytes` are no data packet.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (_, [offset, number, sent], _) = wire::read(bytes, &[DATA])?;
        (bytes.len() >= Self::SIZE as usize).then_some(Self { offset, number, sent: Time::from_nanos(sent) })
    }
}

impl Ack {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![if self.is_marked { MARKED_ACK } else { ACK }];
        let times = [self.answers.as_nanos(), self.delay.as_nanos()];
        let fixed = [self.cumulative, self.number, times[0], times[1], self.room, self.rate];
        wire::write(&mut bytes, fixed.into_iter().chain(wire::block_numbers(&self.blocks, MOST_BLOCKS)));
        bytes
    }

    /// Returns `None` where `bytes` are no acknowledgement, or a block ends before it begins.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, [cumulative, number, answers, delay, room, rate], blocks) =
            wire::read(bytes, &[ACK, MARKED_ACK])?;
        Some(Self {
            cumulative,
            number,
            answers: Time::from_nanos(answers),
            delay: Duration::from_nanos(delay),
            room,
            rate,
            is_marked: kind == MARKED_ACK,
            blocks: wire::blocks(blocks, MOST_BLOCKS)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_written() {
        let data = Data { offset: 7, number: 3, sent: Time::from_millis(5) };
        assert_eq!(data.encode().len(), Data::SIZE as usize);
        assert_eq!(Data::decode(&data.encode()), Some(data));
        let ack = Ack {
            cumulative: 9,
            number: 4,
            answers: Time::from_millis(1),
            delay: Duration::from_millis(2),
            room: 3000,
            rate: 1_000_000,
            is_marked: true,
            blocks: vec![(10, 20)],
        };
        assert_eq!(Ack::decode(&ack.encode()), Some(ack.clone()));
        assert_eq!((Data::decode(&ack.encode()), Ack::decode(&data.encode())), (None, None));
        assert_eq!(Ack::decode(&Ack { blocks: vec![(20, 10)], ..ack }.encode()), None);
        assert_eq!((Ack::decode(&[ACK, 1]), Data::decode(&[])), (None, None));
    }
}
