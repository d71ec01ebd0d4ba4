//! Reads and writes captures.
//!
//! Reading, by headers: pcap and pcapng, packed or not, to columns of TCP packets, echoes and datagrams. No
//! address and no payload leaves this crate: connections are numbers. Reading order: `source` opens and unpacks
//! a file, [`file`] finds its frames, `peel` removes what lies around IP. `packet` reads IP and its payload,
//! [`read`] numbers connections and leaves copies out. Memory is bounded: a frame's first bytes are read, the
//! rest is skipped, and rows have a limit.
//!
//! Writing: [`write()`] makes captures of a run from its tables, [`pcapng`] writes the file format.

mod error;
mod file;
mod packet;
pub mod pcapng;
mod peel;
mod read;
mod source;
mod write;

pub use error::Error;
pub use file::{CapturedFrame, Frames};
pub use read::{Datagrams, Echoes, Limits, Read, TcpRows, read, read_files};
pub use source::{is_capture, open};
pub use write::{About, Data, Pieces, Point, TABLES, Tables, Values, write};
