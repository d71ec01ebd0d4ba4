//! The receiver's part of a congestion control: what a control asks of the other side, and who answers there.
//!
//! A control that wants an answer puts the custom option (RFC 6994) on its SYN
//! ([`ControlExtension::syn_option`]) and names the hook that answers it
//! ([`ControlExtension::receiver_hook`]). The driver calls the hook with each SYN before it gives the SYN to
//! the [`Receiver`], and sets what it answers by [`Receiver::set_syn_ack_option`].
//!
//! [`ControlExtension::syn_option`]: crate::ControlExtension::syn_option
//! [`ControlExtension::receiver_hook`]: crate::ControlExtension::receiver_hook
//! [`Receiver`]: crate::Receiver
//! [`Receiver::set_syn_ack_option`]: crate::Receiver::set_syn_ack_option

mod flow_count;

pub use flow_count::FlowCount;

/// What a receiver's host knows that lies outside the connection.
pub trait ReceiverHost {
    /// How many other connections are open whose data crosses this connection's bottleneck.
    fn flows_over_bottleneck(&self) -> u32;
}

/// The receiver's part of a congestion control.
pub trait ReceiverHook: std::fmt::Debug + Send {
    /// The value of the custom option on the SYN-ACK, for a SYN whose custom option has the value `asked`;
    /// `None`: no option.
    fn answer_syn(&mut self, asked: Option<u32>, host: &dyn ReceiverHost) -> Option<u32>;
}

/// Agrees to the option. The SYN's value is repeated on the SYN-ACK, so that the sender knows that its peer
/// understands the option (RFC 6994 section 2 leaves the method to each experiment).
#[derive(Clone, Copy, Debug)]
pub struct Agree;

impl ReceiverHook for Agree {
    fn answer_syn(&mut self, asked: Option<u32>, _host: &dyn ReceiverHost) -> Option<u32> {
        asked
    }
}
