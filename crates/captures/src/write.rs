//! Captures of a run whose packets were recorded, from its tables. A capture has the packets that a node sees on
//! a link, or the frames over the air of an ad hoc network.
//!
//! Payloads are not simulated, only their lengths: the bytes end with the headers, and checksums assume a
//! payload of zeros. Datagrams of QUIC and TFRC have their bytes, up to the zeros at their end.
//! docs/captures.md lists fields that the simulator does not have.

mod air;
mod cells;
mod link;
mod row;

pub use cells::{Data, Tables, Values};

/// First block of a capture, which names the run.
#[derive(Clone, Debug)]
pub struct About {
    /// Program and version.
    pub application: String,
    /// The run.
    pub comment: String,
}

/// Place of a capture.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Point {
    /// Name of the link.
    pub link: String,
    /// Node at one of its ends; empty: the air of an ad hoc network.
    pub node: String,
    /// Direction of the link in which the node sends.
    pub outgoing: String,
}

/// Bytes of a capture, piece by piece.
pub type Pieces = Box<dyn Iterator<Item = Vec<u8>> + Send>;

/// Tables of a run that a capture needs, as far as the run has them.
pub const TABLES: [&str; 7] = ["packets", "tcp_segments", "payloads", "frames", "nodes", "flows", "subflows"];

/// Pieces have about so many bytes.
const PIECE: usize = 1 << 16;

/// Returns the capture of a run at a place; `None`: the run's packets were not recorded.
pub fn write(tables: &Tables, about: &About, point: &Point) -> Option<Pieces> {
    let mut out = Vec::new();
    crate::pcapng::section_header(&mut out, &about.application, &about.comment);
    if point.node.is_empty() {
        let air = air::Air::new(tables, &mut out)?;
        return Some(pieces(out, air, air::Air::add));
    }
    let link = link::OnLink::new(tables, point, &mut out)?;
    Some(pieces(out, link, link::OnLink::add))
}

/// Returns the pieces of a writer that adds a packet at a time and says whether there is another.
fn pieces<W: Send + 'static>(
    first: Vec<u8>,
    mut writer: W,
    add: impl Fn(&mut W, &mut Vec<u8>) -> bool + Send + 'static,
) -> Pieces {
    let mut next = Some(first);
    Box::new(std::iter::from_fn(move || {
        let mut out = next.take()?;
        while out.len() < PIECE {
            if !add(&mut writer, &mut out) {
                return Some(out);
            }
        }
        next = Some(Vec::with_capacity(PIECE + 1000));
        Some(out)
    }))
}

/// Returns nanoseconds; the double of the table tells them apart for the first 48 days.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round_ties_even() as u64
}
