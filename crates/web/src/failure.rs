//! Why a request has no answer.

use cogtcp_scenario::ScenarioError;
use cogtcp_simulator::RunError;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request makes no sense.
    Request(String),
    /// The scenario does not.
    Scenario(Box<ScenarioError>),
    /// The run failed.
    Run(String),
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cancelled { .. } | RunError::TooManyEvents | RunError::Conservation(_) => {
                Self::Run(error.to_string())
            }
            // What only the simulator notices of a scenario.
            error => Self::Request(error.to_string()),
        }
    }
}
