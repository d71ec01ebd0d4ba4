//! A database of primary users.

use cogtcp_units::{Duration, Time};
use std::fmt::Debug;

/// A database of primary users that a transport may ask, as regulators prescribe for TV white space.
pub trait SpectrumDatabase: Debug + Send + Sync {
    /// Returns when the primary user departs that is active at some time in the `span` from `now`, the first
    /// one in the order of the database; `None`: none is active. [`Time::MAX`]: it stays.
    fn departure(&self, now: Time, span: Duration) -> Option<Time>;
}
