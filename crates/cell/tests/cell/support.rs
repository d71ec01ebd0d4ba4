//! A cell under a clock made by hand.

use cogtcp_cell::carrier::{Carrier, Technology};
use cogtcp_cell::errors::ErrorModel;
use cogtcp_cell::frame::{Direction, SlotPattern};
use cogtcp_cell::request::RequestTimes;
use cogtcp_cell::rlc::Mode;
use cogtcp_cell::scheduler::Rule;
use cogtcp_cell::{Buffers, Cell, CellConfig, Departed, Interference, Load, McsChoice, UserConfig};
use cogtcp_units::{Decibel, Duration, Time};
use std::collections::VecDeque;

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const DOWN: Direction = Direction::Downlink;
pub(crate) const UP: Direction = Direction::Uplink;

pub(crate) fn close(measured: f64, theory: f64, tolerance: f64) {
    assert!((measured / theory - 1.0).abs() <= tolerance, "measured {measured}, theory {theory}");
}

/// Queues of packets; a saturated one never ends.
#[derive(Default)]
pub(crate) struct Queues {
    pub(crate) packets: Vec<[VecDeque<u32>; 2]>,
    saturated: [bool; 2],
}

impl Buffers for Queues {
    fn waiting(&self, user: usize, direction: Direction) -> (u64, u64) {
        if self.saturated[direction as usize] {
            // More than any slot takes.
            return (1_500_000, 1000);
        }
        let queue = &self.packets[user][direction as usize];
        (queue.iter().map(|bytes| u64::from(*bytes)).sum(), queue.len() as u64)
    }

    fn take(&mut self, _: Time, user: usize, direction: Direction) -> Option<u32> {
        if self.saturated[direction as usize] {
            Some(1500)
        } else {
            self.packets[user][direction as usize].pop_front()
        }
    }

    fn take_lost(&mut self, now: Time, user: usize, direction: Direction) -> Option<u32> {
        self.take(now, user, direction)
    }
}

/// Destroys everything in a stretch of time.
pub(crate) struct Struck(pub(crate) Time, pub(crate) Time);

pub(crate) fn clear() -> Struck {
    Struck(Time::MAX, Time::MAX)
}

impl Interference for Struck {
    fn strikes(&mut self, _: Direction, from: Time, until: Time) -> bool {
        from < self.1 && until > self.0
    }

    fn garbles(&mut self, _: Direction) -> bool {
        false
    }
}

pub(crate) fn config(users: usize) -> CellConfig {
    CellConfig {
        frame: SlotPattern::fdd(MS).unwrap(),
        carrier: Carrier {
            technology: Technology::Lte,
            blocks: 50,
            layers: 1,
            control_symbols: 2,
            control_blocks: 2,
        },
        error_model: ErrorModel::default(),
        mcs_choice: McsChoice::default(),
        rule: Rule::RoundRobin,
        users: vec![UserConfig { sinr: [Decibel(60.0); 2], delay: [Duration::ZERO; 2] }; users],
        load: Load::default(),
        handover: None,
        drx: None,
        attempts: 4,
        mode: Mode::Acknowledged,
        reordering: MS * 35,
        poll: MS * 45,
        request: RequestTimes { period: MS * 10, offset: MS * 3, to_grant: MS * 4, to_data: MS * 4 },
        first_grant: 100,
        grants: 10,
        coherence: None,
        report_age: Duration::ZERO,
    }
}

/// A cell, its queues, and what has left it.
pub(crate) struct Run {
    pub(crate) cell: Cell,
    pub(crate) queues: Queues,
    pub(crate) left: Vec<(Time, Departed)>,
    pub(crate) steps: u64,
}

impl Run {
    pub(crate) fn new(config: CellConfig, saturated: [bool; 2]) -> Self {
        let users = config.users.len();
        let queues = Queues { packets: (0..users).map(|_| Default::default()).collect(), saturated };
        let mut run = Self { cell: Cell::new(config, 1, "cell"), queues, left: Vec::new(), steps: 0 };
        for (place, direction) in [DOWN, UP].into_iter().enumerate() {
            for user in (0..users).filter(|_| saturated[place]) {
                run.cell.wake(Time::ZERO, user, direction, &run.queues);
            }
        }
        run
    }

    pub(crate) fn play(&mut self, until: Time, air: &mut Struck) {
        loop {
            let at = self.cell.next_change();
            if at > until {
                return;
            }
            self.steps += 1;
            self.cell.step(at, &mut self.queues, air);
            while let Some(departed) = self.cell.poll(at) {
                self.left.push((at, departed));
            }
        }
    }

    pub(crate) fn offer(&mut self, at: Time, user: usize, direction: Direction, bytes: u32) {
        self.queues.packets[user][direction as usize].push_back(bytes);
        self.cell.wake(at, user, direction, &self.queues);
    }

    /// Packets that left, by user.
    pub(crate) fn of(&self, user: usize, direction: Direction) -> f64 {
        self.left
            .iter()
            .filter(|(_, it)| (it.user, it.direction, it.is_lost) == (user, direction, false))
            .count() as f64
    }
}
