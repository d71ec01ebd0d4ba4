//! Dialogues: each rule of the connection level.

use crate::net::{Net, Path};
use cogtcp_endpoint::{EndpointEvent, PathEvent, PathId, Waiting};
use cogtcp_multipath::{Coupling, MptcpSettings, Scheduler, Subflows};
use cogtcp_transport::{Parameters, Preset, ReceiverConfig, with};
use cogtcp_units::Time;
use std::sync::Arc;

fn settings(scheduler: Scheduler) -> MptcpSettings {
    MptcpSettings { scheduler, coupling: Coupling::Uncoupled, ..MptcpSettings::default() }
}

/// The same with a receive buffer of so many bytes.
fn with_buffer(scheduler: Scheduler, buffer: u64) -> MptcpSettings {
    let sack = Preset::find("sack").unwrap();
    let subflows = Subflows {
        sender: Arc::new(with!(sack.sender_config(), handshake.mss = 1000)),
        receiver: Arc::new(with!(ReceiverConfig::default(), handshake.mss = 1000, buffer = buffer)),
        control: sack.control.to_owned(),
        parameters: sack.parameters(&Parameters::new()),
    };
    MptcpSettings { subflows: Some(subflows), ..settings(scheduler) }
}

fn ms(at: u64) -> Time {
    Time::from_millis(at)
}

fn silent(mut path: Path, from: u64, to: u64) -> Path {
    path.silences.push((ms(from), ms(to)));
    path
}

/// Two paths carry what they can, each: 4 + 2 Mbit/s less headers.
#[test]
fn two_paths_are_bonded() {
    let mut net = Net::new(&settings(Scheduler::LowestRtt), vec![Path::new(4, 20), Path::new(2, 40)], 1);
    net.saturate();
    net.run_until(ms(20_000));
    let rate = net.delivered() as f64 * 8.0 / 20.0;
    assert!((5.2e6..5.7e6).contains(&rate), "{rate}");
}

/// RFC 8684 section 3.2: the second subflow joins when the first is connected, a round trip later its data
/// flows.
#[test]
fn the_second_subflow_joins_an_existing_connection() {
    let mut net = Net::new(&settings(Scheduler::LowestRtt), vec![Path::new(10, 50), Path::new(10, 10)], 1);
    net.saturate();
    net.run_until(ms(99));
    assert_eq!((net.carried[0][0].sent, net.carried[1][0].sent), (1, 0), "a SYN and nothing else");
    net.run_until(ms(110));
    assert_eq!(
        net.events.first().map(|(at, event)| (*at < ms(102), *event)),
        Some((true, EndpointEvent::Connected))
    );
    assert_eq!(net.carried[1][0].sent, 1, "the SYN of the second subflow");
    net.run_until(ms(125));
    assert!(net.carried[1][0].data_bytes > 0);
}

/// What fits into the window of the path with the lower round-trip time goes there alone.
#[test]
fn lowest_rtt_prefers_the_faster_path() {
    let mut net = Net::new(&settings(Scheduler::LowestRtt), vec![Path::new(10, 50), Path::new(10, 10)], 1);
    // Two segments at a time: one alone would wait for the delayed ACK, which adds to the round-trip time.
    net.write(2000);
    net.open();
    for step in 1..50 {
        net.run_until(ms(200 * step));
        net.write(2000);
    }
    net.run_until(ms(12_000));
    assert_eq!(net.delivered(), 100_000);
    assert_eq!(net.carried[0][0].data_bytes, 2000, "before the second subflow joined");
    assert_eq!(net.carried[1][0].data_bytes, 98_000);
}

/// Segment by segment in turn, where both windows have room.
#[test]
fn round_robin_alternates() {
    let mut net = Net::new(&settings(Scheduler::RoundRobin), vec![Path::new(100, 20), Path::new(100, 20)], 1);
    net.saturate();
    net.run_until(ms(1500));
    let [one, two] = [0, 1].map(|path| net.carried[path][0].data_bytes as f64);
    assert!((0.9..1.2).contains(&(one / two)), "{one} and {two}");
}

/// Every subflow sends all data: the receiver is done when the faster path is, and the rest arrives as
/// duplicates.
#[test]
fn redundant_sends_all_data_on_all_paths() {
    let paths = vec![Path::new(4, 20), silent(Path::new(4, 20), 300, 60_000)];
    let mut net = Net::new(&settings(Scheduler::Redundant), paths, 1);
    net.transfer(400_000);
    net.run_until(ms(2000));
    assert_eq!(net.delivered(), 400_000, "the silent path held nothing up");
    assert!(net.carried[1][0].data_bytes > 50_000);
    assert!(net.receiver.progress().duplicate_bytes > 0);
}

/// RFC 8684 section 3.3.6: a path falls silent for good; the timeout of its subflow gives its data to the
/// other, and all arrives.
#[test]
fn a_timeout_reinjects_on_the_other_path() {
    let paths = vec![Path::new(4, 20), silent(Path::new(4, 20), 400, 600_000)];
    let mut net = Net::new(&settings(Scheduler::LowestRtt), paths, 1);
    net.transfer(1_000_000);
    net.run_until(ms(10_000));
    assert_eq!(net.delivered(), 1_000_000);
    let told: Vec<PathEvent> = net.on_path(PathId(1));
    assert_eq!(told[0], PathEvent::Joined);
    let at =
        told.iter().position(|event| *event == PathEvent::Timeout).expect("a timeout on the silent path");
    let Some(PathEvent::Reinjected(bytes)) = told.get(at + 1) else { panic!("{told:?}") };
    assert!(*bytes > 0 && bytes.is_multiple_of(1000), "{bytes}");
    assert!(!net.on_path(PathId(0)).contains(&PathEvent::Timeout), "the other path goes on");
    let sent: std::collections::BTreeSet<u64> =
        net.sent.iter().filter(|(p, _)| *p == 1).map(|(_, d)| *d).collect();
    let again = net.sent.iter().filter(|(path, data)| *path == 0 && sent.contains(data)).count();
    assert!(again > 0, "data of the silent path went out on the other");
    assert!(net.closed_at().is_some(), "one FIN acknowledged closes the connection");
}

/// A subflow that has timed out gets no data before an ACK of it comes.
#[test]
fn a_failed_subflow_gets_no_data() {
    let paths = vec![Path::new(4, 20), silent(Path::new(4, 20), 2000, 6000)];
    let mut net = Net::new(&settings(Scheduler::RoundRobin), paths, 1);
    net.saturate();
    net.run_until(ms(3500));
    let fresh = |net: &Net| net.sent.iter().filter(|(path, _)| *path == 1).map(|(_, data)| *data).max();
    let before = fresh(&net);
    net.run_until(ms(5900));
    assert_eq!(fresh(&net), before, "retransmissions alone");
    let waits = [0, 1].map(|path| net.sender.waiting_on(PathId(path)));
    assert_eq!(waits, [Waiting::Window, Waiting::Timeout], "each path has its own reason");
    net.run_until(ms(12_000));
    assert!(fresh(&net) > before, "back in use");
}

/// A slow path blocks a short receive window; its oldest data goes out on the fast path too, before any
/// timeout.
#[test]
fn a_blocked_window_sends_its_head_on_the_faster_path() {
    let paths = || vec![Path::new(10, 5), Path::new(1, 200)];
    let rate = |scheduler| {
        let mut net = Net::new(&with_buffer(scheduler, 60_000), paths(), 1);
        net.saturate();
        net.run_until(ms(20_000));
        (net.delivered() as f64 * 8.0 / 20.0, net.receiver.progress().duplicate_bytes)
    };
    let (lowest, repeated) = rate(Scheduler::LowestRtt);
    assert!(repeated > 0, "copies of what was late");
    let (turns, _) = rate(Scheduler::RoundRobin);
    let (blest, blest_repeated) = rate(Scheduler::Blest);
    assert!(blest > lowest && blest > turns, "BLEST {blest}, lowest RTT {lowest}, round robin {turns}");
    assert!(blest_repeated < repeated);
}

/// The receiver never holds more than its buffer, and the sender's lists stay within the window.
#[test]
fn memory_is_bounded() {
    let paths = vec![silent(Path::new(10, 5), 1000, 4000), Path::new(1, 200)];
    let buffer = 100_000;
    let mut net = Net::new(&with_buffer(Scheduler::RoundRobin, buffer), paths, 1);
    net.saturate();
    for step in 1..200 {
        net.run_until(ms(100 * step));
        let (sent, delivered) = (net.sent.iter().map(|(_, data)| *data).max(), net.delivered());
        assert!(sent.is_none_or(|sent| sent <= delivered + buffer), "beyond the window");
        let held = net.receiver.progress().received_bytes - delivered;
        assert!(held <= buffer, "{held} bytes wait at the receiver");
    }
}

/// On one path MPTCP with SACK's control is SACK with 28 bytes more per segment.
#[test]
fn one_path_is_tcp() {
    let mut net = Net::new(&MptcpSettings::default(), vec![Path::new(4, 20)], 1);
    net.saturate();
    net.run_until(ms(20_000));
    let rate = net.delivered() as f64 * 8.0 / 20.0;
    let most = 4e6 * 1000.0 / 1068.0;
    assert!((0.95 * most..=most).contains(&rate), "{rate} of {most}");
    assert!(!net.on_path(PathId(0)).contains(&PathEvent::Timeout));
}
