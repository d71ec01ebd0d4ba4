//! What a sender needs in few connections or rarely.

use super::Sender;
use crate::SeqNumber;
use crate::challenge::Challenges;
use crate::offload::Again;
use crate::prr::Prr;
use crate::rack::Tlp;
use crate::send_buffer::SendBuffer;
use crate::spurious::SpuriousCounter;
use crate::undo::Undo;
use cogtcp_units::{Rate, Time};

/// What a sender needs under RACK-TLP or PRR alone, after a timeout or after a closed window. It is made when
/// first written to: thousands of connections that never need it do not carry it, and an ACK looks at one
/// pointer to find nothing.
#[derive(Debug, Default)]
pub(super) struct Rare {
    pub(super) tlp: Tlp,
    /// The timed segment of [`crate::RttSampling::OncePerFlight`]: its end and when it left.
    pub(super) timed: Option<(u64, Time)>,
    /// RFC 6675's RescueRxt.
    pub(super) rescue: Option<u64>,
    /// After a closed window ([`crate::SenderConfig::paced_resume`]): the rate at which cwnd is spread, and
    /// the offset whose acknowledgement ends it.
    pub(super) resume: Option<(Rate, u64)>,
    /// Where the data ends that the D-SACK of the ACK being handled reports.
    pub(super) d_sack_end: Option<u64>,
    /// Segments that D-SACKs have reported.
    pub(super) d_sacked: u64,
    pub(super) spurious: SpuriousCounter,
    pub(super) undo: Undo,
    /// When RACK's reordering timer expires.
    pub(super) reorder_at: Option<Time>,
    pub(super) prr: Prr,
    /// RACK found a retransmission lost that left after the latest response to a loss, which came at
    /// `reduced_at`.
    pub(super) retransmission_lost: bool,
    pub(super) reduced_at: Time,
    /// Under Linux's rules: when a segment was last answered that brings nothing.
    pub(super) challenges: Challenges,
    /// A reset is due, with this sequence number.
    pub(super) reset: Option<SeqNumber>,
    /// After a timeout: where the segment ends that the timer retransmitted, and the timeouts since an ACK
    /// last came.
    pub(super) frto_end: u64,
    pub(super) frto_timeouts: u32,
    /// Window probes sent since the window closed.
    pub(super) probe_count: u32,
    /// Offset after the byte of the last probe that was taken back.
    pub(super) probed_to: u64,
    /// The packet under retransmission.
    pub(super) again: Option<Box<Again>>,
    /// A socket's of Linux, once connected.
    pub(super) buffer: Option<Box<SendBuffer>>,
}

impl Rare {
    /// Whether an ACK that moves the cumulative acknowledgement on, outside of a recovery, changes nothing
    /// here.
    pub(super) fn is_quiet(&self) -> bool {
        self.resume.is_none()
            && self.d_sack_end.is_none()
            && self.reorder_at.is_none()
            && !self.spurious.is_open()
            && self.undo.first_at().is_none()
            && !self.undo.all_reported()
    }
}

impl Sender {
    /// The timed segment, if there is one.
    #[inline]
    pub(super) fn timed(&self) -> Option<(u64, Time)> {
        self.rare.as_ref()?.timed
    }

    /// No segment is timed.
    pub(super) fn stop_timing(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.timed = None;
        }
    }

    /// There was no rescue retransmission.
    pub(super) fn forget_rescue(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.rescue = None;
        }
    }
}
