//! Conformance of the transports that control a rate.

use crate::committed::compare_cases;
use cogtcp_endpoint::Protocol;
use cogtcp_endpoint::conformance::{cases, check};
use cogtcp_feedback::{AtpSettings, NadaSettings, TfrcCrSettings, TfrcSettings, TpCrahnSettings};

/// Checks all cases. What they send is committed, for the cases that are drawn unless `COGTCP_CASES` is set.
fn conform<P: Protocol>(name: &str, settings: impl Fn(u64) -> P) {
    let digests: Vec<u64> = (0..cases()).map(|seed| check(&settings(seed), seed)).collect();
    if digests.len() == 1000 {
        compare_cases(name, digests.into_iter());
    }
}

#[test]
fn conformance_of_tfrc() {
    conform("tfrc", |_| TfrcSettings::default());
}

#[test]
fn conformance_of_tfrc_cr() {
    conform("tfrc_cr", |seed| TfrcCrSettings { acks_in_pause: seed % 2 == 0, ..TfrcCrSettings::default() });
}

#[test]
fn conformance_of_atp() {
    conform("atp", |_| AtpSettings::default());
}

#[test]
fn conformance_of_tp_crahn() {
    conform("tp_crahn", |_| TpCrahnSettings::default());
}

#[test]
fn conformance_of_nada() {
    conform("nada", |_| NadaSettings::default());
}

#[test]
fn conformance_the_same_case_gives_the_same_packets() {
    for seed in 0..20 {
        assert_eq!(check(&TfrcCrSettings::default(), seed), check(&TfrcCrSettings::default(), seed));
        assert_eq!(check(&AtpSettings::default(), seed), check(&AtpSettings::default(), seed));
        assert_eq!(check(&TpCrahnSettings::default(), seed), check(&TpCrahnSettings::default(), seed));
        assert_eq!(check(&NadaSettings::default(), seed), check(&NadaSettings::default(), seed));
    }
}
