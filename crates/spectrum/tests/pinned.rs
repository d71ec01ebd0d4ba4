//! Laws, traces, channel tables and what a receiver finds in the air, committed as text.

use crate::committed::{compare, hash};
use cogtcp_spectrum::activity::{ActivityLaw, PuSpec, SpanLaw, StartState, scatter};
use cogtcp_spectrum::air::{Air, ReceiverModel, SnrModel};
use cogtcp_spectrum::propagation::{Position, Propagation};
use cogtcp_spectrum::{Channel, ChannelId, ChannelTable, Intervals, OnInterval, PuActivity, Reach};
use cogtcp_units::{Duration, Power, RandomStream, Rate, Time};
use std::fmt::Write;

fn laws() -> Vec<SpanLaw> {
    let shapes = [f64::NAN, -1.0, 0.0, 0.5, 1.0, 1.000_001, 3.0, 10.0, 10.000_001, f64::INFINITY];
    let mut laws = vec![
        SpanLaw::Empirical(vec![]),
        SpanLaw::Empirical([1, 20, 20, 300].map(Duration::from_millis).to_vec()),
    ];
    for span in [0, 1, 700_000_000].map(Duration::from_nanos) {
        laws.extend([SpanLaw::Exponential(span), SpanLaw::Deterministic(span)]);
        for shape in shapes {
            laws.push(SpanLaw::LogNormal { median: span, sigma: shape });
            laws.push(SpanLaw::Gamma { shape, scale: span });
            laws.push(SpanLaw::Pareto { minimum: span, shape });
        }
    }
    laws
}

fn shown(intervals: &Intervals) -> String {
    format!("{} {:016x}", intervals.len(), hash(format!("{:?}", intervals.as_slice()).as_bytes()))
}

#[test]
fn activity_laws() {
    let mut text = String::new();
    for law in laws() {
        let _ = write!(text, "{law:?}: ");
        if let Err(error) = law.validate() {
            let _ = writeln!(text, "{error}");
            continue;
        }
        let mut stream = RandomStream::new(3, "laws", 0);
        let draws: Vec<u64> = (0..20).map(|_| law.draw(&mut stream).as_nanos()).collect();
        let _ =
            writeln!(text, "{} {} {:016x}", law.mean(), law.typical(), hash(format!("{draws:?}").as_bytes()));
        // A law of nanoseconds has too many spans in a second.
        if law.mean() < 1e-3 || !law.mean().is_finite() {
            continue;
        }
        for start in [StartState::Off, StartState::On, StartState::Stationary] {
            let law =
                ActivityLaw { on: law.clone(), off: SpanLaw::Exponential(Duration::from_millis(400)), start };
            let drawn = law.generate(Duration::from_secs(20), 7, 2);
            let _ = writeln!(text, "  {start:?} {} {:?}", law.duty_cycle(), drawn.map(|it| shown(&it)));
        }
    }
    for (alpha, beta) in
        [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (2.0, 0.5), (1e10, 1.0), (1.0, f64::INFINITY)]
    {
        let _ = writeln!(text, "{alpha} {beta}: {:?}", ActivityLaw::exponential(alpha, beta));
    }
    let _ = writeln!(text, "{:?}", scatter(4, 500.0, 200.0, 3));
    compare("laws", &text);
}

/// Spans that touch, that are a nanosecond long, and more than a bucket of the index holds.
fn traces() -> Vec<Intervals> {
    let on = |arrival, departure| OnInterval {
        arrival: Time::from_nanos(arrival),
        departure: Time::from_nanos(departure),
    };
    let mut traces = vec![vec![], vec![on(0, 5)], vec![on(3, 5), on(5, 6), on(9, 10)]];
    let mut draw = RandomStream::new(5, "traces", 0);
    for count in [7, 40, 900] {
        let mut at = 0;
        traces.push(Vec::new());
        for _ in 0..count {
            let arrival = at + draw.below(9);
            let most = if draw.below(20) == 0 { 2000 } else { 12 };
            at = arrival + 1 + draw.below(most);
            traces.last_mut().unwrap().push(on(arrival, at));
        }
    }
    traces.into_iter().map(|list| Intervals::new(list).unwrap()).collect()
}

#[test]
fn what_is_asked_of_a_trace() {
    let mut text = String::new();
    for trace in traces() {
        let end = trace.as_slice().last().map_or(4, |last| last.departure.as_nanos()) + 4;
        let mut draw = RandomStream::new(1, "asked", 0);
        let mut said = String::new();
        for _ in 0..400 {
            let (from, until) = (Time::from_nanos(draw.below(end)), Time::from_nanos(draw.below(end)));
            let _ = write!(
                said,
                "{} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                trace.is_on(from),
                trace.overlaps(from, until),
                trace.overlapping(from, until),
                trace.busy_in(from, until),
                trace.next_arrival(from),
                trace.next_departure(from),
                trace.on_times(from, until),
                trace.off_times(from, until),
                trace.stats(from, until),
                trace.since(from)
            );
        }
        let whole = (Time::ZERO, Time::from_nanos(end));
        let _ = writeln!(text, "{} {:016x}", trace.len(), hash(said.as_bytes()));
        let _ = writeln!(
            text,
            "  {:?}",
            ActivityLaw::from_trace(&trace, whole.0, whole.1).map(|law| law.duty_cycle())
        );
        let _ = writeln!(text, "  {:?}", ActivityLaw::markov_from_trace(&trace, whole.0, whole.1));
    }
    let on = |arrival, departure| OnInterval {
        arrival: Time::from_nanos(arrival),
        departure: Time::from_nanos(departure),
    };
    for list in [vec![on(5, 5)], vec![on(6, 5)], vec![on(1, 5), on(4, 6)], vec![on(1, 5), on(5, 6)]] {
        let _ = writeln!(
            text,
            "{:?}",
            Intervals::new(list).map(|it| it.len()).map_err(|error| error.to_string())
        );
    }
    compare("traces", &text);
}

#[test]
fn channel_tables_and_the_air() {
    let mut text = String::new();
    let rate = Rate::from_bits_per_second(1_000_001);
    for (bands, per_band) in [(0, 1), (1, 0), (1, 1), (2, 3), (3, 4), (2, 5)] {
        let mut described = |what: &str, table: Result<ChannelTable, _>| match table {
            Ok(table) => {
                let rates: Vec<u64> =
                    table.iter().map(|(_, channel)| channel.rate.bits_per_second()).collect();
                let ids = (0..table.len()).map(ChannelId);
                let of: Vec<(u32, u32)> =
                    ids.map(|id| (table.band(id), table.centre(table.band(id)).0)).collect();
                let _ =
                    writeln!(text, "{bands} {per_band} {what}: {rates:?} {of:?} {}", table.usable().count());
            }
            Err(error) => _ = writeln!(text, "{bands} {per_band} {what}: {error}"),
        };
        described("uniform", ChannelTable::uniform(bands, per_band, rate));
        for m in [f64::NAN, -0.1, 0.0, 0.7, 1.999, 2.0] {
            described(&format!("alternating {m}"), ChannelTable::alternating(bands, per_band, rate, m));
        }
        let mut channels = vec![Channel::clean(rate); 6];
        described("six", ChannelTable::new(bands, per_band, channels.clone(), None));
        channels[2].noise = [1e-9, 4e-9, 2e-9].map(Power::from_watts).to_vec();
        channels[3].noise = vec![Power::from_watts(3e-9)];
        for interval in [None, Some(Duration::ZERO), Some(Duration::from_millis(10))] {
            described(
                &format!("noise {interval:?}"),
                ChannelTable::new(bands, per_band, channels.clone(), interval),
            );
        }
        for reserved in [1, 6] {
            channels.iter_mut().take(reserved).for_each(|channel| channel.reserved = true);
            described(
                "reserved",
                ChannelTable::new(bands, per_band, channels.clone(), Some(Duration::from_millis(10))),
            );
        }
    }
    // The noise of a moment, where a value begins and elsewhere.
    let noise = [1e-9, 4e-9, 2e-9].map(Power::from_watts).to_vec();
    let noisy = vec![Channel { noise, ..Channel::clean(rate) }];
    let steps = ChannelTable::new(1, 1, noisy, Some(Duration::from_millis(10))).unwrap();
    for at in [0, 9_999_999, 10_000_000, 10_000_001, 20_000_000, 90_000_000].map(Time::from_nanos) {
        let now = steps.noise(ChannelId(0), at);
        assert_eq!(
            (steps.peak_noise(ChannelId(0), at, at), steps.mean_noise(ChannelId(0), at, at)),
            (now, now)
        );
    }
    // Six channels of two bands, two of them with noise; users by range and by power.
    let mut channels = vec![Channel::clean(rate); 6];
    channels[2].noise = [1e-9, 4e-9, 2e-9].map(Power::from_watts).to_vec();
    channels[3].noise = vec![Power::from_watts(3e-9)];
    let table = ChannelTable::new(2, 3, channels, Some(Duration::from_millis(10))).unwrap();
    let law = ActivityLaw::exponential(20.0, 30.0).unwrap();
    let specs: Vec<PuSpec> = scatter(6, 300.0, 300.0, 2)
        .into_iter()
        .zip(0..)
        .map(|(position, id)| {
            let reach = if id % 2 == 0 {
                Reach::Range(150.0)
            } else {
                Reach::Power(Power::from_watts(1e-3 * f64::from(id)))
            };
            PuSpec { id, position, band: 1 + id % 2, reach, law: law.clone() }
        })
        .collect();
    let activity = PuActivity::generate(&specs, Duration::from_secs(1), 4).unwrap();
    for (leaks, attenuation) in [(false, 2.0), (true, 2.0), (true, 3.0)] {
        let mut air = Air::new(activity.clone(), table.clone());
        (air.leaks_across_bands, air.propagation) = (leaks, Propagation { attenuation });
        let mut draw = RandomStream::new(8, "air", 0);
        for _ in 0..150 {
            let place = Position::new(draw.uniform_in(-100.0, 400.0), draw.uniform_in(-100.0, 400.0));
            let channel = ChannelId(draw.below(6) as u32);
            let from = Time::from_nanos(draw.below(1_000_000_000));
            let until = from + Duration::from_nanos(draw.below(60_000_000));
            let watts = [0.0, 1e-9, 1e-8, 1e-7][draw.below(4) as usize];
            let receiver = ReceiverModel::new(Power::from_watts(watts), 10.0);
            let heard = air.heard(place, channel, &receiver);
            let said = format!(
                "{heard:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                air.look(&heard, channel, from, until, SnrModel::Received),
                air.look(&heard, channel, from, until, SnrModel::fixed_db(-3.0)),
                air.reception(place, channel, draw.uniform_in(0.0, 5e-8), from, until, &receiver),
                table.noise(channel, from),
                table.peak_noise(channel, from, until),
                table.mean_noise(channel, from, until)
            );
            let users: Vec<usize> = heard.iter().map(|it| it.index).collect();
            let _ = writeln!(text, "{} {users:?} {:016x}", channel.0, hash(said.as_bytes()));
        }
        let reaches = [Reach::Range(90.0), Reach::Range(0.0), Reach::Power(Power::from_watts(0.5))];
        for (reach, watts) in reaches.into_iter().flat_map(|reach| [0.0, 1e-9].map(|watts| (reach, watts))) {
            let sensitivity = Power::from_watts(watts);
            let (power, range) = (
                reach.as_power(&air.propagation, sensitivity),
                reach.as_range(&air.propagation, sensitivity),
            );
            let _ = writeln!(text, "{reach:?} {watts}: {power:?} {range}");
        }
    }
    compare("air", &text);
}
