//! Whether anything in an experiment is left to chance.

use super::{Experiment, FlowSpec, TrainSpec, UdpSpec};
use crate::{TcpSpec, Train};
use cogtcp_traffic::{Pattern, Period};
use cogtcp_units::Probability;

impl Experiment {
    /// Whether two seeds may give different runs. If not, all do give the same.
    ///
    /// Every field is named here: adding a field forces the decision whether it draws.
    pub fn is_random(&self) -> bool {
        let Self { name: _, run: _, network, train, flows, udp } = self;
        network.is_random()
            || train.as_ref().is_some_and(TrainSpec::is_random)
            || flows.iter().any(FlowSpec::is_random)
            || udp.iter().any(UdpSpec::is_random)
    }
}

impl TrainSpec {
    fn is_random(&self) -> bool {
        let Train { trigger_loss, prediction, .. } = &self.settings;
        *trigger_loss != Probability::ZERO || prediction.kind().is_random()
    }
}

impl FlowSpec {
    fn is_random(&self) -> bool {
        // Nobody knows what a control from outside does. Those in the registry draw nothing.
        let at_random = self.traffic.kind().is_random();
        let starts_at_random = !self.start_jitter.is_zero();
        let is_drawn = |tcp: &TcpSpec| !tcp.sender.timers.timer_tick.is_zero();
        let is_foreign = self.external_control().is_some();
        at_random || starts_at_random || is_foreign || self.tcp().is_some_and(is_drawn)
    }
}

impl UdpSpec {
    fn is_random(&self) -> bool {
        match self.pattern {
            Pattern::Constant(_) | Pattern::Call { codec: _ } => false,
            Pattern::Poisson(_) => true,
            Pattern::OnOff { rate: _, on, off } => {
                [on, off].into_iter().any(|period| !matches!(period, Period::Fixed(_)))
            }
        }
    }
}
