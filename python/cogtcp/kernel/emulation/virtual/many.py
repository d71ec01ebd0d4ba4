"""Many runs in virtual time beside simulations: several guests at a time, and no run twice."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp._errors import NoKernelPlaneError, RunError
from cogtcp.kernel.emulation.launch import emulate
from cogtcp.kernel.emulation.pairs import MEASURES, Pair, pair_of
from cogtcp.kernel.emulation.virtual.kernels import find
from cogtcp.kernel.emulation.virtual.plane import code_hash
from cogtcp.model.result import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.kernel.emulation.virtual.kernels import Kernel
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

#: Of so many cases the first seed is kept in full, for the report.
_SHOWN = 12


@dataclass
class Made:
    """Pairs of both planes.

    Attributes:
        kernel: Release of the kernel.
        pairs: The pairs, in the order of what was asked for.
        interrupted: Whether Ctrl-C ended it before all had run.
        shown: Of the first cases, by scenario and transport: the first seed in full.
    """

    kernel: str
    pairs: list[Pair] = field(default_factory=list)
    interrupted: bool = False
    shown: dict[tuple[str, str], tuple[Result, Emulation]] = field(default_factory=dict)


def make_all(
    runs: Sequence[tuple[Scenario, str, int]],
    virtual: str | bool,
    jobs: int | None,
    known: Mapping[str, Pair],
    told: Callable[[Pair], None] | None,
) -> Made:
    """Make runs, each a scenario, its transport and a seed, on both planes. See `emulation.agreement.agree`.

    A run that fails is a pair that says so: the others go on.
    """
    kernel = find(None if isinstance(virtual, bool) else virtual)
    made = Made(f"{kernel.release} in virtual time")
    kept = dict.fromkeys((scenario.name, transport) for scenario, transport, _ in runs)
    shown = set(list(kept)[:_SHOWN])
    keys = [key_of(kernel, scenario, seed) for scenario, _, seed in runs]
    pairs = {at: known[key] for at, key in enumerate(keys) if key in known}
    ended = threading.Event()

    def once(at: int) -> tuple[Pair, Result | None, Emulation | None]:
        scenario, transport, seed = runs[at]
        try:
            real = emulate(scenario, seed, virtual=kernel.name, ended=ended.is_set, quiet=True)
            simulation = run(
                kernel.modelled(scenario), seed, "full" if (scenario.name, transport) in shown else "summary"
            )
        except NoKernelPlaneError:
            raise
        except RunError as error:
            nothing = dict.fromkeys(MEASURES, math.nan)
            failed = Pair(
                scenario.name, transport, seed, nothing, nothing, f"failed: {error}", 0.0, 0.0, keys[at]
            )
            return failed, None, None
        return pair_of(scenario, transport, simulation, real, keys[at]), simulation, real

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        begun = {pool.submit(once, at): at for at in range(len(runs)) if at not in pairs}
        try:
            for done in as_completed(begun):
                pair, simulation, real = done.result()
                pairs[begun[done]] = pair
                if simulation is not None and real is not None and (pair.scenario, pair.transport) in shown:
                    made.shown.setdefault((pair.scenario, pair.transport), (simulation, real))
                if told:
                    told(pair)
        except KeyboardInterrupt:
            made.interrupted = True
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)
    # In the order of the scenarios, whichever was ready first.
    made.pairs = [pairs[at] for at in sorted(pairs)]
    return made


def key_of(kernel: Kernel, scenario: Scenario, seed: int) -> str:
    """Return what a run on both planes hangs on, as a hash."""
    what = [scenario.hash, seed, kernel.identity, _model_hash(), code_hash()]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:24]


@cache
def _model_hash() -> str:
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
