//! The mobile router of a train, as its scenario specifies it.

use crate::freeze::RoundTrips;
use cogtcp_crosslayer::ReaderId;
use cogtcp_network::{Boards, build, impossible};
use cogtcp_scenario::{Experiment, RttReport, TrainSpec};
use cogtcp_train::journey::{self, Course};
use cogtcp_train::prediction::{Known, Outage};
use cogtcp_train::{MobileRouter, RouterConfig};
use cogtcp_units::{Duration, RandomStream, Time};
use std::sync::Arc;

/// The mobile router of a train on its node, with what it sees of the radio and its results.
#[derive(Debug)]
pub struct RouterHost {
    /// Settings of the train.
    pub spec: TrainSpec,
    /// The router.
    pub machine: MobileRouter,
    /// Outages of the radio, in time order: for the results, and for predictors that may know them.
    pub outages: Vec<Outage>,
    /// The cause of each outage.
    pub causes: Vec<&'static str>,
    /// Bytes of messages on the LAN since the end of the warm-up.
    pub message_bytes: u64,
    /// When the warm-up ended.
    pub warm_at: Time,
    /// The place of the router on the board of its node.
    reader: Option<ReaderId>,
    /// The journey whose measurements the router is shown, and how many it has seen; `None`: it wants none.
    course: Option<(Arc<Course>, usize)>,
}

impl RouterHost {
    /// Builds the router of so many `clients` in the run of seed `seed` that ends at `end`. `course` is the
    /// journey of its radio. Returns `None` if `experiment` has no train, or its router predicts by a journey
    /// and the radio is on none.
    pub fn new(
        experiment: &Experiment,
        course: Option<Arc<Course>>,
        clients: usize,
        seed: u64,
        end: Time,
    ) -> Option<Self> {
        let spec = experiment.train.clone()?;
        let radio = &experiment.radios[spec.radio];
        let (outages, causes): (Vec<_>, Vec<_>) =
            build::timetable(radio, course.as_ref(), seed, end).into_iter().unzip();
        let part = journey::streams_of(&radio.name);
        let journey = radio.kind.journey().map(|journey| (&*journey.line, &*part));
        let known = Known { outages: &outages, journey, horizon: end, seed };
        let predictor = spec.settings.prediction.kind().build(&known)?;
        let config = RouterConfig {
            tu_advance: spec.settings.tu_advance,
            td_advance: spec.settings.td_advance,
            poll_interval: spec.settings.poll_interval,
            trigger_loss: spec.settings.trigger_loss,
        };
        let loss = RandomStream::new(seed, "train/triggers", 0);
        let machine = MobileRouter::new(config, clients, predictor, Time::ZERO, loss);
        // Without a reader the measurements would only be events that nothing answers.
        let course = course.filter(|_| machine.wants_measurements()).map(|course| (course, 0));
        Some(Self {
            spec,
            machine,
            outages,
            causes,
            message_bytes: 0,
            warm_at: Time::ZERO,
            reader: None,
            course,
        })
    }

    /// Returns the link direction by which the router of `spec` sends to the ground. The other direction of
    /// the link differs in the last bit.
    pub fn uplink(experiment: &Experiment, spec: &TrainSpec) -> u32 {
        let link = experiment.radios[spec.radio].links[0];
        // The reverse direction of a link has its own bit set: a router at the far node sends that way.
        2 * link as u32 + u32::from(experiment.links[link].from != spec.router)
    }

    /// Passes the board entries of the node's radio to the router; `call` is the router's number on the
    /// boards.
    pub fn listen(&mut self, boards: &mut Boards, call: u32) {
        self.reader = boards.subscribe(self.spec.router, call);
    }

    /// Something stands on the board of the router's node.
    pub fn read_board(&mut self, now: Time, boards: &mut Boards) {
        let Some(reader) = self.reader else { return impossible("a board that the router does not read") };
        while let Some(entry) = boards.take(self.spec.router, reader) {
            self.machine.handle_link_event(now, entry.event);
        }
    }

    /// Returns when the radio measures next; [`Time::MAX`]: never, or the router does not want to know.
    pub fn next_measurement(&self) -> Time {
        let next = self.course.as_ref().and_then(|(course, seen)| course.measurements().get(*seen));
        next.map_or(Time::MAX, |measured| measured.time)
    }

    /// Shows the router what has been measured by `now`.
    pub fn show_measurements(&mut self, now: Time) {
        while let Some((course, seen)) = &mut self.course
            && let Some(measured) = course.measurements().get(*seen).filter(|it| it.time <= now)
        {
            *seen += 1;
            self.machine.handle_measurement(now, measured);
        }
    }

    /// Metrics count from `now`.
    pub fn end_warmup(&mut self, now: Time) {
        self.machine.restart_counts();
        self.message_bytes = 0;
        self.warm_at = now;
    }
}

/// Returns RTT_TCP of a client whose connections know these: the greatest of them; `None` if none knows one.
pub fn rtt_tcp(report: RttReport, connections: impl Iterator<Item = RoundTrips>) -> Option<Duration> {
    let chosen = connections.map(|known| match report {
        RttReport::Least => known.least,
        RttReport::Smoothed => known.smoothed,
        RttReport::Greatest => known.greatest,
    });
    chosen.max()
}
