//! The sender opens and closes.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// RFC 9293 section 3.5, RFC 2018 section 2, RFC 7323 sections 2.2 and 3.2: the SYN and what it offers.
#[test]
fn rfc9293_3_5_active_open() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 1));
    d.end.open(d.now());
    d.expect("S @0 mss 1000 sackOK ws 0 nots nocustom");
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1");
    assert!(d.events().contains(&TransportEvent::Connected));
    d.write_segments(1);
    d.expect("#1 ack 1");
}

/// RFC 2018 section 2, RFC 7323 section 1.3: nothing is offered that is not configured.
#[test]
fn rfc7323_1_3_options_are_a_choice() {
    let config = with!(
        sender_config(Recovery::Reno, 1),
        handshake.window_scaling = false,
        handshake.timestamps = true
    );
    let mut d = SenderDialogue::closed(config);
    d.end.open(d.now());
    d.expect("S @0 mss 1000 nosackOK nows ts 0/0");
}

/// RFC 6298 sections 2.1 and 5.5: the SYN is retransmitted after 1, 2, 4 s.
#[test]
fn rfc6298_2_1_syn_is_retransmitted_with_back_off() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_000, "S @0");
    d.expect_at(3_000, "S @0");
    d.expect_at(7_000, "S @0");
    d.at(7_100);
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1");
    assert_eq!(d.end.stats().syn_retransmits, 3);
}

/// RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
#[test]
fn rfc5681_3_1_lost_syn_means_one_segment() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.write_segments(20);
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_000, "S @0");
    d.at(1_100);
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1; #1");
}

/// RFC 6298 section 5.7: after a lost SYN the RTO for data is 3 s.
#[test]
fn rfc6298_5_7_lost_syn_means_3_s() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 10));
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_000, "S @0");
    d.at(1_100);
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1");
    d.write_segments(1);
    d.expect("#1");
    d.expect_at(4_100, "#1");
}

/// RFC 9293 section 3.7.1: the peer's MSS option bounds the segments; without one they have 536 bytes.
#[test]
fn rfc9293_3_7_1_mss() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 2));
    d.handshake("S. @0 ack 1 mss 500");
    d.write_segments(1);
    d.expect("1:501; 501:1001");
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 2));
    d.handshake("S. @0 ack 1");
    d.write_segments(1);
    d.expect("1:537; 537:1001");
}

/// RFC 9293 section 3.10.7.3: in SYN-SENT an ACK of something else is reset and changes nothing, a reset that
/// acknowledges the SYN ends it.
#[test]
fn rfc9293_3_10_7_3_syn_sent() {
    let mut d = SenderDialogue::closed(sender_config(Recovery::Sack, 2));
    d.end.open(d.now());
    d.expect("S @0");
    d.exchange("S. @0 ack 7", "R @7");
    d.exchange("@0 ack 0", "R @0");
    d.send("R. @0 ack 7; R @0");
    assert!(!d.events().contains(&TransportEvent::Connected));
    d.send("R. @0 ack 1");
    assert!(d.end.is_closed() && d.events().contains(&TransportEvent::Aborted));
}

/// RFC 9293 section 3.6: data, FIN, the peer's FIN, TIME-WAIT of two MSL.
#[test]
fn rfc9293_3_6_active_close() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 10));
    d.write_segments(2);
    d.end.close();
    d.expect("#1; F. #2");
    d.at(200);
    d.exchange("@1 ack 2002", "");
    d.exchange("F. @1 ack 2002", "@2002 ack 2");
    assert!(d.events().contains(&TransportEvent::Finished));
    assert!(!d.end.is_closed());
    // The peer did not get the ACK.
    d.at(1_200);
    d.exchange("F. @1 ack 2002", "@2002 ack 2");
    d.at(241_199);
    assert!(!d.end.is_closed());
    d.at(241_200);
    assert!(d.end.is_closed());
}

/// RFC 9293 section 3.6: closing an idle connection sends the FIN at once.
#[test]
fn rfc9293_3_6_fin_after_idle() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 10));
    d.write_segments(1);
    d.expect("#1");
    d.at(200);
    d.exchange("ack #2", "");
    d.end.close();
    d.expect("F. @#2");
    d.at(300);
    d.exchange("F. @1 ack 1002", "@1002 ack 2");
}

/// RFC 6298 section 5: the FIN is covered by the retransmission timer.
#[test]
fn rfc6298_5_lost_fin() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 10));
    d.end.close();
    d.expect("F. @1");
    d.expect_at(1_100, "F. @1");
    d.expect_at(3_100, "F. @1");
    d.at(3_200);
    d.exchange("F. @1 ack 2", "@2 ack 2");
}

/// RFC 9293 section 3.10.7.4: a reset at RCV.NXT aborts.
#[test]
fn rfc9293_3_10_7_4_reset() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.write_segments(5);
    d.expect("#1");
    d.send("R @1");
    assert!(d.end.is_closed() && d.events().contains(&TransportEvent::Aborted));
    d.at(100_000);
}

/// RFC 9293 section 3.10.7.4, first, second and fourth; RFC 5961: what lies outside of the window is answered
/// by an ACK, a reset inside of it and any SYN are challenged, before and after the FIN.
#[test]
fn rfc9293_3_10_7_4_sequence_numbers() {
    for closes in [false, true] {
        let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
        if closes {
            d.end.close();
            d.expect("F. @1 ack 1");
        }
        let answer = if closes { "@2 ack 1" } else { "@1 ack 1" };
        for text in ["@90000 ack 1", "#900 ack 1", "R @500", "S @500", "S @90000", "S. @0 ack 1"] {
            d.exchange(text, answer);
        }
        d.exchange("R @90000", "");
        assert!(!d.end.is_closed());
    }
}

/// RFC 5961 section 5.2: an ACK further below SND.UNA than the window ever was is challenged, and reports no
/// SACK; a later one is an old duplicate.
#[test]
fn rfc5961_5_2_too_old_an_ack() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.write_segments(2);
    d.expect("#1");
    d.exchange("ack #2", "#2");
    d.exchange("@1 ack 0", "@2001 ack 1");
    d.exchange("@1 ack 1", "");
    assert_eq!(d.end.stats().acks_received, 2);
}

/// RFC 9293 section 3.10.7.4 in TIME-WAIT: checks as elsewhere; the exact reset ends it without an abort.
#[test]
fn rfc9293_3_10_7_4_time_wait() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.end.close();
    d.expect("F. @1 ack 1");
    d.exchange("F. @1 ack 2", "@2 ack 2");
    for text in ["@90000 ack 2", "R @500", "S @90000", "F. @1 ack 2"] {
        d.exchange(text, "@2 ack 2");
    }
    d.exchange("R @90000", "");
    d.exchange("@2 ack 2", "");
    assert!(!d.end.is_closed());
    d.exchange("R @2", "");
    let events = d.events();
    assert!(d.end.is_closed() && events.contains(&TransportEvent::Closed));
    assert!(!events.contains(&TransportEvent::Aborted));
    d.at(300_000);
}

/// RFC 9293 section 3.10.7.4: the SYN-ACK again is answered by an ACK.
#[test]
fn rfc9293_3_10_7_4_repeated_syn_ack() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.exchange("S. @0 ack 1 mss 1460", "@1 ack 1");
}

/// RFC 9293 section 3.10.7.4, fifth: an ACK of data never sent is answered and changes nothing.
#[test]
fn rfc9293_3_10_7_4_ack_of_unsent_data() {
    let mut d = SenderDialogue::connected(sender_config(Recovery::Sack, 1));
    d.write_segments(5);
    d.expect("#1");
    d.exchange("ack #4", "@#2 ack 1");
    d.exchange("ack #2", "#2-3");
}

/// RFC 9293 section 3.4: numbers wrap at 2^32; lost segments, SACK and FIN across the wrap.
#[test]
fn rfc9293_3_4_sequence_numbers_wrap() {
    for isn in [u32::MAX, u32::MAX - 4_500, u32::MAX - 10_000] {
        for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
            let config = with!(sender_config(recovery, 10), handshake.initial_sequence = SeqNumber::new(isn));
            let receiver = with!(receiver_config(), handshake.initial_sequence = SeqNumber::new(u32::MAX));
            let mut pipe = Pipe::new(config, receiver).drop_first(&[3, 5]).transfer(30);
            pipe.run_to_delivery(30);
            pipe.run_until(1_000_000);
            assert!(pipe.sender.is_closed(), "{recovery:?} {isn}");
            assert_eq!(pipe.receiver.state(), ReceiverState::Closed, "{recovery:?} {isn}");
        }
    }
}

/// RFC 9293 section 3.6 over a path that loses the FIN, then its ACK.
#[test]
fn rfc9293_3_6_close_survives_losses() {
    // The FIN stands on the last segment; ACK 4 is the receiver's FIN.
    let mut pipe = Pipe::new(sender_config(Recovery::Sack, 10), receiver_config())
        .drop(&[(3, 1), (3, 2)])
        .drop_acks([3, 4])
        .transfer(3);
    pipe.run_until(1_000_000);
    assert_eq!(pipe.receiver.delivered(), 3000);
    assert!(pipe.sender.is_closed());
    assert_eq!(pipe.receiver.state(), ReceiverState::Closed);
}

/// RFC 9293 section 3.10.7.4: a FIN beyond what has arrived is acknowledged and does not end the other
/// direction.
#[test]
fn rfc9293_3_10_7_4_a_fin_out_of_order() {
    let mut d =
        SenderDialogue::connected(with!(sender_config(Recovery::Sack, 2), timers.time_wait = ms(1_000)));
    d.end.close();
    d.expect("F. @1 ack 1");
    d.at(200);
    d.exchange("ack 2", "");
    d.exchange("F. @9 ack 2", "ack 1");
    d.at(2_000);
    assert!(!d.end.is_closed());
    d.exchange("F. @1 ack 2", "ack 2");
    d.at(3_000);
    assert!(d.end.is_closed());
}
