"""Print the words of hand-written prose of each page (tables and code apart) and their budgets: `make words`.

With `--over`, as in `make lint`, only the totals and pages over their budget are printed. The exit code is 1
if a page or a total is over its budget. The second total has the hand-written tables too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import text

if TYPE_CHECKING:
    from pathlib import Path

TOTAL, WITH_TABLES = 30_000, 60_000
EXPLANATION, RECIPE = 600, 300
BUDGETS = {"README.md": 700, "ARCHITECTURE.md": 1_500, "CONTRIBUTING.md": 800, "docs/guide.md": 700}

#: Recipes that lie in a folder of models.
RECIPES = {"docs/congestion/your-own.md"}


def budget(page: Path) -> int:
    """Return the greatest number of words of a page: every page that is no recipe explains one thing."""
    name = str(page)
    if name in BUDGETS:
        return BUDGETS[name]
    if name.startswith(("docs/how-to/", "docs/adding-")) or name in RECIPES:
        return RECIPE
    return EXPLANATION


def main(arguments: list[str]) -> int:
    """Print the table."""
    sources = {page: (text.ROOT / page).read_text(encoding="utf-8") for page in text.pages()}
    counted = {page: text.words(source) for page, source in sources.items()}
    over = 0
    for page, words in sorted(counted.items(), key=lambda pair: -pair[1]):
        is_over = words > budget(page)
        over += is_over
        if is_over or "--over" not in arguments:
            print(f"{words:6} of {budget(page):5} {page}{' OVER' if is_over else ''}")
    total = sum(counted.values())
    print(f"{total:6} of {TOTAL} words in {len(counted)} pages; {over} pages over their budget")
    written = sum(text.words(source, tables=True) for source in sources.values())
    print(f"{written:6} of {WITH_TABLES} words with tables and references")
    return int(over > 0 or total > TOTAL or written > WITH_TABLES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
