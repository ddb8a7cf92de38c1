# SPDX-License-Identifier: MIT
"""Tables that no example has: empty columns, odd names, infinite numbers.

A method protects them or refuses them in words that help; it prints nothing, and its footprint promises what it keeps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.measure import checks
from sfumato.measure.changes import measure_changes, refuse_false_statements
from sfumato.protect import METHODS
from sfumato.protect.footprint import Footprint
from sfumato.release import Number
from sfumato.table import Missing
from tests.contract.column_pairs import pair_column
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_missing_cells import list_changed, remove_cells
from tests.contract.test_refusals import (
    TABLES,
    OddCell,
    choose_columns,
    find_told_cell,
    list_odd_cells,
    list_other_columns,
    put_odd_cell,
)
from tests.contract.test_unknown_columns import WRONG, WrongField, load

parametrize_examples = pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
each_kind = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def take_example(name: str) -> Example:
    return next(example for example in METHOD_EXAMPLES if example.name == name)


def put_column(table: sf.Table, column: pl.Series) -> sf.Table:
    """The table with other cells in a column, which its hierarchy does not know."""
    hierarchies = {name: tree for name, tree in table.hierarchies.items() if name != column.name}
    return replace(table.replace_frame(table.frame.with_columns(column)), hierarchies=MappingProxyType(hierarchies))


class Trial(NamedTuple):
    """What became of a table: a release, or a refusal, or an exception that nobody expects."""

    release: sf.Release | None = None
    refusal: str = ""
    crash: str = ""


def try_release(example: Example, table: sf.Table) -> Trial:
    """Protect a table, whatever comes of it."""
    try:
        return Trial(release=released(example, table))
    except sf.SfumatoError as refusal:
        return Trial(refusal=str(refusal))
    except Exception as crash:
        return Trial(crash=repr(crash))


def find_fault(release: sf.Release, table: sf.Table) -> str:
    """What a release says of itself and is not so: a statement or a claim; empty if there is nothing."""
    try:
        refuse_false_statements(release.changes, measure_changes(table, release.data, release.details.rows))
        failures = [finding.title() for finding in sf.check(release, table) if not finding.holds]
    except sf.SfumatoError as error:
        other_types = explain_other_types(release, table)
        return other_types or f"it cannot be checked ({error})"
    except Exception as crash:
        return f"a check crashes ({crash!r})"
    return f"{'; '.join(failures)} does not hold" if failures else ""


def explain_other_types(release: sf.Release, table: sf.Table) -> str:
    """Columns of dates and numbers that are published as another type, which no odd cell excuses; empty if none."""
    before, after = table.frame.schema, release.data.frame.schema
    turned = [
        f'"{name}" ({before[name]}) is published as {after[name]}'
        for name in after
        if before[name].is_temporal() != after[name].is_temporal() and after[name] != pl.String
    ]
    return f"{', '.join(turned)}, and no longer fits its originals: a column keeps its type" if turned else ""


# Columns without a single value


def explain_empty_column(example: Example, name: str) -> str:
    """What is wrong if all cells of a column are missing, with the cure; empty if nothing is.

    A column of a text file in which nothing stands is a column of text.
    """
    cure = "leave missing cells missing, and let checks leave them out; or refuse the column with a DataError"
    table = make_once(example).data
    for kind in dict.fromkeys([table.frame[name].dtype, pl.String()]):
        empty = table.replace_frame(table.frame.with_columns(pl.Series(name, [None] * len(table), dtype=kind)))
        trial = try_release(example, empty)
        fault = f"it crashes ({trial.crash})" if trial.crash else ""
        fault = find_fault(trial.release, empty) if trial.release else fault
        unhelpful = explain_refusal(trial.refusal, name) if trial.refusal else ""
        if fault or unhelpful:
            return f'if every cell of "{name}" is missing, {unhelpful or f"{fault}: {cure}"}'
    return ""


@parametrize_examples
def test_a_column_without_a_value_is_protected_or_refused(example: Example) -> None:
    for name in choose_columns(make_once(example)):
        wrong = explain_empty_column(example, name)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_crash_on_an_empty_column_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example, protect = take_example("round numbers"), sf.RoundNumbers.protect
    assert explain_empty_column(example, "age") == ""

    def divide(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        known_count = data.frame["age"].count()
        return protect(self, data, randomness=randomness) if 1 / known_count else protect(self, data)

    def fill(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        zeros = release.data.frame.with_columns(pl.col("age").fill_null(0))
        return replace(release, data=release.data.replace_frame(zeros))

    monkeypatch.setattr(sf.RoundNumbers, "protect", divide)
    assert "it crashes (ZeroDivisionError" in explain_empty_column(example, "age")
    monkeypatch.setattr(sf.RoundNumbers, "protect", fill)
    assert "were empty and have a value" in explain_empty_column(example, "age")


# Columns that a policy names and that cannot be protected


def list_field_columns(result: Made) -> list[str]:
    """Columns that the method's own fields name, each by a name or in a list of names, and that it changes."""
    values = [getattr(result.example.subject, field) for field in type(result.example.subject).model_fields]
    names = {
        name for value in values for name in (value if isinstance(value, tuple) else (value,)) if isinstance(name, str)
    }
    return [name for name in list_changed(result) if name in names]


def explain_skipped_words(example: Example, name: str) -> str:
    """Whether a column that a field names is published as it is if it holds words, with the cure; empty if not."""
    result = make_once(example)
    words = pl.Series(name, [f"word {row * 7 % 90}" for row in range(len(result.data))])
    table = put_column(result.data, words)
    trial = try_release(example, table)
    if (
        trial.release is None
        or trial.release.data.frame[name].to_list() != Made(example, table, trial.release).originals[name].to_list()
    ):
        return ""
    return (
        f'if "{name}", which its fields name, holds words, all of them are published as they are: refuse such a column '
        "with a DataError (`explain_no_numbers` of protect/named_columns.py), since the policy wants it protected"
    )


@parametrize_examples
def test_a_column_that_a_field_names_is_changed_or_refused(example: Example) -> None:
    for name in list_field_columns(make_once(example))[:1]:
        wrong = explain_skipped_words(example, name)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def explain_infinite_cell(example: Example, name: str) -> str:
    """What is wrong if one cell of a column is infinite, with the cure; empty if nothing is."""
    result = make_once(example)
    column = result.data.frame[name].cast(pl.Float64)
    for odd in (float("inf"), float("-inf")):
        table = put_column(result.data, pl.concat([column.head(-1), pl.Series(name, [odd])]))
        trial = try_release(example, table)
        fault = f"it crashes ({trial.crash})" if trial.crash else ""
        fault = find_fault(trial.release, table) if trial.release else fault
        if fault:
            return f'if one number of "{name}" is {odd}, {fault}: refuse it with a DataError that says how many are'
    return ""


@parametrize_examples
def test_an_infinite_number_is_protected_or_refused(example: Example) -> None:
    result = make_once(example)
    for name in [name for name in list_changed(result) if result.data.frame[name].dtype.is_numeric()][:1]:
        wrong = explain_infinite_cell(example, name)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_column_that_is_skipped_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example, protect = take_example("round numbers"), sf.RoundNumbers.protect
    assert explain_skipped_words(example, "age") == explain_infinite_cell(example, "age") == ""

    def skip(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        zeros = data.replace_frame(data.frame.with_columns(pl.lit(0).alias("age")))
        release = protect(self, zeros, randomness=randomness)
        return replace(release, data=release.data.replace_frame(release.data.frame.with_columns(data.frame["age"])))

    monkeypatch.setattr(sf.RoundNumbers, "protect", skip)
    assert "published as they are" in explain_skipped_words(example, "age")
    assert "does not hold" in explain_infinite_cell(example, "age")


# Names of columns

ODD_NAME = "Größe, ß"


def rename_value(value: Any, name: str) -> Any:
    """A field's value with the odd name in place of a column's, wherever it stands."""
    if isinstance(value, dict):
        return {rename_value(key, name): rename_value(inner, name) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rename_value(inner, name) for inner in value]
    return ODD_NAME if value == name else value


def rename_column(table: sf.Table, name: str) -> sf.Table:
    """The table with the odd name for a column; its role and its hierarchy stay."""

    def rename_keys(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
        return MappingProxyType({ODD_NAME if key == name else key: value for key, value in mapping.items()})

    return replace(
        table,
        frame=table.frame.rename({name: ODD_NAME}),
        roles=rename_keys(table.roles),
        hierarchies=rename_keys(table.hierarchies),
        labels=rename_keys(table.labels),
    )


def explain_odd_name(example: Example, name: str) -> str:
    """What is wrong if a column has the odd name, with the cure; empty if nothing is."""
    result, kind = make_once(example), type(example.subject)
    cure = (
        f'if "{name}" is called "{ODD_NAME}": take names of columns as they are; do not split, fold, translate or '
        "parse them"
    )
    subject = kind.model_validate(rename_value(example.subject.model_dump(mode="json"), name))
    table = rename_column(result.data, name)
    trial = try_release(replace(example, subject=subject), table)
    if trial.release is None:
        return f"it refuses or crashes ({trial.refusal or trial.crash}) {cure}"
    expected = result.release.data.frame.rename({name: ODD_NAME}, strict=False)
    # The name may decide what is drawn: then the other columns are compared.
    chance_columns = [ODD_NAME] if example.subject.by_chance else []
    if not trial.release.data.frame.drop(chance_columns).equals(expected.drop(chance_columns)):
        return f"it publishes something else {cure}"
    fault = find_fault(trial.release, table)
    return f"{fault} {cure}" if fault else ""


@parametrize_examples
def test_a_column_may_have_any_name(example: Example) -> None:
    for name in choose_columns(make_once(example)):
        wrong = explain_odd_name(example, name)
        assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_name_that_is_split_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example, protect = take_example("round numbers"), sf.RoundNumbers.protect
    assert explain_odd_name(example, "age") == ""

    def split(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        names = tuple(part for name in self.columns for part in name.split(", "))
        return protect(self.model_copy(update={"columns": names}), data, randomness=randomness)

    def skip(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        original_columns = [data.frame[name] for name in self.columns if not name.isascii()]
        return replace(release, data=release.data.replace_frame(release.data.frame.with_columns(original_columns)))

    monkeypatch.setattr(sf.RoundNumbers, "protect", split)
    assert "it refuses or crashes" in explain_odd_name(example, "age")
    monkeypatch.setattr(sf.RoundNumbers, "protect", skip)
    assert "it publishes something else" in explain_odd_name(example, "age")


# Words of a refusal

CURES = {
    "use", "give", "lower", "raise", "remove", "mark", "name", "set", "add", "choose", "change", "check", "convert",
    "write", "leave",
}  # fmt: skip
"""Words with which a refusal says what to do; a semicolon stands before others."""


def explain_refusal(message: str, name: str) -> str:
    """What a refusal of a column lacks, with the cure; empty if it lacks nothing."""
    if f'"{name}"' not in message:
        return f'a refusal does not name the column "{name}" ({message}): quote it, by `quote_names` of errors.py'
    if ";" not in message and not CURES & {*re.findall(r"\w+", message.lower())}:
        return (
            f"a refusal does not say what to do ({message}): end it with the cure, as in '…; use partition for dates'"
        )
    return ""


@parametrize_examples
def test_a_refusal_names_the_column_and_the_cure(example: Example) -> None:
    result = make_once(example)
    for index, name in enumerate(choose_columns(result)):
        tables = [put_odd_cell(result.data, name, cell) for cell in list_odd_cells(result.data.frame[name])]
        other_columns = list_other_columns(name, len(result.data)) if index == 0 else ()
        tables += [result.data.replace_frame(result.data.frame.with_columns(column)) for column, _ in other_columns]
        for table in (*tables, remove_cells(result.data, [name])):
            refusal = try_release(example, table).refusal
            wrong = explain_refusal(refusal, name) if refusal else ""
            assert not wrong, f"{type(example.subject).__name__}: {wrong}"


@pytest.mark.parametrize("wrong_field", WRONG, ids=str)
def test_a_refusal_of_a_column_that_is_not_there_says_the_cure(wrong_field: WrongField) -> None:
    trial = try_release(wrong_field.example, load(wrong_field.example.data))
    assert trial.refusal, (
        f'{type(wrong_field.example.subject).__name__}.{wrong_field.field}: a column "{wrong_field.column}" that is '
        f"not there is not refused ({trial.crash or 'it makes a release'}): call refuse_unpublished(data, names) of "
        "protect/named_columns.py first"
    )
    wrong = explain_refusal(trial.refusal, wrong_field.column)
    assert not wrong, f"{type(wrong_field.example.subject).__name__}.{wrong_field.field}: {wrong}"


def test_a_refusal_without_a_cure_is_noticed() -> None:
    assert explain_refusal('table: "age" holds words; give numbers', "age") == ""
    assert explain_refusal('table: "age" holds words. Convert them to numbers', "age") == ""
    assert "does not name the column" in explain_refusal("table: a column holds words; give numbers", "age")
    assert "does not say what to do" in explain_refusal('table: "age" holds words', "age")


# Words of a check


def find_telling_check(result: Made, name: str, cell: OddCell) -> str:
    """The check that crashes on a cell of a published column or tells it, with the cure; empty if there is none."""
    frame = result.release.data.frame
    words = frame[name].cast(pl.String)
    odd = pl.concat([words.head(-1), pl.Series(name, [cell.value], dtype=pl.String)])
    data = result.release.data.replace_frame(frame.with_columns(odd))
    for claim in result.release.claims:
        try:
            sf.check(replace(result.release, data=data, claims=(claim,)), result.data)
        except sf.SfumatoError as refusal:
            if find_told_cell(str(refusal), cell):
                return (
                    f'the check "{claim.measure}" tells a cell of "{name}" ({refusal}): name the column and how many '
                    "rows have such cells, never a value"
                )
            crash = refusal.__context__ if "cannot be measured" in str(refusal) else None
        except Exception as error:
            crash = error
        else:
            crash = None
        if crash is not None:
            return (
                f'the check "{claim.measure}" crashes if one cell of "{name}" is a word ({crash!r}): decide what such '
                "a cell counts, or raise a DataError that names the column"
            )
    return ""


@parametrize_examples
def test_a_check_tells_no_cell(example: Example) -> None:
    result = make_once(example)
    changed, words = list_changed(result), list(list_odd_cells(pl.Series([], dtype=pl.String)))
    for name in result.release.data.frame.columns:
        for cell in words if name in changed else words[:1]:
            wrong = find_telling_check(result, name, cell)
            assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def test_a_check_that_tells_a_cell_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result, cell = make_once(take_example("round numbers")), OddCell("zz987654321zz", ("98765432",))
    whole = checks.CHECKS["numbers_between_steps"]

    def tell(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        raise sf.DataError(f'"age" holds {evidence.published_data.frame["age"][-1]}; give numbers')

    def convert(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return float(evidence.published_data.frame["age"].cast(pl.Float64).sum())

    for measure, words in ((whole.measure, ""), (tell, "tells a cell"), (convert, "crashes")):
        monkeypatch.setitem(checks._LOADED_CHECKS, "numbers_between_steps", replace(whole, measure=measure))
        wrong = find_telling_check(result, "age", cell)
        assert words in wrong and bool(words) == bool(wrong)


# What is printed


def explain_print(example: Example, screen: pytest.CaptureFixture[str]) -> str:
    """What a method prints, with the cure; empty if nothing."""
    data = load(example.data)
    screen.readouterr()
    released(example, data)
    output = "".join(screen.readouterr())
    cure = "print nothing, as cells would end in logs; use `report_progress` (runtime/progress.py), keep solvers quiet"
    return f"it prints {output[:200]!r}: {cure}" if output else ""


@each_kind
def test_a_method_prints_nothing(kind: type[sf.Method], capfd: pytest.CaptureFixture[str]) -> None:
    example = next(example for example in METHOD_EXAMPLES if type(example.subject) is kind)
    wrong = explain_print(example, capfd)
    assert not wrong, f"{kind.__name__}: {wrong}"


@pytest.mark.parametrize("number", [1, 2])
def test_a_print_is_noticed(number: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    example, protect = take_example("round numbers"), sf.RoundNumbers.protect
    assert explain_print(example, capfd) == ""

    def write(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        os.write(number, b"43")
        return protect(self, data, randomness=randomness)

    monkeypatch.setattr(sf.RoundNumbers, "protect", write)
    assert "it prints '43'" in explain_print(example, capfd)


# Promises of a footprint


def explain_kept_rows(releases: list[Made]) -> str:
    """Why a footprint that says drops_rows is not so, with the cure; empty if it is.

    Of a table that says so, every method may leave out rows with missing cells; others do so in some example.
    """
    cure = (
        "leave `drops_rows` out of its `footprint`, or let an example leave rows out; methods fit together by it "
        "(`trace_classes`, which says it, is for methods that make classes; `trace_columns` names single columns)"
    )
    saying = [result for result in releases if result.example.subject.footprint(result.data).drops_rows]
    complete_results = [result for result in saying if result.data.missing is not Missing.DROP]
    if complete_results and all(len(result.release.data) == len(result.data) for result in complete_results):
        return f"its footprint says drops_rows, and no example leaves a row out: {cure}"
    for result in releases[:1]:
        holes = replace(remove_cells(result.data, list_changed(result)[:2], 50), missing=Missing.DROP)
        release = try_release(result.example, holes).release
        if release and result.example.subject.footprint(holes).drops_rows and len(release.data) == len(holes):
            return f'of a table with missing="drop", its footprint says drops_rows, and no row is left out: {cure}'
    return ""


def find_shown_secret(result: Made) -> str:
    """A column that the footprint says it hides, and that is published as it was; empty if there is none."""
    footprint: Footprint = result.example.subject.footprint(result.data)
    for name in sorted(footprint.hides):
        if name in result.release.data.frame.columns:
            before, after, _ = pair_column(result, name)
            known_pairs = [
                (was, new_cell) for was, new_cell in zip(before, after, strict=True) if None not in (was, new_cell)
            ]
            if known_pairs and all(was == new_cell for was, new_cell in known_pairs):
                return name
    return ""


@each_kind
def test_a_footprint_promises_what_is_so(kind: type[sf.Method]) -> None:
    releases = [result for result in make_all(kind) if result.is_table] if kind.shape == "table" else []
    wrong = explain_kept_rows(releases)
    assert not wrong, f"{kind.__name__}: {wrong}"
    for result in releases:
        name = find_shown_secret(result)
        assert not name, (
            f'{kind.__name__}, example "{result.example.name}": its footprint says that it hides "{name}", and every '
            "known cell there is as in the originals: leave `hides` out, or change the cells"
        )


def test_a_footprint_that_promises_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result, footprint = make_once(take_example("round numbers")), sf.RoundNumbers.footprint
    assert explain_kept_rows([result]) == find_shown_secret(result) == ""

    def promise(self: sf.RoundNumbers, data: sf.Table) -> Footprint:
        return replace(footprint(self, data), drops_rows=True, hides=frozenset({"age", "disease"}))

    monkeypatch.setattr(sf.RoundNumbers, "footprint", promise)
    assert "no example leaves a row out" in explain_kept_rows([result])
    assert find_shown_secret(result) == "disease"
