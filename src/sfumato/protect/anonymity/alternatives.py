# SPDX-License-Identifier: MIT
"""What may lose less than generalizing a table under the same models: partitioning, hierarchies, suppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from sfumato.data.cells.moments_in_text import find_moment_kind, locate_moments
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.data.hierarchies.hierarchy_builders import Dates, Quantiles
from sfumato.data.hierarchies.hierarchy_proposals import propose_hierarchy
from sfumato.errors import DataError, quote_names
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.method import Alternative
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.protect.anonymity.generalize import Generalize

_MOST_NODES = 3_000
"""A larger lattice of levels is not searched for advice."""
_SUPPRESSION = 0.05
_FEWEST_VALUES = 5


def use_partition(models: tuple[PrivacyModel, ...], table: Table) -> Alternative:
    """Partition the table under the same models."""
    from sfumato.protect.anonymity.partition import Partition

    return Alternative("use partition", Partition(models=models), table)


def list_generalized_alternatives(method: Generalize, table: Table) -> Iterator[Alternative]:
    """Partition; more hierarchies; more suppression."""
    yield use_partition(method.models, table)
    new_hierarchies = _propose_hierarchies(table)
    whole = replace(table, hierarchies=MappingProxyType({**table.hierarchies, **new_hierarchies}))
    if new_hierarchies and _count_nodes(whole) <= _MOST_NODES:
        yield Alternative(f"give {quote_names(new_hierarchies)} a hierarchy", method, whole)
    if method.suppression_limit < _SUPPRESSION and _count_nodes(table) <= _MOST_NODES:
        looser = method.model_copy(update={"suppression_limit": _SUPPRESSION})
        yield Alternative(f"set suppression_limit = {_SUPPRESSION}", looser, table)


def _propose_hierarchies(table: Table) -> Mapping[str, Hierarchy]:
    """Plain hierarchies for columns of numbers and of dates that have none."""
    hierarchies = {}
    for name in table.quasi_identifying:
        column = table.frame[name]
        if name in table.hierarchies or column.n_unique() < _FEWEST_VALUES:
            continue
        if column.dtype.is_numeric():
            hierarchies[name] = Quantiles(counts=(16, 4)).build(column)
        elif _is_dated(table, name) and (date_hierarchy := _group_dates(column)) is not None:
            hierarchies[name] = date_hierarchy
    return hierarchies


def _group_dates(column: pl.Series) -> Hierarchy | None:
    """Months, years and decades; of dates that are not in ISO form, the units that a proposal finds, if any."""
    try:
        return Dates(units=("month", "year", "decade")).build(column)
    except DataError:
        proposal = propose_hierarchy(column)
        is_dated = proposal is not None and (proposal.description or {}).get("kind") == "date"
        return proposal.hierarchy if proposal is not None and is_dated else None


def _is_dated(table: Table, name: str) -> bool:
    texts = spell_cells(table.frame[name].drop_nulls().unique())
    return (
        len(texts) > 0
        and find_moment_kind(texts[0]) not in (None, "time", "month")
        and locate_moments(texts) is not None
    )


def _count_nodes(table: Table) -> int:
    return prod(table.get_hierarchy(name).height + 1 for name in table.quasi_identifying)
