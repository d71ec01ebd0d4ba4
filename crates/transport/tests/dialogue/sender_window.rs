//! Growth of the window, its bounds, the peer's window.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// RFC 5681 section 3.1: one segment, then one more per acknowledged segment.
#[test]
fn rfc5681_3_1_slow_start_from_one() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.end.set_saturated(true);
    d.expect("#1");
    d.at(200);
    d.exchange("ack #2", "#2-3");
    d.at(300);
    d.exchange("ack #3", "#4-5");
    d.exchange("ack #4", "#6-7");
    assert_eq!(d.cwnd(), 4);
}

/// RFC 5681 section 3.1: an initial window of two segments.
#[test]
fn rfc5681_3_1_initial_window_two() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.end.set_saturated(true);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #2", "#3-4");
    d.exchange("ack #3", "#5-6");
}

/// RFC 9293 section 3.10.7.4, fifth: a segment without the ACK bit is dropped, whatever its field says.
#[test]
fn rfc9293_3_10_7_4_a_segment_without_ack_acknowledges_nothing() {
    let config = sender_config(Recovery::Sack, 2);
    let own = config.handshake.initial_sequence;
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-2");
    d.at(200);
    let field =
        |flags| Segment::new(SeqNumber::new(700_001), SeqNumber::from_offset(own, 1001), 0, u16::MAX, flags);
    for flags in [Flags::NONE, Flags::PSH, Flags::ECE] {
        d.end.handle_segment(d.now(), &field(flags));
        d.expect_nothing();
        assert_eq!(d.cwnd(), 2);
    }
    d.end.handle_segment(d.now(), &field(Flags::ACK));
    d.expect("#3-4");
}

/// RFC 6928 section 2: min(10 MSS, max(2 MSS, 14600)).
#[test]
fn rfc6928_2_initial_window() {
    for (mss, bytes) in [(536, 5_360), (1000, 10_000), (1460, 14_600), (2_000, 14_600), (9_000, 18_000)] {
        assert_eq!(InitialWindow::Rfc6928.bytes(mss), bytes);
    }
    let config = SenderConfig { initial_window: InitialWindow::Rfc6928, ..sender_config(Recovery::Sack, 1) };
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-10");
}

/// RFC 5681 equation (2): an ACK of two segments adds one SMSS only.
#[test]
fn rfc5681_3_1_slow_start_adds_at_most_smss_per_ack() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 4));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #3", "#5-7");
    d.exchange("ack #5", "#8-10");
    assert_eq!(d.cwnd(), 6);
}

/// RFC 5681 equation (2): an ACK of half a segment adds half a segment, so that dividing ACKs gains nothing.
#[test]
fn rfc5681_3_1_ack_division_gains_nothing() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(2);
    d.expect("#1-2");
    d.at(200);
    for k in 1..=10 {
        d.exchange(&format!("ack {}", 1 + k * 100), "");
    }
    assert_eq!(d.end.state().cwnd, 3000);
}

/// RFC 5681 section 3.1: from ssthresh on, one SMSS per window acknowledged.
#[test]
fn rfc5681_3_1_congestion_avoidance() {
    let config = SenderConfig { initial_ssthresh: 4_000, ..sender_config(Recovery::Sack, 4) };
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #2", "#5");
    d.exchange("ack #3", "#6");
    d.exchange("ack #4", "#7");
    d.exchange("ack #5", "#8-9");
    assert_eq!(d.cwnd(), 5);
    d.at(300);
    for k in 6..=9 {
        d.exchange(&format!("ack #{k}"), &format!("#{}", k + 4));
    }
    d.exchange("ack #10", "#14-15");
    assert_eq!(d.cwnd(), 6);
}

/// RFC 5681 section 3.1 (counting bytes): in congestion avoidance the growth does not depend on delayed ACKs.
#[test]
fn rfc5681_3_1_congestion_avoidance_counts_bytes() {
    let config = SenderConfig { initial_ssthresh: 4_000, ..sender_config(Recovery::Sack, 4) };
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #3", "#5-6");
    d.exchange("ack #5", "#7-9");
    assert_eq!(d.cwnd(), 5);
}

/// RFC 5681 section 3.1: slow start hands over at ssthresh: 2, 3, 4 by ACKs, then one per window.
#[test]
fn rfc5681_3_1_slow_start_ends_at_ssthresh() {
    let config = SenderConfig { initial_ssthresh: 4_000, ..sender_config(Recovery::Sack, 2) };
    let mut pipe = Pipe::new(config, receiver_config()).transfer(200);
    // Rounds of 100 ms from 100 ms on: windows of 2, 4, 5, 6.
    pipe.run_until(199);
    assert_eq!((pipe.cwnd(), pipe.log.len()), (2, 2));
    pipe.run_until(299);
    assert_eq!((pipe.cwnd(), pipe.log.len()), (4, 6));
    pipe.run_until(399);
    assert_eq!((pipe.cwnd(), pipe.log.len()), (5, 11));
    pipe.run_until(499);
    assert_eq!((pipe.cwnd(), pipe.log.len()), (6, 17));
}

/// RFC 5681 section 3.1 with a receiver that acknowledges every segment: the window doubles every round trip.
#[test]
fn rfc5681_4_2_slow_start_without_delayed_acks_doubles() {
    let mut pipe = Pipe::new(sender_config(Recovery::Sack, 2), receiver_config()).transfer(500);
    for (round, window) in [2, 4, 8, 16, 32].into_iter().enumerate() {
        pipe.run_until(199 + 100 * round as u64);
        assert_eq!(pipe.cwnd(), window);
    }
}

/// RFC 5681 section 4.2 with delayed ACKs: the window grows by a half every round trip: 4, 6, 9.
#[test]
fn rfc5681_4_2_slow_start_with_delayed_acks_grows_by_half() {
    let receiver = ReceiverConfig { delayed_ack: DelayedAck::On { timeout: ms(200) }, ..receiver_config() };
    let mut pipe = Pipe::new(sender_config(Recovery::Sack, 4), receiver).transfer(500);
    for (round, window) in [4, 6, 9].into_iter().enumerate() {
        pipe.run_until(199 + 100 * round as u64);
        assert_eq!(pipe.cwnd(), window);
    }
}

/// ns-2's `window_`: the user's cap on the window.
#[test]
fn cap_on_the_window() {
    let config = SenderConfig { max_window: Some(3_000), ..sender_config(Recovery::Sack, 10) };
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-3");
    d.at(200);
    d.exchange("ack #2", "#4");
    d.exchange("ack #4", "#5-6");
    d.at(300);
    d.exchange("ack #7", "#7-9");
}

/// RFC 9293 section 3.8.6: the peer's window bounds the flight.
#[test]
fn rfc9293_3_8_6_peer_window_bounds_the_flight() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 4));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #3 win 3000", "#5");
    d.exchange("ack #4 win 3000", "#6");
    d.exchange("ack #4 win 5000", "#7-8");
}

/// RFC 7323 section 2.3: after the handshake the window field is shifted, in the SYN-ACK it is not.
#[test]
fn rfc7323_2_3_window_scale() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.handshake("S. @0 ack 1 mss 1460 ws 3 win 2000");
    d.end.set_saturated(true);
    d.expect("#1-2");
    d.at(200);
    // 500 << 3 = 4000.
    d.exchange("ack #3 win 500", "#3-6");
}

/// RFC 7323 section 2.3: a shift above 14 counts as 14: a field of 1 is 16 segments of 1000 bytes and a bit.
#[test]
fn rfc7323_2_3_the_greatest_shift() {
    for (shift, last) in [(13, 8), (14, 16), (15, 16), (255, 16)] {
        let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 30));
        d.handshake(&format!("S. @0 ack 1 mss 1460 ws {shift} win 0"));
        d.end.set_saturated(true);
        d.exchange("ack 1 win 1", &format!("#1-{last}"));
    }
}

/// RFC 7323 section 2.2: a scale that was not offered is not used.
#[test]
fn rfc7323_2_2_window_scale_needs_both() {
    let config = with!(sender_config(Recovery::Sack, 10), handshake.window_scaling = false);
    let mut d = SenderDialogue::closed(config);
    d.handshake("S. @0 ack 1 mss 1460 ws 3 win 2000");
    d.end.set_saturated(true);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 2000", "#3-4");
}

/// RFC 9293 section 3.10.7.4: an old segment does not change the window (SND.WL1, SND.WL2).
#[test]
fn rfc9293_3_10_7_4_old_acks_do_not_shrink_the_window() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 4));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #4 win 6000", "#5-8");
    d.exchange("ack #2 win 0", "");
    d.exchange("ack #5 win 6000", "#9-10");
}

/// RFC 9293 section 3.8.6.1: the zero window is probed after one RTO, then with back-off; the window opens.
#[test]
fn rfc9293_3_8_6_1_persist() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(10);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 0", "");
    assert!(d.events().contains(&TransportEvent::ZeroWindow));
    d.expect_at(1_200, "2001:2002");
    d.exchange("ack #3 win 0", "");
    d.expect_at(3_200, "2001:2002");
    d.exchange("ack #3 win 0", "");
    d.expect_at(7_200, "2001:2002");
    d.at(7_300);
    // The probe's byte again, and what cwnd allows: it is 3 segments since the first ACK.
    d.exchange("ack #3 win 20000", "2001:3001; 3001:4001; 4001:5001");
    assert!(d.events().contains(&TransportEvent::WindowOpened));
    assert_eq!((d.end.stats().window_probes, d.end.stats().timeouts), (3, 0));
}

/// RFC 9293 section 3.8.6.1: the back-off of a closed window says nothing about the next one.
#[test]
fn rfc9293_3_8_6_1_each_closed_window_has_its_own_back_off() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(10);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 0", "");
    d.expect_at(1_200, "2001:2002");
    d.exchange("ack #3 win 0", "");
    d.expect_at(3_200, "2001:2002");
    d.at(3_300);
    d.exchange("ack #3 win 20000", "2001:3001; 3001:4001; 4001:5001");
    d.at(3_400);
    d.exchange("ack #6 win 0", "");
    d.expect_at(4_400, "5001:5002");
    d.exchange("ack #6 win 0", "");
    d.expect_at(6_400, "5001:5002");
}

/// RFC 9293 section 3.8.6.1: probing goes on for as long as the peer answers, at max_rto intervals, and cwnd
/// stays.
#[test]
fn rfc9293_3_8_6_1_persist_never_gives_up() {
    let config = with!(sender_config(Recovery::Sack, 2), timers.max_rto = ms(4_000));
    let mut d = SenderDialogue::connected(config);
    d.write_segments(10);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 0", "");
    for time in [1_200, 3_200, 7_200, 11_200, 15_200, 19_200, 23_200, 27_200, 31_200, 35_200, 39_200, 43_200]
    {
        d.expect_at(time, "2001:2002");
        d.exchange("ack #3 win 0", "");
    }
    assert_eq!((d.cwnd(), d.ssthresh() > 1_000), (3, true));
    d.exchange("ack #3 win 20000", "2001:3001; 3001:4001; 4001:5001");
}

/// RFC 9293 section 3.8.6.1: a probe that is accepted counts as data; the rest of its segment follows.
#[test]
fn rfc9293_3_8_6_1_probe_is_accepted() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(3);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 0", "");
    d.expect_at(1_200, "2001:2002");
    d.exchange("ack 2002 win 20000", "2002:3001");
    d.at(1_300);
    d.exchange("ack 3001", "");
    d.at(100_000);
}

/// RFC 9293 section 3.8.6.1: the window opens, and the probe's byte is taken back; then an older ACK of the byte
/// comes after all.
#[test]
fn rfc9293_3_8_6_1_a_probe_is_acknowledged_after_the_window_opened() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(5);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #3 win 0", "");
    d.expect_at(1_200, "2001:2002");
    d.give("ack #3 win 20000; ack 2002 win 20000");
    d.expect("2002:3002; 3002:4002; 4002:5001");
    d.at(1_300);
    d.exchange("ack 5001", "");
    assert_eq!((d.end.stats().bytes_acked, d.end.state().in_flight), (5000, 0));
    // What was never sent is not acknowledged.
    d.exchange("ack 5002", "ack 1");
}

/// RFC 9293 section 3.8.6.1: a window that closes over data in flight stops the retransmission timer; when it
/// reopens, be it only over that data, what was lost is retransmitted.
#[test]
fn rfc9293_3_8_6_1_window_closes_and_reopens_over_lost_data() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(10);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #1 win 0", "");
    // No timeout at 1100: a probe, of the oldest byte.
    d.expect_at(1_200, "1:2");
    assert_eq!((d.cwnd(), d.end.stats().timeouts), (2, 0));
    d.at(1_300);
    d.exchange("ack #1 win 2000", "");
    d.expect_at(2_300, "#1");
    d.at(2_400);
    d.exchange("ack #3 win 20000", "#3-4");
}

/// RFC 9293 section 3.8.6.2.1: a window of less than a segment is not filled with a small one while data is
/// out.
#[test]
fn rfc9293_3_8_6_2_1_sender_avoids_silly_segments() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 4));
    d.end.set_saturated(true);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #3 win 2300", "");
    d.exchange("ack #5 win 2300", "#5-6");
}

/// RFC 9293 section 3.8.6 at both ends: a reader that stops and starts again.
#[test]
fn rfc9293_3_8_6_slow_reader() {
    let receiver = ReceiverConfig { manual_read: true, buffer: 5_000, ..receiver_config() };
    let mut pipe = Pipe::new(sender_config(Recovery::Sack, 10), receiver).transfer(12);
    pipe.run_until(1_000);
    assert_eq!((pipe.receiver.readable(), pipe.log.len()), (5_000, 5));
    pipe.run_until(20_000);
    assert!(pipe.sender.stats().window_probes >= 3);
    // The window update reaches the sender after half an RTT, the data the receiver after another half.
    pipe.read(5_000);
    pipe.run_until(20_100);
    assert!((4_000..=5_000).contains(&pipe.receiver.readable()), "{}", pipe.receiver.readable());
    for step in 2..6 {
        pipe.read(5_000);
        pipe.run_until(20_000 + step * 500);
    }
    assert_eq!(pipe.receiver.delivered(), 12_000);
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

/// RFC 5681 section 4.1: idle for more than an RTO, the window restarts at min(IW, cwnd).
#[test]
fn rfc5681_4_1_restart_after_idle() {
    for (restart, sent) in [(true, "#7-8"), (false, "#7-12")] {
        let config = SenderConfig { restart_after_idle: restart, ..sender_config(Recovery::Sack, 2) };
        let mut d = SenderDialogue::connected(config);
        d.write_segments(6);
        d.expect("#1-2");
        d.at(200);
        d.exchange("ack #2", "#3-4");
        d.exchange("ack #3", "#5-6");
        d.at(300);
        // cwnd is 4 and limited the flight; two more ACKs make it 6.
        d.exchange("ack #4", "");
        d.exchange("ack #7", "");
        assert_eq!(d.cwnd(), 6);
        d.at(1_301);
        d.write_segments(20);
        d.expect(sent);
    }
}

/// RFC 5681 section 4.1: a pause shorter than an RTO changes nothing.
#[test]
fn rfc5681_4_1_short_pause_is_not_idle() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 2));
    d.write_segments(2);
    d.expect("#1-2");
    d.at(200);
    d.exchange("ack #2; ack #3", "");
    let cwnd = d.cwnd();
    d.at(1_100);
    d.write_segments(20);
    d.expect(&format!("#3-{}", 2 + cwnd));
}

/// RFC 7661 section 4.1: a window that the application does not fill does not grow.
#[test]
fn rfc7661_4_application_limited_window_does_not_grow() {
    for (validation, window) in [(true, 10), (false, 14)] {
        let config = SenderConfig { window_validation: validation, ..sender_config(Recovery::Sack, 10) };
        let mut d = SenderDialogue::connected(config);
        for k in 1..=4 {
            d.write_segments(1);
            d.expect(&format!("#{k}"));
            d.at(100 + 100 * k);
            d.exchange(&format!("ack #{}", k + 1), "");
        }
        assert_eq!(d.cwnd(), window);
    }
}

/// RFC 9293 section 3.7.4 is off: a last segment under MSS goes at once (the Nagle algorithm is not
/// modelled).
#[test]
fn rfc9293_3_7_4_small_last_segment() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 10));
    d.end.write(2_500);
    d.expect("#1-2; 2001:2501");
}

/// A control that paces at its rate, and does nothing else.
#[derive(Debug)]
struct Paced(&'static str);

impl CongestionControl for Paced {
    fn name(&self) -> &str {
        "paced"
    }
    fn init(&mut self, _now: cogtcp_units::Time, tcp: &mut TcpState) {
        tcp.pacing_rate = Some(self.0.parse().expect("a rate"));
    }
    fn ssthresh(&mut self, _now: cogtcp_units::Time, tcp: &TcpState) -> u64 {
        tcp.cwnd / 2
    }
    fn cong_avoid(&mut self, _now: cogtcp_units::Time, _tcp: &mut TcpState, _ack: &AckSample) {}
}

/// Pacing: with a rate set by the control, segments leave one by one at that rate: 1000 payload bytes in 10
/// ms.
#[test]
fn pacing_spaces_the_segments() {
    let mut d = SenderDialogue::with_control(sender_config(Recovery::Sack, 4), Box::new(Paced("800 kbit/s")));
    d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
    d.end.set_saturated(true);
    d.expect("#1");
    for k in 2..=4 {
        d.expect_at(90 + 10 * k, &format!("#{k}"));
    }
    d.at(200);
    d.exchange("ack #5", "#5");
    d.expect_at(210, "#6");
}

/// A paced sender is limited by cwnd where Linux's is: what it has handed to the pacer counts as in flight, two
/// packets at least, or what leaves in 1/1024 s. At 8 Mbit/s, 976 bytes, these are two segments of 1000 bytes:
/// with 8 of 10 in flight no third has room. At 80 Mbit/s they are 9765 bytes. What is not written does not
/// wait.
#[test]
fn what_waits_for_the_pacer_counts_towards_cwnd() {
    for (rate, flight, written, limited) in [
        ("8 Mbit/s", 7, None, false),
        ("8 Mbit/s", 8, None, true),
        ("8 Mbit/s", 8, Some(9), false),
        ("8 Mbit/s", 8, Some(10), true),
        ("80 Mbit/s", 1, None, true),
        ("80 Mbit/s", 1, Some(9), false),
        ("80 Mbit/s", 1, Some(10), true),
    ] {
        let config = SenderConfig { initial_ssthresh: 2_000, ..sender_config(Recovery::Sack, 10) };
        let mut d = SenderDialogue::with_control(config, Box::new(Paced(rate)));
        d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
        match written {
            Some(segments) => d.write_segments(segments),
            None => d.end.set_saturated(true),
        }
        d.expect("#1");
        for k in 2..=flight {
            d.expect_at(99 + k, &format!("#{k}"));
        }
        d.give("ack #2");
        assert_eq!(d.end.state().cwnd_limited, limited, "{rate}, {flight} in flight, {written:?} written");
    }
}

/// Segmentation offload: the second segment of a packet is not paced. What is retransmitted is a packet of
/// its own: it waits for the pacer, also where only the first segment of a packet has left.
#[test]
fn a_retransmission_within_a_packet_is_paced() {
    let play = |loss: bool| {
        let config = SenderConfig { segmentation_offload: true, ..sender_config(Recovery::Sack, 10) };
        // A segment takes a millisecond.
        let mut d = SenderDialogue::with_control(config, Box::new(Paced("8 Mbit/s")));
        d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
        d.end.set_saturated(true);
        // Linux paces from the tenth segment on.
        d.expect("#1-10");
        d.at(200);
        d.give("ack #3");
        assert!(d.poll_once(), "#11 leaves, and #12 of the same packet may");
        if loss {
            d.give("ack #3 sack #4; ack #3 sack #4-5; ack #3 sack #4-6");
        }
        (d.poll_once(), d.end.awaits_pacer())
    };
    assert_eq!(play(false), (true, false));
    assert_eq!(play(true), (false, true));
}

/// Whether the peer's window, or the cap, is what limits: it is if it leaves less than a segment beyond cwnd.
#[test]
fn what_limits_the_window() {
    for (cap, win, limits) in [(None, 10_999, true), (None, 11_000, false), (Some(10_999), 60_000, true)] {
        let mut config = sender_config(Recovery::Sack, 10);
        config.max_window = cap;
        let mut d = SenderDialogue::closed(config);
        d.handshake(&format!("S. @0 ack 1 mss 1460 win {win}"));
        assert_eq!(d.end.is_window_limited_by_peer(), limits, "{cap:?} {win}");
    }
}
