//! The packets under way.

use cogtcp_transport::{Flags, IPV4_HEADER, Segment, SeqNumber, TCP_HEADER};
use cogtcp_units::Time;

/// A packet in the network: the segment, and when the segment left that it is or that it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Data: when it was sent. An acknowledgement: when the data was sent that it answers. Else `Time::MAX`.
    pub(crate) sent_at: Time,
}

/// A packet as it lies in a pipe. Most segments carry no option; the options of the others lie in the [`OptionStore`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel {
    sent_at: Time,
    seq: SeqNumber,
    ack: SeqNumber,
    /// Payload bytes; with options: the segment's place in the store.
    len: u32,
    tag: u32,
    window: u16,
    flags: Flags,
    has_options: bool,
    /// Of a segment without options: whether it is ECN-capable.
    ect: bool,
}

impl Parcel {
    /// Whether the segment lies in the store.
    pub(crate) fn has_options(&self) -> bool {
        self.has_options
    }

    /// The segment of a parcel without options.
    #[inline]
    fn plain(&self) -> Segment {
        let mut segment = Segment::new(self.seq, self.ack, self.len, self.window, self.flags);
        segment.tag = self.tag;
        if self.ect {
            segment.set_ecn_capable();
        }
        segment
    }
}

/// The segments with options that are under way, in places that are used again.
#[derive(Debug, Default)]
pub(crate) struct OptionStore {
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl OptionStore {
    /// Packs `packet`, whose wire size is `wire`. Every parcel is to be unpacked once.
    #[inline]
    pub(crate) fn pack(&mut self, packet: &Packet, wire: u32) -> Parcel {
        let segment = &packet.segment;
        let has_options = wire != IPV4_HEADER + TCP_HEADER + segment.len;
        Parcel {
            sent_at: packet.sent_at,
            seq: segment.seq,
            ack: segment.ack,
            len: if has_options { self.put(segment) } else { segment.len },
            tag: segment.tag,
            window: segment.window,
            flags: segment.flags,
            has_options,
            ect: segment.is_ecn_capable(),
        }
    }

    /// The packet in `parcel`.
    #[inline]
    pub(crate) fn unpack(&mut self, parcel: &Parcel) -> Packet {
        let segment = if parcel.has_options {
            self.free.push(parcel.len);
            self.segments[parcel.len as usize]
        } else {
            parcel.plain()
        };
        Packet { segment, sent_at: parcel.sent_at }
    }

    /// The segment in `parcel`, which stays packed.
    pub(crate) fn peek(&self, parcel: &Parcel) -> Segment {
        if parcel.has_options { self.segments[parcel.len as usize] } else { parcel.plain() }
    }

    /// How many segments are stored.
    pub(crate) fn len(&self) -> usize {
        self.segments.len() - self.free.len()
    }

    fn put(&mut self, segment: &Segment) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.segments[place as usize] = *segment;
                place
            }
            None => {
                self.segments.push(*segment);
                self.segments.len() as u32 - 1
            }
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
        plain.set_ecn_capable();
        let mut stamped = plain;
        stamped.set_timestamps(1, 2);
        stamped.push_sack(SeqNumber::new(20), SeqNumber::new(30));
        let mut store = OptionStore::default();
        for _ in 0..3 {
            let parcels: Vec<Parcel> = [plain, stamped, plain]
                .into_iter()
                .map(|segment| {
                    store.pack(&Packet { segment, sent_at: Time::from_millis(5) }, segment.wire_size())
                })
                .collect();
            assert!(store.peek(&parcels[1]) == stamped && store.peek(&parcels[2]) == plain);
            assert_eq!((store.len(), parcels.iter().filter(|parcel| parcel.has_options()).count()), (1, 1));
            assert!(store.unpack(&parcels[1]).segment == stamped);
            assert!(store.unpack(&parcels[0]).segment == plain);
            let last = store.unpack(&parcels[2]);
            assert!(last.segment == plain && last.sent_at == Time::from_millis(5));
        }
        assert_eq!((store.len(), store.segments.len()), (0, 1));
    }
}
