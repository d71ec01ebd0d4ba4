"""The judgement of `cogtcp fit`: its page is what its data say, and its verdicts are what they claim."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))

from fit_truth import KINDS, draw, truths, verdict  # noqa: E402
from load import receive, send  # noqa: E402


def test_the_page_is_what_the_data_say() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate_fit_truth.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(9.0, 11.0, "right"), (10.5, 11.5, "near"), (11.5, 12.0, "wrong"), (7.0, 8.0, "wrong")],
)
def test_an_interval_that_misses_by_more_than_its_width_is_wrong(low: float, high: float, said: str) -> None:
    assert verdict(Measured((low + high) / 2, low, high, "s", ""), 10.0) == said


def test_a_bound_that_the_truth_breaks_is_wrong() -> None:
    assert verdict(Bounded("s", "", at_least=9.0), 10.0) == "bounded"
    assert verdict(Bounded("s", "", at_least=11.0), 10.0) == "wrong"
    assert verdict(Bounded("s", "", at_most=9.0), 10.0) == "wrong"
    assert verdict(Unknown(""), 10.0) == "unknown"


def test_the_links_are_over_all_kinds_and_two_thirds_without_our_code() -> None:
    drawn = [draw(1, number) for number in range(90)]
    foreign = [each for each in drawn if each["path"] in ("kernel", "ns-3")]
    assert len(foreign) == 60
    assert {(each["path"], each["kind"]) for each in drawn} == {
        (path, kind) for path, kinds in KINDS.items() for kind in kinds
    }
    assert draw(1, 7) == draw(1, 7)
    assert draw(1, 7) != draw(2, 7)
    # tbf counts Ethernet: in bytes of IP the link has less.
    kernel = next(each for each in drawn if each["path"] == "kernel")
    assert truths({"drawn": kernel})["capacity"] == pytest.approx(kernel["rate"] * 1500 / 1514)


def test_the_receiver_of_the_links_counts_what_its_sender_sent() -> None:
    """`benches/load.py` on this machine's own clock: bytes over the time that they took."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = {
        "port": port,
        "to": "127.0.0.1",
        "seconds": 1,
        "rate": 8e6,
        "size": 1000,
        "at": time.monotonic() + 1,
    }
    with ThreadPoolExecutor() as pool:
        counted = pool.submit(receive, told)
        time.sleep(0.3)
        send(told)
    assert counted.result()["goodput"] == pytest.approx(8e6, rel=0.1)
