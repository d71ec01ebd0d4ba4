//! Fields of `tcp_info` (linux/tcp.h) by what the model has.

use super::duplex::Duplex;
use cogtcp_transport::{CaState, Recovery};
use cogtcp_units::{Duration, Time};

/// Linux's value of a slow start threshold that is not set (`TCP_INFINITE_SSTHRESH`).
const UNSET: u64 = 0x7fff_ffff;

/// The value of a field.
pub(super) fn field(both: &Duplex, now: Time, name: &str) -> Result<f64, String> {
    let sender = both.sender();
    let tcp = sender.state();
    let outstanding = both.outstanding();
    let micros = |span: Duration| (span.as_nanos() / 1000) as f64;
    let value = match name {
        "tcpi_snd_cwnd" => tcp.cwnd / tcp.mss,
        "tcpi_snd_ssthresh" => (tcp.ssthresh / tcp.mss).min(UNSET),
        "tcpi_snd_mss" => tcp.mss,
        "tcpi_advmss" => u64::from(both.receiver().config().handshake.mss),
        "tcpi_unacked" => outstanding.segments,
        "tcpi_sacked" => outstanding.sacked,
        "tcpi_lost" => outstanding.lost,
        "tcpi_retrans" => outstanding.retransmitted,
        "tcpi_reordering" => outstanding.reordering,
        "tcpi_backoff" => u64::from(outstanding.timeouts),
        "tcpi_probes" => u64::from(outstanding.probes),
        // The SYN counts as one.
        "tcpi_delivered" => 1 + tcp.delivered.div_ceil(tcp.mss),
        "tcpi_rtt" => return Ok(micros(tcp.srtt)),
        "tcpi_min_rtt" => return Ok(micros(tcp.min_rtt)),
        "tcpi_last_data_recv" => both.silent_for(now).as_nanos() / 1_000_000,
        "tcpi_ca_state" => match tcp.ca_state {
            CaState::Open => 0,
            CaState::Disorder => 1,
            CaState::Cwr => 2,
            CaState::Recovery => 3,
            CaState::Loss => 4,
        },
        "tcpi_options" => {
            let shown = both.receiver().current_ack(now);
            u64::from(shown.timestamps().is_some())
                | (u64::from(sender.recovery() == Recovery::Sack) << 1)
                | (u64::from(sender.uses_ecn()) << 3)
        }
        _ => return Err(format!("the model has no {name}")),
    };
    Ok(value as f64)
}
