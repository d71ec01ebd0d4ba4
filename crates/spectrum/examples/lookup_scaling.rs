//! What one look at a primary user costs as its log grows: `cargo run --release -p cogtcp-spectrum --example
//! lookup_scaling`.
//!
//! For logs of 10^3 to 10^6 ON intervals it prints nanoseconds per look: in the order of time, as a radio
//! looks, and at random places. These also pay for memory that is in no cache, as does the last column: one
//! read at a random place of a table as large as the log, which is the least that any way to look could cost
//! there. A table, not a test.

// A benchmark reads the clock; the model never does.
#![allow(clippy::disallowed_types)]

use cogtcp_spectrum::Intervals;
use cogtcp_spectrum::activity::{ActivityLaw, LawError};
use cogtcp_units::{Duration, RandomStream, Time};
use std::hint::black_box;
use std::time::Instant;

/// Looks per measurement.
const LOOKS: u64 = 2_000_000;
/// Looks that are timed together; of these measurements the fastest counts: the others were disturbed.
const TOGETHER: usize = 50_000;
/// Length of the window, t_s.
const WINDOW: Duration = Duration::from_millis(100);

fn main() -> Result<(), LawError> {
    println!(
        "{:>10}  {:>22}  {:>22}  {:>22}  {:>22}",
        "intervals",
        "overlaps, in order",
        "busy time, in order",
        "overlaps, at random",
        "one read, at random"
    );
    let law = ActivityLaw::exponential(1.0, 1.0)?;
    for exponent in 3..=6 {
        // ON and OFF for a second each on average: two seconds an interval.
        let horizon = Duration::from_secs(2 * 10u64.pow(exponent));
        let intervals = law.generate(horizon, 1, 0)?;
        let span = horizon.as_nanos() - WINDOW.as_nanos();
        // A radio looks about once a second, whatever the length of the log.
        let step = 1_000_000_000;
        let in_order: Vec<Time> = (0..LOOKS).map(|i| Time::from_nanos(i * step % span)).collect();
        let mut stream = RandomStream::new(2, "looks", 0);
        let at_random: Vec<Time> = (0..LOOKS).map(|_| Time::from_nanos(stream.below(span))).collect();

        let overlaps = |at: Time| u64::from(intervals.overlaps(at, at + WINDOW));
        let busy = |at: Time| intervals.busy_in(at, at + WINDOW).as_nanos();
        let table: Vec<u64> = intervals.as_slice().iter().flat_map(|on| [on.arrival.as_nanos(), 0]).collect();
        let read = |at: Time| table[(at.as_nanos() % table.len() as u64) as usize];
        println!(
            "{:>10}  {:>19.1} ns  {:>19.1} ns  {:>19.1} ns  {:>19.1} ns",
            intervals.len(),
            nanos_per_look(&in_order, overlaps),
            nanos_per_look(&in_order, busy),
            nanos_per_look(&at_random, overlaps),
            nanos_per_look(&at_random, read),
        );
    }
    println!("slow walk over all intervals, for comparison:");
    for exponent in 3..=4 {
        let intervals = law.generate(Duration::from_secs(2 * 10u64.pow(exponent)), 1, 0)?;
        let places: Vec<Time> = (0..2000).map(|i| Time::from_millis(i * 1000)).collect();
        let walk = nanos_per_look(&places, |at| u64::from(walk(&intervals, at)));
        println!("{:>10}  {walk:>19.1} ns", intervals.len());
    }
    Ok(())
}

fn walk(intervals: &Intervals, at: Time) -> bool {
    intervals.as_slice().iter().any(|on| on.arrival < at + WINDOW && on.departure > at)
}

fn nanos_per_look(places: &[Time], look: impl Fn(Time) -> u64) -> f64 {
    let mut best = f64::INFINITY;
    for part in places.chunks(TOGETHER) {
        let start = Instant::now();
        let mut sum = 0u64;
        for at in part {
            sum = sum.wrapping_add(look(black_box(*at)));
        }
        black_box(sum);
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / part.len() as f64);
    }
    best
}
