//! The engine behind one function, for a page in a browser: a request in JSON, an answer of JSON and columns.
//!
//! Thin, no logic: what is offered is decided in the crates below. [`Engine::ask`] is the whole interface;
//! [`request`] lists the requests, [`answer`] says how an answer is laid out. Built for
//! `wasm32-unknown-unknown` the module `exports` hands the function out; natively it is an ordinary library.
//! Plain exports and buffers instead of wasm-bindgen: no generated JavaScript, no build tool beside cargo.
//!
//! [`Hooks`] tell how far a run is, and end it. WebAssembly without shared memory hears nothing while it
//! runs: there the page ends the worker.

pub mod answer;
mod capture;
mod engine;
mod episode;
#[cfg(target_arch = "wasm32")]
mod exports;
mod failure;
mod parquet;
pub mod request;
mod statistics;

pub use engine::{Engine, Hooks, Outside, Watch};
