//! The links.

use cogtcp_link::{QueueSpec, Schedule};
use cogtcp_units::{Duration, Probability, Rate};
use std::sync::Arc;

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name, unique among links.
    pub name: String,
    /// Node where the forward direction begins.
    pub from: usize,
    /// Node where the forward direction ends.
    pub to: usize,
    /// From `from` to `to`.
    pub forward: LinkDirectionSpec,
    /// From `to` to `from`.
    pub reverse: LinkDirectionSpec,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirectionSpec {
    /// Rate at which packets are put on the link.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// What waits, besides the packet being sent.
    pub queue: QueueSpec,
    /// Probability that a packet is lost on the link.
    pub loss: Probability,
    /// Mean run of lost packets, at least 1; `None`: each packet is lost on its own.
    pub loss_run: Option<f64>,
    /// Packets to lose by their number from 1, ascending.
    pub drops: Vec<u64>,
    /// A packet that finds so many waiting is marked (ECN); `None`: none is.
    pub mark: Option<u32>,
    /// What it can carry over time, in place of the rate, which is its mean then.
    pub trace: Option<Arc<Schedule>>,
}
