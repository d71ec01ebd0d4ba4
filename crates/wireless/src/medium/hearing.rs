//! Who hears a frame: when it begins, when it ends, and when a radio comes to its channel in between.

use super::station::{Mac, NOBODY, OWN_LINES, Phase};
use super::{Frame, Hearer, Medium, OnAir};
use crate::receiver::{Incoming, Lock, Receiver};
use crate::{
    Capture, Destination, EifsAfter, ExchangeFailure, Fate, FrameKind, InterfaceId, MediumEvent, Positions,
    ReceivedFrame, Surroundings,
};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Position, Rate, Time, prefetch};

/// Memory is asked for this many hearers before the hearer that needs it.
const PREFETCHED: usize = 3;

/// Cache lines of the list of who hears a frame that are prefetched: the rest follows by itself.
const LIST_LINES: usize = 4;

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// A station begins a frame.
    #[expect(clippy::too_many_arguments, reason = "they are the frame's fields")]
    pub(super) fn send(
        &mut self,
        number: u32,
        kind: FrameKind,
        to: Destination,
        span: Duration,
        reserves: Duration,
        rate: Rate,
        now: Time,
    ) {
        self.stations.begin_sending(number, now + span);
        self.stations.freeze(number, now, &self.timing);
        let station = &mut self.stations[number];
        station.cold.counters.frames += 1;
        station.cold.counters.air_time += span;
        let from = now + self.timing.delay;
        let channel = self.frame_channel(number, kind).unwrap_or_else(|| self.stations.channel(number));
        let station = &self.stations[number];
        // Read in data only: the number that an answer bears is that of no packet.
        let sequence = station.cold.service.as_ref().map_or(0, |service| service.sequence);
        if self.config.reports_frames {
            let (start, end) = (now, now + span);
            let from = InterfaceId(number);
            let event = MediumEvent::OnAir { from, to, kind, channel, start, end, rate, sequence, reserves };
            self.events.push_back(event);
        }
        // A slot is used again with its list of hearers: no memory is asked for.
        let index = self.free_frames.pop().unwrap_or(self.frames.len() as u32);
        let reused = self.frames.get_mut(index as usize).map(|frame| std::mem::take(&mut frame.hearers));
        let needs = self.config.phy.needs(rate);
        let until = from + span;
        let frame = Frame { sender: number, to, kind, channel, sequence, rate, reserves, from, until, needs };
        let hearers = reused.unwrap_or_default();
        let place = self.on_air.len();
        let frame = OnAir { frame, is_heard: false, missed: None, place, is_to_neighbours: false, hearers };
        match self.frames.get_mut(index as usize) {
            Some(slot) => *slot = frame,
            None => self.frames.push(frame),
        }
        self.on_air.push(index);
        let first = self.config.mac.rules.defers_at_slot_end && !self.timing.delay.is_zero();
        self.agenda.hear(index, from, first);
        if let Some(Some(near)) = self.neighbours.get(number as usize) {
            prefetch(near.as_slice(), LIST_LINES);
        }
    }

    /// A frame begins to be heard.
    pub(super) fn frame_heard(&mut self, index: u32, now: Time) {
        let entry = &mut self.frames[index as usize];
        entry.is_heard = true;
        let frame = entry.frame;
        let mut hearers = std::mem::take(&mut entry.hearers);
        hearers.clear();
        self.agenda.end(index, frame.until);
        let is_to_neighbours = self.hears_all_in_reach();
        if is_to_neighbours {
            self.find_neighbours(frame.sender, now);
            // The empty list keeps its memory where it was; the neighbours' is lent.
            self.frames[index as usize].hearers = hearers;
            hearers = self.take_neighbours(frame.sender);
        } else {
            self.find_hearers(&frame, now, &mut hearers);
            self.add_partner(&frame, now, &mut hearers);
        }
        self.prefetch_first(&hearers);
        let incoming = Incoming { frame: index, from: frame.from, until: frame.until, needs: frame.needs };
        let mut missed = None;
        let receiver = frame.receiver();
        for (place, hearer) in hearers.iter().enumerate() {
            self.prefetch_later(&hearers, place);
            let reason = self.arrive(hearer, &incoming, frame.kind, now);
            if hearer.station == receiver {
                missed = reason;
            }
        }
        if receiver != NOBODY {
            // What it will need at the end of the frame, if it is to answer or to go on.
            self.stations.prefetch_own(receiver, OWN_LINES);
        }
        let entry = &mut self.frames[index as usize];
        entry.missed = missed;
        entry.is_to_neighbours = is_to_neighbours;
        if is_to_neighbours {
            self.neighbours[frame.sender as usize] = Some(hearers);
        } else {
            entry.hearers = hearers;
        }
    }

    /// Whether all neighbours of a sender hear its frames, each as loud as ever.
    #[inline]
    fn hears_all_in_reach(&self) -> bool {
        !self.has_channels && !self.config.phy.propagation.varies() && self.positions.max_speed() == 0.0
    }

    /// The neighbours of a station, which [`find_neighbours`](Self::find_neighbours) has found; to be put
    /// back.
    fn take_neighbours(&mut self, number: u32) -> Vec<Hearer> {
        let near = self.neighbours[number as usize].take();
        debug_assert!(near.is_some(), "its neighbours have been found, and are not out");
        near.unwrap_or_default()
    }

    /// Who hears a frame is about to differ from who is in reach of its sender.
    pub(super) fn part_from_neighbours(&mut self, index: u32) {
        let entry = &mut self.frames[index as usize];
        if std::mem::take(&mut entry.is_to_neighbours)
            && let Some(near) = &self.neighbours[entry.frame.sender as usize]
        {
            entry.hearers.extend_from_slice(near);
        }
    }

    /// Who hears a frame, and how loud.
    fn find_hearers(&mut self, frame: &Frame, now: Time, hearers: &mut Vec<Hearer>) {
        let propagation = &self.config.phy.propagation;
        let cutoff = self.config.phy.cutoff.watts();
        let varies = propagation.varies();
        if self.positions.max_speed() == 0.0 {
            self.find_neighbours(frame.sender, now);
            let Some(near) = &self.neighbours[frame.sender as usize] else { return };
            if self.has_channels {
                let hears = |hearer: &&Hearer| self.stations.channel(hearer.station) == frame.channel;
                hearers.extend(near.iter().filter(hears));
            } else {
                hearers.extend_from_slice(near);
            }
            if !varies {
                return;
            }
        } else {
            let mut found = std::mem::take(&mut self.found);
            found.clear();
            self.search(frame.sender, Some(frame.channel), now, &mut found);
            let power = self.stations[frame.sender].cold.power;
            let hearer = |(station, gain): &(u32, f64)| {
                let strength = self.listening.strength(gain * power);
                Hearer { station: *station, strength }
            };
            // Fading may still raise it: the cutoff comes after.
            let loud = |hearer: &Hearer| varies || hearer.strength.power >= cutoff;
            hearers.extend(found.iter().map(hearer).filter(loud));
            self.found = found;
            if !varies {
                return;
            }
        }
        hearers.retain_mut(|hearer| {
            // Its own stream: who else hears the frame shifts no draw.
            let stream = &mut self.stations[hearer.station].cold.fading;
            let power = hearer.strength.power * self.config.phy.propagation.frame_gain(stream);
            hearer.strength = self.listening.strength(power);
            power >= cutoff
        });
    }

    /// Whether stations that cannot receive a frame may come after stations that can, each in the order of their
    /// numbers: a processor predicts runs of the same. Who can is the same for all frames, unless rates
    /// differ in what they need. Where a frame that fails at a station can end that station's wait for an
    /// answer, events follow, and stations come by number.
    #[inline]
    fn weak_last(&self) -> bool {
        self.config.mac.rules.eifs_after == EifsAfter::AnySensed && self.config.phy.rates.is_empty()
    }

    /// Asks for the memory of the stations that hear a frame first.
    #[inline]
    fn prefetch_first(&self, hearers: &[Hearer]) {
        hearers.iter().take(PREFETCHED).for_each(|hearer| self.stations.prefetch_ear(hearer.station));
    }

    /// Asks for the list of who hears the next frame that ends.
    #[inline]
    fn prefetch_next_end(&self) {
        let Some(index) = self.agenda.first_end() else { return };
        let entry = &self.frames[index as usize];
        match self.neighbours.get(entry.frame.sender as usize) {
            Some(Some(near)) if entry.is_to_neighbours => prefetch(near.as_slice(), LIST_LINES),
            _ => prefetch(entry.hearers.as_slice(), LIST_LINES),
        }
    }

    /// Asks for the memory of a station that will hear a frame soon.
    #[inline]
    fn prefetch_later(&self, hearers: &[Hearer], place: usize) {
        // At the end the last again and again: no branch that goes another way there.
        let later = (place + PREFETCHED).min(hearers.len() - 1);
        self.stations.prefetch_ear(hearers[later].station);
    }

    /// Works out, once, who is in reach of a station where nobody moves; who is so in any case, if what
    /// arrives there varies.
    fn find_neighbours(&mut self, number: u32, now: Time) {
        if self.neighbours.len() < self.stations.len() {
            self.neighbours.resize(self.stations.len(), None);
        }
        if self.neighbours[number as usize].is_none() {
            let mut near = Vec::new();
            self.search(number, None, now, &mut near);
            let power = self.stations[number].cold.power;
            let hearer = |(station, gain): (u32, f64)| {
                let strength = self.listening.strength(gain * power);
                Hearer { station, strength }
            };
            let cutoff = self.config.phy.cutoff.watts();
            let varies = self.config.phy.propagation.varies();
            let loud = |hearer: &Hearer| varies || hearer.strength.power >= cutoff;
            let mut near: Vec<Hearer> = near.into_iter().map(hearer).filter(loud).collect();
            if self.weak_last() {
                let sensitivity = self.config.phy.sensitivity.watts();
                // Stable: within each run they stay in the order of their numbers.
                near.sort_by_key(|hearer| hearer.strength.power < sensitivity);
            }
            self.neighbours[number as usize] = Some(near);
        }
    }

    /// Who may hear `sender`, with the path gain; of one channel, or of all.
    fn search(&mut self, sender: u32, channel: Option<ChannelId>, now: Time, found: &mut Vec<(u32, f64)>) {
        self.find_candidates(sender, now);
        let station = &self.stations[sender];
        let (node, reach) = (self.stations.node(sender), station.cold.reach);
        let place = self.positions.position(node, now);
        for &other in &self.candidates[sender as usize].1 {
            let its_node = self.stations.node(other);
            let there = self.positions.position(its_node, now);
            let (x, y) = (there.x - place.x, there.y - place.y);
            let square = x * x + y * y;
            let hears = |channel| !self.has_channels || self.stations.channel(other) == channel;
            if square <= reach * reach && channel.is_none_or(hears) {
                let pair = (node, its_node);
                found.push((other, self.config.phy.propagation.lasting_gain(square.sqrt(), self.seed, pair)));
            }
        }
    }

    /// Who can come within reach of `sender` before the squares are drawn again.
    fn find_candidates(&mut self, sender: u32, now: Time) {
        if now >= self.grid.expires {
            self.points.clear();
            for number in 0..self.stations.len() as u32 {
                self.points.push(self.positions.position(self.stations.node(number), now));
            }
            self.grid.build(&self.points, self.reach, self.positions.max_speed(), now);
            self.candidates.resize_with(self.stations.len(), Default::default);
            self.drawings += 1;
        }
        let (drawn, candidates) = &mut self.candidates[sender as usize];
        if *drawn == self.drawings {
            return;
        }
        *drawn = self.drawings;
        candidates.clear();
        // Both may have gone as far as the slack.
        let reach = self.stations[sender].cold.reach + 2.0 * self.grid.slack;
        let (points, place) = (&self.points, self.points[sender as usize]);
        self.grid.near(place, reach, |other| {
            if other != sender && points[other as usize].distance(place) <= reach {
                candidates.push(other);
            }
        });
        // By number: events must not depend on how the squares are drawn.
        candidates.sort_unstable();
    }

    /// A frame begins to arrive at one station. Returns why it will not be received, as far as is known.
    fn arrive(
        &mut self,
        hearer: &Hearer,
        incoming: &Incoming,
        kind: FrameKind,
        now: Time,
    ) -> Option<ExchangeFailure> {
        let Incoming { from, until, .. } = *incoming;
        let (number, delay) = (hearer.station, self.timing.delay);
        let ear = self.stations.ear(number);
        let deaf = match ear.is_sending || ear.has_silences {
            false => None,
            true => self.deaf(number, kind, from, until),
        };
        // Before the frame joins: the chunk that ends did not have it.
        self.hear_chunk(number, now);
        let before = self.stations.ear(number).receiver.set_on();
        let frames = &self.frames;
        let span = |index: u32| {
            let Frame { from, until, .. } = frames[index as usize].frame;
            (from, until)
        };
        let ear = self.stations.ear_mut(number);
        let missed = ear.receiver.arrive(&self.listening, incoming, hearer.strength, deaf, delay, span);
        if let Some(decoder) = self.decoders.get_mut(number as usize)
            && ear.receiver.set_on() != before
        {
            decoder.begin(now);
        }
        if ear.receiver.is_busy(&self.listening) {
            if ear.has_guard {
                self.stations.confirm_nav(number, now);
            }
            // Whoever has not begun by now heard it before its next slot: its slots are counted up to the
            // frame's start.
            self.stations.freeze(number, now - delay, &self.timing);
        }
        missed
    }

    /// Why a radio that sends or has silences does not receive a frame, if it does not. One that is silent
    /// stays with the exchange that it is in, and hears no first frame of another.
    fn deaf(&self, number: u32, kind: FrameKind, from: Time, until: Time) -> Option<ExchangeFailure> {
        let station = &self.stations[number];
        if self.stations.is_sending_at(number, from) {
            return Some(ExchangeFailure::Collided);
        }
        let is_first = matches!(kind, FrameKind::Rts | FrameKind::Data);
        let silent = self.stations.ear(number).silent;
        let open = !silent && station.open_since <= from && (!is_first || until <= station.open_until);
        let is_engaged = || match (kind, self.stations.mac(number)) {
            (FrameKind::Data, _) => from <= station.engaged_until,
            (kind, Mac::Waiting { answer, .. }) => kind == answer,
            _ => false,
        };
        (!open && !is_engaged()).then_some(ExchangeFailure::Unanswered)
    }

    /// A frame has ended everywhere.
    pub(super) fn frame_ends(&mut self, index: u32, now: Time) {
        let entry = &mut self.frames[index as usize];
        let (frame, place) = (entry.frame, entry.place);
        let is_to_neighbours = std::mem::take(&mut entry.is_to_neighbours);
        let mut hearers = match is_to_neighbours {
            true => self.take_neighbours(frame.sender),
            false => std::mem::take(&mut entry.hearers),
        };
        self.prefetch_first(&hearers);
        self.prefetch_next_end();
        self.on_air.swap_remove(place);
        if let Some(moved) = self.on_air.get(place) {
            self.frames[*moved as usize].place = place;
        }
        let sender = frame.sender;
        self.stations.ear_mut(sender).is_sending = false;
        // All of them listen to its channel, or wait for this frame as the answer of their exchange: who
        // leaves hears it no more.
        let eifs = self.timing.eifs(self.channel_rate(frame.channel));
        for (place, hearer) in hearers.iter().enumerate() {
            self.prefetch_later(&hearers, place);
            self.frame_leaves(hearer, index, &frame, eifs, now);
        }
        if self.stations.phase(sender) == Phase::Broadcasting {
            let (contention, attempts) = self.stations.contention(sender);
            contention.succeed(attempts, false);
            self.finish_packet(sender, None, now);
        }
        self.try_resume(sender, now);
        if is_to_neighbours {
            self.neighbours[sender as usize] = Some(hearers);
        } else {
            hearers.clear();
            self.frames[index as usize].hearers = hearers;
        }
        self.free_frames.push(index);
    }

    /// What is in the air around a station changes: a chunk of the frame that it is set on has ended. Nothing
    /// where frames are judged as a whole.
    #[inline]
    fn hear_chunk(&mut self, number: u32, now: Time) {
        if let Some(decoder) = self.decoders.get_mut(number as usize)
            && let Some((index, power, others)) = self.stations.ear(number).receiver.chunk(&self.listening)
        {
            let frame = &self.frames[index as usize].frame;
            decoder.hear(frame, self.timing.preamble, power, others, now);
        }
    }

    /// A frame has ended at one station, which makes of it what it can.
    fn frame_leaves(&mut self, hearer: &Hearer, index: u32, frame: &Frame, eifs: Duration, now: Time) {
        let (number, power) = (hearer.station, hearer.strength.power);
        // Before the frame is taken out: the chunk that ends had it.
        self.hear_chunk(number, now);
        match self.stations.ear_mut(number).receiver.end(&self.listening, index, hearer.strength) {
            Some(lock) => match self.judge(number, frame, &lock) {
                None => {
                    // An error-free frame ends EIFS (IEEE 802.11-2007).
                    self.stations.set_eifs(number, Time::ZERO);
                    self.receive(number, index, now);
                }
                Some(cause) => {
                    self.lost(number, frame, cause);
                    // What a silence cut off was not received until then either, as far as the radio knows.
                    self.failed_reception(number, power, cause != ExchangeFailure::Unanswered, eifs, now);
                }
            },
            None => {
                if frame.receiver() == number {
                    self.lost(
                        number,
                        frame,
                        self.frames[index as usize].missed.unwrap_or(ExchangeFailure::Collided),
                    );
                }
                self.failed_reception(number, power, false, eifs, now);
            }
        }
        self.try_resume(number, now);
    }

    /// Why the frame that a radio was set on is lost; `None`: it can be decoded.
    fn judge(&mut self, number: u32, frame: &Frame, lock: &Lock) -> Option<ExchangeFailure> {
        if let Some(cause) = lock.spoiled {
            return Some(cause);
        }
        if let Some(decoder) = self.decoders.get_mut(number as usize) {
            if !decoder.is_right() {
                return Some(if lock.worst > 0.0 {
                    ExchangeFailure::Collided
                } else {
                    ExchangeFailure::Garbled
                });
            }
            // Other frames are in the bits already.
            return self.spoils(number, frame, lock.power, 0.0);
        }
        let (capture, _) = frame.needs;
        // Pair by pair the other frames have been judged as they came.
        let others = if self.listening.capture == Capture::Pairwise { 0.0 } else { lock.worst };
        if lock.power < capture * others {
            return Some(ExchangeFailure::Collided);
        }
        self.spoils(number, frame, lock.power, others)
    }

    /// What primary users, noise or chance make of a frame that arrives with `signal` watts, beside `others`.
    pub(super) fn spoils(
        &mut self,
        number: u32,
        frame: &Frame,
        signal: f64,
        others: f64,
    ) -> Option<ExchangeFailure> {
        let (capture, _) = frame.needs;
        let (kind, channel, from, until) = (frame.kind, frame.channel, frame.from, frame.until);
        // Only primary users ask for the place, and a moving node's place costs a calculation.
        let place = if S::USES_PLACES {
            self.positions.position(self.stations.node(number), until)
        } else {
            Position::default()
        };
        let receiver = InterfaceId(number);
        let reception =
            ReceivedFrame { receiver, place, channel, kind, from, until, signal, others, capture };
        match self.surroundings.fate(&reception) {
            Fate::Captured => {}
            Fate::Interfered => return Some(ExchangeFailure::Interfered(kind)),
            Fate::TooWeak => return Some(ExchangeFailure::Garbled),
        }
        let strikes = frame.receiver() == number
            && match kind {
                FrameKind::Data => self.has_errors(frame.sender, channel),
                FrameKind::Rts => {
                    self.surroundings.garbles_rts() && self.has_channel_errors(frame.sender, channel)
                }
                FrameKind::Cts | FrameKind::Ack => false,
            };
        strikes.then_some(ExchangeFailure::Garbled)
    }

    /// Draws whether data of `sender` have errors: by its loss, and by the error rate of the channel.
    fn has_errors(&mut self, sender: u32, channel: ChannelId) -> bool {
        let cold = &mut self.stations[sender].cold;
        // Both streams draw for each frame: one setting shifts no draw of the other.
        let lost = cold.loss > 0.0 && cold.losses.uniform() < cold.loss;
        let errors = self.has_channel_errors(sender, channel);
        lost || errors
    }

    fn has_channel_errors(&mut self, sender: u32, channel: ChannelId) -> bool {
        let rate = self.config.channels.get(channel.0 as usize).map_or(0.0, |entry| entry.error_rate);
        rate > 0.0 && self.stations[sender].cold.errors.uniform() < rate
    }

    /// Notes for the sender of an exchange why a frame of it did not get through.
    fn lost(&mut self, number: u32, frame: &Frame, cause: ExchangeFailure) {
        if frame.receiver() != number {
            return;
        }
        let whose = match frame.kind {
            FrameKind::Rts | FrameKind::Data => frame.sender,
            FrameKind::Cts | FrameKind::Ack => number,
        };
        if let Some(service) = &mut self.stations[whose].cold.service {
            service.cause = cause;
        }
    }

    /// A frame could not be decoded; `began`: a reception of it had begun. EIFS follows as the rules say.
    fn failed_reception(&mut self, number: u32, power: f64, began: bool, eifs: Duration, now: Time) {
        // A radio that was sending knows nothing of it.
        match self.config.mac.rules.eifs_after {
            EifsAfter::FailedReception if !began => {}
            EifsAfter::FailedReception => {
                let was_deaf = self.stations.was_deaf(number, now);
                let waits = self.stations.phase(number) == Phase::Waiting;
                if !was_deaf {
                    self.stations.set_eifs(number, self.stations.eifs_until(number).max(now + eifs));
                }
                if waits {
                    self.answer_spoiled(number, now);
                }
            }
            EifsAfter::AnySensed => {
                if Receiver::is_sensed(&self.listening, power) && !self.stations.was_deaf(number, now) {
                    self.stations.set_nav(number, now + eifs, Time::MAX);
                }
            }
        }
    }

    /// Tunes a radio to another channel. What it was receiving is lost; what is in the air there already
    /// makes its medium busy, and cannot be received.
    pub fn tune(&mut self, now: Time, at: InterfaceId, channel: ChannelId) {
        self.stations[at.0].cold.home = channel;
        self.retune(now, at, channel);
    }

    /// Tunes a radio to a channel that it only visits.
    pub(super) fn retune(&mut self, now: Time, at: InterfaceId, channel: ChannelId) {
        let number = at.0;
        if self.stations.channel(number) == channel {
            return;
        }
        self.stations.set_channel(number, channel);
        self.has_channels = true;
        self.leave_channel(number);
        self.stations.forget_air(number);
        let node = self.stations.node(number);
        let place = self.positions.position(node, now);
        for index in 0..self.on_air.len() {
            let index = self.on_air[index];
            let OnAir { frame, is_heard, .. } = &self.frames[index as usize];
            // One that is not heard yet finds its hearers when it is.
            if frame.channel != channel
                || !is_heard
                || frame.sender == number
                || self.is_partner(number, frame)
            {
                continue;
            }
            // Without the fading of the frame, which was drawn for those who heard it begin.
            let other = self.stations.node(frame.sender);
            let watts = self.stations[frame.sender].cold.power;
            let distance = self.positions.position(other, now).distance(place);
            let power = watts * self.config.phy.propagation.lasting_gain(distance, self.seed, (other, node));
            if power < self.config.phy.cutoff.watts() {
                continue;
            }
            let strength = self.listening.strength(power);
            self.part_from_neighbours(index);
            let entry = &mut self.frames[index as usize];
            let for_me = entry.frame.to == Destination::Interface(at);
            entry.missed = entry.missed.or(for_me.then_some(ExchangeFailure::OutOfReach));
            entry.hearers.push(Hearer { station: number, strength });
            self.stations.ear_mut(number).receiver.join(&self.listening, strength);
        }
        if self.stations.ear(number).receiver.is_busy(&self.listening) {
            self.stations.freeze(number, now, &self.timing);
        } else {
            self.try_resume(number, now);
        }
    }
}
