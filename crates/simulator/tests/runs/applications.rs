//! Applications that ask and are answered, by hand. The link and the sizes are those of `timing`.

use crate::support::*;

const DATA: f64 = 832e-6;
const ACK: f64 = 32e-6;
const SYN: f64 = 38.4e-6;
const DELAY: f64 = 40e-3;
/// A request of 300 bytes and 28 of headers at 10 Mbit/s.
const REQUEST: f64 = 262.4e-6;
const LINK: &str = r#"rate = "10 Mbit/s", delay = "40 ms", queue = "100000 packets""#;

/// A run of `duration` of one flow with an initial window of one segment.
fn scenario(duration: &str, link: &str, traffic: &str) -> String {
    let rest = "initial_window = \"1 segment\"\nmax_window = \"2000 segments\"";
    format!("{}traffic = {{ {traffic} }}\n", single_hop(duration, "0 s", "newreno", link, rest))
}

fn requests(response: &str, more: &str) -> String {
    format!("requests = {{ response = {{ fixed = \"{response}\" }}, {more} }}")
}

/// Request, SYN, SYN-ACK, then slow start from one segment as in `timing`: 15 segments are four flights.
fn first_response() -> f64 {
    let one_segment = 2.0 * (SYN + DELAY) + ACK + DATA + DELAY;
    let round = DATA + DELAY + ACK + DELAY;
    REQUEST + DELAY + one_segment + 3.0 * round + 7.0 * DATA
}

/// The first request opens the connection and its response is in slow start. The second is sent at once,
/// behind the ACK of the last segment; the window is 16 segments by now, so that all 15 leave back to back.
#[test]
fn completion_times_on_an_empty_link() {
    let run = run_text(&scenario("5 s", LINK, &requests("15 kB", "pace = { think = { fixed = \"0 s\" } }")));
    let times = column(extension(&run, "requests"), "completion_time_s");
    assert!((times[0] - first_response()).abs() < 1e-8, "{}, by hand {}", times[0], first_response());
    let later = ACK + REQUEST + DELAY + 15.0 * DATA + DELAY;
    assert!((times[1] - later).abs() < 1e-8, "{}, by hand {later}", times[1]);
    assert_eq!(column(extension(&run, "requests"), "response_bytes")[0], 15_000.0);
    // Every one but the first takes as long as the second, and one is under way at the end.
    let (flows, count) = (extension(&run, "request_flows"), times.len() as f64);
    assert_eq!((first(flows, "sent_requests"), first(flows, "answered_requests")), (count, count - 1.0));
    assert!((first(flows, "completion_p50_s") - later).abs() < 1e-8);
    assert_eq!(first(flows, "completion_max_s"), times[0]);
    assert!((5.0 - times[0]) / later < count && count < (5.0 - times[0]) / later + 2.0, "{count}");
    assert_eq!(first(&run.flows, "delivered_bytes") as u64 / 15_000, count as u64 - 1);
    assert_eq!(run.table("chunks"), None);
}

/// On new connections every response is as the first: handshake, and slow start from one segment. The
/// client's ACK of the last data and of the FIN with it, and its own FIN, go ahead of the next request, and
/// so do no more than two ACKs.
#[test]
fn a_new_connection_for_each_request() {
    let new = requests("15 kB", "connection = \"new\"");
    let run = run_traced(&scenario("4.8 s", LINK, &new));
    let times = column(extension(&run, "requests"), "completion_time_s");
    assert!((times[0] - first_response()).abs() < 1e-8, "{}, by hand {}", times[0], first_response());
    for time in &times[1..times.len() - 1] {
        let ahead = (time - first_response()) / ACK;
        assert!((ahead - 1.0).abs() < 1e-3 || (ahead - 2.0).abs() < 1e-3, "{time}: {ahead} ACKs ahead");
    }
    assert_eq!(times.len(), (4.8 / times[1]).ceil() as usize);
    // What the flow reports is that of all its connections.
    let answered = first(extension(&run, "request_flows"), "answered_requests");
    let delivered = first(&run.flows, "delivered_bytes");
    assert!(delivered >= answered * 15_000.0 && delivered < (answered + 1.0) * 15_000.0, "{delivered}");
    assert_eq!(first(extension(&run, "tcp_flows"), "rtos"), 0.0);
    let opened = event_times(&run, "connected").len();
    assert_eq!(opened, times.len());
}

/// Over a link that loses one packet in twenty, old segments come late and many: none is taken for one of a
/// later connection, and every response comes in full, one after the other.
#[test]
fn connections_do_not_mix() {
    let link = format!("{LINK}, loss = 0.05");
    let new = requests("40 kB", "connection = \"new\", pace = { think = { fixed = \"5 ms\" } }");
    let run = run_text(&scenario("800 s", &link, &new));
    let (sent, times) = (
        column(extension(&run, "requests"), "sent_s"),
        column(extension(&run, "requests"), "completion_time_s"),
    );
    assert!(times.len() > 100, "{}", times.len());
    for (number, pair) in sent.windows(2).enumerate() {
        assert!((pair[1] - pair[0] - times[number] - 5e-3).abs() < 1e-8, "request {number}");
        // No sooner than over a link that loses nothing.
        assert!(times[number] > first_response(), "{}", times[number]);
    }
    assert!(first(&run.flows, "retransmitted_segments") > 100.0);
}

/// The first packet towards the server, a request, is lost: it is sent again a second later, and answered
/// once.
#[test]
fn a_lost_request_is_sent_again() {
    let link = format!("{LINK}, reverse_drops = [1]");
    let run = run_text(&scenario("9 s", &link, &requests("15 kB", "pace = { every = { fixed = \"5 s\" } }")));
    let table = extension(&run, "requests");
    assert_eq!(column(table, "sent_s"), [0.0, 5.0]);
    assert_eq!(column(table, "repeats"), [1.0, 0.0]);
    let times = column(table, "completion_time_s");
    assert!((times[0] - 1.0 - first_response()).abs() < 1e-8, "{}", times[0]);
    assert_eq!(first(&run.flows, "delivered_bytes"), 30_000.0);
}

/// Requests of an open loop do not wait; a stopped application sends no more, and what it was promised still
/// comes.
#[test]
fn an_open_loop_keeps_its_pace_until_it_stops() {
    let traffic = requests("200 kB", "pace = { every = { fixed = \"100 ms\" } }");
    let text = format!("{}stop = \"350 ms\"\n", scenario("9 s", LINK, &traffic));
    let run = run_text(&text);
    let table = extension(&run, "requests");
    assert_eq!(column(table, "sent_s"), [0.0, 0.1, 0.2, 0.3]);
    let done = column(table, "completed_s");
    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "{done:?}");
}

/// Video of 16 Mbit/s over 10: a chunk of 1 s are 2000 segments of 832 us. Each stalls but the first, which
/// starts the video. Once the window is open, a chunk takes its transmission and a round trip to ask for it.
#[test]
fn a_video_beyond_the_link_stalls_at_every_chunk() {
    let video = "video = { rate = \"16 Mbit/s\", chunk = \"1 s\", startup = \"1 s\", buffer = \"10 s\" }";
    let run = run_text(&scenario("60 s", LINK, video));
    let (chunks, videos) = (extension(&run, "chunks"), extension(&run, "videos"));
    let came: Vec<f64> = column(chunks, "received_s").into_iter().filter(|at| !at.is_nan()).collect();
    assert_eq!(first(videos, "chunks"), came.len() as f64);
    assert_eq!(first(videos, "startup_s"), came[0]);
    let period = 2000.0 * DATA + ACK + REQUEST + 2.0 * DELAY;
    assert_close(column(chunks, "download_s")[9], period, 1e-4);
    assert_close(column(chunks, "stalled_s")[9], period - 1.0, 1e-4);
    // The video played a second for each chunk, of the last one what the run left time for. All other time
    // since it began it stalled.
    let last = 60.0 - came[came.len() - 1];
    let played = (came.len() - 1) as f64 + last.min(1.0);
    assert!((first(videos, "stalled_s") - (60.0 - came[0] - played)).abs() < 1e-6);
    assert_eq!(first(videos, "stalls"), (came.len() - 1) as f64 + f64::from(u8::from(last > 1.0)));
    assert_close(first(videos, "stall_share"), first(videos, "stalled_s") / (60.0 - came[0]), 1e-12);
    assert_eq!((first(videos, "waited_s"), first(videos, "bitrate_bps")), (came[0], 16e6));
    assert_eq!(first(videos, "switches"), 0.0);
    assert_eq!(run.table("requests"), None);
}

/// Video of 4 Mbit/s: 2 s of it come in 0.8 s, so that the buffer fills; then a chunk is asked for every 2 s,
/// and none stalls.
#[test]
fn a_video_within_the_link_is_fetched_at_its_own_pace() {
    let run = run_text(&scenario("60 s", LINK, "video = { rate = \"4 Mbit/s\" }"));
    let videos = extension(&run, "videos");
    assert_eq!((first(videos, "stalls"), first(videos, "stalled_s")), (0.0, 0.0));
    let asked = column(extension(&run, "chunks"), "requested_s");
    assert!(asked.windows(2).rev().take(10).all(|pair| (pair[1] - pair[0] - 2.0).abs() < 1e-9), "{asked:?}");
    assert_close(first(&run.flows, "goodput_bps"), 4e6 * (60.0 + 20.0) / 60.0, 0.05);
}

/// A video that never begins: a chunk of 40 MB takes longer than the run. Nothing was played: it waited all
/// the time, and the share of stalled time is 1.
#[test]
fn a_video_that_never_begins_is_stalled_throughout() {
    let video = "video = { rate = \"320 Mbit/s\", chunk = \"1 s\", startup = \"1 s\", buffer = \"10 s\" }";
    let run = run_text(&scenario("20 s", LINK, video));
    let videos = extension(&run, "videos");
    assert_eq!((first(videos, "stall_share"), first(videos, "waited_s")), (1.0, 20.0));
    assert!(first(videos, "startup_s").is_nan());
}

/// 10 Mbit/s carry 9.6 of payload: an adaptive video comes to its highest bitrate of 6 Mbit/s by one way or
/// the other, and changes it on the way.
#[test]
fn a_video_that_adapts_comes_to_what_the_link_carries() {
    for rule in ["bola", "rate"] {
        let video = format!("adaptive_video = {{ rule = \"{rule}\", chunk = \"2 s\" }}");
        let run = run_text(&scenario("60 s", LINK, &video));
        let (chunks, videos) = (extension(&run, "chunks"), extension(&run, "videos"));
        assert_eq!(first(videos, "stalls"), 0.0, "{rule}");
        assert!(first(videos, "switches") >= 1.0, "{rule}");
        let bytes = column(chunks, "chunk_bytes");
        // 2 s at 230 kbit/s and at 6 Mbit/s.
        assert_eq!((bytes[0], bytes[bytes.len() - 1]), (57_500.0, 1_500_000.0), "{rule}");
    }
}

/// What applications draw is theirs: another transport has the same responses, another seed others.
#[test]
fn responses_do_not_depend_on_the_transport() {
    let traffic = "requests = { response = { pareto = { mean = \"20 kB\", shape = 1.5 } }, \
                   pace = { every = { exponential = \"200 ms\" } } }";
    let sizes = |transport: &str, seed: u64| {
        let text = scenario("20 s", LINK, traffic).replace("newreno", transport);
        let text = text.replace("duration", &format!("seed = {seed}\nduration"));
        column(extension(&run_text(&text), "requests"), "response_bytes")
    };
    assert_eq!(sizes("newreno", 1), sizes("sack", 1));
    assert_ne!(sizes("newreno", 1), sizes("newreno", 2));
}
