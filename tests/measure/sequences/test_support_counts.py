# SPDX-License-Identifier: MIT
"""Supports of many patterns at once, beside each by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measure.sequences.support_counts import count_pattern_supports
from sfumato.mine.sequences.containment import support
from sfumato.sequences import Sequences

ITEMS = st.sampled_from("abcd")
SIMPLE = st.lists(st.lists(ITEMS, max_size=8), min_size=1, max_size=8)
NESTED = st.lists(st.lists(st.lists(ITEMS, min_size=1, max_size=2), max_size=5), min_size=1, max_size=6)
ELEMENT = st.lists(st.sampled_from("abcde"), min_size=1, max_size=2, unique=True).map(
    lambda names: tuple(sorted(names))
)
PATTERNS = st.lists(st.lists(ELEMENT, min_size=1, max_size=4).map(tuple), max_size=8)


@pytest.mark.parametrize("limits", [(None, None), (1, None), (None, 3)])
@given(lists=st.one_of(SIMPLE, NESTED), patterns=PATTERNS)
def test_every_support_is_that_of_the_pattern_alone(limits, lists, patterns) -> None:  # type: ignore[no-untyped-def]
    sequences = Sequences.of(lists)
    expected = {pattern: support(sequences, pattern, *limits) for pattern in patterns}
    assert count_pattern_supports(sequences, patterns, *limits) == expected
