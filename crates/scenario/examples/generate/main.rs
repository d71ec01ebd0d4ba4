//! Writes what is generated from the types of a scenario and of a map file: `schema/scenario.schema.json` and
//! `schema/journey-map.schema.json` beside this crate, and the references in `docs/scenario.md` and
//! `docs/trains.md` (from their marker to the end), and the pages of `docs/scenario/`.

mod pages;
mod reference;

use cogtcp_scenario::{JourneyMap, Scenario};
use reference::{MARKER, journey_map_reference, reference};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(home.join("schema"))?;
    for (name, schema) in [("scenario", Scenario::json_schema()), ("journey-map", JourneyMap::json_schema())]
    {
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        std::fs::write(home.join(format!("schema/{name}.schema.json")), text)?;
    }
    let docs = home.join("../../docs");
    let (index, pages) = reference();
    std::fs::create_dir_all(docs.join("scenario"))?;
    for (name, text) in pages {
        std::fs::write(docs.join(format!("scenario/{name}.md")), text)?;
    }
    for (name, reference) in [("scenario", index), ("trains", journey_map_reference())] {
        let document = docs.join(format!("{name}.md"));
        let text = std::fs::read_to_string(&document)?;
        let prose = text.find(MARKER).map_or(&*text, |at| &text[..at]).trim_end();
        std::fs::write(document, format!("{prose}\n\n{reference}"))?;
    }
    Ok(())
}
