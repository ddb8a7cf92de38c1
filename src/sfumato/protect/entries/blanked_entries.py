# SPDX-License-Identifier: MIT
"""What blanking did: the published frame, its losses, why each entry was blanked, and the rules before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.details import EntryDetails
from sfumato.mine.entries.adversarial_rules import count_sensitive_entries
from sfumato.mine.entries.cells import PRIVATE, TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.protect.entries.entry_ledger import DerivedEntries, RuleMining
from sfumato.release import Number


@dataclass(frozen=True)
class BlankedEntries:
    """What a search found."""

    mining: RuleMining
    derived: DerivedEntries
    remaining_rules: RuleArrays | None
    """The rules that remain, if that was asked."""
    hidden_entries: pl.DataFrame
    """The private entries with their values."""


def list_hidden_values(cells: TableCells) -> pl.DataFrame:
    """The private entries with the values that would have been published, as text."""
    schema = {"row": pl.Int64, "column": pl.String, "value": pl.String}
    parts = [pl.DataFrame(schema=schema)]
    for index, (name, values) in enumerate(zip(cells.names, cells.values, strict=True)):
        rows = np.flatnonzero(cells.states[:, index] == PRIVATE)
        texts = spell_cells(values).gather(cells.codes[rows, index] - cells.first[index])
        parts.append(pl.DataFrame({"row": rows, "column": pl.repeat(name, len(rows), eager=True), "value": texts}))
    return pl.concat(parts).sort("row", "column", maintain_order=True)


def blank_states(frame: pl.DataFrame, states: np.ndarray[Any, np.dtype[np.uint8]]) -> pl.DataFrame:
    """The published frame: private and blanked entries are empty."""
    return frame.with_columns(
        pl.when(pl.Series(states[:, index] == 0)).then(pl.col(name)).alias(name)
        for index, name in enumerate(frame.columns)
    )


def compute_blanking_losses(cells: TableCells, derived: DerivedEntries) -> dict[str, Number]:
    """How many entries are private, how many were blanked in addition, and their shares."""
    filled_count = int((cells.codes >= 0).sum())
    private, blanked_count = int((cells.states == PRIVATE).sum()), len(derived.entries)
    visible = filled_count - private
    return {
        "loss": round((private + blanked_count) / filled_count, 12) if filled_count else 0.0,
        "private_entries": private,
        "derived_entries": blanked_count,
        "derived_share": round(blanked_count / visible, 12) if visible else 0.0,
        "suppressed_rows": 0,
    }


def collect_entry_details(outcome: BlankedEntries) -> EntryDetails:
    """What the custodian keeps, but for the entries one by one."""
    mining, derived, first = outcome.mining, outcome.derived, outcome.mining.first
    assert first is not None
    cells, many = mining.cells, len(derived.entries)
    return EntryDetails(
        hidden=outcome.hidden_entries,
        reasons=list_reasons(cells, derived),
        rules_before=build_rule_points(cells, first),
        rules_after=build_rule_points(cells, outcome.remaining_rules),
        exposed_entries=count_exposed_entries(cells, first),
        confidence=mining.question.confidence,
        least=mining.question.least,
        objective=many,
        bound=derived.bound,
        proven=derived.proven,
        gap=0.0 if many == derived.bound else (many - derived.bound) / max(many, 1),
        passes=mining.passes,
        complete=mining.complete,
        sensitive_entries=count_sensitive_entries(cells, first),
    )


def list_entries_singly(details: EntryDetails, outcome: BlankedEntries) -> EntryDetails:
    """The same with the rows and the entries, one by one."""
    cells = outcome.mining.cells
    places = np.argwhere(cells.states == PRIVATE)
    return replace(
        details,
        rows=np.arange(len(cells.codes), dtype=np.int64),
        private=[(row, cells.names[column]) for row, column in places.tolist()],
        derived=_list_entries(cells, outcome.derived),
    )


def _list_entries(cells: TableCells, derived: DerivedEntries) -> list[tuple[int, str]]:
    width = len(cells.names)
    return [(entry // width, cells.names[entry % width]) for entry in derived.entries.tolist()]


def list_reasons(cells: TableCells, derived: DerivedEntries) -> pl.DataFrame:
    """Why each entry was blanked; those against learners have no rule."""
    schema = {"row": pl.Int64, "column": pl.String, "kind": pl.String, "rules": pl.Int64, "example": pl.String}
    rows = []
    for index, (row, column) in enumerate(_list_entries(cells, derived)):
        if index < len(derived.reasons):
            reason = derived.reasons[index]
            rows.append(
                (row, column, reason.kind, reason.invalidated_count + reason.marginalized_count, reason.example)
            )
        else:
            rows.append((row, column, "against learners", 0, ""))
    return pl.DataFrame(rows, schema=schema, orient="row")


def build_rule_points(cells: TableCells, rule_arrays: RuleArrays | None) -> pl.DataFrame:
    """Rules as points of a plot: what an adversary sees of each."""
    if rule_arrays is None:
        schema = {"public_support": pl.Int64, "public_confidence": pl.Float64, "hidden_confidence": pl.Float64}
        return pl.DataFrame(schema={**schema, "column": pl.String, "length": pl.Int64})
    column = np.searchsorted(cells.first, rule_arrays.target, side="right") - 1
    return pl.DataFrame(
        {
            "public_support": rule_arrays.public_counts.astype(np.int64),
            "public_confidence": rule_arrays.public_fit / np.maximum(rule_arrays.public_counts, 1),
            "hidden_confidence": rule_arrays.hidden_fit / np.maximum(rule_arrays.hidden_counts, 1),
            "column": pl.Series(cells.names).gather(column) if len(column) else pl.Series([], dtype=pl.String),
            "length": np.diff(rule_arrays.start)[rule_arrays.antecedent],
        }
    )


def count_exposed_entries(cells: TableCells, rule_arrays: RuleArrays) -> dict[str, int]:
    """Private entries of each column that some rule predicted before anything was blanked."""
    columns = np.searchsorted(cells.first, rule_arrays.target, side="right") - 1
    many = np.diff(rule_arrays.row_start)[rule_arrays.antecedent]
    is_exposed = np.zeros(cells.codes.shape, dtype=np.bool_)
    # In chunks of rows: all rules together have very many.
    parts = np.searchsorted(np.cumsum(many), np.arange(0, int(many.sum()) + 1, 1 << 22), side="left")
    for begin, end in pairwise([*np.unique(parts).tolist(), len(many)]):
        rule = np.repeat(np.arange(begin, end), many[begin:end])
        first = rule_arrays.row_start[rule_arrays.antecedent[begin:end]] - np.cumsum(many[begin:end]) + many[begin:end]
        rows = rule_arrays.rows[np.arange(len(rule)) + np.repeat(first, many[begin:end])]
        column = columns[rule]
        hit = (cells.states[rows, column] == PRIVATE) & (cells.codes[rows, column] == rule_arrays.target[rule])
        is_exposed[rows[hit], column[hit]] = True
    return {name: int(count) for name, count in zip(cells.names, is_exposed.sum(axis=0), strict=True) if count}
