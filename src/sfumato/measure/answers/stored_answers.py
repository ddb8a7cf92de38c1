# SPDX-License-Identifier: MIT
"""Check randomized answers on a release that stays in its file: counted some rows at a time, judged as in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.engine.aligned_batches import AlignedBatch, align_batches
from sfumato.measure.answers.answer_checks import (
    AnswerTally,
    compute_answer_epsilon,
    count_cells_changed_besides_answers,
    count_errors,
    count_strange_answers,
    index_categories,
)
from sfumato.release import Number

if TYPE_CHECKING:
    from sfumato.measure.anonymity.stored_claims import StoredEvidence

Arguments = Mapping[str, Any]


def _align(evidence: StoredEvidence, chosen: list[str] | None = None) -> Iterator[AlignedBatch]:
    assert evidence.comparison is not None
    compared = evidence.comparison
    rows = compared.original.rows, compared.published.rows, compared.taken
    return align_batches(*rows, "comparing with the originals", chosen)


def _count_strange(evidence: StoredEvidence, arguments: Arguments) -> Number:
    published = evidence.published
    batches = published.rows.iterate_batches([arguments["column"]])
    return sum(count_strange_answers(published.outline.with_frame(batch), **arguments) for batch in batches)


def _measure_deviation(evidence: StoredEvidence, arguments: Arguments) -> Number:
    """As `measure_channel_deviation` of single answers, of which each row has its own."""
    name, categories = arguments["column"], list(arguments["categories"])
    names = [*categories, None] if arguments["missing"] == "answer" else categories
    tally = AnswerTally(len(names))
    for before, after in _align(evidence, [name]):
        truth = index_categories(before[name], names)
        there = truth >= 0
        tally.add(truth[there], index_categories(after[name], names)[there])
    return count_errors(tally.test(arguments["p"], arguments["q"]))


def _count_changed_besides(evidence: StoredEvidence, arguments: Arguments) -> Number:
    assert evidence.comparison is not None
    original, published = evidence.comparison.original.outline, evidence.published.outline
    return sum(
        count_cells_changed_besides_answers(original.with_frame(before), published.with_frame(after), **arguments)
        for before, after in _align(evidence)
    )


ANSWER_MEASURES: Mapping[str, Callable[[StoredEvidence, Arguments], Number]] = {
    "answer_epsilon": lambda _, arguments: compute_answer_epsilon(**arguments),
    "strange_answers": _count_strange,
    "answers_off_channel": _measure_deviation,
    "changed_beside_answers": _count_changed_besides,
}
"""Claims about answers that can be measured on a file; not of bits, nor of people who are asked again."""
