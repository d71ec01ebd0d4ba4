//! A record of every packet, for captures and logs: written while the run goes on, by a thread of its own, so
//! that a slow disk delays no packet.
//!
//! The file is a sequence of little-endian records. Fields: time (u64, ns since the start of the run), time
//! of the packet's arrival (u64), and its place (u32; time and place identify a packet). Then: event (u8),
//! detail (u8), link direction (u16, see [`LinkDirection`]), size (u32), captured bytes (u32), and these
//! bytes. `python/cogtcp/kernel/emulation/journal.py` reads the file.

use crate::host_routes::LinkDirection;
use crate::packet::IpPacket;
use cogtcp_link::DropCause;
use cogtcp_units::Time;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// What happened to a packet. The numbers are the file's.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Step {
    /// It came from its kernel, or from the link before.
    Offered = 0,
    /// It has reached the far end.
    Arrived = 1,
    /// It was dropped; the detail is the number of its cause.
    Dropped = 2,
    /// It was dropped by the queue that had not taken it.
    Refused = 3,
    /// No packet: what the direction could carry since the last such record; the size is its bytes.
    Capacity = 4,
}

/// Records go out in pieces of this size.
const PIECE: usize = 1 << 16;

/// The record under way.
#[derive(Debug)]
pub(crate) struct Journal {
    buffer: Vec<u8>,
    pieces: Sender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
    failed: Arc<AtomicBool>,
    captures: bool,
}

impl Journal {
    /// Begins to write `file`, with the bytes of packets if it `captures`.
    pub(crate) fn create(file: &PathBuf, captures: bool) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(PIECE, File::create(file)?);
        let (pieces, receiver) = channel::<Vec<u8>>();
        let failed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&failed);
        let writer = std::thread::spawn(move || {
            crate::privileges::give_up_real_time();
            let mut write = || {
                receiver.iter().try_for_each(|piece| file.write_all(&piece))?;
                file.flush()
            };
            write().inspect_err(|_| flag.store(true, Ordering::Relaxed))
        });
        Ok(Self { buffer: Vec::with_capacity(2 * PIECE), pieces, writer, failed, captures })
    }

    /// Something happened to a packet of `size` bytes; `bytes` are read only where they are kept.
    pub(crate) fn packet(
        &mut self,
        at: Time,
        step: Step,
        direction: LinkDirection,
        packet: (&IpPacket, u32),
        bytes: &[u8],
        cause: Option<DropCause>,
    ) {
        let (packet, size) = packet;
        // Where a packet enters and leaves a direction: in between its bytes are the same.
        let captured =
            if self.captures && matches!(step, Step::Offered | Step::Arrived) { bytes } else { &[] };
        let detail = cause.map_or(0, |cause| cause as u8);
        self.record(at, (packet.sent_at, packet.slot()), [step as u8, detail], direction, size);
        self.buffer.extend_from_slice(&(captured.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(captured);
        self.flush_full();
    }

    /// A direction could carry so many bytes since the last call.
    pub(crate) fn capacity(&mut self, at: Time, direction: LinkDirection, bytes: u32) {
        self.record(at, (Time::ZERO, 0), [Step::Capacity as u8, 0], direction, bytes);
        self.buffer.extend_from_slice(&0u32.to_le_bytes());
        self.flush_full();
    }

    fn record(&mut self, at: Time, packet: (Time, u32), head: [u8; 2], direction: LinkDirection, size: u32) {
        self.buffer.extend_from_slice(&at.as_nanos().to_le_bytes());
        self.buffer.extend_from_slice(&packet.0.as_nanos().to_le_bytes());
        self.buffer.extend_from_slice(&packet.1.to_le_bytes());
        self.buffer.extend_from_slice(&head);
        self.buffer.extend_from_slice(&(direction as u16).to_le_bytes());
        self.buffer.extend_from_slice(&size.to_le_bytes());
    }

    fn flush_full(&mut self) {
        if self.buffer.len() >= PIECE {
            self.send();
        }
    }

    fn send(&mut self) {
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(2 * PIECE));
        // A writer that has failed has gone; that is told at the end.
        let _ = self.pieces.send(piece);
    }

    /// Whether nothing more can be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.send();
        // Ends the writer's loop.
        drop(self.pieces);
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("its writer has a defect")))
    }
}
