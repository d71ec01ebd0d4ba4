"""What a transport protocol delivers over spectrum that comes and goes.

>>> import cogtcp
>>> scenario = cogtcp.Scenario.from_file("scenarios/sensed-link.toml")
>>> result = cogtcp.run(scenario, seed=1)
>>> result.flows.column("goodput_bps")
>>> comparison = cogtcp.compare(scenario, ["newreno", "sack"], seeds=10)
>>> comparison.interval("sack", "goodput_bps")
"""

from cogtcp._core import version as __version__
from cogtcp._errors import CogtcpError, OutputError, RunError, ScenarioError, UsageError
from cogtcp.compare import Comparison, Outcome, compare
from cogtcp.result import Result, Trace, run
from cogtcp.scenario import Scenario
from cogtcp.statistics import Interval

__all__ = [
    "CogtcpError",
    "Comparison",
    "Interval",
    "Outcome",
    "OutputError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Trace",
    "UsageError",
    "__version__",
    "compare",
    "run",
]
