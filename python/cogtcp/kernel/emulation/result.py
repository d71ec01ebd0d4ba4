"""The result of an emulation: like a simulation's, with the quality of its timing."""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cogtcp.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.kernel.emulation.virtual.kernels import Kernel
    from cogtcp.model.scenario import Scenario


class Emulation(Result):
    """One run on the TCP of a Linux kernel: the tables of a simulation, and `emulation` beside them.

    Columns say the same as in a simulation. What a kernel does not tell is empty: `budget`, and what
    docs/emulation.md lists.
    """

    plane = "kernel"

    def __init__(self, scenario: Scenario, core: Any, kernel: Kernel | None = None) -> None:
        super().__init__(scenario, core)
        self.timing: dict[str, Any] = self.rows("emulation")[0]
        #: The kernel that ran in virtual time; None: the machine's own, under a real clock.
        self.kernel = kernel

    @cached_property
    def digest(self) -> str:
        """Hash of all tables in virtual time; else nothing: no two runs under a real clock are equal."""
        if self.kernel is None:
            return ""
        content = hashlib.sha256()
        for name, _, rows, columns in self._core.tables:
            content.update(f"{name} {rows} {[column[:4] for column in columns]!r}".encode())
            for column in columns:
                content.update(memoryview(column[4]))
                content.update(repr(column[5]).encode())
        return content.hexdigest()[:16]

    @property
    def is_evidence(self) -> bool:
        """Whether the run kept its times. One that fell behind shows the machine and not the protocol."""
        return bool(self.timing["evidence"])

    @property
    def doubt(self) -> str:
        """Why it is no evidence; empty if it is."""
        return str(self.timing["reasons"])

    @property
    def notes(self) -> list[str]:
        """What is unlike the scenario."""
        return [note for note in str(self.timing["notes"]).split("; ") if note]

    @property
    def exit_code(self) -> int | None:
        """Exit code of the command that ran, if one did."""
        code = self.timing["exit_code"]
        return None if math.isnan(code) else int(code)

    @property
    def about_plane(self) -> str:
        """The plane, its kernel, and how true the timing was, in a sentence."""
        timing = self.timing
        late, floor = (
            ", ".join(
                f"{name} {timing[f'{what}_{column}_s'] * 1e6:,.0f} us"
                for name, column in (("median", "p50"), ("99 %", "p99"), ("greatest", "max"))
            )
            for what in ("lateness", "floor")
        )
        kept = (
            "no packet left the link"
            if timing["departures"] == 0
            else f"packets left the link late by {late}"
        )
        if self.kernel is not None:
            return f"Linux {timing['kernel']} ({self.kernel.name}), in virtual time: {kept}."
        return f"Linux {timing['kernel']}, under a real clock: {kept}; a bare timer: {floor}."

    @property
    def provenance(self) -> dict[str, str]:
        """Where the result comes from, as the Parquet files carry it."""
        return {
            **super().provenance,
            "plane": self.plane,
            "kernel": str(self.timing["kernel"]),
            "evidence": "yes" if self.is_evidence else "no",
            "clock": "real" if self.kernel is None else "virtual",
            **{f"kernel_{name}": value for name, value in self._identity.items()},
        }

    @property
    def _identity(self) -> dict[str, str]:
        return {} if self.kernel is None else self.kernel.identity

    def _plain_data(self, totals: Sequence[str]) -> dict[str, Any]:
        from cogtcp.model.result import plain

        return {
            **super()._plain_data(totals),
            "plane": self.plane,
            "emulation": plain(self.timing),
            "kernel": self._identity,
        }

    def __repr__(self) -> str:
        kept = "" if self.is_evidence else ", no evidence"
        return f"<cogtcp.emulation.Emulation {self.scenario.name!r}, seed {self.seed}{kept}>"
