//! The bounds of settings: what is taken, and the next value beyond; and the settings that one leaves out.

use cogtcp_spectrum::logs::occupancy::Reading;
use cogtcp_spectrum::regulation::{CbrsRules, DfsRules, DpaAnswer, QuietPeriods, RegulationKind, TvwsRules};
use cogtcp_spectrum::{
    ChannelChoice, CycleConfig, DurationLaw, GateBounds, GateKind, LeoConfig, PuArrivals, SensingClock,
    SensingCycle,
};
use cogtcp_units::{Check, Decibel, Duration, Power, RandomStream, Rate};

#[derive(Default)]
struct Fields(Vec<String>);

impl Check for Fields {
    fn error(&mut self, field: &str, _: String, _: String) {
        self.0.push(field.to_owned());
    }
}

/// The fields that are wrong once `change` was made.
fn wrong<T: Default + RegulationKind>(change: impl Fn(&mut T)) -> Vec<String> {
    let mut rules = T::default();
    change(&mut rules);
    let mut fields = Fields::default();
    rules.check(&mut fields);
    fields.0
}

const NS: Duration = Duration::from_nanos(1);
const ZERO: Duration = Duration::ZERO;

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The settings that one leaves out: 47 CFR 96, KDB 905462 D02, 47 CFR 15.711 and IEEE 802.22.
#[test]
fn regulations_have_their_defaults() {
    let CbrsRules { heartbeat, transmit, stop, retry, answer, grant, esc, dpa, ready } = CbrsRules::default();
    assert_eq!((heartbeat, transmit, stop, retry), (s(60), s(240), s(1), s(60)));
    assert_eq!((answer, grant, esc, ready), (ms(200), s(86_400), ZERO, true));
    assert_eq!(dpa, DpaAnswer::Suspend);
    let DfsRules { availability_check, closing, channel_move, non_occupancy, detection, ready } =
        DfsRules::default();
    assert_eq!((availability_check, closing, channel_move), (s(60), ms(100), ms(500)));
    assert_eq!((non_occupancy, detection, ready), (s(1800), ZERO, true));
    let TvwsRules { check, grace, retry, answer, validity, notice, lead, ready } = TvwsRules::default();
    assert_eq!((check, grace, retry, answer), (s(3600), s(600), s(60), s(1)));
    assert_eq!((validity, notice, lead, ready), (s(86_400), s(7200), ms(100), true));
    let QuietPeriods { within, every, between, frame } = QuietPeriods::default();
    assert_eq!((within, every, between, frame), (ms(5), ms(160), ms(30), ms(10)));
}

/// A quiet period between frames of a second may be one of them; each span has a length.
#[test]
fn quiet_periods_fit_into_their_frames() {
    for (within, every, between, frame, fields) in [
        (s(1) - NS, s(2), s(2), s(1), vec![]),
        (s(1) + NS, s(2), s(2), s(2), vec!["frame", "within"]),
        (ms(5), s(2) + NS, ms(30), ms(10), vec!["every"]),
        (ms(5), ms(160), s(2) + ms(10), ms(10), vec!["between"]),
        (ms(5), ms(160), ZERO, ms(10), vec!["between"]),
        (ms(5), ZERO, ms(30), ms(10), vec!["every", "every"]),
        (ZERO, ms(160), ms(30), ms(10), vec!["within"]),
        (ms(5), ms(160), ms(30), ZERO, vec!["frame", "within"]),
    ] {
        let found = wrong::<QuietPeriods>(|it| {
            (it.within, it.every, it.between, it.frame) = (within, every, between, frame);
        });
        assert_eq!(found, fields);
    }
}

fn leo() -> LeoConfig {
    LeoConfig {
        period: s(15),
        start: None,
        outage: ms(100),
        delay: [ms(20), ms(40)],
        rate: None,
        spike: ZERO,
        first_edge: ms(140),
        last_edge: ms(75),
    }
}

#[test]
fn a_period_of_a_satellite_holds_its_parts() {
    let wrong = |change: &dyn Fn(&mut LeoConfig)| {
        let mut config = leo();
        change(&mut config);
        let mut fields = Fields::default();
        config.check(&GateBounds { duration: s(1000), delay: s(10) }, &mut fields);
        fields.0
    };
    assert!(wrong(&|_| ()).is_empty());
    // The longer of outage and first edge, then the last edge: less than a period.
    for (outage, first, period, right) in [
        (ms(100), ms(140), ms(215), false),
        (ms(100), ms(140), ms(215) + NS, true),
        (ms(200), ms(140), ms(275), false),
        (ms(200), ms(140), ms(275) + NS, true),
    ] {
        let fields = wrong(&|it| (it.outage, it.first_edge, it.period) = (outage, first, period));
        assert_eq!(fields.is_empty(), right, "{outage} {first} {period}");
    }
    assert!(wrong(&|it| it.period = s(1000)).is_empty());
    assert_eq!(wrong(&|it| it.period = s(1000) + NS), ["period"]);
    assert!(wrong(&|it| it.start = Some(s(1000))).is_empty());
    assert_eq!(wrong(&|it| it.start = Some(s(1000) + NS)), ["start"]);
    assert!(wrong(&|it| it.outage = ZERO).is_empty());
    assert!(wrong(&|it| it.delay = [ZERO, s(10)]).is_empty() && wrong(&|it| it.delay = [s(1); 2]).is_empty());
    assert_eq!(wrong(&|it| it.delay = [ZERO, s(10) + NS]), ["delay.1"]);
    assert_eq!(wrong(&|it| it.delay = [s(2), s(1)]), ["delay"]);
    assert!(wrong(&|it| it.spike = s(10)).is_empty());
    assert_eq!(wrong(&|it| it.spike = s(10) + NS), ["spike"]);
    let rate = Rate::from_bits_per_second;
    assert!(wrong(&|it| it.rate = Some([rate(1), rate(1)])).is_empty());
    assert_eq!(wrong(&|it| it.rate = Some([rate(0), rate(1)])), ["rate.0"]);
    assert_eq!(wrong(&|it| it.rate = Some([rate(2), rate(1)])), ["rate"]);
    assert_eq!(wrong(&|it| it.rate = Some([rate(1), rate(20_000_000_000_000)])), ["rate.1"]);
    let config = LeoConfig { rate: Some([rate(1), rate(2)]), ..leo() };
    assert_eq!((config.rates(), config.interval()), (vec![rate(1), rate(2)], ("period", s(15))));
    assert!(leo().rates().is_empty() && leo().is_random());
}

#[test]
fn laws_of_durations_are_bounded_and_have_their_moments() {
    let wrong = |law: DurationLaw| {
        let mut fields = Fields::default();
        law.check("law", s(9), &mut fields);
        fields.0
    };
    for (law, fields) in [
        (DurationLaw::Fixed(ZERO), vec![]),
        (DurationLaw::Fixed(s(9)), vec![]),
        (DurationLaw::Fixed(s(9) + NS), vec!["law"]),
        (DurationLaw::Exponential(ZERO), vec!["law.exponential"]),
        (DurationLaw::Exponential(s(9)), vec![]),
        (DurationLaw::Exponential(s(9) + NS), vec!["law.exponential"]),
        (DurationLaw::Uniform(ZERO, NS), vec![]),
        (DurationLaw::Uniform(ZERO, ZERO), vec!["law.uniform.1"]),
        (DurationLaw::Uniform(s(3), s(3)), vec![]),
        (DurationLaw::Uniform(s(4), s(3)), vec!["law.uniform"]),
        (DurationLaw::Uniform(s(1), s(9) + NS), vec!["law.uniform.1"]),
    ] {
        assert_eq!(wrong(law), fields, "{law:?}");
    }
    let laws = [DurationLaw::Fixed(s(2)), DurationLaw::Exponential(s(2)), DurationLaw::Uniform(s(5), s(1))];
    assert_eq!(laws.map(|law| law.mean()), [s(2), s(2), s(3)]);
    assert_eq!(laws.map(|law| law.longest()), [Some(s(2)), None, Some(s(5))]);
    let mut stream = RandomStream::new(1, "law", 0);
    assert!((0..99).all(|_| (s(1)..=s(5)).contains(&laws[2].draw(&mut stream))));
}

#[test]
fn a_cycle_has_spans_and_rates() {
    let fixed = DurationLaw::Fixed;
    let config = || CycleConfig {
        sensing: Some(SensingCycle {
            off: fixed(s(1)),
            on: fixed(s(2)),
            start: None,
            clock: SensingClock::Keep,
        }),
        pu: Some(PuArrivals { interarrival: s(3), switching: ZERO }),
        ..CycleConfig::default()
    };
    let wrong = |change: &dyn Fn(&mut CycleConfig)| {
        let mut config = config();
        change(&mut config);
        let mut fields = Fields::default();
        config.check(s(9), &mut fields);
        fields.0
    };
    let sensing = |change: fn(&mut SensingCycle)| wrong(&|it| change(it.sensing.as_mut().unwrap()));
    let pu = |change: fn(&mut PuArrivals)| wrong(&|it| change(it.pu.as_mut().unwrap()));
    assert!(wrong(&|_| ()).is_empty());
    assert_eq!(sensing(|it| it.off = DurationLaw::Fixed(ZERO)), ["sensing.off"]);
    assert_eq!(sensing(|it| it.on = DurationLaw::Fixed(ZERO)), ["sensing.on"]);
    assert_eq!(sensing(|it| it.on = DurationLaw::Exponential(ZERO)), ["sensing.on.exponential"]);
    assert!(sensing(|it| it.start = Some(s(9))).is_empty() && sensing(|it| it.start = Some(ZERO)).is_empty());
    assert_eq!(sensing(|it| it.start = Some(s(9) + NS)), ["sensing.start"]);
    assert_eq!(pu(|it| it.interarrival = ZERO), ["pu.interarrival"]);
    assert_eq!(pu(|it| it.interarrival = s(9) + NS), ["pu.interarrival"]);
    assert_eq!(pu(|it| it.switching = s(9) + NS), ["pu.switching"]);
    assert!(wrong(&|it| it.dwell = s(9)).is_empty());
    assert_eq!(wrong(&|it| it.dwell = s(9) + NS), ["dwell"]);
    let rate = Rate::from_bits_per_second;
    let channel = |choice: ChannelChoice| wrong(&|it| it.channel = choice.clone());
    assert!(channel(ChannelChoice::Range([rate(1), rate(1)])).is_empty());
    assert_eq!(channel(ChannelChoice::Range([rate(2), rate(1)])), ["channel.range"]);
    assert_eq!(channel(ChannelChoice::Range([rate(0), rate(1)])), ["channel.range.0"]);
    assert_eq!(channel(ChannelChoice::Set(vec![])), ["channel.set"]);
    assert_eq!(channel(ChannelChoice::Set(vec![rate(1), rate(0)])), ["channel.set.1"]);
}

#[test]
fn a_reading_of_samples_is_bounded() {
    let wrong = |threshold: Option<Power>, hysteresis: f64, minimum: Duration| {
        let mut fields = Fields::default();
        let hysteresis = Decibel(hysteresis);
        Reading { threshold, hysteresis, minimum }.check(&mut fields);
        fields.0
    };
    let some = Some(Power::from_dbm(-90.0));
    assert!(wrong(some, 100.0, s(3600)).is_empty() && wrong(None, 0.0, ZERO).is_empty());
    assert_eq!(wrong(None, 0.1, ZERO), ["hysteresis"]);
    assert_eq!(
        (wrong(some, 100.1, ZERO), wrong(some, -0.1, ZERO)),
        (vec!["hysteresis".into()], vec!["hysteresis".into()])
    );
    assert_eq!(wrong(some, 0.0, s(3600) + NS), ["minimum"]);
}
