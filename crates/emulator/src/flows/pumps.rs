//! Saturated applications: one thread writes, one reads, each in long blocking calls.
//!
//! In virtual time a call costs more than a packet's way through the network. Data are still read as they arrive.

use crate::sys;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

/// A thread that writes or reads.
#[derive(Debug)]
pub(super) struct Pump(JoinHandle<io::Result<()>>);

impl Pump {
    /// Writes into a socket, which blocks, until it is shut.
    pub(super) fn writing(socket: OwnedFd) -> Self {
        Self(std::thread::spawn(move || {
            let buffer = vec![0; super::CHUNK];
            loop {
                sys::pour(socket.as_fd(), &buffer)?;
            }
        }))
    }

    /// Reads from a socket, which blocks, until its peer or this end has shut it.
    pub(super) fn reading(socket: OwnedFd) -> Self {
        Self(std::thread::spawn(move || {
            while sys::drain(socket.as_fd())? > 0 {}
            Ok(())
        }))
    }

    /// Why it has ended, if it has.
    pub(super) fn failure(self) -> Option<io::Error> {
        if self.0.is_finished() { self.0.join().ok().and_then(Result::err) } else { None }
    }
}
