"""What a validation came to: cases, lines of the table, and what to say of them."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.validation.departures import explaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cogtcp.model.statistics import Interval

HEADINGS = ("Case", "Metric", "Peer's", "Ours", "Ours / peer's", "Band", "Verdict")

#: A difference that needs a cause, however wide the band.
_NEAR = 0.05

#: What a table calls a metric, and by what it is multiplied there.
METRICS = {
    "goodput_bps": ("Goodput, Mbit/s", 1e-6),
    "packets_per_s": ("Packets/s", 1.0),
    "wait_s": ("Wait, ms", 1e3),
    "delay_s": ("Delay, ms", 1e3),
    "rtt_mean_s": ("RTT, mean, ms", 1e3),
    "retransmitted": ("Retransmitted, %", 100.0),
    "utilisation": ("Utilisation, %", 100.0),
    "marked": ("Marked, %", 100.0),
    "dropped": ("Dropped, %", 100.0),
    "share": ("Share, %", 100.0),
    "detected": ("P_d, %", 100.0),
    "false_alarms": ("P_f, %", 100.0),
    "ratio": ("Ratio", 1.0),
    "queue_packets": ("Queue, packets", 1.0),
    "cwnd": ("Window, packets", 1.0),
    "hops": ("Hops", 1.0),
    "requests": ("Requests", 1.0),
    "missed": ("Missed, %", 100.0),
    "error_s": ("Error, ms", 1e3),
}


@dataclass(frozen=True)
class Case:
    """A drawn case.

    Attributes:
        family: What kind it is, see docs/validation.md.
        number: Its number within the family, from 1.
        drawn: What the seed drew, by name, in SI units.
        told: What the seed drew, in words.
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
    def span(self) -> tuple[float, float]:
        """Return the least and greatest ratio that the runs allow."""
        # One run has no interval: its ratio decides alone.
        return (self.ratio.low, self.ratio.high) if self.ratio.n > 1 else (self.ratio.mean, self.ratio.mean)

    @property
    def verdict(self) -> str:
        """Return `within`: the interval of the ratio lies in the band; `beyond`: outside; else `unclear`."""
        low, high = self.span
        if 1 - self.band <= low and high <= 1 + self.band:
            return "within"
        return "beyond" if low > 1 + self.band or high < 1 - self.band else "unclear"

    @property
    def needs_cause(self) -> bool:
        """Return whether it lies beyond its band, or its mean more than 5 % from 1."""
        return self.verdict == "beyond" or abs(self.ratio.mean - 1) > _NEAR

    @property
    def causes(self) -> list[str]:
        """Return the ids of the departures that bear on it, if its mean lies outside its band or 5 %."""
        if abs(self.ratio.mean - 1) <= min(self.band, _NEAR):
            return []
        found = explaining(self.case.family, self.case.drawn, self.measure, self.span)
        return [entry.id for entry in found]


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
        """Return the lines that need a cause and on which no known departure bears."""
        return [line for line in self.lines if line.needs_cause and not line.causes]

    @property
    def answer(self) -> str:
        """Return the finding in a sentence or two."""
        if not self.lines:
            return "Nothing was compared."
        said = f"{self.count('within')} of {len(self.lines)} numbers lie within their bands"
        said += f", {self.count('beyond')} beyond, {self.count('unclear')} unclear (more runs needed)."
        if lost := len(self.unexplained):
            said += f" {lost} {'differs' if lost == 1 else 'differ'} without a known cause."
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "seed": self.seed,
            "interrupted": self.interrupted,
            "absent": self.absent,
            "failed": self.failed,
            "answer": self.answer,
            "families": [asdict(row) for row in summary(self)],
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


@dataclass(frozen=True)
class FamilyRow:
    """One metric of a family over its cases.

    Attributes:
        family: The family.
        peer: Who it is compared with.
        measure: The metric.
        cases: How many were compared.
        median: Median of the ratios, ours over the peer's.
        least: Least ratio.
        greatest: Greatest ratio.
        within_3: Share of the cases whose ratio lies within 3 % of 1.
        within_5: Share of the cases whose ratio lies within 5 % of 1.
        beyond: Cases outside the band.
        unexplained: Cases outside the band, or with a ratio more than 5 % from 1, without a known departure.
    """

    family: str
    peer: str
    measure: str
    cases: int
    median: float
    least: float
    greatest: float
    within_3: float
    within_5: float
    beyond: int
    unexplained: int


def summary(result: Validation) -> list[FamilyRow]:
    """Return a row for each family and metric, in the order of the run."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in result.lines:
        groups.setdefault((line.case.family, line.peer, line.measure), []).append(line)
    rows = []
    for (family, peer, measure), lines in groups.items():
        ratios = [line.ratio.mean for line in lines]
        within_3, within_5 = (
            sum(abs(ratio - 1) <= band for ratio in ratios) / len(ratios) for band in (0.03, _NEAR)
        )
        beyond = [line for line in lines if line.verdict == "beyond"]
        lost = sum(line.needs_cause and not line.causes for line in lines)
        spread = (len(lines), statistics.median(ratios), min(ratios), max(ratios))
        rows.append(FamilyRow(family, peer, measure, *spread, within_3, within_5, len(beyond), lost))
    return rows


#: Headings of `summary_cells`.
SUMMARY = (
    "Family",
    "Peer",
    "Metric",
    "Cases",
    "Median",
    "Range",
    "In 3 %",
    "In 5 %",
    "Beyond",
    "Unexplained",
)


def summary_cells(row: FamilyRow) -> list[str]:
    """Return a row as text, by `SUMMARY`."""
    ratios = [f"{row.median:.3f}", f"{row.least:.3f} to {row.greatest:.3f}"]
    shares = [f"{100 * value:.0f} %" for value in (row.within_3, row.within_5)]
    name = METRICS[row.measure][0].partition(",")[0]
    ends = [str(row.beyond), str(row.unexplained)]
    return [row.family, row.peer, name, str(row.cases), *ratios, *shares, *ends]


def cells(line: Line) -> list[str]:
    """Return a line as text, by `HEADINGS`."""
    ratio, (title, scale) = line.ratio, METRICS[line.measure]
    text = f"{ratio.mean:.3f}" + (f" ({ratio.low:.3f} to {ratio.high:.3f})" if ratio.n > 1 else "")
    values = [f"{scale * value.mean:.4g}" for value in (line.theirs, line.ours)]
    return [
        f"{line.case.family} {line.case.number}",
        title,
        *values,
        text,
        f"{100 * line.band:.0f} %",
        line.verdict,
    ]


def to_markdown(result: Validation) -> str:
    """Return it as a page: a table with the cases in words and the causes."""
    headings = ["Case", "Drawn", "Peer", *HEADINGS[1:], "Known causes"]
    lines = [f"Cases of seed {result.seed}.", "", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|"]
    for line in result.lines:
        name, *rest = cells(line)
        causes = ", ".join(line.causes)
        lines.append(f"| {' | '.join([name, line.case.told, line.peer, *rest, causes])} |")
    lines += ["", f"| {' | '.join(SUMMARY)} |", "|---" * len(SUMMARY) + "|"]
    lines += [f"| {' | '.join(summary_cells(row))} |" for row in summary(result)]
    lines += ["", result.answer]
    lines += [f"Not compared with {peer}: {reason}" for peer, reason in result.absent.items()]
    lines += [f"No evidence: {reason}" for reason in result.failed]
    return "\n".join(lines) + "\n"
