# SPDX-License-Identifier: MIT
"""C4.5 trees on codes and originals: the claim grows them, holds for codes, and breaks where a tree would differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.codes.tree_equality import trees_that_differ

ROW = st.tuples(
    st.sampled_from([1, 2, 3, 5, 8, 13, None]), st.integers(0, 9), st.sampled_from(["p", "q", "r", None]),
    st.sampled_from("uvw"),
)  # fmt: skip


def make_table(rows: list[tuple[Any, ...]]) -> sf.Table:
    return sf.Table.of(pl.DataFrame(rows, schema=["a", "b", "word", "y"], orient="row", infer_schema_length=None))


@settings(max_examples=15, deadline=None)
@given(st.lists(ROW, min_size=4, max_size=40), st.booleans(), st.integers(0, 99))
def test_codes_give_the_same_c45_trees(rows: list[tuple[Any, ...]], permute: bool, seed: int) -> None:
    table, chance = make_table(rows), sf.Randomness.seeded(seed)
    method = sf.EncodeForTrees(target="y", permute=permute)
    release = method.protect(table, method.new_key(table, chance))
    claim = next(claim for claim in release.claims if claim.property == "trees_that_differ")
    assert claim.arguments["learners"] == ("scikit_learn", "c45") and "C4.5" in claim.meaning
    columns = tuple(name for name in ("a", "b") if table.frame[name].dtype.is_numeric())
    assert trees_that_differ(release.data, table, "y", columns, words=("word",), learners=("c45",)) == 0


def test_words_count() -> None:
    """The class is the word: exchanging words of two rows changes C4.5's trees, and nothing that scikit-learn sees."""
    chance = np.random.default_rng(1)
    words = chance.choice(["p", "q"], 60)
    table = sf.Table.of({"a": chance.integers(0, 5, 60).tolist(), "word": words.tolist(), "y": words.tolist()})
    reversed_table = sf.Table.of(table.frame.with_columns(pl.col("word").reverse()))
    assert trees_that_differ(reversed_table, table, "y", ("a",), words=("word",), learners=("scikit_learn",)) == 0
    assert trees_that_differ(reversed_table, table, "y", ("a",), words=("word",), learners=("c45",)) > 0
    method = sf.EncodeForTrees(target="y")
    release = method.protect(table, method.new_key(table, sf.Randomness.seeded(1)))
    assert all(finding.holds for finding in sf.check(release, table))
    frame = release.data.frame.with_columns(pl.col("word").reverse())
    forged = sf.check(release.__class__(**{**vars(release), "data": release.data.replace_frame(frame)}), table)
    assert [finding.property for finding in forged if not finding.holds] == ["trees_that_differ"]


def test_codes_that_fall_are_not_claimed_of_c45() -> None:
    """Both sides have two numbers: missing ones go to the lower side, the upper one among falling codes."""
    table = sf.Table.of({"a": [1, 1, 2, 2, None, None], "y": ["u", "u", "v", "v", "u", "v"]})
    method = sf.EncodeForTrees(target="y", permute=False, direction="random")
    releases = [method.protect(table, method.new_key(table, sf.Randomness.seeded(seed))) for seed in range(6)]
    assert {trees_that_differ(release.data, table, "y", ("a",), learners=("c45",)) for release in releases} == {0, 2}
    claim = next(claim for claim in releases[0].claims if claim.property == "trees_that_differ")
    assert claim.arguments["learners"] == ("scikit_learn",) and "C4.5" not in claim.meaning


@pytest.mark.parametrize(("classes", "learners"), [(100, ("scikit_learn", "c45")), (101, ("scikit_learn",))])
def test_the_claim_names_c45_only_where_it_can_grow(classes: int, learners: tuple[str, ...]) -> None:
    table = sf.Table.of({"a": list(range(classes)), "y": [f"c{number:03}" for number in range(classes)]})
    method = sf.EncodeForTrees(target="y")
    release = method.protect(table, method.new_key(table, sf.Randomness.seeded(1)))
    claim = next(claim for claim in release.claims if claim.property == "trees_that_differ")
    assert claim.arguments["learners"] == learners
    assert ("C4.5" in claim.meaning) == ("c45" in learners)
    assert all(finding.holds for finding in sf.check(release, table))
