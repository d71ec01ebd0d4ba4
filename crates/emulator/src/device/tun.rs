//! A TUN device: packets that its kernel sends are read from it, packets written to it have arrived.
//!
//! Without `IFF_VNET_HDR` the kernel cuts its segments into packets of at most the MTU and fills in
//! checksums: the device delivers packets as on a wire.

use super::INTERFACE;
use crate::error::{EmulationError, Tried};
use crate::sys::InterfaceRequest;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Makes the device in the namespace that this thread is in.
pub(super) fn make() -> Result<OwnedFd, EmulationError> {
    let file = open()?;
    // `IFF_NO_PI`: packets come without flags and a protocol in front of them.
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    InterfaceRequest::new(INTERFACE).with_short(flags).make(file.as_fd(), libc::TUNSETIFF).or_remedy(
        "a TUN device cannot be made",
        "It needs CAP_NET_ADMIN in the namespace: does a security module block user namespaces (on Ubuntu: \
         sysctl kernel.apparmor_restrict_unprivileged_userns=0), or a container?",
    )?;
    Ok(file.into())
}

fn open() -> Result<File, EmulationError> {
    let opened =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
    let remedy = match opened.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::NotFound) => {
            "The kernel module is not loaded, or the container lacks the device: modprobe tun, or start the \
             container with --device /dev/net/tun"
        }
        _ => "Allow everybody to open it, as most distributions do: sudo chmod 0666 /dev/net/tun",
    };
    opened.or_remedy("/dev/net/tun cannot be opened", remedy)
}
