"""A claim as data: its points, statements, the paper's numbers and its figures, as `study.toml` has them."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from cogtcp.model.statistics import mean_interval, ratio_interval
from cogtcp.studies.space import Point, Unsaid, Value
from cogtcp.studies.statements import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.model.result import Trace
    from cogtcp.model.statistics import Interval
    from cogtcp.studies.statements import Cell


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the paper prints: a quantity at a point, or its ratio to that at another.

    Attributes:
        says: Where it stands, in the paper's words.
        value: The number, in the quantity's unit.
        quantity: What the study measures for it.
        at: The point.
        than: The point that it is a ratio to; None: no ratio.
    """

    says: str
    value: float
    quantity: str
    at: Mapping[str, Any]
    than: Mapping[str, Any] | None = None

    def measured(self, grid: Mapping[Point, Cell]) -> float:
        """Return what was measured for it; NaN where nothing was."""
        found = self._mean(grid, self.at)
        # A ratio to zero has no value.
        return found if self.than is None else found / (self._mean(grid, self.than) or math.nan)

    def interval(self, grid: Mapping[Point, Cell]) -> Interval:
        """Return what was measured for it with its 95 % interval; NaN where it has no one point."""
        values = self._values(grid, self.at)
        if self.than is None or not values:
            return mean_interval(values or [math.nan])
        baseline = self._values(grid, self.than)
        if not sum(baseline) > 0:
            return mean_interval([math.nan])
        return ratio_interval(values, baseline)

    def _values(self, grid: Mapping[Point, Cell], wanted: Mapping[str, Any]) -> list[float]:
        found = [cell.of(self.quantity) for point, cell in grid.items() if point.matches(wanted)]
        return found[0] if len(found) == 1 else []

    def _mean(self, grid: Mapping[Point, Cell], wanted: Mapping[str, Any]) -> float:
        means = [cell.mean(self.quantity) for point, cell in grid.items() if point.matches(wanted)]
        return sum(means) / len(means) if means else math.nan


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A sentence of our own about a statement that fails, with a test.

    It is shown where it holds at the best values; as the cause if the statement holds once it is removed.

    Attributes:
        against: The statement that it explains, by what that says.
        test: The sentence and its test.
        without: Values of unsaid parameters that remove it; empty: it was not removed.
    """

    against: str
    test: Statement
    without: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of the paper, redrawn from the points of a claim.

    Attributes:
        id: The figure, as in `figures/<id>.toml`.
        title: Its heading.
        x: The axis of the points along the abscissa. Words stand side by side.
        quantity: What is drawn over it.
        lines: The axis, or axes, that give each curve its name; empty: one curve.
        x_label: Abscissa in words, with unit.
        y_label: Ordinate in words, with unit.
        where: Which points are drawn.
        log_x: Whether the abscissa is logarithmic.
        log_y: Whether the ordinate is.
    """

    id: str
    title: str
    x: str
    quantity: str
    x_label: str
    y_label: str
    lines: str | Sequence[str] = ""
    where: Mapping[str, Any] | None = None
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `[stacks]` of a `study.toml` says.

    Attributes:
        point: The point of the study at which stacks are compared.
        quantity: What is compared.
        measure: The function of `runs.py` that reads a run.
        trace: How much of a run it needs.
        without: A point without what the paper studies, at the base; empty: none.
    """

    point: Mapping[str, Value]
    quantity: str
    measure: str = "measure"
    trace: str = "summary"
    without: Mapping[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class OnToday:
    """What `[today]` of a `study.toml` says.

    Attributes:
        says: The figure, in words.
        points: Its points, as in a claim.
        quantities: What is compared.
        beside: Senders of the paper, by what the axis `transport` calls them.
        duration: How long each run lasts.
        measure: The function of `runs.py` that reads a run.
        trace: How much of a run it needs.
    """

    says: str
    points: tuple[Point, ...]
    quantities: tuple[str, ...]
    beside: tuple[str, ...]
    duration: str
    measure: str = "measure"
    trace: Trace = "summary"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One thing a paper shows: a row of the study's table.

    Attributes:
        id: The study's name, the figure, and a letter where a figure carries several.
        figure: The place in the paper.
        claim: What the paper concludes.
        paper: What it states in numbers or words, with its place.
        ours: Whether we added it: it is counted apart.
        measure: The function of the study's `runs.py` that reads a run.
        trace: How much of a run it needs.
        points: What is measured for it.
        statements: What the claim says, one by one.
        numbers: What the paper prints.
        mechanisms: Why statements cannot hold.
        plots: Its figures.
        shows: Functions of the study's `exhibits.py` that add figures and tables.
    """

    id: str
    figure: str
    claim: str
    paper: str
    ours: bool = False
    measure: str = "measure"
    trace: str = "summary"
    points: tuple[Point, ...] = ()
    statements: tuple[Statement, ...] = ()
    numbers: tuple[Number, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()
    plots: tuple[Plot, ...] = ()
    shows: tuple[str, ...] = ()


def tests_of(claim: ClaimRow) -> str:
    """Return a digest of what a claim tests, and of the points that it tests: stored results are of these."""
    tested = {
        "measure": [claim.measure, claim.trace],
        "points": [dict(point) for point in claim.points],
        "statements": [asdict(statement) for statement in claim.statements],
    }
    return hashlib.sha256(json.dumps(tested, sort_keys=True).encode()).hexdigest()[:12]


_CLAIM = (
    *("id", "figure", "claim", "paper", "ours", "measure", "trace", "shows"),
    *("points", "statement", "number", "mechanism", "plot"),
)


def read_claim(data: Mapping[str, Any]) -> ClaimRow:
    """Read a `[[claim]]` of `study.toml`.

    Raises:
        ValueError: What is wrong with it.
    """
    row = dict(data)
    known_only(row, _CLAIM)
    statements = [_read(Statement, item, "statement") for item in row.pop("statement", [])]
    for statement in statements:
        statement.check()
    said = [statement.says for statement in statements]
    if len(set(said)) != len(said):
        raise ValueError("two statements of a claim say the same")
    mechanisms = tuple(_mechanism(item, said) for item in row.pop("mechanism", []))
    if len({mechanism.test.says for mechanism in mechanisms}) != len(mechanisms):
        raise ValueError("two mechanisms of a claim say the same")
    # Blocks may share points: each is measured once.
    points = tuple(dict.fromkeys(point for block in row.pop("points", []) for point in cross_product(block)))
    if not statements or not points:
        raise ValueError(f"the claim {row.get('id')} needs [[claim.statement]] and [[claim.points]]")
    numbers = tuple(_read(Number, item, "number") for item in row.pop("number", []))
    return ClaimRow(
        **{key: text(row, key) for key in ("id", "figure", "claim", "paper")},
        ours=bool(row.pop("ours", False)),
        measure=row.pop("measure", "measure"),
        trace=row.pop("trace", "summary"),
        points=points,
        statements=tuple(_with_numbers(statement, numbers) for statement in statements),
        numbers=numbers,
        mechanisms=mechanisms,
        plots=tuple(_read(Plot, item, "plot") for item in row.pop("plot", [])),
        shows=tuple(row.pop("shows", ())),
    )


def _mechanism(data: Mapping[str, Any], said: Sequence[str]) -> Mechanism:
    """Read a `[[claim.mechanism]]`: a statement of our own, against one of the claim."""
    item = {"kind": "magnitude", **data}
    against = str(item.pop("against", ""))
    without = _deep(item.pop("without", {}))
    if against not in said:
        raise ValueError(f"the mechanism `against` {against!r} is not a statement of its claim")
    test: Statement = _read(Statement, item, "mechanism")
    test.check()
    return Mechanism(against, test, without)


def _with_numbers(statement: Statement, numbers: Sequence[Number]) -> Statement:
    """Give a statement about the paper's numbers those that it speaks of."""
    if statement.test != "numbers":
        return statement
    mine = tuple(
        number
        for number in numbers
        if number.quantity == statement.quantity and statement.where.items() <= number.at.items()
    )
    if not mine:
        raise ValueError(f'no [[claim.number]] matches the statement "{statement.says}"')
    return replace(statement, numbers=mine)


def read_unsaid(data: Mapping[str, Any]) -> Unsaid:
    """Read an `[[unsaid]]` of `study.toml`.

    Raises:
        ValueError: What is wrong with it.
    """
    row = dict(data)
    between = row.pop("between", None)
    if between is not None:
        row["low"], row["high"] = (float(end) for end in between)
    if isinstance(row.get("base"), int) and not isinstance(row["base"], bool):
        row["base"] = float(row["base"])
    row["choices"] = tuple(
        float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for value in row.get("choices", ())
    )
    row["why"] = text(row, "why")
    unsaid: Unsaid = _read(Unsaid, row, "unsaid")
    if unsaid.choices and unsaid.base not in unsaid.choices:
        raise ValueError(f"parameter `{unsaid.name}`: the default {unsaid.base!r} is not among its choices")
    if not math.isnan(unsaid.low) and not unsaid.low <= float(unsaid.base) <= unsaid.high:
        raise ValueError(f"parameter `{unsaid.name}`: the default {unsaid.base!r} is not within `between`")
    if unsaid.log and not unsaid.low > 0:
        raise ValueError(f"parameter `{unsaid.name}`: `log` needs a range above 0")
    return unsaid


def read_comparison(data: Mapping[str, Any] | None) -> Comparison | None:
    """Read `[stacks]` of `study.toml`.

    Raises:
        ValueError: What is wrong with it.
    """
    return None if data is None else _read(Comparison, data, "[stacks]")


def read_today(data: Mapping[str, Any] | None) -> OnToday | None:
    """Read `[today]` of `study.toml`.

    Raises:
        ValueError: What is wrong with it.
    """
    if data is None:
        return None
    given = dict(data)
    points = [point for block in given.pop("points", []) for point in cross_product(block)]
    lists = {name: tuple(given.pop(name, ())) for name in ("quantities", "beside")}
    if not points or not lists["quantities"]:
        raise ValueError("[today] needs `points` and `quantities`")
    found: OnToday = _read(OnToday, {**given, **lists, "points": tuple(points)}, "[today]")
    return found


def cross_product(block: Mapping[str, Any]) -> list[Point]:
    """Return a point for every combination of the values of a block's axes, the last axis fastest."""
    axes = [
        (axis, [_number(value) for value in (values if isinstance(values, list) else [values])])
        for axis, values in block.items()
    ]
    return [
        Point(dict(zip((axis for axis, _ in axes), combination, strict=True)))
        for combination in itertools.product(*(values for _, values in axes))
    ]


def text(data: Mapping[str, Any], key: str) -> str:
    """Return a text of one line, or say that there is none."""
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"`{key}` must be a text")
    return " ".join(value.split())


def known_only(data: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse keys that are not known."""
    for key in data:
        if key not in known:
            raise ValueError(f"unknown key `{key}`; known are {', '.join(sorted(known))}")


def _read(kind: type[Any], data: Mapping[str, Any], what: str) -> Any:
    names = [item.name for item in fields(kind) if not item.metadata.get("derived")]
    known_only(data, tuple(names))
    values = {key: tuple(value) if key == "each" else _deep(value) for key, value in data.items()}
    try:
        return kind(**values)
    except TypeError:
        missing = [
            item.name
            for item in fields(kind)
            if item.name not in data and item.default is item.default_factory  # neither is given
        ]
        raise ValueError(f"a {what} needs {', '.join(f'`{name}`' for name in missing)}") from None


def _deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deep(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_number(item) for item in value]
    return _number(value)


def _number(value: Any) -> Any:
    """Make whole numbers real, so that 5 and 5.0 name one point."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
