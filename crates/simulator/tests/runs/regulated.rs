//! Radios under a regulation in whole runs, through each access. A debug build stops at the first frame over
//! a primary user beyond the allowed time, and checks conservation, capacity and budget at the end of each.

use crate::support::*;
use cogtcp_units::RandomStream;

/// A link of 30 ms through an access, with a band for each PU law.
fn link(duration: &str, bands: u32, pu: &str, access: &str, regulation: &str) -> String {
    let cell =
        if access == "scheduled" { "cell = { bandwidth = \"5 MHz\", sinr = \"14 dB\" }\n" } else { "" };
    format!(
        r#"name = "regulated"
[run]
duration = "{duration}"
sample_interval = "10 s"
[topology.graph]
nodes = ["server", "base", "client"]
links = [
    {{ name = "wire", from = "server", to = "base", rate = "1 Gbit/s", delay = "30 ms", queue = "1000 packets" }},
    {{ name = "air", from = "base", to = "client", rate = "4 Mbit/s", delay = "1 us", queue = "50 packets" }},
]
[spectrum]
bands = {bands}
channels = {{ uniform = "4 Mbit/s" }}
pu = {{ laws = {pu} }}
[[radio]]
name = "radio"
links = ["air"]
[radio.cr]
access = "{access}"
{cell}regulation = {regulation}
[[flow]]
from = "server"
to = "client"
transport = "linux-cubic"
"#
    )
}

const RARE: &str = "{ on = { deterministic = \"100 s\" }, off = { deterministic = \"100 s\" }, count = 1 }";
const NEVER: &str = "{ on = { deterministic = \"1 s\" }, off = { deterministic = \"100 h\" } }";

/// A radar after 100 s, then a check of 60 s: 40 of 160 s without a link, whatever the access.
#[test]
fn radar_silences_every_access() {
    for access in ["none", "scheduled", "dcf"] {
        let run = run_traced(&link("160 s", 2, RARE, access, "{ dfs = {} }"));
        // From 100.1 s to the end: 160.501 s is later.
        assert_close(first(&run.radios, "transmitting_s"), 100.1, 1e-9);
        assert_close(first(&run.radios, "sensing_s"), 59.5, 1e-9);
        assert_eq!(first(&run.radios, "pu_overdue_s"), 0.0, "{access}");
        assert!(first(&run.radios, "pu_interfered_s") <= 0.2, "{access}");
        assert!(first(&run.flows, "goodput_bps") > 0.3 * 4e6 * 100.0 / 160.0, "{access}");
    }
}

/// Without incumbents a regulated radio is a link that is never silent.
#[test]
fn a_regulation_costs_nothing_without_incumbents() {
    for regulation in ["{ cbrs = {} }", "{ dfs = {} }", "{ tvws = {} }"] {
        let run = run_traced(&link("100 s", 1, NEVER, "none", regulation));
        assert_eq!(first(&run.radios, "transmitting_s"), 100.0, "{regulation}");
        // 1448 of 1500 bytes are data; CUBIC loses little at the beginning.
        assert_close(first(&run.flows, "goodput_bps"), 4e6 * 1448.0 / 1500.0, 0.03);
    }
}

/// A radio that nobody regulates has no column of overdue time.
#[test]
fn overdue_time_is_of_regulated_radios_alone() {
    let text = link("20 s", 1, NEVER, "none", "{ cbrs = {} }");
    let sensing = "detector = \"perfect\"\nsensing_time = \"50 ms\"\ntransmission_time = \"950 ms\"";
    let run = run_traced(&text.replace("regulation = { cbrs = {} }", sensing));
    assert!(first(&run.radios, "pu_overdue_s").is_nan());
}

/// A DPA from 100 s on, of a radar 450 m from the base station: 13 dB below the link's own signal, 3 dB at 10
/// dB less power. At less power the cell goes on at a lower rate, and the link without a MAC at the rate that
/// the scenario names; neither interferes. Suspended, the link carries nothing.
#[test]
fn less_power_keeps_a_link_alive_in_a_dpa() {
    let in_dpa = |access: &str, dpa: &str| {
        let regulation = format!("{{ cbrs = {{ heartbeat = \"10 s\", dpa = {dpa} }} }}\ncapture = \"0 dB\"");
        let place = "position = [\"-450 m\", \"0 m\"], reach = { power = \"0.2818 W\" } }";
        let radar = RARE.replace("count = 1 }", place);
        let text = link("200 s", 1, &radar, access, &regulation);
        let run =
            run_traced(&text.replace("duration = \"200 s\"", "duration = \"200 s\"\nwarmup = \"115 s\""));
        assert_eq!(first(&run.radios, "pu_overdue_s"), 0.0);
        assert_eq!(first(&run.radios, "pu_interfered_s"), 0.0);
        first(&run.flows, "goodput_bps")
    };
    let full =
        first(&run_traced(&link("100 s", 1, NEVER, "scheduled", "{ cbrs = {} }")).flows, "goodput_bps");
    for access in ["none", "scheduled"] {
        assert_eq!(in_dpa(access, "\"suspend\""), 0.0, "{access}");
    }
    assert_close(
        in_dpa("none", "{ reduce = { by = \"10 dB\", rate = \"1 Mbit/s\" } }"),
        1e6 * 1448.0 / 1500.0,
        0.02,
    );
    let reduced = in_dpa("scheduled", "{ reduce = { by = \"10 dB\" } }");
    assert!((0.1..0.6).contains(&(reduced / full)), "{reduced} of {full}");
}

/// 200 scenarios with settings, incumbents and accesses at random: nobody is transmitted over beyond the
/// allowed time.
#[test]
fn no_scenario_disturbs_an_incumbent_beyond_the_allowed_time() {
    let mut interfered = 0.0;
    for seed in 0..200 {
        let mut random = RandomStream::new(seed, "scenarios", 0);
        let mut up_to = |most: u64| random.below(most + 1);
        let access = ["none", "scheduled", "dcf"][up_to(2) as usize];
        let ready = ["true", "false"][up_to(1) as usize];
        let regulation = match up_to(2) {
            0 => format!(
                "{{ cbrs = {{ heartbeat = \"{} s\", transmit = \"{} s\", stop = \"{} s\", esc = \"{} s\", dpa = \"{}\", ready = {ready} }} }}",
                2 + up_to(30),
                1 + up_to(238),
                up_to(59),
                up_to(10),
                ["suspend", "relocate"][up_to(1) as usize],
            ),
            1 => format!(
                "{{ dfs = {{ closing = \"{} ms\", channel_move = \"1 s\", ready = {ready} }} }}",
                up_to(180)
            ),
            _ => format!(
                "{{ tvws = {{ check = \"{} s\", grace = \"{} s\", notice = \"{} s\", lead = \"{} ms\", ready = {ready} }} }}",
                5 + up_to(100),
                1 + up_to(30),
                up_to(200),
                20 + up_to(100),
            ),
        };
        let pu = format!(
            "{{ on = {{ exponential = \"{} s\" }}, off = {{ exponential = \"{} s\" }} }}",
            1 + up_to(60),
            1 + up_to(60),
        );
        let run = run_text(&link("60 s", 1 + up_to(2) as u32, &pu, access, &regulation));
        assert_eq!(first(&run.radios, "pu_overdue_s"), 0.0, "seed {seed}");
        interfered += first(&run.radios, "pu_interfered_s");
    }
    assert!(interfered > 100.0, "{interfered} s: incumbents do suffer, within the allowed time");
}

/// Quiet periods are sensing: a perfect detector finds every incumbent within a superframe, in two looks.
#[test]
fn quiet_periods_sense_through_each_access() {
    for access in ["none", "scheduled", "dcf"] {
        let regulation = "{ quiet_periods = {} }\ndetector = \"perfect\"";
        // The radar comes between two looks, which are 0.16 s apart.
        let between =
            RARE.replace("off = { deterministic = \"100 s\"", "off = { deterministic = \"100100 ms\"");
        let run = run_traced(&link("130 s", 2, &between, access, regulation));
        assert!(first(&run.radios, "sensings") > 800.0, "{access}");
        assert_eq!(first(&run.radios, "pu_overdue_s"), 0.0, "{access}");
        assert_close(first(&run.radios, "vacate_max_s"), 0.06, 1e-6);
    }
}
