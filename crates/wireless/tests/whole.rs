//! Exchanges that are worked out when they begin, beside the same ones played frame by frame. Silences here
//! are longer than an exchange; a shorter one, where the two differ, is in `rendezvous.rs`.

use crate::common::{config, mbit, packet};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{
    Channel, ChannelId, ChannelTable, Intervals, OnInterval, PrimaryUser, PuActivity, Reach,
};
use cogtcp_units::{Bytes, Duration, Position, Probability, RandomStream, Time};
use cogtcp_wireless::{
    ChannelConfig, Dcf, FrameKind, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig,
    MediumEvent, PathLoss, PhyConfig, PrimaryUsers, Propagation, Rendezvous, Rules, SilenceRules,
};
use std::sync::Arc;

const ENDS: [InterfaceId; 2] = [InterfaceId(0), InterfaceId(1)];
/// Length of a run, ms.
const SPAN: u64 = 20_000;

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// What a comparison is made of.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Each radio falls silent by itself, and moves to another channel then.
    apart: bool,
    silence: SilenceRules,
    rts: bool,
    lossy: bool,
    released: bool,
    /// From one packet to the next, each end, ms on average.
    interval: u64,
}

/// Two channels, on each of which a PU comes and goes, one of them near the first end alone.
fn air(seed: u64) -> Arc<Air> {
    let mut draw = RandomStream::new(seed, "users", 0);
    let mut user = |band: u32, range: f64| {
        let (mut on, mut at) = (Vec::new(), 0);
        while at < SPAN {
            let arrival = at + 20 + draw.below(300);
            at = arrival + 1 + draw.below(60);
            on.push(OnInterval { arrival: ms(arrival), departure: ms(at) });
        }
        let (position, reach) = (Position::new(-50.0, 0.0), Reach::Range(range));
        PrimaryUser { id: band, position, band, reach, activity: Intervals::new(on).unwrap() }
    };
    let users = vec![user(1, 60.0), user(2, 500.0)];
    let mut channel = Channel::clean(mbit(1));
    channel.error_rate = Probability::new(0.05).unwrap();
    let channels = ChannelTable::new(2, 1, vec![channel.clone(), channel], None).unwrap();
    Arc::new(Air::new(PuActivity { users }, channels))
}

/// Everything that a medium reports but the exchanges worked out, and how many these are.
fn play(case: Case, whole_exchanges: bool, seed: u64) -> (Vec<(Time, MediumEvent<u32>)>, usize) {
    let dcf = Dcf { rts_threshold: if case.rts { Bytes::new(0) } else { Dcf::NO_RTS }, ..Dcf::default() };
    let mac = MacConfig { rules: Rules::two_stations(), queue_packets: 5, ..dcf.into() };
    let power = InterfaceConfig::new(0).power;
    let phy = PhyConfig::for_ranges(Propagation::new(PathLoss::Paper(2.0)), power, 500.0, 500.0);
    let error_rate = if case.lossy { 0.05 } else { 0.0 };
    let config = MediumConfig {
        phy,
        silence: case.silence,
        rendezvous: if case.apart { Rendezvous::Receiver } else { Rendezvous::Common },
        channels: vec![
            ChannelConfig { rate: mbit(1), error_rate },
            ChannelConfig { rate: mbit(2), error_rate },
        ],
        reports_frames: true,
        whole_exchanges,
        ..config(mac)
    };
    let air = air(seed);
    let users = if case.released {
        let streams = ENDS.map(|end| RandomStream::new(seed, &format!("escape {}", end.0), 0)).to_vec();
        PrimaryUsers::as_released(air, 0.0, streams)
    } else {
        PrimaryUsers::new(air)
    };
    let positions = vec![Position::new(0.0, 0.0), Position::new(100.0, 0.0)];
    let mut medium = Medium::new(config, positions, users, seed);
    for node in 0..2 {
        let loss = if case.lossy { 0.05 } else { 0.0 };
        medium.add_interface(InterfaceConfig { loss, ..InterfaceConfig::new(node) });
    }
    // Outer events: a radio changes, a packet comes.
    let mut outer = Vec::new();
    let mut draw = RandomStream::new(seed, "radios", 0);
    let silences: &[&[InterfaceId]] = if case.apart { &[&ENDS[..1], &ENDS[1..]] } else { &[&ENDS] };
    for (number, ends) in silences.iter().enumerate() {
        let mut at = Time::ZERO;
        while at < ms(SPAN) {
            let closes = at + draw.uniform_duration(Duration::from_millis(50), Duration::from_millis(200));
            let opens = closes + draw.uniform_duration(Duration::from_millis(20), Duration::from_millis(60));
            outer.push((at, number, Some((*ends, false, closes, draw.below(2) as u32))));
            outer.push((closes, number, Some((*ends, true, opens, 0))));
            at = opens;
        }
    }
    for number in 0..2 {
        let mut at = Time::ZERO;
        while at < ms(SPAN) {
            at += draw.exponential(Duration::from_millis(case.interval));
            outer.push((at, number, None));
        }
    }
    outer.sort_by_key(|(at, number, radio)| (*at, radio.is_none(), *number));
    let (mut log, mut exchanges, mut last_start) = (Vec::new(), 0, Time::ZERO);
    for (number, (mut at, end, radio)) in outer.into_iter().enumerate() {
        while medium.next_event() < at {
            let now = medium.next_change();
            medium.step();
            while let Some(event) = medium.poll_event() {
                match event {
                    MediumEvent::Exchange { .. } => exchanges += 1,
                    MediumEvent::OnAir { start, kind, .. } => {
                        let first = if case.rts { FrameKind::Rts } else { FrameKind::Data };
                        last_start = if kind == first { start } else { last_start };
                        log.push((start, event));
                    }
                    event => log.push((now, event)),
                }
            }
        }
        // Where the two differ: a packet that comes after a frame has begun, and before it is heard.
        if last_start <= at && at <= last_start + Duration::from_micros(1) {
            at = last_start + Duration::from_micros(2);
            medium.advance(at);
        }
        match radio {
            Some((ends, silent, until, channel)) => {
                if !silent {
                    ends.iter().for_each(|end| medium.tune(at, *end, ChannelId(channel)));
                }
                medium.set_silent(at, ends, silent, until);
            }
            None => {
                let _ = medium.enqueue(at, ENDS[end], packet(number as u32, 1 - end as u32));
            }
        }
    }
    assert!(medium.is_conserved());
    // What is on the air at the end is told by one alone.
    log.retain(|(time, _)| *time < ms(SPAN - 100));
    log.sort_by_key(|(time, event)| (*time, rank(event)));
    (log, exchanges)
}

/// An order of what happens at one time.
fn rank(event: &MediumEvent<u32>) -> (u32, u32) {
    match event {
        MediumEvent::OnAir { from, .. } => (0, from.0),
        MediumEvent::Received { from, .. } => (1, from.0),
        MediumEvent::AttemptFailed { from, .. } => (2, from.0),
        MediumEvent::Sent { from, .. } => (3, from.0),
        MediumEvent::Failed { from, .. } => (4, from.0),
        MediumEvent::QueueFree { at, .. } => (5, at.0),
        MediumEvent::Exchange { .. } => unreachable!("kept out of the log"),
    }
}

fn is_frame((_, event): &&(Time, MediumEvent<u32>)) -> bool {
    matches!(event, MediumEvent::OnAir { .. })
}

/// The same frames at the same nanosecond, whatever the radios do and primary users destroy.
#[test]
fn an_exchange_worked_out_has_the_frames_of_one_that_is_played() {
    let aware = |waits_for_peer, sends_while_silent| SilenceRules { waits_for_peer, sends_while_silent };
    let mut seed = 0;
    for apart in [false, true] {
        for silence in [aware(true, false), aware(false, true), aware(false, false), aware(true, true)] {
            for (rts, lossy, released) in
                [(true, false, false), (false, true, false), (true, true, true), (false, false, true)]
            {
                for interval in [12, 40] {
                    seed += 1;
                    let case = Case { apart, silence, rts, lossy, released, interval };
                    let (played, none) = play(case, false, seed);
                    let (worked_out, exchanges) = play(case, true, seed);
                    let first = played.iter().zip(&worked_out).position(|(a, b)| a != b);
                    let around = |log: &[(Time, MediumEvent<u32>)]| {
                        first.map(|at| log[at.saturating_sub(3)..(at + 3).min(log.len())].to_vec())
                    };
                    assert_eq!(
                        first,
                        None,
                        "{case:?}, seed {seed}:\n{:?}\n{:?}",
                        around(&played),
                        around(&worked_out)
                    );
                    assert_eq!(played.len(), worked_out.len(), "{case:?}, seed {seed}");
                    let frames = played.iter().filter(is_frame).count();
                    // At most four frames an exchange: a good part of them is worked out.
                    assert!(none == 0 && frames > 1000 && 8 * exchanges > frames, "{frames} {exchanges}");
                }
            }
        }
    }
}
