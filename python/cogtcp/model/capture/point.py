"""Where one listens: a link, at one of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp import _files
from cogtcp._errors import UsageError
from cogtcp._names import pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.model.scenario import Scenario


@dataclass(frozen=True)
class Point:
    """A place where packets are captured: the interface of a node to a link, or the air of an ad hoc network.

    Attributes:
        link: Name of the link; `air` of the air.
        node: Name of the node; empty: nobody's, who hears everything.
        outgoing: Direction of the link in which the node sends: `forward` or `reverse`.
        given: What it was asked for by.
    """

    link: str
    node: str
    outgoing: str
    given: str

    @property
    def is_air(self) -> bool:
        """Whether frames are captured over the air, and not packets on a link."""
        return not self.node


#: What stands for the air of an ad hoc network, which has no links.
AIR = "air"


def find_point(scenario: Scenario, link: str, node: str | None = None) -> Point:
    """Return the place where packets are captured.

    Args:
        scenario: What has the link.
        link: Name of the link, or `LINK@NODE`; of an ad hoc network `air`.
        node: Node at one of its ends; by default the one from which `forward` leads. None of the air.

    Raises:
        UsageError: There is no such link, or the node is at none of its ends.
    """
    ends = {name: (first, second) for name, first, second in scenario._core.links()}
    if not ends:
        if link == AIR and node is None:
            return Point(AIR, "", "", AIR)
        given = link if node is None else f"{link}@{node}"
        raise UsageError(
            f"{scenario.name}: an ad hoc network has no link {given!r}; capture what goes over the {AIR!r}"
        )
    name, at = link, node
    # A link's own name may have an `@`.
    if link not in ends and node is None and "@" in link:
        name, at = link.rsplit("@", 1)
    first, second = ends[pick(name, ends, "link")]
    at = first if at is None else pick(at, (first, second), f"end of the link {name!r} called")
    return Point(
        name, at, "forward" if at == first else "reverse", link if node is None else f"{link}@{node}"
    )


def file_name(point: Point, others: Sequence[str] = ()) -> str:
    """Return the name of a capture's file, like the link's and none of `others`."""
    stem = _files.safe_name(point.given, "link")
    name, number = f"{stem}.pcapng", 1
    while name in others:
        number += 1
        name = f"{stem}-{number}.pcapng"
    return name
