"""docs/agreement.json: its simulations are those of today, and measuring more takes nothing away."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cogtcp import UsageError
from cogtcp.cli import agree
from cogtcp.kernel.emulation.agreement import Agreement, Pair
from cogtcp.kernel.validation.families.kernel import drawn_scenarios

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def generator() -> Any:
    """docs/generate_agreement.py as a module."""
    spec = importlib.util.spec_from_file_location("generate_agreement", ROOT / "docs/generate_agreement.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored() -> Agreement:
    return Agreement.from_dict(json.loads((ROOT / "docs/agreement.json").read_text("utf-8")))


def test_the_simulators_half_is_that_of_today(generator: Any) -> None:
    """The first and the last seed of each case give exactly what is stored.

    Else the model has changed: `docs/generate_agreement.py --simulate` tells how far the planes are apart.
    """
    cases: dict[tuple[str, str], list[Pair]] = {}
    for pair in stored().pairs:
        cases.setdefault((pair.scenario, pair.transport), []).append(pair)
    assert len(cases) >= 21
    kernel = stored().kernel
    for case, pairs in cases.items():
        for pair in {pairs[0].seed: pairs[0], pairs[-1].seed: pairs[-1]}.values():
            now = generator.simulated(pair, kernel).simulated
            assert now == pair.simulated, f"{case}, seed {pair.seed}: make docs/agreement.md again"


def pair(seed: int, goodput: float, doubt: str = "") -> Pair:
    values = {"goodput_bps": goodput, "rtt_mean_s": 0.1, "retransmitted": 0.0, "rtos": 0.0}
    return Pair("s", "linux-reno", seed, values, values, doubt, 0.0, 0.0)


def test_fewer_runs_do_not_replace_more(generator: Any) -> None:
    old = Agreement([pair(seed, 1.0) for seed in range(1, 31)], "6.1")
    new = Agreement([pair(1, 2.0), pair(2, 2.0, "late"), pair(31, 2.0)], "6.1")
    both = generator.joined(old, new)
    assert [each.seed for each in both.pairs] == list(range(1, 32))
    assert [each.emulated["goodput_bps"] for each in both.pairs if each.seed in (1, 2, 3, 31)] == [
        2.0,
        1.0,
        1.0,
        2.0,
    ]
    # What fell behind is replaced by what did not.
    late = Agreement([pair(2, 1.0, "late")], "6.1")
    assert generator.joined(late, Agreement([pair(2, 3.0)], "6.1")).pairs == [pair(2, 3.0)]


def test_runs_of_another_kernel_are_not_mixed_in(
    generator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = dataclasses.replace(stored(), kernel="1.0")
    file = tmp_path / "agreement.json"
    file.write_text(json.dumps(other.to_dict()), "utf-8")
    monkeypatch.setattr(sys, "argv", ["generate_agreement.py", str(file)])
    before = (ROOT / "docs/agreement.json").read_bytes()
    assert generator.main() == 2
    assert "Linux 1.0" in capsys.readouterr().err
    assert (ROOT / "docs/agreement.json").read_bytes() == before


def test_changes_of_drawn_scenarios_are_read_as_everywhere() -> None:
    (drawn,) = drawn_scenarios(1, 1)
    changed = agree._changed(drawn, ["tcp.window_tuning=false", "run.duration = 5 s"])
    assert changed.to_dict()["tcp"]["window_tuning"] is False
    changed.check()
    with pytest.raises(UsageError, match="--set nonsense: write PATH=VALUE"):
        agree._changed(drawn, ["nonsense"])
