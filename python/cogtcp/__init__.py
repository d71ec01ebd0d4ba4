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

from cogtcp import _moved
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
from cogtcp.model.control import CongestionControl, check_congestion_control
from cogtcp.model.result import Result, Trace, run
from cogtcp.model.scenario import Scenario

if _TYPE_CHECKING:
    from cogtcp.data import journey, mobility, spectrum
    from cogtcp.data.fitting import fit
    from cogtcp.deciding.advising import advise
    from cogtcp.deciding.tuning import tune
    from cogtcp.model.statistics import Interval
    from cogtcp.running.compare import Comparison, Outcome, compare
    from cogtcp.running.sweeping import sweep

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

_moved.install()

# What a script may never ask for is loaded when it does: `import cogtcp` is to take no longer than it must.
_LATER = {
    "Comparison": ("cogtcp.running.compare", "Comparison"),
    "Interval": ("cogtcp.model.statistics", "Interval"),
    "Outcome": ("cogtcp.running.compare", "Outcome"),
    "compare": ("cogtcp.running.compare", "compare"),
    "fit": ("cogtcp.data.fitting", "fit"),
    "advise": ("cogtcp.deciding.advising", "advise"),
    "journey": ("cogtcp.data.journey", ""),
    "metrics": ("cogtcp.model.metrics", ""),
    "mobility": ("cogtcp.data.mobility", ""),
    "models": ("cogtcp.model.models", ""),
    "runner": ("cogtcp.running.runner", ""),
    "spectrum": ("cogtcp.data.spectrum", ""),
    "statistics": ("cogtcp.model.statistics", ""),
    "sweep": ("cogtcp.running.sweeping", "sweep"),
    "tune": ("cogtcp.deciding.tuning", "tune"),
}

# What shows results, and the kernel, stand above what asks for them: see `_views`.
_bind(
    {
        "run_report": ("cogtcp.showing.report", "run_report"),
        "comparison_report": ("cogtcp.showing.report", "comparison_report"),
        "sweep_report": ("cogtcp.showing.report.sweep", "sweep_report"),
        "merged_report": ("cogtcp.showing.report.sweep", "merged_report"),
        "tuning_report": ("cogtcp.showing.report.tuning", "tuning_report"),
        "advice_report": ("cogtcp.showing.report.advice", "advice_report"),
        "fit_report": ("cogtcp.showing.report.fit", "fit_report"),
        "planes_report": ("cogtcp.showing.report.planes", "planes_report"),
        "run_plots": ("cogtcp.showing.plot", "RunPlots"),
        "comparison_plots": ("cogtcp.showing.plot", "ComparisonPlots"),
        "sweep_plots": ("cogtcp.showing.plot", "SweepPlots"),
        "tuning_plots": ("cogtcp.showing.plot", "TuningPlots"),
        "run_in_notebook": ("cogtcp.showing.report.notebook", "of_run"),
        "comparison_in_notebook": ("cogtcp.showing.report.notebook", "of_comparison"),
        "sweep_in_notebook": ("cogtcp.showing.report.notebook", "of_sweep"),
        "tuning_in_notebook": ("cogtcp.showing.report.notebook", "of_tuning"),
        "scenario_in_notebook": ("cogtcp.showing.report.notebook", "of_scenario"),
        "virtual_plane": ("cogtcp.kernel.emulation.virtual.plane", "virtual_plane"),
    }
)


def __getattr__(name: str) -> object:
    if name not in _LATER and (moved := _moved.attribute(name)):
        return moved
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
