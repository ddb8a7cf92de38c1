# SPDX-License-Identifier: MIT
"""Whether a release is truthful: each cell is the original, a generalization of it, or suppressed; a label that covers
all values of its column may stand for a missing one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.cells.coded_cells import count_value_pairs
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError
from sfumato.measure.alignment import (
    Rows,
    align_originals,
    make_comparison_check,
    require_columns,
    select_originals,
)
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def untrue_cells(published_table: Table, original: Table, rows: Ints) -> int:
    """How many published cells are neither their original nor above it in the column's hierarchy.

    `rows` maps each published row to its original row. In a suppressed row, with `*` in every quasi-identifying column,
    any other cell may be empty.
    """
    if len(rows) != len(published_table):
        raise DataError(
            f"{published_table.source}: {len(published_table)} rows are published, but `rows` lists {len(rows)}"
        )
    generalized_names = set(original.quasi_identifying)
    suppressed_mask = flag_starred_rows(published_table.frame, published_table.quasi_identifying)
    wrong, originals = 0, select_originals(original, rows)
    for name in published_table.frame.columns:
        original_cells, published_cells = originals[name], published_table.frame[name]
        differs = find_differing_cells(original_cells, published_cells)
        if name not in generalized_names:
            wrong += int((differs & ~(suppressed_mask & published_cells.is_null())).sum())
        elif differs.any():
            domain = Domain.of(original.frame[name], original.hierarchies.get(name))
            pairs = count_value_pairs(original_cells, published_cells, differs.to_numpy())
            covered_mask = cover_cells(spell_cells(pairs["first"]), spell_cells(pairs["second"]), domain)
            wrong += int(pairs.filter(pl.Series(~covered_mask))["count"].sum())
    return wrong


def count_changed_cells(published_table: Table, original: Table, rows: Ints) -> int:
    """How many published cells differ from their original; an empty cell does not count."""
    if len(rows) != len(published_table):
        raise DataError(
            f"{published_table.source}: {len(published_table)} rows are published, but `rows` lists {len(rows)}"
        )
    originals = select_originals(original, rows)
    return sum(
        int(
            (
                published_table.frame[name].is_not_null()
                & find_differing_cells(originals[name], published_table.frame[name])
            ).sum()
        )
        for name in published_table.frame.columns
    )


def find_differing_cells(original: pl.Series, published_cells: pl.Series) -> pl.Series:
    """Which cells are not what they were; a missing cell is like a missing one, and 1.50 in text is the number 1.5."""
    if original.dtype == pl.String and published_cells.dtype.is_numeric():
        numbers, texts = published_cells.cast(pl.Float64), spell_cells(published_cells)
        return ~(original.eq_missing(texts) | (_parse_decimals(original) == numbers).fill_null(value=False))
    if original.dtype != published_cells.dtype or original.dtype.is_float():
        original, published_cells = spell_cells(original), spell_cells(published_cells)
    return ~original.eq_missing(published_cells)


def _parse_decimals(texts: pl.Series) -> pl.Series:
    """The numbers that texts spell, also with a decimal comma; null for any other text."""
    points = texts.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return points.zip_with(texts.str.contains(",", literal=True), texts).cast(pl.Float64, strict=False)


def count_changed_kept_cells(original: Table, published_table: Table, columns: Sequence[str], rows: Rows = None) -> int:
    """How many cells of kept columns differ from their originals."""
    frame = align_originals(original, published_table, rows)
    for frame_to_check, source in ((frame, original.source), (published_table.frame, published_table.source)):
        require_columns(frame_to_check, columns, source)
    return sum(
        int(spell_cells(published_table.frame[name]).ne_missing(spell_cells(frame[name])).sum()) for name in columns
    )


def cover_cells(original: pl.Series, published_cells: pl.Series, domain: Domain) -> Flags:
    """For each pair of cells, as text, whether the published one is a label above the original.

    A missing cell may only take a label that covers every value.
    """
    labels = published_cells.unique().sort()
    readable = pl.Series([label is not None and domain.reads(label) for label in labels], dtype=pl.Boolean)
    known_labels = labels.filter(readable)
    cover = domain.cover(known_labels.to_list())
    leaves = pl.Series(domain.spellings or domain.leaves, dtype=pl.String)
    label = published_cells.replace_strict(
        known_labels, np.arange(len(known_labels)), default=None, return_dtype=pl.Int64
    )
    leaf = original.replace_strict(leaves, np.arange(len(leaves)), default=None, return_dtype=pl.Int64)
    star = (published_cells == STAR).fill_null(False).to_numpy()
    read = label.is_not_null().to_numpy()
    number = label.fill_null(0).to_numpy()
    pair_mask = read & leaf.is_not_null().to_numpy()
    holds = np.zeros(len(published_cells), dtype=np.bool_)
    holds[pair_mask] = cover.holds(number[pair_mask], leaf.to_numpy()[pair_mask].astype(np.int64))
    missing = original.is_null().to_numpy() & read
    holds[missing] = cover.counts[number[missing]] == len(domain.leaves)
    return np.asarray(holds | star, dtype=np.bool_)


checks_claim("untrue_cells", "exactly", needs_original=True, of_the_rest=True)(
    lambda evidence, _: untrue_cells(evidence.published_data, evidence.original, evidence.find_original_rows())
)
checks_claim(
    "changed_cells",
    "exactly",
    properties=("changed_cells", "changed_in_other_columns"),
    needs_original=True,
    of_the_rest=True,
)(lambda evidence, _: count_changed_cells(evidence.published_data, evidence.original, evidence.find_original_rows()))
checks_claim("kept_cells_changed", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_changed_kept_cells)
)
