# SPDX-License-Identifier: MIT
"""Repeated answers: ask often enough, and the truth emerges from the randomness.

Against randomized response without memory. Each repetition costs another ε: with a yes or no that is true with
probability 0.7, the majority is right about 70.0, 83.7 and 95.0 % of the people after 1, 5 and 15 repetitions. Answers
that are derived from the person's identity (`memory`) are the same every time, so nothing is gained. Warner (JASA
1965); Erlingsson, Pihur, Korolova, *RAPPOR* (CCS 2014), on why answers are memoized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, PrivateAttr

from sfumato.arrays import Ints
from sfumato.attack.anonymity.composition import read_other
from sfumato.attack.answers.likeliest_answer import (
    AnswerVotes,
    CategoryShares,
    build_believed_frame,
    choose_answer_column,
    choose_likeliest_categories,
    count_true_guesses,
    get_published_frame,
)
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.candidates import trace_people
from sfumato.errors import DataError
from sfumato.public.answer_channel import AnswerChannel, answer_by_chance, get_channel, list_answered_columns
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class RepeatedAnswers(Attack):
    """An insurer gets the survey of every year, and believes of each customer what most years say.

    The adversary has this release and others about the same people (`other`, or `against`), whose rows come in the same
    order or are matched by the columns `by`. It adds up the log-likelihoods of all answers and guesses the most likely
    category, with the shares of categories or without them, or believes one answer, or guesses the most common
    category; the best of these counts. Copies of earlier answers, such as memoized ones, count once. `times` asks what
    further releases would reveal: answers are drawn again from the truth, as the method would, unless the release
    states that they are memoized. The baseline guesses the most common category for everybody. Warner 1965; Erlingsson,
    Pihur, Korolova 2014.
    """

    story: ClassVar[str] = "An insurer gets {target} of every year, and believes of each customer what most years say."
    public_fields: ClassVar[tuple[str, ...]] = ("column", "times", "by", "prior")
    private_fields: ClassVar[tuple[str, ...]] = ("other",)
    file_fields: ClassVar[tuple[str, ...]] = ("other",)
    column_fields: ClassVar[tuple[str, ...]] = ("column", "by")

    attack: Literal["repeated_answers"] = "repeated_answers"
    column: str | None = None
    """The column of answers; by default the randomized column, or else the sensitive one."""
    times: int = Field(default=1, ge=1)
    """How many answers everybody gives in total; `run` simulates the answers for which there is no release."""
    other: str | None = None
    """A further release about the same people: its folder, or a data file. It must use the same channel."""
    by: tuple[str, ...] | None = None
    """Columns that identify people in both releases; if omitted, rows are in the same order."""
    prior: Literal["estimated", "flat"] = "estimated"
    """Whether the estimated shares serve as a prior, or the answers alone decide."""
    _other_releases: tuple[Table | Release, ...] = PrivateAttr(default=())

    def add_releases(self, *releases: Table | Release) -> RepeatedAnswers:
        """The same attack with additional releases."""
        copy = self.model_copy()
        copy._other_releases = releases
        return copy

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess from all answers together; count correct guesses."""
        report_progress("repeated answers")
        name = choose_answer_column(release, self.column)
        people = trace_people(release, truth)
        shares = CategoryShares.of(release, name)
        votes, copies = self._collect_votes(release, name, truth)
        first_guess = get_published_frame(release)[name]
        guesses = {"as published": first_guess, "the most common": shares.commonest}
        answer_count = len(votes)
        if votes:
            chance = (randomness or Randomness.seeded(0)).generator()
            further = _simulate_answers(
                people.frame[name], votes[0].channel, self.times - answer_count - copies, chance
            )
            first_guess = self._guess(release, name, votes[:1], shares)
            guesses |= {
                way: attack._guess(release, name, [*votes, *further], shares)
                for way, attack in (("all answers", self), ("all answers, no shares", self._copy_without_shares()))
            }
            if len(votes) + copies > 1:  # few people may agree by chance as if answers had been copied
                every, _ = self._collect_votes(release, name, truth, keep_copies=True)
                guesses["copies too"] = self._copy_without_shares()._guess(release, name, every, shares)
            answer_count += len(further)
        right = {
            way: count_true_guesses(guess, people, name) for way, guess in {**guesses, "once": first_guess}.items()
        }
        return Outcome(
            attempts=len(people),
            successes=max(right.values()),
            baseline=right["the most common"],
            control=None if control is None else count_true_guesses(shares.commonest, control, name),
            targets=(name,),
            facts={
                "column": name,
                "answers": max(answer_count, 1),
                "copies": copies,
                "once_right": right["once"],
                "best_guess": max(right, key=right.__getitem__),
            },
        )

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release with each answer replaced by the guess from all releases."""
        name = choose_answer_column(release, self.column)
        votes, _ = self._collect_votes(release, name, release.data)
        if not votes:
            return get_published_frame(release)
        return build_believed_frame(
            release, name, self._choose_believed(votes, CategoryShares.of(release, name)), votes[0]
        )

    def _guess(self, release: Release, name: str, votes: Sequence[AnswerVotes], shares: CategoryShares) -> pl.Series:
        return build_believed_frame(release, name, self._choose_believed(votes, shares), votes[0])[name]

    def _copy_without_shares(self) -> RepeatedAnswers:
        return self.model_copy(update={"prior": "flat"})

    def _choose_believed(self, votes: Sequence[AnswerVotes], shares: CategoryShares) -> Ints:
        if self.prior == "estimated":
            return choose_likeliest_categories(votes, shares.prior)
        # The shares only break ties.
        rank = np.argsort(np.argsort(shares.overall, kind="stable"), kind="stable")
        return choose_likeliest_categories(votes, np.exp(1e-6 * rank / max(len(rank), 1))[None, :])

    def _collect_votes(
        self, release: Release, name: str, truth: Table, keep_copies: bool = False
    ) -> tuple[list[AnswerVotes], int]:
        """The distinct answers of this release and others, and how many are copies. Empty without a channel."""
        if name not in list_answered_columns(release):
            return [], 0
        frame, channel = get_published_frame(release), get_channel(release, name)
        votes, copies = [AnswerVotes.of(frame[name], channel, name)], 0
        other_releases: list[Table | Release] = list(self._other_releases)
        if self.other is not None:
            other_releases.append(read_other(Path(self.other), truth))
        for other_release in other_releases:
            table = other_release.data if isinstance(other_release, Release) else other_release
            has_channel = isinstance(other_release, Release) and name in list_answered_columns(other_release)
            cells = self._align_answers(frame, table, name)
            new_votes = AnswerVotes.of(
                cells,
                get_channel(other_release, name) if has_channel and isinstance(other_release, Release) else channel,
                name,
            )
            renumbered_votes = _renumber_votes(new_votes, channel)
            fresh = renumbered_votes if keep_copies else _drop_copied_votes(votes, renumbered_votes)
            votes += [] if fresh is None else [fresh]
            copies += fresh is None
        return votes, copies

    def _align_answers(self, frame: pl.DataFrame, other: Table, name: str) -> pl.Series:
        """The other release's answers, aligned to this release's rows."""
        needed_columns = (name, *(self.by or ()))
        if absent := [name for name in needed_columns if name not in other.frame.columns or name not in frame.columns]:
            raise DataError(f'{other.source}: there is no column "{absent[0]}" in both releases')
        if self.by is None:
            if len(other) != frame.height:
                raise DataError(
                    f"{other.source}: {len(other)} rows cannot be the same people as {frame.height}; name columns that "
                    "identify people as `by`"
                )
            return other.frame[name]
        keys = list(self.by)
        if frame.select(keys).is_duplicated().any() or other.frame.select(keys).is_duplicated().any():
            raise DataError(f"{other.source}: several rows agree in {', '.join(keys)}; name more columns as `by`")
        matches = frame.select(keys).join(
            other.frame.select([*keys, pl.col(name).alias("answer of the other")]),
            on=keys,
            how="left",
            nulls_equal=True,
        )
        return matches["answer of the other"].alias(name)


def _renumber_votes(votes: AnswerVotes, channel: AnswerChannel) -> AnswerVotes:
    """Another release's answers, renumbered to this release's categories."""
    other_channel = votes.channel
    if other_channel.categories == channel.categories:
        return votes
    category_index = {name: index for index, name in enumerate(channel.categories)}
    if not set(other_channel.categories) <= category_index.keys():
        raise DataError("the other release has answers that match none of this one's categories")
    new_codes = np.asarray([category_index[name] for name in other_channel.categories], dtype=np.int64)
    if votes.answers.ndim == 1:
        return replace(votes, answers=np.where(votes.answered_mask, new_codes[votes.answers], -1))
    bits = np.zeros((len(votes.answered_mask), len(category_index)), dtype=np.uint8)
    bits[:, new_codes] = votes.answers
    return replace(votes, answers=bits)


def _drop_copied_votes(earlier_votes: Sequence[AnswerVotes], votes: AnswerVotes) -> AnswerVotes | None:
    """What is new in an answer; None if nothing is.

    Independently drawn answers sometimes differ even if the truth is the same. Where they agree more often than halfway
    between the expected rate and always, they are memoized, and only those that differ carry information.
    """
    for earlier in earlier_votes:
        if earlier.channel.kind != votes.channel.kind or earlier.answers.shape != votes.answers.shape:
            continue
        common_mask = earlier.answered_mask & votes.answered_mask
        agree_mask = (
            (earlier.answers == votes.answers)
            if earlier.answers.ndim == 1
            else (earlier.answers == votes.answers).all(axis=1)
        )
        if common_mask.any() and float(agree_mask[common_mask].mean()) > (1 + _compute_agreement(earlier.channel)) / 2:
            fresh_mask = votes.answered_mask & ~(common_mask & agree_mask)
            return replace(votes, answered_mask=fresh_mask) if fresh_mask.any() else None
    return votes


def _compute_agreement(channel: AnswerChannel) -> float:
    """How often two independent answers of one person agree."""
    other_count = len(channel.categories) - 1
    if channel.one_answer:
        return channel.p**2 + other_count * channel.q**2
    alike = [p * p + (1 - p) ** 2 for p in (channel.p, channel.q)]
    return float(alike[0] * alike[1] ** other_count)


def _simulate_answers(
    truth: pl.Series, channel: AnswerChannel, times: int, chance: np.random.Generator
) -> list[AnswerVotes]:
    """Further answers of the same people, as the method would draw them; none if answers are memoized."""
    if channel.memoized or times < 1:
        return []
    codes = channel.code_answers(truth)
    answer_mask = codes >= 0
    size = len(channel.categories)
    votes: list[AnswerVotes] = []
    for _ in range(times):
        report_progress("asking everybody again", len(votes), times)
        drawn_answers = answer_by_chance(
            codes[answer_mask], channel, lambda part, width: chance.random((len(codes[answer_mask][part]), width))
        )
        answers = np.full(len(codes), -1) if drawn_answers.ndim == 1 else np.zeros((len(codes), size), dtype=np.uint8)
        answers[answer_mask] = drawn_answers
        votes.append(AnswerVotes(channel, answers, answer_mask))
    return votes
