"""Scenarios: what is simulated."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

# A scenario is a page of text. What is a hundred times that is some other file.
_MOST_BYTES = 4 * 1024 * 1024


class Scenario:
    """One experiment: a network, the radios that gate its links, the flows over it. Immutable.

    >>> scenario = Scenario.from_file("scenarios/sensed-link.toml")
    >>> shorter = scenario.set("run.duration", "10 s").set("flow.0.transport", "sack")
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Scenario) -> None:
        self._core = core

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Read a scenario file. Raises `ScenarioError` where it cannot be read or says something wrong."""
        name = str(path)
        try:
            with Path(path).open("rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            raise _file_error(
                name, "no such file", "name a scenario file, or write a new one with `cogtcp new`"
            ) from None
        except IsADirectoryError:
            raise _file_error(name, "is a folder", "name a scenario file in it") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise _file_error(name, f"cannot be read: {reason}", "make it readable") from error
        if len(data) > _MOST_BYTES:
            raise _file_error(name, "is larger than 4 MiB", "name a scenario file, which is a page of TOML")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise _file_error(
                name, "is not UTF-8 text", "save it as UTF-8, or name a scenario file", line
            ) from None
        return cls.from_toml(text, file=name)

    @classmethod
    def from_toml(cls, text: str, *, file: str = "<text>") -> Scenario:
        """Read a scenario from TOML; `file` is what errors call it."""
        return cls(_core.Scenario.parse(text, file))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scenario:
        """Read a scenario from nested dictionaries and lists, shaped as the TOML is."""
        try:
            text = json.dumps(data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ScenarioError(f"the dictionary is no scenario: {error}") from None
        return cls(_core.Scenario.from_json(text, "<dictionary>"))

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self._core.name

    @property
    def description(self) -> str:
        """What the scenario is about."""
        return self._core.description

    @property
    def seed(self) -> int:
        """The seed that the scenario names."""
        return self._core.seed

    @property
    def hash(self) -> str:
        """SHA-256 of the scenario's canonical TOML, in hexadecimal: equal for scenarios that say the same.

        The content of the files that it refers to counts too.
        """
        digest = hashlib.sha256(self.to_toml().encode())
        for file in self._core.files():
            # One that cannot be read is an error of the scenario, which others report.
            with contextlib.suppress(OSError):
                digest.update(hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()

    def set(self, path: str, value: object) -> Scenario:
        """Return a copy in which the field at `path` is `value`.

        Args:
            path: Keys joined by dots; elements of lists by number from 0, by name, or all by `*`:
                `run.duration`, `flow.0.transport`, `flow.*.start`.
            value: Text as in the file, number, truth value, list or dictionary.
        """
        return self.set_text(path, _toml(value))

    def set_text(self, path: str, text: str) -> Scenario:
        """Return a copy with the field at `path` set as if by the file; text needs no quotes."""
        return Scenario(self._core.set(path, text))

    def with_transport(self, name: str) -> Scenario:
        """Return a copy in which every flow that is not `fixed` uses the transport preset `name`."""
        return Scenario(self._core.with_transport(name))

    def check(self) -> None:
        """Raise `ScenarioError` if the scenario cannot be simulated."""
        self._core.check()

    def warnings(self) -> list[str]:
        """Return what can be simulated but looks unmeant."""
        return self._core.warnings()

    def to_toml(self) -> str:
        """Return the scenario as TOML, in canonical form."""
        return self._core.to_toml()

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

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scenario.from_toml, (self.to_toml(),))


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


def _file_error(file: str, message: str, remedy: str, line: int | None = None) -> ScenarioError:
    where = file if line is None else f"{file}:{line}"
    return ScenarioError(message, file=file, line=line, remedy=remedy, text=f"{where}: {message}; {remedy}")
