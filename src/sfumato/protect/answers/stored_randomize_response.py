# SPDX-License-Identifier: MIT
"""Randomized answers in a table that stays where it is, some rows at a time.

An answer follows from the secret of the run, the question and the number of the row, as in memory; so a batch that is
done again gives the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, PolicyError
from sfumato.protect.answers.answer_memory import AnswerDraws
from sfumato.protect.answers.asked_column import AskedColumn
from sfumato.protect.answers.randomize_response import RandomizedColumn, RandomizeResponse
from sfumato.protect.rowwise_plan import RowwisePlan
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.public.answer_channel import NO_ANSWER
from sfumato.randomness import Randomness
from sfumato.release import Release

MOST_CATEGORIES = 1 << 16
"""More different answers than that are not taken from the data."""


@dataclass(frozen=True, eq=False, repr=False)
class AnswerPlan(RowwisePlan):
    """The channel of each column."""

    asked_columns: tuple[AskedColumn, ...]
    draws: AnswerDraws

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The rows with the answers of their numbers."""
        cells = [column.answer(rows[column.name], self.draws, first) for column in self.asked_columns]
        return rows.drop(self.table.outline.identifying, strict=False).with_columns(cells)


class StoredRandomizeResponse(StoredTableMethod[RandomizeResponse]):
    """Each answer is drawn anew; none is remembered."""

    runs = "randomize_response drawn afresh"

    def explain_unstored(self, method: RandomizeResponse) -> str | None:
        """What of the method does not run on stored rows; None if it runs."""
        for field in ("memory", "person"):
            if getattr(method, field) is not None:
                return f"randomize_response with {field}"
        return "randomize_response with kind = unary" if method.kind == "unary" else None

    def plan(self, method: RandomizeResponse, table: StoredTable, randomness: Randomness) -> AnswerPlan:
        """Find the possible answers, and set up the channel of each column."""
        outline = table.outline
        names = method.list_columns(outline)
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows")
        draws = AnswerDraws.draw_afresh(randomness)
        asked_columns = tuple(_ask_stored_column(method, table, name) for name in names)
        plan = AnswerPlan(table, Release(outline, method, (), {}), asked_columns, draws)
        frame = plan.publish(outline.frame)
        columns = [RandomizedColumn(column.name, column.channel, frame[column.name]) for column in asked_columns]
        return replace(plan, release=method.describe_release(outline, frame, columns))


def _ask_stored_column(method: RandomizeResponse, table: StoredTable, name: str) -> AskedColumn:
    count = table.rows.count_values(name)
    if count > MOST_CATEGORIES:
        raise DataError(
            f'{table.source}: "{name}" has {count:,} different values, too many for answers; randomize a column of '
            "categories, or use add_noise for numbers"
        )
    asked_column = method.ask(name, table.outline, table.list_values(name))
    if not asked_column.channel.one_answer:
        raise PolicyError(
            f'{table.source}: with {len(asked_column.values)} categories and this epsilon, kind = auto makes "{name}" '
            "a column of bits, which this engine does not run; set kind = k_ary, or use --engine memory"
        )
    value_counts = table.count_values(name)
    codes = asked_column.find_codes(value_counts.frame[name])
    asked_column.refuse_strange(int(value_counts.counts[codes < NO_ANSWER].sum()), table.source)
    return asked_column
