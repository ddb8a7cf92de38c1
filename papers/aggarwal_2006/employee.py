# SPDX-License-Identifier: MIT
"""The Employee table of Aggarwal, Pei and Zhang (2006), and the definitions of the paper, counted by hand.

Rows are in the order of Table 2, where names are replaced by numbers; the paper counts them from 1, we from 0. Table 1
prints Ian as F, which contradicts Examples 1 and 7; with Ian M they hold. Both tables are here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from sfumato.table import Table

TITLE, GENDER, STATUS, EDUCATION, SALARY = "Title", "Gender", "MStatus", "Education", "Salary level"
COLUMNS = (TITLE, GENDER, STATUS, EDUCATION, SALARY)
_ROWS = (
    ("Manager", "F", "Married", "Univ.", "SL-5"),
    ("Assistant", "F", "Unmarr.", "Coll.", "SL-3"),
    ("Manager", "F", "Married", "Ph.D.", "SL-5"),
    ("Assistant", "M", "Married", "Coll.", "SL-3"),
    ("Manager", "M", "Married", "Univ.", "SL-5"),
    ("Accountant", "F", "Unmarr.", "MBA", "SL-5"),
    ("Manager", "F", "Unmarr.", "Univ.", "SL-5"),
    ("Assistant", "F", "Married", "Univ.", "SL-3"),
    ("Manager", "F", "Married", "MBA", "SL-7"),
    ("Accountant", "M", "Married", "Univ.", "SL-4"),
)
IAN = 5

Cell = tuple[int, str]
PRIVATE: frozenset[Cell] = frozenset(
    {(4, EDUCATION), (IAN, GENDER), (7, SALARY), (8, STATUS), (9, GENDER)},
)
"""The directly private set P of Table 2."""

Itemset = Mapping[str, str]


def employees(ian: str = "F") -> pl.DataFrame:
    """Table 1 in the order of Table 2; `ian` is Ian's gender, F as printed."""
    rows = [
        tuple(ian if (row_index, name) == (IAN, GENDER) else value for name, value in zip(COLUMNS, row, strict=True))
        for row_index, row in enumerate(_ROWS)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def employee_table(ian: str = "F") -> Table:
    """The same as a `Table`, all of whose columns are published."""
    return Table.of(employees(ian), dict.fromkeys(COLUMNS, "quasi_identifying"), source="Employee")


@dataclass(frozen=True)
class Counts:
    """What a rule's public and hidden sets hold."""

    public: int
    public_fit: int
    hidden_size: int
    hidden_fit: int

    @property
    def support(self) -> int:
        """|pub(R)|."""
        return self.public

    @property
    def public_confidence(self) -> Fraction | None:
        """None where nothing is public."""
        return Fraction(self.public_fit, self.public) if self.public else None

    @property
    def hidden_confidence(self) -> Fraction | None:
        """None where nothing is hidden: the rule is marginalized."""
        return Fraction(self.hidden_fit, self.hidden_size) if self.hidden_size else None

    def adversarial(self, confidence: Fraction, least: int) -> bool:
        """Whether the rule gives an entry away."""
        public, hidden_rate = self.public_confidence, self.hidden_confidence
        if public is None or hidden_rate is None:
            return False
        return self.public >= least and public >= confidence and hidden_rate >= confidence


@dataclass(frozen=True)
class HiddenTable:
    """Rows with private entries and blanked ones."""

    rows: tuple[Mapping[str, str], ...]
    private: Collection[Cell] = PRIVATE
    blanks: Collection[Cell] = ()

    @classmethod
    def of(cls, frame: pl.DataFrame, blanks: Collection[Cell] = ()) -> HiddenTable:
        """The Employee table, more of its entries blanked."""
        return cls(tuple(frame.iter_rows(named=True)), PRIVATE, blanks)

    def sees(self, row: int, column: str) -> bool:
        """Whether an entry is published."""
        return (row, column) not in self.private and (row, column) not in self.blanks

    def matching(self, itemset: Itemset) -> Iterator[int]:
        """The rows in which an itemset publicly appears."""
        for row_index, row in enumerate(self.rows):
            if all(self.sees(row_index, column) and row[column] == value for column, value in itemset.items()):
                yield row_index

    def counts(self, antecedent: Itemset, column: str, value: str) -> Counts:
        """The counts of the rule antecedent → value."""
        matching = list(self.matching(antecedent))
        public = [row_index for row_index in matching if self.sees(row_index, column)]
        hidden_rows = [row_index for row_index in matching if (row_index, column) in self.private]
        fits = [
            sum(self.rows[row_index][column] == value for row_index in row_set) for row_set in (public, hidden_rows)
        ]
        return Counts(len(public), fits[0], len(hidden_rows), fits[1])

    def project(self, itemset: Itemset) -> list[tuple[str, ...]]:
        """The projected database: what is seen of the rest of each row, '#' where it is hidden."""
        return [
            tuple(
                self.rows[row_index][column] if self.sees(row_index, column) else "#"
                for column in COLUMNS
                if column not in itemset
            )
            for row_index in self.matching(itemset)
        ]

    def kind(self, itemset: Itemset, confidence: Fraction, least: int = 1) -> str:
        """The category of an itemset, as Section 4 has them, tried in its order."""
        matching = list(self.matching(itemset))
        rest = [column for column in COLUMNS if column not in itemset]
        hidden_cells = [
            (row_index, column) for row_index in matching for column in rest if (row_index, column) in self.private
        ]
        if not hidden_cells:
            return "privacy-free"
        hidden_columns = {column for _, column in hidden_cells}
        if all((row_index, column) in self.private for column in hidden_columns for row_index in matching):
            return f"non-discriminative with respect to {', '.join(sorted(hidden_columns))}"
        rules = [(column, self.rows[row_index][column]) for row_index, column in hidden_cells]
        rule_counts = [self.counts(itemset, column, value) for column, value in rules]
        if all(not tally.public_fit for tally in rule_counts):
            return "contrast"
        if any(tally.adversarial(confidence, least) for tally in rule_counts):
            return "discriminative"
        return "undetermined"
