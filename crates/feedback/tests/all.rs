//! Every test of the crate in one program: linking dozens took longer than running them.

mod atp;
#[path = "../../units/tests/support/committed.rs"]
mod committed;
mod conformance;
mod nada;
mod path;
mod settings;
mod tfrc;
mod tfrc_cr;
mod tp_crahn;
