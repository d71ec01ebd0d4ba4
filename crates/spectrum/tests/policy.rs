//! Decision policies: each rule on channels and reports of known state.

use cogtcp_spectrum::policy::{BestRate, ChannelHistory, Decision, DecisionView, PolicyConfig, PolicyKind};
use cogtcp_spectrum::{Channel, ChannelId, ChannelTable};
use cogtcp_units::{Duration, RandomStream, Rate, Time};
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, de::IntoDeserializer};

const NOW: Time = Time::from_millis(10_000);

/// Channels of these rates in Mbit/s; 0 is a reserved one.
fn table(rates: &[u64]) -> ChannelTable {
    let channels = rates.iter().map(|rate| Channel {
        reserved: *rate == 0,
        ..Channel::clean(Rate::from_bits_per_second((*rate).max(1) * 1_000_000))
    });
    ChannelTable::new(rates.len() as u32, 1, channels.collect(), None).unwrap()
}

fn decide(policy: PolicyConfig, channels: &ChannelTable, history: &ChannelHistory, current: u32) -> Decision {
    let view = DecisionView { now: NOW, current: ChannelId(current), channels, history };
    policy.kind().build().decide(&view, &mut RandomStream::new(1, "policy", 0))
}

fn to(channel: u32) -> Decision {
    Decision::Switch(ChannelId(channel))
}

#[test]
fn round_robin_is_equation_3() {
    let channels = table(&[1; 5]);
    let history = ChannelHistory::new(5);
    for current in 0..5 {
        assert_eq!(decide(PolicyConfig::RoundRobin, &channels, &history, current), to((current + 1) % 5));
    }
    let reserved = table(&[0, 1, 1, 0]);
    let next = |current| decide(PolicyConfig::RoundRobin, &reserved, &history, current);
    assert_eq!((next(1), next(2)), (to(2), to(1)), "reserved channels are passed over");
}

#[test]
fn random_is_even_over_the_others() {
    let channels = table(&[0, 1, 1, 1, 1]);
    let history = ChannelHistory::new(5);
    let view = DecisionView { now: NOW, current: ChannelId(2), channels: &channels, history: &history };
    let mut policy = PolicyConfig::Random.kind().build();
    let mut stream = RandomStream::new(2, "policy", 0);
    let mut counts = [0u32; 5];
    for _ in 0..30_000 {
        let Decision::Switch(channel) = policy.decide(&view, &mut stream) else { panic!("there are others") };
        counts[channel.0 as usize] += 1;
    }
    assert_eq!((counts[0], counts[2]), (0, 0), "neither the reserved nor the present one");
    // Five standard deviations of a binomial(30000, 1/3) are 408.
    assert!([1, 3, 4].iter().all(|c| counts[*c].abs_diff(10_000) < 408), "{counts:?}");
}

#[test]
fn sticky_stays() {
    assert_eq!(decide(PolicyConfig::Sticky, &table(&[1; 5]), &ChannelHistory::new(5), 3), Decision::Stay);
}

#[test]
fn least_busy_goes_where_the_fewest_reports_were() {
    let channels = table(&[1; 4]);
    let mut history = ChannelHistory::new(4);
    let next = |history: &ChannelHistory| decide(PolicyConfig::LeastBusy, &channels, history, 1);
    assert_eq!(next(&history), to(2), "nothing known: the next in order");
    for (channel, busy) in [(2, true), (3, false), (3, false), (3, true), (0, false)] {
        history.record(ChannelId(channel), NOW, busy);
    }
    // Laplace: channel 0 has 1/3, 3 has 2/5, 2 has 2/3.
    assert!((history.busy_share(ChannelId(3)) - 0.4).abs() < 1e-12);
    assert_eq!(next(&history), to(0));
    history.record(ChannelId(0), NOW, true);
    assert_eq!(next(&history), to(3));
}

#[test]
fn best_rate_goes_to_the_fastest_that_was_not_busy_of_late() {
    let channels = table(&[5, 2, 9, 9, 0]);
    let mut history = ChannelHistory::new(5);
    let policy = PolicyConfig::BestRate(BestRate { memory: Duration::from_secs(1) });
    let next = |history: &ChannelHistory| decide(policy, &channels, history, 1);
    assert_eq!(next(&history), to(2), "the first of equals in order");
    history.record(ChannelId(2), Time::from_millis(9500), true);
    assert_eq!(next(&history), to(3));
    history.record(ChannelId(3), Time::from_millis(9001), true);
    assert_eq!(next(&history), to(0));
    history.record(ChannelId(0), Time::from_millis(9999), true);
    assert_eq!(next(&history), to(2), "all busy of late: the next in order");
    let mut history = ChannelHistory::new(5);
    history.record(ChannelId(2), Time::from_millis(9000), true);
    assert_eq!(next(&history), to(2), "a report is forgotten after the memory");
}

/// A policy is called in scenarios as it calls itself.
#[test]
fn policies_have_their_names_of_scenarios() {
    for policy in
        [PolicyConfig::RoundRobin, PolicyConfig::Random, PolicyConfig::Sticky, PolicyConfig::LeastBusy]
    {
        let name: StrDeserializer<'_, Error> = policy.kind().build().name().into_deserializer();
        assert_eq!(PolicyConfig::deserialize(name), Ok(policy));
    }
    assert_eq!(BestRate::default().build().name(), "best_rate");
}
