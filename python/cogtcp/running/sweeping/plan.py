"""A sweep: base scenario, axes, transports, seeds. Read from TOML or made in Python."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core, _files
from cogtcp._errors import ScenarioError, UsageError
from cogtcp._names import meant
from cogtcp._places import located, read_toml
from cogtcp._shipped import locate, shipped
from cogtcp.model.control import control_name, permitted
from cogtcp.model.of_tcp import OF_TCP
from cogtcp.model.result import check_seed
from cogtcp.model.scenario import Scenario
from cogtcp.running.runner import Case
from cogtcp.running.sweeping.axes import Axis, axes, drawn, most_dimensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cogtcp.model.result import Result
    from cogtcp.running.runner.plane import Plane

#: Tables of a run that a sweep can keep, besides its single numbers.
TABLES = (
    "flows",
    "links",
    "radios",
    "quic_flows",
    "subflows",
    "trains",
    "train_flows",
    "predictions",
    "datagrams",
    "calls",
    "budget",
    "requests",
    "request_flows",
    "chunks",
    "videos",
    "routing",
    "streams",
    "drops",
    "nodes",
    "searches",
    "positions",
    "routes",
    "primary_users",
    "emulation",
    "events",
    "flow_series",
    "link_series",
)
SAMPLINGS = ("grid", "paired", "list", "random", "halton")
#: What stands for the transports of the scenario itself.
AS_IT_IS = "as-it-is"

# They are held as numbers, all of them.
_MOST_SEEDS = 10_000_000
_KEYS = {
    "scenario", "set", "transports", "seeds", "first_seed", "sampling", "samples", "axis", "point", "keep",
    "time_limit", "warmup",
}  # fmt: skip
_AXIS_KEYS = {"path", "values", "range", "steps", "name"}


@dataclass(frozen=True)
class Plan:
    """A sweep, checked. Its results depend on nothing else.

    Attributes:
        scenario: What is varied.
        axes: The fields that vary.
        sampling: How their values are combined: every combination (`grid`), the first values, the second
            ones and so on (`paired`), combinations that are named (`list`), or drawn (`random`, `halton`).
        samples: How many are drawn.
        listed: The combinations, where they are named.
        transports: Each takes the place of that of all flows that are not `fixed`; None: those of the
            scenario.
        seeds: The seeds of each combination.
        keep: The tables of each run that are kept.
        time_limit: Seconds after which a run is given up.
        plane: Where the runs are made; None: in the simulator.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    sampling: str
    samples: int
    listed: tuple[tuple[str, ...], ...]
    transports: tuple[str | None, ...]
    seeds: tuple[int, ...]
    keep: tuple[str, ...]
    time_limit: float | None = None
    plane: Plane | None = None

    @property
    def points(self) -> int:
        """How many combinations of values there are."""
        if self.sampling == "grid":
            return math.prod(len(axis.texts) for axis in self.axes)
        if self.sampling == "paired":
            return len(self.axes[0].texts) if self.axes else 1
        return len(self.listed) if self.sampling == "list" else self.samples

    @property
    def total(self) -> int:
        """How many runs there are."""
        return self.points * len(self.transports) * len(self.seeds)

    @property
    def job(self) -> dict[str, Any]:
        """What a folder with the sweep is the result of: more axes, seeds and transports go into it."""
        job = {"verb": "sweep", "scenario": self.scenario.hash}
        return job if self.plane is None else {**job, "plane": self.plane.name}

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield the values of the axes, in their order."""
        if self.sampling == "grid":
            return itertools.product(*(axis.texts for axis in self.axes))
        if self.sampling == "paired":
            return zip(*(axis.texts for axis in self.axes), strict=True)
        if self.sampling == "list":
            return iter(self.listed)
        return (drawn(self.axes, self.sampling, index) for index in range(self.samples))

    def cases(self) -> Iterator[Case]:
        """Yield the runs. Seed by seed, so that an interruption leaves a whole picture with fewer seeds."""
        trace = _trace(self.keep)
        measure = partial(record, self.keep)
        paths = [axis.path for axis in self.axes]
        # Worked out once: a grid of a million points has few values.
        columns = [{text: axis.value(text) for text in axis.texts} for axis in self.axes]
        for seed in self.seeds:
            for texts in self.combinations():
                changes = tuple(zip(paths, texts, strict=True))
                values = {
                    axis.name: known[text] if text in known else axis.value(text)
                    for axis, known, text in zip(self.axes, columns, texts, strict=True)
                }
                for transport in self.transports:
                    label = (transport, seed, values)
                    # The label is in the data set: of a run that fails there is no record that could say
                    # where it belongs.
                    yield Case(
                        self.scenario,
                        seed,
                        measure,
                        trace,
                        transport,
                        changes,
                        label=label,
                        plane=self.plane,
                    )

    def describe(self) -> str:
        """Return what is asked for as people read it."""
        sizes = " x ".join(
            f"{len(axis.texts) or 'drawn'} {axis.name}" if self.sampling == "grid" else axis.name
            for axis in self.axes
        )
        how = "" if self.sampling == "grid" else f" ({self.sampling})"
        return (
            f"{self.points} points{f': {sizes}' if sizes else ''}{how}; {len(self.transports)} transports; "
            f"{len(self.seeds)} seeds; {self.total} runs{self._where()}"
        )

    def _where(self) -> str:
        return "" if self.plane is None else f" on {self.plane.name}"


def record(keep: Sequence[str], result: Result) -> dict[str, Any]:
    """Return what a sweep keeps of a run."""
    kept = {"digest": result.digest, "metrics": result.metrics}
    return {**kept, "tables": {name: result.columns(name) for name in keep}} if keep else kept


def plan(
    scenario: Scenario,
    vary: Mapping[str, Any] | None = None,
    *,
    transports: Sequence[str | type] = (),
    seeds: int | Sequence[int] = 10,
    first_seed: int | None = None,
    sampling: str = "grid",
    samples: int | None = None,
    points: Sequence[Mapping[str, Any]] = (),
    steps: Mapping[str, int] | None = None,
    names: Mapping[str, str] | None = None,
    keep: Sequence[str] = ("flows",),
    time_limit: float | None = None,
    plane: Plane | None = None,
    allow_python: bool = False,
) -> Plan:
    """Check what is asked for, see `cogtcp.sweep`. Raises `UsageError` or `ScenarioError`."""
    for table in keep:
        if not isinstance(table, str) or table not in TABLES:
            raise UsageError(f"keep {table!r}: {_near(str(table), TABLES)}")
    if sampling not in SAMPLINGS:
        raise UsageError(f"sampling {sampling!r}: take one of {', '.join(SAMPLINGS)}")
    if points:
        sampling = "list"
        vary = _columns(points)
    scenario = permitted(scenario, [*transports, *_texts(vary or {})], allow_python)
    random_ = sampling in ("random", "halton")
    if random_ and (samples is None or samples < 1):
        raise UsageError(f"sampling {sampling}: write the number of samples, at least 1")
    if samples is not None and not random_:
        raise UsageError(f"samples: only for sampling random and halton, not for {sampling}")
    found = axes(scenario, vary or {}, steps or {}, names or {}, random_, _columns_of(keep))
    if sampling == "paired" and len({len(axis.texts) for axis in found}) > 1:
        counts = ", ".join(f"{axis.path} {len(axis.texts)}" for axis in found)
        raise UsageError(f"sampling paired: all axes need equally many values; they have: {counts}")
    if sampling == "halton" and len(found) > most_dimensions():
        raise UsageError(f"sampling halton: for at most {most_dimensions()} axes; take random")
    chosen = _seeds(scenario, seeds, first_seed)
    names_of = [control_name(name) for name in transports]
    for name in names_of:
        if names_of.count(name) > 1:
            raise UsageError(f"transport {name!r} is named twice; name each once")
        scenario.with_transport(name).check_controls()
    made = Plan(
        scenario=scenario,
        axes=found,
        sampling=sampling,
        samples=samples or 0,
        listed=tuple(tuple(str(_text(point[axis.path])) for axis in found) for point in points),
        transports=tuple(names_of) or (None,),
        seeds=tuple(chosen),
        keep=tuple(dict.fromkeys(keep)),
        time_limit=time_limit,
        plane=plane,
    )
    if len(set(made.listed)) < len(made.listed):
        raise UsageError("a point is listed twice; list each once")
    # One point with every transport: the rest fail, if they do, as single runs.
    for case in itertools.islice(made.cases(), len(made.transports)):
        scenario = case.prepared()
        scenario.check()
        if plane is not None:
            plane.check(scenario)
    return made


def read(
    path: str | Path,
    *,
    allow_python: bool = False,
    changes: Sequence[tuple[str, str]] = (),
    seeds: int | None = None,
    plane: Plane | None = None,
) -> Plan:
    """Read a sweep file.

    Args:
        path: The file.
        allow_python: Whether congestion controls in Python may be imported that the file names, or its
            scenario.
        changes: Fields of the base scenario and their values as text, after those of the file. They come
            from the user: controls in Python that they name may be imported.
        seeds: How many seeds, in place of those of the file.
        plane: Where the runs are made; None: in the simulator.

    Raises:
        UsageError: The file says something wrong, or cannot be read.
        ScenarioError: The scenario cannot be simulated, or has no such field.
    """
    file = Path(path)
    if not file.exists() and str(path) in shipped():
        raise UsageError(
            f"{path}: this is a shipped scenario; write a sweep file that names it, as in "
            f'scenario = "{path}" (docs/sweeps.md)'
        )
    said, data = read_toml(file, UsageError, "name a sweep file")
    try:
        return _from(data if seeds is None else {**data, "seeds": seeds}, file, allow_python, changes, plane)
    except UsageError as error:
        raise located(UsageError, file, said, _field(str(error), data), str(error)) from None


def _field(message: str, data: Mapping[str, Any]) -> str:
    """Return the field of a sweep file that a message begins with; nothing if it begins with none."""
    element = re.match(r"(axis|point) (\d+)(?:\.(\w+))?:", message)
    if element:
        steps = [element[1], str(int(element[2]) - 1), element[3]]
        return ".".join(step for step in steps if step)
    # A message about an axis begins with its path, which may stand in the file at any place.
    axes_ = data.get("axis", [])
    for number, axis in enumerate(axes_ if isinstance(axes_, list) else []):
        if isinstance(axis, dict) and message.startswith(f"{axis.get('path')}:"):
            return f"axis.{number}.{'values' if 'values' in axis else 'range'}"
    key = re.match(r"(\w+)\b.*?:", message)
    return key[1] if key and key[1] in data else ""


def _from(
    data: dict[str, Any],
    file: Path,
    allow_python: bool,
    changes: Sequence[tuple[str, str]],
    plane: Plane | None,
) -> Plan:
    _known(data, _KEYS, "")
    named = data.get("scenario")
    if not isinstance(named, str):
        raise UsageError('scenario: name the scenario file, or a shipped one, as in scenario = "sensed-link"')
    scenario = _named(locate(named, file.parent), allow_python)
    scenario.check_controls()
    for key, value in _table(data, "set").items():
        scenario = scenario.set(key, value) if not isinstance(value, str) else scenario.set_text(key, value)
        try:
            scenario.check_controls()
        except ScenarioError as error:
            raise UsageError(f"set: {key}: {error.message}; {error.remedy}") from None
    for key, text in changes:
        scenario = scenario.set_text(key, text, allow_python=True)
    vary: dict[str, Any] = {}
    steps: dict[str, int] = {}
    names: dict[str, str] = {}
    for number, axis in enumerate(_list(data, "axis"), start=1):
        where = f"axis {number}"
        if not isinstance(axis, dict):
            raise UsageError(f"{where}: write it as a table [[axis]]")
        _known(axis, _AXIS_KEYS, f"{where}.")
        at = axis.get("path")
        if not isinstance(at, str):
            raise UsageError(f'{where}: name its path, as in path = "radio.0.sensing.on"')
        if at in vary:
            raise UsageError(f"{where}: {at} varies already; name it once")
        if ("values" in axis) == ("range" in axis):
            raise UsageError(f"{where}: give it either values or a range")
        vary[at] = axis.get("values", axis.get("range"))
        if "steps" in axis:
            steps[at] = _whole(axis["steps"], f"{where}.steps")
        if "name" in axis:
            names[at] = str(axis["name"])
    transports = _list(data, "transports")
    for name in transports:
        try:
            scenario.with_transport(name).check_controls()
        except ScenarioError as error:
            # The error's place is the sweep file, not the scenario's.
            raise UsageError(f"transports: {error.message}; {error.remedy}") from None
    # After the changes: the warm-up is chosen for the scenario that is run.
    scenario = _warmed_up(scenario, data)
    limit = data.get("time_limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0):
        raise UsageError("time_limit: give seconds above zero")
    seeds = data.get("seeds", 10)
    return plan(
        scenario,
        vary,
        transports=transports,
        seeds=seeds if isinstance(seeds, list) else _whole(seeds, "seeds"),
        first_seed=_whole(data["first_seed"], "first_seed") if "first_seed" in data else None,
        sampling=str(data.get("sampling", "grid")),
        samples=_whole(data["samples"], "samples") if "samples" in data else None,
        points=_list(data, "point"),
        steps=steps,
        names=names,
        keep=_list(data, "keep") if "keep" in data else ("flows",),
        time_limit=limit,
        plane=plane,
    )


def _named(file: str | Path, allow_python: bool) -> Scenario:
    """Return the scenario in a file that a sweep names.

    The sweep may be somebody else's: of a file that is no scenario, only a place gets into the error.
    """
    try:
        return Scenario.from_file(file, allow_python=allow_python)
    except ScenarioError as error:
        if error.line is None or _is_scenario(Path(error.file)):
            raise
        at = f"{error.file}:{error.line}:{error.column}"
        says = "cannot be read as a scenario"
        remedy = f"see why with: cogtcp check {error.file}"
        raise ScenarioError(
            says, file=error.file, line=error.line, column=error.column, remedy=remedy,
            text=f"{at}: {says}; {remedy}",
        ) from None  # fmt: skip


def _is_scenario(file: Path) -> bool:
    """Whether a file is TOML with the table that every scenario has, whatever else is wrong in it."""
    try:
        # Not what can be read only once.
        data = _files.parse_toml(_files.read_text(file, "a scenario")) if file.is_file() else {}
    except ValueError:
        return False
    return isinstance(data.get("topology"), dict)


def _warmed_up(scenario: Scenario, data: Mapping[str, Any]) -> Scenario:
    """Return the scenario with the warm-up that the file asks for: a duration, or what MSER-5 finds."""
    given = data.get("warmup")
    if given is None:
        return scenario
    if not isinstance(given, str):
        raise UsageError('warmup: give a duration, as in "5 s", or "mser5"')
    if given != "mser5":
        return scenario.set_text("run.warmup", given)
    from cogtcp.running.warmup import suggest

    return scenario.set("run.warmup", f"{suggest(scenario, _list(data, 'transports') or [None]):.9g} s")


def _columns(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    for number, point in enumerate(points, start=1):
        if not isinstance(point, dict):
            raise UsageError(f"point {number}: give a table of fields and their values")
    paths = list(points[0])
    for number, point in enumerate(points, start=1):
        if list(point) != paths:
            raise UsageError(f"point {number}: every point names the same fields in the same order")
    return {path: list(dict.fromkeys(_text(point[path]) for point in points)) for path in paths}


def _columns_of(tables: Sequence[str]) -> set[str]:
    """Return the columns of tables of a sweep, with the columns that TCP adds."""
    tables = [*tables, *(OF_TCP[name][0] for name in tables if name in OF_TCP)]
    columns = {column for name, _, columns in _core.columns() if name in tables for column, *_ in columns}
    return {"row", "flow_transport"} | columns if columns else set()


def _texts(vary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of all axes as text."""
    for given in vary.values():
        yield from map(_text, given if isinstance(given, list | tuple | range) else [given])


def _text(value: Any) -> str:
    from cogtcp.model.scenario import _toml

    return value if isinstance(value, str) else _toml(value)


def _seeds(scenario: Scenario, seeds: int | Sequence[int], first: int | None) -> list[int]:
    start = scenario.seed if first is None else first
    if isinstance(seeds, int) and seeds > _MOST_SEEDS:
        raise UsageError(f"seeds: {seeds} exceed the limit of {_MOST_SEEDS}")
    chosen = list(range(start, start + seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise UsageError("seeds: at least one seed is needed")
    for seed in chosen:
        check_seed(_whole(seed, "seeds"))
    if len(set(chosen)) < len(chosen):
        raise UsageError("seeds: a seed is named twice; repeated runs make the intervals too narrow")
    return chosen


def _trace(keep: Sequence[str]) -> Any:
    if "events" in keep:
        return "full"
    return "series" if any(name.endswith("_series") for name in keep) else "summary"


def _known(data: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise UsageError(f"{where}{key}: unknown key; {_near(key, sorted(known))}")


def _near(name: str, known: Sequence[str]) -> str:
    return meant(name, known) or f"known are {', '.join(known)}"


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{where}: give a whole number, not {value!r}")
    return value


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"{key}: give a list")
    return value


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(
            f'{key}: give a table of paths and values, as in set = {{ "run.duration" = "10 s" }}'
        )
    return value
