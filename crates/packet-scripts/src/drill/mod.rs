//! packetdrill's language (Cardwell et al., "packetdrill: Scriptable Network Stack Testing", USENIX ATC
//! 2013), read into the steps that the runner plays. What no plane has is refused by name.

mod calls;
mod events;
mod expression;
mod marks;
mod packets;
mod settings;

pub use expression::{Fields, Statement};

use crate::head::{self, Head};
use crate::packet::EcnCodepoint;
use crate::script::{Action, Call, Script, ScriptError, Slack, SocketOption, Step, System};
use calls::Sockets;
use cogtcp_scenario::TcpSpec;
use cogtcp_transport::{DelayedAck, EcnMode, FRto, HostProfile, Preset, Recovery, linux_control};
use cogtcp_units::Duration;
use events::{DrillEvent, What};
use marks::Marked;
use settings::Settings;
use std::sync::Arc;

/// packetdrill's own tolerances (`--tolerance_usecs`, `--tolerance_percent`).
const SLACK: Slack = Slack { least: Duration::from_millis(4), share: 0.125, stamp_tick: None };
/// Of a script with settings of its own.
const EXACT: Slack = Slack { least: Duration::ZERO, share: 0.0, stamp_tick: None };
/// The end under test where a script names no congestion control: Linux's default.
const DEFAULT_TRANSPORT: &str = "linux-cubic";
/// The MSS of the end under test: packetdrill's device has an MTU of 1500.
const MSS: u32 = 1460;
/// Options that change nothing here: which addresses the live test has, and how segments may be cut (here:
/// any way).
const WITHOUT_EFFECT: [&str; 7] = [
    "ip_version=ipv4",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "strict_segments",
    "send_omit_free",
];

/// What sets the size of a receive buffer, from which windows and their scale follow.
const BUFFERS: [&str; 3] = ["defaults.sh", "tcp_rmem", "SO_RCVBUF"];

/// Why a part of a script cannot be read.
#[derive(Debug)]
struct Fault {
    message: String,
    is_out_of_scope: bool,
}

impl Fault {
    fn wrong(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_out_of_scope: false }
    }

    /// It names what is out of scope.
    fn beyond(name: impl Into<String>) -> Self {
        Self { message: format!("out of scope: {}", name.into()), is_out_of_scope: true }
    }

    fn at(self, file: &str, line: usize) -> ScriptError {
        ScriptError { is_out_of_scope: self.is_out_of_scope, ..ScriptError::wrong(file, line, self.message) }
    }
}

impl Script {
    /// Reads a script. `file` is for messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScriptError> {
        parse(text, file)
    }
}

fn parse(text: &str, file: &str) -> Result<Script, ScriptError> {
    // Before its packets, which are no TCP's, are read.
    if let Some((at, _)) = text.lines().enumerate().find(|(_, line)| line.contains("IPPROTO_SCTP")) {
        return Err(Fault::beyond("SCTP").at(file, at + 1));
    }
    if !text.contains("socket(") {
        let message = "the script opens no socket; write packetdrill's language, as in 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3";
        return Err(Fault::wrong(message).at(file, 1));
    }
    let marked = Marked::read(text).map_err(|(line, fault)| fault.at(file, line))?;
    let is_exact = marked.has_settings();
    // A script that sets no buffer expects its author's: neither size nor scale of a window is what it tests.
    let any_buffer = !BUFFERS.iter().any(|word| text.contains(word));
    let (about, events) = events::read(&marked.text).map_err(|(line, fault)| fault.at(file, line))?;
    let mut settings = if is_exact { Settings::default() } else { Settings::new() };
    let mut slack = if is_exact { EXACT } else { SLACK };
    let mut sockets = Sockets::default();
    let mut steps = Vec::new();
    for DrillEvent { line, text, when, until, what } in events {
        let at = |fault: Fault| fault.at(file, line);
        let action = match what {
            What::Option(option) => {
                read_option(&option, &mut slack).map_err(at)?;
                continue;
            }
            What::Command(command) => {
                // Until the first call the socket does not exist, so a setting holds for the whole script.
                let is_early = steps.iter().all(|step: &Step| !matches!(step.action, Action::System(_)));
                let before = settings.values.clone();
                settings.take(&command).map_err(at)?;
                // Planes are set up once, before the first step. Setting a value again is no change.
                if !is_early && settings.values != before {
                    return Err(at(Fault::beyond("settings that change during a script")));
                }
                Action::Nothing
            }
            What::Code(code) => {
                let statements =
                    expression::statements(&code).map_err(|message| at(Fault::wrong(message)))?;
                if let Some(field) = expression::unknown_field(&statements) {
                    return Err(at(Fault::beyond(format!("the field {field} of tcp_info"))));
                }
                Action::Assert(statements)
            }
            What::Inject(packet) if packet.starts_with("icmp") => {
                Action::InjectIcmp(packets::icmp(&packet).map_err(at)?)
            }
            What::Inject(packet) => Action::Inject(packets::packet(&packet, true).map_err(at)?),
            What::Expect(packet) => {
                let mut pattern = packets::packet(&packet, false).map_err(at)?;
                if is_exact && !packet.starts_with('[') {
                    pattern.ecn = Some(EcnCodepoint::NotCapable);
                }
                // Windows of an exact script are as the settings have them. Scales are each plane's own.
                pattern.any_window = any_buffer && !is_exact;
                pattern.any_scale = any_buffer || is_exact;
                Action::Expect(pattern)
            }
            What::Call(call) => match sockets.read(&call).map_err(at)? {
                Some(made) => Action::System(System {
                    call: made.call,
                    returns: made.returns,
                    until,
                    blocks: made.blocks,
                }),
                None => Action::Nothing,
            },
        };
        steps.push(Step { line, text, plane: marked.planes.get(&line).copied(), when, action });
    }
    if let Some((line, _)) =
        marked.planes.iter().find(|(line, _)| steps.iter().all(|step| step.line != **line))
    {
        return Err(Fault::wrong("mark the line in which a step begins").at(file, *line));
    }
    let (transport, flow) = if is_exact {
        let head = Head::parse(&marked.head, file)?;
        let flow = head.flow(&marked.head, file)?;
        (head.transport, flow)
    } else {
        let (transport, flow) = flow(&settings, &steps, file)?;
        (transport.to_owned(), flow)
    };
    // It is of the socket: only root sets that of a namespace.
    settings.values.retain(|(name, _)| name != "ipv4.tcp_congestion_control");
    Ok(Script {
        file: file.to_owned(),
        about,
        flow,
        transport,
        kernel: settings.values,
        slack,
        is_exact,
        steps,
        differences: marked.differences,
    })
}

fn read_option(option: &str, slack: &mut Slack) -> Result<(), Fault> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let number = || value.trim().parse::<f64>().map_err(|_| Fault::wrong(format!("--{name} takes a number")));
    match name {
        "tolerance_usecs" => slack.least = Duration::from_nanos((number()? * 1000.0) as u64),
        "tolerance_percent" => slack.share = number()? / 100.0,
        "tcp_ts_tick_usecs" => slack.stamp_tick = Some(Duration::from_nanos((number()? * 1000.0) as u64)),
        "mss" => return Err(Fault::beyond("packets that the device merges (--mss)")),
        _ if WITHOUT_EFFECT.iter().any(|each| *each == name || *each == option) => {}
        _ => return Err(Fault::beyond(format!("the option --{option}"))),
    }
    Ok(())
}

/// The end under test, as these settings of a Linux host make it.
fn flow(settings: &Settings, steps: &[Step], file: &str) -> Result<(&'static str, TcpSpec), ScriptError> {
    let transport = match settings.get("tcp_congestion_control") {
        None => DEFAULT_TRANSPORT,
        Some(control) => {
            let is_it = |preset: &&Preset| {
                preset.host == HostProfile::Linux
                    && linux_control(preset.control).is_some_and(|known| known.name == control)
            };
            let preset = Preset::all().iter().find(is_it);
            preset.ok_or_else(|| Fault::beyond(format!("the congestion control {control}")).at(file, 1))?.name
        }
    };
    let mut flow = head::flow_of(transport, "", file)?;
    let classic = |on| if on { EcnMode::Classic } else { EcnMode::Off };
    let sender = Arc::make_mut(&mut flow.sender);
    sender.handshake.mss = MSS;
    // Only 1 makes an end ask for ECN; 2 agrees to it.
    sender.handshake.ecn = classic(settings.get("tcp_ecn") == Some("1"));
    sender.handshake.timestamps = settings.is_on("tcp_timestamps");
    sender.handshake.window_scaling = settings.get("tcp_window_scaling") != Some("0");
    sender.recovery.algorithm = if settings.is_on("tcp_sack") { Recovery::Sack } else { Recovery::NewReno };
    sender.undo.f_rto = if settings.is_on("tcp_frto") { FRto::Linux } else { FRto::Off };
    sender.restart_after_idle = settings.is_on("tcp_slow_start_after_idle");
    sender.recovery.rack = settings.is_on("tcp_recovery");
    sender.recovery.tlp = settings.is_on("tcp_early_retrans");
    let interval = settings.get("tcp_invalid_ratelimit").and_then(|value| value.parse().ok());
    let interval = interval.map_or(sender.challenge_interval, Duration::from_millis);
    sender.challenge_interval = interval;
    if let Some(dup_thresh) = settings.get("tcp_reordering").and_then(|value| value.parse().ok()) {
        sender.recovery.dup_thresh = dup_thresh;
    }
    // An option of the socket is part of the end's settings here: planes have no call that changes an end at
    // work.
    for step in steps {
        match &step.action {
            Action::System(System { call: Call::SetOption(SocketOption::MaxSegment, mss), .. }) => {
                sender.handshake.mss = (*mss).max(1) as u32;
            }
            Action::System(System { call: Call::SetOption(SocketOption::UserTimeout, millis), .. }) => {
                sender.timers.user_timeout = Some(Duration::from_millis((*millis).max(0) as u64));
            }
            _ => {}
        }
    }
    let mss = sender.handshake.mss;
    let (timestamps, window_scaling) = (sender.handshake.timestamps, sender.handshake.window_scaling);
    let receiver = Arc::make_mut(&mut flow.receiver);
    receiver.handshake.mss = mss;
    receiver.delayed_ack = DelayedAck::Linux;
    receiver.challenge_interval = interval;
    receiver.window_tuning = true;
    // tcp_ecn = 2, Linux's default, agrees to ECN and does not offer it.
    receiver.handshake.ecn = classic(settings.is_on("tcp_ecn"));
    receiver.handshake.timestamps = timestamps;
    receiver.handshake.window_scaling = window_scaling;
    receiver.sack = settings.is_on("tcp_sack");
    receiver.d_sack = settings.is_on("tcp_dsack");
    // The last of three values is the most that window tuning may reach.
    let most = settings.get("tcp_rmem").and_then(|value| value.split_ascii_whitespace().last()?.parse().ok());
    receiver.buffer = most.unwrap_or(receiver.buffer);
    Ok((transport, flow))
}

#[cfg(test)]
mod tests;
