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
from sfumato.mine.anonymity.agreement import AgreeingRows, reaches
from sfumato.public.thresholds import parse_exact_confidence
from sfumato.release import Claim
from sfumato.table import Table


@dataclass(frozen=True)
class FiringRules:
    """Answers of visible rules about private entries."""

    entries: int
    """Private entries."""
    answered: int
    """Those that some rule above the thresholds fits."""
    right: int
    """Those for which the most confident such rule is right."""
    right_by_prior: int
    """Those of the answered ones whose column's most common visible value is right."""


def firing_rules(
    published: Table,
    hidden: pl.DataFrame,
    confidence: str | Fraction,
    least: int,
    max_length: int | None = None,
) -> FiringRules:
    """What rules of this support and confidence among visible entries say about the private ones.

    `hidden` has the `row`, `column` and true `value` (as text) of every private entry.
    """
    share = parse_exact_confidence(Fraction(confidence))
    entries = answered = right = right_by_prior = 0
    for target in code_entries(published, hidden):
        answers = _BestAnswers(target.own, share, least)
        target.build_question(answers.visible).walk(target.others, max_length, answers, "firing rules")
        fits = answers.confidence > 0
        entries += len(fits)
        answered += int(fits.sum())
        right += int((fits & (answers.guess == target.own.secret)).sum())
        right_by_prior += int((fits & (answers.commonest == target.own.secret)).sum())
    return FiringRules(entries, answered, right, right_by_prior)


def measure_rule_answers(evidence: Evidence, claims: Iterable[Claim]) -> dict[str, float]:
    """Of the private entries, the share that rules at the claimed thresholds answer; of the answers, the shares that
    are right and that the most common value would get right. Empty without a claim about rules.
    """
    rule_sets = [
        firing_rules(
            evidence.published,
            require_hidden_entries(evidence.take_step(claim.arguments.get("step")).details),
            Fraction(str(claim.arguments["confidence"])),
            int(str(claim.arguments["min_support"])),
            int(str(claim.arguments["max_length"])) or None,
        )
        for claim in claims
        if claim.measure == "leftover_rules"
    ]
    entries, answered = sum(rules.entries for rules in rule_sets), sum(rules.answered for rules in rule_sets)
    if not entries:
        return {}
    return {
        "answered_entries": answered / entries,
        "right_answers": sum(rules.right for rules in rule_sets) / max(answered, 1),
        "right_by_prior": sum(rules.right_by_prior for rules in rule_sets) / max(answered, 1),
    }


class _BestAnswers:
    """For each private entry of a column, the answer of the most confident rule that fits it, then of the widest."""

    def __init__(self, own: CodedEntries, share: Fraction, least: int) -> None:
        self.width, self.share, self.least = own.width, share, least
        self.fewest = ceil(share * least)
        self.visible = np.flatnonzero(own.seen < own.width)
        self.seen = own.seen[self.visible]
        self.commonest = int(np.bincount(self.seen, minlength=1).argmax())
        self.confidence: Floats = np.zeros(len(own.secret))
        self.support: Ints = np.zeros(len(own.secret), dtype=np.int64)
        self.guess: Ints = np.full(len(own.secret), -1, dtype=np.int64)

    def __call__(self, here: AgreeingRows) -> Flags:
        """Let the rules of these groups answer; a group is split while a value is frequent enough for a rule."""
        public = np.bincount(here.answering_group, minlength=here.groups)
        pairs, shown = np.unique(here.answering_group * self.width + self.seen[here.answering], return_counts=True)
        group, value = pairs // max(self.width, 1), pairs % max(self.width, 1)
        order = np.lexsort((value, -shown, group))
        group, value, shown = group[order], value[order], shown[order]
        first = np.flatnonzero(np.diff(group, prepend=-1))
        group, value, shown = group[first], value[first], shown[first]
        hopeful = (public[group] >= self.least) & (shown >= self.fewest)
        if here.columns:
            self._answer(here, group, value, shown, public, hopeful & reaches(shown, public[group], self.share))
        kept = np.zeros(here.groups, dtype=np.bool_)
        kept[group[hopeful]] = True
        return kept

    def _answer(self, here: AgreeingRows, group: Ints, value: Ints, shown: Ints, public: Ints, fires: Flags) -> None:
        guess = np.full(here.groups, -1, dtype=np.int64)
        confidence = np.zeros(here.groups)
        guess[group[fires]] = value[fires]
        confidence[group[fires]] = shown[fires] / public[group[fires]]
        support = public[here.asking_group]
        offered = confidence[here.asking_group]
        known, wide = self.confidence[here.asking], self.support[here.asking]
        better = (offered > known) | ((offered == known) & (offered > 0) & (support > wide))
        entries = here.asking[better]
        self.confidence[entries], self.support[entries] = offered[better], support[better]
        self.guess[entries] = guess[here.asking_group][better]
