"""Make the atlas again, judge it on points that it has not seen, and write docs/atlas.md.

    .venv/bin/python docs/generate_atlas.py survey --points 5000   # hours; Ctrl-C, and again: it goes on
    .venv/bin/python docs/generate_atlas.py write                  # the Parquet file, fresh points, the page

The survey keeps its runs in results/atlas; `--ray ADDRESS` makes them on a cluster. With another version of
the engine, or one more transport in `cogtcp.deciding.atlas.transports`, the same commands make it again.
"""

# ruff: noqa: E501 - a row of a table stands on a line

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cogtcp.deciding.atlas import lookup, survey
from cogtcp.deciding.atlas.rules import RULES
from cogtcp.deciding.atlas.space import AXES, SILENCES, SurveyPoint, point
from cogtcp.deciding.atlas.transports import CANDIDATES, OTHERS, SURVEYED
from cogtcp.model import provenance
from cogtcp.model.output import write_file, write_table
from cogtcp.model.statistics import share_interval
from cogtcp.running.runner import Runner

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "python" / "cogtcp" / "deciding" / "atlas" / "atlas.parquet"
JUDGED, PAGE = ROOT / "docs" / "data" / "atlas.json", ROOT / "docs" / "atlas.md"
#: Fresh points: far beyond those of any survey.
FRESH, COUNT = 1_000_000, 200
#: Transports that run with holding and with dropping silences at the same fresh point.
PAIRED = ("sack", "linux-cubic", "linux-bbr")
#: A control that ignores losses around silences, and the same control without this rule.
HEARS, DEAF = "satcp", "cubic"
#: Times from one silence to the next, in round-trip times, from which on to count the gain of this rule.
EARS = (5.0, 20.0, 60.0, 200.0)


def fresh(folder: Path) -> list[tuple[SurveyPoint, dict[str, float]]]:
    """Return fresh points and the efficiency of each transport that may be chosen there, and of others."""
    cases = [
        case
        for index in range(FRESH, FRESH + COUNT)
        for case in survey.cases_at(index, point(index), CANDIDATES)
    ]
    Runner(folder, None, _Lines()).outcomes(cases)
    return _read(folder, {}, CANDIDATES)


def flipped(folder: Path) -> list[tuple[SurveyPoint, dict[str, float]]]:
    """Return the same points with the other kind of silence."""
    cases = []
    for index in range(FRESH, FRESH + COUNT):
        place = other(point(index))
        cases += survey.cases_at(index, place, PAIRED)
    Runner(folder, None, _Lines()).outcomes(cases)
    return _read(folder, {}, PAIRED)


def other(place: SurveyPoint) -> SurveyPoint:
    """Return a point with the other kind of silence."""
    return replace(place, silence="hold" if place.silence == "drop" else "drop")


class _Lines:
    def update(self, counts: Any) -> None:
        if counts.done % 500 == 0:
            print(f"atlas: {counts.describe()}", file=sys.stderr)


def _read(folder: Path, found: dict[int, dict[str, list[float]]], names: tuple[str, ...]) -> list[Any]:
    for outcome in survey._known(folder).values():
        index, name, _ = outcome.label
        if not outcome.error:
            values = found.setdefault(int(str(index)), {}).setdefault(str(name), [])
            values.append(float(outcome.record["efficiency"]))
    return [
        (point(index), {name: math.fsum(v) / len(v) for name, v in by_name.items()})
        for index, by_name in sorted(found.items())
        if all(len(by_name.get(name, [])) >= survey.SEEDS for name in names)
    ]


def judge(folder: Path) -> dict[str, Any]:
    """Judge quick answers and rules on the fresh points."""
    atlas = lookup.load()
    points = fresh(folder / "fresh")
    turned = dict(flipped(folder / "flipped"))
    right = same = 0
    regret, sure = [], []
    always = dict.fromkeys(CANDIDATES, 0)
    for place, found in points:
        guess = lookup.guess_at(place, atlas)
        best = max(found[name] for name in CANDIDATES)
        ratio = found[guess.winner] / best
        right += ratio >= 1 - lookup.AS_GOOD
        same += guess.winner == max(CANDIDATES, key=lambda name: found[name])
        regret.append(1 - ratio)
        sure.append((guess.sureness, ratio >= 1 - lookup.AS_GOOD))
        for name in always:
            always[name] += found[name] >= (1 - lookup.AS_GOOD) * best
    rules = []
    efficiency = lookup.efficiencies()
    rows = [{name: values[i] for name, values in efficiency.items()} for i in range(len(atlas.places))]
    for rule in RULES:
        inside = [(place, by_name) for place, by_name in points if rule.asks(place, by_name)]
        held = sum(rule.holds(by_name) for _, by_name in inside)
        known = [row for place, row in zip(atlas.places, rows, strict=True) if rule.asks(place, row)]
        true = sum(rule.holds(row) for row in known)
        rules.append({"name": rule.name, "where": rule.where, "says": rule.says, "fresh": [held, len(inside)],
                      "atlas": [true, len(known)]})  # fmt: skip
    holds = {}
    for name in PAIRED:
        pairs = []
        for place, found in points:
            turn = turned.get(place)
            if turn is not None:
                hold, drop = (found, turn) if place.silence == "hold" else (turn, found)
                pairs.append((hold[name], drop[name]))
        holds[name] = {
            "points": len(pairs),
            "hold_better_by_5": sum(h > 1.05 * d for h, d in pairs),
            "drop_better_by_5": sum(d > 1.05 * h for h, d in pairs),
            "mean_hold": math.fsum(h for h, _ in pairs) / max(1, len(pairs)),
            "mean_drop": math.fsum(d for _, d in pairs) / max(1, len(pairs)),
        }
    upper = [good for value, good in sure if value >= 0.9]
    return {
        "version": provenance.version(),
        "points": len(atlas.places),
        "runs": int(atlas.provenance["runs"]),
        "anew": sum(not math.isnan(value) for value in atlas.efficiency["quic"]),
        "fresh": len(points),
        "right_or_within_5": right,
        "same_transport": same,
        "mean_loss": math.fsum(regret) / max(1, len(regret)),
        "always": always,
        "sure_90": [sum(upper), len(upper)],
        "rules": rules,
        "hold_or_drop": holds,
        "ears": ears(),
    }


def ears() -> list[dict[str, Any]]:
    """Return what hearing the radio gains over the atlas, by the kind of silences and the time between them."""
    efficiency = lookup.efficiencies()
    pairs = [
        (place, hears / max(deaf, 1e-9))
        for place, hears, deaf in zip(lookup.load().places, efficiency[HEARS], efficiency[DEAF], strict=True)
        if not math.isnan(hears + deaf)
    ]
    found = []
    for kind in SILENCES:
        for low, high in zip(EARS, (*EARS[1:], math.inf), strict=True):
            ratios = sorted(
                ratio for place, ratio in pairs if place.silence == kind and low <= place.period_rtt < high
            )
            found.append({
                "silence": kind, "from": low, "to": high if math.isfinite(high) else None,
                "points": len(ratios),
                "better_by_5": sum(ratio > 1.05 for ratio in ratios),
                "worse_by_5": sum(ratio < 0.95 for ratio in ratios),
                "median": ratios[len(ratios) // 2] if ratios else None,
            })  # fmt: skip
    return found


def share(count: int, total: int) -> str:
    """Return a share with its interval as text."""
    low, high = share_interval(count, total)
    return f"{100 * count / max(1, total):.0f} % ({100 * low:.0f} to {100 * high:.0f}; {count} of {total})"


def page(found: dict[str, Any]) -> str:
    """Return docs/atlas.md."""
    always = sorted(found["always"].items(), key=lambda each: -each[1])[:3]
    lines = [
        "# The atlas",
        "",
        "<!-- Generated by docs/generate_atlas.py from what is kept of the survey: do not edit. -->",
        "",
        "The atlas says which transport wins over which kind of spectrum: one bottleneck, one radio that falls silent, one to eight flows.",
        "",
        f"<a href='atlas-map.html'>The map</a> of the site: choose two axes, see who wins, by how much, and where the survey is inconclusive. It has {found['points']:,} points and {found['runs']:,} runs, two seeds each.",
        "",
        f"{found['anew']:,} points have all {len(SURVEYED)} transports, simulated by this version's engine: {len(CANDIDATES)} may be chosen, {', '.join(OTHERS)} are there for comparison. The other points have eleven TCPs, simulated by the previous engine. On the points that both engines ran eight of the eleven are equal; `linux-*` differ by over 2 % at 16 to 19 % of the points, and the former winner stays within 5 % of the best at 98 %.",
        "",
        "```sh",
        "cogtcp advise sensed-link --quick",
        "```",
        "",
        "`--quick` answers from the atlas without a run, by the 32 nearest points with the same kind of silence (QUIC by the 24 nearest that have it). It is as sure as the share of them at which its answer is within 5 % of the best.",
        "",
        "## How far to trust it",
        "",
        f"Judged on {found['fresh']} fresh points of the same space, which no survey has seen:",
        "",
        "| | share (95 %) |",
        "|---|---|",
        f"| the quick answer is right, or within 5 % of the best | {share(found['right_or_within_5'], found['fresh'])} |",
        f"| it names the very best | {share(found['same_transport'], found['fresh'])} |",
        f"| right or within 5 %, where it is sure (90 % and more) | {share(*found['sure_90'])} |",
        *(f"| for comparison, always {name} | {share(count, found['fresh'])} |" for name, count in always),
        "",
        f"On average the quick answer loses {100 * found['mean_loss']:.1f} % of the best goodput. Two seeds a point leave noise in *the very best*. ATCP (needs ECN marks), multipath and the presets of other simulators are not in the atlas.",
        "",
        "## Rules of thumb",
        "",
        "Found in the atlas, tested on the fresh points. *Recovers*: a Reno window grows back from half in BDP / flows / 2 round-trip times.",
        "",
        "| where | what holds | fresh points | atlas |",
        "|---|---|---|---|",
        *(
            f"| {rule['where']} | {rule['says']} | {share(*rule['fresh'])} | {100 * rule['atlas'][0] / max(1, rule['atlas'][1]):.0f} % of {rule['atlas'][1]} |"
            for rule in found["rules"]
        ),
        "",
        "**Hold beats drop.** The same fresh points with either kind of silence:",
        "",
        "| transport | hold better by 5 % | drop better by 5 % | mean efficiency, hold | drop |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {share(h['hold_better_by_5'], h['points'])} | {share(h['drop_better_by_5'], h['points'])} | {100 * h['mean_hold']:.0f} % | {100 * h['mean_drop']:.0f} % |"
            for name, h in found["hold_or_drop"].items()
        ),
        "",
        f"**Ignoring losses around silences pays where silences drop and follow each other closely.** `{HEARS}` ignores losses from the beginning of a silence until {survey.EXTENSION_RTT} RTT after its end, `{DEAF}` is the same CUBIC without this rule:",
        "",
        "| silences | from one to the next, RTT | gain of 5 % or more | loss of 5 % or more | median gain |",
        "|---|---|---|---|---|",
        *(
            f"| {row['silence']} | {row['from']:g} to {row['to'] or 1000:g} | {share(row['better_by_5'], row['points'])} | {share(row['worse_by_5'], row['points'])} | {100 * (row['median'] - 1):+.1f} % |"
            for row in found["ears"]
            if row["points"]
        ),
        "",
        "## What was varied",
        "",
        "| coordinate | from | to | meaning |",
        "|---|---|---|---|",
        *(f"| {axis.title} | {axis.low:g} | {axis.high:g} | {axis.meaning} |" for axis in AXES),
        "",
        "Besides: silences that hold or drop; on a timetable, at random times, or of random length too; 1, 2, 4 or 8 flows. Axes are logarithmic. Losses below 0.001 % and rate ranges below 1.2 are none. Periods are at most 60 s and 60,000 packets.",
        "Points fill the space evenly: an additive recurrence by the generalised golden ratio (Roberts, 2018), which extends without a restart. A run lasts 12 periods if 40,000 packets allow it, and 3 at least; its first fifth is warm-up.",
        "",
        "## Make it again",
        "",
        "```sh",
        "make atlas POINTS=5000",
        "```",
        "",
        f"Runs are kept: Ctrl-C, and the same command goes on. The data are [docs/data/atlas.parquet](data/atlas.parquet): a row a point. Each transport has its efficiency, the difference of its two seeds, RTT over the RTT without queues, and shares of the budget. Made with cogtcp {found['version']}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["survey", "write", "page"])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "atlas")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--ray", metavar="ADDRESS")
    args = parser.parse_args()
    if args.what == "survey":
        from cogtcp.running.runner.on_ray import OnRay

        launcher = OnRay(args.ray) if args.ray else None
        done = survey.survey(args.points, args.folder, jobs=args.jobs, progress=_Lines(), launcher=launcher)
        print("finished" if done else "interrupted: the same command goes on", file=sys.stderr)
        sys.exit(0 if done else 130)
    if args.what == "write":
        table = survey.merged(survey.collect(args.points, args.folder), pq.read_table(DATA))
        runs = str(survey.runs_of(table))
        write_table(DATA, table, {"version": provenance.version(), "runs": runs})
        lookup.load.cache_clear()
        write_file(JUDGED, json.dumps(judge(args.folder), indent=1) + "\n")
    write_file(PAGE, page(json.loads(JUDGED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
