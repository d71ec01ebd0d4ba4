//! Flows under a clock made by hand: streams of one delay each take the place of a network.

use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, Pair, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_hosts::{Asking, DatagramEnds, Delivery, End, Flow, Owner, Plane, Streams, Wake};
use cogtcp_network::{Awaited, StreamId};
use cogtcp_records::EventKind;
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_transport::Segment;
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// A packet under way.
#[derive(Clone, Debug)]
enum Carried {
    Segment(Segment, Time),
    Datagram(Datagram),
}

/// What happens next: in the order of time, then of scheduling.
#[derive(Clone, Debug)]
enum Due {
    Wake(Wake),
    Arrival(StreamId, Carried),
    Request(usize),
}

/// The stream of an application's requests.
const REQUESTS: StreamId = StreamId(9);

/// Streams that carry every packet in the delay of their path: 10 ms on path 0, 30 ms on path 1, and so on.
#[derive(Debug, Default)]
struct ByHand {
    agenda: BTreeMap<(Time, usize), Due>,
    scheduled: usize,
    streams: Streams,
    notes: Vec<(Time, EventKind)>,
    carried: BTreeMap<StreamId, usize>,
    requests: Vec<Time>,
    /// So many requests are lost at first; each that is not arrives so many times more.
    lost: usize,
    copies: u64,
}

impl ByHand {
    fn push(&mut self, at: Time, due: Due) {
        self.scheduled += 1;
        self.agenda.insert((at, self.scheduled), due);
    }

    fn carry(&mut self, now: Time, stream: StreamId, packet: Carried) {
        let Owner::Flow { path, .. } = self.streams.owner(stream) else { panic!("{stream:?} has no owner") };
        *self.carried.entry(stream).or_default() += 1;
        let delay = Duration::from_millis(10 + 20 * u64::from(path.0));
        self.push(now + delay, Due::Arrival(stream, packet));
    }
}

impl Plane for ByHand {
    fn wake(&mut self, at: Time, flow: u32, why: Wake) {
        assert_eq!(flow, 0);
        self.push(at, Due::Wake(why));
    }

    fn send_segment(&mut self, now: Time, stream: StreamId, segment: &Segment, sent_at: Time, _: Awaited) {
        self.carry(now, stream, Carried::Segment(*segment, sent_at));
    }

    fn send_datagram(&mut self, now: Time, stream: StreamId, datagram: Datagram, _: bool, _: Awaited) {
        self.carry(now, stream, Carried::Datagram(datagram));
    }

    /// A request takes 10 ms, and each copy 5 ms more.
    fn send_request(&mut self, now: Time, stream: StreamId, number: u32, _: u32) {
        assert_eq!(stream, REQUESTS);
        self.requests.push(now);
        if self.requests.len() > self.lost {
            for copy in 0..=self.copies {
                self.push(now + Duration::from_millis(10 + 5 * copy), Due::Request(number as usize));
            }
        }
    }

    fn record_event(&mut self, now: Time, kind: EventKind, _: u32, _: f64) {
        self.notes.push((now, kind));
    }

    fn record_path_event(&mut self, now: Time, kind: EventKind, _: (u32, PathId), _: f64) {
        self.notes.push((now, kind));
    }

    fn dropped(&self, _: StreamId) -> u64 {
        0
    }

    fn begin_span(&mut self, _: Time, _: StreamId, _: impl FnOnce(&Self) -> Awaited, _: &mut Vec<u128>) {}

    fn end_span(
        &mut self,
        _: Time,
        _: StreamId,
        _: impl FnOnce(&Self) -> Awaited,
        _: &mut std::slice::Iter<'_, u128>,
    ) -> Option<(u32, f64)> {
        None
    }
}

fn experiment(rest: &str) -> Experiment {
    let text = format!(
        "name = \"t\"\n[run]\nduration = \"10 s\"\n[topology.single_hop]\n\
         link = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\n{rest}\n"
    );
    Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap()
}

/// Flow 0 of `experiment` at time zero.
fn flow(experiment: &Experiment) -> Flow {
    let control =
        |tcp: &cogtcp_scenario::TcpSpec| cogtcp_transport::make(&tcp.control.name, &tcp.control.parameters);
    Flow::new(0, &experiment.flows[0], [StreamId(0), StreamId(1)], 1, control).unwrap()
}

/// Starts `flow` and plays it until `until`.
fn play(flow: Flow, until: Time) -> (Flow, ByHand) {
    play_asking(ByHand::default(), flow, &mut None, until)
}

/// The same with an application that asks.
fn play_asking(
    mut plane: ByHand,
    mut flow: Flow,
    asking: &mut Option<Asking>,
    until: Time,
) -> (Flow, ByHand) {
    flow.enter(&mut plane.streams);
    if let Some(asking) = asking {
        asking.arm(&mut plane);
    }
    flow.start(Time::ZERO, &mut plane);
    while let Some(((now, _), due)) = plane.agenda.pop_first().filter(|((at, _), _)| *at <= until) {
        match due {
            Due::Wake(Wake::Timer(end)) => {
                flow.timer(now, end, &mut plane);
            }
            Due::Wake(Wake::Write) => flow.write(now, &mut plane),
            Due::Wake(Wake::Delivered) => {
                asking.as_mut().unwrap().handle_delivery(now, &mut flow, &mut plane)
            }
            Due::Wake(Wake::Ask) => {
                asking.as_mut().unwrap().handle_timer(now, &mut plane);
            }
            Due::Request(number) => {
                let asking = asking.as_mut().unwrap();
                asking.handle_request(now, number, None::<fn() -> _>, &mut flow, &mut plane);
            }
            Due::Arrival(stream, packet) => {
                let Owner::Flow { from, path, .. } = plane.streams.owner(stream) else { unreachable!() };
                let delivery =
                    |sent_at| Delivery { sent_at, size: 1040, waited: Duration::ZERO, is_measured: true };
                match packet {
                    Carried::Segment(segment, sent_at) if from == End::Sender => {
                        flow.receive_data(now, &segment, delivery(sent_at), &mut plane);
                    }
                    Carried::Segment(segment, sent_at) => {
                        flow.receive_ack(now, &segment, delivery(sent_at), &mut plane);
                    }
                    Carried::Datagram(datagram) => {
                        let to = (from.other(), path);
                        flow.receive_datagram(now, to, &datagram, false, delivery(now), &mut plane);
                    }
                }
            }
        }
    }
    (flow, plane)
}

/// 100 kB arrive over streams without a link: SYN and SYN-ACK take 20 ms, and each round trip of slow start
/// from 2 segments on 20 ms more.
#[test]
fn tcp_needs_no_network() {
    let experiment = experiment(
        "transport = \"newreno\"\ntraffic = { size = \"100 kB\" }\n[tcp]\nsegment_size = \"1000 B\"",
    );
    let (flow, plane) = play(flow(&experiment), Time::from_millis(5000));
    assert_eq!(flow.delivered(), 100_000);
    let done = plane.notes.iter().find(|(_, kind)| *kind == EventKind::Completed).unwrap().0;
    assert_eq!(flow.completed, Some(done));
    assert!(done > Time::from_millis(90) && done < Time::from_millis(220), "{done:?}");
    assert!((flow.rtt.least() - 0.020).abs() < 1e-9, "{}", flow.rtt.least());
    let counted: Vec<_> = End::BOTH.iter().flat_map(|from| flow.counted(*from)).collect();
    assert!(counted.iter().all(|(_, it)| it.injected == it.arrived && it.injected > 50), "{counted:?}");
}

/// Plays a client that asks for 5 kB and thinks for a second; `lost` and `copies` as of the plane.
fn ask(lost: usize, copies: u64, until: Time) -> (Flow, ByHand, Asking) {
    let traffic = "traffic = { requests = { response = { fixed = \"5 kB\" }, pace = { think = { fixed = \"1 s\" } } } }";
    let experiment = experiment(&format!("transport = \"newreno\"\n{traffic}"));
    let made = Asking::new(0, &experiment.flows[0], 1, || Ok::<_, ()>(REQUESTS));
    let mut asking = made.unwrap();
    let plane = ByHand { lost, copies, ..ByHand::default() };
    let (flow, plane) = play_asking(plane, flow(&experiment), &mut asking, until);
    (flow, plane, asking.unwrap())
}

/// The first request is lost and retransmitted after a second. Each response opens at the server, and
/// arrives.
#[test]
fn a_lost_request_is_sent_again() {
    let (flow, plane, asking) = ask(1, 0, Time::from_millis(5000));
    let account = asking.account("f", Time::from_millis(5000));
    assert_eq!(account.repeats[0], 1);
    assert!(account.repeats[1..].iter().all(|repeats| *repeats == 0) && account.repeats.len() >= 3);
    assert_eq!(plane.requests[1], plane.requests[0] + Duration::from_secs(1));
    assert_eq!(asking.counters().injected, asking.counters().arrived + 1);
    assert_eq!(flow.delivered(), 5000 * asking.counters().arrived);
}

/// RFC 6298 sections 2.5 and 5.5: the pauses double from a second on, up to a minute.
#[test]
fn pauses_between_repeats_double_up_to_a_minute() {
    let (flow, plane, asking) = ask(9, 0, Time::from_millis(243_500));
    let seconds: Vec<u64> = plane.requests.iter().map(|at| at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    assert_eq!((asking.counters().arrived, flow.delivered()), (1, 5000));
}

/// A network that doubles a request makes no second response.
#[test]
fn the_server_answers_a_request_once() {
    let (flow, plane, asking) = ask(0, 1, Time::from_millis(2500));
    let asked = plane.requests.len() as u64;
    assert_eq!((asked, asking.counters().arrived, flow.delivered()), (3, 6, 15_000));
    assert_eq!(asking.account("f", Time::from_millis(2500)).repeats, [0, 0, 0]);
}

/// Either end of a transport of two paths: the sender uses them in turn, and the receiver answers on the path
/// by which a packet came.
#[derive(Debug, Default)]
struct TwoPaths {
    left: u64,
    answers: Vec<PathId>,
    seen: BTreeMap<u16, u64>,
    progress: Progress,
}

impl Endpoint for TwoPaths {
    type Packet = Datagram;

    fn open(&mut self, _: Time) {}

    fn supply(&mut self, _: Time, what: Supply) {
        if let Supply::Bytes(bytes) = what {
            self.left += bytes;
        }
    }

    fn close(&mut self, _: Time) {}

    fn handle_packet(&mut self, _: Time, received: Received<'_, Datagram>) {
        *self.seen.entry(received.path.0).or_default() += 1;
        self.progress.delivered_bytes += u64::from(received.packet.filler);
        if received.packet.filler > 0 {
            self.answers.push(received.path);
        }
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_transmit(&mut self, _: Time) -> Option<Outgoing<Datagram>> {
        let out = |path, filler| Outgoing {
            packet: Datagram { bytes: vec![1], filler, ..Datagram::default() },
            path,
            ecn_capable: false,
            data: filler,
        };
        if let Some(path) = self.answers.pop() {
            return Some(out(path, 0));
        }
        self.left = self.left.checked_sub(1000)?;
        self.progress.sent_packets += 1;
        Some(out(PathId((self.progress.sent_packets % 2) as u16), 1000))
    }

    fn poll_timeout(&self) -> Time {
        Time::MAX
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        None
    }

    fn progress(&self) -> Progress {
        Progress { waiting: Waiting::Application, ..self.progress }
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        for (path, packets) in &self.seen {
            show(["path_0_packets", "path_1_packets"][usize::from(*path)], *packets as f64);
        }
    }
}

/// One connection on two paths has two pairs of streams: packets and their answers stay on their path, and
/// each stream is counted.
#[test]
fn one_connection_uses_several_paths() {
    let experiment = experiment("transport = \"tfrc\"");
    let ends = DatagramEnds::new(Pair {
        sender: Box::new(TwoPaths { left: 9000, ..TwoPaths::default() }),
        receiver: Box::new(TwoPaths::default()),
        segment_size: 1000,
    });
    let mut flow = Flow::over(0, &experiment.flows[0], [StreamId(0), StreamId(1)], ends);
    // The network has given out 2 for something else.
    assert_eq!(flow.add_path([StreamId(3), StreamId(4)]), PathId(1));
    let (flow, plane) = play(flow, Time::from_millis(1000));
    assert_eq!(flow.delivered(), 9000);
    let of = |from, path| Owner::Flow { flow: 0, from, path: PathId(path) };
    assert_eq!(plane.streams.owner(StreamId(3)), of(End::Sender, 1));
    assert_eq!(plane.streams.owner(StreamId(4)), of(End::Receiver, 1));
    assert_eq!(plane.streams.owner(StreamId(2)), Owner::Network);
    let packets = [(0, 4), (1, 4), (3, 5), (4, 5)].map(|(stream, packets)| (StreamId(stream), packets));
    assert_eq!(plane.carried, BTreeMap::from(packets));
    for (stream, counted) in End::BOTH.iter().flat_map(|from| flow.counted(*from)) {
        assert_eq!([counted.injected, counted.arrived], [plane.carried[&stream] as u64; 2]);
    }
    let mut shown = Vec::new();
    flow.observe(&mut |name, value| shown.push((name.to_owned(), value)));
    assert_eq!(shown, [("path_0_packets".to_owned(), 4.0), ("path_1_packets".to_owned(), 5.0)]);
}
