"""Scenarios: what is simulated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cogtcp import _core, _files, _shipped
from cogtcp._errors import ScenarioError
from cogtcp._views import view
from cogtcp.model.control import control_name, named_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: In the description of a fitted scenario: what follows is what the scenario does not reproduce.
DOUBT = "This scenario does not reproduce the capture: "
#: The file of ranges beside a scenario `NAME.toml` is `NAME.ranges.toml`.
RANGES_SUFFIX = ".ranges.toml"


class Scenario:
    """One experiment: a network, the radios that gate its links, the flows over it. Immutable.

    >>> scenario = Scenario.from_file("sensed-link")
    >>> shorter = scenario.set("run.duration", "10 s").set("flow.0.transport", "sack")
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Scenario) -> None:
        self._core = core

    @classmethod
    def from_file(cls, path: str | Path, *, allow_python: bool = False) -> Scenario:
        """Read a scenario file, or a shipped scenario by its name.

        Args:
            path: The file, of 4 MB at most; or the name of a shipped scenario, if no file has this name.
            allow_python: Whether congestion controls that the file names as `module:Class` may be imported,
                which runs their code: only for a file that you trust.

        Returns:
            The scenario.

        Raises:
            ScenarioError: It cannot be read, or says something wrong.
            UsageError: It is nearly the name of a shipped scenario, and no file.
        """
        return cls(_core.Scenario.read(_shipped.locate(str(path)), _allowed(allow_python)))

    @classmethod
    def shipped(cls, name: str) -> Scenario:
        """Read a scenario that comes with the package, such as `sensed-link`.

        Raises:
            UsageError: There is none of this name.
        """
        return cls.from_file(_shipped.find(name))

    @classmethod
    def from_toml(cls, text: str, *, file: str = "<text>", allow_python: bool = False) -> Scenario:
        """Read a scenario from TOML; `file` is what errors call it, and files that it names lie beside it.

        Args:
            text: The TOML.
            file: Name of the text in errors; files that the text names lie beside it.
            allow_python: Whether controls that the text names as `module:Class` may be imported.

        Returns:
            The scenario.

        Raises:
            ScenarioError: The text is no valid scenario.
        """
        return cls(_core.Scenario.parse(text, file, _allowed(allow_python)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, allow_python: bool = False) -> Scenario:
        """Read a scenario from nested dictionaries and lists, shaped as the TOML is.

        Args:
            data: Tables as dictionaries; quantities as text with units.
            allow_python: Whether controls that the text names as `module:Class` may be imported.

        Returns:
            The scenario.

        Raises:
            ScenarioError: The data are no valid scenario.
        """
        try:
            text = json.dumps(data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ScenarioError(f"the dictionary is not a scenario: {error}") from None
        return cls(_core.Scenario.from_json(text, "<dictionary>", _allowed(allow_python)))

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self._core.name

    @property
    def description(self) -> str:
        """What the scenario is about."""
        return self._core.description

    @property
    def doubt(self) -> str:
        """What the scenario does not reproduce of the capture it was fitted to; empty if nothing is known."""
        _, found, rest = self.description.partition(DOUBT)
        return rest.rstrip(".") if found else ""

    @property
    def seed(self) -> int:
        """The seed that the scenario names."""
        return self._core.seed

    @property
    def hash(self) -> str:
        """SHA-256 of the scenario's canonical TOML, in hexadecimal: equal for scenarios that say the same.

        The content of the files that it refers to counts too.
        """
        import hashlib

        digest = hashlib.sha256(self._core.to_toml().encode())
        for content in _files.digest(self._core.files()):
            digest.update(content)
        return digest.hexdigest()

    def set(self, path: str, value: object, *, allow_python: bool = False) -> Scenario:
        """Return a copy in which the field at `path` is `value`.

        Args:
            path: Keys joined by dots; elements of lists by number from 0, by name, or all by `*`:
                `run.duration`, `flow.0.transport`, `flow.*.start`.
            value: Text as in the file, number, truth value, list or dictionary.
            allow_python: Whether controls that `value` names as `module:Class` may be imported.

        Returns:
            The changed copy.

        Raises:
            ScenarioError: No such field, or a wrong value.
        """
        return self.set_text(path, _toml(value), allow_python=allow_python)

    def set_text(self, path: str, text: str, *, allow_python: bool = False) -> Scenario:
        """Return a copy with the field at `path` set as if by the file; text needs no quotes.

        Args:
            path: The field, as in `set`.
            text: The value as in a file, such as `10 s`.
            allow_python: Whether controls that `text` names as `module:Class` may be imported.

        Returns:
            The changed copy.

        Raises:
            ScenarioError: No such field, or a wrong value.
        """
        changed = Scenario(self._core.set(path, text))
        return changed.allowing(named_in(text)) if allow_python else changed

    def with_transport(self, transport: str | type, *, allow_python: bool = False) -> Scenario:
        """Return a copy in which every flow that is not `fixed` uses this transport.

        Args:
            transport: Name of a preset, `module:Class`, or a class with the hooks of `CongestionControl`.
            allow_python: Whether a control that is given as `module:Class` may be imported; a class is there
                already.

        Returns:
            The changed copy.

        Raises:
            ScenarioError: No such transport.
        """
        name = control_name(transport)
        changed = Scenario(self._core.with_transport(name))
        return (
            changed if isinstance(transport, str) and not allow_python else changed.allowing(named_in(name))
        )

    def allowing(self, controls: Iterable[str]) -> Scenario:
        """Return a copy that may import these congestion controls in Python, wherever their names come from.

        Args:
            controls: Names, as `module:Class`.

        Returns:
            The copy. It says the same as the scenario.
        """
        return Scenario(self._core.allowing(set(controls)))

    @property
    def python_controls(self) -> list[str]:
        """The congestion controls written in Python that the scenario names, as `module:Class`."""
        return sorted(self._core.external_controls())

    def importable_controls(self) -> list[str]:
        """Return the `python_controls` that may be imported: all of a trusted text, else the allowed ones."""
        return [name for name in self.python_controls if self.may_import(name)]

    def may_import(self, control: str) -> bool:
        """Return whether a congestion control in Python may be imported, once the scenario names it."""
        allowed = self._core.allowed
        return allowed is None or control in allowed

    def check_controls(self) -> None:
        """Raise `ScenarioError` if the scenario names a control in Python that it may not import.

        Nothing is imported for it.
        """
        self._core.check_controls()

    @property
    def is_random(self) -> bool:
        """Whether anything is left to chance: if not, every seed gives the same run."""
        return self._core.is_random()

    def check(self) -> None:
        """Raise `ScenarioError` if the scenario cannot be simulated."""
        self._core.check()

    def warnings(self) -> list[str]:
        """Return what can be simulated but looks unmeant."""
        return self._core.warnings()

    def to_toml(self) -> str:
        """Return the scenario as TOML, in canonical form, with the version of its format."""
        return f"schema = {_core.scenario_schema}\n{self._core.to_toml()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as nested dictionaries and lists, as `from_dict` takes them."""
        result: dict[str, Any] = json.loads(self._core.to_json())
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"<cogtcp.Scenario {self.name!r}>"

    def _repr_html_(self) -> str:
        html: str = view("scenario_in_notebook")(self)
        return html

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.to_toml(), self._core.source, self._core.allowed))


def _restore(text: str, file: str, allowed: set[str] | None) -> Scenario:
    return Scenario(_core.Scenario.parse(text, file, allowed))


def _allowed(all_of_them: bool) -> set[str] | None:
    """Return the controls in Python that a text may name: none, or any."""
    return None if all_of_them else set()


def _toml(value: object) -> str:
    """Return a value as TOML writes it in a line."""
    if isinstance(value, str):
        # JSON's escapes are TOML's, but TOML wants one more.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(str(key))} = {_toml(item)}' for key, item in value.items())} }}"
    return str(value)
