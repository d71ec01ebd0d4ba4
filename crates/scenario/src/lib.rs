//! What a user writes: the one schema of every experiment, its units and its errors.
//!
//! A [`Scenario`] is the author's text, in TOML or JSON. Its [`Scenario::resolve`] returns the input of a
//! simulator: an [`Experiment`], in which every name is an index and every default is filled in. Unknown keys
//! are refused and quantities carry their unit. A [`ScenarioError`] says where the text is wrong and what
//! would be right.
//!
//! ```
//! use cogtcp_scenario::{Scenario, starter};
//!
//! let scenario = Scenario::parse(&starter("single-hop")?, "mine.toml")?;
//! let experiment = scenario.set("run.duration", "5 s")?.with_seed(7)?.resolve()?;
//! assert_eq!(experiment.run.seed.get(), 7);
//! # Ok::<(), cogtcp_scenario::ScenarioError>(())
//! ```

mod adhoc;
mod cognitive;
mod error;
mod excerpt;
mod experiment;
mod external;
mod files;
mod flat;
mod flow;
mod format;
mod homes;
mod journey;
mod limits;
mod radio;
mod read;
mod resolve;
mod scenario;
mod source;
mod starter;
mod suggest;
mod topology;
mod train;
mod transports;
mod tree;
mod udp;

pub use adhoc::{
    AdHoc, AdHocMac, AdHocRate, AreaSize, CognitiveNodes, GridPlacement, MacOfMany, MobilityModel, NodePower,
    Phy, PlacementModel, SensingOfNodes, WaypointModel,
};
pub use cognitive::{
    Access, AlternatingChannels, BaseStation, CellSettings, Channels, CognitiveUser, Cooperation,
    Coordinates, Crowd, Duplex, Exponential, ExponentialLaw, LawsOfUsers, MeasuredFile, MeasuredUsers,
    ModelOfUsers, OnOffLaws, OtherUsers, PairOfUsers, PuSnr, RlcMode, Scheduling, SensingSettings, Spectrum,
    Technology, TraceModel, TraceOfUsers, Users,
};
pub use cogtcp_layout::{
    AdHocSpec, CellSpec, CognitiveSpec, Ends, Gating, JourneySpec, LinkDirectionSpec, LinkSpec, Motion,
    NetworkSpec, RadioKind, RadioSpec, Reception, SpectrumSpec, TransmitRadio, UsersSpec, WhilePeerSenses,
};
pub use cogtcp_link::{Flush, QueueLimit, QueueSpec, Silence};
pub use cogtcp_traffic::{Connection, Pace, Pattern, Period, RequestConfig, VideoConfig, Volume};
pub use cogtcp_transport::{TcpSettings, Window};
pub use cogtcp_units::Seed;
pub use error::ScenarioError;
pub use excerpt::line_excerpt;
pub use experiment::{ControlSpec, Experiment, FlowSpec, PathSpec, Protocol, TcpSpec, TrainSpec, UdpSpec};
pub use external::is_external;
pub use flat::Flat;
pub use flow::{Flow, Traffic};
pub use format::SCENARIO_SCHEMA;
pub use journey::{Journey, JourneyMap, JourneyRate};
pub use limits::MOST_SERIES_ROWS;
pub use radio::Radio;
pub use scenario::{Run, Scenario};
pub use source::{TomlLocation, toml_place};
pub use starter::{STARTERS, starter};
pub use topology::{Chain, Dumbbell, Graph, Link, LinkEnds, NamedLink, SingleHop, Topology};
pub use train::{RttReport, Train};
pub use transports::{
    ControlMaker, Transport, TransportSpec, all_transports, is_known as is_known_transport,
};
pub use udp::Udp;
