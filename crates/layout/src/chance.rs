//! Whether anything in a network is left to chance.

use crate::{LinkDirectionSpec, LinkSpec, NetworkSpec};
use cogtcp_units::Probability;

impl NetworkSpec {
    /// Whether two seeds may give different networks. Every field is named here: adding a field forces the
    /// decision whether it draws.
    pub fn is_random(&self) -> bool {
        let Self { nodes: _, links, adhoc, spectrum: _, radios } = self;
        // Backoff at the least.
        adhoc.is_some()
            || links.iter().any(LinkSpec::is_random)
            || radios.iter().any(|it| it.kind.is_random())
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
