//! Whether cwnd limits what is sent: a window that is not used does not grow (RFC 7661's aim, by Linux's
//! rule, `tcp_cwnd_validate`).

use crate::congestion::TcpState;

/// How far the flight that is being acknowledged used cwnd. It changes only when the sender sends, or would
/// send if cwnd had room, so that the ACK that empties the flight still belongs to that flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Most bytes outstanding, while cwnd did not limit.
    most_out: u64,
    /// The flight ends with the first transmission after this offset is acknowledged.
    end: u64,
    /// cwnd had no room for one more segment, or would have none if the pacer let go what waits for it.
    limited: bool,
}

impl Usage {
    /// The sender sent, or had data to send and no room: what is outstanding is `una..nxt`.
    #[inline]
    pub(super) fn record(&mut self, limited: bool, una: u64, nxt: u64) {
        let out = nxt - una;
        if una >= self.end || limited || (!self.limited && out > self.most_out) {
            *self = Self { most_out: out, end: nxt, limited };
        }
    }

    /// In slow start half of cwnd in use is enough, since ACKs of the other half are on their way
    /// (`tcp_is_cwnd_limited`).
    #[inline]
    pub(super) fn limits(&self, tcp: &TcpState) -> bool {
        self.limited || (tcp.in_slow_start() && self.most_out.saturating_mul(2) > tcp.cwnd)
    }
}
