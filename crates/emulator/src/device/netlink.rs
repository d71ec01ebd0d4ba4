//! Requests to the kernel about interfaces (rtnetlink(7)), for what the requests of netdevice(7) cannot do or
//! are refused in a user namespace.

use crate::sys;
use std::io;
use std::net::Ipv6Addr;
use std::os::fd::AsFd;

/// `VETH_INFO_PEER` (linux/veth.h): what the other end is like.
const PEER: u16 = 1;
/// Bytes of a header.
const HEADER: usize = 16;

/// A request, to be filled with attributes.
#[derive(Debug)]
struct Request(Vec<u8>);

impl Request {
    fn new(kind: u16, flags: i32) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        // Sequence number and port: any.
        Self(bytes)
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// What an interface is like: `ifinfomsg` of any family and type, of which no flag is to be changed.
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

    /// Makes the request.
    fn make(self) -> io::Result<()> {
        let socket = sys::route_socket()?;
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
    // `ifaddrmsg`: family, prefix, flags, scope, interface.
    let head = [libc::AF_INET6 as u8, prefix, libc::IFA_F_NODAD as u8, 0];
    Request::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
        .put(&head)
        .put(&interface.to_ne_bytes())
        .attribute(libc::IFA_LOCAL, &address.octets())
        .attribute(libc::IFA_ADDRESS, &address.octets())
        .make()
}

/// One end of a pair of virtual Ethernet devices.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    pub(super) address: [u8; 6],
}

/// Makes a pair of virtual Ethernet devices (veth(4)): `near` in the namespace that this thread is in, `far`
/// in the one of which `namespace` is the descriptor.
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

    /// An attribute of 5 bytes takes 12, of which its length counts 9; what holds it counts the padding.
    #[test]
    fn attributes_are_whole_words() {
        let request = Request::new(1, 0).nested(9, |it| it.attribute(3, b"abcde")).bytes();
        assert_eq!(request.len(), 16 + 4 + 12);
        assert_eq!((request[16], request[18], request[20], request[22]), (16, 9, 9, 3));
        assert_eq!(request[24..], *b"abcde\0\0\0");
    }
}
