//! The TUN device of a node: packets that its kernel sends come out of it, packets put into it have arrived there.
//!
//! Without `IFF_VNET_HDR` the kernel cuts what it sends into packets of at most the MTU and fills in checksums: what comes out is
//! what would be on a wire.

use crate::error::{EmulationError, Tried};
use crate::sys::{self, InterfaceRequest};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// What the device is called, in either namespace.
pub(crate) const INTERFACE: &str = "cogtcp0";

/// Packets that the device holds for us before it drops them: 500 by default, which a burst of one window exceeds.
const TUN_QUEUE: u32 = 10_000;

/// Prefix of the network of all hosts.
const NETMASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);

/// The device of one node.
#[derive(Debug)]
pub(crate) struct Device {
    file: File,
    /// The counters of the namespace's devices.
    counters: File,
}

impl Device {
    /// Makes the device in the namespace that this thread is in, with an address and an MTU.
    pub(crate) fn new(address: Ipv4Addr, mtu: u32) -> Result<Self, EmulationError> {
        let file = open()?;
        let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
        InterfaceRequest::new(INTERFACE).with_short(flags).make(file.as_fd(), libc::TUNSETIFF).or_remedy(
            "a TUN device cannot be made",
            "It takes CAP_NET_ADMIN in the namespace: does a security module hold user namespaces back (on Ubuntu: \
             sysctl kernel.apparmor_restrict_unprivileged_userns=0), or a container?",
        )?;
        let control = sys::control_socket().tried("a socket")?;
        let request = InterfaceRequest::new(INTERFACE);
        let up = |name| InterfaceRequest::new(name).with_short((libc::IFF_UP | libc::IFF_RUNNING) as i16);
        for (what, request, number) in [
            ("the MTU", request.with_int(mtu as i32), libc::SIOCSIFMTU),
            ("the address", request.with_address(address), libc::SIOCSIFADDR),
            ("the network mask", request.with_address(NETMASK), libc::SIOCSIFNETMASK),
            ("the device's state", up(INTERFACE), libc::SIOCSIFFLAGS),
            ("the loopback device's state", up("lo"), libc::SIOCSIFFLAGS),
        ] {
            request.make(control.as_fd(), number).tried(format!("{what} cannot be set"))?;
        }
        let number = request.ask(control.as_fd(), libc::SIOCGIFINDEX).tried("the device's number")?;
        set_queue_length(number).tried("the length of the device's queue cannot be set")?;
        // Of this thread: others may be in another namespace.
        let counters = File::open("/proc/thread-self/net/dev").tried("/proc/thread-self/net/dev")?;
        Ok(Self { file, counters })
    }

    /// Packets that the kernel sent and the device dropped, since nobody took them in time.
    pub(crate) fn dropped(&mut self) -> io::Result<u64> {
        let mut text = String::new();
        self.counters.rewind()?;
        self.counters.read_to_string(&mut text)?;
        Ok(transmit_drops(&text).unwrap_or(0))
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Reads a packet; `None`: there is none yet.
pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match sys::read(fd, buffer) {
        Ok(size) => Ok(Some(size)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn open() -> Result<File, EmulationError> {
    let opened =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
    let remedy = match opened.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::NotFound) => {
            "The kernel's module is not loaded, or this is a container without the device: modprobe tun, or start the \
             container with --device /dev/net/tun"
        }
        _ => "Let everybody open it, as most distributions do: sudo chmod 0666 /dev/net/tun",
    };
    opened.or_remedy("/dev/net/tun cannot be opened", remedy)
}

/// Sets how many packets the device holds, by rtnetlink: the request of netdevice(7) is refused in a user namespace.
fn set_queue_length(device: i32) -> io::Result<()> {
    let socket = sys::route_socket()?;
    let request = queue_length_request(device, TUN_QUEUE);
    sys::write(socket.as_fd(), &request)?;
    let mut answer = [0; 256];
    let size = sys::read(socket.as_fd(), &mut answer)?;
    // A header of 16 bytes, and the error as a negative number; 0: it is done.
    let code = answer.get(16..20).filter(|_| size >= 20).and_then(|bytes| bytes.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::other("the kernel gave no answer")),
    }
}

/// `RTM_NEWLINK` with `IFLA_TXQLEN` (rtnetlink(7)): a header, what it is about, and the attribute.
fn queue_length_request(device: i32, packets: u32) -> Vec<u8> {
    let mut request = Vec::new();
    let mut put = |bytes: &[u8]| request.extend_from_slice(bytes);
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    put(&40u32.to_ne_bytes());
    put(&libc::RTM_NEWLINK.to_ne_bytes());
    put(&flags.to_ne_bytes());
    // Sequence number and port: any.
    put(&[0; 8]);
    // Family and type: any; the device; no flag is to be changed.
    put(&[0; 4]);
    put(&device.to_ne_bytes());
    put(&[0; 8]);
    put(&8u16.to_ne_bytes());
    put(&libc::IFLA_TXQLEN.to_ne_bytes());
    put(&packets.to_ne_bytes());
    request
}

/// The eleventh number of the device's line in `/proc/net/dev`: eight are of what it received.
fn transmit_drops(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_length_that_it_says() {
        let request = queue_length_request(7, 1000);
        assert_eq!((request.len(), request[0], request[20], request[32]), (40, 40, 7, 8));
    }

    #[test]
    fn drops_are_read_off_the_kernels_table() {
        let text = "Inter-|   Receive                            |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       1       2    3    4    5     6          7         8       9      10   11   12   13    14      15         16
cogtcp0:     17      18   19   20   21    22         23        24      25      26   27   28   29    30      31         32
";
        assert_eq!(transmit_drops(text), Some(28));
        assert_eq!(transmit_drops("nothing"), None);
    }
}
