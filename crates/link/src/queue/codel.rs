//! CoDel, controlled delay (RFC 8289): drops at the head once packets have waited longer than a target for an
//! interval.

use super::{Check, Discipline, DropCause, Fifo, Named, QueueDiscipline, Signals, Site};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue whose packets may wait `target` for long, and longer only for an `interval`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoDel {
    /// Waiting time that a standing queue may have: 5 ms, or 5 to 10 % of `interval` (section 4.4).
    pub target: Duration,
    /// How long the waiting time may stay above it: the longest usual round-trip time (section 4.3).
    pub interval: Duration,
    /// Most packets that wait.
    pub limit: u32,
    /// Whether packets of senders that react to marks are marked in place of dropped (RFC 3168).
    pub ecn: bool,
    /// Whether each drop makes one Newton step towards the square root, as in Linux and ns-3.
    pub newton: bool,
}

impl Default for CoDel {
    /// The RFC's constants, and the limit of Linux.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: 1000,
            ecn: true,
            newton: false,
        }
    }
}

impl Named for CoDel {
    const NAME: &'static str = "codel";
    const SUMMARY: &'static str =
        "drops at the head once packets have waited longer than a target for an interval";
    const REFERENCE: &'static str = "RFC 8289";

    fn check(&self, found: &mut dyn Check) {
        check_times(self.target, self.interval, found);
        found.unless(self.limit > 0, "limit", "the queue holds nothing", "write at least 1");
    }
}

impl<P: LinkPayload> Discipline<P> for CoDel {
    fn build(&self, _site: Site) -> Box<dyn QueueDiscipline<P>> {
        Box::new(CoDelQueue { config: self.clone(), fifo: Fifo::new(), control: Control::default() })
    }
}

/// What CoDel and FQ-CoDel ask of their times.
pub(super) fn check_times(target: Duration, interval: Duration, found: &mut dyn Check) {
    found.unless(!target.is_zero(), "target", "it is zero", "write for example \"5 ms\"");
    found.unless(
        interval >= target,
        "interval",
        "it is shorter than the target",
        "write a usual round-trip time, for example \"100 ms\"",
    );
}

/// Bytes that never are worth a drop: one packet of the usual size (MAXPACKET of section 5.4).
pub(super) const MOST_PACKET: u64 = 1514;

/// The state of section 5.3; one for each queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// When the waiting time will have been above the target for an interval; `None`: it is below.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// Of `count`, where Newton's steps approximate it: in 2^-16.
    inverse_root: u16,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            // Zero would stay zero.
            inverse_root: u16::MAX,
        }
    }
}

/// What a control works with.
pub(super) struct Law {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    pub(super) ecn: bool,
    pub(super) newton: bool,
}

impl Control {
    /// Takes the next packet that is not dropped. `bytes` are those that wait besides it, wherever CoDel
    /// counts them.
    pub(super) fn dequeue<P: LinkPayload>(
        &mut self,
        now: Time,
        law: &Law,
        signals: &mut Signals<P>,
        mut next: impl FnMut() -> Option<(Frame<P>, u64)>,
    ) -> Option<Frame<P>> {
        let (mut packet, mut may_drop) = self.look(now, law, &mut next);
        if self.dropping {
            if !may_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                self.step();
                // A mark takes the place of one drop: the law goes on as after a drop (Linux:
                // `codel_dequeue`).
                if mark(&mut packet, law, signals) {
                    self.drop_next = self.next(law, self.drop_next);
                    return packet;
                }
                drop_packet(now, packet, signals);
                (packet, may_drop) = self.look(now, law, &mut next);
                if may_drop {
                    self.drop_next = self.next(law, self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop {
            if !mark(&mut packet, law, signals) {
                drop_packet(now, packet, signals);
                (packet, _) = self.look(now, law, &mut next);
            }
            self.dropping = true;
            // If the last episode of drops is recent, the rate that it came to is a better start than one.
            // Linux and the RFC subtract in unsigned integers; a control that started over has a count below
            // the last.
            let delta = self.count.saturating_sub(self.last_count);
            // 16 intervals, as in the RFC's pseudocode.
            let is_recent = now.saturating_since(self.drop_next) < law.interval * 16;
            if delta > 1 && is_recent {
                self.count = delta;
                self.step();
            } else {
                (self.count, self.inverse_root) = (1, u16::MAX);
            }
            self.drop_next = self.next(law, now);
            self.last_count = self.count;
        }
        packet
    }

    /// Takes a packet and says whether it may be dropped (`dodequeue` of section 5.7).
    fn look<P: LinkPayload>(
        &mut self,
        now: Time,
        law: &Law,
        next: &mut impl FnMut() -> Option<(Frame<P>, u64)>,
    ) -> (Option<Frame<P>>, bool) {
        let Some((frame, bytes)) = next() else {
            // Nothing waits.
            self.first_above = None;
            return (None, false);
        };
        let waited = now.saturating_since(Time::from_nanos(frame.time));
        let mut may_drop = false;
        // With one packet or less behind it a drop would idle the link and shorten no queue.
        if waited < law.target || bytes <= MOST_PACKET {
            self.first_above = None;
        } else {
            match self.first_above {
                None => self.first_above = Some(now + law.interval),
                Some(time) => may_drop = now >= time,
            }
        }
        (Some(frame), may_drop)
    }

    /// `control_law` of section 5.7: the next drop comes an interval over the square root of the count later.
    fn next(&self, law: &Law, from: Time) -> Time {
        let interval = law.interval.as_nanos();
        if law.newton {
            return from
                + Duration::from_nanos(
                    ((u128::from(interval) * u128::from(self.inverse_root)) >> 16) as u64,
                );
        }
        // IEEE 754 rounds a square root correctly, so every machine gets the same bits without `libm`.
        let span = interval as f64 / f64::from(self.count.max(1)).sqrt();
        from + Duration::from_nanos(span as u64)
    }

    /// One of Newton's steps towards 1 / sqrt(count), x (3 - count x^2) / 2, from the value of the last drop,
    /// in integers as Linux's `codel_Newton_step` and ns-3's. After the first drop it gives 0.5, not 0.71.
    fn step(&mut self) {
        let x = u64::from(self.inverse_root) << 16;
        let square = (x * x) >> 32;
        let rest = (3u64 << 32).saturating_sub(u64::from(self.count) * square) >> 2;
        // At least 1, as zero would stay zero.
        self.inverse_root = (((rest * x) >> 47) as u16).max(1);
    }
}

/// Marks the packet, if it may be. Linux's `codel_impl.h` does so; the RFC leaves it open.
fn mark<P: LinkPayload>(packet: &mut Option<Frame<P>>, law: &Law, signals: &mut Signals<P>) -> bool {
    match packet {
        Some(frame) if law.ecn && frame.packet.is_ecn_capable() => {
            signals.mark(frame);
            true
        }
        _ => false,
    }
}

fn drop_packet<P: LinkPayload>(now: Time, packet: Option<Frame<P>>, signals: &mut Signals<P>) {
    if let Some(frame) = packet {
        signals.drop(now, frame, DropCause::Early);
    }
}

/// A queue under CoDel.
#[derive(Debug)]
struct CoDelQueue<P> {
    config: CoDel,
    fifo: Fifo<P>,
    control: Control,
}

impl<P: LinkPayload> QueueDiscipline<P> for CoDelQueue<P> {
    fn enqueue(&mut self, now: Time, frame: Frame<P>, signals: &mut Signals<P>) {
        // The limit guards memory only: CoDel itself never drops at the tail.
        if self.fifo.len() >= u64::from(self.config.limit) {
            signals.drop(now, frame, DropCause::Queue);
        } else {
            self.fifo.push(now, frame);
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut Signals<P>) -> Option<Frame<P>> {
        let CoDel { target, interval, ecn, newton, .. } = self.config;
        let law = Law { target, interval, ecn, newton };
        let fifo = &mut self.fifo;
        self.control.dequeue(now, &law, signals, || {
            let frame = fifo.pop()?;
            Some((frame, fifo.bytes))
        })
    }

    fn packets(&self) -> u64 {
        self.fifo.len()
    }

    fn oldest(&self) -> Option<Time> {
        self.fifo.oldest()
    }

    fn room(&self, size: u32) -> u64 {
        u64::from(self.config.limit).saturating_sub(self.fifo.len()) * u64::from(size)
    }

    fn reset(&mut self, _now: Time) -> Vec<Frame<P>> {
        self.control = Control::default();
        self.fifo.take_all()
    }

    fn visit(&self, visit: &mut dyn FnMut(&Frame<P>)) {
        self.fifo.frames.iter().for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, TestPacket, at};
    use super::*;

    fn bench(ecn: bool) -> Bench {
        Bench::of(&CoDel { ecn, ..CoDel::default() })
    }

    /// Five packets wait from time zero, and one is taken every millisecond: none waits 5 ms.
    #[test]
    fn a_queue_below_the_target_is_left_alone() {
        let mut bench = bench(false);
        for number in 0..5 {
            bench.enqueue(0, TestPacket::new(number));
        }
        let taken: Vec<_> = (0..5).map(|ms| bench.dequeue(ms)).collect();
        assert_eq!(taken, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert!(bench.dropped().is_empty());
    }

    /// Returns when packets were dropped, ms, of a standing queue of 20 ms: one packet in and one out each
    /// millisecond.
    fn drops_of_a_standing_queue(mut bench: Bench) -> Vec<u64> {
        let mut drops = Vec::new();
        for ms in 0..400 {
            bench.enqueue(ms, TestPacket::new(ms as u32));
            if ms >= 20 {
                bench.dequeue(ms);
                if !bench.dropped().is_empty() {
                    drops.push(ms);
                    // The drop shortened the queue: fill it up, to keep the waiting time.
                    bench.enqueue(ms, TestPacket::new(1000));
                }
            }
        }
        drops
    }

    /// Each packet of the standing queue waits 20 ms: above the target from 20 ms on. So the first drop
    /// is at 20 + 100 = 120 ms. The next are an interval over sqrt(1), sqrt(2), ... later:
    /// 220, 220 + 70.7 -> the dequeue at 291, then + 57.7 = 348.4 -> 349.
    #[test]
    fn a_standing_queue_is_dropped_from_at_shrinking_intervals() {
        assert_eq!(drops_of_a_standing_queue(bench(false)), [120, 220, 291, 349, 399]);
    }

    /// Newton's steps give 1, 1 (3 - 2) / 2 = 0.5, 0.5 (3 - 3 / 4) / 2 = 0.5625, and 0.4878:
    /// 120 + 100, + 50 -> 270, + 56.25 -> 326.25, + 48.78 -> 375.03.
    #[test]
    fn newtons_steps_approximate_the_square_root() {
        let bench = Bench::of(&CoDel { ecn: false, newton: true, ..CoDel::default() });
        assert_eq!(drops_of_a_standing_queue(bench), [120, 220, 270, 327, 376]);
    }

    /// With senders that react a packet is marked and passed on, at the times of the drops.
    #[test]
    fn packets_that_can_be_marked_are_not_dropped() {
        let mut bench = bench(true);
        let mut marks = Vec::new();
        for ms in 0..300 {
            bench.enqueue(ms, TestPacket::capable(ms as u32));
            if ms >= 20 {
                let packet = bench.dequeue_frame(ms).expect("one waits");
                if packet.packet.marked {
                    marks.push(ms);
                }
            }
        }
        assert_eq!((marks, bench.dropped().len()), (vec![120, 220, 291], 0));
    }

    /// With one packet left to wait, nothing is dropped however long it waited (section 5.7: bytes() <=
    /// MAXPACKET).
    #[test]
    fn the_last_packet_is_never_dropped() {
        let mut bench = bench(false);
        for ms in [0, 1000, 2000, 3000] {
            bench.enqueue(ms, TestPacket::new(1));
            assert_eq!(bench.dequeue(ms + 900), Some(1));
        }
        assert!(bench.dropped().is_empty());
    }

    /// A new episode within 16 intervals of the last resumes its rate: `count` begins at count - lastcount.
    #[test]
    fn a_recent_episode_is_resumed_at_its_rate() {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        let law = Law { target, interval, ecn: false, newton: false };
        let mut control = Control {
            first_above: Some(at(1000)),
            drop_next: at(990),
            count: 9,
            last_count: 2,
            ..Control::default()
        };
        let mut dropped = Signals::default();
        let mut waiting = (0..3).map(|n| (Frame::new(TestPacket::new(n), 1000), 3000));
        let taken = control.dequeue(at(1000), &law, &mut dropped, || waiting.next());
        assert_eq!(taken.map(|frame| frame.packet.number), Some(1));
        // 100 ms / sqrt(7) = 37.796447 ms.
        assert_eq!((control.count, control.drop_next), (7, Time::from_nanos(1_037_796_447)));
        // The episode after this one counts from here.
        assert_eq!(control.last_count, 7);
        // More than 16 intervals later it starts from one.
        control = Control {
            drop_next: at(990),
            count: 9,
            last_count: 2,
            first_above: Some(at(1000)),
            ..Control::default()
        };
        let mut waiting = (0..3).map(|n| (Frame::new(TestPacket::new(n), 1000), 3000));
        control.dequeue(at(2600), &law, &mut dropped, || waiting.next());
        assert_eq!((control.count, control.drop_next), (1, at(2700)));
    }

    #[test]
    fn what_finds_the_queue_full_is_dropped_at_the_tail() {
        let mut bench = Bench::of(&CoDel { limit: 2, ..CoDel::default() });
        for number in 0..3 {
            bench.enqueue(0, TestPacket::new(number));
        }
        assert_eq!(bench.dropped(), [(2, DropCause::Queue)]);
        assert_eq!(bench.room(1000), 0);
    }
}
