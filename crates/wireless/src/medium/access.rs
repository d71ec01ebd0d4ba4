//! When stations send: packets come first in line, backoffs end, silences hold them back.

use super::Medium;
use super::station::{Mac, NOBODY, Phase, Service};
use crate::timing::Frames;
use crate::{Destination, ExchangeFailure, FrameKind, InterfaceId, MediumEvent, Positions, Surroundings};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Rate, Time};

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// What a station does when its time has come.
    pub(super) fn act(&mut self, number: u32, now: Time) {
        match self.stations.phase(number) {
            Phase::Contending => self.begin_exchange(number, now),
            Phase::Answering => self.answer(number, now),
            Phase::Waiting => self.answer_missing(number, now),
            Phase::InExchange => self.play_whole(now),
            // The end of its frame ends it.
            Phase::Broadcasting => {}
        }
    }

    /// The first packet in line becomes the MAC's.
    pub(super) fn next_packet(&mut self, number: u32, now: Time) {
        self.line_up(number, now);
        if self.config.mac.rules.takes_packet_at_once {
            self.take_packet(number);
        }
    }

    /// There may be a packet first in line: the station contends for it.
    fn line_up(&mut self, number: u32, now: Time) {
        let station = &mut self.stations[number];
        if station.cold.queue.len() == 0 && station.cold.service.is_none() {
            return;
        }
        station.cold.first_since = now;
        let (contention, attempts) = self.stations.contention(number);
        contention.set_ready(attempts, now, &self.timing);
        self.watch(number);
        let station = &self.stations[number];
        if !station.cold.returns {
            self.follow(number, now);
        }
    }

    /// Routing has heard of a failure, and has taken out of the queue what waited for the neighbour that is
    /// gone. What it says itself comes after this.
    pub fn failure_told(&mut self) {
        if self.config.mac.rules.takes_next_before_routing {
            self.take_untaken();
        }
    }

    /// MACs that take packets at once take one after a failure as soon as routing has handled the failure.
    pub(super) fn take_untaken(&mut self) {
        while let Some(number) = self.untaken.pop() {
            self.take_packet(number);
        }
    }

    fn take_packet(&mut self, number: u32) {
        let channel = self.stations.channel(number);
        let station = &mut self.stations[number];
        if station.cold.service.is_some() {
            return;
        }
        let Some(packet) = station.cold.queue.pop() else { return };
        let sequence = station.take_sequence();
        station.cold.service = Some(Service {
            packet,
            since: station.cold.first_since,
            attempts: 0,
            sequence,
            arrived: false,
            rate: Rate::default(),
            channel,
            with_rts: false,
            cause: ExchangeFailure::OutOfReach,
        });
    }

    /// A station that follows its receivers tunes to the channel of the packet first in line.
    fn follow(&mut self, number: u32, now: Time) {
        let station = &self.stations[number];
        if !station.cold.follows_receiver {
            return;
        }
        let Some(head) = station.head() else { return };
        let target = match (head.channel, head.to) {
            (Some(channel), _) => channel,
            (None, Destination::Interface(peer)) => self.stations[peer.0].cold.home,
            (None, Destination::Broadcast) => return,
        };
        if target != self.stations.channel(number) {
            self.go_to(number, target, now);
        }
    }

    /// A station tunes to a channel by itself, which takes its time.
    fn go_to(&mut self, number: u32, target: ChannelId, now: Time) {
        // With DIFS, as EIFS has it: `try_resume` takes the later of the two ends.
        let deaf_until = now + self.stations[number].cold.tuning_delay + self.timing.difs;
        self.retune(now, InterfaceId(number), target);
        // EIFS keeps a station from counting, and so does tuning: one time serves both.
        self.stations.set_eifs(number, self.stations.eifs_until(number).max(deaf_until));
        self.stations.freeze(number, now, &self.timing);
        self.try_resume(number, now);
    }

    /// The channel, and the rate on it, that an exchange of `number` uses.
    pub(super) fn channel_rate(&self, channel: ChannelId) -> Rate {
        self.config
            .channels
            .get(channel.0 as usize)
            .map_or(self.config.mac.dcf.basic_rate, |entry| entry.rate)
    }

    /// The backoff of a station is over.
    fn begin_exchange(&mut self, number: u32, now: Time) {
        // Its receiver may have changed channel since the packet came first in line.
        self.follow(number, now);
        // It has just tuned, and is deaf for a while: its turn comes later.
        if self.stations.due(number, &self.timing) > now {
            self.reschedule(number);
            return;
        }
        let station = &self.stations[number];
        let Some(head) = station.head() else {
            self.stations.ear_mut(number).contention.clear_ready();
            return;
        };
        let (bytes, to) = (head.bytes, head.to);
        let rate = self.choose_rate(number, to, now);
        let frames = self.timing.frames(bytes, rate);
        if !self.fits(number, to, &frames, now) {
            self.stations.freeze(number, now, &self.timing);
            // Woken by the next change of a radio (`set_silent`), not by time.
            self.stations.ear_mut(number).held = true;
            self.held.push(number);
            return;
        }
        self.take_packet(number);
        let channel = self.exchange_channel(number, to);
        self.stations.ear_mut(number).contention.begin();
        let station = &mut self.stations[number];
        station.cold.counters.attempts += 1;
        let Some(service) = &mut station.cold.service else { return };
        service.attempts += 1;
        service.rate = rate;
        service.channel = channel;
        let with_rts = frames.with_rts && to != Destination::Broadcast;
        service.with_rts = with_rts;
        // Until somebody hears it and fails otherwise.
        service.cause = ExchangeFailure::OutOfReach;
        if self.work_out(number, to, &frames, now) {
            return;
        }
        if with_rts {
            // 7.2.1.1: the duration field of an RTS.
            let reserves = self.timing.sifs * 3 + frames.cts + frames.data + frames.ack;
            self.send(number, FrameKind::Rts, to, frames.rts, reserves, self.timing.basic(rate), now);
            self.wait_for(number, FrameKind::Cts, frames.rts, frames.cts, now);
        } else {
            self.send_data(number, now);
        }
    }

    /// The rate of the data: by adaptation, or the channel's. Broadcasts go at the basic rate (9.6).
    fn choose_rate(&mut self, number: u32, to: Destination, now: Time) -> Rate {
        let channel = self.exchange_channel(number, to);
        let adapted = match (to, &mut self.stations[number].cold.rates) {
            (Destination::Interface(peer), Some(rates)) => rates.choose(peer.0, now),
            _ => None,
        };
        let rate = adapted.unwrap_or_else(|| self.channel_rate(channel));
        if to == Destination::Broadcast { self.timing.basic(rate) } else { rate }
    }

    /// The packet itself.
    pub(super) fn send_data(&mut self, number: u32, now: Time) {
        let Some(service) = &self.stations[number].cold.service else { return };
        let (to, rate) = (service.packet.to, service.rate);
        let frames = self.timing.frames(service.packet.bytes, rate);
        match to {
            Destination::Broadcast => {
                self.send(number, FrameKind::Data, to, frames.data, Duration::ZERO, rate, now);
                self.stations.set_mac(number, Mac::Broadcasting);
                self.reschedule(number);
            }
            Destination::Interface(_) => {
                let reserves = self.timing.sifs + frames.ack;
                self.send(number, FrameKind::Data, to, frames.data, reserves, rate, now);
                self.wait_for(number, FrameKind::Ack, frames.data, frames.ack, now);
            }
        }
    }

    /// Whether the exchange that `number` would begin at `now` is over before a silence that it knows of
    /// begins.
    fn fits(&self, number: u32, to: Destination, frames: &Frames, now: Time) -> bool {
        let silence = self.config.silence;
        let open_until = |number: u32| match self.stations.ear(number).silent {
            true => Time::ZERO,
            false => self.stations[number].open_until,
        };
        let until = match to {
            Destination::Broadcast => now + frames.data,
            Destination::Interface(_) => now + self.timing.exchange(frames),
        };
        let peer = match to {
            Destination::Interface(peer) if silence.waits_for_peer => open_until(peer.0),
            _ => Time::MAX,
        };
        (silence.sends_while_silent || until <= open_until(number)) && until <= peer
    }

    /// Whether a station knows of a silence and does not count its backoff: its own, or its receiver's.
    fn is_blocked(&self, number: u32) -> bool {
        let silence = self.config.silence;
        let peer_silent = || match self.stations[number].head().map(|head| head.to) {
            Some(Destination::Interface(peer)) => self.stations.ear(peer.0).silent,
            _ => false,
        };
        (self.stations.ear(number).silent && !silence.sends_while_silent)
            || (silence.waits_for_peer && peer_silent())
    }

    /// Lets the backoff of a station go on if nothing keeps it.
    #[inline]
    pub(super) fn try_resume(&mut self, number: u32, now: Time) {
        let ear = self.stations.ear(number);
        // Cheap tests first: `is_blocked` reads the memory of other stations.
        let may_be_blocked = ear.silent || self.config.silence.waits_for_peer;
        if !ear.is_held_up(&self.listening) || (may_be_blocked && self.is_blocked(number)) {
            return;
        }
        let idle_from = now.max(self.stations.nav(number));
        // EIFS contains DIFS (9.2.10): the later of the two, not their sum.
        let from = (idle_from + self.timing.difs).max(self.stations.eifs_until(number));
        let contention = &mut self.stations.ear_mut(number).contention;
        contention.resume(from);
        if contention.is_ready() {
            // Its frame has been ready for longer: what says since when is a line of memory that a hearer
            // needs for nothing else.
            let due = contention.counted(&self.timing);
            debug_assert_eq!(due, self.stations.due(number, &self.timing));
            self.agenda.act_at_latest(number, due);
        }
    }

    /// Some radios fall silent or open, all at once; their present phase ends at `until`. A radio that is
    /// silent begins no exchange, and hears no first frame of one; an exchange that was answered is
    /// completed.
    pub fn set_silent(&mut self, now: Time, interfaces: &[InterfaceId], silent: bool, until: Time) {
        // All radios first: whoever reconsiders below must see each as it is now.
        for interface in interfaces {
            let was_silent = self.stations.ear(interface.0).silent;
            let station = &mut self.stations[interface.0];
            if was_silent && !silent {
                station.open_since = now;
            }
            station.open_until = if silent { now } else { until };
            let engaged = now <= station.engaged_until || self.stations.phase(interface.0) == Phase::Waiting;
            let ear = self.stations.ear_mut(interface.0);
            (ear.silent, ear.has_silences) = (silent, true);
            if silent && !engaged {
                ear.receiver.fall_silent();
            }
        }
        let mut concerned: Vec<u32> = interfaces.iter().map(|interface| interface.0).collect();
        if self.config.silence.waits_for_peer {
            // Whoever waits for one of them, and whoever holds an exchange back: nobody else depends on a
            // radio that is not its own.
            for InterfaceId(interface) in interfaces {
                let stations = &self.stations;
                let watchers = &mut self.watchers[*interface as usize];
                // The lists are cleaned here only: some in it watch another radio by now.
                watchers.retain(|number| stations[*number].cold.watches == *interface);
                concerned.extend_from_slice(watchers);
            }
            concerned.append(&mut self.held);
            // By number: the order of events must not depend on who began to watch first.
            concerned.sort_unstable();
            concerned.dedup();
        }
        self.held.clear();
        concerned.into_iter().for_each(|number| self.reconsider(number, now));
        debug_assert!(
            !self.config.silence.waits_for_peer
                || (0..self.stations.len() as u32).all(|number| !self.is_stalled(number)),
            "whoever depends on a radio has heard of it"
        );
    }

    /// True if a station's backoff is frozen without a reason: neither radio nor medium would wake it.
    fn is_stalled(&self, number: u32) -> bool {
        self.stations.ear(number).is_held_up(&self.listening) && !self.is_blocked(number)
    }

    /// The packet first in line may be another: from now on `number` hears of the radio that it is for.
    /// Returns whether that radio is another.
    pub(super) fn watch(&mut self, number: u32) -> bool {
        if !self.config.silence.waits_for_peer {
            return false;
        }
        let peer = match self.stations[number].head().map(|head| head.to) {
            Some(Destination::Interface(peer)) => peer.0,
            Some(Destination::Broadcast) | None => NOBODY,
        };
        let watches = &mut self.stations[number].cold.watches;
        let is_another = *watches != peer;
        *watches = peer;
        // `NOBODY` has no list.
        if is_another
            && let Some(watchers) = self.watchers.get_mut(peer as usize)
            && !watchers.contains(&number)
        {
            watchers.push(number);
        }
        is_another
    }

    /// A radio that a station depends on has changed.
    pub(super) fn reconsider(&mut self, number: u32, now: Time) {
        let blocked = self.is_blocked(number);
        self.stations.ear_mut(number).held = false;
        if blocked {
            self.stations.freeze(number, now, &self.timing);
        } else {
            self.try_resume(number, now);
        }
    }

    /// An exchange of `number` failed for good or for now.
    pub(super) fn attempt_failed(&mut self, number: u32, failure: crate::contention::Failure, now: Time) {
        self.stations.set_mac(number, Mac::Contending);
        let station = &mut self.stations[number];
        let Some(service) = &station.cold.service else { return };
        let (cause, from) = (service.cause, InterfaceId(number));
        station.cold.counters.count(cause);
        self.events.push_back(MediumEvent::AttemptFailed { time: now, from, cause });
        let (contention, attempts) = self.stations.contention(number);
        if contention.fail(attempts, failure) {
            self.finish_packet(number, Some(cause), now);
        }
        self.try_resume(number, now);
        self.reschedule(number);
    }

    /// The packet of `number` is done with; `failed`: given up.
    pub(super) fn finish_packet(&mut self, number: u32, failed: Option<ExchangeFailure>, now: Time) {
        let station = &mut self.stations[number];
        let Some(service) = station.cold.service.take() else { return };
        let (from, to) = (InterfaceId(number), service.packet.to);
        let spent = now - service.since;
        let (payload, attempts, arrived) = (service.packet.payload, service.attempts, service.arrived);
        let event = match failed {
            None => {
                station.cold.counters.sent += 1;
                MediumEvent::Sent { time: now, from, to, payload, attempts, service: spent }
            }
            Some(cause) => {
                *(if arrived {
                    &mut station.cold.counters.given_up_arrived
                } else {
                    &mut station.cold.counters.given_up
                }) += 1;
                MediumEvent::Failed { time: now, from, to, payload, attempts, service: spent, cause, arrived }
            }
        };
        self.events.push_back(event);
        self.stations.set_mac(number, Mac::Contending);
        if self.stations[number].cold.queue.take_overflow() {
            self.events.push_back(MediumEvent::QueueFree { time: now, at: from });
        }
        let station = &self.stations[number];
        let visits = station.cold.returns && self.stations.channel(number) != station.cold.home;
        if visits {
            let home = station.cold.home;
            self.go_to(number, home, now);
        }
        if failed.is_some() && self.config.mac.rules.takes_packet_at_once {
            // ns-2 tells of the failure (`xmit_failure_`) before it takes the next packet: what waits for the
            // same neighbour leaves the queue, and what routing has to say goes first.
            self.line_up(number, now);
            self.untaken.push(number);
            self.untaken_at = now;
        } else {
            self.next_packet(number, now);
        }
        if visits {
            // Its contention goes on already: whoever called finds nothing to resume.
            self.reschedule(number);
        }
    }
}
