# SPDX-License-Identifier: MIT
"""Rounded numbers: multiples worked out by hand, and brute force on small tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.measure.anonymity.rounded_numbers import count_between_steps, measure_largest_rounding
from sfumato.measure.change_losses import measure_change_loss


def table_of(values: list[Any], dtype: Any = None) -> sf.Table:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype), "other": list(range(len(values)))}, strict=False)
    return sf.Table.of(frame, {"x": "quasi_identifying", "other": "insensitive"})


def rounded(values: list[Any], step: float, dtype: Any = None) -> list[Any]:
    published_values: list[Any] = (
        sf.RoundNumbers(columns="x", step=step).protect(table_of(values, dtype)).data.frame["x"].to_list()
    )
    return published_values


def test_multiples_by_hand() -> None:
    """The nearest; of two, the larger."""
    assert rounded([1, 2, 3, 7, 8, -2, -3, None], 5) == [0, 0, 5, 5, 10, 0, -5, None]
    assert rounded([2.5, -2.5, 7.49, 7.51], 5) == [5.0, 0.0, 5.0, 10.0]
    assert rounded([1, 2, 3, 4], 2.5) == [0.0, 2.5, 2.5, 5.0]
    assert rounded([5, 15, 14], 10) == [10, 20, 10]


def test_decimals_are_spelled_as_such() -> None:
    """Three times 0.1 is 0.30000000000000004 to a computer."""
    assert [str(cell) for cell in rounded([0.29, 0.61, 0.7, 1.13], 0.1)] == ["0.3", "0.6", "0.7", "1.1"]
    assert [str(cell) for cell in rounded([12.34, 19.99], 0.05)] == ["12.35", "20.0"]


def test_what_cannot_be_rounded_is_refused() -> None:
    for values in (["a", "b"], [1.0, float("inf")], [1e15, 1.0]):
        with pytest.raises(sf.DataError, match='"x"'):
            rounded(values, 5)
    with pytest.raises(sf.DataError, match="no rows"):
        rounded([], 5, pl.Int64)
    with pytest.raises(sf.PolicyError, match="raise step"):
        rounded([1, 2], 1)
    assert rounded([1.2, 2.7], 1) == [1.0, 3.0]
    with pytest.raises(sf.PolicyError, match="nowhere"):
        sf.RoundNumbers(columns="nowhere", step=5).protect(table_of([1]))
    for step in (0, -5, float("nan"), float("inf")):
        with pytest.raises(ValidationError, match="step"):
            sf.RoundNumbers(columns="x", step=step)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.decimals(-1000, 1000, places=3)), min_size=1, max_size=20),
    st.sampled_from(["0.1", "0.25", "0.7", "3", "10"]),
)
def test_against_brute_force(values: list[Any], step: str) -> None:
    """Of all multiples near a number, the nearest is published; by exact fractions."""
    input_values = [None if value is None else float(value) for value in values]
    table = table_of(input_values, pl.Float64)
    release = sf.RoundNumbers(columns="x", step=float(step)).protect(table)
    for value, published in zip(values, release.data.frame["x"].to_list(), strict=True):
        if value is None:
            assert published is None
            continue
        start = int(Fraction(value) / Fraction(step))
        multiples = [Fraction(step) * (start + offset) for offset in (-2, -1, 0, 1, 2)]
        least = min(abs(multiple - Fraction(value)) for multiple in multiples)
        assert published in [float(multiple) for multiple in multiples if abs(multiple - Fraction(value)) == least]
    assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.Float32, pl.Float64])
@pytest.mark.parametrize("step", [10, 2.4])
def test_claims_hold_when_it_was_written(dtype: Any, step: float, tmp_path: Path) -> None:
    table = table_of([*range(0, 127, 3), 127, None], dtype)
    release = sf.RoundNumbers(columns="x", step=step).protect(table)
    assert release.data.frame["x"].dtype == (pl.Int64 if step == 10 else pl.Float64)  # told by the step alone
    release.data.frame.write_csv(tmp_path / "x.csv")
    written_table = release.data.replace_frame(pl.read_csv(tmp_path / "x.csv"))
    assert all(finding.holds for finding in sf.check(release, table))
    assert all(finding.holds for finding in sf.check(sf.Release(written_table, None, release.claims, {}), table))


def test_other_code_measures_the_same_loss() -> None:
    table = table_of([0, 5, 6, 7, None])
    release = sf.RoundNumbers(columns="x", step=5).protect(table)
    assert release.losses["loss"] == measure_change_loss(table, release.data, release.changes, {}) == 2 / 4


def test_a_gate_on_the_loss_and_the_columns_of_a_report(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [21, 30, 38, 47] * 5, "y": [12.5, 30, 51.2, 66.6] * 5})
    method = sf.RoundNumbers(columns=("x", "y"), step=10)
    roles = {"x": "quasi_identifying", "y": "sensitive"}
    result = sf.run(frame, method, roles=roles, gate={"max_loss": 0.75}, out=tmp_path / "out")
    published = sf.read_release(result.out).data.frame
    assert published["x"].to_list() == [20, 30, 40, 50] * 5
    assert published["y"].to_list() == [10, 30, 50, 70] * 5
    assert "rounded to multiples of a step" in (result.out / "release" / "report.html").read_text(encoding="utf-8")
    assert sf.run(frame, method, roles=roles, gate={"max_loss": 0.7}, out=tmp_path / "not").refusals


def test_the_measures_count_what_breaks_a_promise() -> None:
    assert count_between_steps(table_of([0, 5, 7, 11, None]), ("x",), 5) == 2
    assert count_between_steps(table_of(["5", "*", "[5, 10]", "6", "10.0", None]), ("x",), 5) == 2
    assert count_between_steps(table_of([0.1 * 3, 0.7, 0.75]), ("x",), 0.1) == 1
    original = table_of([1, 9, None, 4])
    assert measure_largest_rounding(original, table_of([0, 12, None, 4]), ("x",)) == 3
    assert measure_largest_rounding(original, table_of(["0", "*", None, "4"]), ("x",)) == 1
    for label in ("[0, 5]", "four", "inf"):
        assert measure_largest_rounding(original, table_of(["0", "*", None, label]), ("x",)) == float("inf")
    assert measure_largest_rounding(original, table_of([1, 9, 0, 4]), ("x",)) == float("inf")
    with pytest.raises(sf.DataError, match="above 0"):
        count_between_steps(original, ("x",), 0)
