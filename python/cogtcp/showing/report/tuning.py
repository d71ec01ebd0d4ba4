"""The report of a search over parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.model import headline
from cogtcp.model.metrics import BY_NAME
from cogtcp.running.space import Range
from cogtcp.showing.report import page
from cogtcp.showing.report.surface import over_parameters, shades, surface
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.deciding.tuning.result import Finalist, Trial, Tuning
    from cogtcp.model.metrics import Metric

_STANDINGS = {
    "winner": "",
    "better": "better",
    "even": "not significantly different",
    "worse": "worse",
}


def tuning_report(tuning: Tuning, *, command: str | None = None) -> str:
    """Return the report of a search."""
    metric = tuning.objective.metric
    ranges = [parameter for parameter in tuning.parameters if isinstance(parameter, Range)]
    is_plane = len(ranges) == len(tuning.parameters) == 2
    refused = [trial for trial in tuning.trials if trial.evaluation.invalid is not None]
    return page.render(
        "tuning.html.j2",
        name=tuning.scenario.name,
        description=tuning.scenario.description,
        answer=headline.of_tuning(tuning),
        interrupted=tuning.interrupted,
        finished=len(tuning.trials),
        planned=tuning.planned,
        failures=[
            (f"{'trial' if trial in tuning.trials else 'grid point'} {trial.number}", trial.error)
            for trial in tuning.failures
        ],
        refused=[(trial.number, trial.error) for trial in refused],
        objective=metric,
        more=tuning.objective.sign > 0,
        surface=surface(tuning) if is_plane else None,
        surface_caption=_surface_caption(tuning) if is_plane else "",
        theory=_theory(tuning),
        uncharged=tuning.uncharged,
        slices=over_parameters(tuning),
        seeds=len(tuning.seeds),
        fresh_seeds=len(tuning.fresh_seeds),
        finalists=_finalists(tuning),
        luck=_luck(tuning),
        varied=[(parameter.path, parameter.describe()) for parameter in tuning.parameters],
        constraints=[constraint.describe() for constraint in tuning.constraints],
        trials=_trials(tuning),
        origin=page.origin(
            command,
            tuning.provenance,
            Seeds=f"{_span(tuning.seeds)} in the search, {_span(tuning.runoff_seeds)} to choose the winner, "
            f"{_span(tuning.fresh_seeds)} at the end",
        ),
        scenario=tuning.scenario.to_toml(),
    )


def heading(metric: Metric) -> tuple[str, str]:
    """Return title and unit of a metric, as headings of tables have them."""
    return metric.title, metric.unit


def also_shown(tuning: Tuning) -> list[Metric]:
    """Return the metrics that tables show besides the objective: what is limited, and PU protection."""
    metrics = [constraint.metric for constraint in tuning.constraints]
    metrics += [BY_NAME[name] for name in ("efficiency", "pu_interfered_share", "pu_exposed_share")]
    once = dict.fromkeys(metric for metric in metrics if metric is not tuning.objective.metric)
    return [metric for metric in once if any(tuning.interval(f, metric).n for f in tuning.finalists)]


def standing(tuning: Tuning, final: Finalist) -> str:
    """Return in words how a finalist compares with the winner."""
    return final.evaluation.error or _STANDINGS[tuning.standing(final)]


def _finalists(tuning: Tuning) -> Table:
    metric, more = tuning.objective.metric, also_shown(tuning)
    return Table(
        headings=[
            ("Values", ""),
            *_names(tuning),
            heading(metric),
            ("Difference", metric.unit),
            ("Compared with the first", ""),
            *map(heading, more),
        ],
        rows=[
            [
                final.name,
                *final.values.values(),
                metric.with_half_width(tuning.interval(final)),
                "" if final is tuning.winner else metric.with_half_width(tuning.difference(final), sign=True),
                standing(tuning, final),
                *(other.with_half_width(tuning.interval(final, other)) for other in more),
            ]
            for final in tuning.finalists
        ],
    )


def _trials(tuning: Tuning) -> Table:
    metric = tuning.objective.metric

    def row(trial: Trial) -> list[str]:
        result = trial.error or metric.with_half_width(tuning.interval(trial))
        return [str(trial.number), *trial.values.values(), result]

    headings = [("Trial", ""), *_names(tuning), heading(metric)]
    return Table(headings, [row(trial) for trial in tuning.trials])


def _names(tuning: Tuning) -> list[tuple[str, str]]:
    """Return the last key of each parameter's path as a heading; the paths where two end alike."""
    names = [parameter.path.rpartition(".")[2] for parameter in tuning.parameters]
    if len(set(names)) < len(names):
        names = [parameter.path for parameter in tuning.parameters]
    return [(name, "") for name in names]


def _surface_caption(tuning: Tuning) -> str:
    seeds = len(tuning.seeds)
    over = f"Mean over {seeds} seed{'s' if seeds != 1 else ''}, {shades(tuning)}"
    if tuning.grid:
        return f"{over}: shades are the grid, circles the trials of the search."
    return f"{over}: each circle is a trial. With a grid (--grid 10x10) the whole plane is simulated."


def _luck(tuning: Tuning) -> str:
    """Say what the winner came to in the search, which is where luck shows."""
    best, winner = tuning.best, tuning.winner
    if best is None or winner is None:
        return ""
    metric = tuning.objective.metric
    searched, fresh = tuning.interval(best).mean, tuning.interval(winner).mean
    if not tuning.objective.better(searched, fresh):
        return ""
    return (
        f"The best mean in the search was {metric.text(searched, unit=True)}; on the fresh seeds the winner "
        f"has {metric.text(fresh, unit=True)}: the best of many trials is also lucky."
    )


def _theory(tuning: Tuning) -> str:
    known = tuning.theory
    if isinstance(known, str):
        return ""
    t_s, t_p = known.best
    edge = " (at an end of a range)" if known.at_edge else ""
    shortest = (
        f"Sensing needs {known.shortest:.3g} s for P_d' 0.95 and P_f' 0.05."
        if math.isfinite(known.shortest)
        else "No sensing time reaches P_d' 0.95 and P_f' 0.05."
    )
    return (
        f"Theory (airtime, without TCP) has its optimum at t_s {t_s:.3g} s, T_p {t_p:.3g} s{edge}: "
        f"{known.share * 100:.1f} % of the time on a channel without a PU. {shortest}"
    )


def _span(seeds: tuple[int, ...]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
