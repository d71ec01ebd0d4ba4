//! Dialogues with devices under regulation, each with its clause and timer; and random ones, in which no
//! incumbent suffers beyond the allowed time.

use cogtcp_spectrum::ChannelId;
use cogtcp_spectrum::regulation::{
    Availability, Cbsd, CbsdTimers, Dfs, DfsState, DfsTimers, GrantState, Operation, SasAnswer, SasRequest,
    WhiteSpaceDevice, WhiteSpaceRequest, WhiteSpaceTimers,
};
use cogtcp_units::{Decibel, Duration, RandomStream, Time};

fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

const SECOND: Duration = Duration::from_secs(1);

fn cbsd() -> Cbsd {
    Cbsd::new(CbsdTimers { stop: SECOND * 60, retry: SECOND * 30 })
}

/// A CBSD with the right to transmit from 0 s on, until 240 s; heartbeats each 60 s.
fn authorized() -> Cbsd {
    let mut cbsd = cbsd();
    assert_eq!(cbsd.advance(Time::ZERO), Some(SasRequest::Grant(None)));
    cbsd.hear(
        Time::ZERO,
        SasAnswer::Grant { operation: Operation::default(), expires: s(86_400.0), heartbeat: SECOND * 60 },
    );
    assert_eq!(cbsd.advance(Time::ZERO), Some(SasRequest::Heartbeat(GrantState::Granted)));
    cbsd.hear(Time::ZERO, SasAnswer::Authorized { until: s(240.0) });
    cbsd
}

/// WINNF-TS-0016 section 8.6: a grant alone is no right to transmit, the first heartbeat's answer is.
#[test]
fn a_cbsd_transmits_once_a_heartbeat_is_answered() {
    let mut cbsd = cbsd();
    cbsd.advance(Time::ZERO);
    cbsd.hear(
        Time::ZERO,
        SasAnswer::Grant { operation: Operation::default(), expires: s(3600.0), heartbeat: SECOND * 60 },
    );
    assert_eq!((cbsd.state(), cbsd.transmits(s(1.0))), (GrantState::Granted, false));
    let cbsd = authorized();
    assert_eq!((cbsd.state(), cbsd.transmits(s(1.0))), (GrantState::Authorized, true));
    assert_eq!(cbsd.next_change(), s(60.0), "heartbeatInterval");
}

/// WINNF-TS-0016 section 8.6, response code 501; 47 CFR 96.39(c)(2): 60 s to stop. The grant stays, and the
/// next heartbeat may restore the right.
#[test]
fn a_suspended_grant_stops_within_60_s_and_comes_back() {
    let mut cbsd = authorized();
    assert_eq!(cbsd.advance(s(60.0)), Some(SasRequest::Heartbeat(GrantState::Authorized)));
    cbsd.hear(s(60.0), SasAnswer::Suspended);
    assert_eq!(cbsd.state(), GrantState::Granted);
    assert!(cbsd.transmits(s(119.9)) && !cbsd.transmits(s(120.0)));
    assert_eq!(cbsd.advance(s(120.0)), Some(SasRequest::Heartbeat(GrantState::Granted)));
    cbsd.hear(s(120.0), SasAnswer::Authorized { until: s(360.0) });
    assert!(cbsd.transmits(s(120.0)));
}

/// WINNF-TS-0016 section 8.6, response code 500: the grant is over, and a new one is asked for.
#[test]
fn a_terminated_grant_is_asked_for_anew() {
    let mut cbsd = authorized();
    cbsd.hear(s(60.0), SasAnswer::Terminated(None));
    assert_eq!(cbsd.state(), GrantState::Idle);
    assert!(cbsd.transmits(s(119.9)) && !cbsd.transmits(s(120.0)));
    assert_eq!(cbsd.next_change(), s(90.0));
    assert_eq!(cbsd.advance(s(90.0)), Some(SasRequest::Grant(None)));
    cbsd.hear(s(90.0), SasAnswer::Refused);
    assert_eq!(cbsd.next_change(), s(120.0));
    // A late answer to an old heartbeat gives no right.
    cbsd.hear(s(100.0), SasAnswer::Authorized { until: s(999.0) });
    assert_eq!(cbsd.state(), GrantState::Idle);
}

/// WINNF-TS-0016 section 8.6, transmitExpireTime: without answers it is off the air 60 s after, and goes on
/// asking.
#[test]
fn transmit_expire_time_ends_the_right_to_transmit() {
    let mut cbsd = authorized();
    for at in [60.0, 120.0, 180.0] {
        assert_eq!(cbsd.advance(s(at)), Some(SasRequest::Heartbeat(GrantState::Authorized)));
    }
    assert_eq!(cbsd.next_change(), s(240.0));
    assert_eq!(cbsd.advance(s(240.0)), Some(SasRequest::Heartbeat(GrantState::Granted)));
    assert_eq!(cbsd.state(), GrantState::Granted);
    assert!(cbsd.transmits(s(299.9)) && !cbsd.transmits(s(300.0)));
}

/// WINNF-TS-0016 section 8.5, grantExpireTime: the right to transmit ends with the grant.
#[test]
fn a_grant_expires() {
    let mut cbsd = cbsd();
    cbsd.advance(Time::ZERO);
    cbsd.hear(
        Time::ZERO,
        SasAnswer::Grant { operation: Operation::default(), expires: s(100.0), heartbeat: SECOND * 60 },
    );
    cbsd.hear(Time::ZERO, SasAnswer::Authorized { until: s(240.0) });
    cbsd.advance(s(60.0));
    assert_eq!(cbsd.next_change(), s(100.0));
    cbsd.advance(s(100.0));
    assert_eq!(cbsd.state(), GrantState::Idle);
    assert!(!cbsd.transmits(s(160.0)));
    // The next grant is asked for with the heartbeat that is due, or 30 s after the expiry.
    for (heartbeat, asks) in [(60, 120.0), (500, 130.0)] {
        let mut cbsd = self::cbsd();
        cbsd.advance(Time::ZERO);
        let operation = Operation::default();
        cbsd.hear(
            Time::ZERO,
            SasAnswer::Grant { operation, expires: s(100.0), heartbeat: SECOND * heartbeat },
        );
        for at in [0.0, 60.0, 100.0] {
            let _ = cbsd.advance(s(at));
        }
        assert_eq!((cbsd.state(), cbsd.next_change()), (GrantState::Idle, s(asks)));
    }
}

/// 10^4 runs: incumbents come and go, answers are lost. A SAS that answers heartbeats with 501 while an
/// incumbent is active, and never lets transmitExpireTime be more than 240 s ahead, has its incumbents free
/// within 300 s (47 CFR 96.15(a)(4)).
#[test]
fn no_incumbent_of_cbrs_suffers_beyond_300_s() {
    let mut suffered = 0;
    for seed in 0..10_000 {
        let mut random = RandomStream::new(seed, "cbrs", 0);
        let stop = Duration::from_nanos(random.below(60_000_000_001));
        let mut cbsd = Cbsd::new(CbsdTimers { stop, retry: SECOND * (1 + random.below(60)) });
        let begin = 100.0 + 1000.0 * random.uniform();
        let end = begin + 2000.0 * random.uniform();
        let lost = 0.5 * random.uniform();
        let heartbeat = SECOND * (10 + random.below(200));
        loop {
            let at = cbsd.next_change();
            let active = (s(begin)..s(end)).contains(&at);
            assert!(at < s(5000.0) || !active);
            if at > s(4000.0) {
                break;
            }
            let Some(request) = cbsd.advance(at) else { continue };
            if random.uniform() < lost {
                continue;
            }
            let until = at + Duration::from_secs_f64(1.0 + 239.0 * random.uniform());
            cbsd.hear(
                at,
                match request {
                    SasRequest::Grant(_) if active => SasAnswer::Refused,
                    SasRequest::Grant(_) => SasAnswer::Grant {
                        operation: Operation::default(),
                        expires: at + SECOND * 1500,
                        heartbeat,
                    },
                    SasRequest::Heartbeat(_) if active && random.below(2) == 0 => SasAnswer::Terminated(None),
                    SasRequest::Heartbeat(_) if active => SasAnswer::Suspended,
                    SasRequest::Heartbeat(_) => SasAnswer::Authorized { until },
                },
            );
            for after in [0.0, 1.0, 59.0, 100.0] {
                let look = at + Duration::from_secs_f64(after);
                // A look ahead is one as long as nothing changes until then.
                if look < cbsd.next_change() && (s(begin)..s(end)).contains(&look) && cbsd.transmits(look) {
                    suffered += 1;
                    assert!(look < s(begin + 300.0), "seed {seed}: {look:?} after {begin}");
                }
            }
        }
    }
    assert!(suffered > 1000, "{suffered}: incumbents do suffer, within the allowed time");
}

const CHANNELS: [ChannelId; 3] = [ChannelId(0), ChannelId(1), ChannelId(2)];

/// KDB 905462 D02, table 4: channel availability check time, 60 s. Radar in it sends the device to the next
/// channel.
#[test]
fn a_channel_is_checked_for_60_s_before_it_is_used() {
    let mut device = Dfs::over(DfsTimers::default(), &CHANNELS[..2]);
    assert_eq!(device.state(), DfsState::Checking(CHANNELS[0], s(60.0)));
    assert!(device.data_until(s(30.0)).is_none());
    device.radar(s(40.0), CHANNELS[0]);
    assert_eq!(device.state(), DfsState::Checking(CHANNELS[1], s(100.0)));
    device.advance(s(100.0));
    assert_eq!(device.state(), DfsState::Operating(CHANNELS[1]));
    assert_eq!(device.data_until(s(100.0)), Some(Time::MAX));
}

/// KDB 905462 D02, table 4: data ends 200 ms after the radar, everything ends after 10 s.
#[test]
fn radar_ends_data_in_200_ms_and_everything_in_10_s() {
    let mut device = Dfs::over(DfsTimers::default(), &CHANNELS);
    device.advance(s(60.0));
    device.radar(s(70.0), CHANNELS[0]);
    assert_eq!(device.data_until(s(70.1)), Some(s(70.2)));
    assert_eq!(device.data_until(s(70.2)), None);
    assert_eq!(device.next_change(), s(80.0));
    device.advance(s(80.0));
    assert_eq!(device.state(), DfsState::Checking(CHANNELS[1], s(140.0)));
    // One that is ready sooner leaves sooner.
    let mut device = Dfs::over(DfsTimers::default(), &CHANNELS);
    device.advance(s(60.0));
    device.radar(s(70.0), CHANNELS[0]);
    device.leave(s(70.5));
    assert_eq!(device.state(), DfsState::Checking(CHANNELS[1], s(130.5)));
}

/// KDB 905462 D02, table 4: non-occupancy period, 30 minutes.
#[test]
fn a_channel_with_radar_is_not_used_for_30_minutes() {
    let mut device = Dfs::over(DfsTimers::default(), &CHANNELS[..1]);
    device.advance(s(60.0));
    device.radar(s(100.0), CHANNELS[0]);
    device.advance(s(110.0));
    assert_eq!(device.state(), DfsState::Waiting(s(1900.0)));
    device.advance(s(1900.0));
    assert_eq!(device.state(), DfsState::Checking(CHANNELS[0], s(1960.0)));
}

/// 10^4 runs: radar comes at random, the device sends whenever it may. Nothing of data is on a channel later
/// than 200 ms after its radar, and nothing for 30 minutes.
#[test]
fn no_radar_suffers_beyond_the_channel_move_time() {
    for seed in 0..10_000 {
        let mut random = RandomStream::new(seed, "dfs", 0);
        let mut device = Dfs::over(DfsTimers::default(), &CHANNELS);
        let mut radar: [Option<Time>; 3] = [None; 3];
        let mut now = Time::ZERO;
        for _ in 0..200 {
            // About the 200 ms, the 10 s and the 30 minutes of the rules.
            let step = [100_000_000, 20_000_000_000, 900_000_000_000][random.below(3) as usize];
            let until = now + Duration::from_nanos(random.below(step));
            while device.next_change() <= until {
                let at = device.next_change();
                device.advance(at);
            }
            now = until;
            if random.below(4) == 0 {
                let channel = random.below(3) as usize;
                radar[channel] = Some(now);
                device.radar(now, CHANNELS[channel]);
            }
            let own = match device.state() {
                DfsState::Operating(own) | DfsState::Moving(own, _) => own.0 as usize,
                _ => continue,
            };
            let since = |at: Time| radar[own].map(|radar| at.saturating_since(radar));
            if let Some(last) = device.data_until(now) {
                let end = last.min(now + SECOND);
                let legal = |span: Duration| {
                    span > SECOND * 1800
                        || matches!(device.state(), DfsState::Moving(_, at) if end <= at + Duration::from_millis(200))
                };
                assert!(since(now).is_none_or(legal), "seed {seed}, {now:?}");
            }
        }
    }
}

fn white_space() -> WhiteSpaceDevice {
    WhiteSpaceDevice::new(WhiteSpaceTimers { check: SECOND * 3600, grace: SECOND * 600, retry: SECOND * 60 })
}

fn available(channel: u32, from: f64, until: f64) -> Availability {
    Availability { channel: ChannelId(channel), from: s(from), until: s(until) }
}

/// RFC 7545 sections 4.5 and 4.5.5: query, answer, notice of use. A channel is used within its schedule
/// (section 5.11).
#[test]
fn a_white_space_device_follows_the_schedule_of_its_database() {
    let mut device = white_space();
    assert_eq!(device.advance(Time::ZERO), Some(WhiteSpaceRequest::Available));
    assert_eq!(device.channel(Time::ZERO), None);
    device.hear(s(1.0), &[available(2, 0.0, 1000.0), available(1, 500.0, 9000.0)]);
    assert_eq!(device.channel(s(1.0)), Some(CHANNELS[2]));
    assert_eq!(device.advance(s(1.0)), Some(WhiteSpaceRequest::Use(CHANNELS[2])));
    assert_eq!(device.advance(s(500.0)), None);
    assert_eq!(device.channel(s(999.0)), Some(CHANNELS[2]), "it keeps its channel");
    assert_eq!(device.channel(s(1000.0)), None, "stopTime");
    assert_eq!(device.advance(s(1000.0)), Some(WhiteSpaceRequest::Use(CHANNELS[1])));
    assert_eq!(device.channel(s(1000.0)), Some(CHANNELS[1]));
}

/// 47 CFR 15.711: it checks again, asks on while nobody answers, and ceases when its answer is too old.
#[test]
fn a_white_space_device_ceases_without_its_database() {
    let mut device = white_space();
    device.advance(Time::ZERO);
    device.hear(Time::ZERO, &[available(0, 0.0, 1e6)]);
    assert_eq!(device.advance(Time::ZERO), Some(WhiteSpaceRequest::Use(CHANNELS[0])));
    assert_eq!(device.next_change(), s(3600.0));
    assert_eq!(device.advance(s(3600.0)), Some(WhiteSpaceRequest::Available));
    assert_eq!(device.next_change(), s(3660.0));
    assert_eq!(device.channel(s(4199.0)), Some(CHANNELS[0]));
    assert_eq!(device.channel(s(4200.0)), None);
    device.hear(s(5000.0), &[]);
    assert_eq!(device.channel(s(5000.0)), None, "no channel is left");
}

/// 10^4 runs: schedules and lost answers at random. A device is never on a channel outside the last schedule
/// that it heard, nor beyond its age.
#[test]
fn no_channel_is_used_outside_its_schedule() {
    for seed in 0..10_000 {
        let mut random = RandomStream::new(seed, "white space", 0);
        let mut device = white_space();
        let mut last: Option<(Time, Vec<Availability>)> = None;
        let mut now = Time::ZERO;
        for _ in 0..60 {
            let request = device.advance(now);
            if request == Some(WhiteSpaceRequest::Available) && random.below(3) > 0 {
                let begin = now.as_secs_f64();
                let entry = |channel: u32, random: &mut RandomStream| {
                    let from = begin + 3000.0 * random.uniform() - 500.0;
                    available(channel, from.max(0.0), from.max(0.0) + 6000.0 * random.uniform())
                };
                let answer: Vec<_> = (0..random.below(4) as u32).map(|it| entry(it, &mut random)).collect();
                device.hear(now, &answer);
                last = Some((now, answer));
            }
            for after in [0, 100, 2000, 5000] {
                let look = now + SECOND * after;
                let Some(channel) = device.channel(look) else { continue };
                let (heard, answer) = last.as_ref().unwrap();
                // `check` and `grace`.
                assert!(look < *heard + SECOND * 4200, "seed {seed}: too old");
                let is_scheduled =
                    answer.iter().any(|it| it.channel == channel && it.from <= look && look < it.until);
                assert!(is_scheduled, "seed {seed}: {channel:?} at {look:?}");
            }
            now += Duration::from_secs_f64(900.0 * random.uniform());
        }
    }
}

const HERE: ChannelId = CHANNELS[0];
const REDUCED: Operation = Operation { channel: HERE, reduction: Decibel(10.0) };

/// WINNF-TS-0016 section 8.6, response code 500 with operationParam: a new grant with these parameters is
/// asked for at once. What is on the air keeps the old ones until the new grant is authorized.
#[test]
fn a_grant_that_ends_with_suggested_parameters_is_replaced() {
    let mut cbsd = authorized();
    cbsd.hear(s(60.0), SasAnswer::Terminated(Some(REDUCED)));
    assert_eq!(cbsd.advance(s(60.0)), Some(SasRequest::Grant(Some(REDUCED))));
    assert_eq!(cbsd.on_air(s(60.1)), Some((Operation::default(), s(120.0))));
    let granted = SasAnswer::Grant { operation: REDUCED, expires: s(9000.0), heartbeat: SECOND * 60 };
    cbsd.hear(s(60.2), granted);
    assert_eq!(cbsd.on_air(s(60.2)), Some((Operation::default(), s(120.0))), "a grant is no right");
    cbsd.advance(s(60.2));
    cbsd.hear(s(60.4), SasAnswer::Authorized { until: s(300.0) });
    assert_eq!(cbsd.on_air(s(60.4)), Some((REDUCED, s(360.0))));
    // A grant that is refused leaves nothing to suggest again.
    cbsd.hear(s(61.0), SasAnswer::Terminated(Some(REDUCED)));
    cbsd.advance(s(61.0));
    cbsd.hear(s(61.1), SasAnswer::Refused);
    assert_eq!(cbsd.advance(s(91.1)), Some(SasRequest::Grant(None)));
}

/// WINNF-TS-0016: transmitExpireTime is not after grantExpireTime.
#[test]
fn a_right_to_transmit_ends_with_its_grant() {
    for (until, ends) in [(50.0, 50.0), (100.0, 100.0), (240.0, 100.0)] {
        let mut cbsd = cbsd();
        assert_eq!(cbsd.advance(Time::ZERO), Some(SasRequest::Grant(None)));
        let operation = Operation::default();
        cbsd.hear(Time::ZERO, SasAnswer::Grant { operation, expires: s(100.0), heartbeat: SECOND * 60 });
        cbsd.hear(Time::ZERO, SasAnswer::Authorized { until: s(until) });
        let last = Time::from_nanos(s(ends).as_nanos() - 1);
        assert_eq!((cbsd.transmits(last), cbsd.transmits(s(ends))), (true, false), "{until}");
    }
}
