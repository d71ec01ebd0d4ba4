//! Primary users and detectors, without a transport.

use crate::errors::{input_error, located_error};
use cogtcp_spectrum::activity::{ActivityLaw, PuSpec, SpanLaw, StartState, scatter};
use cogtcp_spectrum::detector::{
    Cooperative, Detector, DetectorConfig, DetectorContext, FixedErrors, FusionRule, MapDetector,
    NeymanPearson, Simplified, detection_and_false_alarm,
};
use cogtcp_spectrum::logs::occupancy::{self, Occupancy, Reading};
use cogtcp_spectrum::logs::released::{self, Map, MapGenerator, MapUser};
use cogtcp_spectrum::logs::{LogError, ch_log, pu_log};
use cogtcp_spectrum::propagation::{Position, Propagation};
use cogtcp_spectrum::theory::shortest_sensing_time;
use cogtcp_spectrum::{Reach, activity};
use cogtcp_units::{Decibel, Duration, Frequency, Power, Probability, Rate, Time};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Primary users with their ON times up to an end. Immutable.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct PuActivity {
    map: Map,
    end: Time,
    /// The distance of the samples of a measurement at regular times.
    spacing: Option<Duration>,
}

/// Number, place in m, band, kind and value of the reach, ON intervals in s.
type User = (u32, (f64, f64), u32, (&'static str, f64), Vec<(f64, f64)>);
/// Arrivals, duty cycle, mean ON and OFF times in s.
type Stats = (u64, f64, f64, f64);

#[pymethods]
impl PuActivity {
    /// Reads a log: `pu-log`, `map` or `csv`. `file` is what errors call it. A csv has powers where a
    /// threshold in dBm is given; hysteresis in dB, least duration in s.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        text: &str,
        file: &str,
        format: &str,
        threshold: Option<f64>,
        hysteresis: f64,
        minimum: f64,
    ) -> PyResult<Self> {
        let damaged =
            |error: LogError| located_error(py, &error.file, error.line, &error.reason.to_string(), text);
        match format {
            "pu-log" => Ok(Self::of(pu_log::read(file, text).map_err(damaged)?, None)),
            "map" => {
                let map = released::read_map(file, text).map_err(damaged)?;
                let end = last_departure(&map);
                Ok(Self { map, end, spacing: None })
            }
            "csv" => {
                let reading = Reading {
                    threshold: threshold.map(Power::from_dbm),
                    hysteresis: Decibel(hysteresis),
                    minimum: Duration::from_secs_f64(minimum),
                };
                let measured = occupancy::read_as(file, text, &reading).map_err(damaged)?;
                let made = Self::of(measured.activity(), Some(Time::ZERO + measured.duration()));
                Ok(Self { spacing: measured.spacing, ..made })
            }
            other => Err(unknown_format(py, other)),
        }
    }

    /// Draws PU i of `count` in band (i - 1) mod `bands` + 1, at the origin or spread over an `area` in m.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the arguments of one call from Python, by keyword there")]
    fn generate(
        py: Python<'_>,
        count: u32,
        bands: u32,
        area: Option<(f64, f64)>,
        reach: (String, f64),
        on: (String, Vec<f64>),
        off: (String, Vec<f64>),
        start: &str,
        duration: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let wrong = |message: &str| input_error(py, message);
        let reach = match reach.0.as_str() {
            "power" => Reach::Power(Power::from_watts(reach.1)),
            _ => Reach::Range(reach.1),
        };
        let start = match start {
            "off" => StartState::Off,
            "on" => StartState::On,
            _ => StartState::Stationary,
        };
        let span =
            |(name, values): &(String, Vec<f64>)| law(name, values).ok_or_else(|| wrong("no such law"));
        let law = ActivityLaw { on: span(&on)?, off: span(&off)?, start };
        let places = match area {
            Some((width, height)) => scatter(count, width, height, seed),
            None => vec![Position::default(); count as usize],
        };
        let specs: Vec<PuSpec> = (1..)
            .zip(places)
            .map(|(id, position)| PuSpec {
                id,
                position,
                band: (id - 1) % bands.max(1) + 1,
                reach,
                law: law.clone(),
            })
            .collect();
        let horizon = Duration::from_secs_f64(duration);
        let drawn = activity::PuActivity::generate(&specs, horizon, seed)
            .map_err(|error| wrong(&error.to_string()))?;
        Ok(Self::of(drawn, Some(Time::ZERO + horizon)))
    }

    /// Draws as the generator of the released ns-2 code does.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the arguments of one call from Python, by keyword there")]
    fn generate_released(
        py: Python<'_>,
        users: u32,
        channels: u32,
        side: f64,
        receiver_distance: f64,
        range: f64,
        alpha: f64,
        beta: f64,
        duration: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let horizon = Duration::from_secs_f64(duration);
        let generator =
            MapGenerator { users, alpha, beta, side, receiver_distance, channels, range, horizon };
        let map = generator.generate(seed).map_err(|error| input_error(py, &error.to_string()))?;
        Ok(Self { map, end: Time::ZERO + horizon, spacing: None })
    }

    /// Draws the same primary users again, each by a two-state model of its ON and OFF times here:
    /// `empirical` or `markov`.
    fn redraw(&self, py: Python<'_>, model: &str, duration: f64, seed: u64) -> PyResult<Self> {
        let horizon = Duration::from_secs_f64(duration);
        let mut map = self.map.clone();
        for MapUser { user, .. } in &mut map.users {
            let fit = match model {
                "markov" => ActivityLaw::markov_from_trace,
                _ => ActivityLaw::from_trace,
            };
            let drawn = fit(&user.activity, Time::ZERO, self.end)
                .and_then(|law| law.generate(horizon, seed, u64::from(user.id)));
            let wrong = |error| input_error(py, &format!("PU {}: {error}", user.id));
            user.activity = drawn.map_err(wrong)?;
        }
        Ok(Self { map, end: Time::ZERO + horizon, spacing: None })
    }

    /// The log as text: `pu-log`, `map` or `csv`. A format's other kind of reach is converted where a
    /// `sensitivity` in W is given, with this `attenuation` factor.
    fn write(
        &self,
        py: Python<'_>,
        format: &str,
        sensitivity: Option<f64>,
        attenuation: f64,
    ) -> PyResult<String> {
        let mut map = self.map.clone();
        if let Some(watts) = sensitivity {
            let (propagation, least) = (Propagation { attenuation }, Power::from_watts(watts));
            for MapUser { user, .. } in &mut map.users {
                user.reach = match (format, user.reach) {
                    // No power reaches for ever.
                    ("pu-log", Reach::Range(range)) if !range.is_finite() => user.reach,
                    ("pu-log", reach) => Reach::Power(reach.as_power(&propagation, least)),
                    ("map", reach) => Reach::Range(reach.as_range(&propagation, least)),
                    (_, reach) => reach,
                };
            }
        }
        let text = match format {
            "pu-log" => pu_log::write(&map.activity()),
            "map" => released::write_map(&map),
            "csv" => Ok(occupancy::write(&Occupancy::of(&map.activity(), self.end))),
            other => return Err(unknown_format(py, other)),
        };
        text.map_err(|error| input_error(py, &error.to_string()))
    }

    /// The primary users.
    #[getter]
    fn users(&self) -> Vec<User> {
        let seconds = |at: Time| at.as_secs_f64();
        let described = self.map.users.iter().map(|MapUser { user, .. }| {
            let reach = match user.reach {
                Reach::Power(power) => ("power", power.watts()),
                Reach::Range(range) => ("range", range),
            };
            let on = user.activity.as_slice().iter();
            let on = on.map(|on| (seconds(on.arrival), seconds(on.departure))).collect();
            (user.id, (user.position.x, user.position.y), user.band, reach, on)
        });
        described.collect()
    }

    /// Statistics of each primary user in [from, until), s.
    fn stats(&self, from: f64, until: f64) -> Vec<Stats> {
        let window = (Time::from_secs_f64(from), Time::from_secs_f64(until));
        let each = self.map.users.iter().map(|entry| entry.user.activity.stats(window.0, window.1));
        each.map(|stats| (stats.arrivals, stats.duty_cycle, stats.mean_on, stats.mean_off)).collect()
    }

    /// The distance of the samples of a measurement at regular times, s.
    #[getter]
    fn spacing(&self) -> Option<f64> {
        self.spacing.map(Duration::as_secs_f64)
    }

    /// The end of the activity, s: the end of the generation or measurement, or the last departure.
    #[getter]
    fn end(&self) -> f64 {
        self.end.as_secs_f64()
    }
}

impl PuActivity {
    fn of(activity: activity::PuActivity, end: Option<Time>) -> Self {
        let users = activity.users.into_iter().map(|user| {
            // For information in `map.txt`: the estimates from the times.
            let stats = user.activity.stats(Time::ZERO, Time::MAX);
            let rate = |mean: f64| if mean > 0.0 { 1.0 / mean } else { 0.0 };
            let (alpha, beta) = (rate(stats.mean_on), rate(stats.mean_off));
            MapUser { receiver: user.position, alpha, beta, user }
        });
        let map = Map { users: users.collect() };
        let end = end.unwrap_or_else(|| last_departure(&map));
        Self { map, end, spacing: None }
    }
}

/// The CR channels of all bands. Immutable.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct ChannelTable {
    table: cogtcp_spectrum::ChannelTable,
}

/// Rate in bit/s, noise powers in W, error rate, whether it is reserved.
type Channel = (u64, Vec<f64>, f64, bool);

#[pymethods]
impl ChannelTable {
    /// Reads a file of channels: `ch-log` or `released`. `file` is what errors call it.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Self> {
        let parse = if format == "released" { released::read_channels } else { ch_log::read };
        let table = parse(file, text)
            .map_err(|error| located_error(py, &error.file, error.line, &error.reason.to_string(), text))?;
        Ok(Self { table })
    }

    /// Rates that alternate, by equation 5 of MSWiM 2009.
    #[staticmethod]
    fn alternating(py: Python<'_>, bands: u32, per_band: u32, rate_bps: u64, m: f64) -> PyResult<Self> {
        let rate = Rate::from_bits_per_second(rate_bps);
        let table = cogtcp_spectrum::ChannelTable::alternating(bands, per_band, rate, m);
        Ok(Self { table: table.map_err(|error| input_error(py, &error.to_string()))? })
    }

    /// The channels as text: `ch-log` or `released`.
    fn write(&self, format: &str) -> String {
        if format == "released" { released::write_channels(&self.table) } else { ch_log::write(&self.table) }
    }

    /// Number of bands.
    #[getter]
    fn bands(&self) -> u32 {
        self.table.bands()
    }

    /// Channels in each band.
    #[getter]
    fn per_band(&self) -> u32 {
        self.table.per_band()
    }

    /// How long each noise value holds, s.
    #[getter]
    fn noise_interval(&self) -> Option<f64> {
        self.table.noise_interval().map(Duration::as_secs_f64)
    }

    /// The channels, band by band.
    #[getter]
    fn channels(&self) -> Vec<Channel> {
        let noise =
            |channel: &cogtcp_spectrum::Channel| channel.noise.iter().map(|noise| noise.watts()).collect();
        let all = self.table.iter().map(|(_, channel)| {
            (channel.rate.bits_per_second(), noise(channel), channel.error_rate.get(), channel.reserved)
        });
        all.collect()
    }
}

fn last_departure(map: &Map) -> Time {
    let last = |entry: &MapUser| entry.user.activity.as_slice().last().map(|on| on.departure);
    map.users.iter().filter_map(last).max().unwrap_or(Time::ZERO)
}

fn unknown_format(py: Python<'_>, format: &str) -> PyErr {
    input_error(py, &format!("unknown format \"{format}\"; take pu-log, map or csv"))
}

fn law(name: &str, values: &[f64]) -> Option<SpanLaw> {
    let seconds = Duration::from_secs_f64;
    Some(match (name, values) {
        ("exponential", [mean]) => SpanLaw::Exponential(seconds(*mean)),
        ("deterministic", [span]) => SpanLaw::Deterministic(seconds(*span)),
        ("log-normal", [median, sigma]) => SpanLaw::LogNormal { median: seconds(*median), sigma: *sigma },
        ("gamma", [shape, scale]) => SpanLaw::Gamma { shape: *shape, scale: seconds(*scale) },
        ("pareto", [minimum, shape]) => SpanLaw::Pareto { minimum: seconds(*minimum), shape: *shape },
        _ => return None,
    })
}

/// A detector by its name and parameters; each detector takes its own parameters.
fn detector(
    py: Python<'_>,
    name: &str,
    snr_db: f64,
    parameters: &BTreeMap<String, f64>,
    fusion: Option<&str>,
) -> PyResult<Box<dyn Detector>> {
    // What is missing is not-a-number, which every check refuses.
    let value = |key: &str| parameters.get(key).copied().unwrap_or(f64::NAN);
    let probability = |key: &str| {
        Probability::new(value(key)).map_err(|_| {
            let wrong =
                format!("detector: {key}: {} is out of range; write a number from 0 to 1", value(key));
            input_error(py, &wrong)
        })
    };
    let (snr, frequency) = (Decibel(snr_db), |key: &str| Frequency(value(key)));
    let config = match name {
        "map" => DetectorConfig::Map(MapDetector {
            snr,
            bandwidth: frequency("bandwidth"),
            p_on: Some(probability("p_on")?),
        }),
        "neyman-pearson" => DetectorConfig::NeymanPearson(NeymanPearson {
            snr,
            sampling_rate: frequency("sampling_rate"),
            false_alarm: probability("false_alarm")?,
        }),
        "simplified" => DetectorConfig::Simplified(Simplified { snr, bandwidth: frequency("bandwidth") }),
        "fixed" => DetectorConfig::Fixed(FixedErrors {
            detection: probability("detection")?,
            false_alarm: probability("false_alarm")?,
        }),
        "perfect" => DetectorConfig::Perfect,
        "as-released" => DetectorConfig::AsReleased,
        other => return Err(input_error(py, &format!("unknown detector \"{other}\""))),
    };
    let one = config.kind().build(&DetectorContext::default());
    let inner = one.map_err(|error| input_error(py, &format!("detector: {error}")))?;
    let rule = match fusion {
        None => return Ok(inner),
        Some("or") => FusionRule::Or,
        Some("and") => FusionRule::And,
        Some(_) => FusionRule::Majority,
    };
    // Not-a-number becomes 0.
    let sensors = value("sensors") as usize;
    if sensors == 0 {
        return Err(input_error(py, "a cooperative detector needs at least one sensor"));
    }
    Ok(Box::new(Cooperative { inner, sensors, rule }))
}

/// P_d' and P_f' of a detector at each sensing time in s, for a PU of this SNR in dB.
#[pyfunction]
pub(crate) fn detection(
    py: Python<'_>,
    name: &str,
    snr_db: f64,
    parameters: BTreeMap<String, f64>,
    fusion: Option<&str>,
    sensing_times: Vec<f64>,
) -> PyResult<Vec<(f64, f64)>> {
    let detector = detector(py, name, snr_db, &parameters, fusion)?;
    let at = |t_s: &f64| detection_and_false_alarm(&*detector, Duration::from_secs_f64(*t_s), linear(snr_db));
    Ok(sensing_times.iter().map(at).collect())
}

/// The shortest sensing time in s with at least this P_d' and at most this P_f'; infinite if there is none.
#[pyfunction]
pub(crate) fn sensing_time(
    py: Python<'_>,
    name: &str,
    snr_db: f64,
    parameters: BTreeMap<String, f64>,
    fusion: Option<&str>,
    target: (f64, f64),
) -> PyResult<f64> {
    let detector = detector(py, name, snr_db, &parameters, fusion)?;
    Ok(shortest_sensing_time(&*detector, linear(snr_db), target.0, target.1))
}

fn linear(db: f64) -> f64 {
    10.0_f64.powf(db / 10.0)
}
