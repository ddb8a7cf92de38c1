# SPDX-License-Identifier: MIT
"""Every loss of a method and every measure of utility: its unit, and how those of two methods combine.

A privacy budget that is spent twice is spent in sum. So a loss that two methods state needs a rule, and without one
their policy is refused: the larger of the two could understate what both cost. What a loss means in a run is put into
words by `report/words/loss_words.py`.
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


class LossEntry(NamedTuple):
    """A loss: what it is called and means, and how to compute with it."""

    title: str
    meaning: str
    """One or two sentences for the report."""
    rule: LossRule = _NUMBER
    is_upper_bound: bool = False
    """Whether it bounds what can happen, and is therefore rounded up."""


BUDGET = (
    " at most e^ε times as likely for one truth as for another, under the conditions that the claims name. Less is "
    "safer."
)
"""What a privacy budget says of what it is about."""

LOSSES: Mapping[str, LossEntry] = {
    "loss": LossEntry("Loss", 'How much detail the cells lost: 0 % is the original, 100 % is nothing but "*".', _SHARE),
    "loss_geometric": LossEntry("Loss, geometric mean", "The same, averaged as in ARX, for comparison.", _SHARE),
    "discernibility": LossEntry(
        "Discernibility",
        "Sum over rows of the size of their class; a suppressed row counts as the whole table. The file does not show "
        "rows that were left out. Less is more precise.",
    ),
    "height": LossEntry("Height", "Sum of the levels chosen in all columns, 0 if none are. Smaller is more precise."),
    "average_class_size": LossEntry(
        "Average class", "Rows for each combination of quasi-identifying values, without suppressed rows."
    ),
    "suppressed_rows": LossEntry(
        "Suppressed rows",
        'Rows that fit no class: left out, or published with "*" in all quasi-identifying columns.',
        _COUNT,
    ),
    "published_loss": LossEntry(
        "Loss of the published rows", "The loss without rows that are not in the release.", _SHARE
    ),
    "starred_rows": LossEntry(
        "Rows of stars", 'Rows that are "*" in every quasi-identifying column by their own levels.'
    ),
    "derived_entries": LossEntry(
        "Entries blanked to protect", "Non-private entries blanked so that no rule predicts a private entry.", _COUNT
    ),
    "leftover_rules": LossEntry(
        "Rules left",
        "Rules at the thresholds that still predict private entries: the printed algorithm does not mine again.",
        _COUNT,
    ),
    "private_entries": LossEntry("Private entries", "Entries to be hidden; all are blanked.", _COUNT),
    "derived_share": LossEntry("Share blanked to protect", "Of all entries that are not private.", _SHARE),
    "answered_entries": LossEntry(
        "Private entries that a rule answers",
        (
            "Of the private entries, the share that a rule at the thresholds fits: the release does not "
            "show whether the rule is right."
        ),
        _SHARE,
    ),
    "right_answers": LossEntry("Right answers", "Of these answers, the share that is right.", _SHARE),
    "right_by_prior": LossEntry(
        "Right by guessing", "Of the same entries, the share that the most common value gets right.", _SHARE
    ),
    "changes": LossEntry("Changes", "Items that were added, removed, replaced, or marked as unknown.", _COUNT),
    "exposed_rules": LossEntry(
        "Exposed rules", "Rules about the items to be hidden that still reach both thresholds.", _COUNT
    ),
    "removed": LossEntry("Removed", "Items taken out of a basket.", _COUNT),
    "added": LossEntry("Added", "Items put into a basket.", _COUNT),
    "unknown": LossEntry("Unknown", "Items marked as unknown: a basket may or may not hold them."),
    "changed_baskets": LossEntry("Changed baskets", "Baskets in which something was changed."),
    "lost_itemsets": LossEntry("Itemsets lost", "Frequent before, and not published or no longer frequent."),
    "ghost_itemsets": LossEntry("Ghost itemsets", "Frequent in the release, and not before."),
    "deleted_elements": LossEntry("Elements deleted", "Elements of sequences that are no longer in their place."),
    "inserted_elements": LossEntry(
        "Elements inserted", "Elements that the original of a sequence does not have there."
    ),
    "changed_sequences": LossEntry("Sequences changed", "Sequences in which something was changed."),
    "dropped_sequences": LossEntry("Sequences dropped", "Sequences with nothing in common with any frequent one."),
    "frequent_before": LossEntry(
        "Patterns before",
        "Patterns that are frequent in the originals; patterns to be hidden, and all that contain one, do not count.",
    ),
    "frequent_after": LossEntry(
        "Patterns after",
        "Patterns that are frequent in the release; patterns to be hidden, and all that contain one, do not count.",
    ),
    "lost_patterns": LossEntry(
        "Patterns lost",
        "Patterns that count and were frequent, but no longer are.",
    ),
    "ghost_patterns": LossEntry(
        "Ghost patterns",
        "Patterns that count and became frequent.",
    ),
    "support_distance": LossEntry(
        "Supports moved", "The sum of the differences of supports, over all frequent patterns that count."
    ),
    "support_similarity": LossEntry(
        "Similarity of supports (SupSim)",
        "Over patterns that count, frequent before and after: the mean of the smaller support divided by the larger.",
        _SHARE,
    ),
    "f_measure": LossEntry(
        "F-measure", "Agreement of the frequent patterns that count before and after; 100 % is the same ones.", _SHARE
    ),
    "pattern_distortion": LossEntry(
        "Fewer patterns (M2)",
        "By which share the number of frequent patterns that count fell; below 0, it rose.",
        _SHARE,
    ),
    "support_distortion": LossEntry(
        "Smaller supports (M3)",
        "The mean share of its support that a pattern lost, over those that count and are frequent in the release; "
        "below 0, supports rose.",
        _SHARE,
    ),
    "changed_supports": LossEntry("Supports changed", "Itemsets whose published support is not the true one."),
    "withheld_rules": LossEntry("Rules withheld", "Rules of the originals that are not published."),
    "invented_rules": LossEntry("Rules invented", "Published rules that the originals do not have."),
    "changed_rules": LossEntry("Rules changed", "Rules whose published confidence is not the true one."),
    "leaves": LossEntry("Leaves", "Groups of people for which the classifier has rules of their own."),
    "added_baskets": LossEntry("Baskets added", "Invented baskets that raise supports."),
    "dissimilarity": LossEntry("Dissimilarity", "How far item frequencies moved, as a share of their sum.", _SHARE),
    "dropped_rows": LossEntry("Rows left out", "Rows left out because of a missing value (missing = drop).", _COUNT),
    "largest_loss": LossEntry("Largest loss", "The same in the column that lost most.", _SHARE),
    "epsilon": LossEntry(
        "Privacy budget ε",
        "What is published of a person is" + BUDGET,
        _COUNT,
        is_upper_bound=True,
    ),
    "redrawn_rows": LossEntry("Rows drawn again", "Rows that equalled a unique person and were drawn again.", _COUNT),
    "rare_words": LossEntry(
        "Rare words",
        "Of the synthetic text cells, the share whose value fewer people have than a leaf must hold.",
        _SHARE,
    ),
    "replaced_words": LossEntry(
        "Words replaced",
        "Of the original text values in synthetic columns, the share that few people have; others replace them.",
        _SHARE,
    ),
    "sse": LossEntry(
        "Within groups",
        "Sum of squared deviations from the published values (SSE), in standard deviations; of words, the cells that "
        "changed.",
    ),
    "sst": LossEntry(
        "In total", "The same if each column had one value for everybody, its mean or most common word (SST)."
    ),
    "information_loss": LossEntry("Information loss", "SSE divided by SST.", _SHARE),
    "grouped_cells": LossEntry("Values grouped", "Cells that got the common label of rare values.", _COUNT),
    "rounded_cells": LossEntry("Values rounded", "Cells that hold another number than before.", _COUNT),
    "classification": LossEntry(
        "Classification",
        "Rows that are suppressed, or whose class is not the most common one among those who look alike.",
    ),
    "coded_cells": LossEntry("Values capped", "Cells that hold a limit instead of their value.", _COUNT),
    "added_codes": LossEntry("Codes added", "Codes beyond one per item."),
    "false_positives": LossEntry(
        "False positives of the filters", "Items that filters show although the basket does not hold them."
    ),
    "bits_set": LossEntry("Bits set", "Of all bits of the filters, the share that is set.", _SHARE),
    "changed_cells": LossEntry("Values swapped", "Cells that hold another value than before.", _COUNT),
    "joint_total_variation": LossEntry(
        "Change of joint distributions",
        "How far the joint distribution of a swapped and another column moved (mean total variation).",
        _SHARE,
    ),
    "joint_i_divergence": LossEntry(
        "I-divergence, full patterns",
        "Of the joint distribution of a swapped column and all known ones, in bits; half a count is added everywhere.",
    ),
    "bayes_i_divergence": LossEntry(
        "I-divergence, simple Bayes",
        "The same with the known columns taken to be independent given the swapped one, as the swaps are chosen.",
    ),
    "marginal_shift": LossEntry(
        "Shift in counts", "Sum of the changes in the number of people per swapped value.", _COUNT
    ),
    "marginal_total_variation": LossEntry(
        "Shift of the swapped values",
        (
            "Half the sum of the changes in the shares of swapped values: a value whose share goes from 12 "
            "% to 40 % moved by 28 points."
        ),
        _SHARE,
    ),
    "objective": LossEntry(
        "Cost of swapping",
        "Sum of how much likelier the true values are than their replacements. Smaller keeps more of the data.",
    ),
    "c_avg": LossEntry("Average class over k", "Average class size divided by the promised k."),
    "precision": LossEntry(
        "Precision", "How far cells stay below the top of their hierarchies: 100 % is the original.", _SHARE
    ),
    "non_uniform_entropy": LossEntry(
        "Non-uniform entropy",
        "Information lost about the original values: 0 % is the original, 100 % is nothing published.",
        _SHARE,
    ),
    "total_variation": LossEntry(
        "Shift of single columns",
        "How far the distribution of a column moved (mean total variation); a label counts equally for all its values.",
        _SHARE,
    ),
    "pair_total_variation": LossEntry(
        "Shift of pairs of columns",
        "How far the joint distribution of two columns moved (mean total variation): 0 % is the original.",
        _SHARE,
    ),
    "largest_mean_shift": LossEntry(
        "Largest shift of a mean", "The largest shift of a column's mean, in standard deviations."
    ),
    "largest_spread_change": LossEntry(
        "Largest change of a spread", "The largest relative change of a column's standard deviation.", _SHARE
    ),
    "largest_correlation_shift": LossEntry(
        "Largest shift of a correlation",
        "The largest change of a correlation of two columns, which lies between −1 and 1.",
    ),
    "entropy_change": LossEntry(
        "Change of the class's entropy",
        "Increase in the entropy of the class given one other column, in bits (mean over columns).",
    ),
    "joint_entropy_change": LossEntry(
        "Change of the class's entropy, all columns",
        "Increase in the entropy of the class given all other columns, in bits.",
    ),
    "query_error": LossEntry(
        "Error of queries", "The median relative error of random counting queries on the published values.", _SHARE
    ),
}
"""Every loss of a method, and every measure of utility that the report lists with them; a method that states another
one adds a line."""


def is_share(name: str) -> bool:
    """Whether a loss is a share; of one without a rule nobody knows, and it is shown as a number."""
    return name in LOSSES and LOSSES[name].rule.unit is LossUnit.SHARE


def adds_up(name: str) -> bool:
    """Whether the losses of several methods by this name add up."""
    return name in LOSSES and LOSSES[name].rule.combination is LossSum.SUM


def combine_losses(first: Mapping[str, int | float], second: Mapping[str, int | float]) -> dict[str, int | float]:
    """The losses of two methods in a row; one that both state must have a rule."""
    losses = {**first, **second}
    for name in first.keys() & second.keys():
        if name not in LOSSES:
            raise PolicyError(
                f'two methods of the policy state the loss "{name}", and LOSSES in sfumato/losses.py does not say '
                "whether such losses add up; add it there, or remove one of the methods"
            )
        losses[name] = first[name] + second[name] if adds_up(name) else max(first[name], second[name])
    return losses
