# SPDX-License-Identifier: MIT
"""Moments and correlations, against scipy and by hand."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sfumato as sf
from sfumato.measure.utility.moments import correlations, moments


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    chance = np.random.default_rng(1)
    x = chance.exponential(2, 500)
    original = pl.DataFrame({"x": x, "y": x + chance.normal(size=500), "word": ["a"] * 500})
    return original, original.with_columns(pl.col("x") + chance.normal(0, 3, 500))


def test_moments_are_scipys() -> None:
    before, after = frames()
    summary = moments(before, after)
    assert summary.names == ("x", "y")
    for column_moments, frame in ((summary["x"].before, before), (summary["x"].after, after)):
        values = frame["x"].to_numpy()
        assert column_moments.count == 500
        assert column_moments.mean == pytest.approx(values.mean())
        assert column_moments.std == pytest.approx(values.std())
        assert column_moments.skewness == pytest.approx(stats.skew(values))
        assert column_moments.quantiles == pytest.approx(tuple(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])))
    assert summary["y"].before == summary["y"].after
    assert summary["y"].std_ratio == 1.0
    assert summary["y"].mean_shift == 0.0
    assert summary["x"].std_ratio == pytest.approx(after["x"].to_numpy().std() / before["x"].to_numpy().std())


def test_the_frame_of_moments() -> None:
    before, after = frames()
    moment_frame = moments(sf.Table.of(before), sf.Table.of(after), quantiles=(0.5,)).to_frame()
    assert moment_frame["measure"].to_list() == ["mean", "std", "skewness", "quantile 0.5"] * 2


def test_what_has_no_moments() -> None:
    frame = pl.DataFrame(
        {"x": [1.0, 1.0], "y": pl.Series([None, None], dtype=pl.Float64), "d": [dt.date(1970, 1, 2)] * 2}
    )
    summary = moments(frame, frame)
    assert (summary["x"].before.std, summary["x"].before.skewness, summary["x"].std_ratio) == (0.0, None, None)
    assert (summary["y"].before.mean, summary["y"].before.quantiles, summary["y"].mean_shift) == (None, (), None)
    assert summary["d"].before.mean == 1.0
    with pytest.raises(sf.DataError, match='"word"'):
        moments(*frames(), columns=["word"])
    with pytest.raises(sf.DataError, match='"z"'):
        summary["z"]
    with pytest.raises(sf.PolicyError, match="share"):
        moments(frame, frame, quantiles=(2.0,))
    with pytest.raises(sf.DataError, match="polars"):
        moments([1], [2])


def test_correlations_are_numpys() -> None:
    before, after = frames()
    changes = correlations(before, after)
    assert changes.before[0, 1] == pytest.approx(np.corrcoef(before["x"], before["y"])[0, 1])
    assert changes.after[0, 1] == pytest.approx(np.corrcoef(after["x"], after["y"])[0, 1])
    assert changes.largest == changes.mean == pytest.approx(abs(changes.before[0, 1] - changes.after[0, 1]))
    assert changes.to_frame().rows() == [("x", "y", changes.before[0, 1], changes.after[0, 1])]


def test_correlations_of_three_with_gaps() -> None:
    before = pl.DataFrame({"a": [1.0, 2, 3, None], "b": [2.0, 4, 6, 1], "c": [1.0, 0, 1, 5]})
    after = before.with_columns(pl.lit(3.0).alias("b"))
    changes = correlations(before, after)
    assert changes.before[0, 1] == pytest.approx(1.0)
    assert np.isnan(changes.after[0, 1])
    # what does not vary goes with nothing: 1 and |r(b, c)| are lost, r(a, c) is kept
    lost_correlation = abs(float(np.corrcoef([2, 4, 6, 1], [1, 0, 1, 5])[0, 1]))
    assert changes.largest == pytest.approx(1.0)
    assert changes.mean == pytest.approx((1 + lost_correlation) / 3)
    assert correlations(before, before, columns=["a"]).largest == 0.0
