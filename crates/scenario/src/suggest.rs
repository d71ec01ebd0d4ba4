//! What somebody probably meant.

use strsim::osa_distance;

/// "`a`, `b` or `c`".
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The one of `names` that is nearest to `found`, when it is near enough for a slip of the pen.
pub(crate) fn nearest<'a, T: AsRef<str>>(found: &str, names: &'a [T]) -> Option<&'a str> {
    // Names are short. A found text need not be, and the effort grows with its length.
    let simple = |text: &str| -> String {
        text.to_lowercase().replace(['-', ' ', '.'], "_").chars().take(64).collect()
    };
    let found = simple(found);
    let most = (found.chars().count() / 3).clamp(1, 4);
    names
        .iter()
        .map(|name| {
            let simple = simple(name.as_ref());
            // A word cut short is near whatever is missing.
            let cut = found.len() >= 2 && simple.starts_with(&found);
            (osa_distance(&found, &simple), cut, name.as_ref())
        })
        .filter(|(distance, cut, _)| *cut || *distance <= most)
        .min_by_key(|(distance, ..)| *distance)
        .map(|(.., name)| name)
}

/// "did you mean ...?" where one of `names` is near, and what there is.
pub(crate) fn among<T: AsRef<str>>(found: &str, names: &[T]) -> String {
    if names.is_empty() {
        return "there is none".to_owned();
    }
    // A long list helps nobody: the first names stand for the rest.
    const MOST: usize = 30;
    let all = if names.len() > MOST {
        format!("{}, ... ({} in all)", list(&names[..MOST]).replace(" or ", ", "), names.len())
    } else {
        list(names)
    };
    match nearest(found, names) {
        Some(name) => format!("did you mean \"{name}\"? (one of {all})"),
        None => format!("write one of {all}"),
    }
}

/// How a required field is written.
pub(crate) fn example(field: &str) -> String {
    let example = match field {
        "name" => "name = \"my-scenario\"",
        "run" => "a section [run] with duration = \"60 s\"",
        "duration" => "duration = \"60 s\"",
        "sensing_time" => "sensing_time = \"50 ms\", or a regulation = { cbrs = {} }",
        "transmission_time" => "transmission_time = \"950 ms\"",
        "detector" => "detector = \"perfect\", or { map = { snr = \"-20 dB\" } }",
        "topology" => {
            "a section [topology.dumbbell], [topology.single_hop], [topology.chain] or [topology.graph]"
        }
        "flow" => "a section [[flow]] for each flow",
        "from" => "from = \"s1\", the node that sends",
        "to" => "to = \"d1\", the node that receives",
        "transport" => "transport = \"newreno\"",
        "rate" => "rate = \"10 Mbit/s\"",
        "delay" => "delay = \"40 ms\"",
        "pairs" => "pairs = 2",
        "hops" => "hops = 3",
        "access" => "access = { rate = \"100 Mbit/s\", delay = \"5 ms\" }",
        "bottleneck" => "bottleneck = { rate = \"10 Mbit/s\", delay = \"40 ms\" }",
        "link" => "link = { rate = \"10 Mbit/s\", delay = \"40 ms\" }",
        "nodes" => "nodes = [\"a\", \"b\", \"c\"]",
        "links" => "links = [...], the links of the graph, or the names of those that a radio gates",
        "off" => "off = \"100 ms\", the duration of one sensing",
        "on" => "on = \"5 s\", the time between two sensings",
        "interarrival" => "interarrival = \"10 s\", the mean time between two arrivals",
        "switching" => "switching = \"100 ms\", the silence of one switch of channel",
        other => return format!("add it: {other} = ..."),
    };
    format!("add {example}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["newreno", "reno", "sack", "tahoe"];
        assert_eq!(nearest("New-Reno", &names), Some("newreno"));
        assert_eq!(nearest("sakc", &names), Some("sack"));
        assert_eq!(nearest("ta", &names), Some("tahoe"));
        assert_eq!(nearest("cubic", &names), None);
    }
}
