# SPDX-License-Identifier: MIT
"""The class of one person at every node: a witness against many nodes at once.

If nothing may be suppressed, one refused class rules out a node. The class of a row at a node consists of the rows that
meet it, column by column, at the node's levels or below; so one pass over the rows and a cumulative sum along every
column give its class at every node of the lattice. A hundred checks become about twenty.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Flags, Ints
from sfumato.kernels.anonymity.lattice_plain import add_finer_nodes
from sfumato.protect.anonymity.models.sensitive_values import ClassValues, SensitiveColumn, build_class_values
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import ClassJudge, JudgedNode, NodeClasses

_MOST_COUNTS = 1 << 22


def condemn_nodes(live: Flags, grouping: Grouping, judge: ClassJudge, row: int) -> None:
    """Rule out the nodes at which the class of a distinct row is refused; none if that cannot be decided at once."""
    nodes = prod(grouping.shape)
    values = max((len(column.values) for column in grouping.sensitive.values()), default=1)
    if not grouping.plain or nodes * values > _MOST_COUNTS:
        return
    alive = np.flatnonzero(live)
    meeting_nodes = grouping.find_meeting_nodes(row)
    first = np.bincount(meeting_nodes, weights=grouping.list_distinct().weights, minlength=nodes + 1)[:nodes]
    sizes = _sum_finer_nodes(first, grouping.shape)[alive]
    pairs_by_column = {
        name: _count_values_at_nodes(column, meeting_nodes, grouping.shape, alive)
        for name, column in grouping.sensitive.items()
    }
    everywhere = NodeClasses(
        np.zeros(0, dtype=np.int32), sizes, sizes, grouping.sensitive, _values_by_column=pairs_by_column
    )
    live.flat[alive[judge.refuses(everywhere)]] = False


def choose_witness(grouping: Grouping, judged_node: JudgedNode) -> int:
    """A distinct row of the smallest refused class: the smaller, the longer it stays refused."""
    refused_indices = np.flatnonzero(judged_node.refused_mask)
    smallest = refused_indices[np.argmin(judged_node.classes.sizes[refused_indices])]
    return int(grouping.origin[judged_node.classes.first[smallest]])


def _count_values_at_nodes(
    column: SensitiveColumn, meeting_nodes: Ints, shape: tuple[int, ...], alive: Ints
) -> ClassValues:
    nodes, width = prod(shape), len(column.values)
    key = meeting_nodes[column.rows] * width + column.codes
    first = np.bincount(key, weights=column.counts, minlength=(nodes + 1) * width)[: nodes * width]
    counts = _sum_finer_nodes(first, shape).reshape(nodes, width)[alive]
    node_numbers, values = np.nonzero(counts)
    return build_class_values(node_numbers, values, counts[node_numbers, values])


def _sum_finer_nodes(amounts: npt.NDArray[Any], shape: tuple[int, ...]) -> Ints:
    """At each node, the sum over it and all finer ones; amounts may have several numbers per node."""
    sums = amounts.astype(np.int64)
    add_finer_nodes(sums, shape)
    return sums
