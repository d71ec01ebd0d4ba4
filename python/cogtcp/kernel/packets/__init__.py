"""Packet scripts: what a TCP is given, packet by packet, and what it is to send, when.

The same script runs on the model's endpoints and on the kernel of this machine; docs/packet-scripts.md
describes the format.
"""

from __future__ import annotations

from cogtcp.kernel.packets.play import PLANES, Mismatch, Outcome, check, play, scripts

__all__ = ["PLANES", "Mismatch", "Outcome", "check", "play", "scripts"]
