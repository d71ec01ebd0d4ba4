//! Which frames are lost at one receiver to primary users and noise.

use cogtcp_spectrum::air::{Air, Reception};
use cogtcp_spectrum::propagation::Position;
use cogtcp_spectrum::{ChannelId, CognitiveConfig};
use cogtcp_units::{RandomStream, Time};

/// Share of the frames that escape a primary user in the released ns-2 code. There one routine tells a sensing radio and a
/// receiving one of a PU, and misses 10 % in both.
const ESCAPES: f64 = 0.1;

/// The primary users around one receiver, and the signal of its peer there. Decides as
/// [`Air::reception`](cogtcp_spectrum::air::Air::reception) does, with what does not change over time worked out before.
#[derive(Debug)]
pub(super) struct Interference {
    /// By channel: index and received power in watts of every PU that reaches it.
    reaching: Vec<Vec<(usize, f64)>>,
    /// Power in watts of the peer's frames.
    signal: f64,
    capture: f64,
    /// The released code's lottery of who escapes a PU, in place of the SINR.
    lottery: Option<RandomStream>,
    /// No PU is ON on this channel in [from, until).
    quiet: (ChannelId, Time, Time),
}

impl Interference {
    /// The receiver of `config`, whose peer at `peer` sends with `power` watts. With a `lottery` every PU that is heard
    /// destroys a frame, but for those that escape.
    pub(super) fn new(
        air: &Air,
        config: &CognitiveConfig,
        peer: Position,
        power: f64,
        lottery: Option<RandomStream>,
    ) -> Self {
        let least = lottery.as_ref().map_or(0.0, |_| config.receiver.sensitivity.watts());
        let reaching = |channel| {
            let users = air.activity.users.iter().enumerate();
            users
                .map(|(index, user)| (index, air.received_power(user, config.position, channel)))
                .filter(|(_, power)| *power > 0.0 && *power >= least)
                .collect()
        };
        Self {
            reaching: air.channels.iter().map(|(channel, _)| reaching(channel)).collect(),
            signal: air.propagation.received(power, config.position.distance(peer), 1.0),
            capture: config.receiver.capture,
            lottery,
            quiet: (ChannelId(0), Time::ZERO, Time::ZERO),
        }
    }

    /// The fate of a frame received on `channel` over [from, until).
    pub(super) fn reception(&mut self, air: &Air, channel: ChannelId, from: Time, until: Time) -> Reception {
        let noise = match self.lottery {
            Some(_) => 0.0,
            None => air.channels.peak_noise(channel, from, until),
        };
        if self.signal < self.capture * noise {
            return Reception::TooWeak;
        }
        if self.quiet.0 == channel && self.quiet.1 <= from && until <= self.quiet.2 {
            return Reception::Captured;
        }
        let mut interference = 0.0;
        let mut next = Time::MAX;
        for (index, power) in self.reaching.get(channel.0 as usize).map_or(&[][..], Vec::as_slice) {
            let activity = &air.activity.users[*index].activity;
            if activity.overlaps(from, until) {
                interference += power;
            } else {
                next = next.min(activity.next_arrival(from));
            }
        }
        if interference == 0.0 {
            self.quiet = (channel, from, next);
            return Reception::Captured;
        }
        if let Some(lottery) = &mut self.lottery {
            let escapes = lottery.uniform() < ESCAPES;
            return if escapes { Reception::Captured } else { Reception::Interfered };
        }
        let captured = self.signal >= self.capture * (noise + interference);
        if captured { Reception::Captured } else { Reception::Interfered }
    }
}
