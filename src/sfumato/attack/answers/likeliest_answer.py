# SPDX-License-Identifier: MIT
"""The likeliest answer: infer one person's true answer from their randomized answer and the overall shares.

Against randomized response. The channel is public, and the release exists to publish the shares; Bayes' rule combines
them. What the answer adds to the shares is bounded by e^ε. But where most people give the same answer, the shares alone
reveal nearly everything: that is knowledge about the world, and the baseline measures it. Evfimievski, Gehrke, Srikant,
*Limiting privacy breaches in privacy preserving data mining* (PODS 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from sfumato.arrays import Bytes, Flags, Floats, Ints
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.candidates import trace_people
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.mine.answers.proportions import encode_answers, estimate_joint, estimate_proportions
from sfumato.public.answer_channel import AnswerChannel, cast_categories, get_channel, list_answered_columns
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_CELLS = 4_000_000


class LikeliestAnswer(Attack):
    """An employer reads that someone "said yes", knows that chance may have said so too, and infers the likely truth.

    The adversary knows which row is whose, how answers were randomized, and the shares of all answers, estimated from
    the release itself. It guesses the category that is most likely given the published answer; or believes the answer;
    or guesses the most common category. With `known`, it also uses the shares among people with the same value in that
    column. The risk is the share of correct guesses by the best of these. The baseline guesses the most common category
    for everybody and reads no answer. The control is people who are not in the data; for them only `known` helps.
    Evfimievski, Gehrke, Srikant 2003.
    """

    story: ClassVar[str] = (
        "An employer reads a person's published {target}, knows that chance may have said so too, and infers "
        "the likely truth."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "known")
    column_fields: ClassVar[tuple[str, ...]] = ("column", "known")

    attack: Literal["likeliest_answer"] = "likeliest_answer"
    column: str | None = None
    """The column of answers; by default the randomized column, or else the sensitive one."""
    known: str | None = None
    """Another column; shares are estimated separately for each of its values. It holds true values or single randomized
    answers.
    """

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess everybody's answer; count correct guesses."""
        report_progress("the likeliest answer")
        name = choose_answer_column(release, self.column)
        people = trace_people(release, truth)
        shares = CategoryShares.of(release, name, self.known)
        guesses = {
            "the likeliest": self.estimate(release)[name],
            "as published": get_published_frame(release)[name],
            "the most common": shares.commonest,
        }
        if self.known is not None:
            guesses["the likeliest of all"] = self.model_copy(update={"known": None}).estimate(release)[name]
        right = {way: count_true_guesses(guess, people, name) for way, guess in guesses.items()}
        return Outcome(
            attempts=len(people),
            successes=max(right.values()),
            baseline=right["the most common"],
            control=None
            if control is None
            else count_true_guesses(self._guess_without_answer(shares, control), control, name),
            targets=(name,),
            known_columns=() if self.known is None else ((self.known,),),
            facts={"column": name, "best_guess": max(right, key=right.__getitem__)}
            | ({} if self.known is None else {"known": self.known}),
        )

    def estimate(self, release: Release) -> pl.DataFrame:
        """The release with each answer replaced by the guess."""
        name = choose_answer_column(release, self.column)
        if name not in list_answered_columns(release):
            return get_published_frame(release)
        shares = CategoryShares.of(release, name, self.known)
        votes = AnswerVotes.of(get_published_frame(release)[name], get_channel(release, name), name)
        return build_believed_frame(
            release, name, choose_likeliest_categories([votes], shares.prior, shares.group), votes
        )

    def _guess_without_answer(self, shares: CategoryShares, strangers: Table) -> pl.Series:
        """Guesses for people who have no answer."""
        if self.known is None or self.known not in strangers.frame.columns:
            return shares.commonest
        return shares.guess_from_known(strangers.frame[self.known])


@dataclass(frozen=True, eq=False)
class CategoryShares:
    """How common each category is, overall and for each value of another column."""

    categories: tuple[str | None, ...]
    overall: Floats
    prior: Floats
    """One row for each value of the other column; a single row without one."""
    group: Ints | None = None
    """Each row's value of the other column."""
    other_values: tuple[str | None, ...] = ()
    joint: Floats | None = None

    @classmethod
    def of(cls, release: Release, name: str, known_column: str | None = None) -> CategoryShares:
        """Estimate the shares from a release."""
        if name not in list_answered_columns(release):
            value_counts = (
                spell_cells(get_published_frame(release)[name].drop_nulls()).alias("value").value_counts(name="n")
            )
            value_counts = value_counts.sort(["n", "value"], descending=[True, False])
            shares = value_counts["n"].to_numpy().astype(np.float64)
            return cls(tuple(value_counts["value"].to_list()), shares, shares[None, :])
        channel = get_channel(release, name)
        if not channel.informative:
            flat = np.full(len(channel.categories), 1 / len(channel.categories))
            return cls(channel.categories, flat, flat[None, :])
        overall = estimate_proportions(release, name)["estimate"].to_numpy()
        if known_column is None:
            return cls(channel.categories, overall, overall[None, :])
        return cls._estimate_with_known(release, name, known_column, overall)

    @classmethod
    def _estimate_with_known(cls, release: Release, name: str, known_column: str, overall: Floats) -> CategoryShares:
        channel = get_channel(release, name)
        joint_shares = estimate_joint(release, (known_column, name))
        joint = joint_shares["estimate"].to_numpy().reshape(-1, len(channel.categories))
        other_values = tuple(joint_shares["first"].gather_every(len(channel.categories)).to_list())
        known_cells, prior = get_published_frame(release)[known_column], joint
        if known_column in list_answered_columns(release):
            known_channel = get_channel(release, known_column)
            if not known_channel.one_answer:
                raise PolicyError(f'"{known_column}" holds bits, not groups; name another column as `known`')
            prior = known_channel.build_matrix() @ joint
        spare = len(other_values)  # where the other column is missing, only the overall shares are known
        prior = np.vstack([np.where(prior.sum(axis=1, keepdims=True) > 0, prior, overall), overall])
        return cls(
            channel.categories, overall, prior, _index_answers(known_cells, other_values, spare), other_values, joint
        )

    @property
    def commonest(self) -> pl.Series:
        """The most common category, as one cell."""
        if not len(self.overall):
            return pl.Series([None], dtype=pl.String)
        return pl.Series([self.categories[int(self.overall.argmax())]], dtype=pl.String)

    def guess_from_known(self, cells: pl.Series) -> pl.Series:
        """The most common category among people with these true values in the other column."""
        if self.joint is None:
            return self.commonest
        common = np.vstack([self.joint, self.overall]).argmax(axis=1)
        places = common[_index_answers(cells, self.other_values, len(self.other_values))]
        return pl.Series(list(self.categories), dtype=pl.String).gather(places)


@dataclass(frozen=True, eq=False)
class AnswerVotes:
    """One answer per person: a category number (−1 for none), or bits."""

    channel: AnswerChannel
    answers: Ints | Bytes
    answered_mask: Flags

    @classmethod
    def of(cls, cells: pl.Series, channel: AnswerChannel, name: str) -> AnswerVotes:
        """Read a column of answers."""
        if channel.one_answer:
            codes = encode_answers(cells, channel, name)
            return cls(channel, codes, codes >= 0)
        answer_mask = cells.is_not_null().to_numpy()
        bits = np.zeros((len(cells), len(channel.categories)), dtype=np.uint8)
        bits[answer_mask] = channel.read_bits(cells)
        return cls(channel, bits, answer_mask)

    def add(self, scores: Floats, begin: int) -> None:
        """Add each category's log-likelihood, up to a constant, to the scores of some rows."""
        part = slice(begin, begin + len(scores))
        p, q = self.channel.p, self.channel.q
        if self.answers.ndim == 2:
            scores += np.log(p * (1 - q) / ((1 - p) * q)) * self.answers[part] * self.answered_mask[part][:, None]
        else:
            rows = np.flatnonzero(self.answered_mask[part])
            scores[rows, self.answers[part][rows]] += np.log(p / q)


def choose_likeliest_categories(votes: Sequence[AnswerVotes], prior: Floats, group: Ints | None = None) -> Ints:
    """The most likely category for each row; ties go to the more common category, then to the first."""
    size, rows = prior.shape[1], len(votes[0].answered_mask)
    categories = np.zeros(rows, dtype=np.int64)
    with np.errstate(divide="ignore"):
        logs = np.log(prior)
    step = max(_CELLS // size, 1)
    for begin in range(0, rows, step):
        report_progress("the likeliest answer", begin, rows)
        end = min(begin + step, rows)
        scores = np.broadcast_to(logs[0], (end - begin, size)).copy() if group is None else logs[group[begin:end]]
        for answer_votes in votes:
            answer_votes.add(scores, begin)
        categories[begin:end] = np.round(scores, 9).argmax(axis=1)
    return categories


def build_believed_frame(release: Release, name: str, codes: Ints, votes: AnswerVotes) -> pl.DataFrame:
    """The release with guessed categories; a missing answer stays missing."""
    frame = get_published_frame(release)
    categories = votes.channel.categories
    values = cast_categories(categories, frame[name].dtype) if votes.channel.one_answer else None
    if values is None:
        values = pl.Series(list(categories), dtype=pl.String)
    places = pl.Series(codes).set(pl.Series(~votes.answered_mask), None)
    return frame.with_columns(values.gather(places).alias(name))


def choose_answer_column(release: Release, column: str | None) -> str:
    """The column named, or the only randomized one, or the only sensitive one."""
    table: Table = release.data
    names = (column,) if column is not None else list_answered_columns(release) or table.sensitive
    if len(names) != 1:
        name_list = quote_names(names) or "no column"
        raise DataError(
            f"{table.source}: {name_list} could hold the answers to guess; name one as the attack's `column`"
        )
    if names[0] not in table.frame.columns:
        raise DataError(f'{table.source}: there is no column "{names[0]}" in the release')
    return names[0]


def get_published_frame(release: Release) -> pl.DataFrame:
    """The cells of a release."""
    table: Table = release.data
    return table.frame


def count_true_guesses(guessed_cells: pl.Series, people: Table, name: str) -> int:
    """How many guesses are true; a single guess applies to everyone. A missing truth never counts as guessed."""
    if name not in people.frame.columns:
        raise DataError(f'{people.source}: there is no column "{name}" to check guesses against')
    if not len(people):
        return 0
    return int((spell_cells(people.frame[name]) == spell_cells(guessed_cells)).fill_null(value=False).sum())


def _index_answers(cells: pl.Series, values: Sequence[str | None], otherwise: int) -> Ints:
    known_values = [value for value in values if value is not None]
    numbers = [index for index, value in enumerate(values) if value is not None]
    codes = spell_cells(cells).replace_strict(known_values, numbers, default=otherwise, return_dtype=pl.Int64)
    missing = values.index(None) if None in values else otherwise
    return codes.zip_with(cells.is_not_null(), pl.Series([missing], dtype=pl.Int64)).to_numpy().astype(np.int64)
