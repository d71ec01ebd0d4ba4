//! What Linux does differently after losses and timeouts (`timeout_rules`, `prr_rules`,
//! `segmentation_offload`), against what the RFCs have.

use crate::dialogue::harness::*;
use cogtcp_transport::*;
use cogtcp_units::Time;
use std::sync::{Arc, Mutex};

fn rfc() -> SenderConfig {
    with!(
        sender_config(Recovery::Sack, 10),
        recovery.rack = true,
        recovery.limited_transmit = false,
        timers.min_rto = ms(200)
    )
}

fn linux() -> SenderConfig {
    with!(rfc(), timers.timeout_rules = TimeoutRules::Linux)
}

/// A saturated sender whose first window left at 100 ms; it is 200 ms now.
#[track_caller]
fn in_flight(config: SenderConfig) -> SenderDialogue {
    let mut d = SenderDialogue::connected(config);
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.at(200);
    d
}

/// `tcp_init_transfer`: one lost SYN leaves the initial window, two leave one segment. RFC 5681 section 3.1: one
/// leaves one segment. `tcp_try_undo_spurious_syn`: an echo of the first SYN's timestamp shows that none was lost.
#[test]
fn one_lost_syn_leaves_the_initial_window() {
    let window = |config: SenderConfig, lost: u64, echo: u32| {
        let mut d = SenderDialogue::closed(with!(config, handshake.timestamps = true));
        d.at(5);
        d.write_segments(20);
        d.end.open(d.now());
        d.expect("S @0");
        (1..=lost).for_each(|k| d.expect_at(5 + 1_000 * k, "S @0"));
        d.at(100 + 1_000 * lost);
        d.send(&format!("S. @0 ack 1 mss 1460 ts 9/{echo}"));
        d.drained();
        d.cwnd()
    };
    assert_eq!(window(linux(), 1, 1_005), 10);
    assert_eq!(window(linux(), 2, 2_005), 1);
    assert_eq!(window(linux(), 2, 5), 10);
    assert_eq!(window(rfc(), 1, 5), 1);
}

/// `tcp_syn_linear_timeouts`: four timeouts of a SYN are equally long, the next are twice as long as the one before.
/// `tcp_ack_update_rtt`: the echo times the handshake though the SYN went twice.
#[test]
fn the_first_timeouts_of_a_syn_are_equally_long() {
    let mut d = SenderDialogue::closed(linux());
    d.end.open(d.now());
    d.expect("S @0");
    for time in [1_000, 2_000, 3_000, 4_000, 5_000, 7_000, 11_000] {
        d.expect_at(time, "S @0");
    }
    let mut d = SenderDialogue::closed(with!(linux(), handshake.timestamps = true));
    d.at(5);
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_005, "S @0");
    d.at(1_105);
    d.exchange("S. @0 ack 1 mss 1460 ts 9/1005", "@1 ack 1");
    // SRTT 100, 4 RTTVAR 200 ms.
    assert_eq!(d.rto_ms(), 300);
}

/// A SYN's timer is on the wheel: 1000 ticks of 1 ms fire with the next multiple of 64 (`calc_index`).
#[test]
fn the_wheel_fires_the_timer_of_a_syn() {
    let mut d = SenderDialogue::closed(with!(linux(), timers.timer_tick = ms(1)));
    d.at(10);
    d.end.open(d.now());
    d.expect("S @0");
    d.expect_at(1_024, "S @0");
}

/// `tcp_send_challenge_ack`: one SYN-ACK in half a second is answered. RFC 9293: each.
#[test]
fn a_syn_ack_again_is_answered_once_in_half_a_second() {
    let answered = |config| {
        let mut d = SenderDialogue::connected(config);
        let mut answers = [true; 4];
        for (time, answers) in [200, 201, 699, 701].into_iter().zip(&mut answers) {
            d.at(time);
            d.give("S. @0 ack 1 mss 1460");
            *answers = d.poll_once();
            d.drained();
        }
        answers
    };
    assert_eq!(answered(linux()), [true, false, false, true]);
    assert_eq!(answered(rfc()), [true; 4]);
}

/// `tcp_clean_rtx_queue`: a SACK of what left before the oldest segment was retransmitted restarts the
/// retransmission timer. RFC 6298 restarts it for what is acknowledged cumulatively, and for nothing else.
#[test]
fn a_sack_restarts_the_retransmission_timer() {
    let next = |config| {
        let mut d = SenderDialogue::connected(config);
        d.end.set_saturated(true);
        d.expect("#1-10");
        // SRTT 100, RTTVAR 50 ms.
        d.expect_at(400, "#1");
        let before = d.end.poll_timeout();
        d.at(450);
        d.exchange("ack #1 sack #2", "");
        (before, d.end.poll_timeout())
    };
    let (before, after) = next(rfc());
    assert_eq!((before, after), (at(1000), at(1000)));
    let (before, after) = next(linux());
    assert_eq!(before, at(1000));
    assert!(after > at(1000), "{after:?}");
}

/// `tcp_ack_update_rtt`: where Karn's algorithm forbids a sample, what is SACKed gives one, and not the echo.
#[test]
fn a_sack_beside_a_retransmission_times_the_round_trip() {
    let mut d = SenderDialogue::connected(with!(linux(), handshake.timestamps = true));
    d.write_segments(3);
    d.expect("#1-3");
    // SRTT 100, 4 RTTVAR 200 ms: a timeout after 300 ms.
    d.expect_at(400, "#1");
    d.at(500);
    d.send("ack #2 sack #3 ts 500/400");
    d.drained();
    // 400 ms, not 100: SRTT is 137.5, the deviation 450 ms.
    assert_eq!(d.rto_ms(), 587);
}

/// When the tail loss probe is due after #4 has left at `millis`. #3 left at 120 ms; at 200 ms it alone was outstanding.
fn probe_after(config: SenderConfig, millis: u64) -> Time {
    let mut d = SenderDialogue::connected(with!(config, recovery.tlp = true));
    d.write_segments(2);
    d.expect("#1-2");
    d.at(120);
    d.write_segments(1);
    d.expect("#3");
    d.at(200);
    d.exchange("ack #3", "");
    d.at(millis);
    d.write_segments(1);
    d.expect("#4");
    d.end.poll_timeout()
}

/// `tcp_rearm_rto` by way of `tcp_schedule_loss_probe`: where new data leaves while a tail loss probe is due,
/// the timeout counts from the oldest segment, and the probe comes no later. In RFC 8985 it counts from the
/// last ACK.
#[test]
fn the_probe_comes_no_later_than_the_timeout_of_the_oldest_segment() {
    // SRTT 100, RTTVAR 37.5: the RTO is 250 ms. RFC: two SRTT from #4, 530, but no later than 250 ms from the
    // ACK, 450.
    assert_eq!(probe_after(rfc(), 330), at(450));
    // Linux: RTTVAR 50, as the deviation falls once a round trip only: 300 ms from #3.
    assert_eq!(probe_after(linux(), 330), at(420));
}

/// `tcp_schedule_loss_probe`: an RTO that is over when new data leaves bounds the probe no more. It comes two round trips
/// after the data, where RFC 8985 keeps to the RTO that counts from the last ACK.
#[test]
fn an_rto_that_is_over_does_not_bound_the_probe() {
    // 310 ms after #3, whose RTO is 300.
    assert_eq!(probe_after(rfc(), 430), at(450));
    assert_eq!(probe_after(linux(), 430), at(630));
}

/// `tcp_dsack_seen`: a duplicate that a D-SACK reports was delivered, too, as long as so much was retransmitted. RFC 2883:
/// it delivers nothing.
#[test]
fn a_duplicate_is_delivered() {
    let duplicates = |config: SenderConfig| {
        let mut d = in_flight(config);
        d.exchange("ack #1 sack #2-4", "#1");
        d.at(290);
        d.send("ack #5");
        d.drained();
        let before = d.end.state().delivered;
        ["ack #5 sack #1"; 2].map(|segment| {
            d.send(segment);
            d.drained();
            (d.end.state().delivered - before) / d.end.state().mss
        })
    };
    assert_eq!(duplicates(rfc()), [0, 0]);
    assert_eq!(duplicates(linux()), [1, 1]);
}

/// `tcp_sacktag_write_queue` takes blocks in order: RACK's round-trip time is 140 ms, of #6, though the block of #2 and
/// #3 comes after it. With their 200 ms #4 and #5 could still come.
#[test]
fn rack_takes_the_time_of_the_last_block_in_order() {
    let mut d = SenderDialogue::connected(linux());
    d.write_segments(3);
    d.expect("#1-3");
    d.at(150);
    d.write_segments(2);
    d.expect("#4-5");
    d.at(160);
    d.write_segments(1);
    d.expect("#6");
    d.at(300);
    d.send("ack #1 sack #6 #2-3");
    d.drained();
    assert_eq!(d.end.state().lost / d.end.state().mss, 3);
}

/// `tcp_enter_loss`: ssthresh is lowered once for a window of data. RFC 5681 lowers it again where a timeout
/// follows a fast retransmit.
#[test]
fn ssthresh_is_lowered_once_for_a_window() {
    let after = |config| {
        let mut d = in_flight(config);
        d.exchange("ack #1 sack #2-3", "");
        d.exchange("ack #1 sack #2-4", "#1");
        assert_eq!((d.ssthresh(), d.end.state().ca_state), (5, CaState::Recovery));
        let due = d.end.poll_timeout().as_nanos() / 1_000_000;
        d.expect_at(due, "#1");
        assert_eq!((d.end.stats().timeouts, d.end.state().ca_state), (1, CaState::Loss));
        d.ssthresh()
    };
    assert_eq!((after(rfc()), after(linux())), (2, 5));
}

/// `tcp_process_loss`: a retransmission that RACK finds lost after a timeout begins fast recovery; the RFCs
/// go on with slow start.
#[test]
fn recovery_begins_anew_for_a_retransmission_lost_after_a_timeout() {
    let play = |config| {
        let mut d = SenderDialogue::connected(config);
        d.write_segments(10);
        d.expect("#1-10");
        d.expect_at(400, "#1");
        d.at(500);
        // All but #2 to #4 had arrived, whose retransmissions leave now; that of #2 is lost.
        d.exchange("ack #2 sack #5-10", "#2-3");
        d.at(600);
        d.send("ack #2 sack #3 #5-10");
        d.drained();
        (d.end.stats().fast_retransmits, d.end.state().ca_state)
    };
    assert_eq!(play(rfc()), (0, CaState::Loss));
    assert_eq!(play(linux()), (1, CaState::Recovery));
}

/// `tcp_time_to_recover` (`lost_out`): what is lost beyond the end of a fast recovery begins another one when
/// it is over, with its own reduction, though it was retransmitted in the first.
#[test]
fn a_recovery_follows_a_recovery_that_leaves_something_lost() {
    let play = |config| {
        let mut d = in_flight(config);
        // #1, #10 and #11 are lost. The recovery ends where #11 begins.
        d.exchange("ack #1 sack #2-4", "#1");
        d.exchange("ack #1 sack #2-9", "#11-13");
        d.at(290);
        d.exchange("ack #10", "#14");
        d.exchange("ack #10 sack #12", "#10; #11; #15");
        d.at(390);
        d.exchange("ack #11 sack #12-13", "");
        (d.end.stats().fast_retransmits, d.ssthresh(), d.end.state().ca_state)
    };
    assert_eq!(play(rfc()), (1, 5, CaState::Open));
    assert_eq!(play(linux()), (2, 2, CaState::Recovery));
}

fn prr(prr_rules: PrrRules) -> SenderConfig {
    with!(linux(), recovery.prr = true, recovery.prr_rules = prr_rules)
}

/// `tcp_cwnd_reduction`: PRR counts whole segments. ssthresh is 5 of 10: one leaves for the first, the third
/// and the fifth that are delivered. In bytes half a segment is there at the third, and the second segment
/// leaves for the fourth.
#[test]
fn prr_rounds_up_to_segments() {
    let play = |rules, answers: [&str; 4]| {
        let mut d = in_flight(with!(prr(rules), recovery.limited_transmit = true));
        d.exchange("ack #1 sack #2", "#11");
        d.exchange("ack #1 sack #2-3", "#12");
        d.exchange("ack #1 sack #2-4", "#1");
        assert_eq!(d.ssthresh(), 5);
        for (last, answer) in (5..=8).zip(answers) {
            d.exchange(&format!("ack #1 sack #2-{last}"), answer);
        }
    };
    play(PrrRules::Rfc, ["", "", "#13", ""]);
    play(PrrRules::Linux, ["", "#13", "", "#14"]);
}

/// `tcp_rack_reo_timeout`: where RACK's timer begins a recovery, one segment counts as delivered. So the
/// second of two delivered later is the third.
#[test]
fn prr_counts_a_segment_where_the_timer_begins_a_recovery() {
    let mut d = in_flight(with!(prr(PrrRules::Linux), recovery.limited_transmit = true));
    d.exchange("ack #1 sack #2", "#11");
    d.expect_at(225, "#1");
    d.exchange("ack #1 sack #2-3", "");
    d.exchange("ack #1 sack #2-4", "#12");
}

/// `tcp_rack_reo_timeout`: what the timer finds lost in a recovery leaves in the window that is there. In
/// RFC 9937 only ACKs let something out, and here a loss lowers the window.
#[test]
fn prr_and_the_reordering_timer() {
    let play = |rules, late: &str| {
        let mut d = in_flight(prr(rules));
        d.exchange("ack #1 sack #2", "");
        d.at(210);
        // The path reorders: three duplicates are no proof any more.
        d.exchange("ack #3", "#11-13");
        d.exchange("ack #3 sack #4-6", "");
        d.expect_at(235, "#3");
        d.at(240);
        d.exchange("ack #3 sack #4-6 #8", "");
        // #8 took 140 ms, a quarter of the least round trip more: #7 is lost.
        d.expect_at(265, late);
        d.at(270);
    };
    play(PrrRules::Rfc, "");
    play(PrrRules::Linux, "#7");
}

/// RFC 3522 section 3.2: an ACK that echoes a timestamp from before the first retransmission shows the
/// timeout to be spurious; one that echoes the retransmission's does not.
#[test]
fn rfc3522_3_2_eifel_after_a_timeout() {
    let play = |echo: u64| {
        let config = with!(rfc(), undo.eifel = true, handshake.timestamps = true, recovery.rack = false);
        let mut d = SenderDialogue::connected(config);
        d.end.set_saturated(true);
        d.expect("#1-10");
        d.expect_at(400, "#1");
        assert_eq!((d.cwnd(), d.ssthresh()), (1, 5));
        d.at(450);
        d.send(&format!("ack #2 ts 5350/{echo}"));
        d.drained();
        (d.end.stats().undone_timeouts, d.cwnd(), d.end.state().ca_state)
    };
    assert_eq!(play(100), (1, 10, CaState::Open));
    assert_eq!(play(400), (0, 2, CaState::Loss));
}

/// RFC 3522 section 3.2, of a fast retransmit: the original was late. The response of RFC 4015 restores the
/// window.
#[test]
fn rfc3522_3_2_eifel_after_a_fast_retransmit() {
    let play = |echo: u64| {
        let config = with!(rfc(), undo.eifel = true, handshake.timestamps = true, recovery.rack = false);
        let mut d = in_flight(config);
        d.send("ack #1 sack #2 ts 5200/100; ack #1 sack #2-3 ts 5200/100; ack #1 sack #2-4 ts 5200/100");
        d.drained();
        assert_eq!((d.ssthresh(), d.end.state().ca_state), (5, CaState::Recovery));
        d.at(210);
        d.send(&format!("ack #5 ts 5210/{echo}"));
        d.drained();
        (d.end.stats().undone_recoveries, d.cwnd(), d.end.state().ca_state)
    };
    assert_eq!(play(100), (1, 10, CaState::Open));
    let (undone, cwnd, state) = play(200);
    assert_eq!((undone, state), (0, CaState::Recovery));
    assert!(cwnd <= 5, "{cwnd}");
}

/// `tcp_update_pacing_rate`, `tcp_tso_autosize`: twice the window in a round trip while it is far below
/// ssthresh. 200 segments in 100 ms make 4,000 a second, of which 3.9 leave in 1/1024 s: three in a packet.
#[test]
fn packets_of_slow_start_are_those_of_twice_the_window() {
    let config = SenderConfig { segmentation_offload: true, ..sender_config(Recovery::Sack, 200) };
    let mut d = SenderDialogue::with_control(config, aimd());
    d.handshake("S. ack 1 mss 1460 sackOK ws 4 win 60000");
    d.end.set_saturated(true);
    let pushed = d.pushed();
    assert_eq!(pushed[..9], [false, false, true].repeat(3));
}

/// `tcp_tso_autosize`, `__tcp_transmit_skb`: at 10 segments in 100 ms packets have two segments, and the
/// second bears PSH. What is left alone waits while an ACK is near (`tcp_tso_should_defer`), 1 ms at most,
/// and bears none.
#[test]
fn segments_leave_in_pairs_whose_second_bears_psh() {
    let pushed = |offload| {
        let config = SenderConfig { segmentation_offload: offload, ..sender_config(Recovery::Sack, 10) };
        let mut d = SenderDialogue::connected(config);
        d.end.set_saturated(true);
        let first = d.pushed();
        d.at(200);
        // cwnd 11, 8 in flight: three may go.
        d.send("ack #3");
        let second = d.pushed();
        d.expect_at(202, if offload { "#13" } else { "" });
        [first, second]
    };
    let pairs = [false, true].repeat(5);
    assert_eq!(pushed(true), [pairs, vec![false, true]]);
    assert_eq!(pushed(false), [vec![false; 10], vec![false; 3]]);
}

/// `TCP_TIMEOUT_MIN_US`: with ticks of 4 ms the reordering timer takes 25 + 2 ms, seven ticks, and ends at
/// the next one; the tail loss probe 200 + 2 ms, 51 ticks. Two ticks more than 25 and 200 ms, as Linux had it
/// up to 6.6, would be 240 and 416 ms.
#[test]
fn reordering_timer_and_probe_wait_two_milliseconds_longer() {
    let config = with!(linux(), timers.timer_tick = ms(4), recovery.tlp = true);
    let mut d = in_flight(config.clone());
    d.exchange("ack #1 sack #4", "");
    assert_eq!(d.end.poll_timeout(), at(232));
    let mut d = SenderDialogue::connected(config);
    d.write_segments(4);
    d.expect("#1-4");
    d.at(200);
    d.exchange("ack #3", "");
    assert_eq!(d.end.poll_timeout(), at(408));
}

/// `tcp_update_rtt_min`: where an echo alone tells the round trip, the least one takes it, though it rounds down to a tick;
/// a tick at least (`tcp_rtt_tsopt_us`).
#[test]
fn an_echo_may_be_the_least_round_trip() {
    let least = |config: SenderConfig, millis: u64| {
        let mut d = SenderDialogue::connected(with!(config, handshake.timestamps = true));
        d.write_segments(1);
        d.expect("#1");
        d.expect_at(400, "#1");
        d.at(millis);
        d.send(&format!("ack #2 ts {millis}/400"));
        d.drained();
        d.end.state().min_rtt
    };
    assert_eq!((least(rfc(), 450), least(linux(), 450), least(linux(), 400)), (ms(100), ms(50), ms(1)));
}

/// `tcp_init_undo` comes after `tcp_timeout_mark_lost`: retransmissions that a second timeout finds lost do not count for
/// its undo, so one D-SACK shows that it was needless.
#[test]
fn what_a_timeout_finds_lost_does_not_count_for_its_undo() {
    let mut d = in_flight(with!(linux(), undo.d_sack_undo = true));
    d.expect_at(400, "#1");
    d.at(500);
    d.exchange("ack #2", "#2-3");
    let due = d.end.poll_timeout().as_nanos() / 1_000_000;
    d.expect_at(due, "#2");
    d.send("ack #5 sack #2");
    d.drained();
    assert_eq!((d.end.stats().undone_timeouts, d.end.state().ca_state), (1, CaState::Open));
}

/// A control that has cwnd of its own: five segments after each ACK, one after a timeout. Whether it asks for reports of
/// the radio.
#[derive(Debug)]
struct Own {
    hears: bool,
}

impl CongestionControl for Own {
    fn name(&self) -> &str {
        "own"
    }
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        tcp.ssthresh
    }
    fn owns_cwnd(&self) -> bool {
        true
    }
    fn cong_avoid(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {}
    fn cong_control(&mut self, _now: Time, tcp: &mut TcpState, _ack: &AckSample) -> bool {
        tcp.cwnd = 5 * tcp.mss;
        true
    }
    fn set_state(&mut self, _now: Time, tcp: &mut TcpState, state: CaState) {
        if state == CaState::Loss {
            tcp.cwnd = tcp.mss;
        }
    }
    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        if self.hears { Some(self) } else { None }
    }
}

impl ControlExtension for Own {}

/// `tcp_enter_loss` tells the control of each timeout, of one in the recovery of another, too.
#[test]
fn each_timeout_is_told_to_the_control() {
    let mut d = SenderDialogue::with_control(linux(), Box::new(Own { hears: false }));
    d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
    d.end.set_saturated(true);
    d.expect("#1-10");
    d.expect_at(400, "#1");
    d.at(500);
    d.send("ack #2");
    d.drained();
    assert_eq!((d.cwnd(), d.end.state().ca_state), (5, CaState::Loss));
    let due = d.end.poll_timeout().as_nanos() / 1_000_000;
    d.expect_at(due, "#2");
    assert_eq!((d.cwnd(), d.end.state().ca_state), (1, CaState::Loss));
}

/// A report of the radio below is heard by a control that asks for it, and by no other.
#[test]
fn a_control_that_asks_for_reports_hears_them() {
    for hears in [false, true] {
        let mut d = SenderDialogue::with_control(linux(), Box::new(Own { hears }));
        assert_eq!(d.end.handle_link_event(at(10), LinkEvent::LinkDown), hears);
    }
}

/// `tcp_xmit_recovery`, `tcp_tsq_write`: F-RTO's new data goes as far as the pacer lets it; when the pacer lets go again,
/// what is lost goes first. RFC 5682 sends two new segments and nothing else.
#[test]
fn what_is_lost_goes_before_new_data_that_waits_for_the_pacer() {
    let after = |config: SenderConfig, f_rto, next: &str| {
        let config = with!(config, undo.f_rto = f_rto);
        let mut d = SenderDialogue::with_control(config, Box::new(Paced));
        d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
        d.end.set_saturated(true);
        d.expect("#1");
        d.expect_at(110, "#2");
        d.expect_at(120, "#3");
        d.expect_at(130, "#4");
        let due = d.end.poll_timeout().as_nanos() / 1_000_000;
        d.expect_at(due, "#1");
        d.at(due + 100);
        d.exchange("ack #2", "#5");
        d.expect_at(due + 110, next);
    };
    after(rfc(), FRto::Sack, "#6");
    after(linux(), FRto::Linux, "#2");
}

/// `tcp_in_ack_event` comes before `tcp_fastretrans_alert`: a control counts an ACK before the ACK ends a recovery, and
/// before it begins another. Only an ACK without SACK that leaves the window as it was is predicted.
#[test]
fn an_ack_counts_before_it_ends_a_recovery_or_begins_one() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut d = SenderDialogue::with_control(linux(), Box::new(Listed(Arc::clone(&calls))));
    d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
    d.end.set_saturated(true);
    d.expect("#1-10");
    let mut of = |time: u64, text: &str| {
        d.at(time);
        d.send(text);
        d.drained();
        std::mem::take(&mut *calls.lock().unwrap()).join(" ")
    };
    assert_eq!(of(200, "ack #2"), "predicted acked");
    assert_eq!(of(201, "ack #2 sack #3-10"), "ack ssthresh acked");
    // The recovery ends, and #12 was lost in it.
    assert_eq!(of(302, "ack #11 sack #13-14"), "ack acked");
    assert_eq!(of(350, "ack #12 sack #13-14"), "ack complete ssthresh acked");
}

/// An ACK that changes the window takes Linux's slow path, even where nothing else happens.
#[test]
fn an_ack_that_changes_the_window_is_not_predicted() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut d = SenderDialogue::with_control(linux(), Box::new(Listed(Arc::clone(&calls))));
    d.handshake("S. @0 ack 1 mss 1460 sackOK ws 0");
    d.end.set_saturated(true);
    d.expect("#1-10");
    for (time, text, expected) in [
        (200, "ack #2", "predicted acked"),
        (210, "ack #3 win 40000", "ack acked"),
        (220, "ack #4 win 40000", "predicted acked"),
    ] {
        d.at(time);
        d.send(text);
        d.drained();
        assert_eq!(std::mem::take(&mut *calls.lock().unwrap()).join(" "), expected, "{text}");
    }
}

/// Notes the order of its calls.
#[derive(Debug)]
struct Listed(Arc<Mutex<Vec<&'static str>>>);

impl Listed {
    fn note(&self, call: &'static str) {
        self.0.lock().unwrap().push(call);
    }
}

impl CongestionControl for Listed {
    fn name(&self) -> &str {
        "listed"
    }
    fn counts_acks_first(&self) -> bool {
        true
    }
    fn in_ack_event(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample, predicted: bool) {
        self.note(if predicted { "predicted" } else { "ack" });
    }
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        self.note("ssthresh");
        tcp.cwnd / 2
    }
    fn pkts_acked(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {
        self.note("acked");
    }
    fn cwnd_event(&mut self, _now: Time, _tcp: &mut TcpState, event: CaEvent) {
        if event == CaEvent::CompleteCwr {
            self.note("complete");
        }
    }
    fn cong_avoid(&mut self, _now: Time, _tcp: &mut TcpState, _ack: &AckSample) {}
}

/// Paces 1000 bytes in 10 ms.
#[derive(Debug)]
struct Paced;

impl CongestionControl for Paced {
    fn name(&self) -> &str {
        "paced"
    }
    fn init(&mut self, _now: Time, tcp: &mut TcpState) {
        tcp.cwnd = 4 * tcp.mss;
        tcp.pacing_rate = Some("800 kbit/s".parse().expect("a rate"));
    }
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        tcp.cwnd / 2
    }
    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        tcp.cwnd += ack.acked;
    }
}

/// `tcp_send_loss_probe`: a probe is a packet, of several segments if one waits for the next ACK, and the timeout counts
/// from it.
#[test]
fn a_probe_of_several_segments_is_one_probe() {
    let config = with!(
        linux(),
        initial_window = InitialWindow::Segments(1000),
        recovery.tlp = true,
        segmentation_offload = true
    );
    let mut d = SenderDialogue::closed(config);
    d.handshake("S. @0 ack 1 mss 1460 sackOK ws 7");
    d.end.set_saturated(true);
    // The peer's first window is not scaled.
    d.drained();
    d.at(199);
    d.send("ack #1 win 65535");
    d.drained();
    d.at(200);
    // Room for five segments of a packet of some twenty: they wait.
    d.exchange("ack #6", "");
    assert_eq!(d.end.poll_timeout(), at(400));
    d.end.handle_timeout(at(400));
    let segments = std::iter::from_fn(|| d.poll_once().then_some(())).count();
    // 300 ms after the probe. The timeout of #6 is over.
    assert!(segments > 1 && d.end.poll_timeout() == at(700), "{segments}, {:?}", d.end.poll_timeout());
}
