//! When HARQ knows whether a transport block has arrived, and may send it again.

use crate::frame::{Direction, SlotPattern};

/// Slots from data to feedback, and from feedback to the next transmission (LTE: TS 36.213, sections 7.3 and
/// 8; of NR these are settings, and four slots a common value).
pub const TURNAROUND: u64 = 4;

/// Subframes from downlink data to its feedback, of uplink-downlink configurations 0 to 6 (TS 36.213,
/// table 10.1.3.1-1). Each entry is the uplink subframe that carries feedback, and the distances. Compared
/// with a public implementation of release 16.
const ASSOCIATION: [&[(u64, &[u64])]; 7] = [
    &[(2, &[6]), (4, &[4]), (7, &[6]), (9, &[4])],
    &[(2, &[7, 6]), (3, &[4]), (7, &[7, 6]), (8, &[4])],
    &[(2, &[8, 7, 4, 6]), (7, &[8, 7, 4, 6])],
    &[(2, &[7, 6, 11]), (3, &[6, 5]), (4, &[5, 4])],
    &[(2, &[12, 8, 7, 11]), (3, &[6, 5, 4, 7])],
    &[(2, &[13, 12, 9, 8, 7, 5, 4, 11, 6])],
    &[(2, &[7]), (3, &[7]), (4, &[5]), (7, &[7]), (8, &[7])],
];

/// Downlink HARQ processes of uplink-downlink configurations 0 to 6 (TS 36.213, table 7-1).
const DOWNLINK_PROCESSES: [usize; 7] = [4, 7, 10, 9, 12, 15, 6];
/// Uplink HARQ processes (TS 36.213, table 8-1).
const UPLINK_PROCESSES: [usize; 7] = [7, 4, 2, 3, 2, 1, 6];

/// Returns the slot of the feedback for data of slot `number`.
pub fn feedback(frame: &SlotPattern, direction: Direction, number: u64) -> u64 {
    if direction == Direction::Downlink
        && let Some(table) = frame.configuration().and_then(|it| ASSOCIATION.get(it))
    {
        // An LTE frame has ten subframes, each one slot here.
        let answers = |distance: u64| {
            table.iter().any(|(at, back)| (number + distance) % 10 == *at && back.contains(&distance))
        };
        // 13 is the longest distance of the table.
        if let Some(distance) = (TURNAROUND..=13).find(|distance| answers(*distance)) {
            return number + distance;
        }
    }
    let back = match direction {
        Direction::Downlink => Direction::Uplink,
        Direction::Uplink => Direction::Downlink,
    };
    frame.next_number(back, number + TURNAROUND)
}

/// Returns the first slot in which a block of slot `number` may be retransmitted: LTE FDD has a round trip of
/// 8 ms.
pub fn retransmission(frame: &SlotPattern, direction: Direction, number: u64) -> u64 {
    frame.next_number(direction, feedback(frame, direction, number) + TURNAROUND)
}

/// Returns how many blocks of a user can be under way (NR: 16, TS 38.214 section 5.1).
pub fn processes(frame: &SlotPattern, direction: Direction, is_lte: bool) -> usize {
    match (frame.configuration(), direction) {
        (Some(number), Direction::Downlink) => DOWNLINK_PROCESSES[number],
        (Some(number), Direction::Uplink) => UPLINK_PROCESSES[number],
        (None, _) if is_lte => 8,
        (None, _) => 16,
    }
}
