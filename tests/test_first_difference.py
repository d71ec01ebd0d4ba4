"""Where two planes part: read off captures, and shown."""

from __future__ import annotations

import pytest

from cogtcp import NoKernelPlaneError, Scenario, UsageError, run
from cogtcp.kernel.emulation.first_difference import Difference, Seen, compare, first_difference, read
from cogtcp.kernel.validation.families.kernel import drawn_scenarios
from cogtcp.model.capture import blocks, find_point
from conftest import ROOT, Command

CLEAR = ROOT / "tests/agreement/clear.toml"


def seen(time_s: float, start: int, length: int = 1000, **changed: object) -> Seen:
    fields = {"is_sent": True, "flags": ".", "ack": 1, "sack": ()} | changed
    return Seen(time_s=time_s, start=start, length=length, **fields)  # type: ignore[arg-type]


def test_the_first_packet_that_differs_is_found() -> None:
    ack = seen(0.15, 1, 0, is_sent=False, ack=1001)
    ours = [seen(0.1, 1), ack, seen(0.2, 1001), seen(0.3, 2001)]
    # Times differ, PSH does, and an ACK crosses a segment: all that is the same.
    same = [seen(0.11, 1, flags=".P"), seen(0.2, 1001), ack, seen(0.3, 2001)]
    assert compare(ours, same).at is None
    other = [*same[:3], seen(0.3, 1)]
    found = compare(ours, other)
    assert (found.at, found.sent) == ((3, 3), True)
    assert "packet 3 sent by the sender is the first that differs" in found.explain()
    # Of two directions the earlier counts.
    acked = [same[0], same[1], seen(0.15, 1, 0, is_sent=False, ack=501), other[3]]
    assert compare(ours, acked).sent is False
    assert compare(ours, acked).to_dict()["first_difference"]["number"] == 1


def test_sacks_and_acknowledgements_count_and_sequence_numbers_of_acks_do_not() -> None:
    ack = seen(0.1, 1, 0, is_sent=False, ack=1001)
    assert compare([ack], [seen(0.1, 2, 0, is_sent=False, ack=1001)]).at is None
    assert compare([ack], [seen(0.1, 1, 0, is_sent=False, ack=1001, sack=((5, 6),))]).at == (0, 0)


def test_a_capture_is_read_as_it_was_simulated() -> None:
    scenario = Scenario.from_file(CLEAR).with_transport("linux-reno").set("run.duration", "3 s")
    result = run(scenario, 1, "packets")
    capture = b"".join(blocks(result, find_point(scenario, "link", "sender")))
    packets = read(capture, lambda ports: max(ports) == 49152)
    assert [packet.flags for packet in packets[:3]] == ["S", "S.", "."]
    data = [packet for packet in packets if packet.is_sent and packet.length]
    assert data[0].start == 1
    assert data[1].start == 1 + data[0].length
    assert max(packet.ack for packet in packets if not packet.is_sent) > 1_000_000
    assert read(capture, lambda ports: max(ports) == 49153) == []


def test_both_planes_part_somewhere_and_agree_on_the_handshake() -> None:
    scenario = Scenario.from_file(CLEAR).with_transport("linux-cubic").set("run.duration", "2 s")
    try:
        found, captures = first_difference(scenario.set("run.warmup", "1 s"), 1)
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
    assert set(captures) == {"simulator", "kernel"}
    assert isinstance(found, Difference)
    assert len(found.emulated) > 100
    if found.at is not None:
        # The handshake and the initial window are the same.
        assert min(found.at) > 12


def test_drawn_scenarios_are_the_seeds_own(command: Command) -> None:
    first, again, other = (drawn_scenarios(seed, 3) for seed in (7, 7, 8))
    assert [scenario.hash for scenario in first] == [scenario.hash for scenario in again]
    assert {scenario.hash for scenario in first}.isdisjoint(scenario.hash for scenario in other)
    assert [scenario.name for scenario in first] == ["drawn-7-1", "drawn-7-2", "drawn-7-3"]
    done = command("agree")
    assert (done.code, "name scenarios, or let --drawn N draw some" in done.err) == (2, True)


def test_an_ad_hoc_network_has_no_link_to_look_at() -> None:
    scenario = Scenario.from_file(ROOT / "tests/agreement/string.toml").set("run.duration", "1 s")
    try:
        with pytest.raises(UsageError, match="an ad hoc network has"):
            first_difference(scenario.set("run.warmup", "0 s"), 1)
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
