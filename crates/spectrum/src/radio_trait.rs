//! What every radio shows to its driver, whatever moves it inside.

use cogtcp_crosslayer::{ChannelId, LinkEvent, Phase};
use cogtcp_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// A radio: something that is silent at times, and otherwise on some channel at some rate.
///
/// The driver calls [`advance`](Self::advance) at [`next_change`](Self::next_change), then takes what
/// happened with [`poll_event`](Self::poll_event) and reads [`phase`](Self::phase) and [`rate`](Self::rate).
/// A driver with a virtual clock calls at the very moment; one with a real clock calls late and loses nothing
/// but that time.
///
/// A new kind of radio that gates links by itself is a [`GateKind`](crate::GateKind)
/// (`docs/adding-a-radio.md`).
pub trait Radio: std::fmt::Debug + Send {
    /// What it keeps as every radio does.
    fn state(&self) -> &RadioState;

    /// Mutable access to the state that every radio keeps.
    fn state_mut(&mut self) -> &mut RadioState;

    /// When to call [`advance`](Self::advance) next; `Time::MAX`: never. After `advance(now)` it is later
    /// than `now`.
    fn next_change(&self) -> Time;

    /// Plays the one thing that is due at `at`, which is [`next_change`](Self::next_change).
    /// [`advance`](Self::advance) calls it.
    fn change(&mut self, at: Time);

    /// Plays the radio up to `now` and returns the phase from then on. A late call plays every change at its
    /// own time, an early one changes nothing. Events of the call before that were not taken are gone.
    fn advance(&mut self, now: Time) -> Phase {
        self.state_mut().events.clear();
        loop {
            let at = self.next_change();
            // `Time::MAX` is never: a driver that plays to the end of time would not come back.
            if at > now || at == Time::MAX {
                return self.phase();
            }
            self.change(at);
        }
    }

    /// What happened in the last [`advance`](Self::advance), with its time, oldest first.
    fn poll_event(&mut self) -> Option<(Time, LinkEvent)> {
        self.state_mut().events.pop_front()
    }

    /// What the radio does at the moment.
    fn phase(&self) -> Phase {
        self.state().phase
    }

    /// The channel it is tuned to.
    fn channel(&self) -> ChannelId {
        self.state().channel
    }

    /// The rate of the channel in use; `None`: the link's own.
    fn rate(&self) -> Option<Rate> {
        self.state().rate
    }

    /// The propagation delay of the links, one way; `None`: their own.
    fn delay(&self) -> Option<Duration> {
        None
    }

    /// Time and events up to `now`, which must not lie before the last [`advance`](Self::advance).
    fn stats(&self, now: Time) -> RadioStats {
        let state = self.state();
        let mut stats = state.stats;
        stats.spend(state.phase, now.saturating_since(state.since));
        stats
    }
}

/// What every radio keeps: what it does and since when, on which channel, and what happened.
#[derive(Clone, Debug)]
pub struct RadioState {
    /// What it does.
    pub phase: Phase,
    /// Start of the phase.
    pub since: Time,
    /// The channel tuned to.
    pub channel: ChannelId,
    /// The rate of the channel in use; `None`: the link's own.
    pub rate: Option<Rate>,
    /// Time up to `since`, and events.
    pub stats: RadioStats,
    events: VecDeque<(Time, LinkEvent)>,
}

impl RadioState {
    /// A radio that transmits from the beginning.
    pub fn new(channel: ChannelId, rate: Option<Rate>) -> Self {
        Self {
            phase: Phase::Transmitting,
            since: Time::ZERO,
            channel,
            rate,
            stats: RadioStats::default(),
            events: VecDeque::new(),
        }
    }

    /// A phase begins at `at`. Returns the one that ends.
    pub fn enter(&mut self, at: Time, phase: Phase) -> Phase {
        self.stats.spend(self.phase, at.saturating_since(self.since));
        self.since = at;
        std::mem::replace(&mut self.phase, phase)
    }

    /// Something happens at `at`.
    pub fn emit(&mut self, at: Time, event: LinkEvent) {
        self.events.push_back((at, event));
    }
}

cogtcp_units::counts! {
    /// Time and events of one radio since its start.
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
}

impl RadioStats {
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
