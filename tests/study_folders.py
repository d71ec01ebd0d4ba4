"""What folders of studies that tests make have in common."""

SCENARIO = """
name = "one"
[run]
duration = "1 s"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "10 ms" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"""
