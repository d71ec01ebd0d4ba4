//! Random settings of the two ends.

use cogtcp_transport::*;
use cogtcp_units::{Duration, RandomStream};

fn coin(random: &mut RandomStream) -> bool {
    random.below(2) == 1
}

fn pick<T: Copy>(random: &mut RandomStream, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize]
}

fn millis(random: &mut RandomStream, low: u64, high: u64) -> Duration {
    Duration::from_millis(low + random.below(high - low + 1))
}

/// Anywhere, or so close to 2^32 that the transfer wraps.
fn initial_sequence(random: &mut RandomStream) -> SeqNumber {
    if coin(random) {
        SeqNumber::new(u32::MAX - random.below(60_000) as u32)
    } else {
        SeqNumber::new(random.next_u64() as u32)
    }
}

pub fn sender(random: &mut RandomStream) -> SenderConfig {
    let mss = pick(random, &[100, 536, 1000, 1460, 1460, 9000]);
    let min_rto = millis(random, 1, 1_000);
    // Later settings leave what was drawn before as it was.
    let mut more = random.clone();
    SenderConfig {
        linear_syn_timeouts: more.below(5) as u32,
        challenge_interval: millis(&mut more, 0, 1_000),
        initial_window: pick(
            random,
            &[InitialWindow::Rfc6928, InitialWindow::Segments(1), InitialWindow::Segments(2)],
        ),
        initial_ssthresh: if coin(random) { u64::MAX } else { u64::from(mss) * (2 + random.below(30)) },
        segmentation_offload: coin(random),
        max_window: coin(random).then(|| u64::from(mss) * (1 + random.below(40))),
        restart_after_idle: coin(random),
        paced_resume: coin(random),
        heeds_shrinking: random.below(4) > 0,
        window_validation: coin(random),
        handshake: Handshake {
            mss,
            initial_sequence: initial_sequence(random),
            ecn: ecn(random),
            timestamps: coin(random),
            window_scaling: coin(random),
        },
        recovery: LossRecovery {
            algorithm: pick(random, &[Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack]),
            newreno_variant: pick(random, &[NewRenoVariant::Impatient, NewRenoVariant::SlowButSteady]),
            full_ack_window: pick(random, &[FullAckWindow::FlightSize, FullAckWindow::Ssthresh]),
            fast_retransmit_guard: pick(
                random,
                &[FastRetransmitGuard::Off, FastRetransmitGuard::Timeout, FastRetransmitGuard::Window],
            ),
            dup_thresh: pick(random, &[3, 3, 3, 2, 5]),
            limited_transmit: coin(random),
            prr: coin(random),
            prr_rules: pick(random, &[PrrRules::Rfc, PrrRules::Linux]),
            rack: coin(random),
            tlp: coin(random),
            max_ack_delay: millis(random, 0, 500),
            hold_ssthresh: coin(random),
            recovery_rules: pick(random, &[RecoveryRules::Rfc, RecoveryRules::Ns2]),
        },
        undo: Undo {
            f_rto: pick(random, &[FRto::Off, FRto::Basic, FRto::Sack, FRto::Linux]),
            eifel: coin(random),
            d_sack_undo: coin(random),
        },
        timers: Timers {
            timeout_rules: pick(random, &[TimeoutRules::Rfc, TimeoutRules::Linux, TimeoutRules::Ns2]),
            timestamp_tick: pick(random, &[1, 10, 1000].map(Duration::from_millis)),
            initial_rto: millis(random, 100, 3_000),
            min_rto,
            min_rto_above_srtt: coin(random),
            timer_tick: if coin(random) { Duration::ZERO } else { millis(random, 1, 10) },
            timer_phase: Some(millis(random, 0, 5_000)),
            max_rto: min_rto + millis(random, 1_000, 60_000),
            keep_syn_backoff: coin(random),
            restart_on_retransmit: random.below(4) > 0,
            clock_granularity: pick(random, &[1, 10, 100, 500].map(Duration::from_millis)),
            rtt_sampling: pick(random, &[RttSampling::OncePerFlight, RttSampling::EveryAck]),
            user_timeout: None,
            time_wait: millis(random, 0, 240_000),
        },
    }
}

fn ecn(random: &mut RandomStream) -> EcnMode {
    pick(random, &[EcnMode::Off, EcnMode::Classic, EcnMode::Accurate])
}

pub fn receiver(random: &mut RandomStream) -> ReceiverConfig {
    let mut more = random.clone();
    ReceiverConfig {
        delayed_ack: match random.below(6) {
            0 | 1 => DelayedAck::Off,
            2 => DelayedAck::Linux,
            3 => DelayedAck::Adaptive { limit: millis(random, 1, 500) },
            _ => DelayedAck::On { timeout: millis(random, 1, 500) },
        },
        ack_every: 1 + random.below(4) as u32,
        sack: random.below(4) > 0,
        d_sack: coin(random),
        paws: coin(random),
        buffer: match random.below(4) {
            0 => 1 + random.below(3_000),
            1 => 1 + random.below(30_000),
            2 => 65_535 + random.below(200_000),
            _ => 4 << 20,
        },
        window_tuning: coin(random),
        window_margin: coin(random),
        manual_read: coin(random),
        stays_open: false,
        challenge_interval: millis(&mut more, 0, 1_000),
        wheel: Wheel { tick: millis(&mut more, 0, 10), phase: millis(&mut more, 0, 5_000) },
        compression_slack: millis(&mut more, 0, 2),
        handshake: Handshake {
            mss: pick(random, &[200, 1000, 1460, 9000]),
            initial_sequence: initial_sequence(random),
            ecn: ecn(random),
            timestamps: random.below(4) > 0,
            window_scaling: coin(random),
        },
    }
}

/// Any preset's control; half of the time Reno's.
pub fn control(random: &mut RandomStream) -> Box<dyn CongestionControl> {
    if coin(random) {
        return make("aimd", &Parameters::new()).expect("the registry builds what it lists");
    }
    let preset = &Preset::all()[random.below(Preset::all().len() as u64) as usize];
    make(preset.control, &preset.parameters(&Parameters::new())).expect("a preset builds its control")
}
