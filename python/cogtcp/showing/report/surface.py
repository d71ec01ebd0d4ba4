"""Pictures of a search: the objective over the plane of two parameters, and over each by itself."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from cogtcp.running.space import Range
from cogtcp.showing.figure import model, scale
from cogtcp.showing.figure.contour import contour
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.deciding.tuning.result import Finalist, Trial, Tuning
    from cogtcp.model.statistics import Interval
    from cogtcp.running.space import Parameter

_DEEPEST = 0.75  # opacity of the best: marks are legible on it in light and in dark
_CONTOURS = (0.8, 0.9, 0.95, 0.99)
_FINE = 60
_NAMES = {"sensing_time": "Sensing time t_s", "transmission_time": "Transmission time T_p"}
_HEIGHT = 380.0
_LOOKS = {
    "best": ("star", "alarm", 10.0),
    "not significantly worse": ("circle", "alarm", 7.0),
    "as it is": ("diamond", "ink", 5.0),
    "theory": ("plus", "series-2", 7.0),
    "best of the grid": ("square", "series-3", 5.0),
}


def surface(tuning: Tuning) -> model.Drawing:
    """Return the plane of two ranges: the grid as shades, the trials as points, and what is marked."""
    x, y = tuning.parameters
    metric = tuning.objective.metric
    best = tuning.winner or tuning.best
    where = ", ".join(best.values.values()) if best else "nowhere"
    panel = model.Panel(_axis(x), _axis(y), _HEIGHT)
    panel.x.grid = panel.y.grid = not tuning.grid
    ends = _ends(tuning)
    shades = None
    if ends is not None:
        worst, finest = (end * metric.scale for end in ends)
        shades = model.Shades(
            Scale(worst if worst != finest else finest - 1, finest), metric.unit, deepest=_DEEPEST
        )
        _grid(panel, tuning)
    _contours(panel, tuning)
    _points(panel, tuning)
    marks = _marked(tuning)
    for name, final in marks:
        shape, color, size = _LOOKS[name]
        assert final.point is not None  # noqa: S101 (`_marked` has only those)
        across, up = (float(value) for value in final.point)
        title = f"{_called(name)}: {', '.join(final.values.values())}"
        panel.add(model.Dots([across], [up], color, shape, size, hollow=name != "best", titles=[title]))
    title = f"{metric.title} over {label(x)} and {label(y)}; best at {where}"
    return model.Drawing(title, [[panel]], _legend(tuning, marks), shades)


def over_parameters(tuning: Tuning) -> model.Drawing:
    """Return the objective of every trial over each parameter."""
    metric = tuning.objective.metric
    trials = [trial for trial in tuning.trials if not trial.error]
    intervals = [tuning.interval(trial) for trial in trials]
    if tuning.winner is not None:
        intervals.append(tuning.interval(tuning.winner))
    factor = metric.scale
    means = [i.mean * factor for i in intervals]
    limit, beyond = scale.robust_limit(means)
    ends = [end * factor for i in intervals for end in (i.low, i.high) if math.isfinite(end)]
    if beyond is None:
        y = scale.span([*means, *(end for end in ends if end < 2 * limit)])
    else:
        y = Scale(min([0.0, *means]), limit * 1.06)
    panels = []
    for index, parameter in enumerate(tuning.parameters):
        title, unit = ("", "") if index else (metric.title, metric.unit)
        panel = model.Panel(_axis(parameter), model.Axis(y, title, unit, bare=index > 0), 220)
        _slice(panel, tuning, trials, index)
        panels.append(panel)
    return model.Drawing(f"{metric.title} of the trials over each parameter", [panels], width=960)


def shades(tuning: Tuning) -> str:
    """Say which means the faintest and the strongest shade stand for."""
    metric = tuning.objective.metric
    ends = _ends(tuning)
    if ends is None:
        return "without a finished trial"
    worst, best = ends
    return f"from {metric.text(worst)} (faintest) to {metric.text(best, unit=True)} (strongest)"


def _ends(tuning: Tuning) -> tuple[float, float] | None:
    """Return the worst and the best mean of what is drawn."""
    means = [_mean(tuning, trial) for trial in (tuning.grid or tuning.trials)]
    known = [mean for mean in means if not math.isnan(mean)]
    if not known:
        return None
    return (min(known), max(known)) if tuning.objective.sign > 0 else (max(known), min(known))


def label(parameter: Parameter) -> str:
    """Return the name of a parameter as an axis has it."""
    name = _NAMES.get(str(parameter.place[-1])) if parameter.place[0] == "radio" else None
    unit = f", {parameter.unit}" if isinstance(parameter, Range) and parameter.unit else ""
    return f"{name or parameter.path}{unit}"


def _legend(tuning: Tuning, marks: list[tuple[str, Trial | Finalist]]) -> list[model.Entry]:
    entries = []
    for name in dict.fromkeys(name for name, _ in marks):
        shape, color, _ = _LOOKS[name]
        entries.append(model.Entry(_called(name), shape, color, hollow=name != "best"))
    standings = {_standing(tuning, trial) for trial in tuning.trials}
    if "kept" in standings:
        entries.append(model.Entry("trials", "circle", "ink", hollow=True))
    if standings & {"broken", "failed"}:
        names = {"broken": "constraints violated", "failed": "failed"}
        text = ", or ".join(names[standing] for standing in names if standing in standings)
        entries.append(model.Entry(text, "cross", "muted"))
    known = tuning.theory
    if not isinstance(known, str):
        entries.append(model.Entry("theory's airtime, share of its best", "line", "series-2", "5 3"))
        if math.isfinite(known.shortest):
            entries.append(model.Entry("t_s for P_d' 0.95, P_f' 0.05", "line", "series-3", "2 3"))
    return entries


def _called(name: str) -> str:
    return "theory's optimum" if name == "theory" else name


def _marked(tuning: Tuning) -> list[tuple[str, Trial | Finalist]]:
    marked: list[tuple[str, Trial | Finalist]] = [
        (name, final) for final in tuning.finalists for name in final.name.split(", ") if name in _LOOKS
    ]
    marked += [("not significantly worse", final) for final in tuning.ties]
    if tuning.winner is not None:
        marked.append(("best", tuning.winner))
    elif tuning.finalists:
        return [(name, final) for name, final in marked if final.point is not None]
    if not marked and tuning.best is not None:
        marked = [("best", tuning.best)]
    return [(name, final) for name, final in marked if final.point is not None]


def _standing(tuning: Tuning, trial: Trial) -> str:
    if trial.error:
        return "failed"
    kept = all(c.excess(tuning.interval(trial, c.metric).mean) <= 0 for c in tuning.constraints)
    return "kept" if kept else "broken"


def _grid(panel: model.Panel, tuning: Tuning) -> None:
    if not tuning.grid:
        return
    _, rows = tuning.grid_shape
    metric = tuning.objective.metric
    x_edges, y_edges = (
        _edges([float(trial.point[axis]) for trial in points], tuning.parameters[axis])
        for axis, points in ((0, tuning.grid[::rows]), (1, tuning.grid[:rows]))
    )
    lines = [tuning.grid[row::rows] for row in range(rows)]
    values, titles = [], []
    for line in lines:
        means = [_mean(tuning, trial) for trial in line]
        values.append([mean * metric.scale for mean in means])
        titles.append(
            [
                f"{', '.join(trial.values.values())}: {metric.text(mean, unit=True)}"
                for trial, mean in zip(line, means, strict=True)
            ]
        )
    panel.add(model.Cells(x_edges, y_edges, values, titles))


def _contours(panel: model.Panel, tuning: Tuning) -> None:
    known = tuning.theory
    if isinstance(known, str):
        return
    x, y = tuning.parameters
    flip = x.place[-1] != "sensing_time"
    if isinstance(x, Range) and isinstance(y, Range):
        across = [_at(x, step / _FINE) for step in range(_FINE + 1)]
        up = [_at(y, step / _FINE) for step in range(_FINE + 1)]
        usable = [[known.usable(b, a) if flip else known.usable(a, b) for a in across] for b in up]
        labelled: list[tuple[float, float]] = []
        for share in _CONTOURS:
            lines = contour(across, up, usable, share * known.share)
            for line in lines:
                xs, ys = zip(*line, strict=True)
                panel.add(model.Line(xs, ys, "series-2", 1.2, "5 3"))
            longest = max(lines, key=len, default=[])
            if longest:
                at = _free(longest, labelled, panel)
                labelled.append(at)
                text = f"{share:.0%}".replace("%", " %")
                panel.add(
                    model.Text(*at, text, size=11, color="series-2", anchor="middle", middle=True, halo=True)
                )
    if math.isfinite(known.shortest):
        axis = (panel.y if flip else panel.x).scale
        if axis.low <= known.shortest <= axis.high:
            panel.add(model.Rule(known.shortest, "series-3", "2 3", upright=not flip))


def _free(
    line: Sequence[tuple[float, float]], taken: Sequence[tuple[float, float]], panel: model.Panel
) -> tuple[float, float]:
    """Return the place on a line that is farthest from the labels of others, and not at an edge."""

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return panel.x.scale.place(point[0]), panel.y.scale.place(point[1])

    def free(point: tuple[float, float]) -> float:
        x, y = place(point)
        edge = 2 * min(x, 1 - x, y, 1 - y)
        others = [math.hypot(x - a, y - b) for a, b in map(place, taken)]
        return min([edge, 0.25, *others])

    return max(line, key=free)


def _points(panel: model.Panel, tuning: Tuning) -> None:
    metric = tuning.objective.metric
    for trial in tuning.trials:
        standing = _standing(tuning, trial)
        x, y = (float(value) for value in trial.point)
        value = _mean(tuning, trial)
        title = f"trial {trial.number}: {', '.join(trial.values.values())}: " + (
            trial.error or metric.text(value, unit=True)
        )
        if standing == "kept" and not tuning.grid:
            shade = 0.1 + 0.9 * _share(tuning, value)
            panel.add(model.Dots([x], [y], "accent", size=5, opacity=shade))
        kept = standing == "kept"
        color, shape, size = ("ink", "circle", 4.0) if kept else ("muted", "cross", 3.0)
        panel.add(model.Dots([x], [y], color, shape, size, hollow=True, titles=[title]))


def _slice(panel: model.Panel, tuning: Tuning, trials: list[Trial], index: int) -> None:
    factor = tuning.objective.metric.scale
    parameter = tuning.parameters[index]

    def place(trial: Trial | Finalist) -> float:
        value = trial.point[index] if trial.point else math.nan
        return float(value if isinstance(parameter, Range) else parameter.values.index(str(value)))

    def draw(trial: Trial | Finalist, interval: Interval, color: str, shape: str, size: float) -> None:
        panel.add(model.Whiskers(place(trial), interval.low * factor, interval.high * factor, color, cap=0))
        title = f"{', '.join(trial.values.values())}: {tuning.objective.metric.with_half_width(interval)}"
        mean, hollow = [interval.mean * factor], shape == "circle"
        panel.add(model.Dots([place(trial)], mean, color, shape, size, hollow, titles=[title]))

    if len(tuning.parameters) == 1 and tuning.grid:
        line = [trial for trial in tuning.grid if not trial.error]
        found = [tuning.interval(trial) for trial in line]
        xs = [place(trial) for trial in line]
        low, high = [i.low * factor for i in found], [i.high * factor for i in found]
        panel.add(model.Band(xs, low, high, "accent"))
        panel.add(model.Line(xs, [i.mean * factor for i in found], "accent"))
    for trial in trials:
        draw(trial, tuning.interval(trial), "muted", "circle", 3.2)
    if tuning.winner is not None:
        draw(tuning.winner, tuning.interval(tuning.winner), "alarm", "star", 8)


def _mean(tuning: Tuning, trial: Trial) -> float:
    return math.nan if trial.error else tuning.interval(trial).mean


def _share(tuning: Tuning, value: float) -> float:
    """Return where a mean lies between the worst, 0, and the best, 1, of what is drawn."""
    ends = _ends(tuning)
    if ends is None or ends[0] == ends[1]:
        return 1.0
    return (value - ends[0]) / (ends[1] - ends[0])


def _edges(centres: Sequence[float], parameter: Parameter) -> list[float]:
    """Return the borders of cells around their centres."""
    log = isinstance(parameter, Range) and parameter.log
    places = [math.log(value) if log else value for value in centres]
    if len(places) == 1:
        inner: list[float] = []
        first, last = places[0] - 0.5, places[0] + 0.5
    else:
        inner = [(a + b) / 2 for a, b in pairwise(places)]
        first, last = 2 * places[0] - inner[0], 2 * places[-1] - inner[-1]
    return [math.exp(edge) if log else edge for edge in (first, *inner, last)]


def _at(parameter: Range, share: float) -> float:
    """Return a value of the range, finer than the search tells apart."""
    if parameter.log:
        return float(parameter.low * (parameter.high / parameter.low) ** share)
    return parameter.low + (parameter.high - parameter.low) * share


def _scale(parameter: Parameter) -> Scale:
    """Return a range with a margin on either side; choices count from 0."""
    if not isinstance(parameter, Range):
        return Scale(-0.5, len(parameter.values) - 0.5)
    if parameter.log:
        margin = float((parameter.high / parameter.low) ** 0.06)
        return Scale(parameter.low / margin, parameter.high * margin, log=True)
    margin = 0.06 * (parameter.high - parameter.low)
    return Scale(parameter.low - margin, parameter.high + margin)


def _axis(parameter: Parameter) -> model.Axis:
    ticks = None if isinstance(parameter, Range) else list(enumerate(parameter.values))
    return model.Axis(_scale(parameter), label(parameter), ticks=ticks)
