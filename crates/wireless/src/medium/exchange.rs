//! The exchange of frames: RTS, CTS, data, ACK, and the outcome if one of them is missing.

use super::Medium;
use super::station::{Mac, Phase};
use crate::contention::Failure;
use crate::{
    AnswerTimeout, CtsWhen, Destination, ExchangeFailure, FrameKind, InterfaceId, MediumEvent, Positions,
    Surroundings,
};
use cogtcp_units::{Duration, Time};

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// A station has begun a frame of `span` and waits for an answer of `answer_span`.
    pub(super) fn wait_for(
        &mut self,
        number: u32,
        answer: FrameKind,
        span: Duration,
        answer_span: Duration,
        now: Time,
    ) {
        let timing = &self.timing;
        let until = match self.config.mac.rules.answer_timeout {
            AnswerTimeout::End => now + span + timing.delay + timing.sifs + answer_span + timing.delay,
            // SIFS, a slot and the preamble (9.2.8).
            AnswerTimeout::Start => now + span + timing.sifs + timing.slot + timing.preamble,
        };
        self.stations.set_mac(number, Mac::Waiting { answer, until });
        self.reschedule(number);
    }

    /// The time for an answer is over. One whose preamble has been heard is waited for.
    pub(super) fn answer_missing(&mut self, number: u32, now: Time) {
        let Mac::Waiting { answer, .. } = self.stations.mac(number) else { return };
        let is_receiving = self.stations.ear(number).receiver.is_receiving();
        if self.config.mac.rules.answer_timeout == AnswerTimeout::Start && is_receiving {
            // Until the frame that it is receiving ends: `receive`, or `answer_spoiled`.
            self.stations.set_mac(number, Mac::Waiting { answer, until: Time::MAX });
            self.reschedule(number);
            return;
        }
        self.no_answer(number, now);
    }

    /// A frame that was waited for beyond its time could not be decoded.
    pub(super) fn answer_spoiled(&mut self, number: u32, now: Time) {
        if matches!(self.stations.mac(number), Mac::Waiting { until: Time::MAX, .. }) {
            self.no_answer(number, now);
        }
    }

    fn no_answer(&mut self, number: u32, now: Time) {
        let Mac::Waiting { answer, .. } = self.stations.mac(number) else { return };
        let station = &mut self.stations[number];
        let Some(service) = &station.cold.service else { return };
        let failure = match answer {
            FrameKind::Ack if service.with_rts => Failure::Long,
            _ => Failure::Short,
        };
        let (rate, to) = (service.rate, service.packet.to);
        // A lost CTS says nothing about the rate of the data.
        if let (FrameKind::Ack, Destination::Interface(peer), Some(rates)) =
            (answer, to, &mut station.cold.rates)
        {
            rates.report(peer.0, rate, false);
        }
        self.attempt_failed(number, failure, now);
    }

    /// A station has decoded a frame.
    pub(super) fn receive(&mut self, number: u32, index: u32, now: Time) {
        let frame = &self.frames[index as usize].frame;
        let (kind, from, reserves) = (frame.kind, frame.sender, frame.reserves);
        let for_me = frame.receiver() == number;
        if self.stations.phase(number) == Phase::Waiting
            && let Mac::Waiting { answer, until } = self.stations.mac(number)
        {
            let peer = self.stations[number].cold.service.as_ref().map(|service| service.packet.to);
            if for_me && kind == answer && peer == Some(Destination::Interface(InterfaceId(from))) {
                self.answered(number, kind, now);
                return;
            }
            // Waited for beyond its time, and not the answer after all.
            if self.config.mac.rules.other_frame_fails || until == Time::MAX {
                if let Some(service) = &mut self.stations[number].cold.service
                    && service.cause == ExchangeFailure::OutOfReach
                {
                    service.cause = ExchangeFailure::Collided;
                }
                self.no_answer(number, now);
            }
        }
        // A station sets no NAV by a frame that is for itself (9.2.5.4).
        if !for_me {
            self.set_nav(number, kind, reserves, now);
        }
        match kind {
            FrameKind::Rts if for_me => self.receive_rts(number, index, now),
            FrameKind::Data => self.receive_data(number, index, now),
            _ => {}
        }
    }

    /// A frame for others reserves the medium.
    fn set_nav(&mut self, number: u32, kind: FrameKind, reserves: Duration, now: Time) {
        let timing = &self.timing;
        let guard = match kind {
            FrameKind::Rts if self.config.mac.rules.nav_reset => {
                let cts = timing.frames(0, self.config.mac.dcf.basic_rate).cts;
                // 9.2.5.4, with the delays of the CTS and the data added.
                now + timing.sifs * 2 + cts + timing.slot * 2 + timing.delay * 2
            }
            _ => Time::MAX,
        };
        // The frame that ends an exchange reserves nothing, and must not cut an older reservation short.
        if !reserves.is_zero() {
            self.stations.set_nav(number, now + reserves, guard);
        }
    }

    /// The answer that a station waited for has come.
    fn answered(&mut self, number: u32, kind: FrameKind, now: Time) {
        let station = &mut self.stations[number];
        let Some(service) = &mut station.cold.service else { return };
        // What follows may fail in its own way.
        service.cause = ExchangeFailure::OutOfReach;
        let (rate, to) = (service.rate, service.packet.to);
        if kind == FrameKind::Cts {
            station.attempts.reserved();
            let at = now + self.timing.sifs;
            let kind = FrameKind::Data;
            // Data have receiver and duration from the packet: these two are not read.
            let mac = Mac::Answering { kind, to: 0, reserves: Duration::ZERO, rate, at };
            self.stations.set_mac(number, mac);
            self.reschedule(number);
            return;
        }
        if let (Destination::Interface(peer), Some(rates)) = (to, &mut station.cold.rates) {
            rates.report(peer.0, rate, true);
        }
        self.succeed(number, now);
    }

    /// The packet of `number` has been acknowledged.
    pub(super) fn succeed(&mut self, number: u32, now: Time) {
        let service = self.stations[number].cold.service.as_ref();
        let with_rts = service.is_some_and(|service| service.with_rts);
        let (contention, attempts) = self.stations.contention(number);
        contention.succeed(attempts, with_rts);
        self.stations.set_mac(number, Mac::Contending);
        self.finish_packet(number, None, now);
        self.reschedule(number);
    }

    fn receive_rts(&mut self, number: u32, index: u32, now: Time) {
        let frame = &self.frames[index as usize].frame;
        let (from, reserves, rate) = (frame.sender, frame.reserves, frame.rate);
        let rules = &self.config.mac.rules;
        let cts = self.timing.frames(0, rate).cts;
        let free = self.stations.phase(number) == Phase::Contending
            && !self.stations.ear(number).is_sending
            && (rules.cts_when != CtsWhen::NavIdle || self.stations.nav(number) <= now);
        if !free {
            if let Some(service) = &mut self.stations[from].cold.service {
                service.cause = ExchangeFailure::Refused;
            }
            return;
        }
        self.stations[number].engaged_until = now + reserves + self.timing.delay * 4;
        // 7.2.1.2: the duration field of a CTS, from that of its RTS.
        let reserves = reserves.saturating_sub(self.timing.sifs + cts);
        let at = now + self.timing.sifs;
        self.stations.set_mac(number, Mac::Answering { kind: FrameKind::Cts, to: from, reserves, rate, at });
        self.reschedule(number);
    }

    fn receive_data(&mut self, number: u32, index: u32, now: Time) {
        let frame = &self.frames[index as usize].frame;
        let (from, to, sequence, rate) = (InterfaceId(frame.sender), frame.to, frame.sequence, frame.rate);
        let broadcast = to == Destination::Broadcast;
        if !broadcast && to != Destination::Interface(InterfaceId(number)) {
            return;
        }
        if !broadcast {
            if self.stations.phase(number) != Phase::Contending || self.stations.ear(number).is_sending {
                // It is about to answer somebody else: there is no second answer at a time.
                if let Some(service) = &mut self.stations[from.0].cold.service {
                    service.cause = ExchangeFailure::Refused;
                }
                return;
            }
            let at = now + self.timing.sifs;
            let (kind, reserves) = (FrameKind::Ack, Duration::ZERO);
            self.stations.set_mac(number, Mac::Answering { kind, to: from.0, reserves, rate, at });
            let station = &mut self.stations[number];
            // Its ACK ends the exchange.
            station.engaged_until = Time::ZERO;
            // After the answer is set: a duplicate is acknowledged too, since its ACK was lost (9.2.9).
            let duplicate = station.has_seen(from, sequence);
            station.cold.counters.duplicates += u64::from(duplicate);
            self.reschedule(number);
            if duplicate {
                return;
            }
        }
        self.deliver(from.0, number, broadcast, now);
    }

    /// The packet of `from` is handed up at `number`.
    pub(super) fn deliver(&mut self, from: u32, number: u32, broadcast: bool, now: Time) {
        self.stations.received[number as usize] += 1;
        // The packet is still at its sender, waiting for the ACK.
        let Some(service) = &mut self.stations[from].cold.service else { return };
        service.arrived = true;
        let (payload, first_in_line) = (service.packet.payload.clone(), service.since);
        self.events.push_back(MediumEvent::Received {
            time: now,
            at: InterfaceId(number),
            from: InterfaceId(from),
            broadcast,
            first_in_line,
            payload,
        });
    }

    /// SIFS is over: the CTS, the ACK, or the data after a CTS.
    pub(super) fn answer(&mut self, number: u32, now: Time) {
        let Mac::Answering { kind, to, reserves, rate, .. } = self.stations.mac(number) else { return };
        self.stations.set_mac(number, Mac::Contending);
        let hears = self.stations.ear(number).receiver.is_busy(&self.listening);
        let busy = hears || self.stations.nav(number) > now;
        // An ACK goes out whether the medium is idle or not (9.2.8).
        let gives_up =
            busy && kind != FrameKind::Ack && self.config.mac.rules.cts_when == CtsWhen::MediumIdle;
        if gives_up {
            self.give_up_answer(number, kind, to, now);
            return;
        }
        if kind == FrameKind::Data {
            self.send_data(number, now);
            return;
        }
        let frames = self.timing.frames(0, rate);
        let (span, speed) = match kind {
            FrameKind::Cts => (frames.cts, self.timing.basic(rate)),
            _ => (frames.ack, self.timing.answer(rate)),
        };
        let receiver = Destination::Interface(InterfaceId(to));
        self.send(number, kind, receiver, span, reserves, speed, now);
        if kind == FrameKind::Cts && self.config.mac.rules.cts_reserves_for_itself {
            let ack = self.timing.frames(0, rate).ack;
            let data_ends =
                now + span + reserves.saturating_sub(self.timing.sifs + ack) + self.timing.delay * 2;
            self.stations.set_nav(number, data_ends, Time::MAX);
        }
        self.reschedule(number);
    }

    /// ns-2: the medium is not idle, so the CTS is dropped, or the data wait for another RTS without a
    /// failure counted.
    fn give_up_answer(&mut self, number: u32, kind: FrameKind, to: u32, now: Time) {
        let asked = if kind == FrameKind::Cts { to } else { number };
        if let Some(service) = &mut self.stations[asked].cold.service {
            service.cause = ExchangeFailure::Refused;
        }
        if kind == FrameKind::Data {
            let (contention, attempts) = self.stations.contention(number);
            contention.widen(attempts);
            self.stations[number].cold.counters.count(ExchangeFailure::Refused);
            self.events.push_back(MediumEvent::AttemptFailed {
                time: now,
                from: InterfaceId(number),
                cause: ExchangeFailure::Refused,
            });
        }
        self.try_resume(number, now);
        self.reschedule(number);
    }
}
