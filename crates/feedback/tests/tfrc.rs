//! TFRC's two ends on a link driven by hand.

use crate::path::{Link, Path, seconds};
use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Supply};
use cogtcp_feedback::equation::throughput;
use cogtcp_feedback::{TfrcReceiver, TfrcSender};
use cogtcp_units::{Duration, RandomStream, Time};

/// A link of `rate` bytes per second with a queue of `queue` packets, which loses what `lose` says.
struct Queue {
    /// When the link has sent all that it queues.
    free: Time,
    rate: f64,
    queue: f64,
    lose: Box<dyn FnMut(Time, u64) -> bool>,
}

impl Link for Queue {
    const ONE_WAY: Duration = Duration::from_millis(50);

    fn carry(&mut self, now: Time, number: u64, packet: &Datagram) -> Option<(Time, bool)> {
        let backlog = self.free.saturating_since(now).as_secs_f64() * self.rate / 1000.0;
        if (self.lose)(now, number) || backlog > self.queue {
            return None;
        }
        let takes = Duration::from_secs_f64(f64::from(packet.wire_size()) / self.rate);
        self.free = self.free.max(now) + takes;
        Some((self.free, false))
    }
}

type Net = Path<TfrcSender, TfrcReceiver, Queue>;

fn link(rate: f64, queue: f64, lose: impl FnMut(Time, u64) -> bool + 'static) -> Queue {
    Queue { free: Time::ZERO, rate, queue, lose: Box::new(lose) }
}

fn saturated(rate: f64, queue: f64, lose: impl FnMut(Time, u64) -> bool + 'static) -> Net {
    let (sender, receiver) = (TfrcSender::new(1000), TfrcReceiver::new(1000, true));
    Path::saturated(sender, receiver, link(rate, queue, lose))
}

/// The same before the connection opens, on a link that is never the limit.
fn closed() -> Net {
    Path::new(TfrcSender::new(1000), TfrcReceiver::new(1000, true), link(1e9, 1e9, |_, _| false))
}

/// Section 4.2: one packet in the first second, then an initial window per round-trip time: min(4 s, max(2 s,
/// 4380)) = 4000 B.
#[test]
fn the_first_feedback_allows_an_initial_window() {
    let mut net = saturated(1e9, 1e9, |_, _| false);
    net.run(0.09);
    assert_eq!(net.sent.len(), 1);
    net.run(0.1001);
    assert!((net.sender.allowed_rate() - 40_000.0).abs() < 10.0, "{}", net.sender.allowed_rate());
    // 100 ms of propagation and 1.053 us for the bytes of the first packet.
    let rtt = EndpointEvent::RoundTrip(Duration::from_nanos(100_001_053));
    assert_eq!(
        net.events.iter().map(|(_, event)| *event).collect::<Vec<_>>(),
        [EndpointEvent::Connected, rtt]
    );
}

/// Without loss the rate doubles once in a round-trip time, up to twice the receive rate.
#[test]
fn slow_start_doubles() {
    let mut net = saturated(1e9, 1e9, |_, _| false);
    let mut last = 0.0;
    for round in 0..6 {
        net.run(0.101 + 0.1 * f64::from(round));
        let rate = net.sender.allowed_rate();
        assert!(rate <= 2.01 * f64::max(last, 20_000.0), "{last} -> {rate}");
        last = rate;
    }
    // The receive rate that bounds the growth is the mean of the round before: two rounds for each doubling.
    assert!(last > 120_000.0, "{last}");
}

/// With every hundredth packet lost the rate settles at TCP's equation for p = 1 %: 112 kB/s at 100 ms.
#[test]
fn the_rate_settles_at_the_equation() {
    let mut net = saturated(1e9, 1e9, |_, number| number % 100 == 50);
    net.run(60.0);
    let wanted = throughput(1000.0, 0.1, 0.01);
    let before = net.receiver.progress().delivered_bytes;
    net.run(120.0);
    let rate = (net.receiver.progress().delivered_bytes - before) as f64 / 60.0;
    assert!((rate / (0.99 * wanted) - 1.0).abs() < 0.03, "{rate} against {wanted}");
}

/// Losses within a round-trip time are one loss event.
#[test]
fn a_burst_of_losses_is_one_event() {
    let single = {
        let mut net = saturated(1e9, 1e9, |_, number| number % 200 == 50);
        net.run(60.0);
        net.receiver.loss_event_rate()
    };
    let mut net = saturated(1e9, 1e9, |_, number| (50..53).contains(&(number % 200)));
    net.run(60.0);
    let burst = net.receiver.loss_event_rate();
    assert!((burst / single - 1.0).abs() < 0.1, "{burst} against {single}");
}

/// Section 4.4: without feedback the rate halves with each expiry of the nofeedback timer, down to one packet
/// in 64 s; the sender comes back when feedback does.
#[test]
fn silence_halves_the_rate_and_ends() {
    let silence = |at: Time, _| (5.0..65.0).contains(&at.as_secs_f64());
    let mut net = saturated(125_000.0, 20.0, silence);
    net.run(5.0);
    let before = net.sender.allowed_rate();
    net.run(7.0);
    assert!(net.sender.allowed_rate() < before / 2.0, "{before} -> {}", net.sender.allowed_rate());
    net.run(64.9);
    assert!(net.sender.allowed_rate() >= 1000.0 / 64.0);
    assert!(net.events.iter().filter(|(_, event)| *event == EndpointEvent::Timeout).count() >= 3);
    net.run(300.0);
    assert!(net.sender.allowed_rate() > 50_000.0, "{}", net.sender.allowed_rate());
}

/// A bottleneck of 125 kB/s with a queue of 20 packets is used to more than 80 % and never exceeded.
#[test]
fn a_bottleneck_is_shared_out() {
    let mut net = saturated(125_000.0, 20.0, |_, _| false);
    net.run(20.0);
    let before = net.receiver.progress().delivered_bytes;
    net.run(120.0);
    let rate = (net.receiver.progress().delivered_bytes - before) as f64 / 100.0;
    assert!((0.8 * 125_000.0..=125_000.0).contains(&rate), "{rate}");
}

/// A sender that the application limits does not build up a rate beyond twice of what the receiver got
/// (section 8.2.1).
#[test]
fn a_limited_application_does_not_save_up_rate() {
    let mut net = closed();
    net.sender.open(Time::ZERO);
    for tenth in 0..600 {
        let at = seconds(0.1 * f64::from(tenth));
        net.run(at.as_secs_f64());
        net.sender.supply(at, Supply::Bytes(1000));
    }
    assert!(net.sender.allowed_rate() <= 2.0 * 40_000.0 + 1.0, "{}", net.sender.allowed_rate());
}

/// Section 6.1, step 2: at less than a packet per round-trip time every packet is answered at once, not at
/// the next tick of the timer.
#[test]
fn a_packet_after_silence_is_answered_at_once() {
    let mut net = closed();
    net.sender.open(Time::ZERO);
    for second in 0..20 {
        let at = seconds(f64::from(second));
        net.run(at.as_secs_f64());
        net.sender.supply(at, Supply::Bytes(1000));
    }
    net.run(20.0);
    let answers = net.events.iter().filter(|(_, event)| matches!(event, EndpointEvent::RoundTrip(_))).count();
    assert_eq!(answers, 20);
}

/// Section 4.5: while the round-trip time grows beyond its mean, packets leave more slowly than the allowed
/// rate.
#[test]
fn a_growing_queue_eases_the_rate() {
    let mut net = saturated(125_000.0, 1e9, |_, _| false);
    net.run(3.0);
    let (before, sent) = (net.sender.allowed_rate(), net.sent.len());
    net.run(3.1);
    let rate = (net.sent.len() - sent) as f64 * 1000.0 / 0.1;
    assert!(rate < 0.97 * before.min(net.sender.allowed_rate()), "{rate} of {before}");
}

/// All that was supplied before the close is sent, then the connection is over and no timer runs at the
/// sender.
#[test]
fn close_sends_what_is_left() {
    let mut net = closed();
    net.sender.open(Time::ZERO);
    net.sender.supply(Time::ZERO, Supply::Bytes(10_500));
    net.sender.close(Time::ZERO);
    net.run(30.0);
    assert_eq!(net.receiver.progress().delivered_bytes, 10_500);
    assert_eq!(net.events.last().map(|(_, event)| *event), Some(EndpointEvent::Closed));
    assert_eq!(net.sender.poll_timeout(), Time::MAX);
}

/// Whatever is lost, rates stay between one packet in 64 s and the link's, time moves on, and the receiver
/// never counts more than was sent.
#[test]
fn random_loss_breaks_nothing() {
    for seed in 0..40 {
        let mut random = RandomStream::new(seed, "tfrc", 0);
        let share = random.uniform();
        let mut net = saturated(250_000.0, 10.0, move |_, _| random.uniform() < share);
        for step in 1..=50 {
            net.run(f64::from(step));
            let rate = net.sender.allowed_rate();
            assert!(rate.is_finite() && rate >= 1000.0 / 64.0, "seed {seed}: {rate}");
            assert!((0.0..=1.0).contains(&net.receiver.loss_event_rate()));
        }
        let (sent, received) = (net.sender.progress().sent_bytes, net.receiver.progress().delivered_bytes);
        assert!(received <= sent, "seed {seed}: {received} of {sent}");
    }
}
