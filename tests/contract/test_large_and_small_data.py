# SPDX-License-Identifier: MIT
"""Methods and checks on large and small data: numbers of another size, narrow types, and more rows than examples have.

What holds of ages between 0 and 100 in a few hundred rows must hold of wages, of shares and of a whole register. A
limit in a check, such as a tolerance of a millionth or the first thousand rows, is seen nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from sfumato.release import Number
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_cell_types import read_again
from tests.contract.test_each_column import UNBOUND, breaks, forge_rows
from tests.contract.test_forged_cells import choose_rows, put_cell, stretch
from tests.contract.test_odd_tables import find_fault, try_release

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


# Numbers of another size


def scale_number(number: float, factor: float) -> float:
    """A number times the factor; divided by a whole number where it is below 1, so that 34 becomes 0.34 exactly."""
    return number * int(factor) if factor > 1 else number / round(1 / factor)


def scale_field(value: Any, factor: float) -> Any:
    """A field's numbers times the factor, alone, in a list or by column; None if it holds no numbers."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return scale_number(value, factor)
    if isinstance(value, Mapping) and value:
        scaled = {key: scale_field(inner, factor) for key, inner in value.items()}
        return None if None in scaled.values() else scaled
    return None


def list_scaled_methods(method: sf.Method, factor: float) -> Iterator[sf.Method]:
    """The method with other numbers in no field, in one, or in all that hold numbers per column."""
    fields = {name: scale_field(getattr(method, name), factor) for name in type(method).model_fields}
    scaled = {name: value for name, value in fields.items() if value is not None}
    by_column = {name: value for name, value in scaled.items() if isinstance(value, dict)}
    for update in ({}, by_column, *({name: value} for name, value in scaled.items() if name not in by_column)):
        try:
            yield type(method).model_validate({**method.model_dump(), **update})
        except (ValidationError, sf.SfumatoError):
            continue


def scale_column(column: pl.Series, factor: float) -> pl.Series:
    """All numbers times the factor; whole ones stay whole if it is above 1."""
    cells = [None if cell is None else scale_number(cell, factor) for cell in column]
    return pl.Series(column.name, cells, dtype=column.dtype if factor > 1 else pl.Float64)


def list_numbers(made: Made) -> list[str]:
    """Columns of numbers that the method changed without chance, and that are still numbers."""
    stated = made.release.changes if made.is_table and not made.example.subject.by_chance else ()
    names = [change.column for change in stated if change.kind not in UNBOUND and not change.trivial]
    return [
        name
        for name in names
        if made.data.frame[name].dtype.is_numeric() and made.release.data.frame[name].dtype.is_numeric()
    ]


def scale_data(made: Made, factor: float) -> sf.Table:
    """The data with other numbers in the columns of numbers that the method changes."""
    names = list_numbers(made)
    frame = made.data.frame.with_columns(scale_column(made.data.frame[name], factor) for name in names)
    trees = {name: tree for name, tree in made.data.hierarchies.items() if name not in names}
    return sf.Table.of(frame, dict(made.data.roles), trees)


def is_scaled_release(made: Made, scaled: Made, factor: float) -> bool:
    """Whether most published numbers are as many times as large: fields and data were scaled alike."""
    for name in list_numbers(made):
        before, after = (result.release.data.frame[name] for result in (made, scaled))
        if len(before) != len(after) or not after.dtype.is_numeric():
            return False
        pairs = zip(before.cast(pl.Float64).to_list(), after.cast(pl.Float64).to_list(), strict=True)
        close = [was == now if was is None or now is None else abs(now - was * factor) <= 1e-3 * abs(was * factor)
                 for was, now in pairs]  # fmt: skip
        if sum(close) < 0.9 * len(close):
            return False
    return True


@cache
def scale_example(place: int, kind: type[sf.Method], factor: float) -> Made | None:
    """An example with numbers of another size, in its data and in the fields that are in their units; None if no such
    release can be made."""
    made = make_all(kind)[place]
    if not list_numbers(made):
        return None
    data = scale_data(made, factor)
    for method in list_scaled_methods(made.example.subject, factor):
        example = replace(made.example, subject=method)
        release = try_release(example, data).release
        scaled = Made(example, data, release) if release is not None else None
        if scaled is not None and is_scaled_release(made, scaled, factor):
            return scaled
    return None


def list_wrong_cells(cell: float) -> tuple[float, ...]:
    """Numbers that are not the right one: slightly and far beside it."""
    return (cell * 1.01, cell * 0.99, stretch(cell) - 1.77 * (1 if cell >= 0 else -1), -cell)


def find_unnoticed_size(made: Made, scaled: Made, name: str) -> str:
    """The check that notices a wrong number in the example and does not notice it among numbers of another size."""
    cells, scaled_cells = (result.release.data.frame[name].cast(pl.Float64).to_list() for result in (made, scaled))
    for claim, other in zip(made.release.claims, scaled.release.claims, strict=True):
        for row in choose_rows(made, name)[-3:]:
            if not cells[row] or not scaled_cells[row]:
                continue
            pairs = zip(list_wrong_cells(cells[row]), list_wrong_cells(scaled_cells[row]), strict=True)
            for wrong, scaled_wrong in pairs:
                if breaks(made, claim, put_cell(made, name, row, wrong)) and not breaks(
                    scaled, other, put_cell(scaled, name, row, scaled_wrong)
                ):
                    return claim.measure
    return ""


SIZES = {1e-6: "a millionth", 1e6: "a million times"}


@parametrize_kinds
@pytest.mark.parametrize("factor", SIZES)
def test_a_check_notices_a_wrong_number_of_any_size(kind: type[sf.Method], factor: float) -> None:
    for place, made in enumerate(make_all(kind)[:3]):
        scaled = scale_example(place, kind, factor)
        if scaled is None:
            continue
        for name in list_numbers(made):
            measure = find_unnoticed_size(made, scaled, name)
            assert not measure, (
                f'{kind.__name__}, example "{made.example.name}": the check "{measure}" notices a wrong number in '
                f'"{name}", and not the same among numbers of {SIZES[factor]} the size: look at numbers of any size, '
                "with a tolerance in proportion to them, a few times np.spacing(np.abs(numbers)), not with a fixed one"
            )


# Decimals


def explain_decimals(made: Made) -> str:
    """What does not hold of a release of decimals, in memory or in a CSV file; empty if all holds."""
    frame = read_again(made.release.data.frame)
    words = [name for name in list_numbers(made) if not frame[name].dtype.is_numeric()]
    if words:
        return f"numbers of {words} are written with more than 15 digits, such as 0.30000000000000004, and read as text"
    written = replace(made.release, data=replace(made.release.data, frame=frame))
    return find_fault(made.release, made.data) or find_fault(written, made.data)


@parametrize_kinds
def test_claims_hold_of_decimals(kind: type[sf.Method]) -> None:
    for place, made in enumerate(make_all(kind)[:3]):
        decimal = scale_example(place, kind, 0.01)
        wrong = explain_decimals(decimal) if decimal is not None else ""
        assert not wrong, (
            f'{kind.__name__}, example "{made.example.name}": if its numbers are decimals, and the fields fit them, '
            f"{wrong}: a decimal such as 0.3 is stored as a number beside it, so compute in fractions or whole numbers "
            "of steps, and let the check allow a few times np.spacing(np.abs(numbers))"
        )


# Narrow types

NARROW_TYPES: tuple[Any, ...] = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)


def list_ends(kind: Any) -> list[int]:
    """The smallest and the largest whole number of a type."""
    return [int(end) for end in pl.select(low=kind.min(), high=kind.max()).row(0)]


def narrow_column(column: pl.Series) -> Iterator[pl.Series]:
    """Whole numbers in the narrowest types that hold them, with two cells at the type's ends; all in 32 bits."""
    is_whole = column.dtype.is_integer()
    fits = [
        kind for kind in NARROW_TYPES if is_whole and column.cast(kind, strict=False).cast(column.dtype).equals(column)
    ]
    for kind in [next((kind for kind in fits if str(kind).startswith(sign)), None) for sign in ("Int", "UInt")]:
        if kind is not None:
            yield pl.concat([column.head(-2).cast(kind), pl.Series(column.name, list_ends(kind), dtype=kind)])
    yield column.cast(pl.Float32)


def explain_narrow_type(made: Made, name: str, column: pl.Series) -> str:
    """What is wrong if a column has a narrow type, with the cure; empty if nothing is."""
    trees = {other: tree for other, tree in made.data.hierarchies.items() if other != name}
    table = sf.Table.of(made.data.frame.with_columns(column), dict(made.data.roles), trees)
    trial = try_release(made.example, table)
    fault = f"it crashes ({trial.crash})" if trial.crash else ""
    fault = find_fault(trial.release, table) if trial.release is not None else fault
    end = str(column[-1])
    if column.dtype.is_integer() and end in trial.refusal:
        fault = f"a refusal tells the number at the end of that type ({trial.refusal})"
    return fault and (
        f'if "{name}" is a column of {column.dtype}, {fault}: compute in pl.Float64 or in numbers of Python, and '
        "publish pl.Int64 or pl.Float64, since a result may lie beyond the numbers of a narrower type, or between them"
    )


@parametrize_kinds
def test_numbers_of_narrow_types_are_protected_or_refused(kind: type[sf.Method]) -> None:
    """Of the example's numbers, and of decimals: 0.1 in 32 bits is another number than in 64."""
    for place, made in enumerate(make_all(kind)[:2]):
        decimal = scale_example(place, kind, 0.01)
        for result in [made] if decimal is None or explain_decimals(decimal) else [made, decimal]:
            for name in list_changed_numbers(result)[:1]:
                for column in narrow_column(result.data.frame[name]):
                    wrong = explain_narrow_type(result, name, column)
                    assert not wrong, f'{kind.__name__}, example "{made.example.name}": {wrong}'


def list_changed_numbers(made: Made) -> list[str]:
    """Columns of numbers that the method changed, by a rule or by chance."""
    changed = [change.column for change in made.release.changes if made.is_table and not change.trivial]
    return [name for name in changed if name in made.data.frame.columns and made.data.frame[name].dtype.is_numeric()]


# More rows

MANY_ROWS = 5000


def repeat_table(table: sf.Table, times: int) -> sf.Table:
    """The rows of a table, one copy after the other."""
    return table.replace_frame(pl.concat([table.frame] * times))


def repeat_release(made: Made) -> Made:
    """A release and its originals, one copy after the other, so that there are many rows."""
    times = MANY_ROWS // len(made.release.data) + 1
    rows, size = made.release.details.trace_rows(len(made.release.data)), len(made.data)
    details = replace(made.release.details, rows=np.concatenate([rows + size * copy for copy in range(times)]))
    release = replace(made.release, data=repeat_table(made.release.data, times), details=details)
    return Made(made.example, repeat_table(made.data, times), release)


def find_unread_end(made: Made, many: Made, name: str) -> str:
    """The check that notices a cell that nobody has in the last row, and not if there are many rows; else empty."""
    last_row = max((row for row, cell in enumerate(made.release.data.frame[name]) if cell is not None), default=None)
    if last_row is None:
        return ""
    far_row = len(many.release.data) - len(made.release.data) + last_row
    for claim in made.release.claims:
        check = checks.CHECKS[claim.measure]
        is_of_cells = claim.bound != "at_least" and not check.of_groups and check.private is None
        noticed = is_of_cells and breaks(made, claim, forge_rows(made, name, range(last_row, last_row + 1)))
        if noticed and not breaks(many, claim, forge_rows(many, name, range(far_row, far_row + 1))):
            return claim.measure
    return ""


@parametrize_kinds
def test_a_check_looks_at_the_last_of_many_rows(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if made.is_table and not kind.by_chance][:2]:
        names = [change.column for change in made.release.changes if change.kind not in UNBOUND]
        many = repeat_release(made) if names else made
        for name in names[:2]:
            measure = find_unread_end(made, many, name)
            assert not measure, (
                f'{kind.__name__}, example "{made.example.name}": the check "{measure}" notices a cell of "{name}" '
                f"that nobody has in the last row, and not if there are {len(many.data)} rows: let it look at every "
                "row, however many there are"
            )


def treats_rows_alone(made: Made) -> bool:
    """Whether a rule says what becomes of a value, and each row is published as in a part of the table."""
    if not made.is_table or len(made.release.data) != len(made.data):
        return False
    size, published = len(made.data), made.release.data.frame
    stated_kinds = {change.kind for change in made.release.changes if not (change.trivial or change.is_dropped)}
    if not all(kind.meaning.read_rule for kind in stated_kinds):
        return False
    for rows in ([*range(size // 2)], [*range(size // 2, size)], [*range(0, size, 7)]):
        part = try_release(made.example, made.data.replace_frame(made.data.frame[rows])).release
        if part is None or not part.data.frame.equals(published[rows]):
            return False
    return True


def find_other_rule(made: Made) -> str:
    """A column that is published otherwise if the same rows are there many times; empty if there is none."""
    times = MANY_ROWS // len(made.data) + 1
    many_release = released(made.example, repeat_table(made.data, times))
    expected, published = repeat_table(made.release.data, times).frame, many_release.data.frame
    return next((name for name in expected.columns if not published[name].equals(expected[name])), "")


@parametrize_kinds
def test_a_method_that_treats_each_row_alone_does_so_in_a_large_table(kind: type[sf.Method]) -> None:
    if kind.by_chance or issubclass(kind, KeyedMethod) or kind.shape != "table":
        return
    for made in make_all(kind)[:3]:
        if treats_rows_alone(made):
            name = find_other_rule(made)
            assert not name, (
                f'{kind.__name__}, example "{made.example.name}": it publishes "{name}" otherwise if the same rows '
                f"are there many times ({MANY_ROWS} rows), though each row is published as if it were alone: let one "
                "rule decide, whatever the number of rows"
            )


# These tests notice what they are there for


def test_checks_that_have_a_size_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = next(made for made in make_all(sf.RoundNumbers) if made.example.name == "round numbers")
    small, large = (scale_example(0, sf.RoundNumbers, factor) for factor in SIZES)
    many = repeat_release(made)
    assert small is not None and large is not None

    def list_faults() -> list[str]:
        return [
            find_unnoticed_size(made, small, "age"),
            find_unnoticed_size(made, large, "age"),
            find_unread_end(made, many, "age"),
        ]

    def count(cells: list[Any], told: Mapping[str, Any], tolerance: float = 0.0) -> Number:
        step = told["step"]
        errors = [(abs(cell - round(cell / step) * step), 1e-9 * max(abs(cell), step)) for cell in cells]
        return sum(bool(error > (tolerance or grain)) for error, grain in errors)

    def allow_millionth(evidence: checks.Evidence, told: Mapping[str, Any]) -> Number:
        return count(evidence.published_data.frame["age"].to_list(), told, 1e-6)

    def skip_large(evidence: checks.Evidence, told: Mapping[str, Any]) -> Number:
        return count([cell for cell in evidence.published_data.frame["age"].to_list() if abs(cell) < 1e6], told)

    def skip_rows(evidence: checks.Evidence, told: Mapping[str, Any]) -> Number:
        return count(evidence.published_data.frame["age"].to_list()[:1000], told)

    assert list_faults() == ["", "", ""]
    whole = checks.CHECKS["numbers_between_steps"]
    for index, measure in enumerate((allow_millionth, skip_large, skip_rows)):
        monkeypatch.setitem(checks._LOADED_CHECKS, "numbers_between_steps", replace(whole, measure=measure))
        assert list_faults()[index] == "numbers_between_steps", measure.__name__


def test_a_method_that_keeps_a_narrow_type_or_changes_its_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, protect = make_all(sf.RoundNumbers)[0], sf.RoundNumbers.protect  # by steps of 5
    decimal = scale_example(0, sf.RoundNumbers, 0.01)
    assert decimal is not None and treats_rows_alone(made) and find_other_rule(made) == explain_decimals(decimal) == ""

    def keep_type(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        narrow = release.data.frame.with_columns(release.data.frame["age"].cast(data.frame["age"].dtype))
        return replace(release, data=release.data.replace_frame(narrow))

    def keep_many(self: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        release = protect(self, data, randomness=randomness)
        original = data.frame.select(release.data.frame.columns)
        return replace(release, data=release.data.replace_frame(original)) if len(data) > MANY_ROWS else release

    for result, kind in ((made, pl.Int8), (decimal, pl.Float32)):
        column = next(narrow for narrow in narrow_column(result.data.frame["age"]) if narrow.dtype == kind)
        assert explain_narrow_type(result, "age", column) == ""
        with monkeypatch.context() as patch:
            patch.setattr(sf.RoundNumbers, "protect", keep_type)
            assert f"a column of {column.dtype}" in explain_narrow_type(result, "age", column)
    monkeypatch.setattr(sf.RoundNumbers, "protect", keep_many)
    assert find_other_rule(made) == "age"


def test_the_examples_are_tried_on_other_sizes() -> None:
    """Else the tests above would pass because no example could be scaled."""
    scaled = {kind for kind in METHODS for factor in (0.01, *SIZES) if scale_example(0, kind, factor) is not None}
    assert {sf.RoundNumbers, sf.TopCode, sf.Microaggregate} <= scaled
    assert treats_rows_alone(make_once(next(e for e in METHOD_EXAMPLES if e.name == "round numbers")))
