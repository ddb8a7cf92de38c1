# SPDX-License-Identifier: MIT
"""A column that a field names twice counts once or is refused, and nothing has the order of a set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import sfumato as sf
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import make_once, released

PROTECT = Path(sf.__file__).parent / "protect"


class TwiceNamed(NamedTuple):
    """An example, and a field of its method that names a column twice."""

    example: Example
    field: str

    def __str__(self) -> str:
        """The name of the test."""
        return f"{self.example.name}: {self.field}"


def list_twice_named() -> Iterator[TwiceNamed]:
    """For each method, the example in which a field names the most columns, with the first of them again."""
    widest: dict[tuple[type, str], tuple[Example, tuple[str, ...]]] = {}
    for example in METHOD_EXAMPLES:
        if example.subject.shape == example.subject.gives == "table":
            names = example.data().frame.columns
            for field in type(example.subject).model_fields:
                field_value, key = getattr(example.subject, field), (type(example.subject), field)
                column_names = field_value if isinstance(field_value, tuple) and set(field_value) <= set(names) else ()
                if len(column_names) > len(widest.get(key, (example, ()))[1]):
                    widest[key] = example, column_names
    for (_, field), (example, field_value) in widest.items():
        subject = example.subject.model_copy(update={field: (*field_value, field_value[0])})
        yield TwiceNamed(replace(example, subject=subject), field)


def explain_twice_named(repetition: TwiceNamed, example: Example) -> str:
    """What becomes of a column that is named twice, with the cure; empty if it counts once or is refused."""
    cure = f"use `dict.fromkeys(self.{repetition.field})`, which leaves out what was listed before, or refuse it"
    result = make_once(example)
    try:
        release = released(repetition.example, result.data)
    except sf.SfumatoError:
        return ""
    except Exception as crash:
        return f"it crashes if `{repetition.field}` names a column twice ({crash!r}): {cure}"
    same = release.data == result.release.data and release.losses == result.release.losses
    same = same or repetition.example.subject.by_chance  # other draws are as good
    return "" if same else f"it publishes or loses something else if `{repetition.field}` names a column twice: {cure}"


TWICE = tuple(list_twice_named())


@pytest.mark.parametrize("repetition", TWICE, ids=str)
def test_a_column_that_is_named_twice_counts_once(repetition: TwiceNamed) -> None:
    plain_example = next(example for example in METHOD_EXAMPLES if example.name == repetition.example.name)
    wrong = explain_twice_named(repetition, plain_example)
    assert not wrong, f"{type(plain_example.subject).__name__}: {wrong}"


def test_a_column_that_counts_twice_is_noticed() -> None:
    repetition = next(candidate for candidate in TWICE if isinstance(candidate.example.subject, sf.GroupRareValues))
    other = next(example for example in METHOD_EXAMPLES if example.name == "round numbers")
    assert "something else" in explain_twice_named(repetition, replace(other, data=repetition.example.data))


IN_ORDER = ("tuple", "list", "enumerate", "iter", "join", "fromkeys")
"""Calls whose result has the order of what they are given."""


def find_hash_orders(source: str) -> list[int]:
    """The lines on which something takes its order from `set(…)` or from a hash, other than to sort it."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        ordered: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            lines += [node.lineno] if isinstance(node.func, ast.Name) and name == "hash" else []
            ordered = node.args[:1] if name in IN_ORDER else []
        elif isinstance(node, ast.For):
            ordered = [node.iter]
        elif isinstance(node, ast.ListComp | ast.DictComp):
            ordered = [part.iter for part in node.generators]
        lines += [part.lineno for part in ordered if _is_set(part)]
    return lines


def _is_set(node: ast.expr) -> bool:
    """Whether it is a set by its spelling; comprehensions are left out: ours hold numbers of items."""
    if isinstance(node, ast.BinOp):
        return _is_set(node.left)
    is_set_call = (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    )
    return is_set_call or isinstance(node, ast.Set)


@pytest.mark.parametrize("path", sorted(PROTECT.rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_has_the_order_of_a_hash(path: Path) -> None:
    lines = find_hash_orders(path.read_text(encoding="utf-8"))
    assert not lines, (
        f"{path.name}, lines {lines}: the order of a set is another in each run of Python, and so would be what is "
        "published, drawn or claimed: use `dict.fromkeys(…)`, which keeps the order, or `sorted(…)`"
    )


def test_the_order_of_a_hash_is_noticed() -> None:
    for line in (
        "names = tuple(set(columns))",
        "for name in {*a, *b}: pass",
        "x = [hash(n) for n in a]",
        "', '.join(set(a))",
    ):
        assert find_hash_orders(line) == [1], line
    for line in ("names = sorted(set(columns))", "x = set(a) & b", "n = len(set(a))", "x = tuple(dict.fromkeys(a))"):
        assert find_hash_orders(line) == [], line
