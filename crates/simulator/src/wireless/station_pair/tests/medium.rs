//! The pair is a case of the medium of many stations: the same packets at the same nanosecond.
//!
//! Both draw from the same streams. Whatever a pair of two radios that sense together does, `cogtcp_wireless::Medium` does too; what
//! differs, and why, is in `docs/adhoc.md`.

use super::*;
use cogtcp_wireless::{
    ChannelConfig, Destination, Event, InterfaceConfig, InterfaceId, MacConfig, Medium, MediumConfig,
    Outgoing, PathLoss, PhyConfig, PrimaryUsers, Propagation, Rules, SilenceRules,
};

/// What is seen of a medium: a packet of this end arrives, or is given up.
type Log = Vec<(Time, usize, bool)>;

fn log_of_pair(bench: &mut Bench, ends: &[usize], until: Time) -> Log {
    let mut log = Log::new();
    bench.feed(ends);
    while bench.pair.due() <= until {
        let now = bench.pair.due();
        let (delivered, dropped) = (bench.delivered, bench.dropped.len());
        bench.saturate(ends, now);
        for end in [0, 1] {
            log.extend((delivered[end]..bench.delivered[end]).map(|_| (now, end, true)));
        }
        log.extend((dropped..bench.dropped.len()).map(|_| (now, usize::MAX, false)));
    }
    log
}

/// The same with a medium, under the radio of `bench`.
fn log_of_medium(changes: &[(&str, &str)], bench: Bench, ends: &[usize], until: Time, seed: u64) -> Log {
    let mut scenario = Scenario::parse(SCENARIO, "mac.toml").unwrap();
    for (path, value) in changes {
        scenario = scenario.set(path, value).unwrap();
    }
    let experiment = scenario.resolve().unwrap();
    let cognitive = experiment.radios[0].kind.cognitive().unwrap();
    let (link, mac, air) = (&experiment.links[0], &cognitive.user.mac, Arc::clone(&bench.pair.air));
    let receiver = &cognitive.ends[0].receiver;
    let attenuation = air.propagation.attenuation;
    // Whoever is there is heard: in the pair the SINR alone decides.
    let nothing = Power::from_watts(1e-15);
    let phy = PhyConfig {
        propagation: Propagation::new(PathLoss::Paper(attenuation)),
        sensitivity: nothing,
        carrier_sense: nothing,
        cutoff: nothing,
        capture: receiver.capture,
        rates: Vec::new(),
        delay: link.forward.delay,
    };
    let mac = MacConfig { rules: Rules::two_stations(), ..mac.clone().into() };
    let mut config = MediumConfig::new(mac, phy, Rate::default());
    let channel =
        |channel: &Channel| ChannelConfig { rate: channel.rate, error_rate: channel.error_rate.get() };
    config.channels = air.channels.iter().map(|(_, entry)| channel(entry)).collect();
    config.silence = SilenceRules {
        waits_for_peer: cognitive.user.while_peer_senses == WhilePeerSenses::Wait,
        sends_while_silent: cognitive.user.transmit_radio == TransmitRadio::Separate,
    };
    let positions = cognitive.ends.iter().map(|end| end.position).collect::<Vec<_>>();
    let mut medium = Medium::<usize, _, _>::new(config, positions, PrimaryUsers::new(air), seed);
    for (end, direction) in ["forward", "reverse"].iter().enumerate() {
        let loss = [&link.forward, &link.reverse][end].loss.get();
        medium.add_interface(InterfaceConfig {
            power: cognitive.user.transmit_power,
            loss,
            name: format!("{}/{direction}", link.name),
            ..InterfaceConfig::new(end as u32)
        });
    }
    let both = [InterfaceId(0), InterfaceId(1)];
    let mut radio = bench.pair.radios.into_iter().next().unwrap().radio;
    medium.set_silent(Time::ZERO, &both, radio.phase().is_silent(), radio.phase_end());
    let mut log = Log::new();
    let feed = |medium: &mut Medium<usize, _, _>, now| {
        for &end in ends {
            while medium.waiting(InterfaceId(end as u32)) < 2 {
                let to = Destination::Interface(InterfaceId(1 - end as u32));
                let packet = Outgoing { payload: end, bytes: 1040, to, channel: None, goes_first: false };
                medium.enqueue(now, InterfaceId(end as u32), packet);
            }
        }
    };
    feed(&mut medium, Time::ZERO);
    loop {
        let (radio_due, medium_due) = (radio.next_change(), medium.next_change());
        let now = radio_due.min(medium_due);
        if now > until {
            break;
        }
        if radio_due <= medium_due {
            let before = radio.phase();
            let after = radio.advance(now);
            if before != after {
                both.iter().for_each(|end| medium.tune(now, *end, radio.loaded()));
                medium.set_silent(now, &both, after.is_silent(), radio.phase_end());
            }
        } else {
            medium.step();
        }
        while let Some(event) = medium.poll_event() {
            match event {
                Event::Received { time, from, .. } => log.push((time, from.0 as usize, true)),
                Event::Failed { time, arrived: false, .. } => log.push((time, usize::MAX, false)),
                _ => {}
            }
        }
        feed(&mut medium, now);
    }
    assert!(medium.is_conserved());
    log
}

const SENSES: [(&str, &str); 4] = [
    ("radio.cr.cr.start", "50 ms"),
    ("radio.cr.cr.sensing_time", "30 ms"),
    ("radio.cr.cr.transmission_time", "70 ms"),
    ("radio.cr.cr.detector", "perfect"),
];
/// Nobody knows of silences, and sends with a radio that has none.
const UNAWARE: [(&str, &str); 2] =
    [("radio.cr.cr.while_peer_senses", "retry"), ("radio.cr.cr.transmit_radio", "separate")];
const SHORT: (&str, &str) = ("radio.cr.cr.mac.rts_threshold", "2000 B");
const BUSY: (&str, &str) = ("spectrum.pu", "{ exponential = { alpha = 2.0, beta = 1.0 } }");
/// Slower than the basic rate: RTS and answers go at this rate, and EIFS has room for them.
const SLOW: (&str, &str) = ("spectrum.channels.uniform", "500 kbit/s");
const LOSSY: (&str, &str) = ("topology.single_hop.link.loss", "10 %");

fn assert_same(changes: &[(&str, &str)], ends: &[usize], seed: u64) {
    let until = Time::from_secs_f64(60.0);
    let pair = log_of_pair(&mut Bench::new(changes, seed), ends, until);
    let medium = log_of_medium(changes, Bench::new(changes, seed), ends, until, seed);
    let first = pair.iter().zip(&medium).position(|(a, b)| a != b);
    let around = |log: &Log| first.map(|at| log[at.saturating_sub(1)..(at + 3).min(log.len())].to_vec());
    assert_eq!(first, None, "{changes:?}, seed {seed}: {:?} and {:?}", around(&pair), around(&medium));
    assert_eq!(pair.len(), medium.len(), "{changes:?}");
    assert!(pair.len() > 1000, "{changes:?}: {}", pair.len());
}

/// One sender or two, with RTS or without, over a lossy link, among primary users, through a radio that senses.
#[test]
fn a_pair_whose_radios_sense_together_is_a_medium_of_two_stations() {
    for seed in [1, 2, 3] {
        for ends in [&[0][..], &[0, 1]] {
            assert_same(&[], ends, seed);
            assert_same(&[SHORT], ends, seed);
            assert_same(&[LOSSY], ends, seed);
            assert_same(&SENSES, ends, seed);
            assert_same(&[&SENSES[..], &[SHORT, LOSSY]].concat(), ends, seed);
            assert_same(&[&SENSES[..], &[BUSY]].concat(), ends, seed);
            assert_same(&[&SENSES[..], &[BUSY, LOSSY]].concat(), ends, seed);
            assert_same(&[&SENSES[..], &[BUSY, SLOW]].concat(), ends, seed);
        }
    }
}

/// Nobody knows of silences. One sender: the same again. Two: while one waits for a CTS that a silent receiver does not give, the
/// other goes on in the medium, and waits in the pair. Both so burn their retries together: a few more packets are given up
/// (5 % here), and as many arrive.
#[test]
fn unaware_senders_differ_only_where_the_pair_is_coarser() {
    let changes = [&SENSES[..], &UNAWARE].concat();
    let until = Time::from_secs_f64(200.0);
    assert_same(&changes, &[0], 1);
    let pair = log_of_pair(&mut Bench::new(&changes, 1), &[0, 1], until);
    let medium = log_of_medium(&changes, Bench::new(&changes, 1), &[0, 1], until, 1);
    let ratio = |arrived: bool| {
        let [pair, medium] =
            [&pair, &medium].map(|log| log.iter().filter(|entry| entry.2 == arrived).count());
        assert!(pair > 1000, "{pair}");
        medium as f64 / pair as f64
    };
    assert!((ratio(true) - 1.0).abs() < 0.01, "arrived: {}", ratio(true));
    assert!((1.0..1.1).contains(&ratio(false)), "given up: {}", ratio(false));
}
