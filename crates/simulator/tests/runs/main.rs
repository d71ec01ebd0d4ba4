//! Whole runs against theory, against hand-computed times and against themselves.

mod adhoc;
mod ahead;
mod applications;
mod batches;
mod budget;
mod conservation;
mod determinism;
mod episode;
mod failures;
mod journey;
mod leo;
mod metrics;
mod outages;
mod packets;
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
