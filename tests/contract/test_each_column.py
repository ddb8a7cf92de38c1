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

each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
UNBOUND = (ChangeKind.DRAWN, ChangeKind.CODED, ChangeKind.DROPPED, ChangeKind.KEPT)
"""Kinds of which a column may hold anything that a model or a key gives; and those that change nothing."""


def forge_column(made: Made, name: str) -> Iterator[pl.Series]:
    """The column as it was, its cells in other rows, one cell that nobody has, and such cells only."""
    assert name in made.originals.columns, (
        f'{type(made.example.subject).__name__} publishes a column "{name}" that the originals do not have: add none'
    )
    shown, size = made.release.data.frame[name], len(made.release.data)
    if size == len(made.originals):
        yield made.originals[name]
    yield shown.gather([*range(size // 3, size), *range(size // 3)])
    if shown.dtype.is_numeric():
        cells = shown.cast(pl.Float64)
        strange = cells * 7.3 + 1.77
    else:
        cells = shown.cast(pl.String)
        strange = pl.Series(name, [f"nobody's {row}" for row in range(size)], dtype=pl.String)
    yield pl.concat([strange.head(1), cells.tail(-1)])
    yield strange


def breaks(made: Made, claim: Claim, forged: pl.Series) -> bool:
    """Whether the claim's check notices that one column is not the method's."""
    frame = made.release.data.frame
    if forged.to_list() == frame[forged.name].to_list():
        return False
    release = replace(made.release, data=made.release.data.with_frame(frame.with_columns(forged)), claims=(claim,))
    try:
        return not sf.check(release, made.data)[0].holds
    except (sf.SfumatoError, ValueError):  # it stops the release
        return True


def list_named_columns(made: Made, claim: Claim) -> list[tuple[str, ...]]:
    """The columns that a claim is about together, if it names several; with `column` it is about that one."""
    if "column" in claim.arguments:
        return []
    shown = set(made.release.data.frame.columns)
    return [names for names in claim.arguments.values() if isinstance(names, tuple) and len({*names} & shown) > 1]


def find_unread(made: Made, claim: Claim, names: tuple[str, ...]) -> list[str]:
    """The columns that a claim names and its check does not look at, though it looks at others of them."""
    read = [name for name in names if any(breaks(made, claim, forged) for forged in forge_column(made, name))]
    return [name for name in names if name not in read] if read else []  # it is about all but these


def select_claims(kind: type[sf.Method]) -> list[tuple[Made, Claim, tuple[str, ...]]]:
    """For each check of a method, the claim that names the most columns."""
    widest: dict[str, tuple[Made, Claim, tuple[str, ...]]] = {}
    for made in make_all(kind):
        for claim in made.release.claims if made.is_table else ():
            for names in list_named_columns(made, claim):
                if claim.measure not in widest or len(names) > len(widest[claim.measure][2]):
                    widest[claim.measure] = made, claim, names
    return list(widest.values())


@each
def test_a_check_looks_at_every_column_that_its_claim_names(kind: type[sf.Method]) -> None:
    for made, claim, names in select_claims(kind):
        unread = find_unread(made, claim, names)
        assert not unread, (
            f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" notices a forged column of '
            f"{[name for name in names if name not in unread]}, and none of {unread}: let it look at every column that "
            "it is given, or leave them out of the claim; if it does, its threshold "
            f"({claim.bound} {claim.threshold:g}) is so wide that forged cells stay within it: compute it by hand"
        )


ROWS = 8
"""In how many rows an original is put back, one at a time; the last changed row is one of them."""
CLEAR = 1e-6
"""Numbers that differ by less, as a share of their size, may be the same one written in decimals."""


def restore_cells(made: Made, name: str) -> Iterator[pl.Series]:
    """The published column with one original put back, in several rows by turns; of chance, all of them at once."""
    before, shown = made.originals[name], made.release.data.frame[name]
    kind = pl.Float64 if before.dtype.is_numeric() and shown.dtype.is_numeric() else pl.String
    truth, cells = before.cast(kind).to_list(), shown.cast(kind).to_list()
    changed = [row for row in range(len(cells)) if cells[row] != truth[row]][::-1]
    if made.example.subject.by_chance:
        yield before
        return
    chosen = dict.fromkeys(changed[:: len(changed) // ROWS + 1])
    if kind == pl.Float64:  # a check with too much tolerance misses the cell that moved the least
        moved = {row: abs(cells[row] - truth[row]) for row in changed if None not in (cells[row], truth[row])}
        clear = [row for row in moved if moved[row] > CLEAR * max(1.0, abs(truth[row]))]
        chosen |= dict.fromkeys(sorted(clear, key=moved.__getitem__)[:1])
    for row in chosen:
        yield pl.Series(name, [*cells[:row], truth[row], *cells[row + 1 :]], dtype=kind)


def spoil_cell(made: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: the column with a changed cell's value in place of a kept one."""
    stated = {change.kind for change in made.release.changes if change.column == name}
    shown, truth = made.release.data.frame[name], made.originals[name].cast(pl.String).to_list()
    texts = shown.cast(pl.String).to_list()
    kept = [row for row, text in enumerate(texts) if text is not None and text == truth[row]]
    others = [
        row for row, text in enumerate(texts) if text not in (truth[row], None, texts[kept[-1]] if kept else None)
    ]
    if kept and others and all(kind.meaning.read_rule for kind in stated):
        cells = shown.to_list()
        cells[kept[-1]] = cells[others[0]]
        yield pl.Series(name, cells, dtype=shown.dtype)


def nudge_cells(made: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a number or date: the ends and the middle, a little off."""
    stated = {change.kind for change in made.release.changes if change.column == name}
    shown = made.release.data.frame[name]
    is_date = shown.dtype == pl.Date
    if not (shown.dtype.is_numeric() or is_date) or not all(kind.meaning.read_rule for kind in stated):
        return
    kind = pl.Date() if is_date else pl.Float64()
    cells: list[Any] = shown.cast(kind).to_list()
    known = sorted((row for row in range(len(cells)) if cells[row] is not None), key=cells.__getitem__)
    if not known:
        return
    span = 0 if is_date else (cells[known[-1]] - cells[known[0]]) / 1000
    little: Any = timedelta(days=1) if is_date else 1.0 if shown.dtype.is_integer() else span
    for row in dict.fromkeys([known[0], known[len(known) // 2], known[-1]]) if little else ():
        for nudged in (cells[row] - little, cells[row] + little):
            yield pl.Series(name, [*cells[:row], nudged, *cells[row + 1 :]], dtype=kind)


def exchange_neighbours(made: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: one number or date with the next other published one."""
    stated = {change.kind for change in made.release.changes if change.column == name}
    shown = made.release.data.frame[name]
    if not all(kind.meaning.read_rule for kind in stated) or not (shown.dtype.is_numeric() or shown.dtype == pl.Date):
        return
    cells, values = shown.to_list(), shown.drop_nulls().unique().sort().to_list()
    following = dict(pairwise(values))
    for value in dict.fromkeys([*values[:1], *values[len(values) // 2 : len(values) // 2 + 1]]):
        if value in following:
            row = cells.index(value)
            yield pl.Series(name, [*cells[:row], following[value], *cells[row + 1 :]], dtype=shown.dtype)


def exchange_ends(made: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that says what becomes of a value: the smallest original shown as the largest is, and the reverse."""
    stated = {change.kind for change in made.release.changes if change.column == name}
    cells, truth = made.release.data.frame[name].to_list(), made.originals[name].to_list()
    known = sorted((row for row in range(len(cells)) if None not in (cells[row], truth[row])), key=truth.__getitem__)
    if known and all(kind.meaning.read_rule for kind in stated) and cells[known[0]] != cells[known[-1]]:
        for row, other in ((known[0], known[-1]), (known[-1], known[0])):
            forged = [*cells[:row], cells[other], *cells[row + 1 :]]
            yield pl.Series(name, forged, dtype=made.release.data.frame[name].dtype)


def crop_cell(made: Made, name: str) -> Iterator[pl.Series]:
    """Where cells are parts of texts: the column with another part of the original in one cell."""
    shown, truth = made.release.data.frame[name], made.originals[name]
    if shown.dtype != pl.String or truth.dtype != pl.String:
        return
    cells, texts = shown.to_list(), truth.to_list()
    cropped = [row for row, now in enumerate(cells) if now and texts[row] and now in texts[row] and now != texts[row]]
    for row in cropped[-1:]:
        text, size = texts[row], len(cells[row])
        for other in {text[: size + 1], text[: size - 1], text[-size:], text[:size], text[1 : size + 1]} - {
            "",
            cells[row],
        }:
            yield pl.Series(name, [*cells[:row], other, *cells[row + 1 :]], dtype=pl.String)


def test_exchanged_ends_are_tried() -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    shown, truth = made.release.data.frame["age"].to_list(), made.originals["age"].to_list()
    tried = [[row for row, cell in enumerate(one) if cell != shown[row]] for one in exchange_ends(made, "age")]
    assert [truth[row] for rows in tried for row in rows] == [min(truth), max(truth)]


def test_other_parts_of_a_text_are_tried() -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    short = made.release.data.frame.with_columns(pl.col("disease").str.slice(0, 3))
    cut = made._replace(release=replace(made.release, data=made.release.data.with_frame(short)))
    tried, text = [forged[-1] for forged in crop_cell(cut, "disease")], made.originals["disease"][-1]
    assert {text[:2], text[:4], text[-3:], text[1:4]} == {*tried}


def put_stars(made: Made, name: str) -> Iterator[pl.Series]:
    """By a rule that makes no labels: the column with a * in place of the last letter of each cell that lacks one."""
    stated = {change.kind.meaning.differences for change in made.release.changes if change.column == name}
    if all(CellDifference.OTHER in differences for differences in stated):
        yield made.release.data.frame[name].cast(pl.String).str.replace(r"([^*])[^*]$", "${1}*")


def find_unbound(made: Made, name: str) -> str:
    """What could be published in a changed column without breaking any claim; empty if nothing."""
    shown, size = made.release.data.frame[name], len(made.release.data)
    strange = list(forge_column(made, name))[-1]
    half = pl.concat([shown.head(size // 2).cast(strange.dtype, strict=False), strange.tail(size - size // 2)])
    tried = [("cells that nobody has, in the last half of the rows,", half)]
    if half.dtype == pl.String:
        tried += [("words that nobody has, with a * in them,", one) for one in put_stars(made, name)]
    tried += [("an original in place of a changed cell", forged) for forged in restore_cells(made, name)]
    if not made.example.subject.by_chance:
        moved = shown.gather([*range(size // 3, size), *range(size // 3)])
        tried += [
            ("its cells in other rows", moved),
            *(("a cell changed for nothing", one) for one in spoil_cell(made, name)),
            *(("a number a little beside the right one", one) for one in nudge_cells(made, name)),
            *(
                ("what the smallest original shows for the largest, or the reverse,", one)
                for one in exchange_ends(made, name)
            ),
            *(("the next published value in place of the right one", one) for one in exchange_neighbours(made, name)),
            *(("another part of the original text", one) for one in crop_cell(made, name)),
        ]
    for what, forged in tried:
        same = forged.to_list() == shown.to_list()
        if not same and not any(breaks(made, claim, forged) for claim in made.release.claims):
            return what
    return ""


@each
def test_every_changed_column_has_claims_that_can_break(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        for change in made.release.changes if made.is_table else ():
            unbound = "" if change.kind in UNBOUND else find_unbound(made, change.column)
            assert not unbound, (
                f'{kind.__name__}, example "{made.example.name}": it changes "{change.column}", and {unbound} would '
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
            cells, other_cells = (made.release.data.frame[name] for made in (first, second))
            differ = len(cells) == len(other_cells) and cells.to_list() != other_cells.to_list()
            if differ and not any(breaks(first, claim, other_cells) for claim in first.release.claims):
                return name
    return ""


@each
def test_claims_break_by_what_other_fields_give(kind: type[sf.Method]) -> None:
    """A check that uses another option than the claim's would pass what the other option gives."""
    for first, second in permutations(make_all(kind), 2):
        name = find_other_cells(first, second)
        assert not name, (
            f'{kind.__name__}: the claims of the example "{first.example.name}" hold of "{name}" as the example '
            f'"{second.example.name}" publishes it: let the claim give its check the fields that decide the cells'
        )


def test_a_check_that_ignores_an_option_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [make_once(Example(f"by {step}", sf.RoundNumbers(columns="age", step=step), numbers)) for step in (5, 10)]
    assert find_other_cells(*made) == find_other_cells(*made[::-1]) == ""
    whole = checks.CHECKS["numbers_between_steps"]
    lax = replace(whole, measure=lambda seen, told: whole.measure(seen, {**told, "step": 5}))
    monkeypatch.setitem(checks._LOADED, "numbers_between_steps", lax)
    monkeypatch.setitem(
        checks._LOADED, "largest_rounding", replace(checks.CHECKS["largest_rounding"], measure=lambda *_: 0)
    )
    assert find_other_cells(made[1], made[0]) == "age"


@each
def test_every_kept_column_has_a_claim(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        for change in made.release.changes if made.is_table else ():
            if change.kind is ChangeKind.KEPT:
                _, forged, _ = list(forge_column(made, change.column))[-3:]
                assert any(breaks(made, claim, forged) for claim in made.release.claims), (
                    f'{kind.__name__}, example "{made.example.name}": it keeps "{change.column}", and a changed cell '
                    "there would break no claim: add claim_others_kept(table, changed) of protect/claims.py, or name "
                    "every kept column in the claim that is there"
                )


def find_unseen_value(made: Made, claim: Claim, name: str) -> str:
    """How few rows may have a value that the method made, without breaking a claim that breaks if all have few."""
    shown, truth = made.release.data.frame[name], made.originals[name].cast(pl.String).to_list()
    texts = shown.cast(pl.String).to_list()
    made_here = Counter(text for text, was in zip(texts, truth, strict=True) if text not in (was, None))
    several = sorted(value for value in made_here if texts.count(value) > 1)
    values = several[:: len(several) // MOST_VALUES + 1]
    others = [text for text in texts if text is not None and text not in made_here]
    if len(values) < 2 or not others:
        return ""

    def leave_one_row(few: Collection[str]) -> pl.Series:
        cells = [others[0] if text in few and text in texts[:row] else text for row, text in enumerate(texts)]
        column = pl.Series(name, cells, dtype=pl.String)
        return column.str.to_date() if shown.dtype == pl.Date else column.cast(shown.dtype)

    if not breaks(made, claim, leave_one_row(values)):
        return ""
    unseen = [value for value in values if not breaks(made, claim, leave_one_row([value]))]
    few = claim.bound == "at_least" and len(values) <= FEW
    return f"{len(unseen)} of the {len(values)} values" if len(unseen) == len(values) or (few and unseen) else ""


def forge_rows(made: Made, name: str, rows: range) -> pl.Series:
    """The column with cells that nobody has in some rows; where a cell is missing, nothing is put."""
    shown, strange = made.release.data.frame[name], list(forge_column(made, name))[-1]
    cells, odd = shown.cast(strange.dtype).to_list(), strange.to_list()
    forged = [cell if row not in rows or cell is None else odd[row] for row, cell in enumerate(cells)]
    return pl.Series(name, forged, strange.dtype)


def find_unread_rows(made: Made, claim: Claim, name: str) -> str:
    """Which rows a check does not look at: it notices forged cells at one end of a column and not at the other."""
    size = len(made.release.data)
    ends = {"first": range(size // 4), "last": range(size - size // 4, size)}
    noticed = {end: breaks(made, claim, forge_rows(made, name, rows)) for end, rows in ends.items()}
    return next((end for end in noticed if not noticed[end]), "") if any(noticed.values()) else ""


@each
def test_a_check_looks_at_every_row(kind: type[sf.Method]) -> None:
    for made in make_all(kind)[:3]:
        stated = made.release.changes if made.is_table else ()
        for change in [change for change in stated if change.kind not in UNBOUND][:3]:
            for claim in made.release.claims:
                end = find_unread_rows(made, claim, change.column)
                assert not end, (
                    f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" notices forged cells '
                    f'of "{change.column}" at one end of the table, and not in the {end} quarter of its rows: let it '
                    "look at every row"
                )


def find_unread_row(made: Made, claim: Claim, name: str) -> str:
    """Which row a check does not look at: it notices a quarter of forged cells, and not one in the first or last."""
    shown = made.release.data.frame[name]
    known = [row for row, cell in enumerate(shown) if cell is not None]
    if not known or not breaks(made, claim, forge_rows(made, name, range(len(shown) // 4))):
        return ""
    ends = {"first": known[0], "last": known[-1]}
    return next(
        (end for end, row in ends.items() if not breaks(made, claim, forge_rows(made, name, range(row, row + 1)))), ""
    )


@each
def test_a_check_notices_one_wrong_cell(kind: type[sf.Method]) -> None:
    """Where nothing is chance: what is promised of every cell, or at most, breaks by one of them."""
    for made in make_all(kind)[:3]:
        stated = made.release.changes if made.is_table and not kind.by_chance else ()
        for change in [change for change in stated if change.kind not in UNBOUND][:3]:
            for claim in made.release.claims:
                of_cells = claim.bound != "at_least" and not checks.CHECKS[claim.measure].of_groups
                end = find_unread_row(made, claim, change.column) if of_cells else ""
                assert not end, (
                    f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" notices a quarter of '
                    f'forged cells of "{change.column}", and not one in the {end} row: let it look at every cell, and '
                    "take the worst, not a mean; only if it counts groups or rules, say of_groups=True in checks_claim"
                )


def measure_forged(made: Made, claim: Claim, forged: pl.Series) -> float:
    """What the claim's check measures if one column is forged; 0 if it refuses it."""
    data = made.release.data.with_frame(made.release.data.frame.with_columns(forged))
    try:
        return float(sf.check(replace(made.release, data=data, claims=(claim,)), made.data)[0].measured or 0)
    except (sf.SfumatoError, ValueError):
        return 0.0


def find_lax_limit(made: Made, claim: Claim, name: str) -> bool:
    """Whether the check of a distance notices a cell that is far beyond its limit, and not one a little beyond it.

    A check that measures the distance as a share of the original has its limit there.
    """
    shown, truth = made.release.data.frame[name], made.originals[name]
    is_date = shown.dtype == truth.dtype == pl.Date
    is_limit = claim.bound in ("at_most", "below") and claim.threshold
    if not is_limit or not (is_date or truth.dtype.is_numeric()):
        return False
    kind = pl.Date() if is_date else pl.Float64()
    cells: list[Any] = shown.cast(kind, strict=False).to_list()
    rows = [row for row, cell in enumerate(cells) if cell is not None and truth[row] is not None]
    row = next((row for row in rows if is_date or abs(truth[row]) > 2), None)
    if row is None:
        return False
    limit = float(claim.threshold)

    def move(distance: float) -> pl.Series:
        step: Any = timedelta(days=int(distance)) if is_date else distance
        return pl.Series(name, [*cells[:row], truth[row] + step, *cells[row + 1 :]], dtype=kind)

    far = 50 * limit + 50
    measured = measure_forged(made, claim, move(far))
    if not is_date and measured and abs(measured - far / abs(truth[row])) < abs(measured - far):
        limit *= abs(truth[row])
    near = max(limit * 1.02, limit + 1) if is_date else limit * 1.02
    return breaks(made, claim, move(50 * limit + 50)) and not breaks(made, claim, move(near))


@each
def test_a_limit_on_a_distance_is_the_limit(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        stated = made.release.changes if made.is_table and not kind.by_chance else ()
        for change in [change for change in stated if change.kind.meaning.read_rule]:
            for claim in made.release.claims:
                assert not find_lax_limit(made, claim, change.column), (
                    f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" accepts a cell of '
                    f'"{change.column}" a little more than {claim.threshold:g} (or that share of it) from its '
                    "original: allow no more tolerance than written numbers need"
                )


def test_a_lax_limit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(ROUNDED)
    claim = next(claim for claim in made.release.claims if claim.measure == "largest_rounding")
    assert not find_lax_limit(made, claim, "age")
    whole = checks.CHECKS[claim.measure]
    lax = replace(whole, measure=lambda seen, told: max(float(whole.measure(seen, told)) - 1, 0.0))
    monkeypatch.setitem(checks._LOADED, claim.measure, lax)
    assert find_lax_limit(made, claim, "age")


def test_a_check_that_takes_a_mean_or_skips_a_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = next(claim for claim in made.release.claims if claim.measure == "kept_cells_changed")

    def list_cells(table: Any) -> list[float]:
        return list(map(float, table.frame["age"]))

    right = list_cells(made.release.data)

    def count_but_last(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        return sum(now != was for now, was in zip(list_cells(evidence.published)[:-1], right, strict=False))

    def take_mean(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        wrong = sum(now != was for now, was in zip(list_cells(evidence.published), right, strict=True))
        return round(wrong / len(right) + 0.4)

    for check, end in ((count_but_last, "last"), (take_mean, "first")):
        monkeypatch.setitem(checks._LOADED, claim.measure, replace(checks.CHECKS[claim.measure], measure=check))
        assert find_unread_row(made, claim, "age") == end


FEW = 2
"""As many values, such as two ends, are each looked at by a claim of a least number."""
MOST_VALUES = 5
"""Of more values, as many are tried."""


@each
def test_a_check_looks_at_every_value_that_was_made(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        stated = made.release.changes if made.is_table and not kind.by_chance else ()
        for change in [change for change in stated if change.kind not in UNBOUND]:
            for claim in made.release.claims:
                if claim.arguments.get("column", change.column) == change.column:
                    unseen = find_unseen_value(made, claim, change.column)
                    assert not unseen, (
                        f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" breaks if one '
                        f'row has each value that was made of "{change.column}", and not if one row has {unseen}: let '
                        "it look at each value, and take the worst of them"
                    )


@each
def test_some_example_names_two_columns(kind: type[sf.Method]) -> None:
    """With one column, nobody sees whether a check looks at the others."""
    tables = [made for made in make_all(kind) if made.is_table]
    for field in kind.model_fields:
        given = [getattr(made.example.subject, field) for made in tables]
        named = [
            value
            for value, made in zip(given, tables, strict=True)
            if isinstance(value, tuple) and value and set(value) <= set(made.release.data.frame.columns)
        ]
        assert not named or any(len(value) > 1 for value in named), (
            f"no example of {kind.__name__} names two columns in `{field}`: add one to tests/contract/examples.py, so "
            "that each column is forged on its own"
        )


def list_other_columns(shown: pl.Series) -> Iterator[pl.Series]:
    """What a check may meet: `*`, an empty cell and a label, as another method leaves them; any type, as files have."""
    name, size = shown.name, len(shown)
    yield pl.Series(name, ["*", None, "[1, 2]", *shown.cast(pl.String).to_list()[3:]], dtype=pl.String)
    yield pl.Series(name, [row % 7 for row in range(size)])
    yield pl.Series(name, [row / 7 for row in range(size)])
    yield pl.Series(name, [date(2020, 1, 1 + row % 28) for row in range(size)])
    yield pl.Series(name, [row % 2 == 0 for row in range(size)])
    yield pl.Series(name, [f"word {row % 5}" for row in range(size)])
    yield pl.Series(name, [None] * size, dtype=pl.String)


def find_crash(made: Made, claim: Claim, name: str) -> str:
    """How a check ends that meets other cells in a column than the method's; empty if it measures or refuses them."""
    frame = made.release.data.frame
    for column in list_other_columns(frame[name]):
        data = made.release.data.with_frame(frame.with_columns(column))
        try:
            sf.check(replace(made.release, data=data, claims=(claim,)), made.data)
        except sf.SfumatoError as error:  # `measure_claim` takes a ValueError for an argument that is missing
            if "cannot be measured" in str(error):
                return f"{error.__context__!r} on {column.dtype}"
        except Exception as crash:
            return f"{crash!r} on {column.dtype}"
    return ""


@each
def test_a_check_meets_cells_of_another_method_and_of_any_type(kind: type[sf.Method]) -> None:
    tried = set()
    for made in make_all(kind):
        stated = made.release.changes if made.is_table else ()
        changed = [change.column for change in stated if change.kind not in (ChangeKind.KEPT, ChangeKind.DROPPED)]
        for claim in made.release.claims if changed else ():
            if claim.measure not in tried:
                tried.add(claim.measure)
                crash = find_crash(made, claim, str(claim.arguments.get("column", changed[0])))
                assert not crash, (
                    f'{kind.__name__}: the check "{claim.measure}" ends in {crash} when a column has "*", empty cells, '
                    "labels, or another type, as a file may have it: decide what such cells count (`spell_cells` gives "
                    "texts of any type), or raise a DataError that names the column"
                )


def test_a_check_that_crashes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(ROUNDED)
    claim = made.release.claims[0]
    assert find_crash(made, claim, "age") == ""
    whole = checks.CHECKS[claim.measure]
    rash: list[checks.Measure] = [
        lambda seen, _: sum(map(float, seen.published.frame["age"])),
        lambda seen, _: seen.published.frame["age"].cast(pl.Float64).sum(),
    ]
    for measure in rash:
        monkeypatch.setitem(checks._LOADED, claim.measure, replace(whole, measure=measure))
        assert find_crash(made, claim, "age")


ROUNDED = Example("two columns", sf.RoundNumbers(columns=("age", "weight"), step=5), numbers)


def test_a_check_of_the_first_column_alone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(ROUNDED)
    claim = made.release.claims[0]
    assert find_unread(made, claim, ("age", "weight")) == []
    whole = checks.CHECKS[claim.measure]
    lazy = replace(whole, measure=lambda seen, told: whole.measure(seen, {**told, "columns": told["columns"][:1]}))
    monkeypatch.setitem(checks._LOADED, claim.measure, lazy)
    assert find_unread(made, claim, ("age", "weight")) == ["weight"]


CAPPED = Example("both ends", sf.TopCode(columns="age", k=5, ends="both"), numbers)


@pytest.mark.parametrize("choose", [max, lambda counts: counts[0]], ids=["the largest", "the first"])
def test_a_check_of_one_end_alone_is_noticed(monkeypatch: pytest.MonkeyPatch, choose: Callable[..., int]) -> None:
    made = make_once(CAPPED)
    claim = next(claim for claim in made.release.claims if claim.measure == "rows_at_limits")
    assert find_unseen_value(made, claim, "age") == ""

    def count_rows(seen: checks.Evidence, told: Mapping[str, Any]) -> Number:
        return choose([int((seen.published.frame["age"] == told[end]).sum()) for end in ("floor", "cap")])

    whole = checks.CHECKS[claim.measure]
    monkeypatch.setitem(checks._LOADED, claim.measure, replace(whole, measure=count_rows))
    assert find_unseen_value(made, claim, "age") != ""


def test_a_column_without_a_claim_is_noticed() -> None:
    made = make_once(ROUNDED)
    assert find_unbound(made, "weight") == ""
    claims = tuple(claim for claim in made.release.claims if claim.measure != "numbers_between_steps")
    assert "an original" in find_unbound(made._replace(release=replace(made.release, claims=claims)), "weight")
    capped = make_once(CAPPED)
    claims = tuple(claim for claim in capped.release.claims if claim.measure != "miscoded_cells")
    assert find_unbound(capped, "age") == ""
    assert "in other rows" in find_unbound(capped._replace(release=replace(capped.release, claims=claims)), "age")
    (spoilt,) = spoil_cell(capped, "age")
    assert sum(was != now for was, now in zip(spoilt, capped.release.data.frame["age"], strict=True)) == 1
    assert "nobody" in find_unbound(made._replace(release=replace(made.release, claims=())), "weight")


def test_a_check_that_skips_the_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells at the largest and the smallest number, where limits are."""
    made = make_once(CAPPED)
    assert find_unbound(made, "age") == ""
    whole = checks.CHECKS["miscoded_cells"]
    ends = [made.release.data.frame["age"].min(), made.release.data.frame["age"].max()]

    def count_inside(seen: checks.Evidence, told: Mapping[str, Any]) -> Number:
        rows = [row for row, cell in enumerate(seen.published.frame["age"]) if ends[0] + 2 < cell < ends[1] - 2]
        published, original = (table.with_frame(table.frame[rows]) for table in (seen.published, seen.original))
        return whole.measure(replace(seen, published=published, original=original, rows=None), told)

    monkeypatch.setitem(checks._LOADED, "miscoded_cells", replace(whole, measure=count_inside))
    unseen = [
        cells for cells in nudge_cells(made, "age") if not any(breaks(made, c, cells) for c in made.release.claims)
    ]
    assert len(unseen) == 2 and find_unbound(made, "age") != ""


def test_a_check_with_too_much_tolerance_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(ROUNDED)
    whole = checks.CHECKS["numbers_between_steps"]

    def count_far_off(seen: checks.Evidence, told: Mapping[str, Any]) -> Number:
        cells = [float(cell) for name in told["columns"] for cell in seen.published.frame[name]]
        return sum(abs(cell - round(cell / 5) * 5) > 1.5 for cell in cells)

    monkeypatch.setitem(checks._LOADED, "numbers_between_steps", replace(whole, measure=count_far_off))
    assert "an original" in find_unbound(made, "age")


def test_examples_have_names_of_their_own() -> None:
    names = [example.name for example in METHOD_EXAMPLES]
    assert len(set(names)) == len(names), "two examples share a name: messages could not tell them apart"


def test_a_check_of_some_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = made.release.claims[1]
    assert find_unread_rows(made, claim, "age") == ""
    whole = checks.CHECKS[claim.measure]

    def measure_head(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        published, original = (t.with_frame(t.frame.head(50)) for t in (evidence.published, evidence.original))
        return whole.measure(replace(evidence, published=published, original=original, rows=None), arguments)

    monkeypatch.setitem(checks._LOADED, claim.measure, replace(whole, measure=measure_head))
    assert find_unread_rows(made, claim, "age") == "last"
