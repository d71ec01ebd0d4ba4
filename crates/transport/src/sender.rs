//! The sending end of a connection: active opener and owner of the data.

use crate::congestion::{CongestionControl, LinkEvent, TcpState};
use crate::{Segment, SenderConfig, TransportEvent};
use cogtcp_units::Time;

/// What a sender counted since its start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SenderStats {
    /// Segments with data or FIN sent, retransmissions and probes included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions and probes included.
    pub bytes_sent: u64,
    /// Segments sent again.
    pub segments_retransmitted: u64,
    /// Payload bytes sent again.
    pub bytes_retransmitted: u64,
    /// Payload bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// ACKs received.
    pub acks_received: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Expirations of the retransmission timer after the handshake.
    pub timeouts: u64,
    /// Timeouts that were spurious: an earlier transmission of the segment had arrived.
    pub spurious_timeouts: u64,
    /// Spurious timeouts that F-RTO found and undid.
    pub undone_timeouts: u64,
    /// Loss events found by duplicate ACKs or SACK.
    pub fast_retransmits: u64,
    /// D-SACK reports received (RFC 2883).
    pub d_sacks: u64,
    /// Window probes sent.
    pub window_probes: u64,
    /// SYNs sent again.
    pub syn_retransmits: u64,
}

/// The sending end. See the crate's documentation for the four verbs.
#[derive(Debug)]
pub struct Sender {
    config: SenderConfig,
    control: Box<dyn CongestionControl>,
    tcp: TcpState,
    stats: SenderStats,
}

impl Sender {
    /// A sender at rest: [`Sender::open`] starts it.
    pub fn new(config: SenderConfig, control: Box<dyn CongestionControl>) -> Self {
        let _ = (config, control);
        todo!()
    }

    /// Queues the SYN.
    pub fn open(&mut self, now: Time) {
        let _ = now;
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether there is always data to send.
    pub fn set_saturated(&mut self, on: bool) {
        let _ = on;
    }

    /// No more data: a FIN follows what was written.
    pub fn close(&mut self) {}

    /// A segment arrived.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        let _ = (now, segment);
    }

    /// The time of [`Sender::poll_timeout`] has come; earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// The next segment to send, if one may go now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let _ = now;
        None
    }

    /// When [`Sender::handle_timeout`] is due; [`Time::MAX`]: never.
    pub fn poll_timeout(&self) -> Time {
        Time::MAX
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<TransportEvent> {
        None
    }

    /// The radio below reports.
    pub fn handle_link_event(&mut self, now: Time, event: LinkEvent) {
        self.control.on_link_event(now, &mut self.tcp, event);
    }

    /// The connection as its congestion control sees it.
    pub fn state(&self) -> &TcpState {
        &self.tcp
    }

    /// What was counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The settings.
    pub fn config(&self) -> &SenderConfig {
        &self.config
    }

    /// Bytes that may be outstanding now: min(cwnd with recovery's inflation, peer's window, cap).
    pub fn send_window(&self) -> u64 {
        self.tcp.cwnd
    }

    /// Whether the connection is over: closed on both sides, or given up.
    pub fn is_closed(&self) -> bool {
        false
    }
}
