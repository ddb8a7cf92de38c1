# SPDX-License-Identifier: MIT
"""Suppress entries: blank the private ones, and as few others as needed so that no rule predicts a private one.

Against an adversary who mines the release for rules X → y and applies them to the blanks. What leaks: which entries are
blank, private ones and others without distinction; and whatever a stronger learner than rules can guess, which the
attack `learned_inference` measures. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial data mining*
(KDD 2006); where its text errs we mine again until no rule is left, except in the literal search `grades_once`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from sfumato.arrays import Flags, Ints
from sfumato.bound_words import format_limit
from sfumato.change import Change, ChangeKind, state_changes
from sfumato.data.cells.cell_types import type_by_content
from sfumato.data.cells.private_entries import AnyEntries, require_private_mask, settle_private_entries
from sfumato.data.hierarchies.discretization import Discretization, cut_at, cut_equal_width
from sfumato.details import EntryDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, ask_meant, quote_names
from sfumato.mine.entries.cells import BLANK, TableCells
from sfumato.protect.claims import claim_nobody_named, claim_with_originals
from sfumato.protect.entries.blanked_entries import (
    BlankedEntries,
    blank_states,
    collect_entry_details,
    compute_blanking_losses,
    list_entries_singly,
    list_hidden_values,
)
from sfumato.protect.entries.entry_ledger import DerivedEntries, RuleMining, RuleQuestion
from sfumato.protect.entries.exact_entries import find_exact_entries
from sfumato.protect.entries.grades import mine_leftover_rules, run_grades, run_grades_once
from sfumato.protect.entries.grades_plus import run_grades_plus
from sfumato.protect.footprint import Footprint, trace_all_columns
from sfumato.protect.method import HeadlineCount, Method
from sfumato.public.thresholds import MinSupport, compute_least_count, parse_exact_confidence
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

_ROUNDS = 20
"""The most rounds of closing rules and learners in turn."""


def _parse_fraction(confidence: Any) -> Any:
    """An exact confidence: 0.8 is 4/5; a policy may also say "4/5"."""
    if isinstance(confidence, str):
        try:
            confidence = Fraction(confidence)
        except (ValueError, ZeroDivisionError):
            raise ValueError("a confidence is a number above 0 and at most 1, or a fraction such as 4/5") from None
    try:
        return parse_exact_confidence(confidence)
    except PolicyError as error:
        raise ValueError(str(error).removeprefix("confidence ")) from None


Exact = Annotated[Fraction, BeforeValidator(_parse_fraction), PlainSerializer(str, return_type=str)]


class SuppressEntries(Method):
    """Blank private entries, and others, until no rule mined from the rest predicts a private one.

    Guarantee: every private entry is blank. There is no rule X → y of support at least `min_support` and confidence at
    least `confidence` among the visible entries that is also right for at least that share of the private entries it
    fits. Every entry that is not blank is the original one, except in columns that are discretized. Against: an
    adversary who has only the release, mines it for rules, and applies them to the blanks. Limits: rules below the
    thresholds, other learners and outside knowledge are not covered; anyone who knows a blanked entry from elsewhere
    knows more; `grades+` and `grades` find small sets, not the smallest (`exact` proves it on small tables). The
    literal `grades_once` guarantees only that private entries are blank and the others true: the rules it leaves are
    counted as `leftover_rules`, a loss, and nothing is claimed about them. Papers: Aggarwal, Pei, Zhang 2006.
    """

    utility = "blanks"
    section = "entries"
    headline_count: ClassVar[HeadlineCount | None] = HeadlineCount(
        ("private_entries", "derived_entries"),
        "entries blanked",
        "{private_entries} private, {derived_entries} to protect",
    )
    iso_20889: ClassVar[str] = "local suppression"
    optimum_of: ClassVar[str] = "among all sets of entries to blank"
    loss_meaning: ClassVar[str] = "Of the entries that had a value, the share that is blank in the release."
    kept_meaning: ClassVar[tuple[str, str]] = ("of the entries visible", "of those that had a value")
    file_claims: ClassVar[frozenset[str]] = frozenset({"distinct_numbers"})
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.BLANKED, ChangeKind.INTERVALS})
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = (
        "confidence",
        "min_support",
        "max_length",
        "prior",
        "search",
        "blanking_factor",
        "seconds",
        "mining_seconds",
        "mining_memory",
        "discretize",
        "learner_risk",
    )
    private_fields: ClassVar[tuple[str, ...]] = ("private",)
    column_fields: ClassVar[tuple[str, ...]] = ("discretize",)

    method: Literal["suppress_entries"] = "suppress_entries"
    private: AnyEntries = Field(repr=False)
    """Which entries are private: cells, a file of cells, columns, a condition, a random share, or in Python a mask."""
    confidence: Exact
    """δ: the confidence from which a rule discloses an entry, above 0 and at most 1; a number, or a fraction such as
    `"4/5"`."""
    min_support: MinSupport = 1
    """γ: the support from which a rule counts, as a number of rows or a share of them."""
    max_length: int | None = Field(default=None, ge=1, strict=True)
    """The most columns on a rule's left side; by default any number."""
    prior: bool = False
    """Whether the most common value of a column counts as a rule with nothing on the left."""
    search: Literal["grades+", "grades", "exact", "grades_once"] = "grades+"
    """`grades` is the paper's; `grades+` finds smaller sets; `exact` the smallest, for small tables; `grades_once` is
    as printed, for study: it mines once, and may leave rules."""
    blanking_factor: int = Field(default=1, ge=1, strict=True)
    """The paper's k: how many entries `grades` and `grades_once` blank before they update weights."""
    seconds: float | None = Field(default=None, gt=0)
    """How long the search for a smaller set may take; by default 0.8 s for `grades+`, 60 s for `exact`."""
    mining_seconds: float | None = Field(default=None, gt=0)
    """How long all mining may take; if it does not end in time, the claim `search_ended` fails and nothing is
    released."""
    mining_memory: int | None = Field(default=None, ge=1, strict=True)
    """How much memory mining may use, in bytes; if that is not enough, nothing is released."""
    discretize: Mapping[str, int | tuple[float, ...]] = Field(default_factory=dict)
    """Columns of numbers to discretize: into this many intervals of equal width over a coarse range around the data, or
    at given cuts; midpoints are published."""
    learner_risk: float | None = Field(default=None, gt=0, lt=1)
    """Continue blanking until learners also guess at most this share of private entries, at the upper confidence
    bound; it is claimed, and checked with learners trained anew."""

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """Numbers are few only in columns that it cuts into intervals."""
        return super().list_certain_claims(parameters) if parameters["discretize"] else ()

    @model_validator(mode="after")
    def _check_search(self) -> SuppressEntries:
        if self.search == "grades_once" and self.learner_risk is not None:
            raise ValueError("grades_once mines once, as printed; learner_risk needs a search that mines again")
        return self

    @property
    def maturity(self) -> str:  # type: ignore[override]
        """The printed algorithm is known to leave rules."""
        return "for study" if self.search == "grades_once" else "stable"

    def describe(self) -> dict[str, Any]:
        """The method without the entries: naming them in a certificate would disclose them."""
        description = self.model_dump(mode="json", exclude={"private"})
        return description | {"private": sorted({entry.describe_way() for entry in self.private})}

    def footprint(self, data: Table) -> Footprint:
        """Every column: rules look at all of them."""
        return trace_all_columns(data, blanks=not self.discretize)

    def settle(self, original: Table, randomness: Randomness) -> SuppressEntries:
        """Find the private entries in the originals, where rows are counted and conditions are read."""
        names = [name for name in original.frame.columns if name not in original.identifying]
        entries = settle_private_entries(self.private, original.frame, randomness.generator(), original.source, names)
        return self.model_copy(update={"private": (entries,)})

    def follow_rows(self, rows: Ints) -> SuppressEntries:
        """The entries in the rows that are left."""
        return self.model_copy(update={"private": tuple(entries.take_rows(rows) for entries in self.private)})

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Mine the rules that predict private entries, blank entries until none is left, and publish the rest."""
        chance = (randomness or Randomness.secure()).generator()
        names = [name for name in data.frame.columns if name not in data.identifying]
        if not len(data):
            raise DataError(f"{data.source}: the table has no rows")
        mask = require_private_mask(self.private, data.frame, chance, data.source, names)
        private = mask[:, [data.frame.columns.index(name) for name in names]]
        cuts = self._cut_numbers(data.frame.select(names), private, data.source)
        table = data.with_frame(_publish_midpoints(data.frame.select(names), cuts))
        cells = TableCells.of(table, private)
        outcome = self.find_entries(cells)
        if self.learner_risk is not None:
            outcome = replace(outcome, derived=self._close_learners(table, outcome, chance))
        frame = type_by_content(blank_states(table.frame, outcome.derived.states))
        published_table = replace(data.with_frame(frame), missing=Missing.MATCHES_ANY)
        release = self.describe_release(
            data, published_table, outcome, [name for name in names if frame[name].null_count()]
        )
        assert isinstance(release.details, EntryDetails)
        claims = (*release.claims, *(_claim_midpoints(name, cut) for name, cut in cuts.items()))
        return replace(release, claims=claims, details=list_entries_singly(release.details, outcome))

    def find_entries(self, cells: TableCells, room: int | None = None) -> BlankedEntries:
        """Mine rules, and find the entries to be blanked against them; `room` is the memory for rules, in bytes."""
        mining = RuleMining(cells, replace(self._build_question(len(cells.codes)), room=room))
        derived = self._derive_entries(mining)
        leftover_rules = mine_leftover_rules(mining, derived) if self.search == "grades_once" else None
        return BlankedEntries(mining, derived, leftover_rules, list_hidden_values(cells))

    def describe_release(
        self, data: Table, published_table: Table, outcome: BlankedEntries, blank_columns: Collection[str]
    ) -> Release:
        """What is claimed, stated and lost; in some columns the published table has empty cells."""
        leftover_losses = {} if outcome.remaining_rules is None else {"leftover_rules": len(outcome.remaining_rules)}
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(data, outcome.mining),
            losses=compute_blanking_losses(outcome.mining.cells, outcome.derived) | leftover_losses,
            details=collect_entry_details(outcome),
            changes=self._state_changes(data, published_table, blank_columns),
        )

    def _state_changes(self, data: Table, published_table: Table, blank_columns: Collection[str]) -> tuple[Change, ...]:
        """Every column with an empty cell may have been blanked; which empty cells were blanked is not disclosed."""
        cut = tuple(Change(name, ChangeKind.INTERVALS, self.method) for name in self.discretize)
        return (*cut, *state_changes(self, data, published_table, dict.fromkeys(blank_columns, ChangeKind.BLANKED)))

    def _build_question(self, rows: int) -> RuleQuestion:
        least = compute_least_count(self.min_support, rows)
        return RuleQuestion(
            self.confidence, least, self.max_length, self.prior, self.mining_seconds, self.mining_memory
        )

    def _derive_entries(self, mining: RuleMining) -> DerivedEntries:
        if self.search == "grades":
            return run_grades(mining, self.blanking_factor)
        if self.search == "grades_once":
            return run_grades_once(mining, self.blanking_factor)
        if self.search == "exact":
            return find_exact_entries(mining, self.seconds or 60.0)
        return run_grades_plus(mining, self.seconds or 0.8)

    def _cut_numbers(self, frame: pl.DataFrame, private: Flags, source: str) -> dict[str, Discretization]:
        """The intervals of each column, which depend on visible cells only: everybody sees midpoints."""
        cuts = {}
        for name, column_cuts in self.discretize.items():
            if name not in frame.columns:
                question = ask_meant((name,), frame.columns)
                raise PolicyError(f'{source}: "{name}" is to be discretized, but is not a published column{question}')
            visible = frame[name].set(pl.Series(private[:, frame.columns.index(name)]), None)
            # Midpoints between the extremes would disclose the extremes, which are someone's values.
            try:
                cuts[name] = (
                    cut_equal_width(visible, column_cuts, coarse=True)
                    if isinstance(column_cuts, int)
                    else cut_at(visible, column_cuts, coarse=True)
                )
            except DataError as error:
                raise DataError(f"{source}: {error}") from None
        return cuts

    def _close_learners(self, table: Table, outcome: BlankedEntries, chance: np.random.Generator) -> DerivedEntries:
        """Close learners and rules in turn, until both are closed: blanking against one may reopen the other."""
        from sfumato.protect.entries.learner_defence import choose_entries_against_learners

        assert self.learner_risk is not None
        cells, derived, hidden_entries = outcome.mining.cells, outcome.derived, outcome.hidden_entries
        for round_ in range(_ROUNDS):
            report_progress("closing learners", round_, _ROUNDS)
            frame = blank_states(table.frame, derived.states)
            more = choose_entries_against_learners(frame, hidden_entries, self.learner_risk, chance)
            if not more:
                return derived
            states = derived.states.copy()
            for row, name in more:
                states[row, cells.names.index(name)] = BLANK
            extra = np.flatnonzero((states == BLANK) & (derived.states != BLANK)).astype(np.int64)
            rule_entries = self._derive_entries(
                RuleMining(replace(cells, states=states), self._build_question(len(states)))
            )
            entries = np.concatenate([derived.entries, extra, rule_entries.entries])
            derived = DerivedEntries(entries, derived.reasons, rule_entries.states, derived.bound, proven=False)
        raise ImpossibleRelease(
            f"{table.source}: rules and learners could not both be closed after {_ROUNDS} rounds; allow a larger "
            "learner_risk, or make fewer entries private"
        )

    def _claim_no_rules(self, mining: RuleMining) -> Claim:
        """No rule predicts a private entry, if the search for them was completed."""
        question = mining.question
        share = question.confidence
        rule = (
            f"a rule with {self._describe_left_side()} on its left side, support {question.least} or more and "
            f"confidence {share} or more"
        )
        return Claim(
            property="adversarial_rules",
            threshold=0,
            bound="exactly",
            measure="leftover_rules",
            arguments={
                "confidence": str(question.confidence),
                "min_support": question.least,
                "max_length": question.max_length or 0,
                "prior": int(question.prior),
            },
            needs_original=True,
            meaning=f"There is not {rule} that is right about a share of {share} or more of the private entries it "
            "fits. Rules that are right less often may fit private entries, too."
            if mining.complete
            else f"The search for rules was stopped by its budget: whether {rule} predicts a private entry is unknown.",
        )

    def _list_claims(self, data: Table, mining: RuleMining) -> tuple[Claim, ...]:
        blank_claim = Claim(
            property="private_entries_blanked",
            threshold=0,
            bound="exactly",
            measure="visible_private_entries",
            needs_original=True,
            meaning="No private entry is visible.",
        )
        end_meaning = "The search for rules was completed; no budget stopped it."
        end_claim = claim_with_originals("search_ended", 1, "exactly", {}, end_meaning)
        budget_claims = () if mining.complete else (end_claim,)
        # The printed algorithm guarantees nothing about rules; whether it left some would be news about the secrets.
        rule_claims = () if self.search == "grades_once" else (self._claim_no_rules(mining),)
        return (
            *rule_claims,
            blank_claim,
            *budget_claims,
            *self._claim_learners(),
            claim_nobody_named(data),
            *self._claim_truth(),
        )

    def _describe_left_side(self) -> str:
        """How many columns the left side of a rule can have."""
        if self.max_length is None:
            return "any number of columns, or none," if self.prior else "one column or more"
        columns = "one column" if self.max_length == 1 else f"1 to {self.max_length} columns"
        return f"{columns}, or none," if self.prior else columns

    def _claim_learners(self) -> tuple[Claim, ...]:
        """Measured for these learners, trained anew; nothing is proven about others."""
        if self.learner_risk is None:
            return ()
        return (
            Claim(
                property="learner_success",
                threshold=self.learner_risk,
                bound="at_most",
                measure="learner_success",
                needs_original=True,
                meaning=f"Of the private entries, gradient boosting, naive Bayes or nearest neighbours, trained on the "
                f"release, predict a share of {format_limit(self.learner_risk)} at most. Another learner may predict "
                "more.",
            ),
        )

    def _claim_truth(self) -> tuple[Claim, ...]:
        """Nothing published is false; midpoints of intervals are nobody's values, so their columns are left out."""
        cut = tuple(self.discretize)
        scope_text = f" outside {quote_names(cut)}" if cut else ""
        return (
            *(_claim_few_numbers(name, _count_intervals(column_cuts)) for name, column_cuts in self.discretize.items()),
            Claim(
                property="changed_in_other_columns" if cut else "changed_cells",
                threshold=0,
                bound="exactly",
                measure="changed_cells",
                arguments={"except_columns": cut} if cut else {},
                needs_original=True,
                meaning=f"Every entry{scope_text} that is not blank is the original one.",
            ),
        )


def _publish_midpoints(frame: pl.DataFrame, cuts: Mapping[str, Discretization]) -> pl.DataFrame:
    """Numbers as the midpoints of their intervals; a private one beyond all visible ones is in the outermost."""
    return frame.with_columns(
        cut.apply(frame[name].cast(pl.Float64).clip(cut.edges[0], cut.edges[-1]), "midpoint")
        if cut.edges
        else pl.repeat(None, len(frame), dtype=pl.Float64, eager=True).alias(name)  # every cell is private or missing
        for name, cut in cuts.items()
    )


def _claim_midpoints(column: str, cut: Discretization) -> Claim:
    return claim_with_originals(
        "wrong_midpoints",
        0,
        "exactly",
        {"column": column, "edges": tuple(map(repr, cut.edges))},
        f'Every published "{column}" is the midpoint of the interval that contains the original.',
    )


def _claim_few_numbers(column: str, intervals: int) -> Claim:
    """A column of midpoints has no more numbers than intervals."""
    return Claim(
        property="distinct_numbers",
        threshold=intervals,
        bound="at_most",
        measure="distinct_numbers",
        arguments={"column": column},
        meaning=f'"{column}" has at most {intervals} different numbers, the midpoints of its intervals.',
    )


def _count_intervals(column_cuts: int | tuple[float, ...]) -> int:
    return column_cuts if isinstance(column_cuts, int) else len(column_cuts) + 1
