//! Writes what is generated from the types of a scenario: `schema/scenario.schema.json` beside this crate, and the
//! reference in `docs/scenario.md` (from its marker to the end).

use cogtcp_scenario::{Scenario, reference};
use std::path::Path;

const MARKER: &str = "<!-- From here on generated from the types";

fn main() -> std::io::Result<()> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::to_string_pretty(&Scenario::json_schema())? + "\n";
    std::fs::create_dir_all(home.join("schema"))?;
    std::fs::write(home.join("schema/scenario.schema.json"), schema)?;
    let document = home.join("../../docs/scenario.md");
    let text = std::fs::read_to_string(&document)?;
    let prose = text.find(MARKER).map_or(&*text, |at| &text[..at]).trim_end();
    std::fs::write(document, format!("{prose}\n\n{}", reference()))
}
