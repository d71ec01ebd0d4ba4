use super::*;
use crate::congestion::testing::{Bench, MSS, ack, tcp};
use crate::congestion::{ParameterValue, make};
use std::collections::VecDeque;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn text(word: &str) -> ParameterValue {
    ParameterValue::Text(word.to_owned())
}

fn c2(parameters: &[(&str, ParameterValue)]) -> C2 {
    let mut table = Parameters::new();
    for (name, value) in parameters {
        table.set(name, value.clone());
    }
    C2::new(&table.resolve(NAME, INFO.parameters).unwrap())
}

fn author() -> Parameters {
    let preset = Preset::find("c2-author").unwrap();
    preset.parameters(&Parameters::new()).resolve(NAME, INFO.parameters).unwrap()
}

/// In congestion avoidance since `now` minus 10 s, BW 1.25 MB/s, Dp 100 ms, R as told: BW * Dp is 125
/// segments.
fn avoiding(mut control: C2, n: u32, segments: u64, r: f64) -> (C2, TcpState) {
    let mut tcp = tcp(segments);
    tcp.ssthresh = 2 * MSS;
    control.estimate.bandwidth = Some(1_250_000.0);
    (control.n, control.dp, control.r, control.last_rtt) = (n, 0.1, r, r);
    control.avoiding_since = Some(Time::ZERO);
    control.probe = None;
    (control, tcp)
}

const NOW: Time = Time::from_millis(10_000);

/// One round trip of ACKs at `NOW`, R unchanged.
fn round(control: &mut C2, tcp: &mut TcpState) {
    for _ in 0..tcp.cwnd / MSS {
        control.cong_avoid(NOW, tcp, &ack(MSS, ms(100)));
    }
}

/// One sender over a FIFO link of `rate` bytes per second and a fixed delay; every packet is acknowledged.
/// Returns the window and the RTT at the end.
fn over_a_link(bench: &mut Bench, rate: f64, delay: Duration, seconds: f64) -> (f64, Duration) {
    let transmission = Duration::from_secs_f64(MSS as f64 / rate);
    let end = bench.now + Duration::from_secs_f64(seconds);
    let mut free = bench.now;
    let mut in_flight: VecDeque<(Time, Time)> = VecDeque::new();
    let mut sent = bench.tcp.snd_una;
    let mut rtt = Duration::ZERO;
    while bench.now < end {
        while sent < bench.tcp.snd_nxt {
            free = free.max(bench.now) + transmission;
            in_flight.push_back((bench.now, free + delay));
            sent += MSS;
        }
        let (sent_at, arrives) = in_flight.pop_front().unwrap();
        bench.now = arrives;
        rtt = arrives - sent_at;
        bench.ack(MSS, rtt);
    }
    (bench.segments(), rtt)
}

#[test]
fn algorithm_1_by_hand() {
    // (N + 1) / (N (N + 2)): 0.6667, 0.375, 0.2667, 0.2083, 0.1714.
    for (ratio, n) in [
        (2.0, 1),
        (0.667, 1),
        (0.666, 2),
        (0.376, 2),
        (0.374, 3),
        (0.267, 3),
        (0.266, 4),
        (0.209, 4),
        (0.208, 5),
    ] {
        assert_eq!(paper_flows(ratio, 10_000), n, "{ratio}");
    }
    assert_eq!(paper_flows(0.0, 10_000), 10_000);
    assert_eq!(paper_flows(0.01, 7), 7);
    // It is the least N of the loop in the paper.
    for step in 1..400 {
        let ratio = f64::from(step) / 400.0;
        let walked = (1..=10_000u32)
            .find(|&n| ratio > 1.0 / f64::from(n) / (1.0 + 1.0 / (f64::from(n) + 1.0)) + 1e-12)
            .unwrap();
        assert_eq!(paper_flows(ratio - 1e-12, 10_000), walked, "{ratio}");
    }
}

#[test]
fn the_authors_thresholds_by_hand() {
    // 0.75, 0.41, 0.29, and 4 below, with the ratio rounded up to 0.01.
    for (ratio, n) in
        [(0.9, 1), (0.745, 1), (0.735, 2), (0.405, 2), (0.395, 3), (0.285, 3), (0.275, 4), (0.01, 4)]
    {
        assert_eq!(author_flows(ratio, 4), n, "{ratio}");
    }
}

#[test]
fn slow_start_goes_to_the_share_at_once() {
    // 10 Mbit/s, 100 ms and 0.8 ms for the packet itself: BW * Dp = 1.25 MB/s * 0.1008 s = 126 segments.
    for (others, share) in [(None, 126_000), (Some(0), 126_000), (Some(1), 63_000), (Some(2), 42_000)] {
        let mut control = make(NAME, &Parameters::new()).unwrap();
        assert_eq!(control.extension().unwrap().syn_option(), Some(0));
        let mut tcp = tcp(1);
        control.extension().unwrap().on_syn_ack_option(Time::ZERO, &mut tcp, others);
        control.init(Time::ZERO, &mut tcp);
        assert_eq!(tcp.cwnd, MSS);
        let mut bench = Bench { control, tcp, now: Time::from_millis(1000) };
        over_a_link(&mut bench, 1_250_000.0, ms(100), 0.25);
        assert!(bench.tcp.ssthresh.abs_diff(share) <= 1, "{others:?}: {}", bench.tcp.ssthresh);
    }
}

#[test]
fn n_from_the_parameter_does_not_ask() {
    let mut control = c2(&[("n_source", text("parameter")), ("flows", ParameterValue::Number(3.0))]);
    assert_eq!(control.extension().unwrap().syn_option(), None);
    control.extension().unwrap().on_syn_ack_option(Time::ZERO, &mut tcp(1), Some(7));
    assert_eq!(control.n, 3);
}

#[test]
fn alone_on_a_link_it_fills_it_within_the_band() {
    for parameters in [Parameters::new(), author()] {
        let control = make(NAME, &parameters).unwrap();
        let mut bench = Bench { control, tcp: tcp(1), now: Time::from_millis(1000) };
        bench.control.init(bench.now, &mut bench.tcp);
        let (window, rtt) = over_a_link(&mut bench, 1_250_000.0, ms(100), 20.0);
        assert!((ms(104)..=ms(122)).contains(&rtt), "{rtt:?}");
        assert!((126.0..=154.0).contains(&window), "{window}");
    }
}

#[test]
fn starvation_doubles_k_after_every_t_w() {
    let (mut control, mut tcp) = avoiding(c2(&[]), 2, 100, 0.104);
    for (at, k) in [(10_000, 2.0), (11_000, 2.0), (11_001, 4.0), (12_000, 4.0), (12_002, 8.0)] {
        control.cong_avoid(Time::from_millis(at), &mut tcp, &ack(MSS, ms(104)));
        assert_eq!(control.starving.map(|starving| starving.k), Some(k), "{at} ms");
    }
    // Two segments per round trip at k = 2.
    let (mut control, mut tcp) = avoiding(c2(&[]), 2, 100, 0.104);
    round(&mut control, &mut tcp);
    assert!(tcp.cwnd.abs_diff(102 * MSS) <= 25, "{}", tcp.cwnd);
    // Out of starvation k starts again.
    control.r = 0.11;
    control.cong_avoid(NOW, &mut tcp, &ack(MSS, ms(110)));
    assert!(control.starving.is_none());
}

#[test]
fn growth_is_bounded_by_doubling() {
    let (mut control, mut tcp) = avoiding(c2(&[]), 5000, 100, 0.104);
    round(&mut control, &mut tcp);
    assert_eq!(tcp.cwnd, 200 * MSS);
}

#[test]
fn the_author_settles_for_two_seconds() {
    let (mut control, mut tcp) = avoiding(C2::new(&author()), 2, 100, 0.104);
    control.avoiding_since = Some(Time::from_millis(8_001));
    round(&mut control, &mut tcp);
    assert_eq!(tcp.cwnd, 100 * MSS);
    control.avoiding_since = Some(Time::from_millis(8_000));
    round(&mut control, &mut tcp);
    assert!(tcp.cwnd > 101 * MSS);
}

#[test]
fn saturation_jumps_when_n_rose_and_else_drains() {
    let (mut control, mut tcp) = avoiding(c2(&[]), 1, 150, 0.13);
    control.estimate.flows = Some(2);
    control.cong_avoid(NOW, &mut tcp, &ack(MSS, ms(130)));
    // 1.25 MB/s * 0.1 s / 2.
    assert_eq!((control.n, tcp.cwnd, tcp.ssthresh), (2, 62_500, 62_500));
    // The same estimate again: one segment less per round trip, and no slow start back up.
    let before = tcp.cwnd;
    round(&mut control, &mut tcp);
    assert!((before - tcp.cwnd).abs_diff(MSS) <= 30, "{}", tcp.cwnd);
    assert!(!tcp.in_slow_start());
    // A smaller estimate lowers N; the window shrinks by one per round trip all the same.
    control.estimate.flows = Some(1);
    let before = tcp.cwnd;
    round(&mut control, &mut tcp);
    assert_eq!(control.n, 1);
    assert!((before - tcp.cwnd).abs_diff(MSS) <= 30, "{}", tcp.cwnd);
}

#[test]
fn the_authors_saturation() {
    let (mut control, mut tcp) = avoiding(C2::new(&author()), 2, 150, 0.13);
    for flows in [None, Some(1)] {
        control.estimate.flows = flows;
        round(&mut control, &mut tcp);
        assert_eq!((control.n, tcp.cwnd), (2, 150 * MSS), "{flows:?}");
    }
    control.estimate.flows = Some(3);
    control.jumped_at = Some(Time::from_millis(9_500));
    round(&mut control, &mut tcp);
    assert_eq!((control.n, tcp.cwnd), (2, 150 * MSS), "a jump per second");
    control.jumped_at = Some(Time::from_millis(9_000));
    control.cong_avoid(NOW, &mut tcp, &ack(MSS, ms(130)));
    assert_eq!((control.n, tcp.cwnd, tcp.ssthresh), (3, 41_666, 41_666));
}

#[test]
fn the_authors_ideal_band_lowers_n() {
    let (mut control, mut tcp) = avoiding(C2::new(&author()), 2, 60, 0.11);
    control.estimate.flows = Some(1);
    control.cong_avoid(NOW, &mut tcp, &ack(MSS, ms(110)));
    assert_eq!((control.n, tcp.cwnd, tcp.ssthresh), (1, 125 * MSS, 125 * MSS));

    let (mut control, mut tcp) = avoiding(c2(&[]), 2, 60, 0.11);
    control.estimate.flows = Some(1);
    round(&mut control, &mut tcp);
    assert_eq!((control.n, tcp.cwnd), (2, 60 * MSS), "the paper's band holds");
}

#[test]
fn throughput_is_bytes_or_acks_over_its_window() {
    // 100 ACKs of two segments in 1 s: 200 kB/s of 1.25 MB/s = 0.16: N^ = 6 (0.1458 < 0.16 < 0.1714). Counted
    // as one segment per ACK 0.08: the author's 4.
    for (control, n) in [(c2(&[]), 6), (C2::new(&author()), 4)] {
        let (mut control, mut tcp) = avoiding(control, 1, 50, 0.11);
        control.sample_start = Time::ZERO;
        for step in 1..=100 {
            assert_eq!(control.estimate.flows, None);
            control.pkts_acked(Time::from_millis(step * 10), &mut tcp, &ack(2 * MSS, ms(110)));
        }
        assert_eq!(control.estimate.flows, Some(n));
    }
}

#[test]
fn a_rising_rtt_in_three_windows_brings_competition() {
    // sigma: 1 ms / (1 * 0.11 s) = 9.1 ms per s. 12 ms per s is above, 6 ms is not.
    for (per_second, competes) in [(0.012, true), (0.006, false)] {
        let (mut control, mut tcp) = avoiding(c2(&[]), 1, 100, 0.110);
        let mut first = None;
        for step in 0..=200u64 {
            let now = NOW + ms(10) * step;
            let rtt = Duration::from_secs_f64(0.110 + per_second * step as f64 * 0.01);
            control.pkts_acked(now, &mut tcp, &ack(MSS, rtt));
            if control.competing && first.is_none() {
                first = Some(step);
            }
        }
        assert_eq!(first.is_some(), competes, "{per_second}");
        if let Some(first) = first {
            assert!((150..=156).contains(&first), "after three windows of 0.5 s: {first}");
            control.estimate.flows = Some(3);
            let before = tcp.cwnd;
            round(&mut control, &mut tcp);
            assert_eq!(control.n, 3);
            assert!((tcp.cwnd - before).abs_diff(3 * MSS) <= 60, "{}", tcp.cwnd - before);
            // One flat window ends it.
            for step in 0..=60u64 {
                control.pkts_acked(NOW + ms(2010) + ms(10) * step, &mut tcp, &ack(MSS, ms(130)));
            }
            assert!(!control.competing);
        }
    }
}

#[test]
fn the_author_competes_with_n_minus_one() {
    for (n, growth) in [(3, 2), (1, 1)] {
        let (mut control, mut tcp) = avoiding(C2::new(&author()), n, 100, 0.13);
        control.competing = true;
        round(&mut control, &mut tcp);
        assert!(tcp.cwnd.abs_diff((100 + growth) * MSS) <= 40, "{}", tcp.cwnd);
    }
}

#[test]
fn a_timeout_probes_again_and_keeps_n_and_dp() {
    let (mut control, mut tcp) = avoiding(c2(&[]), 3, 30, 0.11);
    control.cwnd_event(NOW, &mut tcp, CaEvent::Loss);
    assert_eq!(control.ssthresh(NOW, &tcp), 15 * MSS);
    control.set_state(NOW, &mut tcp, CaState::Loss);
    assert!(control.estimate.bandwidth.is_none() && control.probe.is_some());
    assert_eq!((control.n, control.dp), (3, 0.1));
    // ssthresh is at least 10 segments after a timeout, 2 after duplicate ACKs.
    tcp.flight_size = 4 * MSS;
    control.cwnd_event(NOW, &mut tcp, CaEvent::Loss);
    assert_eq!(control.ssthresh(NOW, &tcp), 10 * MSS);
    assert_eq!(control.ssthresh(NOW, &tcp), 2 * MSS);
    // A spurious timeout gives the estimate back.
    control.undo_cwnd(NOW, &tcp);
    assert_eq!(control.estimate.bandwidth, Some(1_250_000.0));
    assert!(control.probe.is_none());
}

#[test]
fn the_author_refines_the_window_once() {
    let mut control = C2::new(&author());
    let mut tcp = tcp(130);
    tcp.ssthresh = 126 * MSS;
    control.estimate.bandwidth = Some(1_250_000.0);
    (control.dp, control.r, control.probed_dp) = (0.09, 0.09, Some(0.1));
    control.cong_avoid(NOW, &mut tcp, &ack(MSS, ms(90)));
    assert_eq!(tcp.ssthresh, 112_500);
}
