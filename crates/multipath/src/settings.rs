//! Settings of MPTCP in a scenario, and the ends that follow from them.

use crate::{Coupled, MOST_PATHS, MptcpReceiver, MptcpSender, Scheduler, Shared};
use cogtcp_endpoint::{Connection, Pair, Protocol};
use cogtcp_transport::{CongestionControl, Parameters, Preset, ReceiverConfig, SenderConfig, make, with};
use cogtcp_units::{Check, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The TCP of the subflows by default.
const SACK: &str = "sack";

/// Returns the preset of the subflows by default.
fn usual() -> &'static Preset {
    Preset::find(SACK).expect("\"sack\" is a preset")
}

/// Returns the control that coupled controls replace: their windows are halved and grow as its windows do.
fn replaced() -> &'static str {
    usual().control
}

/// How the congestion windows of the subflows are joined.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coupling {
    /// Linked increases (RFC 6356).
    #[default]
    Lia,
    /// Opportunistic linked increases (draft-khalili-mptcp-congestion-control-05).
    Olia,
    /// Balanced linked adaptation (draft-walid-mptcp-congestion-control-04).
    Balia,
    /// Each subflow has a control of its own, as in Linux.
    Uncoupled,
}

impl Coupling {
    /// All couplings that replace a control.
    pub const COUPLED: [Self; 3] = [Self::Lia, Self::Olia, Self::Balia];

    /// Returns the name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lia => "lia",
            Self::Olia => "olia",
            Self::Balia => "balia",
            Self::Uncoupled => "uncoupled",
        }
    }
}

/// What \[tcp\] of a scenario makes of the TCP of each subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Subflows {
    /// The sender's settings.
    pub sender: Arc<SenderConfig>,
    /// The receiver's settings. The buffer is the connection's.
    pub receiver: Arc<ReceiverConfig>,
    /// The control by its name, for uncoupled subflows.
    pub control: String,
    /// The control's parameters.
    pub parameters: Parameters,
}

/// Settings of Multipath TCP (RFC 8684) in a scenario. Settings of \[tcp\] and of the flow's `tcp` hold for
/// each subflow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MptcpSettings {
    /// Which subflow sends the next segment: "lowest-rtt", "round-robin", "redundant" or "blest".
    pub scheduler: Scheduler,
    /// How the congestion windows are joined: "lia", "olia", "balia", or "uncoupled".
    pub coupling: Coupling,
    /// The TCP transport of every subflow. It sets the loss recovery and the host; where `coupling` is
    /// "uncoupled", also the congestion control; without it: "sack".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// What \[tcp\] adds; `None`: the control's own settings.
    #[serde(skip)]
    pub subflows: Option<Subflows>,
}

impl MptcpSettings {
    /// Returns the name of the TCP transport of every subflow.
    pub fn tcp(&self) -> &str {
        self.control.as_deref().unwrap_or(SACK)
    }

    /// What is wrong with a control of the registry under this coupling; `None`: nothing.
    pub fn refusal(&self, control: &str) -> Option<(String, String)> {
        (self.coupling != Coupling::Uncoupled && control != replaced()).then(|| {
            let coupling = self.coupling.name();
            let message = format!("coupling \"{coupling}\" is a control itself and cannot use \"{control}\"");
            (message, "write coupling = \"uncoupled\", or take the control out".to_owned())
        })
    }

    /// The settings of the subflows, completed for `connection`.
    fn complete(&self, connection: Connection) -> Subflows {
        if let Some(given) = &self.subflows {
            return given.clone();
        }
        // A scenario with an unknown control is refused before it runs.
        let preset = Preset::find(self.tcp()).unwrap_or_else(|_| usual());
        let mss = connection.segment_size;
        Subflows {
            sender: Arc::new(with!(preset.sender_config(), handshake.mss = mss)),
            receiver: Arc::new(with!(ReceiverConfig::default(), handshake.mss = mss)),
            control: preset.control.to_owned(),
            parameters: preset.parameters(&Parameters::new()),
        }
    }
}

/// Makes the controls of a connection's subflows.
#[derive(Clone, Debug)]
pub(crate) struct Controls {
    coupling: Coupling,
    shared: Shared,
    name: String,
    parameters: Parameters,
}

impl Controls {
    /// The control of subflow `index`.
    pub(crate) fn make(&self, index: usize) -> Box<dyn CongestionControl> {
        match self.coupling {
            Coupling::Uncoupled => make(&self.name, &self.parameters)
                .or_else(|_| make(replaced(), &Parameters::new()))
                .expect("the control of \"sack\" has defaults"),
            coupling => Box::new(Coupled::new(coupling, self.shared.clone(), index)),
        }
    }
}

#[cfg(test)]
impl Controls {
    /// Controls coupled by LIA.
    pub(crate) fn coupled() -> Self {
        let (shared, name) = (Shared::default(), replaced().to_owned());
        Self { coupling: Coupling::Lia, shared, name, parameters: Parameters::new() }
    }
}

impl Named for MptcpSettings {
    const NAME: &'static str = "mptcp";
    const SUMMARY: &'static str = "Multipath TCP: one connection over several paths, a TCP subflow on each, windows coupled (LIA) or not";
    const REFERENCE: &'static str = "RFC 8684, RFC 6356";

    /// "mptcp-" before the name of a coupled control stands for that; before the name of a TCP transport, for
    /// uncoupled subflows of this transport.
    fn of_name(name: &str) -> Option<Self> {
        let rest = match name.strip_prefix(Self::NAME)? {
            "" => return Some(Self::default()),
            rest => rest.strip_prefix('-')?,
        };
        if let Some(coupling) = Coupling::COUPLED.into_iter().find(|coupling| coupling.name() == rest) {
            return Some(Self { coupling, ..Self::default() });
        }
        Preset::find(rest).ok()?;
        Some(Self { coupling: Coupling::Uncoupled, control: Some(rest.to_owned()), ..Self::default() })
    }

    fn check(&self, found: &mut dyn Check) {
        match Preset::find(self.tcp()) {
            Ok(preset) => {
                if let Some((message, remedy)) = self.refusal(preset.control) {
                    found.error("control", message, remedy);
                }
            }
            Err(unknown) => {
                found.error("control", format!("unknown TCP transport \"{}\"", self.tcp()), unknown.remedy);
            }
        }
    }
}

impl Protocol for MptcpSettings {
    fn is_reliable(&self) -> bool {
        true
    }

    fn build(&self, connection: Connection) -> Pair {
        let paths = usize::from(connection.paths).clamp(1, MOST_PATHS);
        let subflows = self.complete(connection);
        let controls = Controls {
            coupling: self.coupling,
            shared: Shared::default(),
            name: subflows.control.clone(),
            parameters: subflows.parameters.clone(),
        };
        Pair {
            segment_size: subflows.sender.handshake.mss,
            receiver: Box::new(MptcpReceiver::new(&subflows.receiver, paths)),
            sender: Box::new(MptcpSender::new(self.scheduler, &subflows.sender, controls, paths)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coupling is a control, and joins windows of the usual TCP alone; uncoupled subflows have any.
    #[test]
    fn names_and_controls() {
        let named = |name| MptcpSettings::of_name(name);
        assert_eq!(named("mptcp"), Some(MptcpSettings::default()));
        assert_eq!(named("mptcp-olia").map(|it| it.coupling), Some(Coupling::Olia));
        let cubic = named("mptcp-cubic").unwrap();
        assert_eq!((cubic.coupling, cubic.tcp()), (Coupling::Uncoupled, "cubic"));
        assert!(named("mptcpolia").is_none() && named("mptcp-").is_none() && named("tcp").is_none());
        let coupled = MptcpSettings { control: Some("cubic".into()), ..MptcpSettings::default() };
        for (settings, is_right) in [
            (MptcpSettings::default(), true),
            (cubic, true),
            (coupled, false),
            (MptcpSettings { control: Some("none".into()), ..MptcpSettings::default() }, false),
        ] {
            let mut found: Option<cogtcp_units::WrongSetting> = None;
            settings.check(&mut found);
            assert_eq!(found.is_none(), is_right, "{settings:?}");
        }
        assert!(MptcpSettings::default().is_reliable());
        let built = |paths| {
            let pair = MptcpSettings::default().build(Connection { segment_size: 700, paths, seed: 0 });
            let mut shown = 0;
            pair.sender.count(&mut |_, value| {
                assert_eq!(value, 0.0);
                shown += 1;
            });
            (pair.segment_size, shown / 7)
        };
        assert_eq!([0, 1, 2, 8, 9].map(built), [1, 1, 2, 8, 8].map(|paths| (700, paths)));
    }
}
