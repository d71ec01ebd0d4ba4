"""What the lab can start from: shipped scenarios, starters, scenarios of the studies with their claims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cogtcp import _core
from cogtcp._shipped import shipped
from cogtcp.lab.controls import Control, controls_of
from cogtcp.scenario import Scenario
from cogtcp.studies.folder import list_studies


@dataclass(frozen=True)
class Preset:
    """A scenario to start from.

    Attributes:
        name: What the page calls it.
        group: Under which heading.
        file: Its file, or None for a starter.
        claims: What a paper claims about it: id and text.
    """

    name: str
    group: str
    file: Path | None = None
    claims: tuple[tuple[str, str], ...] = ()

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario itself, read when it is first asked for."""
        if self.file is None:
            return Scenario.from_toml(_core.starter(self.name), file=self.name)
        return Scenario.from_file(self.file)

    @cached_property
    def controls(self) -> dict[str, Control]:
        """What of it can be changed."""
        return controls_of(self.scenario)

    def to_dict(self) -> dict[str, Any]:
        """Return the preset for the page."""
        flows = self.scenario.to_dict()["flow"]
        transport = next((f["transport"] for f in flows if isinstance(f["transport"], str)), "newreno")
        return {
            "description": self.scenario.description,
            "seed": self.scenario.seed,
            "transport": transport,
            "claims": self.claims,
            "controls": [control.to_dict() for control in self.controls.values()],
        }


def presets(file: str | None) -> dict[str, Preset]:
    """Return what can be started from, by name; the given file first."""
    found: list[Preset] = []
    if file is not None:
        found.append(Preset(Path(file).stem, "Yours", Path(file)))
    found += [Preset(name, "Scenarios", path) for name, path in shipped().items()]
    found += [Preset(name, "Starters") for name, _ in _core.starters()]
    for study in list_studies():
        claims = tuple((claim.id, claim.claim) for claim in study.claims)
        for path in sorted((study.folder / "scenarios").glob("*.toml")):
            found.append(Preset(f"{study.name}: {path.stem}", f"Study {study.name}", path, claims))
    by_name: dict[str, Preset] = {}
    for preset in found:
        by_name.setdefault(preset.name, preset)
    return by_name
