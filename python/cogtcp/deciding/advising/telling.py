"""Advice as one paragraph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.model import budget
from cogtcp.model.headline import join
from cogtcp.model.scenario import DOUBT
from cogtcp.model.statistics import Interval
from cogtcp.running.space import quantity

if TYPE_CHECKING:
    from cogtcp.deciding.advising.advice import Advice, Candidate
    from cogtcp.deciding.advising.around import Probe

#: How many fields, and how many candidates, a sentence names.
_MOST, _MOST_NAMED = 3, 4
#: Shares from here on, in %, are shown without a decimal place.
_WHOLE = 20.0
#: Units in which people read quantities, by base unit, the largest first.
_SHOWN: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "bit/s": {"Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1.0},
    "B": {"GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0},
    "Hz": {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0},
    "W": {"W": 1.0, "mW": 1e-3, "uW": 1e-6, "nW": 1e-9},
}


def paragraph(advice: Advice) -> str:
    """Return the answer, how sure it is, what it costs, what would change it, what not to tune."""
    leader = advice.leader
    if leader is None or advice.head == "nothing":
        limits = join([constraint.describe() for constraint in advice.constraints]) or "the objective"
        return f"No candidate satisfies {limits}."
    heads = {"run": _run, "keep": _keep}
    doubt = f"{DOUBT}{advice.scenario.doubt}." if advice.scenario.doubt else ""
    parts = [
        doubt,
        heads.get(advice.head, _undecided)(advice, leader),
        _limits(advice, leader),
        _turns(advice),
    ]
    parts += [_costs(advice, leader), _changes(advice), _not_worth(advice), _kernel(advice)]
    return " ".join(part for part in parts if part)


def _run(advice: Advice, winner: Candidate) -> str:
    today = advice.today
    parts = [f"Run {winner.name}: {_level(advice, winner)}."]
    gain = advice.gain(today)
    if today.name not in _judged(advice):
        left = advice.race.left[today.name] if advice.race is not None else None
        why = "" if left is None else f": {left.by}"
        parts.append(
            f"{_named(today)} {'cannot run' if left and left.why == 'failed' else 'breaks a limit'}{why}."
        )
    elif not math.isnan(gain.mean):
        parts.append(f"It is {_better(advice, gain)} than {_named(today)}.")
    close = [candidate for candidate in advice.rest if candidate is not today]
    equal = [c.name for c in close if is_equal(advice, c)]
    if equal:
        parts.append(f"Within the margin of it: {join(equal)}.")
    else:
        rest = [c for c in advice.ranked()[1:] if c is not today]
        parts += [f"The next, {c.name}, is {_behind(advice, c)}." for c in rest[:1]]
    parts.append(_basis(advice, f"nothing else is better than {winner.name} by more than {_margin(advice)}"))
    return " ".join(parts)


def is_equal(advice: Advice, candidate: Candidate) -> bool:
    """Whether the mean of a candidate in the race is within the margin of the leader's."""
    return candidate in advice.rest and advice.gain(candidate).mean <= advice.wanted.margin(advice.margin)


def _keep(advice: Advice, today: Candidate) -> str:
    others = [c for c in advice.ranked() if c is not today]
    parts = [f"Keep {_bare(today)}: {_level(advice, today)}."]
    if others:
        # The candidate that may gain most.
        best = max(others, key=lambda c: (advice.gain(today, c).high, advice.gain(today, c).mean))
        gain = advice.gain(today, best)
        if math.isfinite(gain.high) and gain.n > 1:
            most = _number(advice, gain.high)
            parts.append(
                f"{best.name} is better by {most} at most."
                if gain.high > 0
                else f"The next best, {best.name}, is worse by at least {_number(advice, -gain.high)}."
            )
    parts.append(_basis(advice, f"nothing tried is better by more than {_margin(advice)}"))
    return " ".join(parts)


def _undecided(advice: Advice, leader: Candidate) -> str:
    between = advice.between
    today = advice.today
    if len(between) > 1:
        shown = join([_named(c) if c is today else c.name for c in between[:_MOST_NAMED]])
        rest = len(between) - _MOST_NAMED
        parts = [f"Undecided between {shown}{f' and {rest} others' if rest > 0 else ''}."]
    else:
        parts = [f"Undecided about {_bare(leader)}."]
    parts.append(f"So far {leader.name} is ahead: {_level(advice, leader)}.")
    rival = next((c for c in between if c is not leader), None)
    if rival is not None and not math.isnan(advice.gain(rival).mean):
        gain = advice.gain(rival)
        name = _named(rival) if rival is today else rival.name
        lead = f"{_number(advice, gain.mean, sign=True)}{_ends(advice, gain)}"
        parts.append(f"Against {name}: {lead}, with a margin of {_margin(advice)}.")
    parts.append(_more(advice))
    return " ".join(parts)


def _more(advice: Advice) -> str:
    """Say how many more runs would probably decide, and how long they take."""
    seeds = advice.race.seeds if advice.race is not None else 0
    done = f"{seeds} seed{'s' if seeds > 1 else ''} and {advice.made} runs were not enough."
    runs = advice.more_runs
    if not math.isfinite(runs):
        most = advice.race.most if advice.race is not None else 0
        return (
            f"{done} The difference is too close to the margin for {most} seeds; another --margin may decide."
        )
    rounded = _rounded(runs)
    if math.isnan(advice.pace_s):
        return f"{done} About {rounded:,} more runs decide: --budget {_rounded(advice.made + runs)}runs."
    lasts = runs * advice.pace_s
    return (
        f"{done} About {rounded:,} more runs decide, in some {_lasts(lasts)} here: --budget {_budget(lasts)}."
    )


def _basis(advice: Advice, claim: str) -> str:
    race = advice.race
    assert race is not None  # noqa: S101
    if not advice.is_random:
        return f"Nothing is random in this scenario: one run of each decides; {claim}."
    counts = f"{len(race.names)} candidates, {race.seeds} seeds, {race.runs} runs"
    text = f"With 95 % confidence {claim} ({counts})."
    regret = advice.regret
    if not math.isnan(regret):
        drawn = join([_field(path) for path in advice.uncertain])
        text += (
            f" The answer holds over {drawn} as drawn; knowing them would gain {regret * 100:.1f} % at most."
        )
    return text


def _turns(advice: Advice) -> str:
    """Say where an uncertain input changes the answer, and what to measure next."""
    if not advice.turns:
        return ""
    first = advice.turns[0]
    where = f"at {pretty(first.at)}" if first.side == "at" else f"{first.side} {pretty(first.at)}"
    known = _range(first.known)
    said = f"It depends on {_field(first.path)}, known as {known}: {where} {first.wins} wins."
    others = list(dict.fromkeys(_field(t.path) for t in advice.turns if t.path != first.path))
    also = f", then {join(others)}" if others else ""
    return f"{said} Measure {_field(first.path)} next{also}."


def _judged(advice: Advice) -> set[str]:
    """Return the candidates that did not fail and break no limit."""
    race = advice.race
    assert race is not None  # noqa: S101
    return {n for n in race.names if n not in race.left or race.left[n].why in ("worse", "no better")}


def _level(advice: Advice, candidate: Candidate) -> str:
    metric = advice.metric
    found = advice.interval(candidate)
    name = metric.title if metric.title[:2].isupper() else metric.title[0].lower() + metric.title[1:]
    text = f"{name} {metric.text(found.mean, unit=True)}"
    if not math.isnan(found.low) and found.low != found.high:
        text += f" (95 %: {metric.text(found.low)} to {metric.text(found.high)})"
    return text


def _bare(today: Candidate) -> str:
    return "the scenario as it is" if today.name == "as it is" else today.name


def _named(today: Candidate) -> str:
    return "the scenario as it is" if today.name == "as it is" else f"{today.name} (today's)"


def _better(advice: Advice, gain: Interval) -> str:
    word = "better" if gain.mean >= 0 else "worse"
    turned = gain if gain.mean >= 0 else Interval(-gain.mean, -gain.high, -gain.low, gain.n)
    return f"{_number(advice, turned.mean)} {word}{_ends(advice, turned)}"


def _behind(advice: Advice, candidate: Candidate) -> str:
    """Return by how much a candidate is worse than the leader."""
    gain = advice.gain(advice.leader or candidate, candidate)
    return _better(advice, gain)


def _margin(advice: Advice) -> str:
    share = f"{advice.margin * 100:g} %"
    return (
        f"{advice.wanted.margin(advice.margin):.2f} ({share} of goodput)" if advice.wanted.additive else share
    )


def _number(advice: Advice, value: float, *, sign: bool = False) -> str:
    if advice.wanted.additive:
        return f"{value:{'+' if sign else ''}.2f}"
    share = value * 100
    return f"{share:{'+' if sign else ''}.{0 if abs(share) >= _WHOLE else 1}f} %"


def _ends(advice: Advice, gain: Interval) -> str:
    """Return the ends of the interval that decides; empty if nothing is random."""
    if gain.n < 2:
        return ""
    low, high = (_number(advice, end).removesuffix(" %") for end in (gain.low, gain.high))
    unit = "" if advice.wanted.additive else " %"
    if math.isfinite(gain.low) and math.isfinite(gain.high):
        return f" (95 %: {low} to {high}{unit})"
    if math.isfinite(gain.low):
        return f" (95 %: at least {low}{unit})"
    return f" (95 %: at most {high}{unit})" if math.isfinite(gain.high) else " (no bound yet)"


def _rounded(runs: float) -> int:
    """Return a count with two significant digits, rounded up."""
    step = 10 ** max(0, math.floor(math.log10(max(1.0, runs))) - 1)
    return int(math.ceil(runs / step) * step)


def _lasts(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, math.ceil(seconds))} s"
    return f"{math.ceil(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _budget(seconds: float) -> str:
    """Return a value of `--budget` with some room, in whole units."""
    room = seconds * 1.3 + 5
    if room < 100:
        return f"{math.ceil(room / 10) * 10}s"
    return f"{math.ceil(room / 60)}m" if room < 5400 else f"{math.ceil(room / 3600)}h"


def _limits(advice: Advice, candidate: Candidate) -> str:
    """Say whether the candidate keeps the limits, by the verdict of the race."""
    kept = advice.race.kept.get(candidate.name, "unclear") if advice.race is not None else "unclear"
    said = []
    for constraint in advice.constraints:
        found = advice.interval(candidate, constraint.metric.name)
        value = constraint.metric.text(found.mean, unit=True)
        if found.n > 1 and found.low != found.high:
            value += f" (95 %: {constraint.metric.text(found.low)} to {constraint.metric.text(found.high)})"
        verdict = "kept" if kept == "kept" else "not shown to hold"
        said.append(f"{constraint.describe()}: {verdict}, {value}.")
    return " ".join(said)


def _costs(advice: Advice, winner: Candidate) -> str:
    shares = advice.budget(winner)
    return f"The link's time: {budget.told(shares)}." if shares else ""


def _changes(advice: Advice) -> str:
    """Say at which values another wins, the nearest first."""
    if not advice.probes:
        return ""
    turning = sorted((p for p in advice.probes if p.wins), key=lambda p: abs(math.log(p.factor)))
    if not turning:
        # Passes over the fields go outwards together; the last may be unfinished.
        reach = min(max(max(f, 1 / f) for f in probe.looked) for probe in advice.probes if probe.looked)
        return (
            f"No single field changes the answer between 1/{reach:g} and {reach:g} times its value "
            f"({len(advice.probes)} field{'s' if len(advice.probes) > 1 else ''})."
        )
    said = [
        f"{p.wins} wins {'above' if p.factor > 1 else 'below'} {pretty(p.at)} of {_short(p)} "
        f"(now {pretty(p.value)})"
        for p in turning[:_MOST]
    ]
    return f"What would change the answer: {join(said)}."


def _not_worth(advice: Advice) -> str:
    flat = [_short(probe) for probe in advice.probes if probe.chosen and is_flat(probe, advice)]
    worth = sorted(
        (
            (best_gain(probe), probe)
            for probe in advice.probes
            if probe.chosen
            and best_gain(probe)[1].low > 0
            and best_gain(probe)[1].mean > advice.wanted.margin(advice.margin)
        ),
        key=lambda each: -each[0][1].mean,
    )
    said = []
    if flat:
        said.append(f"Not worth tuning: {join(flat)}.")
    if worth:
        (factor, gain), probe = worth[0]
        said.append(
            f"Worth tuning: {_short(probe)} ({factor:g} times {pretty(probe.value)} is "
            f"{_better(advice, gain)})."
        )
    return " ".join(said)


def best_gain(probe: Probe) -> tuple[float, Interval]:
    """Return the factor at which the winner gains most, and the gain."""
    return max(probe.looked.items(), key=lambda each: each[1].mean)


def is_flat(probe: Probe, advice: Advice) -> bool:
    """Whether no value that was looked at gains more than the margin, beyond chance."""
    return bool(probe.looked) and all(
        gain.high <= advice.wanted.margin(advice.margin) for gain in probe.looked.values()
    )


def _kernel(advice: Advice) -> str:
    return "" if advice.confirmation is None else advice.confirmation.text


def _short(probe: Probe) -> str:
    return _field(probe.path)


def _field(path: str) -> str:
    """Return the end of a path that says what it is: `link.delay`, `sensing.off`."""
    steps = [step for step in path.split(".") if not step.isdigit()]
    return ".".join(steps[-2:])


def _range(text: str) -> str:
    """Return a range as people read it."""
    ends = text.partition(":")[0].split("..")
    return " to ".join(pretty(end.strip()) for end in ends) if len(ends) == 2 else text


def pretty(text: str) -> str:
    """Return a quantity with three significant digits and the unit in which people read it.

    >>> pretty("3856000.0 bit/s")
    '3.86 Mbit/s'
    """
    known = quantity(text)
    if known is None:
        return text
    number, unit = known
    scales = next((_SHOWN[base] for base in _SHOWN if base == unit), {unit: 1.0})
    name, size = next(
        ((name, size) for name, size in scales.items() if abs(number) >= size), list(scales.items())[-1]
    )
    value = number / size
    places = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    shown = f"{value:.{places}f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return f"{shown} {name}".strip()
