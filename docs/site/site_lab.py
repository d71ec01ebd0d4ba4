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
from cogtcp.lab.presets import Preset, presets
from cogtcp.studies.folder import list_studies
from cogtcp.studies.showing import claim_presets

#: What the lab starts with: `start` and `transports`, and fields that are `set` to other values.
State = dict[str, str | list[str]]


def _with(start: str, *changes: str, transports: str = "") -> State:
    state: State = {"start": start}
    if transports:
        state["transports"] = transports
    if changes:
        state["set"] = list(changes)
    return state


_DETECTOR, _POLICY, _QUEUE = "radio.0.cr.detector", "radio.0.cr.policy", "topology.dumbbell.bottleneck.queue"

#: Pages and a state that shows what they are about. Pages of congestion controls are found by name.
STATES: dict[str, State] = {
    "adhoc-networks.md": _with("adhoc-mobile"),
    "adhoc.md": _with("adhoc-cr"),
    "budget.md": _with("sensed-link"),
    "captures.md": _with("sensed-link"),
    "congestion/aimd.md": _with("sensed-link", transports="tahoe,reno,newreno"),
    "congestion/satcp-cubic.md": _with("sensed-link", transports="satcp,cubic"),
    "congestion/simulators.md": _with("sensed-link", transports="ns2,ns3-2013,ns3-2015,newreno"),
    "congestion/westwood-compound.md": _with("sensed-link", transports="westwood-compound,westwood,compound"),
    "detectors/cooperation.md": _with("cr-single-hop"),
    "detectors/fixed.md": _with(
        "cr-single-hop", f"{_DETECTOR}={{ fixed = {{ detection = 0.9, false_alarm = 0.1 }} }}"
    ),
    "detectors/map.md": _with("cr-single-hop"),
    "detectors/neyman-pearson.md": _with(
        "cr-single-hop",
        f"{_DETECTOR}={{ neyman_pearson = "
        '{ snr = "-20 dB", sampling_rate = "2 MHz", false_alarm = 0.05 } }',
    ),
    "detectors/simplified.md": _with("cr-single-hop", f'{_DETECTOR}={{ simplified = {{ snr = "-20 dB" }} }}'),
    "detectors/table.md": _with(
        "cr-single-hop",
        f'{_DETECTOR}={{ table = [["50 ms", 0.80, 0.10], ["100 ms", 0.90, 0.05], ["300 ms", 0.99, 0.01]] }}',
    ),
    "freeze.md": _with("freeze"),
    "kernel-c2.md": _with("sensed-link", transports="c2,newreno,linux-cubic"),
    "lab.md": _with("sensed-link"),
    "link-traces.md": _with("lte-trace"),
    "mobility.md": _with("adhoc-mobile"),
    "policies/best-rate.md": _with("cr-single-hop", f'{_POLICY}={{ best_rate = {{ memory = "2 s" }} }}'),
    "policies/least-busy.md": _with("cr-single-hop", f"{_POLICY}=least_busy"),
    "policies/random.md": _with("cr-single-hop", f"{_POLICY}=random"),
    "policies/round-robin.md": _with("cr-single-hop", f"{_POLICY}=round_robin"),
    "policies/sticky.md": _with("cr-single-hop", f"{_POLICY}=sticky"),
    "predictors/itinerary.md": _with(
        "train-journey",
        'train.prediction={ itinerary = { error = "500 ms", missed = 0.1, false_interval = "120 s" } }',
    ),
    "predictors/oracle.md": _with("train-journey", "train.prediction=oracle"),
    "predictors/outage-map.md": _with("train-journey"),
    "predictors/signal-strength.md": _with(
        "train-journey", 'train.prediction={ signal_strength = { order = 8, step = 0.1, horizon = "1 s" } }'
    ),
    "primary-users/exponential.md": _with("cr-single-hop"),
    "primary-users/laws.md": _with("cr-single-hop"),
    "primary-users/recorded.md": _with("cr-single-hop"),
    "primary-users/trace.md": _with("cr-single-hop"),
    "queues.md": _with("dumbbell-bench"),
    "queues/codel.md": _with("rtt-fairness", f"{_QUEUE}=codel", transports="cubic,newreno"),
    "queues/drop-tail.md": _with("rtt-fairness", transports="cubic,newreno"),
    "queues/dualpi2.md": _with("rtt-fairness", f"{_QUEUE}=dualpi2", transports="cubic,newreno"),
    "queues/fq-codel.md": _with("rtt-fairness", f"{_QUEUE}=fq_codel", transports="cubic,newreno"),
    "queues/red.md": _with("rtt-fairness", f"{_QUEUE}=red", transports="cubic,newreno"),
    "radios/cell.md": _with("lte-cell"),
    "radios/channels.md": _with("heterogeneous-channels"),
    "radios/cognitive-user.md": _with("cr-single-hop"),
    "radios/cycle.md": _with("pu-arrivals"),
    "radios/journey.md": _with("train-journey"),
    "radios/leo.md": _with("leo"),
    "regulations/cbrs.md": _with("cbrs"),
    "regulations/dfs.md": _with("wifi-dfs"),
    "regulations/tvws.md": _with("tvws"),
    "routing/aodv.md": _with("adhoc-mobile"),
    "routing/cr-aodv.md": _with("adhoc-cr"),
    "routing/search.md": _with("adhoc-mobile", "routing=search"),
    "routing/static.md": _with("adhoc-mobile", "routing=static"),
    "simulator.md": _with("sensed-link"),
    "spectrum-formats.md": _with("cr-single-hop"),
    "spectrum-tools.md": _with("cr-single-hop"),
    "spectrum.md": _with("cr-single-hop"),
    "traffic.md": _with("traffic"),
    "traffic/bulk.md": _with("sensed-link"),
    "traffic/requests.md": _with("traffic"),
    "traffic/udp.md": _with("traffic"),
    "traffic/video.md": _with("traffic"),
    "trains.md": _with("train"),
    "transport.md": _with("sensed-link", transports="tahoe,reno,newreno,sack"),
    "transports/atp.md": _with("adhoc-mobile", transports="atp,sack"),
    "transports/mptcp.md": _with("bonded", transports="mptcp,sack"),
    "transports/nada.md": _with("sensed-link", transports="nada,tfrc"),
    "transports/tfrc.md": _with("sensed-link", transports="tfrc,newreno,sack"),
    "transports/tfrc-cr.md": _with("cr-single-hop", transports="tfrc-cr,tfrc"),
    "transports/tp-crahn.md": _with("adhoc-cr", transports="tp-crahn,newreno"),
    "web.md": _with("sensed-link"),
    "wireless.md": _with("cr-single-hop"),
}


def is_there() -> bool:
    """Whether the site has the lab."""
    return os.environ.get("COGTCP_SITE_LAB") == "1"


def state_of(page: str) -> State | None:
    """Return what the lab starts with for a page; None where nothing fits."""
    if page in STATES:
        return STATES[page]
    folder, name = posixpath.split(page.removesuffix(".md"))
    known = {name for name, _ in _core.transports()}
    if folder == "congestion" and name in known:
        # Beside plain TCP: what the control changes.
        return _with("sensed-link", transports=",".join(dict.fromkeys([name, "newreno", "sack"])))
    return None


def states_of_claims() -> dict[str, list[State]]:
    """Return what the lab starts with for each claim: the base, and the closest where it is another."""
    known = presets(None)
    return {
        claim.id: [{"start": name} for name in claim_presets(claim.id) if name in known]
        for study in list_studies()
        for claim in study.claims
    }


def scenarios_page() -> str:
    """Return a page with every scenario that the lab can start with, one link each."""
    groups: dict[str, list[Preset]] = {}
    for preset in presets(None).values():
        if preset.shows is None:
            groups.setdefault(preset.group, []).append(preset)
    lines = ["# Scenarios that come with cogtcp", ""]
    if is_there():
        lines += ["Each opens in the [lab](lab.md): in the browser, nothing to install.", ""]
    for group, members in groups.items():
        lines += [f"## {group}", "", "| scenario | what |", "|---|---|"]
        for preset in members:
            name = f"`{preset.name}`"
            if is_there():
                name = f'<a href="lab/index.html#{html.escape(urlencode({"start": preset.name}))}">{name}</a>'
            lines.append(f"| {name} | {html.escape(preset.scenario.description, quote=False)} |")
        lines.append("")
    lines.append("Scenarios of claims stand on the pages of the [studies](studies/index.md).")
    return "\n".join(lines) + "\n"


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
            said = ("See it happen in the lab", "See it at its best parameter values")
            return "\n".join(
                [found[0], *(_link(page, state, text) for state, text in zip(states, said, strict=False))]
            )

        content = re.sub(r"<h3[^>]*>(<[^>]+>)*([\w-]+)[^\n]*?</h3>", with_link, content)
    return content


def _link(page: str, state: State, text: str) -> str:
    lab = posixpath.relpath("lab/index.html", posixpath.dirname(page) or ".")
    return f'<p class="lab"><a href="{lab}#{html.escape(urlencode(state, doseq=True))}">{text}</a></p>'
