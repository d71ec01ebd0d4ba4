"""Known departures: each entry is whole, leads somewhere, and stands on its page."""

from __future__ import annotations

import importlib.util
import random
import re
from typing import TYPE_CHECKING

import pytest

from cogtcp.kernel.validation.departures import AREAS, PEERS, WHOSE, departures
from cogtcp.kernel.validation.families import FAMILIES
from conftest import ROOT

if TYPE_CHECKING:
    from cogtcp.kernel.validation import Departure

DOCS = ROOT / "docs"
KEYS = {family.name: family.draw(random.Random(1)) for family in FAMILIES}


@pytest.mark.parametrize("entry", departures(), ids=lambda entry: entry.id)
def test_an_entry_is_whole(entry: Departure) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", entry.id)
    assert (entry.peer in PEERS, entry.area in AREAS, entry.whose in WHOSE) == (True, True, True)
    for text in (entry.here, entry.there, entry.effect):
        assert text.endswith("."), text
        assert "|" not in text
    # What has a cause says where it stands.
    assert entry.source or entry.is_unknown


@pytest.mark.parametrize("entry", departures(), ids=lambda entry: entry.id)
def test_an_entry_leads_to_a_page(entry: Departure) -> None:
    page, _, anchor = entry.page.partition("#")
    text = (DOCS / page).read_text("utf-8")
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    assert not anchor or anchor in slugs


@pytest.mark.parametrize("entry", departures(), ids=lambda entry: entry.id)
def test_the_setting_that_undoes_it_is_there(entry: Departure) -> None:
    """The name of the setting is one of a scenario's."""
    if entry.undo:
        setting = re.sub(r"^\[[\w.]+\] ", "", entry.undo).split()[0]
        reference = "".join(page.read_text("utf-8") for page in (DOCS / "scenario").glob("*.md"))
        assert f"`{setting}`" in reference, entry.undo


@pytest.mark.parametrize("entry", departures(), ids=lambda entry: entry.id)
def test_what_it_explains_can_be_drawn(entry: Departure) -> None:
    for where in entry.explains:
        family = where["family"]
        measures = {family.name: family.bands for family in FAMILIES}[family]
        for key, condition in where.items():
            if key == "measure":
                assert set(condition) & set(measures), condition
            elif key != "family":
                assert key in KEYS[family], key
                words = isinstance(KEYS[family][key], str)
                assert isinstance(condition, list if words else dict)


@pytest.mark.parametrize("entry", departures(), ids=lambda entry: entry.id)
def test_what_explains_has_a_measured_range(entry: Departure) -> None:
    assert bool(entry.range) == bool(entry.explains)
    if entry.range:
        low, high = entry.range
        assert 0 < low < high


def test_names_are_unique() -> None:
    names = [entry.id for entry in departures()]
    assert len(names) == len(set(names))


def test_the_page_is_that_of_the_data() -> None:
    """`make reference` writes it."""
    spec = importlib.util.spec_from_file_location("generate_departures", DOCS / "generate_departures.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "departures.md").read_text("utf-8") == module.page()
