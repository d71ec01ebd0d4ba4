"""Captures: the packets on a link as Wireshark, tcpdump and tshark read them.

`headers.py` makes IPv4, TCP, UDP and ICMP headers of the rows of the table `packets`; `pcapng.py` writes the
file format; `point.py` says where on a link one listens; `writing.py` puts them together. `air.py` makes
frames of IEEE 802.11 of the rows of `frames`, the air of an ad hoc network; `section.py` has what both need.
"""

from cogtcp.capture.point import Point, file_name, find_point
from cogtcp.capture.writing import blocks

__all__ = ["Point", "blocks", "file_name", "find_point"]
