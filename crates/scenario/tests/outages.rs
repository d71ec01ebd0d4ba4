//! What the network and the receivers do about outages: ICMP, marks, adaptive acknowledgements.

use cogtcp_scenario::Scenario;
use cogtcp_transport::DelayedAck;
use cogtcp_units::Duration;
use std::path::Path;

fn shipped() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/train.toml");
    std::fs::read_to_string(path).unwrap()
}

fn changed(from: &str, to: &str) -> Scenario {
    let right = shipped();
    let other = right.replacen(from, to, 1);
    assert_ne!(right, other, "{from}");
    Scenario::parse(&other, "train.toml").unwrap()
}

#[test]
fn what_is_written_arrives() {
    let plain = Scenario::parse(&shipped(), "train.toml").unwrap().resolve().unwrap();
    assert!(
        !plain.radios[0].kind.gating().unwrap().unreachable
            && plain.links.iter().all(|link| link.forward.mark.is_none())
    );
    let told = changed("silence = \"drop\"", "silence = \"drop\"\nunreachable = true");
    assert!(told.resolve().unwrap().radios[0].kind.gating().unwrap().unreachable);
    assert_eq!(Scenario::parse(&told.to_toml(), "again").unwrap(), told);
    let marked = changed("queue = \"50 packets\"", "queue = \"50 packets\", mark = \"20 packets\"");
    let links = marked.resolve().unwrap().network.links;
    let marks: Vec<_> = links.iter().map(|link| (link.forward.mark, link.reverse.mark)).collect();
    assert_eq!(marks.iter().filter(|marks| **marks == (Some(20), Some(20))).count(), 1, "{marks:?}");
    let adaptive = changed("delayed_ack = \"off\"", "delayed_ack = \"adaptive\"");
    let receiver = adaptive.resolve().unwrap().flows[0].tcp().unwrap().receiver.clone();
    assert_eq!(receiver.delayed_ack, DelayedAck::Adaptive { limit: Duration::from_millis(500) });
    assert_eq!(Scenario::parse(&adaptive.to_toml(), "again").unwrap(), adaptive);
}

#[test]
fn what_cannot_work_is_refused() {
    for (from, to, field, words) in [
        ("queue = \"50 packets\"", "queue = \"50 packets\", mark = \"20 kB\"", "mark", "a number of packets"),
        ("delayed_ack = \"off\"", "delayed_ack = \"adaptively\"", "delayed_ack", "\"adaptive\""),
        ("silence = \"drop\"", "silence = \"drop\"\nunreachable = 1", "unreachable", "true or false"),
    ] {
        let wrong = shipped().replacen(from, to, 1);
        let text = Scenario::parse(&wrong, "train.toml").and_then(|it| it.resolve()).unwrap_err().to_string();
        assert!(text.starts_with("train.toml:") && text.contains(field) && text.contains(words), "{text}");
    }
}
