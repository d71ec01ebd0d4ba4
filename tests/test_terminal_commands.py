"""What files and names say cannot command a terminal: no escape sequence reaches it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import Scenario
from cogtcp.cli.terminal import harmless

if TYPE_CHECKING:
    from pathlib import Path

#: Clears the screen, retitles the window, rings, turns text round, conceals it.
HOSTILE = "a\x1b[2Jb\x1b]0;mine\x07c\x9b2Kd\u202ee\x1b[8mf"
STANDS = "a\N{REPLACEMENT CHARACTER}[2Jb"


def on_a_terminal(*arguments: object) -> tuple[int, str]:
    """Run a verb on a terminal; return its exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cogtcp", *map(str, arguments)],
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "400"},
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the terminal's other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    return process.wait(), said.decode()


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a file whose description is hostile, as names may not be."""
    drawn = Scenario.shipped("sensed-link").set("run.duration", "2 s").set("run.warmup", "0 s")
    path = tmp_path / "hostile.toml"
    path.write_text(drawn.set("description", HOSTILE).to_toml(), "utf-8")
    return path


def read(said: str) -> None:
    """Assert that the hostile text is there, and commands nothing."""
    assert STANDS in said
    for command in ("\x1b[2J", "\x1b]0", "\x07", "\x9b", "\u202e", "\x1b[8m"):
        assert command not in said


def test_the_marker_of_results_is_text(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cogtcp.run(Scenario.from_file(scenario)).save(out)
    marker = out / "cogtcp.json"
    known = json.loads(marker.read_text("utf-8"))
    marker.write_text(json.dumps({**known, "version": HOSTILE, "scenario": HOSTILE}), "utf-8")
    code, said = on_a_terminal("results", out)
    assert code == 0, said
    read(said)


@pytest.mark.parametrize("key", ["name", "flow.0.transport"])
@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_message_quotes_text(verb: str, key: str, scenario: Path) -> None:
    text, line = scenario.read_text("utf-8"), {"name": "name", "flow.0.transport": "transport"}[key]
    old = next(each for each in text.splitlines() if each.startswith(f"{line} = "))
    scenario.write_text(text.replace(old, f"{line} = {json.dumps(HOSTILE)}"), "utf-8")
    code, said = on_a_terminal(verb, scenario, "--set", f"{key}={HOSTILE}")
    assert code == 2, said
    read(said)


def test_messages_are_text_elsewhere_too(scenario: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogtcp", "check", str(scenario), "--set", f"flow.0.transport={HOSTILE}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert STANDS in done.stderr
    assert "\x1b" not in done.stderr


def test_styles_lines_and_letters_stay() -> None:
    styled = "\x1b[1mbold\x1b[0m \x1b[38;5;1mred\x1b[0m\n\ttab, ± ä 漢\n"
    assert harmless(styled) == styled
    assert harmless("\x1b[1;8mgone\r") == "\N{REPLACEMENT CHARACTER}[1;8mgone\N{REPLACEMENT CHARACTER}"
