//! Congestion controls by name.

use super::{CongestionControl, ParameterSpec, Parameters};
use crate::Preset;
use cogtcp_units::WrongSetting;

/// A control as the registry knows it.
#[derive(Clone, Copy, Debug)]
pub struct ControlInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The paper or RFC it follows.
    pub reference: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterSpec],
    /// The transports that use it, by name.
    pub presets: &'static [Preset],
    /// Builds it from a resolved table: every parameter is present and in range.
    pub build: fn(&Parameters) -> Box<dyn CongestionControl>,
}

/// Builds the control called `name` with `parameters`; those not set take their defaults.
pub fn make(name: &str, parameters: &Parameters) -> Result<Box<dyn CongestionControl>, WrongSetting> {
    let info = ControlInfo::find(name)?;
    Ok((info.build)(&parameters.resolve(name, info.parameters)?))
}

/// What Linux has of a control's kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinuxControl {
    /// What `TCP_CONGESTION` calls it.
    pub name: &'static str,
    /// What to do where a kernel does not have it.
    pub remedy: &'static str,
    /// True if it is this control with its defaults; how it learns parameters from elsewhere. `None`: Linux's
    /// own control.
    pub told: Option<(&'static [&'static str], &'static str)>,
}

const MODULE: &str = "Load its module as root (modprobe tcp_bbr, say), or choose a transport whose control is in \
                      /proc/sys/net/ipv4/tcp_available_congestion_control";

/// What Linux has of a control's kind; `None`: nothing.
pub fn linux_control(control: &str) -> Option<LinuxControl> {
    let own = |name| LinuxControl { name, remedy: MODULE, told: None };
    match control {
        "aimd" => Some(own("reno")),
        "cubic" => Some(own("cubic")),
        "bbr1" => Some(own("bbr")),
        "vegas" => Some(own("vegas")),
        "westwood" => Some(own("westwood")),
        // The program of `bpf/`.
        "c2" => Some(LinuxControl {
            name: "c2",
            remedy: "It is a program of this project: build it with make bpf, and load it as root with: cogtcp c2 load",
            told: Some((&["flows", "n_source"], "cogtcp c2 load --flows, or cogtcp c2 flows ADDRESS N")),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{ParameterKind, ParameterValue};

    #[test]
    fn makes_by_name_or_says_what_is_near() {
        assert_eq!(make("aimd", &Parameters::new()).unwrap().name(), "aimd");
        let message = make("aimt", &Parameters::new()).unwrap_err().to_string();
        assert!(message.contains("did you mean \"aimd\"?"), "{message}");
        let message = make("zzzzzzzz", &Parameters::new()).unwrap_err().to_string();
        assert!(!message.contains("did you mean") && message.contains("write one of "), "{message}");
    }

    #[test]
    fn parameters_are_checked() {
        let message = |table: Parameters| make("aimd", &table).unwrap_err().to_string();
        let unknown = message(Parameters::new().with_number("decreas", 0.5));
        assert!(unknown.contains("did you mean \"decrease\"?"), "{unknown}");
        assert!(message(Parameters::new().with_number("decrease", 1.5)).contains("a number from"));
        assert!(message(Parameters::new().with_number("decrease", f64::NAN)).contains("a number from"));
        let mut wrong = Parameters::new();
        wrong.set("decrease", ParameterValue::Flag(true));
        assert!(message(wrong).contains("does not take true"));
    }

    /// Which controls ask for samples of the delivery rate, and which own their window from the start. None counts an
    /// ACK before it is judged, unless its rules are Linux's Westwood.
    #[test]
    fn controls_say_what_they_need() {
        let names = |has: fn(&dyn CongestionControl) -> bool| -> Vec<&str> {
            let controls = ControlInfo::all()
                .iter()
                .map(|info| (info.name, make(info.name, &Parameters::new()).unwrap()));
            controls.filter(|(_, control)| has(&**control)).map(|(name, _)| name).collect()
        };
        assert_eq!(names(|control| control.uses_delivery_rate()), ["bbr", "bbr1"]);
        assert_eq!(names(|control| control.owns_cwnd()), ["bbr", "bbr1", "atcp", "copa", "prague"]);
        assert_eq!(names(|control| control.counts_acks_first()), [""; 0]);
        // Other rules of a control need no more, but that Linux's Westwood counts ACKs first.
        let mut counting = Vec::new();
        for info in ControlInfo::all() {
            for spec in info.parameters {
                let ParameterKind::Choice { choices, .. } = spec.kind else { continue };
                for choice in choices {
                    let mut table = Parameters::new();
                    table.set(spec.name, ParameterValue::Text((*choice).to_owned()));
                    let control = make(info.name, &table).unwrap();
                    assert_eq!(
                        control.uses_delivery_rate(),
                        info.name.starts_with("bbr"),
                        "{} {choice}",
                        info.name
                    );
                    assert_eq!(control.name(), info.name);
                    if control.counts_acks_first() {
                        counting.push((info.name, *choice));
                    }
                }
            }
        }
        assert_eq!(counting, [("westwood", "linux")]);
    }
}
