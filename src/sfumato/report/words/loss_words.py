# SPDX-License-Identifier: MIT
"""What each loss means, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sfumato.change_kinds import ChangeKind, LossWords
from sfumato.losses import adds_up
from sfumato.report.words.wording import list_names, spell_name
from sfumato.runtime.lazy import find_tagged_class


class LossEntry(NamedTuple):
    """A loss in words; how to compute with it is in `losses.py`."""

    title: str
    meaning: str
    """One or two sentences for the report."""
    is_upper_bound: bool = False
    """Whether it bounds what can happen, and is therefore rounded up."""


_BUDGET = (
    " at most e^ε times as likely for one truth as for another, under the conditions that the claims name. Less is "
    "safer."
)

LOSSES: Mapping[str, LossEntry] = {
    "loss": LossEntry("Loss", 'How much detail the cells lost: 0 % is the original, 100 % is nothing but "*".'),
    "loss_geometric": LossEntry("Loss, geometric mean", "The same, averaged as in ARX, for comparison."),
    "discernibility": LossEntry(
        "Discernibility",
        "Sum over rows of the size of their class; a suppressed row counts as the whole table. Less is more precise.",
    ),
    "height": LossEntry("Height", "Sum of the levels chosen in all columns. Smaller is more precise."),
    "average_class_size": LossEntry(
        "Average class", "Published rows for each different combination of quasi-identifying values."
    ),
    "suppressed_rows": LossEntry("Suppressed rows", "Rows whose quasi-identifying values were all removed."),
    "published_loss": LossEntry("Loss of the published rows", "The same, without rows that are not in the release."),
    "starred_rows": LossEntry(
        "Rows of stars", 'Rows that are "*" in every quasi-identifying column by their own levels.'
    ),
    "derived_entries": LossEntry(
        "Entries blanked to protect", "Non-private entries blanked so that no rule predicts a private entry."
    ),
    "leftover_rules": LossEntry(
        "Rules left",
        "Rules at the thresholds that still predict private entries: the printed algorithm does not mine again.",
    ),
    "private_entries": LossEntry("Private entries", "Entries to be hidden; all are blanked."),
    "derived_share": LossEntry("Share blanked to protect", "Of all entries that are not private."),
    "answered_entries": LossEntry(
        "Private entries that a rule answers",
        (
            "Of the private entries, the share that a rule at the thresholds fits: the release does not "
            "show whether the rule is right."
        ),
    ),
    "right_answers": LossEntry("Right answers", "Of these answers, the share that is right."),
    "right_by_prior": LossEntry(
        "Right by guessing", "Of the same entries, the share that the most common value gets right."
    ),
    "changes": LossEntry("Changes", "Items that were added, removed, replaced, or marked as unknown."),
    "exposed_rules": LossEntry("Exposed rules", "Rules about the items to be hidden that still reach both thresholds."),
    "removed": LossEntry("Removed", "Items taken out of a basket."),
    "added": LossEntry("Added", "Items put into a basket."),
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
    ),
    "f_measure": LossEntry(
        "F-measure", "Agreement of the frequent patterns that count before and after; 100 % is the same ones."
    ),
    "pattern_distortion": LossEntry(
        "Fewer patterns (M2)", "By which share the number of frequent patterns that count fell; below 0, it rose."
    ),
    "support_distortion": LossEntry(
        "Smaller supports (M3)",
        "The mean share of its support that a frequent pattern that counts lost; below 0, supports rose.",
    ),
    "changed_supports": LossEntry("Supports changed", "Itemsets whose published support is not the true one."),
    "withheld_rules": LossEntry("Rules withheld", "Rules of the originals that are not published."),
    "invented_rules": LossEntry("Rules invented", "Published rules that the originals do not have."),
    "changed_rules": LossEntry("Rules changed", "Rules whose published confidence is not the true one."),
    "leaves": LossEntry("Leaves", "Groups of people for which the classifier has rules of their own."),
    "added_baskets": LossEntry("Baskets added", "Invented baskets that raise supports."),
    "dissimilarity": LossEntry("Dissimilarity", "How far item frequencies moved, as a share of their sum."),
    "dropped_rows": LossEntry("Rows left out", "Rows left out because of a missing value (missing = drop)."),
    "largest_loss": LossEntry("Largest loss", "The same in the column that lost most."),
    "epsilon": LossEntry(
        "Privacy budget ε",
        "What is published of a person is" + _BUDGET,
        is_upper_bound=True,
    ),
    "redrawn_rows": LossEntry("Rows drawn again", "Rows that equalled a unique person and were drawn again."),
    "rare_words": LossEntry(
        "Rare words", "Of the synthetic text cells, the share whose value fewer people have than a leaf must hold."
    ),
    "replaced_words": LossEntry(
        "Words replaced",
        "Of the original text values in synthetic columns, the share that few people have; others replace them.",
    ),
    "sse": LossEntry("Within groups", "Sum of squared deviations from the published group values (SSE)."),
    "sst": LossEntry("In total", "Sum of squared deviations from the means of the columns (SST)."),
    "information_loss": LossEntry("Information loss", "SSE divided by SST."),
    "grouped_cells": LossEntry("Values grouped", "Cells that hold the common label of rare values."),
    "rounded_cells": LossEntry("Values rounded", "Cells that hold another number than before."),
    "classification": LossEntry(
        "Classification",
        "Rows that are suppressed, or whose class is not the most common one among those who look alike.",
    ),
    "coded_cells": LossEntry("Values capped", "Cells that hold a limit instead of their value."),
    "added_codes": LossEntry("Codes added", "Codes beyond one per item."),
    "false_positives": LossEntry(
        "False positives of the filters", "Items that filters show although the basket does not hold them."
    ),
    "bits_set": LossEntry("Bits set", "Of all bits of the filters, the share that is set."),
    "changed_cells": LossEntry("Values swapped", "Cells that hold another value than before."),
    "joint_total_variation": LossEntry(
        "Change of joint distributions",
        "How far the joint distribution of a swapped and another column moved (mean total variation).",
    ),
    "joint_i_divergence": LossEntry(
        "I-divergence, full patterns",
        "Of the joint distribution of a swapped column and all known ones, in bits; half a count is added everywhere.",
    ),
    "bayes_i_divergence": LossEntry(
        "I-divergence, simple Bayes",
        "The same with the known columns taken to be independent given the swapped one, as the swaps are chosen.",
    ),
    "marginal_shift": LossEntry("Shift in counts", "Sum of the changes in the number of people per swapped value."),
    "marginal_total_variation": LossEntry(
        "Shift of the swapped values",
        (
            "Half the sum of the changes in the shares of swapped values: a value whose share goes from 12 "
            "% to 40 % moved by 28 points."
        ),
    ),
    "objective": LossEntry(
        "Cost of swapping",
        "Sum of how much likelier the true values are than their replacements. Smaller keeps more of the data.",
    ),
    "c_avg": LossEntry("Average class over k", "Average class size divided by the promised k."),
    "precision": LossEntry(
        "Precision", "How far cells stay below the top of their hierarchies: 100 % is the original."
    ),
    "non_uniform_entropy": LossEntry(
        "Non-uniform entropy",
        "Information lost about the original values: 0 % is the original, 100 % is nothing published.",
    ),
    "total_variation": LossEntry(
        "Shift of single columns",
        "How far the distribution of a column moved (mean total variation); a label counts equally for all its values.",
    ),
    "pair_total_variation": LossEntry(
        "Shift of pairs of columns",
        "How far the joint distribution of two columns moved (mean total variation): 0 % is the original.",
    ),
    "largest_mean_shift": LossEntry(
        "Largest shift of a mean", "The largest shift of a column's mean, in standard deviations."
    ),
    "largest_spread_change": LossEntry(
        "Largest change of a spread", "The largest relative change of a column's standard deviation."
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
        "Error of queries", "The median relative error of random counting queries on the published values."
    ),
}
"""Every loss of a method, and every measure of utility that the report lists with them."""

_LARGEST = " Of several methods, the largest counts."

_DETAIL = LossWords(LOSSES["loss"].meaning, "detail kept", "mean over the quasi-identifying columns")
_UNKNOWN = LossWords("The method's own measure: 0 % means no loss.", "kept", "by the method's own measure")
_SEVERAL = LossWords(
    "By the methods: the largest of their losses, each by its own measure. On the file: the largest by any kind of "
    "change; of items, the share that all methods together changed.",
    "kept in the part with the largest loss",
    "each method by its own measure",
)
_REPEATED = "By the methods: the largest of theirs. On the file: of all their columns together."
_MIXED = LossWords(
    "On the file: the largest loss of all kinds of change, each by its own measure.",
    "kept in the part with the largest loss",
    "each kind of change by its own measure",
)


def describe_loss(body: Mapping[str, Any]) -> LossWords:
    """What the loss of a run means: by the kinds of change of its method, or by several methods together."""
    tags = [str(method["method"]) for method in body["methods"]]
    if len(set(tags)) > 1 and not all(map(_loses_detail, tags)):
        return _SEVERAL
    if len(tags) > 1 and not _loses_detail(tags[0]):
        words = describe_method_loss(tags[0], body.get("changes", ()))
        return words._replace(meaning=f"{words.meaning} {_REPEATED}")
    return describe_method_loss(tags[-1], body.get("changes", ())) if tags else _UNKNOWN


def find_loss_entry(name: str) -> LossEntry:
    """What a loss is called and means; one without an entry has only its name."""
    return LOSSES.get(name, LossEntry(spell_name(name).capitalize(), ""))


def find_loss_words(name: str, body: Mapping[str, Any]) -> LossEntry:
    """What a loss is called, and what it means in this run."""
    entry = find_loss_entry(name)
    if name == "loss":
        return entry._replace(meaning=describe_loss(body).meaning)
    if name == "epsilon":
        return entry._replace(meaning=_describe_budget(body))
    is_largest = len(body["methods"]) > 1 and name in body["losses"] and not adds_up(name)
    return entry._replace(meaning=f"{entry.meaning}{_LARGEST * is_largest}".strip())


def _describe_budget(body: Mapping[str, Any]) -> str:
    """What a privacy budget bounds: of a table whose columns are not all randomized, the answers and nothing else."""
    answers = [name for name, law in body["public"].items() if "epsilon" in law]
    published_columns = {change["column"] for change in body["changes"] if change["kind"] != ChangeKind.DROPPED}
    if body["data"]["shape"] != "table":
        return LOSSES["epsilon"].meaning
    shows_missing = any(body["public"][name].get("missing") == "kept" for name in answers)
    missing_words = " It is not hidden whose answer is missing." if shows_missing else ""
    if published_columns <= set(answers):
        return LOSSES["epsilon"].meaning + missing_words
    subject = f"What is published of a person in {list_names(answers)}"
    verb = " is" if len(answers) == 1 else ", taken together, is"
    return f"{subject}{verb}{_BUDGET} It says nothing about what other columns disclose.{missing_words}"


def describe_method_loss(tag: str, changes: Iterable[Mapping[str, Any]]) -> LossWords:
    """What the loss of one method means: as its kind of change says, or the method itself (`Method.loss_meaning`)."""
    method = find_tagged_class("method", tag)
    stated_kinds = dict.fromkeys(ChangeKind(change["kind"]) for change in changes if change["method"] == tag)
    kinds = [kind.meaning.loss_words for kind in stated_kinds if kind.meaning.loss_words is not None]
    if _loses_detail(tag):
        return _DETAIL
    own_meaning = str(getattr(method, "loss_meaning", ""))
    if own_meaning and kinds:
        return _MIXED._replace(meaning=f"{own_meaning} {_MIXED.meaning}")  # the file is measured by the largest
    if own_meaning and method is not None:
        return LossWords(own_meaning, *method.kept_meaning)
    return _MIXED if len(kinds) > 1 else kinds[0] if kinds else _UNKNOWN


def _loses_detail(tag: str) -> bool:
    """Whether a method's loss is detail."""
    return bool(getattr(find_tagged_class("method", tag), "loses_detail", False))
