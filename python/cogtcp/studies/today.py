"""A paper's figure on Linux of today: real senders of the kernel, in virtual time, at the joint setting.

`[today]` of `study.toml` names points of a figure, and which of the paper's senders stand beside. Each point
runs with Linux's own Reno, CUBIC and BBR: in the kernel, and as this simulator models them. All of these have
Linux's host settings; only the size of segments stays the study's. The paper's senders have the paper's host
and are simulated. All share seeds and durations, so that senders are compared seed by seed.

The outcome is `today.json` in the study's folder: `cogtcp reproduce NAME --stacks --joint`. It belongs to the
joint setting at which it was made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.emulation import virtual_kernel
from cogtcp.kernel.emulation.virtual.plane import virtual_plane
from cogtcp.model.output import write_file
from cogtcp.model.statistics import mean_interval
from cogtcp.running.runner import Case
from cogtcp.studies import code, joint
from cogtcp.studies.errors import StudyError
from cogtcp.studies.exhibits import Table
from cogtcp.studies.space import Point, show
from cogtcp.studies.stacks import put_on
from cogtcp.studies.stored import read_json
from cogtcp.studies.verdicts import mean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cogtcp import Scenario
    from cogtcp.model.statistics import Interval
    from cogtcp.running.runner.plane import Plane
    from cogtcp.studies.claims import OnToday
    from cogtcp.studies.context import Context
    from cogtcp.studies.folder import Study

FILE = "today.json"
FIRST_SEED, SEEDS = 8001, 8
LINUX = {"Linux's Reno": "linux-reno", "Linux's CUBIC": "linux-cubic", "Linux's BBR": "linux-bbr"}
KERNEL, SIMULATOR = "kernel", "simulator"


@dataclass(frozen=True, slots=True)
class Cell:
    """A sender at a point, on one plane.

    Attributes:
        point: The point of the figure.
        sender: Who sends.
        plane: Where it ran: `kernel` or `simulator`.
        values: For each quantity a value for each seed.
    """

    point: Point
    sender: str
    plane: str
    values: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Today:
    """A figure on Linux of today.

    Attributes:
        kernel: Version of the kernel that ran.
        seeds: First and last seed.
        duration: How long a run lasted.
        cells: What was measured.
    """

    kernel: str
    seeds: tuple[int, int]
    duration: str
    cells: tuple[Cell, ...]

    def values(self, sender: str, quantity: str, plane: str = KERNEL, **where: Any) -> tuple[float, ...]:
        """Return what a sender has at a point, a value for each seed.

        Raises:
            ValueError: `where` names no point, or several.
        """
        (found,) = [
            cell.values[quantity]
            for cell in self.cells
            if (cell.sender, cell.plane) == (sender, plane) and cell.point.matches(where)
        ]
        return found

    def mean(self, sender: str, quantity: str, plane: str = KERNEL, **where: Any) -> Interval:
        """Return the mean with its 95 % interval over the seeds."""
        return mean_interval(self.values(sender, quantity, plane, **where))


def compare(
    context: Context,
    on: Plane | None = None,
    progress: Callable[[str], None] = print,
) -> Today:
    """Run the figure of `[today]` with Linux's senders and the paper's.

    Args:
        context: The study, with seeds.
        on: Where Linux's senders run; by default the kernel for virtual time in use.
        progress: Called with a line.

    Raises:
        StudyError: The study has no `[today]` or no joint setting.
        NoKernelPlaneError: No kernel for virtual time is built.
        RunError: A run failed, or is no evidence.
    """
    study = context.study
    asked, there = _asked(study), joint.read(study)
    if there is None:
        raise StudyError(
            f"{study.name} has no joint setting; search: cogtcp reproduce {study.name} --search --joint"
        )
    release = virtual_kernel().release if on is None else ""
    kernel = on or virtual_plane()
    reads = code.function(study, "runs", asked.measure)
    make = code.function(study, "runs", "scenario")

    def scenario(point: Point, seed: int) -> Scenario:
        made: Scenario = make(context, there.setting, point, seed)
        return made.set("run.duration", asked.duration)

    def cell(point: Point, sender: str, dressed: Sequence[Scenario], plane: Plane | None) -> Cell:
        cases = [
            Case(one, seed, reads, asked.trace, plane=plane)
            for one, seed in zip(dressed, context.seeds, strict=True)
        ]
        return _cell(asked, point, sender, SIMULATOR if plane is None else KERNEL, context.run(cases))

    cells = []
    for point in asked.points:
        for sender in asked.beside:
            dressed = [scenario(point.but(transport=sender), seed) for seed in context.seeds]
            cells.append(cell(point, sender, dressed, None))
        for sender, transport in LINUX.items():
            dressed = [put_on(scenario(point, seed), transport) for seed in context.seeds]
            cells += [cell(point, sender, dressed, plane) for plane in (None, kernel)]
            progress(f"today: {_place(point)} {sender}: done".replace("  ", " "))
    return Today(release, (context.seeds[0], context.seeds[-1]), asked.duration, tuple(cells))


def _cell(
    asked: OnToday, point: Point, sender: str, plane: str, records: Sequence[Mapping[str, Any]]
) -> Cell:
    values = {name: tuple(float(f"{record[name]:.5g}") for record in records) for name in asked.quantities}
    return Cell(point, sender, plane, values)


def keep(study: Study, found: Today, version: str) -> Path:
    """Write `today.json` into the study's folder."""
    path = study.folder / FILE
    head = {
        "schema": 1,
        "version": version,
        "setting": _joint_setting(study),
        "kernel": found.kernel,
        "seeds": list(found.seeds),
        "duration": found.duration,
    }
    lines = ",\n".join(
        json.dumps([dict(cell.point), cell.sender, cell.plane, cell.values], separators=(",", ":"))
        for cell in found.cells
    )
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).removesuffix("}")
    write_file(path, f'{text},"cells":[\n{lines}\n]}}\n')
    return path


def read(study: Study) -> Today | None:
    """Return what is stored; None if nothing is, or if the joint setting has changed since."""
    data = read_json(study.folder / FILE)
    if data is None or data["setting"] != _joint_setting(study):
        return None
    cells = tuple(
        Cell(Point(point), sender, plane, {name: tuple(found) for name, found in values.items()})
        for point, sender, plane, values in data["cells"]
    )
    first, last = data["seeds"]
    return Today(data["kernel"], (first, last), data["duration"], cells)


def table(study: Study, found: Today) -> Table:
    """Return the figure as a table."""
    asked = _asked(study)
    rows = [
        [
            *([_place(cell.point)] if len(asked.points) > 1 else []),
            cell.sender,
            cell.plane,
            *(mean_text(list(cell.values[name])) for name in asked.quantities),
        ]
        for cell in found.cells
    ]
    header = [
        *(["point"] if len(asked.points) > 1 else []),
        *("sender", "runs in"),
        *(f"{study.quantities.get(name, name)} [95 %]" for name in asked.quantities),
    ]
    first, last = found.seeds
    return Table(
        f"{asked.says} on Linux {found.kernel}, at the joint setting",
        header,
        rows,
        f"Runs of {found.duration}, seeds {first} to {last}. Linux's senders have Linux's host, the paper's "
        f"have the paper's. cogtcp reproduce {study.name} --stacks --joint",
    )


def _place(point: Point) -> str:
    return ", ".join(f"{name} {show(value)}" for name, value in point.items() if not isinstance(value, str))


def _joint_setting(study: Study) -> dict[str, Any] | None:
    there = joint.read(study)
    return None if there is None else dict(there.setting)


def _asked(study: Study) -> OnToday:
    if study.today is None:
        raise StudyError(f"{study.name} has no [today] in its study.toml")
    return study.today
