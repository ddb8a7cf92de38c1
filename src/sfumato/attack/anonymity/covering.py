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
from sfumato.attack.anonymity.row_search import expand_classes
from sfumato.data.hierarchy import SUPPRESSED, Hierarchy, spell_cells
from sfumato.data.published_labels import Domain, LabelCover, parse_range, parse_set
from sfumato.table import Missing, Table

_BLOCK = 16_000_000


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
    listed = np.zeros(int(counts.sum()), dtype=np.int64)
    list_covering_classes(bits, places, np.cumsum(counts) - counts, listed)
    order, begin, size = expand_classes(listed, counts, classes["\0at"])
    target = known.join(targets, on=list(columns), how="left", maintain_order="left", nulls_equal=True)
    of_person = target["\0target"].to_numpy()
    return rows[order], begin[of_person], size[of_person]


def _build_class_bitmaps(
    classes: pl.DataFrame, targets: pl.DataFrame, columns: Sequence[str], published: Table
) -> tuple[Words, Ints]:
    """The bitmaps of all values of all columns, and which of them each person's values are."""
    maps, places, offset = [], np.zeros((targets.height, len(columns)), dtype=np.int64), 0
    for number, name in enumerate(columns):
        domain = _collect_domain(targets[name], classes[name], published.hierarchies.get(name))
        maps.append(_mark_covered_values(classes[name], domain, published.missing))
        leaf = {value: position for position, value in enumerate(domain.leaves)}
        stranger, unknown = len(domain.leaves), len(domain.leaves) + 1
        cells = targets[name].to_list()
        places[:, number] = [offset + (unknown if cell is None else leaf.get(cell, stranger)) for cell in cells]
        offset += len(maps[-1])
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


def _mark_covered_values(labels: pl.Series, domain: Domain, missing: Missing) -> Words:
    """For each value a bitmap of the classes that cover it; last for a value that nobody knows, and a missing one."""
    distinct = labels.unique(maintain_order=True)
    numbers = pl.DataFrame({"label": distinct}).with_row_index("at")
    label_index = (
        pl.DataFrame({"label": labels})
        .join(numbers, on="label", how="left", maintain_order="left", nulls_equal=True)["at"]
        .to_numpy()
    )
    cover = domain.cover(distinct)
    nothing = distinct.is_null().to_numpy()
    leaf = distinct.is_in(list(domain.leaves)).fill_null(False).to_numpy()
    all_covered = (cover.counts == len(domain.leaves)) & ~leaf
    everything = (distinct == SUPPRESSED).fill_null(False).to_numpy() | all_covered
    if missing is Missing.MATCHES_ANY:
        everything_known, unknown = nothing, np.ones(len(distinct), dtype=np.bool_)
    else:
        everything_known = np.zeros_like(nothing)
        unknown = everything | (nothing if missing is not Missing.NEVER_MATCHES else everything_known)
    bits = np.zeros((len(domain.leaves) + 2, -(-len(labels) // 64)), dtype=np.uint64)
    step = max(1, _BLOCK // max(len(labels), 1))
    for begin in range(0, len(domain.leaves), step):
        inside = _mark_run_of_leaves(cover, begin, min(begin + step, len(domain.leaves)))
        inside[everything_known] = True
        bits[cover.order[begin : begin + step]] = _pack(inside, label_index)
    bits[-2:] = _pack(np.column_stack([everything, unknown]), label_index)
    return bits


def _mark_run_of_leaves(cover: LabelCover, begin: int, end: int) -> Flags:
    """Labels × some leaves, neighbours in the cover's order: whether the label covers the leaf."""
    steps = np.zeros((cover.labels, end - begin + 1), dtype=np.int32)
    touched = (cover.start < end) & (cover.stop > begin)
    np.add.at(steps, (cover.label[touched], np.maximum(cover.start[touched] - begin, 0)), 1)
    np.subtract.at(steps, (cover.label[touched], np.minimum(cover.stop[touched], end) - begin), 1)
    return np.asarray(np.cumsum(steps[:, :-1], axis=1) > 0)


def _pack(covers: Flags, label_index: Ints) -> Words:
    """Labels × values as a bitmap of classes for each value."""
    padded = np.zeros((covers.shape[1], -(-len(label_index) // 64) * 64), dtype=np.bool_)
    padded[:, : len(label_index)] = covers.T[:, label_index]
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
