//! An agent that sets the congestion window of one flow, whenever it likes.

use crate::options::{ControlFailure, RunError, RunOptions};
use crate::simulation::Simulation;
use cogtcp_scenario::{ControlSpec, Experiment};
use cogtcp_transport::{AckSample, CaState, CongestionControl, TcpState};
use cogtcp_units::{Duration, Time};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a decision is made on. Totals are since the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionView {
    /// Simulated time.
    pub time: Time,
    /// Whether the run is over.
    pub is_over: bool,
    /// Payload that the receiving application has.
    pub delivered: u64,
    /// Segments sent, and of these retransmitted.
    pub sent: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Least round-trip time; zero before the first sample.
    pub min_rtt: Duration,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Payload of a full segment.
    pub mss: u64,
}

/// A run in which an agent sets the congestion window of one flow.
#[derive(Debug)]
pub struct CongestionEpisode {
    simulation: Simulation<'static>,
    options: RunOptions,
    flow: usize,
    window: Arc<AtomicU64>,
}

impl CongestionEpisode {
    /// The run of `experiment` with `seed`, at time zero: the agent steers the flow numbered `flow`, and all
    /// others are as they are.
    pub fn new(experiment: Arc<Experiment>, seed: Option<u64>, flow: usize) -> Result<Self, RunError> {
        let window = Arc::new(AtomicU64::new(0));
        let (shared, steered) =
            (Arc::clone(&window), experiment.flows.get(flow).map(|flow| flow.name.clone()));
        let build =
            move |flow: &str, control: &ControlSpec| -> Result<Box<dyn CongestionControl>, ControlFailure> {
                if Some(flow) == steered.as_deref() {
                    return Ok(Box::new(Steered { window: Arc::clone(&shared) }));
                }
                Ok(cogtcp_transport::make(&control.name, &control.parameters)?)
            };
        let options = RunOptions { seed, controls: Some(Arc::new(build)), ..RunOptions::default() };
        super::check_tcp(&experiment, flow)?;
        let simulation = Simulation::new(Cow::Owned(Arc::unwrap_or_clone(experiment)), &options)?;
        Ok(Self { simulation, options, flow, window })
    }

    /// Goes on for `span`, with a congestion window of `window` bytes from the next acknowledgement on.
    pub fn go_on(&mut self, window: u64, span: Duration) -> Result<CongestionView, RunError> {
        // Relaxed: the run goes on in this thread. It is atomic as controls must be `Send`.
        self.window.store(window, Ordering::Relaxed);
        let until = self.view().time + span;
        self.simulation.play_until(until, &self.options)?;
        Ok(self.view())
    }

    /// What can be seen now.
    pub fn view(&self) -> CongestionView {
        let simulation = &self.simulation;
        let flow = &simulation.flows[self.flow];
        let sender = &super::tcp(flow).sender;
        let (state, stats) = (sender.state(), sender.stats());
        CongestionView {
            time: simulation.now(),
            is_over: simulation.now() >= simulation.end,
            delivered: flow.delivered(),
            sent: stats.segments_sent,
            retransmitted: stats.segments_retransmitted,
            timeouts: stats.timeouts,
            srtt: state.srtt,
            min_rtt: if state.min_rtt == Duration::MAX { Duration::ZERO } else { state.min_rtt },
            in_flight: state.in_flight,
            mss: state.mss,
        }
    }
}

/// The window that an agent sets, whatever is lost.
#[derive(Debug)]
struct Steered {
    window: Arc<AtomicU64>,
}

impl Steered {
    fn set(&self, tcp: &mut TcpState) {
        match self.window.load(Ordering::Relaxed) {
            // Nothing was decided yet: the initial window stays.
            0 => {}
            window => tcp.cwnd = window.max(tcp.mss),
        }
    }
}

impl CongestionControl for Steered {
    fn name(&self) -> &str {
        "agent"
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        // A loss does not lower the window. RFC 5681 has no threshold below two segments.
        tcp.cwnd.max(2 * tcp.mss)
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, _ack: &AckSample) {
        self.set(tcp);
    }

    fn cong_control(&mut self, _now: Time, tcp: &mut TcpState, _ack: &AckSample) -> bool {
        self.set(tcp);
        true
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, _state: CaState) {
        self.set(tcp);
    }

    fn owns_cwnd(&self) -> bool {
        true
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        tcp.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window is the agent's, a segment at least, whatever is lost; before a decision it stays.
    #[test]
    fn a_window_is_what_the_agent_says() {
        for (decided, before, after) in
            [(0, 14_000, 14_000), (1, 14_000, 1000), (1000, 1, 1000), (5001, 1, 5001)]
        {
            let mut steered = Steered { window: Arc::new(AtomicU64::new(decided)) };
            let mut tcp = TcpState::new(1000, before);
            steered.set_state(Time::ZERO, &mut tcp, CaState::Loss);
            assert_eq!(tcp.cwnd, after, "{decided}");
            assert_eq!(steered.undo_cwnd(Time::ZERO, &tcp), after);
            assert!(steered.owns_cwnd() && steered.name() == "agent");
        }
        // RFC 5681: a threshold of two segments at least.
        let mut steered = Steered { window: Arc::default() };
        for (cwnd, ssthresh) in [(1000, 2000), (2000, 2000), (2001, 2001), (9000, 9000)] {
            assert_eq!(steered.ssthresh(Time::ZERO, &TcpState::new(1000, cwnd)), ssthresh);
        }
    }
}
