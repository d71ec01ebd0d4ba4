//! Durations of frames and of the gaps between them (IEEE 802.11).

use cogtcp_units::{Duration, Rate};
use cogtcp_wireless::Dcf;

/// Bytes of an RTS: frame control, duration, two addresses, checksum.
const RTS: u64 = 20;
/// Bytes of a CTS and of an ACK: frame control, duration, one address, checksum.
const CTS: u64 = 14;

/// What does not depend on the channel.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    pub(super) slot: Duration,
    pub(super) sifs: Duration,
    /// DCF interframe space: SIFS and two slots.
    pub(super) difs: Duration,
    /// One-way propagation.
    pub(super) propagation: Duration,
    preamble: Duration,
    basic_rate: Rate,
    header: u64,
    rts_threshold: u64,
}

/// Frames on a channel of some rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Frames {
    pub(super) rts: Duration,
    /// A CTS and an ACK are of one size.
    pub(super) cts: Duration,
    /// The data frame.
    pub(super) data: Duration,
    /// Whether the data frame is preceded by RTS and CTS.
    pub(super) with_rts: bool,
}

impl Timing {
    pub(super) fn new(mac: &Dcf, propagation: Duration) -> Self {
        let difs = mac.sifs + mac.slot * 2;
        Self {
            slot: mac.slot,
            sifs: mac.sifs,
            difs,
            propagation,
            preamble: mac.preamble,
            basic_rate: mac.basic_rate,
            header: mac.header_bytes(),
            rts_threshold: mac.rts_threshold.get(),
        }
    }

    /// The frames that carry a packet of `bytes` over a channel of `rate`.
    pub(super) fn frames(&self, bytes: u32, rate: Rate) -> Frames {
        let basic = self.basic_rate.min(rate);
        let size = u64::from(bytes) + self.header;
        Frames {
            rts: self.preamble + basic.transmission_time(RTS),
            cts: self.preamble + basic.transmission_time(CTS),
            data: self.preamble + rate.transmission_time(size),
            with_rts: size > self.rts_threshold,
        }
    }

    /// Extended interframe space, after one of `frames` that could not be decoded: SIFS, an ACK, DIFS (9.2.10). The standard's
    /// ACK goes at the lowest rate of the PHY: on a channel slower than the basic rate that is the channel's.
    pub(super) fn eifs(&self, frames: &Frames) -> Duration {
        self.sifs + frames.cts + self.difs
    }

    /// From the start of an exchange in which every frame gets through to the end of its ACK.
    pub(super) fn exchange(&self, frames: &Frames) -> Duration {
        let reservation = frames.rts + frames.cts + (self.sifs + self.propagation) * 2;
        let data = frames.data + frames.cts + self.sifs + self.propagation * 2;
        if frames.with_rts { reservation + data } else { data }
    }
}
