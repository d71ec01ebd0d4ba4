//! The settings of a flow's two ends: the preset, \[tcp\] over it, the flow's own `tcp` over both.

use super::Findings;
use crate::limits::{LARGEST_BUFFER, LARGEST_SEGMENT, LONGEST};
use crate::tree::Path;
use crate::{
    ControlSpec, DelayedAck, FRto, FastRetransmitGuard, Flow, FullAckWindow, InitialWindow, NewRenoVariant,
    Parameter, Recovery, RttSampling, Scenario, Segments, Tcp, Window, external, is_external,
};
use cogtcp_transport::{
    self as transport, ParameterValue, Parameters, Preset, ReceiverConfig, SenderConfig, control_info,
    controls,
};
use cogtcp_units::{Bytes, Duration};

/// Longest delay of an adaptive acknowledgement (RFC 5681 section 4.2).
const LONGEST_DEFERMENT: Duration = Duration::from_millis(500);

/// What both ends of a flow run on.
pub(super) struct Endpoints {
    pub(super) sender: SenderConfig,
    pub(super) receiver: ReceiverConfig,
    pub(super) control: ControlSpec,
}

/// The endpoints of `flow`, which stands at `path`; `None` when its transport is unknown.
pub(super) fn resolve(
    scenario: &Scenario,
    flow: &Flow,
    path: &Path,
    findings: &mut Findings,
) -> Option<Endpoints> {
    let preset = Preset::find(&flow.transport).ok();
    if preset.is_none() && !is_external(&flow.transport) {
        let names: Vec<&str> = Preset::all().iter().map(|preset| preset.name).collect();
        findings.error(
            &path.key("transport"),
            format!("unknown transport \"{}\"", flow.transport),
            external::remedy(&flow.transport, &names),
        );
        return None;
    }
    let layers = [(&scenario.tcp, Path::of("tcp")), (&flow.tcp, path.key("tcp"))];
    let mut sender = preset.map_or_else(SenderConfig::default, Preset::sender_config);
    let mut receiver = ReceiverConfig::default();
    // The segment size first: windows in segments, of whatever layer, are of the size that counts in the end.
    for (tcp, path) in &layers {
        check(tcp, path, findings);
        apply_segment_size(tcp, &mut sender, &mut receiver);
    }
    for (tcp, _) in &layers {
        apply(tcp, &mut sender, &mut receiver);
    }
    // A check of two settings together points at the one that the flow's author wrote last.
    let blame = |is_set: fn(&Tcp) -> bool, key: &str| {
        let layer = layers.iter().rev().find(|(tcp, _)| is_set(tcp));
        layer.map_or_else(|| path.key("transport"), |(_, at)| at.key(key))
    };
    if sender.min_rto > sender.max_rto {
        findings.error(
            &blame(|tcp| tcp.min_rto.is_some() || tcp.max_rto.is_some(), "min_rto"),
            format!("the least RTO (\"{}\") is above the greatest (\"{}\")", sender.min_rto, sender.max_rto),
            "write min_rto at most max_rto",
        );
    }
    if receiver.buffer < u64::from(receiver.mss) {
        findings.error(
            &blame(|tcp| tcp.receive_buffer.is_some(), "receive_buffer"),
            format!(
                "the receive buffer (\"{}\") does not hold one segment (\"{}\")",
                Bytes::new(receiver.buffer),
                Bytes::new(u64::from(receiver.mss))
            ),
            "write a buffer of several segments",
        );
    }
    if sender.max_window.is_some_and(|window| window < u64::from(sender.mss)) {
        findings.error(
            &blame(|tcp| tcp.max_window.is_some(), "max_window"),
            "the cap on the window is below one segment: nothing could be sent",
            "write at least \"1 segment\"",
        );
    }
    if sender.recovery == transport::Recovery::Sack && !receiver.sack {
        findings.warn(
            &blame(|tcp| tcp.sack.is_some(), "sack"),
            "the sender recovers by SACK and the receiver does not permit it: the flow falls back to NewReno",
            "take sack = false out, or choose another transport",
        );
    }
    let no_sack = sender.recovery != transport::Recovery::Sack;
    type IsSet = fn(&Tcp) -> bool;
    let options: [(bool, IsSet, &str, &str); 3] = [
        (sender.prr && no_sack, |tcp| tcp.prr.is_some(), "prr", "recovery = \"sack\""),
        (sender.rack && no_sack, |tcp| tcp.rack.is_some(), "rack", "recovery = \"sack\""),
        (sender.tlp && !sender.rack, |tcp| tcp.tlp.is_some(), "tlp", "rack = true"),
    ];
    for (idle, is_set, key, needs) in options {
        if idle {
            findings.warn(
                &blame(is_set, key),
                format!("{key} is set and does nothing without {needs}"),
                format!("set {needs} too, or take {key} out"),
            );
        }
    }
    let control = match preset {
        Some(preset) => {
            ControlSpec { name: preset.control.to_owned(), parameters: preset.parameters(&Parameters::new()) }
        }
        None => ControlSpec { name: flow.transport.clone(), parameters: Parameters::new() },
    };
    let control = override_control(control, &layers, findings);
    Some(Endpoints { sender, receiver, control })
}

/// The control of the innermost layer that names one, else that of the transport. Parameters count from the layer that
/// named it on: a layer that names a control starts from the control's own defaults.
fn override_control(
    transport: ControlSpec,
    layers: &[(&Tcp, Path); 2],
    findings: &mut Findings,
) -> ControlSpec {
    let ControlSpec { mut name, mut parameters } = transport;
    for (tcp, path) in layers {
        if let Some(own) = &tcp.congestion {
            if control_info(own).is_err() && !is_external(own) {
                let names: Vec<&str> = controls().iter().map(|info| info.name).collect();
                findings.error(
                    &path.key("congestion"),
                    format!("unknown congestion control \"{own}\""),
                    external::remedy(own, &names),
                );
                return ControlSpec { name, parameters };
            }
            name.clone_from(own);
            parameters = Parameters::new();
        }
        for (key, value) in &tcp.parameters {
            if is_external(&name) {
                // What there is and what is allowed is for its constructor to say.
                parameters.set(key, value_of(value));
                continue;
            }
            let mut one = Parameters::new();
            one.set(key, value_of(value));
            let Ok(info) = control_info(&name) else { continue };
            match one.resolve(&name, info.parameters) {
                Ok(_) => parameters.set(key, value_of(value)),
                Err(error) => findings.error(&path.key("parameters").key(key), error.to_string(), ""),
            }
        }
    }
    ControlSpec { name, parameters }
}

fn value_of(parameter: &Parameter) -> ParameterValue {
    match parameter {
        Parameter::Flag(flag) => ParameterValue::Flag(*flag),
        Parameter::Number(number) => ParameterValue::Number(*number),
        Parameter::Text(text) => ParameterValue::Text(text.clone()),
    }
}

/// Bounds of each setting by itself.
fn check(tcp: &Tcp, path: &Path, findings: &mut Findings) {
    if let Some(size) = tcp.segment_size
        && !(1..=LARGEST_SEGMENT).contains(&size.get())
    {
        findings.error(
            &path.key("segment_size"),
            format!("a segment of \"{size}\" is out of range"),
            format!("write \"1 B\" to \"{LARGEST_SEGMENT} B\" (an IPv4 packet without its headers)"),
        );
    }
    if let Some(buffer) = tcp.receive_buffer
        && buffer.get() > LARGEST_BUFFER
    {
        findings.error(
            &path.key("receive_buffer"),
            format!("\"{buffer}\" is more than TCP can advertise"),
            format!("write at most \"{}\"", Bytes::new(LARGEST_BUFFER)),
        );
    }
    if let Some(count) = tcp.dup_thresh
        && !(1..=1000).contains(&count)
    {
        findings.error(
            &path.key("dup_thresh"),
            format!("{count} is out of range"),
            "write 1 to 1000 (RFC 5681: 3)",
        );
    }
    if let Some(Window::Bytes(bytes)) = tcp.initial_ssthresh
        && bytes.get() == 0
    {
        findings.error(
            &path.key("initial_ssthresh"),
            "the threshold is zero",
            "write at least \"1 segment\"",
        );
    }
    let ten = Duration::from_secs(10);
    let delayed = match tcp.delayed_ack {
        Some(DelayedAck::Timeout(span)) => Some(span),
        _ => None,
    };
    let spans = [
        ("timestamp_tick", tcp.timestamp_tick, false, ten),
        ("initial_rto", tcp.initial_rto, false, LONGEST),
        ("min_rto", tcp.min_rto, true, LONGEST),
        ("max_rto", tcp.max_rto, false, LONGEST),
        ("clock_granularity", tcp.clock_granularity, false, ten),
        ("user_timeout", tcp.user_timeout, false, LONGEST),
        ("time_wait", tcp.time_wait, true, LONGEST),
        ("delayed_ack", delayed, false, ten),
        ("max_ack_delay", tcp.max_ack_delay, true, ten),
    ];
    for (key, span, zero, most) in spans {
        if let Some(span) = span {
            findings.check_span(&path.key(key), span, zero, most);
        }
    }
}

impl Tcp {
    /// What a flow's TCP does where neither its transport nor the scenario says otherwise, as it would be written. Not
    /// set: what has no such value (no cap, never), and `recovery` and `congestion`, which are the transport's.
    pub(crate) fn defaults() -> Self {
        let (sender, receiver) = (SenderConfig::default(), ReceiverConfig::default());
        Self {
            segment_size: Some(Bytes::new(u64::from(sender.mss))),
            initial_window: Some(match sender.initial_window {
                transport::InitialWindow::Rfc6928 => InitialWindow::Rfc6928,
                transport::InitialWindow::Segments(count) => InitialWindow::Segments(Segments(count)),
            }),
            initial_ssthresh: Some(sender.initial_ssthresh)
                .filter(|bytes| *bytes < u64::MAX)
                .map(|bytes| Window::Bytes(Bytes::new(bytes))),
            max_window: sender.max_window.map(|bytes| Window::Bytes(Bytes::new(bytes))),
            recovery: None,
            newreno_variant: Some(match sender.newreno_variant {
                transport::NewRenoVariant::Impatient => NewRenoVariant::Impatient,
                transport::NewRenoVariant::SlowButSteady => NewRenoVariant::SlowButSteady,
            }),
            full_ack_window: Some(match sender.full_ack_window {
                transport::FullAckWindow::FlightSize => FullAckWindow::FlightSize,
                transport::FullAckWindow::Ssthresh => FullAckWindow::Ssthresh,
            }),
            fast_retransmit_guard: Some(match sender.fast_retransmit_guard {
                transport::FastRetransmitGuard::Off => FastRetransmitGuard::Off,
                transport::FastRetransmitGuard::Timeout => FastRetransmitGuard::Timeout,
                transport::FastRetransmitGuard::Window => FastRetransmitGuard::Window,
            }),
            dup_thresh: Some(sender.dup_thresh),
            limited_transmit: Some(sender.limited_transmit),
            f_rto: Some(match sender.f_rto {
                transport::FRto::Off => FRto::Off,
                transport::FRto::Basic => FRto::Basic,
                transport::FRto::Sack => FRto::Sack,
            }),
            prr: Some(sender.prr),
            rack: Some(sender.rack),
            tlp: Some(sender.tlp),
            max_ack_delay: Some(sender.max_ack_delay),
            ecn: Some(sender.ecn),
            timestamps: Some(sender.timestamps),
            paws: Some(receiver.paws),
            timestamp_tick: Some(sender.timestamp_tick),
            window_scaling: Some(sender.window_scaling),
            initial_rto: Some(sender.initial_rto),
            min_rto: Some(sender.min_rto),
            max_rto: Some(sender.max_rto),
            hold_ssthresh: Some(sender.hold_ssthresh),
            keep_syn_backoff: Some(sender.keep_syn_backoff),
            restart_on_retransmit: Some(sender.restart_on_retransmit),
            clock_granularity: Some(sender.clock_granularity),
            rtt_sampling: Some(match sender.rtt_sampling {
                transport::RttSampling::OncePerFlight => RttSampling::OncePerFlight,
                transport::RttSampling::EveryAck => RttSampling::EveryAck,
            }),
            restart_after_idle: Some(sender.restart_after_idle),
            paced_resume: Some(sender.paced_resume),
            heeds_shrinking: Some(sender.heeds_shrinking),
            window_validation: Some(sender.window_validation),
            user_timeout: sender.user_timeout,
            time_wait: Some(sender.time_wait),
            delayed_ack: Some(match receiver.delayed_ack {
                transport::DelayedAck::Off => DelayedAck::Off,
                transport::DelayedAck::On { timeout } => DelayedAck::Timeout(timeout),
                transport::DelayedAck::Adaptive { .. } => DelayedAck::Adaptive,
            }),
            ack_every: Some(Segments(receiver.ack_every)),
            sack: Some(receiver.sack),
            d_sack: Some(receiver.d_sack),
            receive_buffer: Some(Bytes::new(receiver.buffer)),
            congestion: None,
            parameters: std::collections::BTreeMap::new(),
        }
    }
}

fn apply_segment_size(tcp: &Tcp, sender: &mut SenderConfig, receiver: &mut ReceiverConfig) {
    if let Some(size) = tcp.segment_size {
        // `check` has refused what is larger.
        let mss = size.get().clamp(1, LARGEST_SEGMENT) as u32;
        (sender.mss, receiver.mss) = (mss, mss);
    }
}

/// Puts what `tcp` sets, but for the segment size, over the two configurations.
fn apply(tcp: &Tcp, sender: &mut SenderConfig, receiver: &mut ReceiverConfig) {
    // Every field by name: a new one cannot be forgotten here.
    let Tcp {
        segment_size: _,
        initial_window,
        initial_ssthresh,
        max_window,
        recovery,
        newreno_variant,
        full_ack_window,
        fast_retransmit_guard,
        dup_thresh,
        limited_transmit,
        f_rto,
        prr,
        rack,
        tlp,
        max_ack_delay,
        ecn,
        timestamps,
        paws,
        timestamp_tick,
        window_scaling,
        initial_rto,
        min_rto,
        max_rto,
        hold_ssthresh,
        keep_syn_backoff,
        restart_on_retransmit,
        clock_granularity,
        rtt_sampling,
        restart_after_idle,
        paced_resume,
        heeds_shrinking,
        window_validation,
        user_timeout,
        time_wait,
        delayed_ack,
        ack_every,
        sack,
        d_sack,
        receive_buffer,
        congestion: _,
        parameters: _,
    } = tcp;
    fn set<T: Copy>(field: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            *field = *value;
        }
    }
    fn map<T: Copy, U>(field: &mut U, value: &Option<T>, to: impl Fn(T) -> U) {
        if let Some(value) = value {
            *field = to(*value);
        }
    }
    let mss = sender.mss;
    map(&mut sender.initial_window, initial_window, |window| match window {
        InitialWindow::Rfc6928 => transport::InitialWindow::Rfc6928,
        InitialWindow::Segments(Segments(count)) => transport::InitialWindow::Segments(count),
    });
    map(&mut sender.initial_ssthresh, initial_ssthresh, |window| window.bytes(mss));
    map(&mut sender.max_window, max_window, |window| Some(window.bytes(mss)));
    map(&mut sender.recovery, recovery, |recovery| match recovery {
        Recovery::Tahoe => transport::Recovery::Tahoe,
        Recovery::Reno => transport::Recovery::Reno,
        Recovery::NewReno => transport::Recovery::NewReno,
        Recovery::Sack => transport::Recovery::Sack,
    });
    map(&mut sender.newreno_variant, newreno_variant, |variant| match variant {
        NewRenoVariant::Impatient => transport::NewRenoVariant::Impatient,
        NewRenoVariant::SlowButSteady => transport::NewRenoVariant::SlowButSteady,
    });
    map(&mut sender.full_ack_window, full_ack_window, |window| match window {
        FullAckWindow::FlightSize => transport::FullAckWindow::FlightSize,
        FullAckWindow::Ssthresh => transport::FullAckWindow::Ssthresh,
    });
    map(&mut sender.fast_retransmit_guard, fast_retransmit_guard, |guard| match guard {
        FastRetransmitGuard::Off => transport::FastRetransmitGuard::Off,
        FastRetransmitGuard::Timeout => transport::FastRetransmitGuard::Timeout,
        FastRetransmitGuard::Window => transport::FastRetransmitGuard::Window,
    });
    map(&mut sender.f_rto, f_rto, |f_rto| match f_rto {
        FRto::Off => transport::FRto::Off,
        FRto::Basic => transport::FRto::Basic,
        FRto::Sack => transport::FRto::Sack,
    });
    map(&mut sender.rtt_sampling, rtt_sampling, |sampling| match sampling {
        RttSampling::OncePerFlight => transport::RttSampling::OncePerFlight,
        RttSampling::EveryAck => transport::RttSampling::EveryAck,
    });
    set(&mut sender.dup_thresh, dup_thresh);
    set(&mut sender.limited_transmit, limited_transmit);
    set(&mut sender.prr, prr);
    set(&mut sender.rack, rack);
    set(&mut sender.tlp, tlp);
    set(&mut sender.max_ack_delay, max_ack_delay);
    set(&mut sender.ecn, ecn);
    set(&mut receiver.ecn, ecn);
    set(&mut sender.timestamps, timestamps);
    set(&mut receiver.timestamps, timestamps);
    set(&mut sender.timestamp_tick, timestamp_tick);
    set(&mut sender.window_scaling, window_scaling);
    set(&mut receiver.window_scaling, window_scaling);
    set(&mut sender.initial_rto, initial_rto);
    set(&mut sender.min_rto, min_rto);
    set(&mut sender.max_rto, max_rto);
    set(&mut sender.hold_ssthresh, hold_ssthresh);
    set(&mut sender.keep_syn_backoff, keep_syn_backoff);
    set(&mut sender.restart_on_retransmit, restart_on_retransmit);
    set(&mut sender.clock_granularity, clock_granularity);
    set(&mut sender.restart_after_idle, restart_after_idle);
    set(&mut sender.paced_resume, paced_resume);
    set(&mut sender.heeds_shrinking, heeds_shrinking);
    set(&mut sender.window_validation, window_validation);
    map(&mut sender.user_timeout, user_timeout, Some);
    set(&mut sender.time_wait, time_wait);
    map(&mut receiver.delayed_ack, delayed_ack, |delayed| match delayed {
        DelayedAck::Off => transport::DelayedAck::Off,
        DelayedAck::Timeout(timeout) => transport::DelayedAck::On { timeout },
        DelayedAck::Adaptive => transport::DelayedAck::Adaptive { limit: LONGEST_DEFERMENT },
    });
    map(&mut receiver.ack_every, ack_every, |Segments(count)| count);
    set(&mut receiver.sack, sack);
    set(&mut receiver.paws, paws);
    set(&mut receiver.d_sack, d_sack);
    map(&mut receiver.buffer, receive_buffer, |bytes| bytes.get());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter;

    /// Every setting, each at another value than its default, and the configurations that must come of it.
    #[test]
    fn every_setting_arrives() {
        let text = starter("dumbbell").unwrap().replace(
            "[tcp]\nsegment_size = \"1000 B\"",
            r#"[tcp]
            segment_size = "500 B"
            initial_window = "2 segments"
            initial_ssthresh = "20 segments"
            max_window = "64 KiB"
            recovery = "reno"
            newreno_variant = "slow_but_steady"
            full_ack_window = "ssthresh"
            fast_retransmit_guard = "window"
            dup_thresh = 4
            limited_transmit = false
            f_rto = "basic"
            prr = true
            rack = true
            tlp = true
            max_ack_delay = "40 ms"
            ecn = true
            timestamps = true
            timestamp_tick = "2 ms"
            window_scaling = false
            initial_rto = "3 s"
            min_rto = "200 ms"
            max_rto = "64 s"
            hold_ssthresh = false
            keep_syn_backoff = true
            restart_on_retransmit = false
            clock_granularity = "100 ms"
            rtt_sampling = "every_ack"
            restart_after_idle = false
            paced_resume = true
            heeds_shrinking = false
            window_validation = false
            user_timeout = "5 min"
            time_wait = "1 s"
            delayed_ack = "off"
            ack_every = "3 segments"
            paws = false
            sack = false
            d_sack = false
            receive_buffer = "1 MB"
            parameters = { decrease = 0.7 }"#,
        );
        let flow = Scenario::parse(&text, "all").unwrap().resolve().unwrap().flows.remove(0);
        let sender = SenderConfig {
            mss: 500,
            initial_sequence: SenderConfig::default().initial_sequence,
            initial_window: transport::InitialWindow::Segments(2),
            initial_ssthresh: 10_000,
            recovery: transport::Recovery::Reno,
            newreno_variant: transport::NewRenoVariant::SlowButSteady,
            full_ack_window: transport::FullAckWindow::Ssthresh,
            fast_retransmit_guard: transport::FastRetransmitGuard::Window,
            dup_thresh: 4,
            limited_transmit: false,
            f_rto: transport::FRto::Basic,
            prr: true,
            rack: true,
            tlp: true,
            max_ack_delay: Duration::from_millis(40),
            ecn: true,
            timestamps: true,
            timestamp_tick: Duration::from_millis(2),
            window_scaling: false,
            initial_rto: Duration::from_secs(3),
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(64),
            hold_ssthresh: false,
            keep_syn_backoff: true,
            restart_on_retransmit: false,
            clock_granularity: Duration::from_millis(100),
            rtt_sampling: transport::RttSampling::EveryAck,
            max_window: Some(65_536),
            restart_after_idle: false,
            paced_resume: true,
            heeds_shrinking: false,
            window_validation: false,
            user_timeout: Some(Duration::from_secs(300)),
            time_wait: Duration::from_secs(1),
        };
        assert_eq!(flow.sender, sender);
        let receiver = ReceiverConfig {
            mss: 500,
            initial_sequence: ReceiverConfig::default().initial_sequence,
            delayed_ack: transport::DelayedAck::Off,
            ack_every: 3,
            paws: false,
            sack: false,
            d_sack: false,
            ecn: true,
            timestamps: true,
            window_scaling: false,
            buffer: 1_000_000,
            manual_read: false,
        };
        assert_eq!(flow.receiver, receiver);
        assert_eq!(flow.control.parameters.get("decrease"), Some(&ParameterValue::Number(0.7)));
    }

    /// A flow's own settings go over those of the scenario, and these over the preset's.
    #[test]
    fn the_innermost_setting_counts() {
        let text = starter("dumbbell").unwrap().replace("transport = \"newreno\"", "transport = \"tahoe\"");
        let own = |line: &str| {
            let text = format!("{text}\n").replace("stagger =", &format!("{line}\nstagger ="));
            Scenario::parse(&text, "layers").unwrap().resolve().unwrap().flows.remove(0)
        };
        assert_eq!(own("").sender.recovery, transport::Recovery::Tahoe);
        assert_eq!(own("").sender.mss, 1000);
        let flow =
            own("tcp = { segment_size = \"500 B\", recovery = \"sack\", max_window = \"20 segments\" }");
        assert_eq!((flow.sender.mss, flow.receiver.mss), (500, 500));
        assert_eq!(flow.sender.recovery, transport::Recovery::Sack);
        assert_eq!(flow.sender.max_window, Some(10_000));
    }

    /// A window in segments is of the segment size that counts in the end.
    #[test]
    fn windows_follow_the_segment_size() {
        let text = starter("dumbbell")
            .unwrap()
            .replace("segment_size = \"1000 B\"", "segment_size = \"1000 B\"\nmax_window = \"20 segments\"");
        let text = text.replace("stagger =", "tcp = { segment_size = \"500 B\" }\nstagger =");
        let flow = Scenario::parse(&text, "windows").unwrap().resolve().unwrap().flows.remove(0);
        assert_eq!(flow.sender.max_window, Some(10_000));
    }

    #[test]
    fn written_defaults_change_nothing() {
        let (mut sender, mut receiver) = (SenderConfig::default(), ReceiverConfig::default());
        apply(&Tcp::defaults(), &mut sender, &mut receiver);
        // A sender that does not offer timestamps makes the receiver's readiness for them idle.
        receiver.timestamps = ReceiverConfig::default().timestamps;
        assert_eq!((sender, receiver), (SenderConfig::default(), ReceiverConfig::default()));
    }
}
