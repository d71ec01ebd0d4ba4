//! Options of TCP's header (RFC 9293 section 3.2, RFC 2018, RFC 7323, RFC 6994).
//!
//! Read here and not by etherparse, whose iterator ends at the first kind that it does not know: SACK blocks
//! behind an option of MPTCP or AccECN would be lost.

use crate::{long, short};
use std::ops::Deref;

/// SACK blocks that a header has room for.
pub const MOST_SACK: usize = 4;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// An experimental option begins with the identifier of an experiment (RFC 6994); ours is not registered.
const EXPERIMENTAL: u8 = 253;
const EXPERIMENT: u16 = 0xc067;

/// Options of a segment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpOptions {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift count of the window scale.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Timestamp and the timestamp that is echoed.
    pub timestamps: Option<(u32, u32)>,
    /// Value of the experimental option between the simulator's connection managers.
    pub experimental: Option<u32>,
    /// SACK blocks.
    pub sack: SackBlocks,
}

/// SACK blocks of a segment: first byte and end of each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MOST_SACK],
    count: usize,
}

impl SackBlocks {
    /// Adds a block; a fifth has no room.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(block) = self.blocks.get_mut(self.count) {
            *block = (start, end);
            self.count += 1;
        }
    }
}

impl Deref for SackBlocks {
    type Target = [(u32, u32)];

    fn deref(&self) -> &Self::Target {
        &self.blocks[..self.count]
    }
}

impl TcpOptions {
    /// Reads options up to the first that is damaged or cut off, of cut-off SACK blocks the whole ones; unknown
    /// kinds are skipped.
    pub fn read(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        for (kind, value) in Each(bytes) {
            match (kind, value.len()) {
                (MSS, 2) => found.mss = short(value, 0),
                (WINDOW_SCALE, 1) => found.window_scale = value.first().copied(),
                (SACK_PERMITTED, 0) => found.sack_permitted = true,
                (TIMESTAMPS, 8) => found.timestamps = pairs(value).next(),
                (SACK, _) => pairs(value).for_each(|(start, end)| found.sack.push(start, end)),
                (EXPERIMENTAL, 6) if short(value, 0) == Some(EXPERIMENT) => {
                    found.experimental = long(value, 2)
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the bytes, in whole words and in Linux's order: SACK permitted stands beside timestamps.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40);
        if let Some(mss) = self.mss {
            bytes.extend([MSS, 4]);
            bytes.extend(mss.to_be_bytes());
        }
        if self.sack_permitted || self.timestamps.is_some() {
            let permitted = [SACK_PERMITTED, 2];
            let padding = [NO_OPERATION; 2];
            bytes.extend(if self.sack_permitted && self.timestamps.is_some() { permitted } else { padding });
            match self.timestamps {
                Some((value, echo)) => {
                    bytes.extend([TIMESTAMPS, 10]);
                    bytes.extend(value.to_be_bytes());
                    bytes.extend(echo.to_be_bytes());
                }
                None => bytes.extend(permitted),
            }
        }
        if let Some(shift) = self.window_scale {
            bytes.extend([NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if let Some(value) = self.experimental {
            bytes.extend([EXPERIMENTAL, 8]);
            bytes.extend(EXPERIMENT.to_be_bytes());
            bytes.extend(value.to_be_bytes());
        }
        if !self.sack.is_empty() {
            bytes.extend([NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * self.sack.len() as u8]);
            for (start, end) in self.sack.iter() {
                bytes.extend(start.to_be_bytes());
                bytes.extend(end.to_be_bytes());
            }
        }
        bytes
    }
}

/// Options one after another, each with its kind and its value; of the last the end may be missing.
struct Each<'a>(&'a [u8]);

impl<'a> Iterator for Each<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((&NO_OPERATION, rest)) = self.0.split_first() {
            self.0 = rest;
        }
        // A last byte alone is the end of options, or padding.
        let [kind, length, ..] = *self.0 else { return None };
        let length = usize::from(length);
        // A length below two would never come to an end.
        if kind == END || length < 2 {
            return None;
        }
        let (option, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        Some((kind, &option[2..]))
    }
}

/// Returns the pairs of 32-bit numbers in an option's value.
fn pairs(value: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    value.chunks_exact(8).filter_map(|pair| Some((long(pair, 0)?, long(pair, 4)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> TcpOptions {
        let mut all = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((7, 1 << 30)),
            experimental: Some(5),
            ..TcpOptions::default()
        };
        all.sack.push(1, 2);
        all
    }

    #[test]
    fn options_are_read_as_they_were_written() {
        let bytes = all().bytes();
        // MSS 4, SACK permitted with timestamps 12, window scale 4, experiment 8, a SACK block 12.
        assert_eq!((bytes.len(), TcpOptions::read(&bytes)), (40, all()));
        let alone = TcpOptions { sack_permitted: true, ..TcpOptions::default() };
        assert_eq!(alone.bytes(), [1, 1, 4, 2]);
    }

    #[test]
    fn what_follows_an_unknown_option_is_read() {
        // MPTCP's kind 30, then the rest.
        let bytes = [&[30, 4, 0x20, 0][..], &all().bytes()].concat();
        assert_eq!(TcpOptions::read(&bytes), all());
    }

    #[test]
    fn a_fifth_block_has_no_room() {
        let mut options = TcpOptions::default();
        for number in 0..6 {
            options.sack.push(number, number + 1);
        }
        assert_eq!(options.sack.len(), MOST_SACK);
    }

    #[test]
    fn what_is_whole_before_a_cut_is_read() {
        let bytes = all().bytes();
        for length in 0..bytes.len() {
            let found = TcpOptions::read(&bytes[..length]);
            assert_eq!(found.mss.is_some(), length >= 4, "{length}");
            assert_eq!(found.timestamps.is_some(), length >= 16, "{length}");
        }
        let mut two = TcpOptions::default();
        two.sack.push(1, 2);
        two.sack.push(3, 4);
        let bytes = two.bytes();
        for (length, blocks) in [(20, 2), (19, 1), (12, 1), (11, 0)] {
            assert_eq!(TcpOptions::read(&bytes[..length]).sack.len(), blocks, "{length}");
        }
        assert_eq!(TcpOptions::read(&[5, 0, 5, 0]), TcpOptions::default(), "a length of zero ends them");
    }

    /// RFC 6994: the identifier tells whose experiment it is. An option of another length is none.
    #[test]
    fn options_of_another_length_or_experiment_are_none() {
        for (bytes, expected) in [
            (
                &[253, 8, 0xc0, 0x67, 0, 0, 0, 9][..],
                TcpOptions { experimental: Some(9), ..Default::default() },
            ),
            (&[253, 8, 0xc0, 0x68, 0, 0, 0, 9], TcpOptions::default()),
            (&[254, 8, 0xc0, 0x67, 0, 0, 0, 9], TcpOptions::default()),
            (&[253, 7, 0xc0, 0x67, 0, 0, 9], TcpOptions::default()),
            (&[2, 4, 5, 0xb4], TcpOptions { mss: Some(1460), ..Default::default() }),
            (&[2, 5, 5, 0xb4, 0], TcpOptions::default()),
            (&[3, 3, 14], TcpOptions { window_scale: Some(14), ..Default::default() }),
            (&[3, 4, 14, 0], TcpOptions::default()),
            (&[4, 2], TcpOptions { sack_permitted: true, ..Default::default() }),
            (&[4, 3, 0], TcpOptions::default()),
            (&[8, 10, 0, 0, 0, 1, 0, 0, 0, 2], TcpOptions { timestamps: Some((1, 2)), ..Default::default() }),
            (&[8, 9, 0, 0, 0, 1, 0, 0, 0], TcpOptions::default()),
            // Behind the end nothing is read; padding is skipped; a length below two ends them.
            (&[0, 2, 4, 2], TcpOptions::default()),
            (&[1, 1, 1, 4, 2], TcpOptions { sack_permitted: true, ..Default::default() }),
            (&[9, 1, 4, 2], TcpOptions::default()),
            (&[9, 2, 4, 2], TcpOptions { sack_permitted: true, ..Default::default() }),
            (&[4], TcpOptions::default()),
        ] {
            assert_eq!(TcpOptions::read(bytes), expected, "{bytes:?}");
        }
    }
}
