//! Links hand packets on before they arrive at the next link, and no result depends on it.
//!
//! A run that records events lets every packet arrive in its turn, so both kinds of run can be compared.

use super::batches::{assert_no_difference, cases, dumbbell};
use crate::support::*;
use cogtcp_units::RandomStream;

/// A random line of routers, with hosts and flows between any two nodes. Numbers are round, so that packets of
/// several links arrive at one instant.
fn graph(seed: u64) -> String {
    let mut random = RandomStream::new(seed, "graph", 0);
    let mut below = |count: u64| random.below(count);
    let routers = 1 + below(3);
    let hosts = if below(4) == 0 { 18 } else { 2 + below(5) };
    let mut nodes: Vec<String> = (0..routers).map(|number| format!("r{number}")).collect();
    let mut ends: Vec<(String, String)> =
        (1..routers).map(|number| (format!("r{}", number - 1), format!("r{number}"))).collect();
    for host in 0..hosts {
        nodes.push(format!("h{host}"));
        ends.push((format!("h{host}"), format!("r{}", below(routers))));
    }
    let mut links = String::new();
    for (number, (from, to)) in ends.iter().enumerate() {
        let mut pick = |choices: &[&str]| choices[below(choices.len() as u64) as usize].to_owned();
        let (rate, delay) =
            (pick(&["1 Mbit/s", "2 Mbit/s", "8 Mbit/s", "80 Mbit/s"]), pick(&["0 ms", "1 ms", "10 ms"]));
        let queue = pick(&["2 packets", "8 packets", "100 packets", "6 kB"]);
        links += &format!(
            "[[topology.graph.links]]\nname = \"l{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\n\
             delay = \"{delay}\"\nqueue = \"{queue}\"\n"
        );
    }
    let mut flows = String::new();
    for flow in 0..1 + below(10) {
        let from = below(nodes.len() as u64) as usize;
        let to = (from + 1 + below(nodes.len() as u64 - 1) as usize) % nodes.len();
        let mut pick = |choices: &[&str]| choices[below(choices.len() as u64) as usize].to_owned();
        let transport = pick(&["newreno", "linux-cubic", "linux-bbr", "sack", "quic"]);
        let rest = pick(&[
            "",
            "",
            "start = \"1 s\"",
            "stop = \"1.4 s\"",
            "traffic = { size = \"90 kB\" }",
            "traffic = { size = \"960 B\" }",
            "traffic = { rate = \"400 kbit/s\" }",
        ]);
        flows += &format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"{}\"\nto = \"{}\"\ntransport = \"{transport}\"\n{rest}\n",
            nodes[from], nodes[to]
        );
    }
    // Round numbers here too: changes meet packets at one instant.
    let changes = [
        "off = \"100 ms\", on = \"1 s\" }",
        "off = \"1 ms\", on = \"9 ms\" }",
        "off = \"10 ms\", on = \"50 ms\" }\nchannel = { set = [\"1 Mbit/s\", \"2 Mbit/s\", \"8 Mbit/s\"] }",
    ][below(3) as usize];
    let silence = ["hold", "drop", "refuse", "down"][below(4) as usize];
    let radio = match below(2) {
        0 => format!(
            "[[radio]]\nname = \"radio\"\nlinks = [\"l0\"]\nsilence = \"{silence}\"\nsensing = {{ {changes}\n"
        ),
        _ => String::new(),
    };
    let size = ["1000 B", "1460 B"][below(2) as usize];
    let interval = ["1 ms", "100 ms"][below(2) as usize];
    let warmup = ["0 s", "1 s"][below(2) as usize];
    format!(
        "name = \"graph\"\n[run]\nduration = \"2 s\"\nwarmup = \"{warmup}\"\nseed = {seed}\nsample_interval = \"{interval}\"\n\
         [tcp]\nsegment_size = \"{size}\"\n[topology.graph]\nnodes = {nodes:?}\n{links}{radio}{flows}"
    )
}

#[test]
fn no_result_depends_on_packets_handed_on_early() {
    for seed in 0..cases() {
        for pairs in [1, 2, 5] {
            assert_no_difference(&dumbbell(seed, pairs), &format!("seed {seed}, {pairs} pairs"));
        }
    }
}

#[test]
fn no_result_depends_on_packets_handed_on_early_in_a_graph() {
    for seed in 0..5 * cases() {
        assert_no_difference(&graph(seed), &format!("graph of seed {seed}"));
    }
}

const ACCESS: &str = "rate = \"16 Mbit/s\", delay = \"1 ms\"";
const BOTTLENECK: &str = "rate = \"8 Mbit/s\", delay = \"0.5 ms\"";
const FLOW: &str = "[[flow]]\nname = \"f1\"\nfrom = \"s1\"\nto = \"d1\"\ntransport = \"newreno\"\n";

/// Two pairs over these links for a time, with a flow and what `rest` says.
fn two_pairs(duration: &str, access: &str, bottleneck: &str, rest: &str) -> String {
    format!(
        "name = \"two\"\n[run]\nduration = \"{duration}\"\n[tcp]\nsegment_size = \"1000 B\"\n[topology.dumbbell]\n\
         pairs = 2\naccess = {{ {access} }}\nbottleneck = {{ {bottleneck} }}\n{FLOW}{rest}"
    )
}

/// The second flow, which starts at this time in nanoseconds.
fn second(start: u64) -> String {
    format!("{}start = \"{start} ns\"\n", FLOW.replace("1\"", "2\""))
}

/// A run ends, a flow starts and a flow ends at the very instants at which packets arrive.
#[test]
fn what_happens_at_one_instant_keeps_its_order() {
    // The SYN has 40 to 80 bytes: 0.5 us a byte on the access link, 1 us on the bottleneck.
    for bytes in (40..=80).step_by(2) {
        let at_router = 1_000_000 + 500 * bytes;
        let at_exit = at_router + 1000 * bytes + 500_000;
        let text = two_pairs(&format!("{at_exit} ns"), ACCESS, BOTTLENECK, "");
        assert_no_difference(&text, "the end of the run");
        let text = two_pairs("1 s", ACCESS, BOTTLENECK, &second(at_router));
        assert_no_difference(&text, "the start of a flow");
    }
    // Packets whose transmission takes no time do not overtake each other.
    let text = two_pairs("1 s", "rate = \"10000 Gbit/s\", delay = \"1 ms\"", BOTTLENECK, "")
        .replace("1000 B", "400 B");
    assert_no_difference(&text, "no duration");
    let short = "traffic = { size = \"1000 B\" }\n";
    let table = run_text(&two_pairs("50 ms", ACCESS, BOTTLENECK, short)).flows;
    let completed = (first(&table, "completion_s") * 1e9).round() as u64;
    // The first acknowledgement of the second flow leaves its host 5.192 ms after the start.
    for bytes in (40..=80).step_by(4) {
        let start = completed - 5_192_000 - 1_000_000 - 500 * bytes;
        let text = two_pairs("50 ms", ACCESS, BOTTLENECK, &format!("{short}{}", second(start)));
        assert_no_difference(&text, "the end of a flow");
    }
}

/// In large networks packets are handed on shortly before they arrive. Here the bottleneck has no inlet.
#[test]
fn large_networks_hand_packets_on_shortly_before_they_arrive() {
    let radio =
        "[[radio]]\nname = \"r\"\nlinks = [\"access-s1\"]\nsensing = { off = \"100 ms\", on = \"1 s\" }\n";
    for radio in ["", radio] {
        let bottleneck = "rate = \"8 Mbit/s\", delay = \"10 ms\"";
        let text = two_pairs("1 s", ACCESS, bottleneck, &format!("{}{radio}", second(0)));
        assert_no_difference(&text.replace("pairs = 2", "pairs = 520"), "520 pairs");
    }
}
