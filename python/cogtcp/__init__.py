"""What a transport protocol delivers over spectrum that comes and goes.

>>> import cogtcp
>>> scenario = cogtcp.Scenario.from_file("scenarios/sensed-link.toml")
>>> result = cogtcp.run(scenario, seed=1)
>>> result.flows.column("goodput_bps")
>>> comparison = cogtcp.compare(scenario, ["newreno", "sack"], seeds=10)
>>> comparison.interval("sack", "goodput_bps")
"""

from cogtcp import _start as _start  # isort: skip (before anything that takes time to load)
from cogtcp import journey, mobility, spectrum
from cogtcp._core import AckSample, LinkEvent, PacketInfo, RateSample, TcpState
from cogtcp._core import version as __version__
from cogtcp._errors import (
    CogtcpError,
    ConformanceError,
    OutputError,
    RunError,
    ScenarioError,
    UsageError,
)
from cogtcp.compare import Comparison, Outcome, compare
from cogtcp.control import CongestionControl, check_congestion_control
from cogtcp.result import Result, Trace, run
from cogtcp.scenario import Scenario
from cogtcp.statistics import Interval
from cogtcp.sweeping import sweep
from cogtcp.tuning import tune

__all__ = [
    "AckSample",
    "CogtcpError",
    "Comparison",
    "ConformanceError",
    "CongestionControl",
    "Interval",
    "LinkEvent",
    "Outcome",
    "OutputError",
    "PacketInfo",
    "RateSample",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "TcpState",
    "Trace",
    "UsageError",
    "__version__",
    "check_congestion_control",
    "compare",
    "journey",
    "mobility",
    "run",
    "spectrum",
    "sweep",
    "tune",
]
