//! Packet scripts on both planes.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::located_error;
use cogtcp_packet_scripts::{Report, Script, ScriptError, model};

/// Scripts as pairs of file and text.
type Texts = Vec<(String, String)>;

fn parsed(py: Python<'_>, texts: &Texts) -> PyResult<Vec<Script>> {
    let read =
        |(file, text): &(String, String)| Script::parse(text, file).map_err(|error| raised(py, &error, text));
    texts.iter().map(read).collect()
}

fn raised(py: Python<'_>, error: &ScriptError, text: &str) -> PyErr {
    located_error(py, &error.file, error.line, &error.message, text)
}

/// The outcome of a script, as plain data.
fn outcome<'py>(
    py: Python<'py>,
    script: &Script,
    report: &Report,
    is_evidence: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("file", &script.file)?;
    dict.set_item("about", &script.about)?;
    dict.set_item("plane", report.plane.name())?;
    let verdict = match (&report.mismatch, is_evidence) {
        (None, _) => "agrees",
        (Some(_), true) => "differs",
        // A plane that was late itself proves nothing against the kernel.
        (Some(_), false) => "late",
    };
    dict.set_item("verdict", verdict)?;
    dict.set_item("took_s", report.took.as_secs_f64())?;
    dict.set_item("lateness_s", report.lateness.as_secs_f64())?;
    let mismatch = report.mismatch.as_ref().map(|differs| -> PyResult<_> {
        let found = PyDict::new(py);
        found.set_item("line", differs.line)?;
        found.set_item("time_s", differs.at.as_secs_f64())?;
        found.set_item("what", &differs.what)?;
        found.set_item("expected", &differs.expected)?;
        found.set_item("got", &differs.got)?;
        Ok(found)
    });
    dict.set_item("mismatch", mismatch.transpose()?)?;
    let trace: Vec<_> = report.trace.iter().map(|line| (line.at.as_secs_f64(), line.text.clone())).collect();
    dict.set_item("trace", trace)?;
    dict.set_item("error", py.None())?;
    Ok(dict)
}

/// Of a script that the kernel cannot play, as plain data.
#[cfg(target_os = "linux")]
fn failure<'py>(py: Python<'py>, script: &Script, error: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("file", &script.file)?;
    dict.set_item("about", &script.about)?;
    dict.set_item("plane", "kernel")?;
    dict.set_item("verdict", "error")?;
    for name in ["took_s", "lateness_s"] {
        dict.set_item(name, 0.0)?;
    }
    dict.set_item("mismatch", py.None())?;
    dict.set_item("trace", Vec::<(f64, String)>::new())?;
    dict.set_item("error", error)?;
    Ok(dict)
}

/// Why a script asks for something that no plane has, with its line, or nothing: it can be played, or has an
/// error.
#[pyfunction]
pub(crate) fn packet_script_beyond(file: &str, text: &str) -> Option<String> {
    Script::parse(text, file).err().filter(|error| error.is_out_of_scope).map(|error| error.to_string())
}

/// What a script is about, and its differences: line and reason.
type About = (String, Vec<(usize, String)>);

/// Checks scripts, and returns of each what it is about and in what it says that the planes differ (line and
/// reason).
#[pyfunction]
pub(crate) fn check_packet_scripts(py: Python<'_>, texts: Texts) -> PyResult<Vec<About>> {
    Ok(parsed(py, &texts)?.into_iter().map(|script| (script.about, script.differences)).collect())
}

/// Plays scripts: on the model, or, with the process that is to be outlived, on the kernel, which takes the
/// process for itself, on devices of this kind.
#[pyfunction]
#[pyo3(signature = (texts, parent, device = "any"))]
pub(crate) fn play_packet_scripts<'py>(
    py: Python<'py>,
    texts: Texts,
    parent: Option<i32>,
    device: &str,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let scripts = parsed(py, &texts)?;
    if let Some(parent) = parent {
        return on_kernel(py, &scripts, device, parent);
    }
    let play = |(script, (_, text)): (&Script, &(String, String))| {
        let report = model::play(script).map_err(|error| raised(py, &error, text))?;
        outcome(py, script, &report, true)
    };
    scripts.iter().zip(&texts).map(play).collect()
}

#[cfg(target_os = "linux")]
fn on_kernel<'py>(
    py: Python<'py>,
    scripts: &[Script],
    device: &str,
    parent: i32,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let kind = crate::emulation::device_kind(device);
    let played = py.detach(|| cogtcp_emulator::play_scripts(scripts, kind, parent));
    let played = played.map_err(|error| crate::emulation::raised(py, &error))?;
    let show =
        |(script, played): (&Script, Result<cogtcp_emulator::Played, cogtcp_emulator::EmulationError>)| {
            match played {
                Ok(cogtcp_emulator::Played { report, is_evidence }) => {
                    outcome(py, script, &report, is_evidence)
                }
                Err(error) => failure(py, script, &error.to_string()),
            }
        };
    scripts.iter().zip(played).map(show).collect()
}

#[cfg(not(target_os = "linux"))]
fn on_kernel<'py>(py: Python<'py>, _: &[Script], _: &str, _: i32) -> PyResult<Vec<Bound<'py, PyDict>>> {
    Err(crate::errors::no_plane_error(
        py,
        "the kernel plane needs Linux; elsewhere a virtual machine with Linux runs it",
    ))
}
