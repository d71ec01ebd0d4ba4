"""Which lines of the package each test runs: a pytest plugin over coverage.

What a test has run is written when the test ends, so a run that is cut short is of use. COGTCP_REACH names
the folder of the files: `lines`, coverage's data with a context for each test, `children.*`, the same of each
process that a test started, and `tests`, a line of JSON for each test.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ["COGTCP_REACH"])
COVERAGE = coverage.Coverage(
    data_file=str(FOLDER / "lines"), config_file=False, source=[os.environ["COGTCP_REACH_OF"]], messages=False
)
COVERAGE.set_option("run:disable_warnings", ["no-data-collected", "module-not-imported", "already-imported"])
COVERAGE.load()
COVERAGE.start()
#: How coverage runs in the processes that a test starts.
CHILDREN = f"""[run]
data_file = {FOLDER / "children"}
parallel = true
context = ${{COGTCP_TEST}}
source = {os.environ["COGTCP_REACH_OF"]}
disable_warnings = no-data-collected, module-not-imported
"""
(FOLDER / "coveragerc").write_text(CHILDREN)
os.environ["COVERAGE_PROCESS_START"] = str(FOLDER / "coveragerc")
PASSED: dict[str, bool] = {}


def pytest_collection_finish() -> None:
    """Save what was run on import: it has no context, and belongs to all tests of the file."""
    COVERAGE.save()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the lines and the processor time of a test, those of its processes too."""
    COVERAGE.switch_context(item.nodeid)
    os.environ["COGTCP_TEST"] = item.nodeid
    begins = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        seconds = sum(os.times()[:4]) - begins
        COVERAGE.save()
        told = {"id": item.nodeid, "seconds": seconds, "passed": PASSED.get(item.nodeid, True)}
        with (FOLDER / "tests").open("a") as file:
            file.write(json.dumps(told) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what failed, and what was skipped: neither can notice a mutant."""
    if report.outcome != "passed":
        PASSED[report.nodeid] = False
