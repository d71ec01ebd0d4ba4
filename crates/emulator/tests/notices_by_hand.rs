//! Sources that are told of what silence destroyed, under a clock made by hand, against the simulator: the
//! same packets at the same times.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::host_routes::{HostRoutes, LinkDirection};
use cogtcp_emulator::network::{EmulatedNetwork, Hosts};
use cogtcp_emulator::{Family, IpPacket, Packets, Plan};
use cogtcp_link::{DropCause, Frame};
use cogtcp_network::{Observer, PacketLocation, RadioIndex};
use cogtcp_records::{Run, Table};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::{Rate, Time};

/// A packet of TCP: where it begins its stream, its size, its sequence number, and whether it begins a
/// connection.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    from: LinkDirection,
    size: usize,
    seq: u32,
    is_syn: bool,
}

/// What happened, with its time in nanoseconds.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// At the ends of routes: by which link direction, and the size.
    arrivals: Vec<(u64, LinkDirection, u32)>,
    drops: Vec<(u64, LinkDirection, &'static str)>,
    /// Messages that have reached the source, and the sequence number of the segment that each is about.
    told: Vec<(u64, u32)>,
}

struct Notes {
    packets: Packets,
    seen: Seen,
}

impl Hosts for Notes {
    fn arrived(&mut self, due: Time, host: usize, direction: Option<LinkDirection>, frame: &Frame<IpPacket>) {
        let bytes = self.packets.bytes(&frame.packet);
        if bytes[9] == 1 {
            // Headers of IP and ICMP, and what is quoted: a header and 8 bytes (RFC 792).
            assert_eq!((host, bytes.len(), &bytes[16..20]), (0, 56, &[100, 64, 0, 1][..]));
            // Destination unreachable: host. It quotes an IPv4 header, two ports, and this.
            assert_eq!(bytes[20..22], [3, 1]);
            assert_eq!((folded(&bytes[..20]), folded(&bytes[20..])), (0xffff, 0xffff));
            let seq = u32::from_be_bytes([bytes[52], bytes[53], bytes[54], bytes[55]]);
            self.seen.told.push((due.as_nanos(), seq));
        }
        if let Some(direction) = direction {
            self.seen.arrivals.push((due.as_nanos(), direction, frame.size()));
        }
        self.packets.free(&frame.packet);
    }
}

impl Observer<IpPacket> for Notes {
    fn dropped(
        &mut self,
        at: Time,
        place: PacketLocation,
        frame: &Frame<IpPacket>,
        cause: DropCause,
        _: bool,
    ) {
        self.seen.drops.push((at.as_nanos(), place.direction as LinkDirection, cause.name()));
        self.packets.free(&frame.packet);
    }

    fn radio(&mut self, _: Time, _: RadioIndex, _: LinkEvent, _: Rate) {}

    fn source(&self, packet: &IpPacket) -> Option<u64> {
        self.packets.to_be_told(packet)
    }

    fn notice(&mut self, at: Time, teller: Option<u32>, about: &IpPacket) -> Option<(IpPacket, u32)> {
        // The node between is no host, and a source does not hear from its own address.
        assert!(teller.is_none_or(|node| node == 1));
        self.packets.unreachable(at, None, about)
    }
}

/// The sum of 16-bit words in one's complement: all ones if a checksum is among them that is right
/// (RFC 1071).
fn folded(bytes: &[u8]) -> u32 {
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    (sum & 0xffff) + (sum >> 16)
}

/// The packet on the wire: of the flow's sender, or of its receiver.
fn bytes(sent: &Sent, is_forward: bool) -> Vec<u8> {
    let mut bytes = vec![0; sent.size];
    (bytes[0], bytes[8], bytes[9]) = (0x45, 64, 6);
    bytes[2..4].copy_from_slice(&(sent.size as u16).to_be_bytes());
    let [from, to] = if is_forward { [1, 2] } else { [2, 1] };
    bytes[12..20].copy_from_slice(&[100, 64, 0, from, 100, 64, 0, to]);
    let ports: [u16; 2] = if is_forward { [40_000, 5001] } else { [5001, 40_000] };
    bytes[20..22].copy_from_slice(&ports[0].to_be_bytes());
    bytes[22..24].copy_from_slice(&ports[1].to_be_bytes());
    bytes[24..28].copy_from_slice(&sent.seq.to_be_bytes());
    bytes[32] = 5 << 4;
    bytes[33] = if sent.is_syn { 2 } else { 16 };
    bytes
}

/// A flow over this topology, with a radio on the link "link" that is silent for 4.5 s after every 2 s.
fn experiment(topology: &str, silence: &str, ends: [&str; 2]) -> Experiment {
    let [from, to] = ends;
    let text = format!(
        "name = \"t\"\n[run]\nduration = \"20 s\"\nseed = 1\n{topology}\n\
         [[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\nunreachable = true\n\
         sensing = {{ off = \"4500 ms\", on = \"2 s\" }}\n\
         [[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"linux-reno\"\n"
    );
    Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap()
}

fn nanos(table: &Table, row: usize) -> u64 {
    (table.number("time_s", row).unwrap() * 1e9).round() as u64
}

/// Whether a silence of [`experiment`] begins then.
fn begins_silence(nanos: u64) -> bool {
    nanos % 6_500_000_000 == 2_000_000_000
}

/// What the simulator's record says, and what its hosts sent. The route there begins with `there`, the route
/// back with `back`.
fn simulated(run: &Run, [there, back]: [LinkDirection; 2], silence: &str) -> (Seen, Vec<Sent>) {
    let (mut seen, mut sent) = (Seen::default(), Vec::new());
    let (mut destroyed, mut messages) = (Vec::new(), Vec::new());
    let packets = &run.packets;
    // All packets are TCP's, or ICMP about TCP's: the tables have the same rows.
    let segments = run.table("tcp_segments").unwrap();
    let links: Vec<&str> = (0..run.links.len()).map(|row| run.links.text("link", row).unwrap()).collect();
    for row in 0..packets.len() {
        let text = |name: &str| packets.text(name, row).unwrap();
        let number = |name: &str| packets.number(name, row).unwrap();
        let at = nanos(packets, row);
        let link = links.iter().step_by(2).position(|name| *name == text("link")).unwrap();
        let direction = 2 * link + usize::from(text("direction") == "reverse");
        let (size, seq, is_icmp) =
            (number("wire_bytes"), segments.number("seq", row).unwrap() as u32, text("protocol") == "icmp");
        let is_silenced = text("cause") == "silence";
        // Of what a gate refuses nothing is entered but that it is lost.
        let is_refused = number("refused") == 1.0
            || (is_silenced && silence == "refuse")
            || (is_silenced && silence == "down" && !begins_silence(at));
        if !is_icmp && (text("event") == "queued" || is_refused) && [there, back].contains(&direction) {
            let is_syn = segments.text("flags", row).unwrap().contains('S');
            sent.push(Sent { at, from: direction, size: size as usize, seq, is_syn });
        }
        // The last direction of a route is the opposite of the first one of the route back.
        if text("event") == "received" && [there ^ 1, back ^ 1].contains(&direction) {
            seen.arrivals.push((at, direction, size as u32));
            if is_icmp {
                messages.push((at, seq));
            }
        }
        if text("event") == "dropped" {
            let cause = DropCause::ALL.into_iter().find(|known| known.name() == text("cause")).unwrap();
            seen.drops.push((at, direction, cause.name()));
        }
        if is_silenced && text("source") == "sender" {
            destroyed.push((at, seq));
        }
    }
    for row in 0..run.events.len() {
        if run.events.text("kind", row) == Some("unreachable") {
            let at = nanos(&run.events, row);
            // Of a source that is told at once, by no packet, the record has the loss.
            let known = messages.iter().chain(&destroyed).find(|(when, _)| *when == at);
            seen.told.push((at, known.unwrap_or_else(|| panic!("about what at {at}?")).1));
        }
    }
    (seen, sent)
}

/// The same packets through the emulator's network. `look`: how often the driver looks, in nanoseconds;
/// `None`: whenever something is due.
fn emulated(experiment: &Experiment, sent: &[Sent], there: LinkDirection, look: Option<u64>) -> Seen {
    let end = Time::ZERO + experiment.run.duration;
    let ends = [experiment.flows[0].from, experiment.flows[0].to];
    let mut network = EmulatedNetwork::new(experiment, HostRoutes::new(experiment, ends), 1, end).unwrap();
    let plan = Plan::new(experiment.clone(), false, Family::V4).unwrap();
    let mut notes = Notes { packets: plan.packets(), seen: Seen::default() };
    let mut sent = sent.iter().peekable();
    let mut looks = 0;
    loop {
        let due =
            look.map_or_else(|| network.next_change(), |every| Time::from_nanos(looks * every)).min(end);
        looks += 1;
        while let Some(packet) = sent.next_if(|packet| packet.at <= due.as_nanos()) {
            let is_forward = packet.from == there;
            let at = Time::from_nanos(packet.at);
            let real = notes.packets.put(at, &bytes(packet, is_forward)).unwrap();
            assert_eq!((real.flow, real.is_forward()), (0, is_forward));
            let stream = network.routes().stream(usize::from(!is_forward), usize::from(is_forward)).unwrap();
            network.offer(at, stream, real, packet.size as u32, &mut notes);
        }
        network.play(due, &mut notes);
        network.check_conservation().unwrap();
        if due == end {
            return notes.seen;
        }
    }
}

/// A node between that is no host tells the source by a packet, a source in front of the silent link is told
/// at once; of packets that are lost in the silence, refused by it, or destroyed when it begins. Whatever the
/// driver's looks, the same arrives at the same times.
#[test]
fn sources_are_told_as_in_the_simulator() {
    let link = "rate = \"4 Mbit/s\", delay = \"15 ms\", queue = \"30 packets\"";
    let single = format!("[topology.single_hop]\nlink = {{ {link} }}");
    let graph = format!(
        "[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
         {{ name = \"one\", from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"10 ms\" }},\n\
         {{ name = \"link\", from = \"b\", to = \"c\", {link} }},\n]"
    );
    for (topology, ends, ways) in [(&single, ["sender", "receiver"], [0, 1]), (&graph, ["a", "c"], [0, 3])] {
        for silence in ["drop", "refuse", "down"] {
            let experiment = experiment(topology, silence, ends);
            let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
            let (expected, sent) = simulated(&run(&experiment, &options).unwrap(), ways, silence);
            // Of three silences; one a second at most.
            assert!((4..15).contains(&expected.told.len()), "{silence}: {:?}", expected.told);
            assert!(expected.drops.len() > 20 && expected.arrivals.len() > 1000);
            for look in [None, Some(50_000_000)] {
                let seen = emulated(&experiment, &sent, ways[0], look);
                assert_eq!(seen.told, expected.told, "{silence}");
                assert_eq!(seen.drops, expected.drops, "{silence}");
                assert_eq!(seen.arrivals, expected.arrivals, "{silence}");
            }
        }
    }
}

/// Nobody is told of what would make Linux give a connection up, of acknowledgements, or of messages.
#[test]
fn who_is_told_of_what() {
    let experiment = experiment(
        "[topology.single_hop]\nlink = { rate = \"4 Mbit/s\", delay = \"1 ms\" }",
        "drop",
        ["sender", "receiver"],
    );
    let mut packets = Plan::new(experiment, false, Family::V4).unwrap().packets();
    let mut put = |sent: &Sent, is_forward: bool| {
        let packet = packets.put(Time::ZERO, &bytes(sent, is_forward)).unwrap();
        (packets.to_be_told(&packet), packet)
    };
    let data = Sent { at: 0, from: 0, size: 1000, seq: 77, is_syn: false };
    let (told, packet) = put(&data, true);
    assert!(told.is_some());
    assert_eq!(put(&data, false).0, None);
    assert_eq!(put(&Sent { is_syn: true, ..data }, true).0, None);
    let (message, size) = packets.unreachable(Time::ZERO, Some(1), &packet).unwrap();
    assert_eq!((size, &packets.bytes(&message)[12..16]), (56, &[100, 64, 0, 2][..]));
    assert!(packets.unreachable(Time::ZERO, Some(1), &message).is_none());
}
