# SPDX-License-Identifier: MIT
"""The side effects of several methods that hide, each at its own thresholds, and together.

For a custodian. A rule that one method hid is no loss of another one, whatever their thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from sfumato.baskets import Baskets
from sfumato.measure.baskets.side_effects import SideEffects, side_effects
from sfumato.public.thresholds import find_hiding_thresholds, require_hiding_thresholds
from sfumato.public.unknown_items import find_unknown_mark
from sfumato.release import Release

_RULE_COUNTS = ("rules", "lost_rules", "ghost_rules", "rules_published")
_LARGEST = ("itemsets", "lost_itemsets", "ghost_itemsets", *_RULE_COUNTS)


def list_hiding_steps(release: Release) -> list[Release]:
    """The steps of a release that hide rules or items."""
    return [step for step in release.list_steps() if find_hiding_thresholds(step) is not None]


def measure_step_effects(release: Release, original: Baskets, published_baskets: Baskets) -> list[SideEffects]:
    """The side effects of the whole release, at the thresholds of each method that hides, with its own secrets."""
    mark, steps = find_unknown_mark(release), list_hiding_steps(release)
    effects = []
    for step in steps:
        other_secrets = [
            secret for other in steps if other is not step for secret in other.details.get("sensitive", ())
        ]
        secrets = step.details.get("sensitive", ())
        thresholds = require_hiding_thresholds(step)
        effects.append(side_effects(original, published_baskets, *thresholds, secrets, mark, other_secrets))
    return effects


def list_effects(effects: SideEffects, steps: Sequence[Release]) -> dict[str, float]:
    """The side effects by name; without a confidence there are no rules, so none are counted."""
    has_rules = any(require_hiding_thresholds(step)[1] is not None for step in steps)
    return {name: float(value) for name, value in asdict(effects).items() if has_rules or name not in _RULE_COUNTS}


def combine_effects(effects: Sequence[SideEffects]) -> SideEffects:
    """The secrets of all methods; of what was lost or appeared, the larger count. Changes are those of the release."""
    return replace(
        effects[0],
        sensitive=sum(effect.sensitive for effect in effects),
        exposed=sum(effect.exposed for effect in effects),
        **{name: max(getattr(effect, name) for effect in effects) for name in _LARGEST},
    )
