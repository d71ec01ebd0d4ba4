"""What can go wrong, as exceptions. All of them derive from `CogtcpError`."""

from __future__ import annotations

from pathlib import Path

#: The folder of the shipped scenarios.
_SHIPPED = Path(__file__).with_name("scenarios")


class CogtcpError(Exception):
    """The base of every error that cogtcp raises on purpose."""

    def explain(self) -> str:
        """Return the error as the command line shows it, with the line of the source that it is about."""
        return str(self)


class ScenarioError(CogtcpError, ValueError):
    """A scenario says something that cannot be simulated.

    Attributes:
        file: The file, as it was named by whoever opened it; empty for a scenario that came from no file.
        line: Line in that file, from 1; None where the scenario did not come from a text.
        column: Column in characters, from 1.
        field: Path of the field, such as `flow.0.to`; empty for an error about the whole file.
        message: What is wrong.
        remedy: What would be right.
        excerpt: The line of the source, and under it carets that mark what is wrong; empty where there is no
            such place. A traceback shows it as a note.
        more: Further errors of the same scenario.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        field: str = "",
        remedy: str = "",
        excerpt: str = "",
        text: str | None = None,
        more: list[ScenarioError] | None = None,
    ) -> None:
        super().__init__(text if text is not None else (f"{message}; {remedy}" if remedy else message))
        self.file = file
        self.line = line
        self.column = column
        self.field = field
        self.message = message
        self.remedy = remedy
        self.excerpt = excerpt
        self.more: list[ScenarioError] = more or []
        if excerpt:
            self.add_note(excerpt)

    def explain(self) -> str:
        """Return the error as the command line shows it: every fault with its line of the source."""
        lines = str(self).split("\n")
        for place, error in enumerate((self, *self.more)[: len(lines)]):
            file = Path(error.file)
            if file.parent == _SHIPPED:  # users know the scenario by its name
                lines[place] = lines[place].replace(error.file, file.stem, 1)
            if error.excerpt:
                lines[place] += f"\n{error.excerpt}"
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Return the error as plain data, as `--json` prints it."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "field": self.field,
            "message": self.message,
            "remedy": self.remedy,
            "more": [error.to_dict() for error in self.more],
        }


class UsageError(CogtcpError, ValueError):
    """A call, or a file that says what to do, asks for something that makes no sense, whatever the scenario.

    Attributes:
        excerpt: The line of the file, and under it carets that mark what is wrong; empty where there is no
            such place. A traceback shows it as a note.
    """

    def __init__(self, message: str = "", *, excerpt: str = "") -> None:
        super().__init__(message)
        self.excerpt = excerpt
        if excerpt:
            self.add_note(excerpt)

    def explain(self) -> str:
        """Return the error as the command line shows it: with its line of the file."""
        return f"{self}\n{self.excerpt}" if self.excerpt else str(self)


class RunError(CogtcpError):
    """A simulation could not be finished."""


class NoKernelPlaneError(RunError):
    """The machine lacks what the kernel plane needs; the message says what, and what to do."""


class ConformanceError(CogtcpError):
    """A congestion control breaks a rule that every congestion control must keep.

    Attributes:
        control: The control's name.
        check: The rule, as the conformance suite names it.
        detail: What happened, with the seed of the random sequence.
    """

    def __init__(self, control: str, check: str, detail: str) -> None:
        super().__init__(f'{control} breaks "{check}": {detail}')
        self.control = control
        self.check = check
        self.detail = detail

    def __reduce__(self) -> tuple[object, ...]:
        # An exception is pickled with the arguments of `Exception`, which here is the message alone.
        return (ConformanceError, (self.control, self.check, self.detail))


class OutputError(CogtcpError):
    """Results could not be written."""
