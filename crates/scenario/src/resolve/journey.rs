//! A train's journey, and its map file.

use super::Findings;
use crate::files::read_beside;
use crate::limits::{LARGEST_MAP, LONGEST, MOST_MEASUREMENTS};
use crate::source::Source;
use crate::tree::KeyPath;
use crate::{Journey, JourneyMap, JourneyRate, JourneySpec, Run, ScenarioError};
use std::sync::Arc;

/// What is wrong with a map. A file that is no map is not quoted: it may be anybody's (see `files::told`).
fn map_error(error: &ScenarioError) -> String {
    let is_other = |error: &ScenarioError| {
        error.message.starts_with("this is not TOML")
            || (error.message.starts_with("unknown key") && !error.field.contains('.'))
    };
    if std::iter::once(error).chain(&error.more).any(is_other) {
        let line = error.line.map_or(1, std::num::NonZeroU32::get);
        return format!("{}:{line}: this is no map of a line; `cogtcp journey show` says more", error.file);
    }
    let more = match error.more.len() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("the map has an error: {error}{more}")
}

/// The journey of a radio, its map read from where `source` is.
pub(super) fn journey(
    journey: &Journey,
    source: &Source,
    path: &KeyPath,
    run: &Run,
    findings: &mut Findings,
) -> Option<JourneySpec> {
    findings.check_span(&path.key("start"), journey.start, true, LONGEST);
    let path = path.key("map");
    let (name, text) = read_beside(source, &journey.map, LARGEST_MAP, &path, findings)?;
    let line = JourneyMap::parse(&text, &name).and_then(|map| map.line());
    let mut line = match line {
        Ok(line) => line,
        Err(error) => {
            findings.error(&path, map_error(&error), "");
            return None;
        }
    };
    if journey.rate == JourneyRate::Own {
        line.signal.rates.clear();
    }
    let measurements = run.duration.as_nanos() / line.signal.interval.as_nanos().max(1);
    if measurements > MOST_MEASUREMENTS {
        let message = format!(
            "the map's radio would measure {measurements} times in the run; at most {MOST_MEASUREMENTS} are allowed"
        );
        findings.error(
            &path,
            message,
            "write a longer signal.interval in the map, or a shorter run.duration",
        );
    }
    Some(JourneySpec { line: Arc::new(line), start: journey.start })
}
