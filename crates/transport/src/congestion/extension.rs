//! Hooks that Linux's `tcp_congestion_ops` does not have.

use super::TcpState;
use crate::{LinkEvent, ReceiverHook};
use cogtcp_units::Time;

/// Value of the custom option on the SYN of a source that wants reports of outages instead of a zero window.
/// The train's connection managers look for it.
pub const WANTS_REPORTS: u32 = 0x4f55_5447;

/// Hooks beyond Linux's: the radio, an option of TCP's own, unreachable peers, a timeout finer than the
/// sender's. Each serves one or two controls, which return themselves from
/// [`CongestionControl::extension`](super::CongestionControl::extension). All default to nothing.
pub trait ControlExtension {
    /// The radio reports. Plain TCP does not listen.
    #[allow(unused_variables)]
    fn on_link_event(&mut self, now: Time, tcp: &mut TcpState, event: LinkEvent) {}

    /// A duplicate ACK came, fewer than the threshold so far: whether to treat the oldest outstanding
    /// segment, last sent at `head_sent_at`, as lost now. For controls with a finer timeout than the
    /// sender's.
    #[allow(unused_variables)]
    fn dup_ack_retransmit(&mut self, now: Time, tcp: &TcpState, head_sent_at: Time) -> bool {
        false
    }

    /// The network says that the peer cannot be reached (ICMP destination unreachable for outstanding data).
    /// True: stop and probe as under a closed window, until an ACK comes; what was outstanding is then
    /// retransmitted. RFC 1122 section 4.2.3.9 has TCP do nothing.
    #[allow(unused_variables)]
    fn on_unreachable(&mut self, now: Time, tcp: &mut TcpState) -> bool {
        false
    }

    /// Value of the custom option on the SYN; `None`: no option.
    fn syn_option(&mut self) -> Option<u32> {
        None
    }

    /// What answers the SYN's custom option at the receiver; `None`: nothing does.
    fn receiver_hook(&mut self) -> Option<Box<dyn ReceiverHook>> {
        None
    }

    /// The SYN-ACK's custom option, if it had one. Called before `init`.
    #[allow(unused_variables)]
    fn on_syn_ack_option(&mut self, now: Time, tcp: &mut TcpState, value: Option<u32>) {}

    /// The custom option of an ACK, where it carries one: called before the ACK is judged.
    #[allow(unused_variables)]
    fn on_ack_option(&mut self, now: Time, tcp: &mut TcpState, value: u32) {}
}
