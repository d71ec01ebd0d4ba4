//! One radio as it listens: what is in the air around it, and which frame of it it receives.

use crate::{Capture, CarrierSense, ExchangeFailure};
use cogtcp_units::{Duration, Time};

/// The frame that the radio is set on. When it began and ends the medium knows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Lock {
    pub(crate) power: f64,
    /// Power of the others at the worst moment so far, W.
    pub(crate) worst: f64,
    frame: u32,
    /// Why it is lost already.
    pub(crate) spoiled: Option<ExchangeFailure>,
}

/// No frame.
const NONE: u32 = u32::MAX;

/// How loud a frame is at a receiver: worked out when it begins to arrive, and taken away again when it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    /// Received power, W.
    pub(crate) power: f64,
    /// Received power in the steps in which powers are added.
    steps: i64,
}

/// A frame that begins to arrive, as all its hearers see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) frame: u32,
    pub(crate) from: Time,
    pub(crate) until: Time,
    /// Least signal to the rest, and least power.
    pub(crate) needs: (f64, f64),
}

/// Thresholds and rules, the same for all radios of a medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listening {
    pub(crate) capture: Capture,
    pub(crate) carrier_sense: CarrierSense,
    pub(crate) threshold: f64,
    /// Power of the noise beside which preambles are detected, W.
    pub(crate) noise: f64,
    /// Powers are added in whole steps of this many watts: a sum does not depend on who came and left in
    /// which order.
    pub(crate) step: f64,
}

/// So long a radio hears a preamble before it is set on a frame, where that matters ([`Capture::Preamble`];
/// ns-3's `GetPreambleDetectionDuration`).
const DETECTION: Duration = Duration::from_micros(4);

/// 64 of the loudest frames fit into a sum.
const LOUDEST: f64 = (1u64 << 57) as f64;

impl Listening {
    /// The step for a cut-off and the greatest power that can arrive: a 65,536th of the cut-off, or so that
    /// sums fit.
    pub(crate) fn step_for(cutoff: f64, loudest: f64) -> f64 {
        // A cutoff of zero must not make a step of zero.
        (cutoff / 65_536.0).max(loudest / LOUDEST).max(f64::MIN_POSITIVE)
    }

    /// The strength of a frame of `power` watts.
    pub(crate) fn strength(&self, power: f64) -> Strength {
        // Louder than was announced: cut, so that a sum of them still fits.
        Strength { power, steps: (power / self.step).min(LOUDEST) as i64 }
    }

    fn watts(&self, steps: i64) -> f64 {
        steps as f64 * self.step
    }
}

/// The receiving half of a radio, in half a line of memory: every frame nearby touches it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Power of all frames in the air, in steps.
    total: i64,
    power: f64,
    worst: f64,
    /// The frame that it is set on, or [`NONE`].
    frame: u32,
    /// Frames above the carrier-sense threshold: far fewer than 65,536 senders are in reach.
    carriers: u16,
    spoiled: Option<ExchangeFailure>,
}

const _: () = assert!(size_of::<Receiver>() == 32, "half a line of memory");

impl Default for Receiver {
    fn default() -> Self {
        Self { total: 0, power: 0.0, worst: 0.0, frame: NONE, carriers: 0, spoiled: None }
    }
}

impl Receiver {
    #[inline]
    fn lock(&self) -> Option<Lock> {
        let Self { power, worst, frame, spoiled, .. } = *self;
        (frame != NONE).then_some(Lock { power, worst, frame, spoiled })
    }

    #[inline]
    fn set_lock(&mut self, lock: Lock) {
        let Lock { power, worst, frame, spoiled } = lock;
        (self.power, self.worst, self.frame, self.spoiled) = (power, worst, frame, spoiled);
    }

    /// Whether the medium is busy around it.
    #[inline]
    pub(crate) fn is_busy(&self, rules: &Listening) -> bool {
        match rules.carrier_sense {
            CarrierSense::EachFrame => self.carriers > 0,
            CarrierSense::TotalPower => rules.watts(self.total) >= rules.threshold,
        }
    }

    /// The frame that it is set on, by number; none has the greatest.
    #[inline]
    pub(crate) fn set_on(&self) -> u32 {
        self.frame
    }

    /// Whether a frame that can still be received is arriving.
    pub(crate) fn is_receiving(&self) -> bool {
        self.frame != NONE && self.spoiled.is_none()
    }

    /// A frame begins to arrive at `new.from`; two that begin within `together` of each other count as begun
    /// at once, and the stronger as the first. `deaf`: why it cannot be received whatever else is in the air
    /// (silence, own sending); `span`: from when until when a frame that is in the air is heard. Returns why
    /// it will not be received, as far as is known.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        rules: &Listening,
        new: &Incoming,
        strength: Strength,
        deaf: Option<ExchangeFailure>,
        together: Duration,
        span: impl Fn(u32) -> (Time, Time),
    ) -> Option<ExchangeFailure> {
        let (capture, sensitivity) = new.needs;
        let Strength { power, steps } = strength;
        let weak = power < sensitivity;
        // Before the frame itself is added.
        let others = rules.watts(self.total);
        self.total += steps;
        self.carriers += u16::from(power >= rules.threshold);
        let spoiled = deaf.or(weak.then_some(ExchangeFailure::OutOfReach));
        let fresh = Lock { power, worst: others, frame: new.frame, spoiled };
        let Some(old) = self.lock() else {
            // Only ns-2's radio is occupied by a frame that it cannot receive.
            if rules.capture != Capture::Pairwise && spoiled.is_some() {
                return spoiled;
            }
            if rules.capture == Capture::Preamble && power < capture * (rules.noise + others) {
                return Some(ExchangeFailure::Collided);
            }
            self.set_lock(fresh);
            return None;
        };
        if rules.capture == Capture::Preamble {
            return self.detect(rules, new, fresh, old, span(old.frame).0);
        }
        let (began, until) = span(old.frame);
        let at_once = new.from <= began + together && power > old.power;
        if rules.capture == Capture::Pairwise {
            let lasts = if at_once { (new.until, until) } else { (until, new.until) };
            let (first, second) = if at_once { (fresh, old) } else { (old, fresh) };
            self.set_lock(Self::pair(first, second, capture, lasts));
        } else {
            // Everything in the air but the frame that it is set on.
            self.worst = old.worst.max(rules.watts(self.total - rules.strength(old.power).steps));
            let stands_out = rules.capture == Capture::SinrAny && power >= capture * others;
            if spoiled.is_none() && (at_once || stands_out) {
                self.set_lock(fresh);
            }
        }
        (self.frame != new.frame).then_some(spoiled.unwrap_or(ExchangeFailure::Collided))
    }

    /// A frame begins while the radio is set on one that began at `began`. Returns why the new one will not
    /// be received.
    #[inline(never)]
    fn detect(
        &mut self,
        rules: &Listening,
        new: &Incoming,
        fresh: Lock,
        old: Lock,
        began: Time,
    ) -> Option<ExchangeFailure> {
        let beside = |power: f64| rules.watts(self.total - rules.strength(power).steps);
        let stands_out = |power: f64| power >= new.needs.0 * (rules.noise + beside(power));
        let is_detected = fresh.spoiled.is_none() && stands_out(fresh.power);
        if old.spoiled.is_some() {
            // The radio has left that frame to send, and listens again.
            if is_detected {
                self.set_lock(fresh);
            }
        } else if new.from >= began + DETECTION {
            self.worst = old.worst.max(beside(old.power));
        } else if fresh.power > old.power && is_detected {
            self.set_lock(fresh);
        } else if stands_out(old.power) {
            self.worst = old.worst.max(beside(old.power));
        } else {
            self.frame = NONE;
        }
        (self.frame != new.frame).then_some(fresh.spoiled.unwrap_or(ExchangeFailure::Collided))
    }

    /// The frame that the radio is locked on and can still receive, its power, and the power of all others in
    /// the air, W.
    pub(crate) fn chunk(&self, rules: &Listening) -> Option<(u32, f64, f64)> {
        let lock = self.lock().filter(|lock| lock.spoiled.is_none())?;
        Some((lock.frame, lock.power, rules.watts(self.total - rules.strength(lock.power).steps)))
    }

    /// What becomes of a frame when another one comes; `lasts`: until when either does. Of two that begin
    /// together, the nearer and stronger one comes first.
    fn pair(mut first: Lock, mut second: Lock, capture: f64, lasts: (Time, Time)) -> Lock {
        if first.power < capture * second.power {
            first.spoiled = Some(first.spoiled.unwrap_or(ExchangeFailure::Collided));
            second.spoiled = Some(second.spoiled.unwrap_or(ExchangeFailure::Collided));
            // Both are lost, and the longer one keeps the radio: nothing can be received until it ends.
            if lasts.1 > lasts.0 {
                return second;
            }
        }
        first
    }

    /// The radio begins to send: what it was receiving is lost.
    pub(crate) fn begin_sending(&mut self) {
        self.spoiled = self.spoiled.or(Some(ExchangeFailure::Collided));
    }

    /// The radio falls silent: what it was receiving is lost.
    pub(crate) fn fall_silent(&mut self) {
        self.spoiled = Some(ExchangeFailure::Unanswered);
    }

    /// A frame that was in the air before the radio came to the channel.
    pub(crate) fn join(&mut self, rules: &Listening, strength: Strength) {
        self.total += strength.steps;
        self.carriers += u16::from(strength.power >= rules.threshold);
    }

    /// A frame that arrived with this strength has ended. Returns the reception of it, if there was one.
    #[inline]
    pub(crate) fn end(&mut self, rules: &Listening, frame: u32, strength: Strength) -> Option<Lock> {
        self.total -= strength.steps;
        self.carriers -= u16::from(strength.power >= rules.threshold);
        let lock = self.lock().filter(|lock| lock.frame == frame)?;
        self.frame = NONE;
        Some(lock)
    }

    /// Whether a frame of `power` makes the medium busy by itself.
    #[inline]
    pub(crate) fn is_sensed(rules: &Listening, power: f64) -> bool {
        power >= rules.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOGETHER: Duration = Duration::from_micros(1);

    fn rules(capture: Capture) -> Listening {
        Listening {
            capture,
            carrier_sense: CarrierSense::EachFrame,
            threshold: 1.0,
            noise: 0.0,
            step: Listening::step_for(0.1, 1000.0),
        }
    }

    /// 64 frames louder than was announced fit into a sum; the step is a 65,536th of the cut-off.
    #[test]
    fn powers_are_added_in_steps() {
        let rules = rules(Capture::Sinr);
        assert_eq!(rules.step, 0.1 / 65_536.0);
        assert_eq!(rules.strength(0.1).steps, 65_536);
        assert_eq!(rules.strength(1e300).steps, 1 << 57);
        assert!(rules.strength(1e300).steps.checked_mul(63).is_some());
        assert!((rules.watts(rules.strength(2.5).steps) - 2.5).abs() <= rules.step);
        // So loud that the sums would not fit: coarser steps; and a cut-off of zero has one, too.
        assert_eq!(Listening::step_for(1e-30, 1.0), 1.0 / (1_u64 << 57) as f64);
        assert!(Listening::step_for(0.0, 0.0) > 0.0);
    }

    /// Frames of these powers and times in microseconds, at a receiver that needs 10 to 1 and a power of 20.
    /// Which of them get through, without noise?
    fn survivors(capture: Capture, frames: &[(f64, u64, u64)]) -> Vec<usize> {
        let rules = rules(capture);
        let at = |micros: u64| Time::ZERO + Duration::from_micros(micros);
        let mut receiver = Receiver::default();
        let mut moments: Vec<(u64, bool, usize)> = Vec::new();
        for (number, (_, from, until)) in frames.iter().enumerate() {
            moments.extend([(*from, true, number), (*until, false, number)]);
        }
        moments.sort_unstable();
        let mut survivors = Vec::new();
        for (time, begins, number) in moments {
            let (power, from, until) = frames[number];
            if begins {
                let (from, until) = (at(from), at(until));
                let new = Incoming { frame: number as u32, from, until, needs: (10.0, 20.0) };
                let span = |frame: u32| (at(frames[frame as usize].1), at(frames[frame as usize].2));
                receiver.arrive(&rules, &new, rules.strength(power), None, TOGETHER, span);
                assert!(receiver.is_busy(&rules) || power < 1.0);
            } else if let Some(lock) = receiver.end(&rules, number as u32, rules.strength(power)) {
                assert!(time > from);
                if lock.spoiled.is_none() && lock.power >= 10.0 * lock.worst {
                    survivors.push(number);
                }
            }
        }
        assert!(!receiver.is_busy(&rules));
        survivors
    }

    /// A receiver of sensitivity 20 receives a lone frame of 20, and none that is weaker.
    #[test]
    fn a_frame_at_the_sensitivity_is_received() {
        for capture in [Capture::Sinr, Capture::Pairwise] {
            assert_eq!(survivors(capture, &[(20.0, 0, 100)]), [0]);
            assert!(survivors(capture, &[(19.9, 0, 100)]).is_empty());
        }
    }

    /// Two disturbers of 6 each against 100: either alone leaves 16.7 to 1, both 8.3. Pair by pair nothing is
    /// wrong.
    #[test]
    fn sinr_adds_up_what_pairs_do_not() {
        let frames = [(100.0, 0, 100), (6.0, 20, 60), (6.0, 40, 80)];
        assert!(survivors(Capture::Sinr, &frames).is_empty());
        assert_eq!(survivors(Capture::Pairwise, &frames), [0]);
        let over = [(100.0, 0, 100), (6.0, 20, 60), (6.0, 40, 80), (1.0, 90, 95)];
        assert!(survivors(Capture::Sinr, &over).is_empty(), "the worst moment counts, not the last");
        let apart = [(100.0, 0, 100), (6.0, 20, 60), (6.0, 60, 80)];
        assert_eq!(survivors(Capture::Sinr, &apart), [0], "one after the other");
        // What cannot be sensed counts too.
        let weak = [(20.0, 0, 100), (0.9, 10, 50), (0.9, 10, 50), (0.9, 10, 50)];
        assert!(survivors(Capture::Sinr, &weak).is_empty(), "20 to 2.7");
    }

    /// A frame ten times as strong as the one before it: only a receiver that can be taken over gets it.
    #[test]
    fn who_may_capture() {
        let later = [(30.0, 0, 100), (400.0, 20, 80)];
        assert!(survivors(Capture::Sinr, &later).is_empty());
        assert_eq!(survivors(Capture::SinrAny, &later), [1]);
        assert!(survivors(Capture::Pairwise, &later).is_empty());
        let earlier = [(400.0, 0, 100), (30.0, 20, 80)];
        for capture in [Capture::Sinr, Capture::SinrAny, Capture::Pairwise] {
            assert_eq!(survivors(capture, &earlier), [0], "{capture:?}");
            let together = [(30.0, 0, 100), (400.0, 1, 90)];
            assert_eq!(survivors(capture, &together), [1], "{capture:?}: begun within the propagation delay");
            assert!(
                survivors(capture, &[(30.0, 0, 100), (31.0, 0, 90)]).is_empty(),
                "{capture:?}: a collision"
            );
        }
    }

    /// Preambles that begin within 4 us: the stronger is taken if it stands out from the other by 10 to 1,
    /// else neither is, and a later one may be. What begins later disturbs, and takes nothing over; what does
    /// not stand out from what is in the air is not noticed.
    #[test]
    fn a_preamble_stands_out_or_is_lost() {
        let kept = |frames: &[(f64, u64, u64)]| survivors(Capture::Preamble, frames);
        assert_eq!(kept(&[(30.0, 0, 100), (400.0, 3, 90)]), [1]);
        assert!(kept(&[(30.0, 0, 100), (400.0, 4, 90)]).is_empty(), "set on the first, which is disturbed");
        assert_eq!(kept(&[(400.0, 0, 100), (30.0, 3, 90)]), [0]);
        assert_eq!(
            kept(&[(30.0, 0, 100), (31.0, 3, 90), (700.0, 50, 80)]),
            [2],
            "neither, and then the third"
        );
        assert!(kept(&[(30.0, 0, 100), (31.0, 50, 90), (700.0, 60, 80)]).is_empty(), "set on the first");
        // 15 of 20 needed is no frame to be set on, but is in the air.
        assert!(kept(&[(15.0, 0, 100), (149.0, 20, 80)]).is_empty());
        assert_eq!(kept(&[(15.0, 0, 100), (151.0, 20, 80)]), [1]);
    }

    /// ns-2's receiver is set even on a frame too weak to be received: 15 of 20 kills a later one of 100. By
    /// SINR the weak one is interference alone: 100 to 15 is too little, 200 to 15 is not.
    #[test]
    fn a_frame_too_weak_to_receive_still_disturbs() {
        assert!(survivors(Capture::Pairwise, &[(15.0, 0, 100), (200.0, 20, 80)]).is_empty());
        assert!(survivors(Capture::Sinr, &[(15.0, 0, 100), (100.0, 20, 80)]).is_empty());
        assert_eq!(survivors(Capture::Sinr, &[(15.0, 0, 100), (200.0, 20, 80)]), [1]);
    }

    /// ns-2: of two that collided the receiver stays with the longer, which thus destroys a third one too.
    #[test]
    fn a_collision_lasts_as_long_as_its_longest_frame() {
        let frames = [(100.0, 0, 50), (90.0, 20, 200), (100.0, 60, 150)];
        assert!(survivors(Capture::Pairwise, &frames).is_empty());
        assert!(survivors(Capture::Sinr, &frames).is_empty());
        let clear = [(100.0, 0, 50), (90.0, 20, 55), (100.0, 60, 150)];
        assert_eq!(survivors(Capture::Pairwise, &clear), [2]);
        assert_eq!(survivors(Capture::Sinr, &clear), [2]);
    }
}
