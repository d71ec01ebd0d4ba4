//! The bounds of a map and of each predictor's settings: what is taken, and the next value beyond.

use crate::journey::line;
use cogtcp_spectrum::DurationLaw;
use cogtcp_train::journey::{Border, Line, RateStep, SpeedLimit, Tunnel};
use cogtcp_train::prediction::{
    ItineraryConfig, OutageMapConfig, PredictorConfig, PredictorKind, SignalConfig,
};
use cogtcp_units::{Check, Decibel, Duration, Length, Probability, Rate};

#[derive(Default)]
struct Fields(Vec<String>);

impl Check for Fields {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

const LONGEST: Duration = Duration::from_secs(1000);

fn wrong(line: &Line) -> Vec<String> {
    let mut fields = Fields::default();
    line.check(LONGEST, &mut fields);
    fields.0
}

/// A line with one of everything.
fn full() -> Line {
    let mut line = line();
    line.limits = vec![SpeedLimit { from: 100.0, to: 200.0, speed: 20.0 }];
    line.tunnels = vec![Tunnel { name: String::new(), from: 300.0, to: 400.0, loss: 50.0, portal: 10.0 }];
    line.borders = vec![Border { at: 500.0, outage: DurationLaw::Fixed(Duration::from_secs(1)) }];
    let rate = Rate::from_bits_per_second(1000);
    line.signal.rates = vec![RateStep { above: -90.0, rate }, RateStep { above: -80.0, rate }];
    line
}

type Set = fn(&mut Line, f64);

#[test]
fn numbers_of_a_map_are_bounded() {
    assert_eq!(wrong(&full()), Vec::<String>::new());
    let numbers: [(&str, Set, f64, f64); 22] = [
        ("train.top_speed", |it, x| it.train.top_speed = x, 0.1, 500.0),
        ("train.acceleration", |it, x| it.train.acceleration = x, 0.01, 10.0),
        ("train.braking", |it, x| it.train.braking = x, 0.01, 10.0),
        ("train.slack", |it, x| it.train.slack = x, 0.0, 0.9),
        ("limit.0.speed", |it, x| it.limits[0].speed = x, 0.1, 500.0),
        ("limit.0.from", |it, x| it.limits[0].from = x, -5e6, 199.0),
        ("limit.0.to", |it, x| it.limits[0].to = x, 101.0, 5e6),
        ("tunnel.0.from", |it, x| it.tunnels[0].from = x, -5e6, 399.0),
        ("tunnel.0.to", |it, x| it.tunnels[0].to = x, 301.0, 5e6),
        ("tunnel.0.loss", |it, x| it.tunnels[0].loss = x, 0.0, 300.0),
        ("tunnel.0.portal", |it, x| it.tunnels[0].portal = x, 0.0, 5e6),
        ("border.0.at", |it, x| it.borders[0].at = x, -5e6, 5e6),
        ("station.0.at", |it, x| it.stations[0].at = x, -5e6, 9_900.0),
        ("base_station.1.at", |it, x| it.base_stations[1].at = x, -5e6, 5e6),
        ("base_station.1.offset", |it, x| it.base_stations[1].offset = x, 0.0, 5e6),
        ("base_station.1.power", |it, x| it.base_stations[1].power = x, -200.0, 90.0),
        ("signal.path_loss", |it, x| it.signal.path_loss = x, 0.0, 300.0),
        ("signal.exponent", |it, x| it.signal.exponent = x, 1.0, 10.0),
        ("signal.shadowing", |it, x| it.signal.shadowing = x, 0.0, 30.0),
        ("signal.correlation", |it, x| it.signal.correlation = x, 1.0, 100_000.0),
        ("signal.recovery", |it, x| it.signal.recovery = x, 0.0, 100.0),
        ("signal.threshold", |it, x| it.signal.threshold = x, -200.0, 90.0),
    ];
    for (field, set, least, most) in numbers {
        for bound in [least, most] {
            let mut line = full();
            set(&mut line, bound);
            assert_eq!(wrong(&line), Vec::<String>::new(), "{field} = {bound}");
        }
        // A hundredth beyond; a metre where another place is the bound.
        let is_place = ["from", "to", "at"].iter().any(|end| field.ends_with(end));
        let step = |bound: f64| if is_place { 1.001 } else { bound.abs().max(0.1) / 100.0 };
        for beyond in [least - step(least), most + step(most)] {
            let mut line = full();
            set(&mut line, beyond);
            assert!(!wrong(&line).is_empty(), "{field} = {beyond}");
            if !is_place {
                assert_eq!(wrong(&line), [field], "{beyond}");
            }
        }
    }
    for (margin, right) in [(0.1, true), (0.09, false), (100.0, true), (100.1, false)] {
        let mut line = full();
        line.signal.handover_margin = margin;
        assert_eq!(wrong(&line).is_empty(), right, "{margin}");
    }
}

#[test]
fn spans_orders_and_names_of_a_map_are_checked() {
    let millis = Duration::from_millis;
    for (interval, right) in [
        (millis(1), true),
        (Duration::from_micros(999), false),
        (millis(10_000), true),
        (millis(10_001), false),
    ] {
        let mut line = full();
        line.signal.interval = interval;
        assert_eq!(wrong(&line).is_empty(), right, "{interval}");
    }
    for (span, right) in [(LONGEST, true), (LONGEST + Duration::from_nanos(1), false)] {
        let law = DurationLaw::Fixed(span);
        let mut lines = [full(), full(), full()];
        lines[0].borders[0].outage = law;
        lines[1].stations[1].stop = Some(law);
        lines[2].signal.handover = law;
        for (line, field) in lines.iter().zip(["border.0.outage", "station.1.stop", "signal.handover"]) {
            assert_eq!(wrong(line).is_empty(), right, "{field}");
            assert!(wrong(line).iter().all(|it| it.starts_with(field)));
        }
    }
    let spoil = |change: fn(&mut Line)| {
        let mut line = full();
        change(&mut line);
        wrong(&line)
    };
    // A stretch has a length, and rates rise with their levels.
    assert_eq!(spoil(|it| it.limits[0].to = 100.0), ["limit.0.to"]);
    assert_eq!(spoil(|it| it.tunnels[0].to = 300.0), ["tunnel.0.to"]);
    assert_eq!(spoil(|it| it.signal.rates[1].above = -90.0), ["signal.rates.1.above"]);
    assert_eq!(spoil(|it| it.signal.rates[0].above = -200.1), ["signal.rates.0.above"]);
    assert_eq!(spoil(|it| it.signal.rates[0].rate = Rate::from_bits_per_second(0)), ["signal.rates.0.rate"]);
    // Stations are 100 m apart at least, and there are two of them.
    assert_eq!(spoil(|it| it.stations[1].at = 99.9), ["station.1.at"]);
    assert!(spoil(|it| it.stations[1].at = 100.0).is_empty());
    assert_eq!(spoil(|it| it.stations.truncate(1)), ["station"]);
    assert!(spoil(|it| it.stations.truncate(2)).is_empty());
    assert!(spoil(|it| it.base_stations.truncate(1)).is_empty());
    assert_eq!(spoil(|it| it.base_stations.clear()), ["base_station"]);
    assert_eq!(spoil(|it| it.base_stations[1].name = "west".to_owned()), ["base_station.1.name"]);
    for (change, field) in [
        ((|it| it.name.clear()) as fn(&mut Line), "name"),
        (|it| it.stations[0].name.clear(), "station.0.name"),
        (|it| it.base_stations[0].name.clear(), "base_station.0.name"),
    ] {
        assert_eq!(spoil(change), [field]);
    }
}

fn faults(kind: &dyn PredictorKind) -> Vec<String> {
    let mut fields = Fields::default();
    kind.check(&mut fields);
    fields.0
}

#[test]
fn settings_of_predictors_are_bounded() {
    let map = |change: fn(&mut OutageMapConfig)| {
        let mut config = OutageMapConfig::default();
        change(&mut config);
        faults(&config)
    };
    assert!(map(|_| ()).is_empty() && map(|it| it.journeys = 1).is_empty());
    assert!(map(|it| it.journeys = 1000).is_empty() && map(|it| it.spread = Length(1e5)).is_empty());
    assert_eq!(
        (map(|it| it.journeys = 0), map(|it| it.journeys = 1001)),
        (vec!["journeys".into()], vec!["journeys".into()])
    );
    assert_eq!(map(|it| it.position_error = Length(-0.1)), ["position_error"]);
    assert_eq!(map(|it| it.spread = Length(100_001.0)), ["spread"]);
    assert_eq!(map(|it| it.ahead = Duration::ZERO), ["ahead"]);
    assert!(map(|it| it.ahead = Duration::from_secs(1_000_000)).is_empty());
    assert_eq!(map(|it| it.ahead = Duration::from_secs(1_000_001)), ["ahead"]);
    let signal = |change: fn(&mut SignalConfig)| {
        let mut config = SignalConfig::default();
        change(&mut config);
        faults(&config)
    };
    assert!(signal(|_| ()).is_empty() && signal(|it| (it.order, it.step) = (1000, 1.999)).is_empty());
    assert_eq!(
        (signal(|it| it.order = 0), signal(|it| it.order = 1001)),
        (vec!["order".into()], vec!["order".into()])
    );
    assert_eq!(
        (signal(|it| it.step = 0.0), signal(|it| it.step = 2.0)),
        (vec!["step".into()], vec!["step".into()])
    );
    assert!(signal(|it| it.horizon = Duration::from_secs(60)).is_empty());
    assert_eq!(signal(|it| it.horizon = Duration::from_secs(61)), ["horizon"]);
    assert_eq!(signal(|it| it.horizon = Duration::ZERO), ["horizon"]);
    assert!(signal(|it| (it.margin, it.noise) = (Decibel(100.0), Decibel(100.0))).is_empty());
    assert_eq!(signal(|it| it.margin = Decibel(100.1)), ["margin"]);
    assert_eq!(signal(|it| it.noise = Decibel(-0.1)), ["noise"]);
    let itinerary = |error: Duration, interval: Option<Duration>| {
        faults(&ItineraryConfig { error, false_interval: interval, ..ItineraryConfig::default() })
    };
    let longest = Duration::from_secs(1_000_000);
    assert!(itinerary(Duration::ZERO, None).is_empty() && itinerary(longest, Some(longest)).is_empty());
    assert_eq!(itinerary(longest + Duration::from_nanos(1), None), ["error"]);
    assert!(itinerary(Duration::ZERO, Some(Duration::from_millis(1))).is_empty());
    // Each is one fault.
    for interval in [Duration::ZERO, Duration::from_micros(999), longest + Duration::from_nanos(1)] {
        assert_eq!(itinerary(Duration::ZERO, Some(interval)), ["false_interval"], "{interval}");
    }
}

/// The settings that docs and scenarios leave out.
#[test]
fn predictors_have_their_defaults() {
    assert_eq!(PredictorConfig::default(), PredictorConfig::Oracle);
    let map = OutageMapConfig::default();
    assert_eq!((map.journeys, map.position_error, map.spread), (20, Length(10.0), Length(100.0)));
    assert_eq!((map.share, map.ahead), (Probability::new(0.5).unwrap(), Duration::from_secs(10)));
    let signal = SignalConfig::default();
    assert_eq!((signal.order, signal.step, signal.horizon), (8, 0.1, Duration::from_secs(1)));
    assert_eq!((signal.margin, signal.noise), (Decibel(0.0), Decibel(1.0)));
}
