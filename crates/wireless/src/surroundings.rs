//! What else is in the air: noise, and primary users.

use crate::{FrameKind, InterfaceId};
use cogtcp_spectrum::ChannelId;
use cogtcp_spectrum::air::Air;
use cogtcp_units::Position;
use cogtcp_units::{RandomStream, Time};
use std::sync::Arc;

/// A frame at the end of its reception.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceivedFrame {
    /// Who received it.
    pub receiver: InterfaceId,
    /// Where.
    pub place: Position,
    /// On which channel.
    pub channel: ChannelId,
    /// Which frame.
    pub kind: FrameKind,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// Received power, W.
    pub signal: f64,
    /// Power of other frames at its worst moment, W.
    pub others: f64,
    /// Least ratio of signal to the rest.
    pub capture: f64,
}

/// What the surroundings make of a frame that the other frames have left alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It can be decoded.
    Captured,
    /// A primary user destroyed it.
    Interfered,
    /// Too weak against noise and other frames.
    TooWeak,
}

/// Decides what becomes of frames.
pub trait Surroundings {
    /// Whether [`ReceivedFrame::place`] matters; if not, it is not worked out.
    const USES_PLACES: bool = true;

    /// The fate of a frame.
    fn fate(&mut self, reception: &ReceivedFrame) -> Fate;

    /// Whether the error rate of the channel strikes an RTS as it does data.
    fn garbles_rts(&self) -> bool {
        false
    }
}

/// No noise, no primary users.
impl Surroundings for () {
    const USES_PLACES: bool = false;

    fn fate(&mut self, reception: &ReceivedFrame) -> Fate {
        let captured = reception.signal >= reception.capture * reception.others;
        if captured { Fate::Captured } else { Fate::TooWeak }
    }
}

/// Share of the frames that escape a primary user in the released ns-2 code. There one routine tells a
/// sensing radio and a receiving one of a PU, and misses 10 % in both.
const ESCAPES: f64 = 0.1;

/// Noise and primary users of [`Air`]: all that are ON at any moment of a frame interfere, as if together
/// (MSWiM 2009, section 4.3), beside the other frames.
#[derive(Debug)]
pub struct PrimaryUsers {
    air: Arc<Air>,
    /// By channel: the users that can be heard there at all.
    users: Vec<Vec<usize>>,
    /// By channel: none of them is ON in [from, until).
    quiet: Vec<(Time, Time)>,
    /// The released code's lottery of who escapes a PU: least power that is heard, and the draws of each
    /// receiver.
    lottery: Option<(f64, Vec<RandomStream>)>,
}

impl PrimaryUsers {
    /// SINR decides which frames are received.
    pub fn new(air: Arc<Air>) -> Self {
        let hears = |channel| {
            let band = air.channels.band(channel);
            let users = air.activity.users.iter().enumerate();
            let near = users.filter(|(_, user)| user.band == band || air.leaks_across_bands);
            near.map(|(index, _)| index).collect()
        };
        let users: Vec<Vec<usize>> = air.channels.iter().map(|(channel, _)| hears(channel)).collect();
        Self { quiet: vec![(Time::ZERO, Time::ZERO); users.len()], users, air, lottery: None }
    }

    /// As in the released ns-2 code: every PU of at least `sensitivity` watts destroys an RTS or data, except
    /// one in ten. Noise does not matter; CTS and ACK always arrive. `streams`: by interface.
    pub fn as_released(air: Arc<Air>, sensitivity: f64, streams: Vec<RandomStream>) -> Self {
        Self { lottery: Some((sensitivity, streams)), ..Self::new(air) }
    }

    /// Power in W of the users that are ON in [from, until), above `least` only.
    #[inline]
    fn interference(
        &mut self,
        place: Position,
        channel: ChannelId,
        from: Time,
        until: Time,
        least: f64,
    ) -> f64 {
        let is_quiet = |quiet: &(Time, Time)| quiet.0 <= from && until <= quiet.1;
        if self.quiet.get(channel.0 as usize).is_some_and(is_quiet) {
            return 0.0;
        }
        self.power_of_users(place, channel, from, until, least)
    }

    /// Power in W of the users, where one may be ON in [from, until).
    fn power_of_users(
        &mut self,
        place: Position,
        channel: ChannelId,
        from: Time,
        until: Time,
        least: f64,
    ) -> f64 {
        let number = channel.0 as usize;
        let (Some(users), Some(quiet)) = (self.users.get(number), self.quiet.get_mut(number)) else {
            return 0.0;
        };
        let (mut power, mut next, mut any) = (0.0, Time::MAX, false);
        for index in users {
            let user = &self.air.activity.users[*index];
            if user.activity.overlaps(from, until) {
                any = true;
                let received = self.air.received_power(user, place, channel);
                power += if received >= least { received } else { 0.0 };
            } else {
                next = next.min(user.activity.next_arrival(from));
            }
        }
        if !any {
            *quiet = (from, next);
        }
        power
    }
}

impl Surroundings for PrimaryUsers {
    fn garbles_rts(&self) -> bool {
        // The released code draws it in its receiving radio, for all that comes in there.
        self.lottery.is_some()
    }

    fn fate(&mut self, frame: &ReceivedFrame) -> Fate {
        let ReceivedFrame { place, channel, from, until, .. } = *frame;
        if let Some((least, _)) = self.lottery {
            // The other frames count as everywhere; only noise does not.
            if frame.signal < frame.capture * frame.others {
                return Fate::TooWeak;
            }
            // The released code asks for primary users in its receiving radio alone.
            if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack)
                || self.interference(place, channel, from, until, least) == 0.0
            {
                return Fate::Captured;
            }
            let stream =
                self.lottery.as_mut().and_then(|(_, streams)| streams.get_mut(frame.receiver.0 as usize));
            let escapes = stream.is_some_and(|stream| stream.uniform() < ESCAPES);
            return if escapes { Fate::Captured } else { Fate::Interfered };
        }
        let disturbance = self.air.channels.peak_noise(channel, from, until) + frame.others;
        if frame.signal < frame.capture * disturbance {
            return Fate::TooWeak;
        }
        let users = self.interference(place, channel, from, until, 0.0);
        // Nothing was added: what passed above passes.
        let captured = users == 0.0 || frame.signal >= frame.capture * (disturbance + users);
        if captured { Fate::Captured } else { Fate::Interfered }
    }
}
