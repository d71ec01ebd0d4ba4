//! One order of equal times: what happens first at one instant, and that nothing else in a network moves it.

use super::batches::cases;
use crate::support::*;
use cogtcp_records::{Column, ColumnData, Run, Table};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::RandomStream;

/// Nodes `a`, `b`, `c`: packets from `a` reach `b` 1 ms after their transmission of 1 ms begins, then take
/// 0.1 ms on the `radio` link and 1 ms of propagation to `c`. The link is silent from 10 ms to 20 ms, and so
/// on.
fn relay(silence: &str, rest: &str) -> String {
    format!(
        "name = \"relay\"\n[run]\nduration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\n{}{}{FLOW}\
         [[radio]]\nname = \"r\"\nlinks = [\"radio\"]\nsilence = \"{silence}\"\n\
         sensing = {{ off = \"10 ms\", on = \"10 ms\" }}\n{rest}",
        link("access", ("a", "b"), "rate = \"8 Mbit/s\"\ndelay = \"1 ms\""),
        link("radio", ("b", "c"), "rate = \"80 Mbit/s\"\ndelay = \"1 ms\"")
    )
}

/// A scenario needs a flow; it crosses no radio.
const FLOW: &str = "[[flow]]\nname = \"f\"\nfrom = \"b\"\nto = \"a\"\ntransport = \"newreno\"\n\
                    traffic = { size = \"1 B\" }\n";

fn link(name: &str, (from, to): (&str, &str), rest: &str) -> String {
    format!("[[topology.graph.links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}\n")
}

/// A source of one packet each 20 ms, of 1000 bytes with headers, from this microsecond on.
fn source(name: &str, from: &str, start_us: u64) -> String {
    format!(
        "[[udp]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"c\"\nsize = \"972 B\"\n\
         pattern = {{ constant = \"388800 bit/s\" }}\nstart = \"{start_us} us\"\n"
    )
}

/// Packets sent, received, and the longest delay in seconds, of the source called `name`.
fn fared(run: &Run, name: &str) -> (f64, f64, f64) {
    let table = extension(run, "datagrams");
    let row = (0..table.len()).find(|row| table.text("source", *row) == Some(name)).unwrap();
    let of = |column| table.number(column, row).unwrap();
    (of("sent_packets"), of("received_packets"), of("delay_max_s"))
}

/// Packets of a source from `from` that starts at this microsecond, and how many arrive.
fn received(silence: &str, from: &str, start_us: u64) -> (f64, f64) {
    let run = run_text(&relay(silence, &source("u", from, start_us)));
    let (sent, received, _) = fared(&run, "u");
    (sent, received)
}

/// A silence holds from its first instant, and no longer at its last.
#[test]
fn a_packet_that_arrives_as_a_silence_begins_meets_it() {
    // Two milliseconds to `b`: 10 ms, where silences begin, 20 ms, where they end.
    assert_eq!(received("refuse", "a", 8_000), (50.0, 0.0));
    let (sent, came) = received("refuse", "a", 18_000);
    assert_eq!((sent, came), (50.0, 49.0), "the last packet is under way at the end");
}

#[test]
fn a_host_that_sends_as_a_silence_begins_meets_it() {
    assert_eq!(received("refuse", "b", 10_000), (50.0, 0.0));
    assert_eq!(received("refuse", "b", 20_000), (50.0, 49.0), "the last packet leaves at the end of the run");
}

#[test]
fn a_frame_that_ends_as_a_silence_begins_is_whole() {
    assert_eq!(received("drop", "b", 9_900), (50.0, 50.0));
    assert_eq!(received("drop", "b", 9_901), (50.0, 0.0), "1 us later its end meets the silence");
}

#[test]
fn a_packet_that_waits_begins_as_a_silence_begins() {
    let text = relay("hold", &(source("u", "b", 9_900) + &source("v", "b", 9_900)));
    let run = run_text(&text);
    assert_close(fared(&run, "u").2, 1.1e-3, 1e-9);
    assert_close(fared(&run, "v").2, 1.2e-3, 1e-9);
    // A packet that is offered at that instant waits for the end of the silence.
    let run = run_text(&relay("hold", &source("u", "b", 10_000)));
    assert_close(fared(&run, "u").2, 11.1e-3, 1e-9);
}

#[test]
fn a_packet_that_arrives_as_its_link_goes_down_has_arrived() {
    // 0.1 ms and 1 ms after 8.9 ms; 1 us later it propagates, and is destroyed.
    assert_eq!(received("down", "b", 8_900), (50.0, 50.0));
    assert_eq!(received("down", "b", 8_901), (50.0, 0.0));
}

/// Silences of 0.1 ms before each 10 ms, on a link on which a frame takes 1 ms.
#[test]
fn a_packet_waits_for_the_end_of_a_destroyed_frame() {
    for flush in ["both", "wire"] {
        let text =
            relay("down", &(source("u", "b", 9_500) + &source("v", "b", 10_200) + &source("w", "b", 10_300)))
                .replace("80 Mbit/s", "8 Mbit/s")
                .replace("off = \"10 ms\", on = \"10 ms\"", "off = \"100 us\", on = \"9900 us\"")
                .replace("silence = \"down\"", &format!("silence = \"down\"\nflush = \"{flush}\""));
        let run = run_text(&text);
        assert_eq!(["u", "v", "w"].map(|name| fared(&run, name).1), [0.0, 50.0, 50.0]);
        // The frame that is destroyed would have ended at 10.5 ms.
        assert_close(fared(&run, "v").2, 2.3e-3, 1e-9);
        assert_close(fared(&run, "w").2, 3.2e-3, 1e-9);
    }
    // What waits is not left in the link until the next silence.
    let goodput = |off: &str| {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"20 s\"\n[topology.single_hop]\n\
             link = {{ rate = \"1 Mbit/s\", delay = \"40 ms\", queue = \"100 packets\" }}\n\
             [[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"down\"\nflush = \"wire\"\n\
             sensing = {{ off = \"{off}\", on = \"1 s\" }}\n\
             [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n"
        );
        first(&run_text(&text).flows, "goodput_bps")
    };
    let (short, long) = (goodput("1 ms"), goodput("20 ms"));
    assert!(short > long / 2.0, "{short} bit/s with short silences, {long} bit/s with long ones");
}

#[test]
fn a_packet_that_arrives_as_another_leaves_a_full_queue_has_room() {
    // The first is on the air for 0.1 ms, the second waits, the third comes as the first ends.
    let sources = [("u", 20_000), ("v", 20_000), ("w", 20_100)].map(|(name, start)| source(name, "b", start));
    let text = relay("refuse", &sources.concat())
        .replace("rate = \"80 Mbit/s\"", "rate = \"80 Mbit/s\"\nqueue = \"1 packets\"");
    let run = run_text(&text);
    assert_eq!(["u", "v", "w"].map(|name| fared(&run, name).1), [49.0; 3]);
    let text = text.replace("20100 us", "20099 us");
    assert_eq!(fared(&run_text(&text), "w").1, 0.0, "1 us earlier the queue is full");
}

/// Data each 40 ms, and a receiver that delays its acknowledgements by 40 ms.
#[test]
fn a_timer_comes_before_a_packet() {
    let text = |delay: &str| {
        format!(
            "name = \"t\"\n[run]\nduration = \"4 s\"\n[tcp]\nsegment_size = \"1000 B\"\ndelayed_ack = \"{delay}\"\n\
             [topology.single_hop]\nlink = {{ rate = \"8 Mbit/s\", delay = \"10 ms\" }}\n\
             [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n\
             traffic = {{ rate = \"200 kbit/s\" }}\n"
        )
    };
    let packets = |delay: &str| column(&run_text(&text(delay)).links, "delivered_packets");
    let [data, acks] = packets("40 ms")[..] else { panic!("two directions") };
    assert!(acks >= data - 4.0, "{acks} acknowledgements of {data} segments");
    let [data, acks] = packets("40001 us")[..] else { panic!("two directions") };
    assert!(acks <= data / 2.0 + 2.0, "a later timer: {acks} acknowledgements of {data} segments");
}

/// An application writes 1000 B each 40 ms to a window of so much. The first ACK of data comes four delays and
/// 1.216 ms of transmissions after the start.
#[test]
fn an_application_writes_before_a_packet() {
    let waited = |delay_ns: u64| {
        let text = format!(
            "name = \"t\"\n[run]\nduration = \"200 ms\"\n[tcp]\nsegment_size = \"1000 B\"\ndelayed_ack = \"off\"\n\
             receive_buffer = \"1000 B\"\n[topology.single_hop]\n\
             link = {{ rate = \"8 Mbit/s\", delay = \"{delay_ns} ns\" }}\n\
             [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n\
             traffic = {{ rate = \"200 kbit/s\" }}\n"
        );
        first(&run_text(&text).budget, "receiver_s")
    };
    // The handshake, and the pause before the second segment: that waits for the window, as it was written first.
    assert_close(waited(9_696_000), 2.0 * 19.436e-3, 1e-9);
    // 4 ns earlier the ACK finds nothing to send: the second segment waits for the application alone.
    assert_close(waited(9_695_999), 19.439_998e-3, 1e-9);
}

/// Two packets reach `b` at 20 ms: one has been the first of its link since 11 ms, the other since 16 ms.
#[test]
fn the_packet_that_has_been_the_first_for_longer_comes_before() {
    let text = |near: u64, far: u64| {
        let text = relay("refuse", &(source("u", "near", 20_000 - near) + &source("v", "far", 20_000 - far)));
        let delay = |total: u64| format!("rate = \"8 Mbit/s\"\ndelay = \"{} us\"", total - 1000);
        text.replace("nodes = [", "nodes = [\"near\", \"far\", ").replace(
            "[[radio]]",
            &(link("near", ("near", "b"), &delay(near))
                + &link("far", ("far", "b"), &delay(far))
                + "[[radio]]"),
        )
    };
    let waits = |text: String| {
        let run = run_text(&text);
        [fared(&run, "u").2, fared(&run, "v").2].map(|delay| (delay * 1e4).round() / 10.0)
    };
    assert_eq!(waits(text(4_000, 9_000)), [5.2, 10.1], "`near` is the lower link, and waits");
    assert_eq!(waits(text(4_000, 4_000)), [5.1, 5.2], "since the same instant: the lower link");
}

/// The end of the warm-up, a sample and the start of a flow.
#[test]
fn measurements_come_first() {
    // The only packet reaches `c` as the measured span begins: 20 ms + 1.1 ms.
    let once = source("u", "b", 20_000) + "stop = \"21 ms\"\n";
    let text = |warmup: &str| {
        relay("refuse", &once)
            .replace("duration = \"1 s\"", &format!("duration = \"1 s\"\nwarmup = \"{warmup}\""))
    };
    assert_eq!(fared(&run_text(&text("21.1 ms")), "u").1, 1.0);
    assert_eq!(fared(&run_text(&text("21.101 ms")), "u").1, 0.0);
    // A sample shows what was before the silence that begins at 10 ms.
    let text = relay("refuse", &once).replace("[run]", "[run]\nsample_interval = \"10 ms\"");
    let run = run_traced(&text);
    let rates: Vec<f64> = (0..run.link_series.len())
        .filter(|row| run.link_series.text("link", *row) == Some("radio"))
        .filter(|row| run.link_series.text("direction", *row) == Some("forward"))
        .map(|row| run.link_series.number("rate_bps", row).unwrap())
        .collect();
    assert_eq!(rates[..4], [80e6, 0.0, 80e6, 0.0]);
}

/// The spare links are `[[topology.graph.links]]` that nobody uses; 17 of all used to change the run.
#[test]
fn an_idle_link_changes_nothing() {
    let text = |extra: usize| {
        let spare = (0..extra).map(|number| {
            link(
                &format!("spare{number}"),
                ("c", &format!("x{number}")),
                "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"",
            )
        });
        let nodes = (0..extra).map(|number| format!(", \"x{number}\"")).collect::<String>();
        relay("refuse", &source("u", "a", 10_000))
            .replace("traffic = { size = \"1 B\" }", "traffic = { rate = \"100 kbit/s\" }")
            .replace(
                "delay = \"1 ms\"\n[[topology.graph.links]]\nname = \"radio\"",
                "delay = \"99 ms\"\n[[topology.graph.links]]\nname = \"radio\"",
            )
            .replace("duration = \"1 s\"", "duration = \"10 s\"")
            .replace("\"c\"]", &format!("\"c\"{nodes}]"))
            .replace("[[radio]]", &(spare.collect::<String>() + "[[radio]]"))
    };
    let alone = run_text(&text(0));
    assert!(first(&alone.flows, "goodput_bps") > 0.0);
    for extra in [1, 13, 14, 15, 16, 40, 1100] {
        let run = run_text(&text(extra));
        assert_eq!(run.digest, alone.digest, "{extra} spare links");
        assert_same_rows(&alone, &run, &format!("{extra} spare links"));
    }
}

/// Parts of a graph, each a list of entries in the order of the file.
#[derive(Default)]
struct Graph {
    nodes: Vec<String>,
    links: Vec<String>,
    radios: Vec<String>,
    sources: Vec<String>,
    flows: Vec<String>,
}

impl Graph {
    /// A random line of routers with hosts, radios, flows and UDP sources. Names begin with `prefix`. Numbers
    /// are round, so that much happens at one instant.
    fn random(random: &mut RandomStream, prefix: &str) -> Self {
        let mut below = |count: u64| random.below(count);
        let mut graph = Self::default();
        let (routers, hosts) = (1 + below(3), [2, 3, 4, 6, 18][below(5) as usize]);
        graph.nodes = (0..routers).map(|number| format!("{prefix}r{number}")).collect();
        let mut ends: Vec<(u64, u64)> = (1..routers).map(|number| (number - 1, number)).collect();
        for host in 0..hosts {
            graph.nodes.push(format!("{prefix}h{host}"));
            ends.push((routers + host, below(routers)));
        }
        for (number, (from, to)) in ends.iter().enumerate() {
            let mut pick = |choices: &[&str]| choices[below(choices.len() as u64) as usize].to_owned();
            let (rate, delay) = (
                pick(&["1 Mbit/s", "2 Mbit/s", "8 Mbit/s", "80 Mbit/s"]),
                pick(&["0 ms", "1 ms", "9 ms", "99 ms"]),
            );
            let queue = pick(&["\"2 packets\"", "\"8 packets\"", "\"100 packets\"", "\"6 kB\"", "\"codel\""]);
            let loss = pick(&["", "", "", "\nloss = \"1 %\""]);
            let name = format!("{prefix}l{number}");
            let ends = (&*graph.nodes[*from as usize], &*graph.nodes[*to as usize]);
            let rest = format!("rate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {queue}{loss}");
            graph.links.push(link(&name, ends, &rest));
            if below(5) == 0 {
                let mut pick = |choices: &[&str]| choices[below(choices.len() as u64) as usize].to_owned();
                let silence = pick(&["hold", "drop", "refuse", "down"]);
                let (off, on) = (pick(&["10 ms", "100 ms"]), pick(&["10 ms", "100 ms", "1 s"]));
                let pu = pick(&["", "pu = { interarrival = \"1 s\", switching = \"100 ms\" }\n"]);
                graph.radios.push(format!(
                    "[[radio]]\nname = \"{prefix}radio{number}\"\nlinks = [\"{name}\"]\nsilence = \"{silence}\"\n\
                     sensing = {{ off = \"{off}\", on = \"{on}\" }}\n{pu}"
                ));
            }
        }
        for flow in 0..1 + below(6) {
            let (from, to) = graph.pair(&mut below);
            let mut pick = |choices: &[&str]| choices[below(choices.len() as u64) as usize].to_owned();
            let transport =
                pick(&["newreno", "linux-cubic", "linux-bbr", "sack", "quic", "tfrc", "linux-reno"]);
            let mut rest = pick(&[
                "",
                "",
                "start = \"1 s\"",
                "stop = \"1.4 s\"",
                "traffic = { size = \"90 kB\" }",
                "traffic = { size = \"960 B\" }",
                "traffic = { rate = \"400 kbit/s\" }",
            ]);
            if transport == "tfrc" && rest.contains("size") {
                rest.clear();
            }
            graph.flows.push(format!(
                "[[flow]]\nname = \"{prefix}f{flow}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{transport}\"\n{rest}\n"
            ));
        }
        for source in 0..below(3) {
            let (from, to) = graph.pair(&mut below);
            let pattern = ["{ constant = \"388800 bit/s\" }", "{ poisson = \"400 kbit/s\" }"];
            graph.sources.push(format!(
                "[[udp]]\nname = \"{prefix}u{source}\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"972 B\"\nstart = \"{} ms\"\n\
                 pattern = {}\n",
                10 * below(100),
                pattern[below(2) as usize],
            ));
        }
        graph
    }

    /// Two of its nodes.
    fn pair(&self, below: &mut impl FnMut(u64) -> u64) -> (String, String) {
        let count = self.nodes.len() as u64;
        let from = below(count);
        let to = (from + 1 + below(count - 1)) % count;
        (self.nodes[from as usize].clone(), self.nodes[to as usize].clone())
    }

    /// Nodes behind links that nobody uses, at any nodes of `of`, and flows and sources that have nothing to
    /// send before the end of the run.
    fn idle(random: &mut RandomStream, of: &Self) -> Self {
        let mut below = |count: u64| random.below(count);
        let mut graph = Self::default();
        for number in 0..below(20) {
            let node = format!("xi{number}");
            let at = &of.nodes[below(of.nodes.len() as u64) as usize];
            let rest = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
            graph.links.push(link(&format!("xil{number}"), (at, &node), rest));
            match below(4) {
                0 => graph.flows.push(format!(
                    "[[flow]]\nname = \"xif{number}\"\nfrom = \"{node}\"\nto = \"{at}\"\ntransport = \"newreno\"\n\
                     start = \"1.999999999 s\"\n"
                )),
                1 => graph.sources.push(format!(
                    "[[udp]]\nname = \"xiu{number}\"\nfrom = \"{node}\"\nto = \"{at}\"\nsize = \"972 B\"\n\
                     start = \"1.999999999 s\"\npattern = {{ constant = \"1 kbit/s\" }}\n"
                )),
                _ => {}
            }
            graph.nodes.push(node);
        }
        graph
    }

    /// Both together, in any order that keeps the order of each.
    fn and(self, other: Self, random: &mut RandomStream) -> Self {
        let mut merge = |one: Vec<String>, two: Vec<String>| {
            let (mut one, mut two) = (one.into_iter().peekable(), two.into_iter().peekable());
            let mut merged = Vec::new();
            while one.peek().is_some() || two.peek().is_some() {
                let (first, second) =
                    if random.below(2) == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
                merged.extend(first.next().or_else(|| second.next()));
            }
            merged
        };
        Self {
            nodes: merge(self.nodes, other.nodes),
            links: merge(self.links, other.links),
            radios: merge(self.radios, other.radios),
            sources: merge(self.sources, other.sources),
            flows: merge(self.flows, other.flows),
        }
    }

    fn text(&self, head: &str) -> String {
        let Self { nodes, links, radios, sources, flows } = self;
        let parts = [links, radios, sources, flows].map(|part| part.concat()).concat();
        format!("name = \"graph\"\n{head}[topology.graph]\nnodes = {nodes:?}\n{parts}")
    }
}

/// Idle links, nodes and flows, and traffic elsewhere change no table of a network.
#[test]
fn nothing_depends_on_what_else_exists() {
    for seed in 0..2 * cases() {
        let mut random = RandomStream::new(seed, "component", 0);
        let own = Graph::random(&mut random, "");
        let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
        let head = format!(
            "[run]\nduration = \"2 s\"\nwarmup = \"{}\"\nseed = {seed}\nsample_interval = \"{}\"\n[tcp]\n\
             segment_size = \"{}\"\n",
            pick(&["0 s", "1 s"]),
            pick(&["10 ms", "100 ms"]),
            pick(&["1000 B", "1460 B"])
        );
        let alone = own.text(&head);
        let levels = [TraceLevel::None, TraceLevel::Series, TraceLevel::Full, TraceLevel::Packets];
        let trace = levels[random.below(4) as usize];
        let mut all = own;
        let (with_idle, with_others) = [(true, false), (false, true), (true, true)][seed as usize % 3];
        if with_idle {
            let idle = Graph::idle(&mut random, &all);
            all = all.and(idle, &mut random);
        }
        if with_others {
            let mut elsewhere = Graph::random(&mut random, "x");
            // Every node of a scenario can be reached. Nobody crosses the link.
            elsewhere.links.push(link("xbridge", ("r0", "xr0"), "rate = \"1 Mbit/s\"\ndelay = \"1 ms\""));
            all = all.and(elsewhere, &mut random);
        }
        let all = all.text(&head);
        let [one, two] = [&alone, &all].map(|text| {
            run(&experiment(text), &RunOptions { trace, ..RunOptions::default() })
                .unwrap_or_else(|error| panic!("{error}\n{text}"))
        });
        assert_same_rows(&one, &two, &format!("seed {seed}, {trace:?}\n{alone}\n# with\n{all}"));
    }
}

/// Fails where a table of `alone` differs from that of `all` in what belongs to neither spare nor foreign
/// parts, whose names begin with `x`.
#[track_caller]
fn assert_same_rows(alone: &Run, all: &Run, what: &str) {
    for one in alone.tables().filter(|table| !table.is_empty()) {
        let two = all.table(one.name).unwrap_or_else(|| panic!("{}: no such table, {what}", one.name));
        let (one_rows, two_rows) = (own_rows(alone, one), own_rows(all, two));
        for (row, (one_row, two_row)) in one_rows.iter().zip(&two_rows).enumerate() {
            assert_eq!(one_row, two_row, "{}, row {row}, {what}", one.name);
        }
        assert_eq!(one_rows.len(), two_rows.len(), "{}, {what}", one.name);
    }
}

/// Each row of a table of `run` in words, of rows that name nothing foreign.
fn own_rows(run: &Run, table: &Table) -> Vec<String> {
    // Numbers of streams and of rows count those of all flows.
    let columns: Vec<&Column> =
        table.columns.iter().filter(|column| !["stream", "packet"].contains(&column.name)).collect();
    let names_none = |table: &Table, row: usize| {
        let mut columns = table.columns.iter();
        columns.all(|column| !table.text(column.name, row).is_some_and(|text| text.starts_with('x')))
    };
    let is_own = |row: &usize| {
        let packet = table.number("packet", *row);
        names_none(table, *row) && packet.is_none_or(|packet| names_none(&run.packets, packet as usize))
    };
    let cell = |column: &Column, row: usize| match &column.data {
        ColumnData::U64(values) => values[row].to_string(),
        ColumnData::I64(values) => values[row].to_string(),
        ColumnData::F64(values) => format!("{:?}", values[row]),
        ColumnData::Bool(values) => values[row].to_string(),
        ColumnData::Text { codes, dictionary } => dictionary[codes[row] as usize].clone(),
    };
    let row = |row: usize| {
        let cells = columns.iter().map(|column| format!("{} {}", column.name, cell(column, row)));
        cells.collect::<Vec<_>>().join(", ")
    };
    (0..table.len()).filter(is_own).map(row).collect()
}
