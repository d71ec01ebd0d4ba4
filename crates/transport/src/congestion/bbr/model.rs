//! The path as BBR models it: bandwidth, volume, rounds, aggregation ("Updating Network Path Model
//! Parameters").

use super::Cycle;
use crate::congestion::windowed_max::WindowedMax;
use crate::congestion::{AckSample, TcpState};
use cogtcp_units::Time;

/// BBR.ExtraAckedFilterLen, rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;

/// Rates are bytes per second, volumes bytes; infinity: no bound.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The greatest rate of the current and of the previous ProbeBW cycle: BBR.max_bw_filter.
    max_bw: [f64; 2],
    bw: f64,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
    bw_latest: f64,
    pub(super) inflight_latest: f64,
    pub(super) is_loss_in_round: bool,
    pub(super) loss_round_start: bool,
    loss_round_delivered: u64,
    next_round_delivered: u64,
    pub(super) round_count: u64,
    pub(super) round_start: bool,
    extra_acked_start: Time,
    extra_acked_delivered: f64,
    /// BBR.extra_acked_filter: the greatest of the window, and the candidates to follow it.
    extra_acked: WindowedMax,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            max_bw: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            loss_round_start: false,
            loss_round_delivered: 0,
            next_round_delivered: 0,
            round_count: 0,
            round_start: false,
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            extra_acked: WindowedMax::default(),
        }
    }
}

impl Model {
    pub(super) fn start(&mut self, now: Time) {
        self.extra_acked_start = now;
    }

    /// BBR.bw.
    pub(super) const fn bw(&self) -> f64 {
        self.bw
    }

    /// BBR.max_bw.
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// BBR.extra_acked.
    pub(super) const fn extra_acked(&self) -> f64 {
        self.extra_acked.best()
    }

    /// UpdateLatestDeliverySignals().
    pub(super) fn update_latest_delivery(&mut self, tcp: &TcpState, ack: &AckSample, rate: f64) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(ack.rate.delivered as f64);
        if ack.rate.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = tcp.delivered;
            self.loss_round_start = true;
        }
    }

    /// AdvanceLatestDeliverySignals().
    pub(super) fn advance_latest_delivery(&mut self, ack: &AckSample, rate: f64) {
        if self.loss_round_start {
            self.bw_latest = rate;
            self.inflight_latest = ack.rate.delivered as f64;
        }
    }

    /// NoteLoss(): whether this is the first loss of its round.
    pub(super) fn record_loss(&mut self, tcp: &TcpState) -> bool {
        let first = !self.is_loss_in_round;
        if first {
            self.loss_round_delivered = tcp.delivered;
        }
        self.is_loss_in_round = true;
        first
    }

    /// ResetCongestionSignals().
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// AdaptLowerBoundsFromCongestion(), in a state that does not probe.
    pub(super) fn adapt_lower_bounds(&mut self, cwnd: u64, beta: f64) {
        if !self.is_loss_in_round {
            return;
        }
        // InitLowerBounds().
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = cwnd as f64;
        }
        // LossLowerBounds().
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    /// ResetShortTermModel().
    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// UpdateRound().
    pub(super) fn update_round(&mut self, tcp: &TcpState, ack: &AckSample, cycle: &mut Cycle) {
        self.round_start = ack.rate.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(tcp);
            self.round_count += 1;
            cycle.count_round();
        }
    }

    /// StartRound().
    pub(super) const fn start_round(&mut self, tcp: &TcpState) {
        self.next_round_delivered = tcp.delivered;
    }

    /// UpdateMaxBw(), the round aside.
    pub(super) fn update_max_bw(&mut self, rate: f64, app_limited: bool) {
        if rate > 0.0 && (rate >= self.max_bw() || !app_limited) {
            self.max_bw[0] = self.max_bw[0].max(rate);
        }
    }

    /// AdvanceMaxBwFilter(): the current cycle becomes the previous one.
    pub(super) fn advance_max_bw_filter(&mut self) {
        // A cycle without a sample leaves the filter as it is, as in Linux (bbr_advance_bw_hi_filter).
        if self.max_bw[0] > 0.0 {
            self.max_bw = [0.0, self.max_bw[0]];
        }
    }

    /// BoundBWForModel().
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// UpdateACKAggregation().
    pub(super) fn update_ack_aggregation(
        &mut self,
        now: Time,
        cwnd: u64,
        delivered: u64,
        full_bw_reached: bool,
    ) {
        let mut expected = self.bw * now.saturating_since(self.extra_acked_start).as_secs_f64();
        if self.extra_acked_delivered <= expected {
            self.restart_ack_aggregation(now);
            expected = 0.0;
        }
        self.extra_acked_delivered += delivered as f64;
        let extra = (self.extra_acked_delivered - expected).min(cwnd as f64);
        let window = if full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(self.round_count, extra, window);
    }

    /// Starts a new interval of the aggregation estimate.
    pub(super) fn restart_ack_aggregation(&mut self, now: Time) {
        self.extra_acked_delivered = 0.0;
        self.extra_acked_start = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UpdateACKAggregation() at 1,000 bytes a second: what was delivered beyond that since the interval began, at
    /// most cwnd. The interval restarts once deliveries fall behind.
    #[test]
    fn extra_acked_is_what_came_beyond_the_rate() {
        let mut model = Model { bw: 1000.0, ..Model::default() };
        let mut extra = |millis: u64, delivered: u64, cwnd: u64| {
            model.extra_acked = WindowedMax::default();
            model.update_ack_aggregation(Time::from_millis(millis), cwnd, delivered, false);
            model.extra_acked()
        };
        assert_eq!(extra(0, 500, 10_000), 500.0);
        assert_eq!(extra(100, 200, 10_000), 600.0, "700 bytes, 100 expected");
        assert_eq!(extra(200, 100, 550), 550.0, "cwnd bounds the 600");
        assert_eq!(extra(800, 300, 10_000), 300.0, "800 bytes by 800 ms: a new interval");
        assert_eq!(extra(900, 0, 10_000), 200.0, "the new interval began at 800 ms");
    }

    /// The greatest of ten rounds, or of one before the link is full.
    #[test]
    fn extra_acked_is_remembered_for_ten_rounds_once_the_link_is_full() {
        let after = |rounds: u64, full: bool| {
            let mut model = Model { bw: 1e6, ..Model::default() };
            model.update_ack_aggregation(Time::from_millis(1), 10_000, 900, full);
            model.round_count += rounds;
            model.update_ack_aggregation(Time::from_millis(1000), 10_000, 1, full);
            model.extra_acked()
        };
        assert_eq!([after(1, false), after(2, false)], [900.0, 1.0]);
        assert_eq!([after(10, true), after(11, true)], [900.0, 1.0]);
    }

    /// "BBR.max_bw Max Filter": the maximum over the current and the previous cycle.
    #[test]
    fn max_bw_spans_two_cycles() {
        let mut model = Model::default();
        model.update_max_bw(1000.0, false);
        model.advance_max_bw_filter();
        model.update_max_bw(800.0, false);
        assert_eq!(model.max_bw(), 1000.0);
        model.advance_max_bw_filter();
        assert_eq!(model.max_bw(), 800.0);
        // "BBR.max_bw and Application-limited Delivery Rate Samples".
        model.update_max_bw(700.0, true);
        model.advance_max_bw_filter();
        assert_eq!(model.max_bw(), 800.0);
        model.update_max_bw(900.0, true);
        assert_eq!(model.max_bw(), 900.0);
    }

    /// "When not Probing for Bandwidth": max(latest, 0.7 * bound).
    #[test]
    fn losses_lower_the_short_term_bounds() {
        let mut model = Model::default();
        model.update_max_bw(1000.0, false);
        model.adapt_lower_bounds(10_000, 0.7);
        assert!(model.bw_shortterm.is_infinite());
        (model.is_loss_in_round, model.bw_latest, model.inflight_latest) = (true, 600.0, 9000.0);
        model.adapt_lower_bounds(10_000, 0.7);
        assert_eq!((model.bw_shortterm, model.inflight_shortterm), (700.0, 9000.0));
        model.bound_bw();
        assert_eq!(model.bw(), 700.0);
        model.adapt_lower_bounds(10_000, 0.7);
        assert_eq!(model.bw_shortterm, 600.0);
    }

    /// The signals of a round are the greatest of its samples, from nothing on.
    #[test]
    fn latest_signals_begin_at_nothing() {
        let mut model = Model::default();
        let tcp = TcpState::new(1000, 10_000);
        assert_eq!((model.bw(), model.max_bw(), model.extra_acked()), (0.0, 0.0, 0.0));
        model.update_latest_delivery(&tcp, &AckSample::default(), 0.0);
        assert_eq!((model.bw_latest, model.inflight_latest, model.extra_acked_delivered), (0.0, 0.0, 0.0));
        assert!(model.loss_round_start && !model.is_loss_in_round && !model.round_start);
        let mut ack = AckSample::default();
        ack.rate.delivered = 5000;
        model.update_latest_delivery(&tcp, &ack, 7.0);
        ack.rate.delivered = 3000;
        model.update_latest_delivery(&tcp, &ack, 6.0);
        assert_eq!((model.bw_latest, model.inflight_latest), (7.0, 5000.0));
        // Until what was sent after the round's end is acknowledged, no round begins.
        let tcp = TcpState { delivered: 9000, ..tcp };
        model.update_latest_delivery(&tcp, &ack, 6.0);
        assert!(model.loss_round_start);
        ack.rate.prior_delivered = 8999;
        model.update_latest_delivery(&tcp, &ack, 6.0);
        assert!(!model.loss_round_start);
        ack.rate.prior_delivered = 9000;
        model.update_latest_delivery(&tcp, &ack, 6.0);
        assert!(model.loss_round_start);
    }
}
