//! What WebAssembly hands out. A page writes a request into `cogtcp_request(length)`, calls `cogtcp_ask()`
//! and reads the answer at `cogtcp_answer()`, of `cogtcp_answer_length()` bytes, before the next request.

#![allow(unsafe_code, reason = "exported names, and functions of the page")]

use crate::{Engine, Hooks, Watch};
use std::cell::RefCell;
use std::sync::{Arc, Once};

#[link(wasm_import_module = "cogtcp")]
unsafe extern "C" {
    /// How far the run is, in seconds of simulated time.
    safe fn progress(seconds: f64);
    /// What a panic says, before the trap that it ends in: UTF-8.
    safe fn panicked(text: *const u8, length: usize);
}

#[derive(Default)]
struct State {
    engine: Engine,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Where to write a request of so many bytes.
#[unsafe(no_mangle)]
extern "C" fn cogtcp_request(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        // The page has read it: its memory is free for the next answer.
        state.answer = Vec::new();
        state.request.clear();
        state.request.resize(length, 0);
        state.request.as_mut_ptr()
    })
}

/// Answers the request that was written.
#[unsafe(no_mangle)]
extern "C" fn cogtcp_ask() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            panicked(text.as_ptr(), text.len());
        }));
    });
    STATE.with_borrow_mut(|state| {
        let request = String::from_utf8_lossy(&state.request).into_owned();
        let watch: Watch = Arc::new(|now| progress(now.as_secs_f64()));
        state.answer = state.engine.ask(&request, Hooks { watch: Some(watch), ..Hooks::default() });
    });
}

/// Where the answer is.
#[unsafe(no_mangle)]
extern "C" fn cogtcp_answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// How long the answer is.
#[unsafe(no_mangle)]
extern "C" fn cogtcp_answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}
