//! Both planes give the links of a scenario the same rates, gates and capacities: from time zero on, and over
//! the whole run.

use cogtcp_crosslayer::LinkEvent;
use cogtcp_emulator::IpPacket;
use cogtcp_emulator::host_routes::{HostRoutes, LinkDirection};
use cogtcp_emulator::network::{EmulatedNetwork, Hosts};
use cogtcp_link::{Capacity, DropCause, Frame};
use cogtcp_network::{Observer, PacketLocation, RadioIndex};
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::{Duration, Rate, Time};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

const SEED: u64 = 7;
/// Of a run whose series are compared.
const SAMPLES: u64 = 61;

/// Nothing is sent, and nobody is told anything.
struct Silent;

impl Hosts for Silent {
    fn arrived(&mut self, _: Time, _: usize, _: Option<LinkDirection>, _: &Frame<IpPacket>) {}
}

impl Observer<IpPacket> for Silent {
    fn dropped(&mut self, _: Time, _: PacketLocation, _: &Frame<IpPacket>, _: DropCause, _: bool) {}
    fn radio(&mut self, _: Time, _: RadioIndex, _: LinkEvent, _: Rate) {}
}

fn shipped() -> Vec<(PathBuf, Experiment)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|it| it == "toml")).collect();
    files.sort();
    let read = |file: PathBuf| {
        let experiment = Scenario::read(&file).and_then(|scenario| scenario.resolve());
        let experiment = experiment.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, cogtcp_hosts::drawn(Cow::Owned(experiment), SEED).into_owned())
    };
    files.into_iter().map(read).collect()
}

/// What the kernel plane plays of the radios and links of `experiment`.
fn emulated(experiment: &Experiment) -> EmulatedNetwork {
    let end = Time::ZERO + experiment.run.duration;
    EmulatedNetwork::new(experiment, HostRoutes::new(experiment, [0, experiment.nodes.len() - 1]), SEED, end)
        .unwrap()
}

/// The rates by time and direction, which are zero in a silence, and the capacities in bytes by direction, as
/// the simulator has them.
fn simulated(experiment: &Experiment) -> (Vec<(f64, Vec<f64>)>, Vec<f64>) {
    let options = RunOptions { seed: Some(SEED), trace: TraceLevel::Series, ..RunOptions::default() };
    let run = run(experiment, &options).unwrap_or_else(|error| panic!("{}: {error}", experiment.name));
    let column = |table: &cogtcp_records::Table, name: &str| -> Vec<f64> {
        (0..table.len()).map(|row| table.number(name, row).unwrap()).collect()
    };
    let directions = 2 * experiment.links.len();
    let (times, rates) = (column(&run.link_series, "time_s"), column(&run.link_series, "rate_bps"));
    let rows = times.chunks(directions).zip(rates.chunks(directions));
    (rows.map(|(at, rates)| (at[0], rates.to_vec())).collect(), column(&run.links, "capacity_bytes"))
}

fn rates(network: &mut EmulatedNetwork, at: Time) -> Vec<f64> {
    network.play(at, &mut Silent);
    let directions = network.network.directions().len();
    let of = |direction| network.network.direction(direction as u32).rate_at(at).bits_per_second() as f64;
    (0..directions).map(of).collect()
}

#[test]
fn shipped_scenarios_begin_alike() {
    let instant = Duration::from_nanos(1);
    for (file, mut experiment) in shipped() {
        (experiment.run.duration, experiment.run.warmup) = (instant, Duration::ZERO);
        experiment.run.sample_interval = instant;
        if experiment.links.is_empty() {
            // Of an ad hoc network both planes drive the same value.
            assert!(experiment.adhoc.is_some(), "{}", file.display());
            continue;
        }
        let expected = rates(&mut emulated(&experiment), Time::ZERO + instant);
        assert_eq!(simulated(&experiment).0, [(1e-9, expected)], "{}", file.display());
    }
}

/// Without traffic: a frame that completes into a silence counts, and kernels send other frames.
#[test]
fn shipped_scenarios_have_one_capacity() {
    let mut changing = 0;
    for (file, mut experiment) in shipped() {
        if experiment.links.is_empty() {
            continue;
        }
        experiment.flows.clear();
        experiment.udp.clear();
        experiment.run.warmup = Duration::ZERO;
        let end = Time::ZERO + experiment.run.duration;
        // At no multiple of anything: what a sample shows of the instant of a change depends on which comes
        // first.
        experiment.run.sample_interval = Duration::from_nanos(end.as_nanos() / SAMPLES + 1_009);
        let mut network = emulated(&experiment);
        let (series, capacities) = simulated(&experiment);
        // The interval is a little more than a part of SAMPLES of the run.
        assert_eq!(series.len() as u64, SAMPLES - 1, "{}", file.display());
        for (number, (time_s, expected)) in series.iter().enumerate() {
            let at = Time::ZERO + experiment.run.sample_interval * (number as u64 + 1);
            assert_eq!(&rates(&mut network, at), expected, "{} at {time_s} s", file.display());
        }
        changing += u32::from(series.iter().any(|(_, rates)| *rates != series[0].1));
        network.play(end, &mut Silent);
        let of =
            |direction| Capacity::bytes(network.network.direction(direction as u32).capacity(end).available);
        let expected: Vec<f64> = (0..2 * experiment.links.len()).map(of).collect();
        assert_eq!(capacities, expected, "{}", file.display());
    }
    assert!(changing >= 6, "the rates of {changing} scenarios change");
}
