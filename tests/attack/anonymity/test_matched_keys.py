# SPDX-License-Identifier: MIT
"""Keys are matched alike by counting and by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attack.anonymity import matched_keys
from sfumato.attack.anonymity.matched_keys import match_keys, shorten_part


@given(st.lists(st.integers(-1, 9), max_size=30), st.lists(st.integers(0, 9), max_size=12))
def test_counting_and_sorting_find_the_same(person_keys: list[int], keys: list[int]) -> None:
    wanted_keys, given_keys = np.array(person_keys, dtype=np.int64), np.array(keys, dtype=np.int64)
    rows = np.arange(len(keys), dtype=np.int64) * 3
    count_result = match_keys(wanted_keys, given_keys, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matched_keys, "_DENSE", -1)
        ordered = match_keys(wanted_keys, given_keys, rows)
    for ours, theirs in zip(shorten_part(count_result), shorten_part(ordered), strict=True):
        assert ours.dtype == theirs.dtype == np.int32
        assert ours.tolist() == theirs.tolist()
    order, start, count = count_result
    for person, key in enumerate(person_keys):
        fitting = order[start[person] : start[person] + count[person]]
        assert fitting.tolist() == [row * 3 for row, other in enumerate(keys) if other == key]
