//! Text that is committed in `tests/snapshots` of a crate, whose tests include this file by `#[path]`.
//!
//! To accept a change on purpose, run with `COGTCP_UPDATE_SNAPSHOTS=1` and read the difference.

#![allow(dead_code, reason = "no crate uses all of it")]

use std::fmt::Write;
use std::path::Path;

/// Cases that share a line: a change that matters changes most lines.
const CASES_A_LINE: usize = 10;

/// Hashes bytes (FNV-1a).
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Fails unless what the cases gave is the same as before, by a hash of every ten.
pub(crate) fn compare_cases(name: &str, cases: impl Iterator<Item = u64>) {
    let mut now = String::new();
    for (line, cases) in cases.collect::<Vec<_>>().chunks(CASES_A_LINE).enumerate() {
        let bytes: Vec<u8> = cases.iter().flat_map(|case| case.to_le_bytes()).collect();
        let _ = writeln!(now, "from case {}: {:016x}", line * CASES_A_LINE, hash(&bytes));
    }
    compare(name, &now);
}

/// Fails at the first line of `now` that `tests/snapshots/NAME.txt` does not have.
pub(crate) fn compare(name: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    if std::env::var_os("COGTCP_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    for (now, committed) in now.lines().zip(committed.lines()) {
        assert_eq!(now, committed, "see the head of committed.rs");
    }
    assert_eq!(now, committed, "see the head of committed.rs");
}
