//! How often Linux answers segments that bring nothing: SYNs again, empty segments outside the window.

use cogtcp_units::{Duration, Time};

/// Of one connection (`__tcp_oow_rate_limited`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Challenges {
    last: Option<Time>,
}

impl Challenges {
    /// Whether an answer may go now; then none may for `interval`.
    pub(crate) fn allow(&mut self, now: Time, interval: Duration) -> bool {
        let allows = self.last.is_none_or(|last| now.saturating_since(last) >= interval);
        if allows {
            self.last = Some(now);
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_half_a_second_is_answered() {
        let mut challenges = Challenges::default();
        let half = Duration::from_millis(500);
        let ms = [0, 1, 499, 500, 999, 1000].map(|at| challenges.allow(Time::from_millis(at), half));
        assert_eq!(ms, [true, false, false, true, false, true]);
    }
}
