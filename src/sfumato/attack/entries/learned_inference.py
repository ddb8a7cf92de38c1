# SPDX-License-Identifier: MIT
"""Learned inference: train on the visible entries, and predict the blank ones.

Against a release that is safe from rules. Suppression by FAiR and GraDeS (Aggarwal, Pei, Zhang, KDD 2006) promises that
no *rule* predicts a private entry; a learner combines many weak hints, none of which is a rule. This attack measures
how far that gets: compared with the prior, and with held-out visible entries, which are learned equally well without
any breach. The learners are in `mine.entries.learner`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.arrays import Ints
from sfumato.attack.attack import Outcome, compute_wilson_interval
from sfumato.attack.entries.entry_attack import EntryAttack
from sfumato.attack.entries.private_cells import PrivateCells, draw_strangers, list_private_cells
from sfumato.attack.row_distance import compare_with_control, require_attacked_columns
from sfumato.mine.entries.learner import (
    INTERVALS,
    LEARNERS,
    TRAINING_ROWS,
    ColumnGuesses,
    LearningBudget,
    predict_hidden,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

Learner = Literal["boosting", "bayes", "neighbours"]


class LearnedInference(EntryAttack):
    """A data scientist downloads the table, trains a model of each column, and lets it fill in the blank entries.

    The adversary has the release and nothing else. For each column it picks, from several learners, the one that
    predicts most of the held-out visible entries, or guesses the most common value if that is right more often; that an
    entry is blank is a feature like any other. A number is right
    if its interval is, any other value if it is the same; a visible entry is simply read. The risk is the share of
    private entries predicted correctly; the baseline guesses the most common value. The control is how well the same
    learners do on visible entries outside their training set, as many in each column; with a control table, on people
    who are not in the data. Releases against rules (Aggarwal, Pei, Zhang 2006) do not promise to withstand this attack.
    """

    story: ClassVar[str] = (
        "A data scientist downloads the table, trains a model, and lets it fill in the blank entries of {target}."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("learners", "training_rows", "intervals")

    attack: Literal["learned_inference"] = "learned_inference"
    columns: tuple[str, ...] | None = None
    """Columns that are private as a whole; by default the entries that the release hides."""
    learners: tuple[Learner, ...] = LEARNERS  # type: ignore[assignment]  # LEARNERS are the values of Learner
    """The learners to try: gradient boosting, naive Bayes, nearest neighbours."""
    training_rows: int = Field(default=TRAINING_ROWS, ge=10)
    """The most rows to train a learner on; a random sample if there are more."""
    intervals: int = Field(default=INTERVALS, ge=2)
    """A column with more distinct numbers is predicted in this many intervals with about equally many rows."""

    @field_validator("learners")
    @classmethod
    def _check_learners(cls, names: tuple[Learner, ...]) -> tuple[Learner, ...]:
        if not names or len(set(names)) < len(names):
            raise ValueError("name at least one learner, each once")
        return names

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Predict every private entry; count correct predictions."""
        cells = list_private_cells(release, truth, self.columns)
        require_attacked_columns(
            [cells_of_column.column for cells_of_column in cells], release.data, release.data, control
        )
        chance = (randomness or Randomness.seeded(0)).generator()
        report_progress("learned inference")
        task = _GuessingTask.of(release.data.frame, cells, control, chance)
        budget = LearningBudget(self.training_rows, self.intervals)
        column_guesses = predict_hidden(task.frame, task.questions, self.learners, chance, budget, task.release_mask)
        guesses_by_column = {guesses.column: guesses for guesses in column_guesses}
        tallies = [
            task.tally(cells_of_column, guesses_by_column.get(cells_of_column.column), chance)
            for cells_of_column in cells
        ]
        attempts, successes = sum(tally.cells for tally in tallies), sum(tally.hits for tally in tallies)
        control_hits, strangers = sum(tally.control for tally in tallies), sum(tally.control_cells for tally in tallies)
        return Outcome(
            attempts=attempts,
            successes=successes,
            baseline=sum(tally.prior for tally in tallies),
            control=control_hits,
            targets=tuple(tally.column for tally in tallies),
            facts={
                "control_group": "visible entries held out" if control is None else "people not in the data",
                "control_interval": [round(end, 12) for end in compute_wilson_interval(control_hits, strangers)],
                "baseline_interval": [
                    round(end, 12) for end in compute_wilson_interval(sum(tally.prior for tally in tallies), attempts)
                ],
                "training_rows": self.training_rows,
                "columns": {tally.column: tally.facts for tally in tallies},
                **compare_with_control(successes, attempts, control_hits, strangers),
            },
        )


@dataclass(frozen=True)
class _LearnedTally:
    """The result for one column."""

    column: str
    cells: int
    hits: int
    prior: int
    control: int
    control_cells: int
    facts: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _GuessingTask:
    """The release with the strangers' rows below it, and the entries to predict."""

    frame: pl.DataFrame
    questions: pl.DataFrame
    release_mask: np.ndarray[Any, np.dtype[np.bool_]]
    """The number of rows of the release; nothing is learned from strangers."""
    strangers: dict[str, pl.Series]
    """For each column, the true values of the strangers asked about."""

    @classmethod
    def of(
        cls, frame: pl.DataFrame, cells: Sequence[PrivateCells], control: Table | None, chance: np.random.Generator
    ) -> _GuessingTask:
        parts, questions, strangers, rows = (
            [frame],
            [_build_question_frame("", np.zeros(0, dtype=np.int64))],
            {},
            frame.height,
        )
        for cells_of_column in cells:
            questions.append(
                _build_question_frame(
                    cells_of_column.column, cells_of_column.rows[cells_of_column.published_cells.is_null().to_numpy()]
                )
            )
            if control is not None:
                stranger_frame = draw_strangers(control, len(cells_of_column.rows), chance)
                strangers[cells_of_column.column] = stranger_frame[cells_of_column.column]
                parts.append(_mask_strangers(stranger_frame, frame, cells_of_column))
                questions.append(
                    _build_question_frame(
                        cells_of_column.column, np.arange(rows, rows + stranger_frame.height, dtype=np.int64)
                    )
                )
                rows += stranger_frame.height
        return cls(pl.concat(parts), pl.concat(questions), np.arange(rows) < frame.height, strangers)

    def tally(self, cells: PrivateCells, guesses: ColumnGuesses | None, chance: np.random.Generator) -> _LearnedTally:
        """Count correct predictions for one column; without guesses, everything was visible."""
        hidden_mask = cells.published_cells.is_null().to_numpy()
        read = int((cells.published_cells == cells.truth).sum())
        if guesses is None:
            everyday = cells.published_cells.drop_nulls().mode().sort().head(1)
            prior = int((cells.truth == everyday[0]).sum())
            return _LearnedTally(
                cells.column,
                len(hidden_mask),
                read,
                prior,
                0,
                0,
                {"cells": len(hidden_mask), "visible": len(hidden_mask)},
            )
        hidden_count = int(hidden_mask.sum())
        true = guesses.classes.number(cells.truth)
        right = (guesses.guess[:hidden_count] == true[hidden_mask]) & (true[hidden_mask] >= 0)
        common = int(((true[hidden_mask] == guesses.prior) & (true[hidden_mask] >= 0)).sum())
        control_hits, count = self._count_control_hits(cells.column, guesses, hidden_count, chance)
        return _LearnedTally(
            cells.column,
            len(hidden_mask),
            read + max(int(right.sum()), common),
            int(((true == guesses.prior) & (true >= 0)).sum()),
            control_hits,
            count,
            _state_learner_facts(guesses, hidden_mask, right, control_hits, count),
        )

    def _count_control_hits(
        self, column: str, guesses: ColumnGuesses, hidden_count: int, chance: np.random.Generator
    ) -> tuple[int, int]:
        """Correct predictions of entries that are not private, and how many of those there were: as many as private
        ones.
        """
        if column in self.strangers:
            true = guesses.classes.number(self.strangers[column])
            return int(((guesses.guess[hidden_count:] == true) & (true >= 0)).sum()), len(true)
        held_out_hits = guesses.held_out
        sample_indices = chance.permutation(len(held_out_hits))[:hidden_count]
        return int(held_out_hits[sample_indices].sum()), len(sample_indices)


def _state_learner_facts(
    guesses: ColumnGuesses, hidden_mask: Any, right: Any, control: int, control_cells: int
) -> dict[str, Any]:
    claimed_confidence = guesses.confidence[: len(right)]
    return {
        "cells": len(hidden_mask),
        "visible": int((~hidden_mask).sum()),
        "hits": int(right.sum()),
        "learner": guesses.learner,
        "held_out_scores": dict(guesses.scores),
        "classes": guesses.classes.count,
        "intervals": guesses.classes.values is None,
        "visible_entries": guesses.visible,
        "trained_on": guesses.trained_on,
        "too_rare_to_learn": guesses.rare,
        "confidence_claimed": round(float(claimed_confidence.mean()), 12) if len(claimed_confidence) else None,
        "confidence_found": round(float(right.mean()), 12) if len(right) else None,
        "control": control,
        "control_cells": control_cells,
    }


def _build_question_frame(column: str, rows: Ints) -> pl.DataFrame:
    return pl.DataFrame({"row": rows, "column": pl.Series([column] * len(rows), dtype=pl.String)})


def _mask_strangers(stranger_frame: pl.DataFrame, frame: pl.DataFrame, cells: PrivateCells) -> pl.DataFrame:
    """Strangers, with the same columns visible as for the person whose entry is predicted."""
    model = frame[cells.rows]
    columns = []
    for name, kind in frame.schema.items():
        stranger_cells = (
            stranger_frame[name] if name in stranger_frame.columns else pl.Series(name, [None] * stranger_frame.height)
        )
        visible_mask = model[name].is_not_null() if name != cells.column else pl.Series([False] * stranger_frame.height)
        columns.append(
            stranger_cells.cast(kind, strict=False).zip_with(visible_mask, pl.Series(name, [None], dtype=kind))
        )
    return pl.DataFrame(columns)
