//! The scenario's own flows on real sockets: one thread plays the applications at both ends, and asks the kernel at every
//! sampling instant how its connections are.

use crate::clock::Clock;
use crate::observer::{Entity, Happening};
use crate::sockets::{self, TcpCounters, TcpInfo};
use crate::sys;
use crate::udp::Sending;
use cogtcp_records::EventKind;
use cogtcp_scenario::Traffic;
use cogtcp_units::{Duration, Rate, Time};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written and read at a time.
const CHUNK: usize = 64 * 1024;
/// How long the thread sleeps at most: it looks then whether the run has ended.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// A flow before it starts.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) listener: TcpListener,
    pub(crate) sender: OwnedFd,
    /// Where it listens.
    pub(crate) address: Ipv4Addr,
    /// Counters of the sender's namespace, where no other flow sends from it.
    pub(crate) counters: Option<TcpCounters>,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) traffic: Traffic,
    /// Bytes of a segment: what an application of constant rate writes at a time.
    pub(crate) segment: u32,
}

/// What a flow had done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) delivered: u64,
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
    pub(crate) spurious: u64,
    pub(crate) probes: u64,
}

/// A point of a flow's series.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) at: Time,
    pub(crate) sender: Option<TcpInfo>,
    pub(crate) receiver: Option<TcpInfo>,
    pub(crate) goodput_bps: f64,
}

/// What came of a flow.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) start: Time,
    /// At the end of the warm-up, and at the end of the run.
    pub(crate) warm: Standing,
    pub(crate) end: Standing,
    /// What it had delivered when its measured span began and ended, and when that was.
    pub(crate) span: Option<[(Time, u64); 2]>,
    pub(crate) completed: Option<Time>,
    pub(crate) series: Vec<Point>,
    /// Why it came to nothing, if it did.
    pub(crate) failure: Option<String>,
}

/// A flow being played.
#[derive(Debug)]
struct Playing {
    number: usize,
    prepared: Prepared,
    /// The sender's socket as something to write to.
    writer: File,
    receiver: Option<TcpStream>,
    /// The sender has closed, and all has been read.
    is_read_out: bool,
    state: State,
    written: u64,
    delivered: u64,
    timeouts: u64,
    sampled: (Time, u64),
    played: Played,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Its time has not come.
    Waiting,
    Connecting,
    Sending,
    /// The application has written all it will.
    Silent,
}

/// Plays flows and UDP sources until `ended` is raised.
pub(crate) fn play(
    flows: Vec<Prepared>,
    mut udp: Vec<Sending>,
    clock: Clock,
    warmup: Time,
    interval: Duration,
    ended: &AtomicBool,
) -> io::Result<(Vec<Played>, Vec<Happening>)> {
    let mut flows = flows
        .into_iter()
        .enumerate()
        .map(|(number, prepared)| Playing::new(number, prepared))
        .collect::<io::Result<Vec<_>>>()?;
    let mut happenings = Vec::new();
    let mut is_warm = false;
    let mut next_sample = Time::ZERO + interval;
    let mut buffer = vec![0; CHUNK];
    while !ended.load(Ordering::Acquire) {
        let now = clock.now();
        if !is_warm && now >= warmup {
            is_warm = true;
            flows.iter_mut().for_each(|flow| flow.begin_measure(now));
        }
        for flow in &mut flows {
            flow.step(now, warmup, &mut buffer, &mut happenings);
        }
        udp.iter_mut().for_each(|source| source.step(now, &mut buffer));
        if now >= next_sample {
            flows.iter_mut().for_each(|flow| flow.sample(now, &mut happenings));
            while next_sample <= now {
                next_sample += interval;
            }
        }
        let mut until = next_sample.min(now + LONGEST_WAIT);
        if !is_warm {
            until = until.min(warmup);
        }
        until = udp.iter().map(Sending::next).fold(until, Time::min);
        let mut waiting = Vec::new();
        for flow in &flows {
            until = until.min(flow.next(now));
            flow.wait_for(now, &mut waiting);
        }
        sys::poll(&waiting, until.saturating_since(clock.now()).as_nanos())?;
    }
    let now = clock.now();
    Ok((flows.into_iter().map(|flow| flow.finish(now)).collect(), happenings))
}

impl Playing {
    fn new(number: usize, prepared: Prepared) -> io::Result<Self> {
        let played = Played {
            start: prepared.start,
            warm: Standing::default(),
            end: Standing::default(),
            span: None,
            completed: None,
            series: Vec::new(),
            failure: None,
        };
        let writer = File::from(prepared.sender.try_clone()?);
        let state = State::Waiting;
        let sampled = (prepared.start, 0);
        Ok(Self {
            number,
            prepared,
            writer,
            receiver: None,
            is_read_out: false,
            state,
            written: 0,
            delivered: 0,
            timeouts: 0,
            sampled,
            played,
        })
    }

    /// Does what can be done now.
    fn step(&mut self, now: Time, warmup: Time, buffer: &mut [u8], happenings: &mut Vec<Happening>) {
        if self.state == State::Waiting && now >= self.prepared.start {
            self.state = State::Connecting;
            happenings.push(self.happening(now, EventKind::FlowStart, f64::NAN));
            let begun = sockets::connect(self.prepared.sender.as_fd(), self.number, self.prepared.address);
            self.note_failure(begun);
            if now >= warmup {
                self.begin_measure(now);
            }
        }
        if self.state == State::Connecting {
            let established =
                TcpInfo::of(self.prepared.sender.as_fd()).is_ok_and(|info| info.is_established());
            if established {
                self.state = State::Sending;
                happenings.push(self.happening(now, EventKind::Connected, f64::NAN));
            } else {
                let outcome = sockets::pending_error(self.prepared.sender.as_fd());
                self.note_failure(outcome);
            }
        }
        if self.state == State::Sending {
            self.write(now, buffer, happenings);
        }
        self.read(now, buffer, happenings);
        if self.prepared.stop.is_some_and(|stop| now >= stop) {
            self.end_measure(now);
        }
    }

    fn note_failure(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.state = State::Silent;
            self.played.failure.get_or_insert_with(|| error.to_string());
        }
    }

    /// How much the application would have written by `now`.
    fn goal(&self, now: Time) -> u64 {
        match self.prepared.traffic {
            Traffic::Size(size) => size.get(),
            Traffic::Rate(rate) => {
                // Whole segments, each when it is due.
                let due = written_by(rate, now.saturating_since(self.prepared.start));
                due - due % u64::from(self.prepared.segment.max(1))
            }
            _ => u64::MAX,
        }
    }

    fn write(&mut self, now: Time, buffer: &[u8], happenings: &mut Vec<Happening>) {
        if self.prepared.stop.is_some_and(|stop| now >= stop) {
            happenings.push(self.happening(now, EventKind::FlowStop, f64::NAN));
            return self.fall_silent();
        }
        let goal = self.goal(now);
        while self.written < goal {
            let size = (goal - self.written).min(buffer.len() as u64) as usize;
            match self.writer.write(&buffer[..size]) {
                Ok(size) => self.written += size as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.note_failure(Err(error)),
            }
        }
        if matches!(self.prepared.traffic, Traffic::Size(_)) {
            self.fall_silent();
        }
    }

    /// The application writes no more: the connection closes when all has arrived.
    fn fall_silent(&mut self) {
        self.state = State::Silent;
        if let Ok(socket) = self.prepared.sender.try_clone() {
            // Not connected any more: then it is closed.
            let _ = TcpStream::from(socket).shutdown(Shutdown::Write);
        }
    }

    fn read(&mut self, now: Time, buffer: &mut [u8], happenings: &mut Vec<Happening>) {
        if self.receiver.is_none()
            && self.state != State::Waiting
            && let Ok((stream, _)) = self.prepared.listener.accept()
        {
            let outcome = stream.set_nonblocking(true);
            self.note_failure(outcome);
            self.receiver = Some(stream);
        }
        let Some(stream) = self.receiver.as_mut().filter(|_| !self.is_read_out) else { return };
        loop {
            match stream.read(buffer) {
                Ok(0) => {
                    self.is_read_out = true;
                    break;
                }
                Err(_) => break,
                Ok(size) => self.delivered += size as u64,
            }
        }
        if let Traffic::Size(size) = self.prepared.traffic
            && self.delivered >= size.get()
            && self.played.completed.is_none()
        {
            self.played.completed = Some(now);
            happenings.push(self.happening(now, EventKind::Completed, f64::NAN));
            self.end_measure(now);
        }
    }

    /// The measured span begins, with the flow or with the end of the warm-up.
    fn begin_measure(&mut self, now: Time) {
        if self.state == State::Waiting && now < self.prepared.start {
            return;
        }
        self.played.warm = self.standing();
        self.played.span.get_or_insert([(now, self.delivered), (Time::MAX, 0)]);
    }

    fn end_measure(&mut self, now: Time) {
        if let Some([_, end]) = &mut self.played.span
            && end.0 == Time::MAX
        {
            *end = (now, self.delivered);
        }
    }

    fn standing(&mut self) -> Standing {
        let info = TcpInfo::of(self.prepared.sender.as_fd()).ok();
        let [recoveries, spurious, probes] =
            self.prepared.counters.as_mut().map_or([0; 3], TcpCounters::read);
        let count = |of: fn(&TcpInfo) -> u64| info.as_ref().map_or(0, of);
        Standing {
            delivered: self.delivered,
            sent: count(TcpInfo::data_segments_sent),
            retransmitted: count(TcpInfo::retransmitted),
            timeouts: info.as_ref().and_then(TcpInfo::timeouts).unwrap_or(0),
            recoveries,
            spurious,
            probes,
        }
    }

    fn sample(&mut self, now: Time, happenings: &mut Vec<Happening>) {
        if self.state == State::Waiting {
            return;
        }
        let (before, delivered) = std::mem::replace(&mut self.sampled, (now, self.delivered));
        let span = now.saturating_since(before).as_secs_f64();
        let sender = TcpInfo::of(self.prepared.sender.as_fd()).ok();
        if let Some(info) = &sender
            && let Some(timeouts) = info.timeouts()
        {
            for _ in self.timeouts..timeouts {
                happenings.push(self.happening(now, EventKind::Rto, info.cwnd()));
            }
            self.timeouts = timeouts;
        }
        let receiver = self.receiver.as_ref().and_then(|stream| TcpInfo::of(stream.as_fd()).ok());
        let goodput_bps = (self.delivered - delivered) as f64 * 8.0 / span;
        self.played.series.push(Point { at: now, sender, receiver, goodput_bps });
    }

    fn happening(&self, at: Time, kind: EventKind, value: f64) -> Happening {
        let entity = Entity::Flow(self.number);
        Happening { at, kind, entity, flow: Some(self.number), detail: "", value }
    }

    /// When there is something to do though no socket says so.
    fn next(&self, now: Time) -> Time {
        let mut next = self.prepared.stop.filter(|stop| *stop > now).unwrap_or(Time::MAX);
        if self.state == State::Waiting {
            next = next.min(self.prepared.start);
        }
        if let (State::Sending, Traffic::Rate(rate)) = (self.state, self.prepared.traffic)
            && self.written >= self.goal(now)
        {
            let bytes = self.written + u64::from(self.prepared.segment);
            next = next.min(self.prepared.start + rate.transmission_time(bytes));
        }
        next
    }

    fn wait_for(&self, now: Time, waiting: &mut Vec<(RawFd, bool)>) {
        match self.state {
            State::Waiting => return,
            State::Connecting => waiting.push((self.prepared.sender.as_raw_fd(), true)),
            State::Sending if self.written < self.goal(now) => {
                waiting.push((self.prepared.sender.as_raw_fd(), true));
            }
            State::Sending | State::Silent => {}
        }
        match &self.receiver {
            // Closed by its sender it would always be readable.
            Some(_) if self.is_read_out => {}
            Some(stream) => waiting.push((stream.as_raw_fd(), false)),
            None => waiting.push((self.prepared.listener.as_raw_fd(), false)),
        }
    }

    fn finish(mut self, now: Time) -> Played {
        self.end_measure(now);
        self.played.end = self.standing();
        if self.played.span.is_none() {
            self.played.warm = self.played.end;
        }
        self.played
    }
}

fn written_by(rate: Rate, span: Duration) -> u64 {
    rate.bytes_in(span).get()
}
