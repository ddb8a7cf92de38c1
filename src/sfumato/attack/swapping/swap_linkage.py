# SPDX-License-Identifier: MIT
"""Linkage of swapped records: find someone's row by all other columns, and read or correct the confidential value.

Against swapping (Li and Sarkar 2004). Only confidential values were changed, so a person is found as easily as before;
what is read is true unless it was swapped. An adversary who also knows the method goes further: swaps were chosen for
being cheap, so a value that the release makes unlikely is either true or was cheap to swap, and a naive Bayes estimate
from the release itself helps to decide. That is the idea of minimality (Wong, Fu, Wang, Pei 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.anonymity.links import Links
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.candidates import (
    CandidateSets,
    ValueTally,
    choose_candidates,
    choose_sensitive_columns,
    draw_tried_people,
)
from sfumato.change import ChangeKind
from sfumato.details import SwapDetails
from sfumato.engine.classes import pack_row_keys
from sfumato.errors import DataError, PolicyError
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class _LearntValues(NamedTuple):
    """About each person."""

    hit: Flags
    """Whether the value is learned."""
    blind: Flags
    """Whether it is guessed without looking."""
    unique_mask: Flags
    """Whether just one row fits."""


class SwapLinkage(Attack):
    """A colleague knows everything about someone but the salary, finds the one matching row, and reads the salary
    there.

    The adversary knows that the person is in the table, and their non-confidential values. It takes the matching rows
    and believes what most of them say; ties go to the more common value. With `knows = "method"` it first reverts
    likely swaps: among unique rows it takes the share that was swapped, those whose value is least likely compared with
    another one by a naive Bayes estimate from the release, and believes the likeliest other value; if that is right
    less often than the published value, it reverts nothing. The facts state for how many unique people the estimate
    alone predicts the value: only what goes beyond that is due to swapping. The baseline guesses the release's most
    common value for those about whom rows tell one. Li, Sarkar 2004; Wong, Fu, Wang, Pei 2007.
    """

    story: ClassVar[str] = "A colleague knows a person's {known}, finds the rows that match, and reads {any} there."
    public_fields: ClassVar[tuple[str, ...]] = ("column", "knowledge", "knows", "share")
    speaks_of_some: ClassVar[bool] = True
    report_labels: ClassVar[Mapping[str, str]] = {"share": "Share of unique records that were swapped"}
    column_fields: ClassVar[tuple[str, ...]] = ("column", "knowledge")

    attack: Literal["swap_linkage"] = "swap_linkage"
    column: str | None = None
    """The confidential column; by default those that the release lists as swapped, or else every sensitive one.
    Learning one of them is a success.
    """
    knowledge: tuple[str, ...] | None = None
    """The columns by which the adversary finds a row; by default the quasi-identifying ones."""
    knows: Literal["release", "method"] = "release"
    """Whether it believes what it reads, or reverts likely swaps first."""
    share: float | None = Field(default=None, ge=0.0, le=1.0)
    """The share of unique records that were swapped; by default that of the release's method."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; count those whose value is learned."""
        published_table: Table = release.data
        names = self._choose_columns(release)
        report_progress("linkage of swapped records")
        known_columns = self._choose_known_columns(published_table, names)
        people, control = draw_tried_people(release, truth, control, known_columns)
        believed_table = replace(published_table, frame=self.estimate(release))

        def count_learnt(links: Links) -> float:
            return float(self._flag_learned(CandidateSets.of(links), believed_table, people, names).hit.sum())

        links, look_up = choose_candidates(release, people, known_columns, count_learnt)
        sets = CandidateSets.of(links)
        hit, _, unique_mask = self._flag_learned(sets, believed_table, people, names)
        reading = self._flag_learned(sets, published_table, people, names)
        if reading.hit.sum() > hit.sum():
            believed_table, hit = published_table, reading.hit
        facts = {"alone": int(unique_mask.sum()), "alone_right": int((hit & unique_mask).sum()), "columns": list(names)}
        return Outcome(
            attempts=len(people),
            successes=int(hit.sum()),
            baseline=int(reading.blind.sum()),
            control=None
            if control is None
            else int(self._flag_learned(CandidateSets.of(look_up(control)), believed_table, control, names).hit.sum()),
            targets=names,
            known_columns=(known_columns,),
            facts=facts
            if self.knows == "release"
            else facts | self._count_doubts(sets, published_table, believed_table, people, names),
        )

    def _choose_columns(self, release: Release) -> tuple[str, ...]:
        """The columns to learn: the named one, or else those that the release lists as swapped."""
        swapped_columns = tuple(change.column for change in release.changes if change.kind is ChangeKind.SWAPPED)
        return (
            swapped_columns
            if self.column is None and swapped_columns
            else choose_sensitive_columns(release.data, self.column)
        )

    def _count_doubts(
        self, sets: CandidateSets, published_table: Table, believed_table: Table, people: Table, names: tuple[str, ...]
    ) -> dict[str, int]:
        """How many cells were reverted, and for how many unique people the estimate alone predicts the value."""
        known_columns = self._choose_known_columns(published_table, names)
        columns = [undo_likeliest_swaps(published_table.frame, name, known_columns, None) for name in names]
        predicted_table = replace(published_table, frame=published_table.frame.with_columns(columns))
        hit, _, unique_mask = self._flag_learned(sets, predicted_table, people, names)
        put_back = sum(int(believed_table.frame[name].ne_missing(published_table.frame[name]).sum()) for name in names)
        return {"reverted": put_back, "unique_predicted": int((hit & unique_mask).sum())}

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release as the adversary believes it was before swapping."""
        published_table: Table = release.data
        if self.knows == "release":
            return published_table.frame
        share = self._choose_share(release)
        names = self._choose_columns(release)
        known_columns = self._choose_known_columns(published_table, names)
        return published_table.frame.with_columns(
            undo_likeliest_swaps(published_table.frame, name, known_columns, share) for name in names
        )

    def _flag_learned(
        self, sets: CandidateSets, believed_table: Table, people: Table, names: tuple[str, ...]
    ) -> _LearntValues:
        """For whom the value is learned, for whom it is guessed blindly, and who links to a single row."""
        hit, blind = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.bool_)
        for name in names:
            tally: ValueTally = sets.tally(believed_table, people, name)
            hit |= sets.spread_to_people(tally.commonest, -2) == tally.truth
            blind |= sets.spread_to_people(tally.commonest < tally.value_count) & (tally.truth == 0)
        return _LearntValues(hit, blind, sets.spread_to_people(sets.sizes == 1))

    def _choose_known_columns(self, published_table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
        candidate_columns = published_table.quasi_identifying if self.knowledge is None else self.knowledge
        known_columns = tuple(name for name in candidate_columns if name not in names)
        if not known_columns:
            raise DataError(f"{published_table.source}: no column is known to find people by; name some")
        return known_columns

    def _choose_share(self, release: Release) -> float:
        details = release.details.get_family(SwapDetails)
        share = details.share if self.share is None and details is not None else self.share
        if share is None:
            raise PolicyError("the release does not state which share of the records was swapped; give `share`")
        return share


def undo_likeliest_swaps(
    frame: pl.DataFrame, column: str, known_columns: tuple[str, ...], share: float | None
) -> pl.Series:
    """A column with the likeliest swaps reverted, among rows that are unique in the known columns.

    Without a share, the published values in those rows are ignored: they get the likeliest value.
    """
    values = frame[column].drop_nulls().unique().sort()
    codes = frame[column].rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64) - 1
    key, _ = pack_row_keys(frame, known_columns)
    _, number, sizes = np.unique(key, return_inverse=True, return_counts=True)
    unique_rows = np.flatnonzero((sizes[number.reshape(-1)] == 1) & (codes >= 0))
    if not len(unique_rows) or len(values) < 2:
        return frame[column]
    chances = _estimate_value_chances(
        [_rank_values(frame[name]) for name in known_columns], codes, len(values), unique_rows
    )
    guessed_codes = codes.copy()
    if share is None:
        guessed_codes[unique_rows] = chances.argmax(axis=1)
    else:
        positions, shown_codes = np.arange(len(unique_rows)), codes[unique_rows]
        shown_chances = chances[positions, shown_codes].copy()
        chances[positions, shown_codes] = -1.0
        other = chances.argmax(axis=1)
        order = np.argsort(shown_chances - chances[positions, other], kind="stable")[: round(share * len(unique_rows))]
        guessed_codes[unique_rows[order]] = other[order]
    return values.gather(pl.Series(guessed_codes).set(pl.Series(guessed_codes < 0), None)).alias(column)


def _rank_values(column: pl.Series) -> Ints:
    return column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64)


def _estimate_value_chances(known_codes: list[Ints], codes: Ints, categories: int, rows: Ints) -> Floats:
    """The naive Bayes estimate of every value's probability from the release, with add-one smoothing."""
    present_mask = codes >= 0
    totals = np.bincount(codes[present_mask], minlength=categories)
    logs = np.broadcast_to(np.log(totals / totals.sum()), (len(rows), categories)).copy()
    for column in known_codes:
        width = int(column.max()) + 1
        counts = np.bincount(column[present_mask] * categories + codes[present_mask], minlength=width * categories)
        logs += np.log((counts.reshape(width, categories) + 1) / (totals + width))[column[rows]]
    chances: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances
