//! Saturated stations under the rules of a simulator, for the comparison with ns-2 and ns-3
//! (`benches/references/adhoc.py`).
//!
//!   saturated PROFILE SEED SECONDS RTS BYTES PLACES PATHS [SENSE]
//!
//! As `adhoc.tcl`, `strings.tcl` and `stations-ns3.cc`: RTS is on or off; SENSE is the range of carrier
//! sense, 250 or 550 m; PLACES is `x,y;x,y`; PATHS is `from,relay,...,to;from,to`, where every node hands a
//! packet to the next at once. Prints for every path the packets received in the last SECONDS, after 10 s to
//! settle.

#[path = "../tests/common/mod.rs"]
mod common;

use cogtcp_units::{Duration, Position, Power, Time};
use cogtcp_wireless::{
    Dcf, Destination, Errors, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumEvent, Profile,
    QueuedPacket,
};
use common::config;

/// What a packet carries: its path, and how many hops it has come.
#[derive(Clone, Copy, Debug)]
struct Carried {
    path: usize,
    hops: usize,
}

struct Strings {
    medium: Medium<Carried, Vec<Position>>,
    paths: Vec<Vec<u32>>,
    bytes: u32,
    received: Vec<u64>,
}

impl Strings {
    /// Hands a packet to the next node of its path.
    fn send(&mut self, now: Time, carried: Carried) {
        let path = &self.paths[carried.path];
        let to = Destination::Interface(InterfaceId(path[carried.hops + 1]));
        let packet =
            QueuedPacket { payload: carried, bytes: self.bytes, to, channel: None, goes_first: false };
        // A full queue drops it.
        self.medium.enqueue(now, InterfaceId(path[carried.hops]), packet);
    }

    /// Sources always have packets.
    fn feed(&mut self, now: Time) {
        for path in 0..self.paths.len() {
            while self.medium.waiting(InterfaceId(self.paths[path][0])) < 3 {
                self.send(now, Carried { path, hops: 0 });
            }
        }
    }

    fn run(&mut self, until: Time) {
        self.feed(self.medium.now());
        while self.medium.next_change() <= until {
            self.medium.step();
            while let Some(event) = self.medium.poll_event() {
                match event {
                    MediumEvent::Received { time, payload, .. } => {
                        let carried = Carried { hops: payload.hops + 1, ..payload };
                        if carried.hops + 1 == self.paths[carried.path].len() {
                            self.received[carried.path] += 1;
                        } else {
                            self.send(time, carried);
                        }
                    }
                    MediumEvent::Sent { time, .. } | MediumEvent::Failed { time, .. } => self.feed(time),
                    _ => {}
                }
            }
        }
    }
}

fn lists<A: std::str::FromStr>(text: &str) -> Vec<Vec<A>> {
    let list = |list: &str| list.split(',').filter_map(|entry| entry.trim().parse().ok()).collect();
    text.split(';').map(list).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, seed, seconds, rts, bytes, places, paths, sense @ ..] = &arguments[..] else {
        eprintln!("usage: saturated ns2|ns3|standard SEED SECONDS on|off BYTES PLACES PATHS [250|550]");
        std::process::exit(2);
    };
    let profile = match profile.as_str() {
        "ns2" => Profile::Ns2,
        "ns3" => Profile::Ns3,
        _ => Profile::Standard,
    };
    let mut mac = MacConfig::of(profile);
    if rts != "on" {
        mac.dcf.rts_threshold = Dcf::NO_RTS;
    }
    let places: Vec<Vec<f64>> = lists(places);
    let positions: Vec<Position> = places.iter().map(|place| Position::new(place[0], place[1])).collect();
    let mut config = config(mac);
    let phy = &mut config.phy;
    if sense == ["250"] {
        phy.carrier_sense = phy.sensitivity;
    }
    if profile == Profile::Ns3 {
        // What is not sensed disturbs all the same.
        phy.cutoff = Power::from_watts(1.559e-12);
        phy.capture = libm::pow(10.0, 0.4);
        phy.errors = Errors::Dsss;
    }
    let mut medium = Medium::new(config, positions, (), seed.parse().unwrap_or(1));
    for node in 0..places.len() as u32 {
        medium.add_interface(InterfaceConfig::new(node));
    }
    let paths: Vec<Vec<u32>> = lists(paths);
    let received = vec![0; paths.len()];
    let mut strings = Strings { medium, paths, bytes: bytes.parse().unwrap_or(1000), received };
    strings.run(Time::from_millis(10_000));
    let before = strings.received.clone();
    strings.run(Time::from_millis(10_000) + Duration::from_secs(seconds.parse().unwrap_or(100)));
    for (received, before) in strings.received.iter().zip(before) {
        println!("packets {}", received - before);
    }
}
