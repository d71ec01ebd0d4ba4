"""Draws the cases and runs them, here and in the peers."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from cogtcp._names import pick
from cogtcp.kernel.validation.families import FAMILIES, NoEvidenceError, why_absent
from cogtcp.kernel.validation.outcome import Case, Line, Validation
from cogtcp.model.statistics import Interval, mean_interval, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp.kernel.validation.families import Family


def draw(seed: int, family: Family, number: int) -> Case:
    """Return a case; it depends on nothing but its family, its number and the seed."""
    # A text as the seed: another family, or one more case, changes no other case.
    stream = random.Random(f"validate/{seed}/{family.name}/{number}")  # noqa: S311 - a documented draw, no secret
    drawn = family.draw(stream)
    return Case(family.name, number, drawn, family.told(drawn))


def seeds_of(seed: int, case: Case, runs: int) -> list[int]:
    """Draw the seeds of a case's runs: each case meets chance of its own."""
    stream = random.Random(f"validate/{seed}/{case.family}/{case.number}/runs")  # noqa: S311 - no secret
    return [stream.randrange(1, 2**31) for _ in range(runs)]


def drawn_cases(
    seed: int, *, cases: int, families: Sequence[str] = (), peers: Sequence[str] = ()
) -> list[tuple[str, Case]]:
    """Return the cases of a seed, each with its peer, without running any."""
    chosen = _chosen(families, peers)
    return [(family.peer, draw(seed, family, number)) for family in chosen for number in range(1, cases + 1)]


def validate(
    seed: int,
    *,
    cases: int = 3,
    runs: int = 5,
    families: Sequence[str] = (),
    peers: Sequence[str] = (),
    told: Callable[[str], None] | None = None,
) -> Validation:
    """Compare drawn cases with the peers that are here.

    Args:
        seed: Draws the cases: another seed, other cases.
        cases: How many of each family.
        runs: Runs of each case on either side; their seeds are drawn too.
        families: Only these; all without.
        peers: Only families of these peers (`ns-2`, `ns-3`, `Linux`, `theory`); all without.
        told: Called with a line of text as each case begins.

    Raises:
        UsageError: No family or peer has this name.
    """
    chosen = _chosen(families, peers)
    result = Validation(seed)
    for peer in dict.fromkeys(family.peer for family in chosen):
        if reason := why_absent(peer):
            result.absent[peer] = reason
    try:
        for family in chosen:
            if family.peer in result.absent:
                continue
            for number in range(1, cases + 1):
                case = draw(seed, family, number)
                if told:
                    told(f"{family.name} {number}: {case.told}")
                # Without chance each run would be the same.
                _compare(result, family, case, runs if family.is_random else 1)
    except KeyboardInterrupt:
        result.interrupted = True
    return result


def _compare(result: Validation, family: Family, case: Case, runs: int) -> None:
    seeds = seeds_of(result.seed, case, runs)
    try:
        # A peer with a clock of its own would be held up by another beside it.
        with ThreadPoolExecutor(2 if family.is_parallel else 1) as pool:
            theirs = list(pool.map(lambda seed: family.theirs(case.drawn, seed), seeds))
        ours = [family.ours(case.drawn, seed) for seed in seeds]
    except NoEvidenceError as reason:
        result.failed.append(f"{family.name} {case.number}: {reason}")
        return
    for measure, band in family.bands.items():
        left = [values[measure] for values in theirs]
        right = [values[measure] for values in ours]
        if mean_interval(left).mean <= 0:
            # No ratio. Nothing there and nothing here agree.
            if mean_interval(right).mean <= 0:
                one = Interval(1.0, 1.0, 1.0, runs)
                result.lines.append(
                    Line(case, family.peer, measure, mean_interval(left), mean_interval(right), one, band)
                )
            else:
                result.failed.append(
                    f"{family.name} {case.number}: {measure} is 0 in {family.peer}, and not here"
                )
            continue
        ratio = ratio_interval(right, left)
        result.lines.append(
            Line(case, family.peer, measure, mean_interval(left), mean_interval(right), ratio, band)
        )


def _chosen(families: Sequence[str], peers: Sequence[str]) -> list[Family]:
    known = {family.name: family for family in FAMILIES}
    all_peers = list(dict.fromkeys(family.peer for family in FAMILIES))
    wanted = {pick(name, all_peers, "peer") for name in peers}
    chosen = [known[pick(name, known, "family of cases")] for name in families] or list(FAMILIES)
    return [family for family in chosen if not wanted or family.peer in wanted]
