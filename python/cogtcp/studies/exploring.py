"""Proposals of settings: the optimiser behind the guided search.

Two kinds of proposals take turns. Optuna's TPE sampler (Bergstra et al. 2011) covers the space. A local
search moves one, two or three parameters of the best setting. A range takes a normal step, whose width grows
after a success and shrinks after a failure (Rechenberg's rule). A choice takes another value. Without success
for a while it restarts from another good setting. Both see all results.

`tests/planted.py` measures it on planted solutions: known corners of a synthetic space.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from cogtcp.studies.errors import StudyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cogtcp.studies.space import Setting, Unsaid, Value

RANDOM = 8
"""Settings that are drawn at random before the sampler has seen enough."""
EVERY = 10
"""Of so many proposals one is the sampler's, the others are the local search's."""
WIDTH, NARROW, WIDE = 0.2, 0.02, 0.5
"""Width of a step at first, and its bounds, as shares of the range."""
PATIENCE = 40
"""Moves without success after which the local search restarts."""
NEVER = -1000.0


def explored(
    base: Setting,
    varied: Sequence[Unsaid],
    starts: Sequence[Setting],
    trials: int,
    score: Callable[[Setting], float],
    seed: int,
) -> Iterator[Setting]:
    """Yield the settings that are proposed, each when it has been scored.

    Args:
        base: The setting whose other parameters stay.
        varied: The parameters that are varied.
        starts: Settings that come first.
        trials: How many settings are proposed.
        score: What is maximised.
        seed: Seed of all draws: the same seed and scores give the same proposals.

    Raises:
        StudyError: Optuna is not installed.
    """
    sampler = _Sampler(varied, seed)
    local = _Local(varied, random.Random(f"local/{seed}"))  # noqa: S311 - a documented draw, no secret
    known: dict[Setting, float] = {}

    def scored(values: Mapping[str, Value]) -> Setting:
        # What cannot touch the claim stays as in the base: no setting is judged twice under two names.
        setting: Setting = base.but(**values)
        known[setting] = max(score(setting), NEVER)
        return setting

    for number in range(trials):
        if number < len(starts):
            values = {parameter.name: starts[number][parameter.name] for parameter in varied}
        elif number < len(starts) + RANDOM or number % EVERY == 0:
            values = sampler.asked()
        else:
            values = local.moved(known)
        setting = scored(values)
        sampler.told(values, known[setting])
        local.told(setting, known[setting])
        yield setting


class _Sampler:
    """Optuna's TPE sampler, which also learns from what others proposed."""

    def __init__(self, varied: Sequence[Unsaid], seed: int) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            if error.name != "optuna":
                raise
            raise StudyError('the guided search needs Optuna: pip install "cogtcp[tune]"') from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=RANDOM)
        self._optuna: Any = optuna
        self._asked = optuna.create_study(sampler=sampler, direction="maximize")
        self._distributions = {parameter.name: _distribution(parameter) for parameter in varied}
        self._open: Any = None

    def asked(self) -> dict[str, Value]:
        """Return a proposal."""
        self._open = self._asked.ask(self._distributions)
        return {name: _rounded(value) for name, value in self._open.params.items()}

    def told(self, values: Mapping[str, Value], value: float) -> None:
        """Take the score of a proposal, its own or another's."""
        if self._open is not None:
            self._asked.tell(self._open, value)
            self._open = None
            return
        made = self._optuna.trial.create_trial(
            params=dict(values), distributions=self._distributions, value=value
        )
        self._asked.add_trial(made)


class _Local:
    """The local search: steps from the best setting, with restarts."""

    def __init__(self, varied: Sequence[Unsaid], stream: random.Random) -> None:
        self._varied, self._stream = varied, stream
        self._here: Setting | None = None
        self._value = NEVER
        self._width, self._failures = WIDTH, 0
        self._left: set[Setting] = set()
        """Settings from which it has started without success."""

    def moved(self, known: Mapping[Setting, float]) -> dict[str, Value]:
        """Return a neighbour of where the search is."""
        if self._here is None or self._failures >= PATIENCE:
            self._restart(known)
        assert self._here is not None  # noqa: S101 - a restart finds a setting
        moved = self._here
        for _ in range(50):
            count = min(self._stream.choice((1, 1, 2, 3)), len(self._varied))
            chosen = self._stream.sample(list(self._varied), count)
            moved = self._here.but(
                **{p.name: step(self._stream, p, self._here[p.name], self._width) for p in chosen}
            )
            if moved not in known:
                break
        return {parameter.name: moved[parameter.name] for parameter in self._varied}

    def told(self, setting: Setting, value: float) -> None:
        """Go on from a better setting, also one of the sampler."""
        if self._here is None:
            return
        if value > self._value:
            self._here, self._value, self._failures = setting, value, 0
            self._width = min(self._width * 1.5, WIDE)
        else:
            self._failures += 1
            # One success in five moves keeps the width: 1.5 times 0.9 to the fourth is about one.
            self._width = max(self._width * 0.9, NARROW)

    def _restart(self, known: Mapping[Setting, float]) -> None:
        if self._here is not None:
            self._left.add(self._here)
        free = [setting for setting in known if setting not in self._left] or list(known)
        best = max(known.values())
        # The best one first, then others among the better half.
        ranked = sorted(free, key=lambda setting: known[setting], reverse=True)
        first = known[ranked[0]] == best and not self._left
        self._here = ranked[0] if first else self._stream.choice(ranked[: max(len(ranked) // 10, 1)])
        self._value, self._width, self._failures = known[self._here], WIDTH, 0


def step(stream: random.Random, parameter: Unsaid, value: Value, width: float) -> Value:
    """Return a value near another: a normal step within the range, or another choice."""
    if parameter.choices:
        others = [choice for choice in parameter.choices if choice != value]
        return stream.choice(others) if others else value
    share = parameter.share(value) + stream.gauss(0, width)
    # Reflected at the ends of the range: no value is lost for want of room.
    share = abs(share) if share < 1 else 2 - share
    return parameter.at(min(max(share, 0.0), 1.0))


def _distribution(parameter: Unsaid) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    if parameter.choices:
        return CategoricalDistribution(list(parameter.choices))
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def _rounded(value: Value) -> Value:
    # Three digits: settings are to be read and typed again.
    return float(f"{value:.3g}") if isinstance(value, float) else value
