"""The simulator against the kernel: the same scenarios and seeds on both planes, and how far apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from cogtcp._views import view
from cogtcp.kernel.emulation.pairs import MEASURES, Pair, pair_of
from cogtcp.model.metrics import BY_NAME
from cogtcp.model.result import plain, run
from cogtcp.model.statistics import Interval, mean_interval, paired_difference, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

#: What a table says of a line, left to right.
HEADINGS = ("Scenario", "Transport", "Metric", "Simulator", "Kernel", "Difference", "Seeds", "5 %")

#: The share by which planes that agree may differ.
TOLERANCE = 0.05


@dataclass(frozen=True)
class Line:
    """A metric of a scenario and transport on both planes.

    Attributes:
        scenario: Name of the scenario.
        transport: The transport preset.
        measure: The metric, see `cogtcp.metrics.METRICS`.
        simulated: Mean over the seeds with its interval.
        emulated: Likewise of the kernel.
        difference: Mean of kernel less simulation, seed by seed, over the simulation's mean; where that is
            zero the difference itself.
        verdict: `within` 5 %: the interval of the difference lies there; `beyond`: it lies outside;
            `unclear`: neither; empty where there are too few runs to tell.
    """

    scenario: str
    transport: str
    measure: str
    simulated: Interval
    emulated: Interval
    difference: Interval
    verdict: str


@dataclass
class Agreement:
    """Runs on both planes.

    Attributes:
        pairs: Every seed that ran, those that are no evidence too.
        kernel: Release of the kernel.
        interrupted: Whether Ctrl-C ended it before all had run.
        shown: By scenario and transport the first seed in full: its simulation and its run on the kernel.
    """

    pairs: list[Pair] = field(default_factory=list)
    kernel: str = ""
    interrupted: bool = False
    shown: dict[tuple[str, str], tuple[Result, Emulation]] = field(default_factory=dict, repr=False)

    def evidence(self) -> list[Pair]:
        """Return the pairs whose kernel run kept its times: nothing else is compared."""
        return [pair for pair in self.pairs if not pair.doubt]

    def left_out(self) -> list[Pair]:
        """Return the other pairs."""
        return [pair for pair in self.pairs if pair.doubt]

    @property
    def why_left_out(self) -> str:
        """What is said of them, behind their number."""
        one = len(self.left_out()) == 1
        return f"fell behind {'its clock and is' if one else 'their clock and are'} left out"

    def lines(self) -> list[Line]:
        """Return every metric of every scenario and transport."""
        cases = dict.fromkeys((pair.scenario, pair.transport) for pair in self.pairs)
        return [self._line(*case, measure) for case in cases for measure in MEASURES]

    def _line(self, scenario: str, transport: str, measure: str) -> Line:
        pairs = [pair for pair in self.evidence() if (pair.scenario, pair.transport) == (scenario, transport)]
        simulated = [pair.simulated[measure] for pair in pairs]
        emulated = [pair.emulated[measure] for pair in pairs]
        mean = mean_interval(simulated)
        # Of nothing there is no share.
        if mean.mean > 0:
            ratio = ratio_interval(emulated, simulated)
            relative = Interval(ratio.mean - 1, ratio.low - 1, ratio.high - 1, ratio.n)
        else:
            relative = paired_difference(emulated, simulated)
        return Line(scenario, transport, measure, mean, mean_interval(emulated), relative, verdict(relative))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""

        def told(interval: Interval) -> dict[str, Any]:
            return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}

        document = {
            "kernel": self.kernel,
            "tolerance": TOLERANCE,
            "interrupted": self.interrupted,
            "runs": [vars(pair) for pair in self.pairs],
            "lines": [
                {
                    **vars(line),
                    **{name: told(getattr(line, name)) for name in ("simulated", "emulated", "difference")},
                }
                for line in self.lines()
            ],
        }
        return dict(plain(document))

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Agreement:
        """Return what `to_dict` has told: its runs; the lines follow from them."""
        pairs = []
        for each in document["runs"]:
            planes = {
                plane: {name: math.nan if value is None else value for name, value in each[plane].items()}
                for plane in ("simulated", "emulated")
            }
            pairs.append(Pair(**{**each, **planes}))
        return cls(pairs, document["kernel"], document.get("interrupted", False))

    def to_markdown(self) -> str:
        """Return the lines as a table for a page."""
        rows = [
            "| scenario | transport | | simulator | kernel | difference | seeds | 5 % |",
            "|---|---|---|---|---|---|---|---|",
        ]
        rows += [
            f"| {line.scenario} | `{line.transport}` | {' | '.join(cells(line))} |" for line in self.lines()
        ]
        return "\n".join(rows) + "\n"

    @property
    def answer(self) -> str:
        """How many of the numbers agree, in a sentence."""
        told = [line.verdict for line in self.lines() if line.verdict]
        if not told:
            return "Inconclusive: fewer than two runs kept real time."
        share = f"{TOLERANCE * 100:.0f} %"
        parts = [f"{told.count('within')} of {len(told)} numbers agree within {share}"]
        if beyond := told.count("beyond"):
            parts.append(f"{beyond} differ by more")
        if unclear := told.count("unclear"):
            parts.append(f"{unclear} are inconclusive: more seeds needed")
        return ", ".join(parts) + "."

    def report(self, *, command: str | None = None) -> str:
        """Return the page."""
        page: str = view("planes_report")(self, command=command)
        return page


def cells(line: Line) -> list[str]:
    """Return what a table says of a line: metric, simulation, kernel, difference, seeds, verdict."""
    metric = BY_NAME[line.measure]
    relative = line.simulated.mean != 0
    scale, unit = (100.0, " %") if relative else (metric.scale, "")
    difference = "–" if math.isnan(line.difference.mean) else f"{line.difference.mean * scale:+.1f}{unit}"
    if math.isfinite(line.difference.low):
        difference += f" ({line.difference.low * scale:+.1f} to {line.difference.high * scale:+.1f})"
    title = f"{metric.title}, {metric.unit}" if metric.unit else metric.title
    return [
        title,
        metric.with_half_width(line.simulated),
        metric.with_half_width(line.emulated),
        difference,
        str(line.difference.n),
        line.verdict,
    ]


def verdict(difference: Interval, tolerance: float = TOLERANCE) -> str:
    """Return what the interval of a relative difference says: `within`, `beyond`, `unclear`, or nothing."""
    if math.isnan(difference.low):
        return ""
    if -tolerance <= difference.low and difference.high <= tolerance:
        return "within"
    if difference.low > tolerance or difference.high < -tolerance:
        return "beyond"
    return "unclear"


def agree(
    scenarios: Sequence[Scenario],
    transports: Sequence[str],
    seeds: Iterable[int],
    *,
    tries: int = 2,
    emulated: Callable[[Scenario, int], Emulation] | None = None,
    told: Callable[[Pair], None] | None = None,
    virtual: str | bool = False,
    jobs: int | None = None,
    known: Iterable[Pair] = (),
) -> Agreement:
    """Run scenarios on both planes and return the results: in real time one after the other.

    Ctrl-C stops early; what is returned then has `interrupted` set and holds the seeds that had run.

    Args:
        scenarios: What to run, each one that the kernel plane can emulate.
        transports: The transports to run it with; none: each scenario with its own.
        seeds: The seeds; both planes take the same.
        tries: How often a run is made that is no evidence.
        emulated: Makes a run on the kernel plane; by default `cogtcp.emulation.emulate`.
        told: Called with each pair when it is there.
        virtual: In virtual time, see `cogtcp.emulation.emulate`.
        jobs: In virtual time: runs at a time; by default one per processor.
        known: In virtual time: pairs of earlier runs, taken where they are of the same run.

    Raises:
        ScenarioError: A scenario cannot be emulated.
        RunError: A run failed, or this machine has no kernel plane.
    """
    from cogtcp.kernel.emulation.launch import check, emulate

    # The simulator's controls do not hear radios.
    make = emulated or partial(emulate, announce=False)
    cases = [
        (scenario.with_transport(transport), transport) for scenario in scenarios for transport in transports
    ]
    if not transports:
        cases = [(scenario, _own_transport(scenario)) for scenario in scenarios]
    # All before the first: runs in real time take minutes.
    for scenario, _ in cases:
        check(scenario)
    runs = [(*case, seed) for case in cases for seed in list(seeds)]
    if virtual is not False:
        from cogtcp.kernel.emulation.virtual.many import make_all

        made = make_all(runs, virtual, jobs, {pair.key: pair for pair in known}, told)
        return Agreement(made.pairs, made.kernel, made.interrupted, made.shown)
    agreement = Agreement()
    try:
        for scenario, transport, seed in runs:
            pair = _pair(agreement, scenario, transport, seed, tries, make)
            if told:
                told(pair)
    except KeyboardInterrupt:
        agreement.interrupted = True
    return agreement


def _own_transport(scenario: Scenario) -> str:
    return "+".join(dict.fromkeys(str(flow["transport"]) for flow in scenario.to_dict().get("flow", [])))


def _pair(
    agreement: Agreement,
    scenario: Scenario,
    transport: str,
    seed: int,
    tries: int,
    make: Callable[[Scenario, int], Emulation],
) -> Pair:
    for _ in range(max(1, tries)):
        real = make(scenario, seed)
        if real.is_evidence:
            break
    case = (scenario.name, transport)
    # Only the first seed is shown, in full.
    simulation = run(scenario, seed, "summary" if case in agreement.shown else "full")
    agreement.shown.setdefault(case, (simulation, real))
    pair = pair_of(scenario, transport, simulation, real)
    agreement.pairs.append(pair)
    agreement.kernel = str(real.timing["kernel"])
    return pair
