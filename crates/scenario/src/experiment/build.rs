//! From what is specified to what runs: the links and radios of an experiment, alike under every clock.

use super::{LinkSpec, PipeSpec, RadioKind, RadioSpec};
use cogtcp_link::queue::{DropTail, Site};
use cogtcp_link::{Link, LinkConfig, Payload, QueueSpec};
use cogtcp_spectrum::journey::{self, Course, JourneyRadio};
use cogtcp_spectrum::{CognitiveCycle, Radio};
use cogtcp_units::{RandomStream, Time};
use std::sync::Arc;

impl LinkSpec {
    /// Both directions, forward and reverse, in the run of seed `seed`.
    pub fn build<P: Payload>(&self, seed: u64) -> [Link<P>; 2] {
        [("forward", &self.forward), ("reverse", &self.reverse)]
            .map(|(direction, pipe)| pipe.build(&self.name, direction, seed))
    }
}

impl PipeSpec {
    fn build<P: Payload>(&self, link: &str, direction: &str, seed: u64) -> Link<P> {
        // Keyed by the name of the link: a link more or less leaves the losses of the others as they were.
        let stream = |part: &str| RandomStream::new(seed, &format!("{part}/{link}/{direction}"), 0);
        let mut queue = DropTail::UNLIMITED;
        if let QueueSpec::DropTail(limit) = self.queue {
            queue = DropTail::of(limit);
            queue.mark_at = self.mark.map_or(u64::MAX, u64::from);
        }
        let config = LinkConfig {
            rate: self.rate,
            delay: self.delay,
            queue,
            loss: self.loss,
            drops: self.drops.clone(),
            schedule: self.trace.clone(),
        };
        let discipline = self.queue.build(|| Site { rate: self.rate, stream: stream("queue") });
        Link::new(&config, discipline, || stream("loss"))
    }
}

impl RadioSpec {
    /// The journey up to `end`, of a radio that is on one.
    pub fn course(&self, end: Time, seed: u64) -> Option<Arc<Course>> {
        let journey = self.kind.journey()?;
        let part = journey::streams_of(&self.name);
        Some(Arc::new(Course::new(&journey.line, journey.start, end, seed, &part)))
    }

    /// The radio from its beginning, on `course` if it is on a journey; `None`: a CR user, which comes with its MAC.
    pub fn build(&self, course: Option<&Arc<Course>>, seed: u64) -> Option<Box<dyn Radio>> {
        match &self.kind {
            RadioKind::Cycle(cycle, _) => Some(Box::new(CognitiveCycle::new(cycle, seed, &self.name))),
            RadioKind::Journey(..) => Some(Box::new(JourneyRadio::new(Arc::clone(course?)))),
            RadioKind::Cognitive(_) => None,
        }
    }
}
