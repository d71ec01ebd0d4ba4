//! Compound TCP: Reno's window and a delay window beside it, which grows fast while the queue is short.
//!
//! The window is win = cwnd + dwnd; the sender's `TcpState::cwnd` holds win. In congestion avoidance win
//! grows by Reno's one segment per round trip. Once per round trip, with `base` the minimum RTT of the
//! connection and `rtt` the RTT of the round:
//!
//! ```text
//! diff = win * (rtt - base) / rtt   segments queued
//! diff <  gamma:  dwnd += max(0, alpha * win^k - 1)       diff >= gamma:  dwnd = max(0, dwnd - eta * diff)
//! duplicate ACKs: cwnd /= 2,  dwnd = max(0, (1 - beta) * win - cwnd / 2)         timeout:  dwnd = 0
//! gamma tuning, at duplicate ACKs:
//!   gamma = (1 - lambda) * gamma + lambda * 3/4 * diff_reno, within [gamma_low, gamma]
//! ```
//!
//! Choices where draft-sridharan-tcpm-ctcp-02 is silent or open:
//! - The RTT of a round is the mean of its samples; `rtt` offers the least and the last (as the ns-3 Compound
//!   of Zhou).
//! - lambda, the weight of a new gamma, is 0.2 (0.8 on the old value, as a published implementation over CCP
//!   has it).
//! - diff_reno is diff with cwnd in the place of win, of the last round that was over before the loss.
//! - Below the low window dwnd stays as it is: it neither grows nor shrinks.
//! - win at a loss event is FlightSize, as RFC 5681 takes it for Reno.

use super::bandwidth::BandwidthEstimator;
use super::growth::{self, Additive, Round};
use super::{
    AckSample, CaEvent, CaState, CongestionControl, ControlInfo, ParameterSpec, Parameters, TcpState,
};
use crate::{Preset, PresetValue, Recovery};
use cogtcp_units::{Duration, Time};

const NAME: &str = "compound";

/// The control as the registry lists it.
pub const INFO: ControlInfo = ControlInfo {
    name: NAME,
    summary: "Reno's window and a delay window that fills long fat paths while the queue is short",
    reference: "draft-sridharan-tcpm-ctcp-02; Tan, Song, Zhang and Sridharan, INFOCOM 2006",
    parameters: &[
        ALPHA,
        BETA,
        K,
        ETA,
        GAMMA,
        GAMMA_LOW,
        GAMMA_TUNING,
        LAMBDA,
        LOW_WINDOW,
        LOW_WINDOW_OF,
        RTT,
        AFTER_LOSS,
        growth::ABC_LIMIT,
    ],
    presets: &[
        Preset::new("compound", NAME, Recovery::Sack)
            .described("Compound as its Internet draft, SACK recovery"),
        Preset::new("compound-zhou", NAME, Recovery::Reno)
            .described("Compound as in Zhou's ns-3 code: eta 0.03, no gamma tuning, dwnd lost at every loss, Reno recovery")
            .with(&[
                ("eta", PresetValue::Number(0.03)),
                ("gamma_tuning", PresetValue::Flag(false)),
                ("low_window_of", PresetValue::Word("cwnd")),
                ("rtt", PresetValue::Word("last")),
                ("after_loss", PresetValue::Word("none")),
            ]),
    ],
    build: |parameters| Box::new(Compound::new(parameters)),
};

pub(super) const ALPHA: ParameterSpec = ParameterSpec::number("alpha", "", [0.125, 0.0, 10.0])
    .described("growth of the delay window: alpha * win^k segments per round trip");
const BETA: ParameterSpec =
    ParameterSpec::number("beta", "", [0.5, 0.0, 1.0]).described("part of win given up at a loss");
pub(super) const K: ParameterSpec =
    ParameterSpec::number("k", "", [0.75, 0.0, 1.0]).described("exponent of the delay window's growth");
pub(super) const ETA: ParameterSpec = ParameterSpec::number("eta", "", [1.0, 0.0, 10.0])
    .described("segments the delay window shrinks by per segment queued");
pub(super) const GAMMA: ParameterSpec = ParameterSpec::number("gamma", "segments", [30.0, 0.0, 10_000.0])
    .described("segments queued from which the delay window shrinks");
pub(super) const GAMMA_LOW: ParameterSpec =
    ParameterSpec::number("gamma_low", "segments", [5.0, 0.0, 10_000.0])
        .described("least gamma that tuning sets");
pub(super) const GAMMA_TUNING: ParameterSpec = ParameterSpec::flag("gamma_tuning", true)
    .described("tune gamma at each loss to 3/4 of what Reno's window had queued");
pub(super) const LAMBDA: ParameterSpec =
    ParameterSpec::number("lambda", "", [0.2, 0.0, 1.0]).described("weight of the new value in tuning");
pub(super) const LOW_WINDOW: ParameterSpec =
    ParameterSpec::number("low_window", "segments", [38.0, 0.0, 10_000.0])
        .described("the delay window works from this window on (draft: 38; paper: 41)");
pub(super) const LOW_WINDOW_OF: ParameterSpec =
    ParameterSpec::choice("low_window_of", "win", &["win", "cwnd"])
        .described("which window low_window speaks of: all of it, or Reno's part");
pub(super) const RTT: ParameterSpec =
    ParameterSpec::choice("rtt", "mean", &["mean", "least", "last"]).described("round-trip time of a round");
const AFTER_LOSS: ParameterSpec = ParameterSpec::choice("after_loss", "draft", &["draft", "none"])
    .described("the delay window after duplicate ACKs: the draft's, or none");

/// The state of one connection.
#[derive(Clone, Debug)]
pub(super) struct Compound {
    name: &'static str,
    after_loss: AfterLoss,
    abc_limit: f64,
    reno: Additive,
    delay: DelayWindow,
}

/// The window after a loss event.
#[derive(Clone, Debug)]
pub(super) enum AfterLoss {
    /// The draft's: (1 - beta) win. Reno's part is half of its part before.
    Draft { beta: f64 },
    /// Half, all of it Reno's.
    Half,
    /// Westwood+'s, split as the draft's.
    Bandwidth(BandwidthEstimator),
}

impl Compound {
    fn new(parameters: &Parameters) -> Self {
        let after_loss = match parameters.text("after_loss") {
            "draft" => AfterLoss::Draft { beta: parameters.number("beta") },
            _ => AfterLoss::Half,
        };
        Self::named(NAME, after_loss, parameters)
    }

    pub(super) fn named(name: &'static str, after_loss: AfterLoss, parameters: &Parameters) -> Self {
        Self {
            name,
            after_loss,
            abc_limit: parameters.number("abc_limit"),
            reno: Additive::reno(),
            delay: DelayWindow::new(parameters),
        }
    }
}

impl CongestionControl for Compound {
    fn name(&self) -> &str {
        self.name
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        if let AfterLoss::Bandwidth(bandwidth) = &mut self.after_loss {
            bandwidth.start(now);
        }
        self.delay.start(tcp);
    }

    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64 {
        self.reno.reset();
        let timed_out = self.delay.take_timeout();
        let (window, split) = match &mut self.after_loss {
            AfterLoss::Bandwidth(bandwidth) => {
                let window = bandwidth.ssthresh(now, tcp);
                (window, Some(window.min(tcp.cwnd)))
            }
            AfterLoss::Draft { beta } if !timed_out => {
                // Reno's part is halved, and what (1 - beta) win leaves beside it is dwnd's.
                let reno = tcp.flight_size.saturating_sub(self.delay.dwnd) / 2;
                let window = (((1.0 - *beta) * tcp.flight_size as f64) as u64).max(reno).max(2 * tcp.mss);
                (window, Some(window))
            }
            AfterLoss::Draft { .. } | AfterLoss::Half => (growth::half_flight(tcp), None),
        };
        if !timed_out {
            self.delay.on_loss(tcp, split);
        }
        window
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if let AfterLoss::Bandwidth(bandwidth) = &mut self.after_loss {
            bandwidth.on_ack(now, tcp, ack);
        }
        self.delay.on_ack(tcp, ack);
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if self.reno.grow_from_start(tcp, ack.acked, self.abc_limit) {
            self.delay.grow(tcp);
        }
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        self.delay.on_state(tcp, state);
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        if let AfterLoss::Bandwidth(bandwidth) = &mut self.after_loss
            && event == CaEvent::Loss
        {
            bandwidth.on_timeout();
        }
        self.delay.on_event(tcp, event);
    }

    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.delay.undo();
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        if let AfterLoss::Bandwidth(bandwidth) = &self.after_loss {
            bandwidth.observe(show);
        }
        self.delay.observe(tcp, show);
    }
}

/// The delay window and what it learns from round-trip times.
#[derive(Clone, Debug)]
struct DelayWindow {
    alpha: f64,
    k: f64,
    eta: f64,
    gamma_high: f64,
    gamma_low: f64,
    tuning: bool,
    lambda: f64,
    low_window: f64,
    low_window_of_reno: bool,
    round_rtt_of: RoundRtt,

    /// Bytes of `TcpState::cwnd` that are the delay window.
    dwnd: u64,
    gamma: f64,
    base_rtt: Duration,
    round: Round,
    sum: Duration,
    samples: u64,
    least: Duration,
    last: Duration,
    /// Segments that Reno's window had queued in the last round.
    diff_reno: Option<f64>,
    timed_out: bool,
    /// `dwnd` and `gamma` before the latest loss event, for an undo.
    prior: (u64, f64),
}

#[derive(Clone, Copy, Debug)]
enum RoundRtt {
    Mean,
    Least,
    Last,
}

impl DelayWindow {
    fn new(parameters: &Parameters) -> Self {
        let gamma = parameters.number("gamma");
        Self {
            alpha: parameters.number("alpha"),
            k: parameters.number("k"),
            eta: parameters.number("eta"),
            gamma_high: gamma,
            gamma_low: parameters.number("gamma_low").min(gamma),
            tuning: parameters.flag("gamma_tuning"),
            lambda: parameters.number("lambda"),
            low_window: parameters.number("low_window"),
            low_window_of_reno: parameters.text("low_window_of") == "cwnd",
            round_rtt_of: match parameters.text("rtt") {
                "least" => RoundRtt::Least,
                "last" => RoundRtt::Last,
                _ => RoundRtt::Mean,
            },
            dwnd: 0,
            gamma,
            base_rtt: Duration::MAX,
            round: Round::default(),
            sum: Duration::ZERO,
            samples: 0,
            least: Duration::MAX,
            last: Duration::ZERO,
            diff_reno: None,
            timed_out: false,
            prior: (0, gamma),
        }
    }

    /// The connection is established.
    fn start(&mut self, tcp: &TcpState) {
        self.begin_round(tcp);
    }

    fn begin_round(&mut self, tcp: &TcpState) {
        self.round.begin(tcp);
        self.clear_round();
    }

    fn clear_round(&mut self) {
        (self.sum, self.samples, self.least) = (Duration::ZERO, 0, Duration::MAX);
    }

    /// Every ACK: its RTT.
    fn on_ack(&mut self, tcp: &TcpState, ack: &AckSample) {
        if tcp.in_slow_start() {
            // The first round of congestion avoidance begins when slow start ends.
            self.begin_round(tcp);
        }
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.least = self.least.min(rtt);
            self.last = rtt;
            self.sum += rtt;
            self.samples += 1;
        }
        // A window that something else has cut takes the delay window with it.
        self.dwnd = self.dwnd.min(tcp.cwnd.saturating_sub(tcp.mss));
    }

    /// An ACK in congestion avoidance: at the end of a round the delay window, and with it the window,
    /// changes.
    fn grow(&mut self, tcp: &mut TcpState) {
        if !self.round.over(tcp) || self.samples == 0 {
            return;
        }
        let rtt = match self.round_rtt_of {
            RoundRtt::Mean => self.sum / self.samples,
            RoundRtt::Least => self.least,
            RoundRtt::Last => self.last,
        };
        self.clear_round();

        let mss = tcp.mss as f64;
        let queueing = rtt.saturating_sub(self.base_rtt).as_nanos() as f64 / rtt.as_nanos().max(1) as f64;
        let win = tcp.cwnd as f64 / mss;
        let reno = (tcp.cwnd - self.dwnd) as f64 / mss;
        let diff = win * queueing;
        self.diff_reno = Some(reno * queueing);
        if (if self.low_window_of_reno { reno } else { win }) < self.low_window {
            return;
        }
        let change = if diff < self.gamma {
            (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            (-self.eta * diff).max(-(self.dwnd as f64) / mss)
        };
        let reno = tcp.cwnd - self.dwnd;
        self.dwnd = (self.dwnd as f64 + change * mss).max(0.0) as u64;
        tcp.cwnd = reno + self.dwnd;
    }

    /// Duplicate ACKs told of a loss. Of the new `window` Reno's part is half of what it was; `None`: all of
    /// it.
    fn on_loss(&mut self, tcp: &TcpState, window: Option<u64>) {
        self.prior = (self.dwnd, self.gamma);
        let reno = tcp.flight_size.saturating_sub(self.dwnd) / 2;
        self.dwnd = window.map_or(0, |window| window.saturating_sub(reno.max(tcp.mss)));
        if self.tuning
            && let Some(diff) = self.diff_reno.take()
        {
            let gamma = (1.0 - self.lambda) * self.gamma + self.lambda * 0.75 * diff;
            self.gamma = gamma.clamp(self.gamma_low, self.gamma_high);
        }
    }

    /// Whether the loss event in progress is a timeout; asked once.
    fn take_timeout(&mut self) -> bool {
        std::mem::take(&mut self.timed_out)
    }

    fn on_state(&mut self, tcp: &TcpState, state: CaState) {
        if state == CaState::Open {
            // A timeout that did not ask for ssthresh, being the second of a segment, is over.
            self.timed_out = false;
        }
        if state == CaState::Open && tcp.ca_state != CaState::Disorder {
            self.begin_round(tcp);
        } else if state == CaState::Loss {
            // A timeout, or Tahoe's fast retransmit: slow start has no delay window.
            self.timed_out = false;
            self.dwnd = 0;
        }
    }

    fn on_event(&mut self, tcp: &TcpState, event: CaEvent) {
        match event {
            CaEvent::Loss => {
                // A timeout again is no new loss event to undo.
                if tcp.ca_state != CaState::Loss {
                    self.prior = (self.dwnd, self.gamma);
                }
                self.timed_out = true;
                self.dwnd = 0;
                self.gamma = self.gamma_high;
                self.diff_reno = None;
            }
            // The window restarts from its initial value, by slow start.
            CaEvent::CwndRestart => self.dwnd = 0,
            CaEvent::CompleteCwr => self.dwnd = self.dwnd.min(tcp.cwnd.saturating_sub(tcp.mss)),
            CaEvent::TxStart | CaEvent::Frozen | CaEvent::Thawed => {}
        }
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        show("dwnd_segments", self.dwnd as f64 / tcp.mss as f64);
        show("gamma_segments", self.gamma);
        show("base_rtt_s", super::seconds(self.base_rtt));
    }

    /// The latest loss event was none.
    fn undo(&mut self) {
        (self.dwnd, self.gamma) = self.prior;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{MSS, ack, tcp};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn compound(parameters: &[(&str, ParameterValue)]) -> Compound {
        let mut table = Parameters::new();
        for (name, value) in parameters {
            table.set(name, value.clone());
        }
        Compound::new(&table.resolve(NAME, INFO.parameters).unwrap())
    }

    /// A connection in congestion avoidance, its base RTT 100 ms.
    fn avoiding(control: &mut Compound, segments: u64) -> TcpState {
        let mut tcp = tcp(segments);
        tcp.ssthresh = 2 * MSS;
        control.init(Time::ZERO, &mut tcp);
        control.delay.base_rtt = ms(100);
        tcp
    }

    /// One round: its samples, and the ACK that ends it, without Reno's growth.
    fn round(control: &mut Compound, tcp: &mut TcpState, rtts: &[u64]) {
        tcp.snd_una = tcp.snd_nxt + MSS;
        tcp.snd_nxt = tcp.snd_una + tcp.cwnd;
        for &rtt in rtts {
            control.pkts_acked(Time::ZERO, tcp, &ack(0, ms(rtt)));
        }
        control.delay.grow(tcp);
    }

    #[test]
    fn the_delay_window_grows_by_alpha_win_to_the_k() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 256);
        // 256^0.75 = 64; 64 / 8 - 1 = 7 segments.
        round(&mut control, &mut tcp, &[100]);
        assert_eq!((tcp.cwnd, control.delay.dwnd), (263 * MSS, 7 * MSS));
        // diff = 263 * 10/110 = 23.9 < 30: it still grows, by 263^0.75 / 8 - 1 = 7.163.
        round(&mut control, &mut tcp, &[110]);
        assert_eq!(control.delay.dwnd, 7000 + 7163);
    }

    #[test]
    fn the_delay_window_shrinks_by_eta_diff() {
        for (eta, left) in [(1.0, 90_000), (0.5, 95_000)] {
            let mut control = compound(&[("eta", ParameterValue::Number(eta))]);
            let mut tcp = avoiding(&mut control, 250);
            control.delay.dwnd = 100 * MSS;
            control.delay.gamma = 10.0;
            // Mean of 100, 105, 107.5...: 250 * (rtt - base)/rtt = 10 at rtt = 104.1666 ms.
            control.delay.sum = Duration::from_nanos(104_166_667 * 3);
            control.delay.samples = 3;
            round(&mut control, &mut tcp, &[]);
            assert!(control.delay.dwnd.abs_diff(left) <= 1, "{}", control.delay.dwnd);
            assert_eq!(tcp.cwnd, 150 * MSS + control.delay.dwnd);
        }
        // Never below zero.
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 250);
        control.delay.dwnd = 3 * MSS;
        round(&mut control, &mut tcp, &[200]);
        assert_eq!((tcp.cwnd, control.delay.dwnd), (247 * MSS, 0));
    }

    #[test]
    fn a_rounds_rtt_is_mean_least_or_last() {
        for (which, dwnd) in [("mean", 0), ("least", 1), ("last", 1)] {
            let mut control = compound(&[("rtt", ParameterValue::Text(which.into()))]);
            let mut tcp = avoiding(&mut control, 100);
            // diff: mean of 100, 300, 110 is 170 ms: 41; least 0; last 9.
            round(&mut control, &mut tcp, &[100, 300, 110]);
            assert_eq!(control.delay.dwnd.min(1), dwnd, "{which}");
        }
    }

    #[test]
    fn no_delay_window_below_the_low_window() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 37);
        round(&mut control, &mut tcp, &[100]);
        assert_eq!((tcp.cwnd, control.delay.dwnd), (37 * MSS, 0));
        tcp.cwnd = 38 * MSS;
        round(&mut control, &mut tcp, &[100]);
        // 38^0.75 / 8 - 1 = 0.9132.
        assert_eq!(control.delay.dwnd, 913);

        let mut control = compound(&[("low_window_of", ParameterValue::Text("cwnd".into()))]);
        let mut tcp = avoiding(&mut control, 60);
        control.delay.dwnd = 30 * MSS;
        round(&mut control, &mut tcp, &[100]);
        assert_eq!(control.delay.dwnd, 30 * MSS, "Reno's part is 30");
    }

    #[test]
    fn a_loss_leaves_half_of_both() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 100);
        control.delay.dwnd = 40 * MSS;
        // (1 - 1/2) * 100 = 50; Reno's 60 becomes 30; dwnd = 20.
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 50 * MSS);
        assert_eq!(control.delay.dwnd, 20 * MSS);
        (tcp.cwnd, tcp.ssthresh) = (50 * MSS, 50 * MSS);
        control.set_state(Time::ZERO, &mut tcp, CaState::Recovery);
        control.cwnd_event(Time::ZERO, &mut tcp, CaEvent::CompleteCwr);
        assert_eq!(control.delay.dwnd, 20 * MSS);

        // Zhou's: half, and no delay window.
        let mut control = compound(&[("after_loss", ParameterValue::Text("none".into()))]);
        let tcp = avoiding(&mut control, 100);
        control.delay.dwnd = 40 * MSS;
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 50 * MSS);
        assert_eq!(control.delay.dwnd, 0);

        // beta 0.2 and no delay window yet: 80, of which 30 are dwnd's.
        let mut control = compound(&[("beta", ParameterValue::Number(0.2))]);
        let tcp = avoiding(&mut control, 100);
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 80 * MSS);
        assert_eq!(control.delay.dwnd, 30 * MSS);
    }

    #[test]
    fn a_timeout_ends_the_delay_window_and_an_undo_restores_it() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 100);
        control.delay.dwnd = 40 * MSS;
        control.delay.gamma = 12.0;
        control.cwnd_event(Time::ZERO, &mut tcp, CaEvent::Loss);
        assert_eq!(control.ssthresh(Time::ZERO, &tcp), 50 * MSS);
        tcp.prior_cwnd = tcp.cwnd;
        tcp.cwnd = MSS;
        control.set_state(Time::ZERO, &mut tcp, CaState::Loss);
        assert_eq!((control.delay.dwnd, control.delay.gamma), (0, 30.0));
        assert_eq!(control.undo_cwnd(Time::ZERO, &tcp), 100 * MSS);
        assert_eq!((control.delay.dwnd, control.delay.gamma), (40 * MSS, 12.0));
    }

    #[test]
    fn gamma_is_tuned_at_a_loss() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 100);
        control.delay.dwnd = 20 * MSS;
        control.delay.gamma = 20.0;
        // Reno's 80 segments queue 80 * 10/110 = 7.27: 0.8 * 20 + 0.2 * 0.75 * 7.27 = 17.09.
        round(&mut control, &mut tcp, &[110]);
        control.ssthresh(Time::ZERO, &tcp);
        assert!((control.delay.gamma - 17.0909).abs() < 1e-3, "{}", control.delay.gamma);
        // No new round, no new value; and never below gamma_low.
        control.ssthresh(Time::ZERO, &tcp);
        assert!((control.delay.gamma - 17.0909).abs() < 1e-3);
        for _ in 0..40 {
            round(&mut control, &mut tcp, &[100]);
            control.ssthresh(Time::ZERO, &tcp);
        }
        assert_eq!(control.delay.gamma, 5.0);
    }

    #[test]
    fn grows_as_reno_besides() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 20);
        for _ in 0..20 {
            tcp.snd_una += MSS;
            tcp.snd_nxt += MSS;
            let sample = ack(MSS, ms(100));
            control.pkts_acked(Time::ZERO, &mut tcp, &sample);
            control.cong_avoid(Time::ZERO, &mut tcp, &sample);
        }
        assert_eq!((tcp.cwnd, control.delay.dwnd), (21 * MSS, 0));
    }

    #[test]
    fn what_it_shows_is_in_the_units_that_it_says() {
        let mut control = compound(&[]);
        let tcp = avoiding(&mut control, 100);
        control.delay.dwnd = 30 * MSS;
        let mut shown = Vec::new();
        control.observe(&tcp, &mut |name, value| shown.push((name.to_owned(), value)));
        assert_eq!(shown[0], ("dwnd_segments".to_owned(), 30.0));
        assert_eq!(shown[2], ("base_rtt_s".to_owned(), 0.1));
    }

    /// A timeout that asked for no ssthresh, the second of a segment, is over with recovery.
    #[test]
    fn a_repeated_timeout_does_not_outlast_recovery() {
        let mut control = compound(&[]);
        let mut tcp = avoiding(&mut control, 100);
        tcp.ca_state = CaState::Loss;
        control.delay.on_event(&tcp, CaEvent::Loss);
        control.delay.on_state(&tcp, CaState::Open);
        assert!(!control.delay.take_timeout());
    }
}
