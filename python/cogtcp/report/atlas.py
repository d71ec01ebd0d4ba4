"""The page of the atlas: two axes to choose, who wins where, and a link to run a point."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from cogtcp.atlas.space import AXES, FLOWS, LAWS, SILENCES
from cogtcp.atlas.survey import TRANSPORTS
from cogtcp.report import page

if TYPE_CHECKING:
    from cogtcp.atlas.lookup import Survey

#: Winners that have a colour; the others share one.
_COLORS = 6


def atlas_page(survey: Survey, *, lab: str = "") -> str:
    """Return the page, self-contained.

    Args:
        survey: The atlas.
        lab: Address of the lab, for links that run a point; empty for none.
    """
    script = page.static("atlas.js")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    wins: dict[str, int] = dict.fromkeys(TRANSPORTS, 0)
    for index in range(len(survey.places)):
        wins[max(TRANSPORTS, key=lambda name: survey.efficiency[name][index])] += 1
    shown = sorted(TRANSPORTS, key=lambda name: -wins[name])
    total = max(1, len(survey.places))
    return page.render(
        "atlas.html.j2",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        script=script,
        runs=survey.provenance.get("runs", "unknown"),
        points=len(survey.places),
        version=survey.provenance.get("version", ""),
        axes=[(axis.name, axis.title, axis.meaning) for axis in AXES],
        silences=SILENCES,
        laws=LAWS,
        flows=FLOWS,
        colors=[(name, f"series-{rank + 1}") for rank, name in enumerate(shown[:_COLORS])],
        wins=page.as_table(
            [("Transport", ""), ("Best at", "% of points"), ("Within 5 % of the best at", "% of points")],
            [
                [
                    name,
                    f"{100 * wins[name] / total:.1f}",
                    f"{100 * sum(_good(survey, name, i) for i in range(len(survey.places))) / total:.1f}",
                ]
                for name in shown
            ],
        ),
        atlas=_data(survey, shown[:_COLORS], lab),
    )


def _good(survey: Survey, name: str, index: int) -> bool:
    best = max(values[index] for values in survey.efficiency.values())
    return survey.efficiency[name][index] >= 0.95 * best


def _data(survey: Survey, colored: list[str], lab: str) -> dict[str, Any]:
    """Return what the script needs: coordinates and efficiencies in thousandths."""
    return {
        "lab": lab,
        "transports": TRANSPORTS,
        "colored": colored,
        "axes": [{"name": a.name, "title": a.title, "low": a.low, "high": a.high} for a in AXES],
        "laws": LAWS,
        "silences": SILENCES,
        "points": [
            [
                *(round(1000 * min(max(axis.share(getattr(place, axis.name)), 0.0), 1.0)) for axis in AXES),
                LAWS.index(place.law),
                SILENCES.index(place.silence),
                place.flows,
            ]
            for place in survey.places
        ],
        "efficiency": [
            [round(1000 * survey.efficiency[name][index]) for name in TRANSPORTS]
            for index in range(len(survey.places))
        ],
    }
