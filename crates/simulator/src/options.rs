//! What a caller sets for a run, and how a run fails.

use cogtcp_network::BuildError;
use cogtcp_scenario::{ControlSpec, MOST_SERIES_ROWS};
use cogtcp_transport::CongestionControl;
use cogtcp_units::Time;
use cogtcp_units::WrongSetting;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How much a run records beside its summary.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum TraceLevel {
    /// The summary alone.
    #[default]
    None,
    /// Also the time series of flows and links.
    Series,
    /// Also the events.
    Full,
    /// Also every packet on every link: three rows or so for each packet and link.
    Packets,
}

/// How to run an experiment. Nothing here changes a result but the seed and the controls.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Seed in place of the experiment's.
    pub seed: Option<u64>,
    /// What to record.
    pub trace: TraceLevel,
    /// Raised by another thread to end the run early with [`RunError::Cancelled`].
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told now and then how far the run is, in simulated time.
    pub watch: Option<Arc<dyn Fn(Time) + Send + Sync>>,
    /// Builds the congestion controls in place of the transport's registry.
    pub controls: Option<Arc<dyn ControlFactory>>,
}

impl std::fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunOptions")
            .field("seed", &self.seed)
            .field("trace", &self.trace)
            .field("controls", &self.controls.is_some())
            .finish_non_exhaustive()
    }
}

/// Builds the congestion control of a flow, once for each of its connections: what is built for the first
/// must be for all. Any closure of this shape is one.
pub trait ControlFactory: Send + Sync {
    /// The control for the flow called `flow`. A factory that knows some names only hands the others to
    /// [`cogtcp_transport::make`].
    fn build(&self, flow: &str, control: &ControlSpec) -> Result<Box<dyn CongestionControl>, ControlFailure>;
}

/// The control for a connection of the flow called `flow`, from `factory` or the registry.
pub(crate) fn make_control(
    flow: &str,
    control: &ControlSpec,
    factory: Option<&dyn ControlFactory>,
) -> Result<Box<dyn CongestionControl>, RunError> {
    match factory {
        Some(factory) => factory
            .build(flow, control)
            .map_err(|source| RunError::ControlFactory { flow: flow.to_owned(), source }),
        None => cogtcp_transport::make(&control.name, &control.parameters)
            .map_err(|error| RunError::Control { flow: flow.to_owned(), source: Box::new(error) }),
    }
}

/// Why a control could not be built.
pub type ControlFailure = Box<dyn std::error::Error + Send + Sync>;

impl<F> ControlFactory for F
where
    F: Fn(&str, &ControlSpec) -> Result<Box<dyn CongestionControl>, ControlFailure> + Send + Sync,
{
    fn build(&self, flow: &str, control: &ControlSpec) -> Result<Box<dyn CongestionControl>, ControlFailure> {
        self(flow, control)
    }
}

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The caller raised [`RunOptions::cancel`].
    #[error("the run was cancelled at {at_s:.3} s of simulated time")]
    Cancelled {
        /// How far it had come, in seconds.
        at_s: f64,
    },
    /// The registry refused the control of a flow.
    #[error("flow \"{flow}\": {source}")]
    Control {
        /// The flow.
        flow: String,
        /// Why.
        source: Box<WrongSetting>,
    },
    /// The caller's factory failed.
    #[error("flow \"{flow}\": the congestion control could not be built: {source}")]
    ControlFactory {
        /// The flow.
        flow: String,
        /// Why.
        source: ControlFailure,
    },
    /// No path leads from a flow's sender to its receiver.
    #[error(
        "flow \"{flow}\": no links lead from node \"{from}\" to node \"{to}\"; connect them or choose other nodes"
    )]
    NoRoute {
        /// The flow.
        flow: String,
        /// Its sender's node.
        from: String,
        /// Its receiver's node.
        to: String,
    },
    /// An agent's flow has no TCP sender.
    #[error("flow \"{flow}\" runs {transport}; an agent needs a flow over TCP, whose sender it sees")]
    NotTcp {
        /// The flow.
        flow: String,
        /// Its transport.
        transport: String,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] BuildError),
    /// The experiment is larger than the engine's event codes.
    #[error("the experiment has {count} {what}; the engine takes at most {most}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        count: usize,
        /// The bound.
        most: usize,
    },
    /// The time series would have more rows than [`MOST_SERIES_ROWS`].
    #[error(
        "the time series would have {rows} rows, and a run records at most {MOST_SERIES_ROWS}; write a longer \
         run.sample_interval, or record the summary alone (in Python: trace=\"summary\")"
    )]
    SeriesTooLong {
        /// How many.
        rows: u64,
    },
    /// The run scheduled more events than the engine can number.
    #[error("the run scheduled more than 2^39 events; shorten it")]
    TooManyEvents,
    /// A duration, warm-up or sampling interval that makes no run.
    #[error("{0}")]
    Time(&'static str),
    /// Packets appeared or vanished, or a link carried more than it could: a defect of the simulator.
    #[error("internal error, please report it: {0}")]
    Conservation(String),
}

impl RunError {
    /// A radio that cannot be built or steered.
    pub(crate) fn radio(radio: &str, why: &str) -> Self {
        Self::Network(BuildError::Radio { radio: radio.to_owned(), why: why.to_owned() })
    }
}
