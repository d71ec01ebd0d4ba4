//! The settings of a flow's two ends: the preset, \[tcp\] over it, the flow's own `tcp` over both.

use super::{Findings, Under, adhoc};
use crate::limits::{LARGEST_BUFFER, LARGEST_SEGMENT, LONGEST};
use crate::transports;
use crate::tree::KeyPath;
use crate::{ControlSpec, Flow, Protocol, Scenario, TcpSpec, TransportSpec, external, is_external};
use cogtcp_endpoint::Connection;
use cogtcp_multipath::{MptcpSettings, Subflows};
use cogtcp_transport::{
    ControlInfo, DelayedAck, EcnMode, Handshake, HostProfile, Parameters, Preset, ReceiverConfig, Recovery,
    SenderConfig, TcpConfig, TcpSettings, Window, make,
};
use cogtcp_units::{Bytes, Duration};
use std::sync::Arc;

/// The settings of both ends of `flow`, which stands at `path`, and its segment size; `None` when its
/// transport is unknown.
pub(super) fn resolve(
    scenario: &Scenario,
    flow: &Flow,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<(Protocol, u32)> {
    let Some(mut spec) = flow.transport.spec() else {
        let (ends, control) = resolve_tcp(scenario, flow, flow.transport.name(), path, findings)?;
        let segment_size = ends.sender.handshake.mss;
        let (sender, receiver) = (Arc::new(ends.sender), Arc::new(ends.receiver));
        return Some((Protocol::Tcp(TcpSpec { sender, receiver, control }), segment_size));
    };
    let name = spec.name();
    let at = path.key("transport").key(name);
    spec.check(&mut Under { path: &at, findings });
    if let TransportSpec::Mptcp(settings) = &mut spec {
        resolve_subflows(scenario, flow, settings, path, findings)?;
    } else if !flow.tcp.is_empty() {
        let message = format!("these are settings of TCP, and the transport of this flow is {name}");
        findings.error(
            &path.key("tcp"),
            message,
            format!("take them out, or write transport = {{ {name} = {{ ... }} }} with settings of {name}"),
        );
    }
    let size = scenario.tcp.mss.map_or(u64::from(Handshake::default().mss), Bytes::get);
    let connection = Connection {
        segment_size: size.clamp(1, LARGEST_SEGMENT) as u32,
        paths: flow.paths.len().max(1) as u16,
        seed: 0,
    };
    let segment_size = spec.kind().build(connection).segment_size;
    Some((Protocol::Other(spec, connection), segment_size))
}

/// Gives the subflows of MPTCP the settings of TCP; `None`: they are wrong, and that is found.
fn resolve_subflows(
    scenario: &Scenario,
    flow: &Flow,
    settings: &mut MptcpSettings,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<()> {
    Preset::find(settings.tcp()).ok()?;
    let before = findings.errors.len();
    let tcp = settings.tcp().to_owned();
    let (ends, control) = resolve_tcp(scenario, flow, &tcp, path, findings)?;
    if !findings.none_since(before) {
        return None;
    }
    let named = [(&flow.tcp, path.key("tcp")), (&scenario.tcp, KeyPath::of("tcp"))];
    if let Some((_, at)) = named.iter().find(|(tcp, _)| tcp.congestion.is_some()) {
        let at = at.key("congestion");
        if is_external(&control.name) {
            let message =
                "a congestion control written in Python serves one connection, and each subflow has its own";
            findings.error(&at, message, "name a control of the registry");
            return None;
        }
        if let Some((message, remedy)) = settings.refusal(&control.name) {
            findings.error(&at, message, remedy);
            return None;
        }
    }
    settings.subflows = Some(Subflows {
        sender: Arc::new(ends.sender),
        receiver: Arc::new(ends.receiver),
        control: control.name,
        parameters: control.parameters,
    });
    Some(())
}

/// TCP's endpoints of `flow`, which stands at `path`, under the transport `transport`; `None` when that is
/// unknown.
fn resolve_tcp(
    scenario: &Scenario,
    flow: &Flow,
    transport: &str,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<(TcpConfig, ControlSpec)> {
    let preset = Preset::find(transport).ok();
    if preset.is_none() && !is_external(transport) {
        let (message, remedy) = transports::unknown(transport);
        findings.error(&path.key("transport"), message, remedy);
        return None;
    }
    let layers = [(&scenario.tcp, KeyPath::of("tcp")), (&flow.tcp, path.key("tcp"))];
    let mut sender = preset.map_or_else(SenderConfig::default, Preset::sender_config);
    if preset.is_none_or(|preset| preset.host == HostProfile::Rfc)
        && let Some(initial_rto) = adhoc::initial_rto(scenario)
    {
        sender.timers.initial_rto = initial_rto;
    }
    let mut ends = TcpConfig { sender, receiver: ReceiverConfig::default() };
    layers.iter().for_each(|(tcp, path)| check(tcp, path, findings));
    // Windows in segments, of whatever layer, are of the size that counts in the end.
    let size = layers.iter().rev().find_map(|(tcp, _)| tcp.mss);
    let mss = size.map_or(ends.sender.handshake.mss, |size| size.get().clamp(1, LARGEST_SEGMENT) as u32);
    layers.iter().for_each(|(tcp, _)| tcp.apply(&mut ends, mss));
    ends.receiver.wheel = ends.sender.timers.wheel();
    let TcpConfig { sender, receiver } = &ends;
    // A check of two settings together points at the one that the flow's author wrote last.
    let blame = |is_set: fn(&TcpSettings) -> bool, key: &str| {
        let layer = layers.iter().rev().find(|(tcp, _)| is_set(tcp));
        layer.map_or_else(|| path.key("transport"), |(_, at)| at.key(key))
    };
    if sender.timers.min_rto > sender.timers.max_rto {
        findings.error(
            &blame(|tcp| tcp.min_rto.is_some() || tcp.max_rto.is_some(), "min_rto"),
            format!(
                "the minimum RTO (\"{}\") is above the maximum (\"{}\")",
                sender.timers.min_rto, sender.timers.max_rto
            ),
            "write min_rto at most max_rto",
        );
    }
    if receiver.buffer < u64::from(receiver.handshake.mss) {
        findings.error(
            &blame(|tcp| tcp.buffer.is_some(), "receive_buffer"),
            format!(
                "the receive buffer (\"{}\") does not hold one segment (\"{}\")",
                Bytes::new(receiver.buffer),
                Bytes::new(u64::from(receiver.handshake.mss))
            ),
            "write a buffer of several segments",
        );
    }
    if sender.max_window.is_some_and(|window| window < u64::from(sender.handshake.mss)) {
        findings.error(
            &blame(|tcp| tcp.max_window.is_some(), "max_window"),
            "the cap on the window is below one segment: nothing could be sent",
            "write at least \"1 segment\"",
        );
    }
    if sender.recovery.algorithm == Recovery::Sack && !receiver.sack {
        findings.warn(
            &blame(|tcp| tcp.sack.is_some(), "sack"),
            "the sender recovers by SACK and the receiver does not permit it: the flow falls back to NewReno",
            "take sack = false out, or choose another transport",
        );
    }
    let no_sack = sender.recovery.algorithm != Recovery::Sack;
    type IsSet = fn(&TcpSettings) -> bool;
    let options: [(bool, IsSet, &str, &str); 3] = [
        (sender.recovery.prr && no_sack, |tcp| tcp.prr.is_some(), "prr", "recovery = \"sack\""),
        (sender.recovery.rack && no_sack, |tcp| tcp.rack.is_some(), "rack", "recovery = \"sack\""),
        (sender.recovery.tlp && !sender.recovery.rack, |tcp| tcp.tlp.is_some(), "tlp", "rack = true"),
    ];
    for (idle, is_set, key, needs) in options {
        if idle {
            findings.warn(
                &blame(is_set, key),
                format!("{key} has no effect without {needs}"),
                format!("set {needs} too, or take {key} out"),
            );
        }
    }
    let control = match preset {
        Some(preset) => {
            ControlSpec { name: preset.control.to_owned(), parameters: preset.parameters(&Parameters::new()) }
        }
        None => ControlSpec { name: transport.to_owned(), parameters: Parameters::new() },
    };
    let control = override_control(control, &layers, findings);
    if counts_marks(&control) {
        // RFC 9331 section 4.2: a scalable control needs Accurate ECN.
        if layers.iter().all(|(tcp, _)| tcp.ecn.is_none()) {
            (ends.sender.handshake.ecn, ends.receiver.handshake.ecn) = (EcnMode::Accurate, EcnMode::Accurate);
        } else if ends.sender.handshake.ecn != EcnMode::Accurate {
            findings.warn(
                &blame(|tcp| tcp.ecn.is_some(), "ecn"),
                format!("{} without Accurate ECN gets no marks, and is NewReno's equal", control.name),
                "write ecn = \"accurate\", or take ecn out",
            );
        }
    }
    Some((ends, control))
}

/// Whether the control needs marks counted.
fn counts_marks(control: &ControlSpec) -> bool {
    make(&control.name, &control.parameters).is_ok_and(|control| control.counts_marks())
}

/// Returns the control of the innermost layer that names one, otherwise the transport's. Parameters count
/// from that layer on: a layer that names a control starts from the control's own defaults.
fn override_control(
    transport: ControlSpec,
    layers: &[(&TcpSettings, KeyPath); 2],
    findings: &mut Findings,
) -> ControlSpec {
    let ControlSpec { mut name, mut parameters } = transport;
    for (tcp, path) in layers {
        if let Some(own) = &tcp.congestion {
            if ControlInfo::find(own).is_err() && !is_external(own) {
                let names: Vec<&str> = ControlInfo::all().iter().map(|info| info.name).collect();
                findings.error(
                    &path.key("congestion"),
                    format!("unknown congestion control \"{own}\""),
                    external::remedy(own, &names),
                );
                return ControlSpec { name, parameters };
            }
            name.clone_from(own);
            // Parameters belong to the control that was named before.
            parameters = Parameters::new();
        }
        for (key, value) in &tcp.parameters {
            if is_external(&name) {
                // What there is and what is allowed is for its constructor to say.
                parameters.set(key, value.clone());
                continue;
            }
            // One at a time, so that an error points at its key.
            let mut one = Parameters::new();
            one.set(key, value.clone());
            let Ok(info) = ControlInfo::find(&name) else { continue };
            match one.resolve(&name, info.parameters) {
                Ok(_) => parameters.set(key, value.clone()),
                Err(wrong) => findings.error(&path.key("parameters").key(key), wrong.message, wrong.remedy),
            }
        }
    }
    ControlSpec { name, parameters }
}

/// Bounds of each setting by itself.
fn check(tcp: &TcpSettings, path: &KeyPath, findings: &mut Findings) {
    if let Some(size) = tcp.mss
        && !(1..=LARGEST_SEGMENT).contains(&size.get())
    {
        findings.error(
            &path.key("segment_size"),
            format!("a segment of \"{size}\" is out of range"),
            format!("write \"1 B\" to \"{LARGEST_SEGMENT} B\" (an IPv4 packet without its headers)"),
        );
    }
    if let Some(buffer) = tcp.buffer
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
        Some(DelayedAck::On { timeout }) => Some(timeout),
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
        ("timer_tick", tcp.timer_tick, true, ten),
        ("timer_phase", tcp.timer_phase, true, LONGEST),
        ("max_ack_delay", tcp.max_ack_delay, true, ten),
    ];
    for (key, span, zero, most) in spans {
        if let Some(span) = span {
            findings.check_span(&path.key(key), span, zero, most);
        }
    }
}
