"""What a transport protocol delivers over spectrum that comes and goes.

>>> import cogtcp
>>> scenario = cogtcp.Scenario.from_file("scenarios/sensed-link.toml")
>>> result = cogtcp.run(scenario, seed=1)
>>> result.flows.column("goodput_bps")
>>> comparison = cogtcp.compare(scenario, ["newreno", "sack"], seeds=10)
>>> comparison.interval("sack", "goodput_bps")
"""

from cogtcp import _start as _start  # isort: skip (before anything that takes time to load)
from typing import TYPE_CHECKING as _TYPE_CHECKING

from cogtcp._core import AckSample, LinkEvent, PacketInfo, RateSample, TcpState
from cogtcp._core import version as __version__
from cogtcp._errors import (
    CogtcpError,
    ConformanceError,
    NoKernelPlaneError,
    OutputError,
    RunError,
    ScenarioError,
    UsageError,
)
from cogtcp._views import bind as _bind
from cogtcp.compare import Comparison, Outcome, compare
from cogtcp.control import CongestionControl, check_congestion_control
from cogtcp.result import Result, Trace, run
from cogtcp.scenario import Scenario
from cogtcp.statistics import Interval

if _TYPE_CHECKING:
    from cogtcp import journey, mobility, spectrum
    from cogtcp.advising import advise
    from cogtcp.fitting import fit
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
    "NoKernelPlaneError",
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
    "advise",
    "check_congestion_control",
    "compare",
    "fit",
    "journey",
    "mobility",
    "run",
    "spectrum",
    "sweep",
    "tune",
]

# What a script may never ask for is loaded when it does: `import cogtcp` is to take no longer than it must.
# (`compare` is not among them: its module bears its name, and would take its place.)
_LATER = {
    "fit": ("cogtcp.fitting", "fit"),
    "advise": ("cogtcp.advising", "advise"),
    "journey": ("cogtcp.journey", ""),
    "metrics": ("cogtcp.metrics", ""),
    "mobility": ("cogtcp.mobility", ""),
    "models": ("cogtcp.models", ""),
    "runner": ("cogtcp.runner", ""),
    "spectrum": ("cogtcp.spectrum", ""),
    "statistics": ("cogtcp.statistics", ""),
    "sweep": ("cogtcp.sweeping", "sweep"),
    "tune": ("cogtcp.tuning", "tune"),
}

# What shows results stands above them: see `_views`.
_bind(
    {
        "run_report": ("cogtcp.report", "run_report"),
        "comparison_report": ("cogtcp.report", "comparison_report"),
        "sweep_report": ("cogtcp.report.sweep", "sweep_report"),
        "merged_report": ("cogtcp.report.sweep", "merged_report"),
        "tuning_report": ("cogtcp.report.tuning", "tuning_report"),
        "advice_report": ("cogtcp.report.advice", "advice_report"),
        "fit_report": ("cogtcp.report.fit", "fit_report"),
        "planes_report": ("cogtcp.report.planes", "planes_report"),
        "run_plots": ("cogtcp.plot", "RunPlots"),
        "comparison_plots": ("cogtcp.plot", "ComparisonPlots"),
        "sweep_plots": ("cogtcp.plot", "SweepPlots"),
        "tuning_plots": ("cogtcp.plot", "TuningPlots"),
        "run_in_notebook": ("cogtcp.report.notebook", "of_run"),
        "comparison_in_notebook": ("cogtcp.report.notebook", "of_comparison"),
        "sweep_in_notebook": ("cogtcp.report.notebook", "of_sweep"),
        "tuning_in_notebook": ("cogtcp.report.notebook", "of_tuning"),
        "scenario_in_notebook": ("cogtcp.report.notebook", "of_scenario"),
    }
)


def __getattr__(name: str) -> object:
    if name not in _LATER:
        message = f"module {__name__!r} has no attribute {name!r}"
        if not name.startswith("_"):  # tools ask for those
            from cogtcp._names import meant

            said = meant(name, __all__)
            message += f"; {said}" if said else ""
        raise AttributeError(message, name=name)
    from importlib import import_module

    module, attribute = _LATER[name]
    found = import_module(module)
    # Kept, so that this function is not asked again.
    value = globals()[name] = getattr(found, attribute) if attribute else found
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
