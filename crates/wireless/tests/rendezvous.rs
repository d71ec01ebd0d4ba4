//! Two stations with channels of their own, by hand. Each case is played frame by frame, and with exchanges
//! worked out.

use crate::common::{config, mbit, packet};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::{Duration, Position, Time};
use cogtcp_wireless::{
    ChannelConfig, ExchangeFailure, FrameKind, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig,
    MediumEvent, Rendezvous, Rules, SilenceRules,
};

const ENDS: [InterfaceId; 2] = [InterfaceId(0), InterfaceId(1)];

fn us(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// Two stations 100 m apart, each on the channel of its number; the second is slower by half. Nobody knows of
/// silences.
fn stations(rendezvous: Rendezvous, whole_exchanges: bool) -> Medium<u32, Vec<Position>> {
    let mac = MacConfig { rules: Rules::two_stations(), ..MacConfig::default() };
    let channel = |rate| ChannelConfig { rate, error_rate: 0.0 };
    let config = MediumConfig {
        channels: vec![channel(mbit(1)), channel(mbit(2))],
        silence: SilenceRules { waits_for_peer: false, sends_while_silent: true },
        reports_frames: true,
        rendezvous,
        whole_exchanges,
        ..config(mac)
    };
    let mut medium = Medium::new(config, vec![Position::new(0.0, 0.0), Position::new(100.0, 0.0)], (), 1);
    for end in [0, 1] {
        medium.add_interface(InterfaceConfig { channel: ChannelId(end), ..InterfaceConfig::new(end) });
    }
    medium
}

/// What has happened by `until`, in the order of time.
fn play(medium: &mut Medium<u32, Vec<Position>>, until: Time) -> Vec<MediumEvent<u32>> {
    medium.advance(until);
    assert!(medium.is_conserved());
    std::iter::from_fn(|| medium.poll_event()).collect()
}

/// Sender, kind, channel and start in microseconds of every frame.
fn frames(events: &[MediumEvent<u32>]) -> Vec<(u32, FrameKind, u32, u64)> {
    let frame = |event: &MediumEvent<u32>| match event {
        MediumEvent::OnAir { from, kind, channel, start, .. } => {
            Some((from.0, *kind, channel.0, (*start - Time::ZERO).as_nanos() / 1000))
        }
        _ => None,
    };
    events.iter().filter_map(frame).collect()
}

fn failures(events: &[MediumEvent<u32>]) -> Vec<(u32, Time, ExchangeFailure)> {
    let failure = |event: &MediumEvent<u32>| match event {
        MediumEvent::AttemptFailed { time, from, cause } => Some((from.0, *time, *cause)),
        _ => None,
    };
    events.iter().filter_map(failure).collect()
}

/// All four frames go over the receiver's channel, at its rate: 1048 bytes take 8384 us on the first, 4192 us
/// on the second.
#[test]
fn an_exchange_takes_place_on_the_receivers_channel() {
    use FrameKind::{Ack, Cts, Data, Rts};
    for whole in [false, true] {
        for (sender, span) in [(0, 4192), (1, 8384)] {
            let mut medium = stations(Rendezvous::Receiver, whole);
            let (receiver, data) = (1 - sender, 352 + 1 + 10 + 304 + 1 + 10);
            medium.enqueue(us(0), ENDS[sender as usize], packet(7, receiver));
            let events = play(&mut medium, us(50_000));
            let expected = [
                (sender, Rts, receiver, 0),
                (receiver, Cts, receiver, 363),
                (sender, Data, receiver, data),
                (receiver, Ack, receiver, data + 192 + span + 11),
            ];
            assert_eq!(frames(&events), expected, "whole {whole}");
            let arrives = us(data + 192 + span + 1);
            let arrived = |event: &MediumEvent<u32>| matches!(event, MediumEvent::Received { time, payload: 7, .. } if *time == arrives);
            assert!(events.iter().any(arrived), "whole {whole}");
            assert_eq!(medium.channel(ENDS[sender as usize]), ChannelId(sender), "it has never left its own");
        }
        let mut medium = stations(Rendezvous::Common, whole);
        medium.enqueue(us(0), ENDS[0], packet(7, 1));
        let causes = failures(&play(&mut medium, us(200_000)));
        assert!(
            causes.len() == 7 && causes.iter().all(|(_, _, cause)| *cause == ExchangeFailure::OutOfReach)
        );
    }
}

/// Each sends on the other's channel at one instant: neither hears what comes in on its own.
#[test]
fn two_that_begin_at_once_collide_whatever_their_channels() {
    for whole in [false, true] {
        let mut medium = stations(Rendezvous::Receiver, whole);
        medium.enqueue(us(0), ENDS[0], packet(1, 1));
        medium.enqueue(us(0), ENDS[1], packet(2, 0));
        let events = play(&mut medium, us(700));
        let timeout = us(352 + 1 + 10 + 304 + 1);
        assert_eq!(
            failures(&events),
            [(0, timeout, ExchangeFailure::Collided), (1, timeout, ExchangeFailure::Collided)]
        );
    }
}

/// A silent station does not hear the RTS of its peer, and may send with its other radio when DIFS is over.
/// The peer, which still waits for its CTS, hears that on its own channel; its wait ends meanwhile, and it
/// answers.
#[test]
fn a_station_that_waits_in_vain_answers_who_asks() {
    use FrameKind::{Cts, Rts};
    for whole in [false, true] {
        let mut medium = stations(Rendezvous::Receiver, whole);
        medium.set_silent(us(0), &ENDS[1..], true, us(100_000));
        medium.enqueue(us(0), ENDS[0], packet(1, 1));
        // It comes when the RTS is over: the medium is idle and no backoff is due.
        let mut events = play(&mut medium, us(360));
        medium.enqueue(us(360), ENDS[1], packet(2, 0));
        events.extend(play(&mut medium, us(30_000)));
        let begins = 353 + 50;
        assert_eq!(frames(&events)[..3], [(0, Rts, 1, 0), (1, Rts, 0, begins), (0, Cts, 0, begins + 363)]);
        assert_eq!(failures(&events)[0], (0, us(668), ExchangeFailure::Unanswered));
        let arrived = |event: &MediumEvent<u32>| matches!(event, MediumEvent::Received { payload: 2, .. });
        assert!(events.iter().any(arrived), "the silent one hears the answers to what it sends");
    }
}

/// A radio that falls silent and opens on another channel while data come to it misses them, frame by frame,
/// and they are sent again where it is now. An exchange that was worked out when it began is completed: the
/// second thing in which the two differ (docs/adhoc.md).
#[test]
fn a_silence_within_an_exchange_does_not_cut_off_what_is_worked_out() {
    for whole in [false, true] {
        let mut medium = stations(Rendezvous::Receiver, whole);
        medium.enqueue(us(0), ENDS[0], packet(7, 1));
        // The data are on the air from 678 us to 5062 us, on the second channel.
        let mut events = play(&mut medium, us(1000));
        medium.set_silent(us(1000), &ENDS[1..], true, us(2000));
        events.extend(play(&mut medium, us(2000)));
        medium.tune(us(2000), ENDS[1], ChannelId(0));
        medium.set_silent(us(2000), &ENDS[1..], false, Time::MAX);
        events.extend(play(&mut medium, us(50_000)));
        let data = frames(&events).into_iter().filter(|(_, kind, ..)| *kind == FrameKind::Data);
        let channels: Vec<u32> = data.map(|(_, _, channel, _)| channel).collect();
        assert_eq!(channels, if whole { vec![1] } else { vec![1, 0] }, "whole {whole}");
        assert_eq!(failures(&events).len(), usize::from(!whole));
        let arrived = |event: &&MediumEvent<u32>| matches!(event, MediumEvent::Received { payload: 7, .. });
        assert_eq!(events.iter().filter(arrived).count(), 1, "whole {whole}");
    }
}
