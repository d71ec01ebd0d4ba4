//! An exchange worked out when it begins.
//!
//! Between two stations that hear each other's first frame nothing can interfere: the plans of the radios say
//! who answers, the activity of primary users what they destroy. So the frames need no events of their own.
//! At most three are left: the exchange begins, the packet arrives (or its lost frame is over), the exchange
//! ends. Frames, draws and times equal an exchange that is played frame by frame (`tests/whole.rs`), with one
//! exception. A station takes the medium for busy as soon as a frame begins, not a delay later.

use super::station::{Mac, Phase};
use super::{Frame, Medium};
use crate::contention::Failure;
use crate::timing::Frames;
use crate::{
    Destination, Errors, ExchangeFailure, FrameKind, InterfaceId, MediumEvent, Positions, Rules, Surroundings,
};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Rate, Time};

/// An exchange that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    sender: u32,
    receiver: u32,
    /// When the packet arrives for the first time; `Time::MAX`: it does not, or has.
    arrives: Time,
    end: Time,
    failed: Option<(Failure, ExchangeFailure)>,
    /// When the receiver may count again: at the end, or when a frame to it has ended that is lost.
    /// `Time::MAX`: it does.
    idle: Time,
    /// Until when either waits for EIFS.
    eifs: [Time; 2],
}

/// What all frames of an exchange have in common.
#[derive(Clone, Copy, Debug)]
struct Terms {
    sender: u32,
    receiver: u32,
    channel: ChannelId,
    rate: Rate,
    sequence: u32,
    /// Power of either's frames at the other, W.
    power: f64,
}

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// The exchange that `number` begins at `now` goes its way without more events, if nobody can disturb it.
    /// Returns whether it does.
    pub(super) fn work_out(&mut self, number: u32, to: Destination, frames: &Frames, now: Time) -> bool {
        let Destination::Interface(InterfaceId(peer)) = to else { return false };
        if !self.config.whole_exchanges {
            return false;
        }
        let Some(power) = self.undisturbed(number, peer, frames, now) else { return false };
        let Some(service) = &self.stations[number].cold.service else { return false };
        let terms = Terms {
            sender: number,
            receiver: peer,
            channel: self.exchange_channel(number, to),
            rate: service.rate,
            sequence: service.sequence,
            power,
        };
        self.exchange_whole(&terms, frames, now);
        true
    }

    /// The power at which the two hear each other, if nothing can come between them: the receiver hears the
    /// whole of the first frame before it would begin one itself.
    fn undisturbed(&mut self, number: u32, peer: u32, frames: &Frames, now: Time) -> Option<f64> {
        let (delay, span) = (self.timing.delay, if frames.with_rts { frames.rts } else { frames.data });
        let from = now + delay;
        let to = Destination::Interface(InterfaceId(peer));
        let station = &self.stations[peer];
        let due = self.stations.due(peer, &self.timing);
        let hears = self.on_air.is_empty()
            && self.stations.phase(peer) == Phase::Contending
            && !self.stations.ear(peer).is_sending
            && due > now
            && due >= from
            && self.stations.nav(peer) <= now
            && !self.stations.ear(peer).silent
            && station.open_since <= from
            && from + span <= station.open_until
            && self.stations.channel(peer) == self.exchange_channel(number, to);
        if !hears {
            return None;
        }
        match self.pair_power {
            Some(power) => power,
            None => {
                let power = self.find_pair_power(now);
                self.pair_power = Some(power);
                power
            }
        }
    }

    /// The power at which two stations that are alone and stand still always hear each other; `None`: it is
    /// not so.
    fn find_pair_power(&mut self, now: Time) -> Option<f64> {
        let phy = &self.config.phy;
        // All that could make a third party, a draw or another timeout matter is off.
        let is_simple = self.stations.len() == 2
            && self.config.mac.rules == Rules::two_stations()
            && self.config.rate_control.is_none()
            && phy.rates.is_empty()
            && phy.errors == Errors::Threshold
            && !phy.propagation.varies()
            && self.positions.max_speed() == 0.0
            && self.timing.delay <= self.timing.difs;
        if !is_simple {
            return None;
        }
        // Received, sensed and not cut off: else the exchange is not heard as a whole.
        let needed = phy.sensitivity.watts().max(phy.carrier_sense.watts()).max(phy.cutoff.watts());
        let [there, back] = [(0, 1), (1, 0)].map(|(from, to)| self.hearer(from, to, now).strength.power);
        // `Terms` has one power for both ways.
        (there == back && there >= needed).then_some(there)
    }

    fn exchange_whole(&mut self, terms: &Terms, frames: &Frames, now: Time) {
        let Terms { sender, receiver, .. } = *terms;
        let (sifs, delay) = (self.timing.sifs, self.timing.delay);
        let eifs = self.timing.eifs(self.channel_rate(terms.channel));
        self.stations.freeze(receiver, now, &self.timing);
        let mut whole = Whole {
            sender,
            receiver,
            arrives: Time::MAX,
            end: now,
            failed: None,
            idle: Time::MAX,
            eifs: [sender, receiver].map(|end| self.stations.eifs_until(end)),
        };
        let (mut start, mut failure, place) = (now, Failure::Short, self.events.len());
        let mut data = None;
        // Before its frames: who hears of them knows then what they belong to. What it comes to is filled in.
        let from = InterfaceId(sender);
        self.events.push_back(MediumEvent::Exchange { from, end: now, data: None, cause: None });
        'frames: {
            if frames.with_rts {
                let over = now + frames.rts + delay;
                // Answered or not: the timeout is the answer's end (`Rules::two_stations`).
                whole.end = over + sifs + frames.cts + delay;
                if let Some(cause) = self.put_on_air(terms, FrameKind::Rts, frames, now) {
                    whole.failed = Some((failure, cause));
                    // Its medium is idle at the end of the frame that it could not decode, and EIFS runs from
                    // there.
                    (whole.idle, whole.eifs[1]) = (over, over + eifs);
                    break 'frames;
                }
                // An error-free frame ends EIFS.
                whole.eifs[1] = Time::ZERO;
                let lost = self.put_on_air(terms, FrameKind::Cts, frames, over + sifs);
                if let Some(cause) = lost {
                    whole.failed = Some((failure, cause));
                    whole.eifs[0] = whole.end + eifs;
                    break 'frames;
                }
                whole.eifs[0] = Time::ZERO;
                self.stations[sender].attempts.reserved();
                (start, failure) = (whole.end + sifs, Failure::Long);
            }
            let over = start + frames.data + delay;
            whole.end = over + sifs + frames.ack + delay;
            if let Some(cause) = self.put_on_air(terms, FrameKind::Data, frames, start) {
                whole.failed = Some((failure, cause));
                (whole.idle, whole.eifs[1]) = (over, over + eifs);
                break 'frames;
            }
            whole.eifs[1] = Time::ZERO;
            let station = &mut self.stations[receiver];
            let is_duplicate = station.has_seen(InterfaceId(sender), terms.sequence);
            station.cold.counters.duplicates += u64::from(is_duplicate);
            if !is_duplicate {
                whole.arrives = over;
                data = Some((start, start + frames.data));
            }
            let lost = self.put_on_air(terms, FrameKind::Ack, frames, over + sifs);
            if let Some(cause) = lost {
                whole.failed = Some((failure, cause));
                whole.eifs[0] = whole.end + eifs;
                break 'frames;
            }
            whole.eifs[0] = Time::ZERO;
        }
        let (end, cause) = (whole.end, whole.failed.map(|(_, cause)| cause));
        self.events[place] = MediumEvent::Exchange { from, end, data, cause };
        self.stations.set_mac(receiver, Mac::InExchange { until: Time::MAX });
        self.continue_whole(whole);
    }

    /// The next that happens in an exchange stands on the agenda.
    fn continue_whole(&mut self, whole: Whole) {
        let until = whole.arrives.min(whole.idle).min(whole.end);
        self.stations.set_mac(whole.sender, Mac::InExchange { until });
        self.whole = Some(whole);
        self.reschedule(whole.sender);
    }

    /// A frame of an exchange: its interference at the other end.
    fn put_on_air(
        &mut self,
        terms: &Terms,
        kind: FrameKind,
        frames: &Frames,
        start: Time,
    ) -> Option<ExchangeFailure> {
        let (sender, hearer) = match kind {
            FrameKind::Rts | FrameKind::Data => (terms.sender, terms.receiver),
            FrameKind::Cts | FrameKind::Ack => (terms.receiver, terms.sender),
        };
        let (rate, span) = match kind {
            FrameKind::Rts => (self.timing.basic(terms.rate), frames.rts),
            FrameKind::Cts => (self.timing.basic(terms.rate), frames.cts),
            FrameKind::Data => (terms.rate, frames.data),
            FrameKind::Ack => (self.timing.answer(terms.rate), frames.ack),
        };
        let counters = &mut self.stations[sender].cold.counters;
        counters.frames += 1;
        counters.air_time += span;
        let to = Destination::Interface(InterfaceId(hearer));
        if self.config.reports_frames {
            let (from, channel, end) = (InterfaceId(sender), terms.channel, start + span);
            let service = self.stations[sender].cold.service.as_ref();
            let sequence = service.map_or(0, |service| service.sequence);
            let reserves = self.reserves(terms, kind, frames);
            let event = MediumEvent::OnAir { from, to, kind, channel, start, end, rate, sequence, reserves };
            self.events.push_back(event);
        }
        let from = start + self.timing.delay;
        let frame = Frame {
            sender,
            to,
            kind,
            channel: terms.channel,
            sequence: terms.sequence,
            rate,
            // Nobody else is there who would heed it.
            reserves: Duration::ZERO,
            from,
            until: from + span,
            needs: self.config.phy.needs(rate),
        };
        self.spoils(hearer, &frame, terms.power, 0.0)
    }

    /// The duration field of a frame of an exchange. For the record alone: nobody else is there who would
    /// heed it.
    fn reserves(&self, terms: &Terms, kind: FrameKind, frames: &Frames) -> Duration {
        let sifs = self.timing.sifs;
        let rest = sifs * 3 + frames.cts + frames.data + frames.ack;
        match kind {
            FrameKind::Rts => rest,
            FrameKind::Cts => {
                let cts = self.timing.frames(0, self.timing.basic(terms.rate)).cts;
                rest.saturating_sub(sifs + cts)
            }
            FrameKind::Data => sifs + frames.ack,
            FrameKind::Ack => Duration::ZERO,
        }
    }

    /// The packet of the exchange under way arrives, or the exchange ends.
    pub(super) fn play_whole(&mut self, now: Time) {
        let Some(whole) = self.whole.take() else { return };
        let Whole { sender, receiver, .. } = whole;
        if whole.arrives <= now {
            self.deliver(sender, receiver, false, now);
            self.continue_whole(Whole { arrives: Time::MAX, ..whole });
            return;
        }
        if whole.idle <= now {
            self.leave(receiver, whole.eifs[1], now);
            self.continue_whole(Whole { idle: Time::MAX, ..whole });
            return;
        }
        self.stations.set_mac(sender, Mac::Contending);
        self.stations.set_eifs(sender, whole.eifs[0]);
        match whole.failed {
            Some((failure, cause)) => {
                if let Some(service) = &mut self.stations[sender].cold.service {
                    service.cause = cause;
                }
                self.attempt_failed(sender, failure, now);
            }
            None => {
                self.succeed(sender, now);
                self.try_resume(sender, now);
            }
        }
        // It has left before if a frame to it was lost.
        if self.stations.phase(receiver) == Phase::InExchange {
            self.leave(receiver, whole.eifs[1], now);
        }
    }

    /// The receiver has nothing more to do with the exchange.
    fn leave(&mut self, receiver: u32, eifs_until: Time, now: Time) {
        self.stations.set_mac(receiver, Mac::Contending);
        self.stations.set_eifs(receiver, eifs_until);
        self.try_resume(receiver, now);
    }
}
