//! A train on the shipped journey: outages, predictors, and their tables.

use crate::support::*;
use cogtcp_records::Run;
use cogtcp_scenario::Scenario;
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use std::path::Path;

/// The shipped journey's first 620 s, to behind the first tunnel, with `prediction`.
fn journey(prediction: &str, seed: u64) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/train-journey.toml");
    let scenario = Scenario::read(&path)
        .and_then(|it| it.set("train.prediction", prediction))
        .and_then(|it| it.set("run.duration", "620 s"))
        .and_then(|it| it.with_seed(seed))
        .unwrap();
    run(&scenario.resolve().unwrap(), &RunOptions { trace: TraceLevel::Full, ..RunOptions::default() })
        .unwrap()
}

/// The outages are those of map and seed, whoever predicts them; each is one event, one span of time, one
/// row.
#[test]
fn outages_do_not_depend_on_who_predicts_them() {
    let oracle = journey("oracle", 1);
    let rows = extension(&oracle, "predictions").len();
    assert!(rows >= 5, "{rows}");
    let causes: Vec<&str> =
        (0..rows).map(|row| extension(&oracle, "predictions").text("cause", row).unwrap()).collect();
    assert!(causes.contains(&"tunnel") && causes.contains(&"handover"), "{causes:?}");
    let lost = event_times(&oracle, "signal_lost");
    assert_eq!(lost.len() as f64, first(&oracle.radios, "signal_losses"));
    assert_eq!(event_times(&oracle, "signal_back").len(), lost.len());
    let silent = first(&oracle.radios, "lost_s") + first(&oracle.radios, "switching_s");
    let row = (0..oracle.links.len()).find(|row| oracle.links.text("link", *row) == Some("radio")).unwrap();
    assert_close(oracle.links.number("silence_s", row).unwrap(), silent, 1e-9);
    assert_close(first(extension(&oracle, "trains"), "outage_s"), silent, 1e-9);
    for prediction in ["{ outage_map = { journeys = 5 } }", "{ signal_strength = {} }", "{ itinerary = {} }"]
    {
        let other = journey(prediction, 1);
        assert_eq!(event_times(&other, "signal_lost"), lost, "{prediction}");
        let met: Vec<f64> =
            column(extension(&other, "predictions"), "start_s").into_iter().filter(|s| !s.is_nan()).collect();
        assert_eq!(met, column(extension(&oracle, "predictions"), "start_s"));
    }
    let another = journey("oracle", 2);
    assert_ne!(event_times(&another, "signal_lost"), lost);
}

/// The oracle errs nowhere; the others do, and the table and the row agree on by how much.
#[test]
fn errors_are_reported() {
    let oracle = journey("oracle", 1);
    assert_eq!(extension(&oracle, "trains").text("predictor", 0), Some("oracle"));
    for column_name in ["start_error_s", "end_error_s"] {
        assert!(column(extension(&oracle, "predictions"), column_name).iter().all(|error| *error == 0.0));
    }
    for (prediction, name) in
        [("{ outage_map = { journeys = 5 } }", "outage_map"), ("{ signal_strength = {} }", "signal_strength")]
    {
        let run = journey(prediction, 1);
        assert_eq!(extension(&run, "trains").text("predictor", 0), Some(name));
        let table = extension(&run, "predictions");
        let outcomes: Vec<&str> = (0..table.len()).map(|row| table.text("outcome", row).unwrap()).collect();
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count() as f64;
        assert_eq!(count("missed"), first(extension(&run, "trains"), "missed_outages"), "{name}");
        assert_eq!(count("false"), first(extension(&run, "trains"), "false_predictions"), "{name}");
        assert_eq!(count("late"), first(extension(&run, "trains"), "late_warnings"), "{name}");
        let errors: Vec<f64> = column(table, "start_error_s").into_iter().filter(|e| !e.is_nan()).collect();
        assert!(!errors.is_empty() && errors.iter().any(|error| *error != 0.0), "{name}");
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!((mean - first(extension(&run, "trains"), "start_error_mean_s")).abs() < 1e-9, "{name}");
        // Nothing was sent before it was predicted.
        for row in 0..table.len() {
            let (made, sent) =
                (table.number("made_s", row).unwrap(), table.number("down_sent_s", row).unwrap());
            assert!(sent.is_nan() || sent >= made, "{name}");
        }
    }
}

/// The rate follows the level.
#[test]
fn the_rate_is_one_of_the_maps() {
    let run = journey("oracle", 1);
    let mut rates: Vec<f64> = (0..run.link_series.len())
        .filter(|row| run.link_series.text("link", *row) == Some("radio"))
        .map(|row| run.link_series.number("rate_bps", row).unwrap())
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    // The lowest, 1 Mbit/s, is had nowhere on this part of the line.
    assert_eq!(rates, [0.0, 2e6, 4e6]);
}

/// The same scenario and seed: the same bytes, whoever looks.
#[test]
fn a_journey_is_repeatable() {
    let (one, two) =
        (journey("{ outage_map = { journeys = 3 } }", 5), journey("{ outage_map = { journeys = 3 } }", 5));
    assert_eq!(one.digest, two.digest);
    assert_eq!(
        format!("{:?}", extension(&one, "predictions")),
        format!("{:?}", extension(&two, "predictions"))
    );
}
