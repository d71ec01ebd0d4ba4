//! A flow whose receiver asks its sender for data: the client of the simulator on a real connection, which it
//! opens itself, as browsers and players do.
//!
//! In the simulator a request is a packet of its own that opens the sender's connection
//! (`crates/simulator/src/applications.rs`). Here SYN, SYN-ACK, request and data take the same four one-way
//! trips, and TCP retransmits a lost request. Both ends are in this process, so the server needs no message
//! format: the bytes of requests received say how much it is asked for.

use super::{Account, Played, Playing, Standing};
use crate::event::RecordedEvent;
use crate::sockets::{self, Maker, Settings, TcpInfo};
use crate::states::{self, Shown};
use crate::sys::ready;
use cogtcp_records::EventKind;
use cogtcp_traffic::{Application, Request};
use cogtcp_units::Time;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

/// How the client gets its sockets, and whom it calls.
#[derive(Debug)]
pub(super) struct Callers {
    pub(super) maker: Arc<Maker>,
    pub(super) settings: Settings,
    pub(super) address: IpAddr,
}

/// Such a flow being played.
#[derive(Debug)]
pub(super) struct Asking {
    account: Account,
    client: Application,
    opens_anew: bool,
    stop: Time,
    listener: TcpListener,
    callers: Callers,
    connection: Option<Connection>,
    /// What the connections before have done.
    past: Standing,
    /// How often each request was retransmitted.
    repeats: Vec<u64>,
    has_begun: bool,
    has_stopped: bool,
}

/// A connection of the client's.
#[derive(Debug)]
struct Connection {
    client: TcpStream,
    is_established: bool,
    server: Option<TcpStream>,
    /// Bytes of requests: given to the connection in all, not yet written, and read by the server.
    asked: u64,
    unsent: u64,
    heard: u64,
    /// What the server does not know yet: at how many bytes of requests it has the whole of one, and how much
    /// that asks for.
    coming: VecDeque<(u64, u64)>,
    /// Bytes of responses: asked for in all, not yet written by the server, and read by the client.
    promised: u64,
    owed: u64,
    received: u64,
    /// Requests without a whole response: the number, where that ends, and what the client had retransmitted
    /// when it asked.
    awaited: VecDeque<(usize, u64, u64)>,
}

impl Callers {
    fn call(&self, number: usize) -> io::Result<Connection> {
        let socket = self.maker.take()?;
        self.settings.make_receiver(socket.as_fd()).map_err(io::Error::other)?;
        sockets::connect(socket.as_fd(), number, self.address)?;
        Ok(Connection {
            client: socket.into(),
            is_established: false,
            server: None,
            asked: 0,
            unsent: 0,
            heard: 0,
            coming: VecDeque::new(),
            promised: 0,
            owed: 0,
            received: 0,
            awaited: VecDeque::new(),
        })
    }
}

impl Connection {
    fn info(&self) -> [Option<TcpInfo>; 2] {
        let of = |stream: &TcpStream| TcpInfo::of(stream.as_fd()).ok();
        [self.server.as_ref().and_then(of), of(&self.client)]
    }

    /// What the client has retransmitted.
    fn retransmitted(&self) -> u64 {
        TcpInfo::of(self.client.as_fd()).map_or(0, |info| info.retransmitted())
    }

    fn ask(&mut self, request: Request) {
        self.asked += u64::from(request.size);
        self.unsent += u64::from(request.size);
        self.promised += request.response;
        self.coming.push_back((self.asked, request.response));
        self.awaited.push_back((request.number, self.promised, self.retransmitted()));
    }

    /// The server reads requests, and writes what it owes; `answers`: it begins with new responses.
    fn serve(&mut self, answers: bool, is_last: bool, buffer: &mut [u8]) -> io::Result<()> {
        let Some(server) = &mut self.server else { return Ok(()) };
        while let Some(size) = ready(server.read(buffer))?.filter(|size| *size > 0) {
            self.heard += size as u64;
        }
        while let Some((_, response)) = self.coming.pop_front_if(|(end, _)| *end <= self.heard) {
            if answers {
                self.owed += response;
            }
        }
        while self.owed > 0 {
            let size = self.owed.min(buffer.len() as u64) as usize;
            let Some(size) = ready(server.write(&buffer[..size]))? else { return Ok(()) };
            self.owed -= size as u64;
            // A connection for each request ends with its response.
            if self.owed == 0 && is_last {
                server.shutdown(Shutdown::Write)?;
            }
        }
        Ok(())
    }

    /// The client writes requests and reads responses; returns how many bytes came.
    fn consume(&mut self, buffer: &mut [u8]) -> io::Result<u64> {
        while self.unsent > 0 {
            let size = self.unsent.min(buffer.len() as u64) as usize;
            let Some(size) = ready(self.client.write(&buffer[..size]))? else { break };
            self.unsent -= size as u64;
        }
        let before = self.received;
        while let Some(size) = ready(self.client.read(buffer))?.filter(|size| *size > 0) {
            self.received += size as u64;
        }
        Ok(self.received - before)
    }

    /// Its exchange is over: it closes like a program's.
    fn close(self) {
        sockets::end_in_order(self.client.as_fd());
        self.server.iter().for_each(|stream| sockets::end_in_order(stream.as_fd()));
    }
}

impl Asking {
    pub(super) fn new(
        account: Account,
        client: Application,
        opens_anew: bool,
        stop: Time,
        listener: TcpListener,
        callers: Callers,
    ) -> Self {
        Self {
            account,
            client,
            opens_anew,
            stop,
            listener,
            callers,
            connection: None,
            past: Standing::default(),
            repeats: Vec::new(),
            has_begun: false,
            has_stopped: false,
        }
    }

    /// What its connections have done, the present one included.
    fn done(&self) -> Standing {
        let server = self.connection.as_ref().and_then(|connection| connection.info()[0]);
        self.past.plus(server.as_ref())
    }

    fn play(&mut self, now: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>) -> io::Result<()> {
        while now < self.stop && self.client.next_request() <= now {
            if self.connection.is_none() {
                self.connection = Some(self.callers.call(self.account.number)?);
            }
            let Some(connection) = &mut self.connection else { break };
            connection.ask(self.client.send(now));
            self.repeats.push(0);
        }
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if !connection.is_established {
            sockets::pending_error(connection.client.as_fd())?;
            if TcpInfo::of(connection.client.as_fd())?.is_established() {
                connection.is_established = true;
                events.push(self.account.event(now, EventKind::Connected, f64::NAN));
            }
        }
        if connection.server.is_none()
            && let Some((stream, _)) = ready(self.listener.accept())?
        {
            stream.set_nonblocking(true)?;
            // The kernel gives a socket its cookie when it is first asked for.
            let _ = states::cookie(stream.as_fd());
            connection.server = Some(stream);
        }
        connection.serve(now < self.stop, self.opens_anew, buffer)?;
        if connection.is_established {
            self.account.delivered += connection.consume(buffer)?;
        }
        let received = connection.received;
        let mut is_over = false;
        while let Some((number, _, before)) = connection.awaited.pop_front_if(|(_, end, _)| *end <= received)
        {
            self.repeats[number] = connection.retransmitted() - before;
            self.client.handle_response(now, number);
            is_over = self.opens_anew;
        }
        if is_over {
            // Before the connection goes, as its counts go with it.
            self.past = self.done();
            self.connection.take().into_iter().for_each(Connection::close);
        }
        Ok(())
    }
}

impl Playing for Asking {
    fn step(&mut self, now: Time, warmup: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>) {
        if !self.has_begun && now >= self.account.played.start {
            self.has_begun = true;
            events.push(self.account.event(now, EventKind::FlowStart, f64::NAN));
            if now >= warmup {
                self.begin_measure(now);
            }
        }
        if self.account.played.failure.is_none()
            && let Err(error) = self.play(now, buffer, events)
        {
            self.account.record_failure(&error);
        }
        if !self.has_stopped && now >= self.stop {
            self.has_stopped = true;
            events.push(self.account.event(now, EventKind::FlowStop, f64::NAN));
            self.account.end_measure(now);
        }
    }

    fn begin_measure(&mut self, now: Time) {
        if self.has_begun {
            let done = self.done();
            self.account.begin_measure(now, done);
        }
    }

    fn sample(&mut self, now: Time, events: &mut Vec<RecordedEvent>) {
        if !self.has_begun {
            return;
        }
        let info = self.connection.as_ref().map_or([None, None], Connection::info);
        let timeouts = self.done().timeouts;
        self.account.sample_tcp(now, info, Some(timeouts), events);
    }

    fn record(&mut self, states: &[Shown]) {
        if let Some(server) = self.connection.as_ref().and_then(|connection| connection.server.as_ref()) {
            self.account.record(states, server.as_fd());
        }
    }

    fn next(&self, now: Time) -> Time {
        let next = Some(self.client.next_request()).filter(|next| *next < self.stop && *next > now);
        let stop = Some(self.stop).filter(|stop| *stop > now);
        next.into_iter().chain(stop).fold(Time::MAX, Time::min)
    }

    fn wait_for(&self, _now: Time, waiting: &mut Vec<(RawFd, bool)>) {
        let Some(connection) = &self.connection else { return };
        let client = connection.client.as_raw_fd();
        if connection.unsent > 0 {
            waiting.push((client, true));
        }
        match &connection.server {
            Some(server) => {
                waiting.push((server.as_raw_fd(), false));
                if connection.owed > 0 {
                    waiting.push((server.as_raw_fd(), true));
                }
            }
            None => waiting.push((self.listener.as_raw_fd(), false)),
        }
        if connection.is_established {
            waiting.push((client, false));
        }
    }

    fn finish(self: Box<Self>, now: Time) -> Played {
        let done = self.done();
        let played = self.account.finish(now, done);
        Played { client: Some((self.client, self.repeats)), ..played }
    }
}
