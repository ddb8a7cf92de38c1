# SPDX-License-Identifier: MIT
"""Numbers drawn by the row: the same however a table is cut, and never shared."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.measure.noise.stated_law import StatedLaw, judge_differences
from sfumato.protect.noise.row_draws import RowDraws, shape_normal, shape_uniform

DRAWS = RowDraws(bytes(range(32)))


@settings(max_examples=30)
@given(st.integers(0, 2**40), st.integers(1, 300), st.integers(0, 300))
def test_a_cut_of_the_table_changes_no_draw(first: int, count: int, cut: int) -> None:
    cut = min(cut, count)
    whole = DRAWS.draw_words("age", first, count)
    parts = [DRAWS.draw_words("age", first, cut), DRAWS.draw_words("age", first + cut, count - cut)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert np.array_equal(whole, DRAWS.draw_words("age", first, count)), "a task that is tried again"


def test_no_two_rows_columns_or_secrets_share_a_draw() -> None:
    other_draws = RowDraws(bytes(32))
    draw_parts = [
        DRAWS.draw_words("age", 0, 50_000),
        DRAWS.draw_words("agf", 0, 50_000),
        other_draws.draw_words("age", 0, 50_000),
    ]
    words = np.concatenate([part.ravel() for part in draw_parts])
    assert len(np.unique(words)) == len(words)


def test_draws_have_their_distributions() -> None:
    words = DRAWS.draw_words("income", 10**6, 20_000)
    for number in range(2):
        normal, uniform = shape_normal(words[:, number]), 2 * shape_uniform(words[:, number]) - 1
        assert judge_differences(np.sort(normal), StatedLaw("gaussian", 1.0, 0.0), 1e-9) < 5
        assert judge_differences(np.sort(uniform), StatedLaw("uniform", 1.0, 0.0), 1e-9) < 5
    assert abs(float(np.asarray(np.corrcoef(words.astype(np.float64).T))[0, 1])) < 5 / np.sqrt(20_000)


def test_the_rarest_words_give_finite_numbers() -> None:
    words = np.array([0, 1, 2**64 - 1, 2**64 - 2, 2**63], dtype=np.uint64)
    assert np.isfinite(shape_normal(words)).all()
    assert (np.abs(shape_normal(words)) < 8.3).all()
    assert ((shape_uniform(words) >= 0) & (shape_uniform(words) < 1)).all()
