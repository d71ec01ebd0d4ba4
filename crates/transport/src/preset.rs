//! The classic names: a loss recovery and a congestion control under one word.

use crate::congestion::suggestion;
use crate::nearest::nearest;
use crate::{Recovery, SenderConfig};

/// A transport that can be named in a scenario.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Congestion control, by its name in the registry ([`crate::make`]).
    pub control: &'static str,
}

static PRESETS: &[Preset] = &[
    Preset {
        name: "tahoe",
        summary: "fast retransmit, then slow start from one segment",
        recovery: Recovery::Tahoe,
        control: "aimd",
    },
    Preset {
        name: "reno",
        summary: "fast recovery, left at the first new ACK (RFC 5681)",
        recovery: Recovery::Reno,
        control: "aimd",
    },
    Preset {
        name: "newreno",
        summary: "fast recovery over partial ACKs (RFC 6582)",
        recovery: Recovery::NewReno,
        control: "aimd",
    },
    Preset {
        name: "sack",
        summary: "selective acknowledgements and the scoreboard of RFC 6675",
        recovery: Recovery::Sack,
        control: "aimd",
    },
];

/// No preset of this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown transport \"{name}\"{}; known: {known}", suggestion(.nearest))]
pub struct UnknownPreset {
    /// The name asked for.
    pub name: String,
    /// The nearest known name.
    pub nearest: Option<String>,
    /// All names.
    pub known: String,
}

impl Preset {
    /// Every preset, in the order of the documentation.
    pub fn all() -> &'static [Self] {
        PRESETS
    }

    /// The preset called `name`.
    pub fn find(name: &str) -> Result<&'static Self, UnknownPreset> {
        PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| UnknownPreset {
            name: name.to_owned(),
            nearest: nearest(name, PRESETS.iter().map(|preset| preset.name)).map(str::to_owned),
            known: PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The sender's settings: the defaults with this preset's recovery.
    pub fn sender_config(&self) -> SenderConfig {
        SenderConfig { recovery: self.recovery, ..SenderConfig::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control_info;

    #[test]
    fn every_preset_names_a_control() {
        for preset in Preset::all() {
            assert!(control_info(preset.control).is_ok(), "{preset:?}");
            assert_eq!(Preset::find(preset.name).unwrap().sender_config().recovery, preset.recovery);
        }
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let message = Preset::find("newrno").unwrap_err().to_string();
        assert!(message.contains("did you mean \"newreno\"?"), "{message}");
    }
}
