# SPDX-License-Identifier: MIT
"""How a tree on noisy data reads a release's columns: numbers, codes of words, and intervals for noisy columns.

The noise comes from what the release publishes (`release.public`), never from the method. Words get codes in the order
of how often they occur with the most common class, which for two classes loses no split (Breiman et al. 1984).
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.mine.noise.reconstruction_channel import build_true_edges
from sfumato.public.noise_law import Noise, get_noise, get_published_range, list_noisy_columns, read_numbers
from sfumato.public.number_law import PublishedRange
from sfumato.release import Release

ROWS_PER_INTERVAL, FEWEST, MOST = 100, 10, 100
"""As in the paper: about a hundred rows per interval, and ten to a hundred intervals."""


RARE = 20
"""Words in fewer rows are not distinguished: their order would leak the class of the rows they came from."""


class SplitWords(NamedTuple):
    """How a rule writes that a value is below a threshold, and that it is not."""

    low: str
    high: str


@dataclass(frozen=True, eq=False)
class TreeColumn:
    """One column that a tree tests."""

    name: str
    is_date: bool = False
    """Whether numbers are days since 1970."""
    categories: tuple[str, ...] | None = None
    """The distinguished words, by their codes; None for numbers and dates."""
    noise: Noise | None = None
    """None if the values are published unchanged."""
    edges: Floats = field(default_factory=lambda: np.zeros(0))
    """Of the intervals of noisy values; empty without noise."""

    def read_numbers(self, frame: pl.DataFrame) -> Floats:
        """The column of a frame as numbers; NaN where it is missing, or an unknown word."""
        cells = frame[self.name]
        if self.categories is not None:
            codes = {word: float(code) for code, word in enumerate(self.categories)}
            category_codes = spell_cells(cells).replace_strict(codes, default=None, return_dtype=pl.Float64)
            return np.asarray(category_codes.fill_null(float("nan")).to_numpy())
        numbers = read_numbers(cells)
        infinite = int(np.isinf(numbers).sum())
        if infinite:
            raise DataError(
                f'{count_noun(infinite, "value")} of "{self.name}" {"is" if infinite == 1 else "are"} '
                "infinite; make them missing"
            )
        return numbers

    def test(self, threshold: float) -> SplitWords:
        """How a rule writes that a value is below a threshold, and that it is not."""
        if self.categories is not None:
            last = int(np.floor(threshold)) + 1
            return SplitWords(
                f"{self.name} in {_format_word_set(self.categories[:last])}",
                f"{self.name} in {_format_word_set(self.categories[last:])}",
            )
        threshold_text = _format_day(threshold) if self.is_date else f"{threshold:.6g}"
        return SplitWords(f"{self.name} <= {threshold_text}", f"{self.name} > {threshold_text}")


def _format_word_set(words: tuple[str, ...]) -> str:
    return "{" + ", ".join(words) + "}"


def _format_day(number: float) -> str:
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=int(np.floor(number)))).isoformat()


def read_tree_columns(
    release: Release, names: tuple[str, ...], in_commonest: Flags, bins: int | None, *, noisy: bool
) -> tuple[TreeColumn, ...]:
    """How a tree reads some columns; `noisy` says whether to account for their noise."""
    noisy_names = list_noisy_columns(release) if noisy else ()
    frame: pl.DataFrame = release.data.frame
    columns = []
    for name in names:
        kind = frame.schema[name]
        is_dated = kind == pl.Date or (kind == pl.String and name in noisy_names)
        if name in noisy_names:
            noise = get_noise(release, name)
            low, high = _choose_value_range(get_published_range(release, name), noise, read_numbers(frame[name]), name)
            columns.append(
                TreeColumn(
                    name, is_dated, noise=noise, edges=_build_interval_edges(noise, low, high, bins, frame.height)
                )
            )
        elif kind.is_numeric() or is_dated:
            columns.append(TreeColumn(name, is_dated))
        else:
            columns.append(TreeColumn(name, categories=_order_words(spell_cells(frame[name]), in_commonest)))
    return tuple(columns)


def _build_interval_edges(noise: Noise, low: float, high: float, bins: int | None, rows: int) -> Floats:
    """Equally wide intervals; values published as intervals stay in them, since nothing finer is known."""
    if noise.kind != "discretize":
        return build_true_edges(low, high, bins or int(np.clip(rows // ROWS_PER_INTERVAL, FEWEST, MOST)), noise.step)
    first, last = (np.floor((end - noise.origin) / noise.scale + 1e-9) for end in (low, high))
    return np.asarray(noise.origin + np.arange(first, last + 2) * noise.scale - noise.step / 2)


def _choose_value_range(
    stated_range: PublishedRange | None, noise: Noise, values: Floats, name: str
) -> tuple[float, float]:
    """The range of the originals: as the release states, or else as far as the noise reveals it."""
    if stated_range is not None:
        return float(stated_range[0]), float(stated_range[1])
    known_values = values[~np.isnan(values)]
    if not len(known_values):
        raise DataError(f'"{name}" is missing in all rows; leave it out by `columns`')
    if noise.kind == "uniform":
        return float(known_values.min()) + noise.scale, max(
            float(known_values.max()) - noise.scale, float(known_values.min()) + noise.scale
        )
    inner = np.quantile(known_values, (0.005, 0.995))
    return float(inner[0]), float(inner[1])


def _order_words(words: pl.Series, in_commonest: Flags) -> tuple[str, ...]:
    """Words by how often they occur with the most common class; rare ones, in random order, are left out."""
    counts = (
        pl.DataFrame({"word": words, "in": in_commonest})
        .drop_nulls()
        .group_by("word")
        .agg(pl.col("in").mean(), pl.len().alias("rows"))
        .filter(pl.col("rows") >= RARE)
        .sort("in", "word")
    )
    return tuple(counts["word"].to_list())


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """The classes, and each row's."""

    classes: npt.NDArray[Any]
    codes: Ints
    rows: Ints
    """Rows whose class is known; `codes` are theirs."""


MOST_CLASSES = 1000


def read_class_labels(release: Release, target: str) -> ClassLabels:
    """The classes that a tree predicts."""
    frame: pl.DataFrame = release.data.frame
    if target not in frame.columns:
        raise DataError(f'there is no column "{target}" to predict; there are: {", ".join(frame.columns[:20])}')
    if target in release.public and not release.public[target].is_synthetic:
        raise PolicyError(
            f'the target "{target}" was itself randomized; a tree needs the true classes. '
            "Leave this column out of the noise"
        )
    column = frame[target]
    known_mask = column.is_not_null().to_numpy()
    if not known_mask.any():
        raise DataError(f'the target "{target}" is missing in all {frame.height} rows')
    classes = column.drop_nulls().unique().sort()
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f'the target "{target}" has {len(classes)} different values; a tree predicts classes: cut it into intervals'
        )
    codes = column.filter(pl.Series(known_mask)).rank("dense").cast(pl.Int64).to_numpy() - 1
    return ClassLabels(classes.to_numpy(), codes.astype(np.int64), np.flatnonzero(known_mask))
