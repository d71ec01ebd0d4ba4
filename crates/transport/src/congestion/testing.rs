//! States and ACKs for the unit tests of the controls: segments of 1000 bytes.

use super::{
    AckSample, CaEvent, CaState, CongestionControl, PacketInfo, ParameterValue, Parameters, TcpState, make,
};
use crate::rate_sample::RateSample;
use cogtcp_units::{Duration, Time};

/// Bytes of a segment.
pub(super) const MSS: u64 = 1000;

/// An established connection with a window of `segments`, all of it in flight, in slow start.
pub(super) fn tcp(segments: u64) -> TcpState {
    let window = segments * MSS;
    TcpState {
        cwnd: window,
        srtt: Duration::from_millis(100),
        rttvar: Duration::from_millis(10),
        min_rtt: Duration::from_millis(100),
        latest_rtt: Duration::from_millis(100),
        snd_nxt: window,
        in_flight: window,
        flight_size: window,
        cwnd_limited: true,
        prior_cwnd: window,
        prior_ssthresh: u64::MAX,
        ..TcpState::new(MSS, 10 * MSS)
    }
}

/// An ACK of `acked` new bytes with an RTT sample.
pub(super) fn ack(acked: u64, rtt: Duration) -> AckSample {
    AckSample { acked, delivered: acked, rtt: Some(rtt), rate: RateSample::default(), ..AckSample::default() }
}

/// A connection under test: a control and the state it works on.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) tcp: TcpState,
    pub(super) now: Time,
}

impl Bench {
    /// The control called `name` on [`tcp`]`(segments)`.
    pub(super) fn new(name: &str, parameters: &[(&str, ParameterValue)], segments: u64) -> Self {
        let mut table = Parameters::new();
        for (name, value) in parameters {
            table.set(name, value.clone());
        }
        let control = make(name, &table).expect("the test's parameters are right");
        let mut bench = Self { control, tcp: tcp(segments), now: Time::from_millis(1000) };
        bench.control.init(bench.now, &mut bench.tcp);
        bench
    }

    /// One ACK for `acked` bytes, as a sender with always data to send handles it.
    pub(super) fn ack(&mut self, acked: u64, rtt: Duration) {
        self.tcp.snd_una += acked;
        let sample = AckSample { prior_in_flight: self.tcp.in_flight, ..ack(acked, rtt) };
        self.tcp.delivered += acked;
        if self.control.counts_acks_first() {
            self.control.in_ack_event(self.now, &mut self.tcp, &sample, true);
        }
        self.control.pkts_acked(self.now, &mut self.tcp, &sample);
        if !self.control.cong_control(self.now, &mut self.tcp, &sample) {
            self.control.cong_avoid(self.now, &mut self.tcp, &sample);
        }
        self.tcp.cwnd = self.tcp.cwnd.max(MSS);
        while self.tcp.snd_nxt + MSS <= self.tcp.snd_una + self.tcp.cwnd {
            let offset = self.tcp.snd_nxt;
            self.tcp.snd_nxt += MSS;
            self.tcp.flight_size = self.tcp.snd_nxt - self.tcp.snd_una;
            self.tcp.in_flight = self.tcp.flight_size;
            let packet =
                PacketInfo { offset, bytes: MSS, retransmission: false, in_flight: self.tcp.in_flight };
            self.control.on_packet_sent(self.now, &mut self.tcp, &packet);
        }
        self.tcp.flight_size = self.tcp.snd_nxt - self.tcp.snd_una;
        self.tcp.in_flight = self.tcp.flight_size;
    }

    /// One round trip: an ACK for each segment that is in flight now, evenly over `rtt`.
    pub(super) fn round(&mut self, rtt: Duration) {
        let segments = (self.tcp.snd_nxt - self.tcp.snd_una) / MSS;
        for _ in 0..segments {
            self.now += rtt / segments;
            self.ack(MSS, rtt);
        }
    }

    /// Window in segments.
    pub(super) fn segments(&self) -> f64 {
        self.tcp.cwnd as f64 / MSS as f64
    }

    /// A fast retransmit and the recovery it begins, over at once: the order of calls is the sender's.
    pub(super) fn loss(&mut self) {
        self.tcp.prior_cwnd = self.tcp.cwnd;
        self.tcp.prior_ssthresh = self.tcp.ssthresh;
        self.tcp.ssthresh = self.control.ssthresh(self.now, &self.tcp);
        self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.ssthresh);
        self.set_state(CaState::Recovery);
        self.set_state(CaState::Open);
        self.control.cwnd_event(self.now, &mut self.tcp, CaEvent::CompleteCwr);
    }

    /// A timeout: the state is `Loss` afterwards, the window one segment.
    pub(super) fn timeout(&mut self) {
        self.tcp.prior_cwnd = self.tcp.cwnd;
        self.tcp.prior_ssthresh = self.tcp.ssthresh;
        self.control.cwnd_event(self.now, &mut self.tcp, CaEvent::Loss);
        self.tcp.ssthresh = self.control.ssthresh(self.now, &self.tcp);
        self.tcp.cwnd = MSS;
        self.set_state(CaState::Loss);
    }

    /// The recovery state changes.
    pub(super) fn set_state(&mut self, state: CaState) {
        self.control.set_state(self.now, &mut self.tcp, state);
        self.tcp.ca_state = state;
    }
}
