# SPDX-License-Identifier: MIT
"""Small tables worked out by hand: a check may be wrong in the same way as its method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from sfumato.release import Finding
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import make_once

OF_PAPERS = {sf.Generalize, sf.Partition, sf.KOptimize, sf.SuppressEntries, sf.SwapConfidential}
"""Methods whose own tests and tests/golden have the tables of their papers."""
RULES = [
    kind
    for kind in METHODS
    if kind.shape == kind.gives == "table" and not (kind.by_chance or issubclass(kind, KeyedMethod))
]
WORKED = [example for example in METHOD_EXAMPLES if example.by_hand]


@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in OF_PAPERS], ids=lambda kind: kind.__name__)
def test_a_method_without_chance_is_worked_out_by_hand(kind: type[sf.Method]) -> None:
    worked = [example for example in WORKED if type(example.subject) is kind]
    assert any(cells != published for example in worked for cells, published in example.by_hand.values()), (
        f"{kind.__name__}: give one of its examples (tests/contract/examples.py) by_hand={{column: (cells, published "
        "cells)}, a small table that you work out without running anything, with cells at and beside each limit: "
        "the check may be wrong in the same way as the method; if chance decides, say by_chance = True instead"
    )


ODD_TEXTS: dict[str, Callable[[str], bool]] = {
    "an empty text": lambda text: not text,
    "one with blanks around": lambda text: text != text.strip(" "),
    "one with a line break": lambda text: "\n" in text,
    "one with letters beyond ASCII": lambda text: not text.isascii(),
    "one with a leading zero": lambda text: text.startswith("0"),
    "one of more than 20 letters": lambda text: len(text) > 20,
}


def list_lacking(worked: Sequence[Example]) -> list[str]:
    """What tables worked out by hand lack of what a rule must decide."""
    cells = [cell for example in worked for originals, _ in example.by_hand.values() for cell in originals]
    pairs = [pair for example in worked for columns in example.by_hand.values() for pair in zip(*columns, strict=False)]
    texts = [cell for cell in cells if isinstance(cell, str)]
    lacking = [] if None in cells else ["a missing cell"]
    lacking += [] if any(was == new_cell is not None for was, new_cell in pairs) else ["a cell that stays as it is"]
    return lacking + [words for words, fits in ODD_TEXTS.items() if texts and not any(map(fits, texts))]


@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in OF_PAPERS], ids=lambda kind: kind.__name__)
def test_a_table_by_hand_has_what_a_rule_must_decide(kind: type[sf.Method]) -> None:
    worked = [example for example in WORKED if type(example.subject) is kind]
    kinds = {change.kind for example in worked for change in make_once(example).release.changes}
    if any(change.meaning.read_rule for change in kinds):
        lacking = list_lacking(worked)
        assert not lacking, (
            f"{kind.__name__}: by_hand of its examples (tests/contract/examples.py) lacks {', '.join(lacking)}: add "
            "such cells, and what is published for them"
        )


def test_what_a_table_by_hand_lacks_is_noticed() -> None:
    example = next(example for example in WORKED if example.name == "group rare values")
    assert list_lacking([example]) == []
    short = replace(example, by_hand={"occupation": (["a", "b"], ["other", "other"])})
    assert list_lacking([short]) == ["a missing cell", "a cell that stays as it is", *ODD_TEXTS]


def find_difference(example: Example) -> str:
    """Which column is published otherwise than worked out by hand, or which claim breaks; empty if none."""
    data = example.data()
    frame = pl.DataFrame({name: cells for name, (cells, _) in example.by_hand.items()}, strict=False)
    hierarchies = {
        name: tree
        for name, tree in data.hierarchies.items()
        if name in frame.columns and frame[name].dtype == pl.String
    }
    table = sf.Table.of(frame, {name: data.roles[name] for name in frame.columns}, hierarchies)
    try:
        release = example.subject.protect(table, randomness=Randomness.seeded(1))
        findings = sf.check(release, table)
    except sf.DataError as error:
        return f"it refuses the table or cannot be checked on it ({error}); {ROWS}"
    if len(release.data) != len(table) and not example.subject.footprint(table).drops_rows:
        return (
            f"{len(table) - len(release.data)} of {len(table)} rows are gone: if it leaves rows out, say drops_rows in "
            "its footprint and explain_left_out, and leave the rows out of the published cells of by_hand; else keep "
            "them"
        )
    for name, (_, published) in example.by_hand.items():
        if release.data.frame[name].to_list() != published:
            return (
                f'"{name}" is published as {release.data.frame[name].to_list()}, and by hand it is {published}: repair '
                "the one that is wrong, and look whether its check is wrong in the same way"
            )
    failures = [finding for finding in findings if not finding.holds]
    return f"{explain_finding(release, table, failures[0])}" if failures else ""


ROWS = "let details.rows be the original row of each published row, counted from 0, in the order of the release"


def are_rows_right(release: sf.Release, table: sf.Table) -> bool:
    """Whether details.rows is in order, and kept columns have the cells of these original rows."""
    own_rows = list(range(len(table))) if release.details.rows is None else release.details.rows.tolist()
    kept_columns = [change.column for change in release.changes if change.kind is ChangeKind.KEPT]
    is_ascending = own_rows == sorted(own_rows) and len(own_rows) == len(release.data)
    return is_ascending and release.data.frame.select(kept_columns).equals(table.frame[own_rows].select(kept_columns))


def explain_finding(release: sf.Release, table: sf.Table, finding: Finding) -> str:
    """What a check counts in a table that is published as worked out by hand, row by row where it can."""
    own_rows = np.arange(len(table)) if release.details.rows is None else np.asarray(release.details.rows)
    if not are_rows_right(release, table):
        return f"{finding.title()} does not hold, and details.rows is {own_rows.tolist()}: {ROWS}"
    rows = []
    for row, own_row in enumerate(own_rows):
        data, details = (
            release.data.replace_frame(release.data.frame[[row]]),
            replace(release.details, rows=np.array([own_row])),
        )
        with suppress(sf.SfumatoError):
            single_release = replace(release, data=data, details=details)
            rows += [
                row
                for row_finding in sf.check(single_release, table)
                if row_finding.property == finding.property and not row_finding.holds
            ]
    cells = [release.data.frame.row(row) for row in rows]
    return (
        f"{finding.title()} does not hold (measured {finding.measured}), though all is published as by hand: its check "
        f"refuses rows {rows}, published as {cells}; repair the check (missing cells, tolerance, ties), or the "
        "threshold or the arguments of the claim"
    )


@pytest.mark.parametrize("example", WORKED, ids=lambda example: example.name)
def test_it_publishes_what_is_worked_out_by_hand(example: Example) -> None:
    wrong = find_difference(example)
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_method_and_its_check_that_are_wrong_alike_are_noticed() -> None:
    """Down instead of to the nearest: every number is still a multiple, and a check of that alone would pass."""
    example = next(example for example in WORKED if example.name == "round numbers")
    floor_example = replace(example, by_hand={"age": ([3, 41], [0, 40])})
    assert find_difference(example) == "" and "by hand it is [0, 40]" in find_difference(floor_example)
