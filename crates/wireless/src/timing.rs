//! Durations of frames and of the gaps between them (IEEE 802.11).

use crate::{AnswerRate, MacConfig};
use cogtcp_units::{Duration, Rate};

/// Bytes of an RTS: frame control, duration, two addresses, checksum.
const RTS: u64 = 20;
/// Bytes of a CTS and of an ACK: frame control, duration, one address, checksum.
const CTS: u64 = 14;

/// What does not depend on the channel.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) slot: Duration,
    pub(crate) sifs: Duration,
    /// DCF interframe space: SIFS and two slots (9.2.10).
    pub(crate) difs: Duration,
    /// From the start of a frame until it is heard.
    pub(crate) delay: Duration,
    pub(crate) preamble: Duration,
    basic_rate: Rate,
    answer_rate: AnswerRate,
    header: u64,
    rts_threshold: u64,
}

/// The frames that carry one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Frames {
    pub(crate) rts: Duration,
    /// A CTS answers an RTS.
    pub(crate) cts: Duration,
    /// An ACK answers data.
    pub(crate) ack: Duration,
    pub(crate) data: Duration,
    /// Whether the data frame is preceded by RTS and CTS.
    pub(crate) with_rts: bool,
}

impl Timing {
    pub(crate) fn new(mac: &MacConfig, delay: Duration) -> Self {
        let dcf = &mac.dcf;
        let difs = dcf.sifs + dcf.slot * 2;
        Self {
            slot: dcf.slot,
            sifs: dcf.sifs,
            difs,
            delay,
            preamble: dcf.preamble,
            basic_rate: dcf.basic_rate,
            answer_rate: mac.rules.answer_rate,
            header: dcf.header_bytes(),
            rts_threshold: dcf.rts_threshold.get(),
        }
    }

    /// The frames that carry a packet of `bytes` at `rate`.
    pub(crate) fn frames(&self, bytes: u32, rate: Rate) -> Frames {
        let basic = self.basic_rate.min(rate);
        let answer = self.answer(rate);
        let size = u64::from(bytes) + self.header;
        Frames {
            rts: self.preamble + basic.transmission_time(RTS),
            cts: self.preamble + basic.transmission_time(CTS),
            ack: self.preamble + answer.transmission_time(CTS),
            data: self.preamble + rate.transmission_time(size),
            with_rts: size > self.rts_threshold,
        }
    }

    /// Rate of the ACK to data at `rate`.
    pub(crate) fn answer(&self, rate: Rate) -> Rate {
        match self.answer_rate {
            AnswerRate::Basic => self.basic(rate),
            AnswerRate::Same => rate,
        }
    }

    /// Rate of RTS and CTS about a packet at `rate`.
    pub(crate) fn basic(&self, rate: Rate) -> Rate {
        self.basic_rate.min(rate)
    }

    /// Extended interframe space on a channel of `rate`: SIFS, an ACK, DIFS (9.2.10). The standard's ACK goes
    /// at the lowest rate of the PHY: on a channel slower than the basic rate that is the channel's.
    pub(crate) fn eifs(&self, rate: Rate) -> Duration {
        self.sifs + self.preamble + self.basic(rate).transmission_time(CTS) + self.difs
    }

    /// From the start of an exchange until the packet has arrived.
    fn transit(&self, frames: &Frames) -> Duration {
        let reservation = frames.rts + frames.cts + (self.sifs + self.delay) * 2;
        let data = frames.data + self.delay;
        if frames.with_rts { reservation + data } else { data }
    }

    /// From the start of an exchange in which every frame gets through to the end of its ACK.
    pub(crate) fn exchange(&self, frames: &Frames) -> Duration {
        self.transit(frames) + self.sifs + frames.ack + self.delay
    }
}

impl MacConfig {
    /// How long a packet of `bytes` takes at `rate` on an idle medium, from the first frame of its exchange
    /// until it has arrived, but for the propagation delay.
    pub fn transit(&self, bytes: u32, rate: Rate) -> Duration {
        let timing = Timing::new(self, Duration::ZERO);
        timing.transit(&timing.frames(bytes, rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 802.11-2007, clauses 9.2 and 15 (DSSS): SIFS of 10 us, slots of 20 us, a preamble with header of 192 us.
    /// An RTS has 20 bytes, a CTS and an ACK 14.
    #[test]
    fn frames_take_what_the_standard_says() {
        let mbps = |mega: u64| Rate::from_bits_per_second(mega * 1_000_000);
        let us = Duration::from_micros;
        let mut mac = MacConfig::default();
        mac.dcf.basic_rate = mbps(1);
        (mac.dcf.slot, mac.dcf.sifs, mac.dcf.preamble) = (us(20), us(10), us(192));
        let header = mac.dcf.header_bytes();
        let timing = Timing::new(&mac, us(1));
        assert_eq!((timing.difs, timing.eifs(mbps(2))), (us(50), us(10 + 192 + 112 + 50)));
        let frames = timing.frames(500, mbps(2));
        assert_eq!([frames.rts, frames.cts, frames.ack], [us(192 + 160), us(192 + 112), us(192 + 112)]);
        assert_eq!(frames.data, us(192 + 4 * (500 + header)));
        // A channel slower than the basic rate has its own for all frames.
        let slow = timing.frames(500, Rate::from_bits_per_second(500_000));
        assert_eq!([slow.rts, slow.ack], [us(192 + 320), us(192 + 224)]);
        let data = frames.data;
        let without = Frames { with_rts: false, ..frames };
        assert_eq!(timing.exchange(&without), data + frames.ack + us(10 + 1 + 1));
        let with = Frames { with_rts: true, ..frames };
        assert_eq!(timing.exchange(&with), timing.exchange(&without) + frames.rts + frames.cts + us(2 * 11));
        // A frame as long as the threshold goes without RTS, one byte more does not.
        mac.dcf.rts_threshold = cogtcp_units::Bytes::new(500 + header);
        let timing = Timing::new(&mac, us(0));
        assert_eq!([500, 501].map(|bytes| timing.frames(bytes, mbps(2)).with_rts), [false, true]);
        assert_eq!(mac.transit(500, mbps(2)), data);
        mac.rules.answer_rate = AnswerRate::Same;
        assert_eq!(Timing::new(&mac, us(0)).frames(500, mbps(2)).ack, us(192 + 56));
    }
}
