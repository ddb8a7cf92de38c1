# SPDX-License-Identifier: MIT
"""Tables 1 and 3: every number of the life insurance example, ours and theirs, and the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.study import Findings, Grid, Pair, Setting, Statement, Tolerance, compare, frame_of
from sfumato.arrays import Ints
from sfumato.protect.swapping.identifiable_records import IdentifiableRecords
from sfumato.protect.swapping.posteriors import UNIT, compute_posteriors, encode_column
from sfumato.protect.swapping.swap_marginal import solve_phase_one
from sfumato.protect.swapping.swap_optimal import find_best_answer
from sfumato.protect.swapping.swap_paper import SwapOutcome, run_phase_two
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords
from sfumato.table import Table

AGE, GENDER, LOCATION, AMOUNT = "Age", "Gender", "Location", "Amount"
PATTERN = (AGE, GENDER, LOCATION)
AMOUNTS = ("Low", "Med", "High")
SHARE = 0.5
_PRINTED_TABLE = """
30–39 Female CA Med U
30–39 Female NY Low V1
30–39 Female NY Low V1
30–39 Male CA Med V2
30–39 Male CA Med V2
30–39 Male NY High U
40–49 Female CA Med U
40–49 Female NY Med -
40–49 Female NY High -
40–49 Male CA Low U
40–49 Male NY High V3
40–49 Male NY High V3
50–59 Female NY Low U
50–59 Male CA Med -
50–59 Male CA High -
50–59 Male NY High U
"""
CUSTOMERS = tuple(tuple(line.split()) for line in _PRINTED_TABLE.split("\n") if line)
"""Table 1: age, gender, location, amount, status."""

POSTERIORS = {
    1: (0.2269, 0.7563, 0.0168),
    6: (0.2842, 0.1895, 0.5263),
    7: (0.1698, 0.7547, 0.0755),
    10: (0.0476, 0.6349, 0.3175),
    13: (0.6090, 0.0902, 0.3008),
    16: (0.1130, 0.0502, 0.8368),
    2: (0.7431, 0.1651, 0.0917),
    4: (0.0826, 0.8257, 0.0917),
    11: (0.0769, 0.0684, 0.8547),
}
"""Table 3: p(Low | x), p(Med | x), p(High | x) by number of record."""
FIRST_CHANGES = {1: "High", 13: "Med", 16: "Low", 2: "Med", 4: "High", 11: "Low"}
"""Table 3, Phase I: who is changed to what."""
LAST_CHANGES = {6: "Low", 7: "High", 10: "Med", 2: "Med", 4: "High", 11: "Low"}
"""Table 3, Phase II."""
DIFFERENCES = {
    1: (0.7395, 0.0),
    6: (0.0, 0.2421),
    7: (0.0, 0.6792),
    10: (0.0, -0.5873),
    13: (0.5188, 0.0),
    16: (0.7238, 0.0),
    2: (0.5780, 0.5780),
    4: (0.7339, 0.7339),
    11: (0.7778, 0.7778),
}
"""Table 3: d(t, r) after Phase I and after Phase II."""


def insurance() -> Table:
    """Table 1."""
    columns = dict(
        zip((*PATTERN, AMOUNT), map(list, zip(*(customer[:4] for customer in CUSTOMERS), strict=True)), strict=True)
    )
    return Table.of(columns, dict.fromkeys(PATTERN, "quasi_identifying") | {AMOUNT: "sensitive"}, source="insurance")


@dataclass(frozen=True, eq=False)
class Example:
    """The example as phase II sees it; records are numbered from 1, as in the paper."""

    identifiable: IdentifiableRecords
    records: SwapRecords

    @classmethod
    def of(cls, table: Table) -> Example:
        """U and V, and the posteriors of a record of each."""
        codes = np.array([AMOUNTS.index(amount) for amount in table.frame[AMOUNT]], dtype=np.int64)
        identifiable = IdentifiableRecords.of(table.frame, PATTERN, codes, len(AMOUNTS))
        quasi_columns = [encode_column(table.frame[name]) for name in PATTERN]
        chances = compute_posteriors(
            quasi_columns, codes, len(AMOUNTS), np.concatenate([identifiable.unique, identifiable.first])
        )
        changes = round(SHARE * len(identifiable.unique))
        return cls(
            identifiable,
            SwapRecords.of(identifiable, codes, chances, changes, np.ones(identifiable.groups, dtype=np.int64)),
        )

    @property
    def numbers(self) -> list[int]:
        """The number of each record."""
        return [int(row) + 1 for row in (*self.identifiable.unique, *self.identifiable.first)]

    def answer(self, new_amounts: dict[int, str]) -> SwapAnswer:
        """Table 3's column as an answer."""
        category = [
            AMOUNTS.index(new_amounts[number]) if number in new_amounts else int(category_code)
            for number, category_code in zip(self.numbers, self.records.own_categories, strict=True)
        ]
        return SwapAnswer(np.arange(len(category), dtype=np.int64), np.array(category, dtype=np.int64))

    def differences(self, answer: SwapAnswer) -> dict[int, float]:
        """d(t, r) of every record."""
        losses = self.records.chances[answer.record, self.records.own_categories[answer.record]]
        losses = losses - self.records.chances[answer.record, answer.category]
        return {self.numbers[record]: int(loss) / UNIT for record, loss in zip(answer.record, losses, strict=True)}

    def compute_split_optimum(self) -> float:
        """The optimum where the counts of U and of V must each stay."""
        free, generator = self.records.free, np.random.default_rng(0)
        parts = [
            self.records.take(np.flatnonzero(free), self.records.changes),
            self.records.take(np.flatnonzero(~free), 0),
        ]
        return sum(find_best_answer(part, 0, 60.0, generator).objective for part in parts) / UNIT


def example(setting: Setting) -> Findings:
    """Everything that Tables 1 and 3 state."""
    del setting  # sixteen rows are quick enough
    case = Example.of(insurance())
    start = case.answer(FIRST_CHANGES)
    phase_two = run_phase_two(case.records, start)
    best = find_best_answer(case.records, 0, 60.0, np.random.default_rng(0)).objective / UNIT
    start_cost, end_cost = start.compute_cost(case.records) / UNIT, phase_two.answer.compute_cost(case.records) / UNIT
    flows = solve_phase_one(case.records.available, case.records.changes)
    sums = {"Phase I as in Table 3": start_cost, "Phase II as published": end_cost}
    sums |= {"optimum, U and V balanced apart": case.compute_split_optimum(), "optimum of problem (12)": best}
    paper_sums = (4.0718, 2.4237, None, None)
    rows = [
        {"release": n, "theirs": t, "ours": round(o, 4)} for (n, o), t in zip(sums.items(), paper_sums, strict=True)
    ]
    return Findings(
        statements=(
            _statuses(case.identifiable),
            _same_posteriors(case),
            Statement(
                "Phase I: the objective is 0 with 3 changes.",
                _flows(flows.moves, flows.shift),
                flows.shift == 0 and flows.moves.sum() == 3,
            ),
            compare("Phase I: Σ d", [Pair(4.0718, round(start_cost, 4))], _CELLS),
            Statement(
                "Phase II swaps #1 and #7, #6 and #16, #10 and #13.", _swaps(case, phase_two), _agree(case, phase_two)
            ),
            compare("Phase II: Σ d", [Pair(2.4237, round(end_cost, 4))], _CELLS),
        ),
        grids=(
            Grid("posteriors", "Table 3, ours and theirs", frame_of(_rows(case, start, phase_two.answer))),
            Grid("sums", "Σ d of the example", frame_of(rows), _BALANCE),
        ),
        remarks=_ERRATA,
    )


_CELLS = Tolerance(0.00045, "a sum of nine cells that are printed to four digits")
_BALANCE = "Constraint (C3) fixes the counts of the whole column, so U and V may balance each other."
_ERRATA = (
    "Appendix B prints P(30–39 | Med) = 3/16; it is 3/6. '(5/64)P' is (5/64)/P.",
    "The example's linear program prints + s⁻ + s⁺; formulation (1c) has + s⁻ − s⁺.",
    "The plain linear program may end at 1.5 and 1.5, so ours is in whole numbers with round(p |U|).",
    (
        "With three categories rule 4 of Appendix A forbids every swap across categories. The other optimal cycle of "
        "phase I (Low → High → Med → Low) therefore ends elsewhere, at 2.7772."
    ),
)


def _statuses(identifiable: IdentifiableRecords) -> Statement:
    paper_statuses = {row: customer[4] for row, customer in enumerate(CUSTOMERS)}
    unique = {row for row, status in paper_statuses.items() if status == "U"}
    paper_groups = {
        frozenset(row for row, status in paper_statuses.items() if status == name) for name in ("V1", "V2", "V3")
    }
    own_result = {frozenset(map(int, part)) for part in np.split(identifiable.members, identifiable.starts[1:-1])}
    is_same = set(map(int, identifiable.unique)) == unique and own_result == paper_groups
    counts = identifiable.count_by_status()
    counts_text = f"{counts['unique']} unique, {counts['collective']} in {counts['groups']} groups"
    return Statement("Table 1: six records are unique, six in three groups, four unidentifiable.", counts_text, is_same)


def _same_posteriors(case: Example) -> Statement:
    own_result = {number: chances / UNIT for number, chances in zip(case.numbers, case.records.chances, strict=True)}
    same_count = sum(
        f"{own_share:.4f}" == f"{paper_result:.4f}"
        for number, paper_chances in POSTERIORS.items()
        for own_share, paper_result in zip(own_result[number], paper_chances, strict=True)
    )
    return Statement("Table 3: 27 posteriors.", f"{same_count} of them the same to four digits.", same_count == 27)


def _flows(moves: Ints, shift: int) -> str:
    flows_text = ", ".join(
        f"{AMOUNTS[k]} → {AMOUNTS[h]} {moves[k, h]}" for k, h in zip(*np.nonzero(moves), strict=True)
    )
    return f"{shift} with {int(moves.sum())} changes: {flows_text}."


def _pairs(case: Example, outcome: SwapOutcome) -> list[tuple[int, int, float]]:
    return [(*sorted((case.numbers[s.first], case.numbers[s.other])), s.cost / UNIT) for s in outcome.swaps]  # type: ignore[misc]


def _swaps(case: Example, outcome: SwapOutcome) -> str:
    return ", ".join(f"#{a} and #{b} ({cost:.4f})" for a, b, cost in _pairs(case, outcome)) + "."


def _agree(case: Example, outcome: SwapOutcome) -> bool:
    return {(a, b) for a, b, _ in _pairs(case, outcome)} == {(1, 7), (6, 16), (10, 13)}


def _rows(case: Example, start: SwapAnswer, end: SwapAnswer) -> list[dict[str, Any]]:
    start_losses, end_losses = case.differences(start), case.differences(end)
    rows = []
    for record_index, number in enumerate(case.numbers):
        own_result = case.records.chances[record_index] / UNIT
        rows.append(
            {
                "no": number,
                **{
                    f"p_{name}_theirs": paper_chance
                    for name, paper_chance in zip(AMOUNTS, POSTERIORS[number], strict=True)
                },
                **{
                    f"p_{name}_ours": round(float(own_share), 4)
                    for name, own_share in zip(AMOUNTS, own_result, strict=True)
                },
                "d_phase_1_theirs": DIFFERENCES[number][0],
                "d_phase_1_ours": round(start_losses[number], 4),
                "d_phase_2_theirs": DIFFERENCES[number][1],
                "d_phase_2_ours": round(end_losses[number], 4),
            }
        )
    return rows
