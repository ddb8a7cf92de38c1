# SPDX-License-Identifier: MIT
"""Every loss of a method and every measure of utility: its unit, and how those of two methods combine.

A privacy budget that is spent twice is spent in sum. So a loss that two methods state needs a rule, and without one
their policy is refused: the larger of the two could understate what both cost. The words are in `report/words`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from sfumato.errors import PolicyError


class LossUnit(StrEnum):
    """What a loss is measured in."""

    SHARE = "share"
    """A share of something, shown as a percentage."""
    NUMBER = "number"
    """A count or any other number."""


class LossSum(StrEnum):
    """What the losses of several methods are together."""

    SUM = "sum"
    """They add up, as privacy budgets and counts of what each method changed do."""
    LARGEST = "largest"
    """The largest counts: each is about all that is published."""


class LossRule(NamedTuple):
    """How to compute with a loss."""

    unit: LossUnit
    combination: LossSum


_SHARE = LossRule(LossUnit.SHARE, LossSum.LARGEST)
_NUMBER = LossRule(LossUnit.NUMBER, LossSum.LARGEST)
_COUNT = LossRule(LossUnit.NUMBER, LossSum.SUM)

LOSS_RULES: Mapping[str, LossRule] = {
    "loss": _SHARE,
    "loss_geometric": _SHARE,
    "discernibility": _NUMBER,
    "height": _NUMBER,
    "average_class_size": _NUMBER,
    "suppressed_rows": _COUNT,
    "published_loss": _SHARE,
    "starred_rows": _NUMBER,
    "derived_entries": _COUNT,
    "leftover_rules": _COUNT,
    "private_entries": _COUNT,
    "derived_share": _SHARE,
    "answered_entries": _SHARE,
    "right_answers": _SHARE,
    "right_by_prior": _SHARE,
    "changes": _COUNT,
    "exposed_rules": _COUNT,
    "removed": _COUNT,
    "added": _COUNT,
    "unknown": _NUMBER,
    "changed_baskets": _NUMBER,
    "lost_itemsets": _NUMBER,
    "ghost_itemsets": _NUMBER,
    "deleted_elements": _NUMBER,
    "inserted_elements": _NUMBER,
    "changed_sequences": _NUMBER,
    "dropped_sequences": _NUMBER,
    "frequent_before": _NUMBER,
    "frequent_after": _NUMBER,
    "lost_patterns": _NUMBER,
    "ghost_patterns": _NUMBER,
    "support_distance": _NUMBER,
    "support_similarity": _SHARE,
    "f_measure": _SHARE,
    "pattern_distortion": _SHARE,
    "support_distortion": _SHARE,
    "changed_supports": _NUMBER,
    "withheld_rules": _NUMBER,
    "invented_rules": _NUMBER,
    "changed_rules": _NUMBER,
    "leaves": _NUMBER,
    "added_baskets": _NUMBER,
    "dissimilarity": _SHARE,
    "dropped_rows": _COUNT,
    "largest_loss": _SHARE,
    "epsilon": _COUNT,
    "redrawn_rows": _COUNT,
    "rare_words": _SHARE,
    "replaced_words": _SHARE,
    "sse": _NUMBER,
    "sst": _NUMBER,
    "information_loss": _SHARE,
    "grouped_cells": _COUNT,
    "rounded_cells": _COUNT,
    "classification": _NUMBER,
    "coded_cells": _COUNT,
    "added_codes": _NUMBER,
    "false_positives": _NUMBER,
    "bits_set": _SHARE,
    "changed_cells": _COUNT,
    "joint_total_variation": _SHARE,
    "joint_i_divergence": _NUMBER,
    "bayes_i_divergence": _NUMBER,
    "marginal_shift": _COUNT,
    "marginal_total_variation": _SHARE,
    "objective": _NUMBER,
    "c_avg": _NUMBER,
    "precision": _SHARE,
    "non_uniform_entropy": _SHARE,
    "total_variation": _SHARE,
    "pair_total_variation": _SHARE,
    "largest_mean_shift": _NUMBER,
    "largest_spread_change": _SHARE,
    "largest_correlation_shift": _NUMBER,
    "entropy_change": _NUMBER,
    "joint_entropy_change": _NUMBER,
    "query_error": _SHARE,
}
"""A loss by its name; a method that states another one adds a line."""


def is_share(name: str) -> bool:
    """Whether a loss is a share; of one without a rule nobody knows, and it is shown as a number."""
    return name in LOSS_RULES and LOSS_RULES[name].unit is LossUnit.SHARE


def adds_up(name: str) -> bool:
    """Whether the losses of several methods by this name add up."""
    return name in LOSS_RULES and LOSS_RULES[name].combination is LossSum.SUM


def combine_losses(first: Mapping[str, int | float], second: Mapping[str, int | float]) -> dict[str, int | float]:
    """The losses of two methods in a row; one that both state must have a rule."""
    losses = {**first, **second}
    for name in first.keys() & second.keys():
        if name not in LOSS_RULES:
            raise PolicyError(
                f'two methods of the policy state the loss "{name}", and LOSS_RULES in sfumato/losses.py does not say '
                "whether such losses add up; add it there, or remove one of the methods"
            )
        losses[name] = first[name] + second[name] if adds_up(name) else max(first[name], second[name])
    return losses
