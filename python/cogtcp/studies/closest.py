"""Scenario files of the settings that come close to the paper's numbers: `closest/<claim>.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.output import write_file
from cogtcp.studies import code
from cogtcp.studies.judging import judge, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cogtcp.studies import Context
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.search import Search

FOLDER = "closest"
WITHIN = 0.15
"""How far measured numbers may be from those that the paper prints."""


def write_scenarios(study: Context, claims: Sequence[ClaimRow], outcome: Search) -> list[Path]:
    """Write a scenario for each claim whose closest setting comes within 15 % of the paper's numbers.

    It is that of the point at which the first number stands, with the first seed. What is no longer close is
    removed.
    """
    folder = study.study.folder / FOLDER
    written = []
    for claim in claims:
        path = folder / f"{claim.id}.toml"
        path.unlink(missing_ok=True)
        if not claim.numbers:
            continue
        setting = outcome.claims[claim.id].closest
        (judged,) = judge(study, [claim], setting)
        if not is_close(claim, judged):
            continue
        point = next(point for point in claim.points if point.matches(claim.numbers[0].at))
        scenario = code.function(study.study, "runs", "scenario")(study, setting, point, study.seeds[0])
        folder.mkdir(exist_ok=True)
        write_file(path, scenario.to_toml())
        written.append(path)
    return written


def is_close(claim: ClaimRow, judged: Judged) -> bool:
    """Whether all of the paper's numbers come out within 15 %."""
    return all(abs(measured / paper - 1) <= WITHIN for _, paper, measured in numbers(claim, judged.grid))
