//! A CR user without a MAC: a link whose channel is its own while it is open.
//!
//! The radio senses, decides and hands off as with a MAC. What a MAC would tell it, the link's arrivals do:
//! when each frame was on the air, and on which channel. From that follow what primary users destroy of the
//! link's frames, and what the frames cost primary users. A frame is accounted for when it arrives; the
//! propagation delay is taken off.

mod covered;

use cogtcp_layout::{CognitiveSpec, RadioSpec};
use cogtcp_link::{DropCause, Frame, LinkPayload};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{ChannelId, CognitiveRadio, Protection, Radio};
use cogtcp_units::{Duration, Position, RandomStream, Rate, Time};
use cogtcp_wireless::{Fate, FrameKind, InterfaceId, PrimaryUsers, ReceivedFrame, Surroundings};
use covered::Covered;
use std::collections::VecDeque;
use std::sync::Arc;

/// By how much two directions can report frames out of the order of their transmissions: the longest
/// transmission and the difference of their delays. An opening is kept for so long.
const LONGEST_ORDER: Duration = Duration::from_secs(60);

/// A stretch of time in which the channel was open.
#[derive(Clone, Copy, Debug)]
struct Opening {
    from: Time,
    /// [`Time::MAX`] while it lasts.
    until: Time,
    channel: ChannelId,
    rate: Rate,
    /// The radio transmits below its power, so that primary users do not have to bear it.
    is_reduced: bool,
}

/// The CR user of links without a MAC.
#[derive(Debug)]
pub(super) struct ChannelUser {
    radio: CognitiveRadio,
    users: PrimaryUsers,
    /// Where the ends are; frames of direction 0 are received at the second.
    ends: [Position; 2],
    /// Power of a frame at the other end, W.
    signal: f64,
    capture: f64,
    /// Draw the errors of the channel, by direction.
    errors: [RandomStream; 2],
    openings: VecDeque<Opening>,
    /// Times for which a frame of this radio was counted as being on the air.
    covered: Covered,
    warm: Protection,
}

impl ChannelUser {
    /// The CR user of `spec` in the run of seed `seed`.
    ///
    /// # Errors
    ///
    /// Why it cannot be built.
    pub(super) fn new(
        cognitive: &CognitiveSpec,
        spec: &RadioSpec,
        air: &Arc<Air>,
        seed: u64,
    ) -> Result<Self, String> {
        let [first, second] = &cognitive.ends;
        let detector = cognitive.detector.kind().build(&cognitive.surroundings);
        let detector = detector.map_err(|error| error.to_string())?;
        let policy = cognitive.policy.kind().build();
        let radio = CognitiveRadio::new(first.clone(), Arc::clone(air), detector, policy, seed, &spec.name);
        let ends = [first.position, second.position];
        let distance = first.position.distance(second.position);
        let errors = ["forward", "reverse"]
            .map(|direction| RandomStream::new(seed, &format!("errors/{}/{direction}", spec.name), 0));
        Ok(Self {
            radio: radio.map_err(|error| error.to_string())?,
            users: PrimaryUsers::new(Arc::clone(air)),
            ends,
            signal: air.propagation.received(cognitive.transmit_power.watts(), distance, 1.0),
            capture: first.receiver.capture,
            errors,
            openings: VecDeque::new(),
            covered: Covered::default(),
            warm: Protection::default(),
        })
    }

    pub(super) fn radio(&self) -> &CognitiveRadio {
        &self.radio
    }

    pub(super) fn radio_mut(&mut self) -> &mut CognitiveRadio {
        &mut self.radio
    }

    /// Metrics count from `now`.
    pub(super) fn end_warmup(&mut self, now: Time) {
        self.warm = self.radio.protection(now);
        self.radio.restart_maximum();
    }

    /// How primary users fared since the end of the warm-up.
    pub(super) fn measured(&self, now: Time) -> Protection {
        self.radio.protection(now).since(&self.warm)
    }

    /// The radio may have changed at `now`. `has_packets`: frames are under way that an earlier opening may
    /// have carried.
    pub(super) fn record_channel(&mut self, now: Time, has_packets: bool) {
        let open = !self.radio.phase().is_silent();
        let (channel, rate) = (self.radio.loaded(), self.radio.rate().unwrap_or_default());
        let is_reduced = self.is_reduced();
        if let Some(last) = self.openings.back_mut().filter(|last| last.until == Time::MAX) {
            // Nothing that a frame could notice has changed: the opening goes on.
            if open && (last.channel, last.rate, last.is_reduced) == (channel, rate, is_reduced) {
                return;
            }
            last.until = now;
        }
        if open {
            // Frames refer to openings when they arrive. With none under way, no earlier opening is asked for
            // again.
            if !has_packets {
                self.openings.clear();
            }
            self.openings.push_back(Opening { from: now, until: Time::MAX, channel, rate, is_reduced });
        }
    }

    /// A frame of direction 0 or 1 has left the air at `until`; `lost` names what the link lost it for.
    /// Returns why it is lost otherwise.
    pub(super) fn settle<P: LinkPayload>(
        &mut self,
        direction: usize,
        until: Time,
        frame: &Frame<P>,
        lost: Option<DropCause>,
    ) -> Option<DropCause> {
        // A link tells when a frame arrives, not when it began: that follows from the rate of its opening.
        let start_at = |rate: Rate| {
            let span = rate.transmission_time(u64::from(frame.size()));
            Time::from_nanos(until.as_nanos().saturating_sub(span.as_nanos()))
        };
        // The last opening by whose rate the frame can have begun in it, or in the silence after it.
        let mut place = self.openings.len().checked_sub(1)?;
        let mut start = start_at(self.openings[place].rate);
        while self.openings[place].from > start {
            place = place.checked_sub(1)?;
            start = start_at(self.openings[place].rate);
        }
        let Opening { until: closed, channel, is_reduced, .. } = self.openings[place];
        // Never the one that this frame was sent in.
        if place > 0 {
            let passed = |opening: &&Opening| start.saturating_since(opening.until) > LONGEST_ORDER;
            let passed = self.openings.iter().take(place).take_while(passed).count();
            self.openings.drain(..passed);
        }
        if lost == Some(DropCause::Silence) {
            // Nothing of it was sent into the silence that destroyed it.
            self.count_on_air(channel, is_reduced, start, until.min(closed));
            return None;
        }
        self.count_on_air(channel, is_reduced, start, until);
        if lost.is_some() {
            return None;
        }
        match self.fate(direction, channel, start, until) {
            Fate::Interfered => Some(DropCause::Interference),
            Fate::TooWeak => Some(DropCause::Loss),
            Fate::Captured => self.errs(direction, channel).then_some(DropCause::Loss),
        }
    }

    /// What primary users and noise make of a frame of direction 0 or 1.
    fn fate(&mut self, direction: usize, channel: ChannelId, from: Time, until: Time) -> Fate {
        self.users.fate(&ReceivedFrame {
            receiver: InterfaceId(1 - direction as u32),
            place: self.ends[1 - direction],
            channel,
            kind: FrameKind::Data,
            from,
            until,
            signal: self.radio.reduced(self.signal),
            others: 0.0,
            capture: self.capture,
        })
    }

    /// Whether the channel's own errors strike a frame of direction 0 or 1.
    #[inline]
    fn errs(&mut self, direction: usize, channel: ChannelId) -> bool {
        let rate = self.radio.air().channels.get(channel).map_or(0.0, |entry| entry.error_rate.get());
        // No draw where nothing can go wrong: the sequence of draws is that of channels with errors.
        rate > 0.0 && self.errors[direction].uniform() < rate
    }

    /// A slot of direction 0 or 1 is on the air. Returns whether primary users or noise destroy what is
    /// received.
    pub(super) fn sends_slot(&mut self, direction: usize, from: Time, until: Time) -> bool {
        let channel = self.radio.loaded();
        self.count_on_air(channel, self.is_reduced(), from, until);
        self.fate(direction, channel, from, until) != Fate::Captured
    }

    /// Whether the channel's own errors strike a block of direction 0 or 1.
    pub(super) fn garbles(&mut self, direction: usize) -> bool {
        self.errs(direction, self.radio.loaded())
    }

    fn is_reduced(&self) -> bool {
        self.radio.power_reduction().0 > 0.0
    }

    /// Counts that a frame was on the air of `channel`, unless at reduced power, but for the time for which
    /// another one of this radio is counted.
    #[inline]
    fn count_on_air(&mut self, channel: ChannelId, is_reduced: bool, from: Time, until: Time) {
        // At reduced power it does not reach the primary user. Nor is harm counted without one, as of most frames.
        if is_reduced || self.radio.is_quiet(channel, from, until) {
            return;
        }
        let radio = &mut self.radio;
        self.covered.cover(from, until, |begin, end| radio.transmitted_on(channel, begin, end));
    }
}
