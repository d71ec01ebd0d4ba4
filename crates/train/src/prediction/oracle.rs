//! The upper bound: a predictor that is never wrong.

use super::{Forecast, Known, Outage, Predictor, PredictorKind};
use cogtcp_units::Time;

/// [`Oracle`] in scenarios.
#[derive(Clone, Copy, Debug)]
pub struct OracleConfig;

impl PredictorKind for OracleConfig {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn is_random(&self) -> bool {
        false
    }

    fn build(&self, known: &Known<'_>) -> Option<Box<dyn Predictor>> {
        Some(Box::new(Oracle::new(known.outages.to_vec())))
    }
}

/// Knows everything from the beginning.
#[derive(Clone, Debug)]
pub struct Oracle {
    outages: std::vec::IntoIter<Outage>,
}

impl Oracle {
    /// Predicts `outages`.
    pub fn new(outages: Vec<Outage>) -> Self {
        Self { outages: outages.into_iter() }
    }
}

impl Predictor for Oracle {
    fn poll(&mut self, _: Time) -> Option<Forecast> {
        self.outages.next().map(|outage| Forecast::Outage { start: outage.start, end: Some(outage.end) })
    }
}
