//! Carriers: resource blocks, what of them is no data, and the bits of a block by modulation and coding
//! scheme (MCS).
//!
//! Blocks of a bandwidth: TS 36.101 table 5.6-1, TS 38.101-1 table 5.3.2-1. Reference signals, PDCCH, PBCH,
//! synchronisation: TS 36.211 sections 6.10.1, 6.7, 6.6, 6.11. MCS and transport blocks: TS 36.213 tables
//! 7.1.7.1-1 and 7.1.7.2.1-1. MCS of NR: TS 38.214 table 5.1.3.1-1.

use crate::errors::CQI;
use crate::frame::{Direction, SYMBOLS, Slot, SlotPattern};
use cogtcp_units::{Duration, Rate};

/// Subcarriers of a resource block.
const SUBCARRIERS: u32 = 12;

/// The highest code rate that a receiver has to decode at the first transmission (TS 36.213 section 7.1.7,
/// 0.930; TS 38.214 section 5.1.3, 0.95).
const CODE_RATE: [f64; 2] = [0.93, 0.95];

/// Transport block sizes of 100 resource blocks by I_TBS 0 to 26 (TS 36.213, table 7.1.7.2.1-1, column 100).
/// Compared number by number with two public implementations of the table.
const LTE_SIZES: [u32; 27] = [
    2792, 3624, 4584, 5736, 7224, 8760, 10296, 12216, 14112, 15840, 17568, 19848, 22920, 25456, 28336, 30576,
    32856, 36696, 39232, 43816, 46888, 51024, 55056, 57336, 61664, 63776, 75376,
];

/// Efficiencies of NR's MCS 0 to 28, bits per resource element (TS 38.214, table 5.1.3.1-1): modulation order
/// times target code rate. A test has the 29 code rates, from four public implementations of the table. MCS
/// 17 carries less than MCS 16 and is left out, as no scheduler of ours would choose it.
const NR: [(u32, f64); 28] = [
    (2, 0.2344),
    (2, 0.3066),
    (2, 0.3770),
    (2, 0.4902),
    (2, 0.6016),
    (2, 0.7402),
    (2, 0.8770),
    (2, 1.0273),
    (2, 1.1758),
    (2, 1.3262),
    (4, 1.3281),
    (4, 1.4766),
    (4, 1.6953),
    (4, 1.9141),
    (4, 2.1602),
    (4, 2.4063),
    (4, 2.5703),
    (6, 2.7305),
    (6, 3.0293),
    (6, 3.3223),
    (6, 3.6094),
    (6, 3.9023),
    (6, 4.2129),
    (6, 4.5234),
    (6, 4.8164),
    (6, 5.1152),
    (6, 5.3320),
    (6, 5.5547),
];

/// A generation of cellular radio.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Technology {
    /// LTE: subcarriers of 15 kHz, slots (subframes) of 1 ms.
    Lte,
    /// NR with subcarriers of 15 kHz: slots of 1 ms.
    Nr15,
    /// NR with subcarriers of 30 kHz: slots of 0.5 ms.
    Nr30,
}

impl Technology {
    /// Returns the length of a slot.
    pub fn slot(self) -> Duration {
        Duration::from_micros(if self == Self::Nr30 { 500 } else { 1000 })
    }

    /// Returns the bandwidths that it has, in MHz, each with its resource blocks.
    pub fn bandwidths(self) -> &'static [(f64, u32)] {
        match self {
            Self::Lte => &[(1.4, 6), (3.0, 15), (5.0, 25), (10.0, 50), (15.0, 75), (20.0, 100)],
            Self::Nr15 => &[
                (5.0, 25),
                (10.0, 52),
                (15.0, 79),
                (20.0, 106),
                (25.0, 133),
                (30.0, 160),
                (40.0, 216),
                (50.0, 270),
            ],
            Self::Nr30 => &[
                (5.0, 11),
                (10.0, 24),
                (15.0, 38),
                (20.0, 51),
                (25.0, 65),
                (30.0, 78),
                (40.0, 106),
                (50.0, 133),
                (60.0, 162),
                (70.0, 189),
                (80.0, 217),
                (90.0, 245),
                (100.0, 273),
            ],
        }
    }

    /// Returns the resource blocks of a bandwidth in MHz; `None`: it does not have this one.
    pub fn blocks(self, megahertz: f64) -> Option<u32> {
        self.bandwidths()
            .iter()
            .find(|(known, _)| (known - megahertz).abs() < 1e-9)
            .map(|(_, blocks)| *blocks)
    }
}

/// A carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    /// The generation.
    pub technology: Technology,
    /// Resource blocks: 100 of LTE's 20 MHz.
    pub blocks: u32,
    /// Spatial layers of the downlink, 1 to 4. The uplink has one.
    pub layers: u32,
    /// Symbols of the control region at the beginning of a downlink slot: 1 to 3.
    pub control_symbols: u32,
    /// Resource blocks that the control channel of the uplink takes (PUCCH, at the edges of the carrier).
    pub control_blocks: u32,
}

/// What a resource block carries in a slot, over all layers, at one MCS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coding {
    /// Bits of a resource block.
    pub bits: f64,
    /// Bits per resource element and layer.
    pub efficiency: f64,
    /// The lowest CQI that stands for as much: 1 to 15.
    pub cqi: usize,
}

impl Carrier {
    /// Returns the resource elements of a block and layer that carry data.
    pub fn elements(&self, slot: Slot, direction: Direction) -> u32 {
        let symbols = slot.symbols(direction);
        let is_special = symbols < SYMBOLS;
        let all = match (self.technology, direction) {
            (Technology::Lte, Direction::Downlink) => {
                // In special subframes the control region has at most two symbols (TS 36.211, table 6.7-1).
                let control = if is_special { self.control_symbols.min(2) } else { self.control_symbols };
                // Cell-specific reference signals: two ports in symbols 0, 4, 7 and 11, two more ports in 1
                // and 8, two elements each.
                // Three layers take four ports.
                let ports = self.layers.max(2).next_power_of_two();
                let signals = |at: u32| match at {
                    0 | 4 | 7 | 11 => 4,
                    1 | 8 if ports > 2 => 4,
                    _ => 0,
                };
                let reference: u32 = (control..symbols).map(signals).sum();
                (SUBCARRIERS * symbols.saturating_sub(control)).saturating_sub(reference)
            }
            // Two symbols of demodulation reference signals (TS 36.211, section 5.5.2.1). UpPTS carries none
            // of our data.
            (Technology::Lte, Direction::Uplink) => {
                if is_special {
                    0
                } else {
                    SUBCARRIERS * (SYMBOLS - 2)
                }
            }
            // One symbol of demodulation reference signals without data beside them (type 1, two groups; TS
            // 38.214, section 5.1.6.2).
            (_, Direction::Downlink) => SUBCARRIERS * symbols.saturating_sub(self.control_symbols + 1),
            (_, Direction::Uplink) => SUBCARRIERS * symbols.saturating_sub(1),
        };
        // Fewer than three symbols of data are not scheduled.
        if all < 3 * SUBCARRIERS { 0 } else { all }
    }

    /// Returns the resource blocks that may carry data in slot `number` of a frame.
    pub fn data_blocks(&self, frame: &SlotPattern, number: u64, direction: Direction) -> u32 {
        match direction {
            Direction::Uplink => self.blocks.saturating_sub(self.control_blocks),
            // The six blocks in the middle of subframes 0 and 5 have broadcast and synchronisation (TS
            // 36.211, sections 6.6 and 6.11): no data is sent there. NR has the same in the first slots of
            // every 20 ms, in 20 blocks.
            Direction::Downlink => {
                let slots = Duration::from_millis(10).as_nanos() / frame.slot().as_nanos();
                let has_broadcast = match self.technology {
                    Technology::Lte => number.is_multiple_of(slots) || number % slots == slots / 2,
                    _ => number.is_multiple_of(2 * slots),
                };
                let broadcast = if self.technology == Technology::Lte { 6 } else { 20 };
                if has_broadcast { self.blocks.saturating_sub(broadcast) } else { self.blocks }
            }
        }
    }

    /// Returns what a block carries in a slot by MCS, ascending, up to the code rate that a receiver must
    /// decode.
    pub fn codings(&self, slot: Slot, direction: Direction) -> Vec<Coding> {
        let elements = self.elements(slot, direction);
        if elements == 0 {
            return Vec::new();
        }
        let layers = f64::from(if direction == Direction::Downlink { self.layers } else { 1 });
        let coding = |bits: f64, order: u32, most: f64, cqi: usize| {
            let efficiency = bits / f64::from(elements);
            (efficiency <= most * f64::from(order)).then_some(Coding { bits: bits * layers, efficiency, cqi })
        };
        if self.technology == Technology::Lte {
            // A special subframe has the size of three quarters of its blocks, or three eighths of them where
            // it has six symbols (section 7.1.7).
            let symbols = slot.symbols(direction);
            let share = match symbols {
                SYMBOLS => 1.0,
                6 => 0.375,
                _ => 0.75,
            };
            // MCS 0 to 9 are QPSK, 10 to 16 16-QAM with I_TBS one less, 17 to 28 64-QAM with I_TBS two less.
            // Sizes scale with the blocks; the table rounds them to sizes that the coder has, by 2.5 % at
            // most from 50 blocks on.
            let order = |size: usize| match size {
                0..=9 => 2,
                10..=15 => 4,
                _ => 6,
            };
            // MCS 0, 2, 4 to 28 have the efficiencies of CQI 1 to 15, those between the mean of two (3GPP
            // R1-081483).
            let cqi = |size: usize| (size + usize::from(size > 9) + usize::from(size > 15)).div_ceil(2) + 1;
            let sizes = LTE_SIZES.iter().enumerate();
            return sizes
                .filter_map(|(number, size)| {
                    let bits = f64::from(*size) / 100.0 * share;
                    coding(bits, order(number), CODE_RATE[0], cqi(number))
                })
                .collect();
        }
        NR.iter()
            .filter_map(|(order, efficiency)| {
                let cqi = CQI.partition_point(|it| it < efficiency) + 1;
                coding(efficiency * f64::from(elements), *order, CODE_RATE[1], cqi)
            })
            .collect()
    }

    /// Returns the peak rate of a direction: all blocks of all its slots at the highest MCS, without the
    /// headers of layer 2 and above.
    pub fn peak(&self, frame: &SlotPattern, direction: Direction) -> Rate {
        self.rate(frame, direction, |codings| codings.last().copied())
    }

    /// Returns the rate of a direction whose slots use the MCS that `choose` takes of all that the slot has.
    pub fn rate(
        &self,
        frame: &SlotPattern,
        direction: Direction,
        choose: impl Fn(&[Coding]) -> Option<Coding>,
    ) -> Rate {
        // Patterns and broadcast repeat together.
        let many = frame.slots().len() as u64;
        let slots = many * (20_000_000 / frame.slot().as_nanos()).max(1);
        let of_slot = |number: u64| {
            let slot = frame.slots()[(number % many) as usize];
            let coding = choose(&self.codings(slot, direction));
            coding.map_or(0.0, |it| {
                // Whole octets, as in a transport block.
                (it.bits * f64::from(self.data_blocks(frame, number, direction)) / 8.0).floor() * 8.0
            })
        };
        let bits: f64 = (0..slots).map(of_slot).sum();
        Rate::from_bits_per_second((bits / (slots as f64 * frame.slot().as_secs_f64())) as u64)
    }
}
