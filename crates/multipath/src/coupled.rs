//! Coupled congestion controls: LIA (RFC 6356), OLIA (draft-khalili-mptcp-congestion-control-05), BALIA
//! (draft-walid-mptcp-congestion-control-04).
//!
//! Each changes congestion avoidance; BALIA changes the reduction after a loss too. Slow start is RFC 5681's,
//! with one segment for each ACK at most. On one path all three are Reno.

use crate::Coupling;
use cogtcp_transport::{AckSample, CaEvent, CaState, CongestionControl, TcpState};
use cogtcp_units::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the controls of a connection know of each other's subflows.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<Vec<Path>>>);

/// A subflow as the others see it; windows in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Path {
    /// The subflow is established and has a round-trip time.
    active: bool,
    cwnd: f64,
    /// Seconds.
    rtt: f64,
    /// OLIA's l_1 and l_2: bytes acknowledged between the last two losses, and since the last.
    between: f64,
    since: f64,
}

impl Path {
    /// Window over round-trip time.
    fn rate(&self) -> f64 {
        self.cwnd / self.rtt
    }

    /// OLIA's quality of a path, l / rtt^2 (its authors' code, multipath-tcp.org: mptcp_olia.c).
    fn quality(&self) -> f64 {
        self.between.max(self.since) / (self.rtt * self.rtt)
    }
}

impl Shared {
    fn paths(&self) -> MutexGuard<'_, Vec<Path>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A coupled control of one subflow.
#[derive(Debug)]
pub struct Coupled {
    coupling: Coupling,
    shared: Shared,
    index: usize,
    /// Growth below one byte; negative where OLIA takes back.
    credit: f64,
}

impl Coupled {
    /// The control of subflow `index`, which shares `shared` with the others of the connection. `coupling` is
    /// not [`Coupling::Uncoupled`].
    pub fn new(coupling: Coupling, shared: Shared, index: usize) -> Self {
        let mut paths = shared.paths();
        if paths.len() <= index {
            paths.resize(index + 1, Path::default());
        }
        paths[index] = Path::default();
        drop(paths);
        Self { coupling, shared, index, credit: 0.0 }
    }

    fn update(&self, tcp: &TcpState, change: impl FnOnce(&mut Path)) {
        let mut paths = self.shared.paths();
        let path = &mut paths[self.index];
        path.cwnd = tcp.cwnd as f64 / tcp.mss.max(1) as f64;
        path.rtt = tcp.srtt.as_secs_f64();
        path.active = path.rtt > 0.0;
        change(path);
    }

    /// Growth of the window in segments for each segment acknowledged.
    fn increase(&self, own: &Path) -> f64 {
        let paths = self.shared.paths();
        let active = || paths.iter().filter(|path| path.active);
        let rates: f64 = active().map(Path::rate).sum();
        match self.coupling {
            // RFC 6356 section 3: min(alpha / cwnd_total, 1 / cwnd_i), alpha of equation (2).
            Coupling::Lia => {
                let total: f64 = active().map(|path| path.cwnd).sum();
                let best = active().map(|path| path.rate() / path.rtt).fold(0.0, f64::max);
                let alpha = total * best / (rates * rates);
                (alpha / total).min(1.0 / own.cwnd)
            }
            // Section 2.2 of the draft: (w / rtt^2) / (sum of w / rtt)^2 + alpha / w.
            Coupling::Olia => {
                own.rate() / own.rtt / (rates * rates) + alpha_of_olia(&paths, self.index) / own.cwnd
            }
            // Section 3.1 of the draft.
            Coupling::Balia => {
                let alpha = alpha_of_balia(&paths, own);
                own.rate() / own.rtt / (rates * rates) * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0)
            }
            Coupling::Uncoupled => 1.0 / own.cwnd,
        }
    }

    fn own(&self) -> Path {
        self.shared.paths()[self.index]
    }
}

/// OLIA's alpha of path `index`: it moves window from the paths with the largest windows to the best paths,
/// where these are others.
fn alpha_of_olia(paths: &[Path], index: usize) -> f64 {
    let active = || paths.iter().enumerate().filter(|(_, path)| path.active);
    let largest = active().map(|(_, path)| path.cwnd).fold(0.0, f64::max);
    let best = active().map(|(_, path)| path.quality()).fold(0.0, f64::max);
    let is_largest = |path: &Path| path.cwnd >= largest;
    let is_collected = |path: &Path| path.quality() >= best && !is_largest(path);
    let count = active().count() as f64;
    let collected = active().filter(|(_, path)| is_collected(path)).count() as f64;
    let largest_count = active().filter(|(_, path)| is_largest(path)).count() as f64;
    let own = &paths[index];
    if collected == 0.0 {
        0.0
    } else if is_collected(own) {
        1.0 / (count * collected)
    } else if is_largest(own) {
        -1.0 / (count * largest_count)
    } else {
        0.0
    }
}

/// BALIA's alpha of `own`: the highest rate of all paths over its own.
fn alpha_of_balia(paths: &[Path], own: &Path) -> f64 {
    let best = paths.iter().filter(|path| path.active).map(Path::rate).fold(0.0, f64::max);
    if own.rate() > 0.0 { best / own.rate() } else { 1.0 }
}

impl CongestionControl for Coupled {
    fn name(&self) -> &str {
        self.coupling.name()
    }

    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        self.update(tcp, |_| {});
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.credit = 0.0;
        let several = self.shared.paths().iter().filter(|path| path.active).count() > 1;
        match self.coupling {
            // Section 3.1: the window falls by min(alpha, 1.5) / 2 of itself. FlightSize stands for the
            // window, as in RFC 5681.
            Coupling::Balia => {
                let own = self.own();
                let alpha = alpha_of_balia(&self.shared.paths(), &own);
                let kept = 1.0 - alpha.clamp(1.0, 1.5) / 2.0;
                ((tcp.flight_size as f64 * kept) as u64).max(2 * tcp.mss)
            }
            // Section 2.2: with several paths at least one segment in place of two.
            Coupling::Olia if several => (tcp.flight_size / 2).max(tcp.mss),
            _ => (tcp.flight_size / 2).max(2 * tcp.mss),
        }
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        if tcp.in_slow_start() {
            tcp.cwnd += ack.acked.min(tcp.mss);
            return self.update(tcp, |_| {});
        }
        let own = self.own();
        // Before the first round-trip time nothing is known of the others' shares.
        let growth = if own.active && own.cwnd > 0.0 { self.increase(&own) } else { 0.0 };
        self.credit += growth * ack.acked as f64;
        let whole = self.credit as i64;
        self.credit -= whole as f64;
        tcp.cwnd = tcp.cwnd.saturating_add_signed(whole).max(tcp.mss);
        self.update(tcp, |_| {});
    }

    fn pkts_acked(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        let acked = ack.acked as f64;
        self.update(tcp, |path| path.since += acked);
    }

    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        let is_loss = |state| matches!(state, CaState::Recovery | CaState::Loss | CaState::Cwr);
        // One loss event, however many states it passes through.
        if is_loss(state) && !is_loss(tcp.ca_state) {
            self.update(tcp, |path| {
                if path.since > 0.0 {
                    (path.between, path.since) = (path.since, 0.0);
                }
            });
        }
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::Loss {
            // A subflow that timed out is silent: the others see the window that is left to it.
            self.update(tcp, |path| path.cwnd = 1.0);
        }
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_transport::conformance::check_congestion_control;
    use cogtcp_units::Duration;

    const COUPLINGS: [Coupling; 3] = [Coupling::Lia, Coupling::Olia, Coupling::Balia];

    fn tcp(segments: u64, rtt: u64) -> TcpState {
        TcpState {
            cwnd: segments * 1000,
            ssthresh: 1000,
            srtt: Duration::from_millis(rtt),
            flight_size: segments * 1000,
            ..TcpState::new(1000, 10_000)
        }
    }

    /// Controls of two subflows with these windows and round-trip times.
    fn pair(coupling: Coupling, states: [(u64, u64); 2]) -> [(Coupled, TcpState); 2] {
        let shared = Shared::default();
        let made = [0, 1].map(|index| {
            let (segments, rtt) = states[index];
            (Coupled::new(coupling, shared.clone(), index), tcp(segments, rtt))
        });
        made.map(|(mut control, mut state)| {
            control.init(Time::ZERO, &mut state);
            (control, state)
        })
    }

    /// Growth in segments for a window acknowledged segment by segment, the window kept.
    fn growth((control, state): &mut (Coupled, TcpState)) -> f64 {
        let own = control.own();
        control.increase(&own) * state.cwnd as f64 / 1000.0
    }

    #[test]
    fn each_control_conforms() {
        for coupling in COUPLINGS {
            check_congestion_control(|| Box::new(Coupled::new(coupling, Shared::default(), 0))).unwrap();
        }
    }

    /// On one path a window grows by one segment per round trip and is halved by a loss: Reno.
    #[test]
    fn one_path_is_reno() {
        for coupling in COUPLINGS {
            let mut control = Coupled::new(coupling, Shared::default(), 0);
            let mut state = tcp(20, 100);
            control.init(Time::ZERO, &mut state);
            assert!((control.increase(&control.own()) - 1.0 / 20.0).abs() < 1e-12, "{coupling:?}");
            assert_eq!(control.ssthresh(Time::ZERO, &state), 10_000, "{coupling:?}");
            let ack = AckSample { acked: 1000, ..AckSample::default() };
            for _ in 0..20 {
                control.cong_avoid(Time::ZERO, &mut state, &ack);
            }
            assert!((20_900..=21_000).contains(&state.cwnd), "{coupling:?}: {}", state.cwnd);
        }
    }

    /// Slow start is RFC 5681's: what is acknowledged, one segment per ACK at most.
    #[test]
    fn slow_start_adds_at_most_a_segment_per_ack() {
        for coupling in COUPLINGS {
            let mut control = Coupled::new(coupling, Shared::default(), 0);
            let mut state = TcpState { ssthresh: u64::MAX, ..tcp(10, 100) };
            control.init(Time::ZERO, &mut state);
            for (acked, cwnd) in [(400, 10_400), (3000, 11_400)] {
                control.cong_avoid(Time::ZERO, &mut state, &AckSample { acked, ..AckSample::default() });
                assert_eq!(state.cwnd, cwnd, "{coupling:?}");
            }
        }
    }

    /// RFC 6356 equation (2) by hand. Windows 10 and 20, 100 ms and 50 ms: rates 100 and 400, alpha = 30 x
    /// max(1000, 8000) / 500^2 = 0.96. For each segment: min(0.96 / 30, 1 / cwnd) = 0.032.
    #[test]
    fn lia_by_hand() {
        let mut both = pair(Coupling::Lia, [(10, 100), (20, 50)]);
        assert!((growth(&mut both[0]) - 0.32).abs() < 1e-9);
        assert!((growth(&mut both[1]) - 0.64).abs() < 1e-9);
        // Never more than Reno: 10 segments of 1 s beside 100 of 10 ms. alpha = 110 x 10^6 / 10010^2 =
        // 1.0978, a hundredth of a segment, Reno's for the larger window.
        let mut far = pair(Coupling::Lia, [(10, 1000), (100, 10)]);
        assert!(growth(&mut far[1]) <= 1.0 && growth(&mut far[0]) < 0.1);
    }

    /// Equal paths: each takes a quarter of Reno's growth, both together half (LIA, OLIA, BALIA).
    #[test]
    fn equal_paths_share_renos_growth() {
        for coupling in COUPLINGS {
            let mut both = pair(coupling, [(10, 100), (10, 100)]);
            let sum = growth(&mut both[0]) + growth(&mut both[1]);
            assert!((sum - 0.5).abs() < 1e-9, "{coupling:?}: {sum}");
        }
    }

    /// The path that lost less and has the smaller window takes window from the path with the larger: alpha =
    /// +-1 / 2.
    #[test]
    fn olia_moves_window_to_the_best_path() {
        let mut both = pair(Coupling::Olia, [(10, 100), (20, 100)]);
        // l / rtt^2: only path 0 has delivered anything since its last loss.
        let ack = AckSample { acked: 5000, ..AckSample::default() };
        both[0].0.pkts_acked(Time::ZERO, &mut both[0].1.clone(), &ack);
        let base = |own: f64| own / (30.0 * 30.0) * own;
        assert!((growth(&mut both[0]) - (base(10.0) + 0.5)).abs() < 1e-9);
        assert!((growth(&mut both[1]) - (base(20.0) - 0.5)).abs() < 1e-9);
        // A loss on path 0: its l_1 keeps what was delivered between losses.
        both[0].0.set_state(Time::ZERO, &mut both[0].1.clone(), CaState::Recovery);
        assert!((growth(&mut both[0]) - (base(10.0) + 0.5)).abs() < 1e-9);
        both[0].0.set_state(Time::ZERO, &mut both[0].1.clone(), CaState::Loss);
        assert!(
            (growth(&mut both[0]) - (base(10.0) + 0.5)).abs() < 1e-9,
            "nothing was delivered between the losses"
        );
        // Path 1 delivers more: the best path has the largest window, and nothing moves.
        let ack = AckSample { acked: 9000, ..AckSample::default() };
        both[1].0.pkts_acked(Time::ZERO, &mut both[1].1.clone(), &ack);
        assert!((growth(&mut both[0]) - base(10.0)).abs() < 1e-9);
        assert_eq!(both[0].0.ssthresh(Time::ZERO, &tcp(1, 100)), 1000, "one segment at least");
    }

    /// draft-walid by hand. Rates 100 and 400: alpha of path 0 is 4, of path 1 1. Path 0: 1000 / 500^2 x 2.5
    /// x 1.6 = 0.016 for each segment; path 1: 8000 / 500^2 = 0.032.
    #[test]
    fn balia_by_hand() {
        let mut both = pair(Coupling::Balia, [(10, 100), (20, 50)]);
        assert!((growth(&mut both[0]) - 0.16).abs() < 1e-9);
        assert!((growth(&mut both[1]) - 0.64).abs() < 1e-9);
        let [(slow, slow_state), (fast, fast_state)] = &mut both;
        assert_eq!(slow.ssthresh(Time::ZERO, slow_state), 2500, "falls by 3/4 = min(4, 1.5) / 2");
        assert_eq!(fast.ssthresh(Time::ZERO, fast_state), 10_000, "falls by half");
    }

    /// A subflow that timed out no longer counts with the window that it had.
    #[test]
    fn a_timeout_is_seen_by_the_other_subflows() {
        let mut both = pair(Coupling::Lia, [(10, 100), (10, 100)]);
        let before = growth(&mut both[1]);
        let (control, state) = &mut both[0];
        control.cwnd_event(Time::ZERO, state, CaEvent::Loss);
        assert!(growth(&mut both[1]) > 2.0 * before);
    }

    /// OLIA's alpha by hand. The best paths that are not the largest share 1 / n, the largest give it, others keep
    /// their window. A path without a round-trip time is none. Windows may be below a segment, and nothing may have
    /// arrived.
    #[test]
    fn alpha_of_olia_by_hand() {
        let path = |cwnd: f64, since: f64| Path { active: true, cwnd, rtt: 1.0, between: 0.0, since };
        let alphas = |paths: &[Path]| -> Vec<f64> {
            (0..paths.len()).map(|index| alpha_of_olia(paths, index)).collect()
        };
        assert_eq!(alphas(&[path(10.0, 0.5), path(20.0, 0.25)]), [0.5, -0.5]);
        assert_eq!(alphas(&[path(0.25, 0.0), path(0.5, 0.0)]), [0.5, -0.5]);
        assert_eq!(alphas(&[path(10.0, 5.0), path(20.0, 9.0)]), [0.0, 0.0]);
        let third = 1.0 / 3.0;
        assert_eq!(alphas(&[path(10.0, 9.0), path(20.0, 5.0), path(15.0, 5.0)]), [third, -third, 0.0]);
        let sixth = 1.0 / 6.0;
        assert_eq!(alphas(&[path(10.0, 9.0), path(20.0, 5.0), path(20.0, 5.0)]), [third, -sixth, -sixth]);
        assert_eq!(alphas(&[path(10.0, 9.0), path(12.0, 9.0), path(20.0, 5.0)]), [sixth, sixth, -third]);
        let silent = Path { active: false, ..path(99.0, 99.0) };
        assert_eq!(alphas(&[path(10.0, 9.0), path(20.0, 5.0), silent])[..2], [0.5, -0.5]);
        // The greater of what arrived between losses and since the last.
        let lossy = Path { between: 9.0, ..path(10.0, 1.0) };
        assert_eq!(alphas(&[lossy, path(20.0, 5.0)]), [0.5, -0.5]);
    }

    /// Its own rate over the highest; without a rate of its own it is the best. A fall is by a quarter of 3 at
    /// most and by half at least.
    #[test]
    fn alpha_of_balia_by_hand() {
        let path = |cwnd: f64, active| Path { active, cwnd, rtt: 0.5, ..Path::default() };
        let paths = [path(10.0, true), path(25.0, true), path(99.0, false)];
        assert_eq!(alpha_of_balia(&paths, &paths[0]), 2.5);
        assert_eq!(alpha_of_balia(&paths, &paths[1]), 1.0);
        assert_eq!(alpha_of_balia(&paths, &path(0.0, true)), 1.0);
        let mut both = pair(Coupling::Balia, [(10, 100), (12, 100)]);
        let (slow, state) = &mut both[0];
        // alpha = 1.2: falls by 0.6.
        assert_eq!(slow.ssthresh(Time::ZERO, state), 4000);
        assert_eq!(slow.ssthresh(Time::ZERO, &tcp(3, 100)), 2000, "two segments at least");
    }

    /// Before the first round-trip time the window keeps; it never falls below a segment. Several subflows of
    /// OLIA may fall to one segment, others to two.
    #[test]
    fn windows_have_a_floor() {
        let mut control = Coupled::new(Coupling::Lia, Shared::default(), 0);
        let mut state = TcpState { srtt: Duration::ZERO, ..tcp(3, 0) };
        control.init(Time::ZERO, &mut state);
        let ack = AckSample { acked: 1000, ..AckSample::default() };
        control.cong_avoid(Time::ZERO, &mut state, &ack);
        assert_eq!((state.cwnd, control.ssthresh(Time::ZERO, &state)), (3000, 2000));
        (state.cwnd, state.ssthresh) = (900, 0);
        control.cong_avoid(Time::ZERO, &mut state, &ack);
        assert_eq!(state.cwnd, 1000);
        let mut alone = Coupled::new(Coupling::Olia, Shared::default(), 0);
        alone.init(Time::ZERO, &mut tcp(3, 100));
        assert_eq!(alone.ssthresh(Time::ZERO, &tcp(3, 100)), 2000);
        let mut both = pair(Coupling::Olia, [(3, 100), (3, 100)]);
        assert_eq!(both[0].0.ssthresh(Time::ZERO, &tcp(3, 100)), 1500);
        assert!(!both[0].0.uses_delivery_rate());
    }
}
