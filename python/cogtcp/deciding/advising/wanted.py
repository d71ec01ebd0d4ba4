"""What advice is for: an objective, and what is measured of every run for it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._units import BYTES
from cogtcp.deciding.tuning import goal
from cogtcp.model import budget
from cogtcp.model.metrics import Metric, find, measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

_SIZE = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(BYTES)})\s*")


def _nothing(rows: object) -> float:
    return math.nan


#: Objectives besides the metrics of `cogtcp.metrics`.
UTILITY = Metric(
    "utility", "Utility", "", 1, 3, 1,
    "log2(goodput in bit/s) - weight x log2(mean RTT in s), over all flows.", _nothing,
)  # fmt: skip
WORST = Metric("worst_flow_bps", "Worst flow", "Mbit/s", 1e-6, 3, 1, "Lowest goodput of any flow.", _nothing)
TRANSFER = Metric(
    "transfer_s", "Completion", "s", 1, 2, -1,
    "Time from start to the last byte's delivery, mean over flows. An unfinished transfer counts with "
    "the time that it would take at its mean rate so far.", _nothing,
)  # fmt: skip
STALLED = Metric("stalled_s", "Video stalls", "s", 1, 2, -1, "Time in which videos stalled.", _nothing)

_OWN = {"utility": UTILITY, "worst-flow": WORST, "completion": TRANSFER, "stalls": STALLED}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What there should be most or least of.

    Attributes:
        text: As it was asked for.
        objective: The metric and its direction.
        additive: Whether its differences count and not its ratios: a utility is a logarithm.
        weight: Weight of delay in a utility.
        size: Bytes of the transfer whose completion is wanted; 0 otherwise.
    """

    text: str
    objective: goal.Objective
    additive: bool = False
    weight: float = 1.0
    size: int = 0

    @classmethod
    def of(cls, text: str) -> Wanted:
        """Read a metric of `cogtcp.metrics`, `utility:0.5`, `completion:10MB`, `stalls` or `worst-flow`.

        Raises:
            UsageError: There is no such objective.
        """
        name, colon, value = text.partition(":")
        name = name.strip().replace("_", "-")
        # Without a size `completion` is the metric of that name.
        if name not in _OWN or (name == "completion" and not colon):
            try:
                return cls(text, goal.objective(text))
            except UsageError as error:
                # The metrics are known to the tuner; these objectives are the race's own.
                own = "utility:W, completion:SIZE, stalls, worst-flow"
                also = f"; or {own}" if "unknown metric" in str(error) else ""
                raise UsageError(f"{error}{also}") from None
        metric = _OWN[name]
        objective = goal.Objective(metric, metric.better)
        if name == "utility":
            try:
                weight = float(value) if colon else 1.0
            except ValueError:
                weight = math.nan
            if not 0 <= weight <= 100:
                raise UsageError(f"objective {text}: write the weight of delay, 0 to 100, as in utility:0.5")
            return cls(text, objective, additive=True, weight=weight)
        if name == "completion":
            match = _SIZE.fullmatch(value)
            size = round(float(match[1]) * BYTES[match[2]]) if match else 0
            if size < 1:
                raise UsageError(f"objective {text}: write the size of the transfer, as in completion:10MB")
            return cls(text, objective, size=size)
        if colon:
            raise UsageError(f"objective {text}: {name} takes no value; write {name}")
        return cls(text, objective)

    def prepared(self, scenario: Scenario) -> Scenario:
        """Return the scenario as the objective needs it. Raises `UsageError` if it has no such thing."""
        if self.objective.metric.subject:
            # The scenario must have the subject.
            find(self.objective.metric.name, scenario, where=f"objective {self.text}")
        flows = scenario.to_dict().get("flow", [])
        if self.size:
            for number, flow in enumerate(flows):
                if not flow.get("fixed"):
                    scenario = scenario.set(f"flow.{number}.traffic", {"size": f"{self.size} B"})
        if self.objective.metric is STALLED and not any(
            isinstance(flow.get("traffic"), dict) and "video" in flow["traffic"] for flow in flows
        ):
            raise UsageError(
                f"objective {self.text}: no flow is a video; set one, as in "
                f"--set flow.0.traffic=\"{{ video = {{ rate = '4 Mbit/s' }} }}\""
            )
        return scenario

    @property
    def measure(self) -> Callable[[Result], dict[str, Any]]:
        """What is kept of each run."""
        return partial(observe, weight=self.weight, size=self.size)

    def margin(self, share: float) -> float:
        """Return the margin of a race: a share, or for a utility as much as this share of goodput."""
        return math.log2(1 + share) if self.additive else share


def observe(result: Result, *, weight: float = 1.0, size: int = 0) -> dict[str, Any]:
    """Return every metric of a run, the objectives of this module, and the budget as `budget_STATE`."""
    found: dict[str, Any] = measure(result)
    flows = result.rows("flows")
    goodput, delay = found["goodput_bps"], found["rtt_mean_s"]
    found[UTILITY.name] = (
        math.log2(goodput) - weight * math.log2(delay) if goodput > 0 and delay > 0 else math.nan
    )
    found[WORST.name] = min((row["goodput_bps"] for row in flows), default=math.nan)
    found[TRANSFER.name] = _transfer(result, size)
    videos = result.rows("videos")
    found[STALLED.name] = math.fsum(row["stalled_s"] for row in videos) if videos else math.nan
    for name, share in budget.of_run(result).items():
        found[f"budget_{name}"] = share
    return found


def _transfer(result: Result, size: int) -> float:
    times = []
    for row in result.rows("flows"):
        took, delivered = row["completion_s"], row["delivered_bytes"]
        if math.isnan(took) and delivered < size:
            took = (result.duration_s - row["start_s"]) * size / max(delivered, 1)
        if not math.isnan(took):
            times.append(took)
    return math.fsum(times) / len(times) if times else math.nan
