//! The spectrum: channels and primary users, from the scenario and from files beside it.

use super::position;
use crate::files::{beside, read_beside, told};
use crate::limits::{LARGEST_LOG, MOST_CHANNELS, MOST_POINTS};
use crate::resolve::Findings;
use crate::source::Source;
use crate::tree::KeyPath;
use crate::{
    AreaSize, Channels, Coordinates, Crowd, Run, Spectrum, SpectrumSpec, TraceModel, TraceOfUsers, Users,
    UsersSpec,
};
use cogtcp_mobility::Area;
use cogtcp_spectrum::activity::{ActivityLaw, PuSpec, Reach};
use cogtcp_spectrum::logs::occupancy::{self, Occupancy, Reading};
use cogtcp_spectrum::logs::{LogError, ch_log, pu_log, released};
use cogtcp_spectrum::propagation::Propagation;
use cogtcp_spectrum::{Channel, ChannelTable, PuActivity};
use cogtcp_units::Length;
use std::path::PathBuf;

/// The channels and users of `spectrum`, with files relative to where `source` is.
pub(in crate::resolve) fn spectrum(
    spectrum: &Spectrum,
    source: &Source,
    area: Option<AreaSize>,
    run: &Run,
    findings: &mut Findings,
) -> Option<SpectrumSpec> {
    let path = KeyPath::of("spectrum");
    let before = findings.errors.len();
    if !(1.0..=10.0).contains(&spectrum.attenuation) {
        let message = format!("an attenuation factor of {} is out of range", spectrum.attenuation);
        findings.error(
            &path.key("attenuation"),
            message,
            "write 1 to 10: 2 in free space, 3 to 4 over ground",
        );
    }
    let channels = channels(spectrum, source, &path, findings);
    let users = users(spectrum, channels.as_ref(), source, run, &path.key("pu"), findings);
    let scattered = scattered(spectrum, area, &path.key("pu"), findings);
    warn_of_one_place(spectrum, area, users.as_ref(), &path.key("pu"), findings);
    let (channels, users) = (channels?, users?);
    findings.none_since(before).then_some(SpectrumSpec {
        channels,
        users,
        propagation: Propagation { attenuation: spectrum.attenuation },
        leaks_across_bands: spectrum.leaks_across_bands,
        scattered,
    })
}

/// Warns of PUs of an ad hoc network that were given no place: all stand at its corner, out of reach of most
/// nodes.
fn warn_of_one_place(
    spectrum: &Spectrum,
    area: Option<AreaSize>,
    users: Option<&UsersSpec>,
    path: &KeyPath,
    findings: &mut Findings,
) {
    let (key, position) = match &spectrum.pu {
        Users::Exponential(it) if !it.shared.has_places() => ("exponential", it.shared.position),
        Users::Laws(it) if !it.shared.has_places() => ("laws", it.shared.position),
        Users::Trace(it) => ("trace", it.position),
        _ => return,
    };
    let count = match users {
        Some(UsersSpec::Generated(users)) => users.len(),
        _ => return,
    };
    if area.is_none() || position != Coordinates::default() || count == 0 {
        return;
    }
    let whose = if count == 1 { "the primary user stands" } else { "all primary users stand" };
    let remedy = if key == "trace" {
        "write position = [\"500 m\", \"500 m\"]"
    } else {
        "write scattered = true, positions, or position = [\"500 m\", \"500 m\"]"
    };
    findings.warn(&path.key(key), format!("{whose} at the corner of the area, (0 m, 0 m)"), remedy);
}

/// The area over which PUs are scattered.
fn scattered(
    spectrum: &Spectrum,
    area: Option<AreaSize>,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<Area> {
    let path = match &spectrum.pu {
        Users::Exponential(it) if it.shared.scattered => path.key("exponential").key("scattered"),
        Users::Laws(it) if it.shared.scattered => path.key("laws").key("scattered"),
        _ => return None,
    };
    match area {
        Some(area) => Some(Area::new(area.width.0, area.height.0)),
        None => {
            let message = "PUs are scattered over an area, and the scenario has no [area]";
            findings.error(&path, message, "write position or positions, or add [area] (ad hoc networks)");
            None
        }
    }
}

fn channels(
    spectrum: &Spectrum,
    source: &Source,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<ChannelTable> {
    let (bands, each) = (spectrum.bands, spectrum.channels_per_band);
    let count = u64::from(bands) * u64::from(each);
    for (key, value) in [("bands", bands), ("channels_per_band", each)] {
        if value == 0 || count > MOST_CHANNELS {
            let message = format!("{bands} bands of {each} channels make {count} channels");
            findings.error(
                &path.key(key),
                message,
                format!("write numbers with a product of 1 to {MOST_CHANNELS}"),
            );
            return None;
        }
    }
    let path = path.key("channels");
    let table = match &spectrum.channels {
        Channels::Uniform(rate) => {
            findings.check_rate(&path.key("uniform"), *rate);
            ChannelTable::uniform(bands, each, *rate)
        }
        Channels::Alternating(it) => {
            findings.check_rate(&path.key("alternating").key("rate"), it.rate);
            ChannelTable::alternating(bands, each, it.rate, it.m)
        }
        Channels::List(rates) => {
            findings.check_rates(&path.key("list"), rates);
            ChannelTable::new(bands, each, rates.iter().map(|rate| Channel::clean(*rate)).collect(), None)
        }
        Channels::ChLog(file) => return read(file, source, &path.key("ch_log"), findings, ch_log::read),
        Channels::Released(file) => {
            return read(file, source, &path.key("released"), findings, released::read_channels);
        }
    };
    table.map_err(|error| findings.error(&path, error.to_string(), "")).ok()
}

fn users(
    spectrum: &Spectrum,
    channels: Option<&ChannelTable>,
    source: &Source,
    run: &Run,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<UsersSpec> {
    // A file of channels has its own number of bands.
    let bands = channels.map_or(spectrum.bands, ChannelTable::bands);
    let logged = match &spectrum.pu {
        Users::None => return Some(UsersSpec::Generated(Vec::new())),
        Users::Exponential(it) => {
            let path = path.key("exponential");
            let law = ActivityLaw::exponential(it.alpha, it.beta);
            let law = law.map_err(|error| findings.error(&path, error.to_string(), "")).ok()?;
            return generated(law, &it.shared, bands, run, &path, findings);
        }
        Users::Laws(it) => {
            let path = path.key("laws");
            let law = ActivityLaw { on: it.on.clone(), off: it.off.clone(), start: it.shared.start };
            let valid = law.on.validate().and_then(|()| law.off.validate());
            valid.map_err(|error| findings.error(&path, error.to_string(), "")).ok()?;
            return generated(law, &it.shared, bands, run, &path, findings);
        }
        Users::Trace(it) => return modelled(it, source, bands, run, &path.key("trace"), findings),
        Users::PuLog(file) => read(file, source, &path.key("pu_log"), findings, pu_log::read)?,
        Users::Map(file) => read(file, source, &path.key("map"), findings, released::read_map)?.activity(),
        Users::Occupancy(file) => {
            measured(file, &Reading::default(), source, &path.key("occupancy"), findings)?.activity()
        }
        Users::Measured(it) => {
            let path = path.key("measured");
            it.shared.check(&mut findings.under(&path));
            measured(&it.file, &it.shared, source, &path.key("file"), findings)?.activity()
        }
    };
    check_logged(&logged, bands, run, path, findings);
    Some(UsersSpec::Logged(logged))
}

/// The measurement of a file.
fn measured(
    file: &str,
    reading: &Reading,
    source: &Source,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<Occupancy> {
    let found = read(file, source, path, findings, |name, text| occupancy::read_as(name, text, reading))?;
    if let Some(spacing) = found.spacing {
        findings.warn(
            path,
            format!("the file has a sample every \"{spacing}\": shorter visits of primary users are missing"),
            "measure more often, or read the results as for primary users that stay longer",
        );
    }
    Some(found)
}

/// One user for each band measured, each of the two-state model of its band.
fn modelled(
    trace: &TraceOfUsers,
    source: &Source,
    bands: u32,
    run: &Run,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<UsersSpec> {
    trace.shared.check(&mut findings.under(path));
    let measured = measured(&trace.file, &trace.shared, source, &path.key("file"), findings)?;
    let end = cogtcp_units::Time::ZERO + measured.duration();
    check_reach(trace.reach, path, findings)?;
    let reach = trace.reach;
    let mut users = Vec::new();
    let mut intervals = 0.0;
    for user in measured.activity().users {
        let law = match trace.model {
            TraceModel::Empirical => ActivityLaw::from_trace(&user.activity, cogtcp_units::Time::ZERO, end),
            TraceModel::Markov => {
                ActivityLaw::markov_from_trace(&user.activity, cogtcp_units::Time::ZERO, end)
            }
        };
        let law = match law {
            Ok(law) => law,
            Err(error) => {
                let message = format!("band {} of the file: {error}", user.id);
                findings.error(&path.key("file"), message, "leave the band out, or measure for longer");
                return None;
            }
        };
        intervals += run.duration.as_secs_f64() / (law.on.mean() + law.off.mean());
        users.push(PuSpec { id: user.band, position: position(trace.position), band: user.band, reach, law });
    }
    check_bands(users.iter().map(|user| (user.id, user.band)), bands, path, findings);
    check_count(intervals, path, findings)?;
    Some(UsersSpec::Generated(users))
}

/// Users of one law, one for each band or so many.
fn generated(
    mut law: ActivityLaw,
    crowd: &Crowd,
    bands: u32,
    run: &Run,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<UsersSpec> {
    law.start = crowd.start;
    let count = crowd.count.unwrap_or(bands);
    if u64::from(count) > MOST_CHANNELS {
        let message = format!("{count} primary users are out of range");
        findings.error(&path.key("count"), message, format!("write 0 to {MOST_CHANNELS}"));
        return None;
    }
    let places = &crowd.positions;
    if !places.is_empty() && places.len() != count as usize {
        let message = format!("there are {} places for {count} primary users", places.len());
        findings.error(&path.key("positions"), message, "write one place for each, or set count");
        return None;
    }
    // Not the mean: a heavy tail may take it far beyond usual draws, and many more ON times fit the run.
    let mean = law.on.typical() + law.off.typical();
    check_count(f64::from(count) * run.duration.as_secs_f64() / mean, path, findings)?;
    check_reach(crowd.reach, path, findings)?;
    // PUs count from 1.
    let place = |id: u32| places.get(id as usize - 1).copied().unwrap_or(crowd.position);
    let user = |id: u32| PuSpec {
        id,
        position: position(place(id)),
        band: (id - 1) % bands.max(1) + 1,
        reach: crowd.reach,
        law: law.clone(),
    };
    Some(UsersSpec::Generated((1..=count).map(user).collect()))
}

/// Refuses more ON times than a run can hold.
fn check_count(intervals: f64, path: &KeyPath, findings: &mut Findings) -> Option<()> {
    if intervals <= MOST_POINTS as f64 {
        return Some(());
    }
    findings.error(
        path,
        format!("PUs would be ON about {intervals:.0} times in the run; at most {MOST_POINTS} are allowed"),
        "write longer ON and OFF times, or a shorter run.duration",
    );
    None
}

fn check_reach(reach: Reach, path: &KeyPath, findings: &mut Findings) -> Option<()> {
    match reach {
        Reach::Range(range) if range < 0.0 => {
            let message = format!("a range of \"{}\" is negative", Length(range));
            findings.error(&path.key("reach"), message, "write 0 m or more");
            None
        }
        _ => Some(()),
    }
}

fn check_logged(activity: &PuActivity, bands: u32, run: &Run, path: &KeyPath, findings: &mut Findings) {
    check_bands(activity.users.iter().map(|user| (user.id, user.band)), bands, path, findings);
    let last =
        activity.users.iter().filter_map(|user| user.activity.as_slice().last()).map(|on| on.departure).max();
    let end = cogtcp_units::Time::ZERO + run.duration;
    if let Some(last) = last.filter(|last| *last < end) {
        let seconds = last.as_secs_f64();
        findings.warn(
            path,
            format!("the file ends at {seconds:.3} s, before the run: no PU is ON after that"),
            "shorten run.duration, or take a longer file",
        );
    }
}

/// Refuses a PU (number, band) beyond the last band.
fn check_bands(users: impl Iterator<Item = (u32, u32)>, bands: u32, path: &KeyPath, findings: &mut Findings) {
    let mut users = users;
    if let Some((id, band)) = users.find(|(_, band)| *band > bands) {
        findings.error(
            path,
            format!("PU {id} is on band {band}, and there are {bands} bands"),
            "write a larger spectrum.bands, or the channels that the file was made for",
        );
    }
}

/// The files that a spectrum refers to.
pub(in crate::resolve) fn files(spectrum: &Spectrum, source: &Source) -> Vec<PathBuf> {
    let channels = match &spectrum.channels {
        Channels::ChLog(file) | Channels::Released(file) => Some(file),
        Channels::Uniform(_) | Channels::Alternating(_) | Channels::List(_) => None,
    };
    let users = match &spectrum.pu {
        Users::PuLog(file) | Users::Map(file) | Users::Occupancy(file) => Some(file),
        Users::Trace(trace) => Some(&trace.file),
        Users::Measured(measured) => Some(&measured.file),
        Users::None | Users::Exponential(_) | Users::Laws(_) => None,
    };
    channels.into_iter().chain(users).map(|file| beside(source, file)).collect()
}

/// The content of a file beside the scenario.
fn read<T>(
    file: &str,
    source: &Source,
    path: &KeyPath,
    findings: &mut Findings,
    parse: impl Fn(&str, &str) -> Result<T, LogError>,
) -> Option<T> {
    let (name, text) = read_beside(source, file, LARGEST_LOG, path, findings)?;
    parse(&name, &text)
        .map_err(|error| {
            let unquoted = error.reason.unquoted();
            findings.error(path, told(&name, &text, error.line, error.reason, unquoted), "");
        })
        .ok()
}
