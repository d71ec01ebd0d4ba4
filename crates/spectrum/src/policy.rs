//! Decision policies: which channel next, once a primary user was reported on the present one.

mod rules;

pub use rules::{BestRate, LeastBusy, RandomChannel, RoundRobin, Sticky};

use crate::{ChannelId, ChannelTable};
use cogtcp_units::{Duration, RandomStream, Time, registry};

/// What a policy may know: the channels and what this radio's own sensing reported, never the truth.
#[derive(Debug)]
pub struct DecisionView<'a> {
    /// The time.
    pub now: Time,
    /// The channel on which a PU was just reported.
    pub current: ChannelId,
    /// All channels.
    pub channels: &'a ChannelTable,
    /// Own reports, by channel.
    pub history: &'a ChannelHistory,
}

impl DecisionView<'_> {
    /// Channels for data other than the present one, in the order (current + 1), (current + 2), ... modulo B
    /// n.
    pub fn others(&self) -> impl Iterator<Item = ChannelId> {
        let (count, current) = (self.channels.len(), self.current.0);
        (1..count)
            // In 64 bits, as the sum may pass 2^32.
            .map(move |step| ChannelId(((u64::from(current) + u64::from(step)) % u64::from(count)) as u32))
            .filter(|id| self.channels.get(*id).is_some_and(|channel| !channel.reserved))
    }
}

/// What to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// Go to this channel (with the switching delay) and sense there.
    Switch(ChannelId),
    /// Stay, and sense here again at once.
    Stay,
}

/// A rule for the next channel.
pub trait DecisionPolicy: std::fmt::Debug + Send {
    /// The name in scenarios and tables.
    fn name(&self) -> &'static str;

    /// What to do after a PU was reported on `view.current`. Random policies draw from `stream`, which nobody
    /// else uses.
    fn decide(&mut self, view: &DecisionView<'_>, stream: &mut RandomStream) -> Decision;
}

registry! {
    /// The next channel, once a PU was reported.
    #[schemars(rename = "Policy")]
    #[derive(Copy, Default, Eq)]
    pub enum PolicyConfig: PolicyKind {
        /// (c + 1) modulo the number of channels: equation 3 of the paper.
        #[default]
        RoundRobin = RoundRobin,
        /// Any other, uniformly.
        Random = RandomChannel,
        /// The current channel: sense again.
        Sticky = Sticky,
        /// The other with the fewest reports of a PU so far.
        LeastBusy = LeastBusy,
        /// The fastest other without a report for so long.
        BestRate(BestRate),
    }
}

/// A policy as the registry knows it: its parameters, which build it.
pub trait PolicyKind: std::fmt::Debug {
    /// The policy.
    fn build(&self) -> Box<dyn DecisionPolicy>;
}

/// A policy whose parameters are all of it.
impl<P: DecisionPolicy + Clone + 'static> PolicyKind for P {
    fn build(&self) -> Box<dyn DecisionPolicy> {
        Box::new(self.clone())
    }
}

/// What a radio's own sensing has reported of each channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelHistory {
    channels: Vec<Heard>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Heard {
    sensings: u64,
    busy: u64,
    last_busy: Option<Time>,
}

impl ChannelHistory {
    /// Nothing heard of `channels` channels.
    pub fn new(channels: u32) -> Self {
        Self { channels: vec![Heard::default(); channels as usize] }
    }

    /// Notes what a sensing of `channel` that ended at `at` reported.
    pub fn record(&mut self, channel: ChannelId, at: Time, is_busy: bool) {
        let Some(heard) = self.channels.get_mut(channel.0 as usize) else { return };
        heard.sensings += 1;
        if is_busy {
            heard.busy += 1;
            heard.last_busy = Some(at);
        }
    }

    /// Estimated share of sensings that report a PU: (busy + 1) / (sensings + 2), Laplace's rule, so that a
    /// channel never tried counts as 1/2.
    pub fn busy_share(&self, channel: ChannelId) -> f64 {
        let heard = self.channels.get(channel.0 as usize).copied().unwrap_or_default();
        (heard.busy + 1) as f64 / (heard.sensings + 2) as f64
    }

    /// Whether a PU was reported on the channel less than `memory` before `now`.
    pub fn was_busy(&self, channel: ChannelId, now: Time, memory: Duration) -> bool {
        let last = self.channels.get(channel.0 as usize).and_then(|heard| heard.last_busy);
        last.is_some_and(|at| now.saturating_since(at) < memory)
    }
}
