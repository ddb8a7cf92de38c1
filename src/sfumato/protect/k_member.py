# SPDX-License-Identifier: MIT
"""k-member clustering of the rows inside small parts: fewer rows to a class, and closer to each other.

Cuts parallel to the axes leave up to 2k − 1 rows in a part, and far apart. In a block of some hundred rows it
is cheap to grow clusters of k rows instead, each time by the row that loses least (Byun, Kamra, Bertino and Li
2007). A cluster that a model refuses joins the nearest one. Where the cuts lose less in a block, they stay.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.progress import tell
from sfumato.protect.partition_columns import Columns, Ints
from sfumato.protect.partitioning import Judge, Parts

_LARGEST, _SMALLEST = 2048, 128
_WORK = 1 << 28
_MOST_WORK = 1 << 30
_AT_ONCE = 1 << 14


def block_size(rows: int, least: int) -> int | None:
    """How many rows a block may have so that clustering stays quick; None if it would not."""
    size = _LARGEST
    while size > _SMALLEST and rows * size > _WORK:
        size //= 2
    size = max(size, 4 * least)
    return size if rows * min(size, rows) <= max(_MOST_WORK, rows * _SMALLEST) else None


def clustered(blocks: Parts, small: Parts, cuts: Parts, columns: Columns, judge: Judge) -> Parts:
    """Cluster the rows of every block, or keep the cuts that were made inside it, whichever loses less.

    Every block may be published. It can be large, where the models allow no cut: rows are clustered inside the
    small parts of it, and what is refused there looks for its nearest in the same small part first.
    """
    clusters = _grown(small, columns, judge.least)
    for around in (small, blocks):
        clusters = _united(around, clusters, columns, judge)
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


def _marked(parts: Parts) -> npt.NDArray[np.bool_]:
    """Which places begin a part."""
    begins = np.zeros(len(parts.order), dtype=np.bool_)
    begins[parts.starts[:-1]] = True
    return begins


def _block_losses(parts: Parts, blocks: Ints, columns: Columns) -> npt.NDArray[np.float64]:
    from sfumato.kernels.k_member import part_costs

    costs = part_costs(parts.cells, parts.starts, *columns.described).astype(np.float64)
    return np.add.reduceat(costs * np.diff(parts.starts), np.searchsorted(parts.starts, blocks[:-1]))


def _grown(blocks: Parts, columns: Columns, size: int) -> Parts:
    """Clusters of `size` rows inside every block; a row that is left over is a part of its own."""
    from sfumato.kernels.k_member import cluster_blocks

    rows = len(blocks.order)
    cluster = np.empty(rows, dtype=np.int64)
    first = begin = 0
    while begin < len(blocks.starts) - 1:
        low = int(blocks.starts[begin])
        tell("clustering rows", low, rows)
        end = max(begin + 1, int(np.searchsorted(blocks.starts, low + _AT_ONCE, side="right")) - 1)
        high = int(blocks.starts[end])
        starts = blocks.starts[begin : end + 1] - low
        first = cluster_blocks(blocks.cells[low:high], starts, size, first, cluster[low:high], *columns.described)
        begin = end
    return blocks.regrouped(cluster)


def _united(blocks: Parts, parts: Parts, columns: Columns, judge: Judge) -> Parts:
    """Unite refused parts with their nearest in the block until none is refused, or the block is united."""
    from sfumato.kernels.k_member import nearest_parts

    while True:
        refused = judge.refused(parts.of_row)
        if not refused.any():
            return parts
        block_of_part = np.searchsorted(blocks.starts, parts.starts[:-1], side="right").astype(np.int64)
        nearest = nearest_parts(parts.cells, parts.starts, block_of_part, refused, judge.least, *columns.described)
        if (nearest < 0).all():
            return parts
        target = _hosts(np.flatnonzero(nearest >= 0), nearest, np.diff(parts.starts) < judge.least)
        parts = parts.regrouped(np.unique(target, return_inverse=True)[1].ravel()[parts.of_place])


def _hosts(moving: Ints, nearest: Ints, small: npt.NDArray[np.bool_]) -> Ints:
    """The part that each part goes into: moving ones into their nearest, but no two large ones into the same."""
    target = np.arange(len(nearest))
    moved = np.zeros(len(nearest), dtype=np.bool_)
    hosting = np.zeros(len(nearest), dtype=np.bool_)
    for part in moving.tolist():
        host = int(nearest[part])
        if not hosting[part] and not moved[host] and (small[part] or not hosting[host]):
            target[part], moved[part], hosting[host] = host, True, True
    return target
