//! The classic comparison, end to end: one to four drops in a window of ten.
//!
//! RTT 100 ms, no rate limit: the handshake ends at 100 ms, #1 to #10 leave at 100 ms, their ACKs are back at
//! 200 ms. RTO 1 s. Limited transmit is off and the data ends with the window's follow-up, so that each
//! recovery shows itself.

use crate::dialogue::harness::*;
use cogtcp_transport::*;

fn run(recovery: Recovery, drops: &[u64]) -> Pipe {
    run_with(with!(sender_config(recovery, 10), recovery.limited_transmit = false), drops)
}

fn run_with(config: SenderConfig, drops: &[u64]) -> Pipe {
    let mut pipe = Pipe::new(config, receiver_config()).drop_first(drops).transfer(60);
    pipe.run_to_delivery(60);
    pipe
}

/// RFC 5681 section 3.2: with one drop all but Tahoe are alike: one retransmission after a round trip, window
/// halved.
#[test]
fn rfc5681_3_2_one_drop() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let pipe = run(recovery, &[1]);
        assert_eq!(pipe.retransmissions(), [(200, 1)], "{recovery:?}");
        let stats = pipe.sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 0), "{recovery:?}");
    }
    let pipe = run(Recovery::Tahoe, &[1]);
    assert_eq!(pipe.retransmissions(), [(200, 1)]);
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

/// RFC 6582 section 3.2: one retransmission per round trip.
#[test]
fn rfc6582_3_2_newreno_one_hole_per_round_trip() {
    for (drops, expected) in [
        (&[1, 3][..], &[(200, 1), (300, 3)][..]),
        (&[1, 3, 5], &[(200, 1), (300, 3), (400, 5)]),
        (&[1, 3, 5, 7], &[(200, 1), (300, 3), (400, 5), (500, 7)]),
        (&[4, 5, 6, 7], &[(200, 4), (300, 5), (400, 6), (500, 7)]),
    ] {
        let pipe = run(Recovery::NewReno, drops);
        assert_eq!(pipe.retransmissions(), expected, "{drops:?}");
        let stats = pipe.sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 0), "{drops:?}");
    }
}

/// RFC 6675 section 5: all holes within one round trip.
#[test]
fn rfc6675_5_sack_all_holes_in_one_round_trip() {
    for drops in [&[1, 3][..], &[1, 3, 5], &[1, 3, 5, 7], &[2, 3], &[2, 3, 4], &[2, 3, 4, 5]] {
        let pipe = run(Recovery::Sack, drops);
        let expected: Vec<_> = drops.iter().map(|number| (200, *number)).collect();
        // The four in a row leave six ACKs for the window of five: the last may wait for the first
        // retransmission's ACK.
        let retransmitted: Vec<_> = pipe.retransmissions().iter().map(|(_, number)| *number).collect();
        assert_eq!(retransmitted, drops, "{drops:?}");
        assert!(pipe.retransmissions().iter().all(|(time, _)| *time <= 300), "{:?}", pipe.retransmissions());
        if drops[0] == 1 {
            assert_eq!(pipe.retransmissions(), expected, "{drops:?}");
        }
        let stats = pipe.sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 0), "{drops:?}");
    }
}

/// RFC 6582 section 1: Reno takes two drops for two losses, and needs the timer for three and more.
#[test]
fn rfc6582_1_reno_times_out_with_three_drops_and_more() {
    let pipe = run(Recovery::Reno, &[1, 3]);
    assert_eq!((pipe.sender.stats().fast_retransmits, pipe.sender.stats().timeouts), (2, 0));
    assert_eq!(pipe.retransmissions(), [(200, 1), (300, 3)]);
    for drops in [&[1, 3, 5][..], &[1, 3, 5, 7]] {
        let pipe = run(Recovery::Reno, drops);
        let stats = pipe.sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 1), "{drops:?}");
        // The partial ACK at 300 ms restarts the timer of 1 s.
        assert_eq!(pipe.retransmissions()[..2], [(200, 1), (1_300, 3)], "{drops:?}");
    }
}

/// ns-2's bugFix_: a second loss in the window brings Reno no second fast retransmit, and it waits for its
/// timer.
#[test]
fn reno_with_the_guard_of_a_window_times_out_with_two_drops() {
    let config = with!(
        sender_config(Recovery::Reno, 10),
        recovery.limited_transmit = false,
        recovery.fast_retransmit_guard = FastRetransmitGuard::Window
    );
    let pipe = run_with(config, &[1, 3]);
    assert_eq!((pipe.sender.stats().fast_retransmits, pipe.sender.stats().timeouts), (1, 1));
    assert_eq!(pipe.retransmissions()[..2], [(200, 1), (1_300, 3)]);
}

/// Fall and Floyd 1996: Tahoe recovers from several drops without the timer, at the price of retransmitting
/// what arrived.
#[test]
fn tahoe_recovers_by_slow_start() {
    for drops in [&[1, 3][..], &[1, 3, 5], &[1, 3, 5, 7]] {
        let pipe = run(Recovery::Tahoe, drops);
        let stats = pipe.sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 0), "{drops:?}");
        assert!(pipe.retransmissions().len() > drops.len(), "{drops:?}: {:?}", pipe.retransmissions());
        assert_eq!(pipe.retransmissions()[..2], [(200, 1), (300, 3)], "{drops:?}");
    }
}

/// Fall and Floyd 1996: the order of the four with more than one drop.
#[test]
fn the_classic_order() {
    let time = |recovery, drops: &[u64]| {
        let config = with!(sender_config(recovery, 10), recovery.limited_transmit = false);
        let mut pipe = Pipe::new(config, receiver_config()).drop_first(drops).transfer(60);
        pipe.run_to_delivery(60)
    };
    for drops in [&[1, 3, 5][..], &[1, 3, 5, 7]] {
        let sack = time(Recovery::Sack, drops);
        let newreno = time(Recovery::NewReno, drops);
        let reno = time(Recovery::Reno, drops);
        assert!(sack < newreno && newreno < reno, "{sack} {newreno} {reno}");
    }
}

/// RFC 3782 section 4, Impatient: the timer runs from the first partial ACK; many holes end in a timeout.
#[test]
fn rfc3782_4_impatient() {
    let config = with!(
        sender_config(Recovery::NewReno, 16),
        timers.min_rto = ms(350),
        recovery.limited_transmit = false
    );
    let pipe = run_with(config, &[1, 3, 5, 7, 9, 11, 13, 15]);
    // One hole per round trip; the timer of 350 ms runs from 300 ms on.
    let expected = [(200, 1), (300, 3), (400, 5), (500, 7), (600, 9), (650, 9)];
    assert_eq!(pipe.retransmissions()[..6], expected);
    assert_eq!(pipe.sender.stats().timeouts, 1);
    // The 16 segments halved at the first loss, those 8 at the timeout: not half of the FlightSize that the
    // duplicate ACKs let grow in between.
    assert_eq!(pipe.sender.state().ssthresh, 4 * u64::from(MSS));
}

/// RFC 3782 section 4, Slow-but-Steady: every partial ACK restarts the timer.
#[test]
fn rfc3782_4_slow_but_steady() {
    let config = with!(
        sender_config(Recovery::NewReno, 16),
        timers.min_rto = ms(350),
        recovery.newreno_variant = NewRenoVariant::SlowButSteady,
        recovery.limited_transmit = false
    );
    let pipe = run_with(config, &[1, 3, 5, 7, 9, 11, 13, 15]);
    let expected: Vec<_> = (0..8).map(|k| (200 + 100 * k, 1 + 2 * k)).collect();
    assert_eq!(pipe.retransmissions(), expected);
    assert_eq!(pipe.sender.stats().timeouts, 0);
}

/// RFC 6675 section 5: a lost retransmission waits for the timer.
#[test]
fn rfc6675_5_lost_retransmission() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let config = with!(sender_config(recovery, 10), recovery.limited_transmit = false);
        let mut pipe = Pipe::new(config, receiver_config()).drop(&[(1, 1), (1, 2)]).transfer(60);
        pipe.run_to_delivery(60);
        // The timer has run since 100 ms, or since the retransmission (RFC 6675 section 5 step 4.3 leaves
        // it).
        assert_eq!(pipe.sender.stats().timeouts, 1, "{recovery:?}");
        let times = pipe.sent_at(1);
        assert!(times[..2] == [100, 200] && (1_100..=1_200).contains(&times[2]), "{recovery:?}: {times:?}");
    }
}

/// RFC 6298: a whole window lost is found by the timer alone.
#[test]
fn rfc6298_5_whole_window_lost() {
    let drops: Vec<u64> = (1..=10).collect();
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let pipe = run(recovery, &drops);
        let stats = pipe.sender.stats();
        assert_eq!((stats.timeouts, stats.fast_retransmits), (1, 0), "{recovery:?}");
        // Slow start: 1, 2, 4, then congestion avoidance from ssthresh 5 on.
        let times: Vec<_> = pipe.retransmissions().iter().map(|(time, _)| *time).collect();
        assert_eq!(
            times,
            [1_100, 1_200, 1_200, 1_300, 1_300, 1_300, 1_300, 1_400, 1_400, 1_400],
            "{recovery:?}"
        );
    }
}

/// RFC 5681 section 4.2: lost ACKs are covered by the next.
#[test]
fn rfc5681_4_2_lost_acks() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let config = sender_config(recovery, 10);
        let mut pipe =
            Pipe::new(config, receiver_config()).drop_acks((1..=60).filter(|k| k % 3 != 0)).transfer(60);
        pipe.run_to_delivery(60);
        assert_eq!(pipe.retransmissions(), [], "{recovery:?}");
    }
}

/// RFC 3042 section 1: with a window of four one drop leaves three duplicate ACKs only by limited transmit
/// where two arrive.
#[test]
fn rfc3042_1_limited_transmit_saves_a_timeout() {
    for (limited_transmit, timeouts) in [(true, 0), (false, 1)] {
        let config = with!(sender_config(Recovery::NewReno, 3), recovery.limited_transmit = limited_transmit);
        let pipe = run_with(config, &[1]);
        assert_eq!(pipe.sender.stats().timeouts, timeouts);
    }
}

/// RFC 5681 section 3.2: reordering by less than three segments causes no retransmission.
#[test]
fn rfc5681_3_2_small_reordering_is_harmless() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        // With 10 ms between segments a delay of 25 ms lets two pass.
        let mut pipe = Pipe::new(sender_config(recovery, 10), receiver_config())
            .spaced(10)
            .delay(5, 1, 25)
            .delay(20, 1, 25)
            .transfer(60);
        pipe.run_to_delivery(60);
        assert_eq!(pipe.retransmissions(), [], "{recovery:?}");
    }
}

/// RFC 2883 section 4.1: a spurious fast retransmit is reported by D-SACK.
#[test]
fn rfc2883_4_1_spurious_fast_retransmit() {
    let mut pipe = Pipe::new(sender_config(Recovery::Sack, 10), receiver_config())
        .spaced(10)
        .delay(3, 1, 65)
        .transfer(60);
    pipe.run_to_delivery(60);
    pipe.run_until(10_000);
    assert_eq!(pipe.retransmissions().len(), 1);
    assert_eq!((pipe.sender.stats().d_sacks, pipe.receiver.stats().duplicate_segments), (1, 1));
}
