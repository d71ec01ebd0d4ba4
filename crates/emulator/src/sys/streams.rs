//! Calls of a stream that last: one takes or gives as much as many short ones.

use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Pieces of one call (`IOV_MAX`).
const PIECES: usize = 1024;
/// What one call reads at most.
const MOST: usize = 1 << 30;

/// Reads data as they arrive and discards them, in one call. Returns the number of bytes; 0 at the end of the
/// stream.
pub(crate) fn drain(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let flags = libc::MSG_TRUNC | libc::MSG_WAITALL;
    // SAFETY: with MSG_TRUNC a stream writes nothing to memory (tcp(7)).
    let got = unsafe { libc::recv(socket.as_raw_fd(), ptr::null_mut(), MOST, flags) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Writes the buffer repeatedly, in one call. Returns the number of bytes.
pub(crate) fn pour(socket: BorrowedFd<'_>, buffer: &[u8]) -> io::Result<usize> {
    let pieces = [IoSlice::new(buffer); PIECES];
    Ok(sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?)
}
