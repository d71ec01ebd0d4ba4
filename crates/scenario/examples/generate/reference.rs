//! The reference of every field, written from the JSON Schema and from the registry of transports.

use super::pages::{self, PAGES};
use cogtcp_scenario::{JourneyMap, Scenario, TcpSettings, TransportSpec};
use cogtcp_transport::{ControlInfo, ParameterKind, Preset};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// Appends one line. Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($format:tt)*) => { let _ = writeln!($text, $($format)*); };
}

/// The tables of a scenario in the order of reading: heading, and name of its type in the schema. With an
/// asterisk: the tables of the parameters of everything that a registry names there.
const TABLES: &[(&str, &str)] = &[
    ("Top level", ""),
    ("[run]", "Run"),
    ("[topology.single_hop]", "SingleHop"),
    ("[topology.dumbbell]", "Dumbbell"),
    ("[topology.chain]", "Chain"),
    ("[topology.graph]", "Graph"),
    ("[[topology.graph.links]]", "NamedLink"),
    ("link", "Link"),
    ("[topology.ad_hoc]", "AdHoc"),
    ("[[topology.ad_hoc.power]]", "NodePower"),
    ("topology.ad_hoc.placement.grid", "GridPlacement"),
    ("topology.ad_hoc.mobility.random_waypoint", "RandomWaypoint"),
    ("[area]", "Area"),
    ("routing", "Routing*"),
    ("[mac]", "AdHocMac"),
    ("[mac.rules]", "Rules"),
    ("[mac.arp]", "Arp"),
    ("mac.rate_control.arf", "Arf"),
    ("mac.rate_control.minstrel", "Minstrel"),
    ("[[mac.rates]]", "AdHocRate"),
    ("[phy]", "Phy"),
    ("phy.path_loss.two_ray", "TwoRay"),
    ("phy.path_loss.log_distance", "LogDistance"),
    ("phy.shadowing", "Shadowing"),
    ("phy.fading.nakagami", "Nakagami"),
    ("[cr]", "CognitiveNodes"),
    ("[spectrum]", "Spectrum"),
    ("spectrum.channels.alternating", "AlternatingChannels"),
    ("spectrum.pu.exponential", "Exponential"),
    ("spectrum.pu.laws", "LawsOfUsers"),
    ("spectrum.pu.measured", "MeasuredUsers"),
    ("spectrum.pu.trace", "TraceOfUsers"),
    ("[[radio]]", "Radio"),
    ("radio.sensing", "Sensing"),
    ("radio.pu", "PrimaryUsers"),
    ("[radio.journey]", "Journey"),
    ("radio", "Radio+"),
    ("[radio.cr]", "CognitiveUser"),
    ("radio.cr.detector", "Detector*"),
    ("radio.cr.regulation", "Regulation*"),
    ("radio.cr.regulation.cbrs.dpa.reduce", "ReducedPower"),
    ("radio.cr.cooperation", "Cooperation"),
    ("radio.cr.cell", "CellSettings"),
    ("radio.cr.cell.others", "OtherUsers"),
    ("radio.cr.cell.handover", "Handover"),
    ("radio.cr.cell.handover.moves", "Move"),
    ("radio.cr.cell.handover.tracks", "Track"),
    ("radio.cr.cell.handover.tracks.points", "TrackPoint"),
    ("radio.cr.cell.drx", "Drx"),
    ("radio.cr.cell.drx.short", "ShortCycle"),
    ("radio.cr.policy", "Policy*"),
    ("radio.cr.mac", "Mac"),
    ("[train]", "Train"),
    ("train.prediction", "Prediction*"),
    ("[[flow]]", "Flow"),
    ("flow.transport", "Transport*"),
    ("flow.traffic", "Traffic*"),
    ("[[udp]]", "Udp"),
    ("[tcp]", "Tcp"),
];

/// The tables of a map file.
const MAP_TABLES: &[(&str, &str)] = &[
    ("Top level", ""),
    ("[train]", "MapTrain"),
    ("[[station]]", "MapStation"),
    ("[[limit]]", "MapLimit"),
    ("[[base_station]]", "MapBaseStation"),
    ("[[tunnel]]", "MapTunnel"),
    ("[[border]]", "MapBorder"),
    ("[signal]", "MapSignal"),
    ("[[signal.rates]]", "RateAbove"),
];

/// Quantities: name of the type in the schema, what the tables call it, its units.
const QUANTITIES: &[(&str, &str, &str)] = &[
    ("Duration", "duration", "ns us ms s min h"),
    ("Law", "duration or law", "ns us ms s min h"),
    ("Rate", "rate", "bit/s kbit/s Mbit/s Gbit/s"),
    ("Bytes", "size", "B kB KiB MB MiB GB GiB"),
    ("QueueLimit", "queue length", "packets, or B kB KiB MB MiB"),
    ("Segments", "number of segments", "segments"),
    ("Window", "window", "segments, or B kB KiB MB MiB"),
    ("InitialWindow", "initial window", "segments"),
    ("DelayedAck", "delay of ACKs", "us ms s"),
    ("Probability", "probability", "none, or %"),
    ("Power", "power", "nW uW mW W kW dBm"),
    ("Length", "length", "m km"),
    ("Decibel", "ratio", "dB"),
    ("Frequency", "frequency", "Hz kHz MHz GHz"),
    ("Speed", "speed", "m/s km/h"),
    ("Acceleration", "acceleration", "m/s^2"),
    ("RetryLimit", "retry limit", ""),
    ("Seed", "seed", ""),
    ("Parameter", "parameter", "that of the parameter"),
];

/// The first line of the generated part of the document.
pub(crate) const MARKER: &str =
    "<!-- From here on generated from the types: cargo run -p cogtcp-scenario --example generate -->";

/// The reference of every field as Markdown: the index of its pages, then each page by the name of its file.
/// Pages have type, unit, default and meaning of the fields, then the choices of their fields. Quantities, and
/// transports with the parameters of their congestion controls, have pages of their own.
pub(crate) fn reference() -> (String, Vec<(&'static str, String)>) {
    let schema = Scenario::json_schema();
    let disciplines = disciplines(&schema);
    let mut tables: Vec<(&str, &str)> =
        scenario_tables().iter().map(|(heading, name)| (&**heading, &**name)).collect();
    tables.extend(disciplines.iter().map(|(heading, name)| (&**heading, *name)));
    let owners = owners_of_choices(&schema, &tables);

    let mut anchors: BTreeMap<String, &str> =
        tables.iter().map(|(heading, _)| (anchor(heading), pages::of_table(heading))).collect();
    anchors.extend(owners.iter().map(|(name, page)| (anchor(name), *page)));
    anchors.extend([("quantities".to_owned(), "quantities"), ("transports".to_owned(), "transports")]);
    assert_eq!(anchors.len(), tables.len() + owners.len() + 2, "each heading has an anchor of its own");

    let mut index = format!("{MARKER}\n\n## Every field\n\n| page | about | tables |\n|---|---|---|\n");
    let mut made = Vec::new();
    for page in PAGES {
        assert_ne!(anchors.get(&anchor(page.title)), Some(&page.file), "{}: two headings", page.title);
        let mut text = format!("{MARKER}\n\n# {}\n\n{}\n\n", page.title, page.about);
        text.push_str("A field without a default is either required or, with \"-\", simply not set.\n\n");
        let mut named = Vec::new();
        for (heading, name) in tables.iter().filter(|(heading, _)| pages::of_table(heading) == page.file) {
            let object = if name.is_empty() { &schema } else { &schema["$defs"][name] };
            // The defaults of [tcp] are those of the endpoints: the schema does not know them.
            let defaults =
                if *name == "Tcp" { serde_json::json!(TcpSettings::defaults()) } else { Value::Null };
            table(&mut text, heading, object, &defaults);
            named.push(format!("[{}](#{})", titled(heading), anchor(heading)));
        }
        if owners.values().any(|owner| *owner == page.file) {
            line!(
                text,
                "## Choices\n\nA choice is a word in quotes, or a table with one key: `{{ key = value }}`.\n"
            );
        }
        for (name, _) in owners.iter().filter(|(_, owner)| **owner == page.file) {
            choice(&mut text, name, &schema, &disciplines);
        }
        let row = format!(
            "| [{}](scenario/{}.md) | {} | {} |",
            page.title,
            page.file,
            page.about,
            named.join(", ")
        );
        line!(index, "{}", pages::link(&row, "", "scenario/", &anchors));
        made.push((page.file, pages::link(&text, page.file, "", &anchors)));
    }
    line!(
        index,
        "| [Quantities](scenario/quantities.md) | Units: how a duration, rate, size or power is written. | |"
    );
    line!(
        index,
        "| [Transports](scenario/transports.md) | Names of transports; parameters of congestion controls. | |"
    );
    let mut text = format!("{MARKER}\n\n");
    quantities(&mut text, &schema);
    made.push(("quantities", text));
    let mut text = format!("{MARKER}\n\n");
    transports(&mut text);
    made.push(("transports", text));
    for (_, text) in &mut made {
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    (index, made)
}

/// Each choice of the schema with the page that has it: the first one with a field of that type.
fn owners_of_choices<'a>(schema: &'a Value, tables: &[(&str, &str)]) -> BTreeMap<&'a str, &'static str> {
    let definitions = schema["$defs"].as_object().expect("the schema has definitions");
    let is_choice = |name: &str| {
        !QUANTITIES.iter().any(|(quantity, ..)| *quantity == name)
            && !list(&definitions[name], "oneOf").is_empty()
    };
    let mut owners = BTreeMap::new();
    for page in PAGES {
        let here = tables.iter().filter(|(heading, _)| pages::of_table(heading) == page.file);
        let mut open: Vec<&Value> = here
            .map(
                |(_, name)| {
                    if name.is_empty() { &schema["properties"] } else { &definitions[*name]["properties"] }
                },
            )
            .collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => open.extend(fields.values()),
                Value::Array(items) => open.extend(items),
                Value::String(text) => {
                    let Some(name) = text.strip_prefix("#/$defs/") else { continue };
                    let (name, definition) = definitions.get_key_value(name).expect("defined");
                    if is_choice(name) && !owners.contains_key(&**name) {
                        owners.insert(&**name, pages::of_choice(name, page.file));
                        open.push(definition);
                    }
                }
                _ => {}
            }
        }
    }
    owners
}

/// The tables of the queue disciplines, as the schema lists them: heading, and name of the type.
fn disciplines(schema: &Value) -> Vec<(String, &str)> {
    let variants = list(&schema["$defs"]["Queue"], "oneOf").iter();
    let tables = variants.filter_map(|variant| variant["properties"].as_object()?.iter().next());
    tables.filter_map(|(key, table)| Some((format!("queue.{key}"), reference_name(table)?))).collect()
}

/// The reference of every field of a map file, as Markdown that stands beside that of scenarios.
pub(crate) fn journey_map_reference() -> String {
    let schema = JourneyMap::json_schema();
    let mut text = format!("{MARKER}\n\n## Every field of a map\n\n");
    text.push_str("A field without a default is either required or, with \"-\", simply not set.\n\n");
    for (heading, name) in MAP_TABLES {
        let object = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        table(&mut text, heading, object, &Value::Null);
    }
    text = text.replace("\n## ", "\n### ").replacen("\n### Every field", "\n## Every field", 1);
    // Quantities are explained where all of them are.
    text = text.replace("](#quantities)", "](scenario/quantities.md#quantities)");
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Heading and type of every table of a scenario, and of a map. `*`: the tables of a registry; `+`: those of
/// fields that no other line names.
static ALL_TABLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let schema = Scenario::json_schema();
    let mut all = Vec::new();
    for (heading, name) in TABLES.iter().chain(MAP_TABLES) {
        if let Some(owner) = name.strip_suffix('+') {
            for (key, field) in schema["$defs"][owner]["properties"].as_object().into_iter().flatten() {
                let Some(name) = reference_name(field).or_else(|| reference_name(&field["anyOf"][0])) else {
                    continue;
                };
                let is_table = schema["$defs"][name]["properties"].is_object();
                if is_table && !TABLES.iter().any(|(_, other)| *other == name) {
                    all.push((format!("[{heading}.{key}]"), name.to_owned()));
                }
            }
            continue;
        }
        let Some(registry) = name.strip_suffix('*') else {
            all.push(((*heading).to_owned(), (*name).to_owned()));
            continue;
        };
        for variant in list(&schema["$defs"][registry], "oneOf") {
            for (key, parameters) in variant["properties"].as_object().into_iter().flatten() {
                let name = reference_name(parameters);
                let table = name.filter(|name| schema["$defs"][name]["type"] == "object");
                all.extend(table.map(|name| (format!("{heading}.{key}"), name.to_owned())));
            }
        }
    }
    all
});

/// The tables of a scenario, those of registries spelled out.
fn scenario_tables() -> &'static [(String, String)] {
    &ALL_TABLES[..ALL_TABLES.len() - MAP_TABLES.len()]
}

fn table(text: &mut String, heading: &str, object: &Value, defaults: &Value) {
    line!(text, "## {}\n", titled(heading));
    line!(text, "{}\n", words(object));
    line!(text, "| field | type | unit | default | meaning |\n|---|---|---|---|---|");
    let required = |name: &str| list(object, "required").iter().any(|required| required == name);
    let mut fields: Vec<(&String, &Value)> = object["properties"].as_object().into_iter().flatten().collect();
    // Required ones first, each group by name.
    fields.sort_by_key(|(name, _)| (!required(name), *name));
    for (name, field) in fields {
        let default = match (&field["default"], &defaults[name]) {
            _ if required(name) => "required".to_owned(),
            (Value::Null, Value::Null) => "-".to_owned(),
            (Value::Null, value) | (value, _) => format!("`{value}`"),
        };
        let (kind, unit) = kind(field);
        line!(text, "| `{name}` | {kind} | {unit} | {default} | {} |", cell(&words(field)));
    }
    text.push('\n');
}

/// A heading as it is written: tables of TOML as code.
fn titled(heading: &str) -> String {
    if heading.starts_with('[') { format!("`{heading}`") } else { heading.to_owned() }
}

/// Type and unit of a field.
fn kind(field: &Value) -> (String, &'static str) {
    if let Some(name) = reference_name(field) {
        if let Some((_, word, unit)) = QUANTITIES.iter().find(|(schema, ..)| *schema == name) {
            return (format!("[{word}](#quantities)"), unit);
        }
        if let Some((heading, _)) = ALL_TABLES.iter().find(|(_, schema)| schema == name) {
            return (format!("[table](#{})", anchor(heading)), "");
        }
        return (format!("[choice](#{})", anchor(name)), "");
    }
    if let Some(first) = list(field, "anyOf").first() {
        return kind(first);
    }
    let kinds = &field["type"];
    match kinds.as_str().or_else(|| kinds[0].as_str()) {
        Some("array") => {
            let (inner, unit) = kind(&field["items"]);
            (format!("list of {inner}"), unit)
        }
        Some("string") => ("text".to_owned(), ""),
        Some("integer") => ("whole number".to_owned(), ""),
        Some("number") => ("number".to_owned(), ""),
        Some("boolean") => ("true or false".to_owned(), ""),
        Some("object") => match reference_name(&field["additionalProperties"]) {
            Some("Parameter") => ("table of [parameters](#transports)".to_owned(), ""),
            _ => ("table".to_owned(), ""),
        },
        _ => ("value".to_owned(), ""),
    }
}

/// A choice: a word in quotes, or a table of one key.
fn choice(text: &mut String, name: &str, schema: &Value, disciplines: &[(String, &str)]) {
    let definition = &schema["$defs"][name];
    line!(text, "### {name}\n\n{}\n\n| written | meaning |\n|---|---|", words(definition));
    for variant in list(definition, "oneOf") {
        let written = match (variant["const"].as_str(), variant["properties"].as_object()) {
            (Some(word), _) => format!("`\"{word}\"`"),
            (None, Some(keys)) => {
                let key = keys.keys().next().map_or("", String::as_str);
                let table = disciplines.iter().find(|(_, name)| Some(*name) == reference_name(&keys[key]));
                let kind = match table {
                    Some((heading, _)) => format!("[table](#{})", anchor(heading)),
                    None => kind(&keys[key]).0,
                };
                format!("`{{ {key} = ... }}`: {kind}")
            }
            (None, None) => match variant["enum"].as_array() {
                Some(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
                None => "text".to_owned(),
            },
        };
        line!(text, "| {written} | {} |", cell(&words(variant)));
    }
    text.push('\n');
}

fn quantities(text: &mut String, schema: &Value) {
    line!(
        text,
        "# Quantities\n\nA quantity is a text of a number and its unit, with or without a blank between.\n"
    );
    line!(text, "| type | unit | written |\n|---|---|---|");
    for (name, word, unit) in QUANTITIES {
        let definition = &schema["$defs"][name];
        // Those that only map files have are not in the schema of scenarios.
        let map = if definition.is_null() { &JourneyMap::json_schema()["$defs"][name] } else { definition };
        line!(text, "| {word} | {unit} | {} |", cell(&words(map)));
    }
    text.push('\n');
}

fn transports(text: &mut String) {
    line!(
        text,
        "# Transports\n\nA transport of TCP is a loss recovery and a congestion control under one name. Other transports have neither column.\n"
    );
    line!(text, "| transport | recovery | congestion | meaning |\n|---|---|---|---|");
    for preset in Preset::all() {
        let recovery = format!("{:?}", preset.recovery).to_lowercase();
        line!(text, "| `{}` | `{recovery}` | `{}` | {} |", preset.name, preset.control, cell(preset.summary));
    }
    for info in TransportSpec::ALL {
        line!(text, "| `{}` | | | {} ({}) |", info.name, cell(info.summary), info.reference);
    }
    line!(
        text,
        "\n## Parameters\n\nThe parameters of each congestion control, as set by `parameters = {{ ... }}` in `[tcp]`:\n"
    );
    line!(text, "| congestion | parameter | unit | default | allowed | meaning |\n|---|---|---|---|---|---|");
    for control in ControlInfo::all() {
        for parameter in control.parameters {
            let (default, allowed) = match parameter.kind {
                ParameterKind::Number { default, min, max } => {
                    (default.to_string(), format!("{min} to {max}"))
                }
                ParameterKind::Flag { default } => (default.to_string(), "true, false".to_owned()),
                ParameterKind::Choice { default, choices } => (format!("\"{default}\""), choices.join(", ")),
            };
            line!(
                text,
                "| `{}` | `{}` | {} | `{default}` | {allowed} | {} |",
                control.name,
                parameter.name,
                parameter.unit,
                cell(parameter.summary)
            );
        }
    }
}

/// The name of the definition that `field` refers to.
fn reference_name(field: &Value) -> Option<&str> {
    field["$ref"].as_str()?.rsplit('/').next()
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}

fn words(value: &Value) -> String {
    value["description"].as_str().unwrap_or_default().to_owned()
}

/// Text as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every type of the schema is in the document: as a table, a choice or a quantity.
    #[test]
    fn nothing_is_left_out() {
        let (scenario, map) = ALL_TABLES.split_at(scenario_tables().len());
        check(&Scenario::json_schema(), scenario);
        check(&JourneyMap::json_schema(), map);
    }

    fn check(schema: &Value, tables: &[(String, String)]) {
        let (_, pages) = reference();
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            let table = tables.iter().any(|(_, schema)| schema == name)
                || disciplines(schema).iter().any(|(_, schema)| schema == name);
            let quantity = QUANTITIES.iter().any(|(schema, ..)| schema == name);
            let choice = !quantity && !list(definition, "oneOf").is_empty();
            assert_eq!(u8::from(table) + u8::from(quantity) + u8::from(choice), 1, "{name}");
            let is_written = pages.iter().any(|(_, text)| text.contains(&format!("\n### {name}\n")));
            assert!(!choice || is_written, "{name} is on no page");
            assert!(!words(definition).is_empty(), "{name} has no description");
            for (field, definition) in definition["properties"].as_object().into_iter().flatten() {
                assert!(!words(definition).is_empty(), "{name}.{field} has no description");
            }
        }
        for (_, name) in tables.iter().filter(|(_, name)| !name.is_empty()) {
            assert!(schema["$defs"][name].is_object(), "{name} is no type");
        }
    }
}
