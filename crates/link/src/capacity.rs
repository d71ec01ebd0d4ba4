//! What a link could carry: integrals of its rate over time.

use cogtcp_units::Rate;

/// Integrals of the rate over time, in bit nanoseconds per second. A frame that was on the air when gate or
/// rate changed completes, so its own rate counts until it ends: capacity is what the link carries or could
/// carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capacity {
    since: u64,
    /// With the gate open, or a frame completing.
    pub available: u128,
    /// Whatever the gate.
    pub channel: u128,
    /// Nanoseconds with the gate closed.
    pub silence: u64,
}

/// A frame that stays on the air, at its own rate, whatever becomes of gate and rate meanwhile: nanoseconds
/// from and until.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Airing {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) rate: Rate,
}

impl Airing {
    /// How much of its time lies between `since` and `now`.
    pub(crate) fn overlap(&self, since: u64, now: u64) -> u64 {
        self.until.min(now).saturating_sub(self.from.max(since))
    }
}

impl Capacity {
    /// An integral in bytes.
    pub fn bytes(integral: u128) -> f64 {
        integral as f64 / 8e9
    }

    /// What a trace lets through up to `now`.
    pub(crate) fn set(&mut self, now: u64, available: u128) {
        (self.since, self.available, self.channel) = (now, available, available);
    }

    /// Counts from the last time to `now`, through which gate and rate were these. What stays on the air,
    /// `airing`, does not overlap.
    pub(crate) fn integrate<'a>(
        &mut self,
        now: u64,
        rate: Rate,
        is_open: bool,
        airing: impl Iterator<Item = &'a Airing>,
    ) {
        let since = std::mem::replace(&mut self.since, now);
        // Callers read in order of time, so a reading of the past is a fault: no saturation hides it.
        let span = now - since;
        // 128 bits: 100 Gbit/s fills 64 bits of bit nanoseconds after 0.2 s.
        let bits = |rate: Rate, span: u64| u128::from(rate.bits_per_second()) * u128::from(span);
        let (mut completing, mut carried) = (0, 0);
        for frame in airing {
            let overlap = frame.overlap(since, now);
            completing += overlap;
            carried += bits(frame.rate, overlap);
        }
        let rest = bits(rate, span - completing);
        self.channel += carried + rest;
        self.available += carried;
        if is_open {
            self.available += rest;
        } else {
            self.silence += span;
        }
    }
}
