"""The command line, end to end."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cogtcp import Scenario, _core, run
from cogtcp.cli import verbs
from cogtcp.cli.help import GROUPS
from cogtcp.model import provenance
from conftest import ROOT, SMALL, Command, files

RESULTS = {
    "flows", "tcp_flows", "links", "radios", "budget",
    "flow_series", "control_series", "link_series", "events",
}  # fmt: skip
# Tables of what only some runs have.
EXTENSIONS = {
    "tcp_segments", "quic_flows", "quic_log", "payloads", "subflows",
    "trains", "train_flows", "predictions", "datagrams", "calls", "requests", "request_flows", "chunks",
    "videos", "emulation",
    "routing", "streams", "drops", "nodes", "searches", "positions", "routes", "frames",
    "primary_users",
}  # fmt: skip


def test_run_writes_tables_scenario_and_report(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "--out", "out")
    assert (done.code, done.err) == (0, "")
    assert "newreno delivers" in done.out
    assert done.out.endswith("report: out/report.html\n")
    expected = {"cogtcp.json", "report.html", "scenario.toml", *(f"{name}.parquet" for name in RESULTS)}
    assert set(files(tmp_path / "out")) == expected
    assert Scenario.from_file(tmp_path / "out/scenario.toml") == Scenario.from_toml(SMALL)
    digest = run(Scenario.from_toml(SMALL)).digest
    assert pq.read_schema(tmp_path / "out/flows.parquet").metadata[b"cogtcp.digest"].decode() == digest


def test_run_writes_packets_on_demand(command: Command, small: Path, tmp_path: Path) -> None:
    assert command("run", small, "--packets", "--out", "out").code == 0
    packets = pq.read_table(tmp_path / "out/packets.parquet")
    first = packets.slice(0, 1).to_pylist()[0]
    segment = pq.read_table(tmp_path / "out/tcp_segments.parquet").slice(0, 1).to_pylist()[0]
    assert (first["event"], first["source"]) == ("queued", "sender")
    assert (segment["packet"], segment["flags"], segment["seq"]) == (0, "S", 0)
    assert set(packets.column("event").to_pylist()) == {"queued", "received", "dropped"}


def test_run_tells_of_an_ad_hoc_network(command: Command) -> None:
    """Routes and routing as the tables have them; of many radios one line."""
    out = command("run", "adhoc-cr", "--set", "run.duration=20 s", "--out", "out").out
    result = run(Scenario.from_file(ROOT / "scenarios/adhoc-cr.toml").set("run.duration", "20 s"))
    [routing] = result.rows("routing")
    lines = [line.split() for line in out.splitlines()]
    said = next(line for line in lines if line[:1] == ["cr_aodv"])
    assert said[1:2] == [f"{routing['searches']:,}"]
    assert f"{routing['overhead_packets']:,}" in said
    for row in result.rows("streams"):
        if row["stream"] == "data" and row["delivered_packets"]:
            shown = next(line for line in lines if line[1:4] == [row["from"], "to", row["to"]])
            assert shown[:1] == [row["flow"]]
            assert shown[4] == f"{row['hops_mean']:.2f}"
    assert [line[:2] for line in lines if line[:1] == ["all"]] == [["all", "25"]]


def test_run_in_json(command: Command, small: Path) -> None:
    done = command("run", small, "--json", "--seed", 3)
    assert (done.code, done.err) == (0, "")
    document = done.json()
    result = run(Scenario.from_toml(SMALL), 3)
    assert document["digest"] == result.digest
    assert document["metrics"]["goodput_bps"] == result.metrics["goodput_bps"]
    assert document["flows"][0]["completion_s"] is None  # "no value", not NaN, which is no JSON
    assert document["provenance"]["scenario_sha256"] == result.scenario.hash


def test_the_default_folder_is_named_by_its_content(command: Command, small: Path, tmp_path: Path) -> None:
    names = {
        command("run", small, "--json", *args).json()["out"] for args in ((), ("--seed", 7), ("--seed", 8))
    }
    assert len(names) == 2
    assert all(re.fullmatch(r"results/small-run-[0-9a-f]{8}", name) for name in names)
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == sorted(
        name.removeprefix("results/") for name in names
    )


def test_two_runs_write_the_same_bytes(command: Command, small: Path, tmp_path: Path) -> None:
    for out in ("a", "b"):
        assert command("run", small, "--out", out).code == 0
    for name in [*(f"{name}.parquet" for name in RESULTS), "scenario.toml"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_set_changes_the_scenario(command: Command, small: Path, tmp_path: Path) -> None:
    changes = ["--set", "run.duration=2 s", "--set", "flow.*.transport = sack", "--set", 'name="other"']
    done = command("run", small, "--out", "out", *changes)
    assert (done.code, done.err) == (0, "")
    written = Scenario.from_file(tmp_path / "out/scenario.toml").to_dict()
    assert (written["run"]["duration"], written["flow"][0]["transport"], written["name"]) == (
        "2 s",
        "sack",
        "other",
    )


def test_compare_writes_tables_scenario_and_report(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("compare", small, "--transport", "newreno,sack", "--seeds", 3, "--out", "out")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"newreno +\d\.\d+ ± ", done.out)
    assert re.search(r"sack +[\d.]+ ± [\d.]+ +[+-][\d.]+ ± ", done.out)
    assert "3 seeds" in done.out
    tables = {path.stem for path in (tmp_path / "out").glob("*.parquet")}
    assert tables == {"runs", "summary", "paired", "flows", "tcp_flows", "links", "radios", "budget"}
    assert pq.read_table(tmp_path / "out/runs.parquet").column("seed").to_pylist() == [7, 7, 8, 8, 9, 9]


def test_compare_in_json(command: Command, small: Path) -> None:
    arguments = ["--transport", "newreno", "--transport", "sack", "--seeds", 2, "--seed", 40, "--json"]
    document = command("compare", small, *arguments, "--jobs", 1).json()
    assert document["seeds"] == [40, 41]
    assert document["transports"] == ["newreno", "sack"]
    assert document["summary"]["sack"]["goodput_bps"]["n"] == 2
    difference = document["paired"]["sack"]["goodput_bps"]["mean"]
    means = [document["summary"][name]["goodput_bps"]["mean"] for name in ("sack", "newreno")]
    assert difference == pytest.approx(means[0] - means[1])
    again = command("compare", small, *arguments, "--jobs", 4).json()
    assert again == document


def test_check(command: Command, small: Path, tmp_path: Path) -> None:
    assert command("check", small).out == f"{small}: small can be run\n"
    document = command("check", small, "--json").json()
    assert (document["ok"], document["warnings"]) == (True, [])
    assert files(tmp_path) == ["small.toml"]


def test_new_writes_a_scenario_that_runs(command: Command, tmp_path: Path) -> None:
    kinds = [entry["name"] for entry in command("new", "--list", "--json").json()["kinds"]]
    assert kinds == [name for name, _ in _core.starters()]
    assert command("new").code == 0
    assert files(tmp_path) == [f"{kinds[0]}.toml"]
    assert command("new", "--out", "other.toml").out == "wrote other.toml; now: cogtcp run other.toml\n"
    refused = command("new", "mine.toml", "--out", "other.toml")
    assert (refused.code, files(tmp_path)) == (2, ["other.toml", f"{kinds[0]}.toml"])
    for kind in kinds:
        assert command("new", "mine.toml", "--kind", kind, "--force").code == 0
        assert command("check", "mine.toml").code == 0


def test_new_replaces_nothing_unasked(command: Command, small: Path) -> None:
    done = command("new", small)
    assert done.code == 1
    assert "exists already" in done.err
    assert small.read_text() == SMALL
    assert command("new", "notes.txt").code == 2
    assert command("new", "--kind", "ring").code == 2


def test_schema(command: Command) -> None:
    assert json.loads(command("schema").out) == json.loads(_core.schema())
    columns = command("schema", "--results", "--json").json()
    assert set(columns) == {*RESULTS, *EXTENSIONS, "packets", "runs", "summary", "paired"}
    assert "goodput_bps (f64, bit/s): Goodput" in command("schema", "--results").out


def test_transports_and_version(command: Command) -> None:
    listed = [entry["name"] for entry in command("transports", "--json").json()["transports"]]
    assert {"tahoe", "reno", "newreno", "sack"} <= set(listed)
    assert command("transports").out.splitlines()[0].split()[0] == listed[0]
    assert command("version").out.startswith(f"cogtcp {_core.version}")
    assert command("--version").out.count("\n") == 1


def test_version_names_commit_and_features(command: Command) -> None:
    told = command("version", "--json").json()
    assert (told["version"], told["commit"]) == (_core.version, provenance.commit())
    lines = command("version").out.splitlines()[3:]
    assert [line.split("  ")[0] for line in lines] == [each["name"] for each in told["features"]]
    assert {"lab", "query", "kernel plane", "virtual time"} <= {each["name"] for each in told["features"]}


def test_a_missing_feature_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from importlib import metadata

    from cogtcp.cli.features import features

    def installed(package: str) -> str:
        if package == "duckdb":
            raise metadata.PackageNotFoundError(package)
        return "1.2"

    required = ["rich>=14", "duckdb>=1.4 ; extra == 'query'"]
    required += ["uvicorn>=0.3; extra == 'lab'", "starlette; extra == 'lab'"]
    monkeypatch.setattr(metadata, "requires", lambda _: required)
    monkeypatch.setattr(metadata, "version", installed)
    monkeypatch.setenv("COGTCP_KERNELS", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    found = {each.name: (each.available, each.detail) for each in features()}
    assert [*found] == ["lab", "query", "kernel plane", "virtual time", "page engine"]
    assert found["lab"] == (True, "starlette 1.2, uvicorn 1.2")
    assert found["query"] == (False, "pip install 'cogtcp[query]'")
    assert found["kernel plane"] == (False, "needs Linux")
    assert found["virtual time"] == (False, "cogtcp kernel build")


def test_the_features_are_the_extras_of_the_package() -> None:
    import tomllib

    from cogtcp.cli.features import features

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert sorted(extras) == [feature.name for feature in features()][: len(extras)]


VERBS = [
    "run",
    "emulate",
    "agree",
    "validate",
    "packets",
    "compare",
    "tune",
    "fit",
    "advise",
    "plot",
    "sweep",
    "results",
    "query",
    "merge",
    "lab",
    "check",
    "new",
    "schema",
    "transports",
    "reproduce",
    "pu",
    "journey",
    "metrics",
    "mobility",
    "trace",
    "kernel",
    "c2",
    "freeze",
    "sensing",
    "version",
]


FAMILIES = ("pu", "journey", "mobility", "trace", "kernel", "c2", "freeze")
NESTED = [
    "pu generate",
    "pu show",
    "pu convert",
    "journey show",
    "mobility generate",
    "mobility show",
    "trace show",
    "trace convert",
    "trace export",
    "trace generate",
    "kernel build",
    "kernel list",
    "kernel show",
    "kernel use",
    "kernel remove",
    "c2 load",
    "c2 status",
    "c2 unload",
    "c2 flows",
    "c2 link",
    "freeze load",
    "freeze key",
    "freeze status",
    "freeze trigger",
    "freeze unload",
    "freeze clean",
]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in FAMILIES] + NESTED)
def test_every_verb_explains_itself(command: Command, verb: str) -> None:
    done = command(*verb.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert "--json" in done.out


def test_help_lists_every_verb(command: Command) -> None:
    listed = re.findall(r"^    (\w+)", command("--help").out, re.MULTILINE)
    assert sorted(listed) == sorted(VERBS)
    grouped = [verb for group in GROUPS.values() for verb in group]
    assert set(VERBS) <= set(grouped), "cogtcp.cli.help.GROUPS: every verb has a group"
    assert len(grouped) == len(set(grouped))


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in FAMILIES] + NESTED)
def test_help_is_short_and_has_two_examples(
    command: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("COLUMNS", "102")
    said = command(*verb.split(), "--help").out
    assert said.count("\n") <= 25
    examples = re.findall(
        r"^  cogtcp (.*)$", said.replace("\\\n", " ").partition("examples:")[2], re.MULTILINE
    )
    assert len(examples) == 2
    for example in examples:
        words = shlex.split(example)
        assert example.startswith(f"{verb} ") or example == verb
        verbs.parser().parse_args(words)  # exits with 2 if it is wrong


@pytest.mark.parametrize("verb", [["version"], ["transports"], ["--help"]])
def test_verbs_that_simulate_nothing_load_nothing_heavy(verb: list[str]) -> None:
    code = (
        "import sys\nfrom cogtcp.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print({'pyarrow', 'matplotlib', 'jinja2', 'rich', 'numpy'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *verb], capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


@pytest.mark.parametrize("verb", [["run"], ["compare", "--transport", "newreno,sack", "--seeds", "2"]])
def test_verbs_that_simulate_load_no_tables(verb: list[str], tmp_path: Path) -> None:
    code = (
        "import sys\nfrom cogtcp.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print({'pyarrow', 'matplotlib', 'rich', 'numpy', 'pandas'} & set(sys.modules))"
    )
    given = [*verb, "sensed-link", "--set", "run.duration=2 s", "--set", "run.warmup=0 s", "--jobs", "1"]
    given = given if verb[0] == "compare" else given[:-2]
    done = subprocess.run(
        [sys.executable, "-c", code, *given, "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "set()"


def test_only_the_verb_that_is_given_is_loaded() -> None:
    parser = verbs.parser()
    parser.parse_args(["schema"])
    found = next(action for action in parser._actions if action.choices and "run" in action.choices)
    assert [verb for verb, each in found.choices.items() if not each.fills] == [  # type: ignore[union-attr]
        "schema",
        "transports",  # these have no arguments
        "version",
    ]


def test_the_commit_is_that_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python" / "cogtcp").mkdir(parents=True)
    (tmp_path / "crates").mkdir()
    monkeypatch.setattr(
        provenance, "__file__", str(tmp_path / "python" / "cogtcp" / "model" / "provenance.py")
    )
    monkeypatch.setattr(provenance, "commit", provenance.commit.__wrapped__)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@example.org")

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S607
        return done.stdout.strip()

    assert provenance.commit() is None  # no checkout
    built = tmp_path / "python" / "cogtcp" / "commit.txt"
    built.write_text("0123456789ab\n")
    assert provenance.commit() == "0123456789ab"  # a wheel
    built.unlink()
    git("init", "--quiet")
    assert provenance.commit() is None  # no commit
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "--message", "one")
    head = git("rev-parse", "--short=12", "HEAD")
    (tmp_path / "new").touch()
    assert provenance.commit() == head
    (tmp_path / "file").write_text("2")
    assert provenance.commit() == f"{head}-dirty"


def test_the_reader_of_a_pipe_may_leave(small: Path) -> None:
    shell = f"{sys.executable} -m cogtcp schema --results | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=True, cwd=ROOT)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("words", "meant"), [(["rnu", "a.toml"], "'run'"), (["run", "a.toml", "--sede", "3"], "'--seed'"),
                         (["pu", "shwo", "a.log"], "'show'")]
)  # fmt: skip
def test_a_wrong_name_suggests_the_nearest(command: Command, words: list[str], meant: str) -> None:
    done = command(*words)
    assert done.code == 2
    assert f"did you mean {meant}?" in done.err


def test_an_option_of_another_verb_is_not_suggested(command: Command) -> None:
    """`pu generate` has no --out, `run` has: the usage shown is that of `pu generate`."""
    done = command("pu", "generate", "--out", "x")
    assert done.code == 2
    assert "unrecognized arguments: --out" in done.err
    assert "did you mean '--out'" not in done.err
    assert done.err.startswith("usage: cogtcp pu generate")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("cogtcp comp", {"compare"}),
        ("cogtcp run sensed", {"sensed-link"}),
        ("cogtcp run ", {"mine.toml", "sensed-link", "train"}),
        ("cogtcp compare mine.toml --transport newreno,sa", {"newreno,sack", "newreno,satcp"}),
        ("cogtcp compare mine.toml --tra", {"--transport"}),
        ("cogtcp reproduce chain --claim chain-f7", {"chain-f7a", "chain-f7b"}),
        ("cogtcp new --kind ch", {"chain"}),
        ("cogtcp plot out --kind heat", {"heatmap"}),
    ],
)
def test_the_shell_completes(typed: str, offered: set[str], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    answer = tmp_path / "answer"
    # What the shell functions of argcomplete set; it writes to descriptor 8, here a file.
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": typed,
        "COMP_POINT": str(len(typed)),
    }
    # By the name of the command, not `python -m`: the words are those of the line.
    script = "import sys; sys.argv[0] = 'cogtcp'; from cogtcp.cli import main; main()"
    subprocess.run([sys.executable, "-c", script], env={**os.environ, **asked}, cwd=tmp_path, check=False)
    found = {word.strip() for word in answer.read_text().split("\n")}
    assert offered <= found
    assert all(word.startswith(typed.split(" ")[-1]) for word in found)
    assert "notes.txt" not in found


def test_metrics_lists_what_a_scenario_offers(command: Command) -> None:
    found = command("metrics", ROOT / "examples" / "cell-call.toml", "--json")
    entries = {entry["name"]: entry for entry in json.loads(found.out)["metrics"]}
    delay = entries["call.delay_p95"]
    assert (delay["unit"], delay["better"], delay["noticed"], delay["kind"]) == ("s", "less", True, "call")
    assert entries["download.goodput"]["noticed"]
    assert not entries["neighbour.goodput"]["noticed"], "its transport is fixed"
    said = command("metrics", ROOT / "examples" / "cell-call.toml").out
    assert said.index("call.mos") < said.index("goodput_bps")
