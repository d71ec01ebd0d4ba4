//! Predicting outages: what a mobile router knows of silences that are still to come.
//!
//! A [`Predictor`] runs live: it is shown what the radio measures as it measures it, and says what it
//! predicts when it predicts it. No clock is in it, so that a simulator and an emulator drive the same code.
//! Here are:
//!
//! - [`Oracle`]: knows every outage exactly. The upper bound.
//! - [`Itinerary`]: knows them from earlier journeys, with errors of any given size; misses some, and expects
//!   some that do not come.
//! - [`OutageMap`]: builds the record of earlier journeys itself and predicts by position and speed.
//! - [`SignalStrength`]: extrapolates the level of each base station by an adaptive filter ([`LmsFilter`]).
//!
//! [`PredictorConfig`] is the registry of them; [`assess`] compares what was predicted with what came.

mod assess;
mod itinerary;
mod lms;
mod oracle;
mod outage_map;
mod signal;

pub use assess::{Assessment, assess};
pub use itinerary::{Itinerary, ItineraryConfig};
pub use lms::LmsFilter;
pub use oracle::{Oracle, OracleConfig};
pub use outage_map::{OutageMap, OutageMapConfig, RecordedOutage};
pub use signal::{SignalConfig, SignalStrength};

use crate::journey::{Line, Measurement};
use cogtcp_units::{Check, Time, registry};

registry! {
    /// How the router predicts silences.
    #[schemars(rename = "Prediction")]
    #[derive(Default)]
    pub enum PredictorConfig: PredictorKind {
        /// Exactly.
        #[default]
        Oracle = OracleConfig,
        /// From the record of earlier journeys, with errors of a given size.
        Itinerary(ItineraryConfig),
        /// From an outage map built of earlier journeys, by position and speed; the radio needs a journey.
        OutageMap(OutageMapConfig),
        /// From the levels that the radio measures, by an adaptive filter; the radio needs a journey.
        SignalStrength(SignalConfig),
    }
}

/// A predictor as the registry knows it: its parameters, which build it.
pub trait PredictorKind: std::fmt::Debug {
    /// The name in scenarios and tables.
    fn name(&self) -> &'static str;

    /// Says what is wrong with the parameters.
    #[allow(unused_variables)]
    fn check(&self, faults: &mut dyn Check) {}

    /// Whether the radio has to be on a journey.
    fn needs_journey(&self) -> bool {
        false
    }

    /// Whether two seeds may give different predictions of the same outages.
    fn is_random(&self) -> bool {
        true
    }

    /// How many earlier journeys are simulated to build it.
    fn earlier_journeys(&self) -> u32 {
        0
    }

    /// The predictor; `None`: it needs a journey, and the radio is on none.
    fn build(&self, known: &Known<'_>) -> Option<Box<dyn Predictor>>;
}

/// What predictors may be built of. Each takes what is its own.
#[derive(Debug)]
pub struct Known<'a> {
    /// The outages to come, for predictors that know the future.
    pub outages: &'a [Outage],
    /// The line, and what the names of the random streams of its journeys begin with; `None`: no journey.
    pub journey: Option<(&'a Line, &'a str)>,
    /// The end of the run.
    pub horizon: Time,
    /// The seed of the run.
    pub seed: u64,
}

/// One outage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Outage {
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

/// An outage that was predicted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Prediction {
    /// When the prediction was made.
    pub made: Time,
    /// When the outage is expected to begin.
    pub start: Time,
    /// When it is expected to end; `None`: that has not been predicted.
    pub end: Option<Time>,
}

/// What a predictor says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forecast {
    /// An outage will come.
    Outage {
        /// When it will begin.
        start: Time,
        /// When it will end; `None`: that may be predicted later.
        end: Option<Time>,
    },
    /// The outage predicted last will end, or has been called off: it ends now.
    End {
        /// When it will end.
        end: Time,
    },
}

/// Something that predicts outages.
pub trait Predictor: std::fmt::Debug + Send {
    /// Whether it wants to be shown what the radio measures.
    fn observes(&self) -> bool {
        false
    }

    /// Takes what the radio measured at `now`; measurements come in the order of time.
    #[allow(unused_variables)]
    fn observe(&mut self, now: Time, measured: &Measurement) {}

    /// The next forecast made up to `now`; `None`: there is none at present. To be asked at the beginning and
    /// after each measurement, until `None`.
    fn poll(&mut self, now: Time) -> Option<Forecast>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::Duration;

    /// Who predicts without a journey is not shown its measurements; who needs one says so and is not built
    /// without.
    #[test]
    fn a_predictor_needs_what_it_says() {
        let outages = [Outage { start: Time::from_millis(1), end: Time::from_millis(2) }];
        let known = Known { outages: &outages, journey: None, horizon: Time::from_millis(9), seed: 1 };
        let signal = SignalConfig { horizon: Duration::from_secs(1), ..SignalConfig::default() };
        for (config, name, journey, earlier, random) in [
            (PredictorConfig::Oracle, "oracle", false, 0, false),
            (PredictorConfig::Itinerary(ItineraryConfig::default()), "itinerary", false, 0, true),
            (PredictorConfig::OutageMap(OutageMapConfig::default()), "outage_map", true, 20, true),
            (PredictorConfig::SignalStrength(signal), "signal_strength", true, 0, true),
        ] {
            let kind = config.kind();
            assert_eq!((kind.name(), kind.needs_journey()), (name, journey));
            assert_eq!((kind.earlier_journeys(), kind.is_random()), (earlier, random), "{name}");
            match kind.build(&known) {
                Some(mut predictor) => {
                    assert!(!journey && !predictor.observes(), "{name}");
                    assert!(predictor.poll(Time::ZERO).is_some(), "{name}");
                }
                None => assert!(journey, "{name}"),
            }
        }
    }
}
