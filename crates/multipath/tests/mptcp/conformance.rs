//! Conservation, delivery under any pattern of loss and silence, bounded memory, determinism, close and
//! reopen.
//!
//! `COGTCP_CASES` sets the number of drawn cases; `make fuzz` draws 100,000.

use crate::committed::compare_cases;
use crate::net::{Net, Path};
use cogtcp_multipath::{Coupling, MptcpSettings, Scheduler};
use cogtcp_units::{Duration, RandomStream, Time};

const SCHEDULERS: [Scheduler; 4] =
    [Scheduler::LowestRtt, Scheduler::RoundRobin, Scheduler::Redundant, Scheduler::Blest];
const COUPLINGS: [Coupling; 4] = [Coupling::Lia, Coupling::Olia, Coupling::Balia, Coupling::Uncoupled];
const CONTROLS: [&str; 4] = ["sack", "cubic", "linux-cubic", "newreno"];

fn cases() -> u64 {
    std::env::var("COGTCP_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// Two or three paths whose silences end: within a minute every path carries packets for good.
fn draw(seed: u64) -> (MptcpSettings, Vec<Path>, u64) {
    let mut random = RandomStream::new(seed, "multipath/case", 0);
    let coupling = COUPLINGS[random.below(4) as usize];
    let uncoupled = coupling == Coupling::Uncoupled;
    let settings = MptcpSettings {
        scheduler: SCHEDULERS[random.below(4) as usize],
        coupling,
        control: uncoupled.then(|| CONTROLS[random.below(4) as usize].to_owned()),
        subflows: None,
    };
    let paths = (0..1 + random.below(3)).map(|_| {
        let mut path = Path::new(1 + random.below(20), 1 + random.below(200));
        path.queue = 1 + random.below(60);
        path.loss = [0.0, 0.0, 0.01, 0.1, 0.3][random.below(5) as usize];
        let mut at = 0;
        for _ in 0..random.below(6) {
            let from = at + random.below(6000);
            at = from + random.below(5000);
            path.silences.push((Time::from_millis(from), Time::from_millis(at)));
        }
        path
    });
    let paths = paths.collect();
    (settings, paths, 1 + random.below(300_000))
}

/// All data arrives, the connection closes, nothing is left, and no packet appears or vanishes.
fn check(seed: u64) -> u64 {
    let (settings, paths, bytes) = draw(seed);
    let what = format!("case {seed}: {settings:?}, {bytes} bytes over {paths:?}");
    let mut net = Net::new(&settings, paths, seed);
    for round in 1..=2 {
        net.events.clear();
        net.transfer(bytes);
        let mut progress = (net.delivered(), net.now);
        while net.delivered() < round * bytes || net.closed_at().is_none() {
            let next = net.now + Duration::from_secs(1);
            net.run_until(next);
            net.check_conservation();
            let (sent, received) = (net.sender.progress(), net.receiver.progress());
            assert!(received.received_bytes <= sent.sent_bytes, "{what}");
            if net.delivered() > progress.0 {
                progress = (net.delivered(), net.now);
            }
            // An RTO is 120 s at most: the chance that 40 in a row fail at a loss of 30 % both ways is
            // 10^-12.
            let stall = net.now.saturating_since(progress.1);
            assert!(
                stall < Duration::from_secs(4800),
                "connection {round} makes no progress after {progress:?}; {what}"
            );
        }
        assert_eq!(net.delivered(), round * bytes, "{what}");
        // What was under way is old when the next connection opens.
    }
    assert_eq!(net.receiver.progress().received_bytes, 2 * bytes, "{what}");
    net.digest
}

#[test]
fn data_arrives_whatever_paths_do() {
    let digests: Vec<u64> = (0..cases()).map(check).collect();
    if digests.len() == 1000 {
        compare_cases("cases", digests.into_iter());
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..20 {
        assert_eq!(check(seed), check(seed), "case {seed}");
    }
}
