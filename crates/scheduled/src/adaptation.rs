//! Link adaptation: what a slot carries at a signal-to-noise ratio.

use crate::frame::{Direction, Frame};
use cogtcp_units::{Decibel, Rate};

/// Bits per resource element of CQI 1 to 15 (TS 36.213, table 7.2.3-1; TS 38.214, table 5.2.2.1-2): QPSK up to 6, 16-QAM up to 9,
/// 64-QAM beyond.
pub const EFFICIENCIES: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
    5.1152, 5.5547,
];

/// Subcarriers of a resource block.
const SUBCARRIERS: u32 = 12;

/// Returns the highest CQI, 1 to 15, that a user receives with bit error rate `errors`; `None`: not even the first.
///
/// The efficiency of M-QAM over a noisy channel is log2(1 + SINR / gap), gap = -ln(5 errors) / 1.5: the model of ns-3's LTE module
/// (Piro, Baldo and Miozzo 2011; 5e-5 there), which is no curve of a receiver.
pub fn cqi(sinr: Decibel, errors: f64) -> Option<usize> {
    let gap = -libm::log(5.0 * errors) / 1.5;
    let efficiency = libm::log2(1.0 + sinr.linear() / gap);
    EFFICIENCIES.iter().rposition(|needed| *needed <= efficiency).map(|place| place + 1)
}

/// A carrier, as far as its rate needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    /// Resource blocks: 100 of LTE's 20 MHz.
    pub blocks: u32,
    /// Spatial layers.
    pub layers: u32,
    /// Share of the resource elements that control and reference signals take, 0 to 1.
    pub overhead: f64,
}

impl Carrier {
    /// Returns the bits that `symbols` symbols of a slot carry over `blocks` resource blocks at a CQI of 1 to 15.
    pub fn bits(&self, cqi: usize, blocks: u32, symbols: u32) -> u64 {
        let efficiency = cqi.checked_sub(1).and_then(|place| EFFICIENCIES.get(place)).copied().unwrap_or(0.0);
        let elements = f64::from(blocks.min(self.blocks) * SUBCARRIERS * symbols * self.layers);
        (elements * (1.0 - self.overhead) * efficiency) as u64
    }

    /// Returns the peak rate of a direction: all blocks, all its symbols, at a CQI.
    pub fn peak(&self, frame: &Frame, direction: Direction, cqi: usize) -> Rate {
        let slot = self.bits(cqi, self.blocks, crate::frame::SYMBOLS) as f64;
        Rate::from_bits_per_second((slot * frame.share(direction) / frame.slot().as_secs_f64()) as u64)
    }
}
