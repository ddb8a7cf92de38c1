# SPDX-License-Identifier: MIT
"""A table about people whose rows stay where they are: roles, hierarchies, and rows that can be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, build_flat_hierarchy, spell_cells
from sfumato.data.hierarchies.hierarchy_builders import Quantiles, parse_builder
from sfumato.data.roles.role import Role, assign_roles
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_rows import CodeMap, RowCounts, StoredRows
from sfumato.errors import DataError, ask_meant, count_noun
from sfumato.table import Missing, Table

BYTES_A_LEAF = 1_000
"""What a leaf of a hierarchy takes, with its labels."""
FEWEST_LEAVES = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class StoredTable:
    """Rows that are counted where they are, with a `Role` for every column."""

    rows: StoredRows
    """The rows."""
    roles: Mapping[str, Role]
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=lambda: MappingProxyType({}))
    """The hierarchies of the columns that have one."""
    missing: Missing = Missing.OWN_VALUE
    """What a missing value means."""
    _values: dict[str, RowCounts] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rows: StoredRows,
        roles: Mapping[str, str | Role],
        hierarchies: Mapping[str, Any] | None = None,
        missing: str = "own_value",
    ) -> StoredTable:
        """Give rows their roles; hierarchies are built from the distinct values of their columns."""
        columns = list(rows.schema)
        table = cls(rows, assign_roles(columns, roles, rows.source), {}, Missing.parse(missing))
        strange = [name for name in hierarchies or {} if name not in columns]
        if strange:
            suggestion = ask_meant(strange, columns) or "; remove the hierarchy"
            raise DataError(
                f'{rows.source}: a hierarchy is given for "{strange[0]}", which is not a column of the table'
                f"{suggestion}"
            )
        built_hierarchies = {
            name: table._build_hierarchy(name, given_hierarchy) for name, given_hierarchy in (hierarchies or {}).items()
        }
        return cls(rows, table.roles, MappingProxyType(built_hierarchies), table.missing, table._values)

    def __getstate__(self) -> dict[str, Any]:
        """Without the values that were counted: a plan that is sent elsewhere does not need them."""
        kept_fields = {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}
        return {**kept_fields, "roles": dict(self.roles), "hierarchies": dict(self.hierarchies), "_values": {}}

    @property
    def source(self) -> str:
        """The name of the table in errors."""
        return self.rows.source

    def __len__(self) -> int:
        """The number of rows."""
        return self.rows.height

    def __repr__(self) -> str:
        """Counts and column names, never a cell."""
        columns = ", ".join(f"{name}: {role}" for name, role in list(self.roles.items())[:20])
        return f"StoredTable({len(self)} rows; {columns}{', …' if len(self.roles) > 20 else ''})"

    @cached_property
    def outline(self) -> Table:
        """The same columns, roles and hierarchies without any row: for whatever looks at names and types alone."""
        empty = pl.DataFrame(schema=dict(self.rows.schema))
        return Table(empty, self.roles, self.hierarchies, self.missing, self.source)

    @property
    def quasi_identifying(self) -> tuple[str, ...]:
        """The columns that an adversary may know from elsewhere."""
        return self.outline.quasi_identifying

    def count_values(self, column: str) -> RowCounts:
        """The distinct values of a column, ascending with a missing one last, and how often each occurs."""
        if column not in self._values:
            self._values[column] = self.rows.count_rows([column])
        return self._values[column]

    def list_values(self, column: str) -> pl.Series:
        """The distinct values of a column, ascending, without a missing one."""
        return self.count_values(column).frame[column].drop_nulls()

    def get_hierarchy(self, column: str) -> Hierarchy:
        """The hierarchy of a column; without one, all of the column is kept or suppressed."""
        if column in self.hierarchies:
            return self.hierarchies[column]
        self._refuse_many_leaves(column)
        return build_flat_hierarchy(self.list_values(column), f'values of "{column}"')

    def _refuse_many_leaves(self, column: str) -> None:
        """Stop before the values of a column are listed that are too many to be the leaves of a hierarchy."""
        count, most = self.rows.count_values(column), max(find_memory_budget() // BYTES_A_LEAF, FEWEST_LEAVES)
        if count > most:
            raise DataError(
                f'{self.source}: the column "{column}" has {count:,} values, and memory holds hierarchies of {most:,}; '
                "give it the role identifying if it is an id, or round it first, or set SFUMATO_MEMORY higher"
            )

    def count_complete_rows(self) -> int:
        """How many rows take part: all, or those without a missing quasi-identifying cell if missing means "drop"."""
        names = self.quasi_identifying
        if self.missing is not Missing.DROP:
            return len(self)
        row_counts = self.rows.count_rows(names)
        return int(row_counts.counts[~_flag_holes(row_counts.frame, names)].sum())

    def select_participants(self, columns: Sequence[str]) -> StoredTable:
        """The same rows; the values of these columns and the leaves that rules built are those of rows that take part.

        All of them, unless missing means "drop" and a quasi-identifying cell is missing.
        """
        missing_counts = self.rows.count_missing() if self.missing is Missing.DROP else {}
        if not any(missing_counts.get(name) for name in self.quasi_identifying):
            return self
        names = [name for name in dict.fromkeys(columns) if name in self.rows.schema]
        values = {name: self._count_participants_values(name) for name in names}
        if not all(len(values[name].counts) for name in names):
            return self  # nobody takes part, which is refused where people are counted
        hierarchies = {
            name: h.keep_leaves(values[name].frame[name]) if h.is_built and name in values else h
            for name, h in self.hierarchies.items()
        }
        return replace(self, hierarchies=MappingProxyType(hierarchies), _values=values)

    def _count_participants_values(self, column: str) -> RowCounts:
        """The values of a column in the rows without a missing quasi-identifying cell, and how often each occurs."""
        values, other_names = self.list_values(column), [name for name in self.quasi_identifying if name != column]
        maps = {column: CodeMap(values, np.arange(len(values), dtype=np.int32), len(values))}
        for name in other_names:
            known_values = self.list_values(name)
            maps[name] = CodeMap(known_values, np.zeros(len(known_values), dtype=np.int32), 1)
        row_counts = self.rows.count_coded_rows(maps)
        takes_part = row_counts.frame.select(pl.all_horizontal(True, *(pl.col(name) == 0 for name in other_names)))
        codes, mask = row_counts.frame[column].to_numpy(), takes_part.to_series().to_numpy()
        if column in self.quasi_identifying:
            mask = mask & (codes < len(values))
        counts = np.bincount(codes[mask], weights=row_counts.counts[mask], minlength=len(values) + 1).astype(np.int64)
        cells = pl.concat([values, pl.Series(column, [None], dtype=values.dtype)])
        return RowCounts(cells.filter(pl.Series(counts > 0)).to_frame(), counts[counts > 0])

    def count_uncounted_rows(self) -> int:
        """How many rows missing = "drop" removes from every count: those with a missing quasi-identifying cell."""
        return len(self) - self.count_complete_rows()

    def refuse_stars(self) -> None:
        """Stop if a quasi-identifying column already has the mark of a suppressed cell."""
        for name in self.quasi_identifying:
            if self.rows.schema[name] == pl.String:
                values = self.count_values(name)
                starred_count = int(values.counts[(values.frame[name] == STAR).fill_null(False).to_numpy()].sum())
                if starred_count:
                    raise DataError(
                        f'{self.source}: the column "{name}" holds "*" in {count_noun(starred_count, "row")}, the mark '
                        'of a suppressed cell; add "*" to missing_marks, or change its spelling'
                    )

    def _build_hierarchy(self, column: str, given_hierarchy: Any) -> Hierarchy:
        if isinstance(given_hierarchy, Hierarchy):
            return given_hierarchy
        if isinstance(given_hierarchy, (str, Path)):
            return Hierarchy.read(given_hierarchy)
        name = f'hierarchy of "{column}"'
        builder = parse_builder(given_hierarchy, name) if isinstance(given_hierarchy, Mapping) else given_hierarchy
        self._refuse_many_leaves(column)
        if not callable(getattr(builder, "build", None)):
            return Hierarchy.of(given_hierarchy, name=name)
        try:
            return self._build_described(column, builder)
        except DataError as error:
            raise DataError(f"{self.source}: {error}") from None

    def _build_described(self, column: str, builder: Any) -> Hierarchy:
        """From the values of a column, and for quantiles from how often each occurs."""
        if isinstance(builder, Quantiles):
            value_counts = self.count_values(column)
            known_mask = value_counts.frame[column].is_not_null().to_numpy()
            return builder.build_counted(self.list_values(column), value_counts.counts[known_mask])
        built_hierarchy = builder.build(self.list_values(column))
        assert isinstance(built_hierarchy, Hierarchy)
        return built_hierarchy

    def refuse_strange_values(self) -> None:
        """Stop if a quasi-identifying column has values that its hierarchy lacks."""
        for name in self.quasi_identifying:
            hierarchy, values = self.get_hierarchy(name), self.count_values(name)
            leaves = pl.Series(hierarchy.spell_leaves(self.rows.schema[name]), dtype=pl.String)
            texts = spell_cells(values.frame[name])
            strange = (~texts.is_in(leaves.implode())).fill_null(False).to_numpy()
            if strange.any():
                value_count, row_count = int(strange.sum()), int(values.counts[strange].sum())
                verb = "has" if value_count == 1 else "have"
                raise DataError(
                    f'column "{name}": {count_noun(value_count, "value")}, in {count_noun(row_count, "row")}, {verb} '
                    f"no row in {hierarchy.name}; add a row for each, or mark them as missing"
                )


def _flag_holes(frame: pl.DataFrame, names: Sequence[str]) -> Any:
    return frame.select(pl.any_horizontal(pl.col(list(names)).is_null())).to_series().to_numpy()
