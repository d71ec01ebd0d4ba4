//! CUBIC as Linux computes it (`rules = "linux"`), which differs from RFC 9438 in what is measurable.
//!
//! ```text
//! loss:     W_max = cwnd, or cwnd (1 + beta) / 2 when that is less than the last W_max;
//!           ssthresh = beta cwnd (not FlightSize)
//! epoch:    K = cbrt((W_max - cwnd) / C), 0 above W_max;  target = W_cubic(t + least RTT), in whole numbers:
//!           t and K in 1/1024 s, C in 1/1024 (0.4004 for 0.4), the root by one step of Newton's method
//! per ACK:  a segment for every cwnd / (target - cwnd) segments acknowledged, at least 2, at most 100 cwnd;
//!           at most 20 while no loss has been seen: 5 % per round trip
//! Reno:     W_est grows by one for every 15/8 cwnd segments, also beyond cwnd_prior
//!           (RFC 9438: alpha = 1 from there on)
//! timeout:  everything is forgotten: W_max, the epoch, the least RTT
//! clock:    ticks of 4 ms; while cwnd is constant the count of ACKs per segment is computed
//!           again after 28 ms, and else once a tick
//! ```
//!
//! Slow start ends by HyStart (Ha and Rhee, "Taming the elephants", 2011), not by HyStart++: at once, in two
//! cases. The ACKs of a round trip have arrived without a pause for half of the minimum RTT. Or the least RTT
//! of its first eight ACKs exceeds the minimum by an eighth, within 4 to 16 ms. After a timeout HyStart is on
//! again.
//!
//! Windows are whole segments. Written from the kernel's behaviour (Linux 6.18) and these papers;
//! `cogtcp agree` compares the two. Departures: the ticks begin with the run, whatever
//! [`Timers::timer_phase`](crate::Timers::timer_phase) is; the minimum RTT is taken from the
//! sender's ACK samples.

use super::super::jiffies::Jiffies;
use super::super::{
    AckSample, CaEvent, CaState, CongestionControl, PacketInfo, Parameters, TcpState, growth,
};
use super::NAME;
use crate::micros;
use cogtcp_units::{Duration, Time};

/// Parts of one that beta is a multiple of.
const BETA_SCALE: u64 = 1024;
/// Parts of one that C is a multiple of.
const C_SCALE: u64 = 1024;
/// Parts of a second in which an epoch counts (`BICTCP_HZ`), as a power of two.
const T_BITS: u32 = 10;
/// ACKs that come closer to each other than this are a train (`hystart_ack_delta_us`).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// What offloading may delay a train by (`hystart_ack_delay`): below 250 MB/s it is this.
const OFFLOAD_DELAY: Duration = Duration::from_millis(1);
/// HyStart looks at windows of so many segments (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// Samples of a round (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// Bounds of the rise of the RTT (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const LEAST_RISE: Duration = Duration::from_millis(4);
const MOST_RISE: Duration = Duration::from_millis(16);
/// The count holds for this part of a second, in whole jiffies, while cwnd does not change (`bictcp_update`).
const HOLDS: u64 = 32;
/// Segments acknowledged per segment of growth, at most, while no loss has been seen.
const UNKNOWN_COUNT: u64 = 20;

/// The state of one connection. Windows are segments.
#[derive(Clone, Debug, Default)]
pub(super) struct LinuxCubic {
    /// C, of [`C_SCALE`].
    c: u64,
    /// Of [`BETA_SCALE`].
    beta: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    hystart: Option<HyStart>,
    /// Window at the last loss, after fast convergence; zero: none, or a timeout came since.
    w_max: u64,
    epoch: Option<Epoch>,
    /// Segments to be acknowledged for one segment of growth, by the cubic or Reno's window; the jiffy and
    /// cwnd for which it was made.
    count: u64,
    counted_at: u64,
    counted_cwnd: u64,
    /// Reno's window, and the segments acknowledged since it last grew.
    w_est: u64,
    acked: u64,
    /// Least RTT; [`Duration::MAX`]: none yet.
    least_rtt: Duration,
    /// Segments acknowledged and not yet turned into growth.
    credit: u64,
    /// Bytes acknowledged that are no whole segment yet.
    bytes: u64,
    last_sent: Time,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Jiffies.
    start: u64,
    /// In 1/1024 s.
    k: u64,
    origin: u64,
}

impl LinuxCubic {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            c: (libm::round(parameters.number("c") * C_SCALE as f64) as u64).max(1),
            beta: libm::ceil(parameters.number("beta") * BETA_SCALE as f64) as u64,
            fast_convergence: parameters.flag("fast_convergence"),
            reno_friendly: parameters.flag("reno_friendly"),
            hystart: parameters.flag("hystart").then(HyStart::default),
            least_rtt: Duration::MAX,
            ..Self::default()
        }
    }

    /// What a timeout leaves.
    fn forget(&mut self) {
        (self.w_max, self.epoch, self.least_rtt) = (0, None, Duration::MAX);
        (self.counted_at, self.counted_cwnd) = (0, 0);
        if let Some(hystart) = &mut self.hystart {
            hystart.is_over = false;
        }
    }

    /// Segments to be acknowledged for one segment of growth (`bictcp_update`).
    fn count(&mut self, now: Time, clock: Jiffies, cwnd: u64, acked: u64) -> u64 {
        let jiffy = clock.at(now);
        self.acked += acked;
        if self.counted_cwnd == cwnd && jiffy - self.counted_at <= clock.second() / HOLDS {
            return self.count;
        }
        if self.epoch.is_none() || jiffy != self.counted_at {
            (self.counted_cwnd, self.counted_at) = (cwnd, jiffy);
            self.count = self.cubic_count(jiffy, clock, cwnd, acked);
        }
        if self.reno_friendly {
            // 15/8 of cwnd with the kernel's beta.
            let scale = 8 * (BETA_SCALE + self.beta) / 3 / (BETA_SCALE - self.beta).max(1);
            let step = (cwnd.saturating_mul(scale) / 8).max(1);
            // What is left of a step counts for the next.
            let steps = self.acked.saturating_sub(1) / step;
            self.acked -= steps * step;
            self.w_est += steps;
            if self.w_est > cwnd {
                self.count = self.count.min(cwnd / (self.w_est - cwnd));
            }
        }
        self.count = self.count.max(2);
        self.count
    }

    /// By the cubic alone; the first time since a loss its epoch begins.
    fn cubic_count(&mut self, jiffy: u64, clock: Jiffies, cwnd: u64, acked: u64) -> u64 {
        let (c, w_max) = (self.c, self.w_max);
        if self.epoch.is_none() {
            (self.w_est, self.acked) = (cwnd, acked);
        }
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(c, jiffy, cwnd, w_max));
        let lead = if self.least_rtt == Duration::MAX { 0 } else { clock.of(self.least_rtt) };
        let t = ((jiffy.saturating_sub(epoch.start) + lead) << T_BITS) / clock.second();
        let target = epoch.target(c, t);
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if w_max == 0 { count.min(UNKNOWN_COUNT) } else { count }
    }
}

impl Epoch {
    fn new(c: u64, start: u64, cwnd: u64, w_max: u64) -> Self {
        let k = root(((C_SCALE << (3 * T_BITS)) / c).saturating_mul(w_max.saturating_sub(cwnd)));
        Self { start, k, origin: w_max.max(cwnd) }
    }

    /// W_cubic after `t` (1/1024 s), in whole segments.
    fn target(&self, c: u64, t: u64) -> u64 {
        // Some months more make no difference.
        let offset = u128::from(t.abs_diff(self.k).min(1 << 34));
        let delta = (u128::from(c) * offset * offset * offset) / (u128::from(C_SCALE) << (3 * T_BITS));
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) }
    }
}

/// The cube root of `a`, by one step of Newton's method as Linux takes it: within half of a percent. Departure: Linux
/// takes its first guess from a table. Here it is a line through the roots of the leading bits, some 3.6 % above them as
/// the table's values are. Of 300 depths of a loss, 242 have Linux's K, the others a K that is 0.1 % off at most.
fn root(a: u64) -> u64 {
    let bits = 64 - a.leading_zeros();
    if bits < 7 {
        return libm::cbrt(a as f64) as u64;
    }
    let shift = bits * 84 / 256 - 1;
    let guess = (libm::round(65.74 * libm::cbrt((a >> (3 * shift)) as f64) + 2.0) as u64) << shift >> 6;
    (2 * guess + a / (guess * (guess - 1))) * 341 / 1024
}

impl CongestionControl for LinuxCubic {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        if let Some(hystart) = &mut self.hystart {
            hystart.begin_round(now, tcp);
        }
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        let cwnd = tcp.cwnd / tcp.mss;
        // `tcp_init_cwnd_reduction`, `tcp_enter_loss`: the credit ends with each response.
        (self.epoch, self.credit) = (None, 0);
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            cwnd * (BETA_SCALE + self.beta) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        (cwnd * self.beta / BETA_SCALE).max(2) * tcp.mss
    }

    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.bytes += ack.acked;
        let mut acked = self.bytes / tcp.mss;
        self.bytes %= tcp.mss;
        let mut cwnd = tcp.cwnd / tcp.mss;
        if tcp.in_slow_start() {
            // Slow start ends at ssthresh; what is acknowledged beyond that counts for congestion avoidance.
            acked = growth::slow_start_to_ssthresh(tcp, acked * tcp.mss) / tcp.mss;
            if acked == 0 {
                return;
            }
            cwnd = tcp.cwnd / tcp.mss;
        }
        let count = self.count(now, Jiffies::of_host(tcp), cwnd, acked);
        // Credit that was gathered at a larger count is worth one segment, not many.
        if self.credit >= count {
            self.credit = 0;
            tcp.cwnd += tcp.mss;
        }
        self.credit += acked;
        tcp.cwnd += self.credit / count * tcp.mss;
        self.credit %= count;
    }

    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {
        // Linux's clock of TCP counts microseconds.
        let Some(rtt) = ack.rtt.map(|rtt| micros::whole(rtt).max(Duration::from_micros(1))) else { return };
        // RTTs of an epoch's first second belong to the recovery.
        let clock = Jiffies::of_host(tcp);
        if self.epoch.is_some_and(|epoch| clock.at(now).saturating_sub(epoch.start) < clock.second()) {
            return;
        }
        self.least_rtt = self.least_rtt.min(rtt);
        if tcp.in_slow_start()
            && let Some(hystart) = &mut self.hystart
            && hystart.on_ack(now, tcp, rtt, self.least_rtt)
        {
            tcp.ssthresh = tcp.cwnd;
        }
    }

    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::TxStart
            && let Some(epoch) = &mut self.epoch
        {
            // Idle time does not count: the epoch begins later by the time since the last transmission.
            let clock = Jiffies::of_host(tcp);
            let (now, last) = (clock.at(now), clock.at(self.last_sent));
            epoch.start = (epoch.start + now.saturating_sub(last)).min(now);
        }
    }

    fn set_state(&mut self, now: Time, tcp: &mut TcpState, state: CaState) {
        if state == CaState::Loss {
            self.forget();
            if let Some(hystart) = &mut self.hystart {
                hystart.begin_round(now, tcp);
            }
        }
    }

    fn on_packet_sent(&mut self, now: Time, _tcp: &mut TcpState, _packet: &PacketInfo) {
        self.last_sent = now;
    }

    fn observe(&self, _tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let of_epoch = |value: fn(&Epoch) -> f64| self.epoch.as_ref().map_or(f64::NAN, value);
        show("w_max_segments", of_epoch(|epoch| epoch.origin as f64));
        show("w_est_segments", if self.epoch.is_some() { self.w_est as f64 } else { f64::NAN });
        show("k_s", of_epoch(|epoch| epoch.k as f64 / f64::from(1u32 << T_BITS)));
    }
}

/// HyStart: the end of slow start by the length of a train of ACKs, or by a rise of the RTT.
#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    is_over: bool,
    round_start: Time,
    /// The last ACK of the train that began with the round.
    last_ack: Time,
    /// The round is over when more than this is acknowledged.
    round_end: u64,
    /// Least RTT of the round; `None`: no sample yet.
    round_rtt: Option<Duration>,
    samples: u32,
}

impl HyStart {
    fn begin_round(&mut self, now: Time, tcp: &TcpState) {
        let is_over = self.is_over;
        let now = micros::clock(now);
        *self = Self { is_over, round_start: now, last_ack: now, round_end: tcp.snd_nxt, ..Self::default() };
    }

    /// True when slow start is over.
    fn on_ack(&mut self, now: Time, tcp: &TcpState, rtt: Duration, least_rtt: Duration) -> bool {
        let now = micros::clock(now);
        if self.is_over {
            return false;
        }
        if tcp.snd_una > self.round_end {
            self.begin_round(now, tcp);
        }
        if tcp.cwnd < LOW_WINDOW * tcp.mss {
            return false;
        }
        if now.saturating_since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = now;
            let half = micros::whole((least_rtt + OFFLOAD_DELAY) / 2);
            self.is_over |= now.saturating_since(self.round_start) > half;
        }
        let round_rtt = self.round_rtt.map_or(rtt, |known| known.min(rtt));
        self.round_rtt = Some(round_rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            self.is_over |= round_rtt > least_rtt + micros::whole(least_rtt / 8).clamp(LEAST_RISE, MOST_RISE);
        }
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ParameterValue;
    use crate::congestion::testing::{Bench, MSS};

    fn bench(segments: u64) -> Bench {
        let rules = ParameterValue::Text("linux".to_owned());
        Bench::new(NAME, &[("rules", rules), ("hystart", ParameterValue::Flag(true))], segments)
    }

    const RTT: Duration = Duration::from_millis(100);

    /// 717/1024 of the window, whole: 100 to 70, 15 to 10 (10.5), never below 2; of cwnd and not of what is
    /// in flight.
    #[test]
    fn a_loss_leaves_seven_tenths_of_cwnd() {
        for (segments, left) in [(100, 70), (15, 10), (2, 2)] {
            let mut bench = bench(segments);
            bench.tcp.flight_size = MSS;
            assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp), left * MSS, "{segments}");
        }
    }

    /// One step of Newton's method is within half of a percent; 100 segments below W_max are 6.300 s of 6.297.
    #[test]
    fn the_root_is_a_step_of_newtons_method() {
        for exponent in 7..40 {
            for a in [1u64 << exponent, (1 << exponent) * 3 / 2] {
                let (exact, found) = (libm::cbrt(a as f64), root(a) as f64);
                assert!((found - exact).abs() <= exact * 0.006 + 1.0, "{a}: {found} for {exact}");
            }
        }
        assert_eq!(Epoch::new(410, 0, 100, 200).k, 6451);
    }

    /// `tcp_init_cwnd_reduction`: 15 segments acknowledged before a loss count for nothing after it.
    #[test]
    fn a_loss_ends_the_credit() {
        let mut bench = bench(100);
        bench.tcp.ssthresh = 100 * MSS;
        (0..15).for_each(|_| bench.ack(MSS, RTT));
        bench.loss();
        let before = bench.segments();
        (0..10).for_each(|_| bench.ack(MSS, RTT));
        assert_eq!(bench.segments(), before);
    }

    /// `bictcp_state`: a timeout forgets W_max; the next loss has one, though a second timeout, which lowered nothing, lay
    /// between.
    #[test]
    fn the_loss_after_two_timeouts_is_remembered() {
        let mut bench = bench(100);
        for is_first in [true, false] {
            bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::Loss);
            if is_first {
                bench.control.ssthresh(bench.now, &bench.tcp);
            }
            bench.control.set_state(bench.now, &mut bench.tcp, CaState::Loss);
        }
        bench.loss();
        bench.ack(MSS, RTT);
        let mut w_max = f64::NAN;
        bench.control.observe(&bench.tcp, &mut |name, value| {
            if name == "w_max_segments" {
                w_max = value;
            }
        });
        assert_eq!(w_max, 100.0);
    }

    /// Without a loss a segment per 20 acknowledged: 5 % of 100 in a round trip, with t near zero.
    #[test]
    fn growth_before_any_loss_is_a_twentieth_of_the_window() {
        let mut bench = bench(100);
        bench.tcp.ssthresh = 100 * MSS;
        bench.round(RTT);
        assert_eq!(bench.segments(), 105.0);
    }

    /// W_max = 1000, cwnd = 700: K = cbrt(300 / 0.4) = 9.086 s. After 5 s: 1000 - 0.4 (9.086 - 5.1)^3 =
    /// 974.7.
    #[test]
    fn the_window_follows_the_cubic() {
        let mut bench = bench(1000);
        bench.loss();
        assert_eq!(bench.segments(), 700.0);
        for _ in 0..50 {
            bench.round(RTT);
        }
        assert!((970.0..977.0).contains(&bench.segments()), "{}", bench.segments());
    }

    /// 20 segments and 10 ms: the cubic is flat, W_est grows by 8/15 of a segment a round, beyond the window
    /// of the loss too.
    #[test]
    fn the_reno_friendly_window_never_grows_by_one_a_round() {
        let mut bench = bench(20);
        bench.loss();
        assert_eq!(bench.segments(), 14.0);
        for _ in 0..60 {
            bench.round(Duration::from_millis(10));
        }
        // 60 * 8 / 15 = 32, less what whole segments lose.
        assert!((40.0..48.0).contains(&bench.segments()), "{}", bench.segments());
    }

    /// Rounds of 100 ms, then one of 113: more than an eighth above the least. Slow start ends within that
    /// round.
    #[test]
    fn a_rise_of_the_rtt_ends_slow_start_at_once() {
        let mut bench = bench(20);
        bench.round(RTT);
        assert!(bench.tcp.in_slow_start());
        bench.round(Duration::from_millis(112));
        assert!(bench.tcp.in_slow_start(), "12 ms are no rise over 12.5");
        bench.round(Duration::from_millis(113));
        assert!(!bench.tcp.in_slow_start());
        assert!(bench.tcp.ssthresh < 160 * MSS);
    }

    /// ACKs 1 ms apart for over 50.5 ms, half of 100 ms and the delay of offloading.
    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        let mut hystart = HyStart::default();
        let mut tcp = crate::congestion::testing::tcp(100);
        (tcp.snd_una, tcp.snd_nxt) = (0, 100 * MSS);
        hystart.begin_round(Time::ZERO, &tcp);
        let over = (1..=60).find(|ms| hystart.on_ack(Time::from_millis(*ms), &tcp, RTT, RTT));
        assert_eq!(over, Some(51));
        // A pause of 3 ms breaks the train for the rest of the round.
        let mut hystart = HyStart::default();
        hystart.begin_round(Time::ZERO, &tcp);
        let ack = |ms: u64| Time::from_millis(if ms < 20 { ms } else { ms + 3 });
        assert!((1..=60).all(|ms| !hystart.on_ack(ack(ms), &tcp, RTT, RTT)));
    }

    /// After a timeout nothing is known: 5 % per round trip again above ssthresh.
    #[test]
    fn a_timeout_forgets_all() {
        let mut bench = bench(100);
        bench.loss();
        bench.timeout();
        bench.tcp.cwnd = bench.tcp.ssthresh;
        let before = bench.segments();
        bench.round(RTT);
        assert!(bench.segments() >= before + (before / 20.0).floor(), "{before} {}", bench.segments());
    }

    /// A least RTT of 100 ms, and a round that began at 1 s. Returns whether ACKs at these ms, with RTTs of so many,
    /// end slow start.
    fn ends(segments: u64, acks: impl IntoIterator<Item = (u64, u64)>) -> bool {
        let mut hystart = HyStart::default();
        let state = crate::congestion::testing::tcp(segments);
        hystart.begin_round(Time::from_millis(1000), &state);
        let ms = Duration::from_millis;
        acks.into_iter()
            .fold(false, |_, (at, rtt)| hystart.on_ack(Time::from_millis(at), &state, ms(rtt), ms(100)))
    }

    /// An RTT that rose by an eighth, 12.5 ms, ends slow start with the ninth sample. The least of the round counts,
    /// and windows under 16 segments are left alone. ACKs are 3 ms apart: no train.
    #[test]
    fn a_rise_of_the_rtt_ends_slow_start() {
        let risen = |count: u64, rtt: u64| (0..count).map(move |number| (1003 + 3 * number, rtt));
        assert!(!ends(16, risen(8, 113)) && ends(16, risen(9, 113)) && !ends(16, risen(9, 112)));
        assert!(!ends(15, risen(9, 113)));
        assert!(!ends(16, [(1003, 112)].into_iter().chain((1..9).map(|n| (1003 + 3 * n, 113)))));
        assert!(!ends(16, (0..8).map(|n| (1003 + 3 * n, 113)).chain([(1030, 100)])));
        // Once over it is told no more.
        assert!(!ends(16, risen(10, 113)));
    }

    /// A train of ACKs, each within 2 ms of the one before, that lasts over half of the least RTT, 50.5 ms with the
    /// delay of offloading.
    #[test]
    fn a_long_train_of_acks_ends_slow_start() {
        let train = |gap: u64, until: u64| (1..=until / gap).map(move |number| (1000 + gap * number, 100));
        assert!(!ends(16, train(2, 50)) && ends(16, train(2, 52)) && ends(16, train(1, 51)));
        assert!(!ends(16, train(3, 60)), "it is no train");
    }

    /// W_cubic by hand, of C = 410/1024 and K = 2 s. It is 100 - 0.4 x 8 at first, and 100 at 2 s. Three seconds later
    /// it is 100 + 0.4 x 27.
    #[test]
    fn the_cubic_by_hand() {
        let epoch = Epoch { start: 0, k: 2048, origin: 100 };
        assert_eq!([0, 1024, 2048, 3072, 5120].map(|t| epoch.target(410, t)), [97, 100, 100, 100, 110]);
        assert_eq!(Epoch { start: 0, k: 1 << 20, origin: 5 }.target(410, 0), 0);
        assert_eq!((0..64).map(root).collect::<Vec<_>>()[..9], [0, 1, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!([26, 27, 63, 64].map(root), [2, 3, 3, 4]);
        // Below the window there is no depth: K is 0.
        let flat = Epoch::new(410, 7, 20, 10);
        assert_eq!((flat.start, flat.k, flat.origin), (7, 0, 20));
    }
}
