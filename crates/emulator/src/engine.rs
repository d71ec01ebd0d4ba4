//! The event loop: waits for packets and for what is due, by epoll and an absolute timer, and never spins.

use crate::clock::{Clock, Timer};
use crate::device;
use crate::observer::Observer;
use crate::path::{Direction, Path};
use crate::sys::Poller;
use cogtcp_link::{Capacity, LinkCounters};
use cogtcp_spectrum::RadioStats;
use cogtcp_units::{Duration, Time};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Packets that are taken from one side before the other has its turn.
const BATCH: usize = 32;
/// The largest packet that IPv4 knows.
const LARGEST: usize = 65_536;
/// How often the record of packets says what the link could carry.
const CAPACITY_EVERY: Duration = Duration::from_millis(10);

/// What a direction had done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) counters: LinkCounters,
    pub(crate) capacity: Capacity,
    pub(crate) carried: f64,
    pub(crate) marked: u64,
    pub(crate) queue_integral: u64,
}

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
    /// At the end of the warm-up, and now.
    pub(crate) warm: [Standing; 2],
    pub(crate) end: [Standing; 2],
    pub(crate) warm_radio: Option<RadioStats>,
    pub(crate) end_radio: Option<RadioStats>,
    pub(crate) warm_at: Time,
    pub(crate) ended_at: Time,
    pub(crate) series: [Vec<Point>; 2],
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
    pub(crate) path: Path,
    pub(crate) observer: Observer,
    /// Where packets come from: by direction.
    entries: [OwnedFd; 2],
    clock: Clock,
    timer: Timer,
    poller: Poller,
    /// Readable when the run is to end before its time.
    stop: OwnedFd,
}

impl Engine {
    pub(crate) fn new(
        path: Path,
        observer: Observer,
        entries: [OwnedFd; 2],
        clock: Clock,
        stop: OwnedFd,
    ) -> io::Result<Self> {
        let timer = Timer::new(clock)?;
        let poller = Poller::new(&[entries[0].as_fd(), entries[1].as_fd(), timer.as_fd(), stop.as_fd()])?;
        Ok(Self { path, observer, entries, clock, timer, poller, stop })
    }

    /// Runs until the end, or until it is stopped.
    pub(crate) fn run(&mut self, plan: Plan) -> io::Result<Account> {
        let mut account = Account {
            warm: Default::default(),
            end: Default::default(),
            warm_radio: None,
            end_radio: None,
            warm_at: Time::ZERO,
            ended_at: Time::ZERO,
            series: Default::default(),
        };
        let mut sampling = Sampling::new(plan);
        let mut buffer = vec![0; LARGEST];
        loop {
            let now = self.clock.now().min(plan.end);
            self.path.play(now, &mut self.observer);
            sampling.catch_up(now, &mut self.path, &mut self.observer, &mut account);
            if now >= plan.end || self.is_stopped() {
                break;
            }
            if self.take_packets(plan.end, &mut buffer)? {
                continue;
            }
            self.timer.set(self.path.next().min(sampling.next()).min(plan.end))?;
            self.poller.wait()?;
        }
        let now = self.clock.now().min(plan.end);
        self.path.play(now, &mut self.observer);
        account.ended_at = now;
        account.end = standing(&mut self.path, now);
        account.end_radio = self.path.radio_stats(now);
        Ok(account)
    }

    /// Takes what the kernels have sent. Returns whether there was anything.
    fn take_packets(&mut self, end: Time, buffer: &mut [u8]) -> io::Result<bool> {
        let mut any = false;
        for direction in 0..2 {
            for _ in 0..BATCH {
                let Some(size) = device::receive(self.entries[direction].as_fd(), buffer)? else { break };
                any = true;
                let now = self.clock.now().min(end);
                if let Some(packet) = self.observer.take(now, direction, &buffer[..size]) {
                    self.path.offer(now, direction, packet, size as u32, &mut self.observer);
                }
            }
        }
        Ok(any)
    }

    fn is_stopped(&self) -> bool {
        let failed = self.observer.journal.as_ref().is_some_and(|journal| journal.has_failed());
        failed || device::receive(self.stop.as_fd(), &mut [0; 8]).is_ok_and(|raised| raised.is_some())
    }
}

fn standing(path: &mut Path, now: Time) -> [Standing; 2] {
    [0, 1].map(|direction: Direction| {
        let link = path.link(direction);
        Standing {
            carried: link.carried(now),
            queue_integral: link.queue_integral(now),
            capacity: link.capacity(now),
            counters: *link.counters(),
            marked: link.marked(),
        }
    })
}

/// What is measured when.
#[derive(Debug)]
struct Sampling {
    plan: Plan,
    next_sample: Time,
    sampled_at: Time,
    carried: [f64; 2],
    next_capacity: Time,
    capacity: [u128; 2],
    is_warm: bool,
}

impl Sampling {
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            next_sample: Time::ZERO + plan.sample_interval,
            sampled_at: Time::ZERO,
            carried: [0.0; 2],
            next_capacity: Time::ZERO + CAPACITY_EVERY,
            capacity: [0; 2],
            is_warm: false,
        }
    }

    fn next(&self) -> Time {
        if self.is_warm { self.next_sample } else { self.next_sample.min(self.plan.warmup) }
    }

    /// Measures what is due by `now`. A sample that was missed is not made up for: the next one covers its time too.
    fn catch_up(&mut self, now: Time, path: &mut Path, observer: &mut Observer, account: &mut Account) {
        if !self.is_warm && now >= self.plan.warmup {
            self.is_warm = true;
            observer.is_warm = true;
            account.warm = standing(path, now);
            account.warm_radio = path.radio_stats(now);
            account.warm_at = now;
            (0..2).for_each(|direction| path.link(direction).restart_maximum(now));
        }
        if now >= self.next_sample {
            self.sample(now, path, account);
        }
        if let Some(journal) = &mut observer.journal
            && now >= self.next_capacity
        {
            for direction in 0..2 {
                let available = path.link(direction).capacity(now).available;
                let bytes = Capacity::bytes(available - self.capacity[direction]) as u32;
                journal.capacity(now, direction, bytes);
                self.capacity[direction] = available;
            }
            self.next_capacity = now + CAPACITY_EVERY;
        }
    }

    fn sample(&mut self, now: Time, path: &mut Path, account: &mut Account) {
        let span = now.saturating_since(self.sampled_at).as_secs_f64();
        for direction in 0..2 {
            let link = path.link(direction);
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
