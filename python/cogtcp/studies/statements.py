"""Statements: the parts of a claim, each with its own quantity, test and interval.

A claim of a paper mostly says several things at once ("above, by a factor of two, at every rate"). Each is
a `Statement` in `study.toml`, an *ordering* (which is more) or a *magnitude* (how much), and is tested alone:

| `test` | says | needs |
|---|---|---|
| `above` | `quantity` at `of` exceeds `factor` (1) times that at `than` | `of`, `than` |
| `below` | it stays below | `of`, `than` |
| `near` | it is `factor` (1) times that at `than`, within a relative `margin` | `of`, `than`, `margin` |
| `flat` | it is within `margin` of its mean everywhere along the axis `over` | `over`, `margin` |
| `rises`, `falls` | it has a trend along `over`; with `every_step` each step shows it | `over` |
| `numbers` | each number that the claim prints for `quantity`, at points that match `where` | `margin` |
| `function` | what this function of the study's `tests.py`, or of `common_tests.py`, tests | `function` |

`than` is a point or a number. A statement is made at each combination of the axes in `each`, among the points
that match `where`, and holds only where it holds at each of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from cogtcp.studies import verdicts
from cogtcp.studies.errors import StudyError
from cogtcp.studies.space import show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp.studies.claims import Number
    from cogtcp.studies.space import Point, Setting
    from cogtcp.studies.verdicts import Finding

    Grid = Mapping[Point, "Cell"]
    TestFunction = Callable[["Statement", Grid, Setting], Finding]

Kind = Literal["ordering", "magnitude"]
Test = Literal["above", "below", "near", "flat", "rises", "falls", "numbers", "function"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured at one point under one setting: a record for each seed."""

    records: Sequence[Mapping[str, Any]]

    def of(self, quantity: str) -> list[float]:
        """Return a quantity, one value per seed; NaN where a run has none."""
        return [math.nan if record[quantity] is None else float(record[quantity]) for record in self.records]

    def mean(self, quantity: str) -> float:
        """Return its mean over the seeds that have it; NaN if none has."""
        known = [value for value in self.of(quantity) if not math.isnan(value)]
        return statistics.fmean(known) if known else math.nan


@dataclass(frozen=True, slots=True)
class Statement:
    """One testable sentence of a claim."""

    says: str
    kind: Kind
    test: Test
    quantity: str = ""
    of: Mapping[str, Any] = field(default_factory=dict)
    than: Mapping[str, Any] | float | None = None
    than_quantity: str = ""
    """What is compared at `than`, where it is not the same quantity."""
    factor: float = 1.0
    margin: float = math.nan
    over: str = ""
    every_step: bool = False
    each: tuple[str, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    function: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the function of the study is given besides."""
    numbers: tuple[Number, ...] = field(default=(), metadata={"derived": True})
    """With `test = "numbers"`: those of the claim, put in when the claim is read."""

    def check(self) -> None:
        """Refuse a statement that lacks what its test needs.

        Raises:
            ValueError: With what is missing or wrong.
        """
        if self.kind not in get_args(Kind):
            raise ValueError(f"`kind` must be one of {', '.join(get_args(Kind))}, not {self.kind!r}")
        if self.test not in get_args(Test):
            raise ValueError(f"`test` must be one of {', '.join(get_args(Test))}, not {self.test!r}")
        needs = {
            "above": ("quantity", "than"),
            "below": ("quantity", "than"),
            "near": ("quantity", "than", "margin"),
            "flat": ("quantity", "over", "margin"),
            "rises": ("quantity", "over"),
            "falls": ("quantity", "over"),
            "numbers": ("quantity", "margin"),
            "function": ("function",),
        }[self.test]
        for name in needs:
            value = getattr(self, name)
            if value in ("", None) or (isinstance(value, float) and math.isnan(value)):
                raise ValueError(f'a statement with test = "{self.test}" needs `{name}`: "{self.says}"')

    @property
    def rule(self) -> str:
        """The test in words."""
        if self.test == "numbers":
            count = len(self.numbers)
            return f"each of {count} numbers within {100 * self.margin:g} % (two one-sided t-tests)"
        if self.test == "function":
            return str(self.options.get("rule", self.function.replace("_", " ")))
        if self.test == "flat":
            axis = _words(self.over)
            return f"each within {100 * self.margin:g} % of the mean over {axis} (two one-sided t-tests)"
        if self.test in ("rises", "falls"):
            how = "every step" if self.every_step else "trend"
            return f"{self.test} with {_words(self.over)}, {how} (one-sided t-test, paired by seed)"
        bound = f"{self.factor:g} × " if self.factor != 1 else ""
        other = f"{show(self.than)}" if isinstance(self.than, int | float) else _selector(self.than or {})
        if self.than_quantity:
            other = f"{self.than_quantity.replace('_', ' ')} at {other}"
        if self.test == "near":
            return f"within {100 * self.margin:g} % of {bound}{other} (two one-sided t-tests)"
        return f"{self.test} {bound}{other} (one-sided t-test, paired by seed)"

    def tested(self, quantities: Mapping[str, str]) -> str:
        """Return what its estimate is: the quantity in words, and whether as it is, a ratio or a change."""
        quantity = quantities.get(self.quantity, _words(self.quantity)) or "see the test"
        if self.test in ("rises", "falls"):
            return f"{quantity}, relative change"
        if self.test == "flat":
            return f"{quantity}, over the mean"
        if self.test == "function":
            return str(self.options.get("estimate", quantity))
        return f"{quantity}, ratio"

    def uses(self, point: Point) -> bool:
        """Whether the test looks at a point; a function of the study may look at any."""
        if self.test == "function":
            return True
        if self.test == "numbers":
            places = [place for number in self.numbers for place in (number.at, number.than)]
            return any(place is not None and point.matches(place) for place in places)
        if not point.matches(self.where) or not all(axis in point for axis in self.each):
            return False
        if self.test in ("flat", "rises", "falls"):
            return True
        return point.matches(self.of) or (isinstance(self.than, Mapping) and point.matches(self.than))

    def evaluate(
        self, grid: Grid, setting: Setting, functions: Mapping[str, TestFunction] | None = None
    ) -> Finding:
        """Test the statement on what was measured under one setting.

        Raises:
            StudyError: The points that it speaks of are not there, or its function is not.
        """
        if self.test == "function":
            function = (functions or {}).get(self.function)
            if function is None:
                raise StudyError(
                    f'"{self.says}": no function {self.function!r} in tests.py, nor among the common tests'
                )
            return function(self, grid, setting)
        if self.test == "numbers":
            return weakest([self._near_number(grid, number) for number in self.numbers])
        groups = self._groups(grid)
        found = [self._test(group, len(groups), label) for label, group in groups]
        if len(found) == 1:
            return found[0]
        return weakest(found)

    def _groups(self, grid: Grid) -> list[tuple[str, dict[Point, Cell]]]:
        groups: dict[tuple[Any, ...], dict[Point, Cell]] = {}
        for point, cell in grid.items():
            if point.matches(self.where) and all(axis in point for axis in self.each):
                groups.setdefault(tuple(point[axis] for axis in self.each), {})[point] = cell
        if not groups:
            raise StudyError(f'"{self.says}": no measured point matches {_selector(self.where)}')
        return [(", ".join(show(value) for value in key), group) for key, group in groups.items()]

    def _test(self, group: Grid, members: int, where: str) -> Finding:
        if self.test in ("flat", "rises", "falls"):
            along = sorted(group.items(), key=lambda item: float(item[0][self.over]))
            series = [cell.of(self.quantity) for _, cell in along]
            labels = [show(point[self.over]) for point, _ in along]
            if self.test == "flat":
                return replace(verdicts.flat(series, self.margin, labels, members=members), where=where)
            sign = 1.0 if self.test == "rises" else -1.0
            # Falling is rising of the negative: one test serves both.
            signed = [[sign * value for value in values] for values in series]
            if self.every_step:
                finding = verdicts.increasing(signed, labels, members=members)
            else:
                finding = verdicts.trend(signed, members=members)
            # Turned back, with the ends in order.
            low, high = sorted((sign * finding.low, sign * finding.high))
            return replace(finding, estimate=sign * finding.estimate, low=low, high=high, where=where)
        values = self._pick(group, self.of).of(self.quantity)
        if isinstance(self.than, int | float):
            baseline = [float(self.than)] * len(values)
        else:
            baseline = self._pick(group, self.than or {}).of(self.than_quantity or self.quantity)
        if self.test == "near":
            return verdicts.near(values, baseline, self.margin, self.factor, members=members, where=where)
        return verdicts.ratio(
            values, baseline, self.factor, above=self.test == "above", members=members, where=where
        )

    def _near_number(self, grid: Grid, number: Number) -> Finding:
        """Test one number of the paper: that at a point, or its ratio to that at another."""
        values, count = self._pick(grid, number.at).of(number.quantity), len(self.numbers)
        if number.than is None:
            baseline, factor = [number.value] * len(values), 1.0
        else:
            baseline, factor = self._pick(grid, number.than).of(number.quantity), number.value
        return verdicts.near(values, baseline, self.margin, factor, members=count, where=number.says)

    def _pick(self, group: Grid, wanted: Mapping[str, Any]) -> Cell:
        found = [cell for point, cell in group.items() if point.matches(wanted)]
        if len(found) != 1:
            raise StudyError(
                f'"{self.says}": {len(found)} points match {_selector(wanted)}, where one should'
            )
        return found[0]


def weakest(findings: Sequence[Finding]) -> Finding:
    """Return the finding that decides among parts that must all hold, with the verdict of all.

    It is the first that fails, else the first that is inconclusive, else the one closest to not holding.
    """
    ranked = ("fails", "inconclusive", "holds")
    verdict = verdicts.combine([finding.verdict for finding in findings])
    decides = min(findings, key=lambda finding: (ranked.index(finding.verdict), finding.slack))
    clearance = verdicts.least_clearance([finding.clearance for finding in findings])
    return replace(decides, verdict=verdict, clearance=clearance)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _selector(wanted: Mapping[str, Any]) -> str:
    texts = []
    for name, value in wanted.items():
        values = value if isinstance(value, list) else [value]
        texts.append(f"{name.replace('_', ' ')} {' or '.join(show(item) for item in values)}")
    return ", ".join(texts) or "any point"
