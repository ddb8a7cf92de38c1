# SPDX-License-Identifier: MIT
"""Each check by itself notices what it is there for in any cell: of other signs, infinite, words, a hair beside.

That some claim of a method breaks is not enough: the claim that needs the originals would hide that the one that
anybody can check looks away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import copysign, inf
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.change_kinds import CellDifference
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.release import Claim, Number
from tests.contract.examples import Example, numbers
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_each_column import UNBOUND, breaks, forge_column
from tests.contract.test_missing_cells import remove_cells
from tests.contract.test_other_numbers import lower_numbers, make_with

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
HAIR = 1e-4
"""As a share of a number: far more than the error of one that was computed and written, far less than any tolerance."""
TRIED = 6
"""In how many rows a cell is forged, one at a time."""


def list_number_columns(result: Made) -> list[str]:
    """Columns of numbers that the method changed by a rule that says what becomes of each number."""
    if not result.is_table or result.example.subject.by_chance:
        return []
    return [
        change.column
        for change in result.release.changes
        if change.kind not in UNBOUND
        and change.kind.meaning.read_rule
        and result.release.data.frame[change.column].dtype.is_numeric()
        and result.originals[change.column].dtype.is_numeric()
    ]


def put_cell(result: Made, name: str, row: int, cell: Any) -> pl.Series:
    """The published column with another cell in one row; a word makes it a column of text."""
    kind = pl.String() if isinstance(cell, str) else pl.Float64()
    cells = result.release.data.frame[name].cast(kind).to_list()
    return pl.Series(name, [*cells[:row], cell, *cells[row + 1 :]], dtype=kind)


def choose_rows(result: Made, name: str, sign: int = 0) -> list[int]:
    """Some rows with a published number, of a sign if one is asked for."""
    cells = result.release.data.frame[name].to_list()
    rows = [row for row, cell in enumerate(cells) if cell is not None and (not sign or cell * sign > 0)]
    return rows[:: len(rows) // TRIED + 1]


def list_claims_of_cells(result: Made) -> Iterator[Claim]:
    """Claims that in no cell something is otherwise."""
    return (claim for claim in result.release.claims if claim.bound == "exactly" and claim.threshold == 0)


def stretch(number: float) -> float:
    """A number that nobody has, of the same sign and farther from zero."""
    return number * 7.3 + (1.77 if number >= 0 else -1.77)


def find_blind_sign(result: Made, claim: Claim, name: str) -> str:
    """The sign of numbers at which a check does not look: it notices such cells of the other sign."""
    cells = result.release.data.frame[name].cast(pl.Float64).to_list()
    noticed = {
        word: [breaks(result, claim, put_cell(result, name, row, stretch(cells[row]))) for row in rows]
        for word, sign in (("negative", -1), ("positive", 1))
        if (rows := choose_rows(result, name, sign))
    }
    if len(noticed) < 2 or not any(map(all, noticed.values())):
        return ""
    return next((word for word, verdicts in noticed.items() if not any(verdicts)), "")


@parametrize_kinds
def test_each_check_looks_at_negative_numbers(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        lower = make_with(result, lower_numbers)
        for name in list_number_columns(lower) if lower else []:
            change = next(statement for statement in result.release.changes if statement.column == name)
            if lower is None or change.kind.meaning.most_new_values is not None:
                continue  # a cap is about one side
            for claim in list_claims_of_cells(lower):
                blind = find_blind_sign(lower, claim, name)
                assert not blind, (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" notices a wrong '
                    f'number in "{name}", and no {blind} one: let it count {blind} numbers as others, even if another '
                    "claim breaks by them"
                )


def list_odd_cells(number: float) -> dict[str, Any]:
    """Words → what may stand in place of a number and is none, or none that a rule gives."""
    return {"infinity": copysign(inf, number), "a word": "nobody's", "a label of a range": "[5, 10]"}


def find_unseen_cell(result: Made, claim: Claim, name: str) -> str:
    """What a check does not count, though it counts a wrong number in the same row; empty if it counts all."""
    cells = result.release.data.frame[name].cast(pl.Float64).to_list()
    for row in choose_rows(result, name)[:1]:
        if breaks(result, claim, put_cell(result, name, row, stretch(cells[row]))):
            odd_cells = list_odd_cells(cells[row])
            return next((words for words, odd in odd_cells.items() if not breaks_at(result, claim, name, row, odd)), "")
    return ""


def breaks_at(result: Made, claim: Claim, name: str, row: int, cell: Any) -> bool:
    """Whether a claim breaks by one cell."""
    return breaks(result, claim, put_cell(result, name, row, cell))


def list_limits_of_cells(result: Made) -> Iterator[Claim]:
    """Claims that something is so in no cell, or in every cell at most as far as a limit."""
    for claim in result.release.claims:
        is_distance = claim.bound in ("at_most", "below") and claim.needs_original
        if is_distance and not checks.CHECKS[claim.measure].of_groups:
            yield claim
    yield from list_claims_of_cells(result)


@parametrize_kinds
def test_each_check_counts_what_is_no_number(kind: type[sf.Method]) -> None:
    """Else a column of words would pass as numbers for whoever has no originals, or looks at one claim."""
    for result in make_all(kind):
        for name in list_number_columns(result):
            for claim in list_limits_of_cells(result):
                unseen = find_unseen_cell(result, claim, name)
                assert not unseen, (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" counts a wrong '
                    f'number in "{name}", and not {unseen} in the same row: count every cell that is neither empty, '
                    "nor `*`, nor a number as claimed; its distance from any number is infinite (math.inf)"
                )


@parametrize_kinds
def test_what_is_no_number_breaks_a_claim(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for name in list_number_columns(result):
            row = choose_rows(result, name)[0]
            for words, cell in list_odd_cells(result.release.data.frame[name][row]).items():
                assert any(breaks_at(result, claim, name, row, cell) for claim in result.release.claims), (
                    f'{kind.__name__}, example "{result.example.name}": {words} in one cell of "{name}", which has '
                    "numbers, breaks no claim: let the check of a claim about each cell count it"
                )


def find_hairs(result: Made, claim: Claim, name: str) -> str:
    """How far beside the right number a check notices nothing, though it notices more; empty if it notices all."""
    cells = result.release.data.frame[name].cast(pl.Float64).to_list()
    for row in [row for row in choose_rows(result, name) if cells[row]]:
        for step in (-abs(cells[row]), abs(cells[row])):
            far, near_verdict = (
                breaks_at(result, claim, name, row, cells[row] + share * step) for share in (0.01, HAIR)
            )
            if far and not near_verdict:
                return f"{HAIR:g} of its size"
    return ""


@parametrize_kinds
def test_each_check_of_cells_has_no_more_tolerance_than_written_numbers_need(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for name in list_number_columns(result):
            for claim in list_claims_of_cells(result):
                missed = find_hairs(result, claim, name)
                assert not missed, (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" notices a '
                    "number of "
                    f'"{name}" that is far beside the right one, and not one that is {missed} beside it: allow '
                    "no more than the error of written numbers, a few times np.spacing(np.abs(numbers))"
                )


@parametrize_kinds
def test_a_value_where_there_was_none_breaks_a_claim(kind: type[sf.Method]) -> None:
    """The statement of changes would stop the release; who has only the claims must notice it, too."""
    for result in make_all(kind):
        for name in list_number_columns(result):
            change = next(statement for statement in result.release.changes if statement.column == name)
            if CellDifference.FILLED in change.kind.meaning.differences:
                continue
            table = remove_cells(result.data, [name])
            try:
                holed = Made(result.example, table, released(result.example, table))
            except sf.SfumatoError:
                continue
            assert not is_filled_unnoticed(holed, name), (
                f'{kind.__name__}, example "{result.example.name}": a published value of "{name}" in a row whose '
                "original is missing breaks no claim: let a check that compares with the originals count it"
            )


def is_filled_unnoticed(result: Made, name: str) -> bool:
    """Whether a value of the release may stand where the original is missing, without breaking any claim."""
    cells = result.release.data.frame[name].to_list()
    gaps = [
        row
        for row, (new_cell, was) in enumerate(zip(cells, result.originals[name], strict=True))
        if new_cell is was is None
    ]
    known_cells = [cell for cell in cells if cell is not None]
    if not gaps or not known_cells:
        return False
    forged = pl.Series(
        name, [*cells[: gaps[0]], known_cells[0], *cells[gaps[0] + 1 :]], dtype=result.release.data.frame[name].dtype
    )
    return not any(breaks(result, claim, forged) for claim in result.release.claims)


def list_named(claim: Claim) -> set[str]:
    """All names that the arguments of a claim hold."""
    values = [value if isinstance(value, tuple | list) else (value,) for value in claim.arguments.values()]
    return {name for value in values for name in value if isinstance(name, str)}


def find_absent_column(result: Made, claim: Claim) -> str:
    """A column without which a claim that names it still holds, or whose check crashes without it."""
    frame = result.release.data.frame
    for name in sorted(list_named(claim) & set(frame.columns)):
        if not any(breaks(result, claim, forged) for forged in forge_column(result, name)):
            continue  # it is about all but this one, or about a law
        data = replace(result.release.data, frame=frame.drop(name))
        try:
            if sf.check(replace(result.release, data=data, claims=(claim,)), result.data)[0].holds:
                return name
        except sf.SfumatoError:
            continue
    return ""


@parametrize_kinds
def test_a_claim_about_a_column_that_is_absent_does_not_hold(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in [claim for claim in result.release.claims if result.is_table and not claim.needs_original]:
            absent = find_absent_column(result, claim)
            assert not absent, (
                f'{kind.__name__}, example "{result.example.name}": the claim "{claim.property}" names "{absent}", and '
                "holds of a file without that column: let the check call require_columns (measure/alignment.py)"
            )


ROUNDED = Example("two columns", sf.RoundNumbers(columns=("age", "weight"), step=5), numbers)


def test_checks_that_look_away_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(ROUNDED)
    lower = make_with(result, lower_numbers)
    claim = result.release.claims[0]
    assert lower is not None and claim.measure == "numbers_between_steps"

    def list_faults() -> list[str]:
        faults = [find_blind_sign(lower, lower.release.claims[0], "age"), find_unseen_cell(result, claim, "age")]
        return [*faults, find_hairs(result, claim, "age"), find_absent_column(result, claim)]

    def list_cells(evidence: checks.Evidence) -> list[float]:
        return list(evidence.published_data.frame["age"].cast(pl.Float64, strict=False).drop_nulls())

    def count(cells: list[float], least: float) -> Number:
        return sum(abs(cell - round(cell / 5) * 5) > least for cell in cells if abs(cell) < inf)

    def skip_negative(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return count([cell for cell in list_cells(evidence) if cell > 0], 1e-9)

    def skip_words(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return count(list_cells(evidence), 1e-9)

    def allow_more(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return count(list_cells(evidence), 0.01)

    def skip_column(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return whole.measure(
            evidence,
            {**arguments, "columns": [name for name in arguments["columns"] if name in evidence.published_data.frame]},
        )

    whole = checks.CHECKS[claim.measure]
    assert list_faults() == ["", "", "", ""]
    for index, measure in enumerate((skip_negative, skip_words, allow_more, skip_column)):
        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=measure))
        assert list_faults()[index], measure.__name__


def test_a_filled_gap_that_breaks_nothing_is_noticed() -> None:
    result = make_once(ROUNDED)
    table = remove_cells(result.data, ["age"])
    holed = Made(result.example, table, released(result.example, table))
    assert not is_filled_unnoticed(holed, "age")
    assert is_filled_unnoticed(holed._replace(release=replace(holed.release, claims=holed.release.claims[:1])), "age")
