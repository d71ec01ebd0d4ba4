//! Hosts of large networks take their packets in batches, and no result depends on it.
//!
//! A run that records events plays every packet alone, so both kinds of run can be compared.

use crate::support::*;
use cogtcp_records::{Run, Table};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::RandomStream;

/// A random dumbbell. With 20 pairs it is large enough that hosts take their packets in batches.
pub(super) fn dumbbell(seed: u64, pairs: u64) -> String {
    let mut random = RandomStream::new(seed, "large-network", 0);
    let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
    let (access, delay) = (pick(&["2 Mbit/s", "10 Mbit/s", "100 Mbit/s"]), pick(&["1 ms", "5 ms", "60 ms"]));
    let (bottleneck, far) =
        (pick(&["1 Mbit/s", "10 Mbit/s", "200 Mbit/s"]), pick(&["0 ms", "7 ms", "40 ms"]));
    let own_queue = pick(&["3 packets", "20 packets", "1000 packets"]);
    let queue = pick(&["\"10 packets\"", "\"200 packets\"", "{ codel = {} }", "{ red = { limit = 30 } }"]);
    let loss = pick(&["0 %", "0 %", "1 %"]);
    let silence =
        pick(&["hold", "drop", "refuse", "down\"\nflush = \"queue", "down\"\nflush = \"wire", "down"]);
    let changes = pick(&[
        "sensing = { off = \"100 ms\", on = \"1 s\" }\n",
        "sensing = { off = { exponential = \"30 ms\" }, on = { exponential = \"90 ms\" } }\n",
        "sensing = { off = \"20 ms\", on = \"200 ms\" }\npu = { interarrival = \"300 ms\", switching = \"50 ms\" }\n",
        "sensing = { off = \"40 ms\", on = \"400 ms\" }\nchannel = { range = [\"300 kbit/s\", \"15 Mbit/s\"] }\n",
        "sensing = { off = \"50 ms\", on = \"150 ms\" }\nchannel = { set = [\"1 Mbit/s\", \"8 Mbit/s\"] }\n",
    ]);
    let radio = pick(&[
        "",
        "[[radio]]\nname = \"radio\"\nlinks = [\"bottleneck\"]\nsilence = \"SILENCE\"\n\
         CHANGES",
    ])
    .replace("SILENCE", &silence)
    .replace("CHANGES", &changes);
    let host = pick(&[
        "delayed_ack = \"off\"\n",
        "min_rto = \"2 ms\"\ndelayed_ack = \"3 ms\"\n",
        "receive_buffer = \"20 kB\"\n",
        "",
    ]);
    let warmup = pick(&["0 s", "1.5 s"]);
    let flow = |name: &str, from: &str, to: &str, transport: &str, rest: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{transport}\"\n{rest}\n"
        )
    };
    let transports = ["newreno", "linux-cubic", "linux-bbr", "linux-reno", "vegas", "sack", "c2"];
    let mut flows = String::new();
    for pair in 1..=pairs {
        // C2's receiver counts the flows of other hosts, so no host of its network takes batches: one network
        // in ten has C2.
        let transport = pick(if seed.is_multiple_of(10) { &transports } else { &transports[..6] });
        // Some hosts have a flow that ends, or one in the other direction. In two networks of three no flow ends
        // but at a given time: then hosts may be later.
        let traffics = [
            "",
            "",
            "",
            "start = \"0.3 s\"\nstop = \"2 s\"",
            "traffic = { rate = \"300 kbit/s\" }",
            "traffic = { size = \"40 kB\" }",
        ];
        let traffic = pick(if seed.is_multiple_of(3) { &traffics } else { &traffics[..5] });
        flows += &flow(&format!("f{pair}"), &format!("s{pair}"), &format!("d{pair}"), &transport, &traffic);
        if pick(&["", "", "", "back"]) == "back" {
            flows += &flow(&format!("b{pair}"), &format!("d{pair}"), &format!("s{pair}"), "sack", "");
        }
    }
    format!(
        "name = \"large\"\n[run]\nduration = \"3 s\"\nwarmup = \"{warmup}\"\nseed = {seed}\nsample_interval = \"70 ms\"\n\
         [tcp]\n{host}[topology.dumbbell]\npairs = {pairs}\n\
         access = {{ rate = \"{access}\", delay = \"{delay}\", queue = \"{own_queue}\" }}\n\
         bottleneck = {{ rate = \"{bottleneck}\", delay = \"{far}\", queue = {queue}, loss = \"{loss}\" }}\n\
         {radio}{flows}"
    )
}

fn at(text: &str, trace: TraceLevel) -> Run {
    run(&experiment(text), &RunOptions { trace, ..RunOptions::default() })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Fails where `one` and `two` differ in a table that a run without a trace has.
fn assert_same(one: &Run, two: &Run, what: &str) {
    assert_eq!(one.packet_hops, two.packet_hops, "{what}");
    for (one, two) in [
        (&one.flows, &two.flows),
        (&one.links, &two.links),
        (&one.radios, &two.radios),
        (&one.budget, &two.budget),
    ] {
        assert_table(one, two, what);
    }
    assert_eq!(one.extensions.len(), two.extensions.len(), "{what}");
    for (one, two) in one.extensions.iter().zip(&two.extensions) {
        assert_table(one, two, what);
    }
    assert_eq!((one.engine_events, one.digest), (two.engine_events, two.digest), "{what}");
}

/// Fails at the first text that two tables do not share.
fn assert_table(one: &Table, two: &Table, what: &str) {
    if is_same_table(one, two) {
        return;
    }
    let texts = [one, two].map(|table| format!("{table:?}"));
    let place = texts[0].bytes().zip(texts[1].bytes()).position(|(one, two)| one != two);
    let around = |at: usize| texts.each_ref().map(|text| text[at.saturating_sub(200)..at + 20].to_owned());
    assert!(texts[0] == texts[1], "{}: {:?}, {what}", one.name, place.map(around));
}

/// How many networks: more with `COGTCP_CASES`.
pub(super) fn cases() -> u64 {
    std::env::var("COGTCP_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

/// Fails where the runs without a trace and with series differ from the run that records events.
pub(super) fn assert_no_difference(text: &str, what: &str) {
    let [plain, series, events] =
        [TraceLevel::None, TraceLevel::Series, TraceLevel::Full].map(|trace| at(text, trace));
    assert_same(&plain, &events, &format!("{what}, without a trace\n{text}"));
    assert_same(&series, &events, &format!("{what}, with series\n{text}"));
    for (name, one, two) in [
        ("flow_series", &series.flow_series, &events.flow_series),
        ("link_series", &series.link_series, &events.link_series),
        ("control_series", &series.control_series, &events.control_series),
    ] {
        assert_table(one, two, &format!("{what}, {name}\n{text}"));
    }
}

#[test]
fn no_result_depends_on_batches() {
    for seed in 0..cases() {
        assert_no_difference(&dumbbell(seed, 20), &format!("seed {seed}"));
    }
}
