"""Every command and snippet in README.md, CONTRIBUTING.md and docs/ works.

They are run in a folder that looks like the checkout to them. To be done in a minute they are shortened, by
options and arguments put behind theirs (`SHORTER`) and by a bound on simulated time (`LONGEST`); nothing of
theirs is taken away. What is not run is listed with its reason (`NOT_RUN`).
"""

from __future__ import annotations

import doctest
import functools
import json
import re
import shlex
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cogtcp
from cogtcp import Scenario, cli
from cogtcp.cli import verbs
from cogtcp.data.spectrum import PuActivity
from cogtcp.running.runner import Runner
from cogtcp.running.sweeping import plan as planning
from conftest import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])

#: Simulated time of what is run here.
LONGEST = "3 s"

SHORTER = {
    "run": ["--set", f"run.duration={LONGEST}", "--set", "run.warmup=0 s"],
    "compare": ["--set", f"run.duration={LONGEST}", "--set", "run.warmup=0 s", "--seeds", "2"],
    "tune": [
        "--set",
        f"run.duration={LONGEST}",
        "--trials",
        "2",
        "--seeds",
        "1",
        "--fresh-seeds",
        "2",
        "--grid",
        "2x2",
    ],
    "advise": ["--set", f"run.duration={LONGEST}", "--budget", "40runs"],
    "reproduce": ["--seeds", "2", "--claim", "c2-f4a"],
    "validate": ["--peer", "theory", "--cases", "1", "--runs", "2"],
    "sweep": ["--set", f"run.duration={LONGEST}", "--seeds", "2"],
}

NOT_RUN = {
    ". .venv/bin/activate": "of a shell, and these tests run in it",
    "make demo": "a comparison, as the ones below; takes a minute",
    "make setup": "has made the environment in which this runs",
    "make test": "is what runs this",
    "make quick": "runs a part of these tests; test_quick.py tests how it chooses",
    "make lint": "runs beside this",
    "make rustdoc": "takes minutes; the workflow ci runs it",
    "make format": "changes the sources",
    "make docs": "test_site.py builds it",
    "make web": "test_web_browser.py opens what it makes",
    "make site": "make docs and make web",
    "python3 -m http.server": "serves until it is ended",
    "make wheel": "test_packaging.py builds one and installs it",
    "make advisories": "needs a network",
    "make words": "test_prose.py holds the budgets",
    "make bench": "takes minutes",
    "make atlas": "takes hours",
    "make fit-truth": "takes an hour, and needs a kernel in virtual time",
    "python benches/fit_truth.py": "takes an hour, and needs a kernel in virtual time",
    "python benches/fit_public.py": "needs checkouts of others",
    "make agree": "takes minutes of real time",
    "make kernel": "takes minutes, or needs a registry; test_virtual.py runs what it makes",
    "make fuzz": "the same tests with other examples",
    "make mutants": "takes two hours",
    "make reference": "changes the sources; what it writes is compared with what is there",
    ".ci/run": "runs this",
    "cargo test": "is run beside this",
    "cargo run -p cogtcp-scenario --example generate": "changes the sources; what it writes is compared",
    "cargo clippy": "is run by make lint",
    "cargo build": "takes minutes",
    ".venv/bin/python -m pytest": "is what runs this",
    "pytest": "is what runs this",
    ".venv/bin/maturin develop": "takes minutes, and make setup has done it",
    "pip install": "needs a registry",
    "python benches/references": "needs ns-2, or the trees of ns-2 and ns-3",
}

#: What is there for what a recipe adds.
STAND_INS = (("<name>", "c2"), ("half-speed", "sack"))

#: What stands around a part of a scenario.
FLOWS = '[[flow]]\nfrom = "sender"\nto = "receiver"\ntransport = "newreno"\n'
RADIO = '[[radio]]\nname = "radio"\nlinks = ["link"]\n'
HEAD = 'name = "part"\n[run]\nduration = "3 s"\n[topology.single_hop]\n'
LINK = 'link = { rate = "1 Mbit/s", delay = "1 us", queue = "50 packets" }\n'
PAIRS = (
    'name = "part"\n[run]\nduration = "3 s"\n[topology.dumbbell]\npairs = 1\n'
    'access = { rate = "10 Mbit/s", delay = "1 ms", queue = "50 packets" }\n'
    'bottleneck = { rate = "1 Mbit/s", delay = "1 ms", queue = "50 packets" }\n'
)
TIMES = 'sensing_time = "100 ms"\ntransmission_time = "1 s"\n'
USERS = f'detector = "perfect"\n{TIMES}'
SPECTRUM = (
    '[spectrum]\nchannels = { uniform = "1 Mbit/s" }\npu = { exponential = { alpha = 0.5, beta = 0.5 } }\n'
)

# test_recipes.py follows these recipes: compiles their Rust, runs what their TOML says, puts their Python in.
COMPILED = {
    "adding-a-congestion-control.md",
    "adding-a-detector.md",
    "adding-a-figure.md",
    "adding-a-kind-of-traffic.md",
    "adding-a-metric.md",
    "adding-a-policy.md",
    "adding-a-predictor.md",
    "adding-a-queue-discipline.md",
    "adding-a-radio.md",
    "adding-a-routing-protocol.md",
    "adding-a-transport.md",
    "adding-a-verb.md",
    "adding-an-event.md",
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page, line, match[1], match[2]))
    return found


def of(*languages: str) -> dict[str, list[Block]]:
    """Return the blocks of some languages by page: what comes later may use what came before."""
    pages: dict[str, list[Block]] = defaultdict(list)
    for block in blocks():
        if block.language in languages:
            pages[str(block.page.relative_to(ROOT))].append(block)
    return pages


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder that looks like the checkout, in which nothing is written to the real one."""
    for name in ("scenarios", "examples", "studies", "docs", "benches", "crates", "tests", "Makefile", ".ci"):
        (tmp_path / name).symlink_to(ROOT / name)
    # What the pages speak of as yours.
    (tmp_path / "busy.csv").write_text("time,band,busy\n0,1,0\n1,1,1\n2,1,0\n4,1,1\n5,1,0\n6,1,1\n7,1,0\n")
    (tmp_path / "sweeps.csv").write_text(
        "time,2412,2437\n0,-101,-87\n0.1,-100,-88\n0.2,-93,-99\n0.3,-93,-99\n"
    )
    (tmp_path / "ch.log").write_text("<1, 1, 1000000, 1e-12>\n<2, 1, 1000000, 2e-12>\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    return tmp_path


def commands(text: str) -> list[list[str]]:
    """Return the commands of a shell block as words, comments and continuations taken out."""
    return [
        words
        for line in text.replace("\\\n", " ").splitlines()
        if (words := shlex.split(line, comments=True))
    ]


@pytest.mark.parametrize("page", of("sh"))
def test_commands(
    page: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "my_control", raising=False)  # as in a new process
    if page == "README.md":  # as `make demo` leaves it
        assert (
            cli.main(
                [
                    "compare",
                    "scenarios/sensed-link.toml",
                    "--transport",
                    "newreno,sack",
                    *SHORTER["compare"],
                    "--out",
                    "results/demo",
                ]
            )
            == 0
        )
    measured: set[str] = set()
    for block in of("sh")[page]:
        for words in commands(block.text):
            words[0] = words[0].removeprefix(".venv/bin/")
            if words[0] == "export" and words[1].startswith("PYTHONPATH="):
                monkeypatch.syspath_prepend(checkout / words[1].removeprefix("PYTHONPATH="))
            elif words[0] == "cogtcp":
                run(block, words[1:], capsys, measured)
            else:
                check_other(block, words)


def as_asked(arguments: list[str]) -> str:
    """Return what a command asks for, however often it names a thing."""
    asked = vars(verbs.parser().parse_args(arguments))
    del asked["verb"]  # a function, told by its address
    once = {name: sorted(set(value)) if isinstance(value, list) else value for name, value in asked.items()}
    return str(once)


def run(block: Block, arguments: list[str], capsys: pytest.CaptureFixture[str], measured: set[str]) -> None:
    arguments = [functools.reduce(lambda a, pair: a.replace(*pair), STAND_INS, word) for word in arguments]
    left_out = {"--search", "sim,kernel", "virtual"} & set(arguments)
    if arguments[0] in ("lab", "emulate", "agree", "kernel") or left_out:
        # A server that goes on for ever; real time, which not every kernel allows; kernels that nobody built;
        # a search of hours.
        verbs.parser().parse_args(arguments)
        return
    verb = arguments[0]
    if verb == "new" and Path("single-hop.toml").exists():
        arguments = [*arguments, "--force"]
    if "--list" not in arguments:
        arguments = [*arguments, *SHORTER.get(verb, [])]
    # Shortened, some commands ask for the same: what they measure is measured once.
    if verb == "validate":
        if (asked := as_asked(arguments)) in measured:
            return
        measured.add(asked)
    try:
        code = cli.main(arguments)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    captured = capsys.readouterr()
    assert code == 0, f"{block.name}: cogtcp {shlex.join(arguments)}: {captured.err}"


def check_other(block: Block, words: list[str]) -> None:
    """Check what is not run: that its reason is known, and that the files and targets that it names exist."""
    text = " ".join(words)
    known = [start.removeprefix(".venv/bin/") for start in NOT_RUN]
    assert any(text.startswith(start) for start in known), f"{block.name}: {text}: run it, or say why not"
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", Path("Makefile").read_text(), re.MULTILINE), (
            f"{block.name}: {text}"
        )
    if words[0] == "cargo" and "-p" in words:
        crate = words[words.index("-p") + 1].removeprefix("cogtcp-")
        assert (ROOT / "crates" / crate / "Cargo.toml").exists(), f"{block.name}: {text}"
    for word in words:
        if re.fullmatch(r"(tests|benches|\.ci)/[\w./-]+", word):
            assert (ROOT / word).exists(), f"{block.name}: there is no {word}"


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound simulated time, seeds and trials of what snippets ask for."""
    read = Scenario.from_file

    def short(*arguments: Any, **options: Any) -> Scenario:
        return read(*arguments, **options).set("run.duration", LONGEST).set("run.warmup", "0 s")

    monkeypatch.setattr(Scenario, "from_file", staticmethod(short))
    compare, tune = cogtcp.compare, cogtcp.tune
    monkeypatch.setattr(
        cogtcp, "compare", lambda *given, **options: compare(*given, **{**options, "seeds": 2})
    )
    few = {"trials": 2, "seeds": 1, "fresh_seeds": 2}
    monkeypatch.setattr(cogtcp, "tune", lambda *given, **options: tune(*given, **{**options, **few}))


@pytest.mark.parametrize("page", of("python", "pycon"))
def test_snippets(
    page: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shorten(monkeypatch)
    monkeypatch.syspath_prepend(checkout / "examples")  # as the page on Python controls exports it
    # A page about one's own scenario takes it for read.
    name = f"snippets_{re.sub(r'[^a-z]', '_', page.lower())}"
    module = type(sys)(name)
    monkeypatch.setitem(sys.modules, name, module)
    space = vars(module)
    space.update(cogtcp=cogtcp, scenario=Scenario.from_file("scenarios/sensed-link.toml"), Runner=Runner)
    for block in of("python", "pycon")[page]:
        if block.page.name in COMPILED:
            continue  # a part of a file that the recipe names
        if block.language == "pycon":
            example = doctest.DocTestParser().get_doctest(block.text, space, block.name, None, block.line)
            failures, _ = doctest.DocTestRunner().run(example)
            assert failures == 0, block.name
            continue
        # The place is told to what looks for the source of a function: a runner does.
        source = checkout / f"{name}_{block.line}.py"
        source.write_text(block.text)
        module.__file__ = str(source)
        exec(compile(block.text, str(source), "exec"), space)  # noqa: S102


def whole(block: Block) -> list[str]:
    """Return the scenarios that a block of TOML stands for: it is one, or a part of one, or of several."""
    text, page = block.text, block.page.name
    if re.search(r"^name = ", text, re.MULTILINE) and "[run]" in text:
        return [text]
    if page == "queues.md":
        return [HEAD + line + "\n" + FLOWS for line in text.splitlines() if line.startswith("link")]
    if page == "atcp.md":
        radio = text[text.index("[[radio]]") :].replace("[[radio]]", RADIO)
        return [HEAD + LINK.replace("queue", 'mark = "20 packets", queue') + radio + FLOWS]
    if page in ("your-own.md", "adding-a-congestion-control.md"):
        # The control of the recipe is not there: one with the same parameter stands in for it.
        text = text.replace("half-speed", "aimd").replace(
            "[[flow]]", '[[flow]]\nfrom = "sender"\nto = "receiver"'
        )
        return [HEAD + LINK + text]
    if page == "spectrum-tools.md":
        return [HEAD + LINK + text.replace("pu.log", "users.log") + RADIO + "[radio.cr]\n" + USERS + FLOWS]
    if page == "wireless.md":
        return [HEAD + LINK + SPECTRUM + RADIO + text + FLOWS]
    channels = SPECTRUM.rpartition("pu = ")[0]
    match str(block.page.relative_to(ROOT / "docs")).removesuffix(".md").split("/"):
        case ["detectors" | "policies", _] | ["radios", "cognitive-user"]:
            return [HEAD + LINK + SPECTRUM + RADIO + "[radio.cr]\n" + TIMES + text + FLOWS]
        case ["regulations", _]:
            # A regulation takes the place of sensing, but for quiet periods.
            return [HEAD + LINK + SPECTRUM + RADIO + "[radio.cr]\n" + text + 'access = "none"\n' + FLOWS]
        case ["primary-users", _]:
            return [HEAD + LINK + channels + text + RADIO + "[radio.cr]\n" + USERS + FLOWS]
        case ["radios", "channels"]:
            return [HEAD + LINK + "[spectrum]\n" + text + RADIO + "[radio.cr]\n" + USERS + FLOWS]
        case ["radios", "cell"]:
            text = text.replace("[radio.cr]\n", f"[radio.cr]\n{USERS}")
            return [HEAD + LINK + SPECTRUM + RADIO + text + FLOWS]
        case ["radios", "cycle" | "journey" | "leo"]:
            return [HEAD + LINK + RADIO + text.replace("maps/", f"{ROOT}/scenarios/maps/") + FLOWS]
        case ["predictors", _]:
            train = (ROOT / "scenarios/train-journey.toml").read_text()
            train = train.replace("maps/", f"{ROOT}/scenarios/maps/")
            return [re.sub(r"^prediction = .*\n", lambda _: text, train, flags=re.MULTILINE)]
        case ["transports", _]:
            return [text if "[topology" in text else HEAD + LINK + text]
        case ["traffic", _]:
            return [PAIRS + text + FLOWS.replace('"sender"', '"s1"').replace('"receiver"', '"d1"')]
        case ["queues", _]:
            return [HEAD + text + FLOWS]
    if page == "link-traces.md":
        text = text.replace("[topology.single_hop]\n", "")
        return [HEAD + text.replace("lte.trace", f"{ROOT}/scenarios/traces/lte.trace") + FLOWS]
    raise AssertionError(f"{block.name}: say what stands around this part of a scenario")


@pytest.mark.parametrize("page", of("toml"))
def test_scenarios(page: str, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(checkout / "examples")
    PuActivity.generate(users=2, duration=20, seed=1)
    (checkout / "users.log").write_text(PuActivity.generate(users=2, duration=20, seed=1).to_text("pu-log"))
    for block in of("toml")[page]:
        if block.page.name in COMPILED - {"adding-a-congestion-control.md"}:
            continue  # names what the recipe adds
        if page == "docs/adding-a-study.md":
            tomllib.loads(block.text)  # what it means a test of the studies says
            continue
        if page in ("docs/sweeps.md", "docs/how-to/sweep.md"):
            (checkout / "sweeps").mkdir(exist_ok=True)
            (checkout / "sweeps" / "sweep.toml").write_text(block.text)
            assert planning.read(checkout / "sweeps" / "sweep.toml").total > 1
            continue
        for text in whole(block):
            try:
                Scenario.from_toml(text, allow_python=True).check()
            except cogtcp.ScenarioError as error:
                pytest.fail(f"{block.name}: {error}\n{text}")


def cells(text: str) -> list[list[str]]:
    """Return the rows of the tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_extra_is_on_the_page_about_installing() -> None:
    rows = cells((ROOT / "docs/how-to/install.md").read_text())[2:]
    named = [name for row in rows for name in re.findall(r"`([a-z]+)`", row[0])]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert sorted(named) == sorted(extras)


def test_defaults_beside_those_of_ns_are_ours() -> None:
    rows = cells((ROOT / "docs/how-to/coming-from-ns.md").read_text())
    ours = {row[0]: row[3] for row in rows if len(row) == 4}
    tcp = (ROOT / "docs/scenario/tcp.md").read_text().partition("## `[tcp]`")[2].partition("\n## ")[0]
    default = {row[0].strip("`"): row[3].strip('`"') for row in cells(tcp)}
    assert "newreno" in ours["setting"]
    assert (ours["segment"], default["segment_size"]) == ("1460 B", "1.46 kB")
    assert (ours["least RTO"], ours["first RTO"]) == (default["min_rto"], default["initial_rto"])
    assert (ours["initial window"], default["initial_window"]) == ("10 (RFC 6928)", "rfc6928")
    assert (ours["greatest window"], default["max_window"]) == ("none", "-")
    delayed = (default["ack_every"], default["delayed_ack"])
    assert (ours["delayed ACKs"], *delayed) == ("2 segments or 0.2 s", "2 segments", "200 ms")


def test_logs() -> None:
    """What the page on formats shows is read as it says."""
    texts = [block.text for block in of("text")["docs/spectrum-formats.md"]]
    users, channels, occupancy, sweeps = texts
    assert [len(user.on) for user in PuActivity.from_text(users, "pu-log").users] == [2, 1]
    assert len(cogtcp.spectrum.ChannelTable.from_text(channels, "ch-log").channels) == 2
    assert len(PuActivity.from_text(occupancy, "csv").users) == 2
    measured = PuActivity.from_text(sweeps, "csv", threshold=-95.0)
    assert [user.on for user in measured.users] == [(), ((0.0, 0.2),)]


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    for block in blocks():
        assert block.language in ("sh", "python", "pycon", "toml", "rust", "text", "mermaid", ""), block.name
        if block.language == "rust":
            assert block.page.name in COMPILED, f"{block.name}: nothing compiles this"
        if block.language == "":  # equations, a picture of a folder, a message
            assert not re.search(r"^(\$ |cogtcp |make |pip |import )", block.text, re.MULTILINE), (
                f"{block.name}: say which language this is, so that it is run"
            )
    assert len(blocks()) > 40


@functools.cache
def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{page.name}: {target}"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_the_sources_that_a_page_names_exist(page: Path) -> None:
    if page.name in COMPILED or page.name.startswith("adding-"):
        return  # recipes name what they add
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for named in re.findall(r"`((?:crates|tests|python|docs|benches|requirements)/[\w/.-]+)`", text):
        assert (ROOT / named).exists(), f"{page.name}: there is no {named}"


def test_every_page_is_found_from_the_readme() -> None:
    reached, new = set(), {ROOT / "README.md"}
    while new:
        page = new.pop()
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text()):
            linked = (page.parent / target).resolve()
            pages = linked.rglob("*.md") if linked.is_dir() else [linked] if linked.suffix == ".md" else []
            new |= {p for p in pages if p.exists() and p.is_relative_to(ROOT)} - reached
    assert set(PAGES) <= reached, set(PAGES) - reached


def generator(name: str) -> dict[str, Any]:
    """Return what is in a file of docs/ that writes pages."""
    path = ROOT / "docs" / f"{name}.py"
    space: dict[str, Any] = {"__name__": name, "__file__": str(path)}
    exec(path.read_text(), space)  # noqa: S102
    return space


def test_tables_of_parameters_are_those_of_the_types() -> None:
    pages = generator("generate_models")["pages"]()
    assert len(pages) > 30
    for page, text in pages.items():
        assert page.read_text() == text, f"{page.relative_to(ROOT)}: write it again: make reference"
        assert "| meaning |" in text, page


#: Registries of models: the type in the schema, the folder of its pages, and pages that describe several.
REGISTRIES = (
    ("Detector", "detectors", {"perfect": "fixed", "as_released": "fixed"}),
    ("Policy", "policies", {}),
    ("Regulation", "regulations", {}),
    ("Prediction", "predictors", {}),
    ("Queue", "queues", {}),
    ("Transport", "transports", {}),
    (
        "Traffic",
        "traffic",
        {"saturated": "bulk", "size": "bulk", "rate": "bulk", "adaptive_video": "video"},
    ),
    (
        "Users",
        "primary-users",
        {"pu_log": "recorded", "map": "recorded", "occupancy": "recorded", "measured": "recorded"},
    ),
)


@pytest.mark.parametrize(("registry", "folder", "elsewhere"), REGISTRIES, ids=lambda value: str(value))
def test_every_model_of_a_registry_has_its_page(
    registry: str, folder: str, elsewhere: dict[str, str]
) -> None:
    schema = json.loads((ROOT / "crates/scenario/schema/scenario.schema.json").read_text())
    names = []
    for choice in schema["$defs"][registry]["oneOf"]:
        names += [choice["const"]] if "const" in choice else []
        names += [*choice.get("properties", {}), *choice.get("enum", [])]
    assert names
    for name in set(names) - {"none"}:
        page = ROOT / "docs" / folder / f"{elsewhere.get(name, name).replace('_', '-')}.md"
        assert page.is_file(), f"{name}: write docs/{folder}/{page.name}"
        assert re.search(rf"\b{name}\b", page.read_text()), f"{page}: does not name {name}"


def test_pages_of_models_say_the_same_kinds_of_things() -> None:
    folders = (
        *("detectors", "policies", "predictors", "primary-users", "regulations"),
        *("radios", "queues", "congestion", "transports", "traffic"),
    )
    pages = [page for folder in folders for page in (ROOT / "docs" / folder).glob("*.md")]
    for page in pages:
        if page.name in ("simulators.md", "your-own.md"):
            continue  # presets that several pages describe; a recipe
        headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        for wanted in ("What it is", "Equations", "Parameters", "Scope and limitations", "Validation"):
            assert wanted in headings, f"{page.relative_to(ROOT)}: {wanted}"


def test_the_page_of_the_api_is_that_of_the_code() -> None:
    space = generator("generate_api")
    assert (ROOT / "docs/api.md").read_text() == space["page"](), "write it again: make reference"
