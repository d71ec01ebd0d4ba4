//! Foretelling outages: what a mobile router knows of silences that are still to come.
//!
//! A [`Predictor`] answers [`Prediction`]s in the order in which they are made. Here are:
//!
//! - [`Oracle`]: knows every outage exactly. The upper bound.
//! - [`Itinerary`]: knows them from earlier journeys, with errors of any given size; misses some, and expects some that do
//!   not come.
//! - [`OutageMap`]: builds the record of earlier journeys itself and predicts by position and speed.
//! - [`SignalStrength`]: extrapolates the level of each base station by an adaptive filter ([`LmsFilter`]).
//!
//! [`assess`] compares what was foretold with what came.

mod assess;
mod itinerary;
mod lms;
mod outage_map;
mod signal;

pub use assess::{Assessment, assess};
pub use itinerary::{Itinerary, ItineraryConfig};
pub use lms::LmsFilter;
pub use outage_map::{OutageMap, OutageMapConfig, RecordedOutage};
pub use signal::{SignalConfig, SignalStrength};

use cogtcp_units::Time;

/// One outage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Outage {
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

/// An outage foretold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Prediction {
    /// When the prediction is made; nobody knows of it before.
    pub made: Time,
    /// When the outage is expected to begin.
    pub start: Time,
    /// When it is expected to end; `None`: this predictor cannot tell.
    pub end: Option<Time>,
    /// When the end is foretold: at `made` or later. Nobody knows the end before.
    pub end_made: Time,
}

impl Prediction {
    /// The end, as far as it is known at `now`.
    pub fn end_known(&self, now: Time) -> Option<Time> {
        self.end.filter(|_| self.end_made <= now)
    }
}

/// Something that foretells outages.
pub trait Predictor: std::fmt::Debug {
    /// The next prediction, in the order of [`Prediction::made`]; `None`: there will be no more.
    fn next(&mut self) -> Option<Prediction>;
}

/// Knows everything from the beginning.
#[derive(Clone, Debug)]
pub struct Oracle {
    outages: std::vec::IntoIter<Outage>,
}

impl Oracle {
    /// Foretells `outages`.
    pub fn new(outages: Vec<Outage>) -> Self {
        Self { outages: outages.into_iter() }
    }
}

impl Predictor for Oracle {
    fn next(&mut self) -> Option<Prediction> {
        let outage = self.outages.next()?;
        let made = Time::ZERO;
        Some(Prediction { made, start: outage.start, end: Some(outage.end), end_made: made })
    }
}
