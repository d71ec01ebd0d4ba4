//! Which modulation and coding (MCS) an SINR brings, by the SINR itself and by the CQI.

use crate::cell::support::*;
use cogtcp_cell::carrier::{Carrier, Technology};
use cogtcp_cell::errors::ErrorModel;
use cogtcp_cell::{Cell, CellConfig, McsChoice, UserConfig};
use cogtcp_units::{Decibel, Duration, Time};

fn heard(sinr: f64, error_model: ErrorModel, mcs_choice: McsChoice) -> CellConfig {
    let users = vec![UserConfig { sinr: [Decibel(sinr); 2], delay: [Duration::ZERO; 2] }];
    CellConfig { error_model, mcs_choice, users, ..config(1) }
}

/// By hand. CQI n has MCS 2 (n - 1) of table 7.1.7.1-1. Two control symbols leave 132 elements of a block.
///
/// Gaussian: CQI 8 and 9 need 6.50 and 8.43 dB; by bits per element MCS 13, 14 and 16 (1.736, 1.928 and
/// 2.316) need 5.72, 6.56 and 8.08 dB. Piro: CQI 8 and 9 (1.914 and 2.406) need 11.85 and 13.76 dB; by bits per
/// element MCS 3 (0.435) needs 2.9 dB, by its CQI MCS 4 (0.377) 2.2 dB. Nobody can decode MCS 28.
#[test]
fn a_cqi_stands_for_every_second_mcs_of_lte() {
    for (model, sinr, size_by_sinr, size_by_cqi) in [
        (ErrorModel::Awgn, -9.0, 0, 0),
        (ErrorModel::Awgn, 6.4, 22_920, 19_848),
        (ErrorModel::Awgn, 6.52, 22_920, 25_456),
        (ErrorModel::Awgn, 8.4, 30_576, 25_456),
        (ErrorModel::Awgn, 8.5, 30_576, 30_576),
        (ErrorModel::Awgn, 30.0, 63_776, 63_776),
        (ErrorModel::Piro, -2.2, 0, 0),
        (ErrorModel::Piro, -2.0, 0, 2_792),
        (ErrorModel::Piro, 2.5, 4_584, 7_224),
        (ErrorModel::Piro, 11.8, 22_920, 19_848),
        (ErrorModel::Piro, 13.7, 30_576, 25_456),
        (ErrorModel::Piro, 13.8, 30_576, 30_576),
        (ErrorModel::Piro, 24.0, 63_776, 61_664),
        (ErrorModel::Piro, 24.1, 63_776, 63_776),
    ] {
        for (choice, size) in [(McsChoice::Sinr, size_by_sinr), (McsChoice::Cqi, size_by_cqi)] {
            let cell = Cell::new(heard(sinr, model, choice), 1, "cell");
            let rate = cell.rate(0, DOWN).bits_per_second() as f64;
            // Six of 50 blocks have no data in two of ten subframes; a block has whole octets.
            let wanted = f64::from(size) / 100.0 * 48.8 * 1000.0;
            assert!((rate - wanted).abs() <= 8000.0, "{model:?} {choice:?} {sinr} dB: {rate}, {wanted}");
        }
        let uplink = |choice| Cell::new(heard(sinr, model, choice), 1, "cell").rate(0, UP);
        assert_eq!(uplink(McsChoice::Sinr), uplink(McsChoice::Cqi), "the base station measures it");
    }
}

/// By hand, of TS 38.214 tables 5.1.3.1-1 and 5.2.2.1-2: CQI 2 is MCS 0, CQI 9 (8.43 dB) MCS 15, and CQI 10
/// (10.36 dB) MCS 18. MCS 1 needs -4.1 dB, MCS 16 9.4 dB.
#[test]
fn a_cqi_stands_for_an_mcs_of_nr() {
    for (sinr, by_sinr, by_cqi) in [
        (-6.0, 0.0, 0.0),
        (-4.0, 0.3066, 0.2344),
        (8.5, 2.4063, 2.4063),
        (10.0, 2.5703, 2.4063),
        (10.4, 2.7305, 2.7305),
        (40.0, 5.5547, 5.5547),
    ] {
        for (choice, efficiency) in [(McsChoice::Sinr, by_sinr), (McsChoice::Cqi, by_cqi)] {
            let heard = heard(sinr, ErrorModel::Awgn, choice);
            let carrier = Carrier { technology: Technology::Nr15, ..heard.carrier };
            let cell = Cell::new(CellConfig { carrier, ..heard }, 1, "cell");
            let rate = cell.rate(0, DOWN).bits_per_second() as f64;
            // 132 elements of a block. Broadcast takes 20 of 50 blocks of every twentieth slot.
            let wanted = efficiency * 132.0 * 49.0 * 1000.0;
            assert!((rate - wanted).abs() <= 8000.0, "{choice:?} {sinr} dB: {rate}, {wanted}");
        }
    }
}

/// What the cell delivers is what it has chosen; no block is lost well above its CQI.
#[test]
fn blocks_have_the_mcs_of_the_cqi() {
    for (choice, size) in [(McsChoice::Sinr, 30_576.0), (McsChoice::Cqi, 25_456.0)] {
        let mut run = Run::new(heard(13.7, ErrorModel::Piro, choice), [true, false]);
        run.play(Time::from_millis(10_000), &mut clear());
        let delivered = run.of(0, DOWN) * 1504.0 * 8.0 / 10.0;
        close(delivered, size / 100.0 * 48.8 * 1000.0, 0.01);
    }
}
