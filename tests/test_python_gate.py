"""Files never run Python: every way by which a file's text can reach a control in Python has one gate.

Each case is a verb with an input that names `evil:E`. The module writes a file when it is imported. The same
input with leave to run Python must write it: else the case does not reach a control, and proves nothing.
"""

from __future__ import annotations

import argparse
import ast
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import Scenario, ScenarioError, UsageError
from cogtcp.cli import verbs
from cogtcp.model.control import permitted
from cogtcp.running.runner import Case, Outcome, identity
from cogtcp.running.runner.case import Keys
from cogtcp.running.runner.on_ray import make_batch
from conftest import ROOT, SMALL, Command, command_line

if TYPE_CHECKING:
    from collections.abc import Callable

EVIL = "from pathlib import Path\nPath('owned').touch()\nfrom my_control import Patient as E\n"
SHORT = SMALL.replace('duration = "20 s"', 'duration = "1 s"')
THEIRS = SHORT.replace('transport = "newreno"', 'transport = "evil:E"')
ALLOW = "--allow-python"
QUIC = SHORT.replace('transport = "newreno"', 'transport = "quic-evil:E"')


@dataclass(frozen=True)
class Input:
    """What somebody else sends, and how it is used.

    Attributes:
        verb: The command line.
        files: The files that were sent.
    """

    verb: tuple[str, ...]
    files: dict[str, str]

    @property
    def trust(self) -> tuple[str, ...]:
        """What lets it run: nothing where the verb's parser has no such option."""
        parser = verbs.parser()
        for word in self.verb:
            parser.fill()  # type: ignore[attr-defined]
            below = next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None)
            if below is None:
                break
            parser = below.choices[word]
        return (ALLOW,) if ALLOW in parser._option_string_actions else ()


def _sweep(text: str, scenario: str = SHORT) -> Input:
    sweep = f'scenario = "base.toml"\nseeds = 1\n{text}\n'
    return Input(("sweep", "sweep.toml", "--out", "out"), {"sweep.toml": sweep, "base.toml": scenario})


def _axis(values: str, path: str = "flow.0.transport") -> str:
    return f'[[axis]]\npath = "{path}"\nvalues = {values}'


#: By verb: all that it reads and that can name a transport.
INPUTS: dict[str, dict[str, Input]] = {
    "check": {
        "transport": Input(("check", "theirs.toml"), {"theirs.toml": THEIRS}),
        "quic": Input(("check", "theirs.toml"), {"theirs.toml": QUIC}),
        "flow": Input(("check", "theirs.toml"), {"theirs.toml": SHORT + 'tcp = { congestion = "evil:E" }\n'}),
        "all": Input(
            ("check", "theirs.toml"),
            {"theirs.toml": SHORT.replace("[topology", '[tcp]\ncongestion = "evil:E"\n\n[topology', 1)},
        ),
    },
    "metrics": {"scenario": Input(("metrics", "theirs.toml"), {"theirs.toml": THEIRS})},
    "run": {"scenario": Input(("run", "theirs.toml"), {"theirs.toml": THEIRS})},
    "compare": {
        "scenario": Input(
            ("compare", "theirs.toml", "--transport", "sack", "--seeds", "1"),
            # The flow that a comparison leaves as it is.
            {"theirs.toml": THEIRS.replace("[[flow]]", "[[flow]]\nfixed = true")},
        ),
    },
    "tune": {
        "scenario": Input(
            ("tune", "theirs.toml", "--trials", "1", "--vary", "topology.single_hop.link.delay=1 ms..2 ms"),
            {"theirs.toml": THEIRS},
        )
    },
    "advise": {
        "scenario": Input(
            ("advise", "theirs.toml", "--budget", "4 runs", "--transport", "sack"), {"theirs.toml": THEIRS}
        ),
        "ranges": Input(
            ("advise", "base.toml", "--budget", "4 runs", "--transport", "sack"),
            {"base.toml": SHORT, "base.ranges.toml": '"flow.0.transport" = "newreno, evil:E"\n'},
        ),
    },
    "sweep": {
        "scenario": _sweep("", THEIRS),
        "transports": _sweep('transports = ["sack", "evil:E"]'),
        "quic": _sweep('transports = ["quic-evil:E"]'),
        "axis": _sweep(_axis('["newreno", "evil:E"]')),
        "axis of tables": _sweep(_axis('[{ congestion = "evil:E" }]', "flow.0.tcp")),
        "axis that is drawn": _sweep('sampling = "random"\nsamples = 2\n' + _axis('["newreno", "evil:E"]')),
        "point": _sweep(
            '[[point]]\n"flow.0.transport" = "newreno"\n[[point]]\n"flow.0.transport" = "evil:E"'
        ),
        "set": _sweep('set = { "flow.0.transport" = "evil:E" }'),
        "set of tables": _sweep('set = { "flow.0.tcp" = { congestion = "evil:E" } }'),
        "warm-up": _sweep('warmup = "mser5"\ntransports = ["evil:E"]'),
        "dry run": Input(
            ("sweep", "sweep.toml", "--dry-run"),
            {
                "sweep.toml": 'scenario = "base.toml"\nseeds = 1\ntransports = ["evil:E"]\n',
                "base.toml": SHORT,
            },
        ),
    },
    "emulate": {"scenario": Input(("emulate", "theirs.toml"), {"theirs.toml": THEIRS})},
    "agree": {"scenario": Input(("agree", "theirs.toml"), {"theirs.toml": THEIRS})},
    "trace": {
        "scenario": Input(("trace", "export", "theirs.toml", "link", "out.csv"), {"theirs.toml": THEIRS})
    },
    "packets": {
        "script": Input(
            ("packets", "theirs.pkt"),
            {"theirs.pkt": '//: transport = "evil:E"\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n'},
        )
    },
}
#: Verbs that read no name of a transport from a file of others, and why.
WITHOUT = {
    "results": "shows what is written", "query": "shows what is written", "merge": "copies what is written",
    "plot": "draws what is written", "lab": "tests/test_lab.py, with a browser's questions",
    "reproduce": "a study is code, which its user chose to run", "validate": "draws its scenarios itself",
    "fit": "measurements name no transport", "pu": "logs", "mobility": "positions", "journey": "maps",
    "new": "writes", "schema": "writes", "transports": "writes", "sensing": "computes", "version": "writes",
    "c2": "reads no file", "freeze": "reads a key", "kernel": "builds from sources of Linux",
}  # fmt: skip
CASES = [pytest.param(each, id=f"{verb}-{name}") for verb, of in INPUTS.items() for name, each in of.items()]


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that the module of the control writes when it is imported."""
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "my_control.py").write_text((ROOT / "examples/my_control.py").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # Else a module that an earlier test imported is taken again, and nothing is written.
    for name in ("evil", "my_control"):
        sys.modules.pop(name, None)
    return tmp_path / "owned"


def _written(given: Input, folder: Path) -> None:
    for name, text in given.files.items():
        (folder / name).write_text(text)


def test_every_verb_is_here(command: Command) -> None:
    named = set(re.findall(r"^    (\w+)", command("--help").out, re.MULTILINE))
    assert named == {*INPUTS, *WITHOUT}
    assert not INPUTS.keys() & WITHOUT.keys()


@pytest.mark.parametrize("given", CASES)
def test_a_file_runs_no_python(command: Command, tmp_path: Path, owned: Path, given: Input) -> None:
    _written(given, tmp_path)
    done = command(*given.verb)
    assert not owned.exists(), "its module was imported"
    assert done.code == 2, done
    assert "evil:E" in done.err + done.out
    assert "Traceback" not in done.err


def test_verbs_without_leave_are_known() -> None:
    """All other cases are proved below to reach a control."""
    none = {verb for verb, of in INPUTS.items() for given in of.values() if not given.trust}
    assert none == {"agree", "trace", "packets"}


@pytest.mark.parametrize("given", [case for case in CASES if case.values[0].trust])  # type: ignore[union-attr]
def test_whoever_trusts_it_may_run_it(command: Command, tmp_path: Path, owned: Path, given: Input) -> None:
    _written(given, tmp_path)
    done = command(*given.verb, *given.trust)
    assert owned.exists(), done


TYPED = [
    ("run", "base.toml", "--set", "flow.0.transport=evil:E"),
    ("compare", "base.toml", "--transport", "evil:E", "--seeds", "1"),
    ("tune", "base.toml", "--trials", "2", "--seeds", "1", "--vary", "flow.0.transport=newreno,evil:E"),
    ("advise", "base.toml", "--budget", "4 runs", "--transport", "sack,evil:E"),
    ("advise", "base.toml", "--budget", "4 runs", "--transport=sack", "--over=flow.0.transport=sack,evil:E"),
    (
        "advise",
        "base.toml",
        "--budget=4 runs",
        "--transport=sack",
        "--uncertain=flow.0.transport=sack,evil:E",
    ),
    ("sweep", "sweep.toml", "--out", "out", "--set", "flow.0.transport=evil:E"),
]


@pytest.mark.parametrize("verb", TYPED, ids=lambda verb: " ".join(verb)[:60])
def test_what_the_user_types_needs_no_option(
    command: Command, tmp_path: Path, owned: Path, verb: tuple[str, ...]
) -> None:
    (tmp_path / "base.toml").write_text(SHORT)
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 1\n')
    done = command(*verb)
    assert owned.exists(), done


def test_results_of_others_run_no_python(command: Command, tmp_path: Path, owned: Path) -> None:
    """Folders that name a control, read and resumed."""
    (tmp_path / "theirs.toml").write_text(THEIRS)
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 1\ntransports = ["evil:E"]\n')
    (tmp_path / "base.toml").write_text(SHORT)
    assert command("run", "theirs.toml", "--allow-python", "--out", "run").code == 0
    assert command("sweep", "sweep.toml", "--allow-python", "--out", "swept").code == 0
    owned.unlink()
    for verb in (
        ("results", "run"),
        ("query", "run", "SELECT * FROM flows"),
        ("plot", "run", "--kind", "timeline", "--out", "plot.svg"),
        ("results", "swept"),
        ("query", "swept", "SELECT * FROM runs"),
        ("merge", "run", "swept", "--out", "merged"),
    ):
        done = command(*verb)
        assert done.code == 0, done
        assert not owned.exists(), verb
    # A sweep is resumed by its file; the folder's own names are data.
    (tmp_path / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 1\ntransports = ["sack"]\n')
    done = command("sweep", "sweep.toml", "--out", "swept", "--json")
    assert done.code == 0, done
    assert done.json()["runs"]["made"] == 1
    assert not owned.exists()


@pytest.mark.parametrize("verb", ["compare", "tune", "advise"])
def test_a_folder_that_was_made_with_leave_gives_none(
    command: Command, tmp_path: Path, owned: Path, verb: str
) -> None:
    given = INPUTS[verb]["scenario"]
    _written(given, tmp_path)
    words = (*given.verb, "--out", "out")
    done = command(*words, "--allow-python")
    assert done.code == 0, done
    owned.unlink()
    done = command(*words)
    assert done.code == 2, done
    assert "evil:E" in done.err
    assert "Traceback" not in done.err
    assert not owned.exists(), "its finished runs are there, and say nothing of who may run it"
    # With leave the finished runs are taken as they are.
    assert command(*words, "--allow-python").code == 0


def test_a_worker_of_another_machine_imports_what_the_scenario_may(owned: Path) -> None:
    """What Ray sends, which a worker unpacks and makes."""

    def made(scenario: Scenario) -> Outcome:
        sent = pickle.dumps([("key", Case(scenario, 1, _measure))])
        (outcome,) = make_batch(pickle.loads(sent), None)
        return outcome

    assert "class in Python" in made(Scenario.from_toml(THEIRS)).error
    assert not owned.exists()
    assert made(Scenario.from_toml(THEIRS, allow_python=True)).error == ""
    assert owned.exists()


def _by_transport(call: Callable[..., object]) -> Callable[..., object]:
    return lambda scenario, **given: call(scenario, transports=["sack", "evil:E"], **given)


API: dict[str, Callable[..., Any]] = {
    "set": lambda scenario, **given: scenario.set("flow.0.transport", "evil:E", **given).check(),
    "set_text": lambda scenario, **given: scenario.set_text("flow.0.transport", "evil:E", **given).check(),
    "with_transport": lambda scenario, **given: scenario.with_transport("evil:E", **given).check(),
    "run": lambda scenario, **given: cogtcp.run(scenario.with_transport("evil:E", **given)),
    "quic": lambda scenario, **given: cogtcp.run(scenario.with_transport("quic-evil:E", **given)),
    "from_toml": lambda scenario, **given: Scenario.from_toml(THEIRS, **given).check(),
    "from_dict": lambda scenario, **given: Scenario.from_dict(
        Scenario.from_toml(THEIRS).to_dict(), **given
    ).check(),
    "compare": _by_transport(lambda scenario, **given: cogtcp.compare(scenario, seeds=1, **given)),
    "sweep": _by_transport(lambda scenario, **given: cogtcp.sweep(scenario, seeds=1, **given)),
    "sweep over values": lambda scenario, **given: cogtcp.sweep(
        scenario, {"flow.0.transport": ["sack", "evil:E"]}, seeds=1, **given
    ),
    "sweep over points": lambda scenario, **given: cogtcp.sweep(
        scenario, points=[{"flow.0.transport": "evil:E"}], seeds=1, **given
    ),
    "tune": lambda scenario, **given: cogtcp.tune(
        scenario, {"flow.0.transport": "sack,evil:E"}, trials=2, seeds=1, **given
    ),
    "advise": _by_transport(lambda scenario, **given: cogtcp.advise(scenario, budget="4 runs", **given)),
    "advise over": lambda scenario, **given: cogtcp.advise(
        scenario, transports=["sack"], over={"flow.0.transport": "sack,evil:E"}, budget="4 runs", **given
    ),
    "advise uncertain": lambda scenario, **given: cogtcp.advise(
        scenario, transports=["sack"], uncertain={"flow.0.transport": "sack,evil:E"}, budget="4 runs", **given
    ),
    "key": lambda scenario, **given: Keys().of(
        Case(
            permitted(scenario, ["evil:E"], given.get("allow_python", False)), 1, _measure, transport="evil:E"
        )
    ),
}  # fmt: skip


def _measure(result: cogtcp.Result) -> dict[str, float]:
    return {}


@pytest.mark.parametrize("call", API)
def test_in_python_a_name_needs_an_argument(owned: Path, call: str) -> None:
    scenario = Scenario.from_toml(SHORT)
    if call == "key":  # only a hash
        API[call](scenario)
    else:
        with pytest.raises((ScenarioError, UsageError), match="class in Python"):
            API[call](scenario)
    assert not owned.exists()
    API[call](scenario, allow_python=True)
    assert owned.exists()


def test_a_class_is_code_already(owned: Path) -> None:
    from my_control import Patient

    scenario = Scenario.from_toml(SHORT)
    cogtcp.run(scenario.with_transport(Patient))
    assert cogtcp.compare(scenario, [Patient], seeds=1).failures == []
    assert scenario.importable_controls() == []
    assert identity.of_scenario(scenario.with_transport(Patient)) != identity.of_scenario(
        scenario.with_transport("my_control:Patient")
    )


def test_no_detour_gives_leave(tmp_path: Path, owned: Path) -> None:
    """What is made of a scenario that may not import a control may not import it either."""
    file = tmp_path / "theirs.toml"
    file.write_text(THEIRS)
    theirs = Scenario.from_file(file)
    assert theirs.python_controls == ["evil:E"]
    for scenario in (
        theirs,
        Scenario.from_dict(theirs.to_dict()),
        theirs.set("run.duration", "2 s"),
        theirs.set("run.duration", "2 s", allow_python=True),
        theirs.set("flow.0.name", "other").set("run.seed", 3),
        theirs.with_transport("sack").with_transport("evil:E"),
        theirs.allowing(["my_control:Patient"]),
        pickle.loads(pickle.dumps(theirs)),
    ):
        for use in (Scenario.check, Scenario.check_controls, cogtcp.run):
            with pytest.raises(ScenarioError, match="allow_python=True") as caught:
                use(scenario)
            assert caught.value.field == "flow.0.transport"
        identity.of_scenario(scenario)  # of a finished run, which may be asked for before
    assert not owned.exists()
    allowed = Scenario.from_file(file, allow_python=True).set("run.duration", "1 s")
    pickle.loads(pickle.dumps(allowed)).check()
    assert owned.exists()


def test_a_module_here_does_not_stand_in_for_another(command: Command, small: Path, owned: Path) -> None:
    """The current folder is looked at for controls that are named, and for nothing else."""
    (small.parent / "git.py").write_text(EVIL)
    program = "import sys; sys.argv = ['cogtcp', 'check', 'small.toml']; from cogtcp.cli import main; main()"
    program += "; import importlib.util; print(importlib.util.find_spec('evil'))"
    done = subprocess.run(
        [*command_line()[:1], "-P", "-c", program],
        cwd=small.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "None"


def test_one_place_imports_what_a_text_names() -> None:
    """Of the package, only `control.load` imports a module whose name no source file of ours says."""
    package = Path(cogtcp.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
                "import_module", "__import__", "exec", "eval", "spec_from_file_location",
            ):  # fmt: skip
                found.add(f"{path.relative_to(package)}: {ast.unparse(node)}")
    assert sorted(found) == [
        "__init__.py: import_module(module)",  # a table of the package
        "_moved.py: import_module(f'cogtcp.{now}')",  # a table of the package
        "_moved.py: import_module(self._now)",
        "_views.py: import_module(module)",  # a table of the package
        "cli/parser.py: import_module(f'cogtcp.cli.{module}')",
        # Our own worker of an emulation, named by the host's side of the guest.
        "kernel/emulation/virtual/guest.py: __import__(module)",
        "model/control.py: importlib.import_module(module_name)",
        "studies/code.py: importlib.util.spec_from_file_location(name, path)",  # a study is code
    ]
