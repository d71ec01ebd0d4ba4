//! FQ-CoDel (RFC 8290): flows are hashed into queues that take turns by bytes, each under CoDel; flows that
//! just came go first.
//!
//! The hash has no random perturbation, so that a run does not depend on one: two flows may share a queue,
//! always the same two.

use super::codel::{Control, Law, MOST_PACKET, check_times};
use super::{Check, Discipline, DropCause, Fifo, Named, QueueDiscipline, Signals, Site};
use crate::frame::{Frame, LinkPayload};
use cogtcp_units::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packets dropped at once from the longest queue when the limit is reached, at most (section 4.1.2;
/// Linux's).
const DROP_BATCH: u32 = 64;

/// Which packets count when CoDel asks whether no more than one waits: it then drops none.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Backlog {
    /// Bytes of the flow's own queue. RFC 8290 applies CoDel to each queue alone, and RFC 8289 asks for the
    /// bytes of its queue (section 5.7). So does ns-3.
    #[default]
    Own,
    /// Bytes of all queues together: Linux (`sch_fq_codel.c` gives `codel_dequeue` the backlog of the whole
    /// discipline).
    All,
}

/// Queues of flows that take turns, each under CoDel.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqCoDel {
    /// Waiting time that a standing queue may have.
    pub target: Duration,
    /// How long the waiting time may stay above it.
    pub interval: Duration,
    /// Queues into which flows are hashed.
    pub flows: u32,
    /// Bytes that a queue may send in a turn.
    pub quantum: u32,
    /// Most packets that wait in all queues.
    pub limit: u32,
    /// Whether packets of senders that react to marks are marked in place of dropped (RFC 3168).
    pub ecn: bool,
    /// Whether each drop makes one Newton step towards the square root, as in Linux and ns-3.
    pub newton: bool,
    /// A packet is never dropped when it is the last one: of its flow's own queue, or of all.
    pub backlog: Backlog,
}

impl Default for FqCoDel {
    /// Section 5.2 of the RFC, which are Linux's; `backlog` is the RFC's.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            flows: 1024,
            quantum: MOST_PACKET as u32,
            limit: 10_240,
            ecn: true,
            newton: false,
            backlog: Backlog::default(),
        }
    }
}

impl Named for FqCoDel {
    const NAME: &'static str = "fq_codel";
    const SUMMARY: &'static str = "flows take turns, each in a queue of its own under CoDel";
    const REFERENCE: &'static str = "RFC 8290";

    fn check(&self, found: &mut dyn Check) {
        check_times(self.target, self.interval, found);
        let flows = (1..=65_536).contains(&self.flows);
        found.unless(flows, "flows", "it is out of range", "write a number from 1 to 65536");
        found.unless(self.quantum > 0, "quantum", "it is zero", "write for example 1514");
        found.unless(self.limit > 0, "limit", "the queues hold nothing", "write at least 1");
    }
}

impl<P: LinkPayload> Discipline<P> for FqCoDel {
    fn build(&self, _site: Site) -> Box<dyn QueueDiscipline<P>> {
        Box::new(FqCoDelQueues {
            flows: (0..self.flows).map(|_| Flow::new()).collect(),
            config: self.clone(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        })
    }
}

#[derive(Debug)]
struct FqCoDelQueues<P> {
    config: FqCoDel,
    flows: Vec<Flow<P>>,
    /// Queues that take turns: those that just became active, and the others.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes left of its turn.
    credits: i64,
    is_active: bool,
}

impl<P: LinkPayload> Flow<P> {
    fn new() -> Self {
        Self { fifo: Fifo::new(), control: Control::default(), credits: 0, is_active: false }
    }
}

impl<P: LinkPayload> FqCoDelQueues<P> {
    fn place(&self, packet: &P) -> u32 {
        // A remainder favours no queue by much: the hash spreads 32 bits over at most 65,536 queues.
        hash(packet.flow()) % self.config.flows
    }

    /// Drops half of the longest queue, from its head (section 4.1.3: the queue with most bytes).
    fn shed(&mut self, now: Time, signals: &mut Signals<P>) {
        let longest = self.new.iter().chain(&self.old).copied().max_by_key(|place| {
            // Of equals the first.
            (self.flows[*place as usize].fifo.bytes, std::cmp::Reverse(*place))
        });
        let Some(place) = longest else {
            debug_assert!(false, "more packets than may wait, and none waits");
            return;
        };
        let flow = &mut self.flows[place as usize];
        // Half, so that an unresponsive flow loses most and the search runs rarely (section 4.1.3).
        let enough = flow.fifo.bytes / 2;
        let mut shed = 0;
        // Many at once spread the cost of the search for the longest queue (Linux: `fq_codel_drop`).
        for _ in 0..DROP_BATCH {
            let Some(frame) = flow.fifo.pop() else {
                debug_assert!(false, "half of a queue is more than all of it");
                break;
            };
            shed += u64::from(frame.size());
            self.packets -= 1;
            self.bytes -= u64::from(frame.size());
            signals.drop(now, frame, DropCause::Queue);
            if shed >= enough {
                break;
            }
        }
    }
}

impl<P: LinkPayload> QueueDiscipline<P> for FqCoDelQueues<P> {
    fn enqueue(&mut self, now: Time, frame: Frame<P>, signals: &mut Signals<P>) {
        let place = self.place(&frame.packet);
        let flow = &mut self.flows[place as usize];
        self.packets += 1;
        self.bytes += u64::from(frame.size());
        flow.fifo.push(now, frame);
        if !flow.is_active {
            flow.is_active = true;
            flow.credits = i64::from(self.config.quantum);
            self.new.push_back(place);
        }
        // After the packet has joined: the longest queue pays, not the flow that comes last.
        if self.packets > u64::from(self.config.limit) {
            self.shed(now, signals);
        }
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: Time, signals: &mut Signals<P>) -> Option<Frame<P>> {
        let FqCoDel { target, interval, ecn, newton, .. } = self.config;
        let law = Law { target, interval, ecn, newton };
        loop {
            let from_new = !self.new.is_empty();
            let place = *self.new.front().or(self.old.front())?;
            let flow = &mut self.flows[place as usize];
            // Its turn is used up: it goes behind the old queues, also if it was new (section 4.2).
            if flow.credits <= 0 {
                flow.credits += i64::from(self.config.quantum);
                if from_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
                self.old.push_back(place);
                continue;
            }
            let counted = self.config.backlog;
            let (fifo, packets, bytes) = (&mut flow.fifo, &mut self.packets, &mut self.bytes);
            let frame = flow.control.dequeue(now, &law, signals, || {
                let frame = fifo.pop()?;
                *packets -= 1;
                *bytes -= u64::from(frame.size());
                let backlog = match counted {
                    Backlog::Own => fifo.bytes,
                    Backlog::All => *bytes,
                };
                Some((frame, backlog))
            });
            if let Some(frame) = frame {
                flow.credits -= i64::from(frame.size());
                return Some(frame);
            }
            // Empty. A new queue goes once through the old ones, so that it cannot stay new by sending now
            // and then.
            if from_new && !self.old.is_empty() {
                self.new.pop_front();
                self.old.push_back(place);
            } else {
                flow.is_active = false;
                if from_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
            }
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn oldest(&self) -> Option<Time> {
        let active = self.new.iter().chain(&self.old);
        active.filter_map(|place| self.flows[*place as usize].fifo.oldest()).min()
    }

    fn room(&self, size: u32) -> u64 {
        u64::from(self.config.limit).saturating_sub(self.packets) * u64::from(size)
    }

    fn reset(&mut self, _now: Time) -> Vec<Frame<P>> {
        let mut frames: Vec<_> = self.flows.iter_mut().flat_map(|flow| flow.fifo.take_all()).collect();
        // In the order in which they came; of one instant, by queue.
        frames.sort_by_key(|frame| frame.time);
        self.flows.fill_with(Flow::new);
        self.new.clear();
        self.old.clear();
        (self.packets, self.bytes) = (0, 0);
        frames
    }

    fn visit(&self, visit: &mut dyn FnMut(&Frame<P>)) {
        self.flows.iter().flat_map(|flow| &flow.fifo.frames).for_each(visit);
    }
}

/// The finaliser of MurmurHash3 (public domain): every bit of the number counts.
fn hash(flow: u32) -> u32 {
    let mut bits = flow;
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, TestPacket};
    use super::*;

    fn bench(config: FqCoDel) -> Bench {
        Bench::of(&config)
    }

    fn of_flow(flow: u32, numbers: std::ops::Range<u32>) -> impl Iterator<Item = TestPacket> {
        numbers.map(move |number| TestPacket::of_flow(number, flow))
    }

    /// Flow 1 has five packets waiting, flow 2 two that came later: they take turns. A turn of 1514 bytes
    /// lets a queue of 1000-byte packets send two, then one and two in turns (credits 1514, 514, -486; + 1514
    /// = 1028, 28, -972; 542).
    #[test]
    fn flows_take_turns_by_bytes() {
        let mut bench = bench(FqCoDel::default());
        of_flow(1, 10..16).chain(of_flow(2, 20..26)).for_each(|packet| bench.enqueue(0, packet));
        let order: Vec<_> = (0..12).filter_map(|_| bench.dequeue(1)).collect();
        assert_eq!(order, [10, 11, 20, 21, 12, 13, 22, 23, 14, 24, 15, 25]);
    }

    /// With a quantum of one packet they alternate strictly.
    #[test]
    fn a_quantum_of_a_packet_alternates() {
        let mut bench = bench(FqCoDel { quantum: 1000, ..FqCoDel::default() });
        of_flow(1, 10..13).chain(of_flow(2, 20..23)).for_each(|packet| bench.enqueue(0, packet));
        let order: Vec<_> = (0..6).filter_map(|_| bench.dequeue(1)).collect();
        assert_eq!(order, [10, 20, 11, 21, 12, 22]);
    }

    /// A flow that just came goes before one that has had its turn.
    #[test]
    fn a_new_flow_goes_first() {
        let mut bench = bench(FqCoDel { quantum: 1000, ..FqCoDel::default() });
        of_flow(1, 10..14).for_each(|packet| bench.enqueue(0, packet));
        assert_eq!((bench.dequeue(1), bench.dequeue(2)), (Some(10), Some(11)));
        bench.enqueue(3, TestPacket::of_flow(20, 2));
        assert_eq!((bench.dequeue(3), bench.dequeue(4)), (Some(20), Some(12)));
    }

    /// A flow that sends a packet each time that its queue ran empty is not new each time: it goes through
    /// the old queues first (section 4.2).
    #[test]
    fn a_queue_that_ran_empty_is_not_new_at_once() {
        let mut bench = bench(FqCoDel { quantum: 1000, ..FqCoDel::default() });
        of_flow(1, 10..14).for_each(|packet| bench.enqueue(0, packet));
        assert_eq!(bench.dequeue(0), Some(10));
        bench.enqueue(1, TestPacket::of_flow(20, 2));
        assert_eq!(bench.dequeue(1), Some(20));
        // Queue 2 is empty, with no credits; it is put behind queue 1 among the old ones.
        assert_eq!(bench.dequeue(2), Some(11));
        bench.enqueue(3, TestPacket::of_flow(21, 2));
        assert_eq!((bench.dequeue(3), bench.dequeue(4)), (Some(21), Some(12)));
        bench.enqueue(5, TestPacket::of_flow(22, 2));
        assert_eq!((bench.dequeue(5), bench.dequeue(6)), (Some(22), Some(13)));
    }

    /// At the limit the queue with most bytes loses half of them, at its head.
    #[test]
    fn the_longest_queue_is_shed_from() {
        let mut bench = bench(FqCoDel { limit: 6, ..FqCoDel::default() });
        of_flow(1, 10..15).chain(of_flow(2, 20..22)).for_each(|packet| bench.enqueue(0, packet));
        let full = DropCause::Queue;
        // Five packets of flow 1 when the seventh comes: half is 2500 bytes, reached with three.
        assert_eq!(bench.dropped(), [(10, full), (11, full), (12, full)]);
        assert_eq!(bench.packets(), 4);
    }

    /// CoDel acts in each queue: a flow that floods is dropped from, one that does not is left alone.
    #[test]
    fn only_the_flow_that_floods_is_dropped_from() {
        let mut bench = bench(FqCoDel::default());
        let mut lost = Vec::new();
        for ms in 0..600 {
            bench.enqueue(ms, TestPacket::of_flow(1, 1));
            bench.enqueue(ms, TestPacket::of_flow(1, 1));
            if ms % 10 == 0 {
                bench.enqueue(ms, TestPacket::of_flow(2, 2));
            }
            bench.dequeue(ms);
            lost.extend(bench.dropped().into_iter().map(|(number, _)| number));
        }
        assert!(!lost.is_empty() && lost.iter().all(|number| *number == 1), "{lost:?}");
    }

    /// Flow 1 always has one packet in its queue, which has waited 200 ms when it leaves; flow 2 has a
    /// standing queue. By its own queue flow 1 is never dropped from (RFC 8290); by all queues it is, once it
    /// has waited too long for 100 ms (Linux).
    #[test]
    fn the_last_packet_of_a_flow_is_dropped_only_if_all_queues_count() {
        let drops_of = |backlog: Backlog| {
            let mut bench = bench(FqCoDel { quantum: 1000, backlog, ..FqCoDel::default() });
            let mut lost = std::collections::BTreeSet::new();
            (0..9).for_each(|_| bench.enqueue(0, TestPacket::of_flow(2, 2)));
            for round in 0..5 {
                bench.enqueue(round * 200, TestPacket::of_flow(1, 1));
                bench.enqueue(round * 200, TestPacket::of_flow(2, 2));
                assert!(bench.dequeue((round + 1) * 200 - 1).is_some());
                assert!(bench.dequeue((round + 1) * 200 - 1).is_some());
                lost.extend(bench.dropped().into_iter().map(|(number, _)| number));
            }
            lost.into_iter().collect::<Vec<u32>>()
        };
        assert_eq!(drops_of(Backlog::Own), [2]);
        assert_eq!(drops_of(Backlog::All), [1, 2]);
    }

    /// With 1024 queues the hash spreads 1024 flows as evenly as chance would: 1 - 1/e of the queues are
    /// used.
    #[test]
    fn the_hash_spreads_flows() {
        let used: std::collections::BTreeSet<u32> = (0..1024).map(|flow| hash(flow) % 1024).collect();
        assert!(used.len().abs_diff(647) < 40, "{}", used.len());
    }
}
