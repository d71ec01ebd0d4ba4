//! What a Linux receiver acknowledges when (`delayed_ack = "linux"`).

use crate::dialogue::harness::*;
use cogtcp_transport::*;
use cogtcp_units::{Duration, Time};

/// Two segments later, which are acknowledged together.
#[track_caller]
fn after_quick_acks() -> ReceiverDialogue {
    after_quick_acks_of(linux())
}

#[track_caller]
fn after_quick_acks_of(config: ReceiverConfig) -> ReceiverDialogue {
    let mut d = at_the_end_of_quick_acks(config, "");
    d.exchange("#17", "");
    d.exchange("#18", "");
    d.expect_after_timeout("ack #19");
    d.at(101);
    d
}

fn linux() -> ReceiverConfig {
    ReceiverConfig { delayed_ack: DelayedAck::Linux, ..receiver_config() }
}

/// After a handshake of 100 ms and the 16 segments that are acknowledged one by one. `stamp`: with timestamps, those of
/// the segments.
#[track_caller]
fn at_the_end_of_quick_acks(config: ReceiverConfig, stamp: &str) -> ReceiverDialogue {
    let mut d = ReceiverDialogue::listening(config);
    let offer = if stamp.is_empty() { "" } else { " ts 1/0" };
    d.exchange(&format!("S @0 mss 1000 sackOK ws 0{offer}"), "S. ack 1");
    d.at(100);
    d.exchange(&format!("@1 ack 1{stamp}"), "");
    for k in 1..=16 {
        d.exchange(&format!("#{k}{stamp}"), &format!("ack #{}", k + 1));
    }
    d
}

/// `__tcp_ack_snd_check`: what waits for the application takes of the window, so that segments of one instant
/// are acknowledged together, once they are read. Segments that come one after the other are not.
#[test]
fn a_burst_is_acknowledged_when_the_application_reads() {
    let mut d = after_quick_acks();
    d.exchange("#19-40", "");
    assert_eq!(d.end.poll_timeout(), at(101) + Duration::from_nanos(1));
    d.expect_after_timeout("ack #41");
    for (k, time) in [(41, 102), (43, 103)] {
        d.at(time);
        d.exchange(&format!("#{k}"), "");
        d.exchange(&format!("#{}", k + 1), "");
        d.expect_after_timeout(&format!("ack #{}", k + 2));
    }
    assert_eq!(d.end.stats().window_updates, 0);
}

/// `tcp_cleanup_rbuf`, `ICSK_ACK_PUSHED`: what bears PSH is acknowledged as soon as the application has read
/// it.
#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    let mut d = after_quick_acks();
    d.exchange("P. #19", "");
    d.expect_after_timeout("ack #20");
    d.exchange("#20", "");
    d.exchange("P. #21", "");
    d.expect_after_timeout("ack #22");
    let due = d.now() + Duration::from_millis(40);
    d.exchange("#22", "");
    assert_eq!(d.end.poll_timeout(), due);
    d.expect_after_timeout("ack #23");
}

/// The wheel fires the delayed ACK (`tcp_send_delayed_ack`): 10 ticks of 4 ms, one more so that it is not early.
#[test]
fn the_wheel_fires_the_delayed_ack() {
    let due = |phase| {
        let mut d =
            at_the_end_of_quick_acks(with!(linux(), wheel = Wheel { tick: ms(4), phase: ms(phase) }), "");
        d.at(201);
        d.exchange("#17", "");
        d.expect_after_timeout("");
        d.expect_after_timeout("ack #18");
        d.now()
    };
    assert_eq!((due(0), due(2)), (at(244), at(242)));
}

/// `reqsk_timer_handler`: the wheel fires the SYN-ACK's timer too. `tcp_check_req`: one SYN in half a second is
/// answered, and starts the timer again.
#[test]
fn a_syn_again_is_answered_once_in_half_a_second() {
    let wheel = Wheel { tick: ms(1), phase: ms(0) };
    let config = ReceiverConfig { delayed_ack: DelayedAck::Linux, wheel, ..receiver_config() };
    let mut d = ReceiverDialogue::listening(config);
    d.at(10);
    d.exchange("S @0 mss 1000 sackOK ws 0", "S. ack 1");
    d.expect_at(1_024, "S. ack 1");
    d.at(1_100);
    d.exchange("S @0 mss 1000 sackOK ws 0", "S. ack 1");
    d.at(1_200);
    d.exchange("S @0 mss 1000 sackOK ws 0", "");
    // 2 s after 1.1 s, at the next multiple of 64 ms.
    d.expect_at(3_136, "S. ack 1");
}

/// `tcp_fin`: a FIN in order is acknowledged by the rules of delayed ACKs, without quick ACKs (16 are left
/// after one segment) and after what was pushed. What repeats it is acknowledged at once.
#[test]
fn the_ack_of_a_fin_is_delayed() {
    let half_open = || {
        let delayed_ack = DelayedAck::Linux;
        let config = ReceiverConfig { delayed_ack, manual_read: true, stays_open: true, ..receiver_config() };
        ReceiverDialogue::connected(config)
    };
    let mut d = half_open();
    d.exchange("#1", "ack #2");
    let due = d.now() + Duration::from_millis(40);
    d.exchange("F. @#2", "");
    assert_eq!((d.end.state(), d.end.poll_timeout()), (ReceiverState::CloseWait, due));
    d.expect_after_timeout("@1 ack 1002");
    d.exchange("F. @#2", "@1 ack 1002 sack 1001:1002");

    // With more than a full segment, and before any data, at once.
    let mut d = half_open();
    d.exchange("#1", "ack #2");
    d.exchange("F. #2", "@1 ack 2002");
    let mut d = half_open();
    d.exchange("F. @#1", "@1 ack 2");

    // What fills a gap is acknowledged at once (RFC 5681 section 4.2), a FIN behind it or not.
    let mut d = half_open();
    d.exchange("#1", "ack #2");
    d.exchange("F. @#3", "ack #2 sack 2001:2002");
    d.exchange("#2", "@1 ack 2002");
}

/// `__tcp_ack_snd_check`: behind a gap three duplicate ACKs go at once, then one for all segments of a
/// millisecond, and the slack of its timer. What fills the gap is acknowledged at once.
#[test]
fn sacks_are_compressed_after_the_third() {
    let mut d = after_quick_acks();
    d.exchange("#20", "ack #19 sack #20");
    d.exchange("#21", "ack #19 sack #20-21");
    d.exchange("#22", "ack #19 sack #20-22");
    d.exchange("#23", "");
    d.exchange("#24", "");
    let due = d.end.poll_timeout();
    assert_eq!(due, at(101) + Duration::from_micros(1100));
    let mut exact = after_quick_acks_of(with!(linux(), compression_slack = Duration::ZERO));
    for k in 20..23 {
        exact.give(&format!("#{k}"));
        exact.drained();
    }
    exact.exchange("#23", "");
    assert_eq!(exact.end.poll_timeout(), at(102));
    d.expect_after_timeout("ack #19 sack #20-24");
    d.exchange("#25", "");
    d.exchange("#19", "ack #26");
    // Nothing was left waiting.
    d.at(10_000);
}

/// A partial ACK starts the count of three again, and is the first of them.
#[test]
fn each_cumulative_ack_has_three_duplicates() {
    let mut d = after_quick_acks();
    d.exchange("#20", "ack #19 sack #20");
    d.exchange("#22", "ack #19 sack #22 #20");
    d.exchange("#23", "ack #19 sack #22-23 #20");
    d.exchange("#24", "");
    d.exchange("#19", "ack #21 sack #22-24");
    d.exchange("#25", "ack #21 sack #22-25");
    d.exchange("#26", "ack #21 sack #22-26");
    d.exchange("#27", "");
    d.exchange("#28", "");
    d.expect_after_timeout("ack #21 sack #22-28");
}

/// `tcp_sack_new_ofo_skb`: what was put off leaves before a third block begins or grows, as it is then. No ACK is due for
/// the segment that made it leave.
#[test]
fn what_was_put_off_leaves_before_a_third_block() {
    let mut d = after_quick_acks();
    d.exchange("#20", "ack #19 sack #20");
    d.exchange("#22", "ack #19 sack #22 #20");
    d.exchange("#24", "ack #19 sack #24 #22 #20");
    d.exchange("#25", "");
    d.exchange("#27", "ack #19 sack #24-25 #22 #20");
    assert_eq!(d.end.poll_timeout(), Time::MAX);
    d.exchange("#28", "");
    // The third block by recency grows.
    d.exchange("#21", "ack #19 sack #27-28 #24-25 #22 #20");
}

/// `tcp_compressed_ack_kick` reads no clock: the ACK bears the time of the latest segment. The timer of an earlier
/// delayed ACK, which left before, sends what is put off too (`tcp_delack_timer_handler`) and reads the clock.
#[test]
fn timers_send_what_was_put_off() {
    let mut d = at_the_end_of_quick_acks(linux(), " ts 100/0");
    d.exchange("#17 ts 100/0", "");
    d.exchange("#18 ts 100/0", "");
    d.expect_after_timeout("ack #19");
    d.at(101);
    for k in 20..=22 {
        d.exchange(&format!("#{k} ts 101/0"), &format!("ack #19 sack #20-{k}"));
    }
    d.exchange("#23 ts 101/0", "");
    d.expect_after_timeout("ack #19 sack #20-23 ts 101/100");
    assert_eq!(d.now(), at(101) + Duration::from_micros(1100));
    // 40 ms after #17 came.
    d.at(139);
    d.exchange("#24 ts 139/0", "");
    d.expect_at(140, "ack #19 sack #20-24 ts 140/100");
}

/// `tcp_event_data_recv`, `tcp_delack_timer_handler`: the delay is 40 ms, twice as long when it ran out, 40 + 70 after a
/// pause of 70 ms, and at most the handshake's 100 ms. Pauses of 10 and 15 ms make 200, 120 and 80 of it.
#[test]
fn the_delay_follows_the_pace() {
    let mut d = after_quick_acks();
    for (time, segment, due) in [(200, 19, 240), (270, 20, 370), (380, 21, 480)] {
        d.at(time);
        d.exchange(&format!("#{segment}"), "");
        d.expect_at(due, &format!("ack #{}", segment + 1));
    }
    d.at(490);
    d.exchange("#22", "");
    d.at(500);
    d.exchange("#23", "");
    d.expect_after_timeout("ack #24");
    d.at(515);
    d.exchange("#24", "");
    d.expect_at(595, "ack #25");
}

/// `tcp_sequence`, `tcp_replace_ts_recent`: a duplicate that reaches the last ACK gives its timestamp, an older one not.
#[test]
fn a_duplicate_of_the_last_segment_gives_its_timestamp() {
    let config = ReceiverConfig { delayed_ack: DelayedAck::Linux, ..receiver_config() };
    let mut d = ReceiverDialogue::connected_by(config, "S @0 mss 1000 sackOK ts 1/0");
    d.exchange("#1 ts 20/0", "ack #2");
    d.exchange("#2 ts 20/0", "ack #3");
    d.at(300);
    d.exchange("#1 ts 280/0", "ack #3 sack #1 ts 300/20");
    d.exchange("#2 ts 290/0", "ack #3 sack #2 ts 300/290");
}

/// Without SACK duplicates are all that tells of what arrives: none is put off.
#[test]
fn duplicates_without_sack_are_not_compressed() {
    let config = ReceiverConfig { delayed_ack: DelayedAck::Linux, sack: false, ..receiver_config() };
    let mut d = ReceiverDialogue::connected(config);
    for k in 1..=18 {
        d.send(&format!("#{k}"));
        d.drained();
    }
    for k in 20..=29 {
        d.exchange(&format!("#{k}"), "ack #19");
    }
}

/// The segment that fills a gap is acknowledged at once, when the application has not read what was behind the
/// gap: the edge stays at 65,000 bytes. What is read opens the window again, to the 56,832 of the first memory
/// (`tcp_cleanup_rbuf`).
#[test]
fn the_window_opens_when_the_application_has_read_what_was_behind_a_gap() {
    let config = ReceiverConfig {
        window_tuning: true,
        window_margin: true,
        buffer: 4 << 20,
        delayed_ack: DelayedAck::Linux,
        sack: false,
        ..receiver_config()
    };
    let mut d = ReceiverDialogue::connected_by(config, "S @0 mss 1000 ws 7");
    for k in 2..=42 {
        d.send(&format!("#{k}"));
        d.drained();
    }
    d.at(101);
    d.exchange("#1", "ack #43 win 180");
    d.expect_after_timeout("ack #43 win 444");
    assert_eq!((d.end.stats().window_updates, d.end.poll_timeout()), (1, Time::MAX));
}

/// `tcp_data_queue_ofo`: with SACK the window grows behind a gap too, by two segments for each, up to what is
/// left beside what waits there. Segments of 1000 bytes have 56,832 of the first memory; #60 makes room for
/// 2 * 10 and 60 segments. The edge of the handshake's 65,000 stays until the sixth. Without SACK ACKs are to
/// remain duplicates.
#[test]
fn the_window_grows_behind_a_gap_with_sack() {
    let play = |sack, windows: [u64; 9]| {
        let config = ReceiverConfig { window_tuning: true, buffer: 4 << 20, sack, ..receiver_config() };
        let mut d = ReceiverDialogue::connected_by(config, "S @0 mss 1000 sackOK ws 7");
        d.exchange("#60", if sack { "ack #1 win 508 sack #60" } else { "ack #1 win 508" });
        for (k, window) in (2..).zip(windows) {
            let blocks = if sack { format!(" sack #2-{k} #60") } else { String::new() };
            d.exchange(&format!("#{k}"), &format!("ack #1 win {window}{blocks}"));
        }
    };
    play(true, [508, 508, 508, 508, 523, 538, 554, 555, 555]);
    play(false, [508; 9]);
}
