# SPDX-License-Identifier: MIT
"""How many private entries the rules of a release still speak about, and how often these rules are right.

An adversarial rule is confident among visible entries and right about the private ones. What blanking leaves are rules
that an adversary who sees only the release would believe as well, and that are wrong: they fit private entries, and
answer. This counts such answers, those that are right, and those that the most common value would get right. Needs the
true values of the private entries, so only the custodian can measure it. Aggarwal, Pei and Zhang (2006).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.measure.checks import Evidence
from sfumato.measure.entries.leftover_rules import CodedEntries, code_entries, require_hidden_entries
from sfumato.mine.entries.agreeing_rows import AgreeingRows, reaches
from sfumato.public.thresholds import parse_exact_confidence
from sfumato.release import Claim
from sfumato.table import Table


@dataclass(frozen=True)
class FiringRules:
    """Answers of visible rules about private entries."""

    entries: int
    """Private entries."""
    answered_count: int
    """Those that some rule above the thresholds fits."""
    right: int
    """Those for which the most confident such rule is right."""
    right_by_prior: int
    """Those of the answered ones whose column's most common visible value is right."""


def firing_rules(
    published_table: Table,
    private_entries: pl.DataFrame,
    confidence: str | Fraction,
    least: int,
    max_length: int | None = None,
) -> FiringRules:
    """What rules of this support and confidence among visible entries say about the private ones.

    `private_entries` has the `row`, `column` and true `value` (as text) of every private entry.
    """
    share = parse_exact_confidence(Fraction(confidence))
    entries = answered_count = right = right_by_prior = 0
    for target in code_entries(published_table, private_entries):
        answers = _BestAnswers(target.own_entries, share, least)
        target.build_question(answers.visible).walk(target.other_indices, max_length, answers, "firing rules")
        fits = answers.confidence > 0
        entries += len(fits)
        answered_count += int(fits.sum())
        right += int((fits & (answers.guess == target.own_entries.secret)).sum())
        right_by_prior += int((fits & (answers.commonest == target.own_entries.secret)).sum())
    return FiringRules(entries, answered_count, right, right_by_prior)


def measure_rule_answers(evidence: Evidence, claims: Iterable[Claim]) -> dict[str, float]:
    """Of the private entries, the share that rules at the claimed thresholds answer; of the answers, the shares that
    are right and that the most common value would get right. Empty without a claim about rules.
    """
    rule_sets = [
        firing_rules(
            evidence.published_data,
            require_hidden_entries(evidence.take_step(claim.arguments.get("step")).details),
            Fraction(str(claim.arguments["confidence"])),
            int(str(claim.arguments["min_support"])),
            int(str(claim.arguments["max_length"])) or None,
        )
        for claim in claims
        if claim.measure == "leftover_rules"
    ]
    entries, answered_count = (
        sum(rules.entries for rules in rule_sets),
        sum(rules.answered_count for rules in rule_sets),
    )
    if not entries:
        return {}
    return {
        "answered_entries": answered_count / entries,
        "right_answers": sum(rules.right for rules in rule_sets) / max(answered_count, 1),
        "right_by_prior": sum(rules.right_by_prior for rules in rule_sets) / max(answered_count, 1),
    }


class _BestAnswers:
    """For each private entry of a column, the answer of the most confident rule that fits it, then of the widest."""

    def __init__(self, target_entries: CodedEntries, share: Fraction, least: int) -> None:
        self.width, self.share, self.least = target_entries.width, share, least
        self.fewest = ceil(share * least)
        self.visible = np.flatnonzero(target_entries.visible_codes < target_entries.width)
        self.visible_codes = target_entries.visible_codes[self.visible]
        self.commonest = int(np.bincount(self.visible_codes, minlength=1).argmax())
        self.confidence: Floats = np.zeros(len(target_entries.secret))
        self.support: Ints = np.zeros(len(target_entries.secret), dtype=np.int64)
        self.guess: Ints = np.full(len(target_entries.secret), -1, dtype=np.int64)

    def __call__(self, agreeing_rows: AgreeingRows) -> Flags:
        """Let the rules of these groups answer; a group is split while a value is frequent enough for a rule."""
        public = np.bincount(agreeing_rows.answering_group, minlength=agreeing_rows.groups)
        pairs, shown_counts = np.unique(
            agreeing_rows.answering_group * self.width + self.visible_codes[agreeing_rows.candidate_rows],
            return_counts=True,
        )
        group, value = pairs // max(self.width, 1), pairs % max(self.width, 1)
        order = np.lexsort((value, -shown_counts, group))
        group, value, shown_counts = group[order], value[order], shown_counts[order]
        first = np.flatnonzero(np.diff(group, prepend=-1))
        group, value, shown_counts = group[first], value[first], shown_counts[first]
        hopeful = (public[group] >= self.least) & (shown_counts >= self.fewest)
        if agreeing_rows.columns:
            self._answer(
                agreeing_rows,
                group,
                value,
                shown_counts,
                public,
                hopeful & reaches(shown_counts, public[group], self.share),
            )
        group_mask = np.zeros(agreeing_rows.groups, dtype=np.bool_)
        group_mask[group[hopeful]] = True
        return group_mask

    def _answer(
        self, agreeing_rows: AgreeingRows, group: Ints, value: Ints, shown_counts: Ints, public: Ints, fires: Flags
    ) -> None:
        guess = np.full(agreeing_rows.groups, -1, dtype=np.int64)
        confidence = np.zeros(agreeing_rows.groups)
        guess[group[fires]] = value[fires]
        confidence[group[fires]] = shown_counts[fires] / public[group[fires]]
        support = public[agreeing_rows.asking_group]
        new_confidence = confidence[agreeing_rows.asking_group]
        best_confidence, wide = self.confidence[agreeing_rows.query_rows], self.support[agreeing_rows.query_rows]
        better = (new_confidence > best_confidence) | (
            (new_confidence == best_confidence) & (new_confidence > 0) & (support > wide)
        )
        entries = agreeing_rows.query_rows[better]
        self.confidence[entries], self.support[entries] = new_confidence[better], support[better]
        self.guess[entries] = guess[agreeing_rows.asking_group][better]
