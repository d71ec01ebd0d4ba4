//! Processor time per transmitted frame, from 25 to 1,000 stations at the same density (25 per square
//! kilometre, ns-2's radio), standing still and moving at up to 4 m/s. Every fifth station always sends to
//! the one that is nearest at the start.
//!
//!   cargo run --release -p cogtcp-wireless --example cost [STATIONS [SPEED [SHARE]]]
//!
//! SHARE of the usual time, for a run under a profiler.

use cogtcp_units::{Position, Power, RandomStream, Rate, Time};
use cogtcp_wireless::{
    Destination, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig, MediumEvent, PhyConfig,
    Positions, Profile, QueuedPacket,
};

/// Nodes that turn back at the border of a square.
struct Bouncing {
    starts: Vec<(Position, f64, f64)>,
    side: f64,
    speed: f64,
}

impl Positions for Bouncing {
    fn position(&mut self, node: u32, now: Time) -> Position {
        let (start, x, y) = self.starts[node as usize];
        let time = now.as_secs_f64();
        let fold = |place: f64| {
            let turns = (place / (2.0 * self.side)).floor();
            self.side - (place - turns * 2.0 * self.side - self.side).abs()
        };
        Position::new(fold(start.x + x * time), fold(start.y + y * time))
    }

    fn max_speed(&self) -> f64 {
        self.speed
    }
}

/// Every how many-th station sends, always.
const SHARE: u32 = 5;

/// Processor time of this process, in seconds: other load on the machine does not count.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Fields 14 and 15 of proc(5): user and system time in ticks of 10 ms; two are before the bracket.
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Frames, nanoseconds for each, and how many stations hear a frame.
fn measure(nodes: u32, speed: f64, cutoff: f64, seconds: f64) -> (u64, f64, f64) {
    let mut stream = RandomStream::new(1, "cost", 0);
    let side = 1000.0 * (f64::from(nodes) / 25.0).sqrt();
    let velocity = speed / std::f64::consts::SQRT_2;
    let mut place = || {
        let start = Position::new(stream.uniform_in(0.0, side), stream.uniform_in(0.0, side));
        (start, stream.uniform_in(-velocity, velocity), stream.uniform_in(-velocity, velocity))
    };
    let starts: Vec<_> = (0..nodes).map(|_| place()).collect();
    let nearest = |node: usize| {
        let distance = |other: &usize| starts[*other].0.distance(starts[node].0);
        let others = (0..starts.len()).filter(|other| *other != node);
        others.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(node)
    };
    let peers: Vec<u32> = (0..starts.len()).map(|node| nearest(node) as u32).collect();
    let mut phy = PhyConfig::ns2();
    phy.cutoff = Power::from_watts(phy.carrier_sense.watts() * cutoff);
    let reach = phy.propagation.path_loss.range(phy.cutoff.watts() / 0.281_838_15);
    let near = |a: &(Position, f64, f64)| starts.iter().filter(|b| a.0.distance(b.0) <= reach).count() - 1;
    let hearers = starts.iter().map(near).sum::<usize>() as f64 / f64::from(nodes);
    let config = MediumConfig::new(MacConfig::of(Profile::Ns2), phy, Rate::from_bits_per_second(2_000_000));
    let mut medium = Medium::<u32, _>::new(config, Bouncing { starts, side, speed }, (), 1);
    (0..nodes).for_each(|node| {
        medium.add_interface(InterfaceConfig::new(node));
    });
    let offer = |medium: &mut Medium<u32, _>, node: u32, now| {
        let to = Destination::Interface(InterfaceId(peers[node as usize]));
        let packet = QueuedPacket { payload: node, bytes: 512, to, channel: None, goes_first: false };
        medium.enqueue(now, InterfaceId(node), packet);
    };
    (0..nodes).filter(|node| node % SHARE == 0).for_each(|node| offer(&mut medium, node, Time::ZERO));
    let begun = processor_time();
    let end = Time::from_secs_f64(seconds);
    while medium.next_change() <= end {
        medium.step();
        while let Some(event) = medium.poll_event() {
            if let MediumEvent::Sent { from, time, .. } | MediumEvent::Failed { from, time, .. } = event {
                offer(&mut medium, from.0, time);
            }
        }
    }
    let spent = processor_time() - begun;
    let frames: u64 = (0..nodes).map(|node| medium.counters(InterfaceId(node)).frames).sum();
    (frames, spent * 1e9 / frames as f64, hearers)
}

fn main() {
    if let Some(nodes) = std::env::args().nth(1).and_then(|nodes| nodes.parse().ok()) {
        let speed = std::env::args().nth(2).and_then(|speed| speed.parse().ok()).unwrap_or(0.0);
        let share = std::env::args().nth(3).and_then(|share| share.parse().ok()).unwrap_or(1.0);
        println!("{:?}", measure(nodes, speed, 1.0, share * 20_000.0 / f64::from(nodes)));
        return;
    }
    println!(
        "{:>8} {:>5} {:>8} {:>9} {:>8} {:>13} {:>6}",
        "stations", "m/s", "cut-off", "frames", "hearers", "ns per frame", "to 25"
    );
    for (speed, cutoff) in [(0.0, 1.0), (4.0, 1.0), (4.0, 0.1)] {
        let mut first = 0.0;
        for nodes in [25, 100, 400, 1000] {
            // As many frames in every row, near enough; the best of three.
            let seconds = 20_000.0 / f64::from(nodes);
            let runs = (0..3).map(|_| measure(nodes, speed, cutoff, seconds));
            let (frames, nanos, hearers) = runs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            first = if nodes == 25 { nanos } else { first };
            let ratio = nanos / first;
            println!(
                "{nodes:>8} {speed:>5} {cutoff:>8} {frames:>9} {hearers:>8.1} {nanos:>13.0} {ratio:>6.2}"
            );
        }
    }
}
