# SPDX-License-Identifier: MIT
"""Distributions before and after, by hand."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato import measure


def test_total_variation_is_half_the_differences_of_shares() -> None:
    """1/2, 1/4, 1/4 of the originals; 1/4, 1/4, 2/4 of what is published: half of 1/4 + 0 + 1/4."""
    counts = pl.DataFrame({"value": ["a", "b", "*"], "original": [4, 2, 2], "published": [1, 1, 2]})
    assert measure.total_variation(counts) == pytest.approx(0.25)
    assert measure.total_variation(counts.with_columns(published=pl.col("original") * 3)) == 0
    assert measure.total_variation(counts.clear()) == 0


def test_a_text_that_reads_like_a_missing_cell_is_another_value() -> None:
    original = pl.Series(["(missing)", "(missing)", None, "a"])
    counts = measure.distribution(original, original, None)
    assert counts.rows() == [('"(missing)"', 2, 2), ("(missing)", 1, 1), ("a", 1, 1)]


def test_the_loss_of_one_column_by_hand() -> None:
    """Of four towns a label of two leaves open (2 − 1) / (4 − 1), a star everything, and a town nothing."""
    towns = sf.Hierarchy.of(
        [["Ulm", "south", "*"], ["Bern", "south", "*"], ["Kiel", "north", "*"], ["Oslo", "north", "*"]]
    )
    original = sf.Table.of({"town": ["Ulm", "Bern", "Kiel", "Oslo"]}, {"town": "quasi_identifying"}, {"town": towns})
    domain = measure.read_domain(original, "town")
    assert measure.column_loss(pl.Series(["Ulm", "south", "*", "Kiel"]), domain) == pytest.approx((1 / 3 + 1) / 4)


def test_stars_of_a_release_made_elsewhere_count_as_suppressed_though_an_original_is_a_star() -> None:
    """One person of "*" made every suppressed cell a value that has lost nothing."""
    places = ["North", "South", "West", "*"] * 5
    people = sf.Table.of({"place": places}, {"place": "quasi_identifying"})
    published = people.replace_frame(pl.DataFrame({"place": ["*"] * 10 + places[10:]}))
    starred_share = (10 + places[10:].count("*")) / 20
    assert measure.loss(published, people) == starred_share
    assert measure.precision(people, published) == 1 - starred_share
    assert measure.loss(people, people) == 0
    assert measure.precision(people, people) == 1
