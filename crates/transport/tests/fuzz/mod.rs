//! Model-based fuzzing of sender against receiver over a lossy, reordering, duplicating, pausing path.
//!
//! Everything follows from one 64-bit seed: the settings of both ends, the control, what the application
//! writes and reads, what the path does to each segment. The model is the stream itself: the fuzzer holds the
//! bytes, copies what the receiver says it accepts, and compares. A run must deliver every byte once and
//! close within bounded virtual time.
//!
//! A failure prints its seed. To replay it, or to try more seeds:
//!
//! ```text
//! COGTCP_FUZZ_SEED=17 cargo test -p cogtcp-transport --test all fuzz
//! COGTCP_FUZZ_SEEDS=100000 cargo test -p cogtcp-transport --test all fuzz
//! ```

#![allow(unreachable_pub)]

mod loss;
mod path;
mod settings;
mod world;

use crate::committed::compare_cases;
use world::World;

/// Prints how to replay when a seed fails, also when a debug assertion inside the endpoints does.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay: COGTCP_FUZZ_SEED={} cargo test -p cogtcp-transport --test all fuzz", self.0);
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: a whole number is wanted")))
}

fn run(seed: u64) -> u64 {
    let _replay = Replay(seed);
    World::new(seed).run()
}

/// Data arrives intact, in order, once, and the connection closes.
#[test]
fn data_arrives_intact_and_in_order() {
    if let Some(seed) = variable("COGTCP_FUZZ_SEED") {
        run(seed);
        return;
    }
    match variable("COGTCP_FUZZ_SEEDS") {
        Some(seeds) => (0..seeds).for_each(|seed| _ = run(seed)),
        // What is sent is committed.
        None => compare_cases("fuzz", (0..600).map(run)),
    }
}

/// Random sequences of hooks for the control of every preset (`cogtcp_transport::conformance`).
#[test]
fn controls_conform() {
    use cogtcp_transport::{Parameters, Preset, conformance::check_congestion_control_with_seeds, make};
    let seeds = match variable("COGTCP_FUZZ_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..variable("COGTCP_FUZZ_SEEDS").unwrap_or(400),
    };
    for preset in Preset::all() {
        let parameters = preset.parameters(&Parameters::new());
        let build = || make(preset.control, &parameters).expect("a preset builds its control");
        check_congestion_control_with_seeds(build, seeds.clone())
            .unwrap_or_else(|failure| panic!("{}: {failure}", preset.name));
    }
}

/// The same seed gives the same segments at the same times.
#[test]
fn runs_are_deterministic() {
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}
