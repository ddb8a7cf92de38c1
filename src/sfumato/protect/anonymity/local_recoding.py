# SPDX-License-Identifier: MIT
"""Local recoding: publish each person at the cheapest node where enough others remain to hide among.

Nodes are visited from cheapest to most expensive; classes that the models accept among the remaining people become
final. With k-anonymity alone the walk runs in one kernel, otherwise node by node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.errors import PolicyError
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.release import Number
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing

MOST_NODES = 2_000_000


@dataclass(frozen=True)
class RecodedRows:
    """The published levels of each row of the table."""

    nodes: Codes
    """The visited nodes, cheapest first: one row per node, one column per column."""
    node_of_row: Codes
    """Per row of the table, the node at which it became final; −1 for suppressed rows."""

    def count_suppressed(self) -> int:
        """The number of suppressed rows."""
        return int((self.node_of_row < 0).sum())

    def list_levels(self, column: int) -> Codes:
        """Per row, the level of a column; arbitrary for suppressed rows."""
        return self.nodes[:, column][self.node_of_row]

    def list_published_levels(self, column: int) -> Codes:
        """The levels of a column in rows that are not suppressed, ascending."""
        return np.unique(self._published_nodes[:, column])

    @cached_property
    def _published_nodes(self) -> Codes:
        return self.nodes[np.unique(self.node_of_row[self.node_of_row >= 0])]


def recode_locally(grouping: Grouping, judge: ModelJudge) -> RecodedRows:
    """Visit the nodes from cheap to expensive and fix people in the first class that is accepted."""
    if grouping.missing in (Missing.MATCHES_ANY, Missing.NEVER_MATCHES):
        raise PolicyError("local recoding counts a missing cell as a value; set missing to own_value or drop")
    if any(model.read_populations() for model in judge.models):
        raise PolicyError("local recoding cannot compare with a population; use recoding = global")
    if prod(grouping.shape) > MOST_NODES:
        raise PolicyError(
            f"local recoding visits every combination of levels, at most {MOST_NODES:,}; use fewer levels in some"
            " columns"
        )
    nodes = _order_nodes_by_cost(grouping)
    report_progress("recoding locally")
    if _are_only_k(judge) and prod(len(hierarchy.rows) + 1 for hierarchy in grouping.hierarchies) < 1 << 62:
        of_distinct = _peel_nodes(grouping, judge, nodes)
        return borrow_company(grouping, judge, RecodedRows(nodes, of_distinct[grouping.distinct_of_row]))
    of_distinct = _walk_nodes(grouping, judge, nodes, np.ones(len(grouping.list_distinct().weights), dtype=np.bool_))
    return RecodedRows(nodes, of_distinct[grouping.distinct_of_row])


def _are_only_k(judge: ModelJudge) -> bool:
    return all(isinstance(model, KAnonymity) for model in judge.models)


def borrow_company(grouping: Grouping, judge: ModelJudge, recoded_rows: RecodedRows) -> RecodedRows:
    """Let remaining rows borrow rows from classes that have more than k.

    Nodes are visited from cheap to expensive again; if a remaining row and the rows that others can spare are k
    together, they become a class there. Under k-anonymity alone nobody is worse off than before except the borrowed
    rows.
    """
    node_of_row = recoded_rows.node_of_row.copy()
    k = max(model.k for model in judge.models if isinstance(model, KAnonymity))
    home = _number_home_classes(grouping, recoded_rows)
    sizes = np.bincount(home[home >= 0], minlength=1)
    for number, node in enumerate(recoded_rows.nodes):
        remaining_rows = np.flatnonzero(node_of_row < 0)
        if not len(remaining_rows):
            break
        class_of_row = grouping.find_classes(tuple(int(level) for level in node)).of_row[grouping.distinct_of_row]
        for group in np.unique(class_of_row[remaining_rows]):
            members = remaining_rows[class_of_row[remaining_rows] == group]
            lenders = _choose_spared_rows(
                np.flatnonzero((class_of_row == group) & (node_of_row >= 0)), home, sizes, k, k - len(members)
            )
            if len(members) + len(lenders) >= k:
                np.subtract.at(sizes, home[lenders], 1)
                class_rows = np.concatenate([members, lenders])
                home[class_rows] = -1  # a class of exactly k lends to nobody
                node_of_row[class_rows] = number
    return RecodedRows(recoded_rows.nodes, node_of_row)


def _number_home_classes(grouping: Grouping, recoded_rows: RecodedRows) -> Ints:
    """The published class of each row, −1 for none."""
    columns = [
        h.publish(grouping.codes[i], recoded_rows.list_levels(i)).alias(str(i))
        for i, h in enumerate(grouping.hierarchies)
    ]
    frame = pl.DataFrame([*columns, pl.Series("node", recoded_rows.node_of_row)])
    ranks = frame.select(pl.struct(pl.all()).rank("dense")).to_series().cast(pl.Int64).to_numpy()
    return np.where(recoded_rows.node_of_row < 0, -1, ranks)


def _choose_spared_rows(rows: Ints, home: Ints, sizes: Ints, k: int, wanted_count: int) -> Ints:
    """Some of these rows, so that every class they come from keeps k."""
    rows = rows[home[rows] >= 0]
    order = rows[np.argsort(home[rows], kind="stable")]
    first = np.searchsorted(home[order], home[order], side="left")
    spare = np.arange(len(order)) - first < sizes[home[order]] - k
    return order[spare][: max(wanted_count, 0)]


def recode_suppressed_rows(grouping: Grouping, judge: ModelJudge, global_rows: RecodedRows) -> RecodedRows:
    """Keep the published rows where they are, and regroup the suppressed ones among themselves."""
    if not (global_rows.node_of_row < 0).any():
        return global_rows
    nodes = _order_nodes_by_cost(grouping)
    row_mask = np.zeros(len(grouping.list_distinct().weights), dtype=np.bool_)
    row_mask[grouping.distinct_of_row] = global_rows.node_of_row < 0
    new_nodes = _walk_nodes(grouping, judge, nodes, row_mask)[grouping.distinct_of_row]
    node_of_row = np.where(new_nodes >= 0, new_nodes + 1, global_rows.node_of_row).astype(np.int32)
    return RecodedRows(np.concatenate([global_rows.nodes, nodes]), node_of_row)


def unite_starred_rows(grouping: Grouping, recoded_rows: RecodedRows, judge: ModelJudge, most: int) -> RecodedRows:
    """If rows are suppressed, rows that are "*" by their levels look the same: they are suppressed rows, too.

    If rows may be suppressed and a model judges sensitive values, they are suppressed anyway: whether they show their
    values would tell whether these satisfy the model.
    """
    starred_mask = flag_starred_by_levels(grouping, recoded_rows)
    is_told_by_values = most > 0 and bool(judge.list_columns())
    if not starred_mask.any() or not (is_told_by_values or (recoded_rows.node_of_row < 0).any()):
        return recoded_rows
    return RecodedRows(recoded_rows.nodes, np.where(starred_mask, -1, recoded_rows.node_of_row).astype(np.int32))


def flag_starred_by_levels(grouping: Grouping, recoded_rows: RecodedRows) -> Flags:
    """Which rows are published, each of their cells as "*"."""
    mask = recoded_rows.node_of_row >= 0
    for number, hierarchy in enumerate(grouping.hierarchies):
        starred_labels = hierarchy.publish(grouping.codes[number], recoded_rows.list_levels(number)) == STAR
        mask &= starred_labels.fill_null(value=False).to_numpy()
    return mask


def compute_local_losses(grouping: Grouping, recoded_rows: RecodedRows) -> dict[str, Number]:
    """The cost of local recoding, cell by cell; discernibility is counted on the published tuples."""
    suppressed_mask = recoded_rows.node_of_row < 0
    columns, labels = [], []
    for number, hierarchy in enumerate(grouping.hierarchies):
        levels, codes = recoded_rows.list_levels(number), grouping.codes[number]
        lost_leaves = np.array(grouping.lost_leaves[number])[levels, codes]
        columns.append(
            float(np.where(suppressed_mask, grouping.scales[number], lost_leaves).sum()) / grouping.scales[number]
        )
        names = hierarchy.publish(codes, levels, suppressed_mask)
        labels.append(names.alias(str(number)))
    tuples = pl.DataFrame(labels).filter(pl.Series(~suppressed_mask))
    sizes = tuples.group_by(pl.all()).len()["len"].to_numpy().astype(np.int64)
    shares = [column / grouping.rows for column in columns]
    suppressed_count = int(suppressed_mask.sum())
    return {
        "loss": sum(shares) / len(shares),
        "loss_geometric": prod(1 + share for share in shares) ** (1 / len(shares)) - 1,
        "discernibility": int((sizes**2).sum()) + suppressed_count * grouping.rows,
        "height": 0,
        "average_class_size": (grouping.rows - suppressed_count) / max(len(sizes), 1),
        "suppressed_rows": suppressed_count,
        "starred_rows": int(flag_starred_by_levels(grouping, recoded_rows).sum()),
        "classes": len(sizes),
    }


def _order_nodes_by_cost(grouping: Grouping) -> Codes:
    """All nodes, by their loss without suppression; ties by the levels themselves."""
    nodes = np.array(list(product(*(range(size) for size in grouping.shape))), dtype=np.int32)
    cost = np.zeros(len(nodes))
    for column, (marginal, scale) in enumerate(zip(grouping.marginals, grouping.scales, strict=True)):
        cost += (marginal / scale)[nodes[:, column]]
    return np.ascontiguousarray(nodes[np.argsort(cost, kind="stable")])


def _peel_nodes(grouping: Grouping, judge: ModelJudge, nodes: Codes) -> Codes:
    from sfumato.kernels.anonymity.local_recoding import peel_rows

    deepest = max(grouping.shape)
    starts = np.zeros((len(grouping.shape), deepest), dtype=np.int64)
    counts = np.ones((len(grouping.shape), deepest), dtype=np.int64)
    tables, offset = [], 0
    for column, hierarchy in enumerate(grouping.hierarchies):
        for level in range(hierarchy.height + 1):
            table, count = hierarchy.group_leaves(level)
            starts[column, level], counts[column, level] = offset, count
            tables.append(table)
            offset += len(table)
    codes, weights = grouping.list_distinct()
    node_of_row = np.zeros(codes.shape[1], dtype=np.int32)
    k = max(model.k for model in judge.models if isinstance(model, KAnonymity))
    peel_rows(np.ascontiguousarray(codes), weights, nodes, starts, counts, np.concatenate(tables), k, node_of_row)
    return node_of_row


def _walk_nodes(grouping: Grouping, judge: ModelJudge, nodes: Codes, row_mask: Flags) -> Codes:
    """The same, node by node, for models that use sensitive values, among some of the distinct rows."""
    node_of_row = np.full(len(row_mask), -1, dtype=np.int32)
    remaining_rows = np.flatnonzero(row_mask)
    part = grouping.narrow(row_mask)
    for number, node in enumerate(nodes):
        if not len(remaining_rows):
            break
        if number % 64 == 0:
            report_progress("recoding locally", number, len(nodes))
        classes = part.find_classes(tuple(int(level) for level in node))
        accepted_mask = ~judge.refuses(classes)
        if accepted_mask.any():
            final = accepted_mask[classes.of_row]
            node_of_row[remaining_rows[final]] = number
            part, remaining_rows = part.narrow(~final), remaining_rows[~final]
    return node_of_row
