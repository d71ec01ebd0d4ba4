//! What a medium and its stations are made of.

use crate::{Dcf, Errors, Profile, Propagation, Rules};
use cogtcp_units::{Duration, Power, Rate};

/// The MAC of the stations. The rules that implementations differ in are in [`Rules`].
#[derive(Clone, Debug, PartialEq)]
pub struct MacConfig {
    /// The DCF's constants.
    pub dcf: Dcf,
    /// Packets that an interface queue holds.
    pub queue_packets: usize,
    /// The rules of the profile.
    pub rules: Rules,
}

impl Default for MacConfig {
    /// The standard's, with 50 packets in the queue.
    fn default() -> Self {
        Self::of(Profile::Standard)
    }
}

impl MacConfig {
    /// The defaults with the rules, the header, the retry limits and the queue of `profile`: of ns-2's usual
    /// 50 packets (`ifqLen_`) `DropTail::enque` lets 49 in.
    pub fn of(profile: Profile) -> Self {
        let queue_packets = if profile == Profile::Ns2 { 49 } else { 50 };
        Self { dcf: Dcf::default().under(profile), queue_packets, rules: Rules::of(profile) }
    }
}

impl From<Dcf> for MacConfig {
    /// The standard's with these constants.
    fn from(dcf: Dcf) -> Self {
        Self { dcf, ..Self::default() }
    }
}

/// A rate of the PHY and what it takes to receive it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhyRate {
    /// The rate.
    pub rate: Rate,
    /// Least signal to noise and interference, linear.
    pub capture: f64,
    /// Least received power.
    pub sensitivity: Power,
}

/// The radios of a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct PhyConfig {
    /// How loud a frame is where it arrives.
    pub propagation: Propagation,
    /// A frame can be received when at least this power of it arrives: the transmission range (ns-2's
    /// RXThresh_).
    pub sensitivity: Power,
    /// A frame makes the medium busy when at least this power arrives: the carrier-sense range (CSThresh_).
    pub carrier_sense: Power,
    /// Less than this is nothing: the frame neither disturbs nor is heard. What this leaves out is bounded in
    /// `docs/adhoc.md`.
    pub cutoff: Power,
    /// Least signal to noise and interference of a reception, linear (CPThresh_); under
    /// [`Capture::Preamble`](crate::Capture::Preamble) of its preamble.
    pub capture: f64,
    /// How frames are lost to noise and to other frames.
    pub errors: Errors,
    /// Rates that differ from the two thresholds above, slowest first. What rate adaptation chooses from.
    pub rates: Vec<PhyRate>,
    /// From the start of a frame until all who are in reach hear it; the same for all pairs.
    pub delay: Duration,
}

impl PhyConfig {
    /// Thresholds for the given ranges of a sender of `power`: metres of transmission and of carrier sense.
    /// The cut-off lies 10 dB below carrier sense, capture is 10 dB, the delay 1 us (aAirPropagationTime of
    /// clause 15).
    pub fn for_ranges(propagation: Propagation, power: Power, transmission: f64, carrier_sense: f64) -> Self {
        let at = |distance| power.watts() * propagation.path_loss.gain(distance);
        // The last bit of the gain must not decide who stands exactly on the border.
        let threshold = |distance: f64| Power::from_watts(at(distance) * (1.0 - 1e-9));
        Self {
            propagation,
            sensitivity: threshold(transmission),
            carrier_sense: threshold(carrier_sense),
            cutoff: Power::from_watts(at(carrier_sense) * 0.1),
            capture: 10.0,
            errors: Errors::Threshold,
            rates: Vec::new(),
            delay: Duration::from_micros(1),
        }
    }

    /// ns-2's usual radio: 0.28183815 W, two-ray ground, 250 m and 550 m.
    pub fn ns2() -> Self {
        let propagation = Propagation::new(crate::PathLoss::NS2_TWO_RAY);
        let carrier_sense = Power::from_watts(1.559e-11);
        Self {
            propagation,
            sensitivity: Power::from_watts(3.652e-10),
            carrier_sense,
            cutoff: carrier_sense,
            capture: 10.0,
            errors: Errors::Threshold,
            rates: Vec::new(),
            delay: Duration::from_micros(1),
        }
    }

    /// Capture threshold and sensitivity, W, of a frame at `rate`.
    pub(crate) fn needs(&self, rate: Rate) -> (f64, f64) {
        let found = self.rates.iter().find(|entry| entry.rate == rate);
        found.map_or((self.capture, self.sensitivity.watts()), |entry| {
            (entry.capture, entry.sensitivity.watts())
        })
    }
}

/// A channel as its traffic sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelConfig {
    /// Rate of data.
    pub rate: Rate,
    /// Share of data frames that have errors whatever their signal.
    pub error_rate: f64,
}

/// How senders live with radios that fall silent (`docs/adhoc.md`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SilenceRules {
    /// A sender knows when its receiver is silent, and begins no exchange that would reach into the silence.
    pub waits_for_peer: bool,
    /// A sender's own silence does not stop it: it sends with another radio.
    pub sends_while_silent: bool,
}

/// On which channel an exchange takes place.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rendezvous {
    /// On the one that its sender is tuned to: a receiver that is on another is out of reach.
    #[default]
    Common,
    /// On the one that its receiver listens on, which the sender knows at no cost. There it sends and hears
    /// the answers, and goes on listening on its own: two stations that change channel by themselves always
    /// meet (the released CRAHN code of ns-2).
    Receiver,
}

/// Everything about a medium but its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumConfig {
    /// The MAC of every station.
    pub mac: MacConfig,
    /// The radios.
    pub phy: PhyConfig,
    /// The channels by number.
    pub channels: Vec<ChannelConfig>,
    /// Rate adaptation; `None`: data go at the channel's rate.
    pub rate_control: Option<crate::RateControl>,
    /// What silences do.
    pub silence: SilenceRules,
    /// Where sender and receiver meet.
    pub rendezvous: Rendezvous,
    /// An exchange that nobody can disturb is worked out when it begins
    /// ([`MediumEvent::Exchange`](crate::MediumEvent::Exchange)), and at most three steps of the medium in
    /// place of a dozen. The frames are the same.
    pub whole_exchanges: bool,
    /// Whether every frame is reported as [`MediumEvent::OnAir`](crate::MediumEvent::OnAir).
    pub reports_frames: bool,
}

impl MediumConfig {
    /// One channel of `rate` without errors.
    pub fn new(mac: MacConfig, phy: PhyConfig, rate: Rate) -> Self {
        Self {
            mac,
            phy,
            channels: vec![ChannelConfig { rate, error_rate: 0.0 }],
            rate_control: None,
            silence: SilenceRules::default(),
            rendezvous: Rendezvous::Common,
            whole_exchanges: false,
            reports_frames: false,
        }
    }
}
