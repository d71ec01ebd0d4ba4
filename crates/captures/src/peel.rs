//! Removes what lies around IP: link layers, VLANs, PPPoE, MPLS, PPP, 802.11 with radiotap.
//!
//! Numbers: LINKTYPE registry of tcpdump.org; `EtherType`s of IEEE 802 and RFC 7042.

/// A header that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Ethernet,
    EtherType(u16),
    Ppp,
    Radiotap,
    Ieee80211,
    Llc,
}

/// Where IP begins, or why it is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peeled {
    /// Offset of the IP header.
    Ip(usize),
    /// The kind of frame, as notes name it.
    Other(&'static str),
}

/// Nested headers; more are damage.
const DEEPEST: usize = 16;

const SHORT: Peeled = Peeled::Other("packets captured too short");
const NOT_IP: Peeled = Peeled::Other("packets that are not IP");

/// Bytes that a header reads; none beyond the end.
fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

/// Returns where IP begins in a frame of a link type.
pub(crate) fn frame(link: u16, data: &[u8]) -> Peeled {
    let begins = match link {
        1 => Some((Layer::Ethernet, 0)),
        // Raw IP by its three numbers, IPv4 and IPv6.
        12 | 14 | 101 | 228 | 229 => return Peeled::Ip(0),
        0 | 108 => return Peeled::Ip(4),
        9 | 50 => Some((Layer::Ppp, 0)),
        51 => Some((Layer::EtherType(0x8864), 0)),
        // Cisco HDLC: address, control, EtherType.
        104 => u16_at(data, 2).map(|kind| (Layer::EtherType(kind), 4)),
        105 => Some((Layer::Ieee80211, 0)),
        // Linux cooked, both versions.
        113 => u16_at(data, 14).map(|kind| (Layer::EtherType(kind), 16)),
        276 => u16_at(data, 0).map(|kind| (Layer::EtherType(kind), 20)),
        127 => Some((Layer::Radiotap, 0)),
        _ => return Peeled::Other("frames of an unknown link type"),
    };
    begins.map_or(SHORT, |(layer, at)| peel(layer, data, at))
}

/// Returns where IP begins behind a header at a place.
pub(crate) fn peel(mut layer: Layer, data: &[u8], mut at: usize) -> Peeled {
    for _ in 0..DEEPEST {
        let next = match layer {
            Layer::Ethernet => u16_at(data, at + 12).map(|kind| {
                // Below 1536 the field is a length (IEEE 802.3), and LLC follows.
                let next = if kind < 1536 { Layer::Llc } else { Layer::EtherType(kind) };
                Step::Next(next, at + 14)
            }),
            Layer::EtherType(kind) => ether_type(kind, data, at),
            Layer::Ppp => ppp(data, at),
            Layer::Radiotap => data
                .get(at + 2..at + 4)
                .and_then(<[u8]>::first_chunk)
                .map(|size| Step::Next(Layer::Ieee80211, at + usize::from(u16::from_le_bytes(*size)))),
            Layer::Ieee80211 => ieee80211(data, at),
            Layer::Llc => llc(data, at),
        };
        match next {
            None => return SHORT,
            Some(Step::Done(peeled)) => return peeled,
            Some(Step::Next(following, place)) => (layer, at) = (following, place),
        }
    }
    Peeled::Other("packets within too many headers")
}

enum Step {
    Next(Layer, usize),
    Done(Peeled),
}

fn ether_type(kind: u16, data: &[u8], at: usize) -> Option<Step> {
    Some(match kind {
        0x0800 | 0x86dd => Step::Done(Peeled::Ip(at)),
        // IEEE 802.1Q, 802.1ad, and two numbers of vendors for nested tags.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => Step::Next(Layer::EtherType(u16_at(data, at + 2)?), at + 4),
        // PPPoE session (RFC 2516): 6 bytes, then PPP without its framing.
        0x8864 => Step::Next(Layer::Ppp, at + 6),
        0x8863 => Step::Done(Peeled::Other("PPPoE discovery")),
        0x8847 | 0x8848 => return mpls(data, at),
        0x6558 => Step::Next(Layer::Ethernet, at),
        0x880b => Step::Next(Layer::Ppp, at),
        0x0806 => Step::Done(Peeled::Other("ARP")),
        _ => Step::Done(NOT_IP),
    })
}

/// Removes labels (RFC 3032); the payload has no type: its first four bits tell IP, or a pseudowire.
fn mpls(data: &[u8], mut at: usize) -> Option<Step> {
    for _ in 0..DEEPEST {
        let bottom = data.get(at + 2)? & 1 == 1;
        at += 4;
        if bottom {
            return Some(match data.get(at)? >> 4 {
                4 | 6 => Step::Done(Peeled::Ip(at)),
                // A control word (RFC 4385) begins with zeros, and Ethernet follows.
                0 => Step::Next(Layer::Ethernet, at + 4),
                _ => Step::Done(NOT_IP),
            });
        }
    }
    Some(Step::Done(NOT_IP))
}

fn ppp(data: &[u8], mut at: usize) -> Option<Step> {
    // Address and control, where they are not compressed (RFC 1662).
    if data.get(at..at + 2)? == [0xff, 0x03] {
        at += 2;
    }
    let first = *data.get(at)?;
    // A compressed protocol field has one byte, which is odd (RFC 1661).
    let (protocol, size) = if first & 1 == 1 { (u16::from(first), 1) } else { (u16_at(data, at)?, 2) };
    Some(match protocol {
        0x0021 | 0x0057 => Step::Done(Peeled::Ip(at + size)),
        0x0281 => Step::Next(Layer::EtherType(0x8847), at + size),
        _ => Step::Done(Peeled::Other("PPP control")),
    })
}

/// Removes a data frame's header (IEEE 802.11-2020, 9.2 and 9.3.2).
fn ieee80211(data: &[u8], at: usize) -> Option<Step> {
    let (control, flags) = (*data.get(at)?, *data.get(at + 1)?);
    let (kind, subtype) = (control >> 2 & 3, control >> 4);
    if kind != 2 {
        return Some(Step::Done(Peeled::Other("802.11 frames without data")));
    }
    if subtype & 4 != 0 {
        return Some(Step::Done(Peeled::Other("802.11 frames without data")));
    }
    if flags & 0x40 != 0 {
        return Some(Step::Done(Peeled::Other("encrypted 802.11 frames")));
    }
    let mut header = 24;
    // To and from a distribution system: a fourth address.
    if flags & 3 == 3 {
        header += 6;
    }
    let mut aggregated = false;
    if subtype & 8 != 0 {
        aggregated = data.get(at + header)? & 0x80 != 0;
        header += 2;
        // HT Control.
        if flags & 0x80 != 0 {
            header += 4;
        }
    }
    // An A-MSDU: its first subframe has addresses and a length.
    let place = at + header + if aggregated { 14 } else { 0 };
    // Some drivers pad the header to four bytes, which LLC's first byte tells.
    let padded = place.next_multiple_of(4).max(place);
    let place =
        if data.get(place) != Some(&0xaa) && data.get(padded) == Some(&0xaa) { padded } else { place };
    Some(Step::Next(Layer::Llc, place))
}

/// Removes LLC with SNAP (RFC 1042).
fn llc(data: &[u8], at: usize) -> Option<Step> {
    if data.get(at..at + 3)? != [0xaa, 0xaa, 0x03] {
        return Some(Step::Done(NOT_IP));
    }
    Some(Step::Next(Layer::EtherType(u16_at(data, at + 6)?), at + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_pppoe_and_labels_are_removed() {
        let mut frame_ = vec![0; 12];
        frame_
            .extend([0x91, 0x00, 0, 1, 0x81, 0x00, 0, 2, 0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0x00, 0x21, 0x45]);
        assert_eq!(frame(1, &frame_), Peeled::Ip(12 + 2 + 4 + 4 + 6 + 2));
        let labels = [0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64, 0x60];
        let labelled = [vec![0; 12], labels.to_vec()].concat();
        assert_eq!(frame(1, &labelled), Peeled::Ip(12 + 2 + 8));
    }

    #[test]
    fn a_qos_data_frame_is_read_behind_radiotap() {
        let mut frame_ = vec![0, 0, 8, 0, 0, 0, 0, 0, 0x88, 0x01];
        frame_.resize(8 + 26, 0);
        frame_.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]);
        assert_eq!(frame(127, &frame_), Peeled::Ip(8 + 26 + 8));
        frame_[9] |= 0x40;
        assert_eq!(frame(127, &frame_), Peeled::Other("encrypted 802.11 frames"));
    }

    #[test]
    fn a_header_cut_short_is_named() {
        for length in 0..14 {
            assert_eq!(frame(1, &vec![0x08; length]), SHORT);
        }
        assert_eq!(frame(1, &[0x81, 0x00].repeat(200)), Peeled::Other("packets within too many headers"));
    }

    /// Numbers of the LINKTYPE registry, each with the bytes before an IP header.
    #[test]
    fn ip_begins_behind_each_link_type() {
        let ip = [0x45, 0, 0, 20];
        let raw = |before: &[u8]| [before, &ip].concat();
        for (links, before) in [
            (&[12, 14, 101, 228, 229][..], &[][..]),
            // BSD's loopback: the address family.
            (&[0, 108], &[2, 0, 0, 0]),
            (&[1], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
            // PPP: with and without address and control, and a compressed protocol field.
            (&[9, 50], &[0xff, 3, 0, 0x21]),
            (&[9], &[0, 0x21]),
            (&[9], &[0, 0x57]),
            (&[9], &[0x21]),
            (&[9], &[0xff, 3, 0x57]),
            (&[51], &[0x11, 0, 0, 1, 0, 42, 0, 0x21]),
            (&[104], &[0x0f, 0, 8, 0]),
            (&[113], &[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd]),
            (&[276], &[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            for link in links {
                assert_eq!(frame(*link, &raw(before)), Peeled::Ip(before.len()), "{link} {before:?}");
            }
        }
        for link in [2, 8, 52, 100, 107, 109, 126, 277] {
            assert_eq!(frame(link, &raw(&[])), Peeled::Other("frames of an unknown link type"), "{link}");
        }
        for link in [104, 113, 276, 1, 9, 105, 127] {
            assert_eq!(frame(link, &[0]), SHORT, "{link}");
        }
    }

    #[test]
    fn each_ether_type_leads_on_or_is_named() {
        let behind =
            |kind: u16, more: &[u8]| frame(1, &[&[0; 12][..], &kind.to_be_bytes(), more, &[0x45]].concat());
        // Below 1536 it is a length, and LLC with SNAP follows.
        let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        for (kind, more) in [
            (0x0800, &[][..]),
            (0x86dd, &[]),
            (1535, &llc),
            (0x8100, &[0, 1, 8, 0]),
            (0x88a8, &[0, 1, 8, 0]),
            (0x9100, &[0, 1, 8, 0]),
            (0x9200, &[0, 1, 0x86, 0xdd]),
            (0x8864, &[0x11, 0, 0, 1, 0, 9, 0, 0x57]),
            (0x8847, &[0, 0, 1, 64]),
            (0x8848, &[0, 0, 0, 64, 0, 0, 1, 64]),
            // A pseudowire: four zero bytes of control word, then Ethernet.
            (0x8847, &[0, 0, 1, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
            (0x6558, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
            (0x880b, &[0, 0x21]),
            // PPP that carries MPLS (RFC 3032).
            (0x880b, &[0x02, 0x81, 0, 0, 1, 64]),
        ] {
            assert_eq!(behind(kind, more), Peeled::Ip(14 + more.len()), "{kind:x} {more:?}");
        }
        for (kind, more, name) in [
            (1536, &[0; 8][..], "packets that are not IP"),
            (1535, &[0xaa, 0xaa, 4, 0, 0, 0, 8, 0], "packets that are not IP"),
            (0x0806, &[], "ARP"),
            (0x8863, &[], "PPPoE discovery"),
            (0x880b, &[0xc0, 0x21], "PPP control"),
            (0x8847, &[0, 0, 1, 64, 0x50], "packets that are not IP"),
            // Sixteen labels and no bottom of the stack.
            (0x8847, &[0; 70], "packets that are not IP"),
        ] {
            assert_eq!(behind(kind, more), Peeled::Other(name), "{kind:x}");
        }
        // The last of sixteen labels may be the bottom.
        let labels = [&[0; 60][..], &[0, 0, 1, 64]].concat();
        assert_eq!(behind(0x8847, &labels), Peeled::Ip(14 + 64));
    }

    /// IEEE 802.11-2020, 9.2.3: 24 bytes, a fourth address between two access points, QoS, HT Control.
    #[test]
    fn a_data_frame_has_the_fields_of_its_flags() {
        let air = |control: u8, flags: u8, header: usize, qos: u8, padding: usize| {
            let mut bytes = vec![0; header];
            (bytes[0], bytes[1]) = (control, flags);
            if control & 0x80 != 0 {
                let at = if flags & 3 == 3 { 30 } else { 24 };
                bytes[at] = qos;
            }
            bytes.extend(vec![0; padding]);
            bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45]);
            frame(105, &bytes)
        };
        for (control, flags, header, qos, padding) in [
            (0x08, 0, 24, 0, 0),
            (0x08, 1, 24, 0, 0),
            (0x08, 2, 24, 0, 0),
            (0x08, 3, 30, 0, 0),
            (0x08, 3, 30, 0, 2),
            (0x88, 0, 26, 0, 0),
            (0x88, 0, 26, 0, 2),
            (0x88, 0x80, 30, 0, 0),
            (0x88, 3, 32, 0, 0),
            // Without QoS the flag for HT Control is none.
            (0x08, 0x80, 24, 0, 0),
            // An A-MSDU: addresses and a length before LLC.
            (0x88, 0, 26 + 14, 0x80, 0),
        ] {
            let expected = Peeled::Ip(header + padding + 8);
            assert_eq!(air(control, flags, header, qos, padding), expected, "{control:x} {flags:x} {qos:x}");
        }
        for (control, flags, name) in [
            (0x00, 0, "802.11 frames without data"),
            (0x04, 0, "802.11 frames without data"),
            (0x48, 0, "802.11 frames without data"),
            (0xc8, 0, "802.11 frames without data"),
            (0x08, 0x40, "encrypted 802.11 frames"),
        ] {
            assert_eq!(air(control, flags, 32, 0, 0), Peeled::Other(name), "{control:x}");
        }
    }

    /// Sixteen headers at most.
    #[test]
    fn tags_are_removed_to_a_depth() {
        let tagged = |tags: usize| [vec![0; 12], [0x81, 0, 0, 1].repeat(tags), vec![8, 0, 0x45]].concat();
        assert_eq!(frame(1, &tagged(14)), Peeled::Ip(14 + 4 * 14));
        assert_eq!(frame(1, &tagged(15)), Peeled::Other("packets within too many headers"));
    }
}
