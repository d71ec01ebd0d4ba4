//! Where the train is when.

use super::Line;
use cogtcp_units::{Duration, RandomStream, Time};

/// Distance of the points between which speed is worked out, m.
const STEP: f64 = 10.0;

/// One journey's timetable: the train is at rest at every stop, and between two neighbouring points its
/// acceleration is constant.
#[derive(Clone, Debug)]
pub struct Timetable {
    points: Vec<Point>,
}

/// A point of the line.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Where, m.
    position: f64,
    /// Speed there, m/s.
    speed: f64,
    /// When the train comes.
    arrival: Time,
    /// When it goes on: later than `arrival` at a stop.
    departure: Time,
    /// Time since the first departure spent moving, s.
    moving: f64,
}

impl Timetable {
    /// A journey over `line` that leaves the first station at `start`. The stops draw from
    /// `<part>/stop`, the driver from `<part>/drive`.
    pub fn new(line: &Line, start: Duration, seed: u64, part: &str) -> Self {
        let mut points = places(line);
        let last = points.len() - 1;
        let caps = caps(line, &points, seed, part);
        for (point, cap) in points.iter_mut().zip(&caps) {
            point.speed = *cap;
        }
        // What can be reached by accelerating from behind, and left by braking ahead.
        for i in 0..last {
            let run = points[i + 1].position - points[i].position;
            let reach = libm::sqrt(points[i].speed * points[i].speed + 2.0 * line.train.acceleration * run);
            points[i + 1].speed = points[i + 1].speed.min(reach);
        }
        for i in (0..last).rev() {
            let run = points[i + 1].position - points[i].position;
            let reach =
                libm::sqrt(points[i + 1].speed * points[i + 1].speed + 2.0 * line.train.braking * run);
            points[i].speed = points[i].speed.min(reach);
        }
        let mut now = Time::ZERO + start;
        points[0].departure = now;
        for i in 1..=last {
            let (before, here) = (points[i - 1], &mut points[i]);
            // Not by zero: stops are at least 100 m apart, points at most 10 m.
            let seconds = 2.0 * (here.position - before.position) / (here.speed + before.speed);
            now += Duration::from_secs_f64(seconds);
            here.moving = before.moving + seconds;
            here.arrival = now;
            if i < last
                && let Some((number, stop)) = stop_at(line, here.position)
            {
                now += stop.draw(&mut RandomStream::new(seed, &format!("{part}/stop"), number as u64));
            }
            here.departure = now;
        }
        // It stays at the last station.
        points[last].departure = Time::MAX;
        Self { points }
    }

    /// When the train reaches the last station.
    pub fn arrival(&self) -> Time {
        self.points.last().map_or(Time::ZERO, |point| point.arrival)
    }

    /// Position in m and speed in m/s at `now`.
    pub fn at(&self, now: Time) -> (f64, f64) {
        let next = self.points.partition_point(|point| point.departure <= now);
        let Some(before) = next.checked_sub(1).map(|i| self.points[i]) else {
            return (self.points[0].position, 0.0);
        };
        let Some(after) = self.points.get(next) else { return (before.position, 0.0) };
        if now >= after.arrival {
            return (after.position, if after.departure > after.arrival { 0.0 } else { after.speed });
        }
        let run = after.position - before.position;
        let acceleration = (after.speed * after.speed - before.speed * before.speed) / (2.0 * run);
        let time = (now - before.departure).as_secs_f64();
        let moved = (before.speed + acceleration * time / 2.0) * time;
        // Times are rounded to nanoseconds, which must not carry the train past a point.
        (before.position + moved.clamp(0.0, run), (before.speed + acceleration * time).max(0.0))
    }

    /// When the train first is at `position`, and how many seconds of moving that took; before the first
    /// station and after the last: when it is there.
    pub fn when(&self, position: f64) -> (Time, f64) {
        let next = self.points.partition_point(|point| point.position < position);
        let Some(after) = self.points.get(next) else {
            let last = self.points[self.points.len() - 1];
            return (last.arrival, last.moving);
        };
        let Some(before) = next.checked_sub(1).map(|i| self.points[i]) else {
            return (after.arrival, after.moving);
        };
        let run = after.position - before.position;
        let acceleration = (after.speed * after.speed - before.speed * before.speed) / (2.0 * run);
        let moved = position - before.position;
        let speed = libm::sqrt((before.speed * before.speed + 2.0 * acceleration * moved).max(0.0));
        // At rest at a stop, nothing moved: 0 over 0.
        let seconds = 2.0 * moved / (before.speed + speed).max(1e-9);
        (before.departure + Duration::from_secs_f64(seconds), before.moving + seconds)
    }

    /// How long the train stands at `position`.
    pub fn standing(&self, position: f64) -> Duration {
        let place = self.points.partition_point(|point| point.position < position - 1e-6);
        match self.points.get(place) {
            // The last station has no departure.
            Some(point) if (point.position - position).abs() < 1e-6 && place + 1 < self.points.len() => {
                point.departure.saturating_since(point.arrival)
            }
            _ => Duration::ZERO,
        }
    }
}

/// Points of the line: regular ones, the stations, and the ends of limits.
fn places(line: &Line) -> Vec<Point> {
    let (start, end) = (line.start(), line.end());
    let mut places: Vec<f64> = line.stations.iter().map(|station| station.at).collect();
    let steps = ((end - start) / STEP) as u64;
    places.extend((1..=steps).map(|i| start + i as f64 * STEP).filter(|at| *at < end));
    let ends = line.limits.iter().flat_map(|limit| [limit.from, limit.to]);
    places.extend(ends.filter(|at| (start..end).contains(at)));
    places.sort_by(f64::total_cmp);
    // Stations stay exactly where they are: neighbours nearer than 1 cm give way to them.
    let mut kept: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        match kept.last_mut() {
            Some(last) if place - *last < 0.01 => {
                if line.stations.iter().any(|station| station.at == place) {
                    *last = place;
                }
            }
            _ => kept.push(place),
        }
    }
    let point =
        |position| Point { position, speed: 0.0, arrival: Time::ZERO, departure: Time::ZERO, moving: 0.0 };
    kept.into_iter().map(point).collect()
}

/// The speed not to be exceeded at each point: zero at stops, else the least of the limits on either side as
/// the driver keeps them.
fn caps(line: &Line, points: &[Point], seed: u64, part: &str) -> Vec<f64> {
    let mut section = 0;
    let share = |section: u64| {
        1.0 - line.train.slack * RandomStream::new(seed, &format!("{part}/drive"), section).uniform()
    };
    let mut drive = share(section);
    let mut caps = vec![f64::MAX; points.len()];
    for i in 0..points.len() - 1 {
        let stops = i == 0 || stop_at(line, points[i].position).is_some();
        if stops {
            if i > 0 {
                section += 1;
                drive = share(section);
            }
            caps[i] = 0.0;
        }
        // Limits by the middle of the piece: a point may be the end of one and the beginning of another.
        let middle = f64::midpoint(points[i].position, points[i + 1].position);
        let limits = line.limits.iter().filter(|limit| limit.from <= middle && middle < limit.to);
        let limit = limits.map(|limit| limit.speed).fold(line.train.top_speed, f64::min) * drive;
        caps[i] = caps[i].min(limit);
        caps[i + 1] = caps[i + 1].min(limit);
    }
    caps[points.len() - 1] = 0.0;
    caps
}

/// The station with a stop at `position`: its number and its law.
fn stop_at(line: &Line, position: f64) -> Option<(usize, cogtcp_spectrum::DurationLaw)> {
    let number = line.stations.partition_point(|station| station.at < position);
    let station = line.stations.get(number).filter(|station| station.at == position)?;
    station.stop.map(|stop| (number, stop))
}
