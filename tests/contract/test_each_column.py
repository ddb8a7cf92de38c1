# SPDX-License-Identifier: MIT
"""A claim about several columns is checked in each of them: one column at a time is forged in a true release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise, permutations
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.change_kinds import CellDifference
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.release import Claim, Number
from tests.contract.examples import METHOD_EXAMPLES, Example, numbers
from tests.contract.releases import Made, make_all, make_once

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
UNBOUND = (ChangeKind.DRAWN, ChangeKind.CODED, ChangeKind.DROPPED, ChangeKind.KEPT)
"""Kinds of which a column may hold anything that a model or a key gives; and those that change nothing."""


def forge_column(result: Made, name: str) -> Iterator[pl.Series]:
    """The column as it was, its cells in other rows, one cell that nobody has, and such cells only."""
    assert name in result.originals.columns, (
        f'{type(result.example.subject).__name__} publishes a column "{name}" that the originals do not have: add none'
    )
    published_column, size = result.release.data.frame[name], len(result.release.data)
    if size == len(result.originals):
        yield result.originals[name]
    yield published_column.gather([*range(size // 3, size), *range(size // 3)])
    if published_column.dtype.is_numeric():
        cells = published_column.cast(pl.Float64)
        strange = cells * 7.3 + 1.77
    else:
        cells = published_column.cast(pl.String)
        strange = pl.Series(name, [f"nobody's {row}" for row in range(size)], dtype=pl.String)
    yield pl.concat([strange.head(1), cells.tail(-1)])
    yield strange


def breaks(result: Made, claim: Claim, forged: pl.Series) -> bool:
    """Whether the claim's check notices that one column is not the method's."""
    frame = result.release.data.frame
    if forged.to_list() == frame[forged.name].to_list():
        return False
    release = replace(
        result.release, data=result.release.data.replace_frame(frame.with_columns(forged)), claims=(claim,)
    )
    try:
        return not sf.check(release, result.data)[0].holds
    except (sf.SfumatoError, ValueError):  # it stops the release
        return True


def list_named_columns(result: Made, claim: Claim) -> list[tuple[str, ...]]:
    """The columns that a claim is about together, if it names several; with `column` it is about that one."""
    if "column" in claim.arguments:
        return []
    published_columns = set(result.release.data.frame.columns)
    return [
        names
        for names in claim.arguments.values()
        if isinstance(names, tuple) and len({*names} & published_columns) > 1
    ]


def find_unread(result: Made, claim: Claim, names: tuple[str, ...]) -> list[str]:
    """The columns that a claim names and its check does not look at, though it looks at others of them."""
    read = [name for name in names if any(breaks(result, claim, forged) for forged in forge_column(result, name))]
    return [name for name in names if name not in read] if read else []  # it is about all but these


def select_claims(kind: type[sf.Method]) -> list[tuple[Made, Claim, tuple[str, ...]]]:
    """For each check of a method, the claim that names the most columns."""
    widest: dict[str, tuple[Made, Claim, tuple[str, ...]]] = {}
    for result in make_all(kind):
        for claim in result.release.claims if result.is_table else ():
            for names in list_named_columns(result, claim):
                if claim.measure not in widest or len(names) > len(widest[claim.measure][2]):
                    widest[claim.measure] = result, claim, names
    return list(widest.values())


@parametrize_kinds
def test_a_check_looks_at_every_column_that_its_claim_names(kind: type[sf.Method]) -> None:
    for result, claim, names in select_claims(kind):
        unread = find_unread(result, claim, names)
        assert not unread, (
            f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" notices a forged column of '
            f"{[name for name in names if name not in unread]}, and none of {unread}: let it look at every column that "
            "it is given, or leave them out of the claim; if it does, its threshold "
            f"({claim.bound} {claim.threshold:g}) is so wide that forged cells stay within it: compute it by hand"
        )


ROWS = 8
"""In how many rows an original is put back, one at a time; the last changed row is one of them."""
CLEAR = 1e-6
"""Numbers that differ by less, as a share of their size, may be the same one written in decimals."""


def restore_cells(result: Made, name: str) -> Iterator[pl.Series]:
    """The published column with one original put back, in several rows by turns; of chance, all of them at once."""
    original, published_column = result.originals[name], result.release.data.frame[name]
    kind = pl.Float64 if original.dtype.is_numeric() and published_column.dtype.is_numeric() else pl.String
    truth, cells = original.cast(kind).to_list(), published_column.cast(kind).to_list()
    changed = [row for row in range(len(cells)) if cells[row] != truth[row]][::-1]
    if result.example.subject.by_chance:
        yield original
        return
    row_choice = dict.fromkeys(changed[:: len(changed) // ROWS + 1])
    if kind == pl.Float64:  # a check with too much tolerance misses the cell that moved the least
        moved = {row: abs(cells[row] - truth[row]) for row in changed if None not in (cells[row], truth[row])}
        clear = [row for row in moved if moved[row] > CLEAR * max(1.0, abs(truth[row]))]
        row_choice |= dict.fromkeys(sorted(clear, key=moved.__getitem__)[:1])
    for row in row_choice:
        yield pl.Series(name, [*cells[:row], truth[row], *cells[row + 1 :]], dtype=kind)


def spoil_cell(result: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: the column with a changed cell's value in place of a kept one."""
    stated_kinds = {change.kind for change in result.release.changes if change.column == name}
    published_column, truth = result.release.data.frame[name], result.originals[name].cast(pl.String).to_list()
    texts = published_column.cast(pl.String).to_list()
    kept_rows = [row for row, text in enumerate(texts) if text is not None and text == truth[row]]
    other_rows = [
        row
        for row, text in enumerate(texts)
        if text not in (truth[row], None, texts[kept_rows[-1]] if kept_rows else None)
    ]
    if kept_rows and other_rows and all(kind.meaning.read_rule for kind in stated_kinds):
        cells = published_column.to_list()
        cells[kept_rows[-1]] = cells[other_rows[0]]
        yield pl.Series(name, cells, dtype=published_column.dtype)


def nudge_cells(result: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a number or date: the ends and the middle, a little off."""
    stated_kinds = {change.kind for change in result.release.changes if change.column == name}
    published_column = result.release.data.frame[name]
    is_date = published_column.dtype == pl.Date
    if not (published_column.dtype.is_numeric() or is_date) or not all(kind.meaning.read_rule for kind in stated_kinds):
        return
    kind = pl.Date() if is_date else pl.Float64()
    cells: list[Any] = published_column.cast(kind).to_list()
    known_rows = sorted((row for row in range(len(cells)) if cells[row] is not None), key=cells.__getitem__)
    if not known_rows:
        return
    span = 0 if is_date else (cells[known_rows[-1]] - cells[known_rows[0]]) / 1000
    little: Any = timedelta(days=1) if is_date else 1.0 if published_column.dtype.is_integer() else span
    for row in dict.fromkeys([known_rows[0], known_rows[len(known_rows) // 2], known_rows[-1]]) if little else ():
        for nudged in (cells[row] - little, cells[row] + little):
            yield pl.Series(name, [*cells[:row], nudged, *cells[row + 1 :]], dtype=kind)


def exchange_neighbours(result: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: one number or date with the next other published one."""
    stated_kinds = {change.kind for change in result.release.changes if change.column == name}
    published_column = result.release.data.frame[name]
    if not all(kind.meaning.read_rule for kind in stated_kinds) or not (
        published_column.dtype.is_numeric() or published_column.dtype == pl.Date
    ):
        return
    cells, values = published_column.to_list(), published_column.drop_nulls().unique().sort().to_list()
    following = dict(pairwise(values))
    for value in dict.fromkeys([*values[:1], *values[len(values) // 2 : len(values) // 2 + 1]]):
        if value in following:
            row = cells.index(value)
            yield pl.Series(name, [*cells[:row], following[value], *cells[row + 1 :]], dtype=published_column.dtype)


def exchange_ends(result: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: the smallest original shown as the largest is, and the reverse."""
    stated_kinds = {change.kind for change in result.release.changes if change.column == name}
    cells, truth = result.release.data.frame[name].to_list(), result.originals[name].to_list()
    known_rows = sorted(
        (row for row in range(len(cells)) if None not in (cells[row], truth[row])), key=truth.__getitem__
    )
    if (
        known_rows
        and all(kind.meaning.read_rule for kind in stated_kinds)
        and cells[known_rows[0]] != cells[known_rows[-1]]
    ):
        for row, other in ((known_rows[0], known_rows[-1]), (known_rows[-1], known_rows[0])):
            forged = [*cells[:row], cells[other], *cells[row + 1 :]]
            yield pl.Series(name, forged, dtype=result.release.data.frame[name].dtype)


def crop_cell(result: Made, name: str) -> Iterator[pl.Series]:
    """Where cells are parts of texts: the column with another part of the original in one cell."""
    published_column, truth = result.release.data.frame[name], result.originals[name]
    if published_column.dtype != pl.String or truth.dtype != pl.String:
        return
    cells, texts = published_column.to_list(), truth.to_list()
    cropped = [
        row for row, cell in enumerate(cells) if cell and texts[row] and cell in texts[row] and cell != texts[row]
    ]
    for row in cropped[-1:]:
        text, size = texts[row], len(cells[row])
        for other in {text[: size + 1], text[: size - 1], text[-size:], text[:size], text[1 : size + 1]} - {
            "",
            cells[row],
        }:
            yield pl.Series(name, [*cells[:row], other, *cells[row + 1 :]], dtype=pl.String)


def test_exchanged_ends_are_tried() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    published_cells, truth = result.release.data.frame["age"].to_list(), result.originals["age"].to_list()
    changed_rows = [
        [row for row, cell in enumerate(forged_cells) if cell != published_cells[row]]
        for forged_cells in exchange_ends(result, "age")
    ]
    assert [truth[row] for rows in changed_rows for row in rows] == [min(truth), max(truth)]


def test_other_parts_of_a_text_are_tried() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    short = result.release.data.frame.with_columns(pl.col("disease").str.slice(0, 3))
    cut = result._replace(release=replace(result.release, data=result.release.data.replace_frame(short)))
    forged_texts, text = [forged[-1] for forged in crop_cell(cut, "disease")], result.originals["disease"][-1]
    assert {text[:2], text[:4], text[-3:], text[1:4]} == {*forged_texts}


def put_stars(result: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that makes no labels: the column with a * in place of the last letter of each cell that lacks one."""
    difference_sets = {change.kind.meaning.differences for change in result.release.changes if change.column == name}
    if all(CellDifference.OTHER in differences for differences in difference_sets):
        yield result.release.data.frame[name].cast(pl.String).str.replace(r"([^*])[^*]$", "${1}*")


def find_unbound(result: Made, name: str) -> str:
    """What could be published in a changed column without breaking any claim; empty if nothing."""
    published_column, size = result.release.data.frame[name], len(result.release.data)
    strange = list(forge_column(result, name))[-1]
    half = pl.concat(
        [published_column.head(size // 2).cast(strange.dtype, strict=False), strange.tail(size - size // 2)]
    )
    forgeries = [("cells that nobody has, in the last half of the rows,", half)]
    if half.dtype == pl.String:
        forgeries += [("words that nobody has, with a * in them,", series) for series in put_stars(result, name)]
    forgeries += [("an original in place of a changed cell", forged) for forged in restore_cells(result, name)]
    if not result.example.subject.by_chance:
        moved = published_column.gather([*range(size // 3, size), *range(size // 3)])
        forgeries += [
            ("its cells in other rows", moved),
            *(("a cell changed for nothing", series) for series in spoil_cell(result, name)),
            *(("a number a little beside the right one", series) for series in nudge_cells(result, name)),
            *(
                ("what the smallest original shows for the largest, or the reverse,", series)
                for series in exchange_ends(result, name)
            ),
            *(
                ("the next published value in place of the right one", series)
                for series in exchange_neighbours(result, name)
            ),
            *(("another part of the original text", series) for series in crop_cell(result, name)),
        ]
    for description, forged in forgeries:
        same = forged.to_list() == published_column.to_list()
        if not same and not any(breaks(result, claim, forged) for claim in result.release.claims):
            return description
    return ""


@parametrize_kinds
def test_every_changed_column_has_claims_that_can_break(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for change in result.release.changes if result.is_table else ():
            unbound = "" if change.kind in UNBOUND else find_unbound(result, change.column)
            assert not unbound, (
                f'{kind.__name__}, example "{result.example.name}": it changes "{change.column}", and {unbound} would '
                "break no claim: claim what it does to each column that it changes, and let the check look at every "
                "row, with no more tolerance than written numbers need"
            )


def find_other_cells(first: Made, second: Made) -> str:
    """A column of which the first release could hold what the second does, made of the same data by other fields."""
    if not (first.is_table and second.is_table) or first.example.data is not second.example.data:
        return ""
    for change in first.release.changes:
        name, rule = change.column, change.kind.meaning.read_rule
        if rule is not None and name in second.release.data.frame.columns:
            cells, other_cells = (result.release.data.frame[name] for result in (first, second))
            differ = len(cells) == len(other_cells) and cells.to_list() != other_cells.to_list()
            if differ and not any(breaks(first, claim, other_cells) for claim in first.release.claims):
                return name
    return ""


@parametrize_kinds
def test_claims_break_by_what_other_fields_give(kind: type[sf.Method]) -> None:
    """A check that uses another option than the claim's would pass what the other option gives."""
    for first, second in permutations(make_all(kind), 2):
        name = find_other_cells(first, second)
        assert not name, (
            f'{kind.__name__}: the claims of the example "{first.example.name}" hold of "{name}" as the example '
            f'"{second.example.name}" publishes it: let the claim give its check the fields that decide the cells'
        )


def test_a_check_that_ignores_an_option_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [make_once(Example(f"by {step}", sf.RoundNumbers(columns="age", step=step), numbers)) for step in (5, 10)]
    assert find_other_cells(*results) == find_other_cells(*results[::-1]) == ""
    whole = checks.CHECKS["numbers_between_steps"]
    lax = replace(whole, measure=lambda evidence, arguments: whole.measure(evidence, {**arguments, "step": 5}))
    monkeypatch.setitem(checks._LOADED_CHECKS, "numbers_between_steps", lax)
    monkeypatch.setitem(
        checks._LOADED_CHECKS, "largest_rounding", replace(checks.CHECKS["largest_rounding"], measure=lambda *_: 0)
    )
    assert find_other_cells(results[1], results[0]) == "age"


@parametrize_kinds
def test_every_kept_column_has_a_claim(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for change in result.release.changes if result.is_table else ():
            if change.kind is ChangeKind.KEPT:
                _, forged, _ = list(forge_column(result, change.column))[-3:]
                assert any(breaks(result, claim, forged) for claim in result.release.claims), (
                    f'{kind.__name__}, example "{result.example.name}": it keeps "{change.column}", and a changed cell '
                    "there would break no claim: add claim_others_kept(table, changed) of protect/claims.py, or name "
                    "every kept column in the claim that is there"
                )


def find_unseen_value(result: Made, claim: Claim, name: str) -> str:
    """How few rows may have a value that the method made, without breaking a claim that breaks if all have few."""
    published_column, truth = result.release.data.frame[name], result.originals[name].cast(pl.String).to_list()
    texts = published_column.cast(pl.String).to_list()
    made_here = Counter(text for text, was in zip(texts, truth, strict=True) if text not in (was, None))
    several = sorted(value for value in made_here if texts.count(value) > 1)
    values = several[:: len(several) // MOST_VALUES + 1]
    other_texts = [text for text in texts if text is not None and text not in made_here]
    if len(values) < 2 or not other_texts:
        return ""

    def leave_one_row(few: Collection[str]) -> pl.Series:
        cells = [other_texts[0] if text in few and text in texts[:row] else text for row, text in enumerate(texts)]
        column = pl.Series(name, cells, dtype=pl.String)
        return column.str.to_date() if published_column.dtype == pl.Date else column.cast(published_column.dtype)

    if not breaks(result, claim, leave_one_row(values)):
        return ""
    unseen = [value for value in values if not breaks(result, claim, leave_one_row([value]))]
    few = claim.bound == "at_least" and len(values) <= FEW
    return f"{len(unseen)} of the {len(values)} values" if len(unseen) == len(values) or (few and unseen) else ""


def forge_rows(result: Made, name: str, rows: range) -> pl.Series:
    """The column with cells that nobody has in some rows; where a cell is missing, nothing is put."""
    published_column, strange = result.release.data.frame[name], list(forge_column(result, name))[-1]
    cells, odd = published_column.cast(strange.dtype).to_list(), strange.to_list()
    forged = [cell if row not in rows or cell is None else odd[row] for row, cell in enumerate(cells)]
    return pl.Series(name, forged, strange.dtype)


def find_unread_rows(result: Made, claim: Claim, name: str) -> str:
    """Which rows a check does not look at: it notices forged cells at one end of a column and not at the other."""
    size = len(result.release.data)
    ends = {"first": range(size // 4), "last": range(size - size // 4, size)}
    noticed = {end: breaks(result, claim, forge_rows(result, name, rows)) for end, rows in ends.items()}
    return next((end for end in noticed if not noticed[end]), "") if any(noticed.values()) else ""


@parametrize_kinds
def test_a_check_looks_at_every_row(kind: type[sf.Method]) -> None:
    for result in make_all(kind)[:3]:
        changes = result.release.changes if result.is_table else ()
        for change in [change for change in changes if change.kind not in UNBOUND][:3]:
            for claim in result.release.claims:
                end = find_unread_rows(result, claim, change.column)
                assert not end, (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" notices '
                    "forged cells "
                    f'of "{change.column}" at one end of the table, and not in the {end} quarter of its rows: let it '
                    "look at every row"
                )


def find_unread_row(result: Made, claim: Claim, name: str) -> str:
    """Which row a check does not look at: it notices a quarter of forged cells, and not one in the first or last."""
    published_column = result.release.data.frame[name]
    known_rows = [row for row, cell in enumerate(published_column) if cell is not None]
    if not known_rows or not breaks(result, claim, forge_rows(result, name, range(len(published_column) // 4))):
        return ""
    ends = {"first": known_rows[0], "last": known_rows[-1]}
    return next(
        (end for end, row in ends.items() if not breaks(result, claim, forge_rows(result, name, range(row, row + 1)))),
        "",
    )


@parametrize_kinds
def test_a_check_notices_one_wrong_cell(kind: type[sf.Method]) -> None:
    """Where nothing is chance: what is promised of every cell, or at most, breaks by one of them."""
    for result in make_all(kind)[:3]:
        changes = result.release.changes if result.is_table and not kind.by_chance else ()
        for change in [change for change in changes if change.kind not in UNBOUND][:3]:
            for claim in result.release.claims:
                of_cells = claim.bound != "at_least" and not checks.CHECKS[claim.measure].of_groups
                end = find_unread_row(result, claim, change.column) if of_cells else ""
                assert not end, (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" notices a '
                    "quarter of "
                    f'forged cells of "{change.column}", and not one in the {end} row: let it look at every cell, and '
                    "take the worst, not a mean; only if it counts groups or rules, say of_groups=True in checks_claim"
                )


def measure_forged(result: Made, claim: Claim, forged: pl.Series) -> float:
    """What the claim's check measures if one column is forged; 0 if it refuses it."""
    data = result.release.data.replace_frame(result.release.data.frame.with_columns(forged))
    try:
        return float(sf.check(replace(result.release, data=data, claims=(claim,)), result.data)[0].measured or 0)
    except (sf.SfumatoError, ValueError):
        return 0.0


BEYOND = 1e-6
"""As a share of a limit: far more than written numbers need, far less than any tolerance that was meant."""


def find_lax_limit(result: Made, claim: Claim, name: str) -> bool:
    """Whether the check of a distance notices a cell that is far beyond its limit, and not one a little beyond it.

    A check that measures the distance as a share of the original has its limit there.
    """
    published_column, truth = result.release.data.frame[name], result.originals[name]
    is_date = published_column.dtype == truth.dtype == pl.Date
    is_limit = claim.bound in ("at_most", "below") and claim.threshold
    if not is_limit or not (is_date or truth.dtype.is_numeric()):
        return False
    kind = pl.Date() if is_date else pl.Float64()
    cells: list[Any] = published_column.cast(kind, strict=False).to_list()
    rows = [row for row, cell in enumerate(cells) if cell is not None and truth[row] is not None]
    row = next((row for row in rows if is_date or abs(truth[row]) > 2), None)
    if row is None:
        return False
    limit = float(claim.threshold)

    def move(distance: float) -> pl.Series:
        step: Any = timedelta(days=int(distance)) if is_date else distance
        return pl.Series(name, [*cells[:row], truth[row] + step, *cells[row + 1 :]], dtype=kind)

    far = 50 * limit + 50
    measured = measure_forged(result, claim, move(far))
    if not is_date and measured and abs(measured - far / abs(truth[row])) < abs(measured - far):
        limit *= abs(truth[row])
    near_distance = limit + 1 if is_date else limit + max(BEYOND * limit, CLEAR / 1000 * abs(truth[row]))
    return breaks(result, claim, move(50 * limit + 50)) and not breaks(result, claim, move(near_distance))


@parametrize_kinds
def test_a_limit_on_a_distance_is_the_limit(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        changes = result.release.changes if result.is_table and not kind.by_chance else ()
        for change in [change for change in changes if change.kind.meaning.read_rule]:
            for claim in result.release.claims:
                assert not find_lax_limit(result, claim, change.column), (
                    f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" accepts a cell of '
                    f'"{change.column}" a millionth more than {claim.threshold:g} (or that share of it) from its '
                    "original: allow no more tolerance than written numbers need, a few times np.spacing of the "
                    "numbers; a share of the distance is none. If its page shows what was measured, correct it, too"
                )


def test_a_lax_limit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(ROUNDED)
    claim = next(claim for claim in result.release.claims if claim.measure == "largest_rounding")
    assert not find_lax_limit(result, claim, "age")
    whole = checks.CHECKS[claim.measure]
    for allowance in (1.0, 0.01 * float(claim.threshold)):

        def forgive(evidence: checks.Evidence, arguments: Mapping[str, Any], allowed: float = allowance) -> Number:
            return max(float(whole.measure(evidence, arguments)) - allowed, 0.0)

        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=forgive))
        assert find_lax_limit(result, claim, "age")


def test_a_check_that_takes_a_mean_or_skips_a_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = next(claim for claim in result.release.claims if claim.measure == "kept_cells_changed")

    def list_cells(table: Any) -> list[float]:
        return list(map(float, table.frame["age"]))

    right = list_cells(result.release.data)

    def count_but_last(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return sum(
            new_cell != was for new_cell, was in zip(list_cells(evidence.published_data)[:-1], right, strict=False)
        )

    def take_mean(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        wrong = sum(new_cell != was for new_cell, was in zip(list_cells(evidence.published_data), right, strict=True))
        return round(wrong / len(right) + 0.4)

    for check, end in ((count_but_last, "last"), (take_mean, "first")):
        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(checks.CHECKS[claim.measure], measure=check))
        assert find_unread_row(result, claim, "age") == end


FEW = 2
"""As many values, such as two ends, are each looked at by a claim of a least number."""
MOST_VALUES = 5
"""Of more values, as many are tried."""


@parametrize_kinds
def test_a_check_looks_at_every_value_that_was_made(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        changes = result.release.changes if result.is_table and not kind.by_chance else ()
        for change in [change for change in changes if change.kind not in UNBOUND]:
            for claim in result.release.claims:
                if claim.arguments.get("column", change.column) == change.column:
                    unseen = find_unseen_value(result, claim, change.column)
                    assert not unseen, (
                        f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" breaks if one '
                        f'row has each value that was made of "{change.column}", and not if one row has {unseen}: let '
                        "it look at each value, and take the worst of them"
                    )


@parametrize_kinds
def test_some_example_names_two_columns(kind: type[sf.Method]) -> None:
    """With one column, nobody sees whether a check looks at the others."""
    tables = [result for result in make_all(kind) if result.is_table]
    for field in kind.model_fields:
        field_values = [getattr(result.example.subject, field) for result in tables]
        column_lists = [
            value
            for value, result in zip(field_values, tables, strict=True)
            if isinstance(value, tuple) and value and set(value) <= set(result.release.data.frame.columns)
        ]
        assert not column_lists or any(len(value) > 1 for value in column_lists), (
            f"no example of {kind.__name__} names two columns in `{field}`: add one to tests/contract/examples.py, so "
            "that each column is forged on its own"
        )


def list_other_columns(published_column: pl.Series) -> Iterator[pl.Series]:
    """What a check may meet: `*`, an empty cell and a label, as another method leaves them; any type, as files have."""
    name, size = published_column.name, len(published_column)
    yield pl.Series(name, ["*", None, "[1, 2]", *published_column.cast(pl.String).to_list()[3:]], dtype=pl.String)
    yield pl.Series(name, [row % 7 for row in range(size)])
    yield pl.Series(name, [row / 7 for row in range(size)])
    yield pl.Series(name, [date(2020, 1, 1 + row % 28) for row in range(size)])
    yield pl.Series(name, [row % 2 == 0 for row in range(size)])
    yield pl.Series(name, [f"word {row % 5}" for row in range(size)])
    yield pl.Series(name, [None] * size, dtype=pl.String)


def find_crash(result: Made, claim: Claim, name: str) -> str:
    """How a check ends that meets other cells in a column than the method's; empty if it measures or refuses them."""
    frame = result.release.data.frame
    for column in list_other_columns(frame[name]):
        data = result.release.data.replace_frame(frame.with_columns(column))
        try:
            sf.check(replace(result.release, data=data, claims=(claim,)), result.data)
        except sf.SfumatoError as error:  # `measure_claim` takes a ValueError for an argument that is missing
            if "cannot be measured" in str(error):
                return f"{error.__context__!r} on {column.dtype}"
        except Exception as crash:
            return f"{crash!r} on {column.dtype}"
    return ""


@parametrize_kinds
def test_a_check_meets_cells_of_another_method_and_of_any_type(kind: type[sf.Method]) -> None:
    checked_measures = set()
    for result in make_all(kind):
        changes = result.release.changes if result.is_table else ()
        changed = [change.column for change in changes if change.kind not in (ChangeKind.KEPT, ChangeKind.DROPPED)]
        for claim in result.release.claims if changed else ():
            if claim.measure not in checked_measures:
                checked_measures.add(claim.measure)
                crash = find_crash(result, claim, str(claim.arguments.get("column", changed[0])))
                assert not crash, (
                    f'{kind.__name__}: the check "{claim.measure}" ends in {crash} when a column has "*", empty cells, '
                    "labels, or another type, as a file may have it: decide what such cells count (`spell_cells` gives "
                    "texts of any type), or raise a DataError that names the column"
                )


def test_a_check_that_crashes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(ROUNDED)
    claim = result.release.claims[0]
    assert find_crash(result, claim, "age") == ""
    whole = checks.CHECKS[claim.measure]
    rash: list[checks.Measure] = [
        lambda evidence, _: sum(map(float, evidence.published_data.frame["age"])),
        lambda evidence, _: evidence.published_data.frame["age"].cast(pl.Float64).sum(),
    ]
    for measure in rash:
        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=measure))
        assert find_crash(result, claim, "age")


ROUNDED = Example("two columns", sf.RoundNumbers(columns=("age", "weight"), step=5), numbers)


def test_a_check_of_the_first_column_alone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(ROUNDED)
    claim = result.release.claims[0]
    assert find_unread(result, claim, ("age", "weight")) == []
    whole = checks.CHECKS[claim.measure]
    lazy = replace(
        whole,
        measure=lambda evidence, arguments: whole.measure(evidence, {**arguments, "columns": arguments["columns"][:1]}),
    )
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, lazy)
    assert find_unread(result, claim, ("age", "weight")) == ["weight"]


CAPPED = Example("both ends", sf.TopCode(columns="age", k=5, ends="both"), numbers)


@pytest.mark.parametrize("choose", [max, lambda counts: counts[0]], ids=["the largest", "the first"])
def test_a_check_of_one_end_alone_is_noticed(monkeypatch: pytest.MonkeyPatch, choose: Callable[..., int]) -> None:
    result = make_once(CAPPED)
    claim = next(claim for claim in result.release.claims if claim.measure == "rows_at_limits")
    assert find_unseen_value(result, claim, "age") == ""

    def count_rows(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return choose([int((evidence.published_data.frame["age"] == arguments[end]).sum()) for end in ("floor", "cap")])

    whole = checks.CHECKS[claim.measure]
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=count_rows))
    assert find_unseen_value(result, claim, "age") != ""


def test_a_column_without_a_claim_is_noticed() -> None:
    result = make_once(ROUNDED)
    assert find_unbound(result, "weight") == ""
    claims = tuple(claim for claim in result.release.claims if claim.measure != "numbers_between_steps")
    assert "an original" in find_unbound(result._replace(release=replace(result.release, claims=claims)), "weight")
    capped = make_once(CAPPED)
    claims = tuple(claim for claim in capped.release.claims if claim.measure != "miscoded_cells")
    assert find_unbound(capped, "age") == ""
    assert "in other rows" in find_unbound(capped._replace(release=replace(capped.release, claims=claims)), "age")
    (spoilt,) = spoil_cell(capped, "age")
    assert sum(was != new_cell for was, new_cell in zip(spoilt, capped.release.data.frame["age"], strict=True)) == 1
    assert "nobody" in find_unbound(result._replace(release=replace(result.release, claims=())), "weight")


def test_a_check_that_skips_the_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells at the largest and the smallest number, where limits are."""
    result = make_once(CAPPED)
    assert find_unbound(result, "age") == ""
    whole = checks.CHECKS["miscoded_cells"]
    ends = [result.release.data.frame["age"].min(), result.release.data.frame["age"].max()]

    def count_inside(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        rows = [
            row for row, cell in enumerate(evidence.published_data.frame["age"]) if ends[0] + 2 < cell < ends[1] - 2
        ]
        published, original = (
            table.replace_frame(table.frame[rows]) for table in (evidence.published_data, evidence.original)
        )
        return whole.measure(replace(evidence, published_data=published, original=original, rows=None), arguments)

    monkeypatch.setitem(checks._LOADED_CHECKS, "miscoded_cells", replace(whole, measure=count_inside))
    unseen = [
        cells
        for cells in nudge_cells(result, "age")
        if not any(breaks(result, c, cells) for c in result.release.claims)
    ]
    assert len(unseen) == 2 and find_unbound(result, "age") != ""


def test_a_check_with_too_much_tolerance_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(ROUNDED)
    whole = checks.CHECKS["numbers_between_steps"]

    def count_far_off(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        cells = [float(cell) for name in arguments["columns"] for cell in evidence.published_data.frame[name]]
        return sum(abs(cell - round(cell / 5) * 5) > 1.5 for cell in cells)

    monkeypatch.setitem(checks._LOADED_CHECKS, "numbers_between_steps", replace(whole, measure=count_far_off))
    assert "an original" in find_unbound(result, "age")


def test_examples_have_names_of_their_own() -> None:
    names = [example.name for example in METHOD_EXAMPLES]
    assert len(set(names)) == len(names), "two examples share a name: messages could not tell them apart"


def test_a_check_of_some_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = result.release.claims[1]
    assert find_unread_rows(result, claim, "age") == ""
    whole = checks.CHECKS[claim.measure]

    def measure_head(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        published, original = (t.replace_frame(t.frame.head(50)) for t in (evidence.published_data, evidence.original))
        return whole.measure(replace(evidence, published_data=published, original=original, rows=None), arguments)

    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=measure_head))
    assert find_unread_rows(result, claim, "age") == "last"
