//! Sizes in bytes.

use crate::quantity::{Kind, text_quantity};

const KIND: Kind = Kind {
    name: "a size",
    example: "1000 B",
    units: &[
        ("B", 1),
        ("bytes", 1),
        ("kB", 1_000),
        ("KB", 1_000),
        ("KiB", 1_024),
        ("MB", 1_000_000),
        ("MiB", 1_048_576),
        ("GB", 1_000_000_000),
        ("GiB", 1_073_741_824),
    ],
};

/// A size in bytes. Written `"1000 B"`.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Bytes(u64);

text_quantity!(Bytes, KIND);

impl Bytes {
    /// `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}
