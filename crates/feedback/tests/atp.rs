//! ATP's rules, each in a dialogue between its ends over one hop that stamps.

use crate::path::{Link, Path};
use cogtcp_crosslayer::StampingHop;
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Supply};
use cogtcp_feedback::{AtpReceiver, AtpSender, AtpSettings};
use cogtcp_units::{Duration, Rate, Time};

/// One hop that takes `service` seconds for a packet, loses what `lose` says, and stamps.
struct Hop {
    stamp: StampingHop,
    free: Time,
    service: fn(f64) -> f64,
    lose: fn(f64, u64) -> bool,
}

impl Link for Hop {
    const ONE_WAY: Duration = Duration::from_millis(20);

    fn carry(&mut self, now: Time, number: u64, _: &Datagram) -> Option<(Time, bool)> {
        let at = now.as_secs_f64();
        self.free = self.free.max(now) + Duration::from_secs_f64((self.service)(at));
        (!(self.lose)(at, number)).then_some((self.free, false))
    }

    fn pass(&mut self, now: Time, after: Duration, packet: &mut Datagram) {
        packet.stamp.pass(now, after, None, &mut self.stamp);
    }
}

type Net = Path<AtpSender, AtpReceiver, Hop>;

fn ends() -> (AtpSender, AtpReceiver) {
    let settings = AtpSettings::default();
    (AtpSender::new(1000, settings), AtpReceiver::new(settings))
}

fn hop(service: fn(f64) -> f64, lose: fn(f64, u64) -> bool) -> Hop {
    let stamp = StampingHop::new(Rate::from_bits_per_second(1_000_000), Hop::ONE_WAY, false);
    Hop { stamp, free: Time::ZERO, service, lose }
}

fn saturated(service: fn(f64) -> f64, lose: fn(f64, u64) -> bool) -> Net {
    let (sender, receiver) = ends();
    Path::saturated(sender, receiver, hop(service, lose))
}

/// Quick start: one probe, whose answer comes at once and brings the route's rate, 100 packets a second.
#[test]
fn a_probe_finds_the_rate_in_a_round_trip() {
    let mut path = saturated(|_| 0.01, |_, _| false);
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
    let mut path = saturated(|_| 0.01, |_, _| false);
    path.run(20.5);
    assert_eq!(path.reports.len(), 21, "{:?}", path.reports);
    assert!(path.reports.windows(2).all(|two| (two[1] - two[0] - 1.0).abs() < 1e-6));
}

/// The route becomes twice as fast: each epoch the rate closes a fifth of the gap, and stops within phi = 10
/// %.
#[test]
fn the_rate_grows_by_a_fifth_of_the_gap() {
    let mut path = saturated(|at| if at < 5.0 { 0.02 } else { 0.01 }, |_, _| false);
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
    let mut path = saturated(|at| if at < 5.0 { 0.01 } else { 0.02 }, |_, _| false);
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
    let mut path = saturated(|_| 0.01, |at, _| (10.0..40.0).contains(&at));
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
    let mut path = saturated(|_| 0.01, |_, number| number % 20 == 7);
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
    let (sender, receiver) = ends();
    let mut path = Path::new(sender, receiver, hop(|_| 0.01, |at, number| number >= 9 && at < 1.0));
    path.sender.supply(Time::ZERO, Supply::Bytes(10_000));
    path.sender.open(Time::ZERO);
    path.sender.close(Time::ZERO);
    path.run(20.0);
    assert_eq!(path.receiver.progress().delivered_bytes, 10_000);
    assert_eq!(path.events.last().map(|(_, event)| *event), Some(EndpointEvent::Closed));
    assert_eq!((path.sender.poll_timeout(), path.receiver.poll_timeout()), (Time::MAX, Time::MAX));
}
