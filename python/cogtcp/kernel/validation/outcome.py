"""What a validation came to: cases, lines of the table, and what to say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.validation.departures import explaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.model.statistics import Interval

HEADINGS = ("Case", "Metric", "Peer's", "Ours", "Ours / peer's", "Band", "Verdict")

#: What a table calls a metric, and by what it is multiplied there.
METRICS = {
    "goodput_bps": ("Goodput, Mbit/s", 1e-6),
    "packets_per_s": ("Packets/s", 1.0),
    "wait_s": ("Wait, ms", 1e3),
    "delay_s": ("Delay, ms", 1e3),
    "rtt_mean_s": ("RTT, mean, ms", 1e3),
    "retransmitted": ("Retransmitted, %", 100.0),
}


@dataclass(frozen=True)
class Case:
    """A drawn case.

    Attributes:
        family: What kind it is, see docs/validation.md.
        number: Its number within the family, from 1.
        drawn: What the seed drew, by name, in SI units.
        told: The same in words.
    """

    family: str
    number: int
    drawn: Mapping[str, Any]
    told: str


@dataclass(frozen=True)
class Line:
    """One metric of a case, here and in a peer.

    Attributes:
        case: The case.
        peer: Who it is compared with.
        measure: The metric, with its unit in its name.
        theirs: The peer's value: the mean over the runs.
        ours: Ours likewise.
        ratio: Ours over the peer's, with its 95 % interval over the runs.
        band: The share by which ours may differ.
    """

    case: Case
    peer: str
    measure: str
    theirs: Interval
    ours: Interval
    ratio: Interval
    band: float

    @property
    def verdict(self) -> str:
        """Return `within`: the interval of the ratio lies in the band; `beyond`: outside; else `unclear`."""
        low, high = (
            # One run has no interval: its ratio decides alone.
            (self.ratio.low, self.ratio.high) if self.ratio.n > 1 else (self.ratio.mean, self.ratio.mean)
        )
        if 1 - self.band <= low and high <= 1 + self.band:
            return "within"
        return "beyond" if low > 1 + self.band or high < 1 - self.band else "unclear"

    @property
    def causes(self) -> list[str]:
        """Return the ids of the departures that bear on it, unless it lies within its band."""
        if self.verdict == "within":
            return []
        return [entry.id for entry in explaining(self.case.family, self.case.drawn, self.measure)]


@dataclass
class Validation:
    """All that ran.

    Attributes:
        seed: The seed that drew the cases.
        lines: What was compared.
        absent: Peers that are not here, with the reason.
        failed: Runs of a peer that gave no evidence, with the reason.
        interrupted: Whether Ctrl-C ended it before all had run.
    """

    seed: int
    lines: list[Line] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    interrupted: bool = False

    def count(self, verdict: str) -> int:
        """Return how many lines have this verdict."""
        return sum(line.verdict == verdict for line in self.lines)

    @property
    def unexplained(self) -> list[Line]:
        """Return the lines beyond their bands on which no known departure bears."""
        return [line for line in self.lines if line.verdict == "beyond" and not line.causes]

    @property
    def answer(self) -> str:
        """Return the finding in a sentence or two."""
        if not self.lines:
            return "Nothing was compared."
        said = f"{self.count('within')} of {len(self.lines)} numbers lie within their bands"
        said += f", {self.count('beyond')} beyond, {self.count('unclear')} unclear (more runs needed)."
        if lost := len(self.unexplained):
            one = lost == 1
            said += f" {lost} beyond {'its band has' if one else 'their bands have'} no known cause."
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "seed": self.seed,
            "interrupted": self.interrupted,
            "absent": self.absent,
            "failed": self.failed,
            "answer": self.answer,
            "lines": [
                {
                    "family": line.case.family,
                    "case": line.case.number,
                    "drawn": dict(line.case.drawn),
                    "peer": line.peer,
                    "measure": line.measure,
                    "theirs": line.theirs.mean,
                    "ours": line.ours.mean,
                    "ratio": {"mean": line.ratio.mean, "low": line.ratio.low, "high": line.ratio.high},
                    "runs": line.ratio.n,
                    "band": line.band,
                    "verdict": line.verdict,
                    "causes": line.causes,
                }
                for line in self.lines
            ],
        }


def cells(line: Line) -> list[str]:
    """Return a line as text, by `HEADINGS`."""
    ratio, (title, scale) = line.ratio, METRICS[line.measure]
    text = f"{ratio.mean:.3f}" + (f" ({ratio.low:.3f} to {ratio.high:.3f})" if ratio.n > 1 else "")
    values = [f"{scale * value.mean:.4g}" for value in (line.theirs, line.ours)]
    return [f"{line.case.family} {line.case.number}", title, *values, text, f"{line.band:.0%}", line.verdict]


def to_markdown(result: Validation) -> str:
    """Return it as a page: a table with the cases in words and the causes."""
    headings = ["Case", "Drawn", "Peer", *HEADINGS[1:], "Known causes"]
    lines = [f"Cases of seed {result.seed}.", "", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    for line in result.lines:
        name, *rest = cells(line)
        causes = ", ".join(line.causes)
        lines.append(f"| {' | '.join([name, line.case.told, line.peer, *rest, causes])} |")
    lines += ["", result.answer]
    lines += [f"Not compared with {peer}: {reason}" for peer, reason in result.absent.items()]
    lines += [f"No evidence: {reason}" for reason in result.failed]
    return "\n".join(lines) + "\n"
