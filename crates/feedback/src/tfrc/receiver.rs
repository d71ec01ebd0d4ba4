//! The receiver of TFRC: loss events, the receive rate, feedback (RFC 5348, sections 5 and 6).

use super::loss_history::LossHistory;
use super::wire::{Data, Feedback};
use crate::equation::loss_event_rate;
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received};
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// A packet is lost once three packets with higher numbers have arrived (section 5.1).
const NDUPACK: u8 = 3;

/// A packet number that has not arrived.
#[derive(Clone, Copy, Debug)]
struct Missing {
    number: u64,
    /// Packets with higher numbers that arrived since.
    later: u8,
    /// When the missing packet would have arrived, interpolated between its neighbours (section 5.2).
    expected: Time,
}

/// The receiving end.
#[derive(Debug, Default)]
pub struct TfrcReceiver {
    segment_size: u32,
    history: LossHistory,
    missing: VecDeque<Missing>,
    /// Highest packet number that arrived, and when.
    highest: Option<(u64, Time)>,
    /// First packet of the last loss event, and when it would have arrived.
    event: Option<(u64, Time)>,
    /// Arrivals of the last round-trip time: when, and bytes.
    recent: VecDeque<(Time, u64)>,
    /// Data of the last packet received, and when it arrived; the feedback answers it.
    last: Option<(Data, Time)>,
    /// The last feedback: when it was sent, and the loss event rate in it.
    reported: Option<(Time, f64)>,
    /// Greatest receive rate that was reported, in bytes per second.
    greatest_rate: f64,
    /// Data arrived after the last feedback.
    is_new: bool,
    due: bool,
    /// The timer last expired without data: the next packet is answered at once (section 6.1).
    is_overdue: bool,
    timer: Time,
    lost: u64,
    progress: Progress,
    /// The first packet arrived and the event was not taken.
    is_opening: bool,
    /// Number of the first packet of the connection, or since the sender started again (TFRC-CR).
    first: u64,
    /// The next feedback answers a packet that restarts.
    restarts: bool,
}

impl TfrcReceiver {
    /// Returns a receiver that waits for the first packet. `segment_size` is s in bytes; with `discounting`
    /// old loss intervals count less during a long interval without loss (section 5.5).
    pub fn new(segment_size: u32, discounting: bool) -> Self {
        let history = LossHistory::new(discounting);
        Self { segment_size, history, timer: Time::MAX, ..Self::default() }
    }

    /// The sender has started again with packet `first` (TFRC-CR): all that was known of the path is
    /// forgotten.
    fn restart(&mut self, first: u64) {
        *self = Self {
            segment_size: self.segment_size,
            history: self.history.cleared(),
            timer: Time::MAX,
            lost: self.lost,
            progress: self.progress,
            is_opening: self.is_opening,
            first,
            restarts: true,
            ..Self::default()
        };
    }

    /// Returns the loss event rate p, 0 to 1.
    pub fn loss_event_rate(&self) -> f64 {
        let current = match (self.event, self.highest) {
            (Some((first, _)), Some((highest, _))) => highest.saturating_sub(first) as f64 + 1.0,
            _ => 0.0,
        };
        self.history.loss_event_rate(current)
    }

    /// The sender's round-trip time, as its last packet said.
    fn rtt(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |(data, _)| data.rtt)
    }

    /// Enters the packet into the sequence. Returns whether a loss event began; `None`: a duplicate.
    fn enter(&mut self, now: Time, number: u64) -> Option<bool> {
        let Some((highest, before)) = self.highest else {
            // Packets before the first that arrives are losses too.
            self.miss(self.first, number, now, now);
            self.highest = Some((number, now));
            return Some(self.confirm());
        };
        if number < highest {
            // Late, or a duplicate. A packet that was declared lost stays lost (section 5.1 allows either).
            let place = self.missing.iter().position(|missing| missing.number == number)?;
            self.missing.remove(place);
            return Some(false);
        }
        if number == highest {
            return None;
        }
        self.miss(highest + 1, number, before, now);
        self.highest = Some((number, now));
        Some(self.confirm())
    }

    /// Notes the packets from `first` to before `end` as missing, between arrivals at `before` and `after`.
    fn miss(&mut self, first: u64, end: u64, before: Time, after: Time) {
        // Beyond this gap the sender has been rewritten or forged: one loss event either way.
        let first = first.max(end.saturating_sub(100_000));
        let gap = end - first + 1;
        for number in first..end {
            let expected = before + (after - before).mul_ratio(number - first + 1, gap);
            self.missing.push_back(Missing { number, later: 0, expected });
        }
    }

    /// One more packet arrived above all missing ones. Returns whether a loss event began.
    fn confirm(&mut self) -> bool {
        let mut began = false;
        for missing in &mut self.missing {
            missing.later += 1;
        }
        while self.missing.front().is_some_and(|missing| missing.later >= NDUPACK) {
            let Some(lost) = self.missing.pop_front() else { break };
            self.lost += 1;
            began |= self.lose(lost);
        }
        began
    }

    /// A packet is lost. Losses within one round-trip time of the first are one loss event (section 5.2).
    fn lose(&mut self, lost: Missing) -> bool {
        let rtt = self.rtt();
        match self.event {
            Some((_, began)) if began + rtt >= lost.expected => return false,
            Some((first, _)) => self.history.push((lost.number - first) as f64),
            None => self.history.push(self.first_interval(lost.number)),
        }
        self.event = Some((lost.number, lost.expected));
        true
    }

    /// The first loss interval is the length at which TCP's equation gives the rate at the end of slow start
    /// (section 6.3.1).
    fn first_interval(&self, number: u64) -> f64 {
        let rtt = self.rtt().as_secs_f64();
        // Without a round-trip time the equation has no meaning: the packets so far are the best estimate.
        if rtt <= 0.0 {
            return number.max(1) as f64;
        }
        let size = f64::from(self.segment_size);
        // The sender's rate was twice the receive rate of the round before: the receive rate is half of it.
        // A null interval (the first packet lost) aims at half a packet per round-trip time.
        let target = self.greatest_rate.max(0.5 * size / rtt);
        1.0 / loss_event_rate(size, rtt, target)
    }

    /// The receive rate in bytes per second: over the time since the last feedback, at least one round-trip
    /// time (section 6.2).
    fn receive_rate(&mut self, now: Time) -> f64 {
        let Some((reported, _)) = self.reported else { return 0.0 };
        let span = now.saturating_since(reported).max(self.rtt());
        let begin = Time::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()));
        while self.recent.front().is_some_and(|(at, _)| *at <= begin) {
            self.recent.pop_front();
        }
        if span.is_zero() {
            return 0.0;
        }
        self.recent.iter().map(|(_, bytes)| bytes).sum::<u64>() as f64 / span.as_secs_f64()
    }
}

impl Endpoint for TfrcReceiver {
    type Packet = Datagram;

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some(data) = Data::decode(&received.packet.bytes) else { return };
        self.is_opening |= self.highest.is_none() && self.progress.received_bytes == 0;
        if data.restarts {
            self.restart(data.number);
        }
        // The packet with the highest number has the newest round-trip time (section 6.1).
        if self.highest.is_none_or(|(highest, _)| data.number > highest) {
            self.last = Some((data, now));
        }
        let payload = received.packet.payload_size().saturating_sub(Data::SIZE as u32);
        let Some(loss_event) = self.enter(now, data.number) else {
            self.progress.duplicate_bytes += u64::from(payload);
            return;
        };
        self.progress.delivered_bytes += u64::from(payload);
        self.progress.received_bytes = self.progress.delivered_bytes;
        self.recent.push_back((now, u64::from(payload)));
        // A mark is a loss event of a packet that arrived (section 5.2).
        let marked =
            received.marked && self.lose(Missing { number: data.number, later: NDUPACK, expected: now });
        self.is_new = true;
        let grown = self.reported.is_none_or(|(_, p)| self.loss_event_rate() > p);
        // A higher loss event rate is reported at once (section 6.1), and so is every packet until the sender knows the
        // round-trip time (section 6.3).
        self.due |= (loss_event || marked) && grown || self.is_overdue || self.timer == Time::MAX;
    }

    fn handle_timeout(&mut self, now: Time) {
        if now < self.timer {
            return;
        }
        // No data since the last feedback: no feedback, and the timer starts again (section 6.2).
        self.due |= self.is_new;
        self.is_overdue = !self.is_new;
        self.timer = if self.rtt().is_zero() { Time::MAX } else { now + self.rtt() };
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        let (data, arrived) = self.last?;
        if !std::mem::take(&mut self.due) {
            return None;
        }
        let rate = self.receive_rate(now);
        self.greatest_rate = self.greatest_rate.max(rate);
        let p = self.loss_event_rate();
        (self.reported, self.is_new, self.is_overdue) = (Some((now, p)), false, false);
        self.timer = if data.rtt.is_zero() { Time::MAX } else { now + data.rtt };
        self.progress.sent_packets += 1;
        let feedback = Feedback {
            received_sent: data.sent,
            delay: now - arrived,
            receive_rate: rate as u64,
            loss_event_rate: p,
            lost: self.lost,
            restarts: std::mem::take(&mut self.restarts),
        };
        let packet = Datagram { bytes: feedback.encode(), ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data: 0 })
    }

    fn poll_timeout(&self) -> Time {
        self.timer
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        std::mem::take(&mut self.is_opening).then_some(EndpointEvent::Connected)
    }

    fn progress(&self) -> Progress {
        Progress { lost_packets: self.lost, ..self.progress }
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("loss_event_rate", self.loss_event_rate());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss event rate after packets with these numbers, whose sender knows no round-trip time yet.
    fn rate_after(numbers: impl IntoIterator<Item = u64>) -> f64 {
        let mut receiver = TfrcReceiver::new(1000, false);
        for number in numbers {
            let at = Time::from_millis(number);
            let data = Data { number, sent: at, rtt: Duration::ZERO, restarts: false };
            let packet = Datagram { bytes: data.encode(), ..Datagram::default() };
            receiver.handle_packet(at, Received { packet: &packet, path: PathId::default(), marked: false });
        }
        receiver.loss_event_rate()
    }

    /// What the receiver sends is feedback, and its own count says how much.
    #[test]
    fn each_feedback_is_counted_as_sent() {
        let mut receiver = TfrcReceiver::new(1000, false);
        let mut sent = 0;
        for number in 0..5 {
            let at = Time::from_millis(100 * number);
            let data = Data { number, sent: at, rtt: Duration::from_millis(50), restarts: false };
            let packet = Datagram { bytes: data.encode(), filler: 1000, ..Datagram::default() };
            receiver.handle_packet(at, Received { packet: &packet, path: PathId::default(), marked: false });
            if receiver.poll_timeout() <= at + Duration::from_millis(50) {
                receiver.handle_timeout(at + Duration::from_millis(50));
            }
            while receiver.poll_transmit(at + Duration::from_millis(50)).is_some() {
                sent += 1;
            }
        }
        assert!(sent > 0);
        assert_eq!(receiver.progress().sent_packets, sent);
    }

    /// TCP's equation needs a round-trip time. Without one the first interval is the packets before the loss.
    #[test]
    fn without_a_round_trip_time_the_first_interval_is_counted() {
        assert_eq!(rate_after((0..50).chain(51..54)), 1.0 / 50.0);
        // Only the very first packet is lost: the four packets since then.
        assert_eq!(rate_after(1..4), 1.0 / 4.0);
    }

    /// The series that the page names: before a loss there is no rate.
    #[test]
    fn the_receiver_shows_its_loss_event_rate() {
        let mut shown = Vec::new();
        TfrcReceiver::new(1000, true).observe(&mut |name, value| shown.push((name, value)));
        assert_eq!(shown, [("loss_event_rate", 0.0)]);
    }

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Packet `number` of 1000 B arrives at `ms`, marked or not; its sender knows a round-trip time of 100 ms.
    fn arrive(receiver: &mut TfrcReceiver, ms: u64, number: u64, marked: bool) {
        let data = Data { number, sent: at(ms), rtt: Duration::from_millis(100), restarts: false };
        let packet = Datagram { bytes: data.encode(), filler: 1000, ..Datagram::default() };
        receiver.handle_packet(at(ms), Received { packet: &packet, path: PathId::default(), marked });
    }

    /// RFC 5348 section 5.1: a packet is lost with the third later one, unless it has come before. One that comes
    /// again, or after it was declared lost, brings nothing.
    #[test]
    fn a_packet_is_lost_with_the_third_later_one() {
        let mut receiver = TfrcReceiver::new(1000, false);
        let lost: Vec<u64> = [0, 1, 4, 5, 3, 5, 6, 7, 2, 6]
            .into_iter()
            .map(|number| {
                arrive(&mut receiver, 10, number, false);
                receiver.lost
            })
            .collect();
        assert_eq!(lost, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
        let progress = receiver.progress();
        assert_eq!(
            (progress.lost_packets, progress.delivered_bytes, progress.duplicate_bytes),
            (1, 7000, 3000)
        );
        assert_eq!((receiver.poll_event(), receiver.poll_event()), (Some(EndpointEvent::Connected), None));
    }

    /// Section 5.2: a missing packet would have come between its neighbours. It is of the last loss event if it would
    /// have come within a round-trip time of its begin.
    #[test]
    fn losses_of_a_round_trip_are_one_event() {
        let mut receiver = TfrcReceiver::new(1000, false);
        arrive(&mut receiver, 100, 0, false);
        arrive(&mut receiver, 400, 3, false);
        let expected: Vec<_> = receiver.missing.iter().map(|it| (it.number, it.expected, it.later)).collect();
        assert_eq!(expected, [(1, at(200), 1), (2, at(300), 1)]);
        let mut lose = |number, ms| {
            let began = receiver.lose(Missing { number, later: NDUPACK, expected: at(ms) });
            (began, receiver.event)
        };
        assert_eq!(lose(1, 200), (true, Some((1, at(200)))));
        assert_eq!(lose(2, 300), (false, Some((1, at(200)))));
        assert_eq!(lose(9, 301), (true, Some((9, at(301)))));
        // Beyond a gap of 100,000 packets no more are told apart.
        receiver.miss(10, 300_000, at(400), at(500));
        assert_eq!(receiver.missing.len(), 100_002);
    }

    /// Sections 6.1 and 6.2: feedback once a round-trip time while data comes; none where none came, then the next
    /// packet is answered at once. A mark or a loss that raises the rate of events is told at once.
    #[test]
    fn feedback_is_due_each_round_trip_or_at_once() {
        let mut receiver = TfrcReceiver::new(1000, false);
        let rate = |receiver: &mut TfrcReceiver, ms| {
            let sent = receiver.poll_transmit(at(ms))?;
            Feedback::decode(&sent.packet.bytes).map(|feedback| (feedback.receive_rate, feedback.delay))
        };
        let ms = Duration::from_millis;
        // The first: no feedback before says over which time.
        arrive(&mut receiver, 1000, 0, false);
        assert_eq!((rate(&mut receiver, 1005), receiver.poll_timeout()), (Some((0, ms(5))), at(1105)));
        for (number, time) in [(1, 1010), (2, 1050), (3, 1104)] {
            arrive(&mut receiver, time, number, false);
        }
        receiver.handle_timeout(at(1104));
        assert_eq!(rate(&mut receiver, 1104), None);
        receiver.handle_timeout(at(1105));
        // Three packets in the 100 ms since.
        assert_eq!((rate(&mut receiver, 1105), receiver.poll_timeout()), (Some((30_000, ms(1))), at(1205)));
        receiver.handle_timeout(at(1205));
        assert_eq!((rate(&mut receiver, 1205), receiver.poll_timeout()), (None, at(1305)));
        arrive(&mut receiver, 1230, 4, false);
        // One in the 125 ms since the last feedback.
        assert_eq!((rate(&mut receiver, 1230), receiver.poll_timeout()), (Some((8000, ms(0))), at(1330)));
        arrive(&mut receiver, 1240, 5, false);
        assert_eq!(rate(&mut receiver, 1240), None);
        arrive(&mut receiver, 1250, 6, true);
        // Over a round-trip time at least: three packets.
        assert_eq!(rate(&mut receiver, 1250), Some((30_000, ms(0))));
        assert!(receiver.loss_event_rate() > 0.0);
        // Another mark of the same event tells nothing new.
        arrive(&mut receiver, 1260, 7, true);
        assert_eq!(rate(&mut receiver, 1260), None);
        assert_eq!((receiver.progress().sent_packets, receiver.progress().lost_packets), (4, 0));
    }

    /// TFRC-CR: a packet that starts again forgets the path, not the counts; its feedback says so once.
    #[test]
    fn a_restart_forgets_the_path() {
        let mut receiver = TfrcReceiver::new(1000, false);
        [0, 1, 5, 6, 7].into_iter().for_each(|number| arrive(&mut receiver, 10, number, false));
        assert!(receiver.loss_event_rate() > 0.0 && receiver.lost == 3);
        let data = Data { number: 50, sent: at(20), rtt: Duration::from_millis(100), restarts: true };
        let packet = Datagram { bytes: data.encode(), filler: 1000, ..Datagram::default() };
        receiver.handle_packet(at(20), Received { packet: &packet, path: PathId::default(), marked: false });
        assert_eq!((receiver.loss_event_rate(), receiver.first, receiver.missing.len()), (0.0, 50, 0));
        let progress = receiver.progress();
        assert_eq!((progress.lost_packets, progress.delivered_bytes), (3, 6000));
        let mut told = || {
            let sent = receiver.poll_transmit(at(20)).and_then(|sent| Feedback::decode(&sent.packet.bytes));
            sent.map(|feedback| feedback.restarts)
        };
        assert_eq!(told(), Some(true));
        arrive(&mut receiver, 30, 51, true);
        assert_eq!(
            receiver
                .poll_transmit(at(30))
                .and_then(|sent| Feedback::decode(&sent.packet.bytes))
                .map(|it| it.restarts),
            Some(false)
        );
    }
}
