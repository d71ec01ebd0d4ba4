//! What the predictor says of given levels, by hand.

use super::*;
use crate::journey::Signal;
use cogtcp_spectrum::DurationLaw;
use cogtcp_units::{Probability, Seed};

struct Fields(Vec<String>);

impl Check for Fields {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

fn wrong(change: impl Fn(&mut SignalConfig)) -> Vec<String> {
    let mut config = SignalConfig::default();
    change(&mut config);
    let mut fields = Fields(Vec::new());
    config.check(&mut fields);
    fields.0
}

/// Each bound, met and exceeded.
#[test]
fn settings_have_their_ranges() {
    assert!(wrong(|_| {}).is_empty());
    assert!(wrong(|config| config.step = 1.999).is_empty() && wrong(|config| config.step = 1e-9).is_empty());
    for step in [0.0, -0.1, 2.0, 3.0, f64::NAN] {
        assert_eq!(wrong(|config| config.step = step), ["step"], "{step}");
    }
    assert_eq!(wrong(|config| config.order = 0), ["order"]);
    assert_eq!(wrong(|config| config.order = 1001), ["order"]);
    assert_eq!(wrong(|config| config.horizon = Duration::ZERO), ["horizon"]);
    assert_eq!(wrong(|config| config.horizon = Duration::from_secs(61)), ["horizon"]);
    assert_eq!(wrong(|config| config.margin = Decibel(-1.0)), ["margin"]);
    assert_eq!(wrong(|config| config.noise = Decibel(101.0)), ["noise"]);
    assert!(SignalConfig::default().needs_journey());
}

/// From 3 above to 1 below zero is a way of 4: zero lies 3/4 along it.
#[test]
fn the_crossing_lies_where_the_line_meets_zero() {
    assert_eq!(crossing(3.0, -1.0), Some(0.75));
    assert_eq!(crossing(0.0, -1.0), Some(0.0));
    assert_eq!(crossing(-1.0, 5.0), Some(0.0));
    assert_eq!((crossing(3.0, 1.0), crossing(3.0, 0.0), crossing(0.0, 1.0)), (None, None, None));
}

/// Threshold -98 dBm, recovery 2 dB, handoff at 3 dB that takes 500 ms, a horizon of 2 s, margin as given;
/// nothing is random.
fn predictor(margin: f64) -> SignalStrength {
    let signal = Signal {
        path_loss: 120.0,
        exponent: 3.5,
        shadowing: 0.0,
        correlation: 100.0,
        terrain: Probability::default(),
        terrain_seed: Seed::default(),
        threshold: -98.0,
        recovery: 2.0,
        handover_margin: 3.0,
        handover: DurationLaw::Fixed(Duration::from_millis(500)),
        interval: Duration::from_millis(100),
        rates: Vec::new(),
    };
    let config = SignalConfig {
        order: 4,
        step: 0.5,
        horizon: Duration::from_secs(2),
        margin: Decibel(margin),
        noise: Decibel(0.0),
    };
    SignalStrength {
        signal,
        config,
        stream: RandomStream::new(1, "test", 0),
        horizon: 20,
        filters: vec![None; 3],
        warned: Warned::No,
        forecasts: VecDeque::new(),
    }
}

fn track(station: u16, now: f64, ahead: f64) -> Track {
    Track { station, now, ahead }
}

const NOW: Time = Time::from_millis(10_000);

/// What is forecast at 10 s, station 0 serving.
fn down(margin: f64, tracks: &[Track]) -> Option<Forecast> {
    let mut predictor = predictor(margin);
    predictor.look_down(NOW, &tracks[0], tracks);
    let forecast = predictor.poll(NOW);
    assert!(predictor.poll(NOW).is_none());
    assert_eq!(forecast.is_some(), matches!(predictor.warned, Warned::Coming { .. }));
    forecast
}

fn outage(start: u64, end: Option<u64>) -> Option<Forecast> {
    Some(Forecast::Outage { start: Time::from_millis(start), end: end.map(Time::from_millis) })
}

/// From -97 dBm to -101 in 2 s: 1 above the threshold of -98, then 3 below, a quarter of the way: 0.5 s.
#[test]
fn a_sinking_level_is_lost_where_it_meets_the_threshold() {
    assert_eq!(down(0.0, &[track(0, -97.0, -101.0)]), outage(10_500, None));
    // Not below -98 within the horizon.
    assert_eq!(down(0.0, &[track(0, -97.0, -98.0)]), None);
    // A margin of 2 dB: lost at -96, half way from -94 to -98: 1 s.
    assert_eq!(down(2.0, &[track(0, -94.0, -98.0)]), outage(11_000, None));
    assert_eq!(down(0.0, &[track(0, -94.0, -98.0)]), None);
}

/// The lead of the serving station (its level + 3 dB - the other's) from 4 dB to -4: half of 2 s. The handoff
/// takes 0.5 s.
#[test]
fn a_louder_station_is_a_handover() {
    let serving = track(0, -90.0, -94.0);
    assert_eq!(down(0.0, &[serving, track(1, -91.0, -87.0)]), outage(11_000, Some(11_500)));
    // Of two the earlier: lead -90 + 3 + 89 = 2 dB now, -94 + 3 + 85 = -6 ahead: a quarter, 0.5 s.
    let both = [serving, track(1, -91.0, -87.0), track(2, -89.0, -85.0)];
    assert_eq!(down(0.0, &both), outage(10_500, Some(11_000)));
    // Just as loud as it has to be is not yet louder.
    assert_eq!(down(0.0, &[serving, track(1, -91.0, -91.0)]), None);
}

/// The serving level is lost after a quarter of the horizon (as above).
#[test]
fn a_handover_counts_that_comes_no_later_than_the_loss() {
    let serving = track(0, -97.0, -101.0);
    // Lead 3 dB now, -101 + 3 + 96 = -2 ahead: 3/5 of the horizon, too late.
    assert_eq!(down(0.0, &[serving, track(1, -97.0, -96.0)]), outage(10_500, None));
    // Lead -97 + 3 + 93 = -1 now: at once.
    assert_eq!(down(0.0, &[serving, track(1, -93.0, -93.0)]), outage(10_000, Some(10_500)));
    // Lead 1 dB now, -101 + 3 + 95 = -3 ahead: a quarter as well, and the handover saves the link.
    assert_eq!(down(0.0, &[serving, track(1, -95.0, -95.0)]), outage(10_500, Some(11_000)));
    // One that would itself be below the threshold is none to go to: -98.5 against -110.
    assert_eq!(down(0.0, &[track(0, -97.0, -110.0), track(1, -97.0, -98.5)]).map(ends), Some(false));
    assert_eq!(down(0.0, &[track(0, -97.0, -110.0), track(1, -93.0, -98.0)]).map(ends), Some(true));
}

fn ends(forecast: Forecast) -> bool {
    matches!(forecast, Forecast::Outage { end: Some(_), .. })
}

/// The link is back at -98 + 2 dBm: -100 to -92 meets it half way, 1 s; -99 to -95 after 3/4.
#[test]
fn the_link_is_back_where_the_first_station_recovers() {
    let mut predictor = predictor(0.0);
    predictor.look_up(NOW, &[track(0, -100.0, -97.0)]);
    assert_eq!(predictor.poll(NOW), None);
    predictor.look_up(NOW, &[track(0, -99.0, -95.0), track(1, -100.0, -92.0)]);
    assert_eq!(predictor.poll(NOW), Some(Forecast::End { end: Time::from_millis(11_000) }));
    assert!(matches!(predictor.warned, Warned::Ending));
}

/// Shows the predictor one measurement of station 0, which the filter takes as it is: it has too few for
/// weights.
fn show(predictor: &mut SignalStrength, millis: u64, level: f32, serving: Option<u16>) -> Option<Forecast> {
    let time = Time::from_millis(millis);
    predictor
        .observe(time, &Measurement { time, position: 0.0, speed: 0.0, levels: vec![(0, level)], serving });
    predictor.poll(time)
}

/// Below the threshold: it goes down now. At -96 (threshold + recovery) it is taken back; below that it is
/// not.
#[test]
fn a_warning_is_taken_back_when_the_level_recovers() {
    let mut predictor = predictor(0.0);
    assert_eq!(show(&mut predictor, 1_000, -98.5, Some(0)), outage(1_000, None));
    assert_eq!(show(&mut predictor, 1_100, -96.5, Some(0)), None);
    let back = Some(Forecast::End { end: Time::from_millis(1_200) });
    assert_eq!(show(&mut predictor, 1_200, -96.0, Some(0)), back);
    // The outage comes, and its end: then all starts over.
    assert_eq!(show(&mut predictor, 1_300, -98.5, Some(0)), outage(1_300, None));
    assert_eq!(show(&mut predictor, 1_400, -99.0, None), None);
    assert_eq!(show(&mut predictor, 1_500, -96.5, None), None);
    let end = Some(Forecast::End { end: Time::from_millis(1_600) });
    assert_eq!(show(&mut predictor, 1_600, -95.5, None), end);
    assert_eq!(show(&mut predictor, 1_700, -95.5, None), None);
    assert_eq!(show(&mut predictor, 1_800, -95.5, Some(0)), None);
    assert_eq!(show(&mut predictor, 1_900, -98.5, Some(0)), outage(1_900, None));
}

/// A handoff predicted for 1 s is given up later than 3 s, a horizon on; its end was predicted and is not
/// predicted again.
#[test]
fn a_handover_that_does_not_come_is_given_up() {
    let mut predictor = predictor(0.0);
    predictor.warned = Warned::Coming { start: Time::from_millis(1_000), handover: true };
    assert_eq!(show(&mut predictor, 3_000, -98.5, Some(0)), None);
    assert_eq!(show(&mut predictor, 3_100, -98.5, Some(0)), None);
    assert_eq!(show(&mut predictor, 3_200, -98.5, Some(0)), outage(3_200, None));
    // During a handover that comes nothing is said.
    predictor.warned = Warned::Coming { start: Time::from_millis(4_000), handover: true };
    assert_eq!(show(&mut predictor, 4_000, -80.0, None), None);
    assert_eq!(show(&mut predictor, 4_100, -80.0, None), None);
}

/// A second of 100 ms measurements is ten of them; less than one measurement counts as one.
#[test]
fn the_horizon_is_counted_in_measurements() {
    let line = |interval| Line {
        name: String::new(),
        description: String::new(),
        train: crate::journey::TrainDynamics { top_speed: 40.0, acceleration: 0.5, braking: 1.0, slack: 0.0 },
        stations: Vec::new(),
        limits: Vec::new(),
        base_stations: Vec::new(),
        tunnels: Vec::new(),
        borders: Vec::new(),
        signal: Signal { interval: Duration::from_millis(interval), ..predictor(0.0).signal },
    };
    let horizon = |interval| {
        SignalStrength::new(&line(interval), SignalConfig::default(), RandomStream::new(1, "test", 0)).horizon
    };
    assert_eq!((horizon(100), horizon(300), horizon(2_000)), (10, 3, 1));
}
