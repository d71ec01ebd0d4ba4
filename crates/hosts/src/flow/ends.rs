//! The ends of a flow's connection: TCP without indirection, or another transport.

use super::Tcp;
use super::other::Other;

/// The two ends of a flow's connection.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP, and each of its packets needs the ends"
)]
#[derive(Debug)]
pub(super) enum Ends {
    /// TCP, without indirection.
    Tcp(Tcp),
    /// Another transport.
    Other(Box<Other>),
}

/// Calls a verb of [`BothEnds`], of TCP without indirection.
macro_rules! both {
    ($ends:expr, $it:ident => $call:expr) => {
        match $ends {
            $crate::flow::Ends::Tcp($it) => $call,
            $crate::flow::Ends::Other($it) => $call,
        }
    };
}
pub(super) use both;

impl Ends {
    /// TCP's ends; `None`: the transport is another.
    #[inline]
    pub(super) fn tcp(&self) -> Option<&Tcp> {
        if let Self::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    #[inline]
    pub(super) fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        if let Self::Tcp(tcp) = self { Some(tcp) } else { None }
    }

    /// The ends of another transport; `None`: it is TCP.
    pub(super) fn other_mut(&mut self) -> Option<&mut Other> {
        if let Self::Other(other) = self { Some(other) } else { None }
    }
}
