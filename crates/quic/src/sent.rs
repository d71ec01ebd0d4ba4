//! Which packets of the 1-RTT space have been sent and acknowledged: finds losses that were none.

use crate::wire::Ack;
use std::collections::VecDeque;

/// Packets below the largest acknowledged that are watched for a late acknowledgement. An older one stays
/// lost.
const WATCHED: u64 = 10_000;

/// Packets of one packet number space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// Number of the next packet, if quinn skips none.
    next: u64,
    /// Ack-eliciting packets above the largest acknowledged.
    above: VecDeque<u64>,
    /// Those below, not acknowledged, ascending.
    below: VecDeque<u64>,
    /// The first range of the latest acknowledgement began there.
    lowest: u64,
    /// Its other ranges, as encoded.
    ranges: Vec<u8>,
}

impl Sent {
    /// The packet number that the next packet is expected to have.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// An ack-eliciting packet leaves.
    pub(crate) fn on_sent(&mut self, number: u64, is_ack_eliciting: bool) {
        self.next = number + 1;
        if is_ack_eliciting {
            self.above.push_back(number);
        }
    }

    /// Returns how many ack-eliciting packets `ack` acknowledges for the first time.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>) -> u64 {
        let mut newly = 0;
        // Nearly all packets are in the first range of the first acknowledgement after them.
        let (lowest, ranges) = ack.lower();
        while let Some(number) = self.above.pop_front_if(|number| *number <= ack.largest) {
            if number >= lowest {
                newly += 1;
            } else {
                self.below.push_back(number);
            }
        }
        // Without losses nothing is below, which is the common case.
        let Some((&first, &last)) = self.below.front().zip(self.below.back()) else { return newly };
        // Ranges that an earlier acknowledgement had too acknowledge nothing new: what has come below since lies
        // above them.
        if last >= lowest || lowest != self.lowest || ranges != self.ranges {
            self.lowest = lowest;
            self.ranges.clear();
            self.ranges.extend_from_slice(ranges);
            newly += self.take_below(ack, first);
        }
        // Keeps memory bounded on a link that loses much.
        while self.below.front().is_some_and(|number| number + WATCHED < ack.largest) {
            self.below.pop_front();
        }
        newly
    }

    /// Takes out what `ack` acknowledges below the largest, from `first` up, and returns how many these are.
    fn take_below(&mut self, ack: &Ack<'_>, first: u64) -> u64 {
        let mut newly = 0;
        let mut left = self.below.len();
        for (low, high) in ack.ranges().take_while(|(_, high)| *high >= first) {
            // Ranges descend: what lies above one lies above all that follow.
            left = self.below.partition_point(|number| *number <= high).min(left);
            let begin = self.below.partition_point(|number| *number < low).min(left);
            newly += (left - begin) as u64;
            self.below.drain(begin..left);
            left = begin;
            if left == 0 {
                break;
            }
        }
        newly
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{QuicFrame, frames};
    use cogtcp_units::RandomStream;
    use std::collections::BTreeSet;

    /// An ACK frame of the latest 8 ranges of `arrived`.
    fn payload(arrived: &BTreeSet<u64>) -> Vec<u8> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in arrived.iter().rev().copied() {
            match ranges.last_mut() {
                Some((low, _)) if *low == number + 1 => *low = number,
                _ => ranges.push((number, number)),
            }
        }
        ranges.truncate(8);
        let (low, largest) = ranges[0];
        let mut numbers = vec![largest, 0, ranges.len() as u64 - 1, largest - low];
        for pair in ranges.windows(2) {
            numbers.extend([pair[0].0 - pair[1].1 - 2, pair[1].1 - pair[1].0]);
        }
        let integer = |number: u64| (number | 3 << 62).to_be_bytes();
        [2].into_iter().chain(numbers.into_iter().flat_map(integer)).collect()
    }

    /// Against a set: packets are lost, come late and are no ack-eliciting ones; ACKs repeat and come late.
    #[test]
    fn each_packet_is_acknowledged_once() {
        for seed in 0..300 {
            let mut random = RandomStream::new(seed, "sent", 0);
            let (mut sent, mut open) = (Sent::default(), BTreeSet::new());
            let (mut arrived, mut late) = (BTreeSet::new(), Vec::new());
            let mut before = Vec::new();
            let mut found = 0;
            for number in 0..400 {
                let elicits = random.below(10) > 0;
                sent.on_sent(number, elicits);
                if elicits {
                    open.insert(number);
                }
                match random.below(20) {
                    0 => {}
                    1 => late.push(number),
                    _ => drop(arrived.insert(number)),
                }
                if random.below(30) == 0 {
                    arrived.extend(late.drain(..));
                }
                if arrived.is_empty() || random.below(3) > 0 {
                    continue;
                }
                let latest = payload(&arrived);
                let bytes = if random.below(10) == 0 && !before.is_empty() { &before } else { &latest };
                let Some(QuicFrame::Ack(ack)) = frames(bytes).next() else { panic!("no ACK") };
                let covered = |number: &u64| ack.ranges().any(|(low, high)| (low..=high).contains(number));
                let count = open.len();
                open.retain(|number| !covered(number));
                let newly = (count - open.len()) as u64;
                assert_eq!(sent.on_ack(&ack), newly, "seed {seed}, packet {number}");
                found += newly;
                if bytes == &latest {
                    before = latest;
                }
            }
            assert!(found > 200, "seed {seed}: {found}");
        }
    }

    /// An ACK frame of the range `low` to `high` alone.
    fn acknowledged(sent: &mut Sent, low: u64, high: u64) -> u64 {
        let bytes = payload(&(low..=high).collect());
        let Some(QuicFrame::Ack(ack)) = frames(&bytes).next() else { panic!("no ACK") };
        sent.on_ack(&ack)
    }

    /// A packet is watched until 10,000 later ones are acknowledged; one that asks for no acknowledgement is not.
    #[test]
    fn old_packets_stay_lost() {
        for (last, newly) in [(10_000, 1), (10_001, 0)] {
            let mut sent = Sent::default();
            (0..=last).for_each(|number| sent.on_sent(number, number == 0 || number == last));
            assert_eq!((sent.next(), acknowledged(&mut sent, last, last)), (last + 1, 1));
            assert_eq!(sent.below.len() as u64, newly);
            assert_eq!(acknowledged(&mut sent, 0, 1), newly);
        }
    }
}
