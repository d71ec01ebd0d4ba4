"""Coverage in the processes that a test starts: COVERAGE_PROCESS_START of `python_reach.py` turns it on."""

import coverage

coverage.process_startup()
