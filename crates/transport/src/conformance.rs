//! The conformance suite of congestion controls: what every control must do.
//!
//! [`check_congestion_control`] plays a control through the hooks in every order that a sender may call them,
//! with ordinary and with absurd values, and through whole transfers over a lossy path. It is meant for the
//! tests of a control, in this crate or outside:
//!
//! ```
//! use cogtcp_transport::{Parameters, conformance::check_congestion_control, make};
//!
//! let aimd = || make("aimd", &Parameters::new()).expect("in the registry");
//! check_congestion_control(aimd).unwrap();
//! ```
//!
//! What is checked, each check by its name in [`ConformanceFailure::check`]:
//!
//! | check | rule |
//! |---|---|
//! | `name` | the name is not empty, and the same for every instance |
//! | `panic` | no hook panics, whatever the values: no RTT, an RTT of a day, nothing in flight, huge ACKs |
//! | `window` | cwnd is one segment at least after the sender's clamp, and below 2^62: no wrap, no infinity |
//! | `floor` | ssthresh after a loss event is two segments at least (RFC 5681 equation 4) |
//! | `pacing` | a pacing rate, where set, is not zero |
//! | `undo` | an undo does not shrink cwnd |
//! | `silence` | cwnd does not grow without ACKs |
//! | `determinism` | the same calls give the same windows |
//! | `loss` | cwnd does not rise at a loss event, and falls in a full window (if left to the sender) |
//! | `transfer` | data gets through in bounded time: lossy and silent paths, every recovery, Accurate ECN |
//! | `recovery` | after a timeout the window grows again |

mod hooks;
mod transfer;

use crate::CongestionControl;

/// A rule that a control breaks.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("congestion control \"{control}\" breaks \"{check}\": {detail}")]
pub struct ConformanceFailure {
    /// The control's name.
    pub control: String,
    /// The rule, as the table of this module names it.
    pub check: &'static str,
    /// What happened, with the seed of a random sequence.
    pub detail: String,
}

/// Checks a control with the suite's own 50 random sequences of hooks.
///
/// # Errors
///
/// The first rule that the control breaks.
pub fn check_congestion_control(
    make: impl Fn() -> Box<dyn CongestionControl>,
) -> Result<(), ConformanceFailure> {
    check_congestion_control_with_seeds(make, 0..50)
}

/// Checks with other random sequences: more of them, or the one seed of a failure.
///
/// # Errors
///
/// The first rule that the control breaks.
pub fn check_congestion_control_with_seeds(
    make: impl Fn() -> Box<dyn CongestionControl>,
    seeds: std::ops::Range<u64>,
) -> Result<(), ConformanceFailure> {
    let name = make().name().to_owned();
    let failure = |(check, detail): Failure| ConformanceFailure { control: name.clone(), check, detail };
    if name.is_empty() || make().name() != name {
        return Err(failure(("name", format!("{name:?}, then {:?}", make().name()))));
    }
    for seed in seeds {
        let first = hooks::play(&make, seed).map_err(failure)?;
        let second = hooks::play(&make, seed).map_err(failure)?;
        if first != second {
            let at = first.iter().zip(&second).position(|(a, b)| a != b);
            return Err(failure(("determinism", format!("seed {seed}: the windows part at step {at:?}"))));
        }
    }
    hooks::check_loss(&make).map_err(failure)?;
    transfer::check(&make).map_err(failure)
}

/// Check and detail of a failure, before the control's name is put to it.
type Failure = (&'static str, String);

/// Runs `play`; a panic becomes a failure.
fn guarded<T>(what: &str, play: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // The state behind a panic is dropped with the closure, so that nothing broken is seen afterwards.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(play)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(("panic", format!("{what}: {message}")))
    })
}

#[cfg(test)]
mod tests;
