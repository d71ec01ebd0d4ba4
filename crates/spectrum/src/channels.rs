//! The channel log block: what each CR channel carries and how noisy it is (MSWiM 2009, section 4).

use crate::ChannelId;
use cogtcp_units::{Duration, Power, Probability, Rate, Time};

/// One CR channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Its capacity.
    pub rate: Rate,
    /// Noise power: one value, or one for each interval of [`ChannelTable::noise_interval`]; the last holds
    /// on. Empty: no noise.
    pub noise: Vec<Power>,
    /// Share of frames lost without any interference (the released ns-2 code's packet error rate).
    pub error_rate: Probability,
    /// Not for data: the decision passes over it (the released code's control channel 0).
    pub reserved: bool,
}

impl Channel {
    /// A channel of this rate, without noise or errors.
    pub fn clean(rate: Rate) -> Self {
        Self { rate, noise: Vec::new(), error_rate: Probability::ZERO, reserved: false }
    }
}

/// B primary spectrum bands with n CR channels each.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelTable {
    bands: u32,
    per_band: u32,
    channels: Vec<Channel>,
    noise_interval: Option<Duration>,
}

/// A table that is not B times n channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ChannelTableError {
    /// No channels.
    #[error("a channel table needs at least one band and one channel in each")]
    Empty,
    /// The number of channels is not bands times channels per band.
    #[error("{bands} bands of {per_band} channels need {} channels; there are {found}", u64::from(*bands) * u64::from(*per_band))]
    Count {
        /// Bands.
        bands: u32,
        /// Channels per band.
        per_band: u32,
        /// Channels given.
        found: usize,
    },
    /// All channels are reserved.
    #[error("every channel is reserved; leave at least one for data")]
    AllReserved,
    /// Noise that varies without an interval.
    #[error("channel {0} has several noise values; say how long each holds (noise interval above zero)")]
    NoInterval(usize),
    /// Differentiation factor out of range.
    #[error("the channel bandwidth differentiation factor M must lie in 0 to 2; at 2 a rate reaches zero")]
    Differentiation,
}

impl ChannelTable {
    /// `bands` bands of `per_band` channels; `channels` in the order of their [`ChannelId`].
    pub fn new(
        bands: u32,
        per_band: u32,
        channels: Vec<Channel>,
        noise_interval: Option<Duration>,
    ) -> Result<Self, ChannelTableError> {
        if bands == 0 || per_band == 0 {
            return Err(ChannelTableError::Empty);
        }
        if u64::from(bands) * u64::from(per_band) != channels.len() as u64 {
            return Err(ChannelTableError::Count { bands, per_band, found: channels.len() });
        }
        if channels.iter().all(|channel| channel.reserved) {
            return Err(ChannelTableError::AllReserved);
        }
        // An absent interval and one of zero say the same: nothing about when the next value holds.
        let interval = noise_interval.unwrap_or_default();
        if let Some(index) = channels.iter().position(|channel| channel.noise.len() > 1)
            && interval.is_zero()
        {
            return Err(ChannelTableError::NoInterval(index));
        }
        Ok(Self { bands, per_band, channels, noise_interval })
    }

    /// Equal channels of `rate` without noise.
    pub fn uniform(bands: u32, per_band: u32, rate: Rate) -> Result<Self, ChannelTableError> {
        let count = bands as usize * per_band as usize;
        Self::new(bands, per_band, vec![Channel::clean(rate); count], None)
    }

    /// MSWiM 2009, equation 5: C(i) = gamma (1 + M/2) for even i, gamma (1 - M/2) for odd i, so that
    /// neighbouring channels differ by gamma M.
    pub fn alternating(bands: u32, per_band: u32, gamma: Rate, m: f64) -> Result<Self, ChannelTableError> {
        if !(0.0..2.0).contains(&m) {
            return Err(ChannelTableError::Differentiation);
        }
        let mut table = Self::uniform(bands, per_band, gamma)?;
        for (i, channel) in table.channels.iter_mut().enumerate() {
            let factor = if i % 2 == 0 { 1.0 + m / 2.0 } else { 1.0 - m / 2.0 };
            // The cast truncates; 0.5 rounds to the nearest.
            channel.rate = Rate::from_bits_per_second((gamma.bits_per_second() as f64 * factor + 0.5) as u64);
        }
        Ok(table)
    }

    /// Number of bands, B.
    pub fn bands(&self) -> u32 {
        self.bands
    }

    /// Channels per band, n.
    pub fn per_band(&self) -> u32 {
        self.per_band
    }

    /// Number of channels, B n.
    pub fn len(&self) -> u32 {
        self.channels.len() as u32
    }

    /// Whether there are no channels: never.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// How long each noise value holds; `None`: noise is constant.
    pub fn noise_interval(&self) -> Option<Duration> {
        self.noise_interval
    }

    /// The channel `id`, `None` beyond the table.
    pub fn get(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(id.0 as usize)
    }

    /// All channels in the order of their id.
    pub fn iter(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.channels.iter().enumerate().map(|(i, channel)| (ChannelId(i as u32), channel))
    }

    /// Channels for data, in the order of their id.
    pub fn usable(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.iter().filter(|(_, channel)| !channel.reserved)
    }

    /// The band (1 to B) of a channel.
    pub fn band(&self, id: ChannelId) -> u32 {
        id.0 / self.per_band + 1
    }

    /// The channel in the middle of `band` (1 to B), on which its PUs are centred; the lower middle of an
    /// even number.
    pub fn centre(&self, band: u32) -> ChannelId {
        ChannelId(band.saturating_sub(1) * self.per_band + (self.per_band - 1) / 2)
    }

    /// Noise power on the channel at `at`, in watts.
    pub fn noise(&self, id: ChannelId, at: Time) -> f64 {
        let Some(channel) = self.get(id) else { return 0.0 };
        channel.noise.get(self.noise_step(channel, at)).map_or(0.0, |noise| noise.watts())
    }

    /// The greatest noise power on the channel at any moment of [from, until), in watts: what a frame has to
    /// stand.
    pub fn peak_noise(&self, id: ChannelId, from: Time, until: Time) -> f64 {
        // Every frame asks: no steps are worked out where the noise is constant.
        if self.noise_interval.is_none_or(|interval| interval.is_zero()) {
            return self.noise(id, from).max(0.0);
        }
        self.noise_spans(id, from, until).map(|(watts, _)| watts).fold(0.0, f64::max)
    }

    /// The mean noise power on the channel over [from, until), in watts: the input of an energy detector.
    pub fn mean_noise(&self, id: ChannelId, from: Time, until: Time) -> f64 {
        let spans = self.noise_spans(id, from, until);
        let (energy, time) = spans.fold((0.0, 0.0), |(energy, time), (watts, span)| {
            (energy + watts * span.as_secs_f64(), time + span.as_secs_f64())
        });
        // An empty span has no energy: the noise of its moment.
        if time > 0.0 { energy / time } else { self.noise(id, from) }
    }

    /// The values of the noise over [from, until), each with how much of it it holds for.
    fn noise_spans(&self, id: ChannelId, from: Time, until: Time) -> impl Iterator<Item = (f64, Duration)> {
        let noise = self.get(id).map_or(&[][..], |channel| channel.noise.as_slice());
        let interval = self.noise_interval.unwrap_or_default();
        // `until` is excluded: a value that begins there does not count.
        let last_moment = Time::from_nanos(until.as_nanos().saturating_sub(1)).max(from);
        let (first, last) = match self.get(id) {
            Some(channel) => (self.noise_step(channel, from), self.noise_step(channel, last_moment)),
            None => (0, 0),
        };
        // A channel without noise has no value 0 either.
        let values = noise.get(first..=last).unwrap_or_default().iter().enumerate();
        values.map(move |(i, noise)| {
            let step = (first + i) as u64;
            // The last value of the table holds on.
            let end = if first + i == last { until } else { Time::ZERO + interval * (step + 1) };
            let begin = if i == 0 { from } else { Time::ZERO + interval * step };
            (noise.watts(), end.saturating_since(begin))
        })
    }

    /// Which of the noise values of `channel` holds at `at`.
    fn noise_step(&self, channel: &Channel, at: Time) -> usize {
        let last = channel.noise.len().saturating_sub(1);
        match self.noise_interval {
            Some(interval) if !interval.is_zero() => {
                // `usize` has 32 bits in a page (WebAssembly).
                usize::try_from(at.as_nanos() / interval.as_nanos()).unwrap_or(usize::MAX).min(last)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_5_alternates_by_gamma_m() {
        let table = ChannelTable::alternating(5, 1, Rate::from_bits_per_second(1_000_000), 1.6).unwrap();
        let rates: Vec<u64> = table.iter().map(|(_, channel)| channel.rate.bits_per_second()).collect();
        assert_eq!(rates, [1_800_000, 200_000, 1_800_000, 200_000, 1_800_000]);
        for m in [-0.1, 2.0, f64::NAN] {
            let error = ChannelTable::alternating(5, 1, Rate::from_bits_per_second(1), m).unwrap_err();
            assert!(error.to_string().contains("0 to 2"), "{error}");
        }
    }

    #[test]
    fn channels_are_numbered_by_band() {
        let table = ChannelTable::uniform(3, 5, Rate::from_bits_per_second(1)).unwrap();
        assert_eq!((table.band(ChannelId(0)), table.band(ChannelId(4)), table.band(ChannelId(5))), (1, 1, 2));
        assert_eq!((table.centre(1), table.centre(3)), (ChannelId(2), ChannelId(12)));
        let even = ChannelTable::uniform(2, 4, Rate::from_bits_per_second(1)).unwrap();
        assert_eq!(even.centre(2), ChannelId(5));
    }

    #[test]
    fn noise_steps_and_then_holds() {
        let mut noisy = Channel::clean(Rate::from_bits_per_second(1));
        noisy.noise = [1e-12, 2e-12, 3e-12].map(Power::from_watts).to_vec();
        let quiet = Channel::clean(Rate::from_bits_per_second(1));
        let channels = vec![noisy.clone(), quiet];
        let table = ChannelTable::new(2, 1, channels, Some(Duration::from_millis(500))).unwrap();
        for (ms, noise) in [(0, 1e-12), (499, 1e-12), (500, 2e-12), (1000, 3e-12), (90_000, 3e-12)] {
            assert_eq!(table.noise(ChannelId(0), Time::from_millis(ms)), noise);
        }
        assert_eq!(table.noise(ChannelId(1), Time::ZERO), 0.0);
        // Over a span: the greatest value that any moment of it has, and the mean by time.
        for (from, until, peak, mean) in [
            (0, 499, 1e-12, 1e-12),
            (0, 500, 1e-12, 1e-12),
            (400, 600, 2e-12, 1.5e-12),
            (250, 1250, 3e-12, 2e-12),
            (900, 10_000, 3e-12, (0.1 * 2e-12 + 9.0 * 3e-12) / 9.1),
            (700, 700, 2e-12, 2e-12),
        ] {
            let span = (Time::from_millis(from), Time::from_millis(until));
            assert_eq!(table.peak_noise(ChannelId(0), span.0, span.1), peak, "{from} to {until} ms");
            let found = table.mean_noise(ChannelId(0), span.0, span.1);
            assert!((found / mean - 1.0).abs() < 1e-9, "{from} to {until} ms: {found}");
        }
        assert_eq!(table.peak_noise(ChannelId(1), Time::ZERO, Time::MAX), 0.0);
        assert_eq!(table.mean_noise(ChannelId(9), Time::ZERO, Time::MAX), 0.0);
        assert_eq!(ChannelTable::new(1, 1, vec![noisy], None), Err(ChannelTableError::NoInterval(0)));
        assert!(ChannelTable::new(2, 2, vec![], None).is_err());
    }
}
