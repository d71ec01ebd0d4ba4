//! Calls in packetdrill's language: `NAME(ARGUMENTS) = RESULT`.

use super::Fault;
use crate::script::{Call, Errno, Returns, Side, SocketOption};

/// Calls that are out of scope: programming interfaces beside what TCP sends.
const BEYOND: [(&str, &str); 22] = [
    ("accept4", "accept4"),
    ("cap_set", "capabilities"),
    ("epoll_create", "epoll"),
    ("epoll_ctl", "epoll"),
    ("epoll_wait", "epoll"),
    ("poll", "poll"),
    ("select", "select"),
    ("splice", "splice"),
    ("pipe", "splice"),
    ("open", "files"),
    ("sendfile", "sendfile"),
    ("mmap", "mmap"),
    ("munmap", "mmap"),
    ("readv", "readv and writev"),
    ("writev", "readv and writev"),
    ("sendmsg", "sendmsg and recvmsg"),
    ("recvmsg", "sendmsg and recvmsg"),
    ("sendmmsg", "sendmsg and recvmsg"),
    ("recvfrom", "recvfrom"),
    ("getsockname", "getsockname"),
    ("io_uring", "io_uring"),
    ("perf_event_open", "perf"),
];
/// Flags of `send` that are out of scope.
const FLAGS: [(&str, &str); 5] = [
    ("MSG_FASTOPEN", "Fast Open (RFC 7413)"),
    ("MSG_ZEROCOPY", "zero copy (MSG_ZEROCOPY)"),
    ("MSG_MORE", "data held back by the application (MSG_MORE, TCP_CORK)"),
    ("MSG_EOR", "ends of records (MSG_EOR)"),
    ("MSG_OOB", "urgent data"),
];
/// Options that change nothing that a plane shows.
const WITHOUT_EFFECT: [&str; 5] =
    ["SO_REUSEADDR", "SO_REUSEPORT", "IP_MTU_DISCOVER", "IP_TOS", "SO_PRIORITY"];
/// Options that are out of scope.
const OPTIONS: [(&str, &str); 13] = [
    ("TCP_FASTOPEN", "Fast Open (RFC 7413)"),
    ("TCP_MD5SIG", "MD5 signatures (RFC 2385)"),
    ("TCP_CORK", "data held back by the application (MSG_MORE, TCP_CORK)"),
    ("SO_ZEROCOPY", "zero copy (MSG_ZEROCOPY)"),
    ("TCP_ZEROCOPY", "zero copy (TCP_ZEROCOPY_RECEIVE)"),
    ("SO_TIMESTAMPING", "time stamps for the application (SO_TIMESTAMPING)"),
    ("TCP_INQ", "TCP_INQ"),
    ("TCP_NOTSENT_LOWAT", "TCP_NOTSENT_LOWAT"),
    ("SO_MAX_PACING_RATE", "pacing by the queueing discipline"),
    ("SO_TXTIME", "pacing by the queueing discipline"),
    ("TCP_REPAIR", "TCP_REPAIR"),
    ("TCP_ULP", "TCP_ULP"),
    ("SO_LINGER", "SO_LINGER"),
];

/// The sockets of a script: one that listens and the connection.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    listener: Option<i64>,
    pub(super) connection: Option<i64>,
    without_blocking: Vec<i64>,
}

/// A call that a plane makes.
pub(super) struct Made {
    pub(super) call: Call,
    pub(super) returns: Returns,
    pub(super) blocks: bool,
}

impl Sockets {
    /// Reads a call; `None`: no plane does anything.
    pub(super) fn read(&mut self, text: &str) -> Result<Option<Made>, Fault> {
        let malformed = || Fault::wrong(format!("\"{text}\" is not a call; write NAME(ARGUMENTS) = RESULT"));
        let (name, rest) = text.split_once('(').ok_or_else(malformed)?;
        let name = name.trim();
        // Before the call itself is read: a flag that no plane has makes any call out of scope.
        if let Some(beyond) = arguments_beyond(rest) {
            return Err(Fault::beyond(beyond));
        }
        if let Some((_, beyond)) = BEYOND.iter().find(|(each, _)| *each == name) {
            return Err(Fault::beyond(*beyond));
        }
        // From the right: arguments may hold brackets of their own, as in `{sa_family = AF_INET, ...}`.
        let (inside, result) =
            rest.rsplit_once(") =").or_else(|| rest.rsplit_once(")=")).ok_or_else(malformed)?;
        let inside = inside.trim_end();
        let arguments = split(inside);
        let returns = returns(result.trim())?;
        let descriptor = || arguments[0].parse::<i64>().map_err(|_| malformed());
        let number = |at: usize| {
            let text = arguments.get(at).map(|text| text.trim_matches(['[', ']', ' '])).unwrap_or_default();
            text.parse::<i64>()
                .map_err(|_| Fault::wrong(format!("\"{text}\" is not a number, in \"{name}\"")))
        };
        // A negative length has no meaning on a plane; the kernel fails such a call before TCP sees it.
        let bytes = |at| number(at).map(|bytes| bytes.max(0) as u64);
        let call = match name {
            "socket" => {
                if !inside.contains("SOCK_STREAM") || inside.contains("MPTCP") {
                    return Err(Fault::beyond("sockets other than TCP's"));
                }
                if inside.contains("SOCK_NONBLOCK")
                    // The result is the descriptor that later calls name.
                    && let Returns::Number(made) = returns
                {
                    self.without_blocking.push(made as i64);
                }
                // A plane makes its socket when the script connects or listens.
                return Ok(None);
            }
            "bind" => return Ok(None),
            "listen" => {
                if self.listener.replace(descriptor()?).is_some() {
                    return Err(Fault::beyond("two sockets that listen"));
                }
                Call::Listen
            }
            "connect" => {
                self.connect(descriptor()?)?;
                Call::Connect
            }
            "accept" => {
                if let Returns::Number(made) = returns {
                    // From here on the connection has this descriptor, no longer the listener's.
                    self.connect(made as i64)?;
                }
                Call::Accept
            }
            "write" | "send" | "sendto" => Call::Write(bytes(2)?),
            "read" | "recv" => Call::Read(bytes(2)?),
            "close" => {
                if self.connection != Some(descriptor()?) {
                    // What listened needs nothing: nobody else comes.
                    return Ok(None);
                }
                Call::Close
            }
            "shutdown" => Call::ShutDown(match arguments.get(1).map(String::as_str) {
                Some("SHUT_RD") => Side::Read,
                Some("SHUT_WR") => Side::Write,
                Some("SHUT_RDWR") => Side::Both,
                _ => return Err(malformed()),
            }),
            "fcntl" => {
                if inside.contains("F_SETFL") {
                    let fd = descriptor()?;
                    // F_SETFL sets all flags: without O_NONBLOCK the socket blocks again.
                    self.without_blocking.retain(|each| *each != fd);
                    if inside.contains("O_NONBLOCK") {
                        self.without_blocking.push(fd);
                    }
                }
                return Ok(None);
            }
            "ioctl" if inside.contains("SIOCINQ") => {
                let wanted = Returns::Number(bytes(2)?);
                return Ok(Some(Made { call: Call::Readable, returns: wanted, blocks: false }));
            }
            "setsockopt" | "getsockopt" => {
                let option = arguments.get(2).map(String::as_str).unwrap_or_default();
                if WITHOUT_EFFECT.contains(&option) {
                    return Ok(None);
                }
                let option = self::option(option)?;
                if name == "setsockopt" {
                    Call::SetOption(option, number(3)? as i32)
                } else {
                    let wanted = Returns::Number(bytes(3)?);
                    return Ok(Some(Made { call: Call::GetOption(option), returns: wanted, blocks: false }));
                }
            }
            _ => return Err(Fault::beyond(format!("the call \"{name}\""))),
        };
        let fd = descriptor()?;
        // Other calls return a descriptor or zero, which says nothing of TCP.
        let returns = match (call, returns) {
            (Call::Write(_) | Call::Read(_) | Call::Readable, _) | (_, Returns::Error(_)) => returns,
            _ => Returns::Done,
        };
        Ok(Some(Made { call, returns, blocks: !self.without_blocking.contains(&fd) }))
    }

    fn connect(&mut self, fd: i64) -> Result<(), Fault> {
        match self.connection.replace(fd) {
            Some(before) if before != fd => Err(Fault::beyond("more than one connection")),
            _ => Ok(()),
        }
    }
}

/// Of the arguments of any call, what is out of scope.
fn arguments_beyond(arguments: &str) -> Option<&'static str> {
    let all = FLAGS.iter().chain(&OPTIONS);
    all.into_iter().find(|(word, _)| arguments.contains(word)).map(|(_, name)| *name)
}

fn option(name: &str) -> Result<SocketOption, Fault> {
    Ok(match name {
        "TCP_MAXSEG" => SocketOption::MaxSegment,
        "TCP_NODELAY" => SocketOption::NoDelay,
        "TCP_QUICKACK" => SocketOption::QuickAck,
        "TCP_USER_TIMEOUT" => SocketOption::UserTimeout,
        "SO_SNDBUF" => SocketOption::SendBuffer,
        "SO_RCVBUF" => SocketOption::ReceiveBuffer,
        "SO_ERROR" => SocketOption::Error,
        _ => return Err(Fault::beyond(format!("the socket option {name}"))),
    })
}

fn returns(text: &str) -> Result<Returns, Fault> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    if first == "-1" {
        let name = words.next().unwrap_or_default();
        // Linux has one number for both names.
        let name = if name == "EWOULDBLOCK" { "EAGAIN" } else { name };
        let known = Errno::ALL.iter().find(|(each, ..)| *each == name);
        return known
            .map(|(_, errno, _)| Returns::Error(*errno))
            .ok_or_else(|| Fault::beyond(format!("the error {name}")));
    }
    if first == "..." {
        return Ok(Returns::Done);
    }
    let number = match first.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => first.parse().ok(),
    };
    number.map(Returns::Number).ok_or_else(|| Fault::wrong(format!("\"{text}\" is not a result of a call")))
}

/// The arguments, by the commas that stand in no brackets.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read() {
        let mut sockets = Sockets::default();
        let mut read = |text| sockets.read(text).unwrap().map(|made| (made.call, made.returns, made.blocks));
        assert_eq!(read("socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"), None);
        assert_eq!(read("setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0"), None);
        assert_eq!(read("listen(3, 1) = 0"), Some((Call::Listen, Returns::Done, true)));
        assert_eq!(read("accept(3, ..., ...) = 4"), Some((Call::Accept, Returns::Done, true)));
        assert_eq!(read("fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0"), None);
        assert_eq!(
            read("write(4, ..., 1000) = -1 EPIPE (Broken pipe)"),
            Some((Call::Write(1000), Returns::Error(Errno::BrokenPipe), false))
        );
        assert_eq!(read("read(4, ..., 50) = 5"), Some((Call::Read(50), Returns::Number(5), false)));
        assert_eq!(
            read("setsockopt(4, SOL_TCP, TCP_MAXSEG, [1100], 4) = 0"),
            Some((Call::SetOption(SocketOption::MaxSegment, 1100), Returns::Done, false))
        );
        assert_eq!(
            read("getsockopt(4, SOL_TCP, TCP_MAXSEG, [1100], [4]) = 0"),
            Some((Call::GetOption(SocketOption::MaxSegment), Returns::Number(1100), false))
        );
        assert_eq!(read("ioctl(4, SIOCINQ, [10]) = 0"), Some((Call::Readable, Returns::Number(10), false)));
        assert_eq!(
            read("shutdown(4, SHUT_RDWR) = 0"),
            Some((Call::ShutDown(Side::Both), Returns::Done, false))
        );
        assert_eq!(read("close(3) = 0"), None);
        assert_eq!(read("close(4) = 0"), Some((Call::Close, Returns::Done, false)));
    }

    #[test]
    fn what_is_out_of_scope_is_named() {
        for (text, says) in [
            ("sendto(3, ..., 10, MSG_FASTOPEN, ..., ...) = 10", "Fast Open"),
            ("send(4, ..., 4000, MSG_ZEROCOPY) = 4000", "zero copy"),
            ("send(4, ..., 40, MSG_MORE) = 40", "MSG_MORE"),
            ("setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "TCP_CORK"),
            ("setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [1], 4) = 0", "TCP_NOTSENT_LOWAT"),
            ("epoll_create(1) = 5", "epoll"),
            ("splice(4, NULL, 6, NULL, 64, 0) = 5", "splice"),
            ("dance(4) = 0", "the call \"dance\""),
            ("write(4, ..., 1) = -1 EFAULT (Bad address)", "EFAULT"),
        ] {
            let fault = Sockets::default().read(text).err().unwrap();
            assert!(fault.is_out_of_scope && fault.message.contains(says), "{text}: {}", fault.message);
        }
        let fault = Sockets::default().read("write(4, ..., x) = 1").err().unwrap();
        assert!(!fault.is_out_of_scope && fault.message.contains("not a number"));
    }
}
