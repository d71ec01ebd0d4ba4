//! Looks: who looks at hosts and links, and what must be played before.
//!
//! | who looks | at | known before |
//! |---|---|---|
//! | a timer, an application, or news of a radio at a host | this host | the host alone is late |
//! | a flow that starts or stops, with its budget | its hosts, links | declared |
//! | the end of the warm-up, a sample of the series | all hosts, links | declared |
//! | a flow that is complete, with its budget | links ([`Network::look_now`]) | no |
//! | a pause, the end of the run | all hosts, links | [`Network::play_to`] |
//!
//! A packet that arrives at a declared look or later has its turn: counters of links are then what they are
//! packet by packet. A look that nobody declared reads integrals over time and what has been carried, which
//! no packet on its way changes. A radio looks at its own links, and those hand nothing on (`plan`).

use super::Network;
use crate::observer::Observer;
use crate::payload::Payload;
use cogtcp_units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The hosts of a network, in the hands of its driver.
pub trait LateHosts<P: Payload> {
    /// Receives reports of packets.
    type Observer: Observer<P>;

    /// Returns the network and the observer of its packets.
    fn network(&mut self) -> (&mut Network<P>, &mut Self::Observer);

    /// Plays the host at the end of `direction`, which takes its packets in batches: packets that arrive before
    /// `until`, and its timers between them.
    fn play(&mut self, direction: u32, until: Time);
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// The hosts at the ends of these link directions.
    Hosts([Option<u32>; 2]),
    /// These hosts and all links, as declared ([`Network::declare_look`]).
    Links([Option<u32>; 2]),
    /// All hosts and all links, as declared.
    All,
}

/// Declared looks, and the hosts that may be late.
#[derive(Debug, Default)]
pub(in crate::network) struct Looks {
    declared: BinaryHeap<Reverse<Time>>,
    /// The driver plays up to here.
    until: Time,
    /// The link directions to hosts that take their packets in batches.
    hosts: Vec<u32>,
}

impl Looks {
    /// Adds the host at the end of `direction`, which may be late.
    pub(super) fn add_host(&mut self, direction: u32) {
        self.hosts.push(direction);
    }
}

impl<P: Payload> Network<P> {
    /// Declares a look at links ([`Look::Links`], [`Look::All`]) at `at`.
    pub fn declare_look(&mut self, at: Time) {
        self.looks.declared.push(Reverse(at));
        self.move_horizon();
    }

    /// Sets the time up to which the driver plays: then it looks at everything.
    pub fn play_to(&mut self, until: Time) {
        self.looks.until = until;
        self.move_horizon();
    }

    /// Plays the packets that have reached their links now, before the event that is played. Who looks then has
    /// declared nothing.
    pub fn look_now(&mut self, now: Time, observer: &mut impl Observer<P>) {
        self.play_inlets(now, observer);
    }

    /// Returns how many hosts may be late.
    pub fn late_hosts(&self) -> usize {
        self.looks.hosts.len()
    }

    fn move_horizon(&mut self) {
        let declared = self.looks.declared.peek().map_or(Time::MAX, |Reverse(at)| *at);
        self.horizon = self.looks.until.min(declared);
    }
}

/// Plays what must be played before somebody looks at `at`, then calls `act`, which looks.
#[inline]
pub fn look<P: Payload, H: LateHosts<P>>(hosts: &mut H, at: Time, look: Look, act: impl FnOnce(&mut H)) {
    match look {
        Look::Hosts(directions) | Look::Links(directions) => {
            directions.into_iter().flatten().for_each(|direction| _ = play(hosts, direction, at));
        }
        Look::All => _ = play_all(hosts, at),
    }
    if let Look::Hosts(_) = look {
        return act(hosts);
    }
    let (network, observer) = hosts.network();
    network.play_inlets_to(at, observer);
    act(hosts);
    // After it: while somebody looks, no packet is handed on.
    let looks = &mut hosts.network().0.looks;
    let declared = looks.declared.pop();
    debug_assert_eq!(declared, Some(Reverse(at)), "whoever looks at links declares it");
    hosts.network().0.move_horizon();
}

/// Plays what is late up to `until`, where the driver stops. Returns whether anything is due by then.
pub fn finish<P: Payload, H: LateHosts<P>>(hosts: &mut H, until: Time) -> bool {
    // Whatever packets of `until` lead to happens later.
    let found = play_all(hosts, until + Duration::from_nanos(1));
    let (network, observer) = hosts.network();
    network.play_inlets_to(until, observer);
    found || network.next_change() <= until
}

fn play_all<P: Payload, H: LateHosts<P>>(hosts: &mut H, until: Time) -> bool {
    let mut found = false;
    for place in 0..hosts.network().0.looks.hosts.len() {
        let direction = hosts.network().0.looks.hosts[place];
        found |= play(hosts, direction, until);
    }
    found
}

#[inline]
fn play<P: Payload, H: LateHosts<P>>(hosts: &mut H, direction: u32, until: Time) -> bool {
    let is_late = hosts.network().0.next_in_batch(direction) < until;
    if is_late {
        hosts.play(direction, until);
    }
    is_late
}
