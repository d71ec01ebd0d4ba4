"""What the shipped studies state of the papers: which statements are there, and whose claims they are."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest

from cogtcp import studies
from cogtcp.running.runner import Runner
from cogtcp.studies import StudyError, code, folder
from cogtcp.studies.context import Context


def _claim(name: str) -> studies.ClaimRow:
    study, single = folder.find(name)
    (row,) = folder.select(study, [single or name])
    return row


def test_freeze_is_above_standard_tcp_at_each_duration() -> None:
    row = _claim("trains-f7")
    (each,) = [s for s in row.statements if s.says == "Throughput is higher with managers, at each duration."]
    assert (each.test, each.each, dict(each.where)) == ("above", ("sensing_s",), {})
    assert (each.of, each.than) == ({"manager": True}, {"manager": False})
    (window,) = [p for p in folder.find("trains")[0].unsaid if p.name == "window"]
    assert min(window.choices) == 5.0


def test_cubic_is_above_newreno_and_westwood() -> None:
    row = _claim("c2-f4b")
    above = {
        s.than["transport"] for s in row.statements if s.of == {"transport": "cubic"} and s.test == "above"
    }
    assert above == {"newreno", "westwood-tustin"}
    # Nothing of the older list was dropped.
    assert len(row.statements) == 14


def test_c2_beside_bbr_is_no_claim_of_the_paper() -> None:
    # The paper speaks of classical flavors of TCP, and does not name BBR.
    used = {name: {s.says for s in _claim(name).statements} for name in ("c2-x1", "c2-x5")}
    assert [len(used["c2-x1"]), sum("CUBIC" in says for says in used["c2-x1"])] == [2, 2]
    assert [len(used["c2-x5"]), sum("BBR" in says for says in used["c2-x5"])] == [2, 2]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("c2-x1", False),
        ("c2-x2", False),
        ("c2-x3", True),
        ("c2-x5", True),
        ("manet-r1", True),
        ("manet-n1", True),
        ("manet-t1", False),
    ],
)
def test_whose_claim_it_is(name: str, ours: bool) -> None:
    assert _claim(name).ours is ours


def test_no_two_claims_have_one_name(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    names = Counter(row.id for study in studies.list_studies() for row in study.claims)
    assert [name for name, count in names.items() if count > 1] == []
    (first, *_) = studies.list_studies()
    monkeypatch.setattr(folder, "load", lambda _: first)
    with pytest.raises(StudyError, match=f"{first.claims[0].id} is a claim of {first.name} and"):
        studies.list_studies()


def test_the_least_rto_of_c2_can_be_linuxs() -> None:
    study, _ = folder.find("c2")
    make = code.function(study, "runs", "scenario")
    context = Context(study, (1,), quick=True, _runner=Runner())
    for value in (0.2, 0.5, 1.0):
        setting = study.space.parsed(f"min_rto_s={value}")
        data = make(context, setting, _claim("c2-f4b").points[0], 1).to_dict()
        amount, unit = re.fullmatch(r"(\d+) (\w+)", data["tcp"]["min_rto"]).groups()
        assert float(amount) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit] == pytest.approx(value)


def test_a_one_sided_test_has_the_bound_that_it_tested() -> None:
    # 95 % from both sides, 0.972 to 1.25, contains 1; the tested bound does not.
    values = [1.3, 1.0, 1.2, 0.96, 1.12, 1.08]
    found = studies.verdicts.ratio(values, [1.0] * 6)
    two_sided = studies.verdicts.mean_interval(values)
    assert two_sided.low < 1 < found.low
    assert (found.verdict, found.high) == ("holds", math.inf)
    assert found.statement == f"{found.estimate:.3g} [≥ {found.low:.3g}]"
    below = studies.verdicts.ratio(values, [1.0] * 6, 1.25, above=False)
    assert (below.verdict, below.low) == ("holds", -math.inf)
    assert below.high < 1.25
