# SPDX-License-Identifier: MIT
"""Releases of the examples: each is made once in a process for all tests that only look at it."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

import sfumato as sf
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES


def released(example: Example, data: Any, seed: int | None = 1) -> sf.Release:
    """A release of some data; a method with a secret draws its key first."""
    chance = Randomness.secure() if seed is None else Randomness.seeded(seed)
    if isinstance(example.subject, KeyedMethod):
        return example.subject.protect(data, example.subject.new_key(data, chance))
    release: sf.Release = example.subject.protect(data, randomness=chance)
    return release


class Made(NamedTuple):
    """An example, its data and a release of them."""

    example: Example
    data: Any
    release: sf.Release

    @property
    def is_table(self) -> bool:
        """Whether a table was protected, and one was published."""
        return isinstance(self.data, sf.Table) and isinstance(self.release.data, sf.Table)

    @property
    def originals(self) -> pl.DataFrame:
        """Of a table, the original row of each published row."""
        frame: pl.DataFrame = self.data.frame
        rows = self.release.details.rows
        assert rows is None or all(0 <= row < len(frame) for row in rows), (
            f"{type(self.example.subject).__name__}: details.rows names rows that the originals do not have: let it be "
            "the original row of each published row, counted from 0"
        )
        return frame if rows is None else frame[rows.tolist()]


_MADE: dict[int, Made] = {}


def make_once(example: Example) -> Made:
    """A release of the example's data, the same in every call: look at it, and do not change it."""
    if id(example) not in _MADE:
        data = example.data()
        _MADE[id(example)] = Made(example, data, released(example, data))
    return _MADE[id(example)]


def make_all(kind: type[sf.Method]) -> list[Made]:
    """A release of every example of a method, of its modes too."""
    examples = [example for example in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if type(example.subject) is kind]
    return [make_once(example) for example in examples]
