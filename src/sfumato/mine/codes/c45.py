# SPDX-License-Identifier: MIT
"""Decision trees as C4.5 grows them (Quinlan, *C4.5: Programs for Machine Learning*, 1993; Release 8, 1996).

Words have a branch each, numbers a threshold. The test of the greatest gain ratio is chosen among those of average gain
or more, and the tree is pruned by the upper limit of its errors at 25 % confidence. Every choice depends on counts of
classes along a sort, so a tree on the codes of `EncodeForTrees` decodes exactly to the tree of the originals. For that
it differs from Quinlan's program in three things: thresholds lie at boundary points, half-way between two values; a
missing word is a word of its own and a missing number goes to the larger side, where his program divides such rows; and
branches are cut but never raised, because rows that a threshold was not chosen for fall elsewhere among codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Floats, Ints, Singles
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.roles.role import Role
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names
from sfumato.mine.codes.c45_growth import grow_c45, prune_c45
from sfumato.mine.codes.c45_nodes import C45Nodes, NodeCells
from sfumato.mine.codes.c45_splits import C45Column
from sfumato.public.codes.learner_columns import (
    convert_for_learners,
    flag_indistinct_values,
    is_learnable_type,
    rank_cells,
)
from sfumato.table import Table

MIN_ROWS = 2
CONFIDENCE = 0.25
MOST_CLASSES = 100
"""Memory grows with the rows of a level times the classes."""


@dataclass(frozen=True)
class BranchColumn:
    """A column that a tree may test."""

    name: str
    words: tuple[str | None, ...] | None
    """The words of its branches, None among them where cells are missing; None for a column of numbers."""

    def read(self, frame: pl.DataFrame, source: str) -> Singles | Ints:
        """The column of a frame as the tree sees it."""
        if self.name not in frame.columns:
            raise DataError(f'{source}: the tree tests the column "{self.name}", which is not there')
        cells = frame[self.name]
        if self.words is None:
            if cells.null_count() == len(cells):
                return np.full(len(cells), np.nan, dtype=np.float32)
            if not is_learnable_type(cells.dtype):
                raise DataError(f'{source}: the tree compares "{self.name}" with numbers, but it holds words')
            return convert_for_learners(cells, source)
        word_index = {word: index for index, word in enumerate(self.words)}
        return number_words(spell_cells(cells), word_index)


def number_words(words: pl.Series, word_index: dict[str | None, int]) -> Ints:
    """The index of each word; −1 for one that is not known."""
    distinct = words.unique(maintain_order=True)
    numbers = pl.Series([word_index.get(word, -1) for word in distinct.to_list()], dtype=pl.Int64)
    first = pl.DataFrame({"word": distinct, "number": numbers})
    cells = pl.DataFrame({"word": words})
    numbered_cells = cells.join(first, on="word", how="left", nulls_equal=True, maintain_order="left")
    return np.asarray(numbered_cells["number"].to_numpy(), dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class C45Tree:
    """A C4.5 tree."""

    target: str
    """The column that it predicts."""
    classes_: npt.NDArray[Any]
    """The classes, in their order."""
    columns: tuple[BranchColumn, ...]
    """The columns that it may test."""
    nodes: C45Nodes
    min_rows: int
    confidence: float | None

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The columns that it may test."""
        return np.array([column.name for column in self.columns], dtype=object)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.nodes.leaves.sum())

    @property
    def depth(self) -> int:
        """The most tests on a path."""
        return len(self.nodes.levels) - 1

    def apply(self, records: Any) -> Ints:
        """The node that each record ends at: a leaf, or a test that has no branch for its word."""
        table = records if isinstance(records, Table) else Table.of(records)
        used_columns = set(np.unique(self.nodes.column[self.nodes.column >= 0]).tolist())
        empty_cells = np.zeros(0, dtype=np.int64)
        cells = [
            column.read(table.frame, table.source) if index in used_columns else empty_cells
            for index, column in enumerate(self.columns)
        ]
        return NodeCells(tuple(cells)).reach(self.nodes, len(table))

    def predict(self, records: Any) -> npt.NDArray[Any]:
        """The class of each record of a table or frame: the most common one of the training rows at its node."""
        return np.asarray(self.classes_[self.nodes.tally.argmax(axis=1)[self.apply(records)]])

    def predict_proba(self, records: Any) -> Floats:
        """Records × classes: the class shares of the training rows at each record's node."""
        tally = self.nodes.tally[self.apply(records)]
        return np.asarray(tally / tally.sum(axis=1, keepdims=True))

    def spell_rules(self) -> str:
        """The tree as text: one line per branch, with the class at leaves, and how many rows it has, of them wrong."""
        from sfumato.mine.codes.c45_text import write_rules

        return write_rules(self)

    def __repr__(self) -> str:
        """Sizes, never a value."""
        return f"C45Tree({self.target}: {self.n_leaves} leaves, depth {self.depth})"


def train_c45(
    table: Table,
    target: str,
    columns: tuple[str, ...] | list[str] | None = None,
    *,
    min_rows: int = MIN_ROWS,
    confidence: float | None = CONFIDENCE,
) -> C45Tree:
    """A C4.5 tree that predicts a column of a table.

    `columns` are those that it may test (by default all but identifying ones). At least two branches of a test have
    `min_rows` rows or more. A lower `confidence` prunes more; None does not prune.
    """
    _check_arguments(table, target, min_rows, confidence)
    names = _choose_columns(table, target, columns)
    classes = table.frame[target].unique().sort()
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f'{table.source}: the target "{target}" has {len(classes)} different values; a tree predicts '
            f"{MOST_CLASSES} classes at most: cut it into intervals"
        )
    codes = number_words(
        spell_cells(table.frame[target]), {word: index for index, word in enumerate(spell_cells(classes).to_list())}
    )
    read = tuple(_read_column(table, name) for name in names)
    nodes = grow_c45(read, codes, len(classes), min_rows)
    if confidence is not None:
        nodes = prune_c45(nodes, confidence)
    tested_columns = tuple(BranchColumn(column.name, None if column.is_number else column.words) for column in read)
    return C45Tree(target, classes.to_numpy(), tested_columns, nodes, min_rows, confidence)


def _check_arguments(table: Table, target: str, min_rows: int, confidence: float | None) -> None:
    if not isinstance(table, Table):
        raise PolicyError(f"a tree needs a table, not {type(table).__name__}; make one with sf.Table.of(...)")
    if isinstance(min_rows, bool) or not isinstance(min_rows, int) or min_rows < 1:
        raise PolicyError("`min_rows` is a whole number, 1 or more")
    if confidence is not None and not (isinstance(confidence, int | float) and 0 < confidence < 1):
        raise PolicyError("`confidence` is a number between 0 and 1, such as 0.25, or None")
    if target not in table.frame.columns:
        suggestion = ask_meant([str(target)], table.frame.columns)
        raise PolicyError(f'{table.source}: the target "{target}" is not a column of the table{suggestion}')
    if not len(table):
        raise DataError(f"{table.source}: there are no rows to grow a tree on")
    missing = table.frame[target].null_count()
    if missing:
        raise DataError(
            f'{table.source}: the target "{target}" is missing in {count_noun(missing, "row")}; remove them'
        )


def _choose_columns(table: Table, target: str, columns: tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    fit = tuple(
        name
        for name in table.frame.columns
        if name != target and table.roles.get(name) is not Role.IDENTIFYING
    )  # fmt: skip
    if columns is None:
        return fit
    if isinstance(columns, str):
        raise PolicyError(f'`columns` is a list of names, such as ["{columns}"]')
    unfit = [name for name in columns if name not in fit]
    if unfit:
        suggestion = ask_meant(unfit, fit)
        raise PolicyError(
            f"{table.source}: a tree cannot test {quote_names(unfit)}: no such column, the target, or one that names "
            f"people{suggestion}"
        )
    return tuple(dict.fromkeys(columns))


def _read_column(table: Table, name: str) -> C45Column:
    cells = table.frame[name]
    if not is_learnable_type(cells.dtype):
        texts = spell_cells(cells)
        words = tuple(texts.unique(maintain_order=True).to_list())
        codes = number_words(texts, {word: index for index, word in enumerate(words)})
        return C45Column(name, codes, len(words), words=words)
    numbers = convert_for_learners(cells, table.source)
    values, places = rank_cells(numbers)
    if not len(values):
        return C45Column(name, places, 1, numbers)
    group = np.cumsum(np.append(False, ~flag_indistinct_values(values)))
    return C45Column(name, np.append(group, -1)[places].astype(np.int64), int(group[-1]) + 1, numbers)
