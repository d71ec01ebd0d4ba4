//! ATP's rules, each in a dialogue between its ends over one hop that stamps.

use cogtcp_crosslayer::StampingHop;
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, Received, Supply};
use cogtcp_rate::{AtpReceiver, AtpSender, AtpSettings};
use cogtcp_units::{Duration, Rate, Time};
use std::collections::BTreeMap;

const ONE_WAY: Duration = Duration::from_millis(20);

fn seconds(s: f64) -> Time {
    Time::from_secs_f64(s)
}

/// Both ends, and one hop that takes `service` seconds for a packet and loses what `lose` says.
struct Path {
    sender: AtpSender,
    receiver: AtpReceiver,
    now: Time,
    flying: BTreeMap<(Time, u64), (bool, Time, Datagram)>,
    order: u64,
    hop: StampingHop,
    free: Time,
    service: fn(f64) -> f64,
    lose: fn(f64, u64) -> bool,
    sent: Vec<f64>,
    reports: Vec<f64>,
    events: Vec<EndpointEvent>,
}

impl Path {
    fn new(service: fn(f64) -> f64, lose: fn(f64, u64) -> bool) -> Self {
        let settings = AtpSettings::default();
        Self {
            sender: AtpSender::new(1000, settings),
            receiver: AtpReceiver::new(settings),
            now: Time::ZERO,
            flying: BTreeMap::new(),
            order: 0,
            hop: StampingHop::new(Rate::from_bits_per_second(1_000_000), ONE_WAY, false),
            free: Time::ZERO,
            service,
            lose,
            sent: Vec::new(),
            reports: Vec::new(),
            events: Vec::new(),
        }
    }

    fn saturated(service: fn(f64) -> f64, lose: fn(f64, u64) -> bool) -> Self {
        let mut path = Self::new(service, lose);
        path.sender.supply(Time::ZERO, Supply::Saturated(true));
        path.sender.open(Time::ZERO);
        path
    }

    fn pump(&mut self) {
        let now = self.now.as_secs_f64();
        while let Some(Outgoing { packet, .. }) = self.sender.poll_transmit(self.now) {
            let number = self.sent.len() as u64;
            self.sent.push(now);
            self.free = self.free.max(self.now) + Duration::from_secs_f64((self.service)(now));
            if !(self.lose)(now, number) {
                self.order += 1;
                self.flying.insert((self.free + ONE_WAY, self.order), (true, self.now, packet));
            }
        }
        while let Some(Outgoing { packet, .. }) = self.receiver.poll_transmit(self.now) {
            self.reports.push(now);
            self.order += 1;
            self.flying.insert((self.now + ONE_WAY, self.order), (false, self.now, packet));
        }
        while let Some(event) = self.sender.poll_event() {
            self.events.push(event);
        }
    }

    fn run(&mut self, until: f64) -> &mut Self {
        self.pump();
        loop {
            let packet = self.flying.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
            let next = packet.min(self.sender.poll_timeout()).min(self.receiver.poll_timeout());
            if next > seconds(until) {
                self.now = seconds(until);
                return self;
            }
            self.now = next;
            if packet == next
                && let Some((_, (to_receiver, sent, mut packet))) = self.flying.pop_first()
            {
                if to_receiver {
                    packet.stamp.pass(next, next - sent, None, &mut self.hop);
                }
                let received = Received { packet: &packet, path: Default::default(), marked: false };
                match to_receiver {
                    true => self.receiver.handle_packet(next, received),
                    false => self.sender.handle_packet(next, received),
                }
            }
            if self.sender.poll_timeout() <= next {
                self.sender.handle_timeout(next);
            }
            if self.receiver.poll_timeout() <= next {
                self.receiver.handle_timeout(next);
            }
            self.pump();
        }
    }
}

/// Quick start: one probe, whose answer comes at once and brings the route's rate, 100 packets a second.
#[test]
fn a_probe_finds_the_rate_in_a_round_trip() {
    let mut path = Path::saturated(|_| 0.01, |_, _| false);
    path.run(0.049);
    assert_eq!((path.sent.len(), path.sender.is_probing(), path.reports.len()), (1, true, 1));
    path.run(0.051);
    assert!(!path.sender.is_probing());
    assert!((path.sender.packet_rate() - 100.0).abs() < 0.1, "{}", path.sender.packet_rate());
    path.run(10.0);
    let goodput = path.receiver.progress().delivered_bytes as f64 / 10.0;
    assert!((95_000.0..=100_000.0).contains(&goodput), "{goodput}");
}

/// The receiver reports once an epoch of 1 s, not once a packet.
#[test]
fn a_report_an_epoch() {
    let mut path = Path::saturated(|_| 0.01, |_, _| false);
    path.run(20.5);
    assert_eq!(path.reports.len(), 21, "{:?}", path.reports);
    assert!(path.reports.windows(2).all(|two| (two[1] - two[0] - 1.0).abs() < 1e-6));
}

/// The route becomes twice as fast: each epoch the rate closes a fifth of the gap, and stops within phi = 10
/// %.
#[test]
fn the_rate_grows_by_a_fifth_of_the_gap() {
    let mut path = Path::saturated(|at| if at < 5.0 { 0.02 } else { 0.01 }, |_, _| false);
    path.run(5.0);
    assert!((path.sender.packet_rate() - 50.0).abs() < 0.5);
    // After the means have moved, at 8 s, each report adds a fifth of what is left to 100.
    path.run(8.5);
    let before = path.sender.packet_rate();
    path.run(9.5);
    let after = path.sender.packet_rate();
    assert!(((after - before) / (100.0 - before) - 0.2).abs() < 0.02, "{before} -> {after}");
    path.run(60.0);
    let last = path.sender.packet_rate();
    assert!((90.0..=93.0).contains(&last), "{last}: within phi the rate stays");
}

/// The route becomes slower: the rate falls at the next report, with what waits in the queue on top.
#[test]
fn the_rate_falls_at_once() {
    let mut path = Path::saturated(|at| if at < 5.0 { 0.01 } else { 0.02 }, |_, _| false);
    path.run(7.2);
    assert!(path.sender.packet_rate() < 50.0, "{}", path.sender.packet_rate());
    path.run(60.0);
    let last = path.sender.packet_rate();
    assert!((40.0..=50.1).contains(&last), "{last}");
}

/// Without reports the rate halves each epoch, and after three the sender probes once an epoch: no timer
/// backs off. When the route is back, one probe restores the rate.
#[test]
fn a_silence_is_probed_and_does_not_back_off() {
    let mut path = Path::saturated(|_| 0.01, |at, _| (10.0..40.0).contains(&at));
    path.run(11.7);
    let halved = path.sender.packet_rate();
    assert!((45.0..=51.0).contains(&halved), "{halved}");
    path.run(14.9);
    assert!(path.sender.is_probing());
    path.run(40.0);
    let probes = path.sent.iter().filter(|at| (20.0..40.0).contains(*at)).count();
    assert!((19..=41).contains(&probes), "{probes}");
    path.run(41.2);
    assert!((path.sender.packet_rate() - 100.0).abs() < 10.0, "{}", path.sender.packet_rate());
    path.run(60.0);
    let progress = path.receiver.progress();
    assert!(progress.delivered_bytes > 2_600_000, "{}", progress.delivered_bytes);
}

/// Losses leave the rate alone; only what is missing is sent again, by reports with blocks.
#[test]
fn losses_are_repaired_and_are_no_congestion() {
    let mut path = Path::saturated(|_| 0.01, |_, number| number % 20 == 7);
    path.run(30.0);
    assert!((path.sender.packet_rate() - 100.0).abs() < 1.0, "{}", path.sender.packet_rate());
    let (sent, got) = (path.sender.progress(), path.receiver.progress());
    assert!(
        sent.resent_packets >= 120 && got.duplicate_bytes == 0,
        "{} {}",
        sent.resent_packets,
        got.duplicate_bytes
    );
    assert!(got.delivered_bytes > 2_600_000, "{}", got.delivered_bytes);
}

/// The last packet of all is lost: it has no successor whose report would tell, and a probe sends it again.
#[test]
fn a_lost_tail_is_probed() {
    let mut path = Path::new(|_| 0.01, |at, number| number >= 9 && at < 1.0);
    path.sender.supply(Time::ZERO, Supply::Bytes(10_000));
    path.sender.open(Time::ZERO);
    path.sender.close(Time::ZERO);
    path.run(20.0);
    assert_eq!(path.receiver.progress().delivered_bytes, 10_000);
    assert_eq!(path.events.last(), Some(&EndpointEvent::Closed));
    assert_eq!((path.sender.poll_timeout(), path.receiver.poll_timeout()), (Time::MAX, Time::MAX));
}
