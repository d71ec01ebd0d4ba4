//! Whether anything in a network is left to chance.

use crate::{LinkDirectionSpec, LinkSpec, NetworkSpec, RadioKind, RadioSpec};
use cogtcp_spectrum::{ChannelChoice, CycleConfig, DurationLaw, SensingCycle};
use cogtcp_units::Probability;

impl NetworkSpec {
    /// Whether two seeds may give different networks. Every field is named here: adding a field forces the
    /// decision whether it draws.
    pub fn is_random(&self) -> bool {
        let Self { nodes: _, links, adhoc, spectrum: _, radios } = self;
        // Backoff at the least.
        adhoc.is_some() || links.iter().any(LinkSpec::is_random) || radios.iter().any(RadioSpec::is_random)
    }
}

impl LinkSpec {
    fn is_random(&self) -> bool {
        let Self { name: _, from: _, to: _, forward, reverse } = self;
        forward.is_random() || reverse.is_random()
    }
}

impl LinkDirectionSpec {
    fn is_random(&self) -> bool {
        let Self { rate: _, delay: _, queue, loss, loss_run: _, drops: _, mark: _, trace: _ } = self;
        *loss != Probability::ZERO || queue.is_random()
    }
}

impl RadioSpec {
    fn is_random(&self) -> bool {
        match &self.kind {
            RadioKind::Cycle(CycleConfig { sensing, pu, channel, dwell: _ }, _) => {
                let senses_at_random =
                    sensing.as_ref().is_some_and(|SensingCycle { off, on, start: _, clock: _ }| {
                        [off, on].into_iter().any(|law| !matches!(law, DurationLaw::Fixed(_)))
                    });
                senses_at_random || pu.is_some() || *channel != ChannelChoice::Stay
            }
            RadioKind::Gate(gate, _) => gate.kind().is_random(),
            // The terrain and those who pass; backoff, errors of detection.
            RadioKind::Journey(..)
            | RadioKind::Cognitive(_)
            | RadioKind::Unshared(..)
            | RadioKind::Scheduled(..) => true,
        }
    }
}
