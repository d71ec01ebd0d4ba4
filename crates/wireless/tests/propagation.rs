//! What propagation settings do to whole networks.

use crate::committed::compare;
use crate::common::{Bench, config, mbit};
use cogtcp_units::{Check, Decibel, Frequency, Length, Power, RandomStream, Time};
use cogtcp_wireless::{
    CarrierSense, ChannelConfig, Dcf, Fading, LogDistance, MacConfig, MediumConfig, Nakagami, PathLoss,
    PhyConfig, PhyRate, Propagation, RateControl, Rules, Shadowing, TwoRay,
};
use std::fmt::Write;

/// 802.11b's rates with thresholds that grow with them: 1, 2 and 11 Mbit/s.
fn with_rates(fading: Fading, control: Option<RateControl>, fixed: u64) -> MediumConfig {
    let mut config = config(Dcf { rts_threshold: Dcf::NO_RTS, ..Dcf::default() }.into());
    config.phy.propagation.fading = fading;
    // Capture of 6, 8 and 12 dB. ns-2's sensitivity for the first, and 3 and 10 dB more.
    let rate =
        |mbps, capture, watts| PhyRate { rate: mbit(mbps), capture, sensitivity: Power::from_watts(watts) };
    config.phy.rates = vec![rate(1, 4.0, 3.652e-10), rate(2, 6.3, 7.3e-10), rate(11, 16.0, 3.6e-9)];
    config.rate_control = control;
    config.channels = vec![ChannelConfig { rate: mbit(fixed), error_rate: 0.0 }];
    config
}

/// Under Rayleigh fading a rate that adapts comes near the best fixed one at every distance, whichever that
/// is.
#[test]
fn adaptation_comes_near_the_best_rate() {
    let run = |control, fixed, distance| {
        let config = with_rates(Fading::Rayleigh, control, fixed);
        let mut bench = Bench::new(config, &[(0.0, 0.0), (distance, 0.0)], &[(0, 1)], 1);
        bench.run(Time::from_millis(30_000));
        bench.total() as f64
    };
    let mut bests = Vec::new();
    for distance in [30.0, 130.0, 190.0] {
        let fixed = [1, 2, 11].map(|rate| run(None, rate, distance));
        let best = fixed.iter().copied().fold(0.0, f64::max);
        bests.push(fixed.iter().position(|total| *total == best));
        for (control, share) in [(RateControl::ARF, 0.6), (RateControl::MINSTREL, 0.8)] {
            let adapted = run(Some(control), 1, distance);
            assert!(adapted > share * best, "{control:?} at {distance} m: {adapted}, fixed {fixed:?}");
        }
    }
    assert_eq!(
        (bests.first(), bests.last()),
        (Some(&Some(2)), Some(&Some(1))),
        "near 11, far 2: else nothing is tested"
    );
}

/// Rayleigh fading, by hand: with nothing but sensitivity in the way a broadcast at the distance of its mean
/// power arrives with probability exp(-1) = 36.8 %, in 2000 frames within five standard errors.
#[test]
fn a_fading_broadcast_arrives_as_often_as_its_power_says() {
    let mut config = config(MacConfig::default());
    config.phy.propagation.fading = Fading::Rayleigh;
    let mut bench = Bench::new(config, &[(0.0, 0.0), (250.0, 0.0)], &[(0, 1)], 3);
    bench.flows = vec![(0, cogtcp_wireless::Destination::Broadcast)];
    bench.run(Time::from_millis(20_000));
    let sent = bench.medium.counters(cogtcp_wireless::InterfaceId(0)).sent as f64;
    let share = bench.total() as f64 / sent;
    let expected = libm::exp(-1.0);
    assert!(
        sent > 2000.0 && (share - expected).abs() < 5.0 * (expected * (1.0 - expected) / sent).sqrt(),
        "{share}"
    );
}

/// Places, and who sends to whom.
type Layout = (Vec<(f64, f64)>, Vec<(u32, u32)>);

/// Pairs of 150 m all over 2 x 2 km.
fn pairs(count: u32) -> Layout {
    let mut stream = RandomStream::new(5, "places", 0);
    let mut places = Vec::new();
    for _ in 0..count {
        let (x, y) = (stream.uniform_in(0.0, 2000.0), stream.uniform_in(0.0, 2000.0));
        let angle = stream.uniform_in(0.0, std::f64::consts::TAU);
        places.extend([(x, y), (x + 150.0 * libm::cos(angle), y + 150.0 * libm::sin(angle))]);
    }
    (places, (0..count).map(|n| (2 * n, 2 * n + 1)).collect())
}

/// What the cut-off leaves out: 40 saturated pairs, the cut-off 10, 20 and 40 dB below carrier sense (the
/// last one reaches everybody).
#[test]
fn the_cut_off_changes_little() {
    let (places, flows) = pairs(40);
    let totals = [0.1, 0.01, 1e-4].map(|share| {
        let mut config = config(MacConfig::default());
        config.phy.cutoff = Power::from_watts(config.phy.carrier_sense.watts() * share);
        let mut bench = Bench::new(config, &places, &flows, 1);
        bench.run(Time::from_millis(15_000));
        bench.total() as f64 / 15.0
    });
    assert!((totals[0] / totals[2] - 1.0).abs() < 0.01, "{totals:?}");
    assert!((totals[1] / totals[2] - 1.0).abs() < 0.005, "{totals:?}");
}

/// Two senders of half the carrier-sense power each make the medium busy together only where power adds up.
#[test]
fn carrier_sense_by_total_power() {
    for (carrier_sense, busy) in [(CarrierSense::EachFrame, false), (CarrierSense::TotalPower, true)] {
        let rules = Rules { carrier_sense, ..Rules::default() };
        let mut config =
            config(MacConfig { rules, ..Dcf { rts_threshold: Dcf::NO_RTS, ..Dcf::default() }.into() });
        let power = Power::from_watts(0.281_838_15);
        config.phy = PhyConfig::for_ranges(Propagation::new(PathLoss::Paper(2.0)), power, 100.0, 100.0);
        // 0.6 of the threshold each at the middle, out of each other's sight.
        let places = [(-129.0, 0.0), (129.0, 0.0), (0.0, 0.0), (0.0, 20.0)];
        let mut bench = Bench::new(config, &places, &[], 1);
        for (at, from) in [(0, 0), (0, 1), (1000, 2)] {
            let now = Time::ZERO + cogtcp_units::Duration::from_micros(at);
            bench.medium.advance(now);
            let to = cogtcp_wireless::Destination::Broadcast;
            let packet = cogtcp_wireless::QueuedPacket { to, ..crate::common::packet(from, 3) };
            bench.medium.enqueue(now, cogtcp_wireless::InterfaceId(from), packet);
        }
        // The frames of the two end after 8.6 ms.
        bench.medium.advance(Time::from_millis(5));
        let sent = bench.medium.counters(cogtcp_wireless::InterfaceId(2)).frames;
        assert_eq!(sent == 0, busy, "{carrier_sense:?}");
    }
}

/// Gains, ranges and what is refused, for every path loss at the edges of its settings, committed as text.
#[test]
fn path_losses() {
    #[derive(Default)]
    struct Found(String);
    impl Check for Found {
        fn error(&mut self, field: &str, message: String, remedy: String) {
            let _ = write!(self.0, " | {field}: {message}; {remedy}");
        }
    }
    let mut models = vec![PathLoss::NS2_TWO_RAY];
    models.extend([f64::NAN, 0.999, 1.0, 2.0, 3.5, 10.0, 10.001].map(PathLoss::Paper));
    for hertz in [999.0, 1e3, 914e6, 1e12, 1.001e12] {
        let frequency = Frequency(hertz);
        models.push(PathLoss::FreeSpace(frequency));
        models.extend(
            [0.5, 1.5, 30.0].map(|height| PathLoss::TwoRay(TwoRay { frequency, height: Length(height) })),
        );
        models.extend([(1.0, 1.0), (3.0, 0.2), (10.0, 20.0), (0.9, 5.0), (10.1, 5.0)].map(
            |(exponent, reference)| {
                PathLoss::LogDistance(LogDistance { frequency, exponent, reference: Length(reference) })
            },
        ));
    }
    let mut text = String::new();
    for model in models {
        let mut found = Found::default();
        model.check(&mut found);
        let gains = [0.0, 0.5, 1.0, 1.5, 10.0, 20.0, 86.1, 250.0, 1e4].map(|distance| model.gain(distance));
        let ranges = [1.0, 1e-3, 1e-8, 1e-14].map(|gain| model.range(gain));
        let _ = writeln!(text, "{model:?}: {gains:?} {ranges:?}{}", found.0);
    }
    for deviation in [-0.001, 0.0, 20.0, 20.001] {
        let shadowing = Some(Shadowing { deviation: Decibel(deviation), per_pair: true });
        let mut found = Found::default();
        Propagation { shadowing, ..Propagation::new(PathLoss::NS2_TWO_RAY) }.check(&mut found);
        let _ = writeln!(text, "{deviation}{}", found.0);
    }
    for m in [f64::NAN, 0.499, 0.5, 100.0, 100.001] {
        let mut found = Found::default();
        let fading = Fading::Nakagami(Nakagami { m });
        Propagation { fading, ..Propagation::new(PathLoss::NS2_TWO_RAY) }.check(&mut found);
        let _ = writeln!(text, "{m}{}", found.0);
    }
    compare("path-losses", &text);
}
