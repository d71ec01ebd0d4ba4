"""What the lab can start from: shipped scenarios, starters, scenarios and claims of the studies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._shipped import locate, shipped
from cogtcp.lab.controls import Control, controls_of
from cogtcp.model.scenario import Scenario
from cogtcp.studies import readings
from cogtcp.studies.folder import list_studies
from cogtcp.studies.showing import claim_presets, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp.studies.claims import ClaimRow
    from cogtcp.studies.folder import Study
    from cogtcp.studies.showing import Shown
    from cogtcp.studies.space import Setting

#: Said of a claim under the reading that reproduces it best.
BEST_SAID = "Parameters that the paper does not give have the best values found for the claim."
#: In place of a transport: each flow has the one that the scenario gives it.
AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Preset:
    """A scenario to start from.

    Attributes:
        name: What the page calls it.
        group: Under which heading.
        file: Its file, or None for a starter.
        claims: What a paper claims about it: id and text.
        shows: The study and the claim whose own settings these are: "see chain-f7a happen".
        setting: What is taken for what the paper of `shows` leaves unsaid; None: the base of the study.
    """

    name: str
    group: str
    file: Path | None = None
    claims: tuple[tuple[str, str], ...] = ()
    shows: tuple[Study, ClaimRow] | None = None
    setting: Setting | None = None

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario itself, read when it is first asked for."""
        if self._shown is not None:
            return self._shown.scenario
        if self.file is None:
            return Scenario.from_toml(_core.starter(self.name), file=self.name)
        return Scenario.from_file(self.file)

    @cached_property
    def _shown(self) -> Shown | None:
        return None if self.shows is None else show(*self.shows, self.setting)

    @cached_property
    def controls(self) -> dict[str, Control]:
        """What of it can be changed."""
        return controls_of(self.scenario)

    def to_dict(self) -> dict[str, Any]:
        """Return the preset for the page."""
        return {
            "name": self.name,
            "group": self.group,
            "about": self._description(),
            "text": self._text(),
            "files": self._files(),
            "transports": self._transports(),
            "claims": self.claims,
        }

    def _text(self) -> str:
        """Return the scenario's text: its author's where there is one."""
        if self.file is not None:
            return self.file.read_text(encoding="utf-8")
        return self.scenario.to_toml() if self.shows else _core.starter(self.name)

    def _files(self) -> dict[str, str]:
        """Return the texts of the files that the scenario names, by the name that it gives them."""
        core = self.scenario._core
        folder = Path(core.source).parent
        found = {}
        for path in core.files():
            name = path.relative_to(folder) if path.is_relative_to(folder) else path
            found[name.as_posix()] = path.read_text(encoding="utf-8")
        return found

    def _transports(self) -> list[str]:
        """Return what is shown at first: what a claim compares, or its own; else two more."""
        flows = self.scenario.to_dict()["flow"]
        own = list(dict.fromkeys(f["transport"] for f in flows if isinstance(f["transport"], str)))
        if self._shown is None:
            return list(dict.fromkeys([next(iter(own), "linux-cubic"), "linux-bbr", "sack"]))[:3]
        known = {name for name, _ in _core.transports()}
        compared = [name for name in self._shown.transports if name in known]
        # Transports that share the link are seen together, or it is not the claim.
        return compared or (own if len(own) == 1 else [AS_IT_IS])

    def _description(self) -> str:
        if self.shows is None or self._shown is None:
            return self.scenario.description
        _, claim = self.shows
        axes = (f"{name} {', '.join(map(str, values))}" for name, values in self._shown.varies.items())
        varied = "; ".join(axes)
        said = f"{claim.figure}: {claim.claim}" + (f" Its points: {varied}." if varied else "")
        return said if self.setting is None else f"{said} {BEST_SAID}"


def presets(file: str | None) -> dict[str, Preset]:
    """Return what can be started from, by name; the given file first."""
    found: list[Preset] = []
    if file is not None:
        found.append(Preset(Path(file).stem, "Yours", locate(file)))
    found += [Preset(name, "Scenarios", path) for name, path in shipped().items()]
    found += [Preset(name, "Starters") for name, _ in _core.starters()]
    for study in list_studies():
        claims = tuple((claim.id, claim.claim) for claim in study.claims)
        for path in sorted((study.folder / "scenarios").glob("*.toml")):
            found.append(Preset(f"{study.name}: {path.stem}", f"Study {study.name}", path, claims))
        found += _of_claims(study)
    by_name: dict[str, Preset] = {}
    for preset in found:
        # The user's own file comes first, and keeps its name against a shipped one.
        by_name.setdefault(preset.name, preset)
    return by_name


def _of_claims(study: Study) -> Iterator[Preset]:
    """Return how claims are seen: at the base, and at the best reading where that is another."""
    kept = readings.read(study)
    for claim in study.claims:
        if not claim.points:
            continue
        base, best = claim_presets(claim.id)
        seen, shows = ((claim.id, claim.claim),), (study, claim)
        yield Preset(base, f"Study {study.name}", claims=seen, shows=shows)
        reading = kept.get(claim.id)
        if reading is not None and reading.setting != study.space.base:
            yield Preset(best, f"Study {study.name}", claims=seen, shows=shows, setting=reading.setting)
