//! RACK-TLP (RFC 8985) and PRR (RFC 9937) segment by segment. The round trip takes 100 ms, so a quarter of
//! it, RACK's first reordering window, is 25 ms.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn rack() -> SenderConfig {
    with!(sender_config(Recovery::Sack, 10), recovery.rack = true, recovery.limited_transmit = false)
}

fn rack_tlp() -> SenderConfig {
    with!(rack(), recovery.tlp = true)
}

/// A saturated sender whose first window left at 100 ms; it is 200 ms now.
#[track_caller]
fn in_flight(config: SenderConfig, window: &str) -> SenderDialogue {
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect(window);
    d.at(200);
    d
}

/// Section 6.2 step 5: one SACK is enough, a reordering window later.
#[test]
fn rfc8985_6_2_one_sack_and_the_reordering_timer() {
    let mut d = in_flight(rack(), "#1-10");
    d.exchange("ack #1 sack #2", "");
    d.expect_at(225, "#1");
    assert_eq!((d.ssthresh(), d.end.stats().fast_retransmits), (5, 1));
    assert_eq!(d.end.state().ca_state, CaState::Recovery);
    d.at(325);
    d.exchange("ack #11", "#11-15");
    assert_eq!(d.end.stats().timeouts, 0);
}

/// Section 6.2 step 5: the timer runs for the last segment that may be overdue, #5 of 105 ms; by then all are
/// lost. What left after the segment SACKed has none.
#[test]
fn rfc8985_6_2_the_timer_is_that_of_the_last_overdue_segment() {
    let mut d = SenderDialogue::connected(rack());
    d.write_segments(3);
    d.expect("#1-3");
    d.at(105);
    d.write_segments(2);
    d.expect("#4-5");
    d.at(110);
    d.write_segments(1);
    d.expect("#6");
    d.at(120);
    d.write_segments(1);
    d.expect("#7");
    d.at(210);
    d.exchange("ack #1 sack #6", "");
    assert_eq!(d.end.poll_timeout(), at(230));
    d.expect_at(230, "#1-2");
}

/// Section 6.2 step 4: DupThresh segments SACKed and no reordering seen: no window.
#[test]
fn rfc8985_6_2_dup_thresh_without_reordering() {
    let mut d = in_flight(rack(), "#1-10");
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#1");
    assert_eq!(d.ssthresh(), 5);
}

/// Section 6.2 step 3: the late segment shows that the path reorders; DupThresh is then no proof.
#[test]
fn rfc8985_6_2_reordering_is_waited_for() {
    let mut d = in_flight(rack(), "#1-10");
    d.exchange("ack #1 sack #2", "");
    d.at(210);
    d.exchange("ack #3", "#11-13");
    assert_eq!(d.end.stats().fast_retransmits, 0);
    d.exchange("ack #3 sack #4-6", "");
    // RACK.rtt is the 110 ms of the latest delivery: 100 + 110 + 25.
    d.expect_at(235, "#3");
}

/// Section 3.2: a lost retransmission is found like any other loss, without a timeout. Section 9.3: without
/// PRR it is answered by a reduction of its own: half of the 5 segments that were allowed.
#[test]
fn rfc8985_3_2_lost_retransmission() {
    let mut d = in_flight(rack(), "#1-10");
    d.exchange("ack #1 sack #2-4", "#1");
    d.exchange("ack #1 sack #2-6", "");
    // pipe: #1 and #8 to #10: 4 of 5.
    d.exchange("ack #1 sack #2-7", "#11");
    d.exchange("ack #1 sack #2-10", "#12-14");
    d.at(300);
    // #11 left after the retransmission of #1 and arrived: that one is lost too. cwnd 2.5, pipe: #12 to #14 = 3.
    d.exchange("ack #1 sack #2-11", "");
    assert_eq!((d.end.state().cwnd, d.end.state().ssthresh), (2_500, 2_500));
    d.exchange("ack #1 sack #2-12", "");
    d.exchange("ack #1 sack #2-13", "#1");
    d.exchange("ack #1 sack #2-14", "#15");
    d.at(400);
    d.exchange("ack #16", "#16-17");
    assert_eq!((d.end.stats().timeouts, d.end.stats().fast_retransmits), (0, 1));
    assert_eq!((d.end.state().cwnd, d.end.state().lost), (2_500, 2000));
}

/// Section 9.3: one response covers all retransmissions that left before it, whenever their loss shows.
#[test]
fn rfc8985_9_3_one_response_to_the_retransmissions_before_it() {
    let mut d = in_flight(rack(), "#1-10");
    d.exchange("ack #1 sack #4-6", "#1");
    d.at(205);
    d.exchange("ack #1 sack #4-7", "#2");
    d.at(210);
    d.exchange("ack #1 sack #4-8", "#3");
    d.at(215);
    d.exchange("ack #1 sack #4-9", "#11");
    d.at(220);
    d.exchange("ack #1 sack #4-10", "#12");
    assert_eq!(d.end.state().ssthresh, 5_000);
    d.at(305);
    // #2 left after the retransmission of #1 and arrived: a response of its own.
    d.exchange("ack #1 sack #2 #4-10", "");
    assert_eq!(d.end.state().ssthresh, 2_500);
    d.at(315);
    // The retransmission of #3 is lost too. It left before the response.
    d.exchange("ack #1 sack #11 #2 #4-10", "#1");
    assert_eq!((d.end.state().ssthresh, d.end.state().cwnd), (2_500, 2_500));
}

/// Section 6.2 step 2: an ACK whose timestamp echoes the original proves nothing about what was sent before
/// the retransmission.
#[test]
fn rfc8985_6_2_timestamps_tell_the_original_from_the_retransmission() {
    let mut d = in_flight(with!(rack(), handshake.timestamps = true), "#1-10");
    d.exchange("ack #1 sack #2 ts 5100/100", "");
    d.expect_at(225, "#1");
    // 105 ms after the retransmission, longer than the least round-trip time, the original is acknowledged.
    d.at(330);
    d.exchange("ack #3 ts 5230/100", "");
    assert_eq!(d.end.state().lost, 1000);
}

/// Section 6.3: at a timeout only the oldest segment and what is overdue are lost.
#[test]
fn rfc8985_6_3_timeout_marks_what_is_overdue() {
    let config = with!(rack(), timers.min_rto = ms(200));
    let mut d = SenderDialogue::connected(config);
    d.write_segments(2);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #2", "");
    // SRTT 100, RTTVAR 37.5: the RTO is 250 ms, and so after it was started at 200 ms.
    d.at(440);
    d.write_segments(1);
    d.expect("#3");
    d.expect_at(450, "#2");
    assert_eq!((d.end.state().lost, d.end.state().in_flight), (1000, 2000));
}

/// Section 7.2 and 7.3: after 2 SRTT without an ACK the last segment goes again, and its SACK reveals the
/// losses.
#[test]
fn rfc8985_7_3_probe_of_the_last_segment() {
    let mut d = SenderDialogue::connected(rack_tlp());
    d.write_segments(3);
    d.expect("#1-3");
    d.expect_at(300, "#3");
    d.at(400);
    d.exchange("ack #1 sack #3", "#1-2");
    assert_eq!((d.end.stats().timeouts, d.end.stats().fast_retransmits), (0, 1));
}

/// Section 7.3: new data is the better probe, and cwnd does not hold it back. One probe, then the timeout.
#[test]
fn rfc8985_7_3_probe_of_new_data() {
    let mut d = SenderDialogue::connected(rack_tlp());
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.expect_at(300, "#11");
    d.expect_at(1300, "#1");
    assert_eq!(d.end.stats().timeouts, 1);
}

/// Section 7.2: with one segment in flight the probe waits for a delayed ACK, and never longer than the RTO.
#[test]
fn rfc8985_7_2_one_segment_in_flight() {
    let mut d = SenderDialogue::connected(rack_tlp());
    d.write_segments(1);
    d.expect("#1");
    d.expect_at(500, "#1");

    let mut d = SenderDialogue::connected(with!(rack_tlp(), timers.min_rto = ms(200)));
    d.write_segments(1);
    d.expect("#1");
    // R = 100 ms: the RTO is 300 ms, before the 400 ms of the probe, which takes its place.
    d.expect_at(400, "#1");
    assert_eq!(d.end.stats().timeouts, 0);
    d.expect_at(700, "#1");
    assert_eq!(d.end.stats().timeouts, 1);
}

/// Section 7.2: the probe timer counts from the last segment sent.
#[test]
fn rfc8985_7_2_each_new_segment_puts_the_probe_off() {
    let mut d = SenderDialogue::connected(rack_tlp());
    d.write_segments(2);
    d.expect("#1-2");
    d.at(250);
    d.write_segments(1);
    d.expect("#3");
    d.expect_at(450, "#3");
}

/// Section 7.4: a probe that repaired a loss is answered as a loss, unless a D-SACK says that the original
/// arrived.
#[test]
fn rfc8985_7_4_repaired_loss() {
    for (answer, ssthresh) in [("ack #4", Some(2)), ("ack #4 sack #3", None)] {
        let mut d = SenderDialogue::connected(rack_tlp());
        d.write_segments(3);
        d.expect("#1-3");
        d.at(200);
        d.exchange("ack #3", "");
        // 2 SRTT and the 200 ms of a delayed ACK.
        d.expect_at(600, "#3");
        d.at(700);
        d.exchange(answer, "");
        d.write_segments(2);
        d.expect("#4-5");
        d.at(800);
        d.exchange("ack #6", "");
        let found = d.end.state().ssthresh;
        assert_eq!((found < u64::MAX).then_some(found / 1000), ssthresh, "{answer}");
        assert_eq!(d.end.stats().timeouts + d.end.stats().fast_retransmits, 0);
    }
}

/// Section 7.4.2: the reduction is that of a fast recovery: half of the eight segments that the revealing ACK
/// found in flight.
#[test]
fn rfc8985_7_4_2_repaired_loss_halves_the_flight() {
    let mut d = SenderDialogue::connected(rack_tlp());
    d.write_segments(10);
    d.expect("#1-10");
    d.at(200);
    d.exchange("ack #10", "");
    // 2 SRTT and the 200 ms of a delayed ACK.
    d.expect_at(600, "#10");
    d.at(700);
    d.exchange("ack #11", "");
    d.write_segments(8);
    d.expect("#11-18");
    d.at(800);
    d.exchange("ack #19", "");
    assert_eq!(d.ssthresh(), 4);
}

/// RFC 9937 section 6.2, by hand. Twenty in flight, #1 lost, ssthresh 10; RecoverFS = 20 - 3 + 1 = 18
/// segments. What may be out after the n-th delivery of the recovery is ceil(10 n / 18) segments: with n = 4,
/// 6, 8, 9, 11 a whole one more. RFC 6675 alone is silent until half of the window has arrived.
#[test]
fn rfc9937_6_2_sends_in_proportion() {
    let prr = with!(
        sender_config(Recovery::Sack, 20),
        recovery.prr = true,
        recovery.limited_transmit = false,
        initial_ssthresh = 20_000
    );
    let mut d = in_flight(prr, "#1-20");
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#1");
    for (last, answer) in [
        (5, ""),
        (6, ""),
        (7, "#21"),
        (8, ""),
        (9, "#22"),
        (10, ""),
        (11, "#23"),
        (12, "#24"),
        (13, ""),
        (14, "#25"),
    ] {
        d.exchange(&format!("ack #1 sack #2-{last}"), answer);
    }
    // pipe: #1, #15 to #25 = 12. Six more arrive; what is in flight is filled up to ssthresh, no further.
    d.exchange("ack #1 sack #2-20", "#26-29");
    d.at(300);
    d.exchange("ack #21", "#30");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.state().ca_state), (10, 10, CaState::Open));
}

/// RFC 9937 section 6.2: losses beyond the reduction make no silence; below ssthresh each delivery lets one
/// segment go (CRB).
#[test]
fn rfc9937_6_2_conservative_bound() {
    let prr = with!(
        sender_config(Recovery::Sack, 20),
        recovery.prr = true,
        recovery.limited_transmit = false,
        initial_ssthresh = 20_000
    );
    let mut d = in_flight(prr, "#1-20");
    // #1 to #14 are lost. pipe is 3 of 10 when recovery begins.
    d.exchange("ack #1 sack #15-17", "#1-3");
    d.exchange("ack #1 sack #15-18", "#4");
    d.exchange("ack #1 sack #15-19", "#5");
    // Without PRR the first ACK would have let out seven at once.
    assert_eq!(d.end.state().in_flight, 6_000);
}

/// RFC 9937 section 6.2, SafeACK: below ssthresh an ACK that moves on lets one segment more go than it
/// delivers, however little it moves, unless it reveals a loss.
#[test]
fn rfc9937_6_2_slow_start_bound() {
    let prr = with!(
        sender_config(Recovery::Sack, 20),
        recovery.prr = true,
        recovery.limited_transmit = false,
        initial_ssthresh = 20_000
    );
    let mut d = in_flight(prr, "#1-20");
    // #1 to #14 and #17 are lost; that #17 is does not show yet. pipe is 3 of 10, with #19 and #20.
    d.exchange("ack #1 sack #15-16 #18", "#1-3");
    d.at(300);
    // A byte is delivered: a segment goes.
    d.exchange("ack 2 sack #15-16 #18", "#4");
    // The rest of #1 is not a whole segment.
    d.exchange("ack #2 sack #15-16 #18", "#5");
    d.exchange("ack #3 sack #15-16 #18", "#6-7");
    // Three more are delivered, but #17 is lost: three go.
    d.exchange("ack #4 sack #15-16 #18-20", "#8-10");
}
