//! Statistics over independent runs, and closed-form models to compare runs with.
//!
//! Python, reports and the page in the browser all take their intervals, tests and model lines from here.
//! Every function is pure. Transcendental functions come from `libm`, so native code and WebAssembly give the
//! same bits. This is why the t and the binomial distribution are written here; a library would use the
//! platform's functions.
//!
//! - [`interval`]: means and quantiles with confidence intervals, paired differences.
//! - [`ratio`]: ratios of means with intervals by Fieller's theorem.
//! - [`significance`]: the paired t-test and Holm's procedure over several tests.
//! - [`student_t`], [`binomial`]: the two distributions that intervals and tests need.
//! - [`warmup`]: where the transient of a series ends.
//! - [`models`]: closed forms (AIMD over cognitive cycles, TCP under random loss, usable airtime).

pub mod binomial;
pub mod interval;
pub mod models;
pub mod ratio;
pub mod significance;
pub mod student_t;
pub mod sum;
#[cfg(test)]
mod tests;
pub mod warmup;

/// An argument for which a function is not defined. The text names the argument, its range and its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutOfRange(pub String);
