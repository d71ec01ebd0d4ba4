//! Which user's data a slot carries.

/// A rule by which a base station chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The user that was given the fewest resource elements. Users with data that fill whole slots take turns;
    /// slots are not equally large (broadcast, special slots), so turns alone would not share them equally.
    RoundRobin,
    /// The user with the largest rate now.
    MaxRate,
    /// The user with the largest ratio of its rate now to its mean rate so far, an exponential mean over so
    /// many slots (Viswanath, Tse and Laroia 2002, section II).
    ProportionalFair {
        /// The slots of the mean, t_c.
        slots: f64,
    },
}

/// What a user could have in this slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Bits that the slot carries for this user.
    pub bits: f64,
    /// True if there is data for it.
    pub is_waiting: bool,
}

/// Chooses users for each slot.
#[derive(Clone, Debug)]
pub struct UserScheduler {
    rule: Rule,
    means: Vec<f64>,
    /// What each user was given in this slot.
    given: Vec<f64>,
    /// Resource elements that each user was given, and where the turns are: a user that had no data joins
    /// here (start-time fair queueing, Goyal, Vin and Cheng 1997).
    taken: Vec<u64>,
    turn: u64,
    next: usize,
}

impl UserScheduler {
    /// Returns the scheduler of `users` users.
    pub fn new(rule: Rule, users: usize) -> Self {
        Self {
            rule,
            means: vec![0.0; users],
            given: vec![0.0; users],
            taken: vec![0; users],
            turn: 0,
            next: 0,
        }
    }

    /// Returns the user of a whole slot; `None`: nobody waits.
    pub fn choose(&mut self, candidates: &[Candidate]) -> Option<usize> {
        let chosen = self.pick(candidates);
        if let Some(user) = chosen {
            self.give(user, candidates[user].bits, 1);
        }
        self.end_slot();
        chosen
    }

    /// Returns the user that comes next in this slot; `None`: nobody waits. Users of equal merit take turns.
    pub fn pick(&self, candidates: &[Candidate]) -> Option<usize> {
        let many = candidates.len().min(self.means.len());
        let turns = (0..many).map(|turn| {
            let user = self.next + turn;
            if user >= many { user - many } else { user }
        });
        let mut best: Option<(usize, f64)> = None;
        for user in turns {
            let Candidate { bits, is_waiting } = candidates[user];
            if !is_waiting || bits <= 0.0 {
                continue;
            }
            let merit = match self.rule {
                Rule::RoundRobin => -(self.taken[user].max(self.turn) as f64),
                Rule::MaxRate => bits,
                // A user that never had a slot comes first.
                Rule::ProportionalFair { .. } if self.means[user] <= 0.0 => f64::INFINITY,
                Rule::ProportionalFair { .. } => bits / self.means[user],
            };
            // Strictly more: of equals the first in turn stays.
            if best.is_none_or(|(_, most)| merit > most) {
                best = Some((user, merit));
            }
        }
        best.map(|(user, _)| user)
    }

    /// A user is given `bits` in this slot, in so many resource elements. The next turn begins after it.
    pub fn give(&mut self, user: usize, bits: f64, elements: u64) {
        self.given[user] += bits;
        self.turn = self.turn.max(self.taken[user]);
        self.taken[user] = self.turn + elements;
        self.next = if user + 1 >= self.means.len() { 0 } else { user + 1 };
    }

    /// The slot is full, or nobody waits any more.
    pub fn end_slot(&mut self) {
        if let Rule::ProportionalFair { slots } = self.rule {
            // Users without a grant too: their means fall, and with that their merit rises.
            for (mean, given) in self.means.iter_mut().zip(&mut self.given) {
                *mean += (std::mem::take(given) - *mean) / slots;
            }
        }
    }
}
