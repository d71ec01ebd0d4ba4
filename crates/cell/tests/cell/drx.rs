//! Discontinuous reception against the closed form of the delay that it adds.

use crate::cell::support::*;
use cogtcp_cell::CellConfig;
use cogtcp_cell::drx::DrxTimers;
use cogtcp_units::{Duration, Time};

/// Delay of packets `gap` milliseconds and some microseconds apart, so that they meet the cycle everywhere:
/// mean, in milliseconds.
fn delay(drx: Option<DrxTimers>, gap: u64) -> f64 {
    const PACKETS: u64 = 4000;
    let mut run = Run::new(CellConfig { drx, ..config(1) }, [false, false]);
    let mut waited = 0.0;
    for number in 0..PACKETS {
        let at = Time::from_nanos(number * (gap * 1_000_000 + 77_777));
        run.play(at, &mut clear());
        run.offer(at, 0, DOWN, 500);
        let until = Time::from_nanos((number + 1) * (gap * 1_000_000 + 77_777) - 1);
        run.play(until, &mut clear());
        waited += run.left.pop().unwrap().0.saturating_since(at).as_secs_f64();
    }
    waited / PACKETS as f64 * 1e3
}

/// Of a cycle of C slots a user sleeps through S. A packet whose slot would be the k-th last of them waits k
/// slots more: in the mean (1 + 2 + ... + S) / C = S (S + 1) / (2 C) slots of 1 ms.
fn added_by(cycle: u64, on: u64) -> f64 {
    let sleep = (cycle - on) as f64;
    sleep * (sleep + 1.0) / (2.0 * cycle as f64)
}

/// A user that sleeps adds the mean rest of its sleep.
#[test]
fn a_cycle_adds_the_mean_rest_of_its_sleep() {
    for (cycle, on) in [(320, 10), (160, 40), (40, 20)] {
        let drx = DrxTimers { inactivity: MS * 5, on: MS * on, cycle: MS * cycle, short: None };
        close(delay(Some(drx), 1000) - delay(None, 1000), added_by(cycle, on), 0.02);
    }
}

/// Packets that come before the inactivity timer runs out wait for nothing; those after it wait for the short
/// cycle while its timer runs, and then for the long one.
#[test]
fn the_inactivity_timer_keeps_a_user_awake_and_the_short_cycle_follows() {
    let short = Some((MS * 40, MS * 640));
    let drx = DrxTimers { inactivity: MS * 100, on: MS * 10, cycle: MS * 320, short };
    let none = delay(None, 60);
    assert_eq!(delay(Some(drx), 60), none);
    let added = |gap: u64| delay(Some(drx), gap) - delay(None, gap);
    // 500 ms are within the 100 and then 640 ms of the two timers, 2 s beyond them.
    close(added(500), added_by(40, 10), 0.02);
    close(added(2000), added_by(320, 10), 0.02);
    let always =
        DrxTimers { inactivity: Duration::from_millis(1), on: MS * 319, cycle: MS * 320, short: None };
    // One slot of sleep in 320 adds 0.003 ms.
    assert!(delay(Some(always), 1000) - delay(None, 1000) < 0.01);
}

/// Returns how long a packet waits that comes `at` a millisecond, after one in the first slot.
fn wait_after_one(drx: DrxTimers, at: u64) -> u64 {
    let left = |drx| {
        let mut run = Run::new(CellConfig { drx, ..config(1) }, [false, false]);
        run.offer(Time::ZERO, 0, DOWN, 500);
        let at = Time::from_millis(at) - Duration::from_micros(1);
        run.play(at, &mut clear());
        run.offer(at, 0, DOWN, 500);
        run.play(Time::from_millis(900), &mut clear());
        run.left.last().unwrap().0
    };
    left(Some(drx)).saturating_since(left(None)).as_nanos() / 1_000_000
}

/// TS 36.321 section 5.7: an on-duration begins with a cycle of the kind in use. The timer of the grant in
/// slot 0 runs to 21 ms; the short cycle of 20 ms is in use from then to 61 ms.
#[test]
fn an_on_duration_begins_with_a_cycle_in_use_and_lasts() {
    let drx =
        DrxTimers { inactivity: MS * 20, on: MS * 10, cycle: MS * 100, short: Some((MS * 20, MS * 40)) };
    let waits = |drx, times: &[u64]| times.iter().map(|at| wait_after_one(drx, *at)).collect::<Vec<_>>();
    // None began at 20 ms, as the long cycle was in use. That of 60 ms lasts to 70 ms.
    assert_eq!(waits(drx, &[20, 21, 30, 40, 49, 50, 60, 69, 70]), [0, 19, 10, 0, 0, 10, 0, 0, 30]);
    // An on-duration of the long cycle outlasts a shorter inactivity timer.
    let brief = DrxTimers { inactivity: MS * 2, short: Some((MS * 20, MS * 20)), ..drx };
    assert_eq!(waits(brief, &[3, 9, 10, 20, 29, 30]), [0, 0, 10, 0, 0, 70]);
}

/// Uplink data is asked for at once: the cycle adds nothing.
#[test]
fn the_uplink_wakes_a_user() {
    let drx = DrxTimers { inactivity: MS * 5, on: MS * 10, cycle: MS * 320, short: None };
    let delay = |drx| {
        let mut run = Run::new(CellConfig { drx, ..config(1) }, [false, false]);
        run.offer(Time::from_millis(100), 0, UP, 40);
        run.play(Time::from_millis(900), &mut clear());
        run.left[0].0
    };
    assert_eq!(delay(Some(drx)), delay(None));
}
