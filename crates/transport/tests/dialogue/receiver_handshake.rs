//! The receiver opens and closes.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

/// RFC 9293 section 3.5: LISTEN, SYN-RECEIVED, ESTABLISHED.
#[test]
fn rfc9293_3_5_passive_open() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    assert_eq!(d.end.state(), ReceiverState::Listen);
    d.exchange("S @0 mss 1460", "S. @0 ack 1 mss 1000 nosackOK nows nots nocustom");
    assert_eq!(d.end.state(), ReceiverState::SynReceived);
    d.exchange("@1 ack 1", "");
    assert_eq!(d.end.state(), ReceiverState::Established);
    assert_eq!(d.end.poll_event(), Some(TransportEvent::Connected));
}

/// RFC 9293 section 3.10.7.2: a listener ignores a reset, SYN or not, answers an ACK by <SEQ=SEG.ACK><CTL=RST>,
/// SYN or not, and drops what has neither. Only a SYN opens.
#[test]
fn rfc9293_3_10_7_2_what_a_listener_answers() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    for ignored in ["R @1", "R. @1 ack 1", "SR @0", "SR. @0 ack 1", "F @1"] {
        d.exchange(ignored, "");
    }
    for (heard, reset) in
        [("#1 ack 1", "R @1"), ("S. @0 ack 1", "R @1"), ("F. @1 ack 1", "R @1"), ("@1 ack 777", "R @777")]
    {
        d.exchange(heard, reset);
    }
    assert_eq!(d.end.state(), ReceiverState::Listen);
    d.exchange("S @0", "S. @0 ack 1");
}

/// RFC 9293 section 3.10.7.4, second: after a reset in SYN-RECEIVED a passive open is back in LISTEN; what was
/// counted stays. A reset elsewhere in the window is challenged (RFC 5961 section 3.2), outside ignored.
#[test]
fn rfc9293_3_10_7_4_reset_in_syn_received_returns_to_listen() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.end.set_syn_ack_option(Some(4));
    d.exchange("S @0", "S. @0 ack 1 custom 4");
    d.exchange("R @500", "ack 1");
    d.exchange("R @90000", "");
    assert_eq!(d.end.state(), ReceiverState::SynReceived);
    d.exchange("R @1", "");
    assert_eq!((d.end.state(), d.end.poll_event()), (ReceiverState::Listen, None));
    assert_eq!((d.end.poll_timeout(), d.end.stats().segments), (cogtcp_units::Time::MAX, 4));
    d.exchange("S @70", "S. @0 ack 71 custom 4");
}

/// RFC 9293 section 3.10.7.4, fourth: another SYN in the window ends a passive open, too.
#[test]
fn rfc9293_3_10_7_4_another_syn_in_syn_received_returns_to_listen() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    d.exchange("S @500", "");
    assert_eq!(d.end.state(), ReceiverState::Listen);
    d.exchange("S @500", "S. @0 ack 501");
}

/// RFC 7323 section 1.3, RFC 2018 section 2: an option is in use only when both ends have it.
#[test]
fn rfc7323_1_3_options_need_both_ends() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0 mss 1460 sackOK ws 3 ts 77/0", "S. @0 ack 1 sackOK ws 0 ts 0/77");
    let refuses = with!(
        receiver_config(),
        sack = false,
        handshake.timestamps = false,
        handshake.window_scaling = false
    );
    let mut d = ReceiverDialogue::listening(refuses);
    d.exchange("S @0 mss 1460 sackOK ws 3 ts 77/0", "S. @0 ack 1 nosackOK nows nots");
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0 mss 1460", "S. @0 ack 1 nosackOK nows nots");
}

/// RFC 6298 sections 2.1 and 5.5: the SYN-ACK is retransmitted after 1, 2, 4, ... s.
#[test]
fn rfc6298_5_5_syn_ack_is_retransmitted_with_back_off() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    d.expect_at(1_000, "S. @0 ack 1");
    d.expect_at(3_000, "S. @0 ack 1");
    d.expect_at(7_000, "S. @0 ack 1");
    d.at(14_999);
    d.exchange("@1 ack 1", "");
    d.at(100_000);
}

/// RFC 9293 sections 3.8.3 and 3.10.8: after more than three minutes without an answer the passive open is
/// back in LISTEN.
#[test]
fn rfc9293_3_8_3_unanswered_syn_ack_returns_to_listen() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    for time in [1, 3, 7, 15, 31, 63, 123, 183] {
        d.expect_at(time * 1_000, "S. @0 ack 1");
    }
    d.at(242_999);
    assert_eq!(d.end.state(), ReceiverState::SynReceived);
    d.at(243_000);
    assert_eq!(d.end.state(), ReceiverState::Listen);
    d.exchange("S @0", "S. @0 ack 1");
}

/// RFC 9293 section 3.10.7.4: the SYN again means that the SYN-ACK was lost.
#[test]
fn rfc9293_3_10_7_4_repeated_syn_gets_the_syn_ack_again() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    d.at(500);
    d.exchange("S @0", "S. @0 ack 1");
    d.exchange("@1 ack 1", "");
    assert_eq!(d.end.state(), ReceiverState::Established);
}

/// RFC 5961 section 4.2: a SYN in ESTABLISHED gets a challenge ACK and changes nothing.
#[test]
fn rfc5961_4_2_syn_after_the_handshake_is_challenged() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("S @0", "@1 ack 1");
    d.exchange("S @500", "@1 ack 1");
    d.exchange("#1", "ack #2");
}

/// RFC 5961 section 5.2: an ACK below the SYN is challenged, and its data is dropped.
#[test]
fn rfc5961_5_2_an_ack_below_the_syn() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1 ack 0", "@1 ack 1");
    d.exchange("#1 ack 1", "ack #2");
}

/// RFC 9293 section 3.4: data whose ACK field covers the SYN-ACK completes the handshake; the third ACK may
/// be lost.
#[test]
fn rfc9293_3_4_data_completes_the_handshake() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    d.exchange("#1 ack 1", "ack #2");
    assert_eq!((d.end.state(), d.end.delivered()), (ReceiverState::Established, 1000));
}

/// RFC 9293 section 3.10.7.4, fifth: in SYN-RECEIVED an ACK of something else is not the third ACK, and is
/// answered by <SEQ=SEG.ACK><CTL=RST>.
#[test]
fn rfc9293_3_10_7_4_wrong_ack_does_not_complete_the_handshake() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.exchange("S @0", "S. @0 ack 1");
    d.exchange("@1 ack 0", "R @0");
    d.exchange("@1 ack 9", "R @9");
    assert_eq!(d.end.state(), ReceiverState::SynReceived);
    d.exchange("@1 ack 1", "");
    assert_eq!(d.end.state(), ReceiverState::Established);
}

/// RFC 6994 section 2: the experimental option, both ways; the SYN-ACK's value may depend on the SYN's.
#[test]
fn rfc6994_2_custom_option_on_the_syn_ack() {
    let mut d = ReceiverDialogue::listening(receiver_config());
    d.end.set_syn_ack_option(Some(4));
    d.exchange("S @0 custom 31", "S. @0 ack 1 custom 4");
    assert_eq!(d.end.syn_option(), Some(31));
    d.exchange("@1 ack 1", "");
    d.exchange("#1", "ack #2 nocustom");
}

/// RFC 9293 section 3.6: FIN, then the receiver's own FIN with the ACK, LAST-ACK, CLOSED.
#[test]
fn rfc9293_3_6_passive_close() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1", "ack #2");
    d.exchange("F. @#2", "F. @1 ack 1002");
    assert_eq!(d.end.state(), ReceiverState::LastAck);
    d.exchange("@1002 ack 2", "");
    assert_eq!(d.end.state(), ReceiverState::Closed);
    let events: Vec<_> = std::iter::from_fn(|| d.end.poll_event()).collect();
    assert_eq!(events, [TransportEvent::Connected, TransportEvent::Finished, TransportEvent::Closed]);
    assert_eq!(d.end.delivered(), 1000);
    d.at(1_000_000);
}

/// RFC 9293 section 3.10.7.4, eighth: a FIN ahead of missing data waits for it.
#[test]
fn rfc9293_3_10_7_4_fin_out_of_order() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("F. #2", "ack #1 sack 1001:2002");
    assert_eq!(d.end.state(), ReceiverState::Established);
    d.exchange("#1", "F. @1 ack 2002");
    assert_eq!((d.end.state(), d.end.delivered()), (ReceiverState::LastAck, 2000));
}

/// RFC 6298 section 5.5: the receiver's FIN is retransmitted until it is acknowledged.
#[test]
fn rfc6298_5_5_fin_is_retransmitted() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("F. #1", "F. @1 ack 1002");
    d.expect_at(1_000, "F. @1 ack 1002");
    d.expect_at(3_000, "F. @1 ack 1002");
    d.at(5_000);
    d.exchange("@1002 ack 2", "");
    assert_eq!(d.end.state(), ReceiverState::Closed);
    d.at(1_000_000);
}

/// RFC 9293 section 3.10.7.4: a FIN that comes again is acknowledged again.
#[test]
fn rfc9293_3_10_7_4_repeated_fin_is_acknowledged_again() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("F. @1", "F. @1 ack 2");
    d.exchange("F. @1 ack 1", "@2 ack 2 sack 1:2");
}

/// The same of a FIN that waits for missing data: it is reported as a duplicate (RFC 2883), at once.
#[test]
fn a_repeated_fin_out_of_order_is_acknowledged_at_once() {
    let config = ReceiverConfig { delayed_ack: ReceiverConfig::default().delayed_ack, ..receiver_config() };
    let mut d = ReceiverDialogue::connected(config);
    d.exchange("F. @#2", "ack #1 sack 1001:1002");
    d.exchange("F. @#2", "ack #1 sack 1001:1002 1001:1002");
}

/// RFC 9293 section 3.6: with manual reading the FIN is acknowledged at once, and answered by a FIN when the
/// application has read everything.
#[test]
fn rfc9293_3_6_close_wait_until_everything_is_read() {
    let mut d = ReceiverDialogue::connected(ReceiverConfig { manual_read: true, ..receiver_config() });
    d.exchange("F. #1", "@1 ack 1002 win 62999");
    assert_eq!(d.end.state(), ReceiverState::CloseWait);
    assert_eq!(d.end.read(d.now(), 600), 600);
    d.expect_nothing();
    assert_eq!(d.end.read(d.now(), 600), 400);
    d.expect("F. @1 ack 1002");
}

/// RFC 5961 section 3.2: a reset counts only at exactly RCV.NXT; elsewhere in the window it is challenged,
/// outside ignored.
#[test]
fn rfc5961_3_2_reset() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("R @5000", "ack 1");
    d.exchange("R @90000", "");
    d.exchange("#1", "ack #2");
    d.exchange("R @#2", "");
    assert_eq!(d.end.state(), ReceiverState::Closed);
    d.exchange("#2", "");
}

/// RFC 9293 section 3.10.7.4, fifth: a segment that acknowledges what was never sent is dropped and answered.
#[test]
fn rfc9293_3_10_7_4_ack_of_unsent_data() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    d.exchange("#1 ack 100", "ack 1");
    assert_eq!(d.end.delivered(), 0);
}

/// RFC 9293 section 3.4: sequence numbers wrap at 2^32, in data, in SACK blocks and at the FIN.
#[test]
fn rfc9293_3_4_sequence_numbers_wrap() {
    for isn in [u32::MAX, u32::MAX - 1, u32::MAX - 1_500, u32::MAX - 2_000, u32::MAX - 3_500] {
        let config = with!(receiver_config(), handshake.initial_sequence = SeqNumber::new(u32::MAX));
        let mut d = ReceiverDialogue::from_isn(config, SeqNumber::new(isn));
        d.establish("S @0 sackOK");
        d.exchange("#1", "@1 ack #2");
        d.exchange("#3", "ack #2 sack #3");
        d.exchange("#2", "ack #4");
        d.exchange("F. #4", "F. @1 ack 4002");
        d.exchange("@4002 ack 2", "");
        assert_eq!((d.end.state(), d.end.delivered()), (ReceiverState::Closed, 4000));
    }
}

/// RFC 9293 section 3.10.7.4, fifth: a segment without the ACK bit is dropped, whatever it carries.
#[test]
fn rfc9293_3_10_7_4_data_without_ack_is_dropped() {
    let mut d = ReceiverDialogue::connected(receiver_config());
    let mut segment = Segment::new(SeqNumber::new(700_001), SeqNumber::new(0), MSS, 500, Flags::PSH);
    segment.tag = 5;
    d.end.handle_segment(d.now(), &segment);
    d.expect_nothing();
    assert_eq!((d.end.in_order(), d.end.stats().bytes), (0, 0));
    d.exchange("#1", "ack #2");
}
