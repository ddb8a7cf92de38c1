# SPDX-License-Identifier: MIT
"""Rule inference: mine the release, and apply the best rules to the blank entries.

Against a release that only blanks the private entries. What people have in common with others still predicts what they
hide: the visible part of the table is the training set. The adversary knows nothing but the release. What leaks is a
value, with the confidence of the rule. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial data mining*
(KDD 2006); the rules are found in `mine.entries.agreeing_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.arrays import Flags, Ints, Places
from sfumato.attack.attack import Outcome
from sfumato.attack.entries.entry_attack import EntryAttack
from sfumato.attack.entries.private_cells import PrivateCells, draw_strangers, list_private_cells
from sfumato.attack.row_distance import compare_with_control, require_attacked_columns
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import PolicyError
from sfumato.mine.entries.agreeing_rows import AgreeingRows, AgreementQuestion, find_commonest_values, reaches
from sfumato.public.thresholds import compute_least_count, parse_exact_confidence
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class RuleInference(EntryAttack):
    """A stranger downloads the table, sees that someone hid the salary, and looks up what other assistants earn.

    The adversary has the release and nothing else. For every blank entry it takes, of all rules X → y whose X matches
    the rest of the row, the one with the highest confidence, then the highest support, and guesses y. Where no rule
    reaches the thresholds it guesses the most common value of the column, as the baseline always does. The most
    confident rules are not always the best: it also guesses, for a whole column, the most common value of those with
    the same cell in one other column, the one that predicts most visible entries, or the most common value of all. The
    best of the three counts. A visible entry is simply read. The risk is the share of private entries guessed
    correctly. What it adds to the baseline is what blanking the private entries alone leaves exposed. Aggarwal, Pei,
    Zhang 2006.
    """

    story: ClassVar[str] = (
        "A stranger downloads the table, sees blank entries of {target}, and looks up what similar people have there."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("min_support", "confidence", "max_length")

    attack: Literal["rule_inference"] = "rule_inference"
    columns: tuple[str, ...] | None = None
    """Columns that are private as a whole; by default the entries that the release hides."""
    min_support: int | float = 0.001
    """The number of rows that must support a rule before the adversary believes it: a count, or a share of the rows."""
    confidence: float = Field(default=0.5, gt=0.0, le=1.0)
    """The minimum confidence of a rule."""
    max_length: int | None = Field(default=None, ge=1)
    """The most columns in a rule's condition; by default any number."""

    @field_validator("min_support", mode="before")
    @classmethod
    def _check_support(cls, raw_support: Any) -> Any:
        try:
            compute_least_count(raw_support, 1)
        except PolicyError as error:
            raise ValueError(str(error)) from None
        return raw_support

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess every private entry; count correct guesses."""
        published_table: Table = release.data
        cells = list_private_cells(release, truth, self.columns)
        require_attacked_columns(
            [cells_of_column.column for cells_of_column in cells], published_table, published_table, control
        )
        chance = (randomness or Randomness.seeded(0)).generator()
        strangers = None if control is None else [draw_strangers(control, len(few.rows), chance) for few in cells]
        return self.guess_entries(ReleaseCodes.of(published_table.frame), cells, strangers)

    def guess_entries(
        self, codes: ReleaseCodes, cells: Sequence[PrivateCells], strangers: Sequence[pl.DataFrame] | None = None
    ) -> Outcome:
        """Guess the private entries of each column, and as many of strangers."""
        tallies = []
        for index, cells_of_column in enumerate(cells):
            report_progress("rule inference", index, len(cells))
            tallies.append(self._guess_column(codes, cells_of_column, None if strangers is None else strangers[index]))
        attempts, successes = sum(tally.cells for tally in tallies), sum(tally.hits for tally in tallies)
        strange = None if strangers is None else sum(tally.strangers for tally in tallies)
        return Outcome(
            attempts=attempts,
            successes=successes,
            baseline=sum(tally.prior for tally in tallies),
            control=strange,
            targets=tuple(tally.column for tally in tallies),
            facts={
                **_state_rule_facts(tallies),
                "columns": {tally.column: _state_rule_facts([tally]) for tally in tallies},
                **compare_with_control(successes, attempts, strange, attempts),
            },
        )

    def _guess_column(self, codes: ReleaseCodes, cells: PrivateCells, strangers: pl.DataFrame | None) -> _RuleTally:
        """Guess the private entries of one column, and as many of strangers with the same columns visible."""
        target = codes.names.index(cells.column)
        query_codes = [column[cells.rows].astype(np.int64) for column in codes.column_codes]
        if strangers is not None:
            stranger_codes = codes.encode_others(strangers)
            masked_codes = [
                np.where(a < w, b, w) for a, b, w in zip(query_codes, stranger_codes, codes.widths, strict=True)
            ]
            query_codes = [np.concatenate(code_pair) for code_pair in zip(query_codes, masked_codes, strict=True)]
        answers = np.flatnonzero(codes.column_codes[target] < codes.widths[target])
        best = _BestRules(
            codes.column_codes[target][answers],
            len(query_codes[0]),
            codes.widths[target],
            parse_exact_confidence(self.confidence),
            compute_least_count(self.min_support, len(codes.column_codes[target])),
        )
        other_columns = sorted(set(range(len(codes.names))) - {target}, key=lambda index: -codes.widths[index])
        question = AgreementQuestion(query_codes, [column[answers] for column in codes.column_codes], codes.widths)
        question.walk(other_columns, self.max_length, best, "rule inference")
        return _tally_rule_hits(codes, cells, best, _guess_by_best_column(question, other_columns, best), strangers)


@dataclass(frozen=True)
class _RuleTally:
    """The result for one column."""

    column: str
    cells: int
    hits: int
    prior: int
    """Correct guesses of the most common value."""
    visible: int
    fired_count: int
    """Entries to which a rule was applied."""
    fired_hits: int
    fired_prior: int
    rules: int
    confidence_sum: float
    """The sum of the confidences of the applied rules."""
    strangers: int


def _state_rule_facts(tallies: Sequence[_RuleTally]) -> dict[str, Any]:
    fired_count = sum(tally.fired_count for tally in tallies)
    claimed_sum, hits = sum(tally.confidence_sum for tally in tallies), sum(tally.fired_hits for tally in tallies)
    return {
        "cells": sum(tally.cells for tally in tallies),
        "hits": sum(tally.hits for tally in tallies),
        "prior_hits": sum(tally.prior for tally in tallies),
        "visible": sum(tally.visible for tally in tallies),
        "fired": fired_count,
        "fired_hits": hits,
        "fired_prior_hits": sum(tally.fired_prior for tally in tallies),
        "rules_fired": sum(tally.rules for tally in tallies),
        "confidence_claimed": round(claimed_sum / fired_count, 12) if fired_count else None,
        "confidence_found": round(hits / fired_count, 12) if fired_count else None,
    }


@dataclass(frozen=True, eq=False)
class ReleaseCodes:
    """The release as codes: for each column the value in each row; the number of values where it is missing.

    Codes of a release that stays in its file are as narrow as they can be.
    """

    names: tuple[str, ...]
    values: tuple[pl.Series, ...]
    column_codes: tuple[Places, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> ReleaseCodes:
        """Number the values of each column in the order of their texts."""
        texts = [spell_cells(column) for column in frame.get_columns()]
        values = tuple(text.drop_nulls().unique().sort() for text in texts)
        column_codes = tuple(
            _index_values(text, column_values) for text, column_values in zip(texts, values, strict=True)
        )
        return cls(tuple(frame.columns), values, column_codes, tuple(len(value) for value in values))

    def encode_others(self, frame: pl.DataFrame) -> list[Ints]:
        """Other people's rows in the same codes; a value that the release does not have counts as missing."""
        blank_texts = pl.Series([None] * frame.height, dtype=pl.String)
        return [
            _index_values(spell_cells(frame[name]) if name in frame.columns else blank_texts, values)
            for name, values in zip(self.names, self.values, strict=True)
        ]


def _index_values(texts: pl.Series, values: pl.Series) -> Ints:
    codes = texts.replace_strict(values, range(len(values)), default=len(values), return_dtype=pl.Int64)
    return codes.fill_null(len(values)).to_numpy().astype(np.int64)


class _BestRules:
    """The best rule so far for every asking row: highest confidence, then highest support."""

    def __init__(self, answer_codes: Places, queries: int, width: int, confidence: Fraction, least: int) -> None:
        self.answer_codes, self.width, self.confidence, self.least = answer_codes, width, confidence, least
        self.fewest = ceil(confidence * least)
        self.guess = np.full(queries, -1, dtype=np.int64)
        self.fit, self.support = np.zeros(queries, dtype=np.int64), np.ones(queries, dtype=np.int64)
        self.rule = np.full(queries, -1, dtype=np.int64)
        self.looked_at = 0

    def __call__(self, agreeing_rows: AgreeingRows) -> Flags:
        """Take a group's rule where it is better; a group in which all agree cannot be improved further."""
        public = np.bincount(agreeing_rows.answering_group, minlength=agreeing_rows.groups)
        value, fit = find_commonest_values(
            agreeing_rows.answering_group,
            self.answer_codes[agreeing_rows.candidate_rows],
            agreeing_rows.groups,
            self.width,
        )
        hopeful: Flags = (public >= self.least) & (fit >= self.fewest)
        believed_mask = hopeful & reaches(fit, public, self.confidence)
        if agreeing_rows.columns:
            group, asking_rows = agreeing_rows.asking_group, agreeing_rows.query_rows
            new_product, best_product = fit[group] * self.support[asking_rows], self.fit[asking_rows] * public[group]
            better = believed_mask[group] & (
                (new_product > best_product)
                | ((new_product == best_product) & (public[group] > self.support[asking_rows]))
            )
            asking_rows, group = asking_rows[better], group[better]
            self.guess[asking_rows], self.fit[asking_rows], self.support[asking_rows] = (
                value[group],
                fit[group],
                public[group],
            )
            self.rule[asking_rows] = self.looked_at + group
        self.looked_at += agreeing_rows.groups
        return np.asarray(hopeful & ((fit < public) | (not agreeing_rows.columns)))


def _guess_by_best_column(question: AgreementQuestion, other_columns: Sequence[int], best: _BestRules) -> Ints:
    """For each asking row, the most common value among visible rows with the same cell in one column; of all, where it
    is missing. The column is the one that predicts most visible entries, none of which vouches for itself.
    """
    everyday, _ = find_commonest_values(
        np.zeros(len(best.answer_codes), dtype=np.int64), best.answer_codes, 1, best.width
    )
    guess, most = np.full(len(best.guess), everyday[0]), 0
    for other in other_columns:
        width, query_codes = question.widths[other], question.query_codes[other]
        common, count = find_commonest_values(question.candidate_codes[other], best.answer_codes, width + 1, best.width)
        if (predicted_count := int(np.maximum(count[:width] - 1, 0).sum())) > most:
            is_known = (count[query_codes] > 0) & (query_codes < width)
            guess, most = np.where(is_known, common[query_codes], everyday[0]), predicted_count
    return guess


def _tally_rule_hits(
    codes: ReleaseCodes,
    cells: PrivateCells,
    best: _BestRules,
    by_column: Ints,
    strangers: pl.DataFrame | None,
) -> _RuleTally:
    target = codes.names.index(cells.column)
    count, width = len(cells.rows), codes.widths[target]
    true = _index_values(cells.truth, codes.values[target])
    true = np.where(true < width, true, -2)  # a value that nobody shows cannot be guessed
    first, _ = find_commonest_values(np.zeros(len(best.answer_codes), dtype=np.int64), best.answer_codes, 1, width)
    fired_mask = best.rule >= 0
    by_rules = np.where(fired_mask, best.guess, first[0])
    hidden_mask = cells.published_cells.is_null().to_numpy()
    ways = (by_rules, np.full(len(by_rules), first[0]), by_column)
    guess = max(ways, key=lambda way: int((way[:count] == true)[hidden_mask].sum()))
    read = (cells.published_cells == cells.truth).fill_null(value=False).to_numpy()
    fired_hidden = fired_mask[:count] & hidden_mask
    right, right_by_rule = guess[:count] == true, by_rules[:count] == true
    stranger_hits = 0
    if strangers is not None:
        stranger_codes = _index_values(spell_cells(strangers[cells.column]), codes.values[target])
        stranger_hits = int(((guess[count:] == stranger_codes) & (stranger_codes < width)).sum())
    return _RuleTally(
        column=cells.column,
        cells=count,
        hits=int(np.where(hidden_mask, right, read).sum()),
        prior=int((first[0] == true).sum()),
        visible=int((~hidden_mask).sum()),
        fired_count=int(fired_hidden.sum()),
        fired_hits=int((fired_hidden & right_by_rule).sum()),
        fired_prior=int((fired_hidden & (first[0] == true)).sum()),
        rules=len(np.unique(best.rule[:count][fired_hidden])),
        confidence_sum=float((best.fit[:count][fired_hidden] / best.support[:count][fired_hidden]).sum()),
        strangers=stranger_hits,
    )
