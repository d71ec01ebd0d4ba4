//! Processor time per transmitted frame, from 25 to 1,000 stations at the same density (25 per square kilometre, ns-2's
//! radio), standing still and moving at up to 4 m/s. Every station sends to one that is near at the start.
//!
//!   cargo run --release -p cogtcp-wireless --example cost [STATIONS [SPEED]]

use cogtcp_units::{Position, Power, RandomStream, Rate, Time};
use cogtcp_wireless::{
    Destination, Event, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig, Outgoing, PhyConfig,
    Positions, Profile,
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

/// Processor time of this process, in seconds: other load on the machine does not count.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Fields 14 and 15 of proc(5): user and system time in ticks of 10 ms; two are before the bracket.
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Frames, and nanoseconds for each.
fn measure(nodes: u32, speed: f64, cutoff: f64, seconds: f64) -> (u64, f64) {
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
    let config = MediumConfig::new(MacConfig::of(Profile::Ns2), phy, Rate::from_bits_per_second(2_000_000));
    let mut medium = Medium::<u32, _>::new(config, Bouncing { starts, side, speed }, (), 1);
    (0..nodes).for_each(|node| {
        medium.add_interface(InterfaceConfig::new(node));
    });
    let offer = |medium: &mut Medium<u32, _>, node: u32, now| {
        let to = Destination::Interface(InterfaceId(peers[node as usize]));
        let packet = Outgoing { payload: node, bytes: 512, to, channel: None, goes_first: false };
        medium.enqueue(now, InterfaceId(node), packet);
    };
    (0..nodes).for_each(|node| offer(&mut medium, node, Time::ZERO));
    let begun = processor_time();
    let end = Time::from_secs_f64(seconds);
    while medium.next_change() <= end {
        medium.step();
        while let Some(event) = medium.poll_event() {
            if let Event::Sent { from, time, .. } | Event::Failed { from, time, .. } = event {
                offer(&mut medium, from.0, time);
            }
        }
    }
    let spent = processor_time() - begun;
    let frames: u64 = (0..nodes).map(|node| medium.counters(InterfaceId(node)).frames).sum();
    (frames, spent * 1e9 / frames as f64)
}

fn main() {
    if let Some(nodes) = std::env::args().nth(1).and_then(|nodes| nodes.parse().ok()) {
        let speed = std::env::args().nth(2).and_then(|speed| speed.parse().ok()).unwrap_or(0.0);
        println!("{:?}", measure(nodes, speed, 1.0, 20_000.0 / f64::from(nodes)));
        return;
    }
    println!(
        "{:>8} {:>6} {:>10} {:>10} {:>12} {:>8}",
        "stations", "m/s", "cut-off", "frames", "ns per frame", "to 25"
    );
    for (speed, cutoff) in [(0.0, 1.0), (4.0, 1.0), (0.0, 0.1), (4.0, 0.1)] {
        let mut first = 0.0;
        for nodes in [25, 100, 400, 1000] {
            // As many frames in every row, near enough; the best of three.
            let seconds = 20_000.0 / f64::from(nodes);
            let runs = (0..3).map(|_| measure(nodes, speed, cutoff, seconds));
            let (frames, nanos) = runs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
            first = if nodes == 25 { nanos } else { first };
            println!("{nodes:>8} {speed:>6} {cutoff:>10} {frames:>10} {nanos:>12.0} {:>8.2}", nanos / first);
        }
    }
}
