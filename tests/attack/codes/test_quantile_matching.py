# SPDX-License-Identifier: MIT
"""Quantile matching: order is all it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.codes.quantile_matching import QuantileMatching
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import draw_rival_samples, guess_by_quantile, guess_by_rank


def release(codes: Any) -> sf.Release:
    return sf.Release(sf.Table.of({"x": codes}), None, (), {})


VALUES = np.sort(np.round(np.random.default_rng(0).exponential(100, 3000)))
TRUTH = sf.Table.of({"x": VALUES})


def test_quantiles_by_hand() -> None:
    """Codes 1, 2, 3 with 2, 1, 1 rows; a sample that has 10 twice, 20 and 30 once gives exactly those."""
    coded_column = CodedColumn.of("x", pl.Series([1.0, 1, 2, 3]), pl.Series([10.0, 10, 20, 30]))
    assert coded_column.middle.tolist() == [0.25, 0.625, 0.875]
    assert guess_by_quantile(coded_column, np.array([2, 1, 1])).tolist() == [10, 20, 30]
    assert guess_by_quantile(coded_column, np.array([1, 0, 1])).tolist() == [10, pytest.approx(25), 30]


def test_ranks_by_hand() -> None:
    """The code 1 has rows 0 and 1, its middle one is row 1; of a sample half as large, that is row 0."""
    coded_column = CodedColumn.of("x", pl.Series([1.0, 1, 2, 3]), pl.Series([10.0, 10, 20, 30]))
    assert guess_by_rank(coded_column, np.array([2, 1, 1])).tolist() == [10, 20, 30]
    assert guess_by_rank(coded_column, np.array([1, 2, 1])).tolist() == [20, 20, 30]
    assert guess_by_rank(coded_column, np.array([1, 0, 1])).tolist() == [10, 30, 30]


def test_ranks_read_true_values_where_quantiles_fall_between_them() -> None:
    """Codes of one and of three rows changed places: interpolation is far from all values, ranks are at some."""
    values = np.array([0.0, 10, 10, 10, 20, 20, 20, 30])
    codes = np.array([2.0, 1, 1, 1, 4, 4, 4, 3])
    outcome = QuantileMatching(share=1.0).run(release(codes), sf.Table.of({"x": values}))
    assert outcome.successes == 6 and outcome.facts["columns"]["x"]["best_guess"].startswith("by rank")


def test_samples_are_drawn_without_replacement() -> None:
    coded_column = CodedColumn.of("x", pl.Series(VALUES), pl.Series(VALUES))
    samples = draw_rival_samples(coded_column, 0.2, 40, np.random.default_rng(1))
    assert (samples.sum(axis=1) == 600).all() and (samples <= coded_column.domain_rows).all()
    whole = draw_rival_samples(coded_column, 1.0, 2, np.random.default_rng(1))
    assert (whole == coded_column.domain_rows).all()


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_any_curve_is_cracked_and_shuffled_codes_are_not(share: float) -> None:
    attack = QuantileMatching(share=share, trials=40)
    assert attack.run(release(np.cbrt(VALUES)), TRUTH).low > 0.6
    _, ranks = np.unique(VALUES, return_inverse=True)
    shuffled = np.random.default_rng(2).permutation(ranks.max() + 1)[ranks].astype(float)
    assert attack.run(release(shuffled), TRUTH).risk < 0.3


def test_a_larger_sample_cracks_more() -> None:
    risks = [
        QuantileMatching(share=s, trials=40, radius=0.005).run(release(VALUES * 3), TRUTH).risk for s in (0.01, 0.5)
    ]
    assert risks[0] < risks[1]


def test_controls() -> None:
    values = np.arange(800.0)
    attack = QuantileMatching(share=1.0, radius=0.002)
    outcome = attack.run(release(values), sf.Table.of({"x": values}), control=sf.Table.of({"x": values[::-1].copy()}))
    assert outcome.risk == 1.0 and outcome.control is not None and outcome.control < 20
    noise = np.random.default_rng(0).choice(values, 800)
    assert attack.run(release(noise), sf.Table.of({"x": values})).risk < 0.02
