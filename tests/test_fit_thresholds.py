"""Every threshold of `cogtcp fit` has a name, and a comment that says its unit and reason."""

from __future__ import annotations

import ast
from pathlib import Path

import cogtcp.data.fitting

_FOLDER = Path(cogtcp.data.fitting.__file__).parent
#: Numbers of mathematics and units: counts, halves, thousands, bits of a byte, quantiles of 95 %.
_PLAIN = {0, 1, 2, 3, 4, 8, 10, 100, 1000, 0.5, 1e6, 1e9, 1e-6, 1e-9, 0.025, 0.975, 1.96, 60, 3600}
#: Files of formulas, and of formats that others define.
_FORMULAS = {"laws.py", "capacity.py", "slim.py"}


def _unnamed(text: str) -> list[tuple[int, float]]:
    """Return the numbers that decide something without a name: operands of comparisons, `min` and `max`."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
        ):
            parts = list(node.args)
        else:
            continue
        for part in parts:
            for each in ast.walk(part):
                # A share that `quantile` takes is a statistic, not a threshold.
                if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "quantile":
                    break
                if (
                    isinstance(each, ast.Constant)
                    and isinstance(each.value, int | float)
                    and not isinstance(each.value, bool)
                    and each.value not in _PLAIN
                ):
                    found.append((each.lineno, each.value))
    return found


def test_every_threshold_has_a_name() -> None:
    unnamed = [
        f"{file.name}:{line}: {number}"
        for file in sorted(_FOLDER.glob("*.py"))
        if file.name not in _FORMULAS
        for line, number in _unnamed(file.read_text(encoding="utf-8"))
    ]
    assert not unnamed, unnamed


def test_every_named_number_says_why() -> None:
    silent = []
    for file in sorted(_FOLDER.glob("*.py")):
        lines = file.read_text(encoding="utf-8").splitlines()
        for node in ast.parse("\n".join(lines)).body:
            if not isinstance(node, ast.Assign) or not any(
                isinstance(each, ast.Constant) and isinstance(each.value, float)
                for each in ast.walk(node.value)
            ):
                continue
            before = node.lineno - 2
            # Constants below one comment belong together.
            while before >= 0 and lines[before] and not lines[before].startswith("#"):
                before -= 1
            if before < 0 or not lines[before].startswith("#:"):
                silent.append(f"{file.name}:{node.lineno}")
    assert not silent, silent


def test_the_search_finds_a_bare_number() -> None:
    assert _unnamed("x = value > 1.3 * base") == [(1, 1.3)]
    assert _unnamed("x = max(0.005, spacing)") == [(1, 0.005)]
    assert _unnamed("x = quantile(values, 0.9) > LIMIT") == []
