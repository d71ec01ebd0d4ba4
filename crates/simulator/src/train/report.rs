//! The train's row of results.

use super::Train;
use crate::flow::Flow;
use cogtcp_records::Table;
use cogtcp_records::tables::{TrainRow, TrainsBuilder};
use cogtcp_scenario::Experiment;
use cogtcp_spectrum::prediction::{Outage, assess};
use cogtcp_units::Time;

impl Train {
    /// The table of trains: one row.
    pub(crate) fn report(&self, experiment: &Experiment, end: Time, flows: &[Flow]) -> Table {
        let mut table = TrainsBuilder::default();
        // Outages and predictions of the measured span.
        let measured = |time: Time| time >= self.warm_at && time < end;
        let outages: Vec<Outage> = self.outages.iter().copied().filter(|o| measured(o.start)).collect();
        let announced: Vec<_> =
            (0..self.predictions.len()).filter(|number| measured(self.predictions[*number].start)).collect();
        let predictions: Vec<_> = announced.iter().map(|number| self.predictions[*number]).collect();
        let assessment = assess(&outages, &predictions);
        let late = outages
            .iter()
            .zip(&assessment.matches)
            .filter_map(|(outage, matched)| self.sent[announced[(*matched)?]].map(|sent| (outage, sent)))
            .filter(|(outage, sent)| sent.at + sent.needed > outage.start)
            .count();
        let (mut starts, mut ends) = (assessment.start_errors, assessment.end_errors);
        starts.sort_by(f64::total_cmp);
        ends.sort_by(f64::total_cmp);
        let counts = &self.counts;
        let managed = || self.clients.iter().flat_map(|client| &client.flows);
        let frozen: f64 = managed().map(|flow| flows[*flow].frozen(end).as_secs_f64()).sum();
        let span = end.saturating_since(self.warm_at).as_secs_f64();
        let row = TrainRow {
            router: table.router.intern(&experiment.nodes[self.spec.router]),
            clients: self.clients.len() as u64,
            outages: outages.len() as u64,
            outage_s: outages.iter().map(|o| o.end.min(end).saturating_since(o.start).as_secs_f64()).sum(),
            predictions: predictions.len() as u64,
            missed_outages: assessment.missed,
            false_predictions: assessment.false_ones,
            late_warnings: late as u64,
            start_error_mean_s: mean(&starts),
            start_error_std_s: deviation(&starts),
            start_error_p05_s: quantile(&starts, 0.05),
            start_error_p50_s: quantile(&starts, 0.5),
            start_error_p95_s: quantile(&starts, 0.95),
            end_error_mean_s: mean(&ends),
            end_error_std_s: deviation(&ends),
            rtt_tcp_s: self.rtt_tcp().as_secs_f64(),
            rtt_local_s: self.rtt_local().as_secs_f64(),
            tu_advance_mean_s: counts.tu_advance_s / counts.downs as f64,
            down_messages: counts.down_messages,
            up_messages: counts.up_messages,
            lost_messages: counts.lost_messages,
            polls: counts.polls,
            overhead_bytes: counts.bytes,
            overhead_bps: counts.bytes as f64 * 8.0 / span,
            frozen_s: frozen / managed().count() as f64,
            window_probes: managed().map(|flow| flows[*flow].probes()).sum(),
        };
        table.push(row);
        table.finish()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (values.len() as f64 - 1.0).max(0.0))
        .sqrt()
}

/// The nearest-rank quantile of sorted values.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let rank = libm::ceil(p * sorted.len() as f64) as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
