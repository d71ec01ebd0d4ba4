"""A claim over the range of what the paper leaves unsaid: its parts, its verdict, and how it is told.

A claim has parts, all of which must hold, and is tested under several settings. What was measured under a
setting is whatever the study's tests want of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from cogtcp.studies import Measured, verdicts
from cogtcp.studies.exhibits import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cogtcp.studies.exhibits import Figure
    from cogtcp.studies.verdicts import Finding, Verdict


class _Named(Protocol):
    @property
    def name(self) -> str: ...


SettingT = TypeVar("SettingT", bound=_Named)
GridT = TypeVar("GridT")


@dataclass(frozen=True)
class Tested(Generic[SettingT, GridT]):
    """The parts of a claim under every setting.

    Attributes:
        grids: What was measured, by setting; the scenario's own, the base, comes first.
        parts: What the test of each part found, by setting and by what the part says.
        shown: Settings beside the range, without a say in the verdict.
        draws: How many seeds there are and what each draws, for the text of the test.
    """

    grids: Mapping[SettingT, GridT]
    parts: Mapping[SettingT, Mapping[str, Finding]]
    shown: Collection[SettingT] = ()
    draws: str = ""

    @property
    def base(self) -> GridT:
        """What was measured at the base."""
        return next(iter(self.grids.values()))

    @property
    def base_parts(self) -> Mapping[str, Finding]:
        """What each part came to at the base."""
        return self.parts[next(iter(self.grids))]

    @property
    def in_range(self) -> list[SettingT]:
        """Settings that the verdict is about."""
        return [setting for setting in self.grids if setting not in self.shown]

    def verdict_at(self, setting: SettingT) -> Verdict:
        """Return what the claim comes to under a setting: all of its parts must hold."""
        return verdicts.combine([finding.verdict for finding in self.parts[setting].values()])

    @property
    def verdict(self) -> Verdict:
        """The verdict over the range."""
        return verdicts.over_range([self.verdict_at(setting) for setting in self.in_range])

    @property
    def weakest(self) -> Finding:
        """The part that decides at the base: the first that differs, else that is unclear, else the first."""
        ranked = ("differs", "unclear", "holds")
        return min(self.base_parts.values(), key=lambda finding: ranked.index(finding.verdict))

    def spread(self) -> str:
        """Say at how many settings of the range each part came out how; name the few exceptions."""
        told = []
        for part in self.base_parts:
            found = {setting: self.parts[setting][part].verdict for setting in self.in_range}
            came = list(found.values())
            text = (
                f"{part}: holds at {came.count('holds')}, differs at {came.count('differs')} of {len(came)}"
            )
            most = "differs" if came.count("differs") > came.count("holds") else "holds"
            others = [setting.name for setting, verdict in found.items() if verdict != most]
            if 0 < len(others) <= len(came) // 3:
                text += f" (not: {', '.join(others)})"
            told.append(text)
        return "; ".join(told)

    def table(self, caption: str) -> Table:
        """Return the sensitivity to what the paper leaves unsaid."""
        return Table(
            title="What the paper leaves unsaid",
            header=["setting", "counts", "claim", *self.base_parts],
            rows=[
                [
                    setting.name,
                    "shown" if setting in self.shown else "verdict",
                    self.verdict_at(setting),
                    *(_short(self.parts[setting][part]) for part in self.base_parts),
                ]
                for setting in self.grids
            ],
            caption=f"{caption} The verdict asks for the same answer at every setting marked verdict.",
        )

    def measured(
        self,
        *,
        measured: str,
        test: str,
        why: str,
        caption: str = "Estimate and 95 % interval of what each part tests.",
        figures: Sequence[Figure] = (),
        tables: Sequence[Table] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> Measured:
        """Return the row of the claim; its interval is that of the weakest part at the base.

        Args:
            measured: What was measured at the base.
            test: The test of a part.
            why: What the data show; how the parts fare over the range is added.
            caption: What the numbers in the table of the settings are.
            figures: The paper's figures, redrawn.
            tables: Tables before that of the settings.
            facts: Numbers for the conclusions.
        """
        decides = self.weakest
        return Measured(
            verdict=self.verdict,
            measured=measured,
            ci=(decides.low, decides.high),
            test=(
                f"{test} {self.draws} All parts must hold, with the same answer at each of "
                f"{len(self.in_range)} settings of what the paper leaves unsaid. The interval is that of the "
                "part that decides at the base."
            ),
            why=f"{why.rstrip()} Over the range: {self.spread()}.",
            figures=figures,
            tables=[*tables, self.table(caption)],
            facts=facts or {},
            settings={setting.name: self.verdict_at(setting) for setting in self.in_range},
        )


def _short(finding: Finding) -> str:
    interval = _two(finding.estimate)
    if not math.isnan(finding.low):
        interval += f" [{_two(finding.low)}, {_two(finding.high)}]"
    return f"{interval} {finding.verdict}"


def _two(value: float) -> str:
    """Return two decimals, and no minus before a zero."""
    return f"{round(value, 2) + 0.0:.2f}"
