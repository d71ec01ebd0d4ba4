use super::*;
use crate::{AckSample, ControlInfo, ParameterKind, ParameterValue, Parameters, TcpState};
use cogtcp_units::Time;
use std::fmt::Write;

#[path = "../../../units/tests/support/committed.rs"]
mod committed;

/// Values of a parameter: what it may least and most be, a value between, and each choice.
fn values(kind: &ParameterKind) -> Vec<ParameterValue> {
    match *kind {
        ParameterKind::Number { default, min, max } => [min, default / 2.0, default * 1.5, max]
            .map(|value| ParameterValue::Number(value.clamp(min, max)))
            .to_vec(),
        ParameterKind::Flag { default } => vec![ParameterValue::Flag(!default)],
        ParameterKind::Choice { choices, .. } => {
            choices.iter().map(|choice| ParameterValue::Text((*choice).to_owned())).collect()
        }
    }
}

/// What each control does with random sequences of hooks, with its defaults and with each parameter at other
/// values, committed as text.
#[test]
fn controls_do_as_before() {
    let mut text = String::new();
    for info in ControlInfo::all() {
        let mut line = |what: &str, given: &Parameters, seeds: u64| {
            let Ok(parameters) = given.resolve(info.name, info.parameters) else {
                let _ = writeln!(text, "{} {what}: refused", info.name);
                return;
            };
            let build = || (info.build)(&parameters);
            let played: Vec<_> = (0..seeds).map(|seed| hooks::play(&build, seed)).collect();
            let windows = played.iter().filter_map(|trace| Some(trace.as_ref().ok()?.last()?.0));
            let hash = committed::hash(format!("{played:?}").as_bytes());
            let _ = writeln!(text, "{} {what}: {} {hash:016x}", info.name, windows.sum::<u64>());
        };
        line("", &Parameters::new(), 40);
        for spec in info.parameters {
            for value in values(&spec.kind) {
                let mut given = Parameters::new();
                given.set(spec.name, value.clone());
                line(&format!("{} = {value:?}", spec.name), &given, 6);
            }
        }
    }
    committed::compare("controls", &text);
}

/// Every control of the registry, at its defaults.
#[test]
fn the_registry_conforms() {
    for info in ControlInfo::all() {
        let build = || (info.build)(&Parameters::new().resolve(info.name, info.parameters).unwrap());
        check_congestion_control(build).unwrap();
    }
}

/// The settings of every transport, committed as text.
#[test]
fn settings_of_transports() {
    let base = format!("{:#?}", crate::SenderConfig::default());
    let mut text = format!("{base}\n{:#?}\n", crate::ReceiverConfig::default());
    for preset in crate::Preset::all() {
        let settings = format!("{:#?}", preset.sender_config());
        let pairs = settings.lines().zip(base.lines()).filter(|(own, base)| own != base);
        let own: Vec<&str> = pairs.map(|(own, _)| own.trim()).collect();
        let _ = writeln!(text, "{}: {:?} {own:?}", preset.name, preset.parameters(&Parameters::new()));
    }
    committed::compare("presets", &text);
}

/// What is wrong with a control of the tests below.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    Floor,
    Panic,
    Runaway,
    Undo,
    Silence,
    NoReduction,
    NeverGrows,
    Random,
}

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    draw: u64,
}

impl CongestionControl for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }
    fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        match self.fault {
            Fault::Floor => tcp.cwnd / 2,
            Fault::NoReduction => tcp.cwnd.max(2 * tcp.mss),
            _ => (tcp.cwnd / 2).max(2 * tcp.mss),
        }
    }
    fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
        match self.fault {
            Fault::Panic => tcp.cwnd += tcp.mss * 1_000 / ack.rtt.map_or(1, |rtt| rtt.as_nanos()),
            Fault::Runaway => tcp.cwnd = tcp.cwnd.saturating_mul(2),
            Fault::NeverGrows => {}
            Fault::Random => tcp.cwnd += self.draw % 1_000,
            _ => tcp.cwnd += ack.acked.min(tcp.mss) * tcp.mss / tcp.cwnd,
        }
    }
    fn undo_cwnd(&mut self, _now: Time, tcp: &TcpState) -> u64 {
        if self.fault == Fault::Undo { tcp.cwnd / 2 } else { tcp.cwnd.max(tcp.prior_cwnd) }
    }
    fn on_packet_sent(&mut self, _now: Time, tcp: &mut TcpState, _packet: &crate::PacketInfo) {
        if self.fault == Fault::Silence {
            tcp.cwnd += 1;
        }
    }
}

/// The suite finds each fault, under its name.
#[test]
fn faults_are_found() {
    let made = std::cell::Cell::new(0);
    for (fault, check) in [
        (Fault::None, None),
        (Fault::Floor, Some("floor")),
        (Fault::Panic, Some("panic")),
        (Fault::Runaway, Some("window")),
        (Fault::Undo, Some("undo")),
        (Fault::Silence, Some("silence")),
        (Fault::NoReduction, Some("loss")),
        (Fault::NeverGrows, Some("recovery")),
        (Fault::Random, Some("determinism")),
    ] {
        let found = check_congestion_control(|| {
            made.set(made.get() + 7);
            Box::new(Faulty { fault, draw: made.get() })
        });
        assert_eq!(found.as_ref().err().map(|failure| failure.check), check, "{fault:?}: {found:?}");
    }
}

/// The paths of the transfers do lose: chance takes segments of the lossy ones, and a window that outgrows
/// the queue loses on any.
#[test]
fn paths_lose_by_chance_and_by_their_queue() {
    /// Cannot stand a loss. Its window stays at this many segments, or grows as far as it may.
    #[derive(Debug)]
    struct Delicate(Option<u64>);
    impl CongestionControl for Delicate {
        fn name(&self) -> &str {
            "delicate"
        }
        fn ssthresh(&mut self, _now: Time, _tcp: &TcpState) -> u64 {
            panic!("a loss")
        }
        fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
            tcp.cwnd = self.0.map_or(tcp.cwnd + ack.acked, |segments| segments * tcp.mss);
        }
    }
    let fails_on =
        |window| transfer::check(&|| Box::new(Delicate(window)) as Box<dyn CongestionControl>).unwrap_err().1;
    assert!(fails_on(Some(10)).starts_with("a path that loses 1 % with "), "{}", fails_on(Some(10)));
    assert!(fails_on(None).starts_with("a lossless path with "), "{}", fails_on(None));
}

/// A name that is empty, or another at the next instance, is none.
#[test]
fn names_are_there_and_stay() {
    #[derive(Debug)]
    struct Named(&'static str);
    impl CongestionControl for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn ssthresh(&mut self, _now: Time, tcp: &TcpState) -> u64 {
            (tcp.cwnd / 2).max(2 * tcp.mss)
        }
        fn cong_avoid(&mut self, _now: Time, tcp: &mut TcpState, ack: &AckSample) {
            tcp.cwnd += ack.acked.min(tcp.mss) * tcp.mss / tcp.cwnd;
        }
    }
    let made = std::cell::Cell::new(0);
    let check = |names: [&'static str; 2]| {
        made.set(0);
        check_congestion_control(|| {
            made.set(made.get() + 1);
            Box::new(Named(names[made.get() % 2]))
        })
        .map_err(|failure| failure.check)
    };
    assert_eq!(check(["reno", "reno"]), Ok(()));
    assert_eq!(check(["", ""]), Err("name"));
    assert_eq!(check(["reno", "tahoe"]), Err("name"));
}
