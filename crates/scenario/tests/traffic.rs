//! Applications that ask: what is read, and what is wrong is said where it is.

use cogtcp_scenario::{Pace, Period, Scenario, Traffic, Volume};
use cogtcp_units::{Bytes, Duration};

fn text(traffic: &str) -> String {
    format!(
        r#"
name = "traffic"
run = {{ duration = "10 s" }}
[topology.single_hop]
link = {{ rate = "1 Mbit/s", delay = "5 ms", queue = "9 packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = "reno"
traffic = {{ {traffic} }}
"#
    )
}

#[test]
fn requests_and_videos_have_defaults() {
    let read = |traffic: &str| Scenario::parse(&text(traffic), "traffic.toml").unwrap().resolve().unwrap();
    let experiment = read("requests = { response = { fixed = \"10 kB\" } }");
    let Traffic::Requests(requests) = experiment.flows[0].traffic else { panic!("no requests") };
    assert_eq!((requests.response, requests.request), (Volume::Fixed(Bytes::new(10_000)), Bytes::new(300)));
    assert_eq!(requests.pace, Pace::Think(Period::Fixed(Duration::ZERO)));
    assert!(!experiment.is_random());
    assert!(read("requests = { response = { exponential = \"10 kB\" } }").is_random());
    let every = "requests = { response = { fixed = \"1 B\" }, pace = { every = { exponential = \"1 s\" } } }";
    assert!(read(every).is_random());
    let Traffic::Video(video) = read("video = { rate = \"800 kbit/s\" }").flows[0].traffic else {
        panic!("no video")
    };
    assert_eq!((video.chunk_bytes(), video.buffer), (200_000, Duration::from_secs(20)));
}

#[test]
fn wrong_applications_are_named() {
    for (traffic, message) in [
        ("requests = { response = { fixed = \"0 B\" } }", "requests.response: \"0 B\" is out of range"),
        (
            "requests = { response = { pareto = { mean = \"1 kB\", shape = 1.0 } } }",
            "requests.response: the shape has no mean",
        ),
        (
            "requests = { response = { fixed = \"1 kB\" }, request = \"2 kB\" }",
            "requests.request: \"2 kB\" is not a payload of a single packet",
        ),
        (
            "requests = { response = { fixed = \"1 kB\" }, pace = { every = { fixed = \"0 s\" } } }",
            "requests.pace: the period has no duration",
        ),
        (
            "requests = { response = { fixed = \"1 kB\" }, connection = \"new\", pace = { every = { fixed = \"1 s\" } } }",
            "requests.connection: a request that is due before the response to the last would need a second",
        ),
        ("requests = { response = { fixd = \"1 kB\" } }", "fixed"),
        ("requests = { respond = { fixed = \"1 kB\" } }", "respond"),
        ("video = { rate = \"0 bit/s\" }", "video.rate"),
        ("video = { rate = \"1 Mbit/s\", chunk = \"0 s\" }", "video.chunk"),
        (
            "video = { rate = \"1 Mbit/s\", buffer = \"3 s\" }",
            "video.buffer: \"3 s\" holds less than a chunk",
        ),
        ("video = { rate = \"1 Mbit/s\", request = \"0 B\" }", "video.request"),
    ] {
        let read = Scenario::parse(&text(traffic), "traffic.toml").and_then(|scenario| scenario.resolve());
        let said = read.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
        assert!(said.contains(message) && said.contains("traffic.toml:10"), "{traffic}: {said}");
    }
}

/// The bounds themselves are allowed, and what is beyond is not.
#[test]
fn bounds_of_applications() {
    let works = |traffic: &str| {
        Scenario::parse(&text(traffic), "traffic.toml").and_then(|scenario| scenario.resolve()).is_ok()
    };
    let request = |size: u32| {
        works(&format!("requests = {{ response = {{ fixed = \"1 B\" }}, request = \"{size} B\" }}"))
    };
    assert!(!request(0) && request(1) && request(1460) && !request(1461));
    // A user who thinks asks once at a time: a new connection each time is no matter.
    assert!(works("requests = { response = { fixed = \"1 B\" }, connection = \"new\" }"));
    let shape = |shape: &str| {
        works(&format!("requests = {{ response = {{ pareto = {{ mean = \"1 kB\", shape = {shape} }} }} }}"))
    };
    assert!(!shape("1.0") && shape("1.001") && shape("100.0") && !shape("100.1"));
    let video = |settings: &str| works(&format!("video = {{ rate = \"1 Mbit/s\", {settings} }}"));
    assert!(video("chunk = \"4 s\", startup = \"4 s\", buffer = \"4 s\""));
    assert!(!video("chunk = \"4 s\", startup = \"0 s\", buffer = \"3999 ms\""));
    assert!(!video("chunk = \"1 s\", startup = \"4 s\", buffer = \"3999 ms\""));
    // 8 bits are a byte, and less is none.
    assert!(video("chunk = \"8 us\"") && !video("chunk = \"7 us\""));
}
