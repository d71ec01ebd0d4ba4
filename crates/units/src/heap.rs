//! A minimum heap for queues of events.

use std::hint::select_unpredictable;

/// What a heap orders. No two keys of a heap are equal.
pub trait HeapKey: Copy + Ord {
    /// Later than every key: it loses every comparison, so that groups need no test for being full.
    const NEVER: Self;
}

impl HeapKey for u128 {
    const NEVER: Self = Self::MAX;
}

/// Follows where keys are, for an owner that moves or removes keys by name.
pub trait HeapPlaces<K> {
    /// `key` lies at `place` now.
    fn moved(&mut self, key: K, place: usize);
}

/// For an owner that needs the first key alone.
impl<K> HeapPlaces<K> for () {
    #[inline]
    fn moved(&mut self, _: K, _: usize) {}
}

/// A minimum heap with four children per node, siblings together in one cache line where a key has 16 bytes.
/// The children of place `p` are group `p`, and place `p` itself is in group `(p - 1) / 4` at `(p - 1) % 4`;
/// the first key lies apart. Unused places hold [`HeapKey::NEVER`].
#[derive(Debug)]
pub struct Heap<K, P = ()> {
    first: K,
    groups: Vec<Group<K>>,
    len: usize,
    /// Where the last replacement of the top came to rest.
    rest: usize,
    /// Told of every key that moves.
    pub places: P,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group<K>([K; 4]);

impl<K: HeapKey> Group<K> {
    /// The place of the least key, and the key.
    #[inline]
    fn least(&self) -> (usize, K) {
        let Self([a, b, c, d]) = *self;
        // A tournament: two comparisons that do not wait for each other, then one. No processor predicts
        // which key is least, so no branch may depend on that: the compiler has made branches of plain `if`s.
        let (i, left) = select_unpredictable(b < a, (1, b), (0, a));
        let (j, right) = select_unpredictable(d < c, (3, d), (2, c));
        select_unpredictable(right < left, (j, right), (i, left))
    }
}

impl<K: HeapKey, P: HeapPlaces<K> + Default> Default for Heap<K, P> {
    fn default() -> Self {
        Self { first: K::NEVER, groups: Vec::new(), len: 0, rest: 0, places: P::default() }
    }
}

impl<K: HeapKey, P: HeapPlaces<K>> Heap<K, P> {
    /// The least key, or [`HeapKey::NEVER`].
    #[inline]
    pub fn first(&self) -> K {
        self.first
    }

    /// How many keys there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The key at `place`, below [`len`](Self::len); the first is at 0.
    #[inline]
    pub fn key(&self, place: usize) -> K {
        match place.checked_sub(1) {
            None => self.first,
            Some(below) => self.groups[below / 4].0[below % 4],
        }
    }

    /// Where the last [replacement of the top](Self::replace_top) came to rest: every key on the way up from
    /// there has moved up. 0: none has.
    #[inline]
    pub fn rest(&self) -> usize {
        self.rest
    }

    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: K) {
        let place = self.len;
        self.len += 1;
        // Groups are never given back: the heap soon needs them again.
        if place.div_ceil(4) > self.groups.len() {
            self.groups.push(Group([K::NEVER; 4]));
        }
        self.rise(place, key);
    }

    /// Removes the first key.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(key) = self.take_last()
            && self.len > 0
        {
            self.replace_top(key);
        }
    }

    /// Puts `key` in the place of the first one: one step instead of two.
    #[expect(clippy::inline_always, reason = "every hop replaces the top")]
    #[inline(always)]
    pub fn replace_top(&mut self, key: K) {
        if let Some(children) = self.groups.first() {
            let (offset, least) = children.least();
            if least < key {
                self.first = least;
                self.places.moved(least, 0);
                return self.sink(0, offset, key);
            }
        }
        self.first = key;
        self.places.moved(key, 0);
        self.rest = 0;
    }

    /// Puts `key` in the place of the one at `place`.
    pub fn set(&mut self, place: usize, key: K) {
        if place == 0 {
            return self.replace_top(key);
        }
        if key < self.key((place - 1) / 4) {
            self.rise(place, key);
        } else {
            self.sink((place - 1) / 4, (place - 1) % 4, key);
        }
        self.rest = 0;
    }

    /// Removes the key at `place`.
    pub fn remove(&mut self, place: usize) {
        if let Some(last) = self.take_last()
            && place != self.len
        {
            // The last key is anywhere in the order: it rises or sinks from here.
            self.set(place, last);
        }
    }

    /// Takes the last key out of its place.
    #[inline]
    fn take_last(&mut self) -> Option<K> {
        let last = self.len.checked_sub(1)?;
        self.len = last;
        Some(std::mem::replace(self.place(last), K::NEVER))
    }

    #[inline]
    fn rise(&mut self, mut hole: usize, key: K) {
        while hole > 0 {
            let parent = (hole - 1) / 4;
            let above = self.key(parent);
            if above <= key {
                break;
            }
            *self.place(hole) = above;
            self.places.moved(above, hole);
            hole = parent;
        }
        *self.place(hole) = key;
        self.places.moved(key, hole);
    }

    /// Puts `key` where it belongs at or below the place `offset` of this group.
    #[expect(clippy::inline_always, reason = "every hop replaces the top")]
    #[inline(always)]
    fn sink(&mut self, mut group: usize, mut offset: usize, key: K) {
        let mut hole = 4 * group + 1 + offset;
        while let Some(children) = self.groups.get(hole) {
            let (next, least) = children.least();
            if key <= least {
                break;
            }
            self.groups[group].0[offset] = least;
            self.places.moved(least, hole);
            (group, offset) = (hole, next);
            hole = 4 * group + 1 + offset;
        }
        self.groups[group].0[offset] = key;
        self.places.moved(key, hole);
        self.rest = hole;
    }

    #[inline]
    fn place(&mut self, place: usize) -> &mut K {
        match place.checked_sub(1) {
            None => &mut self.first,
            Some(below) => &mut self.groups[below / 4].0[below % 4],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RandomStream;
    use std::collections::BTreeMap;

    /// The place of each key by its number, which is its remainder by 100.
    #[derive(Debug, Default)]
    struct ByNumber(BTreeMap<u128, usize>);

    impl HeapPlaces<u128> for ByNumber {
        fn moved(&mut self, key: u128, place: usize) {
            self.0.insert(key % 100, place);
        }
    }

    /// Against a sorted map: keys come, move and go, and the heap says where each one lies.
    #[test]
    fn keys_come_in_order_and_are_where_the_heap_says() {
        let mut stream = RandomStream::new(1, "heap", 0);
        let mut heap = Heap::<u128, ByNumber>::default();
        let mut model = BTreeMap::new();
        for _ in 0..20_000 {
            let number = u128::from(stream.below(100));
            let key = u128::from(stream.below(50)) * 100 + number;
            match (model.contains_key(&number), stream.below(3)) {
                (false, _) => {
                    heap.push(key);
                    model.insert(number, key);
                }
                (true, 0) => {
                    heap.set(heap.places.0[&number], key);
                    model.insert(number, key);
                }
                (true, 1) => {
                    heap.remove(heap.places.0[&number]);
                    model.remove(&number);
                }
                (true, _) => {
                    model.remove(&(heap.first() % 100));
                    if stream.below(2) == 0 {
                        heap.pop();
                    } else {
                        let first = heap.first() + 100 * u128::from(stream.below(50));
                        heap.replace_top(first);
                        model.insert(first % 100, first);
                    }
                }
            }
            assert_eq!(heap.first(), model.values().min().copied().unwrap_or(u128::NEVER));
            assert_eq!((heap.len(), heap.is_empty()), (model.len(), model.is_empty()));
            for (number, key) in &model {
                assert_eq!(heap.key(heap.places.0[number]), *key);
            }
        }
    }
}
