//! Runs here and of another simulator in turn, so that a busy machine disturbs both alike.

use std::fmt;
use std::process::Command;
use std::time::Instant;

/// What a run cost, and what it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Processor time, s.
    pub(crate) seconds: f64,
    /// Packets, or packet hops.
    pub(crate) work: f64,
}

/// Costs of runs in pairs: theirs, ours.
#[derive(Debug)]
pub(crate) struct Pairs(Vec<(Cost, Cost)>);

impl Pairs {
    /// Runs both in turn, `count` times. The error says why the other simulator does not run.
    pub(crate) fn take(
        count: u32,
        mut theirs: impl FnMut() -> Result<Cost, String>,
        mut ours: impl FnMut() -> Cost,
    ) -> Result<Self, String> {
        (0..count).map(|_| Ok((theirs()?, ours()))).collect::<Result<_, _>>().map(Self)
    }

    /// Their processor time, s.
    pub(crate) fn theirs(&self) -> Range {
        self.range(|theirs, _| theirs.seconds)
    }

    /// Our processor time, s.
    pub(crate) fn ours(&self) -> Range {
        self.range(|_, ours| ours.seconds)
    }

    /// Their work over ours.
    pub(crate) fn work(&self) -> Range {
        self.range(|theirs, ours| theirs.work / ours.work)
    }

    /// Their processor time over ours.
    pub(crate) fn whole(&self) -> Range {
        self.range(|theirs, ours| theirs.seconds / ours.seconds)
    }

    /// Their processor time over ours for the same work, without `start` seconds of theirs before the simulation.
    pub(crate) fn for_work(&self, start: f64) -> Range {
        self.range(|theirs, ours| (theirs.seconds - start) / theirs.work / (ours.seconds / ours.work))
    }

    /// Any quantity of a pair.
    pub(crate) fn range(&self, value: impl Fn(Cost, Cost) -> f64) -> Range {
        let mut values: Vec<f64> = self.0.iter().map(|(theirs, ours)| value(*theirs, *ours)).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        Range {
            least: values[0],
            median: (values[last / 2] + values[last.div_ceil(2)]) / 2.0,
            most: values[last],
        }
    }
}

/// Least, median and most. Shown as "median (least to most)", with two decimals unless a precision is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    least: f64,
    pub(crate) median: f64,
    most: f64,
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, median, most } = self;
        let (digits, width) = (out.precision().unwrap_or(2), out.width().unwrap_or(0));
        let text = format!("{median:.digits$} ({least:.digits$} to {most:.digits$})");
        write!(out, "{text:<width$}")
    }
}

/// Runs a program. Returns its processor time in seconds and its output, or why it did not run.
pub(crate) fn process(command: &mut Command) -> Result<(f64, String), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let (start, before) = (Instant::now(), children_seconds());
    let output = command.output().map_err(|error| format!("cannot start `{name}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let wall = start.elapsed().as_secs_f64();
    let spent = children_seconds().zip(before).map_or(wall, |(end, start)| end - start);
    Ok((spent, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Processor time of the child processes that have ended, s.
#[cfg(unix)]
fn children_seconds() -> Option<f64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` has the size and the layout that getrusage writes.
    let usage = unsafe {
        match libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) {
            0 => usage.assume_init(),
            _ => return None,
        }
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Some(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(not(unix))]
fn children_seconds() -> Option<f64> {
    None
}
