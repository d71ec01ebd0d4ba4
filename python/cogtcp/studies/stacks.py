"""Stacks of today in the place of a paper's: what each delivers, and which single parameter turns their rank.

`[stacks]` of `study.toml` names a point of the study. Its scenario runs with each of twelve stacks in all
flows: four on the paper's host (the study's `[tcp]`), eight on hosts of their own, whose presets decide. This
is done at the base, and at the base with one unsaid parameter changed at a time: each other choice, both ends
of a range. A *rank flip* is a pair of stacks whose order at the base is not their order at a changed
parameter. Both orders are shown by a t-test paired by seed at the 1 % level.

The outcome is `stacks.json` in the study's folder: `cogtcp reproduce NAME --stacks`.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cogtcp.model.output import write_file
from cogtcp.model.scenario import Scenario
from cogtcp.model.statistics import mean_interval
from cogtcp.running.runner import Case, Runner
from cogtcp.studies import code
from cogtcp.studies.context import Context
from cogtcp.studies.errors import StudyError
from cogtcp.studies.exhibits import Table
from cogtcp.studies.space import Point, show
from cogtcp.studies.stored import read_json
from cogtcp.studies.verdicts import ends_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cogtcp.studies.claims import Comparison
    from cogtcp.studies.folder import Study
    from cogtcp.studies.space import Setting, Value

FILE = "stacks.json"
SEEDS = 6
FIRST_SEED = 7001
AT_BASE = 4
"""How many times the seeds the base has, for what a stack delivers there."""
CONFIDENCE = 0.98
"""Of two-sided intervals: each side is a test at the 1 % level."""

STACKS: dict[str, tuple[str, bool]] = {
    "NewReno, the paper's host": ("newreno", True),
    "SACK, the paper's host": ("sack", True),
    "CUBIC, the paper's host": ("cubic", True),
    "Vegas, the paper's host": ("vegas-ns2", True),
    "NewReno": ("newreno", False),
    "CUBIC": ("cubic", False),
    "Westwood+": ("westwood", False),
    "Compound": ("compound", False),
    "C2": ("c2", False),
    "BBR": ("bbr", False),
    "Linux, CUBIC": ("linux-cubic", False),
    "Linux, BBR": ("linux-bbr", False),
}
"""Each stack: its transport, and whether the study's host settings (`[tcp]`) count."""
_KEPT = ("segment_size",)
"""Host settings that every stack has from the study: the same packets."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair of stacks whose rank one parameter turns.

    Attributes:
        above: The stack that delivers more at the base.
        below: The one that delivers more where the parameter is changed.
        parameter: Its name.
        value: Its value there.
    """

    above: str
    below: str
    parameter: str
    value: Value


def base_scenario(study: Study, seed: int) -> Scenario:
    """Return the scenario of `[stacks]` at the base.

    Raises:
        StudyError: The study has no `[stacks]`.
    """
    point = Point(_asked(study).point)
    make = code.function(study, "runs", "scenario")
    found: Scenario = make(Context(study, (seed,), False, Runner()), study.space.base, point, seed)
    return found


def dress(scenario: Scenario, stack: str) -> Scenario:
    """Return the scenario with a stack in all flows that are not cross traffic."""
    transport, on_papers_host = STACKS[stack]
    return put_on(scenario, transport, on_papers_host=on_papers_host)


def put_on(scenario: Scenario, transport: str, *, on_papers_host: bool = False) -> Scenario:
    """Return the scenario with a transport in all flows that are not cross traffic.

    Args:
        scenario: A scenario of a study.
        transport: Any transport.
        on_papers_host: Whether the study's host settings (`[tcp]`) count. Otherwise the transport's preset
            decides, and only the size of segments stays.
    """
    data = scenario.to_dict()
    for flow in data["flow"]:
        if flow.get("fixed"):
            continue
        flow["transport"] = transport
        # Parameters are those of the control that was there.
        flow["tcp"] = {key: value for key, value in flow.get("tcp", {}).items() if key != "parameters"}
        if not flow["tcp"] or not on_papers_host:
            del flow["tcp"]
    if on_papers_host:
        # Loss recovery is the stack's own: a study may set that of its paper for all.
        data.get("tcp", {}).pop("recovery", None)
    else:
        data["tcp"] = {key: value for key, value in data.get("tcp", {}).items() if key in _KEPT}
    return Scenario.from_dict(data)


def settings(study: Study) -> list[tuple[str, Value, Setting]]:
    """Return the settings that are the base but for one parameter: its name, its value, the setting."""
    base = study.space.base
    found = []
    for parameter in study.space.varied:
        values = parameter.choices or (parameter.at(0.0), parameter.at(1.0))
        found += [
            (parameter.name, value, base.but(**{parameter.name: value}))
            for value in values
            if value != base[parameter.name]
        ]
    return found


def compare(context: Context) -> dict[str, Any]:
    """Run all stacks at the base and at each change of one parameter; return what `stacks.json` keeps.

    Raises:
        StudyError: The study has no `[stacks]`.
    """
    study = context.study
    asked = _asked(study)
    base = study.space.base
    there = Point(asked.point)
    first, count = context.seeds[0], len(context.seeds)
    more = replace(context, seeds=tuple(range(first, first + AT_BASE * count)))
    often = _measure(more, base, there)
    # A flip compares runs of the same seeds.
    at_base = {stack: values[:count] for stack, values in often.items()}
    without = None if asked.without is None else _measure(more, base, Point(asked.without))
    changed, flips = [], []
    for name, value, setting in settings(study):
        found = _measure(context, setting, there)
        changed.append((name, value, found))
        flips += [Flip(a, b, name, value) for a, b in _flipped(at_base, found)]
    return {
        "schema": 1,
        "seeds": [context.seeds[0], context.seeds[-1]],
        "base_seeds": [more.seeds[0], more.seeds[-1]],
        "point": dict(asked.point),
        "quantity": asked.quantity,
        "base": {stack: _summary(values) for stack, values in often.items()},
        "kept": None
        if without is None
        else {stack: _summary(_shares(often[stack], without[stack])) for stack in often},
        "changed": [
            [name, value, {stack: _four(sum(v) / len(v)) for stack, v in found.items()}]
            for name, value, found in changed
        ],
        "flips": [[flip.above, flip.below, flip.parameter, flip.value] for flip in flips],
    }


def keep(study: Study, outcome: Mapping[str, Any]) -> Path:
    """Write `stacks.json` into the study's folder."""
    path = study.folder / FILE
    text = json.dumps(outcome, ensure_ascii=False, separators=(",", ":"))
    write_file(path, text.replace("],[", "],\n[").replace('},"', '},\n"') + "\n")
    return path


def read(study: Study) -> dict[str, Any] | None:
    """Return the stored comparison; None if there is none."""
    found: dict[str, Any] | None = read_json(study.folder / FILE)
    return found


def flips_by_parameter(kept: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return for each parameter how many pairs of stacks it turns, the most first.

    A pair that several values of a parameter turn counts once.
    """
    pairs = {(above, below, parameter) for above, below, parameter, _ in kept["flips"]}
    return Counter(parameter for _, _, parameter in pairs).most_common()


def tables(study: Study, kept: Mapping[str, Any]) -> list[Table]:
    """Return what stacks deliver, and which parameters turn their rank."""
    quantity = study.quantities.get(kept["quantity"], kept["quantity"])
    best = max(mean for mean, _, _ in kept["base"].values())
    header = ["stack", f"{quantity} at the default values [95 %]", "of the best"]
    if kept["kept"]:
        header.append("share kept with cognitive radio [95 %]")
    rows = []
    for stack, found in sorted(kept["base"].items(), key=lambda item: -item[1][0]):
        row = [stack, _interval_text(found), f"{100 * found[0] / best:.0f} %"]
        if kept["kept"]:
            row.append(_interval_text([100 * value for value in kept["kept"][stack]]) + " %")
        rows.append(row)
    first, last = kept.get("base_seeds", kept["seeds"])
    names = {p.name: p for p in study.space.unsaid}
    turned: dict[tuple[str, Value], list[str]] = {}
    for above, below, parameter, value in kept["flips"]:
        turned.setdefault((parameter, value), []).append(f"{below} over {above}")
    count = len(STACKS) * (len(STACKS) - 1) // 2
    order = [name for name, _ in flips_by_parameter(kept)]
    return [
        Table(
            "Stacks of today at the default values",
            header,
            rows,
            f"All flows use the stack; seeds {first} to {last}. The paper's host: its timers, windows and "
            "ACKs. The others have their own.",
        ),
        Table(
            "Rank flips: one parameter alone reverses the order of A and B",
            ["parameter not given in the paper", "from", "to", "pairs", "reversed"],
            [
                [
                    names[parameter].title,
                    show(names[parameter].base),
                    show(value),
                    str(len(pairs)),
                    "; ".join(sorted(pairs)[:4]) + ("; ..." if len(pairs) > 4 else ""),
                ]
                for (parameter, value), pairs in sorted(
                    turned.items(), key=lambda item: order.index(item[0][0])
                )
            ],
            f"Of {count} pairs. Both ranks are shown by a t-test at the 1 % level.",
        ),
    ]


def _asked(study: Study) -> Comparison:
    if study.stacks is None:
        raise StudyError(f"{study.name} has no [stacks] in its study.toml")
    return study.stacks


def _interval_text(found: Sequence[float]) -> str:
    mean, low, high = found
    return f"{mean:.3g} {ends_text(low, high)}"


def _measure(context: Context, setting: Setting, point: Point) -> dict[str, list[float]]:
    asked = _asked(context.study)
    make = code.function(context.study, "runs", "scenario")
    reads = code.function(context.study, "runs", asked.measure)
    cases = [
        Case(dress(make(context, setting, point, seed), stack), seed, reads, asked.trace)  # type: ignore[arg-type]
        for stack in STACKS
        for seed in context.seeds
    ]
    values = [float(record[asked.quantity]) for record in context.run(cases)]
    count = len(context.seeds)
    return {stack: values[index * count : (index + 1) * count] for index, stack in enumerate(STACKS)}


def _flipped(
    base: Mapping[str, Sequence[float]], there: Mapping[str, Sequence[float]]
) -> list[tuple[str, str]]:
    """Return the pairs of which the first has more at the base, and the second there."""
    found = []
    for a, b in itertools.permutations(base, 2):
        here = mean_interval([x - y for x, y in zip(base[a], base[b], strict=True)], CONFIDENCE)
        then = mean_interval([x - y for x, y in zip(there[a], there[b], strict=True)], CONFIDENCE)
        if here.low > 0 and then.high < 0:
            found.append((a, b))
    return found


def _shares(values: Sequence[float], of: Sequence[float]) -> list[float]:
    return [value / other if other else 0.0 for value, other in zip(values, of, strict=True)]


def _summary(values: Sequence[float]) -> list[float]:
    interval = mean_interval(values)
    return [_four(interval.mean), _four(interval.low), _four(interval.high)]


def _four(value: float) -> float:
    return float(f"{value:.4g}")
