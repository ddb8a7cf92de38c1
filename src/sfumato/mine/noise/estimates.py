# SPDX-License-Identifier: MIT
"""Estimate distributions of randomized columns, with the estimator that fits what the release publishes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.errors import PolicyError, quote_names
from sfumato.mine.answers.proportions import estimate_joint, estimate_proportions
from sfumato.mine.noise.reconstruction import reconstruct_distribution
from sfumato.public.cut_intervals import get_cut_intervals, list_cut_columns
from sfumato.public.noise_law import list_noisy_columns, read_numbers
from sfumato.release import Release


def estimate_released_columns(release: Release, columns: Sequence[str]) -> pl.DataFrame:
    """The distribution of one column, or of several randomized ones together; without a name, what there is."""
    laws = release.public
    unknown = [name for name in columns if name not in release.data.frame.columns]
    if unknown:
        raise PolicyError(
            f"nothing can be estimated for {quote_names(unknown)}; randomized columns are: {', '.join(laws) or 'none'}"
        )
    if not columns:
        return pl.DataFrame(
            {"column": list(laws), "kind": [law.kind for law in laws.values()]},
            schema={"column": pl.String, "kind": pl.String},
        )
    if len(columns) > 1:
        return estimate_joint(release, tuple(columns))
    name = columns[0]
    if name not in laws or laws[name].is_synthetic:
        raise PolicyError(f'"{name}" was not randomized: count it as published')
    if name in list_cut_columns(release):
        return _count_intervals(release, name)
    if name in list_noisy_columns(release):
        return reconstruct_distribution(release, column=name).to_frame()
    return estimate_proportions(release, name)


def _count_intervals(release: Release, name: str) -> pl.DataFrame:
    """The share of values in each interval, `from` its lower edge `to` its upper one: counted, not estimated."""
    intervals = get_cut_intervals(release, name)
    numbers = read_numbers(release.data.frame[name].drop_nulls())
    counts = np.bincount(intervals.find_places(numbers), minlength=len(intervals.edges) - 1)
    ends = pl.DataFrame({"from": intervals.edges[:-1], "to": intervals.edges[1:]})
    if release.data.frame[name].dtype in (pl.Date, pl.String):
        ends = ends.cast(pl.Int32).cast(pl.Date)
    return ends.with_columns(pl.Series("probability", counts / max(len(numbers), 1)))
