//! How required fields are written, and what somebody probably meant.

pub(crate) use cogtcp_units::{among, list};

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
