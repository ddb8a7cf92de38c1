# SPDX-License-Identifier: MIT
"""What was hidden and lost is named for the custodian, and nowhere in what leaves."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.report.sections.hidden_names import describe_lost_itemsets, describe_secrets
from sfumato.workflow import pipeline
from sfumato.workflow.policy import Policy

BASKETS = [["wine", "pills", "bread"]] * 30 + [["wine", "bread"]] * 10 + [["pills", "milk"]] * 20 + [["milk"]] * 40
ITEMS = ("wine", "pills", "bread", "milk")
RUNS: dict[str, dict[str, Any]] = {
    "hide_rules": {"rules": ["wine ==> pills"], "min_support": 0.25, "min_confidence": 0.6, "strategy": "1b"},
    "publish_patterns": {"k": 15, "min_support": 20, "repair": "suppressive"},
}


class Pages(NamedTuple):
    """The text of the internal report, and everything that leaves but the data."""

    internal: str
    leaving: str


def read_text(page: Path) -> str:
    bare = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare)).replace("&gt;", ">").replace("&#34;", '"')


def run(root: Path, policy: dict[str, Any]) -> Pages:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        pipeline.run_policy(Policy.model_validate({"title": "Sales", **policy}), root / "out", sf.Randomness.seeded(1))
    leaving = (root / "out" / "release" / name for name in ("report.html", "certificate.json"))
    return Pages(read_text(root / "out" / "private" / "report.html"), " ".join(path.read_text() for path in leaving))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pages]:
    pages_by_method = {}
    for name, fields in RUNS.items():
        root = tmp_path_factory.mktemp(name)
        rows = [f"{number},{item}" for number, items in enumerate(BASKETS) for item in items]
        (root / "bought.csv").write_text("id,item\n" + "\n".join(rows) + "\n")
        pages_by_method[name] = run(
            root, {"data": {"path": str(root / "bought.csv")}, "protect": [{"method": name, **fields}]}
        )
    return pages_by_method


def test_hidden_rules_are_named_with_what_became_of_them(pages: dict[str, Pages]) -> None:
    match = re.search(
        r"Hidden: wine ==> pills, support 30 → (\d+), confidence 75 % → ([\d.]+) %\.", pages["hide_rules"].internal
    )
    assert match
    assert int(match[1]) < 25 or float(match[2]) < 60


def test_lost_itemsets_are_named(pages: dict[str, Pages]) -> None:
    for name in ("hide_rules", "publish_patterns"):
        assert re.search(r"Itemsets lost, with their support before: [a-z, ]+ \(\d+\)", pages[name].internal)


@pytest.mark.parametrize("name", list(RUNS))
def test_nothing_that_leaves_names_an_item(pages: dict[str, Pages], name: str) -> None:
    words = set(re.findall(r"[a-z]+", pages[name].leaving.lower()))
    assert not words & set(ITEMS)
    for secret in ("==>", "==&gt;", "Hidden:", "Itemsets lost, with"):
        assert secret not in pages[name].leaving
    assert set(re.findall(r"[a-z]+", pages[name].internal)) & set(ITEMS)


def test_many_secrets_and_losses_are_cut_with_a_count() -> None:
    pairs = list(combinations("abcdefg", 2))
    baskets = sf.Baskets.of([list("abcdefg")] * 3)
    sentences = describe_secrets([((left,), (right,)) for left, right in pairs], baskets, baskets)
    assert len(sentences) == 13
    assert sentences[0] == "Hidden: a ==> b, support 3 → 3, confidence 100\N{NO-BREAK SPACE}% → 100\N{NO-BREAK SPACE}%."
    assert sentences[-1] == "9 more were to be hidden."
    assert describe_secrets(["z", ((), ("a", "b"))], baskets, baskets) == [
        "Hidden: z, support 0 → 0.",
        "Hidden: a, b, support 3 → 3.",
    ]
    itemsets = pl.DataFrame({"items": [list(pair) for pair in pairs], "support": range(21)})
    (sentence,) = describe_lost_itemsets(itemsets, itemsets.head(1), [((), ("f", "g"))])
    assert sentence.startswith("Itemsets lost, with their support before: e, g (19); e, f (18);")
    assert sentence.endswith("and 11 more.")
    assert describe_lost_itemsets(itemsets, itemsets) == []
