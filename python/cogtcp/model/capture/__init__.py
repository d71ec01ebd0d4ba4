"""Captures: the packets on a link as Wireshark, tcpdump and tshark read them.

`headers.py` makes IPv4, TCP, UDP and ICMP headers from the rows of the table `packets`; `pcapng.py` writes
the file format. `point.py` chooses the place on a link; `writing.py` puts them together. `air.py` makes
frames of IEEE 802.11 from the rows of `frames`, the air of an ad hoc network; `section.py` serves both.
"""

from cogtcp.model.capture.point import Point, file_name, find_point
from cogtcp.model.capture.writing import blocks

__all__ = ["Point", "blocks", "file_name", "find_point"]
