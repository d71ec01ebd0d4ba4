//! Bad input: one clear message, at the right place, with what would be right.

use cogtcp_scenario::{Scenario, ScenarioError};

/// A right scenario, of which each test spoils one thing.
const RIGHT: &str = r#"name = "test"

[run]
duration = "60 s"

[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "5 ms" }
bottleneck = { rate = "10 Mbit/s", delay = "40 ms", queue = "100 packets" }

[[radio]]
name = "radio"
links = ["bottleneck"]
sensing = { off = "100 ms", on = "5 s" }

[[flow]]
from = "s1"
to = "d1"
transport = "newreno"
"#;

const GRAPH: &str = r#"name = "test"

[run]
duration = "60 s"

[topology.graph]
nodes = ["a", "b", "c"]
links = [
  { name = "ab", from = "a", to = "b", rate = "1 Mbit/s", delay = "1 ms" },
  { name = "bc", from = "b", to = "c", rate = "1 Mbit/s", delay = "1 ms" },
]

[[flow]]
from = "a"
to = "c"
transport = "newreno"
"#;

/// Line and column, from 1.
fn place(error: &ScenarioError) -> Option<(u32, u32)> {
    Some((error.line?.get(), error.column?.get()))
}

fn errors_of(text: &str) -> ScenarioError {
    match Scenario::parse(text, "test.toml").and_then(|scenario| scenario.resolve()) {
        Err(error) => error,
        Ok(_) => panic!("this is accepted:\n{text}"),
    }
}

/// Replaces `from` by `to` in `base`. The error must name `field`, contain every one of `words`, and point at
/// the line and column where `at` stands in the spoiled text.
#[track_caller]
fn spoil(base: &str, from: &str, to: &str, field: &str, at: &str, words: &[&str]) {
    assert!(base.contains(from), "{from} is not in the scenario");
    let text = base.replacen(from, to, 1);
    let error = errors_of(&text);
    let shown = error.to_string();
    assert_eq!(error.field, field, "{shown}");
    for word in words {
        assert!(shown.contains(word), "\"{word}\" is not in: {shown}");
    }
    let start = text.find(at).unwrap_or_else(|| panic!("{at} is not in the text"));
    let line = text[..start].matches('\n').count() + 1;
    let column = text[..start].rsplit('\n').next().map_or(0, |before| before.chars().count()) + 1;
    assert_eq!(place(&error), Some((line as u32, column as u32)), "{shown}");
    assert!(shown.starts_with(&format!("test.toml:{line}:{column}: {field}")), "{shown}");
    assert!(!shown.lines().next().unwrap_or_default().contains("struct "), "{shown}");
}

fn right(from: &str, to: &str, field: &str, at: &str, words: &[&str]) {
    spoil(RIGHT, from, to, field, at, words);
}

fn graph(from: &str, to: &str, field: &str, at: &str, words: &[&str]) {
    spoil(GRAPH, from, to, field, at, words);
}

#[test]
fn the_right_ones_are_right() {
    for text in [RIGHT, GRAPH] {
        Scenario::parse(text, "test.toml").unwrap().resolve().unwrap();
    }
}

#[test]
fn syntax() {
    let error = errors_of("name = \"x\"\n[run\nduration = 5");
    assert_eq!(place(&error), Some((2, 5)), "{error}");
    assert!(error.message.contains("not TOML"), "{error}");
    let error = errors_of(&RIGHT.replace("pairs = 2", "pairs = 2\npairs = 3"));
    assert_eq!(place(&error), Some((8, 1)), "{error}");
    assert!(error.message.contains("duplicate key"), "{error}");
}

#[test]
fn empty_text() {
    for text in ["", " \n\t\n", "\u{feff}"] {
        assert!(errors_of(text).to_string().contains("the file is empty"));
    }
    let error = errors_of("# only a comment\n");
    assert!(error.to_string().contains("\"name\" is missing"), "{error}");
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("cogtcp-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let message = |path: &std::path::Path| Scenario::read(path).unwrap_err().to_string();
    assert!(message(&folder).contains("is a folder"));
    assert!(message(&folder.join("none.toml")).contains("cogtcp new"));
    std::fs::write(folder.join("bytes.toml"), b"name = \"\n\xff\xfe\"").unwrap();
    let error = Scenario::read(&folder.join("bytes.toml")).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
    assert_eq!(place(&error), Some((2, 1)));
    std::fs::write(folder.join("empty.toml"), b"").unwrap();
    assert!(message(&folder.join("empty.toml")).contains("empty"));
    std::fs::write(folder.join("mark.toml"), format!("\u{feff}{RIGHT}")).unwrap();
    assert!(Scenario::read(&folder.join("mark.toml")).is_ok());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_key_in_the_wrong_table_is_told_where_it_belongs() {
    let starter = cogtcp_scenario::starter("ad-hoc-pu").unwrap();
    let table = "[spectrum.pu.exponential]\nalpha = 0.5\nbeta = 0.1\ncount = 6";
    assert!(starter.contains(table));
    let said = |text: &str| Scenario::parse(text, "my.toml").unwrap_err().to_string();
    let homes = "belongs to [spectrum.pu.exponential] or [spectrum.pu.laws]";
    let beside =
        starter.replace(table, "[spectrum.pu]\nexponential = { alpha = 0.5, beta = 0.1 }\ncount = 6");
    assert!(said(&beside).contains("unknown key \"count\"; write one of \"none\""), "{}", said(&beside));
    assert!(said(&beside).contains(&format!("\"count\" {homes}")), "{}", said(&beside));
    let above = starter.replace("[spectrum]\n", "[spectrum]\nscattered = true\n");
    assert!(said(&above).contains(&format!("\"scattered\" {homes}")), "{}", said(&above));
    // A table of another section.
    let elsewhere = starter.replace("[run]\n", "[run]\nscattered = true\n");
    assert!(said(&elsewhere).contains(homes), "{}", said(&elsewhere));
    let nowhere = starter.replace("[run]\n", "[run]\nzzz = true\n");
    assert!(!said(&nowhere).contains("belongs"), "{}", said(&nowhere));
    let udp = starter.replacen("transport = \"newreno\"", "transport = \"udp\"", 1);
    let refused = Scenario::parse(&udp, "my.toml").unwrap().resolve().unwrap_err().to_string();
    let expected = "UDP is no transport of a [[flow]]: nothing answers its datagrams; write [[udp]]";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    right("duration =", "durration =", "run.durration", "durration", &["did you mean \"duration\"?"]);
    right("[run]", "[runn]", "runn", "runn]", &["unknown key \"runn\"", "did you mean \"run\"?"]);
    right(
        "queue = \"100",
        "que = \"100",
        "topology.dumbbell.bottleneck.que",
        "que = \"100",
        &["did you mean \"queue\"?"],
    );
    right("sensing =", "sensng =", "radio.0.sensng", "sensng =", &["did you mean \"sensing\"?"]);
    right(
        "name = \"test\"",
        "name = \"test\"\nzzz = 1",
        "zzz",
        "zzz",
        &["unknown key \"zzz\"", "write one of"],
    );
}

#[test]
fn missing_keys_are_asked_for() {
    right("duration = \"60 s\"", "", "run", "[run]", &["\"duration\" is missing", "duration = \"60 s\""]);
    right("from = \"s1\"\n", "", "flow.0", "[[flow]]", &["\"from\" is missing"]);
    right(
        "rate = \"10 Mbit/s\", ",
        "",
        "topology.dumbbell.bottleneck",
        "{ delay = \"40",
        &["\"rate\" is missing", "rate = \"10 Mbit/s\""],
    );
}

#[test]
fn wrong_kinds_of_values() {
    right("\"60 s\"", "60", "run.duration", "60", &["found the number 60", "\"40 ms\""]);
    right("\"60 s\"", "true", "run.duration", "true", &["found true"]);
    right("\"60 s\"", "1979-05-27", "run.duration", "1979", &["found the date 1979-05-27"]);
    right(
        "pairs = 2",
        "pairs = \"2\"",
        "topology.dumbbell.pairs",
        "\"2\"",
        &["found the text \"2\"", "whole number"],
    );
    right("pairs = 2", "pairs = -2", "topology.dumbbell.pairs", "-2", &["-2 is out of range", "from 0 to"]);
    right("pairs = 2", "pairs = 2.5", "topology.dumbbell.pairs", "2.5", &["found the number 2.5"]);
    right("[\"bottleneck\"]", "\"bottleneck\"", "radio.0.links", "\"bottleneck\"", &["write a list"]);
    right("[\"bottleneck\"]", "[1]", "radio.0.links.0", "1]", &["found the number 1", "a text in quotes"]);
    let access = "{ rate = \"100 Mbit/s\", delay = \"5 ms\" }";
    let words = ["found a list; write a table"];
    right(access, "[\"100 Mbit/s\", \"5 ms\"]", "topology.dumbbell.access", "[\"100", &words);
    right(
        access,
        "\"fast\"",
        "topology.dumbbell.access",
        "\"fast\"",
        &["found the text \"fast\"; write a table"],
    );
    right("[run]\nduration =", "run =", "run", "\"60 s\"", &["found the text \"60 s\"; write a table"]);
}

#[test]
fn quantities() {
    let rate = "topology.dumbbell.bottleneck.rate";
    right("\"10 Mbit/s\"", "\"-3 Mbit/s\"", rate, "\"-3", &["\"-3 Mbit/s\" is not a rate: it is negative"]);
    right("\"10 Mbit/s\"", "\"10 Mbits\"", rate, "\"10 Mbits", &["unknown unit"]);
    right("\"10 Mbit/s\"", "\"0 Mbit/s\"", rate, "\"0 M", &["the rate is zero", "1 bit/s"]);
    right("\"10 Mbit/s\"", "\"11000 Gbit/s\"", rate, "\"11000", &["too fast", "10000 Gbit/s"]);
    right("\"60 s\"", "\"0 s\"", "run.duration", "\"0 s\"", &["the duration is zero"]);
    // No start can lie within an empty run: the starts of flows are no further errors.
    assert!(
        errors_of(&RIGHT.replace("\"60 s\"", "\"0 s\"")).all().all(|error| !error.field.starts_with("flow"))
    );
    right("\"60 s\"", "\"300 h\"", "run.duration", "\"300 h\"", &["too long"]);
    right("\"60 s\"", "\"NaN s\"", "run.duration", "\"NaN", &["no number"]);
    right("\"60 s\"", "\"1e400 s\"", "run.duration", "\"1e400", &["not finite"]);
    right("\"40 ms\"", "\"2000 s\"", "topology.dumbbell.bottleneck.delay", "\"2000 s", &["too long"]);
    let queue = "topology.dumbbell.bottleneck.queue";
    right("\"100 packets\"", "\"0 packets\"", queue, "\"0 packets", &["holds nothing", "1 packet"]);
    right("\"100 packets\"", "\"0 B\"", queue, "\"0 B", &["holds nothing"]);
    right("\"100 packets\"", "\"100\"", queue, "\"100\"", &["not a queue length", "100 packets"]);
    right("\"100 packets\"", "\"9000000000 packets\"", queue, "\"9000", &["too long"]);
    right(
        "queue = \"100 packets\"",
        "loss = 1",
        "topology.dumbbell.bottleneck.loss",
        "1 }",
        &["every packet"],
    );
    right(
        "queue = \"100 packets\"",
        "loss = \"101 %\"",
        "topology.dumbbell.bottleneck.loss",
        "\"101",
        &["0 to 1"],
    );
    let drops = "topology.dumbbell.bottleneck.drops";
    let queue = "queue = \"100 packets\"";
    right(queue, "drops = [0, 4]", &format!("{drops}.0"), "0, 4", &["there is no packet 0", "count from 1"]);
    right(queue, "drops = [3, 7, 7]", &format!("{drops}.2"), "7] }", &["packet 7 comes after", "ascending"]);
    right(queue, "drops = [-1]", &format!("{drops}.0"), "-1]", &["-1"]);
    right(
        "queue = \"100 packets\"",
        "loss = nan",
        "topology.dumbbell.bottleneck.loss",
        "nan",
        &["not a probability"],
    );
}

#[test]
fn run() {
    let with = |line: &str| format!("duration = \"60 s\"\n{line}");
    let run = |line: &str, field: &str, at: &str, words: &[&str]| {
        right("duration = \"60 s\"", &with(line), field, at, words);
    };
    run("warmup = \"60 s\"", "run.warmup", "\"60 s\"\n\n", &["does not end before"]);
    run("seed = -1", "run.seed", "-1", &["-1 is out of range", "9223372036854775807"]);
    run("seed = 9223372036854775808", "run.seed", "9223372036854775808", &["out of range"]);
    run("seed = 1e3", "run.seed", "1e3", &["whole number"]);
    run("seed = 99999999999999999999999999999999999999999", "run.seed", "9999", &["whole number"]);
    run("sample_interval = \"0 s\"", "run.sample_interval", "\"0 s\"", &["zero"]);
    let words = ["60000000 points", "10000000", "write at least \"6 us\""];
    run("sample_interval = \"1 us\"", "run.sample_interval", "\"1 us\"", &words);
}

#[test]
fn topology() {
    right(
        "[topology.dumbbell]",
        "[topology.dumbel]",
        "topology.dumbel",
        "dumbel]",
        &["did you mean \"dumbbell\"?"],
    );
    right("pairs = 2", "pairs = 0", "topology.dumbbell.pairs", "0\n", &["0 is out of range", "1 to 100000"]);
    let delays = "pairs = 2\naccess_delays = [\"5 ms\"]";
    right("pairs = 2", delays, "topology.dumbbell.access_delays", "[\"5 ms\"]", &["1 delays for 2 pairs"]);
    let two = "[topology.chain]\nhops = 1\nlink = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\n[[radio]]";
    right(
        "[[radio]]",
        two,
        "topology",
        "chain",
        &["\"dumbbell\" and \"chain\" exclude each other", "keep one of"],
    );
    let text = RIGHT.replace("[topology.dumbbell]\npairs", "[other]\npairs");
    assert!(errors_of(&text).to_string().contains("unknown key \"other\""));
    let error = errors_of("name = \"x\"\ntopology = \"dumbbell\"\nflow = []\n[run]\nduration = \"1 s\"");
    assert!(error.to_string().contains("\"dumbbell\" needs a value"), "{error}");
}

#[test]
fn graphs() {
    let cut = "  { name = \"bc\", from = \"b\", to = \"c\", rate = \"1 Mbit/s\", delay = \"1 ms\" },\n";
    graph(cut, "", "topology.graph.nodes.2", "\"c\"]", &["no path leads from \"a\" to \"c\""]);
    graph("to = \"b\"", "to = \"a\"", "topology.graph.links.0.to", "\"a\", rate", &["from \"a\" to itself"]);
    graph(
        "to = \"b\"",
        "to = \"x\"",
        "topology.graph.links.0.to",
        "\"x\"",
        &["no node \"x\"", "\"a\", \"b\" or \"c\""],
    );
    graph(
        "name = \"bc\"",
        "name = \"ab\"",
        "topology.graph.links.1.name",
        "\"ab\", from = \"b\"",
        &["already links.0"],
    );
    graph(
        "from = \"b\", to = \"c\"",
        "from = \"b\", to = \"a\"",
        "topology.graph.links.1",
        "{ name = \"bc\"",
        &["already joined by links.0", "both directions"],
    );
    graph("\"b\", \"c\"]", "\"b\", \"b\"]", "topology.graph.nodes.2", "\"b\"]", &["already nodes.1"]);
    graph("nodes = [\"a\", \"b\", \"c\"]", "nodes = []", "topology.graph.nodes", "[]", &["at least two"]);
    graph("\"c\"]", "\"\"]", "topology.graph.nodes.2", "\"\"]", &["the name is empty"]);
    // Cycles are legal.
    let ring = GRAPH.replacen(
        cut,
        &format!("{cut}{}", cut.replace("\"b\"", "\"a\"").replace("\"bc\"", "\"ac\"")),
        1,
    );
    assert_eq!(Scenario::parse(&ring, "ring").unwrap().resolve().unwrap().links.len(), 3);
}

#[test]
fn radios() {
    right(
        "[\"bottleneck\"]",
        "[\"botleneck\"]",
        "radio.0.links.0",
        "\"botl",
        &["did you mean \"bottleneck\"?"],
    );
    right("[\"bottleneck\"]", "[]", "radio.0.links", "[]\n", &["gates no link"]);
    let twice = "[\"bottleneck\", \"bottleneck\"]";
    right(
        "[\"bottleneck\"]",
        twice,
        "radio.0.links.1",
        "\"bottleneck\"]",
        &["already gated by the radio \"radio\""],
    );
    let second = "[[radio]]\nname = \"other\"\nlinks = [\"bottleneck\"]\n\n[[flow]]";
    right("[[flow]]", second, "radio.1.links.0", "\"bottleneck\"]\n\n[[flow", &["already gated"]);
    let same = "[[radio]]\nname = \"radio\"\nlinks = [\"access-s1\"]\n\n[[flow]]";
    right("[[flow]]", same, "radio.1.name", "\"radio\"\nlinks = [\"access", &["already radio.0"]);
    right("off = \"100 ms\"", "off = \"0 ms\"", "radio.0.sensing.off", "\"0 ms\"", &["zero", "silent"]);
    right("on = \"5 s\"", "on = \"0 s\"", "radio.0.sensing.on", "\"0 s\"", &["zero", "open"]);
    right(
        "on = \"5 s\"",
        "on = { exponential = \"0 s\" }",
        "radio.0.sensing.on.exponential",
        "\"0 s\"",
        &["zero"],
    );
    let reversed = "on = { uniform = [\"2 s\", \"1 s\"] }";
    right(
        "on = \"5 s\"",
        reversed,
        "radio.0.sensing.on.uniform",
        "[\"2 s\"",
        &["above its end", "[\"1 s\", \"2 s\"]"],
    );
    right(
        "on = \"5 s\"",
        "on = { gamma = \"1 s\" }",
        "radio.0.sensing.on.gamma",
        "gamma",
        &["unknown value \"gamma\""],
    );
    right("on = \"5 s\"", "on = {}", "radio.0.sensing.on", "{}", &["exponential"]);
    let both = "on = { exponential = \"1 s\", uniform = [\"1 s\", \"2 s\"] }";
    right("on = \"5 s\"", both, "radio.0.sensing.on", "{ exponential", &["one law"]);
    let three = "on = { uniform = [\"1 s\", \"2 s\", \"3 s\"] }";
    right("on = \"5 s\"", three, "radio.0.sensing.on.uniform", "[\"1 s\"", &["found 3 values", "write 2"]);
    right(
        "on = \"5 s\"",
        "on = { uniform = [\"1 s\"] }",
        "radio.0.sensing.on.uniform",
        "[\"1 s\"",
        &["found 1 values"],
    );
    right(
        "off = \"100 ms\", on = \"5 s\"",
        "off = \"1 ns\", on = \"1 ns\"",
        "radio.0.sensing.on",
        "\"1 ns\" }",
        &["30000000000", "at most 10000000"],
    );
    let with = |line: &str| format!("on = \"5 s\" }}\n{line}");
    let radio = |line: &str, field: &str, at: &str, words: &[&str]| {
        right("on = \"5 s\" }", &with(line), field, at, words)
    };
    radio("channel = { set = [] }", "radio.0.channel.set", "[] }", &["the set has no channels"]);
    radio("channel = { set = [\"0 bit/s\"] }", "radio.0.channel.set.0", "\"0 bit", &["the rate is zero"]);
    let range = "channel = { range = [\"9 Mbit/s\", \"1 Mbit/s\"] }";
    radio(range, "radio.0.channel.range", "[\"9", &["[\"1 Mbit/s\", \"9 Mbit/s\"]"]);
    radio("channel = \"sty\"", "radio.0.channel", "\"sty\"", &["did you mean \"stay\"?"]);
    radio("channel = { stay = 1 }", "radio.0.channel", "{ stay", &["takes no value"]);
    radio("silence = \"hodl\"", "radio.0.silence", "\"hodl\"", &["did you mean \"hold\"?"]);
    let pu = "pu = { interarrival = \"0 s\", switching = \"1 s\" }";
    radio(pu, "radio.0.pu.interarrival", "\"0 s\"", &["zero"]);
}

#[test]
fn flows() {
    right("to = \"d1\"", "to = \"d3\"", "flow.0.to", "\"d3\"", &["no node \"d3\"", "did you mean \"d"]);
    right("to = \"d1\"", "to = \"s1\"", "flow.0.to", "\"s1\"\ntransport", &["from \"s1\" to itself"]);
    right("\"newreno\"", "\"newrno\"", "flow.0.transport", "\"newrno\"", &["did you mean \"newreno\"?"]);
    right(
        "\"newreno\"",
        "\"sctp\"",
        "flow.0.transport",
        "\"sctp\"",
        &["unknown transport \"sctp\"", "\"sack\""],
    );
    let transport = |name: &str, words: &[&str]| {
        right("\"newreno\"", &format!("\"{name}\""), "flow.0.transport", &format!("\"{name}\""), words)
    };
    transport("tfrc-cubic", &["tfrc has no congestion control to choose", "write \"tfrc\""]);
    transport("quic-cubick", &["quic has no congestion control \"cubick\"", "did you mean \"cubic\"?"]);
    transport("mptcp-quic", &["mptcp has no congestion control \"quic\"", "after \"mptcp-\" ", "\"sack\""]);
    let with = |line: &str| format!("to = \"d1\"\n{line}");
    let flow = |line: &str, field: &str, at: &str, words: &[&str]| {
        right("to = \"d1\"", &with(line), field, at, words)
    };
    flow("start = \"60 s\"", "flow.0.start", "\"60 s\"\ntransport", &["the run ends at \"1 min\""]);
    flow("start = \"9 s\"\nstop = \"9 s\"", "flow.0.stop", "\"9 s\"\ntransport", &["after its start"]);
    flow("count = 0", "flow.0.count", "0\n", &["0 is out of range"]);
    flow("count = 100001", "flow", "[[flow]]", &["100001 flows", "at most 100000"]);
    flow("traffic = { size = \"0 B\" }", "flow.0.traffic.size", "\"0 B\"", &["nothing to send"]);
    flow("traffic = { rate = \"0 bit/s\" }", "flow.0.traffic.rate", "\"0 bit", &["the rate is zero"]);
    flow("traffic = \"size\"", "flow.0.traffic", "\"size\"", &["\"size\" needs a value"]);
    flow("traffic = \"satured\"", "flow.0.traffic", "\"satured\"", &["did you mean \"saturated\"?"]);
    let again = "name = \"a\"\n[[flow]]\nname = \"a\"\nfrom = \"s2\"\nto = \"d2\"";
    flow(
        &again.replace("\n[[flow]]", "\ntransport = \"sack\"\n[[flow]]"),
        "flow.1.name",
        "\"a\"\nfrom",
        &["already in flow.0"],
    );
    right(
        "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ntransport = \"newreno\"\n",
        "",
        "flow",
        "name = \"test\"",
        &["there is no flow; add a section [[flow]]"],
    );
    right("s1\"\nto = \"d1\"", "s*\"\nto = \"d*\"\ncount = 3", "flow.0.from", "\"s*\"", &["no node \"s3\""]);
    let spread = "count = 2\nstagger = \"60 s\"";
    flow(spread, "flow.0.stagger", "\"60 s\"\ntransport", &["last of the flows starts at \"1 min\""]);
}

#[test]
fn tcp() {
    let with = |line: &str| format!("[tcp]\n{line}\n\n[topology.dumbbell]");
    let tcp = |line: &str, field: &str, at: &str, words: &[&str]| {
        right("[topology.dumbbell]", &with(line), field, at, words);
    };
    tcp("segment_size = \"0 B\"", "tcp.segment_size", "\"0 B\"", &["out of range", "65495"]);
    tcp("segment_size = \"65496 B\"", "tcp.segment_size", "\"65496 B\"", &["out of range"]);
    tcp("initial_window = \"0 segments\"", "tcp.initial_window", "\"0 seg", &["1 segment"]);
    tcp("initial_window = 10", "tcp.initial_window", "10\n", &["found the number 10", "\"2 segments\""]);
    tcp("max_window = \"20\"", "tcp.max_window", "\"20\"", &["not a window", "20 segments"]);
    tcp("max_window = \"10 B\"", "tcp.max_window", "\"10 B\"", &["below one segment"]);
    tcp("receive_buffer = \"10 B\"", "tcp.receive_buffer", "\"10 B\"", &["does not hold one segment"]);
    tcp("receive_buffer = \"2 GiB\"", "tcp.receive_buffer", "\"2 GiB\"", &["more than TCP can advertise"]);
    tcp(
        "min_rto = \"2 s\"\nmax_rto = \"1 s\"",
        "tcp.min_rto",
        "\"2 s\"",
        &["minimum RTO", "above the maximum"],
    );
    tcp("delayed_ack = \"on\"", "tcp.delayed_ack", "\"on\"", &["\"off\"", "\"200 ms\""]);
    tcp("delayed_ack = true", "tcp.delayed_ack", "true", &["found true"]);
    tcp("recovery = \"new_reno\"", "tcp.recovery", "\"new_reno\"", &["did you mean \"newreno\"?"]);
    tcp(
        "newreno_variant = \"slow-but-steady\"",
        "tcp.newreno_variant",
        "\"slow-but",
        &["did you mean \"slow_but_steady\"?"],
    );
    tcp("dup_thresh = 0", "tcp.dup_thresh", "0\n", &["out of range"]);
    tcp("congestion = \"aimt\"", "tcp.congestion", "\"aimt\"", &["did you mean \"aimd\"?"]);
    tcp("parameters = { decreas = 0.5 }", "tcp.parameters.decreas", "0.5", &["decrease"]);
    tcp("parameters = { decrease = 2 }", "tcp.parameters.decrease", "2 }", &["from 0 to 1"]);
    tcp(
        "parameters = { decrease = [] }",
        "tcp.parameters.decrease",
        "[]",
        &["a number, true or false, or a word"],
    );
    tcp("parameters = { decrease = nan }", "tcp.parameters.decrease", "nan", &["this is not a parameter"]);
    tcp("min_rt = \"1 s\"", "tcp.min_rt", "min_rt", &["did you mean \"min_rto\"?"]);
}

#[test]
fn several_at_once() {
    let text = RIGHT.replace("\"s1\"", "\"x1\"").replace("\"d1\"", "\"y1\"").replace("[\"bott", "[\"zott");
    let error = errors_of(&text);
    assert_eq!(
        error.all().map(|error| error.field.as_str()).collect::<Vec<_>>(),
        ["radio.0.links.0", "flow.0.from", "flow.0.to"]
    );
    assert_eq!(error.to_string().lines().count(), 3);
    let many: String = (0..50).map(|_| "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ntransport = \"x\"\n").collect();
    let shown = errors_of(&format!("{RIGHT}{many}")).to_string();
    assert!(shown.ends_with("... and 40 more"), "{shown}");
}

#[test]
fn names_that_break_lines_are_refused() {
    right("name = \"test\"", "name = \"te\\nst\"", "name", "\"te\\nst", &["control characters"]);
    right("name = \"test\"", "name = \"\"", "name", "\"\"", &["the name is empty"]);
}

#[test]
fn warnings_are_placed() {
    let warning = |from: &str, to: &str| {
        let text = RIGHT.replacen(from, to, 1);
        let found = Scenario::parse(&text, "test.toml").unwrap().warnings();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].to_string()
    };
    assert!(
        warning("off = \"100 ms\"", "off = \"90 s\"")
            .starts_with("test.toml:14:19: radio.0.sensing.off: one silence")
    );
    assert!(warning("sensing = { off = \"100 ms\", on = \"5 s\" }", "").contains("never falls silent"));
    assert!(warning("on = \"5 s\"", "on = \"5 s\", start = \"60 s\"").contains("after the end of the run"));
    assert!(warning("on = \"5 s\" }", "on = \"5 s\" }\ndwell = \"1 s\"").contains("dwell has no effect"));
    assert!(warning("\"100 packets\"", "\"1000 B\"").contains("may not hold one full segment"));
    assert!(
        warning("[[radio]]", "[tcp]\nrecovery = \"sack\"\nsack = false\n[[radio]]")
            .contains("falls back to NewReno")
    );
    assert!(warning("\"60 s\"", "\"60 s\"\nsample_interval = \"10 us\"").contains("rows"));
}

#[test]
fn json() {
    let scenario = Scenario::parse(RIGHT, "test.toml").unwrap();
    let json = scenario.to_json();
    let wrong = |from: &str, to: &str| {
        assert!(json.contains(from), "{json}");
        let parsed = Scenario::from_json(&json.replacen(from, to, 1), "object");
        parsed.and_then(|scenario| scenario.resolve()).unwrap_err()
    };
    let error = wrong("\"5 s\"", "\"0 s\"");
    assert_eq!((error.field.as_str(), error.line), ("radio.0.sensing.on", None));
    assert!(error.to_string().starts_with("object: radio.0.sensing.on: "), "{error}");
    assert!(wrong("\"off\"", "\"of\"").to_string().contains("did you mean \"off\"?"));
    assert_eq!(place(&Scenario::from_json("{", "object").unwrap_err()), Some((1, 1)));
    let null = json.replacen("\"description\": \"\"", "\"description\": null", 1);
    assert_ne!(null, json);
    assert_eq!(Scenario::from_json(&null, "object").unwrap(), scenario);
}

/// Nesting deeper than any scenario is refused, not followed until the stack ends.
#[test]
fn deep_nesting() {
    for (open, close) in [("[", "]"), ("{ a = ", " }")] {
        let deep = format!("x = {}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(errors_of(&deep).message.contains("not TOML"));
    }
    let json = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Scenario::from_json(&json, "object").unwrap_err().message.contains("not JSON"));
    let path = vec!["a"; 100_000].join(".");
    assert!(Scenario::parse(RIGHT, "test.toml").unwrap().set(&path, "1").is_err());
    assert!(errors_of(&format!("{path} = 1")).message.contains("not TOML"));
}

/// A key of the entries of a list belongs to that list.
#[test]
fn a_key_of_a_list_is_sent_home() {
    for (key, home) in [("ack_every = \"3 segments\"", "[flow.tcp]"), ("silence = \"down\"", "[radio]")] {
        let text = RIGHT.replace("duration = \"60 s\"", &format!("duration = \"60 s\"\n{key}"));
        let error = Scenario::parse(&text, "test.toml").unwrap_err().to_string();
        let belongs = error.find("belongs to").map(|at| &error[at..]);
        assert!(belongs.is_some_and(|it| it.contains(home)), "{error}");
    }
}
