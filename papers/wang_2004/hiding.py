# SPDX-License-Identifier: MIT
"""What the paper does not look at: the rules that its algorithms leave, and what hiding does to all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from papers.plots import Axis, Curve, draw_bars, draw_curves
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of
from papers.wang_2004.data import (
    CONFIDENCE,
    DATABASES,
    SUPPORT,
    baskets,
    count_rule,
    draw_baskets,
    find_rules_about,
    rows_of,
)
from sfumato.baskets import Baskets
from sfumato.measure.baskets.side_effects import SideEffects
from sfumato.measure.baskets.side_effects import side_effects as measure_side_effects
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.report.words import wording

STRATEGIES = ("islf", "dsrf", "complete", "exact")


@dataclass(frozen=True)
class Case:
    """A database on which an algorithm as published leaves rules."""

    rows: tuple[str, ...]
    items: str
    strategy: str
    stays: str
    reason: str


CASES = (
    Case(("ABC", "ABC", "A", "A", "B", "B"), "C", "islf", "AB ⇒ C", "larger left sides are not looked at"),
    Case(("ABC", "ABC", "A", "A", "B", "B"), "C", "dsrf", "AB ⇒ C", "larger left sides are not looked at"),
    Case(("B", "ABC", "ABC", "A"), "BA", "islf", "C ⇒ B", "a later item exposes an earlier one"),
    Case(("ABE", "ABE", "AC", "ABCDE"), "AB", "dsrf", "B ⇒ A", "a later item exposes an earlier one"),
)
"""Found by an independent count."""


def left_over(setting: Setting) -> Findings:
    """Every rule about a hidden item that is left, by exhaustion."""
    del setting  # a few baskets are quick enough
    rows = [_case_row(case) for case in CASES]
    paper = {strategy: _find_leftovers(DATABASES["D"], "CB", strategy) for strategy in ("islf", "dsrf")}
    better = sum(row["left_by_complete"] + row["left_by_exact"] for row in rows)
    islf, dsrf = (
        [row["rules_left"] for row in rows if row["algorithm"] == name and row["rules_left"]]
        for name in ("ISLF", "DSRF")
    )
    return Findings(
        statements=(
            Statement(
                "On D no rule with B or C on the right is left.",
                ", ".join(f"{strategy}: {len(rules)}" for strategy, rules in paper.items()) + ".",
                not any(paper.values()),
            ),
            Statement(
                "ISLF: no rule with a hidden item on its right side will be discovered.",
                f"It leaves some on {len(islf)} of 2 databases made for it: {'; '.join(islf)}.",
                not islf,
                _LEFT_ITEM_NOTE,
            ),
            Statement(
                "DSRF: no rule with a hidden item on its right side will be discovered.",
                f"It leaves some on {len(dsrf)} of 2 databases made for it: {'; '.join(dsrf)}.",
                not dsrf,
                _LEFT_ITEM_NOTE,
            ),
            Statement(
                "The same aim, for our complete and exact strategies.",
                f"{better} rules left.",
                not better,
                source="independent count",
            ),
        ),
        grids=(Grid("cases", "Rules about hidden items that are left", frame_of(rows)),),
        remarks=(
            (
                "So sfumato has ISLF and DSRF for study only. By default it covers every left side, and goes on until "
                "all items are calm; it only takes hidden items out, so it ends."
            ),
        ),
    )


_LEFT_ITEM_NOTE = (
    "The algorithms look at rules with one item on the left, and AB ⇒ C may show where neither A ⇒ C nor B ⇒ C do; "
    "they take the items one after the other and never look back."
)


def _find_leftovers(rows: Sequence[str], items: str, strategy: str) -> list[str]:
    return find_rules_about(_hide(rows, items, strategy), items)


def _hide(rows: Sequence[str], items: str, strategy: str) -> tuple[str, ...]:
    method = HideItems(items=tuple(items), min_support=SUPPORT, min_confidence=CONFIDENCE, strategy=strategy)
    return rows_of(method.protect(baskets(rows)).data)


def _case_row(case: Case) -> dict[str, Any]:
    release_rows = _hide(case.rows, case.items, case.strategy)
    leftover_rules = find_rules_about(release_rows, case.items)
    return {
        "database": ", ".join(case.rows),
        "hidden": ", ".join(case.items),
        "algorithm": case.strategy.upper(),
        "published": ", ".join(release_rows),
        "rules_left": ", ".join(f"{rule} {count_rule(release_rows, rule)}" for rule in leftover_rules),
        "because": case.reason,
        "left_by_complete": len(_find_leftovers(case.rows, case.items, "complete")),
        "left_by_exact": len(_find_leftovers(case.rows, case.items, "exact")),
    }


ROWS, ITEMS, SEED = 1000, 15, 2004
SHOP_SUPPORT = 0.05
HIDDEN_ITEMS = ("i03", "i12")


def side_effects(setting: Setting) -> Findings:
    """Lost, ghost and exposed rules of all strategies, and changes by the support of the hidden item."""
    large = "1,000 baskets, hiding two items"
    scenes = {
        "D, hiding C and B": (baskets(DATABASES["D"]), ("C", "B"), SUPPORT),
        large: (draw_baskets(ROWS, ITEMS, SEED), HIDDEN_ITEMS, SHOP_SUPPORT),
    }
    effects_by_scene = {
        name: {strategy: _effects(data, items, support, strategy) for strategy in STRATEGIES}
        for name, (data, items, support) in scenes.items()
    }
    growth = [
        _by_support(first) for first in ((0.0, 0.4, 0.7) if setting.quick else (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7))
    ]
    rows = [
        _effects_row(name, strategy, effects)
        for name, effects_by_strategy in effects_by_scene.items()
        for strategy, effects in effects_by_strategy.items()
    ]
    return Findings(
        statements=(_supports_matter(growth),),
        grids=(
            Grid("effects", "Side effects of hiding", frame_of(rows), _EFFECTS),
            Grid("supports", "Changes by the support of the hidden item", frame_of(growth)),
        ),
        plots=(_columns(large, effects_by_scene[large]), _growth(growth)),
        remarks=("The paper's algorithms do not weigh side effects.",),
    )


_EFFECTS = (
    "Exposed: rules about hidden items that show still. Lost: other rules that no longer show. Ghosts: rules that show "
    "now and did not before. RuleCount by code that shares nothing with the strategies."
)


def _effects(data: Baskets, items: tuple[str, ...], support: float, strategy: str) -> SideEffects:
    method = HideItems(items=items, min_support=support, min_confidence=CONFIDENCE, strategy=strategy)
    return measure_side_effects(data, method.protect(data).data, support, CONFIDENCE, items)


def _effects_row(scene: str, strategy: str, effects: SideEffects) -> dict[str, Any]:
    return {
        "baskets": scene,
        "strategy": strategy,
        "rules_to_hide": effects.sensitive,
        "exposed": effects.exposed,
        "other_rules": effects.rules,
        "lost": effects.lost_rules,
        "ghosts": effects.ghost_rules,
        "added": effects.added,
        "removed": effects.removed,
    }


def _by_support(first: float) -> dict[str, Any]:
    data = draw_baskets(ROWS, ITEMS, SEED, first)
    support = int((data.codes == data.items.index("i00")).sum())
    row: dict[str, Any] = {"own_share": first, "support": support / len(data)}
    for strategy in ("islf", "dsrf", "complete"):
        effects = _effects(data, ("i00",), SHOP_SUPPORT, strategy)
        row |= {f"{strategy}_changes": effects.added + effects.removed, f"{strategy}_exposed": effects.exposed}
        row |= {f"{strategy}_ghosts": effects.ghost_rules}
    return row


def _supports_matter(growth: list[dict[str, Any]]) -> Statement:
    ratios = [row["islf_changes"] / row["dsrf_changes"] for row in growth]
    low, high = growth[0], growth[-1]
    return Statement(
        "DSRF seems to be more effective when the support count of the hidden item is large.",
        f"ISLF makes {ratios[0]:.1f} times as many changes as DSRF at a support of "
        f"{wording.format_percent(low['support'])}, "
        f"{ratios[-1]:.1f} times at {wording.format_percent(high['support'])}.",
        None,
        "The paper has no data for it; these baskets are generated.",
    )


def _columns(scene: str, effects_by_strategy: dict[str, SideEffects]) -> Plot:
    counts = {
        "exposed": {strategy: effects.exposed for strategy, effects in effects_by_strategy.items()},
        "lost": {strategy: effects.lost_rules for strategy, effects in effects_by_strategy.items()},
        "ghosts": {strategy: effects.ghost_rules for strategy, effects in effects_by_strategy.items()},
    }
    return draw_bars(f"{scene}: rules exposed, lost and made up", counts, soft=("islf", "dsrf"))


def _growth(growth: list[dict[str, Any]]) -> Plot:
    lines = [
        Curve(strategy, [(row["support"], row[f"{strategy}_changes"]) for row in growth])
        for strategy in ("islf", "dsrf", "complete")
    ]
    return draw_curves(
        "Changes by support of the hidden item",
        Axis("support of the hidden item", percent=True, zero=False),
        Axis("items added or removed"),
        lines,
    )
