"""Advice as one paragraph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp import budget
from cogtcp.headline import join
from cogtcp.scenario import DOUBT

if TYPE_CHECKING:
    from cogtcp.advising.advice import Advice, Candidate
    from cogtcp.advising.around import Probe
    from cogtcp.statistics import Interval

#: How many fields a sentence names.
_MOST = 3


def paragraph(advice: Advice) -> str:
    """Return what to run, by how much it wins, what it costs, what would change it, what not to tune."""
    winner = advice.winner
    if winner is None:
        limits = join([constraint.describe() for constraint in advice.constraints]) or "the objective"
        return f"No candidate satisfies {limits}."
    doubt = advice.scenario.doubt
    parts = [f"{DOUBT}{doubt}."] if doubt else []
    parts += [_answer(advice, winner), _wins(advice, winner), _sure(advice, winner), _limits(advice, winner)]
    parts += [_costs(advice, winner), _changes(advice), _not_worth(advice), _kernel(advice)]
    return " ".join(part for part in parts if part)


def _answer(advice: Advice, winner: Candidate) -> str:
    metric = advice.metric
    found = advice.interval(winner)
    name = metric.title if metric.title[:2].isupper() else metric.title[0].lower() + metric.title[1:]
    stay = "Keep" if winner.as_it_is else "Run"
    text = metric.text(found.mean, unit=True)
    if not math.isnan(found.low) and found.low != found.high:
        text += f" (95 %: {metric.text(found.low)} to {metric.text(found.high)})"
    return f"{stay} {winner.name}: {name} {text}."


def _wins(advice: Advice, winner: Candidate) -> str:
    others = [c for c in advice.ranked() if c is not winner]
    said = []
    if others:
        said.append(_against(advice, others[0], f"the next best, {others[0].name}"))
    today = advice.today
    if today is not winner and today in others[1:]:
        said.append(
            _against(
                advice,
                today,
                f"the scenario as it is ({today.name})"
                if today.name != "as it is"
                else "the scenario as it is",
            )
        )
    said = [text for text in said if text]
    return f"It is {join(said)}." if said else ""


def _against(advice: Advice, other: Candidate, name: str) -> str:
    gain = advice.gain(other)
    if math.isnan(gain.mean):
        return ""
    return f"{_amount(advice, gain)} {'better' if gain.mean >= 0 else 'worse'} than {name}"


def _amount(advice: Advice, gain: Interval) -> str:
    scale, unit = (1.0, "") if advice.wanted.additive else (100.0, " %")
    digits = 2 if advice.wanted.additive else 1
    text = f"{abs(gain.mean) * scale:.{digits}f}{unit}"
    if gain.n < 2 or not (math.isfinite(gain.low) and math.isfinite(gain.high)):
        return text
    low, high = (gain.low, gain.high) if gain.mean >= 0 else (-gain.high, -gain.low)
    return f"{text} (95 %: {low * scale:.{digits}f} to {high * scale:.{digits}f}{unit})"


def _sure(advice: Advice, winner: Candidate) -> str:
    race = advice.race
    assert race is not None  # noqa: S101
    seeds = race.seeds
    share = f"{advice.margin * 100:g} %" + (" of goodput" if advice.wanted.additive else "")
    close = [candidate.name for candidate in advice.rest]
    rest = f" Not significantly worse: {join(close)}." if close and advice.decided else ""
    if race.seeds == 1:
        text = "Nothing is random in this scenario: one run of each decides."
    elif advice.decided:
        text = (
            f"With 95 % confidence nothing else wins by more than {share} ({len(race.names)} candidates, "
            f"{seeds} seeds, {advice.made} runs).{rest}"
        )
    else:
        text = (
            f"Not decided within the budget: after {seeds} seeds the race (all pairs jointly, 95 %) "
            f"does not exclude that {join(close)} wins by more than {share}. "
            "A larger --budget continues from here."
            if close
            else f"Too few seeds to be sure ({seeds}). A larger --budget continues from here."
        )
    regret = advice.regret
    if not math.isnan(regret):
        text += (
            f" The answer holds over {join(list(advice.uncertain))} as drawn; knowing them would gain "
            f"{regret * 100:.1f} % at most."
        )
    return text


def _limits(advice: Advice, winner: Candidate) -> str:
    said = []
    for constraint in advice.constraints:
        found = advice.interval(winner, constraint.metric.name)
        verdict = (
            constraint.judge(found)
            if found.n > 1
            else ("broken" if constraint.excess(found.mean) > 0 else "kept")
        )
        told = {"kept": "kept", "broken": "broken", "unclear": "inconclusive"}[verdict]
        said.append(f"{constraint.describe()}: {told} ({constraint.metric.text(found.mean, unit=True)}).")
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
    said = [f"{p.wins} wins at {_short(p)} {p.at} (it is {p.value})" for p in turning[:_MOST]]
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
            f"Worth tuning: {_short(probe)} ({factor:g} times {probe.value} is "
            f"{_amount(advice, gain)} better)."
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
    """Return the end of a path that says what it is: `link.delay`, `sensing.off`."""
    steps = [step for step in probe.path.split(".") if not step.isdigit()]
    return ".".join(steps[-2:])
