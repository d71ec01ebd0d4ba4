//! A journey as the radio meets it: measured at regular instants, and what it decides.

use super::{Line, LineLevels, Timetable};
use cogtcp_spectrum::OutageCause;
use cogtcp_units::{Duration, RandomStream, Rate, Time};

/// What the radio measures at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// When.
    pub time: Time,
    /// Where the train is, m.
    pub position: f64,
    /// How fast it goes, m/s.
    pub speed: f64,
    /// The base stations that are followed and their levels, dBm.
    pub levels: Vec<(u16, f32)>,
    /// The serving base station after this instant's decisions; `None`: none (also during a handoff).
    pub serving: Option<u16>,
}

impl Measurement {
    /// Level of `station`, dBm; `None`: it is not followed here.
    pub fn level(&self, station: u16) -> Option<f64> {
        self.levels.iter().find(|(number, _)| *number == station).map(|(_, level)| f64::from(*level))
    }

    /// The loudest base station and its level, dBm.
    pub fn loudest(&self) -> Option<(u16, f64)> {
        let loudest = self.levels.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((loudest.0, f64::from(loudest.1)))
    }
}

/// A stretch of time over which nothing changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    pub(super) start: Time,
    /// Why the link is gone; `None`: it is there.
    pub(super) cause: Option<OutageCause>,
    /// The serving base station, or the target of a handoff.
    pub(super) station: Option<u16>,
    /// Its rate; `None`: the link's own.
    pub(super) rate: Option<Rate>,
    /// End of the stretch, if known at its beginning: of a handoff.
    pub(super) until: Time,
}

/// One journey.
#[derive(Clone, Debug)]
pub struct Course {
    motion: Timetable,
    measurements: Vec<Measurement>,
    pub(super) stretches: Vec<Stretch>,
}

impl Course {
    /// The journey over `line` that leaves the first station at `start`, as far as `end`. Random draws are
    /// keyed by `seed` and `part`.
    pub fn new(line: &Line, start: Duration, end: Time, seed: u64, part: &str) -> Self {
        let motion = Timetable::new(line, start, seed, part);
        let air = LineLevels::new(line, seed, part);
        let mut course = Self { motion, measurements: Vec::new(), stretches: Vec::new() };
        course.play(line, &air, end, RandomStream::new(seed, &format!("{part}/handover"), 0));
        course
    }

    /// Where the train is when.
    pub fn motion(&self) -> &Timetable {
        &self.motion
    }

    /// What the radio measures, at regular instants from time zero on.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// This journey without its measurements, which take most of its memory.
    pub fn without_measurements(mut self) -> Self {
        self.measurements = Vec::new();
        self
    }

    /// When the link is gone, and why; spells that touch are told apart. The last may last for ever
    /// ([`Time::MAX`]).
    pub fn outages(&self) -> impl Iterator<Item = (Time, Time, OutageCause)> + '_ {
        let ends = self.stretches.iter().skip(1).map(|next| next.start).chain([Time::MAX]);
        self.stretches.iter().zip(ends).filter_map(|(it, end)| Some((it.start, end, it.cause?)))
    }

    /// When the link is gone, spells that touch joined.
    pub fn silences(&self) -> Vec<(Time, Time)> {
        let mut silences: Vec<(Time, Time)> = Vec::new();
        for (start, end, _) in self.outages() {
            match silences.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => silences.push((start, end)),
            }
        }
        silences
    }

    fn play(&mut self, line: &Line, air: &LineLevels<'_>, end: Time, mut stream: RandomStream) {
        let signal = &line.signal;
        let mut state = State::Lost;
        let mut position_before = f64::NEG_INFINITY;
        let mut now = Time::ZERO;
        // After the last station nothing changes any more; one more measurement lets the level settle.
        let end = end.min(self.motion.arrival() + signal.interval);
        while now <= end {
            let (position, speed) = self.motion.at(now);
            let levels: Vec<(u16, f32)> =
                air.levels(position).map(|(number, level)| (number as u16, level as f32)).collect();
            let mut measured = Measurement { time: now, position, speed, levels, serving: None };
            // The handoff ended between two measurements, and is noted at its own time.
            if let State::Away { until, to, .. } = state
                && until <= now
            {
                self.enter(until, State::Serving(to), signal_rate(line, &measured, to));
                state = State::Serving(to);
            }
            let crossed =
                line.borders.iter().find(|border| border.at > position_before && border.at <= position);
            let loudest = measured.loudest();
            let next = match state {
                State::Serving(station) => {
                    let level = measured.level(station).unwrap_or(f64::NEG_INFINITY);
                    let other = loudest.filter(|(number, other)| {
                        *number != station
                            && *other >= level + signal.handover_margin
                            && *other >= signal.threshold
                    });
                    // At time zero borders behind the train would count as crossed.
                    // First: the network changes whatever the signal is.
                    if let Some(border) = crossed.filter(|_| now > Time::ZERO) {
                        let until = now + border.outage.draw(&mut stream);
                        State::Away { until, to: station, cause: OutageCause::Border }
                    } else if let Some((to, _)) = other {
                        let until = now + signal.handover.draw(&mut stream);
                        State::Away { until, to, cause: OutageCause::Handover }
                    } else if level < signal.threshold {
                        State::Lost
                    } else {
                        state
                    }
                }
                // At time zero there is no link to be taken up again.
                State::Lost => match loudest {
                    Some((number, level))
                        if level >= signal.threshold
                            && (now == Time::ZERO || level >= signal.threshold + signal.recovery) =>
                    {
                        State::Serving(number)
                    }
                    _ => State::Lost,
                },
                State::Away { .. } => state,
            };
            let rate = match next {
                State::Serving(station) => signal_rate(line, &measured, station),
                _ => None,
            };
            let lost = match (next, state) {
                // At time zero a lost link is noted too: nothing was noted before.
                (State::Lost, State::Lost) if now > Time::ZERO => None,
                (State::Lost, _) => {
                    let tunnel = air.tunnel_loss(position);
                    let open = loudest.is_some_and(|(_, level)| level + tunnel >= signal.threshold);
                    Some(if tunnel > 0.0 && open { OutageCause::Tunnel } else { OutageCause::Coverage })
                }
                _ => None,
            };
            match lost {
                Some(cause) => self.stretch(now, Some(cause), None, None, Time::MAX),
                None => self.enter(now, next, rate),
            }
            measured.serving = if let State::Serving(station) = next { Some(station) } else { None };
            self.measurements.push(measured);
            state = next;
            position_before = position;
            now += signal.interval;
        }
        // A handover that ends after the last measurement.
        if let State::Away { until, to, .. } = state {
            self.enter(until, State::Serving(to), None);
        }
    }

    /// Notes `state` from `at` on, unless it is what holds already.
    fn enter(&mut self, at: Time, state: State, rate: Option<Rate>) {
        match state {
            State::Serving(station) => self.stretch(at, None, Some(station), rate, Time::MAX),
            State::Away { until, to, cause } => self.stretch(at, Some(cause), Some(to), None, until),
            State::Lost => {}
        }
    }

    fn stretch(
        &mut self,
        start: Time,
        cause: Option<OutageCause>,
        station: Option<u16>,
        rate: Option<Rate>,
        until: Time,
    ) {
        let next = Stretch { start, cause, station, rate, until };
        match self.stretches.last_mut() {
            Some(last) if Stretch { start: last.start, ..next } == *last => {}
            // A handover of no length.
            Some(last) if last.start == start => *last = next,
            _ => self.stretches.push(next),
        }
    }
}

/// What the radio is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// It is served by this base station.
    Serving(u16),
    /// It hears none.
    Lost,
    /// It will be served again by a known one.
    Away { until: Time, to: u16, cause: OutageCause },
}

/// The rate that `station` offers; `None`: the link's own.
fn signal_rate(line: &Line, measured: &Measurement, station: u16) -> Option<Rate> {
    let level = measured.level(station).unwrap_or(f64::NEG_INFINITY);
    let steps = &line.signal.rates;
    let step = steps.partition_point(|step| step.above <= level);
    // Below the lowest step but above the threshold: the lowest.
    steps.get(step.saturating_sub(1)).map(|step| step.rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journey::{RateStep, Signal, TrainDynamics};
    use cogtcp_spectrum::DurationLaw;
    use cogtcp_units::{Probability, Seed};

    /// A step holds from its level on; below the lowest step the lowest does, and without steps the link's own rate.
    #[test]
    fn a_level_has_the_rate_of_its_step() {
        let rate = Rate::from_bits_per_second;
        let mut line = Line {
            name: String::new(),
            description: String::new(),
            train: TrainDynamics { top_speed: 40.0, acceleration: 0.5, braking: 1.0, slack: 0.0 },
            stations: Vec::new(),
            limits: Vec::new(),
            base_stations: Vec::new(),
            tunnels: Vec::new(),
            borders: Vec::new(),
            signal: Signal {
                path_loss: 120.0,
                exponent: 3.5,
                shadowing: 0.0,
                correlation: 100.0,
                terrain: Probability::ZERO,
                terrain_seed: Seed::default(),
                threshold: -98.0,
                recovery: 0.0,
                handover_margin: 3.0,
                handover: DurationLaw::Fixed(Duration::ZERO),
                interval: Duration::from_millis(100),
                rates: Vec::new(),
            },
        };
        let at = |line: &Line, level: f32| {
            let (time, position, speed) = (Time::ZERO, 0.0, 0.0);
            let measured = Measurement { time, position, speed, levels: vec![(4, level)], serving: None };
            assert_eq!(measured.loudest(), Some((4, f64::from(level))));
            signal_rate(line, &measured, 4)
        };
        assert_eq!(at(&line, -80.0), None);
        assert_eq!((line.start(), line.end()), (0.0, 0.0), "without stations");
        let step = |above, bits| RateStep { above, rate: rate(bits) };
        line.signal.rates = vec![step(-95.0, 1), step(-90.0, 2), step(-80.0, 3)];
        let levels = [-99.0, -95.0, -90.5, -90.0, -80.0, -10.0];
        assert_eq!(levels.map(|level| at(&line, level)), [1, 1, 1, 2, 3, 3].map(|bits| Some(rate(bits))));
    }
}
