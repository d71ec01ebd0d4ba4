//! The result of one run.

use crate::Table;

/// Everything that one run leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time, in seconds.
    pub duration_s: f64,
    /// Time from which metrics count, in seconds.
    pub warmup_s: f64,
    /// One row per flow.
    pub flows: Table,
    /// One row per link direction.
    pub links: Table,
    /// One row per cognitive radio.
    pub radios: Table,
    /// Where the time of the flows' bottlenecks went: one row for each link direction that is one.
    pub budget: Table,
    /// Flows over time; empty unless series were asked for.
    pub flow_series: Table,
    /// What the congestion controls show of themselves over time; empty unless series were asked for.
    pub control_series: Table,
    /// Links over time; empty unless series were asked for.
    pub link_series: Table,
    /// What happened when; empty unless the full trace was asked for.
    pub events: Table,
    /// Every packet on every link; empty unless packets were asked for.
    pub packets: Table,
    /// The tables of [`crate::extensions`] that this run has, in the order in which its parts were made.
    pub extensions: Vec<Table>,
    /// Jain's fairness index of the flows' goodputs, see [`jain_fairness`].
    pub fairness: f64,
    /// Hash of all events (time, kind, entity), packets on their way excepted until they reach their hosts.
    /// Equal digests mean equal runs; tracing does not change it.
    pub digest: u64,
    /// Events of the run, arrivals of packets among them, samples of the series excepted.
    pub engine_events: u64,
    /// Packets that arrived at the far end of a link, summed over links (lost ones included).
    pub packet_hops: u64,
}

impl Run {
    /// The tables that this run has, in the order of [`crate::schema`].
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        let totals = [&self.flows, &self.links, &self.radios, &self.budget];
        let series = [&self.flow_series, &self.control_series, &self.link_series];
        totals.into_iter().chain(series).chain([&self.events, &self.packets]).chain(&self.extensions)
    }

    /// The tables that this run has, in the order of [`crate::schema`].
    pub fn into_tables(self) -> impl Iterator<Item = Table> {
        let totals = [self.flows, self.links, self.radios, self.budget];
        let series = [self.flow_series, self.control_series, self.link_series];
        totals.into_iter().chain(series).chain([self.events, self.packets]).chain(self.extensions)
    }

    /// The table called `name`, if this run has it.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables().find(|table| table.name == name)
    }
}

/// `part / whole`; not-a-number when the whole is zero.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

/// Jain's fairness index of `shares`: (sum x)^2 / (n sum x^2), from 1/n (one takes all) to 1 (all equal).
/// Not-a-number when there is no share or all are zero. (Jain, Chiu, Hawe, DEC-TR-301, 1984.)
pub fn jain_fairness(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::{jain_fairness, ratio};

    /// Nothing of nothing is no share, nor is something of nothing.
    #[test]
    fn a_ratio_to_nothing_is_not_a_number() {
        assert_eq!(ratio(1.0, 4.0), 0.25);
        assert!(ratio(0.0, 0.0).is_nan() && ratio(1.0, 0.0).is_nan() && ratio(1.0, -1.0).is_nan());
    }

    #[test]
    fn fairness_is_one_when_equal_and_one_over_n_when_one_takes_all() {
        assert_eq!(jain_fairness(&[3.0, 3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain_fairness(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert!(jain_fairness(&[0.0, 0.0]).is_nan());
        assert!(jain_fairness(&[]).is_nan());
    }
}
