//! Which settings the transports refuse: each value is the last that is right, or the first that is wrong.

use cogtcp_endpoint::{Connection, Protocol};
use cogtcp_feedback::{AtpSettings, TfrcCrSettings, TfrcSettings, TpCrahnSettings};
use cogtcp_units::{Bytes, Check, Duration, Named};

/// The fields that are refused.
#[derive(Default)]
struct Refused(Vec<String>);

impl Check for Refused {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

fn refused(settings: &impl Named) -> Vec<String> {
    let mut found = Refused::default();
    settings.check(&mut found);
    found.0
}

const NONE: [&str; 0] = [];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// An IPv4 packet of 65,535 B without 20 B of IPv4, 8 of UDP and 25 of TFRC.
#[test]
fn a_segment_of_tfrc_fills_a_packet_at_most() {
    for (size, is_right) in [(0, false), (1, true), (65_482, true), (65_483, false)] {
        let segment_size = Some(Bytes::new(size));
        let expected: &[&str] = if is_right { &[] } else { &["segment_size"] };
        assert_eq!(refused(&TfrcSettings { segment_size, ..TfrcSettings::default() }), expected, "{size}");
        assert_eq!(refused(&TfrcCrSettings { segment_size, ..TfrcCrSettings::default() }), expected);
    }
    let wait = |wait_after_departure| TfrcCrSettings { wait_after_departure, ..TfrcCrSettings::default() };
    assert_eq!(refused(&wait(ms(3_600_000))), NONE);
    assert_eq!(refused(&wait(ms(3_600_001))), ["wait_after_departure"]);
    assert!(TfrcSettings::default().history_discounting && TfrcCrSettings::default().acks_in_pause);
    assert!(TfrcCrSettings::default().history_discounting);
    assert_eq!(TfrcCrSettings::default().wait_after_departure, ms(500));
}

#[test]
fn settings_of_atp_have_bounds() {
    let least = AtpSettings {
        epoch: ms(1),
        increase_divisor: 1.0,
        increase_threshold: 0.0,
        smoothing: 0.0,
        epochs_until_probe: 1,
    };
    let most = AtpSettings {
        epoch: ms(60_000),
        increase_divisor: 100.0,
        increase_threshold: 1.0,
        smoothing: 0.999,
        epochs_until_probe: 100,
    };
    assert_eq!((refused(&least), refused(&most)), (vec![], vec![]));
    let below = AtpSettings {
        epoch: Duration::from_nanos(999_999),
        increase_divisor: 0.999,
        increase_threshold: -0.001,
        smoothing: -0.001,
        epochs_until_probe: 0,
    };
    let above = AtpSettings {
        epoch: Duration::from_nanos(60_000_000_001),
        increase_divisor: 100.001,
        increase_threshold: 1.001,
        smoothing: 0.9991,
        epochs_until_probe: 101,
    };
    let all = ["epoch", "increase_divisor", "increase_threshold", "smoothing", "epochs_until_probe"];
    assert_eq!(
        (refused(&below), refused(&above)),
        (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec())
    );
    let usual = AtpSettings::default();
    assert_eq!((usual.epoch, usual.increase_divisor, usual.increase_threshold), (ms(1000), 5.0, 0.1));
    assert_eq!((usual.smoothing, usual.epochs_until_probe), (0.85, 3));
}

#[test]
fn settings_of_tp_crahn_have_bounds() {
    let least = TpCrahnSettings { utilisation: 0.1, min_rto: ms(1), longest_pause: ms(1) };
    let most = TpCrahnSettings { utilisation: 1.0, min_rto: ms(60_000), longest_pause: ms(600_000) };
    assert_eq!((refused(&least), refused(&most)), (vec![], vec![]));
    let short = Duration::from_nanos(999_999);
    let below = TpCrahnSettings { utilisation: 0.099, min_rto: short, longest_pause: short };
    let above = TpCrahnSettings { utilisation: 1.001, min_rto: ms(60_001), longest_pause: ms(600_001) };
    let all = ["utilisation", "min_rto", "longest_pause"];
    assert_eq!(refused(&below), all);
    assert_eq!(refused(&above), all);
    let usual = TpCrahnSettings::default();
    assert_eq!((usual.utilisation, usual.min_rto, usual.longest_pause), (0.8, ms(1000), ms(10_000)));
}

/// What a driver must know of each, and segments of a byte at least and a packet at most.
#[test]
fn transports_say_what_they_need() {
    let (tfrc, cognitive) = (TfrcSettings::default(), TfrcCrSettings::default());
    let (atp, crahn) = (AtpSettings::default(), TpCrahnSettings::default());
    let kinds: [&dyn Protocol; 4] = [&tfrc, &cognitive, &atp, &crahn];
    assert_eq!(kinds.map(Protocol::is_reliable), [false, false, true, true]);
    assert_eq!(kinds.map(Protocol::wants_stamps), [false, false, true, true]);
    assert_eq!(kinds.map(Protocol::hears_route), [false, false, false, true]);
    let built = |segment_size| {
        kinds.map(|kind| kind.build(Connection { segment_size, paths: 1, seed: 0 }).segment_size)
    };
    assert_eq!((built(0), built(700)), ([1; 4], [700; 4]));
    assert_eq!(built(1_000_000), [65_482, 65_482, 65_000, 65_000]);
}
