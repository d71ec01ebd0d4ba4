//! The sockets of a flow, and what the kernel tells of them.

use crate::error::{EmulationError, Tried};
use crate::packet::FIRST_PORT;
use crate::{privileges, sys};
use cogtcp_transport::LinuxControl;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Unsent data that a sender keeps in the kernel: enough to fill a gap of the application, and no more. So an
/// application that stops does stop (tcp(7), TCP_NOTSENT_LOWAT).
const UNSENT: i32 = 128 * 1024;

/// What a flow's sockets are to be like.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The kernel's congestion control, of the sender.
    pub(crate) congestion: LinuxControl,
    /// The receiver's buffer; `None`: the kernel chooses it, and lets it grow.
    pub(crate) receive_buffer: Option<i32>,
    /// Largest segment with its options, where the device's MTU does not say it.
    pub(crate) segment: Option<i32>,
    /// Whether they are of Multipath TCP.
    pub(crate) is_multipath: bool,
}

impl Settings {
    /// Makes a socket, or one that listens and what it accepts, the sender of a flow. The congestion control
    /// is set explicitly: the system's default may be any. It ends with this process, whatever ends that
    /// ([`end_at_once`]).
    pub(crate) fn make_sender(&self, socket: BorrowedFd<'_>) -> Result<(), EmulationError> {
        choose_control(socket, self.congestion)?;
        end_at_once(socket);
        let not_sent = (libc::TCP_NOTSENT_LOWAT, UNSENT);
        self.set(socket, [Some(not_sent), Some((libc::TCP_NODELAY, 1)), self.most()])
            .tried("an option of a socket cannot be set")
    }

    /// Makes it the receiver, and what it accepts; it ends as the sender does.
    pub(crate) fn make_receiver(&self, socket: BorrowedFd<'_>) -> Result<(), EmulationError> {
        if let Some(buffer) = self.receive_buffer {
            sys::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer.to_ne_bytes())
                .tried("the receive buffer cannot be set")?;
        }
        end_at_once(socket);
        self.set(socket, [self.most(), None, None]).tried("an option of a socket cannot be set")
    }

    fn most(&self) -> Option<(i32, i32)> {
        Some((libc::TCP_MAXSEG, self.segment?))
    }

    fn set(&self, socket: BorrowedFd<'_>, options: [Option<(i32, i32)>; 3]) -> io::Result<()> {
        // Before Linux 6.17 sockets of Multipath TCP have no further options that matter here.
        if self.is_multipath {
            return Ok(());
        }
        options.into_iter().flatten().try_for_each(|(option, value)| {
            sys::set_option(socket, libc::IPPROTO_TCP, option, &value.to_ne_bytes())
        })
    }
}

/// The listening socket of flow `number`, in the namespace that this thread is in.
pub(crate) fn listen(number: usize, address: IpAddr) -> Result<TcpListener, EmulationError> {
    let listener = TcpListener::bind(at(number, address)).tried("a socket cannot listen")?;
    listener.set_nonblocking(true).tried("a socket cannot be set not to block")?;
    Ok(listener)
}

/// A listener for Multipath TCP, whose subflows come to other addresses of this host too.
pub(crate) fn listen_multipath(number: usize) -> Result<TcpListener, EmulationError> {
    let socket = caller_multipath()?;
    let at = at(number, Ipv4Addr::UNSPECIFIED.into());
    sys::listen(socket.as_fd(), at).tried("a socket cannot listen")?;
    Ok(TcpListener::from(socket))
}

/// A socket of Multipath TCP; not connected yet.
pub(crate) fn caller_multipath() -> Result<OwnedFd, EmulationError> {
    sys::multipath_socket().or_remedy(
        "the kernel has no sockets of Multipath TCP",
        "It needs Linux 5.6 or newer with CONFIG_MPTCP, and net.mptcp.enabled = 1",
    )
}

/// A socket that calls addresses like this one, in the namespace that this thread is in; not connected yet.
pub(crate) fn caller(like: IpAddr) -> Result<OwnedFd, EmulationError> {
    sys::tcp_socket(like).tried("a socket")
}

/// Makes sockets in a namespace when nobody has the privileges to enter it any more: a thread that stays
/// there makes them ahead of time.
#[derive(Debug)]
pub(crate) struct Maker(Mutex<Receiver<io::Result<OwnedFd>>>);

/// How many sockets lie ready.
const READY: usize = 4;

impl Maker {
    /// Of sockets that call addresses like this one, in the namespace that this thread is in.
    pub(crate) fn start(like: IpAddr) -> Self {
        let (made, taken) = sync_channel(READY);
        std::thread::spawn(move || {
            privileges::give_up_real_time();
            let ready = privileges::drop_all().map_err(io::Error::other);
            if let Err(error) = ready {
                let _ = made.send(Err(error));
                return;
            }
            // It waits while enough lie ready, and ends when nobody takes them any more.
            while made.send(sys::tcp_socket(like)).is_ok() {}
        });
        Self(Mutex::new(taken))
    }

    pub(crate) fn take(&self) -> io::Result<OwnedFd> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that makes sockets has ended")))
    }
}

/// Lets a connection end with its descriptor, data or not, and what a listening socket accepts: what would
/// stay in the kernel until that gives it up keeps its namespace.
pub(crate) fn end_at_once(socket: BorrowedFd<'_>) {
    linger(socket, true);
}

/// Lets a connection end with its descriptor as TCP has it, by a FIN after its data.
pub(crate) fn end_in_order(socket: BorrowedFd<'_>) {
    linger(socket, false);
}

fn linger(socket: BorrowedFd<'_>, ends_at_once: bool) {
    // `struct linger`: on, for no time.
    let linger = [i32::from(ends_at_once), 0].map(i32::to_ne_bytes).concat();
    // No socket of TCP refuses it.
    let _ = sys::set_option(socket, libc::SOL_SOCKET, libc::SO_LINGER, &linger);
}

/// Sets the congestion control of a socket.
pub(crate) fn choose_control(socket: BorrowedFd<'_>, control: LinuxControl) -> Result<(), EmulationError> {
    let chosen = sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, control.name.as_bytes());
    let what = match chosen.as_ref().map_err(io::Error::kind) {
        Err(io::ErrorKind::PermissionDenied) => "lets only root choose the",
        _ => "has no",
    };
    chosen.or_remedy(format!("the kernel {what} congestion control \"{}\"", control.name), control.remedy)
}

/// Begins to connect flow `number` to its listener at `address`.
pub(crate) fn connect(socket: BorrowedFd<'_>, number: usize, address: IpAddr) -> io::Result<()> {
    sys::connect(socket, at(number, address))
}

/// What has become of an attempt to connect.
pub(crate) fn pending_error(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut error = [0; 4];
    sys::option(socket, libc::SOL_SOCKET, libc::SO_ERROR, &mut error)?;
    match i32::from_ne_bytes(error) {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

fn at(number: usize, address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, FIRST_PORT + number as u16)
}

/// `struct tcp_info` (linux/tcp.h) as far as this kernel knows it. It only ever grows at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpInfo {
    bytes: [u8; TCP_INFO_SIZE],
    length: usize,
}

/// Bytes of `struct tcp_info` that are asked for.
const TCP_INFO_SIZE: usize = 248;

/// The level of options of Multipath TCP, its option for [`TcpInfo`] of subflows (linux/mptcp.h), and the
/// most subflows (the simulator's too).
const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
const MOST_SUBFLOWS: usize = 8;

/// `tcpi_state` of an established connection (TCP_ESTABLISHED).
const ESTABLISHED: u8 = 1;

impl TcpInfo {
    pub(crate) fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut bytes = [0; TCP_INFO_SIZE];
        let length = sys::option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
        Ok(Self { bytes, length })
    }

    /// Reads `tcp_info` of each subflow of a Multipath TCP socket (`MPTCP_TCPINFO`, linux/mptcp.h).
    pub(crate) fn of_subflows(socket: BorrowedFd<'_>) -> io::Result<Vec<Self>> {
        // `struct mptcp_subflow_data`: its size, the number of subflows, the kernel's size of an entry, ours.
        const HEADER: usize = 16;
        let mut bytes = [0; HEADER + TCP_INFO_SIZE * MOST_SUBFLOWS];
        bytes[..4].copy_from_slice(&(HEADER as u32).to_ne_bytes());
        bytes[12..16].copy_from_slice(&(TCP_INFO_SIZE as u32).to_ne_bytes());
        let length = sys::option(socket, SOL_MPTCP, MPTCP_TCPINFO, &mut bytes)?;
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (header, size) = (word(0) as usize, word(8).min(word(12)) as usize);
        let entries = bytes.get(header..length).unwrap_or_default().chunks_exact(TCP_INFO_SIZE);
        let count = (word(4) as usize).min(MOST_SUBFLOWS);
        let read =
            |entry: &[u8]| Ok(Self { bytes: entry.try_into().map_err(io::Error::other)?, length: size });
        entries.take(count).map(read).collect()
    }

    fn short(&self, offset: usize) -> Option<u16> {
        // What an older kernel has not written is not known, and not zero.
        let bytes = self.bytes.get(offset..offset + 2).filter(|_| offset + 2 <= self.length)?;
        Some(u16::from_ne_bytes(bytes.try_into().ok()?))
    }

    fn word(&self, offset: usize) -> Option<u32> {
        let bytes = self.bytes.get(offset..offset + 4).filter(|_| offset + 4 <= self.length)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    fn long(&self, offset: usize) -> Option<u64> {
        let bytes = self.bytes.get(offset..offset + 8).filter(|_| offset + 8 <= self.length)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }

    fn number(&self, offset: usize) -> f64 {
        self.word(offset).map_or(f64::NAN, f64::from)
    }

    fn micros(&self, offset: usize) -> f64 {
        self.number(offset) / 1e6
    }

    /// Bytes received in order, without a FIN.
    pub(crate) fn received(&self) -> u64 {
        // The kernel counts a FIN as a byte.
        self.long(128).unwrap_or(0).saturating_sub(u64::from(!self.is_established()))
    }

    pub(crate) fn is_established(&self) -> bool {
        self.bytes[0] == ESTABLISHED
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.number(80)
    }

    /// Not-a-number while it is not set.
    pub(crate) fn ssthresh(&self) -> f64 {
        match self.word(76) {
            // The kernel's TCP_INFINITE_SSTHRESH.
            Some(segments) if segments < 0x7fff_ffff => f64::from(segments),
            _ => f64::NAN,
        }
    }

    /// Not-a-number before the first sample.
    pub(crate) fn srtt_s(&self) -> f64 {
        match self.word(68) {
            Some(micros) if micros > 0 => f64::from(micros) / 1e6,
            _ => f64::NAN,
        }
    }

    /// `tcp_packets_in_flight` of the kernel: sent and neither acknowledged nor taken for lost,
    /// retransmissions included.
    pub(crate) fn in_flight(&self) -> f64 {
        self.number(24) - self.number(28) - self.number(32) + self.number(36)
    }

    pub(crate) fn retransmitted(&self) -> u64 {
        u64::from(self.word(100).unwrap_or(0))
    }

    pub(crate) fn data_segments_sent(&self) -> u64 {
        u64::from(self.word(156).unwrap_or(0))
    }

    /// Retransmission timeouts; `None`: this kernel does not count them (before 6.7).
    pub(crate) fn timeouts(&self) -> Option<u64> {
        self.short(240).map(u64::from)
    }

    /// A field by its name in linux/tcp.h, of those that packet scripts ask for.
    pub(crate) fn field(&self, name: &str) -> Option<f64> {
        let byte = |at: usize| Some(f64::from(self.bytes[at]));
        let word = |at| self.word(at).map(f64::from);
        match name {
            "tcpi_ca_state" => byte(1),
            "tcpi_probes" => byte(3),
            "tcpi_backoff" => byte(4),
            "tcpi_options" => byte(5),
            "tcpi_snd_mss" => word(16),
            "tcpi_unacked" => word(24),
            "tcpi_sacked" => word(28),
            "tcpi_lost" => word(32),
            "tcpi_retrans" => word(36),
            "tcpi_last_data_recv" => word(52),
            "tcpi_rtt" => word(68),
            "tcpi_snd_ssthresh" => word(76),
            "tcpi_snd_cwnd" => word(80),
            "tcpi_advmss" => word(84),
            "tcpi_reordering" => word(88),
            "tcpi_min_rtt" => word(148),
            "tcpi_delivered" => word(192),
            _ => None,
        }
    }

    /// What a sender's connection shows of itself beside what every flow does: name and value.
    pub(crate) fn of_sender(&self) -> [(&'static str, f64); 8] {
        let mss = self.number(16);
        // All ones: without a limit.
        let rate = |bytes: Option<u64>| bytes.filter(|b| *b < u64::MAX).map_or(f64::NAN, |b| b as f64 * 8.0);
        [
            ("rttvar_s", self.micros(72)),
            ("rto_s", self.micros(8)),
            ("min_rtt_s", self.micros(148)),
            ("pacing_rate_bps", rate(self.long(104))),
            ("delivery_rate_bps", rate(self.long(160))),
            ("reordering_segments", self.number(88)),
            ("peer_window_segments", self.number(228) / mss),
            ("ca_state", f64::from(self.bytes[1])),
        ]
    }

    /// What a receiver's connection shows.
    pub(crate) fn of_receiver(&self) -> [(&'static str, f64); 4] {
        let mss = self.number(20);
        [
            ("receiver_rtt_s", self.micros(92)),
            ("receiver_space_segments", self.number(96) / mss),
            ("receiver_window_segments", self.number(232) / mss),
            ("receiver_out_of_order_segments", self.number(224)),
        ]
    }
}

/// Whether this kernel counts the retransmission timeouts of each connection.
pub(crate) fn counts_timeouts() -> bool {
    let socket = sys::tcp_socket(Ipv4Addr::LOCALHOST.into());
    socket.and_then(|it| TcpInfo::of(it.as_fd())).is_ok_and(|info| info.timeouts().is_some())
}

/// The counters of a namespace's TCP (`/proc/net/netstat`).
#[derive(Debug)]
pub(crate) struct TcpCounters(File);

impl TcpCounters {
    /// Sockets of the namespace that this thread is in.
    pub(crate) fn open() -> Result<Self, EmulationError> {
        let path = "/proc/thread-self/net/netstat";
        File::open(path).tried(path).map(Self)
    }

    /// Entries into fast recovery, timeouts that the kernel took for spurious, and window probes.
    pub(crate) fn read(&mut self) -> [u64; 3] {
        let mut text = String::new();
        if self.0.rewind().and_then(|()| self.0.read_to_string(&mut text)).is_err() {
            return [0; 3];
        }
        let count = |name| counter(&text, name);
        // With SACK, and without.
        let recoveries = count("TCPSackRecovery") + count("TCPRenoRecovery");
        [recoveries, count("TCPSpuriousRTOs"), count("TCPWinProbe")]
    }
}

/// A counter of the table `TcpExt`: a line of names, then one of values.
fn counter(text: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let place = names.split_ascii_whitespace().position(|known| known == name);
    place.and_then(|place| values.split_ascii_whitespace().nth(place)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    #[test]
    fn counters_are_found_by_name() {
        let text =
            "TcpExt: SyncookiesSent TCPSackRecovery TCPSpuriousRTOs\nTcpExt: 5 6 7\nIpExt: A\nIpExt: 1\n";
        assert_eq!((counter(text, "TCPSackRecovery"), counter(text, "TCPSpuriousRTOs")), (6, 7));
        assert_eq!((counter(text, "TCPRenoRecovery"), counter("", "X")), (0, 0));
    }

    /// The layout of `tcp_info` against what is known of a connection on the loopback device.
    #[test]
    fn tcp_info_is_read_where_the_kernel_puts_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[0; 100_000]).unwrap();
        receiver.read_exact(&mut vec![0; 100_000]).unwrap();
        let info = TcpInfo::of(sender.as_fd()).unwrap();
        assert!(info.is_established());
        assert!(info.cwnd() >= 10.0 && info.ssthresh().is_nan(), "{} {}", info.cwnd(), info.ssthresh());
        assert!(info.srtt_s() > 0.0 && info.srtt_s() < 0.1, "{}", info.srtt_s());
        assert!(info.data_segments_sent() >= 2 && info.retransmitted() == 0);
        assert!(info.timeouts().is_none_or(|timeouts| timeouts == 0));
        let of_sender = info.of_sender();
        assert!((0.15..1.0).contains(&of_sender[1].1), "an RTO of {} s", of_sender[1].1);
        let of_receiver = TcpInfo::of(receiver.as_fd()).unwrap().of_receiver();
        assert!(of_receiver[1].1 > 1.0 && of_receiver[3].1 == 0.0, "{of_receiver:?}");
    }
}
