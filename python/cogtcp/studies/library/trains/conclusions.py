"""What follows from the claims, in two paragraphs written around their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .settings import REPORTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies import Claim


def conclusions(claims: Sequence[Claim]) -> list[str]:
    """Return the paragraphs at the head of the page."""
    facts = {claim.row.id: claim.result.facts for claim in claims}
    return [_paper(facts), _beyond(facts)]


def _paper(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Tell of what the paper claims: the window, the advance, the flows, the sensing."""
    window, advance, flows, sensing = (facts[f"trains-{name}"] for name in ("f3", "f5", "f6", "f7"))
    text = (
        f"A frozen window comes back as it was ({window['kept']:.2f} of its old value), which is the paper's "
        "point"
    )
    if window["fallen"] > 0.1:
        text += (
            f", but it does not always stay: it is cut within a second after {window['fallen']:.0%} of the "
            "outages "
            f"({window['fallen_plain']:.0%} without triggers): the last packets under way are lost at "
            f"{window['tails']:.0%} of them, and of the burst that a source sends on return Node B drops "
            f"{window['burst']:.0f} packets"
        )
    text += f". Freezing raises efficiency by up to {100 * flows['gain']:.1f} points; the gain is shown with "
    text += f"{_listed(flows['pays']) or 'no number of flows'}"
    if flows["unshown"]:
        text += f" and not with {_listed(flows['unshown'])}"
    text += ". "
    if advance["best"] == 1:
        text += f"One RTT_TCP ahead is the best time to warn ({advance['one']:.3f}). "
    else:
        text += (
            f"{advance['best']:g} RTT_TCP ahead does best ({advance['at_best']:.3f}; one: "
            f"{advance['one']:.3f}), since "
            f"the {advance['rtt']:.2f} s that clients report hold more than a warning must outrun. "
        )
    if advance["zero"] < advance["plain"]:
        text += (
            f"A warning with the outage itself is worse than none: {advance['zero']:.3f} against "
            f"{advance['plain']:.3f}. "
        )
    text += (
        f"Under sensing it pays at {_listed(sensing['pays']) or 'no duration'}"
        f" and costs at {_listed(sensing['costs']) or 'none'}: each silence, however short, is bought with "
        "an idle round "
        f"trip of {sensing['rtt']:.2f} s."
    )
    return text


def _beyond(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Tell of what the paper did not ask: rivals, errors, stacks, the burst, a journey."""
    flows = facts["trains-f6"]
    errors, fair, scale, burst, journey = (facts[f"trains-x{number}"] for number in (1, 2, 3, 4, 5))
    rivals = dict(flows["rivals"])
    newreno, frozen = rivals.pop("NewReno"), flows["frozen"]["NewReno"]
    best = max(rivals, key=rivals.__getitem__)
    text = (
        f"Against other stacks the frozen NewReno delivers {frozen:.1%} of what the link offers, NewReno "
        "alone "
        f"{newreno:.1%}, the best of the others without a freeze, {best}, {rivals[best]:.1%}"
    )
    above = flows["above_frozen_newreno"]
    text += f"; shown to be above it: {_listed(above)}. " if above else "; none is shown to be above it. "
    text += (
        f"Of delayed acknowledgements DelAck (d = 2) comes to {rivals['DelAck, d = 2']:.1%} and TCP-ADA to "
        f"{rivals['TCP-ADA']:.1%}; ATCP to {rivals['ATCP, with ICMP and ECN']:.1%} with ICMP and ECN and to "
        f"{rivals['ATCP, without']:.1%} without, when nothing ever reduces its window; {REPORTED}, which is "
        "told of "
        f"outages and not stopped, to {rivals[REPORTED]:.1%}. "
    )
    even = errors["break_even"]
    if even >= errors["most"]:
        text += f"Predicted times may err by more than {errors['most']:g} s before freezing stops to pay"
    else:
        text += (
            f"Freezing stops to pay where the predicted times err by {even:.2f} s [{errors['low']:.2f}, "
            f"{errors['high']:.2f}] (standard deviation; RTT_TCP is {errors['rtt']:.2f} s)"
        )
    if errors["ahead"] > even:
        far = f"over {errors['most']:g}" if errors["ahead"] >= errors["most"] else f"{errors['ahead']:.2f}"
        text += f", {far} s when warned {errors['advance']:g} RTT_TCP ahead"
    text += "; lost triggers only dilute it. " if errors["loss"] >= errors["most_loss"] else ". "
    text += (
        f"With RTTs of 180 to {fair['longest']:.0f} ms and one warning for all, Jain's index is "
        f"{fair['with']:.3f} instead "
        f"of {fair['without']:.3f}. Window scaling does not matter; a source that heeds no shrunk window has "
        f"{scale['deaf_timeouts']:.1f} timeouts an outage all the same, and one that restarts after idle "
        "resumes at "
        f"{scale['restarts']:.0%} of its window if all was acknowledged before the outage. Pacing the resume "
        "lowers the drops after an outage from "
        f"{burst['drops']:.1f} to {burst['paced']:.1f}"
    )
    gained = {"holds": "raises", "differs": "lowers", "unclear": "is not shown to change"}[
        burst["use_verdict"]
    ]
    text += f" and {gained} what is delivered ({100 * burst['use']:+.1f} points"
    later = {"holds": "raises", "differs": "lowers", "unclear": "is not shown to change"}[
        burst["later_verdict"]
    ]
    text += (
        f"; warned 1.5 RTT_TCP ahead, so that hardly a tail is lost, it {later} it, "
        f"{100 * burst['later_use']:+.1f} "
        "points). "
    )
    return text + (
        f"On a journey with {journey['outages']:.0f} outages managers change goodput by "
        f"{journey['oracle']:+.1%} with an "
        f"oracle, {journey['gain']:+.1%} with a map of earlier journeys, and {journey['signal']:+.1%} by the "
        "signal's "
        "strength."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
