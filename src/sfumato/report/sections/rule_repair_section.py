# SPDX-License-Identifier: MIT
"""The section of the internal report about what a published model does not say, and why: for the custodian only."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfumato.details import PatternDetails
from sfumato.errors import count_noun
from sfumato.protect.patterns.publish_classifier import MOST_VALUES
from sfumato.release import Release
from sfumato.report.run_account import ReportSection
from sfumato.report.sections.hidden_names import join_items
from sfumato.report.sections.hiding_section import build_repair_figure, list_channel_examples
from sfumato.report.words import wording
from sfumato.rules import Rules
from sfumato.table import Table

_LOSSES = ("withheld_rules", "invented_rules", "changed_rules", "added_baskets")
_MOST_NAMES = 8
"""How many rules or splits are named."""


def describe_published_rules(published_rules: Rules, repair: str | None) -> str:
    """How many rules are published, and what their figures count after this repair; if it is unknown, after each."""
    count = count_noun(len(published_rules.list_counts()), "rule is", "rules are")
    items, baskets = (
        count_noun(len(published_rules.items), "item"),
        count_noun(published_rules.baskets, "basket"),
    )
    size = f"{count} published, about {items} in {baskets}{_COUNT_WORDS.get(repair, '')}."
    if not len(published_rules.wholes):
        return f"{size} Nothing reaches the thresholds{'' if repair == 'none' else ' safely'}."
    figures = (
        "The support is the number of these baskets that hold both sides; the confidence is its share of the left "
        "side's."
    )
    return " ".join((size, figures, *_REPAIR_WORDS.get(repair, ())))


_RAISED_WORDS = (
    "every support, and the number of baskets, is the true one or larger; a confidence may be higher or lower than the "
    "true one; and a rule near the thresholds may be invented or missing."
)
_COUNT_WORDS: Mapping[str | None, str] = {"additive": ", counting added ones"}
_REPAIR_WORDS: Mapping[str | None, tuple[str, ...]] = {
    "additive": (f"Baskets were added where small groups had to be hidden: {_RAISED_WORDS}",),
    "none": ("Nothing was repaired: groups of fewer people than k may follow from the rules.",),
    None: (f"If the repair is additive, baskets were added where small groups had to be hidden: {_RAISED_WORDS}",),
}
"""What else must be known of the figures after each repair; None if it is not known which."""


def build_rule_repair_section(release: Release) -> ReportSection:
    """What followed from the rules as mined, and which ones the repair withheld or invented."""
    details = release.details.require_family(PatternDetails)
    channels, rule_channels = details.channels, details.rule_channels
    total, disclosed_count = (0 if frame is None else frame.height for frame in (channels, rule_channels))
    intro = (
        f"The frequent itemsets had {count_noun(total, 'inference channel')} to fewer than "
        f"{wording.format_count(release.method.k)} people. {_describe_rule_channels(total, disclosed_count)}"
    )
    if disclosed_count and release.method.repair == "none":
        intro += " Nothing was repaired, so readers can derive this."
    examples = list_channel_examples(rule_channels if disclosed_count else channels)
    notes = [*examples, *_list_rule_changes(details.rule_changes)]
    figure = build_repair_figure(release, _LOSSES)
    return ReportSection("patterns", "What the rules revealed, and what was withheld", intro, (figure,), tuple(notes))


def _describe_rule_channels(total: int, disclosed_count: int) -> str:
    if not total:
        return "So nothing had to be repaired for them."
    if not disclosed_count:
        return "None follows from the rules as mined alone."
    if disclosed_count == total:
        return "The rules as mined disclose all of them." if total > 1 else "The rules as mined disclose it."
    return f"{count_noun(disclosed_count, 'of them follows', 'of them follow')} from the rules as mined alone."


def _list_rule_changes(changes: pl.DataFrame | None) -> list[str]:
    """Withheld rules by name with their reason, then invented ones; where the others can be read."""
    if changes is None or changes.is_empty():
        return []
    sentences = []
    for change, figures in (("withheld", "true_"), ("invented", "")):
        of_kind = changes.filter(pl.col("change") == change)
        for row in of_kind.head(_MOST_NAMES).iter_rows(named=True):
            name = f"{join_items(map(str, row['antecedent']))} → {join_items(map(str, row['consequent']))}"
            support, share = row[f"{figures}support"], wording.format_percent(row[f"{figures}confidence"])
            sentences.append(
                f"{change.capitalize()}: {name} (support {wording.format_count(support)}, confidence {share}), because "
                f"{row['why']}."
            )
        if of_kind.height > _MOST_NAMES:
            sentences.append(f"{change.capitalize()}: {wording.format_count(of_kind.height - _MOST_NAMES)} more.")
    return [*sentences, "All withheld, invented and changed rules are in private/rule_changes.parquet."]


def build_withheld_splits_section(release: Release, original: Table) -> ReportSection | None:
    """Splits that would predict better and disclose too much, and what the tree was not grown from."""
    splits = release.details.require_family(PatternDetails).withheld_splits
    nodes = 0 if splits is None else splits.height
    notes = [*_list_withheld_splits(splits), *_list_unused(release, original)]
    intro = (
        f"At {count_noun(nodes, 'node')} of the tree, a split would predict better and was withheld, because "
        "it discloses too much."
        if nodes
        else "No split that would predict better had to be withheld."
    )
    return ReportSection("withheld", "What the classifier does not say", intro, (), tuple(notes))


def _list_withheld_splits(splits: pl.DataFrame | None) -> list[str]:
    if splits is None or splits.is_empty():
        return []
    largest = splits.sort("people", descending=True, maintain_order=True)
    sentences = []
    for node, people, condition, reason in largest.head(_MOST_NAMES).iter_rows():
        node_text = " and ".join(node) or "everybody"
        sentences.append(
            f"Withheld: {wording.shorten_label(condition, 80)}, at {wording.shorten_label(node_text, 160)} "
            f"({count_noun(people, 'person', 'people')}), because {reason}."
        )
    rest = splits.height - len(sentences)
    more = f" {count_noun(rest, 'more is', 'more are')} in private/withheld_splits.parquet." if rest else ""
    return [*sentences[:-1], sentences[-1] + more]


def _list_unused(release: Release, original: Table) -> list[str]:
    """Rows without a class, and columns that could not be split."""
    method, frame = release.method, original.frame
    other_columns = [name for name in frame.columns if name not in original.identifying and name != method.target]
    asked_columns = other_columns if method.columns is None else list(method.columns)
    uncut = [name for name in asked_columns if frame[name].dtype.is_numeric() and not method.cuts.get(name)]
    texts = [name for name in asked_columns if not frame[name].dtype.is_numeric()]
    varied_columns = [name for name in texts if frame[name].drop_nulls().n_unique() > MOST_VALUES]
    sentences = []
    if uncut:
        sentences.append(f"Not used, because numbers are split at given cuts only: {wording.quote_first_names(uncut)}.")
    if varied_columns:
        sentences.append(
            f"Not used, because of more than {MOST_VALUES} values: {wording.quote_first_names(varied_columns)}."
        )
    unknown = frame[method.target].null_count()
    if unknown:
        sentences.append(f"{count_noun(unknown, 'row has', 'rows have')} no class, and are left out.")
    return sentences
