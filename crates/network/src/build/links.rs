//! Both directions of a link.

use cogtcp_link::queue::{DropTail, Site};
use cogtcp_link::{Link, LinkConfig, Payload, QueueSpec};
use cogtcp_scenario::{LinkSpec, PipeSpec};
use cogtcp_units::RandomStream;

/// Builds both directions of a link, forward and reverse, in the run of seed `seed`.
pub fn link<P: Payload>(spec: &LinkSpec, seed: u64) -> [Link<P>; 2] {
    [("forward", &spec.forward), ("reverse", &spec.reverse)]
        .map(|(direction, pipe)| build(pipe, &spec.name, direction, seed))
}

fn build<P: Payload>(pipe: &PipeSpec, link: &str, direction: &str, seed: u64) -> Link<P> {
    // Keyed by the name of the link: a link more or less leaves the losses of the others as they were.
    let stream = |part: &str| RandomStream::new(seed, &format!("{part}/{link}/{direction}"), 0);
    let mut queue = DropTail::UNLIMITED;
    if let QueueSpec::DropTail(limit) = pipe.queue {
        queue = DropTail::of(limit);
        queue.mark_at = pipe.mark.map_or(u64::MAX, u64::from);
    }
    let config = LinkConfig {
        rate: pipe.rate,
        delay: pipe.delay,
        queue,
        loss: pipe.loss,
        loss_run: pipe.loss_run,
        drops: pipe.drops.clone(),
        schedule: pipe.trace.clone(),
    };
    let discipline = pipe.queue.build(|| Site { rate: pipe.rate, stream: stream("queue") });
    Link::new(&config, discipline, || stream("loss"))
}
