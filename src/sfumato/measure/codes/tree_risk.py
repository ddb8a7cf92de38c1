# SPDX-License-Identifier: MIT
"""What a provider could learn from an encoding for trees: values, combinations of values, and the tree's paths.

Definitions 1 to 3 of Bu, Lakshmanan, Ng and Ramesh (ICDE 2007), for an adversary's guesses; the statistics that show a
custodian in advance what protects a column (Figure 8), the worst case of sorting (Figure 11), and the recipe of Section
5.4 as advice. Nothing here reads a key or shares code with the encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.mine.codes.c45 import C45Tree
from sfumato.public.codes.coded_columns import CodedColumn, find_unit, pair_coded_columns
from sfumato.public.codes.crack_functions import bound_by_rank, guess_plainly, rescale_codes, spread_evenly
from sfumato.public.codes.learner_columns import find_class_ranges, is_learnable_type
from sfumato.release import Release
from sfumato.table import Table

SORTING_LIMIT = 0.3
"""A column is called unsafe if sorting cracks more than this share of its values."""
_LEAF = -1


def domain_risk(column: CodedColumn, guesses: Floats, radius: float) -> float:
    """The share of distinct codes whose guess is within the radius of the true value (Definition 1)."""
    return float(column.flag_cracks(guesses, radius).mean())


def subspace_risk(columns: Sequence[CodedColumn], guesses: Sequence[Floats], radius: float) -> float:
    """The share of rows in which the guesses for all of some columns are within their radius (Definition 2)."""
    if not columns:
        raise PolicyError("a subspace needs at least one column")
    known_mask = np.logical_and.reduce([column.code_index >= 0 for column in columns])
    if not known_mask.any():
        return 0.0
    cracked_mask = known_mask.copy()
    for column, guess in zip(columns, guesses, strict=True):
        cracked_mask[known_mask] &= column.flag_cracks(guess, radius)[column.code_index[known_mask]]
    return float(cracked_mask[known_mask].mean())


@dataclass(frozen=True)
class PathRisk:
    """The number of paths of a tree, and of cracked paths, by length."""

    paths: Ints
    """For each length from 0 on."""
    cracks: Ints

    @property
    def risk(self) -> float:
        """The share of paths cracked."""
        return float(self.cracks.sum() / self.paths.sum())


def path_risk(
    encoded_tree: Any,
    decoded_tree: Any,
    guess: Sequence[Callable[[Floats], Floats]],
    widths: Sequence[float],
    radius: float,
) -> PathRisk:
    """The paths from the root to a leaf on which every threshold is guessed within the radius (Definition 3).

    `encoded_tree` and `decoded_tree` are the provider's model and the true one; `guess` and `widths` go by column.
    """
    first, second = _require_tree(encoded_tree), _require_tree(decoded_tree)
    nodes = np.flatnonzero(first.children_left != _LEAF)
    cracked_mask = np.zeros(first.node_count, dtype=bool)
    for column in np.unique(first.feature[nodes]):
        column_nodes = nodes[first.feature[nodes] == column]
        guessed_thresholds = guess[column](first.threshold[column_nodes])
        cracked_mask[column_nodes] = (
            np.abs(guessed_thresholds - second.threshold[column_nodes]) <= radius * widths[column]
        )
    depth, whole = np.zeros(first.node_count, dtype=np.int64), np.ones(first.node_count, dtype=bool)
    for node in nodes.tolist():  # children come after their parents
        for child in (first.children_left[node], first.children_right[node]):
            depth[child], whole[child] = depth[node] + 1, whole[node] & cracked_mask[node]
    leaves = first.children_left == _LEAF
    longest = int(depth.max()) + 1
    is_path_end = leaves & whole & (depth > 0)
    return PathRisk(np.bincount(depth[leaves], minlength=longest), np.bincount(depth[is_path_end], minlength=longest))


@dataclass(frozen=True)
class _TwoWayTree:
    """A C4.5 tree that tests numbers only, with scikit-learn's names."""

    children_left: Ints
    children_right: Ints
    feature: Ints
    threshold: Floats

    @property
    def node_count(self) -> int:
        return len(self.feature)


def _require_tree(model: Any) -> Any:
    if isinstance(model, C45Tree):
        nodes = model.nodes
        if bool((nodes.missing[nodes.column >= 0] < 0).any()):
            raise PolicyError("paths need a tree that tests numbers only; this one tests words")
        right = np.where(nodes.first >= 0, nodes.first + 1, _LEAF)
        return _TwoWayTree(nodes.first, right, nodes.column, nodes.threshold)
    if not hasattr(model, "tree_"):
        raise PolicyError("paths need a fitted decision tree")
    return model.tree_


@dataclass(frozen=True)
class ColumnShelter:
    """What protects a number column from sorting: values that may be permuted, and gaps in its domain."""

    column: str
    range_width: int
    """The number of values in the domain from the smallest to the largest, in steps of the column."""
    distinct: int
    pure_pieces: int
    mean_length: float
    """Of the pure pieces, in distinct values."""
    pure_share: float
    """The share of distinct values that lie in pure pieces."""
    expected_sorting: float
    """The expected share of values that sorting cracks, if those of pure pieces are safe from it (Section 5.4)."""
    worst_sorting: float
    """The same if every value lay well inside the range of its rank: |R_ρ| / |R_g| (Figure 11)."""
    even_sorting: float
    """The share of values that are cracked if codes in order are spread evenly from the smallest value to the largest:
    of few values, the two ends alone are a large share."""
    read_share: float
    """The share of people whose value sorting the codes of a release reads, permuted ones too; 0 without a release."""
    safe: bool
    """Whether sorting reveals no more than the limit."""
    advice: str

    @property
    def revealed_share(self) -> float:
        """The largest share of values, or of people, that sorting is known to crack."""
        return max(self.worst_sorting, self.even_sorting, self.read_share)

    @property
    def discontinuities(self) -> int:
        """Values of the domain that do not occur."""
        return self.range_width - self.distinct


def shelter(
    table: Table,
    target: str,
    columns: Sequence[str] | None = None,
    min_width: int = 5,
    radius: float = 0.02,
    limit: float = SORTING_LIMIT,
    release: Release | None = None,
) -> tuple[ColumnShelter, ...]:
    """For every number column, what protects it, and whether it is safe to encode (Figures 8 and 11, Section 5.4).

    A column is safe if sorting with the true smallest and largest value cracks at most `limit` of its values. Given a
    `release`, its codes are sorted, and people whose value is read count as well.
    """
    if target not in table.frame.columns:
        raise PolicyError(f'{table.source}: the target "{target}" is not a column of the table')
    classes = table.frame[target].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    names = [n for n, kind in table.frame.schema.items() if n != target and is_learnable_type(kind)]
    unfit = [name for name in columns or () if name not in names]
    if unfit:
        raise PolicyError(f"{table.source}: {quote_names(unfit)} is not a column of numbers")
    return tuple(
        _assess_column_shelter(
            table.frame[name],
            classes,
            min_width,
            radius,
            limit,
            0.0 if release is None else measure_sorting(release, table, name, radius),
        )
        for name in (names if columns is None else columns)
    )


def measure_sorting(release: Release, original: Table, name: str, radius: float) -> float:
    """The share of people whose value the best guess reads if sorted codes get values between the known ends in order.

    Guesses are drawn from the ranges of ranks (the expected share), at either end of them, spread evenly, or the codes
    stretched to the known ends, with rising and falling values; or codes are taken as values, or all people have one.
    """
    (column,) = pair_coded_columns(release.data, original, release.details, name)
    many, least, greatest = len(column.codes), float(column.domain[0]), float(column.domain[-1])
    even, ranges = spread_evenly(many, least, greatest), bound_by_rank(many, least, greatest, column.unit)
    guesses = [*guess_plainly(column).values(), np.full(many, column.find_common_value(radius)), even, even[::-1]]
    guesses += [guess for side in (ranges, ranges.reverse()) for guess in (side.low, side.high)]
    guesses += [rescale_codes(column.codes, *ends) for ends in ((least, greatest), (greatest, least))]
    expected_count = max(side.expect_read(column, radius) for side in (ranges, ranges.reverse()))
    return max(expected_count, float(column.count_read(np.array(guesses), radius).max())) / column.people


def _assess_column_shelter(
    cells: pl.Series, classes: Ints, min_width: int, radius: float, limit: float, read_share: float
) -> ColumnShelter:
    name = cells.name
    numbers = cells.cast(pl.Float64).to_numpy()
    known_mask = ~np.isnan(numbers)
    if not known_mask.any():
        raise DataError(f'"{name}" has no value; leave it out')
    values, value_index = np.unique(numbers[known_mask], return_inverse=True)
    low, high = find_class_ranges(value_index.astype(np.int64), classes[known_mask], len(values))
    pure, lengths = _find_pure_pieces(low, low != high, min_width)
    unit = find_unit(values)
    column = CodedColumn(name, values, values, values, np.ones(len(values), dtype=np.int64), value_index, values, low)
    ranges = bound_by_rank(len(values), float(values[0]), float(values[-1]), unit)
    width = round((values[-1] - values[0]) / unit) + 1
    share, gaps = float(pure.mean()), width - len(values)
    worst = (1 - share) * (min(1.0, 2 * radius * (width - 1) / gaps) if gaps else 1.0)
    spread_values = np.linspace(values[0], values[-1], len(values))
    even = float(((np.abs(spread_values - values) <= radius * (values[-1] - values[0])) & ~pure).mean())
    revealed_share = max(worst, even, read_share)
    safe = revealed_share <= limit
    return ColumnShelter(
        column=name,
        range_width=width,
        distinct=len(values),
        pure_pieces=len(lengths),
        mean_length=float(lengths.mean()) if len(lengths) else 0.0,
        pure_share=share,
        expected_sorting=float((ranges.compute_crack_chance(column, radius) * ~pure).mean()),
        worst_sorting=worst,
        even_sorting=even,
        read_share=read_share,
        safe=safe,
        advice=_advise_encoding(safe, share, gaps / width, revealed_share),
    )


def _find_pure_pieces(classes: Ints, mixed_mask: Flags, min_width: int) -> tuple[Flags, Ints]:
    """Which values lie in a pure piece that is wide enough, and how wide the pieces are."""
    new = np.append(True, (classes[1:] != classes[:-1]) | mixed_mask[1:] | mixed_mask[:-1])
    piece = np.cumsum(new) - 1
    lengths = np.bincount(piece)
    wide = (lengths >= min_width) & ~mixed_mask[new]
    return wide[piece], lengths[wide]


def _advise_encoding(safe: bool, pure: float, gaps: float, worst: float) -> str:
    """The recipe of Section 5.4, in words."""
    reason = (
        f"{_spell_share(pure)} of its values are in pure pieces, {_spell_share(gaps)} of its domain does not occur, so "
        f"sorting alone may crack {_spell_share(worst)} of its values"
    )
    return reason if safe else f"not safe: {reason}; encode it only if it is not secret by itself, or coarsen it"


def _spell_share(share: float) -> str:
    """A share without decimals; only none is 0 % and only all is 100 %."""
    percent = round(100 * share)
    return "under 1%" if not percent and share > 0 else "over 99%" if percent == 100 and share < 1 else f"{percent}%"
