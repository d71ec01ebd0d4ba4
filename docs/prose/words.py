"""Print the words of hand-written prose of each page (tables and code apart) and their budgets: `make words`.

The exit code is 1 where a page or the sum is over its budget.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import text

if TYPE_CHECKING:
    from pathlib import Path

TOTAL = 32_000
MODEL, RECIPE = 600, 300
BUDGETS = {"README.md": 700, "ARCHITECTURE.md": 1_500, "CONTRIBUTING.md": 800, "docs/guide.md": 700}

#: Folders with one page a model. `docs/*.md` beside them: see `budget`.
MODELS = {
    "congestion",
    "detectors",
    "policies",
    "predictors",
    "primary-users",
    "queues",
    "radios",
    "routing",
    "traffic",
    "transports",
}
#: Recipes that lie in a folder of models.
RECIPES = {"docs/congestion/your-own.md"}


def budget(page: Path) -> int | None:
    """Return the greatest number of words of a page, None where only the sum counts."""
    name = str(page)
    if name in BUDGETS:
        return BUDGETS[name]
    if name.startswith(("docs/how-to/", "docs/adding-")) or name in RECIPES:
        return RECIPE
    return MODEL if page.parent.name in MODELS else None


def main() -> int:
    """Print the table."""
    counted = {page: text.words((text.ROOT / page).read_text(encoding="utf-8")) for page in text.pages()}
    over = 0
    for page, words in sorted(counted.items(), key=lambda pair: -pair[1]):
        most = budget(page)
        over += most is not None and words > most
        mark = "" if most is None else f" of {most}" + (" OVER" if words > most else "")
        print(f"{words:6} {page}{mark}")
    total = sum(counted.values())
    print(f"{total:6} of {TOTAL} in {len(counted)} pages; {over} pages over their budget")
    return int(over > 0 or total > TOTAL)


if __name__ == "__main__":
    sys.exit(main())
