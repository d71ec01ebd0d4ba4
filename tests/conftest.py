"""What the tests share: a small scenario, and the command line as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import settings

from cogtcp import Scenario

ROOT = Path(__file__).resolve().parents[1]

# The same tree is tested with the same examples everywhere; `make fuzz` draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("COGTCP_EXAMPLES", "fixed"))

# A shell starts what it puts into the background with SIGINT ignored, which Python and its children keep:
# tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Losses, sensing and primary users, so that every kind of event occurs; over in a few milliseconds.
SMALL = """\
name = "small"
description = "A short run with everything in it"

[run]
duration = "20 s"
seed = 7

[topology.single_hop]
link = { rate = "5 Mbit/s", delay = "20 ms", queue = "30 packets", loss = "0.2 %" }

[[radio]]
name = "radio"
links = ["link"]
silence = "drop"
sensing = { off = "200 ms", on = "3 s" }
pu = { interarrival = "6 s", switching = "300 ms" }

[[flow]]
name = "flow"
from = "sender"
to = "receiver"
transport = "newreno"
traffic = "saturated"
"""


@pytest.fixture
def scenario() -> Scenario:
    return Scenario.from_toml(SMALL)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@dataclass
class Done:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


class Command(Protocol):
    def __call__(self, *args: object, **options: Any) -> Done: ...


def command_line(*args: object) -> list[str]:
    return [sys.executable, "-m", "cogtcp", *map(str, args)]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run `cogtcp ARGS` in the test's folder."""

    def run(*args: object, **options: Any) -> Done:
        done = subprocess.run(
            command_line(*args),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "NO_COLOR": "1"},
            check=False,
            **options,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


def files(folder: Path) -> list[str]:
    """Everything in a folder, hidden entries included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
