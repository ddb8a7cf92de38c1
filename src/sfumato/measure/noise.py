# SPDX-License-Identifier: MIT
"""Whether noise is what was promised: measured on the differences between the release and the originals.

Nothing is taken from the method, so only the custodian can check. Agrawal and Srikant's privacy at a confidence is the
width of the interval that a value is told to lie in; here it is the narrowest one that holds that share of the
differences. Whole numbers (and dates, in days) are as wide as they are many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.data.hierarchy import spelt
from sfumato.errors import DataError, PolicyError
from sfumato.measure.alignment import Rows, beside, compared, present
from sfumato.release import Number
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.measure.checks import Evidence

Floats = npt.NDArray[np.float64]


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
    true, shown, whole = _pairs(original, published, column, rows)
    least, most = (float(true.min()) if low is None else low), (float(true.max()) if high is None else high)
    if not most > least:
        raise DataError(f"{original.source}: «{column}» has no range to take a share of; give `low` and `high`")
    added = np.sort(shown - true)
    held = max(1, int(np.ceil(confidence * len(added) - 1e-9)))
    width = float((added[held - 1 :] - added[: len(added) - held + 1]).min())
    return round((width + (1.0 if whole else 0.0)) / (most - least), 12)


def noise_centre(
    original: Table, published: Table, column: str, deviation: float | None = None, rows: Rows = None
) -> float:
    """By how many standard errors the mean of what was added is off 0; `deviation` is the noise's, if it is known."""
    true, shown, _ = _pairs(original, published, column, rows)
    added = shown - true
    off, error = abs(float(added.mean())), _deviation(added, deviation) / np.sqrt(len(added))
    return round(float(off / error), 12) if off else 0.0


def noise_dependence(
    original: Table, published: Table, column: str, deviation: float | None = None, rows: Rows = None
) -> float:
    """By how many standard errors what was added goes with the values it was added to: the slope's, about 0."""
    true, shown, _ = _pairs(original, published, column, rows)
    added, about = shown - true, true - true.mean()
    length = float(np.sqrt(about @ about))
    if length <= 1e-12 * (1 + float(np.abs(true).max())):
        return 0.0
    along = abs(float(about @ added)) / length
    return round(along / _deviation(added, deviation), 12) if along else 0.0


def noise_shape(original: Table, published: Table, columns: Sequence[str], times: float, rows: Rows = None) -> float:
    """By how many standard errors the covariance of what was added is off that of the data, times a factor; the worst
    of all pairs of columns, over the rows that have them all."""
    taken = beside(original, published, rows)
    true, shown = (np.array([_numbers(one, name)[0] for name in columns]) for one in (taken, published.frame))
    known = np.isfinite(true).all(axis=0) & np.isfinite(shown).all(axis=0)
    true, shown = true[:, known], shown[:, known]
    fine = np.array([0.0 if taken[name].dtype.is_float() else 1.0 / 12 for name in columns])
    added = shown - true
    promised = times * np.atleast_2d(np.cov(true, bias=True)) + np.diag(fine)
    off = np.abs(added @ added.T / added.shape[1] - promised)
    # Columns that follow from each other are rounded together, or not: nobody can tell how that goes.
    together = np.sqrt(np.outer(fine, fine)) * (1 - np.eye(len(fine)))
    own = np.diag(promised)
    errors = np.sqrt((np.outer(own, own) + promised**2) / added.shape[1])
    return round(float((np.maximum(off - together, 0.0) / errors).max()), 12)


def interval_privacy(
    original: Table,
    published: Table,
    column: str,
    width: float,
    low: float,
    high: float,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of intervals: how far the published values are apart (one alone: the width told), times the
    confidence, as a share of the range."""
    _, shown, _ = _pairs(original, published, column, rows)
    apart = np.diff(np.unique(shown))
    return round(confidence * float(apart.min() if len(apart) else width) / (high - low), 12)


def outside_interval(
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
    true, shown, _ = _pairs(original, published, column, rows)
    place = np.rint((shown - origin - (width - step) / 2 + (step / 4 if step else 0.0)) / width)
    begin = origin + place * width
    middle = begin + ((width - step) / 2 if not step else np.floor((width / step - 1) / 2) * step)
    slack = 1e-9 * (width + np.abs(shown))
    within = (true >= begin - slack) & (true <= begin + width - step + slack)
    return int((~within | (np.abs(shown - middle) > slack)).sum())


def changed_beside_noise(original: Table, published: Table, columns: Sequence[str], rows: Rows = None) -> int:
    """How many cells of other columns were changed, and how many of the noisy ones became missing or known."""
    taken = beside(original, published, rows)
    present(taken, (*published.frame.columns, *columns), original.source)
    others = [name for name in published.frame.columns if name not in columns]
    others_changed = sum(int(spelt(published.frame[name]).ne_missing(spelt(taken[name])).sum()) for name in others)
    return others_changed + sum(
        int((_cells(published.frame, name).is_null() != taken[name].is_null()).sum()) for name in columns
    )


def evidence_checks() -> Mapping[str, Callable[[Evidence, Mapping[str, Any]], Number]]:
    """The checks by their names: what a claim calls, with its arguments."""
    measures: Mapping[str, Callable[..., Number]] = {
        "noise_privacy": noise_privacy,
        "noise_centre": noise_centre,
        "noise_dependence": noise_dependence,
        "noise_shape": noise_shape,
        "interval_privacy": interval_privacy,
        "outside_interval": outside_interval,
        "changed_beside_noise": changed_beside_noise,
    }
    return {name: compared(measure) for name, measure in measures.items()}


def _pairs(original: Table, published: Table, column: str, rows: Rows) -> tuple[Floats, Floats, bool]:
    """Original and published numbers where both are known, and whether they are whole."""
    taken = beside(original, published, rows)
    (true, whole), (shown, _) = _numbers(taken, column), _numbers(published.frame, column)
    known = np.isfinite(true) & np.isfinite(shown)
    if not known.any():
        raise DataError(f"{published.source}: no row has «{column}» both in the release and in the originals")
    return true[known], shown[known], whole


def _numbers(frame: pl.DataFrame, name: str) -> tuple[Floats, bool]:
    """A column as numbers, NaN where it is missing, and whether they are whole; dates count in days."""
    cells = _cells(frame, name)
    whole = not cells.dtype.is_float()
    return np.asarray(cells.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64), whole


def _cells(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        raise DataError(f"there is no column «{name}»")
    cells = frame[name]
    if cells.dtype == pl.String:  # a file has dates as text
        cells = cells.str.to_date("%Y-%m-%d", strict=False)
    if not (cells.dtype.is_numeric() or cells.dtype == pl.Date):
        raise DataError(f"«{name}» holds neither numbers nor dates")
    return cells


def _deviation(added: Floats, told: float | None) -> float:
    found = float(added.std()) if told is None else told
    return found if found > 0 else 1e-300
