//! TCP Friendly Rate Control (RFC 5348).

mod config;
mod loss_history;
mod receiver;
mod sender;
mod wire;

pub use config::TfrcSettings;
pub use loss_history::LossHistory;
pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;
