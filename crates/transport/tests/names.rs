//! No control's name appears outside its own files and the registry: what is not there cannot depend on which
//! control runs.

use cogtcp_transport::ControlInfo;
use std::fs;
use std::path::{Path, PathBuf};

/// Rust sources below `folder`, tests, examples and benchmarks apart.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["tests", "examples", "benches", "target"].contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && !["tests.rs", "testing.rs"].contains(&name.as_str()) {
            found.push(path);
        }
    }
}

/// The words of the code: without comments, and without the tests at the end of the file.
fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let code = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    code.filter(|(_, line)| !line.trim_start().starts_with("//")).flat_map(|(index, line)| {
        let line = line.split(" // ").next().unwrap_or(line).replace("::", " ");
        let parts: Vec<String> = line
            .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'))
            .map(str::to_lowercase)
            .collect();
        parts.into_iter().map(move |word| (index + 1, word))
    })
}

/// Whether a file of `congestion/` belongs to the control of this module, or to one that is composed of it by
/// name (`westwood_compound` of `westwood` and `compound`).
fn is_of(below: &Path, module: &str) -> bool {
    let first = below.iter().next().unwrap().to_string_lossy().into_owned();
    let owner = first.trim_end_matches(".rs");
    owner == module
        || (ControlInfo::all().iter().any(|control| control.name.replace('-', "_") == owner)
            && owner.split('_').any(|part| part == module))
}

#[test]
fn no_controls_name_appears_outside_its_file_and_the_registry() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    sources(crates, &mut files);
    assert!(files.len() > 50, "the sources were found");
    let home = crates.join("transport/src/congestion");
    let mut strays = Vec::new();
    let mut seen = 0;
    for path in files {
        // The registry, and the list of modules.
        if path == home.join("registry.rs") || path == crates.join("transport/src/congestion.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for control in ControlInfo::all() {
            let module = control.name.replace('-', "_");
            let own = path.strip_prefix(&home).is_ok_and(|below| is_of(below, &module));
            for (line, word) in words(&text) {
                if word == control.name || word == module {
                    if own {
                        seen += 1;
                    } else {
                        strays.push(format!("{}:{line}: {}", path.display(), control.name));
                    }
                }
            }
        }
    }
    assert!(seen >= ControlInfo::all().len(), "each control names itself: the search works");
    assert!(strays.is_empty(), "control names outside their files:\n{}", strays.join("\n"));
}
