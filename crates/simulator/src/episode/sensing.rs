//! An agent that sets sensing and transmission time of a CR user before each of its sensings.
//!
//! The run stops in the nanosecond before a sensing begins. The agent knows how the last cycle went; its
//! choice holds for this sensing and for the transmission after it. T_p could wait for the sensing's report,
//! but T_p counts only if the channel was reported free, so the report adds nothing. A policy that stays on
//! its channel senses again at once, with the same times.

use crate::options::{RunError, RunOptions};
use crate::simulation::Simulation;
use cogtcp_network::StationPair;
use cogtcp_scenario::Experiment;
use cogtcp_spectrum::{Phase, Radio, RadioStats};
use cogtcp_units::{Duration, Rate, Time};
use std::borrow::Cow;
use std::sync::Arc;

/// Why an episode has its pair.
const PAIR: &str = "the radio was a pair when the episode began";

/// What a decision is made on. Totals are since the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensingView {
    /// Simulated time.
    pub time: Time,
    /// Whether the run is over.
    pub is_over: bool,
    /// t_s and T_p as they are set.
    pub times: (Duration, Duration),
    /// Whether the last sensing reported a PU.
    pub reported: bool,
    /// Sensings that reported a PU.
    pub reports: u64,
    /// What the radio did. The agent may know the times, the sensings and the handoffs; the rest is the
    /// truth.
    pub radio: RadioStats,
    /// Share of the sensings of the present channel that reported a PU, by Laplace's rule; 1/2 if none has.
    pub busy_share: f64,
    /// Rate of the channel in use.
    pub rate: Rate,
    /// Rate of the fastest channel.
    pub fastest: Rate,
    /// Exchanges of frames that both ends of the link began, and of these failed, for whatever cause.
    pub exchanges: (u64, u64),
    /// Payload that was acknowledged to the flow's sender.
    pub acked: u64,
    /// Retransmission timeouts of the flow.
    pub timeouts: u64,
    /// Truth, for the reward: payload that the receiving application has.
    pub delivered: u64,
    /// Truth, for the reward: ON time of primary users that frames of the link were on the air in.
    pub interfered: Duration,
}

/// A run in which an agent sets the cycle of one CR user.
#[derive(Debug)]
pub struct SensingEpisode {
    simulation: Simulation<'static>,
    options: RunOptions,
    /// The place in the experiment of the radio, which is a pair of stations.
    pair: usize,
    flow: usize,
}

impl SensingEpisode {
    /// Returns the run of `experiment` with `seed` up to its first sensing. The agent steers the CR user
    /// named `radio`. Of two that sense apart, the agent steers the user at the beginning of the link; the
    /// second user follows from its next phase on. `flow` is the flow whose bytes the agent observes.
    pub fn new(
        experiment: Arc<Experiment>,
        seed: Option<u64>,
        radio: &str,
        flow: usize,
    ) -> Result<Self, RunError> {
        let options = RunOptions { seed, ..RunOptions::default() };
        super::check_tcp(&experiment, flow)?;
        let number = experiment.radios.iter().position(|spec| spec.name == radio);
        let simulation = Simulation::new(Cow::Owned(Arc::unwrap_or_clone(experiment)), &options)?;
        let network = &simulation.plane.network;
        let pair = number.filter(|number| network.pair(*number).is_some());
        let wrong = |why: &str| RunError::radio(radio, why);
        let pair = pair.ok_or_else(|| wrong("there is no CR user of this name to steer"))?;
        if flow >= simulation.flows.len() {
            return Err(wrong(&format!("unknown flow {flow}; flows are numbered from 0")));
        }
        let mut episode = Self { simulation, options, pair, flow };
        episode.play_to_decision()?;
        Ok(episode)
    }

    /// Sets t_s and T_p of the sensing that is about to begin and of the transmission after it, and goes on
    /// to the next.
    pub fn go_on(&mut self, sensing: Duration, transmission: Duration) -> Result<SensingView, RunError> {
        let pair =
            self.simulation.plane.network.pair_mut(self.pair).unwrap_or_else(|| unreachable!("{PAIR}"));
        if let Err(error) = pair.set_times(sensing, transmission) {
            let radio = &self.simulation.experiment.radios[self.pair];
            return Err(RunError::radio(&radio.name, &error.to_string()));
        }
        // First into the sensing: the present phase is the one whose end was awaited here.
        let begins = self.pair().first_radio().phase_end();
        self.simulation.play_until(begins, &self.options)?;
        self.play_to_decision()?;
        Ok(self.view())
    }

    /// Plays up to the nanosecond before the next sensing begins, or to the end of the run.
    fn play_to_decision(&mut self) -> Result<(), RunError> {
        loop {
            let radio = self.pair().first_radio();
            let (phase, until) = (radio.phase(), radio.phase_end());
            if phase != Phase::Sensing {
                // A sensing at time zero has nothing before it that could be played.
                return match until.as_nanos().checked_sub(1) {
                    Some(before) => self.simulation.play_until(Time::from_nanos(before), &self.options),
                    None => Ok(()),
                };
            }
            // The run ends within this sensing: no decision is left.
            if until > self.simulation.end {
                return self.simulation.play_until(until, &self.options);
            }
            self.simulation.play_until(until, &self.options)?;
        }
    }

    fn pair(&self) -> &StationPair {
        self.simulation.plane.network.pair(self.pair).unwrap_or_else(|| unreachable!("{PAIR}"))
    }

    /// What can be seen now.
    pub fn view(&self) -> SensingView {
        let (simulation, pair) = (&self.simulation, self.pair());
        let (now, radio, flow) = (simulation.now(), pair.first_radio(), &simulation.flows[self.flow]);
        let stats = super::tcp(flow).sender.stats();
        SensingView {
            time: now,
            is_over: now >= simulation.end,
            times: radio.times(),
            reported: radio.has_reported(),
            reports: radio.reports(),
            radio: radio.stats(now),
            busy_share: radio.history().busy_share(radio.channel()),
            rate: radio.rate().unwrap_or_default(),
            fastest: radio.air().channels.iter().map(|(_, channel)| channel.rate).max().unwrap_or_default(),
            exchanges: pair.exchanges(),
            acked: stats.bytes_acked,
            timeouts: stats.timeouts,
            delivered: flow.delivered(),
            interfered: pair.interfered(now),
        }
    }
}
