//! CR users in full, over the shipped single hop of MSWiM 2009 and variants of it.

use crate::support::*;
use cogtcp_records::Run;
use cogtcp_scenario::Scenario;
use cogtcp_simulator::{RunOptions, TraceLevel, run};

pub(crate) fn changed(changes: &[(&str, &str)]) -> cogtcp_scenario::Experiment {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-single-hop.toml");
    let mut scenario = Scenario::read(std::path::Path::new(file)).unwrap();
    for (path, value) in changes {
        scenario = scenario.set(path, value).unwrap_or_else(|error| panic!("{error}"));
    }
    scenario.resolve().unwrap_or_else(|error| panic!("{error}"))
}

fn play(changes: &[(&str, &str)]) -> Run {
    run(&changed(changes), &RunOptions::default()).unwrap()
}

fn traced(changes: &[(&str, &str)]) -> Run {
    run(&changed(changes), &RunOptions { trace: TraceLevel::Full, ..RunOptions::default() }).unwrap()
}

const SHORT: (&str, &str) = ("run.duration", "60 s");

/// One segment in flight and no backoff (a window of one slot): every round trip is two exchanges one after
/// the other, each behind the rest of the one before and DIFS. By hand: 315 + 50 + 679 + 8736 + 315 + 50 +
/// 679 + 736 us.
#[test]
fn a_round_trip_takes_two_exchanges_to_the_nanosecond() {
    let run = play(&[
        SHORT,
        ("spectrum.pu", "none"),
        ("radio.cr.cr.detector", "perfect"),
        ("radio.cr.cr.mac.cw_min", "0"),
        ("tcp.max_window", "1 segment"),
        ("tcp.min_rto", "1 s"),
    ]);
    assert_eq!((first(&run.flows, "rtt_min_s") * 1e9).round(), 11_560_000.0);
    assert_eq!(first(extension(&run, "tcp_flows"), "rtos"), 0.0);
}

/// Every packet is accounted for in every mode (`run` checks that), and the modes differ where they should.
#[test]
fn every_mode_conserves_packets() {
    for ends in ["synchronous", "independent"] {
        for peer in ["wait", "retry"] {
            for radio in ["shared", "separate"] {
                for rts in ["0 B", "400 B", "5000 B"] {
                    let run = play(&[
                        SHORT,
                        ("radio.cr.cr.ends", ends),
                        ("radio.cr.cr.while_peer_senses", peer),
                        ("radio.cr.cr.transmit_radio", radio),
                        ("radio.cr.cr.mac.rts_threshold", rts),
                        ("topology.single_hop.link.loss", "1 %"),
                        ("topology.single_hop.link.queue", "5 packets"),
                    ]);
                    let name = format!("{ends} {peer} {radio} {rts}");
                    let sum = |column_name: &str| column(&run.links, column_name).iter().sum::<f64>();
                    assert!(first(&run.flows, "goodput_bps") > 50e3, "{name}");
                    assert_eq!(run.radios.len(), if ends == "synchronous" { 1 } else { 2 }, "{name}");
                    assert!(sum("drops_interference") > 0.0 && sum("drops_queue") > 0.0, "{name}");
                    assert!(sum("attempts_garbled") > 0.0 && sum("drops_loss") == 0.0, "{name}");
                    let burns = peer == "retry" && (radio == "separate" || ends == "independent");
                    assert_eq!(sum("attempts_unanswered") > 0.0, burns, "{name}");
                    assert_eq!(sum("drops_retry") > 10.0, burns, "{name}: {}", sum("drops_retry"));
                }
            }
        }
    }
}

/// Sensing that burns the retry limit costs packets, one for each 35 ms of it while the window lasts, and so
/// windows. Sensing that is waited for costs none: it is shorter than the RTO.
#[test]
fn a_sender_that_does_not_know_loses_packets_to_sensing() {
    let quiet = [SHORT, ("tcp.min_rto", "1 s"), ("spectrum.pu", "none"), ("radio.cr.cr.detector", "perfect")];
    let waiting = play(&quiet);
    let unaware = [("radio.cr.cr.while_peer_senses", "retry"), ("radio.cr.cr.transmit_radio", "separate")];
    let burning = play(&[&quiet[..], &unaware].concat());
    let reductions = |run: &Run| {
        first(extension(run, "tcp_flows"), "fast_retransmits") + first(extension(run, "tcp_flows"), "rtos")
    };
    assert_eq!((first(&waiting.flows, "drops"), reductions(&waiting)), (0.0, 0.0));
    let sensings = first(&burning.radios, "sensings");
    let drops = first(&burning.links, "drops_retry") / sensings;
    assert!((2.0..=6.0).contains(&drops), "{drops} packets for each sensing of 0.2 s");
    assert!(reductions(&burning) > sensings / 2.0);
    let infinite =
        play(&[&quiet[..], &unaware, &[("radio.cr.cr.mac.short_retry_limit", "infinite")]].concat());
    assert_eq!((first(&infinite.flows, "drops"), reductions(&infinite)), (0.0, 0.0));
}

/// A perfect detector and no switching delay: no PU waits longer than T_p until the radio has left.
#[test]
fn a_perfect_detector_interferes_for_one_transmission_time_at_most() {
    for seed in ["1", "2", "3"] {
        let run = play(&[
            ("run.seed", seed),
            ("radio.cr.cr.detector", "perfect"),
            ("radio.cr.cr.switching_delay", "0 s"),
            ("radio.cr.cr.transmission_time", "600 ms"),
        ]);
        assert_eq!(first(&run.radios, "missed_detections") + first(&run.radios, "false_alarms"), 0.0);
        assert!(first(&run.radios, "vacate_max_s") <= 0.6);
        assert!(first(&run.radios, "pu_interfered_share") <= first(&run.radios, "pu_exposed_share"));
        assert!(first(&run.radios, "pu_collisions") > 0.0, "PUs do come during transmissions");
    }
}

#[test]
fn without_pus_and_false_alarms_there_is_no_handoff() {
    let run = play(&[SHORT, ("spectrum.pu", "none"), ("radio.cr.cr.detector", "as_released")]);
    assert_eq!(first(&run.radios, "handoffs"), 0.0);
    assert_eq!(first(&run.radios, "pu_airtime_s"), 0.0);
    assert_eq!(column(&run.links, "attempts_interfered"), [0.0, 0.0]);
}

/// What a frame meets follows from SINR: a PU far from the link whose power arrives 10 dB below the peer's
/// does no harm.
#[test]
fn a_distant_pu_does_not_reach_the_capture_threshold() {
    let harm = |metres: u32| {
        let users = format!(
            "{{ exponential = {{ alpha = 0.5, beta = 0.5, position = [\"{metres} m\", \"0 m\"], reach = {{ power = \"0.2818 W\" }} }} }}"
        );
        let run = play(&[SHORT, ("spectrum.pu", &users), ("radio.cr.cr.detector", "as_released")]);
        let interfered = column(&run.links, "attempts_interfered");
        (interfered[0] > 0.0, interfered[1] > 0.0)
    };
    // The ends are 100 m apart: within 316 m of a receiver the PU is too loud. Frames of an exchange go both
    // ways.
    assert_eq!(harm(250), (true, true));
    assert_eq!(harm(430), (false, false));
}

#[test]
fn the_same_seed_gives_the_same_run_and_pus_come_whatever_the_transport() {
    let (a, b) = (traced(&[SHORT]), traced(&[SHORT]));
    // As text: what is not a number is not equal to itself.
    assert!(format!("{a:?}") == format!("{b:?}"));
    assert_eq!(a.digest, play(&[SHORT]).digest, "recording changes nothing");
    let other = traced(&[SHORT, ("flow.0.transport", "sack"), ("radio.cr.cr.sensing_time", "50 ms")]);
    assert_ne!(a.digest, other.digest);
    for kind in ["pu_on", "pu_off"] {
        assert!(event_times(&a, kind).len() > 30);
        assert_eq!(event_times(&a, kind), event_times(&other, kind), "common random numbers");
    }
    assert_ne!(event_times(&a, "pu_on"), event_times(&traced(&[SHORT, ("run.seed", "9")]), "pu_on"));
}

/// The events tell what the tables count.
#[test]
fn events_agree_with_the_tables() {
    let run = traced(&[
        ("radio.cr.cr.sensing_time", "50 ms"),
        ("radio.cr.cr.while_peer_senses", "retry"),
        ("radio.cr.cr.transmit_radio", "separate"),
    ]);
    let count = |kind: &str| event_times(&run, kind).len() as f64;
    for (kind, name) in [
        ("missed_detection", "missed_detections"),
        ("false_alarm", "false_alarms"),
        ("handoff", "handoffs"),
        ("sensing_start", "sensings"),
    ] {
        assert!(count(kind) > 0.0 && count(kind) == first(&run.radios, name), "{kind}");
    }
    assert_eq!(count("interference"), column(&run.links, "attempts_interfered").iter().sum::<f64>());
    let times = column(&run.events, "time_s");
    assert!(times.is_sorted(), "events come in the order of time");
}

/// The channel's rate decides: equation 5 with M = 1 gives 1.5 and 0.5 Mbit/s, and the capacity follows the
/// handoffs.
#[test]
fn heterogeneous_channels_change_the_rate() {
    let m = |m: &str| {
        play(&[
            ("spectrum.channels", &format!("{{ alternating = {{ rate = \"1 Mbit/s\", m = {m} }} }}")),
            ("radio.cr.cr.detector", "perfect"),
        ])
    };
    let (even, uneven) = (m("0.0"), m("1.0"));
    let open = first(&even.radios, "transmitting_s");
    assert_close(first(&even.links, "capacity_bytes"), open * 125e3, 1e-9);
    let (open, capacity) = (first(&uneven.radios, "transmitting_s"), first(&uneven.links, "capacity_bytes"));
    assert!((capacity / open / 125e3 - 1.0).abs() > 1e-3 && capacity < open * 187_501.0);
}

/// Several flows over one pair of CR users share its queue and its medium, both ways; behind it they part
/// again.
#[test]
fn several_flows_share_a_link_of_cr_users() {
    let dumbbell = "{ dumbbell = { pairs = 3, access = { rate = \"10 Mbit/s\", delay = \"1 ms\" }, \
                    bottleneck = { rate = \"1 Mbit/s\", delay = \"1 us\", queue = \"50 packets\" } } }";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-single-hop.toml");
    let scenario = Scenario::read(std::path::Path::new(file)).unwrap().set("topology", dumbbell).unwrap();
    let flows = "[{ from = \"s*\", to = \"d*\", count = 3, transport = \"newreno\" }, \
                 { name = \"back\", from = \"d1\", to = \"s1\", transport = \"sack\" }]";
    let scenario = scenario.set("radio.cr.links", "[\"bottleneck\"]").unwrap().set("flow", flows).unwrap();
    assert_eq!(scenario.warnings(), []);
    let run = run(&scenario.resolve().unwrap(), &RunOptions::default()).unwrap();
    let goodputs = column(&run.flows, "goodput_bps");
    assert!(goodputs.len() == 4 && goodputs.iter().all(|goodput| *goodput > 20e3), "{goodputs:?}");
    let sum: f64 = goodputs.iter().sum();
    assert!((300e3..700e3).contains(&sum), "{goodputs:?}");
    assert!(column(&run.links, "attempts_collided").iter().sum::<f64>() > 100.0, "two stations contend");
}

/// A chain of links of CR users: every link is a medium of its own among the same primary users.
#[test]
fn a_chain_of_cr_users_forwards() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-single-hop.toml");
    let chain = "{ chain = { hops = 2, link = { rate = \"1 Mbit/s\", delay = \"1 us\" } } }";
    let scenario = Scenario::read(std::path::Path::new(file)).unwrap().set("topology", chain).unwrap();
    let text = scenario.to_toml().replace("\"sender\"", "\"n0\"").replace("\"receiver\"", "\"n2\"");
    let one = text.replace("\"link\"", "\"hop1\"");
    let radio = one[one.find("[[radio]]").unwrap()..one.find("[[flow]]").unwrap()].to_owned();
    let second = radio.replace("\"hop1\"", "\"hop2\"").replacen("name = \"cr\"", "name = \"cr2\"", 1);
    let two = one.replace("[[flow]]", &format!("{second}[[flow]]"));
    let run = run(&Scenario::parse(&two, "two").unwrap().resolve().unwrap(), &RunOptions::default()).unwrap();
    assert!(first(&run.flows, "goodput_bps") > 100e3);
    assert_eq!(run.radios.len(), 2);
    let airtime = column(&run.radios, "pu_airtime_s");
    assert_eq!(airtime[0], airtime[1], "the primary users are the same");
}

/// Whatever the radio, the MAC and the seed: what is interfered with was exposed, apart from the frames of a
/// node that sends into silence; no more is counted than there is; and a perfect detector is the only reason
/// for nothing being missed.
#[test]
fn what_is_counted_of_primary_users_is_consistent() {
    for seed in 0..6u32 {
        for detector in ["perfect", "as_released", "{ map = { snr = \"-22 dB\" } }"] {
            let mode = [("synchronous", "wait"), ("independent", "wait"), ("independent", "retry")]
                [seed as usize % 3];
            let run = traced(&[
                SHORT,
                ("run.seed", &seed.to_string()),
                ("radio.cr.cr.detector", detector),
                ("radio.cr.cr.ends", mode.0),
                ("radio.cr.cr.while_peer_senses", mode.1),
                ("radio.cr.cr.reception", ["sinr", "as_released"][seed as usize % 2]),
                ("spectrum.pu", "{ exponential = { alpha = 2.0, beta = 1.0, start = \"stationary\" } }"),
            ]);
            let name = format!("seed {seed}, {detector}, {mode:?}");
            for radio in 0..run.radios.len() {
                let of = |column_name: &str| column(&run.radios, column_name)[radio];
                assert!(
                    of("pu_exposed_share") <= 1.0 && of("pu_interfered_s") <= of("pu_airtime_s"),
                    "{name}"
                );
                if mode.1 == "wait" {
                    assert!(of("pu_interfered_share") <= of("pu_exposed_share") + 1e-12, "{name}");
                }
                assert_eq!(of("pu_collisions") > 0.0, of("pu_interfered_s") > 0.0, "{name}");
                assert!(
                    of("detections") + of("missed_detections") + of("false_alarms") <= of("sensings"),
                    "{name}"
                );
                // An ON period is left, or left alone by its PU, at most once each.
                assert!(of("vacated") <= of("detections"), "{name}");
                assert!(of("vacate_mean_s") <= of("vacate_max_s") || of("vacated") == 0.0, "{name}");
                if detector == "perfect" {
                    assert_eq!((of("missed_detections"), of("false_alarms")), (0.0, 0.0), "{name}");
                    assert!(of("vacate_max_s") <= 1.0, "{name}: T_p is 1 s");
                }
                if detector == "as_released" {
                    assert_eq!(of("false_alarms"), 0.0, "{name}");
                }
            }
            // A frame is destroyed only while a primary user is ON.
            let interference = event_times(&run, "interference").len() as f64;
            assert_eq!(interference, column(&run.links, "attempts_interfered").iter().sum::<f64>(), "{name}");
        }
    }
}

/// The lottery of the released code lets every tenth frame past a primary user: with a radio that never
/// notices one, what is delivered while it is ON is due to that alone.
#[test]
fn as_released_some_frames_get_past_a_primary_user() {
    let during = |reception: &str| {
        let run = play(&[
            SHORT,
            (
                "spectrum.pu",
                "{ laws = { on = { deterministic = \"100 s\" }, off = { deterministic = \"5 s\" } } }",
            ),
            ("radio.cr.cr.detector", "{ fixed = { detection = 0.0 } }"),
            ("radio.cr.cr.reception", reception),
            ("run.warmup", "6 s"),
            ("tcp.max_rto", "1 s"),
            ("radio.cr.cr.mac.rts_threshold", "5000 B"),
        ]);
        first(&run.flows, "delivered_bytes")
    };
    assert_eq!(during("sinr"), 0.0);
    assert!(during("as_released") > 20_000.0, "{}", during("as_released"));
}

/// The round trip above by its parts. Of 11.56 ms: 8 ms of payload, 0.32 of headers; 1.41 of RTS, CTS, ACK,
/// preamble, MAC header and gaps around them; the other direction's exchange, 1.73, and the DIFS of this one,
/// 0.05; and the DIFS of the other, while the window, which the cap keeps at one segment, leaves nothing to
/// be sent.
#[test]
fn the_budget_of_a_round_trip_by_hand() {
    let run = play(&[
        SHORT,
        ("spectrum.pu", "none"),
        ("radio.cr.cr.detector", "perfect"),
        ("radio.cr.cr.mac.cw_min", "0"),
        ("tcp.max_window", "1 segment"),
        ("tcp.min_rto", "1 s"),
    ]);
    let time = |name: &str| first(&run.budget, name);
    let delivered = time("delivered_s");
    for (name, micros) in [("headers_s", 320.0), ("mac_s", 1410.0)] {
        assert_close(time(name) / delivered, micros / 8000.0, 2e-3);
    }
    // An exchange that a sensing would cut waits for the end of it, and the medium for the exchange.
    assert_close(time("contention_s") / delivered, 1780.0 / 8000.0, 0.05);
    assert_close(time("receiver_s") / delivered, 50.0 / 8000.0, 0.05);
    assert!((time("silent_s") / first(&run.links, "silence_s") - 1.0).abs() < 0.01);
    for name in ["retry_s", "interference_s", "timeout_s", "duplicate_s", "lost_s", "growing_s", "upstream_s"]
    {
        assert_eq!(time(name), 0.0, "{name}");
    }
}

/// Primary users that are missed destroy exchanges, and the time of those is counted as interference; peers
/// that do not wait for one another have exchanges that nobody answers, which are retries.
#[test]
fn the_budget_tells_interference_and_retries_apart() {
    let run = play(&[
        ("run.duration", "300 s"),
        ("radio.cr.cr.sensing_time", "5 ms"),
        ("radio.cr.cr.ends", "independent"),
        ("radio.cr.cr.while_peer_senses", "retry"),
    ]);
    let time = |name: &str| first(&run.budget, name);
    let (interfered, unanswered) =
        (first(&run.links, "attempts_interfered"), first(&run.links, "attempts_unanswered"));
    assert!(interfered > 10.0 && unanswered > 10.0, "{interfered}, {unanswered}");
    // An exchange ends with the frame that failed: an RTS and its timeout at least, and the whole at most.
    let bounds = |count: f64| count * 0.6e-3..=count * 9.8e-3;
    assert!(bounds(interfered).contains(&time("interference_s")), "{}", time("interference_s"));
    assert!(time("retry_s") > unanswered * 0.6e-3, "{}", time("retry_s"));
    assert_close(time("measured_s"), first(&run.flows, "measured_s"), 1e-12);
}
