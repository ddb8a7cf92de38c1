# SPDX-License-Identifier: MIT
"""Columns of dates: at the ends of the calendar, of another century, in other spellings, and words in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.protect.method import KeyedMethod
from tests.contract.examples import Example
from tests.contract.releases import Made, make_once
from tests.contract.test_each_column import UNBOUND, breaks
from tests.contract.test_missing_cells import list_changed
from tests.contract.test_odd_tables import find_fault, parametrize_examples, put_column, take_example, try_release
from tests.contract.test_public_rules import explain_wrong_rule, list_columns
from tests.contract.test_refusals import FIRST_DAY, LAST_DAY, choose_columns


class DatedTable(NamedTuple):
    """An example's table with dates in a column that the method changes."""

    example: Example
    table: sf.Table
    column: str


def find_dates(example: Example) -> DatedTable:
    """The example's own dates, or its table with dates put into a column."""
    result = make_once(example)
    date_columns = [name for name in list_changed(result) if result.data.frame[name].dtype == pl.Date]
    if date_columns:
        return DatedTable(example, result.data, date_columns[0])
    shown_columns = result.release.data.frame.columns
    name = next((name for name in choose_columns(result) if name in shown_columns), shown_columns[0])
    days = [date(1950, 1, 31) + timedelta(days=row * 37 % 20 * 633) for row in range(len(result.data))]
    return DatedTable(example, put_column(result.data, pl.Series(name, days)), name)


def explain_far_day(dated: DatedTable, day: date) -> str:
    """What is wrong if one cell is a day at an end of the calendar, with the cure; empty if nothing is."""
    example, name = dated.example, dated.column
    column = dated.table.frame[name]
    table = put_column(dated.table, pl.concat([column.head(-1), pl.Series(name, [day])]))
    trial = try_release(example, table)
    cure = f'if one cell of "{name}" is {day}: count in days, which do not overflow, or refuse it with a DataError'
    if trial.crash:
        return f"it crashes ({trial.crash}) {cure}"
    if trial.release is None:
        return ""
    fault = find_fault(trial.release, table)
    if fault:
        return f"{fault} {cure}"
    result = Made(example, table, trial.release)
    kind = next(change.kind for change in trial.release.changes if change.column == name)
    if example.subject.by_chance or isinstance(example.subject, KeyedMethod) or kind in UNBOUND:
        return ""
    originals, published_column = result.originals[name].to_list(), trial.release.data.frame[name]
    for row in [row for row, was in enumerate(originals) if was == day and str(published_column[row]) != str(day)]:
        cells = published_column.to_list()
        cells[row] = day if published_column.dtype == pl.Date else str(day)
        forged = pl.Series(name, cells, dtype=published_column.dtype)
        if not any(breaks(result, claim, forged) for claim in trial.release.claims):
            return (
                f'if one cell of "{name}" is {day}, the original in its place breaks no claim: let the check compare '
                "days at both ends of the calendar, without overflow and without leaving them out"
            )
    return ""


@parametrize_examples
def test_days_at_the_ends_of_the_calendar_are_protected_or_refused(example: Example) -> None:
    dated = find_dates(example)
    for day in (FIRST_DAY, LAST_DAY):
        wrong = explain_far_day(dated, day)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_day_that_no_claim_is_about_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    dated, protect = find_dates(take_example("microaggregate")), sf.Microaggregate.protect
    assert explain_far_day(dated, LAST_DAY) == ""

    def claim_nothing(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        return replace(protect(self, data, randomness=randomness), claims=())

    def overflow(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        assert data.frame[dated.column].max() + timedelta(days=1)  # type: ignore[operator]
        return protect(self, data, randomness=randomness)

    def show(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        return replace(release, data=release.data.replace_frame(data.frame.select(release.data.frame.columns)))

    for way, words in ((claim_nothing, "breaks no claim"), (overflow, "OverflowError"), (show, "does not hold")):
        monkeypatch.setattr(sf.Microaggregate, "protect", way)
        assert words in explain_far_day(dated, LAST_DAY)


SPELLINGS = {"%Y-%m-%d": "-", "%d.%m.%Y": ".", "%m/%d/%Y": "/"}
"""Ways to write a date, and what stands between its numbers."""
DATE = re.compile(r"\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})\b")


def explain_spelling(dated: DatedTable, spelling: str, *, is_holed: bool = False) -> str:
    """What is wrong if dates are text of a spelling, some of them missing, with the cure; empty if nothing is."""
    name, texts = dated.column, dated.table.frame[dated.column].dt.strftime(spelling)
    if is_holed:
        is_known = pl.Series([row % 4 != 1 for row in range(len(texts))])
        texts = texts.zip_with(is_known, pl.Series([None], dtype=pl.String))
    table = put_column(dated.table, texts)
    trial = try_release(dated.example, table)
    example_text = date(2020, 1, 31).strftime(spelling)
    cure = (
        f'if "{name}" holds text such as {example_text}: read it by data/cells/moments_in_text.py, write it as it was, '
        "or refuse it with a DataError"
    )
    if trial.crash:
        return f"it crashes ({trial.crash}) {cure}"
    if trial.release is None:
        return ""
    cells = trial.release.data.frame[name].cast(pl.String).drop_nulls().unique().sort()
    signs = {sign for cell in cells for day in DATE.findall(cell) for sign in re.sub(r"\d", "", day)}
    if signs - {SPELLINGS[spelling]}:
        return f"it publishes dates of another spelling, with {sorted(signs)}, {cure}"
    if fault := find_fault(trial.release, table):
        return f"{fault} {cure}; the check and `read_rule` of its kind of change read such text, too"
    columns = list_columns([Made(dated.example, table, trial.release)])
    return next((wrong for column in columns if column.name == name and (wrong := explain_wrong_rule(column))), "")


@parametrize_examples
def test_dates_in_text_keep_their_spelling(example: Example) -> None:
    dated = find_dates(example)
    for spelling in SPELLINGS:
        wrong = explain_spelling(dated, spelling)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"
    wrong = explain_spelling(dated, "%d.%m.%Y", is_holed=True)
    assert not wrong, f"{type(example.subject).__name__}: where some dates are missing, {wrong}"


def test_another_spelling_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    dated, protect = find_dates(take_example("microaggregate")), sf.Microaggregate.protect
    assert [explain_spelling(dated, spelling) for spelling in SPELLINGS] == ["", "", ""]

    def respell(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        days = release.data.frame[dated.column].str.to_date("%d.%m.%Y").dt.strftime("%Y-%m-%d")
        return replace(release, data=release.data.replace_frame(release.data.frame.with_columns(days)))

    def read(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        assert data.frame[dated.column].str.to_date("%Y-%m-%d").count()
        return protect(self, data, randomness=randomness)

    monkeypatch.setattr(sf.Microaggregate, "protect", respell)
    assert "of another spelling, with ['-']" in explain_spelling(dated, "%d.%m.%Y")
    monkeypatch.setattr(sf.Microaggregate, "protect", read)
    assert "it crashes (InvalidOperationError" in explain_spelling(dated, "%d.%m.%Y")


def test_missing_dates_in_text_that_are_filled_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    dated, protect = find_dates(take_example("group rare values")), sf.GroupRareValues.protect
    assert explain_spelling(dated, "%d.%m.%Y", is_holed=True) == ""

    def fill(self: sf.GroupRareValues, data: sf.Table, randomness: Any = None) -> sf.Release:
        filled = data.frame[dated.column].fill_null(strategy="forward")
        return protect(self, data.replace_frame(data.frame.with_columns(filled)), randomness=randomness)

    monkeypatch.setattr(sf.GroupRareValues, "protect", fill)
    assert "is not what happened to it" in explain_spelling(dated, "%d.%m.%Y", is_holed=True)


NO_RULE = (*UNBOUND, ChangeKind.SWAPPED)
"""Kinds of which a cell may hold anything that a model, a key or another row gives."""


def release_dates(dated: DatedTable) -> Made | None:
    """A release of dates whose claims say what a date can become; None if it refuses them, or chance decides."""
    release = try_release(dated.example, dated.table).release
    if release is None or dated.column not in release.data.frame.columns:
        return None
    kind = next(change.kind for change in release.changes if change.column == dated.column)
    is_drawn = dated.example.subject.by_chance or isinstance(dated.example.subject, KeyedMethod)
    return None if is_drawn or kind in NO_RULE else Made(dated.example, dated.table, release)


def forge_dates(result: Made, name: str) -> Iterator[tuple[str, pl.Series]]:
    """What stands in place of one published date, and the column with it."""
    texts = result.release.data.frame[name].cast(pl.String).to_list()
    row = next((row for row, text in enumerate(texts) if text is not None and DATE.fullmatch(text)), None)
    for words, cell in (("a word", "nobody's"), ("a day that no calendar has", "2001-02-30")):
        if row is not None:
            yield words, pl.Series(name, [*texts[:row], cell, *texts[row + 1 :]], dtype=pl.String)


def explain_word(dated: DatedTable) -> str:
    """What may stand in place of a date without breaking any claim, with the cure; empty if nothing may."""
    result = release_dates(dated)
    for words, forged in forge_dates(result, dated.column) if result else ():
        if result and not any(breaks(result, claim, forged) for claim in result.release.claims):
            return (
                f'{words} in place of a date of "{dated.column}" breaks no claim: let the check count every cell that '
                "is neither empty, nor `*`, nor what a date can become; `locate_moments` "
                "(data/cells/moments_in_text.py) gives None for such text"
            )
    return ""


@parametrize_examples
def test_what_is_no_date_breaks_a_claim(example: Example) -> None:
    wrong = explain_word(find_dates(example))
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def explain_early_days(dated: DatedTable) -> str:
    """What is wrong if all dates are a hundred years earlier, with the cure; empty if nothing is."""
    late = release_dates(dated)
    early_days = dated.table.frame[dated.column].dt.offset_by("-100y")
    early = release_dates(dated._replace(table=put_column(dated.table, early_days)))
    if late and early and count_changed(late, dated.column) and not count_changed(early, dated.column):
        return (
            f'the dates of "{dated.column}" are changed, and a hundred years earlier they are not: count in days, '
            "which are negative before 1970"
        )
    return ""


def count_changed(result: Made, name: str) -> int:
    """How many cells of a column are published otherwise than they were."""
    before, after = (frame[name].cast(pl.String) for frame in (result.originals, result.release.data.frame))
    return int(before.ne_missing(after).sum())


@parametrize_examples
def test_days_before_1970_are_changed_too(example: Example) -> None:
    wrong = explain_early_days(find_dates(example))
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_early_days_and_words_that_nobody_minds_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    dated, protect = find_dates(take_example("microaggregate")), sf.Microaggregate.protect
    assert (explain_word(dated), explain_early_days(dated)) == ("", "")
    result = release_dates(dated)
    assert result
    assert len([*forge_dates(result, dated.column)]) == 2
    assert count_changed(result, dated.column)

    def claim_nothing(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        return replace(protect(self, data, randomness=randomness), claims=())

    def leave_early(self: sf.Microaggregate, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        if data.frame[dated.column].max() > date(1900, 1, 1):  # type: ignore[operator]
            return release
        column = data.frame[dated.column]
        return replace(release, data=release.data.replace_frame(release.data.frame.with_columns(column)))

    monkeypatch.setattr(sf.Microaggregate, "protect", claim_nothing)
    assert "a word in place of a date" in explain_word(dated)
    monkeypatch.setattr(sf.Microaggregate, "protect", leave_early)
    assert "a hundred years earlier" in explain_early_days(dated)
