# SPDX-License-Identifier: MIT
"""Whether noise is what was promised: measured on the differences between the release and the originals.

Nothing is taken from the method, so only the custodian can check. Agrawal and Srikant's privacy at a confidence is the
width of the interval that a value is told to lie in; here it is the narrowest one that holds that share of the
differences. Whole numbers (and dates, in days) are as wide as they are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.data.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def noise_privacy(
    original: Table,
    published: Table,
    column: str,
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of a noisy column: the narrowest interval that holds a share of `confidence` of what was added,
    as a share of the range from `low` to `high` (of the originals if not told)."""
    if not 0 < confidence < 1:
        raise PolicyError(f"a confidence lies between 0 and 1, and {confidence:g} does not")
    true, shown, whole = _pair_numbers(original, published, column, rows)
    if not len(true):
        return 0.0
    least, most = (float(true.min()) if low is None else low), (float(true.max()) if high is None else high)
    if not most > least:
        raise DataError(f'{original.source}: "{column}" has no range to take a share of; give `low` and `high`')
    added = np.sort(shown - true)
    held = max(1, int(np.ceil(confidence * len(added) - 1e-9)))
    width = float((added[held - 1 :] - added[: len(added) - held + 1]).min())
    return round((width + (1.0 if whole else 0.0)) / (most - least), 12)


def measure_noise_centre(
    original: Table,
    published: Table,
    column: str,
    deviation: float | None = None,
    times: float | None = None,
    together: Sequence[str] = (),
    rows: Rows = None,
) -> float:
    """By how many standard errors the mean of what was added is off 0; `deviation` is the noise's, if it is known, or
    follows from `times` the data's variance, as in `measure_noise_law`."""
    true, shown, whole = _pair_numbers(original, published, column, rows)
    added = shown - true
    if not len(added):
        return 0.0
    if times is not None:
        taken = align_originals(original, published, rows)
        deviation = float(np.sqrt(_choose_noise_scale(taken, column, None, times, together) ** 2 + whole / 12))
    off, error = abs(float(added.mean())), _compute_deviation(added, deviation) / np.sqrt(len(added))
    return round(float(off / error), 12) if off else 0.0


def measure_noise_law(
    original: Table,
    published: Table,
    column: str,
    kind: str,
    scale: float | None = None,
    step: float = 0.0,
    grid: float = 0.0,
    times: float | None = None,
    together: Sequence[str] = (),
    rows: Rows = None,
) -> float:
    """By how many standard errors what was added is off the noise that was told: `kind`, `scale`, rounded to `step`.

    `grid` is what numbers that are not whole were rounded to, and their noise as well. Where no scale is told it is
    that of `times` the variance of the originals, over the rows that have all columns of `together`.

    Three questions, each answered by a bound that holds for any number of values: how far the distribution is off as a
    whole (Kolmogorov and Smirnov's distance, with Massart's bound), whether the least and the greatest sizes are those
    of so many draws (Beta), whether some differences are closer together than draws can be (binomial). The rarest
    answer, times how many there are, is told as the standard errors that are as rare.
    """
    from scipy.special import ndtri

    true, shown, _ = _pair_numbers(original, published, column, rows)
    if not len(true):
        return 0.0
    scale = _choose_noise_scale(align_originals(original, published, rows), column, scale, times, together)
    law, added = _ToldLaw(kind, scale, step), np.sort(shown - true)
    blur = (
        step / 2 if step else max(1e-5 * scale, grid, 2 * _compute_storage_grain(original.frame[column], true, shown))
    )
    answers = [
        _bound_distance_chance(added, law, blur),
        *_bound_size_chances(added, law, blur),
        *_bound_crowding_chances(added, law, blur),
    ]
    rare = float(np.clip(len(answers) * min(answers), 1e-300, 1.0))
    return round(-float(ndtri(rare / 2)), 12) + 0.0


class Variance(TypedDict, total=False):
    """How the scale of noise follows from the data."""

    times: float | None
    """How many times the variance of the originals it has."""
    together: Sequence[str]
    """Columns that are noisy together: only the rows that have them all count."""


def measure_noise_dependence(
    original: Table,
    published: Table,
    column: str,
    kind: str,
    scale: float | None = None,
    step: float = 0.0,
    others: Sequence[str] = (),
    apart: int = 1,
    rows: Rows = None,
    **variance: Unpack[Variance],
) -> float:
    """By how many standard errors what was added, or its size, goes with the values it was added to, with how far out
    they are, with the same of other noisy columns and, where it was drawn apart from theirs, with their noise.

    Noise is told by its place in the distribution told, which is uniform: sums of it with any weights that do not
    depend on it stray further than x standard errors with probability 2 exp(−x² / 2) at the most, however few. The
    scale is told, or follows from `times` the data's variance, as in `measure_noise_law`.
    """
    taken = align_originals(original, published, rows)
    true, added = _compute_added_noise(taken, published.frame, column)
    law = _ToldLaw(kind, _choose_noise_scale(taken, column, scale, **variance), step)
    places = np.array((law.place(added), law.place_size(added)))
    deviations = [_measure_noise_association(np.array(_standardize_values(true)), places)]
    for name in others:
        values, theirs = _compute_added_noise(taken, published.frame, name)
        deviations.append(
            _measure_noise_association(
                np.array((*_standardize_values(values), *((theirs, np.abs(theirs)) if apart else ()))), places
            )
        )
    return round(max(deviations), 12)


def count_unchanged_cells(original: Table, published: Table, column: str, rows: Rows = None) -> int:
    """How many known values of a column were published as they were."""
    true, shown, _ = _pair_numbers(original, published, column, rows)
    return int((true == shown).sum())


def measure_noise_shape(
    original: Table, published: Table, columns: Sequence[str], times: float, rows: Rows = None
) -> float:
    """By how many standard errors the covariance of what was added is off that of the data, times a factor; the worst
    of all pairs of columns, over the rows that have them all."""
    taken = align_originals(original, published, rows)
    true, shown = (
        np.array([_read_noise_numbers(frame, name)[0] for name in columns]) for frame in (taken, published.frame)
    )
    known = np.isfinite(true).all(axis=0) & np.isfinite(shown).all(axis=0)
    true, shown = true[:, known], shown[:, known]
    # Each column in a unit of its own: squares of squares of very large or small numbers are no numbers.
    reach = np.abs(true - true.mean(axis=1, keepdims=True)).max(axis=1, keepdims=True)
    unit = np.where(reach > 0, reach, 1.0)
    fine = np.array([0.0 if taken[name].dtype.is_float() else 1.0 / 12 for name in columns]) / unit[:, 0] ** 2
    added = (shown - true) / unit
    promised = times * np.atleast_2d(np.cov(true / unit, bias=True)) + np.diag(fine)
    off = np.abs(added @ added.T / added.shape[1] - promised)
    # Columns that follow from each other are rounded together, or not: nobody can tell how that goes.
    together = np.sqrt(np.outer(fine, fine)) * (1 - np.eye(len(fine)))
    own = np.diag(promised)
    errors = np.sqrt((np.outer(own, own) + promised**2) / added.shape[1])
    return round(float((np.maximum(off - together, 0.0) / errors).max()), 12)


def measure_interval_privacy(
    original: Table,
    published: Table,
    column: str,
    width: float,
    low: float,
    high: float,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of intervals: of the interval of each published value, cut by the range that everybody knows,
    the width of the narrowest, times the confidence, as a share of the range. An interval is as wide as was told, or as
    published values are apart, if that is less."""
    _, shown, whole = _pair_numbers(original, published, column, rows)
    middle, step = np.unique(shown), 1.0 if whole else 0.0
    apart = np.diff(middle)
    size = min(width, float(apart.min())) if len(apart) else width
    begin = middle - (np.floor((size - 1) / 2) if whole else size / 2)
    within = np.minimum(begin + size, high + step) - np.maximum(begin, low)
    narrowest = float(within.min()) if len(within) else min(size, high + step - low)
    return round(confidence * max(0.0, narrowest) / (high - low), 12)


def count_outside_interval(
    original: Table,
    published: Table,
    column: str,
    width: float,
    origin: float,
    step: float = 0.0,
    rows: Rows = None,
) -> int:
    """How many published values are not the middle of an interval that holds the original; of an even number of whole
    numbers the lower middle. The ends of an interval belong to it, since values there were rounded."""
    true, shown, _ = _pair_numbers(original, published, column, rows)
    interval_index = np.rint((shown - origin - (width - step) / 2 + (step / 4 if step else 0.0)) / width)
    begin = origin + interval_index * width
    middle = begin + ((width - step) / 2 if not step else np.floor((width / step - 1) / 2) * step)
    slack = 1e-9 * (width + np.abs(shown)) + (
        2 * _compute_storage_grain(original.frame[column], true, shown) if not step else 0.0
    )
    within = (true >= begin - slack) & (true <= begin + width - step + slack)
    return int((~within | (np.abs(shown - middle) > slack)).sum())


def count_cells_changed_besides_noise(
    original: Table, published: Table, columns: Sequence[str], rows: Rows = None
) -> int:
    """How many cells of other columns were changed, and how many of the noisy ones became missing or known."""
    taken = align_originals(original, published, rows)
    require_columns(taken, (*published.frame.columns, *columns), original.source)
    others = [name for name in published.frame.columns if name not in columns]
    others_changed = sum(
        int(spell_cells(published.frame[name]).ne_missing(spell_cells(taken[name])).sum()) for name in others
    )
    return others_changed + sum(
        int((_get_number_cells(published.frame, name).is_null() != taken[name].is_null()).sum()) for name in columns
    )


checks_claim("noise_privacy", "at_least", needs_original=True)(make_comparison_check(noise_privacy))
checks_claim("noise_law", "at_most", needs_original=True)(make_comparison_check(measure_noise_law))
checks_claim("unchanged_cells", "at_most", needs_original=True)(make_comparison_check(count_unchanged_cells))
checks_claim("noise_centre", "at_most", needs_original=True)(make_comparison_check(measure_noise_centre))
checks_claim("noise_dependence", "at_most", needs_original=True)(make_comparison_check(measure_noise_dependence))
checks_claim("noise_shape", "at_most", needs_original=True)(make_comparison_check(measure_noise_shape))
checks_claim("interval_privacy", "at_least", needs_original=True)(make_comparison_check(measure_interval_privacy))
checks_claim("outside_interval", "exactly", needs_original=True)(make_comparison_check(count_outside_interval))
checks_claim("changed_beside_noise", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_cells_changed_besides_noise)
)


def _pair_numbers(original: Table, published: Table, column: str, rows: Rows) -> tuple[Floats, Floats, bool]:
    """Original and published numbers where both are known, and whether they are whole; none where none ever was."""
    taken = align_originals(original, published, rows)
    (true, whole), (shown, _) = _read_noise_numbers(taken, column), _read_noise_numbers(published.frame, column)
    known = np.isfinite(true) & np.isfinite(shown)
    if not known.any() and (np.isfinite(true).any() or np.isfinite(shown).any()):
        raise DataError(f'{published.source}: no row has "{column}" both in the release and in the originals')
    return true[known], shown[known], whole


def _read_noise_numbers(frame: pl.DataFrame, name: str) -> tuple[Floats, bool]:
    """A column as numbers, NaN where it is missing, and whether they are whole; dates count in days."""
    cells = _get_number_cells(frame, name)
    whole = not cells.dtype.is_float()
    return np.asarray(cells.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64), whole


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
    taken: pl.DataFrame, column: str, told_value: float | None, times: float | None = None, together: Sequence[str] = ()
) -> float:
    """The scale that was told, or that of noise with so many times the variance of the originals."""
    if told_value is not None:
        return told_value
    if times is None:
        raise PolicyError("the noise's `scale` is told, or how many `times` the variance of the originals it has")
    values = np.array([_read_noise_numbers(taken, name)[0] for name in dict.fromkeys((column, *together))])
    return float(np.sqrt(times * values[0, np.isfinite(values).all(axis=0)].var()))


def _compute_deviation(added: Floats, told_value: float | None) -> float:
    deviation = float(added.std()) if told_value is None else told_value
    return deviation if deviation > 0 else 1e-300


def _compute_added_noise(taken: pl.DataFrame, published: pl.DataFrame, name: str) -> tuple[Floats, Floats]:
    """Original numbers and what was added to them, NaN where either is missing."""
    true, shown = _read_noise_numbers(taken, name)[0], _read_noise_numbers(published, name)[0]
    return true, shown - true


def _compute_storage_grain(column: pl.Series, true: Floats, shown: Floats) -> float:
    """What the largest of the numbers is rounded to when it is stored."""
    largest = max(float(np.abs(values).max(initial=0.0)) for values in (true, shown))
    return float(np.spacing(np.float32(largest) if column.dtype == pl.Float32 else largest))


@dataclass(frozen=True)
class _ToldLaw:
    """The distribution that noise was told to have; written here again, since the method's is not to be believed."""

    kind: str
    scale: float
    step: float

    def below(self, points: Floats) -> Floats:
        """The probability of less than so much, before rounding."""
        if self.kind == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr(points / self.scale))
        if self.kind == "uniform":
            return np.clip((points / self.scale + 1) / 2, 0.0, 1.0)
        raise PolicyError(f'noise is uniform or gaussian, and "{self.kind}" is neither')

    def compute_chance_of_larger(self, size: Floats) -> Floats:
        """The probability that noise is further off 0."""
        return np.where(size <= 0, 1.0, 2 * self.below(-np.abs(size)))

    def place(self, added: Floats) -> Floats:
        """Where noise stands among all there could be, from −½ to ½; rounded noise in the middle of what it may be."""
        return (self.below(added - self.step / 2) + self.below(added + self.step / 2) - 1) / 2

    def place_size(self, added: Floats) -> Floats:
        """Where the size of noise stands among all there could be, from −½ to ½."""
        size = np.abs(added)
        return (
            1
            - self.compute_chance_of_larger(size - self.step / 2)
            - self.compute_chance_of_larger(size + self.step / 2)
        ) / 2


def _bound_distance_chance(added: Floats, law: _ToldLaw, blur: float) -> float:
    """How rare so large a distance of the distributions is at the most: 2 exp(−2 n d²)."""
    count = len(added)
    ranks = np.arange(count + 1) / count
    above, under = ranks[1:] - law.below(added + blur), law.below(added - blur) - ranks[:-1]
    far = max(0.0, float(above.max()), float(under.max()))
    return float(2 * np.exp(-2 * count * far**2))


def _bound_size_chances(added: Floats, law: _ToldLaw, blur: float) -> list[float]:
    """How rare it is that the i-th least and the i-th greatest size are so small, and so large; i = 1, 2, 4, …"""
    from scipy.special import betainc

    count, sizes = len(added), np.sort(np.abs(added))
    steps = 2 ** np.arange(int(np.log2(count)) + 1)
    ranks = np.unique(np.append(steps, count + 1 - steps))
    chosen = sizes[ranks - 1]
    small = betainc(ranks, count + 1 - ranks, 1 - law.compute_chance_of_larger(chosen + blur))
    large = betainc(count + 1 - ranks, ranks, law.compute_chance_of_larger(chosen - blur))
    return [*map(float, small), *map(float, large)]


def _bound_crowding_chances(added: Floats, law: _ToldLaw, blur: float) -> list[float]:
    """How rare it is at the most that 1, 2, 4, … others lie so close above some difference."""
    from scipy.special import bdtrc

    count = len(added)
    others = 2 ** np.arange(int(np.log2(count - 1)) + 1) if count > 1 else np.zeros(0, np.int64)
    close = np.array([(added[many:] - added[:-many]).min() for many in others]) / 2 + blur
    return [
        count * float(bdtrc(many - 1, count - 1, share))
        for many, share in zip(others.tolist(), 1 - law.compute_chance_of_larger(close), strict=True)
    ]


def _standardize_values(values: Floats) -> tuple[Floats, Floats]:
    """Where values stand, and how far out; a few that are far out count no more than three times the usual distance."""
    known = values[np.isfinite(values)]
    middle = float(np.median(known)) if len(known) else 0.0
    usual = float(np.median(np.abs(known - middle)) or np.abs(known - middle).mean()) if len(known) else 0.0
    stand = np.clip((values - middle) / (usual or 1.0), -3.0, 3.0)
    return stand, np.abs(stand)


def _measure_noise_association(weights: Floats, places: Floats) -> float:
    """By how many standard errors uniform places go with weights: the most of all pairs of rows."""
    known = np.isfinite(weights[-1]) & np.isfinite(places[0])
    if not known.all():
        weights, places = weights[:, known], places[:, known]
    if not known.any():
        return 0.0
    about = weights - weights.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.einsum("ij,ij->i", about, about))
    varied = lengths > 1e-9 * np.abs(weights).max(axis=1)
    sums = np.abs(about[varied] @ places.T) * np.sqrt(12) / lengths[varied, None]
    return float(sums.max(initial=0.0))
