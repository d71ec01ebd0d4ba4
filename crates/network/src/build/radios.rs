//! Radios without a MAC: cycles, journeys, and those that gate links by themselves.

use cogtcp_crosslayer::Phase;
use cogtcp_layout::{RadioKind, RadioSpec};
use cogtcp_spectrum::{CognitiveCycle, Radio};
use cogtcp_train::journey::{self, Course, JourneyRadio};
use cogtcp_train::prediction::Outage;
use cogtcp_units::Time;
use std::sync::Arc;

/// Works out the journey up to `end`, of a radio that is on one.
pub fn course(spec: &RadioSpec, end: Time, seed: u64) -> Option<Arc<Course>> {
    let journey = spec.kind.journey()?;
    let part = journey::streams_of(&spec.name);
    Some(Arc::new(Course::new(&journey.line, journey.start, end, seed, &part)))
}

/// Builds the radio as it is at time zero, on `course` if it is on a journey. Returns `None` for a CR user,
/// which needs an air.
pub fn radio(spec: &RadioSpec, course: Option<&Arc<Course>>, seed: u64) -> Option<Box<dyn Radio>> {
    match &spec.kind {
        RadioKind::Cycle(cycle, _) => Some(Box::new(CognitiveCycle::new(cycle, seed, &spec.name))),
        RadioKind::Journey(..) => Some(Box::new(JourneyRadio::new(Arc::clone(course?)))),
        RadioKind::Gate(gate, _) => Some(gate.kind().build(seed, &spec.name)),
        RadioKind::Cognitive(_) | RadioKind::Unshared(..) | RadioKind::Scheduled(..) => None,
    }
}

/// Lists every silence of [`radio`]'s radio that begins before `end`, and its cause. A silence that never
/// ends ends at [`Time::MAX`]. For results, and for predictors that may know the future.
pub fn timetable(
    spec: &RadioSpec,
    course: Option<&Arc<Course>>,
    seed: u64,
    end: Time,
) -> Vec<(Outage, &'static str)> {
    // A second radio from the same seed draws the same silences, and can be played before the run.
    let Some(mut twin) = radio(spec, course, seed) else { return Vec::new() };
    // A journey's phases say only that there is no signal; its course says why.
    let cause = |at: Time, phase: Phase| match course {
        Some(course) => course.outages().find(|outage| outage.0 == at).map_or("", |outage| outage.2.name()),
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
