//! The simulated plane: the network with the packets of this simulator, and the record of what happens in it.

use crate::event::Event;
use crate::packet::{Body, Packet};
use crate::recorder::Recorder;
use cogtcp_endpoint::Datagram;
use cogtcp_network::{Awaited, Network};
use cogtcp_transport::Segment;
use cogtcp_units::Time;

/// What hosts act on.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) network: Network<Packet>,
    pub(crate) recorder: Recorder,
}

impl Plane {
    /// A host waits for `event`.
    #[inline]
    pub(crate) fn schedule(&mut self, time: Time, event: Event) {
        self.network.agenda().push_host(time, event.code());
    }

    /// A host sends a TCP segment on `stream`. Data: `sent_at` is now. An acknowledgement: when the data was sent that it
    /// answers. Else `Time::MAX`. `awaited`: of data, what its sender had waited for.
    #[inline]
    pub(crate) fn send_segment(
        &mut self,
        now: Time,
        stream: u32,
        segment: &Segment,
        sent_at: Time,
        awaited: Awaited,
    ) {
        let size = segment.wire_size();
        let mut packet = self.recorder.options.pack(segment, sent_at, size);
        packet.awaited = awaited;
        self.network.offer(now, stream, packet, size, &mut self.recorder);
    }

    /// A host sends a datagram of a transport other than TCP on `stream`. `awaited`: of data, what its sender had waited for.
    pub(crate) fn send_datagram(
        &mut self,
        now: Time,
        stream: u32,
        datagram: Datagram,
        ecn_capable: bool,
        awaited: Awaited,
    ) {
        let size = datagram.wire_size();
        let mut packet = self.recorder.datagrams.pack(datagram, now, ecn_capable);
        packet.awaited = awaited;
        self.network.offer(now, stream, packet, size, &mut self.recorder);
    }

    /// A host sends a packet of `size` bytes that is no TCP segment on `stream`.
    pub(crate) fn send(&mut self, now: Time, stream: u32, body: Body, size: u32) {
        self.network.offer(now, stream, Packet::new(body, now), size, &mut self.recorder);
    }
}
