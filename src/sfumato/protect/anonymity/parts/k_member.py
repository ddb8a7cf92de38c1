# SPDX-License-Identifier: MIT
"""k-member clustering of the rows inside small parts: fewer rows per class, and closer to each other.

Axis-parallel cuts leave up to 2k − 1 people in a part, and far apart. In a block of a few hundred people it is cheap to
grow clusters of k people instead, each time by the row that loses least (Byun, Kamra, Bertino and Li 2007). A cluster
that a model refuses is merged with the nearest one. If the cuts lose less in a block, they stay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.protect.anonymity.parts.best_cuts import GroupJudgement, RowParts, SizeJudge, cut_into_parts
from sfumato.protect.anonymity.parts.partition_columns import PartitionColumns
from sfumato.runtime.progress import report_progress

_LARGEST, _SMALLEST = 2048, 128
_WORK = 1 << 28
_MOST_WORK = 1 << 30
_AT_ONCE = 1 << 14
_CLUSTERS = 256
_STEP = 8
_ROUNDS = 24


def choose_block_size(rows: int, judge: GroupJudgement) -> int | None:
    """The people of the largest block for which clustering stays fast, given the lines; None if it would not."""
    size = _LARGEST
    while size > _SMALLEST and rows * size > _WORK:
        size //= 2
    if not judge.by_size:  # clusters are compared in pairs: their number matters, not that of the rows
        size = max(_SMALLEST, min(size, _CLUSTERS * judge.least))
    size = max(size, 4 * judge.least)
    return size if rows * min(size, rows) <= max(_MOST_WORK, rows * _SMALLEST) else None


def list_nested_blocks(
    blocks: RowParts, columns: PartitionColumns, judge: GroupJudgement, size: int, is_relaxed: bool
) -> list[RowParts]:
    """The blocks, and ever smaller parts, down to `size` people: models may refuse every cut of a large block."""
    levels = [blocks]
    if judge.by_size:
        return levels
    sizes = [size]
    while sizes[-1] * _STEP < int(np.diff(blocks.starts).max()):
        sizes.append(sizes[-1] * _STEP)
    for largest in reversed(sizes):
        levels.append(cut_into_parts(levels[-1], columns, SizeJudge(judge.least, judge.weights), largest, is_relaxed))
    return levels


def cluster_in_blocks(
    nested_blocks: list[RowParts], cuts: RowParts, columns: PartitionColumns, judge: GroupJudgement
) -> RowParts:
    """Cluster the rows of every block, or keep the cuts inside it, whichever loses less.

    Rows are clustered inside the smallest of the `list_nested_blocks` parts. A refused cluster is merged with its
    nearest one there, and only if all are refused the search widens.
    """
    clusters, blocks = _grow_clusters(nested_blocks[-1], columns, judge.least), nested_blocks[0]
    for outer_blocks in reversed(nested_blocks):
        clusters = _unite_refused_parts(outer_blocks.starts, clusters, columns, judge)
    # Both keep the rows of a block together, so a block is the same range of positions in either.
    cluster_losses, cut_losses = (_compute_block_losses(parts, blocks.starts, columns) for parts in (clusters, cuts))
    better = np.repeat(cluster_losses <= cut_losses, np.diff(blocks.starts))
    order = np.where(better, clusters.order, cuts.order)
    cells = np.where(better[:, None], clusters.cells, cuts.cells)
    weights = np.where(better, clusters.weights, cuts.weights)
    begins = np.zeros(len(order) + 1, dtype=np.bool_)
    begins[:-1][better] = _flag_part_starts(clusters)[better]
    begins[:-1][~better] = _flag_part_starts(cuts)[~better]
    begins[-1] = True
    return RowParts(cells, order, weights, np.flatnonzero(begins).astype(np.int64))


def _flag_part_starts(parts: RowParts) -> Flags:
    """Which places begin a part."""
    begins = np.zeros(len(parts.order), dtype=np.bool_)
    begins[parts.starts[:-1]] = True
    return begins


def _collect_distinct_places(parts: RowParts, columns: PartitionColumns) -> tuple[Codes, Ints]:
    """The distinct places of every part, column after column, and the offsets of each column and part."""
    from sfumato.kernels.anonymity.partition import list_distinct_places

    places_by_column = [
        list_distinct_places(parts.cells, i, parts.starts, c.leaves) for i, c in enumerate(columns.columns)
    ]
    column_offsets = np.cumsum([0, *(len(flat) for flat, _ in places_by_column[:-1])])
    begins = np.array(
        [ends + shift for (_, ends), shift in zip(places_by_column, column_offsets, strict=True)], dtype=np.int64
    )
    return np.concatenate([flat for flat, _ in places_by_column]), begins


def _compute_block_losses(parts: RowParts, blocks: Ints, columns: PartitionColumns) -> Floats:
    from sfumato.kernels.anonymity.k_member import compute_part_costs

    costs = compute_part_costs(*_collect_distinct_places(parts, columns), columns.description).astype(np.float64)
    return np.add.reduceat(costs * parts.sizes, np.searchsorted(parts.starts, blocks[:-1]))


def _grow_clusters(blocks: RowParts, columns: PartitionColumns, size: int) -> RowParts:
    """Clusters of `size` people inside every block; a leftover line is its own part."""
    from sfumato.kernels.anonymity.k_member import cluster_blocks

    rows = len(blocks.order)
    cluster = np.empty(rows, dtype=np.int64)
    first = begin = 0
    while begin < len(blocks.starts) - 1:
        low = int(blocks.starts[begin])
        report_progress("clustering rows", low, rows)
        end = max(begin + 1, int(np.searchsorted(blocks.starts, low + _AT_ONCE, side="right")) - 1)
        high = int(blocks.starts[end])
        starts = blocks.starts[begin : end + 1] - low
        cells, weights = blocks.cells[low:high], blocks.weights[low:high]
        first = cluster_blocks(cells, weights, starts, size, first, cluster[low:high], columns.description)
        begin = end
    return blocks.regroup_parts(cluster)


def _unite_refused_parts(blocks: Ints, parts: RowParts, columns: PartitionColumns, judge: GroupJudgement) -> RowParts:
    """Merge refused parts with their nearest in the block until none is refused, or the block is one part.

    Rounds are bounded: a block in which parts are refused for too long is merged at once.
    """
    united_parts, marks = parts.copy_lines(), _flag_part_starts(parts)
    cells, order, weights = united_parts.cells, united_parts.order, united_parts.weights
    places, rest = np.arange(len(order)), parts
    for turn in range(_ROUNDS + 2):
        refused_mask = _flag_refused_parts(rest, len(order), judge)
        block = np.searchsorted(blocks, places[rest.starts[:-1]], side="right").astype(np.int64)
        several = np.bincount(block)[block] > 1
        wanting_mask = refused_mask & several
        open_parts = np.isin(block, block[wanting_mask])
        open_mask = np.repeat(open_parts, np.diff(rest.starts))
        final_places = places[~open_mask]
        cells[final_places], order[final_places], weights[final_places] = (
            rest.cells[~open_mask],
            rest.order[~open_mask],
            rest.weights[~open_mask],
        )
        marks[final_places] = _flag_part_starts(rest)[~open_mask]
        if not wanting_mask.any():
            break
        places, rest = places[open_mask], rest.take(open_parts)
        block, wanting_mask = block[open_parts], wanting_mask[open_parts]
        target = block if turn == _ROUNDS else _choose_merge_targets(rest, block, wanting_mask, columns, judge.least)
        rest = rest.regroup_parts(np.unique(target, return_inverse=True)[1].ravel()[rest.of_place])
    return replace(united_parts, starts=np.append(np.flatnonzero(marks), len(order)).astype(np.int64))


def _flag_refused_parts(parts: RowParts, rows: int, judge: GroupJudgement) -> Flags:
    """Which parts are refused; lines in none of them form one more group that does not count."""
    of_line = np.full(rows, len(parts.starts) - 1, dtype=np.int32)
    of_line[parts.order] = parts.of_place
    return judge.flag_refused(of_line)[: len(parts.starts) - 1]


def _choose_merge_targets(
    parts: RowParts, block: Ints, open_mask: Flags, columns: PartitionColumns, least: int
) -> Ints:
    """The part that each part is merged into, its nearest or itself."""
    from sfumato.kernels.anonymity.k_member import find_nearest_parts

    sizes = parts.sizes
    flat, begins = _collect_distinct_places(parts, columns)
    free = np.zeros(len(sizes), dtype=np.bool_)
    nearest = find_nearest_parts(flat, begins, sizes, block, open_mask, least, free, columns.description)
    return _choose_hosts(np.flatnonzero(nearest >= 0), nearest, sizes < least, free)


def _choose_hosts(moved_parts: Ints, nearest: Ints, small: Flags, free: Flags) -> Ints:
    """The part that each part is merged into: moving ones into their nearest, but no two large ones into the same.

    Parts of equal rows all have the first as their nearest; if this loses nothing they are merged in pairs, so that a
    thousand take ten rounds.
    """
    target = np.arange(len(nearest))
    moved_mask = np.zeros(len(nearest), dtype=np.bool_)
    host_mask = np.zeros(len(nearest), dtype=np.bool_)
    alike: dict[int, int] = {}
    for part in moved_parts.tolist():
        host = int(nearest[part])
        if free[part]:
            first = min(part, host)
            host = alike.pop(first, -1)
            if host < 0:
                alike[first] = part
                continue
        if not host_mask[part] and not moved_mask[host] and (small[part] or not host_mask[host]):
            target[part], moved_mask[part], host_mask[host] = host, True, True
    for part in alike.values():
        host = int(nearest[part])
        if not host_mask[part] and not moved_mask[host] and not host_mask[host]:
            target[part], moved_mask[part], host_mask[host] = host, True, True
    return target
