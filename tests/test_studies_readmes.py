"""What the READMEs of studies say of the random design, counted again in the stored results."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from cogtcp.studies import folder, search, stacks

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.studies.verdicts import Verdict

    Where = Callable[[Any], bool]

_WORDS = ("none", "one")


def say(count: int) -> str:
    """Return a number as the READMEs write it."""
    return _WORDS[count] if count < len(_WORDS) else str(count)


@functools.cache
def _design(study: str) -> search.Search:
    found = search.read(folder.find(study)[0])
    assert found is not None
    return found


def counts(study: str, claim: str, says: str = "", where: Where = lambda _: True) -> Counter[Verdict]:
    """Count the verdicts of a claim, or of the one statement that begins so, at the settings `where`."""
    design = _design(study)
    found = design.claims[claim]
    column: Any = found.claim_verdicts()
    if says:
        (column,) = [verdicts for name, verdicts in found.verdicts.items() if name.startswith(says)]
    return Counter(v for s, v in zip(design.settings, column, strict=True) if where(s))


def holds(study: str, claim: str, says: str = "", where: Where = lambda _: True) -> tuple[str, int]:
    """Return at how many settings it holds, in words, and how many decide."""
    found = counts(study, claim, says, where)
    return say(found["holds"]), found["holds"] + found["fails"]


def c2() -> list[str]:
    """Return the sentences of c2's README."""
    count = functools.partial(holds, "c2")
    jain = "Shares are equal"
    authors = functools.partial(count, where=lambda s: s.reading == "the author's code")
    text = functools.partial(count, where=lambda s: s.reading != "the author's code")
    queue, quarter = "C2's queuing delay is about 10 ms", "C2's queuing delay is at most a quarter"
    return [
        f"It fails at {counts('c2', 'c2-f3')['fails']}; in all of them the first slow start may",
        "`f4a` holds at {} setting of the {} with a clear result".format(*count("c2-f4a")),
        "`x1`, beside CUBIC, holds at {} of {}".format(*count("c2-x1")),
        "`f4c` at {} of {}".format(*count("c2-f4c")),
        "flat at {} of {}".format(*count("c2-f4c", "C2 hardly depends on the length of on")),
        "(`f4j`) shares are equal within 1 s at {} of {} settings".format(*count("c2-f4j")),
        "`f4b` holds at {} of {} settings".format(*count("c2-f4b")),
        "0.95 at {} of {} settings with it, and at {} of {} with the two variants of the text".format(
            *authors("c2-f4a", jain), *text("c2-f4a", jain)
        ),
        "*the text* rather: at {} of {} settings, and at {} of {} with the author's code".format(
            *text("c2-f4b", queue), *authors("c2-f4b", queue)
        ),
        "a quarter of CUBIC's delay of either ({} of {}, and {} of {})".format(
            *text("c2-f4b", quarter), *authors("c2-f4b", quarter)
        ),
    ]


def chain() -> list[str]:
    """Return the sentences of chain's README."""
    count = functools.partial(holds, "chain")
    f2, f7a = count("chain-f2"), count("chain-f7a")
    assert f2 == f7a
    shares = {claim: found.place().share.mean for claim, found in _design("chain").claims.items()}
    most = max(shares, key=lambda claim: shares[claim])
    robust = counts("chain", most)
    decided = robust["holds"] + robust["fails"]
    held = count("chain-f2", where=lambda s: s.silence == "hold")
    rise = functools.partial(count, "chain-f7a", "Throughput rises")
    return [
        "`f2` and `f7a` hold at {} setting of {} with a clear result".format(*f2),
        f"`{most.removeprefix('chain-')}`, the most robust, holds at {100 * shares[most]:.0f} % of {decided}",
        "its statements hold at {} of the {} settings with `hold`".format(*held),
        "it holds at {} of the {} settings that decide, with 1 s at {} of {}".format(
            *rise(where=lambda s: s.min_rto_s == 0.2), *rise(where=lambda s: s.min_rto_s == 1.0)
        ),
    ]


def mswim09() -> list[str]:
    """Return the sentences of mswim09's README."""
    count = functools.partial(holds, "mswim09")
    f2, f3a, f3b, f4 = (counts("mswim09", f"mswim09-{c}")["holds"] for c in ("f2", "f3a", "f3b", "f4"))
    assert (f2, f3a) == (f3b, f4)
    less = counts("mswim09", "mswim09-f2", "At T_p 1 s, throughput at t_s 0.2 s is above that at 0.025 s")

    def above_vegas(node: str) -> list[tuple[str, int]]:
        says = [f"{name} is above Vegas" for name in ("SACK", "NewReno")]
        return [count("mswim09-f3b", name, lambda s: s.node == node) for name in says]

    second, together = above_vegas("apart, with a second radio"), above_vegas("together, the sender waits")
    assert second[0] == second[1]
    assert together[0][0] == together[1][0]
    f7, order = counts("mswim09", "mswim09-f7"), counts("mswim09", "mswim09-f7", "SACK is above NewReno")
    timeouts = functools.partial(count, "mswim09-f4", "It is followed by one")
    given_up = functools.partial(timeouts, where=lambda s: s.retries == "unlimited")()
    by_rto = [
        timeouts(where=lambda s, rto=rto: s.retries == "7 and 4" and s.min_rto_s == rto) for rto in (0.2, 1.0)
    ]
    x3 = functools.partial(count, "mswim09-x3")
    return [
        "holds at all {}. `f8` holds at each of the {} with a clear result".format(
            count("mswim09-f6")[0], count("mswim09-f8")[0]
        ),
        f"`f2` and `f3b` come out at {say(f2)} setting each, `f3a` and `f4` at {f3a}",
        f"less time to sense is better at {less['fails']} of {less['fails'] + less['holds']} settings",
        f"above Vegas at all {second[0][0]} settings that say something",
        f"a sender that waits, at {together[0][0]} of {together[0][1]} and {together[1][1]}",
        f"`f7` holds at {say(f7['holds'])} of {f7['fails']} settings; {f7['inconclusive']} are inconclusive",
        f"{order['inconclusive']} of 72 settings cannot tell apart, and {say(order['holds'])} has",
        f"at all {by_rto[0][0]} settings with a least RTO of 0.2 s",
        "at {} of {} with 1 s and these limits, and at {} of {} where".format(*by_rto[1], *given_up),
        "(`x3`) there is less than where both ends do at {} of {} settings, and less than where".format(
            *x3("Where only the receiver hears PUs there is less than where both")
        ),
        "sender does at {} of {}".format(
            *x3("Where only the receiver hears PUs there is less than where only")
        ),
        "Four channels a band have less than one at {} of {}".format(*x3("Where both ends hear PUs, four")),
    ]


def trains() -> list[str]:
    """Return the sentences of trains' README."""
    count = functools.partial(holds, "trains")

    def hold(claim: str) -> tuple[str, int]:
        return count(f"trains-{claim}", where=lambda s: s.silence == "hold")

    def rtt(claim: str, word: str) -> tuple[str, int]:
        return count(f"trains-{claim}", where=lambda s: s.rtt == word)

    def kept(word: str) -> tuple[str, int]:
        return count("trains-f6", where=lambda s: s.plain_acks == word)

    return [
        "`f4` comes out at {} of {} settings, `f6` at {} of {}".format(*hold("f4"), *hold("f6")),
        "`f3` comes out at {} of {}".format(*hold("f3")),
        "`f5` comes out at {} of {} settings with it, at {} of {} with the least, and at {} of {} w".format(
            *rtt("f5", "greatest"), *rtt("f5", "least"), *rtt("f5", "smoothed")
        ),
        "`f6` comes out at {} of {} with the greatest".format(*rtt("f6", "greatest")),
        "(`f6`) at {} of {} settings; if it does not, at {} of {}.".format(
            *kept("held"), *kept("as all packets")
        ),
        "comes out at {} of the {} settings of the design".format(*count("trains-x5")),
        "`f7`** holds at {} of the {} settings with a clear result".format(*count("trains-f7")),
    ]


def multi_hop() -> list[str]:
    """Return the sentences of mswim09-multi-hop's README."""
    count = functools.partial(holds, "mswim09-multi-hop")
    f10 = counts("mswim09-multi-hop", "mswim09-f10")
    primary, silences = (count("mswim09-x6", f"Without {name}")[0] for name in ("primary users", "silences"))
    return [
        "`f9` holds at {} of the {} settings that decide".format(*count("mswim09-f9")),
        "grows with the flows at each that decides ({})".format(count("mswim09-f9", "Throughput rises")[0]),
        "grow with the flows wherever it is decided ({})".format(count("mswim09-f10", "Timeouts per")[0]),
        f"with the model on holds at {f10['holds']} settings and fails at {f10['fails']}",
        f"cost throughput at each setting that decides ({primary} and {silences})",
        "all five lose by the model at {} settings".format(count("mswim09-x4", "Each has less")[0]),
    ]


def manet() -> list[str]:
    """Return the rows of the tables in manet's README: a statement with 5, 3 and 2 flows."""
    design = _design("manet")
    throughput, delivery = (1, 2, 3), (4, 5, 6)
    assert all(counts("manet", f"manet-t{table}")["holds"] == 0 for table in (*throughput, *delivery))
    rows = []
    for tables in (throughput, delivery):
        claims = [f"manet-t{table}" for table in tables]
        for says in design.claims[claims[0]].verdicts:
            found = [counts("manet", claim, says) for claim in claims]
            cells = [f"{count['holds']}, {count['fails']}" for count in found]
            rows.append(f"| {says.rstrip('.')} | {' | '.join(cells)} |")
    single, near = counts("manet", "manet-r1"), counts("manet", "manet-n1")
    compared = stacks.read(folder.find("manet")[0])
    assert compared is not None
    assert compared["flips"] == []
    others = [found[0] for name, found in compared["base"].items() if name != "C2"]
    shares = [100 * found[0] for name, found in compared["kept"].items() if name != "C2"]
    assert (single["holds"], near["holds"]) == (0, 0)
    return [
        *rows,
        f"{len(design.settings)} settings of fourteen parameters, drawn jointly, {design.seeds} seeds each",
        "Conclusion 1 (`c1`) holds at all {} settings that decide".format(
            counts("manet", "manet-c1")["holds"]
        ),
        f"`r1` fails at {'all' if not single['inconclusive'] else single['fails']} {len(design.settings)}",
        f"`n1` at {near['fails']}",
        "`x1`, holds at {} of {}.".format(*holds("manet", "manet-x1")),
        "C2 delivers {:.0f} kbit/s (95 %: {:.0f} to {:.0f})".format(*compared["base"]["C2"]),
        f"each of the other eleven stacks {min(others):.0f} to {max(others):.0f}",
        f"They keep {min(shares):.0f} to {max(shares):.0f} % of what they have in MANET",
        f"at {len(compared['changed'])} changes",
    ]


SENTENCES = {
    "c2": c2,
    "chain": chain,
    "manet": manet,
    "mswim09": mswim09,
    "mswim09-multi-hop": multi_hop,
    "trains": trains,
}


@pytest.mark.parametrize("study", SENTENCES)
def test_counts_of_the_readme_are_in_the_stored_design(study: str) -> None:
    text = " ".join((folder.find(study)[0].folder / "README.md").read_text("utf-8").split())
    missing = [sentence for sentence in SENTENCES[study]() if sentence not in text]
    assert missing == []


@pytest.mark.parametrize("study", folder.list_studies(), ids=lambda study: study.name)
def test_a_readme_leads_to_the_table_that_has_each_figure(study: folder.Study) -> None:
    text = (study.folder / "README.md").read_text("utf-8")
    (target,) = re.findall(r"^\[Each figure and table, and what came out\]\(([^)]+)\)", text, re.MULTILINE)
    name, anchor = target.split("#")
    page = (study.folder.resolve() / name).resolve().read_text("utf-8")
    sections = {
        re.sub(r"[^\w\- ]", "", part.split("\n")[0].lower()).replace(" ", "-"): part
        for part in page.split("\n## ")
    }
    rows = re.findall(r"^\| ([^|]+) \| ([\w-]+)[^|]* \|", sections[anchor], re.MULTILINE)
    assert [(row.figure, row.id) for row in study.claims] == [row for row in rows if row[1] != "claim"][
        : len(study.claims)
    ]
