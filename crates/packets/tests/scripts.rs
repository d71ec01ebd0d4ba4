//! Every script of `tests/packets`, and of `tests/packetdrill` in that language, against the model.

use cogtcp_packets::{Script, model};
use std::fs;
use std::path::Path;

#[test]
fn the_model_does_what_the_scripts_say() {
    let folder = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name);
    let inside = |name| fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = ["packets", "packetdrill"].into_iter().flat_map(inside).collect();
    files.sort();
    let only = std::env::var("SCRIPT").unwrap_or_default();
    let mut failures = Vec::new();
    for path in files.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let script =
            Script::parse(&fs::read_to_string(path).unwrap(), &name).unwrap_or_else(|e| panic!("{e}"));
        let report = model::play(&script).unwrap();
        if let Some(differs) = report.mismatch {
            let trace: Vec<_> = report
                .trace
                .iter()
                .map(|line| format!("    {:.6} {}", line.at.as_secs_f64(), line.text))
                .collect();
            failures.push(format!(
                "{name}:{}: {} at {:.6}\n  expected {}\n  got      {}\n{}",
                differs.line,
                differs.what,
                differs.at.as_secs_f64(),
                differs.expected,
                differs.got,
                trace.join("\n")
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
