# SPDX-License-Identifier: MIT
"""Rules about the cells of a table as a classifier: the first rule that fits a row says its class.

An item is a condition on one cell: "job = cook", "age < 45", or the opposite, "not age < 45", which a missing cell
fulfils as well. So rules can be applied to a table without anything else.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.errors import DataError
from sfumato.rules import Rules
from sfumato.table import Table

NOT = "not "
EQUALS, LESS_THAN = " = ", " < "
OTHER_VALUE = "other"
"""The name of all classes that are not distinguished."""


def classify(rules: Rules, table: Table) -> pl.Series:
    """The class of each row: the right side of the first rule whose left side the row fulfils, missing if none does.

    The series has the name of the predicted column, and texts; "other" is a class that rules tell by what it is not.
    """
    if not isinstance(rules, Rules):
        raise DataError(f"rules are needed to classify, not {type(rules).__name__}; of a release, give its data")
    names = [name_class(rule) for rule in rules.list_counts()]
    predicted_classes = [None if rule < 0 else names[rule] for rule in choose_rules(rules, table).tolist()]
    return pl.Series(name_target(rules), predicted_classes, dtype=pl.String)


def name_target(rules: Rules) -> str:
    """The column that rules predict."""
    counts = rules.list_counts()
    if not counts:
        raise DataError("there is no rule, so nothing can be classified")
    return str(counts[0].right[0]).removeprefix(NOT).partition(EQUALS)[0]


def name_class(rule: RuleCount) -> str:
    """The class that a rule says."""
    condition = str(rule.right[0])
    return OTHER_VALUE if condition.startswith(NOT) else condition.partition(EQUALS)[2]


def choose_rules(rules: Rules, table: Table) -> Ints:
    """For each row the number of the first rule that fits; −1 if none does."""
    holders = CellHolders(table)
    rule_numbers = np.full(len(table), -1, dtype=np.int64)
    for number, rule in enumerate(rules.list_counts()):
        rule_numbers[(rule_numbers < 0) & holders.find_all(map(str, rule.left))] = number
    return rule_numbers


def list_conditions(rules: Rules, table: Table) -> Baskets:
    """Each row whose class is known, as a basket of those conditions of the rules that it fulfils."""
    holders = CellHolders(table)
    condition_mask = np.column_stack([holders.find(str(item)) for item in rules.items])
    rows = condition_mask[flag_known_classes(rules, table)]
    return Baskets.of([[rules.items[item] for item in np.flatnonzero(row).tolist()] for row in rows])


def flag_known_classes(rules: Rules, table: Table) -> Flags:
    """Which rows have a value in the predicted column."""
    target = name_target(rules)
    if target not in table.frame.columns:
        raise DataError(f"{table.source}: the rules predict a column that the table does not have")
    return table.frame[target].is_not_null().to_numpy()


def reads_as_condition(column: str) -> bool:
    """Whether a column name makes conditions ambiguous."""
    return EQUALS in column or LESS_THAN in column or column.startswith(NOT)


class CellHolders:
    """Which rows of a table fulfil a condition, by its text alone; each is looked up once."""

    def __init__(self, table: Table) -> None:
        """Look at a table."""
        self.table = table
        self._flags: dict[str, Flags] = {}

    def find_all(self, conditions: Iterable[str]) -> Flags:
        """The rows that fulfil all of some conditions."""
        fits = np.ones(len(self.table), dtype=bool)
        for condition in conditions:
            fits &= self.find(condition)
        return fits

    def find(self, condition: str) -> Flags:
        """A flag for each row."""
        if condition not in self._flags:
            self._flags[condition] = self._look_up(condition)
        return self._flags[condition]

    def _look_up(self, condition: str) -> Flags:
        # Rules are about no column that reads like a condition, so "not a = b" is never about a column "not a".
        for name in (name for name in self.table.frame.columns if not reads_as_condition(name)):
            for start, sign in ((f"{name}{mark}", mark) for mark in (EQUALS, LESS_THAN)):
                if condition.startswith(start):
                    return flag_cells(self.table.frame[name], sign, condition.removeprefix(start))
        if condition.startswith(NOT):
            return ~self.find(condition.removeprefix(NOT))
        raise DataError(f"{self.table.source}: some rules are about a column that the table does not have")


def flag_cells(column: pl.Series, sign: str, value: str) -> Flags:
    """Which cells equal a value or are below a number; missing ones are neither."""
    if sign == EQUALS:
        fits = spell_cells(column) == value
    else:
        numbers = column.cast(pl.Float64, strict=False).fill_nan(None)
        fits = numbers < float(value)
    return fits.fill_null(False).to_numpy()
