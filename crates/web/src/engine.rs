//! From requests to answers.

use crate::answer::Columns;
use crate::capture;
use crate::episode::Episode;
use crate::failure::Failure;
use crate::parquet;
use crate::request::{Given, LabRequest, Trace};
use crate::statistics;
use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, STARTERS, Scenario, ScenarioError};
use cogtcp_simulator::{ControlFactory, RunOptions};
use cogtcp_units::Time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Told now and then how far a run is, in simulated time.
pub type Watch = Arc<dyn Fn(Time) + Send + Sync>;

/// How a caller looks into a run and ends it. The default does neither.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Told how far the run is.
    pub watch: Option<Watch>,
    /// Raised by another thread to end the run.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Congestion controls from outside, where there are any.
    pub outside: Option<Outside>,
}

/// Congestion controls that are in no registry: classes in Python.
#[derive(Clone)]
pub struct Outside {
    /// Their names. A scenario that names any other is refused.
    pub names: BTreeSet<String>,
    /// Builds the control of every flow.
    pub factory: Arc<dyn ControlFactory>,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks")
            .field("watch", &self.watch.is_some())
            .field("cancel", &self.cancel)
            .field("outside", &self.outside)
            .finish()
    }
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside").field("names", &self.names).finish_non_exhaustive()
    }
}

/// The engine: without state but for the episode that is under way.
#[derive(Debug, Default)]
pub struct Engine {
    episode: Option<Episode>,
}

impl Engine {
    /// Answers a request. What is wrong stands in the answer, under `error`.
    pub fn ask(&mut self, request: &str, hooks: Hooks) -> Vec<u8> {
        let mut columns = Columns::default();
        let answer = serde_json::from_str(request)
            .map_err(|error| Failure::Request(format!("this is not a request: {error}")))
            .and_then(|request| self.answer(request, hooks, &mut columns));
        match answer {
            Ok(said) => columns.finish(&said),
            // Again: the columns of a request that failed are not announced.
            Err(failure) => Columns::default().finish(&json!({ "error": described(failure) })),
        }
    }

    fn answer(&mut self, request: LabRequest, hooks: Hooks, columns: &mut Columns) -> Result<Value, Failure> {
        match request {
            LabRequest::About {} => Ok(about()),
            LabRequest::Schema {} => Ok(Scenario::json_schema()),
            LabRequest::Starter { kind } => Ok(json!({ "text": cogtcp_scenario::starter(&kind)? })),
            LabRequest::Check { scenario } => check(&scenario, &hooks),
            LabRequest::Place { text, path } => {
                let place = cogtcp_scenario::toml_place(&text, &path).filter(|place| place.fault.is_none());
                Ok(json!({ "line": place.as_ref().map(|at| at.line), "column": place.map(|at| at.column) }))
            }
            LabRequest::Run { scenario, seed, trace, tables } => {
                run(&scenario, seed, trace, tables.as_deref(), hooks, columns)
            }
            LabRequest::Capture { scenario, seed, point } => {
                capture::answer(played(&scenario, seed, Trace::Packets, hooks)?, point, columns)
            }
            LabRequest::Parquet { runs, seed, table, metadata } => {
                let made = runs
                    .into_iter()
                    .map(|(name, given)| Ok((name, played(&given, seed, Trace::Full, hooks.clone())?)))
                    .collect::<Result<_, Failure>>()?;
                parquet::answer(made, &table, &metadata, columns)
            }
            LabRequest::Statistics { of } => Ok(Value::Array(of.iter().map(statistics::answer).collect())),
            LabRequest::Episode { scenario, seed, flow, radio } => {
                let experiment = Arc::new(resolved(&scenario, &Hooks::default())?.1);
                let episode = Episode::new(experiment, seed, flow, radio.as_deref())?;
                Ok(self.episode.insert(episode).view())
            }
            LabRequest::StepWindow { window, span_s } => self.step(|episode| episode.window(window, span_s)),
            LabRequest::StepSensing { sensing_s, transmission_s } => {
                self.step(|episode| episode.sensing(sensing_s, transmission_s))
            }
        }
    }

    fn step(&mut self, step: impl FnOnce(&mut Episode) -> Result<Value, Failure>) -> Result<Value, Failure> {
        let none = || Failure::Request("there is no episode; begin one with \"episode\"".to_owned());
        step(self.episode.as_mut().ok_or_else(none)?)
    }
}

fn about() -> Value {
    let tables: Vec<Value> = cogtcp_records::schema()
        .iter()
        .map(|table| {
            let columns: Vec<Value> = table
                .columns
                .iter()
                .map(|c| json!({ "name": c.name, "kind": c.kind.name(), "unit": c.unit, "meaning": c.meaning }))
                .collect();
            json!({ "name": table.name, "meaning": table.meaning, "columns": columns })
        })
        .collect();
    let transports = cogtcp_scenario::all_transports();
    json!({
        "version": env!("CARGO_PKG_VERSION"), "schema": cogtcp_scenario::SCENARIO_SCHEMA,
        "transports": transports, "starters": STARTERS, "tables": tables,
    })
}

fn read(given: &Given) -> Result<Scenario, Failure> {
    let files = Arc::new(given.files.clone());
    let mut scenario = Scenario::parse_with_files(&given.text, &given.file, files)?;
    for (path, value) in &given.set {
        scenario = scenario.set(path, value)?;
    }
    if let Some(transport) = &given.transport {
        scenario = scenario.with_transport(transport)?;
    }
    Ok(scenario)
}

fn resolved(given: &Given, hooks: &Hooks) -> Result<(Scenario, Experiment), Failure> {
    let scenario = read(given)?;
    let is_here = |name: &str| hooks.outside.as_ref().is_some_and(|outside| outside.names.contains(name));
    if let Err(mut error) = scenario.check_external(is_here) {
        // What is not here cannot be allowed by an option of the command line.
        let names: Vec<String> =
            scenario.external_controls().into_iter().filter(|name| !is_here(name)).collect();
        error.message = format!("\"{}\" is a congestion control written in Python", names.join("\", \""));
        error.remedy = "a page cannot run it; install cogtcp with pip and open the scenario there: \
            cogtcp lab FILE --allow-python"
            .into();
        return Err(error.into());
    }
    let experiment = scenario.resolve()?;
    Ok((scenario, experiment))
}

fn check(given: &Given, hooks: &Hooks) -> Result<Value, Failure> {
    let (scenario, experiment) = resolved(given, hooks)?;
    let values: Value = serde_json::from_str(&scenario.to_json())
        .map_err(|error| Failure::Request(format!("a scenario is JSON: {error}")))?;
    Ok(json!({
        "name": scenario.name, "description": scenario.description, "seed": scenario.run.seed.get(),
        "toml": scenario.to_toml(), "values": values, "random": experiment.is_random(),
        "duration_s": experiment.run.duration.as_secs_f64(),
        "warnings": scenario.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
    }))
}

fn played(given: &Given, seed: Option<u64>, trace: Trace, hooks: Hooks) -> Result<Run, Failure> {
    let (_, experiment) = resolved(given, &hooks)?;
    let Hooks { watch, cancel, outside } = hooks;
    let controls = outside.map(|outside| outside.factory);
    let options = RunOptions { seed, trace: trace.into(), watch, cancel, controls };
    Ok(cogtcp_simulator::run(&experiment, &options)?)
}

fn run(
    given: &Given,
    seed: Option<u64>,
    trace: Trace,
    wanted: Option<&[String]>,
    hooks: Hooks,
    columns: &mut Columns,
) -> Result<Value, Failure> {
    let run = played(given, seed, trace, hooks)?;
    let is_wanted = |name: &str| wanted.is_none_or(|names| names.iter().any(|wanted| wanted == name));
    let tables: Vec<Value> =
        run.tables().filter(|table| is_wanted(table.name)).map(|table| columns.add(table)).collect();
    // The digest goes as text: numbers of JavaScript hold 53 bits.
    Ok(json!({
        "name": run.name, "seed": run.seed, "duration_s": run.duration_s, "warmup_s": run.warmup_s,
        "fairness": run.fairness, "digest": format!("{:016x}", run.digest),
        "engine_events": run.engine_events, "packet_hops": run.packet_hops, "tables": tables,
    }))
}

fn described(failure: Failure) -> Value {
    match failure {
        Failure::Request(message) => json!({ "kind": "request", "message": message, "text": message }),
        Failure::Run(message) => json!({ "kind": "run", "message": message, "text": message }),
        Failure::Scenario(error) => of_scenario(&error),
    }
}

fn of_scenario(error: &ScenarioError) -> Value {
    json!({
        "kind": "scenario", "message": error.message, "file": error.file, "line": error.line, "column": error.column,
        "field": error.field, "remedy": error.remedy, "excerpt": error.excerpt, "text": error.to_string(),
        "more": error.more.iter().map(of_scenario).collect::<Vec<_>>(),
    })
}
