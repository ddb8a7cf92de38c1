# SPDX-License-Identifier: MIT
"""Randomize answers: a published answer is true only with a known probability.

Against everybody, including the party that collects the answers: a person can always attribute the published answer to
chance. The leakage of each answer is bounded by ε. Shares over many people are estimated from the known probabilities
(`sf.mine.estimate_proportions`). A question asked again gets the same answer, so averaging reveals nothing more. S. L.
Warner, *Randomized response: a survey technique for eliminating evasive answer bias* (JASA 1965).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_CEILING, Context, Decimal
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from sfumato.bound_words import round_up
from sfumato.change import ChangeKind, state_changes
from sfumato.details import AnswerDetails
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names
from sfumato.key import Key
from sfumato.protect.answers.answer_claims import claim_answers, claim_epsilon
from sfumato.protect.answers.answer_memory import AnswerDraws, draw_memory, open_memory, read_memory
from sfumato.protect.answers.asked_column import AskedColumn, cast_given_answers, list_answer_texts, spell_category
from sfumato.protect.claims import claim_nobody_named
from sfumato.protect.footprint import Footprint, trace_columns
from sfumato.protect.method import Method, require_each
from sfumato.protect.named_columns import ask_published, list_names
from sfumato.public.answer_channel import NO_ANSWER, AnswerChannel, AnswerLaw, design_channel
from sfumato.public.sealed_key import draw_bytes
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table


class RandomizeResponse(Method):
    """Publish the true answer only with a known probability, and otherwise another one.

    Guarantee: no published answer is more than e^ε times as likely under one truth as under another: local differential
    privacy. ε = |ln(p/(1−p))| for two categories, |ln(p(k−1)/(1−p))| for k. Over several columns ε adds up. With
    `memory` or a key, someone who is asked again answers the same. No other cell changes. Against: anyone who reads
    the release, whatever else they know, and the party that collects the answers. Limits: ε is for one answer. Without
    `memory`, a key or `person`, answers are drawn afresh in every row and release, and averaging them reveals the
    truth. A changed truth gets a new answer, so a changed answer reveals the change; the same question with another p
    or other categories also gets a new answer, and its ε adds up. Missing answers are not hidden, unless missing =
    "answer". Without `categories` the possible answers are taken from the data and published: it is not hidden that
    each of them occurs, and ε holds only if that is public. A policy must state this. Other columns do not change; they
    predict the answer as well as before. Two people with the same name count as one person: they are equally safe, and
    estimates vary more. Papers: Warner 1965; Kairouz, Bonawitz, Ramage 2016; Wang, Blocki, Li, Jha 2017; Erlingsson,
    Pihur, Korolova 2014 (memoized answers).
    """

    by_chance: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    utility = "chance"
    section = "noise"
    iso_20889: ClassVar[str] = "randomization (noise addition); local differential privacy"
    file_claims: ClassVar[frozenset[str]] = frozenset({"epsilon", "epsilon_in_all", "strange_answers"})
    threshold_fields: ClassVar[Mapping[str, str]] = {"epsilon": "epsilon"}
    public_fields: ClassVar[tuple[str, ...]] = ("column", "p", "epsilon", "kind", "categories", "missing", "person")
    private_fields: ClassVar[tuple[str, ...]] = ("memory",)
    file_fields: ClassVar[tuple[str, ...]] = ("memory",)
    column_fields: ClassVar[tuple[str, ...]] = ("column", "person")

    method: Literal["randomize_response"] = "randomize_response"
    column: str | tuple[str, ...]
    """The column of answers; several columns are randomized independently, all with the same p or ε."""
    p: float | None = Field(default=None, ge=0.0, le=1.0)
    """The probability that the true answer is published. With two categories, 1/2 discloses nothing, and below it
    answers are inverted."""
    epsilon: float | None = Field(default=None, ge=0.0)
    """ε instead of p."""
    kind: Literal["auto", "warner", "k_ary", "unary"] = "auto"
    """`warner` for two categories, `k_ary` for more: all others are equally likely. `unary` for very many: a cell has
    one bit per category, published as text. `auto` chooses the best estimator for a given ε; given p, `warner` or
    `k_ary`."""
    categories: tuple[str | bool | int | float | date | datetime, ...] | Literal["from_data"] | None = None
    """The possible answers, dates as such or as ISO texts; by default those that occur. A value that only one person
    has then reveals that person, and a policy must state "from_data"."""
    missing: Literal["keep", "answer"] = "keep"
    """Whether a missing answer stays missing or counts as an answer like the others."""
    person: tuple[str, ...] | None = None
    """The columns that identify a person, whose answers are then the same; by default the identifying ones."""
    memory: str | None = None
    """A file with the secret from which answers follow, created if it does not exist; keep it private."""

    @field_validator("categories", mode="before")
    @classmethod
    def _spell_dates(cls, raw_categories: Any) -> Any:
        """Dates and times as a table spells them, so that a policy file keeps them unchanged."""
        if not isinstance(raw_categories, list | tuple):
            return raw_categories
        return tuple(
            spell_category(category) if isinstance(category, date) else category for category in raw_categories
        )

    @model_validator(mode="after")
    def _check_p_or_epsilon(self) -> RandomizeResponse:
        if (self.p is None) == (self.epsilon is None):
            raise ValueError("give p or epsilon" if self.p is None else "give either p or epsilon, not both")
        if self._given_categories is not None and len(
            {spell_category(category) for category in self._given_categories}
        ) < len(self._given_categories):
            raise ValueError("a category is listed twice")
        return self

    @property
    def _given_categories(self) -> tuple[str | bool | int | float | date | datetime, ...] | None:
        """The categories given by the custodian."""
        return None if isinstance(self.categories, str) else self.categories

    def refuse_undeclared(self, data: Table) -> None:
        """Require categories that are given or declared as taken from the data."""
        if self.categories is not None:
            return
        name = self.list_columns(data)[0]
        count = f"{data.frame[name].drop_nulls().n_unique()} " if len(data) else ""  # stored rows are not counted
        raise PolicyError(
            f'{data.source}: the possible answers in "{name}" are not given. Its {count}'
            "different values would be published, and a value that only one person has reveals that person, "
            'whatever ε is. List all possible answers, as in categories = ["yes", "no"], with columns of other '
            "answers in "
            'a separate [[protect]]; or, if it may be public which values occur, set categories = "from_data"'
        )

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Each column of answers is randomized."""
        return dict.fromkeys(list_names(parameters["column"]), ChangeKind.ANSWERED)

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """A budget of several columns together only if there are several."""
        several_claims = {"epsilon_in_all"} if len(set(list_names(parameters["column"]))) == 1 else set()
        return require_each(cls.file_claims - several_claims)

    @classmethod
    def may_claim(cls, parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
        """Given categories are spelled as the column spells them; without missing answers, nothing is said of them."""
        given_categories, categories = parameters["categories"], arguments.get("categories", ())
        is_given = isinstance(given_categories, list) and "categories" in arguments
        spelled_by_data = {"categories", *(("missing",) if arguments.get("missing") == "keep" else ())}
        other_arguments = {name: value for name, value in arguments.items() if name not in spelled_by_data}
        return super().may_claim(parameters, other_arguments) and (
            not is_given or len(categories) == len(given_categories)
        )

    def list_law_columns(self) -> tuple[str, ...]:
        """The columns of answers."""
        return (self.column,) if isinstance(self.column, str) else self.column

    def footprint(self, data: Table) -> Footprint:
        """The columns of answers, and those that identify a person if answers are repeatable."""
        repeatable = self.memory is not None or self.person is not None
        answers = trace_columns(self.list_columns(data), self._choose_person_column(data) if repeatable else ())
        return replace(answers, hides=answers.changes)

    def new_key(self, data: Table | Randomness | None = None, randomness: Randomness | None = None) -> Key:
        """Draw a secret that makes answers the same in every release; `memory` keeps it in a file.

        It fits every table, so you can omit `data`.
        """
        if isinstance(data, Randomness):
            if randomness is not None:
                raise PolicyError("new_key takes a table and one source of randomness, but two sources were given")
            randomness = data
        return draw_memory(randomness or Randomness.secure())

    def protect(self, data: Table, randomness: Randomness | Key | None = None, key: Key | None = None) -> Release:
        """For each column: find the possible answers, set up the channel and draw everybody's answer.

        A key may replace the randomness, as in every method with a secret.
        """
        if isinstance(randomness, Key):
            if key is not None:
                raise PolicyError("answers follow from one key, but two were given")
            randomness, key = None, randomness
        chance = randomness or Randomness.secure()
        names = self.list_columns(data)
        if not len(data):
            raise DataError(f"{data.source}: the table has no rows")
        draws = self._make_draws(data, chance, key)
        columns = [self._randomize(data, name, draws, key) for name in names]
        frame = data.frame.with_columns(column.column for column in columns)
        person = self._choose_person_column(data) if draws.people else ()
        release = self.describe_release(data, frame, columns, person, key)
        return replace(release, details=replace(release.details, rows=np.arange(len(data), dtype=np.int64)))

    def describe_release(
        self,
        data: Table,
        frame: pl.DataFrame,
        columns: Sequence[RandomizedColumn],
        person: tuple[str, ...] = (),
        key: Key | None = None,
    ) -> Release:
        """What is claimed, stated and lost, from the columns alone: tables may lack their rows."""
        published_table = data.replace_frame(frame.drop(data.identifying, strict=False))
        bits = {column.name for column in columns if not column.channel.one_answer}
        hierarchies = {name: tree for name, tree in published_table.hierarchies.items() if name not in bits}
        names = [column.name for column in columns]
        return Release(
            data=replace(published_table, hierarchies=MappingProxyType(hierarchies)),
            method=self,
            claims=self._list_claims(data, columns, person),
            losses=_compute_answer_losses(columns),
            details=AnswerDetails(
                public={column.name: column.state_law(self) for column in columns}, limits=self._list_limits(key)
            ),
            changes=state_changes(self, data, published_table, dict.fromkeys(names, ChangeKind.ANSWERED)),
        )

    def describe(self) -> dict[str, Any]:
        """All parameters; of the secret file, only the name."""
        description = super().describe()
        if self.memory is not None:
            description["memory"] = self.memory.replace("\\", "/").rsplit("/", 1)[-1]
        return description

    def list_columns(self, table: Table) -> tuple[str, ...]:
        """The columns of answers; refuses those that are not published."""
        names = (self.column,) if isinstance(self.column, str) else self.column
        strange = [name for name in names if name not in table.frame.columns or name in table.identifying]
        if strange or not names or len(set(names)) < len(names):
            names_text = quote_names(strange or names) or "nothing"
            raise PolicyError(
                f"{table.source}: `column` names {names_text}; it must name one or more different columns that are "
                f"published{ask_published(table, strange)}"
            )
        known_columns = [name for name in names if name in table.quasi_identifying]
        if self.missing == "answer" and table.missing is Missing.DROP and known_columns:
            raise PolicyError(
                f'{table.source}: missing = "answer" draws empty cells in {quote_names(known_columns)}, and [data] '
                'missing = "drop" leaves rows with an empty quasi-identifying cell out of every count; choose '
                'another meaning of missing cells, such as own_value, or missing = "keep" for the answers'
            )
        return names

    def _choose_person_column(self, table: Table) -> tuple[str, ...]:
        return table.identifying if self.person is None else self.person

    def _make_draws(self, table: Table, chance: Randomness, key: Key | None) -> AnswerDraws:
        """Draws, the same for the same person if persons are identified and answers must be repeatable."""
        if key is not None and self.memory is not None:
            raise PolicyError("answers follow from a key or from the `memory` file; give only one of them")
        if key is None and self.memory is None and self.person is None:
            return AnswerDraws.draw_afresh(chance)
        person = self._choose_person_column(table)
        answers = {self.column} if isinstance(self.column, str) else set(self.column)
        strange = [name for name in person if name not in table.frame.columns or name in answers]
        if strange or not person:
            reason = (
                f"{quote_names(strange)} cannot identify the person" if strange else "no column identifies the person"
            )
            raise PolicyError(
                f"{table.source}: {reason}; name columns other than the answers as `person`, or make some "
                "identifying. An earlier method removes identifying columns: put this method first"
                f"{ask_meant((name for name in strange if name not in answers), table.frame.columns)}"
            )
        unknown = int(table.frame.select(pl.any_horizontal(pl.col(list(person)).is_null())).to_series().sum())
        if unknown:
            raise DataError(
                f"{table.source}: {count_noun(unknown, 'row does', 'rows do')} not identify the person (a cell of "
                f"{', '.join(person)} is missing); fill it, or name other columns as `person`"
            )
        if key is None and self.memory is not None:
            key = read_memory(self.memory)
        return AnswerDraws.of(draw_bytes(chance) if key is None else open_memory(key), table.frame, person)

    def ask(self, name: str, outline: Table, present_values: pl.Series) -> AskedColumn:
        """Set up the channel of a column; `present_values` are its values in order, each once, none missing."""
        kind, source = outline.frame[name].dtype, outline.source
        values = (
            present_values
            if self._given_categories is None
            else cast_given_answers(self._given_categories, name, kind, source)
        )
        is_given, missing = self._given_categories is not None, self.missing == "answer"
        texts = list_answer_texts(name, values, source, is_given=is_given, missing=missing)
        try:
            return AskedColumn(name, values, design_channel(self.kind, texts, self.p, self.epsilon))
        except PolicyError as error:
            raise PolicyError(f'{source}: "{name}": {error}') from None

    def _randomize(self, table: Table, name: str, draws: AnswerDraws, key: Key | None) -> RandomizedColumn:
        """Randomize one column."""
        report_progress("randomizing answers")
        column = table.frame[name]
        asked_column = self.ask(name, table, column.drop_nulls().unique().sort())
        codes = asked_column.find_codes(column)
        asked_column.refuse_strange(int((codes < NO_ANSWER).sum()), table.source)
        answered_rows = np.flatnonzero(codes != NO_ANSWER)
        has_no_people = draws.people is None or not len(answered_rows)
        repeats = 1.0 if has_no_people else _measure_repeats([draws.people[row] for row in answered_rows])  # type: ignore[index]  # people are drawn if rows are answered for them
        channel = asked_column.channel.model_copy(update={"memoized": self._lasts(key), "repeats": repeats})
        return RandomizedColumn(name, channel, asked_column.answer(column, draws))

    def _lasts(self, key: Key | None) -> bool:
        """Whether the same people will give the same answers in another release."""
        return key is not None or self.memory is not None

    def _list_claims(
        self, table: Table, columns: Sequence[RandomizedColumn], person: tuple[str, ...]
    ) -> tuple[Claim, ...]:
        names = tuple(column.name for column in columns)
        has_given_categories = self._given_categories is not None
        claims = [
            claim
            for column in columns
            for claim in claim_answers(column.name, column.channel, person, has_given_categories=has_given_categories)
        ]
        if len(columns) > 1:
            arguments = {
                "kind": tuple(column.channel.kind for column in columns),
                "p": tuple(repr(column.channel.p) for column in columns),
                "q": tuple(repr(column.channel.q) for column in columns),
            }
            total = sum(column.channel.compute_epsilon() for column in columns)
            subject = f"The published answers of a person in {quote_names(names)} together are"
            claims.append(
                claim_epsilon("epsilon_in_all", total, arguments, subject, has_given_categories=has_given_categories)
            )
        unchanged_claim = Claim(
            property="changed_without_answers",
            threshold=0,
            bound="exactly",
            measure="changed_without_answers",
            arguments={"columns": names, "missing": self.missing},
            needs_original=True,
            meaning="Nothing but the answers was changed"
            + (", and missing values are still missing." if self.missing == "keep" else "."),
        )
        return (*claims, unchanged_claim, claim_nobody_named(table))

    def _list_limits(self, key: Key | None) -> list[str]:
        """The limits of the release, given the parameters."""
        limits = []
        if not self._lasts(key):
            limits.append("Answers were drawn afresh: a second release about the same people discloses more than ε.")
        if key is not None and key.secret.get("seeded"):
            limits.append("The key was drawn from a seed: anyone who knows the seed can undo the randomization.")
        if self._given_categories is None:
            limits.append("The categories come from the data: it is not hidden that each occurs.")
        if self.missing == "keep":
            limits.append("It is not hidden whose answer is missing.")
        return limits


@dataclass(frozen=True, eq=False)
class RandomizedColumn:
    """One column of answers."""

    name: str
    channel: AnswerChannel
    column: pl.Series
    """The published answers."""

    def state_law(self, method: RandomizeResponse) -> AnswerLaw:
        """What an analyst must know about it."""
        return AnswerLaw.of_channel(
            self.channel,
            domain="given" if isinstance(method.categories, tuple) else "data",
            missing="answer" if method.missing == "answer" else "kept",
        )


def _measure_repeats(people: Sequence[str]) -> float:
    """Σ m² / n, where m is the number of rows of one person; rounded up to two digits.

    It is published because the variance of estimates depends on it. It uses who is asked, never the truth: rows of one
    person with different truths are answered separately, and their number would disclose something about the truth.
    """
    sizes = pl.Series(people).unique_counts().cast(pl.Int64)
    exact = Decimal(int((sizes * sizes).sum())) / len(people)
    return max(1.0, float(Context(prec=2, rounding=ROUND_CEILING).plus(exact)))


def _compute_answer_losses(columns: Sequence[RandomizedColumn]) -> dict[str, Number]:
    """`loss`: the mean over columns of the share of answers that come from chance alone."""
    chance_shares = [1 - abs(column.channel.p - column.channel.q) for column in columns]
    return {
        "loss": round(sum(chance_shares) / len(chance_shares), 12),
        "epsilon": round_up(sum(column.channel.compute_epsilon() for column in columns), 12),
        "suppressed_rows": 0,
    }
