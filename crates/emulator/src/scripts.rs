//! Packet scripts against the kernel of this machine: each end in a network namespace of its own, whose TUN
//! device is the wire that the script holds in its hand.

mod calls;

use crate::clock::Clock;
use crate::device::{Device, DeviceKind, Devices, Setting};
use crate::error::{EmulationError, Tried};
use crate::namespaces::{self, Namespace};
use crate::wire::{self, Initial};
use crate::{plan, privileges, sockets, sys};
use cogtcp_headers::PacketEnds;
use cogtcp_packet_scripts::{
    Action, Call, CallError, Heard, Icmp, Moment, PlaneName, Report, Script, ScriptPacket, ScriptPlane,
    System, Tolerance, model, run,
};
use cogtcp_transport::linux_control;
use cogtcp_units::{Duration, Time};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The end under test, and the peer.
const OWN: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 2);
/// Ports of a listener, and of a peer that connects.
const PORT: u16 = 8080;
const PEER_PORT: u16 = 40_000;
/// IPv4 and TCP headers without options.
const HEADERS: u32 = 40;
/// packetdrill's own device.
const DRILL_MTU: u32 = 1500;
/// Timers of the kernel end at ticks (4 ms with HZ 250), and two may meet in one span.
const EARLY: Duration = Duration::from_millis(10);
/// How late a packet may be: more than a busy machine makes it.
const LATE: Duration = Duration::from_millis(1500);
/// Latest a runner may be. A later runner may have caused what it then saw: a timer of the end may be as
/// short as a quarter of a round-trip time.
const IN_TIME: Duration = Duration::from_millis(5);
/// How long it sleeps at most, so that it knows whether it was kept from looking.
const NAP: Duration = Duration::from_millis(5);
/// How often a script is played that differs where the runner was late.
const TRIES: usize = 3;

/// The outcome of a script on the kernel.
#[derive(Clone, Debug)]
pub struct Played {
    /// What it did.
    pub report: Report,
    /// Whether that is evidence: what it did is what the script says, or the runner was in time.
    pub is_evidence: bool,
}

/// Plays scripts, all at once, on devices of this kind. It takes the process for itself, as
/// [`emulate`](crate::emulate) does. One that the kernel cannot play (it lacks its transport, say) keeps no
/// other from being played.
///
/// # Errors
///
/// The kernel plane is not there.
pub fn play_scripts(
    scripts: &[Script],
    kind: DeviceKind,
    parent: i32,
) -> Result<Vec<Result<Played, EmulationError>>, EmulationError> {
    privileges::ask_for_real_time();
    namespaces::enter_user_namespace()?;
    let mut stages = Vec::new();
    for script in scripts {
        let stage = |_| Stage::new(script, kind);
        // All tries at once: without privileges there are no new namespaces.
        match (0..TRIES).map(stage).collect::<Result<Vec<_>, _>>() {
            Err(error) if error.lacks_plane() => return Err(error),
            made => stages.push((script, made)),
        }
    }
    privileges::drop_all()?;
    privileges::end_with(parent)?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = stages
            .into_iter()
            .map(|(script, stages)| stages.map(|stages| scope.spawn(move || play(script, stages))))
            .collect();
        let defect = || io::Error::other("a thread panicked; please report it");
        let joined = threads.into_iter().map(|thread| {
            let played = thread?.join().ok().flatten();
            played.ok_or_else(defect).tried("packet scripts")
        });
        Ok(joined.collect())
    })
}

/// Plays a script up to a try that is evidence; `None`: there are no stages.
fn play(script: &Script, stages: Vec<Stage>) -> Option<Played> {
    let mut last = None;
    for stage in stages {
        // Another script has a tolerance of its own.
        let early = if script.is_exact { EARLY } else { Duration::ZERO };
        let mut plane = KernelPlane::new(stage, script.is_exact);
        let report = run(script, &mut plane, Tolerance { early, late: LATE });
        let is_evidence = report.mismatch.is_none() || report.lateness <= IN_TIME;
        last = Some(Played { report, is_evidence });
        if is_evidence {
            break;
        }
    }
    last
}

/// What needs privileges: a namespace with its settings and device, and a socket in it.
#[derive(Debug)]
struct Stage {
    device: Device,
    socket: Socket,
    /// Keeps the namespace when the connection's own socket is closed.
    _anchor: OwnedFd,
}

#[derive(Debug)]
enum Socket {
    /// Not connected yet.
    Client(OwnedFd),
    /// Not listening yet for anybody: nothing comes before the script says so.
    Server(TcpListener),
}

impl Stage {
    fn new(script: &Script, kind: DeviceKind) -> Result<Self, EmulationError> {
        // It lasts as long as the device and the socket do.
        let namespace = Namespace::make()?;
        let fixed = [
            ("ipv4.tcp_no_metrics_save", "1"),
            ("ipv6.conf.all.disable_ipv6", "1"),
            ("ipv6.conf.default.disable_ipv6", "1"),
            // The first timeouts of a SYN are not backed off otherwise (Linux 6.5).
            ("ipv4.tcp_syn_linear_timeouts", "0"),
        ];
        for (name, value) in fixed {
            // Older kernels lack some.
            let _ = namespaces::set_sysctl(name, value);
        }
        for (name, value) in plan::settings_of(&script.flow.sender) {
            let _ = namespaces::set_sysctl(name, &value);
        }
        for (name, value) in &script.kernel {
            match namespaces::set_sysctl(name, value) {
                // Suites are for kernels of many years, and name settings that some do not have.
                Err(error) if !script.is_exact && error.kind() == io::ErrorKind::NotFound => {}
                outcome => outcome.tried(format!("{}: net.{name} cannot be set to {value}", script.file))?,
            }
        }
        let config = &script.flow.sender;
        // The peer's full segments have their timestamps beside the MSS: a device other than TUN takes
        // nothing above its MTU.
        let room = if script.is_exact { plan::timestamps(config) } else { 0 };
        let mtu = if script.is_exact { config.handshake.mss + HEADERS + room } else { DRILL_MTU };
        let device = Devices::new(kind).make(0, &namespace, Setting { address: OWN, address6: None, mtu })?;
        let is_client = script
            .steps
            .iter()
            .any(|step| matches!(step.action, Action::System(System { call: Call::Connect, .. })));
        let Some(congestion) = linux_control(&script.flow.control.name) else {
            let what = format!("{}: the kernel has no transport \"{}\"", script.file, script.transport);
            return Err(EmulationError::Scenario { what, known: plan::CONTROLS });
        };
        let control = |fd: std::os::fd::BorrowedFd<'_>| {
            if room > 0 {
                // The room is not for larger segments of its own.
                set_flag(&fd, libc::TCP_MAXSEG, config.handshake.mss as i32)
                    .tried(format!("{}: TCP_MAXSEG", script.file))?;
            }
            sockets::choose_control(fd, congestion)
        };
        let socket = if is_client {
            let socket = sys::tcp_socket(OWN.into()).tried("a socket")?;
            control(socket.as_fd())?;
            if script.is_exact {
                set_flag(&socket, libc::TCP_NODELAY, 1).tried("TCP_NODELAY")?;
            }
            Socket::Client(socket)
        } else {
            let listener = TcpListener::bind((OWN, PORT)).tried("a socket cannot listen")?;
            listener.set_nonblocking(true).tried("a socket cannot be set not to block")?;
            control(listener.as_fd())?;
            Socket::Server(listener)
        };
        let anchor = sys::tcp_socket(OWN.into()).tried("a socket")?;
        Ok(Self { device, socket, _anchor: anchor })
    }

    /// Closes the socket of an end that connects, and puts one in its place that does nothing.
    fn close_client(&mut self) {
        if let (Socket::Client(socket), Ok(idle)) = (&mut self.socket, self._anchor.try_clone()) {
            *socket = idle;
        }
    }
}

fn set_flag(socket: &impl AsFd, option: i32, value: i32) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::IPPROTO_TCP, option, &value.to_ne_bytes())
}

/// The end under test: a socket, and the wire that it is at.
#[derive(Debug)]
struct KernelPlane {
    stage: Stage,
    /// What was accepted; a client's own socket is its connection.
    accepted: Option<OwnedFd>,
    is_closed: bool,
    is_exact: bool,
    clock: Clock,
    initial: Initial,
    /// The end's port, once it has sent.
    port: u16,
    /// When the device was last seen empty, or something was done that may have filled it.
    empty_at: Time,
    /// When it was last looked at, and how much later than meant, at most.
    looked_at: Time,
    kept_off: Duration,
    buffer: Vec<u8>,
}

impl KernelPlane {
    fn new(stage: Stage, is_exact: bool) -> Self {
        Self {
            stage,
            accepted: None,
            is_closed: false,
            is_exact,
            clock: Clock::start(),
            initial: Initial { own: 0, peer: model::PEER_INITIAL },
            port: PORT,
            empty_at: Time::ZERO,
            looked_at: Time::ZERO,
            kept_off: Duration::ZERO,
            buffer: vec![0; 1 << 16],
        }
    }

    /// The next packet of the connection that lies in the device.
    fn receive(&mut self) -> io::Result<Option<ScriptPacket>> {
        while let Some(size) = self.stage.device.wire.receive(&mut self.buffer)? {
            let bytes = &self.buffer[..size];
            let Some((packet, [from, _])) = wire::read(bytes, self.initial) else { continue };
            if packet.flags & 2 == 0 {
                return Ok(Some(packet));
            }
            // The SYN says where its numbers begin.
            self.initial.own = wire::sequence(bytes).unwrap_or(0);
            self.port = from;
            return Ok(wire::read(bytes, self.initial).map(|(packet, ..)| packet));
        }
        Ok(None)
    }

    fn connection(&self) -> Result<&OwnedFd, String> {
        match (&self.stage.socket, &self.accepted) {
            (_, Some(socket)) | (Socket::Client(socket), None) if !self.is_closed => Ok(socket),
            _ => Err("no connection, or it is closed".to_owned()),
        }
    }
}

impl ScriptPlane for KernelPlane {
    fn name(&self) -> PlaneName {
        PlaneName::Kernel
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, until: Time) -> Result<Option<Heard>, String> {
        let failed = |error: io::Error| format!("the device: {error}");
        loop {
            let looked_at = self.clock.now();
            self.kept_off = self.kept_off.max(looked_at.saturating_since(self.looked_at + NAP));
            self.looked_at = looked_at;
            if let Some(packet) = self.receive().map_err(failed)? {
                // It came between the last look at an empty device and now.
                let at = Moment { earliest: self.empty_at, latest: self.clock.now() };
                return Ok(Some(Heard { at, packet }));
            }
            self.empty_at = looked_at;
            if looked_at >= until {
                return Ok(None);
            }
            let left = until.saturating_since(looked_at).min(NAP);
            sys::poll(&[(self.stage.device.wire.as_fd().as_raw_fd(), false)], left.as_nanos())
                .map_err(failed)?;
        }
    }

    fn call(&mut self, call: Call) -> Result<u64, CallError> {
        self.make(call).map_err(|error| calls::failed(&error))
    }

    fn inject(&mut self, packet: &ScriptPacket) -> Result<(), String> {
        let port = if matches!(self.stage.socket, Socket::Client(_)) { PORT } else { PEER_PORT };
        let ends = PacketEnds { from: (PEER, port).into(), to: (OWN, self.port).into() };
        let bytes = wire::write(packet, self.initial, ends);
        self.stage.device.wire.send(&bytes).map_err(|error| format!("the device: {error}"))
    }

    fn inject_icmp(&mut self, icmp: &Icmp) -> Result<(), String> {
        let port = if matches!(self.stage.socket, Socket::Client(_)) { PORT } else { PEER_PORT };
        let ends = PacketEnds { from: (OWN, self.port).into(), to: (PEER, port).into() };
        let bytes = wire::write_icmp(icmp, self.initial, ends).ok_or("ICMP is for IPv4")?;
        self.stage.device.wire.send(&bytes).map_err(|error| format!("the device: {error}"))
    }

    fn field(&mut self, name: &str) -> Result<f64, String> {
        let info = sockets::TcpInfo::of(self.connection()?.as_fd()).map_err(|error| error.to_string())?;
        info.field(name).ok_or_else(|| format!("this kernel has no {name}"))
    }

    fn lateness(&self) -> Duration {
        self.kept_off
    }
}
