//! The ring of a link's packets.

use crate::frame::Frame;
use cogtcp_units::prefetch;

/// A ring buffer whose capacity is a power of two and grows with what it holds.
#[derive(Debug)]
pub(crate) struct Ring<P> {
    slots: Box<[Frame<P>]>,
    // 32 bits, so that the ring leaves room in the link's first cache line.
    head: u32,
    len: u32,
}

const FIRST_CAPACITY: usize = 4;
/// A ring of this capacity is not small enough to be fetched as a whole.
const LONG: usize = 32;
/// A place of a long ring is fetched so many places before its use.
const FETCHED_BEFORE: u32 = 4;

impl<P: Copy + Default> Ring<P> {
    pub(crate) fn new() -> Self {
        Self { slots: Box::default(), head: 0, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn get(&self, position: u32) -> &Frame<P> {
        debug_assert!(position < self.len);
        &self.slots[self.slot(position)]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, position: u32) -> &mut Frame<P> {
        debug_assert!(position < self.len);
        let slot = self.slot(position);
        &mut self.slots[slot]
    }

    /// Appends a packet, which is returned as it lies in the ring.
    #[inline]
    pub(crate) fn push(&mut self, frame: &Frame<P>) -> &mut Frame<P> {
        // The first packet allocates: a link without traffic costs no slots.
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        self.prefetch_after(self.len);
        let slot = self.slot(self.len);
        self.len += 1;
        let place = &mut self.slots[slot];
        *place = *frame;
        place
    }

    /// Takes the first packet, `into` the place for it. The ring must not be empty.
    #[inline]
    pub(crate) fn pop(&mut self, into: &mut Frame<P>) {
        debug_assert!(self.len > 0, "an arrival without a packet");
        *into = self.slots[self.slot(0)];
        self.prefetch_after(0);
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }

    /// Drops the first packet. The ring must not be empty.
    #[inline]
    pub(crate) fn skip(&mut self) {
        debug_assert!(self.len > 0, "an arrival without a packet");
        self.prefetch_after(0);
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }

    /// Prefetches the packet, or the room, a few places after `position`, which is used now. A long ring is
    /// used in order, but other work in between hides the order from the processor.
    #[inline]
    pub(crate) fn prefetch_after(&self, position: u32) {
        if self.slots.len() >= LONG {
            self.prefetch(position.wrapping_add(FETCHED_BEFORE));
        }
    }

    /// Asks for the line of the packet at `position`, or of the room for it.
    #[inline]
    pub(crate) fn prefetch(&self, position: u32) {
        if let Some(frame) = self.slots.get(self.slot(position)) {
            prefetch(frame, 1);
        }
    }

    #[inline]
    fn slot(&self, position: u32) -> usize {
        // Capacities are powers of two: the mask is the remainder, also where `head` wraps. In an empty ring
        // it finds no slot, and only `prefetch` asks.
        self.head.wrapping_add(position) as usize & self.slots.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(FIRST_CAPACITY);
        let mut slots = Vec::with_capacity(capacity);
        slots.extend((0..self.len).map(|position| *self.get(position)));
        slots.resize(capacity, Frame::default());
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn keeps_order_across_growth_and_wrapping() {
        let mut ring = Ring::<u32>::new();
        let mut model = VecDeque::new();
        let mut number = 0;
        for round in 0..2000u32 {
            for _ in 0..(round * 7) % 5 {
                ring.push(&Frame::new(number, 1));
                model.push_back(number);
                number += 1;
            }
            for _ in 0..(round * 3) % 5 {
                if let Some(expected) = model.pop_front() {
                    let mut first = Frame::default();
                    ring.pop(&mut first);
                    assert_eq!(first.packet, expected);
                }
            }
            assert_eq!(ring.len() as usize, model.len());
            for (i, expected) in model.iter().enumerate() {
                assert_eq!(ring.get(i as u32).packet, *expected);
            }
        }
    }
}
