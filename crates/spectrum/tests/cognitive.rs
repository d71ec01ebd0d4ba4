//! The CR user: the paper's pseudocode case by case, its properties, and its statistics against closed forms.

use cogtcp_spectrum::activity::{ActivityLaw, PuSpec};
use cogtcp_spectrum::air::{Air, ReceiverModel, SnrModel};
use cogtcp_spectrum::detector::{
    self, Cooperative, Detector, DetectorConfig, DetectorContext, FixedDetector, FixedErrors, FusionRule,
    MapDetector, SensingWindow, Simplified,
};
use cogtcp_spectrum::policy::{BestRate, PolicyConfig};
use cogtcp_spectrum::propagation::Position;
use cogtcp_spectrum::{
    Channel, ChannelId, ChannelTable, CognitiveConfig, CognitiveConfigError, CognitiveRadio, Intervals,
    LinkEvent, OnInterval, Phase, PrimaryUser, Protection, PuActivity, Radio, Reach, Verdict,
};
use cogtcp_units::{Decibel, Duration, Frequency, Power, Probability, RandomStream, Rate, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MS: fn(u64) -> Duration = Duration::from_millis;
const AT: fn(u64) -> Time = Time::from_millis;

/// Reports what the script says, sensing by sensing; nothing once it is over.
#[derive(Debug)]
struct Scripted {
    reports: Vec<bool>,
    next: AtomicUsize,
}

impl Detector for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn report_probability(&self, _: &SensingWindow) -> f64 {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        f64::from(u8::from(self.reports.get(index).copied().unwrap_or(false)))
    }
}

/// A PU heard everywhere on `band`, ON in these intervals of milliseconds.
fn pu(band: u32, on: &[(u64, u64)]) -> PrimaryUser {
    let on = on.iter().map(|(from, until)| OnInterval { arrival: AT(*from), departure: AT(*until) });
    let activity = Intervals::new(on.collect()).unwrap();
    PrimaryUser {
        id: band,
        position: Position::default(),
        band,
        reach: Reach::Range(f64::INFINITY),
        activity,
    }
}

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// `bands` bands of one channel; channel i has i + 1 Mbit/s.
fn air(bands: u32, users: Vec<PrimaryUser>) -> Arc<Air> {
    let channels = (0..bands).map(|i| Channel::clean(mbit(u64::from(i) + 1))).collect();
    Arc::new(Air::new(PuActivity { users }, ChannelTable::new(bands, 1, channels, None).unwrap()))
}

/// t_s 100 ms, T_p 1 s, switching 10 ms.
fn config() -> CognitiveConfig {
    CognitiveConfig {
        sensing_time: MS(100),
        transmission_time: MS(1000),
        switching_delay: MS(10),
        ..CognitiveConfig::default()
    }
}

fn build(config: &DetectorConfig) -> Box<dyn Detector> {
    config.kind().build(&DetectorContext::default()).unwrap()
}

fn map(bandwidth: f64, snr: f64, p_on: f64) -> DetectorConfig {
    let p_on = Some(Probability::new(p_on).unwrap());
    DetectorConfig::Map(MapDetector { snr: Decibel(snr), bandwidth: Frequency(bandwidth), p_on })
}

fn neyman_pearson(sampling_rate: f64, false_alarm: f64) -> DetectorConfig {
    let false_alarm = Probability::new(false_alarm).unwrap();
    let (snr, sampling_rate) = (Decibel(-20.0), Frequency(sampling_rate));
    DetectorConfig::NeymanPearson(detector::NeymanPearson { snr, sampling_rate, false_alarm })
}

fn simplified(bandwidth: f64, snr: f64) -> DetectorConfig {
    DetectorConfig::Simplified(Simplified { snr: Decibel(snr), bandwidth: Frequency(bandwidth) })
}

fn radio(
    config: CognitiveConfig,
    air: &Arc<Air>,
    detector: impl Detector + 'static,
    policy: PolicyConfig,
    seed: u64,
) -> CognitiveRadio {
    CognitiveRadio::new(config, Arc::clone(air), Box::new(detector), policy.kind().build(), seed, "cr")
        .unwrap()
}

/// Drives the radio to `end` as a simulator does; every event with its time.
fn play(radio: &mut CognitiveRadio, end: Time) -> Vec<(Time, LinkEvent)> {
    let mut log = Vec::new();
    while radio.next_change() <= end {
        let now = radio.next_change();
        radio.advance(now);
        assert!(radio.next_change() > now, "the next change must lie ahead: {now:?}");
        while let Some((at, event)) = radio.poll_event() {
            assert_eq!(at, now, "an event of a punctual driver happens now");
            log.push((at, event));
        }
    }
    log
}

/// One event as a word: "100 clear".
fn word((at, event): &(Time, LinkEvent)) -> String {
    let what = match event {
        LinkEvent::SensingStart { .. } => "sense".to_string(),
        LinkEvent::SensingEnd { verdict: Verdict::Clear } => "clear".to_string(),
        LinkEvent::SensingEnd { verdict: Verdict::Detected } => "detected".to_string(),
        LinkEvent::SensingEnd { verdict: Verdict::Missed } => "missed".to_string(),
        LinkEvent::SensingEnd { verdict: Verdict::FalseAlarm } => "alarm".to_string(),
        LinkEvent::PuArrival { .. } => "pu".to_string(),
        LinkEvent::SwitchingStart { .. } => "switch".to_string(),
        LinkEvent::SwitchingEnd => "tuned".to_string(),
        LinkEvent::Handoff { from, to, rate } => {
            format!("handoff {}>{} at {}M", from.0, to.0, rate.unwrap().bits_per_second() / 1_000_000)
        }
        _ => {
            unreachable!("a CR user has no base stations")
        }
    };
    format!("{} {what}", at.as_nanos() / 1_000_000)
}

/// A report is about the channel that was sensed, also where the radio senses the next one in the same call:
/// after a switch that takes no time, or where the call comes late.
#[test]
fn a_report_belongs_to_the_channel_that_was_sensed() {
    for (switching, call) in [(0, 100), (10, 115)] {
        let air = air(2, vec![pu(1, &[(0, 10_000)])]);
        let config = CognitiveConfig { switching_delay: MS(switching), ..config() };
        let mut radio = radio(config, &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 1);
        radio.advance(Time::ZERO);
        radio.advance(AT(call));
        assert!(radio.phase() == Phase::Sensing && radio.channel() == ChannelId(1), "it senses the next one");
        assert!(radio.has_reported());
        assert_eq!(radio.sensed(), ChannelId(0), "after a switch of {switching} ms");
        radio.advance(AT(300));
        assert!(!radio.has_reported());
        assert_eq!(radio.sensed(), ChannelId(1));
    }
}

/// The pseudocode of section 4.3 over three channels, one case for each way through it.
#[test]
fn the_pseudocode_case_by_case() {
    const ALWAYS: &[(u64, u64)] = &[(0, 100_000)];
    struct Case {
        name: &'static str,
        start: u32,
        users: Vec<PrimaryUser>,
        reports: &'static [bool],
        end: u64,
        expected: &'static str,
    }
    let cases = [
        Case {
            name: "1, 2 no (no PU, no false alarm), 7 no, 10, 11, 1",
            start: 0,
            users: vec![],
            reports: &[],
            end: 1200,
            expected: "0 sense, 100 clear, 1100 sense, 1200 clear",
        },
        Case {
            name: "2 yes (PU and Pd), 3 to 6, 1, 2 no, 7 yes, 8 to 11",
            start: 0,
            users: vec![pu(1, ALWAYS)],
            reports: &[true],
            end: 1210,
            expected: "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 clear, \
                       210 handoff 0>1 at 2M, 1210 sense",
        },
        Case {
            name: "2 no (PU, missed): transmits over the PU",
            start: 0,
            users: vec![pu(1, ALWAYS)],
            reports: &[false, true],
            end: 1200,
            expected: "0 sense, 0 pu, 100 missed, 1100 sense, 1200 detected, 1200 switch",
        },
        Case {
            name: "2 yes (no PU, false alarm): leaves a free channel",
            start: 0,
            users: vec![],
            reports: &[true],
            end: 300,
            expected: "0 sense, 100 alarm, 100 switch, 110 tuned, 110 sense, 210 clear, 210 handoff 0>1 at 2M",
        },
        Case {
            name: "6 twice: one notification for two switches",
            start: 0,
            users: vec![pu(1, ALWAYS), pu(2, ALWAYS)],
            reports: &[true, true],
            end: 400,
            expected: "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 detected, 210 switch, \
                       220 tuned, 220 sense, 320 clear, 320 handoff 0>2 at 3M",
        },
        Case {
            name: "3: modulo B n",
            start: 2,
            users: vec![pu(3, ALWAYS)],
            reports: &[true],
            end: 300,
            expected: "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 clear, \
                       210 handoff 2>0 at 1M",
        },
        Case {
            name: "6 three times: back on the old channel it notifies too",
            start: 0,
            users: vec![pu(1, &[(0, 50)]), pu(2, ALWAYS), pu(3, ALWAYS)],
            reports: &[true, true, true],
            end: 500,
            expected: "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 detected, 210 switch, \
                       220 tuned, 220 sense, 320 detected, 320 switch, 330 tuned, 330 sense, 430 clear, \
                       430 handoff 0>0 at 1M",
        },
        Case {
            name: "1: a burst strictly inside the window is a PU, one that ends as it begins is none",
            start: 0,
            users: vec![pu(1, &[(40, 60), (1050, 1100)])],
            reports: &[false, false],
            end: 1200,
            expected: "0 sense, 40 pu, 100 missed, 1050 pu, 1100 sense, 1200 clear",
        },
        Case {
            name: "4: between two channels it meets no PU",
            start: 0,
            users: vec![pu(1, &[(0, 50), (105, 106)]), pu(2, &[(107, 108)])],
            reports: &[true],
            end: 300,
            expected: "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 clear, \
                       210 handoff 0>1 at 2M",
        },
        Case {
            name: "11: a PU during transmission is noticed only after T_p",
            start: 0,
            users: vec![pu(1, &[(500, 1150)])],
            reports: &[false, true],
            end: 1200,
            expected: "0 sense, 100 clear, 500 pu, 1100 sense, 1200 detected, 1200 switch",
        },
    ];
    for case in cases {
        let air = air(3, case.users);
        let detector = Scripted { reports: case.reports.to_vec(), next: AtomicUsize::new(0) };
        let config = CognitiveConfig { channel: ChannelId(case.start), ..config() };
        let mut radio = radio(config, &air, detector, PolicyConfig::RoundRobin, 1);
        let log = play(&mut radio, AT(case.end));
        let words: Vec<String> = log.iter().map(word).collect();
        assert_eq!(words.join(", "), case.expected, "{}", case.name);
    }
}

#[test]
fn channel_parameters_are_loaded_when_the_channel_is_found_free_and_not_before() {
    let air = air(2, vec![pu(1, &[(0, 9000)])]);
    let mut radio = radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 1);
    for (at, phase, channel, rate, reported) in [
        (0, Phase::Sensing, 0, 1, false),
        (100, Phase::Switching, 1, 1, true),
        (110, Phase::Sensing, 1, 1, true),
        (210, Phase::Transmitting, 1, 2, false),
    ] {
        assert_eq!(radio.advance(AT(at)), phase, "{at} ms");
        assert_eq!((radio.has_reported(), radio.reports()), (reported, u64::from(at >= 100)), "{at} ms");
        assert_eq!((radio.channel(), radio.rate()), (ChannelId(channel), Some(mbit(rate))), "{at} ms");
    }
}

#[test]
fn a_single_channel_is_switched_to_itself_by_round_robin_and_kept_by_the_others() {
    let air = air(1, vec![pu(1, &[(0, 150)])]);
    let words = |policy| {
        let mut radio = radio(config(), &air, FixedDetector::PERFECT, policy, 1);
        play(&mut radio, AT(400)).iter().map(word).collect::<Vec<_>>().join(", ")
    };
    let switching = "0 sense, 0 pu, 100 detected, 100 switch, 110 tuned, 110 sense, 210 detected, 210 switch, \
                     220 tuned, 220 sense, 320 clear, 320 handoff 0>0 at 1M";
    assert_eq!(words(PolicyConfig::RoundRobin), switching);
    let staying = "0 sense, 0 pu, 100 detected, 100 sense, 200 detected, 200 sense, 300 clear";
    for policy in [
        PolicyConfig::Random,
        PolicyConfig::Sticky,
        PolicyConfig::LeastBusy,
        PolicyConfig::BestRate(BestRate { memory: MS(1000) }),
    ] {
        assert_eq!(words(policy), staying, "{policy:?}");
    }
}

#[test]
fn before_the_start_it_transmits() {
    let air = air(1, vec![]);
    let config = CognitiveConfig { start: MS(500), ..config() };
    let mut radio = radio(config, &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 1);
    assert_eq!(
        (radio.phase(), radio.next_change(), radio.rate()),
        (Phase::Transmitting, AT(500), Some(mbit(1)))
    );
    assert_eq!(word(&play(&mut radio, AT(500))[0]), "500 sense");
}

#[test]
fn jitter_lengthens_each_transmission_anew() {
    let air = air(1, vec![]);
    let spans = |jitter: u64, seed: u64| {
        let config = CognitiveConfig { jitter: MS(jitter), ..config() };
        let mut radio = radio(config, &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, seed);
        let log = play(&mut radio, AT(60_000));
        let starts: Vec<Time> = log
            .iter()
            .filter(|(_, event)| matches!(event, LinkEvent::SensingStart { .. }))
            .map(|(at, _)| *at)
            .collect();
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    // A cycle is 1.1 s.
    assert!(spans(0, 1).iter().all(|span| *span == MS(1100)));
    let drawn = spans(200, 1);
    assert!(drawn.iter().all(|span| (MS(1100)..MS(1300)).contains(span)));
    let mean = drawn.iter().map(|span| span.as_secs_f64()).sum::<f64>() / drawn.len() as f64;
    assert!((mean - 1.2).abs() < 0.03, "{mean}");
    assert_ne!(drawn, spans(200, 2));
}

#[test]
fn radios_that_make_no_sense_are_refused() {
    let air = air(2, vec![]);
    let build = |config| {
        let detector = Box::new(FixedDetector::PERFECT);
        CognitiveRadio::new(
            config,
            Arc::clone(&air),
            detector,
            PolicyConfig::RoundRobin.kind().build(),
            1,
            "cr",
        )
        .map(drop)
    };
    let zero = |config| build(config).unwrap_err().to_string();
    assert!(zero(CognitiveConfig { sensing_time: MS(0), ..config() }).contains("the sensing time is zero"));
    assert!(zero(CognitiveConfig { transmission_time: MS(0), ..config() }).contains("the transmission time"));
    let beyond = CognitiveConfig { channel: ChannelId(2), ..config() };
    assert_eq!(build(beyond), Err(CognitiveConfigError::Channel(2)));
}

/// Exponential PUs on every band.
fn random_air(bands: u32, alpha: f64, beta: f64, horizon: Duration, seed: u64) -> Arc<Air> {
    let law = ActivityLaw::exponential(alpha, beta).unwrap();
    let specs: Vec<PuSpec> = (1..=bands)
        .map(|band| PuSpec {
            id: band,
            position: Position::default(),
            band,
            // At the radio's own place any range reaches it.
            reach: Reach::Range(1.0),
            law: law.clone(),
        })
        .collect();
    air(bands, PuActivity::generate(&specs, horizon, seed).unwrap().users)
}

/// One detector in two radios.
#[derive(Debug)]
struct Shared(Arc<dyn Detector>);

impl Detector for Shared {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn report_probability(&self, window: &SensingWindow) -> f64 {
        self.0.report_probability(window)
    }
}

/// 10,000 sensings of a PU that is always, or never, there: the share of reports is P_d', or P_f', within
/// five standard errors - the conditional probabilities, whatever the prior.
#[test]
fn errors_have_the_probabilities_of_the_detector() {
    let t_s = MS(50);
    let map = map(1e6, -20.0, 0.3);
    let point = |millis, d, f| (MS(millis), Probability::new(d).unwrap(), Probability::new(f).unwrap());
    let fused = |rule| Cooperative { inner: build(&map), sensors: 3, rule };
    let mut detectors: Vec<Box<dyn Detector>> = [
        map.clone(),
        neyman_pearson(1e6, 0.1),
        simplified(1e6, -20.0),
        DetectorConfig::Table(vec![point(10, 0.6, 0.3), point(90, 0.9, 0.1)]),
        DetectorConfig::Fixed(FixedErrors {
            detection: Probability::new(0.7).unwrap(),
            false_alarm: Probability::new(0.2).unwrap(),
        }),
        DetectorConfig::AsReleased,
        DetectorConfig::Perfect,
    ]
    .iter()
    .map(build)
    .collect();
    for rule in [FusionRule::Or, FusionRule::And, FusionRule::Majority] {
        detectors.push(Box::new(fused(rule)));
    }
    for detector in detectors {
        let detector: Arc<dyn Detector> = Arc::from(detector);
        for present in [false, true] {
            let users = if present { vec![pu(1, &[(0, 1_000_000_000)])] } else { vec![] };
            let air = air(1, users);
            // 8,000 cycles of 100 ms in 800 s.
            let config = CognitiveConfig { sensing_time: t_s, transmission_time: MS(50), ..config() };
            let mut radio = radio(config, &air, Shared(Arc::clone(&detector)), PolicyConfig::Sticky, 3);
            let log = play(&mut radio, AT(800_000));
            let verdicts: Vec<Verdict> = log
                .iter()
                .filter_map(|(_, event)| match event {
                    LinkEvent::SensingEnd { verdict } => Some(*verdict),
                    _ => None,
                })
                .collect();
            let mut window = SensingWindow::empty(t_s);
            if present {
                // -20 dB, the default of the radio.
                window.add(0.01, 1.0);
            }
            let p = detector.report_probability(&window);
            let n = verdicts.len() as f64;
            let share = verdicts.iter().filter(|verdict| verdict.reported()).count() as f64 / n;
            assert!(
                n >= 8000.0 && (share - p).abs() <= 5.0 * (p * (1.0 - p) / n).sqrt(),
                "{detector:?}: {share} {p}"
            );
            let wrong = if present { Verdict::Missed } else { Verdict::FalseAlarm };
            let errors = verdicts.iter().filter(|verdict| **verdict == wrong).count() as u64;
            let stats = radio.stats(AT(800_000));
            assert_eq!(stats.missed_detections + stats.false_alarms, errors);
        }
    }
}

/// The shares of reports in `end`, and how many sensings there were.
fn reported(radio: &mut CognitiveRadio, end: Time) -> (f64, f64) {
    let log = play(radio, end);
    let verdicts = log.iter().filter_map(|(_, event)| match event {
        LinkEvent::SensingEnd { verdict } => Some(verdict.reported()),
        _ => None,
    });
    let reports: Vec<bool> = verdicts.collect();
    let n = reports.len() as f64;
    (reports.iter().filter(|reported| **reported).count() as f64 / n, n)
}

/// A PU that is ON for half of every window: detectors with a theory of it report it with the probability of
/// half an overlap. The PU's period is the sensing time, and every sensing begins at a multiple of it.
#[test]
fn a_pu_in_half_of_the_window_is_reported_with_its_probability() {
    let halves: Vec<(u64, u64)> = (0..16_000).map(|k| (50 * k + 10, 50 * k + 35)).collect();
    let air = air(1, vec![pu(1, &halves)]);
    for detector in [map(1e6, -20.0, 0.5), neyman_pearson(1e6, 0.1)] {
        let config = CognitiveConfig { sensing_time: MS(50), transmission_time: MS(50), ..config() };
        let mut radio = radio(config, &air, build(&detector), PolicyConfig::Sticky, 4);
        let (share, n) = reported(&mut radio, AT(800_000));
        let mut window = SensingWindow::empty(MS(50));
        window.add(0.01, 0.5);
        let p = build(&detector).report_probability(&window);
        assert!(
            n >= 8000.0 && (share - p).abs() <= 5.0 * (p * (1.0 - p) / n).sqrt(),
            "{detector:?}: {share} {p}"
        );
    }
}

/// A radio and two neighbours, of which one may be out of the PU's reach: the decision has the probability of
/// the closed form of its rule, with P_d' for those that hear the PU and P_f' for the others. 8,000 sensings,
/// five standard errors.
#[test]
fn cooperating_radios_report_with_the_probability_of_their_rule() {
    let fixed = DetectorConfig::Fixed(FixedErrors {
        detection: Probability::new(0.8).unwrap(),
        false_alarm: Probability::new(0.1).unwrap(),
    });
    let (near, far) = (Position::new(10.0, 0.0), Position::new(9000.0, 0.0));
    for (neighbours, on) in [([near, near], true), ([near, far], true), ([near, near], false)] {
        let mut user = pu(1, if on { &[(0, 1_000_000_000)] } else { &[] });
        user.reach = Reach::Range(500.0);
        let air = air(1, vec![user]);
        let hears = |place: &Position| on && place.x < 500.0;
        let p: Vec<f64> = std::iter::once(&Position::default())
            .chain(&neighbours)
            .map(|place| if hears(place) { 0.8 } else { 0.1 })
            .collect();
        let (a, b, c) = (p[0], p[1], p[2]);
        for (fusion, expected) in [
            (FusionRule::Or, 1.0 - (1.0 - a) * (1.0 - b) * (1.0 - c)),
            (FusionRule::And, a * b * c),
            (FusionRule::Majority, a * b + b * c + a * c - 2.0 * a * b * c),
        ] {
            let config = CognitiveConfig {
                sensing_time: MS(50),
                transmission_time: MS(50),
                neighbours: neighbours.to_vec(),
                fusion,
                ..config()
            };
            let mut radio = radio(config, &air, build(&fixed), PolicyConfig::Sticky, 5);
            let (share, n) = reported(&mut radio, AT(800_000));
            let error = (expected * (1.0 - expected) / n).sqrt();
            assert!(
                n >= 8000.0 && (share - expected).abs() <= 5.0 * error,
                "{fusion:?} {p:?}: {share} {expected}"
            );
        }
    }
}

/// A transmission that begins on a free channel meets a PU with probability 1 - exp(-beta T_p). About 20,000
/// transmissions, five standard errors.
#[test]
fn a_transmission_meets_a_pu_as_often_as_theory_says() {
    let (alpha, beta) = (2.0, 0.4);
    let end = Time::ZERO + Duration::from_secs(40_000);
    let air = random_air(1, alpha, beta, end - Time::ZERO, 4);
    let config = CognitiveConfig { sensing_time: MS(1), ..config() };
    let mut radio = radio(config, &air, FixedDetector::PERFECT, PolicyConfig::Sticky, 4);
    let log = play(&mut radio, end);
    let (mut transmissions, mut met, mut open) = (0u32, 0u32, false);
    let mut met_this = false;
    for (_, event) in log {
        match event {
            LinkEvent::SensingEnd { verdict } => {
                assert!(matches!(verdict, Verdict::Clear | Verdict::Detected));
                open = verdict == Verdict::Clear;
                transmissions += u32::from(open);
                met_this = false;
            }
            LinkEvent::PuArrival { during: Phase::Transmitting } if open => {
                met += u32::from(!met_this);
                met_this = true;
            }
            _ => {}
        }
    }
    // An arrival within one T_p of 1 s, at birth rate beta.
    let p = -libm::expm1(-beta);
    let share = f64::from(met) / f64::from(transmissions);
    let error = (p * (1.0 - p) / f64::from(transmissions)).sqrt();
    assert!(transmissions > 20_000 && (share - p).abs() < 5.0 * error, "{share} {p}");
}

/// A perfect detector with no switching delay: whatever the PUs do, none is interfered with for longer than
/// one T_p at a stretch, and none is still transmitted over after T_p.
#[test]
fn a_perfect_radio_never_interferes_longer_than_t_p() {
    for seed in 0..40 {
        let mut stream = RandomStream::new(seed, "perfect", 0);
        let (alpha, beta) = (0.2 + 5.0 * stream.uniform(), 0.2 + 5.0 * stream.uniform());
        let end = AT(100_000);
        let air = random_air(1 + stream.below(5) as u32, alpha, beta, end - Time::ZERO, seed);
        let config = CognitiveConfig {
            sensing_time: MS(1 + stream.below(300)),
            transmission_time: MS(1 + stream.below(2000)),
            switching_delay: Duration::ZERO,
            ..config()
        };
        let t_p = config.transmission_time;
        let policy =
            [PolicyConfig::RoundRobin, PolicyConfig::Random, PolicyConfig::LeastBusy][seed as usize % 3];
        let mut radio = radio(config, &air, FixedDetector::PERFECT, policy, seed);
        // A saturated radio: on the air whenever it is open.
        let mut opened: Option<(Time, ChannelId)> = None;
        let mut longest =
            vec![Duration::ZERO; air.activity.users.iter().map(|user| user.activity.len()).sum()];
        while radio.next_change() <= end {
            let now = radio.next_change();
            let phase = radio.advance(now);
            match (phase, opened) {
                (Phase::Transmitting, None) => opened = Some((now, radio.channel())),
                (Phase::Transmitting, Some(_)) | (_, None) => {}
                (_, Some((from, channel))) => {
                    radio.transmitted(from, now);
                    let mut number = 0;
                    for user in &air.activity.users {
                        for on in user.activity.as_slice() {
                            if user.band == channel.0 + 1 {
                                let shared = on.departure.min(now).saturating_since(on.arrival.max(from));
                                longest[number] += shared;
                            }
                            number += 1;
                        }
                    }
                    opened = None;
                }
            }
        }
        // A sum over the whole of each ON period: once noticed, it is not met again.
        assert!(longest.iter().all(|span| *span <= t_p), "seed {seed}: {:?} > {t_p:?}", longest.iter().max());
        let protection = radio.protection(end);
        assert_eq!(protection.missed_detections + protection.false_alarms, 0);
        assert!(protection.vacate_max <= t_p, "seed {seed}");
        // The last stretch may still be open: it is exposed but not yet sent.
        let open = if radio.phase() == Phase::Transmitting { t_p } else { Duration::ZERO };
        assert!(protection.exposed.abs_diff(protection.interfered) <= open, "seed {seed}: {protection:?}");
        assert_eq!(protection.interfered, longest.iter().copied().sum(), "seed {seed}");
        let collisions = longest.iter().filter(|span| !span.is_zero()).count() as u64;
        assert_eq!(protection.collisions, collisions, "seed {seed}");
    }
}

#[test]
fn without_pu_and_false_alarms_there_is_no_handoff() {
    for detector in [FixedDetector::PERFECT, FixedDetector::AS_RELEASED] {
        let air = air(5, vec![]);
        let mut radio = radio(config(), &air, detector, PolicyConfig::RoundRobin, 5);
        let log = play(&mut radio, AT(200_000));
        assert!(
            log.iter()
                .all(|(_, e)| matches!(e, LinkEvent::SensingStart { .. } | LinkEvent::SensingEnd { .. }))
        );
        let stats = radio.stats(AT(200_000));
        assert_eq!((stats.handoffs, stats.pu_arrivals, stats.switching), (0, 0, Duration::ZERO));
        assert_eq!(radio.protection(AT(200_000)), Protection::default());
    }
}

#[test]
fn a_radio_that_always_reports_never_opens() {
    let always = FixedDetector::new(Probability::ONE, Probability::ONE);
    for policy in [PolicyConfig::RoundRobin, PolicyConfig::Sticky, PolicyConfig::LeastBusy] {
        let air = random_air(3, 0.5, 0.5, Duration::from_secs(100), 5);
        let mut radio = radio(config(), &air, always, policy, 5);
        play(&mut radio, AT(100_000));
        let (stats, protection) = (radio.stats(AT(100_000)), radio.protection(AT(100_000)));
        assert_eq!((stats.transmitting, stats.handoffs), (Duration::ZERO, 0), "{policy:?}");
        assert_eq!((protection.exposed, protection.vacated), (Duration::ZERO, 0), "{policy:?}");
    }
}

/// Out of reach a PU changes nothing and suffers nothing, and without a detector's error every report is of a
/// PU.
#[test]
fn a_pu_out_of_reach_is_none() {
    let mut user = pu(1, &[(0, 100_000)]);
    (user.position, user.reach) = (Position::new(500.1, 0.0), Reach::Range(500.0));
    let air = air(2, vec![user]);
    let mut radio = radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 5);
    play(&mut radio, AT(50_000));
    assert_eq!((radio.stats(AT(50_000)).handoffs, radio.protection(AT(50_000))), (0, Protection::default()));
}

/// The sensing window ends before the instant at which the sensing ends.
#[test]
fn a_pu_that_arrives_as_a_sensing_ends_is_not_seen() {
    for (arrival, expected) in [(100, Verdict::Clear), (99, Verdict::Detected)] {
        let air = air(2, vec![pu(1, &[(arrival, 100_000)])]);
        let mut radio = radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::Sticky, 5);
        let log = play(&mut radio, AT(100));
        let end = log.iter().find(|(_, event)| matches!(event, LinkEvent::SensingEnd { .. }));
        assert_eq!(
            end,
            Some(&(AT(100), LinkEvent::SensingEnd { verdict: expected })),
            "a PU from {arrival} ms on"
        );
    }
}

/// No policy ever tunes to a reserved channel: the control channel of the released code.
#[test]
fn reserved_channels_are_never_used() {
    let law = ActivityLaw::exponential(2.0, 2.0).unwrap();
    for policy in [
        PolicyConfig::RoundRobin,
        PolicyConfig::Random,
        PolicyConfig::Sticky,
        PolicyConfig::LeastBusy,
        PolicyConfig::BestRate(BestRate { memory: MS(500) }),
    ] {
        // Channels 0 and 3 are reserved.
        let channels = (0..4).map(|i| Channel { reserved: i % 3 == 0, ..Channel::clean(mbit(1)) });
        let users = (1..=4).map(|band| {
            let activity = law.generate(Duration::from_secs(200), 6, u64::from(band)).unwrap();
            PrimaryUser { activity, ..pu(band, &[]) }
        });
        let table = ChannelTable::new(4, 1, channels.collect(), None).unwrap();
        let air = Arc::new(Air::new(PuActivity { users: users.collect() }, table));
        let config = CognitiveConfig { channel: ChannelId(1), ..config() };
        let mut radio = radio(config, &air, FixedDetector::AS_RELEASED, policy, 6);
        while radio.next_change() <= AT(200_000) {
            radio.advance(radio.next_change());
            assert!([1, 2].contains(&radio.channel().0), "{policy:?}: {:?}", radio.channel());
        }
        let moved = radio.stats(AT(200_000)).handoffs > 0;
        assert_eq!(moved, policy != PolicyConfig::Sticky, "{policy:?}");
    }
}

/// Random radios: all time is accounted for, a late driver sees the same, a run repeats, the enum is its
/// content.
#[test]
fn every_radio_accounts_for_all_time() {
    for seed in 0..60 {
        let build = || {
            let mut stream = RandomStream::new(seed, "radios", 0);
            let end = AT(60_000);
            let air = random_air(
                1 + stream.below(6) as u32,
                0.3 + stream.uniform(),
                0.3 + stream.uniform(),
                end - Time::ZERO,
                seed,
            );
            let config = CognitiveConfig {
                sensing_time: MS(1 + stream.below(300)),
                transmission_time: MS(1 + stream.below(2000)),
                switching_delay: MS(stream.below(100)),
                start: MS(stream.below(2) * 700),
                snr: SnrModel::fixed_db(-21.0),
                ..config()
            };
            let detectors = [map(1e6, -21.0, 0.5), DetectorConfig::AsReleased, simplified(1e6, -21.0)];
            let detector = build(&detectors[stream.below(3) as usize]);
            let policy = [
                PolicyConfig::RoundRobin,
                PolicyConfig::Random,
                PolicyConfig::Sticky,
                PolicyConfig::LeastBusy,
                PolicyConfig::BestRate(BestRate { memory: MS(500) }),
            ][stream.below(5) as usize];
            radio(config, &air, detector, policy, seed)
        };
        let end = AT(60_000);
        let mut punctual = build();
        let log = play(&mut punctual, end);
        let stats = punctual.stats(end);
        assert_eq!(stats.transmitting + stats.sensing + stats.switching, end - Time::ZERO, "seed {seed}");
        let count = |kind: fn(&LinkEvent) -> bool| log.iter().filter(|(_, event)| kind(event)).count() as u64;
        assert_eq!(stats.handoffs, count(|e| matches!(e, LinkEvent::Handoff { .. })));
        assert_eq!(stats.sensings, count(|e| matches!(e, LinkEvent::SensingStart { .. })));
        assert_eq!(stats.pu_arrivals, count(|e| matches!(e, LinkEvent::PuArrival { .. })));
        // Every change of channel takes its delay; at the end one may be under way.
        let switches: Vec<Duration> = log
            .iter()
            .filter_map(|(at, event)| match event {
                LinkEvent::SwitchingStart { until } => Some((*until).min(end) - *at),
                _ => None,
            })
            .collect();
        assert_eq!(stats.switching, switches.into_iter().sum(), "seed {seed}");
        // It leaves a channel only on a report, and transmits only after a sensing without one.
        for pair in log.windows(2) {
            if let (_, LinkEvent::SwitchingStart { .. } | LinkEvent::Handoff { .. }) = pair[1] {
                let leaves = matches!(pair[1].1, LinkEvent::SwitchingStart { .. });
                let LinkEvent::SensingEnd { verdict } = pair[0].1 else { panic!("seed {seed}: {pair:?}") };
                assert_eq!(verdict.reported(), leaves, "seed {seed}");
            }
        }

        let mut late = build();
        late.advance(end);
        let seen: Vec<_> = std::iter::from_fn(|| late.poll_event()).collect();
        assert_eq!(seen, log, "seed {seed}");
        assert_eq!((late.stats(end), late.protection(end)), (stats, punctual.protection(end)), "seed {seed}");
    }
}

/// Hand-computed: T_p 1 s, t_s 0.1 s, one channel, sticky, perfect. Transmits over 0.1-1.1, 1.2-2.2, then
/// waits.
#[test]
fn pu_protection_is_counted_by_hand() {
    let air = air(1, vec![pu(1, &[(500, 600), (1150, 1160), (1700, 3000), (4000, 4050)])]);
    let mut radio = radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::Sticky, 6);
    let words: Vec<String> = play(&mut radio, AT(3000)).iter().map(word).collect();
    // The burst of 0.5 s leaves unnoticed; the one of 1.15 s falls into a sensing: 1.1-1.2 detected, again
    // 1.2-1.3 clear.
    let expected = "0 sense, 100 clear, 500 pu, 1100 sense, 1150 pu, 1200 detected, 1200 sense, 1300 clear, 1700 pu, \
                    2300 sense, 2400 detected, 2400 sense, 2500 detected, 2500 sense, 2600 detected, 2600 sense, \
                    2700 detected, 2700 sense, 2800 detected, 2800 sense, 2900 detected, 2900 sense, 3000 detected, \
                    3000 sense";
    assert_eq!(words.join(", "), expected);
    // Frames on the air: two within the first burst, one that spans into the PU of 1.7 s, one on a free
    // channel.
    for (from, until) in [(510, 520), (590, 610), (800, 810), (1690, 1710), (1710, 1730)] {
        radio.transmitted(AT(from), AT(until));
    }
    let protection = radio.protection(AT(3000));
    assert_eq!(protection.pu_airtime, MS(100 + 10 + 1300));
    assert_eq!(protection.exposed, MS(100 + 600));
    assert_eq!(protection.interfered, MS(10 + 10 + 10 + 20));
    assert_eq!(protection.collisions, 2);
    assert_eq!(protection.detections, 8);
    // Met at 0.5 s: gone before the sensing of 1.1 s. Yet that sensing reports the next burst: it counts as
    // vacated after 0.6 s, from the first arrival not yet answered. Met at 1.7 s: silent from 2.3 s.
    assert_eq!((protection.vacated, protection.outlasted), (2, 0));
    assert_eq!((protection.vacate_total, protection.vacate_max), (MS(600 + 600), MS(600)));
    assert_eq!(protection.vacate_mean(), Some(MS(600)));
    assert!((protection.interfered_share() - 50.0 / 1410.0).abs() < 1e-12);
    assert!((protection.exposed_share() - 700.0 / 1410.0).abs() < 1e-12);
}

#[test]
fn a_missed_pu_is_vacated_from_the_start_of_the_transmission_over_it() {
    let air = air(2, vec![pu(1, &[(0, 10_000)])]);
    let detector = Scripted { reports: vec![false, false, true], next: AtomicUsize::new(0) };
    let mut radio = radio(config(), &air, detector, PolicyConfig::RoundRobin, 7);
    play(&mut radio, AT(2300));
    // Open 0.1-1.1 and 1.2-2.2 over the PU, detected at 2.3.
    let protection = radio.protection(AT(2300));
    assert_eq!((protection.exposed, protection.missed_detections), (MS(2000), 2));
    assert_eq!((protection.vacated, protection.vacate_total), (1, MS(2100)));

    // Gone unnoticed: outlasted.
    let air = self::air(1, vec![pu(1, &[(200, 300)])]);
    let mut radio = self::radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::Sticky, 7);
    play(&mut radio, AT(1200));
    let protection = radio.protection(AT(1200));
    assert_eq!((protection.vacated, protection.outlasted, protection.exposed), (0, 1, MS(100)));
}

/// The detection draws of one seed are the same numbers for every detector, and policies have their own
/// stream.
#[test]
fn detectors_and_policies_share_random_numbers() {
    let end = AT(100_000);
    let air = air(5, vec![]);
    let alarms = |false_alarm: f64, policy| {
        let p = Probability::new(false_alarm).unwrap();
        let detector = FixedDetector::new(Probability::ONE, p);
        let config =
            CognitiveConfig { transmission_time: MS(100), switching_delay: Duration::ZERO, ..config() };
        let mut radio = radio(config, &air, detector, policy, 8);
        let log = play(&mut radio, end);
        log.iter()
            .filter_map(|(_, event)| match event {
                LinkEvent::SensingEnd { verdict } => Some(verdict.reported()),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let few = alarms(0.1, PolicyConfig::RoundRobin);
    let many = alarms(0.3, PolicyConfig::RoundRobin);
    // Sensing by sensing: whatever alarms at 10 % alarms at 30 % too.
    assert!(few.iter().zip(&many).all(|(few, many)| !few | many));
    assert_ne!(few[..400], many[..400]);
    // No PU, so that the channel changes nothing: the same alarms with a policy that draws.
    assert_eq!(few, alarms(0.1, PolicyConfig::Random));
}

#[test]
fn neighbours_report_what_the_radio_cannot_hear() {
    // 1 W at 1 km: the radio at the origin does not hear it, the neighbour at 900 m does.
    let mut user = pu(1, &[(0, 100_000)]);
    user.position = Position::new(1000.0, 0.0);
    user.reach = Reach::Power(Power::from_watts(1.0));
    let air = air(2, vec![user]);
    let sensitivity = Power::from_watts(1e-5);
    let verdict = |neighbours: Vec<Position>, fusion| {
        let receiver = ReceiverModel { sensitivity, capture: 10.0 };
        let config = CognitiveConfig { neighbours, fusion, receiver, ..config() };
        let mut radio = radio(config, &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 9);
        play(&mut radio, AT(100)).iter().find_map(|(_, event)| match event {
            LinkEvent::SensingEnd { verdict } => Some(*verdict),
            _ => None,
        })
    };
    let (near, far) = (Position::new(900.0, 0.0), Position::new(0.0, 100.0));
    assert_eq!(verdict(vec![], FusionRule::Or), Some(Verdict::Clear));
    assert_eq!(verdict(vec![near], FusionRule::Or), Some(Verdict::FalseAlarm), "of its own it hears none");
    assert_eq!(verdict(vec![near], FusionRule::And), Some(Verdict::Clear));
    assert_eq!(verdict(vec![near, far], FusionRule::Majority), Some(Verdict::Clear));
    assert_eq!(
        verdict(vec![near, near, far], FusionRule::Majority),
        Some(Verdict::Clear),
        "two of four are no majority"
    );
    assert_eq!(verdict(vec![near, near], FusionRule::Majority), Some(Verdict::FalseAlarm));
}

/// Golden values: a change here changes every result and belongs in CHANGELOG "Changed results".
#[test]
fn golden_radio() {
    let end = AT(200_000);
    let air = random_air(5, 0.5, 0.5, end - Time::ZERO, 1);
    let detector = build(&map(1e6, -20.0, 0.5));
    let mut radio = radio(config(), &air, detector, PolicyConfig::RoundRobin, 1);
    play(&mut radio, end);
    let (stats, protection) = (radio.stats(end), radio.protection(end));
    assert_eq!(
        (stats.transmitting.as_nanos(), stats.handoffs, stats.pu_arrivals, stats.missed_detections),
        (169_580_000_000, 61, 65, 6)
    );
    assert_eq!(
        (protection.exposed.as_nanos(), protection.vacated, protection.false_alarms),
        (29_827_853_025, 48, 15)
    );
}

/// Routing wants the radio on another channel: it leaves at once while it transmits, when it would open while
/// it senses, and never for a channel that is reserved, that is not there, or that it is on; these take back
/// what was wanted before.
#[test]
fn a_wanted_channel_is_sensed_and_opened() {
    let channels = (0..4).map(|i| Channel { reserved: i == 3, ..Channel::clean(mbit(i + 1)) }).collect();
    let table = ChannelTable::new(4, 1, channels, None).unwrap();
    let air = Arc::new(Air::new(PuActivity { users: Vec::new() }, table));
    let log = |wants: &[(u64, u32)], end: u64| {
        let mut radio = radio(config(), &air, FixedDetector::PERFECT, PolicyConfig::RoundRobin, 1);
        let mut words = Vec::new();
        for (at, channel) in wants {
            words.extend(play(&mut radio, AT(*at)).iter().map(word));
            radio.want(AT(*at), ChannelId(*channel));
        }
        words.extend(play(&mut radio, AT(end)).iter().map(word));
        words.join(", ")
    };
    let undisturbed = "0 sense, 100 clear, 1100 sense, 1200 clear";
    assert_eq!(log(&[], 1300), undisturbed);
    assert_eq!(
        log(&[(500, 2)], 1300),
        "0 sense, 100 clear, 500 switch, 510 tuned, 510 sense, 610 clear, 610 handoff 0>2 at 3M"
    );
    assert_eq!(
        log(&[(50, 2)], 300),
        "0 sense, 100 clear, 100 switch, 110 tuned, 110 sense, 210 clear, 210 handoff 0>2 at 3M"
    );
    for not_usable in [0, 3, 9] {
        assert_eq!(log(&[(500, not_usable)], 1300), undisturbed, "channel {not_usable}");
        assert_eq!(log(&[(50, 2), (60, not_usable)], 1300), undisturbed, "channel {not_usable}");
    }
}

#[test]
fn the_mean_time_to_vacate_needs_one() {
    assert_eq!(Protection::default().vacate_mean(), None);
    let of = |vacated, millis| {
        Protection { vacated, vacate_total: Duration::from_millis(millis), ..Protection::default() }
            .vacate_mean()
    };
    assert_eq!(of(1, 30), Some(Duration::from_millis(30)));
    assert_eq!(of(4, 30), Some(Duration::from_micros(7_500)));
}

#[test]
fn shares_are_of_the_airtime_that_there_was() {
    let of = |seconds| Protection {
        pu_airtime: Duration::from_secs(seconds),
        exposed: Duration::from_secs(3),
        interfered: Duration::from_secs(1),
        ..Protection::default()
    };
    assert_eq!((of(4).interfered_share(), of(4).exposed_share()), (0.25, 0.75));
    assert_eq!((of(0).interfered_share(), of(0).exposed_share()), (0.0, 0.0));
}
