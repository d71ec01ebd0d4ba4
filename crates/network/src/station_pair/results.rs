//! What a pair has counted, and what others look at.

use super::{PairRadio, StationPair, interface};
use cogtcp_spectrum::{CognitiveConfigError, CognitiveRadio, Protection, Radio, RadioStats};
use cogtcp_units::{Duration, Time};
use cogtcp_wireless::Counters;

/// What a station counted of its exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MacCounters {
    /// Exchanges begun: first attempts and retries.
    pub attempts: u64,
    /// Exchanges that failed since a primary user destroyed a frame.
    pub interfered: u64,
    /// Since the receiver was silent.
    pub unanswered: u64,
    /// Since the other end sent, or was busy with its own exchange.
    pub collided: u64,
    /// By noise or random errors.
    pub garbled: u64,
}

impl MacCounters {
    fn new(counters: &Counters) -> Self {
        Self {
            attempts: counters.attempts,
            interfered: counters.interfered,
            unanswered: counters.unanswered,
            // Whoever is busy with its own exchange answers nobody.
            collided: counters.collided + counters.out_of_reach + counters.refused,
            garbled: counters.garbled,
        }
    }

    fn failed(&self) -> u64 {
        self.interfered + self.unanswered + self.collided + self.garbled
    }
}

impl StationPair {
    /// Its radios: one that both ends share, or the one of each.
    pub fn radios(&self) -> &[PairRadio] {
        &self.radios
    }

    /// The radio of the first end, or of both.
    pub fn first_radio(&self) -> &CognitiveRadio {
        &self.radios[0].radio
    }

    /// Sets t_s and T_p of all its radios, from their next phase on.
    pub fn set_times(
        &mut self,
        sensing: Duration,
        transmission: Duration,
    ) -> Result<(), CognitiveConfigError> {
        self.radios.iter_mut().try_for_each(|unit| unit.radio.set_times(sensing, transmission))
    }

    /// How primary users fared with all its radios up to `now`: the time that frames were on the air on top
    /// of them.
    pub fn interfered(&self, now: Time) -> Duration {
        self.radios.iter().map(|unit| unit.radio.protection(now).interfered).sum()
    }

    /// Exchanges that both ends began, and of these failed, so far.
    pub fn exchanges(&self) -> (u64, u64) {
        let counters = [0, 1].map(|end| MacCounters::new(&self.medium.counters(interface(end))));
        (counters.iter().map(|it| it.attempts).sum(), counters.iter().map(MacCounters::failed).sum())
    }

    /// Metrics count from `now`.
    pub fn end_warmup(&mut self, now: Time) {
        for unit in &mut self.radios {
            unit.warm = (unit.radio.stats(now), unit.radio.protection(now));
            unit.radio.restart_maximum();
        }
        self.warm_counters = [0, 1].map(|end| self.medium.counters(interface(end)));
    }

    /// What the station of direction `end` counted since the end of the warm-up.
    pub fn measured(&self, end: usize) -> MacCounters {
        debug_assert!(self.medium.is_conserved(), "every packet of the medium is accounted for");
        MacCounters::new(&self.medium.counters(interface(end)).since(&self.warm_counters[end]))
    }
}

impl PairRadio {
    /// What the radio did, and how primary users fared, since the end of the warm-up.
    pub fn measured(&self, now: Time) -> (RadioStats, Protection) {
        let stats = self.radio.stats(now).since(&self.warm.0);
        (stats, self.radio.protection(now).since(&self.warm.1))
    }
}
