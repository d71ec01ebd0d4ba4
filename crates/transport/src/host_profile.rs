//! What a sender's host is like besides its congestion control: RFCs, Linux of today, the simulators that
//! papers used.

use crate::{
    FRto, FastRetransmitGuard, FullAckWindow, Handshake, InitialWindow, LossRecovery, NewRenoVariant,
    PrrRules, RecoveryRules, RttSampling, SenderConfig, TimeoutRules, Timers, Undo, with,
};
use cogtcp_units::Duration;

/// The settings of a sender's host that do not belong to its congestion control. What is known of each
/// simulator, and how, stands in `docs/congestion/simulators.md`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HostProfile {
    /// What the RFCs recommend: [`SenderConfig::default`].
    #[default]
    Rfc,
    /// What resembles a Linux host of today with its default sysctls: PRR, RACK-TLP, SACK-based F-RTO,
    /// timestamps, every ACK timed, RTO of SRTT + 200 ms to 120 s.
    Linux,
    /// ns-2.35 with its defaults (`tcl/lib/ns-default.tcl`): a window of 20 packets of 1000 bytes, a clock of
    /// 10 ms.
    Ns2,
    /// ns-3.18 of August 2013 with its defaults: segments of 536 bytes, ssthresh 65535, least RTO 0.2 s.
    Ns3In2013,
    /// ns-3.24 of September 2015 with its defaults: as in 2013 with timestamps, window scaling and a least
    /// RTO of 1 s.
    Ns3In2015,
}

impl HostProfile {
    /// The sender's settings, recovery apart.
    pub(crate) fn sender_config(self) -> SenderConfig {
        let rfc = SenderConfig::default();
        match self {
            Self::Rfc => rfc,
            Self::Linux => SenderConfig {
                segmentation_offload: true,
                handshake: Handshake { timestamps: true, ..rfc.handshake },
                recovery: LossRecovery {
                    prr: true,
                    prr_rules: PrrRules::Linux,
                    rack: true,
                    tlp: true,
                    // tcp_rearm_rto follows every ACK that advances SND.UNA.
                    newreno_variant: NewRenoVariant::SlowButSteady,
                    ..rfc.recovery
                },
                undo: Undo { f_rto: FRto::Linux, eifel: true, d_sack_undo: true },
                timers: Timers {
                    timeout_rules: TimeoutRules::Linux,
                    rtt_sampling: RttSampling::EveryAck,
                    min_rto: Duration::from_millis(200),
                    min_rto_above_srtt: true,
                    max_rto: Duration::from_secs(120),
                    // HZ = 250, as in Debian's kernels.
                    timer_tick: Duration::from_millis(4),
                    ..rfc.timers
                },
                ..rfc
            },
            Self::Ns2 => SenderConfig {
                initial_window: InitialWindow::Segments(2),
                // ssthresh starts at `window_`.
                initial_ssthresh: 20_000,
                max_window: Some(20_000),
                window_validation: false,
                handshake: Handshake { mss: 1000, ..rfc.handshake },
                recovery: LossRecovery {
                    newreno_variant: NewRenoVariant::Impatient,
                    full_ack_window: FullAckWindow::Ssthresh,
                    fast_retransmit_guard: FastRetransmitGuard::Window,
                    hold_ssthresh: false,
                    recovery_rules: RecoveryRules::Ns2,
                    ..rfc.recovery
                },
                timers: Timers {
                    initial_rto: Duration::from_secs(3),
                    min_rto: Duration::from_millis(200),
                    clock_granularity: Duration::from_millis(10),
                    timeout_rules: TimeoutRules::Ns2,
                    keep_syn_backoff: true,
                    ..rfc.timers
                },
                ..rfc
            },
            Self::Ns3In2013 => SenderConfig {
                initial_window: InitialWindow::Segments(1),
                initial_ssthresh: 65_535,
                restart_after_idle: false,
                window_validation: false,
                handshake: Handshake { mss: 536, window_scaling: false, ..rfc.handshake },
                recovery: LossRecovery {
                    newreno_variant: NewRenoVariant::SlowButSteady,
                    limited_transmit: false,
                    ..rfc.recovery
                },
                timers: Timers {
                    initial_rto: Duration::from_secs(3),
                    min_rto: Duration::from_millis(200),
                    rtt_sampling: RttSampling::EveryAck,
                    restart_on_retransmit: false,
                    ..rfc.timers
                },
                ..rfc
            },
            Self::Ns3In2015 => with!(
                Self::Ns3In2013.sender_config(),
                handshake.timestamps = true,
                handshake.window_scaling = true,
                timers.min_rto = Duration::from_secs(1)
            ),
        }
    }
}
