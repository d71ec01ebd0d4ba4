//! Structs of counts: one macro for all of them, in every crate.

use crate::Duration;

/// What is joined number by number: a count, a time, or counts by kind.
pub trait Joined: Copy {
    /// Joins each number with the same number of `other`.
    #[must_use]
    fn join(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self;
}

impl Joined for u64 {
    fn join(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        join(self, other)
    }
}

impl Joined for Duration {
    fn join(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self::from_nanos(join(self.as_nanos(), other.as_nanos()))
    }
}

impl<const N: usize> Joined for [u64; N] {
    fn join(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        std::array::from_fn(|kind| join(self[kind], other[kind]))
    }
}

/// Defines a struct of counts ([`Joined`]) that are subtracted and added field by field.
#[macro_export]
macro_rules! counts {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$meaning:meta])* pub $field:ident: $count:ty,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct $name {
            $($(#[$meaning])* pub $field: $count,)+
        }

        impl $name {
            /// Returns what was counted after `before`.
            #[must_use]
            pub fn since(&self, before: &Self) -> Self {
                Self { $($field: $crate::Joined::join(self.$field, before.$field, |now, before| now - before),)+ }
            }

            /// Adds the counts of `other`.
            pub fn add(&mut self, other: &Self) {
                *self = Self { $($field: $crate::Joined::join(self.$field, other.$field, |one, other| one + other),)+ };
            }
        }
    };
}
