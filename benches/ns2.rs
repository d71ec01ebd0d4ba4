//! ns-2 beside a benchmark: runs here and there in turn, so that a busy machine disturbs both alike.

use std::process::Command;
use std::time::Instant;

/// What pairs of runs came to: least and most.
pub(crate) struct Pairs {
    /// Processor time of ns-2, a whole process, s.
    pub(crate) theirs: (f64, f64),
    /// That time over ours.
    pub(crate) ratio: (f64, f64),
    /// What the last run of ns-2 printed.
    pub(crate) output: String,
}

/// Runs `ours`, which returns its processor time in seconds, and ns-2 with `script` and `arguments`, so many times in turn.
/// The error says why there are none.
pub(crate) fn pairs(
    count: u32,
    script: &str,
    arguments: &[String],
    mut ours: impl FnMut() -> f64,
) -> Result<Pairs, String> {
    let (mut theirs, mut ratios, mut printed) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..count {
        let own = ours();
        let (start, before) = (Instant::now(), children_seconds());
        let output = Command::new("ns").arg(script).args(arguments).output();
        let output = output.map_err(|_| "no `ns` on the PATH".to_owned())?;
        if !output.status.success() {
            return Err(format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let wall = start.elapsed().as_secs_f64();
        let spent = children_seconds().zip(before).map_or(wall, |(end, start)| end - start);
        theirs.push(spent);
        ratios.push(spent / own);
        printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    }
    Ok(Pairs { theirs: range(&theirs), ratio: range(&ratios), output: printed })
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0), |(least, most), value| (value.min(least), value.max(most)))
}

/// Processor time of the child processes that have ended, in steps of 10 ms, as Linux tells it.
fn children_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in brackets: cutime and cstime are the fields 16 and 17 of all.
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = fields.get(13..15)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Some(ticks / 100.0)
}
