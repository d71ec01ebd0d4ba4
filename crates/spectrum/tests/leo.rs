//! Links over satellites: every change of delay and phase by hand, and the laws of what is drawn.

use cogtcp_spectrum::{LeoConfig, LeoRadio, LinkEvent, Phase, Radio};
use cogtcp_units::{Duration, Rate, Time};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn config() -> LeoConfig {
    LeoConfig {
        period: Duration::from_secs(15),
        start: Some(Duration::from_secs(5)),
        outage: MS(50),
        delay: [MS(20), MS(40)],
        rate: Some([Rate::from_bits_per_second(50_000_000), Rate::from_bits_per_second(150_000_000)]),
        spike: MS(30),
        first_edge: MS(140),
        last_edge: MS(75),
    }
}

/// When the radio changes up to `end`: the time in ms, the phase from then on, and by how many ms the delay
/// is above that of its satellite.
fn changes(radio: &mut LeoRadio, end: u64) -> Vec<(u64, Phase, bool)> {
    let mut found = Vec::new();
    let mut base = radio.delay().unwrap();
    while radio.next_change() < Time::ZERO + MS(end) {
        let at = radio.next_change();
        let satellite = radio.channel();
        radio.advance(at);
        let delay = radio.delay().unwrap();
        if radio.channel() != satellite {
            // A new satellite begins at an edge: this is its delay without the spike.
            base = delay - MS(30);
        }
        found.push((at.as_nanos() / 1_000_000, radio.phase(), delay > base));
    }
    found
}

/// A handoff at 5 s and each 15 s: 50 ms without a link, 30 ms more delay for 140 ms after its beginning and
/// 75 ms before the next.
#[test]
fn a_period_has_an_outage_and_two_edges() {
    let mut radio = LeoRadio::new(&config(), 1, "satellite");
    let open = Phase::Transmitting;
    let expected = [
        (4_925, open, true),
        (5_000, Phase::Switching, true),
        (5_050, open, true),
        (5_140, open, false),
        (19_925, open, true),
        (20_000, Phase::Switching, true),
        (20_050, open, true),
        (20_140, open, false),
    ];
    assert_eq!(changes(&mut radio, 21_000), expected);
    assert_eq!(radio.stats(Time::from_millis(21_000)).switching, MS(100));
    assert_eq!(radio.stats(Time::from_millis(21_000)).handoffs, 2);
    // Satellites are counted one by one.
    assert_eq!(radio.channel().0, LeoRadio::new(&config(), 1, "satellite").channel().0 + 2);
}

/// An outage longer than the first edge: the delay is back before the link is.
#[test]
fn an_outage_may_outlast_the_edge() {
    let mut radio = LeoRadio::new(&LeoConfig { outage: MS(500), ..config() }, 1, "satellite");
    let silent = Phase::Switching;
    let expected = [
        (4_925, Phase::Transmitting, true),
        (5_000, silent, true),
        (5_140, silent, false),
        (5_500, Phase::Transmitting, false),
    ];
    assert_eq!(changes(&mut radio, 6_000), expected);
}

/// Without an outage the link is never silent; a handoff is told all the same.
#[test]
fn a_handoff_without_an_outage_is_a_handoff() {
    let mut radio = LeoRadio::new(&LeoConfig { outage: Duration::ZERO, ..config() }, 1, "satellite");
    let mut handoffs = 0;
    while radio.next_change() < Time::from_millis(60_000) {
        let at = radio.next_change();
        assert_eq!(radio.advance(at), Phase::Transmitting);
        while let Some((_, event)) = radio.poll_event() {
            handoffs += u32::from(matches!(event, LinkEvent::Handoff { .. }));
        }
    }
    // At 5, 20, 35 and 50 s.
    assert_eq!(handoffs, 4);
}

/// Delay and rate of 10,000 satellites are uniform over eight seeds each: both bounds are met within 1 % of
/// the range, the mean of a seed lies within 4 standard errors and the mean of all within 3. By chance 1 run
/// in 150 would fail.
#[test]
fn satellites_are_drawn_uniformly() {
    const DRAWN: usize = 10_000;
    let (mut delays, mut rates) = (Vec::new(), Vec::new());
    for seed in 1..=8 {
        let mut radio = LeoRadio::new(&LeoConfig { spike: Duration::ZERO, ..config() }, seed, "satellite");
        while delays.len() < seed as usize * DRAWN {
            let (at, satellite) = (radio.next_change(), radio.channel());
            radio.advance(at);
            if radio.channel() != satellite {
                delays.push(radio.delay().unwrap().as_secs_f64());
                rates.push(radio.rate().unwrap().bits_per_second() as f64);
            }
        }
    }
    for (values, low, high) in [(delays, 0.02, 0.04), (rates, 50e6, 150e6)] {
        // How far the mean of some values is from the middle, in standard errors of a uniform law.
        let off = |values: &[f64]| {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            (mean - 0.5 * (low + high)) / ((high - low) / (12.0 * count).sqrt())
        };
        let each: Vec<f64> = values.chunks(DRAWN).map(off).collect();
        assert!(each.iter().all(|off| off.abs() < 4.0), "{each:?}");
        assert!(off(&values).abs() < 3.0, "{}", off(&values));
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let slack = 0.01 * (high - low);
        assert!(least >= low && least < low + slack && most <= high && most > high - slack, "{least} {most}");
    }
}

/// Without a time for it the first handoff is anywhere in the first period, by the seed.
#[test]
fn the_first_handoff_is_drawn() {
    let first = |seed| {
        let mut radio = LeoRadio::new(
            &LeoConfig { start: None, last_edge: Duration::ZERO, ..config() },
            seed,
            "satellite",
        );
        let at = radio.next_change();
        radio.advance(at);
        assert_eq!(radio.phase(), Phase::Switching);
        at
    };
    let times: Vec<Time> = (0..100).map(first).collect();
    assert!(times.iter().all(|at| *at <= Time::from_millis(15_000)));
    assert!(
        times.iter().any(|at| *at < Time::from_millis(3_000))
            && times.iter().any(|at| *at > Time::from_millis(12_000))
    );
}
