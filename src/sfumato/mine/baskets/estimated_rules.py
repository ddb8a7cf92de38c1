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
from sfumato.mine.baskets.distortion_inverse import Of
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
    of: Of = "baskets",
) -> pl.DataFrame:
    """The rules that held before baskets were randomized, estimated from a release of `RandomizeBaskets`.

    The frame has `antecedent`, `consequent`, `support` (the estimated share of baskets), `confidence`, its interval
    `low` to `high`, and `lift`. `max_length` bounds the items of both sides together; the other parameters are those
    of `estimate_itemsets`.
    """
    least = float(parse_exact_confidence(min_confidence, "min_confidence"))
    found = explore_itemsets(release, min_support, max_length, confidence, of)
    rules = [rule for level in range(1, len(found.levels)) for rule in _split_level(found, level, least)]
    rules.sort(key=lambda rule: (-rule.confidence, -rule.support))
    inner = pl.Int64 if found.names and isinstance(found.names[0], int) else pl.String
    lists = dict.fromkeys(("antecedent", "consequent"), pl.List(inner))
    numbers = dict.fromkeys(("support", "confidence", "low", "high", "lift"), pl.Float64)
    return pl.DataFrame(rules, schema={**lists, **numbers}, orient="row")


def _split_level(found: ExploredItemsets, level: int, least: float) -> Iterator[_EstimatedRule]:
    """The rules among the frequent sets of one length."""
    supports = found.levels[level].estimates.support
    for row in np.flatnonzero(supports >= found.threshold - 1e-12).tolist():
        lines = tuple(found.levels[level].sets[row].tolist())
        patterns = None
        for mask in range(1, (1 << len(lines)) - 1):
            is_left = [bool(mask >> at & 1) for at in range(len(lines))]
            left = tuple(line for line, inside in zip(lines, is_left, strict=True) if inside)
            right = tuple(line for line, inside in zip(lines, is_left, strict=True) if not inside)
            before, after = (_look_up(found, side) for side in (left, right))
            share = float(supports[row]) / before if before > 0 else 0.0
            if share < least - 1e-12:
                continue
            if patterns is None:
                patterns = found.count_patterns(level, np.array([row]))[0]
            low, high = found.inverse.bound_confidence(found.items[list(lines)], is_left, patterns, share)
            names = [[found.names[line] for line in side] for side in (left, right)]
            lift = share / after if after > 0 else float("nan")
            yield _EstimatedRule(names[0], names[1], float(supports[row]), min(share, 1.0), low, high, lift)


def _look_up(found: ExploredItemsets, lines: tuple[int, ...]) -> float:
    level = found.levels[len(lines) - 1]
    return float(level.estimates.support[level.index[lines]])
