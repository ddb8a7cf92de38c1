# SPDX-License-Identifier: MIT
"""Looking people up in a release whose cells are ranges, sets or labels of many levels.

Each distinct published tuple is a class; each value of a column has a bitmap of the classes whose label covers
it. A person's candidates are the classes in the intersection of the bitmaps of their values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints, Words
from sfumato.data.hierarchy import SUPPRESSED, Hierarchy, spell_cells
from sfumato.data.published_labels import Domain, parse_range, parse_set
from sfumato.table import Missing, Table


def find_covering_rows(
    cells: pl.DataFrame, rows: Ints, people: Table, columns: Sequence[str], published: Table
) -> tuple[Ints, Ints, Ints]:
    """For every person: published rows in order, where theirs begin, and how many there are."""
    from sfumato.kernels.anonymity.covering import count_covering_classes, list_covering_classes

    here = cells[rows].with_row_index("\0at")
    classes = here.group_by(list(columns), maintain_order=True).agg("\0at")
    known = pl.DataFrame([spell_cells(people.frame[name]).alias(name) for name in columns])
    targets = known.unique(maintain_order=True).with_row_index("\0target")
    bits, places = _build_class_bitmaps(classes, targets, columns, published)
    counts = np.zeros(targets.height, dtype=np.int64)
    count_covering_classes(bits, places, counts)
    starts = np.cumsum(counts) - counts
    listed = np.zeros(int(counts.sum()), dtype=np.int64)
    list_covering_classes(bits, places, starts, listed)
    order, begin, size = _expand_classes_to_rows(listed, starts, counts, classes["\0at"], rows)
    target = known.join(targets, on=list(columns), how="left", maintain_order="left", nulls_equal=True)
    of_person = target["\0target"].to_numpy()
    return order, begin[of_person], size[of_person]


def _build_class_bitmaps(
    classes: pl.DataFrame, targets: pl.DataFrame, columns: Sequence[str], published: Table
) -> tuple[Words, Ints]:
    """The bitmaps of all values of all columns, and which of them each person's values are."""
    words = -(-classes.height // 64)
    maps, places, offset = [], np.zeros((targets.height, len(columns)), dtype=np.int64), 0
    for number, name in enumerate(columns):
        domain = _collect_domain(targets[name], classes[name], published.hierarchies.get(name))
        covers = _mark_covered_values(classes[name], domain, published.missing)
        padded = np.zeros((covers.shape[1], words * 64), dtype=np.bool_)
        padded[:, : classes.height] = covers.T
        maps.append(np.packbits(padded, axis=1, bitorder="little").view(np.uint64))
        leaf = {value: position for position, value in enumerate(domain.leaves)}
        stranger, unknown = len(domain.leaves), len(domain.leaves) + 1
        cells = targets[name].to_list()
        places[:, number] = [offset + (unknown if cell is None else leaf.get(cell, stranger)) for cell in cells]
        offset += covers.shape[1]
    return np.ascontiguousarray(np.concatenate(maps)), places


def _collect_domain(known: pl.Series, labels: pl.Series, hierarchy: Hierarchy | None) -> Domain:
    """The values that people have or labels speak of: those looked up need not be those who are published."""
    if hierarchy is not None:
        return Domain.of(known, hierarchy)
    spoken = set(known.drop_nulls().to_list())
    for label in labels.unique().drop_nulls().to_list():
        ends = parse_range(label)
        if ends is not None:
            spoken.update(spell_cells(pl.Series(ends, dtype=pl.Float64)).to_list())
        elif label != SUPPRESSED:
            spoken.update(parse_set(label) or (label,))
    return Domain.of(pl.Series(known.name, sorted(spoken), dtype=pl.String))


def _mark_covered_values(labels: pl.Series, domain: Domain, missing: Missing) -> Flags:
    """Classes by values: whether the label covers it; last a value that nobody knows, and a missing one."""
    distinct = labels.unique(maintain_order=True)
    known = domain.matrix(distinct)
    nothing = distinct.is_null().to_numpy()
    leaf = distinct.is_in(list(domain.leaves)).fill_null(False).to_numpy()
    everything = (distinct == SUPPRESSED).fill_null(False).to_numpy() | (known.all(axis=1) & ~leaf)
    if missing is Missing.MATCHES_ANY:
        known = known | nothing[:, None]
        unknown = np.ones(len(distinct), dtype=np.bool_)
    else:
        unknown = everything | (nothing if missing is not Missing.NEVER_MATCHES else np.zeros_like(nothing))
    table = np.column_stack([known, everything, unknown])
    numbers = pl.DataFrame({"label": distinct, "number": np.arange(len(distinct))})
    label_index = pl.DataFrame({"label": labels}).join(
        numbers, on="label", how="left", maintain_order="left", nulls_equal=True
    )
    chosen: Flags = table[label_index["number"].to_numpy()]
    return chosen


def _expand_classes_to_rows(
    listed: Ints, starts: Ints, counts: Ints, members: pl.Series, rows: Ints
) -> tuple[Ints, Ints, Ints]:
    """From classes to the published rows in them, for every person."""
    sizes = members.list.len().cast(pl.Int64).to_numpy()
    flat = rows[members.explode().to_numpy()] if len(members) else rows
    first = np.cumsum(sizes) - sizes
    length = sizes[listed]
    total = int(length.sum())
    within = np.arange(total) - np.repeat(np.cumsum(length) - length, length)
    order = flat[np.repeat(first[listed], length) + within]
    running = np.concatenate([[0], np.cumsum(length)])
    begin = running[starts]
    return order, begin, running[starts + counts] - begin
