//! Files: the scenario itself, and what it names. Every one is read with a bound on its size.

use crate::resolve::Findings;
use crate::source::{Source, line_and_column};
use crate::tree;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Why a file gave no text.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The fault, to follow the file's name.
    pub(crate) message: String,
    /// What would be right, where the reason tells.
    pub(crate) remedy: &'static str,
    /// Line and column of what is wrong in it.
    pub(crate) at: Option<(usize, usize)>,
}

impl Unreadable {
    fn new(message: impl Into<String>, remedy: &'static str) -> Self {
        Self { message: message.into(), remedy, at: None }
    }
}

/// Where a file is that the scenario of `source` names: relative to the scenario's own.
pub(crate) fn beside(source: &Source, file: &str) -> PathBuf {
    Path::new(&*source.file).parent().unwrap_or_else(|| Path::new("")).join(file)
}

/// Name and text of a file that the scenario of `source` names at `path`, of at most `most` bytes; reports
/// why there is none.
pub(crate) fn read_beside(
    source: &Source,
    file: &str,
    most: u64,
    path: &tree::KeyPath,
    findings: &mut Findings,
) -> Option<(String, String)> {
    let place = beside(source, file);
    let name = place.display().to_string();
    let (found, by_default) = match &source.given {
        Some(given) => (
            among(given, file, most),
            "add the file: here scenarios have the files that were given with them",
        ),
        None => (read_named(&place, most), "check the path: it is relative to the scenario file"),
    };
    let text = found.map_err(|why| {
        let remedy = if why.remedy.is_empty() { by_default } else { why.remedy };
        findings.error(path, format!("\"{name}\": {}", why.message), remedy);
    });
    text.ok().map(|text| (name, text))
}

/// What is wrong at a line of a file that a scenario names, with a word of the file or without.
///
/// Errors end in results, which users publish, and the author of a scenario can name any file. So a word is
/// quoted only from a file that began as the kind of file that it should be.
pub(crate) fn told(
    name: &str,
    text: &str,
    line: usize,
    quoted: impl std::fmt::Display,
    unquoted: impl std::fmt::Display,
) -> String {
    let is_data = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if text.lines().take(line.saturating_sub(1)).any(is_data) {
        format!("{name}:{line}: {quoted}")
    } else {
        format!("{name}:{line}: {unquoted}")
    }
}

/// The text of the file called `name` among those given with the scenario, of at most `most` bytes.
fn among(given: &BTreeMap<String, String>, name: &str, most: u64) -> Result<String, Unreadable> {
    match given.get(name) {
        None => Err(Unreadable::new("no such file", "")),
        Some(text) if text.len() as u64 > most => Err(too_large(most, "take a part of it")),
        Some(text) => Ok(text.clone()),
    }
}

/// The text of a file that a scenario names, of at most `most` bytes.
///
/// The author of a scenario chooses the name, so the name must be a regular file's. A device has no end, and
/// a named pipe may wait for its writer for ever.
fn read_named(path: &Path, most: u64) -> Result<String, Unreadable> {
    let metadata = std::fs::metadata(path).map_err(|error| refused(&error))?;
    if metadata.is_dir() {
        return Err(Unreadable::new("cannot be read: it is a folder", "name a file"));
    }
    if !metadata.is_file() {
        return Err(Unreadable::new("cannot be read: it is not a regular file", "name a regular file"));
    }
    read(path, most, "take a part of it")
}

/// The text of a file that the user names, of at most `most` bytes. It may be a pipe that is open already:
/// standard input, or the shell's `<(...)`. A named pipe would wait for its writer for ever.
pub(crate) fn read_given(path: &Path, most: u64, remedy: &'static str) -> Result<String, Unreadable> {
    if path.is_dir() {
        return Err(Unreadable::new("is a folder", "name a file in it"));
    }
    let open = ["/dev/stdin", "/dev/fd", "/proc"].iter().any(|place| path.starts_with(place));
    if !open && is_named_pipe(path) {
        return Err(Unreadable::new(
            "cannot be read: it is a named pipe",
            "name a regular file, or /dev/stdin for standard input",
        ));
    }
    read(path, most, remedy)
}

#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}

fn read(path: &Path, most: u64, remedy: &'static str) -> Result<String, Unreadable> {
    let file = File::open(path).map_err(|error| refused(&error))?;
    let mut bytes = Vec::new();
    // One byte more tells a file that is too large from one that is just not.
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    if bytes.len() as u64 > most {
        return Err(too_large(most, remedy));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let at = Some(line_and_column(&before, valid));
        Unreadable { at, ..Unreadable::new("is not UTF-8 text", "save it as UTF-8, or name a text file") }
    })
}

fn too_large(most: u64, remedy: &'static str) -> Unreadable {
    let message = match most {
        0..1_000_000 => format!("is larger than {most} bytes"),
        _ => format!("is larger than {} MB", most / 1_000_000),
    };
    Unreadable::new(message, remedy)
}

fn refused(error: &std::io::Error) -> Unreadable {
    match error.kind() {
        ErrorKind::NotFound => Unreadable::new("no such file", ""),
        ErrorKind::PermissionDenied => {
            Unreadable::new("cannot be read: permission denied", "allow it to be read")
        }
        _ => {
            // Without the number that the standard library adds: "(os error 40)".
            let text = error.to_string();
            let reason = text.split(" (os error").next().unwrap_or(&text);
            Unreadable::new(format!("cannot be read: {reason}"), "")
        }
    }
}
