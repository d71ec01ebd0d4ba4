//! CR users with their MAC under a clock made by hand, against the simulator: the same packets at the same
//! times, the same seed.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::host_routes::{HostRoutes, LinkDirection};
use cogtcp_emulator::network::{EmulatedNetwork, Hosts};
use cogtcp_emulator::{IpPacket, Packets};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Observer, PacketLocation, RadioIndex};
use cogtcp_records::{Run, Table, of_link_event};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::{Rate, Time};
use std::path::Path;

const SEED: u64 = 4;

/// What happened, with its time in nanoseconds.
#[derive(Debug, Default, PartialEq)]
struct Notes {
    arrivals: Vec<(u64, LinkDirection, u32)>,
    drops: Vec<(u64, LinkDirection, &'static str)>,
    /// Of radios: which, and what.
    radios: Vec<(u64, String)>,
    interferences: Vec<(u64, LinkDirection, String)>,
}

impl Hosts for Notes {
    fn arrived(&mut self, due: Time, _: usize, direction: Option<LinkDirection>, frame: &Frame<IpPacket>) {
        self.arrivals.push((due.as_nanos(), direction.unwrap(), frame.size()));
    }
}

impl Observer<IpPacket> for Notes {
    fn dropped(&mut self, at: Time, place: PacketLocation, _: &Frame<IpPacket>, cause: DropCause, _: bool) {
        self.drops.push((at.as_nanos(), place.direction as LinkDirection, cause.name()));
    }

    fn radio(&mut self, at: Time, radio: RadioIndex, event: LinkEvent, own_rate: Rate) {
        let Some((kind, _, value, error)) = of_link_event(event, own_rate) else { return };
        for kind in [Some(kind), error].into_iter().flatten() {
            // An error of detection is an entry of its own, without a value.
            let value = if Some(kind) == error { f64::NAN } else { value };
            self.radios.push((at.as_nanos(), format!("{} {} {value}", radio.1, kind.name())));
        }
    }

    fn interference(&mut self, at: Time, direction: u32, frame: &'static str) {
        self.interferences.push((at.as_nanos(), direction as LinkDirection, frame.to_owned()));
    }
}

/// The single hop of MSWiM 2009 with more datagrams both ways than it carries, in place of its flow.
fn experiment(changes: &[(&str, &str)]) -> Experiment {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-single-hop.toml");
    let mut scenario = Scenario::read(Path::new(file)).unwrap();
    let sources = "[{ name = \"u1\", from = \"sender\", to = \"receiver\", size = \"972 B\", pattern = { poisson = \"600 kbit/s\" } }, \
        { name = \"u2\", from = \"receiver\", to = \"sender\", size = \"300 B\", pattern = { poisson = \"100 kbit/s\" } }]";
    for (path, value) in [("run.duration", "20 s"), ("udp", sources)].iter().chain(changes) {
        scenario = scenario.set(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut experiment = scenario.resolve().unwrap_or_else(|error| panic!("{error}"));
    experiment.flows.clear();
    experiment
}

fn nanos(table: &Table, row: usize) -> u64 {
    (table.number("time_s", row).unwrap() * 1e9).round() as u64
}

/// What the simulator's record says, and at which times which packets were offered to which direction.
fn simulated(run: &Run, radios: &[String]) -> (Notes, Vec<(u64, LinkDirection, u32)>) {
    let (mut notes, mut offered) = (Notes::default(), Vec::new());
    let packets = &run.packets;
    for row in 0..packets.len() {
        let at = nanos(packets, row);
        let direction = usize::from(packets.text("direction", row) == Some("reverse"));
        let size = packets.number("wire_bytes", row).unwrap() as u32;
        let refused = packets.number("refused", row) == Some(1.0);
        match packets.text("event", row).unwrap() {
            "received" => notes.arrivals.push((at, direction, size)),
            "queued" => offered.push((at, direction, size)),
            _ if refused => offered.push((at, direction, size)),
            _ => {}
        }
        if let Some(cause) = packets.text("cause", row).filter(|cause| !cause.is_empty()) {
            let cause = DropCause::ALL.into_iter().find(|known| known.name() == cause).unwrap();
            notes.drops.push((at, direction, cause.name()));
        }
    }
    for row in 0..run.events.len() {
        let (at, entity) = (nanos(&run.events, row), run.events.text("entity", row).unwrap());
        let (kind, detail) = (run.events.text("kind", row).unwrap(), run.events.text("detail", row).unwrap());
        if let Some(unit) = radios.iter().position(|name| name == entity) {
            let value = run.events.number("value", row).unwrap_or(f64::NAN);
            notes.radios.push((at, format!("{unit} {kind} {value}")));
        } else if kind == "interference" {
            notes.interferences.push((at, usize::from(entity != "link"), detail.to_owned()));
        }
    }
    (notes, offered)
}

/// The shared radio that waits for its peer; two radios that sense apart, who are sent to while they are
/// silent and miss primary users; a queue discipline; a base station that schedules, with fading and without
/// repetition.
const VARIANTS: [&[(&str, &str)]; 4] = [
    &[],
    &[
        ("radio.cr.cr.ends", "independent"),
        ("radio.cr.cr.while_peer_senses", "retry"),
        ("radio.cr.cr.transmit_radio", "separate"),
        ("radio.cr.cr.reception", "as_released"),
        ("radio.cr.cr.detector", "as_released"),
    ],
    &[("topology.single_hop.link.queue", "codel"), ("topology.single_hop.link.loss", "1 %")],
    &[
        ("radio.cr.cr.access", "scheduled"),
        (
            "radio.cr.cr.cell",
            "{ bandwidth = \"1.4 MHz\", duplex = { tdd = 2 }, sinr = \"9 dB\", coherence = \"30 ms\", rlc = \"unacknowledged\", attempts = 1 }",
        ),
        ("topology.single_hop.link.queue", "codel"),
    ],
];

/// Frame for frame: what arrives and is lost, and when, what the radios do, and what was counted.
#[test]
fn a_cell_does_what_it_does_in_the_simulator() {
    for changes in VARIANTS {
        let experiment = experiment(changes);
        let options = RunOptions { seed: Some(SEED), trace: TraceLevel::Packets, ..RunOptions::default() };
        let run = run(&experiment, &options).unwrap();
        let names = experiment.radio_names(&experiment.radios[0]);
        let (expected, offered) = simulated(&run, &names);
        assert!(expected.arrivals.len() > 500 && expected.drops.len() > 100, "{changes:?}");
        // Once by the next thing that is due, as if never late; once in looks of 50 ms.
        for look in [None, Some(50_000_000)] {
            let (notes, network) = emulated(&experiment, &offered, look);
            assert_eq!(notes.arrivals, expected.arrivals, "{changes:?}");
            assert_eq!(notes.drops, expected.drops, "{changes:?}");
            assert_eq!(notes.interferences, expected.interferences, "{changes:?}");
            assert_eq!(notes.radios, expected.radios, "{changes:?}");
            compare_counts(&experiment, &run, network);
        }
    }
}

fn compare_counts(experiment: &Experiment, run: &Run, mut network: EmulatedNetwork) {
    let end = Time::ZERO + experiment.run.duration;
    let number = |name: &str, direction: LinkDirection| run.links.number(name, direction).unwrap() as u64;
    for direction in 0..2 {
        let mac = network.network.mac(direction as u32);
        // A base station schedules and counts no attempts.
        assert!(mac.attempts > 100 || experiment.radios[0].kind.cell().is_some());
        assert_eq!(mac.attempts, number("attempts", direction));
        assert_eq!(mac.interfered, number("attempts_interfered", direction));
        assert_eq!(mac.unanswered, number("attempts_unanswered", direction));
        assert_eq!(mac.collided, number("attempts_collided", direction));
        assert_eq!(mac.garbled, number("attempts_garbled", direction));
        let link = network.network.direction(direction as u32);
        assert_eq!(link.counters().delivered, number("delivered_packets", direction));
        assert_eq!(
            cogtcp_link::Capacity::bytes(link.capacity(end).available) as u64,
            number("capacity_bytes", direction)
        );
    }
    let radios = network.network.radio_table(experiment, end);
    assert_eq!(format!("{radios:?}"), format!("{:?}", run.radios));
    network.check_conservation().unwrap();
}

/// The same packets through the emulator's network. `look`: how often the driver looks, in nanoseconds;
/// `None`: whenever something is due.
fn emulated(
    experiment: &Experiment,
    offered: &[(u64, LinkDirection, u32)],
    look: Option<u64>,
) -> (Notes, EmulatedNetwork) {
    let end = Time::ZERO + experiment.run.duration;
    let mut network =
        EmulatedNetwork::new(experiment, HostRoutes::new(experiment, [0, 1]), SEED, end).unwrap();
    let (mut notes, mut packets) = (Notes::default(), Packets::default());
    let mut bytes = [0; 1500];
    bytes[0] = 0x45;
    let mut offered = offered.iter().peekable();
    let mut looks = 0;
    loop {
        let due = match look {
            None => network.next_change(),
            Some(every) => Time::from_nanos(looks * every),
        };
        looks += 1;
        let due = due.min(end);
        while let Some((at, from, size)) = offered.next_if(|(at, ..)| *at <= due.as_nanos()) {
            let packet = packets.put(Time::from_nanos(*at), &bytes[..*size as usize]).unwrap();
            let stream = network.routes().stream(*from, 1 - from).unwrap();
            network.offer(Time::from_nanos(*at), stream, packet, *size, &mut notes);
        }
        network.play(due, &mut notes);
        if due == end {
            return (notes, network);
        }
    }
}
