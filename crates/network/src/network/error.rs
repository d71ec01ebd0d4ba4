//! Why a network cannot be built.

/// A network that cannot be built.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Two radios on one link.
    #[error(
        "link \"{link}\" is gated by the radios \"{first}\" and \"{second}\"; a link has at most one radio"
    )]
    TwoRadios {
        /// The link.
        link: String,
        /// The radio that comes first in the layout.
        first: String,
        /// The other one.
        second: String,
    },
    /// A radio.
    #[error("radio \"{radio}\": {why}")]
    Radio {
        /// Its name.
        radio: String,
        /// What is wrong.
        why: String,
    },
    /// The ad hoc network.
    #[error("ad hoc network: {0}")]
    AdHoc(String),
}
