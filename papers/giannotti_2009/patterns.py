# SPDX-License-Identifier: MIT
"""k-anonymous patterns (Atzori et al. 2005): the rule that names one person, channels, and what channels miss."""

from __future__ import annotations

from typing import Any

import polars as pl

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.baskets import Baskets
from sfumato.errors import count_noun
from sfumato.measure.patterns.pattern_privacy import inferable_patterns
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.baskets.published_rules import count_rule_people
from sfumato.mine.patterns.derivability import forced_patterns, support_bounds
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.patterns import Patterns
from sfumato.protect.patterns.publish_patterns import PublishPatterns

TWELVE = (
    "abcdefgh", "abcdeg", "abcde", "abcdefg", "abcde", "abcde", "abde", "aefg", "cdefg", "cde", "cdefgh", "abfg",
)  # fmt: skip
"""T1 to T12."""
K = 3
CHANNELS = {8: (13, 3), 6: (58, 10)}
"""An independent count: by least support, how many channels there are, and how many maximal ones."""
WIDEST = {("∅", "cde"), ("a", "ab"), ("a", "ae")}
"""An independent count: the maximal ones at support 8."""
MINTERMS = {"abc": 1, "ab": 4, "ac": 4, "bc": 4, "b": 5, "c": 5}
"""An independent count: a database without any channel at support 5 that still gives one person away."""


def twelve() -> Baskets:
    """The transactions of the slides."""
    return Baskets.of([list(basket) for basket in TWELVE])


def no_channel() -> Baskets:
    """The counter-example."""
    return Baskets.of([list(minterm) for minterm, many in MINTERMS.items() for _ in range(many)])


def channels(setting: Setting) -> Findings:
    """Everything that the slides and an independent count say of channels."""
    del setting  # twelve baskets are quick enough
    data = twelve()
    inference = count_rule_people(80, 0.987)
    few = sum({"a", "b"} <= set(basket) and not set("cde") & set(basket) for basket in TWELVE)
    channels_by_least = {least: inference_channels(data, least, K) for least in CHANNELS}
    widest = {least: inference_channels(data, least, K, maximal=True) for least in CHANNELS}
    slide = [row for row in _rows(channels_by_least[6]) if (row["inner"], row["outer"]) == ("ab", "abcde")]
    return Findings(
        statements=(
            Statement(
                "A rule of support 80 and confidence 98.7 % is about just one individual.",
                f"{inference.antecedent} − 80 = {inference.individuals}.",
                (inference.antecedent, inference.individuals) == (81, 1),
            ),
            Statement(
                "p = a ∧ b ∧ ¬c ∧ ¬d ∧ ¬e is inferred from I = ab and J = abcde.",
                f"Its support is {few}; found as a channel at support 6: {'yes' if slide else 'no'}.",
                few == 1 and len(slide) == 1 and slide[0]["support"] == few,
            ),
            *(_state_channels(least, channels_by_least[least], widest[least]) for least in CHANNELS),
            Statement(
                "At support 8 the maximal ones are C(∅, cde), C(a, ab), C(a, ae).",
                ", ".join(f"C({row['inner']}, {row['outer']})" for row in _rows(widest[8])) + ".",
                {(row["inner"], row["outer"]) for row in _rows(widest[8])} == WIDEST,
                source="independent count",
            ),
        ),
        grids=(
            Grid("channels", f"Maximal channels (k = {K})", frame_of(_by_support(widest))),
            Grid(
                "repairs",
                f"The same itemsets published so that nothing is inferred (k = {K})",
                frame_of(_repairs()),
                "Patterns of few: channels, and what follows besides from bounds, two patterns together among it.",
            ),
        ),
    )


def _state_channels(least: int, all_channels: pl.DataFrame, widest: pl.DataFrame) -> Statement:
    many, maximal = CHANNELS[least]
    return Statement(
        f"Support {least}, k = {K}: {many} channels, {maximal} of them maximal.",
        f"{all_channels.height}, {widest.height} of them maximal.",
        (all_channels.height, widest.height) == (many, maximal),
        source="independent count",
    )


def _rows(channels_frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {"inner": "".join(inner) or "∅", "outer": "".join(outer), "support": support}
        for inner, outer, support in channels_frame.iter_rows()
    ]


def _by_support(widest: dict[int, pl.DataFrame]) -> list[dict[str, Any]]:
    return [
        {"least_support": least, "holds": row["inner"], "of": row["outer"], "people": row["support"]}
        for least, channels_frame in widest.items()
        for row in _rows(channels_frame)
    ]


def _repairs() -> list[dict[str, Any]]:
    rows = []
    for least in CHANNELS:
        for repair in ("none", "additive", "suppressive"):
            release = PublishPatterns(k=K, min_support=least, repair=repair).protect(twelve())
            rows.append(
                {
                    "least_support": least,
                    "repair": repair,
                    "itemsets": len(release.data),
                    "lost": release.losses["lost_itemsets"],
                    "supports_changed": release.losses["changed_supports"],
                    "patterns_of_few": inferable_patterns(release.data, K, release.data.complete_from),
                }
            )
    return rows


def beyond_channels(setting: Setting) -> Findings:
    """Supports without a channel that force a pattern of one person."""
    del setting  # 23 baskets are quick enough
    data, least = no_channel(), 5
    patterns = Patterns.of(frequent_itemsets(data, least), len(data))
    channel_count = inference_channels(data, least, K).height
    bounds = support_bounds(patterns, "abc")
    implied_patterns = forced_patterns(patterns, K)
    names = ", ".join("".join(map(str, pattern.conjunctions[0].present)) for pattern in implied_patterns)
    release = PublishPatterns(k=K, min_support=least).protect(data)
    inferable_count = inferable_patterns(release.data, K, release.data.complete_from)
    repaired_supports = dict(zip(map(tuple, release.data.frame["items"]), release.data.supports.tolist(), strict=True))
    rows = [
        {"itemset": "".join(items), "support": support, "published_by_ours": repaired_supports.get(tuple(items))}
        for items, support in patterns.frame.iter_rows()
    ]
    return Findings(
        statements=(
            Statement(
                "The theorem makes a detector possible, which looks at pairs I ⊆ J of frequent itemsets.",
                f"{count_noun(channel_count, 'channel')}, yet abc must have support {bounds.lower} to {bounds.upper}.",
                bool(channel_count) or bounds.lower != bounds.upper,
                "The theorem speaks of all itemsets; a detector sees only the frequent ones.",
            ),
            Statement(
                "There is no channel, and the supports force sup(abc) = 1.",
                f"{count_noun(channel_count, 'channel')}; forced: {names}.",
                not channel_count and bounds == (1, 1) and len(implied_patterns) == 1,
                source="independent count",
            ),
        ),
        grids=(Grid("supports", f"Supports from {least} on, of {len(data)} baskets", frame_of(rows)),),
        remarks=(
            (
                "The theorem speaks of all itemsets. A detector sees frequent ones only, and abc is not frequent: the "
                "bounds of Calders and Goethals (2002) find it all the same."
            ),
            (f"Ours repairs that, too: {count_noun(inferable_count, 'pattern')} of few people in what it publishes."),
        ),
    )
