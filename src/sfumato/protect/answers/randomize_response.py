# SPDX-License-Identifier: MIT
"""Randomize answers: what is published of somebody is true only with a known probability.

Against everybody, the one who collects the answers included: whatever is published, the person can say that chance
said it. What leaks is bounded for each answer, by ε. Shares over many people are estimated from the known probabilities
(`sf.mine.estimate_proportions`). Answers to the same question asked again are the same, so that no average tells more.
S. L. Warner, *Randomized response: a survey technique for eliminating evasive answer bias* (JASA 1965).
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

from sfumato.arrays import Bytes, Ints
from sfumato.change import ChangeKind, state_changes
from sfumato.data.hierarchy import spell_cells
from sfumato.details import AnswerDetails
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.key import Key
from sfumato.progress import report_progress
from sfumato.protect.answers.answer_claims import claim_answers, claim_epsilon
from sfumato.protect.answers.answer_memory import AnswerDraws, draw_memory, open_memory, read_memory
from sfumato.protect.claims import claim_nobody_named
from sfumato.protect.method import Method
from sfumato.public.answer_channel import (
    NO_ANSWER,
    AnswerChannel,
    answer_by_chance,
    cast_categories,
    describe_channel,
    design_channel,
    spell_bits,
)
from sfumato.public.sealed_key import draw_bytes
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.table import Table


class RandomizeResponse(Method):
    """Publish the true answer only with a known probability, and else another one.

    Guarantee: no published answer is more than e^ε times as likely for one truth as for another (local differential
    privacy): ε = |ln(p/(1−p))| of two categories, |ln(p(k−1)/(1−p))| of k; over several columns ε adds up. With
    `memory` (or a key) somebody who is asked again answers the same, in every release made with it. No other cell
    changes.
    Against: whoever reads the release, whatever else they know, and whoever collects the answers.
    Limits: ε is of one answer. Without `memory`, a key or `person`, answers are drawn afresh in every row and release,
    and averages over them tell the truth. A truth that changed is answered anew, so that a changed answer tells
    that it did; and so is the question under another p or other categories, whose ε adds up. That an
    answer is missing is not hidden, unless missing = "answer". Without `categories` the possible answers are taken
    from the data and published: that somebody gives each of them is not hidden, and ε holds only if that is public. A
    policy has to say so. Other columns stay as they are; what
    they foretell of the answer, they still do. Two people of one name count as one person: they are as safe, and
    estimates vary more.
    Papers: Warner 1965; Kairouz, Bonawitz, Ramage 2016; Wang, Blocki, Li, Jha 2017; Erlingsson, Pihur,
    Korolova 2014 (memoized answers).
    """

    by_chance: ClassVar[bool] = True
    utility = "chance"
    section = "noise"
    iso_20889: ClassVar[str] = "randomization (noise addition); local differential privacy"
    public_fields: ClassVar[tuple[str, ...]] = ("column", "p", "epsilon", "kind", "categories", "missing", "person")
    private_fields: ClassVar[tuple[str, ...]] = ("memory",)

    method: Literal["randomize_response"] = "randomize_response"
    column: str | tuple[str, ...]
    """The column of answers; several are randomized each by itself, all with the same p or ε."""
    p: float | None = Field(default=None, ge=0.0, le=1.0)
    """The probability that the true answer is published. Of two, 1/2 tells nothing, and below it answers are turned."""
    epsilon: float | None = Field(default=None, ge=0.0)
    """ε in the place of p."""
    kind: Literal["auto", "warner", "k_ary", "unary"] = "auto"
    """`warner` for two categories, `k_ary` for more: each other one is equally likely. `unary` for very many: a cell
    has a bit for each category, published as text. `auto` takes what estimates best at a given ε; given p, `warner` or
    `k_ary`."""
    categories: tuple[str | bool | int | float | date | datetime, ...] | Literal["from_data"] | None = None
    """The possible answers, dates as such or as ISO texts. Those that occur if not given: a value that only one person
    has then tells of that person, and a policy has to say "from_data"."""
    missing: Literal["keep", "answer"] = "keep"
    """Whether a missing answer stays missing, or is an answer like the others."""
    person: tuple[str, ...] | None = None
    """The columns that tell who somebody is, whose answers are then the same; the identifying ones if not given."""
    memory: str | None = None
    """A file with the secret from which answers follow, made if it is not there; it stays home."""

    @field_validator("categories", mode="before")
    @classmethod
    def _spell_dates(cls, given: Any) -> Any:
        """Dates and times as a table spells them, so that they stay the same through a policy file."""
        if not isinstance(given, list | tuple):
            return given
        return tuple(_spell_category(category) if isinstance(category, date) else category for category in given)

    @model_validator(mode="after")
    def _check_p_or_epsilon(self) -> RandomizeResponse:
        if (self.p is None) == (self.epsilon is None):
            raise ValueError("give p or epsilon, and not both")
        if self._given is not None and len({_spell_category(one) for one in self._given}) < len(self._given):
            raise ValueError("the same category is named twice")
        return self

    @property
    def _given(self) -> tuple[str | bool | int | float | date | datetime, ...] | None:
        """The categories that the custodian gave."""
        return None if isinstance(self.categories, str) else self.categories

    def refuse_undeclared(self, data: Table) -> None:
        """Categories are given, or said to be from the data."""
        if self.categories is not None:
            return
        name = self._columns(data)[0]
        count = data.frame[name].drop_nulls().n_unique()
        raise PolicyError(
            f'{data.source}: the possible answers in "{name}" are not given. Its {count} '
            "different values would be published as such, and one that only one person has tells of that person, "
            'whatever ε is. Name all possible answers, as in categories = ["yes", "no"], columns with other answers in '
            'a [[protect]] of their own; or, if it may be known which values occur, say categories = "from_data"'
        )

    def new_key(self, data: Table | Randomness | None = None, randomness: Randomness | None = None) -> Key:
        """Draw a secret that makes answers the same in every release; what `memory` keeps in a file.

        It fits every table, so that `data` may be left out.
        """
        if isinstance(data, Randomness):
            if randomness is not None:
                raise PolicyError("new_key takes a table and one source of chance, and two sources were given")
            randomness = data
        return draw_memory(randomness or Randomness.secure())

    def protect(self, data: Table, randomness: Randomness | Key | None = None, key: Key | None = None) -> Release:
        """For each column: find the possible answers, set the channel, and let chance answer for everybody.

        A key may stand where chance stands, as with every method that has a secret.
        """
        if isinstance(randomness, Key):
            if key is not None:
                raise PolicyError("answers follow from one key, and two were given")
            randomness, key = None, randomness
        chance = randomness or Randomness.secure()
        names = self._columns(data)
        if not len(data):
            raise DataError(f"{data.source}: the table has no rows")
        draws = self._make_draws(data, chance, key)
        lasting = key is not None or self.memory is not None
        done = [self._asked(data, name, draws, lasting) for name in names]
        published = data.with_frame(data.frame.drop(data.identifying).with_columns(column.column for column in done))
        bits = {column.name for column in done if not column.channel.one_answer}
        covered = {name: tree for name, tree in published.hierarchies.items() if name not in bits}
        return Release(
            data=replace(published, hierarchies=MappingProxyType(covered)),
            method=self,
            claims=self._claims(data, done, self._choose_person_column(data) if draws.people else ()),
            losses=_compute_answer_losses(done),
            details=AnswerDetails(
                rows=np.arange(len(data), dtype=np.int64),
                public={column.name: column.told(self) for column in done},
                limits=self._list_limits(key, lasting),
            ),
            changes=state_changes(self, data, published, dict.fromkeys(names, ChangeKind.ANSWERED)),
        )

    def described(self) -> dict[str, Any]:
        """All but where the secret lies, of which only the name is told."""
        description = super().described()
        if self.memory is not None:
            description["memory"] = self.memory.replace("\\", "/").rsplit("/", 1)[-1]
        return description

    def _columns(self, table: Table) -> tuple[str, ...]:
        names = (self.column,) if isinstance(self.column, str) else self.column
        strange = [name for name in names if name not in table.frame.columns or name in table.identifying]
        if strange or not names or len(set(names)) < len(names):
            names_text = quote_names(strange or names) or "nothing"
            raise PolicyError(
                f"{table.source}: `column` names {names_text}; it has to name one or more different columns that are "
                "published"
            )
        return names

    def _choose_person_column(self, table: Table) -> tuple[str, ...]:
        return table.identifying if self.person is None else self.person

    def _make_draws(self, table: Table, chance: Randomness, key: Key | None) -> AnswerDraws:
        """Chance, the same for the same person where it is known who is asked and that answers have to last."""
        if key is not None and self.memory is not None:
            raise PolicyError("answers follow from a key or from the `memory` file; give one of them")
        if key is None and self.memory is None and self.person is None:
            return AnswerDraws.draw_afresh(chance)
        person = self._choose_person_column(table)
        answers = {self.column} if isinstance(self.column, str) else set(self.column)
        strange = [name for name in person if name not in table.frame.columns or name in answers]
        if strange or not person:
            reason = f"{quote_names(strange)} cannot tell" if strange else "no column is left to tell"
            raise PolicyError(
                f"{table.source}: {reason} who is asked; name columns other than the answers as `person`, or make some "
                "identifying. A method that runs before takes identifying columns out: let this one be the first"
            )
        unknown = int(table.frame.select(pl.any_horizontal(pl.col(list(person)).is_null())).to_series().sum())
        if unknown:
            raise DataError(
                f"{table.source}: {unknown} rows do not tell who is asked (a cell of {', '.join(person)} is missing); "
                "fill it, or name other columns as `person`"
            )
        if key is None and self.memory is not None:
            key = read_memory(self.memory)
        return AnswerDraws.of(draw_bytes(chance) if key is None else open_memory(key), table.frame, person)

    def _asked(self, table: Table, name: str, draws: AnswerDraws, lasting: bool) -> _RandomizedColumn:
        """One column, answered."""
        report_progress("asking everybody")
        values = self._cast_possible_answers(table, name)
        column = table.frame[name] if values.dtype == table.frame[name].dtype else spell_cells(table.frame[name])
        texts: list[str | None] = list(spell_cells(values))
        if self.missing == "answer":
            texts.append(None)
        if len(texts) < 2:
            raise DataError(
                f'{table.source}: "{name}" has {len(texts)} different values, so its answers can hide nothing; name '
                "the possible ones as `categories`"
            )
        channel = design_channel(self.kind, texts, self.p, self.epsilon)
        codes = channel.codes(column)
        strange = int((codes < NO_ANSWER).sum())
        if strange:
            raise DataError(
                f'{table.source}: "{name}": {strange} cells are none of the {len(values)} `categories`; add what '
                "occurs to `categories`, or leave them out to take those that occur"
            )
        there = np.flatnonzero(codes != NO_ANSWER)
        tokens = draws.tokens(name, channel, spell_cells(column), there)
        repeats = (
            1.0 if draws.people is None or not len(there) else _measure_repeats([draws.people[row] for row in there])
        )
        channel = channel.model_copy(update={"memoized": lasting, "repeats": repeats})
        answers = answer_by_chance(
            codes[there], channel, lambda part, width: draws.uniform(name, channel, tokens[part], width)
        )
        return _RandomizedColumn(
            name, channel, _publish_answers(answers, there, values, len(column)).alias(name), len(there)
        )

    def _cast_possible_answers(self, table: Table, name: str) -> pl.Series:
        """The possible answers, of the column's own type."""
        column = table.frame[name]
        if self._given is None:
            return column.drop_nulls().unique().sort()
        texts = pl.Series([_spell_category(one) for one in self._given], dtype=pl.String)
        values = cast_categories(texts.to_list(), column.dtype)
        if values is not None:
            return values
        # Codes are read as numbers where nobody gave the one that is a word: they are words all the same.
        if spell_cells(column).drop_nulls().is_in(texts.implode()).all():
            return texts
        raise PolicyError(
            f'{table.source}: some of the {len(self._given)} `categories` are not spelt as cells of "{name}" '
            f"are, which holds {column.dtype}; spell them so, dates as year-month-day"
        )

    def _claims(self, table: Table, done: Sequence[_RandomizedColumn], person: tuple[str, ...]) -> tuple[Claim, ...]:
        names = tuple(column.name for column in done)
        given = self._given is not None
        claims = [claim for column in done for claim in claim_answers(column.name, column.channel, person, given=given)]
        if len(done) > 1:
            arguments = {
                "kind": tuple(column.channel.kind for column in done),
                "p": tuple(repr(column.channel.p) for column in done),
                "q": tuple(repr(column.channel.q) for column in done),
            }
            total = sum(column.channel.epsilon for column in done)
            subject = f"All {len(done)} answers of a person together"
            claims.append(claim_epsilon("epsilon_in_all", total, arguments, subject, given=given))
        unchanged_claim = Claim(
            property="changed_beside_answers",
            threshold=0,
            bound="exactly",
            measure="changed_beside_answers",
            arguments={"columns": names, "missing": self.missing},
            needs_original=True,
            meaning="Nothing but the answers was changed"
            + (", and what was missing still is." if self.missing == "keep" else "."),
        )
        return (*claims, unchanged_claim, claim_nobody_named(table))

    def _list_limits(self, key: Key | None, lasting: bool) -> list[str]:
        """What the release does not do, as it was asked for."""
        limits = []
        if not lasting:
            limits.append("Answers were drawn afresh: a second release about the same people tells more than ε.")
        if key is not None and key.secret.get("seeded"):
            limits.append("The key was drawn from a seed: whoever knows it can take the chance off again.")
        if self._given is None:
            limits.append("The categories come from the data: that each occurs is not hidden.")
        if self.missing == "keep":
            limits.append("Whose answer is missing is not hidden.")
        return limits


@dataclass(frozen=True, eq=False)
class _RandomizedColumn:
    """One column of answers."""

    name: str
    channel: AnswerChannel
    column: pl.Series
    count: int

    def told(self, method: RandomizeResponse) -> Mapping[str, Any]:
        """What an analyst must know of it."""
        domain = "given" if isinstance(method.categories, tuple) else "data"
        return describe_channel(self.channel, domain=domain, missing="answer" if method.missing == "answer" else "kept")


def _publish_answers(answers: Ints | Bytes, there: Ints, values: pl.Series, rows: int) -> pl.Series:
    """Answers as a column of the table; a category that has no value is a missing cell."""
    places = np.full(rows, -1, dtype=np.int64)
    if answers.ndim == 2:
        places[there] = np.arange(len(there))
        texts = spell_bits(answers.astype(np.uint8, copy=False))
    else:
        places[there] = np.where(answers < len(values), answers, -1)
        texts = values
    return texts.gather(pl.Series(places).set(pl.Series(places < 0), None))


def _measure_repeats(people: Sequence[str]) -> float:
    """Σ m² / n, where m rows are one person's; rounded up to two digits.

    It is published, since estimates vary by it. It looks at who is asked and never at what is true: rows of one person
    with different truths are answered apart, and how many those are would tell something of the truth.
    """
    sizes = pl.Series(people).unique_counts().cast(pl.Int64)
    exact = Decimal(int((sizes * sizes).sum())) / len(people)
    return max(1.0, float(Context(prec=2, rounding=ROUND_CEILING).plus(exact)))


def _compute_answer_losses(done: Sequence[_RandomizedColumn]) -> dict[str, Number]:
    """`loss`: the mean over columns of the share of answers that chance alone gives."""
    lost = [1 - abs(column.channel.p - column.channel.q) for column in done]
    return {
        "loss": round(sum(lost) / len(lost), 12),
        "epsilon": round(sum(column.channel.epsilon for column in done), 12),
        "suppressed_rows": 0,
    }


def _spell_category(category: str | bool | int | float | date) -> str:
    if isinstance(category, bool):
        return "true" if category else "false"
    if isinstance(category, float | date):
        return str(spell_cells(pl.Series([category]))[0])
    return str(category)
