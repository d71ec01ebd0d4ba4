//! Log files: read as their formats say, written so that they read the same, refused with file, line and
//! reason, and never a panic.

use cogtcp_spectrum::activity::{ActivityLaw, PuSpec, scatter};
use cogtcp_spectrum::logs::occupancy::{Occupancy, Reading};
use cogtcp_spectrum::logs::released::{Map, MapGenerator, MapUser};
use cogtcp_spectrum::logs::{LogError, WriteError, ch_log, occupancy, pu_log, released};
use cogtcp_spectrum::propagation::{Position, Propagation};
use cogtcp_spectrum::{
    Channel, ChannelId, ChannelTable, Intervals, OnInterval, PrimaryUser, PuActivity, Reach,
};
use cogtcp_units::{Decibel, Duration, Power, Probability, RandomStream, Rate, Time, WrongSetting};
use std::collections::BTreeMap;

const AT: fn(u64) -> Time = Time::from_millis;

fn on(list: &[(u64, u64)]) -> Intervals {
    let list = list.iter().map(|(from, until)| OnInterval { arrival: AT(*from), departure: AT(*until) });
    Intervals::new(list.collect()).unwrap()
}

const PU_LOG: &str = "\
# two primary users
<1, 0, 250.5, 1, 0.2818>
2 -100 4e2 3 0.1      # brackets and commas may be left out
<1, 0, 2.5>
<2, 1.25, 1.5>

<1, 2.5, 7>
";

#[test]
fn pu_log_is_read_as_the_paper_describes_it() {
    let user = |id, x, y, band, power, activity| PrimaryUser {
        id,
        position: Position::new(x, y),
        band,
        reach: Reach::Power(Power::from_watts(power)),
        activity,
    };
    let expected = PuActivity {
        users: vec![
            user(1, 0.0, 250.5, 1, 0.2818, on(&[(0, 2500), (2500, 7000)])),
            user(2, -100.0, 400.0, 3, 0.1, on(&[(1250, 1500)])),
        ],
    };
    assert_eq!(pu_log::read("pu.log", PU_LOG), Ok(expected));
}

const CH_LOG: &str = "\
interval 0.5
<1, 1, 1000000, 1e-12>
<1, 2, 2e6, 1e-12, 2e-12, 4e-12>
<2, 1, 500000, 0>
<2, 2, 1000000, 1e-13>
";

#[test]
fn ch_log_is_read_with_noise_that_varies() {
    let table = ch_log::read("ch.log", CH_LOG).unwrap();
    assert_eq!((table.bands(), table.per_band(), table.len()), (2, 2, 4));
    let rate = |id| table.get(ChannelId(id)).unwrap().rate.bits_per_second();
    assert_eq!([rate(0), rate(1), rate(2), rate(3)], [1_000_000, 2_000_000, 500_000, 1_000_000]);
    assert_eq!(table.noise(ChannelId(0), AT(9000)), 1e-12);
    assert_eq!(table.noise(ChannelId(1), AT(499)), 1e-12);
    assert_eq!(table.noise(ChannelId(1), AT(500)), 2e-12);
    assert_eq!(table.noise(ChannelId(1), AT(9000)), 4e-12);
    assert_eq!(table.noise(ChannelId(2), AT(0)), 0.0);
}

const MAP: &str =
    "2\n1 0 0 100 100 1.0 1.0 500\n2 10 20 100 100 0.5 0.1 250.5\n1\n0 \n200\n2\n3\n3.5\n4 4.25\n";

#[test]
fn released_map_is_read_word_by_word() {
    let map = released::read_map("map.txt", MAP).unwrap();
    assert_eq!(map.users.len(), 2);
    let MapUser { user, receiver, alpha, beta } = &map.users[1];
    assert_eq!((*receiver, *alpha, *beta), (Position::new(100.0, 100.0), 0.5, 0.1));
    assert_eq!((user.id, user.position, user.band), (2, Position::new(10.0, 20.0), 3), "channel 2 is band 3");
    assert_eq!((user.reach, &user.activity), (Reach::Range(250.5), &on(&[(3000, 3500), (4000, 4250)])));
    assert_eq!(map.activity().users[0].activity, on(&[(0, 200_000)]));
}

const CHANNELS: &str = "0  2000000 0.0\n1  2000000 0.25\n2 1000000 0\n";

#[test]
fn released_channels_have_error_rates_and_a_control_channel() {
    let table = released::read_channels("channel.txt", CHANNELS).unwrap();
    assert_eq!((table.bands(), table.per_band()), (3, 1));
    assert_eq!(table.usable().map(|(id, _)| id.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(table.get(ChannelId(1)).unwrap().error_rate, Probability::new(0.25).unwrap());
}

const CSV: &str = "time,band,busy
1700000000.000000001,2412,0
1700000000.5,2437,1
1700000001,2412,1
1700000001.5,2412,1
1700000002.25,2412,false
1700000003,2437,true
";

#[test]
fn occupancy_keeps_each_sample_until_the_next_of_its_band() {
    let read = occupancy::read("band.csv", CSV).unwrap();
    let unix = |ms: u64| Time::from_millis(1_700_000_000_000 + ms);
    assert_eq!((read.start, read.end), (unix(0) + Duration::from_nanos(1), unix(3000)));
    let busy = |band| read.bands[&band].as_slice().to_vec();
    assert_eq!(busy(2412), [OnInterval { arrival: unix(1000), departure: unix(2250) }]);
    assert_eq!(busy(2437), [OnInterval { arrival: unix(500), departure: unix(3000) }]);
    let activity = read.activity();
    assert_eq!((activity.users[1].id, activity.users[1].band), (2437, 2));
    let first = activity.users[0].activity.as_slice()[0];
    assert_eq!(first.arrival, AT(1000) - Duration::from_nanos(1), "time zero is the first sample");
}

/// Settings of a reading at their bounds, and beyond.
#[test]
fn readings_out_of_range_are_named() {
    let wrong = |threshold: Option<f64>, hysteresis: f64, seconds: u64| {
        let mut found: Option<WrongSetting> = None;
        let threshold = threshold.map(Power::from_dbm);
        let minimum = Duration::from_secs(seconds);
        Reading { threshold, hysteresis: Decibel(hysteresis), minimum }.check(&mut found);
        found.map(|wrong| wrong.setting)
    };
    assert_eq!([wrong(Some(-95.0), 100.0, 3600), wrong(None, 0.0, 0)], [None, None]);
    for hysteresis in [-0.1, 100.1] {
        assert_eq!(wrong(Some(-95.0), hysteresis, 0).as_deref(), Some("hysteresis"));
    }
    assert_eq!(wrong(None, 3.0, 0).as_deref(), Some("hysteresis"), "without a threshold it has no effect");
    assert_eq!(wrong(Some(-95.0), 0.0, 3601).as_deref(), Some("minimum"));
}

/// A spectrum analyser's sweeps: a column a channel, powers in dBm. With a threshold of -95 dBm and 3 dB of
/// hysteresis -96 dBm keeps a busy channel busy, and an idle one idle.
#[test]
fn powers_become_states_by_threshold_and_hysteresis() {
    let sweeps = "time,2412 ,2437\n0,-100,-96\n0.1,-94.9,-96\n0.2,-96,-95\n0.3,-98.1,-97.9\n0.4,-90,-99\n0.5,-99,-99\n";
    let reading = |hysteresis| Reading {
        threshold: Some(Power::from_dbm(-95.0)),
        hysteresis: Decibel(hysteresis),
        minimum: Duration::ZERO,
    };
    let busy = |reading: &Reading| occupancy::read_as("f", sweeps, reading).unwrap().bands;
    assert_eq!(
        busy(&reading(3.0)),
        BTreeMap::from([(2412, on(&[(100, 300), (400, 500)])), (2437, on(&[(200, 400)]))])
    );
    assert_eq!(
        busy(&reading(0.0)),
        BTreeMap::from([(2412, on(&[(100, 200), (400, 500)])), (2437, on(&[(200, 300)]))])
    );
    // The same, a line a sample.
    let long = "time,band,dbm\n0,2412,-100\n0,2437,-96\n0.1,2412,-94.9\n0.2,2437,-95\n0.3,2412,-98.1\n0.4,2437,-99\n0.4,2412,-90\n0.5,2412,-99\n";
    assert_eq!(occupancy::read_as("f", long, &reading(3.0)).unwrap().bands, busy(&reading(3.0)));
}

/// Gaps below the minimum are filled first: what is left of a burst that flickers is one busy time. Lone
/// flashes go.
#[test]
fn times_below_the_minimum_are_left_out() {
    let flicker = "time,band,busy\n0,1,0\n1,1,1\n1.05,1,0\n1.06,1,1\n1.2,1,0\n3,1,1\n3.02,1,0\n5,1,0\n";
    let reading = Reading { minimum: Duration::from_millis(100), ..Reading::default() };
    let read = |reading: &Reading| occupancy::read_as("f", flicker, reading).unwrap().bands;
    assert_eq!(read(&reading), BTreeMap::from([(1, on(&[(1000, 1200)]))]));
    assert_eq!(read(&Reading::default())[&1].len(), 3);
}

/// Columns with names count from 1. Samples at regular times have a spacing, a log of changes has none.
#[test]
fn a_column_is_a_band() {
    let mut text = "time,north,south\n".to_owned();
    (0..20).for_each(|row| text += &format!("{},{},0\n", 100 + row, row % 2));
    let read = occupancy::read("f", &text).unwrap();
    assert_eq!(
        (read.bands.keys().copied().collect::<Vec<_>>(), read.spacing),
        (vec![1, 2], Some(Duration::from_secs(1)))
    );
    assert_eq!((read.bands[&1].len(), read.bands[&2].len()), (9, 0));
    assert_eq!(occupancy::read("f", CSV).unwrap().spacing, None);
    // Seconds 20 to 40 are missing.
    let broken = format!("{text}140,0,0\n");
    let error = occupancy::read("f", &broken).unwrap_err().to_string();
    assert_eq!(
        error,
        "f:22: no sample for \"21 s\" before this one, and samples come every \"1 s\"; fill the gap, or cut the file there"
    );
}

#[test]
fn busy_and_idle_in_one_instant_is_never_busy() {
    let read = occupancy::read("f", "time,band,busy\n1,1,1\n1,1,0\n2,1,0\n").unwrap();
    assert!(read.bands[&1].is_empty());
}

#[test]
fn occupancy_of_primary_users_joins_those_of_a_band() {
    let user = |id, band, list: &[(u64, u64)]| PrimaryUser {
        id,
        position: Position::default(),
        band,
        reach: Reach::Range(1.0),
        activity: on(list),
    };
    let users =
        vec![user(1, 1, &[(1, 3), (8, 12)]), user(2, 1, &[(2, 4), (4, 5), (11, 14)]), user(3, 2, &[])];
    let seen = Occupancy::of(&PuActivity { users }, AT(10));
    assert_eq!(seen.bands, BTreeMap::from([(1, on(&[(1, 5), (8, 10)])), (2, on(&[]))]));
}

#[test]
fn bad_lines_are_named_with_file_line_and_reason() {
    let cases: Vec<(Result<(), LogError>, &str)> = vec![
        (pu_log::read("f", "").map(drop), "f:1: the file is empty; expected <i, x, y, spectrum, tpower>"),
        (
            pu_log::read("f", "1 0 0 1 0.1\n1 2\n").map(drop),
            "f:2: 2 fields; expected 5 (i, x, y, spectrum, tpower) or 3 (i, arrival_time, departure_time)",
        ),
        (pu_log::read("f", "1 0 north 1 0.1\n").map(drop), "f:1: y is \"north\"; expected a number"),
        (
            pu_log::read("f", "1 0 0 0 0.1\n").map(drop),
            "f:1: spectrum is \"0\"; expected a whole number from 1",
        ),
        (pu_log::read("f", "1 0 0 1 -5\n").map(drop), "f:1: tpower is \"-5\"; expected a number from 0"),
        (pu_log::read("f", "1 0 0 1 1\n1 0 0 2 1\n").map(drop), "f:2: PU 1 is described twice"),
        (pu_log::read("f", "1 0 0 1 1\n7 0 1\n").map(drop), "f:2: PU 7 is not described"),
        (
            pu_log::read("f", "1 0 0 1 1\n1 0 1\n2 0 0 1 1\n").map(drop),
            "f:3: a description of a PU comes after",
        ),
        (
            pu_log::read("f", "1 0 0 1 1\n1 5 4\n").map(drop),
            "f:2: PU 1: the ON period that arrives at 5 s departs at 4 s: it must depart after it arrives",
        ),
        (
            pu_log::read("f", "1 0 0 1 1\n\n1 0 4\n1 3.5 6\n").map(drop),
            "f:4: PU 1: the ON period that arrives at 3.5 s begins before the last one ended, at 4 s",
        ),
        (
            pu_log::read("f", "1 0 0 1 1\n1 -1 4\n").map(drop),
            "f:2: arrival_time is \"-1\"; expected seconds, as 12.5",
        ),
        (ch_log::read("f", "# nothing\n").map(drop), "f:1: the file is empty"),
        (ch_log::read("f", "1 1 1000000\n").map(drop), "f:1: 3 fields; expected 4 or more"),
        (
            ch_log::read("f", "1 1 0 0\n").map(drop),
            "f:1: bandwidth is \"0\"; expected a rate in bit/s, from 1",
        ),
        (ch_log::read("f", "1 1 1 0\n1 1 1 0\n").map(drop), "f:2: channel 1 of band 1 is described twice"),
        (ch_log::read("f", "1 1 1 0\n3 1 1 0\n").map(drop), "f:2: channel 1 of band 2 is missing"),
        (ch_log::read("f", "1 1 1 0\n1 2 1 0\n2 1 1 0\n").map(drop), "f:3: channel 2 of band 2 is missing"),
        (
            ch_log::read("f", "interval 0\n1 1 1 0\n").map(drop),
            "f:1: interval is \"0\"; expected seconds above zero",
        ),
        (ch_log::read("f", "1 1 1 0 1\n").map(drop), "f:1: channel 0 has several noise values"),
        (released::read_map("f", "").map(drop), "f:1: the file ends here; expected the number of PUs"),
        (released::read_map("f", "1\n1 0 0 1 1 1 1\n").map(drop), "f:2: the file ends here; expected range"),
        (
            released::read_map("f", "1\n1 0 0 1 1 1 1 500\n2\n0 1\n").map(drop),
            "f:4: the file ends here; expected arrival",
        ),
        (released::read_map("f", "0\n7\n").map(drop), "f:2: \"7\" after the end of the data"),
        (released::read_map("f", "1\n1 0 0 1 1 1 1 500\n1\n2\n1\n").map(drop), "f:5: PU 1: the ON period"),
        (released::read_channels("f", "0 1000 0\n2 1000 0\n").map(drop), "f:2: channel 1 is missing"),
        (
            released::read_channels("f", "0 1000 0\n1 1000 1.5\n").map(drop),
            "f:2: packet_error_rate is \"1.5\"",
        ),
        (released::read_channels("f", "0 1000 0\n").map(drop), "f:1: every channel is reserved"),
        (occupancy::read("f", "\n\n").map(drop), "f:1: the file is empty; expected time,band,busy"),
        (occupancy::read("f", "t,b,x\n").map(drop), "f:1: the header is \"t,b,x\"; expected time,band,busy"),
        (
            occupancy::read("f", "time,band,dbm\n1,1,-90\n").map(drop),
            "f:1: the header is \"time,band,dbm\"; expected time,band,busy; powers",
        ),
        (
            occupancy::read("f", "time,1,2\n1,-90,-80\n").map(drop),
            "f:2: busy is \"-90\"; expected 1 or 0; powers need a threshold",
        ),
        (
            occupancy::read("f", "time,1,1\n").map(drop),
            "f:1: the header is \"time,1,1\"; expected a name of its own",
        ),
        (
            occupancy::read("f", "time,1,01\n").map(drop),
            "f:1: the header is \"time,1,01\"; expected a name of its own",
        ),
        (
            occupancy::read("f", "time,1,2\n1,0\n").map(drop),
            "f:2: 2 fields; expected as many as the header has",
        ),
        (
            occupancy::read("f", "time,1,2\n2,0,0\n1,0,0\n").map(drop),
            "f:3: band 1: the sample at 1 s comes after",
        ),
        (
            occupancy::read_as(
                "f",
                "time,band,busy\n",
                &Reading { threshold: Some(Power::from_dbm(-95.0)), ..Reading::default() },
            )
            .map(drop),
            "f:1: the header is \"time,band,busy\"; expected powers",
        ),
        (occupancy::read("f", "time,band,busy\n").map(drop), "f:1: the file ends here; expected a sample"),
        (occupancy::read("f", "time,band,busy\n1,1,2\n").map(drop), "f:2: busy is \"2\"; expected 1 or 0"),
        (
            occupancy::read("f", "time,band,busy\n1,1\n").map(drop),
            "f:2: 2 fields; expected 3 (time, band, busy)",
        ),
        (
            occupancy::read("f", "time,band,busy\n2,1,1\n1,2,1\n1,1,0\n").map(drop),
            "f:4: band 1: the sample at 1 s comes after a later one",
        ),
    ];
    for (result, expected) in cases {
        let message = result.expect_err(expected).to_string();
        assert!(message.starts_with(expected), "{message}\nexpected: {expected}");
    }
}

/// 2,000 PUs of the released generator: its laws within five standard errors, and a file that the reader
/// takes.
#[test]
fn released_generator_follows_its_script() {
    let generator = MapGenerator { users: 2000, ..MapGenerator::default() };
    // Its script has 10 PUs unless told otherwise.
    assert_eq!(MapGenerator::default().generate(3).unwrap().users.len(), 10);
    let map = generator.generate(3).unwrap();
    assert_eq!(map.users.len(), 2000);
    assert_eq!(released::read_map("map.txt", &released::write_map(&map).unwrap()).as_ref(), Ok(&map));
    let mut channels = [0u32; 11];
    let (mut distance, mut on, mut off) = (0.0, Vec::new(), Vec::new());
    for MapUser { user, receiver, .. } in &map.users {
        channels[user.band as usize - 1] += 1;
        distance += user.position.distance(*receiver) / 2000.0;
        assert!(!user.activity.is_on(Time::ZERO));
        assert!(user.activity.as_slice().iter().all(|on| on.departure <= Time::ZERO + generator.horizon));
        // First OFF and first ON times, so that the end of the run does not select short ones.
        if let Some(first) = user.activity.as_slice().first() {
            off.push(first.arrival.as_secs_f64());
            on.push((first.departure - first.arrival).as_secs_f64());
        }
    }
    assert_eq!(channels[0], 0, "the control channel has no PU");
    // Standard deviation of a binomial(2000, 1/10): 13.4.
    assert!(channels[1..].iter().all(|count| count.abs_diff(200) < 67), "{channels:?}");
    // Uniform on [0, 300): standard error 1.94 m.
    assert!((distance - 150.0).abs() < 9.7, "{distance}");
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Mean ON 2 s, mean OFF 10 s; standard errors 2.2 % (an OFF time beyond 205 s has probability 1e-9).
    assert!(on.len() == 2000 && (mean(&on) / 2.0 - 1.0).abs() < 0.112, "{}", mean(&on));
    assert!((mean(&off) / 10.0 - 1.0).abs() < 0.112, "{}", mean(&off));
    let fewer = MapGenerator { users: 5, ..generator }.generate(3).unwrap();
    assert_eq!(fewer.users[..], map.users[..5], "more PUs leave the first ones as they are");
}

fn random_users(stream: &mut RandomStream, seed: u64) -> Vec<PrimaryUser> {
    let count = 1 + stream.below(5) as u32;
    let places = scatter(count, 1000.0, 1000.0, seed);
    let specs: Vec<PuSpec> = (0..count)
        .map(|i| PuSpec {
            id: i + 1,
            position: places[i as usize],
            band: 1 + stream.below(5) as u32,
            reach: Reach::Power(Power::from_watts(stream.uniform())),
            law: ActivityLaw::exponential(0.5 + stream.uniform(), 0.5 + stream.uniform()).unwrap(),
        })
        .collect();
    PuActivity::generate(&specs, Duration::from_secs(1 + stream.below(30)), seed).unwrap().users
}

fn random_table(stream: &mut RandomStream) -> ChannelTable {
    let (bands, per_band) = (1 + stream.below(4) as u32, 1 + stream.below(4) as u32);
    let channel = |stream: &mut RandomStream| {
        let mut channel = Channel::clean(Rate::from_bits_per_second(1 + stream.below(1 << 40)));
        channel.noise =
            (0..1 + stream.below(4)).map(|_| Power::from_watts(stream.uniform() * 1e-9)).collect();
        channel
    };
    let channels = (0..bands * per_band).map(|_| channel(stream)).collect();
    let interval = Duration::from_nanos(1 + stream.below(10_000_000_000));
    ChannelTable::new(bands, per_band, channels, Some(interval)).unwrap()
}

#[test]
fn what_is_written_reads_the_same() {
    for seed in 0..100 {
        let mut stream = RandomStream::new(seed, "round trip", 0);
        let users = random_users(&mut stream, seed);
        let activity = PuActivity { users: users.clone() };
        assert_eq!(pu_log::read("f", &pu_log::write(&activity).unwrap()), Ok(activity), "seed {seed}");

        let table = random_table(&mut stream);
        assert_eq!(ch_log::read("f", &ch_log::write(&table)), Ok(table), "seed {seed}");

        let in_range = |(number, mut user): (u32, PrimaryUser)| {
            user.id = number;
            user.reach = Reach::Range(f64::from(number) * 100.5);
            MapUser { user, receiver: Position::new(1.5, -2.25), alpha: 0.5, beta: 1e-3 }
        };
        let map = Map { users: (1..).zip(users).map(in_range).collect() };
        assert_eq!(
            released::read_map("f", &released::write_map(&map).unwrap()),
            Ok(map.clone()),
            "seed {seed}"
        );

        let reserved = |i| i == 0;
        let channels = (0..11).map(|i| Channel {
            error_rate: Probability::new(stream.uniform()).unwrap(),
            reserved: reserved(i),
            ..Channel::clean(Rate::from_bits_per_second(1 + stream.below(1 << 40)))
        });
        let table = ChannelTable::new(11, 1, channels.collect(), None).unwrap();
        assert_eq!(released::read_channels("f", &released::write_channels(&table)), Ok(table), "seed {seed}");

        let bands: BTreeMap<u32, Intervals> =
            map.users.iter().map(|entry| (2400 + entry.user.id, entry.user.activity.clone())).collect();
        let measured = Occupancy { start: Time::ZERO, end: Time::from_millis(40_000), bands, spacing: None };
        assert_eq!(occupancy::read("f", &occupancy::write(&measured)), Ok(measured), "seed {seed}");
    }
}

#[test]
fn a_reach_that_a_format_cannot_express_is_refused_and_can_be_converted() {
    let map = released::read_map("map.txt", MAP).unwrap();
    let error = pu_log::write(&map.activity()).unwrap_err();
    assert_eq!(error, WriteError::RangeInPuLog(1));
    assert!(error.to_string().contains("convert the range to a power"));
    let (propagation, sensitivity) = (Propagation::default(), Power::from_watts(1e-6));
    let mut powers = map.clone();
    for entry in &mut powers.users {
        entry.user.reach = Reach::Power(entry.user.reach.as_power(&propagation, sensitivity));
    }
    assert_eq!(powers.users[0].user.reach, Reach::Power(Power::from_watts(0.25)), "1e-6 W at 500 m");
    assert!(pu_log::write(&powers.activity()).is_ok());
    assert_eq!(released::write_map(&powers), Err(WriteError::PowerInMap(1)));
    let mut endless = map.clone();
    endless.users[1].user.reach = Reach::Range(f64::INFINITY);
    assert_eq!(released::write_map(&endless), Err(WriteError::Everywhere(2)), "no reader takes \"inf\"");
    // Beyond the largest number the conversion stays at it.
    assert_eq!(Reach::Range(1e300).as_power(&propagation, sensitivity), Power::from_watts(f64::MAX));
    assert_eq!(
        Reach::Power(Power::from_watts(f64::MAX)).as_range(&propagation, Power::from_watts(1e-300)),
        f64::MAX
    );
    assert!((powers.users[1].user.reach.as_range(&propagation, sensitivity) - 250.5).abs() < 1e-9);
}

/// Bytes at random, and characters at random from those that the formats are made of: every reader returns an
/// error that says where, or what it read.
#[test]
fn random_bytes_never_panic() {
    const MADE_OF: &[u8] = b"0123456789.,-+eE<># \t\r\n\ninfan_timebusyband";
    for seed in 0..20_000 {
        let mut stream = RandomStream::new(seed, "bytes", 0);
        let length = stream.below(200);
        let bytes: Vec<u8> = (0..length)
            .map(|_| match seed % 2 {
                0 => stream.next_u64() as u8,
                _ => MADE_OF[stream.below(MADE_OF.len() as u64) as usize],
            })
            .collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if seed % 4 == 3 {
            text.insert_str(0, "time,band,busy\n");
        }
        let results = [
            pu_log::read("f", &text).map(drop),
            ch_log::read("f", &text).map(drop),
            released::read_map("f", &text).map(drop),
            released::read_channels("f", &text).map(drop),
            occupancy::read("f", &text).map(drop),
        ];
        for error in results.into_iter().filter_map(Result::err) {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&error.line), "seed {seed}: line {} of {lines}", error.line);
            assert!(!error.to_string().contains(char::is_control), "seed {seed}: {error:?}");
        }
    }
}

/// Files damaged in every way that an editor, a disk or a script can: readers return, and what they accept
/// they also write and read again the same. The message carries the seed.
#[test]
fn damaged_files_never_panic() {
    const WORDS: [&str; 14] = [
        "nan",
        "inf",
        "-0",
        "1e309",
        "4294967296",
        "99999999999999999999",
        "<",
        ">",
        ",",
        "#",
        "\n",
        "interval",
        "é",
        "0",
    ];
    let seeds = [PU_LOG, CH_LOG, MAP, CHANNELS, CSV];
    let mut accepted = [0; 5];
    for seed in 0..20_000 {
        let mut stream = RandomStream::new(seed, "damage", 0);
        let mut text = seeds[stream.below(5) as usize].to_string();
        for _ in 0..1 + stream.below(3) {
            let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
            if places.is_empty() {
                break;
            }
            let place = places[stream.below(places.len() as u64) as usize];
            match stream.below(5) {
                0 => text.truncate(place),
                1 => drop(text.remove(place)),
                2 => text.insert_str(place, WORDS[stream.below(14) as usize]),
                3 => text.insert_str(place, &format!(" {} ", stream.next_u64())),
                _ => {
                    let copy = text.clone();
                    text.insert_str(place, &copy);
                }
            }
        }
        if let Ok(activity) = pu_log::read("f", &text) {
            accepted[0] += 1;
            assert_eq!(pu_log::read("f", &pu_log::write(&activity).unwrap()), Ok(activity), "seed {seed}");
        }
        if let Ok(table) = ch_log::read("f", &text) {
            accepted[1] += 1;
            assert_eq!(ch_log::read("f", &ch_log::write(&table)), Ok(table), "seed {seed}");
        }
        if let Ok(map) = released::read_map("f", &text) {
            accepted[2] += 1;
            assert_eq!(released::read_map("f", &released::write_map(&map).unwrap()), Ok(map), "seed {seed}");
        }
        if let Ok(table) = released::read_channels("f", &text) {
            accepted[3] += 1;
            assert_eq!(
                released::read_channels("f", &released::write_channels(&table)),
                Ok(table),
                "seed {seed}"
            );
        }
        if let Ok(measured) = occupancy::read("f", &text) {
            accepted[4] += 1;
            let again = occupancy::read("f", &occupancy::write(&measured));
            assert_eq!(again, Ok(measured), "seed {seed}");
        }
    }
    assert!(accepted.iter().all(|count| *count > 50), "each reader must meet files it accepts: {accepted:?}");
}

#[test]
fn occupancy_may_have_dates_and_semicolons() {
    let plain =
        occupancy::read("f", "time,band,busy\n1700000000,1,1\n1700000000.5,1,0\n1700000002,1,0\n").unwrap();
    let dates = "time;band;busy\n2023-11-14T22:13:20Z;1;1\n2023-11-14 22:13:20,5;1;0\n2023-11-14T23:13:22+01:00;1;0\n";
    assert_eq!(occupancy::read("f", dates).unwrap(), plain);
    let reading = Reading { threshold: Some(cogtcp_units::Power::from_dbm(-60.0)), ..Reading::default() };
    let powers = occupancy::read_as("f", "time;band;dbm\n0;1;-54,5\n1,5;1;-70,25\n", &reading).unwrap();
    let dots = occupancy::read_as("f", "time,band,dbm\n0,1,-54.5\n1.5,1,-70.25\n", &reading).unwrap();
    assert_eq!(powers, dots);
    let error = occupancy::read("f", "time,band,busy\n14.11.2023,1,1\n").unwrap_err().to_string();
    assert!(
        error.contains("expected seconds, as 12.5, or a date and time, as 2024-01-31T12:00:00.5Z"),
        "{error}"
    );
}

/// The first primary user may have the number 0; what a line lacks is said in the words of its header.
#[test]
fn numbers_begin_at_zero_and_columns_are_named() {
    let read = pu_log::read("pu.log", "0 1 2 1 0.5\n0 1.5 2.5\n").unwrap();
    assert_eq!((read.users[0].id, read.users[0].activity.as_slice().len()), (0, 1));
    for value in ["dbm", "busy"] {
        let text = format!("time,band,{value}\n0,1\n");
        let threshold = (value == "dbm").then(|| Power::from_dbm(-90.0));
        let reading = Reading { threshold, ..Reading::default() };
        let error = occupancy::read_as("f", &text, &reading).unwrap_err().to_string();
        assert!(error.contains(&format!("3 (time, band, {value})")), "{error}");
    }
}
