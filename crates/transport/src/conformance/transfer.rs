//! Whole transfers under a control.

use super::{Failure, guarded};
use crate::{
    CongestionControl, EcnMode, Receiver, ReceiverConfig, Recovery, Segment, Sender, SenderConfig,
    TransportEvent, with,
};
use cogtcp_units::{Duration, Probability, RandomStream, Time};
use std::collections::BTreeMap;

/// One way, so that the round trip takes 100 ms.
const DELAY: Duration = Duration::from_millis(50);
/// Serialisation of a data segment: 1000 bytes at 4 Mbit/s.
const SPACING: Duration = Duration::from_millis(2);
/// Most data segments waiting at the path's entrance.
const QUEUE: u64 = 100;
/// Those beyond which an ECN-capable segment is marked.
const MARKED: u64 = 10;
/// Data of a transfer: 400 segments of 1000 bytes, which take 0.8 s of the path's time.
const BYTES: u64 = 400_000;
/// Time in which every transfer ends: far more than a Tahoe needs that loses every twentieth segment.
const LIMIT: Time = Time::from_millis(600_000);

/// Every loss recovery, and the one of today's hosts.
fn recoveries() -> [(&'static str, SenderConfig); 6] {
    let plain =
        |recovery| with!(SenderConfig::default(), handshake.mss = 1000, recovery.algorithm = recovery);
    let today = with!(
        plain(Recovery::Sack),
        recovery.prr = true,
        recovery.rack = true,
        recovery.tlp = true,
        handshake.timestamps = true
    );
    let accurate = with!(today.clone(), handshake.ecn = EcnMode::Accurate);
    [
        ("Tahoe", plain(Recovery::Tahoe)),
        ("Reno", plain(Recovery::Reno)),
        ("NewReno", plain(Recovery::NewReno)),
        ("SACK", plain(Recovery::Sack)),
        ("SACK, PRR and RACK-TLP", today),
        ("SACK, PRR, RACK-TLP and Accurate ECN", accurate),
    ]
}

/// Transfers over several paths, with every loss recovery.
pub(super) fn check(make: &impl Fn() -> Box<dyn CongestionControl>) -> Result<(), Failure> {
    for (recovery, config) in recoveries() {
        for (path, loss, silence) in [
            ("a lossless path", 0.0, None),
            ("a path that loses 1 %", 0.01, None),
            ("a path that loses 5 %", 0.05, None),
            ("a path that is silent from 0.3 s to 4 s", 0.0, Some((300, 4_000))),
        ] {
            let what = format!("{path} with {recovery}");
            guarded(&what, || Transfer::new(make(), config.clone(), loss, silence).run(&what))?;
        }
    }
    Ok(())
}

#[derive(Debug)]
struct Transfer {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    flight: BTreeMap<(Time, u64), (bool, Segment)>,
    departures: u64,
    entrance_free: Time,
    random: RandomStream,
    loss: Probability,
    silence: Option<(Time, Time)>,
    /// Since the last timeout: the least cwnd, what had been delivered, whether cwnd has grown.
    timeout: Option<(u64, u64, bool)>,
}

impl Transfer {
    fn new(
        control: Box<dyn CongestionControl>,
        config: SenderConfig,
        loss: f64,
        silence: Option<(u64, u64)>,
    ) -> Self {
        Self {
            sender: Sender::new(config, control),
            receiver: Receiver::new(with!(ReceiverConfig::default(), handshake.ecn = EcnMode::Accurate)),
            now: Time::ZERO,
            flight: BTreeMap::new(),
            departures: 0,
            entrance_free: Time::ZERO,
            random: RandomStream::new(1, "conformance/loss", 0),
            loss: Probability::new(loss).unwrap_or(Probability::ZERO),
            silence: silence.map(|(from, to)| (Time::from_millis(from), Time::from_millis(to))),
            timeout: None,
        }
    }

    fn run(mut self, what: &str) -> Result<(), Failure> {
        self.sender.open(self.now);
        self.sender.write(BYTES);
        self.sender.close();
        self.pull();
        while self.receiver.delivered() < BYTES {
            let arrival = self.flight.first_key_value().map_or(Time::MAX, |((time, _), _)| *time);
            let timers = self.sender.poll_timeout().min(self.receiver.poll_timeout());
            let next = arrival.min(timers);
            if next > LIMIT {
                let delivered = self.receiver.delivered();
                return Err(("transfer", format!("{what}: {delivered} of {BYTES} bytes at {:?}", self.now)));
            }
            self.now = self.now.max(next);
            if arrival <= timers {
                match self.flight.pop_first() {
                    Some((_, (true, segment))) => self.receiver.handle_segment(self.now, &segment),
                    Some((_, (false, segment))) => self.sender.handle_segment(self.now, &segment),
                    None => {}
                }
            } else {
                self.sender.handle_timeout(self.now);
                self.receiver.handle_timeout(self.now);
            }
            self.pull();
            self.watch_recovery();
        }
        // A timeout near the end leaves no time to grow.
        if self.timeout.is_some_and(|(_, delivered, grew)| !grew && delivered < BYTES / 2) {
            return Err(("recovery", format!("{what}: cwnd did not grow again after a timeout")));
        }
        Ok(())
    }

    fn watch_recovery(&mut self) {
        let cwnd = self.sender.state().cwnd;
        while let Some(event) = self.sender.poll_event() {
            if matches!(event, TransportEvent::Rto { .. }) {
                self.timeout = Some((cwnd, self.receiver.delivered(), false));
            }
        }
        if let Some((least, _, grew)) = &mut self.timeout {
            *grew |= cwnd > *least;
            *least = cwnd.min(*least);
        }
    }

    fn pull(&mut self) {
        while let Some(mut segment) = self.sender.poll_transmit(self.now) {
            let waiting = self.entrance_free.saturating_since(self.now).as_nanos() / SPACING.as_nanos();
            if self.is_lost(segment.len > 0) || waiting >= QUEUE {
                continue;
            }
            if waiting >= MARKED && segment.is_ecn_capable() {
                segment.mark();
            }
            self.entrance_free = self.entrance_free.max(self.now) + SPACING;
            self.depart(self.entrance_free + DELAY, true, segment);
        }
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            if !self.is_lost(false) {
                self.depart(self.now + DELAY, false, segment);
            }
        }
    }

    fn is_lost(&mut self, data: bool) -> bool {
        let silent = self.silence.is_some_and(|(from, to)| (from..to).contains(&self.now));
        silent || (data && self.random.bernoulli(self.loss))
    }

    fn depart(&mut self, arrival: Time, to_receiver: bool, segment: Segment) {
        self.departures += 1;
        self.flight.insert((arrival, self.departures), (to_receiver, segment));
    }
}
