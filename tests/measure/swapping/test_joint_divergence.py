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
    columns = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
    return sf.Table.of(columns, {"a": "quasi_identifying", "b": "quasi_identifying", "y": "sensitive"})


def by_patterns(before: Rows, after: Rows) -> float:
    counts = Counter(before), Counter(after)
    seen = set(counts[0]) | set(counts[1])
    shares = [{one: (count[one] + 0.5) / (len(rows) + len(seen) / 2) for one in seen}
              for count, rows in zip(counts, (before, after), strict=True)]  # fmt: skip
    return sum(shares[0][one] * log2(shares[0][one] / shares[1][one]) for one in seen)


def by_bayes(before: Rows, after: Rows) -> float:
    """Both models written out for every pattern of values that occur anywhere."""
    domains = [sorted({row[at] for row in before + after}, key=str) for at in range(3)]

    def chance(rows: Rows, pattern: tuple[Any, ...]) -> float:
        own = [row for row in rows if row[2] == pattern[2]]
        parts = [
            (sum(row[at] == pattern[at] for row in own) + 0.5) / (len(own) + len(domains[at]) / 2) for at in (0, 1)
        ]
        return float((len(own) + 0.5) / (len(rows) + len(domains[2]) / 2) * prod(parts))

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
    found = sf.measure.joint_divergence(table_of(before), table_of(after), "y")
    assert found.patterns == pytest.approx(by_patterns(before, after), abs=1e-9)
    assert found.simple_bayes == pytest.approx(by_bayes(before, after), abs=1e-9)


@given(before=rows)
def test_nothing_moved(before: Rows) -> None:
    found = sf.measure.joint_divergence(table_of(before), table_of(before), "y")
    assert (found.patterns, found.simple_bayes) == (0.0, 0.0)


def test_choosing_swaps_keeps_the_simple_bayes_joint_and_full_patterns_cannot_tell() -> None:
    """The paper's remark on equation (9): by full patterns, it is the same whoever is changed."""
    table = offers()
    found = {}
    for search in ("optimal", "proportional"):
        release = sf.SwapConfidential(column=SALARY, share=0.5, search=search).protect(table, sf.Randomness.seeded(1))
        found[search] = sf.measure.joint_divergence(table, release.data, SALARY, rows=release.details["rows"])
    assert found["optimal"].simple_bayes < 0.7 * found["proportional"].simple_bayes
    assert found["optimal"].patterns == pytest.approx(found["proportional"].patterns, rel=0.02)


def test_what_cannot_be_compared_is_refused() -> None:
    table = table_of([("u", 1, "x")])
    with pytest.raises(sf.PolicyError, match="no column besides"):
        sf.measure.joint_divergence(table, table, "y", ["y"])
    with pytest.raises(sf.PolicyError, match="without rows"):
        sf.measure.joint_divergence(table, table_of([]), "y")
    with pytest.raises(sf.SfumatoError, match="nowhere"):
        sf.measure.joint_divergence(table, table, "nowhere")
