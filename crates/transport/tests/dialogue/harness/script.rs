//! Segments as text.

use super::MSS;
use cogtcp_transport::{Flags, Segment, SeqNumber};

/// A segment of a script: given to an endpoint, or expected from it.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    flags: Option<Flags>,
    /// Offsets of the data; equal when there is a position but no data.
    data: Option<(u64, u64)>,
    ack: Option<u64>,
    win: Option<u16>,
    sack: Vec<(u64, u64)>,
    /// Timestamps: value, echo.
    pub ts: Option<(u32, u32)>,
    mss: Option<u16>,
    ws: Option<u8>,
    custom: Option<u32>,
    sack_ok: bool,
    /// The ECN field of the IP header: ECN-capable, congestion experienced.
    ect: bool,
    ect1: bool,
    ce: bool,
    tag: u32,
    absent: Vec<&'static str>,
}

/// The segments of `text`, see `main.rs`.
pub fn parse(text: &str) -> Vec<Pattern> {
    text.split(';').map(str::trim).filter(|item| !item.is_empty()).flat_map(parse_item).collect()
}

fn parse_item(item: &str) -> Vec<Pattern> {
    let mut pattern = Pattern::default();
    let mut run = None;
    let mut words = item.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut argument = || words.next().unwrap_or_else(|| panic!("{word} of {item:?} wants a value"));
        match word {
            "ack" => pattern.ack = Some(position(argument())),
            "win" => pattern.win = Some(number(argument())),
            "mss" => pattern.mss = Some(number(argument())),
            "ws" => pattern.ws = Some(number(argument())),
            "custom" => pattern.custom = Some(number(argument())),
            "tag" => pattern.tag = number(argument()),
            "ts" => {
                let (value, echo) = argument().split_once('/').expect("ts value/echo");
                pattern.ts = Some((number(value), number(echo)));
            }
            "ect" => pattern.ect = true,
            "ect1" => pattern.ect1 = true,
            "ce" => pattern.ce = true,
            "noect" => pattern.absent.push("ect"),
            "sackOK" => pattern.sack_ok = true,
            "nosackOK" => pattern.absent.push("sackOK"),
            "nows" => pattern.absent.push("ws"),
            "nots" => pattern.absent.push("ts"),
            "nocustom" => pattern.absent.push("custom"),
            "sack" => {
                while let Some(block) = words.next_if(|word| word.contains(['#', ':'])) {
                    pattern.sack.push(range(block));
                }
            }
            _ if word.starts_with('@') => {
                let here = position(&word[1..]);
                pattern.data = Some((here, here));
            }
            _ if word.starts_with('#') && word.contains('-') => run = Some(segments(word)),
            _ if word.starts_with('#') || word.contains(':') => pattern.data = Some(range(word)),
            _ => pattern.flags = Some(flags(word)),
        }
    }
    let Some((first, last)) = run else {
        return vec![pattern];
    };
    (first..=last)
        .map(|k| Pattern { data: Some((segment_start(k), segment_start(k + 1))), ..pattern.clone() })
        .collect()
}

impl Pattern {
    /// The segment, as the end with `own_isn` sends it to the end with `peer_isn`.
    pub fn build(&self, own_isn: SeqNumber, peer_isn: SeqNumber) -> Segment {
        let flags = self.flags.unwrap_or(Flags::ACK);
        let first = u64::from(!flags.contains(Flags::SYN));
        let (start, end) = self.data.unwrap_or((first, first));
        let ack = if flags.contains(Flags::ACK) {
            SeqNumber::from_offset(peer_isn, self.ack.unwrap_or(1))
        } else {
            SeqNumber::default()
        };
        let seq = SeqNumber::from_offset(own_isn, start);
        let mut segment = Segment::new(seq, ack, (end - start) as u32, self.win.unwrap_or(u16::MAX), flags);
        if let Some(mss) = self.mss {
            segment.set_mss(mss);
        }
        if self.sack_ok {
            segment.set_sack_permitted();
        }
        if let Some(shift) = self.ws {
            segment.set_window_scale(shift);
        }
        if let Some((value, echo)) = self.ts {
            segment.set_timestamps(value, echo);
        }
        if let Some(value) = self.custom {
            segment.set_custom(value);
        }
        segment.tag = self.tag;
        if self.ect {
            segment.set_ecn_capable();
        }
        if self.ect1 {
            segment.set_l4s();
        }
        if self.ce {
            segment.mark();
        }
        for (start, end) in &self.sack {
            let number = |offset| SeqNumber::from_offset(peer_isn, offset);
            assert!(segment.push_sack(number(*start), number(*end)), "too many SACK blocks");
        }
        segment
    }

    /// Whether a segment that the end with `own_isn` sent to the end with `peer_isn` is as described.
    pub fn matches(&self, segment: &Segment, own_isn: SeqNumber, peer_isn: SeqNumber) -> bool {
        let visible = Flags::SYN | Flags::FIN | Flags::RST | Flags::ACK | Flags::ECE | Flags::CWR | Flags::AE;
        let same_flags = segment.flags.bits() & visible.bits() == self.flags.unwrap_or(Flags::ACK).bits();
        let same_data = match self.data {
            Some((start, end)) => {
                segment.seq == SeqNumber::from_offset(own_isn, start) && u64::from(segment.len) == end - start
            }
            None => segment.len == 0,
        };
        let blocks: Vec<_> = segment.sack().iter().map(|block| (block.start, block.end)).collect();
        let number = |offset: &u64| SeqNumber::from_offset(peer_isn, *offset);
        let wanted: Vec<_> = self.sack.iter().map(|(start, end)| (number(start), number(end))).collect();
        same_flags
            && same_data
            && blocks == wanted
            && self.ack.is_none_or(|ack| segment.ack == number(&ack))
            && self.win.is_none_or(|win| segment.window == win)
            && self.mss.is_none_or(|mss| segment.mss() == Some(mss))
            && self.ws.is_none_or(|shift| segment.window_scale() == Some(shift))
            && self.custom.is_none_or(|value| segment.custom() == Some(value))
            && self
                .ts
                .is_none_or(|(v, e)| segment.timestamps().is_some_and(|ts| (ts.value, ts.echo) == (v, e)))
            && (!self.sack_ok || segment.sack_permitted())
            && (!self.ect || (segment.is_ecn_capable() && !segment.is_l4s()))
            && (!self.ect1 || segment.is_l4s())
            && self.absent.iter().all(|option| match *option {
                "sackOK" => !segment.sack_permitted(),
                "ws" => segment.window_scale().is_none(),
                "ts" => segment.timestamps().is_none(),
                "ect" => !segment.is_ecn_capable(),
                _ => segment.custom().is_none(),
            })
    }
}

/// Offset of the first byte of segment `k`, counted from 1.
pub fn segment_start(k: u64) -> u64 {
    1 + (k - 1) * u64::from(MSS)
}

fn position(text: &str) -> u64 {
    text.strip_prefix('#').map_or_else(|| number(text), |k| segment_start(number(k)))
}

/// `#3`, `#3-5` or `1:501`, as offsets, the end not included.
fn range(text: &str) -> (u64, u64) {
    if let Some((start, end)) = text.split_once(':') {
        return (number(start), number(end));
    }
    let (first, last) = segments(text);
    (segment_start(first), segment_start(last + 1))
}

/// `#3` or `#3-5`, as segment numbers.
fn segments(text: &str) -> (u64, u64) {
    let text = text.trim_start_matches('#');
    text.split_once('-').map_or_else(|| (number(text), number(text)), |(a, b)| (number(a), number(b)))
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number that fits"))
}

fn flags(word: &str) -> Flags {
    word.chars().fold(Flags::NONE, |flags, letter| {
        flags
            | match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                '.' => Flags::ACK,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                'A' => Flags::AE,
                _ => panic!("{word:?} is no word of the script"),
            }
    })
}
