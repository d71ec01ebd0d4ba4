//! The system calls that the standard library does not have, each made safe. The only place with unsafe code.
#![expect(unsafe_code, reason = "system calls")]

mod ring;
mod sockets;
mod streams;

pub(crate) use ring::PacketRing;
pub(crate) use sockets::{
    PacketAddress, connect, connect_again, control_socket, generic_socket, listen, multipath_socket, option,
    packet_socket, readable, receive_datagram, report_ecn, route_socket, send_packet, set_ecn, set_option,
    shut, tcp_socket,
};
pub(crate) use streams::{drain, pour};

use std::ffi::{CString, c_int, c_ulong};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn owned(result: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the caller hands over the result of a call that makes a descriptor, which nobody else has.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_nanos() -> u64 {
    nanos_of(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of `CLOCK_REALTIME`.
pub(crate) fn realtime_nanos() -> u64 {
    nanos_of(libc::CLOCK_REALTIME)
}

fn nanos_of(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A timer on `CLOCK_MONOTONIC` that a descriptor tells of.
pub(crate) fn timer() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })
}

/// Lets `timer` expire once, at this time of `CLOCK_MONOTONIC`; in the past: at once.
pub(crate) fn set_timer(timer: BorrowedFd<'_>, nanos: u64) -> io::Result<()> {
    // Zero would switch it off.
    let nanos = nanos.max(1);
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let at = libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    let value = libc::itimerspec { it_interval: none, it_value: at };
    // SAFETY: `value` is an itimerspec, and no old value is asked for.
    check(unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &value, std::ptr::null_mut())
    })?;
    Ok(())
}

/// Something that threads raise, and that `epoll` tells of.
pub(crate) fn event() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    owned(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) })
}

/// The descriptor of this number, which the process that started this one has left to it.
pub(crate) fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed. The copy is nobody else's, whatever the number stands for.
    owned(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) })
}

/// A pipe: its end to read and its end to write.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((owned(ends[0])?, owned(ends[1])?))
}

/// Waits for descriptors to become readable.
#[derive(Debug)]
pub(crate) struct Poller(OwnedFd);

impl Poller {
    pub(crate) fn new(watched: &[BorrowedFd<'_>]) -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let poller = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        for (number, fd) in watched.iter().enumerate() {
            let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number as u64 };
            // SAFETY: `event` is an epoll_event, which the kernel copies.
            check(unsafe {
                libc::epoll_ctl(poller.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &mut event)
            })?;
        }
        Ok(Self(poller))
    }

    /// Waits until one of them is readable. `ready` then has the numbers of those that are; a number that is
    /// left out comes with the next wait.
    pub(crate) fn wait(&self, ready: &mut Vec<usize>) -> io::Result<()> {
        let wait = |events: &mut [libc::epoll_event]| {
            // SAFETY: `events` has room for so many.
            unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), events.len() as c_int, -1) }
        };
        Self::gather(wait, ready).map(|_| ())
    }

    /// The same, for at most `nanos`. Returns whether that time is over.
    pub(crate) fn wait_for(&self, nanos: u64, ready: &mut Vec<usize>) -> io::Result<bool> {
        let timeout = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        let wait = |events: &mut [libc::epoll_event]| {
            let (poller, most) = (self.0.as_raw_fd(), events.len() as c_int);
            let (events, timeout) = (events.as_mut_ptr(), &raw const timeout);
            // SAFETY: `events` has room for so many, and no signal mask is given. No wrapper: glibc has one
            // from 2.35 on.
            unsafe {
                libc::syscall(libc::SYS_epoll_pwait2, poller, events, most, timeout, 0_usize, 0_usize)
                    as c_int
            }
        };
        Self::gather(wait, ready).map(|count| count == Some(0))
    }

    /// Returns how many are ready; `None`: a signal came.
    fn gather(
        wait: impl FnOnce(&mut [libc::epoll_event]) -> c_int,
        ready: &mut Vec<usize>,
    ) -> io::Result<Option<usize>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        ready.clear();
        match check(wait(&mut events)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Ok(count) => {
                ready.extend(events[..count as usize].iter().map(|event| event.u64 as usize));
                Ok(Some(count as usize))
            }
            Err(error) => Err(error),
        }
    }
}

/// Waits for at most `nanos` until one of `sockets` is readable (or writable, where the flag is set) or
/// broken. Returns those that are.
pub(crate) fn poll(sockets: &[(RawFd, bool)], nanos: u64) -> io::Result<Vec<RawFd>> {
    let mut waiting: Vec<libc::pollfd> = sockets
        .iter()
        .map(|(fd, write)| libc::pollfd {
            fd: *fd,
            events: if *write { libc::POLLOUT } else { libc::POLLIN },
            revents: 0,
        })
        .collect();
    let timeout = libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `waiting` is an array of this many pollfd; no signal mask is given.
    let result = unsafe {
        libc::ppoll(waiting.as_mut_ptr(), waiting.len() as libc::nfds_t, &timeout, std::ptr::null())
    };
    match check(result) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(_) => Ok(waiting.iter().filter(|asked| asked.revents != 0).map(|asked| asked.fd).collect()),
    }
}

/// Whether somebody may still read what is written into a pipe.
pub(crate) fn has_reader(pipe: BorrowedFd<'_>) -> bool {
    let mut asked = libc::pollfd { fd: pipe.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one pollfd; it does not wait.
    let result = unsafe { libc::poll(&raw mut asked, 1, 0) };
    result == 0 || asked.revents & libc::POLLERR == 0
}

pub(crate) fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buffer` has this length.
    let got = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

pub(crate) fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: `bytes` has this length.
    let put = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(put).map_err(|_| io::Error::last_os_error())
}

/// A request about a network interface (netdevice(7)).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    value: [u8; 24],
}

impl InterfaceRequest {
    pub(crate) fn new(interface: &str) -> Self {
        let mut name = [0; libc::IFNAMSIZ];
        let bytes = interface.as_bytes();
        name[..bytes.len()].copy_from_slice(bytes);
        Self { name, value: [0; 24] }
    }

    pub(crate) fn with_short(mut self, value: i16) -> Self {
        self.value[..2].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn with_int(mut self, value: i32) -> Self {
        self.value[..4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn with_address(mut self, address: Ipv4Addr) -> Self {
        self.value[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        self.value[4..8].copy_from_slice(&address.octets());
        self
    }

    /// Sets a number that the driver of the interface keeps (`ethtool`, a command of linux/ethtool.h).
    pub(crate) fn set_of_driver(mut self, fd: BorrowedFd<'_>, command: u32, value: u32) -> io::Result<()> {
        let mut data = [command, value];
        self.value[..size_of::<usize>()].copy_from_slice(&(data.as_mut_ptr() as usize).to_ne_bytes());
        // SAFETY: as in `make`; the pointer in it is to a command and its number, which outlive the call.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut self) })?;
        Ok(())
    }

    /// Makes the request, and returns the number that it is answered with.
    pub(crate) fn ask(mut self, fd: BorrowedFd<'_>, request: c_ulong) -> io::Result<i32> {
        // SAFETY: as in `make`.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, &raw mut self) })?;
        Ok(i32::from_ne_bytes([self.value[0], self.value[1], self.value[2], self.value[3]]))
    }

    /// Makes the request.
    pub(crate) fn make(mut self, fd: BorrowedFd<'_>, request: c_ulong) -> io::Result<()> {
        // SAFETY: the request is of those that take an ifreq, which has this size and layout.
        check(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, &raw mut self) })?;
        Ok(())
    }
}

/// Leaves namespaces for new ones of its own.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: no memory is passed. What it does to threads does not matter: there is one (`emulate`).
    check(unsafe { libc::unshare(flags) })?;
    Ok(())
}

/// Moves this thread into a network namespace.
pub(crate) fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

pub(crate) fn ids() -> (u32, u32) {
    // SAFETY: these cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

pub(crate) fn parent() -> i32 {
    // SAFETY: this cannot fail.
    unsafe { libc::getppid() }
}

/// `prctl` with numbers.
pub(crate) fn process_control(option: c_int, value: c_ulong) -> io::Result<c_int> {
    // SAFETY: only options are given that take numbers.
    check(unsafe { libc::prctl(option, value, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) })
}

/// Gives up every capability for good, but those whose bits are in `kept`, which a program that this process
/// becomes has too.
pub(crate) fn clear_capabilities(kept: u32) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    // Two sets of effective, permitted, inheritable.
    let data = [kept, kept, kept, 0, 0, 0];
    // SAFETY: header and data have the layout of this version (capget(2)).
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    check(result as c_int)?;
    Ok(())
}

/// Lets a capability that this process has, and may hand down, pass to a program that it becomes.
pub(crate) fn hand_down(capability: u32) -> io::Result<()> {
    let (raise, capability) = (libc::PR_CAP_AMBIENT_RAISE as c_ulong, c_ulong::from(capability));
    // SAFETY: this option takes numbers.
    check(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, capability, 0 as c_ulong, 0 as c_ulong) })?;
    Ok(())
}

/// Sets how this thread is scheduled: by real time at `priority`, before all others that are not; 0: as
/// usual.
pub(crate) fn schedule(priority: c_int) -> io::Result<()> {
    let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    // SAFETY: zero is a value of every field.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: `parameters` is a sched_param.
    check(unsafe { libc::sched_setscheduler(0, policy, &parameters) })?;
    Ok(())
}

/// Keeps the memory that the process has where it is. Not what it gets: once privileges are dropped there is
/// a limit, and a thread whose stack is over it cannot be made.
pub(crate) fn lock_memory() -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::mlockall(libc::MCL_CURRENT) })?;
    Ok(())
}

/// The two sides of a fork.
pub(crate) enum Fork {
    Parent(i32),
    Child,
}

/// Copies the process. Only to be called as long as there is one thread.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: with one thread the child may do whatever the parent may.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent(child)),
    }
}

/// Sets a variable of the environment. Only to be called as long as there is one thread.
pub(crate) fn set_variable(name: &str, value: &str) {
    // SAFETY: no other thread reads the environment: there is none.
    unsafe { std::env::set_var(name, value) };
}

/// Copies the process into a process namespace of its own; the copy is its first process. Only to be
/// called as long as there is one thread. (`unshare` would keep us from making threads.)
pub(crate) fn fork_apart() -> io::Result<Fork> {
    let flags = (libc::CLONE_NEWPID | libc::SIGCHLD) as libc::c_long;
    let nothing: libc::c_long = 0;
    // SAFETY: without a stack and without shared memory this is a fork, see there.
    match check(unsafe { libc::syscall(libc::SYS_clone, flags, nothing, nothing, nothing, nothing) } as c_int)?
    {
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent(child)),
    }
}

/// Becomes another program; returns why it cannot.
pub(crate) fn execute(program: &[CString]) -> io::Error {
    let mut pointers: Vec<_> = program.iter().map(|part| part.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: the list of pointers to C strings ends with null.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Sets what a signal does to its default, or to nothing.
pub(crate) fn handle_signal(signal: c_int, ignore: bool) {
    // SAFETY: neither of the two runs code of ours.
    unsafe { libc::signal(signal, if ignore { libc::SIG_IGN } else { libc::SIG_DFL }) };
}

/// The result of a call that does not block; `None`: nothing now.
pub(crate) fn ready<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

/// Waits for a child, any with -1. Returns which, and its status.
pub(crate) fn wait(child: i32) -> io::Result<(i32, c_int)> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is an int.
        match check(unsafe { libc::waitpid(child, &mut status, 0) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map(|child| (child, status)),
        }
    }
}

pub(crate) fn kill(process: i32) {
    // SAFETY: no memory is passed. It may have ended: then nothing happens.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Ends the process at once.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Whether nobody can write any more to what `fd` reads from. Does not wait.
pub(crate) fn has_ended(fd: BorrowedFd<'_>) -> bool {
    let mut asked = libc::pollfd { fd: fd.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: `asked` is one pollfd.
    unsafe { libc::poll(&mut asked, 1, 0) > 0 && asked.revents & libc::POLLHUP != 0 }
}

/// Closes what a fork has copied along. The owner in this process is never dropped: it becomes another
/// program, or ends.
pub(crate) fn close_copy(fd: &OwnedFd) {
    // SAFETY: nobody in this process uses it any more.
    unsafe { libc::close(fd.as_raw_fd()) };
}

/// Makes `from` the descriptor `to`.
pub(crate) fn duplicate(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::dup2(from, to) })?;
    Ok(())
}
