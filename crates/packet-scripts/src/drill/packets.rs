//! Packets in packetdrill's language: `FLAGS START:END(LENGTH) [ack N] [win N] [<OPTIONS>]`, ECN bits before
//! the flags.

use super::Fault;
use crate::packet::{ACK, EcnCodepoint, Icmp, LETTERS, OptionPattern, PacketPattern};

/// Reads the packet after its `<` or `>`.
pub(super) fn packet(text: &str, is_sent_by_peer: bool) -> Result<PacketPattern, Fault> {
    let mut pattern = PacketPattern::default();
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (mark, rest) = rest.split_once(']').ok_or_else(|| Fault::wrong("a [ without its ]"))?;
        pattern.ecn = match mark.trim() {
            "noecn" => Some(EcnCodepoint::NotCapable),
            "ect0" => Some(EcnCodepoint::Capable),
            "ect1" => Some(EcnCodepoint::CapableOne),
            "ce" => Some(EcnCodepoint::Marked),
            "ecn" | "ect01" => None,
            other => return Err(Fault::beyond(format!("the IP field [{other}]"))),
        };
        text = rest.trim_start();
    }
    for (word, name) in [
        ("icmp", "ICMP messages of the end under test"),
        ("udp", "UDP"),
        ("gre", "GRE"),
        ("mpls", "MPLS"),
        ("psp", "PSP"),
        ("(", "fields of the IP header"),
        ("ipv4", "IP within IP"),
        ("ipv6", "IP within IP"),
    ] {
        if text.starts_with(word) {
            return Err(Fault::beyond(name));
        }
    }
    let (text, options, after) = match (text.find('<'), text.rfind('>')) {
        (Some(open), Some(close)) if open < close => {
            (&text[..open], Some(&text[open + 1..close]), text[close + 1..].trim())
        }
        (None, None) => (text, None, ""),
        _ => return Err(Fault::wrong("write options between < and >, as in <mss 1000,sackOK>")),
    };
    if !after.is_empty() {
        return Err(Fault::beyond(format!("\"{after}\" after the options of a packet")));
    }
    // A blank may stand before the length: packetdrill's scanner skips it.
    let text = text.split('(').map(str::trim_end).collect::<Vec<_>>().join("(");
    let mut words = text.split_ascii_whitespace();
    let flags = words.next().ok_or_else(|| Fault::wrong("begin a packet with its flags, as in S. or F."))?;
    // Newer scripts write the AE flag and counts as `A` and digits.
    if flags.contains(|letter: char| letter == 'A' || letter.is_ascii_digit()) {
        return Err(Fault::beyond("Accurate ECN (the flags of RFC 9768)"));
    }
    for letter in flags.chars().filter(|letter| *letter != '-') {
        let known = LETTERS.iter().find(|(known, _)| *known == letter);
        let (_, bit) = known.ok_or_else(|| Fault::wrong(format!("\"{letter}\" is not a flag of TCP")))?;
        pattern.flags |= bit;
    }
    let range =
        words.next().ok_or_else(|| Fault::wrong("write the range after the flags, as in 1:1001(1000)"))?;
    (pattern.start, pattern.len) = self::range(range)?;
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().unwrap_or_default();
            text.parse::<u32>().map_err(|_| Fault::wrong(format!("{word} is a number, as in {word} 1")))
        };
        match word {
            "ack" => pattern.ack = Some(number()?),
            "win" => {
                let window = u16::try_from(number()?);
                pattern.window = Some(window.map_err(|_| Fault::wrong("a window field is 0 to 65535"))?);
            }
            _ => return Err(Fault::beyond(format!("\"{word}\" in a packet"))),
        }
    }
    if pattern.flags & ACK != 0 && pattern.ack.is_none() {
        // packetdrill writes the number before the first one.
        pattern.ack = Some(0);
    }
    match options.map(str::trim) {
        None | Some("") => {}
        Some("...") if !is_sent_by_peer => pattern.any_options = true,
        Some(options) => {
            for option in options.split(',') {
                read_option(option.trim(), &mut pattern.options)?;
            }
        }
    }
    Ok(pattern)
}

/// `icmp unreachable [CODE] [START:END(LENGTH)]`; without a range it is about the SYN.
pub(super) fn icmp(text: &str) -> Result<Icmp, Fault> {
    let mut words = text.split_ascii_whitespace().skip(1).peekable();
    match words.next() {
        Some("unreachable") => {}
        other => return Err(Fault::beyond(format!("ICMP {}", other.unwrap_or_default()))),
    }
    // Without a code: host unreachable; without a range: the SYN, whose relative number is 0.
    let mut found = Icmp { code: 1, quoted: 0 };
    for word in words {
        if let Some(inner) = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            found.quoted = self::range(inner)?.0;
            continue;
        }
        found.code = match word {
            "net_unreachable" => 0,
            "host_unreachable" => 1,
            "port_unreachable" => 3,
            "frag_needed" | "mtu" => {
                return Err(Fault::beyond("path MTU discovery (ICMP fragmentation needed)"));
            }
            _ => return Err(Fault::beyond(format!("ICMP unreachable {word}"))),
        };
    }
    Ok(found)
}

/// `START:END(LENGTH)`.
fn range(text: &str) -> Result<(u32, u32), Fault> {
    let read = || {
        let (start, rest) = text.split_once(':')?;
        let (end, length) = rest.strip_suffix(')')?.split_once('(')?;
        let (start, end, length): (u32, u32, u32) =
            (start.parse().ok()?, end.parse().ok()?, length.parse().ok()?);
        // packetdrill writes the length a second time, as a check.
        (end.checked_sub(start)? == length).then_some((start, length))
    };
    read().ok_or_else(|| {
        Fault::wrong(format!("\"{text}\" is not a range; write START:END(LENGTH), as in 1:1001(1000)"))
    })
}

fn read_option(text: &str, into: &mut Vec<OptionPattern>) -> Result<(), Fault> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let number =
        |text: &str| text.parse::<u32>().map_err(|_| Fault::wrong(format!("\"{text}\" is not a number")));
    match words[..] {
        // "eol"] => {} | Padding: a model segment has none.
        ["nop" | "eol"] => {}
        ["mss", mss] => into.push(OptionPattern::Mss(number(mss)? as u16)),
        ["sackOK"] => into.push(OptionPattern::SackPermitted),
        ["wscale", shift] => into.push(OptionPattern::WindowScale(number(shift)? as u8)),
        ["TS", "val", value, "ecr", echo] => {
            into.push(OptionPattern::Timestamps(number(value)?, number(echo)?));
        }
        ["sack", ref blocks @ ..] => {
            for block in blocks {
                let ends = block.split_once(':');
                let (start, end) =
                    ends.ok_or_else(|| Fault::wrong(format!("\"{block}\" is not a SACK block")))?;
                into.push(OptionPattern::Sack(number(start)?, number(end)?));
            }
        }
        _ => {
            let known = [
                ("FO", "Fast Open (RFC 7413)"),
                ("exp-FO", "Fast Open (RFC 7413)"),
                ("md5", "MD5 signatures (RFC 2385)"),
                ("ECN", "Accurate ECN (its option)"),
                ("AccECN", "Accurate ECN (its option)"),
            ];
            let name = known.iter().find(|(start, _)| text.starts_with(start));
            return Err(Fault::beyond(
                name.map_or_else(|| format!("the option \"{text}\""), |(_, name)| (*name).to_owned()),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read() {
        for text in [
            "S 0:0(0) win 32792 <mss 1000,sackOK,wscale 7>",
            "[ect0] P. 1:1001(1000) ack 1 win 9",
            "[ce] . 1:1(0) ack 1 win 5 <sack 5:6 1:2>",
            "F. 1:1(0) ack 1 win 5 <TS val 200 ecr 100>",
            "- 1:1001(1000) win 5",
        ] {
            assert_eq!(packet(text, true).unwrap().packet().to_string(), text);
        }
        for (text, wanted) in [
            ("S 0:0(0) <mss 1000,nop,nop,nop,wscale 7>", "S 0:0(0) win 65535 <mss 1000,wscale 7>"),
            (". 1:1001 (1000) ack 1 win 5", ". 1:1001(1000) ack 1 win 5"),
        ] {
            assert_eq!(packet(text, true).unwrap().packet().to_string(), wanted);
        }
    }

    #[test]
    fn differences_are_named() {
        let heard = packet(". 1:1001(1000) ack 1 win 5 <sack 1:2>", true).unwrap().packet();
        let differs = |text| packet(text, false).unwrap().differs(&heard);
        assert_eq!(differs("P. 1:1001(1000) ack 1 <sack 1:2>"), None);
        assert_eq!(differs("F. 1:1001(1000) ack 1 <sack 1:2>"), Some("flags"));
        assert_eq!(differs(". 1:1002(1001) ack 1 <sack 1:2>"), Some("range of bytes"));
        assert_eq!(differs(". 1:1001(1000) ack 2 <sack 1:2>"), Some("acknowledgement"));
        assert_eq!(differs(". 1:1001(1000) ack 1 win 6 <sack 1:2>"), Some("window"));
        assert_eq!(differs(". 1:1001(1000) ack 1"), Some("SACK blocks"));
        assert_eq!(differs(". 1:1001(1000) ack 1 <sack 1:2,mss 5>"), Some("option mss"));
        assert_eq!(differs(". 1:1001(1000) ack 1 <sack 1:2,wscale 0>"), Some("option wscale"));
        assert_eq!(differs(". 1:1001(1000) ack 1 <sack 1:2,sackOK>"), Some("option sackOK"));
    }

    #[test]
    fn without_options_none_may_be_there_and_dots_stand_for_any() {
        let heard = packet(". 1:1(0) ack 1 win 5 <nop,nop,TS val 1 ecr 2>", true).unwrap().packet();
        let differs = |text| packet(text, false).unwrap().differs(&heard);
        assert_eq!(differs(". 1:1(0) ack 1"), Some("option ts"));
        assert_eq!(differs(". 1:1(0) ack 1 <...>"), None);
        assert_eq!(differs(". 1:1(0) ack 1 <nop,nop,TS val 7 ecr 2>"), None);
        assert_eq!(differs(". 1:1(0) ack 1 <nop,nop,TS val 7 ecr 8>"), Some("echo of a timestamp"));
        assert_eq!(differs("[noecn] . 1:1(0) ack 1 <...>"), None);
        assert_eq!(differs("[ect0] . 1:1(0) ack 1 <...>"), Some("ECN bits of the IP header"));
    }

    #[test]
    fn icmp_names_what_it_quotes() {
        assert_eq!(
            icmp("icmp unreachable port_unreachable [1001:2001(1000)]").unwrap(),
            Icmp { code: 3, quoted: 1001 }
        );
        assert_eq!(icmp("icmp unreachable").unwrap(), Icmp { code: 1, quoted: 0 });
        let fault = icmp("icmp unreachable frag_needed mtu 800").unwrap_err();
        assert!(fault.is_out_of_scope && fault.message.contains("path MTU"), "{}", fault.message);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for (text, is_out_of_scope, says) in [
            ("S 0:0(0) <FO 1234>", true, "Fast Open"),
            ("S 0:0(0) <md5 valid>", true, "MD5"),
            ("icmp unreachable", true, "ICMP"),
            ("SA2 0:0(0)", true, "Accurate ECN"),
            (". 1:1(0) ack 1 urg 5", true, "urg"),
            ("X 0:0(0)", false, "flag"),
            ("S 0:5(4)", false, "range"),
            ("S 0:0(0) win 70000", false, "65535"),
            ("S 0:0(0) <mss x>", false, "not a number"),
        ] {
            let fault = packet(text, true).unwrap_err();
            assert_eq!(fault.is_out_of_scope, is_out_of_scope, "{text}");
            assert!(fault.message.contains(says), "{text}: {}", fault.message);
        }
    }
}
