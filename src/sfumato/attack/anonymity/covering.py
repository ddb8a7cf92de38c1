# SPDX-License-Identifier: MIT
"""Looking people up in a release whose cells are ranges, sets or labels of many levels.

Each distinct published tuple is a class; each value of a column has a bitmap of the classes whose label covers
it. A person's candidates are the classes in the intersection of the bitmaps of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints, Words
from sfumato.attack.anonymity.matched_keys import MatchedRows
from sfumato.attack.anonymity.row_search import expand_classes, expand_ranges
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_cover import LabelCover
from sfumato.data.hierarchies.label_ranges import is_range, parse_ends, parse_range
from sfumato.data.hierarchies.published_labels import Domain, parse_set
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

PART = 4096
"""How many people are looked up between two reports of progress."""
SAMPLE = 256
"""How many people are looked at to find the columns that distinguish classes."""


def find_covering_rows(
    cells: pl.DataFrame, rows: Ints, people: Table, columns: Sequence[str], published_table: Table
) -> MatchedRows:
    """For every person: published rows in order, where theirs begin, and how many there are."""
    from sfumato.kernels.anonymity.covering import count_covering_classes, list_covering_classes

    indexed_cells = cells[rows].with_row_index("\0at")
    classes = indexed_cells.group_by(list(columns), maintain_order=True).agg("\0at")
    known_cells = pl.DataFrame([spell_cells(people.frame[name]).alias(name) for name in columns])
    targets = known_cells.unique(maintain_order=True).with_row_index("\0target")
    bits, places = _build_class_bitmaps(classes, targets, columns, published_table)
    places = _order_by_selectivity(bits, places)
    counts = np.zeros(targets.height, dtype=np.int64)
    for part in _iterate_blocks(targets.height, "counting fitting rows"):
        count_covering_classes(bits, places[part], counts[part])
    starts, fitting_classes = np.cumsum(counts) - counts, np.zeros(int(counts.sum()), dtype=np.int64)
    for part in _iterate_blocks(targets.height, "listing fitting rows"):
        list_covering_classes(bits, places[part], starts[part], fitting_classes)
    order, begin, size = expand_classes(fitting_classes, counts, classes["\0at"])
    target = known_cells.join(targets, on=list(columns), how="left", maintain_order="left", nulls_equal=True)
    of_person = target["\0target"].to_numpy()
    return MatchedRows(rows[order], begin[of_person], size[of_person])


def _iterate_blocks(people: int, step: str) -> Iterator[slice]:
    """Process people in blocks, to report progress and allow interruption."""
    for begin in range(0, people, PART):
        report_progress(step, begin, people)
        yield slice(begin, begin + PART)


def _order_by_selectivity(bits: Words, places: Ints) -> Ints:
    """The places with the columns first whose values the fewest classes cover, judged by a few people."""
    sample_places = places[:: max(1, len(places) // SAMPLE)]
    cover_counts = np.bitwise_count(bits[np.unique(sample_places)]).sum(axis=1, dtype=np.int64)
    mean = cover_counts[np.searchsorted(np.unique(sample_places), sample_places)].mean(axis=0)
    return np.ascontiguousarray(places[:, np.argsort(mean, kind="stable")])


def _build_class_bitmaps(
    classes: pl.DataFrame, targets: pl.DataFrame, columns: Sequence[str], published_table: Table
) -> tuple[Words, Ints]:
    """The bitmaps of all values of all columns, and which of them each person's values are."""
    maps, places, offset = [], np.zeros((targets.height, len(columns)), dtype=np.int64), 0
    for number, name in enumerate(columns):
        domain = _collect_domain(targets[name], classes[name], published_table.hierarchies.get(name))
        cells = targets[name].to_list()
        bits, looked_up = _mark_covered_values(classes[name], domain, published_table.missing, set(cells))
        leaf = {value: position for position, value in enumerate(looked_up)}
        stranger, unknown = len(looked_up), len(looked_up) + 1
        places[:, number] = [offset + (unknown if cell is None else leaf.get(cell, stranger)) for cell in cells]
        maps.append(bits)
        offset += len(bits)
    return np.ascontiguousarray(np.concatenate(maps)), places


def _collect_domain(known_cells: pl.Series, labels: pl.Series, hierarchy: Hierarchy | None) -> Domain:
    """All values held by people or mentioned in labels: those looked up need not be those who are published."""
    if hierarchy is not None:
        return Domain.of(known_cells, hierarchy)
    spoken, ends = set(known_cells.drop_nulls().to_list()), list[float]()
    for label in labels.unique().drop_nulls().to_list():
        bounds, words = parse_range(label), parse_ends(label)
        if bounds is not None:
            ends.extend(bounds)
        elif words is not None and is_range(label):
            spoken.update(words)
        elif label != STAR:
            spoken.update(parse_set(label) or (label,))
    spoken.update(spell_cells(pl.Series(ends, dtype=pl.Float64)).to_list())
    return Domain.of(pl.Series(known_cells.name, sorted(spoken), dtype=pl.String))


def _mark_covered_values(
    labels: pl.Series, domain: Domain, missing: Missing, cells: set[str | None]
) -> tuple[Words, list[str]]:
    """For each value of someone a bitmap of the classes that cover it, and the values in the order of the bitmaps.

    The last two bitmaps are of a value that nobody knows, and of a missing one.
    """
    distinct = labels.unique(maintain_order=True)
    numbers = pl.DataFrame({"label": distinct}).with_row_index("at")
    label_index = (
        pl.DataFrame({"label": labels})
        .join(numbers, on="label", how="left", maintain_order="left", nulls_equal=True)["at"]
        .to_numpy()
    )
    # A number that nobody has, such as one with noise, covers nobody's value.
    unreadable_mask = pl.Series([not domain.reads(label) for label in distinct.to_list()], dtype=pl.Boolean)
    cover = domain.cover(distinct.set(unreadable_mask, None) if unreadable_mask.any() else distinct)
    null_mask = distinct.is_null().to_numpy()
    leaf = distinct.is_in(list(domain.leaves)).fill_null(False).to_numpy()
    all_covered = (cover.counts == len(domain.leaves)) & ~leaf
    full_mask = (distinct == STAR).fill_null(False).to_numpy() | all_covered
    unknown = full_mask | (null_mask if missing is not Missing.NEVER_MATCHES else False)
    ordered_leaves = [domain.leaves[leaf] for leaf in cover.order[: len(domain.leaves)].tolist()]
    leaf_places = np.flatnonzero([value in cells for value in ordered_leaves])
    bits = _mark_runs(cover, label_index, leaf_places)
    if missing is Missing.MATCHES_ANY:
        unknown = np.ones(len(distinct), dtype=np.bool_)
        bits[:-2] |= _pack(null_mask[label_index])
    bits[-2], bits[-1] = _pack(full_mask[label_index]), _pack(unknown[label_index])
    return bits, [ordered_leaves[position] for position in leaf_places.tolist()]


def _mark_runs(cover: LabelCover, label_index: Ints, leaf_places: Ints) -> Words:
    """Some leaves in the cover's order × classes, as bits: neighbours differ by the classes whose runs begin or end."""
    bits = np.zeros((len(leaf_places) + 2, -(-len(label_index) // 64)), dtype=np.uint64)
    first = np.searchsorted(cover.label, np.arange(cover.labels + 1))
    lengths = np.diff(first)[label_index]
    of_class = np.repeat(np.arange(len(label_index)), lengths)
    run = expand_ranges(first[label_index], lengths)
    flag = np.uint64(1) << (of_class % 64).astype(np.uint64)
    for edge in (cover.start[run], cover.stop[run]):  # a run between two leaves begins and ends at the second
        np.bitwise_xor.at(bits, (np.searchsorted(leaf_places, edge), of_class // 64), flag)
    np.bitwise_xor.accumulate(bits, axis=0, out=bits)
    return bits


def _pack(flags: Flags) -> Words:
    """A flag for each class as bits."""
    padded_flags = np.zeros(-(-len(flags) // 64) * 64, dtype=np.bool_)
    padded_flags[: len(flags)] = flags
    return np.packbits(padded_flags, bitorder="little").view(np.uint64)
