//! Conformance of the transports that control a rate.

use cogtcp_endpoint::conformance::{cases, check};
use cogtcp_feedback::{AtpSettings, NadaSettings, TfrcCrSettings, TfrcSettings, TpCrahnSettings};

#[test]
fn conformance_of_tfrc() {
    for seed in 0..cases() {
        check(&TfrcSettings::default(), seed);
    }
}

#[test]
fn conformance_of_tfrc_cr() {
    for seed in 0..cases() {
        let settings = TfrcCrSettings { acks_in_pause: seed % 2 == 0, ..TfrcCrSettings::default() };
        check(&settings, seed);
    }
}

#[test]
fn conformance_of_atp() {
    for seed in 0..cases() {
        check(&AtpSettings::default(), seed);
    }
}

#[test]
fn conformance_of_tp_crahn() {
    for seed in 0..cases() {
        check(&TpCrahnSettings::default(), seed);
    }
}

#[test]
fn conformance_of_nada() {
    for seed in 0..cases() {
        check(&NadaSettings::default(), seed);
    }
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
