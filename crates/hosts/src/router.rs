//! The mobile router of a train, as its scenario specifies it.

use cogtcp_mobile_router::{MobileRouter, RouterConfig};
use cogtcp_scenario::{RadioSpec, RttReport, TrainSpec};
use cogtcp_spectrum::journey;
use cogtcp_spectrum::prediction::{Known, Outage};
use cogtcp_transport::freeze::RoundTrips;
use cogtcp_units::{Duration, RandomStream, Time};

/// Builds the router of so many `clients`, in the run of seed `seed` that ends at `end`. `radio` is its radio, and `outages` are that
/// radio's outages. Returns `None` if it predicts by a journey and the radio is on none.
pub fn router(
    spec: &TrainSpec,
    radio: &RadioSpec,
    outages: &[Outage],
    clients: usize,
    seed: u64,
    end: Time,
) -> Option<MobileRouter> {
    let part = journey::streams_of(&radio.name);
    let journey = radio.kind.journey().map(|journey| (&*journey.line, &*part));
    let known = Known { outages, journey, horizon: end, seed };
    let predictor = spec.settings.prediction.kind().build(&known)?;
    let config = RouterConfig {
        tu_advance: spec.settings.tu_advance,
        td_advance: spec.settings.td_advance,
        poll_interval: spec.settings.poll_interval,
        trigger_loss: spec.settings.trigger_loss,
    };
    let loss = RandomStream::new(seed, "train/triggers", 0);
    Some(MobileRouter::new(config, clients, predictor, Time::ZERO, loss))
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
