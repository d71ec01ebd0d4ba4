//! What a mobile router foretells: the predictor of the scenario, asked for all of its predictions before the run. None is
//! used before it is made.

use crate::gated_links::GatedLinks;
use crate::options::RunError;
use cogtcp_scenario::{Experiment, PredictionSpec, TrainSpec};
use cogtcp_spectrum::journey::{self, Course};
use cogtcp_spectrum::prediction::{
    Itinerary, Oracle, Outage, OutageMap, Prediction, Predictor, SignalStrength,
};
use cogtcp_units::{Duration, RandomStream, Time};

/// The predictions of `spec` for `radio`, whose silences are `outages`, in the order in which they are made.
pub(super) fn predictions(
    experiment: &Experiment,
    spec: &TrainSpec,
    radio: &GatedLinks,
    outages: &[Outage],
    seed: u64,
) -> Result<Vec<Prediction>, RunError> {
    let stream = |part: &str| RandomStream::new(seed, &format!("train/{part}"), 0);
    let end = Time::ZERO + experiment.run.duration;
    let on_journey = || {
        let spec = &experiment.radios[spec.radio];
        let journey = spec.kind.journey().zip(radio.course());
        journey.ok_or_else(|| RunError::Radio {
            radio: spec.name.clone(),
            why: "it is on no journey, by which its silences could be foretold".to_owned(),
        })
    };
    let mut predictor: Box<dyn Predictor> = match &spec.prediction {
        PredictionSpec::Oracle => Box::new(Oracle::new(outages.to_vec())),
        PredictionSpec::Itinerary(config) => {
            Box::new(Itinerary::new(outages, config, end, stream("itinerary")))
        }
        PredictionSpec::OutageMap(config) => {
            let (journey, course) = on_journey()?;
            let part = journey::streams_of(&experiment.radios[spec.radio].name);
            // As far as this journey leads, whoever drives and however long the stops.
            let far = Time::ZERO + experiment.run.duration * 2;
            let earlier: Vec<Course> = (1..=u64::from(config.journeys))
                .map(|number| {
                    let seed = RandomStream::new(seed, "train/earlier", number).next_u64();
                    Course::new(&journey.line, Duration::ZERO, far, seed, &part).without_measurements()
                })
                .collect();
            Box::new(OutageMap::new(&journey.line, &earlier, course, config, stream("position")))
        }
        PredictionSpec::SignalStrength(config) => {
            let (journey, course) = on_journey()?;
            Box::new(SignalStrength::new(&journey.line, course, config, stream("level")))
        }
    };
    Ok(std::iter::from_fn(|| predictor.next()).collect())
}
