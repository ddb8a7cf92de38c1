# SPDX-License-Identifier: MIT
"""I-divergence of joint distributions: against sums over all patterns, and what swapping does to it."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import log2, prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from papers.li_2004.data import SALARY, offers

Rows = list[tuple[Any, ...]]
NAMES = ("a", "b", "y")


def table_of(rows: Rows) -> sf.Table:
    columns = {name: [row[index] for row in rows] for index, name in enumerate(NAMES)}
    return sf.Table.of(columns, {"a": "quasi_identifying", "b": "quasi_identifying", "y": "sensitive"})


def by_patterns(before: Rows, after: Rows) -> float:
    counts = Counter(before), Counter(after)
    patterns = set(counts[0]) | set(counts[1])
    shares = [{pattern: (count[pattern] + 0.5) / (len(rows) + len(patterns) / 2) for pattern in patterns}
              for count, rows in zip(counts, (before, after), strict=True)]  # fmt: skip
    return sum(shares[0][pattern] * log2(shares[0][pattern] / shares[1][pattern]) for pattern in patterns)


def by_bayes(before: Rows, after: Rows) -> float:
    """Both models written out for every pattern of values that occur anywhere."""
    domains = [sorted({row[index] for row in before + after}, key=str) for index in range(3)]

    def chance(rows: Rows, pattern: tuple[Any, ...]) -> float:
        class_rows = [row for row in rows if row[2] == pattern[2]]
        parts = [
            (sum(row[index] == pattern[index] for row in class_rows) + 0.5)
            / (len(class_rows) + len(domains[index]) / 2)
            for index in (0, 1)
        ]
        return float((len(class_rows) + 0.5) / (len(rows) + len(domains[2]) / 2) * prod(parts))

    return sum(
        chance(before, pattern) * log2(chance(before, pattern) / chance(after, pattern))
        for pattern in product(*domains)
    )


rows = st.lists(
    st.tuples(st.sampled_from(["u", "v", None]), st.integers(0, 2), st.sampled_from(["x", "y", "z"])),
    min_size=1,
    max_size=12,
)


@given(before=rows, after=rows)
def test_it_is_the_sum_over_all_patterns(before: Rows, after: Rows) -> None:
    divergence = sf.measure.joint_divergence(table_of(before), table_of(after), "y")
    assert divergence.patterns == pytest.approx(by_patterns(before, after), abs=1e-9)
    assert divergence.simple_bayes == pytest.approx(by_bayes(before, after), abs=1e-9)


@given(table_rows=rows)
def test_nothing_moved(table_rows: Rows) -> None:
    divergence = sf.measure.joint_divergence(table_of(table_rows), table_of(table_rows), "y")
    assert (divergence.patterns, divergence.simple_bayes) == (0.0, 0.0)


def test_choosing_swaps_keeps_the_simple_bayes_joint_and_full_patterns_cannot_tell() -> None:
    """The paper's remark on equation (9): by full patterns, it is the same whoever is changed."""
    table = offers()
    divergences = {}
    for search in ("optimal", "proportional"):
        release = sf.SwapConfidential(column=SALARY, share=0.5, search=search).protect(table, sf.Randomness.seeded(1))
        divergences[search] = sf.measure.joint_divergence(table, release.data, SALARY, rows=release.details["rows"])
    assert divergences["optimal"].simple_bayes < 0.7 * divergences["proportional"].simple_bayes
    assert divergences["optimal"].patterns == pytest.approx(divergences["proportional"].patterns, rel=0.02)


def test_what_cannot_be_compared_is_refused() -> None:
    table = table_of([("u", 1, "x")])
    with pytest.raises(sf.PolicyError, match="no column besides"):
        sf.measure.joint_divergence(table, table, "y", ["y"])
    with pytest.raises(sf.PolicyError, match="without rows"):
        sf.measure.joint_divergence(table, table_of([]), "y")
    with pytest.raises(sf.SfumatoError, match="nowhere"):
        sf.measure.joint_divergence(table, table, "nowhere")
