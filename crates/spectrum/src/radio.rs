//! What every radio shows to its driver, whatever moves it inside.

use cogtcp_crosslayer::{ChannelId, LinkEvent, Phase};
use cogtcp_units::{Duration, Rate, Time};

/// A radio: something that is silent at times, and otherwise on some channel at some rate.
///
/// The driver calls [`advance`](Self::advance) at [`next_change`](Self::next_change), then takes what happened with
/// [`poll_event`](Self::poll_event) and reads [`phase`](Self::phase) and [`rate`](Self::rate). A driver with a virtual
/// clock calls at the very moment; one with a real clock calls late and loses nothing but that time.
///
/// A new kind of radio (a recorded trace, say) is one type with these methods in a file of its own, and one more
/// variant of the scenario's `RadioKind`.
pub trait Radio: std::fmt::Debug + Send {
    /// Plays the radio up to `now` and returns the phase from then on. A late call plays every change at its own time, an
    /// early one changes nothing. Events of the call before that were not taken are gone.
    fn advance(&mut self, now: Time) -> Phase;

    /// What happened in the last [`advance`](Self::advance), with its time, oldest first.
    fn poll_event(&mut self) -> Option<(Time, LinkEvent)>;

    /// What the radio does at the moment.
    fn phase(&self) -> Phase;

    /// The channel it is tuned to.
    fn channel(&self) -> ChannelId;

    /// The rate of the channel in use; `None`: the link's own.
    fn rate(&self) -> Option<Rate>;

    /// When to call [`advance`](Self::advance) next; `Time::MAX`: never. After `advance(now)` it is later than `now`.
    fn next_change(&self) -> Time;

    /// Time and events up to `now`, which must not lie before the last [`advance`](Self::advance).
    fn stats(&self, now: Time) -> RadioStats;
}

/// Time and events of one radio since its start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RadioStats {
    /// Time open to traffic.
    pub transmitting: Duration,
    /// Time spent sensing.
    pub sensing: Duration,
    /// Time spent switching.
    pub switching: Duration,
    /// Time without signal.
    pub lost: Duration,
    /// Times that the signal was lost.
    pub losses: u64,
    /// Sensings begun.
    pub sensings: u64,
    /// PU arrivals on the radio's channel, also those during silence.
    pub pu_arrivals: u64,
    /// Changes of channel.
    pub handoffs: u64,
    /// Sensings that missed a PU.
    pub missed_detections: u64,
    /// Sensings that reported a PU where there was none.
    pub false_alarms: u64,
}

impl RadioStats {
    /// What was counted after `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            transmitting: self.transmitting - before.transmitting,
            sensing: self.sensing - before.sensing,
            switching: self.switching - before.switching,
            lost: self.lost - before.lost,
            losses: self.losses - before.losses,
            sensings: self.sensings - before.sensings,
            pu_arrivals: self.pu_arrivals - before.pu_arrivals,
            handoffs: self.handoffs - before.handoffs,
            missed_detections: self.missed_detections - before.missed_detections,
            false_alarms: self.false_alarms - before.false_alarms,
        }
    }

    /// Adds `span` to the time spent in `phase`.
    pub(crate) fn spend(&mut self, phase: Phase, span: Duration) {
        match phase {
            Phase::Transmitting => self.transmitting += span,
            Phase::Sensing => self.sensing += span,
            Phase::Switching => self.switching += span,
            Phase::Lost => self.lost += span,
        }
    }
}
