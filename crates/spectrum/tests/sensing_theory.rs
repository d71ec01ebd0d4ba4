//! Detectors against their closed forms, against published numbers, and against the energy of simulated
//! samples.

use cogtcp_spectrum::detector::{
    self, Cooperative, Detector, DetectorConfig, DetectorContext, FixedDetector, FusionRule, MapDetector,
    MapEnergyDetector, NeymanPearsonDetector, SensingWindow, Simplified, SimplifiedDetector, TableDetector,
    detection_and_false_alarm, fused_probability,
};
use cogtcp_spectrum::math::{q, q_inverse};
use cogtcp_spectrum::theory::{map_sensing_time, neyman_pearson_sensing_time, shortest_sensing_time};
use cogtcp_units::{Decibel, Duration, Frequency, Probability, RandomStream};

const W: f64 = 1e6;

fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

fn span(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn map(db: f64, p_on: f64) -> MapEnergyDetector {
    MapEnergyDetector { bandwidth: W, gamma: linear(db), p_on }
}

fn window(t_s: f64, gamma: f64, f: f64) -> SensingWindow {
    let mut window = SensingWindow::empty(span(t_s));
    window.add(gamma, f);
    window
}

/// W = 1 MHz, P_on = 0.5: the conditional P_d' and P_f', to the four decimals of the table they are taken
/// from.
#[test]
fn map_detector_gives_the_known_table() {
    let table = [
        (-15.0, [(0.9930, 0.0068), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]),
        (-20.0, [(0.7824, 0.2139), (0.9418, 0.0575), (0.9869, 0.0130), (0.9968, 0.0032)]),
        (-22.0, [(0.6883, 0.3073), (0.8392, 0.1592), (0.9199, 0.0795), (0.9573, 0.0423)]),
        (-25.0, [(0.5961, 0.3990), (0.6901, 0.3077), (0.7592, 0.2394), (0.8059, 0.1931)]),
    ];
    for (db, row) in table {
        for (t_s, (detection, false_alarm)) in [0.025, 0.1, 0.2, 0.3].into_iter().zip(row) {
            let (d, f) = detection_and_false_alarm(&map(db, 0.5), span(t_s), linear(db));
            assert!((d - detection).abs() < 0.5e-4 + 1e-9, "{db} dB, {t_s} s: P_d' {d}, table {detection}");
            assert!(
                (f - false_alarm).abs() < 0.5e-4 + 1e-9,
                "{db} dB, {t_s} s: P_f' {f}, table {false_alarm}"
            );
        }
    }
}

/// The closed form of the threshold solves P_on f_1 = P_off f_0, checked on the logarithm of the densities.
#[test]
fn map_threshold_balances_the_posteriors() {
    for p_on in [0.05, 0.3, 0.5, 0.7] {
        for db in [-25.0, -20.0, -10.0, 0.0] {
            let detector = map(db, p_on);
            let n = detector.samples(0.1);
            let threshold = detector.threshold(n);
            if threshold.is_infinite() {
                continue;
            }
            let gain = 1.0 + detector.gamma;
            let log_density = |mean: f64, variance: f64| {
                -(threshold - mean) * (threshold - mean) / (2.0 * variance) - 0.5 * libm::log(variance)
            };
            let on = libm::log(p_on) + log_density(n * gain, 2.0 * n * gain * gain);
            let off = libm::log(1.0 - p_on) + log_density(n, 2.0 * n);
            assert!((on - off).abs() < 1e-9 * on.abs().max(1.0), "P_on {p_on}, {db} dB: {on} {off}");
        }
    }
}

#[test]
fn map_threshold_at_the_edges_of_its_domain() {
    // A PU almost always there and almost inaudible: declared whatever is heard.
    assert_eq!(map(-40.0, 0.999).threshold(20_000.0), f64::NEG_INFINITY);
    assert_eq!(detection_and_false_alarm(&map(-40.0, 0.999), span(0.01), linear(-40.0)), (1.0, 1.0));
    // Never there: never declared. Always there: always.
    assert_eq!(detection_and_false_alarm(&map(-20.0, 0.0), span(0.1), linear(-20.0)), (0.0, 0.0));
    assert_eq!(detection_and_false_alarm(&map(-20.0, 1.0), span(0.1), linear(-20.0)), (1.0, 1.0));
    // No signal: the prior decides.
    let deaf = MapEnergyDetector { bandwidth: W, gamma: 0.0, p_on: 0.3 };
    assert_eq!(detection_and_false_alarm(&deaf, span(0.1), 0.0), (0.0, 0.0));
    // A PU heard through a range has no power: it is unmistakable.
    assert_eq!(map(-20.0, 0.5).report_probability(&window(0.1, f64::INFINITY, 0.1)), 1.0);
    // Many samples: the threshold tends to 2 n (1 + gamma) / (2 + gamma).
    let n = 1e9;
    let limit = 2.0 * n * 1.01 / 2.01;
    assert!((map(-20.0, 0.5).threshold(n) / limit - 1.0).abs() < 1e-6);
}

/// Against energy itself: sums of squares of Gaussian samples, partly with a signal, compared with the
/// threshold. 2,000 trials: five standard errors are at most 5.6 %; the central limit at n = 400 costs up to
/// 2 % more.
#[test]
fn map_probabilities_are_those_of_simulated_energy() {
    let detector = MapEnergyDetector { bandwidth: 1000.0, gamma: linear(-9.0), p_on: 0.5 };
    // n = 2 W t_s.
    let (t_s, n) = (0.2, 400);
    let threshold = detector.threshold(f64::from(n));
    let mut stream = RandomStream::new(1, "energy", 0);
    for f in [0.0, 0.25, 0.5, 1.0] {
        let with_signal = (f64::from(n) * f) as i32;
        let trials = 2000;
        let mut reports = 0;
        for _ in 0..trials {
            let energy: f64 = (0..n)
                .map(|i| {
                    let variance = if i < with_signal { 1.0 + detector.gamma } else { 1.0 };
                    let sample = stream.standard_normal();
                    sample * sample * variance
                })
                .sum();
            reports += i32::from(energy > threshold);
        }
        let theory = if f > 0.0 {
            detector.report_probability(&window(t_s, detector.gamma, f))
        } else {
            detector.report_probability(&SensingWindow::empty(span(t_s)))
        };
        let measured = f64::from(reports) / f64::from(trials);
        assert!((measured - theory).abs() < 0.076, "f {f}: {measured} against {theory}");
    }
}

/// The same for Neyman-Pearson: complex samples of circular Gaussian noise, partly with a PSK signal of
/// constant modulus.
#[test]
fn neyman_pearson_probabilities_are_those_of_simulated_energy() {
    // 0.2 s at the sampling rate.
    let (n, gamma, false_alarm) = (400, linear(-9.0), 0.1);
    let detector = NeymanPearsonDetector { sampling_rate: 2000.0, false_alarm };
    let threshold = 1.0 + q_inverse(false_alarm) / libm::sqrt(f64::from(n));
    let mut stream = RandomStream::new(3, "energy", 0);
    for f in [0.0, 0.25, 0.5, 1.0] {
        let with_signal = (f64::from(n) * f) as i32;
        let trials = 2000;
        let mut reports = 0;
        for _ in 0..trials {
            let energy: f64 = (0..n)
                .map(|i| {
                    // One of four phases; the noise has variance 1/2 in each of its parts.
                    let phase = std::f64::consts::FRAC_PI_2 * stream.below(4) as f64;
                    let amplitude = if i < with_signal { libm::sqrt(gamma) } else { 0.0 };
                    let mut part =
                        |signal: f64| signal + stream.standard_normal() * std::f64::consts::FRAC_1_SQRT_2;
                    let (re, im) = (part(amplitude * libm::cos(phase)), part(amplitude * libm::sin(phase)));
                    re * re + im * im
                })
                .sum();
            reports += i32::from(energy / f64::from(n) > threshold);
        }
        let theory = if f > 0.0 {
            detector.report_probability(&window(0.2, gamma, f))
        } else {
            detector.report_probability(&SensingWindow::empty(span(0.2)))
        };
        let measured = f64::from(reports) / f64::from(trials);
        assert!((measured - theory).abs() < 0.076, "f {f}: {measured} against {theory}");
    }
}

#[test]
fn partial_overlap_lies_between_absence_and_presence() {
    let detectors: [Box<dyn Detector>; 2] =
        [Box::new(map(-20.0, 0.5)), Box::new(NeymanPearsonDetector { sampling_rate: W, false_alarm: 0.05 })];
    for detector in detectors {
        let (full, none) = detection_and_false_alarm(&*detector, span(0.1), 0.01);
        let mut last = none;
        for percent in 1..=100 {
            let p = detector.report_probability(&window(0.1, 0.01, f64::from(percent) / 100.0));
            assert!(p > last - 1e-12, "{}: {percent} %", detector.name());
            last = p;
        }
        assert!((last - full).abs() < 1e-12);
        assert!(detector.report_probability(&window(0.1, 0.01, 1e-9)) - none < 1e-6, "no jump at a touch");
    }
}

/// W = 1 MHz, P_on = 0.5: sensing times to the three decimals of the table they are taken from; and the
/// detector run for that time does balance its errors.
#[test]
fn sensing_time_for_a_target() {
    for (db, row) in [(-20.0, [0.219, 0.109, 0.066]), (-22.0, [0.547, 0.274, 0.166])] {
        for (false_alarm, seconds) in [0.01, 0.05, 0.1].into_iter().zip(row) {
            let t_s = map_sensing_time(W, linear(db), 0.5, false_alarm);
            assert!((t_s - seconds).abs() < 0.5e-3 + 1e-9, "{db} dB, {false_alarm}: {t_s}");
        }
    }
    for (p_on, target) in [(0.5, 0.01), (0.3, 0.05), (0.6, 0.02)] {
        let t_s = map_sensing_time(W, linear(-20.0), p_on, target);
        // At this time some threshold gives both errors; the one with P_f' = target gives the balance.
        let n = 2.0 * W * t_s;
        let threshold = n + q_inverse(target) * libm::sqrt(2.0 * n);
        let miss = 1.0 - q((threshold - n * 1.01) / (libm::sqrt(2.0 * n) * 1.01));
        assert!((p_on * miss / ((1.0 - p_on) * target) - 1.0).abs() < 1e-6, "{p_on} {target}: {miss}");
    }
    assert_eq!(map_sensing_time(W, 0.0, 0.5, 0.01), f64::INFINITY);
    assert_eq!(map_sensing_time(W, 0.01, 0.001, 0.01), f64::INFINITY);
}

#[test]
fn neyman_pearson_keeps_its_false_alarm_rate_and_reaches_its_target_in_time() {
    for (gamma, detection, false_alarm) in [(0.01, 0.9, 0.1), (0.1, 0.99, 0.01), (1.0, 0.999, 0.05)] {
        let t_s = neyman_pearson_sensing_time(W, gamma, detection, false_alarm);
        let detector = NeymanPearsonDetector { sampling_rate: W, false_alarm };
        let (d, f) = detection_and_false_alarm(&detector, span(t_s), gamma);
        assert_eq!(f, false_alarm);
        // The sensing time is rounded to a nanosecond, a part in 1e5 of the shortest.
        assert!((d - detection).abs() < 1e-4, "{d}");
    }
    // P_d 0.9 at P_f 0.1 and -20 dB: (1.28155 (1 + sqrt(1.02)) / 0.01)^2 = 66,350 samples.
    let samples = neyman_pearson_sensing_time(1.0, 0.01, 0.9, 0.1);
    assert!((samples - 66_350.0).abs() < 10.0, "{samples}");
}

/// The search agrees with the closed form where there is one, and its answer is the shortest.
#[test]
fn shortest_sensing_time_is_found_for_any_detector() {
    for (gamma, detection, false_alarm) in [(0.01, 0.9, 0.1), (0.02, 0.99, 0.01)] {
        let detector = NeymanPearsonDetector { sampling_rate: W, false_alarm };
        let exact = neyman_pearson_sensing_time(W, gamma, detection, false_alarm);
        let found = shortest_sensing_time(&detector, gamma, detection, false_alarm);
        assert!((found - exact).abs() <= 1e-6, "{found} {exact}");
    }
    let detector = map(-20.0, 0.5);
    let t_s = shortest_sensing_time(&detector, 0.01, 0.95, 0.05);
    let errors = |t_s| detection_and_false_alarm(&detector, span(t_s), 0.01);
    let (d, f) = errors(t_s);
    assert!(d >= 0.95 && f <= 0.05, "{t_s}: {d} {f}");
    let (d, f) = errors(t_s - 2e-6);
    assert!(d < 0.95 || f > 0.05, "{t_s}: {d} {f}");
    // The balance of the closed form is of joint errors; at P_on = 0.5 the two agree to the difference of the
    // laws.
    assert!((t_s / map_sensing_time(W, 0.01, 0.5, 0.05) - 1.0).abs() < 0.02, "{t_s}");
    assert_eq!(shortest_sensing_time(&FixedDetector::AS_RELEASED, 0.01, 0.95, 0.05), f64::INFINITY);
    assert_eq!(shortest_sensing_time(&FixedDetector::PERFECT, 0.01, 1.0, 0.0), 1e-6);
}

/// The simplified form is the limit of the MAP detector: the same to a percentage point where sensing times
/// matter.
#[test]
fn simplified_detector_follows_the_map_detector() {
    for db in [-15.0, -20.0, -22.0, -25.0] {
        let simplified = SimplifiedDetector::new(W, linear(db));
        for t_s in [0.025, 0.1, 0.2, 0.3] {
            let (d, f) = detection_and_false_alarm(&simplified, span(t_s), linear(db));
            let (d_map, f_map) = detection_and_false_alarm(&map(db, 0.5), span(t_s), linear(db));
            assert!((d - d_map).abs() < 0.01 && (f - f_map).abs() < 0.01, "{db} dB {t_s}: {d} {f}");
            assert!((d + f - 1.0).abs() < 1e-15);
        }
    }
    let unit = SimplifiedDetector { tau: 0.04 };
    assert!((unit.report_probability(&SensingWindow::empty(span(0.04))) - q(1.0)).abs() < 1e-12);
}

#[test]
fn table_detector_interpolates_and_holds_its_ends() {
    let table = TableDetector::new(vec![(0.1, 0.8, 0.2), (0.2, 0.9, 0.1), (0.4, 1.0, 0.0)]).unwrap();
    for (t_s, detection, false_alarm) in [
        (0.05, 0.8, 0.2),
        (0.1, 0.8, 0.2),
        (0.15, 0.85, 0.15),
        (0.3, 0.95, 0.05),
        (0.4, 1.0, 0.0),
        (9.0, 1.0, 0.0),
    ] {
        let (d, f) = detection_and_false_alarm(&table, span(t_s), 1.0);
        assert!((d - detection).abs() < 1e-12 && (f - false_alarm).abs() < 1e-12, "{t_s}: {d} {f}");
    }
    assert!(TableDetector::new(vec![]).is_err());
    assert!(TableDetector::new(vec![(0.1, 1.0, 0.0), (0.1, 1.0, 0.0)]).is_err());
    assert!(TableDetector::new(vec![(0.1, 1.1, 0.0)]).is_err());
    assert!(TableDetector::new(vec![(f64::NAN, 1.0, 0.0)]).is_err());
}

#[test]
fn plain_detectors() {
    let any = span(0.1);
    assert_eq!(detection_and_false_alarm(&FixedDetector::PERFECT, any, 1.0), (1.0, 0.0));
    assert_eq!(FixedDetector::PERFECT.report_probability(&window(0.1, 1.0, 1e-9)), 1.0);
    assert_eq!(detection_and_false_alarm(&FixedDetector::AS_RELEASED, any, 1.0), (0.9, 0.0));
}

/// Sensors alike: binomial tails in closed form. Sensors unlike: against all 2^n outcomes.
#[test]
fn fusion_is_exact() {
    for p in [0.0f64, 0.1, 0.5, 0.9, 1.0] {
        let three = |rule| {
            Cooperative { inner: fixed(p), sensors: 3, rule }.report_probability(&window(0.1, 1.0, 1.0))
        };
        assert!((three(FusionRule::Or) - (1.0 - (1.0 - p) * (1.0 - p) * (1.0 - p))).abs() < 1e-12);
        assert!((three(FusionRule::And) - p * p * p).abs() < 1e-12);
        assert!((three(FusionRule::Majority) - (3.0 * p * p * (1.0 - p) + p * p * p)).abs() < 1e-12);
    }
    let unlike = [0.9, 0.2, 0.6, 0.35];
    for (rule, needed) in [(FusionRule::Or, 1), (FusionRule::And, 4), (FusionRule::Majority, 3)] {
        let exact: f64 = (0..1u32 << unlike.len())
            .filter(|outcome| outcome.count_ones() >= needed)
            .map(|outcome| {
                let factor = |(i, p): (usize, &f64)| if outcome >> i & 1 == 1 { *p } else { 1.0 - p };
                unlike.iter().enumerate().map(factor).product::<f64>()
            })
            .sum();
        assert!((fused_probability(rule, &unlike) - exact).abs() < 1e-12, "{rule:?}");
    }
    assert_eq!(fused_probability(FusionRule::Or, &[]), 0.0);
    assert_eq!(fused_probability(FusionRule::Majority, &[0.3]), 0.3);
}

fn build(config: &DetectorConfig) -> Box<dyn Detector> {
    config.kind().build(&DetectorContext::default()).unwrap()
}

fn map_config(bandwidth: f64, snr: f64, p_on: f64) -> DetectorConfig {
    let p_on = Some(Probability::new(p_on).unwrap());
    DetectorConfig::Map(MapDetector { snr: Decibel(snr), bandwidth: Frequency(bandwidth), p_on })
}

fn neyman_pearson(sampling_rate: f64, false_alarm: f64) -> DetectorConfig {
    let false_alarm = Probability::new(false_alarm).unwrap();
    let (snr, sampling_rate) = (Decibel(-20.0), Frequency(sampling_rate));
    DetectorConfig::NeymanPearson(detector::NeymanPearson { snr, sampling_rate, false_alarm })
}

fn simplified(bandwidth: f64, snr: f64) -> DetectorConfig {
    DetectorConfig::Simplified(Simplified { snr: Decibel(snr), bandwidth: Frequency(bandwidth) })
}

fn fixed(p: f64) -> FixedDetector {
    FixedDetector::new(Probability::new(p).unwrap(), Probability::ZERO)
}

/// Drawing with the report probability gives that share of reports: 20,000 draws, five standard errors.
#[test]
fn drawn_reports_have_their_probability() {
    let mut stream = RandomStream::new(2, "draws", 0);
    let configs =
        [map_config(W, -20.0, 0.5), neyman_pearson(W, 0.1), simplified(W, -22.0), DetectorConfig::AsReleased];
    for config in configs {
        let detector = build(&config);
        for window in [window(0.05, 0.01, 1.0), window(0.05, 0.01, 0.3), SensingWindow::empty(span(0.05))] {
            let p = detector.report_probability(&window);
            let n = 20_000;
            let share = (0..n).filter(|_| stream.uniform() < p).count() as f64 / f64::from(n);
            let error = (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((share - p).abs() <= 5.0 * error, "{}: {share} {p}", detector.name());
        }
    }
}

#[test]
fn detectors_out_of_range_are_refused_with_a_reason() {
    let message =
        |config: DetectorConfig| config.kind().build(&DetectorContext::default()).unwrap_err().to_string();
    let wrong = message(map_config(0.0, -20.0, 0.5));
    assert!(wrong.contains("bandwidth: 0 is out of range; write a number above zero"), "{wrong}");
    let wrong = message(map_config(W, f64::NAN, 0.5));
    assert!(wrong.contains("snr: NaN is out of range"), "{wrong}");
    let wrong = message(neyman_pearson(W, 0.0));
    assert!(wrong.contains("neither included"), "{wrong}");
}
