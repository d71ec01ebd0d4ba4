"""The page of the atlas: two axes to choose, who wins where, and a link to run a point."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from cogtcp.deciding.atlas.lookup import AS_GOOD, efficiencies, read
from cogtcp.deciding.atlas.space import AXES, FLOWS, LAWS, SILENCES
from cogtcp.deciding.atlas.survey import STATES
from cogtcp.deciding.atlas.transports import CANDIDATES, SURVEYED
from cogtcp.model import budget
from cogtcp.showing.report import page

if TYPE_CHECKING:
    from cogtcp.deciding.atlas.lookup import Survey

#: Winners that have a colour; the others share one.
_COLORS = 5


def atlas_page(survey: Survey, *, lab: str = "") -> str:
    """Return the page, self-contained.

    Args:
        survey: The atlas.
        lab: Address of the lab, for links that run a point; empty for none.
    """
    script = page.static("atlas.js")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    every = efficiencies()
    measured = {name: max(1, sum(v == v for v in values)) for name, values in every.items()}
    best = [
        max(value for value in values if value == value)
        for values in zip(*survey.efficiency.values(), strict=True)
    ]
    wins = {
        name: sum(value == most for value, most in zip(values, best, strict=True))
        for name, values in survey.efficiency.items()
    }
    # By shares: a transport may be measured at few of the points.
    shown = sorted(CANDIDATES, key=lambda name: -wins[name] / measured[name])
    good = {
        name: sum(v >= (1 - AS_GOOD) * most for v, most in zip(values, best, strict=True))
        for name, values in every.items()
    }
    return page.render(
        "atlas.html.j2",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        script=script,
        runs=f"{int(survey.provenance.get('runs', 0)):,}",
        points=f"{len(survey.places):,}",
        version=survey.provenance.get("version", ""),
        axes=[(axis.name, axis.title, axis.meaning) for axis in AXES],
        silences=SILENCES,
        laws=LAWS,
        flows=FLOWS,
        colors=[(name, f"series-{rank + 1}") for rank, name in enumerate(shown[:_COLORS])],
        wins=page.as_table(
            [
                ("Transport", ""),
                ("Points", ""),
                ("Best at", "% of points"),
                ("Within 5 % of the best at", "% of points"),
            ],
            [
                [
                    name,
                    f"{measured[name]:,}",
                    f"{100 * wins[name] / measured[name]:.1f}" if name in wins else "–",
                    f"{100 * good[name] / measured[name]:.1f}",
                ]
                for name in (*shown, *(name for name in SURVEYED if name not in wins))
            ],
        ),
        atlas=_data(survey, shown[:_COLORS], lab),
    )


def _data(survey: Survey, colored: list[str], lab: str) -> dict[str, Any]:
    """Return what the script needs: coordinates and efficiencies in thousandths, shares of time in bytes."""
    columns, _ = read([f"{name}:{state}" for name in CANDIDATES for state in STATES])
    shares = bytearray()
    for index in range(len(survey.places)):
        for name in CANDIDATES:
            values = (columns[f"{name}:{state}"][index] for state in STATES)
            # Two hundredths of a per cent would need two bytes: half a per cent is enough to tell a cause.
            shares += bytes(round(200 * min(max(v, 0.0), 1.0)) if v == v else 0 for v in values)
    return {
        "lab": lab,
        "transports": CANDIDATES,
        "states": [budget.BY_NAME[state].said for state in STATES],
        "shares": base64.b64encode(shares).decode(),
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
            [
                round(1000 * value) if (value := survey.efficiency[name][index]) == value else None
                for name in CANDIDATES
            ]
            for index in range(len(survey.places))
        ],
    }
