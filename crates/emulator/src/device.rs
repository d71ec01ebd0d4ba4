//! The network device of a node: packets that its kernel sends come out of it, packets put into it have
//! arrived there.
//!
//! It is a TUN device or, where there can be none, one end of a pair of virtual Ethernet devices.

mod netlink;
mod tun;
mod veth;

use crate::error::{EmulationError, Tried};
use crate::namespaces::{self, Namespace};
use crate::sys::{self, InterfaceRequest, PacketAddress, PacketRing};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// What the device is called, in every namespace.
pub(crate) const INTERFACE: &str = "cogtcp0";

/// Packets that the device holds for us before it drops them: 500 by default, which a burst of one window
/// exceeds.
const QUEUE: u32 = 10_000;

/// Bytes of all rings together, and of one: at most as many packets of Ethernet as a TUN device's queue.
const RINGS: usize = 64 << 20;
const LEAST_OF_RING: usize = 1 << 20;
const MOST_OF_RING: usize = 16 << 20;

/// Prefixes of the network of all hosts, IPv4 and IPv6.
const NETMASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
const PREFIX: u8 = 64;
const PREFIX4: u8 = 24;
/// Below this MTU the kernel has no IPv6 (RFC 8200 section 5).
pub(crate) const LEAST_MTU_OF_IPV6: u32 = 1280;

/// Which devices a run is to have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DeviceKind {
    /// TUN devices or, where there can be none, virtual Ethernet devices.
    #[default]
    Any,
    /// TUN devices.
    Tun,
    /// Pairs of virtual Ethernet devices, with packet sockets.
    Veth,
}

/// Makes the devices of a run, all of one kind.
#[derive(Debug)]
pub(crate) struct Devices {
    kind: DeviceKind,
    /// Bytes of the ring of each virtual Ethernet device; `None`: they have none.
    ring: Option<usize>,
    /// Where the emulator's ends of virtual Ethernet devices are.
    middle: Option<Namespace>,
    /// Why they are not what was preferred.
    pub(crate) note: Option<String>,
}

/// What a device is to be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) address: Ipv4Addr,
    /// `None`: no IPv6.
    pub(crate) address6: Option<Ipv6Addr>,
    pub(crate) mtu: u32,
}

impl Devices {
    pub(crate) fn new(kind: DeviceKind) -> Self {
        Self { kind, ring: None, middle: None, note: None }
    }

    /// Devices of so many hosts, whose packets are read without a call. `window`: bytes that one sends at once.
    pub(crate) fn with_rings(hosts: usize, window: u64) -> Self {
        let most = (RINGS / hosts.max(1)).clamp(LEAST_OF_RING, MOST_OF_RING);
        // No more than needed: the first use of a page costs several packets.
        let ring = usize::try_from(window).unwrap_or(most).clamp(LEAST_OF_RING, most);
        Self { ring: Some(ring), ..Self::new(DeviceKind::Veth) }
    }

    /// Whether packets are read without a call.
    pub(crate) fn have_rings(&self) -> bool {
        self.ring.is_some()
    }

    /// What they are called.
    pub(crate) fn name(&self) -> &'static str {
        if self.kind == DeviceKind::Veth { "veth" } else { "tun" }
    }

    /// Makes the device of the host of this number, in its namespace, in which this thread is.
    pub(crate) fn make(
        &mut self,
        number: usize,
        namespace: &Namespace,
        setting: Setting,
    ) -> Result<Device, EmulationError> {
        let mut refused = None;
        if self.kind != DeviceKind::Veth {
            match tun::make() {
                Ok(fd) => return Device::new(Wire { fd, to: None, ring: None }, setting),
                Err(error) if self.kind == DeviceKind::Tun => return Err(error),
                Err(error) => refused = Some(error),
            }
            // What one host lacks the others lack: no second attempt.
            self.kind = DeviceKind::Veth;
        }
        let made = self.make_veth(number, namespace, setting.mtu);
        let Some(refused) = refused else { return Device::new(made?, setting) };
        self.note =
            Some(format!("the nodes have virtual Ethernet devices in place of TUN devices: {refused}"));
        match made {
            Ok(wire) => Device::new(wire, setting),
            Err(error) => Err(EmulationError::NoDevice { tun: Box::new(refused), veth: Box::new(error) }),
        }
    }

    fn make_veth(&mut self, number: usize, namespace: &Namespace, mtu: u32) -> Result<Wire, EmulationError> {
        // Made for the first pair: TUN devices need none.
        if self.middle.is_none() {
            let middle = Namespace::make()?;
            // Nothing there is to send by itself.
            let _ = namespaces::set_sysctl("ipv6.conf.default.disable_ipv6", "1");
            namespace.enter().tried("a network namespace cannot be entered")?;
            self.middle = Some(middle);
        }
        let middle = self.middle.as_ref().unwrap_or(namespace);
        veth::make(number, namespace, middle, mtu, self.ring)
    }
}

/// Where packets of a host come out and are put in.
#[derive(Debug)]
pub(crate) struct Wire {
    fd: OwnedFd,
    /// Where to a packet socket sends; `None`: it is a TUN device.
    to: Option<PacketAddress>,
    /// Where packets come out, if not of the descriptor.
    ring: Option<Arc<PacketRing>>,
}

impl Wire {
    /// Takes a packet; `None`: there is none yet.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.receive_stamped(buffer)?.map(|(size, _)| size))
    }

    /// Takes a packet, with the time of `CLOCK_REALTIME` at which it came if the wire has a ring.
    pub(crate) fn receive_stamped(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, u64)>> {
        match &self.ring {
            Some(ring) => Ok(ring.receive(buffer)),
            None => Ok(receive(self.fd.as_fd(), buffer)?.map(|size| (size, 0))),
        }
    }

    /// Puts a packet in.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match self.to {
            Some(to) => sys::send_packet(self.fd.as_fd(), to, bytes),
            None => sys::write(self.fd.as_fd(), bytes).map(|_| ()),
        }
    }

    /// This wire for a copy of this process, which shares no ring.
    pub(crate) fn for_fork(&self) -> io::Result<Self> {
        Ok(Self { ring: None, ..self.try_clone()? })
    }

    /// This wire, by a descriptor of its own.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, to: self.to, ring: self.ring.clone() })
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// The device of one node.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) wire: Wire,
    /// The counters of the namespace's devices.
    counters: File,
}

impl Device {
    /// Sets up the device of this wire, which is in the namespace that this thread is in.
    fn new(wire: Wire, setting: Setting) -> Result<Self, EmulationError> {
        let control = sys::control_socket().tried("a socket")?;
        let request = InterfaceRequest::new(INTERFACE);
        for (what, request, number) in [
            ("the MTU", request.with_int(setting.mtu as i32), libc::SIOCSIFMTU),
            ("the address", request.with_address(setting.address), libc::SIOCSIFADDR),
            ("the network mask", request.with_address(NETMASK), libc::SIOCSIFNETMASK),
        ] {
            request.make(control.as_fd(), number).tried(format!("{what} cannot be set"))?;
        }
        turn_on(INTERFACE, control.as_fd())?;
        turn_on("lo", control.as_fd())?;
        let number = interface_number(INTERFACE, control.as_fd())?;
        netlink::set_queue_length(number, QUEUE).tried("the length of the device's queue cannot be set")?;
        if let Some(address) = setting.address6 {
            netlink::add_address(number, address, PREFIX).or_remedy(
                "the address of IPv6 cannot be set",
                "Does the kernel have IPv6 (CONFIG_IPV6, and not ipv6.disable=1)?",
            )?;
        }
        // Of this thread: others may be in another namespace.
        let counters = File::open("/proc/thread-self/net/dev").tried("/proc/thread-self/net/dev")?;
        Ok(Self { wire, counters })
    }

    /// Packets that the kernel sent and the device dropped, since nobody took them in time. To be asked once.
    pub(crate) fn dropped(&mut self) -> io::Result<u64> {
        let mut text = String::new();
        self.counters.rewind()?;
        self.counters.read_to_string(&mut text)?;
        let of_socket = if self.wire.to.is_some() { veth::dropped(&self.wire.fd)? } else { 0 };
        Ok(transmit_drops(&text).unwrap_or(0) + of_socket)
    }
}

/// Gives the device of the namespace that this thread is in further addresses.
pub(crate) fn add_addresses(addresses: &[Ipv4Addr]) -> Result<(), EmulationError> {
    if addresses.is_empty() {
        return Ok(());
    }
    let control = sys::control_socket().tried("a socket")?;
    let number = interface_number(INTERFACE, control.as_fd())?;
    addresses.iter().try_for_each(|address| {
        netlink::add_address4(number, *address, PREFIX4).tried(format!("the address {address} cannot be set"))
    })
}

/// Lets Multipath TCP in the namespace that this thread is in have so many subflows beyond the first, and
/// announces the addresses at which it accepts them.
pub(crate) fn allow_subflows(count: usize, announced: &[Ipv4Addr]) -> Result<(), EmulationError> {
    netlink::allow_subflows(count as u32, announced).or_remedy(
        "the paths of Multipath TCP cannot be set",
        "It needs Linux 5.6 or newer with CONFIG_MPTCP: does /proc/sys/net/mptcp exist?",
    )
}

/// Turns an interface on. On ours nobody is asked for his address, and there are no groups.
fn turn_on(interface: &str, control: BorrowedFd<'_>) -> Result<(), EmulationError> {
    let own = if interface == "lo" { 0 } else { libc::IFF_NOARP };
    let flags = libc::IFF_UP | libc::IFF_RUNNING | own;
    InterfaceRequest::new(interface)
        .with_short(flags as i16)
        .make(control, libc::SIOCSIFFLAGS)
        .tried(format!("the device {interface} cannot be turned on"))
}

fn interface_number(interface: &str, control: BorrowedFd<'_>) -> Result<i32, EmulationError> {
    InterfaceRequest::new(interface).ask(control, libc::SIOCGIFINDEX).tried("the device's number")
}

/// Reads a packet; `None`: there is none yet.
pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    sys::ready(sys::read(fd, buffer))
}

/// Returns the packets that transmission dropped, the twelfth number of the device's line in `/proc/net/dev`.
/// Eight are of reception; bytes, packets and errors come before it.
fn transmit_drops(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
