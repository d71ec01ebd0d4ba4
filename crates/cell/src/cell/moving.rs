//! A user moves to another base station.

use super::{Buffers, Cell, DIRECTIONS};
use crate::drx::DrxTimers;
use crate::frame::Direction;
use crate::handover::{Kind, Move, Track};
use cogtcp_units::{Duration, Time};

impl Cell {
    /// Returns when the first slot begins at `at` or later: users move between slots.
    pub(super) fn slot_from(&self, at: Time) -> Time {
        self.config.frame.start_of(self.config.frame.number_from(at))
    }

    /// A user leaves its station. HARQ and RLC start over at the target (TS 36.321 section 5.9, TS 36.322
    /// section 5.4).
    pub(super) fn move_user(&mut self, now: Time, it: &Move, buffers: &mut impl Buffers) {
        let Some(handover) = &self.config.handover else { return };
        let (kind, until) = (handover.kind, now + handover.interruption);
        for direction in DIRECTIONS {
            let place = 2 * it.user + direction as usize;
            let stream = &mut self.streams[place];
            stream.again.clear();
            stream.busy.clear();
            if let Some(sinr) = it.sinr {
                stream.sinr = sinr.linear() * self.power[direction as usize];
                stream.now = (stream.sinr, stream.sinr);
            }
            if kind == Kind::Lossless {
                stream.bearer.move_all();
            } else {
                // What waits for the uplink is at the user, not at the source.
                let keeps = kind == Kind::Seamless || direction == Direction::Uplink;
                while !keeps && let Some(bytes) = buffers.take_lost(now, it.user, direction) {
                    stream.bearer.push(bytes);
                }
                stream.bearer.move_unsent(keeps);
            }
            self.hand_over(now, place);
        }
        self.timer = self.streams.iter().map(|it| it.bearer.next_change()).min().unwrap_or(Time::MAX);
        let user = &mut self.whereabouts[it.user];
        (user.station, user.away) = (it.to, until);
        self.enter(it.user, self.config.frame.number_from(until), buffers);
        self.arm(now);
    }

    /// Returns true if a user is at a station when a slot begins at `now`.
    pub(super) fn is_at(&self, user: usize, station: usize, now: Time) -> bool {
        let it = &self.whereabouts[user];
        it.station == station && it.away <= now
    }

    /// Returns true if a user can be given new downlink data in a slot that begins at `now`.
    pub(super) fn is_awake(&self, user: usize, now: Time) -> bool {
        let Some(drx) = &self.config.drx else { return true };
        drx.is_awake(now, &self.whereabouts[user].drx, self.drx_offset(user, drx))
    }

    /// Returns when the first cycle of DRX begins: on-durations of users are spread over the cycle
    /// (drxStartOffset).
    pub(super) fn drx_offset(&self, user: usize, drx: &DrxTimers) -> Duration {
        let slots = drx.cycle.as_nanos() / self.config.frame.slot().as_nanos().max(1);
        self.config.frame.slot() * (slots * user as u64 / self.config.users.len() as u64)
    }

    /// SINR of a user that has a track, when a slot begins at `now`.
    pub(super) fn follow_track(&mut self, user: usize, direction: Direction, now: Time) {
        let Some(track) =
            self.config.handover.as_ref().and_then(|it| it.tracks.iter().find(|it| it.user == user))
        else {
            return;
        };
        let sinr = Track::sinr(track, now, self.whereabouts[user].station).linear();
        let sinr = sinr * self.power[direction as usize];
        let stream = &mut self.streams[2 * user + direction as usize];
        (stream.sinr, stream.now) = (sinr, (sinr, sinr));
    }
}
