//! Captures with known content, and bytes that nobody meant.

use cogtcp_captures::{Limits, Read, open, read, read_files};
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/captures").join(name)
}

fn one(name: &str) -> Read {
    read_files(&[&data(name)], Limits::default()).expect("a capture")
}

#[test]
fn copies_of_a_frame_are_left_out() {
    let once = one("sender-no-timestamps.pcap");
    for (name, copies) in [("every-frame-twice.pcap", 100), ("one-frame-in-ten-twice.pcap", 10)] {
        let twice = one(name);
        let share = 100 * twice.copies[0] / (twice.frames[0] - twice.copies[0]);
        assert!(share.abs_diff(copies) <= 3, "{name}: {share} % copies");
        assert_eq!(once.packets.seq.len() as u64, once.frames[0], "no frame is a copy");
    }
}

#[test]
fn copies_of_a_frame_are_rows_where_that_is_asked() {
    let limits = Limits { copies: true, ..Limits::default() };
    let found = read_files(&[&data("every-frame-twice.pcap")], limits).expect("a capture");
    assert_eq!((found.packets.seq.len() as u64, &found.copies[..]), (found.frames[0], &[0][..]));
}

#[test]
fn a_connection_has_the_ports_of_its_first_packet() {
    let there = one("one-direction-a-to-b.pcap").ports;
    let back = one("one-direction-b-to-a.pcap").ports;
    let [(from, to)] = there[..] else { panic!("one connection, not {there:?}") };
    assert_ne!(from, to);
    assert_eq!(back, [(to, from)]);
}

#[test]
fn the_same_transfer_is_read_behind_other_headers() {
    for name in ["pppoe.pcap", "radiotap-data-frames.pcap", "sll2.pcap"] {
        let found = one(name);
        assert_eq!(found.packets.seq.len() as u64, found.frames[0], "{name}: {:?}", found.others);
        assert!(found.packets.payload.iter().any(|payload| *payload > 1000), "{name}");
        assert!(found.packets.connection.iter().all(|number| *number == 0), "{name}");
    }
}

#[test]
fn two_files_with_a_direction_each_are_one_connection() {
    let (there, back) = (data("one-direction-a-to-b.pcap"), data("one-direction-b-to-a.pcap"));
    let both = read_files(&[&there, &back], Limits::default()).expect("captures");
    assert!(both.packets.connection.iter().all(|number| *number == 0));
    for (file, forward) in both.packets.file.iter().zip(&both.packets.forward) {
        assert_eq!(*forward, *file == 0);
    }
}

#[test]
fn memory_is_bounded_by_rows() {
    let limits = Limits { rows: 50, ..Limits::default() };
    let found = read_files(&[&data("sender-no-timestamps.pcap")], limits).expect("a capture");
    assert_eq!(found.packets.time.len(), 50);
    assert_eq!(found.full, [true]);
}

/// Frames of Zstandard (RFC 8878) with a raw block each: single segment, one byte of content size.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let frame = |part: &[u8]| {
        let block = (part.len() as u32) << 3 | 1;
        [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, part.len() as u8], &block.to_le_bytes()[..3], part].concat()
    };
    bytes.chunks(250).flat_map(frame).collect()
}

#[test]
fn frames_of_a_zstandard_file_are_read_one_after_the_other() {
    let plain = std::fs::read(data("sender-no-timestamps.pcap")).expect("a file");
    let path = std::env::temp_dir().join(format!("cogtcp-captures-{}.pcap.zst", std::process::id()));
    std::fs::write(&path, zstd(&plain)).expect("a file");
    let mut unpacked = Vec::new();
    let mut opened = open(&path).expect("a file");
    // Nothing is lost where nothing is asked for.
    assert_eq!(opened.read(&mut []).expect("nothing"), 0);
    opened.read_to_end(&mut unpacked).expect("frames");
    std::fs::write(&path, [&zstd(&plain)[..], &[1, 2, 3, 4]].concat()).expect("a file");
    let beyond = open(&path).expect("a file").read_to_end(&mut Vec::new());
    std::fs::remove_file(&path).expect("a file");
    assert!(unpacked == plain && beyond.is_err());
}

#[test]
fn a_gzip_file_that_is_cut_off_is_read_up_to_the_cut() {
    let bytes = std::fs::read(data("three-gaps.pcapng.gz")).expect("a file");
    let folder = std::env::temp_dir().join(format!("cogtcp-captures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let cut = folder.join("cut.pcapng.gz");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("a file");
    let found = read_files(&[&cut], Limits::default()).expect("a capture");
    let whole = one("three-gaps.pcapng.gz");
    let share = found.packets.time.len() as f64 / whole.packets.time.len() as f64;
    assert!((0.3..0.7).contains(&share), "{share}");
    assert!(found.cut[0].is_some());
    std::fs::remove_dir_all(folder).expect("removed");
}

/// The least that draws bytes: Knuth's 64-bit linear congruence.
pub(crate) fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn no_bytes_make_it_panic() {
    let cases: usize = std::env::var("COGTCP_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut state = 7;
    for name in ["pppoe.pcap", "radiotap-data-frames.pcap", "sll2.pcap", "receiver-with-timestamps.pcap"] {
        let good = std::fs::read(data(name)).expect("a file");
        for _ in 0..cases {
            let mut bytes = good.clone();
            // Damage the file's header, the link type and the first records most: they decide what follows.
            for _ in 0..=draw(&mut state) % 12 {
                let within = if draw(&mut state).is_multiple_of(2) { 400 } else { bytes.len() };
                let at = draw(&mut state) as usize % within.min(bytes.len());
                bytes[at] = draw(&mut state) as u8;
            }
            bytes[20] = if draw(&mut state).is_multiple_of(2) { draw(&mut state) as u8 } else { good[20] };
            bytes.truncate(bytes.len() - draw(&mut state) as usize % 64);
            let _ = read(Cursor::new(&bytes), Limits::default());
            // As pcapng: blocks of drawn sizes around the same bytes.
            let mut blocks = vec![0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
            blocks.extend([0xff; 8]);
            blocks.extend([28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]);
            blocks.extend([6, 0, 0, 0, 100, 0, 0, 0]);
            blocks.extend(&bytes[40..400]);
            let _ = read(Cursor::new(&blocks), Limits::default());
        }
    }
}

/// A capture is the same in either byte order, in microseconds or nanoseconds, and with the longer records of
/// Kuznetzov's libpcap.
#[test]
fn byte_order_and_resolution_of_a_file_change_nothing() {
    let little = std::fs::read(data("sender-no-timestamps.pcap")).expect("a file");
    let word = |at: usize| u32::from_le_bytes(little[at..at + 4].try_into().expect("four bytes"));
    let rewritten = |magic: u32, is_big: bool, unit: u32, more: usize| {
        let put = |out: &mut Vec<u8>, value: u32| {
            out.extend(if is_big { value.to_be_bytes() } else { value.to_le_bytes() });
        };
        let mut out = Vec::new();
        put(&mut out, magic);
        // The two halves of the version change places with the byte order.
        put(&mut out, if is_big { 0x0002_0004 } else { 0x0004_0002 });
        (8..24).step_by(4).for_each(|at| put(&mut out, word(at)));
        let mut at = 24;
        while at + 16 <= little.len() {
            let size = word(at + 8) as usize;
            for value in [word(at), word(at + 4) * unit, word(at + 8), word(at + 12)] {
                put(&mut out, value);
            }
            out.extend(vec![0; more]);
            out.extend(&little[at + 16..at + 16 + size]);
            at += 16 + size;
        }
        let found = read(Cursor::new(out), Limits::default()).expect("a capture");
        (found.frames, format!("{:?}", found.packets))
    };
    let as_it_is = rewritten(0xa1b2_c3d4, false, 1, 0);
    assert!(as_it_is.0[0] > 100);
    for (magic, unit, more) in [(0xa1b2_c3d4, 1, 0), (0xa1b2_3c4d, 1000, 0), (0xa1b2_cd34, 1, 8)] {
        for is_big in [false, true] {
            assert!(rewritten(magic, is_big, unit, more) == as_it_is, "{magic:x}, big-endian: {is_big}");
        }
    }
}
