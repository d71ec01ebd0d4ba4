//! Authenticated messages: version 2 of the wire format, for networks that others can send to.
//!
//! | bytes | |
//! |---|---|
//! | 0 to 35 | as version 1 ([`super`]), with version 2 |
//! | 36 to 43 | counter: greater in each message with this key; a reply repeats the counter of its request |
//! | 44 to 51 | sending time, us since 1970 |
//! | 52 to 83 | HMAC-SHA-256 (RFC 2104) of bytes 0 to 51 |
//!
//! A receiver obeys a message once: if its counter is greater than the last one obeyed and its sending time
//! is near the receiver's clock. `bpf/freeze/message.c` and `bpf/freeze/guard.c` are that receiver.

use super::{MAGIC, SIZE, decode_body, encode};
use crate::RouterMessage;
use cogtcp_units::Time;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of an authenticated message.
pub const SEALED_SIZE: usize = SIZE + 16 + HASH_SIZE;
/// Bytes of a key.
pub const KEY_SIZE: usize = 32;

const VERSION: u8 = 2;
const HASH_SIZE: usize = 32;
const COVERED: usize = SEALED_SIZE - HASH_SIZE;

/// A key that a router and its clients share.
#[derive(Clone)]
pub struct Key([u8; KEY_SIZE]);

impl Key {
    /// Takes a key of random bytes.
    pub fn new(bytes: [u8; KEY_SIZE]) -> Self {
        Self(bytes)
    }

    /// HMAC-SHA-256 takes keys of any length.
    fn hash(&self, covered: &[u8]) -> Hmac<Sha256> {
        let mut hash = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        hash.update(covered);
        hash
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// What keeps a message from being obeyed twice or late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Greater in each message with the same key.
    pub counter: u64,
    /// Sending time, us since 1970.
    pub sent_us: u64,
}

/// Returns the authenticated message as it leaves at `now`.
pub fn seal(message: RouterMessage, now: Time, key: &Key, stamp: Freshness) -> [u8; SEALED_SIZE] {
    let mut bytes = [0; SEALED_SIZE];
    bytes[..SIZE].copy_from_slice(&encode(message, now));
    bytes[4] = VERSION;
    bytes[SIZE..SIZE + 8].copy_from_slice(&stamp.counter.to_be_bytes());
    bytes[SIZE + 8..COVERED].copy_from_slice(&stamp.sent_us.to_be_bytes());
    let hash = key.hash(&bytes[..COVERED]).finalize().into_bytes();
    bytes[COVERED..].copy_from_slice(&hash);
    bytes
}

/// Returns the message that arrived at `now`, if it was sealed with this key. The caller checks the stamp.
pub fn open(bytes: &[u8], now: Time, key: &Key) -> Option<(RouterMessage, Freshness)> {
    let bytes: &[u8; SEALED_SIZE] = bytes.try_into().ok()?;
    if bytes[..4] != MAGIC || bytes[4] != VERSION {
        return None;
    }
    // In constant time: how long it takes must not tell how much of a forged hash is right.
    key.hash(&bytes[..COVERED]).verify_slice(&bytes[COVERED..]).ok()?;
    let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_be_bytes).unwrap_or_default();
    Some((decode_body(bytes, now)?, Freshness { counter: word(SIZE), sent_us: word(SIZE + 8) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::Duration;

    const STAMP: Freshness = Freshness { counter: 7, sent_us: 1_700_000_000_000_000 };

    fn key() -> Key {
        Key::new(std::array::from_fn(|at| at as u8))
    }

    #[test]
    fn messages_arrive_as_they_were_sealed() {
        let now = Time::from_millis(1000);
        let (start, until) = (Time::from_millis(990), Time::from_millis(3000));
        for message in [
            RouterMessage::GoingDown { prediction: 7, start, until },
            RouterMessage::GoingUp,
            RouterMessage::Request,
            RouterMessage::Reply { rtt: Some(Duration::from_millis(180)) },
        ] {
            let sealed = seal(message, now, &key(), STAMP);
            assert_eq!(open(&sealed, now, &key()), Some((message, STAMP)));
        }
    }

    /// The bytes of `tests/test_freeze_messages.py`, whose hash Python's standard library computed.
    #[test]
    fn bytes_by_hand() {
        let sealed = seal(RouterMessage::GoingUp, Time::ZERO, &key(), STAMP);
        let mut covered = *b"CGTF\x02\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
            \0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0";
        covered[44..].copy_from_slice(&STAMP.sent_us.to_be_bytes());
        assert_eq!(sealed[..COVERED], covered);
        let hash: String = sealed[COVERED..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "294d77691c0750db39c393a62e7c95711c461fde999a356e1f94bd3fc54a882d");
    }

    #[test]
    fn one_wrong_bit_and_the_message_is_refused() {
        let now = Time::from_millis(1000);
        let good = seal(RouterMessage::GoingUp, now, &key(), STAMP);
        for bit in 0..8 * SEALED_SIZE {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&bad, now, &key()), None, "bit {bit}");
        }
        for size in 0..SEALED_SIZE {
            assert_eq!(open(&good[..size], now, &key()), None, "{size} bytes");
        }
        assert_eq!(open(&[&good[..], &[0]].concat(), now, &key()), None);
        assert_eq!(open(&good, now, &Key::new([0; KEY_SIZE])), None);
        // Not authenticated at all.
        assert_eq!(open(&encode(RouterMessage::GoingUp, now), now, &key()), None);
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", key()), "Key(..)");
    }
}
