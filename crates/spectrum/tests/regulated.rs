//! A CR user under each regulation, among primary users at known times: when it is on the air, by clause and
//! timer. And in 10^4 random bands, in which no primary user is transmitted over beyond the allowed time.

use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::detector::FixedDetector;
use cogtcp_spectrum::policy::RoundRobin;
use cogtcp_spectrum::regulation::{
    CbrsRules, DfsRules, DpaAnswer, QuietPeriods, ReducedPower, RegulationConfig, TvwsRules,
};
use cogtcp_spectrum::{
    Channel, ChannelId, ChannelTable, CognitiveConfig, CognitiveConfigError, CognitiveRadio, Intervals,
    LinkEvent, OnInterval, Phase, PrimaryUser, PuActivity, Radio, Reach,
};
use cogtcp_units::{Decibel, Duration, Position, RandomStream, Rate, Time};
use std::sync::Arc;

const RATE: Rate = Rate::from_bits_per_second(20_000_000);
const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// A band for each list of ON periods.
fn band(users: &[&[(f64, f64)]]) -> Arc<Air> {
    let user = |(place, periods): (usize, &&[(f64, f64)])| {
        let on = periods.iter().map(|(from, until)| OnInterval { arrival: s(*from), departure: s(*until) });
        let activity = Intervals::new(on.collect()).unwrap();
        let band = place as u32 + 1;
        PrimaryUser { id: band, position: Position::default(), band, reach: Reach::Range(500.0), activity }
    };
    let activity = PuActivity { users: users.iter().enumerate().map(user).collect() };
    let count = users.len() as u32;
    let channels = vec![Channel::clean(RATE); users.len()];
    Arc::new(Air::new(activity, ChannelTable::new(count, 1, channels, None).unwrap()))
}

fn radio(regulation: RegulationConfig, air: &Arc<Air>) -> CognitiveRadio {
    let quiet = match &regulation {
        RegulationConfig::QuietPeriods(quiet) => Some(quiet.clone()),
        _ => None,
    };
    let mut config = CognitiveConfig { regulation: Some(regulation), ..CognitiveConfig::default() };
    if let Some(quiet) = quiet {
        config.sensing_time = quiet.within;
        config.transmission_time = quiet.every - quiet.within;
        config.second_look = Some(quiet.between);
    }
    let (detector, policy) = (Box::new(FixedDetector::PERFECT), Box::new(RoundRobin));
    CognitiveRadio::new(config, Arc::clone(air), detector, policy, 1, "radio").unwrap()
}

/// When the radio opens and falls silent up to `end`, and on which channel.
fn openings(radio: &mut CognitiveRadio, end: f64) -> Vec<(f64, f64, u32)> {
    let mut found = Vec::new();
    let mut since = (!radio.phase().is_silent()).then(|| (Time::ZERO, radio.loaded()));
    loop {
        let at = radio.next_change();
        let now = at.min(s(end));
        if at <= s(end) {
            radio.advance(at);
        }
        let open = (!radio.phase().is_silent()).then(|| radio.loaded());
        let is_over = since.is_some() && (at > s(end) || open != since.map(|(_, channel)| channel));
        if let Some((from, channel)) = since.filter(|_| is_over) {
            found.push((from.as_secs_f64(), now.as_secs_f64(), channel.0));
            since = None;
        }
        if at > s(end) {
            return found;
        }
        if since.is_none() {
            since = open.map(|channel| (now, channel));
        }
    }
}

fn cbrs(rules: CbrsRules) -> RegulationConfig {
    RegulationConfig::Cbrs(rules)
}

/// WINNF-TS-0016 section 8.6, response code 501: the heartbeat after the activation of the DPA ends the right
/// to transmit; `stop` later the radio is silent. It comes back with the first heartbeat after the DPA's end.
/// 47 CFR 96.15(a)(4): 300 s.
#[test]
fn a_dpa_suspends_the_grant_at_the_next_heartbeat() {
    let air = band(&[&[(100.0, 400.0)]]);
    let mut radio = radio(cbrs(CbrsRules { stop: SECOND * 5, ..CbrsRules::default() }), &air);
    // Heartbeats at 60, 120, ...; each answer takes 0.2 s.
    assert_eq!(openings(&mut radio, 600.0), [(0.0, 125.2, 0), (420.2, 600.0, 0)]);
    let stats = radio.stats(s(600.0));
    assert_eq!((stats.pu_arrivals, stats.handoffs), (1, 0));
    let protection = radio.protection(s(600.0));
    assert_eq!((protection.vacated, protection.vacate_max), (1, Duration::from_millis(25_200)));
    assert_eq!(protection.outlasted, 0, "no incumbent was there before");
}

/// WINNF-TS-0016 section 8.6, response code 500 with operationParam: another channel where one is free. The
/// old one is used until the new grant is authorized, two answers later.
#[test]
fn a_dpa_relocates_the_radio() {
    let air = band(&[&[(100.0, 400.0)], &[]]);
    let rules = CbrsRules { dpa: DpaAnswer::Relocate, ..CbrsRules::default() };
    let mut radio = radio(cbrs(rules), &air);
    // The heartbeat at 120 s, the grant and its heartbeat take 0.2 s each; 1 ms to retune.
    assert_eq!(openings(&mut radio, 600.0), [(0.0, 120.6, 0), (120.601, 600.0, 1)]);
    assert_eq!(radio.stats(s(600.0)).handoffs, 1);
}

/// WINNF-TS-0016 section 8.6: less power on the same channel, at which incumbents bear nothing; full power
/// again after the DPA.
#[test]
fn a_dpa_reduces_the_power() {
    let air = band(&[&[(100.0, 400.0)]]);
    let rate = Rate::from_bits_per_second(5_000_000);
    let power = ReducedPower { by: Decibel(10.0), rate: Some(rate) };
    let rules = CbrsRules { dpa: DpaAnswer::Reduce(power), ..CbrsRules::default() };
    let mut radio = radio(cbrs(rules), &air);
    let mut changes = Vec::new();
    while radio.next_change() < s(600.0) {
        let at = radio.next_change();
        radio.advance(at);
        assert_eq!(radio.phase(), Phase::Transmitting, "{at:?}");
        while let Some((at, event)) = radio.poll_event() {
            if let LinkEvent::RateChange { rate } = event {
                changes.push((at.as_secs_f64(), rate, radio.power_reduction().0));
            }
        }
    }
    // Heartbeats at 120 s and, of the second grant (authorized at 120.6 s, first heartbeat at 120.4 s), at
    // 420.4 s.
    assert_eq!(changes, [(120.6, Some(rate), 10.0), (421.0, Some(RATE), 0.0)]);
}

/// WINNF-TS-0016 section 8.5: without a grant nothing is sent. A radio that is not ready asks twice. In a DPA
/// its grant is refused (400), and asked for again 60 s after the answer.
#[test]
fn a_cbsd_is_silent_until_its_first_heartbeat_is_answered() {
    let rules = CbrsRules { ready: false, ..CbrsRules::default() };
    assert_eq!(openings(&mut radio(cbrs(rules.clone()), &band(&[&[]])), 100.0), [(0.4, 100.0, 0)]);
    assert_eq!(openings(&mut radio(cbrs(rules), &band(&[&[(0.0, 50.0)]])), 100.0), [(60.6, 100.0, 0)]);
}

/// WINNF-TS-0016 section 8.5, grantExpireTime.
#[test]
fn a_cbsd_pauses_when_its_grant_expires() {
    let rules = CbrsRules { grant: SECOND * 100, ..CbrsRules::default() };
    let openings = openings(&mut radio(cbrs(rules), &band(&[&[]])), 200.0);
    // Silent at 101 s, one second after the grant; the heartbeat's timer asks for the next grant at 120 s.
    assert_eq!(openings, [(0.0, 101.0, 0), (120.4, 200.0, 0)]);
}

/// KDB 905462 D02, table 4: data ends within the channel closing transmission time, the next channel is
/// checked for 60 s, and the one with radar is not used for 30 min.
#[test]
fn radar_moves_the_radio() {
    let air = band(&[&[(100.0, 110.0)], &[(500.0, 510.0)]]);
    let mut radio = radio(RegulationConfig::Dfs(DfsRules::default()), &air);
    let openings = openings(&mut radio, 2100.0);
    let expected = [
        (0.0, 100.1, 0),
        // 0.5 s of channel move, 60 s of channel availability check, 1 ms to retune.
        (160.501, 500.1, 1),
        // The channel move ends at 500.5 s; the first channel is free from 1900 s on.
        (1960.001, 2100.0, 0),
    ];
    assert_eq!(openings, expected);
    assert_eq!(radio.stats(s(2100.0)).sensing, SECOND * 120);
}

/// KDB 905462 D02, table 4: radar in the availability check sends the device to the next channel.
#[test]
fn radar_in_the_check_ends_it() {
    let air = band(&[&[(100.0, 110.0)], &[(130.0, 131.0)], &[]]);
    let mut radio = radio(RegulationConfig::Dfs(DfsRules { ready: false, ..DfsRules::default() }), &air);
    let openings = openings(&mut radio, 300.0);
    // 60 s from 130 s on, and 1 ms to retune.
    assert_eq!(openings, [(60.0, 100.1, 0), (190.001, 300.0, 2)]);
    // After the first channel's check, with which the run begins: the second channel's and the third's.
    assert_eq!(radio.stats(s(300.0)).sensings, 2);
}

/// RFC 7545 section 5.11: the device leaves a channel before stopTime, and never meets the incumbent.
#[test]
fn a_registered_incumbent_is_never_met() {
    let air = band(&[&[(5000.0, 9000.0)], &[(6000.0, 7000.0)]]);
    let mut radio = radio(RegulationConfig::Tvws(TvwsRules::default()), &air);
    let openings = openings(&mut radio, 10_000.0);
    // `lead` is 100 ms; from 6000 s to 7000 s both channels are taken.
    let expected = [(0.0, 4999.9, 0), (4999.901, 5999.9, 1), (7000.0, 10_000.0, 1)];
    assert_eq!(openings, expected);
    assert_eq!(radio.protection(s(10_000.0)).exposed, Duration::ZERO);
}

/// 47 CFR 15.711: an incumbent that is registered as it comes is found at the next check, an hour after the
/// last at most.
#[test]
fn an_unregistered_incumbent_is_found_at_the_next_check() {
    let air = band(&[&[(5000.0, 9000.0)]]);
    let mut radio =
        radio(RegulationConfig::Tvws(TvwsRules { notice: Duration::ZERO, ..TvwsRules::default() }), &air);
    // Checks at 3600 s and, an hour after its answer, at 7201 s; the answer names the end of the reservation.
    assert_eq!(openings(&mut radio, 9500.0), [(0.0, 7202.0, 0), (9000.0, 9500.0, 0)]);
    assert_eq!(radio.protection(s(9500.0)).vacate_max, Duration::from_secs(2202));
}

/// IEEE 802.22: a look within a frame; where it reports, a look between frames on the same channel; where
/// that reports too, the next channel.
#[test]
fn quiet_periods_have_two_stages() {
    let air = band(&[&[(1.0, 9.0)], &[]]);
    let mut radio = radio(RegulationConfig::QuietPeriods(QuietPeriods::default()), &air);
    let mut looks = Vec::new();
    while radio.next_change() < s(1.4) {
        let at = radio.next_change();
        radio.advance(at);
        while let Some((at, event)) = radio.poll_event() {
            if let LinkEvent::SensingStart { until } = event {
                looks.push((at.as_secs_f64(), until - at, radio.channel().0));
            }
        }
    }
    let (within, between) = (MILLISECOND * 5, MILLISECOND * 30);
    let early = (0..=6).map(|cycle| (0.16 * f64::from(cycle), within, 0));
    let rounded = |looks: Vec<(f64, Duration, u32)>| -> Vec<(i64, Duration, u32)> {
        looks.into_iter().map(|(at, span, channel)| ((at * 1e6).round() as i64, span, channel)).collect()
    };
    // The look at 1.12 s reports; the one between frames follows; then 1 ms to the next channel, which has a
    // whole look.
    let late = [(1.12, within, 0), (1.125, between, 0), (1.156, between, 1), (1.341, within, 1)];
    assert_eq!(rounded(looks), rounded(early.chain(late).collect()));
}

#[test]
fn a_regulated_radio_has_no_times_to_set() {
    let mut radio = radio(cbrs(CbrsRules::default()), &band(&[&[]]));
    assert_eq!(radio.set_times(SECOND, SECOND), Err(CognitiveConfigError::Regulated));
}

/// A regulation with settings drawn within what it allows.
fn any_regulation(random: &mut RandomStream) -> RegulationConfig {
    let mut up_to = |most: Duration| Duration::from_nanos(random.below(most.as_nanos() + 1));
    // `up_to` has borrowed `random`: small numbers are drawn through it, too.
    match up_to(Duration::from_nanos(2)).as_nanos() {
        0 => {
            let (transmit, stop) = (up_to(SECOND * 239) + SECOND, up_to(SECOND * 59));
            let dpa = match up_to(Duration::from_nanos(2)).as_nanos() {
                0 => DpaAnswer::Suspend,
                1 => DpaAnswer::Relocate,
                _ => DpaAnswer::Reduce(ReducedPower { by: Decibel(10.0), rate: None }),
            };
            cbrs(CbrsRules {
                heartbeat: SECOND * 2 + up_to(SECOND * 200),
                transmit,
                stop,
                retry: SECOND * 2 + up_to(SECOND * 100),
                answer: up_to(SECOND),
                grant: SECOND * 10 + up_to(SECOND * 5000),
                esc: up_to(SECOND * 60),
                dpa,
                ready: up_to(Duration::from_nanos(1)).is_zero(),
            })
        }
        1 => {
            let closing = up_to(MILLISECOND * 190);
            RegulationConfig::Dfs(DfsRules {
                availability_check: SECOND * 60,
                closing,
                channel_move: closing + up_to(SECOND * 9),
                non_occupancy: SECOND * 1800,
                detection: up_to(SECOND),
                ready: up_to(Duration::from_nanos(1)).is_zero(),
            })
        }
        _ => RegulationConfig::Tvws(TvwsRules {
            check: SECOND * 10 + up_to(SECOND * 5000),
            grace: SECOND + up_to(SECOND * 600),
            retry: SECOND * 5 + up_to(SECOND * 60),
            answer: up_to(SECOND * 4),
            validity: SECOND * 100 + up_to(SECOND * 100_000),
            notice: up_to(SECOND * 6000),
            lead: MILLISECOND * 10 + up_to(MILLISECOND * 200),
            ready: up_to(Duration::from_nanos(1)).is_zero(),
        }),
    }
}

/// 10^4 bands: whatever the settings and the primary users, a saturated radio whose last frame ends up to 5
/// ms after it falls silent transmits over nobody beyond the allowed time. A debug build stops at the first
/// frame that does.
#[test]
fn nobody_is_transmitted_over_beyond_the_allowed_time() {
    let (mut interfered, mut open) = (Duration::ZERO, Duration::ZERO);
    for seed in 0..10_000 {
        let mut random = RandomStream::new(seed, "regulated", 0);
        let end = 8000.0 * random.uniform();
        let mean = 10.0 + 1500.0 * random.uniform();
        let users: Vec<Vec<(f64, f64)>> = (0..1 + random.below(3))
            .map(|_| {
                let (mut at, mut periods) = (0.0, Vec::new());
                while at < end {
                    let from = at + 2.0 * mean * random.uniform() * random.uniform();
                    at = from + 0.001 + mean * random.uniform();
                    periods.push((from, at));
                }
                periods
            })
            .collect();
        let users: Vec<&[(f64, f64)]> = users.iter().map(Vec::as_slice).collect();
        let mut radio = radio(any_regulation(&mut random), &band(&users));
        let mut since = (!radio.phase().is_silent()).then_some((Time::ZERO, radio.loaded()));
        let mut plan = radio.phase_end();
        while radio.next_change() < s(end) {
            let at = radio.next_change();
            assert!(plan >= at || since.is_none(), "seed {seed}: open beyond {plan:?} at {at:?}");
            let was_reduced = radio.power_reduction().0 > 0.0;
            radio.advance(at);
            if let Some((from, channel)) = since {
                let is_over = radio.phase().is_silent();
                let until = if is_over { at + MILLISECOND * 5 } else { at };
                // Incumbents bear nothing at reduced power.
                if !was_reduced {
                    radio.transmitted_on(channel, from, until);
                }
                open += at - from;
            }
            since = (!radio.phase().is_silent()).then_some((at, radio.loaded()));
            plan = radio.phase_end();
        }
        let protection = radio.protection(s(end));
        assert_eq!(protection.overdue, Some(Duration::ZERO), "seed {seed}");
        interfered += protection.interfered;
    }
    assert!(interfered > SECOND * 50_000, "{interfered}: primary users do suffer, within the allowed time");
    assert!(open > SECOND * 5_000_000, "{open}: radios do transmit");
}

/// A CBSD asks for the channel that its radio begins on.
#[test]
fn a_cbsd_asks_for_its_own_channel() {
    let config = CognitiveConfig {
        regulation: Some(cbrs(CbrsRules::default())),
        channel: ChannelId(2),
        ..CognitiveConfig::default()
    };
    let (detector, policy) = (Box::new(FixedDetector::PERFECT), Box::new(RoundRobin));
    let mut radio =
        CognitiveRadio::new(config, band(&[&[], &[], &[]]), detector, policy, 1, "radio").unwrap();
    assert_eq!(openings(&mut radio, 10.0), [(0.0, 10.0, 2)]);
}

#[test]
fn channel_zero_is_used_first_where_nobody_says_otherwise() {
    let mut radio = radio(RegulationConfig::Tvws(TvwsRules::default()), &band(&[&[], &[]]));
    assert_eq!(openings(&mut radio, 10.0), [(0.0, 10.0, 0)]);
    assert_eq!(radio.channel(), ChannelId(0));
}
