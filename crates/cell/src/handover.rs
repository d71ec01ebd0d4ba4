//! Handovers between base stations: when a user moves, and how long it is without either station.
//!
//! A user moves at stated times, or by event A3 of TS 36.331 section 5.5.4.4. The event: another station has
//! been better than its own by an offset for the time to trigger.
//!
//! What becomes of packets that are at the source: [`Kind`] and [`Bearer`](crate::rlc::Bearer).

use cogtcp_units::{Decibel, Duration, Time};

/// What becomes of the packets at the source station, and of those that the user has begun to send to it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Kind {
    /// Nothing is lost: the target retransmits in order what has not arrived (bearers of RLC AM: TS 36.323
    /// sections 5.2.1.1 and 5.2.2.1, with the status report of section 5.3).
    #[default]
    Lossless,
    /// Packets whose transmission has begun and that have not arrived are lost; the others are forwarded
    /// (bearers of RLC UM: TS 36.323 sections 5.2.1.2 and 5.2.2.2).
    Seamless,
    /// As seamless, and the source forwards nothing: all that waits there for the downlink is lost.
    /// Forwarding is optional (TS 36.300 section 10.1.2.3).
    Unforwarded,
}

/// How users move between the base stations of a cell, which are alike and numbered from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// Number of stations. All users begin at station 0, or at the best of their track.
    pub stations: usize,
    /// What becomes of packets at the source.
    pub kind: Kind,
    /// For how long a user that moves has no station.
    pub interruption: Duration,
    /// Moves at stated times, in any order.
    pub moves: Vec<Move>,
    /// SINR over time of users that move by event A3.
    pub tracks: Vec<Track>,
    /// By how much another station has to be better: A3-Offset and hysteresis together.
    pub offset: Decibel,
    /// For how long it has to be.
    pub time_to_trigger: Duration,
}

/// A user moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// When it leaves the source.
    pub at: Time,
    /// Which one.
    pub user: usize,
    /// The station that it moves to.
    pub to: usize,
    /// Its mean SINR there, in both directions; `None`: as before.
    pub sinr: Option<Decibel>,
}

/// The mean SINR of a user at each station over time, in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Which user.
    pub user: usize,
    /// Times in ascending order, each with the SINR at every station. Between them SINR in dB is linear,
    /// outside constant.
    pub points: Vec<(Time, Vec<Decibel>)>,
}

impl Track {
    /// Returns the SINR at a station, dB.
    pub fn sinr(&self, at: Time, station: usize) -> Decibel {
        let after = self.points.partition_point(|(time, _)| *time <= at);
        let Some((begin, from)) = after.checked_sub(1).and_then(|place| self.points.get(place)) else {
            return self.points.first().map_or(Decibel(0.0), |(_, sinrs)| sinrs[station]);
        };
        let Some((end, to)) = self.points.get(after) else { return from[station] };
        let share = at.saturating_since(*begin).as_secs_f64() / end.saturating_since(*begin).as_secs_f64();
        Decibel(from[station].0 + share * (to[station].0 - from[station].0))
    }

    /// Returns the station that is best at the beginning.
    pub fn first(&self, stations: usize) -> usize {
        let sinr = |station: usize| self.sinr(Time::ZERO, station).0;
        // Of equals the one with the lowest number.
        (0..stations).rev().max_by(|one, other| sinr(*one).total_cmp(&sinr(*other))).unwrap_or(0)
    }

    /// Returns the moves that event A3 triggers.
    fn moves(&self, handover: &Handover) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut serving = self.first(handover.stations);
        let mut now = Time::ZERO;
        loop {
            let triggered = (0..handover.stations)
                .filter(|station| *station != serving)
                .filter_map(|station| Some((self.triggered(now, serving, station, handover)?, station)))
                .min();
            let Some((at, to)) = triggered else { return moves };
            moves.push(Move { at, user: self.user, to, sinr: None });
            serving = to;
            // No station is measured from the command to the end of the interruption.
            // At least 1 ns, so that time moves on.
            now = at + handover.interruption.max(Duration::from_nanos(1));
        }
    }

    /// Returns when `station` has been better than `serving` by the offset for the time to trigger, counted
    /// from `from` on.
    fn triggered(&self, from: Time, serving: usize, station: usize, handover: &Handover) -> Option<Time> {
        let better = |at: Time| self.sinr(at, station).0 - self.sinr(at, serving).0 - handover.offset.0;
        let corners = self.points.iter().map(|(time, _)| *time).filter(|time| *time > from);
        let (mut begin, mut entered) = (from, (better(from) > 0.0).then_some(from));
        for end in corners {
            let (low, high) = (better(begin), better(end));
            if (low > 0.0) != (high > 0.0) {
                // Linear within the piece.
                // Of different sign: no division by zero.
                let share = low / (low - high);
                let crossing =
                    begin + Duration::from_secs_f64(end.saturating_since(begin).as_secs_f64() * share);
                if let Some(due) = entered.map(|since| since + handover.time_to_trigger)
                    && due <= crossing
                {
                    return Some(due);
                }
                entered = (high > 0.0).then_some(crossing);
            }
            begin = end;
        }
        entered.map(|since| since + handover.time_to_trigger)
    }
}

impl Handover {
    /// Returns all moves in time order; of one instant the user with the lowest number first.
    pub fn all_moves(&self) -> Vec<Move> {
        let mut moves = self.moves.clone();
        moves.extend(self.tracks.iter().flat_map(|track| track.moves(self)));
        moves.sort_by_key(|it| (it.at, it.user));
        moves
    }
}
