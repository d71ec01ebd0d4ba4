"""What decides a run is in its key: no more is made again than need be, and no less."""

import functools
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from cogtcp import Result, Scenario, UsageError
from cogtcp.running.runner import identity

CONTROL = """\
from {helper} import STEP


class Control:
    def ssthresh(self, now, tcp):
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now, tcp, ack):
        tcp.cwnd += STEP * tcp.mss
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module with a control, which imports another."""
    name = f"control_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(CONTROL.format(helper=f"{name}_helper"))
    (tmp_path / f"{name}_helper.py").write_text("STEP = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return name


def key_elsewhere(folder: Path, code: str) -> str:
    """Return what a process of its own prints: it has loaded nothing before."""
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\nfrom cogtcp.runner import identity\n{code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_code_of_a_control_is_in_the_key(module: str, tmp_path: Path) -> None:
    ask = f"print(identity._of_control('{module}:Control'))"
    first = key_elsewhere(tmp_path, ask)
    assert key_elsewhere(tmp_path, ask) == first, "the same in every process"
    path = tmp_path / f"{module}.py"
    path.write_text(path.read_text().replace("// 2", "// 3"))
    second = key_elsewhere(tmp_path, ask)
    assert second != first
    (tmp_path / f"{module}_helper.py").write_text("STEP = 2\n")
    assert key_elsewhere(tmp_path, ask) not in (first, second), "what it imports counts too"


def test_the_control_that_a_scenario_names_is_in_its_key(
    module: str, scenario: Scenario, tmp_path: Path
) -> None:
    with_control = scenario.with_transport(f"{module}:Control", allow_python=True)
    before = identity.of_scenario(with_control)
    plain = identity.of_scenario(scenario)
    (tmp_path / f"{module}_helper.py").write_text("STEP = 3\n")
    assert identity.of_scenario(with_control) != before
    assert identity.of_scenario(scenario) == plain


def test_only_a_transport_is_looked_for_in_python(scenario: Scenario, tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('run by its name')\n")
    sys.path.insert(0, str(tmp_path))
    try:
        identity.of_scenario(scenario.set("description", "evil:Class"))
    finally:
        sys.path.remove(str(tmp_path))


def test_the_code_of_a_measure_is_in_the_key(tmp_path: Path) -> None:
    ask = "import measures; print(identity.of_function(measures.measure))"
    path = tmp_path / "measures.py"
    path.write_text("def measure(result):\n    return {'a': 1}\n")
    first = key_elsewhere(tmp_path, ask)
    assert key_elsewhere(tmp_path, ask) == first
    path.write_text("def measure(result):\n    return {'a': 2}\n")
    assert key_elsewhere(tmp_path, ask) != first


def test_code_that_was_loaded_anew_has_another_key_though_the_file_is_the_same() -> None:
    def one(result: Result) -> dict[str, int]:
        return {"a": 1}

    def two(result: Result) -> dict[str, int]:
        return {"a": 2}

    two.__qualname__ = one.__qualname__
    assert identity.of_function(one) != identity.of_function(two)


def measure_with(factor: object, result: Result) -> dict[str, object]:
    return {"a": factor}


def test_what_a_function_is_bound_to_is_in_the_key() -> None:
    keys = {identity.of_function(functools.partial(measure_with, factor)) for factor in (1, 2, 1)}
    assert len(keys) == 2
    with pytest.raises(UsageError, match="not plain data"):
        identity.of_function(functools.partial(measure_with, object()))


def test_the_engine_and_the_package_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.engine()
    identity.engine.cache_clear()
    real = identity._file
    monkeypatch.setattr(
        identity, "_file", lambda path: real(path) + path.name.replace("subjects.py", "edited")
    )
    assert identity.engine() != before
    identity.engine.cache_clear()
