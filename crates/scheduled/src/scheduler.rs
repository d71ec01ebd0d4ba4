//! Whose data a slot carries.

/// A rule by which a base station chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// One after the other.
    RoundRobin,
    /// The user with the largest rate now.
    MaxRate,
    /// The user with the largest ratio of its rate now to its mean rate so far, an exponential mean over so many slots
    /// (Viswanath, Tse and Laroia 2002, section II).
    ProportionalFair {
        /// The slots of the mean, t_c.
        slots: f64,
    },
}

/// What a user could have in this slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Bits that the slot carries for this user.
    pub bits: f64,
    /// True if there is data for it.
    pub is_waiting: bool,
}

/// Chooses a user for each slot.
#[derive(Clone, Debug)]
pub struct Scheduler {
    rule: Rule,
    means: Vec<f64>,
    next: usize,
}

impl Scheduler {
    /// Returns the scheduler of `users` users.
    pub fn new(rule: Rule, users: usize) -> Self {
        Self { rule, means: vec![0.0; users], next: 0 }
    }

    /// Returns the user of this slot; `None`: nobody waits. The users of equal merit take turns.
    pub fn choose(&mut self, candidates: &[Candidate]) -> Option<usize> {
        let many = candidates.len().min(self.means.len());
        let turns = (0..many).map(|turn| (self.next + turn) % many);
        let mut best: Option<(usize, f64)> = None;
        for user in turns.filter(|user| candidates[*user].is_waiting && candidates[*user].bits > 0.0) {
            let bits = candidates[user].bits;
            let merit = match self.rule {
                Rule::RoundRobin => 0.0,
                Rule::MaxRate => bits,
                // A user that never had a slot comes first.
                Rule::ProportionalFair { .. } if self.means[user] <= 0.0 => f64::INFINITY,
                Rule::ProportionalFair { .. } => bits / self.means[user],
            };
            if best.is_none_or(|(_, most)| merit > most) {
                best = Some((user, merit));
            }
        }
        let chosen = best.map(|(user, _)| user);
        if let Rule::ProportionalFair { slots } = self.rule {
            for (user, mean) in self.means.iter_mut().enumerate().take(many) {
                let served = if chosen == Some(user) { candidates[user].bits } else { 0.0 };
                *mean += (served - *mean) / slots;
            }
        }
        self.next = chosen.map_or(self.next, |user| (user + 1) % many);
        chosen
    }
}
