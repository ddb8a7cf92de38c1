# SPDX-License-Identifier: MIT
"""A kind of change is one line of `ChangeKind`: nothing else lists kinds, and each line is complete and believed."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.anonymity.recoding import Recoding
from sfumato.change import Change, ChangeKind
from sfumato.change_kinds import CellDifference, KindMeaning, LossMeasure, LossWords
from sfumato.data.cells.recoding_rules import RecodedColumn
from sfumato.details import Details
from sfumato.errors import ClaimBroken
from sfumato.measure.change_losses import _MEASURES, measure_change_loss
from sfumato.measure.changes import ColumnDifference, measure_changes, refuse_false_statements
from sfumato.protect import METHODS
from tests.contract.column_pairs import Pair, pair_column
from tests.contract.exact_kinds import is_shown, list_tested_kinds
from tests.contract.releases import Made, make_all, released
from tests.contract.test_missing_cells import remove_cells

SOURCE = Path(sf.__file__).parent
CELLS = ["a", "b", "b", "c", "c", "c"]


@pytest.mark.parametrize("kind", ChangeKind, ids=str)
def test_what_a_kind_of_change_means_is_complete(kind: ChangeKind) -> None:
    meaning = kind.meaning
    cure = f"say so in the KindMeaning of {kind.name}, in change_kinds.py"
    assert meaning.words or kind is ChangeKind.OTHER, f"reports have no words for it: {cure}"
    same = [other.name for other in ChangeKind if other.meaning.words == meaning.words]
    assert same == [kind.name], f"reports cannot tell {same} apart: {cure}"
    has_other_values = CellDifference.OTHER in meaning.differences and not meaning.known_to_nobody
    if has_other_values and kind not in (ChangeKind.DROPPED, ChangeKind.OTHER):
        assert meaning.loss, f"no gate can limit its loss: give it a `loss` (CHANGED_CELLS fits any rule): {cure}"
    assert (meaning.loss is None) == (meaning.loss_words is None), f"a loss needs a measure and words: {cure}"
    if CellDifference.OTHER not in meaning.differences:
        allows_others = (
            meaning.most_new_values is not None or meaning.values_of_other_rows or meaning.read_rule is not None
        )
        assert not allows_others, f"it speaks of other values and allows none: {cure}"


@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if kind.meaning.read_rule], ids=str)
def test_a_rule_is_read_off_what_is_published_or_not_at_all(kind: ChangeKind) -> None:
    read = kind.meaning.read_rule
    assert read is not None
    columns = (pl.Series("a", [1, 2, None]), pl.Series("a", CELLS), pl.Series("a", [None, None], dtype=pl.String))
    for cells in columns:
        rule = read(RecodedColumn(cells, cells, False))
        ruled_cells = cells if rule is None else rule(cells)
        assert ruled_cells.to_list() == cells.to_list(), "what is published as it was shows people as they are"


BY_CHANCE_OR_ANY = {ChangeKind.OTHER, ChangeKind.DROPPED, ChangeKind.ANSWERED}
"""Kinds about whose cells nothing can be shown row by row; so are those that `known_to_nobody`."""
LOSS_NOUNS: dict[LossMeasure, tuple[str, ...]] = {
    LossMeasure.CHANGED_CELLS: ("cells",),
    LossMeasure.CHANGED_KNOWN_CELLS: ("known cells", "known numbers", "known dates", "known values", "values in"),
}


def explain_kind_words(kind: ChangeKind) -> str:
    """What of a kind's words no test compares with cells, with the cure; empty if all is compared."""
    meaning = kind.meaning
    # What attacks read off the release is compared with every cell (`test_public_rules.py`).
    is_compared = meaning.read_rule is not None or kind in list_tested_kinds()
    has_other_values = CellDifference.OTHER in meaning.differences and not meaning.known_to_nobody
    if has_other_values and kind not in BY_CHANCE_OR_ANY and not is_compared:
        return (
            "its words are compared with no cell: let the `shows` of an Example in tests/contract/examples.py name a "
            "function that says, in plain Python, whether they are true of a column"
        )
    nouns = LOSS_NOUNS.get(meaning.loss) if meaning.loss else None
    loss_text = meaning.loss_words.meaning if meaning.loss_words else ""
    if nouns and not any(noun in loss_text for noun in nouns):
        return f'the loss is measured as {meaning.loss}, a share of {nouns[0]}: let its words say "{nouns[0]}"'
    if nouns and any(word in loss_text.split() for word in ("rows", "people", "all")):
        return "the loss is a share of cells: let its words not speak of rows, people or all"
    return ""


@pytest.mark.parametrize("kind", ChangeKind, ids=str)
def test_the_words_of_a_kind_are_compared_with_cells(kind: ChangeKind) -> None:
    wrong = explain_kind_words(kind)
    assert not wrong, f"the line of ChangeKind.{kind.name} in change_kinds.py: {wrong}"


def list_stated_columns(kind: ChangeKind) -> list[Pair]:
    """The columns of examples that a method says a kind of."""
    return [
        pair_column(result, change.column)
        for method in METHODS
        for result in make_all(method)
        if result.is_table
        for change in result.release.changes
        if change.kind is kind
    ]


@pytest.mark.parametrize("kind", sorted(list_tested_kinds()), ids=str)
def test_a_kind_is_shown_to_be_true_of_an_example(kind: ChangeKind) -> None:
    """A test of a kind that is never true shows nothing."""
    pairs = list_stated_columns(kind)
    assert not pairs or any(is_shown(kind, pair) for pair in pairs), (
        f"the function for {kind.name} in tests/contract is true of no column that a method says it of: "
        "repair the function, or the words of the kind"
    )


def forge_cells(pair: Pair) -> Pair:
    """The same column with cells that no rule made: numbers or words that nobody has, none twice, in no order."""
    size, is_number = len(pair.after), any(isinstance(cell, int | float) for cell in pair.after)
    strange = [(7919 * row) % (10**6 + 3) + 10**6 for row in range(1, size + 1)]
    return pair._replace(after=strange if is_number else [f"nobody's {number}" for number in strange])


@pytest.mark.parametrize("kind", sorted(list_tested_kinds()), ids=str)
def test_a_kind_is_not_shown_of_any_cells(kind: ChangeKind) -> None:
    """A test that is always true shows nothing, either."""
    assert not any(is_shown(kind, forge_cells(pair)) for pair in list_stated_columns(kind)), (
        f"the function for {kind.name} in tests/contract is true of cells that no rule made: let it "
        "compare each cell with its original, as the words of the kind say"
    )


def count_differences(kind: ChangeKind) -> set[CellDifference]:
    """How cells that methods say a kind of differ from their originals, in data with missing cells too."""
    differences: set[CellDifference] = set()
    for method in METHODS:
        for result in make_all(method):
            columns = [change.column for change in result.release.changes if change.kind is kind]
            if columns and result.is_table:
                results = [result]
                with suppress(sf.SfumatoError):
                    table = remove_cells(result.data, columns)
                    results.append(Made(result.example, table, released(result.example, table)))
                for variant in results:
                    differing = measure_changes(variant.data, variant.release.data, variant.release.details.rows)
                    differences |= {
                        difference
                        for difference in CellDifference
                        for name in columns
                        if getattr(differing[name], difference)
                    }
    return differences


GAPS = frozenset({CellDifference.BLANKED, CellDifference.FILLED, CellDifference.SUPPRESSED})


@pytest.mark.parametrize("kind", ChangeKind, ids=str)
def test_a_kind_allows_gaps_only_if_a_method_makes_them(kind: ChangeKind) -> None:
    """What is allowed for nothing lets a mistake pass; a kind that allows all differences assumes nothing."""
    allowed = kind.meaning.differences & GAPS
    if allowed and kind.meaning.differences != frozenset(CellDifference):
        unused_differences = allowed - count_differences(kind)
        assert not unused_differences, (
            f"the line of ChangeKind.{kind.name} in change_kinds.py allows {sorted(unused_differences)} cells, and "
            "no example has one: leave that out of its differences, or add an example with such cells"
        )


SEEN_KINDS = {ChangeKind.KEPT, ChangeKind.DROPPED, ChangeKind.ROUNDED, ChangeKind.INTERVALS}
"""Nothing is hidden, or the method gives numbers a type that no hidden digit decides (`test_chain_leaks.py`)."""


@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if not kind.meaning.hides_cells], ids=str)
def test_a_kind_that_hides_no_cell_shows_all_of_each(kind: ChangeKind) -> None:
    meaning = kind.meaning
    covers = kind.is_truthful
    of_chance = meaning.known_to_nobody or meaning.loss is LossMeasure.PUBLISHED_LAW or meaning.values_of_other_rows
    assert covers or of_chance or kind in SEEN_KINDS, (
        f"the line of ChangeKind.{kind.name} in change_kinds.py says hides_cells=False, and a published cell does not "
        "cover its original: a part that nobody sees could decide the type of the column, so leave it out"
    )


SMALL_WORDS = {"of", "or", "and", "the", "a", "by", "in", "under", "may", "be", "some", "from", "instead", "one"}


def list_stems(text: str) -> set[str]:
    """The first letters of each word that says something."""
    return {word[:3] for word in re.findall(r"[a-z]+", text.casefold()) if word not in SMALL_WORDS}


def explain_foreign_words(words: str, claim_text: str) -> str:
    """Why the words of a kind could be of another change than what a method says of it; empty if they are not."""
    stems = list_stems(words)
    foreign = stems - list_stems(claim_text)
    if 2 * len(foreign) <= len(stems):
        return ""
    return (
        f'"{words}" has hardly a word of what the method says of it in its docstring and its claims: say the same in '
        "the same words, so that whoever reads both can compare them"
    )


OF_EVERY_METHOD = {ChangeKind.KEPT, ChangeKind.DROPPED, ChangeKind.BLANKED, ChangeKind.OTHER}


@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if kind not in OF_EVERY_METHOD], ids=str)
def test_the_words_of_a_kind_are_those_of_a_method(kind: ChangeKind) -> None:
    sentences = [
        " ".join(
            [method.__name__, (method.__doc__ or "").split("Against:")[0]]
            + [claim.meaning for claim in result.release.claims]
        )
        for method in METHODS
        for result in make_all(method)
        if any(change.kind is kind for change in result.release.changes)
    ]
    wrong = explain_foreign_words(kind.meaning.words, " ".join(sentences)) if sentences else ""
    assert not wrong, f"the line of ChangeKind.{kind.name} in change_kinds.py: {wrong}"


def test_foreign_words_are_noticed() -> None:
    sentence = "Every published text is the first 2 letters of the true one."
    assert explain_foreign_words("first or last letters", sentence) == ""
    for words in ("whole words", "values of at least five rows"):
        assert "hardly a word" in explain_foreign_words(words, sentence)


KEEPING = {
    "left", "kept", "not", "unchanged", "visible", "shown", "right", "alike", "depend", "data", "stand", "still",
}  # fmt: skip
LOSING = {"unchanged", "kept", "whole", "visible", "still", "same", "untouched", "left"}


def explain_reversed_loss(meaning: str, kept_words: str) -> str:
    """Why the words of a loss could mean what is left of it, with the cure; empty if they do not."""
    meaning_words = set(re.findall(r"\w+", re.sub(r"left (out|blank)|not \w+", "", meaning)))
    if meaning_words & LOSING:
        return f'"{meaning}" reads as the share that is left ({sorted(meaning_words & LOSING)}): say what was lost'
    if kept_words and not KEEPING & set(re.findall(r"\w+", kept_words)):
        return (
            f'"{kept_words}" stands above the share that is left, 1 − loss: let it say so, with one of '
            f"{sorted(KEEPING)}"
        )
    return ""


@pytest.mark.parametrize("kind", [kind for kind in ChangeKind if kind.meaning.loss_words], ids=str)
def test_the_words_of_a_loss_are_not_reversed(kind: ChangeKind) -> None:
    words = kind.meaning.loss_words
    assert words is not None
    wrong = explain_reversed_loss(words.meaning, words.caption)
    assert not wrong, f"the line of ChangeKind.{kind.name} in change_kinds.py: {wrong}"


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_the_words_of_a_methods_loss_are_not_reversed(method: type[sf.Method]) -> None:
    wrong = explain_reversed_loss(method.loss_meaning, " ".join(method.kept_meaning))
    assert not wrong, f"{method.__name__}: {wrong}"


def test_reversed_words_are_noticed() -> None:
    assert explain_reversed_loss("Of the known values, the share that was cut.", "of values left whole") == ""
    assert "say what was lost" in explain_reversed_loss("Of the known values, the share left whole.", "of values kept")
    assert "1 − loss" in explain_reversed_loss("Of the known values, the share that was cut.", "of values cut")


def test_words_that_nothing_compares_are_noticed() -> None:
    differences = frozenset({CellDifference.OTHER})
    words = LossWords("Of the known values, the share that was cut.", "of values kept", "in the columns")
    cut = KindMeaning("cut", differences, loss=LossMeasure.CHANGED_KNOWN_CELLS, loss_words=words)
    assert "`shows` of an Example in tests/contract/examples.py" in explain_kind_words(add_kind("cut", cut))
    rounded = ChangeKind.ROUNDED.meaning
    for loss_text, wrong in (
        ("Of the rows, the share left out.", "known cells"),
        ("Of all known values, some.", "all"),
    ):
        lax = rounded._replace(loss_words=words._replace(meaning=loss_text), known_to_nobody=True)
        assert wrong in explain_kind_words(add_kind("rounded", lax))


@pytest.mark.parametrize("loss", LossMeasure)
def test_every_loss_is_measured(loss: LossMeasure) -> None:
    cure = "add its function to _MEASURES in measure/change_losses.py"
    assert loss in _MEASURES or loss is LossMeasure.PUBLISHED_LAW, cure


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "change_kinds.py")


def test_kinds_of_change_are_listed_in_one_module() -> None:
    """A list elsewhere would have to be known to whoever adds a kind; what is done without is one kind by its name."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if "ChangeKind" in text and "protect" not in path.parts:  # a method names the kinds of what it did itself
            refuse_lists_of_kinds(ast.parse(text), str(path.relative_to(SOURCE)))


def refuse_lists_of_kinds(tree: ast.Module, name: str) -> None:
    """Stop if a module lists kinds of change."""
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        kinds = [part.attr for part in parts if isinstance(part, ast.Attribute) and _is_kind(part)]
        assert set(kinds) <= {"KEPT", "BLANKED"}, (
            f"{name}, line {getattr(node, 'lineno', 0)}, lists kinds of change: what it tells apart belongs to "
            "KindMeaning in change_kinds.py, as a field that each kind answers"
        )


def test_a_list_of_kinds_is_noticed() -> None:
    refuse_lists_of_kinds(ast.parse("both = (ChangeKind.KEPT, ChangeKind.BLANKED)"), "x.py")
    for code in ("{ChangeKind.NOISE: 1}", "[ChangeKind.KEPT, ChangeKind.MEANS]"):
        with pytest.raises(AssertionError, match=r"x\.py, line 1, lists kinds of change"):
            refuse_lists_of_kinds(ast.parse(code), "x.py")


def _is_kind(part: ast.Attribute) -> bool:
    return isinstance(part.value, ast.Name) and part.value.id == "ChangeKind"


def add_kind(value: str, meaning: KindMeaning) -> ChangeKind:
    """A kind as if it stood in `ChangeKind`."""
    kind = str.__new__(ChangeKind, value)
    kind._name_, kind._value_, kind.meaning = value.upper(), value, meaning
    return kind


def test_a_new_kind_is_believed_measured_and_linked_from_its_line_alone() -> None:
    """The first letter of each word: one line makes the check, the loss and the attack."""

    def read_letters(column: RecodedColumn) -> object:
        return lambda values: values.str.slice(0, 1)

    letters = add_kind(
        "letters",
        KindMeaning(
            "first letters",
            frozenset({CellDifference.OTHER}),
            most_new_values=3,
            loss=LossMeasure.CHANGED_CELLS,
            read_rule=read_letters,  # type: ignore[arg-type]
        ),
    )
    original = sf.Table.of({"a": ["ann", "bob", "eve", "e"]}, {"a": "quasi_identifying"})
    published = sf.Table.of({"a": ["a", "b", "e", "e"]}, {"a": "quasi_identifying"})
    changes = (Change("a", letters, "own"),)
    assert changes[0].describe() == "first letters"
    refuse_false_statements(changes, {"a": ColumnDifference("a", 4, 0, 0, 3, None, 3)})
    for false in (ColumnDifference("a", 4, 1, 0, 3, None, 3), ColumnDifference("a", 4, 0, 0, 4, None, 4)):
        with pytest.raises(ClaimBroken, match="is not what happened"):
            refuse_false_statements(changes, {"a": false})
    assert measure_change_loss(original, published, changes, {}) == 0.75
    release = sf.Release(published, None, (), {}, Details(), changes)
    assert Recoding.read_stated(release, original, ("a",)).apply(original).frame["a"].to_list() == ["a", "b", "e", "e"]


def explain_lax_rule(meaning: KindMeaning) -> str:
    """Why a line whose rule attacks read allows too much, and the cure; empty if it does not."""
    if meaning.read_rule is None or CellDifference.BLANKED not in meaning.differences:
        return ""
    return (
        "it has a read_rule, by which a cell gets a value, and its differences allow that cells became empty, which "
        "nothing would refuse: leave out BLANKED"
    )


@pytest.mark.parametrize("kind", ChangeKind, ids=str)
def test_a_rule_blanks_no_cell(kind: ChangeKind) -> None:
    wrong = explain_lax_rule(kind.meaning)
    assert not wrong, f"the line of ChangeKind.{kind.name} in change_kinds.py: {wrong}"


def test_a_rule_that_may_blank_is_noticed() -> None:
    lax = ChangeKind.ROUNDED.meaning._replace(differences=frozenset(CellDifference))
    assert explain_lax_rule(ChangeKind.ROUNDED.meaning) == "" and "leave out BLANKED" in explain_lax_rule(lax)
