//! Settings of a scenario that override a profile's.

/// Makes two structures of one list of fields: the complete configuration, and the settings of a scenario,
/// whose fields may be left to a profile. A field has its documentation once; comments (`//`) hold for
/// the configuration alone.
///
/// - `pub struct Config { ... }` has the fields that no scenario sets.
/// - `pub struct Settings { ... }` has the fields that are the settings' own, such as the name of a profile.
///
/// The settings get three methods: `is_empty`, `first_set` (the name of the first field that is set), and
/// `overlay(base)`, which returns `base` with the fields that are set. Fields are `Copy`; the calling crate
/// needs serde and schemars.
#[macro_export]
macro_rules! overlay {
    (
        $(#[$config_meta:meta])*
        pub struct $config:ident { $($(#[$fixed_about:meta])* $fixed:ident: $fixed_type:ty,)* }
        $(#[$settings_meta:meta])*
        pub struct $settings:ident { $($(#[$own_about:meta])* $own:ident: $own_type:ty,)* }
        $($(#[$about:meta])* $name:ident: $type:ty,)*
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        $(#[$config_meta])*
        pub struct $config {
            $($(#[$about])* pub $name: $type,)*
            $($(#[$fixed_about])* pub $fixed: $fixed_type,)*
        }

        #[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema, serde::Deserialize, serde::Serialize)]
        #[serde(deny_unknown_fields, default)]
        $(#[$settings_meta])*
        pub struct $settings {
            $($(#[$own_about])* #[serde(skip_serializing_if = "Option::is_none")] pub $own: Option<$own_type>,)*
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)*
        }

        impl $settings {
            /// True if nothing is set.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// Returns the name of the first field that is set over the profile.
            pub fn first_set(&self) -> Option<&'static str> {
                $(if self.$name.is_some() { return Some(stringify!($name)); })*
                None
            }

            /// Returns `base` with the fields that are set.
            pub fn overlay(&self, base: $config) -> $config {
                $config {
                    $($name: self.$name.unwrap_or(base.$name),)*
                    $($fixed: base.$fixed,)*
                }
            }
        }
    };
}
