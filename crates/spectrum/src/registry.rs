//! Registries: what can be named in a scenario, each with its parameters as a type of its own.

/// Makes the enum of everything that can be named in one field of a scenario, and finds the part behind each
/// name.
///
/// A line is a documented variant: `Name(Parameters)` is written `{ name = { ... } }`, `Name = PART` is
/// written `"name"`. The parameters, or the part, implement the registry's trait, to which the enum hands
/// over by `kind()`. Reading, writing, the JSON Schema and the reference of scenarios follow from the line.
#[macro_export]
macro_rules! registry {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $kind:ident {
            $($(#[$about:meta])* $variant:ident $(($parameters:ty))? $(= $part:expr)?,)*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* $variant $(($parameters))?,)*
        }

        impl $name {
            /// What stands behind the name.
            pub fn kind(&self) -> &dyn $kind {
                match self {
                    $($crate::registry!(@pattern parameters, $variant $(, $parameters)?) =>
                        $crate::registry!(@part parameters $(, $parameters)? $(= $part)?),)*
                }
            }
        }
    };
    (@pattern $bound:ident, $variant:ident, $parameters:ty) => { Self::$variant($bound) };
    (@pattern $bound:ident, $variant:ident) => { Self::$variant };
    (@part $bound:ident, $parameters:ty) => { $bound };
    (@part $bound:ident = $part:expr) => { &$part };
}
