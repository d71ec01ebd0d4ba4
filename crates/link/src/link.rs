//! The link itself.
//!
//! With a drop-tail queue all packets of the link are in one ring, in order: first packets whose transmission
//! has begun (on the air or propagating), then waiting packets. Such a queue is first in, first out, so the
//! start of every transmission follows from the past, and nothing is scheduled for it. `catch_up` plays what
//! has begun by `now` whenever a caller looks; only the arrival of the first packet is an event. A change of
//! the future (gate, rate) plays the past first.
//!
//! Any other discipline keeps what waits, and decides when the transmitter asks for the next packet. So the
//! moment at which it does is an event too: [`Link::next_transmission`].
//!
//! At one instant, transmissions begin before the gate or the rate changes.

mod ahead;
mod flush;

pub use ahead::Going;
pub use flush::Flushed;

use crate::capacity::{Airing, Capacity};
use crate::frame::{DropCause, Frame, LOST, LinkPayload};
use crate::gate::Gate;
use crate::losses::Losses;
use crate::queue::{DropTail, QueueDiscipline, Signals};
use crate::ring::Ring;
use crate::schedule::{Playing, Schedule};
use cogtcp_units::{Duration, Probability, RandomStream, Rate, Time, prefetch};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a link is made of, but for its queue discipline.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Rate at which packets are put on the link.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// What may wait where the link's own drop-tail queue is used.
    pub queue: DropTail,
    /// Probability that a frame is lost in transmission.
    pub loss: Probability,
    /// Mean run of lost frames, at least 1; `None`: each frame is lost on its own.
    pub loss_run: Option<f64>,
    /// Frames that are lost whatever chance says, by their number from 1, ascending.
    pub drops: Vec<u64>,
    /// What the link can carry over time, in place of its rate.
    pub schedule: Option<Arc<Schedule>>,
}

impl LinkConfig {
    /// Of this rate and delay: a drop-tail queue without a limit, and no loss.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            queue: DropTail::UNLIMITED,
            loss: Probability::ZERO,
            loss_run: None,
            drops: Vec::new(),
            schedule: None,
        }
    }
}

/// What a link counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct LinkCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets handed over at the far end.
    pub delivered: u64,
    /// Bytes whose transmission has begun and met no silence.
    pub carried_bytes: u64,
    /// Waiting times of the packets that wait no longer, summed: the queue's integral, packet nanoseconds.
    pub waited: u64,
    /// Packets dropped, by the number of their cause.
    pub drops: [u64; DropCause::ALL.len()],
    /// Packets that the link's own queue marked.
    marked: u64,
}

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OfferOutcome {
    /// Taken; the link's next arrival is scheduled already (or waits for the gate).
    Taken,
    /// Taken as the first: its arrival must be scheduled.
    Schedule {
        /// When it arrives.
        at: Time,
        /// Since when it has been the first: the later of its offer and the arrival of the packet before it.
        since: Time,
    },
    /// Taken as the first of a link that a MAC serves.
    Wake,
    /// The queue is full.
    Dropped,
    /// The gate lets nothing in.
    Refused,
    /// The queue discipline has it: what it dropped and what is to be scheduled now say
    /// [`take_dropped`](Link::take_dropped), [`take_arrival`](Link::take_arrival),
    /// [`take_transmission`](Link::take_transmission) and [`take_wake`](Link::take_wake).
    Managed,
}

/// A frame that a silence destroys while it is on the air. The part that was sent counted as carried until then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    begun: u64,
    at: u64,
    duration: u64,
    size: u32,
}

impl Cut {
    /// Bytes of it that [`Link::carried`] had counted at `time`, not later than the cut: what a reading of
    /// that moment is to give back.
    pub fn sent_by(&self, time: Time) -> f64 {
        let sent = time.as_nanos().min(self.at).saturating_sub(self.begun);
        // At a very high rate a frame takes 0 ns: no division by zero.
        f64::from(self.size) * sent as f64 / self.duration.max(1) as f64
    }
}

/// A packet that leaves the link.
#[derive(Clone, Copy, Debug)]
pub struct Departure<P> {
    /// The packet.
    pub frame: Frame<P>,
    /// Why it is lost; `None`: it has reached the far end.
    pub lost: Option<DropCause>,
}

/// A link direction. A hop touches the first 112 bytes: an owner can keep 16 of its own in the two cache lines.
#[derive(Debug)]
// `repr(C)` keeps the fields in this order: those that every hop touches come first.
#[repr(C)]
pub struct Link<P> {
    ring: Ring<P>,
    /// Packets of the ring whose transmission has begun.
    begun: u32,
    /// Size and duration of the last transmission begun: most frames of a direction have one size.
    last_size: u32,
    last_duration: u64,
    /// When the transmitter is free again.
    // Times are bare nanoseconds here: the hot path only adds and compares.
    free_at: u64,
    delay: u64,
    /// No packet arrives before this: one that left before the delay fell does then.
    not_before: u64,
    /// When a packet arrived last.
    last_arrival: u64,
    gate: Gate,
    /// Whether a packet that finds nothing waiting goes on the air at once: the gate transmits, and no
    /// discipline asks to see it first.
    is_direct: bool,
    /// The last transmission begun met a silence.
    last_lost: bool,
    lossy: bool,
    counters: LinkCounters,
    waiting_bytes: u64,
    limits: DropTail,
    queue_max: u64,
    // Boxed, since rarely used: the fields of every hop stay together.
    managed: Option<Box<Managed<P>>>,
    /// Drops at the full queue that [`take_overflow`](Self::take_overflow) has returned.
    overflow_seen: u64,
    loss: Option<Box<Losses>>,
    rate: Rate,
    own_rate: Rate,
    capacity: Capacity,
    airing: Option<Airing>,
    /// Whether it is known that the frame that a MAC has on the air takes its packet to the far end.
    airing_arrives: bool,
    /// What waits behind a gate that refuses, and is sent all the same.
    draining: Option<Airing>,
    highest_rate: Rate,
    changes_rate: bool,
    schedule: Option<Playing>,
    /// What the last silence destroyed at once, until the driver has heard of it.
    #[expect(clippy::box_collection, reason = "rarely used, and a link fills its cache lines")]
    flushed: Option<Box<VecDeque<Flushed<P>>>>,
    /// What the last change of the gate cut.
    cut: Option<Cut>,
    /// Of a link whose MAC has several packets at a time: by how many bytes what it carries may exceed the
    /// capacity so far.
    lead: Option<u64>,
}

/// A queue discipline, and what the driver is still to be told.
#[derive(Debug)]
struct Managed<P> {
    discipline: Box<dyn QueueDiscipline<P>>,
    signals: Signals<P>,
    /// The first packet got under way: its arrival is not scheduled.
    has_arrival: bool,
    /// When the driver will call [`Link::transmit`]; `None`: it will not.
    armed: Option<u64>,
    /// The MAC has its first packet.
    wakes: bool,
}

impl<P: LinkPayload> Link<P> {
    /// The link of `config`, which loses nothing at random.
    pub fn plain(config: &LinkConfig) -> Self {
        Self::new(config, None, || RandomStream::new(0, "link", 0))
    }

    /// The link of `config`; `stream` decides on random loss. With a `discipline` its own queue is not used.
    pub fn new(
        config: &LinkConfig,
        discipline: Option<Box<dyn QueueDiscipline<P>>>,
        stream: impl FnOnce() -> RandomStream,
    ) -> Self {
        // A link with a trace has no rate of its own; who asks for one gets the mean.
        let rate = config.schedule.as_ref().map_or(config.rate, |schedule| schedule.mean());
        let lossy = config.loss.get() > 0.0 || !config.drops.is_empty();
        Self {
            ring: Ring::new(),
            begun: 0,
            free_at: 0,
            last_duration: 0,
            last_size: 0,
            delay: config.delay.as_nanos(),
            not_before: 0,
            last_arrival: 0,
            gate: Gate::Open,
            // The gate begins open.
            is_direct: discipline.is_none(),
            last_lost: false,
            lossy,
            counters: LinkCounters::default(),
            waiting_bytes: 0,
            limits: config.queue,
            queue_max: 0,
            managed: discipline.map(|discipline| {
                let signals = Signals::default();
                Box::new(Managed { discipline, signals, has_arrival: false, armed: None, wakes: false })
            }),
            overflow_seen: 0,
            // A link without loss derives no random stream, so a run pays only for streams that it uses.
            loss: lossy.then(|| Box::new(Losses::new(config.loss, config.loss_run, &config.drops, stream()))),
            rate,
            own_rate: rate,
            capacity: Capacity::default(),
            airing: None,
            airing_arrives: false,
            draining: None,
            highest_rate: rate,
            changes_rate: false,
            schedule: config.schedule.clone().map(Playing::new),
            flushed: None,
            cut: None,
            lead: None,
        }
    }

    /// A MAC serves the link that has several packets at a time ([`take_next`](Self::take_next)). `lead`: by
    /// how many bytes what is carried may exceed the capacity so far, since slots carry more than the mean
    /// rate.
    pub fn serve_many(&mut self, lead: u64) {
        self.lead = Some(lead);
    }

    /// Packets of the ring that no longer wait, where the MAC takes the next one.
    fn held(&self) -> u32 {
        if self.lead.is_some() { self.begun } else { 0 }
    }

    /// Offers a packet to the queue.
    #[inline]
    pub fn offer(&mut self, now: Time, frame: Frame<P>) -> OfferOutcome {
        self.offer_copy(now, &frame)
    }

    /// Offers `packet`, of `size` bytes, on its first hop, if it goes on the air at once; `None`: it is not
    /// taken and not counted. The packet is made in the link. A frame just made elsewhere would be read in
    /// larger pieces than it was written in, and the read would wait until all pieces are in the cache.
    #[expect(clippy::inline_always, reason = "the packet is made in the link")]
    #[inline(always)]
    pub fn offer_new(&mut self, now: Time, packet: P, size: u32) -> Option<OfferOutcome> {
        if self.ring.len() > self.begun {
            self.catch_up(now.as_nanos());
        }
        if self.ring.len() > self.begun || self.free_at > now.as_nanos() || !self.is_direct {
            return None;
        }
        self.counters.offered += 1;
        let first = self.begun == 0;
        let since = Time::from_nanos(self.last_arrival.max(now.as_nanos()));
        let (arrival, wire) = self.begin(size, now.as_nanos());
        let taken = self.ring.push(&Frame { time: arrival, waited: 0, wire, packet });
        taken.packet.enter();
        Some(if first {
            OfferOutcome::Schedule { at: Time::from_nanos(arrival), since }
        } else {
            OfferOutcome::Taken
        })
    }

    /// Offers a copy of a packet that lies elsewhere: it is copied once, into the link.
    #[inline]
    pub fn offer_copy(&mut self, now: Time, frame: &Frame<P>) -> OfferOutcome {
        self.counters.offered += 1;
        let now = now.as_nanos();
        // Transmissions have no events of their own: the ring catches up when somebody looks.
        if self.ring.len() > self.begun {
            self.catch_up(now);
        }
        let waiting = self.ring.len() - self.begun;
        // `is_direct` stands for the tests of gate and discipline: one branch in the common case.
        if waiting == 0 && self.free_at <= now && self.is_direct {
            // Only the first packet of a link has an event; a driver asks for the next one when that arrives.
            let first = self.begun == 0;
            // Later than `now` where a host is played late: the packet before has arrived meanwhile.
            let since = Time::from_nanos(self.last_arrival.max(now));
            let (arrival, wire) = self.begin(frame.wire, now);
            let taken = self.ring.push(frame);
            (taken.time, taken.wire) = (arrival, wire);
            taken.packet.enter();
            return if first {
                OfferOutcome::Schedule { at: Time::from_nanos(arrival), since }
            } else {
                OfferOutcome::Taken
            };
        }
        // Below the direct case, which a gate that refuses never takes (`is_direct`).
        if self.gate.refuses() {
            self.count_drop(DropCause::Silence);
            return OfferOutcome::Refused;
        }
        if self.managed.is_some() {
            return self.offer_to_discipline(now, frame);
        }
        self.enqueue(now, frame)
    }

    /// Offers a packet that is to wait, and is counted as offered.
    #[inline]
    fn enqueue(&mut self, now: u64, frame: &Frame<P>) -> OfferOutcome {
        let waiting = self.ring.len() - self.begun;
        let bytes = self.waiting_bytes + u64::from(frame.wire);
        if !self.limits.has_room(u64::from(waiting), bytes) {
            self.count_drop(DropCause::Queue);
            return OfferOutcome::Dropped;
        }
        self.waiting_bytes = bytes;
        let taken = self.ring.push(frame);
        taken.time = now;
        taken.packet.enter();
        if self.limits.marks(u64::from(waiting)) {
            taken.packet.mark();
            self.counters.marked += 1;
        }
        // One more: `waiting` was read before this packet joined.
        self.queue_max = self.queue_max.max(u64::from(waiting) + 1);
        if self.gate.is_served() && self.ring.len() == self.held() + 1 {
            return OfferOutcome::Wake;
        }
        OfferOutcome::Taken
    }

    /// The first packet arrives: it leaves the link, delivered or lost.
    #[inline]
    pub fn arrive(&mut self, now: Time) -> Departure<P> {
        let mut frame = Frame::default();
        let lost = self.arrive_into(now, &mut frame);
        Departure { frame, lost }
    }

    /// Takes the packet that arrives first off the link, `into` the driver's place for packets. Returns why the
    /// packet is lost, or `None`.
    #[inline]
    pub fn arrive_into(&mut self, now: Time, frame: &mut Frame<P>) -> Option<DropCause> {
        self.ring.pop(frame);
        debug_assert!(self.begun > 0 && frame.time <= now.as_nanos(), "arrivals are scheduled one by one");
        self.begun -= 1;
        // Only an empty wire must begin the next transmission now, for `next_arrival` to name it. All other
        // transmissions wait until somebody looks: a host that is played late still offers packets at times
        // before `now`, and its queue must be as it was then. The one transmission that begins here had begun
        // by then, as the packet that arrives left the transmitter.
        if self.begun == 0 && self.ring.len() > 0 {
            self.catch_up_by(now.as_nanos(), 1);
        }
        self.last_arrival = now.as_nanos();
        if frame.wire & LOST != 0 {
            return Some(self.count_drop(DropCause::Silence));
        }
        // Chance decides at the far end: a lost frame has used the link's time all the same.
        if self.lossy && self.is_lost() {
            return Some(self.count_drop(DropCause::Loss));
        }
        self.counters.delivered += 1;
        None
    }

    /// When the first packet arrives; `None` when none is under way.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        (self.begun > 0).then(|| Time::from_nanos(self.ring.get(0).time))
    }

    /// The packet that arrives first.
    #[inline]
    pub fn first(&self) -> Option<&Frame<P>> {
        (self.ring.len() > 0).then(|| self.ring.get(0))
    }

    /// True if the transmitter has been free since before `now`. Packets that a silence holds do not count.
    #[inline]
    pub fn is_free(&mut self, now: Time) -> bool {
        if self.ring.len() > self.begun {
            self.catch_up(now.as_nanos());
        }
        self.free_at < now.as_nanos()
    }

    /// Asks for the memory that a hop reads of the link itself. A driver that knows which links come next
    /// asks early for this, later for [`prefetch_first`](Self::prefetch_first) or
    /// [`prefetch_room`](Self::prefetch_room).
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self, 2);
    }

    /// Asks for the packet that arrives first, and for the one after it, whose arrival is to be scheduled
    /// then.
    #[inline]
    pub fn prefetch_first(&self) {
        self.ring.prefetch(0);
        self.ring.prefetch(1);
    }

    /// Asks for the room that the next packet offered will take.
    #[inline]
    pub fn prefetch_room(&self) {
        self.ring.prefetch(self.ring.len());
    }

    /// Returns the time at which the transmitter takes the next packet from the queue discipline. `None`: it
    /// waits for a packet or for the gate, or the link has its own queue, which needs no call.
    pub fn next_transmission(&self) -> Option<Time> {
        let managed = self.managed.as_deref()?;
        let waits = managed.discipline.packets() > 0 && self.gate.transmits();
        // Possibly in the past: then the transmitter is free, and the call is due at once.
        waits.then(|| Time::from_nanos(self.free_at))
    }

    /// The transmitter is free: it takes what the queue discipline gives it. To be called at
    /// [`next_transmission`](Self::next_transmission), then what is left to be done as after
    /// [`OfferOutcome::Managed`].
    pub fn transmit(&mut self, now: Time) {
        match &mut self.managed {
            Some(managed) => managed.armed = None,
            None => debug_assert!(false, "a link with its own queue needs no call"),
        }
        self.draw(now.as_nanos());
    }

    /// Begins every transmission whose time has come by `now`.
    #[inline]
    fn catch_up(&mut self, now: u64) {
        self.catch_up_by(now, self.ring.len());
    }

    /// Begins transmissions whose time has come by `now`, until `most` packets are under way.
    fn catch_up_by(&mut self, now: u64, most: u32) {
        if !self.gate.transmits() {
            return;
        }
        // First in, first out: each start is the later of the packet's arrival and the end of the
        // transmission before.
        while self.begun < most {
            let waiting = self.ring.get(self.begun);
            let (since, wire) = (waiting.time, waiting.wire);
            let start = since.max(self.free_at);
            if start > now {
                break;
            }
            self.ring.prefetch_after(self.begun);
            self.waiting_bytes -= u64::from(wire);
            let (arrival, wire) = self.begin(wire, start);
            self.counters.waited += start - since;
            let begun = self.ring.get_mut(self.begun - 1);
            begun.waited += start - since;
            (begun.time, begun.wire) = (arrival, wire);
        }
    }

    /// Begins the transmission of a frame of `wire` bytes at `start`. Returns its arrival, and `wire` with
    /// the mark of what a silence destroys.
    #[inline]
    fn begin(&mut self, wire: u32, start: u64) -> (u64, u32) {
        // A division for each packet is saved where sizes repeat.
        if wire != self.last_size {
            self.last_size = wire;
            self.last_duration = match &mut self.schedule {
                None => self.rate.transmission_time(u64::from(wire)).as_nanos(),
                Some(schedule) => {
                    // No duration is remembered: the next frame of this size looks again.
                    self.last_size |= LOST;
                    schedule.finish(start, u64::from(wire)) - start
                }
            };
        }
        // Saturating: at rate 0 a transmission lasts the longest time that there is.
        self.free_at = start.saturating_add(self.last_duration);
        self.begun += 1;
        self.last_lost = self.gate == Gate::Drop;
        if !self.last_lost {
            // Counted whole at the start: `carried` takes off what is not sent yet.
            self.counters.carried_bytes += u64::from(wire);
        }
        // No packet overtakes those that left at a longer delay (`set_delay`).
        let arrival = self.free_at.saturating_add(self.delay).max(self.not_before);
        (arrival, if self.last_lost { wire | LOST } else { wire })
    }

    /// Sets the gate and the channel's rate (`None`: the link's own) from `now` on. Returns the arrival to
    /// schedule, when packets get under way that waited with nothing ahead of them; with a queue discipline
    /// see [`OfferOutcome::Managed`]. A link that goes down says in [`take_flushed`](Self::take_flushed) what
    /// that destroyed; an arrival that was scheduled takes place only if [`next_arrival`](Self::next_arrival)
    /// still names it.
    pub fn set_channel(&mut self, now: Time, gate: Gate, rate: Option<Rate>) -> Option<Time> {
        let had_arrival = self.begun > 0;
        let at = now.as_nanos();
        // Of this change only: a driver reads it right after the call.
        self.cut = None;
        // What was due by now happens under the old gate and rate.
        self.catch_up(at);
        if self.managed.is_some() {
            self.draw(at);
        }
        self.integrate(at);
        // From any other gate nothing is cut: `Hold` and `Refuse` let the frame complete, and under `Drop` it
        // is lost already.
        if gate == Gate::Drop
            && self.gate == Gate::Open
            && self.free_at > at
            && self.begun > 0
            && !self.last_lost
        {
            // The frame on the air meets the silence.
            let frame = self.ring.get_mut(self.begun - 1);
            frame.wire |= LOST;
            self.cut_on_air(at);
        }
        if let Gate::Down(flush) = gate
            // Down already: a silence destroys once, when it begins.
            && !matches!(self.gate, Gate::Down(_))
        {
            self.flush(at, flush);
        }
        if self.gate.transmits() && self.free_at > at && !self.last_lost {
            // The frame on the air completes at its rate, which may be older than the last change.
            // A frame that an earlier change found on the air keeps the rate of its start, not the rate in
            // between.
            let rate =
                self.airing.filter(|frame| frame.until == self.free_at).map_or(self.rate, |frame| frame.rate);
            self.airing = Some(Airing { from: at, until: self.free_at, rate });
        }
        if self.gate.holds() && !gate.holds() {
            // What waited out the silence starts now, not in the past.
            self.free_at = self.free_at.max(at);
        }
        self.gate = gate;
        // A gate that refuses transmits only what it holds: a new packet must meet the refusal.
        self.is_direct = gate.transmits() && gate != Gate::Refuse && self.managed.is_none();
        let rate = rate.unwrap_or(self.own_rate);
        if rate != self.rate {
            // `rounding` and `has_one_rate` need to know of it for the rest of the run.
            self.rate = rate;
            self.changes_rate = true;
            self.highest_rate = self.highest_rate.max(rate);
            if self.free_at > at {
                // The frame on the air keeps its old duration, which `carried` needs: only the cache key
                // goes.
                self.last_size |= LOST;
            } else {
                // No frame has this size: the next one computes its duration at the new rate.
                self.last_size = 0;
            }
        }
        if self.managed.is_some() {
            self.draw(at);
            self.draining = self.draining(at);
            return None;
        }
        self.catch_up(at);
        self.draining = self.draining(at);
        if had_arrival { None } else { self.next_arrival() }
    }

    /// Sets the propagation delay of what is sent from `now` on. What has left the transmitter, and the frame
    /// on the air, keep the delay before. No packet overtakes another: where the delay falls, a packet that
    /// would arrive before those under way arrives with the last of them.
    pub fn set_delay(&mut self, now: Time, delay: Duration) {
        let delay = delay.as_nanos();
        if delay == self.delay {
            return;
        }
        // What is due by now began at the delay before. Without a packet under way nothing can be: a packet
        // waits for the gate alone.
        if self.begun > 0 {
            self.catch_up(now.as_nanos());
            // The last packet begun arrives last: nothing sent from now on may come before it.
            self.not_before = self.not_before.max(self.ring.get(self.begun - 1).time);
        }
        self.delay = delay;
    }

    /// The frame on the air is destroyed: nothing of it is carried.
    fn cut_on_air(&mut self, at: u64) {
        let (duration, size) = (self.last_duration, self.last_size & !LOST);
        // It was counted whole when it began (`begin`).
        self.counters.carried_bytes -= u64::from(size);
        self.last_lost = true;
        self.cut = Some(Cut { begun: self.free_at.saturating_sub(duration), at, duration, size });
    }

    /// What the last call of [`set_channel`](Self::set_channel) cut.
    pub fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Returns the time for which a gate that refuses still transmits. Waiting packets are sent one after the
    /// other, and no packet joins them. Packets that a discipline then drops shorten it
    /// ([`draw`](Self::draw)).
    fn draining(&self, now: u64) -> Option<Airing> {
        if self.gate != Gate::Refuse {
            return None;
        }
        let mut until = self.free_at;
        let mut send = |frame: &Frame<P>| {
            // Saturating: at rate 0 the queue is never empty.
            until = until.saturating_add(self.rate.transmission_time(u64::from(frame.wire)).as_nanos());
        };
        (self.begun..self.ring.len()).for_each(|i| send(self.ring.get(i)));
        if let Some(managed) = &self.managed {
            managed.discipline.visit(&mut send);
        }
        // The frame on the air is counted already, unless it began just now.
        let on_air = self.airing.is_some_and(|frame| frame.until == self.free_at);
        let from = if on_air { self.free_at } else { now };
        (until > from).then_some(Airing { from, until, rate: self.rate })
    }

    /// Whether a queue discipline keeps what waits.
    pub fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    #[cold]
    fn offer_to_discipline(&mut self, now: u64, frame: &Frame<P>) -> OfferOutcome {
        let mut frame = *frame;
        frame.time = now;
        frame.packet.enter();
        // What became due before this packet came is due before it.
        self.draw(now);
        let was_empty = self.ring.len() == self.held();
        if let Some(managed) = &mut self.managed {
            managed.discipline.enqueue(Time::from_nanos(now), frame, &mut managed.signals);
        }
        self.draw(now);
        let waiting = self.waiting();
        self.queue_max = self.queue_max.max(waiting);
        let held = self.held();
        if let Some(managed) = &mut self.managed {
            // Kept until taken: a driver may offer several packets before it looks.
            managed.wakes |= was_empty && self.ring.len() > held && self.gate.is_served();
        }
        OfferOutcome::Managed
    }

    /// The transmitter takes packets from the discipline, each as soon as it is free of the one before; a MAC
    /// takes one.
    fn draw(&mut self, now: u64) {
        // Taken out, since `begin` needs the whole link.
        let Some(mut managed) = self.managed.take() else { return };
        let untaken = managed.signals.untaken();
        while self.gate.transmits() && self.free_at <= now && managed.discipline.packets() > 0 {
            // A driver that is late does not make the link slower: the queue was not empty, and the
            // transmitter free.
            let start = managed.discipline.oldest().map_or(now, |since| self.free_at.max(since.as_nanos()));
            let frame = managed.discipline.dequeue(Time::from_nanos(start), &mut managed.signals);
            // A discipline such as CoDel may drop all that it takes, and give nothing.
            let Some(mut frame) = frame else { continue };
            let waited = start.saturating_sub(frame.time);
            self.counters.waited += waited;
            frame.waited += waited;
            (frame.time, frame.wire) = self.begin(frame.wire, start);
            managed.has_arrival |= self.begun == 1;
            self.ring.push(&frame);
        }
        let held = self.held();
        // A MAC needs the size of its next packet (`head_size`), so one packet leaves the discipline early
        // and waits in the ring.
        if self.gate.is_served() && self.ring.len() == held {
            while managed.discipline.packets() > 0 && self.ring.len() == held {
                if let Some(frame) = managed.discipline.dequeue(Time::from_nanos(now), &mut managed.signals) {
                    self.waiting_bytes += u64::from(frame.wire);
                    self.ring.push(&frame);
                }
            }
        }
        let has_dropped = managed.signals.untaken() > untaken;
        self.managed = Some(managed);
        if has_dropped && let Some(before) = self.draining {
            // Only the end moves: everything before it was or is transmission.
            let until = self.draining(self.free_at).map_or(self.free_at, |rest| rest.until);
            self.draining = Some(Airing { until, ..before });
        }
    }

    /// The next packet that the queue discipline dropped.
    pub fn take_dropped(&mut self) -> Option<(Frame<P>, DropCause)> {
        let (at, frame, cause) = self.managed.as_mut()?.signals.take_dropped()?;
        self.counters.drops[cause as usize] += 1;
        // Up to the drop it was part of the queue's integral.
        self.counters.waited += at.as_nanos() - frame.time;
        Some((frame, cause))
    }

    /// The arrival that is to be scheduled, if one is that was not.
    pub fn take_arrival(&mut self) -> Option<Time> {
        let managed = self.managed.as_mut()?;
        // A silence may have destroyed the packet since: then there is no arrival to schedule.
        std::mem::take(&mut managed.has_arrival).then(|| self.next_arrival()).flatten()
    }

    /// When [`transmit`](Self::transmit) is to be called, if that is not scheduled.
    pub fn take_transmission(&mut self) -> Option<Time> {
        let next = self.next_transmission()?;
        let managed = self.managed.as_mut()?;
        // An earlier or equal call is on its way; that call asks again.
        let is_new = managed.armed.is_none_or(|armed| next.as_nanos() < armed);
        is_new.then(|| {
            managed.armed = Some(next.as_nanos());
            next
        })
    }

    /// Whether the MAC that serves the link is to be told that it has a packet.
    pub fn take_wake(&mut self) -> bool {
        self.managed.as_mut().is_some_and(|managed| std::mem::take(&mut managed.wakes))
    }

    /// The packet that has just arrived is lost after all.
    pub fn lose(&mut self, cause: DropCause) {
        self.counters.delivered -= 1;
        self.count_drop(cause);
    }

    /// Whether the link has a drop-tail queue, one rate, an open gate, no MAC and no random loss.
    pub fn is_plain(&self) -> bool {
        self.is_direct && self.gate.is_open() && !self.lossy && self.schedule.is_none()
    }

    /// Propagation delay.
    pub fn delay(&self) -> Duration {
        Duration::from_nanos(self.delay)
    }

    /// Packets in the link, waiting or under way.
    pub fn len(&self) -> u32 {
        self.ring.len() + self.managed.as_ref().map_or(0, |managed| managed.discipline.packets() as u32)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the first packet, for the MAC that serves the link; `None`: there is none.
    pub fn head_size(&self) -> Option<u32> {
        (self.ring.len() > 0).then(|| self.ring.get(0).wire)
    }

    /// The MAC sends the first packet, whose wait ends. A retransmission changes nothing.
    pub fn begin_service(&mut self, now: Time) {
        if self.begun > 0 || self.ring.len() == 0 {
            return;
        }
        // From here on it no longer waits, and a full queue has room for one more.
        self.begun = 1;
        let packet = self.ring.get_mut(0);
        let waited = now.as_nanos() - packet.time;
        packet.waited += waited;
        self.counters.waited += waited;
        self.waiting_bytes -= u64::from(packet.wire);
    }

    /// A frame with the packet in service is or will be on the air from `from` to `until` at `rate`.
    /// `arrives`: it is known that it takes the packet to the far end; else nothing of it is carried before
    /// that has happened.
    pub fn put_on_air(&mut self, now: Time, from: Time, until: Time, rate: Rate, arrives: bool) {
        self.integrate(now.as_nanos());
        self.airing = Some(Airing { from: from.as_nanos(), until: until.as_nanos(), rate });
        self.airing_arrives = arrives;
    }

    /// The MAC is done with the packet in service: it has reached the far end, or was given up for a `cause`.
    /// With a queue discipline see [`OfferOutcome::Managed`].
    pub fn end_service(&mut self, now: Time, lost: Option<DropCause>) -> Frame<P> {
        debug_assert!(self.begun == 1, "the MAC serves one packet at a time");
        self.integrate(now.as_nanos());
        // After the integration, which counts the frame at its own rate up to now.
        self.airing = None;
        let mut frame = Frame::default();
        self.ring.pop(&mut frame);
        self.begun = 0;
        match lost {
            Some(cause) => {
                self.count_drop(cause);
            }
            None => {
                self.counters.delivered += 1;
                // Only now, and not when it began: a MAC may send it several times, and give it up.
                self.counters.carried_bytes += u64::from(frame.wire);
            }
        }
        if self.managed.is_some() {
            self.draw(now.as_nanos());
        }
        frame
    }

    /// The MAC takes the first packet that waits, besides those that it has. Returns its size; `None`: none
    /// waits. With a queue discipline see [`OfferOutcome::Managed`].
    pub fn take_next(&mut self, now: Time) -> Option<u32> {
        debug_assert!(self.lead.is_some(), "the MAC serves one packet at a time");
        if self.ring.len() <= self.begun {
            return None;
        }
        let packet = self.ring.get_mut(self.begun);
        let (waited, wire) = (now.as_nanos() - packet.time, packet.wire);
        packet.waited += waited;
        self.begun += 1;
        self.counters.waited += waited;
        self.waiting_bytes -= u64::from(wire);
        // At once, although it leaves in the slots to come: `lead` bounds how early that is.
        self.counters.carried_bytes += u64::from(wire);
        if self.managed.is_some() {
            self.draw(now.as_nanos());
        }
        Some(wire)
    }

    /// As [`take_next`](Self::take_next), of a packet that the MAC loses without sending it.
    pub fn take_lost(&mut self, now: Time) -> Option<u32> {
        let wire = self.take_next(now)?;
        self.counters.carried_bytes -= u64::from(wire);
        Some(wire)
    }

    /// The MAC is done with the first of the packets that it has: it has reached the far end, or is lost for
    /// a `cause`.
    pub fn finish(&mut self, lost: Option<DropCause>) -> Frame<P> {
        debug_assert!(self.begun > 0, "the MAC has a packet");
        let mut frame = Frame::default();
        self.ring.pop(&mut frame);
        self.begun -= 1;
        match lost {
            Some(cause) => {
                self.count_drop(cause);
            }
            None => self.counters.delivered += 1,
        }
        frame
    }

    /// Bytes and number of the packets that wait.
    pub fn backlog(&self) -> (u64, u64) {
        let mut bytes = self.waiting_bytes;
        if let Some(managed) = &self.managed {
            managed.discipline.visit(&mut |frame| bytes += u64::from(frame.wire));
        }
        (bytes, self.waiting())
    }

    /// Whether packets were dropped at the full queue since the last call.
    pub fn take_overflow(&mut self) -> bool {
        let dropped = self.counters.drops[DropCause::Queue as usize];
        // The difference, since the counter itself belongs to the results and is never reset.
        std::mem::replace(&mut self.overflow_seen, dropped) != dropped
    }

    /// Room in the queue in bytes; a queue of packets counts them at `size` bytes each.
    pub fn room(&self, size: u32) -> u64 {
        match &self.managed {
            Some(managed) => managed.discipline.room(size),
            None => self.limits.room(u64::from(self.ring.len() - self.begun), self.waiting_bytes, size),
        }
    }

    /// Packets that wait, as of the last look.
    pub fn waiting(&self) -> u64 {
        u64::from(self.ring.len() - self.begun)
            + self.managed.as_ref().map_or(0, |managed| managed.discipline.packets())
    }

    /// Packets that wait at `now`, the frame on the air not counted.
    pub fn queue_length(&mut self, now: Time) -> u64 {
        self.catch_up(now.as_nanos());
        self.waiting()
    }

    /// State of the gate.
    pub fn gate(&self) -> Gate {
        self.gate
    }

    /// When the transmitter is free of all that it has begun, as of the last look.
    #[inline]
    pub fn free_at(&self) -> Time {
        Time::from_nanos(self.free_at)
    }

    /// When all is sent that is under way or, with a gate that refuses, waits, unless a discipline drops some
    /// of it.
    pub fn busy_until(&self) -> Time {
        self.draining.map_or(self.free_at(), |draining| Time::from_nanos(draining.until))
    }

    /// Since when the transmitter has had nothing to send; `None`: it sends, or something waits.
    pub fn idle_since(&mut self, now: Time) -> Option<Time> {
        if self.free_at < now.as_nanos() {
            self.catch_up(now.as_nanos());
        }
        // Strictly: at the very instant at which a frame ends the transmitter still counts as busy.
        (self.free_at < now.as_nanos() && self.waiting() == 0).then(|| self.free_at())
    }

    /// The frame on the air at `now`, by the link's own transmitter: when its transmission began, and whether
    /// it meets a silence.
    pub fn on_air(&mut self, now: Time) -> Option<(Time, bool)> {
        self.catch_up(now.as_nanos());
        let begun = Time::from_nanos(self.free_at.saturating_sub(self.last_duration));
        (self.free_at > now.as_nanos()).then_some((begun, self.last_lost))
    }

    /// Whether the rate never changed.
    pub fn has_one_rate(&self) -> bool {
        !self.changes_rate && self.schedule.is_none()
    }

    /// Rate available at the moment: zero in silence.
    pub fn available_rate(&self) -> Rate {
        if self.gate.is_open() { self.rate } else { Rate::ZERO }
    }

    /// The rate at `now`: zero in silence; by a trace, what it lets through at the moment.
    pub fn rate_at(&self, now: Time) -> Rate {
        match &self.schedule {
            Some(playing) => playing.schedule().rate_at(now.as_nanos()),
            None => self.available_rate(),
        }
    }

    /// The channel's rate, whatever the gate.
    pub fn channel_rate(&self) -> Rate {
        self.rate
    }

    /// Bytes carried up to `now`: the frame on the air counts for the part that is sent, until a silence cuts
    /// it ([`cut`](Self::cut)).
    pub fn carried(&mut self, now: Time) -> f64 {
        let now = now.as_nanos();
        self.catch_up(now);
        let whole = self.counters.carried_bytes as f64;
        if self.gate.is_served() {
            let carries = self.airing.filter(|_| self.airing_arrives);
            return whole + carries.map_or(0.0, |frame| self.sent_share(&frame, now));
        }
        // A frame that takes 0 ns is over at once: nothing to take off, and no division by zero.
        if self.free_at <= now || self.last_lost || self.last_duration == 0 {
            return whole;
        }
        // The flag in the top bit is no part of the size (`begin`, `set_channel`).
        let size = f64::from(self.last_size & !LOST);
        whole - size * (self.free_at - now) as f64 / self.last_duration as f64
    }

    /// What part of the packet in service is over by `now`, in bytes.
    fn sent_share(&self, frame: &Airing, now: u64) -> f64 {
        let size = f64::from(self.head_size().unwrap_or(0));
        // The guard keeps an empty airing from dividing by zero.
        size * frame.overlap(0, now) as f64 / (frame.until - frame.from).max(1) as f64
    }

    /// The queue's integral over time up to `now`, in packet nanoseconds.
    pub fn queue_integral(&mut self, now: Time) -> u64 {
        let now = now.as_nanos();
        self.catch_up(now);
        let waiting = (self.begun..self.ring.len()).map(|i| now - self.ring.get(i).time);
        let mut sum = self.counters.waited + waiting.sum::<u64>();
        if let Some(managed) = &self.managed {
            managed.discipline.visit(&mut |frame| sum += now - frame.time);
        }
        sum
    }

    /// Longest queue since [`restart_maximum`](Self::restart_maximum).
    pub fn queue_max(&self) -> u64 {
        self.queue_max
    }

    /// Forgets the longest queue before `now`.
    pub fn restart_maximum(&mut self, now: Time) {
        // Not zero: what waits now is part of the new span too.
        self.queue_max = self.queue_length(now);
    }

    /// The integrals up to `now`.
    pub fn capacity(&mut self, now: Time) -> Capacity {
        self.integrate(now.as_nanos());
        self.capacity
    }

    /// Returns by how many bytes the carried bytes may exceed the capacity, since transmission times are
    /// rounded to nanoseconds. This is half a nanosecond for each of `frames`, at the highest rate of the
    /// link.
    pub fn rounding(&self, frames: u64) -> f64 {
        let rate = self.highest_rate.bits_per_second() as f64;
        // By a trace the frame on the air is carried bit by bit, and the capacity comes in steps.
        let frame = if self.schedule.is_some() { f64::from(self.last_size & !LOST) } else { 0.0 };
        // Half a nanosecond at `rate` bit/s is rate / 2e9 bits, so rate / 16e9 bytes.
        1.0 + (frames + 1) as f64 * rate / 16e9 + frame + self.lead.unwrap_or(0) as f64
    }

    /// What was counted so far.
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Packets that the queue marked (ECN: congestion experienced).
    pub fn marked(&self) -> u64 {
        self.counters.marked + self.managed.as_ref().map_or(0, |managed| managed.signals.marked())
    }

    /// Shows every packet in the link, waiting or under way.
    pub fn visit(&self, visit: &mut dyn FnMut(&Frame<P>)) {
        (0..self.ring.len()).for_each(|i| visit(self.ring.get(i)));
        if let Some(managed) = &self.managed {
            managed.discipline.visit(visit);
        }
    }

    // Most links lose nothing at random, and the common path need not make room for this.
    #[cold]
    fn is_lost(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.next())
    }

    fn count_drop(&mut self, cause: DropCause) -> DropCause {
        self.counters.drops[cause as usize] += 1;
        cause
    }

    fn integrate(&mut self, now: u64) {
        // A trace knows its integral at any time: nothing is summed, so no rounding adds up.
        if let Some(playing) = &self.schedule {
            let available = playing.schedule().capacity(now);
            return self.capacity.set(now, available);
        }
        let busy = [self.airing, self.draining];
        self.capacity.integrate(now, self.rate, self.gate.is_open(), busy.iter().flatten());
    }
}

#[cfg(test)]
mod tests;
