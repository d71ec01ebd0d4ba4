//! Ad hoc networks under a clock made by hand, against the simulator: the same datagrams at the same times,
//! the same seed.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::host_routes::{HostRoutes, LinkDirection};
use cogtcp_emulator::network::{EmulatedNetwork, Hosts};
use cogtcp_emulator::{Family, IpPacket, Plan};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Observer, PacketLocation, RadioIndex};
use cogtcp_records::EventKind;
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_traffic::Source;
use cogtcp_units::{RandomStream, Rate, Time};
use std::path::Path;

const SEED: u64 = 3;
/// To which port the first source sends.
const PORT: u16 = 20_001;

#[derive(Debug, Default)]
struct Notes {
    arrived: usize,
    /// Of these by a gateway's link.
    by_link: usize,
    lost: usize,
    /// Searches and routes: time, what, at which node, about which.
    noted: Vec<(Time, &'static str, [u32; 2])>,
}

impl Hosts for Notes {
    fn arrived(&mut self, _: Time, _: usize, direction: Option<LinkDirection>, _: &Frame<IpPacket>) {
        self.by_link += usize::from(direction.is_some());
        self.arrived += 1;
    }
}

impl Observer<IpPacket> for Notes {
    fn dropped(&mut self, _: Time, _: PacketLocation, _: &Frame<IpPacket>, _: DropCause, _: bool) {
        unreachable!("links have room for all");
    }

    fn radio(&mut self, _: Time, _: RadioIndex, _: LinkEvent, _: Rate) {
        unreachable!("nodes have names, not places");
    }

    /// Every packet is one of a UDP source.
    fn counts_to(&self, packet: &IpPacket) -> u32 {
        packet.flow
    }

    fn lost(&mut self, _: Time, _: u32, _: &Frame<IpPacket>, _: &'static str) {
        self.lost += 1;
    }

    fn node_event(&mut self, at: Time, kind: EventKind, nodes: [u32; 2], _: f64) {
        self.noted.push((at, kind.name(), nodes));
    }
}

/// A shipped scenario with two UDP sources in place of its flows.
fn experiment(name: &str, ends: [[&str; 2]; 2]) -> Experiment {
    let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let source = |number: usize| {
        let [from, to] = ends[number];
        format!(
            "{{ name = \"u{number}\", from = \"{from}\", to = \"{to}\", size = \"500 B\", pattern = {{ poisson = \"100 kbit/s\" }}, start = \"1 s\" }}"
        )
    };
    let mut scenario = Scenario::read(Path::new(&file)).unwrap();
    let sources = format!("[{}, {}]", source(0), source(1));
    for (path, value) in [("run.duration", "20 s"), ("run.warmup", "2 s"), ("udp", &sources)] {
        scenario = scenario.set(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut experiment = scenario.resolve().unwrap_or_else(|error| panic!("{error}"));
    experiment.flows.clear();
    experiment
}

/// The datagrams that the sources send until the end: when, and from which source.
fn offers(experiment: &Experiment) -> Vec<(Time, usize)> {
    let end = Time::ZERO + experiment.run.duration;
    let mut offers = Vec::new();
    for (number, spec) in experiment.udp.iter().enumerate() {
        let stream = RandomStream::new(SEED, &format!("udp/{}", spec.name), 0);
        let mut source = Source::new(spec.pattern, spec.size, spec.start, stream);
        while source.next_packet() <= end {
            offers.push((source.next_packet(), number));
            source.advance();
        }
    }
    offers.sort_unstable();
    offers
}

/// The network, played to the end by a driver that looks when something is due, or so often (nanoseconds).
fn played(experiment: &Experiment, look: Option<u64>) -> (EmulatedNetwork, Notes) {
    let plan = Plan::new(experiment.clone(), false, Family::V4).unwrap();
    let nodes = experiment.udp.iter().flat_map(|spec| [spec.from, spec.to]);
    let end = Time::ZERO + experiment.run.duration;
    let warmup = Time::ZERO + experiment.run.warmup;
    let mut network =
        EmulatedNetwork::new(experiment, HostRoutes::new(experiment, nodes), SEED, end).unwrap();
    let (mut packets, mut notes) = (plan.packets(), Notes::default());
    let mut offers = offers(experiment).into_iter().peekable();
    let mut go_to = |network: &mut EmulatedNetwork, due: Time| {
        while let Some((at, number)) = offers.next_if(|(at, _)| *at <= due) {
            let spec = &experiment.udp[number];
            let mut bytes = vec![0; spec.size as usize + 28];
            // IPv4 with 20 bytes of header, and UDP. The port tells the plan whose packet it is.
            (bytes[0], bytes[9]) = (0x45, 17);
            bytes[22..24].copy_from_slice(&(PORT + number as u16).to_be_bytes());
            let packet = packets.put(at, &bytes).unwrap();
            let [from, to] = [spec.from, spec.to].map(|node| network.routes().host(node).unwrap());
            let stream = network.routes().stream(from, to).unwrap();
            network.offer(at, stream, packet, bytes.len() as u32, &mut notes);
        }
        network.play(due, &mut notes);
        network.check_conservation().unwrap();
    };
    let (mut looks, mut is_warm) = (0, false);
    loop {
        let due =
            look.map_or_else(|| network.next_change(), |every| Time::from_nanos(looks * every)).min(end);
        looks += 1;
        if !is_warm && due >= warmup {
            // Before whatever else happens at that instant.
            go_to(&mut network, Time::from_nanos(warmup.as_nanos() - 1));
            network.network.end_warmup(warmup);
            is_warm = true;
        }
        go_to(&mut network, due);
        if due == end {
            return (network, notes);
        }
    }
}

/// Every table that an ad hoc network has, down to the last column: routing, streams, drops, nodes, searches,
/// positions, routes, primary users.
#[test]
fn an_ad_hoc_network_does_what_it_does_in_the_simulator() {
    for (name, ends) in [
        ("adhoc-mobile", [["n1", "n21"], ["n24", "n3"]]),
        ("adhoc-cr", [["n1", "n9"], ["n7", "n2"]]),
        ("gateway", [["server", "n10"], ["n7", "server"]]),
    ] {
        let experiment = experiment(name, ends);
        let options = RunOptions { seed: Some(SEED), trace: TraceLevel::Full, ..RunOptions::default() };
        let expected = run(&experiment, &options).unwrap();
        let end = Time::ZERO + experiment.run.duration;
        // Never late, and late by up to 100 ms.
        for look in [None, Some(100_000_000)] {
            let (network, notes) = played(&experiment, look);
            assert!(notes.arrived > 100, "{name}: {}", notes.arrived);
            assert_eq!(notes.by_link > 100, name == "gateway", "{name}: {}", notes.by_link);
            let tables = network.network.air_tables(end);
            assert!(tables.len() >= 7);
            for table in tables {
                let same = expected.table(table.name).unwrap();
                for (ours, theirs) in table.columns.iter().zip(&same.columns) {
                    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{name}: {}", table.name);
                }
            }
            let searches: Vec<(f64, &str)> = (0..expected.events.len())
                .map(|row| {
                    let kind = expected.events.text("kind", row).unwrap();
                    (expected.events.number("time_s", row).unwrap(), kind)
                })
                .filter(|(_, kind)| kind.starts_with("search") || kind.starts_with("route"))
                .collect();
            let noted: Vec<(f64, &str)> =
                notes.noted.iter().map(|(at, kind, _)| (at.as_secs_f64(), *kind)).collect();
            assert_eq!(noted, searches, "{name}");
            let radios = network.network.radio_table(&experiment, end);
            assert_eq!(format!("{radios:?}"), format!("{:?}", expected.radios), "{name}");
        }
    }
}
