//! Generated PU activity against the closed forms of its laws.

use cogtcp_spectrum::activity::{ActivityLaw, LawError, PuSpec, SpanLaw, StartState, scatter};
use cogtcp_spectrum::propagation::Position;
use cogtcp_spectrum::{Intervals, OnInterval, PuActivity, Reach};
use cogtcp_units::{Duration, Power, RandomStream, Time};

fn s(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

fn laws() -> Vec<SpanLaw> {
    vec![
        SpanLaw::Exponential(s(2.0)),
        SpanLaw::LogNormal { median: s(0.5), sigma: 0.8 },
        SpanLaw::Gamma { shape: 3.0, scale: s(0.4) },
        SpanLaw::Pareto { minimum: s(0.3), shape: 2.5 },
        SpanLaw::Deterministic(s(0.7)),
        SpanLaw::Empirical([0.1, 0.2, 0.2, 1.5].map(s).to_vec()),
    ]
}

/// Distribution function of a law at `x` seconds.
fn cdf(law: &SpanLaw, x: f64) -> f64 {
    match law {
        SpanLaw::Exponential(mean) => 1.0 - libm::exp(-x / mean.as_secs_f64()),
        SpanLaw::LogNormal { median, sigma } => {
            1.0 - cogtcp_spectrum::math::q(libm::log(x / median.as_secs_f64()) / sigma)
        }
        // Shape 3 is an Erlang law.
        SpanLaw::Gamma { scale, .. } => {
            let y = x / scale.as_secs_f64();
            1.0 - libm::exp(-y) * (1.0 + y + y * y / 2.0)
        }
        SpanLaw::Pareto { minimum, shape } => 1.0 - libm::pow(minimum.as_secs_f64() / x, *shape),
        SpanLaw::Deterministic(_) | SpanLaw::Empirical(_) => unreachable!("a law with steps"),
    }
}

/// Kolmogorov and Smirnov: with 50,000 draws the largest distance exceeds 1.95 / sqrt(n) = 0.0087 once in a
/// thousand seeds; the seeds are fixed.
#[test]
fn spans_follow_their_distribution() {
    // The other two have steps, for which this test does not hold.
    for law in laws().into_iter().take(4) {
        let mut stream = RandomStream::new(5, "law", 0);
        let n = 50_000;
        let mut draws: Vec<f64> = (0..n).map(|_| law.draw(&mut stream).as_secs_f64()).collect();
        draws.sort_by(f64::total_cmp);
        let distance = draws.iter().enumerate().map(|(i, x)| {
            let theory = cdf(&law, *x);
            (theory - i as f64 / f64::from(n)).abs().max((theory - (i + 1) as f64 / f64::from(n)).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 0.0087, "{law:?}: {distance}");
    }
}

/// The mean that a law states is the mean of its draws: 100,000 draws, within 2 %, over five standard errors
/// for all (the coefficient of variation is at most 1).
#[test]
fn spans_have_their_stated_mean() {
    for law in laws() {
        let mut stream = RandomStream::new(6, "law", 0);
        let mean = (0..100_000).map(|_| law.draw(&mut stream).as_secs_f64()).sum::<f64>() / 100_000.0;
        assert!((mean / law.mean() - 1.0).abs() < 0.02, "{law:?}: {mean} against {}", law.mean());
    }
}

#[test]
fn a_deterministic_law_draws_one_span() {
    let mut stream = RandomStream::new(7, "law", 0);
    assert!((0..1000).all(|_| SpanLaw::Deterministic(s(0.7)).draw(&mut stream) == s(0.7)));
}

#[test]
fn an_empirical_law_draws_its_spans_evenly() {
    let law = SpanLaw::Empirical([1.0, 2.0, 3.0, 4.0].map(s).to_vec());
    let mut stream = RandomStream::new(7, "law", 0);
    let mut counts = [0u32; 4];
    for _ in 0..40_000 {
        counts[law.draw(&mut stream).as_secs_f64() as usize - 1] += 1;
    }
    // Five standard deviations of a binomial(40000, 1/4) are 433.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 433), "{counts:?}");
}

/// Mean ON time 1/alpha, mean OFF time 1/beta, duty cycle beta / (alpha + beta); about 20,000 cycles, so five
/// standard errors are 3.5 % of each mean.
#[test]
fn the_papers_model_has_its_means_and_duty_cycle() {
    for (alpha, beta) in [(0.5, 0.5), (0.5, 0.1), (5.0, 1.0)] {
        let law = ActivityLaw::exponential(alpha, beta).unwrap();
        let cycle = 1.0 / alpha + 1.0 / beta;
        let horizon = 20_000.0 * cycle;
        let intervals = law.generate(s(horizon), 8, 0).unwrap();
        let stats = intervals.stats(Time::ZERO, at(horizon));
        assert!((stats.mean_on * alpha - 1.0).abs() < 0.035, "{stats:?}");
        assert!((stats.mean_off * beta - 1.0).abs() < 0.035, "{stats:?}");
        assert!((law.duty_cycle() - beta / (alpha + beta)).abs() < 1e-9);
        assert!((stats.duty_cycle / law.duty_cycle() - 1.0).abs() < 0.035, "{stats:?}");
        assert!(intervals.as_slice()[0].arrival > Time::ZERO, "it starts OFF");
    }
}

/// For every pair of laws the long-run share ON is mean ON / (mean ON + mean OFF).
#[test]
fn any_pair_of_laws_has_its_duty_cycle() {
    for on in laws() {
        for off in laws() {
            let law = ActivityLaw { on: on.clone(), off, start: StartState::Stationary };
            let horizon = 10_000.0 * (law.on.mean() + law.off.mean());
            let stats = law.generate(s(horizon), 9, 3).unwrap().stats(Time::ZERO, at(horizon));
            // 10,000 cycles, coefficients of variation up to 1: standard error under 1 % of the duty cycle.
            assert!((stats.duty_cycle / law.duty_cycle() - 1.0).abs() < 0.05, "{law:?}: {stats:?}");
        }
    }
}

/// A stationary start is ON at time zero, and at any time after, with the long-run probability: 4,000 users,
/// five standard errors are 0.04.
#[test]
fn a_stationary_start_is_stationary() {
    for law in laws() {
        let law = ActivityLaw { on: law, off: SpanLaw::Deterministic(s(1.0)), start: StartState::Stationary };
        let users: Vec<Intervals> = (0..4000).map(|i| law.generate(s(1.0), 10, i).unwrap()).collect();
        for seconds in [0.0, 0.35, 0.9] {
            let on = users.iter().filter(|user| user.is_on(at(seconds))).count() as f64 / 4000.0;
            assert!((on - law.duty_cycle()).abs() < 0.04, "{law:?} at {seconds}: {on} {}", law.duty_cycle());
        }
    }
    let law = ActivityLaw { start: StartState::Stationary, ..ActivityLaw::exponential(0.5, 0.1).unwrap() };
    let on = (0..4000).filter(|i| law.generate(s(1.0), 11, *i).unwrap().is_on(Time::ZERO)).count();
    assert!((on as f64 / 4000.0 - 1.0 / 6.0).abs() < 0.03, "{on}");
    let law = ActivityLaw { start: StartState::On, ..law };
    assert!(law.generate(s(1.0), 11, 0).unwrap().is_on(Time::ZERO));
}

#[test]
fn an_on_period_is_cut_at_the_horizon() {
    let law = ActivityLaw {
        on: SpanLaw::Deterministic(s(2.0)),
        off: SpanLaw::Deterministic(s(1.0)),
        start: StartState::Off,
    };
    let on = |arrival, departure| OnInterval { arrival: at(arrival), departure: at(departure) };
    assert_eq!(law.generate(s(5.0), 1, 0).unwrap().as_slice(), [on(1.0, 3.0), on(4.0, 5.0)]);
    assert!(law.generate(s(1.0), 1, 0).unwrap().is_empty());
}

fn spec(id: u32, alpha: f64, beta: f64) -> PuSpec {
    let law = ActivityLaw::exponential(alpha, beta).unwrap();
    let reach = Reach::Power(Power::from_watts(0.1));
    PuSpec { id, position: Position::default(), band: 1, reach, law }
}

/// Common random numbers: neither another user nor another law of the other state moves a draw.
#[test]
fn users_and_states_have_streams_of_their_own() {
    let horizon = s(500.0);
    let generate = |specs: &[PuSpec]| PuActivity::generate(specs, horizon, 12).unwrap();
    let alone = generate(&[spec(2, 0.5, 0.5)]);
    let among = generate(&[spec(1, 3.0, 0.1), spec(2, 0.5, 0.5)]);
    assert_eq!(alone.users[0], among.users[1]);
    assert_ne!(among.users[0].activity, among.users[1].activity);

    let quieter = generate(&[spec(2, 0.5, 0.05)]);
    let on = |activity: &PuActivity| activity.users[0].activity.on_times(Time::ZERO, at(500.0));
    let (busy, quiet) = (on(&alone), on(&quieter));
    assert!(quiet.len() > 10 && busy.len() > quiet.len());
    // The last may be cut at the horizon.
    assert_eq!(quiet[..quiet.len() - 1], busy[..quiet.len() - 1], "the ON times stay");
}

#[test]
fn a_trace_becomes_a_two_state_model() {
    let list = [(1.0, 1.5), (3.0, 4.0), (4.5, 4.75), (8.0, 9.0)];
    let list = list.map(|(from, until)| OnInterval { arrival: at(from), departure: at(until) });
    let trace = Intervals::new(list.to_vec()).unwrap();
    let empirical = ActivityLaw::from_trace(&trace, Time::ZERO, at(10.0)).unwrap();
    assert_eq!(empirical.on, SpanLaw::Empirical([0.5, 1.0, 0.25, 1.0].map(s).to_vec()));
    assert_eq!(empirical.off, SpanLaw::Empirical([1.5, 0.5, 3.25].map(s).to_vec()));
    let markov = ActivityLaw::markov_from_trace(&trace, Time::ZERO, at(10.0)).unwrap();
    assert!((markov.on.mean() - 0.6875).abs() < 1e-8 && (markov.off.mean() - 1.75).abs() < 1e-8);
    // A measurement begins in the middle of a life.
    assert_eq!([empirical.start, markov.start], [StartState::Stationary; 2]);
    // A window that cuts the first and the last ON period leaves only whole spans.
    let inner = ActivityLaw::from_trace(&trace, at(1.2), at(8.5)).unwrap();
    assert_eq!(inner.on, SpanLaw::Empirical([1.0, 0.25].map(s).to_vec()));
    // So does one that begins and ends while the PU is ON; the OFF times beside are whole.
    let busy = ActivityLaw::from_trace(&trace, at(1.0), at(9.0)).unwrap();
    assert_eq!(busy.on, SpanLaw::Empirical([1.0, 0.25].map(s).to_vec()));
    assert_eq!(busy.off, SpanLaw::Empirical([1.5, 0.5, 3.25].map(s).to_vec()));
    assert_eq!(ActivityLaw::from_trace(&trace, at(3.0), at(4.2)).unwrap_err(), LawError::NoSpans);
    assert_eq!(
        ActivityLaw::from_trace(&Intervals::default(), Time::ZERO, at(1.0)).unwrap_err(),
        LawError::NoSpans
    );
}

/// Two-state models of a generated trace of 20,000 cycles. The Markov model finds the rates that generated
/// it: the estimate of a rate from n exponential times has the relative standard error 1 / sqrt(n), five of
/// them are 3.5 %. The empirical model draws what was measured: the largest distance of two distributions of
/// n spans exceeds 1.95 sqrt(2 / n) = 1.95 % once in a thousand seeds.
#[test]
fn models_of_a_trace_give_its_times_back() {
    let gamma = SpanLaw::Gamma { shape: 3.0, scale: s(0.4) };
    let exponential = |rate: f64| SpanLaw::Exponential(s(1.0 / rate));
    for (on, off) in
        [(exponential(2.0), exponential(0.5)), (gamma, SpanLaw::Pareto { minimum: s(0.3), shape: 2.5 })]
    {
        let source = ActivityLaw { on, off, start: StartState::Off };
        let horizon = 20_000.0 * (source.on.mean() + source.off.mean());
        let trace = source.generate(s(horizon), 14, 0).unwrap();
        let markov = ActivityLaw::markov_from_trace(&trace, Time::ZERO, at(horizon)).unwrap();
        assert!((markov.on.mean() / source.on.mean() - 1.0).abs() < 0.035, "{markov:?}");
        assert!((markov.off.mean() / source.off.mean() - 1.0).abs() < 0.035, "{markov:?}");
        assert!((markov.duty_cycle() / source.duty_cycle() - 1.0).abs() < 0.035);

        let empirical = ActivityLaw::from_trace(&trace, Time::ZERO, at(horizon)).unwrap();
        let drawn = empirical.generate(s(horizon), 15, 0).unwrap();
        for times in [Intervals::on_times, Intervals::off_times] {
            let [seen, drawn] = [&trace, &drawn].map(|timeline| {
                let mut times = times(timeline, Time::ZERO, at(horizon));
                times.sort_unstable();
                times
            });
            let share = |list: &[Duration], span| {
                list.partition_point(|other| *other <= span) as f64 / list.len() as f64
            };
            let distance = seen
                .iter()
                .map(|span| (share(&seen, *span) - share(&drawn, *span)).abs())
                .fold(0.0, f64::max);
            assert!(distance < 0.0195, "{source:?}: {distance}");
        }
    }
}

#[test]
fn a_timeline_can_start_later() {
    let list = [(1.0, 2.0), (3.0, 4.0), (6.0, 7.0)];
    let list = list.map(|(from, until)| OnInterval { arrival: at(from), departure: at(until) });
    let moved = Intervals::new(list.to_vec()).unwrap().since(at(3.5));
    let expected = [(0.0, 0.5), (2.5, 3.5)];
    let expected = expected.map(|(from, until)| OnInterval { arrival: at(from), departure: at(until) });
    assert_eq!(moved, Intervals::new(expected.to_vec()).unwrap());
}

/// A tail so heavy that the mean is never seen makes nobody wait: the stationary start runs in for a bounded
/// number of spans.
#[test]
fn heavy_tails_run_in_for_a_bounded_time() {
    for on in [
        SpanLaw::Pareto { minimum: s(1.0), shape: 1.000_000_1 },
        SpanLaw::LogNormal { median: s(1.0), sigma: 10.0 },
    ] {
        let law = ActivityLaw { on, off: SpanLaw::Exponential(s(1.0)), start: StartState::Stationary };
        let drawn = law.generate(s(100.0), 16, 1).unwrap();
        assert!(drawn.len() < 100_000);
    }
}

#[test]
fn laws_without_meaning_are_refused() {
    let wrong = |law: SpanLaw| law.validate().unwrap_err().to_string();
    assert!(wrong(SpanLaw::Exponential(Duration::ZERO)).contains("above zero"));
    assert!(wrong(SpanLaw::Pareto { minimum: s(1.0), shape: 1.0 }).contains("above 1"));
    assert!(wrong(SpanLaw::Gamma { shape: -1.0, scale: s(1.0) }).contains("is -1; it must be above 0"));
    assert!(wrong(SpanLaw::LogNormal { median: s(1.0), sigma: f64::NAN }).contains("sigma"));
    assert!(wrong(SpanLaw::Empirical(vec![])).contains("no whole ON or OFF time"));
    assert!(wrong(SpanLaw::LogNormal { median: s(1.0), sigma: 500.0 }).contains("at most 10"));
    for (alpha, beta) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(ActivityLaw::exponential(alpha, beta).is_err(), "{alpha} {beta}");
    }
}

#[test]
fn places_are_scattered_over_the_rectangle() {
    let places = scatter(4000, 1000.0, 500.0, 13);
    assert!(places.iter().all(|p| (0.0..1000.0).contains(&p.x) && (0.0..500.0).contains(&p.y)));
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 4000.0;
    // Five standard errors of the mean of a uniform law on [0, L) with 4,000 draws: 0.023 L.
    assert!((mean(places.iter().map(|p| p.x).collect()) - 500.0).abs() < 23.0);
    assert!((mean(places.iter().map(|p| p.y).collect()) - 250.0).abs() < 12.0);
    assert_eq!(scatter(3, 1000.0, 500.0, 13), places[..3], "another PU moves none of the others");
}

/// A span lasts, however short its law makes it: a timeline of spans of no time would never end.
#[test]
fn no_span_is_empty() {
    let mut stream = RandomStream::new(1, "spans", 0);
    let nanosecond = Duration::from_nanos(1);
    // Two draws in three round to nothing.
    let law = SpanLaw::Exponential(nanosecond);
    assert!((0..100).all(|_| law.draw(&mut stream) >= nanosecond));
    assert_eq!(SpanLaw::Empirical(Vec::new()).draw(&mut stream), nanosecond);
}
