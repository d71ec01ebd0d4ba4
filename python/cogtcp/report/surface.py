"""Pictures of a search: the objective over the plane of two parameters, and over each by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp.report import theme
from cogtcp.tuning.space import Range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cogtcp.tuning.result import Finalist, Trial, Tuning
    from cogtcp.tuning.space import Parameter

_DEEPEST = 0.75  # opacity of the best: marks are legible on it in light and in dark
_CONTOURS = (0.8, 0.9, 0.95, 0.99)
_FINE = 60
_NAMES = {"sensing_time": "Sensing time t_s", "transmission_time": "Transmission time T_p"}


def surface(tuning: Tuning) -> str:
    """Return the plane of two ranges as SVG: the grid as shades, the trials as points, and what is marked."""
    x, y = tuning.parameters
    metric = tuning.objective.metric

    def paint(figure: Figure) -> None:
        axes: Any = figure.subplots()
        _grid(axes, tuning)
        _contours(axes, tuning)
        _points(axes, tuning)
        _marks(axes, tuning)
        for parameter, axis, set_scale in (
            (x, axes.xaxis, axes.set_xscale),
            (y, axes.yaxis, axes.set_yscale),
        ):
            _scale(parameter, axis, set_scale)
        axes.set_xlabel(label(x))
        axes.set_ylabel(label(y))
        axes.set_xlim(*_limits(x))
        axes.set_ylim(*_limits(y))
        axes.grid(visible=False)
        figure.legend(loc="outside right upper")

    best = tuning.winner or tuning.best
    where = ", ".join(best.values.values()) if best else "nowhere"
    return theme.draw(5.2, f"{metric.title} over {label(x)} and {label(y)}; best at {where}", paint)


def over_parameters(tuning: Tuning) -> str:
    """Return the objective of every trial over each parameter as SVG."""
    metric = tuning.objective.metric
    trials = [trial for trial in tuning.trials if not trial.error]

    def paint(figure: Figure) -> None:
        every: Any = figure.subplots(1, len(tuning.parameters), sharey=True, squeeze=False)[0]
        for index, (axes, parameter) in enumerate(zip(every, tuning.parameters, strict=True)):
            _slice(axes, tuning, trials, index)
            if isinstance(parameter, Range):
                _scale(parameter, axes.xaxis, axes.set_xscale)
                axes.set_xlim(*_limits(parameter))
            else:
                axes.set_xticks(range(len(parameter.values)), parameter.values)
                axes.set_xlim(-0.5, len(parameter.values) - 0.5)
            axes.set_xlabel(label(parameter))
        every[0].set_ylabel(f"{metric.title}{f', {metric.unit}' if metric.unit else ''}")

    return theme.draw(3.4, f"{metric.title} of the trials over each parameter", paint)


def shades(tuning: Tuning) -> str:
    """Say which means the faintest and the strongest shade stand for."""
    metric = tuning.objective.metric
    means = [_mean(tuning, trial) for trial in (tuning.grid or tuning.trials)]
    low, high = (end(mean for mean in means if not math.isnan(mean)) for end in (min, max))
    worst, best = (low, high) if tuning.objective.sign > 0 else (high, low)
    return f"from {metric.text(worst)} (faintest) to {metric.text(best, unit=True)} (strongest)"


def label(parameter: Parameter) -> str:
    """Return the name of a parameter as an axis has it."""
    name = _NAMES.get(str(parameter.place[-1])) if parameter.place[0] == "radio" else None
    unit = f", {parameter.unit}" if isinstance(parameter, Range) and parameter.unit else ""
    return f"{name or parameter.path}{unit}"


def _grid(axes: Any, tuning: Tuning) -> None:
    if not tuning.grid:
        return
    columns, rows = tuning.grid_shape
    values = np.array([_mean(tuning, trial) for trial in tuning.grid]).reshape(columns, rows).T
    edges = [
        _edges(np.array([trial.point[axis] for trial in points], dtype=float), tuning.parameters[axis])
        for axis, points in ((0, tuning.grid[::rows]), (1, tuning.grid[:rows]))
    ]
    # By hand, not as an image: each cell is one rectangle in the colour of the page.
    for (row, column), value in np.ndenumerate(values):
        if not math.isnan(value):
            axes.fill_between(
                edges[0][column : column + 2],
                edges[1][row],
                edges[1][row + 1],
                color=theme.ACCENT,
                alpha=_DEEPEST * _share(tuning, value),
                linewidth=0,
                zorder=0,
            )


def _contours(axes: Any, tuning: Tuning) -> None:
    known = tuning.theory
    if isinstance(known, str):
        return
    x, y = tuning.parameters
    flip = x.place[-1] != "sensing_time"
    if isinstance(x, Range) and isinstance(y, Range):
        across = [_at(x, step / _FINE) for step in range(_FINE + 1)]
        up = [_at(y, step / _FINE) for step in range(_FINE + 1)]
        usable = [[known.usable(b, a) if flip else known.usable(a, b) for a in across] for b in up]
        levels = [share * known.share for share in _CONTOURS]
        axes.contour(across, up, usable, levels, colors=theme.SERIES[1], linewidths=0.9, linestyles="--")
        axes.plot(
            [], [], "--", color=theme.SERIES[1], linewidth=0.9, label="theory's airtime: 80, 90, 95, 99 %"
        )
    if math.isfinite(known.shortest):
        line = axes.axhline if flip else axes.axvline
        line(
            known.shortest,
            color=theme.SERIES[2],
            linewidth=1,
            linestyle=":",
            label="t_s for P_d' 0.95, P_f' 0.05",
        )


def _points(axes: Any, tuning: Tuning) -> None:
    named = set()
    for trial in tuning.trials:
        keeps = not trial.error and all(
            c.excess(tuning.interval(trial, c.metric).mean) <= 0 for c in tuning.constraints
        )
        if keeps and not tuning.grid:
            shade = 0.1 + 0.9 * _share(tuning, _mean(tuning, trial))
            axes.plot(*trial.point, "o", color=theme.ACCENT, alpha=shade, markersize=5.5, markeredgewidth=0)
        text = "trials" if keeps else "failed" if trial.error else "constraints not kept"
        shape, color, size = ("o", theme.INK, 5.5) if keeps else ("x", theme.MUTED, 4)
        style = {"fillstyle": "none", "markersize": size, "markeredgewidth": 0.7}
        axes.plot(*trial.point, shape, color=color, label=None if text in named else text, **style)
        named.add(text)


def _marks(axes: Any, tuning: Tuning) -> None:
    looks = {
        "best": ("*", theme.ALARM, 15),
        "as it is": ("D", theme.INK, 7),
        "theory": ("P", theme.SERIES[1], 9),
        "best of the grid": ("s", theme.SERIES[2], 8),
    }
    marked: list[tuple[str, Trial | Finalist]] = [
        (name, final) for final in tuning.finalists for name in final.name.split(", ") if name in looks
    ]
    if not marked and tuning.best is not None:
        marked = [("best", tuning.best)]
    for name, final in marked:
        point = final.point
        if point is None:
            continue
        shape, color, size = looks[name]
        hollow = "full" if name == "best" else "none"
        text = "theory's optimum" if name == "theory" else name
        axes.plot(
            *point,
            shape,
            color=color,
            markersize=size,
            fillstyle=hollow,
            markeredgewidth=1.4,
            label=text,
            zorder=5,
        )


def _slice(axes: Any, tuning: Tuning, trials: list[Trial], index: int) -> None:
    metric = tuning.objective.metric
    parameter = tuning.parameters[index]

    def place(trial: Trial | Finalist) -> float:
        value = trial.point[index] if trial.point else math.nan
        return float(value if isinstance(parameter, Range) else parameter.values.index(str(value)))

    if len(tuning.parameters) == 1 and tuning.grid:
        line = [trial for trial in tuning.grid if not trial.error]
        intervals = [tuning.interval(trial) for trial in line]
        xs = [place(trial) for trial in line]
        axes.plot(xs, [i.mean * metric.scale for i in intervals], color=theme.ACCENT)
        low, high = ([getattr(i, end) * metric.scale for i in intervals] for end in ("low", "high"))
        axes.fill_between(xs, low, high, color=theme.ACCENT, alpha=0.2, linewidth=0)
    for trial in trials:
        interval = tuning.interval(trial)
        x, y = place(trial), interval.mean * metric.scale
        if not math.isnan(interval.low):
            ends = [interval.low * metric.scale, interval.high * metric.scale]
            axes.plot([x, x], ends, color=theme.MUTED, linewidth=0.8, alpha=0.35)
        axes.plot(x, y, "o", color=theme.INK, fillstyle="none", markersize=4.5, markeredgewidth=0.8)
    winner = tuning.winner
    if winner is not None:
        interval = tuning.interval(winner)
        x = place(winner)
        axes.plot([x, x], [interval.low * metric.scale, interval.high * metric.scale], color=theme.ALARM)
        axes.plot(x, interval.mean * metric.scale, "*", color=theme.ALARM, markersize=12)


def _mean(tuning: Tuning, trial: Trial) -> float:
    return math.nan if trial.error else tuning.interval(trial).mean


def _share(tuning: Tuning, value: float) -> float:
    """Return where a mean lies between the worst, 0, and the best, 1, of what is drawn."""
    means = [_mean(tuning, trial) for trial in (tuning.grid or tuning.trials)]
    known = [mean for mean in means if not math.isnan(mean)]
    low, high = min(known), max(known)
    share = (value - low) / (high - low) if high > low else 1.0
    return share if tuning.objective.sign > 0 else 1 - share


def _edges(centres: Any, parameter: Parameter) -> Any:
    """Return the borders of cells around their centres."""
    log = isinstance(parameter, Range) and parameter.log
    places = np.log(centres) if log else centres
    inner = (places[1:] + places[:-1]) / 2
    edges = np.concatenate([[2 * places[0] - inner[0]], inner, [2 * places[-1] - inner[-1]]])
    return np.exp(edges) if log else edges


def _at(parameter: Range, share: float) -> float:
    """Return a value of the range, finer than the search tells apart."""
    if parameter.log:
        return float(parameter.low * (parameter.high / parameter.low) ** share)
    return parameter.low + (parameter.high - parameter.low) * share


def _limits(parameter: Parameter) -> tuple[float, float]:
    """Return a range with a margin on either side."""
    if not isinstance(parameter, Range):
        return 0.0, 1.0
    if parameter.log:
        margin = float((parameter.high / parameter.low) ** 0.06)
        return parameter.low / margin, parameter.high * margin
    margin = 0.06 * (parameter.high - parameter.low)
    return parameter.low - margin, parameter.high + margin


def _scale(parameter: Parameter, axis: Any, set_scale: Any) -> None:
    if not (isinstance(parameter, Range) and parameter.log):
        return
    set_scale("log")
    decades = range(math.floor(math.log10(parameter.low)), math.ceil(math.log10(parameter.high)) + 1)
    steps = (1, 2, 5) if len(decades) < 5 else (1,)
    low, high = _limits(parameter)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    shown = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(shown, [f"{tick:g}" for tick in shown])
    axis.set_ticks([], minor=True)
