//! Queue disciplines and UDP sources: what is wrong is said where it is.

use cogtcp_scenario::{QueueSpec, Scenario};

fn text(queue: &str, udp: &str) -> String {
    format!(
        r#"
name = "links"
run = {{ duration = "10 s" }}
[topology.single_hop]
link = {{ rate = "1 Mbit/s", delay = "5 ms", queue = {queue} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "reno"
{udp}
"#
    )
}

fn said(queue: &str, udp: &str) -> String {
    let read = Scenario::parse(&text(queue, udp), "links.toml").and_then(|scenario| scenario.resolve());
    read.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn every_form_of_a_queue_is_read() {
    for (queue, name) in [
        ("\"9 packets\"", "drop_tail"),
        ("\"red\"", "red"),
        ("{ codel = { interval = \"50 ms\" } }", "codel"),
    ] {
        let experiment = Scenario::parse(&text(queue, ""), "links.toml").unwrap().resolve().unwrap();
        let found = match &experiment.links[0].forward.queue {
            QueueSpec::DropTail(_) => "drop_tail",
            QueueSpec::Discipline(discipline) => discipline.name(),
        };
        assert_eq!(found, name);
        assert_eq!(experiment.links[0].forward.queue, experiment.links[0].reverse.queue);
        assert_eq!(experiment.is_random(), name == "red");
    }
}

#[test]
fn wrong_queues_are_named() {
    for (queue, message) in [
        ("\"codle\"", "or a discipline (red, codel, fq_codel, dualpi2)"),
        ("{ cake = {} }", "cake"),
        ("{ codel = { target = \"0 ms\" } }", "it is zero"),
        ("{ codel = { target = \"200 ms\" } }", "it is shorter than the target"),
        ("{ codel = { goal = \"5 ms\" } }", "goal"),
        ("{ codel = { target = \"100 ms\", interval = \"99 ms\" } }", "it is shorter than the target"),
        ("{ fq_codel = { flows = 0 } }", "it is out of range"),
        ("{ fq_codel = { flows = 65537 } }", "write a number from 1 to 65536"),
        ("{ fq_codel = { quantum = 0 } }", "write for example 1514"),
        ("{ fq_codel = { limit = 0 } }", "the queues hold nothing"),
        ("{ fq_codel = { target = \"0 ms\" } }", "it is zero"),
        ("{ dualpi2 = { target = \"0 ms\" } }", "it is zero"),
        ("{ dualpi2 = { update = \"99 us\" } }", "it is shorter than 100 us"),
        ("{ dualpi2 = { alpha = 0.0 } }", "write for example 0.16"),
        ("{ dualpi2 = { alpha = 1e6 } }", "write for example 0.16"),
        ("{ dualpi2 = { beta = -1.0 } }", "write for example 3.2"),
        ("{ dualpi2 = { coupling = 0.0 } }", "write 2"),
        ("{ dualpi2 = { limit = 0 } }", "the queues hold nothing"),
        ("{ red = { max_threshold = 5.0 } }", "it is not above min_threshold"),
        ("{ red = { weight = 0.0 } }", "it is not in 0 to 1"),
        ("{ red = { weight = 1.001 } }", "it is not in 0 to 1"),
        ("{ red = { max_probability = 0 } }", "it is zero"),
        ("{ red = { limit = 0 } }", "the queue holds nothing"),
        ("{ red = { mean_packet = 0 } }", "write for example 1000"),
        ("\"codel\", mark = \"5 packets\"", "take \"mark\" out"),
    ] {
        let said = said(queue, "");
        assert!(said.contains(message) && said.contains("links.toml:5"), "{queue}: {said}");
    }
}

/// The bounds themselves are allowed.
#[test]
fn queues_at_their_bounds_are_read() {
    for queue in [
        "{ codel = { target = \"100 ms\", interval = \"100 ms\" } }",
        "{ fq_codel = { flows = 1, quantum = 1, limit = 1 } }",
        "{ fq_codel = { flows = 65536 } }",
        "{ dualpi2 = { update = \"100 us\", limit = 1 } }",
        "{ dualpi2 = { alpha = 999999.0 } }",
        "{ red = { weight = 1.0, limit = 1, mean_packet = 1 } }",
    ] {
        assert!(Scenario::parse(&text(queue, ""), "links.toml").unwrap().resolve().is_ok(), "{queue}");
    }
}

#[test]
fn runs_of_losses_are_read_and_wrong_ones_are_named() {
    let queue = |rest: &str| format!("\"9 packets\", {rest}");
    let experiment =
        Scenario::parse(&text(&queue("loss = 0.01, loss_run = 3.5, reverse_loss = 0"), ""), "links.toml")
            .unwrap();
    let experiment = experiment.resolve().unwrap();
    assert_eq!(experiment.links[0].forward.loss_run, Some(3.5));
    assert!(experiment.is_random());
    for (rest, message) in [
        ("loss = 0.01, loss_run = 0.5", "write a mean length from 1 to 10000"),
        ("loss_run = 2", "but \"loss\" is 0"),
        ("loss = 0.01, loss_run = 10001", "write a mean length from 1 to 10000"),
        ("loss = 0.9, loss_run = 2", "at most 0.6667"),
        ("loss = 0.5001, loss_run = 1", "at most 0.5"),
    ] {
        let said = said(&queue(rest), "");
        assert!(said.contains(message) && said.contains("links.toml:5"), "{rest}: {said}");
    }
}

/// Losses as frequent as runs of their length can be, and runs of the least and the greatest length.
#[test]
fn runs_of_losses_at_their_bounds_are_read() {
    for rest in ["loss = 0.5, loss_run = 1", "loss = 0.01, loss_run = 1", "loss = 0.01, loss_run = 10000"] {
        assert_eq!(said(&format!("\"9 packets\", {rest}"), ""), "", "{rest}");
    }
}

/// What a seed decides: gaps by chance, and talk by chance.
#[test]
fn sources_are_random_where_something_is_drawn() {
    for (pattern, random) in [
        ("{ constant = \"10 kbit/s\" }", false),
        ("{ poisson = \"10 kbit/s\" }", true),
        ("{ on_off = { rate = \"1 Mbit/s\", on = { fixed = \"1 s\" }, off = { fixed = \"1 s\" } } }", false),
        (
            "{ on_off = { rate = \"1 Mbit/s\", on = { exponential = \"1 s\" }, off = { fixed = \"1 s\" } } }",
            true,
        ),
        (
            "{ on_off = { rate = \"1 Mbit/s\", on = { fixed = \"1 s\" }, off = { exponential = \"1 s\" } } }",
            true,
        ),
    ] {
        let udp = format!("[[udp]]\nfrom = \"sender\"\nto = \"receiver\"\npattern = {pattern}\n");
        let text = text("\"9 packets\"", &udp);
        let experiment = Scenario::parse(&text, "links.toml").unwrap().resolve().unwrap();
        assert_eq!(experiment.is_random(), random, "{pattern}");
    }
}

#[test]
fn wrong_sources_are_named() {
    let source = |rest: &str| format!("[[udp]]\nfrom = \"sender\"\nto = \"receiver\"\n{rest}\n");
    let good = "pattern = { constant = \"10 kbit/s\" }";
    assert_eq!(said("\"9 packets\"", &source(good)), "");
    for (rest, message) in [
        (format!("{good}\nsize = \"100 kB\""), "is not a payload of a UDP packet"),
        (format!("{good}\nstart = \"10 s\""), "start it before the end of the run"),
        (format!("{good}\nstart = \"2 s\"\nstop = \"1 s\""), "stop it after its start"),
        ("pattern = { poisson = \"0 bit/s\" }".to_owned(), "the rate is zero"),
        (
            "pattern = { on_off = { rate = \"1 Mbit/s\", on = { pareto = { mean = \"1 s\", shape = 1.0 } }, \
             off = { fixed = \"1 s\" } } }"
                .to_owned(),
            "the shape has no mean",
        ),
        (format!("{good}\nname = \"a\"\n{}name = \"a\"", source(good)), "is taken"),
    ] {
        let said = said("\"9 packets\"", &source(&rest));
        assert!(said.contains(message) && said.contains("links.toml:"), "{rest}: {said}");
    }
}
