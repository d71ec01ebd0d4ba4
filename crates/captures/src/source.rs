//! Opens a capture: plain, gzip (RFC 1952) or Zstandard (RFC 8878), by its first bytes.

use crate::Error;
use crate::file::is_plain;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes that are read from a file at once.
const CHUNK: usize = 1 << 16;

/// Returns whether a file begins as a capture, or as a packed file that may hold one.
#[must_use]
pub fn is_capture(head: &[u8]) -> bool {
    head.starts_with(&GZIP) || head.starts_with(&ZSTD) || is_plain(head)
}

/// Opens a file and unpacks it while it is read.
///
/// # Errors
///
/// The file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    let mut plain = BufReader::with_capacity(CHUNK, File::open(path)?);
    let head = plain.fill_buf()?;
    if head.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(plain))));
    }
    if head.starts_with(&ZSTD) {
        return Ok(Box::new(BufReader::with_capacity(CHUNK, ZstdFrames { plain: Some(plain), frame: None })));
    }
    Ok(Box::new(plain))
}

/// The frames of a Zstandard file, one after the other: `zstd` appends them, the decoder reads a single one.
struct ZstdFrames {
    plain: Option<BufReader<File>>,
    frame: Option<Box<StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>>>,
}

impl Read for ZstdFrames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.plain = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut plain) = self.plain.take() else { return Ok(0) };
            if plain.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(plain).map_err(io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}
