//! Calls of a script on sockets of the kernel. None waits: the runner asks again.

use super::{KernelPlane, PEER, PORT, Socket};
use crate::sys;
use cogtcp_packet_scripts::{Call, CallError, Errno, Side, SocketOption};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// A level and a name of setsockopt(2).
fn place(option: SocketOption) -> (i32, i32) {
    match option {
        SocketOption::MaxSegment => (libc::IPPROTO_TCP, libc::TCP_MAXSEG),
        SocketOption::NoDelay => (libc::IPPROTO_TCP, libc::TCP_NODELAY),
        SocketOption::QuickAck => (libc::IPPROTO_TCP, libc::TCP_QUICKACK),
        SocketOption::UserTimeout => (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
        SocketOption::SendBuffer => (libc::SOL_SOCKET, libc::SO_SNDBUF),
        SocketOption::ReceiveBuffer => (libc::SOL_SOCKET, libc::SO_RCVBUF),
        SocketOption::Error => (libc::SOL_SOCKET, libc::SO_ERROR),
    }
}

pub(super) fn failed(error: &io::Error) -> CallError {
    let known = match error.raw_os_error() {
        Some(libc::EAGAIN) => Errno::WouldBlock,
        Some(libc::EINPROGRESS | libc::EALREADY) => Errno::InProgress,
        Some(libc::EPIPE) => Errno::BrokenPipe,
        Some(libc::ECONNRESET) => Errno::Reset,
        Some(libc::ECONNREFUSED) => Errno::Refused,
        Some(libc::ETIMEDOUT) => Errno::TimedOut,
        Some(libc::ENOTCONN) => Errno::NotConnected,
        Some(libc::EHOSTUNREACH) => Errno::Unreachable,
        _ => return CallError::Other(error.to_string()),
    };
    CallError::Errno(known)
}

impl KernelPlane {
    /// The connection, or the socket that is to be connected or to listen.
    fn socket(&self) -> io::Result<BorrowedFd<'_>> {
        match (&self.stage.socket, &self.accepted) {
            _ if self.is_closed => Err(io::Error::from_raw_os_error(libc::EBADF)),
            (_, Some(socket)) => Ok(socket.as_fd()),
            (Socket::Client(socket), None) => Ok(socket.as_fd()),
            (Socket::Server(listener), None) => Ok(listener.as_fd()),
        }
    }

    pub(super) fn make(&mut self, call: Call) -> io::Result<u64> {
        match call {
            // It has listened all the time.
            Call::Listen => {}
            Call::Connect | Call::FinishConnect => {
                let socket = self.socket()?;
                if call == Call::FinishConnect {
                    // A second connect says how the first one ended.
                    return match sys::connect_again(socket, SocketAddr::from((PEER, PORT))) {
                        Err(error) if error.raw_os_error() == Some(libc::EISCONN) => Ok(0),
                        outcome => outcome.map(|()| 0),
                    };
                }
                sys::connect_again(socket, SocketAddr::from((PEER, PORT)))?;
            }
            Call::Accept => {
                let Socket::Server(listener) = &self.stage.socket else {
                    return Err(io::Error::from_raw_os_error(libc::EINVAL));
                };
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                if self.is_exact {
                    stream.set_nodelay(true)?;
                }
                self.accepted = Some(stream.into());
            }
            Call::Write(bytes) => return Ok(sys::write(self.socket()?, &vec![0; bytes as usize])? as u64),
            Call::Read(bytes) => return Ok(sys::read(self.socket()?, &mut vec![0; bytes as usize])? as u64),
            Call::Readable => return Ok(sys::readable(self.socket()?)? as u64),
            Call::ShutDown(side) => sys::shut(
                self.socket()?,
                match side {
                    Side::Read => sys::Shutdown::Read,
                    Side::Write => sys::Shutdown::Write,
                    Side::Both => sys::Shutdown::Both,
                },
            )?,
            Call::SetOption(option, value) => {
                let (level, name) = place(option);
                sys::set_option(self.socket()?, level, name, &value.to_ne_bytes())?;
            }
            Call::GetOption(option) => {
                let (level, name) = place(option);
                let mut value = [0; 4];
                sys::option(self.socket()?, level, name, &mut value)?;
                return Ok(u64::from(u32::from_ne_bytes(value)));
            }
            Call::Close => {
                self.socket()?;
                self.is_closed = true;
                if self.accepted.take().is_none() {
                    self.stage.close_client();
                }
            }
        }
        Ok(0)
    }
}
