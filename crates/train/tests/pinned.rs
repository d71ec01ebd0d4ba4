//! What a map may say, where trains are, what predictors foresee and what messages say, committed as text.

use crate::committed::{compare, hash};
use cogtcp_spectrum::DurationLaw;
use cogtcp_train::RouterMessage;
use cogtcp_train::journey::{
    BaseStation, Border, Course, Line, RateStep, Signal, SpeedLimit, Station, Timetable, TrainDynamics,
    Tunnel,
};
use cogtcp_train::prediction::{Predictor, SignalConfig, SignalStrength};
use cogtcp_train::wire::sealed::{Freshness, Key, open, seal};
use cogtcp_train::wire::{decode, encode};
use cogtcp_units::{Check, Decibel, Duration, Probability, RandomStream, Rate, Seed, Time};
use std::fmt::Write;

fn line() -> Line {
    let fixed = |seconds| DurationLaw::Fixed(Duration::from_secs(seconds));
    let station = |name: &str, at, stop| Station { name: name.to_owned(), at, stop };
    let base = |name: &str, at| BaseStation { name: name.to_owned(), at, offset: 50.0, power: 60.0 };
    Line {
        name: "line".to_owned(),
        description: String::new(),
        train: TrainDynamics { top_speed: 40.0, acceleration: 0.5, braking: 0.8, slack: 0.05 },
        stations: vec![
            station("a", 0.0, None),
            station("b", 6000.0, Some(fixed(20))),
            station("c", 12_000.0, None),
        ],
        limits: vec![SpeedLimit { from: 2000.0, to: 3000.0, speed: 15.0 }],
        base_stations: vec![base("west", 0.0), base("middle", 5000.0), base("east", 12_000.0)],
        tunnels: vec![Tunnel { name: "hill".to_owned(), from: 7000.0, to: 7600.0, loss: 40.0, portal: 50.0 }],
        borders: vec![Border { at: 9000.0, outage: fixed(2) }],
        signal: Signal {
            path_loss: 120.0,
            exponent: 3.5,
            shadowing: 6.0,
            correlation: 100.0,
            terrain: Probability::new(0.8).unwrap(),
            terrain_seed: Seed::default(),
            threshold: -98.0,
            recovery: 2.0,
            handover_margin: 3.0,
            handover: DurationLaw::Fixed(Duration::from_millis(500)),
            interval: Duration::from_millis(100),
            rates: [(-98.0, 1), (-80.0, 20)]
                .map(|(above, mbit)| RateStep { above, rate: Rate::from_bits_per_second(mbit * 1_000_000) })
                .to_vec(),
        },
    }
}

#[derive(Default)]
struct Found(String);

impl Check for Found {
    fn error(&mut self, field: &str, message: String, remedy: String) {
        let _ = write!(self.0, " | {field}: {message}; {remedy}");
    }
}

fn said(line: &Line) -> String {
    let mut found = Found::default();
    line.check(Duration::from_secs(1000), &mut found);
    found.0
}

/// Every number at every limit of the map, and a hair below and above.
#[test]
fn what_a_map_may_say() {
    let fields: [fn(&mut Line) -> &mut f64; 24] = [
        |line| &mut line.train.top_speed,
        |line| &mut line.train.acceleration,
        |line| &mut line.train.braking,
        |line| &mut line.train.slack,
        |line| &mut line.stations[0].at,
        |line| &mut line.stations[1].at,
        |line| &mut line.limits[0].from,
        |line| &mut line.limits[0].to,
        |line| &mut line.limits[0].speed,
        |line| &mut line.base_stations[1].at,
        |line| &mut line.base_stations[1].offset,
        |line| &mut line.base_stations[1].power,
        |line| &mut line.tunnels[0].from,
        |line| &mut line.tunnels[0].loss,
        |line| &mut line.tunnels[0].portal,
        |line| &mut line.borders[0].at,
        |line| &mut line.signal.path_loss,
        |line| &mut line.signal.exponent,
        |line| &mut line.signal.shadowing,
        |line| &mut line.signal.correlation,
        |line| &mut line.signal.threshold,
        |line| &mut line.signal.recovery,
        |line| &mut line.signal.handover_margin,
        |line| &mut line.signal.rates[0].above,
    ];
    const LIMITS: [f64; 20] = [
        -5e6, -200.0, -80.0, 0.0, 0.01, 0.1, 0.9, 1.0, 10.0, 30.0, 90.0, 100.0, 300.0, 500.0, 3000.0, 5900.0,
        6000.0, 7600.0, 100_000.0, 5e6,
    ];
    let mut text = String::new();
    for (number, field) in fields.iter().enumerate() {
        let _ = write!(text, "{number}:");
        let mut messages = String::new();
        for limit in LIMITS {
            let hair = (limit.abs() * 1e-9).max(1e-9);
            for value in [limit - hair, limit, limit + hair] {
                let mut line = line();
                *field(&mut line) = value;
                let said = said(&line);
                text.push(if said.is_empty() { '+' } else { '-' });
                messages += &said;
            }
            text.push(' ');
        }
        let mut line = line();
        *field(&mut line) = f64::NAN;
        let _ = writeln!(text, "{:016x}{}", hash(messages.as_bytes()), said(&line));
    }
    let edits: [fn(&mut Line); 12] = [
        |line| line.stations.truncate(1),
        |line| line.base_stations.clear(),
        |line| line.base_stations[1].name = "west".to_owned(),
        |line| line.stations[1].name = " ".to_owned(),
        |line| line.signal.interval = Duration::from_nanos(999_999),
        |line| line.signal.interval = Duration::from_millis(1),
        |line| line.signal.interval = Duration::from_secs(10),
        |line| line.signal.interval = Duration::from_nanos(10_000_000_001),
        |line| line.signal.rates[1].rate = Rate::from_bits_per_second(0),
        |line| line.stations[1].stop = Some(DurationLaw::Fixed(Duration::from_secs(1001))),
        |line| line.borders[0].outage = DurationLaw::Fixed(Duration::from_secs(1001)),
        |line| line.signal.handover = DurationLaw::Fixed(Duration::from_secs(1001)),
    ];
    for edit in edits {
        let mut line = line();
        edit(&mut line);
        let _ = writeln!(text, "{}", said(&line));
    }
    compare("map", &text);
}

/// A train's motion, what its radio measures, and what a filter makes of it, for several lines and seeds.
#[test]
fn journeys() {
    let mut text = String::new();
    let edits: [fn(&mut Line); 6] = [
        |_| {},
        |line| line.train.slack = 0.5,
        |line| line.limits.push(SpeedLimit { from: 2900.0, to: 9000.0, speed: 25.0 }),
        |line| line.tunnels[0].to = 11_000.0,
        |line| line.signal.shadowing = 0.0,
        |line| line.signal.terrain = Probability::ZERO,
    ];
    for (number, edit) in edits.iter().enumerate() {
        let mut line = line();
        edit(&mut line);
        for seed in 0..3 {
            let motion = Timetable::new(&line, Duration::from_secs(10), seed, "pinned");
            let places: Vec<_> = (0..60)
                .map(|step| {
                    let (at, place) = (Time::from_millis(step * 12_345), step as f64 * 210.0);
                    (motion.at(at), motion.when(place), motion.standing(place))
                })
                .collect();
            let course = Course::new(&line, Duration::from_secs(10), Time::MAX, seed, "pinned");
            let stream = RandomStream::new(seed, "pinned/level", 0);
            let config = SignalConfig {
                order: 2 + seed as u32 * 3,
                margin: Decibel(seed as f64),
                ..SignalConfig::default()
            };
            let mut predictor = SignalStrength::new(&line, config, stream);
            let (mut measured, mut foreseen, mut count) = (0u64, String::new(), 0);
            for measurement in course.measurements() {
                let at = measurement.time;
                measured = measured.rotate_left(5) ^ hash(format!("{measurement:?}").as_bytes());
                predictor.observe(at, measurement);
                while let Some(forecast) = predictor.poll(at) {
                    count += 1;
                    let _ = write!(foreseen, "{at:?} {forecast:?}");
                }
            }
            let outages: Vec<_> = course.outages().collect();
            let outages =
                hash(format!("{outages:?} {:?} {:?}", course.silences(), motion.arrival()).as_bytes());
            let places = hash(format!("{places:?}").as_bytes());
            let foreseen = hash(foreseen.as_bytes());
            let _ = writeln!(
                text,
                "{number} {seed}: {places:016x} {outages:016x} {measured:016x} {count} {foreseen:016x}"
            );
        }
    }
    compare("journeys", &text);
}

fn messages() -> Vec<RouterMessage> {
    let going_down = |prediction, start, until| RouterMessage::GoingDown {
        prediction,
        start: Time::from_nanos(start),
        until: Time::from_nanos(until),
    };
    let rtts = [None, Some(0), Some(1), Some(999), Some(1000), Some(2500), Some(u64::MAX)];
    let mut all = vec![RouterMessage::GoingUp, RouterMessage::Request];
    all.extend(rtts.map(|rtt| RouterMessage::Reply { rtt: rtt.map(Duration::from_nanos) }));
    all.extend([going_down(0x0102_0304, 0, 1), going_down(u32::MAX, 4_999_999_999, 5_000_001_000)]);
    all.push(going_down(7, u64::MAX, 0x1122_3344_5566_7788));
    all
}

/// Messages as bytes, and each of these bytes changed.
#[test]
fn bytes_of_messages() {
    let mut text = String::new();
    let key = Key::new(std::array::from_fn(|at| at as u8));
    for message in messages() {
        for now in [0, 5_000_000_000].map(Time::from_nanos) {
            let bytes = encode(message, now);
            let stamp = Freshness { counter: 0x0102_0304_0506_0708, sent_us: 0x1112_1314_1516_1718 };
            let sealed = seal(message, now, &key, stamp);
            let mut changed = String::new();
            for at in 0..bytes.len() {
                for value in [0, 1, 3, 4, 0x80, 0xff] {
                    let mut bytes = bytes;
                    bytes[at] = value;
                    let _ = write!(changed, "{:?}", decode(&bytes, now));
                }
            }
            for at in 0..sealed.len() {
                let mut bytes = sealed;
                bytes[at] ^= 4;
                assert_eq!(open(&bytes, now, &key), None, "byte {at}");
            }
            for length in 0..bytes.len() {
                assert_eq!(decode(&bytes[..length], now), None);
            }
            let _ = writeln!(
                text,
                "{bytes:02x?} {:?} {:016x} {:016x} {:?}",
                decode(&bytes, now),
                hash(changed.as_bytes()),
                hash(&sealed),
                open(&sealed, now, &key)
            );
        }
    }
    compare("messages", &text);
}
