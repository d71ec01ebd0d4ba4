//! Which congestion control programs get, and which others they may choose.
//!
//! A network namespace has its own default. The kernel accepts only a control that everybody may choose as
//! default, whatever the privileges (`tcp_set_default_congestion_control`). `tcp_allowed_congestion_control`
//! lists these controls, once for the whole machine. A socket may have any control if its owner has
//! CAP_NET_ADMIN over its namespace. A route could have a control too (`congctl`), but it would replace the
//! control that a program has chosen before it connects.

use crate::namespaces;
use std::fs;

/// The controls of a kernel, by the names that `TCP_CONGESTION` has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) available: Vec<String>,
    /// Those that need no privilege.
    pub(crate) allowed: Vec<String>,
}

/// What programs have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Controls {
    /// What a socket has whose program says nothing.
    pub(crate) default: String,
    /// What a program may choose beside it.
    pub(crate) others: Vec<String>,
    /// These controls in a sentence, with what the kernel refused.
    pub(crate) note: String,
}

/// What a scenario names for its first flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The preset.
    pub(crate) transport: String,
    /// What the kernel calls its control; `None`: the kernel has no such thing.
    pub(crate) control: Option<&'static str>,
}

fn names(file: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

impl Kernel {
    pub(crate) fn read() -> Self {
        Self {
            available: names("tcp_available_congestion_control"),
            allowed: names("tcp_allowed_congestion_control"),
        }
    }

    /// Whether a program needs a privilege to choose some of them.
    pub(crate) fn restricts(&self) -> bool {
        self.available.iter().any(|name| !self.allowed.contains(name))
    }
}

/// Makes what the scenario names the default of the namespace that this thread is in, as far as the kernel
/// lets it. Returns the default that there is.
pub(crate) fn set_default(wanted: Option<&Wanted>) -> String {
    if let Some(control) = wanted.and_then(|wanted| wanted.control) {
        // What it refuses is told by what is read.
        let _ = namespaces::set_sysctl("ipv4.tcp_congestion_control", control);
    }
    names("tcp_congestion_control").pop().unwrap_or_default()
}

impl Controls {
    /// `default`: what the namespace has; `chooses_all`: programs have the privilege that it takes.
    pub(crate) fn new(wanted: Option<&Wanted>, default: String, kernel: &Kernel, chooses_all: bool) -> Self {
        let offered = if chooses_all { &kernel.available } else { &kernel.allowed };
        let others: Vec<String> = offered.iter().filter(|name| **name != default).cloned().collect();
        let mut note = format!("programs get the congestion control {default}");
        match wanted {
            Some(Wanted { control: Some(control), .. }) if *control == default => {
                note += ", the scenario's, where they choose no other";
            }
            Some(Wanted { control: Some(control), .. })
                if !kernel.available.iter().any(|it| it == control) =>
            {
                note += &format!(
                    ", the machine's default: the kernel has no {control}, which the scenario names"
                );
            }
            Some(Wanted { control: Some(control), .. }) => {
                let allowed = kernel.allowed.join(" ");
                note += &format!(
                    ", the machine's default, and not {control}, which the scenario names: the kernel lets a namespace have \
                     only controls that all may choose. To have it, as root: sysctl \
                     net.ipv4.tcp_allowed_congestion_control=\"{allowed} {control}\""
                );
            }
            Some(Wanted { transport, control: None }) => {
                note += &format!(
                    ", the machine's default: the kernel has no transport \"{transport}\" of the scenario"
                );
            }
            None => note += ", the machine's default: the scenario has no flow that names one",
        }
        if others.is_empty() {
            note += " (they may choose no other)";
        } else {
            note += &format!(" (they may choose: {}, as with iperf3 -C)", others.join(", "));
        }
        Self { default, others, note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Kernel { available: own(&["reno", "bbr", "cubic"]), allowed: own(&["reno", "bbr"]) }
    }

    fn told(wanted: Option<(&str, Option<&'static str>)>, default: &str, chooses_all: bool) -> Controls {
        let wanted = wanted.map(|(transport, control)| Wanted { transport: transport.to_owned(), control });
        Controls::new(wanted.as_ref(), default.to_owned(), &kernel(), chooses_all)
    }

    #[test]
    fn says_which_control_and_which_others() {
        let all = told(Some(("linux-reno", Some("reno"))), "reno", true);
        assert_eq!(all.others, ["bbr", "cubic"]);
        assert!(
            all.note.contains("reno, the scenario's") && all.note.contains("choose: bbr, cubic"),
            "{}",
            all.note
        );
        let few = told(Some(("linux-reno", Some("reno"))), "reno", false);
        assert_eq!(few.others, ["bbr"]);
    }

    #[test]
    fn says_what_the_kernel_refused() {
        let refused = told(Some(("linux-cubic", Some("cubic"))), "bbr", true).note;
        assert!(refused.contains("bbr, the machine's default, and not cubic"), "{refused}");
        assert!(refused.contains("=\"reno bbr cubic\""), "{refused}");
        let absent = told(Some(("c2", Some("c2"))), "bbr", true).note;
        assert!(absent.contains("the kernel has no c2"), "{absent}");
        let unknown = told(Some(("tahoe", None)), "bbr", true).note;
        assert!(unknown.contains("no transport \"tahoe\""), "{unknown}");
        assert!(told(None, "bbr", true).note.contains("no flow"));
        // Notes are told apart by semicolons.
        assert!(![refused, absent, unknown].concat().contains(';'));
    }

    #[test]
    fn knows_whether_a_privilege_matters() {
        assert!(kernel().restricts());
        let allowed = kernel().available;
        assert!(!Kernel { allowed, ..kernel() }.restricts());
    }
}
