//! The timer wheel of a host (Linux's since 4.8; Gleixner: timers, "switch to a non-cascading wheel").

use crate::{TimeoutRules, Timers};
use cogtcp_units::{Duration, Time};

/// A host's timer wheel.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wheel {
    /// Its tick (1/HZ); zero: timers are exact.
    pub tick: Duration,
    /// What its clock reads when time begins.
    pub phase: Duration,
}

impl Wheel {
    /// When a timer fires that is set at `now` and due at `at`: never before.
    pub(crate) fn fires(self, now: Time, at: Time) -> Time {
        let tick = self.tick.as_nanos();
        if tick == 0 || at == Time::MAX {
            return at;
        }
        let phase = self.phase.as_nanos();
        let ticks = at.saturating_since(now).as_nanos().div_ceil(tick);
        let mut granularity = 1;
        // Linux's `LVL_START`: a level spans 63 buckets, each level is 8 times coarser; 9 levels at over 100 Hz.
        while ticks >= 63 * granularity && granularity < 1 << 24 {
            granularity *= 8;
        }
        // One bucket later, so that no timer fires early (`calc_index`).
        let fires = self.expires(now, at) / granularity + 1;
        Time::from_nanos(fires.saturating_mul(granularity).saturating_mul(tick).saturating_sub(phase))
    }

    /// What its clock reads, in ticks, when a timer runs out that is set at `now` and due at `at`.
    fn expires(self, now: Time, at: Time) -> u64 {
        let tick = self.tick.as_nanos().max(1);
        (now.as_nanos() + self.phase.as_nanos()) / tick + at.saturating_since(now).as_nanos().div_ceil(tick)
    }

    /// Whether a timer that was set at `set_at`, due at `due`, keeps its bucket when it is set at `now`, due at `at`. It does
    /// if it runs out at the same tick (`__mod_timer`), and fires as coarsely as its first span asked for.
    #[inline]
    pub(crate) fn stays(self, (set_at, due): (Time, Time), (now, at): (Time, Time)) -> bool {
        // `LVL_START` ticks, and what is more than that by a level.
        let near = self.tick * 63;
        let (first, second) = (due.saturating_since(set_at), at.saturating_since(now));
        let may_differ = (first < near) != (second < near) || first.min(second) >= near * 7;
        let apart = if due < at { at.saturating_since(due) } else { due.saturating_since(at) };
        may_differ && apart < self.tick && self.expires(set_at, due) == self.expires(now, at)
    }
}

impl Wheel {
    /// What its clock reads at `now`, in whole ticks (jiffies).
    pub(crate) fn clock(self, now: Time) -> Time {
        Time::from_nanos(self.whole(now.as_nanos() + self.phase.as_nanos()))
    }

    /// A span in whole ticks, rounded down.
    pub(crate) fn floor(self, span: Duration) -> Duration {
        Duration::from_nanos(self.whole(span.as_nanos()))
    }

    fn whole(self, nanos: u64) -> u64 {
        let tick = self.tick.as_nanos().max(1);
        nanos / tick * tick
    }
}

impl Timers {
    /// True if each fires when it is due: there is no wheel.
    #[inline]
    pub(crate) fn are_exact(&self) -> bool {
        self.timer_tick.is_zero() && self.timeout_rules != TimeoutRules::Linux
    }

    /// The wheel that fires them.
    pub fn wheel(&self) -> Wheel {
        Wheel { tick: self.timer_tick, phase: self.timer_phase.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tick of 4 ms, by hand. Near timers fire at the next tick but one at most. Timers from 63 ticks (252
    /// ms) on fire at multiples of 8 ticks (32 ms), from 504 ticks (2016 ms) on at multiples of 64 (256 ms).
    #[test]
    fn the_wheel_rounds_up() {
        let ms = Time::from_millis;
        assert_eq!(Wheel::default().fires(ms(10), ms(311)), ms(311));
        let wheel = Wheel { tick: Duration::from_millis(4), phase: Duration::ZERO };
        let fires = |at| wheel.fires(ms(10), ms(at));
        assert_eq!((fires(10), fires(11), fires(210)), (ms(12), ms(16), ms(212)));
        assert_eq!((fires(310), fires(1034)), (ms(320), ms(1056)));
        assert_eq!(fires(2710), ms(2816));
        // The wheel's clock is 6 ms ahead: multiples of 32 ms come 6 ms before ours.
        let ahead = Wheel { phase: Duration::from_millis(6), ..wheel };
        assert_eq!((ahead.fires(ms(10), ms(310)), ahead.fires(ms(10), ms(318))), (ms(314), ms(346)));
    }

    /// `__mod_timer`: a timer keeps its bucket if it is set to the tick at which it runs out already. At first 260 ms, 65
    /// ticks, have a bucket of 8 ticks. After 50 ms 53 ticks are left; a new timer would have a bucket of one tick.
    #[test]
    fn a_timer_set_to_the_same_tick_stays() {
        let ms = Time::from_millis;
        let wheel = Wheel { tick: Duration::from_millis(4), phase: Duration::ZERO };
        assert!(wheel.stays((ms(0), ms(260)), (ms(50), ms(260))));
        assert_eq!((wheel.fires(ms(0), ms(260)), wheel.fires(ms(50), ms(260))), (ms(288), ms(264)));
        // Of another tick, or as near as before.
        assert!(!wheel.stays((ms(0), ms(260)), (ms(50), ms(263))));
        assert!(!wheel.stays((ms(0), ms(200)), (ms(50), ms(200))));
    }
}
