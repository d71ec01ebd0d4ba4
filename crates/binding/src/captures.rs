//! Captures as columns.

use crate::buffer::Buffer;
use crate::run::Run;
use cogtcp_captures::pcapng::{self, RAW_IP, WrittenPacket};
use cogtcp_captures::{About, Data, Error, Frames, Limits, Pieces, Point, Read, Tables, Values};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a file begins as a capture, or as a packed file that may hold one.
#[pyfunction]
pub(crate) fn is_capture(head: &[u8]) -> bool {
    cogtcp_captures::is_capture(head)
}

fn failed(path: &Path, error: &Error) -> PyErr {
    match error {
        // The system's own words, without the number that Rust adds.
        Error::Io(cause) => PyOSError::new_err((
            cause.raw_os_error(),
            cause.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
            path.display().to_string(),
        )),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Reads captures together. Returns the columns of TCP packets, echoes and datagrams, and counts by file.
#[pyfunction]
#[pyo3(signature = (files, rows, /, *, copies = false))]
pub(crate) fn read_captures(
    py: Python<'_>,
    files: Vec<PathBuf>,
    rows: usize,
    copies: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let limits = Limits { rows, copies, ..Limits::default() };
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let found = py
        .detach(|| cogtcp_captures::read_files(&paths, limits))
        .map_err(|(number, error)| failed(&files[number], &error))?;
    dictionary(py, found)
}

fn dictionary(py: Python<'_>, found: Read) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    macro_rules! columns {
        ($name:literal, $rows:expr, $($column:ident),*) => {{
            let rows = $rows;
            let columns = PyDict::new(py);
            $(columns.set_item(stringify!($column), Py::new(py, Buffer::from(rows.$column))?)?;)*
            result.set_item($name, columns)?;
        }};
    }
    columns!(
        "packets",
        found.packets,
        time,
        order,
        file,
        connection,
        forward,
        seq,
        ack,
        flags,
        payload,
        size,
        window,
        scale,
        mss,
        stamped,
        tsval,
        tsecr,
        sack_row,
        sack_low,
        sack_high
    );
    columns!("echoes", found.echoes, time, order, file, connection, forward, reply, key, size);
    columns!("datagrams", found.datagrams, time, file, connection, forward, first, payload, size);
    result.set_item("ports", found.ports)?;
    result.set_item("others", found.others)?;
    result.set_item("frames", found.frames)?;
    result.set_item("copies", found.copies)?;
    result.set_item("cut", found.cut)?;
    result.set_item("full", found.full)?;
    Ok(result)
}

/// The frames of a capture as they are: time in ns, link type, first bytes, length on the wire.
#[pyclass(module = "cogtcp._core", unsendable)]
pub(crate) struct CaptureFrames {
    frames: Frames<Box<dyn std::io::Read>>,
    path: PathBuf,
}

/// Time in nanoseconds, link type, captured bytes and length on the wire of one frame.
type CapturedFrame<'py> = (i64, u16, Bound<'py, PyBytes>, u32);

#[pymethods]
impl CaptureFrames {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let frames =
            cogtcp_captures::open(&path).and_then(Frames::new).map_err(|error| failed(&path, &error))?;
        Ok(CaptureFrames { frames, path })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<CapturedFrame<'py>>> {
        let found = self.frames.next_frame().map_err(|error| failed(&self.path, &error))?;
        Ok(found.map(|each| (each.time, each.link, PyBytes::new(py, &each.data), each.length)))
    }
}

/// The bytes of a capture that is being made, piece by piece.
#[pyclass(module = "cogtcp._core", unsendable)]
pub(crate) struct CapturePieces(Pieces);

#[pymethods]
impl CapturePieces {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.next().map(|piece| PyBytes::new(py, &piece))
    }
}

/// A column whose values Python holds.
struct Held {
    values: Py<Buffer>,
    dictionary: Vec<String>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

impl Values for Held {
    fn data(&self) -> Data<'_> {
        self.values.get().data(&self.dictionary)
    }
}

type Column = (String, String, String, String, Py<Buffer>, Option<Vec<String>>);

/// Returns the capture of a run at the node of a link, or over the air; None if no packets were recorded.
#[pyfunction]
pub(crate) fn write_capture(
    py: Python<'_>,
    run: &Run,
    about: (String, String),
    place: (String, String, String),
) -> PyResult<Option<CapturePieces>> {
    let mut tables = Tables::new();
    for table in run.tables(py) {
        let (name, _, _, columns) =
            table
                .cast::<PyTuple>()?
                .extract::<(String, Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        if !cogtcp_captures::TABLES.contains(&name.as_str()) {
            continue;
        }
        let mut held: std::collections::BTreeMap<String, Arc<dyn Values>> = Default::default();
        for column in columns.try_iter()? {
            let (name, _, _, _, values, dictionary): Column = column?.extract()?;
            held.insert(name, Arc::new(Held { values, dictionary: dictionary.unwrap_or_default() }));
        }
        tables.insert(name, held);
    }
    let about = About { application: about.0, comment: about.1 };
    let point = Point { link: place.0, node: place.1, outgoing: place.2 };
    Ok(cogtcp_captures::write(&tables, &about, &point).map(CapturePieces))
}

/// Returns the head of a capture of IP packets at one interface, in pcapng.
#[pyfunction]
pub(crate) fn capture_head<'py>(
    py: Python<'py>,
    about: (String, String),
    interface: (String, String),
    longest: u32,
) -> Bound<'py, PyBytes> {
    let mut out = Vec::new();
    pcapng::section_header(&mut out, &about.0, &about.1);
    pcapng::interface(&mut out, &interface.0, &interface.1, longest, RAW_IP);
    PyBytes::new(py, &out)
}

/// Returns the block of a packet in pcapng.
#[pyfunction]
pub(crate) fn capture_packet<'py>(
    py: Python<'py>,
    time: u64,
    data: &[u8],
    length: u32,
    outgoing: bool,
    comments: Vec<String>,
) -> Bound<'py, PyBytes> {
    let mut out = Vec::new();
    let packet =
        WrittenPacket { interface: 0, time, data, length, outgoing: Some(outgoing), comments: &comments };
    pcapng::packet(&mut out, &packet);
    PyBytes::new(py, &out)
}
