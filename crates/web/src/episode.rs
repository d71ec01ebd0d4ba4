//! Runs that stop for decisions.

use crate::failure::Failure;
use cogtcp_scenario::Experiment;
use cogtcp_simulator::{CongestionEpisode, SensingEpisode};
use cogtcp_units::Duration;
use serde_json::{Value, json};
use std::sync::Arc;

/// An episode under way.
#[derive(Debug)]
pub(crate) enum Episode {
    Congestion(Box<CongestionEpisode>),
    Sensing(Box<SensingEpisode>),
}

impl Episode {
    pub(crate) fn new(
        experiment: Arc<Experiment>,
        seed: Option<u64>,
        flow: usize,
        radio: Option<&str>,
    ) -> Result<Self, Failure> {
        let flows = experiment.flows.len();
        if flow >= flows {
            let message = format!("flow: there is no flow {flow}; the scenario has {flows}, numbered from 0");
            return Err(Failure::Request(message));
        }
        Ok(match radio {
            None => Self::Congestion(Box::new(CongestionEpisode::new(experiment, seed, flow)?)),
            Some(radio) => Self::Sensing(Box::new(SensingEpisode::new(experiment, seed, radio, flow)?)),
        })
    }

    pub(crate) fn window(&mut self, window: u64, span_s: f64) -> Result<Value, Failure> {
        let Self::Congestion(run) = self else {
            return Err(Failure::Request("this episode sets a cycle; step it with \"step_sensing\"".into()));
        };
        run.go_on(window, seconds("span_s", span_s)?)?;
        Ok(self.view())
    }

    pub(crate) fn sensing(&mut self, sensing_s: f64, transmission_s: f64) -> Result<Value, Failure> {
        let Self::Sensing(run) = self else {
            return Err(Failure::Request("this episode sets a window; step it with \"step_window\"".into()));
        };
        run.go_on(seconds("sensing_s", sensing_s)?, seconds("transmission_s", transmission_s)?)?;
        Ok(self.view())
    }

    /// What an agent sees. Totals are since the beginning.
    pub(crate) fn view(&self) -> Value {
        match self {
            Self::Congestion(run) => {
                let view = run.view();
                json!({
                    "time_s": view.time.as_secs_f64(), "is_over": view.is_over, "delivered": view.delivered,
                    "sent": view.sent, "retransmitted": view.retransmitted, "timeouts": view.timeouts,
                    "srtt_s": view.srtt.as_secs_f64(), "min_rtt_s": view.min_rtt.as_secs_f64(),
                    "in_flight": view.in_flight, "mss": view.mss,
                })
            }
            Self::Sensing(run) => {
                let view = run.view();
                json!({
                    "time_s": view.time.as_secs_f64(), "is_over": view.is_over,
                    "sensing_time_s": view.times.0.as_secs_f64(), "transmission_time_s": view.times.1.as_secs_f64(),
                    "reported": view.reported, "sensings": view.radio.sensings, "reports": view.reports,
                    "handoffs": view.radio.handoffs, "transmitting_s": view.radio.transmitting.as_secs_f64(),
                    "busy_share": view.busy_share, "rate_bps": view.rate.bits_per_second(),
                    "fastest_bps": view.fastest.bits_per_second(), "exchanges": view.exchanges.0,
                    "failed_exchanges": view.exchanges.1, "acked": view.acked, "timeouts": view.timeouts,
                    "delivered": view.delivered, "interfered_s": view.interfered.as_secs_f64(),
                })
            }
        }
    }
}

fn seconds(name: &str, value: f64) -> Result<Duration, Failure> {
    if value > 0.0 && value <= 1e6 {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(Failure::Request(format!(
        "{name}: {value} s is out of range; give a time above 0 s and up to 1000000 s"
    )))
}
