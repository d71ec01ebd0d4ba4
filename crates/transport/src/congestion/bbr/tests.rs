//! The draft's "BBR Example Test Cases" on a bare path: one bottleneck, packets, an ACK for each.

use super::*;
use crate::congestion::testing::{MSS, tcp};
use crate::rate_sample::RateEstimator;
use crate::scoreboard::{SACKED, Sent};
use std::collections::VecDeque;

/// One connection of saturated traffic over one bottleneck with a queue of `buffer` bytes.
pub(in crate::congestion) struct Path {
    pub(in crate::congestion) bbr: Box<dyn CongestionControl>,
    pub(in crate::congestion) tcp: TcpState,
    rates: RateEstimator,
    pub(in crate::congestion) now: Time,
    next_send: Time,
    /// When the bottleneck has served what it has.
    free_at: Time,
    pub(in crate::congestion) rate: Rate,
    rtt: Duration,
    buffer: u64,
    /// What was sent: its ACK's arrival, or none when it was dropped.
    air: VecDeque<(Sent, Option<Time>)>,
    pub(in crate::congestion) drops: u64,
}

impl Path {
    fn new(rate_mbps: u64, rtt_ms: u64, buffer: u64) -> Self {
        Self::of("bbr", rate_mbps, rtt_ms, buffer)
    }

    pub(in crate::congestion) fn of(control: &str, rate_mbps: u64, rtt_ms: u64, buffer: u64) -> Self {
        let rtt = Duration::from_millis(rtt_ms);
        let mut bbr = crate::congestion::make(control, &Parameters::new()).unwrap();
        let mut tcp = tcp(10);
        (tcp.initial_window, tcp.in_flight) = (10 * MSS, 0);
        (tcp.srtt, tcp.min_rtt) = (rtt, rtt);
        bbr.init(Time::ZERO, &mut tcp);
        Self {
            bbr,
            tcp,
            rates: RateEstimator::new(true, false),
            now: Time::ZERO,
            next_send: Time::ZERO,
            free_at: Time::ZERO,
            rate: Rate::from_bits_per_second(rate_mbps * 1_000_000),
            rtt,
            buffer,
            air: VecDeque::new(),
            drops: 0,
        }
    }

    /// The next thing that happens: a transmission or an ACK.
    pub(in crate::congestion) fn step(&mut self) {
        let ack = self.air.iter().find_map(|(_, ack)| *ack).unwrap_or(Time::MAX);
        let send =
            if self.tcp.in_flight + MSS <= self.tcp.cwnd { self.next_send.max(self.now) } else { Time::MAX };
        if send <= ack {
            self.now = send;
            self.send();
        } else {
            assert_ne!(ack, Time::MAX, "nothing happens any more: {:?}", self.tcp);
            self.now = ack;
            self.receive();
        }
    }

    fn send(&mut self) {
        let sent = self.rates.on_send(self.now, self.tcp.in_flight == 0, self.tcp.in_flight, MSS as u32);
        let queued = self.rate.bytes_in(self.free_at.saturating_since(self.now)).get();
        let ack = (queued + MSS <= self.buffer).then(|| {
            self.free_at = self.free_at.max(self.now) + self.rate.transmission_time(MSS);
            self.free_at + self.rtt
        });
        self.drops += u64::from(ack.is_none());
        self.air.push_back((sent, ack));
        self.tcp.in_flight += MSS;
        self.tcp.cwnd_limited = self.tcp.in_flight + MSS > self.tcp.cwnd;
        self.next_send = self.now + self.tcp.pacing_rate.unwrap().transmission_time(MSS);
    }

    /// An ACK delivers one packet and reveals the drops before it.
    fn receive(&mut self) {
        let mut sample = AckSample { prior_in_flight: self.tcp.in_flight, ..AckSample::default() };
        while let Some((sent, ack)) = self.air.pop_front() {
            self.tcp.in_flight -= MSS;
            // A sender's scoreboard has what was dropped retransmitted; here it is only gone.
            let mut left = sent;
            if ack.is_none() {
                left.set(SACKED);
            }
            self.rates.on_acked(&left);
            if ack.is_none() {
                self.rates.lost += MSS;
                sample.lost += MSS;
                continue;
            }
            self.rates.add(self.now, MSS);
            (sample.acked, sample.delivered) = (MSS, MSS);
            sample.rtt = Some(self.now - sent.sent_at);
            break;
        }
        (self.tcp.delivered, self.tcp.delivered_at) = (self.rates.delivered, self.rates.delivered_at);
        sample.rate = self.rates.finish(self.tcp.min_rtt);
        let owns = self.bbr.cong_control(self.now, &mut self.tcp, &sample);
        assert!(owns);
    }

    pub(in crate::congestion) fn run_until(&mut self, seconds: f64) {
        let end = Time::from_secs_f64(seconds);
        while self.now < end {
            self.step();
        }
    }

    /// The control's state, by its Debug form: tests look at transitions, nobody else does.
    fn state(&self) -> String {
        self.shown("state")
    }

    /// What the Debug form says of a field.
    pub(in crate::congestion) fn shown(&self, field: &str) -> String {
        let text = format!("{:?}", self.bbr);
        let tail = text.split(&format!("{field}: ")).nth(1).unwrap();
        tail.split(',').next().unwrap().to_owned()
    }

    fn run_to_state(&mut self, name: &str, limit_s: f64) {
        while self.state() != name {
            assert!(
                self.now < Time::from_secs_f64(limit_s),
                "{name} not reached by {limit_s} s: {:?}",
                self.bbr
            );
            self.step();
        }
    }
}

/// "Exiting STARTUP on Bandwidth Plateau" and "Exiting DRAIN Based on Inflight": 10 Mbit/s, 40 ms, BDP 50 kB.
#[test]
fn startup_ends_on_the_plateau_and_drain_empties_the_queue() {
    let mut path = Path::new(10, 40, u64::MAX / 16);
    path.run_to_state("Drain", 2.0);
    // From 10 packets, doubling each round, the BDP is passed after three rounds; three more rounds show no
    // growth.
    let rounds = path.now.as_secs_f64() / 0.04;
    assert!((5.0..14.0).contains(&rounds), "{rounds} base round trips");
    while path.state() == "Drain" {
        path.step();
    }
    assert!(path.now < Time::from_secs_f64(2.0), "{:?}", path.now);
    assert!(path.tcp.in_flight <= 50_000 + 6 * MSS, "{}", path.tcp.in_flight);
    path.run_until(4.0);
    // "close (i.e., within 2%) to the simulated bandwidth": pacing at 0.9 .. 1.25 times 99 % of it.
    let pacing = path.tcp.pacing_rate.unwrap().bits_per_second() as f64;
    assert!((0.87e7..1.28e7).contains(&pacing), "{pacing}");
}

/// Steady state on an unlimited buffer: the link is full and the queue stays a fraction of a BDP.
#[test]
fn steady_state_fills_the_link_without_a_standing_queue() {
    let mut path = Path::new(10, 40, u64::MAX / 16);
    path.run_until(5.0);
    let (start, delivered) = (path.now, path.tcp.delivered);
    let mut worst = 0;
    while path.now < Time::from_secs_f64(25.0) {
        path.step();
        worst = worst.max(path.tcp.in_flight);
    }
    let goodput = Rate::from_bytes_in(path.tcp.delivered - delivered, path.now - start).bits_per_second();
    assert!(goodput > 9_300_000, "{goodput}");
    // cwnd_gain 2.25 in UP, plus two segments, bounds what is in flight.
    assert!(worst <= 125_000, "{worst} bytes in flight");
}

/// "Entering and Exiting PROBE_RTT". With a queue no sample repeats the minimum, so the phase begins after 5
/// s. It cuts the window to half a BDP, lasts 200 ms and a round, and restores the window.
#[test]
fn probe_rtt_comes_after_its_interval() {
    let mut path = Path::new(10, 40, u64::MAX / 16);
    path.run_to_state("ProbeRtt", 12.0);
    let entered = path.now;
    assert!(entered > Time::from_secs_f64(5.0));
    let mut least = u64::MAX;
    while path.state() == "ProbeRtt" {
        path.step();
        least = least.min(path.tcp.cwnd);
    }
    let spent = (path.now - entered).as_secs_f64();
    assert!((0.2..0.5).contains(&spent), "{spent} s");
    assert!((20_000..27_000).contains(&least), "half of the BDP of 50 kB: {least}");
    assert!(path.tcp.cwnd > least);
}

/// A buffer of a fifth of a BDP: losses in probing set inflight_longterm, and the loss rate stays low.
#[test]
fn shallow_buffer_bounds_what_is_in_flight() {
    let mut path = Path::new(10, 40, 10_000);
    path.run_until(10.0);
    let (drops, delivered) = (path.drops, path.tcp.delivered);
    path.run_until(40.0);
    let lost = (path.drops - drops) as f64 * MSS as f64;
    let sent = lost + (path.tcp.delivered - delivered) as f64;
    assert!(lost / sent < 0.05, "loss rate {}", lost / sent);
    let goodput = (path.tcp.delivered - delivered) as f64 * 8.0 / 30.0;
    assert!(goodput > 8.0e6, "{goodput}");
    assert!(!format!("{:?}", path.bbr).contains("inflight_longterm: inf, bw_latest"));
}

/// The bandwidth estimate follows a change of the channel: up by probing, down by the losses in a buffer of
/// one BDP. (Without losses it may take minutes: ProbeRTT, each 5 s, cuts the cycles off that would advance
/// the filter.)
#[test]
fn follows_the_rate_of_the_channel() {
    let mut path = Path::new(5, 40, 50_000);
    path.run_until(6.0);
    path.rate = Rate::from_bits_per_second(10_000_000);
    path.run_until(16.0);
    let before = path.tcp.delivered;
    path.run_until(20.0);
    assert!((path.tcp.delivered - before) as f64 * 8.0 / 4.0 > 9.0e6);
    path.rate = Rate::from_bits_per_second(2_000_000);
    path.run_until(40.0);
    let pacing = path.tcp.pacing_rate.unwrap().bits_per_second();
    assert!(pacing < 2_700_000, "{pacing}");
}

/// "Correctly Managing Sub-Packet BDPs": four packets at least.
#[test]
fn sub_packet_bdp_keeps_four_packets() {
    let mut path = Path::new(1, 1, u64::MAX / 16);
    path.run_until(3.0);
    assert!(path.tcp.cwnd >= 4 * MSS);
    let before = path.tcp.delivered;
    path.run_until(8.0);
    assert!((path.tcp.delivered - before) as f64 * 8.0 / 5.0 > 0.93e6);
}

/// "Modulating cwnd in Loss Recovery": a timeout leaves room for one segment, its end gives the window back.
#[test]
fn timeout_and_its_end() {
    let mut path = Path::new(10, 40, u64::MAX / 16);
    path.run_until(4.0);
    let before = path.tcp.cwnd;
    path.tcp.in_flight = 0;
    let mut tcp = path.tcp.clone();
    path.bbr.set_state(path.now, &mut tcp, CaState::Loss);
    assert_eq!(tcp.cwnd, MSS);
    tcp.ca_state = CaState::Loss;
    path.bbr.set_state(path.now, &mut tcp, CaState::Open);
    assert_eq!(tcp.cwnd, before);
}

/// "Pacing Rate: BBR.pacing_rate": 1 % below gain times bw. "SetSendQuantum" and "UpdateOffloadBudget": three
/// quanta of a millisecond, each of two segments at least.
#[test]
fn pacing_and_quanta_by_hand() {
    let mut bbr = Bbr::new(&Parameters::new().resolve("bbr", INFO.parameters).unwrap());
    bbr.model.update_max_bw(1e6, false);
    bbr.model.bound_bw();
    bbr.full_bw_reached = true;
    let mut tcp = tcp(10);
    assert_eq!(bbr.quantization_budget(0.0, &tcp), 6.0 * MSS as f64);
    bbr.set_pacing_rate(&mut tcp, 1.25);
    assert_eq!(tcp.pacing_rate.unwrap().bits_per_second(), 9_900_000);
    tcp.pacing_rate = Some(Rate::from_bits_per_second(100_000_000));
    assert_eq!(bbr.quantization_budget(0.0, &tcp), 3.0 * 12_500.0);
    assert_eq!(bbr.quantization_budget(1e6, &tcp), 1e6);
}
