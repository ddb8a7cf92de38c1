# SPDX-License-Identifier: MIT
"""What the levels that were chosen cost, and how the search found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from sfumato.details import AnonymityDetails
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.lattice import BestNode, NodeCount
from sfumato.protect.anonymity.search.metrics import compute_discernibility, compute_geometric_product, compute_loss
from sfumato.protect.anonymity.search.node_classes import Levels, NodeVerdict
from sfumato.release import Number
from sfumato.table import Table


def compute_level_losses(grouping: Grouping, best: NodeVerdict) -> dict[str, Number]:
    """What publishing at a node costs, by every metric."""
    columns = len(best.levels)
    published_count = grouping.rows - best.suppressed_count
    return {
        "loss": float(compute_loss(grouping, best)),
        "loss_geometric": float(compute_geometric_product(grouping, best)) ** (1 / columns) - 1,
        "discernibility": compute_discernibility(grouping, best),
        "height": sum(best.levels),
        "average_class_size": published_count / best.classes,
        "suppressed_rows": best.suppressed_count,
    }


def collect_level_details(
    table: Table, best: BestNode, grouping: Grouping, rows: Any, suppressed_rows: Any
) -> AnonymityDetails:
    """What the search decided."""
    assert best.best is not None
    names = table.quasi_identifying
    return AnonymityDetails(
        levels=dict(zip(names, best.best.levels, strict=True)),
        heights={name: size - 1 for name, size in zip(names, grouping.shape, strict=True)},
        without_hierarchy=tuple(name for name in names if name not in table.hierarchies),
        rows=rows,
        suppressed=suppressed_rows,
        classes=best.best.classes,
        nodes=best.nodes,
        checked_nodes=best.checked_count,
        proven=best.proven,
        minimal=best.minimal,
        generalizations=None
        if best.accepted_nodes is None
        else _list_generalizations(best.accepted_nodes, set(best.minimal)),
        node_counts=pl.DataFrame(best.counts, schema=NodeCount._fields, orient="row") if best.counts else None,
    )


def _list_generalizations(accepted_nodes: Sequence[Levels], minimal: set[Levels]) -> pl.DataFrame:
    """All nodes that satisfy the models."""
    return pl.DataFrame(
        {
            "levels": pl.Series(list(map(list, accepted_nodes)), dtype=pl.List(pl.Int64)),
            "height": pl.Series(list(map(sum, accepted_nodes)), dtype=pl.Int64),
            "minimal": pl.Series([levels in minimal for levels in accepted_nodes], dtype=pl.Boolean),
        }
    )
