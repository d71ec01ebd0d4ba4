//! Dialogues with the router: a clock moved by hand, no network.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_train::journey::Measurement;
use cogtcp_train::prediction::{Forecast, Oracle, Outage, Predictor};
use cogtcp_train::{MobileRouter, OutgoingMessage, RouterConfig, RouterMessage};
use cogtcp_units::{Duration, Probability, RandomStream, Time};

const AT: fn(u64) -> Time = Time::from_millis;
const MS: fn(u64) -> Duration = Duration::from_millis;

const CONFIG: RouterConfig = RouterConfig {
    tu_advance: 1.0,
    td_advance: 0.5,
    poll_interval: Duration::from_secs(5),
    trigger_loss: Probability::ZERO,
};

fn router(config: RouterConfig, clients: usize, predictor: impl Predictor + 'static) -> MobileRouter {
    MobileRouter::new(config, clients, Box::new(predictor), Time::ZERO, RandomStream::new(1, "loss", 0))
}

fn oracle(outages: &[(u64, u64)]) -> Oracle {
    Oracle::new(outages.iter().map(|(start, end)| Outage { start: AT(*start), end: AT(*end) }).collect())
}

/// Runs the router to `end`; clients reply `delay` after a request with `rtt`. Warnings with their times.
fn play(router: &mut MobileRouter, end: u64, delay: u64, rtt: u64) -> Vec<(u64, OutgoingMessage)> {
    let (mut sent, mut replies) = (Vec::new(), Vec::<(Time, usize)>::new());
    loop {
        let reply = replies.iter().map(|reply| reply.0).min().unwrap_or(Time::MAX);
        let now = reply.min(router.poll_timeout());
        if now > AT(end) {
            return sent;
        }
        if reply <= now {
            let place = replies.iter().position(|reply| reply.0 <= now).unwrap();
            router.handle_reply(now, replies.remove(place).1, Some(MS(rtt)));
        } else {
            router.handle_timeout(now);
        }
        while let Some(out) = router.poll_message() {
            match out.message {
                RouterMessage::Request => replies.push((now + MS(delay), out.client)),
                _ => sent.push((now.as_nanos() / 1_000_000, out)),
            }
        }
    }
}

fn down(prediction: u32, start: u64, until: u64) -> RouterMessage {
    RouterMessage::GoingDown { prediction, start: AT(start), until: AT(until) }
}

/// RTT_TCP 180 ms, RTT_local 20 ms: down at 10 s - 180 ms, up at 14 s - (20 ms + 0.5 x 4 s).
#[test]
fn an_outage_is_announced_and_cleared_ahead() {
    let mut router = router(CONFIG, 2, oracle(&[(10_000, 14_000)]));
    let sent = play(&mut router, 20_000, 20, 180);
    let said: Vec<_> = sent.iter().map(|(at, out)| (*at, out.client, out.message)).collect();
    let (going_down, going_up) = (down(0, 10_000, 14_000), RouterMessage::GoingUp);
    assert_eq!(
        said,
        [(9820, 0, going_down), (9820, 1, going_down), (11_980, 0, going_up), (11_980, 1, going_up)]
    );
    let first = router.predicted()[0];
    assert_eq!(first.prediction.made, Time::ZERO);
    assert_eq!((first.warned.unwrap().at, first.cleared), (AT(9820), Some(AT(11_980))));
    assert_eq!((router.rtt_tcp(), router.rtt_local()), (MS(180), MS(20)));
    let counts = router.counts();
    assert_eq!((counts.down_messages, counts.up_messages, counts.downs, counts.lost_messages), (2, 2, 1, 0));
    // Asked at 0 s by both, and every 5 s: 0 (unknown: again after 1 s), 1, 6, 11, 16.
    assert_eq!(counts.polls, 10);
}

/// A later outage that is announced before the end of the first takes its place.
#[test]
fn the_last_announced_is_the_one_that_is_cleared() {
    let mut router = router(CONFIG, 1, oracle(&[(10_000, 10_400), (10_300, 12_300)]));
    let said: Vec<_> =
        play(&mut router, 20_000, 20, 180).iter().map(|(at, out)| (*at, out.message)).collect();
    // The end of the first: 10.4 s - (20 ms + 200 ms) = 10.18 s, after the second's 10.12 s.
    let up = RouterMessage::GoingUp;
    assert_eq!(said, [(9820, down(0, 10_000, 10_400)), (10_120, down(1, 10_300, 12_300)), (11_280, up)]);
    assert_eq!(router.predicted()[0].cleared, None);
}

/// Chance loses warnings, not requests, and says so; the draws are those of the stream.
#[test]
fn lost_warnings_are_counted() {
    let config = RouterConfig { trigger_loss: Probability::new(0.5).unwrap(), ..CONFIG };
    let outages: Vec<(u64, u64)> = (1..=200).map(|k| (10_000 * k, 10_000 * k + 1000)).collect();
    let mut router = router(config, 1, oracle(&outages));
    let sent = play(&mut router, 2_100_000, 20, 180);
    let lost = sent.iter().filter(|(_, out)| out.lost).count() as u64;
    assert_eq!((sent.len(), lost), (400, router.counts().lost_messages));
    // 400 draws at 1/2: within five standard deviations of 10.
    assert!(lost.abs_diff(200) < 50, "{lost}");
    router.restart_counts();
    assert_eq!(router.counts().down_messages, 0);
}

/// Predicts an outage at each measurement whose position is 1, and its end at each whose position is 2.
#[derive(Debug, Default)]
struct ByPosition(Option<Forecast>);

impl Predictor for ByPosition {
    fn observes(&self) -> bool {
        true
    }
    fn observe(&mut self, now: Time, measured: &Measurement) {
        self.0 = match measured.position {
            1.0 => Some(Forecast::Outage { start: now + MS(500), end: None }),
            2.0 => Some(Forecast::End { end: now + MS(300) }),
            _ => None,
        };
    }
    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.0.take()
    }
}

fn measured(millis: u64, position: f64) -> Measurement {
    Measurement { time: AT(millis), position, speed: 1.0, levels: Vec::new(), serving: None }
}

fn said(router: &mut MobileRouter) -> Vec<RouterMessage> {
    let all = std::iter::from_fn(|| router.poll_message());
    all.map(|out| out.message).filter(|message| *message != RouterMessage::Request).collect()
}

/// A live predictor: nothing is said before it is predicted, and the end of an outage follows when it is
/// known.
#[test]
fn what_is_not_predicted_yet_is_not_said() {
    let mut router = router(CONFIG, 1, ByPosition::default());
    assert!(router.wants_measurements());
    router.handle_timeout(Time::ZERO);
    router.handle_reply(AT(20), 0, Some(MS(200)));
    router.handle_measurement(AT(1000), &measured(1000, 0.0));
    assert_eq!((said(&mut router), router.predicted().len()), (vec![], 0));
    router.handle_measurement(AT(2000), &measured(2000, 1.0));
    assert_eq!(said(&mut router), [], "due at 2.5 s - 0.2 s");
    router.handle_timeout(AT(2299));
    assert_eq!(said(&mut router), []);
    router.handle_timeout(AT(2300));
    // Until when is not known: a second after the beginning.
    assert_eq!(said(&mut router), [down(0, 2500, 3500)]);
    router.handle_measurement(AT(4000), &measured(4000, 2.0));
    // The end at 4.3 s; less 20 ms and half of 1.8 s it is past: now.
    router.handle_timeout(AT(4000));
    assert_eq!(said(&mut router), [RouterMessage::GoingUp]);
    assert_eq!(router.predicted()[0].prediction.end, Some(AT(4300)));
}

/// An outage of which nobody predicts the end is over when the board says that the link is up; not before it
/// began.
#[test]
fn the_board_ends_an_outage_of_unknown_end() {
    let mut router = router(CONFIG, 1, ByPosition::default());
    router.handle_timeout(Time::ZERO);
    // The outage comes in 500 ms, less than this: it is announced at once.
    router.handle_reply(AT(20), 0, Some(MS(600)));
    router.handle_measurement(AT(2000), &measured(2000, 1.0));
    assert_eq!(said(&mut router), [down(0, 2500, 3500)]);
    router.handle_link_event(AT(2400), LinkEvent::LinkUp);
    assert_eq!(said(&mut router), [], "the link's return from an earlier silence");
    router.handle_link_event(AT(2600), LinkEvent::LinkDown);
    assert_eq!(said(&mut router), []);
    router.handle_link_event(AT(5000), LinkEvent::LinkUp);
    assert_eq!(said(&mut router), [RouterMessage::GoingUp]);
    router.handle_link_event(AT(6000), LinkEvent::LinkUp);
    assert_eq!(said(&mut router), [], "said once");
}

/// What is called off before it was announced is not announced.
#[test]
fn a_forecast_called_off_in_time_is_kept_quiet() {
    let mut router = router(CONFIG, 1, CallsOff::default());
    router.handle_timeout(Time::ZERO);
    // The announcement is due at 2.4 s.
    router.handle_reply(AT(20), 0, Some(MS(100)));
    router.handle_measurement(AT(2000), &measured(2000, 1.0));
    router.handle_measurement(AT(2100), &measured(2100, 2.0));
    router.handle_timeout(AT(9000));
    assert_eq!(said(&mut router), []);
    assert_eq!(router.predicted()[0].warned, None);
}

/// Predicts an outage in 500 ms, and calls it off.
#[derive(Debug, Default)]
struct CallsOff(Option<Forecast>);

impl Predictor for CallsOff {
    fn observe(&mut self, now: Time, measured: &Measurement) {
        let off = measured.position == 2.0;
        self.0 = Some(if off {
            Forecast::End { end: now }
        } else {
            Forecast::Outage { start: now + MS(500), end: None }
        });
    }
    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.0.take()
    }
}
