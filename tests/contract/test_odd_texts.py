# SPDX-License-Identifier: MIT
"""Texts that no example has, texts that are almost the right ones, and limits that nothing reaches.

A method protects odd texts or refuses them; its checks tell "a1" from "A1" and "01" from "1"; a refusal that a field of
extreme size causes tells no cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.change_kinds import CellDifference
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.release import Claim
from tests.contract.claim_words import list_words
from tests.contract.examples import Example
from tests.contract.releases import Made, make_all, make_once
from tests.contract.test_each_column import UNBOUND, breaks
from tests.contract.test_odd_tables import CURES, find_fault, put_column, take_example, try_release
from tests.contract.test_refusals import TABLES, choose_columns, find_told_cell, list_odd_cells, put_odd_cell

parametrize_examples = pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
each_kind = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
ODD_TEXTS = (
    "", " ", " a1 ", "a1", "A1", "0123", "123", "two\nlines", "Äöß 東", "x" * 60, "*1", "a,b", 'quo"ted', "[1, 2]",
    "NA",
)  # fmt: skip
"""Empty, with blanks around, alike but for case and zeros, over two lines, beyond ASCII, long, like other labels."""


def put_odd_texts(table: sf.Table, name: str) -> sf.Table:
    """The table with odd texts in a column, each so often that it is not rare."""
    odd = [text for text in ODD_TEXTS for _ in range(max(3, len(table) // len(ODD_TEXTS)))][: len(table)]
    return put_column(table, pl.Series(name, [*odd, *table.frame[name].to_list()[len(odd) :]], dtype=pl.String))


def explain_odd_texts(example: Example, name: str) -> str:
    """What is wrong if a column holds odd texts, with the cure; empty if nothing is."""
    table = put_odd_texts(make_once(example).data, name)
    trial = try_release(example, table)
    fault = f"it crashes ({trial.crash})" if trial.crash else ""
    fault = find_fault(trial.release, table) if trial.release else fault
    cure = (
        "treat blanks, line breaks, letters beyond ASCII, empty and long texts like all others, or refuse them with a "
        "DataError that names the column"
    )
    return f'with texts such as " a1 ", "two\\nlines" and "Äöß" in "{name}", {fault}: {cure}' if fault else ""


@parametrize_examples
def test_odd_texts_are_protected_or_refused(example: Example) -> None:
    result = make_once(example)
    for name in choose_columns(result):
        if result.data.frame[name].dtype == pl.String:
            wrong = explain_odd_texts(example, name)
            assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_text_that_is_treated_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example, protect = take_example("group rare values"), sf.GroupRareValues.protect
    (name, *_) = example.subject.columns
    assert explain_odd_texts(example, name) == ""

    def strip(self: sf.GroupRareValues, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        stripped = release.data.frame.with_columns(pl.col(name).str.strip_chars())
        return replace(release, data=release.data.replace_frame(stripped))

    monkeypatch.setattr(sf.GroupRareValues, "protect", strip)
    assert "nothing was released" in explain_odd_texts(example, name)


# Cells that are almost right


def respell_cell(result: Made, name: str) -> Iterator[tuple[str, pl.Series]]:
    """A column of texts in which one cell has other letters, a zero or a blank more, or is no longer missing."""
    published_column, truth = result.release.data.frame[name], result.originals[name].to_list()
    if published_column.dtype != pl.String:
        return
    cells = published_column.to_list()
    known_rows = [row for row, cell in enumerate(cells) if cell]
    ways: dict[str, Callable[[str], str]] = {
        "in the other case": lambda text: text.swapcase(),
        "with a zero more": lambda text: f"0{text}",
        "with a blank more": lambda text: f"{text} ",
        "without its first sign": lambda text: text[1:],
        "without a leading zero": lambda text: text.removeprefix("0"),
        "with another last sign": lambda text: f"{text[:-1]}#",
        "as a star": lambda text: "*" if not may_be_suppressed(result, name) else text,
    }
    for words, respell in ways.items():
        row = next((row for row in reversed(known_rows) if respell(cells[row]) not in (cells[row], "")), None)
        if row is not None:
            yield f"a cell {words}", pl.Series(name, [*cells[:row], respell(cells[row]), *cells[row + 1 :]], pl.String)
    if known_rows and not result.example.subject.footprint(result.data).survives_blanks:
        yield (
            "an empty cell",
            pl.Series(name, [*cells[: known_rows[-1]], None, *cells[known_rows[-1] + 1 :]], pl.String),
        )
    missing = [row for row, cell in enumerate(truth) if cell is None and cells[row] is None]
    if known_rows and missing:
        row = missing[-1]
        yield (
            "a value in a missing cell",
            pl.Series(name, [*cells[:row], cells[known_rows[0]], *cells[row + 1 :]], pl.String),
        )


def may_be_suppressed(result: Made, name: str) -> bool:
    """Whether the column may hold stars, as its method states."""
    changes = [change for change in result.release.changes if change.column == name]
    return any(change.starred or CellDifference.SUPPRESSED in change.kind.meaning.differences for change in changes)


def find_unnoticed_text(result: Made, name: str) -> str:
    """A text beside the right one that would break no claim; empty if there is none."""
    stated_kinds = {change.kind for change in result.release.changes if change.column == name}
    if not all(kind.meaning.read_rule for kind in stated_kinds):
        return ""
    for words, forged in respell_cell(result, name):
        if not any(breaks(result, claim, forged) for claim in result.release.claims):
            return words
    return ""


def find_unnoticed_odd_text(example: Example, name: str) -> str:
    """An odd text that could be published in place of what a rule makes of it; empty if there is none."""
    table = put_odd_texts(make_once(example).data, name)
    trial = try_release(example, table)
    if trial.release is None or len(trial.release.data) != len(table):
        return ""
    result = Made(example, table, trial.release)
    stated_kinds = {change.kind for change in trial.release.changes if change.column == name}
    published_column, truth = trial.release.data.frame[name], table.frame[name].to_list()
    if (
        published_column.dtype != pl.String
        or not all(kind.meaning.read_rule for kind in stated_kinds)
        or stated_kinds & {*UNBOUND}
    ):
        return ""
    cells = published_column.to_list()
    for row in {text: row for row, text in enumerate(truth)}.values():
        other = truth[row] if truth[row] != cells[row] else f"{truth[row]}zz"
        forged = pl.Series(name, [*cells[:row], other, *cells[row + 1 :]], pl.String)
        if not any(breaks(result, claim, forged) for claim in trial.release.claims):
            return repr(other)
    return ""


@parametrize_examples
def test_an_odd_text_in_place_of_its_own_breaks_a_claim(example: Example) -> None:
    for name in choose_columns(make_once(example)) if not example.subject.by_chance else ():
        if make_once(example).data.frame[name].dtype == pl.String:
            unnoticed = find_unnoticed_odd_text(example, name)
            assert not unnoticed, (
                f'{type(example.subject).__name__}: in "{name}", {unnoticed} could be published instead of what '
                "the method makes of it, and would break no claim: let the check look at texts of any length"
            )


@each_kind
def test_a_text_beside_the_right_one_breaks_a_claim(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for change in result.release.changes if result.is_table and not kind.by_chance else ():
            unnoticed = "" if change.kind in UNBOUND else find_unnoticed_text(result, change.column)
            assert not unnoticed, (
                f'{kind.__name__}, example "{result.example.name}": in "{change.column}", {unnoticed} would break no '
                "claim: compare texts as they are, and missing cells, too"
            )


def test_a_check_that_ignores_case_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(take_example("group rare values"))
    (name, *_) = result.example.subject.columns
    assert find_unnoticed_text(result, name) == ""
    for measure in {claim.measure for claim in result.release.claims}:
        lax = replace(checks.CHECKS[measure], measure=lambda *_: 20)
        monkeypatch.setitem(checks._LOADED_CHECKS, measure, lax)
    always = result._replace(
        release=replace(
            result.release,
            claims=tuple(c.model_copy(update={"bound": "at_most", "threshold": 99}) for c in result.release.claims),
        )
    )
    assert find_unnoticed_text(always, name) == "a cell in the other case"


# Columns of a sentence


def find_unchecked_columns(result: Made, claim: Claim) -> list[str]:
    """Columns that the sentence of a claim names in quotes or in its list, and that its check is not given."""
    argument_words = {
        word for value in claim.arguments.values() for word in (value if isinstance(value, tuple) else (value,))
    }
    other_columns = [name for name in result.release.data.frame.columns if name not in argument_words]
    listed = claim.arguments.get("columns")
    if not isinstance(listed, tuple) or not any(name in claim.meaning for name in listed):
        return []
    neighbours = [f"{listed_name}, {name}" for listed_name in listed for name in other_columns] + [
        f"{name}, {listed_name}" for listed_name in listed for name in other_columns
    ]
    return [
        name
        for name in other_columns
        if f'"{name}"' in claim.meaning
        or any(pair in claim.meaning for pair in neighbours if name in pair.split(", "))
        or any(
            f"{listed_name} and {name}" in claim.meaning or f"{name} and {listed_name}" in claim.meaning
            for listed_name in listed
        )
    ]


@each_kind
def test_a_sentence_names_no_column_that_is_not_checked(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims if result.is_table else ():
            unchecked = find_unchecked_columns(result, claim)
            assert not unchecked, (
                f'{kind.__name__}, example "{result.example.name}": the meaning of the claim "{claim.property}", '
                f'"{claim.meaning}", names {unchecked}, which its check is not given: pass all columns as arguments'
            )


def test_a_column_that_is_not_checked_is_noticed() -> None:
    result = make_once(take_example("group rare values"))
    claim = result.release.claims[0]
    assert find_unchecked_columns(result, claim) == []
    columns = claim.arguments["columns"]
    assert isinstance(columns, tuple) and len(columns) == 2
    half = claim.model_copy(update={"arguments": {**claim.arguments, "columns": columns[:1]}})
    assert find_unchecked_columns(result, half) == [columns[1]]


# Fields of extreme size


def enlarge_fields(method: sf.Method) -> Iterator[tuple[str, sf.Method]]:
    """The method with one number of its policy a thousand times as large or as small, where the policy takes it."""
    fields = method.model_dump()
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or name == "seconds":
            continue
        for other in (value * 1000, value // 1000 if isinstance(value, int) else value / 1000):
            try:
                yield name, type(method).model_validate({**fields, name: other})
            except (ValidationError, sf.SfumatoError):
                continue


@parametrize_examples
def test_a_refusal_of_a_large_or_small_number_tells_no_cell(example: Example) -> None:
    result = make_once(example)
    for name in choose_columns(result)[:1]:
        for cell in list(list_odd_cells(result.data.frame[name]))[:1]:
            table = put_odd_cell(result.data, name, cell)
            everywhere = pl.Series(name, [cell.value] * len(table), table.frame[name].dtype)
            table = put_column(table, everywhere) if table.frame[name].dtype == pl.String else table
            for field, method in enlarge_fields(example.subject):
                trial = try_release(replace(example, subject=method), table)
                context = f"{type(method).__name__}, with {field} = {getattr(method, field):g}"
                assert not trial.crash, (
                    f"{context}, crashes ({trial.crash}): refuse it with an error of errors.py that says what to do"
                )
                assert not find_told_cell(trial.refusal, cell), (
                    f'{context}, tells a cell of "{name}" in a refusal ({trial.refusal}): say the column, how '
                    "many rows "
                    "have such cells, and what to do, never a value"
                )


@parametrize_examples
def test_a_refusal_of_a_large_or_small_number_says_the_cure(example: Example) -> None:
    for field, method in enlarge_fields(example.subject):
        refusal = try_release(replace(example, subject=method), make_once(example).data).refusal
        has_cure = ";" in refusal or bool(CURES & {*re.findall(r"\w+", refusal.lower())})
        assert has_cure or not refusal, (
            f"{type(method).__name__}, with {field} = {getattr(method, field):g}, does not say what to do ({refusal}): "
            f"end the refusal with the cure, as in '…; lower {field}'"
        )


def test_numbers_of_a_policy_are_enlarged() -> None:
    fields = {name for name, _ in enlarge_fields(sf.RoundNumbers(columns=("age",), step=5))}
    assert fields == {"step"}


# Words and kinds


def find_unknown_quotes(result: Made, claim: Claim) -> list[str]:
    """Words that a sentence quotes and that are neither columns nor values of the method, of the claim or of a cell."""
    names = set(result.data.frame.columns) if isinstance(result.data, sf.Table) else set()
    known_words = {*list_words(result.example.subject.model_dump(mode="json")), *list_words(dict(claim.arguments))}
    frame = result.release.data.frame if result.is_table else pl.DataFrame({"none": [""]})
    cells = frame.select(pl.all().cast(pl.String)).unpivot()["value"]
    return [
        word
        for word in re.findall(r'"([^"]*)"', claim.meaning)
        if word not in names | known_words and not bool(cells.str.contains(word, literal=True).any())
    ]


@each_kind
def test_a_sentence_quotes_what_there_is(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims:
            unknown = find_unknown_quotes(result, claim)
            assert not unknown, (
                f'{kind.__name__}, example "{result.example.name}": the meaning of the claim "{claim.property}", '
                f'"{claim.meaning}", quotes {unknown}, which is no column, no field and no published cell: write the '
                "value of the field"
            )


def test_a_word_of_another_option_is_noticed() -> None:
    result = make_once(take_example("round numbers"))
    claim = result.release.claims[0]
    assert find_unknown_quotes(result, claim) == []
    false = claim.model_copy(update={"meaning": f'{claim.meaning} Others are "hidden".'})
    assert find_unknown_quotes(result, false) == ["hidden"]


@each_kind
def test_a_whole_number_is_taken_strictly(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        fields = result.example.subject.model_dump()
        for name, value in fields.items():
            if kind.model_fields[name].annotation is int and isinstance(value, int):
                with pytest.raises((ValidationError, sf.SfumatoError)):
                    kind.model_validate({**fields, name: True})
                    pytest.fail(f"{kind.__name__}.{name} takes true as a number: write Field(..., strict=True)")


@each_kind
def test_the_utility_is_that_of_the_shape(kind: type[sf.Method]) -> None:
    profiles = ("baskets", "sequences")
    wrong = kind.gives == "table" and kind.utility in profiles
    assert not wrong, f'{kind.__name__}: utility = "{kind.utility}" is for {kind.utility}, and it takes a {kind.shape}'
