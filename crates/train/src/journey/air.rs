//! How loud each base station is at each place.

use super::{BaseStation, Line, Signal};
use cogtcp_units::RandomStream;

/// Distance of the points at which shadowing is drawn, m; between them it is interpolated.
const STEP: f64 = 10.0;
/// A base station is followed where its level without shadowing lies above the threshold less this, dB, and
/// less four standard deviations of shadowing.
const DEPTH: f64 = 20.0;
/// The formula of path loss holds from here on, m.
const NEAREST: f64 = 10.0;

/// The levels along a line on one journey.
#[derive(Clone, Debug)]
pub struct LineLevels<'a> {
    line: &'a Line,
    cells: Vec<Cell>,
}

/// Where one base station is heard, and the shadowing there.
#[derive(Clone, Debug)]
struct Cell {
    from: f64,
    to: f64,
    /// Shadowing in dB at `from`, `from + STEP`, ...
    shadowing: Vec<f64>,
}

impl<'a> LineLevels<'a> {
    /// The air over `line`. The share of shadowing that changes from journey to journey draws from
    /// `<part>/shadowing/<base station>`, the other from `terrain/<base station>` of the terrain's own seed.
    pub fn new(line: &'a Line, seed: u64, part: &str) -> Self {
        let cells = line.base_stations.iter().map(|station| Cell::new(line, station, seed, part)).collect();
        Self { line, cells }
    }

    /// The base stations that are followed at `position` and their levels in dBm, in the order of the map.
    pub fn levels(&self, position: f64) -> impl Iterator<Item = (usize, f64)> + '_ {
        let tunnels: f64 = self.line.tunnels.iter().map(|tunnel| tunnel.loss_at(position)).sum();
        let heard = self.cells.iter().enumerate().filter(move |(_, cell)| cell.reaches(position));
        heard.map(move |(number, cell)| {
            let station = &self.line.base_stations[number];
            let level = unshadowed(&self.line.signal, station, position) + cell.shadowing(position);
            (number, level - tunnels)
        })
    }

    /// By how much tunnels weaken the signal at `position`, dB.
    pub fn tunnel_loss(&self, position: f64) -> f64 {
        self.line.tunnels.iter().map(|tunnel| tunnel.loss_at(position)).sum()
    }
}

impl Cell {
    fn new(line: &Line, station: &BaseStation, seed: u64, part: &str) -> Self {
        let reach = reach(&line.signal, station);
        let (from, to) = ((station.at - reach).max(line.start()), (station.at + reach).min(line.end()));
        // One for the place where it begins, one more to interpolate to.
        let points = if to < from { 0 } else { ((to - from) / STEP) as usize + 2 };
        let law = &line.signal;
        let terrain = RandomStream::new(law.terrain_seed.get(), &format!("terrain/{}", station.name), 0);
        let passing = RandomStream::new(seed, &format!("{part}/shadowing/{}", station.name), 0);
        let (fixed, changing) = (law.terrain.get(), 1.0 - law.terrain.get());
        // Shares are of the variance: the deviations go with their roots.
        let (a, b) = (libm::sqrt(fixed) * law.shadowing, libm::sqrt(changing) * law.shadowing);
        let shadowing =
            process(law, terrain, points).zip(process(law, passing, points)).map(|(t, p)| a * t + b * p);
        Self { from, to, shadowing: shadowing.collect() }
    }

    fn reaches(&self, position: f64) -> bool {
        (self.from..=self.to).contains(&position)
    }

    fn shadowing(&self, position: f64) -> f64 {
        let place = (position - self.from) / STEP;
        let index = place as usize;
        let share = place - index as f64;
        match (self.shadowing.get(index), self.shadowing.get(index + 1)) {
            (Some(here), Some(next)) => here + (next - here) * share,
            (Some(here), None) => *here,
            _ => 0.0,
        }
    }
}

/// A Gaussian process of variance 1 at `points` places: autoregressive of first order, which has the
/// exponential autocorrelation.
fn process(law: &Signal, mut stream: RandomStream, points: usize) -> impl Iterator<Item = f64> {
    let kept = libm::exp(-STEP / law.correlation);
    // Keeps the variance at 1.
    let fresh = libm::sqrt(1.0 - kept * kept);
    let mut value = stream.standard_normal();
    (0..points).map(move |i| {
        if i > 0 {
            value = kept * value + fresh * stream.standard_normal();
        }
        value
    })
}

/// Level of `station` at `position` without shadowing and tunnels, dBm.
fn unshadowed(signal: &Signal, station: &BaseStation, position: f64) -> f64 {
    let distance = libm::hypot(position - station.at, station.offset).max(NEAREST);
    station.power - signal.path_loss - 10.0 * signal.exponent * libm::log10(distance / 1000.0)
}

/// How far along the line `station` is followed, m.
fn reach(signal: &Signal, station: &BaseStation) -> f64 {
    let floor = signal.threshold - DEPTH - 4.0 * signal.shadowing;
    let decades = (station.power - signal.path_loss - floor) / (10.0 * signal.exponent);
    1000.0 * libm::pow(10.0, decades)
}
