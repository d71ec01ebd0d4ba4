//! A link direction: a drop-tail queue, a transmitter of some rate, a propagation delay, random loss, and the gate of
//! a cognitive radio.
//!
//! All packets of the pipe sit in one ring, in order: first those whose transmission has begun (on the air or
//! propagating), then those that wait. Since the pipe is first in, first out, the start of every transmission follows
//! from the past alone, so nothing is scheduled for it: [`Pipe::catch_up`] plays what has begun by `now` whenever
//! somebody looks, and only the arrival of the first packet is an event. Whatever changes the future (gate, rate)
//! plays the past first.
//!
//! At one instant, transmissions begin before the gate or the rate changes.

use crate::packets::Parcel;
use cogtcp_units::{Probability, RandomStream, Rate, Time};

mod ring;
use ring::Ring;

/// A packet on its way, as the pipes see it: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Transit {
    /// While waiting: when it entered the queue. Afterwards: when it arrives at the far end. Nanoseconds.
    pub(crate) time: u64,
    /// Nanoseconds spent waiting in queues so far, on all links of the path; with [`MARKED`] for a packet that met a long
    /// queue.
    pub(crate) waited: u64,
    /// `2 * flow`, plus 1 when it goes from receiver to sender.
    pub(crate) stream: u32,
    /// Bytes on the wire; [`LOST`] marks a frame that a silence destroyed.
    pub(crate) wire: u32,
    /// Position in the network's list of paths of the pipe after this one.
    pub(crate) next: u32,
    pub(crate) parcel: Parcel,
}

/// Flag in [`Transit::wire`].
const LOST: u32 = 1 << 31;

/// Flag in [`Transit::waited`].
const MARKED: u64 = 1 << 63;

impl Transit {
    /// Takes the mark off, if there is one (ECN: congestion experienced).
    #[inline]
    pub(crate) fn take_mark(&mut self) -> bool {
        let marked = self.waited & MARKED != 0;
        self.waited &= !MARKED;
        marked
    }

    /// Bytes on the wire.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.wire & !LOST
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DropCause {
    /// The queue was full.
    Queue,
    /// Lost on the link, by chance or by the list of drops.
    Loss,
    /// Its transmission met a silence.
    Silence,
    /// The MAC gave it up: no answer, collisions or frame errors up to the retry limit.
    Retry,
    /// The MAC gave it up, the last attempt destroyed by a primary user.
    Interference,
}

impl DropCause {
    /// Every cause.
    pub(crate) const ALL: [Self; 5] =
        [Self::Queue, Self::Loss, Self::Silence, Self::Retry, Self::Interference];

    /// The cause's name in the event table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::Silence => "silence",
            Self::Retry => "retry",
            Self::Interference => "interference",
        }
    }
}

/// What a pipe is made of.
#[derive(Clone, Debug)]
pub(crate) struct PipeConfig {
    pub(crate) rate: Rate,
    pub(crate) delay: cogtcp_units::Duration,
    /// Most packets that wait; the one being transmitted is not counted.
    pub(crate) limit_packets: u64,
    /// Most bytes that wait; the frame being transmitted is not counted.
    pub(crate) limit_bytes: u64,
    /// Probability that a frame is lost in transmission.
    pub(crate) loss: Probability,
    /// Frames that are lost whatever chance says, by their number from 1, ascending.
    pub(crate) drops: Vec<u64>,
}

/// What a pipe counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PipeCounters {
    /// Packets handed over at the far end.
    pub(crate) delivered: u64,
    /// Bytes whose transmission has begun and met no silence.
    pub(crate) carried_bytes: u64,
    /// Waiting times of the packets whose transmission has begun, summed: the queue's integral, packet nanoseconds.
    pub(crate) waited: u64,
    /// Packets dropped, by cause.
    pub(crate) drops: [u64; 5],
    /// Packets offered.
    pub(crate) offered: u64,
}

/// What became of a packet that was offered to a pipe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Offer {
    /// Taken; the pipe's next arrival is scheduled already (or waits for the gate).
    Taken,
    /// Taken as the first: its arrival must be scheduled for this time.
    Schedule(Time),
    /// Taken as the first of a pipe that a MAC serves.
    Wake,
    /// The queue is full.
    Dropped,
}

/// A link direction. A hop touches the first two cache lines.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Pipe {
    ring: Ring,
    /// Packets of the ring whose transmission has begun.
    begun: u32,
    /// When the transmitter is free again.
    free_at: u64,
    /// Size and duration of the last transmission begun: most frames of a direction have one size.
    last_duration: u64,
    last_size: u32,
    /// Where every packet of this pipe goes next, if they all go there; see [`crate::network`].
    pub(crate) next: u32,
    delay: u64,
    gate: Gate,
    /// The last transmission begun met a silence.
    last_lost: bool,
    lossy: bool,
    counters: PipeCounters,
    waiting_bytes: u64,
    limit_packets: u64,
    limit_bytes: u64,
    /// Packets that find so many waiting are marked.
    mark_at: u64,
    queue_max: u64,
    /// Drops at the full queue that [`take_overflow`](Self::take_overflow) has answered.
    overflow_seen: u64,
    loss: Option<Box<Losses>>,
    rate: Rate,
    own_rate: Rate,
    capacity: Capacity,
    airing: Option<Airing>,
    highest_rate: Rate,
}

/// A frame that stays on the air, at its own rate, whatever becomes of gate and rate meanwhile: nanoseconds from and until.
#[derive(Clone, Copy, Debug)]
struct Airing {
    from: u64,
    until: u64,
    rate: Rate,
}

impl Airing {
    /// How much of its time lies between `since` and `now`.
    fn overlap(&self, since: u64, now: u64) -> u64 {
        self.until.min(now).saturating_sub(self.from.max(since))
    }
}

/// State of the gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Gate {
    /// Traffic flows.
    Open,
    /// Silence: packets wait; the frame on the air completes.
    Hold,
    /// Silence: the transmitter goes on, and what it sends is lost.
    Drop,
    /// A MAC takes the packets, over an open channel.
    Served,
    /// A MAC takes the packets; its radios are silent.
    ServedSilent,
}

impl Gate {
    /// Whether the pipe's own transmitter runs.
    #[inline]
    fn transmits(self) -> bool {
        matches!(self, Self::Open | Self::Drop)
    }

    fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Served)
    }
}

/// What is lost of the frames that the transmitter sent.
#[derive(Debug)]
struct Losses {
    probability: Probability,
    stream: RandomStream,
    /// Frames seen so far, and the numbers of those still to be lost, the next one last.
    count: u64,
    drops: Vec<u64>,
}

impl Losses {
    fn new(config: &PipeConfig, stream: RandomStream) -> Self {
        let drops = config.drops.iter().rev().copied().collect();
        Self { probability: config.loss, stream, count: 0, drops }
    }

    /// Whether the next frame is lost. A listed frame draws as any other, so that a list moves no other loss.
    fn next(&mut self) -> bool {
        self.count += 1;
        let listed = self.drops.pop_if(|number| *number == self.count).is_some();
        self.stream.bernoulli(self.probability) || listed
    }
}

/// Integrals of the rate over time, in bit nanoseconds per second. A frame that was on the air when gate or rate changed
/// completes, so its own rate counts until it ends: capacity is what the link carries or could carry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Capacity {
    since: u64,
    /// With the gate open, or a frame completing.
    pub(crate) available: u128,
    /// Whatever the gate.
    pub(crate) channel: u128,
    /// Nanoseconds with the gate closed.
    pub(crate) silence: u64,
}

impl Capacity {
    /// An integral in bytes.
    pub(crate) fn bytes(integral: u128) -> f64 {
        integral as f64 / 8e9
    }
}

impl Pipe {
    /// [`Pipe::next`] before any path uses the pipe.
    pub(crate) const UNUSED: u32 = u32::MAX - 2;

    /// The pipe of `config`; `stream` decides on random loss.
    pub(crate) fn new(config: &PipeConfig, stream: impl FnOnce() -> RandomStream) -> Self {
        let lossy = config.loss.get() > 0.0 || !config.drops.is_empty();
        Self {
            ring: Ring::new(),
            begun: 0,
            free_at: 0,
            last_duration: 0,
            last_size: 0,
            next: Self::UNUSED,
            delay: config.delay.as_nanos(),
            gate: Gate::Open,
            last_lost: false,
            lossy,
            counters: PipeCounters::default(),
            waiting_bytes: 0,
            limit_packets: config.limit_packets,
            limit_bytes: config.limit_bytes,
            mark_at: u64::MAX,
            queue_max: 0,
            overflow_seen: 0,
            loss: lossy.then(|| Box::new(Losses::new(config, stream()))),
            rate: config.rate,
            own_rate: config.rate,
            capacity: Capacity::default(),
            airing: None,
            highest_rate: config.rate,
        }
    }

    /// From now on a packet that finds `packets` or more waiting is marked (ECN).
    pub(crate) fn mark_at(&mut self, packets: u64) {
        self.mark_at = packets;
    }

    /// Offers a packet to the queue.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, mut transit: Transit) -> Offer {
        self.counters.offered += 1;
        let now = now.as_nanos();
        if self.ring.len() > self.begun {
            self.catch_up(now);
        }
        let waiting = self.ring.len() - self.begun;
        if waiting == 0 && self.free_at <= now && self.gate.transmits() {
            let first = self.begun == 0;
            (transit.time, transit.wire) = self.begin(transit.wire, now);
            self.ring.push(&transit);
            return if first { Offer::Schedule(Time::from_nanos(transit.time)) } else { Offer::Taken };
        }
        transit.time = now;
        let bytes = self.waiting_bytes + u64::from(transit.wire);
        if u64::from(waiting) >= self.limit_packets || bytes > self.limit_bytes {
            self.counters.drops[DropCause::Queue as usize] += 1;
            return Offer::Dropped;
        }
        self.waiting_bytes = bytes;
        if u64::from(waiting) >= self.mark_at {
            transit.waited |= MARKED;
        }
        self.ring.push(&transit);
        self.queue_max = self.queue_max.max(u64::from(waiting) + 1);
        if self.ring.len() == 1 && matches!(self.gate, Gate::Served | Gate::ServedSilent) {
            return Offer::Wake;
        }
        Offer::Taken
    }

    /// The first packet arrives: it leaves the pipe, delivered or lost.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time) -> (Transit, Option<DropCause>) {
        let transit = self.ring.pop();
        debug_assert!(self.begun > 0 && transit.time == now.as_nanos(), "arrivals are scheduled one by one");
        self.begun -= 1;
        if self.begun == 0 && self.ring.len() > 0 {
            self.catch_up(now.as_nanos());
        }
        if transit.wire & LOST != 0 {
            return (transit, Some(self.count_drop(DropCause::Silence)));
        }
        if self.lossy && self.is_lost() {
            return (transit, Some(self.count_drop(DropCause::Loss)));
        }
        self.counters.delivered += 1;
        (transit, None)
    }

    /// When the first packet arrives; `None` when none is under way.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        (self.begun > 0).then(|| Time::from_nanos(self.ring.get(0).time))
    }

    /// Begins every transmission whose time has come by `now`.
    fn catch_up(&mut self, now: u64) {
        if !self.gate.transmits() {
            return;
        }
        while self.begun < self.ring.len() {
            let waiting = self.ring.get(self.begun);
            let (since, wire) = (waiting.time, waiting.wire);
            let start = since.max(self.free_at);
            if start > now {
                break;
            }
            self.waiting_bytes -= u64::from(wire);
            let (arrival, wire) = self.begin(wire, start);
            self.counters.waited += start - since;
            let begun = self.ring.get_mut(self.begun - 1);
            begun.waited += start - since;
            (begun.time, begun.wire) = (arrival, wire);
        }
    }

    /// Begins the transmission of a frame of `wire` bytes at `start`. Answers its arrival, and `wire` with the mark of
    /// what a silence destroys.
    #[inline]
    fn begin(&mut self, wire: u32, start: u64) -> (u64, u32) {
        if wire != self.last_size {
            self.last_size = wire;
            self.last_duration = self.rate.transmission_time(u64::from(wire)).as_nanos();
        }
        self.free_at = start.saturating_add(self.last_duration);
        self.begun += 1;
        self.last_lost = self.gate == Gate::Drop;
        if !self.last_lost {
            self.counters.carried_bytes += u64::from(wire);
        }
        (self.free_at.saturating_add(self.delay), if self.last_lost { wire | LOST } else { wire })
    }

    /// Sets the gate and the channel's rate (`None`: the link's own) from `now` on. Answers the arrival to schedule,
    /// when packets get under way that waited with nothing ahead of them.
    pub(crate) fn set_channel(&mut self, now: Time, gate: Gate, rate: Option<Rate>) -> Option<Time> {
        let had_arrival = self.begun > 0;
        let at = now.as_nanos();
        self.catch_up(at);
        self.integrate(at);
        if gate == Gate::Drop
            && self.gate == Gate::Open
            && self.free_at > at
            && self.begun > 0
            && !self.last_lost
        {
            // The frame on the air meets the silence.
            let frame = self.ring.get_mut(self.begun - 1);
            frame.wire |= LOST;
            self.counters.carried_bytes -= u64::from(self.last_size & !LOST);
            self.last_lost = true;
        }
        if self.gate.transmits() && self.free_at > at && !self.last_lost {
            // The frame on the air completes at its rate, which may be older than the last change.
            let rate =
                self.airing.filter(|frame| frame.until == self.free_at).map_or(self.rate, |frame| frame.rate);
            self.airing = Some(Airing { from: at, until: self.free_at, rate });
        }
        if self.gate == Gate::Hold && gate != Gate::Hold {
            // What waited out the silence starts now, not in the past.
            self.free_at = self.free_at.max(at);
        }
        self.gate = gate;
        let rate = rate.unwrap_or(self.own_rate);
        if rate != self.rate {
            self.rate = rate;
            self.highest_rate = self.highest_rate.max(rate);
            if self.free_at > at {
                // The frame on the air keeps its old duration, which `carried` needs: only the cache key goes.
                self.last_size |= LOST;
            } else {
                self.last_size = 0;
            }
        }
        self.catch_up(at);
        if had_arrival { None } else { self.next_arrival() }
    }

    /// Packets in the pipe, waiting or under way.
    pub(crate) fn len(&self) -> u32 {
        self.ring.len()
    }

    /// Size of the first packet, for the MAC that serves the pipe; `None`: there is none.
    pub(crate) fn head_size(&self) -> Option<u32> {
        (self.ring.len() > 0).then(|| self.ring.get(0).wire)
    }

    /// The MAC sends the first packet: it waits no longer. Nothing happens when it is sent again.
    pub(crate) fn begin_service(&mut self, now: Time) {
        if self.begun > 0 || self.ring.len() == 0 {
            return;
        }
        self.begun = 1;
        let packet = self.ring.get_mut(0);
        let waited = now.as_nanos() - packet.time;
        packet.waited += waited;
        self.counters.waited += waited;
        self.waiting_bytes -= u64::from(packet.wire);
    }

    /// The frame that takes the packet in service to the far end will be on the air from `from` to `until` at `rate`.
    pub(crate) fn put_on_air(&mut self, now: Time, from: Time, until: Time, rate: Rate) {
        self.integrate(now.as_nanos());
        self.airing = Some(Airing { from: from.as_nanos(), until: until.as_nanos(), rate });
    }

    /// The MAC is done with the packet in service: it has reached the far end, or was given up for a `cause`.
    pub(crate) fn end_service(&mut self, now: Time, lost: Option<DropCause>) -> Transit {
        debug_assert!(self.begun == 1, "the MAC serves one packet at a time");
        self.integrate(now.as_nanos());
        self.airing = None;
        let transit = self.ring.pop();
        self.begun = 0;
        match lost {
            Some(cause) => {
                self.count_drop(cause);
            }
            None => {
                self.counters.delivered += 1;
                self.counters.carried_bytes += u64::from(transit.wire);
            }
        }
        transit
    }

    /// Whether packets were dropped at the full queue since the last call.
    pub(crate) fn take_overflow(&mut self) -> bool {
        let dropped = self.counters.drops[DropCause::Queue as usize];
        std::mem::replace(&mut self.overflow_seen, dropped) != dropped
    }

    /// Room in the queue in bytes; a queue of packets counts them at `size` bytes each.
    pub(crate) fn room(&self, size: u32) -> u64 {
        let waiting = u64::from(self.ring.len() - self.begun);
        let packets = self.limit_packets.saturating_sub(waiting).saturating_mul(u64::from(size));
        packets.min(self.limit_bytes.saturating_sub(self.waiting_bytes))
    }

    /// Packets that wait at `now`, the frame on the air not counted.
    pub(crate) fn queue_length(&mut self, now: Time) -> u64 {
        self.catch_up(now.as_nanos());
        u64::from(self.ring.len() - self.begun)
    }

    /// Rate available at the moment: zero in silence.
    pub(crate) fn available_rate(&self) -> Rate {
        if self.gate.is_open() { self.rate } else { Rate::ZERO }
    }

    /// The channel's rate, whatever the gate.
    pub(crate) fn channel_rate(&self) -> Rate {
        self.rate
    }

    /// Bytes carried up to `now`: the frame on the air counts for the part that is sent.
    pub(crate) fn carried(&mut self, now: Time) -> f64 {
        let now = now.as_nanos();
        self.catch_up(now);
        let whole = self.counters.carried_bytes as f64;
        if matches!(self.gate, Gate::Served | Gate::ServedSilent) {
            return whole + self.airing.map_or(0.0, |frame| self.sent_share(&frame, now));
        }
        if self.free_at <= now || self.last_lost || self.last_duration == 0 {
            return whole;
        }
        let size = f64::from(self.last_size & !LOST);
        whole - size * (self.free_at - now) as f64 / self.last_duration as f64
    }

    /// What part of the packet in service is over by `now`, in bytes.
    fn sent_share(&self, frame: &Airing, now: u64) -> f64 {
        let size = f64::from(self.head_size().unwrap_or(0));
        size * frame.overlap(0, now) as f64 / (frame.until - frame.from).max(1) as f64
    }

    /// The queue's integral over time up to `now`, in packet nanoseconds.
    pub(crate) fn queue_integral(&mut self, now: Time) -> u64 {
        let now = now.as_nanos();
        self.catch_up(now);
        let waiting = (self.begun..self.ring.len()).map(|i| now - self.ring.get(i).time);
        self.counters.waited + waiting.sum::<u64>()
    }

    /// Longest queue since [`restart_maximum`](Self::restart_maximum).
    pub(crate) fn queue_max(&self) -> u64 {
        self.queue_max
    }

    /// Forgets the longest queue before `now`.
    pub(crate) fn restart_maximum(&mut self, now: Time) {
        self.queue_max = self.queue_length(now);
    }

    /// The integrals up to `now`.
    pub(crate) fn capacity(&mut self, now: Time) -> Capacity {
        self.integrate(now.as_nanos());
        self.capacity
    }

    /// By how many bytes what is carried may exceed the capacity, since transmission times are rounded to nanoseconds: half
    /// of one for each of `frames`, at the highest of the rates that the link had.
    pub(crate) fn rounding(&self, frames: u64) -> f64 {
        let rate = self.highest_rate.bits_per_second() as f64;
        1.0 + (frames + 1) as f64 * rate / 16e9
    }

    /// What was counted so far.
    pub(crate) fn counters(&self) -> &PipeCounters {
        &self.counters
    }

    /// Every packet in the pipe, waiting or under way.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Transit> {
        (0..self.ring.len()).map(|i| self.ring.get(i))
    }

    #[cold]
    fn is_lost(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.next())
    }

    fn count_drop(&mut self, cause: DropCause) -> DropCause {
        self.counters.drops[cause as usize] += 1;
        cause
    }

    fn integrate(&mut self, now: u64) {
        let since = std::mem::replace(&mut self.capacity.since, now);
        let span = now - since;
        let bits = |rate: Rate, span: u64| u128::from(rate.bits_per_second()) * u128::from(span);
        let completing = self.airing.map_or(0, |frame| frame.overlap(since, now));
        let airing = self.airing.map_or(0, |frame| bits(frame.rate, completing));
        let rest = bits(self.rate, span - completing);
        self.capacity.channel += airing + rest;
        self.capacity.available += airing;
        if self.gate.is_open() {
            self.capacity.available += rest;
        } else {
            self.capacity.silence += span;
        }
    }
}

#[cfg(test)]
mod tests;
