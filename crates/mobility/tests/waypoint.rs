//! Random waypoint's laws, against what the Palm calculus gives by hand. Tolerances: Kolmogorov-Smirnov at
//! 1.95 / sqrt(n), which a true law exceeds once in a thousand times; means at five standard errors. The
//! seeds are fixed, so that a test either holds for good or not at all.

use cogtcp_mobility::{Area, Mobility, RandomWaypoint, Start, WaypointError};
use cogtcp_units::{Duration, Time};

const N: usize = 4000;

fn model(start: Start) -> RandomWaypoint {
    RandomWaypoint {
        area: Area::new(1000.0, 0.0),
        min_speed: 1.0,
        max_speed: 20.0,
        min_pause: Duration::ZERO,
        max_pause: Duration::ZERO,
        start,
    }
}

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

/// The greatest distance between the distribution of the samples and `law`, as a multiple of 1 / sqrt(n).
fn distance(mut samples: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let gaps = samples.iter().enumerate().map(|(i, x)| {
        let expected = law(*x);
        (expected - i as f64 / n).abs().max((expected - (i + 1) as f64 / n).abs())
    });
    gaps.fold(0.0, f64::max) * n.sqrt()
}

fn speeds(trajectories: &Mobility, now: Time) -> Vec<f64> {
    trajectories.trajectories().iter().map(|trajectory| trajectory.speed(now)).collect()
}

fn easts(trajectories: &Mobility, now: Time) -> Vec<f64> {
    trajectories.trajectories().iter().map(|trajectory| trajectory.position(now).x).collect()
}

const LIMIT: f64 = 1.95;

/// A trip lasts d / v, so an instant falls into one with speed v as 1/v: F(v) = ln(v / 1) / ln 20, at any
/// time.
#[test]
fn stationary_speeds_go_with_their_inverse() {
    let trajectories = model(Start::Stationary).generate(N, Duration::from_secs(500), 1).unwrap();
    for seconds in [0, 50, 499] {
        let ks = distance(speeds(&trajectories, at(seconds)), |v| libm::log(v) / libm::log(20.0));
        assert!(ks < LIMIT, "{seconds} s: {ks}");
        // The same samples are far from the uniform law that the trips draw from: the test can tell.
        assert!(distance(speeds(&trajectories, at(seconds)), |v| (v - 1.0) / 19.0) > 10.0);
    }
}

/// On a line of length 1 the ends of a trip have the density 3 |a - b| and the node is anywhere between: its
/// density is 6 x (1 - x) (Bettstetter, Resta and Santi, 2003), F(x) = 3 x^2 - 2 x^3, at any time.
#[test]
fn stationary_places_on_a_line() {
    let trajectories = model(Start::Stationary).generate(N, Duration::from_secs(500), 2).unwrap();
    for seconds in [0, 50, 499] {
        let places = easts(&trajectories, at(seconds)).into_iter().map(|x| x / 1000.0).collect();
        let ks = distance(places, |x| 3.0 * x * x - 2.0 * x * x * x);
        assert!(ks < LIMIT, "{seconds} s: {ks}");
    }
}

/// With pauses of 20 to 60 s: mean trip 1000/3 m * ln 20 / 19 s/m = 52.556 s, mean pause 40 s, so a node
/// moves in 56.78 % of the time; and mean speed over time is 333.3 m / 92.556 s = 3.6014 m/s.
#[test]
fn stationary_share_of_pauses() {
    let model = RandomWaypoint {
        min_pause: Duration::from_secs(20),
        max_pause: Duration::from_secs(60),
        ..model(Start::Stationary)
    };
    assert!((model.mean_trip() - 52.556).abs() < 1e-3);
    assert!((model.moving_share() - 0.5678).abs() < 1e-4);
    let trajectories = model.generate(N, Duration::from_secs(1000), 3).unwrap();
    for seconds in [0, 30, 999] {
        let moving = speeds(&trajectories, at(seconds)).iter().filter(|speed| **speed > 0.0).count() as f64;
        let share = moving / N as f64;
        // Five standard errors of a share of 0.57 of 4000: 0.039.
        assert!((share - 0.5678).abs() < 0.039, "{seconds} s: {share}");
    }
    let way: f64 = trajectories.trajectories().iter().map(|trajectory| trajectory.travelled(at(1000))).sum();
    assert!((way / N as f64 / 1000.0 / 3.6014 - 1.0).abs() < 0.02);
}

/// A pause of p s that is under way at time 0 has anything left: for constant p = 100 s, F(t) = t / 100. With
/// pauses uniform on 0 to b the residual's density is (1 - t/b) / (b/2): F(t) = 2 t/b - (t/b)^2.
#[test]
fn what_is_left_of_a_pause() {
    for (low, law) in [(100, (|t: f64| t) as fn(f64) -> f64), (0, |t: f64| 2.0 * t - t * t)] {
        let model = RandomWaypoint {
            min_pause: Duration::from_secs(low),
            max_pause: Duration::from_secs(100),
            ..model(Start::Stationary)
        };
        let trajectories = model.generate(N, Duration::from_secs(200), 4).unwrap();
        let pausing =
            trajectories.trajectories().iter().filter(|trajectory| trajectory.speed(Time::ZERO) == 0.0);
        let left: Vec<f64> =
            pausing.map(|trajectory| trajectory.next_turn(Time::ZERO).as_secs_f64() / 100.0).collect();
        assert!(left.len() > 1500, "{}", left.len());
        let ks = distance(left, law);
        assert!(ks < LIMIT, "{low}: {ks}");
    }
}

/// In the square, the law at the beginning is that of any later time: places (two samples, 1.95 sqrt(2)) and
/// speeds.
#[test]
fn the_square_is_stationary() {
    let model = RandomWaypoint {
        area: Area::new(1000.0, 1000.0),
        min_speed: 2.5,
        max_speed: 4.0,
        min_pause: Duration::from_secs(3),
        max_pause: Duration::from_secs(3),
        start: Start::Stationary,
    };
    let trajectories = model.generate(N, Duration::from_secs(2000), 5).unwrap();
    let sorted = |seconds: u64| {
        let mut xs = easts(&trajectories, at(seconds));
        xs.sort_by(f64::total_cmp);
        xs
    };
    let (begin, later) = (sorted(0), sorted(2000));
    let below = |samples: &[f64], x: f64| samples.partition_point(|s| *s <= x) as f64 / N as f64;
    let gap = begin.iter().map(|x| (below(&begin, *x) - below(&later, *x)).abs()).fold(0.0, f64::max);
    assert!(gap * (N as f64).sqrt() < LIMIT * 2_f64.sqrt(), "{gap}");
    assert!(
        trajectories
            .trajectories()
            .iter()
            .flat_map(|trajectory| trajectory.vertices())
            .all(|v| model.area.contains(v.position))
    );
    let moving: Vec<f64> = speeds(&trajectories, at(1000)).into_iter().filter(|speed| *speed > 0.0).collect();
    let ks = distance(moving, |v| libm::log(v / 2.5) / libm::log(4.0 / 2.5));
    assert!(ks < LIMIT, "{ks}");
}

/// The naive start: at 0 uniform places and uniform speeds (mean 10.5 m/s); later the stationary laws (mean
/// 19 / ln 20 = 6.34 m/s). A run that begins so is faster at first than it ever is again.
#[test]
fn the_naive_start_slows_down() {
    let trajectories = model(Start::Naive).generate(N, Duration::from_secs(3000), 6).unwrap();
    let places = easts(&trajectories, Time::ZERO).into_iter().map(|x| x / 1000.0).collect();
    assert!(distance(places, |x| x) < LIMIT);
    assert!(distance(speeds(&trajectories, Time::ZERO), |v| (v - 1.0) / 19.0) < LIMIT);
    let ks = distance(speeds(&trajectories, at(2900)), |v| libm::log(v) / libm::log(20.0));
    assert!(ks < LIMIT, "{ks}");
}

/// The same seed is the same trajectory; more nodes or a longer time move nobody.
#[test]
fn paths_are_of_the_seed_and_the_node() {
    let few = model(Start::Stationary).generate(3, Duration::from_secs(100), 7).unwrap();
    let many = model(Start::Stationary).generate(9, Duration::from_secs(900), 7).unwrap();
    for node in 0..3 {
        for seconds in 0..=100 {
            let off = few.position(node, at(seconds)).distance(many.position(node, at(seconds)));
            assert!(off < 1e-9, "{off}");
        }
    }
    assert_ne!(few, model(Start::Stationary).generate(3, Duration::from_secs(100), 8).unwrap());
    assert!(few.end() == at(100) && few.max_speed() <= 20.0 + 1e-6);
    assert!(model(Start::Stationary).generate(0, Duration::from_secs(100), 7).unwrap().is_empty());
}

#[test]
fn what_is_no_model_is_refused() {
    let wrong = |change: fn(&mut RandomWaypoint)| {
        let mut model = model(Start::Stationary);
        change(&mut model);
        model.generate(1, Duration::from_secs(10), 1).unwrap_err()
    };
    assert_eq!(wrong(|m| m.area = Area::new(-1.0, 5.0)), WaypointError::Area);
    assert_eq!(wrong(|m| m.min_speed = 0.0), WaypointError::Speed(0.0, 20.0));
    // The slowest node takes days to cross a room, and is allowed: 1 mm/s.
    assert_eq!(wrong(|m| m.min_speed = 0.000_999), WaypointError::Speed(0.000_999, 20.0));
    let slow = RandomWaypoint { min_speed: 0.001, ..model(Start::Stationary) };
    assert!(slow.generate(1, Duration::from_secs(10), 1).is_ok());
    assert_eq!(wrong(|m| m.max_speed = 0.5), WaypointError::Speed(1.0, 0.5));
    assert!(matches!(wrong(|m| m.max_speed = f64::NAN), WaypointError::Speed(..)));
    assert!(matches!(wrong(|m| m.min_pause = Duration::from_secs(1)), WaypointError::Pause(..)));
    let taken = |change: fn(&mut RandomWaypoint)| {
        let mut model = model(Start::Naive);
        change(&mut model);
        model.generate(1, Duration::from_secs(10), 1).is_ok()
    };
    assert!(taken(|m| m.max_speed = 1e6) && taken(|m| (m.min_speed, m.max_speed) = (1e6, 1e6)));
    assert!(matches!(wrong(|m| m.max_speed = 1_000_001.0), WaypointError::Speed(..)));
    assert!(taken(|m| (m.min_pause, m.max_pause) = (Duration::from_secs(1), Duration::from_secs(1))));
    assert!(taken(|m| m.area = Area::new(1e9, 0.0)) && taken(|m| m.area = Area::new(0.0, 1.0)));
    assert_eq!(wrong(|m| m.area = Area::new(1_000_000_001.0, 0.0)), WaypointError::Area);
    assert_eq!(wrong(|m| m.area = Area::new(0.0, 0.0)), WaypointError::Area);
    let long = model(Start::Naive).generate(1000, Duration::from_secs(10_000_000), 1);
    assert!(matches!(long, Err(WaypointError::TooLong(_))));
}
