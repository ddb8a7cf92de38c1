# SPDX-License-Identifier: MIT
"""Check noise against the promise, on the differences between the release and the originals.

Independent of the method, so only the custodian can check. Agrawal and Srikant's privacy at a confidence is the width
of the interval to which a value is known; here it is the narrowest one that holds that share of the differences. The
width of whole numbers (and dates, in days) is their count, that of an interval as well as that of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats
from sfumato.errors import DataError, PolicyError
from sfumato.measure.alignment import (
    Rows,
    align_originals,
    count_changes_elsewhere,
    make_comparison_check,
)
from sfumato.measure.checks import checks_claim
from sfumato.measure.noise.stated_law import StatedLaw, find_narrowest, judge_differences
from sfumato.table import Table


def noise_privacy(
    original: Table,
    published_table: Table,
    column: str,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of a noisy column: the narrowest interval that holds a share `confidence` of the differences,
    as a share of the range from `low` to `high` (by default that of the originals).
    """
    if not 0 < confidence < 1:
        raise PolicyError(f"confidence must lie between 0 and 1, not {confidence:g}")
    true, published_numbers, whole = _pair_numbers(original, published_table, column, rows)
    if not len(true):
        return 0.0
    least, most = (float(true.min()) if low is None else low), (float(true.max()) if high is None else high)
    if not most > least:
        raise DataError(f'{original.source}: "{column}" has no range to take a share of; give `low` and `high`')
    differences = np.sort(published_numbers - true)
    held_count = max(1, int(np.ceil(confidence * len(differences) - 1e-9)))
    width = find_narrowest(differences, held_count - 1)
    step = 1.0 if whole else 0.0
    return round((width + step) / (most - least + step), 12)


def measure_noise_centre(
    original: Table,
    published_table: Table,
    column: str,
    deviation: float | None = None,
    times: float | None = None,
    joint_columns: Sequence[str] = (),
    rows: Rows = None,
) -> float:
    """By how many standard errors the mean of the noise is off 0; `deviation` is the noise's, if known, or follows from
    `times` the data's variance, as in `measure_noise_law`.
    """
    true, published_numbers, whole = _pair_numbers(original, published_table, column, rows)
    differences = published_numbers - true
    if not len(differences):
        return 0.0
    if times is not None:
        original_frame = align_originals(original, published_table, rows)
        deviation = float(
            np.sqrt(_choose_noise_scale(original_frame, column, None, times, joint_columns) ** 2 + whole / 12)
        )
    mean_offset, error = (
        abs(float(differences.mean())),
        _compute_deviation(differences, deviation) / np.sqrt(len(differences)),
    )
    return round(float(mean_offset / error), 12) if mean_offset else 0.0


def measure_noise_law(
    original: Table,
    published_table: Table,
    column: str,
    kind: str,
    scale: float | None = None,
    step: float = 0.0,
    grid: float = 0.0,
    times: float | None = None,
    joint_columns: Sequence[str] = (),
    rows: Rows = None,
) -> float:
    """By how many standard errors the differences deviate from the stated noise: `kind`, `scale`, rounded to `step`.

    `grid` is the rounding of numbers that are not whole, and of their noise. Without a scale, it is that of `times` the
    variance of the originals, over the rows that have all `joint_columns`.

    Three tests, each with a bound that holds for any number of values: the distance of the distributions
    (Kolmogorov-Smirnov, with Massart's bound), whether the smallest and largest sizes are those of this many draws
    (Beta), and whether some differences are closer together than draws can be (binomial). The smallest p-value, times
    their number, is reported as the standard errors that are equally rare.
    """
    true, published_numbers, _ = _pair_numbers(original, published_table, column, rows)
    if not len(true):
        return 0.0
    scale = _choose_noise_scale(align_originals(original, published_table, rows), column, scale, times, joint_columns)
    law, differences = StatedLaw(kind, scale, step), np.sort(published_numbers - true)
    blur = (
        step / 2
        if step
        else max(1e-5 * scale, grid, 2 * _compute_storage_grain(original.frame[column], true, published_numbers))
    )
    return judge_differences(differences, law, blur)


class Variance(TypedDict, total=False):
    """How the scale of noise follows from the data."""

    times: float | None
    """The multiple of the variance of the originals."""
    joint_columns: Sequence[str]
    """Columns that are noisy together: only the rows that have all of them count."""


def measure_noise_dependence(
    original: Table,
    published_table: Table,
    column: str,
    kind: str,
    scale: float | None = None,
    step: float = 0.0,
    other_columns: Sequence[str] = (),
    independent: int = 1,
    rows: Rows = None,
    **variance: Unpack[Variance],
) -> float:
    """By how many standard errors the noise, or its size, correlates with the values it was added to, with their
    distance from the centre, with the same of other noisy columns and, if drawn independently, with their noise.

    Noise counts by its rank in the stated distribution, which is uniform: sums of it with any weights that do not
    depend on it exceed x standard errors with probability at most 2 exp(−x² / 2), for any number of values. The scale
    is stated, or follows from `times` the data's variance, as in `measure_noise_law`.
    """
    original_frame = align_originals(original, published_table, rows)
    true, differences = _compute_added_noise(original_frame, published_table.frame, column)
    law = StatedLaw(kind, _choose_noise_scale(original_frame, column, scale, **variance), step)
    places = np.array((law.rank(differences), law.rank_size(differences)))
    deviations = [_measure_noise_association(np.array(_standardize_values(true)), places)]
    for name in other_columns:
        values, other_values = _compute_added_noise(original_frame, published_table.frame, name)
        deviations.append(
            _measure_noise_association(
                np.array(
                    (*_standardize_values(values), *((other_values, np.abs(other_values)) if independent else ()))
                ),
                places,
            )
        )
    return round(max(deviations), 12)


def count_unchanged_cells(original: Table, published_table: Table, column: str, rows: Rows = None) -> int:
    """How many known values of a column were published unchanged."""
    true, published_numbers, _ = _pair_numbers(original, published_table, column, rows)
    return int((true == published_numbers).sum())


def measure_noise_shape(
    original: Table, published_table: Table, columns: Sequence[str], times: float, rows: Rows = None
) -> float:
    """By how many standard errors the covariance of the noise deviates from that of the data, times a factor; the worst
    of all pairs of columns, over the rows that have all of them; infinitely many if no row has them any more.
    """
    original_frame = align_originals(original, published_table, rows)
    true, published_numbers = (
        np.array([read_noise_numbers(frame, name).values for name in columns])
        for frame in (original_frame, published_table.frame)
    )
    had = np.isfinite(true).all(axis=0)
    known_mask = had & np.isfinite(published_numbers).all(axis=0)
    if not known_mask.any():
        return float("inf") if had.any() else 0.0
    true, published_numbers = true[:, known_mask], published_numbers[:, known_mask]
    # Each column in its own unit: fourth powers of very large or small numbers overflow or vanish.
    reach = np.abs(true - true.mean(axis=1, keepdims=True)).max(axis=1, keepdims=True)
    unit = np.where(reach > 0, reach, 1.0)
    # Whole numbers that are published with decimals, as their range says, were not rounded.
    has_decimals = (published_numbers != np.rint(published_numbers)).any(axis=1)
    fine = np.where(has_decimals, 0.0, 1.0 / 12) / unit[:, 0] ** 2
    differences = (published_numbers - true) / unit
    promised_covariance = times * np.atleast_2d(np.cov(true / unit, bias=True)) + np.diag(fine)
    covariance_gap = np.abs(differences @ differences.T / differences.shape[1] - promised_covariance)
    # Linearly dependent columns may be rounded together or not: their covariance is unpredictable.
    rounding_covariance = np.sqrt(np.outer(fine, fine)) * (1 - np.eye(len(fine)))
    promised_variances = np.diag(promised_covariance)
    errors = np.sqrt((np.outer(promised_variances, promised_variances) + promised_covariance**2) / differences.shape[1])
    return round(float((np.maximum(covariance_gap - rounding_covariance, 0.0) / errors).max()), 12)


def measure_interval_privacy(
    original: Table,
    published_table: Table,
    column: str,
    width: float,
    low: float,
    high: float,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of intervals: the width of the narrowest interval of a published value, clipped to the public
    range, times the confidence, as a share of the range. An interval is as wide as stated, or as the distance of
    published values if that is smaller.
    """
    _, published_numbers, whole = _pair_numbers(original, published_table, column, rows)
    return measure_narrowest_remainder(np.unique(published_numbers), whole, width, low, high, confidence)


def measure_narrowest_remainder(
    middle: Floats, whole: bool, width: float, low: float, high: float, confidence: float
) -> float:
    """The same from the different published values, ascending."""
    step = 1.0 if whole else 0.0
    gaps = np.diff(middle)
    size = min(width, float(gaps.min())) if len(gaps) else width
    begin = middle - (np.floor((size - 1) / 2) if whole else size / 2)
    clipped_widths = np.minimum(begin + size, high + step) - np.maximum(begin, low)
    narrowest = float(clipped_widths.min()) if len(clipped_widths) else min(size, high + step - low)
    return round(confidence * max(0.0, narrowest) / (high - low + step), 12)


def count_outside_interval(
    original: Table,
    published_table: Table,
    column: str,
    width: float,
    origin: float,
    step: float = 0.0,
    rows: Rows = None,
) -> int:
    """How many published values are not the middle of an interval that holds the original; of an even number of whole
    numbers the lower middle. Intervals include their ends, since values there were rounded.
    """
    true, published_numbers, _ = _pair_numbers(original, published_table, column, rows)
    grain = 0.0 if step else _compute_storage_grain(original.frame[column], true, published_numbers)
    return int(flag_outside_intervals(true, published_numbers, width, origin, step, grain).sum())


def flag_outside_intervals(
    true: Floats, published_numbers: Floats, width: float, origin: float, step: float, grain: float
) -> Flags:
    """Which published values are not the middle of an interval that holds the original; numbers have a grain."""
    interval_index = np.rint((published_numbers - origin - (width - step) / 2 + (step / 4 if step else 0.0)) / width)
    begin = origin + interval_index * width
    middle = begin + ((width - step) / 2 if not step else np.floor((width / step - 1) / 2) * step)
    slack = 1e-9 * (width + np.abs(published_numbers)) + 2 * grain
    inside_mask = (true >= begin - slack) & (true <= begin + width - step + slack)
    return np.asarray(~inside_mask | (np.abs(published_numbers - middle) > slack))


def count_cells_changed_without_noise(
    original: Table, published_table: Table, columns: Sequence[str], rows: Rows = None
) -> int:
    """How many cells of other columns were changed, and how many of the noisy ones became missing or known."""
    others_changed = count_changes_elsewhere(original, published_table, columns, rows)
    original_frame = align_originals(original, published_table, rows)
    return others_changed + sum(
        int((_get_number_cells(published_table.frame, name).is_null() != original_frame[name].is_null()).sum())
        for name in columns
    )


checks_claim("noise_privacy", "at_least", needs_original=True)(make_comparison_check(noise_privacy))
checks_claim("noise_law", "at_most", needs_original=True)(make_comparison_check(measure_noise_law))
checks_claim("unchanged_cells", "at_most", needs_original=True)(make_comparison_check(count_unchanged_cells))
checks_claim("noise_centre", "at_most", needs_original=True)(make_comparison_check(measure_noise_centre))
checks_claim("noise_dependence", "at_most", needs_original=True)(make_comparison_check(measure_noise_dependence))
checks_claim("noise_shape", "at_most", needs_original=True)(make_comparison_check(measure_noise_shape))
checks_claim("interval_privacy", "at_least", needs_original=True)(make_comparison_check(measure_interval_privacy))
checks_claim("outside_interval", "exactly", needs_original=True)(make_comparison_check(count_outside_interval))
checks_claim("changed_without_noise", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_cells_changed_without_noise)
)


class _NumberPairs(NamedTuple):
    """Original and published numbers where both are known."""

    true: Floats
    published_numbers: Floats
    whole: bool
    """Whether they are whole numbers."""


def _pair_numbers(original: Table, published_table: Table, column: str, rows: Rows) -> _NumberPairs:
    """Original and published numbers where both are known, and whether they are whole; may be empty."""
    original_frame = align_originals(original, published_table, rows)
    (true, whole), (published_numbers, _) = (
        read_noise_numbers(original_frame, column),
        read_noise_numbers(published_table.frame, column),
    )
    known_mask = np.isfinite(true) & np.isfinite(published_numbers)
    if not known_mask.any() and (np.isfinite(true).any() or np.isfinite(published_numbers).any()):
        raise DataError(f'{published_table.source}: no row has "{column}" both in the release and in the originals')
    return _NumberPairs(true[known_mask], published_numbers[known_mask], whole)


class NoiseNumbers(NamedTuple):
    """A column as numbers, NaN where it is missing."""

    values: Floats
    whole: bool
    """Whether they are whole numbers."""


def read_noise_numbers(frame: pl.DataFrame, name: str) -> NoiseNumbers:
    """A column as numbers, NaN where it is missing, and whether they are whole; dates count in days."""
    cells = _get_number_cells(frame, name)
    whole = not cells.dtype.is_float()
    return NoiseNumbers(np.asarray(cells.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64), whole)


def _get_number_cells(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        raise DataError(f'there is no column "{name}"')
    cells = frame[name]
    if cells.dtype == pl.String:  # a file has dates as text
        cells = cells.str.to_date("%Y-%m-%d", strict=False)
    if not (cells.dtype.is_numeric() or cells.dtype == pl.Date):
        raise DataError(f'"{name}" holds neither numbers nor dates')
    return cells


def _choose_noise_scale(
    original_frame: pl.DataFrame,
    column: str,
    told_value: float | None,
    times: float | None = None,
    joint_columns: Sequence[str] = (),
) -> float:
    """The stated scale, or that of noise with this multiple of the variance of the originals."""
    if told_value is not None:
        return told_value
    if times is None:
        raise PolicyError("give the noise's `scale`, or how many `times` the variance of the originals it has")
    values = np.array(
        [read_noise_numbers(original_frame, name).values for name in dict.fromkeys((column, *joint_columns))]
    )
    return float(np.sqrt(times * values[0, np.isfinite(values).all(axis=0)].var()))


def _compute_deviation(differences: Floats, told_value: float | None) -> float:
    deviation = float(differences.std()) if told_value is None else told_value
    return deviation if deviation > 0 else 1e-300


def _compute_added_noise(
    original_frame: pl.DataFrame, published_frame: pl.DataFrame, name: str
) -> tuple[Floats, Floats]:
    """Original numbers and the noise added to them, NaN where either is missing."""
    true, published_numbers = (
        read_noise_numbers(original_frame, name).values,
        read_noise_numbers(published_frame, name).values,
    )
    return true, published_numbers - true


def _compute_storage_grain(column: pl.Series, true: Floats, published_numbers: Floats) -> float:
    """The storage precision of the largest number."""
    largest = max(float(np.abs(values).max(initial=0.0)) for values in (true, published_numbers))
    return float(np.spacing(np.float32(largest) if column.dtype == pl.Float32 else largest))


def _standardize_values(values: Floats) -> tuple[Floats, Floats]:
    """Standardized values, and their distances from the centre; outliers are capped at three times the usual."""
    known_values = values[np.isfinite(values)]
    middle = float(np.median(known_values)) if len(known_values) else 0.0
    usual = (
        float(np.median(np.abs(known_values - middle)) or np.abs(known_values - middle).mean())
        if len(known_values)
        else 0.0
    )
    stand = np.clip((values - middle) / (usual or 1.0), -3.0, 3.0)
    return stand, np.abs(stand)


def _measure_noise_association(weights: Floats, places: Floats) -> float:
    """By how many standard errors uniform ranks correlate with weights: the maximum over all pairs of rows."""
    known_mask = np.isfinite(weights[-1]) & np.isfinite(places[0])
    if not known_mask.all():
        weights, places = weights[:, known_mask], places[:, known_mask]
    if not known_mask.any():
        return 0.0
    centred_weights = weights - weights.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.einsum("ij,ij->i", centred_weights, centred_weights))
    varied_mask = lengths > 1e-9 * np.abs(weights).max(axis=1)
    sums = np.abs(centred_weights[varied_mask] @ places.T) * np.sqrt(12) / lengths[varied_mask, None]
    return float(sums.max(initial=0.0))
