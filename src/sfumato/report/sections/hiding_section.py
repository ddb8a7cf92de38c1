# SPDX-License-Identifier: MIT
"""The section of the internal report about hidden rules: rules before and after, and side effects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sfumato.baskets import Baskets
from sfumato.details import HidingDetails, PatternDetails
from sfumato.errors import count_noun
from sfumato.measure.baskets.hiding_steps import list_effects, list_hiding_steps, measure_step_effects
from sfumato.measure.baskets.recount import ItemColumns
from sfumato.patterns import Patterns
from sfumato.public.thresholds import compute_least_count, parse_exact_confidence, require_hiding_thresholds
from sfumato.public.unknown_items import find_unknown_mark, split_unknowns
from sfumato.release import Release
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.pictures.rule_pictures import RuleSpot, RuleWords, draw_rules_before_and_after
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.sections.hidden_names import describe_lost_itemsets, describe_secrets, join_items, split_secret
from sfumato.report.words import loss_words, wording

MOST_RULES = 200_000
"""With more rules than this, only those at the thresholds are drawn, or none."""
_MOST_NAMES = 12
"""How many items are named."""
_WORDS = RuleWords("to be hidden", "other rules", "confidence", "support, baskets")


def list_hiding_sections(
    release: Release, original: Baskets, published_baskets: Baskets, utility: Mapping[str, float]
) -> list[ReportSection]:
    """A section for each method that hides, with its own thresholds, secrets and side effects."""
    steps = list_hiding_steps(release)
    if len(steps) == 1:
        return [build_hiding_section(steps[0], original, published_baskets, utility)]
    secrets = release.details.get("sensitive", ())
    effects = measure_step_effects(release, original, published_baskets)
    return [
        _name_method(
            build_hiding_section(step, original, published_baskets, list_effects(effect, [step]), secrets), step
        )
        for step, effect in zip(steps, effects, strict=True)
    ]


def _name_method(section: ReportSection, step: Release) -> ReportSection:
    """The section of one of several methods, with its name and its thresholds."""
    name, (support, confidence) = step.method.method, require_hiding_thresholds(step)
    shown_support = count_noun(support, "basket") if isinstance(support, int) else wording.format_percent(support)
    shown_confidence = "" if confidence is None else f", confidence {wording.format_percent(confidence)}"
    return replace(
        section,
        anchor=f"{section.anchor}_{name}",
        title=f"What {wording.spell_name(name)} was to hide, and the side effects",
        intro=(
            f"{section.intro} Thresholds of this method: support {shown_support}{shown_confidence}. Everything is "
            "counted in the whole release, at these thresholds; what another method hid does not count as lost."
        ),
    )


def build_hiding_section(
    step: Release,
    original: Baskets,
    published_baskets: Baskets,
    utility: Mapping[str, float],
    all_secrets: Sequence[Any] = (),
) -> ReportSection:
    """Rules before and after, side effects, and the distance from the optimum, of a method that hides.

    `all_secrets` are those of all methods: none of them is lost.
    """
    details, (min_support, min_confidence) = (
        step.details.require_family(HidingDetails),
        require_hiding_thresholds(step),
    )
    secret = details["sensitive"]
    known_baskets = split_unknowns(published_baskets, find_unknown_mark(step)).known_items
    figures = [_build_effects_figure(utility)]
    if min_confidence is not None:
        figures = [*_build_hidden_rules_figure(step, original, known_baskets), *figures]
    changes = step.losses.get("changes", 0) if details.changes is None else len(details.changes)
    intro = (
        f"{count_noun(len(secret), 'rule, itemset or item was', 'rules, itemsets or items were')} to be "
        "hidden, with "
        f"{count_noun(int(changes), 'item change')}."
    )
    least = compute_least_count(min_support, len(original))
    confidence = 0.0 if min_confidence is None else float(parse_exact_confidence(min_confidence))
    notes = [
        *describe_secrets([rule for rule in secret if not _is_item(rule)], original, known_baskets, least, confidence),
        *_describe_items([str(item) for item in secret if _is_item(item)], original, known_baskets),
        *_describe_rules_left(details),
        *_describe_lost(original, known_baskets, least, all_secrets or secret),
        *_list_hiding_notes(details, step.method.method),
    ]
    return ReportSection("hiding", "What was to be hidden, and the side effects", intro, tuple(figures), tuple(notes))


def _is_item(secret: Any) -> bool:
    return not isinstance(secret, tuple | list)


def _describe_items(names: Sequence[str], original: Baskets, known_baskets: Baskets) -> list[str]:
    """Items that nothing should predict: the items themselves are not hidden."""
    named_items = names[:_MOST_NAMES]
    original_columns, known_columns = (ItemColumns.of(baskets, named_items) for baskets in (original, known_baskets))
    sentences = [
        f"To be hidden: rules that predict {join_items([name])}. The item itself is in "
        f"{count_noun(known_columns.count_support([name]), 'basket')}, before in "
        f"{wording.format_count(original_columns.count_support([name]))}."
        for name in named_items
    ]
    rest = len(names) - len(named_items)
    more = count_noun(rest, "more item", "more items")
    return sentences + ([f"Also to be hidden: rules that predict {more}."] if rest else [])


def _describe_rules_left(details: HidingDetails) -> list[str]:
    """Rules about the items that still show, which the published algorithms leave."""
    rule_count = int(details.visible_rules or 0)
    if not rule_count:
        return []
    rules = count_noun(rule_count, "rule reaches", "rules reach")
    names = join_items(map(str, details.impossible or ()))
    return [f"Not hidden: at least {rules} both thresholds and can be mined, about: {names}."]


def _describe_lost(original: Baskets, known_baskets: Baskets, least: int, secret: Sequence[Any]) -> list[str]:
    """The itemsets that are no longer frequent; nothing if there are too many to mine."""
    from sfumato.errors import DataError
    from sfumato.mine import frequent_itemsets

    try:
        original_itemsets, known_itemsets = (frequent_itemsets(baskets, least) for baskets in (original, known_baskets))
    except DataError:
        return []
    return describe_lost_itemsets(original_itemsets, known_itemsets, secret)


def _build_hidden_rules_figure(step: Release, original: Baskets, known_baskets: Baskets) -> list[ReportFigure]:
    """Both sides from the same thresholds: half of them, or all if there are too many rules; else no picture."""
    min_support, min_confidence = require_hiding_thresholds(step)
    least = compute_least_count(min_support, len(original))
    confidence = float(parse_exact_confidence(min_confidence or 1))
    secret_sides = {split_secret(rule)[:2] for rule in step.details["sensitive"]}
    words = "half the thresholds"
    spots = _mine_both_sides(original, known_baskets, max(1, least // 2), confidence / 2, secret_sides)
    if spots is None:
        words = "the thresholds"
        spots = _mine_both_sides(original, known_baskets, least, confidence, secret_sides)
    if spots is None:
        return []
    original_spots, published_spots = spots
    exposed_count = sum(
        spot.adversarial and spot.confidence >= confidence and spot.support >= least for spot in published_spots
    )
    exposed_text = count_noun(exposed_count, "of them reaches", "of them reach")
    return [
        ReportFigure(
            "Rules before and after",
            draw_rules_before_and_after(
                original_spots, published_spots, confidence, least, title="", rule_words=_WORDS
            ),
            "Rules by confidence and support, before and after; those that were to be hidden are marked.",
            f"Rules of up to three items with one on the right, from {words} up. Dashed: the thresholds. Red: "
            f"rules to be hidden; after the changes, {exposed_text} both thresholds.",
            wide=True,
        )
    ]


def _mine_both_sides(
    original: Baskets,
    known_baskets: Baskets,
    least: int,
    confidence: float,
    secret_sides: set[tuple[frozenset[str], frozenset[str]]],
) -> tuple[list[RuleSpot], list[RuleSpot]] | None:
    """The rules before and after; None if there are too many of either."""
    original_spots, published_spots = (
        _mine_rule_spots(baskets, least, confidence, secret_sides) for baskets in (original, known_baskets)
    )
    return None if original_spots is None or published_spots is None else (original_spots, published_spots)


def _mine_rule_spots(
    baskets: Baskets, least: int, confidence: float, secret_sides: set[tuple[frozenset[str], frozenset[str]]]
) -> list[RuleSpot] | None:
    """Every rule with its place in the picture; None if there are too many."""
    from sfumato.errors import DataError
    from sfumato.mine import association_rules

    try:
        rules = association_rules(baskets, least, confidence, max_length=3, consequent_length=1)
    except DataError:
        return None
    if rules.height > MOST_RULES:
        return None
    secret_items = {next(iter(right)) for left, right in secret_sides if not left and len(right) == 1}
    spots = []
    for left, right, support, share in rules.select("antecedent", "consequent", "support", "confidence").iter_rows():
        sides = (frozenset(map(str, left)), frozenset(map(str, right)))
        spots.append(RuleSpot(float(share), int(support), sides in secret_sides or bool(sides[1] & secret_items)))
    return spots


def _build_effects_figure(utility: Mapping[str, float]) -> ReportFigure:
    effects = [(label, int(utility[name])) for name, label in _EFFECTS.items() if name in utility]
    return ReportFigure(
        "Side effects",
        _draw_effect_bars(effects),
        "Counts of what was to be hidden before and now, and of what was lost or appeared.",
        "To be hidden: what the policy names, and every rule that shows a named item on its right or a named itemset. "
        "Lost: visible before, not to be hidden, and no longer visible. Ghost: visible now, not to be hidden, and not "
        "visible before.",
        ("What", "Number"),
        tuple((label, wording.format_count(count)) for label, count in effects),
    )


_EFFECTS = {
    "sensitive": "to be hidden, and visible before",
    "exposed": "to be hidden, and visible now",
    "lost_rules": "other rules lost",
    "ghost_rules": "ghost rules",
    "lost_itemsets": "other itemsets lost",
    "ghost_itemsets": "ghost itemsets",
}


def _draw_effect_bars(effects: list[tuple[str, int]]) -> str:
    values = [{"what": label, "count": count, "said": wording.format_count(count)} for label, count in effects]
    most = max([1, *(count for _, count in effects)])
    encoding: Spec = {
        "y": {
            "field": "what",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"labelLimit": 220, "grid": False},
        },
        "x": {
            "field": "count",
            "type": "quantitative",
            "title": None,
            "scale": {"domain": [0, most * 1.15], "nice": False},
            "axis": None,
        },
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": PALETTE["accent"][0], "cornerRadiusEnd": 2, "height": 14}},
        {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "said"}}},
    ]
    margins = {"left": 22, "right": 2, "top": 2, "bottom": 2}  # labels are wider in some browsers
    spec: Spec = {"width": 290, "height": 26 * max(1, len(values)), "data": {"values": values}, "padding": margins}
    return render_svg(spec | {"encoding": encoding, "layer": layers})


def _list_hiding_notes(details: HidingDetails, method: str) -> list[str]:
    notes = []
    if details.proven:
        notes.append(f"{wording.describe_proof(method).capitalize()}.")
    elif details.bound is not None and details.objective is not None:
        best, objective = wording.format_count(details.bound), wording.format_count(details.objective)
        notes.append(f"Every solution costs at least {best}; this one costs {objective}.")
    if details.scans:
        scans = count_noun(details.scans, "scan")
        notes.append(f"{scans} of the baskets, {count_noun(details.pruned_rules or 0, 'rule')} pruned.")
    return notes


_REPAIRED_ITEMSETS = ("lost_itemsets", "ghost_itemsets", "changed_supports")


def build_pattern_section(release: Release, original: Baskets, published_patterns: Patterns) -> ReportSection:
    """What can be inferred from the patterns, and what the repair changed."""
    channels = release.details.require_family(PatternDetails).channels
    channel_count = 0 if channels is None else channels.height
    intro = (
        f"The frequent itemsets had {count_noun(channel_count, 'inference channel')} to fewer than "
        f"{wording.format_count(release.method.k)} people. "
        f"{count_noun(len(published_patterns), 'pattern is', 'patterns are')} published."
    )
    if channel_count and release.method.repair == "none":
        intro += " Nothing was repaired, so readers can derive this."
    figure = build_repair_figure(release, (*_REPAIRED_ITEMSETS, "added_baskets"))
    notes = [*list_channel_examples(channels), *_describe_withheld(release, original, published_patterns)]
    return ReportSection("patterns", "What the patterns revealed", intro, (figure,), tuple(notes))


def build_repair_figure(release: Release, names: Iterable[str]) -> ReportFigure:
    """What a repair changed, by these losses."""
    effects = [
        (loss_words.find_loss_entry(name).title, int(release.losses[name])) for name in names if name in release.losses
    ]
    return ReportFigure(
        "What the repair changed",
        _draw_effect_bars(effects),
        "What was withheld, what was added, what was changed, and how many baskets were added.",
        "What was withheld, what appeared, what was changed, and baskets added to raise supports.",
        ("What", "Number"),
        tuple((label, wording.format_count(count)) for label, count in effects),
    )


def _describe_withheld(release: Release, original: Baskets, published_patterns: Patterns) -> list[str]:
    """Frequent itemsets that are not published."""
    from sfumato.mine import frequent_itemsets

    least = release.details.require_family(PatternDetails).min_support
    if least is None or not release.losses.get("lost_itemsets"):
        return []
    return describe_lost_itemsets(frequent_itemsets(original, least), published_patterns.frame)


def list_channel_examples(channels: pl.DataFrame | None, most: int = 8) -> list[str]:
    """The first channels as sentences."""
    if channels is None:
        return []
    rows = channels.select("inner", "outer", "support").head(most).iter_rows()
    return [
        f"Baskets with {join_items(inner)} and none of {join_items(item for item in outer if item not in inner)}: "
        f"{count_noun(int(support), 'basket')}."
        for inner, outer, support in rows
    ]
