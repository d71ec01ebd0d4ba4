//! The classic names: a loss recovery, a congestion control and its parameters under one word. Each control
//! declares its own presets beside itself; here they are found.

use crate::congestion::{ControlInfo, ParameterValue, Parameters};
use crate::{HostProfile, Recovery, SenderConfig, with};
use cogtcp_units::WrongSetting;
use std::sync::LazyLock;

/// A transport that can be named in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Loss recovery.
    pub recovery: Recovery,
    /// What else the sender's host is like.
    pub host: HostProfile,
    /// Congestion control, by its name in the registry ([`crate::make`]).
    pub control: &'static str,
    /// Parameters of the control that differ from its defaults.
    pub settings: &'static [(&'static str, PresetValue)],
}

/// A parameter's value in a preset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PresetValue {
    /// A number, in the unit of the parameter's specification.
    Number(f64),
    /// A switch.
    Flag(bool),
    /// One of a set of words.
    Word(&'static str),
}

impl From<PresetValue> for ParameterValue {
    fn from(setting: PresetValue) -> Self {
        match setting {
            PresetValue::Number(number) => Self::Number(number),
            PresetValue::Flag(flag) => Self::Flag(flag),
            PresetValue::Word(word) => Self::Text(word.to_owned()),
        }
    }
}

static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| ControlInfo::all().iter().flat_map(|control| control.presets).copied().collect());

impl Preset {
    /// Returns a preset of `control` on a host of the RFCs, with the control's defaults.
    pub(crate) const fn new(name: &'static str, control: &'static str, recovery: Recovery) -> Self {
        Self { name, summary: "", recovery, host: HostProfile::Rfc, control, settings: &[] }
    }

    /// Sets the summary.
    pub(crate) const fn described(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Sets the host.
    pub(crate) const fn on(self, host: HostProfile) -> Self {
        Self { host, ..self }
    }

    /// Sets parameters of the control.
    pub(crate) const fn with(self, settings: &'static [(&'static str, PresetValue)]) -> Self {
        Self { settings, ..self }
    }

    /// Every preset, in the order of the documentation.
    pub fn all() -> &'static [Self] {
        &PRESETS
    }

    /// The preset called `name`.
    pub fn find(name: &str) -> Result<&'static Self, WrongSetting> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            WrongSetting::unknown("transport", name, &names)
        })
    }

    /// The sender's settings: the host's with this preset's recovery.
    pub fn sender_config(&self) -> SenderConfig {
        with!(self.host.sender_config(), recovery.algorithm = self.recovery)
    }

    /// The control's parameters: this preset's, overridden by `user`.
    pub fn parameters(&self, user: &Parameters) -> Parameters {
        let mut parameters = Parameters::new();
        for &(name, setting) in self.settings {
            parameters.set(name, setting.into());
        }
        for (name, value) in user.iter() {
            parameters.set(name, value.clone());
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_congestion_control;
    use crate::congestion::make;
    use cogtcp_units::Duration;
    use std::collections::BTreeSet;

    #[test]
    fn every_preset_builds_its_control() {
        let names: BTreeSet<_> = Preset::all().iter().map(|preset| preset.name).collect();
        assert_eq!(names.len(), Preset::all().len(), "two presets share a name");
        for control in ControlInfo::all() {
            for parameter in control.parameters {
                assert!(!parameter.summary.is_empty(), "{} of {}", parameter.name, control.name);
            }
            for preset in control.presets {
                assert_eq!(preset.control, control.name, "{preset:?}");
                assert!(!preset.summary.is_empty(), "{preset:?}");
            }
        }
        for preset in Preset::all() {
            let control = make(preset.control, &preset.parameters(&Parameters::new()));
            assert_eq!(control.as_ref().map(|control| control.name()), Ok(preset.control), "{preset:?}");
            assert_eq!(
                Preset::find(preset.name).unwrap().sender_config().recovery.algorithm,
                preset.recovery
            );
        }
    }

    #[test]
    fn a_host_changes_the_sender_and_not_the_recovery() {
        let hosts: BTreeSet<_> = Preset::all().iter().map(|preset| format!("{:?}", preset.host)).collect();
        assert_eq!(hosts.len(), 5, "some preset is of each host");
        for preset in Preset::all() {
            let today = preset.host == HostProfile::Linux;
            let sender = preset.sender_config();
            assert_eq!(
                (sender.recovery.prr, sender.recovery.rack, sender.recovery.tlp),
                (today, today, today)
            );
            // The hosts of the RFCs and of ns-2 (`newreno_changes1_` 1) let the timer run through a recovery.
            let is_steady = sender.recovery.newreno_variant == crate::NewRenoVariant::SlowButSteady;
            let is_impatient = matches!(preset.host, HostProfile::Rfc | HostProfile::Ns2);
            assert_eq!(is_steady, !is_impatient, "{preset:?}");
            assert_eq!(sender.recovery.algorithm, preset.recovery);
            let fast = matches!(preset.host, HostProfile::Linux | HostProfile::Ns2 | HostProfile::Ns3In2013);
            assert_eq!(
                sender.timers.min_rto,
                Duration::from_millis(if fast { 200 } else { 1000 }),
                "{preset:?}"
            );
        }
    }

    /// The defaults of the simulators that papers used: what decides comparisons
    /// (docs/congestion/simulators.md).
    #[test]
    fn the_simulators_of_the_time() {
        let sender = |name| Preset::find(name).unwrap().sender_config();
        let ns2 = sender("ns2");
        assert_eq!((ns2.handshake.mss, ns2.max_window, ns2.initial_ssthresh), (1000, Some(20_000), 20_000));
        assert_eq!(
            (ns2.recovery.hold_ssthresh, ns2.timers.keep_syn_backoff, ns2.timers.restart_on_retransmit),
            (false, true, true)
        );
        let (older, newer) = (sender("ns3-2013"), sender("ns3-2015"));
        for ns3 in [&older, &newer] {
            assert_eq!((ns3.handshake.mss, ns3.initial_ssthresh, ns3.max_window), (536, 65_535, None));
            assert_eq!(ns3.recovery.newreno_variant, crate::NewRenoVariant::SlowButSteady);
            assert_eq!(
                (ns3.recovery.hold_ssthresh, ns3.timers.restart_on_retransmit, ns3.recovery.limited_transmit),
                (true, false, false)
            );
            assert_eq!(ns3.timers.initial_rto, Duration::from_secs(3));
        }
        assert_eq!((older.handshake.timestamps, older.handshake.window_scaling), (false, false));
        assert_eq!((newer.handshake.timestamps, newer.handshake.window_scaling), (true, true));
    }

    #[test]
    fn every_presets_control_conforms() {
        for preset in Preset::all() {
            let control = || make(preset.control, &preset.parameters(&Parameters::new())).unwrap();
            check_congestion_control(control).unwrap();
        }
    }

    #[test]
    fn a_users_parameter_overrides_the_presets() {
        let preset = Preset::new("x", "y", Recovery::Sack).with(&[
            ("a", PresetValue::Number(1.0)),
            ("b", PresetValue::Flag(true)),
            ("c", PresetValue::Word("w")),
        ]);
        let table = preset.parameters(&Parameters::new().with_number("a", 2.0).with_number("d", 3.0));
        assert_eq!(
            (table.number("a"), table.flag("b"), table.text("c"), table.number("d")),
            (2.0, true, "w", 3.0)
        );
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let message = Preset::find("newrno").unwrap_err().to_string();
        assert!(message.contains("did you mean \"newreno\"?"), "{message}");
    }
}
