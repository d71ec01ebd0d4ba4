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

#[cfg(test)]
mod tests {
    use super::*;

    /// A user at station 0 dB all the time; the other station is `better` by so many dB at each second.
    fn handover(better: &[(u64, f64)], trigger: Duration, offset: f64) -> Handover {
        let point = |(second, sinr): &(u64, f64)| {
            (Time::from_millis(second * 1000), vec![Decibel(0.0), Decibel(*sinr)])
        };
        Handover {
            stations: 2,
            kind: Kind::Lossless,
            interruption: Duration::from_millis(50),
            moves: Vec::new(),
            tracks: vec![Track { user: 3, points: better.iter().map(point).collect() }],
            offset: Decibel(offset),
            time_to_trigger: trigger,
        }
    }

    fn times(better: &[(u64, f64)], trigger: Duration, offset: f64) -> Vec<(u64, usize)> {
        let moves = handover(better, trigger, offset).all_moves();
        moves.iter().map(|it| (it.at.as_nanos(), it.to)).collect()
    }

    const SECOND: u64 = 1_000_000_000;

    /// TS 36.331 section 5.5.4.4 by hand: SINR is linear between the points, and constant beyond.
    #[test]
    fn event_a3_by_hand() {
        let seconds = Duration::from_secs;
        // From -4 to 4 dB in two seconds: better from 1 s on, and for one second at 2 s.
        assert_eq!(times(&[(0, -4.0), (2, 4.0)], seconds(1), 0.0), [(2 * SECOND, 1)]);
        // By 2 dB from 1.5 s on.
        assert_eq!(times(&[(0, -4.0), (2, 4.0)], seconds(1), 2.0), [(5 * SECOND / 2, 1)]);
        // Better for two seconds, from 1 to 3 s: just long enough, and a nanosecond too short.
        let bump = [(0, -4.0), (2, 4.0), (4, -4.0)];
        assert_eq!(times(&bump, seconds(2), 0.0)[0], (3 * SECOND, 1));
        assert_eq!(times(&bump, seconds(2) + Duration::from_nanos(1), 0.0), []);
        // Equal is not better; what leaves equality is.
        assert_eq!(times(&[(0, -4.0), (2, 0.0), (9, 0.0)], seconds(1), 0.0), []);
        assert_eq!(times(&[(0, 0.0), (2, 4.0)], seconds(1), 0.0), [(SECOND, 1)]);
        assert_eq!(times(&[(0, 1.0)], seconds(1), 1.0), []);
        // There at 1 dB, and back at -1 dB, 2.5 s after the peak of 4 dB.
        let back = times(&[(0, 0.0), (2, 4.0), (6, -4.0)], Duration::ZERO, 1.0);
        assert_eq!(back, [(SECOND / 2, 1), (9 * SECOND / 2, 0)]);
    }

    #[test]
    fn the_first_station_is_the_best_at_the_beginning() {
        for (sinrs, first) in [([1.0, 2.0, 2.0], 1), ([3.0, 2.0, 3.0], 0), ([0.0, 1.0, 2.0], 2)] {
            let points = vec![(Time::from_millis(5), sinrs.map(Decibel).to_vec())];
            assert_eq!(Track { user: 0, points }.first(3), first, "{sinrs:?}");
        }
        let empty = Track { user: 0, points: Vec::new() };
        assert_eq!((empty.first(2), empty.sinr(Time::ZERO, 1)), (0, Decibel(0.0)));
    }

    #[test]
    fn sinr_is_linear_between_its_points() {
        let track = &handover(&[(1, 2.0), (3, 6.0)], Duration::ZERO, 0.0).tracks[0];
        for (millis, sinr) in [(0, 2.0), (1000, 2.0), (1500, 3.0), (3000, 6.0), (9000, 6.0)] {
            assert_eq!(track.sinr(Time::from_millis(millis), 1), Decibel(sinr), "{millis}");
        }
    }

    #[test]
    fn moves_are_in_the_order_of_time_and_user() {
        let at = |millis, user| Move { at: Time::from_millis(millis), user, to: 1, sinr: None };
        let moves = vec![at(5, 1), at(5, 0), at(2, 9)];
        let handover = Handover { moves, tracks: Vec::new(), ..handover(&[], Duration::ZERO, 0.0) };
        assert_eq!(handover.all_moves(), [at(2, 9), at(5, 0), at(5, 1)]);
    }
}
