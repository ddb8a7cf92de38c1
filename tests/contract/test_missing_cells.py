# SPDX-License-Identifier: MIT
"""Cells that are missing in the originals: a method refuses them or leaves them missing, and never makes up a value.

The loss of such data is the share that its kind of change says, too: of all cells, or of those that are not empty.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.change_kinds import CellDifference
from sfumato.measure.changes import measure_changes, refuse_false_statements
from tests.contract.column_pairs import covers, pair_column
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_once, released
from tests.contract.test_refusals import list_read
from tests.contract.test_statements import explain_wrong_loss

TABLES = [example for example in METHOD_EXAMPLES if example.subject.shape == example.subject.gives == "table"]
UNTOUCHED = (ChangeKind.KEPT, ChangeKind.DROPPED)


def list_changed(result: Made) -> list[str]:
    """The columns that the method says it changed."""
    added = set(result.release.data.frame.columns) - set(result.data.frame.columns) if result.is_table else set()
    assert not added, (
        f"{type(result.example.subject).__name__} publishes {added}, which the originals do not have: add none"
    )
    return [change.column for change in result.release.changes if change.kind not in UNTOUCHED]


def remove_cells(table: sf.Table, names: list[str], step: int = 9) -> sf.Table:
    """The table without every ninth cell of each column, or another share, in other rows for each."""
    holed = []
    for index, name in enumerate(names):
        column = table.frame[name]
        mask = pl.Series([row % step != index % step for row in range(len(column))])
        holed.append(column.zip_with(mask, column.clear(len(column))))
    return table.replace_frame(table.frame.with_columns(holed))


def remove_cell(table: sf.Table, name: str, row: int) -> sf.Table:
    """The table without one cell."""
    column = table.frame[name]
    return table.replace_frame(
        table.frame.with_columns(pl.concat([column.head(row), column.clear(1), column.slice(row + 1)]))
    )


def explain_lost_gaps(release: sf.Release, table: sf.Table) -> str:
    """What became of missing cells that no statement and no claim allows, with the cure; empty if nothing did."""
    cure = (
        "let a missing cell stay missing, and let checks leave it out; or refuse the column with a DataError that says "
        "how many cells are missing"
    )
    try:
        refuse_false_statements(release.changes, measure_changes(table, release.data, release.details.rows))
        failures = [finding.title() for finding in sf.check(release, table) if not finding.holds]
    except sf.SfumatoError as error:
        return f"{error}: {cure}"
    return f"{'; '.join(failures)} does not hold: {cure}" if failures else ""


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_missing_cell_is_refused_or_stays_missing(example: Example) -> None:
    result = make_once(example)
    changed, read = list_changed(result), list_read(result)
    for names in [names for names in (changed, read) if names]:
        refuse_lost_gaps(result, remove_cells(result.data, names))


def refuse_lost_gaps(result: Made, table: sf.Table) -> None:
    """Fail if a table with missing cells is neither refused nor protected as claims and statements say."""
    example = result.example
    try:
        release = released(example, table)
    except sf.SfumatoError:
        return
    except Exception as crash:
        pytest.fail(f"it crashes where cells are missing ({crash!r}): leave them missing, or refuse with a DataError")
    always = explain_lost_gaps(result.release, result.data)
    assert not always, (
        f"{always.rsplit(': let a missing cell', 1)[0]}: it is so without missing cells, too: let state_changes name "
        "the right kind for the columns that are changed, and no others; then repair the claims that break"
    )
    wrong = explain_lost_gaps(release, table) or explain_wrong_loss(Made(example, table, release))
    assert not wrong, f"of data with missing cells: {wrong}"


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_cell_that_is_blanked_or_filled_stops_the_release(example: Example) -> None:
    """Where its kind of change allows neither, a claim or the comparison with the originals notices it."""
    result = make_once(example)
    for change in [change for change in result.release.changes if change.kind not in UNTOUCHED][:2]:
        rows, last = result.release.details.rows, len(result.release.data) - 1
        allowed, name = change.kind.meaning.differences, change.column
        cell, pair = result.release.data.frame[name][last], pair_column(result, name)
        if cell is None or all(covers(str(cell), str(value), pair.tree) for value in {*pair.before}):
            continue  # a label of all values tells nothing
        blanked = replace(result.release, data=remove_cell(result.release.data, name, last))
        holed = remove_cell(result.data, name, last if rows is None else int(rows[last]))
        for difference, release, table in (
            (CellDifference.BLANKED, blanked, result.data),
            (CellDifference.FILLED, result.release, holed),
        ):
            assert difference in allowed or explain_lost_gaps(release, table), (
                f'if one cell of "{name}" is {difference}, no claim breaks and no statement is false: let the check of '
                "its claim count such a cell"
            )


def test_a_made_up_value_is_noticed() -> None:
    example = next(candidate for candidate in TABLES if candidate.name == "round numbers")
    table = remove_cells(example.data(), ["age"])
    release = released(example, table)
    assert explain_lost_gaps(release, table) == ""
    zeros = release.data.replace_frame(release.data.frame.with_columns(pl.col("age").fill_null(0)))
    wrong = explain_lost_gaps(replace(release, data=zeros), table)
    assert (
        '"age" is stated as "rounded to multiples of a step", and 45 of 400 cells were empty and have a value' in wrong
    )
