# SPDX-License-Identifier: MIT
"""A claim that something is so in no cell breaks by one cell, whichever it is: of methods of chance, too.

Each claim is tried by itself. What it does not notice in many cells is not its concern; what it notices in many cells,
it must notice in one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.measure import checks
from sfumato.measure.checks import CHECKS
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from sfumato.release import Claim, Number
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_each_column import UNBOUND, breaks, forge_column
from tests.contract.test_footprints import list_words
from tests.contract.test_forged_cells import list_claims_of_cells
from tests.contract.test_missing_cells import remove_cells

each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
TRIED = 8
"""In how many rows a cell is forged, one at a time, besides the ends of the table and of the values."""


def list_changed(made: Made) -> list[str]:
    """Columns whose cells the method bound by its claims."""
    stated = made.release.changes if made.is_table else ()
    return [change.column for change in stated if change.kind not in UNBOUND]


def choose_rows(made: Made, name: str) -> list[int]:
    """Rows with a known cell: the ends of the table, of the values, and some between."""
    cells = made.release.data.frame[name].to_list()
    known = [row for row, cell in enumerate(cells) if cell not in (None, "*")]
    by_value = sorted(known, key=lambda row: cells[row])
    chosen = [*known[:1], *known[-1:], *by_value[:1], *by_value[-1:], *known[:: len(known) // TRIED + 1]]
    return list(dict.fromkeys(chosen))


def forge_cells(made: Made, name: str, what: str, rows: Collection[int]) -> pl.Series:
    """The published column with cells that nobody has, that are empty, or that are another row's, in some rows."""
    shown, strange = made.release.data.frame[name], list(forge_column(made, name))[-1]
    if what == "cells that nobody has":
        cells, odd, kind = shown.cast(strange.dtype).to_list(), strange.to_list(), strange.dtype
        forged = [odd[row] if row in rows and cell is not None else cell for row, cell in enumerate(cells)]
        return pl.Series(name, forged, dtype=kind)
    cells = shown.to_list()
    known = [cell for cell in cells if cell is not None]
    for row in [row for row in rows if cells[row] is not None]:
        others = [cell for cell in (known[-1 - row % len(known)], *known) if cell != cells[row]]
        cells[row] = None if what == "empty cells" else others[0] if others else cells[row]
    return pl.Series(name, cells, dtype=shown.dtype)


def find_unseen_cell(made: Made, claim: Claim, name: str) -> str:
    """What a check notices in a quarter of a column's rows, and not in one row; empty if it notices both."""
    quarter = range(len(made.release.data) // 4)
    rows = choose_rows(made, name)
    for what in ("cells that nobody has", "empty cells", "cells of other rows") if rows else ():
        if not breaks(made, claim, forge_cells(made, name, what, quarter)):
            continue
        noticed = [breaks(made, claim, forge_cells(made, name, what, [row])) for row in rows]
        if not any(noticed) or not (all(noticed) or what == "cells of other rows"):
            if CHECKS[claim.measure].of_groups and (any(noticed) or what != "cells that nobody has"):
                continue
            return f"{what} in a quarter of the rows, and not in row {rows[noticed.index(False)]} alone"
    return ""


CURE = (
    "let it look at every cell and every group, and subtract nothing from its count; only if it counts groups or "
    "rules, of which one cell need not make another, say of_groups=True in its checks_claim"
)


@each
def test_a_claim_about_no_cell_breaks_by_one(kind: type[sf.Method]) -> None:
    for made in make_all(kind)[: None if kind.by_chance else 3]:
        for name in list_changed(made)[: 2 if kind.by_chance else 1]:
            for claim in list_claims_of_cells(made):
                unseen = find_unseen_cell(made, claim, name)
                assert not unseen, (
                    f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" notices {unseen}, in '
                    f'"{name}": {CURE}'
                )


@pytest.mark.parametrize("name", [name for name in CHECKS if CHECKS[name].of_groups])
def test_only_checks_of_groups_say_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says it is asked for less."""
    strict = replace(CHECKS[name], of_groups=False)
    monkeypatch.setitem(checks._LOADED_CHECKS, name, strict)
    claims = [
        (made, claim)
        for made in map(make_once, METHOD_EXAMPLES)
        for claim in list_claims_of_cells(made)
        if claim.measure == name
    ]
    assert any(find_unseen_cell(made, claim, column) for made, claim in claims for column in list_changed(made)), (
        f'the check "{name}" says of_groups=True, and notices every single cell: leave it out'
    )


def measure_again(made: Made, claim: Claim, published: sf.Table, original: sf.Table) -> Number | str | None:
    """What a check measures of other data, or how it refuses them."""
    try:
        return sf.check(replace(made.release, data=published, claims=(claim,)), original)[0].measured
    except (sf.SfumatoError, ValueError) as refusal:
        return type(refusal).__name__


def list_other_tables(made: Made, names: list[str]) -> Iterator[tuple[sf.Table, sf.Table]]:
    """A release and its originals, of which one has other cells in some columns."""
    published, original, size = made.release.data, made.data, len(made.data)
    for columns in zip(*(forge_column(made, name) for name in names), strict=True):
        yield published.replace_frame(published.frame.with_columns(columns)), original
    half = [*[0] * (size // 2), *range(size // 2, size)]
    for rows in ([0] * size, half, half[::-1], [*range(size // 3, size), *range(size // 3)]):
        yield published, original.replace_frame(original.frame.with_columns(original.frame.select(names)[rows]))


def find_unused_argument(made: Made, claim: Claim) -> str:
    """An argument of a claim that names columns whose cells change nothing of what its check measures; else empty.

    Where the cells of none of its columns do, there is nothing of what it counts.
    """
    check, shown = CHECKS[claim.measure], made.release.data.frame.columns
    if check.of_the_rest or check.private is not None:
        return ""  # it is about all but these; or what it compares with is not the originals
    named = {key: [name for name in shown if name in {*list_words(value)}] for key, value in claim.arguments.items()}
    right = measure_again(made, claim, made.release.data, made.data)
    used = {
        key: any(measure_again(made, claim, *tables) != right for tables in list_other_tables(made, names))
        for key, names in named.items()
        if names
    }
    return next((key for key in used if not used[key]), "") if any(used.values()) else ""


@each
def test_a_check_uses_the_columns_that_its_claim_gives_it(kind: type[sf.Method]) -> None:
    """In some example: where a method changes nothing, there is nothing to notice."""
    unused: dict[str, set[str]] = {}
    for made in [made for made in make_all(kind) if made.is_table and not issubclass(kind, KeyedMethod)]:
        for claim in list_claims_of_cells(made):
            unused.setdefault(claim.measure, set()).add(find_unused_argument(made, claim))
    for measure, arguments in unused.items():
        assert "" in arguments, (
            f'{kind.__name__}: its claims give the check "{measure}" the columns in `{min(arguments)}`, and it '
            "measures the same whatever stands in them, in the release and in the originals: let the check use them, "
            "as the sentence of the claim says, or leave them out of the claim"
        )


def exchange_gap(made: Made, name: str) -> Iterator[pl.Series]:
    """The published column with a missing cell exchanged for a known one, for several of these."""
    shown = made.release.data.frame[name]
    cells, truth = shown.to_list(), made.originals[name].to_list()
    gaps = [row for row, cell in enumerate(cells) if cell is truth[row] is None]
    for row in choose_rows(made, name) if gaps else []:
        if cells[row] != "*":
            forged = [*cells]
            forged[gaps[0]], forged[row] = cells[row], None
            yield pl.Series(name, forged, dtype=shown.dtype)


def find_moved_gap(made: Made) -> str:
    """A column in which a missing cell and a known one may change places without breaking any claim."""
    for name in list_changed(made)[:2]:
        pairs = zip(made.originals[name], made.release.data.frame[name], strict=True)
        is_answer = any(was is None is not now for was, now in pairs)  # to be missing is a value as others
        for forged in exchange_gap(made, name) if not is_answer else ():
            if not any(breaks(made, claim, forged) for claim in made.release.claims):
                return name
    return ""


@each
def test_an_empty_cell_that_changes_places_breaks_a_claim(kind: type[sf.Method]) -> None:
    """The same values are as frequent as before, and nobody sees by the values that a cell was made up."""
    for made in [made for made in make_all(kind) if list_changed(made)][: None if kind.by_chance else 3]:
        table = remove_cells(made.data, list_changed(made))
        try:
            holed = Made(made.example, table, released(made.example, table))
        except sf.SfumatoError:
            continue
        name = find_moved_gap(holed)
        assert not name, (
            f'{kind.__name__}, example "{made.example.name}": a missing cell of "{name}" may change places with a '
            "known one, and no claim breaks: let a check that compares with the originals count cells that are empty "
            "and were not, or were and are not"
        )


def count_lax(whole: checks.Check, allowed: int) -> checks.Check:
    """A check that overlooks some of what it counts."""
    return replace(whole, measure=lambda seen, told: max(whole.measure(seen, told) - allowed, 0))


def test_a_check_that_overlooks_a_cell_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "add noise, intervals"))
    claim = next(claim for claim in list_claims_of_cells(made) if claim.measure == "outside_interval")
    assert find_unseen_cell(made, claim, "age") == ""
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, count_lax(CHECKS[claim.measure], 1))
    assert "cells that nobody has" in find_unseen_cell(made, claim, "age")


def test_columns_that_a_check_does_not_use_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "swap confidential"))
    claim = next(claim for claim in made.release.claims if claim.measure == "uniques_off_share")
    assert find_unused_argument(made, claim) == ""
    whole = CHECKS[claim.measure]

    def forget_pattern(seen: checks.Evidence, told: Mapping[str, Any]) -> Number:
        return whole.measure(seen, {**told, "pattern": ["zip"]})

    claim = claim.model_copy(update={"arguments": {**claim.arguments, "pattern": ("age", "sex")}})
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=forget_pattern))
    assert find_unused_argument(made, claim) == "pattern"


def test_a_moved_gap_is_noticed() -> None:
    example = next(example for example in METHOD_EXAMPLES if example.name == "round numbers")
    table = remove_cells(example.data(), ["age"])
    made = Made(example, table, released(example, table))
    assert find_moved_gap(made) == ""
    claims = tuple(claim for claim in made.release.claims if claim.measure == "numbers_between_steps")
    assert find_moved_gap(made._replace(release=replace(made.release, claims=claims))) == "age"
