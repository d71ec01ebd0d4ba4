//! To be written.
#![allow(dead_code)]
mod histogram;
mod pipe;
mod queue;
