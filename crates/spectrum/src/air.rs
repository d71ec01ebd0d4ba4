//! The air: primary users, channels and propagation together, as a receiver somewhere in it finds them.

use crate::detector::SensingWindow;
use crate::propagation::{Position, Propagation, overlap_factor};
use crate::{ChannelId, ChannelTable, PrimaryUser, PuActivity, Reach};
use cogtcp_units::{Power, Time};

/// How loud a primary user is to an energy detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SnrModel {
    /// Every PU that is heard has this signal-to-noise ratio (linear). MSWiM 2009 states none, and it decides
    /// how much the sensing time matters: sweep it.
    Fixed(f64),
    /// Received power over the channel's mean noise power during the sensing.
    Received,
}

impl SnrModel {
    /// A fixed ratio given in decibels.
    pub fn fixed_db(db: f64) -> Self {
        Self::Fixed(libm::pow(10.0, db / 10.0))
    }
}

/// How a receiver tells signal from noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverModel {
    /// A PU is heard when at least this power of it arrives, P_th (MSWiM 2009, equation 1).
    pub sensitivity: Power,
    /// Signal to noise and interference, linear, that a frame needs (ns-2's CPThresh_).
    pub capture: f64,
}

impl ReceiverModel {
    /// A receiver of this sensitivity that captures at `capture_db` decibels.
    pub fn new(sensitivity: Power, capture_db: f64) -> Self {
        Self { sensitivity, capture: libm::pow(10.0, capture_db / 10.0) }
    }
}

impl Default for ReceiverModel {
    /// Hears a 0.2818 W sender at 500 m in free space, the PU range of the paper with ns-2's default power;
    /// captures at 10 dB, ns-2's default.
    fn default() -> Self {
        // Free space: power over distance squared, 500 m; 10 is 10 dB.
        Self { sensitivity: Power::from_watts(0.2818 / 250_000.0), capture: 10.0 }
    }
}

/// A primary user that a receiver hears on a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeardPu {
    /// Its index in [`PuActivity::users`].
    pub index: usize,
    /// Received power in watts; infinite for a PU that reaches by range, which has no power.
    pub power: f64,
}

/// How the reception of one frame ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reception {
    /// The frame can be decoded.
    Captured,
    /// A primary user took it: without the PU it could have been decoded.
    Interfered,
    /// Too weak against the noise alone.
    TooWeak,
}

/// Primary users, channels and propagation.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// Who transmits with a licence, and when.
    pub activity: PuActivity,
    /// The CR channels.
    pub channels: ChannelTable,
    /// How signals fade.
    pub propagation: Propagation,
    /// Whether a PU leaks over the border of its band. Off, as in the paper: condition 1 of its section 4.3
    /// asks for the same band, so that with one channel per band nothing leaks at all.
    pub leaks_across_bands: bool,
}

impl Air {
    /// The air of these users and channels: free space, nothing leaks across bands.
    pub fn new(activity: PuActivity, channels: ChannelTable) -> Self {
        Self { activity, channels, propagation: Propagation::default(), leaks_across_bands: false }
    }

    /// Power in watts of `user` at `place` on `channel` (MSWiM 2009, equation 2); infinite inside the range
    /// of a PU that reaches by range, zero outside.
    pub fn received_power(&self, user: &PrimaryUser, place: Position, channel: ChannelId) -> f64 {
        let same_band = self.channels.band(channel) == user.band;
        let distance = user.position.distance(place);
        match user.reach {
            Reach::Range(range) if same_band && distance <= range => f64::INFINITY,
            Reach::Range(_) => 0.0,
            Reach::Power(power) if same_band || self.leaks_across_bands => {
                let spacing = self.channels.centre(user.band).0.abs_diff(channel.0);
                self.propagation.received(power.watts(), distance, overlap_factor(spacing))
            }
            Reach::Power(_) => 0.0,
        }
    }

    /// The PUs that a receiver at `place` hears on `channel`: condition 1 and equation 1 of MSWiM 2009,
    /// section 4.3.
    pub fn heard(&self, place: Position, channel: ChannelId, receiver: &ReceiverModel) -> Vec<HeardPu> {
        let users = self.activity.users.iter().enumerate();
        users
            .map(|(index, user)| HeardPu { index, power: self.received_power(user, place, channel) })
            // A PU that does not reach the channel at all is never heard, even by a receiver of sensitivity
            // zero.
            .filter(|heard| heard.power > 0.0 && heard.power >= receiver.sensitivity.watts())
            .collect()
    }

    /// What a sensing of [from, until) on `channel` meets of the PUs `heard` there.
    pub fn look(
        &self,
        heard: &[HeardPu],
        channel: ChannelId,
        from: Time,
        until: Time,
        snr: SnrModel,
    ) -> SensingWindow {
        let duration = until.saturating_since(from);
        let mut window = SensingWindow::empty(duration);
        let noise = match snr {
            // Not used: the ratio is given.
            SnrModel::Fixed(_) => 0.0,
            SnrModel::Received => self.channels.mean_noise(channel, from, until),
        };
        for pu in heard {
            let busy = self.activity.users[pu.index].activity.busy_in(from, until);
            if busy.is_zero() {
                continue;
            }
            let gamma = match snr {
                SnrModel::Fixed(ratio) => ratio,
                // Without noise every PU is beyond doubt.
                SnrModel::Received => pu.power / noise,
            };
            window.add(gamma, busy.as_secs_f64() / duration.as_secs_f64());
        }
        window
    }

    /// The fate of a frame of `signal` watts, received at `place` on `channel` over [from, until), in the
    /// greatest noise that any moment of it has. All PUs that are ON at any moment of it interfere, as if
    /// together (MSWiM 2009, section 4.3: "is currently transmitting [...] or will start transmitting during
    /// the reception time").
    pub fn reception(
        &self,
        place: Position,
        channel: ChannelId,
        signal: f64,
        from: Time,
        until: Time,
        receiver: &ReceiverModel,
    ) -> Reception {
        let noise = self.channels.peak_noise(channel, from, until);
        if !is_captured(signal, noise, receiver) {
            return Reception::TooWeak;
        }
        let interference: f64 = self
            .activity
            .users
            .iter()
            .filter(|user| user.activity.overlaps(from, until))
            .map(|user| self.received_power(user, place, channel))
            .sum();
        let captured = is_captured(signal, noise + interference, receiver);
        if captured { Reception::Captured } else { Reception::Interfered }
    }
}

/// SINR at or above the capture threshold.
fn is_captured(signal: f64, disturbance: f64, receiver: &ReceiverModel) -> bool {
    signal >= receiver.capture * disturbance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, Intervals, OnInterval};
    use cogtcp_units::Rate;

    const AT: fn(u64) -> Time = Time::from_millis;

    fn pu(band: u32, x: f64, reach: Reach) -> PrimaryUser {
        let on = OnInterval { arrival: AT(1000), departure: AT(2000) };
        let activity = Intervals::new(vec![on]).unwrap();
        PrimaryUser { id: band, position: Position::new(x, 0.0), band, reach, activity }
    }

    fn air(bands: u32, per_band: u32, users: Vec<PrimaryUser>) -> Air {
        let mut channel = Channel::clean(Rate::from_bits_per_second(1_000_000));
        channel.noise = vec![Power::from_watts(1e-9)];
        let channels = vec![channel; (bands * per_band) as usize];
        Air::new(PuActivity { users }, ChannelTable::new(bands, per_band, channels, None).unwrap())
    }

    const HERE: Position = Position::new(0.0, 0.0);

    fn heard_on(air: &Air, sensitivity: f64) -> Vec<u32> {
        let receiver = ReceiverModel { sensitivity: Power::from_watts(sensitivity), capture: 10.0 };
        let channels = 0..air.channels.len();
        channels.filter(|c| !air.heard(HERE, ChannelId(*c), &receiver).is_empty()).collect()
    }

    #[test]
    fn equation_1_is_a_threshold_on_the_overlapping_power() {
        // 1 W at 100 m: 1e-4 W on the centre (channel 7), half next to it, a quarter two away.
        let air = air(3, 5, vec![pu(2, 100.0, Reach::Power(Power::from_watts(1.0)))]);
        assert_eq!(heard_on(&air, 1e-5), [5, 6, 7, 8, 9]);
        assert_eq!(heard_on(&air, 2.5e-5), [5, 6, 7, 8, 9], "at the threshold it is heard");
        assert_eq!(heard_on(&air, 3e-5), [6, 7, 8]);
        assert_eq!(heard_on(&air, 6e-5), [7]);
        assert!(heard_on(&air, 2e-4).is_empty());
    }

    #[test]
    fn leaking_across_bands_is_an_option() {
        let mut air = air(5, 1, vec![pu(3, 100.0, Reach::Power(Power::from_watts(1.0)))]);
        assert_eq!(heard_on(&air, 1e-6), [2], "the paper asks for the same band");
        air.leaks_across_bands = true;
        assert_eq!(heard_on(&air, 1e-6), [0, 1, 2, 3, 4]);
        assert_eq!(heard_on(&air, 0.4e-4), [1, 2, 3]);
    }

    #[test]
    fn a_range_is_a_disc_on_one_channel() {
        let near = air(3, 1, vec![pu(2, 500.0, Reach::Range(500.0))]);
        assert_eq!(heard_on(&near, 1e-6), [1]);
        let far = air(3, 1, vec![pu(2, 500.1, Reach::Range(500.0))]);
        assert!(heard_on(&far, 0.0).is_empty());
    }

    #[test]
    fn a_frame_needs_sinr_above_the_capture_threshold() {
        // Noise 1e-9 W; the PU arrives with 1e-4 W in [1 s, 2 s).
        let air = air(1, 1, vec![pu(1, 100.0, Reach::Power(Power::from_watts(1.0)))]);
        let receiver = ReceiverModel { sensitivity: Power::from_watts(1e-12), capture: 10.0 };
        let fate =
            |signal, from, until| air.reception(HERE, ChannelId(0), signal, AT(from), AT(until), &receiver);
        assert_eq!(fate(0.9e-8, 0, 10), Reception::TooWeak);
        assert_eq!(fate(1.1e-8, 0, 10), Reception::Captured);
        assert_eq!(fate(1.1e-8, 995, 1005), Reception::Interfered, "the PU starts during the reception");
        assert_eq!(fate(1.1e-8, 1500, 1510), Reception::Interfered);
        assert_eq!(fate(1.01e-3, 1500, 1510), Reception::Captured, "strong enough against the PU");
        assert_eq!(fate(1.1e-8, 2000, 2010), Reception::Captured, "the PU has gone");
    }

    #[test]
    fn noise_and_interference_add_up() {
        // The PU arrives with 1e-9 W, as strong as the noise: either alone leaves 15 to 1, both 7.5 to 1.
        let air = air(1, 1, vec![pu(1, 100.0, Reach::Power(Power::from_watts(1e-5)))]);
        let receiver = ReceiverModel { sensitivity: Power::from_watts(1.0), capture: 10.0 };
        let fate = |at| air.reception(HERE, ChannelId(0), 1.5e-8, AT(at), AT(at + 10), &receiver);
        assert_eq!((fate(0), fate(1500)), (Reception::Captured, Reception::Interfered));
    }

    /// Noise of the CH-log that steps from 1e-9 W to 1e-8 W at 1 s decides frames, and what an energy
    /// detector hears.
    #[test]
    fn noise_that_varies_with_time_decides_frames_and_detection() {
        let mut air = air(1, 1, vec![pu(1, 100.0, Reach::Power(Power::from_watts(1.0)))]);
        let mut channel = air.channels.get(ChannelId(0)).unwrap().clone();
        channel.noise = [1e-9, 1e-8].map(Power::from_watts).to_vec();
        let interval = Some(cogtcp_units::Duration::from_secs(1));
        air.channels = ChannelTable::new(1, 1, vec![channel], interval).unwrap();
        let receiver = ReceiverModel { sensitivity: Power::from_watts(1e-12), capture: 10.0 };
        let fate = |from, until| {
            let quiet = Air { activity: PuActivity::default(), ..air.clone() };
            quiet.reception(HERE, ChannelId(0), 5e-8, AT(from), AT(until), &receiver)
        };
        assert_eq!(fate(980, 1000), Reception::Captured, "50 to 1");
        assert_eq!(fate(1000, 1020), Reception::TooWeak, "5 to 1");
        assert_eq!(fate(990, 1010), Reception::TooWeak, "the noise rises during the reception");
        let heard = air.heard(HERE, ChannelId(0), &receiver);
        let signal =
            |from, until| air.look(&heard, ChannelId(0), AT(from), AT(until), SnrModel::Received).signal;
        // 1e-4 W arrive. From 0.8 s to 1.2 s the noise is 5.5e-9 W on average and the PU is ON for half of
        // the time.
        assert!((signal(800, 1200) / (0.5 * 1e-4 / 5.5e-9) - 1.0).abs() < 1e-9);
        assert!((signal(1500, 1600) / 1e4 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_look_weighs_each_pu_by_its_share_of_the_window() {
        let air = air(1, 1, vec![pu(1, 100.0, Reach::Power(Power::from_watts(1.0)))]);
        let receiver = ReceiverModel { sensitivity: Power::from_watts(1e-12), capture: 10.0 };
        let heard = air.heard(HERE, ChannelId(0), &receiver);
        let look = |from, until, snr| air.look(&heard, ChannelId(0), AT(from), AT(until), snr);
        let window = look(900, 1100, SnrModel::Fixed(0.01));
        assert!(window.present && (window.overlap - 0.5).abs() < 1e-12);
        assert!((window.signal - 0.005).abs() < 1e-15);
        // 1e-4 W over 1e-9 W of noise.
        assert!((look(1000, 1100, SnrModel::Received).signal - 1e5).abs() < 1e-6);
        assert!(!look(800, 1000, SnrModel::Fixed(0.01)).present);
        assert_eq!(SnrModel::fixed_db(-20.0), SnrModel::Fixed(0.01));
    }
}
