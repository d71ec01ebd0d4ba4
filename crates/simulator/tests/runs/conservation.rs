//! Random networks: every packet is accounted for (the simulator checks it itself, on the way and at the
//! end), finite flows arrive whole, and the tables agree with one another.

use crate::support::*;
use cogtcp_units::RandomStream;

/// A random scenario: topology, rates, buffers, losses, radios, transports, traffic.
fn random_scenario(seed: u64) -> String {
    let mut random = RandomStream::new(seed, "random-scenario", 0);
    let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
    let rates = ["100 kbit/s", "500 kbit/s", "2 Mbit/s", "10 Mbit/s", "37 Mbit/s"];
    let delays = ["0 ms", "1 ms", "13 ms", "60 ms"];
    let queues = [
        "\"1 packet\"",
        "\"7 packets\"",
        "\"50 packets\"",
        "\"3000 B\"",
        "\"64 KiB\"",
        "{ red = { limit = 30 } }",
        "{ codel = { target = \"2 ms\", interval = \"30 ms\" } }",
        "{ fq_codel = { limit = 20, flows = 2 } }",
    ];
    let losses = ["0 %", "0 %", "0.3 %", "4 %"];
    let mut link = || {
        let (rate, delay) = (pick(&rates), pick(&delays));
        let (queue, loss) = (pick(&queues), pick(&losses));
        format!("{{ rate = \"{rate}\", delay = \"{delay}\", queue = {queue}, loss = \"{loss}\" }}")
    };
    let (first, second) = (link(), link());
    let (topology, gated, from, to) = match pick(&["single", "dumbbell", "chain", "graph"]).as_str() {
        "single" => (format!("[topology.single_hop]\nlink = {first}"), "link", "sender", "receiver"),
        "dumbbell" => (
            format!("[topology.dumbbell]\npairs = 3\naccess = {first}\nbottleneck = {second}"),
            "bottleneck",
            "s*",
            "d*",
        ),
        "chain" => (format!("[topology.chain]\nhops = 3\nlink = {first}"), "hop2", "n0", "n3"),
        _ => {
            let named = |name: &str, ends: &str, link: &str| {
                link.replacen('{', &format!("{{ name = \"{name}\", {ends},"), 1)
            };
            let links = [
                named("ab", "from = \"a\", to = \"b\"", &first),
                named("bc", "from = \"b\", to = \"c\"", &second),
                named("ca", "from = \"c\", to = \"a\"", &first),
                named("cd", "from = \"c\", to = \"d\"", &second),
            ];
            let nodes = "nodes = [\"a\", \"b\", \"c\", \"d\"]";
            (format!("[topology.graph]\n{nodes}\nlinks = [{}]", links.join(", ")), "bc", "a", "d")
        }
    };
    let count = if from.contains('*') { 3 } else { 2 };
    let silence =
        pick(&["hold", "drop", "refuse", "down", "down\"\nflush = \"queue", "down\"\nflush = \"wire"]);
    let sensing = pick(&[
        "off = \"100 ms\", on = \"1 s\"",
        "off = { exponential = \"400 ms\" }, on = { uniform = [\"10 ms\", \"3 s\"] }",
        "off = \"2 s\", on = \"1 s\"",
        "off = \"700 ms\", on = \"50 ms\"",
    ]);
    let pu = pick(&["", "pu = { interarrival = \"3 s\", switching = \"50 ms\" }"]);
    let channel = pick(&[
        "\"stay\"",
        "{ range = [\"300 kbit/s\", \"9 Mbit/s\"] }",
        "{ set = [\"1 Mbit/s\", \"2 Mbit/s\"] }",
    ]);
    let traffic = pick(&["\"saturated\"", "{ size = \"400 kB\" }", "{ rate = \"700 kbit/s\" }"]);
    let transport = pick(&["tahoe", "reno", "newreno", "sack"]);
    let tcp = pick(&[
        "",
        "delayed_ack = \"off\"",
        "timestamps = true\nreceive_buffer = \"8 KB\"",
        "f_rto = \"basic\"",
    ]);
    let stop = pick(&["", "stop = \"9 s\""]);
    let warmup = pick(&["0 s", "4 s"]);
    format!(
        "name = \"random\"\n[run]\nduration = \"15 s\"\nwarmup = \"{warmup}\"\nseed = {seed}\n[tcp]\n{tcp}\n{topology}\n\
         [[radio]]\nname = \"radio\"\nlinks = [\"{gated}\"]\nsilence = \"{silence}\"\nsensing = {{ {sensing} }}\n{pu}\n\
         channel = {channel}\n[[flow]]\ncount = {count}\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{transport}\"\n\
         traffic = {traffic}\nstagger = \"300 ms\"\n{stop}\n"
    )
}

#[test]
fn every_packet_of_random_networks_is_accounted_for() {
    let mut delivered = 0.0;
    for seed in 0..120 {
        let text = random_scenario(seed);
        let run =
            std::panic::catch_unwind(|| run_traced(&text)).unwrap_or_else(|_| panic!("seed {seed}:\n{text}"));
        for row in 0..run.links.len() {
            let number = |name: &str| run.links.number(name, row).unwrap();
            let drops = number("drops_queue")
                + number("drops_early")
                + number("drops_loss")
                + number("drops_silence");
            // What was inside at the end of the warm-up may leave after it.
            let inside = number("offered_packets") - number("delivered_packets") - drops;
            assert!(run.warmup_s > 0.0 || inside >= 0.0, "seed {seed}, link {row}: {inside} inside\n{text}");
            assert!(number("capacity_bytes") <= number("channel_bytes"), "seed {seed}");
            // Transmission times are rounded to nanoseconds.
            assert!(
                number("utilisation") <= 1.0 + 1e-6 || number("capacity_bytes") == 0.0,
                "seed {seed}\n{text}"
            );
            let span = run.duration_s - run.warmup_s;
            assert!(
                number("queue_mean_packets") <= number("queue_max_packets") + 1e-9,
                "seed {seed}\n{text}"
            );
            assert!((0.0..=span).contains(&number("silence_s")), "seed {seed}");
        }
        let drop_events = event_times(&run, "drop").into_iter().filter(|time| *time >= run.warmup_s).count();
        let by_link: f64 = ["drops_queue", "drops_early", "drops_loss", "drops_silence"]
            .iter()
            .flat_map(|name| column(&run.links, name))
            .sum();
        let by_flow: f64 = ["drops", "ack_drops"].iter().flat_map(|name| column(&run.flows, name)).sum();
        assert_eq!(by_link, by_flow, "seed {seed}\n{text}");
        if run.warmup_s == 0.0 {
            assert_eq!(by_link, drop_events as f64, "seed {seed}\n{text}");
        }
        for row in 0..run.flows.len() {
            let number = |name: &str| run.flows.number(name, row).unwrap();
            if !number("completion_s").is_nan() && run.warmup_s == 0.0 {
                assert_eq!(number("delivered_bytes"), 400_000.0, "seed {seed}\n{text}");
            }
            if run.warmup_s == 0.0 && !number("efficiency").is_nan() {
                assert!(number("efficiency") <= 1.0, "seed {seed}\n{text}");
            }
            let of_tcp = |name: &str| extension(&run, "tcp_flows").number(name, row).unwrap();
            assert!(of_tcp("spurious_rtos") <= of_tcp("rtos") || run.warmup_s > 0.0, "seed {seed}\n{text}");
            delivered += number("delivered_bytes");
        }
    }
    assert!(delivered > 10e6, "the random networks carried {delivered} bytes in all");
}
