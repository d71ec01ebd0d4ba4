//! System calls about sockets.

use super::check;
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::{
    AddressFamily, Protocol, SendFlags, SocketFlags, SocketType, ipproto, netlink, socket_with,
};
use std::ffi::{c_int, c_void};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

pub(crate) use rustix::net::Shutdown;

/// A TCP socket that does not block, for addresses like this one.
pub(crate) fn tcp_socket(like: IpAddr) -> io::Result<OwnedFd> {
    stream_socket(if like.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }, None)
}

/// A socket of Multipath TCP over IPv4 that does not block.
pub(crate) fn multipath_socket() -> io::Result<OwnedFd> {
    stream_socket(AddressFamily::INET, Some(ipproto::MPTCP))
}

fn stream_socket(family: AddressFamily, protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(socket_with(family, SocketType::STREAM, flags, protocol)?)
}

/// Lets a socket listen.
pub(crate) fn listen(socket: BorrowedFd<'_>, at: SocketAddr) -> io::Result<()> {
    rustix::net::bind(socket, &at)?;
    Ok(rustix::net::listen(socket, 128)?)
}

/// A socket for requests about interfaces.
pub(crate) fn control_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?)
}

/// A socket for requests to the kernel's routing tables and links (rtnetlink(7)).
pub(crate) fn route_socket() -> io::Result<OwnedFd> {
    // Protocol 0, which rustix calls none.
    netlink_socket(None)
}

/// A socket for generic requests to parts of the kernel (genetlink).
pub(crate) fn generic_socket() -> io::Result<OwnedFd> {
    netlink_socket(Some(netlink::GENERIC))
}

fn netlink_socket(protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?)
}

/// Begins to connect.
pub(crate) fn connect(socket: BorrowedFd<'_>, to: SocketAddr) -> io::Result<()> {
    match connect_again(socket, to) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        result => result,
    }
}

/// Begins to connect, or asks what became of that: an error too while it goes on.
pub(crate) fn connect_again(socket: BorrowedFd<'_>, to: SocketAddr) -> io::Result<()> {
    Ok(rustix::net::connect(socket, &to)?)
}

/// An end of an Ethernet as packet sockets name it: an interface, and the address of whom frames are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketAddress {
    pub(crate) interface: i32,
    pub(crate) to: [u8; 6],
}

/// As the kernel has it.
struct LinkAddress(libc::sockaddr_ll);

// SAFETY: the pointer is to a sockaddr_ll of this length, which lives as long as the call.
unsafe impl SocketAddrArg for LinkAddress {
    unsafe fn with_sockaddr<R>(&self, f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        f((&raw const self.0).cast(), size_of::<libc::sockaddr_ll>() as SocketAddrLen)
    }
}

impl PacketAddress {
    fn with_protocol(self, protocol: c_int) -> LinkAddress {
        // SAFETY: zero is a value of every field.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (protocol as u16).to_be();
        address.sll_ifindex = self.interface;
        address.sll_halen = 6;
        address.sll_addr[..6].copy_from_slice(&self.to);
        LinkAddress(address)
    }
}

/// A socket for the packets of an Ethernet interface without their frames (packet(7), `SOCK_DGRAM`). It does
/// not block.
pub(crate) fn packet_socket(at: PacketAddress) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    // Of no protocol until it is bound: else it would hear every interface.
    let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, None)?;
    rustix::net::bind(&socket, &at.with_protocol(libc::ETH_P_ALL))?;
    Ok(socket)
}

/// Sends a packet of IPv4 or IPv6 by a packet socket.
pub(crate) fn send_packet(socket: BorrowedFd<'_>, to: PacketAddress, bytes: &[u8]) -> io::Result<()> {
    let is_v6 = bytes.first().is_some_and(|first| first >> 4 == 6);
    let address = to.with_protocol(if is_v6 { libc::ETH_P_IPV6 } else { libc::ETH_P_IP });
    rustix::net::sendto(socket, bytes, SendFlags::empty(), &address)?;
    Ok(())
}

/// Lets a UDP socket report the ECN codepoint of what it receives (ip(7), ipv6(7)).
pub(crate) fn report_ecn(socket: BorrowedFd<'_>, is_v6: bool) -> io::Result<()> {
    let (level, name) = if is_v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS)
    } else {
        (libc::IPPROTO_IP, libc::IP_RECVTOS)
    };
    set_option(socket, level, name, &1_i32.to_ne_bytes())
}

/// Sets the ECN codepoint of what a UDP socket sends.
pub(crate) fn set_ecn(socket: BorrowedFd<'_>, is_v6: bool, codepoint: u8) -> io::Result<()> {
    let (level, name) =
        if is_v6 { (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) } else { (libc::IPPROTO_IP, libc::IP_TOS) };
    set_option(socket, level, name, &i32::from(codepoint).to_ne_bytes())
}

/// Receives a datagram. Returns its size and its ECN codepoint (RFC 3168): 0 unless [`report_ecn`] was
/// called.
pub(crate) fn receive_datagram(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, u8)> {
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // Aligned as the header of a control message must be.
    let mut control = [0_u64; 8];
    // SAFETY: zero is a value of every field.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: `message` names one piece of memory of this length, and room for control messages of this
    // length.
    let size = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if size < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut ecn = 0;
    // SAFETY: the kernel has filled `message` in.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: the header is null or within `control`.
    while let Some(header) = unsafe { next.as_ref() } {
        let kind = (header.cmsg_level, header.cmsg_type);
        if kind == (libc::IPPROTO_IP, libc::IP_TOS) || kind == (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) {
            // The traffic class is an int, the type of service a byte: the codepoint is in the lowest byte.
            // SAFETY: such a message has at least one byte of data; of an int in the order of this machine,
            // the lowest is picked.
            let data = unsafe { libc::CMSG_DATA(next) };
            let lowest = if kind.0 == libc::IPPROTO_IPV6 && cfg!(target_endian = "big") { 3 } else { 0 };
            // SAFETY: as above.
            ecn = unsafe { *data.add(lowest) } & 3;
        }
        // SAFETY: `next` is a header of `message`.
        next = unsafe { libc::CMSG_NXTHDR(&raw const message, next) };
    }
    Ok((size as usize, ecn))
}

/// Ends directions of a connection.
pub(crate) fn shut(socket: BorrowedFd<'_>, how: Shutdown) -> io::Result<()> {
    Ok(rustix::net::shutdown(socket, how)?)
}

/// How many bytes can be read from a socket (`SIOCINQ`).
pub(crate) fn readable(socket: BorrowedFd<'_>) -> io::Result<usize> {
    Ok(rustix::io::ioctl_fionread(socket)? as usize)
}

/// Sets an option of a socket.
pub(crate) fn set_option(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: `value` has this length.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast::<c_void>(), length) };
    check(result)?;
    Ok(())
}

/// Reads an option of a socket. Returns how many bytes the kernel has written.
pub(crate) fn option(
    socket: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    // SAFETY: `value` has this length.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, value.as_mut_ptr().cast::<c_void>(), &mut length)
    };
    check(result)?;
    Ok(length as usize)
}
