//! What is read of each capture and of damaged ones, committed as text.

use crate::committed::{compare, hash};
use crate::files::{data, draw};
use cogtcp_captures::{Limits, Read as Found, open, read, read_files};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::{Cursor, Read};

/// What a reader compares, and a hash of every value.
fn line(found: &Found) -> String {
    let connections: BTreeSet<u32> = found.packets.connection.iter().copied().collect();
    format!(
        "{:>6} TCP of {} connections, {} UDP, {} pings, others {:?}, frames {:?}, copies {:?}, cut {:?}  {:016x}\n",
        found.packets.time.len(),
        connections.len(),
        found.datagrams.time.len(),
        found.echoes.time.len(),
        found.others,
        found.frames,
        found.copies,
        found.cut,
        hash(format!("{found:?}").as_bytes())
    )
}

#[test]
fn captures_are_read_as_before() {
    let folder = data("");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".pcap"))
        .collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        let found = read_files(&[&data(name)], Limits::default()).expect("a capture");
        let _ = write!(text, "{name:<36}{}", line(&found));
    }
    let pair = [data("one-direction-a-to-b.pcap"), data("one-direction-b-to-a.pcap")];
    let found = read_files(&[&pair[0], &pair[1]], Limits::default()).expect("captures");
    let _ = write!(text, "{:<36}{}", "both directions", line(&found));
    let limits = Limits { rows: 40, connections: 1, ..Limits::default() };
    let found = read_files(&[&data("three-gaps.pcapng.gz")], limits).expect("a capture");
    let _ = write!(text, "{:<36}{}", "three gaps, 40 rows", line(&found));
    compare("captures", &text);
}

/// A few bytes of headers are changed, or the file ends early.
fn damaged(name: &str, good: &[u8]) {
    let mut text = String::new();
    for case in 0..60u64 {
        let mut state = case.wrapping_mul(0x9e37_79b9) + 1;
        let mut bytes = good[..good.len().min(3000) - draw(&mut state) as usize % 200].to_vec();
        for _ in 0..=case % 4 {
            let within = [24, 120, 400, bytes.len()][draw(&mut state) as usize % 4];
            let at = draw(&mut state) as usize % within.min(bytes.len());
            let any = draw(&mut state) as u8;
            bytes[at] = [0, 1, 6, 8, 17, 0x45, 0x60, 0xff, any][draw(&mut state) as usize % 9];
        }
        let told = match read(Cursor::new(bytes), Limits { rows: 30, connections: 3, ..Limits::default() }) {
            Ok(found) => line(&found),
            Err(error) => format!("{error}\n"),
        };
        let _ = write!(text, "{case:>3} {told}");
    }
    compare(&format!("damaged-{name}"), &text);
}

#[test]
fn damaged_ethernet() {
    damaged("ethernet", &std::fs::read(data("receiver-with-timestamps.pcap")).expect("a file"));
}

#[test]
fn damaged_pppoe() {
    damaged("pppoe", &std::fs::read(data("pppoe.pcap")).expect("a file"));
}

#[test]
fn damaged_radiotap() {
    damaged("radiotap", &std::fs::read(data("radiotap-data-frames.pcap")).expect("a file"));
}

#[test]
fn damaged_cooked() {
    damaged("cooked", &std::fs::read(data("sll2.pcap")).expect("a file"));
}

#[test]
fn damaged_pcapng() {
    let mut unpacked = open(&data("three-gaps.pcapng.gz")).expect("a file").take(3000);
    let mut bytes = Vec::new();
    unpacked.read_to_end(&mut bytes).expect("unpacked");
    damaged("pcapng", &bytes);
}
