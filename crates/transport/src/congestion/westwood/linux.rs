//! Westwood+ as Linux computes it (`rules = "linux"`): whole jiffies, bytes a jiffy, whole segments.
//!
//! ```text
//! sample:     b_k = bytes acknowledged / jiffies, once more than max(latest RTT, 50 ms) has passed
//! filter:     n = (7 n + b_k) / 8,   EBW = (7 EBW + n) / 8;   the first sample fills both
//! loss:       ssthresh = cwnd / 2, as Reno; the window follows it during recovery
//! its end:    ssthresh = cwnd = EBW RTTmin in segments, at least 2, which may be more than before the loss
//! timeout:    ssthresh = EBW RTTmin; RTTmin is measured again
//! ```
//!
//! An ACK that the kernel predicts (no SACK, the window as before) counts the bytes that it acknowledges. Any other ACK
//! counts fewer, by the bytes that duplicates counted before ([`AckedCount`]). An ACK counts before it ends a recovery.
//! If it begins another, ssthresh is half of the window that the estimate has just set. Checked against the kernel packet by packet: `cogtcp
//! agree`.

use super::super::bandwidth::AckedCount;
use super::super::growth::LinuxReno;
use super::super::jiffies::Jiffies;
use super::super::{AckSample, CaEvent, CongestionControl, TcpState};
use super::NAME;
use crate::micros;
use cogtcp_units::{Duration, Time};

/// The least length of a sample (`TCP_WESTWOOD_RTT_MIN`).
const LEAST_SAMPLE: Duration = Duration::from_millis(50);
/// The RTT before the first sample (`TCP_WESTWOOD_INIT_RTT`).
const INITIAL_RTT: Duration = Duration::from_secs(20);

/// The state of one connection. RTTs and starts are jiffies, bandwidths bytes a jiffy.
#[derive(Clone, Debug, Default)]
pub(super) struct LinuxWestwood {
    reno: LinuxReno,
    count: AckedCount,
    /// After the first stage of the filter, and after the second.
    first: u64,
    bandwidth: u64,
    /// Bytes of the sample in progress, and when it began.
    bytes: u64,
    start: u64,
    rtt: u64,
    rtt_min: u64,
    resets_rtt_min: bool,
    /// A timeout asks for ssthresh.
    timed_out: bool,
}

impl LinuxWestwood {
    fn end_sample(&mut self, now: u64, least: u64) {
        let length = now - self.start;
        if self.rtt == 0 || length <= self.rtt.max(least) {
            return;
        }
        let sample = self.bytes / length;
        if (self.first, self.bandwidth) == (0, 0) {
            (self.first, self.bandwidth) = (sample, sample);
        } else {
            self.first = (7 * self.first + sample) / 8;
            self.bandwidth = (7 * self.bandwidth + self.first) / 8;
        }
        (self.bytes, self.start) = (0, now);
    }

    /// EBW times RTTmin in whole segments, as bytes. Departure: 4 GiB and more are 4 GiB, where Linux's product wraps.
    fn carried(&self, tcp: &TcpState) -> u64 {
        let bytes = self.bandwidth.saturating_mul(self.rtt_min).min(u64::from(u32::MAX));
        (bytes / tcp.mss).max(2) * tcp.mss
    }
}

impl CongestionControl for LinuxWestwood {
    fn name(&self) -> &str {
        NAME
    }

    fn uses_delivery_rate(&self) -> bool {
        false
    }

    fn init(&mut self, now: Time, tcp: &mut TcpState) {
        let clock = Jiffies::of_host(tcp);
        self.start = clock.at(now);
        (self.rtt, self.rtt_min) = (clock.of(INITIAL_RTT), clock.of(INITIAL_RTT));
        self.resets_rtt_min = true;
    }

    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        let half = self.reno.ssthresh(tcp);
        if std::mem::take(&mut self.timed_out) {
            self.resets_rtt_min = true;
            return self.carried(tcp);
        }
        half
    }

    fn counts_acks_first(&self) -> bool {
        true
    }

    fn in_ack_event(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample, predicted: bool) {
        let clock = Jiffies::of_host(tcp);
        if let Some(rtt) = ack.rtt.map(micros::whole).filter(|rtt| !rtt.is_zero()) {
            self.rtt = clock.of(rtt);
        }
        self.end_sample(clock.at(now), clock.of(LEAST_SAMPLE));
        // In Linux every other ACK of nothing new stands for a segment.
        self.bytes += if predicted { ack.acked } else { self.count.bytes(ack.acked, true, tcp.mss) };
        self.rtt_min =
            if std::mem::take(&mut self.resets_rtt_min) { self.rtt } else { self.rtt.min(self.rtt_min) };
    }

    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        self.reno.grow(tcp, ack.acked);
    }

    fn cwnd_event(&mut self, _now: Time, tcp: &mut TcpState, event: CaEvent) {
        match event {
            CaEvent::CompleteCwr => {
                tcp.ssthresh = self.carried(tcp);
                tcp.cwnd = tcp.ssthresh;
            }
            CaEvent::Loss => self.timed_out = true,
            _ => {}
        }
    }

    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {
        let clock = Jiffies::of_host(tcp);
        show("bandwidth_bps", (8 * self.bandwidth * clock.second()) as f64);
        show("rtt_min_s", self.rtt_min as f64 / clock.second() as f64);
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::testing::{Bench, MSS};
    use crate::congestion::{AckSample, CaEvent, CaState, CongestionControl, ParameterValue};
    use cogtcp_units::{Duration, Time};

    /// Ticks of a millisecond, an ACK of a segment each 10 ms at an RTT of 80 ms. The first sample, of 90 ms, holds
    /// eight segments: 88 bytes a tick. Later ones hold nine: 100. Whole numbers let n rise to 93, and EBW stay at 88.
    fn bench() -> Bench {
        let mut bench = Bench::new("westwood", &[("rules", ParameterValue::Text("linux".into()))], 20);
        bench.tcp.tick_ms = 1;
        bench.control.init(bench.now, &mut bench.tcp);
        bench.tcp.ssthresh = 2 * MSS;
        for _ in 0..400 {
            bench.now += Duration::from_millis(10);
            bench.ack(MSS, Duration::from_millis(80));
        }
        bench
    }

    /// The window after a loss is half during recovery, and 88 bytes a tick times 80 ticks at its end.
    #[test]
    fn the_window_of_the_estimate_comes_as_recovery_ends() {
        let mut bench = bench();
        let before = bench.tcp.cwnd;
        bench.tcp.ssthresh = bench.control.ssthresh(bench.now, &bench.tcp);
        assert_eq!(bench.tcp.ssthresh, before / 2 / MSS * MSS);
        bench.tcp.cwnd = bench.tcp.ssthresh;
        bench.set_state(CaState::Recovery);
        bench.set_state(CaState::Open);
        bench.control.cwnd_event(bench.now, &mut bench.tcp, CaEvent::CompleteCwr);
        assert_eq!((bench.tcp.cwnd / MSS, bench.tcp.ssthresh / MSS), (7, 7));
        // The same ACK begins another recovery: half of that.
        assert_eq!(bench.control.ssthresh(bench.now, &bench.tcp) / MSS, 3);
    }

    /// After 80 duplicates, each for a segment, an ACK of 60 segments counts one of them; an ACK that is predicted
    /// counts all.
    #[test]
    fn a_predicted_ack_counts_whole() {
        for (predicted, bytes) in [(false, MSS), (true, 60 * MSS)] {
            let mut control = super::LinuxWestwood::default();
            let mut state = crate::congestion::testing::tcp(100);
            let sample = |acked| AckSample { acked, ..AckSample::default() };
            for _ in 0..80 {
                control.in_ack_event(Time::ZERO, &mut state, &sample(0), false);
            }
            let before = control.bytes;
            control.in_ack_event(Time::ZERO, &mut state, &sample(60 * MSS), predicted);
            assert_eq!((before, control.bytes - before), (80 * MSS, bytes));
        }
    }

    /// A timeout sets ssthresh, and the next ACK's RTT is the least.
    #[test]
    fn the_least_rtt_is_measured_again_after_a_timeout() {
        let mut bench = bench();
        bench.timeout();
        assert_eq!(bench.tcp.ssthresh, 7 * MSS);
        bench.ack(MSS, Duration::from_millis(160));
        bench.timeout();
        assert_eq!(bench.tcp.ssthresh, 14 * MSS);
    }

    /// RTTs count in whole ticks, rounded up: 80.1 ms are 81.
    #[test]
    fn rtts_are_whole_ticks() {
        let mut bench = bench();
        bench.timeout();
        bench.ack(MSS, Duration::from_micros(80_100));
        let mut shown = 0.0;
        bench.control.observe(&bench.tcp, &mut |name, value| {
            if name == "rtt_min_s" {
                shown = value;
            }
        });
        assert_eq!(shown, 0.081);
    }
}
