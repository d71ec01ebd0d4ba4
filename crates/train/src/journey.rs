//! A train's journey along a line, and what its radio hears on the way.
//!
//! Everything follows from a [`Line`] (what a map file says) and a seed:
//!
//! - [`Timetable`]: where the train is when. It accelerates, keeps to the limits, brakes, stops at stations.
//! - [`LineLevels`]: how loud each base station is at each place: path loss, log-normal shadowing that is correlated
//!   along the line, tunnels.
//! - [`Course`]: both together, measured at regular instants: which base station serves, at which rate, and
//!   when there is no signal and why.
//! - [`JourneyRadio`]: the course as a radio.
//!
//! Part of the shadowing belongs to the line and returns on every journey. The rest, the time in stations and
//! the driver's speed differ from journey to journey. This limits the worth of a record of earlier journeys.

mod air;
mod check;
mod course;
mod journey_radio;
mod line;
mod motion;

pub use air::LineLevels;
pub use course::{Course, Measurement};
pub use journey_radio::JourneyRadio;
pub use line::{BaseStation, Border, Line, RateStep, Signal, SpeedLimit, Station, TrainDynamics, Tunnel};
pub use motion::Timetable;

/// What the names of the random streams of the journey of the radio `radio` begin with.
pub fn streams_of(radio: &str) -> String {
    format!("radio/{radio}/journey")
}

#[cfg(test)]
mod tests {
    /// The journeys of two radios draw from streams of their own; a name that changed would change every
    /// journey.
    #[test]
    fn every_radio_has_its_journey() {
        assert_eq!(super::streams_of("cr"), "radio/cr/journey");
    }
}
