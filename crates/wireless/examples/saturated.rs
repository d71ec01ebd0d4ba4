//! Saturated stations under the rules of a simulator, for the comparison with ns-2 (`benches/references/adhoc.py`).
//!
//!   saturated PROFILE SEED SECONDS RTS BYTES PLACES FLOWS
//!
//! As `adhoc.tcl`: RTS is on or off; PLACES is `x,y;x,y`, FLOWS is `from,to;from,to`. Prints for every flow the packets
//! received in the last SECONDS, after 10 s to settle.

#[path = "../tests/common/mod.rs"]
mod common;

use cogtcp_units::{Duration, Time};
use cogtcp_wireless::{MacConfig, Profile};
use common::{Bench, config};

fn pairs<A: std::str::FromStr>(text: &str) -> Vec<(A, A)> {
    let pair = |pair: &str| {
        let (a, b) = pair.split_once(',')?;
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    text.split(';').filter_map(pair).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, seed, seconds, rts, bytes, places, flows] = &arguments[..] else {
        eprintln!("usage: saturated ns2|ns3|standard SEED SECONDS on|off BYTES PLACES FLOWS");
        std::process::exit(2);
    };
    let profile = match profile.as_str() {
        "ns2" => Profile::Ns2,
        "ns3" => Profile::Ns3,
        _ => Profile::Standard,
    };
    let mac = MacConfig { rts_threshold: (rts == "on").then_some(0), ..MacConfig::of(profile) };
    let flows: Vec<(u32, u32)> = pairs(flows);
    let mut bench = Bench::new(config(mac), &pairs(places), &flows, seed.parse().unwrap_or(1));
    bench.bytes = bytes.parse().unwrap_or(1000);
    bench.run(Time::from_millis(10_000));
    let before = bench.by_flow.clone();
    bench.run(Time::from_millis(10_000) + Duration::from_secs(seconds.parse().unwrap_or(100)));
    for (flow, before) in bench.by_flow.iter().zip(before) {
        println!("packets {}", flow - before);
    }
}
