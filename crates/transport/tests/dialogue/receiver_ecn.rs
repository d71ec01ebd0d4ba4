//! The receiver's part in explicit congestion notification (RFC 3168).

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn config() -> ReceiverConfig {
    with!(receiver_config(), handshake.ecn = EcnMode::Classic)
}

/// A receiver that has agreed to ECN.
#[track_caller]
fn agreed(config: ReceiverConfig) -> ReceiverDialogue {
    let mut d = ReceiverDialogue::listening(config);
    d.exchange("SEW @0 mss 1000 sackOK", "S.E @0 ack 1 noect");
    d.exchange("@1 ack 1", "");
    d
}

/// RFC 3168 section 6.1.1: an ECN-setup SYN has ECE and CWR, the SYN-ACK that agrees has ECE alone; the
/// SYN-ACK is not ECN-capable.
#[test]
fn rfc3168_6_1_1_agrees_to_an_ecn_setup_syn_alone() {
    agreed(config());
    for syn in ["S @0 mss 1000", "SE @0 mss 1000", "SW @0 mss 1000"] {
        let mut d = ReceiverDialogue::listening(config());
        d.exchange(syn, "S. @0 ack 1");
    }
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("SEW @0 mss 1000", "S. @0 ack 1");
}

/// RFC 3168 section 6.1.1: the SYN that comes again, with or without the offer, is answered as the first was.
#[test]
fn rfc3168_6_1_1_a_repeated_syn_gets_the_same_answer() {
    let mut d = ReceiverDialogue::listening(config());
    d.exchange("SEW @0 mss 1000", "S.E @0 ack 1");
    d.exchange("SEW @0 mss 1000", "S.E @0 ack 1");
    d.exchange("S @0 mss 1000", "S.E @0 ack 1");
}

/// RFC 3168 section 6.1.3: every ACK says ECE from the first marked segment on, until a segment says CWR.
#[test]
fn rfc3168_6_1_3_ece_until_cwr() {
    let mut d = agreed(config());
    d.exchange("#1 ect", ". ack #2 noect");
    d.exchange("#2 ect ce", "E. ack #3 noect");
    d.exchange("#3 ect", "E. ack #4");
    d.exchange("#4", "E. ack #5");
    d.exchange("W. #5 ect", ". ack #6");
    d.exchange("#6 ect", ". ack #7");
    assert_eq!(d.end.stats().marked_segments, 1);
}

/// RFC 3168 section 6.1.3: a segment that says CWR and is marked itself begins a new echo.
#[test]
fn rfc3168_6_1_3_a_marked_cwr_segment_echoes_on() {
    let mut d = agreed(config());
    d.exchange("#1 ect ce", "E. ack #2");
    d.exchange("W. #2 ect ce", "E. ack #3");
    d.exchange("W. #3 ect", ". ack #4");
}

/// RFC 3168 section 6.1.3: a delayed ACK says ECE if any of the segments is marked that it answers.
#[test]
fn rfc3168_6_1_3_one_marked_of_those_a_delayed_ack_answers() {
    for marked in [["#1 ect ce", "#2 ect"], ["#1 ect", "#2 ect ce"]] {
        let mut d = agreed(ReceiverConfig { delayed_ack: DelayedAck::On { timeout: ms(200) }, ..config() });
        d.exchange(marked[0], "");
        d.exchange(marked[1], "E. ack #3");
    }
}

/// RFC 3168 section 6.1.5: the mark of a segment outside the window is ignored.
#[test]
fn rfc3168_6_1_5_marks_outside_the_window_are_ignored() {
    let mut d = agreed(config());
    d.exchange("#1 ect", ". ack #2");
    // Below the window, and beyond it.
    d.exchange("#1 ect ce", ". ack #2 sack #1");
    d.exchange("#90 ect ce", ". ack #2");
    d.exchange("#2 ect", ". ack #3");
    assert_eq!(d.end.stats().marked_segments, 0);
}

/// Without ECN a mark is echoed once (RFC 8257 section 3.2), and CWR ends nothing.
#[test]
fn rfc8257_3_2_without_ecn_each_mark_is_echoed_once() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1 ce", "E. ack #2");
    d.exchange("#2", ". ack #3");
    d.exchange("W. #3 ce", "E. ack #4");
    d.exchange("#4 ce", "E. ack #5");
    d.exchange("#5", ". ack #6");
}
