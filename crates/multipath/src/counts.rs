//! Counts of each path, as the two ends show them by name.

use crate::MOST_PATHS;

/// Defines the counts: field, name, meaning.
macro_rules! counts {
    ($($(#[$meaning:meta])* $field:ident = $names:expr;)+) => {
        /// Counts of one path.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Counts {
            $($(#[$meaning])* pub $field: f64,)+
        }

        /// A count of [`Counts`].
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Count {
            $($(#[$meaning])* $field,)+
        }

        impl Counts {
            /// Returns the path and the count that `name` stands for.
            pub fn find(name: &str) -> Option<(usize, Count)> {
                $(if let Some(path) = $names.iter().position(|known| *known == name) {
                    return Some((path, Count::$field));
                })+
                None
            }

            /// Returns a count.
            pub fn get_mut(&mut self, count: Count) -> &mut f64 {
                match count {
                    $(Count::$field => &mut self.$field,)+
                }
            }

            /// Returns the counts since `before`.
            #[must_use]
            pub fn since(&self, before: &Self) -> Self {
                Self { $($field: self.$field - before.$field,)+ }
            }
        }

        impl Count {
            /// Returns the name of this count of path `path`.
            pub(crate) fn name(self, path: usize) -> &'static str {
                match self {
                    $(Self::$field => $names[path],)+
                }
            }
        }
    };
}

/// The names of a count, by path.
macro_rules! names {
    ($suffix:literal) => {{
        const NAMES: [&str; MOST_PATHS] = [
            concat!("path0_", $suffix),
            concat!("path1_", $suffix),
            concat!("path2_", $suffix),
            concat!("path3_", $suffix),
            concat!("path4_", $suffix),
            concat!("path5_", $suffix),
            concat!("path6_", $suffix),
            concat!("path7_", $suffix),
        ];
        NAMES
    }};
}
pub(crate) use names;

counts! {
    /// Bytes of data that the path brought first.
    first_bytes = names!("first_bytes");
    /// Segments with data or FIN, retransmissions included.
    sent_segments = names!("sent_segments");
    /// Segments that the subflow itself retransmitted.
    retransmitted_segments = names!("retransmitted_segments");
    /// Retransmission timeouts.
    rtos = names!("rtos");
    /// Bytes of data that another path had carried before.
    repeated_bytes = names!("repeated_bytes");
    /// Bytes of data of this path that were queued for other paths.
    reinjected_bytes = names!("reinjected_bytes");
    /// Samples of the round-trip time.
    round_trips = names!("round_trips");
    /// Their sum, in seconds.
    round_trips_s = names!("round_trips_s");
    /// Bytes of data that the path brought again, or for which the receiver had no room.
    duplicate_bytes = names!("duplicate_bytes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_their_names() {
        assert_eq!(Count::rtos.name(3), "path3_rtos");
        assert_eq!(Counts::find("path3_rtos"), Some((3, Count::rtos)));
        assert_eq!(Counts::find("rtos"), None);
        let mut now = Counts::default();
        *now.get_mut(Count::rtos) = 5.0;
        assert_eq!(now.since(&Counts { rtos: 2.0, ..Counts::default() }).rtos, 3.0);
    }
}
