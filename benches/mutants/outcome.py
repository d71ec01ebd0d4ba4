"""What became of a sample of mutants, counted."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

#: Table of mutants.toml: mutants that no test can tell from the code, and why.
EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Mutant:
    """One change: its name, what it is counted under, and its file."""

    name: str
    group: str
    file: str


def summary(outcomes: dict[Mutant, str], config: dict[str, Any]) -> int:
    """Print the counts; return 1 if fewer are killed, or more called equivalent, than the limits allow."""
    total, killed, equivalent = Counter[str](), Counter[str](), 0
    for mutant, outcome in outcomes.items():
        if mutant.name in config[EQUIVALENT]:
            equivalent += 1
            continue
        total[mutant.group] += 1
        killed[mutant.group] += outcome != "alive"
    for group in sorted(total):
        print(f"{group:<20} {killed[group]:>3} of {total[group]:>3}")
    number = total.total()
    if not number:
        return 0
    share = killed.total() / number
    low, high = wilson(killed.total(), number)
    print(f"killed: {killed.total()} of {number}, {share:.1%} (95 %: {low:.1%} to {high:.1%})")
    print(f"called equivalent: {equivalent} of {len(outcomes)}")
    enough = share >= config["least_killed"] and equivalent <= config["most_equivalent"] * len(outcomes)
    return 0 if enough else 1


def wilson(successes: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share (95 %)."""
    share = successes / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + z * z / (4 * number**2))
    return middle - half, middle + half
