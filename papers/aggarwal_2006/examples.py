# SPDX-License-Identifier: MIT
"""Examples 1 to 8: every number they state, counted by hand and mined."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import groupby
from typing import Any

from papers.aggarwal_2006.employee import (
    EDUCATION,
    GENDER,
    PRIVATE,
    SALARY,
    STATUS,
    TITLE,
    Cell,
    Counts,
    HiddenTable,
    Itemset,
    employee_table,
    employees,
)
from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.errors import count_noun

DELTA, GAMMA = Fraction(3, 5), 2
_MENDED_IAN = "Ian M"
_IANS = {"as printed (Ian F)": "F", _MENDED_IAN: "M"}

Rule = tuple[Itemset, str, str]
RULES: dict[str, Rule] = {
    "R1: Assistant → SL-3": ({TITLE: "Assistant"}, SALARY, "SL-3"),
    "R2: Manager ∧ SL-5 → Univ.": ({TITLE: "Manager", SALARY: "SL-5"}, EDUCATION, "Univ."),
    "R3: Manager ∧ F → Married": ({TITLE: "Manager", GENDER: "F"}, STATUS, "Married"),
}
R1, R2, R3 = RULES
ITEMSETS: dict[str, Itemset] = {
    "X1 = {Coll.}": {EDUCATION: "Coll."},
    "X2 = {Accountant}": {TITLE: "Accountant"},
    "X3 = {Unmarr., SL-5}": {STATUS: "Unmarr.", SALARY: "SL-5"},
    "X4 = {Manager, F}": {TITLE: "Manager", GENDER: "F"},
}
X1, X2, X3, X4 = ITEMSETS
PROJECTIONS: dict[str, list[tuple[str, ...]]] = {
    X1: [("Assistant", "F", "Unmarr.", "SL-3"), ("Assistant", "M", "Married", "SL-3")],
    X2: [("#", "Unmarr.", "MBA", "SL-5"), ("#", "Married", "Univ.", "SL-4")],
    X3: [("Accountant", "#", "MBA"), ("Manager", "F", "Univ.")],
    X4: [
        ("Married", "Univ.", "SL-5"),
        ("Married", "Ph.D.", "SL-5"),
        ("Unmarr.", "Univ.", "SL-5"),
        ("#", "MBA", "SL-7"),
    ],
}
"""The four projected databases of Example 4."""


def examples(setting: Setting) -> Findings:
    """Everything that Examples 1 to 8 state."""
    del setting  # ten rows are quick enough
    ian_f, ian_m = HiddenTable.of(employees("F")), HiddenTable.of(employees("M"))
    rows = [*_example_1(ian_f), *_example_2(ian_f), *_example_3(ian_f)]
    rows += [*_example_4(ian_f), *_examples_5_to_8(ian_f, ian_m)]
    numbers = frame_of(rows)
    return Findings(
        statements=_statements(rows),
        grids=(
            Grid("numbers", "Examples 1 to 8, ours and theirs", numbers),
            Grid(
                "protected",
                "Protecting the Employee table (δ = 60 %, γ = 2)",
                frame_of(_protect_employees()),
                _LONGER_SEARCH,
            ),
        ),
        remarks=_ERRATA,
    )


_ERRATA = (
    (
        "Table 1 prints Ian as F. Example 1 (tuple 6 cannot be predicted) and Example 7 (X3 is contrast) hold only "
        "if Ian is M; then Example 7's Male and Female change places. Both tables are counted."
    ),
    (
        "Example 2 says that R2 is invalidated in tuples 5 and 7; its public set is tuples 1, 3 and 7, and only 1 "
        "and 7 hold Univ."
    ),
    "Support is |pub(R)|: the only reading that gives the printed 2, 3 and 3.",
)
_LONGER_SEARCH = (
    "The paper gives no derived set for this table. GraDeS as printed stops when the rules it was given are gone; "
    "blanking can make new ones, so it is followed by mining again until none is left."
)


def _row(example: str, quantity: str, paper_result: str, own_result: str) -> dict[str, Any]:
    return {
        "example": example,
        "what": quantity,
        "theirs": paper_result,
        "ours": own_result,
        "same": paper_result == own_result,
    }


def _write_counts(counts: Counts) -> str:
    public = counts.public_confidence
    return f"support {counts.support}, confidence {'–' if public is None else public}"


def _count_rule(table: HiddenTable, rule: str) -> Counts:
    return table.counts(*RULES[rule])


def _example_1(table: HiddenTable) -> list[dict[str, Any]]:
    paper_texts = {R1: "support 2, confidence 1", R2: "support 3, confidence 2/3", R3: "support 3, confidence 2/3"}
    rows = [
        _row("1", rule, paper_text, _write_counts(_count_rule(table, rule))) for rule, paper_text in paper_texts.items()
    ]
    foretold = "tuples 5, 8, 9"
    for label, ian in _IANS.items():
        tuple_numbers = sorted({row + 1 for row, _ in _list_predicted(ian)})
        own_result = "tuples " + ", ".join(map(str, tuple_numbers))
        rows.append(_row("1", f"private entries that rules predict, {label}", foretold, own_result))
    return rows


def _example_2(table: HiddenTable) -> list[dict[str, Any]]:
    education, title = _blank_cells(table, {(0, EDUCATION)}), _blank_cells(table, {(0, TITLE)})
    dead = [rule for rule in (R2, R3) if not _count_rule(title, rule).adversarial(DELTA, GAMMA)]
    return [
        _row("2", f"{R2}, tuple 1's Education blanked", "confidence 1/2", _confidence(education, R2)),
        _row("2", f"{R2}, tuple 1's Title blanked", "confidence 1/2", _confidence(title, R2)),
        _row("2", f"{R3}, tuple 1's Title blanked", "confidence 1/2", _confidence(title, R3)),
        _row("2", "rules hidden by blanking tuple 1's Title (δ = 60 %, γ = 2)", "R2, R3", _labels(dead)),
    ]


def _example_3(table: HiddenTable) -> list[dict[str, Any]]:
    rule_counts = _count_rule(_blank_cells(table, {(7, TITLE)}), R1)
    own_result = f"confidence {rule_counts.public_confidence}, {rule_counts.hidden_size} entries predicted"
    return [_row("3", f"{R1}, tuple 8's Title blanked", "confidence 1, 0 entries predicted", own_result)]


def _example_4(table: HiddenTable) -> list[dict[str, Any]]:
    return [
        _row("4", f"projected database of {name}", _tuples(paper_tuples), _tuples(table.project(ITEMSETS[name])))
        for name, paper_tuples in ((name, _in_order(table, name)) for name in PROJECTIONS)
    ]


def _in_order(table: HiddenTable, name: str) -> list[tuple[str, ...]]:
    """The paper's tuples in our order where they are the same set: a database has no order."""
    own_result = table.project(ITEMSETS[name])
    return own_result if sorted(own_result) == sorted(PROJECTIONS[name]) else PROJECTIONS[name]


def _examples_5_to_8(ian_f: HiddenTable, ian_m: HiddenTable) -> list[dict[str, Any]]:
    supersets = ({TITLE: "Assistant", EDUCATION: "Coll."}, {TITLE: "Assistant", GENDER: "M", EDUCATION: "Coll."})
    kinds = {ian_f.kind(superset, DELTA) for superset in supersets}
    gender = f"non-discriminative with respect to {GENDER}"
    married_counts = _count_rule(ian_f, R3)
    return [
        _row("5", f"kind of {X1}", "privacy-free", ian_f.kind(ITEMSETS[X1], DELTA)),
        _row("5", "kind of {Assistant, Coll.}, {Assistant, M, Coll.}", "privacy-free", ", ".join(sorted(kinds))),
        _row("6", f"kind of {X2}", gender, ian_f.kind(ITEMSETS[X2], DELTA)),
        _row("7", f"kind of {X3}, as printed (Ian F)", "contrast", ian_f.kind(ITEMSETS[X3], DELTA)),
        _row("7", f"kind of {X3}, Ian M", "contrast", ian_m.kind(ITEMSETS[X3], DELTA)),
        _row("8", f"kind of {X4}", "discriminative", ian_f.kind(ITEMSETS[X4], DELTA)),
        _row(
            "8",
            f"{X4}: public tuples that are Married",
            "2 of 3",
            f"{married_counts.public_fit} of {married_counts.public}",
        ),
    ]


def _blank_cells(table: HiddenTable, cells: Collection[Cell]) -> HiddenTable:
    return HiddenTable(table.rows, table.private, cells)


def _confidence(table: HiddenTable, rule: str) -> str:
    return f"confidence {_count_rule(table, rule).public_confidence}"


def _labels(rules: Collection[str]) -> str:
    return ", ".join(rule.split(":")[0] for rule in rules)


def _tuples(rows: Collection[tuple[str, ...]]) -> str:
    return "; ".join(f"({', '.join(row)})" for row in rows)


def _list_predicted(ian: str) -> set[Cell]:
    """Private entries that a mined rule predicts correctly."""
    from sfumato.mine.entries.adversarial_rules import adversarial_rules

    rules = adversarial_rules(employee_table(ian), sorted(PRIVATE), DELTA, GAMMA)
    return {(row, rule.column) for rule in rules for row in rule.rows}


def _protect_employees() -> list[dict[str, Any]]:
    """Rules before, the derived set of each search, and whether a rule is left."""
    from sfumato.mine.entries.adversarial_rules import adversarial_rules
    from sfumato.protect.entries.suppress_entries import SuppressEntries

    rows = []
    for label, ian in _IANS.items():
        table = employee_table(ian)
        rules = len(adversarial_rules(table, sorted(PRIVATE), DELTA, GAMMA))
        table_row: dict[str, Any] = {"table": label, "rules": rules}
        for search in ("grades_once", "grades", "grades+", "exact"):
            release = SuppressEntries(
                private=sorted(PRIVATE), confidence=float(DELTA), min_support=GAMMA, blanking_factor=1, search=search
            ).protect(table)
            table_row[f"blanked_by_{search}"] = len(release.details["derived"])
        rows.append(table_row)
    return rows


def _statements(rows: list[dict[str, Any]]) -> tuple[Statement, ...]:
    """One line an example: whether all its numbers come out of Table 1 as printed."""
    statements = []
    for example, group in groupby(rows, key=lambda row: str(row["example"])):
        of_example = list(group)
        printed_rows = [row for row in of_example if not row["what"].endswith(_MENDED_IAN)]
        same_count = sum(row["same"] for row in printed_rows)
        mended_count = sum(row["same"] for row in of_example if "(Ian F)" not in row["what"])
        paper_result = f"Example {example}: {count_noun(len(printed_rows), 'number')}"
        reason = f"Table 1 prints Ian as F; with Ian as M {mended_count} of {len(printed_rows)} are the same."
        statements.append(
            Statement(paper_result, f"{same_count} of them the same", same_count == len(printed_rows), reason)
        )
    return tuple(statements)
