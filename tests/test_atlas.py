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
from cogtcp.deciding.atlas.space import (
    AXES,
    FLOWS,
    LAWS,
    SILENCES,
    Axis,
    SurveyPoint,
    _step,
    place_of,
    point,
)
from cogtcp.deciding.atlas.transports import CANDIDATES, SURVEYED
from cogtcp.running.space import quantity
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


PLACE = {
    "silence_rtt": 2.0, "period_rtt": 20.0, "rtt_s": 0.1, "bdp": 50.0, "queue_bdp": 1.0, "loss": 1e-4,
    "rate_range": 1.0, "law": "periodic", "silence": "hold", "flows": 2,
}  # fmt: skip


def at(**changed: object) -> SurveyPoint:
    return SurveyPoint(**{**PLACE, **changed})  # type: ignore[arg-type]


def test_the_scenario_of_a_point_by_hand() -> None:
    """50 packets of 1,512 bytes in 0.1 s are 6.048 Mbit/s; 2 of 20 round-trip times are silent."""
    place = at()
    assert place.rate_bps == pytest.approx(6.048e6)
    data = place.scenario().to_dict()
    link = data["topology"]["single_hop"]["link"]
    said = (link["rate"], link["delay"], link["queue"], link["loss"])
    assert [place_number(value) for value in said] == pytest.approx([6.048e6, 0.05, 50, 1e-4])
    sensing = data["radio"][0]["sensing"]
    assert (place_number(sensing["off"]), place_number(sensing["on"])) == pytest.approx((0.2, 1.8))
    # Twelve periods of 2 s; a fifth is warm-up, a tenth a sample.
    assert place.duration_s == pytest.approx(24.0)
    run = data["run"]
    assert [place_number(run[key]) for key in ("duration", "warmup", "sample_interval")] == pytest.approx(
        [24.0, 4.8, 2.4]
    )
    assert at(loss=0.9e-5).scenario().to_dict()["topology"]["single_hop"]["link"].get("loss", 0.0) == 0.0
    # A range of 1 to 3 with the same mean: 3.024 to 9.072 Mbit/s.
    ranged = at(rate_range=3.0).scenario().to_dict()["radio"][0]["channel"]["range"]
    assert [place_number(rate) for rate in ranged] == pytest.approx([3.024e6, 9.072e6])
    assert "range" not in at(rate_range=1.19).scenario().to_dict()["radio"][0]["channel"]
    off, on = (at(law="pu").scenario().to_dict()["radio"][0]["sensing"][key] for key in ("off", "on"))
    assert (place_number(off), place_number(on["exponential"])) == pytest.approx((0.2, 1.8))
    off = at(law="on-off").scenario().to_dict()["radio"][0]["sensing"]["off"]
    assert place_number(off["exponential"]) == pytest.approx(0.2)


def place_number(value: object) -> float:
    """Return a quantity in s, bit/s or packets."""
    found = quantity(value)
    return float(value) if found is None else found[0]  # type: ignore[arg-type]


def test_runs_last_for_their_cycles_within_what_is_affordable() -> None:
    assert at(period_rtt=5.0, silence_rtt=0.1, rtt_s=0.2).duration_s == pytest.approx(30.0), "150 round trips"
    assert at(period_rtt=5.0, silence_rtt=0.1, rtt_s=0.01, bdp=4.0).duration_s == 15.0, "the shortest"
    # 40,000 packets at 4,000 packets/s; 12 periods would be 48 s.
    assert at(period_rtt=40.0, bdp=400.0).duration_s == pytest.approx(12.0), "three periods in any case"
    assert at(period_rtt=30.0, bdp=400.0).duration_s == pytest.approx(10.0)
    assert at(period_rtt=900.0, rtt_s=0.4, bdp=4.0).duration_s == 240.0, "the longest"


def test_an_axis_is_logarithmic() -> None:
    axis = Axis("x", 0.1, 10.0, "X", "x")
    assert [axis.at(share) for share in (0.0, 0.25, 0.5, 1.0)] == pytest.approx(
        [0.1, 0.31623, 1.0, 10.0], rel=1e-4
    )
    assert [axis.share(value) for value in (0.1, 1.0, 10.0, 100.0, 0.01)] == pytest.approx(
        [0, 0.5, 1, 1.5, -0.5]
    )
    assert axis.share(0.0) == pytest.approx(-5.5)


def test_the_steps_of_the_survey_are_the_generalised_golden_ratio() -> None:
    """Of one dimension the golden ratio, of two the plastic number (Roberts 2018)."""
    assert _step(1) == pytest.approx([0.6180339887])
    assert _step(2) == pytest.approx([0.7548776662, 0.5698402910])


def test_a_dumbbell_counts_its_accesses_and_what_is_unlike_is_said() -> None:
    data = at().scenario().to_dict()
    link = data["topology"]["single_hop"]["link"]
    dumbbell = {"bottleneck": {**link, "delay": "30 ms"}, "access": {"rate": "1 Gbit/s", "delay": "10 ms"}}

    def place(**changed: object) -> tuple[SurveyPoint, list[str]] | str:
        return place_of(Shown({**data, **changed}))  # type: ignore[arg-type]

    found = place(topology={"dumbbell": dumbbell})
    assert not isinstance(found, str)
    # Twice 30 ms and, on both sides, twice 10 ms: 100 ms, as on the single link.
    assert found[0].rtt_s == pytest.approx(0.1)
    assert (found[0].bdp, found[0].queue_bdp, found[0].period_rtt) == pytest.approx((50, 1, 20))
    assert found[1] == []
    assert place(topology={"chain": {}}) == "the atlas covers a single link or a dumbbell"
    assert place(radio=[]) == "the atlas covers one radio"
    assert place(radio=data["radio"] * 2) == "the atlas covers one radio"
    cycles = "the atlas covers radios that are cycles (sensing, pu)"
    assert place(radio=[{"name": "r", "links": ["link"]}]) == cycles
    assert place(radio=[{**data["radio"][0], "journey": {}}]) == cycles
    assert place(radio=[{**data["radio"][0], "cr": {}}]) == cycles
    users = {"name": "r", "links": ["link"], "pu": {"interarrival": "1.8 s", "switching": "200 ms"}}
    found = place(radio=[users])
    assert not isinstance(found, str)
    assert (found[0].law, found[0].silence, found[0].silence_rtt) == ("pu", "hold", pytest.approx(2.0))
    found = place(radio=[{**data["radio"][0], "pu": users["pu"], "silence": "unreachable"}])
    assert not isinstance(found, str)
    assert found[1] == [
        "sensing and primary users together: the atlas knows sensing alone",
        'silence = "unreachable": taken for "drop"',
    ]
    assert found[0].silence == "drop"
    found = place(flow=[{"count": 3}, {}, {}])
    assert not isinstance(found, str)
    assert found[0].flows == 4, "five flows: 4 is nearer than 8 by ratio"
    traced = {"single_hop": {"link": {**link, "trace": "x.csv"}}}
    assert place(topology=traced) == "the atlas covers links with a rate and no trace"
    odd = {"single_hop": {"link": {**link, "queue": "red", "loss": 0.5, "delay": "600 ms"}}}
    found = place(topology=odd)
    assert not isinstance(found, str)
    assert found[0].queue_bdp == 1
    assert found[1][0] == 'queue = "red": taken for drop-tail of one bandwidth-delay product'
    assert [said.split(":")[0] for said in found[1][1:]] == [
        "Period / RTT 1.67", "RTT, s 1.2", "BDP, packets 600", "Loss 0.5",
    ]  # fmt: skip


class Shown:
    """Stands for a scenario: its data alone are asked for."""

    def __init__(self, data: dict[str, object]) -> None:
        self.to_dict = lambda: data


def test_each_rule_covers_what_its_words_say() -> None:
    """Reno's recovery is the packets of a flow, halved, over the periods in round-trip times."""
    by_name = {rule.name: rule for rule in rules.RULES}

    def applies(name: str, **changed: object) -> bool:
        return by_name[name].applies(at(**{"flows": 1, "period_rtt": 100.0, "silence_rtt": 1.0, **changed}))

    def recovered(share: float) -> dict[str, object]:
        """Return a flow whose window recovers in a share of the period of 100 round-trip times."""
        return {"bdp": 200.0 * share}

    assert applies("bbr", silence_rtt=50.0, bdp=400.0)
    assert rules.recovery(at(bdp=80.0, flows=4, period_rtt=20.0)) == pytest.approx(0.5)
    assert rules.silent(at(silence_rtt=2.0, period_rtt=20.0)) == pytest.approx(0.1)
    # Under 5 % of the time, and in 1/16 of the period.
    assert applies("bbr-short", **recovered(1 / 16), silence_rtt=4.0)
    assert not applies("bbr-short", **recovered(1 / 15), silence_rtt=4.0)
    assert not applies("bbr-short", **recovered(1 / 16), silence_rtt=5.0)
    assert applies("cubic", **recovered(1 / 16), queue_bdp=0.45)
    assert not applies("cubic", **recovered(1 / 16), queue_bdp=0.44)
    assert not applies("cubic", **recovered(1 / 15), queue_bdp=0.45)
    assert applies("sack", **recovered(1 / 62), queue_bdp=0.92)
    assert not applies("sack", **recovered(1 / 60), queue_bdp=0.92)
    assert not applies("sack", **recovered(1 / 62), queue_bdp=0.9)
    assert applies("capacity", silence_rtt=4.0)
    assert not applies("capacity", silence_rtt=5.0)
    assert not applies("capacity", period_rtt=70.0)
    assert applies("dropping", silence="drop", silence_rtt=9.0)
    assert not applies("dropping", silence="drop", silence_rtt=8.0)
    assert not applies("dropping", silence="hold", silence_rtt=9.0)
    assert not applies("dropping", silence="drop", silence_rtt=20.0, period_rtt=120.0)
    assert applies("ears", silence="drop", period_rtt=19.9)
    assert not applies("ears", silence="drop", period_rtt=20.0)
    assert not applies("ears", silence="hold", period_rtt=19.9)
    assert applies("deaf", period_rtt=200.0)
    assert not applies("deaf", period_rtt=199.0)


def test_each_rule_says_what_its_words_say() -> None:
    def holds(name: str, **efficiency: float) -> bool:
        (rule,) = [rule for rule in rules.RULES if rule.name == name]
        return rule.holds({**dict.fromkeys(CANDIDATES, 0.1), **efficiency})

    assert holds("capacity", sack=0.91)
    assert not holds("capacity", sack=0.9)
    assert holds("dropping", sack=0.59)
    assert not holds("dropping", sack=0.6)
    assert holds("ears", satcp=0.53, cubic=0.5)
    assert not holds("ears", satcp=0.525, cubic=0.5)
    for satcp, true in ((0.524, True), (0.525, False), (0.476, True), (0.474, False)):
        assert holds("deaf", satcp=satcp, cubic=0.5) == true
    for name, transport in (("bbr-short", "linux-bbr"), ("cubic", "linux-cubic"), ("sack", "sack")):
        others = dict.fromkeys(CANDIDATES, 1.0)
        assert holds(name, **{**others, transport: 0.96})
        assert not holds(name, **{**others, transport: 0.94})
    (ears,) = [rule for rule in rules.RULES if rule.name == "ears"]
    near = at(silence="drop", period_rtt=10.0)
    assert ears.asks(near, {"satcp": 0.5, "cubic": 0.5})
    assert not ears.asks(near, {"satcp": math.nan, "cubic": 0.5})
    assert not ears.asks(near, {"cubic": 0.5})
    assert not ears.asks(at(silence="hold", period_rtt=10.0), {"satcp": 0.5, "cubic": 0.5})


def test_coordinates_are_shares_of_axes_with_their_weights() -> None:
    """Half of an axis of the queue is 2 * 0.5; twice as many flows are 0.2 farther."""
    middle = {axis.name: axis.at(0.5) for axis in AXES}
    here = lookup._coordinates(at(**{**middle, "flows": 4}))
    assert here == pytest.approx((0.6, 0.6, 0.4, 0.75, 1.0, 0.6, 0.15, 0.4))
    out = lookup._coordinates(at(**{**middle, "queue_bdp": 99.0, "bdp": 0.1, "flows": 1}))
    assert (out[4], out[3], out[7]) == pytest.approx((2.0, 0.0, 0.0)), "no farther than the end of the axis"


def surveyed(*places: SurveyPoint, **efficiency: tuple[float, ...]) -> lookup.Survey:
    return lookup.Survey(places, efficiency, {})


def test_a_guess_by_hand() -> None:
    """Two points: here, and one of another law, 0.1 away. Their weights are 1 and exp(-2)."""
    other = 1 / (1 + math.exp(2))
    two = (at(), at(law="pu"))
    found = lookup.guess_at(at(), surveyed(*two, sack=(0.8, 0.4), bbr=(0.6, 0.5)))
    assert (found.winner, found.points, found.distance) == ("sack", 2, 0.0)
    assert found.expected == pytest.approx(
        {"sack": 0.8 * (1 - other) + 0.4 * other, "bbr": 0.6 * (1 - other) + 0.5 * other}
    )
    # At the other point it is at four fifths of the best.
    assert found.sureness == pytest.approx(1 - other)
    # Within 5 % it is as good; 0.95 * 0.8 is 0.76.
    assert lookup.guess_at(at(), surveyed(*two, sack=(0.8, 0.77), bbr=(0.6, 0.8))).sureness > 0.999
    assert lookup.guess_at(at(), surveyed(*two, sack=(0.8, 0.75), bbr=(0.6, 0.8))).sureness < 0.9
    # Another kind of silence says nothing.
    mixed = surveyed(at(silence="drop"), *two, sack=(0.1, 0.8, 0.4), bbr=(0.9, 0.6, 0.5))
    assert lookup.guess_at(at(), mixed).winner == "sack"
    assert lookup.guess_at(at(silence="drop"), mixed).winner == "bbr"
    # As often as good: the mean ratio decides. Here bbr is 1 and 0.9, sack 0.2 and 1.
    even = surveyed(at(), at(), sack=(0.2, 1.0), bbr=(1.0, 0.9))
    assert lookup.guess_at(at(), even).winner == "bbr"
    # The share counts more than the mean: 1 and 0.94 of the best, of which one is as good.
    often = surveyed(at(), at(), at(), sack=(0.7, 1.0, 1.0), bbr=(1.0, 0.94, 0.94))
    assert lookup.guess_at(at(), often).winner == "sack"


def test_an_answer_rests_on_the_nearest_points() -> None:
    """32 of them; of a transport at few points 24."""
    places = tuple(at(rtt_s=AXES[2].at(n / 99)) for n in range(100))
    good = tuple(1.0 if n < 32 else 0.1 for n in range(100))
    here = at(rtt_s=AXES[2].at(0.0))
    found = lookup.guess_at(here, lookup.Survey(places, {"sack": good, "bbr": (0.5,) * 100}, {}))
    assert (found.winner, found.sureness, found.points) == ("sack", pytest.approx(1.0), 32)
    fewer = tuple(1.0 if n < 31 else 0.1 for n in range(100))
    assert lookup.guess_at(here, lookup.Survey(places, {"sack": fewer, "bbr": (0.5,) * 100}, {})).sureness < 1
    # At every third point, of which the nearest 24 count: up to the 70th.
    few = tuple(math.nan if n % 3 else 0.8 if n < 70 else 9.0 for n in range(100))
    found = lookup.guess_at(here, lookup.Survey(places, {"sack": (0.5,) * 100, "quic": few}, {}))
    assert (found.winner, found.expected["quic"]) == ("quic", pytest.approx(0.8))
    # At most twice as good, at least half: a point where nearly nothing is delivered says no more.
    for quic, ratio in ((5.0, 2.0), (0.01, 0.5), (0.6, 1.2)):
        rare = tuple(math.nan if n % 3 else quic for n in range(100))
        found = lookup.guess_at(here, lookup.Survey(places, {"sack": (0.5,) * 100, "quic": rare}, {}))
        assert found.expected["quic"] == pytest.approx(0.5 * ratio)


def test_a_guess_is_told_in_sentences() -> None:
    found = lookup.Guess("sack", 0.75, {"bbr": 0.6, "sack": 0.8, "vegas": 0.7}, 0.0, ("a: b", "c: d"), 32)
    assert found.text == (
        "Probably sack: 80 % of the capacity, vegas 70 %. At 75 % of the 32 nearest points of the atlas sack "
        "is within 5 % of the best. Unlike the atlas: a: b; c: d. A full race: cogtcp advise without --quick."
    )
    assert "Unlike" not in lookup.Guess("sack", 0.75, {"sack": 0.8}, 0.0, (), 32).text


def test_a_point_is_folded_back_onto_what_a_run_can_carry() -> None:
    """The same share on all axes but two: a period of at most a minute, 60,000 packets and five silences."""
    steps = _step(len(AXES) + 3)
    for index in (0, 17, 400):
        place, shares = point(index), [(0.5 + (index + 1) * step) % 1 for step in steps]
        period = AXES[1].at(shares[1])
        most = min(60 / place.rtt_s, 60_000 / place.bdp)
        assert place.period_rtt == pytest.approx(max(min(period, most), 5.0))
        assert place.silence_rtt == pytest.approx(min(AXES[0].at(shares[0]), place.period_rtt / 2))
        assert (place.law, place.silence, place.flows) == (
            LAWS[int(3 * shares[7])], SILENCES[int(2 * shares[8])], FLOWS[int(4 * shares[9])],
        )  # fmt: skip
