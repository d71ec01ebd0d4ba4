//! The packets under way, in places that are used again.

use cogtcp_transport::{Flags, IPV4_HEADER, Segment, SeqNumber, TCP_HEADER};
use cogtcp_units::Time;

/// A packet in the network: the segment, and when the segment left that it is or that it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Data: when it was sent. An acknowledgement: when the data was sent that it answers. Else `Time::MAX`.
    pub(crate) sent_at: Time,
}

/// A store of packets. Most segments carry no option: they take half a cache line, the others a second place.
#[derive(Debug)]
pub(crate) struct PacketStore {
    places: Vec<Place>,
    free: Vec<u32>,
    with_options: Vec<Segment>,
    free_with_options: Vec<u32>,
}

/// A segment without options, or the place of one with them.
#[derive(Clone, Copy, Debug)]
struct Place {
    sent_at: Time,
    seq: SeqNumber,
    ack: SeqNumber,
    /// With options: the place in `with_options`.
    len: u32,
    tag: u32,
    window: u16,
    flags: Flags,
    has_options: bool,
}

impl PacketStore {
    pub(crate) fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), with_options: Vec::new(), free_with_options: Vec::new() }
    }

    /// Stores `packet`, whose wire size is `wire`; the answer takes it out again.
    #[inline]
    pub(crate) fn put(&mut self, packet: &Packet, wire: u32) -> u32 {
        let segment = &packet.segment;
        let has_options = wire != IPV4_HEADER + TCP_HEADER + segment.len;
        let place = Place {
            sent_at: packet.sent_at,
            seq: segment.seq,
            ack: segment.ack,
            len: if has_options {
                put(&mut self.with_options, &mut self.free_with_options, *segment)
            } else {
                segment.len
            },
            tag: segment.tag,
            window: segment.window,
            flags: segment.flags,
            has_options,
        };
        put(&mut self.places, &mut self.free, place)
    }

    /// Takes the packet at `place` out.
    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> Packet {
        let stored = self.places[place as usize];
        self.free.push(place);
        let segment = if stored.has_options {
            self.free_with_options.push(stored.len);
            self.with_options[stored.len as usize]
        } else {
            let mut segment = Segment::new(stored.seq, stored.ack, stored.len, stored.window, stored.flags);
            segment.tag = stored.tag;
            segment
        };
        Packet { segment, sent_at: stored.sent_at }
    }

    /// How many packets are stored.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

#[inline]
fn put<T>(places: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    match free.pop() {
        Some(place) => {
            places[place as usize] = value;
            place
        }
        None => {
            places.push(value);
            places.len() as u32 - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_out_as_they_went_in() {
        let mut plain =
            Segment::new(SeqNumber::new(7), SeqNumber::new(9), 1000, 500, Flags::ACK | Flags::PSH);
        plain.tag = 42;
        let mut stamped = plain;
        stamped.set_timestamps(1, 2);
        stamped.push_sack(SeqNumber::new(20), SeqNumber::new(30));
        let mut store = PacketStore::new();
        for _ in 0..3 {
            let places: Vec<u32> = [plain, stamped, plain]
                .into_iter()
                .map(|segment| {
                    store.put(&Packet { segment, sent_at: Time::from_millis(5) }, segment.wire_size())
                })
                .collect();
            assert_eq!(store.len(), 3);
            assert!(store.take(places[1]).segment == stamped);
            assert!(store.take(places[0]).segment == plain);
            let last = store.take(places[2]);
            assert!(last.segment == plain && last.sent_at == Time::from_millis(5));
        }
        assert_eq!((store.len(), store.places.len(), store.with_options.len()), (0, 3, 1));
        assert_eq!(size_of::<Place>(), 32);
    }
}
