//! Frames: the symbols of each slot that carry downlink and uplink.

use cogtcp_units::{Duration, Time};

/// OFDM symbols of a slot with normal cyclic prefix (LTE: of a subframe).
pub const SYMBOLS: u32 = 14;

/// A direction of a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the base station to users.
    Downlink,
    /// From users to the base station.
    Uplink,
}

/// What a slot carries, in symbols. What is neither is guard.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Slot {
    /// Symbols of the downlink, from the slot's beginning.
    pub downlink: u32,
    /// Symbols of the uplink, up to the slot's end.
    pub uplink: u32,
}

impl Slot {
    /// Returns the symbols of a direction.
    pub fn symbols(self, direction: Direction) -> u32 {
        match direction {
            Direction::Downlink => self.downlink,
            Direction::Uplink => self.uplink,
        }
    }
}

/// The slots of a carrier, which repeat.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SlotPattern {
    slots: Vec<Slot>,
    slot: Duration,
    /// The uplink-downlink configuration of LTE, whose feedback a table times.
    configuration: Option<usize>,
}

/// A pattern of slots that cannot be.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FrameError {
    /// A letter that stands for no slot.
    #[error("slot {place} of the TDD pattern \"{pattern}\" is \"{letter}\"; write D, S or U")]
    Letter {
        /// The pattern.
        pattern: String,
        /// The slot, from 1.
        place: usize,
        /// What stands there.
        letter: char,
    },
    /// A special slot at a place where the direction does not turn.
    #[error("slot {place} of the TDD pattern \"{pattern}\" is special, and not between D and U")]
    Special {
        /// The pattern.
        pattern: String,
        /// The slot, from 1.
        place: usize,
    },
    /// Uplink right after downlink.
    #[error(
        "slot {place} of the TDD pattern \"{pattern}\" turns to uplink without a guard; write S before U"
    )]
    Guard {
        /// The pattern.
        pattern: String,
        /// The slot, from 1.
        place: usize,
    },
    /// A pattern without one of the directions.
    #[error("the TDD pattern \"{0}\" has no {1}")]
    OneWay(String, &'static str),
    /// Symbols of a special slot that do not add up.
    #[error("a special slot of {0}:{1}:{2} symbols has {sum}; it has 14, at least one of them guard", sum = .0 + .1 + .2)]
    Symbols(u32, u32, u32),
    /// An LTE configuration that does not exist.
    #[error("there is no LTE {kind} configuration {number}; write 0 to {most}")]
    Configuration {
        /// Which table.
        kind: &'static str,
        /// The number.
        number: usize,
        /// The last of the table.
        most: usize,
    },
    /// Slots without length.
    #[error("the slot is zero long; LTE has 1 ms, NR 1 ms down to 125 us")]
    Length,
}

/// Uplink-downlink configurations 0 to 6 (TS 36.211, table 4.2-2).
const LTE: [&str; 7] =
    ["DSUUUDSUUU", "DSUUDDSUUD", "DSUDDDSUDD", "DSUUUDDDDD", "DSUUDDDDDD", "DSUDDDDDDD", "DSUUUDSUUD"];

/// Symbols of DwPTS and UpPTS of special subframe configurations 0 to 8 with normal cyclic prefix (TS 36.211,
/// table 4.2-1).
const SPECIAL: [(u32, u32); 9] =
    [(3, 1), (9, 1), (10, 1), (11, 1), (12, 1), (3, 2), (9, 2), (10, 2), (11, 2)];

impl SlotPattern {
    /// Returns the frame of a carrier pair: all symbols in both directions.
    ///
    /// # Errors
    ///
    /// A slot of no length.
    pub fn fdd(slot: Duration) -> Result<Self, FrameError> {
        Self::of(vec![Slot { downlink: SYMBOLS, uplink: SYMBOLS }], slot)
    }

    /// Returns an LTE TDD frame, of configuration `number` and special subframe configuration `special`.
    ///
    /// # Errors
    ///
    /// A configuration that does not exist.
    pub fn lte_tdd(number: usize, special: usize) -> Result<Self, FrameError> {
        let wrong = |kind, number, most| FrameError::Configuration { kind, number, most };
        let pattern = LTE.get(number).ok_or_else(|| wrong("TDD", number, LTE.len() - 1))?;
        let (down, up) =
            SPECIAL.get(special).ok_or_else(|| wrong("special subframe", special, SPECIAL.len() - 1))?;
        let frame = Self::tdd(pattern, (*down, SYMBOLS - down - up, *up), Duration::from_millis(1))?;
        Ok(Self { configuration: Some(number), ..frame })
    }

    /// Returns a TDD frame by its letters, as "DDDSU". `special`: downlink, guard and uplink symbols of S.
    ///
    /// # Errors
    ///
    /// The first slot that cannot be where it is; symbols that are not 14.
    pub fn tdd(pattern: &str, special: (u32, u32, u32), slot: Duration) -> Result<Self, FrameError> {
        let (down, guard, up) = special;
        if down + guard + up != SYMBOLS || guard == 0 {
            return Err(FrameError::Symbols(down, guard, up));
        }
        let letters: Vec<char> = pattern.chars().collect();
        let mut slots = Vec::with_capacity(letters.len());
        for (number, letter) in letters.iter().enumerate() {
            let (place, of) = (number + 1, || pattern.to_owned());
            // The pattern repeats: the first slot comes after the last.
            let before = letters[(number + letters.len() - 1) % letters.len()];
            let after = letters[(number + 1) % letters.len()];
            slots.push(match letter {
                'D' => Slot { downlink: SYMBOLS, uplink: 0 },
                'S' if before == 'D' && after == 'U' => Slot { downlink: down, uplink: up },
                'S' => return Err(FrameError::Special { pattern: of(), place }),
                'U' if before == 'D' => return Err(FrameError::Guard { pattern: of(), place }),
                'U' => Slot { downlink: 0, uplink: SYMBOLS },
                letter => return Err(FrameError::Letter { pattern: of(), place, letter: *letter }),
            });
        }
        for (letter, name) in [('D', "downlink"), ('U', "uplink")] {
            if !letters.contains(&letter) {
                return Err(FrameError::OneWay(pattern.to_owned(), name));
            }
        }
        Self::of(slots, slot)
    }

    fn of(slots: Vec<Slot>, slot: Duration) -> Result<Self, FrameError> {
        if slot.is_zero() {
            return Err(FrameError::Length);
        }
        Ok(Self { slots, slot, configuration: None })
    }

    /// Returns the length of a slot.
    pub fn slot(&self) -> Duration {
        self.slot
    }

    /// Returns the uplink-downlink configuration, of an LTE TDD frame.
    pub fn configuration(&self) -> Option<usize> {
        self.configuration
    }

    /// Returns the slots, which repeat.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the number of the first slot that begins at `from` or later.
    pub fn number_from(&self, from: Time) -> u64 {
        from.as_nanos().div_ceil(self.slot.as_nanos())
    }

    /// Returns when slot `number` begins.
    pub fn start_of(&self, number: u64) -> Time {
        Time::from_nanos(number * self.slot.as_nanos())
    }

    /// Returns the first slot from slot `number` on that carries control or data of a direction: fewer than
    /// three symbols carry only sounding and random access (UpPTS).
    pub fn next_number(&self, direction: Direction, number: u64) -> u64 {
        let many = self.slots.len() as u64;
        // Both directions have symbols: a pattern without one is refused.
        (number..number + many)
            .find(|number| self.slots[(number % many) as usize].symbols(direction) >= 3)
            .unwrap_or(number)
    }

    /// Returns the share of the symbols that a direction has, 0 to 1.
    pub fn share(&self, direction: Direction) -> f64 {
        let symbols: u32 = self.slots.iter().map(|slot| slot.symbols(direction)).sum();
        f64::from(symbols) / f64::from(SYMBOLS) / self.slots.len() as f64
    }

    /// Returns when the first slot of a direction begins, at `from` or later
    /// ([`next_number`](Self::next_number)), and how many symbols it has.
    pub fn next(&self, direction: Direction, from: Time) -> (Time, u32) {
        let number = self.next_number(direction, self.number_from(from));
        let slot = self.slots[(number % self.slots.len() as u64) as usize];
        (self.start_of(number), slot.symbols(direction))
    }
}
