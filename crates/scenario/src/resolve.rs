//! From a [`Scenario`] to an [`Experiment`]: names become indices, counts are expanded, defaults filled in,
//! and what cannot work is refused.

mod adhoc;
mod buffers;
mod cognitive;
mod ends;
mod flows;
mod journey;
mod network;
mod paths;
mod radios;
mod tcp;
mod train;
mod udp;

use crate::files::beside;
use crate::limits::{LONGEST, MOST_POINTS, MOST_PROBLEMS};
use crate::source::Source;
use crate::tree::KeyPath;
use crate::{Experiment, MOST_SERIES_ROWS, NetworkSpec, Run, Scenario, ScenarioError};
use cogtcp_units::{Check, Duration, Rate};
use network::ResolvedNetwork;

/// What is wrong, or only looks wrong, before places are looked up.
pub(crate) struct Problem {
    path: KeyPath,
    message: String,
    remedy: String,
}

/// Collects what is wrong with a scenario, in the order of checking.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Findings {
    pub(crate) fn error(&mut self, path: &KeyPath, message: impl Into<String>, remedy: impl Into<String>) {
        if self.errors.len() < MOST_PROBLEMS {
            self.errors.push(Problem { path: path.clone(), message: message.into(), remedy: remedy.into() });
        }
    }

    fn warn(&mut self, path: &KeyPath, message: impl Into<String>, remedy: impl Into<String>) {
        if self.warnings.len() < MOST_PROBLEMS {
            self.warnings.push(Problem {
                path: path.clone(),
                message: message.into(),
                remedy: remedy.into(),
            });
        }
    }

    /// Whether all was well since there were `before` errors.
    fn none_since(&self, before: usize) -> bool {
        self.errors.len() == before
    }

    /// Takes what is wrong with the fields of the table at `path`.
    pub(crate) fn under<'a>(&'a mut self, path: &'a KeyPath) -> Under<'a> {
        Under { findings: self, path }
    }

    /// A span above zero (unless `zero` is allowed) and not beyond `most`.
    fn check_span(&mut self, path: &KeyPath, span: Duration, zero: bool, most: Duration) {
        self.under(path).span("", span, zero, most);
    }

    fn check_rate(&mut self, path: &KeyPath, rate: Rate) {
        self.under(path).rate("", rate);
    }

    /// Every rate of a list.
    fn check_rates(&mut self, path: &KeyPath, rates: &[Rate]) {
        for (i, rate) in rates.iter().enumerate() {
            self.check_rate(&path.index(i), *rate);
        }
    }

    fn check_name(&mut self, path: &KeyPath, name: &str) {
        self.under(path).name("", name);
    }

    /// The problems with their places.
    pub(crate) fn place(problems: Vec<Problem>, source: &Source) -> Vec<ScenarioError> {
        source.place(problems.into_iter().map(|problem| (problem.path, problem.message, problem.remedy)))
    }
}

/// What is wrong with the fields of one table.
pub(crate) struct Under<'a> {
    findings: &'a mut Findings,
    path: &'a KeyPath,
}

impl Check for Under<'_> {
    fn error(&mut self, field: &str, message: String, remedy: String) {
        self.findings.error(&self.path.join(field), message, remedy);
    }
}

impl Scenario {
    /// The experiment that the scenario describes, or everything that was found wrong with it.
    pub fn resolve(&self) -> Result<Experiment, ScenarioError> {
        let (experiment, findings) = self.examine();
        match (experiment, ScenarioError::from_all(Findings::place(findings.errors, &self.source))) {
            (Some(experiment), None) => Ok(experiment),
            (_, Some(error)) => Err(error),
            (None, None) => unreachable!("every check that yields nothing reports why"),
        }
    }

    /// The files that the scenario refers to: what they hold decides results as much as what it says itself.
    pub fn files(&self) -> Vec<std::path::PathBuf> {
        let spectrum = self.spectrum.iter().flat_map(|spectrum| cognitive::files(spectrum, &self.source));
        let journeys = self.radio.iter().filter_map(|radio| radio.journey.as_ref());
        let maps = journeys.map(|journey| beside(&self.source, &journey.map));
        let traces = self.topology.traces().into_iter().map(|file| beside(&self.source, file));
        let moves = adhoc::trace(&self.topology).map(|file| beside(&self.source, file));
        spectrum.chain(maps).chain(traces).chain(moves).collect()
    }

    /// What is allowed but probably not meant. Empty also for a scenario that [`Self::resolve`] refuses.
    pub fn warnings(&self) -> Vec<ScenarioError> {
        let (experiment, findings) = self.examine();
        if experiment.is_none() || !findings.errors.is_empty() {
            return Vec::new();
        }
        Findings::place(findings.warnings, &self.source)
    }

    fn examine(&self) -> (Option<Experiment>, Findings) {
        let mut findings = Findings::default();
        let experiment = self.build(&mut findings);
        (experiment, findings)
    }

    fn build(&self, findings: &mut Findings) -> Option<Experiment> {
        findings.check_name(&KeyPath::of("name"), &self.name);
        self.check_run(findings);
        let run = self.run.clone();
        adhoc::check_use(self, findings);
        let motion = adhoc::motion(self, findings);
        let network = ResolvedNetwork::build(
            &self.topology,
            &self.source,
            motion.as_ref().map(|it| it.nodes),
            findings,
        );
        // Everything below names nodes and links: without them each would be an error of its own.
        let network = network?;
        let spectrum = self
            .spectrum
            .as_ref()
            .and_then(|it| cognitive::spectrum(it, &self.source, self.area, &run, findings));
        cognitive::check_use(self, findings);
        let adhoc = motion.and_then(|motion| adhoc::build(self, motion, spectrum.as_ref(), &run, findings));
        let radios = radios::build(&self.radio, &self.source, &network, spectrum.as_ref(), &run, findings);
        let train = train::build(self, &network, &radios, &run, findings);
        let flows = flows::build(self, &network, findings);
        let udp = udp::build(self, &network, findings);
        cognitive::check_frames(&radios, spectrum.as_ref(), (&flows, &udp), findings);
        let rows = series_rows(&run, flows.len(), network.links.len());
        if rows > MOST_SERIES_ROWS {
            findings.warn(
                &KeyPath::of("run.sample_interval"),
                format!(
                    "the time series would have {rows} rows; a run that records them (as `cogtcp run` does) takes at \
                     most {MOST_SERIES_ROWS}"
                ),
                "write a longer sample_interval, or record the summary alone (in Python: trace=\"summary\")",
            );
        }
        findings.errors.is_empty().then(|| Experiment {
            name: self.name.clone(),
            run,
            network: NetworkSpec {
                nodes: network.nodes,
                links: network.links,
                adhoc: adhoc.map(Box::new),
                spectrum,
                radios,
            },
            train,
            flows,
            udp,
        })
    }

    fn check_run(&self, findings: &mut Findings) {
        let run = &self.run;
        let path = |key| KeyPath::of("run").key(key);
        let before = findings.errors.len();
        findings.check_span(&path("duration"), run.duration, false, LONGEST);
        if findings.none_since(before) && run.warmup >= run.duration {
            findings.error(
                &path("warmup"),
                format!(
                    "the warm-up (\"{}\") does not end before the run (\"{}\")",
                    run.warmup, run.duration
                ),
                "write a warmup below run.duration, or a longer duration",
            );
        }
        let before = findings.errors.len();
        findings.check_span(&path("sample_interval"), run.sample_interval, false, LONGEST);
        if findings.none_since(before) && points(run) > MOST_POINTS {
            let least = Duration::from_nanos(run.duration.as_nanos().div_ceil(MOST_POINTS));
            findings.error(
                &path("sample_interval"),
                format!(
                    "a sample every \"{}\" for \"{}\" makes {} points; at most {MOST_POINTS} are allowed",
                    run.sample_interval,
                    run.duration,
                    points(run)
                ),
                format!("write at least \"{least}\""),
            );
        }
    }
}

impl Experiment {
    /// The rows of all time series together: one for each flow, each direction of a link and each point in
    /// time.
    pub fn series_rows(&self) -> u64 {
        series_rows(&self.run, self.flows.len(), self.links.len())
    }
}

fn series_rows(run: &Run, flows: usize, links: usize) -> u64 {
    (flows as u64 + 2 * links as u64).saturating_mul(points(run))
}

/// The points of one time series.
fn points(run: &Run) -> u64 {
    run.duration.as_nanos() / run.sample_interval.as_nanos().max(1)
}
