"""The answer of a run, a comparison or a search in a sentence or two, computed from its numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.model import budget
from cogtcp.model.metrics import BY_NAME, primary
from cogtcp.model.statistics import ratio_interval

if TYPE_CHECKING:
    from cogtcp.deciding.tuning.result import Finalist, Trial, Tuning
    from cogtcp.model.metrics import Metric
    from cogtcp.model.result import Result
    from cogtcp.model.statistics import Interval
    from cogtcp.running.compare import Comparison

_GOODPUT = BY_NAME["goodput_bps"]


def of_run(result: Result) -> str:
    """Return what users of applications notice, what a run delivered, and where the time of the link went."""
    flows = result.count("flows")
    if not flows:
        return _of_links(result) if result.count("links") else _of_nodes(result)
    columns = result.columns("flows")
    names = sorted(set(columns["transport"]))
    subject = f"{flows} flows of {join(names)} deliver" if flows > 1 else f"{names[0]} delivers"
    goodput, efficiency = result.metrics["goodput_bps"], result.metrics["efficiency"]
    time, paths = budget.of_run(result), budget.by_path(result)
    shared = budget.shared_link(columns, result.columns("links"))
    share, whose = _of_shared(shared, efficiency)
    why = f" {whose} time: {budget.told(time)}." if time else ""
    if paths:
        parts = (f"on {link} {budget.told(shares)}" for link, shares in paths.items())
        why = f" The links' time: {'; '.join(parts)}."
    first = "".join(f"{each} " for each in _noticed_in(result))
    return f"{first}{subject} {_GOODPUT.text(goodput, unit=True)}{share}.{why}"


def _noticed_in(result: Result) -> list[str]:
    """Return what the users of each application notice most in one run, a sentence each."""
    values = ((metric, result.metrics.get(metric.name, math.nan)) for metric in primary(result.scenario))
    known = ((metric.for_size([value]), value) for metric, value in values if not math.isnan(value))
    return [
        f"{of_subject(metric)} is {metric.text(value, unit=True, single=True)}." for metric, value in known
    ]


def _of_links(result: Result) -> str:
    """Return what the links carried, of a run without flows of its own: a program was emulated."""
    if result.duration_s == 0:
        return "The program used no virtual time: the links carried nothing."
    rates: dict[str, list[str]] = {}
    for row in result.rows("links"):
        rate = _GOODPUT.text(row["carried_bytes"] * 8 / result.duration_s, unit=True)
        rates.setdefault(row["link"], []).append(f"{rate} {row['direction']}")
    links = "; ".join(f"{link} carried {join(parts)}" for link, parts in rates.items())
    return f"In {result.duration_s:,.1f} s, headers included, {links}."


def _of_nodes(result: Result) -> str:
    """Return what an ad hoc network carried, of a run without flows of its own."""
    (routing,) = result.rows("routing")
    delivered = sum(row["delivered"] for row in result.rows("nodes"))
    sent, size = routing["overhead_packets"], routing["overhead_bytes"] / 1e3
    return (
        f"In {result.duration_s:,.1f} s the ad hoc network delivered {delivered:,} packets, "
        f"and sent {sent:,} packets of routing, {size:,.1f} kB."
    )


def of_comparison(comparison: Comparison) -> str:
    """Return which transport delivers most, how sure that is, by how much the others fall behind, and why.

    Why is where the time of the link went: with the best and with the last.
    """
    ranked = _ranked(comparison)
    shared = budget.shared_link_of_comparison(comparison, ranked[0]) if ranked else None
    answer = " ".join(filter(None, [of_applications(comparison), _ranking(comparison, shared)]))
    parts = []
    for name in dict.fromkeys([*ranked[:1], *ranked[-1:]]):
        if time := budget.of_comparison(comparison, name):
            parts.append(f"with {name} {budget.told(time)}")
    return f"{answer} {_of_shared(shared)[1]} time: {'; '.join(parts)}." if parts else answer


def of_applications(comparison: Comparison) -> str:
    """Return what the users of each application notice, by transport; nothing without applications."""
    if not comparison.scenario.to_dict().get("flow"):
        return ""
    return " ".join(filter(None, (_of_metric(comparison, m) for m in primary(comparison.scenario))))


def of_subject(metric: Metric) -> str:
    """Return what a metric of a subject is called at the beginning of a sentence."""
    _, _, of = metric.name.rpartition(".")
    title = metric.title.removeprefix(f"{metric.subject}: ")
    return f"The {SAID.get(of, title)} of {metric.subject}"


#: What a metric of an application is called in a sentence, by the last part of its name.
SAID = {
    "delay_p95": "delay at the 95th percentile",
    "queuing_delay_p95": "queuing delay at the 95th percentile",
    "page_time_p95": "page time at the 95th percentile",
    "stall_share": "stalled share",
    "completion": "completion time",
}


def _of_metric(comparison: Comparison, metric: Metric) -> str:
    """Return which transport is best in a metric, how sure that is, and what the others come to."""
    intervals = {
        name: interval
        for name in comparison.transports
        if (interval := comparison.interval(name, metric.name)).n
    }
    if not intervals:
        return ""
    metric = metric.for_size(interval.mean for interval in intervals.values())
    subject = of_subject(metric)
    ranked = sorted(intervals, key=lambda name: -metric.better * intervals[name].mean)
    best, *others = ranked
    value = _with_interval(intervals[best], metric)
    if not others:
        return f"{subject} is {value} with {best}."
    if len({interval.mean for interval in intervals.values()}) == 1:
        return f"{subject} is {metric.text(intervals[best].mean, unit=True)} with every transport."
    sure = comparison.nothing_random or intervals[best].n < 2
    even = [] if sure else [name for name in others if not comparison.is_better(best, name, metric.name)]
    behind = [name for name in others if name not in even]
    parts = [f"{value} with {best}"]
    if behind:
        parts.append(join([f"{metric.text(intervals[n].mean, unit=True)} with {n}" for n in behind]))
    if even:
        verb = "are" if len(even) > 1 else "is"
        values = join([f"{n} ({metric.text(intervals[n].mean, unit=True)})" for n in even])
        parts.append(f"{values} {verb} not significantly different")
    return f"{subject} is {'; '.join(parts)}."


def _ranked(comparison: Comparison) -> list[str]:
    """Return the transports that delivered something, best first."""
    ranked = [
        name
        for name in comparison.transports
        if not math.isnan(comparison.interval(name, "goodput_bps").mean)
    ]
    return sorted(ranked, key=lambda name: -comparison.interval(name, "goodput_bps").mean)


def _ranking(comparison: Comparison, shared: tuple[str, float] | None) -> str:
    ranked = _ranked(comparison)
    if not ranked:
        return "No run was finished."
    best, others = ranked[0], ranked[1:]
    goodput = comparison.interval(best, "goodput_bps")
    if others and not goodput.mean > 0:
        return "No transport delivers anything."
    share, _ = _of_shared(shared, comparison.interval(best, "efficiency").mean)
    lead = f"{best} is fastest:" if others else f"{best} delivers"
    parts = [f"{lead} {_with_interval(goodput)}{share}."]
    if comparison.nothing_random or (others and goodput.n < 2):
        if others:
            parts.append(f"{_less(comparison, others, best)}.")
        constant = "Nothing in this scenario is random: all seeds give the same run."
        parts.append(constant if comparison.nothing_random else "One seed: no confidence interval.")
        return " ".join(parts)
    if not others:
        return f"{parts[0]} ({_seeds(goodput.n)}.)"
    even = [name for name in others if not comparison.is_better(best, name)]
    behind = [name for name in others if name not in even]
    if behind:
        parts.append(f"{_less(comparison, behind, best)}.")
    if even:
        parts.append(f"{join(even)} {'are' if len(even) > 1 else 'is'} not significantly different.")
    return f"{' '.join(parts)} (Paired, {_seeds(goodput.n)}, Holm, 95 %.)"


def of_tuning(tuning: Tuning) -> str:
    """Return which values are best, what they come to on seeds of their own, and what is as good."""
    metric = tuning.objective.metric
    winner, best = tuning.winner, tuning.best
    done = len(tuning.trials)
    if best is None:
        limits = join([constraint.describe() for constraint in tuning.constraints])
        return f"None of {done} trials satisfies the constraints: {limits}."
    if winner is None and tuning.finalists:
        return _no_winner(tuning)
    if winner is None:
        mean = metric.text(tuning.interval(best).mean, unit=True)
        return (
            f"Best of {done} trials so far: {_values(best)}. Its mean {_name(metric)} is {mean} over the "
            "search's own seeds, which is optimistic."
        )
    interval = tuning.interval(winner)
    parts = [
        f"Best of {done} trials: {_values(winner)}. Over {_fresh(interval.n)} its mean {_name(metric)} is "
        f"{_with_interval(interval, metric)}{_gain(tuning)}."
    ]
    for standing, says in _SAYS.items():
        # What may break a limit is no alternative.
        names = [
            final.name
            for final in tuning.finalists
            if tuning.standing(final) == standing and tuning.keeps(final) == "kept"
        ]
        if names:
            text = join(names)
            parts.append(f"{text[0].upper()}{text[1:]} {says[len(names) > 1]}.")
    for constraint in tuning.constraints:
        found = tuning.limit(winner, constraint)
        parts.append(f"{constraint.describe()}: kept, with {_with_interval(found, constraint.metric)}.")
    return " ".join(parts)


def _no_winner(tuning: Tuning) -> str:
    """Say that no finalist keeps the constraints with confidence, and how near the first undecided one is."""
    open_ones = tuning.undecided
    first = (open_ones or tuning.finalists)[0]
    head = (
        "Undecided: no point is shown to keep the constraints."
        if open_ones
        else "No point keeps the constraints on the fresh seeds."
    )
    parts = [head, f"The nearest is {_values(first)}."]
    for constraint in tuning.constraints:
        said = {"kept": "kept", "broken": "broken", "unclear": "undecided"}[tuning.verdict(first, constraint)]
        found = tuning.limit(first, constraint)
        parts.append(f"{constraint.describe()}: {said}, with {_with_interval(found, constraint.metric)}.")
    return " ".join([*parts, *(["More --fresh-seeds may decide."] if open_ones else [])])


_SAYS = {
    "better": ("is significantly better: use it", "are significantly better: use one of them"),
    "even": ("is not significantly different", "are not significantly different"),
}


def _values(of: Trial | Finalist) -> str:
    return ", ".join(f"{path.rpartition('.')[2]} {value}" for path, value in of.values.items())


def _name(metric: Metric) -> str:
    # An acronym, such as RTT, keeps its capitals within a sentence.
    return metric.title if metric.title[:2].isupper() else metric.title[0].lower() + metric.title[1:]


def _gain(tuning: Tuning) -> str:
    """Return by how much the winner beats the scenario as it is, if the difference is significant."""
    as_it_is = next((final for final in tuning.finalists if "as it is" in final.name.split(", ")), None)
    if as_it_is is None or tuning.winner is None or as_it_is is tuning.winner:
        return ""
    metric = tuning.objective.metric
    before, after = as_it_is.evaluation.values(metric), tuning.winner.evaluation.values(metric)
    # A share of nothing, or of NaN, is no number.
    if not before or not after or not tuning.interval(as_it_is).mean > 0:
        return ""
    ratio = ratio_interval(after, before, tuning.confidence)
    # Fieller's interval may have no end: no gain is claimed then.
    if math.isnan(ratio.low) or math.isinf(ratio.high):
        return ""
    ends = [100 * (end - 1) for end in (ratio.low, ratio.high)]
    more = "more"
    if ratio.mean < 1:
        # The ends of a loss change places: the smaller ratio is the larger loss.
        more, ends = "less", [-end for end in reversed(ends)]
    return (
        f", {100 * abs(ratio.mean - 1):.0f} % {more} than the scenario as it is "
        f"({ends[0]:.0f} to {ends[1]:.0f} %)"
    )


def join(names: list[str]) -> str:
    """Return `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _seeds(n: int) -> str:
    return f"{n} seed{'s' if n != 1 else ''}"


def _fresh(n: int) -> str:
    return f"{n} fresh seed{'s' if n != 1 else ''}"


def of_capacity(efficiency: float, link: str = "the link") -> str:
    """Return what to say of an efficiency behind a goodput; nothing where it is not known."""
    if math.isnan(efficiency):
        return ""
    if efficiency > 1:
        return f"; above 100 % of {link}: includes data sent during warm-up"
    return f", {efficiency * 100:.0f} % of {link}"


def _of_shared(shared: tuple[str, float] | None, efficiency: float = math.nan) -> tuple[str, str]:
    """Return what to say of the share of capacity, and whose time the budget of the flows shares out."""
    if shared is None:
        return of_capacity(efficiency), "The link's"
    return of_capacity(shared[1], f"the shared link {shared[0]}"), "The flows' narrowest links'"


def _with_interval(interval: Interval, metric: Metric = _GOODPUT) -> str:
    text = metric.text(interval.mean, unit=True)
    if math.isnan(interval.low):
        return text
    if interval.low == interval.high:
        return f"{text} with every seed"
    return f"{text} (95 %: {metric.text(interval.low)} to {metric.text(interval.high)})"


def _less(comparison: Comparison, names: list[str], best: str) -> str:
    highest = comparison.interval(best, "goodput_bps").mean
    gaps = [-comparison.difference(name, "goodput_bps", best).mean / highest for name in names]
    first, *more = [f"{name} {gap * 100:.1f} %" for name, gap in zip(names, gaps, strict=True)]
    return join([first.replace(" ", " is ", 1) + " slower", *more])
