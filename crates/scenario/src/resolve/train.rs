//! The train: its router, its radio, and numbers that make sense.

use super::Findings;
use super::network::Network;
use crate::limits::{LONGEST, MOST_MEASUREMENTS};
use crate::tree::Path;
use crate::{JourneySpec, Prediction, PredictionSpec, RadioSpec, RunSpec, Scenario, TrainSpec};
use cogtcp_spectrum::prediction::{ItineraryConfig, OutageMapConfig, SignalConfig};
use cogtcp_units::Duration;

/// The most round-trip times that a warning may come ahead.
const MOST_ADVANCE: f64 = 100.0;
/// The most earlier journeys, and the most weights of a filter.
const MOST_JOURNEYS: u32 = 1000;
/// The largest error of a position, and the largest spread, m.
const MOST_METRES: f64 = 100_000.0;
/// The furthest that a filter looks ahead.
const LONGEST_HORIZON: Duration = Duration::from_secs(60);
/// The router asks no more often than this.
const LEAST_POLL: Duration = Duration::from_millis(1);

pub(super) fn build(
    scenario: &Scenario,
    network: &Network,
    radios: &[RadioSpec],
    run: &RunSpec,
    findings: &mut Findings,
) -> Option<TrainSpec> {
    let train = scenario.train.as_ref()?;
    let path = Path::of("train");
    let router = network.node(&train.router, &path.key("router"), findings);
    let radio = radios.iter().position(|radio| radio.name == train.radio);
    match radio.map(|radio| &radios[radio].links[..]) {
        None => {
            let known: Vec<&str> = radios.iter().map(|radio| radio.name.as_str()).collect();
            findings.error(
                &path.key("radio"),
                format!("there is no radio \"{}\"", train.radio),
                if known.is_empty() {
                    "add a section [[radio]] for the link between the router and the ground".to_owned()
                } else {
                    format!("name one of: {}", known.join(", "))
                },
            );
        }
        Some(_) if scenario.radio.iter().any(|radio| radio.name == train.radio && radio.cr.is_some()) => {
            findings.error(
                &path.key("radio"),
                format!(
                    "the radio \"{}\" is a CR user in full, whose silences are not foretold",
                    train.radio
                ),
                "name a radio with sensing = { off = ..., on = ... }",
            );
        }
        Some(&[link]) => {
            let link = &network.links[link];
            if router.is_some_and(|router| router != link.from && router != link.to) {
                findings.error(
                    &path.key("router"),
                    format!("\"{}\" is no end of the radio's link \"{}\"", train.router, link.name),
                    format!(
                        "name \"{}\" or \"{}\", the one that travels",
                        network.nodes[link.from], network.nodes[link.to]
                    ),
                );
            }
        }
        Some(links) => findings.error(
            &path.key("radio"),
            format!("the radio \"{}\" gates {} links", train.radio, links.len()),
            "name a radio that gates one link, the one between the router and the ground",
        ),
    }
    check_number(&path.key("tu_advance"), train.tu_advance, MOST_ADVANCE, findings);
    check_number(&path.key("td_advance"), train.td_advance, 1.0, findings);
    findings.check_span(&path.key("poll_interval"), train.poll_interval, false, LONGEST);
    if !train.poll_interval.is_zero() && train.poll_interval < LEAST_POLL {
        findings.error(
            &path.key("poll_interval"),
            format!("\"{}\" is absurdly short", train.poll_interval),
            format!("write at least \"{LEAST_POLL}\""),
        );
    }
    let on_journey = radio.is_some_and(|radio| scenario.radio[radio].journey.is_some());
    if let (Prediction::OutageMap(map), Some(radio)) = (&train.prediction, radio)
        && let Some(journey) = radios[radio].kind.journey()
    {
        check_work(
            &path.key("prediction").key("outage_map").key("journeys"),
            map.journeys,
            journey,
            run,
            findings,
        );
    }
    let prediction = prediction(&train.prediction, on_journey, &path.key("prediction"), findings);
    Some(TrainSpec {
        router: router?,
        radio: radio?,
        connection_manager: train.connection_manager,
        prediction,
        tu_advance: train.tu_advance,
        td_advance: train.td_advance,
        rtt: train.rtt,
        poll_interval: train.poll_interval,
        trigger_loss: train.trigger_loss,
        buffer: train.buffer,
    })
}

fn prediction(wanted: &Prediction, on_journey: bool, path: &Path, findings: &mut Findings) -> PredictionSpec {
    let needs_journey = |path: &Path, findings: &mut Findings| {
        if !on_journey {
            findings.error(
                path,
                "the train's radio is on no journey: there are no places and no levels to predict by",
                "add journey = { map = ... } to the radio, or write prediction = { itinerary = { error = ... } }",
            );
        }
    };
    match wanted {
        Prediction::Oracle => PredictionSpec::Oracle,
        Prediction::Itinerary(record) => {
            let path = path.key("itinerary");
            findings.check_span(&path.key("error"), record.error, true, LONGEST);
            if let Some(interval) = record.false_interval {
                findings.check_span(&path.key("false_interval"), interval, false, LONGEST);
                if !interval.is_zero() && interval < LEAST_POLL {
                    findings.error(
                        &path.key("false_interval"),
                        format!("\"{interval}\" is absurdly short"),
                        format!("write at least \"{LEAST_POLL}\""),
                    );
                }
            }
            PredictionSpec::Itinerary(ItineraryConfig {
                error: record.error,
                missed: record.missed,
                false_interval: record.false_interval,
            })
        }
        Prediction::OutageMap(map) => {
            let path = path.key("outage_map");
            needs_journey(&path, findings);
            check_count(&path.key("journeys"), map.journeys, findings);
            check_number(&path.key("position_error"), map.position_error.0, MOST_METRES, findings);
            check_number(&path.key("spread"), map.spread.0, MOST_METRES, findings);
            findings.check_span(&path.key("ahead"), map.ahead, false, LONGEST);
            PredictionSpec::OutageMap(OutageMapConfig {
                journeys: map.journeys,
                position_error: map.position_error.0,
                share: map.share,
                spread: map.spread.0,
                ahead: map.ahead,
            })
        }
        Prediction::SignalStrength(filter) => {
            let path = path.key("signal_strength");
            needs_journey(&path, findings);
            check_count(&path.key("order"), filter.order, findings);
            if !(filter.step > 0.0 && filter.step < 2.0) {
                let message = format!("a step of {} is out of range", filter.step);
                findings.error(
                    &path.key("step"),
                    message,
                    "write a number above 0 and below 2, for example 0.1",
                );
            }
            findings.check_span(&path.key("horizon"), filter.horizon, false, LONGEST_HORIZON);
            check_number(&path.key("margin"), filter.margin.0, 100.0, findings);
            check_number(&path.key("noise"), filter.noise.0, 100.0, findings);
            PredictionSpec::SignalStrength(SignalConfig {
                order: filter.order,
                step: filter.step,
                horizon: filter.horizon,
                margin: filter.margin.0,
                noise: filter.noise.0,
            })
        }
    }
}

/// Refuses a record that takes longer to make than the run.
fn check_work(path: &Path, journeys: u32, journey: &JourneySpec, run: &RunSpec, findings: &mut Findings) {
    let each = run.duration.as_nanos() / journey.line.signal.interval.as_nanos().max(1);
    let most = MOST_MEASUREMENTS * 10;
    if each.saturating_mul(u64::from(journeys)) > most {
        let message = format!(
            "{journeys} earlier journeys would measure {each} times each; {most} together are allowed"
        );
        findings.error(path, message, "write fewer journeys, or a longer signal.interval in the map");
    }
}

fn check_count(path: &Path, value: u32, findings: &mut Findings) {
    if !(1..=MOST_JOURNEYS).contains(&value) {
        findings.error(
            path,
            format!("{value} is out of range"),
            format!("write a whole number from 1 to {MOST_JOURNEYS}"),
        );
    }
}

fn check_number(path: &Path, value: f64, most: f64, findings: &mut Findings) {
    if !(0.0..=most).contains(&value) {
        findings.error(path, format!("{value} is out of range"), format!("write a number from 0 to {most}"));
    }
}
