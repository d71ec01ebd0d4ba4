//! System calls that the standard library does not have, safe: by rustix, and by hand where rustix has none.
//! The only place with unsafe code.
#![expect(unsafe_code, reason = "system calls")]

mod ring;
mod sockets;
mod streams;

pub(crate) use ring::PacketRing;
pub(crate) use sockets::{
    PacketAddress, Shutdown, connect, connect_again, control_socket, generic_socket, listen,
    multipath_socket, option, packet_socket, readable, receive_datagram, report_ecn, route_socket,
    send_packet, set_ecn, set_option, shut, tcp_socket,
};
pub(crate) use streams::{drain, pour};

use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets, LinkNameSpaceType};
use rustix::time::{ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::ffi::{CString, c_int, c_ulong};
use std::io;
use std::mem::MaybeUninit;
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
    nanos_of(ClockId::Monotonic)
}

/// Nanoseconds of `CLOCK_REALTIME`.
pub(crate) fn realtime_nanos() -> u64 {
    nanos_of(ClockId::Realtime)
}

/// Sleeps until this time of `CLOCK_MONOTONIC`.
pub(crate) fn sleep_until(nanos: u64) {
    while monotonic_nanos() < nanos {
        // A signal ends it early.
        let _ = rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &timespec(nanos));
    }
}

fn nanos_of(clock: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / 1_000_000_000) as _, tv_nsec: (nanos % 1_000_000_000) as _ }
}

/// A timer on `CLOCK_MONOTONIC` that a descriptor tells of.
pub(crate) fn timer() -> io::Result<OwnedFd> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    Ok(rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?)
}

/// Lets `timer` expire once, at this time of `CLOCK_MONOTONIC`; in the past: at once.
pub(crate) fn set_timer(timer: BorrowedFd<'_>, nanos: u64) -> io::Result<()> {
    // Zero would switch it off.
    let nanos = nanos.max(1);
    let value = Itimerspec { it_interval: Timespec::default(), it_value: timespec(nanos) };
    rustix::time::timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &value)?;
    Ok(())
}

/// Something that threads raise, and that `epoll` tells of.
pub(crate) fn event() -> io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)
}

/// The descriptor of this number, which the process that started this one has left to it.
pub(crate) fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed. The copy is nobody else's, whatever the number stands for.
    owned(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) })
}

/// A pipe: its end to read and its end to write.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    io::pipe().map(|(reader, writer)| (reader.into(), writer.into()))
}

/// Waits for descriptors to become readable.
#[derive(Debug)]
pub(crate) struct Poller(OwnedFd);

impl Poller {
    pub(crate) fn new(watched: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, fd) in watched.iter().enumerate() {
            epoll::add(&poller, fd, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
        }
        Ok(Self(poller))
    }

    /// Waits until one of them is readable. `ready` then has the numbers of those that are; a number that is
    /// left out comes with the next wait.
    pub(crate) fn wait(&self, ready: &mut Vec<usize>) -> io::Result<()> {
        self.gather(None, ready).map(|_| ())
    }

    /// Waits for at most `nanos`. Returns true if that time is over.
    pub(crate) fn wait_for(&self, nanos: u64, ready: &mut Vec<usize>) -> io::Result<bool> {
        self.gather(Some(&timespec(nanos)), ready).map(|count| count == Some(0))
    }

    /// Returns how many are ready; `None`: a signal came.
    fn gather(&self, timeout: Option<&Timespec>, ready: &mut Vec<usize>) -> io::Result<Option<usize>> {
        let mut events = [MaybeUninit::uninit(); 16];
        ready.clear();
        match epoll::wait(&self.0, &mut events, timeout) {
            Err(Errno::INTR) => Ok(None),
            Ok((events, _)) => {
                ready.extend(events.iter().map(|event| event.data.u64() as usize));
                Ok(Some(events.len()))
            }
            Err(error) => Err(error.into()),
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
    let Timespec { tv_sec, tv_nsec } = timespec(nanos);
    let timeout = libc::timespec { tv_sec, tv_nsec };
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
    !looked_at(pipe).contains(PollFlags::ERR)
}

/// Returns what is the matter with a descriptor. Does not wait.
fn looked_at(fd: BorrowedFd<'_>) -> PollFlags {
    let mut asked = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    match rustix::event::poll(&mut asked, Some(&Timespec::default())) {
        Ok(1..) => asked[0].revents(),
        _ => PollFlags::empty(),
    }
}

pub(crate) fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(fd, buffer)?)
}

pub(crate) fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(fd, bytes)?)
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
    Ok(rustix::thread::move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

pub(crate) fn ids() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

pub(crate) fn parent() -> i32 {
    Pid::as_raw(rustix::process::getppid())
}

/// Lets this process be killed when its parent ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Forbids every program that this process becomes to gain privileges.
pub(crate) fn gain_no_privileges() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Gives up a capability for every program that this process becomes, by its number (below 64).
pub(crate) fn drop_from_bounding(capability: u32) -> io::Result<()> {
    Ok(rustix::thread::remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << capability))?)
}

/// Gives up every capability for good, but those whose bits are in `kept`, which a program that this process
/// becomes has too.
pub(crate) fn clear_capabilities(kept: u32) -> io::Result<()> {
    let kept = CapabilitySet::from_bits_retain(kept.into());
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// Lets a capability that this process has, and may hand down, pass to a program that it becomes.
pub(crate) fn hand_down(capability: u32) -> io::Result<()> {
    let capability = CapabilitySet::from_bits_retain(1 << capability);
    Ok(rustix::thread::configure_capability_in_ambient_set(capability, true)?)
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
    Ok(rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT)?)
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
    let none = WaitOptions::empty();
    let wait = || match Pid::from_raw(child.max(0)) {
        child @ Some(_) => rustix::process::waitpid(child, none),
        _ => rustix::process::wait(none),
    };
    loop {
        match wait() {
            Err(Errno::INTR) | Ok(None) => {}
            Ok(Some((child, status))) => return Ok((child.as_raw_pid(), status.as_raw())),
            Err(error) => return Err(error.into()),
        }
    }
}

pub(crate) fn kill(process: i32) {
    if let Some(process) = Pid::from_raw(process) {
        // It may have ended: then nothing happens.
        let _ = rustix::process::kill_process(process, Signal::KILL);
    }
}

/// Ends the process at once.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Whether nobody can write any more to what `fd` reads from. Does not wait.
pub(crate) fn has_ended(fd: BorrowedFd<'_>) -> bool {
    looked_at(fd).contains(PollFlags::HUP)
}

/// Closes what a fork has copied along. The owner in this process is never dropped: it becomes another
/// program, or ends.
pub(crate) fn close_copy(fd: &OwnedFd) {
    // SAFETY: nobody in this process uses it any more.
    unsafe { libc::close(fd.as_raw_fd()) };
}

/// Reads standard input from `from` from now on.
pub(crate) fn set_standard_input(from: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(from)?)
}
