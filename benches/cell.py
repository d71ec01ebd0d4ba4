"""What scheduled access costs in processor time: beside a plain link, and with 50 users for 100 s.

    .venv/bin/python benches/cell.py

Prints both with their aims (at most 2.5 times a plain link; under 5 s). Pairs are interleaved, and the least
of each counts: other work on the machine only adds. It judges nothing and always exits with 0.
"""

import time

from cogtcp import Scenario, run

_HEAD = """
schema = 1
name = "cell"
[run]
duration = "{duration} s"
[topology.graph]
nodes = ["server", "base", {nodes}]
links = [
    {{ name = "wire", from = "server", to = "base", rate = "1 Gbit/s", delay = "10 ms", queue = "1 MB" }},
    {links}
]
"""
_CELL = """
[spectrum]
channels = {{ uniform = "100 Mbit/s" }}
pu = "none"
[[radio]]
name = "cell"
links = [{links}]
[radio.cr]
access = "scheduled"
detector = "perfect"
sensing_time = "1 us"
transmission_time = "1000 s"
cell = {{ bandwidth = "20 MHz", sinr = "30 dB" }}
"""
_ROUNDS = 7


def scenario(users: int, duration: int, *, is_cell: bool) -> Scenario:
    """Return a download for each user, through a cell or over links of the same rate together."""
    names = [f"u{number}" for number in range(users)]
    ends = '{{ name = "{0}-air", from = "base", to = "{0}", '
    link = ends + 'rate = "90 Mbit/s", delay = "2 ms", queue = "200 packets" }}'
    text = _HEAD.format(
        duration=duration,
        nodes=", ".join(f'"{name}"' for name in names),
        links=",\n    ".join(link.format(name) for name in names),
    )
    if is_cell:
        text += _CELL.format(links=", ".join(f'"{name}-air"' for name in names))
    for name in names:
        text += f'[[flow]]\nfrom = "server"\nto = "{name}"\ntransport = "linux-cubic"\n'
    return Scenario.from_toml(text)


def spent(wanted: Scenario) -> tuple[float, float]:
    """Run once; return processor time in s and the packets of data."""
    begin = time.process_time()
    result = run(wanted, 1, "summary")
    took = time.process_time() - begin
    return took, sum(row["sent_segments"] for row in result.rows("flows"))


def main() -> None:
    """Measure and print."""
    pair = [scenario(1, 60, is_cell=is_cell) for is_cell in (False, True)]
    least = [float("inf")] * 2
    for _ in range(_ROUNDS):
        for place, wanted in enumerate(pair):
            took, packets = spent(wanted)
            least[place] = min(least[place], took / packets)
    plain, cell = (1e9 * each for each in least)
    print(f"one user: {cell:.0f} ns a packet, plain link {plain:.0f} ns: {cell / plain:.2f} times (aim: 2.5)")
    took = min(spent(scenario(50, 100, is_cell=True))[0] for _ in range(3))
    print(f"50 users, 100 s: {took:.2f} s of processor time (aim: 5)")


if __name__ == "__main__":
    main()
