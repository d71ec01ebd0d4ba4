//! Links hand packets on before they arrive at the next link, and no result depends on it.
//!
//! A run that records events lets every packet arrive in its turn, so both kinds of run can be compared.

use super::batches::{assert_no_difference, cases, dumbbell};

#[test]
fn no_result_depends_on_packets_handed_on_early() {
    for seed in 0..cases() {
        for pairs in [1, 2, 5] {
            assert_no_difference(&dumbbell(seed, pairs), &format!("seed {seed}, {pairs} pairs"));
        }
    }
}
