//! The network between hosts under a clock made by hand: late, early, and never.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::host_routes::{HostRoutes, LinkDirection};
use cogtcp_emulator::network::{EmulatedNetwork, Hosts};
use cogtcp_emulator::{Family, IpPacket, Packets};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Observer, PacketLocation, PacketStep, RadioIndex};
use cogtcp_scenario::{Experiment, Protocol, Scenario};
use cogtcp_units::{Rate, Time};

/// Notes what it is told.
#[derive(Debug, Default, PartialEq)]
struct Notes {
    arrivals: Vec<(u64, LinkDirection)>,
    drops: Vec<(u64, LinkDirection, DropCause, bool)>,
    passed: Vec<(u64, LinkDirection, LinkDirection)>,
    radio: usize,
    /// The link direction that a packet came by last.
    received: Option<LinkDirection>,
}

impl Hosts for Notes {
    fn arrived(&mut self, due: Time, host: usize, direction: Option<LinkDirection>, _: &Frame<IpPacket>) {
        let direction = direction.unwrap();
        // Of one link: forward leads to the second host, reverse to the first.
        assert!(direction > 1 || host == 1 - direction);
        self.arrivals.push((due.as_nanos() / 1000, direction));
    }
}

impl Observer<IpPacket> for Notes {
    const FOLLOWS_OFFERS: bool = true;

    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, step: PacketStep, place: PacketLocation, _: &Frame<IpPacket>) {
        let direction = place.direction as LinkDirection;
        match step {
            PacketStep::Received => self.received = Some(direction),
            // From link to link.
            PacketStep::Offered if place.hops > 0 => {
                self.passed.push((at.as_nanos() / 1000, self.received.unwrap(), direction));
            }
            _ => {}
        }
    }

    fn dropped(
        &mut self,
        at: Time,
        place: PacketLocation,
        _: &Frame<IpPacket>,
        cause: DropCause,
        refused: bool,
    ) {
        self.drops.push((at.as_nanos() / 1000, place.direction as LinkDirection, cause, refused));
    }

    fn radio(&mut self, _: Time, _: RadioIndex, _: LinkEvent, _: Rate) {
        self.radio += 1;
    }
}

fn experiment(link: &str, radio: &str) -> Experiment {
    let text = format!(
        "name = \"t\"\n[run]\nduration = \"10 s\"\n[topology.single_hop]\nlink = {{ {link} }}\n{radio}\n\
         [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"linux-reno\"\n"
    );
    Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap()
}

fn network(link: &str, radio: &str) -> EmulatedNetwork {
    built(&experiment(link, radio))
}

/// With a host at the first node and one at the last.
fn built(experiment: &Experiment) -> EmulatedNetwork {
    let routes = HostRoutes::new(experiment, [0, experiment.nodes.len() - 1]);
    EmulatedNetwork::new(experiment, routes, 1, Time::MAX).unwrap()
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Offers packets of 1000 bytes at these milliseconds at this one of two hosts.
fn offer(network: &mut EmulatedNetwork, at: &[u64], from: usize, notes: &mut Notes) {
    let stream = network.routes().stream(from, 1 - from).unwrap();
    let mut packets = Packets::default();
    // IPv4, a header of 20 bytes, of a sender that does not react to marks.
    let mut bytes = [0; 1000];
    bytes[0] = 0x45;
    for at in at {
        let packet = packets.put(ms(*at), &bytes).unwrap();
        network.offer(ms(*at), stream, packet, 1000, notes);
    }
}

/// 8 Mbit/s: 1 ms for 1000 bytes; 10 ms of propagation; one on the air and two that wait, the fourth is
/// refused.
#[test]
fn packets_arrive_when_they_are_due_however_late_one_looks() {
    let link = "rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"2 packets\"";
    let mut by_step = Notes::default();
    let mut late = Notes::default();
    for (notes, looks) in [(&mut by_step, 1), (&mut late, 1000)] {
        let mut network = network(link, "");
        offer(&mut network, &[0, 0, 0, 0], 0, notes);
        offer(&mut network, &[5], 1, notes);
        assert_eq!(network.next_change(), ms(11));
        for now in (6..=1000).step_by(looks) {
            network.play(ms(now), notes);
        }
        network.play(ms(1000), notes);
        assert_eq!(network.next_change(), Time::MAX);
        network.check_conservation().unwrap();
    }
    assert_eq!(by_step.arrivals, [(11_000, 0), (12_000, 0), (13_000, 0), (16_000, 1)]);
    assert_eq!(by_step.drops, [(0, 0, DropCause::Queue, true)]);
    assert_eq!(late, by_step);
}

/// Open for 1 s, then silent for 100 ms. A packet that comes at 1050 ms leaves when the silence ends, though
/// the driver looks long after that; with `drop` it is lost, and its transmission takes place.
#[test]
fn a_silence_gates_both_directions() {
    let link = "rate = \"8 Mbit/s\", delay = \"10 ms\"";
    for (silence, arrivals, drops) in [
        ("hold", vec![(1_111_000, 0), (1_111_000, 1)], vec![]),
        ("drop", vec![], vec![(1_061_000, 0), (1_061_000, 1)]),
    ] {
        let radio = format!(
            "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\nsensing = {{ off = \"100 ms\", on = \"1 s\" }}"
        );
        let mut network = network(link, &radio);
        let mut notes = Notes::default();
        offer(&mut network, &[1050], 0, &mut notes);
        offer(&mut network, &[1050], 1, &mut notes);
        network.play(ms(2000), &mut notes);
        assert_eq!(notes.arrivals, arrivals, "{silence}");
        let lost: Vec<_> = notes.drops.iter().map(|(at, direction, ..)| (*at, *direction)).collect();
        assert_eq!(lost, drops, "{silence}");
        assert!(notes.radio >= 2);
        let radios = network.network.radio_table(&experiment(link, &radio), ms(2000));
        assert_eq!((radios.number("sensings", 0), radios.number("sensing_s", 0)), (Some(1.0), Some(0.1)));
    }
}

/// A queue discipline asks for events of its own; a driver that looks rarely gets the same arrivals.
#[test]
fn disciplines_do_not_depend_on_when_one_looks() {
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"codel\"";
    let [mut often, mut rarely] = [Notes::default(), Notes::default()];
    for (notes, step) in [(&mut often, 1), (&mut rarely, 50)] {
        let mut network = network(link, "");
        // 20 packets every 10 ms are twice what the link carries.
        for burst in (0..600).step_by(10) {
            offer(&mut network, &[burst; 20], 0, notes);
            if burst % step == 0 {
                network.play(ms(burst + 9), notes);
            }
        }
        network.play(ms(10_000), notes);
        network.check_conservation().unwrap();
    }
    assert_eq!(often, rarely);
    assert!(often.drops.iter().any(|(_, _, cause, _)| *cause == DropCause::Early), "{:?}", often.drops);
}

fn shipped(name: &str) -> Experiment {
    let file = format!("../../scenarios/{name}.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    Scenario::parse(&text, &file).and_then(|scenario| scenario.resolve()).unwrap()
}

/// Two links in a row, the first 8 Mbit/s and 10 ms, the second 4 Mbit/s and 5 ms with room for one packet: 1
/// ms and 10 ms, then 2 ms each and 5 ms. Of three packets at once the third finds the second link's queue
/// full, when it comes there. A driver that looks once at the end is told the same.
#[test]
fn packets_go_from_link_to_link_at_their_own_times() {
    let text = "name = \"t\"\n[run]\nduration = \"10 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
        { name = \"one\", from = \"a\", to = \"b\", rate = \"8 Mbit/s\", delay = \"10 ms\" },\n\
        { name = \"two\", from = \"c\", to = \"b\", rate = \"4 Mbit/s\", delay = \"5 ms\", queue = \"1 packets\" },\n]\n\
        [[flow]]\nfrom = \"a\"\nto = \"c\"\ntransport = \"linux-reno\"\n";
    let experiment = Scenario::parse(text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap();
    let [mut by_step, mut late] = [Notes::default(), Notes::default()];
    for (notes, looks) in [(&mut by_step, 1), (&mut late, 1000)] {
        let mut network = built(&experiment);
        // Over the second link against its direction.
        assert_eq!(network.routes().directions(0, 1), [0, 3]);
        assert_eq!(network.routes().directions(1, 0), [2, 1]);
        offer(&mut network, &[0, 0, 0, 0], 0, notes);
        offer(&mut network, &[3], 1, notes);
        for now in (4..=1000).step_by(looks) {
            network.play(ms(now), notes);
        }
        network.play(ms(1000), notes);
        network.check_conservation().unwrap();
    }
    assert_eq!(by_step.passed[..3], [(10_000, 2, 1), (11_000, 0, 3), (12_000, 0, 3)]);
    // At 11 ms the first begins and takes 2 ms; the second waits from 12 ms on, takes its place at 13 ms,
    // when the third comes and waits; the fourth at 14 ms is one too many.
    assert_eq!(by_step.arrivals, [(18_000, 3), (20_000, 3), (21_000, 1), (22_000, 3)]);
    assert_eq!(by_step.drops, [(14_000, 3, DropCause::Queue, true)]);
    assert_eq!(late, by_step);
}

/// Chains, dumbbells and trains are emulated; each flow has its routes.
#[test]
fn networks_of_several_links_are_emulated() {
    use cogtcp_emulator::Plan;
    for name in ["chain", "dumbbell-bench", "train", "cr-single-hop", "cr-as-released", "adhoc-mobile"] {
        let mut experiment = shipped(name);
        for flow in &mut experiment.flows {
            let Protocol::Tcp(tcp) = &mut flow.protocol else { panic!("no TCP") };
            tcp.control.name = "aimd".to_owned();
        }
        Plan::new(experiment, false, Family::V4).unwrap();
    }
}

/// A receiver that is not the kernel's is told of, once for all flows that have one.
#[test]
fn receivers_unlike_the_kernels_are_noted() {
    use cogtcp_emulator::Plan;
    let notes = |tcp: &str| {
        let made = experiment("rate = \"8 Mbit/s\", delay = \"1 ms\"", &format!("[tcp]\n{tcp}"));
        Plan::new(made, false, Family::V4).unwrap().notes
    };
    assert_eq!(notes("delayed_ack = \"linux\"\nwindow_tuning = true"), [""; 0]);
    let [delays, grows] = &notes("")[..] else { panic!("{:?}", notes("")) };
    assert!(delays.contains("delays ACKs as Linux does") && grows.contains("window begins small"));
    assert_eq!(notes("delayed_ack = \"linux\"\nwindow_tuning = true\nreceive_buffer = \"1 MB\""), [""; 0]);
    let own = "delayed_ack = \"linux\"\nreceive_buffer = \"1 MB\"";
    assert_eq!(notes(own), [""; 0]);
    let mut two = experiment("rate = \"8 Mbit/s\", delay = \"1 ms\"", "");
    two.flows.push(two.flows[0].clone());
    let both = Plan::new(two, false, Family::V4).unwrap().notes;
    assert!(both.len() == 2 && both[0].contains("and 1 more"), "{both:?}");
}

/// What this plane cannot do it says, before anything is made.
#[test]
fn scenarios_that_cannot_be_emulated_are_refused() {
    use cogtcp_emulator::Plan;
    let mut one = experiment("rate = \"8 Mbit/s\", delay = \"1 ms\"", "");
    assert!(Plan::new(one.clone(), false, Family::V4).is_ok());
    let Protocol::Tcp(tcp) = &mut one.flows[0].protocol else { panic!("no TCP") };
    tcp.control.name = "copa".to_owned();
    let error = Plan::new(one.clone(), false, Family::V4).unwrap_err().to_string();
    assert!(error.contains("the kernel has no transport"), "{error}");
    // A program takes the place of the flows.
    assert!(Plan::new(one, true, Family::V4).is_ok());
}

/// The links go down when a silence begins and up when it ends, not in between: a sensing of 100 ms that
/// finds a primary user is followed by a switch of 50 ms.
#[test]
fn links_go_down_and_up_with_silence() {
    let radio = "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsensing = { off = \"100 ms\", on = \"1 s\" }\n\
                 pu = { interarrival = \"300 ms\", switching = \"50 ms\" }";
    let mut network = network("rate = \"8 Mbit/s\", delay = \"10 ms\"", radio);
    let mut notes = Notes::default();
    let reader = network.network.boards().subscribe(0, 0).unwrap();
    let (mut is_open, mut changes) = (true, 0);
    while network.next_change() <= ms(10_000) {
        let now = network.next_change();
        network.play(now, &mut notes);
        let phase = network.network.phases()[0].1;
        let heard = std::iter::from_fn(|| network.network.boards().take(0, reader));
        let mut links = heard.filter(|it| matches!(it.event, LinkEvent::LinkUp | LinkEvent::LinkDown));
        if is_open == phase.is_silent() {
            is_open = !is_open;
            let event = if is_open { LinkEvent::LinkUp } else { LinkEvent::LinkDown };
            assert_eq!(links.next().map(|it| (it.at, it.link, it.event)), Some((now, 0, event)));
            changes += 1;
        }
        assert_eq!(links.next(), None, "{now:?}");
    }
    assert!(changes >= 20, "{changes}");
}

/// A node at which nothing ends is no host: it is not host 0.
#[test]
fn only_hosts_have_a_number() {
    let text = "name = \"t\"\n[run]\nduration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
                { from = \"a\", to = \"b\", rate = \"1 Mbit/s\", delay = \"1 ms\" },\n\
                { from = \"b\", to = \"c\", rate = \"1 Mbit/s\", delay = \"1 ms\" }]\n\
                [[flow]]\nfrom = \"a\"\nto = \"c\"\ntransport = \"linux-reno\"\n";
    let experiment = Scenario::parse(text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap();
    let routes = HostRoutes::new(&experiment, [0, 2]);
    assert_eq!([0, 1, 2, 3].map(|node| routes.host(node)), [Some(0), None, Some(1), None]);
}
