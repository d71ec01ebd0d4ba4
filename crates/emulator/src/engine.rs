//! The event loop: waits for packets and for what is due, by epoll and an absolute timer, and never spins.

use crate::clock::{Clock, Timer};
use crate::device::{self, Wire};
use crate::endings::Endings;
use crate::network::EmulatedNetwork;
use crate::observer::Observer;
use crate::packet;
use crate::sys::Poller;
use crate::train::{Sent, Train};
use cogtcp_link::Capacity;
use cogtcp_units::{Duration, Time};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Numbers of what is waited for: the timer, the end of the run, and behind them the hosts.
const STOP: usize = 1;
const HOSTS: usize = 2;
/// Packets that are taken from one side before the other has its turn.
const BATCH: usize = 32;
/// The largest packet of IPv4, and of IPv6 without jumbograms but for its header.
const LARGEST: usize = 65_536;
/// How often the record of packets says what the link could carry.
const CAPACITY_EVERY: Duration = Duration::from_millis(10);

/// A point of a direction's series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) at: Time,
    pub(crate) queue: u64,
    pub(crate) rate_bps: f64,
    pub(crate) throughput_bps: f64,
}

/// What is measured at given times.
#[derive(Debug)]
pub(crate) struct Account {
    /// What each direction of a link could carry since the end of the warm-up.
    pub(crate) available: Vec<u128>,
    pub(crate) warm_at: Time,
    pub(crate) ended_at: Time,
    pub(crate) series: Vec<Vec<Point>>,
}

/// When a run measures and ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) warmup: Time,
    pub(crate) end: Time,
    pub(crate) sample_interval: Duration,
}

/// The loop with all that it moves.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) network: EmulatedNetwork,
    pub(crate) observer: Observer,
    /// Where packets come from: by host.
    entries: Vec<Wire>,
    /// Where programs run: what it takes to end their connections.
    pub(crate) endings: Option<Endings>,
    timer: Timer,
    poller: Poller,
    /// Readable when the run is to end before its time.
    stop: OwnedFd,
}

impl Engine {
    pub(crate) fn new(
        network: EmulatedNetwork,
        observer: Observer,
        entries: Vec<Wire>,
        clock: Clock,
        stop: OwnedFd,
    ) -> io::Result<Self> {
        let timer = Timer::new(clock)?;
        let mut watched = vec![timer.as_fd(), stop.as_fd()];
        watched.extend(entries.iter().map(AsFd::as_fd));
        let poller = Poller::new(&watched)?;
        Ok(Self { network, observer, entries, endings: None, timer, poller, stop })
    }

    /// Runs until the end, or until it is stopped.
    pub(crate) fn run(&mut self, plan: Plan) -> io::Result<Account> {
        let mut account = Account {
            available: Vec::new(),
            warm_at: Time::ZERO,
            ended_at: Time::ZERO,
            series: vec![Vec::new(); self.network.network.directions().len()],
        };
        let mut sampling = Sampling::new(plan, self.network.network.directions().len());
        let mut buffer = vec![0; LARGEST];
        // Without a warm-up what happens at time zero is measured too.
        sampling.catch_up(Time::ZERO, &mut self.network, &mut self.observer, &mut account);
        // Only what is readable is read: in virtual time a call costs more than a packet's way through the
        // network.
        let mut ready = Vec::new();
        let mut until = Time::ZERO;
        loop {
            let now = self.observer.watch.now().min(plan.end);
            self.network.play(now, &mut self.observer);
            self.drive_train(now);
            sampling.catch_up(now, &mut self.network, &mut self.observer, &mut account);
            if now >= plan.end || self.is_stopped(&ready) {
                break;
            }
            // What came may have made something due: no wait before that is played.
            if self.take_packets(plan.end, &mut buffer, &mut ready)? {
                continue;
            }
            let train = self.observer.train.as_ref().map_or(Time::MAX, Train::next);
            let next = self.network.next_change().min(train).min(sampling.next()).min(plan.end);
            if self.observer.watch.is_knowing() {
                self.wait_until(next, &mut buffer, &mut ready, plan.end)?;
                continue;
            }
            // A timer that has expired stays readable until it is set again.
            if next != until || next <= now {
                self.timer.set(next)?;
                until = next;
            }
            self.poller.wait(&mut ready)?;
        }
        // A run that is stopped ends at its last moment, played up to it.
        let now = self.observer.watch.ask().min(plan.end);
        self.network.play(now, &mut self.observer);
        account.ended_at = now;
        let network = &mut self.network.network;
        account.available = (0..network.directions().len())
            .map(|direction| network.available(direction as u32, now))
            .collect();
        Ok(account)
    }

    /// Waits until `next` at most, and knows the time afterwards.
    fn wait_until(
        &mut self,
        next: Time,
        buffer: &mut [u8],
        ready: &mut Vec<usize>,
        end: Time,
    ) -> io::Result<()> {
        let span = self.observer.watch.until(next);
        if span.is_zero() {
            self.observer.watch.reach(next);
        } else if self.poller.wait_for(span.as_nanos(), ready)? {
            self.observer.watch.waited(next);
        } else if ready.contains(&STOP) || !self.take_packets(end, buffer, ready)? {
            // No packet says when this was.
            self.observer.watch.ask();
        }
        Ok(())
    }

    /// Takes what the kernels of the hosts in `ready` have sent, or of all hosts, where to look needs no call.
    /// Returns whether there was anything.
    fn take_packets(&mut self, end: Time, buffer: &mut [u8], ready: &mut Vec<usize>) -> io::Result<bool> {
        if self.observer.watch.is_knowing() {
            ready.clear();
            ready.extend((0..self.entries.len()).map(|host| HOSTS + host));
        }
        let mut any = false;
        for host in ready.drain(..).filter_map(|number| number.checked_sub(HOSTS)) {
            for _ in 0..BATCH {
                let Some((size, stamp)) = self.entries[host].receive_stamped(buffer)? else { break };
                any = true;
                self.observer.watch.reach_stamp(stamp);
                // Again for each packet: a batch takes its time.
                let now = self.observer.watch.now().min(end);
                if let Some(endings) = &mut self.endings {
                    endings.outgoing(host, &buffer[..size]);
                }
                if let Some(train) = &mut self.observer.train {
                    train.outgoing(now, host, &mut buffer[..size]);
                }
                self.offer(now, host, &buffer[..size]);
            }
        }
        Ok(any)
    }

    /// A packet comes from a host.
    fn offer(&mut self, now: Time, host: usize, bytes: &[u8]) {
        // To nobody: a multicast of the kernel's, say.
        let stream = packet::destination(bytes)
            .and_then(|(network, to)| self.network.routes().stream_in(network, host, to));
        let Some(stream) = stream else { return };
        if let Some(packet) = self.observer.take(now, bytes) {
            self.network.offer(now, stream, packet, bytes.len() as u32, &mut self.observer);
        }
    }

    /// Lets the router of a train do what is due, and sends what it and its clients' managers send.
    fn drive_train(&mut self, now: Time) {
        if let Some(train) = &mut self.observer.train {
            train.step(now);
        }
        while let Some(sent) = self.observer.train.as_mut().and_then(Train::poll) {
            match sent {
                Sent::From(host, bytes) => self.offer(now, host, &bytes),
                Sent::Into(host, bytes) => self.observer.put(host, &bytes),
            }
        }
    }

    fn is_stopped(&self, ready: &[usize]) -> bool {
        let failed = self.observer.journal.as_ref().is_some_and(|journal| journal.has_failed());
        let is_raised =
            || device::receive(self.stop.as_fd(), &mut [0; 8]).is_ok_and(|raised| raised.is_some());
        failed || (ready.contains(&STOP) && is_raised())
    }
}

/// What is measured when.
#[derive(Debug)]
struct Sampling {
    plan: Plan,
    next_sample: Time,
    sampled_at: Time,
    carried: Vec<f64>,
    next_capacity: Time,
    capacity: Vec<u128>,
    is_warm: bool,
}

impl Sampling {
    fn new(plan: Plan, directions: usize) -> Self {
        Self {
            plan,
            next_sample: Time::ZERO + plan.sample_interval,
            sampled_at: Time::ZERO,
            carried: vec![0.0; directions],
            next_capacity: Time::ZERO + CAPACITY_EVERY,
            capacity: vec![0; directions],
            is_warm: false,
        }
    }

    fn next(&self) -> Time {
        if self.is_warm { self.next_sample } else { self.next_sample.min(self.plan.warmup) }
    }

    /// Measures what is due by `now`. A sample that was missed is not made up for: the next one covers its
    /// time too.
    fn catch_up(
        &mut self,
        now: Time,
        network: &mut EmulatedNetwork,
        observer: &mut Observer,
        account: &mut Account,
    ) {
        if !self.is_warm && now >= self.plan.warmup {
            self.is_warm = true;
            observer.begin_measure(now);
            account.warm_at = now;
            network.network.end_warmup(now);
        }
        if now >= self.next_sample {
            self.sample(now, network, account);
        }
        if let Some(journal) = &mut observer.journal
            && now >= self.next_capacity
        {
            for direction in 0..network.network.directions().len() {
                let available = network.network.direction(direction as u32).capacity(now).available;
                let bytes = Capacity::bytes(available - self.capacity[direction]) as u32;
                journal.capacity(now, direction, bytes);
                self.capacity[direction] = available;
            }
            self.next_capacity = now + CAPACITY_EVERY;
        }
    }

    fn sample(&mut self, now: Time, network: &mut EmulatedNetwork, account: &mut Account) {
        let span = now.saturating_since(self.sampled_at).as_secs_f64();
        for direction in 0..network.network.directions().len() {
            let link = network.network.direction(direction as u32);
            let carried = link.carried(now);
            let throughput_bps = (carried - self.carried[direction]) * 8.0 / span;
            self.carried[direction] = carried;
            account.series[direction].push(Point {
                at: now,
                queue: link.queue_length(now),
                rate_bps: link.rate_at(now).bits_per_second() as f64,
                throughput_bps,
            });
        }
        self.sampled_at = now;
        while self.next_sample <= now {
            self.next_sample += self.plan.sample_interval;
        }
    }
}
