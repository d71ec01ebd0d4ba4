//! The ProbeBW cycle: DOWN, CRUISE, REFILL, UP ("ProbeBW").

use super::{Bbr, State, min_pipe};
use crate::congestion::{AckSample, TcpState};
use cogtcp_units::{Duration, Time};

/// Most rounds to wait before probing: "Bandwidth Probing and Coexistence with Reno/CUBIC".
const MOST_RENO_ROUNDS: u64 = 63;

/// BBR.ack_phase.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// "ProbeBW State".
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    pub(super) ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    /// BBR.bw_probe_up_acked and probe_up_acked_per_inc (`None`: infinity), bytes.
    up_acked: u64,
    up_acked_per_inc: Option<u64>,
    up_rounds: u32,
    rounds_since_probe: u64,
    probe_wait: Duration,
    cycle_stamp: Time,
}

impl Cycle {
    pub(super) fn start(&mut self, now: Time) {
        self.cycle_stamp = now;
    }

    pub(super) const fn count_round(&mut self) {
        self.rounds_since_probe += 1;
    }

    /// PickProbeWait(): 0 or 1 rounds, 2 to 3 s.
    fn pick_wait(&mut self, now: Time, delivered: u64) {
        // SplitMix64's finaliser; see the departures at the head of the parent module.
        let z = (now.as_nanos() ^ delivered.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let hash = z ^ (z >> 31);
        self.rounds_since_probe = hash & 1;
        self.probe_wait = Duration::from_nanos(2_000_000_000 + (hash >> 1) % 1_000_000_000);
    }
}

impl Bbr {
    /// StartProbeBW_DOWN(); from Drain also EnterProbeBW().
    pub(super) fn start_down(&mut self, now: Time, tcp: &TcpState) {
        self.model.reset_congestion_signals();
        self.cycle.up_acked_per_inc = None;
        self.cycle.pick_wait(now, tcp.delivered);
        self.cycle.cycle_stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.model.start_round(tcp);
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL().
    pub(super) fn start_refill(&mut self, tcp: &TcpState) {
        self.model.reset_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.model.start_round(tcp);
        self.state = State::Refill;
    }

    /// StartProbeBW_UP().
    fn start_up(&mut self, tcp: &TcpState, rate: f64) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.model.start_round(tcp);
        self.reset_full_bw();
        self.full_bw = rate;
        self.state = State::Up;
        self.raise_inflight_longterm_slope(tcp);
    }

    /// UpdateProbeBWCyclePhase().
    pub(super) fn update_probe_bw_cycle(
        &mut self,
        now: Time,
        tcp: &TcpState,
        ack: &AckSample,
        rate: f64,
        app_limited: bool,
    ) {
        if !self.full_bw_reached || self.adapt_long_term_model(tcp, ack, app_limited) {
            return;
        }
        match self.state {
            State::Down => {
                if self.is_time_to_probe(now, tcp) {
                    self.start_refill(tcp);
                } else if self.is_time_to_cruise(tcp) {
                    self.state = State::Cruise;
                }
            }
            State::Cruise if self.is_time_to_probe(now, tcp) => self.start_refill(tcp),
            State::Refill if self.model.round_start => {
                self.cycle.is_bw_probe_sample = true;
                self.start_up(tcp, rate);
            }
            State::Up => self.leave_up_in_time(now, tcp, rate),
            _ => {}
        }
    }

    /// HandleLostPacket() at the ACK that reveals the losses.
    pub(super) fn record_loss(&mut self, now: Time, tcp: &TcpState, ack: &AckSample, app_limited: bool) {
        if self.model.record_loss(tcp) {
            self.save_state_upon_loss(tcp);
        }
        if self.cycle.is_bw_probe_sample && self.is_inflight_too_high(ack) {
            // HandleInflightTooHigh().
            self.cycle.prev_probe_too_high = true;
            self.cycle.is_bw_probe_sample = false;
            if !app_limited {
                let target = self.target_inflight(tcp) * self.constants.beta;
                self.model.inflight_longterm = target.max(ack.rate.tx_in_flight as f64);
            }
            if self.state == State::Up {
                self.undo.state = Some(State::Up);
                self.start_down(now, tcp);
            }
        }
    }

    /// InflightWithHeadroom().
    pub(super) fn inflight_with_headroom(&self, tcp: &TcpState) -> f64 {
        let longterm = self.model.inflight_longterm;
        if longterm.is_infinite() {
            return longterm;
        }
        let headroom = (self.constants.headroom * longterm).max(tcp.mss as f64);
        (longterm - headroom).max(min_pipe(tcp) as f64)
    }

    /// AdaptLongTermModel(): whether it decided a transition.
    fn adapt_long_term_model(&mut self, tcp: &TcpState, ack: &AckSample, app_limited: bool) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.model.round_start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.model.round_start {
            self.cycle.is_bw_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !app_limited {
                    self.model.advance_max_bw_filter();
                }
                if self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high {
                    self.start_refill(tcp);
                    return true;
                }
            }
        }
        if !self.is_inflight_too_high(ack) && self.model.inflight_longterm.is_finite() {
            self.model.inflight_longterm = self.model.inflight_longterm.max(ack.rate.tx_in_flight as f64);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(tcp, ack);
            }
        }
        false
    }

    /// ProbeInflightLongtermUpward().
    fn probe_inflight_longterm_upward(&mut self, tcp: &TcpState, ack: &AckSample) {
        if !tcp.cwnd_limited || (tcp.cwnd as f64) < self.model.inflight_longterm {
            return;
        }
        if let Some(per_inc) = self.cycle.up_acked_per_inc {
            self.cycle.up_acked += ack.delivered;
            let steps = self.cycle.up_acked / per_inc;
            self.cycle.up_acked -= steps * per_inc;
            self.model.inflight_longterm += (steps * tcp.mss) as f64;
        }
        if self.model.round_start {
            self.raise_inflight_longterm_slope(tcp);
        }
    }

    /// RaiseInflightLongtermSlope(): one more segment per round, doubling every round.
    fn raise_inflight_longterm_slope(&mut self, tcp: &TcpState) {
        let growth = 1u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.up_acked_per_inc = Some((tcp.cwnd / growth).max(tcp.mss));
    }

    /// IsTimeToProbeBW().
    fn is_time_to_probe(&self, now: Time, tcp: &TcpState) -> bool {
        // The draft counts TargetInflight() in packets here: Reno grows a packet a round.
        let reno_rounds = (self.target_inflight(tcp) / tcp.mss as f64) as u64;
        now > self.cycle.cycle_stamp + self.cycle.probe_wait
            || self.cycle.rounds_since_probe >= reno_rounds.min(MOST_RENO_ROUNDS)
    }

    /// TargetInflight().
    fn target_inflight(&self, tcp: &TcpState) -> f64 {
        self.bdp(1.0, tcp).min(tcp.cwnd as f64)
    }

    /// IsTimeToCruise().
    fn is_time_to_cruise(&self, tcp: &TcpState) -> bool {
        let in_flight = tcp.in_flight as f64;
        in_flight <= self.inflight_with_headroom(tcp) && in_flight <= self.inflight(1.0, tcp)
    }

    fn leave_up_in_time(&mut self, now: Time, tcp: &TcpState, rate: f64) {
        if self.is_time_to_go_down(tcp, rate) {
            self.cycle.prev_probe_too_high = false;
            self.start_down(now, tcp);
        }
    }

    /// IsTimeToGoDown().
    fn is_time_to_go_down(&mut self, tcp: &TcpState, rate: f64) -> bool {
        let longterm = self.model.inflight_longterm;
        if self.cycle.prev_probe_too_high && tcp.in_flight as f64 >= longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if tcp.cwnd_limited && tcp.cwnd as f64 >= longterm {
            // The bandwidth is bounded by inflight_longterm, not by the path.
            self.reset_full_bw();
            self.full_bw = rate;
            return false;
        }
        self.full_bw_now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Parameters;
    use crate::congestion::testing::{MSS, tcp};

    /// PickProbeWait(): a probe is 0 or 1 rounds nearer, and comes after 2 to 3 s; evenly, so that flows do not
    /// probe together. Of 4,000 draws a half is 2,000 within five deviations, 158.
    #[test]
    fn flows_wait_differently_for_their_next_probe() {
        let (mut late, mut nearer) = (0, 0);
        for number in 0..4000 {
            let mut cycle = Cycle::default();
            cycle.pick_wait(Time::from_millis(100 + number), 1460 * number);
            assert!(cycle.rounds_since_probe <= 1);
            let wait = cycle.probe_wait.as_secs_f64();
            assert!((2.0..3.0).contains(&wait), "{wait}");
            nearer += cycle.rounds_since_probe;
            late += u64::from(wait >= 2.5);
        }
        assert!(nearer.abs_diff(2000) < 158 && late.abs_diff(2000) < 158, "{nearer} {late}");
    }

    /// ProbeInflightLongtermUpward(): a segment per `up_acked_per_inc` bytes, but only while cwnd is used and
    /// reaches the bound.
    #[test]
    fn the_bound_rises_only_where_cwnd_reaches_it() {
        for (cwnd, limited, expected) in
            [(40, true, 50.0), (50, false, 50.0), (50, true, 52.0), (60, true, 52.0)]
        {
            let mut bbr =
                Bbr::new(&Parameters::new().resolve("bbr", crate::congestion::bbr::INFO.parameters).unwrap());
            bbr.model.inflight_longterm = 50.0 * MSS as f64;
            bbr.cycle.up_acked_per_inc = Some(2 * MSS);
            let state = TcpState { cwnd_limited: limited, ..tcp(cwnd) };
            let ack = AckSample { delivered: 5 * MSS, ..AckSample::default() };
            bbr.probe_inflight_longterm_upward(&state, &ack);
            assert_eq!(bbr.model.inflight_longterm, expected * MSS as f64, "{cwnd} {limited}");
        }
    }
}
