//! Which scenarios this plane emulates, and on what settings of the kernel.

use crate::controls::Wanted;
use crate::device::LEAST_MTU_OF_IPV6;
use crate::error::EmulationError;
use crate::host_routes::{HostRoutes, LinkDirection};
use crate::packet::{self, Family, MOST_HOSTS, Packets, Ports};
use crate::receive_memory;
use crate::sockets::Settings;
use cogtcp_link::Schedule;
use cogtcp_multipath::{Coupling, Scheduler};
use cogtcp_scenario::{
    ControlSpec, Experiment, FlowSpec, LinkDirectionSpec, PathSpec, Protocol, RadioKind, RadioSpec,
    SpectrumSpec, TcpSpec, TransportSpec,
};
use cogtcp_transport::{
    ControlInfo, DelayedAck, EcnMode, FRto, LinuxControl, NewRenoVariant, Parameters, Preset, ReceiverConfig,
    Recovery, SenderConfig, linux_control,
};
use cogtcp_units::{Duration, Rate};
use cogtcp_wireless::MacConfig;
use std::net::{IpAddr, Ipv4Addr};

/// What it emulates, for messages.
const KNOWN: &str = "links between nodes, with radios of every kind, and ad hoc networks";
/// Which transports the kernel has.
pub(crate) const CONTROLS: &str = "the transports of the kernel: linux-reno, linux-cubic, linux-bbr, linux-vegas, linux-westwood, others with those controls, and the controls of this \
     project that are loaded into the kernel";
/// Presets that our program in the kernel has under a name of their own, that name, and what to do where it
/// is not loaded.
const VARIANTS: [(&str, &str, &str); 1] = [(
    "c2-author",
    "c2_author",
    "It is a program of this project: build it with make bpf, and load it as root with its rules, as docs/kernel-c2.md says",
)];
/// Ports are numbered from 5001 on.
const MOST_FLOWS: usize = 1000;
/// The receive buffer of the simulator's hosts: where it is asked for, the kernel chooses its own, which
/// grows.
const DEFAULT_BUFFER: u64 = 4 << 20;
/// Room for the headers of a transport over UDP: IPv6, UDP, and 52 bytes of the transport's own.
const OVERHEAD: u32 = 100;
/// Bytes of a segment where no flow says otherwise: what Ethernet carries.
const DEFAULT_MSS: u32 = 1460;
/// Segments of Linux's initial window (TCP_INIT_CWND).
const LINUX_WINDOW: u64 = 10;
/// A window in products of rate and round-trip time: with queues of several, and what the kernel adds to a packet.
const WINDOW_OF_PATH: u64 = 8;
/// Linux's least retransmission timeout, over the round-trip time.
const LEAST_RTO: Duration = Duration::from_millis(200);
/// The header of TCP (RFC 9293), and the timestamps option with its padding (RFC 7323 appendix A).
const TCP_HEADER: u32 = 20;
const TIMESTAMPS: u32 = 12;
/// Bytes of the least packet of TCP over IPv4, an ACK: its headers.
const ACK: u32 = 40;

/// What of IPv6 speaks by itself.
const QUIET: [&str; 3] = [
    "ipv6.conf.default.accept_ra",
    "ipv6.conf.default.router_solicitations",
    "ipv6.conf.default.dad_transmits",
];

/// Most paths that flows name: each has a network of its own.
const MOST_PATHS: usize = 250;
/// What Linux's Multipath TCP is, for messages.
const MULTIPATH: &str = "Multipath TCP as Linux has it: subflows that are not coupled (mptcp-linux-cubic, mptcp-linux-reno, \
     mptcp-linux-bbr), the scheduler \"lowest-rtt\", IPv4, no requests, and one such flow at a host";
/// Bytes that Multipath TCP takes of each segment beside TCP's options: the data sequence mapping with the
/// DATA_ACK (RFC 8684, section 3.3.1).
const MAPPING: u32 = 28;

/// What follows for the kernel from a flow of Multipath TCP: the TCP of its subflows; `None`: it is another.
fn subflows(flow: &FlowSpec, family: Family) -> Result<Option<TcpSpec>, EmulationError> {
    let Protocol::Other(TransportSpec::Mptcp(settings), _) = &flow.protocol else { return Ok(None) };
    let name = &flow.name;
    let wrong = if settings.coupling != Coupling::Uncoupled {
        Some(format!("the subflows of \"{name}\" are coupled by \"{}\"", settings.coupling.name()))
    } else if settings.scheduler != Scheduler::default() {
        Some(format!("the flow \"{name}\" has another scheduler"))
    } else if family != Family::V4 {
        Some(format!("the flow \"{name}\" has several paths, and is to use IPv6"))
    } else if cogtcp_hosts::applications::client(flow, 0).is_some() {
        Some(format!("the application of \"{name}\" asks over {}", flow.transport))
    } else {
        None
    };
    if let Some(what) = wrong {
        return Err(EmulationError::Scenario { what, known: MULTIPATH });
    }
    let Some(subflows) = &settings.subflows else { unreachable!("a resolved scenario has them") };
    let cogtcp_multipath::Subflows { sender, receiver, control, parameters } = subflows.clone();
    Ok(Some(TcpSpec { sender, receiver, control: ControlSpec { name: control, parameters } }))
}

/// Bytes that timestamps take of each segment.
pub(crate) const fn timestamps(config: &SenderConfig) -> u32 {
    if config.handshake.timestamps { TIMESTAMPS } else { 0 }
}

/// A scenario that can be emulated.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) experiment: Experiment,
    /// What its own flows use.
    pub(crate) family: Family,
    /// The routes between the hosts: the nodes at which flows end.
    pub(crate) routes: HostRoutes,
    /// What the kernel of each host is like.
    pub(crate) hosts: Vec<Host>,
    /// The hosts at which programs run: a program and its peer.
    pub(crate) ends: [usize; 2],
    /// What the scenario names, for programs.
    pub(crate) wanted: Option<Wanted>,
    /// The hosts from and to which each flow leads, and each UDP source.
    pub(crate) flow_ends: Vec<[usize; 2]>,
    pub(crate) source_ends: Vec<[usize; 2]>,
    /// The networks of each flow's paths; empty: it takes the route of least delay.
    pub(crate) networks: Vec<Vec<u8>>,
    /// Likewise of programs: of the paths that the first flow names.
    pub(crate) program_networks: Vec<u8>,
    /// The host of a train's router.
    pub(crate) router: Option<usize>,
    /// TCP's sockets of each flow; `None`: its transport goes by UDP.
    pub(crate) sockets: Vec<Option<Settings>>,
    /// Differences from the scenario, shown to the user.
    pub notes: Vec<String>,
}

/// The kernel of a host: its device and settings.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// Largest packet of its device.
    pub(crate) mtu: u32,
    /// Whether it has an address of IPv6.
    pub(crate) has_ipv6: bool,
    /// Its settings, as names and values below `net.`.
    pub(crate) sysctls: Vec<(&'static str, String)>,
}

impl Plan {
    /// Checks that `experiment` can be emulated: its own flows, over IPv4 or IPv6, or with `is_command` some
    /// program in their place.
    pub fn new(mut experiment: Experiment, is_command: bool, family: Family) -> Result<Self, EmulationError> {
        let mut notes = Vec::new();
        if let Some(radio) = experiment.radios.iter().find(cogtcp_network::tells)
            && family == Family::V6
        {
            let name = &radio.name;
            return refuse(format!("radio \"{name}\" sends ICMP of IPv4 about packets that it destroyed"));
        }
        for (link, spec) in experiment.links.iter().enumerate() {
            if experiment.radios.iter().filter(|radio| radio.links.contains(&link)).count() > 1 {
                return refuse(format!("the link \"{}\" has two radios", spec.name));
            }
        }
        let ends = ends_of_programs(&experiment);
        let wanted = experiment.flows.first().map(|flow| Wanted {
            transport: flow.transport.clone(),
            control: flow.tcp().and_then(|tcp| kernels_control(flow, tcp)).map(|control| control.name),
        });
        let program_paths = program_paths(&experiment, ends, is_command);
        if is_command {
            if ends[0] == ends[1] {
                return refuse("without a flow the nodes for programs are unknown".to_owned());
            }
            experiment.flows.clear();
            experiment.udp.clear();
        }
        if experiment.flows.len().max(experiment.udp.len()) > MOST_FLOWS {
            return refuse(format!("the scenario has {} flows, over {MOST_FLOWS}", experiment.flows.len()));
        }
        let asks = |flow: &&FlowSpec| cogtcp_hosts::applications::client(flow, 0).is_some();
        if let Some(flow) = experiment.flows.iter().filter(asks).find(|flow| flow.tcp().is_none()) {
            let what = format!("the application of \"{}\" asks over {}", flow.name, flow.transport);
            let known =
                "requests and videos over TCP, and saturated, sized and rate traffic over every transport";
            return Err(EmulationError::Scenario { what, known });
        }
        if let Some(flow) = experiment.flows.iter().find(|flow| !flow.paths.is_empty())
            && family != Family::V4
        {
            let what = format!("the flow \"{}\" names paths, and is to use IPv6", flow.name);
            return Err(EmulationError::Scenario { what, known: "paths of flows over IPv4" });
        }
        for flow in &experiment.flows {
            let Protocol::Other(transport, _) = &flow.protocol else { continue };
            if let Some(setting) = transport.only_simulated() {
                let what = format!("{} of \"{}\" ({setting})", flow.transport, flow.name);
                let known = "transports that nodes on the route do not serve, and QUIC with every control that is not in \
                             Python, at one address; the simulator has the rest";
                return Err(EmulationError::Scenario { what, known });
            }
        }
        let mut multipath = vec![false; experiment.flows.len()];
        for (flow, is_multipath) in experiment.flows.iter_mut().zip(&mut multipath) {
            if let Some(tcp) = subflows(flow, family)? {
                (flow.protocol, *is_multipath) = (Protocol::Tcp(tcp), true);
                notes.push(format!(
                    "flow \"{}\": Linux schedules by the time that queued data needs, and its queue of data may exceed the window",
                    flow.name
                ));
            }
        }
        let multipath_nodes = multipath_nodes(&experiment.flows, &multipath)?;
        let by_udp = experiment.flows.iter().any(|flow| flow.tcp().is_none());
        let sockets = experiment
            .flows
            .iter()
            .zip(&multipath)
            .map(|(flow, is_multipath)| settings(flow, family, by_udp, *is_multipath, &mut notes))
            .collect::<Result<_, _>>()?;
        notes.extend(notes_on_receivers(&experiment.flows));
        let flows = experiment.flows.iter().map(|flow| (flow.name.as_str(), flow.from, flow.to));
        let sources = experiment.udp.iter().map(|source| (source.name.as_str(), source.from, source.to));
        let streams: Vec<(&str, usize, usize)> = flows.chain(sources).collect();
        let nodes = streams.iter().flat_map(|(_, from, to)| [*from, *to]);
        // The router sends messages and is sent them.
        let router = experiment.train.as_ref().map(|train| train.router);
        let mut routes = HostRoutes::new(&experiment, nodes.chain(ends).chain(router));
        if routes.hosts().len() > MOST_HOSTS {
            return refuse(format!("flows end at {} nodes, over {MOST_HOSTS}", routes.hosts().len()));
        }
        let host = |node: usize| match routes.host(node) {
            Some(host) => Ok(host),
            None => refuse(format!("no flow and no program ends at the node \"{}\"", experiment.nodes[node])),
        };
        let hosts_of = |(_, from, to): &(&str, usize, usize)| Ok([host(*from)?, host(*to)?]);
        let mut flow_ends: Vec<_> = streams.iter().map(hosts_of).collect::<Result<_, EmulationError>>()?;
        let cut = streams.iter().zip(&flow_ends).find(|(_, [from, to])| routes.stream(*from, *to).is_none());
        if let Some(((name, ..), _)) = cut {
            return refuse(format!("no path for flow \"{name}\""));
        }
        let source_ends = flow_ends.split_off(experiment.flows.len());
        let router = router.map(host).transpose()?;
        let ends = [host(ends[0])?, host(ends[1])?];
        let networks = enter_paths(&mut routes, &experiment.flows, &flow_ends, &multipath)?;
        if program_paths.len() > MOST_PATHS {
            return refuse(format!("the first flow names over {MOST_PATHS} paths"));
        }
        // No flow has any: programs run in their place.
        let program_networks: Vec<u8> = (packet::SHORTEST + 1..).take(program_paths.len()).collect();
        for (network, path) in program_networks.iter().zip(&program_paths) {
            routes.add_path(*network, ends, path);
        }
        let hosts: Vec<Host> = routes
            .hosts()
            .iter()
            .map(|node| {
                let mut host = Host::new(*node, &experiment, family)?;
                host.mtu += if multipath_nodes.contains(node) { MAPPING } else { 0 };
                Ok(host)
            })
            .collect::<Result<_, EmulationError>>()?;
        for (source, [from, _]) in experiment.udp.iter().zip(&source_ends) {
            let mtu = hosts[*from].mtu;
            if source.size + family.udp_headers() > mtu {
                let what =
                    format!("the packets of \"{}\" do not fit into the {mtu} bytes of its host", source.name);
                let known = "datagrams that are no larger than the packets of TCP";
                return Err(EmulationError::Scenario { what, known });
            }
        }
        Ok(Self {
            experiment,
            family,
            routes,
            hosts,
            ends,
            wanted,
            flow_ends,
            source_ends,
            networks,
            program_networks,
            router,
            sockets,
            notes,
        })
    }

    /// Whether the changes of all radios are worked out before the run, up to its end.
    pub(crate) fn is_worked_out(&self) -> bool {
        let is_cycle = |radio: &RadioSpec| radio.kind.cycle().is_some();
        let is_given = self.experiment.train.is_some() || self.experiment.adhoc.is_some();
        is_given || !self.experiment.radios.iter().all(is_cycle)
    }

    /// By which ports its packets are known.
    pub(crate) fn ports(&self) -> Ports {
        let asks = |flow: &FlowSpec| cogtcp_hosts::applications::client(flow, 0).is_some();
        let datagrams = self.experiment.flows.iter().map(|flow| flow.tcp().is_none()).collect();
        let ports =
            Ports::new(self.experiment.flows.iter().map(asks).collect(), self.experiment.udp.len() as u32);
        ports.with_datagrams(datagrams)
    }

    /// The addresses of a host.
    pub(crate) fn addresses(&self, host: usize) -> Vec<IpAddr> {
        let own = [Family::V4, Family::V6].into_iter();
        own.filter(|family| *family == Family::V4 || self.hosts[host].has_ipv6)
            .map(|family| family.address(host))
            .collect()
    }

    /// The directions of links that the data of the flow of this number take.
    pub(crate) fn directions_of(&self, flow: usize) -> Vec<LinkDirection> {
        self.directions_by_path(flow).next().unwrap_or_default()
    }

    /// The directions of links that the data of a flow take on each of its paths.
    pub(crate) fn directions_by_path(&self, flow: usize) -> impl Iterator<Item = Vec<LinkDirection>> {
        let [from, to] = self.flow_ends[flow];
        let shortest = self.networks[flow].is_empty().then_some(packet::SHORTEST);
        let networks = shortest.into_iter().chain(self.networks[flow].iter().copied());
        networks.map(move |network| self.routes.directions_in(network, from, to))
    }

    /// The address at which the receiver of a flow listens, or the server that its client asks.
    pub(crate) fn address_of(&self, flow: usize, host: usize) -> IpAddr {
        match self.networks[flow].first() {
            Some(network) => packet::address_in(*network, host).into(),
            None => self.family.address(host),
        }
    }

    /// The addresses that a host has beside its first: one for each path that ends there.
    pub(crate) fn further_addresses(&self, host: usize) -> Vec<Ipv4Addr> {
        let here = self.networks.iter().zip(&self.flow_ends).filter(|(_, ends)| ends.contains(&host));
        let of_programs = self.program_networks.iter().filter(|_| self.ends.contains(&host));
        let networks = here.flat_map(|(networks, _)| networks).chain(of_programs);
        networks.map(|network| packet::address_in(*network, host)).collect()
    }

    /// The address of a program at a host, where it is reached by the first path.
    pub(crate) fn program_address(&self, host: usize) -> Ipv4Addr {
        packet::address_in(self.program_networks.first().copied().unwrap_or(packet::SHORTEST), host)
    }

    /// The addresses of the paths beyond the first of the connection of Multipath TCP that ends at a host,
    /// and whether it receives there; `None`: none ends there. Of programs the peer is the server: were both
    /// ends to announce addresses, each would use up the other's subflows.
    pub(crate) fn further_paths(&self, host: usize) -> Option<(Vec<Ipv4Addr>, bool)> {
        if self.program_networks.len() > 1 && self.ends.contains(&host) {
            let further = self.program_networks.iter().skip(1);
            let further = further.map(|network| packet::address_in(*network, host)).collect();
            return Some((further, host == self.ends[1]));
        }
        let is_multipath = |flow: &usize| self.sockets[*flow].as_ref().is_some_and(|it| it.is_multipath);
        let flow =
            (0..self.sockets.len()).filter(is_multipath).find(|it| self.flow_ends[*it].contains(&host))?;
        let further = self.networks[flow].iter().skip(1).map(|network| packet::address_in(*network, host));
        Some((further.collect(), self.flow_ends[flow][1] == host))
    }

    /// A direction of a link.
    pub(crate) fn direction(&self, direction: LinkDirection) -> &LinkDirectionSpec {
        let link = &self.experiment.links[direction / 2];
        if direction.is_multiple_of(2) { &link.forward } else { &link.reverse }
    }

    /// The least retransmission timeout of the connections, over the round-trip time: at most Linux's.
    pub(crate) fn least_rto(&self) -> Duration {
        let own = self.experiment.flows.iter().filter_map(FlowSpec::tcp).map(|tcp| tcp.sender.timers.min_rto);
        own.fold(LEAST_RTO, Duration::min)
    }

    /// Returns how many bytes the window of a flow, or of a program, may have: several times what its path holds.
    pub(crate) fn greatest_window(&self) -> u64 {
        let ends = if self.flow_ends.is_empty() { std::slice::from_ref(&self.ends) } else { &self.flow_ends };
        let slowest = |&[from, to]: &[usize; 2]| {
            self.routes.directions(from, to).into_iter().map(|direction| self.direction(direction).rate).min()
        };
        let rate = ends.iter().filter_map(slowest).max().unwrap_or_default();
        WINDOW_OF_PATH * rate.bytes_in(self.rtt()).get()
    }

    /// Returns the shortest round-trip time of all flows, or of a program and its peer: a full segment and
    /// its ACK without queues, with their transmission times.
    pub(crate) fn rtt(&self) -> Duration {
        let ends = if self.flow_ends.is_empty() { std::slice::from_ref(&self.ends) } else { &self.flow_ends };
        let trip = |&[from, to]: &[usize; 2]| {
            let one_way = |from, to, size| -> Duration {
                let links = self
                    .routes
                    .directions(from, to)
                    .into_iter()
                    .map(|direction| self.transit(direction, size));
                let ad_hoc = self.experiment.adhoc.iter().filter(|_| self.routes.crosses_air(from, to));
                // One hop at least.
                let air = ad_hoc.map(|ad_hoc| self.on_medium(&ad_hoc.config.medium.mac, size));
                links.chain(air).sum()
            };
            one_way(from, to, self.hosts[from].mtu) + one_way(to, from, ACK)
        };
        ends.iter().map(trip).min().unwrap_or_default()
    }

    /// Returns the least time of a packet of `size` bytes on a direction of a link, from its first bit to the
    /// arrival of its last. With a MAC this includes the frames' time, which is no queue of the link.
    fn transit(&self, direction: LinkDirection, size: u32) -> Duration {
        let delay = self.direction(direction).delay;
        let radio = self.experiment.radios.iter().find(|radio| radio.links.contains(&(direction / 2)));
        let Some(cognitive) = radio.and_then(|radio| radio.kind.cognitive()) else {
            let rate = fastest(
                self.direction(direction),
                radio.map(|radio| &radio.kind),
                self.experiment.spectrum.as_ref(),
            );
            let sending =
                rate.filter(|rate| *rate > Rate::ZERO).map(|rate| rate.transmission_time(size.into()));
            return delay + sending.unwrap_or_default();
        };
        delay + self.on_medium(&cognitive.mac.clone().into(), size)
    }

    /// How long the frames of a packet of `size` bytes take on an idle medium, over the fastest channel.
    fn on_medium(&self, mac: &MacConfig, size: u32) -> Duration {
        let channels = self.experiment.spectrum.iter().flat_map(|it| it.channels.iter());
        let rates = channels.map(|(_, channel)| channel.rate);
        let of_nodes = self.experiment.adhoc.iter().flat_map(|ad_hoc| &ad_hoc.config.medium.channels);
        let fastest = rates.chain(of_nodes.map(|channel| channel.rate)).max();
        mac.transit(size, fastest.unwrap_or_default())
    }

    /// A store of packets that knows which are the scenario's own.
    pub fn packets(&self) -> Packets {
        Packets::new(self.ports())
    }
}

impl Host {
    /// The host at `node`, as the flows ask for it that end there.
    fn new(node: usize, experiment: &Experiment, family: Family) -> Result<Self, EmulationError> {
        let mut sysctls = vec![
            // What one connection learned would be the beginning of the next.
            ("ipv4.tcp_no_metrics_save", "1".to_owned()),
            // Room for any window: the simulator's sender has no limit either. The least and the initial size
            // are the defaults.
            ("ipv4.tcp_wmem", "4096 16384 67108864".to_owned()),
        ];
        let mut mtu = family.header() + TCP_HEADER + DEFAULT_MSS;
        let of_tcp = |flow| FlowSpec::tcp(flow).map(|tcp| (flow, tcp));
        let own = experiment.flows.iter().filter(|flow| flow.from == node || flow.to == node);
        let mut flows = own.filter_map(of_tcp);
        if let Some((first, tcp)) = flows.next() {
            let config = &*tcp.sender;
            if let Some((other, _)) = flows.find(|(_, tcp)| settings_of(&tcp.sender) != settings_of(config)) {
                let what = format!(
                    "flows \"{}\" and \"{}\" ask for different settings of the host \"{}\"",
                    first.name, other.name, experiment.nodes[node]
                );
                let known = "flows of a host that share the settings of its kernel's TCP";
                return Err(EmulationError::Scenario { what, known });
            }
            sysctls.extend(settings_of(config));
            // So that a full segment has the payload and the headers that it has in the simulator.
            mtu = config.handshake.mss + family.header() + TCP_HEADER + timestamps(config);
        }
        // Whole packets of transports over UDP.
        let ends_here = experiment.flows.iter().filter(|flow| flow.from == node || flow.to == node);
        let others = ends_here.filter(|flow| flow.tcp().is_none());
        mtu = others.map(|flow| flow.segment_size() + OVERHEAD).fold(mtu, u32::max);
        // What the receivers of this host may offer: the kernel has one bound for all of them.
        let to_here = experiment.flows.iter().filter(|flow| flow.to == node).filter_map(FlowSpec::tcp);
        let slack = ReceiverConfig::default().compression_slack;
        if let Some(given) =
            to_here.clone().map(|tcp| tcp.receiver.compression_slack).find(|given| *given != slack)
        {
            sysctls.push(("ipv4.tcp_comp_sack_slack_ns", given.as_nanos().to_string()));
        }
        let windows = to_here.filter_map(|tcp| {
            let window = receive_memory::largest_window(tcp, DEFAULT_BUFFER)?;
            Some((window, tcp.sender.handshake.mss))
        });
        if let Some((window, payload)) = windows.max() {
            sysctls.push(("ipv4.tcp_rmem", receive_memory::tcp_rmem(window, mtu, payload)));
        }
        if family == Family::V6 {
            // Where segments are to be smaller than that leaves room for, the sockets say so.
            mtu = mtu.max(LEAST_MTU_OF_IPV6);
        }
        // Programs may use either.
        let is_for_programs = experiment.flows.is_empty() && experiment.udp.is_empty();
        let has_ipv6 = (family == Family::V6 || is_for_programs) && mtu >= LEAST_MTU_OF_IPV6;
        let flag = |is_on: bool| u8::from(is_on).to_string();
        for name in ["ipv6.conf.all.disable_ipv6", "ipv6.conf.default.disable_ipv6"] {
            sysctls.push((name, flag(!has_ipv6)));
        }
        // No packets but those of programs: no address of the link's own, no search for routers, no question
        // whether an address is taken. 1: none is made.
        sysctls.push(("ipv6.conf.default.addr_gen_mode", "1".to_owned()));
        sysctls.extend(QUIET.map(|name| (name, "0".to_owned())));
        Ok(Self { mtu, has_ipv6, sysctls })
    }
}

/// The nodes at which a program and its peer run: the ends of the only link, or else of the first flow.
fn ends_of_programs(experiment: &Experiment) -> [usize; 2] {
    match (&experiment.links[..], experiment.flows.first()) {
        ([link], _) => [link.from, link.to],
        (_, Some(flow)) => [flow.from, flow.to],
        (_, None) => experiment.udp.first().map_or([0; 2], |source| [source.from, source.to]),
    }
}

/// The paths that programs have: the paths that the first flow names, where it joins the nodes of programs.
fn program_paths(experiment: &Experiment, ends: [usize; 2], is_command: bool) -> Vec<PathSpec> {
    let flow = experiment.flows.first().filter(|flow| is_command && [flow.from, flow.to] == ends);
    flow.map_or_else(Vec::new, |flow| flow.paths.clone())
}

/// The highest rate that a direction of a link ever has; `None`: packets leave at instants, in no time.
fn fastest(
    direction: &LinkDirectionSpec,
    radio: Option<&RadioKind>,
    spectrum: Option<&SpectrumSpec>,
) -> Option<Rate> {
    let own = match direction.trace.as_deref() {
        None => direction.rate,
        Some(Schedule::Opportunities(_)) => return None,
        Some(Schedule::Rates(steps)) => {
            Rate::from_bits_per_second(steps.iter().map(|(_, rate)| *rate).max().unwrap_or_default())
        }
    };
    let channels = radio.map(|radio| radio.rates(spectrum)).unwrap_or_default();
    channels.into_iter().chain([own]).max()
}

/// Returns the nodes at which flows of Multipath TCP end. Two of them at one node are an error: endpoints of
/// subflows belong to a host, and both flows would use them.
fn multipath_nodes(flows: &[FlowSpec], multipath: &[bool]) -> Result<Vec<usize>, EmulationError> {
    let mut nodes = Vec::new();
    for (flow, _) in flows.iter().zip(multipath).filter(|(_, is_multipath)| **is_multipath) {
        let ends = [flow.from, flow.to];
        if ends.iter().any(|node| nodes.contains(node)) {
            let what = format!("the flow \"{}\" of Multipath TCP ends at a host with another one", flow.name);
            return Err(EmulationError::Scenario { what, known: MULTIPATH });
        }
        nodes.extend(ends);
    }
    Ok(nodes)
}

/// Enters the paths that flows name, each as a network of its own. Returns their numbers by flow. A transport
/// of one path has the first.
fn enter_paths(
    routes: &mut HostRoutes,
    flows: &[FlowSpec],
    ends: &[[usize; 2]],
    multipath: &[bool],
) -> Result<Vec<Vec<u8>>, EmulationError> {
    let mut last = packet::SHORTEST;
    let mut networks = Vec::new();
    for ((flow, ends), is_multipath) in flows.iter().zip(ends).zip(multipath) {
        let used = if *is_multipath { flow.paths.len() } else { flow.paths.len().min(1) };
        if usize::from(last) + used > MOST_PATHS {
            return refuse(format!("the flows name over {MOST_PATHS} paths"));
        }
        let mut own = Vec::new();
        for path in &flow.paths[..used] {
            last += 1;
            routes.add_path(last, *ends, path);
            own.push(last);
        }
        networks.push(own);
    }
    Ok(networks)
}

fn refuse<T>(what: String) -> Result<T, EmulationError> {
    Err(EmulationError::Scenario { what, known: KNOWN })
}

/// TCP's sockets of a flow; `None`: its transport goes by UDP. `is_tight`: the devices of its hosts take
/// larger packets than its own.
fn settings(
    flow: &FlowSpec,
    family: Family,
    is_tight: bool,
    is_multipath: bool,
    notes: &mut Vec<String>,
) -> Result<Option<Settings>, EmulationError> {
    let name = &flow.name;
    let Some(tcp) = flow.tcp() else { return Ok(None) };
    let Some(congestion) = kernels_control(flow, tcp) else {
        let what = format!("flow \"{name}\": the kernel has no transport \"{}\"", flow.transport);
        return Err(EmulationError::Scenario { what, known: CONTROLS });
    };
    if let Some((told, how)) = congestion.told {
        own_control(flow, tcp, congestion, told, how, notes)?;
    } else if !flow.transport.trim_start_matches("mptcp-").starts_with("linux-") {
        notes.push(format!(
            "flow \"{name}\": the kernel runs its own TCP with the congestion control \"{congestion}\"; the \
             preset \"{}\" models another TCP",
            flow.transport,
            congestion = congestion.name
        ));
    }
    if tcp.sender.recovery.algorithm == Recovery::NewReno
        && tcp.sender.recovery.newreno_variant == NewRenoVariant::Impatient
    {
        notes.push(format!(
            "flow \"{name}\": without SACK the kernel retransmits one lost segment per round trip, so a burst of losses takes \
             seconds to repair; newreno_variant = \"slow_but_steady\" simulates that"
        ));
    }
    if tcp.sender.max_window.is_some() {
        notes.push(format!(
            "flow \"{name}\": the kernel has no cap on the sender's window; max_window is ignored"
        ));
    }
    let mss = u64::from(tcp.sender.handshake.mss);
    if tcp.sender.initial_window.bytes(mss) != LINUX_WINDOW * mss {
        notes.push(format!("flow \"{name}\": the kernel's initial window is {LINUX_WINDOW} segments"));
    }
    if tcp.sender.initial_ssthresh != SenderConfig::default().initial_ssthresh {
        notes.push(format!("flow \"{name}\": the kernel begins without an ssthresh"));
    }
    let buffer = tcp.receiver.buffer;
    // The kernel doubles what it is asked for, since it counts what a packet takes in memory.
    let is_fixed = receive_memory::largest_window(tcp, DEFAULT_BUFFER).is_none();
    // Half of the largest number, as it is doubled.
    let receive_buffer = is_fixed.then(|| i32::try_from(buffer).unwrap_or(i32::MAX / 2));
    let most = tcp.sender.handshake.mss + timestamps(&tcp.sender);
    let segment = (family == Family::V6 || is_tight).then(|| i32::try_from(most).unwrap_or(i32::MAX));
    Ok(Some(Settings { congestion, receive_buffer, segment, is_multipath }))
}

/// What the kernel has of a flow's transport.
fn kernels_control(flow: &FlowSpec, tcp: &TcpSpec) -> Option<LinuxControl> {
    let known = own_variant(flow, tcp).or_else(|| linux_control(&tcp.control.name));
    known.filter(|_| tcp.sender.recovery.algorithm != Recovery::Tahoe)
}

/// Lists how receivers differ from the scenario's; once, since most are alike.
fn notes_on_receivers(flows: &[FlowSpec]) -> Vec<String> {
    let named = |differs: &dyn Fn(&FlowSpec, &TcpSpec) -> bool, what: &str| {
        let mut those = flows.iter().filter(|flow| flow.tcp().is_some_and(|tcp| differs(flow, tcp)));
        let first = those.next()?;
        let more = those.count();
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("flow \"{}\"{others}: {what}", first.name))
    };
    let delays = named(
        &|_, tcp| tcp.receiver.delayed_ack != DelayedAck::Linux,
        "the kernel delays ACKs as Linux does (delayed_ack = \"linux\" in the scenario), by 40 ms and not at the beginning",
    );
    let grows = named(
        &|_, tcp| tcp.receiver.buffer == DEFAULT_BUFFER && !tcp.receiver.window_tuning,
        "the kernel's receive window begins small and grows (window_tuning = true in the scenario)",
    );
    let window = |tcp: &TcpSpec| receive_memory::largest_window(tcp, DEFAULT_BUFFER);
    let shares = named(
        &|flow, tcp| {
            let to_there = || flows.iter().filter(|other| other.to == flow.to).filter_map(FlowSpec::tcp);
            window(tcp).is_some_and(|own| to_there().any(|other| window(other) > Some(own)))
        },
        "the receiver's kernel has one receive window bound: the largest of its flows",
    );
    [delays, grows, shares].into_iter().flatten().collect()
}

/// A control that is our own program in the kernel has its default parameters, apart from those that it is
/// told.
fn own_control(
    flow: &FlowSpec,
    tcp: &TcpSpec,
    congestion: LinuxControl,
    told: &[&str],
    how: &str,
    notes: &mut Vec<String>,
) -> Result<(), EmulationError> {
    let (name, control) = (&flow.name, congestion.name);
    let defaults = parameters_of(flow, tcp);
    for (parameter, value) in tcp.control.parameters.iter() {
        if told.contains(&parameter) {
            notes.push(format!(
                "flow \"{name}\": the kernel's {control} takes {parameter} not from the scenario but from {how}"
            ));
        } else if defaults.get(parameter) != Some(value) {
            let what =
                format!("flow \"{name}\": the kernel's {control} has its own value of \"{parameter}\"");
            return Err(EmulationError::Scenario { what, known: CONTROLS });
        }
    }
    notes.push(format!(
        "flow \"{name}\": the kernel runs its own TCP, loss recovery included, with the congestion control {control} of \
         this project (docs/kernel-c2.md)"
    ));
    Ok(())
}

/// The variant of a control of our own that is in the kernel under its preset's name.
fn own_variant(flow: &FlowSpec, tcp: &TcpSpec) -> Option<LinuxControl> {
    let (_, name, remedy) = VARIANTS.into_iter().find(|(preset, ..)| *preset == flow.transport)?;
    linux_control(&tcp.control.name).map(|control| LinuxControl { name, remedy, ..control })
}

/// Returns the parameters of our BPF program for a flow: its preset's own, or else the defaults.
fn parameters_of(flow: &FlowSpec, tcp: &TcpSpec) -> Parameters {
    let Ok(info) = ControlInfo::find(&tcp.control.name) else { return Parameters::new() };
    let mut parameters = Parameters::new();
    let of_variants = |preset: &&Preset| VARIANTS.iter().any(|(name, ..)| *name == preset.name);
    for preset in info.presets.iter().filter(of_variants).filter(|preset| preset.name == flow.transport) {
        preset.settings.iter().for_each(|(name, value)| parameters.set(name, (*value).into()));
    }
    parameters.resolve(info.name, info.parameters).unwrap_or_default()
}

/// Offers Accurate ECN and agrees to it. Linux 6.18 refuses it, although it has the protocol.
pub(crate) const ACCURATE_ECN: (&str, &str) = ("ipv4.tcp_ecn", "3");

/// The settings of a kernel that follow from a sender's, as far as it has them (tcp(7), ip-sysctl of the
/// kernel).
pub(crate) fn settings_of(config: &SenderConfig) -> Vec<(&'static str, String)> {
    let flag = |is_on: bool| u8::from(is_on).to_string();
    vec![
        ("ipv4.tcp_sack", flag(config.recovery.algorithm == Recovery::Sack)),
        ("ipv4.tcp_timestamps", flag(config.handshake.timestamps)),
        ("ipv4.tcp_window_scaling", flag(config.handshake.window_scaling)),
        (
            "ipv4.tcp_ecn",
            match config.handshake.ecn {
                // The default: agree to ECN, and do not offer it.
                EcnMode::Off => "2",
                EcnMode::Classic => "1",
                EcnMode::Accurate => ACCURATE_ECN.1,
            }
            .to_owned(),
        ),
        ("ipv4.tcp_frto", if config.undo.f_rto == FRto::Off { "0" } else { "2" }.to_owned()),
        ("ipv4.tcp_slow_start_after_idle", flag(config.restart_after_idle)),
        // RACK, with its window for reordering; tail loss probes.
        ("ipv4.tcp_recovery", flag(config.recovery.rack)),
        ("ipv4.tcp_early_retrans", if config.recovery.tlp { "3" } else { "0" }.to_owned()),
        ("ipv4.tcp_reordering", config.recovery.dup_thresh.to_string()),
        ("ipv4.tcp_rto_min_us", (config.timers.min_rto.as_nanos() / 1000).to_string()),
    ]
}

#[cfg(test)]
mod tests;
