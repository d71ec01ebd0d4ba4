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

/// An option of a packet that is expected or to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OptionPattern {
    Mss(u16),
    SackPermitted,
    WindowScale(u8),
    /// Value and echo. What an end echoes is what the peer sent; what it stamps by itself [`crate::run`]
    /// translates.
    Timestamps(u32, u32),
    /// The edges of a block.
    Sack(u32, u32),
}

/// A packet that is expected, or that the peer sends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PacketPattern {
    pub(crate) flags: u16,
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) window: Option<u16>,
    /// The window follows from a buffer that the script does not set: only whether it is zero counts.
    pub(crate) any_window: bool,
    /// So does its scale.
    pub(crate) any_scale: bool,
    pub(crate) options: Vec<OptionPattern>,
    /// Options may be any, SACK blocks too: `<...>`.
    pub(crate) any_options: bool,
    /// `None`: any that is expected; none that is sent.
    pub(crate) ecn: Option<EcnCodepoint>,
}

impl PacketPattern {
    /// The packet that the peer sends.
    pub(crate) fn packet(&self) -> ScriptPacket {
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
        for option in &self.options {
            match *option {
                OptionPattern::Mss(mss) => packet.mss = Some(mss),
                OptionPattern::SackPermitted => packet.sack_permitted = true,
                OptionPattern::WindowScale(shift) => packet.window_scale = Some(shift),
                OptionPattern::Timestamps(value, echo) => packet.timestamps = Some((value, echo)),
                OptionPattern::Sack(start, end) => packet.sack.push((start, end)),
            }
        }
        packet
    }

    /// In what `packet` is not as this says; nothing: it is. PSH is not looked at: it is a hint for the
    /// receiving application. A window that is not named may be any.
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
            if self.any_window { (window == 0) != (packet.window == 0) } else { window != packet.window }
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
        let wanted = self.packet();
        let scale = |shift: Option<u8>| shift.map(|shift| if self.any_scale { 0 } else { shift });
        // The value of a timestamp is the end's own clock, which `learn` compares.
        let echo = |stamps: Option<(u32, u32)>| stamps.map(|(_, echo)| echo);
        let compared = [
            ("SACK blocks", wanted.sack == packet.sack),
            ("option mss", wanted.mss == packet.mss),
            ("option wscale", scale(wanted.window_scale) == scale(packet.window_scale)),
            ("option sackOK", wanted.sack_permitted == packet.sack_permitted),
            ("option ts", wanted.timestamps.is_some() == packet.timestamps.is_some()),
            ("echo of a timestamp", echo(wanted.timestamps) == echo(packet.timestamps)),
        ];
        compared.into_iter().find(|(_, is_equal)| !is_equal).map(|(what, _)| what)
    }
}

impl fmt::Display for ScriptPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.ecn {
            EcnCodepoint::NotCapable => "",
            EcnCodepoint::Capable => "[ect0] ",
            EcnCodepoint::CapableOne => "[ect1] ",
            EcnCodepoint::Marked => "[ce] ",
        })?;
        if self.flags & LETTERS.iter().fold(0, |all, (_, bit)| all | bit) == 0 {
            f.write_str("-")?;
        }
        for (letter, bit) in LETTERS {
            if self.flags & bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        write!(f, " {}:{}({})", self.start, self.start.wrapping_add(self.len), self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        write!(f, " win {}", self.window)?;
        let mut options = Vec::new();
        options.extend(self.mss.map(|mss| format!("mss {mss}")));
        options.extend(self.sack_permitted.then(|| "sackOK".to_owned()));
        options.extend(self.timestamps.map(|(value, echo)| format!("TS val {value} ecr {echo}")));
        options.extend(self.window_scale.map(|shift| format!("wscale {shift}")));
        if !self.sack.is_empty() {
            let blocks = self.sack.iter().map(|(start, end)| format!(" {start}:{end}"));
            options.push(format!("sack{}", blocks.collect::<String>()));
        }
        if options.is_empty() { Ok(()) } else { write!(f, " <{}>", options.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern() -> PacketPattern {
        let options = vec![
            OptionPattern::Mss(1000),
            OptionPattern::SackPermitted,
            OptionPattern::WindowScale(7),
            OptionPattern::Timestamps(5, 6),
            OptionPattern::Sack(10, 20),
        ];
        let ecn = Some(EcnCodepoint::Capable);
        PacketPattern {
            flags: ACK,
            start: 1,
            len: 9,
            ack: Some(3),
            window: Some(50),
            ecn,
            options,
            ..Default::default()
        }
    }

    /// What a script says of a packet is all compared, one after the other.
    #[test]
    fn what_differs_is_named() {
        let same = pattern().packet();
        assert_eq!(pattern().differs(&same), None);
        // PSH is a hint, and the value of a timestamp the end's own clock.
        assert_eq!(pattern().differs(&ScriptPacket { flags: ACK | PSH, ..same.clone() }), None);
        assert_eq!(pattern().differs(&ScriptPacket { timestamps: Some((99, 6)), ..same.clone() }), None);
        for (packet, what) in [
            (ScriptPacket { flags: ACK | FIN, ..same.clone() }, "flags"),
            (ScriptPacket { start: 2, ..same.clone() }, "range of bytes"),
            (ScriptPacket { len: 8, ..same.clone() }, "range of bytes"),
            (ScriptPacket { ack: Some(4), ..same.clone() }, "acknowledgement"),
            (ScriptPacket { window: 51, ..same.clone() }, "window"),
            (ScriptPacket { ecn: EcnCodepoint::Marked, ..same.clone() }, "ECN bits of the IP header"),
            (ScriptPacket { sack: vec![(10, 21)], ..same.clone() }, "SACK blocks"),
            (ScriptPacket { mss: None, ..same.clone() }, "option mss"),
            (ScriptPacket { window_scale: Some(6), ..same.clone() }, "option wscale"),
            (ScriptPacket { sack_permitted: false, ..same.clone() }, "option sackOK"),
            (ScriptPacket { timestamps: None, ..same.clone() }, "option ts"),
            (ScriptPacket { timestamps: Some((5, 7)), ..same.clone() }, "echo of a timestamp"),
        ] {
            assert_eq!(pattern().differs(&packet), Some(what), "{packet}");
        }
    }

    #[test]
    fn what_is_not_said_may_be_any() {
        let same = pattern().packet();
        let free = PacketPattern { window: None, ecn: None, any_options: true, ..pattern() };
        let other =
            ScriptPacket { window: 7, ecn: EcnCodepoint::Marked, mss: None, sack: vec![], ..same.clone() };
        assert_eq!(free.differs(&other), None);
        // Without ACK the field says nothing.
        let silent = PacketPattern { flags: SYN, ..free };
        assert_eq!(silent.differs(&ScriptPacket { flags: SYN, ack: Some(99), ..other }), None);
        // Of a window that follows from an unknown buffer only zero counts.
        for (said, sent, differs) in [(50, 51, false), (50, 0, true), (0, 0, false), (0, 1, true)] {
            let pattern = PacketPattern { window: Some(said), any_window: true, ..pattern() };
            let found = pattern.differs(&ScriptPacket { window: sent, ..same.clone() });
            assert_eq!(found, differs.then_some("window"), "{said} {sent}");
        }
        let scale = PacketPattern { any_scale: true, ..pattern() };
        assert_eq!(scale.differs(&ScriptPacket { window_scale: Some(1), ..same.clone() }), None);
        assert_eq!(scale.differs(&ScriptPacket { window_scale: None, ..same }), Some("option wscale"));
        // A script that names no window means one that never limits.
        assert_eq!(PacketPattern::default().packet().window, 65_535);
    }

    /// As packetdrill writes them.
    #[test]
    fn packets_are_shown_as_scripts_write_them() {
        let plain = ScriptPacket { start: u32::MAX, len: 2, window: 4, ..ScriptPacket::default() };
        assert_eq!(plain.to_string(), "- 4294967295:1(2) win 4");
        let all = ScriptPacket { flags: 1 | 2 | 4 | 8 | 16 | 64 | 128 | 256, ack: Some(3), ..plain.clone() };
        assert_eq!(all.to_string(), "SFRP.EWA 4294967295:1(2) ack 3 win 4");
        for (ecn, prefix) in [
            (EcnCodepoint::Capable, "[ect0] "),
            (EcnCodepoint::CapableOne, "[ect1] "),
            (EcnCodepoint::Marked, "[ce] "),
        ] {
            assert!(ScriptPacket { ecn, ..plain.clone() }.to_string().starts_with(prefix));
        }
        let shown = pattern().packet().to_string();
        let options = "<mss 1000,sackOK,TS val 5 ecr 6,wscale 7,sack 10:20>";
        assert_eq!(shown, format!("[ect0] . 1:10(9) ack 3 win 50 {options}"));
    }
}
