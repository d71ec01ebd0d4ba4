//! Random sequences of hooks, in the order and with the bookkeeping of a sender.

use super::{Failure, guarded};
use crate::{AckSample, CaEvent, CaState, CongestionControl, LinkEvent, PacketInfo, RateSample, TcpState};
use cogtcp_crosslayer::{ChannelId, OutageCause, Verdict};
use cogtcp_units::{Duration, RandomStream, Rate, Time};

/// Steps of one sequence.
const STEPS: usize = 400;
/// No window, summed or multiplied, comes near this unless a control lets it wrap or run away.
const ABSURD: u64 = 1 << 62;

/// cwnd, ssthresh, pacing rate, and the bits of what the control shows of its state, after a step.
pub(super) type Trace = Vec<(u64, u64, Option<Rate>, Vec<u64>)>;

/// Plays the sequence of `seed` and returns the windows after every step.
pub(super) fn play(make: &impl Fn() -> Box<dyn CongestionControl>, seed: u64) -> Result<Trace, Failure> {
    guarded(&format!("seed {seed}"), || {
        let mut player = Player::new(make(), seed);
        (0..STEPS)
            .map(|step| {
                player.step().map_err(|(check, what)| (check, format!("seed {seed}, step {step}: {what}")))
            })
            .collect()
    })
}

/// A full window of twenty segments after a hundred round trips, then a loss.
pub(super) fn check_loss(make: &impl Fn() -> Box<dyn CongestionControl>) -> Result<(), Failure> {
    guarded("a loss in a full window", || {
        let mut player = Player::new(make(), 0);
        if player.control.owns_cwnd() {
            return Ok(());
        }
        player.tcp.ssthresh = 20 * player.tcp.mss;
        let rtt = Duration::from_millis(100);
        for _ in 0..2_000 {
            player.now += rtt / (player.tcp.cwnd / player.tcp.mss).max(1);
            player.fill();
            player.ack(player.tcp.mss, rtt);
            player.clamp()?;
        }
        player.fill();
        let before = player.tcp.cwnd;
        player.enter_recovery()?;
        let after = player.tcp.cwnd;
        if after < before { Ok(()) } else { Err(("loss", format!("cwnd {before} became {after}"))) }
    })
}

#[derive(Debug)]
struct Player {
    control: Box<dyn CongestionControl>,
    tcp: TcpState,
    now: Time,
    random: RandomStream,
    /// Whether values go to extremes.
    wild: bool,
    /// The names that it has shown of its state.
    shown: Option<Vec<String>>,
}

impl Player {
    fn new(mut control: Box<dyn CongestionControl>, seed: u64) -> Self {
        let mut random = RandomStream::new(seed, "conformance", 0);
        let mss = [1, 536, 1000, 1460, 9000][random.below(5) as usize];
        let window = mss * (1 + random.below(10));
        let mut tcp = TcpState {
            srtt: Duration::from_millis(100),
            rttvar: Duration::from_millis(50),
            min_rtt: Duration::from_millis(100),
            latest_rtt: Duration::from_millis(100),
            snd_una: 1,
            snd_nxt: 1,
            cwnd_limited: true,
            peer_window: 1 << 30,
            accurate_ecn: random.below(2) == 0,
            ..TcpState::new(mss, window)
        };
        let now = Time::from_millis(100);
        let answer = (random.below(2) == 0).then(|| random.next_u64() as u32);
        if let Some(extension) = control.extension() {
            extension.syn_option();
            extension.on_syn_ack_option(now, &mut tcp, answer);
        }
        control.init(now, &mut tcp);
        tcp.cwnd = tcp.cwnd.max(tcp.mss);
        let wild = random.below(2) == 0;
        Self { control, tcp, now, random, wild, shown: None }
    }

    fn step(&mut self) -> Result<(u64, u64, Option<Rate>, Vec<u64>), Failure> {
        let pause = if self.wild && self.random.below(50) == 0 { 86_400_000_000_000 } else { 50_000_000 };
        self.now += Duration::from_nanos(self.random.below(pause));
        match self.random.below(16) {
            0..=7 => {
                self.fill();
                let acked = self.some_bytes();
                let rtt = self.some_rtt();
                self.ack(acked, rtt);
            }
            8 => self.duplicate(),
            9 if self.random.below(4) == 0 => self.echo()?,
            9 => self.enter_recovery()?,
            10 => self.timeout()?,
            11 => self.leave_recovery(),
            12 => self.undo()?,
            13 => self.silence()?,
            14 => self.link_event(),
            _ => {
                let events = [CaEvent::Frozen, CaEvent::Thawed, CaEvent::CwndRestart];
                let event = events[self.random.below(3) as usize];
                self.control.cwnd_event(self.now, &mut self.tcp, event);
                if event == CaEvent::CwndRestart && !self.control.owns_cwnd() {
                    self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.initial_window);
                }
            }
        }
        self.clamp()?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        self.control.observe(&self.tcp, &mut |name, value| {
            names.push(name.to_owned());
            // Not-a-number has many forms.
            values.push(if value.is_nan() { u64::MAX } else { value.to_bits() });
        });
        if *self.shown.get_or_insert_with(|| names.clone()) != names {
            let before = self.shown.as_deref().unwrap_or_default();
            return Err(("observe", format!("shows {names:?}, before {before:?}")));
        }
        Ok((self.tcp.cwnd, self.tcp.ssthresh, self.tcp.pacing_rate, values))
    }

    fn some_rtt(&mut self) -> Duration {
        if self.wild {
            let extremes = [0, 1, 1_000, 1_000_000_000, 86_400_000_000_000, u64::MAX / 4];
            if self.random.below(4) == 0 {
                return Duration::from_nanos(extremes[self.random.below(6) as usize]);
            }
        }
        Duration::from_nanos(80_000_000 + self.random.below(100_000_000))
    }

    fn some_bytes(&mut self) -> u64 {
        if self.wild && self.random.below(8) == 0 {
            return [1, self.tcp.mss / 2, 1 << 20, 1 << 40][self.random.below(4) as usize].max(1);
        }
        self.tcp.mss * (1 + self.random.below(3))
    }

    /// Sends what cwnd allows (up to a bound, for absurd windows).
    fn fill(&mut self) {
        let mut budget = 50;
        while self.tcp.in_flight + self.tcp.mss <= self.tcp.cwnd && budget > 0 {
            if self.tcp.in_flight == 0 {
                self.control.cwnd_event(self.now, &mut self.tcp, CaEvent::TxStart);
            }
            self.tcp.snd_nxt += self.tcp.mss;
            self.count_flight();
            let packet = PacketInfo {
                offset: self.tcp.snd_nxt - self.tcp.mss,
                bytes: self.tcp.mss,
                retransmission: false,
                in_flight: self.tcp.in_flight,
            };
            self.control.on_packet_sent(self.now, &mut self.tcp, &packet);
            budget -= 1;
        }
    }

    fn count_flight(&mut self) {
        self.tcp.flight_size = self.tcp.snd_nxt - self.tcp.snd_una;
        self.tcp.in_flight = self.tcp.flight_size;
    }

    fn ack(&mut self, acked: u64, rtt: Duration) {
        let prior_in_flight = self.tcp.in_flight;
        // An ACK beyond what the bounded `fill` has sent is part of the absurd values.
        self.tcp.snd_una += acked;
        self.tcp.snd_nxt = self.tcp.snd_nxt.max(self.tcp.snd_una);
        self.count_flight();
        let prior_delivered = self.tcp.delivered;
        self.tcp.delivered += acked;
        self.tcp.delivered_at = self.now;
        self.tcp.latest_rtt = rtt;
        self.tcp.srtt = (self.tcp.srtt * 7 + rtt) / 8;
        self.tcp.min_rtt = self.tcp.min_rtt.min(rtt);
        let sample = AckSample {
            acked,
            delivered: acked,
            rtt: (self.random.below(8) > 0).then_some(rtt),
            prior_in_flight,
            rate: RateSample {
                delivered: acked + prior_in_flight,
                interval: if self.random.below(8) > 0 { rtt } else { Duration::ZERO },
                prior_delivered: prior_delivered.saturating_sub(prior_in_flight),
                prior_time: self.now - rtt,
                tx_in_flight: prior_in_flight,
                lost: 0,
                app_limited: self.random.below(8) == 0,
            },
            marked: if self.tcp.accurate_ecn { self.random.below(4) } else { 0 },
            ..AckSample::default()
        };
        if self.control.counts_acks_first() {
            self.control.in_ack_event(self.now, &mut self.tcp, &sample, true);
        }
        self.control.pkts_acked(self.now, &mut self.tcp, &sample);
        let owned = self.control.cong_control(self.now, &mut self.tcp, &sample);
        if !owned && !matches!(self.tcp.ca_state, CaState::Recovery | CaState::Cwr) {
            self.control.cong_avoid(self.now, &mut self.tcp, &sample);
        }
        self.tcp.cwnd = self.tcp.cwnd.max(self.tcp.mss);
    }

    fn duplicate(&mut self) {
        let sample = AckSample {
            sacked: self.tcp.mss,
            delivered: self.tcp.mss,
            duplicate: true,
            prior_in_flight: self.tcp.in_flight,
            ..AckSample::default()
        };
        self.tcp.delivered += self.tcp.mss;
        if let Some(extension) = self.control.extension() {
            extension.dup_ack_retransmit(self.now, &self.tcp, self.now - Duration::from_millis(100));
        }
        if self.control.counts_acks_first() {
            self.control.in_ack_event(self.now, &mut self.tcp, &sample, false);
        }
        self.control.pkts_acked(self.now, &mut self.tcp, &sample);
        self.control.cong_control(self.now, &mut self.tcp, &sample);
    }

    fn set_state(&mut self, state: CaState) {
        if self.tcp.ca_state != state {
            self.control.set_state(self.now, &mut self.tcp, state);
            self.tcp.ca_state = state;
        }
    }

    fn ask_ssthresh(&mut self) -> Result<(), Failure> {
        (self.tcp.prior_cwnd, self.tcp.prior_ssthresh) = (self.tcp.cwnd, self.tcp.ssthresh);
        self.tcp.ssthresh = self.control.ssthresh(self.now, &self.tcp);
        if self.tcp.ssthresh < 2 * self.tcp.mss {
            return Err(("floor", format!("ssthresh {} with an MSS of {}", self.tcp.ssthresh, self.tcp.mss)));
        }
        Ok(())
    }

    fn enter_recovery(&mut self) -> Result<(), Failure> {
        if matches!(self.tcp.ca_state, CaState::Recovery | CaState::Loss) {
            return Ok(());
        }
        self.set_state(CaState::Disorder);
        self.tcp.lost += self.tcp.mss;
        self.ask_ssthresh()?;
        if !self.control.owns_cwnd() {
            self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.ssthresh);
        }
        self.set_state(CaState::Recovery);
        self.check_lowered()
    }

    /// An echoed mark (ECN): as a loss, with nothing lost.
    fn echo(&mut self) -> Result<(), Failure> {
        if !matches!(self.tcp.ca_state, CaState::Open | CaState::Disorder) {
            return Ok(());
        }
        self.ask_ssthresh()?;
        if !self.control.owns_cwnd() {
            self.tcp.cwnd = self.tcp.cwnd.min(self.tcp.ssthresh);
        }
        self.set_state(CaState::Cwr);
        self.check_lowered()
    }

    fn timeout(&mut self) -> Result<(), Failure> {
        self.control.cwnd_event(self.now, &mut self.tcp, CaEvent::Loss);
        self.tcp.lost += self.tcp.flight_size;
        self.ask_ssthresh()?;
        if !self.control.owns_cwnd() {
            self.tcp.cwnd = self.tcp.mss;
        }
        self.set_state(CaState::Loss);
        self.check_lowered()
    }

    /// After a loss event cwnd is not over what it was before.
    fn check_lowered(&self) -> Result<(), Failure> {
        let (before, after) = (self.tcp.prior_cwnd, self.tcp.cwnd);
        if self.control.owns_cwnd() || after <= before {
            return Ok(());
        }
        Err(("loss", format!("cwnd {before} became {after}")))
    }

    fn leave_recovery(&mut self) {
        let fast = matches!(self.tcp.ca_state, CaState::Recovery | CaState::Cwr);
        self.set_state(CaState::Open);
        if fast {
            self.control.cwnd_event(self.now, &mut self.tcp, CaEvent::CompleteCwr);
        }
    }

    fn undo(&mut self) -> Result<(), Failure> {
        if self.tcp.ca_state != CaState::Loss {
            return Ok(());
        }
        let before = self.tcp.cwnd;
        self.tcp.cwnd = self.control.undo_cwnd(self.now, &self.tcp);
        self.tcp.ssthresh = self.tcp.prior_ssthresh;
        if self.tcp.cwnd < before {
            return Err(("undo", format!("cwnd {before} became {}", self.tcp.cwnd)));
        }
        self.set_state(CaState::Open);
        Ok(())
    }

    /// Transmissions and time without an ACK.
    fn silence(&mut self) -> Result<(), Failure> {
        let before = self.tcp.cwnd;
        for _ in 0..3 {
            self.fill();
            self.now += Duration::from_millis(200);
        }
        if self.tcp.cwnd > before {
            return Err(("silence", format!("cwnd {before} became {}", self.tcp.cwnd)));
        }
        Ok(())
    }

    fn link_event(&mut self) {
        let rate =
            Rate::from_bits_per_second(if self.wild { self.random.next_u64() >> 20 } else { 10_000_000 });
        let until = if self.random.below(2) == 0 { Time::MAX } else { self.now + Duration::from_millis(100) };
        let (from, to, rate) = (ChannelId(0), ChannelId(1), Some(rate));
        let event = match self.random.below(11) {
            0 => LinkEvent::SensingStart { until },
            1 => LinkEvent::SensingEnd { verdict: Verdict::new(self.wild, self.wild) },
            2 => LinkEvent::SwitchingStart { until },
            3 => LinkEvent::Handoff { from, to, rate },
            4 => LinkEvent::RateChange { rate },
            5 => LinkEvent::LinkDown,
            6 => LinkEvent::LinkUp,
            7 => LinkEvent::SwitchingEnd,
            8 => LinkEvent::SignalLost { cause: OutageCause::Tunnel },
            9 => LinkEvent::SignalBack,
            _ => LinkEvent::QueueFree { bytes: self.random.next_u64() >> 30 },
        };
        let (choice, value) =
            (self.random.below(8), if self.wild { self.random.next_u64() as u32 } else { 2_000 });
        let Some(extension) = self.control.extension() else { return };
        extension.on_link_event(self.now, &mut self.tcp, event);
        match choice {
            0 => {
                extension.on_unreachable(self.now, &mut self.tcp);
            }
            1 => extension.on_ack_option(self.now, &mut self.tcp, value),
            _ => {}
        }
    }

    /// The sender's clamp, and what must hold after it.
    fn clamp(&mut self) -> Result<(), Failure> {
        self.tcp.cwnd = self.tcp.cwnd.max(self.tcp.mss);
        if self.tcp.cwnd >= ABSURD {
            return Err(("window", format!("cwnd is {}", self.tcp.cwnd)));
        }
        if self.tcp.pacing_rate.is_some_and(|rate| rate.bits_per_second() == 0) {
            return Err(("pacing", "a pacing rate of zero stops the connection".to_owned()));
        }
        Ok(())
    }
}
