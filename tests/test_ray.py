"""Sweeps on a real Ray cluster of several nodes, on this machine."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cogtcp
from cogtcp import Scenario, UsageError, studies
from cogtcp.running.runner import Case, Progress, Runner
from cogtcp.running.runner.on_ray import OnRay
from cogtcp.running.sweeping import dataset
from conftest import SMALL, files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cogtcp import Result


def test_without_ray_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'cogtcp\[ray\]'"):
        OnRay("auto")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: Connection refused"),
        ("ray://127.0.0.1:1", "no Ray cluster at ray://127.0.0.1:1"),
        ("head:port", "write a host and a port"),
        ("head:99999", "write a host and a port"),
    ],
)
def test_where_nobody_listens_there_is_one_message_at_once(
    address: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra ray)")
    # It would try for minutes.
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray is asked"))
    runner = Runner(launcher=OnRay(address))
    with pytest.raises(UsageError, match=says) as raised:
        runner.outcomes([Case(Scenario.from_toml(SMALL), 1, dies)])
    assert "\n" not in str(raised.value)


def dies(result: Result) -> dict[str, Any]:
    if result.seed == 3:
        import os

        os._exit(1)
    return {"seed": result.seed}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a cluster of a head without processors and two nodes with one each."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra ray)")
    import os

    from ray.cluster_utils import Cluster

    # Workers import this module by its name.
    before = os.environ.get("PYTHONPATH")
    # No empty part: it would stand for the folder that a program of a later test is started in.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *([before] if before else [])])
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()  # type: ignore[no-untyped-call]
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


pytestmark = pytest.mark.filterwarnings("ignore")  # Ray leaves sockets and files to the garbage collector


def data(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / "data" / name).read_bytes() for name in files(folder / "data") if name.endswith("t")
    }


def test_a_sweep_on_ray_is_the_same_bytes_though_a_node_dies(cluster: Any, tmp_path: Path) -> None:
    # Runs of some ten milliseconds, in batches of two seconds: some are on the node that dies.
    scenario = Scenario.from_toml(SMALL).set("run.duration", "1000 s")
    vary: dict[str, Any] = {"radio.0.sensing.on": ["1 s", "2 s", "3 s"]}
    asked: dict[str, Any] = {"transports": ["newreno", "sack"], "seeds": 40}
    dead = threading.Event()
    victim = list(cluster.worker_nodes)[-1]

    class Watch:
        def update(self, counts: Progress) -> None:
            if counts.made >= 30 and not dead.is_set():
                dead.set()
                cluster.remove_node(victim, allow_graceful=False)

    there = cogtcp.sweep(
        scenario, vary, out=tmp_path / "ray", launcher=OnRay("auto"), progress=Watch(), **asked
    )
    assert dead.is_set()
    assert (there.progress.made, there.progress.failed) == (240, 0), "none lost, none made twice"
    rows = dataset.load(tmp_path / "ray", "runs")
    assert rows.num_rows == len(set(rows["key"].to_pylist())) == 240
    cogtcp.sweep(scenario, vary, out=tmp_path / "here", **asked)
    assert data(tmp_path / "ray") == data(tmp_path / "here")
    again = cogtcp.sweep(scenario, vary, out=tmp_path / "ray", launcher=OnRay("auto"), **asked)
    assert again.progress.known == 240


def test_a_run_that_kills_its_worker_is_a_failure_and_the_others_go_on(cluster: Any) -> None:
    scenario = Scenario.from_toml(SMALL)
    runner = Runner(launcher=OnRay("auto"))
    outcomes = runner.outcomes([Case(scenario, seed, dies) for seed in range(8)])
    assert [bool(outcome.error) for outcome in outcomes] == [seed == 3 for seed in range(8)]
    assert "its worker died" in outcomes[3].error


def test_a_defect_of_the_measure_is_raised(cluster: Any) -> None:
    with pytest.raises(KeyError, match="nothing"):
        Runner(launcher=OnRay("auto")).outcomes([Case(Scenario.from_toml(SMALL), 1, broken)])


def broken(result: Result) -> dict[str, Any]:
    return {"value": result.metrics["nothing"]}


def test_ctrl_c_leaves_what_is_finished(cluster: Any, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SMALL).set("run.duration", "1000 s")

    class Stop:
        def update(self, counts: Progress) -> None:
            if counts.made >= 5:
                raise KeyboardInterrupt

    vary: dict[str, Any] = {"radio.0.sensing.on": ["1 s", "2 s"]}
    asked: dict[str, Any] = {"seeds": 500, "out": tmp_path / "out", "launcher": OnRay("auto")}
    found = cogtcp.sweep(scenario, vary, progress=Stop(), **asked)
    assert found.interrupted
    assert 5 <= found.runs.num_rows < 1000


STUDY = """
title = "A study of one's own"
paper = "Nobody: Nothing"
seeds = 2
quick_seeds = 2

[[claim]]
id = "own-f1"
figure = "Fig. 1"
claim = "Half of the time is silent."
paper = "half"

[[claim.points]]
rate_mbps = [1, 2]

[[claim.statement]]
says = "Goodput is half of the rate, within 15 %."
kind = "magnitude"
test = "near"
quantity = "share"
than = 0.5
margin = 0.15
each = ["rate_mbps"]

[[unsaid]]
name = "off_s"
base = 0.2
between = [0.1, 2]
why = "not given"
"""
RUNS = """
from .reading import measure


def scenario(study, setting, point, seed):
    scenario = study.scenario("small").set("run.duration", "8 s")
    scenario = scenario.set("topology.single_hop.link.rate", f"{point.rate_mbps:g} Mbit/s")
    return scenario.set("radio.0.sensing.off", f"{setting.off_s * 1000:.0f} ms")
"""
READING = """
RATE = "topology"


def share(result):
    rate = result.scenario.to_dict()[RATE]["single_hop"]["link"]["rate"]
    (flow,) = result.flows.to_pylist()
    return flow["goodput_bps"] / 1e6 / float(rate.split()[0])


def measure(result):
    return {"share": share(result)}
"""


def test_a_study_is_searched_on_ray_with_code_that_no_worker_can_import(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studies" / "own"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    (folder / "runs.py").write_text(RUNS)
    (folder / "reading.py").write_text(READING)
    (folder / "scenarios" / "small.toml").write_text(SMALL)
    monkeypatch.setenv("COGTCP_STUDIES", str(folder.parent))
    asked: dict[str, Any] = {"settings": 4, "seeds": 2, "trials": 3}
    here = [path.read_bytes() for path in studies.search_space("own", **asked)]

    class Counting(OnRay):
        made = 0

        def launch(self, *given: Any) -> Any:
            for outcome in super().launch(*given):
                self.made += 1
                yield outcome

    first, again = Counting("auto"), Counting("auto")
    there = studies.search_space("own", launcher=first, out=tmp_path / "ray", **asked)
    assert [path.read_bytes() for path in there] == here
    assert first.made > 0
    # What is kept is not made again: the search goes on where it was.
    studies.search_space("own", launcher=again, out=tmp_path / "ray", **asked)
    assert again.made == 0
