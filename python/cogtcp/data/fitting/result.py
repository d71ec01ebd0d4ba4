"""What a fit came to: estimates, the scenario, and how it does on what was held out."""

from __future__ import annotations

import atexit
import math
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from cogtcp._views import view
from cogtcp.model.output import write_file
from cogtcp.model.result import plain
from cogtcp.model.scenario import DOUBT, RANGES_SUFFIX

if TYPE_CHECKING:
    from cogtcp.data.fitting.checking import Held
    from cogtcp.data.fitting.estimate import Estimate
    from cogtcp.data.fitting.iperf3 import Transfer
    from cogtcp.data.fitting.laws import Law
    from cogtcp.data.fitting.link import LinkFit
    from cogtcp.data.fitting.probing import ProbeFit
    from cogtcp.data.link_trace import LinkTrace
    from cogtcp.model.scenario import Scenario


#: Size of a full packet where the data show none, and headers of IPv4 and TCP with timestamps, B.
_PACKET, _HEADERS = 1500, 52
#: A goodput within this share counts as known.
_KNOWN = 0.1


@dataclass(frozen=True)
class Channel:
    """A channel of measured occupancy: its duty cycle, whole ON and OFF times, and their laws, best first."""

    band: int
    duty: float
    on: tuple[float, ...]
    off: tuple[float, ...]
    on_laws: list[Law]
    off_laws: list[Law]

    @property
    def rates(self) -> str:
        """Death and birth rate of the primary user where both times are exponential by AIC; else empty."""
        if not self.on_laws or not self.off_laws:
            return ""
        on, off = self.on_laws[0], self.off_laws[0]
        if on.name != "exponential" or off.name != "exponential":
            return ""
        return f"alpha {1 / on.mean:.4g} /s, beta {1 / off.mean:.4g} /s"


@dataclass
class Fit:
    """What `fit` found.

    Attributes:
        name: Name of the scenario.
        transport: Transport of its flows.
        sources: Files that were read, and what each is.
        notes: What was odd in the data, and what was done about it.
        estimates: Every parameter, with interval and source; unknown ones too.
        link: What a capture or probes say of the link.
        channels: What occupancy says of the primary users.
        tests: Transfers of iperf3.
        probed: What logs of probes say, each for itself.
        ranges: Uncertain fields of the scenario, for `cogtcp.advise(uncertain=...)`.
        toml: The scenario, commented.
        scenario: The scenario.
        held: How the fit does on what was held out; None without a check.
        trained: Fit of the part before; its files are needed while its scenario is.
        beside: Files that the scenario reads, by what follows its name: rates over time, occupancy.
    """

    name: str
    transport: str = "linux-cubic"
    sources: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)
    link: LinkFit | None = None
    channels: list[Channel] = field(default_factory=list)
    tests: list[Transfer] = field(default_factory=list)
    probed: list[ProbeFit] = field(default_factory=list)
    trace: LinkTrace | None = None
    trace_file: str = ""
    occupancy_file: str = ""
    threshold: float | None = None
    ranges: dict[str, str] = field(default_factory=dict)
    toml: str = ""
    held: Held | None = None
    trained: Fit | None = field(default=None, repr=False)
    scenario: Scenario = field(init=False)
    beside: dict[str, str] = field(default_factory=dict)
    _folder: Path | None = field(default=None, repr=False)

    def keep(self, suffix: str, text: str) -> str:
        """Keep a file that the scenario reads, and return its path; `write` puts it beside the scenario."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="cogtcp-fit-"))
            # The scenario may outlive the fit: its files go with the process.
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self.beside[suffix] = text
        return str(write_file(self._folder / f"{self.name}.{suffix}", text))

    @property
    def segment(self) -> int:
        """Payload of a full segment, bytes."""
        return max(1, (self.link.packet_bytes if self.link is not None else _PACKET) - _HEADERS)

    @property
    def packet_bytes(self) -> int:
        """Size of a full packet, bytes."""
        return self.link.packet_bytes if self.link is not None and self.link.flows else _PACKET

    @property
    def capacity(self) -> float:
        """The rate that stands in the scenario, bit/s."""
        found = next((e for e in self.estimates if e.name == "capacity" and e.known), None)
        return found.value if found is not None else 10e6

    @property
    def doubt(self) -> str:
        """What the scenario does not reproduce of the capture; empty if nothing is known against it."""
        return self.held.doubt if self.held is not None else ""

    @property
    def unsure(self) -> str:
        """Why another transport's goodput is not known to 10 %; empty if nothing speaks against it."""
        if self.link is None or self.held is None:
            return "no capture of a transfer was checked"
        if self.doubt:
            return "the scenario does not reproduce the capture"
        if not any(estimate.name == "capacity" and estimate.known for estimate in self.estimates):
            return "the capacity is not measured"
        silences = self.link.silences
        opened = next((each for each in self.estimates if each.name == "open" and each.known), None)
        if silences is not None and math.isnan(silences.period):
            count = len(silences.gaps)
            if opened is None:
                return "one silence does not tell how often they come"
            # Share of the time that the link is open, at both ends of the interval.
            low, high = (each / (each + silences.length) for each in (opened.low, opened.high))
            if high - low > 2 * _KNOWN * (high + low) / 2:
                spans = f"{low * 100:.0f} to {high * 100:.0f} % of the time"
                return f"{count} silences leave the link open for {spans}"
        if self.held.spread > _KNOWN:
            return f"one more run of the scenario differs by up to {self.held.spread * 100:.0f} %"
        return ""

    @property
    def known(self) -> list[Estimate]:
        """What the data tell."""
        return [estimate for estimate in self.estimates if estimate.known]

    @property
    def unknown(self) -> list[Estimate]:
        """What they cannot tell."""
        return [estimate for estimate in self.estimates if not estimate.known]

    @property
    def text(self) -> str:
        """What was found, in some lines."""
        lines = [f"{DOUBT}{self.doubt}."] if self.doubt else []
        if self.link is not None and self.link.evidence:
            lines.append(f"capture taken at the {self.link.evidence}.")
        lines += [f"{estimate.name}: {estimate.describe()}. {estimate.how}." for estimate in self.estimates]
        if self.held is not None and self.unsure:
            lines.append(f"another transport's goodput is not known to {_KNOWN * 100:.0f} %: {self.unsure}.")
        for channel in self.channels:
            lines.append(
                f"channel {channel.band}: busy {channel.duty * 100:.1f} % of the time; "
                f"ON {channel.on_laws[0].describe() if channel.on_laws else 'unknown'}; "
                f"OFF {channel.off_laws[0].describe() if channel.off_laws else 'unknown'}"
                f"{'; ' + channel.rates if channel.rates else ''}."
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return all that was found as plain data; None stands for "no value"."""
        found: dict[str, Any] = plain(
            {
                "name": self.name,
                "reproduces": None if self.held is None else not self.doubt,
                "doubt": self.doubt,
                "unsure": self.unsure,
                "side": self.link.side if self.link is not None else None,
                "sources": [{"file": name, "what": what} for name, what in self.sources],
                "notes": self.notes,
                "estimates": {estimate.name: estimate.to_dict() for estimate in self.estimates},
                "channels": [
                    {
                        "band": channel.band,
                        "duty_cycle": channel.duty,
                        "on": [law.to_dict() for law in channel.on_laws],
                        "off": [law.to_dict() for law in channel.off_laws],
                    }
                    for channel in self.channels
                ],
                "ranges": self.ranges,
                "held_out": None if self.held is None else self.held.to_dict(),
            }
        )
        return found

    def write(self, path: str | Path, *, command: str | None = None) -> list[Path]:
        """Write the scenario, the ranges of its uncertain fields and the page; return the files.

        Each file is written whole or not at all.
        """
        target = Path(path)
        toml, extra = self.toml, []
        for suffix, text in self.beside.items():
            extra.append(write_file(target.with_name(f"{target.stem}.{suffix}"), text))
            assert self._folder is not None  # noqa: S101
            here = (self._folder / f"{self.name}.{suffix}").as_posix()
            # The scenario names the file in the temporary folder: beside the scenario its name is enough.
            toml = toml.replace(f'"{here}"', f'"{target.stem}.{suffix}"')
        written = [write_file(target, toml)]
        ranges = "".join(f'"{field}" = "{text}"\n' for field, text in self.ranges.items())
        head = "# Uncertain values, for cogtcp advise: each seed draws its own.\n"
        written.append(write_file(target.with_name(target.stem + RANGES_SUFFIX), head + ranges))
        written.append(write_file(target.with_name(target.stem + ".html"), self.report(command=command)))
        return [*written, *extra]

    def report(self, *, command: str | None = None) -> str:
        """Return the page: what was found, what not, and measured beside simulated."""
        page: str = view("fit_report")(self, command=command)
        return page
