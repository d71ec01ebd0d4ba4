"""Many simulations on a few threads (the core gives up Python's lock while it simulates).

Ctrl-C may strike the main thread at any instruction. So it holds no lock that a worker needs: it only reads a
`SimpleQueue`, whose operations are atomic, where `concurrent.futures.wait` would leave futures locked.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cogtcp import _core

T = TypeVar("T")
R = TypeVar("R")

# How often the main thread looks up from waiting, for Ctrl-C.
_WAKE_S = 0.2


def for_each(
    tasks: Sequence[T],
    work: Callable[[T], R],
    collect: Callable[[T, R], None],
    *,
    jobs: int,
    cancel: _core.Cancel,
) -> None:
    """Do `work` on every task and hand each result to `collect`, in this thread, as it comes.

    Raises:
        BaseException: Whatever `work` or `collect` raised first, or the signal that came in between; by then
            `cancel` is set and no work is under way any more.
    """
    waiting: SimpleQueue[T] = SimpleQueue()
    done: SimpleQueue[tuple[T, R] | BaseException] = SimpleQueue()
    for task in tasks:
        waiting.put(task)

    def worker() -> None:
        while True:
            try:
                task = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((task, work(task)))
            except BaseException as error:
                # Raised in the main thread.
                done.put(error)

    threads = [Thread(target=worker, daemon=True) for _ in range(min(max(1, jobs), len(tasks)))]
    try:
        for thread in threads:
            thread.start()
        left = len(tasks)
        while left:
            try:
                outcome = done.get(timeout=_WAKE_S)
            except Empty:
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            collect(*outcome)
            left -= 1
    except BaseException:
        cancel.cancel()
        while not waiting.empty():
            try:
                waiting.get_nowait()
            except Empty:
                break
        raise
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()
