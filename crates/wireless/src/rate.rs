//! Rate adaptation: which rate the data to a neighbour go at.

use cogtcp_units::{Check, Duration, RandomStream, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An algorithm and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControl {
    /// ARF: up after so many successes in a row, down after so many failures; the first frame at a new higher
    /// rate decides by itself.
    Arf(Arf),
    /// After Linux's Minstrel: the rate of the greatest expected throughput by an average of success, and now
    /// and then another one to learn of it. Departures: no chains of rates within one packet, and one update
    /// for each neighbour.
    Minstrel(Minstrel),
}

/// ARF. Defaults from Kamerman and Monteban, Bell Labs Technical Journal 2(3), 1997.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Arf {
    /// Successes in a row before the next rate is tried (1 to 1000).
    pub up: u32,
    /// Failures in a row before the rate is lowered (1 to 1000).
    pub down: u32,
}

/// Minstrel. Defaults from Linux (`net/mac80211/rc80211_minstrel.c`, before it was merged with Minstrel-HT).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Minstrel {
    /// How often the averages are renewed.
    pub interval: Duration,
    /// Weight of the past in an average (0 to 1).
    pub memory: f64,
    /// Share of packets that try another rate (0 to 1).
    pub lookaround: f64,
}

impl RateControl {
    /// ARF with the paper's counts.
    pub const ARF: Self = Self::Arf(Arf::PAPER);
    /// Minstrel with Linux's parameters.
    pub const MINSTREL: Self = Self::Minstrel(Minstrel::LINUX);

    /// Reports wrong settings to `check`. `longest` is the longest span of anything.
    pub fn check(&self, longest: Duration, check: &mut impl Check) {
        match *self {
            Self::Arf(Arf { up, down }) => {
                let mut check = check.within("arf");
                check.count("up", up, 1000);
                check.count("down", down, 1000);
            }
            Self::Minstrel(Minstrel { interval, memory, lookaround }) => {
                let mut check = check.within("minstrel");
                check.span("interval", interval, false, longest);
                check.number("memory", memory, 1.0);
                check.number("lookaround", lookaround, 1.0);
            }
        }
    }
}

impl Arf {
    /// The paper's counts.
    pub const PAPER: Self = Self { up: 10, down: 2 };
}

impl Default for Arf {
    fn default() -> Self {
        Self::PAPER
    }
}

impl Minstrel {
    /// Linux's parameters.
    pub const LINUX: Self = Self { interval: Duration::from_millis(100), memory: 0.75, lookaround: 0.1 };
}

impl Default for Minstrel {
    fn default() -> Self {
        Self::LINUX
    }
}

/// What one station knows of its neighbours.
#[derive(Debug)]
pub(crate) struct RateTable {
    control: RateControl,
    rates: Vec<Rate>,
    stream: RandomStream,
    peers: BTreeMap<u32, Peer>,
}

#[derive(Debug)]
struct Peer {
    /// The rate in use.
    index: usize,
    successes: u32,
    failures: u32,
    /// ARF: the rate has just been raised.
    probing: bool,
    /// Minstrel: by rate, averages and what was counted since they were renewed.
    average: Vec<Option<f64>>,
    tried: Vec<(u32, u32)>,
    renewed: Time,
    sample: Option<usize>,
}

impl RateTable {
    /// For the rates `rates`, slowest first.
    pub(crate) fn new(control: RateControl, rates: Vec<Rate>, stream: RandomStream) -> Self {
        Self { control, rates, stream, peers: BTreeMap::new() }
    }

    fn peer(&mut self, number: u32) -> &mut Peer {
        let count = self.rates.len();
        self.peers.entry(number).or_insert_with(|| Peer {
            index: 0,
            successes: 0,
            failures: 0,
            probing: false,
            average: vec![None; count],
            tried: vec![(0, 0); count],
            renewed: Time::ZERO,
            sample: None,
        })
    }

    /// The rate of the next data frame to `peer`; `None`: there are no rates to choose from.
    pub(crate) fn choose(&mut self, peer: u32, now: Time) -> Option<Rate> {
        let count = self.rates.len();
        if count == 0 {
            return None;
        }
        if let RateControl::Minstrel(Minstrel { interval, memory, lookaround }) = self.control {
            // Both drawn for each packet: how many draws there are depends on packets alone.
            let (looks, pick) =
                (self.stream.uniform() < lookaround, self.stream.below(count as u64) as usize);
            let rates = self.rates.clone();
            let state = self.peer(peer);
            if now.saturating_since(state.renewed) >= interval {
                state.renew(now, memory, &rates);
            }
            // As long as nothing is known every packet is a sample.
            state.sample = (looks || state.average.iter().all(Option::is_none)).then_some(pick);
        }
        let state = self.peer(peer);
        let index = state.sample.unwrap_or(state.index);
        Some(self.rates[index])
    }

    /// A data frame to `peer` at `rate` was acknowledged, or not.
    pub(crate) fn report(&mut self, peer: u32, rate: Rate, success: bool) {
        // A rate that was not chosen here.
        let Some(index) = self.rates.iter().position(|known| *known == rate) else { return };
        let (control, last) = (self.control, self.rates.len() - 1);
        let state = self.peer(peer);
        match control {
            RateControl::Arf(Arf { up, down }) => state.arf(success, up, down, last),
            RateControl::Minstrel(_) => {
                let (tried, succeeded) = &mut state.tried[index];
                *tried += 1;
                *succeeded += u32::from(success);
            }
        }
    }
}

impl Peer {
    fn arf(&mut self, success: bool, up: u32, down: u32, last: usize) {
        if success {
            self.failures = 0;
            self.successes += 1;
            self.probing = false;
            if self.successes >= up && self.index < last {
                self.index += 1;
                self.successes = 0;
                self.probing = true;
            }
        } else {
            self.successes = 0;
            self.failures += 1;
            if self.probing || self.failures >= down {
                self.index = self.index.saturating_sub(1);
                self.failures = 0;
                self.probing = false;
            }
        }
    }

    fn renew(&mut self, now: Time, memory: f64, rates: &[Rate]) {
        self.renewed = now;
        for (average, (tried, succeeded)) in self.average.iter_mut().zip(&mut self.tried) {
            // A rate that was not tried keeps its average.
            if *tried > 0 {
                let share = f64::from(*succeeded) / f64::from(*tried);
                *average = Some(average.map_or(share, |old| memory * old + (1.0 - memory) * share));
            }
            (*tried, *succeeded) = (0, 0);
        }
        let expected = |index: &usize| {
            // Below a tenth of success a rate is not worth its time (Linux's minstrel_ht_get_tp_avg).
            let share = self.average[*index].filter(|share| *share >= 0.1).unwrap_or(0.0);
            share * rates[*index].bits_per_second() as f64
        };
        // Of equals the slower rate: `b.cmp(a)` prefers the lower index.
        let best = (0..rates.len()).max_by(|a, b| expected(a).total_cmp(&expected(b)).then(b.cmp(a)));
        self.index = best.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates() -> Vec<Rate> {
        [1, 2, 11].map(|mbit| Rate::from_bits_per_second(mbit * 1_000_000)).to_vec()
    }

    /// Ten successes raise the rate; a failure at once lowers it again, later two are needed.
    #[test]
    fn arf_step_by_step() {
        let mut table = RateTable::new(RateControl::ARF, rates(), RandomStream::new(1, "rate", 0));
        let [slow, middle, _] = rates()[..] else { unreachable!() };
        let report = |table: &mut RateTable, success, times: u32| {
            let rate = table.choose(7, Time::ZERO).unwrap();
            (0..times).for_each(|_| table.report(7, rate, success));
            table.choose(7, Time::ZERO).unwrap()
        };
        assert_eq!(report(&mut table, true, 9), slow);
        assert_eq!(report(&mut table, true, 1), middle);
        assert_eq!(report(&mut table, false, 1), slow, "the probe failed");
        assert_eq!(report(&mut table, true, 10), middle);
        assert_eq!(report(&mut table, true, 1), middle);
        assert_eq!(report(&mut table, false, 1), middle);
        assert_eq!(report(&mut table, false, 1), slow);
        assert_eq!(report(&mut table, false, 5), slow, "there is no slower one");
    }

    /// Failures are counted again on the rate that they led to: each step down takes two.
    #[test]
    fn arf_counts_failures_of_each_rate() {
        let mut table = RateTable::new(RateControl::ARF, rates(), RandomStream::new(1, "rate", 0));
        let [slow, middle, fast] = rates()[..] else { unreachable!() };
        let report = |table: &mut RateTable, success, times: u32| {
            let rate = table.choose(7, Time::ZERO).unwrap();
            (0..times).for_each(|_| table.report(7, rate, success));
            table.choose(7, Time::ZERO).unwrap()
        };
        assert_eq!(report(&mut table, true, 10), middle);
        assert_eq!(report(&mut table, true, 9), middle, "successes are counted again, too");
        assert_eq!(report(&mut table, true, 1), fast);
        assert_eq!(report(&mut table, true, 1), fast, "no probe any more");
        assert_eq!(report(&mut table, false, 2), middle);
        assert_eq!(report(&mut table, false, 1), middle);
        assert_eq!(report(&mut table, false, 1), slow);
    }

    /// 11 Mbit/s that get through one time in three carry more than 2 Mbit/s that always do; one time in
    /// twenty they do not.
    #[test]
    fn minstrel_finds_the_best_throughput() {
        for (share, best) in [(0.33, 11), (0.05, 2)] {
            let mut table = RateTable::new(RateControl::MINSTREL, rates(), RandomStream::new(1, "rate", 0));
            let mut luck = RandomStream::new(2, "luck", 0);
            let mut counts = BTreeMap::new();
            for n in 0..20_000u64 {
                let rate = table.choose(3, Time::from_millis(n)).unwrap();
                let success = rate.bits_per_second() < 11_000_000 || luck.uniform() < share;
                table.report(3, rate, success);
                *counts.entry(rate.bits_per_second() / 1_000_000).or_insert(0) += 1;
            }
            assert!(counts[&best] > 17_000, "{counts:?} at {share}");
        }
    }

    /// Linux's minstrel_ht_get_tp_avg: a rate that gets through one time in ten still counts. Of 11 Mbit/s that
    /// is 1.1 Mbit/s, of one in eleven nothing. Of equals the slower is taken.
    #[test]
    fn a_rate_counts_from_a_tenth_of_success() {
        for (tried, best) in [(10, 2), (11, 0)] {
            let mut peer = RateTable::new(RateControl::MINSTREL, rates(), RandomStream::new(1, "rate", 0));
            let peer = peer.peer(1);
            peer.tried = vec![(5, 5), (0, 0), (tried, 1)];
            peer.renew(Time::from_millis(7), 0.75, &rates());
            assert_eq!((peer.index, peer.renewed), (best, Time::from_millis(7)));
            assert_eq!((peer.average[1], &peer.tried[..]), (None, &[(0, 0); 3][..]));
            // Three quarters of the old mean stay; a rate that was not tried keeps its own.
            peer.tried = vec![(2, 1), (1, 1), (0, 0)];
            peer.renew(Time::from_millis(9), 0.75, &rates());
            assert_eq!(peer.average, [Some(0.875), Some(1.0), Some(1.0 / f64::from(tried))]);
        }
        let mut none = RateTable::new(RateControl::MINSTREL, Vec::new(), RandomStream::new(1, "rate", 0));
        assert_eq!(none.choose(1, Time::ZERO), None);
    }
}
