//! The retransmission timer, F-RTO, statistics of spurious timeouts.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// The handshake took 100 ms: SRTT 100, RTTVAR 50, RTO 100 + 4 * 50 = 300 ms.
fn quick(recovery: Recovery, initial_window: u32) -> SenderConfig {
    with!(
        sender_config(recovery, initial_window),
        timers.min_rto = ms(200),
        recovery.limited_transmit = false
    )
}

/// RFC 6298 section 2.2: after the first sample R the RTO is R + 4 * R / 2.
#[test]
fn rfc6298_2_2_first_sample() {
    let mut d = SenderDialogue::connected(quick(Recovery::Sack, 1));
    assert_eq!(d.rto_ms(), 300);
    d.write_segments(1);
    d.expect("#1");
    d.expect_at(400, "#1");
}

/// RFC 6298 section 2.3: R = 140: RTTVAR = 3/4 50 + 1/4 40 = 47.5, SRTT = 7/8 100 + 1/8 140 = 105, RTO = 295;
/// then R = 60: RTTVAR = 3/4 47.5 + 1/4 45 = 46.875, SRTT = 7/8 105 + 1/8 60 = 99.375, RTO = 286.875, in
/// ticks of G 287.
#[test]
fn rfc6298_2_3_later_samples() {
    let mut d = SenderDialogue::connected(quick(Recovery::Sack, 1));
    d.write_segments(1);
    d.expect("#1");
    d.at(240);
    d.exchange("ack #2", "");
    assert_eq!(d.end.state().rto.as_nanos(), 295_000_000);
    d.write_segments(1);
    d.expect("#2");
    d.at(300);
    d.exchange("ack #3", "");
    assert_eq!(d.end.state().srtt.as_nanos(), 99_375_000);
    assert_eq!(d.end.state().rto.as_nanos(), 287_000_000);
}

/// RFC 6298 section 2.4: the minimum.
#[test]
fn rfc6298_2_4_minimum() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    assert_eq!(d.rto_ms(), 1_000);
    d.write_segments(1);
    d.expect("#1");
    d.expect_at(1_100, "#1");
}

/// RFC 6298 section 2.5: the maximum holds with back-off.
#[test]
fn rfc6298_2_5_maximum() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::Sack, 1), timers.max_rto = ms(4_000)));
    d.write_segments(1);
    d.expect("#1");
    for time in [1_100, 3_100, 7_100, 11_100, 15_100] {
        d.expect_at(time, "#1");
    }
}

/// RFC 6298 section 2.1: the initial value is a setting (the papers have 3 s).
#[test]
fn rfc6298_2_1_initial_value() {
    let config = with!(sender_config(Recovery::Sack, 1), timers.initial_rto = ms(3_000));
    let mut d = SenderDialogue::closed(config);
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(3_000, "S @0");
}

/// RFC 6298 section 2.3: 4 RTTVAR counts as G at least, and the RTO is a multiple of G. SRTT keeps the
/// resolution of the samples.
#[test]
fn rfc6298_2_3_clock_granularity() {
    let config =
        with!(sender_config(Recovery::Sack, 1), timers.clock_granularity = ms(100), timers.min_rto = ms(0));
    let mut d = SenderDialogue::connected(config);
    let mut now = 100;
    for k in 1..=60 {
        d.write_segments(1);
        d.expect(&format!("#{k}"));
        now += 80;
        d.at(now);
        d.exchange(&format!("ack #{}", k + 1), "");
    }
    // RTTVAR has gone to nothing: 80 + 100 ms, rounded up to ticks of 100.
    assert_eq!((d.end.state().srtt.as_nanos() / 1_000_000, d.rto_ms()), (80, 200));
}

/// RFC 6298 sections 5.5 and 5.6: back-off doubles; RFC 5681 section 3.1: ssthresh is halved once, cwnd is
/// one segment.
#[test]
fn rfc6298_5_5_back_off() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 10));
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.expect_at(1_100, "#1");
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
    d.expect_at(3_100, "#1");
    d.expect_at(7_100, "#1");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().timeouts), (1, 5, 3));
}

/// RFC 5681 equation (4): ssthresh is two segments at least.
#[test]
fn rfc5681_3_1_ssthresh_floor() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 1));
    d.end.set_saturated(true);
    d.expect("#1");
    d.expect_at(1_100, "#1");
    assert_eq!(d.end.state().ssthresh, 2_000);
}

/// RFC 6298 section 3 (Karn) and 5.5 to 5.7: the ACK of a retransmitted segment gives no sample, and the
/// back-off stays until one comes.
#[test]
fn rfc6298_3_karn() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 1));
    d.end.set_saturated(true);
    d.expect("#1");
    d.expect_at(1_100, "#1");
    d.at(1_130);
    d.exchange("ack #2", "#2-3");
    assert_eq!(d.end.state().srtt, ms(100));
    // Backed off to 2 s still.
    d.expect_at(3_130, "#2");
    d.at(3_200);
    d.exchange("ack #3", "#3-4");
    // #3 was retransmitted, too; #4 is new: a sample of 100 ms ends the back-off.
    d.at(3_300);
    d.exchange("ack #5", "#5-7");
    assert_eq!(d.end.state().srtt, ms(100));
    d.expect_at(4_300, "#5");
}

/// RFC 7323 section 4: with timestamps the ACK of a retransmitted segment is a sample.
#[test]
fn rfc7323_4_timestamps_time_retransmissions() {
    let config = with!(quick(Recovery::NewReno, 1), handshake.timestamps = true);
    let mut d = SenderDialogue::connected(config);
    d.write_segments(1);
    d.expect("#1 ts 100/5000");
    d.expect_at(400, "#1 ts 400/5000");
    d.at(540);
    // 140 ms after the retransmission.
    d.exchange("ack #2 ts 5400/400", "");
    assert_eq!(d.end.state().srtt, ms(105));
}

/// RFC 7323 section 4.3: TSecr of the sender's segments is the latest TSval of the peer.
#[test]
fn rfc7323_4_3_sender_echoes() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::Sack, 1), handshake.timestamps = true));
    d.end.set_saturated(true);
    d.expect("#1 ts 100/5000");
    d.at(200);
    d.exchange("ack #2 ts 5100/100", "#2-3 ts 200/5100");
}

/// RFC 6298 section 5.3: an ACK of new data restarts the timer.
#[test]
fn rfc6298_5_3_new_ack_restarts_the_timer() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 4));
    d.write_segments(4);
    d.expect("#1-4");
    d.at(600);
    d.exchange("ack #2", "");
    d.at(1_599);
    // SRTT = 7/8 100 + 1/8 500 = 150, RTTVAR = 3/4 50 + 1/4 400 = 137.5, RTO = 700, so 1 s.
    d.expect_at(1_600, "#2");
}

/// RFC 6298 section 5.2: with nothing outstanding the timer is off.
#[test]
fn rfc6298_5_2_timer_stops() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 4));
    d.write_segments(4);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #5", "");
    assert_eq!(d.end.poll_timeout(), cogtcp_units::Time::MAX);
}

/// RFC 6298 section 5: duplicate ACKs do not restart the timer.
#[test]
fn rfc6298_5_duplicates_do_not_restart_the_timer() {
    let mut d = SenderDialogue::connected(with!(
        sender_config(Recovery::NewReno, 4),
        recovery.limited_transmit = false
    ));
    d.write_segments(4);
    d.expect("#1-4");
    d.at(600);
    d.exchange("ack #1; ack #1", "");
    d.expect_at(1_100, "#1");
}

/// RFC 5681 section 3.1: after a timeout, slow start from one segment to ssthresh, retransmitting in order.
#[test]
fn rfc5681_3_1_slow_start_after_timeout() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 8));
    d.end.set_saturated(true);
    d.expect("#1-8");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#2-3");
    d.at(1_300);
    d.exchange("ack #3", "#4-5");
    d.exchange("ack #4", "#6-7");
    d.at(1_400);
    // cwnd 4 = ssthresh: one by one.
    d.exchange("ack #5", "#8");
    d.exchange("ack #6", "#9");
    d.exchange("ack #7", "#10");
    d.exchange("ack #8", "#11-12");
    assert_eq!((d.cwnd(), d.end.stats().segments_retransmitted), (5, 8));
}

/// RFC 5681 section 3.1: after a timeout, data that an ACK covers is not retransmitted.
#[test]
fn rfc5681_3_1_timeout_skips_what_is_acknowledged() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 8));
    d.end.set_saturated(true);
    d.expect("#1-8");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #6", "#6-7");
    d.at(1_300);
    d.exchange("ack #9", "#9-11");
}

/// RFC 5682 section 2: two ACKs that advance after the timeout's retransmission: it was spurious, the window
/// comes back.
#[test]
fn rfc5682_2_spurious_timeout() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::NewReno, 4), undo.f_rto = FRto::Basic));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    assert_eq!((d.cwnd(), d.ssthresh()), (1, 2));
    d.at(1_150);
    // Step 2b: two new segments.
    d.exchange("ack #2", "#5-6");
    // Step 3b: cwnd 4 again, #3 to #6 are in flight.
    d.exchange("ack #3", "");
    assert_eq!((d.cwnd(), d.end.state().ssthresh), (4, u64::MAX));
    d.exchange("ack #4", "#7-8");
    assert_eq!((d.end.stats().undone_timeouts, d.end.stats().segments_retransmitted), (1, 1));
    let undone = TransportEvent::SpuriousRto { count: 1, undone: true };
    assert!(d.events().contains(&undone));
}

/// RFC 5682 section 2, step 3a: a duplicate ACK after the first: the timeout was genuine.
#[test]
fn rfc5682_2_genuine_timeout() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::NewReno, 4), undo.f_rto = FRto::Basic));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#5-6");
    d.at(1_300);
    // cwnd 3, two of it taken by the new segments.
    d.exchange("ack #2", "#2");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().undone_timeouts), (3, 2, 0));
}

/// RFC 5682 section 2, step 2a: a duplicate ACK first: conventional recovery.
#[test]
fn rfc5682_2_duplicate_ack_first() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::NewReno, 4), undo.f_rto = FRto::Basic));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_150);
    d.exchange("ack #1", "");
    d.exchange("ack #2", "#2-3");
    assert_eq!(d.end.stats().undone_timeouts, 0);
}

/// RFC 5682 section 2, step 2a: an ACK of everything outstanding says nothing about the timeout.
#[test]
fn rfc5682_2_everything_acknowledged() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::NewReno, 4), undo.f_rto = FRto::Basic));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #5", "#5-6");
    d.at(1_300);
    d.send("ack #6");
    assert_eq!(d.end.stats().undone_timeouts, 0);
}

/// RFC 5682 section 3.1: with SACK, new data SACKed between that was never retransmitted shows a spurious
/// timeout.
#[test]
fn rfc5682_3_1_sack_enhanced() {
    let mut d = SenderDialogue::connected(with!(sender_config(Recovery::Sack, 4), undo.f_rto = FRto::Sack));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_150);
    d.exchange("ack #2", "#5-6");
    d.exchange("ack #2 sack #3", "");
    assert_eq!((d.cwnd(), d.end.stats().undone_timeouts), (4, 1));
}

/// RFC 5682 section 2.1: when the timer expires again before any ACK the algorithm starts again. All the
/// timeouts of the episode were spurious, and the timer stays backed off until a round-trip time is measured
/// (RFC 6298 section 5.5).
#[test]
fn rfc5682_2_1_timeouts_in_a_row() {
    for (f_rto, recovery) in [(FRto::Basic, Recovery::NewReno), (FRto::Sack, Recovery::Sack)] {
        let mut d = SenderDialogue::connected(with!(sender_config(recovery, 4), undo.f_rto = f_rto));
        d.end.set_saturated(true);
        d.expect("#1-4");
        d.expect_at(1_100, "#1");
        d.expect_at(3_100, "#1");
        d.at(3_150);
        d.exchange("ack #2", "#5-6");
        d.exchange("ack #3", "");
        assert_eq!((d.cwnd(), d.end.state().ssthresh), (4, u64::MAX));
        assert_eq!((d.end.stats().timeouts, d.end.stats().undone_timeouts), (2, 2));
        assert!(d.events().contains(&TransportEvent::SpuriousRto { count: 2, undone: true }));
        assert_eq!(d.end.rto(), ms(4_000));
    }
}

/// RFC 5682 section 2.1 step 1: a timeout in the recovery of another, an ACK having come between them, is
/// taken as genuine.
#[test]
fn rfc5682_2_1_timeout_in_the_recovery_of_another() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::NewReno, 4), undo.f_rto = FRto::Basic));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#5-6");
    // Backed off to 2 s.
    d.expect_at(3_200, "#2");
    d.at(3_250);
    d.exchange("ack #3", "#3-4");
    // cwnd 2 = ssthresh.
    d.exchange("ack #4", "#5");
    assert_eq!(d.end.stats().undone_timeouts, 0);
}

/// RFC 5682 section 2.1 step 2a: less than the segment that was retransmitted is acknowledged: conventional
/// recovery.
#[test]
fn rfc5682_2_1_part_of_the_segment() {
    for (f_rto, recovery) in [(FRto::Basic, Recovery::NewReno), (FRto::Sack, Recovery::Sack)] {
        let mut d = SenderDialogue::connected(with!(sender_config(recovery, 4), undo.f_rto = f_rto));
        d.end.set_saturated(true);
        d.expect("#1-4");
        d.expect_at(1_100, "#1");
        d.at(1_150);
        // cwnd 1.5, half of #1 in flight: #2 again, nothing new.
        d.exchange("ack 501", "#2");
        d.exchange("ack #2", "#3");
        assert_eq!(d.end.stats().undone_timeouts, 0);
    }
}

/// RFC 5682 section 3.1 step 1: not after a fast retransmit, whose ACK would pass for that of an original.
#[test]
fn rfc5682_3_1_not_in_fast_recovery() {
    for f_rto in [FRto::Basic, FRto::Sack] {
        let mut d = SenderDialogue::connected(with!(
            sender_config(Recovery::Sack, 10),
            undo.f_rto = f_rto,
            recovery.limited_transmit = false
        ));
        d.end.set_saturated(true);
        d.expect("#1-10");
        d.at(200);
        d.exchange("ack #1 sack #2-4", "#1");
        // 1 s after the retransmission.
        d.expect_at(1_200, "#1");
        d.at(1_250);
        d.exchange("ack #5", "#5-6");
        assert_eq!(d.end.stats().undone_timeouts, 0);
    }
}

/// RFC 5682 section 3.1 step 3a: a duplicate ACK that tells nothing new ends the algorithm, with cwnd 3.
#[test]
fn rfc5682_3_1_duplicate_without_news() {
    let mut d = SenderDialogue::connected(with!(sender_config(Recovery::Sack, 4), undo.f_rto = FRto::Sack));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#5-6");
    // A D-SACK of #1.
    d.exchange("ack #2 sack #1", "#2");
    assert_eq!((d.cwnd(), d.end.stats().undone_timeouts), (3, 0));
}

/// RFC 5682 section 3.1 step 3: an ACK of all that was sent before the timeout, and of no more, is of an
/// original; one of more than that may be of the new segments.
#[test]
fn rfc5682_3_1_recovery_point() {
    for (answer, undone) in [("ack #3", 1), ("ack #4", 0)] {
        let mut d =
            SenderDialogue::connected(with!(sender_config(Recovery::Sack, 2), undo.f_rto = FRto::Sack));
        d.end.set_saturated(true);
        d.expect("#1-2");
        d.expect_at(1_100, "#1");
        d.at(1_150);
        d.exchange("ack #2", "#3-4");
        d.end.set_saturated(false);
        d.send(answer);
        assert_eq!(d.end.stats().undone_timeouts, undone, "{answer}");
    }
}

/// RFC 7323 section 4.3, case A: with every ACK timed, the RTO counts from the earliest segment that a
/// delayed ACK answers: 130 ms; the control sees the latest's 100 ms.
#[test]
fn rfc7323_4_3_the_wait_of_a_delayed_ack() {
    let mut d = SenderDialogue::connected(with!(
        sender_config(Recovery::Sack, 4),
        timers.rtt_sampling = RttSampling::EveryAck
    ));
    d.write_segments(1);
    d.expect("#1");
    d.at(130);
    d.write_segments(1);
    d.expect("#2");
    d.at(230);
    d.exchange("ack #3", "");
    // 7/8 100 + 1/8 130.
    assert_eq!(d.end.state().srtt.as_nanos(), 103_750_000);
    assert_eq!(d.end.state().latest_rtt, ms(100));
}

/// RFC 5682 is off by default: the timeout's slow start retransmits what had arrived.
#[test]
fn rfc5682_off_goes_back() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 8));
    d.end.set_saturated(true);
    d.expect("#1-8");
    d.expect_at(1_100, "#1");
    d.at(1_150);
    d.exchange("ack #2", "#2-3");
    d.exchange("ack #3", "#4-5");
}

/// End to end: a pause longer than the RTO that loses nothing. Every recovery finds its timeout spurious by
/// the tags; with F-RTO the window is restored and only the first segment is retransmitted.
#[test]
fn rfc5682_2_pause_end_to_end() {
    for (f_rto, undone) in [(FRto::Off, 0), (FRto::Basic, 1)] {
        let config = with!(sender_config(Recovery::NewReno, 10), undo.f_rto = f_rto);
        let mut pipe = Pipe::new(config, receiver_config()).pause(90, 1_300).transfer(30);
        pipe.run_to_delivery(30);
        let stats = pipe.sender.stats();
        assert_eq!((stats.timeouts, stats.spurious_timeouts, stats.undone_timeouts), (1, 1, undone));
        if undone == 1 {
            assert_eq!(pipe.retransmissions(), [(1_100, 1)]);
        } else {
            assert!(pipe.retransmissions().len() > 1);
        }
    }
}

/// A timeout whose segment was lost is not spurious.
#[test]
fn genuine_timeouts_are_not_counted_as_spurious() {
    let mut pipe =
        Pipe::new(sender_config(Recovery::Sack, 1), receiver_config()).drop_first(&[1]).transfer(5);
    pipe.run_to_delivery(5);
    let stats = pipe.sender.stats();
    assert_eq!((stats.timeouts, stats.spurious_timeouts), (1, 0));
}

/// RFC 9293 section 3.8.3: the user timeout gives up on a dead peer.
#[test]
fn rfc9293_3_8_3_user_timeout() {
    let config = with!(sender_config(Recovery::Sack, 1), timers.user_timeout = Some(ms(10_000)));
    let mut d = SenderDialogue::connected(config);
    d.write_segments(1);
    d.expect("#1");
    d.expect_at(1_100, "#1");
    d.expect_at(3_100, "#1");
    d.expect_at(7_100, "#1");
    d.at(20_000);
    assert!(d.end.is_closed() && d.events().contains(&TransportEvent::Aborted));
}

/// RFC 5681 section 3.1: ssthresh is held when a segment times out again; ns-2 lowers it to two segments
/// (`hold_ssthresh`).
#[test]
fn rfc5681_3_1_ssthresh_at_a_repeated_timeout() {
    for (hold_ssthresh, second) in [(true, 5), (false, 2)] {
        let mut d = SenderDialogue::connected(with!(
            sender_config(Recovery::Reno, 10),
            recovery.hold_ssthresh = hold_ssthresh
        ));
        d.end.set_saturated(true);
        d.expect("#1-10");
        d.expect_at(1_100, "#1");
        assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
        d.expect_at(3_100, "#1");
        assert_eq!((d.cwnd(), d.ssthresh()), (1, second), "{hold_ssthresh}");
    }
}

/// ns-2: the back-off of a lost SYN lasts until a round-trip time is measured (`keep_syn_backoff`); RFC 6298
/// section 5.7 has 3 s.
#[test]
fn rfc6298_5_7_or_the_back_off_of_the_syn() {
    let config = with!(quick(Recovery::Reno, 10), timers.keep_syn_backoff = true);
    let mut d = SenderDialogue::closed(config);
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_000, "S @0");
    d.at(1_100);
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1");
    d.write_segments(1);
    d.expect("#1");
    // 1 s, doubled once, and again.
    d.expect_at(3_100, "#1");
    d.at(3_200);
    d.exchange("ack #2", "");
    d.write_segments(1);
    d.expect("#2");
    // Karn: no sample of what was sent twice, so the back-off stays.
    d.at(3_300);
    d.exchange("ack #3", "");
    d.write_segments(1);
    d.expect("#3");
    // 100 ms: 300 ms.
    d.expect_at(3_600, "#3");
}

/// RFC 6298 section 5 and ns-3: the timer runs on at a fast retransmit (`restart_on_retransmit` off); BSD,
/// Linux and ns-2 restart it.
#[test]
fn rfc6298_5_the_timer_at_a_fast_retransmit() {
    for (restart_on_retransmit, expiry) in [(true, 1_900), (false, 1_100)] {
        for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
            let mut d = SenderDialogue::connected(with!(
                sender_config(recovery, 10),
                timers.restart_on_retransmit = restart_on_retransmit,
                recovery.limited_transmit = false
            ));
            d.end.set_saturated(true);
            d.expect("#1-10");
            d.at(900);
            d.exchange("ack #1 sack #2; ack #1 sack #2-3", "");
            d.exchange("ack #1 sack #2-4", "#1");
            d.expect_at(expiry, "#1");
            assert_eq!(d.end.stats().timeouts, 1);
        }
    }
}

/// RFC 2018 section 8: the oldest segment is SACKed and yet not acknowledged when the timer expires: the
/// receiver has taken back what it said, and all is retransmitted, what was SACKed too.
#[test]
fn rfc2018_8_reneging() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::Sack, 4), recovery.limited_transmit = false));
    d.write_segments(4);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #1 sack #1", "");
    d.exchange("ack #1 sack #1-2", "");
    d.expect_at(1_100, "#1");
    d.at(1_200);
    d.exchange("ack #2", "#2-3");
    d.at(1_300);
    d.exchange("ack #4", "#4");
}

/// RFC 6582 section 3.2: a timeout ends the fast recovery, and the window that duplicate ACKs had inflated: slow
/// start begins with a segment.
#[test]
fn rfc6582_3_2_a_timeout_ends_the_inflation() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::NewReno, 10));
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    d.give("ack 1; ack 1; ack 1; ack 1; ack 1; ack 1; ack 1; ack 1");
    d.drained();
    d.expect_after_timeout("#1");
    d.exchange("ack #2", "#2-3");
    d.exchange("ack #3", "#4-5");
}
