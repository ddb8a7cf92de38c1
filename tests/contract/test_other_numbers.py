# SPDX-License-Identifier: MIT
"""Claims and their checks on numbers and rows that the examples do not have: below zero, small, and few.

A check may forget what no example holds: negative numbers, or cells a little beside the right ones. A limit may be cut
off where the data end, which nobody sees while the data reach beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.release import Claim, Number
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_claim_limits import BY_LAW, explain_strange_limit
from tests.contract.test_each_column import UNBOUND, find_unbound

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
FEW_ROWS = 40


def change_numbers(table: sf.Table, change: Callable[[pl.Series], pl.Series]) -> sf.Table:
    """The table with other numbers of the same types; their hierarchies do not know them, and are left out."""
    names = [column.name for column in table.frame.get_columns() if column.dtype.is_numeric()]
    frame = table.frame.with_columns(change(table.frame[name]).cast(table.frame[name].dtype) for name in names)
    hierarchies = {name: hierarchy for name, hierarchy in table.hierarchies.items() if name not in names}
    return sf.Table.of(frame, dict(table.roles), hierarchies)


def lower_numbers(table: sf.Table) -> sf.Table:
    """Half of all numbers are below zero."""
    return change_numbers(table, lambda column: column - column.median())


def shrink_numbers(table: sf.Table) -> sf.Table:
    """No number is far from zero: limits that are set for the originals lie beyond all of them."""
    return change_numbers(table, lambda column: column % 3 - 1 if column.dtype.is_integer() else column / 1000)


def keep_few_rows(table: sf.Table) -> sf.Table:
    """The first rows alone."""
    return table.replace_frame(table.frame.head(FEW_ROWS))


def make_with(result: Made, alter: Callable[[sf.Table], sf.Table]) -> Made | None:
    """The example on altered data; None if the method refuses them, or gives no table."""
    if not result.is_table:
        return None
    try:
        data = alter(result.data)
        return Made(result.example, data, released(result.example, data))
    except sf.SfumatoError:
        return None


@parametrize_kinds
def test_claims_can_break_where_numbers_are_negative(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        lower = make_with(result, lower_numbers)
        for change in lower.release.changes if lower else ():
            if lower and change.kind not in UNBOUND and lower.data.frame[change.column].dtype.is_numeric():
                unbound = find_unbound(lower, change.column)
                always = find_unbound(result, change.column) if unbound else ""
                assert not always, (
                    f'{kind.__name__}, example "{result.example.name}": {always} in "{change.column}" would break no '
                    "claim, whatever the sign of its numbers: test_each_column.py says what to do"
                )
                assert not unbound, (
                    f'{kind.__name__}, example "{result.example.name}": where half of the numbers of "{change.column}" '
                    f"are negative, {unbound} would break no claim: let its checks count negative numbers as others"
                )


def find_cut_limit(result: Made) -> str:
    """A threshold that changes with the data, and the reason; empty if there is none."""
    for words, alter in (("numbers are small", shrink_numbers), (f"there are {FEW_ROWS} rows", keep_few_rows)):
        other = make_with(result, alter)
        for claim in other.release.claims if other else ():
            wrong = explain_strange_limit(other, claim) if other else ""
            if wrong and claim.property not in BY_LAW.get(result.example.subject.method, ()):
                return f'where {words}, the threshold of "{claim.property}" {wrong}'
    return ""


@parametrize_kinds
def test_a_limit_is_not_cut_off_where_the_data_end(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        wrong = find_cut_limit(result)
        assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'


def take_example(name: str) -> Made:
    return make_once(next(example for example in METHOD_EXAMPLES if example.name == name))


def test_a_check_that_forgets_negative_numbers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = make_with(take_example("round numbers"), lower_numbers)
    assert lower is not None and find_unbound(lower, "age") == ""
    for claim in lower.release.claims[:2]:
        whole = checks.CHECKS[claim.measure]

        def measure_positive(
            evidence: checks.Evidence, arguments: Mapping[str, Any], measure: checks.Measure = whole.measure
        ) -> Number:
            rows = evidence.published_data.frame.with_row_index("row").filter(pl.col("age").cast(pl.Float64) > 0)["row"]
            published, original = (
                table.replace_frame(table.frame[rows.to_list()])
                for table in (evidence.published_data, evidence.original)
            )
            return measure(replace(evidence, published_data=published, original=original, rows=None), arguments)

        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=measure_positive))
    assert "an original" in find_unbound(lower, "age")


def test_a_limit_that_is_cut_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = take_example("round numbers")
    assert find_cut_limit(result) == ""
    state = sf.RoundNumbers.state_claims

    def cut_limit(self: sf.RoundNumbers, table: sf.Table) -> tuple[Claim, ...]:
        claims = state(self, table)
        most = float(table.frame["age"].abs().max())  # type: ignore[arg-type]
        return tuple(c.model_copy(update={"threshold": min(float(c.threshold), most)}) for c in claims)

    monkeypatch.setattr(sf.RoundNumbers, "state_claims", cut_limit)
    assert 'numbers are small, the threshold of "largest_rounding"' in find_cut_limit(result)


def test_the_examples_are_tried_on_other_numbers() -> None:
    """Else the tests above would pass because every method refuses."""
    examples = [result.example for result in map(make_once, METHOD_EXAMPLES) if make_with(result, lower_numbers)]
    assert {"round numbers", "top code", "microaggregate", "suppress entries"} <= {example.name for example in examples}
