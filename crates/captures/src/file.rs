//! Frames of a capture file: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).

use crate::Error;
use std::io::{self, Read};

/// First bytes of a frame that are kept: the headers of any tunnel that is peeled, with all options.
const KEPT: usize = 512;
/// A longer frame is damage: 64 MiB.
const LONGEST: u32 = 1 << 26;
/// Interfaces of a section; more are damage.
const INTERFACES: usize = 1 << 16;

/// One frame of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Time since 1970, ns.
    pub time: i64,
    /// Link type (LINKTYPE registry).
    pub link: u16,
    /// First bytes of the frame.
    pub data: Vec<u8>,
    /// Length on the wire, bytes.
    pub length: u32,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Returns the number at a place; 0 beyond the end.
    fn at(self, bytes: &[u8], at: usize) -> u32 {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| self.u32(*chunk))
    }

    fn short(self, bytes: &[u8], at: usize) -> u16 {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| self.u16(*chunk))
    }
}

#[derive(Debug, Clone, Copy)]
struct Interface {
    link: u16,
    /// Units of time in a second.
    units: u128,
    /// Seconds that are added to each time.
    offset: i64,
}

#[derive(Debug)]
enum Format {
    /// Link type, ns in a unit of the fraction, bytes of a record's header.
    Pcap {
        order: Order,
        link: u16,
        scale: i64,
        header: usize,
    },
    Pcapng {
        order: Order,
        interfaces: Vec<Interface>,
    },
}

/// The frames of a capture, one after the other.
#[derive(Debug)]
pub struct Frames<R> {
    source: R,
    format: Format,
    at: u64,
    ended: bool,
    /// Places where the file is cut off or damaged, if it is.
    pub cut: Option<u64>,
    /// Frames without a time, which are left out.
    pub timeless: u64,
}

/// Returns byte order, ns in a unit, and bytes of a record's header of a pcap file.
fn pcap(magic: [u8; 4]) -> Option<(Order, i64, usize)> {
    Some(match magic {
        [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1000, 16),
        [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1000, 16),
        [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1, 16),
        [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1, 16),
        // Kuznetzov's libpcap: eight more bytes in each record.
        [0x34, 0xcd, 0xb2, 0xa1] => (Order::Little, 1000, 24),
        [0xa1, 0xb2, 0xcd, 0x34] => (Order::Big, 1000, 24),
        _ => return None,
    })
}

const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

pub(crate) fn is_plain(head: &[u8]) -> bool {
    head.first_chunk().is_some_and(|magic| pcap(*magic).is_some() || *magic == SECTION)
}

impl<R: Read> Frames<R> {
    /// Reads the header of a capture.
    ///
    /// # Errors
    ///
    /// It is no capture, or cannot be read.
    pub fn new(mut source: R) -> Result<Self, Error> {
        let mut magic = [0; 4];
        if fill(&mut source, &mut magic)?.0 < magic.len() {
            return Err(Error::NotACapture);
        }
        let mut frames = Frames {
            source,
            format: Format::Pcapng { order: Order::Little, interfaces: Vec::new() },
            at: 4,
            ended: false,
            cut: None,
            timeless: 0,
        };
        if let Some((order, scale, header)) = pcap(magic) {
            let mut rest = [0; 20];
            if frames.take(&mut rest)? {
                // The upper bits describe frame check sequences.
                let link = u16::try_from(order.at(&rest, 16) & 0xffff).unwrap_or(u16::MAX);
                frames.format = Format::Pcap { order, link, scale, header };
            }
            return Ok(frames);
        }
        if magic != SECTION {
            return Err(Error::NotACapture);
        }
        frames.section()?;
        Ok(frames)
    }

    /// Returns the next frame; none at the end, and where the file is cut off.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn next_frame(&mut self) -> Result<Option<CapturedFrame>, Error> {
        while !self.ended {
            let found = match self.format {
                Format::Pcap { order, link, scale, header } => self.record(order, link, scale, header)?,
                Format::Pcapng { order, .. } => self.block(order)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn record(
        &mut self,
        order: Order,
        link: u16,
        scale: i64,
        header: usize,
    ) -> Result<Option<CapturedFrame>, Error> {
        let mut head = [0; 24];
        let head = &mut head[..header];
        if !self.begin(head)? {
            return Ok(None);
        }
        let (captured, length) = (order.at(head, 8), order.at(head, 12));
        let time = i64::from(order.at(head, 0)) * 1_000_000_000 + i64::from(order.at(head, 4)) * scale;
        let Some(data) = self.data(captured, 0)? else { return Ok(None) };
        Ok(Some(CapturedFrame { time, link, data, length: length.max(captured) }))
    }

    /// Reads a block of pcapng; none if it holds no frame.
    fn block(&mut self, order: Order) -> Result<Option<CapturedFrame>, Error> {
        let mut head = [0; 8];
        if !self.begin(&mut head[..4])? {
            return Ok(None);
        }
        if head[..4] == SECTION {
            self.section()?;
            return Ok(None);
        }
        if !self.take(&mut head[4..])? {
            return Ok(None);
        }
        let (kind, size) = (order.at(&head, 0), order.at(&head, 4));
        if !(12..=LONGEST).contains(&size) || size % 4 != 0 {
            self.stop();
            return Ok(None);
        }
        let body = size - 12;
        match kind {
            // Interface description.
            1 => {
                let Some(bytes) = self.data(body, 4)? else { return Ok(None) };
                if let Format::Pcapng { interfaces, .. } = &mut self.format
                    && interfaces.len() < INTERFACES
                {
                    interfaces.push(interface(order, &bytes));
                }
                Ok(None)
            }
            // Enhanced packet, and the packet block that it replaced.
            6 | 2 if body >= 20 => {
                let mut fixed = [0; 20];
                if !self.take(&mut fixed)? {
                    return Ok(None);
                }
                let number = if kind == 6 {
                    order.at(&fixed, 0) as usize
                } else {
                    usize::from(order.short(&fixed, 0))
                };
                let (high, low) = (order.at(&fixed, 4), order.at(&fixed, 8));
                let (captured, length) = (order.at(&fixed, 12), order.at(&fixed, 16));
                if captured > body - 20 {
                    self.stop();
                    return Ok(None);
                }
                let Some(data) = self.data(captured, body - 20 - captured + 4)? else { return Ok(None) };
                let Format::Pcapng { interfaces, .. } = &self.format else { return Ok(None) };
                let Some(interface) = interfaces.get(number) else { return Ok(None) };
                let ticks = u128::from(u64::from(high) << 32 | u64::from(low));
                let time = i64::try_from(ticks * 1_000_000_000 / interface.units).unwrap_or(i64::MAX);
                let time = time.saturating_add(interface.offset.saturating_mul(1_000_000_000));
                Ok(Some(CapturedFrame { time, link: interface.link, data, length: length.max(captured) }))
            }
            _ => {
                if kind == 3 {
                    self.timeless += 1;
                }
                self.skip(u64::from(body) + 4)?;
                Ok(None)
            }
        }
    }

    /// Reads a section header behind its type: each section has a byte order and interfaces of its own.
    fn section(&mut self) -> Result<(), Error> {
        let mut head = [0; 8];
        if !self.take(&mut head)? {
            return Ok(());
        }
        let order = match head[4..8] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => {
                self.stop();
                return Ok(());
            }
        };
        let size = order.at(&head, 0);
        if !(16..=LONGEST).contains(&size) {
            self.stop();
            return Ok(());
        }
        self.format = Format::Pcapng { order, interfaces: Vec::new() };
        self.skip(u64::from(size) - 12)?;
        Ok(())
    }

    /// Reads the beginning of a record; false at the end of the file.
    fn begin(&mut self, into: &mut [u8]) -> Result<bool, Error> {
        let (count, damaged) = fill(&mut self.source, into)?;
        self.at += count as u64;
        if count == into.len() {
            return Ok(true);
        }
        self.ended = true;
        if count > 0 || damaged {
            self.cut = Some(self.at);
        }
        Ok(false)
    }

    /// Reads bytes that must be there; false where the file is cut off.
    fn take(&mut self, into: &mut [u8]) -> Result<bool, Error> {
        let (count, _) = fill(&mut self.source, into)?;
        self.at += count as u64;
        if count < into.len() {
            self.stop();
        }
        Ok(count == into.len())
    }

    /// Reads the kept part of some bytes, and skips the others and what follows.
    fn data(&mut self, captured: u32, beyond: u32) -> Result<Option<Vec<u8>>, Error> {
        if captured > LONGEST {
            self.stop();
            return Ok(None);
        }
        let mut data = vec![0; KEPT.min(captured as usize)];
        if !self.take(&mut data)? {
            return Ok(None);
        }
        let rest = u64::from(captured) - data.len() as u64 + u64::from(beyond);
        Ok(self.skip(rest)?.then_some(data))
    }

    fn skip(&mut self, count: u64) -> Result<bool, Error> {
        let skipped = io::copy(&mut self.source.by_ref().take(count), &mut io::sink()).or_else(ended)?;
        self.at += skipped;
        if skipped < count {
            self.stop();
        }
        Ok(skipped == count)
    }

    fn stop(&mut self) {
        self.ended = true;
        self.cut = Some(self.at);
    }
}

/// A packed file that is cut off or damaged ends there, as a plain one does.
fn ended(error: io::Error) -> io::Result<u64> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::Other => Ok(0),
        _ => Err(error),
    }
}

/// Reads until a buffer is full or the source ends; returns the count, and whether a packed source is damaged.
fn fill(source: &mut impl Read, into: &mut [u8]) -> io::Result<(usize, bool)> {
    let mut count = 0;
    while count < into.len() {
        match source.read(&mut into[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                ended(error)?;
                return Ok((count, true));
            }
        }
    }
    Ok((count, false))
}

fn interface(order: Order, body: &[u8]) -> Interface {
    let mut found = Interface { link: order.short(body, 0), units: 1_000_000, offset: 0 };
    let mut rest = body.get(8..).unwrap_or_default();
    while rest.len() >= 4 {
        let (code, size) = (order.short(rest, 0), usize::from(order.short(rest, 2)));
        let Some(value) = rest.get(4..4 + size) else { break };
        match (code, value) {
            (0, _) => break,
            // if_tsresol: a power of ten, or of two with the high bit.
            (9, &[power]) => {
                let exponent = u32::from(power & 0x7f);
                let base: u128 = if power & 0x80 == 0 { 10 } else { 2 };
                // Units finer than 2^-64 s cannot be counted in 64 bits.
                found.units = base.checked_pow(exponent).unwrap_or(u128::MAX).clamp(1, 1 << 64);
            }
            // if_tsoffset
            (14, value) if value.len() == 8 => {
                let bytes: [u8; 8] = value.try_into().unwrap_or_default();
                found.offset = match order {
                    Order::Little => i64::from_le_bytes(bytes),
                    Order::Big => i64::from_be_bytes(bytes),
                };
            }
            _ => {}
        }
        let Some(more) = rest.get(4 + size.next_multiple_of(4)..) else { break };
        rest = more;
    }
    found
}
