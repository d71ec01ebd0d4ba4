//! Map files and the sections that lead to them: what is wrong is said with its place.

use cogtcp_scenario::{JourneyMap, Scenario};
use cogtcp_train::prediction::PredictorConfig;
use cogtcp_units::RandomStream;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn shipped_map() -> String {
    std::fs::read_to_string(folder().join("maps/kelmere-line.toml")).unwrap()
}

/// The error of the shipped map with `from` replaced by `to`.
fn map_error(from: &str, to: &str) -> String {
    let right = shipped_map();
    let wrong = right.replacen(from, to, 1);
    assert_ne!(right, wrong, "{from}");
    JourneyMap::parse(&wrong, "line.toml").and_then(|map| map.line().map(drop)).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_a_line_is_refused_with_line_and_reason() {
    for (from, to, field, words) in [
        ("top_speed = \"140 km/h\"", "top_speed = \"0 km/h\"", "train.top_speed", "out of range"),
        ("top_speed = \"140 km/h\"", "top_speed = 140", "train.top_speed", "\"160 km/h\""),
        ("top_speed = \"140 km/h\"", "top_speed = \"140 knots\"", "train.top_speed", "m/s, km/h"),
        ("acceleration = \"0.5 m/s^2\"", "acceleration = \"0.5 m\"", "train.acceleration", "m/s^2"),
        ("slack = \"5 %\"", "slack = \"95 %\"", "train.slack", "0.9"),
        ("at = \"9 km\"", "at = \"22 km\"", "station.2.at", "in the order of the journey"),
        ("at = \"9 km\"", "at = \"50 m\"", "station.1.at", "100 m"),
        (
            "uniform = [\"40 s\", \"80 s\"]",
            "uniform = [\"80 s\", \"40 s\"]",
            "station.1.stop",
            "begins above its end",
        ),
        ("to = \"2 km\"", "to = \"-2 km\"", "limit.0.to", "not beyond its beginning"),
        ("speed = \"60 km/h\"", "speed = \"nan km/h\"", "limit.0.speed", "not a speed"),
        ("name = \"m2\"", "name = \"m1\"", "base_station.1.name", "another base station"),
        ("power = \"60 dBm\"", "power = \"60 MW\"", "base_station.0.power", "not a power"),
        ("power = \"60 dBm\"", "power = \"160 dBm\"", "base_station.0.power", "90 dBm"),
        ("to = \"12.1 km\"", "to = \"12.1\"", "tunnel.0.to", "its unit is none of"),
        ("exponent = 3.5", "exponent = 0.0", "signal.exponent", "1 to 10"),
        (
            "threshold = \"-95 dBm\"",
            "treshold = \"-95 dBm\"",
            "signal.treshold",
            "did you mean \"threshold\"",
        ),
        ("interval = \"100 ms\"", "interval = \"0 s\"", "signal.interval", "1 ms"),
        ("above = \"-88 dBm\"", "above = \"-98 dBm\"", "signal.rates.1.above", "lowest level up"),
        ("rate = \"1 Mbit/s\"", "rate = \"0 bit/s\"", "signal.rates.0.rate", "zero"),
        ("[signal]", "[signals]", "signals", "signal"),
        ("[train]", "[train", "", "not TOML"),
    ] {
        let text = map_error(from, to);
        let place = text.strip_prefix("line.toml:").unwrap_or_else(|| panic!("{text}"));
        let line = place.split(':').next().and_then(|line| line.parse::<usize>().ok());
        assert!(line.is_some_and(|line| line > 5), "no line: {text}");
        assert!(text.contains(field) && text.contains(words), "{field}: {text}");
    }
}

#[test]
fn the_shipped_journey_resolves_to_its_line() {
    let scenario = Scenario::read(&folder().join("train-journey.toml")).unwrap();
    let experiment = scenario.resolve().unwrap();
    let journey = experiment.radios[0].kind.journey().unwrap();
    let line = &journey.line;
    assert_eq!((line.stations.len(), line.tunnels.len(), line.borders.len()), (7, 3, 1));
    assert_eq!((line.start(), line.end()), (0.0, 62_000.0));
    assert!((line.train.top_speed - 140.0 / 3.6).abs() < 1e-9 && (line.signal.threshold + 95.0).abs() < 1e-9);
    assert_eq!(line.signal.rates.len(), 3);
    let own = scenario.set("radio.cr.journey.rate", "own").unwrap().resolve().unwrap();
    assert!(own.radios[0].kind.journey().unwrap().line.signal.rates.is_empty());
    let filter = scenario.set("train.prediction", "{ signal_strength = { order = 3 } }").unwrap();
    let PredictorConfig::SignalStrength(config) =
        filter.resolve().unwrap().train.unwrap().settings.prediction
    else {
        panic!("another predictor")
    };
    assert_eq!((config.order, config.horizon), (3, cogtcp_units::Duration::from_secs(1)));
}

#[test]
fn what_cannot_work_is_refused() {
    let error = |path: &str, value: &str| {
        let scenario = Scenario::read(&folder().join("train-journey.toml")).unwrap();
        scenario.set(path, value).and_then(|scenario| scenario.resolve()).unwrap_err().to_string()
    };
    for (path, value, words) in [
        ("radio.cr.journey.map", "maps/none.toml", "no such file"),
        ("radio.cr.journey.map", "train-journey.toml", "this is no map of a line"),
        ("radio.cr.journey.map", "maps", "cannot be read"),
        ("radio.cr.journey.rate", "fast", "by_level"),
        ("radio.cr.sensing", "{ off = \"1 s\", on = \"2 s\" }", "both journey and sensing"),
        ("radio.cr.dwell", "1 s", "both journey and dwell"),
        ("train.prediction", "{ outage_map = { journeys = 0 } }", "1 to 1000"),
        ("run.duration", "150000 s", "20000000 together are allowed"),
        ("run.duration", "1000000 s", "2000000 are allowed"),
        ("train.prediction", "{ outage_map = { share = \"120 %\" } }", "not a probability"),
        ("train.prediction", "{ outage_map = { position_error = \"-1 m\" } }", "0 to 100000"),
        ("train.prediction", "{ signal_strength = { step = 2.0 } }", "below 2"),
        ("train.prediction", "{ signal_strength = { step = 0.0 } }", "above 0"),
        ("train.prediction", "{ signal_strength = { horizon = \"0 s\" } }", "zero"),
        ("train.prediction", "{ signal_strength = { order = 0 } }", "1 to 1000"),
    ] {
        let text = error(path, value);
        assert!(text.contains(words), "{path} = {value}: {text}");
    }
    // Where there is no journey there are no places and no levels.
    let plain = Scenario::read(&folder().join("train.toml")).unwrap();
    for value in ["{ outage_map = {} }", "{ signal_strength = {} }"] {
        let text = plain.set("train.prediction", value).unwrap().resolve().unwrap_err().to_string();
        assert!(text.contains("has no journey"), "{text}");
    }
}

/// Maps with lines taken out, doubled, or with other numbers: never a panic, and an error has a place.
#[test]
fn spoilt_maps_are_refused_or_lines() {
    let right = shipped_map();
    let lines: Vec<&str> = right.lines().collect();
    let mut accepted = 0;
    for seed in 0..3_000 {
        let mut stream = RandomStream::new(seed, "maps", 0);
        let mut spoilt: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        for _ in 0..=stream.below(2) {
            let at = stream.below(spoilt.len() as u64) as usize;
            match stream.below(4) {
                0 => drop(spoilt.remove(at)),
                1 => spoilt.insert(at, spoilt[at].clone()),
                2 => {
                    let to = stream.below(spoilt.len() as u64) as usize;
                    spoilt.swap(at, to);
                }
                _ => {
                    let number = ["-1", "0", "1e9", "nan", "0.001", "12"][stream.below(6) as usize];
                    let digits = spoilt[at].find(|c: char| c.is_ascii_digit());
                    if let Some(digits) = digits {
                        spoilt[at].replace_range(digits..=digits, number);
                    }
                }
            }
        }
        match JourneyMap::parse(&spoilt.join("\n"), "line.toml").and_then(|map| map.line()) {
            Ok(line) => {
                assert!(line.stations.len() >= 2 && line.end() > line.start());
                accepted += 1;
            }
            Err(error) => assert!(error.all().all(|error| error.line.is_some()), "seed {seed}: {error}"),
        }
    }
    assert!((300..2_900).contains(&accepted), "{accepted}");
}
