"""The data set of a sweep: whatever comes in whichever portions, the same bytes."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogtcp.running.runner import Journal, Outcome
from cogtcp.running.sweeping import columns, dataset, ordered

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 40


@pytest.fixture(scope="module", autouse=True)
def small_portions() -> Any:
    """Let few rows go through all that many rows do: pieces, rounds of merging, groups, files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_MOST_ROWS", 5)
        patch.setattr(ordered, "_ROWS", 3)
        patch.setattr(ordered, "_FAN", 2)
        patch.setattr(ordered, "GROUP_ROWS", 4)
        patch.setattr(ordered, "FILE_ROWS", 8)
        patch.setattr(dataset, "_SOME", 3)
        yield


def outcome(
    transport: str, seed: int, values: dict[str, Any], flows: int | None, version: int = 0
) -> Outcome:
    """Return what came of a run with so many flows; None: it failed."""
    what = json.dumps([transport, seed, values, version], sort_keys=True)
    key = hashlib.sha256(what.encode()).hexdigest()[:32]
    label = (transport, seed, values)
    if flows is None:
        return Outcome(key, error="no idea", label=label)
    rows = {"flow": [f"flow-{number}" for number in range(flows)], "goodput_bps": [float(seed)] * flows}
    metrics = {"goodput_bps": float(version)}
    return Outcome(
        key, json.dumps({"digest": key, "metrics": metrics, "tables": {"flows": rows}}), label=label
    )


points = st.fixed_dictionaries(
    {}, optional={"x": st.sampled_from([1.0, 2.0, "auto"]), "y": st.sampled_from([0.5, 10.0])}
)
runs = st.builds(
    outcome,
    st.sampled_from(["newreno", "sack"]),
    st.integers(1, 3),
    points,
    st.sampled_from([None, 0, 1, 2]),
)


def put(folder: Path, portions: list[list[Outcome]]) -> dict[str, bytes]:
    """Bring portions of runs into a data set one after the other, and return its files."""
    for portion in portions:
        with Journal(folder / "runs") as journal:
            for each in portion:
                journal.append(each)
            dataset.compact(folder, journal, ["flows"])
    root = folder / "data"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def best(some: list[Outcome]) -> dict[str, Outcome]:
    """Return of every key one that did not fail, where there is one."""
    found: dict[str, Outcome] = {}
    for each in some:
        if each.key not in found or found[each.key].error:
            found[each.key] = each
    return found


@settings(max_examples=ROUNDS, deadline=None)
@given(st.lists(runs, min_size=1, max_size=25), st.data())
def test_the_data_set_does_not_depend_on_the_portions(
    tmp_path_factory: pytest.TempPathFactory, some: list[Outcome], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("data")
    unique = best(some)
    # Of those with one key that did not fail the first one counts: let them be the same.
    some = [each if each.error else unique[each.key] for each in some]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(some)), max_size=3)))
    portions = [some[start:end] for start, end in pairwise([0, *cuts, len(some)])]
    whole = put(folder / "whole", [list(unique.values())])
    assert put(folder / "parts", portions) == whole
    rows = dataset.load(folder / "parts", "runs").to_pylist()
    assert {row["key"]: bool(row["error"]) for row in rows} == {k: bool(o.error) for k, o in unique.items()}
    assert len(rows) == len(unique)
    flows = dataset.load(folder / "parts", "flows")
    expected = sum(len(each.record["tables"]["flows"]["flow"]) for each in unique.values() if each.text)
    assert flows.num_rows == expected
    known = dataset.known(folder / "parts")
    for key, each in unique.items():
        recalled = known.get(key)
        assert recalled is not None
        assert recalled.error == each.error
    for path in (folder / "parts").rglob("*.parquet"):
        assert pq.read_metadata(path).num_rows <= 8


def test_one_run_is_a_data_set_too(tmp_path: Path) -> None:
    put(tmp_path, [[outcome("sack", 1, {}, 1)]])
    assert dataset.load(tmp_path, "runs").num_rows == dataset.load(tmp_path, "flows").num_rows == 1


def test_a_new_version_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    place: dict[str, Any] = {"x": 1.0}
    put(tmp_path, [[outcome("sack", 1, place, 2)], [outcome("sack", 1, place, 1, version=1)]])
    (row,) = dataset.load(tmp_path, "runs").to_pylist()
    assert row["goodput_bps"] == 1.0
    assert dataset.load(tmp_path, "flows").num_rows == 1
