# SPDX-License-Identifier: MIT
"""How near a published row is to someone, for the attacks on linkability and inference (WP216).

The sum over the known columns of a distance from 0 to 1, as Gower's (1971).

- Two texts that are the same: 0, whatever they look like.
- Two numbers, dates or times: how far they are apart, over the range of the published ones. Two that differ are never
  so near that they pass for equal.
- Two other values: 1.
- A published label that covers the value (a label of the hierarchy, a range, a set, `*`): half the share of the
  column that it covers, (leaves under it − 1) / (leaves − 1): from 0 for the value itself to ½ for `*`, which says
  nothing but denies nothing. A label that does not cover the value is a denial: 1.
- A missing cell: against another 0, against a value 1; ½ wherever missing matches anything; always 1 where it
  never matches.

Rows at the same distance are drawn from, each as likely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import compute_wilson_interval
from sfumato.data.cells.coded_cells import encode_cells
from sfumato.data.cells.moments_in_text import are_moments
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_ranges import flag_between, is_range, parse_positions, read_positions
from sfumato.data.hierarchies.published_labels import parse_set
from sfumato.errors import DataError, ask_meant, quote_names
from sfumato.release import Release
from sfumato.table import Missing, Table

_ANY_VALUE, _RANGE, _SET = -1, -2, -3
_LEAST_GAP = 1e-8
"""The distance of numbers that differ by less: more than the rounding that searches allow for."""
_LARGEST_EXACT = 2.0**53
"""From here on, several whole numbers are one float."""
_WORDS_SHARE = 0.5
"""The share of a column that a range of words is taken to cover: the words between its ends are not all known."""


def compare_with_control(
    successes: float, attempts: int, control: float | None, control_attempts: int
) -> dict[str, Any]:
    """What the release adds to what is guessed of strangers too: (main − control) / (1 − control), with its interval.

    The interval carries the errors of both of Wilson's intervals on, as Giomi and others do. Empty without control.
    """
    if control is None:
        return {}
    main, other = successes / attempts if attempts else 0.0, control / control_attempts if control_attempts else 0.0
    value = max(0.0, (main - other) / (1 - other)) if other < 1 else 0.0
    (low, high), (control_low, control_high) = (
        compute_wilson_interval(successes, attempts),
        compute_wilson_interval(control, control_attempts),
    )
    centre, strangers = (low + high) / 2, (control_low + control_high) / 2
    remaining_share = 1 - strangers
    reach = np.hypot(
        (high - low) / 2 / remaining_share, (1 - centre) * (control_high - control_low) / 2 / remaining_share**2
    )
    middle = (centre - strangers) / remaining_share
    interval = [max(0.0, min(value, middle - float(reach))), min(1.0, max(value, middle + float(reach)))]
    return {
        "control_attempts": control_attempts,
        "risk_over_control": round(value, 12),
        "risk_over_control_interval": [round(end, 12) for end in interval],
    }


def require_attacked_columns(
    columns: Sequence[str], published_table: Table, truth: Table, control: Table | None
) -> None:
    """An attack knows only columns that are published, and that the originals and the control have."""
    for table in (published_table, truth, *(() if control is None else (control,))):
        absent = [name for name in columns if name not in table.frame.columns]
        if absent:
            suggestion = ask_meant(absent, table.frame.columns)
            raise DataError(f"{table.source}: there is no column {quote_names(absent)} to attack{suggestion}")


def sample_people(table: Table, attempts: int, chance: np.random.Generator, rows: Ints | None = None) -> Table:
    """Some of a table's people, drawn; all of them if there are no more than that."""
    row_pool = np.arange(len(table)) if rows is None else rows
    sampled_rows = np.sort(chance.choice(row_pool, min(attempts, len(row_pool)), replace=False))
    return table.replace_frame(table.frame[sampled_rows])


def sample_published_people(release: Release, truth: Table, attempts: int, chance: np.random.Generator) -> Table:
    """Some of the people behind the published rows; anybody of the originals where the method does not say who is."""
    row_origins = release.details.rows
    rows = None if row_origins is None else np.unique(np.asarray(row_origins, dtype=np.int64))
    if rows is not None and len(rows) and int(rows[-1]) >= len(truth):
        raise DataError(
            f"{truth.source}: the release was made from more than these {len(truth)} originals; give the table it was "
            "made from"
        )
    return sample_people(truth, attempts, chance, rows)


@dataclass(frozen=True, eq=False, repr=False)
class LabelColumn:
    """The distinct labels of one published column: what each says, and which row bears which."""

    name: str
    codes: Ints
    """The label of each row."""
    texts: pl.Series
    """The labels."""
    levels: Ints
    """Where each label stands in the hierarchy; 0 for an original value, below 0 for `*`, a range or a set."""
    shares: Floats
    """How much of the column each label covers, 0 for a single value."""
    sizes: Ints
    """How many values each label covers."""
    low: Floats
    """The number or moment that a label is, or the lower end of its range; NaN for others."""
    high: Floats
    half_span: float
    """Half the range of the published numbers or moments: the range itself can be too large for a float."""
    hierarchy: Hierarchy | None
    missing: Missing

    @classmethod
    def of(cls, published_table: Table, name: str) -> LabelColumn:
        """Read a published column."""
        return cls.read(published_table.frame[name], published_table.hierarchies.get(name), published_table.missing)

    @classmethod
    def read(cls, column: pl.Series, hierarchy: Hierarchy | None, missing: Missing) -> LabelColumn:
        """Read a column of labels."""
        name = column.name
        distinct_texts, codes = encode_cells(spell_cells(column))
        texts = pl.concat([distinct_texts.drop_nulls(), pl.Series(name, [None], dtype=pl.String)])
        levels, sizes, shares = _measure_label_levels(texts.to_list(), hierarchy)
        low, high = _parse_label_bounds(texts, levels)
        half_span = float(np.nanmax(high) / 2 - np.nanmin(low) / 2) if np.isfinite(low).any() else 0.0
        half_span = half_span or 0.5
        shares = np.where((levels == _RANGE) & ~np.isnan(low), (high / 2 - low / 2) / half_span, shares)
        shares[(levels == _RANGE) & np.isnan(low)] = _WORDS_SHARE
        return cls(name, codes, texts, levels, shares, sizes, low, high, half_span, hierarchy, missing)

    def take(self, places: Ints) -> LabelColumn:
        """Some of the labels only; the rows are left behind."""
        arrays = (self.levels[places], self.shares[places], self.sizes[places], self.low[places], self.high[places])
        no_codes = np.zeros(0, dtype=np.int64)
        return LabelColumn(
            self.name, no_codes, self.texts[places], *arrays, self.half_span, self.hierarchy, self.missing
        )

    def covers(self, values: pl.Series) -> Flags:
        """Values × labels: whether the label may stand for the value."""
        return np.asarray(self.measure_distances(values) <= self.shares / 2)

    def count_values(self, values: pl.Series) -> Ints:
        """How many values each label covers; of a range, how many of those given."""
        distinct = values.drop_nulls().unique()
        value_texts = spell_cells(distinct)
        numbers = np.sort(read_positions(value_texts).drop_nulls().to_numpy())
        range_counts = np.searchsorted(numbers, self.high, "right") - np.searchsorted(numbers, self.low, "left")
        for position in np.flatnonzero((self.levels == _RANGE) & np.isnan(self.low)).tolist():  # ranges of words
            range_counts[position] = flag_between(value_texts, self.texts[position]).sum()
        counts = np.where(self.levels == _RANGE, range_counts, self.sizes)
        if self.missing is Missing.MATCHES_ANY:
            counts[self.texts.is_null().to_numpy()] = len(distinct)
        return np.maximum(counts, 1)

    def measure_distances(self, values: pl.Series) -> Floats:
        """Values × labels: how far the label is from the value, from 0 to 1; the module says how."""
        texts = spell_cells(values)
        text_index = _index_texts(texts, self.texts)
        distances = np.ones((len(texts), len(self.texts)))
        has_order = values.dtype.is_numeric() or are_moments(texts)
        numbers = read_positions(values if values.dtype.is_numeric() else texts).fill_null(float("nan")).to_numpy()
        for level in np.unique(self.levels).tolist():
            label_indices = np.flatnonzero(self.levels == level)
            if level == 0 and has_order:
                label_indices = label_indices[np.isfinite(self.low[label_indices])]
                distances[:, label_indices] = self._measure_gaps(numbers, label_indices)
            elif level != 0:
                distances[:, label_indices] = np.where(
                    self._flag_inside(level, label_indices, texts, numbers), self.shares[label_indices] / 2, 1.0
                )
        known_indices = np.flatnonzero(text_index >= 0)
        distances[known_indices, text_index[known_indices]] = 0.0
        return self._add_missing(distances, texts.is_null().to_numpy())

    def _measure_gaps(self, numbers: Floats, label_indices: Ints) -> Floats:
        """How far numbers or moments are from published ones: 0 only if they are certain to be equal.

        Texts that differ may spell one number; where a float is several whole numbers, they do not.
        """
        low = self.low[label_indices]
        gaps: Floats = np.abs(numbers[:, None] / 2 - low / 2) / self.half_span
        gaps = np.where(np.isnan(gaps), 1.0, np.minimum(gaps, 1.0))
        value, label = np.nonzero(gaps < _LEAST_GAP)
        is_equal = (numbers[value] == low[label]) & (np.abs(low[label]) < _LARGEST_EXACT)
        gaps[value, label] = np.where(is_equal, 0.0, _LEAST_GAP)
        return gaps

    def _flag_inside(self, level: int, label_indices: Ints, texts: pl.Series, numbers: Floats) -> Flags:
        """Which values the labels of one kind cover."""
        if level == _ANY_VALUE:
            return np.ones((len(texts), len(label_indices)), dtype=np.bool_)
        if level == _RANGE:
            inside_mask = np.asarray(
                (numbers[:, None] >= self.low[label_indices]) & (numbers[:, None] <= self.high[label_indices])
            )
            for number in np.flatnonzero(np.isnan(self.low[label_indices])).tolist():  # ranges of words
                inside_mask[:, number] = flag_between(texts, self.texts[int(label_indices[number])]).to_numpy()
            return inside_mask
        if level == _SET:
            inside_mask = np.zeros((len(texts), len(label_indices)), dtype=np.bool_)
            pairs = pl.DataFrame({"text": texts}).with_row_index("at").join(self._members, on="text")
            inside_mask[pairs["at"].to_numpy(), pairs["set"].to_numpy()] = True
            return inside_mask
        assert self.hierarchy is not None
        ancestors = {row[0]: row[level] for row in self.hierarchy.rows}
        labels = texts.replace_strict(list(ancestors), list(ancestors.values()), default=None, return_dtype=pl.String)
        return np.asarray(_index_texts(labels, self.texts[label_indices])[:, None] == np.arange(len(label_indices)))

    @cached_property
    def _members(self) -> pl.DataFrame:
        """Which of the labels that are sets, counted from 0, has which value."""
        sets = [parse_set(label) or () for label in self.texts.filter(self.levels == _SET).to_list()]
        texts = pl.Series("text", [list(members) for members in sets], dtype=pl.List(pl.String))
        return pl.DataFrame([texts]).with_row_index("set").explode("text")

    def _add_missing(self, distances: Floats, unknown: Flags) -> Floats:
        blank = self.texts.is_null().to_numpy()
        if self.missing is Missing.MATCHES_ANY:
            distances[unknown] = 0.5
            distances[:, blank] = 0.5
            return distances
        distances[:, blank] = 1.0
        # A label that covers every value may stand for a missing one, too.
        distances[unknown] = np.where(self.shares >= 1, 0.5, 1.0)
        distances[np.ix_(unknown, blank)] = 1.0 if self.missing is Missing.NEVER_MATCHES else 0.0
        return distances


def _index_texts(texts: pl.Series, labels: pl.Series) -> Ints:
    """Where each text stands among others; −1 for one that does not, and for a missing one."""
    positions = {label: position for position, label in enumerate(labels.to_list()) if label is not None}
    indices = texts.replace_strict(list(positions), list(positions.values()), default=-1, return_dtype=pl.Int64)
    return np.where(texts.is_null().to_numpy(), -1, indices.to_numpy())


class _LabelWidths(NamedTuple):
    """How much of a column each label covers."""

    levels: Ints
    sizes: Ints
    """How many values each covers."""
    shares: Floats
    """Which share of the column that is."""


def _measure_label_levels(labels: Sequence[str | None], hierarchy: Hierarchy | None) -> _LabelWidths:
    """The level of each label, how many values it covers, and which share of the column that is."""
    widest_labels = _index_widest_labels(hierarchy)
    leaves = len(hierarchy.rows) if hierarchy else max(len(labels) - 1, 1)
    levels, sizes = np.zeros(len(labels), dtype=np.int64), np.ones(len(labels), dtype=np.int64)
    for position, label in enumerate(labels):
        if label is None:
            continue
        members = parse_set(label)
        if label == STAR:
            levels[position], sizes[position] = _ANY_VALUE, leaves
        elif label in widest_labels:
            sizes[position], levels[position] = widest_labels[label]
        elif is_range(label):
            levels[position] = _RANGE
        elif members is not None:
            levels[position], sizes[position] = _SET, len(members)
    shares = np.minimum((sizes - 1) / max(leaves - 1, 1), 1.0)
    # Even of a single value, a label above it that covers all says nothing.
    return _LabelWidths(
        levels, sizes, np.where((levels == _ANY_VALUE) | ((levels > 0) & (sizes >= leaves)), 1.0, shares)
    )


def _parse_label_bounds(texts: pl.Series, levels: Ints) -> tuple[Floats, Floats]:
    """The lowest and the highest number or moment of each label that is one or a range; NaN for others."""
    plain = texts.zip_with(pl.Series(levels == 0), pl.Series([None], dtype=pl.String))
    low = read_positions(plain).fill_null(float("nan")).to_numpy().copy()
    low[~np.isfinite(low)] = np.nan
    high = low.copy()
    for position in np.flatnonzero(levels == _RANGE).tolist():
        low[position], high[position] = parse_positions(texts[position]) or (np.nan, np.nan)
    return low, high


def _index_widest_labels(hierarchy: Hierarchy | None) -> Mapping[str, tuple[int, int]]:
    """The size and level of every label; one that stands at several levels may mean any of them, so the widest."""
    widest_labels: dict[str, tuple[int, int]] = {}
    for number, level in enumerate(hierarchy.levels if hierarchy else ()):
        for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
            if count > widest_labels.get(label, (0, 0))[0]:  # the lowest of levels where it is the same group
                widest_labels[label] = (count, number)
    return widest_labels
