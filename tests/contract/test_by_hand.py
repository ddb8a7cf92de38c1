# SPDX-License-Identifier: MIT
"""Small tables worked out by hand: a check may be wrong in the same way as its method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import make_once

OF_PAPERS = {sf.Generalize, sf.Partition, sf.KOptimize, sf.SuppressEntries, sf.SwapConfidential}
"""Methods whose own tests and tests/golden have the tables of their papers."""
RULES = [
    kind
    for kind in METHODS
    if kind.shape == kind.gives == "table" and not (kind.by_chance or issubclass(kind, KeyedMethod))
]
WORKED = [example for example in METHOD_EXAMPLES if example.by_hand]


@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in OF_PAPERS], ids=lambda kind: kind.__name__)
def test_a_method_without_chance_is_worked_out_by_hand(kind: type[sf.Method]) -> None:
    worked = [example for example in WORKED if type(example.subject) is kind]
    assert any(cells != published for example in worked for cells, published in example.by_hand.values()), (
        f"{kind.__name__}: give one of its examples (tests/contract/examples.py) by_hand={{column: (cells, published "
        "cells)}, a small table that you work out without running anything, with cells at and beside each limit: "
        "the check may be wrong in the same way as the method"
    )


ODD_TEXTS: dict[str, Callable[[str], bool]] = {
    "an empty text": lambda text: not text,
    "one with blanks around": lambda text: text != text.strip(" "),
    "one with a line break": lambda text: "\n" in text,
    "one with letters beyond ASCII": lambda text: not text.isascii(),
    "one with a leading zero": lambda text: text.startswith("0"),
    "one of more than 20 letters": lambda text: len(text) > 20,
}


def list_lacking(worked: Sequence[Example]) -> list[str]:
    """What tables worked out by hand lack of what a rule must decide."""
    cells = [cell for example in worked for given, _ in example.by_hand.values() for cell in given]
    pairs = [pair for example in worked for both in example.by_hand.values() for pair in zip(*both, strict=True)]
    texts = [cell for cell in cells if isinstance(cell, str)]
    lacking = [] if None in cells else ["a missing cell"]
    lacking += [] if any(was == now is not None for was, now in pairs) else ["a cell that stays as it is"]
    return lacking + [words for words, fits in ODD_TEXTS.items() if texts and not any(map(fits, texts))]


@pytest.mark.parametrize("kind", [kind for kind in RULES if kind not in OF_PAPERS], ids=lambda kind: kind.__name__)
def test_a_table_by_hand_has_what_a_rule_must_decide(kind: type[sf.Method]) -> None:
    worked = [example for example in WORKED if type(example.subject) is kind]
    stated = {change.kind for example in worked for change in make_once(example).release.changes}
    if any(change.meaning.read_rule for change in stated):
        lacking = list_lacking(worked)
        assert not lacking, (
            f"{kind.__name__}: by_hand of its examples (tests/contract/examples.py) lacks {', '.join(lacking)}: add "
            "such cells, and what is published for them"
        )


def test_what_a_table_by_hand_lacks_is_noticed() -> None:
    example = next(example for example in WORKED if example.name == "group rare values")
    assert list_lacking([example]) == []
    short = replace(example, by_hand={"occupation": (["a", "b"], ["other", "other"])})
    assert list_lacking([short]) == ["a missing cell", "a cell that stays as it is", *ODD_TEXTS]


def find_difference(example: Example) -> str:
    """Which column is published otherwise than worked out by hand, or which claim breaks; empty if none."""
    data = example.data()
    frame = pl.DataFrame({name: cells for name, (cells, _) in example.by_hand.items()}, strict=False)
    kept = {
        name: tree
        for name, tree in data.hierarchies.items()
        if name in frame.columns and frame[name].dtype == pl.String
    }
    table = sf.Table.of(frame, {name: data.roles[name] for name in frame.columns}, kept)
    release = example.subject.protect(table)
    for name, (_, published) in example.by_hand.items():
        if release.data.frame[name].to_list() != published:
            return f'"{name}" is published as {release.data.frame[name].to_list()}, and by hand it is {published}'
    return next((f"{one.title()} does not hold" for one in sf.check(release, table) if not one.holds), "")


@pytest.mark.parametrize("example", WORKED, ids=lambda example: example.name)
def test_it_publishes_what_is_worked_out_by_hand(example: Example) -> None:
    wrong = find_difference(example)
    assert not wrong, f"{wrong}: repair the one that is wrong, and look whether its check is wrong in the same way"


def test_a_method_and_its_check_that_are_wrong_alike_are_noticed() -> None:
    """Down instead of to the nearest: every number is still a multiple, and a check of that alone would pass."""
    example = next(example for example in WORKED if example.name == "round numbers")
    down = replace(example, by_hand={"age": ([3, 41], [0, 40])})
    assert find_difference(example) == "" and "by hand it is [0, 40]" in find_difference(down)
