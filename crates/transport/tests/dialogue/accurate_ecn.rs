//! Accurate ECN (RFC 9768): the rules by their sections. ACE is written in flags: A is 4, W is 2, E is 1.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn config() -> SenderConfig {
    with!(
        sender_config(Recovery::Sack, 10),
        handshake.ecn = EcnMode::Accurate,
        recovery.limited_transmit = false
    )
}

fn listener() -> ReceiverConfig {
    with!(receiver_config(), handshake.ecn = EcnMode::Accurate)
}

/// Ten segments sent at 100 ms; it is 200 ms now.
#[track_caller]
fn ten_in_flight() -> SenderDialogue {
    let mut d = SenderDialogue::closed(config());
    d.end.open(d.now());
    d.expect("SEWA @0 noect");
    d.at(100);
    d.exchange("S.W @0 ack 1 mss 1000 sackOK", ".W @1 ack 1 noect");
    d.end.set_saturated(true);
    d.expect(".EA #1-10 ect");
    d.at(200);
    d
}

/// A receiver that has agreed to Accurate ECN and acknowledges every segment at once.
#[track_caller]
fn agreed(config: ReceiverConfig) -> ReceiverDialogue {
    let mut d = ReceiverDialogue::listening(config);
    d.exchange("SEWA @0 mss 1000 sackOK", "S.W @0 ack 1 noect");
    d.exchange(".W @1 ack 1", "");
    d
}

/// Table 2, the client's rows: the mode by the flags of the SYN-ACK, and whether data is ECN-capable
/// (section 3.1.5). 111 is what broken servers reflect; 101 is reserved (section 3.1.3). Our SYN is not
/// ECN-capable: that it arrived with another field is mangling, and data is not ECN-capable either (section
/// 3.2.2.3).
#[test]
fn rfc9768_table_2_client() {
    for (syn_ack, mode, data) in [
        ("S.W", EcnMode::Accurate, ".EA #1 ect"),
        ("S.EW", EcnMode::Accurate, ".EA #1 noect"),
        ("S.A", EcnMode::Accurate, ".EA #1 noect"),
        ("S.WA", EcnMode::Accurate, ".EA #1 noect"),
        ("S.EA", EcnMode::Accurate, ".EA #1 ect"),
        ("S.E", EcnMode::Classic, ". #1 ect"),
        ("S.", EcnMode::Off, ". #1 noect"),
        ("S.EWA", EcnMode::Off, ". #1 noect"),
    ] {
        let mut d = SenderDialogue::closed(config());
        d.end.open(d.now());
        d.expect("SEWA @0 noect");
        let ack = if mode == EcnMode::Accurate { ".W @1 ack 1 noect" } else { ". @1 ack 1 noect" };
        d.exchange(&format!("{syn_ack} @0 ack 1 mss 1460 sackOK"), ack);
        d.write_segments(1);
        d.expect(data);
        assert_eq!(
            (d.end.ecn_mode(), d.end.state().accurate_ecn),
            (mode, mode == EcnMode::Accurate),
            "{syn_ack}"
        );
    }
}

/// Table 2, the server's rows, and section 3.1.3: combinations without a meaning are an offer of Accurate
/// ECN.
#[test]
fn rfc9768_table_2_server() {
    for (syn, answer) in [
        ("SEWA", "S.W"),
        ("SEW", "S.E"),
        ("S", "S."),
        ("SA", "S.W"),
        ("SE", "S.W"),
        ("SW", "S.W"),
        ("SEA", "S.W"),
        ("SWA", "S.W"),
    ] {
        let mut d = ReceiverDialogue::listening(listener());
        d.exchange(&format!("{syn} @0 mss 1000"), &format!("{answer} @0 ack 1 noect"));
    }
    // Servers of classic ECN do not know AE.
    for (mode, answer) in [(EcnMode::Classic, "S.E"), (EcnMode::Off, "S.")] {
        let mut d = ReceiverDialogue::listening(with!(receiver_config(), handshake.ecn = mode));
        d.exchange("SEWA @0 mss 1000", &format!("{answer} @0 ack 1"));
    }
}

/// Section 3.1.1: the SYN-ACK tells the ECN field of the SYN, and section 3.1.5: of the latest SYN.
#[test]
fn rfc9768_3_1_1_the_syn_ack_reflects_the_ecn_field() {
    let mut d = ReceiverDialogue::listening(listener());
    d.exchange("SEWA @0 mss 1000 ect1", "S.EW @0 ack 1");
    d.exchange("SEWA @0 mss 1000 ect", "S.A @0 ack 1");
    d.exchange("SEWA @0 mss 1000 ect ce", "S.WA @0 ack 1");
    d.exchange("S @0 mss 1000", "S.W @0 ack 1");
    // Section 3.2.2.2: a mark on a SYN does not count.
    d.exchange(".W @1 ack 1", "");
    d.exchange(".EA #1 ect", ".EA ack #2 noect");
}

/// Section 3.2.2.1, table 3: the ACK of the SYN-ACK tells its ECN field, and of a repeated one, too; a mark
/// counts once (section 3.2.2.2).
#[test]
fn rfc9768_table_3_the_final_ack_reflects_the_ecn_field() {
    for (field, ack, data) in
        [("", ".W", ".EA"), ("ect1", ".EW", ".EA"), ("ect", ".A", ".EA"), ("ect ce", ".WA", ".WA")]
    {
        let mut d = SenderDialogue::closed(config());
        d.end.open(d.now());
        d.expect("SEWA @0");
        d.exchange(&format!("S.W @0 ack 1 mss 1000 sackOK {field}"), &format!("{ack} @1 ack 1 noect"));
        d.exchange(&format!("S.W @0 ack 1 mss 1000 sackOK {field}"), &format!("{ack} @1 ack 1 noect"));
        d.end.set_saturated(true);
        d.expect(&format!("{data} #1-10 ect"));
    }
}

/// Section 3.1.4.1: the first SYN that is retransmitted offers Accurate ECN again, later ones nothing. The
/// first SYN-ACK decides, whatever SYNs were sent, but data of classic ECN is not ECN-capable after a SYN
/// that did not offer it (RFC 3168 section 6.1.1.1).
#[test]
fn rfc9768_3_1_4_1_retransmitted_syns() {
    for (syn_ack, ack, data) in
        [("S.W", ".W", ".EA #1-10 ect"), ("S.E", ".", ". #1 noect"), ("S.", ".", ". #1 noect")]
    {
        let mut d = SenderDialogue::closed(config());
        d.end.open(d.now());
        d.expect("SEWA @0");
        d.expect_at(1_000, "SEWA @0");
        d.expect_at(3_000, "S @0");
        d.at(3_100);
        d.exchange(&format!("{syn_ack} @0 ack 1 mss 1000 sackOK"), &format!("{ack} @1 ack 1 noect"));
        d.end.set_saturated(true);
        // One segment after a lost SYN (RFC 5681 section 3.1).
        d.expect(&data.replace("#1-10", "#1"));
    }
    // After one retransmission both modes are on.
    for (syn_ack, data) in [("S.W", ".EA #1 ect"), ("S.E", ". #1 ect")] {
        let mut d = SenderDialogue::closed(config());
        d.end.open(d.now());
        d.expect("SEWA @0");
        d.expect_at(1_000, "SEWA @0");
        d.at(1_100);
        d.end.set_saturated(true);
        let ack = if syn_ack == "S.W" { ".W" } else { "." };
        d.exchange(&format!("{syn_ack} @0 ack 1 mss 1000 sackOK"), &format!("{ack} @1 ack 1; {data}"));
    }
}

/// Section 3.2.3.2.2: the second SYN-ACK that is retransmitted agrees to nothing; the server still counts.
#[test]
fn rfc9768_3_2_3_2_2_retransmitted_syn_acks() {
    let mut d = ReceiverDialogue::listening(listener());
    d.exchange("SEWA @0 mss 1000", "S.W @0 ack 1");
    d.expect_at(1_000, "S.W @0 ack 1");
    d.expect_at(3_000, "S. @0 ack 1");
    d.exchange(". @1 ack 1", "");
    d.exchange(". #1 ce", ".WA ack #2");
}

/// Section 3.2: every ACK has the low bits of r.cep, which starts with 5 and counts marked packets, and what
/// is outside the window does not count. CWR means nothing (section 3.1.5).
#[test]
fn rfc9768_3_2_2_2_ace_counts_marked_packets() {
    let mut d = agreed(listener());
    d.exchange(".EA #1 ect", ".EA ack #2 noect");
    d.exchange(".EA #2 ect ce", ".WA ack #3 noect");
    d.exchange(".EA #3 ect", ".WA ack #4");
    d.exchange(".EA #4 ect ce", ".EWA ack #5");
    d.exchange(".EA #5 ect ce", ". ack #6");
    d.exchange(".EA #6 ect1 ce", ".E ack #7");
    d.exchange(".EA #6 ect ce", ".E ack #7 sack #6");
    d.exchange(".EWA #7 ect", ".E ack #8");
    // Out of order, and a retransmission.
    d.exchange(".EA #9 ect ce", ".W ack #8 sack #9");
    d.exchange(".EA #8 ce", ".EW ack #10");
    assert_eq!(d.end.stats().marked_segments, 6);
}

/// Section 3.2.2.5.1: data marked after a packet without a mark is acknowledged at once, and every second
/// mark.
#[test]
fn rfc9768_3_2_2_5_1_marks_are_acknowledged_at_once() {
    let delayed =
        ReceiverConfig { delayed_ack: DelayedAck::On { timeout: ms(200) }, ack_every: 100, ..listener() };
    let mut d = agreed(delayed);
    d.exchange(".EA #1 ect", "");
    d.exchange(".EA #2 ect ce", ".WA ack #3");
    d.exchange(".EA #3 ect ce", "");
    d.exchange(".EA #4 ect ce", ". ack #5");
    d.exchange(".EA #5 ect ce", "");
    d.exchange(".EA #6 ect", "");
    d.exchange(".EA #7 ect", "");
    d.exchange(".EA #8 ect ce", ".W ack #9");
    // Without unacknowledged data every third: marked pure ACKs.
    d.exchange(".EA @8001 ack 1 ce; .EA @8001 ack 1 ce", "");
    d.exchange(".EA @8001 ack 1 ce", ".EA ack #9");
}

/// The sender counts marks too, and tells in ACE of its data; three marked ACKs are acknowledged (section
/// 3.2.2.5.1).
#[test]
fn rfc9768_3_2_the_sender_counts_marked_acks() {
    let mut d = ten_in_flight();
    d.exchange(".EA ack #2 ce", ".WA #11-12 ect");
    d.exchange(".EA ack #2 ce; .EA ack #2 ce", "");
    d.exchange(".EA ack #2 ce", ".E @12001 ack 1 noect");
}

/// Section 3.2.2.2: the increase of ACE counts, and a mark reduces the window once for a window of data, as a
/// loss does (RFC 3168 section 6.1.2); nothing says CWR (section 3.1.5).
#[test]
fn rfc9768_3_2_2_2_an_increase_of_ace_halves_the_window() {
    let mut d = ten_in_flight();
    d.exchange(".EA ack #2", ".EA #11-12 ect");
    d.exchange(".WA ack #3", "");
    assert_eq!((d.cwnd(), d.ssthresh(), d.end.stats().ecn_reductions), (5, 5, 1));
    d.exchange(". ack #5; . ack #7", "");
    d.exchange(". ack #9", ".EA #13 ect");
    d.exchange(".E ack #13", ".EA #14-17 ect");
    assert_eq!((d.cwnd(), d.end.marked_packets(), d.end.stats().ecn_reductions), (5, 4, 1));
    // What was sent after the reduction is acknowledged: the next mark counts.
    d.exchange(".W ack #14", "");
    assert_eq!((d.cwnd(), d.end.stats().ecn_reductions), (2, 2));
    d.exchange(".W ack #18", ".EA #18-19 ect");
    assert_eq!((d.end.marked_packets(), d.end.stats().segments_retransmitted), (5, 0));
}

/// Section 3.2.2.5.2 and appendix A.2.1: an ACK for eight packets and more may hide a cycle of ACE: as many
/// marks count as are possible. Fewer packets cannot.
#[test]
fn rfc9768_a_2_1_a_cycle_of_ace() {
    for (ack, packets, marked) in [("#8", 7, 0), ("#9", 8, 8), ("#11", 10, 8)] {
        let mut d = ten_in_flight();
        d.exchange(
            &format!(".EA ack {ack}"),
            if marked == 0 {
                ".EA #11-18 ect"
            } else if packets == 8 {
                ".EA #11-13"
            } else {
                ".EA #11-15"
            },
        );
        assert_eq!(d.end.marked_packets(), marked, "{packets} packets");
    }
    // Two marks at least, of ten packets.
    let mut d = ten_in_flight();
    d.exchange(".EWA ack #11", ".EA #11-15");
    assert_eq!(d.end.marked_packets(), 10);
    // Two packets of an ACK that is not read, and seven.
    let mut d = ten_in_flight();
    d.exchange(".EA ack #2", ".EA #11-12");
    d.exchange(".EA ack #1 sack #9-10", "");
    d.exchange(".EA ack #11", ".EA #13-15");
    assert_eq!(d.end.marked_packets(), 8);
}

/// Section 3.2.2.5.2: more marks than packets: the counter is right (packets without data are marked, too).
#[test]
fn rfc9768_3_2_2_5_2_more_marks_than_packets() {
    let mut d = ten_in_flight();
    d.exchange(".EWA ack #2", "");
    assert_eq!((d.end.marked_packets(), d.cwnd()), (2, 5));
}

/// Section 3.2.2.2: the ACE of an ACK that others have overtaken is not read; its packets count at the next.
#[test]
fn rfc9768_3_2_2_2_an_old_ack_is_not_read() {
    let mut d = ten_in_flight();
    d.exchange(".WA ack #4", "");
    assert_eq!(d.end.marked_packets(), 1);
    d.exchange(".EA ack #2", "");
    d.exchange(".EA ack #3 sack #6", "");
    d.exchange(".WA ack #5", "");
    assert_eq!(d.end.marked_packets(), 1);
}

/// Section 3.2.2.4: an ACE of zero in the first feedback: nothing is ECN-capable and marks do not count.
#[test]
fn rfc9768_3_2_2_4_a_zeroed_ace() {
    let mut d = ten_in_flight();
    d.exchange(". ack #2", ".EA #11-12 noect");
    d.exchange(".EW ack #3", ".EA #13-14 noect");
    assert_eq!((d.end.marked_packets(), d.cwnd()), (0, 12));
}
