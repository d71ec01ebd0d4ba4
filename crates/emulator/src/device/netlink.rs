//! Requests to the kernel about interfaces (rtnetlink(7)), for what the requests of netdevice(7) cannot do or
//! are refused in a user namespace.

use crate::sys;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};

/// `VETH_INFO_PEER` (linux/veth.h): what the other end is like.
const PEER: u16 = 1;
/// Bytes of a header.
const HEADER: usize = 16;

/// A request, to be filled with attributes.
#[derive(Debug)]
struct Request(Vec<u8>);

impl Request {
    /// A request that the kernel acknowledges.
    fn new(kind: u16, flags: i32) -> Self {
        Self::with_flags(kind, libc::NLM_F_ACK | flags)
    }

    fn with_flags(kind: u16, flags: i32) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        let flags = (libc::NLM_F_REQUEST | flags) as u16;
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        // Sequence number and port: any.
        Self(bytes)
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// What an interface is like: `ifinfomsg` of any family and type, without a change of flags.
    fn interface(self, number: i32) -> Self {
        self.put(&[0; 4]).put(&number.to_ne_bytes()).put(&[0; 8])
    }

    /// An attribute: its length, its kind, its value, in whole words.
    fn attribute(self, kind: u16, value: &[u8]) -> Self {
        let length = (4 + value.len()) as u16;
        let padding = value.len().next_multiple_of(4) - value.len();
        self.put(&length.to_ne_bytes()).put(&kind.to_ne_bytes()).put(value).put(&[0; 3][..padding])
    }

    /// An attribute that holds others.
    fn nested(mut self, kind: u16, fill: impl FnOnce(Self) -> Self) -> Self {
        let begin = self.0.len();
        self = fill(self.put(&[0; 2]).put(&kind.to_ne_bytes()));
        let length = (self.0.len() - begin) as u16;
        self.0[begin..begin + 2].copy_from_slice(&length.to_ne_bytes());
        self
    }

    /// The bytes, with their length at the beginning.
    fn bytes(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }

    /// The header of a generic request (`genlmsghdr`): a command of version 1.
    fn command(self, number: u8) -> Self {
        self.put(&[number, 1, 0, 0])
    }

    /// Makes the request.
    fn make(self) -> io::Result<()> {
        self.make_on(&sys::route_socket()?)
    }

    fn make_on(self, socket: &OwnedFd) -> io::Result<()> {
        sys::write(socket.as_fd(), &self.bytes())?;
        let mut answer = [0; 1024];
        let size = sys::read(socket.as_fd(), &mut answer)?;
        // A header, and the error as a negative number; 0: it is done.
        let code = answer.get(HEADER..HEADER + 4).filter(|_| size >= HEADER + 4);
        match code.and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(-code)),
            None => Err(io::Error::other("the kernel gave no answer")),
        }
    }
}

/// Sets how many packets an interface holds.
pub(super) fn set_queue_length(interface: i32, packets: u32) -> io::Result<()> {
    queue_length(interface, packets).make()
}

fn queue_length(interface: i32, packets: u32) -> Request {
    Request::new(libc::RTM_NEWLINK, 0)
        .interface(interface)
        .attribute(libc::IFLA_TXQLEN, &packets.to_ne_bytes())
}

/// Gives an interface an address of IPv6, which nobody else is asked about.
pub(super) fn add_address(interface: i32, address: Ipv6Addr, prefix: u8) -> io::Result<()> {
    new_address(interface, [libc::AF_INET6 as u8, prefix, libc::IFA_F_NODAD as u8], &address.octets())
}

/// Gives an interface a further address of IPv4.
pub(super) fn add_address4(interface: i32, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
    new_address(interface, [libc::AF_INET as u8, prefix, 0], &address.octets())
}

fn new_address(interface: i32, [family, prefix, flags]: [u8; 3], address: &[u8]) -> io::Result<()> {
    // `ifaddrmsg`: family, prefix, flags, scope, interface.
    Request::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
        .put(&[family, prefix, flags, 0])
        .put(&interface.to_ne_bytes())
        .attribute(libc::IFA_LOCAL, address)
        .attribute(libc::IFA_ADDRESS, address)
        .make()
}

/// Flag of an attribute that holds others; strict parts of the kernel ask for it.
const NESTED: u16 = 1 << 15;

/// The commands and attributes of `mptcp_pm` (linux/mptcp_pm.h): how many subflows a connection may have, and
/// at which addresses.
mod path_manager {
    pub(super) const ADD_ADDRESS: u8 = 1;
    pub(super) const SET_LIMITS: u8 = 5;
    pub(super) const ADDRESS: u16 = 1;
    pub(super) const ACCEPTED: u16 = 2;
    pub(super) const SUBFLOWS: u16 = 3;
    pub(super) const ADDRESS_FAMILY: u16 = 1;
    pub(super) const ADDRESS_4: u16 = 3;
    pub(super) const ADDRESS_FLAGS: u16 = 6;
    /// The address is announced to the peer.
    pub(super) const SIGNAL: u32 = 1;
}

/// The number by which the kernel knows a family of generic requests.
fn generic_family(socket: &OwnedFd, name: &str) -> io::Result<u16> {
    const CONTROL: u16 = libc::GENL_ID_CTRL as u16;
    const GET_FAMILY: u8 = libc::CTRL_CMD_GETFAMILY as u8;
    let name = [name.as_bytes(), &[0]].concat();
    // The answer is the family: no acknowledgement follows.
    let request = Request::with_flags(CONTROL, 0)
        .command(GET_FAMILY)
        .attribute(libc::CTRL_ATTR_FAMILY_NAME as u16, &name);
    sys::write(socket.as_fd(), &request.bytes())?;
    let mut answer = [0; 4096];
    let size = sys::read(socket.as_fd(), &mut answer)?;
    let answer = &answer[..size];
    let short = |at: usize| Some(u16::from_ne_bytes(answer.get(at..at + 2)?.try_into().ok()?));
    if short(4) != Some(CONTROL) {
        return Err(io::Error::from_raw_os_error(libc::ENOENT));
    }
    let mut at = HEADER + 4;
    while let (Some(length), Some(kind)) = (short(at), short(at + 2)) {
        if kind == libc::CTRL_ATTR_FAMILY_ID as u16 {
            return short(at + 4).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT));
        }
        at += usize::from(length.max(4)).next_multiple_of(4);
    }
    Err(io::Error::from_raw_os_error(libc::ENOENT))
}

/// Lets connections of Multipath TCP in this namespace have so many subflows beyond the first, and announces
/// the addresses at which they are accepted.
pub(super) fn allow_subflows(subflows: u32, announced: &[Ipv4Addr]) -> io::Result<()> {
    use path_manager::*;
    let socket = sys::generic_socket()?;
    let family = generic_family(&socket, "mptcp_pm")?;
    Request::new(family, 0)
        .command(SET_LIMITS)
        .attribute(ACCEPTED, &subflows.to_ne_bytes())
        .attribute(SUBFLOWS, &subflows.to_ne_bytes())
        .make_on(&socket)?;
    announced.iter().try_for_each(|address| {
        Request::new(family, 0)
            .command(ADD_ADDRESS)
            .nested(ADDRESS | NESTED, |it| {
                it.attribute(ADDRESS_FAMILY, &(libc::AF_INET as u16).to_ne_bytes())
                    .attribute(ADDRESS_4, &address.octets())
                    .attribute(ADDRESS_FLAGS, &SIGNAL.to_ne_bytes())
            })
            .make_on(&socket)
    })
}

/// One end of a pair of virtual Ethernet devices.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    pub(super) address: [u8; 6],
}

/// Makes a pair of virtual Ethernet devices (veth(4)): `near` in the namespace that this thread is in, `far`
/// in the namespace of the descriptor `namespace`.
pub(super) fn add_pair(near: End<'_>, far: End<'_>, namespace: i32, mtu: u32) -> io::Result<()> {
    let end = |request: Request, end: End<'_>| {
        let name = [end.name.as_bytes(), &[0]].concat();
        request
            .attribute(libc::IFLA_IFNAME, &name)
            .attribute(libc::IFLA_ADDRESS, &end.address)
            .attribute(libc::IFLA_MTU, &mtu.to_ne_bytes())
    };
    end(Request::new(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL).interface(0), near)
        .nested(libc::IFLA_LINKINFO, |info| {
            info.attribute(libc::IFLA_INFO_KIND, b"veth").nested(libc::IFLA_INFO_DATA, |data| {
                data.nested(PEER, |peer| {
                    end(peer.interface(0), far).attribute(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes())
                })
            })
        })
        .make()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_length_that_it_says() {
        let request = queue_length(7, 1000).bytes();
        assert_eq!((request.len(), request[0], request[20], request[32]), (40, 40, 7, 8));
    }

    /// An attribute of 5 bytes takes 12: its length counts 9, and its container counts the padding.
    #[test]
    fn attributes_are_whole_words() {
        let request = Request::new(1, 0).nested(9, |it| it.attribute(3, b"abcde")).bytes();
        assert_eq!(request.len(), 16 + 4 + 12);
        assert_eq!((request[16], request[18], request[20], request[22]), (16, 9, 9, 3));
        assert_eq!(request[24..], *b"abcde\0\0\0");
    }
}
