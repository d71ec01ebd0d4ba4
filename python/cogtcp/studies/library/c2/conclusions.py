"""What follows from the claims, in two paragraphs written around their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies import Claim


def conclusions(claims: Sequence[Claim]) -> list[str]:
    """Return the paragraphs at the head of the page."""
    facts = {claim.row.id: claim.result.facts for claim in claims}
    verdict = {claim.row.id: claim.result.verdict for claim in claims}
    use, compare, grid, table = (facts[key] for key in ("c2-f4a", "c2-f4b", "c2-f4c", "c2-t1"))
    newreno, cubic = compare["rate_newreno"], compare["rate_cubic"]
    lead = compare["rate"] / newreno
    paper = [name for name in ("c2-f4a", "c2-f4b", "c2-f4c", "c2-t1") if verdict[name] == "holds"]
    against_cubic = compare["rate"] / cubic - 1
    first = (
        f"Where silences destroy packets, C2 delivers {lead:.2f} times what NewReno does and "
        f"{abs(against_cubic):.0%} {'more' if against_cubic > 0 else 'less'} than CUBIC, with a queue of "
        f"{compare['delay_ms']:.0f} ms instead of {compare['delay_cubic']:.0f} ms: the idea, to go to the "
        "measured share at "
        "once after every interruption instead of growing towards it, "
        f"{'works' if lead > 1 else 'does not pay'}. The size of the gain is another matter: of the paper's "
        "four claims on C2, with all that it says in numbers, "
        f"{', '.join(paper) if paper else 'none'} can be shown over all that it leaves open. "
        + (
            "What C2 lacks is a better timer, which it leaves as it is: it"
            if use["settled"] - use["use"] > 0.05
            else "The timer costs C2 little: it"
        )
        + f" uses {use['use']:.0%} of the capacity in Fig. 4a, {use['settled']:.0%} once settled, and half "
        "of the "
        f"rate comes {use['resume_s']:.1f} s after a silence has ended. Over the grid of Fig. 4c its use "
        "runs from "
        f"{grid['worst']:.0%} to {grid['best']:.0%}. With held packets a CUBIC of today (SACK, F-RTO) "
        "delivers "
        f"{compare['hold_linux']:.1f} Mbit/s and C2 {compare['hold_c2']:.1f}."
    )
    rivals, wrong, acks, handoff = (facts[key] for key in ("c2-x1", "c2-x2", "c2-x3", "c2-x4"))
    taken = table["taken_100"]
    second = (
        "C2's estimates carry the design, and each of them can fail. Beside NewReno it takes "
        f"{table['share_100']:.0%} of "
        f"what both get at 100 ms and {table['share_180']:.0%} at 180 ms; NewReno "
        f"{'loses' if taken > 0 else 'gains'} {abs(taken):.0%} against what it has beside its own kind at "
        "100 ms. Beside CUBIC "
        f"C2's share is {rivals['share_cubic']:.0%}, beside BBR {rivals['share_bbr']:.0%}. Where one of "
        "four flows "
        f"begins with a wrong N, Jain's index is {wrong['jain']:.2f} at worst (N = {wrong['worst']}), "
        "instead of "
        f"{wrong['right']:.2f} with the right one. An upload "
        f"on the same channel leaves C2 {acks['upload']:.0%} of its throughput (CUBIC "
        f"{acks['upload_cubic']:.0%}), and {acks['switched_off']:.0%} if it neither read saturation from the "
        "RTT nor N from its throughput; "
        f"delayed ACKs leave {acks['delayed']:.0%}. And after a handoff without a timeout to a channel of "
        "1 Mbit/s, at an RTT of "
        f"{handoff['rtt']} ms, C2 uses {handoff['slow']:.0%} of it where NewReno uses "
        f"{handoff['slow_newreno']:.0%}: the least "
        "RTT that it remembers belongs to another channel."
    )
    return [first, second]
