//! Both directions of a link.

use cogtcp_layout::{LinkDirectionSpec, LinkSpec};
use cogtcp_link::queue::{DropTail, Site};
use cogtcp_link::{Link, LinkConfig, LinkPayload, QueueSpec};
use cogtcp_units::RandomStream;

/// Builds both directions of a link, forward and reverse, in the run of seed `seed`.
pub fn link<P: LinkPayload>(spec: &LinkSpec, seed: u64) -> [Link<P>; 2] {
    [("forward", &spec.forward), ("reverse", &spec.reverse)]
        .map(|(name, direction)| build(direction, &spec.name, name, seed))
}

fn build<P: LinkPayload>(direction: &LinkDirectionSpec, link: &str, name: &str, seed: u64) -> Link<P> {
    // Keyed by the name of the link: a link more or less leaves the losses of the others as they were.
    let stream = |part: &str| RandomStream::new(seed, &format!("{part}/{link}/{name}"), 0);
    let mut queue = DropTail::UNLIMITED;
    // A queue discipline keeps packets and marks them itself: the link's own queue has no limit then.
    if let QueueSpec::DropTail(limit) = direction.queue {
        queue = DropTail::of(limit);
        queue.mark_at = direction.mark.map_or(u64::MAX, u64::from);
    }
    let config = LinkConfig {
        rate: direction.rate,
        delay: direction.delay,
        queue,
        loss: direction.loss,
        loss_run: direction.loss_run,
        drops: direction.drops.clone(),
        schedule: direction.trace.clone(),
    };
    let discipline = direction.queue.build(|| Site { rate: direction.rate, stream: stream("queue") });
    Link::new(&config, discipline, || stream("loss"))
}
