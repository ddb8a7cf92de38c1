# SPDX-License-Identifier: MIT
"""What a method says of itself is true and exact: the kind of change of each column, and how much was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.change_kinds import CellDifference, LossMeasure
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from tests.contract.column_pairs import Pair, pair_column
from tests.contract.exact_kinds import find_more_exact, is_false
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.plain_losses import count_blanked, count_loss
from tests.contract.releases import Made, make_all, make_once

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
TESTS = Path(__file__).parents[1]
UNTOUCHED = (ChangeKind.KEPT, ChangeKind.DROPPED)
LABELLED = frozenset({CellDifference.BLANKED, CellDifference.COARSER, CellDifference.SUPPRESSED})
ESTIMATED = ("add_noise",)
"""Methods whose loss is estimated from the release alone, as their pages say: the file is measured all the same."""
BY_LAW = 0.05
"""How far the share of noise in a few hundred rows may be from that of its law."""


def group_columns(result: Made) -> dict[ChangeKind, dict[str, Pair]]:
    """The columns that a method says it changed, by the kind of change."""
    kinds: dict[ChangeKind, dict[str, Pair]] = {}
    for change in result.release.changes if result.is_table else ():
        if change.kind not in UNTOUCHED:
            kinds.setdefault(change.kind, {})[change.column] = pair_column(result, change.column)
    return kinds


def is_drawn(result: Made) -> bool:
    """Whether a row is nobody's, so that there is nothing to compare it with."""
    return any(change.kind is ChangeKind.DRAWN for change in result.release.changes)


MEANT = {
    ChangeKind.ROUNDED: "all cells are multiples of one step, and less than a step from their originals",
    ChangeKind.CAPPED: "all cells between the smallest and the largest published one are as they were",
    ChangeKind.INTERVALS: "cells that are equal stand for an interval of originals, in their order",
}
"""What is tested of a kind (`exact_kinds.py`)."""


@parametrize_kinds
def test_the_kind_of_change_is_true_and_no_other_tells_more(kind: type[sf.Method]) -> None:
    pairs_by_kind: dict[ChangeKind, list[Pair]] = {}
    for result in make_all(kind):
        if is_drawn(result):
            continue
        for change, columns in group_columns(result).items():
            pairs_by_kind.setdefault(change, []).extend(columns.values())
            false = [name for name, column in columns.items() if is_false(change, column)]
            assert not false, (
                f'{kind.__name__}, example "{result.example.name}": it states ChangeKind.{change.name} of {false}, '
                f'"{change.meaning.words}", which is not true of every cell. It means: '
                f"{MEANT.get(change, 'look at `shows` of its example')}; state the kind whose words in "
                "change_kinds.py are, else ChangeKind.OTHER"
            )
    for change, pairs in pairs_by_kind.items():
        exact = find_more_exact(change, pairs)
        assert exact is None, (
            f"{kind.__name__} states ChangeKind.{change.name}, and ChangeKind.{exact.name}, "
            f'"{exact.meaning.words}", is true of all these columns in all of its examples and tells more: state that'
        )


OF_THEIR_TYPE = {
    ChangeKind.KEPT, ChangeKind.ROUNDED, ChangeKind.CAPPED, ChangeKind.MEANS, ChangeKind.NOISE, ChangeKind.INTERVALS,
    ChangeKind.SWAPPED,
}  # fmt: skip
"""Kinds of change that make numbers of numbers, dates of dates and words of words."""


def name_type(column: pl.Series) -> str:
    """The type of a column; all types of numbers are one."""
    return "numbers" if column.dtype.is_numeric() else str(column.dtype)


def explain_new_types(result: Made) -> str:
    """Which columns are of another type than their originals, though their kind of change keeps it, with the cure."""
    for change in result.release.changes:
        if change.kind in OF_THEIR_TYPE and not change.starred:
            was, new_type = (name_type(frame[change.column]) for frame in (result.originals, result.release.data.frame))
            if was != new_type:
                return (
                    f'"{change.column}" is stated as "{change.kind.meaning.words}", and is published as '
                    f"{new_type} where it "
                    f"was {was}: cast it to the type of its column, so that readers and checks find what they expect"
                )
    return ""


def find_needless_floats(releases: Iterable[Made]) -> list[str]:
    """Columns of integers that are published as floats though all of their cells are whole, in every example."""
    whole: dict[str, bool] = {}
    for result in [result for result in releases if result.is_table]:
        for change in [change for change in result.release.changes if change.kind not in UNTOUCHED]:
            was, published_column = result.originals[change.column], result.release.data.frame[change.column]
            if was.dtype.is_integer() and published_column.dtype.is_float():
                is_whole = all(cell is None or float(cell).is_integer() for cell in published_column)
                whole[change.column] = whole.get(change.column, True) and is_whole
    return sorted(name for name, is_whole in whole.items() if is_whole)


@parametrize_kinds
def test_whole_numbers_stay_integers(kind: type[sf.Method]) -> None:
    names = find_needless_floats(make_all(kind))
    assert not names, (
        f"{kind.__name__}: {names} had integers, and are published as floats though every cell is whole (37.0): cast "
        "them to pl.Int64, by what the fields say, never by what the cells are"
    )


def test_needless_floats_are_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    assert find_needless_floats([result]) == []
    floats = result.release.data.frame.with_columns(pl.col("age").cast(pl.Float64))
    forged = result._replace(release=replace(result.release, data=result.release.data.replace_frame(floats)))
    assert find_needless_floats([forged]) == ["age"]


@parametrize_kinds
def test_a_column_stays_of_its_type(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        wrong = explain_new_types(result) if result.is_table else ""
        assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'


def test_a_new_type_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    assert explain_new_types(result) == ""
    texts = result.release.data.frame.with_columns(pl.col("age").cast(pl.String))
    forged = result._replace(release=replace(result.release, data=result.release.data.replace_frame(texts)))
    assert "published as String where it was numbers" in explain_new_types(forged)


def count_stated_loss(result: Made) -> float | None:
    """The loss that the kinds of change of a method have by their measures; None if they have none."""
    kinds, subject = group_columns(result), result.example.subject
    published_data = result.release.data
    if not kinds:
        return 1 - len(published_data) / len(result.data)  # no cell is changed: all that can be lost is rows
    if subject.utility == "blanks":
        return count_blanked({name: pair_column(result, name) for name in published_data.frame.columns})
    if ChangeKind.DRAWN in kinds:
        return sf.measure.pairwise_total_variation(result.data, published_data)
    if ChangeKind.CODED in kinds:
        return 0.0  # the key decodes every code
    if all(change.meaning.differences <= LABELLED for change in kinds):
        left_out = 1 - len(published_data) / len(result.data)  # such rows lost everything
        return left_out + (1 - left_out) * sf.measure.loss(published_data, result.data)
    laws = result.release.public
    losses = [count_loss(kind.meaning.loss, kinds[kind], laws) for kind in kinds if kind.meaning.loss is not None]
    return max(losses, default=None)


def explain_wrong_loss(result: Made) -> str:
    """What is wrong with the loss of a release, and the cure; empty if nothing is."""
    subject, stated_loss, plain_loss = result.example.subject, result.release.losses["loss"], count_stated_loss(result)
    if plain_loss is None:
        family, name = type(subject).__module__.split(".")[-2:]
        test_path = Path("protect") / family / f"test_{name}.py"
        if 'losses["loss"]' in (TESTS / test_path).read_text(encoding="utf-8"):
            return ""
        return (
            f'nothing compares its loss with the data: compare losses["loss"] with a plain count in tests/{test_path}'
        )
    measures = {change.meaning.loss for change in group_columns(result)}
    if subject.method in ESTIMATED and LossMeasure.MIDPOINT_SHARE in measures:
        return ""
    if abs(stated_loss - plain_loss) <= (BY_LAW if LossMeasure.NOISE_SHARE in measures else 1e-9):
        return ""
    return explain_wrong_statement(result) or (
        f'its loss is {stated_loss:.6g}, and a plain count gives {plain_loss:.6g}: compute losses["loss"] by the '
        "measure of "
        f"its kind of change (change_kinds.py), {name_loss_measures(result)}"
    )


def explain_wrong_statement(result: Made) -> str:
    """Whether a loss is wrong because something else is stated falsely, with the cure."""
    subject = result.example.subject
    if subject.utility == "blanks" and ChangeKind.BLANKED not in group_columns(result):
        return 'it says utility = "blanks", and states no ChangeKind.BLANKED: leave `utility` out'
    idle = sorted(
        name
        for columns in group_columns(result).values()
        for name, pair in columns.items()
        if list(pair.before) == list(pair.after) and name not in subject.footprint(result.data).changes
    )
    if idle:
        return f"it states a change of {idle}, in which no cell differs: let state_changes name only changed columns"
    return ""


def name_loss_measures(result: Made) -> str:
    """The measures of a loss by the kinds of change that are stated."""
    measures = {change.meaning.loss for change in group_columns(result)}
    measure_names = ", ".join(
        f"LossMeasure.{measure.name}" for measure in sorted(measures - {None}, key=str) if measure
    )
    return measure_names or (
        "the detail that labels leave open"
        if measures
        else "and state the kind: it says that all is kept; if it only leaves rows out, their share of all rows"
    )


@parametrize_kinds
def test_the_loss_is_that_of_its_kind_of_change(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        wrong = explain_wrong_loss(result) if result.is_table else ""
        assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'


FEW_VALUES = 2


def find_few_new_values(examples: Iterable[Made]) -> ChangeKind | None:
    """A kind of change that makes one or two new values in every example, and whose line allows any number."""
    most: dict[ChangeKind, int] = {}
    for result in examples:
        for kind, columns in group_columns(result).items():
            new = [
                {new_cell for was, new_cell in zip(*pair[:2], strict=True) if was != new_cell}
                for pair in columns.values()
            ]
            most[kind] = max(most.get(kind, 0), *map(len, new))
    lax = [kind for kind, count in most.items() if 0 < count <= FEW_VALUES and kind.meaning.most_new_values is None]
    return next((kind for kind in lax if CellDifference.OTHER in kind.meaning.differences), None)


@parametrize_kinds
def test_a_kind_that_makes_few_values_says_how_many(kind: type[sf.Method]) -> None:
    lax = find_few_new_values(result for result in make_all(kind) if not is_drawn(result))
    assert lax is None, (
        f"{kind.__name__} states ChangeKind.{lax.name}, and at most {FEW_VALUES} new values are in a column of any "
        f"example: give its line in change_kinds.py `most_new_values`, so that a file with more is refused"
    )


@parametrize_kinds
def test_the_report_knows_that_labels_show_the_loss(kind: type[sf.Method]) -> None:
    kinds = [change for result in make_all(kind) for change in group_columns(result)]
    if kinds and kind.utility == "classes":
        labelled = all(change.meaning.differences <= LABELLED for change in kinds)
        assert kind.loses_detail is labelled, (
            f"{kind.__name__}: say loses_detail: ClassVar[bool] = {labelled}; its cells are "
            f"{'labels of their originals, which show' if labelled else 'no labels, and do not show'} what was lost"
        )


def list_differing(result: Made) -> list[str]:
    """The published columns whose cells are not those of their original rows."""
    pairs = {name: pair_column(result, name) for name in result.release.data.frame.columns}
    return [name for name, pair in pairs.items() if list(pair.before) != list(pair.after)]


def explain_wrong_rows(result: Made) -> str:
    """Whether columns that nobody changed are those of other rows; and the cure."""
    kept_columns = {
        change.column for change in result.release.changes if change.kind is ChangeKind.KEPT and not change.starred
    }
    frame, moved = result.release.data.frame, kept_columns & set(list_differing(result))
    same = [name for name in moved if Counter(frame[name]) == Counter(result.originals[name])]
    return (
        f"the cells of {sorted(same)} are those of other rows than details.rows says: let it be the original row of "
        "each published row, in the order of the release"
        if same
        else ""
    )


@parametrize_kinds
def test_rows_are_those_of_the_originals_and_the_footprint_names_what_differs(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        if (
            not result.is_table
            or result.release.details.rows is None
            or is_drawn(result)
            or issubclass(kind, KeyedMethod)
        ):
            continue
        wrong = explain_wrong_rows(result)
        assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'
        changed = set(list_differing(result)) - result.example.subject.footprint(result.data).changes
        assert not changed, (
            f'{kind.__name__}, example "{result.example.name}": it changes {sorted(changed)}: say so in its '
            "`footprint` "
            "(`trace_columns` and others in protect/footprint.py)"
        )


def test_wrong_rows_are_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    assert explain_wrong_rows(result) == ""
    turned = replace(result.release.details, rows=result.release.details["rows"][::-1])
    assert "details.rows" in explain_wrong_rows(result._replace(release=replace(result.release, details=turned)))


@parametrize_kinds
def test_details_are_those_of_its_family(kind: type[sf.Method]) -> None:
    if kind.shape != "table" or kind.gives != "table":
        return
    family, details = kind.__module__.split(".")[-2], {type(result.release.details) for result in make_all(kind)}
    other_methods = [
        method
        for method in METHODS
        if method.shape == method.gives == "table" and method.__module__.split(".")[-2] != family
    ]
    alike = [method.__name__ for method in other_methods if type(make_all(method)[0].release.details) in details]
    assert not alike, (
        f"{kind.__name__} lies in protect/{family}, and its release has the details of another family, like {alike}: "
        "move it there, with its measure and tests, or give the details of its own family (details.py)"
    )


CHANCE = tuple(
    kind
    for kind in ChangeKind
    if kind.meaning.loss is LossMeasure.PUBLISHED_LAW or (kind.meaning.known_to_nobody and kind is not ChangeKind.CODED)
)
"""Kinds of change by chance."""


def explain_wrong_chance(method: type[sf.Method], changes: Iterable[Change], laws: Collection[str]) -> str:
    """What a method says falsely of chance, or does not say, and the cure; empty if nothing."""
    chance_changes = [change for change in changes if change.kind in CHANCE]
    cure = 'by_chance: ClassVar[bool] = True, truthful: ClassVar[bool] = False and utility = "chance"'
    if chance_changes and not method.by_chance:
        return (
            f'it states ChangeKind.{chance_changes[0].kind.name} of "{chance_changes[0].column}", whose cells are '
            "of chance and known to "
            f"nobody: if they are, say {cure}; if a rule makes them, state another kind, or leave `known_to_nobody` "
            "out of its line in change_kinds.py"
        )
    if method.by_chance and method.truthful:
        return (
            "it says by_chance and truthful, and what is drawn by chance is not the truth: say truthful = False, or "
            "leave by_chance out if a rule makes the cells"
        )
    if method.by_chance and method.utility == "classes":
        return (
            "it says by_chance: if two draws give the same cells, a rule makes them, so leave by_chance out; if chance "
            'does, classes of what it drew hide nobody: say utility = "chance"'
        )
    if method.utility == "chance" and not method.by_chance:
        return (
            'it says utility = "chance", and not by_chance: if another seed gives other cells, say '
            f'{cure}; if a rule makes them, leave utility at "classes"'
        )
    lawless_changes = [change for change in chance_changes if change.column not in laws]
    if lawless_changes:
        return (
            f'it states ChangeKind.{lawless_changes[0].kind.name} of "{lawless_changes[0].column}", and publishes '
            "no law for it: let "
            'the details of its release have public={column: {"kind": …, "scale": …}}, all that an analyst needs for '
            "estimates (as AddNoise does; `public_fields` of a law names the parts); if nobody may know the law, "
            "state ChangeKind.OTHER"
        )
    return ""


@parametrize_kinds
def test_chance_is_said_and_its_law_is_published(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        changes = result.release.changes if result.is_table else ()
        wrong = explain_wrong_chance(kind, changes, result.release.public)
        assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'


@parametrize_kinds
def test_a_section_of_noise_has_noise_to_draw(kind: type[sf.Method]) -> None:
    chance_kinds = {change.kind for result in make_all(kind) for change in result.release.changes} & {*CHANCE}
    assert kind.section != "noise" or chance_kinds, (
        f'{kind.__name__} says section = "noise", and states no change by chance that the section could draw: leave it '
        "out"
    )


@parametrize_kinds
def test_a_section_has_the_details_that_it_draws(kind: type[sf.Method]) -> None:
    if kind.section in ("", "noise"):
        return
    detail_types = {type(result.release.details) for result in make_all(kind)}
    section_methods = [other for other in METHODS if other.section == kind.section and other is not kind]
    section_details = {type(make_all(other)[0].release.details) for other in section_methods}
    assert not section_details or detail_types & section_details, (
        f'{kind.__name__} says section = "{kind.section}", which draws '
        f"{sorted(detail_type.__name__ for detail_type in section_details)}, and "
        f"its release has {sorted(detail_type.__name__ for detail_type in detail_types)}: leave `section` out"
    )


def test_what_is_said_falsely_of_chance_is_noticed() -> None:
    class Truthful(sf.AddNoise):
        truthful: ClassVar[bool] = True

    class Crowded(sf.AddNoise):
        utility = "classes"  # type: ignore[assignment]

    class Rounded(sf.RoundNumbers):
        utility = "chance"

    noise = [Change("age", ChangeKind.NOISE, "add_noise")]
    assert explain_wrong_chance(sf.AddNoise, noise, ["age"]) == ""
    assert "publishes no law for it" in explain_wrong_chance(sf.AddNoise, noise, [])
    assert "say truthful = False" in explain_wrong_chance(Truthful, noise, ["age"])
    assert "utility" in explain_wrong_chance(Crowded, noise, ["age"])
    assert "say by_chance" in explain_wrong_chance(sf.RoundNumbers, noise, ["age"])
    assert "leave utility" in explain_wrong_chance(Rounded, [], [])


def test_a_kind_that_allows_too_many_values_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "top code, both ends"))
    assert find_few_new_values([result]) is None
    swapped = tuple(
        replace(change, kind=ChangeKind.SWAPPED) if change.kind is ChangeKind.CAPPED else change
        for change in result.release.changes
    )
    lax = result._replace(release=replace(result.release, changes=swapped))
    assert find_few_new_values([lax]) is ChangeKind.SWAPPED


def test_a_wrong_loss_is_noticed() -> None:
    example_names = (
        "generalize",
        "round numbers",
        "microaggregate",
        "suppress entries",
        "randomize response",
        "synthesize",
    )
    for result in [make_once(example) for example in METHOD_EXAMPLES if example.name in example_names]:
        assert explain_wrong_loss(result) == ""
        halved = {**result.release.losses, "loss": result.release.losses["loss"] / 2}
        forged = result._replace(release=replace(result.release, losses=halved))
        assert "a plain count gives" in explain_wrong_loss(forged), result.example.name


ROUNDED = Pair([31, 32, 38, 41], [30, 30, 40, 40])
CAPPED = Pair([31, 32, 98, 41], [35, 35, 60, 41])


@pytest.mark.parametrize(
    ("stated_kind", "column", "exact"),
    [
        (ChangeKind.INTERVALS, ROUNDED, ChangeKind.ROUNDED),
        (ChangeKind.OTHER, CAPPED, ChangeKind.CAPPED),
        (ChangeKind.OTHER, Pair(["a", "b", "c"], ["a", "other", "other"]), ChangeKind.GROUPED),
        (ChangeKind.NOISE, Pair([1.0, 3.0, 8.0, 10.0], [2.0, 2.0, 9.0, 9.0]), ChangeKind.MEANS),
        (ChangeKind.OTHER, Pair([1.0, 2.0, 6.0, 9.0], [1.2, 1.2, 7.9, 7.9]), ChangeKind.INTERVALS),
        (ChangeKind.OTHER, Pair(["a", "b", "c"], ["b", "a", "c"]), ChangeKind.SWAPPED),
        (ChangeKind.OTHER, Pair(["a", None, "c"], [None, None, "c"]), ChangeKind.BLANKED),
        (ChangeKind.OTHER, Pair([1, 3], ["[1, 2]", "{3, 4}"]), ChangeKind.GENERALIZED),
        (ChangeKind.ROUNDED, ROUNDED, None),
        (ChangeKind.INTERVALS, Pair([1, 2, 14, 17], [5, 5, 15, 15]), None),
        (ChangeKind.NOISE, Pair([1.0, 3.0, 8.0, 9.5], [4.1, 2.2, 7.3, 9.9]), None),
    ],
    ids=lambda value: value.name if isinstance(value, ChangeKind) else "",
)
def test_a_kind_that_tells_more_is_found(stated_kind: ChangeKind, column: Pair, exact: ChangeKind | None) -> None:
    assert find_more_exact(stated_kind, [column]) is exact
    assert not is_false(exact or stated_kind, column)


MONTHS = Pair(
    [date(2024, 1, 3), date(2024, 2, 9), date(2024, 3, 30)], [date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1)]
)
WEEKS = Pair(
    [date(2024, 1, 3), date(2024, 1, 9), date(2024, 1, 30)], [date(2024, 1, 1), date(2024, 1, 8), date(2024, 1, 29)]
)


def test_dates_are_numbers_of_days() -> None:
    assert is_false(ChangeKind.ROUNDED, MONTHS) and not is_false(ChangeKind.INTERVALS, MONTHS)
    assert not is_false(ChangeKind.ROUNDED, WEEKS)
    assert is_false(ChangeKind.ROUNDED, Pair([date(2024, 1, 3)], ["2024-01"]))


def test_a_false_kind_is_noticed() -> None:
    assert is_false(ChangeKind.ROUNDED, CAPPED) and is_false(ChangeKind.CAPPED, ROUNDED)
    assert is_false(ChangeKind.INTERVALS, Pair([1.0, 3.0, 8.0], [4.1, 2.2, 7.3]))
