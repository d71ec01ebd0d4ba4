"""How values are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cogtcp._errors import UsageError
from cogtcp.plot import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure


def cdf(
    samples: Mapping[str, Sequence[float]],
    label: str,
    *,
    width: float = style.COLUMN_IN,
    height: float | None = None,
) -> Figure:
    """Return empirical distribution functions: which share of the values is at most x.

    Args:
        samples: The values of each line, by name; NaN is no value.
        label: What the x axis shows, with its unit.
        width: In inches, as `height`.
        height: By default two thirds of the width.
    """
    known = {
        name: np.sort(np.asarray(v, float)[~np.isnan(np.asarray(v, float))]) for name, v in samples.items()
    }
    if not any(len(values) for values in known.values()):
        raise UsageError("no values to draw")
    with style.paper(width, height) as figure:
        axes: Any = figure.subplots()
        for index, (name, values) in enumerate(known.items()):
            if not len(values):
                continue
            shares = np.arange(1, len(values) + 1) / len(values)
            look = {"color": style.COLORS[index % 7], "linestyle": style.DASHES[index % 7]}
            axes.step([values[0], *values], [0, *shares], where="post", label=name, **look)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(label)
        axes.set_ylabel("Share of the values")
        style.legend(axes, len(known))
    return figure
