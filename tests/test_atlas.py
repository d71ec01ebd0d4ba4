"""The atlas: its space, its survey, quick answers, and its page."""

import importlib.util
import json
import math
from pathlib import Path

import pyarrow.parquet
import pytest

import cogtcp
from cogtcp import Scenario, UsageError
from cogtcp.cli import main
from cogtcp.deciding.atlas import lookup, rules, survey
from cogtcp.deciding.atlas.space import AXES, FLOWS, LAWS, SILENCES, place_of, point
from cogtcp.deciding.atlas.transports import CANDIDATES, SURVEYED
from cogtcp.showing.report.atlas import atlas_page
from conftest import ROOT, SMALL


def test_points_fill_the_space_evenly() -> None:
    places = [point(index) for index in range(2000)]
    for axis in AXES:
        shares = sorted(axis.share(getattr(place, axis.name)) for place in places)
        assert shares[0] >= -1e-9
        assert shares[-1] <= 1 + 1e-9
        if axis.name not in ("silence_rtt", "period_rtt"):  # folded back at their edges
            assert max(abs(share - (n + 0.5) / 2000) for n, share in enumerate(shares)) < 0.01
    for name, values in (("law", LAWS), ("silence", SILENCES), ("flows", FLOWS)):
        counts = [sum(getattr(place, name) == value for place in places) for value in values]
        assert max(counts) - min(counts) < 0.05 * 2000
    assert all(place.silence_rtt <= 0.5 * place.period_rtt + 1e-9 for place in places)


def test_a_point_is_a_scenario_and_comes_back_of_it() -> None:
    for index in range(0, 400, 7):
        place = point(index)
        scenario = place.scenario()
        scenario.check()
        found = place_of(scenario)
        assert not isinstance(found, str)
        back, unlike = found
        assert unlike == []
        assert (back.law, back.silence, back.flows) == (place.law, place.silence, place.flows)
        for axis in AXES:
            if axis.name == "loss" and place.loss < 1e-5:
                continue
            if axis.name == "rate_range" and place.rate_range < 1.2:
                continue
            if axis.name == "queue_bdp" and place.queue_bdp * place.bdp < 6:
                continue  # two packets at least
            tolerance = 0.1 if axis.name == "queue_bdp" else 1e-3  # whole packets
            assert getattr(back, axis.name) == pytest.approx(getattr(place, axis.name), rel=tolerance)


def test_a_queue_of_bytes_is_the_same_place_as_one_of_packets() -> None:
    scenario = point(0).scenario().set("tcp.segment_size", "500 B")
    found = [
        place_of(scenario.set("topology.single_hop.link.queue", queue))
        for queue in ("100 packets", f"{100 * (500 + 52)} B")
    ]
    assert not any(isinstance(each, str) for each in found)
    assert found[0] == found[1]


def test_a_survey_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "SURVEYED", ("newreno", "linux-cubic"))
    assert survey.survey(2, tmp_path, jobs=1)
    counts: list[tuple[int, int]] = []

    class Listener:
        def update(self, progress: object) -> None:
            counts.append((progress.made, progress.known))  # type: ignore[attr-defined]

    assert survey.survey(3, tmp_path, jobs=1, progress=Listener())
    assert counts[-1] == (4, 8), "one point more, two transports, two seeds"
    table = survey.collect(5, tmp_path)
    assert table.column("point").to_pylist() == [0, 1, 2], "points that are not finished are left out"
    again = cogtcp.run(point(1).scenario().with_transport("newreno"), 3, "summary").metrics["efficiency"]
    other = cogtcp.run(point(1).scenario().with_transport("newreno"), 4, "summary").metrics["efficiency"]
    kept = table.column("newreno:efficiency").to_pylist()[1]
    assert kept == pytest.approx((again + other) / 2, rel=1e-6)


def test_the_shipped_atlas_is_what_its_page_says() -> None:
    atlas = lookup.load()
    judged = json.loads((ROOT / "docs" / "data" / "atlas.json").read_text())
    assert len(atlas.places) == judged["points"]
    file = ROOT / "docs" / "data" / "atlas.parquet"
    assert file.resolve() == (ROOT / "python/cogtcp/deciding/atlas/atlas.parquet").resolve()
    assert file.stat().st_size < 10_000_000
    assert atlas.provenance["runs"] == str(judged["runs"])
    spec = importlib.util.spec_from_file_location("generate_atlas", ROOT / "docs" / "generate_atlas.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert (ROOT / "docs" / "atlas.md").read_text() == generator.page(judged), (
        "run docs/generate_atlas.py page"
    )
    # What the page is for: a quick answer that is right nine times in ten.
    assert judged["right_or_within_5"] >= 0.9 * judged["fresh"]


def test_a_quick_answer_is_that_of_its_neighbours() -> None:
    atlas = lookup.load()
    right = 0
    for index in range(0, len(atlas.places), max(1, len(atlas.places) // 60)):
        found = lookup.guess_at(atlas.places[index], atlas)
        assert 0 <= found.sureness <= 1
        assert found.distance == 0, "the point itself is the nearest"
        best = max(v for values in atlas.efficiency.values() if not math.isnan(v := values[index]))
        right += atlas.efficiency[found.winner][index] >= 0.95 * best
    assert right >= 50


def test_points_made_anew_replace_their_rows_and_no_others() -> None:
    import pyarrow as pa

    words = {"law": ["pu"] * 3, "silence": ["hold", "drop", "drop"]}
    coded = {name: pa.array(values).dictionary_encode() for name, values in words.items()}
    old = pa.table({"point": [0, 1, 2], **coded, "sack:efficiency": [0.1, 0.2, 0.3]})
    coded = {
        "law": pa.array(["on-off"]).dictionary_encode(),
        "silence": pa.array(["hold"]).dictionary_encode(),
    }
    new = pa.table({"point": [1], **coded, "sack:efficiency": [0.9], "quic:efficiency": [0.8]})
    both = survey.merged(new, old)
    assert both.column("point").to_pylist() == [0, 1, 2]
    assert both.column("sack:efficiency").to_pylist() == [0.1, 0.9, 0.3]
    assert both.column("quic:efficiency").to_pylist() == [None, 0.8, None]
    assert both.column("law").to_pylist() == ["pu", "on-off", "pu"]
    assert survey.runs_of(both) == survey.SEEDS * 4


def test_a_transport_at_few_points_is_compared_there() -> None:
    places = tuple(point(index) for index in range(400))
    known = {"sack": [0.5] * 400, "bbr": [0.6] * 400}
    for quic, expected in ((0.7, "quic"), (0.5, "bbr")):
        # At every fifth point alone; the others say nothing of it, neither good nor bad.
        values = tuple(quic if index % 5 == 0 else math.nan for index in range(400))
        found = lookup.guess_at(
            places[7], lookup.Survey(places, {**{k: tuple(v) for k, v in known.items()}, "quic": values}, {})
        )
        assert found.winner == expected
        assert found.sureness == pytest.approx(1)
        assert found.expected["quic"] == pytest.approx(quic)


def test_quick_on_the_command_line(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "sensed-link", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["winner"] in CANDIDATES
    assert found["points"] == lookup.NEAREST
    assert main(["advise", str(small), "--quick"]) == 0
    assert "Unlike the atlas: sensing and primary users together" in capsys.readouterr().out
    for options, says in (
        (["cr-single-hop", "--quick"], "does not cover this scenario"),
        (["sensed-link", "--quick", "--for", "utility"], "covers goodput"),
        (["sensed-link", "--quick", "--constraint", "delay<=1 s"], "knows no --constraint"),
    ):
        assert main(["advise", *options]) == 2
        assert says in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"one radio"):
        lookup.guess(
            Scenario.from_toml(SMALL.split("[[radio]]")[0] + "[[flow]]" + SMALL.split("[[flow]]")[1])
        )


def test_rules_are_said_of_points_that_they_apply_to() -> None:
    places = [point(index) for index in range(300)]
    assert any(rule.applies(place) for rule in rules.RULES[1:] for place in places)
    place = places[0]
    assert rules.recovery(place) == pytest.approx(place.bdp / place.flows / 2 / place.period_rtt)
    best = {**dict.fromkeys(CANDIDATES, 0.5), "sack": 1.0}
    assert rules.as_good("bbr")({**best, "bbr": 0.96})
    assert not rules.as_good("bbr")({**best, "bbr": 0.94})
    assert rules.as_good("bbr")({**best, "bbr": 0.96, "tfrc": 2.0}), "what loses data is no choice"
    assert math.isclose(rules.silent(place), place.silence_rtt / place.period_rtt)


def test_a_control_that_hears_the_radio_is_told_of_the_round_trip_time() -> None:
    place = point(3)
    by_name = {case.transport: case for case in survey.cases_at(3, place, ("cubic", "satcp"))}
    told = by_name["satcp"].prepared().to_dict()["flow"][0]["tcp"]["parameters"]
    assert told == {"extension": pytest.approx(2 * place.rtt_s)}
    assert "tcp" not in by_name["cubic"].prepared().to_dict()["flow"][0]


def test_the_map_is_one_file_that_allows_its_own_script_alone() -> None:
    text = atlas_page(lookup.load(), lab="lab/index.html")
    assert "script-src 'sha256-" in text
    assert "<noscript>" in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    for name in SURVEYED:
        assert f">{name}<" in text or f'"{name}"' in text


def test_no_column_of_the_survey_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    lookup.load.cache_clear()
    lookup._file.cache_clear()
    asked: list[str] = []
    read, opened = lookup.read, []
    opener = pyarrow.parquet.ParquetFile
    monkeypatch.setattr(lookup, "read", lambda wanted: asked.extend(wanted) or read(wanted))
    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", lambda file: opened.append(file) or opener(file))
    found = lookup.efficiencies()
    assert len(asked) == len(set(asked))
    assert len(opened) == 1
    assert list(found) == list(SURVEYED)
    table = pyarrow.parquet.read_table(ROOT / "python/cogtcp/deciding/atlas/atlas.parquet")
    for name in SURVEYED:
        of_file = [math.nan if value is None else value for value in table[f"{name}:efficiency"].to_pylist()]
        assert found[name] == pytest.approx(of_file, nan_ok=True)
