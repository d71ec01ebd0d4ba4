"""The scripts that count and check prose: docs/prose, docs/generate_messages.py."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path[:0] = [str(ROOT / "docs/prose"), str(ROOT / "docs")]

import check  # noqa: E402
import generate_api  # noqa: E402
import generate_messages  # noqa: E402
import text  # noqa: E402
import words  # noqa: E402

PAGE = """\
# Three words here

Two words. `code counts` and [a link](somewhere.md).

```sh
not counted
```

| not | counted |
|---|---|

<!-- parameters: X -->
not counted
<!-- end of parameters -->

- an item that
  goes over two lines

## References

- not counted
"""


def test_code_tables_and_what_scripts_write_are_no_prose() -> None:
    assert text.words(PAGE) == 3 + 2 + 2 + 1 + 2 + 7


def test_paragraphs_have_the_number_of_their_first_line() -> None:
    assert list(text.paragraphs(PAGE)) == [
        (1, "Three words here"),
        (3, "Two words. `code counts` and a link."),
        (16, "an item that goes over two lines"),
    ]


@pytest.mark.parametrize(
    ("paragraph", "found"),
    [
        ("SACK cannot be told from Reno.", "is not significantly different"),
        ("The rate of the link and that of the radio differ.", "repeat the noun"),
        ("The link changes at a handover.", "handoff"),
        ("The same: whether the owner hands it on.", "repeat the noun"),
        ("Answers those who ask.", "name the nodes"),
        ("A packet of which some bytes have left.", "two sentences"),
        ("Each sensing takes draws, each of which is uniform.", ""),
        ("A prediction and what became of it.", "name the thing"),
        ("The paper leaves this unsaid.", "not given in the paper"),
        ("One change turns it over.", "reverses the verdict"),
        ("word " * 31, "a sentence of 31 words"),
        ("word " * 29 + "end. " + "Word " * 30, ""),
        ("`that of` is code.", ""),
        ("The link drops a packet. The sender retransmits it.", ""),
    ],
)
def test_what_the_check_finds(paragraph: str, found: str) -> None:
    wrong = list(check.findings(paragraph))
    assert bool(wrong) == bool(found)
    assert all(found in what for what in wrong)


def test_prose_is_as_the_rules_want_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([]) == 0, capsys.readouterr().out


def test_every_entry_that_is_not_checked_exists() -> None:
    for entry in check.not_yet():
        assert (ROOT / entry).exists(), f"docs/prose/not-yet.txt: there is no {entry}"


def test_messages_are_found_with_their_places() -> None:
    found = generate_messages.messages()
    for path, part in (
        ("python/cogtcp/cli/__init__.py", "there is not enough memory"),
        ("crates/units/src/quantity.rs", "unit"),
    ):
        places = [message for message in found if str(message.path) == path and part in message.text]
        assert places, path
        lines = (ROOT / path).read_text().splitlines()
        assert any(part in line for line in lines[places[0].line - 1 : places[0].line + 5]), path


def test_budgets() -> None:
    assert words.budget(Path("README.md")) == 700
    assert words.budget(Path("docs/congestion/bbr.md")) == 600
    assert words.budget(Path("docs/congestion/your-own.md")) == 300
    assert words.budget(Path("docs/adding-a-metric.md")) == 300
    assert words.budget(Path("docs/scenario.md")) == 600


def test_words_count_tables_and_references_apart() -> None:
    page = """Two words.

| in a | table |
|---|---|
| of | [linked words](a.md) |

<!-- written: by a script -->
| not | counted |
<!-- end of written -->

```sh
no code
```

## References

- One book.
"""
    assert text.words(page) == 2
    assert text.words(page, tables=True) == 2 + 3 + 3 + 1 + 2


def test_every_page_and_their_sum_are_within_budget(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words.main(["--over"]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2
    assert (words.TOTAL, words.WITH_TABLES) == (30_000, 60_000)
    assert words.main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(text.pages()) + 2
    for total in ("TOTAL", "WITH_TABLES"):
        monkeypatch.setattr(words, total, 1000)
        assert words.main(["--over"]) == 1
        monkeypatch.undo()
    monkeypatch.setattr(words, "RECIPE", 10)
    assert words.main(["--over"]) == 1
    assert "docs/adding-a-study.md OVER" in capsys.readouterr().out


def public_functions() -> list[tuple[str, Callable[..., object]]]:
    """Return the public functions and methods with two arguments or more."""
    found = []
    for module in generate_api.MODULES:
        for name, thing in generate_api._public(importlib.import_module(module)):
            members = vars(thing).items() if inspect.isclass(thing) else [("", thing)]
            for member, value in members:
                function = getattr(value, "__func__", value)
                if member.startswith("_") or not inspect.isfunction(function):
                    continue
                given = [key for key in inspect.signature(function).parameters if key not in ("self", "cls")]
                if len(given) > 1:
                    found.append((f"{module}.{name}.{member}".rstrip("."), function))
    return found


def test_public_functions_say_what_they_take_and_return() -> None:
    functions = public_functions()
    assert len(functions) > 70
    for name, function in functions:
        said = inspect.getdoc(function) or ""
        signature = inspect.signature(function)
        section = said.partition("\nArgs:\n")[2]
        for key, parameter in signature.parameters.items():
            if key in ("self", "cls") or parameter.kind == parameter.VAR_KEYWORD:
                continue
            assert re.search(rf"^    {key}: \S", section, re.MULTILINE), f"{name}: {key} is not described"
        if signature.return_annotation not in ("None", None):
            assert "\nReturns:\n" in said, f"{name}: what does it return?"


def linked(page: Path) -> set[Path]:
    """Return the pages that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text())
    found = [(ROOT / page).parent / target for target in targets if not re.match(r"[a-z]+:", target)]
    return {path.resolve().relative_to(ROOT) for path in found if path.suffix == ".md"}


def test_questions_are_answered_within_two_clicks() -> None:
    questions = tomllib.loads((ROOT / "docs/prose/questions.toml").read_text())["question"]
    assert len(questions) >= 40
    home = Path("README.md")
    near = {home} | linked(home)
    near |= {page for first in linked(home) for page in linked(first)}
    for question in questions:
        page = Path(question["page"])
        assert page in near, f"{question['asks']} {page} is more than two clicks away"
        said = " ".join((ROOT / page).read_text().split())
        assert question["answer"] in said, f"{question['asks']} {page} does not answer"
