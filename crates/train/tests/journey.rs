//! A journey: the train's motion against hand calculation, the statistics of the signal, what the radio makes
//! of both.

use cogtcp_spectrum::{DurationLaw, LinkEvent, OutageCause, Phase, Radio};
use cogtcp_train::journey::{
    BaseStation, Border, Course, JourneyRadio, Line, LineLevels, Measurement, RateStep, Signal, SpeedLimit,
    Station, Timetable, TrainDynamics, Tunnel,
};
use cogtcp_train::prediction::{
    Forecast, Outage, OutageMap, OutageMapConfig, Prediction, Predictor, SignalConfig, SignalStrength, assess,
};
use cogtcp_units::{Decibel, Duration, Length, Probability, RandomStream, Rate, Seed, Time};
use std::sync::Arc;

fn fixed(millis: u64) -> DurationLaw {
    DurationLaw::Fixed(Duration::from_millis(millis))
}

fn station(name: &str, at: f64, stop: Option<DurationLaw>) -> Station {
    Station { name: name.to_owned(), at, stop }
}

fn base_station(name: &str, at: f64) -> BaseStation {
    BaseStation { name: name.to_owned(), at, offset: 50.0, power: 60.0 }
}

/// 20 km, a stop half way, one base station at each end, 40 m/s; no shadowing, no luck at all.
pub(crate) fn line() -> Line {
    Line {
        name: "line".to_owned(),
        description: String::new(),
        train: TrainDynamics { top_speed: 40.0, acceleration: 0.5, braking: 1.0, slack: 0.0 },
        stations: vec![
            station("a", 0.0, None),
            station("b", 10_000.0, Some(fixed(60_000))),
            station("c", 20_000.0, None),
        ],
        limits: Vec::new(),
        base_stations: vec![base_station("west", 0.0), base_station("east", 20_000.0)],
        tunnels: Vec::new(),
        borders: Vec::new(),
        signal: Signal {
            path_loss: 120.0,
            exponent: 3.5,
            shadowing: 0.0,
            correlation: 100.0,
            terrain: Probability::new(0.8).unwrap(),
            terrain_seed: Seed::default(),
            threshold: -98.0,
            recovery: 0.0,
            handover_margin: 3.0,
            handover: fixed(500),
            interval: Duration::from_millis(100),
            rates: Vec::new(),
        },
    }
}

fn course(line: &Line, seed: u64) -> Course {
    Course::new(line, Duration::from_secs(10), Time::MAX, seed, "test")
}

fn seconds(time: Time) -> f64 {
    time.as_secs_f64()
}

/// 10 km at 40 m/s from rest to rest: 80 s over 1600 m to speed up, 40 s over 800 m to brake, 7600 m at 40
/// m/s: 310 s.
#[test]
fn the_timetable_is_that_of_constant_acceleration() {
    let motion = Timetable::new(&line(), Duration::from_secs(10), 1, "test");
    let at = |time: f64| motion.at(Time::from_secs_f64(time));
    assert_eq!(at(0.0), (0.0, 0.0));
    assert_eq!(at(10.0), (0.0, 0.0));
    // 20 s after the start: 0.25 t^2 and 0.5 t.
    let (position, speed) = at(30.0);
    assert!((position - 100.0).abs() < 1e-3 && (speed - 10.0).abs() < 1e-3, "{position} {speed}");
    let (position, speed) = at(100.0);
    assert!((position - 2000.0).abs() < 1e-2 && (speed - 40.0).abs() < 1e-9, "{position} {speed}");
    // 20 s before the stop: 0.5 x 20^2 = 200 m short of it.
    let (position, speed) = at(300.0);
    assert!((position - 9800.0).abs() < 1e-2 && (speed - 20.0).abs() < 1e-3, "{position} {speed}");
    assert_eq!(at(350.0), (10_000.0, 0.0));
    assert!((seconds(motion.arrival()) - 690.0).abs() < 1e-3, "{}", seconds(motion.arrival()));
    assert_eq!(at(9999.0), (20_000.0, 0.0));
    assert_eq!(motion.standing(10_000.0), Duration::from_secs(60));
    // The way back from place to time, with and without the time spent standing.
    for position in [1.0, 99.5, 1600.0, 5_000.0, 9_800.0, 10_000.0, 10_500.0, 19_999.0] {
        let (time, moving) = motion.when(position);
        assert!((motion.at(time).0 - position).abs() < 1e-3, "{position}");
        let stood = if position > 10_000.0 { 60.0 } else { 0.0 };
        assert!((seconds(time) - 10.0 - stood - moving).abs() < 1e-6);
    }
}

/// No faster than the limits, less slack, and never harder than the train can.
#[test]
fn limits_and_slack_hold_on_every_journey() {
    let mut line = line();
    line.limits = vec![
        SpeedLimit { from: 3_000.0, to: 4_000.0, speed: 20.0 },
        SpeedLimit { from: 3_500.0, to: 6_000.0, speed: 30.0 },
    ];
    line.train.slack = 0.2;
    let mut arrivals = Vec::new();
    for seed in 0..20 {
        let motion = Timetable::new(&line, Duration::ZERO, seed, "test");
        arrivals.push(motion.arrival());
        let mut before = (0.0, 0.0);
        for tick in 1..7000 {
            let (position, speed) = motion.at(Time::from_millis(100 * tick));
            let limit = match position {
                3_000.0..4_000.0 => 20.0,
                4_000.0..6_000.0 => 30.0,
                _ => 40.0,
            };
            assert!(speed <= limit + 1e-6, "{position} {speed}");
            assert!(position >= before.0);
            let change = (speed - before.1) / 0.1;
            assert!((-1.0001..=0.5001).contains(&change), "{position}: {change}");
            before = (position, speed);
        }
    }
    assert!(arrivals.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Mean 0, the deviation asked for, exp(-dx/d) between places; the terrain is shared by journeys, the rest is
/// not.
#[test]
fn shadowing_has_its_statistics() {
    let mut line = line();
    line.signal.shadowing = 6.0;
    let bare =
        |position: f64| 60.0 - 120.0 - 35.0 * libm::log10(((position * position) + 2500.0).sqrt() / 1000.0);
    let shadowing = |seed: u64, position: f64| {
        let (_, level) = LineLevels::new(&line, seed, "test").levels(position).next().unwrap();
        level - bare(position)
    };
    let places: Vec<f64> = (0..8).map(|k| 1_000.0 + 1_000.0 * f64::from(k)).collect();
    let (mut all, mut near, mut pairs) = (Vec::new(), 0.0, 0.0);
    for terrain in 0..100 {
        line_with_terrain(&line, terrain, |line| {
            let air = LineLevels::new(line, terrain, "test");
            for &place in &places {
                let level = |x: f64| air.levels(x).next().unwrap().1 - bare(x);
                let (here, there) = (level(place), level(place + 100.0));
                all.push(here);
                near += here * there;
                pairs += 1.0;
            }
        });
    }
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|x| x * x).sum::<f64>() / n;
    // 800 draws: standard errors 0.2 dB of the mean, 1.8 of the variance, 1.4 of the covariance.
    assert!(mean.abs() < 0.8 && (variance - 36.0).abs() < 6.0, "{mean} {variance}");
    let covariance = near / pairs;
    // exp(-1): the places are one correlation distance apart.
    assert!((covariance - 36.0 * 0.367_879).abs() < 5.0, "{covariance}");
    // Two journeys over one terrain differ by the share that is not the terrain's: variance 2 x 36 x 0.2.
    let mut differences = 0.0;
    for seed in 0..100 {
        let (a, b) = (shadowing(seed, 4_000.0), shadowing(seed + 1000, 4_000.0));
        differences += (a - b) * (a - b) / 100.0;
    }
    // Standard error: 14.4 sqrt(2 / 100) = 2.04.
    assert!((differences - 14.4).abs() < 6.5, "{differences}");
}

fn line_with_terrain(line: &Line, seed: u64, mut look: impl FnMut(&Line)) {
    let mut line = line.clone();
    line.signal.terrain_seed = Seed::new(seed).unwrap();
    look(&line);
}

/// Without shadowing all can be worked out: the level is -98 dBm at 12.2 km, so no gap; east is 3 dB louder
/// than west where 35 log10(dw / de) = 3, at 10.985 km.
#[test]
fn a_handover_happens_where_the_levels_say() {
    let line = line();
    let course = course(&line, 1);
    let outages: Vec<_> = course.outages().collect();
    assert_eq!(outages.len(), 1, "{outages:?}");
    let (start, end, cause) = outages[0];
    assert_eq!((cause, end - start), (OutageCause::Handover, Duration::from_millis(500)));
    let position = course.motion().at(start).0;
    let ratio = libm::pow(10.0, 3.0 / 35.0);
    let expected = 20_000.0 * ratio / (1.0 + ratio);
    // The train goes 4 m from one measurement to the next.
    assert!((position - expected).abs() < 4.5, "{position} {expected}");
}

/// A tunnel's loss puts the level under the threshold; the signal goes and comes within its portals.
#[test]
fn a_tunnel_takes_the_signal_and_a_border_the_link() {
    let mut line = line();
    line.tunnels =
        vec![Tunnel { name: "t".to_owned(), from: 4_000.0, to: 5_000.0, loss: 60.0, portal: 60.0 }];
    line.borders = vec![Border { at: 15_000.0, outage: fixed(3_000) }];
    let course = course(&line, 1);
    let causes: Vec<OutageCause> = course.outages().map(|outage| outage.2).collect();
    assert_eq!(causes, [OutageCause::Tunnel, OutageCause::Handover, OutageCause::Border]);
    let (start, end, _) = course.outages().next().unwrap();
    let places = [start, end].map(|time| course.motion().at(time).0);
    // 60 m of portal, and 4 m between measurements.
    assert!((4_000.0..4_064.0).contains(&places[0]) && (4_940.0..5_004.0).contains(&places[1]), "{places:?}");
    let (start, end, _) = course.outages().last().unwrap();
    assert_eq!(end - start, Duration::from_millis(3_000));
    assert!((course.motion().at(start).0 - 15_000.0).abs() < 4.1);
    // A gap of coverage between weak base stations.
    for station in &mut line.base_stations {
        station.power -= 6.0;
    }
    line.tunnels.clear();
    let gap = Course::new(&line, Duration::ZERO, Time::MAX, 1, "test");
    assert!(
        gap.outages().any(
            |(start, end, cause)| cause == OutageCause::Coverage && end - start > Duration::from_secs(60)
        )
    );
}

/// The radio tells the course as phases, events and time; the rate follows the level.
/// A border at which a measurement falls is crossed once: at rest in the middle of its station, and on the move.
#[test]
fn a_border_is_crossed_once() {
    let mut line = line();
    // 20 s after it has left, the train is at 100 m (`the_timetable_is_that_of_constant_acceleration`).
    let at = Timetable::new(&line, Duration::from_secs(10), 1, "test").at(Time::from_millis(30_000)).0;
    for at in [at, 10_000.0] {
        line.borders = vec![Border { at, outage: fixed(150) }];
        let crossed = course(&line, 1);
        let borders = crossed.outages().filter(|outage| outage.2 == OutageCause::Border);
        let spans: Vec<Duration> = borders.map(|(start, end, _)| end - start).collect();
        assert_eq!(spans, [Duration::from_millis(150)], "{at}");
    }
}

#[test]
fn the_radio_follows_its_course() {
    let mut line = line();
    line.tunnels =
        vec![Tunnel { name: "t".to_owned(), from: 4_000.0, to: 5_000.0, loss: 60.0, portal: 60.0 }];
    let rate = |mbit: u64| Rate::from_bits_per_second(mbit * 1_000_000);
    line.signal.rates =
        vec![RateStep { above: -98.0, rate: rate(1) }, RateStep { above: -85.0, rate: rate(4) }];
    let course = Arc::new(course(&line, 1));
    let mut radio = JourneyRadio::new(Arc::clone(&course));
    assert_eq!((radio.phase(), radio.rate()), (Phase::Transmitting, Some(rate(4))));
    let (mut events, mut rates, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = radio.rate();
    while radio.next_change() < Time::MAX {
        let now = radio.next_change();
        let mut told = last;
        if radio.advance(now).is_silent() {
            silent.push(now);
        } else {
            rates.push(radio.rate().unwrap());
            last = radio.rate();
        }
        while let Some((time, event)) = radio.poll_event() {
            assert_eq!(time, now);
            if let LinkEvent::Handoff { rate, .. } | LinkEvent::RateChange { rate } = event {
                assert_ne!((rate, true), (told, matches!(event, LinkEvent::RateChange { .. })), "no change");
                told = rate;
            }
            if !matches!(event, LinkEvent::RateChange { .. }) {
                events.push(event);
            }
        }
        assert_eq!(told, last, "a rate that changes is told at {now:?}");
        assert!(radio.next_change() > now);
    }
    let starts: Vec<Time> = course.outages().map(|outage| outage.0).collect();
    assert_eq!(silent, starts);
    assert!(rates.contains(&rate(1)) && rates.contains(&rate(4)));
    let handoffs = events.iter().filter(|event| matches!(event, LinkEvent::Handoff { .. })).count();
    assert_eq!(
        (events[0], events[1]),
        (LinkEvent::SignalLost { cause: OutageCause::Tunnel }, LinkEvent::SignalBack)
    );
    assert_eq!((handoffs, events.len()), (1, 5));
    let stats = radio.stats(Time::from_millis(700_000));
    assert_eq!(stats.switching, Duration::from_millis(500));
    assert_eq!((stats.losses, stats.handoffs), (1, 1));
    assert_eq!(stats.transmitting + stats.lost + stats.switching, Duration::from_secs(700));
}

/// The same line, seed and part: the same journey; another seed another one over the same terrain.
#[test]
fn a_journey_is_a_function_of_map_and_seed() {
    let mut line = line();
    line.signal.shadowing = 5.0;
    line.stations[1].stop = Some(DurationLaw::Uniform(Duration::from_secs(30), Duration::from_secs(90)));
    let outages = |seed| course(&line, seed).outages().collect::<Vec<_>>();
    assert_eq!(outages(3), outages(3));
    assert_ne!(outages(3), outages(4));
}

fn outages(course: &Course) -> Vec<Outage> {
    course.silences().into_iter().map(|(start, end)| Outage { start, end }).collect()
}

/// What a predictor says on `course`, shown one measurement after another; and when it said how each outage
/// ends.
fn live(predictor: &mut dyn Predictor, course: &Course) -> (Vec<Prediction>, Vec<Option<Time>>) {
    assert!(predictor.observes() && predictor.poll(Time::ZERO).is_none());
    let (mut predictions, mut ends) = (Vec::<Prediction>::new(), Vec::new());
    for measured in course.measurements() {
        let now = measured.time;
        predictor.observe(now, measured);
        while let Some(forecast) = predictor.poll(now) {
            match forecast {
                Forecast::Outage { start, end } => {
                    assert!(start >= now && end.is_none_or(|end| end >= start), "{forecast:?} at {now:?}");
                    predictions.push(Prediction { made: now, start, end });
                    ends.push(end.map(|_| now));
                }
                Forecast::End { end } => {
                    assert!(end >= now, "{forecast:?} at {now:?}");
                    predictions.last_mut().unwrap().end = Some(end);
                    *ends.last_mut().unwrap() = Some(now);
                }
            }
        }
    }
    (predictions, ends)
}

fn all(predictor: &mut dyn Predictor, course: &Course) -> Vec<Prediction> {
    live(predictor, course).0
}

fn map_config() -> OutageMapConfig {
    OutageMapConfig {
        journeys: 10,
        position_error: Length(0.0),
        share: Probability::new(0.5).unwrap(),
        spread: Length(100.0),
        ahead: Duration::from_secs(10),
    }
}

fn with_tunnels() -> Line {
    let mut line = line();
    let tunnel = |from: f64, to: f64| Tunnel { name: String::new(), from, to, loss: 60.0, portal: 0.0 };
    // The second begins just beyond the stop.
    line.tunnels = vec![tunnel(4_000.0, 5_000.0), tunnel(10_100.0, 10_600.0), tunnel(15_000.0, 15_500.0)];
    line
}

/// Where nothing differs between journeys the map predicts everything: to the distance between two
/// measurements.
#[test]
fn the_outage_map_of_a_line_without_luck_is_right() {
    let line = with_tunnels();
    let present = course(&line, 1);
    for journeys in [1, 10] {
        let earlier: Vec<Course> = (0..journeys).map(|seed| course(&line, 10 + u64::from(seed))).collect();
        let mut map = OutageMap::new(&line, &earlier, map_config(), RandomStream::new(1, "x", 0));
        // Behind the second tunnel the other base station is louder: no handover.
        assert_eq!(map.zones().len(), 3);
        assert!(map.zones().iter().all(|zone| zone.journeys == journeys));
        let found = assess(&outages(&present), &all(&mut map, &present));
        assert_eq!((found.missed, found.false_ones), (0, 0));
        let mut errors = found.start_errors.iter().chain(&found.end_errors);
        assert!(errors.all(|error| error.abs() < 0.25), "{found:?}");
    }
}

/// Another driver, other stops: position and speed still tell, where a timetable would be off by the time
/// stood.
#[test]
fn the_outage_map_goes_by_position_and_speed() {
    let mut line = with_tunnels();
    line.stations[1].stop = Some(DurationLaw::Uniform(Duration::ZERO, Duration::from_secs(120)));
    line.train.slack = 0.1;
    let earlier: Vec<Course> = (10..20).map(|seed| course(&line, seed)).collect();
    for seed in 0..5 {
        let present = course(&line, seed);
        let config = OutageMapConfig { position_error: Length(10.0), ..map_config() };
        let mut map = OutageMap::new(&line, &earlier, config, RandomStream::new(seed, "x", 0));
        let found = assess(&outages(&present), &all(&mut map, &present));
        assert_eq!((found.missed, found.false_ones), (0, 0), "{found:?}");
        assert!(found.start_errors.iter().all(|error| error.abs() < 2.5), "{found:?}");
    }
}

/// What only one journey in ten met is not on a map that asks for half of them.
#[test]
fn what_was_met_seldom_is_not_on_the_map() {
    let line = with_tunnels();
    let open = self::line();
    let mut earlier: Vec<Course> = (10..19).map(|seed| course(&open, seed)).collect();
    earlier.push(course(&line, 20));
    let map = OutageMap::new(&line, &earlier, map_config(), RandomStream::new(1, "x", 0));
    // The handover, which all had.
    assert_eq!(map.zones().len(), 1);
}

fn filter() -> SignalConfig {
    SignalConfig {
        order: 4,
        step: 0.5,
        horizon: Duration::from_secs(1),
        margin: Decibel(0.0),
        noise: Decibel(0.0),
    }
}

/// A level that falls steadily is predicted; a wall is not.
#[test]
fn the_filter_predicts_what_the_level_says() {
    let mut line = line();
    for station in &mut line.base_stations {
        station.power -= 6.0;
    }
    line.signal.recovery = 0.5;
    let gap = course(&line, 1);
    let mut signal = SignalStrength::new(&line, filter(), RandomStream::new(1, "x", 0));
    let (predictions, ends) = live(&mut signal, &gap);
    let found = assess(&outages(&gap), &predictions);
    assert_eq!((found.missed, found.false_ones), (0, 0), "{found:?} {predictions:?}");
    assert!(found.start_errors[0].abs() < 0.5 && found.end_errors[0].abs() < 1.0, "{found:?}");
    // Ahead by most of the horizon, and the end was not known at the beginning.
    let (first, outage) = (predictions[0], outages(&gap)[0]);
    assert!(seconds(outage.start) - seconds(first.made) > 0.5, "{first:?} {outage:?}");
    assert!(ends[0].is_some_and(|made| made > outage.start));
    // The walls of tunnels without a portal: the same filter knows of none of them before.
    let line = with_tunnels();
    let walls = course(&line, 1);
    let mut signal = SignalStrength::new(&line, filter(), RandomStream::new(1, "x", 0));
    let predictions = all(&mut signal, &walls);
    for (start, _, cause) in walls.outages().filter(|outage| outage.2 == OutageCause::Tunnel) {
        let ahead = predictions
            .iter()
            .any(|p| p.made < start && seconds(start) - seconds(p.start) < 1.0 && p.start <= start);
        assert!(!ahead, "{cause:?} at {start:?}: {predictions:?}");
    }
}

/// Whatever the noise: every prediction is made before it counts, and its end is not known before it is made.
#[test]
fn predictions_never_look_back() {
    let mut line = with_tunnels();
    line.signal.shadowing = 6.0;
    line.signal.recovery = 2.0;
    for seed in 0..10 {
        let present = course(&line, seed);
        let config = SignalConfig { noise: Decibel(2.0), margin: Decibel(2.0), ..filter() };
        let mut signal = SignalStrength::new(&line, config, RandomStream::new(seed, "x", 0));
        // `live` checks each forecast.
        assert!(!all(&mut signal, &present).is_empty());
    }
}

/// A train at walking pace is still a train that moves: 2 m before the tunnel at 0.5 m/s it is 4 s from its
/// outage, which is near enough. One that stands is not.
#[test]
fn a_train_at_walking_pace_is_warned() {
    let line = with_tunnels();
    let earlier: Vec<Course> = (10..20).map(|seed| course(&line, seed)).collect();
    let predicted = |speed: f64| {
        let mut map = OutageMap::new(&line, &earlier, map_config(), RandomStream::new(1, "x", 0));
        let position = map.zones()[0].from - 2.0;
        let now = Time::from_millis(1_000_000);
        map.observe(now, &Measurement { time: now, position, speed, levels: Vec::new(), serving: None });
        map.poll(now).is_some()
    };
    assert!(predicted(0.5));
    assert!(!predicted(0.0));
}
