//! The train: its router, its radio, and numbers that make sense.

use super::Findings;
use super::network::ResolvedNetwork;
use crate::limits::{LONGEST, MOST_MEASUREMENTS};
use crate::tree::KeyPath;
use crate::{JourneySpec, RadioSpec, Run, Scenario, TrainSpec};
use cogtcp_train::prediction::PredictorKind;
use cogtcp_units::{Check, Duration};

/// The most round-trip times that a warning may come ahead.
const MOST_ADVANCE: f64 = 100.0;
/// The router asks no more often than this.
const LEAST_POLL: Duration = Duration::from_millis(1);

pub(super) fn build(
    scenario: &Scenario,
    network: &ResolvedNetwork,
    radios: &[RadioSpec],
    run: &Run,
    findings: &mut Findings,
) -> Option<TrainSpec> {
    let train = scenario.train.as_ref()?;
    let path = KeyPath::of("train");
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
                    "the radio \"{}\" is a CR user in full, whose silences are not predicted",
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
                    format!("\"{}\" is not an end of the radio's link \"{}\"", train.router, link.name),
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
    let mut fields = findings.under(&path);
    fields.number("tu_advance", train.tu_advance, MOST_ADVANCE);
    fields.number("td_advance", train.td_advance, 1.0);
    findings.check_span(&path.key("poll_interval"), train.poll_interval, false, LONGEST);
    if !train.poll_interval.is_zero() && train.poll_interval < LEAST_POLL {
        findings.error(
            &path.key("poll_interval"),
            format!("\"{}\" is too short", train.poll_interval),
            format!("write at least \"{LEAST_POLL}\""),
        );
    }
    let on_journey = radio.is_some_and(|radio| scenario.radio[radio].journey.is_some());
    let predictor = train.prediction.kind();
    let at = path.key("prediction");
    if let Some(journey) = radio.and_then(|radio| radios[radio].kind.journey()) {
        let at = at.key(predictor.name()).key("journeys");
        check_work(&at, predictor.earlier_journeys(), journey, run, findings);
    }
    check_predictor(predictor, on_journey, &at, findings);
    Some(TrainSpec { router: router?, radio: radio?, settings: train.clone() })
}

/// Refuses parameters that make no sense, and a predictor that has nothing to predict by.
fn check_predictor(predictor: &dyn PredictorKind, on_journey: bool, path: &KeyPath, findings: &mut Findings) {
    let path = path.key(predictor.name());
    if predictor.needs_journey() && !on_journey {
        findings.error(
            &path,
            "the train's radio has no journey: positions and levels for a prediction are missing",
            "add journey = { map = ... } to the radio, or write prediction = { itinerary = { error = ... } }",
        );
    }
    predictor.check(&mut findings.under(&path));
}

/// Refuses a record that takes longer to make than the run.
fn check_work(path: &KeyPath, journeys: u32, journey: &JourneySpec, run: &Run, findings: &mut Findings) {
    let each = run.duration.as_nanos() / journey.line.signal.interval.as_nanos().max(1);
    let most = MOST_MEASUREMENTS * 10;
    if each.saturating_mul(u64::from(journeys)) > most {
        let message = format!(
            "{journeys} earlier journeys would measure {each} times each; {most} together are allowed"
        );
        findings.error(path, message, "write fewer journeys, or a longer signal.interval in the map");
    }
}
