//! What a sender has outstanding, in segments: as seen from outside of the connection.

use super::Sender;
use crate::scoreboard::{LOST, RETRANSMITTED, SACKED};

/// Segments between SND.UNA and SND.NXT, as `tcp_info` of Linux counts them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outstanding {
    /// Offset of the oldest: the first byte of data is 1, after the SYN.
    pub start: u64,
    /// Offset after the latest.
    pub end: u64,
    /// All of them (`tcpi_unacked`).
    pub segments: u64,
    /// SACKed, or, without SACK, those that duplicate ACKs stand for (`tcpi_sacked`).
    pub sacked: u64,
    /// Declared lost, retransmitted or not (`tcpi_lost`).
    pub lost: u64,
    /// With a retransmission in the network (`tcpi_retrans`).
    pub retransmitted: u64,
    /// Greatest extent of reordering seen, at least DupThresh (`tcpi_reordering`).
    pub reordering: u64,
    /// Timeouts since the last new acknowledgement (`tcpi_backoff`).
    pub timeouts: u32,
    /// Window probes since the last ACK (`tcpi_probes`).
    pub probes: u32,
}

impl Sender {
    /// Counts what is outstanding. It takes time in proportion to the window.
    pub fn outstanding(&self) -> Outstanding {
        let board = &self.board;
        let mut found = Outstanding {
            start: board.una(),
            end: board.nxt(),
            segments: board.segments() as u64,
            sacked: board.duplicates().div_ceil(self.tcp.mss),
            reordering: self
                .rack
                .as_ref()
                .map_or(0, |rack| rack.extent().div_ceil(self.tcp.mss))
                .max(u64::from(self.config.recovery.dup_thresh)),
            timeouts: self.rto_count,
            probes: self.rare.as_ref().map_or(0, |rare| rare.probe_count),
            ..Outstanding::default()
        };
        for sent in (0..board.segments()).filter_map(|index| board.get(index)) {
            found.sacked += u64::from(sent.is(SACKED));
            found.lost += u64::from(sent.is(LOST));
            found.retransmitted += u64::from(sent.is(RETRANSMITTED) && !sent.is(SACKED));
        }
        found
    }
}
