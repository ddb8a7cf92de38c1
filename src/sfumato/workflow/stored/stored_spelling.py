# SPDX-License-Identifier: MIT
"""Type the cells of a stored release by what is published alone, as `workflow/published_spelling.py` does in memory.

Numbers are typed and spelled again. A column of which hidden cells may have decided that it holds dates is refused: its
file has been read, and the text of its dates is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from sfumato.data.cells.cell_types import TypesOfCells, respell_numbers
from sfumato.data.cells.spelled_dates import FittingForms, may_need_form
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.reading.table_reader import has_stored_types
from sfumato.errors import DataError
from sfumato.protect.stored_plan import StoredPlan
from sfumato.workflow.policy import Policy


@dataclass(frozen=True)
class StoredSpelling:
    """The types of columns that are not what they were, and how their cells are spelled."""

    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    decimal: str = "."

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Some rows of the release in these types."""
        return batch.with_columns(
            _spell_numbers(batch[name], self.decimal).cast(kind) for name, kind in self.types.items()
        )


def decide_stored_spelling(policy: Policy, plan: StoredPlan, batches: Iterable[pl.DataFrame]) -> StoredSpelling:
    """Look at all cells that are left: one hidden cell may have decided the type of a column, or labels are numbers."""
    hides = plan.leaves_rows_out or any(change.starred or change.kind.meaning.hides_cells for change in plan.changes)
    schema = plan.outline.frame.schema
    relabels = any(schema.get(change.column) == pl.String and not change.trivial for change in plan.changes)
    are_numbers_typed = not has_stored_types(policy.data.path)
    # Decimals such as 5.0 are published as whole numbers if all of them are whole.
    may_be_whole = are_numbers_typed and any(kind.is_float() for kind in schema.values())
    if not (hides or relabels or may_be_whole):
        return StoredSpelling()
    for name, form in plan.table.rows.date_forms.items() if hides else ():
        if name in schema:
            raise _explain_dates(plan, name, form)
    published_cells = _ObservedCells(plan, policy.data.decimal, are_numbers_typed=are_numbers_typed)
    for batch in batches:
        published_cells.observe(batch)
    if hides:
        published_cells.refuse_dates()
    return StoredSpelling(published_cells.decide_types(), policy.data.decimal)


class _ObservedCells:
    """What the published cells look like, seen some rows at a time."""

    def __init__(self, plan: StoredPlan, decimal: str, *, are_numbers_typed: bool) -> None:
        schema = plan.outline.frame.schema
        self._plan, self._decimal, self._schema = plan, decimal, schema
        kinds = {name: kind for name, kind in schema.items() if kind.is_numeric() or kind == pl.String}
        self._numbers = list(kinds) if are_numbers_typed else []
        self._texts = [
            name for name, kind in schema.items() if kind == pl.String and name not in plan.table.hierarchies
        ]
        self._types = TypesOfCells()
        self._starred_names: set[str] = set()
        self._respelled_names: set[str] = set()
        self._dates: dict[str, FittingForms] = {}

    def observe(self, batch: pl.DataFrame) -> None:
        columns = []
        for name in self._numbers:
            texts = spell_cells(batch[name])
            is_star = (texts == STAR).fill_null(value=False)
            spelled_texts = _spell_numbers(batch[name], self._decimal)
            if is_star.any():
                self._starred_names.add(name)
            if not spelled_texts.equals(texts):
                self._respelled_names.add(name)
            columns.append(spelled_texts.set(is_star, None))
        self._types.observe(pl.DataFrame(columns))
        for name in self._texts:
            cells = spell_cells(batch[name])
            cells = cells.set(cells == STAR, None)
            if cells.count() and (name in self._dates or may_need_form(cells)):
                self._dates.setdefault(name, FittingForms()).observe(cells)

    def refuse_dates(self) -> None:
        """Stop if the cells that are left are dates in one form: a word among those that are hidden made them text."""
        for name, forms in self._dates.items():
            if (form := forms.choose()) is not None:
                raise _explain_dates(self._plan, name, form)

    def decide_types(self) -> dict[str, pl.DataType]:
        """The columns that get another type."""
        types = {
            name: kind
            for name, kind in self._types.decide().items()
            if kind.is_numeric() or name not in self._starred_names  # a column without cells is text
        }
        given_names = {name for name in self._respelled_names if name in self._plan.table.hierarchies}
        for name in (
            self._starred_names & self._respelled_names & {name for name, kind in types.items() if kind.is_numeric()}
        ):
            if name not in given_names:
                raise DataError(
                    f'{self._plan.table.source}: "{name}" holds numbers and hidden words, and the numbers are not '
                    "spelled as 1.5; spell them so, mark the words as missing, or use --engine memory"
                )
        return {
            name: kind
            for name, kind in types.items()
            if kind != self._schema[name] and name not in self._starred_names and name not in given_names
        }


def _spell_numbers(column: pl.Series, decimal: str) -> pl.Series:
    texts = spell_cells(column)
    if column.dtype.is_numeric():
        return texts
    numbers = respell_numbers(texts, decimal)
    return numbers.zip_with(numbers.is_not_null(), texts)


def _explain_dates(plan: StoredPlan, name: str, form: str) -> DataError:
    return DataError(
        f'{plan.table.source}: hidden cells of "{name}" may decide whether it holds dates, and how they are published; '
        f'say it under [data]: dates = {{ "{name}" = "{form}" }}, and mark what means missing; or use --engine memory'
    )
