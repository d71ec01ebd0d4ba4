//! What a loss or an echoed mark (ECN) may do to the window, checked at every fast retransmit, timeout and
//! response to an echo of every fuzzed connection:
//!
//! - cwnd does not rise;
//! - ssthresh is at most max(beta * cwnd, 2 SMSS), cwnd being that before the loss.
//!
//! [`most_kept`] is the one list of who may do otherwise, and why. An undo (F-RTO, Eifel, D-SACK) restores
//! both and is no loss; what is found lost by the same ACK is a loss at the window restored. So it is where a
//! recovery ends, with cwnd = ssthresh (RFC 9937 section 6.4), and the same ACK begins another one.

use cogtcp_transport::{CaState, Sender, TcpState, TransportEvent};

/// The window between two events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// What it is, in a recovery at least what it will be after it.
    cwnd: u64,
    ssthresh: u64,
    undone: u64,
}

/// Whether a response to a loss or to a mark is under way.
fn responds(tcp: &TcpState) -> bool {
    matches!(tcp.ca_state, CaState::Recovery | CaState::Cwr)
}

/// The largest share of cwnd that the control called `name` leaves as ssthresh by any of its presets, after a
/// fast retransmit or a timeout. `None`: its ssthresh is no share of cwnd.
fn most_kept(name: &str, timeout: bool) -> Option<f64> {
    match name {
        "cubic" => Some(0.7),
        // 3/4 by its `ns2` rules (Brakmo and Peterson 1995, section 3.1).
        "vegas" => Some(0.75),
        // Westwood+: the estimated bandwidth times the least RTT, which may be over cwnd; slow start then
        // goes on.
        "westwood" | "westwood-compound" => None,
        // An echoed mark takes half of alpha, which may be next to nothing (RFC 8257 section 3.3).
        "dctcp" if !timeout => Some(1.0),
        // After a timeout C2 leaves ten segments at least (`rto_floor`).
        "c2" if timeout => None,
        // What is no congestion leaves both as they are: ATCP without an ECN echo, SaTCP during a handoff.
        // BBR and Copa have no ssthresh; Prague's follows cwnd, which falls by steps.
        "atcp" | "satcp-cubic" | "bbr" | "bbr1" | "copa" | "prague" => None,
        _ => Some(0.5),
    }
}

impl Window {
    pub fn of(sender: &Sender) -> Self {
        let (tcp, stats) = (sender.state(), sender.stats());
        let undone = stats.undone_timeouts + stats.undone_recoveries;
        let restored = if tcp.ca_state == CaState::Recovery { tcp.ssthresh } else { 0 };
        Self { cwnd: tcp.cwnd.max(restored), ssthresh: tcp.ssthresh, undone }
    }

    /// Takes the sender's events since this window and compares.
    pub fn check(self, sender: &mut Sender) {
        let (mut loss, mut timeout) = (false, false);
        while let Some(event) = sender.poll_event() {
            loss |= matches!(event, TransportEvent::FastRetransmit | TransportEvent::EcnReduction);
            timeout |= matches!(event, TransportEvent::Rto { .. });
        }
        if !(loss || timeout) || Self::of(sender).undone != self.undone {
            return;
        }
        let tcp = sender.state();
        let name = sender.control().name();
        // An ACK that bears a mark may end one response, let cwnd grow, and begin the next response there.
        let from = if responds(tcp) { self.cwnd.max(tcp.prior_cwnd) } else { self.cwnd };
        if !sender.control().owns_cwnd() {
            assert!(tcp.cwnd <= from, "{name}: a loss raises cwnd from {from} to {}", tcp.cwnd);
        }
        if let Some(share) = most_kept(name, timeout)
            && tcp.ssthresh != self.ssthresh
        {
            let most = ((from as f64 * share).ceil() as u64).max(2 * tcp.mss);
            assert!(
                tcp.ssthresh <= most,
                "{name}: ssthresh {} after a loss at cwnd {}, {share} of it allowed",
                tcp.ssthresh,
                from
            );
        }
    }
}
