//! The sending end: a TCP sender for each subflow, the data sequence above them, scheduling and reinjection.

use crate::MOST_PATHS;
use crate::counts::{Count, names};
use crate::receiver::outgoing;
use crate::reinjection::Reinjections;
use crate::scheduler::{Scheduler, SubflowState, Turn};
use crate::settings::Controls;
use crate::subflow::{Chunk, Departure, Subflow};
use crate::wire::{Mptcp, decode};
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, PathEvent, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_transport::{Flags, Sender, SenderConfig, TransportEvent};
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Events kept for a driver that does not take them.
const MOST_EVENTS: usize = 1024;
/// A slower subflow is one whose round-trip time is above so many times another's; a short window has at most
/// so many segments (multipath-tcp.org, `mptcp_rcv_buf_optimization`).
const FOUR: u64 = 4;

/// Names of what the series shows of each path.
const CWND: [&str; MOST_PATHS] = names!("cwnd_segments");
const SRTT: [&str; MOST_PATHS] = names!("srtt_s");
const IN_FLIGHT: [&str; MOST_PATHS] = names!("in_flight_segments");
const DELIVERED: [&str; MOST_PATHS] = names!("delivered_bytes");

/// Where the connection stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Idle,
    /// The first subflow's handshake is under way.
    Opening,
    Open,
    Closed,
}

/// The sending end of a connection.
#[derive(Debug)]
pub struct MptcpSender {
    subflows: Vec<Subflow>,
    controls: Controls,
    scheduler: Scheduler,
    turn: Turn,
    state: State,
    /// First data sequence number of this connection.
    first: u64,
    /// The DATA_ACK: all data below has arrived.
    una: u64,
    /// After the data that was mapped onto a subflow.
    nxt: u64,
    /// After the data that the application wrote.
    end: u64,
    /// After the data that the receiver's window takes.
    window_end: u64,
    saturated: bool,
    closing: bool,
    reinjections: Reinjections,
    /// Segments with data that another subflow had sent before.
    repeated_segments: u64,
    events: VecDeque<EndpointEvent>,
}

impl MptcpSender {
    pub(crate) fn new(
        scheduler: Scheduler,
        config: &Arc<SenderConfig>,
        controls: Controls,
        paths: usize,
    ) -> Self {
        let subflows =
            (0..paths).map(|path| Subflow::new(Sender::new(Arc::clone(config), controls.make(path))));
        Self {
            subflows: subflows.collect(),
            controls,
            scheduler,
            turn: Turn::new(scheduler),
            state: State::Idle,
            first: 0,
            una: 0,
            nxt: 0,
            end: 0,
            window_end: 0,
            saturated: false,
            closing: false,
            reinjections: Reinjections::default(),
            repeated_segments: 0,
            events: VecDeque::with_capacity(1),
        }
    }

    /// Ranges and mappings kept at present: what memory the connection needs.
    pub fn held(&self) -> usize {
        self.reinjections.len() + self.subflows.iter().map(|one| one.mappings.len()).sum::<usize>()
    }

    fn emit(&mut self, event: EndpointEvent) {
        if self.events.len() == MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn emit_on(&mut self, index: usize, event: PathEvent) {
        let window = self.subflows[index].tcp.state().cwnd;
        self.emit(EndpointEvent::OnPath(PathId(index as u16), event, window));
    }

    /// Data that was never sent.
    fn fresh(&self) -> u64 {
        if self.saturated { u64::MAX - self.nxt } else { self.end - self.nxt }
    }

    /// What the connection, or one of its subflows, waits for. `is_down`: the connection or subflow takes no
    /// data before a timer expires or the handshake is complete.
    fn waiting(&self, is_down: bool) -> Waiting {
        match self.state {
            State::Idle | State::Closed => Waiting::Nothing,
            State::Opening => Waiting::Timeout,
            State::Open if self.fresh() == 0 && self.una == self.nxt => Waiting::Application,
            State::Open if is_down => Waiting::Timeout,
            State::Open if self.fresh() == 0 => Waiting::Application,
            State::Open if self.is_blocked(self.subflows[0].mss()) => Waiting::Receiver,
            State::Open => Waiting::Window,
        }
    }

    fn is_blocked(&self, mss: u64) -> bool {
        let wanted = self.fresh().min(mss);
        wanted > 0 && self.nxt + wanted > self.window_end
    }

    /// What subflow `index` is to send next, if TCP lets it.
    fn chunk(&mut self, now: Time, index: usize, order: &[SubflowState]) -> Option<Chunk> {
        if self.state != State::Open || !self.subflows[index].is_open() {
            return None;
        }
        // A subflow in RTO recovery gets no data, unless all are: Linux calls it potentially failed.
        if self.subflows[index].has_failed() && order.iter().any(|one| !self.subflows[one.index].has_failed())
        {
            return None;
        }
        let mss = self.subflows[index].mss();
        if self.scheduler == Scheduler::Redundant {
            return self.redundant(index, mss);
        }
        if let Some((data, len)) = self.reinjections.first_for(index, self.una, mss) {
            return Some(Chunk { data, len, is_copy: true });
        }
        let len = self.fresh().min(mss);
        if len == 0 {
            return None;
        }
        if self.nxt + len > self.window_end {
            return self.head_of_line(index, mss);
        }
        let own = order.iter().find(|one| one.index == index)?;
        let fast =
            order.iter().filter(|one| !self.subflows[one.index].has_failed()).min_by_key(|one| one.srtt);
        let window = self.window_end - self.una;
        let permits = fast.is_none_or(|fast| self.turn.permits(now, fast, own, window));
        permits.then_some(Chunk { data: self.nxt, len, is_copy: false })
    }

    /// The next data that subflow `index` has not sent; other subflows may have sent it.
    fn redundant(&mut self, index: usize, mss: u64) -> Option<Chunk> {
        let data = self.subflows[index].next_data.max(self.una);
        self.subflows[index].next_data = data;
        let sent = self.nxt - data;
        let len = if sent > 0 { sent.min(mss) } else { self.fresh().min(mss) };
        (len > 0 && data + len <= self.window_end).then_some(Chunk { data, len, is_copy: sent > 0 })
    }

    /// Opportunistic retransmission (Raiciu et al., NSDI 2012). The window is full: the oldest data goes out
    /// on `index` too. The subflow that carries this data must be much slower, have a short window, or have
    /// timed out.
    // Departure: the windows of slow subflows are not halved ("penalising").
    fn head_of_line(&mut self, index: usize, mss: u64) -> Option<Chunk> {
        self.turn.record_blocked();
        let own = &self.subflows[index];
        if own.mappings.has(self.una) {
            return None;
        }
        let mut carriers = self.subflows.iter().filter(|one| one.mappings.has(self.una));
        let is_slow = carriers.any(|one| {
            let short = one.tcp.state().cwnd <= FOUR * one.mss();
            one.has_failed() || short || one.srtt() > own.srtt() * FOUR
        });
        is_slow.then(|| Chunk { data: self.una, len: mss.min(self.nxt - self.una), is_copy: true })
    }

    /// Subflow `index` has sent `taken` bytes of the chunk at `data`.
    fn record_sent(&mut self, index: usize, data: u64, taken: u64) {
        let subflow = &mut self.subflows[index];
        subflow.next_data = data + taken;
        if data < self.nxt {
            self.repeated_segments += 1;
            subflow.repeated_bytes += taken;
            if self.scheduler != Scheduler::Redundant {
                self.reinjections.take(index, data, taken);
            }
        }
        self.nxt = self.nxt.max(data + taken);
        self.turn.sent(index);
    }

    /// What subflow `index` carries and the receiver lacks is queued for the others.
    fn reinject(&mut self, index: usize) {
        if self.subflows.len() == 1 || self.scheduler == Scheduler::Redundant {
            return;
        }
        let mut mappings = std::mem::take(&mut self.subflows[index].mappings);
        let mut bytes = 0;
        let healthy = || self.subflows.iter().filter(|one| one.is_usable());
        for run in mappings.iter_mut().filter(|run| run.end() > self.una && !run.reinjected) {
            // The subflow that the copy is of may have recovered.
            if run.is_copy && healthy().any(|one| one.mappings.has(run.data)) {
                continue;
            }
            run.reinjected = true;
            let from = run.data.max(self.una);
            bytes += run.end() - from;
            self.reinjections.push(index, from, run.end());
        }
        self.subflows[index].mappings = mappings;
        if bytes > 0 {
            self.subflows[index].reinjected_bytes += bytes;
            self.emit_on(index, PathEvent::Reinjected(bytes));
        }
    }

    /// Takes what subflow `index` reports.
    fn take_events(&mut self, now: Time, index: usize) {
        while let Some(event) = self.subflows[index].tcp.poll_event() {
            match event {
                TransportEvent::Connected if index == 0 => {
                    self.state = State::Open;
                    self.emit(EndpointEvent::Connected);
                    // Other subflows join the connection once it exists (RFC 8684 section 3.2).
                    self.subflows[1..].iter_mut().for_each(|subflow| subflow.tcp.open(now));
                }
                TransportEvent::Connected => self.emit_on(index, PathEvent::Joined),
                TransportEvent::Rto { .. } => {
                    if self.state == State::Closed {
                        self.subflows[index].is_gone = true;
                    } else {
                        self.emit_on(index, PathEvent::Timeout);
                        self.reinject(index);
                    }
                }
                TransportEvent::FastRetransmit => self.emit_on(index, PathEvent::Loss),
                TransportEvent::RecoveryExit { .. } => self.emit_on(index, PathEvent::Recovered),
                TransportEvent::Finished if self.state == State::Open => self.finish(),
                TransportEvent::Aborted | TransportEvent::Closed => {
                    if event == TransportEvent::Aborted {
                        self.emit_on(index, PathEvent::Aborted);
                    }
                    self.subflows[index].is_gone = true;
                    self.reinject(index);
                    if self.subflows.iter().all(|subflow| subflow.is_gone) && self.state != State::Closed {
                        self.finish();
                    }
                }
                _ => {}
            }
        }
    }

    /// The DATA_FIN is acknowledged, or no subflow is left.
    fn finish(&mut self) {
        self.state = State::Closed;
        self.emit(EndpointEvent::Closed);
    }

    /// Closes the subflows once the receiver has all data.
    fn close_subflows(&mut self) {
        if !self.closing || self.saturated || self.una < self.end {
            return;
        }
        match self.state {
            State::Idle => self.finish(),
            State::Opening | State::Open => {
                if self.state == State::Opening {
                    self.subflows[1..].iter_mut().for_each(|subflow| subflow.is_gone = true);
                }
                for subflow in self.subflows.iter_mut().filter(|subflow| !subflow.is_closing) {
                    subflow.is_closing = true;
                    subflow.tcp.close();
                }
            }
            State::Closed => {}
        }
    }

    /// The subflows in the order in which the scheduler asks them, those that take no data last.
    fn order(&self) -> ([SubflowState; MOST_PATHS], usize, usize) {
        let mut order =
            [SubflowState { index: 0, srtt: Duration::ZERO, cwnd: 0, flight: 0, mss: 0 }; MOST_PATHS];
        let (mut open, mut all) = (0, 0);
        for wanted in [true, false] {
            for (index, subflow) in
                self.subflows.iter().enumerate().filter(|(_, one)| one.is_open() == wanted)
            {
                let tcp = subflow.tcp.state();
                let flight = tcp.flight_size;
                order[all] = SubflowState { index, srtt: tcp.srtt, cwnd: tcp.cwnd, flight, mss: tcp.mss };
                all += 1;
            }
            if wanted {
                open = all;
                self.turn.sort(&mut order[..open]);
            }
        }
        (order, open, all)
    }

    fn packet(&self, index: usize, departure: &Departure) -> Outgoing<Datagram> {
        let segment = &departure.segment;
        let is_syn = segment.flags.contains(Flags::SYN);
        let mptcp = Mptcp {
            capable: (is_syn && index == 0).then_some(self.first),
            join: index > 0,
            ack: (!is_syn).then_some(0),
            map: departure.map,
            fin: segment.flags.contains(Flags::FIN),
        };
        outgoing(index as u16, segment, &mptcp)
    }

    /// The acknowledgement and the window of the connection.
    fn take_data_ack(&mut self, mptcp: &Mptcp, window: u64) {
        // The SYN-ACK of the first subflow acknowledges no data, and tells the first window.
        let ack = mptcp.ack.or(mptcp.capable);
        let Some(ack) = ack.filter(|ack| (self.una..=self.nxt).contains(ack)) else { return };
        self.una = ack;
        self.window_end = self.window_end.max(ack + window);
        self.reinjections.acknowledge(ack);
    }
}

impl Endpoint for MptcpSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        if matches!(self.state, State::Opening | State::Open) && !self.closing {
            return;
        }
        if self.state != State::Idle {
            // Whatever the old connection did not deliver is given up with it.
            for (index, subflow) in self.subflows.iter_mut().enumerate() {
                subflow.tcp.renew(self.controls.make(index));
                subflow.renew();
            }
            self.reinjections.clear();
            self.turn = Turn::new(self.scheduler);
            self.closing = false;
        }
        (self.first, self.una, self.window_end) = (self.nxt, self.nxt, self.nxt);
        self.state = State::Opening;
        self.subflows[0].tcp.open(now);
    }

    fn supply(&mut self, _now: Time, what: Supply) {
        match what {
            Supply::Saturated(on) => {
                if self.saturated && !on {
                    self.end = self.end.max(self.nxt);
                }
                self.saturated = on;
            }
            Supply::Bytes(bytes) | Supply::Message(bytes) => self.end += bytes,
        }
    }

    fn close(&mut self, now: Time) {
        self.closing = true;
        self.close_subflows();
        // A subflow without a peer is over at once.
        (0..self.subflows.len()).for_each(|index| self.take_events(now, index));
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let index = usize::from(received.path.0);
        let Some((mut segment, mptcp)) = decode(received.packet) else { return };
        let Some(subflow) = self.subflows.get_mut(index) else { return };
        if received.marked {
            segment.mark();
        }
        subflow.handle(now, &segment);
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { subflow.scale };
        let window = u64::from(segment.window) << shift;
        // Of an old connection nothing counts.
        let is_alive = subflow.tcp.is_established();
        let (delivered, sample) = (subflow.tcp.state().delivered, subflow.tcp.state().latest_rtt);
        let is_sampled = delivered > std::mem::replace(&mut subflow.timed_at, delivered) && !sample.is_zero();
        self.take_events(now, index);
        if is_alive {
            self.take_data_ack(&mptcp, window);
        }
        if is_sampled {
            self.subflows[index].record_round_trip(sample);
            self.emit(EndpointEvent::RoundTrip(sample));
        }
        self.close_subflows();
    }

    fn handle_timeout(&mut self, now: Time) {
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            if !subflow.is_gone && subflow.tcp.poll_timeout() <= now {
                subflow.tcp.handle_timeout(now);
                self.take_events(now, index);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        let (order, open, all) = self.order();
        for place in 0..all {
            let index = order[place].index;
            let chunk = self.chunk(now, index, &order[..open]);
            if let Some(departure) = self.subflows[index].poll(now, chunk) {
                if let Some(chunk) = chunk.filter(|_| departure.taken > 0) {
                    self.record_sent(index, chunk.data, departure.taken);
                }
                return Some(self.packet(index, &departure));
            }
        }
        None
    }

    fn poll_timeout(&self) -> Time {
        let alive = self.subflows.iter().filter(|subflow| !subflow.is_gone);
        alive.map(|subflow| subflow.tcp.poll_timeout()).min().unwrap_or(Time::MAX)
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        let (mut window, mut in_flight) = (0, 0);
        for subflow in &self.subflows {
            let (tcp, stats) = (subflow.tcp.state(), subflow.tcp.stats());
            progress.sent_bytes += stats.bytes_sent;
            progress.sent_packets += stats.segments_sent;
            progress.resent_packets += stats.segments_retransmitted;
            progress.timeouts += stats.timeouts;
            if subflow.tcp.is_established() {
                window += tcp.cwnd;
                in_flight += tcp.in_flight;
            }
        }
        progress.resent_packets += self.repeated_segments;
        progress.window_bytes = Some(window);
        progress.in_flight_bytes = Some(in_flight);
        let measured = self.subflows.iter().map(Subflow::srtt).filter(|rtt| !rtt.is_zero());
        progress.smoothed_rtt = measured.min();
        progress.waiting = self.waiting(!self.subflows.iter().any(Subflow::is_usable));
        progress
    }

    fn waiting_on(&self, path: PathId) -> Waiting {
        self.waiting(!self.subflows.get(usize::from(path.0)).is_some_and(Subflow::is_usable))
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        for (path, subflow) in self.subflows.iter().enumerate() {
            let stats = subflow.tcp.stats();
            show(Count::sent_segments.name(path), stats.segments_sent as f64);
            show(Count::retransmitted_segments.name(path), stats.segments_retransmitted as f64);
            show(Count::rtos.name(path), stats.timeouts as f64);
            show(Count::repeated_bytes.name(path), subflow.repeated_bytes as f64);
            show(Count::reinjected_bytes.name(path), subflow.reinjected_bytes as f64);
            show(Count::round_trips.name(path), subflow.round_trips as f64);
            show(Count::round_trips_s.name(path), subflow.round_trips_total.as_secs_f64());
        }
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        for (path, subflow) in self.subflows.iter().enumerate() {
            let tcp = subflow.tcp.state();
            let segments = |bytes: u64| bytes as f64 / tcp.mss.max(1) as f64;
            show(CWND[path], if subflow.tcp.is_established() { segments(tcp.cwnd) } else { f64::NAN });
            show(SRTT[path], if tcp.srtt.is_zero() { f64::NAN } else { tcp.srtt.as_secs_f64() });
            show(IN_FLIGHT[path], segments(tcp.in_flight));
            show(DELIVERED[path], tcp.delivered as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mappings::Mapping;
    use crate::wire::encode;
    use cogtcp_transport::{InitialWindow, Segment, SeqNumber};
    use std::collections::BTreeMap;

    /// A sender of two subflows with data 10 to 20 in flight, and room up to 30.
    fn sender(scheduler: Scheduler) -> MptcpSender {
        let config = Arc::new(SenderConfig::default());
        let mut sender = MptcpSender::new(scheduler, &config, Controls::coupled(), 2);
        (sender.una, sender.nxt, sender.end, sender.window_end) = (10, 20, 20, 30);
        sender.state = State::Open;
        sender
    }

    /// A DATA_ACK of what is in flight counts; the window's end never moves back.
    #[test]
    fn a_data_ack_lies_in_the_flight() {
        let after = |ack, capable, window| {
            let mut sender = sender(Scheduler::LowestRtt);
            sender.take_data_ack(&Mptcp { ack, capable, ..Mptcp::default() }, window);
            (sender.una, sender.window_end)
        };
        assert_eq!((after(Some(9), None, 99), after(Some(21), None, 99)), ((10, 30), (10, 30)));
        assert_eq!((after(Some(10), None, 20), after(Some(10), None, 21)), ((10, 30), (10, 31)));
        assert_eq!((after(Some(20), None, 5), after(None, Some(12), 40)), ((20, 30), (12, 52)));
        assert_eq!(after(None, None, 99), (10, 30));
    }

    #[test]
    fn a_connection_says_what_it_waits_for() {
        let waits = |state, nxt, end, is_down| {
            let mut sender = sender(Scheduler::LowestRtt);
            (sender.state, sender.nxt, sender.end) = (state, nxt, end);
            sender.waiting(is_down)
        };
        for state in [State::Idle, State::Closed] {
            assert_eq!(waits(state, 20, 99, true), Waiting::Nothing);
        }
        assert_eq!(waits(State::Opening, 20, 20, false), Waiting::Timeout);
        assert_eq!(waits(State::Open, 10, 10, true), Waiting::Application);
        assert_eq!(
            (waits(State::Open, 20, 20, true), waits(State::Open, 20, 20, false)),
            (Waiting::Timeout, Waiting::Application)
        );
        // Ten more bytes fill the window, eleven have no room.
        assert_eq!(
            (waits(State::Open, 20, 30, false), waits(State::Open, 20, 31, false)),
            (Waiting::Window, Waiting::Receiver)
        );
        assert_eq!(waits(State::Open, 20, 31, true), Waiting::Timeout);
    }

    /// Redundant subflows send all from the DATA_ACK on: first what others sent, then what is new.
    #[test]
    fn a_redundant_subflow_sends_everything() {
        let mut sender = sender(Scheduler::Redundant);
        sender.end = 24;
        let chunk = |data, len, is_copy| Some(Chunk { data, len, is_copy });
        assert_eq!(sender.redundant(0, 6), chunk(10, 6, true));
        sender.record_sent(0, 10, 6);
        assert_eq!((sender.repeated_segments, sender.subflows[0].repeated_bytes), (1, 6));
        assert_eq!(sender.redundant(0, 6), chunk(16, 4, true));
        sender.record_sent(0, 16, 4);
        assert_eq!(sender.redundant(0, 6), chunk(20, 4, false));
        sender.record_sent(0, 20, 4);
        assert_eq!((sender.nxt, sender.repeated_segments, sender.redundant(0, 6)), (24, 2, None));
        sender.saturated = true;
        assert_eq!((sender.redundant(0, 6), sender.redundant(0, 7)), (chunk(24, 6, false), None));
    }

    /// The head of a full window is not retransmitted while a subflow carries it that fares well.
    #[test]
    fn the_head_of_a_full_window_stays_with_a_healthy_subflow() {
        let mut sender = sender(Scheduler::LowestRtt);
        assert_eq!(sender.head_of_line(1, 6), None, "nobody carries it");
        let run = Mapping { at: 1, data: 10, len: 10, is_copy: false, reinjected: false };
        sender.subflows[0].mappings.push(run);
        assert_eq!(sender.head_of_line(0, 6), None, "its own subflow does");
        // Its window of ten segments is not short, and it has not timed out.
        assert_eq!(sender.head_of_line(1, 6), None);
        assert_eq!(sender.held(), 1);
    }

    /// What the application took back was never its data: the end is after what was sent.
    #[test]
    fn data_for_ever_ends_where_it_was_sent() {
        let mut sender = sender(Scheduler::LowestRtt);
        sender.supply(Time::ZERO, Supply::Saturated(true));
        assert_eq!(sender.fresh(), u64::MAX - 20);
        sender.nxt = 25;
        // To be told it again changes nothing.
        sender.supply(Time::ZERO, Supply::Saturated(true));
        assert_eq!(sender.end, 20);
        sender.supply(Time::ZERO, Supply::Saturated(false));
        assert_eq!((sender.end, sender.fresh()), (25, 0));
        sender.supply(Time::ZERO, Supply::Bytes(7));
        sender.supply(Time::ZERO, Supply::Message(8));
        sender.supply(Time::ZERO, Supply::Saturated(false));
        assert_eq!((sender.end, sender.fresh()), (40, 15));
    }

    /// A connection with data for ever is not over, nor one with data that has not arrived.
    #[test]
    fn a_connection_closes_when_all_has_arrived() {
        let closes = |saturated, una| {
            let mut sender = sender(Scheduler::LowestRtt);
            (sender.state, sender.saturated, sender.una) = (State::Idle, saturated, una);
            sender.close(Time::ZERO);
            sender.poll_event() == Some(EndpointEvent::Closed) && sender.state == State::Closed
        };
        assert!(closes(false, 20) && !closes(true, 20) && !closes(false, 19));
    }

    /// A driver that takes no events keeps the last 1024.
    #[test]
    fn events_are_bounded() {
        let mut sender = sender(Scheduler::LowestRtt);
        (0..=MOST_EVENTS).for_each(|n| sender.emit(EndpointEvent::RoundTrip(Duration::from_nanos(n as u64))));
        assert_eq!(sender.poll_event(), Some(EndpointEvent::RoundTrip(Duration::from_nanos(1))));
        assert_eq!(sender.events.len(), MOST_EVENTS - 1);
    }

    /// What a subflow carries and the receiver lacks is queued once for the others, copies only where nobody
    /// else carries the data.
    #[test]
    fn a_timeout_queues_what_the_receiver_lacks() {
        let mut sender = sender(Scheduler::LowestRtt);
        for (at, data, is_copy) in [(1, 5, false), (6, 10, true), (11, 15, false)] {
            sender.subflows[0].mappings.push(Mapping { at, data, len: 5, is_copy, reinjected: false });
        }
        sender.una = 12;
        sender.reinject(0);
        // 5 to 10 has arrived; 12 to 15 and 15 to 20 have not.
        assert_eq!((sender.subflows[0].reinjected_bytes, sender.reinjections.len()), (8, 2));
        let queued =
            EndpointEvent::OnPath(PathId(0), PathEvent::Reinjected(8), sender.subflows[0].tcp.state().cwnd);
        assert_eq!(
            (sender.poll_event(), sender.reinjections.first_for(1, 12, 99)),
            (Some(queued), Some((12, 3)))
        );
        sender.reinject(0);
        assert_eq!((sender.poll_event(), sender.subflows[0].reinjected_bytes), (None, 8));
        let mut redundant = self::sender(Scheduler::Redundant);
        let run = Mapping { at: 1, data: 10, len: 5, is_copy: false, reinjected: false };
        redundant.subflows[0].mappings.push(run);
        redundant.reinject(0);
        assert_eq!(redundant.held(), 1);
    }

    /// A single byte gives a sample of the round-trip time, too.
    #[test]
    fn a_byte_gives_a_sample() {
        fn received(packet: &Datagram) -> Received<'_, Datagram> {
            Received { packet, path: PathId(0), marked: false }
        }
        let config = Arc::new(SenderConfig::default());
        let mut sender = MptcpSender::new(Scheduler::LowestRtt, &config, Controls::coupled(), 1);
        let mut receiver = crate::MptcpReceiver::new(&Arc::default(), 1);
        let at = |ms: u64| Time::from_millis(10 * ms);
        let mut now = 0;
        sender.open(at(now));
        sender.supply(at(now), Supply::Bytes(1));
        for _ in 0..5 {
            let mut there = Vec::new();
            while let Some(out) = sender.poll_transmit(at(now)) {
                there.push(out.packet);
            }
            now += 1;
            there.iter().for_each(|packet| receiver.handle_packet(at(now), received(packet)));
            receiver.handle_timeout(at(now + 50));
            while let Some(out) = receiver.poll_transmit(at(now)) {
                sender.handle_packet(at(now), received(&out.packet));
            }
        }
        assert_eq!((sender.una, sender.nxt, sender.subflows[0].round_trips), (1, 1, 1));
    }

    /// A segment without data of the peer arrives on `path` after `ms`. Its SYN scales windows by 4.
    fn arrive(sender: &mut MptcpSender, ms: u64, path: u16, syn: bool, ack: u32, window: u16, mptcp: Mptcp) {
        let flags = if syn { Flags::SYN | Flags::ACK } else { Flags::ACK };
        let seq = SeqNumber::new(u32::from(!syn));
        let mut segment = Segment::new(seq, SeqNumber::new(ack), 0, window, flags);
        if syn {
            segment.set_mss(1000);
            segment.set_window_scale(2);
        }
        let packet = encode(&segment, &mptcp);
        let received = Received { packet: &packet, path: PathId(path), marked: false };
        sender.handle_packet(Time::from_millis(ms), received);
    }

    fn acknowledges(data: u64) -> Mptcp {
        Mptcp { ack: Some(data), ..Mptcp::default() }
    }

    /// What leaves after `ms`: path, length and MPTCP's part of each segment.
    fn sent(sender: &mut MptcpSender, ms: u64) -> Vec<(u16, u32, Mptcp)> {
        let sent = std::iter::from_fn(|| sender.poll_transmit(Time::from_millis(ms)));
        sent.map(|out| (out.path.0, out.data, decode(&out.packet).unwrap().1)).collect()
    }

    /// The events so far, without samples.
    fn told(sender: &mut MptcpSender) -> Vec<EndpointEvent> {
        let events = std::iter::from_fn(|| sender.poll_event());
        events.filter(|event| !matches!(event, EndpointEvent::RoundTrip(_))).collect()
    }

    /// A sender of two subflows with windows of `segments` of 1000 B, which gives up after `patience`. The first is
    /// open after `trips[0]` ms, the other `trips[1]` ms later; the receiver has told a window of 40 kB.
    fn opened(scheduler: Scheduler, segments: u32, trips: [u64; 2], patience: Option<u64>) -> MptcpSender {
        let mut config = SenderConfig::default();
        config.handshake.mss = 1000;
        config.initial_window = InitialWindow::Segments(segments);
        config.timers.user_timeout = patience.map(Duration::from_millis);
        let mut sender = MptcpSender::new(scheduler, &Arc::new(config), Controls::coupled(), 2);
        sender.open(Time::ZERO);
        let [first, second] = trips;
        let capable = Mptcp { capable: Some(0), ..Mptcp::default() };
        let join = Mptcp { join: true, ..Mptcp::default() };
        assert_eq!(sent(&mut sender, 0), [(0, 0, capable)]);
        // A window in a SYN is not scaled (RFC 7323 section 2.2).
        arrive(&mut sender, first, 0, true, 1, 1000, capable);
        assert_eq!((sender.window_end, told(&mut sender)), (1000, vec![EndpointEvent::Connected]));
        assert_eq!(sent(&mut sender, first), [(0, 0, acknowledges(0)), (1, 0, join)]);
        // The window of a subflow that joins comes without a DATA_ACK: it counts for nothing.
        arrive(&mut sender, first + second, 1, true, 1, 65_535, join);
        let joined = EndpointEvent::OnPath(PathId(1), PathEvent::Joined, u64::from(1000 * segments));
        assert_eq!((sender.window_end, told(&mut sender)), (1000, vec![joined]));
        assert_eq!(sent(&mut sender, first + second), [(1, 0, acknowledges(0))]);
        arrive(&mut sender, first + second, 0, false, 1, 10_000, acknowledges(0));
        assert_eq!(sender.window_end, 40_000);
        sender
    }

    /// The head of a full window goes out on another subflow if its own has four segments at most, or more than
    /// four times the round-trip time.
    #[test]
    fn the_head_of_a_full_window_leaves_a_slow_subflow() {
        let head = |segments, trips, una| {
            let mut sender = opened(Scheduler::LowestRtt, segments, trips, None);
            sender.subflows[0].mappings.push(Mapping {
                at: 1,
                data: 0,
                len: 1500,
                is_copy: false,
                reinjected: false,
            });
            (sender.una, sender.nxt) = (una, 1500);
            sender.head_of_line(1, 1000).map(|chunk| (chunk.data, chunk.len, chunk.is_copy))
        };
        let whole = Some((0, 1000, true));
        assert_eq!((head(5, [40, 10], 0), head(5, [41, 10], 0), head(4, [10, 10], 0)), (None, whole, whole));
        assert_eq!(head(4, [10, 10], 700), Some((700, 800, true)), "no more than was sent");
    }

    /// New data fills the window to its end; the oldest may follow, nothing beyond.
    #[test]
    fn new_data_stays_within_the_window() {
        for (end, offered) in [(3000, Some((2000, 1000, false))), (2999, None)] {
            let mut sender = opened(Scheduler::LowestRtt, 10, [10, 10], None);
            (sender.nxt, sender.end, sender.window_end) = (2000, 9000, end);
            let (order, open, _) = sender.order();
            let chunk = sender.chunk(Time::ZERO, 0, &order[..open]);
            assert_eq!(chunk.map(|chunk| (chunk.data, chunk.len, chunk.is_copy)), offered);
        }
    }

    /// Subflows are asked from the lowest round-trip time on, those that take no data last.
    #[test]
    fn closed_subflows_are_asked_last() {
        let mut sender = opened(Scheduler::LowestRtt, 10, [40, 10], None);
        let order = |sender: &MptcpSender| {
            let (order, open, all) = sender.order();
            (order[..all].iter().map(|one| one.index).collect::<Vec<_>>(), open)
        };
        assert_eq!(order(&sender), (vec![1, 0], 2));
        sender.subflows[1].is_closing = true;
        assert_eq!(order(&sender), (vec![0, 1], 1));
    }

    /// RFC 8684 section 3.3.6: a subflow that times out says so, and its data goes out on the other, once; until it
    /// recovers it gets no data. What was sent twice is counted, and what is shown of each path is its own.
    #[test]
    fn a_timeout_moves_data_to_the_other_subflow() {
        let mut sender = opened(Scheduler::LowestRtt, 2, [40, 10], None);
        sender.supply(Time::ZERO, Supply::Bytes(4000));
        let map = |data| Mptcp { ack: Some(0), map: Some(data), ..Mptcp::default() };
        let all = [(1, 1000, map(0)), (1, 1000, map(1000)), (0, 1000, map(2000)), (0, 1000, map(3000))];
        assert_eq!(sent(&mut sender, 50), all);
        // Path 1 answers after 10 ms, path 0 never.
        arrive(&mut sender, 60, 1, false, 2001, 10_000, acknowledges(2000));
        let mut shown = BTreeMap::new();
        sender.observe(&mut |name, value| {
            shown.insert(name, value);
        });
        let at = |path: &str, name: &str| shown[&*format!("path{path}_{name}")];
        assert_eq!(["0", "1"].map(|path| at(path, "cwnd_segments")), [2.0, 3.0]);
        assert_eq!(["0", "1"].map(|path| at(path, "srtt_s")), [0.04, 0.01]);
        assert_eq!(["0", "1"].map(|path| at(path, "in_flight_segments")), [2.0, 0.0]);
        assert_eq!(["0", "1"].map(|path| at(path, "delivered_bytes")), [0.0, 2000.0]);
        let progress = sender.progress();
        assert_eq!((progress.window_bytes, progress.in_flight_bytes), (Some(5000), Some(2000)));
        assert_eq!((progress.sent_bytes, progress.sent_packets, progress.resent_packets), (4000, 4, 0));
        assert_eq!(
            (progress.smoothed_rtt, progress.waiting),
            (Some(Duration::from_millis(10)), Waiting::Application)
        );
        assert_eq!(sender.poll_event(), Some(EndpointEvent::RoundTrip(Duration::from_millis(10))));
        // RFC 6298: at least a second after its data left.
        assert_eq!(sender.poll_timeout(), Time::from_millis(1050));
        sender.handle_timeout(Time::from_millis(1049));
        assert_eq!(told(&mut sender), []);
        sender.handle_timeout(Time::from_millis(1050));
        let on_path = |event, window| EndpointEvent::OnPath(PathId(0), event, window);
        let expected = [on_path(PathEvent::Timeout, 1000), on_path(PathEvent::Reinjected(2000), 1000)];
        assert_eq!(told(&mut sender), expected);
        assert_eq!(
            [0, 1, 2].map(|path| sender.waiting_on(PathId(path))),
            [Waiting::Timeout, Waiting::Application, Waiting::Timeout]
        );
        sender.supply(Time::ZERO, Supply::Bytes(1000));
        let copies = [(1, 1000, map(2000)), (1, 1000, map(3000)), (1, 1000, map(4000)), (0, 1000, map(2000))];
        assert_eq!(sent(&mut sender, 1050), copies);
        let progress = sender.progress();
        assert_eq!((progress.sent_packets, progress.resent_packets, progress.timeouts), (8, 3, 1));
        let mut counts = BTreeMap::new();
        sender.count(&mut |name, value| {
            counts.insert(name, value);
        });
        let of = |name: &str| ["0", "1"].map(|path| counts[&*format!("path{path}_{name}")]);
        assert_eq!((of("sent_segments"), of("retransmitted_segments")), ([3.0, 5.0], [1.0, 0.0]));
        assert_eq!((of("rtos"), of("repeated_bytes")), ([1.0, 0.0], [0.0, 2000.0]));
        assert_eq!((of("reinjected_bytes"), of("round_trips")), ([2000.0, 0.0], [0.0, 1.0]));
        assert_eq!(of("round_trips_s"), [0.0, 0.01]);
    }

    /// RFC 9293 section 3.8.3: a subflow whose data stays unacknowledged for too long is given up, the connection
    /// with the last.
    #[test]
    fn a_connection_is_over_with_its_last_subflow() {
        let mut sender = opened(Scheduler::LowestRtt, 2, [10, 10], Some(5000));
        sender.supply(Time::ZERO, Supply::Bytes(4000));
        sent(&mut sender, 20);
        let mut found = Vec::new();
        while sender.poll_timeout() < Time::MAX {
            let now = sender.poll_timeout();
            sender.handle_timeout(now);
            while sender.poll_transmit(now).is_some() {}
            found.extend(told(&mut sender));
        }
        let places = |wanted: EndpointEvent| {
            let found = found.iter().enumerate().filter(|(_, event)| **event == wanted);
            found.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let aborted =
            [0, 1].map(|path| places(EndpointEvent::OnPath(PathId(path), PathEvent::Aborted, 1000)));
        assert_eq!([aborted[0].len(), aborted[1].len()], [1, 1], "{found:?}");
        assert_eq!(places(EndpointEvent::Closed), [found.len() - 1]);
        assert_eq!(
            (sender.poll_transmit(Time::from_secs_f64(99.0)), sender.progress().waiting),
            (None, Waiting::Nothing)
        );
    }

    /// A connection that is closed before it is open has no second subflow. One that is opened again begins where
    /// the old one's data ended, and samples its round-trip times anew.
    #[test]
    fn a_connection_opens_again() {
        let mut sender = opened(Scheduler::RoundRobin, 2, [10, 10], None);
        sender.supply(Time::ZERO, Supply::Bytes(1000));
        sent(&mut sender, 20);
        sender.open(Time::from_millis(25));
        assert_eq!((sender.state, sender.una), (State::Open, 0), "open already");
        arrive(&mut sender, 30, 0, false, 1001, 10_000, acknowledges(1000));
        sender.close(Time::from_millis(30));
        let fin = Mptcp { ack: Some(0), fin: true, ..Mptcp::default() };
        assert_eq!(sent(&mut sender, 30), [(0, 0, fin), (1, 0, fin)]);
        arrive(&mut sender, 40, 0, false, 1002, 10_000, acknowledges(1000));
        assert_eq!(told(&mut sender), [EndpointEvent::Closed]);
        // Of the data and of the FIN.
        assert_eq!(sender.subflows[0].round_trips, 2);
        sender.supply(Time::ZERO, Supply::Bytes(500));
        sender.open(Time::from_millis(50));
        let capable = Mptcp { capable: Some(1000), ..Mptcp::default() };
        assert_eq!(sent(&mut sender, 50), [(0, 0, capable)]);
        assert_eq!((sender.una, sender.window_end, sender.closing), (1000, 1000, false));
        let next = sender.subflows[0].tcp.config().handshake.initial_sequence.get() + 1;
        arrive(&mut sender, 60, 0, true, next, 1000, capable);
        assert!(sent(&mut sender, 60).contains(&(0, 500, Mptcp { map: Some(1000), ..acknowledges(0) })));
        arrive(&mut sender, 70, 0, false, next + 500, 10_000, acknowledges(1500));
        assert_eq!((sender.una, sender.window_end, sender.subflows[0].round_trips), (1500, 41_500, 3));
        // One that closes is given up with what it has not delivered.
        let mut closing = opened(Scheduler::RoundRobin, 2, [10, 10], None);
        closing.supply(Time::ZERO, Supply::Bytes(1000));
        sent(&mut closing, 20);
        closing.close(Time::from_millis(25));
        closing.open(Time::from_millis(25));
        assert_eq!(
            (closing.state, closing.held(), sent(&mut closing, 25)),
            (State::Opening, 0, vec![(0, 0, capable)])
        );
        let mut early = opened(Scheduler::RoundRobin, 2, [10, 10], None);
        early.state = State::Opening;
        early.close(Time::ZERO);
        assert_eq!([early.subflows[0].is_gone, early.subflows[1].is_gone], [false, true]);
        assert_eq!([early.subflows[0].is_closing, early.subflows[1].is_closing], [true, true]);
    }

    /// After the close a subflow that gets no answer to its FIN is given up at its first timeout.
    #[test]
    fn a_closed_connection_repeats_no_fin() {
        let mut sender = opened(Scheduler::LowestRtt, 2, [10, 10], None);
        sender.close(Time::from_millis(20));
        assert_eq!(sent(&mut sender, 20).len(), 2);
        arrive(&mut sender, 30, 0, false, 2, 10_000, acknowledges(0));
        assert_eq!(told(&mut sender), [EndpointEvent::Closed]);
        let mut answered = opened(Scheduler::LowestRtt, 2, [10, 10], None);
        answered.close(Time::from_millis(20));
        sent(&mut answered, 20);
        (0..2).for_each(|path| arrive(&mut answered, 30, path, false, 2, 10_000, acknowledges(0)));
        assert_eq!(told(&mut answered), [EndpointEvent::Closed], "once, whatever the second subflow does");
        assert_eq!(sender.poll_timeout(), Time::from_millis(1020));
        for ms in [1020, 9000] {
            sender.handle_timeout(Time::from_millis(ms));
            assert_eq!((sent(&mut sender, ms), sender.poll_timeout()), (vec![], Time::MAX));
            assert_eq!((sender.progress().timeouts, told(&mut sender)), (1, vec![]));
        }
    }
}
