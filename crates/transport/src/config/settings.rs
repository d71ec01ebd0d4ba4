//! How groups of settings are declared, and how a value of a scenario stands for a field of a group.

use super::values::{Segments, Window};
use cogtcp_units::Bytes;

/// Makes the groups, and `TcpSettings`, of one list: documentation, field (`as` its key in TOML, if that is
/// another), type (`as` the type in TOML) and default. After `for` stands where a [`TcpConfig`](super) has
/// the group. Fields after `and` are no settings of a scenario. At the end: the order in TOML.
macro_rules! settings {
    (
        $(
            $(#[$group_about:meta])+
            pub struct $group:ident for $($end:ident$(.$place:ident)?),+ {
                $(
                    $(#[$about:meta])+
                    $field:ident $(as $key:literal)?: $type:ty $(as $toml:ty)? = $default:expr;
                )+
            } $(and {
                $($(#[$fixed_about:meta])+ $fixed:ident: $fixed_type:ty = $fixed_default:expr;)+
            })?
        )+
        [$($ordered:ident $(as $ordered_key:literal)?),+]
    ) => {
        $(
            #[derive(Clone, Debug, PartialEq)]
            $(#[$group_about])+
            pub struct $group {
                $(
                    $(#[$about])+
                    #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                    pub $field: $type,
                )+
                $($(
                    $(#[$fixed_about])+
                    #[doc = concat!("\n\nDefault: `", stringify!($fixed_default), "`.")]
                    pub $fixed: $fixed_type,
                )+)?
            }

            impl Default for $group {
                fn default() -> Self {
                    Self { $($field: $default,)+ $($($fixed: $fixed_default,)+)? }
                }
            }

            impl $group {
                fn apply(&mut self, settings: &TcpSettings, mss: u32) {
                    $(if let Some(value) = settings.$field {
                        settings::Setting::put(value, &mut self.$field, mss);
                    })+
                }

                fn write(&self, settings: &mut TcpSettings) {
                    $(settings.$field = settings::Setting::of(&self.$field);)+
                }
            }
        )+

        /// Settings of TCP. What is not set is as the preset of the flow's `transport` has it.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
        #[schemars(rename = "Tcp")]
        #[serde(deny_unknown_fields)]
        pub struct TcpSettings {
            $($(
                $(#[$about])+
                $(#[serde(rename = $key)])?
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<settings!(@toml $type $(, $toml)?)>,
            )+)+
            /// The congestion control, by its name, or `module:Class` for one written in Python; without it:
            /// the transport's.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub congestion: Option<String>,
            /// Parameters of the congestion control, by name.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            pub parameters: BTreeMap<String, ParameterValue>,
        }

        impl Serialize for TcpSettings {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let Self { $($ordered,)+ congestion, parameters } = self;
                let mut map = serializer.serialize_map(None)?;
                $(if let Some(value) = $ordered {
                    map.serialize_entry(settings!(@key $ordered $(, $ordered_key)?), value)?;
                })+
                if let Some(name) = congestion {
                    map.serialize_entry("congestion", name)?;
                }
                if !parameters.is_empty() {
                    map.serialize_entry("parameters", parameters)?;
                }
                map.end()
            }
        }

        impl TcpSettings {
            /// True if nothing is set.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// What a flow's TCP does where neither its transport nor the scenario says otherwise, as it
            /// would be written. Not set: what has no such value (no cap, never), and `recovery` and
            /// `congestion`, which are the transport's.
            pub fn defaults() -> Self {
                let mut settings = Self::default();
                $($group::default().write(&mut settings);)+
                Self { algorithm: None, ..settings }
            }

            /// Puts what is set over the configuration of both ends; windows are counted in segments of `mss`
            /// bytes.
            pub fn apply(&self, config: &mut TcpConfig, mss: u32) {
                $($(config.$end$(.$place)?.apply(self, mss);)+)+
            }
        }
    };
    (@toml $type:ty) => { $type };
    (@toml $type:ty, $toml:ty) => { $toml };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident, $key:literal) => { $key };
}

pub(super) use settings;

/// Returns a configuration with other values of some fields: `with!(config, timers.min_rto = least)`.
#[macro_export]
macro_rules! with {
    ($config:expr, $($group:ident$(.$field:ident)? = $value:expr),+ $(,)?) => {{
        let mut config = $config;
        $(config.$group$(.$field)? = $value;)+
        config
    }};
}

/// How a value in a scenario stands for a field of a group.
pub(super) trait Setting<Field>: Sized {
    /// Sets the field; `mss` is the size of a segment.
    fn put(self, field: &mut Field, mss: u32);

    /// The value that sets the field as it is, where there is one.
    fn of(field: &Field) -> Option<Self>;
}

impl<T: Copy> Setting<T> for T {
    fn put(self, field: &mut T, _: u32) {
        *field = self;
    }
    fn of(field: &T) -> Option<T> {
        Some(*field)
    }
}

impl<T: Copy> Setting<Option<T>> for T {
    fn put(self, field: &mut Option<T>, _: u32) {
        *field = Some(self);
    }
    fn of(field: &Option<T>) -> Option<T> {
        *field
    }
}

impl Setting<u32> for Segments {
    fn put(self, field: &mut u32, _: u32) {
        *field = self.0;
    }
    fn of(field: &u32) -> Option<Self> {
        Some(Self(*field))
    }
}

/// The size of a segment. Scenarios with one that no packet holds are refused.
impl Setting<u32> for Bytes {
    fn put(self, field: &mut u32, _: u32) {
        *field = self.get().clamp(1, u64::from(u16::MAX)) as u32;
    }
    fn of(field: &u32) -> Option<Self> {
        Some(Self::new(u64::from(*field)))
    }
}

/// The size of a buffer.
impl Setting<u64> for Bytes {
    fn put(self, field: &mut u64, _: u32) {
        *field = self.get();
    }
    fn of(field: &u64) -> Option<Self> {
        Some(Self::new(*field))
    }
}

/// A threshold, which is unlimited where there is none.
impl Setting<u64> for Window {
    fn put(self, field: &mut u64, mss: u32) {
        *field = self.bytes(mss);
    }
    fn of(field: &u64) -> Option<Self> {
        (*field < u64::MAX).then(|| Self::Bytes(Bytes::new(*field)))
    }
}

impl Setting<Option<u64>> for Window {
    fn put(self, field: &mut Option<u64>, mss: u32) {
        *field = Some(self.bytes(mss));
    }
    fn of(field: &Option<u64>) -> Option<Self> {
        field.map(|bytes| Self::Bytes(Bytes::new(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Handshake, TcpConfig, TcpSettings};

    #[test]
    fn written_defaults_change_nothing() {
        let mut config = TcpConfig::default();
        let mss = config.sender.handshake.mss;
        TcpSettings::defaults().apply(&mut config, mss);
        // A sender that does not offer timestamps makes the receiver's readiness for them idle.
        config.receiver.handshake = Handshake { timestamps: true, ..config.receiver.handshake };
        assert_eq!(config, TcpConfig::default());
    }

    /// Windows of the table are in segments of the connection, or in bytes.
    #[test]
    fn windows_count_the_connections_segments() {
        let mut config = TcpConfig::default();
        let initial_ssthresh = Some(crate::Window::Segments(crate::Segments(7)));
        let max_window = Some(crate::Window::Bytes(cogtcp_units::Bytes::new(9)));
        TcpSettings { initial_ssthresh, max_window, ..TcpSettings::default() }.apply(&mut config, 500);
        assert_eq!((config.sender.initial_ssthresh, config.sender.max_window), (3500, Some(9)));
    }
}
