"""Every recipe of `docs/adding-a*.md` that adds to the engine, followed to the letter in one tree, one build.

A recipe is written so that a program can follow it: a path in backticks and a colon, then the new file;
"In `path`, beside the other modules:", then a line; "... after the last line:", then a line of a registry;
"... after the line with `words`:", then a line; and in TOML what a scenario then says. That of a metric adds
Python, which runs on the engine as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Where the copy is built: kept from run to run, so that only what changed is compiled.
TARGET = ROOT / "target" / "recipes"
#: Page, edits, scenario, field, and the field's value around what the page's TOML assigns.
RECIPES = [
    ("adding-a-congestion-control", 3, "sensed-link", "flow.0.tcp", "%s"),
    ("adding-a-transport", 3, "sensed-link", "flow.0.transport", "%s"),
    ("adding-a-detector", 3, "cr-single-hop", "radio.0.cr.detector", "%s"),
    ("adding-a-policy", 3, "cr-single-hop", "radio.0.cr.policy", "%s"),
    ("adding-a-predictor", 3, "train-journey", "train.prediction", "%s"),
    ("adding-a-queue-discipline", 3, "sensed-link", "topology.single_hop.link.queue", "%s"),
    ("adding-a-routing-protocol", 3, "adhoc-mobile", "routing", "%s"),
    ("adding-a-kind-of-traffic", 3, "sensed-link", "flow.0.traffic", "%s"),
    (
        "adding-a-radio",
        5,
        "sensed-link",
        "radio.0",
        '{ name = "radio", links = ["link"], silence = "drop", blink = %s }',
    ),
]

#: Recipes that add Python, and how many edits they are.
PYTHON_RECIPES = {"adding-a-verb": 4, "adding-a-figure": 6}

#: Compiled once to run seconds: without optimisation, which takes most of the compiler's time.
BUILD = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}

BLOCK = re.compile(r"([^\n]*)\n\n?```(rust|python|toml)\n(.*?)```", re.DOTALL)


def follow(page: str, tree: Path) -> tuple[int, str]:
    """Make every edit of the recipe in `tree`; return how many, and the value that its TOML assigns last."""
    path, edits, value = None, 0, ""
    for lead, language, code in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text()):
        if language == "toml":
            value = re.findall(r"^\w+ = (.*)$", code, re.MULTILINE)[-1]
            continue
        named = re.search(r"`((?:crates|python)/[\w/-]+\.(?:rs|py))`", lead)
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
            name = re.search(r"(?:of|in) `(\w+!?)`, after", lead)
            assert name, f"{page}: which list? {lead}"
            text = path.read_text()
            start = re.search(
                rf"(?:(?:static|enum) {name[1]}\b|^(?:\w+::)?{name[1]} [{{=])", text, re.MULTILINE
            )
            assert start, f"{page}: {path} has no {name[1]}"
            end = re.compile(r"^(    \}|\];|\}|\)  # fmt: skip)$", re.MULTILINE).search(text, start.end())
            assert end
            path.write_text(text[: end.start()] + code + text[end.start() :])
        elif after := re.search(r"after the line with `([^`]+)`:$", lead):
            lines = path.read_text().splitlines(keepends=True)
            (place,) = [i for i, line in enumerate(lines) if after[1] in line]
            path.write_text("".join([*lines[: place + 1], code, *lines[place + 1 :]]))
        else:
            continue
        edits += 1
    return edits, value


#: How the line before a block says that the block is an edit.
EDIT = re.compile(
    r"`[\w/.-]+`:|.*(?:beside the other modules:|after the last line:|after the line with `[^`]+`:)"
)


def files(page: str) -> set[str]:
    """Return the code files that a recipe makes or changes."""
    path, found = "", set()
    for lead, language, _ in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text()):
        named = re.search(r"`((?:crates|python)/[\w/-]+\.(?:rs|py))`", lead)
        path = named[1] if named else path
        if language != "toml" and path and EDIT.fullmatch(lead):
            found.add(path)
    return found


PROGRAM = """
//! Runs what the recipes added.

use cogtcp_scenario::Scenario;
use cogtcp_simulator::{{RunOptions, TraceLevel, run}};
use std::path::Path;

#[test]
fn what_the_recipes_added_runs() {{
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for (scenario, field, value) in [{cases}] {{
        let plain = Scenario::read(&folder.join(scenario)).unwrap();
        let settings: &[_] = if field == "routing" {{
            // Nodes that hear each other; a network plays many more events in a second than a link.
            &[("run.duration", "20 s"), ("area.width", "170 m"), ("area.height", "170 m")]
        }} else {{
            &[("run.duration", "600 s")]
        }};
        let plain = settings.iter().fold(plain, |plain, (key, value)| plain.set(key, value).unwrap());
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

#[test]
fn the_event_that_the_recipe_added_is_recorded() {{
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/sensed-link.toml");
    let short = Scenario::read(&file).unwrap().set("run.duration", "1 s").unwrap();
    let options = RunOptions {{ trace: TraceLevel::Full, ..RunOptions::default() }};
    let run = run(&short.resolve().unwrap(), &options).unwrap();
    let new = cogtcp_records::EventKind::ALL.last().unwrap();
    assert_eq!((new.name(), new.meaning()), ("opening", "A flow's sender sends its first SYN."));
    let codes = (0..run.events.len()).filter(|row| run.events.text("kind", *row) == Some("opening"));
    assert_eq!(codes.count(), run.flows.len());
}}
"""


def places(pattern: str) -> set[str]:
    """Return the sources of our crates in which the pattern occurs."""
    sources = ROOT.glob("crates/*/src/**/*.rs")
    return {
        str(source.relative_to(ROOT))
        for source in sources
        if re.search(pattern, source.read_text(), re.MULTILINE)
    }


def named(page: str) -> set[str]:
    """Return the sources that a recipe names."""
    return set(re.findall(r"`(crates/[\w/-]+\.rs)`", (ROOT / "docs" / f"{page}.md").read_text()))


def test_the_map_says_how_many_files_each_recipe_changes() -> None:
    table = re.findall(r"^\| [\w ]+ \| (\d+) \| `([\w-]+)` \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    pages = {page for page, *_ in RECIPES} | {"adding-an-event", "adding-a-metric", *PYTHON_RECIPES}
    assert {page for _, page in table} == pages
    assert {page: int(count) for count, page in table} == {page: len(files(page)) for page in pages}


def test_the_recipe_of_a_metric_names_every_place_that_makes_a_row() -> None:
    page = named("adding-a-metric")
    made = places(r"(?<!-> )\b(Flow|Link|Radio)Row \{$")
    assert made == page - {"crates/records/src/tables.rs"}


def test_the_recipe_of_an_event_calls_what_its_place_calls() -> None:
    text = (ROOT / "docs/adding-an-event.md").read_text()
    (call,) = re.findall(r"^ +(\S+\(now, EventKind::)Opening", text, re.MULTILINE)
    assert call + "FlowStart" in (ROOT / "crates/hosts/src/flow.rs").read_text()
    for path in named("adding-an-event"):
        assert "EventKind::" in (ROOT / path).read_text() or "event_kinds!" in (ROOT / path).read_text(), path


def test_the_recipes_of_a_verb_and_of_a_figure_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "python", tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__"))
    for page, steps in PYTHON_RECIPES.items():
        assert follow(page, tmp_path)[0] == steps, page

    def cogtcp(*words: str) -> str:
        command = [sys.executable, "-m", "cogtcp", *words]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "python")}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert cogtcp("flows", "sensed-link") == "flow: linux-cubic\n"
    listed = json.loads(cogtcp("flows", "sensed-link", "--json"))
    assert listed == {"flows": [{"flow": "flow", "transport": "linux-cubic"}]}
    assert re.search(r"^ *flows +list the flows", cogtcp("--help"), re.MULTILINE)
    assert "cogtcp flows my.toml --json" in cogtcp("flows", "--help")
    compare = ["compare", "sensed-link", "--transport", "sack,tahoe", "--seeds", "2", "--out", "results"]
    cogtcp(*compare, "--set", 'run.duration="8 s"')
    cogtcp("plot", "results", "--kind", "medians", "--out", "medians.svg")
    assert "<svg" in (tmp_path / "medians.svg").read_text()
    assert "medians" in cogtcp("plot", "--help")


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
    for name in ("crates", "docs", "scenarios", "benches", "python"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    cases = []
    for page, steps, scenario, field, form in RECIPES:
        edits, value = follow(page, tree)
        assert edits == steps, f"{page}: {edits} edits"
        cases.append(f"({json.dumps(scenario + '.toml')}, {json.dumps(field)}, {json.dumps(form % value)})")
    assert follow("adding-an-event", tree)[0] == 2, "a line in the list, and the place"
    assert follow("adding-a-metric", tree)[0] == 1, "one entry"
    program = textwrap.dedent(PROGRAM.format(cases=", ".join(cases))).lstrip()
    (tree / "crates/simulator/tests/recipes.rs").write_text(program)

    def run(*command: str) -> None:
        done = subprocess.run(
            command,
            cwd=tree,
            env=os.environ | BUILD,
            capture_output=True,
            text=True,
            check=False,
            timeout=3600,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-6000:]}"

    # Both packages each time: with one of them crates would have other features, and be compiled again.
    both = ("-p", "cogtcp-simulator", "-p", "cogtcp-scenario")
    build = ("--quiet", "--offline", "--target-dir", str(TARGET / "build"), "--profile", "dev", *both)
    run(cargo, "test", *build, "--test", "recipes")
    run(cargo, "build", *build, "--example", "generate")
    run(str(TARGET / "build/debug/examples/generate"))
    reference = "".join(page.read_text() for page in (tree / "docs/scenario").glob("*.md"))
    for row in (
        "`{ half_window = ... }`",
        "`{ step = ... }`",
        "`{ last_level = ... }`",
        "`half-speed`",
        "`{ drop_head = ... }`",
        "`{ constant = ... }`",
        "`{ direct = ... }`",
        "`{ pulses = ... }`",
        "## `[radio.blink]`",
    ):
        assert row in reference, f"the reference does not list {row}"

    # The entry of a metric is Python: comparisons have it, on the engine as it is.
    script = (
        "import cogtcp; s = cogtcp.Scenario.from_file('scenarios/sensed-link.toml');"
        "r = cogtcp.run(s.set('run.duration', '5 s'));"
        "print(r.metrics['sent_segments'] == sum(r.flows.column('sent_segments').to_pylist()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "True", done.stdout + done.stderr
