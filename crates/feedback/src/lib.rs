//! Transports that control a rate, not a window: TFRC (RFC 5348), TFRC-CR, ATP and NADA
//! (RFC 8698). TP-CRAHN has a window,
//! which nodes on the route correct.
//!
//! Both ends are [`cogtcp_endpoint::Endpoint`]s that exchange UDP datagrams. [`equation`] is the throughput
//! of TCP that a rate-controlled sender aims at.

pub mod atp;
mod blocks;
pub mod equation;
pub mod nada;
mod segments;
mod tfrc;
pub mod tfrc_cr;
pub mod tp_crahn;
mod unsent;
mod wire;

pub use atp::{AtpReceiver, AtpSender, AtpSettings};
pub use nada::{NadaReceiver, NadaSender, NadaSettings};
pub use tfrc::{LossHistory, TfrcReceiver, TfrcSender, TfrcSettings};
pub use tfrc_cr::{TfrcCrSender, TfrcCrSettings};
pub use tp_crahn::{TpCrahnReceiver, TpCrahnSender, TpCrahnSettings, TpCrahnState};

/// Hands a registry of transports to its macro, with every transport of this crate before the others.
///
/// Modules and their entries so stand in one file. A new transport adds its line here.
#[macro_export]
macro_rules! with_rate_transports {
    ($registry:ident! {
        #[$($entries:tt)*]
        $(#[$($meta:tt)*])*
        pub enum $name:ident: $kind:ident { $($others:tt)* }
    }) => {
        $registry! {
            #[$($entries)*]
            $(#[$($meta)*])*
            pub enum $name: $kind {
                Tfrc: cogtcp_feedback::TfrcSettings,
                TfrcCr: cogtcp_feedback::TfrcCrSettings,
                Atp: cogtcp_feedback::AtpSettings,
                TpCrahn: cogtcp_feedback::TpCrahnSettings,
                Nada: cogtcp_feedback::NadaSettings,
                $($others)*
            }
        }
    };
}
