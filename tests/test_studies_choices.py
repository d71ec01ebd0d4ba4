"""Every choice of every study is named after what it sets: it is read back from a scenario.

`READ` has for each parameter with choices the point at which it is read, what is read from the scenario, and
what each choice must come to. A name that says something else (limits of "none", but infinite) fails here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp import runner, studies
from cogtcp._units import TIME
from cogtcp.studies import code

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.studies.space import Value

Data = dict[str, Any]


def same(*values: Value) -> dict[Any, Any]:
    """Return choices that are read as they are named."""
    return {value: value for value in values}


def tcp(name: str) -> Callable[[Data], Any]:
    return lambda data: data["tcp"].get(name)


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * TIME[unit]


def number(text: str | float) -> float:
    """Return the number of a quantity in its own unit."""
    return float(str(text).split()[0])


def retries(data: Data) -> Any:
    mac = data["radio"][0]["cr"]["mac"]
    return mac["short_retry_limit"], mac["long_retry_limit"]


def node(data: Data) -> Any:
    cr = data["radio"][0]["cr"]
    return cr["ends"], cr["while_peer_senses"], cr["transmit_radio"]


def alarms(data: Data) -> Any:
    """Return the kind of a detector; of a table, false alarms over missed detections at its start."""
    ((kind, what),) = data["radio"][0]["cr"]["detector"].items()
    return kind if kind != "table" else round(what[0][2] / (1 - what[0][1]), 6)


def c2(data: Data) -> Any:
    flow = data["flow"][0]
    return flow["transport"], flow.get("tcp", {}).get("parameters", {}).get("compete")


def mac_rules(data: Data) -> Any:
    """Return whose rules the MAC has, and whether a packet of 1500 bytes has an RTS."""
    threshold = data["mac"]["rts_threshold"]
    return data["mac"]["profile"], number(threshold) == 0 if "k" not in threshold else number(threshold) < 1.5


def hangs_together(data: Data) -> bool:
    places = [tuple(map(number, at)) for at in data["topology"]["ad_hoc"]["placement"]["positions"]]
    reached, todo = {0}, [0]
    while todo:
        here = todo.pop()
        near = {k for k, at in enumerate(places) if math.dist(at, places[here]) <= 250} - reached
        reached |= near
        todo += near
    return len(reached) == len(places)


def speeds(data: Data) -> list[float] | None:
    """Return the speeds of a random waypoint in m/s; None where nodes stand."""
    mobility = data["topology"]["ad_hoc"].get("mobility", "static")
    if mobility == "static":
        return None
    unit = {"m/s": 1.0, "km/h": 1 / 3.6}
    return [number(text) * unit[text.split()[1]] for text in mobility["random_waypoint"]["speed"]]


def routing(data: Data) -> Any:
    (protocol,) = data["routing"]
    return protocol, data["topology"]["ad_hoc"]["radios"]


SLOW_START = {"at 65535 B": 65535.0, "at 4 MiB": 4 * 1024.0**2}
TIMER = {"at every partial ACK": "slow_but_steady", "at the first": "impatient"}
PAIR = {"run": "pair", "first": "c2"}


def size(name: str) -> Callable[[Data], float]:
    from cogtcp.studies.quantities import size_bytes

    return lambda data: size_bytes(data["tcp"][name])


READ: dict[str, dict[str, Any]] = {
    "c2": {
        "reading": (
            {"run": "alone", "transport": "c2"},
            c2,
            {
                "as printed": ("c2", None),
                "growth by N - 1": ("c2", "n-1"),
                "the author's code": ("c2-author", None),
            },
        ),
        "silence": ({"run": "alone"}, lambda d: d["radio"][0]["silence"], same("drop", "hold")),
        "segment_bytes": ({"run": "alone"}, size("segment_size"), same(536, 1000, 1460)),
        "timer": ({"run": "alone"}, tcp("newreno_variant"), TIMER),
        "timestamps": ({"run": "alone"}, tcp("timestamps"), same(True, False)),
        "first_slow_start": ({"run": "alone"}, size("initial_ssthresh"), SLOW_START),
        "flows": ({"run": "alone"}, lambda d: len(d["flow"]), same(1, 4)),
        "law": (PAIR, lambda d: next(iter(d["radio"][0]["sensing"]["on"])), same("uniform", "exponential")),
    },
    "chain": {
        "silence": (
            {},
            lambda d: (d["radio"][0]["silence"], len(d["radio"][0]["links"])),
            {
                "drop": ("drop", 1),
                "drop at every link": ("drop", 3),
                "hold": ("hold", 1),
            },
        ),
        "segment_bytes": ({}, size("segment_size"), same(536, 1000, 1460)),
        "min_rto_s": ({}, lambda d: seconds(d["tcp"]["min_rto"]), same(0.2, 1.0)),
        "first_slow_start": ({}, size("initial_ssthresh"), SLOW_START),
        "delayed_ack": ({}, lambda d: d["tcp"]["delayed_ack"] != "off", same(True, False)),
        # The preset of the first author's Compound has Reno's recovery, unless the scenario names another.
        "recovery": (
            {"transport": "compound-zhou"},
            tcp("recovery"),
            {
                "NewReno, Reno in Compound": None,
                "NewReno": "newreno",
            },
        ),
        "newreno_variant": ({}, tcp("newreno_variant"), TIMER),
        "at_least_half": (
            {"transport": "westwood-tustin"},
            lambda d: d["tcp"].get("parameters", {}).get("at_least_half", False),
            same(True, False),
        ),
    },
    "manet": {
        "node": (
            {"net": "crahn"},
            lambda d: d["topology"]["ad_hoc"]["radios"],
            {"one": "single", "three": "three"},
        ),
        "mobility": (
            {"net": "manet"},
            speeds,
            {
                "none": None,
                "walking, 1 to 2 m/s": [1, 2],
                "driving, 5 to 20 m/s": [5, 20],
            },
        ),
        "layout": (
            {"net": "manet"},
            hangs_together,
            {
                "a network that hangs together": True,
                "any ends that can reach each other": False,
            },
        ),
        "mac": (
            {"net": "manet"},
            mac_rules,
            {
                "ns-2's, RTS for all": ("ns2", True),
                "ns-2's, no RTS": ("ns2", False),
                "the standard's, RTS for all": ("standard", True),
                "ns-3's, no RTS": ("ns3", False),
            },
        ),
        "link_failure": (
            {"net": "manet"},
            lambda d: d["topology"]["ad_hoc"].get("on_link_failure"),
            {"as the MAC's rules have it": None, "routed again": "reroute"},
        ),
        "rate_mbps": ({"net": "manet"}, lambda d: number(d["mac"]["rate"]), same(1, 2, 11)),
        "packet_bytes": ({"net": "manet"}, size("segment_size"), same(512, 1000, 1460)),
        "window": ({"net": "manet"}, lambda d: number(d["tcp"]["max_window"]), same(8, 20, 100)),
        "vegas": (
            {"net": "manet", "transport": "vegas"},
            lambda d: {flow["transport"] for flow in d["flow"]},
            {"ns-2's": {"vegas-ns2"}, "Linux's, with SACK": {"vegas"}},
        ),
        "delivery": (
            {"net": "manet"},
            lambda d: d["description"].rsplit(": ", 1)[1],
            same(
                "all arrivals, of all packets sent",
                "first arrivals, of all packets sent",
                "first arrivals, of all packets but retransmissions",
            ),
        ),
        "sensing": (
            {"net": "crahn"},
            lambda d: d["cr"]["sensing"],
            same("synchronised", "staggered", "independent"),
        ),
        "errors": (
            {"net": "crahn"},
            lambda d: 0 if d["cr"]["detector"] == "perfect" else d["cr"]["detector"]["fixed"]["false_alarm"],
            same(0, 0.1),
        ),
    },
    "mswim09": {
        "node": (
            {},
            node,
            {
                "together, the sender waits": ("synchronous", "wait", "shared"),
                "together, the sender does not know": ("synchronous", "retry", "separate"),
                "apart, the sender does not know": ("independent", "retry", "shared"),
                "apart, with a second radio": ("independent", "retry", "separate"),
            },
        ),
        "errors": (
            {},
            alarms,
            {
                "MAP detector": "map",
                "by t_s alone": "simplified",
                "exponential, no false alarms": 0.0,
                "exponential, as many false alarms": 1.0,
            },
        ),
        "mean_s": ({}, lambda d: 1 / d["spectrum"]["pu"]["exponential"]["alpha"], same(1, 2)),
        "retries": ({}, retries, {"7 and 4": (7, 4), "unlimited": ("infinite", "infinite")}),
        "rts": ({}, lambda d: number(d["radio"][0]["cr"]["mac"]["rts_threshold"]) == 0, same(True, False)),
        "min_rto_s": ({}, lambda d: seconds(d["tcp"]["min_rto"]), same(0.2, 1)),
        "window": ({}, lambda d: number(d["tcp"]["max_window"]), same(20, 100)),
        "vegas": (
            {"transport": "vegas"},
            lambda d: d["flow"][0]["transport"],
            {"ns-2": "vegas-ns2", "Linux": "vegas"},
        ),
    },
    "mswim09-multi-hop": {
        "node": (
            {"model": "on"},
            routing,
            {
                "AODV, one radio": ("aodv", "single"),
                "AODV, three radios": ("aodv", "three"),
                "CR-AODV, three radios": ("cr_aodv", "three"),
                "SEARCH, one radio": ("search", "single"),
                "SEARCH, three radios": ("search", "three"),
            },
        ),
        "model_off": (
            {"model": "off"},
            lambda d: ("spectrum" in d, "cr" in d),
            {
                "one channel, no primary users": (False, False),
                "one channel, primary users that nobody senses": (True, False),
            },
        ),
        "primary_users": (
            {"model": "on"},
            lambda d: d["spectrum"]["pu"]["exponential"]["count"],
            same(5, 10, 20),
        ),
        "mean_s": ({"model": "on"}, lambda d: 1 / d["spectrum"]["pu"]["exponential"]["alpha"], same(1, 2)),
        "sensing": (
            {"model": "on"},
            lambda d: d["cr"]["sensing"],
            same("synchronised", "staggered", "independent"),
        ),
        "while_neighbour_senses": (
            {"model": "on"},
            lambda d: d["cr"]["while_neighbour_senses"],
            same("wait", "retry"),
        ),
        "channel_knowledge": (
            {"model": "on"},
            lambda d: d["cr"]["channel_knowledge"],
            same("free", "signalled"),
        ),
        "rate_mbps": ({"model": "on"}, lambda d: number(d["mac"]["rate"]), same(1, 2)),
        "min_rto_s": ({"model": "on"}, lambda d: seconds(d["tcp"]["min_rto"]), same(0.2, 1)),
        "window": ({"model": "on"}, lambda d: number(d["tcp"]["max_window"]), same(8, 20)),
    },
    "trains": {
        "silence": ({}, lambda d: d["radio"][0]["silence"], same("drop", "hold", "refuse")),
        "window": ({}, lambda d: number(d["tcp"]["max_window"]), same(5, 10, 20, 50, 1000)),
        "min_rto_s": ({}, lambda d: seconds(d["tcp"]["min_rto"]), same(0.2, 1)),
        "clock_ms": ({}, lambda d: 1e3 * seconds(d["tcp"]["clock_granularity"]), same(10, 100, 500)),
        "rtt": ({}, lambda d: d["train"]["rtt"], same("smoothed", "least", "greatest")),
        # `buffer`: the router stores ACKs of clients without managers until the link is open.
        "plain_acks": (
            {"manager": False},
            lambda d: d["train"]["buffer"],
            {"held": True, "as all packets": False},
        ),
    },
}

CHOICES = [
    pytest.param(study, parameter.name, choice, id=f"{study.name}-{parameter.name}-{choice}")
    for study in studies.list_studies()
    for parameter in study.space.varied
    for choice in parameter.choices
]


@pytest.mark.parametrize(("study", "name", "choice"), CHOICES)
def test_a_choice_sets_what_its_name_says(study: studies.Study, name: str, choice: Any) -> None:
    assert name in READ[study.name], f"say in READ how {name} of {study.name} is read back"
    wanted, read, expected = READ[study.name][name]
    assert choice in expected, f"say in READ what {name} = {choice!r} sets"
    points = dict.fromkeys(point for row in study.claims for point in row.points)
    point = next(point for point in points if point.matches(wanted))
    context = studies.Context(study=study, seeds=(1,), quick=False, _runner=runner.Runner(None, 1, None))
    build = code.function(study, "runs", "scenario")
    found = read(build(context, study.space.base.but(**{name: choice}), point, 1).to_dict())
    numbers = isinstance(found, float | list)
    assert found == (pytest.approx(expected[choice]) if numbers else expected[choice])


def test_every_reading_is_of_a_choice() -> None:
    for study in studies.list_studies():
        assert set(READ[study.name]) == {p.name for p in study.space.varied if p.choices}


def test_kept_searches_have_values_of_the_space() -> None:
    """A choice that was renamed is renamed in what is kept, too."""
    for study in studies.list_studies():
        kept = studies.search.read(study)
        if kept is None:
            continue
        readings = studies.readings.read(study).values()
        settings = [*kept.settings, *(reading.setting for reading in readings)]
        for parameter in study.space.unsaid:
            allowed = set(parameter.choices) or ({parameter.base} if parameter.is_fixed else None)
            found = {setting[parameter.name] for setting in settings}
            assert allowed is None or found <= allowed, (study.name, parameter.name)
