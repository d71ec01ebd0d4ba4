//! TP-CRAHN's rules, each in a dialogue between its ends over one hop that stamps, and whose node tells what
//! it does.

use crate::path::{Link, Path, seconds};
use cogtcp_crosslayer::{ChannelId, LinkEvent, StampingHop, Verdict};
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent};
use cogtcp_feedback::{TpCrahnReceiver, TpCrahnSender, TpCrahnSettings, TpCrahnState};
use cogtcp_units::{Duration, Rate, Time};

/// One hop of `rate` bytes per second with a queue of 50 packets that loses and marks what it is told to, and
/// stamps.
struct Hop {
    stamp: StampingHop,
    rate: f64,
    free: Time,
    lose: fn(f64, u64) -> bool,
    mark: fn(f64) -> bool,
}

impl Link for Hop {
    const ONE_WAY: Duration = Duration::from_millis(50);

    fn carry(&mut self, now: Time, number: u64, _: &Datagram) -> Option<(Time, bool)> {
        let waiting = self.free.saturating_since(now).as_secs_f64() * self.rate / 1000.0;
        if waiting > 50.0 {
            return None;
        }
        self.free = self.free.max(now) + Duration::from_secs_f64(1000.0 / self.rate);
        let at = now.as_secs_f64();
        (!(self.lose)(at, number)).then_some((self.free, (self.mark)(at)))
    }

    fn pass(&mut self, now: Time, after: Duration, packet: &mut Datagram) {
        packet.stamp.pass(now, after, None, &mut self.stamp);
    }
}

type Net = Path<TpCrahnSender, TpCrahnReceiver, Hop>;

fn saturated(rate: f64, lose: fn(f64, u64) -> bool) -> Net {
    let stamp = StampingHop::new(Rate::from_bits_per_second(8 * rate as u64), Hop::ONE_WAY, false);
    let link = Hop { stamp, rate, free: Time::ZERO, lose, mark: |_| false };
    Path::saturated(TpCrahnSender::new(1000, TpCrahnSettings::default()), TpCrahnReceiver::default(), link)
}

/// The node of the hop tells what it does.
fn tell(path: &mut Net, event: LinkEvent) {
    path.sender.handle_link_event(path.now, event);
    path.pump();
}

fn state(path: &Net) -> TpCrahnState {
    path.sender.state(path.now)
}

fn timeouts(path: &Net) -> usize {
    path.events.iter().filter(|(_, event)| *event == EndpointEvent::Timeout).count()
}

fn handoff(bits: u64) -> LinkEvent {
    let rate = Some(Rate::from_bits_per_second(bits));
    LinkEvent::Handoff { from: ChannelId(0), to: ChannelId(1), rate }
}

/// The first acknowledgement ends the establishment; then the window doubles each round trip, and all
/// arrives.
#[test]
fn a_clear_route_is_newreno() {
    let mut path = saturated(1e9, |_, _| false);
    path.run(0.09);
    assert_eq!((state(&path), path.sent.len()), (TpCrahnState::Establishment, 10));
    path.run(0.15);
    assert_eq!((state(&path), path.sender.congestion_window()), (TpCrahnState::Normal, 20.0));
    path.run(0.25);
    assert_eq!(path.sender.congestion_window(), 40.0);
}

/// A loss halves the window once, and is repaired without a timeout.
#[test]
fn a_loss_halves_the_window_once() {
    let mut path = saturated(1e8, |_, number| (60..64).contains(&number));
    path.run(10.0);
    let losses = path.events.iter().filter(|(_, event)| *event == EndpointEvent::Loss).count();
    assert_eq!((losses, timeouts(&path), path.sender.progress().resent_packets), (1, 0, 4));
    assert_eq!(path.receiver.progress().duplicate_bytes, 0);
    assert!(path.receiver.progress().delivered_bytes > 3_000_000);
}

/// While a node senses the window is no greater than the room of the route and does not grow; the timer is no
/// sign of congestion.
#[test]
fn a_sensing_limits_the_window_and_stops_its_growth() {
    let mut path = saturated(250_000.0, |at, _| (2.0..4.5).contains(&at));
    path.link.stamp.room = 5_000;
    path.run(2.0);
    let window = path.sender.congestion_window();
    assert!(window > 30.0, "{window}");
    tell(&mut path, LinkEvent::SensingStart { until: seconds(4.5) });
    assert_eq!(state(&path), TpCrahnState::Sensing);
    path.run(2.3);
    assert!(path.sender.progress().in_flight_bytes.unwrap() <= 5_000 + 250_000 / 10 + 1000);
    path.run(4.4);
    // All that was sent from 2 s on is lost; the timer expired, and means nothing.
    assert_eq!((timeouts(&path), path.sender.congestion_window()), (0, window));
    tell(&mut path, LinkEvent::SensingEnd { verdict: Verdict::Clear });
    assert_eq!(state(&path), TpCrahnState::Normal);
    path.run(30.0);
    assert!(path.receiver.progress().delivered_bytes > 3_000_000);
}

/// A node that leaves its channel pauses the sender: no packet, no timeout. On the new channel, of half the
/// rate, the window is 0.8 of the new bandwidth-delay product.
#[test]
fn a_change_of_channel_pauses_and_sets_the_window() {
    let mut path = saturated(250_000.0, |at, number| number == 60 || (10.0..13.0).contains(&at));
    path.run(10.0);
    let window = path.sender.congestion_window();
    tell(&mut path, LinkEvent::SwitchingStart { until: Time::MAX });
    assert_eq!(state(&path), TpCrahnState::SpectrumChange);
    path.run(13.0);
    assert_eq!((path.packets(10.001, 13.0), timeouts(&path)), (0, 0));
    let mut rtt = f64::NAN;
    path.sender.observe(&mut |name, value| {
        if name == "smoothed_rtt_s" {
            rtt = value;
        }
    });
    path.link.rate = 125_000.0;
    tell(&mut path, handoff(1_000_000));
    // The stamps told 2 Mbit/s, to 0.1 %.
    let wanted = 0.8 * 125.0 * (rtt + 0.008 - 0.004);
    let set = path.sender.congestion_window();
    assert!((set / wanted - 1.0).abs() < 0.01 && set < window, "{set} {wanted} {window}");
    assert_eq!(state(&path), TpCrahnState::Normal);
}

/// A wider channel than the bottleneck's changes nothing, unless the channel was the bottleneck.
#[test]
fn a_wide_channel_leaves_the_window() {
    let mut path = saturated(250_000.0, |_, _| false);
    path.run(3.0);
    let window = path.sender.congestion_window();
    tell(&mut path, LinkEvent::SwitchingStart { until: Time::MAX });
    tell(&mut path, handoff(9_000_000));
    assert_eq!(path.sender.congestion_window(), window);
}

/// A channel that was the bottleneck is known by a rate that packets carry to 0.1 %.
#[test]
fn the_old_bottleneck_is_known_by_a_rounded_rate() {
    let mut path = saturated(500_000.0, |_, _| false);
    path.run(3.0);
    // A stamp has 2,576 kbit/s for it.
    path.link.rate = 322_125.0;
    path.link.stamp.rate = Rate::from_bits_per_second(2_577_000);
    tell(&mut path, LinkEvent::SwitchingStart { until: Time::MAX });
    tell(&mut path, handoff(2_577_000));
    path.run(8.0);
    let window = path.sender.congestion_window();
    tell(&mut path, LinkEvent::SwitchingStart { until: Time::MAX });
    tell(&mut path, handoff(40_000_000));
    let set = path.sender.congestion_window();
    assert!(set > 2.0 * window, "{set} {window}");
}

/// A node that falls silent after it paused the sender does not pause it for ever.
#[test]
fn a_pause_ends() {
    let mut path = saturated(250_000.0, |_, _| false);
    path.run(3.0);
    tell(&mut path, LinkEvent::SwitchingStart { until: Time::MAX });
    path.run(12.9);
    assert_eq!((state(&path), path.packets(3.001, 12.9)), (TpCrahnState::SpectrumChange, 0));
    path.run(13.2);
    assert_eq!(state(&path), TpCrahnState::Normal);
    assert!(path.packets(12.9, 13.2) > 0);
}

/// A mark halves the window once for a window of data. A mark of a packet that was sent during a sensing is
/// stale.
#[test]
fn marks_halve_unless_they_are_stale() {
    for senses in [false, true] {
        let mut path = saturated(250_000.0, |_, _| false);
        path.link.mark = |at| (3.0..3.2).contains(&at);
        path.run(3.0);
        if senses {
            tell(&mut path, LinkEvent::SensingStart { until: seconds(3.2) });
        }
        let before = path.sender.congestion_window();
        path.run(3.0 + before * 0.004 + 0.25);
        let after = path.sender.congestion_window();
        assert_eq!(after < 0.6 * before, !senses, "{before} {after}");
        assert!(after > 0.45 * before);
    }
}

/// A silence that no node tells of is congestion: one segment, and the timer backs off.
#[test]
fn a_silence_without_news_is_congestion() {
    let mut path = saturated(250_000.0, |at, _| (3.0..10.0).contains(&at));
    path.run(9.9);
    assert!((2..=4).contains(&timeouts(&path)), "{}", timeouts(&path));
    assert_eq!(path.sender.congestion_window(), 1.0);
    path.run(60.0);
    assert!(path.receiver.progress().delivered_bytes > 5_000_000);
}
