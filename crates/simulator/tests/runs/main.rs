//! Whole runs against theory, against hand-computed times and against themselves.

mod adhoc;
mod ahead;
mod applications;
mod batches;
mod budget;
#[path = "../../../units/tests/support/committed.rs"]
mod committed;
mod conservation;
mod determinism;
mod drawn;
mod episode;
mod failures;
mod journey;
mod leo;
mod metrics;
mod order;
mod outages;
mod packets;
mod pinned;
mod queues;
mod regulated;
mod scheduled;
mod sensing;
mod snapshot;
mod support;
mod theory;
mod timing;
mod train;
mod transports;
mod udp;
mod wireless;
