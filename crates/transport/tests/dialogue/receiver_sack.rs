//! SACK and D-SACK blocks.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// RFC 2018 section 4: the first block holds the segment that triggered the ACK, then the most recently
/// reported ones.
#[test]
fn rfc2018_4_most_recent_block_first() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#2", "ack #1 sack #2");
    d.exchange("#4", "ack #1 sack #4 #2");
    d.exchange("#6", "ack #1 sack #6 #4 #2");
    d.exchange("#3", "ack #1 sack #2-4 #6");
}

/// RFC 2018 section 3: at most four blocks.
#[test]
fn rfc2018_3_four_blocks() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#2; #4; #6", "ack #1 sack #2; ack #1 sack #4 #2; ack #1 sack #6 #4 #2");
    d.exchange("#8", "ack #1 sack #8 #6 #4 #2");
    d.exchange("#10", "ack #1 sack #10 #8 #6 #4");
}

/// RFC 2018 section 3: three blocks beside timestamps.
#[test]
fn rfc2018_3_three_blocks_with_timestamps() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 sackOK ts 1/0");
    d.exchange("#2 ts 1/0", "ack #1 sack #2");
    d.exchange("#4 ts 1/0", "ack #1 sack #4 #2");
    d.exchange("#6 ts 1/0", "ack #1 sack #6 #4 #2");
    d.exchange("#8 ts 1/0", "ack #1 sack #8 #6 #4");
}

/// RFC 2018 section 5: the three cases of the RFC's example, eight segments of 500 bytes from 5000 on.
#[test]
fn rfc2018_5_examples() {
    let start = |k: u64| 1 + (k - 1) * 500;
    let segment = |k| format!("{}:{}", start(k), start(k + 1));
    // Case 2: the first is lost, the others arrive.
    let mut d = ReceiverDialogue::connected(receiver_config());
    for k in 2..=8 {
        d.exchange(&segment(k), &format!("ack 1 sack {}:{}", start(2), start(k + 1)));
    }
    // Case 3: the second, fourth, sixth and eighth are lost.
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange(&segment(1), "ack 501");
    d.exchange(&segment(3), "ack 501 sack 1001:1501");
    d.exchange(&segment(5), "ack 501 sack 2001:2501 1001:1501");
    d.exchange(&segment(7), "ack 501 sack 3001:3501 2001:2501 1001:1501");
    // The fourth arrives, then the second.
    d.exchange(&segment(4), "ack 501 sack 1001:2501 3001:3501");
    d.exchange(&segment(2), "ack 2501 sack 3001:3501");
}

/// RFC 2018 section 2: no blocks unless SACK was negotiated.
#[test]
fn rfc2018_2_no_blocks_without_permission() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 mss 1000");
    d.exchange("#2", "ack #1");
    let mut d = ReceiverDialogue::connected(ReceiverConfig { sack: false, ..receiver_config() });
    d.exchange("#2", "ack #1");
}

/// RFC 2883 section 4.1.1: a duplicate below the cumulative ACK, once.
#[test]
fn rfc2883_4_1_1_duplicate_segment() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1", "ack #2");
    d.exchange("#2", "ack #3");
    d.exchange("#1", "ack #3 sack #1");
    d.exchange("#3", "ack #4");
}

/// RFC 2883 section 4.1.2: D-SACK first, then the queue.
#[test]
fn rfc2883_4_1_2_duplicate_with_a_gap() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1", "ack #2");
    d.exchange("#3", "ack #2 sack #3");
    d.exchange("#1", "ack #2 sack #1 #3");
}

/// RFC 2883 section 4.1.3: a duplicate of queued data: its block again behind it.
#[test]
fn rfc2883_4_1_3_duplicate_above_the_ack() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#2", "ack #1 sack #2");
    d.exchange("#3", "ack #1 sack #2-3");
    d.exchange("#6", "ack #1 sack #6 #2-3");
    d.exchange("#3", "ack #1 sack #3 #2-3 #6");
}

/// RFC 2883 section 4.2.1: a segment that is a duplicate in part only.
#[test]
fn rfc2883_4_2_1_partial_duplicate() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("1:501", "ack 501");
    d.exchange("1:1001", "ack 1001 sack 1:501");
}

/// RFC 2883 section 4.2.3: of two duplicate parts the first is reported.
#[test]
fn rfc2883_4_2_3_two_duplicate_parts() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("1001:1501", "ack 1 sack 1001:1501");
    d.exchange("2001:2501", "ack 1 sack 2001:2501 1001:1501");
    d.exchange("1001:2501", "ack 1 sack 1001:1501 1001:2501");
}

/// RFC 2883 is the receiver's choice.
#[test]
fn rfc2883_off() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { d_sack: false, ..receiver_config() });
    d.exchange("#1", "ack #2");
    d.exchange("#1", "ack #2");
    d.exchange("#3", "ack #2 sack #3");
    d.exchange("#3", "ack #2 sack #3");
}
