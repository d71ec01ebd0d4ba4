//! A train's results: its row, one row for each flow, and one for each outage and each false prediction.
//! Every driver of a mobile router makes them here, so that they mean the same under any clock.

use crate::RouterHost;
use cogtcp_records::extensions::{
    PredictionRow, PredictionsBuilder, TrainFlowRow, TrainFlowsBuilder, TrainRow, TrainsBuilder,
};
use cogtcp_records::{Code, Table};
use cogtcp_train::prediction::{Assessment, Outage, assess};
use cogtcp_units::{Duration, Time};

/// What a run knows of its train when it ends.
#[derive(Debug)]
pub struct TrainAccount<'a> {
    /// The router as it is then.
    pub host: &'a RouterHost,
    /// Its node.
    pub node: &'a str,
    /// How many clients it warns.
    pub clients: usize,
    /// When the run ended.
    pub end: Time,
    /// The flows of the run.
    pub flows: Vec<FlowOnTrain<'a>>,
}

/// A flow of a run with a train.
#[derive(Clone, Copy, Debug)]
pub struct FlowOnTrain<'a> {
    /// Its name.
    pub name: &'a str,
    /// Efficiency as the table says; not-a-number where nothing was measured.
    pub efficiency: f64,
    /// The client whose connection manager sits beside it, and how long that held its source; `None`: it has
    /// none.
    pub frozen: Option<(usize, Duration)>,
    /// Window probes of its sender since measuring began.
    pub window_probes: u64,
}

/// Outages and predictions of the measured span, and which belong together.
struct Comparison {
    /// The numbers of the outages.
    outages: Vec<usize>,
    /// The numbers of the predictions.
    predictions: Vec<usize>,
    assessment: Assessment,
}

impl TrainAccount<'_> {
    /// The tables of trains (one row), of their flows and of predictions.
    pub fn tables(&self) -> [Table; 3] {
        let comparison = self.compare();
        let rows = self.rows(&comparison);
        let late = rows.iter().filter(|row| row.outcome == "late").count() as u64;
        let mut predictions = PredictionsBuilder::default();
        for row in rows {
            let codes = (
                predictions.router.intern(self.node),
                predictions.outcome.intern(row.outcome),
                predictions.cause.intern(row.cause),
            );
            predictions.push(row.record(codes));
        }
        [self.report_train(&comparison, late), self.report_flows(), predictions.finish()]
    }

    fn compare(&self) -> Comparison {
        let end = self.end;
        let measured = |time: Time| time >= self.host.warm_at && time < end;
        let said = self.host.machine.predicted();
        let outages: Vec<usize> = (0..self.host.outages.len())
            .filter(|number| measured(self.host.outages[*number].start))
            .collect();
        let predictions: Vec<usize> =
            (0..said.len()).filter(|number| measured(said[*number].prediction.start)).collect();
        let met: Vec<_> = outages.iter().map(|number| self.host.outages[*number]).collect();
        let predicted: Vec<_> = predictions.iter().map(|number| said[*number].prediction).collect();
        Comparison { outages, predictions, assessment: assess(&met, &predicted) }
    }

    /// Outages and false predictions in the order of time.
    fn rows(&self, comparison: &Comparison) -> Vec<Row> {
        let Comparison { outages, predictions, assessment } = comparison;
        let mut rows: Vec<Row> = Vec::new();
        for (outage, matched) in outages.iter().zip(&assessment.matches) {
            let (it, cause) = (self.host.outages[*outage], self.host.causes[*outage]);
            let matched = matched.map(|number| predictions[number]);
            let sent = matched.map(|number| self.host.machine.predicted()[number].warned);
            let outcome = match sent {
                None => "missed",
                Some(None) => "unsent",
                Some(Some(sent)) if sent.at + sent.needed > it.start => "late",
                Some(Some(_)) => "ahead",
            };
            rows.push(Row { outcome, cause, ..self.row(Some(it), matched) });
        }
        for (place, number) in predictions.iter().enumerate() {
            if !assessment.matches.contains(&Some(place)) {
                rows.push(Row { outcome: "false", ..self.row(None, Some(*number)) });
            }
        }
        // A false prediction has no outage: it stands at its predicted start.
        let time = |row: &Row| if row.start.is_nan() { row.predicted_start } else { row.start };
        rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
        rows
    }

    fn row(&self, outage: Option<Outage>, prediction: Option<usize>) -> Row {
        let seconds = |time: Option<Time>| time.map_or(f64::NAN, Time::as_secs_f64);
        let said = prediction.map(|number| self.host.machine.predicted()[number]);
        let sent = said.and_then(|it| it.warned);
        Row {
            outcome: "",
            cause: "",
            start: seconds(outage.map(|it| it.start)),
            end: seconds(outage.map(|it| it.end).filter(|time| *time < self.end)),
            made: seconds(said.map(|it| it.prediction.made)),
            predicted_start: seconds(said.map(|it| it.prediction.start)),
            predicted_end: seconds(said.and_then(|it| it.prediction.end)),
            down_sent: seconds(sent.map(|it| it.at)),
            up_sent: seconds(said.and_then(|it| it.cleared)),
            needed: sent.map_or(f64::NAN, |it| it.needed.as_secs_f64()),
        }
    }

    fn report_train(&self, comparison: &Comparison, late_warnings: u64) -> Table {
        let mut table = TrainsBuilder::default();
        let assessment = &comparison.assessment;
        let (mut starts, mut ends) = (assessment.start_errors.clone(), assessment.end_errors.clone());
        starts.sort_by(f64::total_cmp);
        ends.sort_by(f64::total_cmp);
        let lengths = comparison.outages.iter().map(|number| {
            let it = self.host.outages[*number];
            // An outage at the end of the run counts only as far as it was seen.
            it.end.min(self.end).saturating_since(it.start).as_secs_f64()
        });
        let counts = self.host.machine.counts();
        // Client by client, the flows of each in their order.
        let of = |client: usize| {
            self.flows.iter().filter(move |flow| flow.frozen.is_some_and(|(number, _)| number == client))
        };
        let managed = || (0..self.clients).flat_map(of);
        let frozen: f64 = managed().map(FlowOnTrain::seconds_frozen).sum();
        let span = self.end.saturating_since(self.host.warm_at).as_secs_f64();
        let row = TrainRow {
            router: table.router.intern(self.node),
            predictor: table.predictor.intern(self.host.spec.settings.prediction.kind().name()),
            clients: self.clients as u64,
            outages: comparison.outages.len() as u64,
            outage_s: lengths.sum(),
            predictions: comparison.predictions.len() as u64,
            missed_outages: assessment.missed,
            false_predictions: assessment.false_ones,
            late_warnings,
            start_error_mean_s: mean(&starts),
            start_error_std_s: deviation(&starts),
            start_error_p05_s: quantile(&starts, 0.05),
            start_error_p50_s: quantile(&starts, 0.5),
            start_error_p95_s: quantile(&starts, 0.95),
            end_error_mean_s: mean(&ends),
            end_error_std_s: deviation(&ends),
            end_error_p05_s: quantile(&ends, 0.05),
            end_error_p50_s: quantile(&ends, 0.5),
            end_error_p95_s: quantile(&ends, 0.95),
            rtt_tcp_s: self.host.machine.rtt_tcp().as_secs_f64(),
            rtt_local_s: self.host.machine.rtt_local().as_secs_f64(),
            tu_advance_mean_s: counts.tu_advance_s / counts.downs as f64,
            down_messages: counts.down_messages,
            up_messages: counts.up_messages,
            lost_messages: counts.lost_messages,
            polls: counts.polls,
            overhead_bytes: self.host.message_bytes,
            overhead_bps: self.host.message_bytes as f64 * 8.0 / span,
            frozen_s: frozen / managed().count() as f64,
            window_probes: managed().map(|flow| flow.window_probes).sum(),
        };
        table.push(row);
        table.finish()
    }

    /// The table of flows on a train.
    fn report_flows(&self) -> Table {
        let mut table = TrainFlowsBuilder::default();
        for flow in &self.flows {
            let row = TrainFlowRow {
                flow: table.flow.intern(flow.name),
                efficiency_trains: flow.efficiency,
                managed: flow.frozen.is_some(),
                frozen_s: flow.seconds_frozen(),
                window_probes: flow.window_probes,
            };
            table.push(row);
        }
        table.finish()
    }
}

impl FlowOnTrain<'_> {
    fn seconds_frozen(&self) -> f64 {
        self.frozen.map_or(f64::NAN, |(_, frozen)| frozen.as_secs_f64())
    }
}

/// An outage with its prediction, or one of them alone; not-a-number stands for what is not there.
struct Row {
    outcome: &'static str,
    cause: &'static str,
    start: f64,
    end: f64,
    made: f64,
    predicted_start: f64,
    predicted_end: f64,
    down_sent: f64,
    up_sent: f64,
    needed: f64,
}

impl Row {
    fn record(&self, (router, outcome, cause): (Code, Code, Code)) -> PredictionRow {
        PredictionRow {
            router,
            outcome,
            cause,
            start_s: self.start,
            end_s: self.end,
            made_s: self.made,
            predicted_start_s: self.predicted_start,
            predicted_end_s: self.predicted_end,
            start_error_s: self.predicted_start - self.start,
            end_error_s: self.predicted_end - self.end,
            down_sent_s: self.down_sent,
            up_sent_s: self.up_sent,
            down_lead_s: self.start - self.down_sent,
            up_lead_s: self.end - self.up_sent,
            needed_s: self.needed,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    // The sample's deviation: of a single value not a number.
    (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (values.len() as f64 - 1.0).max(0.0))
        .sqrt()
}

/// The nearest-rank quantile of sorted values.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let rank = libm::ceil(p * sorted.len() as f64) as usize;
    // Ranks count from 1.
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of the distances from 3: 4 + 1 + 0 + 9, over 3.
    #[test]
    fn moments_by_hand() {
        let values = [1.0, 2.0, 3.0, 6.0];
        assert_eq!(mean(&values), 3.0);
        assert_eq!(deviation(&values), (14.0_f64 / 3.0).sqrt());
        assert!(mean(&[]).is_nan() && deviation(&[1.0]).is_nan());
    }

    /// Nearest rank: the least of four that 0.05 x 4, 0.5 x 4 = 2, 0.95 x 4 = 3.8 of them do not exceed.
    #[test]
    fn quantiles_by_hand() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.05, 0.5, 0.51, 0.95].map(|p| quantile(&values, p)), [1.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }

    /// An outage from 10 s to 15 s, predicted from 9.5 s to 15.25 s, told at 9 s, its end at 13 s.
    #[test]
    fn errors_and_leads_by_hand() {
        let mut table = PredictionsBuilder::default();
        let codes = (table.router.intern("r"), table.outcome.intern("ahead"), table.cause.intern("sensing"));
        let row = Row {
            outcome: "ahead",
            cause: "sensing",
            start: 10.0,
            end: 15.0,
            made: 8.0,
            predicted_start: 9.5,
            predicted_end: 15.25,
            down_sent: 9.0,
            up_sent: 13.0,
            needed: 0.5,
        };
        let record = row.record(codes);
        // Negative: predicted too early.
        assert_eq!((record.start_error_s, record.end_error_s), (-0.5, 0.25));
        assert_eq!((record.down_lead_s, record.up_lead_s), (1.0, 2.0));
        assert_eq!((record.down_sent_s, record.up_sent_s, record.needed_s), (9.0, 13.0, 0.5));
    }
}
