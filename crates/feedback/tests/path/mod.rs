//! Both ends of a connection over a path that is driven by hand, for dialogues.
#![allow(dead_code, reason = "each file of tests needs a part")]

use cogtcp_endpoint::{Datagram, Endpoint, EndpointEvent, Outgoing, Received, Supply};
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// What lies between the ends.
pub(crate) trait Link {
    /// Propagation, each way.
    const ONE_WAY: Duration;

    /// Packet `number` leaves the sender. Returns when its last bit is on the link, and whether it is marked;
    /// `None`: it is lost.
    fn carry(&mut self, now: Time, number: u64, packet: &Datagram) -> Option<(Time, bool)>;

    /// A packet of the sender arrives `after` so long.
    fn pass(&mut self, _now: Time, _after: Duration, _packet: &mut Datagram) {}
}

/// A packet under way.
#[derive(Debug)]
struct Flying {
    to_receiver: bool,
    left: Time,
    is_marked: bool,
    packet: Datagram,
}

/// Both ends, and the packets between them.
#[derive(Debug)]
pub(crate) struct Path<S, R, L> {
    pub(crate) sender: S,
    pub(crate) receiver: R,
    pub(crate) link: L,
    pub(crate) now: Time,
    /// When packets left the sender, and the receiver.
    pub(crate) sent: Vec<f64>,
    pub(crate) reports: Vec<f64>,
    /// What the sender told.
    pub(crate) events: Vec<(Time, EndpointEvent)>,
    flying: BTreeMap<(Time, u64), Flying>,
    order: u64,
}

pub(crate) fn seconds(s: f64) -> Time {
    Time::from_secs_f64(s)
}

impl<S: Endpoint<Packet = Datagram>, R: Endpoint<Packet = Datagram>, L: Link> Path<S, R, L> {
    pub(crate) fn new(sender: S, receiver: R, link: L) -> Self {
        Self {
            sender,
            receiver,
            link,
            now: Time::ZERO,
            sent: Vec::new(),
            reports: Vec::new(),
            events: Vec::new(),
            flying: BTreeMap::new(),
            order: 0,
        }
    }

    /// The same, open, with an application that always has data.
    pub(crate) fn saturated(sender: S, receiver: R, link: L) -> Self {
        let mut path = Self::new(sender, receiver, link);
        path.sender.supply(Time::ZERO, Supply::Saturated(true));
        path.sender.open(Time::ZERO);
        path
    }

    /// Carries what both ends send now, and takes what they tell.
    pub(crate) fn pump(&mut self) {
        let (now, left) = (self.now.as_secs_f64(), self.now);
        while let Some(Outgoing { packet, .. }) = self.sender.poll_transmit(left) {
            let number = self.sent.len() as u64;
            self.sent.push(now);
            if let Some((done, is_marked)) = self.link.carry(left, number, &packet) {
                self.insert(done + L::ONE_WAY, Flying { to_receiver: true, left, is_marked, packet });
            }
        }
        while let Some(Outgoing { packet, .. }) = self.receiver.poll_transmit(left) {
            self.reports.push(now);
            let flying = Flying { to_receiver: false, left, is_marked: false, packet };
            self.insert(left + L::ONE_WAY, flying);
        }
        while let Some(event) = self.sender.poll_event() {
            self.events.push((left, event));
        }
        while self.receiver.poll_event().is_some() {}
    }

    /// How many packets left the sender from one time to before another.
    pub(crate) fn packets(&self, from: f64, until: f64) -> usize {
        self.sent.iter().filter(|at| (from..until).contains(*at)).count()
    }

    fn insert(&mut self, at: Time, flying: Flying) {
        self.order += 1;
        self.flying.insert((at, self.order), flying);
    }

    /// Plays all that happens until then.
    pub(crate) fn run(&mut self, until: f64) -> &mut Self {
        let until = seconds(until);
        self.pump();
        loop {
            let arrival = self.flying.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
            let next = arrival.min(self.sender.poll_timeout()).min(self.receiver.poll_timeout());
            if next > until {
                self.now = until;
                return self;
            }
            assert!(next >= self.now, "time ran backwards");
            self.now = next;
            if arrival == next
                && let Some((_, flying)) = self.flying.pop_first()
            {
                self.arrive(flying);
            }
            if self.sender.poll_timeout() <= next {
                self.sender.handle_timeout(next);
            }
            if self.receiver.poll_timeout() <= next {
                self.receiver.handle_timeout(next);
            }
            self.pump();
        }
    }

    fn arrive(&mut self, flying: Flying) {
        let Flying { to_receiver, left, is_marked, mut packet } = flying;
        if to_receiver {
            self.link.pass(self.now, self.now - left, &mut packet);
        }
        let received = Received { packet: &packet, path: Default::default(), marked: is_marked };
        match to_receiver {
            true => self.receiver.handle_packet(self.now, received),
            false => self.sender.handle_packet(self.now, received),
        }
    }
}
