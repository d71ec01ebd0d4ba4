//! From what is specified to what runs: the links, radios and the train of an experiment, alike under every clock.

use super::{LinkSpec, PipeSpec, RadioKind, RadioSpec, TrainSpec};
use crate::RttReport;
use cogtcp_crosslayer::Phase;
use cogtcp_link::queue::{DropTail, Site};
use cogtcp_link::{Link, LinkConfig, Payload, QueueSpec};
use cogtcp_mobile_router::{MobileRouter, RouterConfig};
use cogtcp_spectrum::journey::{self, Course, JourneyRadio};
use cogtcp_spectrum::prediction::{Known, Outage};
use cogtcp_spectrum::{CognitiveCycle, Radio};
use cogtcp_transport::freeze::RoundTrips;
use cogtcp_units::{Duration, RandomStream, Time};
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

impl RadioSpec {
    /// Every silence of [`build`](Self::build)'s radio that begins before `end`, and why. One that never ends ends at
    /// [`Time::MAX`]. Only who may know the future asks for it.
    pub fn timetable(
        &self,
        course: Option<&Arc<Course>>,
        seed: u64,
        end: Time,
    ) -> Vec<(Outage, &'static str)> {
        let Some(mut twin) = self.build(course, seed) else { return Vec::new() };
        let cause = |at: Time, phase: Phase| match course {
            Some(course) => {
                course.outages().find(|outage| outage.0 == at).map_or("", |outage| outage.2.name())
            }
            None => phase.name(),
        };
        let mut outages = Vec::new();
        let mut open: Option<(Time, &'static str)> = None;
        loop {
            let at = twin.next_change();
            // A silence that begins before the end is followed to its own end, which a prediction states.
            if at == Time::MAX || (at >= end && open.is_none()) {
                let last = open.map(|(start, cause)| (Outage { start, end: Time::MAX }, cause));
                outages.extend(last);
                return outages;
            }
            let phase = twin.advance(at);
            match open {
                None if phase.is_silent() => open = Some((at, cause(at, phase))),
                Some((start, cause)) if !phase.is_silent() => {
                    outages.push((Outage { start, end: at }, cause));
                    open = None;
                }
                _ => {}
            }
        }
    }
}

impl TrainSpec {
    /// The router of so many `clients`, in the run of seed `seed` that ends at `end`. `radio` is its radio, `outages` what
    /// that has ahead. `None`: it predicts by a journey, and the radio is on none.
    pub fn build(
        &self,
        radio: &RadioSpec,
        outages: &[Outage],
        clients: usize,
        seed: u64,
        end: Time,
    ) -> Option<MobileRouter> {
        let part = journey::streams_of(&radio.name);
        let journey = radio.kind.journey().map(|journey| (&*journey.line, &*part));
        let known = Known { outages, journey, horizon: end, seed };
        let predictor = self.settings.prediction.kind().build(&known)?;
        let config = RouterConfig {
            tu_advance: self.settings.tu_advance,
            td_advance: self.settings.td_advance,
            poll_interval: self.settings.poll_interval,
            trigger_loss: self.settings.trigger_loss,
        };
        let loss = RandomStream::new(seed, "train/triggers", 0);
        Some(MobileRouter::new(config, clients, predictor, Time::ZERO, loss))
    }
}

impl RttReport {
    /// RTT_TCP of a client whose connections know these: the greatest; `None`: none knows one.
    pub fn of(self, connections: impl Iterator<Item = RoundTrips>) -> Option<Duration> {
        let chosen = connections.map(|known| match self {
            Self::Least => known.least,
            Self::Smoothed => known.smoothed,
            Self::Greatest => known.greatest,
        });
        chosen.max()
    }
}
