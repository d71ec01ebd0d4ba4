//! What a run refuses, and what callers can put in.

use crate::support::*;
use cogtcp_crosslayer::Verdict;
use cogtcp_scenario::{ControlSpec, Protocol};
use cogtcp_simulator::{ControlFailure, RunError, RunOptions, TraceLevel, run};
use cogtcp_transport::{
    AckSample, CongestionControl, ControlExtension, FlowCount, LinkEvent, ReceiverHook, TcpState,
};
use cogtcp_units::{Duration, Time};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

const LINK: &str = r#"rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets""#;

#[test]
fn a_raised_flag_cancels_and_progress_is_told() {
    let experiment = experiment(&single_hop("100 s", "0 s", "newreno", LINK, ""));
    let cancel = Arc::new(AtomicBool::new(true));
    let options = RunOptions { cancel: Some(cancel), ..RunOptions::default() };
    assert!(matches!(run(&experiment, &options), Err(RunError::Cancelled { .. })));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let watch = Some(Arc::new(move |now: Time| told.lock().unwrap().push(now)) as Arc<_>);
    run(&experiment, &RunOptions { watch, ..RunOptions::default() }).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.is_sorted() && *seen.last().unwrap() > Time::from_secs_f64(95.0), "{seen:?}");
}

/// Rows are refused before memory is taken for them, and only where they would be recorded.
#[test]
fn time_series_without_end_are_refused() {
    let mut large = experiment(&single_hop("100 s", "0 s", "newreno", LINK, ""));
    large.run.sample_interval = Duration::from_micros(20);
    assert_eq!(large.series_rows(), 15_000_000, "5 million points of a flow and two directions");
    let mut larger = large.clone();
    larger.run.sample_interval = Duration::from_micros(10);
    for trace in [TraceLevel::Series, TraceLevel::Full, TraceLevel::Packets] {
        let refused = run(&larger, &RunOptions { trace, ..RunOptions::default() });
        assert!(matches!(refused, Err(RunError::SeriesTooLong { rows: 30_000_000 })), "{trace:?}");
    }
    run(&larger, &RunOptions::default()).unwrap();
    let cancelled = Some(Arc::new(AtomicBool::new(true)));
    let options = RunOptions { trace: TraceLevel::Series, cancel: cancelled, ..RunOptions::default() };
    assert!(matches!(run(&large, &options), Err(RunError::Cancelled { .. })), "it would run");
    let mut most = large.clone();
    most.flows.push(most.flows[0].clone());
    assert_eq!(most.series_rows(), cogtcp_scenario::MOST_SERIES_ROWS);
    assert!(matches!(run(&most, &options), Err(RunError::Cancelled { .. })), "the most that is allowed");
}

#[test]
fn impossible_experiments_are_refused_with_a_reason() {
    let good = experiment(&single_hop("10 s", "0 s", "newreno", LINK, ""));
    let refuse = |change: fn(&mut cogtcp_scenario::Experiment), expected: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let message = run(&bad, &RunOptions::default()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    refuse(|e| e.run.duration = Duration::ZERO, "duration of zero");
    refuse(|e| e.run.warmup = Duration::from_secs(10), "warm-up");
    refuse(|e| e.run.sample_interval = Duration::ZERO, "sampling interval");
    refuse(
        |e| {
            if let Protocol::Tcp(tcp) = &mut e.flows[0].protocol {
                tcp.control.name = "aimt".to_owned();
            }
        },
        "flow \"f1\": unknown congestion control \"aimt\"",
    );
    refuse(|e| e.links.clear(), "no links lead from node \"sender\" to node \"receiver\"");
    let mut gated = experiment(&format!(
        "{}[[radio]]\nname = \"one\"\nlinks = [\"link\"]\nsensing = {{ off = \"1 s\", on = \"1 s\" }}\n",
        single_hop("10 s", "0 s", "newreno", LINK, "")
    ));
    let twin = cogtcp_scenario::RadioSpec { name: "two".to_owned(), ..gated.radios[0].clone() };
    gated.radios.push(twin);
    let message = run(&gated, &RunOptions::default()).unwrap_err().to_string();
    assert_eq!(
        message,
        "link \"link\" is gated by the radios \"one\" and \"two\"; a link has at most one radio"
    );
}

/// A control of the caller's own: a fixed window, and an ear for the radio.
#[derive(Debug)]
struct Fixed(Arc<Mutex<Vec<LinkEvent>>>);

impl CongestionControl for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }
    fn init(&mut self, _: Time, tcp: &mut TcpState) {
        tcp.cwnd = 5 * tcp.mss;
    }
    fn ssthresh(&mut self, _: Time, tcp: &TcpState) -> u64 {
        tcp.cwnd
    }
    fn cong_avoid(&mut self, _: Time, _: &mut TcpState, _: &AckSample) {}

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for Fixed {
    fn on_link_event(&mut self, _: Time, _: &mut TcpState, event: LinkEvent) {
        if let Ok(mut heard) = self.0.lock() {
            heard.push(event);
        }
    }
}

#[test]
fn a_callers_control_drives_its_flow_and_hears_the_radio() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let shared = heard.clone();
    let factory = move |_: &str, _: &ControlSpec| -> Result<Box<dyn CongestionControl>, ControlFailure> {
        Ok(Box::new(Fixed(shared.clone())))
    };
    let text = format!(
        "{}[[radio]]\nname = \"radio\"\nlinks = [\"link\"]\nsensing = {{ off = \"10 ms\", on = \"10 s\", start = \"15 s\" }}\n",
        single_hop("20 s", "10 s", "newreno", LINK, "")
    );
    let options = RunOptions { controls: Some(Arc::new(factory)), ..RunOptions::default() };
    let run = run(&experiment(&text), &options).unwrap();
    let rtt = 832e-6 + 32e-6 + 20e-3;
    assert_close(first(&run.flows, "goodput_bps"), 5.0 * 8000.0 / rtt, 0.01);
    let start = LinkEvent::SensingStart { until: Time::from_millis(15_010) };
    let end = LinkEvent::SensingEnd { verdict: Verdict::Clear };
    assert_eq!(*heard.lock().unwrap(), [start, LinkEvent::LinkDown, end, LinkEvent::LinkUp]);
}

/// A control that offers the custom option and keeps the answer.
#[derive(Debug)]
struct Asking(Arc<Mutex<Vec<Option<u32>>>>);

impl CongestionControl for Asking {
    fn name(&self) -> &str {
        "asking"
    }
    fn ssthresh(&mut self, _: Time, tcp: &TcpState) -> u64 {
        tcp.cwnd
    }
    fn cong_avoid(&mut self, _: Time, _: &mut TcpState, _: &AckSample) {}

    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        Some(self)
    }
}

impl ControlExtension for Asking {
    fn syn_option(&mut self) -> Option<u32> {
        Some(0)
    }

    fn receiver_hook(&mut self) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(FlowCount))
    }

    fn on_syn_ack_option(&mut self, _: Time, _: &mut TcpState, value: Option<u32>) {
        if let Ok(mut answers) = self.0.lock() {
            answers.push(value);
        }
    }
}

/// Three flows open one after another over one bottleneck; the first stops before the third comes.
#[test]
fn a_syn_with_the_option_is_told_how_many_flows_share_the_bottleneck() {
    let text = r#"
name = "option"
[run]
duration = "20 s"
[topology.dumbbell]
pairs = 3
access = { rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = "60 packets" }
[[flow]]
from = "s1"
to = "d1"
transport = "sack"
stop = "6 s"
[[flow]]
from = "s2"
to = "d2"
transport = "sack"
start = "5 s"
[[flow]]
from = "s3"
to = "d3"
transport = "sack"
start = "15 s"
"#;
    let answers = Arc::new(Mutex::new(Vec::new()));
    let shared = answers.clone();
    let factory = move |_: &str, _: &ControlSpec| -> Result<Box<dyn CongestionControl>, ControlFailure> {
        Ok(Box::new(Asking(shared.clone())))
    };
    run(&experiment(text), &RunOptions { controls: Some(Arc::new(factory)), ..RunOptions::default() })
        .unwrap();
    assert_eq!(*answers.lock().unwrap(), [Some(0), Some(1), Some(1)]);
}

#[test]
fn a_factory_that_fails_fails_the_run_with_the_flows_name() {
    let factory = |_: &str, _: &ControlSpec| -> Result<Box<dyn CongestionControl>, ControlFailure> {
        Err("no such class".into())
    };
    let options = RunOptions { controls: Some(Arc::new(factory)), ..RunOptions::default() };
    let error = run(&experiment(&single_hop("1 s", "0 s", "newreno", LINK, "")), &options).unwrap_err();
    assert_eq!(error.to_string(), "flow \"f1\": the congestion control could not be built: no such class");
}
