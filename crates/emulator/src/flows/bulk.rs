//! A flow whose sender has something to send: always, so much, or at a rate.

use super::pumps::Pump;
use super::{Account, Played, Playing, Standing};
use crate::event::RecordedEvent;
use crate::sockets::{self, TcpInfo};
use crate::states::Shown;
use crate::sys::{self, ready};
use cogtcp_records::EventKind;
use cogtcp_scenario::Traffic;
use cogtcp_units::{Duration, Rate, Time};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

/// What the sending application does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application {
    pub(super) traffic: Traffic,
    /// Bytes of a segment.
    pub(super) segment: u32,
    pub(super) start: Time,
    pub(super) stop: Option<Time>,
    /// Its sockets are of Multipath TCP.
    pub(super) is_multipath: bool,
    /// Threads of its own write and read, without end.
    pub(super) is_pumped: bool,
}

impl Application {
    /// How much it would have written by `now`.
    pub(super) fn goal(&self, now: Time) -> u64 {
        match self.traffic {
            Traffic::Size(size) => size.get(),
            Traffic::Rate(rate) => {
                // Whole segments, each when it is due.
                let due = written_by(rate, now.saturating_since(self.start));
                // A segment of zero bytes would divide by zero.
                due - due % u64::from(self.segment.max(1))
            }
            _ => u64::MAX,
        }
    }

    pub(super) fn has_stopped(&self, now: Time) -> bool {
        self.stop.is_some_and(|stop| now >= stop)
    }
}

fn written_by(rate: Rate, span: Duration) -> u64 {
    rate.bytes_in(span).get()
}

/// Such a flow being played.
#[derive(Debug)]
pub(super) struct Bulk {
    account: Account,
    application: Application,
    listener: TcpListener,
    address: IpAddr,
    sender: OwnedFd,
    /// The sender's socket as something to write to.
    writer: File,
    receiver: Option<TcpStream>,
    /// What a socket can do, until it says that it cannot: calls in vain cost much in virtual time.
    can_write: bool,
    can_read: bool,
    /// The sender has closed, and all has been read.
    is_read_out: bool,
    state: State,
    written: u64,
    /// Its writing thread, and its reading one.
    pumps: [Option<Pump>; 2],
    /// What the kernel had counted when the connection stood: timeouts and retransmissions of SYNs, which the
    /// simulator does not count.
    of_handshake: Standing,
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

impl Bulk {
    pub(super) fn new(
        account: Account,
        application: Application,
        listener: TcpListener,
        address: IpAddr,
        sender: OwnedFd,
    ) -> io::Result<Self> {
        let writer = File::from(sender.try_clone()?);
        Ok(Self {
            account,
            application,
            listener,
            address,
            sender,
            writer,
            receiver: None,
            can_write: true,
            can_read: true,
            is_read_out: false,
            state: State::Waiting,
            written: 0,
            pumps: [None, None],
            of_handshake: Standing::default(),
        })
    }

    fn info(&self) -> Option<TcpInfo> {
        TcpInfo::of(self.sender.as_fd()).ok()
    }

    /// What the kernel has counted, of all subflows.
    fn counted(&self) -> Standing {
        if !self.application.is_multipath {
            return Standing::default().plus(self.info().as_ref());
        }
        let subflows = TcpInfo::of_subflows(self.sender.as_fd()).unwrap_or_default();
        subflows.iter().fold(Standing::default(), |sum, info| sum.plus(Some(info)))
    }

    /// What the connection has done since it stood.
    fn standing(&self) -> Standing {
        if matches!(self.state, State::Waiting | State::Connecting) {
            return Standing::default();
        }
        let all = self.counted();
        Standing {
            timeouts: all.timeouts.saturating_sub(self.of_handshake.timeouts),
            retransmitted: all.retransmitted.saturating_sub(self.of_handshake.retransmitted),
            ..all
        }
    }

    /// Lets a thread write; this one does not.
    fn start_writing(&mut self) -> io::Result<()> {
        self.can_write = false;
        TcpStream::from(self.sender.try_clone()?).set_nonblocking(false)?;
        self.pumps[0] = Some(Pump::writing(self.sender.try_clone()?));
        Ok(())
    }

    /// Starts the thread that reads.
    fn start_reading(&mut self, stream: &TcpStream) -> io::Result<()> {
        self.can_read = false;
        self.pumps[1] = Some(Pump::reading(stream.try_clone()?.into()));
        Ok(())
    }

    /// Asks the kernel how much has been read, where threads read.
    fn count_delivered(&mut self) {
        if self.application.is_pumped
            && let Some(info) = self.receiver.as_ref().and_then(|stream| TcpInfo::of(stream.as_fd()).ok())
        {
            self.account.delivered = info.received();
        }
    }

    fn record_failure(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.state = State::Silent;
            self.account.record_failure(&error);
        }
    }

    fn write(&mut self, now: Time, buffer: &[u8], events: &mut Vec<RecordedEvent>) {
        if self.application.has_stopped(now) {
            events.push(self.account.event(now, EventKind::FlowStop, f64::NAN));
            return self.fall_silent();
        }
        let goal = self.application.goal(now);
        while self.written < goal {
            let size = (goal - self.written).min(buffer.len() as u64) as usize;
            match ready(self.writer.write(&buffer[..size])) {
                Ok(Some(written)) => {
                    self.written += written as u64;
                    if written < size {
                        self.can_write = false;
                        return;
                    }
                }
                Ok(None) => {
                    self.can_write = false;
                    return;
                }
                Err(error) => return self.record_failure(Err(error)),
            }
        }
        // At a rate there will be more.
        if matches!(self.application.traffic, Traffic::Size(_)) {
            self.fall_silent();
        }
    }

    /// The application writes no more: the connection closes when all has arrived.
    fn fall_silent(&mut self) {
        self.state = State::Silent;
        if let Ok(socket) = self.sender.try_clone() {
            // Not connected any more: then it is closed.
            let _ = TcpStream::from(socket).shutdown(Shutdown::Write);
        }
    }

    fn read(&mut self, now: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>) {
        if self.receiver.is_none()
            && self.state != State::Waiting
            && let Ok((stream, _)) = self.listener.accept()
        {
            let outcome = if self.application.is_pumped {
                self.start_reading(&stream)
            } else {
                stream.set_nonblocking(true)
            };
            self.record_failure(outcome);
            self.receiver = Some(stream);
        }
        if self.receiver.is_none() {
            // The first wait watches the listener.
            self.can_read = self.state == State::Waiting;
        }
        let others_read = self.is_read_out || self.application.is_pumped;
        let Some(stream) = self.receiver.as_mut().filter(|_| !others_read) else { return };
        loop {
            match stream.read(buffer) {
                Ok(0) => {
                    self.is_read_out = true;
                    break;
                }
                Err(_) => {
                    self.can_read = false;
                    break;
                }
                Ok(size) => {
                    self.account.delivered += size as u64;
                    if size < buffer.len() {
                        self.can_read = false;
                        break;
                    }
                }
            }
        }
        self.account.complete(now, self.application.traffic, events);
    }
}

impl Playing for Bulk {
    fn step(&mut self, now: Time, warmup: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>) {
        if self.state == State::Waiting && now >= self.application.start {
            self.state = State::Connecting;
            events.push(self.account.event(now, EventKind::FlowStart, f64::NAN));
            let begun = sockets::connect(self.sender.as_fd(), self.account.number, self.address);
            self.record_failure(begun);
            if now >= warmup {
                self.begin_measure(now);
            }
        }
        if self.state == State::Connecting {
            let info = self.info();
            if info.as_ref().is_some_and(TcpInfo::is_established) {
                self.state = State::Sending;
                self.of_handshake = self.counted();
                events.push(self.account.event(now, EventKind::Connected, f64::NAN));
                if self.application.is_pumped {
                    let outcome = self.start_writing();
                    self.record_failure(outcome);
                }
            } else {
                let outcome = sockets::pending_error(self.sender.as_fd());
                self.record_failure(outcome);
            }
        }
        if self.state == State::Sending && (self.can_write || self.application.has_stopped(now)) {
            self.write(now, buffer, events);
        }
        if self.can_read {
            self.read(now, buffer, events);
        }
        if self.application.has_stopped(now) {
            self.count_delivered();
            self.account.end_measure(now);
        }
    }

    fn begin_measure(&mut self, now: Time) {
        if self.state == State::Waiting && now < self.application.start {
            return;
        }
        self.count_delivered();
        let standing = self.standing();
        self.account.begin_measure(now, standing);
    }

    fn sample(&mut self, now: Time, events: &mut Vec<RecordedEvent>) {
        if self.state == State::Waiting {
            return;
        }
        let sender = self.info();
        let receiver = self.receiver.as_ref().and_then(|stream| TcpInfo::of(stream.as_fd()).ok());
        if let Some(receiver) = receiver.as_ref().filter(|_| self.application.is_pumped) {
            self.account.delivered = receiver.received();
        }
        let timeouts = sender.as_ref().and_then(TcpInfo::timeouts);
        self.account.sample_tcp(now, [sender, receiver], timeouts, events);
    }

    fn record(&mut self, states: &[Shown]) {
        self.account.record(states, self.sender.as_fd());
    }

    fn next(&self, now: Time) -> Time {
        let application = &self.application;
        let mut next = application.stop.filter(|stop| *stop > now).unwrap_or(Time::MAX);
        if self.state == State::Waiting {
            next = next.min(application.start);
        }
        if let (State::Sending, Traffic::Rate(rate)) = (self.state, application.traffic)
            && self.written >= application.goal(now)
        {
            let bytes = self.written + u64::from(application.segment);
            next = next.min(application.start + rate.transmission_time(bytes));
        }
        next
    }

    fn wait_for(&self, now: Time, waiting: &mut Vec<(RawFd, bool)>) {
        match self.state {
            State::Waiting => return,
            State::Connecting => waiting.push((self.sender.as_raw_fd(), true)),
            State::Sending if !self.application.is_pumped && self.written < self.application.goal(now) => {
                waiting.push((self.sender.as_raw_fd(), true));
            }
            State::Sending | State::Silent => {}
        }
        match &self.receiver {
            // Closed by its sender it would always be readable.
            Some(_) if self.is_read_out || self.application.is_pumped => {}
            Some(stream) => waiting.push((stream.as_raw_fd(), false)),
            None => waiting.push((self.listener.as_raw_fd(), false)),
        }
    }

    fn hear(&mut self, ready: &[RawFd]) {
        self.can_write |= ready.contains(&self.sender.as_raw_fd());
        let receiver = self.receiver.as_ref().map_or(self.listener.as_raw_fd(), AsRawFd::as_raw_fd);
        self.can_read |= ready.contains(&receiver);
    }

    fn finish(mut self: Box<Self>, now: Time) -> Played {
        self.count_delivered();
        let standing = self.standing();
        if let Some(failure) = self.pumps[0].take().and_then(Pump::failure)
            && self.state == State::Sending
        {
            self.account.record_failure(&failure);
        }
        if self.application.is_pumped {
            // The threads' calls end, and so do the threads.
            let receiver = self.receiver.as_ref().map(AsFd::as_fd);
            for socket in [self.sender.as_fd()].into_iter().chain(receiver) {
                let _ = sys::shut(socket, sys::Shutdown::Both);
            }
        }
        self.account.finish(now, standing)
    }
}
