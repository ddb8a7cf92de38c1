# SPDX-License-Identifier: MIT
"""The five kinds of itemsets of Aggarwal, Pei and Zhang (2006): why a branch of the search continues or ends.

A readable version, one itemset at a time, for reading and for tests; the search itself prunes by counts. Aggarwal, Pei,
Zhang, *On privacy preservation against adversarial data mining* (KDD 2006), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import PolicyError
from sfumato.mine.entries.cells import NOTHING, PRIVATE, PUBLIC, TableCells


class ItemsetKind(StrEnum):
    """What the projected database of an itemset implies for it and all its supersets."""

    PRIVACY_FREE = "privacy_free"
    """No private entry is left: no rule, here or below (pruning rule 2)."""
    NON_DISCRIMINATIVE = "non_discriminative"
    """No column with a private entry has a visible one: nothing is learned about it, here or below (pruning rule 3)."""
    CONTRAST = "contrast"
    """No private entry's value is visible: rules predict wrongly, here and below (pruning rule 4)."""
    DISCRIMINATIVE = "discriminative"
    """It is the antecedent of an adversarial rule; supersets may be, too."""
    UNDETERMINED = "undetermined"
    """None of these: supersets may be antecedents."""


def find_matching_rows(cells: TableCells, antecedent: Mapping[str, Any]) -> Ints:
    """The rows in which the antecedent publicly appears."""
    rows = np.ones(len(cells.codes), dtype=bool)
    for name, value in antecedent.items():
        column = _find_column_number(cells, name)
        value_indices = (cells.values[column] == value).arg_true()
        item = int(cells.first[column]) + int(value_indices[0]) if len(value_indices) else NOTHING
        rows &= (cells.codes[:, column] == item) & (cells.states[:, column] == PUBLIC) & (item != NOTHING)
    return np.flatnonzero(rows)


def project_rows(cells: TableCells, antecedent: Mapping[str, Any], hidden_sign: Any = "#") -> list[dict[str, Any]]:
    """The projected database: the other values of the rows with this antecedent, hidden entries as a sign."""
    other_columns = [index for index, name in enumerate(cells.names) if name not in antecedent]
    return [
        {
            cells.names[index]: hidden_sign
            if cells.states[row, index] != PUBLIC
            else cells.get_value(int(cells.codes[row, index]))
            for index in other_columns
            if cells.codes[row, index] != NOTHING
        }
        for row in find_matching_rows(cells, antecedent)
    ]


def classify_itemset(
    cells: TableCells, antecedent: Mapping[str, Any], confidence: Fraction, least: int = 1
) -> ItemsetKind:
    """The kind of an itemset, given as column → value; a later kind applies only if no earlier one fits."""
    rows = find_matching_rows(cells, antecedent)
    foretelling = False
    private = public_count = fit_count = 0
    for index, name in enumerate(cells.names):
        codes, states = cells.codes[rows, index], cells.states[rows, index]
        secret = codes[(states == PRIVATE) & (codes != NOTHING)]
        if name in antecedent or not len(secret):
            continue
        public = codes[(states == PUBLIC) & (codes != NOTHING)]
        private, public_count = private + 1, public_count + len(public)
        for item in np.unique(secret):
            fits, right = int((public == item).sum()), int((secret == item).sum())
            fit_count += fits
            has_support = len(public) >= max(least, 1)
            foretelling |= has_support and fits >= confidence * len(public) and right >= confidence * len(secret)
    if not private:
        return ItemsetKind.PRIVACY_FREE
    if not public_count:
        return ItemsetKind.NON_DISCRIMINATIVE
    if not fit_count:
        return ItemsetKind.CONTRAST
    return ItemsetKind.DISCRIMINATIVE if foretelling else ItemsetKind.UNDETERMINED


def _find_column_number(cells: TableCells, name: str) -> int:
    if name not in cells.names:
        raise PolicyError(f'"{name}" is not a published column of the table')
    return cells.names.index(name)
