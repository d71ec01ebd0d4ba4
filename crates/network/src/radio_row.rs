//! A radio's row, the same for every driver.

use cogtcp_records::Code;
use cogtcp_records::tables::RadioRow;
use cogtcp_spectrum::{Protection, RadioStats};
use cogtcp_units::Duration;

/// Returns the row from the radio's `stats` and the `protection` of primary users around it. `None`: the
/// radio does not know primary users, so their counts are zero and their other columns not-a-number.
pub(crate) fn radio_row(radio: Code, stats: &RadioStats, protection: Option<&Protection>) -> RadioRow {
    let count = |count: fn(&Protection) -> u64| protection.map_or(0, count);
    let value = |value: fn(&Protection) -> f64| protection.map_or(f64::NAN, value);
    RadioRow {
        radio,
        transmitting_s: stats.transmitting.as_secs_f64(),
        sensing_s: stats.sensing.as_secs_f64(),
        switching_s: stats.switching.as_secs_f64(),
        lost_s: stats.lost.as_secs_f64(),
        signal_losses: stats.losses,
        sensings: stats.sensings,
        pu_arrivals: stats.pu_arrivals,
        handoffs: stats.handoffs,
        missed_detections: stats.missed_detections,
        false_alarms: stats.false_alarms,
        detections: count(|p| p.detections),
        pu_airtime_s: value(|p| p.pu_airtime.as_secs_f64()),
        pu_exposed_share: value(Protection::exposed_share),
        pu_interfered_s: value(|p| p.interfered.as_secs_f64()),
        pu_interfered_share: value(Protection::interfered_share),
        pu_overdue_s: value(|p| p.overdue.map_or(f64::NAN, Duration::as_secs_f64)),
        pu_collisions: count(|p| p.collisions),
        vacated: count(|p| p.vacated),
        outlasted: count(|p| p.outlasted),
        vacate_mean_s: value(|p| p.vacate_mean().map_or(f64::NAN, Duration::as_secs_f64)),
        // Without a departure in time the greatest is no zero seconds but unknown.
        vacate_max_s: value(|p| p.vacate_mean().map_or(f64::NAN, |_| p.vacate_max.as_secs_f64())),
    }
}
