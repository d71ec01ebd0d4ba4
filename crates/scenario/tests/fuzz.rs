//! Mutated scenarios never make the reader panic, and what it accepts it can write and read again.
//!
//! Deterministic: a failure prints its seed, and `COGTCP_FUZZ_SEED=<seed>` replays that one case.

use cogtcp_scenario::{STARTERS, Scenario, starter};
use cogtcp_units::RandomStream;

const CASES: u64 = 20_000;

/// Words that mean something in a scenario, or to TOML, or that look as if they did.
const TOKENS: &[&str] = &[
    "\"\"",
    "\"0 s\"",
    "\"-1 s\"",
    "\"1 ns\"",
    "\"1e300 s\"",
    "\"9e18 B\"",
    "\"0 packets\"",
    "\"4294967295 packets\"",
    "\"stay\"",
    "\"hold\"",
    "\"*\"",
    "\"s*\"",
    "\"newreno\"",
    "\"aimd\"",
    "\"off\"",
    "\"100 %\"",
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "4294967295",
    "9223372036854775807",
    "9223372036854775808",
    "true",
    "1979-05-27",
    "[]",
    "{}",
    "[[]]",
    "{ exponential = \"1 s\" }",
    "{ uniform = [\"2 s\", \"1 s\"] }",
    "{ size = \"1 B\" }",
    "{ range = [] }",
    "=",
    ",",
    "\n",
    "[run]",
    "[[flow]]",
    "[[radio]]",
    "[tcp]",
    "[topology.chain]",
    "count = 100000",
    "pairs = 100000",
    "hops = 1000",
    "seed = 0x7fffffffffffffff",
    "\u{feff}",
    "\u{0}",
    "µs",
    "\"\"\"",
    "'''",
    "a.b.c = 1",
    "tcp.parameters.x = 1",
];

fn seeds() -> Vec<String> {
    let mut texts: Vec<String> = STARTERS.iter().map(|(kind, _)| starter(kind).unwrap()).collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let shipped = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    texts.extend(shipped.map(|path| std::fs::read_to_string(path).unwrap()));
    // Written out, every default is there to be spoilt.
    let written: Vec<String> =
        texts.iter().map(|text| Scenario::parse(text, "seed").unwrap().to_toml()).collect();
    texts.extend(written);
    texts
}

/// One of `count` numbers from 0.
fn pick(stream: &mut RandomStream, count: usize) -> usize {
    stream.below(count.max(1) as u64) as usize
}

/// Changes some bytes, so that the text may no longer be UTF-8 (then it is read with replacement characters).
fn mutate_bytes(text: &str, stream: &mut RandomStream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=pick(stream, 4) {
        if bytes.is_empty() {
            break;
        }
        let at = pick(stream, bytes.len());
        match pick(stream, 5) {
            0 => bytes[at] ^= 1 << pick(stream, 8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, stream.below(256) as u8),
            3 => bytes.truncate(at),
            _ => {
                let end = (at + pick(stream, 40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = pick(stream, bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits a text in words, blanks, quoted texts and single marks, so that the pieces together are the text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ' ' => rest.find(|c| c != ' ').unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

/// Changes some tokens: removes, repeats, swaps, or replaces them by others of the text or of `TOKENS`.
fn mutate_tokens(text: &str, other: &str, stream: &mut RandomStream) -> String {
    let mut tokens = tokens(text);
    let others = self::tokens(other);
    for _ in 0..=pick(stream, 3) {
        if tokens.is_empty() {
            break;
        }
        let at = pick(stream, tokens.len());
        match pick(stream, 6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, TOKENS[pick(stream, TOKENS.len())]),
            2 => tokens[at] = TOKENS[pick(stream, TOKENS.len())],
            3 => tokens[at] = others[pick(stream, others.len())],
            4 => {
                let to = pick(stream, tokens.len());
                tokens.swap(at, to);
            }
            // A value, by one of the same look: most likely to be accepted.
            _ => {
                let quoted = |token: &&&str| token.starts_with('"') == tokens[at].starts_with('"');
                let alike: Vec<&&str> = others.iter().filter(quoted).collect();
                if !alike.is_empty() {
                    tokens[at] = alike[pick(stream, alike.len())];
                }
            }
        }
    }
    tokens.concat()
}

/// What must hold for any text. Returns whether it was accepted, and whether it was resolved.
fn check(text: &str) -> (bool, bool) {
    let scenario = match Scenario::parse(text, "fuzz.toml") {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.message.is_empty());
            return (false, false);
        }
    };
    let written = scenario.to_toml();
    assert!(
        Scenario::parse(&written, "written").unwrap() == scenario,
        "another scenario after TOML:\n{written}"
    );
    let json = scenario.to_json();
    assert!(
        Scenario::from_json(&json, "written").unwrap() == scenario,
        "another scenario after JSON:\n{json}"
    );
    match scenario.resolve() {
        Ok(experiment) => {
            assert!(!experiment.flows.is_empty() || experiment.adhoc.is_some());
            let nodes = experiment.nodes.len();
            assert!(experiment.links.iter().all(|link| link.from < nodes && link.to < nodes));
            assert!(
                experiment
                    .flows
                    .iter()
                    .all(|flow| flow.from < nodes && flow.to < nodes && flow.from != flow.to)
            );
            for tcp in experiment.flows.iter().filter_map(|flow| flow.tcp()) {
                cogtcp_transport::make(&tcp.control.name, &tcp.control.parameters).unwrap();
            }
            drop(scenario.warnings());
            (true, true)
        }
        Err(error) => {
            for error in error.all() {
                assert!(error.line.is_some() && !error.field.is_empty(), "no place: {error}");
            }
            (true, false)
        }
    }
}

#[test]
fn mutants() {
    let seeds = seeds();
    let replay = std::env::var("COGTCP_FUZZ_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    let cases = replay.map_or(0..CASES, |seed| seed..seed + 1);
    let (mut accepted, mut resolved) = (0, 0);
    for seed in cases {
        let mut stream = RandomStream::new(seed, "fuzz", 0);
        let text = &seeds[pick(&mut stream, seeds.len())];
        let other = &seeds[pick(&mut stream, seeds.len())];
        let mutant = if stream.below(3) == 0 {
            mutate_bytes(text, &mut stream)
        } else {
            mutate_tokens(text, other, &mut stream)
        };
        match std::panic::catch_unwind(|| check(&mutant)) {
            Ok((parsed, ran)) => {
                accepted += u64::from(parsed);
                resolved += u64::from(ran);
            }
            Err(_) => panic!("replay with COGTCP_FUZZ_SEED={seed}; the scenario is:\n{mutant}"),
        }
    }
    // Mutants that are all refused at the first byte would test nothing.
    if replay.is_none() {
        assert!(accepted > CASES / 20, "only {accepted} of {CASES} mutants are accepted");
        assert!(resolved > CASES / 50, "only {resolved} of {CASES} mutants resolve");
        assert!(accepted > resolved);
    }
    println!("{accepted} of {CASES} accepted, {resolved} resolved");
}
