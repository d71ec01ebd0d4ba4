//! Every script of `tests/packets`, `tests/packetdrill` and `tests/rfc9293` against the model.

use cogtcp_packet_scripts::{Script, model};
use std::fs;
use std::path::{Path, PathBuf};

/// The scripts, in the order of their paths.
pub(crate) fn files() -> Vec<PathBuf> {
    let folder = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name);
    let inside = |name| fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        ["packets", "packetdrill", "rfc9293", "rfc9293/sim"].into_iter().flat_map(inside).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pkt"));
    files.sort();
    files
}

#[test]
fn the_model_does_what_the_scripts_say() {
    let files = files();
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

/// Of packetdrill's scripts the tolerance is packetdrill's: 4 ms and 12.5 % of the wait, or what the script
/// says. The timer of RACK ends after 25 + 2 ms, at the next tick of a kernel with 1000 a second: 28 ms.
#[test]
fn the_tolerance_is_the_scripts_own() {
    let says = |option: &str, time: &str| {
        let text = format!(
            "{option}
            0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 bind(3, ..., ...) = 0
            +0 listen(3, 1) = 0
            +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>
            +0 > S. 0:0(0) ack 1 <...>
            +.1 < . 1:1(0) ack 1 win 320
            +0 accept(3, ..., ...) = 4
            +0 write(4, ..., 4000) = 4000
            +0 > P. 1:4001(4000) ack 1
            +.1 < . 1:1(0) ack 1 win 320 <sack 3001:4001,nop,nop>
            {time} > . 1:1001(1000) ack 1"
        );
        let script = Script::parse(&text, "a.pkt").unwrap();
        model::play(&script).unwrap().mismatch.map(|differs| differs.what)
    };
    assert_eq!(says("", "+.025"), None);
    assert_eq!(says("", "+.031"), None);
    assert_eq!(says("", "+.023").unwrap(), "no packet came within 0.027 s");
    assert_eq!(says("", "+.040").unwrap(), "0.012 s before its time");
    assert_eq!(says("--tolerance_usecs=12000", "+.040"), None);
}
