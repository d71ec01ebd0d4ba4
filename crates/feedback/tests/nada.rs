//! NADA against the equilibrium that RFC 8698 states: the queue and the shares of a bottleneck.

use cogtcp_endpoint::{Connection, Datagram, Pair, PathId, Protocol, Received, Supply};
use cogtcp_feedback::NadaSettings;
use cogtcp_units::{Duration, Time};

const SEGMENT: u32 = 200;
const ONE_WAY: Duration = Duration::from_millis(20);

/// Calls over one bottleneck of `capacity` bit/s with an unlimited queue. Returns the mean rate of each call
/// in bit/s and the mean queuing delay in seconds, both over the last half of `seconds`.
fn share(capacity: u64, calls: &[NadaSettings], seconds: u64, drop_each: Option<u64>) -> (Vec<f64>, f64) {
    let connection = Connection { segment_size: SEGMENT, paths: 1, seed: 0 };
    let mut pairs: Vec<Pair> = calls.iter().map(|call| call.build(connection)).collect();
    let mut flights: Vec<(Time, usize, bool, Datagram)> = Vec::new();
    let (mut free, mut now, mut offered) = (Time::ZERO, Time::ZERO, 0_u64);
    let (mut received, mut waits) = (vec![0_u64; calls.len()], Vec::new());
    let (half, end) = (Time::from_millis(500 * seconds), Time::from_millis(1000 * seconds));
    for pair in &mut pairs {
        pair.receiver.open(now);
        pair.sender.open(now);
        pair.sender.supply(now, Supply::Saturated(true));
    }
    while now < end {
        for (call, pair) in pairs.iter_mut().enumerate() {
            while let Some(out) = pair.sender.poll_transmit(now) {
                offered += 1;
                if drop_each.is_some_and(|each| offered % each == 0) {
                    continue;
                }
                let start = free.max(now);
                if now > half {
                    waits.push((start - now).as_secs_f64());
                }
                let bits = 8 * u64::from(out.packet.wire_size());
                free = start + Duration::from_nanos(bits * 1_000_000_000 / capacity);
                flights.push((free + ONE_WAY, call, true, out.packet));
            }
            while let Some(out) = pair.receiver.poll_transmit(now) {
                flights.push((now + ONE_WAY, call, false, out.packet));
            }
            while pair.sender.poll_event().is_some() || pair.receiver.poll_event().is_some() {}
        }
        let timers = pairs.iter().flat_map(|it| [it.sender.poll_timeout(), it.receiver.poll_timeout()]);
        let next = timers.chain(flights.iter().map(|it| it.0)).min().unwrap_or(Time::MAX);
        now = next.max(now);
        for pair in &mut pairs {
            if pair.sender.poll_timeout() <= now {
                pair.sender.handle_timeout(now);
            }
            if pair.receiver.poll_timeout() <= now {
                pair.receiver.handle_timeout(now);
            }
        }
        let mut rest = Vec::new();
        for (at, call, is_data, packet) in std::mem::take(&mut flights) {
            if at > now {
                rest.push((at, call, is_data, packet));
                continue;
            }
            let got = Received { packet: &packet, path: PathId::default(), marked: false };
            if is_data {
                received[call] += if now > half { u64::from(SEGMENT) } else { 0 };
                pairs[call].receiver.handle_packet(now, got);
            } else {
                pairs[call].sender.handle_packet(now, got);
            }
        }
        flights = rest;
    }
    let span = (end - half).as_secs_f64();
    let rates = received.iter().map(|bytes| 8.0 * *bytes as f64 / span).collect();
    (rates, waits.iter().sum::<f64>() / waits.len() as f64)
}

/// The payload's share of a packet: 200 B of 244 B with the headers of NADA, UDP and IPv4.
const PAYLOAD: f64 = 200.0 / 244.0;

/// A call alone fills 1 Mbit/s with 0.82 Mbit/s of media. The signal is the queuing delay without loss, and
/// the equilibrium PRIO x XREF x RMAX / r: 1 x 10 ms x 1.5 / 0.82 = 18.3 ms.
#[test]
fn the_queue_is_that_of_the_equilibrium() {
    let (rates, wait) = share(1_000_000, &[NadaSettings::default()], 120, None);
    let rate = 1e6 * PAYLOAD;
    assert!((rates[0] / rate - 1.0).abs() < 0.02, "{rates:?}");
    let expected = 0.010 * 1.5e6 / rate;
    // The minimum filter takes the least of 15 packets, which wait up to a packet's 2 ms less.
    assert!((wait - expected).abs() < 0.003, "{wait} and {expected}");
}

/// Two calls see one signal, so PRIO / r is equal: a call of twice the priority has twice the rate.
#[test]
fn calls_share_by_their_priorities() {
    let call = |priority| NadaSettings { priority, ..NadaSettings::default() };
    let (rates, _) = share(2_000_000, &[call(1.0), call(1.0)], 120, None);
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.05, "{rates:?}");
    let (rates, _) = share(1_500_000, &[call(2.0), call(1.0)], 240, None);
    assert!((rates[0] / rates[1] - 2.0).abs() < 0.1, "{rates:?}");
}

/// Room for more than RMAX: the call comes to RMAX, without a queue.
#[test]
fn a_call_ends_at_its_highest_rate() {
    let (rates, wait) = share(5_000_000, &[NadaSettings::default()], 30, None);
    assert!((rates[0] / 1.5e6 - 1.0).abs() < 0.01, "{rates:?}");
    assert!(wait < 0.001, "{wait}");
}

/// Losses of 1 % are PLRREF: the signal is DLOSS = 10 ms, and the rate XREF x RMAX / 10 ms = RMAX. Losses of
/// 2 % are four times DLOSS: RMAX / 4.
#[test]
fn loss_is_weighed_by_the_square_of_its_ratio() {
    let (rates, _) = share(5_000_000, &[NadaSettings::default()], 120, Some(50));
    assert!((rates[0] / (1.5e6 / 4.0) - 1.0).abs() < 0.15, "{rates:?}");
}

/// The series that the page names, from both ends.
#[test]
fn both_ends_show_what_they_compute() {
    let connection = Connection { segment_size: SEGMENT, paths: 1, seed: 0 };
    let mut pair = NadaSettings::default().build(connection);
    pair.receiver.open(Time::ZERO);
    pair.sender.open(Time::ZERO);
    let mut shown = Vec::new();
    pair.sender.observe(&mut |name, value| shown.push((name, value)));
    // RMIN, 150 kbit/s, and no signal yet.
    assert_eq!(shown, [("reference_rate_bps", 150_000.0), ("congestion_signal_s", 0.0)]);
    let mut names = Vec::new();
    pair.receiver.observe(&mut |name, _| names.push(name));
    assert!(names.contains(&"loss_ratio"), "{names:?}");
}
