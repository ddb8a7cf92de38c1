# SPDX-License-Identifier: MIT
"""Association rules behind randomized baskets: confidences of estimated supports, with intervals.

Both supports of a confidence are estimated from the same baskets, so its interval counts what they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.baskets import Item
from sfumato.mine.baskets.distortion_inverse import EstimateScope
from sfumato.mine.baskets.estimated_itemsets import ExploredItemsets, explore_itemsets
from sfumato.public.thresholds import Confidence, Support, parse_exact_confidence
from sfumato.release import Release


class _EstimatedRule(NamedTuple):
    antecedent: list[Item]
    consequent: list[Item]
    support: float
    confidence: float
    low: float
    high: float
    lift: float


def estimate_rules(
    release: Release,
    min_support: Support,
    min_confidence: Confidence,
    max_length: int | None = None,
    confidence: float = 0.95,
    *,
    of: EstimateScope = "baskets",
) -> pl.DataFrame:
    """The rules that held before baskets were randomized, estimated from a release of `RandomizeBaskets`.

    The frame has `antecedent`, `consequent`, `support` (the estimated share of baskets), `confidence`, its interval
    `low` to `high`, and `lift`. `max_length` bounds the items of both sides together; the other parameters are those
    of `estimate_itemsets`.
    """
    least = float(parse_exact_confidence(min_confidence, "min_confidence"))
    itemsets = explore_itemsets(release, min_support, max_length, confidence, of)
    rules = [rule for level in range(1, len(itemsets.levels)) for rule in _split_level(itemsets, level, least)]
    rules.sort(key=lambda rule: (-rule.confidence, -rule.support))
    inner = pl.Int64 if itemsets.names and isinstance(itemsets.names[0], int) else pl.String
    lists = dict.fromkeys(("antecedent", "consequent"), pl.List(inner))
    numbers = dict.fromkeys(("support", "confidence", "low", "high", "lift"), pl.Float64)
    return pl.DataFrame(rules, schema={**lists, **numbers}, orient="row")


def _split_level(itemsets: ExploredItemsets, level: int, least: float) -> Iterator[_EstimatedRule]:
    """The rules among the frequent sets of one length."""
    supports = itemsets.levels[level].estimates.support
    for row in np.flatnonzero(supports >= itemsets.threshold - 1e-12).tolist():
        lines = tuple(itemsets.levels[level].sets[row].tolist())
        patterns = None
        for mask in range(1, (1 << len(lines)) - 1):
            is_left = [bool(mask >> position & 1) for position in range(len(lines))]
            left = tuple(line for line, is_antecedent in zip(lines, is_left, strict=True) if is_antecedent)
            right = tuple(line for line, is_antecedent in zip(lines, is_left, strict=True) if not is_antecedent)
            left_support, right_support = (_get_support(itemsets, side) for side in (left, right))
            share = float(supports[row]) / left_support if left_support > 0 else 0.0
            if share < least - 1e-12:
                continue
            if patterns is None:
                patterns = itemsets.count_patterns(level, np.array([row]))[0]
            low, high = itemsets.inverse.bound_confidence(itemsets.items[list(lines)], is_left, patterns, share)
            names = [[itemsets.names[line] for line in side] for side in (left, right)]
            lift = share / right_support if right_support > 0 else float("nan")
            yield _EstimatedRule(names[0], names[1], float(supports[row]), min(share, 1.0), low, high, lift)


def _get_support(itemsets: ExploredItemsets, lines: tuple[int, ...]) -> float:
    level = itemsets.levels[len(lines) - 1]
    return float(level.estimates.support[level.index[lines]])
