# SPDX-License-Identifier: MIT
"""The synthetic tables of Aggarwal, Pei and Zhang (2006): every entry drawn apart by Zipf's law, commonest value first.

Value v of a column has a share proportional to 1 / v^factor. With the paper's defaults (cardinality 10, factor 2) the
commonest value has 64.5 % of a column, so that at a confidence of 60 % many rules only restate this prior.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.errors import PolicyError


def zipf_shares(cardinality: int, factor: float) -> Floats:
    """The share of each value, from 1 on."""
    weights = np.arange(1, cardinality + 1, dtype=np.float64) ** -float(factor)
    shares: Floats = weights / weights.sum()
    return shares


def zipf_table(
    rows: int = 10_000, columns: int = 10, cardinality: int = 10, factor: float = 2.0, seed: int = 2006
) -> pl.DataFrame:
    """A table of whole numbers from 1 to `cardinality` in columns D1, D2, …; the same for the same seed."""
    if rows < 0 or columns < 1 or cardinality < 1 or not np.isfinite(factor):
        raise PolicyError("a Zipf table has rows ≥ 0, columns ≥ 1, cardinality ≥ 1 and a finite factor")
    # Throws are whole numbers, so that only the steps of the ladder, and not every draw, pass through floats.
    ladder = (zipf_shares(cardinality, factor).cumsum()[:-1] * 2**32).astype(np.int64)
    generator = np.random.Generator(np.random.PCG64(seed))
    throws = generator.integers(0, 2**32, (columns, rows), dtype=np.int64)
    values = np.searchsorted(ladder, throws, side="right") + 1
    return pl.DataFrame({f"D{column_index + 1}": column for column_index, column in enumerate(values)})
