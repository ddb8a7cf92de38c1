# SPDX-License-Identifier: MIT
"""Items that were added, or removed without being named, are counted basket by basket, in memory and in files alike."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.measure.baskets.changed_items import count_unnamed_changes, count_untrue_items
from sfumato.measure.baskets.stored_hiding import BasketEvidence, measure_stored_basket_claim
from sfumato.protect.baskets.hiding_claims import claim_only_named_items_removed

BASKETS = st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=6)


@given(BASKETS, st.data())
def test_changes_are_counted_as_sets_differ(baskets: list[set[str]], data: st.DataObject) -> None:
    published = [data.draw(st.sets(st.sampled_from("abcdef"))) for _ in baskets]
    named = data.draw(st.sets(st.sampled_from("abz")))
    stated = data.draw(st.sets(st.tuples(st.integers(0, len(baskets) - 1), st.sampled_from("bcdf"))))
    changes = {
        (row, item)
        for row, (was, now) in enumerate(zip(baskets, published, strict=True))
        for item in (now - was) | (was - now - named)
    }
    original, release = (sf.Baskets.of([sorted(items) for items in lists]) for lists in (baskets, published))
    assert count_unnamed_changes(original, release, named) == len(changes)
    assert count_unnamed_changes(original, release, named, stated) == len(changes - stated)


@given(BASKETS, st.data())
def test_what_is_certain_is_counted_as_sets_differ(baskets: list[set[str]], data: st.DataObject) -> None:
    published = [data.draw(st.sets(st.sampled_from(["a", "b", "c", "f", "a?", "b?", "d?"]))) for _ in baskets]
    untrue_count = 0
    for was, now in zip(baskets, published, strict=True):
        certain, unknown = {item for item in now if "?" not in item}, {item[0] for item in now if "?" in item}
        untrue_count += len(certain - was) + len(was - certain - unknown)
    original, release = (sf.Baskets.of([sorted(items) for items in lists]) for lists in (baskets, published))
    assert count_untrue_items(original, release, "?") == untrue_count


def test_files_are_counted_like_memory(tmp_path: Path) -> None:
    lists = [["a", "b"], ["a", "c"], ["b"], ["a"], ["c", "d"]]
    forged = [["b"], ["a"], ["b", "x"], ["a"], ["c", "d"]]
    files = {}
    for name, rows in (("original", lists), ("published", forged)):
        scratch = tmp_path / name
        scratch.mkdir()
        sf.Baskets.of(rows).write(scratch / "baskets.dat")
        files[name] = open_stored_baskets(BasketSource(scratch / "baskets.dat"), scratch)
    for named, count in ((("a",), 2), (("a", "c"), 1), ((), 3)):
        evidence = BasketEvidence(files["published"], files["original"], named)
        finding = measure_stored_basket_claim(claim_only_named_items_removed(), evidence)
        assert finding.measured == count == count_unnamed_changes(sf.Baskets.of(lists), sf.Baskets.of(forged), named)
        assert not finding.holds
