//! One emulation from beginning to end.

use crate::announcer::Announcer;
use crate::clock::{Clock, Watch};
use crate::command::{Program, Programs};
use crate::controls::{self, Controls};
use crate::device::{self, Device, DeviceKind, Devices, Setting, Wire};
use crate::endings::Endings;
use crate::engine::{self, Account, Engine};
use crate::error::{EmulationError, Tried};
use crate::event::RecordedEvent;
use crate::flows::{self, Played, Prepared, Role, datagrams};
use crate::journal::Journal;
use crate::lateness::{Timing, measure_floor};
use crate::namespaces::{self, Namespace};
use crate::network::EmulatedNetwork;
use crate::observer::{FlowWatch, Observer};
use crate::orphans::Orphans;
use crate::packet;
use crate::plan::Plan;
use crate::report::Outcome;
use crate::sockets::{self, Maker, TcpCounters};
use crate::states::States;
use crate::train::Train;
use crate::udp::{self, Sending, UdpWatch};
use crate::{privileges, sys};
use cogtcp_records::extensions::{EmulationBuilder, EmulationRow};
use cogtcp_records::{Histogram, Run, Table, jain_fairness};
use cogtcp_scenario::{Protocol, UdpSpec};
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a program may run where nobody says: longer than any timer of the link.
const UNLIMITED: Duration = Duration::from_secs(365 * 86_400);

/// How to emulate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of the link's and the radio's random draws, in place of the scenario's.
    pub seed: Option<u64>,
    /// How long, in place of the scenario's duration. Without it a program runs until it ends.
    pub duration: Option<Duration>,
    /// A program to run in place of the scenario's flows, at the first node of the link or, if there are
    /// several, of the first flow; empty: none.
    pub command: Vec<OsString>,
    /// A program to run at the other node meanwhile; empty: none.
    pub peer: Vec<OsString>,
    /// Where to record every packet.
    pub journal: Option<PathBuf>,
    /// Whether that has the bytes of packets too.
    pub captures: bool,
    /// Which devices the nodes have.
    pub device: DeviceKind,
    /// A descriptor that does not block, left to this process, from which the states of controls come: lines
    /// of `cogtcp-c2 watch`.
    pub states: Option<i32>,
    /// Likewise a descriptor to which goes what radios do: lines for `cogtcp-c2 follow`.
    pub links: Option<i32>,
    /// Whether the kernel's clock stands while anything computes (user-mode Linux in its time-travel mode).
    pub is_virtual: bool,
    /// The process that is to be outlived by no part of this.
    pub parent: i32,
}

/// Emulates a scenario. It takes the process for itself: see the crate's documentation.
pub fn emulate(plan: &Plan, options: &Options) -> Result<Run, EmulationError> {
    if plan.experiment.adhoc.is_some() && options.journal.is_some() {
        let what = "an ad hoc network has no link whose packets could be recorded".to_owned();
        return Err(EmulationError::Scenario {
            what,
            known: "an ad hoc network without a record of its packets",
        });
    }
    let real_time = privileges::ask_for_real_time();
    let is_apart = namespaces::enter_user_namespace()?;
    let mut devices = match options.device {
        DeviceKind::Any | DeviceKind::Veth if options.is_virtual => {
            Devices::with_rings(plan.hosts.len(), plan.greatest_window())
        }
        kind => Devices::new(kind),
    };
    let has_rings = devices.have_rings();
    let nodes: Vec<HostDevice> = (0..plan.hosts.len())
        .map(|host| HostDevice::make(plan, host, &mut devices))
        .collect::<Result<_, _>>()?;
    let (programs, controls) = prepare_programs(&nodes, plan, options, is_apart)?;
    let seed = seed(plan, options);
    let (flows, counts_recoveries) = prepare_flows(plan, &nodes, seed, options.duration)?;
    let udp = prepare_udp(plan, &nodes, seed)?;
    privileges::drop_all()?;
    privileges::end_with(options.parent)?;
    // From here on there are threads, and nothing that takes a privilege.
    let journal = options.journal.as_ref().map(|file| Journal::create(file, options.captures)).transpose();
    let journal = journal.map_err(EmulationError::Journal)?;
    let counts_timeouts = sockets::counts_timeouts();
    let (device, note) = (devices.name(), devices.note);
    let namespaces = nodes.iter().map(|node| node.namespace.number()).collect::<io::Result<Vec<_>>>();
    let namespaces = namespaces.tried("a network namespace has no number")?;
    let devices = nodes.into_iter().map(|node| node.device).collect();
    let on = Machine { real_time, counts_timeouts, counts_recoveries, device, note, controls };
    let staged = Staged { plan, options, devices, has_rings, namespaces, programs, flows, udp, journal, on };
    staged.play()?.finish()
}

#[derive(Debug)]
struct HostDevice {
    namespace: Namespace,
    device: Device,
}

impl HostDevice {
    fn make(plan: &Plan, host: usize, devices: &mut Devices) -> Result<Self, EmulationError> {
        let namespace = Namespace::make()?;
        let kernel = &plan.hosts[host];
        let groups = sys::ids().1;
        // Lets `ping` do without privileges.
        let ping = ("ipv4.ping_group_range", format!("{groups} {groups}"));
        for (name, value) in kernel.sysctls.iter().chain([&ping]) {
            let done = namespaces::set_sysctl(name, value);
            if (*name, value.as_str()) == crate::plan::ACCURATE_ECN {
                // Another mode in its place would not be what the scenario asks for.
                done.tried("this kernel does not negotiate Accurate ECN (net.ipv4.tcp_ecn = 3): write ecn = true, or use a later kernel")?;
            }
            // Older kernels lack some (tcp_rto_min_us came with 6.11), and a container may hold them all
            // back.
        }
        let setting = Setting {
            address: packet::address(host),
            address6: kernel.has_ipv6.then(|| packet::address6(host)),
            mtu: kernel.mtu,
        };
        let device = devices.make(host, &namespace, setting)?;
        device::add_addresses(&plan.further_addresses(host))?;
        if let Some((further, receives)) = plan.further_paths(host) {
            let allowed = device::allow_subflows(further.len(), if receives { &further } else { &[] });
            // Programs may do without Multipath TCP, and a kernel too.
            if plan.program_networks.is_empty() {
                allowed?;
            }
        }
        Ok(Self { namespace, device })
    }
}

fn prepare_programs(
    nodes: &[HostDevice],
    plan: &Plan,
    options: &Options,
    is_apart: bool,
) -> Result<(Option<Programs>, Controls), EmulationError> {
    if options.command.is_empty() {
        return Ok((None, Controls::default()));
    }
    let ends = plan.ends;
    let kernel = controls::Kernel::read();
    // Where all may choose all they need no privilege, and where there is no user namespace it would be one
    // over more than the run.
    let chooses_control = is_apart && kernel.restricts();
    let has_ipv6 = ends.iter().all(|end| plan.hosts[*end].has_ipv6);
    let at = |[own, other]: [usize; 2], arguments| {
        let mut environment = vec![
            ("COGTCP_ADDRESS", plan.program_address(own).to_string()),
            ("COGTCP_PEER", plan.program_address(other).to_string()),
        ];
        if has_ipv6 {
            environment.push(("COGTCP_ADDRESS6", packet::address6(own).to_string()));
            environment.push(("COGTCP_PEER6", packet::address6(other).to_string()));
        }
        Program { arguments, namespace: &nodes[own].namespace, environment, chooses_control }
    };
    let main = at(ends, &options.command);
    let peer = (!options.peer.is_empty()).then(|| at([ends[1], ends[0]], &options.peer));
    let mut orphans = Orphans::default();
    let mut default = String::new();
    for host in ends {
        nodes[host].namespace.enter().tried("a network namespace cannot be entered")?;
        orphans.add(&nodes[host].device)?;
        default = controls::set_default(plan.wanted.as_ref());
    }
    let controls = Controls::new(plan.wanted.as_ref(), default, &kernel, chooses_control);
    Ok((Some(Programs::prepare(&main, peer.as_ref(), orphans)?), controls))
}

/// Makes the sockets of all flows, each in the namespace of its node. Returns whether recoveries can be told
/// apart by flow. `duration`: of the run, if it is not the scenario's.
fn prepare_flows(
    plan: &Plan,
    nodes: &[HostDevice],
    seed: u64,
    duration: Option<Duration>,
) -> Result<(Vec<Prepared>, bool), EmulationError> {
    let horizon = duration.unwrap_or(plan.experiment.run.duration);
    // The primary users of the network, which is built later: the same seed draws the same.
    let air = cogtcp_network::build::air(&plan.experiment, horizon, seed).ok().flatten();
    let database = air.as_ref().map(cogtcp_hosts::database);
    let mut prepared = Vec::new();
    let mut all_alone = true;
    let mut makers: BTreeMap<usize, Arc<Maker>> = BTreeMap::new();
    let specs = &plan.experiment.flows;
    for (number, (spec, settings)) in specs.iter().zip(&plan.sockets).enumerate() {
        let [from, to] = plan.flow_ends[number];
        let enter =
            |host: usize| nodes[host].namespace.enter().tried("a network namespace cannot be entered");
        let application = cogtcp_hosts::applications::client(spec, seed);
        // Whoever has something to say first calls.
        let [caller, called] = if application.is_some() { [to, from] } else { [from, to] };
        enter(called)?;
        let address = plan.address_of(number, called);
        let role = match (application, settings) {
            (_, None) => {
                let Protocol::Other(transport, connection) = &spec.protocol else {
                    unreachable!("TCP has sockets of its own")
                };
                let mut pair = transport.kind().build(connection.of_flow(seed, &spec.name));
                if let Some(database) = &database {
                    pair.sender.use_database(database);
                }
                let receiver = datagrams::receiver(number, address)?;
                enter(from)?;
                let sockets = [datagrams::sender(number, address)?, receiver];
                Role::Datagrams { sockets, pair, traffic: spec.traffic }
            }
            (None, Some(settings)) => {
                let listener = match settings.is_multipath {
                    true => sockets::listen_multipath(number)?,
                    false => sockets::listen(number, address)?,
                };
                enter(caller)?;
                settings.make_receiver(listener.as_fd())?;
                let sender = match settings.is_multipath {
                    true => sockets::caller_multipath()?,
                    false => sockets::caller(address)?,
                };
                settings.make_sender(sender.as_fd())?;
                let is_multipath = settings.is_multipath;
                let segment = spec.segment_size();
                Role::Bulk { listener, sender, is_multipath, traffic: spec.traffic, segment }
            }
            (Some(client), Some(settings)) => {
                let listener = sockets::listen(number, address)?;
                enter(caller)?;
                settings.make_sender(listener.as_fd())?;
                let maker = makers.entry(caller).or_insert_with(|| Arc::new(Maker::start(address)));
                let (maker, settings) = (Arc::clone(maker), settings.clone());
                Role::Asking { listener, maker, settings, client, opens_anew: spec.opens_anew() }
            }
        };
        enter(from)?;
        // The kernel counts recoveries by namespace, not by socket.
        let is_alone = specs.iter().filter(|other| other.from == spec.from).count() == 1;
        all_alone &= is_alone;
        prepared.push(Prepared {
            address,
            role,
            counters: if is_alone { Some(TcpCounters::open()?) } else { None },
            start: spec.start,
            stop: spec.stop,
        });
    }
    Ok((prepared, all_alone))
}

/// Makes the sockets of all UDP sources.
fn prepare_udp(plan: &Plan, nodes: &[HostDevice], seed: u64) -> Result<Vec<Sending>, EmulationError> {
    let enter = |host: usize| nodes[host].namespace.enter().tried("a network namespace cannot be entered");
    let prepare = |(number, spec): (usize, &UdpSpec)| {
        let [from, to] = plan.source_ends[number];
        enter(to)?;
        let address = plan.family.address(to);
        let receiver = udp::receiver(number, address)?;
        enter(from)?;
        Sending::new(number, spec, seed, receiver, address)
    };
    plan.experiment.udp.iter().enumerate().map(prepare).collect()
}

fn seed(plan: &Plan, options: &Options) -> u64 {
    options.seed.unwrap_or(plan.experiment.run.seed.get())
}

/// All that stands before the clock starts.
#[derive(Debug)]
struct Staged<'a> {
    plan: &'a Plan,
    options: &'a Options,
    devices: Vec<Device>,
    /// Whether the devices' packets are read without a call.
    has_rings: bool,
    /// By host: the number of its namespace.
    namespaces: Vec<u64>,
    programs: Option<Programs>,
    flows: Vec<Prepared>,
    udp: Vec<Sending>,
    journal: Option<Journal>,
    on: Machine,
}

/// What the machine gave the run, and what its kernel tells.
#[derive(Debug)]
struct Machine {
    real_time: bool,
    counts_timeouts: bool,
    counts_recoveries: bool,
    device: &'static str,
    note: Option<String>,
    /// Empty where no program ran.
    controls: Controls,
}

/// A run that is over.
#[derive(Debug)]
struct Finished<'a> {
    outcome: Outcome<'a>,
    seed: u64,
    floor: Histogram,
    device_drops: u64,
    exit_code: Option<i32>,
    is_virtual: bool,
    on: Machine,
}

impl<'a> Staged<'a> {
    fn play(mut self) -> Result<Finished<'a>, EmulationError> {
        let (plan, real_time) = (self.plan, self.on.real_time);
        let settings = &plan.experiment.run;
        let seed = seed(plan, self.options);
        let limit = match (self.options.duration, &self.programs) {
            (Some(duration), _) => duration,
            // A journey and the outages of a train are worked out in advance.
            (None, Some(_)) if plan.is_worked_out() => settings.duration,
            (None, Some(_)) => UNLIMITED,
            (None, None) => settings.duration,
        };
        let end = Time::ZERO + limit;
        // A program is measured from its first packet on.
        let warmup = if self.programs.is_some() { Time::ZERO } else { Time::ZERO + settings.warmup };
        let mut network = EmulatedNetwork::new(&plan.experiment, plan.routes.clone(), seed, end)?;
        let mut train = Train::new(plan, seed, end);
        if let Some(train) = &mut train {
            train.listen(network.network.boards());
        }
        if let Some(direction) = train.as_ref().and_then(Train::holds) {
            network.network.hold(direction as u32);
        }
        let stop = sys::event().tried("an event")?;
        let wires = |devices: &[Device]| -> Result<Vec<Wire>, EmulationError> {
            let clone = |device: &Device| device.wire.try_clone().tried("a descriptor cannot be duplicated");
            devices.iter().map(clone).collect()
        };
        // The engine reads and the observer writes: each has descriptors of its own.
        let (entries, exits) = (wires(&self.devices)?, wires(&self.devices)?);
        let watches = plan.networks.iter().map(|networks| FlowWatch::over(networks)).collect();
        let udp_watches = plan.experiment.udp.iter().map(|_| UdpWatch::new(plan.family)).collect();
        let raise = stop.try_clone().tried("a descriptor cannot be duplicated")?;

        // Only now: to build the network takes time that is none of the run.
        let clock = if self.options.is_virtual { Clock::start_with_wheel() } else { Clock::start() };
        let mut observer = Observer::new(
            (exits, plan.routes.hosts().to_vec()),
            plan.ports(),
            if self.has_rings { Watch::knowing(clock) } else { Watch::asking(clock) },
            watches,
            udp_watches,
            self.journal.take(),
        );
        observer.train = train;
        let links = self.options.links.map(sys::inherited).transpose().tried("what radios do")?;
        observer.announcer = links.map(|lines| Announcer::new(lines, plan, &self.namespaces));
        if let Some(announcer) = &mut observer.announcer {
            announcer.begin(&network.network.phases());
        }
        let states = self.options.states.map(sys::inherited).transpose().tried("the states of controls")?;
        let states = states.map(|lines| States::new(lines, clock));
        let mut engine = Engine::new(network, observer, entries, clock, stop).tried("the event loop")?;
        engine.endings = self.programs.is_some().then(Endings::default);
        let times = engine::Plan { warmup, end, sample_interval: settings.sample_interval };
        let ended = AtomicBool::new(false);
        let (flows, udp) = (std::mem::take(&mut self.flows), std::mem::take(&mut self.udp));
        let (programs, ended, is_virtual) = (&self.programs, &ended, self.options.is_virtual);

        let (account, floor, played, exit_code) = std::thread::scope(|scope| {
            let floor = scope.spawn(move || measure_floor(clock, is_virtual, ended));
            let applications = scope.spawn(move || {
                privileges::stand_behind(real_time);
                flows::play(flows, udp, (clock, is_virtual), times, states, ended)
            });
            let program = programs.as_ref().map(|programs| {
                programs.begin();
                scope.spawn(move || {
                    privileges::give_up_real_time();
                    let code = programs.wait();
                    // The run ends with it.
                    let _ = sys::write(raise.as_fd(), &1u64.to_ne_bytes());
                    code
                })
            });
            let account = engine.run(times);
            ended.store(true, Ordering::Release);
            // Before the threads are joined: one of them waits for the programs.
            if let Some(programs) = programs {
                programs.end();
            }
            (account, joined(floor.join()), joined(applications.join()), program.map(|it| joined(it.join())))
        });
        let account = account.tried("the link's event loop has failed")?;
        let (played, events): (Vec<Played>, Vec<RecordedEvent>) =
            played.tried("the flows' sockets have failed")?;
        if let Some(journal) = engine.observer.journal.take() {
            journal.finish().map_err(EmulationError::Journal)?;
        }
        let mut device_drops = 0;
        // Only now: the programs have ended, and the engine reads the devices no more.
        if let Some(endings) = &mut engine.endings {
            let wires: Vec<&Wire> = self.devices.iter().map(|device| &device.wire).collect();
            endings.end(&wires).tried("the devices")?;
        }
        for device in &mut self.devices {
            device_drops += device.dropped().tried("/proc/net/dev")?;
        }
        let Engine { network, observer, .. } = engine;
        debug_assert_eq!(network.check_conservation(), Ok(()));
        Ok(Finished {
            outcome: Outcome { plan, network, observer, account, played, events },
            seed,
            floor: floor.tried("the bare timer has failed")?,
            device_drops,
            exit_code: exit_code.transpose().tried("the program cannot be waited for")?,
            is_virtual: self.options.is_virtual,
            on: self.on,
        })
    }
}

/// What a thread came to; one with a defect has failed.
fn joined<T>(thread: std::thread::Result<io::Result<T>>) -> io::Result<T> {
    thread.unwrap_or_else(|_| Err(io::Error::other("a thread panicked; please report it")))
}

impl Finished<'_> {
    fn finish(mut self) -> Result<Run, EmulationError> {
        if let Some((number, failure)) = self
            .outcome
            .played
            .iter()
            .enumerate()
            .find_map(|(number, played)| Some((number, played.failure.as_ref()?)))
        {
            let name = &self.outcome.plan.experiment.flows[number].name;
            return Err(io::Error::other(failure.clone()))
                .tried(format!("the connection of flow \"{name}\" has failed"));
        }
        let emulation = self.emulation();
        let (flows, goodputs) = self.outcome.flows();
        let mut extensions: Vec<Table> = self.outcome.tcp_flows().into_iter().collect();
        extensions.extend(self.outcome.quic_flows());
        extensions.extend(self.outcome.subflows());
        extensions.push(emulation);
        if !self.outcome.plan.experiment.udp.is_empty() {
            let Account { warm_at, ended_at, .. } = self.outcome.account;
            let experiment = &self.outcome.plan.experiment;
            extensions.extend(udp::tables(experiment, &self.outcome.observer.udp, [warm_at, ended_at]));
        }
        extensions.extend(self.outcome.applications());
        extensions.extend(self.outcome.train());
        extensions.extend(self.outcome.network.network.air_tables(self.outcome.account.ended_at));
        let [flow_series, control_series] = self.outcome.flow_series();
        let departures = self.outcome.observer.arrivals;
        let events = self.outcome.events();
        Ok(Run {
            name: self.outcome.plan.experiment.name.clone(),
            seed: self.seed,
            duration_s: self.outcome.account.ended_at.as_secs_f64(),
            warmup_s: self.outcome.account.warm_at.as_secs_f64(),
            flows,
            links: self.outcome.links(),
            radios: self.outcome.radios(),
            budget: Outcome::budget(),
            extensions,
            flow_series,
            control_series,
            link_series: self.outcome.link_series(),
            events,
            packets: Outcome::packets(),
            fairness: jain_fairness(&goodputs),
            // No two runs under a real clock are equal.
            digest: 0,
            engine_events: departures,
            packet_hops: departures,
        })
    }

    fn emulation(&self) -> Table {
        let (observer, plan) = (&self.outcome.observer, self.outcome.plan);
        let late = observer.lateness.histogram();
        let dropped = self.device_drops + observer.refused;
        let floor = Some(&self.floor).filter(|_| !self.is_virtual);
        let timing = Timing::judge(late, floor, plan.rtt(), plan.least_rto(), dropped);
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let controls = &self.on.controls;
        let about_controls = Some(&controls.note).filter(|note| !note.is_empty());
        let notes: Vec<&str> =
            plan.notes.iter().chain(&self.on.note).chain(about_controls).map(String::as_str).collect();
        let mut table = EmulationBuilder::default();
        let row = EmulationRow {
            plane: table.plane.intern("kernel"),
            kernel: table.kernel.intern(kernel.trim()),
            clock: table.clock.intern(if self.is_virtual { "virtual" } else { "real" }),
            evidence: timing.is_evidence(),
            reasons: table.reasons.intern(&timing.reasons.join("; ")),
            device: table.device.intern(self.on.device),
            notes: table.notes.intern(&notes.join("; ")),
            default_control: table.default_control.intern(&controls.default),
            other_controls: table.other_controls.intern(&controls.others.join(" ")),
            departures: observer.arrivals,
            lateness_p50_s: late.quantile(0.5),
            lateness_p99_s: late.quantile(0.99),
            lateness_max_s: late.greatest(),
            floor_p50_s: self.floor.quantile(0.5),
            floor_p99_s: self.floor.quantile(0.99),
            floor_max_s: self.floor.greatest(),
            real_time: self.on.real_time,
            device_drops: self.device_drops,
            refused_packets: observer.refused,
            counts_timeouts: self.on.counts_timeouts,
            counts_recoveries: self.on.counts_recoveries,
            announced: observer.announcer.as_ref().is_some_and(Announcer::is_heard),
            exit_code: self.exit_code.map_or(f64::NAN, f64::from),
        };
        table.push(row);
        table.finish()
    }
}
