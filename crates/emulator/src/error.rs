//! How an emulation fails.

use std::io;

/// Why an emulation gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulationError {
    /// The scenario has something that this plane does not.
    #[error("{what}; the kernel plane emulates {known}")]
    Scenario {
        /// What.
        what: String,
        /// What it does instead.
        known: &'static str,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] cogtcp_network::BuildError),
    /// The machine lacks something.
    #[error("{what}: {source}. {remedy}")]
    Missing {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A process that leaves its namespaces and forks must be single-threaded: a copy would wait for locks of
    /// other threads.
    #[error("emulation needs a single-threaded process, and this one has {0} threads. Use `cogtcp emulate`")]
    Threads(usize),
    /// There is no kind of device that could carry packets.
    #[error("{tun}. Virtual Ethernet devices do not work either: {veth}")]
    NoDevice {
        /// What became of a TUN device.
        tun: Box<EmulationError>,
        /// What became of the other kind.
        veth: Box<EmulationError>,
    },
    /// A program could not be started.
    #[error("{program}: cannot be started: {source}")]
    Command {
        /// Its name.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The record of packets could not be written.
    #[error("the record of packets cannot be written: {0}")]
    Journal(io::Error),
    /// The kernel refused something that it should not.
    #[error("{what}: {source}")]
    Kernel {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
}

impl EmulationError {
    /// Whether this machine lacks what any emulation needs.
    pub fn lacks_plane(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NoDevice { .. })
    }
}

/// Says what was tried when the kernel refused it.
pub(crate) trait Tried<T> {
    /// An I/O error without a hint.
    fn tried(self, what: impl Into<String>) -> Result<T, EmulationError>;

    /// With a remedy.
    fn or_remedy(self, what: impl Into<String>, remedy: &'static str) -> Result<T, EmulationError>;
}

impl<T> Tried<T> for io::Result<T> {
    fn tried(self, what: impl Into<String>) -> Result<T, EmulationError> {
        self.map_err(|source| EmulationError::Kernel { what: what.into(), source })
    }

    fn or_remedy(self, what: impl Into<String>, remedy: &'static str) -> Result<T, EmulationError> {
        self.map_err(|source| EmulationError::Missing { what: what.into(), source, remedy })
    }
}
