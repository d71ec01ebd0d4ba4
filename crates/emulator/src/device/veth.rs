//! A pair of virtual Ethernet devices in place of a TUN device: the host's end, and an end in a namespace of
//! the emulator. A packet socket at the emulator's end reads outgoing packets and writes arrived ones.
//!
//! Offloads are off, so packets are as on a wire: at most the MTU long, with their checksums. No end asks for
//! a neighbour's address (`IFF_NOARP`): each sends to its own address, which the socket ignores.

use super::netlink::{self, End};
use super::{INTERFACE, Wire, interface_number, turn_on};
use crate::error::{EmulationError, Tried};
use crate::namespaces::Namespace;
use crate::sys::{self, InterfaceRequest, PacketAddress, PacketRing};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// What the socket holds for us before it drops packets: as much as the window of a fast long path. The
/// kernel's limit (net.core.rmem_max) may be less.
const BUFFER: i32 = 64 << 20;
/// linux/ethtool.h: checksums, scatter and gather, and segmentation of what is sent; merging of what comes.
const OFFLOADS: [(&str, u32); 5] = [("tx", 0x17), ("sg", 0x19), ("tso", 0x1f), ("gso", 0x24), ("gro", 0x2c)];
/// SO_RCVBUFFORCE (asm-generic/socket.h).
const RECEIVE_BUFFER_FORCE: i32 = 33;

/// Makes the pair: one end in the namespace `near`, in which this thread is, the other in `middle`. `ring`: bytes of
/// its ring, if it is to have one.
pub(super) fn make(
    number: usize,
    near: &Namespace,
    middle: &Namespace,
    mtu: u32,
    ring: Option<usize>,
) -> Result<Wire, EmulationError> {
    let name = format!("{INTERFACE}-{number}");
    // A locally administered address: bit 1 of the first octet is set.
    let address = |end: u8| [0x02, 0x63, 0x6f, 0x67, end, number as u8];
    let ends = [End { name: INTERFACE, address: address(0) }, End { name: &name, address: address(1) }];
    netlink::add_pair(ends[0], ends[1], middle.descriptor(), mtu).or_remedy(
        "a pair of virtual Ethernet devices cannot be made",
        "It needs CAP_NET_ADMIN in the namespace and the kernel's module veth (CONFIG_VETH): sudo modprobe veth",
    )?;
    let control = sys::control_socket().tried("a socket")?;
    for (what, command) in OFFLOADS {
        let asked = InterfaceRequest::new(INTERFACE).set_of_driver(control.as_fd(), command, 0);
        // Older kernels do not know all of them, and what is not known is not done.
        if let Err(error) = asked.or_else(|error| unknown(error, what == "tx")) {
            return Err(error).tried(format!("the offload \"{what}\" of a device cannot be turned off"));
        }
    }
    let enter = |namespace: &Namespace| namespace.enter().tried("a network namespace cannot be entered");
    enter(middle)?;
    let socket = open(&name, address(0), ring.map(|bytes| (bytes, mtu)));
    enter(near)?;
    socket
}

fn unknown(error: io::Error, is_needed: bool) -> io::Result<()> {
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) && !is_needed { Ok(()) } else { Err(error) }
}

/// The socket at the end of this name, which sends frames to this address. `ring`: bytes of its ring and the MTU.
fn open(name: &str, to: [u8; 6], ring: Option<(usize, u32)>) -> Result<Wire, EmulationError> {
    let control = sys::control_socket().tried("a socket")?;
    turn_on(name, control.as_fd())?;
    let at = PacketAddress { interface: interface_number(name, control.as_fd())?, to };
    let socket = sys::packet_socket(at).tried("a packet socket")?;
    let set = |option| sys::set_option(socket.as_fd(), libc::SOL_SOCKET, option, &BUFFER.to_ne_bytes());
    // Beyond net.core.rmem_max needs CAP_NET_ADMIN over the machine.
    set(RECEIVE_BUFFER_FORCE)
        .or_else(|_| set(libc::SO_RCVBUF))
        .tried("the buffer of a packet socket cannot be set")?;
    let make = |(bytes, mtu)| PacketRing::new(socket.as_fd(), mtu as usize, bytes).map(Arc::new);
    let ring = ring.map(make).transpose().tried("the ring of a packet socket")?;
    Ok(Wire { fd: socket, to: Some(at), ring })
}

/// Packets that the socket dropped since this was last asked, since nobody took them in time.
pub(super) fn dropped(socket: &OwnedFd) -> io::Result<u64> {
    // `tpacket_stats`: packets, drops.
    let mut counted = [0; 8];
    sys::option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut counted)?;
    let [.., a, b, c, d] = counted;
    Ok(u64::from(u32::from_ne_bytes([a, b, c, d])))
}
