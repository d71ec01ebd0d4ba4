//! Why a capture cannot be read.

use std::io;

/// A capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The first bytes are of no capture.
    #[error("is not a capture; name a pcap or pcapng file")]
    NotACapture,
}
