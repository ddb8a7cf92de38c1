# SPDX-License-Identifier: MIT
"""Repeated answers: whoever is asked often enough has told the truth.

Against randomized response without memory. Each asking tells ε more: of a yes or no that is true with probability 0.7,
the majority is right about 70.0, 83.7 and 95.0 % of the people after 1, 5 and 15 askings. Answers that follow from who
is asked (`memory`) are the same every time, and nothing is gained. Warner (JASA 1965); Erlingsson, Pihur,
Korolova, *RAPPOR* (CCS 2014), on why answers are memoized.
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
from sfumato.attack.anonymity.candidates import people_of
from sfumato.attack.anonymity.composition import read_other
from sfumato.attack.answers.likeliest_answer import (
    Shares,
    Votes,
    answer_column,
    believed,
    believed_frame,
    published_frame,
    right,
)
from sfumato.attack.attack import Attack, Outcome
from sfumato.errors import DataError
from sfumato.progress import tell
from sfumato.public.answer_channel import Channel, answer_by_chance, answered_columns, channel_of
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


class RepeatedAnswers(Attack):
    """An insurer gets the survey of every year, and takes of each customer what most years say.

    The adversary has this release and others about the same people (`other`, or `against`), whose rows come in the same
    order or are told by the columns `by`. It adds up what each answer makes likely and believes the likeliest
    category. Answers that are copies of earlier ones, as memoized ones are, are counted once. `times` asks what further
    releases would tell: answers are drawn anew from the truth, as the method would, unless the release says
    that they are memoized. The baseline believes the commonest category of everybody. Warner 1965; Erlingsson, Pihur,
    Korolova 2014.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("column", "times", "by", "prior")
    private_fields: ClassVar[tuple[str, ...]] = ("other",)

    attack: Literal["repeated_answers"] = "repeated_answers"
    column: str | None = None
    """The answers to see through; the randomized column if not given, or the sensitive one."""
    times: int = Field(default=1, ge=1)
    """How often everybody is asked in all; what there are no releases of is simulated, by `run` alone."""
    other: str | None = None
    """A further release about the same people: its folder, or a data file. It is taken for one by the same channel."""
    by: tuple[str, ...] | None = None
    """Columns that tell who is who in both; rows stand in the same order if not given."""
    prior: Literal["estimated", "flat"] = "estimated"
    """Whether commoner categories are believed sooner, or the majority of the answers alone decides."""
    _others: tuple[Table | Release, ...] = PrivateAttr(default=())

    def against(self, *others: Table | Release) -> RepeatedAnswers:
        """The same attack with further releases at hand."""
        copy = self.model_copy()
        copy._others = others
        return copy

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Believe what all answers together say of everybody; count what is true."""
        tell("repeated answers")
        name = answer_column(release, self.column)
        people = people_of(release, truth)
        shares = Shares.of(release, name)
        votes, copies = self._votes(release, name, truth)
        frame = published_frame(release)
        once = guessed = frame[name]
        asked = len(votes)
        if votes:
            chance = (randomness or Randomness.seeded(0)).generator()
            further = _drawn(people.frame[name], votes[0].channel, self.times - asked - copies, chance)
            once = believed_frame(release, name, self._believed(votes[:1], shares), votes[0])[name]
            guessed = believed_frame(release, name, self._believed([*votes, *further], shares), votes[0])[name]
            asked += len(further)
        return Outcome(
            attempts=len(people),
            successes=right(guessed, people, name),
            baseline=right(shares.commonest, people, name),
            control=None if control is None else right(shares.commonest, control, name),
            facts={"column": name, "answers": max(asked, 1), "copies": copies, "once_right": right(once, people, name)},
        )

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release with what all releases at hand say in the place of the answers."""
        name = answer_column(release, self.column)
        votes, _ = self._votes(release, name, release.data)
        if not votes:
            return published_frame(release)
        return believed_frame(release, name, self._believed(votes, Shares.of(release, name)), votes[0])

    def _believed(self, votes: Sequence[Votes], shares: Shares) -> Ints:
        if self.prior == "estimated":
            return believed(votes, shares.prior)
        # The shares break ties, and do nothing else.
        rank = np.argsort(np.argsort(shares.overall, kind="stable"), kind="stable")
        return believed(votes, np.exp(1e-6 * rank / max(len(rank), 1))[None, :])

    def _votes(self, release: Release, name: str, truth: Table) -> tuple[list[Votes], int]:
        """What this release and others say, each different one; and how many are copies. Nothing without a channel."""
        if name not in answered_columns(release):
            return [], 0
        frame, channel = published_frame(release), channel_of(release, name)
        votes, copies = [Votes.of(frame[name], channel, name)], 0
        others: list[Table | Release] = list(self._others)
        if self.other is not None:
            others.append(read_other(Path(self.other), truth))
        for one in others:
            table = one.data if isinstance(one, Release) else one
            known = isinstance(one, Release) and name in answered_columns(one)
            cells = self._aligned(frame, table, name)
            said = Votes.of(cells, channel_of(one, name) if known and isinstance(one, Release) else channel, name)
            fresh = _not_copied(votes, _in_order(said, channel))
            votes += [] if fresh is None else [fresh]
            copies += fresh is None
        return votes, copies

    def _aligned(self, frame: pl.DataFrame, other: Table, name: str) -> pl.Series:
        """The other release's answers, in this one's rows."""
        needed = (name, *(self.by or ()))
        if absent := [one for one in needed if one not in other.frame.columns or one not in frame.columns]:
            raise DataError(f"{other.source}: there is no column «{absent[0]}» in both releases")
        if self.by is None:
            if len(other) != frame.height:
                raise DataError(
                    f"{other.source}: {len(other)} rows cannot be the same people as {frame.height}; name columns that "
                    "tell who is who as `by`"
                )
            return other.frame[name]
        keys = list(self.by)
        if frame.select(keys).is_duplicated().any() or other.frame.select(keys).is_duplicated().any():
            raise DataError(f"{other.source}: several rows agree in {', '.join(keys)}; name more columns as `by`")
        found = frame.select(keys).join(
            other.frame.select([*keys, pl.col(name).alias("answer of the other")]),
            on=keys,
            how="left",
            nulls_equal=True,
        )
        return found["answer of the other"].alias(name)


def _in_order(votes: Votes, channel: Channel) -> Votes:
    """Another release's answers, its categories numbered as in this one's."""
    theirs = votes.channel
    if theirs.categories == channel.categories:
        return votes
    place = {name: at for at, name in enumerate(channel.categories)}
    if not set(theirs.categories) <= place.keys():
        raise DataError("the other release has answers that are none of this one's categories")
    moved = np.asarray([place[name] for name in theirs.categories], dtype=np.int64)
    if votes.answers.ndim == 1:
        return replace(votes, answers=np.where(votes.there, moved[votes.answers], -1))
    bits = np.zeros((len(votes.there), len(place)), dtype=np.uint8)
    bits[:, moved] = votes.answers
    return replace(votes, answers=bits)


def _not_copied(before: Sequence[Votes], said: Votes) -> Votes | None:
    """What is new in an answer; None if nothing is.

    Answers drawn independently differ now and then even if the same is true. Where they agree more often than halfway
    between that and always, they follow from who is asked, and only those that differ say something.
    """
    for one in before:
        if one.channel.kind != said.channel.kind or one.answers.shape != said.answers.shape:
            continue
        both = one.there & said.there
        same = (one.answers == said.answers) if one.answers.ndim == 1 else (one.answers == said.answers).all(axis=1)
        if both.any() and float(same[both].mean()) > (1 + _agreement(one.channel)) / 2:
            left = said.there & ~(both & same)
            return replace(said, there=left) if left.any() else None
    return said


def _agreement(channel: Channel) -> float:
    """How often two independent answers of one person agree."""
    others = len(channel.categories) - 1
    if channel.one_answer:
        return channel.p**2 + others * channel.q**2
    alike = [p * p + (1 - p) ** 2 for p in (channel.p, channel.q)]
    return float(alike[0] * alike[1] ** others)


def _drawn(truth: pl.Series, channel: Channel, times: int, chance: np.random.Generator) -> list[Votes]:
    """Further answers of the same people, as the method would draw them; none if answers are memoized."""
    if channel.memoized or times < 1:
        return []
    codes = channel.codes(truth)
    there = codes >= 0
    size = len(channel.categories)
    found: list[Votes] = []
    for _ in range(times):
        tell("asking everybody again", len(found), times)
        said = answer_by_chance(
            codes[there], channel, lambda part, width: chance.random((len(codes[there][part]), width))
        )
        answers = np.full(len(codes), -1) if said.ndim == 1 else np.zeros((len(codes), size), dtype=np.uint8)
        answers[there] = said
        found.append(Votes(channel, answers, there))
    return found
