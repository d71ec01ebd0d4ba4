//! RED, random early detection (Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993), in
//! packets, with the "gentle" variant (Floyd, 2000) and ECN (RFC 3168).

use super::{Check, Discipline, DropCause, Fifo, Named, QueueDiscipline, Signals, Site};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::{Duration, Probability, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue that drops or marks at random, the more often the longer it is on average.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Red {
    /// Average queue in packets from which on packets are dropped or marked (min_th).
    pub min_threshold: f64,
    /// Average queue in packets at which the probability is `max_probability` (max_th).
    pub max_threshold: f64,
    /// The probability there (max_p).
    pub max_probability: Probability,
    /// Weight of the present queue in the average (w_q).
    pub weight: f64,
    /// Whether the probability rises on to 1 at twice `max_threshold`, in place of a jump to 1.
    pub gentle: bool,
    /// Most packets that wait.
    pub limit: u32,
    /// Whether packets of senders that react to marks are marked in place of dropped, as long as chance
    /// decides (RFC 3168).
    pub ecn: bool,
    /// Size in bytes of the packets by which an idle time is counted.
    pub mean_packet: u32,
    /// Whether drops are spaced by ns-2's and ns-3's rules: none before `count` times the probability is 1,
    /// and none while at most one packet waits (`wait_` of ns-2).
    pub ns_rules: bool,
}

impl Default for Red {
    /// The paper's thresholds and weight; 10 % for max_p, and gentle, as Floyd recommended later (and ns-2
    /// does).
    fn default() -> Self {
        Self {
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_probability: Probability::new(0.1).unwrap_or(Probability::ZERO),
            weight: 0.002,
            gentle: true,
            limit: 100,
            ecn: true,
            mean_packet: 1000,
            ns_rules: false,
        }
    }
}

impl Named for Red {
    const NAME: &'static str = "red";
    const SUMMARY: &'static str =
        "drops or marks at random, the more often the longer the queue is on average";
    const REFERENCE: &'static str = "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993; RFC 3168";

    fn check(&self, found: &mut dyn Check) {
        let low = self.min_threshold;
        found.unless(low > 0.0, "min_threshold", "it is not above zero", "write for example 5");
        found.unless(
            self.max_threshold > low && self.max_threshold < 1e9,
            "max_threshold",
            "it is not above min_threshold",
            "write about three times min_threshold",
        );
        found.unless(
            self.weight > 0.0 && self.weight <= 1.0,
            "weight",
            "it is not in 0 to 1",
            "write for example 0.002",
        );
        let most = self.max_probability.get();
        found.unless(most > 0.0, "max_probability", "it is zero", "write for example \"10 %\"");
        found.unless(self.limit > 0, "limit", "the queue holds nothing", "write at least 1");
        found.unless(self.mean_packet > 0, "mean_packet", "it is zero", "write for example 1000");
    }
}

impl<P: LinkPayload> Discipline<P> for Red {
    fn is_random(&self) -> bool {
        true
    }

    fn build(&self, site: Site) -> Box<dyn QueueDiscipline<P>> {
        Box::new(RedQueue {
            config: self.clone(),
            fifo: Fifo::new(),
            average: 0.0,
            count: -1,
            // Empty from the start: the first packet finds an average that has only decayed.
            idle_since: Some(Time::ZERO),
            service: site.rate.transmission_time(u64::from(self.mean_packet)),
            stream: site.stream,
        })
    }
}

/// A queue under RED.
#[derive(Debug)]
struct RedQueue<P> {
    config: Red,
    fifo: Fifo<P>,
    average: f64,
    /// Packets since the last one that was dropped or marked; -1: the average is below the lower threshold.
    count: i64,
    /// Since when the queue is empty.
    idle_since: Option<Time>,
    /// What a mean packet takes on the link.
    service: Duration,
    stream: RandomStream,
}

/// What RED does with a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Decision {
    Accept,
    /// By chance.
    Signal,
    /// The average queue is too long for chance.
    Forced,
}

impl<P: LinkPayload> RedQueue<P> {
    /// The average as of an arrival, with the idle time counted as so many packets that could have left.
    fn update(&mut self, now: Time) {
        let (weight, queue) = (self.config.weight, self.fifo.len() as f64);
        match self.idle_since.filter(|_| self.fifo.len() == 0) {
            None => self.average += weight * (queue - self.average),
            Some(since) => {
                let service = self.service.as_nanos().max(1) as f64;
                let missed = now.saturating_since(since).as_nanos() as f64 / service;
                self.average *= libm::pow(1.0 - weight, missed);
                // This packet may be dropped: the idle time up to now must not be counted twice.
                self.idle_since = Some(now);
            }
        }
    }

    fn decide(&mut self) -> Decision {
        let Red { min_threshold, max_threshold, gentle, ns_rules, .. } = self.config;
        let most = self.config.max_probability.get();
        if self.average < min_threshold || (ns_rules && self.fifo.len() <= 1) {
            // The paper's -1: the first packet above the threshold makes it 0.
            self.count = -1;
            return Decision::Accept;
        }
        let probability = if self.average < max_threshold {
            most * (self.average - min_threshold) / (max_threshold - min_threshold)
        } else if gentle && self.average < 2.0 * max_threshold {
            most + (1.0 - most) * (self.average - max_threshold) / max_threshold
        } else {
            self.count = 0;
            return Decision::Forced;
        };
        // Uniform in the number of packets between two signals (section VII of the paper).
        self.count += 1;
        let mut spread = 1.0 - self.count as f64 * probability;
        if ns_rules {
            // `modify_p` of red.cc: the same law, 1 / `probability` packets later.
            if spread > 0.0 {
                return Decision::Accept;
            }
            spread += 1.0;
        }
        let drawn = self.stream.uniform();
        // After 1 / `probability` packets without a signal the next one is certain.
        if spread <= 0.0 || drawn < probability / spread {
            self.count = 0;
            return Decision::Signal;
        }
        Decision::Accept
    }
}

impl<P: LinkPayload> QueueDiscipline<P> for RedQueue<P> {
    fn enqueue(&mut self, now: Time, mut frame: Frame<P>, signals: &mut Signals<P>) {
        self.update(now);
        let decision = self.decide();
        // A forced drop hits ECN-capable packets too: marks no longer hold the queue down when the average is
        // that high.
        let marks = decision == Decision::Signal && self.config.ecn && frame.packet.is_ecn_capable();
        if decision != Decision::Accept && !marks {
            signals.drop(now, frame, DropCause::Early);
            return;
        }
        if self.fifo.len() >= u64::from(self.config.limit) {
            self.count = 0;
            signals.drop(now, frame, DropCause::Queue);
            return;
        }
        if marks {
            signals.mark(&mut frame);
        }
        self.idle_since = None;
        self.fifo.push(now, frame);
    }

    fn dequeue(&mut self, now: Time, _signals: &mut Signals<P>) -> Option<Frame<P>> {
        let frame = self.fifo.pop();
        if self.fifo.len() == 0 {
            self.idle_since = Some(now);
        }
        frame
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

    fn reset(&mut self, now: Time) -> Vec<Frame<P>> {
        (self.average, self.count, self.idle_since) = (0.0, -1, Some(now));
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
    use cogtcp_units::Rate;

    fn queue(config: Red) -> RedQueue<TestPacket> {
        let rate = Rate::from_bits_per_second(8_000_000);
        RedQueue {
            fifo: Fifo::new(),
            average: 0.0,
            count: -1,
            idle_since: Some(Time::ZERO),
            service: rate.transmission_time(u64::from(config.mean_packet)),
            stream: RandomStream::new(1, "red", 0),
            config,
        }
    }

    /// With a weight of a half: queues of 0, 1, 2 seen by arrivals give 0, 0.5, 1.25.
    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let mut red = queue(Red { weight: 0.5, ..Red::default() });
        let mut dropped = Signals::default();
        let averages: Vec<_> = (0..3)
            .map(|number| {
                red.enqueue(at(0), Frame::new(TestPacket::new(number), 1000), &mut dropped);
                red.average
            })
            .collect();
        assert_eq!(averages, [0.0, 0.5, 1.25]);
    }

    /// Idle for 3 ms, in which three packets of 1 ms could have left: the average is halved three times.
    #[test]
    fn an_idle_time_counts_as_packets_that_could_have_left() {
        let mut red = queue(Red { weight: 0.5, ..Red::default() });
        red.average = 4.0;
        red.idle_since = Some(at(10));
        red.update(at(13));
        assert!((red.average - 0.5).abs() < 1e-12, "{}", red.average);
    }

    /// At an average of 10 between 5 and 15 with max_p of 10 %: p_b = 0.05, so signals are 1 to 19 packets
    /// apart, each distance as likely: 10 on average.
    #[test]
    fn signals_are_uniformly_apart() {
        let mut red = queue(Red::default());
        red.average = 10.0;
        let (mut since, mut gaps) = (0u32, Vec::new());
        for _ in 0..200_000 {
            since += 1;
            if red.decide() == Decision::Signal {
                gaps.push(std::mem::take(&mut since));
            }
        }
        // The first gap is from the beginning.
        assert!(gaps[1..].iter().all(|gap| (1..=19).contains(gap)));
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
    }

    /// The same average by ns-2's rules: 1 / p_b = 20 packets pass first, so signals are 20 to 39 apart.
    #[test]
    fn by_ns_rules_signals_wait_for_a_mean_distance() {
        let mut red = queue(Red { ns_rules: true, ..Red::default() });
        (0..2).for_each(|number| red.fifo.push(at(0), Frame::new(TestPacket::new(number), 1000)));
        red.average = 10.0;
        let (mut since, mut gaps) = (0u32, Vec::new());
        for _ in 0..100_000 {
            since += 1;
            if red.decide() == Decision::Signal {
                gaps.push(std::mem::take(&mut since));
            }
        }
        assert!(gaps[1..].iter().all(|gap| (20..=39).contains(gap)), "{gaps:?}");
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 29.5).abs() < 0.4, "{mean}");
    }

    /// By ns-2's rules a packet that finds only one other is accepted at any average, and the count restarts.
    #[test]
    fn by_ns_rules_a_queue_of_one_packet_is_spared() {
        let mut red = queue(Red { ns_rules: true, ..Red::default() });
        (red.average, red.count) = (40.0, 7);
        red.fifo.push(at(0), Frame::new(TestPacket::new(0), 1000));
        assert_eq!((red.decide(), red.count), (Decision::Accept, -1));
        red.fifo.push(at(0), Frame::new(TestPacket::new(1), 1000));
        assert_eq!(red.decide(), Decision::Forced);
    }

    /// Below the lower threshold nothing is drawn, and the count restarts: the first packet above makes it 0.
    #[test]
    fn below_the_lower_threshold_the_count_restarts() {
        let mut red = queue(Red::default());
        (red.average, red.count) = (4.999, 7);
        let stream = red.stream.clone();
        assert_eq!((red.decide(), red.count), (Decision::Accept, -1));
        assert_eq!(red.stream.clone().uniform(), stream.clone().uniform());
        // At the threshold itself p_b is 0: no signal yet, but a packet that counts.
        red.average = 5.0;
        assert_eq!((red.decide(), red.count), (Decision::Accept, 0));
        // Beyond the upper one a forced drop makes it 0, too.
        (red.average, red.count) = (30.0, 7);
        assert_eq!((red.decide(), red.count), (Decision::Forced, 0));
    }

    /// Gentle: from max_p at the upper threshold to 1 at twice that; not gentle: all at the threshold.
    #[test]
    fn above_the_upper_threshold_all_are_dropped_at_once_or_gently() {
        let mut red = queue(Red { gentle: false, ..Red::default() });
        red.average = 15.0;
        assert_eq!(red.decide(), Decision::Forced);
        let mut red = queue(Red::default());
        red.average = 29.999;
        assert_eq!((0..100).filter(|_| red.decide() == Decision::Signal).count(), 100);
        red.average = 30.0;
        assert_eq!(red.decide(), Decision::Forced);
    }

    /// Senders that react are marked where chance decides, and dropped beyond (RFC 3168 section 7).
    #[test]
    fn marks_take_the_place_of_early_drops_only() {
        let mut dropped = Signals::default();
        for (average, marked, drops) in [(29.999, true, 0), (40.0, false, 1)] {
            let mut red = queue(Red { weight: 1e-12, ..Red::default() });
            (red.average, red.idle_since) = (average, None);
            red.enqueue(at(0), Frame::new(TestPacket::capable(1), 1000), &mut dropped);
            let seen = red.dequeue(at(1), &mut dropped).is_some_and(|frame| frame.packet.marked);
            assert_eq!(
                (seen, std::iter::from_fn(|| dropped.take_dropped()).count()),
                (marked, drops),
                "{average}"
            );
        }
    }

    #[test]
    fn a_full_queue_drops() {
        let mut bench = Bench::of(&Red { limit: 3, ..Red::default() });
        (0..5).for_each(|number| bench.enqueue(0, TestPacket::new(number)));
        assert_eq!(bench.dropped(), [(3, DropCause::Queue), (4, DropCause::Queue)]);
        assert_eq!((bench.packets(), bench.room(1000)), (3, 0));
    }
}
