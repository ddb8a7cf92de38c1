# SPDX-License-Identifier: MIT
"""Adversarial rules as an integer program over the entries to blank.

A row can be blanked in several ways, each a set of columns. Rows that take the same part in the same rules are
equivalent, and only the number of them that are blanked in each way matters: one integer for each group of rows and
each way. What a rule loses on either side is then a sum of integers. A way is omitted if a smaller one takes the same
rows from the same rules. If a row has too many columns for that, each of its entries is a binary variable, and what it
removes is bound to these from both sides.

A rule is closed if its public rows are fewer than γ, or y's share of them, or of the hidden rows, is under δ, or no
hidden row is left: one of four binaries must be 1, and each implies its inequality. One more inequality holds in all
four cases and keeps the relaxation tight: (removed public rows with y) / (rows that must be removed), and the same for
the other sides, sum to at least 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from time import monotonic
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.mine.entries.cells import BLANK, PUBLIC
from sfumato.protect.entries.entry_ledger import EntryLedger
from sfumato.protect.solver import INFEASIBLE, OPTIMAL, SolverProgram, solve_milp

Terms = dict[int, float]
PUBLIC_FIT, PUBLIC_OTHER, HIDDEN_FIT, HIDDEN_OTHER = range(4)
MOST_COLUMNS = 6
"""Up to this many columns of a row, every way to blank it is considered."""


@dataclass(frozen=True)
class ProgramSolution:
    """The result of the program."""

    entries: Ints | None
    """None: there is no set as small as requested, or none was found in time."""
    bound: float
    proven: bool


@dataclass
class _EntryModel:
    """Variables with their costs, and inequalities with lower limits."""

    cost: list[int] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    blanks: list[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    """The rows that a variable blanks, as many of them as its value, and their columns."""
    rows: list[tuple[Terms, float]] = field(default_factory=list)

    def add_variable(
        self, cost: int, most: float, whole: int, rows: tuple[int, ...] = (), columns: tuple[int, ...] = ()
    ) -> int:
        """A new variable from 0 to `most`."""
        self.cost.append(cost)
        self.most.append(most)
        self.whole.append(whole)
        self.blanks.append((rows, columns))
        return len(self.cost) - 1

    def require_at_least(self, terms: Terms, least: float) -> None:
        """Σ terms ≥ least."""
        self.rows.append((terms, least))


class _RulePart(NamedTuple):
    """The part that a row takes in a rule."""

    rule: int
    side: int
    """The side of the rule that the row is on."""
    columns: tuple[int, ...]
    """Those any of which removes the row."""


class _RuleRow(NamedTuple):
    """A row of a rule."""

    row: int
    side: int
    """The side of the rule that it is on."""
    columns: tuple[int, ...]
    """Those any of which removes it."""


class EntryProgram:
    """The program of the rules that were added so far."""

    def __init__(self, ledger: EntryLedger) -> None:
        """A program without rules."""
        self.ledger = ledger
        self.rules: list[int] = []

    def add(self, rules: Ints) -> bool:
        """Add rules of the ledger; return whether one was new."""
        fresh = sorted(set(rules.tolist()) - set(self.rules))
        self.rules += fresh
        return bool(fresh)

    def solve(self, most: int, seconds: float) -> ProgramSolution:
        """The smallest set of at most `most` entries that closes all rules of the program."""
        model = _EntryModel()
        loss_terms: dict[tuple[int, int], Terms] = {(rule, side): {} for rule in self.rules for side in range(4)}
        sizes = dict.fromkeys(loss_terms, 0)
        for parts, rows in self._group_rows().items():
            for rule, side, _ in parts:
                sizes[rule, side] += len(rows)
            columns = sorted({column for part in parts for column in part.columns})
            if len(columns) <= MOST_COLUMNS:
                _add_row_ways(model, loss_terms, parts, rows, columns)
            else:
                _add_entry_binaries(model, loss_terms, parts, rows, columns)
        for rule in self.rules:
            self._close(model, [loss_terms[rule, side] for side in range(4)], [sizes[rule, side] for side in range(4)])
        model.require_at_least({index: -float(cost) for index, cost in enumerate(model.cost) if cost}, -float(most))
        return _solve_entry_program(model, most, seconds, self.ledger.width)

    def _group_rows(self) -> dict[tuple[_RulePart, ...], list[int]]:
        """Rows by the part they take in rules."""
        parts: dict[int, list[_RulePart]] = {}
        for rule in self.rules:
            for row, side, columns in self._iterate_rows(rule):
                parts.setdefault(row, []).append(_RulePart(rule, side, columns))
        groups: dict[tuple[_RulePart, ...], list[int]] = {}
        for row, takes in parts.items():
            groups.setdefault(tuple(takes), []).append(row)
        return groups

    def _iterate_rows(self, rule: int) -> Iterator[_RuleRow]:
        """The rows of a rule before anything is blanked, the side each is on, and what removes it."""
        ledger, rules = self.ledger, self.ledger.rules
        antecedent, target = int(rules.antecedent[rule]), int(rules.target[rule])
        items = rules.items[rules.start[antecedent] : rules.start[antecedent + 1]]
        item_columns = tuple(ledger.columns[items].tolist())
        target_column = int(ledger.columns[target])
        held_indices = rules.rows[rules.row_start[antecedent] : rules.row_start[antecedent + 1]]
        for row in ledger.held_rows[held_indices].tolist():
            code, state = int(ledger.cells.codes[row, target_column]), int(ledger.base[row, target_column])
            if code < 0 or state == BLANK:
                continue
            if state == PUBLIC:
                yield _RuleRow(row, PUBLIC_FIT if code == target else PUBLIC_OTHER, (*item_columns, target_column))
            else:
                yield _RuleRow(row, HIDDEN_FIT if code == target else HIDDEN_OTHER, item_columns)

    def _close(self, model: _EntryModel, loss_terms: list[Terms], sizes: list[int]) -> None:
        """One of the four ways to close a rule must be taken."""
        top, bottom, least = self.ledger.limits
        fit, other, hidden_fit, hidden_other = sizes
        few, rare, wrong, no_hidden = (model.add_variable(0, 1, 1) for _ in range(4))
        model.require_at_least({few: 1.0, rare: 1.0, wrong: 1.0, no_hidden: 1.0}, 1.0)
        must_go = fit + other - least + 1
        model.require_at_least(loss_terms[PUBLIC_FIT] | loss_terms[PUBLIC_OTHER] | {few: -float(must_go)}, 0.0)
        model.require_at_least(
            loss_terms[HIDDEN_FIT] | loss_terms[HIDDEN_OTHER] | {no_hidden: -float(hidden_fit + hidden_other)}, 0.0
        )
        for binary, begin, fits, other_count in (
            (rare, PUBLIC_FIT, fit, other),
            (wrong, HIDDEN_FIT, hidden_fit, hidden_other),
        ):
            # bottom · fits < top · all, after the losses; if the binary is 0, any loss is allowed.
            margin = bottom * fits - top * (fits + other_count) + 1
            terms = {index: (bottom - top) * coefficient for index, coefficient in loss_terms[begin].items()}
            terms |= {index: -top * coefficient for index, coefficient in loss_terms[begin + 1].items()}
            slack = float(max(margin, 0) + top * other_count)
            model.require_at_least(terms | {binary: -slack}, margin - slack)
        self._tighten(model, loss_terms, sizes)

    def _tighten(self, model: _EntryModel, loss_terms: list[Terms], sizes: list[int]) -> None:
        top, bottom, least = self.ledger.limits
        fit, other, hidden_fit, hidden_other = sizes
        must_go = fit + other - least + 1
        publicly = must_go
        secretly = hidden_fit
        if bottom > top:
            publicly = min(publicly, (bottom * fit - top * (fit + other)) // (bottom - top) + 1)
            excess = bottom * hidden_fit - top * (hidden_fit + hidden_other)
            secretly = min(secretly, excess // (bottom - top) + 1)
        if publicly < 1 or secretly < 1:
            return  # the rule is closed as long as nothing is blanked
        terms = {index: coefficient / publicly for index, coefficient in loss_terms[PUBLIC_FIT].items()}
        terms |= {index: coefficient / must_go for index, coefficient in loss_terms[PUBLIC_OTHER].items()}
        terms |= {index: coefficient / secretly for index, coefficient in loss_terms[HIDDEN_FIT].items()}
        model.require_at_least(terms, 1.0)


def _add_row_ways(
    model: _EntryModel,
    loss_terms: dict[tuple[int, int], Terms],
    parts: tuple[_RulePart, ...],
    rows: list[int],
    columns: list[int],
) -> None:
    """An integer for each way to blank equivalent rows; of ways with the same effect only the smallest."""
    seen_effects: set[tuple[int, ...]] = {()}
    variables: Terms = {}
    for size in range(1, len(columns) + 1):
        for subset in combinations(columns, size):
            takes = tuple(index for index, part in enumerate(parts) if not set(subset).isdisjoint(part.columns))
            if takes in seen_effects:
                continue
            seen_effects.add(takes)
            variable = model.add_variable(size, len(rows), 1, tuple(rows), subset)
            variables[variable] = -1.0
            for index in takes:
                loss_terms[parts[index].rule, parts[index].side][variable] = 1.0
    if len(variables) > 1:
        model.require_at_least(variables, -float(len(rows)))


def _add_entry_binaries(
    model: _EntryModel,
    loss_terms: dict[tuple[int, int], Terms],
    parts: tuple[_RulePart, ...],
    rows: list[int],
    columns: list[int],
) -> None:
    """A binary for each entry of each row; a row is removed if and only if any of a part's entries is blanked."""
    for row in rows:
        blank_variables = {column: model.add_variable(1, 1, 1, (row,), (column,)) for column in columns}
        out: dict[tuple[int, ...], int] = {}
        for rule, side, part_columns in parts:
            if not part_columns:
                continue
            if part_columns not in out:
                out[part_columns] = model.add_variable(0, 1, 0)
                model.require_at_least(
                    {blank_variables[column]: 1.0 for column in part_columns} | {out[part_columns]: -1.0}, 0.0
                )
                for column in part_columns:
                    model.require_at_least({out[part_columns]: 1.0, blank_variables[column]: -1.0}, 0.0)
            loss_terms[rule, side][out[part_columns]] = 1.0


def _solve_entry_program(model: _EntryModel, most: int, seconds: float, width: int) -> ProgramSolution:
    """Run the solver."""
    program = _gather_arrays(model)
    start_time = monotonic()
    # Stopped early, the solver may have no bound at all: the relaxation alone is solved quickly.
    relaxation = solve_milp(replace(program, integrality=np.zeros_like(program.integrality)), seconds)
    infeasible = relaxation.status == INFEASIBLE
    bound = most + 1.0 if infeasible else 0.0
    if relaxation.status == OPTIMAL and relaxation.values is not None:
        bound = float(program.costs @ relaxation.values)
    remaining_seconds = seconds - (monotonic() - start_time)
    if infeasible or remaining_seconds <= 0:
        return ProgramSolution(None, bound, proven=infeasible)
    solution = solve_milp(program, remaining_seconds)
    if solution.status == INFEASIBLE:
        return ProgramSolution(None, most + 1.0, proven=True)
    entries = None
    if solution.values is not None:
        entries = _list_blanked_entries(model, np.rint(solution.values).astype(np.int64), width)
    return ProgramSolution(entries, max(bound, solution.bound), proven=solution.status == OPTIMAL)


def _gather_arrays(model: _EntryModel) -> SolverProgram:
    least = np.array([least for _, least in model.rows], dtype=np.float64)
    return SolverProgram(
        np.array(model.cost, dtype=np.float64),
        np.array(model.whole, dtype=np.int64),
        np.array(model.most, dtype=np.float64),
        np.array([value for terms, _ in model.rows for value in terms.values()], dtype=np.float64),
        np.array([variable for terms, _ in model.rows for variable in terms], dtype=np.int64),
        np.cumsum([0, *(len(terms) for terms, _ in model.rows)]).astype(np.int64),
        least,
        np.full(len(least), np.inf),
    )


def _list_blanked_entries(model: _EntryModel, values: Ints, width: int) -> Ints:
    """The entries that a solution blanks: rows of a group in order."""
    taken_counts: dict[tuple[int, ...], int] = {}
    entries: list[int] = []
    for variable in np.flatnonzero(values).tolist():
        rows, columns = model.blanks[variable]
        begin = taken_counts.get(rows, 0) if len(columns) and len(rows) > 1 else 0
        blanked_rows = rows[begin : begin + int(values[variable])]
        taken_counts[rows] = begin + len(blanked_rows)
        entries += [row * width + column for row in blanked_rows for column in columns]
    return np.unique(np.array(entries, dtype=np.int64))
