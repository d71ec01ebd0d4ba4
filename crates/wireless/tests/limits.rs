//! The bounds of settings: what is taken, and the next value beyond.

use cogtcp_units::{Bytes, Check, Decibel, Duration, Frequency, Length, Rate};
use cogtcp_wireless::{
    Arf, Dcf, Fading, LogDistance, Minstrel, Nakagami, PathLoss, Profile, Propagation, RateControl,
    RetryLimit, Shadowing, TwoRay,
};

#[derive(Default)]
struct Fields(Vec<String>);

impl Check for Fields {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

fn fields(check: impl Fn(&mut Fields)) -> Vec<String> {
    let mut fields = Fields::default();
    check(&mut fields);
    fields.0
}

const SECOND: Duration = Duration::from_secs(1);
const NS: Duration = Duration::from_nanos(1);

#[test]
fn the_dcf_is_bounded() {
    let wrong = |change: &dyn Fn(&mut Dcf)| {
        let mut dcf = Dcf::default();
        change(&mut dcf);
        fields(|found| dcf.check(found))
    };
    assert!(wrong(&|_| ()).is_empty());
    for (field, set, zero) in [
        ("slot", (|it, span| it.slot = span) as fn(&mut Dcf, Duration), false),
        ("sifs", |it, span| it.sifs = span, false),
        ("preamble", |it, span| it.preamble = span, true),
    ] {
        assert_eq!(wrong(&|it| set(it, Duration::ZERO)).is_empty(), zero, "{field}");
        assert!(wrong(&|it| set(it, SECOND)).is_empty());
        assert_eq!(wrong(&|it| set(it, SECOND + NS)), [field]);
    }
    assert_eq!(wrong(&|it| it.basic_rate = Rate::from_bits_per_second(0)), ["basic_rate"]);
    for (low, high, expected) in [
        (0, 1, vec![]),
        (0, 0, vec!["cw_max"]),
        (1, 0, vec!["cw_max"]),
        (1_000_000, 1_000_000, vec![]),
        (31, 1_000_001, vec!["cw_max"]),
        (32, 31, vec!["cw_min"]),
        (31, 31, vec![]),
    ] {
        assert_eq!(wrong(&|it| (it.cw_min, it.cw_max) = (low, high)), expected, "{low} {high}");
    }
    for (bytes, expected) in [(0, vec![]), (10_000, vec![]), (10_001, vec!["header"])] {
        assert_eq!(wrong(&|it| it.header = Some(Bytes::new(bytes))), expected, "{bytes}");
    }
}

/// 802.11-2007 clause 15.2 and table 7-1: DSSS, RTS before every frame. Headers are 24 + 4 bytes, with a fourth
/// address in ns-2, with LLC and SNAP in ns-3.
#[test]
fn the_dcf_has_the_constants_of_its_profile() {
    let dcf = Dcf::default();
    let micros = Duration::from_micros;
    assert_eq!((dcf.slot, dcf.sifs, dcf.preamble), (micros(20), micros(10), micros(192)));
    assert_eq!((dcf.cw_min, dcf.cw_max, dcf.rts_threshold), (31, 1023, Bytes::new(0)));
    assert_eq!(
        (dcf.short_retry_limit, dcf.long_retries(), dcf.header_bytes()),
        (RetryLimit::Times(7), 4, 28)
    );
    assert_eq!(dcf.basic_rate, Rate::from_bits_per_second(1_000_000));
    for (profile, header, retries) in
        [(Profile::Standard, 28, 4), (Profile::Ns2, 34, 4), (Profile::Ns3, 36, 7)]
    {
        let under = dcf.clone().under(profile);
        assert_eq!((under.header_bytes(), under.long_retries()), (header, retries), "{profile:?}");
        let set =
            Dcf { header: Some(Bytes::new(5)), long_retry_limit: Some(RetryLimit::Infinite), ..dcf.clone() };
        let under = set.under(profile);
        assert_eq!((under.header_bytes(), under.long_retries()), (5, u32::MAX));
    }
}

#[test]
fn propagation_is_bounded() {
    let plain = Propagation::new(PathLoss::NS2_TWO_RAY);
    let wrong = |propagation: Propagation| fields(|found| propagation.check(found));
    assert!(wrong(plain).is_empty());
    for (deviation, right) in [(0.0, true), (20.0, true), (-0.1, false), (20.1, false)] {
        let shadowing = Some(Shadowing { deviation: Decibel(deviation), per_pair: true });
        let found = wrong(Propagation { shadowing, ..plain });
        assert_eq!(found, if right { vec![] } else { vec!["shadowing.deviation"] }, "{deviation}");
    }
    for (m, right) in [(0.5, true), (100.0, true), (0.49, false), (100.1, false), (f64::NAN, false)] {
        let found = wrong(Propagation { fading: Fading::Nakagami(Nakagami { m }), ..plain });
        assert_eq!(found, if right { vec![] } else { vec!["fading.nakagami.m"] }, "{m}");
    }
    for (hertz, right) in [(1e3, true), (1e12, true), (999.0, false), (1.1e12, false)] {
        let frequency = Frequency(hertz);
        for path_loss in [
            PathLoss::FreeSpace(frequency),
            PathLoss::TwoRay(TwoRay { frequency, ..TwoRay::default() }),
            PathLoss::LogDistance(LogDistance { frequency, ..LogDistance::default() }),
        ] {
            let found = wrong(Propagation { path_loss, ..plain });
            assert_eq!(found, if right { vec![] } else { vec!["path_loss"] }, "{path_loss:?}");
        }
    }
    for (exponent, right) in [(1.0, true), (10.0, true), (0.9, false), (10.1, false)] {
        let log = PathLoss::LogDistance(LogDistance { exponent, ..LogDistance::default() });
        for (path_loss, field) in
            [(PathLoss::Paper(exponent), "path_loss.paper"), (log, "path_loss.log_distance.exponent")]
        {
            let found = wrong(Propagation { path_loss, ..plain });
            assert_eq!(found, if right { vec![] } else { vec![field] }, "{path_loss:?}");
        }
    }
    let TwoRay { frequency, height } = TwoRay::default();
    assert_eq!((frequency, height), (Frequency(914e6), Length(1.5)));
    let LogDistance { frequency, exponent, reference } = LogDistance::default();
    assert_eq!((frequency, exponent, reference), (Frequency(914e6), 3.0, Length(1.0)));
}

/// A reference of 10 m with exponent 4: free space up to there, then a sixteenth at twice the distance.
#[test]
fn log_distance_begins_at_its_reference() {
    let free = PathLoss::FreeSpace(Frequency(914e6));
    let log = PathLoss::LogDistance(LogDistance {
        exponent: 4.0,
        reference: Length(10.0),
        ..LogDistance::default()
    });
    for distance in [1.0, 5.0, 10.0] {
        assert!((log.gain(distance) / free.gain(distance) - 1.0).abs() < 1e-12, "{distance}");
    }
    assert!((log.gain(20.0) * 16.0 / free.gain(10.0) - 1.0).abs() < 1e-12);
    assert!((PathLoss::Paper(3.0).gain(10.0) - 1e-3).abs() < 1e-15);
    // Where so much is left everywhere the search ends.
    assert!(log.range(0.0) >= 1e9);
    assert!(PathLoss::Paper(2.0).range(0.01) - 10.0 < 2e-3 && PathLoss::Paper(2.0).range(0.01) >= 10.0);
    // Nearer than a metre nothing is louder.
    assert!(PathLoss::Paper(2.0).range(2.0) < 1e-2);
}

#[test]
fn rate_adaptation_is_bounded() {
    let wrong = |control: RateControl| fields(|found| control.check(SECOND, found));
    let arf = |up, down| wrong(RateControl::Arf(Arf { up, down }));
    assert!(arf(1, 1000).is_empty() && arf(1000, 1).is_empty());
    assert_eq!((arf(0, 1), arf(1001, 1)), (vec!["arf.up".into()], vec!["arf.up".into()]));
    assert_eq!((arf(1, 0), arf(1, 1001)), (vec!["arf.down".into()], vec!["arf.down".into()]));
    let minstrel = |interval, memory, lookaround| {
        wrong(RateControl::Minstrel(Minstrel { interval, memory, lookaround }))
    };
    assert!(minstrel(SECOND, 0.0, 1.0).is_empty() && minstrel(NS, 1.0, 0.0).is_empty());
    assert_eq!(minstrel(Duration::ZERO, 0.0, 0.0), ["minstrel.interval"]);
    assert_eq!(minstrel(SECOND + NS, 0.0, 0.0), ["minstrel.interval"]);
    assert_eq!(minstrel(NS, 1.1, 0.0), ["minstrel.memory"]);
    assert_eq!(minstrel(NS, 0.0, -0.1), ["minstrel.lookaround"]);
    assert_eq!((Arf::default().up, Arf::default().down), (10, 2));
    let Minstrel { interval, memory, lookaround } = Minstrel::default();
    assert_eq!((interval, memory, lookaround), (Duration::from_millis(100), 0.75, 0.1));
}
