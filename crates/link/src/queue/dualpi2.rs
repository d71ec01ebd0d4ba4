//! DualPI2, the coupled dual-queue AQM of L4S (RFC 9332). Packets of scalable senders wait in a queue of
//! their own, marked from a millisecond on; all other packets wait under PI2. One probability couples the
//! queues.
//!
//! ```text
//! every Tupdate:  p += alpha (delay - target) + beta (delay - last delay)   delay: the greater of the heads'
//! C-queue:        dropped, or marked if ECN-capable, with p^2
//! L-queue:        marked with k p, and whenever it waited longer than the step
//! turns:          C gets a tenth of the bytes while both wait
//! overload:       k p > 1: both are dropped from with p^2, what is left of L is marked
//! ```
//!
//! Linux's `sch_dualpi2.c`, by authors of the RFC, is the source of parameters, turns and overload. Like
//! Linux it has a step in the L-queue, in place of the ramp of RFC 9332 appendix A.1, and drops at the head.
//! While less than two packets of 1514 bytes wait, p neither drops nor marks.

use super::codel::MOST_PACKET;
use super::{Check, Discipline, DropCause, Fifo, Named, QueueDiscipline, Signals, Site};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::{Duration, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most updates that are made up for after a pause; p is at a bound long before.
const MOST_UPDATES: u64 = 4096;
/// Shares of the bytes, of a hundred, while both queues wait (Linux: `c_protection_wc`).
const SHARE_C: i64 = 10;
const SHARE_L: i64 = 90;

/// Two queues, for scalable and for classic senders, under one coupled control.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2 {
    /// Waiting time that PI2 holds in the classic queue.
    pub target: Duration,
    /// How often the probability is computed (Tupdate).
    pub update: Duration,
    /// Integral gain, in Hz: what a second of delay above the target adds to the probability, each time.
    pub alpha: f64,
    /// Proportional gain, in Hz: what a second of growth of the delay adds to the probability.
    pub beta: f64,
    /// Coupling k: the mark probability of the L4S queue is k p, and the classic queue drops with probability
    /// p^2.
    pub coupling: f64,
    /// Waiting time in the L4S queue above which every packet is marked.
    pub step: Duration,
    /// Most packets that wait in both queues.
    pub limit: u32,
}

impl Default for DualPi2 {
    /// Linux's: alpha is 41 and beta 819 of 256ths.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            step: Duration::from_millis(1),
            limit: 10_000,
        }
    }
}

impl Named for DualPi2 {
    const NAME: &'static str = "dualpi2";
    const SUMMARY: &'static str = "two queues for L4S and classic senders, coupled by one probability";
    const REFERENCE: &'static str = "RFC 9332; Linux sch_dualpi2";

    fn check(&self, found: &mut dyn Check) {
        let positive = |value: f64| value > 0.0 && value < 1e6;
        found.unless(!self.target.is_zero(), "target", "it is zero", "write for example \"15 ms\"");
        found.unless(
            self.update >= Duration::from_micros(100),
            "update",
            "it is shorter than 100 us",
            "write for example \"16 ms\"",
        );
        found.unless(positive(self.alpha), "alpha", "it is not above zero", "write for example 0.16");
        found.unless(positive(self.beta), "beta", "it is not above zero", "write for example 3.2");
        found.unless(positive(self.coupling), "coupling", "it is not above zero", "write 2");
        found.unless(self.limit > 0, "limit", "the queues hold nothing", "write at least 1");
    }
}

impl<P: LinkPayload> Discipline<P> for DualPi2 {
    fn is_random(&self) -> bool {
        true
    }

    fn build(&self, site: Site) -> Box<dyn QueueDiscipline<P>> {
        Box::new(DualPi2Queues {
            config: self.clone(),
            low: Fifo::new(),
            classic: Fifo::new(),
            probability: 0.0,
            last_delay: Duration::ZERO,
            next_update: Time::ZERO + self.update,
            // As after every empty queue (`take`).
            credit: FIRST_CREDIT,
            stream: site.stream,
        })
    }
}

/// The L-queue begins.
const FIRST_CREDIT: i64 = MOST_PACKET as i64 * (SHARE_C - SHARE_L);

/// Both queues of a link.
#[derive(Debug)]
struct DualPi2Queues<P> {
    config: DualPi2,
    /// The L-queue and the C-queue.
    low: Fifo<P>,
    classic: Fifo<P>,
    /// p, the base probability (p' of RFC 9332).
    probability: f64,
    last_delay: Duration,
    next_update: Time,
    /// Up to zero it is the L-queue's turn.
    credit: i64,
    stream: RandomStream,
}

/// What becomes of a packet by chance.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

impl<P: LinkPayload> DualPi2Queues<P> {
    /// The updates up to now. Nothing has come or gone since the one before, so each finds the delay that a
    /// timer would have found.
    fn update(&mut self, now: Time) {
        if now < self.next_update {
            return;
        }
        let step = self.config.update.as_nanos();
        // Called before each change of the queues, in place of a timer event every `update`.
        let due = now.saturating_since(self.next_update).as_nanos() / step + 1;
        let skipped = due.saturating_sub(MOST_UPDATES);
        // The oldest are left out: the last ones decide where p ends.
        self.next_update += Duration::from_nanos(skipped * step);
        for _ in skipped..due {
            let delay = [&self.low, &self.classic]
                .into_iter()
                .filter_map(Fifo::oldest)
                // Saturating: a packet that came after this update had not waited at it.
                .map(|since| self.next_update.saturating_since(since))
                .max()
                .unwrap_or(Duration::ZERO);
            let (seconds, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
            let change = self.config.alpha * (seconds - self.config.target.as_secs_f64())
                + self.config.beta * (seconds - last);
            self.probability = (self.probability + change).clamp(0.0, 1.0);
            self.last_delay = delay;
            self.next_update += self.config.update;
        }
    }

    fn roll(&mut self, probability: f64) -> bool {
        self.stream.uniform() < probability
    }

    /// Both draws of PI2: p squared without a product.
    fn roll_squared(&mut self) -> bool {
        self.roll(self.probability) && self.roll(self.probability)
    }

    /// What p says of the packet just taken. `waiting`: bytes before it was taken.
    fn fate(&mut self, frame: &Frame<P>, waiting: u64) -> Fate {
        // The link would idle for want of packets, and a drop shortens no queue then.
        if waiting - u64::from(frame.size()) < 2 * MOST_PACKET {
            return Fate::Pass;
        }
        let coupled = self.config.coupling * self.probability;
        let overload = coupled > 1.0;
        if frame.packet.is_l4s() {
            return match overload {
                true if self.roll_squared() => Fate::Drop,
                true => Fate::Mark,
                false if self.roll(coupled) => Fate::Mark,
                false => Fate::Pass,
            };
        }
        match self.roll_squared() {
            true if overload || !frame.packet.is_ecn_capable() => Fate::Drop,
            true => Fate::Mark,
            false => Fate::Pass,
        }
    }

    /// The next packet by turns, and what it costs of the turn.
    fn take(&mut self) -> Option<(Frame<P>, i64)> {
        let (low, classic) = (self.low.len() > 0, self.classic.len() > 0);
        if low && (!classic || self.credit <= 0) {
            let frame = self.low.pop()?;
            let cost = if classic { SHARE_C * i64::from(frame.size()) } else { 0 };
            return Some((frame, cost));
        }
        let Some(frame) = self.classic.pop() else {
            // Both queues are empty: no queue keeps a claim from the busy period that ends here.
            self.credit = FIRST_CREDIT;
            return None;
        };
        let cost = if low { -SHARE_L * i64::from(frame.size()) } else { 0 };
        Some((frame, cost))
    }
}

impl<P: LinkPayload> QueueDiscipline<P> for DualPi2Queues<P> {
    fn enqueue(&mut self, now: Time, frame: Frame<P>, signals: &mut Signals<P>) {
        self.update(now);
        if self.packets() >= u64::from(self.config.limit) {
            signals.drop(now, frame, DropCause::Queue);
        } else if frame.packet.is_l4s() {
            self.low.push(now, frame);
        } else {
            self.classic.push(now, frame);
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut Signals<P>) -> Option<Frame<P>> {
        self.update(now);
        loop {
            let waiting = self.low.bytes + self.classic.bytes;
            let (mut frame, cost) = self.take()?;
            let fate = self.fate(&frame, waiting);
            if fate == Fate::Drop {
                signals.drop(now, frame, DropCause::Early);
                // No credit is charged: as in Linux, only a packet that leaves uses up its queue's turn.
                continue;
            }
            let waited = now.saturating_since(Time::from_nanos(frame.time));
            if fate == Fate::Mark || (frame.packet.is_l4s() && waited > self.config.step) {
                signals.mark(&mut frame);
            }
            self.credit += cost;
            return Some(frame);
        }
    }

    fn packets(&self) -> u64 {
        self.low.len() + self.classic.len()
    }

    fn oldest(&self) -> Option<Time> {
        [&self.low, &self.classic].into_iter().filter_map(Fifo::oldest).min()
    }

    fn room(&self, size: u32) -> u64 {
        u64::from(self.config.limit).saturating_sub(self.packets()) * u64::from(size)
    }

    fn reset(&mut self, now: Time) -> Vec<Frame<P>> {
        (self.probability, self.last_delay, self.credit) = (0.0, Duration::ZERO, FIRST_CREDIT);
        self.next_update = now + self.config.update;
        let mut frames = self.low.take_all();
        frames.extend(self.classic.take_all());
        // In the order in which they came; of equals the L-queue's first.
        // The sort is stable.
        frames.sort_by_key(|frame| frame.time);
        frames
    }

    fn visit(&self, visit: &mut dyn FnMut(&Frame<P>)) {
        self.low.frames.iter().chain(&self.classic.frames).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, TestPacket, at};
    use super::*;
    use cogtcp_units::Rate;

    fn queues() -> DualPi2Queues<TestPacket> {
        let config = DualPi2::default();
        DualPi2Queues {
            next_update: Time::ZERO + config.update,
            config,
            low: Fifo::new(),
            classic: Fifo::new(),
            probability: 0.0,
            last_delay: Duration::ZERO,
            credit: FIRST_CREDIT,
            stream: RandomStream::new(1, "test", 0),
        }
    }

    fn l4s(number: u32) -> TestPacket {
        TestPacket { is_l4s: true, ..TestPacket::capable(number) }
    }

    /// RFC 9332, appendix A.1: both queues share the link by their costs, while both have packets; one alone pays
    /// nothing.
    #[test]
    fn a_queue_alone_pays_nothing_of_the_turn() {
        let taken = |low: &[u32], classic: &[u32]| {
            let mut queues = queues();
            let frame = |number: &u32| Frame::new(l4s(*number), 1000);
            low.iter().for_each(|number| queues.low.push(Time::ZERO, frame(number)));
            classic.iter().for_each(|number| queues.classic.push(Time::ZERO, frame(number)));
            queues.credit = 0;
            queues.take().map(|(frame, cost)| (frame.packet.number, cost))
        };
        assert_eq!((taken(&[1], &[]), taken(&[], &[2])), (Some((1, 0)), Some((2, 0))));
        assert_eq!((taken(&[1], &[2]), taken(&[], &[])), (Some((1, SHARE_C * 1000)), None));
    }

    /// A packet waits from 0 on. At 16 ms: 0.16 * (16 - 15) ms + 3.2 * 16 ms = 0.00016 + 0.0512; at 32 ms:
    /// 0.16 * 17 ms + 3.2 * 16 ms = 0.00272 + 0.0512 more.
    #[test]
    fn the_probability_follows_the_delay_at_its_times() {
        let mut queues = queues();
        queues.classic.push(Time::ZERO, Frame::new(TestPacket::new(1), 1000));
        queues.update(at(15));
        assert_eq!(queues.probability, 0.0);
        queues.update(at(31));
        assert!((queues.probability - 0.05136).abs() < 1e-12, "{}", queues.probability);
        queues.update(at(32));
        assert!((queues.probability - 0.10528).abs() < 1e-12, "{}", queues.probability);
        // Empty from then on: -0.16 * 15 ms - 3.2 * 32 ms at once, at least 0.
        queues.classic.pop();
        queues.update(at(48));
        assert!((queues.probability - 0.00048).abs() < 1e-12, "{}", queues.probability);
        // A pause of a day is made up for.
        queues.update(at(86_400_000));
        assert_eq!((queues.probability, queues.next_update > at(86_400_000)), (0.0, true));
    }

    /// A link that is destroyed gives its packets back in the order of their arrival, of both queues.
    #[test]
    fn a_reset_returns_both_queues_in_the_order_of_arrival() {
        let mut queues = queues();
        for (number, packet) in
            [TestPacket::new(0), l4s(1), TestPacket::new(2), l4s(3)].into_iter().enumerate()
        {
            let mut frame = Frame::new(packet, 1000);
            frame.time = at(number as u64).as_nanos();
            let of = if number % 2 == 0 { &mut queues.classic } else { &mut queues.low };
            of.push(at(number as u64), frame);
        }
        queues.probability = 0.5;
        let numbers: Vec<u32> = queues.reset(at(9)).iter().map(|frame| frame.packet.number).collect();
        assert_eq!((numbers, queues.packets(), queues.probability), (vec![0, 1, 2, 3], 0, 0.0));
    }

    /// Of p = 0.3: the classic queue drops 0.09, the L4S queue marks 0.6 (10,000 packets: 5 deviations are
    /// 0.015 and 0.025). ECN-capable classic packets are marked instead.
    #[test]
    fn the_queues_are_coupled_by_the_square() {
        let mut queues = queues();
        queues.probability = 0.3;
        let mut share = |packet: TestPacket, wanted: Fate| {
            let frame = Frame::new(packet, 1000);
            (0..10_000).filter(|_| queues.fate(&frame, 10_000) == wanted).count() as f64 / 1e4
        };
        assert!((share(TestPacket::new(0), Fate::Drop) - 0.09).abs() < 0.015);
        assert_eq!(share(TestPacket::new(0), Fate::Mark), 0.0);
        assert!((share(TestPacket::capable(0), Fate::Mark) - 0.09).abs() < 0.015);
        assert!((share(l4s(0), Fate::Mark) - 0.6).abs() < 0.025);
        assert_eq!(share(l4s(0), Fate::Drop), 0.0);
        // k p = 1.2: overload. p^2 = 0.36 of both are dropped, the other L4S packets marked.
        queues.probability = 0.6;
        let mut share = |packet: TestPacket, wanted: Fate| {
            let frame = Frame::new(packet, 1000);
            (0..10_000).filter(|_| queues.fate(&frame, 10_000) == wanted).count() as f64 / 1e4
        };
        assert!((share(TestPacket::capable(0), Fate::Drop) - 0.36).abs() < 0.025);
        assert!((share(l4s(0), Fate::Drop) - 0.36).abs() < 0.025);
        assert_eq!(share(l4s(0), Fate::Pass), 0.0);
        // Less than two packets wait: nothing happens.
        assert_eq!(queues.fate(&Frame::new(l4s(0), 1000), 4027), Fate::Pass);
    }

    #[test]
    fn an_l4s_packet_is_marked_after_a_millisecond_and_a_classic_one_is_not() {
        let mut bench = Bench::of(&DualPi2::default());
        for packet in [l4s(1), l4s(2), TestPacket::capable(3)] {
            bench.enqueue(0, packet);
        }
        let marks: Vec<_> = [1, 2, 9].map(|ms| bench.dequeue_frame(ms).unwrap().packet.marked).into();
        assert_eq!(marks, [false, true, false]);
    }

    /// While both wait, nine L4S packets go for each classic one; the L-queue begins with 1514 * 80 / 10
    /// bytes.
    #[test]
    fn the_classic_queue_gets_a_tenth_of_a_busy_link() {
        let mut queues = queues();
        for number in 0..200 {
            queues.low.push(Time::ZERO, Frame::new(l4s(number), 1000));
            queues.classic.push(Time::ZERO, Frame::new(TestPacket::new(number), 1000));
        }
        let mut signals = Signals::default();
        let taken: Vec<_> =
            (0..113).map(|_| queues.dequeue(Time::ZERO, &mut signals).unwrap().packet.is_l4s).collect();
        // 121,120 of credit: 13 packets of 10,000 first.
        assert!(taken[..13].iter().all(|is_l4s| *is_l4s));
        assert_eq!(taken[13..].iter().filter(|is_l4s| !**is_l4s).count(), 10);
    }

    #[test]
    fn both_queues_share_the_limit_and_come_back_in_order() {
        let mut bench = Bench::of(&DualPi2 { limit: 2, ..DualPi2::default() });
        bench.enqueue(0, TestPacket::new(1));
        bench.enqueue(1, l4s(2));
        bench.enqueue(1, TestPacket::new(3));
        assert_eq!(bench.dropped(), [(3, DropCause::Queue)]);
        assert_eq!((bench.room(1000), bench.packets()), (0, 2));
        let site = Site { rate: Rate::from_bits_per_second(1), stream: RandomStream::new(1, "test", 0) };
        let mut queues: Box<dyn QueueDiscipline<TestPacket>> = DualPi2::default().build(site);
        let mut signals = Signals::default();
        queues.enqueue(at(1), Frame::new(l4s(2), 1000), &mut signals);
        queues.enqueue(at(0), Frame::new(TestPacket::new(1), 1000), &mut signals);
        let order: Vec<_> = queues.reset(at(5)).iter().map(|frame| frame.packet.number).collect();
        assert_eq!(order, [1, 2]);
    }
}
