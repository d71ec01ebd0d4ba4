"""Runs on a Ray cluster (the extra `ray`).

Short runs go out in batches of a second or two, so that scheduling costs little beside the work, and a few
batches a processor at a time. The driver alone keeps what comes back: a batch that was lost with its worker
or node goes out again, and a run that comes back twice counts once.
"""

from __future__ import annotations

import socket
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.running.runner.case import Outcome
from cogtcp.running.runner.launch import Local

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from cogtcp.running.runner.case import Case

# Seconds of work of a batch, and batches under way for each processor: one at work, one waiting.
_BATCH_S = 2.0
_AHEAD = 2
_MOST_CASES = 2000
# How long the head of a cluster has to answer that it is there.
_REACH_S = 10.0
_LAST_PORT = 65535
# How often the driver looks up from waiting, for Ctrl-C.
_WAKE_S = 0.5
# A case that was lost with its worker so often is taken for the reason.
_TRIES = 3


@dataclass
class _Batch:
    """Cases that go out together, and how often they went."""

    cases: list[tuple[str, Case]]
    tries: int = 0


class OnRay:
    """Makes runs on Ray.

    Args:
        address: `auto` for the cluster that this machine belongs to, `local` for one of this machine alone,
            started and stopped with the runs, or the address of a cluster (`ray://HOST:10001`, `HOST:6379`).
    """

    def __init__(self, address: str = "auto") -> None:
        self.address = address
        _ray()

    @contextmanager
    def ready(self, package: str) -> Generator[None, None, None]:
        """Connect once for several launches; functions of `package` travel with their code."""
        ray = _ray()
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        # Workers have no such package: its functions travel with their code, not by name.
        ray.cloudpickle.register_pickle_by_value(sys.modules[package])
        try:
            yield
        finally:
            ray.cloudpickle.unregister_pickle_by_value(sys.modules[package])
            if ours:
                ray.shutdown()

    def launch(
        self, cases: Iterator[tuple[str, Case]], keep: Callable[[Outcome], None], time_limit: float | None
    ) -> Generator[Outcome, None, None]:
        """Make runs, see `cogtcp.runner.Launcher`."""
        ray = _ray()
        # Whoever connected before, as `ready` does, disconnects, too.
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        try:
            yield from _launch(ray, cases, keep, time_limit)
        finally:
            if ours:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        _reach(self.address)
        if self.address != "local":
            options["address"] = self.address
        else:
            options["include_dashboard"] = False
        try:
            ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            raise _nobody_at(self.address, str(error)) from None


def _reach(address: str) -> None:
    """Raise if nobody listens at `HOST:PORT`: Ray would try for minutes, and say so often."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address in ("auto", "local") or not colon:
        return
    if not port.isdigit() or int(port) > _LAST_PORT:
        raise UsageError(f"--ray {address}: write a host and a port, as in ray://head:10001 or head:6379")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _REACH_S):
            pass
    except OSError as error:
        raise _nobody_at(address, error.strerror or str(error)) from None


def _nobody_at(address: str, reason: str) -> UsageError:
    return UsageError(
        f"no Ray cluster at {address}: {' '.join(reason.split())}; start one with `ray start --head`, or "
        "take --ray local"
    )


def _launch(
    ray: Any, cases: Iterator[tuple[str, Case]], keep: Callable[[Outcome], None], time_limit: float | None
) -> Generator[Outcome, None, None]:
    # Ray's own retries are off: it would repeat a whole batch for one case that kills its worker.
    remote = ray.remote(num_cpus=1, max_retries=0)(make_batch)
    limit = ray.put(time_limit)
    under_way: dict[Any, _Batch] = {}
    again: list[_Batch] = []
    waiting: set[str] = set()
    seconds, made = 0.0, 0

    def next_batch() -> _Batch | None:
        # What was lost goes out first: it is what the rest waits for in the end.
        if again:
            return again.pop()
        # The first ones are single cases: they tell how long one takes.
        size = 1 if not made else max(1, min(_MOST_CASES, int(_BATCH_S / max(seconds / made, 1e-6))))
        drawn = list(islice(cases, size))
        waiting.update(key for key, _ in drawn)
        return _Batch(drawn) if drawn else None

    try:
        while True:
            # Asked each time: a cluster grows and shrinks.
            room = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while len(under_way) < room and (batch := next_batch()) is not None:
                under_way[remote.remote(batch.cases, limit)] = batch
            if not under_way:
                return
            ready, _ = ray.wait(list(under_way), num_returns=1, timeout=_WAKE_S)
            for reference in ready:
                batch = under_way.pop(reference)
                try:
                    outcomes = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise error.as_instanceof_cause() from None  # a defect of the measure
                except ray.exceptions.RayError as error:
                    again += _broken_up(batch, error)
                    outcomes = [] if batch.tries < _TRIES or len(batch.cases) > 1 else [_lost(batch, error)]
                for outcome in outcomes:
                    # A batch that was thought lost may have come back before.
                    if outcome.key in waiting:
                        waiting.discard(outcome.key)
                        seconds, made = seconds + outcome.seconds, made + 1
                        keep(outcome)
                        yield outcome
    finally:
        for reference in under_way:
            ray.cancel(reference, force=True)


def make_batch(cases: list[tuple[str, Case]], time_limit: float | None) -> list[Outcome]:
    """Make the runs of a batch, one after the other, where Ray puts it."""
    # One at a time, as Ray counts one processor for it. `Local` has time limits, `make` has none.
    return list(Local(1).launch(iter(cases), _nothing, time_limit))


def _nothing(outcome: Outcome) -> None:
    """Keep nothing: the driver does."""


def _broken_up(batch: _Batch, error: Exception) -> list[_Batch]:
    """Return what to send again of a batch that was lost: its cases one by one, in case one is to blame."""
    if batch.tries + 1 >= _TRIES and len(batch.cases) == 1:
        batch.tries = _TRIES
        return []
    if batch.tries == 0:
        return [_Batch(batch.cases, 1)]  # a node may have gone: nobody is to blame yet
    # Lost twice: alone, the case that kills its worker stands out.
    return [_Batch([case], batch.tries + 1 if len(batch.cases) == 1 else 1) for case in batch.cases]


def _lost(batch: _Batch, error: Exception) -> Outcome:
    ((key, case),) = batch.cases
    return Outcome(key, error=f"its worker died {_TRIES} times: {type(error).__name__}", label=case.label)


def _ray() -> Any:
    try:
        import ray
        import ray.cloudpickle
        import ray.exceptions
    except ModuleNotFoundError:
        raise UsageError(
            "--ray needs Ray, which is not installed; install it with: pip install 'cogtcp[ray]'"
        ) from None
    return ray
