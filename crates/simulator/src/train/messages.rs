//! The router's messages as packets of 64 bytes: IPv4 and UDP headers, and 36 bytes for kind, number, times
//! and whatever authenticates it.

use crate::packet::ControlMessage;
use cogtcp_train::{Predicted, RouterMessage};
use cogtcp_units::Duration;

/// Size of every message with its headers.
pub(super) const WIRE_SIZE: u32 = 64;

/// The message as the network carries it. A round-trip time goes in whole microseconds, a warning by its
/// number.
pub(super) fn write(message: RouterMessage) -> ControlMessage {
    let (kind, content) = match message {
        RouterMessage::GoingDown { prediction, .. } => (0, prediction),
        RouterMessage::GoingUp => (1, 0),
        RouterMessage::Request => (2, 0),
        RouterMessage::Reply { rtt } => {
            // At least one microsecond: zero says that no time is known.
            let micros = rtt.map_or(0, |rtt| (rtt.as_nanos() / 1000).max(1));
            // Over an hour, which no path takes.
            (3, u32::try_from(micros).unwrap_or(u32::MAX))
        }
    };
    ControlMessage { kind, content }
}

/// The message that was written so; a warning says what it said when it was sent.
pub(super) fn read(message: ControlMessage, predicted: &[Predicted]) -> Option<RouterMessage> {
    let content = message.content;
    Some(match message.kind {
        0 => {
            // A real message has the times in its 36 bytes. Here both ends share the list, and its number is
            // enough.
            let said = predicted.get(content as usize)?;
            let (start, until) = (said.prediction.start, said.warned?.until);
            RouterMessage::GoingDown { prediction: content, start, until }
        }
        1 => RouterMessage::GoingUp,
        2 => RouterMessage::Request,
        3 => RouterMessage::Reply { rtt: (content > 0).then(|| Duration::from_micros(u64::from(content))) },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_train::Warning;
    use cogtcp_train::prediction::Prediction;
    use cogtcp_units::Time;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let (start, until) = (Time::from_millis(5), Time::from_millis(9));
        // The end that is known by now is not what was said.
        let prediction = Prediction { made: Time::ZERO, start, end: Some(Time::from_millis(7)) };
        let warned = Some(Warning { at: Time::ZERO, needed: Duration::ZERO, until });
        let predicted = [Predicted { prediction, warned, cleared: None }];
        for message in [
            RouterMessage::GoingDown { prediction: 0, start, until },
            RouterMessage::GoingUp,
            RouterMessage::Request,
            RouterMessage::Reply { rtt: None },
            RouterMessage::Reply { rtt: Some(Duration::from_millis(180)) },
        ] {
            assert_eq!(read(write(message), &predicted), Some(message));
        }
    }

    /// Whole microseconds, one at least, and as many as 32 bits hold; other kinds are none.
    #[test]
    fn times_are_whole_microseconds() {
        for (nanos, content) in [
            (1, 1),
            (999, 1),
            (1000, 1),
            (2999, 2),
            (4_294_967_295_000, u32::MAX),
            (9_000_000_000_000, u32::MAX),
        ] {
            let written = write(RouterMessage::Reply { rtt: Some(Duration::from_nanos(nanos)) });
            assert_eq!((written.kind, written.content), (3, content), "{nanos}");
        }
        let kinds = [RouterMessage::GoingUp, RouterMessage::Request, RouterMessage::Reply { rtt: None }];
        assert_eq!(kinds.map(|it| (write(it).kind, write(it).content)), [(1, 0), (2, 0), (3, 0)]);
        assert_eq!(read(ControlMessage { kind: 4, content: 0 }, &[]), None);
        assert_eq!(read(ControlMessage { kind: 0, content: 0 }, &[]), None, "no such prediction");
    }
}
