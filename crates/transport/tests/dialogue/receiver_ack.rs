//! When the receiver acknowledges.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn delayed() -> ReceiverConfig {
    ReceiverConfig { delayed_ack: DelayedAck::On { timeout: ms(200) }, ..receiver_config() }
}

/// RFC 9293 section 3.8.4: without delayed ACKs every segment is acknowledged at once.
#[test]
fn rfc9293_3_8_4_every_segment_is_acknowledged() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    for k in 1..=5 {
        d.exchange(&format!("#{k}"), &format!("@1 ack #{}", k + 1));
    }
    d.at(10_000);
    assert_eq!((d.end.stats().acks, d.end.stats().delayed_ack_timeouts), (5, 0));
}

/// RFC 5681 section 4.2: an ACK for at least every second full-sized segment.
#[test]
fn rfc5681_4_2_every_second_segment() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.exchange("#1", "");
    d.exchange("#2", "ack #3");
    d.exchange("#3", "");
    d.exchange("#4", "ack #5");
    d.at(10_000);
}

/// RFC 5681 section 4.2: within the timeout of the first unacknowledged segment.
#[test]
fn rfc5681_4_2_delayed_ack_timeout() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.at(50);
    d.exchange("#1", "");
    d.expect_at(250, "ack #2");
    assert_eq!(d.end.stats().delayed_ack_timeouts, 1);
    // The second segment stops the timer, the third starts it again.
    d.at(300);
    d.exchange("#2", "");
    d.at(350);
    d.exchange("#3", "ack #4");
    d.at(400);
    d.exchange("#4", "");
    d.expect_at(600, "ack #5");
    d.at(10_000);
}

/// RFC 5681 section 4.2: two small segments are not two full-sized ones.
#[test]
fn rfc5681_4_2_small_segments_wait_for_full_size() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.exchange("#1", "");
    d.exchange("#2", "ack #3");
    d.exchange("2001:2101; 2101:2201; 2201:3201", "");
    d.expect_at(200, "ack 3201");
    d.exchange("3201:3301; 3301:4301; 4301:5201", "ack 5201");
}

/// RFC 5681 section 4.2 allows more than two by "at least"; the setting is the receiver's.
#[test]
fn rfc5681_4_2_ack_every_d_segments() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { ack_every: 4, ..delayed() });
    d.exchange("#1; #2; #3", "");
    d.exchange("#4", "ack #5");
    d.exchange("#5-7", "");
    d.expect_at(200, "ack #8");
}

/// RFC 5681 section 4.2: an out-of-order segment is acknowledged at once, delayed ACKs or not.
#[test]
fn rfc5681_4_2_out_of_order_at_once() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.exchange("#1", "");
    d.exchange("#3", "ack #2 sack #3");
    d.exchange("#4", "ack #2 sack #3-4");
    d.exchange("#5", "ack #2 sack #3-5");
    assert_eq!(d.end.stats().out_of_order_segments, 3);
    d.at(10_000);
}

/// RFC 5681 section 4.2: a segment that fills all or part of a gap is acknowledged at once.
#[test]
fn rfc5681_4_2_filling_a_gap_at_once() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.exchange("#3", "ack #1 sack #3");
    d.exchange("#5", "ack #1 sack #5 #3");
    // Part of the first gap.
    d.exchange("#1", "ack #2 sack #5 #3");
    // The rest of it; the second gap stays.
    d.exchange("#2", "ack #4 sack #5");
    d.exchange("#4", "ack #6");
    // Nothing is missing any more: the next one waits.
    d.exchange("#6", "");
    d.expect_at(200, "ack #7");
}

/// RFC 5681 section 4.2: no ACK is left over when a gap fills before the driver pulls: duplicate ACKs of the
/// new number would signal a loss that is none.
#[test]
fn rfc5681_4_2_late_pulls_make_no_false_duplicates() {
    let mut receiver = ReceiverDialogue::connected(receiver_config()).end;
    let now = at(10);
    for (seq, len) in [(1000, 1000), (2000, 1000), (0, 1000)] {
        let seq = SeqNumber::new(700_001 + seq);
        receiver.handle_segment(now, &Segment::new(seq, SeqNumber::new(1), len, 65_535, Flags::ACK));
    }
    assert_eq!(receiver.poll_transmit(now).map(|ack| ack.ack), Some(SeqNumber::new(703_001)));
    assert_eq!(receiver.poll_transmit(now), None);
    // Duplicate ACKs stay as many as out-of-order segments.
    for seq in [5000, 6000, 7000] {
        let seq = SeqNumber::new(700_001 + seq);
        receiver.handle_segment(now, &Segment::new(seq, SeqNumber::new(1), 1000, 65_535, Flags::ACK));
    }
    assert_eq!(std::iter::from_fn(|| receiver.poll_transmit(now)).count(), 3);
}

/// RFC 9293 section 3.10.7.4: what arrived before is acknowledged again.
#[test]
fn rfc9293_3_10_7_4_duplicates_are_acknowledged() {
    let config = ReceiverConfig { d_sack: false, ..delayed() };
    let mut d = ReceiverDialogue::connected(config);
    d.exchange("#1-2", "ack #3");
    d.exchange("#1", "ack #3");
    d.exchange("#2", "ack #3");
    assert_eq!((d.end.stats().duplicate_segments, d.end.stats().duplicate_bytes), (2, 2000));
    assert_eq!(d.end.delivered(), 2000);
}

/// RFC 9293 section 3.10.7.4: a segment that overlaps what is there brings its new part only.
#[test]
fn rfc9293_3_10_7_4_overlapping_segments() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { d_sack: false, ..receiver_config() });
    d.exchange("1:501", "ack 501");
    d.exchange("301:801", "ack 801");
    assert_eq!(d.end.accepted(), [Accepted { position: 500, skip: 200, len: 300 }]);
    d.exchange("1001:1201", "ack 801 sack 1001:1201");
    d.exchange("701:1301", "ack 1301");
    let parts =
        [Accepted { position: 800, skip: 100, len: 200 }, Accepted { position: 1200, skip: 500, len: 100 }];
    assert_eq!(d.end.accepted(), parts);
    assert_eq!(d.end.stats().bytes, 1300);
}

/// RFC 9293 section 3.8.4: pure ACKs are not acknowledged.
#[test]
fn rfc9293_3_8_4_pure_acks_get_no_answer() {
    let mut d = ReceiverDialogue::connected(delayed());
    d.exchange("@1 ack 1; @1 ack 1", "");
    d.at(1_000);
}

/// RFC 7323 section 4.3: of two segments that one ACK answers, the earlier's timestamp is echoed.
#[test]
fn rfc7323_4_3_delayed_ack_echoes_the_first_timestamp() {
    let mut d = ReceiverDialogue::connected_by(delayed(), "S @0 ts 10/0");
    d.at(20);
    d.exchange("#1 ts 30/0", "");
    d.at(40);
    d.exchange("#2 ts 35/0", "ack #3 ts 40/30");
    d.exchange("#3 ts 50/0", "");
    d.expect_at(240, "ack #4 ts 240/50");
}

/// RFC 7323 section 4.3: a duplicate ACK echoes the last segment in order; the segment that fills the gap is
/// echoed.
#[test]
fn rfc7323_4_3_gap_echoes_the_last_in_order_timestamp() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 10/0");
    d.exchange("#1 ts 21/0", "ack #2 ts 0/21");
    d.exchange("#3 ts 22/0", "ack #2 ts 0/21");
    d.exchange("#4 ts 23/0", "ack #2 ts 0/21");
    d.exchange("#2 ts 40/0", "ack #5 ts 0/40");
    d.exchange("#5 ts 41/0", "ack #6 ts 0/41");
}

/// The tag for statistics follows the rule of RFC 7323 section 4.3, and names the trigger of duplicate ACKs.
#[test]
fn rfc7323_4_3_tags_follow_the_echo_rule() {
    let mut d = ReceiverDialogue::connected(delayed());
    let mut tags = Vec::new();
    for text in ["#1 tag 1", "#2 tag 2", "#4 tag 4", "#5 tag 5", "#3 tag 6", "#4 tag 7"] {
        for pattern in parse(text) {
            d.end.handle_segment(at(1), &pattern.build(SeqNumber::new(700_000), SeqNumber::new(0)));
        }
        tags.extend(std::iter::from_fn(|| d.end.poll_transmit(at(1))).map(|ack| ack.tag));
    }
    assert_eq!(tags, [1, 4, 5, 6, 7]);
}

/// RFC 7323 section 5.3: a segment with an older timestamp is an old duplicate: answered, not accepted.
#[test]
fn rfc7323_5_3_paws() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 100/0");
    d.exchange("#1 ts 200/0", "ack #2");
    d.exchange("#2 ts 150/0", "ack #2 ts 0/200");
    assert_eq!((d.end.delivered(), d.end.stats().paws_rejected), (1000, 1));
    d.exchange("#2 ts 200/0", "ack #3");

    let mut d =
        ReceiverDialogue::connected_by(ReceiverConfig { paws: false, ..receiver_config() }, "S @0 ts 100/0");
    d.exchange("#1 ts 200/0", "ack #2");
    d.exchange("#2 ts 150/0", "ack #3 ts 0/200");
}

/// RFC 7323 section 5.2: the timestamp clock wraps, too.
#[test]
fn rfc7323_5_2_paws_compares_modulo_2_32() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 4294967290/0");
    d.exchange("#1 ts 4294967295/0", "ack #2 ts 0/4294967295");
    d.exchange("#2 ts 5/0", "ack #3 ts 0/5");
    d.exchange("#3 ts 4294967295/0", "ack #3 ts 0/5");
}

/// RFC 7323 section 5.5: after 24 days a timestamp proves nothing.
#[test]
fn rfc7323_5_5_paws_forgets_after_24_days() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 100/0");
    d.exchange("#1 ts 200/0", "ack #2");
    d.at(25 * 86_400_000);
    d.exchange("#2 ts 150/0", "ack #3 ts 2160000000/150");
    // It is refused a millisecond before, and taken at 24 days.
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 100/0");
    d.exchange("#1 ts 200/0", "ack #2");
    d.at(24 * 86_400_000 - 1);
    d.exchange("#2 ts 150/0", "ack #2 ts 2073599999/200");
    d.at(24 * 86_400_000);
    d.exchange("#2 ts 150/0", "ack #3 ts 2073600000/150");
}

/// RFC 7323 section 3.2: once negotiated, a segment without timestamps is dropped silently.
#[test]
fn rfc7323_3_2_missing_timestamp() {
    let mut d = ReceiverDialogue::connected_by(receiver_config(), "S @0 ts 100/0");
    d.exchange("#1", "");
    d.exchange("#1 ts 101/0", "ack #2");
}

/// TCP-ADA: an acknowledgement waits 1.2 times the average time between segments, again from every segment.
#[test]
fn adaptive_acks_wait_for_a_pause() {
    let adaptive = DelayedAck::Adaptive { limit: ms(500) };
    let mut d = ReceiverDialogue::connected(ReceiverConfig { delayed_ack: adaptive, ..receiver_config() });
    // Nothing is known of the time between segments: at once.
    d.exchange("#1", "ack #2");
    // 10 ms apart: each is due 12 ms after it came, and the next comes before that.
    for k in 2..=5 {
        d.at(10 * (k - 1));
        d.exchange(&format!("#{k}"), "");
    }
    d.expect_at(52, "ack #6");
    // A gap is reported at once, and so is its end; what comes in order then waits again. 60 ms since #5:
    // 0.8 * 10 + 0.2 * 60 = 20 ms, and 20 ms apart from then on: 24 ms.
    d.at(100);
    d.exchange("#7", "ack #6 sack #7");
    d.at(120);
    d.exchange("#8", "ack #6 sack #7-8");
    d.at(140);
    d.exchange("#6", "ack #9");
    d.at(160);
    d.exchange("#9", "");
    d.expect_at(184, "ack #10");
}

/// TCP-ADA: every segment with data counts, be it one byte.
#[test]
fn adaptive_acks_count_the_shortest_segments() {
    let adaptive = DelayedAck::Adaptive { limit: ms(500) };
    let mut d = ReceiverDialogue::connected(ReceiverConfig { delayed_ack: adaptive, ..receiver_config() });
    d.exchange("1:2", "ack 2");
    d.at(10);
    d.exchange("2:3", "");
    d.expect_at(22, "ack 3");
}

/// TCP-ADA: no segment waits longer than the limit, however steadily others follow.
#[test]
fn adaptive_acks_have_a_limit() {
    let adaptive = DelayedAck::Adaptive { limit: ms(100) };
    let mut d = ReceiverDialogue::connected(ReceiverConfig { delayed_ack: adaptive, ..receiver_config() });
    d.exchange("#1", "ack #2");
    for k in 2..=11 {
        d.at(10 * (k - 1));
        d.exchange(&format!("#{k}"), "");
    }
    // #2 came at 10 ms.
    d.expect_at(110, "ack #12");
}
