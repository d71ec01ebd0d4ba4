//! Lines between backticks: what packetdrill gives to a shell. Settings of the kernel are read; nothing is
//! run.

use super::Fault;

/// What packetdrill's `defaults.sh` sets, as far as this machine's planes have it.
const DEFAULTS: [(&str, &str); 13] = [
    ("ipv4.tcp_rmem", "4096 540000 15728640"),
    ("ipv4.tcp_wmem", "4096 262144 4194304"),
    ("ipv4.tcp_timestamps", "1"),
    ("ipv4.tcp_syn_retries", "5"),
    ("ipv4.tcp_synack_retries", "5"),
    ("ipv4.tcp_frto", "2"),
    ("ipv4.tcp_sack", "1"),
    ("ipv4.tcp_dsack", "1"),
    ("ipv4.tcp_reordering", "3"),
    ("ipv4.tcp_slow_start_after_idle", "0"),
    ("ipv4.tcp_early_retrans", "4"),
    ("ipv4.tcp_recovery", "1"),
    ("ipv4.tcp_ecn", "0"),
];

/// Settings that scripts may change: the model has their effect, or has no such mechanism and the kernel is
/// set.
const KNOWN: [&str; 27] = [
    "tcp_congestion_control",
    "tcp_dsack",
    "tcp_early_retrans",
    "tcp_ecn",
    "tcp_ecn_fallback",
    "tcp_fack",
    "tcp_frto",
    "tcp_fin_timeout",
    "tcp_invalid_ratelimit",
    "tcp_limit_output_bytes",
    "tcp_min_tso_segs",
    "tcp_no_metrics_save",
    "tcp_orphan_retries",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_recovery",
    "tcp_reordering",
    "tcp_retries1",
    "tcp_retries2",
    "tcp_rmem",
    "tcp_sack",
    "tcp_slow_start_after_idle",
    "tcp_syn_retries",
    "tcp_timestamps",
    "tcp_tso_win_divisor",
    "tcp_window_scaling",
    "tcp_wmem",
];

/// Settings of the kernel: names below `net.` and values; the later of two counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) values: Vec<(String, String)>,
}

impl Settings {
    /// packetdrill's usual ones: suites run `defaults.sh` first, and Linux's own values differ in few.
    pub(super) fn new() -> Self {
        Self { values: DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(each, _)| each.strip_prefix("ipv4.") == Some(name))
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "0")
    }

    /// Takes the lines of a command.
    pub(super) fn take(&mut self, text: &str) -> Result<(), Fault> {
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default();
            // Also at each `&` of `&&`; the empty part between the two is left out.
            for command in line.split([';', '&']).map(str::trim).filter(|command| !command.is_empty()) {
                self.command(command)?;
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &str) -> Result<(), Fault> {
        let words = words(command);
        let name = words[0].rsplit('/').next().unwrap_or_default();
        match name {
            "defaults.sh" => Ok(()),
            // Nothing is to be restored: the namespace ends with the script.
            _ if name.starts_with("sysctl_restore_") => Ok(()),
            "sysctl" | "set_sysctls.py" => {
                let settings = words[1..].iter().filter(|word| !word.starts_with('-'));
                settings.into_iter().try_for_each(|word| self.set(word))
            }
            // No device of ours segments or merges.
            "ethtool" => Ok(()),
            // Each script has a namespace that remembers nothing.
            "ip" if command.contains("tcp_metrics") => Ok(()),
            "nstat" => Ok(()),
            "tc" if command.ends_with("root pfifo") => Ok(()),
            "tc" => Err(Fault::beyond("a queueing discipline at the device (tc)")),
            "ip" => Err(Fault::beyond("routes with settings (ip route)")),
            "echo" if command.ends_with("/sys/module/tcp_cubic/parameters/hystart_detect") => {
                // The only value that the whole machine has without root.
                if words.get(1).is_some_and(|value| value == "3") {
                    Ok(())
                } else {
                    Err(Fault::beyond(
                        "HyStart with one of its two detectors (a setting of the whole machine)",
                    ))
                }
            }
            _ => Err(Fault::beyond(format!("the shell command \"{name}\""))),
        }
    }

    fn set(&mut self, word: &str) -> Result<(), Fault> {
        let (path, value) = word.split_once('=').ok_or_else(|| {
            Fault::wrong(format!("\"{word}\" is not a setting; write NAME=VALUE, as in net.ipv4.tcp_sack=0"))
        })?;
        let path = path.trim_start_matches("/proc/sys/").replace('/', ".");
        let Some(name) = path.strip_prefix("net.ipv4.") else {
            return Err(Fault::beyond(format!("the setting {path}")));
        };
        if name.starts_with("tcp_fastopen") {
            return Err(Fault::beyond("Fast Open (RFC 7413)"));
        }
        let is_known = KNOWN.contains(&name) || (name == "tcp_mtu_probing" && value == "0");
        if !is_known {
            return Err(Fault::beyond(format!("the setting {path}")));
        }
        if name == "tcp_ecn" && !matches!(value, "0" | "1" | "2") {
            return Err(Fault::beyond("Accurate ECN (tcp_ecn above 2)"));
        }
        let name = format!("ipv4.{name}");
        // The later of two values counts.
        self.values.retain(|(each, _)| *each != name);
        self.values.push((name, value.to_owned()));
        Ok(())
    }
}

/// The words of a line; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    // At least one word, so that a caller may take the first.
    if !word.is_empty() || words.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_shell_lines() {
        let mut settings = Settings::new();
        settings
            .take(
                "../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=2  # agree\n\
                 ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 4194304\" \\\n \
                 /proc/sys/net/ipv4/tcp_sack=0\nethtool -K tun0 tso off gso off\n\
                 tc qdisc add dev tun0 root pfifo\n/tmp/sysctl_restore_${PPID}.sh",
            )
            .unwrap();
        assert_eq!(settings.get("tcp_ecn"), Some("2"));
        assert_eq!(settings.get("tcp_wmem"), Some("4096 50000 4194304"));
        assert!(!settings.is_on("tcp_sack") && settings.is_on("tcp_timestamps"));
    }

    #[test]
    fn what_no_plane_has_is_refused_by_name() {
        for (line, says) in [
            ("sysctl net.ipv4.tcp_fastopen=1", "Fast Open"),
            ("sysctl net.ipv4.tcp_ecn=3", "Accurate ECN"),
            ("sysctl net.core.rmem_max=3", "net.core.rmem_max"),
            ("sysctl net.ipv4.tcp_mtu_probing=2", "tcp_mtu_probing"),
            ("ip route change 1.2.3.4 via 5.6.7.8 initcwnd 11", "ip route"),
            ("tc qdisc replace dev tun0 root fq", "tc"),
            ("rm -rf /", "the shell command \"rm\""),
        ] {
            let fault = Settings::new().take(line).unwrap_err();
            assert!(fault.is_out_of_scope && fault.message.contains(says), "{line}: {}", fault.message);
        }
        assert!(!Settings::new().take("sysctl net.ipv4.tcp_sack").unwrap_err().is_out_of_scope);
    }
}
