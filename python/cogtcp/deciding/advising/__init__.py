"""What to run over a link: a race of transports, the tuner for named parameters, and what changes the answer.

`docs/advice.md` tells what is done and what it means. `wanted` is the objective, `inputs` what is uncertain.
`racing` finds who is best, `around` what would change the answer. `advice` is the result, `telling` its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cogtcp.deciding.atlas.transports import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cogtcp.deciding.advising.advice import Advice
    from cogtcp.model.scenario import Scenario

#: The transports that race if none are named.
TRANSPORTS = CANDIDATES


def refuse_doubtful(scenario: Scenario, *, anyway: bool) -> None:
    """Raise `UsageError` for a scenario that does not reproduce its capture, unless `anyway` is set."""
    from cogtcp._errors import UsageError
    from cogtcp.model.scenario import DOUBT

    if scenario.doubt and not anyway:
        raise UsageError(
            f"{DOUBT}{scenario.doubt}. So no winner is named; fit more data, or name one all the same with "
            "--anyway"
        )


def advise(
    scenario: Scenario,
    objective: str = "goodput",
    *,
    transports: Sequence[str | type] = (),
    over: Mapping[str, str] | None = None,
    constraints: Sequence[str] = (),
    uncertain: Mapping[str, str] | None = None,
    margin: float = 0.02,
    budget: str = "60 s",
    seed: int | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    progress: Any = None,
    command: str | None = None,
    allow_python: bool = False,
    anyway: bool = False,
) -> Advice:
    """Say what to run: which transport, with which parameters, how sure that is, and what would change it.

    Three answers: run another transport, keep the scenario's own, or undecided (`Advice.head`). Transports
    race over the same seeds. All statements of the race hold jointly with 95 % confidence. Ctrl-C stops it:
    the advice then has `interrupted` set and rests on the runs that were finished.

    >>> advice = cogtcp.advise(scenario, "goodput", constraints=["delay<=200 ms"], budget="20 s")
    >>> advice.head, advice.winner, advice.text
    >>> advice.scenario_of(advice.winner)

    Args:
        scenario: The link and what goes over it; its own transport is the baseline.
        objective: `goodput` or another metric as in `tune`, also `call.delay_p95`; `utility:W`, log2 of
            goodput less W times log2 of the mean RTT; `completion:10MB`; `stalls` of videos; `worst-flow`.
        transports: Names of presets, or congestion controls in Python; by default `TRANSPORTS`.
        over: Further fields to decide, as in `tune`: values race with the transports (all combinations),
            ranges are searched by the tuner for the best transports (the extra `tune`).
        constraints: Limits on means of metrics, as in `"pu_interference<=5%"` or `"call.delay_p95<=150 ms"`.
            A candidate keeps a limit if its confidence bound does.
        uncertain: Fields that are known as ranges, `{"topology.single_hop.link.delay": "19 ms..21 ms"}`: each
            seed draws its own value, and the answer is good over all of them.
        margin: Smallest gain that matters, as a share.
        budget: Real time, `"60 s"`, or runs, `"400 runs"`. With runs the answer depends on nothing else.
        seed: The first seed; by default the scenario's.
        jobs: Runs at a time; by default one for each processor.
        out: Folder for report, tables and finished runs; by default nothing is written.
        force: Use `out` although it holds other files; these are kept in a folder beside it.
        progress: Called with the number of finished runs and of all runs known so far.
        command: The command line, for the report.
        allow_python: Whether controls in Python may be imported that `transports`, `over` or `uncertain` name
            as `module:Class`; a class itself needs no leave.
        anyway: Whether to name a winner for a fitted scenario that does not reproduce its capture.

    Returns:
        The advice: winner, text, candidates and their intervals.

    Raises:
        ScenarioError: The scenario cannot be simulated, or has no such field.
        UsageError: Something asked for makes no sense, or the scenario does not reproduce its capture.
        RunError: No candidate could be simulated.
        OutputError: The results cannot be written.
        KeyboardInterrupt: Interrupted before the first look.
    """
    from cogtcp.deciding.advising.deciding import Question, decide
    from cogtcp.model.control import permitted

    refuse_doubtful(scenario, anyway=anyway)
    texts = [*(over or {}).values(), *(uncertain or {}).values()]
    scenario = permitted(scenario, [*transports, *map(str, texts)], allow_python)
    question = Question.of(
        scenario,
        objective,
        transports or TRANSPORTS,
        over or {},
        constraints,
        uncertain or {},
        margin,
        budget,
        seed,
    )
    return decide(question, jobs=jobs, out=out, force=force, progress=progress, command=command)
