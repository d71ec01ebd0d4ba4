//! What router and clients say to each other. A message travels as a packet of 64 bytes: IPv4 and UDP headers, and 36
//! bytes for kind, number, times and whatever authenticates it.

use crate::packet::ControlMessage;
use cogtcp_units::Duration;

/// Size of every message with its headers.
pub(super) const WIRE_SIZE: u32 = 64;

/// One message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Message {
    /// Router to client: the link is going down, from when to when prediction number so says.
    GoingDown {
        /// Number of the prediction.
        prediction: u32,
    },
    /// Router to client: the link is going up.
    GoingUp,
    /// Router to client: what is your RTT_TCP?
    Request,
    /// Client to router: the greatest of its connections, in whole microseconds.
    Reply {
        /// RTT_TCP; `None`: no connection knows one.
        rtt: Option<Duration>,
    },
}

impl Message {
    /// The message as the network carries it.
    pub(super) fn write(self) -> ControlMessage {
        let (kind, content) = match self {
            Self::GoingDown { prediction } => (0, prediction),
            Self::GoingUp => (1, 0),
            Self::Request => (2, 0),
            Self::Reply { rtt } => {
                let micros = rtt.map_or(0, |rtt| (rtt.as_nanos() / 1000).max(1));
                (3, u32::try_from(micros).unwrap_or(u32::MAX))
            }
        };
        ControlMessage { kind, content }
    }

    /// The message that was written so.
    pub(super) fn read(message: ControlMessage) -> Option<Self> {
        let content = message.content;
        Some(match message.kind {
            0 => Self::GoingDown { prediction: content },
            1 => Self::GoingUp,
            2 => Self::Request,
            3 => Self::Reply { rtt: (content > 0).then(|| Duration::from_micros(u64::from(content))) },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        for message in [
            Message::GoingDown { prediction: 7 },
            Message::GoingUp,
            Message::Request,
            Message::Reply { rtt: None },
            Message::Reply { rtt: Some(Duration::from_millis(180)) },
        ] {
            assert_eq!(Message::read(message.write()), Some(message));
        }
    }
}
