//! The endpoints of a connection, sans-IO: TCP sender, TCP receiver, congestion controls.
//!
//! A connection end is a plain state machine with four verbs, and time is passed in:
//!
//! - `handle_segment(now, &segment)`: a segment arrived;
//! - `handle_timeout(now)`: the time returned by `poll_timeout` has come (calling early is harmless);
//! - `poll_transmit(now)`: the next segment to send, until `None`;
//! - `poll_timeout()`: when to call again, [`cogtcp_units::Time::MAX`] for never.
//!
//! The driver owns the clock and the network: a simulator, a test, or a real device. After every `handle_*`
//! it asks `poll_transmit` until `None` (or leaves the segments where they are while its link is blocked),
//! then `poll_timeout`.

mod accurate_ecn;
mod challenge;
mod config;
pub mod conformance;
pub mod congestion;
mod event;
mod external;
mod frto;
mod host_profile;
mod micros;
mod offload;
mod pacing;
mod preset;
mod prr;
mod rack;
mod rate_sample;
mod reassembly;
mod receiver;
mod receiver_hook;
mod rtt;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod sequence;
mod spurious;
mod undo;
mod wheel;

pub use cogtcp_crosslayer::LinkEvent;
pub use config::{
    DelayedAck, EcnMode, FRto, FastRetransmitGuard, FullAckWindow, Handshake, InitialWindow, LossRecovery,
    NewRenoVariant, PrrRules, ReceiverConfig, Recovery, RecoveryRules, RttSampling, Segments, SenderConfig,
    TcpConfig, TcpSettings, TimeoutRules, Timers, Undo, Window,
};
pub use congestion::{
    AckSample, CaEvent, CaState, CongestionControl, ControlExtension, ControlInfo, LinuxControl, PacketInfo,
    ParameterKind, ParameterSpec, ParameterValue, Parameters, TcpState, WANTS_REPORTS, linux_control, make,
};
pub use event::TransportEvent;
pub use external::is_external;
pub use host_profile::HostProfile;
pub use preset::{Preset, PresetValue};
pub use rate_sample::RateSample;
pub use reassembly::{Insertion, Reassembly};
pub use receiver::{Accepted, Receiver, ReceiverState, ReceiverStats, memory_for_window, share_of_data};
pub use receiver_hook::{Agree, FlowCount, ReceiverHook, ReceiverHost};
pub use segment::{Flags, IPV4_HEADER, SackBlock, Segment, TCP_HEADER, Timestamps};
pub use sender::{Outstanding, Sender, SenderStats};
pub use sequence::SeqNumber;
pub use wheel::Wheel;
