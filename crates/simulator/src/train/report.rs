//! The train's results: what this driver knows of them. The tables are made in `cogtcp-hosts`.

use super::Train;
use cogtcp_hosts::Flow;
use cogtcp_hosts::train::{FlowOnTrain, TrainAccount};
use cogtcp_records::Table;
use cogtcp_scenario::Experiment;
use cogtcp_units::Time;

/// The tables of trains (one row), of their flows and of predictions.
pub(super) fn tables(train: &Train, end: Time, experiment: &Experiment, flows: &[Flow]) -> [Table; 3] {
    let account = TrainAccount {
        host: &train.host,
        node: &train.name,
        clients: train.clients.len(),
        end,
        flows: flows
            .iter()
            .zip(&experiment.flows)
            .enumerate()
            .map(|(number, (flow, spec))| FlowOnTrain {
                name: &spec.name,
                efficiency: flow.measured().map_or(f64::NAN, |m| m.share(m.arrived_bytes)),
                frozen: flow.frozen(end).and_then(|frozen| Some((train.client_of(number)?, frozen))),
                window_probes: flow.probes(),
            })
            .collect(),
    };
    account.tables()
}
