//! Journeys of trains, for maps without a transport.

use crate::errors::{input_error, scenario_error};
use cogtcp_scenario::JourneyMap;
use cogtcp_train::journey::{self, Course, Line, Timetable};
use cogtcp_units::{Duration, Time};
use pyo3::prelude::*;

/// The most measurements of a journey that is shown.
const MOST_MEASUREMENTS: u64 = 2_000_000;

/// The line of a map file. Immutable.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Journey {
    line: Line,
    description: String,
}

/// A name and a place in m.
type LinePoint = (String, f64);
/// Arrival and departure at a station, s; infinite where the train does not leave.
type Call = (f64, f64);
/// Times in s, positions in m, speeds in m/s, levels of the serving or else the loudest base station in dBm,
/// serving base stations from 0 (-1: none).
type Samples = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, Vec<i64>);
/// Beginning and end in s, cause, position at the beginning in m.
type Outage = (f64, f64, &'static str, f64);

#[pymethods]
impl Journey {
    /// Reads a map file's text. `file` is what errors call it.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str, file: &str) -> PyResult<Self> {
        let map = JourneyMap::parse(text, file).map_err(|error| scenario_error(py, &error))?;
        let line = map.line().map_err(|error| scenario_error(py, &error))?;
        let description = line.description.clone();
        Ok(Self { line, description })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.line.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.description
    }

    /// Stations with their places, and whether the train stops there.
    #[getter]
    fn stations(&self) -> Vec<(String, f64, bool)> {
        let ends = [self.line.start(), self.line.end()];
        let stations = self.line.stations.iter();
        stations.map(|it| (it.name.clone(), it.at, it.stop.is_some() || ends.contains(&it.at))).collect()
    }

    #[getter]
    fn base_stations(&self) -> Vec<LinePoint> {
        self.line.base_stations.iter().map(|it| (it.name.clone(), it.at)).collect()
    }

    /// Tunnels: name, beginning and end in m.
    #[getter]
    fn tunnels(&self) -> Vec<(String, f64, f64)> {
        self.line.tunnels.iter().map(|it| (it.name.clone(), it.from, it.to)).collect()
    }

    #[getter]
    fn borders(&self) -> Vec<f64> {
        self.line.borders.iter().map(|it| it.at).collect()
    }

    /// Level below which there is no link, dBm.
    #[getter]
    fn threshold(&self) -> f64 {
        self.line.signal.threshold
    }

    /// The journey of `seed`, as the radio `radio` of a scenario of that seed makes it: calls at stations,
    /// samples, outages.
    fn travel(&self, py: Python<'_>, seed: u64, radio: &str) -> PyResult<(Vec<Call>, Samples, Vec<Outage>)> {
        let part = journey::streams_of(radio);
        let arrival = Timetable::new(&self.line, Duration::ZERO, seed, &part).arrival();
        let interval = self.line.signal.interval;
        // The guard is for an interval of zero.
        if arrival.as_nanos() / interval.as_nanos().max(1) > MOST_MEASUREMENTS {
            let hours = arrival.as_secs_f64() / 3600.0;
            let message =
                format!("a journey of {hours:.0} hours measured every {interval} is too long to show");
            return Err(input_error(py, &message));
        }
        let course = py.detach(|| Course::new(&self.line, Duration::ZERO, Time::MAX, seed, &part));
        let seconds = |time: Time| if time == Time::MAX { f64::INFINITY } else { time.as_secs_f64() };
        let motion = course.motion();
        let last = self.line.end();
        let calls = self.line.stations.iter().map(|station| {
            let arrival = motion.when(station.at).0;
            let departure =
                if station.at == last { Time::MAX } else { arrival + motion.standing(station.at) };
            (seconds(arrival), seconds(departure))
        });
        let mut samples = Samples::default();
        for measured in course.measurements() {
            let level = measured.serving.and_then(|station| measured.level(station));
            let level = level.or(measured.loudest().map(|loudest| loudest.1)).unwrap_or(f64::NAN);
            samples.0.push(measured.time.as_secs_f64());
            samples.1.push(measured.position);
            samples.2.push(measured.speed);
            samples.3.push(level);
            samples.4.push(measured.serving.map_or(-1, i64::from));
        }
        let outages = course
            .outages()
            .map(|(start, end, cause)| (seconds(start), seconds(end), cause.name(), motion.at(start).0));
        Ok((calls.collect(), samples, outages.collect()))
    }
}
