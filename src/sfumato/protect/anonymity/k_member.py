# SPDX-License-Identifier: MIT
"""k-member clustering of the rows inside small parts: fewer rows to a class, and closer to each other.

Cuts parallel to the axes leave up to 2k − 1 rows in a part, and far apart. In a block of some hundred rows it
is cheap to grow clusters of k rows instead, each time by the row that loses least (Byun, Kamra, Bertino and Li
2007). A cluster that a model refuses joins the nearest one. Where the cuts lose less in a block, they stay.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes, Flags, Floats, Ints
from sfumato.progress import tell
from sfumato.protect.anonymity.partition_columns import Columns
from sfumato.protect.anonymity.partitioning import Judge, Parts, SizeJudge, cut

_LARGEST, _SMALLEST = 2048, 128
_WORK = 1 << 28
_MOST_WORK = 1 << 30
_AT_ONCE = 1 << 14
_CLUSTERS = 256
_STEP = 8
_ROUNDS = 24


def block_size(rows: int, judge: Judge) -> int | None:
    """How many rows a block may have so that clustering stays quick; None if it would not."""
    size = _LARGEST
    while size > _SMALLEST and rows * size > _WORK:
        size //= 2
    if not judge.by_size:  # clusters are compared in pairs: their number counts, not that of the rows
        size = max(_SMALLEST, min(size, _CLUSTERS * judge.least))
    size = max(size, 4 * judge.least)
    return size if rows * min(size, rows) <= max(_MOST_WORK, rows * _SMALLEST) else None


def nested(blocks: Parts, columns: Columns, judge: Judge, size: int, relaxed: bool) -> list[Parts]:
    """The blocks, and ever smaller parts of them, down to `size` rows: models may allow no cut of a large block."""
    found = [blocks]
    if judge.by_size:
        return found
    sizes = [size]
    while sizes[-1] * _STEP < int(np.diff(blocks.starts).max()):
        sizes.append(sizes[-1] * _STEP)
    for largest in reversed(sizes):
        found.append(cut(found[-1], columns, SizeJudge(judge.least), largest, relaxed))
    return found


def clustered(within: list[Parts], cuts: Parts, columns: Columns, judge: Judge) -> Parts:
    """Cluster the rows of every block, or keep the cuts that were made inside it, whichever loses less.

    Rows are clustered inside the smallest of the `nested` parts. What is refused unites with its nearest there, and
    only if all of it is refused looks further around.
    """
    clusters, blocks = _grown(within[-1], columns, judge.least), within[0]
    for around in reversed(within):
        clusters = _united(around.starts, clusters, columns, judge)
    # Both keep the rows of a block together, so a block is the same run of places in either.
    ours, theirs = (_block_losses(parts, blocks.starts, columns) for parts in (clusters, cuts))
    better = np.repeat(ours <= theirs, np.diff(blocks.starts))
    order = np.where(better, clusters.order, cuts.order)
    cells = np.where(better[:, None], clusters.cells, cuts.cells)
    begins = np.zeros(len(order) + 1, dtype=np.bool_)
    begins[:-1][better] = _marked(clusters)[better]
    begins[:-1][~better] = _marked(cuts)[~better]
    begins[-1] = True
    return Parts(cells, order, np.flatnonzero(begins).astype(np.int64))


def _marked(parts: Parts) -> Flags:
    """Which places begin a part."""
    begins = np.zeros(len(parts.order), dtype=np.bool_)
    begins[parts.starts[:-1]] = True
    return begins


def _distinct(parts: Parts, columns: Columns) -> tuple[Codes, Ints]:
    """The distinct places of every part, column after column, and where those of each column and part begin."""
    from sfumato.kernels.anonymity.partition import distinct_places

    found = [distinct_places(parts.cells, i, parts.starts, c.leaves) for i, c in enumerate(columns.each)]
    before = np.cumsum([0, *(len(flat) for flat, _ in found[:-1])])
    begins = np.array([ends + shift for (_, ends), shift in zip(found, before, strict=True)], dtype=np.int64)
    return np.concatenate([flat for flat, _ in found]), begins


def _block_losses(parts: Parts, blocks: Ints, columns: Columns) -> Floats:
    from sfumato.kernels.anonymity.k_member import part_costs

    costs = part_costs(*_distinct(parts, columns), columns.described).astype(np.float64)
    return np.add.reduceat(costs * np.diff(parts.starts), np.searchsorted(parts.starts, blocks[:-1]))


def _grown(blocks: Parts, columns: Columns, size: int) -> Parts:
    """Clusters of `size` rows inside every block; a row that is left over is a part of its own."""
    from sfumato.kernels.anonymity.k_member import cluster_blocks

    rows = len(blocks.order)
    cluster = np.empty(rows, dtype=np.int64)
    first = begin = 0
    while begin < len(blocks.starts) - 1:
        low = int(blocks.starts[begin])
        tell("clustering rows", low, rows)
        end = max(begin + 1, int(np.searchsorted(blocks.starts, low + _AT_ONCE, side="right")) - 1)
        high = int(blocks.starts[end])
        starts = blocks.starts[begin : end + 1] - low
        first = cluster_blocks(blocks.cells[low:high], starts, size, first, cluster[low:high], columns.described)
        begin = end
    return blocks.regrouped(cluster)


def _united(blocks: Ints, parts: Parts, columns: Columns, judge: Judge) -> Parts:
    """Unite refused parts with their nearest in the block until none is refused, or the block is united.

    Rounds are bounded: a block in which parts are refused for too long is united at once.
    """
    cells, order, marks = parts.cells.copy(), parts.order.copy(), _marked(parts)
    places, here = np.arange(len(order)), parts
    for turn in range(_ROUNDS + 2):
        refused = _refused(here, len(order), judge)
        block = np.searchsorted(blocks, places[here.starts[:-1]], side="right").astype(np.int64)
        several = np.bincount(block)[block] > 1
        wanting = refused & several
        open_parts = np.isin(block, block[wanting])
        kept = np.repeat(open_parts, np.diff(here.starts))
        done = places[~kept]
        cells[done], order[done], marks[done] = here.cells[~kept], here.order[~kept], _marked(here)[~kept]
        if not wanting.any():
            break
        places, here = places[kept], here.some(open_parts)
        block, wanting = block[open_parts], wanting[open_parts]
        target = block if turn == _ROUNDS else _targets(here, block, wanting, columns, judge.least)
        here = here.regrouped(np.unique(target, return_inverse=True)[1].ravel()[here.of_place])
    return Parts(cells, order, np.append(np.flatnonzero(marks), len(order)).astype(np.int64))


def _refused(parts: Parts, rows: int, judge: Judge) -> Flags:
    """Which parts are refused; rows in none of them are put in one more group that does not count."""
    of_row = np.full(rows, len(parts.starts) - 1, dtype=np.int32)
    of_row[parts.order] = parts.of_place
    return judge.refused(of_row)[: len(parts.starts) - 1]


def _targets(parts: Parts, block: Ints, wanting: Flags, columns: Columns, least: int) -> Ints:
    """The part that each part goes into, its nearest or itself."""
    from sfumato.kernels.anonymity.k_member import nearest_parts

    sizes = np.diff(parts.starts)
    flat, begins = _distinct(parts, columns)
    free = np.zeros(len(sizes), dtype=np.bool_)
    nearest = nearest_parts(flat, begins, sizes, block, wanting, least, free, columns.described)
    return _hosts(np.flatnonzero(nearest >= 0), nearest, sizes < least, free)


def _hosts(moving: Ints, nearest: Ints, small: Flags, free: Flags) -> Ints:
    """The part that each part goes into: moving ones into their nearest, but no two large ones into the same.

    Of parts of equal rows all have the first as their nearest; where nothing is lost by it they go two by two, so
    that a thousand take ten rounds.
    """
    target = np.arange(len(nearest))
    moved = np.zeros(len(nearest), dtype=np.bool_)
    hosting = np.zeros(len(nearest), dtype=np.bool_)
    alike: dict[int, int] = {}
    for part in moving.tolist():
        host = int(nearest[part])
        if free[part]:
            first = min(part, host)
            host = alike.pop(first, -1)
            if host < 0:
                alike[first] = part
                continue
        if not hosting[part] and not moved[host] and (small[part] or not hosting[host]):
            target[part], moved[part], hosting[host] = host, True, True
    for part in alike.values():
        host = int(nearest[part])
        if not hosting[part] and not moved[host] and not hosting[host]:
            target[part], moved[part], hosting[host] = host, True, True
    return target
