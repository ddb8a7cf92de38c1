# SPDX-License-Identifier: MIT
"""One column of randomized answers: the possible ones, the channel, and the answer of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Ints
from sfumato.data.cells.cell_types import type_cells
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.protect.answers.answer_memory import AnswerDraws
from sfumato.public.answer_channel import NO_ANSWER, AnswerChannel, answer_by_chance, cast_categories, spell_bits


@dataclass(frozen=True, eq=False)
class AskedColumn:
    """A column whose answers are randomized."""

    name: str
    values: pl.Series
    """The possible answers, in the type in which they are published."""
    channel: AnswerChannel

    def find_codes(self, cells: pl.Series) -> Ints:
        """The number of each cell's answer, `NO_ANSWER` without one, less if it is none of the possible ones."""
        return self.channel.code_answers(self._read(cells))

    def refuse_strange(self, strange: int, source: str) -> None:
        """Stop if some cells are none of the possible answers."""
        if strange:
            raise DataError(
                f'{source}: "{self.name}": {count_noun(strange, "cell is", "cells are")} not among the '
                f"{len(self.values)} `categories`; add what occurs to `categories`, or omit them to use the values "
                "that occur"
            )

    def answer(self, cells: pl.Series, draws: AnswerDraws, first: int = 0) -> pl.Series:
        """The published answers of some rows, of which the first has a number."""
        codes = self.find_codes(cells)
        answered_rows = np.flatnonzero(codes != NO_ANSWER)
        tokens = draws.compute_tokens(self.name, self.channel, spell_cells(self._read(cells)), answered_rows, first)
        answers = answer_by_chance(
            codes[answered_rows],
            self.channel,
            lambda part, width: draws.draw_uniform(self.name, self.channel, tokens[part], width),
        )
        return _publish_answers(answers, answered_rows, self.values, len(cells)).alias(self.name)

    def _read(self, cells: pl.Series) -> pl.Series:
        return cells if self.values.dtype == cells.dtype else spell_cells(cells)


def list_answer_texts(name: str, values: pl.Series, source: str, *, is_given: bool, missing: bool) -> list[str | None]:
    """The possible answers as they are spelled, with a missing one if that is an answer; `is_given` if the policy
    lists them."""
    texts: list[str | None] = list(spell_cells(values))
    texts += [None] if missing else []
    if len(texts) < 2 and is_given:
        raise PolicyError(
            f'{source}: `categories` lists {len(texts)} possible answer for "{name}", which can hide nothing; list at '
            "least two"
        )
    if len(texts) < 2:
        raise DataError(
            f'{source}: "{name}" has fewer than two different values, so its answers can hide nothing; list '
            "the possible ones as `categories`"
        )
    return texts


def cast_given_answers(
    categories: Sequence[str | bool | int | float | date], name: str, kind: pl.DataType, source: str
) -> pl.Series:
    """Given categories as values, in a type that they decide: one cell may decide the column's."""
    texts = pl.Series("answer", [spell_category(category) for category in categories], dtype=pl.String)
    if kind.is_numeric() or kind in (pl.String, pl.Null):
        return _type_categories(texts, name)
    values = cast_categories(texts.to_list(), kind)
    if values is not None:
        return values
    raise PolicyError(
        f'{source}: some of the {len(categories)} `categories` are not spelled like cells of "{name}", '
        f"which holds {kind}; spell them the same way, dates as year-month-day"
    )


def spell_category(category: str | bool | int | float | date) -> str:
    """A category as a table spells it."""
    if isinstance(category, bool):
        return "true" if category else "false"
    if isinstance(category, float | date):
        return str(spell_cells(pl.Series([category]))[0])
    return str(category)


def _type_categories(texts: pl.Series, name: str) -> pl.Series:
    """Numbers if all categories are, otherwise text, whatever people answered."""
    values = type_cells(pl.DataFrame([texts])).to_series()
    if not spell_cells(values).eq_missing(texts).all():
        raise PolicyError(
            f'some `categories` of "{name}" are numbers in another spelling; write 1000, not 1e3 or 1000.0'
        )
    return values


def _publish_answers(answers: Ints | Bytes, answered_rows: Ints, values: pl.Series, rows: int) -> pl.Series:
    """Answers as a column of the table; a category without a value is a missing cell."""
    places = np.full(rows, -1, dtype=np.int64)
    if answers.ndim == 2:
        places[answered_rows] = np.arange(len(answered_rows))
        texts = spell_bits(answers.astype(np.uint8, copy=False))
    else:
        places[answered_rows] = np.where(answers < len(values), answers, -1)
        texts = values
    return texts.gather(pl.Series(places).set(pl.Series(places < 0), None))
