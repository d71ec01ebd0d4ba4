//! Settings of TCP: every one arrives at the endpoint that it is for, and the innermost counts.

use cogtcp_hosts::drawn;
use cogtcp_scenario::{Scenario, starter};
use cogtcp_transport::{
    DelayedAck, EcnMode, FRto, FastRetransmitGuard, FullAckWindow, Handshake, InitialWindow, LossRecovery,
    NewRenoVariant, ParameterValue, PrrRules, ReceiverConfig, Recovery, RecoveryRules, RttSampling,
    SenderConfig, TimeoutRules, Timers, Undo,
};
use cogtcp_units::{Duration, Time};
use std::borrow::Cow;

/// Every setting, each at another value than its default, and the configurations that must come of it.
#[test]
fn every_setting_arrives() {
    let text = starter("dumbbell").unwrap().replace("\"linux-cubic\"", "\"newreno\"").replace(
        "[tcp]\nsegment_size = \"1000 B\"",
        r#"[tcp]
        segment_size = "500 B"
        initial_window = "2 segments"
        initial_ssthresh = "20 segments"
        max_window = "64 KiB"
        recovery = "reno"
        newreno_variant = "slow_but_steady"
        full_ack_window = "ssthresh"
        fast_retransmit_guard = "window"
        dup_thresh = 4
        limited_transmit = false
        f_rto = "basic"
        eifel = true
        d_sack_undo = true
        timeout_rules = "linux"
        timer_tick = "4 ms"
        prr = true
        prr_rules = "linux"
        recovery_rules = "ns2"
        rack = true
        tlp = true
        max_ack_delay = "40 ms"
        ecn = true
        timestamps = true
        timestamp_tick = "2 ms"
        window_scaling = false
        initial_rto = "3 s"
        min_rto = "200 ms"
        min_rto_above_srtt = true
        segmentation_offload = true
        max_rto = "64 s"
        hold_ssthresh = false
        keep_syn_backoff = true
        restart_on_retransmit = false
        clock_granularity = "100 ms"
        rtt_sampling = "every_ack"
        restart_after_idle = false
        paced_resume = true
        heeds_shrinking = false
        window_validation = false
        user_timeout = "5 min"
        timer_phase = "7 s"
        time_wait = "1 s"
        delayed_ack = "off"
        ack_every = "3 segments"
        paws = false
        sack = false
        d_sack = false
        receive_buffer = "1 MB"
        window_tuning = true
        window_margin = true
        compression_slack = "50 us"
        parameters = { decrease = 0.7 }"#,
    );
    let flow = Scenario::parse(&text, "all").unwrap().resolve().unwrap().flows.remove(0);
    let sender = SenderConfig {
        linear_syn_timeouts: 4,
        challenge_interval: Duration::from_millis(500),
        initial_window: InitialWindow::Segments(2),
        initial_ssthresh: 10_000,
        segmentation_offload: true,
        max_window: Some(65_536),
        restart_after_idle: false,
        paced_resume: true,
        heeds_shrinking: false,
        window_validation: false,
        handshake: Handshake {
            mss: 500,
            initial_sequence: SenderConfig::default().handshake.initial_sequence,
            ecn: EcnMode::Classic,
            timestamps: true,
            window_scaling: false,
        },
        recovery: LossRecovery {
            algorithm: Recovery::Reno,
            newreno_variant: NewRenoVariant::SlowButSteady,
            full_ack_window: FullAckWindow::Ssthresh,
            fast_retransmit_guard: FastRetransmitGuard::Window,
            dup_thresh: 4,
            limited_transmit: false,
            prr: true,
            prr_rules: PrrRules::Linux,
            rack: true,
            tlp: true,
            max_ack_delay: Duration::from_millis(40),
            hold_ssthresh: false,
            recovery_rules: RecoveryRules::Ns2,
        },
        undo: Undo { f_rto: FRto::Basic, eifel: true, d_sack_undo: true },
        timers: Timers {
            timeout_rules: TimeoutRules::Linux,
            timer_tick: Duration::from_millis(4),
            timer_phase: Some(Duration::from_secs(7)),
            timestamp_tick: Duration::from_millis(2),
            initial_rto: Duration::from_secs(3),
            min_rto: Duration::from_millis(200),
            min_rto_above_srtt: true,
            max_rto: Duration::from_secs(64),
            keep_syn_backoff: true,
            restart_on_retransmit: false,
            clock_granularity: Duration::from_millis(100),
            rtt_sampling: RttSampling::EveryAck,
            user_timeout: Some(Duration::from_secs(300)),
            time_wait: Duration::from_secs(1),
        },
    };
    assert_eq!(*flow.tcp().unwrap().sender, sender);
    let receiver = ReceiverConfig {
        delayed_ack: DelayedAck::Off,
        ack_every: 3,
        paws: false,
        sack: false,
        d_sack: false,
        buffer: 1_000_000,
        window_tuning: true,
        window_margin: true,
        compression_slack: Duration::from_micros(50),
        manual_read: false,
        stays_open: false,
        challenge_interval: Duration::from_millis(500),
        wheel: sender.timers.wheel(),
        handshake: Handshake {
            mss: 500,
            initial_sequence: ReceiverConfig::default().handshake.initial_sequence,
            ecn: EcnMode::Classic,
            timestamps: true,
            window_scaling: false,
        },
    };
    assert_eq!(*flow.tcp().unwrap().receiver, receiver);
    assert_eq!(flow.tcp().unwrap().control.parameters.get("decrease"), Some(&ParameterValue::Number(0.7)));
}

/// A flow's own settings go over those of the scenario, and these over the preset's.
#[test]
fn the_innermost_setting_counts() {
    let text = starter("dumbbell").unwrap().replace("\"linux-cubic\"", "\"tahoe\"");
    let own = |line: &str| {
        let text = format!("{text}\n").replace("stagger =", &format!("{line}\nstagger ="));
        Scenario::parse(&text, "layers").unwrap().resolve().unwrap().flows.remove(0)
    };
    assert_eq!(own("").tcp().unwrap().sender.recovery.algorithm, Recovery::Tahoe);
    assert_eq!(own("").tcp().unwrap().sender.handshake.mss, 1000);
    let flow = own("tcp = { segment_size = \"500 B\", recovery = \"sack\", max_window = \"20 segments\" }");
    assert_eq!(
        (flow.tcp().unwrap().sender.handshake.mss, flow.tcp().unwrap().receiver.handshake.mss),
        (500, 500)
    );
    assert_eq!(flow.tcp().unwrap().sender.recovery.algorithm, Recovery::Sack);
    assert_eq!(flow.tcp().unwrap().sender.max_window, Some(10_000));
}

/// Two settings that do not fit together: the error names the setting that was written last.
#[test]
fn settings_that_exclude_each_other_are_named_where_they_were_written() {
    let text = |all: &str, flow: &str| {
        starter("dumbbell")
            .unwrap()
            .replace("segment_size = \"1000 B\"", &format!("segment_size = \"1000 B\"\n{all}"))
            .replace("stagger =", &format!("tcp = {{ {flow} }}\nstagger ="))
    };
    for (all, flow, place) in [
        ("max_rto = \"1 s\"", "min_rto = \"2 s\"", "flow.0.tcp.min_rto"),
        ("min_rto = \"2 s\"", "max_rto = \"1 s\"", "flow.0.tcp.min_rto"),
        ("min_rto = \"2 s\"\nmax_rto = \"1 s\"", "", "tcp.min_rto"),
        ("receive_buffer = \"999 B\"", "", "tcp.receive_buffer"),
        ("", "receive_buffer = \"999 B\"", "flow.0.tcp.receive_buffer"),
        ("", "max_window = \"999 B\"", "flow.0.tcp.max_window"),
    ] {
        let error = Scenario::parse(&text(all, flow), "places").and_then(|it| it.resolve()).unwrap_err();
        let said = error.to_string();
        let wanted = format!(" {place}: ");
        assert!(said.contains(&wanted), "{all} {flow}: {said}");
    }
    let bounds = text("min_rto = \"1 s\"\nmax_rto = \"1 s\"", "receive_buffer = \"1000 B\"");
    assert!(Scenario::parse(&bounds, "bounds").and_then(|it| it.resolve()).is_ok());
}

/// A window in segments is of the segment size that counts in the end.
#[test]
fn windows_follow_the_segment_size() {
    let text = starter("dumbbell")
        .unwrap()
        .replace("segment_size = \"1000 B\"", "segment_size = \"1000 B\"\nmax_window = \"20 segments\"");
    let text = text.replace("stagger =", "tcp = { segment_size = \"500 B\" }\nstagger =");
    let flow = Scenario::parse(&text, "windows").unwrap().resolve().unwrap().flows.remove(0);
    assert_eq!(flow.tcp().unwrap().sender.max_window, Some(10_000));
}

#[test]
fn a_seed_decides_when_flows_start_and_how_timers_tick() {
    let text = r#"
        name = "jitter"

        [run]
        duration = "10 s"

        [topology.single_hop]
        link = { rate = "10 Mbit/s", delay = "25 ms", queue = "50 packets" }

        [[flow]]
        name = "jittered"
        from = "sender"
        to = "receiver"
        transport = "linux-reno"
        start = "1 s"
        start_jitter = "500 ms"
        "#;
    let start_and_phase = |seed| {
        let experiment = Scenario::parse(text, "jitter").unwrap().resolve().unwrap();
        let experiment = drawn(Cow::Owned(experiment), seed);
        let again = drawn(Cow::Borrowed(&*experiment), seed + 1);
        let flow = &experiment.flows[0];
        let found = (flow.start, flow.tcp().unwrap().sender.timers.timer_phase);
        assert_eq!(
            found,
            (again.flows[0].start, again.flows[0].tcp().unwrap().sender.timers.timer_phase),
            "drawn twice"
        );
        found
    };
    let all: Vec<_> = (0..20).map(start_and_phase).collect();
    assert_eq!(all, (0..20).map(start_and_phase).collect::<Vec<_>>());
    for (number, found) in all.iter().enumerate() {
        assert!((Time::from_millis(1_000)..Time::from_millis(1_500)).contains(&found.0));
        assert!(!all[..number].iter().any(|other| other.0 == found.0 || other.1 == found.1));
    }
}

/// A run copies an experiment only where its seed has something to draw: thousands of flows have their names
/// and settings once.
#[test]
fn an_experiment_without_chance_in_its_hosts_is_not_copied() {
    let drawn_of = |changes: &[(&str, &str)]| {
        let mut scenario = Scenario::parse(&starter("single-hop").unwrap(), "drawn").unwrap();
        for (path, value) in changes {
            scenario = scenario.set(path, value).unwrap();
        }
        let experiment = scenario.resolve().unwrap();
        matches!(drawn(Cow::Borrowed(&experiment), 1), Cow::Owned(_))
    };
    assert!(!drawn_of(&[("flow.0.transport", "newreno")]));
    assert!(drawn_of(&[("flow.0.transport", "newreno"), ("flow.0.start_jitter", "500 ms")]));
    assert!(drawn_of(&[("flow.0.transport", "linux-reno")]));
}

/// The rows of all series: one flow and two directions of a link, at 20 points.
#[test]
fn rows_of_series_are_counted_before_a_run() {
    let text = "name = \"rows\"\n[run]\nduration = \"2 s\"\nsample_interval = \"100 ms\"\n[topology.single_hop]\n\
                link = { rate = \"1 Mbit/s\", delay = \"1 ms\", queue = \"9 packets\" }\n\
                [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n";
    let rows = |text: &str| Scenario::parse(text, "rows.toml").unwrap().resolve().unwrap().series_rows();
    assert_eq!(rows(text), 3 * 20);
    assert_eq!(rows(&text.replace("[[flow]]\n", "[[flow]]\ncount = 4\n")), 6 * 20);
}

/// A window per round trip is the most: 10 Gbit/s over 20 ms are 25 MB, and 4 MiB deliver 1.68 Gbit/s.
#[test]
fn a_buffer_below_the_bandwidth_delay_product_is_warned_of() {
    let warnings = |traffic: &str, buffer: &str| {
        let text = format!(
            "name = \"fast\"\n[run]\nduration = \"2 s\"\n[topology.single_hop]\nlink = {{ rate = \"10 Gbit/s\", \
             delay = \"10 ms\", queue = \"100 packets\" }}\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\n\
             transport = \"cubic\"\ntraffic = {traffic}\n{buffer}"
        );
        Scenario::parse(&text, "fast.toml").unwrap().warnings()
    };
    let (found, large) = (warnings("\"saturated\"", ""), "tcp = { receive_buffer = \"25 MB\" }");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("bandwidth-delay product of the route (\"25 MB\")"), "{found:?}");
    assert_eq!(warnings("\"saturated\"", large), []);
    assert_eq!(warnings("{ size = \"1 MB\" }", ""), []);
    let small = warnings("\"saturated\"", &large.replace("25 MB", "24999999 B"));
    assert_eq!(small.len(), 1, "a byte below: {small:?}");
    let (slower, said) =
        (warnings("\"saturated\"", &large.replace("25 MB", "5 MB")), "at most \"2 Gbit/s\" of \"10 Gbit/s\"");
    assert!(slower[0].message.contains(said), "5 MB in 20 ms: {slower:?}");
    assert!(slower[0].to_string().contains("flow.0"), "{slower:?}");
}

/// The route's narrowest link, and the delays of the whole round trip: 10 Mbit/s over 2 x (10 + 20) ms are 75 kB.
#[test]
fn the_bandwidth_delay_product_is_of_the_whole_route() {
    let warnings = |buffer: u64, transport: &str| {
        let text = format!(
            "name = \"route\"\n[run]\nduration = \"2 s\"\n[tcp]\nreceive_buffer = \"{buffer} B\"\n[topology.graph]\n\
             nodes = [\"a\", \"b\", \"c\"]\nlinks = [\n\
             {{ name = \"ab\", from = \"a\", to = \"b\", rate = \"1 Gbit/s\", delay = \"10 ms\", queue = \"100 packets\" }},\n\
             {{ name = \"bc\", from = \"b\", to = \"c\", rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"100 packets\" }},\n]\n\
             [[flow]]\nfrom = \"a\"\nto = \"c\"\ntransport = \"{transport}\"\ntraffic = \"saturated\"\n"
        );
        let found = Scenario::parse(&text, "route.toml").unwrap().warnings();
        found.iter().filter(|warning| warning.message.contains("bandwidth-delay product")).count()
    };
    assert_eq!([75_000, 74_999].map(|buffer| warnings(buffer, "cubic")), [0, 1]);
    // What has no receive window has no such limit.
    assert_eq!(warnings(74_999, "tfrc"), 0);
}
