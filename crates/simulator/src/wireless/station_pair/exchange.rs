//! What becomes of an exchange of frames, worked out when it begins.

use super::StationPair;
use crate::packet::Pipe;
use crate::wireless::dcf::Failure;
use crate::wireless::timing::Frames;
use cogtcp_link::DropCause;
use cogtcp_spectrum::ChannelId;
use cogtcp_spectrum::Radio;
use cogtcp_spectrum::air::Reception;
use cogtcp_units::{Duration, Rate, Time};

/// An exchange of frames that is on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// When the packet reaches the far end; `Time::MAX`: not, or not for the first time.
    pub(super) delivery: Time,
    /// When the sender knows the outcome.
    pub(super) end: Time,
    /// Whether the RTS was answered.
    pub(super) reserved: bool,
    pub(super) failed: Option<(Failure, Cause)>,
}

/// Why an exchange failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cause {
    /// A primary user destroyed this frame.
    Interfered(&'static str),
    /// The receiver was silent.
    Unanswered,
    /// Both stations began at once.
    Collided,
    /// Noise, or a random error.
    Garbled,
}

impl Cause {
    /// Why a packet is dropped whose last attempt failed for this cause.
    pub(super) fn drop_cause(self) -> DropCause {
        if matches!(self, Self::Interfered(_)) { DropCause::Interference } else { DropCause::Retry }
    }
}

/// A frame on the air.
#[derive(Clone, Copy)]
struct Frame {
    name: &'static str,
    /// Which end listens for it.
    listener: usize,
    from: Time,
    span: Duration,
}

impl StationPair {
    /// Whether the exchange that `end` would begin at `now` is over before a silence that it knows of begins.
    pub(super) fn fits(&self, end: usize, now: Time, pipes: &[Pipe]) -> bool {
        let Some(size) = self.size(end, pipes) else { return true };
        let (_, rate) = self.channel(end);
        let until = now + self.timing.exchange(&self.timing.frames(size, rate));
        let ends_before = |end: usize| until <= self.radio(end).radio.phase_end();
        (!self.sends_with_sensing_radio || ends_before(end)) && (!self.waits_for_peer || ends_before(1 - end))
    }

    /// One station has the medium: works out its exchange.
    pub(super) fn exchange(&mut self, sender: usize, now: Time, pipes: &mut [Pipe]) {
        let receiver = 1 - sender;
        let (channel, rate, frames) = self.begin_attempt(sender, now, pipes);
        let (sifs, delay, difs) = (self.timing.sifs, self.timing.propagation, self.timing.difs);
        let eifs = self.timing.eifs(&frames);
        let first_failure = Failure::Short;
        let mut attempt = Attempt { delivery: Time::MAX, end: now, reserved: false, failed: None };
        let mut start = now;
        if frames.with_rts {
            let rts = Frame { name: "rts", listener: receiver, from: now, span: frames.rts };
            let over = now + frames.rts + delay;
            let end = over + sifs + frames.cts + delay;
            attempt.end = end;
            let mut fate = self.send_first(receiver, channel, rts);
            if fate.is_none() && self.receives_as_released && self.has_errors(sender, channel) {
                fate = Some(Cause::Garbled);
            }
            if let Some(cause) = fate {
                attempt.failed = Some((first_failure, cause));
                // What cannot be decoded is followed by EIFS; a silent receiver hears nothing.
                let garbled = cause != Cause::Unanswered;
                self.resume[sender] = end + difs;
                self.resume[receiver] = if garbled { over + eifs } else { end + difs };
                self.attempts[sender] = Some(attempt);
                return;
            }
            let cts = Frame { name: "cts", listener: sender, from: over + sifs, span: frames.cts };
            if let Some(cause) = self.send(receiver, channel, cts) {
                attempt.failed = Some((first_failure, cause));
                self.resume[sender] = end + eifs;
                self.resume[receiver] = end + difs;
                self.attempts[sender] = Some(attempt);
                return;
            }
            attempt.reserved = true;
            start = end + sifs;
        }
        let failure = if frames.with_rts { Failure::Long } else { first_failure };
        let data = Frame { name: "data", listener: receiver, from: start, span: frames.data };
        let mut fate = if frames.with_rts {
            self.send(receiver, channel, data)
        } else {
            self.send_first(receiver, channel, data)
        };
        if fate.is_none() {
            let (lost, errors) = (self.is_lost(sender), self.has_errors(sender, channel));
            fate = (lost || errors).then_some(Cause::Garbled);
        }
        let over = start + frames.data + delay;
        let end = over + sifs + frames.cts + delay;
        attempt.end = end;
        self.resume = [end + difs; 2];
        if let Some(cause) = fate {
            attempt.failed = Some((failure, cause));
            if cause != Cause::Unanswered {
                self.resume[receiver] = over + eifs;
            }
        } else {
            // A packet that is sent again because its ACK got lost has arrived already: nothing more is carried.
            if matches!(self.service[sender], Some((_, false))) {
                attempt.delivery = over;
                let pipe = &mut pipes[self.pipes[sender] as usize];
                pipe.put_on_air(now, start, start + frames.data, rate);
            }
            let ack = Frame { name: "ack", listener: sender, from: over + sifs, span: frames.cts };
            if let Some(cause) = self.send(receiver, channel, ack) {
                attempt.failed = Some((failure, cause));
                self.resume[sender] = end + eifs;
            }
        }
        self.attempts[sender] = Some(attempt);
    }

    /// Both stations send their first frame at once, each at its time: neither hears the other.
    pub(super) fn collide(&mut self, senders: [(usize, Time); 2], pipes: &mut [Pipe]) {
        let mut on_air = [(Time::ZERO, Time::ZERO); 2];
        let mut last = Time::ZERO;
        for (sender, at) in senders {
            let (_, _, frames) = self.begin_attempt(sender, at, pipes);
            let frame = if frames.with_rts { frames.rts } else { frames.data };
            let end = at + frame + self.timing.sifs + frames.cts + self.timing.propagation * 2;
            on_air[sender] = (at, at + frame);
            last = last.max(end);
            let failed = Some((Failure::Short, Cause::Collided));
            self.attempts[sender] = Some(Attempt { delivery: Time::MAX, end, reserved: false, failed });
        }
        self.resume = [last + self.timing.difs; 2];
        let [a, b] = on_air;
        if let [unit] = &mut self.radios[..] {
            // One radio stands for both: a primary user suffers once from frames that overlap.
            unit.radio.transmitted(a.0.min(b.0), a.1.max(b.1));
        } else {
            for (sender, (from, until)) in on_air.into_iter().enumerate() {
                self.note_on_air(1 - sender, from, until);
            }
        }
    }

    /// The backoff of `sender` is over. Returns the channel that its receiver listens on, its rate and the frames there.
    fn begin_attempt(&mut self, sender: usize, now: Time, pipes: &mut [Pipe]) -> (ChannelId, Rate, Frames) {
        let size = self.size(sender, pipes).unwrap_or(0);
        // A retry serves the packet that is in service.
        if self.service[sender].is_none() {
            pipes[self.pipes[sender] as usize].begin_service(now);
            self.service[sender] = Some((size, false));
        }
        self.stations[sender].begin();
        self.counters[sender].attempts += 1;
        let (channel, rate) = self.channel(sender);
        (channel, rate, self.timing.frames(size, rate))
    }

    /// Size of the packet that `end` serves or would serve.
    fn size(&self, end: usize, pipes: &[Pipe]) -> Option<u32> {
        match self.service[end] {
            Some((size, _)) => Some(size),
            None => pipes[self.pipes[end] as usize].head_size(),
        }
    }

    /// The channel, and its rate, on which the receiver of `sender` listens.
    fn channel(&self, sender: usize) -> (ChannelId, Rate) {
        let radio = &self.radio(1 - sender).radio;
        (radio.loaded(), radio.rate().unwrap_or_default())
    }

    /// The first frame of an exchange: it is heard only by a radio that is open from its beginning to its end.
    fn send_first(&mut self, receiver: usize, channel: ChannelId, frame: Frame) -> Option<Cause> {
        let unit = self.radio(receiver);
        let from = frame.from + self.timing.propagation;
        let hears = !unit.radio.phase().is_silent()
            && unit.open_since <= from
            && from + frame.span <= unit.radio.phase_end();
        if hears {
            return self.send(receiver, channel, frame);
        }
        // Nobody listens, and yet it is on the air and may disturb a primary user.
        self.note_on_air(receiver, frame.from, frame.from + frame.span);
        Some(Cause::Unanswered)
    }

    /// A frame of an exchange with `receiver` on its `channel`. Returns what destroys it.
    fn send(&mut self, receiver: usize, channel: ChannelId, frame: Frame) -> Option<Cause> {
        self.note_on_air(receiver, frame.from, frame.from + frame.span);
        // The released code asks for primary users in its receiving radio alone: a CTS or ACK goes to the sending one.
        if self.receives_as_released && frame.listener != receiver {
            return None;
        }
        let from = frame.from + self.timing.propagation;
        let listener = &mut self.interference[frame.listener];
        match listener.reception(&self.air, channel, from, from + frame.span) {
            Reception::Captured => None,
            Reception::Interfered => Some(Cause::Interfered(frame.name)),
            Reception::TooWeak => Some(Cause::Garbled),
        }
    }

    /// Tells the radio whose channel it is of a frame on the air.
    fn note_on_air(&mut self, receiver: usize, from: Time, until: Time) {
        let number = receiver.min(self.radios.len() - 1);
        self.radios[number].radio.transmitted(from, until);
    }

    /// Draws whether the link loses a data frame.
    fn is_lost(&mut self, sender: usize) -> bool {
        let (loss, stream) = &mut self.losses[sender];
        *loss > 0.0 && stream.uniform() < *loss
    }

    /// Draws whether a frame has errors by the error rate of its channel.
    fn has_errors(&mut self, sender: usize, channel: ChannelId) -> bool {
        let rate = self.air.channels.get(channel).map_or(0.0, |channel| channel.error_rate.get());
        rate > 0.0 && self.errors[sender].uniform() < rate
    }
}
