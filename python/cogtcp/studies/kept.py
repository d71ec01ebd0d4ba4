"""What is kept of a study's searches: the answers, without a run; and whether a fresh sample agrees."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cogtcp.model.statistics import fisher
from cogtcp.running.runner import Runner
from cogtcp.studies import answers, code, power, readings, search
from cogtcp.studies.guided import part
from cogtcp.studies.judging import judge
from cogtcp.studies.support import Support

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cogtcp.studies.answers import Answer
    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.context import Context
    from cogtcp.studies.folder import Study
    from cogtcp.studies.judging import Judged
    from cogtcp.studies.readings import Part, Reading

FRESH_SEEDS = 9001
"""First seed on which best readings are measured again, and of the runs of fresh settings."""
FRESH_DESIGN = 2
"""Seed of the fresh settings; the kept design has 1."""
CONTRADICTED = 0.001
"""P-value below which what fresh settings show contradicts the kept share: many claims are looked at."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a claim.

    Attributes:
        row: The claim.
        answer: Its answer.
        place: In how much of the space it holds; None where the design has not judged it.
        reading: Its best reading; None where none is kept.
    """

    row: ClaimRow
    answer: Answer
    place: Support | None
    reading: Reading | None


def answers_of(study: Study) -> dict[str, Known]:
    """Return the stored answer of each claim of a study, in its order."""
    design, found = search.read(study), readings.read(study)
    known = {}
    for row in study.claims:
        mine = None if design is None else design.claims.get(row.id)
        place = None if mine is None else mine.place()
        reading = found.get(row.id)
        known[row.id] = Known(row, answer(study, row, reading, design), place, reading)
    return known


def answer(
    study: Study,
    row: ClaimRow,
    reading: Reading | None,
    design: search.Search | None,
    base: Judged | None = None,
) -> Answer:
    """Answer a claim by its stored searches.

    `base` is the claim at the base. Where all statements hold there, that reproduces it without a search.
    """
    count = len(row.statements)
    parts: list[Part] = []
    if reading is not None:
        parts, seeds = list(reading.parts), reading.seeds[1] - reading.seeds[0] + 1
    elif base is not None:
        parts = [part(*both) for both in zip(row.statements, base.findings, strict=True)]
        seeds = len(next(iter(base.grid.values())).records)
    held = sum(item.answer == "holds" for item in parts)
    lacking = [
        answers.Lack(item.says, power.more_seeds(statement, item.clearance, seeds, count))
        for statement, item in zip(row.statements, parts, strict=bool(parts))
        if item.answer == "inconclusive"
    ]
    mine = None if design is None else design.claims.get(row.id)
    place = None if mine is None else mine.place()
    robust = answers.robust(place)
    causes = design.causes(study, row.id) if design is not None and "depends" in robust else ()
    if mine is not None and (lack := mine.lack()) is not None:
        lacking.append(lack)
    return answers.Answer(
        reproduced=_reproduced(row, reading, held),
        held=held,
        of=count,
        robust=robust,
        causes=tuple(causes),
        lacking=tuple(lacking),
        evaluated=0 if reading is None else reading.evaluated,
        holds=0 if place is None else place.holds,
        decided=0 if place is None else place.holds + place.fails,
    )


def _reproduced(row: ClaimRow, reading: Reading | None, held: int) -> answers.Reproduced:
    """Return whether a claim can be reproduced; one of ours has no paper, unless it was searched."""
    if reading is None and row.ours:
        return "ours"
    if reading is None and held < len(row.statements):
        return "not searched"
    return answers.reproduced(held, len(row.statements))


def changed(study: Study, sample: int, runs: Path | None = None) -> list[str]:
    """Judge a sample of the stored results again, and say in a line each which have changed.

    Settings of the random design have their own seeds again: what held there must not fail, nor the other way
    round. As many fresh settings must not contradict the kept share (Fisher's exact test). Best readings have
    fresh seeds: what held there must not fail.
    """
    design, found = search.read(study), readings.read(study)
    from cogtcp.studies.context import Context

    code.forget(study)
    context = Context(study, (), False, Runner(runs))
    told = []
    if design is not None:
        rows = [row for row in study.claims if row.id in design.claims]
        first = replace(context, seeds=tuple(range(search.DESIGN_SEEDS, search.DESIGN_SEEDS + design.seeds)))
        chosen = random.Random("sample").sample(range(len(design.settings)), sample)  # noqa: S311 - a documented draw
        for index in sorted(chosen):
            judged = judge(first, rows, design.settings[index])
            for row, item in zip(rows, judged, strict=True):
                was = design.claims[row.id].claim_verdicts()[index]
                # From holds to fails or back: what is inconclusive now or then has not changed beyond chance.
                if {was, item.verdict} == {"holds", "fails"}:
                    told.append(f"{row.id}: at setting {index + 1} of the design it no longer {was}")
        told += _contradicted(context, rows, design, sample)
    for row in study.claims:
        if row.id in found:
            reading = found[row.id]
            count = reading.seeds[1] - reading.seeds[0] + 1
            fresh = replace(context, seeds=tuple(range(FRESH_SEEDS, FRESH_SEEDS + count)))
            (judged_there,) = judge(fresh, [row], reading.setting)
            for part, finding in zip(reading.parts, judged_there.findings, strict=True):
                if part.answer == "holds" and finding.verdict == "fails":
                    told.append(f'{row.id}: at its best parameter values "{part.says}" no longer holds')
    return told


def _contradicted(
    context: Context, rows: Sequence[ClaimRow], design: search.Search, sample: int
) -> list[str]:
    """Judge claims at settings that no design has, and say where their share is not the kept one."""
    seeds = tuple(range(FRESH_SEEDS, FRESH_SEEDS + design.seeds))
    column = [
        judge(replace(context, seeds=seeds), rows, setting)
        for setting in context.study.space.design(sample, FRESH_DESIGN)
    ]
    told = []
    for row, *judged in zip(rows, *column, strict=True):
        there = Support.of([item.verdict for item in judged])
        kept = design.claims[row.id].place()
        if fisher((there.holds, there.fails), (kept.holds, kept.fails)) < CONTRADICTED:
            told.append(
                f"{row.id}: holds at {there.holds} and fails at {there.fails} fresh settings; in the saved "
                f"design at {kept.holds} and {kept.fails}"
            )
    return told
