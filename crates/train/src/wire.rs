//! Messages on the wire: the payload of a UDP datagram, 36 bytes, with IPv4's and UDP's headers the 64 bytes
//! that the simulator counts. Numbers are big-endian.
//!
//! | bytes | |
//! |---|---|
//! | 0 to 3 | `CGTF` |
//! | 4 | version: 1 |
//! | 5 | kind: 0 going down, 1 going up, 2 request, 3 reply |
//! | 6, 7 | 0 |
//! | 8 to 11 | going down: number of the prediction |
//! | 12 to 19 | going down: from now to the expected beginning of the outage, us, signed |
//! | 20 to 27 | going down: from now to when clients no longer believe in it, us, signed |
//! | 28 to 35 | reply: RTT_TCP, us; 0: no connection knows one |
//!
//! Times are relative, since router and clients share no clock: the way of the message over the LAN shifts
//! them by its delay. `bpf/freeze/message.h` reads the same. Version 1 is not authenticated; [`sealed`] has
//! version 2, which is.

pub mod sealed;

use crate::RouterMessage;
use cogtcp_units::{Duration, Time};

/// Bytes of a message.
pub const SIZE: usize = 36;
/// UDP port on which clients listen, from the private range (RFC 6335).
pub const PORT: u16 = 50_007;

const MAGIC: [u8; 4] = *b"CGTF";
const VERSION: u8 = 1;

/// The message as it leaves at `now`.
pub fn encode(message: RouterMessage, now: Time) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = VERSION;
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    match message {
        RouterMessage::GoingDown { prediction, start, until } => {
            put(8, &prediction.to_be_bytes());
            put(12, &micros_to(now, start).to_be_bytes());
            put(20, &micros_to(now, until).to_be_bytes());
        }
        RouterMessage::GoingUp => put(5, &[1]),
        RouterMessage::Request => put(5, &[2]),
        RouterMessage::Reply { rtt } => {
            put(5, &[3]);
            // A known one is never written as none.
            let micros = rtt.map_or(0, |rtt| (rtt.as_nanos() / 1000).max(1));
            put(28, &micros.to_be_bytes());
        }
    }
    bytes
}

/// The message that has come at `now`; `None`: it is none of this version.
pub fn decode(bytes: &[u8], now: Time) -> Option<RouterMessage> {
    if bytes.len() != SIZE || bytes[..4] != MAGIC || bytes[4] != VERSION {
        return None;
    }
    decode_body(bytes, now)
}

/// What both versions have in common: bytes 5 to 35.
fn decode_body(bytes: &[u8], now: Time) -> Option<RouterMessage> {
    let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_be_bytes).unwrap_or_default();
    let time = |at: usize| after(now, word(at) as i64);
    Some(match bytes[5] {
        0 => {
            let prediction = bytes[8..12].try_into().map(u32::from_be_bytes).unwrap_or_default();
            RouterMessage::GoingDown { prediction, start: time(12), until: time(20) }
        }
        1 => RouterMessage::GoingUp,
        2 => RouterMessage::Request,
        3 => {
            let micros = word(28);
            RouterMessage::Reply {
                rtt: (micros > 0).then(|| Duration::from_nanos(micros.saturating_mul(1000))),
            }
        }
        _ => return None,
    })
}

fn micros_to(now: Time, then: Time) -> i64 {
    let nanos = i128::from(then.as_nanos()) - i128::from(now.as_nanos());
    i64::try_from(nanos / 1000).unwrap_or(i64::MAX)
}

fn after(now: Time, micros: i64) -> Time {
    let nanos = i128::from(now.as_nanos()) + i128::from(micros) * 1000;
    Time::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let now = Time::from_millis(1000);
        for message in [
            // Its beginning may have passed by.
            RouterMessage::GoingDown {
                prediction: 7,
                start: Time::from_millis(990),
                until: Time::from_millis(3000),
            },
            RouterMessage::GoingDown {
                prediction: 0,
                start: Time::from_millis(1200),
                until: Time::from_millis(1200),
            },
            RouterMessage::GoingUp,
            RouterMessage::Request,
            RouterMessage::Reply { rtt: None },
            RouterMessage::Reply { rtt: Some(Duration::from_millis(180)) },
        ] {
            assert_eq!(decode(&encode(message, now), now), Some(message));
        }
    }

    /// Clocks are not shared: what is 2 s ahead of the router is 2 s ahead of the client.
    #[test]
    fn times_are_relative() {
        let sent = RouterMessage::GoingDown {
            prediction: 1,
            start: Time::from_millis(5300),
            until: Time::from_millis(7000),
        };
        let came = decode(&encode(sent, Time::from_millis(5000)), Time::from_millis(100));
        let (start, until) = (Time::from_millis(400), Time::from_millis(2100));
        assert_eq!(came, Some(RouterMessage::GoingDown { prediction: 1, start, until }));
        // Before the client's clock began.
        let past = encode(sent, Time::from_millis(6000));
        let Some(RouterMessage::GoingDown { start, .. }) = decode(&past, Time::from_millis(1)) else {
            panic!()
        };
        assert_eq!(start, Time::ZERO);
    }

    /// The bytes by hand, which `tests/test_kernel_freeze.py` sends too.
    #[test]
    fn bytes_by_hand() {
        let message = RouterMessage::GoingDown {
            prediction: 258,
            start: Time::from_millis(301),
            until: Time::from_millis(2301),
        };
        let bytes = encode(message, Time::from_millis(1));
        // 300 000 us and 2 300 000 us.
        let expected = [
            b'C', b'G', b'T', b'F', 1, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 4, 0x93, 0xe0, 0, 0, 0, 0, 0,
            0x23, 0x18, 0x60, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(bytes, expected);
        let rtt = Some(Duration::from_nanos(1));
        assert_eq!(encode(RouterMessage::Reply { rtt }, Time::ZERO)[28..], [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn nothing_else_is_a_message() {
        let good = encode(RouterMessage::GoingUp, Time::ZERO);
        for (at, value) in [(0, b'X'), (4, 2), (5, 4)] {
            let mut bad = good;
            bad[at] = value;
            assert_eq!(decode(&bad, Time::ZERO), None, "byte {at}");
        }
        assert_eq!(decode(&good[..SIZE - 1], Time::ZERO), None);
        assert_eq!(decode(&[], Time::ZERO), None);
    }
}
