//! The sender of TFRC-CR: TFRC's, with looks at a database, pauses and restarts.

use super::TfrcCrSettings;
use super::moments::{Gaps, Moments};
use crate::TfrcSender;
use crate::tfrc::wire::Feedback;
use crate::wire;
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, Progress, Received, SpectrumDatabase, Supply,
};
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

/// Rate of a restart in bytes per second (released code, InitRate_).
const RESTART_RATE: f64 = 300.0;

/// Rate of a pause before the round-trip time is known, in bytes per second (released code).
const BLIND_RATE: f64 = 100.0;

/// The database is asked about this span from now (released code, `check_active(now, 0.001)`).
const LOOK: Duration = Duration::from_millis(1);

/// The sending end.
#[derive(Debug)]
pub struct TfrcCrSender {
    base: TfrcSender,
    segment_size: u32,
    settings: TfrcCrSettings,
    database: Option<Arc<dyn SpectrumDatabase>>,
    /// When the second look at the database is due; [`Time::MAX`]: none is pending.
    check: Time,
    pause: Option<Pause>,
    round_trips: Moments,
    acks: Gaps,
    queries: u64,
    pauses: u64,
    restarts: u64,
}

/// A pause for a primary user.
#[derive(Clone, Copy, Debug)]
struct Pause {
    since: Time,
    until: Time,
    acks: Gaps,
}

impl TfrcCrSender {
    /// Returns a sender at rest. `segment_size`: bytes of application data in a packet.
    pub fn new(segment_size: u32, settings: &TfrcCrSettings) -> Self {
        Self {
            base: TfrcSender::cognitive(segment_size),
            segment_size,
            settings: *settings,
            database: None,
            check: Time::MAX,
            pause: None,
            round_trips: Moments::default(),
            acks: Gaps::default(),
            queries: 0,
            pauses: 0,
            restarts: 0,
        }
    }

    /// Returns the allowed sending rate in bytes per second.
    pub fn allowed_rate(&self) -> f64 {
        self.base.allowed_rate()
    }

    /// True while the sender polls the path because of a primary user.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// Asks the database. Returns when the primary user departs; `None`: none is there.
    fn ask(&mut self, now: Time) -> Option<Time> {
        let database = self.database.as_ref()?;
        self.queries += 1;
        database.departure(now, LOOK)
    }

    /// A + 4 sigma; `None`: no round-trip time is known.
    fn patience(&self) -> Option<Duration> {
        (!self.round_trips.is_empty())
            .then(|| Duration::from_secs_f64(self.round_trips.mean() + 4.0 * self.round_trips.deviation()))
    }

    /// Feedback stayed away: the first look at the database.
    fn expire(&mut self, now: Time) {
        let is_present = self.ask(now).is_some();
        if is_present && self.pause.is_none() && self.check == Time::MAX {
            let wait = self.acks.mean().max(2.0 * self.round_trips.mean());
            self.check = now + Duration::from_secs_f64(wait);
        }
        let is_restarting = self.base.is_restarting();
        // In a restart a packet goes out at each expiry, so that the path is tried once per A + 4 sigma.
        let timeout = if is_restarting && !is_present { self.patience() } else { None };
        self.base.expire_cognitive(now, self.pause.is_none() && !is_restarting, timeout);
        if is_restarting {
            self.base.hurry(now);
        }
    }

    /// The second look. A primary user that is still there is why feedback stays away.
    fn look_again(&mut self, now: Time) {
        self.check = Time::MAX;
        let Some(departure) = self.ask(now) else { return };
        if self.pause.is_some() {
            return;
        }
        let until = departure + self.settings.wait_after_departure;
        self.pause = Some(Pause { since: now, until, acks: Gaps::default() });
        self.pauses += 1;
        let rate = match self.patience() {
            Some(patience) => f64::from(self.segment_size) / patience.as_secs_f64().max(1e-9),
            None => BLIND_RATE,
        };
        self.base.force_rate(now, rate);
    }

    /// The primary user has left. The sender restarts unless acknowledgements kept coming, as they do where
    /// nodes have found a way round the primary user.
    fn end_pause(&mut self, now: Time, pause: Pause) {
        self.pause = None;
        let (usual, there) = (self.acks.mean(), pause.acks.mean());
        let are_gone = if pause.acks.count() == 0 {
            // (a) None came, and the last before is old.
            self.acks.age(now) > 2.0 * usual
        } else {
            let elapsed = now.saturating_since(pause.since).as_secs_f64() / pause.acks.count() as f64;
            // (b) They came half as often, (c) the last is old, (d) they came for a part of the pause only.
            there > 2.0 * usual || pause.acks.age(now) > 3.0 * usual || elapsed > 2.0 * there
        };
        if are_gone {
            self.restarts += 1;
            self.check = Time::MAX;
            self.acks = Gaps::default();
            self.base.start_again(now, RESTART_RATE, self.patience());
        }
    }
}

impl Endpoint for TfrcCrSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        self.base.open(now);
    }

    fn supply(&mut self, now: Time, what: Supply) {
        self.base.supply(now, what);
    }

    fn close(&mut self, now: Time) {
        self.base.close(now);
    }

    fn use_database(&mut self, database: &Arc<dyn SpectrumDatabase>) {
        self.database = Some(Arc::clone(database));
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some(feedback) = Feedback::decode(&received.packet.bytes).filter(|_| self.base.is_open()) else {
            return;
        };
        // Any feedback shows that the path is there.
        self.check = Time::MAX;
        // During a restart only answers to it count, and out of a restart there are none.
        if feedback.restarts != self.base.is_restarting() {
            return;
        }
        if feedback.restarts {
            self.base.end_restart();
            self.round_trips = Moments::default();
        }
        if let Some(pause) = &mut self.pause {
            if self.settings.acks_in_pause {
                pause.acks.add(now);
            }
            return;
        }
        if let Some(sample) = wire::round_trip(now, feedback.received_sent, feedback.delay) {
            self.round_trips.add(sample.as_secs_f64());
            self.acks.add(now);
        }
        self.base.handle_packet(now, received);
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.check {
            self.look_again(now);
        }
        if let Some(pause) = self.pause.filter(|pause| now >= pause.until) {
            self.end_pause(now, pause);
        }
        if now >= self.base.feedback_due() {
            self.expire(now);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        let sent = self.base.poll_transmit(now);
        if !self.base.is_open() {
            (self.check, self.pause) = (Time::MAX, None);
        }
        sent
    }

    fn poll_timeout(&self) -> Time {
        let pause = self.pause.map_or(Time::MAX, |pause| pause.until);
        self.base.poll_timeout().min(self.check).min(pause)
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.base.poll_event()
    }

    fn progress(&self) -> Progress {
        self.base.progress()
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("database_queries", self.queries as f64);
        show("pauses", self.pauses as f64);
        show("restarts", self.restarts as f64);
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(show);
        show("mean_rtt_s", self.round_trips.mean());
        show("rtt_deviation_s", self.round_trips.deviation());
        show("mean_feedback_gap_s", self.acks.mean());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender had feedback each 125 ms, the last at 1 s, when a pause began. Returns whether it restarts at
    /// `now`, after feedback at these times.
    fn restarts(in_pause: impl IntoIterator<Item = u64>, now: u64) -> bool {
        let mut sender = TfrcCrSender::new(1000, &TfrcCrSettings::default());
        [750, 875, 1000].into_iter().for_each(|time| sender.acks.add(Time::from_millis(time)));
        let since = Time::from_millis(1000);
        let mut pause = Pause { since, until: since, acks: Gaps::default() };
        in_pause.into_iter().for_each(|time| pause.acks.add(Time::from_millis(time)));
        sender.pause = Some(pause);
        sender.end_pause(Time::from_millis(now), pause);
        assert!(!sender.is_paused());
        assert_eq!(sender.acks.count(), if sender.restarts > 0 { 0 } else { 2 });
        sender.restarts > 0
    }

    /// The rules (a) to (d), each at its bound and a millisecond beyond.
    #[test]
    fn a_sender_restarts_unless_feedback_kept_coming() {
        // (a) Twice the usual gap without any.
        assert!(!restarts([], 1250) && restarts([], 1251));
        // (b) Gaps of twice the usual length.
        assert!(!restarts([1000, 1250, 1500], 1600) && restarts([1000, 1251, 1502], 1600));
        // (c) Three usual gaps since the last.
        let kept = || (1000..=2000).step_by(125);
        assert!(!restarts(kept(), 2375) && restarts(kept(), 2376));
        // (d) The pause is twice as long as its gaps.
        assert!(!restarts([1000, 1125, 1250], 1500) && restarts([1000, 1125, 1250], 1501));
    }

    /// A + 4 sigma of 100 and 200 ms: 150 + 4 x 50.
    #[test]
    fn patience_needs_a_round_trip() {
        let mut sender = TfrcCrSender::new(1000, &TfrcCrSettings::default());
        assert_eq!(sender.patience(), None);
        sender.round_trips.add(0.1);
        assert_eq!(sender.patience(), Some(Duration::from_millis(100)));
        sender.round_trips.add(0.2);
        assert_eq!(sender.patience(), Some(Duration::from_millis(350)));
    }

    /// The series that the page names, after one round trip of 100 ms and gaps of 125 ms.
    #[test]
    fn the_sender_shows_its_averages() {
        let mut sender = TfrcCrSender::new(1000, &TfrcCrSettings::default());
        sender.round_trips.add(0.1);
        [750, 875].into_iter().for_each(|time| sender.acks.add(Time::from_millis(time)));
        (sender.queries, sender.pauses, sender.restarts) = (3, 2, 1);
        let mut shown = Vec::new();
        sender.observe(&mut |name, value| shown.push((name, value)));
        let own = [("mean_rtt_s", 0.1), ("rtt_deviation_s", 0.0), ("mean_feedback_gap_s", 0.125)];
        assert_eq!(shown[shown.len() - 3..], own);
        let mut counted = Vec::new();
        sender.count(&mut |name, value| counted.push((name, value)));
        assert_eq!(counted, [("database_queries", 3.0), ("pauses", 2.0), ("restarts", 1.0)]);
    }
}
