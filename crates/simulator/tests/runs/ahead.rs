//! Links hand packets on before they arrive at the next link, and no result depends on it.
//!
//! A run that records events lets every packet arrive in its turn, so both kinds of run can be compared.

use super::batches::{assert_no_difference, cases, dumbbell};
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
            "traffic = { rate = \"400 kbit/s\" }",
        ]);
        flows += &format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"{}\"\nto = \"{}\"\ntransport = \"{transport}\"\n{rest}\n",
            nodes[from], nodes[to]
        );
    }
    let radio = match below(4) {
        0 => "[[radio]]\nname = \"radio\"\nlinks = [\"l0\"]\nsensing = { off = \"100 ms\", on = \"1 s\" }\n",
        _ => "",
    };
    let size = ["1000 B", "1460 B"][below(2) as usize];
    let warmup = ["0 s", "1 s"][below(2) as usize];
    format!(
        "name = \"graph\"\n[run]\nduration = \"2 s\"\nwarmup = \"{warmup}\"\nseed = {seed}\nsample_interval = \"100 ms\"\n\
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
