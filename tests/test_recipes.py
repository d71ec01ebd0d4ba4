"""Every recipe of `docs/adding-a-*.md` that adds Rust, followed to the letter in one copied tree, one build.

A recipe is written so that a program can follow it: a path in backticks and a colon, then the new file;
"In `path`, beside the other modules:", then a line; "... after the last line:", then a line of a registry;
and in TOML what a scenario then says.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Where the copy is built: kept from run to run, so that only what changed is compiled.
TARGET = ROOT / "target" / "recipes"
#: Page, scenario, and the field that takes what the page's TOML assigns.
RECIPES = [
    ("adding-a-congestion-control", "sensed-link", "flow.0.tcp"),
    ("adding-a-detector", "cr-single-hop", "radio.0.cr.detector"),
    ("adding-a-policy", "cr-single-hop", "radio.0.cr.policy"),
    ("adding-a-predictor", "train-journey", "train.prediction"),
]

BLOCK = re.compile(r"([^\n]*)\n\n?```(rust|toml)\n(.*?)```", re.DOTALL)


def follow(page: str, tree: Path) -> tuple[int, str]:
    """Make every edit of the recipe in `tree`; return how many, and the value that its TOML assigns last."""
    path, edits, value = None, 0, ""
    for lead, language, code in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text()):
        if language == "toml":
            value = re.findall(r"^\w+ = (.*)$", code, re.MULTILINE)[-1]
            continue
        named = re.search(r"`(crates/[\w/-]+\.rs)`", lead)
        path = tree / named[1] if named else path
        if path is None:
            continue
        if re.fullmatch(r"`[\w/.-]+`:", lead):
            assert not path.exists(), f"{page}: {path} is there already"
            path.write_text(code)
        elif lead.endswith("beside the other modules:"):
            text = path.read_text()
            path.write_text(re.sub(r"^(?=(pub )?mod )", code, text, count=1, flags=re.MULTILINE))
        elif lead.endswith("after the last line:"):
            name = re.search(r"(?:of|in) `(\w+)`, after", lead)
            assert name, f"{page}: which list? {lead}"
            text = path.read_text()
            start = re.search(rf"(?:static|enum) {name[1]}\b", text)
            assert start, f"{page}: {path} has no {name[1]}"
            end = re.compile(r"^(    \}|\];)$", re.MULTILINE).search(text, start.end())
            assert end
            path.write_text(text[: end.start()] + code + text[end.start() :])
        else:
            continue
        edits += 1
    return edits, value


PROGRAM = """
//! Runs what the recipes added.

use cogtcp_scenario::Scenario;
use cogtcp_simulator::{{RunOptions, run}};
use std::path::Path;

#[test]
fn what_the_recipes_added_runs() {{
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for (scenario, field, value) in [{cases}] {{
        let plain = Scenario::read(&folder.join(scenario)).unwrap();
        let plain = plain.set("run.duration", "600 s").unwrap();
        let changed = plain.set(field, value).unwrap_or_else(|error| panic!("{{error}}"));
        let [was, is] = [&plain, &changed].map(|scenario| {{
            run(&scenario.resolve().unwrap(), &RunOptions::default()).unwrap()
        }});
        assert!(is.flows.number("goodput_bps", 0).unwrap() > 0.0, "{{value}}");
        assert_ne!(is.digest, was.digest, "{{value}} changes nothing");
        // A misspelt parameter is refused with its place and the name that was meant.
        let misspelt = value.replacen(" =", "x =", 2);
        let wrong = plain.set(field, &misspelt).unwrap_err().to_string();
        assert!(wrong.contains("did you mean") || wrong.contains("unknown"), "{{wrong}}");
    }}
}}
"""


def test_every_recipe_compiles_and_runs(tmp_path: Path) -> None:
    cargo = shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo" / "bin"))
    if cargo is None:
        pytest.skip("cargo is not installed")
    # One place for every run, so that cargo knows what it has built.
    tree = TARGET / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy2(ROOT / name, tree)
    for name in ("crates", "docs", "scenarios", "benches"):
        shutil.copytree(ROOT / name, tree / name)
    cases = []
    for page, scenario, field in RECIPES:
        edits, value = follow(page, tree)
        assert edits == 3, f"{page}: one file, one mod and one line, not {edits} edits"
        cases.append(f"({json.dumps(scenario + '.toml')}, {json.dumps(field)}, {json.dumps(value)})")
    program = textwrap.dedent(PROGRAM.format(cases=", ".join(cases))).lstrip()
    (tree / "crates/simulator/tests/recipes.rs").write_text(program)

    def run(*arguments: str) -> None:
        command = [cargo, *arguments]
        done = subprocess.run(
            command, cwd=tree, env=None, capture_output=True, text=True, check=False, timeout=3600
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-6000:]}"

    build = ("--quiet", "--offline", "--target-dir", str(TARGET / "build"), "--profile", "dev")
    run("test", *build, "-p", "cogtcp-simulator", "--test", "recipes")
    run("run", *build, "-p", "cogtcp-scenario", "--example", "generate")
    reference = (tree / "docs/scenario.md").read_text()
    for row in ("`{ half_window = ... }`", "`{ step = ... }`", "`{ last_level = ... }`", "`half-speed`"):
        assert row in reference, f"the reference does not list {row}"
