//! Every script of `tests/packets`, `tests/packetdrill` and `tests/rfc9293` (but for its folder `sim`) against
//! the kernel of this machine. A program of its own and not a test of the harness: what it does with namespaces
//! takes a process with one thread.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    use cogtcp_emulator::{DeviceKind, play_scripts};
    use cogtcp_packet_scripts::Script;
    use std::fs;
    use std::path::Path;

    let folder = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name);
    let inside = |name| fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = ["packets", "packetdrill", "rfc9293"].into_iter().flat_map(inside).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pkt"));
    files.sort();
    let only = std::env::var("SCRIPT").unwrap_or_default();
    files.retain(|path| path.to_string_lossy().contains(&only));
    let scripts: Vec<_> = files
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            Script::parse(&fs::read_to_string(path).unwrap(), &name).unwrap_or_else(|error| panic!("{error}"))
        })
        .collect();
    let parent = std::os::unix::process::parent_id();
    let played = match play_scripts(&scripts, DeviceKind::Any, parent as i32) {
        Ok(played) => played,
        Err(error) if error.lacks_plane() => {
            println!("skipped, no kernel plane here: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut failed = 0;
    for (script, played) in scripts.iter().zip(played) {
        let played = played.unwrap_or_else(|error| panic!("{}: {error}", script.file));
        let Some(differs) = &played.report.mismatch else { continue };
        let file = &script.file;
        let late = played.report.lateness.as_secs_f64();
        if !played.is_evidence {
            println!("{file}: skipped, the machine fell behind by {late} s");
            continue;
        }
        failed += 1;
        println!("{file}:{}: {} at {:.6} s", differs.line, differs.what, differs.at.as_secs_f64());
        println!("  expected {}\n  got      {}", differs.expected, differs.got);
        for line in &played.report.trace {
            println!("    {:.6} {}", line.at.as_secs_f64(), line.text);
        }
    }
    println!("{} scripts on the kernel, {failed} differ", scripts.len());
    std::process::exit(i32::from(failed > 0));
}
