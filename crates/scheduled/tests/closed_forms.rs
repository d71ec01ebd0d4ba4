//! Frames, rates, schedulers and requests against closed forms.

use cogtcp_scheduled::adaptation::{Carrier, EFFICIENCIES, cqi};
use cogtcp_scheduled::frame::{Direction, Frame};
use cogtcp_scheduled::request::Request;
use cogtcp_scheduled::scheduler::{Candidate, Rule, Scheduler};
use cogtcp_units::{Decibel, Duration, RandomStream, Time};

const MS: Duration = Duration::from_millis(1);

fn close(measured: f64, theory: f64, tolerance: f64) {
    assert!((measured / theory - 1.0).abs() <= tolerance, "measured {measured}, theory {theory}");
}

/// Configuration 1 has 4 downlink, 4 uplink and 2 special subframes; 2 has 6, 2 and 2. Special configuration 7 is 10:2:2.
#[test]
fn shares_of_tdd_patterns_are_those_of_their_symbols() {
    for (number, down, up) in [(1, 4.0, 4.0), (2, 6.0, 2.0), (0, 2.0, 6.0), (5, 8.0, 1.0)] {
        let special = if number == 5 { 1.0 } else { 2.0 };
        let frame = Frame::lte_tdd(number, 7).unwrap();
        close(frame.share(Direction::Downlink), (down + special * 10.0 / 14.0) / 10.0, 1e-12);
        close(frame.share(Direction::Uplink), (up + special * 2.0 / 14.0) / 10.0, 1e-12);
    }
    let nr = Frame::tdd("DDDSU", (10, 2, 2), Duration::from_micros(500)).unwrap();
    close(nr.share(Direction::Downlink), (3.0 + 10.0 / 14.0) / 5.0, 1e-12);
    assert_eq!(Frame::fdd(MS).unwrap().share(Direction::Uplink), 1.0);
}

/// The peak is bits of a slot x share / length, and a count of the slots of a second finds the same.
#[test]
fn peak_rates_are_those_of_counted_slots() {
    let carrier = Carrier { blocks: 100, layers: 2, overhead: 0.25 };
    for (number, direction) in [(1, Direction::Downlink), (1, Direction::Uplink), (2, Direction::Downlink)] {
        let frame = Frame::lte_tdd(number, 7).unwrap();
        let (mut at, mut bits) = (Time::ZERO, 0);
        loop {
            let (slot, symbols) = frame.next(direction, at);
            if slot >= Time::from_millis(1000) {
                break;
            }
            bits += carrier.bits(15, 100, symbols);
            at = slot + MS;
        }
        close(carrier.peak(&frame, direction, 15).bits_per_second() as f64, bits as f64, 1e-4);
    }
}

#[test]
fn patterns_that_do_not_add_up_are_refused_with_their_place() {
    let refused = |pattern: &str, special| Frame::tdd(pattern, special, MS).unwrap_err().to_string();
    let special = (10, 2, 2);
    for (error, wanted) in [
        (refused("DDXSU", special), "slot 3 of the TDD pattern \"DDXSU\" is \"X\"; write D, S or U"),
        (refused("DDU", special), "slot 3 of the TDD pattern \"DDU\" turns to uplink without a guard"),
        (
            refused("DSDSU", special),
            "slot 2 of the TDD pattern \"DSDSU\" is special, and not between D and U",
        ),
        (refused("DDD", special), "has no uplink"),
        (refused("", special), "has no downlink"),
        (refused("DSU", (10, 2, 3)), "10:2:3 symbols has 15; it has 14"),
        (refused("DSU", (12, 0, 2)), "at least one of them guard"),
        (Frame::lte_tdd(7, 7).unwrap_err().to_string(), "no LTE TDD configuration 7; write 0 to 6"),
        (
            Frame::lte_tdd(1, 9).unwrap_err().to_string(),
            "no LTE special subframe configuration 9; write 0 to 8",
        ),
        (Frame::fdd(Duration::ZERO).unwrap_err().to_string(), "the slot is zero long"),
    ] {
        assert!(error.contains(wanted), "{error}");
    }
}

/// The CQI of an SINR is the last whose efficiency the channel has: at its own SINR it is chosen, a little below the one before.
#[test]
fn the_cqi_is_the_highest_that_the_channel_carries() {
    let gap = 5.529_366_426_7; // -ln(5 x 5e-5) / 1.5
    for (place, efficiency) in EFFICIENCIES.iter().enumerate() {
        let needed = 10.0 * ((efficiency.exp2() - 1.0) * gap).log10();
        assert_eq!(cqi(Decibel(needed + 1e-6), 5e-5), Some(place + 1));
        assert_eq!(cqi(Decibel(needed - 1e-6), 5e-5), (place > 0).then_some(place));
    }
}

/// Rates of independent exponential fading, many slots: round robin gives each its mean, proportional fair H_n = 1 + 1/2 + ... + 1/n times
/// that (as max-rate does among equals), and equal shares among users of unequal means.
#[test]
fn proportional_fair_gains_the_harmonic_number() {
    const SLOTS: usize = 200_000;
    for users in [1, 2, 5, 20] {
        let harmonic: f64 = (1..=users).map(|user| 1.0 / f64::from(user)).sum();
        let mut totals = Vec::new();
        for rule in [Rule::RoundRobin, Rule::ProportionalFair { slots: 2000.0 }] {
            let mut fading = RandomStream::new(1, "fading", 0);
            let mut scheduler = Scheduler::new(rule, users as usize);
            let mut total = vec![(0.0, 0_u32); users as usize];
            for _ in 0..SLOTS {
                // User k has k + 1 times the mean rate of the first.
                let each = (1..=users).map(|user| f64::from(user) * fading.standard_exponential());
                let candidates: Vec<_> = each.map(|bits| Candidate { bits, is_waiting: true }).collect();
                let user = scheduler.choose(&candidates).unwrap();
                total[user].0 += candidates[user].bits;
                total[user].1 += 1;
            }
            for (_, slots) in &total {
                close(f64::from(*slots), SLOTS as f64 / f64::from(users), 0.04);
            }
            totals.push(total.iter().map(|(bits, _)| bits).sum::<f64>());
        }
        close(totals[1] / totals[0], harmonic, 0.02);
    }
}

#[test]
fn users_without_data_have_no_slot_and_the_best_has_all_of_max_rate() {
    let candidate = |bits, is_waiting| Candidate { bits, is_waiting };
    let mut scheduler = Scheduler::new(Rule::RoundRobin, 3);
    let some = [candidate(1.0, true), candidate(1.0, false), candidate(1.0, true)];
    let turns: Vec<_> = (0..4).map(|_| scheduler.choose(&some)).collect();
    assert_eq!(turns, [Some(0), Some(2), Some(0), Some(2)]);
    assert_eq!(scheduler.choose(&some.map(|it| candidate(it.bits, false))), None);
    let mut greedy = Scheduler::new(Rule::MaxRate, 2);
    assert!((0..9).all(|_| greedy.choose(&[candidate(1.0, true), candidate(2.0, true)]) == Some(1)));
}

/// FDD, opportunities every 10 ms, 4 ms and 4 ms: data comes 0 to 10 ms, 1 ms for the request's slot and 8 ms later; 14 ms in the mean.
#[test]
fn a_request_takes_half_a_period_and_two_processing_times() {
    let frame = Frame::fdd(MS).unwrap();
    let four = Duration::from_millis(4);
    let request =
        Request { period: Duration::from_millis(10), offset: MS * 3, to_grant: four, to_data: four };
    let arrivals = (0..100_000).map(|number| Time::from_nanos(number * 100_003));
    let waits: Vec<f64> =
        arrivals.map(|at| request.data_at(&frame, at).saturating_since(at).as_secs_f64()).collect();
    close(waits.iter().sum::<f64>() / waits.len() as f64, 0.014, 0.02);
    assert!(waits.iter().all(|wait| (0.009..0.019_000_1).contains(wait)));
    // By hand on TDD configuration 1, DSUUDDSUUD: the opportunity at 13 ms is an uplink slot, the grant at 18 ms finds downlink at 19 ms, and
    // the data from 23 ms on is uplink at once.
    let tdd = Frame::lte_tdd(1, 7).unwrap();
    assert_eq!(request.data_at(&tdd, Time::from_millis(4)), Time::from_millis(23));
}
