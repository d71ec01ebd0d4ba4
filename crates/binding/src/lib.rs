//! The Python extension module `cogtcp._core`: scenarios in, runs out as columns. Thin: what it offers is
//! decided in the crates below it, how it is presented in the package `cogtcp` above it.

mod buffer;
mod captures;
mod control;
mod emulation;
mod episode;
mod errors;
mod freeze;
mod journey;
mod lab;
mod mobility;
mod packets;
mod parquet;
mod run;
mod scenario;
mod spectrum;
mod statistics;
mod traces;
mod wait;

use pyo3::prelude::*;

/// The compiled core of cogtcp.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::buffer::Buffer;
    #[pymodule_export]
    use super::captures::{
        CaptureFrames, CapturePieces, capture_head, capture_packet, is_capture, read_captures, write_capture,
    };
    #[pymodule_export]
    use super::control::check_congestion_control;
    #[pymodule_export]
    use super::control::values::{AckSample, LinkEvent, PacketInfo, RateSample, TcpState};
    #[pymodule_export]
    use super::emulation::{check_emulation, emulate};
    #[pymodule_export]
    use super::episode::{CongestionEpisode, CongestionView, SensingEpisode, SensingView};
    #[pymodule_export]
    use super::errors::toml_place;
    #[pymodule_export]
    use super::freeze::{read_freeze_reply, write_freeze_message};
    #[pymodule_export]
    use super::journey::Journey;
    #[pymodule_export]
    use super::lab::ask;
    #[pymodule_export]
    use super::mobility::Mobility;
    #[pymodule_export]
    use super::packets::{check_packet_scripts, packet_script_beyond, play_packet_scripts};
    #[pymodule_export]
    use super::parquet::parquet_file;
    #[pymodule_export]
    use super::run::{Cancel, Run, columns, jain_fairness, run};
    #[pymodule_export]
    use super::scenario::{Scenario, is_transport, migrate, schema, starter, starters, transports};
    #[pymodule_export]
    use super::spectrum::{ChannelTable, PuActivity, detection, sensing_time};
    #[pymodule_export]
    use super::statistics::{
        Spread, aimd_cycle, available_rounds, bdp_packets, binomial_distribution, cwnd_after_cycles, delta_w,
        holm, mathis_throughput_bps, mean_interval, mser5, next_cwnd, p_value, packets_per_cycle,
        paired_difference, pftk_throughput_bps, quantile_interval, ratio_interval, regime, rto_outage_s,
        t_distribution, t_quantile, usable_airtime,
    };
    #[pymodule_export]
    use super::traces::read_link_trace;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const scenario_schema: u32 = cogtcp_scenario::SCENARIO_SCHEMA;
}
