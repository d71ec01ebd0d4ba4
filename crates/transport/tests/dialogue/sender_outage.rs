//! What the network and the far end's host say of an outage: ICMP, reports, windows taken back.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// A sender under the control called `name`, connected as [`SenderDialogue::connected`] is.
fn connected(name: &str, config: SenderConfig) -> SenderDialogue {
    let mut d = SenderDialogue::with_control(config, make(name, &Parameters::new()).unwrap());
    d.handshake("S. ack 1 mss 1460 sackOK ws 0");
    d
}

fn unreachable(d: &mut SenderDialogue, offset: u64) {
    let now = d.now();
    d.end.handle_unreachable(now, SeqNumber::from_offset(d.end.config().handshake.initial_sequence, offset));
}

/// RFC 1122 section 4.2.3.9: destination unreachable is no reason to do anything.
#[test]
fn rfc1122_4_2_3_9_plain_tcp_ignores_unreachable() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 4));
    d.write_segments(8);
    d.expect("#1-4");
    d.at(150);
    unreachable(&mut d, 1);
    d.exchange("ack #2", "#5-6");
    assert_eq!(d.cwnd(), 5);
}

/// A control that hears of the radio sees the connection as it is then, with what left since the last ACK.
#[test]
fn a_control_hears_of_the_radio_with_what_is_in_flight() {
    use std::sync::{Arc, Mutex};
    #[derive(Debug)]
    struct Listener(Arc<Mutex<Vec<u64>>>);
    impl CongestionControl for Listener {
        fn name(&self) -> &str {
            "listener"
        }
        fn ssthresh(&mut self, _: cogtcp_units::Time, tcp: &TcpState) -> u64 {
            tcp.flight_size / 2
        }
        fn cong_avoid(&mut self, _: cogtcp_units::Time, _: &mut TcpState, _: &AckSample) {}

        fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
            Some(self)
        }
    }

    impl ControlExtension for Listener {
        fn on_link_event(&mut self, _: cogtcp_units::Time, tcp: &mut TcpState, _: LinkEvent) {
            self.0.lock().unwrap().extend([tcp.in_flight, tcp.snd_nxt]);
        }
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let control = Box::new(Listener(Arc::clone(&heard)));
    let mut d = SenderDialogue::with_control(sender_config(Recovery::Sack, 4), control);
    d.handshake("S. ack 1 mss 1460 sackOK");
    d.write_segments(4);
    d.expect("#1-4");
    let now = d.now();
    d.end.handle_link_event(now, LinkEvent::SwitchingEnd);
    assert_eq!(*heard.lock().unwrap(), [4000, 4001]);
}

/// ATCP, disconnected: one segment of cwnd, probes in place of retransmissions, and from the first ACK on
/// everything that was outstanding again, by slow start; ssthresh as it was, and no timeout.
#[test]
fn atcp_waits_for_the_peer_and_starts_from_one_segment() {
    let config = SenderConfig { initial_ssthresh: 4_000, ..sender_config(Recovery::NewReno, 4) };
    let mut d = connected("atcp", config);
    d.write_segments(8);
    d.expect("#1-4");
    d.at(150);
    unreachable(&mut d, 1001);
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 4));
    // The least RTO of 1 s from 150 ms on, then 2 s.
    d.expect_at(1_150, "1:2");
    d.expect_at(3_150, "1:2");
    d.at(3_300);
    d.exchange("ack 2 win 60000", "2:1001");
    assert_eq!(d.cwnd(), 1);
    d.at(3_400);
    d.exchange("ack #2", "#2-3");
    d.at(3_500);
    d.exchange("ack #3", "#4-5");
    d.at(3_600);
    d.exchange("ack #5", "#6-8");
    assert_eq!((d.ssthresh(), d.end.stats().timeouts), (4, 0));
}

/// RFC 5927 section 4.1: what is not outstanding is not believed; and a second message changes nothing.
#[test]
fn rfc5927_4_1_unreachable_must_quote_what_is_outstanding() {
    let mut d = connected("atcp", sender_config(Recovery::NewReno, 4));
    d.write_segments(4);
    d.expect("#1-4");
    d.at(150);
    d.exchange("ack #2", "");
    for offset in [0, 1, 4001, 90_000] {
        unreachable(&mut d, offset);
        assert!(d.cwnd() > 1, "{offset}");
    }
    unreachable(&mut d, 1001);
    unreachable(&mut d, 1001);
    assert_eq!(d.cwnd(), 1);
}

/// ATCP, loss: three duplicate ACKs retransmit the segment and leave the window alone.
#[test]
fn atcp_retransmits_without_reducing() {
    let config = with!(
        sender_config(Recovery::NewReno, 6),
        initial_ssthresh = 6_000,
        recovery.limited_transmit = false
    );
    let mut d = connected("atcp", config);
    d.write_segments(12);
    d.expect("#1-6");
    d.at(150);
    d.exchange("ack #2", "#7");
    d.exchange("ack #2; ack #2", "");
    d.exchange("ack #2", "#2 ; #8-10");
    assert_eq!((d.cwnd(), d.ssthresh()), (6, 6));
    d.at(250);
    d.exchange("ack #11", "#11-12");
    assert_eq!((d.cwnd(), d.ssthresh()), (6, 6));
}

/// SaTCP: for as long as the report says, a timeout retransmits the window and reduces nothing.
#[test]
fn satcp_keeps_its_window_through_a_reported_outage() {
    let config = SenderConfig { initial_ssthresh: 4_000, ..sender_config(Recovery::Sack, 4) };
    let mut reported = connected("satcp-cubic", config.clone());
    let mut unwarned = connected("satcp-cubic", config);
    for d in [&mut reported, &mut unwarned] {
        d.write_segments(4);
        d.expect("#1-4");
        d.at(150);
    }
    // 1.5 s and the 0.5 s of the extension: until 2150 ms.
    reported.exchange("ack #1 custom 1500", "");
    reported.expect_at(1_100, "#1; #2; #3; #4");
    assert_eq!((reported.cwnd(), reported.ssthresh()), (4, 4));
    unwarned.exchange("ack #1", "");
    unwarned.expect_at(1_100, "#1");
    assert_eq!((unwarned.cwnd(), unwarned.ssthresh()), (1, 2));
    assert_eq!(reported.end.stats().timeouts, 1);
}

/// The SYN of a source that wants reports says so.
#[test]
fn satcp_asks_for_reports() {
    let mut d = SenderDialogue::with_control(
        sender_config(Recovery::Sack, 4),
        make("satcp-cubic", &Parameters::new()).unwrap(),
    );
    d.end.open(at(0));
    d.expect(&format!("S @0 custom {}", WANTS_REPORTS));
}

/// RFC 9293 section 3.8.6: a window taken back counts; the sender that does not heed it sends what it was
/// once offered.
#[test]
fn rfc9293_3_8_6_a_window_taken_back() {
    for heeds_shrinking in [true, false] {
        let config = SenderConfig { heeds_shrinking, ..sender_config(Recovery::NewReno, 2) };
        let mut d = SenderDialogue::connected(config);
        d.write_segments(30);
        d.expect("#1-2");
        d.at(150);
        d.exchange("ack #2 win 20000", "#3-4");
        d.send("ack #3 win 0");
        if heeds_shrinking {
            d.expect("");
        } else {
            // cwnd 4, up to offset 21001.
            d.expect("#5-6");
        }
    }
}

/// A window that opens after a freeze lets out a burst, or with `paced_resume` cwnd over SRTT: 5 segments in
/// 100 ms.
#[test]
fn a_resume_is_a_burst_or_paced() {
    for paced_resume in [false, true] {
        let config = SenderConfig {
            initial_ssthresh: 4_000,
            restart_after_idle: false,
            paced_resume,
            ..sender_config(Recovery::NewReno, 4)
        };
        let mut d = SenderDialogue::connected(config);
        d.write_segments(20);
        d.expect("#1-4");
        d.at(200);
        d.exchange("ack #5 win 0", "");
        d.at(700);
        d.send("ack #5 win 60000");
        if paced_resume {
            d.expect("#5");
            for k in 6..=9 {
                d.expect_at(700 + 20 * (k - 5), &format!("#{k}"));
            }
            d.at(800);
            // All of them are acknowledged: the ACK clock has taken over.
            d.exchange("ack #10", "#10-15");
        } else {
            d.expect("#5-9");
        }
    }
}
