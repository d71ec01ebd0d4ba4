"""What follows from the claims, in two paragraphs written around their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .settings import NAMES, OPTIMUM, VEGAS
from .testing import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cogtcp.studies import Claim

Facts = dict[str, Any]


def conclusions(claims: Sequence[Claim]) -> list[str]:
    """Return the paragraphs at the head of the page: on the sensing cycle, and on TCP over it."""
    facts = {claim.row.id.removeprefix("mswim09-"): dict(claim.result.facts) for claim in claims}
    verdicts = {claim.row.id.removeprefix("mswim09-"): claim.result.verdict for claim in claims}
    return [_cycle(facts["f2"], facts["x1"]), _transport(facts, verdicts)]


def _cycle(surface: Facts, dominance: Facts) -> str:
    by_snr = surface["by_snr"]
    clear, noisy = max(by_snr), min(by_snr)
    base = surface["best"]["as in the scenario"]
    loss = surface["loss"]
    at, time, errors = dominance["at_best"]
    text = (
        "Where the optimum of the sensing cycle lies is decided by the SNR, which the paper does not state. "
        f"NewReno does best at {_place(by_snr[clear])} with {clear:g} dB, at {_place(base)} with the "
        f"scenario's -20 dB and at {_place(by_snr[noisy])} with {noisy:g} dB; the stated t_s {OPTIMUM[0]:g} "
        f"s, T_p {OPTIMUM[1]:g} s {'costs' if loss > 0 else 'gains'} {abs(loss):.0%} against the best at -20 "
        "dB"
    )
    near = [snr for snr, lost in surface["loss_by_snr"].items() if lost < _LITTLE]
    text += f", and less than {_LITTLE:.0%} at {listed([f'{snr:g} dB' for snr in near], 'no SNR')}. "
    text += (
        f"The time that a radio has free of PUs is that of theory within {surface['error']:.3f}; of it TCP "
        f"uses {surface['used'][0]:.0%} at the best and {surface['used'][1]:.0%} at the stated place. "
    )
    alone = surface["theory"][noisy]
    if alone[0] < by_snr[noisy][0]:
        text += (
            f"Air time alone would ask for {_place(alone)} even with {noisy:g} dB: a longer t_s pays because "
            "a PU on the channel costs TCP more than its own time. "
        )
    start = dominance["from"]
    first = min(dominance["time"])
    text += (
        f"Detection errors cost {errors:.0%} and the time that sensing takes {time:.0%} where both together "
        f"cost least, at t_s {at:g} s; the time costs more "
        + ("at no t_s" if start is None else f"from {start:g} s on")
        + f" at the base, and at {dominance['time_first']} of {dominance['settings']} settings where both "
        "together cost least. "
    )
    if dominance["errors"][first] > dominance["time"][first] and start is not None:
        text += "So Slingerland et al. are right for a long t_s, and the paper's errors for a short one."
    return text


_LITTLE = 0.05


def _place(point: tuple[float, float]) -> str:
    return f"t_s {point[0]:g} s, T_p {point[1]:g} s"


def _times(t_s: Sequence[float]) -> str:
    return listed([f"{t:g}" for t in t_s], "no")


def _transport(facts: Mapping[str, Facts], verdicts: Mapping[str, str]) -> str:
    order, window, track, falls = facts["f3b"], facts["f4"], facts["f8"], facts["f7"]
    first = max(order["means"], key=lambda v: order["means"][v])
    lead = order["lead"]
    text = f"Of the variants {NAMES[first]} delivers most at the base"
    if first == VEGAS:
        text += f", where the paper has it last: {lead:+.0%} against NewReno on average"
        if order["ahead"]:
            text += f", shown at t_s of {_times(order['ahead'])} s; with a least RTO of 1 s at "
            text += f"{_times(order['ahead_slow'])} s"
        text += (
            ". A hop that two packets fill does not reward more of a window, and a silence that outlasts the "
            f"timer makes the sender repeat what waits: at {order['long']:g} s that takes "
            f"{order['wasted']['newreno']:.0%} of the time that NewReno has free, and "
            f"{order['wasted'][VEGAS]:.0%} of Vegas's. "
        )
    else:
        text += f"; Vegas has {lead:+.0%} against NewReno on average. "
    leads = order["leads"]
    text += (
        f"On average it would be {leads['F-RTO']:+.0%} with F-RTO for both, {leads['least RTO 1 s']:+.0%} "
        f"with a least RTO of 1 s, and {leads['F-RTO, and retried without limit']:+.0%} with F-RTO and "
        "frames retried without limit. "
    )
    low, high = min(window["step"]), max(window["step"])
    text += (
        f"Timeouts grow most with t_s between {window['step'][low][0]:g} and {window['step'][low][1]:g} s if "
        f"the least RTO is {low:g} s, and between {window['step'][high][0]:g} and "
        f"{window['step'][high][1]:g} s if it is {high:g} s"
    )
    if window["step"][high][0] > window["step"][low][0]:
        text += ": a threshold in t_s is in part one of ns-2's timer"
    text += ". "
    fall = falls["efficiency"]["newreno"][-1] / falls["efficiency"]["newreno"][0] - 1
    mac = falls["ceiling"][-1] / falls["ceiling"][0] - 1
    text += (
        f"Unequal channels change the efficiency of NewReno by {fall:+.0%} from M {falls['m'][0]:g} to "
        f"{falls['m'][-1]:g}; the MAC's overhead alone, which is no fault of TCP, makes {mac:+.0%}. cwnd has "
        f"little to track (correlation {track['correlation']:.2f}): a window of two has "
        f"{track['enough']:.0%} of the throughput of one of 20. "
    )
    held = [f"mswim09-{name}" for name, found in verdicts.items() if found == "holds"]
    differs = [f"mswim09-{name}" for name, found in verdicts.items() if found == "differs"]
    return text + (
        f"Over all that the paper leaves unsaid hold: {listed(held)}; differ: {listed(differs)}; the others "
        "depend on it, as their tables show."
    )
