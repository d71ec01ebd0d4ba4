//! Loss recovery segment by segment: ten segments in flight, window 10, scripted duplicate ACKs.
//!
//! Without limited transmit unless a test says so. ssthresh after the loss is FlightSize / 2 = 5 segments.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn config(recovery: Recovery) -> SenderConfig {
    with!(sender_config(recovery, 10), recovery.limited_transmit = false)
}

/// Ten segments sent at 100 ms; it is 200 ms now.
#[track_caller]
fn ten_in_flight(config: SenderConfig) -> SenderDialogue {
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    d
}

/// RFC 5681 section 3.2: two duplicate ACKs are reordering, the third is a loss.
#[test]
fn rfc5681_3_2_threshold_of_three() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut d = ten_in_flight(config(recovery));
        d.exchange("ack #1 sack #2", "");
        d.exchange("ack #1 sack #2-3", "");
        // The first segment was late only: slow start goes on.
        d.exchange("ack #4", "#11-14");
        assert_eq!((d.cwnd(), d.end.stats().fast_retransmits), (11, 0));

        let mut d = ten_in_flight(config(recovery));
        d.exchange("ack #1 sack #2", "");
        d.exchange("ack #1 sack #2-3", "");
        d.exchange("ack #1 sack #2-4", "#1");
        assert_eq!((d.ssthresh(), d.end.stats().fast_retransmits), (5, 1));
    }
}

/// RFC 5681 section 3.2: the threshold is a setting (RFC 4653 raises it where paths reorder).
#[test]
fn rfc5681_3_2_threshold_of_five() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut d = ten_in_flight(with!(config(recovery), recovery.dup_thresh = 5));
        for last in 2..=5 {
            d.exchange(&format!("ack #1 sack #2-{last}"), "");
        }
        d.exchange("ack #1 sack #2-6", "#1");
    }
}

/// RFC 5681 section 2: an ACK with data, with another window, or with nothing outstanding is no duplicate
/// ACK.
#[test]
fn rfc5681_2_what_is_no_duplicate_ack() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    for win in [60_000, 59_000, 58_000, 57_000] {
        d.exchange(&format!("ack #1 win {win}"), "");
    }
    assert_eq!((d.end.stats().duplicate_acks, d.end.stats().fast_retransmits), (0, 0));

    let mut d = SenderDialogue::connected(config(Recovery::NewReno));
    d.write_segments(2);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3", "");
    d.exchange("ack #3; ack #3; ack #3; ack #3", "");
    assert_eq!((d.end.stats().duplicate_acks, d.end.stats().fast_retransmits), (0, 0));
}

/// RFC 3042 section 2: a new segment on each of the first two duplicate ACKs; cwnd stays, and ssthresh does
/// not count them.
#[test]
fn rfc3042_2_limited_transmit() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let mut d = ten_in_flight(sender_config(recovery, 10));
        d.exchange("ack #1 sack #2", "#11");
        d.exchange("ack #1 sack #2-3", "#12");
        assert_eq!(d.cwnd(), 10);
        d.exchange("ack #1 sack #2-4", "#1");
        assert_eq!(d.ssthresh(), 5);
    }
}

/// RFC 3042 section 2: only within the peer's window.
#[test]
fn rfc3042_2_limited_transmit_needs_the_peers_window() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::NewReno, 10));
    d.handshake("S. @0 ack 1 mss 1460 win 4000");
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #1 win 4000", "");
    d.exchange("ack #1 win 4000", "");
    d.exchange("ack #1 win 4000", "#1");
}

/// Jacobson 1988: Tahoe retransmits the hole and falls back to slow start from one segment.
#[test]
fn tahoe_one_drop() {
    let mut d = ten_in_flight(config(Recovery::Tahoe));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
    for _ in 0..6 {
        d.exchange("ack #1", "");
    }
    d.at(300);
    d.exchange("ack #11", "#11-12");
    assert_eq!(d.cwnd(), 2);
    d.at(400);
    d.exchange("ack #12", "#13-14");
    d.exchange("ack #13", "#15-16");
    d.at(500);
    // cwnd 4, then 5 = ssthresh: congestion avoidance.
    d.exchange("ack #14", "#17-18");
    d.exchange("ack #15", "#19");
    assert_eq!(d.cwnd(), 5);
}

/// Tahoe's window of one segment is one: what limited transmit allowed beyond it ends with the loss.
#[test]
fn tahoe_sends_the_hole_alone_after_limited_transmit() {
    let mut d = ten_in_flight(sender_config(Recovery::Tahoe, 10));
    d.exchange("ack #1 sack #2", "#11");
    d.exchange("ack #1 sack #2-3", "#12");
    d.exchange("ack #1 sack #2-4", "#1");
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
}

/// Tahoe goes back to the hole and retransmits from there, what has arrived too: the price of two drops.
#[test]
fn tahoe_two_drops_retransmits_what_arrived() {
    let mut d = ten_in_flight(config(Recovery::Tahoe));
    // #1 and #3 are lost.
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1; ack #1; ack #1; ack #1", "");
    d.at(300);
    d.exchange("ack #3", "#3-4");
    d.at(400);
    d.exchange("ack #11", "#11-13");
    // #4 was there: a duplicate ACK, of data sent before the loss event.
    d.exchange("ack #11", "");
    assert_eq!((d.end.stats().fast_retransmits, d.end.stats().timeouts), (1, 0));
}

/// RFC 5681 section 3.2: Reno inflates by every duplicate ACK, and deflates to ssthresh on the new one.
#[test]
fn rfc5681_3_2_reno_one_drop() {
    let mut d = ten_in_flight(config(Recovery::Reno));
    d.exchange("ack #1; ack #1", "");
    // ssthresh 5, window 5 + 3 = 8.
    d.exchange("ack #1", "#1");
    // 9, 10: still not more than the 10 in flight.
    d.exchange("ack #1; ack #1", "");
    // 11 to 14.
    d.exchange("ack #1", "#11");
    d.exchange("ack #1", "#12");
    d.exchange("ack #1", "#13");
    d.exchange("ack #1", "#14");
    d.at(300);
    // Four in flight, window 5.
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.ssthresh()), (5, 5));
    assert_eq!(d.end.state().ca_state, CaState::Open);
}

/// RFC 5681 section 3.2, RFC 6582 section 1: with three drops Reno leaves recovery at the partial ACK, and
/// the two segments sent in recovery bring too few duplicate ACKs: it must wait for the timer.
#[test]
fn rfc5681_3_2_reno_three_drops_time_out() {
    let mut d = ten_in_flight(config(Recovery::Reno));
    // #1, #3 and #5 are lost: seven duplicate ACKs.
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1", "#11; #12");
    d.at(300);
    // Ten in flight (#3 to #12), window 5.
    d.exchange("ack #3", "");
    assert_eq!(d.cwnd(), 5);
    d.exchange("ack #3; ack #3", "");
    // RTO 1 s, from the new ACK on.
    d.expect_at(1_300, "#3");
    assert_eq!((d.cwnd(), d.end.stats().timeouts, d.end.stats().fast_retransmits), (1, 1, 1));
}

/// RFC 5681 section 3.2: with two drops Reno halves the window twice.
#[test]
fn rfc5681_3_2_reno_two_drops_halve_twice() {
    let mut d = ten_in_flight(config(Recovery::Reno));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1; ack #1", "#11; #12; #13");
    d.at(300);
    d.exchange("ack #3", "");
    d.exchange("ack #3; ack #3", "");
    // Half of the window of 5, not of the 11 segments that are outstanding behind the hole.
    d.exchange("ack #3", "#3");
    assert_eq!((d.end.state().ssthresh, d.end.stats().fast_retransmits), (2_500, 2));
}

/// `tcp.cc` (`slowdown`), `tcp-reno.cc`: 11 segments become 5.5, of which ssthresh is 5; the ACK that ends recovery
/// lets the window grow, but for SACK's.
#[test]
fn ns2_keeps_half_a_segment_and_grows_at_the_end() {
    for (rules, recovery, halved, ended) in [
        (RecoveryRules::Ns2, Recovery::Reno, 5_500, 5_681),
        (RecoveryRules::Ns2, Recovery::NewReno, 5_500, 5_681),
        (RecoveryRules::Ns2, Recovery::Sack, 5_500, 5_500),
        (RecoveryRules::Rfc, Recovery::Reno, 5_000, 5_000),
        (RecoveryRules::Rfc, Recovery::NewReno, 5_000, 5_000),
        (RecoveryRules::Rfc, Recovery::Sack, 5_000, 5_000),
    ] {
        let config = with!(
            config(recovery),
            initial_window = InitialWindow::Segments(11),
            recovery.full_ack_window = FullAckWindow::Ssthresh,
            recovery.recovery_rules = rules
        );
        let whole = make("aimd", &Preset::find("ns2").unwrap().parameters(&Parameters::new())).unwrap();
        let mut d = SenderDialogue::with_control(config, whole);
        d.handshake("S. ack 1 mss 1460 sackOK ws 0");
        d.end.set_saturated(true);
        d.drained();
        d.at(200);
        for last in 2..=4 {
            d.give(&format!("ack #1 sack #2-{last}"));
        }
        d.drained();
        assert_eq!((d.end.state().cwnd, d.end.state().ssthresh), (halved, 5_000), "{rules:?} {recovery:?}");
        d.at(300);
        d.give("ack #12");
        assert_eq!(d.end.state().cwnd, ended, "{rules:?} {recovery:?}");
    }
}

/// `tcp.cc` (`recv`, `send_one`): after a timeout, too, each of the first two duplicate ACKs lets out a segment, an old
/// one here.
#[test]
fn ns2_transmits_on_duplicates_after_a_timeout() {
    for (rules, first, second) in [(RecoveryRules::Ns2, "#4", "#5"), (RecoveryRules::Rfc, "", "")] {
        for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno] {
            let mut d = ten_in_flight(with!(sender_config(recovery, 10), recovery.recovery_rules = rules));
            d.expect_after_timeout("#1");
            d.at(1_200);
            d.exchange("ack #2", "#2-3");
            d.exchange("ack #2", first);
            d.exchange("ack #2", second);
            d.exchange("ack #2; ack #2", "");
            // The next ACK ends it: three segments of window.
            d.exchange("ack #6", "#6-8");
        }
    }
}

/// RFC 6582 section 3.2 with one drop: as Reno, and a full ACK of option 1.
#[test]
fn rfc6582_3_2_newreno_one_drop() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1; ack #1; ack #1", "#11; #12; #13; #14");
    d.at(300);
    // min(ssthresh, FlightSize 4 + 1) = 5.
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.ssthresh()), (5, 5));
}

/// RFC 6582 section 3.2 step 3: a partial ACK retransmits the next hole, deflates by what it acknowledges
/// less one segment.
#[test]
fn rfc6582_3_2_newreno_partial_ack() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    // #1 and #3 are lost: eight duplicate ACKs.
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1; ack #1", "#11; #12; #13");
    d.at(300);
    // Window 13 - 2 + 1 = 12, in flight #3 to #13: one new segment.
    d.exchange("ack #3", "#3; #14");
    assert_eq!(d.end.state().ca_state, CaState::Recovery);
    // Duplicate ACKs of #11 to #13 inflate on.
    d.exchange("ack #3; ack #3; ack #3", "#15; #16; #17");
    d.at(400);
    // Full: #14 to #17 are in flight, min(5, 4 + 1) = 5.
    d.exchange("ack #14", "#18");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().timeouts), (5, 5, 0));
    assert_eq!(d.end.state().ca_state, CaState::Open);
}

/// RFC 6582 section 3.2 step 3, option 1 and 2: what is left in flight is little: a burst or none.
#[test]
fn rfc6582_3_2_full_ack_options() {
    for (option, window) in [(FullAckWindow::FlightSize, 1), (FullAckWindow::Ssthresh, 5)] {
        let mut d =
            SenderDialogue::connected(with!(config(Recovery::NewReno), recovery.full_ack_window = option));
        d.write_segments(10);
        d.expect("#1-10");
        d.at(200);
        d.exchange("ack #1; ack #1", "");
        d.exchange("ack #1", "#1");
        d.exchange("ack #1; ack #1; ack #1; ack #1; ack #1; ack #1", "");
        d.at(300);
        d.exchange("ack #11", "");
        // Option 1: min(5, max(0, 1) + 1) = 2 segments.
        let window = if window == 1 { 2 } else { window };
        assert_eq!(d.cwnd(), window);
    }
}

/// RFC 6582 section 3.2 step 1 and section 4: duplicate ACKs of what was sent before the last loss event
/// start no new one.
#[test]
fn rfc6582_4_recover_guards_after_a_timeout() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    // Everything but #4 and later is lost; the duplicate ACKs are lost too. The timer expires.
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#2-3");
    d.at(1_300);
    // #2 was lost, #3 had arrived before: the ACK of #10.
    d.exchange("ack #11", "#11-13");
    d.exchange("ack #11; ack #11; ack #11; ack #11", "");
    assert_eq!(d.end.stats().fast_retransmits, 0);
}

/// RFC 6582 section 3.2 step 1: data above `recover` may be lost again, and is fast retransmitted again.
#[test]
fn rfc6582_3_2_new_loss_after_recovery() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1; ack #1; ack #1", "#11; #12; #13; #14");
    d.at(300);
    d.exchange("ack #11", "#15");
    d.at(310);
    d.exchange("ack #12", "#16");
    // #12 is lost, #13 to #15 arrive. Five in flight: ssthresh 2.5.
    d.exchange("ack #12; ack #12", "");
    d.exchange("ack #12", "#12");
    assert_eq!((d.end.state().ssthresh, d.end.stats().fast_retransmits), (2_500, 2));
}

/// RFC 6675 section 5 with one drop: pipe, not inflation.
#[test]
fn rfc6675_5_sack_one_drop() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    // pipe: #1 retransmitted, #5 to #10: 7; cwnd 5.
    d.exchange("ack #1 sack #2-4", "#1");
    assert_eq!(d.cwnd(), 5);
    d.exchange("ack #1 sack #2-5", "");
    d.exchange("ack #1 sack #2-6", "");
    // pipe 4: one new segment for each further SACK.
    d.exchange("ack #1 sack #2-7", "#11");
    d.exchange("ack #1 sack #2-8", "#12");
    d.exchange("ack #1 sack #2-9", "#13");
    d.exchange("ack #1 sack #2-10", "#14");
    d.at(300);
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.state().ca_state), (5, 5, CaState::Open));
}

/// RFC 6675 section 5 with two drops: the second is retransmitted as soon as it is known and the pipe has
/// room.
#[test]
fn rfc6675_5_sack_two_drops() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    // #1 and #3 are lost.
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #4 #2", "");
    // IsLost(#3)? 2000 bytes above it, two runs of them one: no. pipe: #1, #3, #6 to #10: 7.
    d.exchange("ack #1 sack #4-5 #2", "#1");
    // Now 3000 bytes: lost. pipe: #1, #7 to #10: 5.
    d.exchange("ack #1 sack #4-6 #2", "");
    // pipe 4: NextSeg rule 1.
    d.exchange("ack #1 sack #4-7 #2", "#3");
    d.exchange("ack #1 sack #4-8 #2", "#11");
    d.exchange("ack #1 sack #4-9 #2", "#12");
    d.exchange("ack #1 sack #4-10 #2", "#13");
    d.at(300);
    // pipe: #3, #11 to #13: 4.
    d.exchange("ack #3 sack #4-10", "#14");
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().timeouts), (5, 5, 0));
}

/// RFC 6675 section 5 with three drops.
#[test]
fn rfc6675_5_sack_three_drops() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    // #1, #3 and #5 are lost.
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #4 #2", "");
    // pipe: #1, #3, #5, #7 to #10: 7.
    d.exchange("ack #1 sack #6 #4 #2", "#1");
    // #3 is lost (#4, #6, #7), #5 not yet (#6, #7). pipe: #1, #5, #8 to #10: 5.
    d.exchange("ack #1 sack #6-7 #4 #2", "");
    // #5 is lost. pipe: #1, #9, #10: 3: room for two.
    d.exchange("ack #1 sack #6-8 #4 #2", "#3; #5");
    d.exchange("ack #1 sack #6-9 #4 #2", "#11");
    d.exchange("ack #1 sack #6-10 #4 #2", "#12");
    d.at(300);
    // pipe: #3, #5, #11, #12 = 4.
    d.exchange("ack #3 sack #6-10 #4", "#13");
    // pipe: #5, #11 to #13 = 4.
    d.exchange("ack #5 sack #6-10", "#14");
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.end.stats().timeouts, d.end.stats().segments_retransmitted), (5, 0, 3));
}

/// RFC 6675 section 5 with four drops: all are retransmitted within the round trip.
#[test]
fn rfc6675_5_sack_four_drops() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    // #1, #3, #5 and #7 are lost.
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #4 #2", "");
    d.exchange("ack #1 sack #6 #4 #2", "#1");
    // #3 lost. pipe: #1, #5, #7, #9, #10: 5.
    d.exchange("ack #1 sack #8 #6 #4 #2", "");
    // #5 lost. pipe: #1, #7, #10: 3.
    d.exchange("ack #1 sack #8-9 #6 #4", "#3; #5");
    // #7 lost. pipe: #1, #3, #5: 3.
    d.exchange("ack #1 sack #8-10 #6 #4", "#7; #11");
    d.at(300);
    d.exchange("ack #3 sack #8-10 #6 #4", "#12");
    d.exchange("ack #5 sack #8-10 #6", "#13");
    d.exchange("ack #7 sack #8-10", "#14");
    d.exchange("ack #11", "#15");
    assert_eq!((d.cwnd(), d.end.stats().timeouts, d.end.stats().segments_retransmitted), (5, 0, 4));
}

/// RFC 6675 section 5: three runs of SACKed data, or more than two segments of it, mark a loss before the
/// third duplicate ACK (IsLost on step 2).
#[test]
fn rfc6675_5_lost_by_sacked_bytes() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    // One ACK, three segments: the ACKs between were lost.
    d.exchange("ack #1 sack #2-4", "#1");
    assert_eq!(d.end.stats().fast_retransmits, 1);
}

/// RFC 6675 section 4, NextSeg rule 3: with no new data and nothing lost, an unSACKed segment below the
/// highest SACK goes.
#[test]
fn rfc6675_4_next_seg_rule_3() {
    let mut d = SenderDialogue::connected(config(Recovery::Sack));
    d.write_segments(10);
    d.expect("#1-10");
    d.at(200);
    // #1, #7 and #9 are lost.
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#1");
    d.exchange("ack #1 sack #2-5", "");
    d.exchange("ack #1 sack #2-6", "");
    // pipe: #1, #7, #9, #10 = 4, cwnd 5. #7 is not lost by IsLost (1000 bytes above), there is no new data:
    // rule 3.
    d.exchange("ack #1 sack #8 #2-6", "#7");
}

/// RFC 6675 section 4, NextSeg rule 4: once in a recovery the last segment is retransmitted to keep the ACKs
/// coming, and by section 5 step 4.3 not before what was retransmitted first is acknowledged.
#[test]
fn rfc6675_4_rescue_retransmission() {
    let mut d = SenderDialogue::connected(config(Recovery::Sack));
    d.write_segments(10);
    d.expect("#1-10");
    d.at(200);
    // #1 and the tail, #8 to #10, are lost.
    d.exchange("ack #1 sack #2", "");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#1");
    d.exchange("ack #1 sack #2-5", "");
    d.exchange("ack #1 sack #2-6", "");
    // pipe: #1, #8, #9, #10 = 4; nothing lost, no new data, nothing below the highest SACK. RescueRxt is the
    // end of #1, and HighACK is below it.
    d.exchange("ack #1 sack #2-7", "");
    d.at(300);
    // The partial ACK leaves #8 to #10: rule 4. One rescue only, though pipe is 4 of 5.
    d.exchange("ack #8", "#10");
    d.at(400);
    // #10 is SACKed: #8 and #9 lie below the highest SACK: rule 3.
    d.exchange("ack #8 sack #10", "#8-9");
    d.at(500);
    d.exchange("ack #11", "");
    assert_eq!((d.end.stats().timeouts, d.cwnd()), (0, 5));
}

/// RFC 6675 section 5.1: a timeout in recovery ends it; the scoreboard is kept and SACKed data is not sent
/// again.
#[test]
fn rfc6675_5_1_timeout_keeps_the_scoreboard() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack #3", "");
    d.exchange("ack #1 sack #3-4", "");
    d.expect_at(1_100, "#1");
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
    d.at(1_200);
    d.exchange("ack #2 sack #3-4", "#2; #5");
}

/// RFC 5681 equation (4) with "no more than": what a long recovery has sent stays outstanding behind its end,
/// and the next loss halves cwnd, not all that.
#[test]
fn rfc5681_3_1_a_loss_after_a_long_recovery_halves_cwnd() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    for _ in 0..2 {
        d.exchange("ack #1", "");
    }
    // The retransmitted #1 is late: each duplicate, of old and of new segments, lets another new one go.
    for k in 11..30 {
        d.exchange("ack #1", &format!("#{k}"));
    }
    d.at(300);
    d.exchange("ack #11", "");
    d.exchange("ack #12", "");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.state().flight_size / 1000), (5, 5, 18));
    // FlightSize / 2 would be 9.
    d.exchange("ack #12; ack #12", "");
    d.exchange("ack #12", "#12");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().fast_retransmits), (2, 2, 2));
}

/// RFC 6675 section 5: a cumulative ACK past the recovery point ends recovery; duplicate ACKs during it are
/// no new loss.
#[test]
fn rfc6675_5_one_reduction_per_window() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack #2-4", "#1");
    d.exchange("ack #1 sack #2-5; ack #1 sack #2-6", "");
    d.exchange("ack #1 sack #2-7", "#11");
    assert_eq!((d.end.stats().fast_retransmits, d.ssthresh(), d.cwnd()), (1, 5, 5));
}

/// RFC 2018 section 2: where the peer does not permit SACK, recovery is NewReno's.
#[test]
fn rfc2018_2_sack_needs_permission() {
    let mut d = SenderDialogue::closed(config(Recovery::Sack));
    d.handshake("S. @0 ack 1 mss 1460");
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1", "#1");
    d.exchange("ack #1; ack #1", "");
    d.exchange("ack #1; ack #1; ack #1", "#11; #12; #13");
    d.at(300);
    d.exchange("ack #3", "#3; #14");
}

/// RFC 2883 section 4: a D-SACK report is counted and is no loss signal.
#[test]
fn rfc2883_4_d_sack_is_no_loss() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #4 sack #2", "#11-14");
    d.exchange("ack #4 sack #1; ack #4 sack #2; ack #4 sack #3", "");
    assert_eq!((d.end.stats().d_sacks, d.end.stats().fast_retransmits), (4, 0));
}

/// RFC 2883 section 4: also where the duplicate lies above the cumulative acknowledgement, within the second
/// block.
#[test]
fn rfc2883_4_d_sack_within_the_second_block() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack #3-4", "");
    assert_eq!(d.end.stats().d_sacks, 0);
    d.exchange("ack #1 sack #4 #3-4", "");
    assert_eq!(d.end.stats().d_sacks, 1);
}

/// Without SACK a duplicate says that a segment was delivered, and the control counts it.
#[test]
fn a_duplicate_counts_as_a_segment_delivered() {
    let mut d = ten_in_flight(config(Recovery::NewReno));
    let before = d.end.state().delivered;
    d.send("ack #1; ack #1; ack #1");
    d.drained();
    assert_eq!(d.end.state().delivered - before, 3 * u64::from(MSS));
}

/// RFC 6582 section 3.2 step 1 binds a control too that takes one duplicate as enough: where recovery ended,
/// the duplicate may come from what was retransmitted needlessly.
#[test]
fn an_eager_control_retransmits_only_beyond_the_last_recovery() {
    #[derive(Debug)]
    struct Eager;
    impl CongestionControl for Eager {
        fn name(&self) -> &str {
            "eager"
        }
        fn ssthresh(&mut self, _: cogtcp_units::Time, tcp: &TcpState) -> u64 {
            tcp.flight_size / 2
        }
        fn cong_avoid(&mut self, _: cogtcp_units::Time, tcp: &mut TcpState, ack: &AckSample) {
            tcp.cwnd += ack.acked;
        }

        fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
            Some(self)
        }
    }

    impl ControlExtension for Eager {
        fn dup_ack_retransmit(&mut self, _: cogtcp_units::Time, _: &TcpState, _: cogtcp_units::Time) -> bool {
            true
        }
    }
    let retransmits = |recovery| {
        let mut d = SenderDialogue::with_control(sender_config(recovery, 4), Box::new(Eager));
        d.handshake("S. ack 1 mss 1460 sackOK");
        d.write_segments(20);
        d.expect("#1-4");
        d.expect_at(1_100, "#1");
        d.at(1_200);
        // All that was outstanding at the timeout, and a duplicate.
        d.send("ack #5");
        d.drained();
        d.send(if recovery == Recovery::Sack { "ack #5 sack #6" } else { "ack #5" });
        d.drained();
        d.end.stats().fast_retransmits
    };
    assert_eq!(retransmits(Recovery::NewReno), 0);
    assert_eq!(retransmits(Recovery::Sack), 1);
}

/// RFC 2018 section 8: blocks that make no sense (beyond what was sent, empty, inverted) are ignored.
#[test]
fn rfc2018_8_absurd_blocks() {
    let mut d = ten_in_flight(config(Recovery::Sack));
    d.exchange("ack #1 sack 50001:90001", "");
    d.exchange("ack #1 sack 5001:5001", "");
    d.exchange("ack #1 sack 9001:10", "");
    assert_eq!(d.end.stats().segments_retransmitted, 0);
    d.exchange("ack #11", "#11-21");
}

/// A fast retransmit restarts the timer, in the Impatient variant of NewReno too: there only partial ACKs
/// after the first do not (RFC 6582 section 3.2 step 3). The least RTO of 350 ms from 200 ms on, not from the
/// transmission at 100 ms.
#[test]
fn the_impatient_variant_restarts_the_timer_at_the_fast_retransmit() {
    for newreno_variant in [NewRenoVariant::Impatient, NewRenoVariant::SlowButSteady] {
        let config = with!(
            sender_config(Recovery::NewReno, 4),
            timers.min_rto = ms(350),
            recovery.limited_transmit = false,
            recovery.newreno_variant = newreno_variant
        );
        let mut d = SenderDialogue::connected(config);
        d.write_segments(4);
        d.expect("#1-4");
        d.at(200);
        d.exchange("ack #1; ack #1; ack #1", "#1");
        d.expect_at(550, "#1");
    }
}

/// RFC 6675 section 5.1: after a timeout, what was sent since is not found lost before the next fast
/// recovery.
#[test]
fn rfc6675_5_1_sacks_after_a_timeout_mark_nothing() {
    let config =
        with!(sender_config(Recovery::Sack, 10), recovery.limited_transmit = false, timers.min_rto = ms(200));
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.expect_at(400, "#1");
    d.at(500);
    // Slow start sends #2 to #4 again, which are lost, and new data.
    d.exchange("ack #2 sack #5-10", "#2-3");
    d.at(600);
    d.exchange("ack #3 sack #5-10", "#4; #11");
    d.exchange("ack #4 sack #5-10", "#12-13");
    d.at(700);
    // Of #4 and #11 nothing is heard; three above #11 have arrived.
    d.exchange("ack #4 sack #12 #5-10", "#14");
    d.exchange("ack #4 sack #12-13 #5-10", "#15");
    d.exchange("ack #4 sack #12-14 #5-10", "#16");
    // The ten that were in flight at the timeout, and no more.
    assert_eq!((d.end.state().ca_state, d.end.state().lost), (CaState::Loss, 10_000));
}
