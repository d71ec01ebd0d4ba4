//! The cognitive cycle: its timetable, its laws, and what must hold for every configuration.

use cogtcp_spectrum::{
    ChannelChoice, ChannelId, CognitiveCycle, CycleConfig, DurationLaw, LinkEvent, Phase, PuArrivals, Radio,
    SensingClock, SensingCycle, Verdict,
};
use cogtcp_units::{Check, Duration, RandomStream, Rate, Time};
use std::collections::BTreeMap;

const MS: fn(u64) -> Duration = Duration::from_millis;
const AT: fn(u64) -> Time = Time::from_millis;

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

fn sensing(off: DurationLaw, on: DurationLaw, start: Option<Duration>) -> CycleConfig {
    let clock = SensingClock::default();
    CycleConfig { sensing: Some(SensingCycle { off, on, start, clock }), ..CycleConfig::default() }
}

/// 0.1 s of sensing in every 5.1 s, first at 5 s.
fn periodic() -> CycleConfig {
    sensing(DurationLaw::Fixed(MS(100)), DurationLaw::Fixed(MS(5000)), None)
}

fn with_pu(mut config: CycleConfig, interarrival: Duration) -> CycleConfig {
    config.pu = Some(PuArrivals { interarrival, switching: MS(100) });
    config
}

/// Drives the cycle to `end` as a simulator does; every event with its time.
fn play(cycle: &mut CognitiveCycle, end: Time) -> Vec<(Time, LinkEvent)> {
    let mut log = Vec::new();
    while cycle.next_change() <= end {
        let now = cycle.next_change();
        let phase = cycle.advance(now);
        assert_eq!(phase, cycle.phase());
        assert!(cycle.next_change() > now, "the next change must lie ahead: {now:?}");
        while let Some((at, event)) = cycle.poll_event() {
            assert_eq!(at, now, "an event of a punctual driver happens now");
            log.push((at, event));
        }
    }
    log
}

/// Spans between the starts and the ends of the phases that `start` and `end` recognise.
fn spans(log: &[(Time, LinkEvent)], start: fn(&LinkEvent) -> bool, end: fn(&LinkEvent) -> bool) -> Vec<f64> {
    let mut began: Option<Time> = None;
    let mut spans = Vec::new();
    for (at, event) in log {
        // The end first: one instant may end a span and start the next.
        if end(event)
            && let Some(from) = began.take()
        {
            spans.push((*at - from).as_secs_f64());
        }
        if start(event) {
            began = Some(*at);
        }
    }
    spans
}

fn is_sensing_start(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::SensingStart { .. })
}

fn is_sensing_end(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::SensingEnd { .. })
}

fn arrivals(log: &[(Time, LinkEvent)]) -> Vec<Time> {
    log.iter().filter(|(_, e)| matches!(e, LinkEvent::PuArrival { .. })).map(|(at, _)| *at).collect()
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n)
}

/// A law that nobody has checked may have its bounds reversed.
#[test]
fn the_bounds_of_a_uniform_law_may_be_reversed() {
    let draws = |law: DurationLaw| {
        let mut stream = RandomStream::new(1, "law", 0);
        (0..100).map(|_| law.draw(&mut stream)).collect::<Vec<_>>()
    };
    let ordered = draws(DurationLaw::Uniform(MS(100), MS(200)));
    assert_eq!(draws(DurationLaw::Uniform(MS(200), MS(100))), ordered);
    assert!(ordered.iter().all(|span| (MS(100)..=MS(200)).contains(span)));
    assert!(ordered.iter().any(|span| *span < MS(150)) && ordered.iter().any(|span| *span > MS(150)));
}

#[test]
fn without_sensing_and_pu_it_never_changes() {
    let mut cycle = CognitiveCycle::new(&CycleConfig::default(), 1, "radio");
    assert_eq!((cycle.next_change(), cycle.phase(), cycle.rate()), (Time::MAX, Phase::Transmitting, None));
    assert_eq!(cycle.advance(Time::MAX), Phase::Transmitting);
    assert_eq!(cycle.poll_event(), None);
    let stats = cycle.stats(AT(7000));
    assert_eq!((stats.transmitting, stats.sensings, stats.handoffs), (MS(7000), 0, 0));
}

#[test]
fn periodic_sensing_keeps_its_timetable() {
    let mut cycle = CognitiveCycle::new(&periodic(), 1, "radio");
    let log = play(&mut cycle, AT(10_200));
    let clear = LinkEvent::SensingEnd { verdict: Verdict::Clear };
    assert_eq!(
        log,
        [
            (AT(5000), LinkEvent::SensingStart { until: AT(5100) }),
            (AT(5100), clear),
            (AT(10_100), LinkEvent::SensingStart { until: AT(10_200) }),
            (AT(10_200), clear),
        ]
    );
    assert_eq!((cycle.phase(), cycle.channel(), cycle.rate()), (Phase::Transmitting, ChannelId(0), None));
}

#[test]
fn start_sets_the_first_sensing() {
    for start in [0, 1, 10_000] {
        let config = sensing(DurationLaw::Fixed(MS(300)), DurationLaw::Fixed(MS(2000)), Some(MS(start)));
        let mut cycle = CognitiveCycle::new(&config, 1, "radio");
        let starts: Vec<Time> = play(&mut cycle, AT(start + 5000))
            .iter()
            .filter(|(_, event)| is_sensing_start(event))
            .map(|(at, _)| *at)
            .collect();
        assert_eq!(starts, [AT(start), AT(start + 2300), AT(start + 4600)]);
    }
}

#[test]
fn a_sensing_of_no_length_passes_in_no_time() {
    let config = sensing(DurationLaw::Fixed(Duration::ZERO), DurationLaw::Fixed(MS(2000)), None);
    let mut cycle = CognitiveCycle::new(&config, 1, "radio");
    assert_eq!(play(&mut cycle, AT(6000)).len(), 6);
    let stats = cycle.stats(AT(6000));
    assert_eq!((stats.sensings, stats.sensing, stats.transmitting), (3, Duration::ZERO, MS(6000)));
}

#[test]
fn a_late_driver_gets_every_change_at_its_own_time() {
    let config = with_pu(periodic(), MS(3000));
    let mut punctual = CognitiveCycle::new(&config, 4, "radio");
    let mut late = CognitiveCycle::new(&config, 4, "radio");
    let log = play(&mut punctual, AT(60_000));
    late.advance(AT(60_000));
    assert_eq!(std::iter::from_fn(|| late.poll_event()).collect::<Vec<_>>(), log);
    assert_eq!(late.stats(AT(60_000)), punctual.stats(AT(60_000)));
}

#[test]
fn an_early_call_changes_nothing() {
    let mut cycle = CognitiveCycle::new(&periodic(), 1, "radio");
    assert_eq!(cycle.advance(AT(4999)), Phase::Transmitting);
    assert_eq!((cycle.poll_event(), cycle.next_change()), (None, AT(5000)));
}

#[test]
fn a_pu_while_transmitting_silences_the_link_for_one_switch() {
    let config = with_pu(CycleConfig::default(), MS(10_000));
    let mut cycle = CognitiveCycle::new(&config, 2, "radio");
    let arrival = cycle.next_change();
    cycle.advance(arrival);
    let until = arrival + MS(100);
    assert_eq!(cycle.poll_event(), Some((arrival, LinkEvent::PuArrival { during: Phase::Transmitting })));
    assert_eq!(cycle.poll_event(), Some((arrival, LinkEvent::SwitchingStart { until })));
    assert_eq!((cycle.phase(), cycle.next_change()), (Phase::Switching, until));
    cycle.advance(until);
    let handoff = LinkEvent::Handoff { from: ChannelId(0), to: ChannelId(1), rate: None };
    assert_eq!(cycle.poll_event(), Some((until, LinkEvent::SwitchingEnd)));
    assert_eq!(cycle.poll_event(), Some((until, handoff)));
    assert_eq!((cycle.phase(), cycle.poll_event()), (Phase::Transmitting, None));
}

/// Busy arrivals (mean 50 ms against 200 ms of sensing) so that every case of the table in the module docs
/// occurs.
#[test]
fn pu_arrivals_during_silence_follow_the_table() {
    let mut config = sensing(DurationLaw::Fixed(MS(200)), DurationLaw::Fixed(MS(30)), None);
    config = with_pu(config, MS(50));
    let mut cycle = CognitiveCycle::new(&config, 3, "radio");
    let log = play(&mut cycle, AT(60_000));
    let mut cases = BTreeMap::new();
    let mut seen = false;
    for (i, (at, event)) in log.iter().enumerate() {
        let next = log.get(i + 1);
        match event {
            LinkEvent::SensingStart { .. } => seen = false,
            LinkEvent::PuArrival { during } => {
                *cases.entry(format!("{during:?}")).or_insert(0) += 1;
                seen |= *during == Phase::Sensing;
                if *during == Phase::Transmitting {
                    assert_eq!(next, Some(&(*at, LinkEvent::SwitchingStart { until: *at + MS(100) })));
                }
            }
            LinkEvent::SensingEnd { verdict } => {
                assert_eq!(*verdict, if seen { Verdict::Detected } else { Verdict::Clear });
                let switches =
                    next.is_some_and(|(t, e)| t == at && matches!(e, LinkEvent::SwitchingStart { .. }));
                assert!(next.is_none() || switches == seen, "a PU seen means a switch without a gap");
                *cases.entry(format!("{verdict:?}")).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    assert_eq!(cases.len(), 5, "every case occurs: {cases:?}");
    let switching = spans(
        &log,
        |e| matches!(e, LinkEvent::SwitchingStart { .. }),
        |e| matches!(e, LinkEvent::SwitchingEnd),
    );
    assert!(switching.iter().all(|s| (s - 0.1).abs() < 1e-12), "arrivals do not prolong a switch");
}

/// At one instant the PU comes first: the sensing reports it.
#[test]
fn a_pu_that_arrives_as_a_sensing_ends_is_seen() {
    let none = with_pu(CycleConfig::default(), MS(500));
    let first = arrivals(&play(&mut CognitiveCycle::new(&none, 4, "radio"), AT(60_000)))[0];
    let start = first.saturating_since(Time::ZERO) - MS(30);
    for (later, expected) in [(0, Verdict::Detected), (1, Verdict::Clear)] {
        let start = Some(start - Duration::from_nanos(later));
        let config = sensing(DurationLaw::Fixed(MS(30)), DurationLaw::Fixed(MS(9000)), start);
        let mut cycle = CognitiveCycle::new(&with_pu(config, MS(500)), 4, "radio");
        let log = play(&mut cycle, first);
        let ends: Vec<_> = log.iter().filter(|(_, event)| is_sensing_end(event)).collect();
        assert_eq!(ends.len(), 1);
        assert_eq!(ends[0].1, LinkEvent::SensingEnd { verdict: expected }, "{later} ns before the PU");
    }
}

#[test]
fn a_switch_restarts_the_time_to_the_next_sensing_or_not() {
    for clock in [SensingClock::Restart, SensingClock::Keep] {
        let mut config = with_pu(periodic(), MS(4000));
        if let Some(sensing) = &mut config.sensing {
            sensing.clock = clock;
        }
        let mut cycle = CognitiveCycle::new(&config, 5, "radio");
        let log = play(&mut cycle, AT(600_000));
        let mut due = AT(5000);
        let mut sensings = 0;
        let mut switch_end = Time::ZERO;
        for (at, event) in log {
            match event {
                LinkEvent::SensingStart { until } => {
                    // Kept: due, or as soon as the switch in its way is over.
                    assert_eq!(at, due.max(switch_end), "{clock:?}");
                    due = until + MS(5000);
                    sensings += 1;
                }
                LinkEvent::SwitchingEnd => {
                    switch_end = at;
                    if clock == SensingClock::Restart {
                        due = at + MS(5000);
                    }
                }
                _ => {}
            }
        }
        assert!(sensings > 20, "{clock:?}: {sensings} sensings");
    }
}

#[test]
fn the_set_is_drawn_evenly_and_a_pu_leaves_its_channel() {
    let rates = [mbit(1), mbit(5), mbit(5), mbit(15)];
    let mut config = sensing(DurationLaw::Fixed(MS(1)), DurationLaw::Fixed(MS(9)), None);
    config.channel = ChannelChoice::Set(rates.to_vec());
    let mut cycle = CognitiveCycle::new(&config, 6, "radio");
    let mut counts = [0u32; 4];
    while cycle.next_change() <= AT(400_000) {
        cycle.advance(cycle.next_change());
        while let Some((_, event)) = cycle.poll_event() {
            if let LinkEvent::Handoff { from, to, rate } = event {
                assert!(from != to && to == cycle.channel());
                assert_eq!(rate, Some(rates[to.0 as usize - 1]));
            }
            if is_sensing_end(&event) {
                counts[cycle.channel().0 as usize - 1] += 1;
            }
        }
    }
    // 40,000 draws: five standard deviations of a binomial(40000, 1/4) are 433.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 433), "{counts:?}");

    let mut config = with_pu(CycleConfig::default(), MS(100));
    config.channel = ChannelChoice::Set(rates.to_vec());
    let mut cycle = CognitiveCycle::new(&config, 6, "radio");
    let log = play(&mut cycle, AT(200_000));
    let mut counts = BTreeMap::new();
    for (_, event) in &log {
        if let LinkEvent::Handoff { from, to, .. } = event {
            *counts.entry((from.0, to.0)).or_insert(0u32) += 1;
        }
    }
    let switches = log.iter().filter(|(_, e)| matches!(e, LinkEvent::SwitchingEnd)).count();
    assert_eq!(switches as u64, cycle.stats(AT(200_000)).handoffs, "every switch changes the channel");
    // About 1,000 switches over 12 ordered pairs: 83 each, standard deviation under 10.
    for from in 1..=4 {
        for to in (1..=4).filter(|to| *to != from) {
            assert!(counts[&(from, to)].abs_diff(83) < 50, "{counts:?}");
        }
    }
}

/// Uniform on [1, 15] Mbit/s: mean 8, variance 14^2 / 12 = 16.33. 20,000 draws: standard error of the mean
/// 0.029, of the variance 0.1; the tolerances are five of them.
#[test]
fn the_range_is_uniform() {
    let mut config = sensing(DurationLaw::Fixed(MS(100)), DurationLaw::Fixed(MS(4900)), None);
    config.channel = ChannelChoice::Range([mbit(1), mbit(15)]);
    let mut cycle = CognitiveCycle::new(&config, 7, "radio");
    let rates: Vec<f64> = play(&mut cycle, AT(100_000_000))
        .iter()
        .filter_map(|(_, event)| match event {
            LinkEvent::Handoff { rate: Some(rate), .. } => Some(rate.bits_per_second() as f64 / 1e6),
            _ => None,
        })
        .collect();
    let (mean, variance) = mean_and_variance(&rates);
    assert_eq!(rates.len(), 20_000);
    assert!(rates.iter().all(|rate| (1.0..=15.0).contains(rate)));
    assert!((mean - 8.0).abs() < 0.15 && (variance - 49.0 / 3.0).abs() < 0.52, "{mean} {variance}");
}

/// Exponential up 20 s and down 5 s, as on a train. 40,000 spans each: standard error of the mean 0.5 %, of
/// the variance 1.4 %; the tolerances are five of them.
#[test]
fn exponential_sensing_is_an_exponential_on_off_link() {
    let config = sensing(DurationLaw::Exponential(MS(5000)), DurationLaw::Exponential(MS(20_000)), None);
    let mut cycle = CognitiveCycle::new(&config, 8, "train");
    let end = AT(1_000_000_000);
    let log = play(&mut cycle, end);
    for (values, mean) in [
        (spans(&log, is_sensing_start, is_sensing_end), 5.0),
        (spans(&log, is_sensing_end, is_sensing_start), 20.0),
    ] {
        assert!(values.len() > 39_000);
        let (measured, variance) = mean_and_variance(&values);
        assert!((measured / mean - 1.0).abs() < 0.025, "mean {measured}, theory {mean}");
        assert!((variance / (mean * mean) - 1.0).abs() < 0.07, "variance {variance}");
    }
    let share = cycle.stats(end).sensing.as_secs_f64() / end.as_secs_f64();
    assert!((share - 0.2).abs() < 0.01, "down a fifth of the time: {share}");
}

/// Uniform spans: mean (low + high) / 2, variance (high - low)^2 / 12, within five standard errors.
#[test]
fn uniform_sensing_has_its_moments() {
    let config =
        sensing(DurationLaw::Uniform(MS(50), MS(150)), DurationLaw::Uniform(MS(1000), MS(3000)), None);
    let mut cycle = CognitiveCycle::new(&config, 9, "radio");
    let log = play(&mut cycle, AT(40_000_000));
    let off = spans(&log, is_sensing_start, is_sensing_end);
    let on = spans(&log, is_sensing_end, is_sensing_start);
    for (values, low, high) in [(off, 0.05, 0.15), (on, 1.0, 3.0)] {
        let (mean, variance) = mean_and_variance(&values);
        let n = values.len() as f64;
        let theory = (high - low) * (high - low) / 12.0;
        assert!(values.iter().all(|v| (low..=high).contains(v)));
        assert!((mean - (low + high) / 2.0).abs() < 5.0 * (theory / n).sqrt(), "mean {mean}");
        // A uniform law has kurtosis 1.8: the standard error of its sample variance is theory sqrt(0.8 / n).
        assert!((variance - theory).abs() < 5.0 * theory * (0.8 / n).sqrt(), "variance {variance}");
    }
}

/// PU arrivals are Poisson, and the time open between two switches is exponential with the same mean
/// (memoryless). 30,000 spans: five standard errors of the mean are 2.9 %, of the variance 8.2 %.
#[test]
fn pu_arrivals_are_poisson_and_so_is_the_time_between_switches() {
    let config = with_pu(CycleConfig::default(), MS(500));
    let mut cycle = CognitiveCycle::new(&config, 10, "radio");
    let log = play(&mut cycle, AT(20_000_000));
    let times = arrivals(&log);
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    let open = spans(
        &log,
        |e| matches!(e, LinkEvent::SwitchingEnd),
        |e| matches!(e, LinkEvent::SwitchingStart { .. }),
    );
    assert!(log.iter().any(|(_, e)| matches!(e, LinkEvent::PuArrival { during: Phase::Switching })));
    for values in [gaps, open] {
        assert!(values.len() > 30_000);
        let (mean, variance) = mean_and_variance(&values);
        assert!(
            (mean / 0.5 - 1.0).abs() < 0.029 && (variance / 0.25 - 1.0).abs() < 0.082,
            "{mean} {variance}"
        );
    }
}

#[test]
fn pu_arrivals_do_not_move_when_sensing_or_channels_change() {
    let reference = arrivals(&play(
        &mut CognitiveCycle::new(&with_pu(CycleConfig::default(), MS(700)), 11, "radio"),
        AT(300_000),
    ));
    assert!(reference.len() > 300);
    let mut keep = periodic();
    if let Some(sensing) = &mut keep.sensing {
        sensing.clock = SensingClock::Keep;
    }
    let exponential =
        sensing(DurationLaw::Exponential(MS(300)), DurationLaw::Exponential(MS(900)), Some(MS(10)));
    let mut ranged = periodic();
    ranged.channel = ChannelChoice::Range([mbit(1), mbit(15)]);
    for config in [periodic(), keep, exponential, ranged] {
        let mut cycle = CognitiveCycle::new(&with_pu(config.clone(), MS(700)), 11, "radio");
        assert_eq!(arrivals(&play(&mut cycle, AT(300_000))), reference, "{config:?}");
    }
    let other = CognitiveCycle::new(&with_pu(periodic(), MS(700)), 11, "another");
    assert_ne!(other.clone().next_change(), reference[0], "each radio has its own arrivals");
}

/// Random configurations: time is accounted for to the nanosecond, phases alternate lawfully, and a run is
/// repeated exactly. The message carries the case, which is the seed.
#[test]
fn every_configuration_accounts_for_all_time() {
    for case in 0..300 {
        let mut stream = RandomStream::new(case, "cases", 0);
        let config = random_config(&mut stream);
        assert_eq!(wrong(&config), "", "case {case}");
        let end = AT(30_000);
        let mut cycle = CognitiveCycle::new(&config, case, "radio");
        let log = play(&mut cycle, end);
        let stats = cycle.stats(end);
        assert_eq!(stats.transmitting + stats.sensing + stats.switching, end - Time::ZERO, "case {case}");

        let mut phase = Phase::Transmitting;
        let mut silent_since = None;
        let mut silence = Duration::ZERO;
        for (at, event) in &log {
            let after = match event {
                LinkEvent::SensingStart { until } => {
                    assert!(*until >= *at && phase == Phase::Transmitting, "case {case}");
                    Phase::Sensing
                }
                LinkEvent::SensingEnd { .. } => {
                    assert_eq!(phase, Phase::Sensing, "case {case}");
                    Phase::Transmitting
                }
                LinkEvent::SwitchingStart { .. } => Phase::Switching,
                LinkEvent::SwitchingEnd => {
                    assert_eq!(phase, Phase::Switching, "case {case}");
                    Phase::Transmitting
                }
                LinkEvent::PuArrival { during } => {
                    assert_eq!(*during, phase, "case {case}");
                    phase
                }
                LinkEvent::Handoff { .. } => {
                    assert_eq!(phase, Phase::Transmitting, "case {case}");
                    phase
                }
                _ => {
                    unreachable!("case {case}: a cycle hears no base stations")
                }
            };
            match (phase.is_silent(), after.is_silent()) {
                (false, true) => silent_since = Some(*at),
                (true, false) => silence += *at - silent_since.take().expect("it was silent"),
                _ => {}
            }
            phase = after;
        }
        silence += silent_since.map_or(Duration::ZERO, |since| end - since);
        assert_eq!(silence, stats.sensing + stats.switching, "case {case}");
        assert_eq!(play(&mut CognitiveCycle::new(&config, case, "radio"), end), log, "case {case}");
    }
}

fn random_law(stream: &mut RandomStream, longest: u64) -> DurationLaw {
    let span = |stream: &mut RandomStream| MS(1 + stream.below(longest));
    match stream.below(3) {
        0 => DurationLaw::Fixed(span(stream)),
        1 => DurationLaw::Exponential(span(stream)),
        _ => {
            let low = span(stream);
            DurationLaw::Uniform(low, low + span(stream))
        }
    }
}

fn random_config(stream: &mut RandomStream) -> CycleConfig {
    let sensing = (stream.below(4) > 0).then(|| SensingCycle {
        off: random_law(stream, 300),
        on: random_law(stream, 2000),
        start: (stream.below(2) == 0).then(|| MS(stream.below(3000))),
        clock: if stream.below(2) == 0 { SensingClock::Restart } else { SensingClock::Keep },
    });
    let pu = (stream.below(4) > 0)
        .then(|| PuArrivals { interarrival: MS(1 + stream.below(3000)), switching: MS(stream.below(200)) });
    let channel = match stream.below(3) {
        0 => ChannelChoice::Stay,
        1 => ChannelChoice::Set((0..1 + stream.below(4)).map(|i| mbit(i + 1)).collect()),
        _ => ChannelChoice::Range([mbit(1), mbit(1 + stream.below(9))]),
    };
    let dwell = MS(stream.below(2) * stream.below(4000));
    CycleConfig { sensing, pu, channel, dwell }
}

/// 8 s on, 2 s off, a new rate every 20 s (Fig. 4a of Zhou, Di Felice, Drozdenko and Chowdhury): every second
/// sensing.
#[test]
fn a_channel_is_kept_for_its_dwell() {
    let mut config = sensing(DurationLaw::Fixed(MS(2000)), DurationLaw::Fixed(MS(8000)), None);
    config.channel = ChannelChoice::Range([mbit(1), mbit(20)]);
    config.dwell = MS(20_000);
    let changes = |config: &CycleConfig| -> Vec<u64> {
        let log = play(&mut CognitiveCycle::new(config, 1, "radio"), AT(100_000));
        let handoffs = log.iter().filter(|(_, event)| matches!(event, LinkEvent::Handoff { .. }));
        handoffs.map(|(at, _)| at.as_nanos() / 1_000_000).collect()
    };
    assert_eq!(changes(&config), [20_000, 40_000, 60_000, 80_000, 100_000]);
    // A sensing that ends just before the time is up leaves the channel to the next.
    config.dwell = MS(20_001);
    assert_eq!(changes(&config), [30_000, 60_000, 90_000]);
    config.dwell = Duration::ZERO;
    assert_eq!(changes(&config).len(), 10);
}

/// A PU drives the radio away whatever the dwell, and the time on the new channel counts from there.
#[test]
fn a_pu_ends_the_dwell() {
    let mut config =
        with_pu(sensing(DurationLaw::Fixed(MS(100)), DurationLaw::Fixed(MS(900)), None), MS(7000));
    config.channel = ChannelChoice::Range([mbit(1), mbit(20)]);
    config.dwell = MS(5000);
    let log = play(&mut CognitiveCycle::new(&config, 1, "radio"), AT(200_000));
    let mut since = Time::ZERO;
    let mut switched = None;
    let (mut early, mut driven, mut free) = (0, 0, 0);
    for (at, event) in &log {
        // A rate drawn again is a channel of its own, so that every switch hands off the moment it ends.
        if let Some(end) = switched.take() {
            assert!(
                matches!(event, LinkEvent::Handoff { .. }) && *at == end,
                "the switch ended at {end:?}, then {event:?} at {at:?}"
            );
            driven += 1;
            early += u32::from(*at - since < MS(5000));
            since = *at;
            continue;
        }
        match event {
            LinkEvent::SwitchingEnd => switched = Some(*at),
            LinkEvent::Handoff { .. } => {
                assert!(*at - since >= MS(5000), "left at {at:?} without a PU, there since {since:?}");
                free += 1;
                since = *at;
            }
            _ => {}
        }
    }
    assert!(
        early > 5 && driven > early && free > 3,
        "{driven} by PUs, of which {early} early; {free} by sensing"
    );
}

/// What is wrong with a configuration, a field and a message each.
fn wrong(config: &CycleConfig) -> String {
    struct Found(Vec<String>);
    impl Check for Found {
        fn error(&mut self, field: &str, message: String, _: String) {
            self.0.push(format!("{field}: {message}"));
        }
    }
    let mut found = Found(Vec::new());
    config.check(Duration::from_secs(1_000_000), &mut found);
    found.0.join("; ")
}

#[test]
fn cycles_that_make_no_sense_are_refused() {
    let fixed = DurationLaw::Fixed;
    let law = |off, on| wrong(&sensing(off, on, None));
    let zero = "the duration is zero";
    assert!(law(fixed(MS(1)), fixed(MS(0))).starts_with(&format!("sensing.on: {zero}: this is how long")));
    assert!(law(fixed(MS(0)), fixed(MS(1))).starts_with(&format!("sensing.off: {zero}: this is how long")));
    let exponential = law(DurationLaw::Exponential(MS(0)), fixed(MS(1)));
    assert_eq!(exponential, format!("sensing.off.exponential: {zero}"));
    let uniform = law(fixed(MS(1)), DurationLaw::Uniform(MS(2), MS(1)));
    assert!(uniform.starts_with("sensing.on.uniform: the range begins above its end"), "{uniform}");
    let often = wrong(&with_pu(CycleConfig::default(), MS(0)));
    assert_eq!(often, format!("pu.interarrival: {zero}"));
    let channel = |channel| wrong(&CycleConfig { channel, ..CycleConfig::default() });
    assert_eq!(channel(ChannelChoice::Set(vec![])), "channel.set: the set has no channels");
    assert_eq!(channel(ChannelChoice::Set(vec![mbit(1), Rate::ZERO])), "channel.set.1: the rate is zero");
    let reversed = channel(ChannelChoice::Range([mbit(2), mbit(1)]));
    assert!(reversed.starts_with("channel.range: the range begins above its end"), "{reversed}");
    assert_eq!(channel(ChannelChoice::Range([Rate::ZERO, mbit(1)])), "channel.range.0: the rate is zero");
    assert_eq!(channel(ChannelChoice::Range([mbit(1), mbit(1)])), "");
}

/// Golden values: a change here changes every result and belongs in CHANGELOG "Changed results".
#[test]
fn golden_cycle() {
    let mut config = with_pu(
        sensing(DurationLaw::Exponential(MS(100)), DurationLaw::Exponential(MS(2000)), None),
        MS(3000),
    );
    config.channel = ChannelChoice::Range([mbit(1), mbit(15)]);
    let mut cycle = CognitiveCycle::new(&config, 1, "radio");
    play(&mut cycle, AT(100_000));
    let stats = cycle.stats(AT(100_000));
    let rate = cycle.rate().map(Rate::bits_per_second);
    assert_eq!(
        (stats.sensing.as_nanos(), stats.switching.as_nanos(), stats.pu_arrivals, stats.handoffs, rate),
        (5_910_035_554, 2_100_000_000, 21, 79, Some(12_445_188))
    );
}
