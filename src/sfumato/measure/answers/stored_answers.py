# SPDX-License-Identifier: MIT
"""Check randomized answers on a release that stays in its file: counted some rows at a time, judged as in memory.

Not of bits, nor of people who are asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from sfumato.engine.aligned_batches import AlignedBatch, align_batches
from sfumato.measure.answers.answer_checks import (
    AnswerTally,
    compute_answer_epsilon,
    count_cells_changed_without_answers,
    count_errors,
    count_strange_answers,
    index_categories,
)
from sfumato.measure.checks import Arguments
from sfumato.measure.stored_checks import checks_stored_claim
from sfumato.release import Number

if TYPE_CHECKING:
    from sfumato.measure.stored_claims import StoredEvidence

_STEP = "comparing with the originals"


def _align_known_columns(evidence: StoredEvidence, columns: list[str]) -> Iterator[AlignedBatch]:
    assert evidence.comparison is not None
    comparison = evidence.comparison
    return align_batches(
        comparison.original.rows, comparison.published_table.rows, comparison.taken_rows, _STEP, columns
    )


@checks_stored_claim("strange_answers")
def _count_strange(evidence: StoredEvidence, arguments: Arguments) -> Number:
    outline = evidence.published_table.outline

    def count_batch(batch: pl.DataFrame, _: int) -> int:
        return count_strange_answers(outline.replace_frame(batch), **arguments)

    return sum(evidence.published_table.rows.examine_batches(count_batch, [arguments["column"]]))


@checks_stored_claim("answers_off_channel")
def _measure_deviation(evidence: StoredEvidence, arguments: Arguments) -> Number:
    """As `measure_channel_deviation` of single answers, of which each row has its own."""
    name, categories = arguments["column"], list(arguments["categories"])
    names = [*categories, None] if arguments["missing"] == "answer" else categories
    tally = AnswerTally(len(names))
    for original_frame, published_frame in _align_known_columns(evidence, [name]):
        truth = index_categories(original_frame[name], names)
        row_mask = truth >= 0
        tally.add(truth[row_mask], index_categories(published_frame[name], names)[row_mask])
    return count_errors(tally.test(arguments["p"], arguments["q"]))


@checks_stored_claim("changed_without_answers")
def _count_changed_besides(evidence: StoredEvidence, arguments: Arguments) -> Number:
    assert evidence.comparison is not None
    return evidence.comparison.count_aligned(
        lambda original, published_table: count_cells_changed_without_answers(original, published_table, **arguments)
    )


checks_stored_claim("answer_epsilon")(lambda _, arguments: compute_answer_epsilon(**arguments))
