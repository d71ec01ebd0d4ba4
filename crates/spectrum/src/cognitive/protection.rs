//! PU protection: how the primary users fare with this radio around.

use crate::air::{Air, HeardPu, ReceiverModel};
use crate::propagation::Position;
use crate::{ChannelId, Verdict};
use cogtcp_units::{Duration, Time};

/// How the primary users that a radio hears fared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Protection {
    /// ON time of the PUs that the radio hears on any of its channels, summed over PUs.
    pub pu_airtime: Duration,
    /// ON time during which the radio was open to traffic on their channel: what a saturated radio would
    /// interfere with.
    pub exposed: Duration,
    /// ON time during which a frame was on the air on their channel.
    pub interfered: Duration,
    /// Of that, ON time later than a regulation allows; `None` without a regulation.
    pub overdue: Option<Duration>,
    /// ON periods with interference in any part.
    pub collisions: u64,
    /// Sensings that missed a PU.
    pub missed_detections: u64,
    /// Sensings that reported a PU where there was none.
    pub false_alarms: u64,
    /// Sensings that found a PU.
    pub detections: u64,
    /// Times that the radio left a PU that it had transmitted over.
    pub vacated: u64,
    /// Times that such a PU left before the radio noticed.
    pub outlasted: u64,
    /// Sum of the times to vacate. Each runs from the PU's arrival on the radio's channel, if missed from the
    /// start of the transmission over it. It ends at the radio's last open moment before the sensing that
    /// reported the PU.
    pub vacate_total: Duration,
    /// Longest time to vacate.
    pub vacate_max: Duration,
}

impl Protection {
    /// Share of the PUs' airtime interfered with, 0 to 1; zero without PUs.
    pub fn interfered_share(&self) -> f64 {
        share(self.interfered, self.pu_airtime)
    }

    /// Share of the PUs' airtime during which the radio was open on their channel.
    pub fn exposed_share(&self) -> f64 {
        share(self.exposed, self.pu_airtime)
    }

    /// What was counted after `before`. The longest time to vacate is not a count: it stays.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            pu_airtime: self.pu_airtime - before.pu_airtime,
            exposed: self.exposed - before.exposed,
            interfered: self.interfered - before.interfered,
            overdue: self.overdue.map(|overdue| overdue - before.overdue.unwrap_or_default()),
            collisions: self.collisions - before.collisions,
            missed_detections: self.missed_detections - before.missed_detections,
            false_alarms: self.false_alarms - before.false_alarms,
            detections: self.detections - before.detections,
            vacated: self.vacated - before.vacated,
            outlasted: self.outlasted - before.outlasted,
            vacate_total: self.vacate_total - before.vacate_total,
            vacate_max: self.vacate_max,
        }
    }

    /// Mean time to vacate; `None` when nothing was vacated.
    pub fn vacate_mean(&self) -> Option<Duration> {
        (self.vacated > 0).then(|| self.vacate_total / self.vacated)
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

/// Counts [`Protection`] as a radio lives.
#[derive(Clone, Debug)]
pub(super) struct ProtectionMeter {
    /// PUs heard, by channel.
    heard: Vec<Vec<HeardPu>>,
    /// By channel: none of these is ON from the first time to the second.
    quiet: Vec<(Time, Time)>,
    /// Since when it has heard these. What it heard before is in the counts.
    heard_since: Time,
    /// For each PU, the index after the last ON period counted as a collision.
    collided: Vec<usize>,
    counts: Protection,
    /// How long after its arrival a PU may be transmitted over.
    limit: Option<Duration>,
    /// Since when the radio has been transmitting over a PU unnoticed.
    pu_since: Option<Time>,
    /// Last moment open to traffic.
    last_open: Time,
}

impl ProtectionMeter {
    /// The meter of a radio at `place`.
    pub(super) fn new(air: &Air, place: Position, receiver: &ReceiverModel) -> Self {
        let heard: Vec<_> = air.channels.iter().map(|(id, _)| air.heard(place, id, receiver)).collect();
        Self {
            quiet: vec![(Time::ZERO, Time::ZERO); heard.len()],
            heard,
            heard_since: Time::ZERO,
            collided: vec![0; air.activity.users.len()],
            counts: Protection::default(),
            limit: None,
            pu_since: None,
            last_open: Time::ZERO,
        }
    }

    /// The radio hears other PUs from now on.
    pub(super) fn move_to(&mut self, air: &Air, place: Position, receiver: &ReceiverModel, at: Time) {
        // Of the PUs heard so far; the look-up below replaces them.
        self.counts.pu_airtime = self.airtime(air, at);
        self.heard_since = at;
        self.heard = air.channels.iter().map(|(id, _)| air.heard(place, id, receiver)).collect();
        self.quiet.fill((Time::ZERO, Time::ZERO));
    }

    /// True if no PU on `channel` is known to be ON in [from, until): a frame costs nobody anything then, and need
    /// not be shown. False says nothing, also where the radio moves: later it may hear others.
    #[inline]
    pub(super) fn is_quiet(&self, channel: ChannelId, from: Time, until: Time) -> bool {
        self.heard_since == Time::ZERO && self.is_spared(channel, from, until)
    }

    #[inline]
    fn is_spared(&self, channel: ChannelId, from: Time, until: Time) -> bool {
        let quiet = self.quiet.get(channel.0 as usize);
        quiet.is_some_and(|quiet| quiet.0 <= from && until <= quiet.1)
    }

    /// A frame was on the air on `channel` over [from, until).
    pub(super) fn transmitted(&mut self, air: &Air, channel: ChannelId, from: Time, until: Time) {
        let number = channel.0 as usize;
        // Every frame asks, and most frames of a spell without primary users.
        if self.is_spared(channel, from, until) {
            return;
        }
        let (Some(heard), Some(quiet)) = (self.heard.get(number), self.quiet.get_mut(number)) else { return };
        let mut next = Time::MAX;
        for pu in heard {
            let activity = &air.activity.users[pu.index].activity;
            let hit = activity.overlapping(from, until);
            if hit.is_empty() {
                next = next.min(activity.next_arrival(from));
                continue;
            }
            // Not quiet up to any time after `from`.
            next = from;
            self.counts.interfered += activity.busy_in(from, until);
            if let Some(limit) = self.limit {
                for on in &activity.as_slice()[hit.clone()] {
                    let late = (on.arrival + limit).max(from);
                    let overdue = on.departure.min(until).saturating_since(late);
                    *self.counts.overdue.get_or_insert_default() += overdue;
                }
            }
            // Frames of one ON period are one collision.
            let counted = &mut self.collided[pu.index];
            // Frames come in the order of time, so an index says which periods are counted.
            self.counts.collisions += hit.end.saturating_sub(hit.start.max(*counted)) as u64;
            *counted = hit.end.max(*counted);
        }
        if next > until {
            *quiet = (from, next);
        }
    }

    /// PUs by channel.
    pub(super) fn heard(&self) -> &[Vec<HeardPu>] {
        &self.heard
    }

    /// A regulation allows the radio to transmit over a PU for so long after its arrival.
    pub(super) fn limit(&mut self, limit: Duration) {
        (self.limit, self.counts.overdue) = (Some(limit), Some(Duration::ZERO));
    }

    /// Whether no frame was on the air over a PU for longer than allowed.
    pub(super) fn is_in_time(&self) -> bool {
        self.counts.overdue.unwrap_or_default().is_zero()
    }

    /// The radio was open to traffic on `channel` over [from, until).
    pub(super) fn open(&mut self, air: &Air, channel: ChannelId, from: Time, until: Time) {
        self.counts.exposed += self.busy(air, channel, from, until);
    }

    /// The radio fell silent to sense.
    pub(super) fn fell_silent(&mut self, at: Time) {
        self.last_open = at;
    }

    /// Forgets the longest time to vacate so far.
    pub(super) fn restart_maximum(&mut self) {
        self.counts.vacate_max = Duration::ZERO;
    }

    /// A PU is on the channel that the radio transmits on.
    pub(super) fn pu_came(&mut self, at: Time) {
        self.pu_since.get_or_insert(at);
    }

    /// A PU comes: what was there before may have left unnoticed.
    pub(super) fn pu_came_anew(&mut self, air: &Air, channel: ChannelId, at: Time) {
        let before = Time::from_nanos(at.as_nanos().saturating_sub(1));
        if self.pu_since.is_some() && !self.is_occupied(air, channel, before) {
            self.pu_since = None;
            self.counts.outlasted += 1;
        }
    }

    /// The radio left its channel, on which a PU is or is not.
    pub(super) fn left(&mut self, is_occupied: bool) {
        let Some(since) = self.pu_since.take() else { return };
        if is_occupied {
            self.vacate(since);
        } else {
            self.counts.outlasted += 1;
        }
    }

    fn vacate(&mut self, since: Time) {
        let span = self.last_open.saturating_since(since);
        self.counts.vacated += 1;
        self.counts.vacate_total += span;
        self.counts.vacate_max = self.counts.vacate_max.max(span);
    }

    /// A sensing ended.
    pub(super) fn sensed(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Detected => {
                self.counts.detections += 1;
                if let Some(since) = self.pu_since.take() {
                    self.vacate(since);
                }
            }
            // `pu_since` stays: the radio goes on transmitting over this PU.
            Verdict::Missed => self.counts.missed_detections += 1,
            Verdict::Clear | Verdict::FalseAlarm => {
                self.counts.false_alarms += u64::from(verdict == Verdict::FalseAlarm);
                self.counts.outlasted += u64::from(self.pu_since.take().is_some());
            }
        }
    }

    /// Whether a PU that the radio hears is ON on `channel` at `at`.
    pub(super) fn is_occupied(&self, air: &Air, channel: ChannelId, at: Time) -> bool {
        self.on(channel).iter().any(|pu| air.activity.users[pu.index].activity.is_on(at))
    }

    /// The counts up to `now`; `open`: the channel that the radio is open on at the moment, and since when.
    pub(super) fn protection(&self, air: &Air, open: Option<(ChannelId, Time)>, now: Time) -> Protection {
        let mut protection = self.counts;
        if let Some((channel, since)) = open {
            protection.exposed += self.busy(air, channel, since, now);
        }
        protection.pu_airtime = self.airtime(air, now);
        protection
    }

    /// ON time up to `now` of the PUs that the radio heard where it was.
    fn airtime(&self, air: &Air, now: Time) -> Duration {
        // A PU that is heard on several channels has its airtime once.
        let mut indexes: Vec<usize> = self.heard.iter().flatten().map(|pu| pu.index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        let users = &air.activity.users;
        let airtime = indexes.iter().map(|index| users[*index].activity.busy_in(self.heard_since, now));
        self.counts.pu_airtime + airtime.sum()
    }

    fn on(&self, channel: ChannelId) -> &[HeardPu] {
        self.heard.get(channel.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// ON time on `channel` in [from, until), summed over PUs.
    fn busy(&self, air: &Air, channel: ChannelId, from: Time, until: Time) -> Duration {
        self.on(channel).iter().map(|pu| air.activity.users[pu.index].activity.busy_in(from, until)).sum()
    }
}
