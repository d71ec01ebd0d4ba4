//! The sender's part in explicit congestion notification (RFC 3168).

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn config(recovery: Recovery) -> SenderConfig {
    with!(sender_config(recovery, 10), handshake.ecn = EcnMode::Classic, recovery.limited_transmit = false)
}

/// Ten segments sent at 100 ms over a connection with ECN; it is 200 ms now.
#[track_caller]
fn ten_in_flight(config: SenderConfig) -> SenderDialogue {
    let mut d = SenderDialogue::closed(config);
    d.handshake("S.E ack 1 mss 1460 sackOK ws 0");
    d.end.set_saturated(true);
    d.expect("#1-10 ect");
    d.at(200);
    d
}

/// RFC 3168 section 6.1.1: the SYN offers ECN by ECE and CWR and is not ECN-capable itself.
#[test]
fn rfc3168_6_1_1_ecn_setup_syn() {
    let mut d = SenderDialogue::closed(config(Recovery::Sack));
    d.end.open(d.now());
    d.expect("SEW @0 noect");
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.end.open(d.now());
    d.expect("S @0 noect");
}

/// RFC 3168 section 6.1.1: only a SYN-ACK with ECE and without CWR agrees; both may be what some peers
/// reflect blindly.
#[test]
fn rfc3168_6_1_1_what_agrees() {
    for (syn_ack, agrees) in [("S.E", true), ("S.", false), ("S.EW", false), ("S.W", false)] {
        let mut d = SenderDialogue::closed(config(Recovery::Sack));
        d.handshake(&format!("{syn_ack} ack 1 mss 1460 sackOK"));
        d.write_segments(1);
        d.expect(if agrees { "#1 ect" } else { "#1 noect" });
        assert_eq!(d.end.uses_ecn(), agrees, "{syn_ack}");
    }
    // Not offered, and yet agreed to.
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.handshake("S.E ack 1 mss 1460 sackOK");
    d.write_segments(1);
    d.expect("#1 noect");
}

/// RFC 3168 section 6.1.1.1: a retransmitted SYN does not offer ECN; after one that did not, no data is
/// ECN-capable.
#[test]
fn rfc3168_6_1_1_1_a_repeated_syn_offers_no_ecn() {
    let mut d = SenderDialogue::closed(config(Recovery::Sack));
    d.end.open(d.now());
    d.expect("SEW @0");
    d.expect_at(1_000, "S @0");
    d.at(1_100);
    d.exchange("S.E @0 ack 1 mss 1460", "@1 ack 1 noect");
    d.write_segments(1);
    d.expect("#1 noect");
}

/// RFC 3168 section 6.1.2: an echo halves the window as a lost segment does, sends nothing again, and the
/// next new data says CWR.
#[test]
fn rfc3168_6_1_2_an_echo_halves_the_window() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut d = ten_in_flight(config(recovery));
        d.exchange("E. ack #2", "");
        assert_eq!((d.cwnd(), d.ssthresh()), (5, 5), "{recovery:?}");
        assert_eq!(d.end.state().ca_state, CaState::Cwr);
        d.exchange("E. ack #6", "");
        d.exchange("E. ack #7", "W. #11 ect");
        d.exchange("E. ack #8", ". #12 ect");
        assert_eq!((d.end.stats().ecn_reductions, d.end.stats().segments_retransmitted), (1, 0));
        assert!(d.events().contains(&TransportEvent::EcnReduction));
    }
}

/// RFC 3168 section 6.1.2: once for a window of data, whatever further ACKs echo; growth goes on and the next
/// echo counts when data is acknowledged that was sent after the reduction.
#[test]
fn rfc3168_6_1_2_once_a_window() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("E. ack #6", "");
    d.exchange("E. ack #8", "W. #11; #12");
    d.exchange("E. ack #11", "#13-15");
    assert_eq!((d.cwnd(), d.end.state().ca_state), (5, CaState::Cwr));
    d.at(300);
    // #11 said CWR: the receiver's echo ends.
    d.exchange("ack #12", "#16");
    assert_eq!((d.cwnd(), d.end.state().ca_state), (5, CaState::Open));
    d.exchange("ack #13; ack #14; ack #15", "#17-19");
    d.exchange("ack #16", "#20-21");
    assert_eq!(d.cwnd(), 6);
    d.exchange("E. ack #17", "");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().ecn_reductions), (3, 3, 2));
}

/// RFC 3168 section 6.1.2: a loss in the window that an echo has reduced does not reduce it again, and a
/// later one does.
#[test]
fn rfc3168_6_1_2_a_loss_in_the_same_window_reduces_no_further() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("E. ack #2", "");
    d.exchange("E. ack #2; E. ack #2", "");
    d.exchange("E. ack #2", "#2 noect");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().fast_retransmits), (5, 5, 1));

    // The timer too: it lowers cwnd, and ssthresh stays.
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("E. ack #2", "");
    d.expect_at(1_200, "#2 noect");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().timeouts), (1, 5, 1));
}

/// RFC 3168 section 6.1.2: an echo in the recovery of a loss changes nothing: the window has been reduced for
/// it.
#[test]
fn rfc3168_6_1_2_an_echo_in_recovery_reduces_no_further() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#1 noect");
    d.exchange("E. ack #1 sack #2-5", "");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().ecn_reductions), (5, 5, 0));
}

/// RFC 3168 sections 6.1.2 and 6.1.5: the window falls by a loss: CWR goes with the first new data, and what
/// is retransmitted is neither ECN-capable nor says CWR.
#[test]
fn rfc3168_6_1_2_cwr_after_a_fast_retransmit() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", ". #1 noect");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "W. #11 ect");
    d.exchange("ack #1", ". #12 ect");
}

/// The same after a timeout.
#[test]
fn rfc3168_6_1_2_cwr_after_a_timeout() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.expect_at(1_100, ". #1 noect");
    d.exchange("ack #11", "W. #11 ect; . #12 ect");
}

/// RFC 3168 sections 6.1.4 and 6.1.6: pure ACKs and window probes are not ECN-capable.
#[test]
fn rfc3168_6_1_6_window_probes() {
    let mut d = SenderDialogue::closed(config(Recovery::Sack));
    d.end.open(d.now());
    d.expect("SEW @0");
    d.at(100);
    d.exchange("S.E @0 ack 1 mss 1460 win 0", "@1 ack 1 noect");
    d.write_segments(1);
    d.expect("");
    d.expect_at(1_100, "1:2 noect");
}

/// Without ECN an echo, which our receiver sends of every mark, is of no interest to plain TCP.
#[test]
fn an_echo_without_ecn_is_ignored() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 10));
    d.end.set_saturated(true);
    d.expect("#1-10 noect");
    d.at(200);
    d.exchange("E. ack #2", "#11-12");
    assert_eq!((d.cwnd(), d.end.stats().ecn_reductions), (11, 0));
}

/// A control sees an echo by Linux's hooks, in Linux's order: `ssthresh`, `set_state(Cwr)`, and at the end
/// `set_state(Open)` and `cwnd_event(CompleteCwr)`; no `cong_avoid` between.
#[test]
fn a_control_sees_the_reduction_by_linuxs_hooks() {
    use std::sync::{Arc, Mutex};
    #[derive(Debug)]
    struct Spy(Arc<Mutex<Vec<String>>>);
    impl Spy {
        fn record(&self, what: String) {
            self.0.lock().unwrap().push(what);
        }
    }
    impl CongestionControl for Spy {
        fn name(&self) -> &str {
            "spy"
        }
        fn ssthresh(&mut self, _: cogtcp_units::Time, tcp: &TcpState) -> u64 {
            self.record(format!("ssthresh of {}", tcp.flight_size));
            tcp.flight_size / 2
        }
        fn cong_avoid(&mut self, _: cogtcp_units::Time, _: &mut TcpState, ack: &AckSample) {
            self.record(format!("cong_avoid {}", ack.acked));
        }
        fn set_state(&mut self, _: cogtcp_units::Time, _: &mut TcpState, state: CaState) {
            self.record(format!("set_state {state:?}"));
        }
        fn cwnd_event(&mut self, _: cogtcp_units::Time, _: &mut TcpState, event: CaEvent) {
            self.record(format!("cwnd_event {event:?}"));
        }
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut d = SenderDialogue::with_control(config(Recovery::Sack), Box::new(Spy(Arc::clone(&seen))));
    d.handshake("S.E ack 1 mss 1460 sackOK");
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    seen.lock().unwrap().clear();
    d.exchange("E. ack #3", "");
    d.exchange("E. ack #11", "W. #11; #12-15");
    d.exchange("ack #12", "#16");
    let expected = [
        "ssthresh of 10000",
        "set_state Cwr",
        "cwnd_event TxStart",
        "set_state Open",
        "cwnd_event CompleteCwr",
        "cong_avoid 1000",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

/// A control that takes the whole window as a reduction completes is left a segment: with less no data could leave.
#[test]
fn a_completed_reduction_leaves_a_segment() {
    #[derive(Debug)]
    struct Greedy;
    impl CongestionControl for Greedy {
        fn name(&self) -> &str {
            "greedy"
        }
        fn ssthresh(&mut self, _: cogtcp_units::Time, tcp: &TcpState) -> u64 {
            tcp.cwnd / 2
        }
        fn cong_avoid(&mut self, _: cogtcp_units::Time, _: &mut TcpState, _: &AckSample) {}
        fn cwnd_event(&mut self, _: cogtcp_units::Time, tcp: &mut TcpState, event: CaEvent) {
            if event == CaEvent::CompleteCwr {
                tcp.cwnd = 0;
            }
        }
    }
    // By an echo.
    let mut d = SenderDialogue::with_control(config(Recovery::Sack), Box::new(Greedy));
    d.handshake("S.E ack 1 mss 1460 sackOK");
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    d.exchange("E. ack #11", "W. #11; #12-15");
    d.give("ack #12");
    assert_eq!((d.end.state().ca_state, d.end.state().cwnd), (CaState::Open, 1000));
    // By a loss.
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut d = SenderDialogue::with_control(sender_config(recovery, 10), Box::new(Greedy));
        d.handshake("S. ack 1 mss 1460 sackOK");
        d.end.set_saturated(true);
        d.expect("#1-10");
        d.at(200);
        d.give("ack 1 sack #2; ack 1 sack #2-3; ack 1 sack #2-4");
        d.drained();
        d.give("ack #11");
        assert_eq!((d.end.state().ca_state, d.end.state().cwnd), (CaState::Open, 1000), "{recovery:?}");
    }
}
