"""Links from pages of the site into the lab, at a state that shows what the page is about.

`make site` puts the lab beside the documentation, in lab/, and sets COGTCP_SITE_LAB: without it no page
links there.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
from urllib.parse import urlencode

from cogtcp import _core
from cogtcp.lab.presets import claim_presets, presets
from cogtcp.studies.folder import list_studies

#: Pages and the scenario that shows what they are about. Pages of congestion controls are found by name.
SCENARIOS = {
    "adhoc-networks.md": "adhoc-mobile",
    "adhoc.md": "adhoc-cr",
    "freeze.md": "freeze",
    "link-traces.md": "lte-trace",
    "queues.md": "dumbbell-bench",
    "spectrum.md": "cr-single-hop",
    "trains.md": "train",
    "traffic.md": "graph",
    "web.md": "sensed-link",
    "lab.md": "sensed-link",
}


def is_there() -> bool:
    """Whether the site has the lab."""
    return os.environ.get("COGTCP_SITE_LAB") == "1"


def state_of(page: str) -> dict[str, str] | None:
    """Return what the lab starts with for a page; None where nothing fits."""
    if page in SCENARIOS:
        return {"start": SCENARIOS[page]}
    folder, name = posixpath.split(page.removesuffix(".md"))
    known = {name for name, _ in _core.transports()}
    if folder == "congestion" and name in known:
        # Beside plain TCP: what the control changes.
        return {"start": "sensed-link", "transports": ",".join(dict.fromkeys([name, "newreno", "sack"]))}
    if folder == "congestion" and name == "aimd":
        return {"start": "sensed-link", "transports": "tahoe,reno,newreno"}
    return None


def states_of_claims() -> dict[str, list[dict[str, str]]]:
    """Return what the lab starts with for each claim: the base, and the closest where it is another."""
    known = presets(None)
    return {
        claim.id: [{"start": name} for name in claim_presets(claim.id) if name in known]
        for study in list_studies()
        for claim in study.claims
    }


def fill(content: str, page: str) -> str:
    """Put the links into the HTML of a page: under its title, and under each claim."""
    if not is_there():
        return content
    state = state_of(page)
    if state is not None:
        content = re.sub(r"(</h1>)", rf"\1\n{_link(page, state, 'Open in the lab')}", content, count=1)
    if page.startswith("studies/"):
        claims = states_of_claims()

        def with_link(found: re.Match[str]) -> str:
            states = claims.get(found[2], [])
            said = ("See it happen in the lab", "See it at its best reading")
            return "\n".join(
                [found[0], *(_link(page, state, text) for state, text in zip(states, said, strict=False))]
            )

        content = re.sub(r"<h3[^>]*>(<[^>]+>)*([\w-]+)[^\n]*?</h3>", with_link, content)
    return content


def _link(page: str, state: dict[str, str], text: str) -> str:
    lab = posixpath.relpath("lab/index.html", posixpath.dirname(page) or ".")
    return f'<p class="lab"><a href="{lab}#{html.escape(urlencode(state))}">{text}</a></p>'
