//! The receive window.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn manual(buffer: u64) -> ReceiverConfig {
    ReceiverConfig { buffer, manual_read: true, ..receiver_config() }
}

/// RFC 9293 section 3.8.6: what waits to be read closes the window.
#[test]
fn rfc9293_3_8_6_unread_data_closes_the_window() {
    let mut d = ReceiverDialogue::connected(manual(4_000));
    for (k, win) in [(1, 3000), (2, 2000), (3, 1000), (4, 0)] {
        d.exchange(&format!("#{k}"), &format!("ack #{} win {win}", k + 1));
    }
    assert_eq!((d.end.readable(), d.end.delivered(), d.end.stats().zero_windows), (4000, 0, 1));
}

/// RFC 9293 section 3.8.6: automatic reading leaves the window open.
#[test]
fn rfc9293_3_8_6_automatic_reading() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { buffer: 4_000, ..receiver_config() });
    for k in 1..=20 {
        d.exchange(&format!("#{k}"), &format!("ack #{} win 4000", k + 1));
    }
    assert_eq!(d.end.delivered(), 20_000);
}

/// RFC 9293 section 3.8.6.1: a window probe is answered with the window as it is, and not accepted while it
/// is closed.
#[test]
fn rfc9293_3_8_6_1_window_probes_are_answered() {
    let mut d = ReceiverDialogue::connected(manual(1_000));
    d.exchange("#1", "ack #2 win 0");
    d.at(1_000);
    d.exchange("1001:1002", "ack #2 win 0");
    assert_eq!(d.end.in_order(), 1000);
    d.end.read(d.now(), 1_000);
    d.expect("ack #2 win 1000");
    d.exchange("1001:1002", "ack 1002");
}

/// RFC 9293 section 3.8.6.2.2: the window is not opened by less than min(buffer / 2, MSS).
#[test]
fn rfc9293_3_8_6_2_2_no_silly_windows() {
    let mut d = ReceiverDialogue::connected(manual(4_000));
    d.exchange("#1", "ack #2 win 3000");
    d.exchange("#2-4", "ack #3 win 2000; ack #4 win 1000; ack #5 win 0");
    for _ in 0..9 {
        d.end.read(d.now(), 100);
        d.expect_nothing();
    }
    // A probe shows that the window is still closed.
    d.exchange("#5", "ack #5 win 0");
    d.end.read(d.now(), 100);
    d.expect("ack #5 win 1000");
    assert_eq!(d.end.stats().window_updates, 1);
}

/// RFC 9293 section 3.8.6.2.2: with a buffer under two segments, half of it is enough.
#[test]
fn rfc9293_3_8_6_2_2_small_buffer() {
    let mut d = ReceiverDialogue::connected(manual(1_000));
    d.exchange("#1", "ack #2 win 0");
    d.end.read(d.now(), 499);
    d.expect_nothing();
    d.end.read(d.now(), 1);
    d.expect("ack #2 win 500");
}

/// RFC 9293 section 3.8.6.2.2: the right edge stays while small segments are read at once, and then moves.
#[test]
fn rfc9293_3_8_6_2_2_small_segments_move_the_edge_in_steps() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { buffer: 4_000, ..receiver_config() });
    for k in 0..9 {
        let (start, end) = (1 + k * 100, 101 + k * 100);
        d.exchange(&format!("{start}:{end}"), &format!("ack {end} win {}", 4_001 - end));
    }
    d.exchange("901:1001", "ack 1001 win 4000");
}

/// RFC 9293 section 3.8.6.2.2 and RFC 5681 section 4.2: reading that opens a small window is told at once,
/// whatever the delayed ACK.
#[test]
fn rfc9293_3_8_6_2_2_window_update_does_not_wait() {
    let config = ReceiverConfig {
        delayed_ack: DelayedAck::On { timeout: ms(200) },
        buffer: 1_000,
        ..receiver_config()
    };
    let mut d = ReceiverDialogue::connected(config);
    d.exchange("#1", "ack #2 win 1000");
}

/// RFC 9293 section 3.10.7.4: what lies beyond the window is refused, what reaches beyond it is cut.
#[test]
fn rfc9293_3_10_7_4_data_beyond_the_window() {
    let mut d = ReceiverDialogue::connected(manual(2_500));
    d.exchange("#4", "ack #1 win 2500");
    d.exchange("2501:3001", "ack #1 win 2500");
    d.exchange("#1-2", "ack #2 win 1500; ack #3 win 500");
    d.exchange("#3", "ack 2501 win 0");
    assert_eq!(d.end.accepted(), [Accepted { position: 2000, skip: 0, len: 500 }]);
    let stats = d.end.stats();
    assert_eq!((stats.unacceptable, stats.out_of_window_bytes), (2, 500));
}

/// RFC 9293 section 3.8.6: the right edge never moves back: data that was allowed is accepted.
#[test]
fn rfc9293_3_8_6_window_does_not_shrink() {
    let mut d = ReceiverDialogue::connected(manual(3_000));
    d.exchange("#3", "ack #1 win 3000 sack #3");
    d.exchange("#1", "ack #2 win 2000 sack #3");
    d.exchange("#2", "ack #4 win 0");
    assert_eq!(d.end.readable(), 3000);
}

/// RFC 7323 section 2.3: the shift is the least that the buffer needs, the SYN-ACK's window is not scaled.
#[test]
fn rfc7323_2_3_window_scale() {
    for (buffer, shift, field) in [(65_535u64, 0u8, 65_535), (70_000, 1, 35_000), (4 << 20, 7, 32_768)] {
        let mut d = ReceiverDialogue::listening(manual(buffer));
        d.exchange("S @0 ws 0", &format!("S. @0 ack 1 ws {shift} win {}", buffer.min(65_535)));
        d.exchange("@1 ack 1", "");
        let ack = d.end.current_ack(d.now());
        assert_eq!(ack.window, field);
        let unread = (buffer - 1000) >> shift;
        d.exchange("#1", &format!("ack #2 win {unread}"));
    }
}

/// RFC 7323 section 2.2: without the option from both ends the window stays under 65,536.
#[test]
fn rfc7323_2_2_no_scaling_unless_offered() {
    let mut d = ReceiverDialogue::connected_by(manual(4 << 20), "S @0");
    d.exchange("#1", "ack #2 win 65535");
}

/// RFC 9293 section 3.8.6: a FIN takes no room in the buffer.
#[test]
fn rfc9293_3_8_6_fin_passes_a_closed_window() {
    let mut d = ReceiverDialogue::connected(manual(1_000));
    d.exchange("#1", "ack #2 win 0");
    d.exchange("F. @#2", "ack 1002 win 0");
    d.end.read(d.now(), 1_000);
    d.expect("F. @1 ack 1002");
}

/// The hook for connection managers: the current ACK may be sent any number of times and counts for nothing.
#[test]
fn current_ack_changes_nothing() {
    let config = ReceiverConfig { delayed_ack: DelayedAck::On { timeout: ms(200) }, ..receiver_config() };
    let mut d = ReceiverDialogue::connected(config);
    d.exchange("#1", "");
    let ack = d.end.current_ack(d.now());
    assert_eq!((ack.ack, ack.flags), (SeqNumber::new(701_001), Flags::ACK));
    assert_eq!(d.end.current_ack(d.now()), ack);
    d.expect_at(200, "ack #2");
    assert_eq!(d.end.stats().acks, 1);
}
