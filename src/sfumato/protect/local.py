# SPDX-License-Identifier: MIT
"""Local recoding: each person is published at the cheapest node where enough others are left to hide among.

Nodes are walked from the cheapest to the dearest; classes that the models accept among the people still left
become final. Where only k-anonymity is asked the walk runs in one kernel, else node by node.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.errors import PolicyError
from sfumato.progress import tell
from sfumato.protect.grouping import Grouping
from sfumato.protect.judge import ModelJudge
from sfumato.protect.models import KAnonymity
from sfumato.release import Number
from sfumato.table import Missing

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
MOST_NODES = 2_000_000


@dataclass(frozen=True)
class Recoded:
    """The levels that each row of the table is published at."""

    nodes: Codes
    """The nodes that were walked, cheapest first: one row a node, one column a column."""
    node_of_row: Codes
    """Per row of the table, the node it became final at; −1 for suppressed rows."""

    def levels(self, column: int) -> Codes:
        """Per row, the level of a column; whatever for suppressed rows."""
        return self.nodes[:, column][self.node_of_row]


def recode_locally(grouping: Grouping, judge: ModelJudge) -> Recoded:
    """Walk the nodes from cheap to dear and let people stay where they find enough company."""
    if grouping.missing in (Missing.MATCHES_ANY, Missing.NEVER_MATCHES):
        raise PolicyError("local recoding counts a missing cell as a value; set missing to own_value or drop")
    if prod(grouping.shape) > MOST_NODES:
        raise PolicyError(
            f"local recoding walks every combination of levels, at most {MOST_NODES:,}; give some columns fewer"
        )
    nodes = _by_cost(grouping)
    tell("recoding locally")
    if _only_k(judge) and prod(len(hierarchy.rows) + 1 for hierarchy in grouping.hierarchies) < 1 << 62:
        of_distinct = _peeled(grouping, judge, nodes)
    else:
        of_distinct = _walked(grouping, judge, nodes, np.ones(len(grouping.distinct()[1]), dtype=np.bool_))
    return Recoded(nodes, of_distinct[grouping.distinct_of_row])


def _only_k(judge: ModelJudge) -> bool:
    return all(isinstance(model, KAnonymity) for model in judge.models)


def recode_the_rest(grouping: Grouping, judge: ModelJudge, everybody: Recoded) -> Recoded:
    """Leave those who are published where they are, and let the suppressed find company among themselves."""
    if not (everybody.node_of_row < 0).any():
        return everybody
    nodes = _by_cost(grouping)
    alone = np.zeros(len(grouping.distinct()[1]), dtype=np.bool_)
    alone[grouping.distinct_of_row] = everybody.node_of_row < 0
    found = _walked(grouping, judge, nodes, alone)[grouping.distinct_of_row]
    node_of_row = np.where(found >= 0, found + 1, everybody.node_of_row).astype(np.int32)
    return Recoded(np.concatenate([everybody.nodes, nodes]), node_of_row)


def local_losses(grouping: Grouping, recoded: Recoded) -> dict[str, Number]:
    """What local recoding costs, cell by cell; discernibility is counted on the published tuples."""
    suppressed = recoded.node_of_row < 0
    columns, labels = [], []
    for number, hierarchy in enumerate(grouping.hierarchies):
        levels, codes = recoded.levels(number), grouping.codes[number]
        lost = np.array(grouping.lost[number])[levels, codes]
        columns.append(float(np.where(suppressed, grouping.scales[number], lost).sum()) / grouping.scales[number])
        names = hierarchy.publish(codes, levels, suppressed)
        labels.append(names.alias(str(number)))
    tuples = pl.DataFrame(labels).filter(pl.Series(~suppressed))
    sizes = tuples.group_by(pl.all()).len()["len"].to_numpy().astype(np.int64)
    shares = [column / grouping.rows for column in columns]
    hidden = int(suppressed.sum())
    return {
        "loss": sum(shares) / len(shares),
        "loss_geometric": prod(1 + share for share in shares) ** (1 / len(shares)) - 1,
        "discernibility": int((sizes**2).sum()) + hidden * grouping.rows,
        "height": 0,
        "average_class_size": (grouping.rows - hidden) / max(len(sizes), 1),
        "suppressed_rows": hidden,
    }


def _by_cost(grouping: Grouping) -> Codes:
    """All nodes, by what they lose without suppression; ties by the levels themselves."""
    nodes = np.array(list(product(*(range(size) for size in grouping.shape))), dtype=np.int32)
    cost = np.zeros(len(nodes))
    for column, (marginal, scale) in enumerate(zip(grouping.marginals, grouping.scales, strict=True)):
        cost += (marginal / scale)[nodes[:, column]]
    return np.ascontiguousarray(nodes[np.argsort(cost, kind="stable")])


def _peeled(grouping: Grouping, judge: ModelJudge, nodes: Codes) -> Codes:
    from sfumato.kernels.peel import peel

    deepest = max(grouping.shape)
    starts = np.zeros((len(grouping.shape), deepest), dtype=np.int64)
    counts = np.ones((len(grouping.shape), deepest), dtype=np.int64)
    tables, place = [], 0
    for column, hierarchy in enumerate(grouping.hierarchies):
        for level in range(hierarchy.height + 1):
            table, count = hierarchy.groups(level)
            starts[column, level], counts[column, level] = place, count
            tables.append(table)
            place += len(table)
    codes, weights = grouping.distinct()
    found = np.zeros(codes.shape[1], dtype=np.int32)
    k = max(model.k for model in judge.models if isinstance(model, KAnonymity))
    peel(codes, weights, nodes, starts, counts, np.concatenate(tables), k, found)
    return found


def _walked(grouping: Grouping, judge: ModelJudge, nodes: Codes, among: npt.NDArray[np.bool_]) -> Codes:
    """The same, node by node, for models that look at sensitive values, among some of the distinct rows."""
    found = np.full(len(among), -1, dtype=np.int32)
    left = np.flatnonzero(among)
    part = grouping.narrowed(among)
    for number, node in enumerate(nodes):
        if not len(left):
            break
        if number % 64 == 0:
            tell("recoding locally", number, len(nodes))
        classes = part.classes(tuple(int(level) for level in node))
        accepted = ~judge.refuses(classes)
        if accepted.any():
            final = accepted[classes.of_row]
            found[left[final]] = number
            part, left = part.narrowed(~final), left[~final]
    return found
