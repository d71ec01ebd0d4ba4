//! On a bare path: one bottleneck of 10 Mbit/s, 40 ms, an ACK for each packet; a BDP is 50 kB.

use super::*;
use crate::congestion::bbr::tests::Path;
use crate::congestion::testing::{Bench, MSS};

const BDP: u64 = 50_000;

fn bbr() -> Bbr1 {
    Bbr1::new(&Parameters::new().with_number("high_gain", 2.885).with_number("cwnd_gain", 2.0))
}

/// In 2^-24 segments per microsecond.
const fn per_micro(segments: u64, micros: u64) -> u64 {
    (segments << 24) / micros
}

fn path(buffer: u64) -> Path {
    Path::of("bbr1", 10, 40, buffer)
}

fn run_to(path: &mut Path, mode: &str, limit_s: f64) {
    while path.shown("mode") != mode {
        assert!(path.now < Time::from_secs_f64(limit_s), "{mode} not reached: {:?}", path.bbr);
        path.step();
    }
}

/// CACM 2017: Startup doubles each round and ends when three rounds bring less than a quarter more; Drain
/// empties what it queued.
#[test]
fn startup_and_drain() {
    let mut path = path(u64::MAX / 16);
    run_to(&mut path, "Drain", 2.0);
    let rounds = path.now.as_secs_f64() / 0.04;
    // Five doublings, and three rounds behind a queue of up to 1.885 BDP.
    assert!((9.0..16.0).contains(&rounds), "{rounds} base round trips");
    // Window gain 2.885, and up to eight segments of quanta.
    assert!(
        path.tcp.in_flight > 2 * BDP && path.tcp.in_flight <= 3 * BDP + 8 * MSS,
        "{}",
        path.tcp.in_flight
    );
    run_to(&mut path, "ProbeBw", 2.0);
    assert!(path.tcp.in_flight <= BDP + 9 * MSS, "{}", path.tcp.in_flight);
}

/// bbr_set_pacing_rate(): the rate only rises until the link is known to be full. Before the first sample it is
/// cwnd / SRTT.
#[test]
fn before_the_link_is_full_the_pacing_rate_never_falls() {
    let mut bbr = bbr();
    let mut tcp = TcpState {
        srtt: Duration::from_millis(100),
        pacing_rate: None,
        ..crate::congestion::testing::tcp(10)
    };
    let mut rate = |bbr: &Bbr1, gain: u64| {
        bbr.set_pacing_rate(&mut tcp, bbr.bw(), gain);
        tcp.pacing_rate.unwrap().bits_per_second()
    };
    // 10 segments in 100 ms are 1677 / 2^24 a microsecond: 1677 * 1000 * 990,000 / 2^24 = 98,957.3 bytes a second.
    let first = 8 * ((1677 * MSS * 990_000) >> 24);
    assert_eq!((per_micro(10, 100_000), rate(&bbr, UNIT)), (1677, first));
    let bw = per_micro(20, 100_000);
    bbr.max_bw.update(1, bw as f64, 10);
    let twice = 8 * ((2 * bw * MSS * 990_000) >> 24);
    assert_eq!(rate(&bbr, 2 * UNIT), twice);
    assert_eq!(rate(&bbr, UNIT), twice, "a lower gain waits");
    bbr.full = true;
    assert_eq!(rate(&bbr, UNIT), 8 * ((bw * MSS * 990_000) >> 24));
}

/// In 1/256: bbr_high_gain, bbr_drain_gain, bbr_cwnd_gain.
#[test]
fn gains_are_those_of_linux() {
    let bbr = bbr();
    assert_eq!((bbr.high_gain, bbr.drain_gain, bbr.cwnd_gain), (739, 88, 512));
}

/// 12 segments in 10,001 us are 20,130 / 2^24 a microsecond. The least RTT of 3,333 us has 3.9991 segments, rounded
/// up to 4. With a gain of 739/256 they are 11.54, rounded up to 12.
#[test]
fn a_bdp_is_rounded_up() {
    let mut bbr = bbr();
    bbr.min_rtt = Duration::from_micros(3_333);
    let tcp = crate::congestion::testing::tcp(10);
    let bw = per_micro(12, 10_001);
    assert_eq!((bw, bbr.bdp(bw, UNIT, &tcp), bbr.bdp(bw, 739, &tcp)), (20_130, 4, 12));
}

/// The window of ProbeRTT limits samples of what was sent in it, and not what was in flight before.
#[test]
fn probe_rtt_limits_what_was_sent_in_it() {
    let mut bbr = bbr();
    bbr.mode = Mode::ProbeRtt;
    let mut tcp = crate::congestion::testing::tcp(10);
    (tcp.delivered, tcp.in_flight) = (20 * MSS, 5 * MSS);
    let mut limited = |prior: u64| {
        let mut ack = AckSample { delivered: MSS, ..AckSample::default() };
        (ack.rate.delivered, ack.rate.interval) = (2 * MSS, Duration::from_millis(1));
        ack.rate.prior_delivered = prior * MSS;
        // A sample that the application limits and that is no record is not used.
        bbr.max_bw = WindowedMax::default();
        bbr.max_bw.update(0, per_micro(3, 1000) as f64, 10);
        bbr.round = 11;
        bbr.next_round_delivered = u64::MAX;
        bbr.cong_control(Time::from_millis(100), &mut tcp, &ack);
        bbr.max_bw() == per_micro(3, 1000)
    };
    limited(0);
    assert_eq!([19, 20, 25, 26].map(&mut limited), [false, true, true, false]);
}

/// In ProbeBW the link is full and cwnd is two BDP and the quanta. The pacing gain is 5/4, 3/4, 1, 1, 1, 1,
/// 1, 1: a round trip each.
#[test]
fn probe_bw_cycles_through_eight_phases() {
    let mut path = path(u64::MAX / 16);
    run_to(&mut path, "ProbeBw", 2.0);
    path.run_until(3.0);
    let (from, delivered) = (path.now, path.tcp.delivered);
    let mut phases: Vec<(usize, Time)> = Vec::new();
    while path.now < from + Duration::from_secs(4) {
        let index: usize = path.shown("cycle_index").parse().unwrap();
        if phases.last().is_none_or(|(last, _)| *last != index) {
            phases.push((index, path.now));
            let gain = path.tcp.pacing_rate.unwrap().bits_per_second() as f64 / (1e7 * 0.99);
            // While it does not probe it sees its own pacing, 1 % below.
            assert!((gain - CYCLE[index] as f64 / UNIT as f64).abs() < 0.05, "phase {index} at gain {gain}");
        }
        path.step();
        assert!(path.tcp.cwnd >= 2 * BDP && path.tcp.cwnd <= 2 * BDP + 12 * MSS, "{}", path.tcp.cwnd);
    }
    let rate = (path.tcp.delivered - delivered) as f64 * 8.0 / (path.now - from).as_secs_f64();
    assert!(rate > 0.97e7, "{rate}");
    for pair in phases.windows(2).skip(1) {
        assert_eq!(pair[1].0, (pair[0].0 + 1) % 8);
        let length = (pair[1].1 - pair[0].1).as_secs_f64();
        assert!(length < 0.13, "phase {} takes {length} s", pair[0].0);
    }
    // 4 s of phases of 40 ms, of which one waits until a quarter more is in flight.
    assert!((50..=100).contains(&phases.len()), "{}", phases.len());
}

/// 10 s after the least RTT was last seen the window is four segments for 200 ms and a round trip, and then
/// what it was.
#[test]
fn probe_rtt_every_ten_seconds() {
    let mut path = path(u64::MAX / 16);
    run_to(&mut path, "ProbeBw", 2.0);
    run_to(&mut path, "ProbeRtt", 13.0);
    let (begin, before) = (path.now, path.tcp.cwnd);
    assert!(begin.as_secs_f64() > 10.0);
    let mut least = u64::MAX;
    while path.shown("mode") == "ProbeRtt" {
        least = least.min(path.tcp.in_flight);
        path.step();
    }
    assert!(least <= LEAST_SEGMENTS * MSS, "{least}");
    let length = (path.now - begin).as_secs_f64();
    assert!((0.2..0.5).contains(&length), "{length}");
    assert!(path.tcp.cwnd >= before.min(2 * BDP), "{}", path.tcp.cwnd);
    let rtt: f64 = path.shown("min_rtt").trim_end_matches(" ms").parse().unwrap_or(0.04 * 1e3);
    assert!((rtt - 40.0).abs() < 2.0, "{rtt}");
}

/// A channel of half the rate: the maximum of ten rounds forgets the old rate in ten round trips of the
/// longer queue, and the window follows.
#[test]
fn the_bandwidth_of_ten_rounds_is_forgotten() {
    let mut path = path(u64::MAX / 16);
    path.run_until(4.0);
    path.rate = Rate::from_bits_per_second(5_000_000);
    path.run_until(8.0);
    let shown = path.tcp.pacing_rate.unwrap().bits_per_second() as f64;
    assert!((0.7 * 4.9e6..1.3 * 5e6).contains(&shown), "{shown}");
    assert!(path.tcp.cwnd < 80_000, "{} {:#?}", path.tcp.cwnd, path.bbr);
}

/// A buffer of a fifth of a BDP loses what two BDP in flight are too many, and the rate stays: what version 3
/// does away with.
#[test]
fn a_shallow_buffer_does_not_slow_it() {
    let mut path = path(BDP / 5);
    path.run_until(3.0);
    let (from, delivered, drops) = (path.now, path.tcp.delivered, path.drops);
    path.run_until(9.0);
    let rate = (path.tcp.delivered - delivered) as f64 * 8.0 / (path.now - from).as_secs_f64();
    // Of 8 phases one loses its quarter and one drains a quarter that is not there.
    assert!(rate > 0.85e7, "{rate}");
    assert!(path.drops > drops);
}

/// Packet conservation for a round of fast recovery, and the window of before at its end.
#[test]
fn recovery_conserves_packets_and_gives_the_window_back() {
    let mut bench = Bench::new("bbr1", &[], 40);
    for _ in 0..3 {
        bench.round(Duration::from_millis(100));
    }
    let before = bench.tcp.cwnd;
    bench.control.ssthresh(bench.now, &bench.tcp);
    bench.tcp.in_flight = 10 * MSS;
    bench.set_state(CaState::Recovery);
    let ack = AckSample { delivered: 2 * MSS, lost: MSS, ..AckSample::default() };
    bench.control.cong_control(bench.now, &mut bench.tcp, &ack);
    assert_eq!(bench.tcp.cwnd, 12 * MSS);
    bench.set_state(CaState::Open);
    let ack = AckSample { delivered: MSS, ..AckSample::default() };
    bench.control.cong_control(bench.now, &mut bench.tcp, &ack);
    assert_eq!(bench.tcp.cwnd, before);
    // After a timeout: one segment, and back.
    bench.control.ssthresh(bench.now, &bench.tcp);
    bench.tcp.in_flight = 0;
    bench.set_state(CaState::Loss);
    assert_eq!(bench.tcp.cwnd, MSS);
    bench.set_state(CaState::Open);
    bench.control.cong_control(bench.now, &mut bench.tcp, &ack);
    assert_eq!(bench.tcp.cwnd, before);
}

/// A round that ends with the ACK that begins recovery is counted, and a new round begins with recovery
/// (`bbr_update_bw`, then `bbr_set_cwnd_to_recover_or_restore`).
#[test]
fn the_ack_that_begins_recovery_may_end_a_round() {
    let mut bbr = bbr();
    let mut tcp = crate::congestion::testing::tcp(10);
    (tcp.ca_state, tcp.delivered, bbr.next_round_delivered) = (CaState::Recovery, 5 * MSS, MSS);
    let mut ack = AckSample { delivered: MSS, ..AckSample::default() };
    (ack.rate.delivered, ack.rate.interval, ack.rate.prior_delivered) =
        (4 * MSS, Duration::from_millis(40), MSS);
    bbr.cong_control(Time::from_millis(100), &mut tcp, &ack);
    assert_eq!((bbr.round, bbr.conserving, bbr.next_round_delivered), (1, true, 5 * MSS));
}

/// `bbr_packets_in_net_at_edt`: at a segment a millisecond 5.9 ms bring five; while probing the next packet of two
/// counts.
#[test]
fn the_flight_is_that_at_the_next_departure() {
    let mut bbr = bbr();
    bbr.max_bw.update(1, per_micro(1001, 1_000_000) as f64, 10);
    let mut tcp = crate::congestion::testing::tcp(10);
    tcp.next_departure = Time::from_nanos(105_900_000);
    let at = Time::from_millis(100);
    bbr.pacing_gain = UNIT;
    assert_eq!(bbr.in_flight_at_departure(at, 10 * MSS, &tcp), 5);
    bbr.pacing_gain = UNIT * 5 / 4;
    tcp.pacing_rate = Some(Rate::from_bits_per_second(8_000_000));
    assert_eq!(bbr.in_flight_at_departure(at, 10 * MSS, &tcp), 7);
    assert_eq!(bbr.in_flight_at_departure(at, MSS, &tcp), 0);
}

/// What bursts brought beyond bw is the greatest of five to ten rounds: two spans of five; the older
/// is forgotten.
#[test]
fn aggregation_is_remembered_for_two_spans_of_five_rounds() {
    let mut bbr = bbr();
    (bbr.full, bbr.round_start) = (true, true);
    bbr.max_bw.update(1, per_micro(10_001, 10_000_000) as f64, 10);
    let mut tcp = crate::congestion::testing::tcp(100);
    // A burst of 60 segments in no time, then a segment a round, each a second later: no more than bw.
    let mut round = |delivered: u64| {
        let mut ack = AckSample { delivered, ..AckSample::default() };
        ack.rate.interval = Duration::from_millis(1);
        bbr.update_aggregation(&tcp, &ack, bbr.bw());
        tcp.delivered_at += Duration::from_secs(1);
        bbr.aggregation(bbr.bw())
    };
    assert_eq!(round(60 * MSS), 60);
    let kept: Vec<bool> = (0..12).map(|_| round(MSS) == 60).collect();
    // The burst was in the first of its five rounds: the four others and the next five.
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 8, "{kept:?}");
    assert!(kept[..8].iter().all(|kept| *kept));
}

/// A link that is silent for a second and holds what it has: Linux's estimate of what one burst brought
/// beyond bw is bounded by 100 ms of bw.
#[test]
fn aggregation_is_bounded() {
    let mut bbr = bbr();
    bbr.max_bw.update(1, per_micro(1001, 1_000_000) as f64, 10);
    bbr.extra_acked = [30, 500];
    assert_eq!(bbr.aggregation(bbr.bw()), 0);
    bbr.full = true;
    assert_eq!(bbr.aggregation(bbr.bw()), 100);
    bbr.extra_acked[1] = 0;
    assert_eq!(bbr.aggregation(bbr.bw()), 30);
}

/// `bbr_undo_cwnd`: a spurious timeout leaves the window of one segment until the ACK is taken. So what this ACK brings
/// beyond bw counts as one segment, and the window of before comes back without it.
#[test]
fn an_undone_timeout_gives_the_window_back_and_no_more() {
    let mut bbr = bbr();
    (bbr.full, bbr.mode, bbr.min_rtt) = (true, Mode::ProbeBw, Duration::from_millis(100));
    bbr.min_rtt_window = Duration::from_secs(10);
    bbr.max_bw.update(0, per_micro(40, 100_000) as f64, 10);
    let mut tcp = crate::congestion::testing::tcp(80);
    bbr.ssthresh(Time::ZERO, &tcp);
    tcp.in_flight = 0;
    bbr.set_state(Time::ZERO, &mut tcp, CaState::Loss);
    assert_eq!(tcp.cwnd, MSS);
    tcp.cwnd = bbr.undo_cwnd(Time::ZERO, &tcp);
    tcp.ca_state = CaState::Open;
    (tcp.delivered, tcp.delivered_at) = (133 * MSS, Time::from_millis(2000));
    let mut ack = AckSample { delivered: 33 * MSS, acked: 33 * MSS, ..AckSample::default() };
    (ack.rate.delivered, ack.rate.interval) = (33 * MSS, Duration::from_millis(1500));
    ack.rate.prior_delivered = 100 * MSS;
    bbr.cong_control(Time::from_millis(2000), &mut tcp, &ack);
    assert_eq!(bbr.extra_acked, [1, 0]);
    // Two BDP of 40 segments, one beyond, three quanta of two, up to an even number, and two for the probing phase.
    assert_eq!(tcp.cwnd, 90 * MSS);
}
