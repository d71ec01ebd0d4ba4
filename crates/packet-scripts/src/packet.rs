//! Packets as scripts write them: numbers relative to the start of the connection, and no payload but its
//! length.

use std::fmt;

/// Bits of the TCP header, at their places on the wire.
pub(crate) const FIN: u16 = 1;
pub(crate) const SYN: u16 = 2;
pub(crate) const PSH: u16 = 8;
pub(crate) const ACK: u16 = 16;
pub(crate) const LETTERS: [(char, u16); 8] =
    [('S', SYN), ('F', FIN), ('R', 4), ('P', PSH), ('.', ACK), ('E', 64), ('W', 128), ('A', 256)];

/// ICMP destination unreachable that the peer's side sends (RFC 792).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Icmp {
    /// Code: 0 network, 1 host, 3 port.
    pub code: u8,
    /// Relative sequence number of the segment that it quotes.
    pub quoted: u32,
}

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EcnCodepoint {
    /// The sender does not react to marks.
    #[default]
    NotCapable,
    /// It does: ECT(0).
    Capable,
    /// It does: ECT(1).
    CapableOne,
    /// A queue has marked the packet: CE.
    Marked,
}

/// A packet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ScriptPacket {
    /// Control bits, at their places on the wire.
    pub flags: u16,
    /// Sequence number; the SYN has 0.
    pub start: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgement number; the peer's SYN has 1.
    pub ack: Option<u32>,
    /// The window as it stands in the header, not scaled.
    pub window: u16,
    /// Option: maximum segment size.
    pub mss: Option<u16>,
    /// Option: SACK permitted.
    pub sack_permitted: bool,
    /// Option: window scale.
    pub window_scale: Option<u8>,
    /// Option: timestamps, value and echo, as on the wire.
    pub timestamps: Option<(u32, u32)>,
    /// Option: SACK blocks, in their order.
    pub sack: Vec<(u32, u32)>,
    /// ECN bits.
    pub ecn: EcnCodepoint,
}

/// An option of a packet that is expected or to be sent; `None` is any value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OptionPattern {
    /// `mss N`.
    Mss(Option<u16>),
    /// `sackOK`.
    SackPermitted,
    /// `wscale N`.
    WindowScale(Option<u8>),
    /// `ts`: any value; of the peer: its clock and the echo of the latest.
    Timestamps,
    /// `ts behind N`: of the peer, its clock so many milliseconds ago.
    TimestampsBehind(u32),
    /// `ts held`: of the peer, with the echo of its packet before.
    TimestampsHeld,
    /// `TS val N ecr N` of packetdrill: what an end echoes is what the peer sent; what it stamps by itself
    /// [`crate::run`] translates.
    TimestampsAre(u32, u32),
    /// `sack START:END`.
    Sack(u32, u32),
}

/// The timestamps of the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerStamps {
    /// Its clock, in milliseconds.
    pub(crate) clock: u32,
    /// The latest value of the end, and the one that it echoed last.
    pub(crate) latest: u32,
    pub(crate) held: u32,
}

/// A packet that is expected, or that the peer sends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PacketPattern {
    pub(crate) flags: u16,
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) window: Option<u16>,
    /// The window and its scale follow from a buffer that the script does not set: only whether the window is
    /// zero counts.
    pub(crate) any_buffer: bool,
    pub(crate) options: Option<Vec<OptionPattern>>,
    /// Options may be any, SACK blocks too (packetdrill: `<...>`).
    pub(crate) any_options: bool,
    /// `None`: any that is expected; none that is sent.
    pub(crate) ecn: Option<EcnCodepoint>,
}

impl PacketPattern {
    /// Reads `FLAGS START:END [ack N] [win N] [<OPTION, ...>] [ect|ce]`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (text, options) = match (text.find('<'), text.find('>')) {
            (Some(open), Some(close)) if open < close => {
                let options = text[open + 1..close].split(',').map(parse_option);
                let outside = format!("{} {}", &text[..open], &text[close + 1..]);
                (outside, Some(options.collect::<Result<Vec<_>, _>>()?))
            }
            (None, None) => (text.to_owned(), None),
            _ => return Err("write options between < and >, as in <mss 1000, sackOK>".to_owned()),
        };
        let mut words = text.split_ascii_whitespace();
        let flags = words.next().ok_or("begin a packet with its flags, as in S. or F.")?;
        // A packet that names no ECN bits has none: a script about ECN names them.
        let mut pattern = Self { options, ecn: Some(EcnCodepoint::NotCapable), ..Self::default() };
        for letter in flags.chars() {
            let known = LETTERS.iter().find(|(known, _)| *known == letter);
            let (_, bit) = known.ok_or(format!(
                "\"{letter}\" is not a flag; they are S (SYN), F (FIN), R (RST), P (PSH), . (ACK), E (ECE) and W (CWR)"
            ))?;
            pattern.flags |= bit;
        }
        let range = words.next().ok_or("write the range of bytes after the flags, as in 1:1001")?;
        let (start, end) = parse_range(range)?;
        (pattern.start, pattern.len) = (start, end - start);
        while let Some(word) = words.next() {
            let mut number = |what| {
                let text = words.next().unwrap_or_default();
                text.parse::<u32>().map_err(|_| format!("{what} is a number, as in {what} 1"))
            };
            match word {
                "ack" => pattern.ack = Some(number("ack")?),
                "win" => {
                    let window = u16::try_from(number("win")?);
                    pattern.window = Some(window.map_err(|_| "a window field is 0 to 65535".to_owned())?);
                }
                "ect" => pattern.ecn = Some(EcnCodepoint::Capable),
                "ce" => pattern.ecn = Some(EcnCodepoint::Marked),
                _ => {
                    return Err(format!(
                        "\"{word}\" is unknown here; write ack N, win N, <options>, ect or ce"
                    ));
                }
            }
        }
        if (pattern.flags & ACK != 0) != pattern.ack.is_some() {
            return Err("the flag . and an ack belong together".to_owned());
        }
        Ok(pattern)
    }

    /// Whether the peer can send this: nothing is left open.
    pub(crate) fn check_complete(&self) -> Result<(), String> {
        let open = self
            .options
            .iter()
            .flatten()
            .any(|option| matches!(option, OptionPattern::Mss(None) | OptionPattern::WindowScale(None)));
        if open {
            Err("a packet from the peer needs values: * is for expected packets".to_owned())
        } else {
            Ok(())
        }
    }

    /// The packet that the peer sends, with its timestamps where it has them.
    pub(crate) fn packet(&self, stamps: PeerStamps) -> ScriptPacket {
        let mut packet = ScriptPacket {
            flags: self.flags,
            start: self.start,
            len: self.len,
            ack: self.ack,
            // A script that names no window means one that never limits.
            window: self.window.unwrap_or(u16::MAX),
            ecn: self.ecn.unwrap_or_default(),
            ..ScriptPacket::default()
        };
        for option in self.options.iter().flatten() {
            match *option {
                OptionPattern::Mss(mss) => packet.mss = mss,
                OptionPattern::SackPermitted => packet.sack_permitted = true,
                OptionPattern::WindowScale(shift) => packet.window_scale = shift,
                OptionPattern::Timestamps => packet.timestamps = Some((stamps.clock, stamps.latest)),
                OptionPattern::TimestampsBehind(by) => {
                    packet.timestamps = Some((stamps.clock.wrapping_sub(by), stamps.latest));
                }
                OptionPattern::TimestampsHeld => packet.timestamps = Some((stamps.clock, stamps.held)),
                OptionPattern::TimestampsAre(value, echo) => packet.timestamps = Some((value, echo)),
                OptionPattern::Sack(start, end) => packet.sack.push((start, end)),
            }
        }
        packet
    }

    /// In what `packet` is not as this says; nothing: it is. PSH is not looked at: it is a hint for the
    /// receiving application. A window that is not named may be any, and so may options of a SYN where none
    /// is named. Timestamps count where the pattern has options.
    pub(crate) fn differs(&self, packet: &ScriptPacket) -> Option<&'static str> {
        if packet.flags & !PSH != self.flags & !PSH {
            return Some("flags");
        }
        if (packet.start, packet.len) != (self.start, self.len) {
            return Some("range of bytes");
        }
        if packet.flags & ACK != 0 && packet.ack != self.ack {
            return Some("acknowledgement");
        }
        let is_other = |window: u16| {
            if self.any_buffer { (window == 0) != (packet.window == 0) } else { window != packet.window }
        };
        if self.window.is_some_and(is_other) {
            return Some("window");
        }
        if self.ecn.is_some_and(|ecn| ecn != packet.ecn) {
            return Some("ECN bits of the IP header");
        }
        self.options_differ(packet)
    }

    fn options_differ(&self, packet: &ScriptPacket) -> Option<&'static str> {
        if self.any_options {
            return None;
        }
        let options = self.options.as_deref().unwrap_or_default();
        let blocks = options.iter().filter_map(|option| match option {
            OptionPattern::Sack(start, end) => Some((*start, *end)),
            _ => None,
        });
        if !blocks.eq(packet.sack.iter().copied()) {
            return Some("SACK blocks");
        }
        // No list of options: any will do, but for SACK blocks, which are compared always.
        self.options.as_ref()?;
        let named = |wanted: fn(&OptionPattern) -> bool| options.iter().copied().find(wanted);
        let mss = match named(|option| matches!(option, OptionPattern::Mss(_))) {
            Some(OptionPattern::Mss(wanted)) => {
                packet.mss.is_some() && (wanted.is_none() || wanted == packet.mss)
            }
            _ => packet.mss.is_none(),
        };
        if !mss {
            return Some("option mss");
        }
        let shift = match named(|option| matches!(option, OptionPattern::WindowScale(_))) {
            Some(OptionPattern::WindowScale(wanted)) => {
                let is_any = wanted.is_none() || self.any_buffer;
                packet.window_scale.is_some() && (is_any || wanted == packet.window_scale)
            }
            _ => packet.window_scale.is_none(),
        };
        if !shift {
            return Some("option wscale");
        }
        if options.contains(&OptionPattern::SackPermitted) != packet.sack_permitted {
            return Some("option sackOK");
        }
        let stamped = options
            .iter()
            .any(|option| matches!(option, OptionPattern::Timestamps | OptionPattern::TimestampsAre(..)));
        if stamped != packet.timestamps.is_some() {
            return Some("option ts");
        }
        // The value itself is the end's own clock, which `learn` compares.
        options.iter().find_map(|option| match (option, packet.timestamps) {
            (OptionPattern::TimestampsAre(_, echo), Some((_, got))) if *echo != got => {
                Some("echo of a timestamp")
            }
            _ => None,
        })
    }
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let ends = text.split_once(':').and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
    match ends {
        Some((start, end)) if start <= end => Ok((start, end)),
        _ => Err(format!("\"{text}\" is not a range of bytes; write START:END, as in 1:1001")),
    }
}

fn parse_option(text: &str) -> Result<OptionPattern, String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let value = |text: &str| -> Result<Option<u16>, String> {
        if text == "*" {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| format!("\"{text}\" is not a number; * stands for any"))
    };
    match words[..] {
        ["mss", mss] => Ok(OptionPattern::Mss(value(mss)?)),
        ["sackOK"] => Ok(OptionPattern::SackPermitted),
        ["wscale", shift] => match value(shift)? {
            Some(shift @ 15..) => Err(format!("a shift of {shift} is over 14 (RFC 7323)")),
            shift => Ok(OptionPattern::WindowScale(shift.map(|shift| shift as u8))),
        },
        ["ts"] => Ok(OptionPattern::Timestamps),
        ["ts", "held"] => Ok(OptionPattern::TimestampsHeld),
        ["ts", "behind", by] => by
            .parse()
            .map(OptionPattern::TimestampsBehind)
            .map_err(|_| format!("\"{by}\" is not a number of milliseconds, as in ts behind 1000")),
        ["sack", range] => parse_range(range).map(|(start, end)| OptionPattern::Sack(start, end)),
        _ => Err(format!(
            "\"{}\" is not an option; they are mss N, sackOK, wscale N, ts, ts held, ts behind N and sack START:END",
            text.trim()
        )),
    }
}

impl fmt::Display for ScriptPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, bit) in LETTERS {
            if self.flags & bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        write!(f, " {}:{}", self.start, self.start.wrapping_add(self.len))?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        write!(f, " win {}", self.window)?;
        let mut options = Vec::new();
        options.extend(self.mss.map(|mss| format!("mss {mss}")));
        options.extend(self.sack_permitted.then(|| "sackOK".to_owned()));
        options.extend(self.timestamps.map(|(value, echo)| format!("ts {value} {echo}")));
        options.extend(self.window_scale.map(|shift| format!("wscale {shift}")));
        options.extend(self.sack.iter().map(|(start, end)| format!("sack {start}:{end}")));
        if !options.is_empty() {
            write!(f, " <{}>", options.join(", "))?;
        }
        match self.ecn {
            EcnCodepoint::NotCapable => Ok(()),
            EcnCodepoint::Capable => f.write_str(" ect"),
            EcnCodepoint::CapableOne => f.write_str(" ect1"),
            EcnCodepoint::Marked => f.write_str(" ce"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PacketPattern {
        PacketPattern::parse(text).unwrap()
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for text in [
            "S 0:0 win 65535 <mss 1000, sackOK, wscale 7>",
            "F. 1001:1001 ack 1 win 100",
            "P. 1:1001 ack 1 win 100 <sack 5:6, sack 1:2> ect",
            ". 1:1 ack 2 win 0 ce",
        ] {
            assert_eq!(pattern(text).packet(PeerStamps::default()).to_string(), text);
        }
    }

    #[test]
    fn differences_are_named() {
        let packet = pattern(". 1:1001 ack 1 win 5 <sack 1:2>").packet(PeerStamps::default());
        let differs = |text| pattern(text).differs(&packet);
        assert_eq!(differs("P. 1:1001 ack 1 <sack 1:2>"), None);
        assert_eq!(differs("F. 1:1001 ack 1 <sack 1:2>"), Some("flags"));
        assert_eq!(differs(". 1:1002 ack 1 <sack 1:2>"), Some("range of bytes"));
        assert_eq!(differs(". 1:1001 ack 2 <sack 1:2>"), Some("acknowledgement"));
        assert_eq!(differs(". 1:1001 ack 1 win 6 <sack 1:2>"), Some("window"));
        assert_eq!(differs(". 1:1001 ack 1"), Some("SACK blocks"));
        assert_eq!(differs(". 1:1001 ack 1 <sack 1:2, ts>"), Some("option ts"));
        assert_eq!(differs(". 1:1001 ack 1 <sack 1:2, mss *>"), Some("option mss"));
        assert_eq!(differs(". 1:1001 ack 1 <sack 1:2> ect"), Some("ECN bits of the IP header"));
        let syn = pattern("S 0:0 <mss 1000, wscale 7>").packet(PeerStamps::default());
        assert_eq!(pattern("S 0:0").differs(&syn), None, "any options");
        assert_eq!(pattern("S 0:0 <mss 1000>").differs(&syn), Some("option wscale"));
        assert_eq!(pattern("S 0:0 <mss *, wscale *>").differs(&syn), None);
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        for (text, says) in [
            ("", "flags"),
            ("X 0:0", "not a flag"),
            ("S", "range"),
            ("S 5:0", "not a range"),
            (". 0:0", "belong together"),
            ("S 0:0 ack 1", "belong together"),
            ("S 0:0 win 70000", "65535"),
            ("S 0:0 <mss>", "not an option"),
            ("S 0:0 <wscale 15>", "14"),
            ("S 0:0 mss 5", "unknown"),
        ] {
            let error = PacketPattern::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(pattern("S 0:0 <mss *>").check_complete().is_err());
    }
}
