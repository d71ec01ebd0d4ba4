//! TCP Friendly Rate Control (RFC 5348).

pub(crate) mod config;
mod loss_history;
mod receiver;
mod sender;
pub(crate) mod wire;

pub use config::TfrcSettings;
pub use loss_history::LossHistory;
pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;
