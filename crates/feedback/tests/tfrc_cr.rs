//! TFRC-CR's rules, each in a dialogue between its ends and a database.

use crate::path::{Link, Path, seconds};
use cogtcp_endpoint::{Connection, Datagram, Endpoint, Pair, Protocol, SpectrumDatabase, Supply};
use cogtcp_feedback::{TfrcCrSender, TfrcCrSettings, TfrcReceiver, TfrcSender};
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

/// A primary user that is there from one time to another.
#[derive(Debug)]
struct User(f64, f64);

impl SpectrumDatabase for User {
    fn departure(&self, now: Time, span: Duration) -> Option<Time> {
        let (from, until) = (seconds(self.0), seconds(self.1));
        (from < now + span && now < until).then_some(until)
    }
}

/// A path of 100 ms that loses what it says.
struct Lossy(fn(f64, u64) -> bool);

impl Link for Lossy {
    const ONE_WAY: Duration = Duration::from_millis(50);

    fn carry(&mut self, now: Time, number: u64, _: &Datagram) -> Option<(Time, bool)> {
        (!(self.0)(now.as_secs_f64(), number)).then_some((now, false))
    }
}

type Net<S> = Path<S, TfrcReceiver, Lossy>;

fn saturated<S: Endpoint<Packet = Datagram>>(
    mut sender: S,
    user: Option<User>,
    lose: fn(f64, u64) -> bool,
) -> Net<S> {
    if let Some(user) = user {
        let database: Arc<dyn SpectrumDatabase> = Arc::new(user);
        sender.use_database(&database);
    }
    Path::saturated(sender, TfrcReceiver::new(1000, true), Lossy(lose))
}

fn count<S: Endpoint<Packet = Datagram>>(path: &Net<S>, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    path.sender.count(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

fn tfrc_cr(settings: TfrcCrSettings) -> TfrcCrSender {
    TfrcCrSender::new(1000, &settings)
}

/// Every hundredth packet, and all from 10 s to 20 s.
fn one_percent_and_a_silence(at: f64, number: u64) -> bool {
    number % 100 == 50 || (10.0..20.0).contains(&at)
}

/// The path is silent and the database knows of no primary user: the rate halves at each expiry, as TFRC's.
#[test]
fn without_a_primary_user_silence_is_congestion() {
    let mut path =
        saturated(tfrc_cr(TfrcCrSettings::default()), Some(User(90.0, 91.0)), one_percent_and_a_silence);
    path.run(9.9);
    let before = path.sender.allowed_rate();
    path.run(19.9);
    assert!(!path.sender.is_paused() && path.sender.allowed_rate() < before / 8.0);
    assert_eq!((count(&path, "pauses"), count(&path, "restarts")), (0.0, 0.0));
    assert!(
        count(&path, "database_queries") >= 3.0,
        "each expiry asks: {}",
        count(&path, "database_queries")
    );
}

/// The sender asks only when feedback stays away: on a clear path never.
#[test]
fn the_database_is_asked_only_when_feedback_stays_away() {
    let mut path =
        saturated(tfrc_cr(TfrcCrSettings::default()), Some(User(0.0, 60.0)), |_, number| number % 100 == 50);
    path.run(50.0);
    assert_eq!(count(&path, "database_queries"), 0.0);
}

/// A primary user stays from 10 s to 20 s, and the path is silent as long: two looks, then one poll per A + 4
/// sigma until 0.5 s after it has left; then a restart at 300 B/s, whose answer brings the rate of an initial
/// window.
#[test]
fn a_primary_user_pauses_the_sender() {
    let mut path =
        saturated(tfrc_cr(TfrcCrSettings::default()), Some(User(10.0, 20.0)), one_percent_and_a_silence);
    // The last feedback arrives at 10.1 s, the nofeedback timer expires 4 R later, the second look is 2 A later.
    path.run(10.45);
    assert_eq!((count(&path, "database_queries"), count(&path, "pauses")), (0.0, 0.0));
    path.run(10.6);
    assert_eq!((count(&path, "database_queries"), count(&path, "pauses")), (1.0, 0.0));
    path.run(10.75);
    assert_eq!((count(&path, "database_queries"), count(&path, "pauses")), (2.0, 1.0));
    path.run(12.0);
    assert!(path.sender.is_paused());
    let rate = path.sender.allowed_rate();
    // A is 0.1 s and sigma next to nothing: ten packets a second, whatever expires.
    assert!((rate - 10_000.0).abs() < 500.0, "{rate}");
    path.run(20.45);
    assert!(
        path.sender.is_paused() && (75..=105).contains(&path.packets(12.0, 20.0)),
        "{}",
        path.packets(12.0, 20.0)
    );
    path.run(20.55);
    assert!(!path.sender.is_paused());
    assert_eq!((count(&path, "restarts"), path.sender.allowed_rate()), (1.0, 300.0));
    assert_eq!(path.packets(20.499, 20.55), 1, "the first packet of a restart leaves at once");
    path.run(20.61);
    // min(4 s, max(2 s, 4380 B)) a round-trip time.
    assert!((path.sender.allowed_rate() - 40_000.0).abs() < 1.0, "{}", path.sender.allowed_rate());
    path.run(60.0);
    assert!(path.sender.allowed_rate() > 80_000.0, "{}", path.sender.allowed_rate());
}

/// Feedback between the two looks cancels the second.
#[test]
fn feedback_cancels_the_second_look() {
    // The database has a primary user all the time; the path is silent for just longer than the nofeedback timer.
    let short = |at: f64, number: u64| number % 100 == 50 || (10.0..10.40).contains(&at);
    let mut path = saturated(tfrc_cr(TfrcCrSettings::default()), Some(User(0.0, 90.0)), short);
    path.run(30.0);
    assert_eq!((count(&path, "database_queries"), count(&path, "pauses")), (1.0, 0.0));
}

/// The path is back at 12 s while the primary user stays until 20 s: nodes went round it. Acknowledgements
/// kept coming, so there is no restart; the released code, which counts none, restarts.
#[test]
fn acknowledgements_in_a_pause_save_the_restart() {
    let round = |at: f64, number: u64| number % 100 == 50 || (10.0..11.0).contains(&at);
    for (acks_in_pause, restarts) in [(true, 0.0), (false, 1.0)] {
        let settings = TfrcCrSettings { acks_in_pause, ..TfrcCrSettings::default() };
        let mut path = saturated(tfrc_cr(settings), Some(User(10.0, 20.0)), round);
        path.run(20.4);
        assert!(path.sender.is_paused());
        // While paused, acknowledgements leave the rate alone.
        assert!((path.sender.allowed_rate() - 10_000.0).abs() < 500.0);
        path.run(20.6);
        assert_eq!((count(&path, "pauses"), count(&path, "restarts")), (1.0, restarts));
    }
}

/// A database whose primary user never leaves does not end the polls.
#[test]
fn a_primary_user_that_stays_is_polled() {
    let mut path =
        saturated(tfrc_cr(TfrcCrSettings::default()), Some(User(10.0, f64::from(u32::MAX))), |at, number| {
            number % 100 == 50 || at >= 10.0
        });
    path.run(200.0);
    assert!(path.packets(190.0, 200.0) >= 90);
}

/// TFRC may send twice what the receiver got; TFRC-CR takes the equation's rate at once. After a long time of
/// loss the loss ends: the rate of TFRC-CR is the equation's, whatever was received.
#[test]
fn the_rate_is_the_equations_at_once() {
    // Most packets are lost up to 20 s, then one in a thousand.
    let lose = |at: f64, number: u64| if at < 20.0 { !number.is_multiple_of(4) } else { number % 1000 == 5 };
    let mut own = saturated(tfrc_cr(TfrcCrSettings::default()), None, lose);
    let mut base = saturated(TfrcSender::new(1000), None, lose);
    let shown = |sender: &dyn Endpoint<Packet = Datagram>, wanted: &str| {
        let mut found = f64::NAN;
        sender.observe(&mut |name, value| {
            if name == wanted {
                found = value;
            }
        });
        found
    };
    let mut capped = 0;
    for step in 200..400 {
        own.run(f64::from(step) * 0.1);
        base.run(f64::from(step) * 0.1);
        let (rate, equation) =
            (shown(&own.sender, "allowed_rate_bps"), shown(&own.sender, "equation_rate_bps"));
        assert!(rate <= equation * 1.0001);
        capped += u32::from(
            shown(&base.sender, "allowed_rate_bps") < 0.9 * shown(&base.sender, "equation_rate_bps"),
        );
    }
    assert!(capped > 0, "the case never limits TFRC");
    let (rate, equation) = (shown(&own.sender, "allowed_rate_bps"), shown(&own.sender, "equation_rate_bps"));
    assert!((rate / equation - 1.0).abs() < 1e-6, "{rate} {equation}");
}

/// All that was supplied before the close is sent, then no timer runs.
#[test]
fn the_settings_build_both_ends() {
    let connection = Connection { segment_size: 500, paths: 1, seed: 0 };
    let Pair { mut sender, segment_size, .. } = TfrcCrSettings::default().build(connection);
    assert_eq!(segment_size, 500);
    sender.supply(Time::ZERO, Supply::Bytes(700));
    sender.open(Time::ZERO);
    sender.close(Time::ZERO);
    let mut now = Time::ZERO;
    let mut data = 0;
    for _ in 0..100 {
        while let Some(sent) = sender.poll_transmit(now) {
            data += sent.data;
        }
        now = sender.poll_timeout();
        if now == Time::MAX {
            break;
        }
        sender.handle_timeout(now);
    }
    assert_eq!((data, now), (700, Time::MAX));
}
