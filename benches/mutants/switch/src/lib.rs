//! Whether a mutant is on: what `benches/mutants/rust_mutants.py` writes into a copy of the sources asks here.
//!
//! `COGTCP_MUTANT` names the only mutant that is on. With `COGTCP_MUTANTS_REACHED` none is, and the numbers of those that
//! were asked for are appended to that file, one a line.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const NONE: u32 = u32::MAX;
const UNREAD: u32 = u32::MAX - 1;
const RECORDS: u32 = u32::MAX - 2;
const MOST: usize = 1 << 14;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// True if mutant `number` is on.
#[inline]
pub fn on(number: u32) -> bool {
    let active = ACTIVE.load(Ordering::Relaxed);
    active == number || (active < NONE && active >= RECORDS && look(number))
}

#[cold]
fn look(number: u32) -> bool {
    if ACTIVE.load(Ordering::Relaxed) == UNREAD {
        let wanted = env::var("COGTCP_MUTANT").ok();
        let active = match wanted {
            Some(wanted) => wanted.parse().expect("COGTCP_MUTANT is a number"),
            None if env::var_os("COGTCP_MUTANTS_REACHED").is_some() => RECORDS,
            None => NONE,
        };
        ACTIVE.store(active, Ordering::Relaxed);
        return on(number);
    }
    if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
        if let Some(path) = env::var_os("COGTCP_MUTANTS_REACHED") {
            let mut file =
                OpenOptions::new().append(true).create(true).open(path).expect("a file to append to");
            file.write_all(format!("{number}\n").as_bytes()).expect("room for a number");
        }
    }
    false
}
