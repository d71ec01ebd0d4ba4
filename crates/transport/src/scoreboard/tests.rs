use super::*;

const MSS: u32 = 1000;

/// `count` segments of 1000 bytes from offset 1: segment k covers 1 + 1000 k .. 1001 + 1000 k.
fn board(count: usize) -> Scoreboard {
    let mut board = Scoreboard::new(u64::from(MSS));
    board.start(1, u64::from(MSS));
    (0..count).for_each(|_| board.push(Sent::default(), MSS));
    board
}

/// SACKs segments `first..end`; returns the bytes newly SACKed.
fn sack(board: &mut Scoreboard, first: u64, end: u64) -> u64 {
    let newly = board.sack(1 + 1000 * first, 1 + 1000 * end, |_, _| ());
    board.check();
    newly
}

#[test]
fn sacks_count_once_in_any_order() {
    let mut b = board(20);
    assert_eq!(sack(&mut b, 5, 7), 2000);
    assert_eq!(sack(&mut b, 5, 7), 0);
    assert_eq!(sack(&mut b, 3, 8), 3000);
    assert_eq!(sack(&mut b, 10, 12), 2000);
    assert_eq!(sack(&mut b, 8, 10), 2000);
    assert_eq!(b.runs, [Run { start: 3001, end: 12_001 }]);
    assert_eq!(sack(&mut b, 0, 20), 11_000);
    assert_eq!((b.in_flight(), b.runs.len()), (0, 1));
}

/// A window probe of one byte is taken back alone: data that was sent as such stays outstanding.
#[test]
fn only_a_probe_is_taken_back() {
    let mut b = board(1);
    assert!(!b.take_probe_back());
    assert_eq!((b.in_flight(), b.segments()), (1000, 1));
    b.advance(1001, |_| ());
    assert!(!b.take_probe_back(), "nothing is there");
    b.put_probe_back(Sent::default());
    assert_eq!(b.in_flight(), 1);
    assert!(b.take_probe_back());
    assert_eq!((b.in_flight(), b.segments()), (0, 0));
    // Its byte goes again with the next segment.
    b.push(Sent::default(), MSS);
    assert_eq!(b.offset(b.get(0).unwrap()), 1001);
    b.check();
}

/// A block that ends inside a segment covers only the whole segments.
#[test]
fn partial_segments_do_not_count() {
    let mut b = board(4);
    assert_eq!(b.sack(1501, 3700, |_, _| ()), 1000);
    assert_eq!(b.runs, [Run { start: 2001, end: 3001 }]);
    // Beyond what was sent, and below una.
    assert_eq!(b.sack(3001, 90_000, |_, _| ()), 1000);
    b.advance(2001, |_| ());
    assert_eq!(b.sack(0, 2001, |_, _| ()), 0);
    b.check();
}

/// RFC 6675 section 4, IsLost: more than (3 - 1) * SMSS bytes SACKed above, not just as much.
#[test]
fn lost_by_bytes() {
    let mut b = board(10);
    sack(&mut b, 2, 4);
    assert_eq!(b.update_lost(3), 0);
    sack(&mut b, 4, 5);
    assert_eq!(b.update_lost(3), 2000);
    // 10 outstanding - 3 SACKed - 2 lost.
    assert_eq!((b.in_flight(), b.front_is_lost()), (5000, true));
    assert_eq!(b.update_lost(3), 0);
    b.check();
}

/// RFC 6675 section 4, IsLost: three discontiguous ranges, however small.
#[test]
fn lost_by_ranges() {
    let mut b = Scoreboard::new(1000);
    b.start(1, 1000);
    (0..8).for_each(|_| b.push(Sent::default(), 100));
    for k in [1, 3] {
        b.sack(1 + 100 * k, 101 + 100 * k, |_, _| ());
        assert_eq!(b.update_lost(3), 0);
    }
    b.sack(501, 601, |_, _| ());
    // Below three ranges lies segment 0 alone; 2 has two ranges above it, 4 has one.
    assert_eq!(b.update_lost(3), 100);
    b.check();
}

#[test]
fn retransmissions_count_in_pipe_until_acknowledged() {
    let mut b = board(10);
    sack(&mut b, 1, 10);
    assert_eq!((b.update_lost(3), b.in_flight()), (1000, 0));
    assert_eq!(b.next_hole(), Some((0, true)));
    b.retransmit(0, Time::ZERO, false).unwrap();
    assert_eq!((b.in_flight(), b.next_hole()), (1000, None));
    let mut seen = Vec::new();
    b.advance(10_001, |sent| seen.push(sent.flags()));
    assert_eq!((seen.len(), seen[0] & EVER_RETRANSMITTED, b.in_flight()), (10, EVER_RETRANSMITTED, 0));
    b.check();
}

/// A timeout forgets retransmissions and marks all but the SACKed segments lost (RFC 6675 section 5.1 keeps
/// SACKs).
#[test]
fn timeout_marks_everything_lost() {
    let mut b = board(6);
    sack(&mut b, 2, 3);
    b.retransmit(0, Time::ZERO, false);
    assert_eq!(b.mark_all_lost(), 5000);
    assert_eq!((b.in_flight(), b.next_lost()), (0, Some(0)));
    let retransmitted: Vec<usize> = std::iter::from_fn(|| {
        let index = b.next_lost()?;
        b.retransmit(index, Time::ZERO, true).map(|_| index)
    })
    .collect();
    assert_eq!(retransmitted, [0, 1, 3, 4, 5]);
    assert_eq!(b.in_flight(), 5000);
    b.check();
    b.advance(1501, |_| ());
    assert_eq!(b.offset(b.get(0).unwrap()), 1501);
    b.check();
    b.forget_sacks();
    b.clear_lost();
    b.check();
}

#[test]
fn last_unsacked_for_the_rescue() {
    let mut b = board(5);
    assert_eq!(b.last_unsacked(), Some(4));
    sack(&mut b, 3, 5);
    assert_eq!(b.last_unsacked(), Some(2));
    sack(&mut b, 0, 3);
    assert_eq!(b.last_unsacked(), None);
}

/// Random blocks, acknowledgements, losses and retransmissions against the full scan of `check`.
#[test]
fn counts_hold_under_random_use() {
    let mut random = cogtcp_units::RandomStream::new(1, "scoreboard", 0);
    for _ in 0..300 {
        let mut b = board(0);
        for _ in 0..120 {
            match random.below(7) {
                0..=2 => (0..random.below(6)).for_each(|_| {
                    let len = if random.below(4) == 0 { 1 + random.below(1000) as u32 } else { MSS };
                    b.push(Sent::default(), len);
                }),
                3 if b.flight_size() > 0 => {
                    let start = b.una() + random.below(b.flight_size());
                    b.sack(start, start + random.below(5000), |_, _| ());
                }
                4 if b.flight_size() > 0 => {
                    let reach = b.flight_size().min(4000);
                    b.advance(b.una() + 1 + random.below(reach), |_| ());
                }
                5 => {
                    b.update_lost(3);
                    if let Some((index, _)) = b.next_hole() {
                        b.retransmit(index, Time::ZERO, false);
                    }
                }
                6 if random.below(8) == 0 => {
                    b.mark_all_lost();
                }
                6 => {
                    if let Some(index) = b.next_lost() {
                        b.retransmit(index, Time::ZERO, true);
                    }
                }
                _ => {}
            }
            b.check();
        }
    }
}

/// `tcp_mark_skb_lost`: after an undo a retransmission still counts as on its way when its segment is found lost. The
/// second time it is lost, too. RFC 8985 retransmits the first time.
#[test]
fn linux_finds_such_a_retransmission_lost_the_second_time() {
    let due = |is_linux| {
        let mut b = Scoreboard::new(1000);
        b.start(0, 1000);
        b.push(Sent::at(Time::ZERO), 1000);
        b.retransmit(0, Time::from_millis(1), false);
        [0; 2].map(|_| {
            b.mark_lost(0, is_linux);
            (b.next_lost(), b.in_flight())
        })
    };
    assert_eq!(due(false), [(Some(0), 0), (Some(0), 0)]);
    assert_eq!(due(true), [(None, 1000), (Some(0), 0)]);
}
