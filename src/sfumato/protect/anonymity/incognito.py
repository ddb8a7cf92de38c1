# SPDX-License-Identifier: MIT
"""Incognito as printed: k-anonymous generalizations of every subset of the columns, from small subsets to all of them.

A generalization of some columns that refuses a class rules out every generalization of more columns that contains it
(the subset property), and an accepted one makes coarser ones of the same columns accepted (the generalization
property). The nodes of i + 1 columns are joined from those of i columns, as Apriori joins itemsets. It gives all
accepted nodes, where the other searches look for the best or the minimal ones, and it is here for comparison. K.
LeFevre, D. DeWitt, R. Ramakrishnan, *Incognito: efficient full-domain k-anonymity* (SIGMOD 2005), Figure 8. As printed,
an accepted node marks only its direct generalizations. A node is put into the queue once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import prod

import numpy as np

from sfumato.errors import PolicyError
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.lattice import NodeCount
from sfumato.protect.anonymity.search.node_classes import Levels
from sfumato.protect.anonymity.search.rollup import RollUp
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

MOST_NODES = 1_000_000
"""The most nodes of all subsets together."""
ColumnIndices = tuple[int, ...]
Graph = dict[ColumnIndices, set[Levels]]
"""The nodes of each subset of columns."""


@dataclass(frozen=True)
class IncognitoNodes:
    """What Incognito finds, and how much it looked at."""

    accepted_nodes: tuple[Levels, ...]
    """Every node of all columns that satisfies the models."""
    minimal: tuple[Levels, ...]
    """Those of them without a finer one."""
    counts: tuple[NodeCount, ...]
    """One for each size of subsets."""


def run_incognito(table: Table, grouping: Grouping, judge: ModelJudge, most_suppressed: int) -> IncognitoNodes:
    """All nodes that suppress at most the given number of rows, by the printed pass over subsets of the columns."""
    shape = grouping.shape
    _refuse_unpruned(table, grouping, judge, most_suppressed)
    graph: Graph = {(column,): {(level,) for level in range(size)} for column, size in enumerate(shape)}
    counts = []
    for size in range(1, len(shape) + 1):
        report_progress("checking subsets of columns", size - 1, len(shape))
        candidates = sum(map(len, graph.values()))
        checked_count = 0
        for columns, nodes in graph.items():
            part = grouping if size == len(shape) else _group_subset(table, grouping, judge, columns)
            checked_count += _keep_accepted(nodes, shape, columns, _make_check(part, judge, most_suppressed))
        all_nodes = sum(prod(shape[column] for column in subset) for subset in combinations(range(len(shape)), size))
        counts.append(NodeCount("incognito", size, all_nodes, candidates, checked_count, sum(map(len, graph.values()))))
        graph = graph if size == len(shape) else _join_subsets(graph)
    accepted_nodes = next(iter(graph.values()), set())
    minimal = (node for node in accepted_nodes if accepted_nodes.isdisjoint(_list_steps(node, shape, -1)))
    return IncognitoNodes(tuple(sorted(accepted_nodes)), tuple(sorted(minimal)), tuple(counts))


def _refuse_unpruned(table: Table, grouping: Grouping, judge: ModelJudge, most_suppressed: int) -> None:
    """Refuse what the two properties do not hold for, and lattices too large to list."""
    can_overlap = table.missing is Missing.MATCHES_ANY and not grouping.plain
    if judge.find_population() is not None or not (judge.steady or (most_suppressed == 0 and not can_overlap)):
        raise PolicyError(
            f"{table.source}: incognito prunes by properties that these models do not have with suppressed rows, "
            "missing cells that match anything, or a population; use search = minimal or optimal, or set "
            "suppression_limit to 0"
        )
    nodes = prod(size + 1 for size in grouping.shape) - 1
    if nodes > MOST_NODES:
        raise PolicyError(
            f"{table.source}: the subsets of the columns have {nodes:,} combinations of levels, more than the "
            f"{MOST_NODES:,} that incognito can list; use search = minimal or optimal"
        )


def _group_subset(table: Table, grouping: Grouping, judge: ModelJudge, columns: ColumnIndices) -> Grouping:
    """The same rows, grouped by some of the columns only."""
    codes = np.ascontiguousarray(grouping.codes[list(columns)])
    part = Grouping(tuple(grouping.hierarchies[column] for column in columns), codes, grouping.missing)
    part.sensitive = {name: SensitiveColumn.of(table, name, part.distinct_of_row) for name in judge.list_columns()}
    return part


def _make_check(part: Grouping, judge: ModelJudge, most_suppressed: int) -> Callable[[Levels], bool]:
    """Whether a node of these columns is accepted; classes are merged from finer ones where that pays."""
    roll_up = RollUp(part)

    def accepts(levels: Levels) -> bool:
        judged_node = roll_up.group_below(levels).judge(levels, judge)
        return judged_node.suppressed_count <= most_suppressed and not judged_node.refused_mask.all()

    return accepts


def _keep_accepted(nodes: set[Levels], shape: Levels, columns: ColumnIndices, accepts: Callable[[Levels], bool]) -> int:
    """Search the nodes of one subset breadth first, and remove the refused ones; return how many were checked."""
    heights = tuple(shape[column] for column in columns)
    roots = [node for node in nodes if nodes.isdisjoint(_list_steps(node, heights, -1))]
    queue, queued_nodes, marked_nodes = [(sum(node), node) for node in roots], set(roots), set[Levels]()
    heapify(queue)
    checked_count = 0
    while queue:
        _, node = heappop(queue)
        if node in marked_nodes:
            continue
        checked_count += 1
        coarser_nodes = [coarser for coarser in _list_steps(node, heights, 1) if coarser in nodes]
        if accepts(node):
            marked_nodes.update(coarser_nodes)
            continue
        nodes.remove(node)
        for coarser in coarser_nodes:
            if coarser not in queued_nodes:
                queued_nodes.add(coarser)
                heappush(queue, (sum(coarser), coarser))
    return checked_count


def _join_subsets(graph: Graph) -> Graph:
    """The nodes of one column more, each of whose parts was accepted: Apriori's join and prune."""
    by_prefix: dict[tuple[ColumnIndices, Levels], list[tuple[int, int]]] = defaultdict(list)
    for columns, nodes in graph.items():
        for node in nodes:
            by_prefix[columns[:-1], node[:-1]].append((columns[-1], node[-1]))
    joined_graph: Graph = defaultdict(set)
    for (columns, levels), ends in by_prefix.items():
        for (column, level), (other, higher) in combinations(sorted(ends), 2):
            if column < other:
                wider, node = (*columns, column, other), (*levels, level, higher)
                if _has_accepted_parts(graph, wider, node):
                    joined_graph[wider].add(node)
    return dict(joined_graph)


def _has_accepted_parts(graph: Graph, columns: ColumnIndices, node: Levels) -> bool:
    return all(
        node[:position] + node[position + 1 :] in graph.get(columns[:position] + columns[position + 1 :], ())
        for position in range(len(node))
    )


def _list_steps(node: Levels, shape: Iterable[int], step: int) -> Iterator[Levels]:
    """The nodes one level up, or down, in one column."""
    for position, size in enumerate(shape):
        level = node[position] + step
        if 0 <= level < size:
            yield (*node[:position], level, *node[position + 1 :])
