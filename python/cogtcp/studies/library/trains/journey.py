"""Beyond the paper: a journey along a line, predicted from a map of earlier ones and from the signal."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from cogtcp.studies import Case, Context, Measured, Table, claim, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp import Result
    from cogtcp.studies.verdicts import Finding

PREDICTORS: dict[str, Any] = {
    "an oracle": "oracle",
    "a map of 20 earlier journeys": {"outage_map": {"journeys": 20, "position_error": "10 m"}},
    "the signal's strength (LMS)": {"signal_strength": {}},
}
NAMED = "a map of 20 earlier journeys"
"""The paper's "recorded statistics during the previous journeys"."""


@claim("trains-x5")
def pays_on_a_journey(study: Context) -> Measured:
    """More goodput than without managers, paired by seed."""
    # Without managers it does not matter who predicts.
    keys = [*((name, True) for name in PREDICTORS), ("an oracle", False)]
    cases = [
        Case(_scenario(study, *key), seed, measure_journey, "full") for key in keys for seed in study.seeds
    ]
    records = iter(study.run(cases))
    runs = {key: [next(records) for _ in study.seeds] for key in keys}
    plain = runs["an oracle", False]
    gains = {name: _gain(runs[name, True], plain) for name in PREDICTORS}
    found = gains[NAMED]
    relative = found.estimate / statistics.fmean(_of(plain, "mbps"))
    return Measured(
        verdict=found.verdict,
        measured=(
            f"goodput of two downloads and an upload: {_text(runs[NAMED, True], 'mbps')} Mbit/s with "
            "managers and the map, "
            f"{_text(plain, 'mbps')} without: {found.statement} ({relative:+.1%}); with an oracle "
            f"{gains['an oracle'].statement}, by the signal {gains[list(PREDICTORS)[2]].statement}"
        ),
        ci=(found.low, found.high),
        test=(
            "One-sided paired t-test (5 %) of the goodput of all flows with managers and the map of earlier "
            "journeys "
            "against that without managers. A seed draws the train's motion, the shadowing, and the earlier "
            "journeys."
        ),
        why=_why(runs, plain, gains),
        tables=[
            Table(
                title="One journey, three predictors",
                header=[
                    "predicted by",
                    "goodput [Mbit/s]",
                    "gain",
                    "timeouts an outage",
                    "missed",
                    "false",
                    "late",
                    "error of the beginning, mean and deviation [s]",
                    "frozen [s]",
                ],
                rows=[
                    *(_row(name, runs[name, True], gains[name]) for name in PREDICTORS),
                    [
                        "nobody (no managers)",
                        _text(plain, "mbps"),
                        "",
                        f"{_mean(plain, 'timeouts'):.2f}",
                        *[""] * 5,
                    ],
                ],
                caption=(
                    f"{_mean(plain, 'outages'):.0f} outages in a journey, {_mean(plain, 'outage_s'):.0f} s "
                    "of it without a "
                    "link. missed, false, late: shares of the outages. TU_advance 1 RTT_TCP."
                ),
            ),
            Table(
                title="Outages by cause",
                header=[
                    "cause",
                    "outages",
                    "seconds each",
                    *(f"late or missed: {name}" for name in PREDICTORS),
                ],
                rows=_causes(runs),
                caption="Means over the seeds.",
            ),
        ],
        facts={
            "gain": relative,
            "verdict": found.verdict,
            "oracle": gains["an oracle"].estimate / statistics.fmean(_of(plain, "mbps")),
            "signal": gains[list(PREDICTORS)[2]].estimate / statistics.fmean(_of(plain, "mbps")),
            "late": _mean(runs[NAMED, True], "late"),
            "outages": _mean(plain, "outages"),
        },
    )


def _scenario(study: Context, predictor: str, manager: bool) -> Any:
    changed = (
        study.scenario("journey")
        .set("train.prediction", PREDICTORS[predictor])
        .set("train.connection_manager", manager)
    )
    return changed.set("run.duration", "620 s") if study.quick else changed


def measure_journey(result: Result) -> dict[str, Any]:
    """Return what the flows delivered, and how the outages were predicted."""
    (train,) = result.trains.to_pylist()
    flows = result.flows.to_pylist()
    outages = max(1, train["outages"])
    causes: dict[str, dict[str, float]] = {}
    for row in result.predictions.to_pylist():
        if row["outcome"] == "false":
            continue
        cause = causes.setdefault(row["cause"], {"count": 0, "seconds": 0.0, "bad": 0})
        cause["count"] += 1
        cause["seconds"] += row["end_s"] - row["start_s"]
        cause["bad"] += row["outcome"] != "ahead"
    return {
        "mbps": sum(flow["goodput_bps"] for flow in flows) / 1e6,
        "timeouts": sum(flow["rtos"] for flow in flows) / outages,
        "outages": train["outages"],
        "outage_s": train["outage_s"],
        "missed": train["missed_outages"] / outages,
        "false": train["false_predictions"] / outages,
        "late": train["late_warnings"] / outages,
        "error": _number(train["start_error_mean_s"]),
        "deviation": _number(train["start_error_std_s"]),
        "frozen_s": train["frozen_s"],
        "rtt_tcp_s": train["rtt_tcp_s"],
        "causes": causes,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _gain(records: Sequence[dict[str, Any]], plain: Sequence[dict[str, Any]]) -> Finding:
    return verdicts.greater(_of(records, "mbps"), _of(plain, "mbps"))


def _of(records: Sequence[dict[str, Any]], key: str) -> list[float]:
    return [record[key] for record in records if record[key] is not None]


def _mean(records: Sequence[dict[str, Any]], key: str) -> float:
    values = _of(records, key)
    return statistics.fmean(values) if values else math.nan


def _text(records: Sequence[dict[str, Any]], key: str) -> str:
    return verdicts.mean_text(_of(records, key))


def _row(name: str, records: Sequence[dict[str, Any]], gain: Finding) -> list[str]:
    mark = {"holds": "above", "differs": "below", "unclear": "not shown"}[gain.verdict]
    return [
        name,
        _text(records, "mbps"),
        f"{gain.estimate:+.3f} ({mark})",
        f"{_mean(records, 'timeouts'):.2f}",
        *(f"{_mean(records, key):.0%}" for key in ("missed", "false", "late")),
        f"{_mean(records, 'error'):+.2f}, {_mean(records, 'deviation'):.2f}",
        f"{_mean(records, 'frozen_s'):.0f}",
    ]


def _causes(runs: dict[tuple[str, bool], list[dict[str, Any]]]) -> list[list[str]]:
    names = sorted({cause for records in runs.values() for record in records for cause in record["causes"]})
    rows = []
    for name in names:
        own = [record["causes"].get(name) for record in runs["an oracle", True]]
        met = [cause for cause in own if cause]
        count = sum(cause["count"] for cause in met)
        row = [name, f"{count / len(own):.1f}", f"{sum(c['seconds'] for c in met) / max(1, count):.1f}"]
        for predictor in PREDICTORS:
            causes = [record["causes"].get(name) for record in runs[predictor, True]]
            total = sum(cause["count"] for cause in causes if cause)
            bad = sum(cause["bad"] for cause in causes if cause)
            row.append(f"{bad / max(1, total):.0%}")
        rows.append(row)
    return rows


def _why(
    runs: dict[tuple[str, bool], list[dict[str, Any]]],
    plain: Sequence[dict[str, Any]],
    gains: dict[str, Finding],
) -> str:
    """Tell from the runs what each predictor gets right, and what that is worth."""
    told = []
    for name in PREDICTORS:
        records = runs[name, True]
        told.append(
            f"{name}: {_mean(records, 'missed'):.0%} of the outages missed, {_mean(records, 'late'):.0%} "
            "warned of late, "
            f"{_mean(records, 'timeouts'):.2f} timeouts an outage, frozen {_mean(records, 'frozen_s'):.0f} s"
        )
    text = "; ".join(told) + f"; without managers {_mean(plain, 'timeouts'):.2f} timeouts an outage. "
    oracle = gains["an oracle"]
    if oracle.verdict == "holds":
        text += "Predicted exactly, the outages of this line are worth a freeze"
    else:
        text += "Even predicted exactly, freezing is not shown to pay on this line"
    share = _mean(plain, "outages") * _mean(runs["an oracle", True], "rtt_tcp_s")
    return (
        f"{text}: {_mean(plain, 'outages'):.0f} outages of "
        f"{_mean(plain, 'outage_s') / _mean(plain, 'outages'):.1f} s in the "
        f"mean, each for a round trip of {_mean(runs['an oracle', True], 'rtt_tcp_s'):.2f} s, {share:.0f} s "
        "in all."
    )
