"""Metrics by name: full names, short names, and those that a scenario offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp._errors import UsageError
from cogtcp._names import nearest
from cogtcp.model.metrics.run import BY_NAME, METRICS
from cogtcp.model.metrics.subjects import SUBJECT_METRICS, Subject, subjects

if TYPE_CHECKING:
    from cogtcp.model.metrics.metric import Metric
    from cogtcp.model.scenario import Scenario

#: What a metric may be called besides its name, which says its unit: goodput, rtt_p95, pu_interfered.
_SUFFIXES = ("_bps", "_s", "_share", "_mean_s", "_mean")
#: Short names of their own.
_ALIASES = {
    "pu_interference": "pu_interfered_share",
    "pu_exposure": "pu_exposed_share",
    "delay": "rtt_mean_s",
    "stalls": "video.stalled",
}
#: Ends of the names of what users notice most of an application.
MOST_NOTICED = (".delay_p95", ".page_time_p95", ".stall_share", ".completion", ".queuing_delay_p95")
#: The first of the definitions of each name: those of several kinds agree in all that is shown.
_OF_SUBJECTS = {metric.name: metric for metrics in reversed(SUBJECT_METRICS.values()) for metric in metrics}


def find(name: str, scenario: Scenario | None = None, *, where: str = "") -> Metric:
    """Return the metric of a name, such as `goodput_bps`, `goodput`, `call.delay_p95` or `stalls`.

    Args:
        name: Name or short name; `-` and `_` are the same in it.
        scenario: What it is measured of: then the scenario must offer the metric.
        where: What the name was read from, for the error.

    Returns:
        The metric.

    Raises:
        UsageError: There is no such metric, or the scenario does not offer it.
    """
    where = f"{where}: " if where else ""
    given = name.strip()
    short = given.replace("-", "_")
    metric = _short_names().get(short)
    subject, dot, of = (metric.name if metric else given).rpartition(".")
    if metric is not None and not dot:
        return metric
    if not dot:
        known = [*_short_names(), *_OF_SUBJECTS]
        near = nearest(short, known)
        hint = f'did you mean "{_example(near, scenario)}"? ' if near else ""
        listed = f"{', '.join(BY_NAME)}; of a flow, stream or application: SUBJECT.METRIC, as in "
        raise UsageError(f'{where}unknown metric "{name}"; {hint}known: {listed}call.delay_p95')
    of = of.replace("-", "_")
    found = _OF_SUBJECTS.get(of) or _OF_SUBJECTS.get(of.removesuffix("_s").removesuffix("_bps"))
    if found is None:
        near = nearest(of, _OF_SUBJECTS)
        hint = f'did you mean "{subject}.{near}"? ' if near else ""
        raise UsageError(f'{where}unknown metric "{name}"; {hint}known: {", ".join(sorted(_OF_SUBJECTS))}')
    if scenario is None:
        return found.of_subject(subject)
    return _of_scenario(subject, found.name, scenario, where)


def _of_scenario(subject: str, of: str, scenario: Scenario, where: str) -> Metric:
    known = {each.name: each for each in subjects(scenario)}
    if subject not in known:
        near = nearest(subject, known)
        hint = f'did you mean "{near}"? ' if near else ""
        raise UsageError(
            f'{where}{scenario.name} has no flow, stream or application "{subject}"; {hint}'
            f"known: {', '.join(known) or 'none'}"
        )
    for metric in known[subject].metrics:
        if metric.name == f"{subject}.{of}":
            return metric
    names = ", ".join(metric.name.rpartition(".")[2] for metric in known[subject].metrics)
    raise UsageError(f'{where}"{subject}" ({known[subject].kind}) has no metric "{of}"; known: {names}')


def _example(near: str, scenario: Scenario | None) -> str:
    """Return how to write a name that may lack its subject."""
    if near in _short_names():
        return near
    for subject in subjects(scenario) if scenario else ():
        for metric in subject.metrics:
            if metric.name == f"{subject.name}.{near}":
                return metric.name
    return f"SUBJECT.{near}"


def _short_names() -> dict[str, Metric]:
    known = {metric.name: metric for metric in METRICS}
    for metric in METRICS:
        for suffix in _SUFFIXES:
            # The first metric keeps a short name that two have; an alias, set later, comes before both.
            known.setdefault(metric.name.removesuffix(suffix), metric)
    for alias, target in _ALIASES.items():
        subject, dot, of = target.rpartition(".")
        known[alias] = _OF_SUBJECTS[of].of_subject(subject) if dot else BY_NAME[target]
    return known


def offered(scenario: Scenario) -> tuple[Metric, ...]:
    """Return the metrics that a scenario offers: of its subjects, then of the run."""
    return (*(metric for subject in subjects(scenario) for metric in subject.metrics), *METRICS)


def listed(scenario: Scenario) -> tuple[Metric, ...]:
    """Return the metrics for tables, in order: what users notice, the run, the rest of each subject.

    Kinds that only repeat named subjects are left out, as is the only flow of a run.
    """
    named = _named(scenario)
    own = [metric for subject in named for metric in subject.metrics]
    if len(named) == 1 and named[0].kind == "flow":
        own = []
    first = noticed(scenario)
    names = {metric.name for metric in first}
    return (*first, *METRICS, *(metric for metric in own if metric.name not in names))


def primary(scenario: Scenario) -> tuple[Metric, ...]:
    """Return of each application the metric that its users notice most."""
    found: dict[str, Metric] = {}
    for metric in noticed(scenario):
        held = found.get(metric.subject)
        if held is None or metric.name.endswith(MOST_NOTICED):
            found[metric.subject] = metric
    return tuple(found.values())


def noticed(scenario: Scenario) -> tuple[Metric, ...]:
    """Return what the users of the scenario's applications notice, in the order of the scenario.

    Beside applications the goodput of a download is noticed, unless its flow is `fixed`. A subject that
    stands for a kind as a whole is left out: its members are there.
    """
    named = _named(scenario)
    found = [metric for subject in named for metric in subject.metrics if metric.noticed]
    downloads = [each for each in named if each.kind == "flow" and not each.fixed]
    goodputs = (metric for each in downloads for metric in each.metrics if metric.name.endswith(".goodput"))
    return (*found, *(metric.marked() for metric in goodputs)) if found else ()


def _named(scenario: Scenario) -> tuple[Subject, ...]:
    found = subjects(scenario)
    covered: set[str] = set()
    kept = []
    for subject in found:
        if not covered.issuperset(subject.members):
            covered.update(subject.members)
            kept.append(subject)
    return tuple(kept)
