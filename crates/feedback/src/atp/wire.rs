//! The two packets of ATP as bytes in network order. The format is our own.

use crate::wire;
use cogtcp_crosslayer::Stamp;
use cogtcp_units::{Duration, Time};

const DATA: u8 = 1;
const PROBE: u8 = 2;
const REPORT: u8 = 3;

/// Most blocks in a report (recalled).
pub(super) const MOST_BLOCKS: usize = 20;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Data {
    /// Place of the packet's data in the stream.
    pub(super) offset: u64,
    /// When the packet was sent, by the sender's clock.
    pub(super) sent: Time,
    /// The receiver is to report at once.
    pub(super) is_probe: bool,
}

/// What the receiver reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Report {
    /// All data before this place has arrived.
    pub(super) cumulative: u64,
    /// Send time of the last packet that arrived.
    pub(super) answers: Time,
    /// Time from its arrival to the report.
    pub(super) delay: Duration,
    /// Mean of the greatest Q + T of packets; zero: no node told one.
    pub(super) hop_delay: Duration,
    /// Further data that has arrived: from, until.
    pub(super) blocks: Vec<(u64, u64)>,
}

impl Data {
    /// Bytes of the header, with room for the stamp.
    pub(super) const SIZE: u32 = 17 + Stamp::SIZE;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::SIZE as usize);
        bytes.push(if self.is_probe { PROBE } else { DATA });
        wire::write(&mut bytes, [self.offset, self.sent.as_nanos()]);
        bytes.resize(Self::SIZE as usize, 0);
        bytes
    }

    /// Returns `None` where `bytes` are no data packet.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, [offset, sent], _) = wire::read(bytes, &[DATA, PROBE])?;
        let data = Self { offset, sent: Time::from_nanos(sent), is_probe: kind == PROBE };
        (bytes.len() >= Self::SIZE as usize).then_some(data)
    }
}

impl Report {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![REPORT];
        let fixed =
            [self.cumulative, self.answers.as_nanos(), self.delay.as_nanos(), self.hop_delay.as_nanos()];
        wire::write(&mut bytes, fixed.into_iter().chain(wire::block_numbers(&self.blocks, MOST_BLOCKS)));
        bytes
    }

    /// Returns `None` where `bytes` are no report, or a block ends before it begins.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (_, [cumulative, answers, delay, hop_delay], blocks) = wire::read(bytes, &[REPORT])?;
        Some(Self {
            cumulative,
            answers: Time::from_nanos(answers),
            delay: Duration::from_nanos(delay),
            hop_delay: Duration::from_nanos(hop_delay),
            blocks: wire::blocks(blocks, MOST_BLOCKS)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_written() {
        let data = Data { offset: 7, sent: Time::from_millis(5), is_probe: true };
        assert_eq!(data.encode().len(), Data::SIZE as usize);
        assert_eq!(Data::decode(&data.encode()), Some(data));
        let report = Report {
            cumulative: 9,
            answers: Time::from_millis(1),
            delay: Duration::from_millis(2),
            hop_delay: Duration::from_millis(3),
            blocks: vec![(10, 20), (30, 40)],
        };
        assert_eq!(Report::decode(&report.encode()), Some(report.clone()));
        assert_eq!((Data::decode(&report.encode()), Report::decode(&data.encode())), (None, None));
        let wrong = Report { blocks: vec![(20, 10)], ..report };
        assert_eq!(Report::decode(&wrong.encode()), None);
        assert_eq!((Report::decode(&[REPORT, 1]), Data::decode(&[])), (None, None));
    }
}
