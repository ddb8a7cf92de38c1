# SPDX-License-Identifier: MIT
"""What a method does to baskets, its claims bind item by item: one item or basket more or less breaks one.

A method that hides rules promises what cannot be mined, not which items stay: its side effects are its losses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sfumato as sf
from sfumato.measure.checks import CHECKS
from sfumato.protect import METHODS
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from tests.contract.examples import METHOD_EXAMPLES, market
from tests.contract.releases import Made, make_all, released
from tests.contract.runs import policy_of

each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
TRIED = 4
"""In how many baskets an item is forged, one at a time."""


class Forgery(NamedTuple):
    """Published baskets with one difference."""

    what: str
    """The difference, in words."""
    lists: list[list[Any]]


def edits_baskets(kind: type[sf.Method]) -> bool:
    """Whether a method makes baskets of baskets, in which items are items."""
    return kind.shape == kind.gives == kind.utility == "baskets" and not kind.by_chance


def binds_items(made: Made) -> bool:
    """Whether a method of baskets says what becomes of each item."""
    subject = made.example.subject
    hides_rules = subject.find_thresholds(subject.describe()) is not None
    return edits_baskets(type(subject)) and (not hides_rules or may_only_remove(made))


def may_only_remove(made: Made) -> bool:
    """Whether nothing but the named items may change: then one of these may be back if no rule shows for it."""
    return any(claim.property == "unnamed_changes" for claim in made.release.claims)


def spread(rows: Sequence[int]) -> list[int]:
    """Some of these, from the first to the last."""
    return list(dict.fromkeys([*rows[:1], *rows[:: len(rows) // TRIED + 1], *rows[-1:]]))


def list_originals(made: Made) -> list[list[Any]]:
    """The original basket of each published one."""
    rows, lists = made.release.details.rows, made.data.to_lists()
    return [lists[row] for row in rows.tolist()] if rows is not None else lists


def forge_items(made: Made) -> Iterator[Forgery]:
    """One item put back, left out or added, in one basket at a time; not one of the secrets, which may stay or not."""
    secrets = made.release.details.get("sensitive") or () if may_only_remove(made) else ()
    published, items = made.release.data.to_lists(), made.release.data.items
    stranger = -7 if all(isinstance(item, int) for item in items) else "nobody's"
    forged_baskets: dict[str, dict[int, list[Any]]] = {}
    for row, (basket, original) in enumerate(zip(published, list_originals(made), strict=True)):
        for what, new_items in (
            ("an item that was left out is back", [item for item in original if item not in (*basket, *secrets)]),
            ("an item is added that other baskets have", [item for item in items if item not in original]),
            ("an item is added that nobody had", [stranger]),
        ):
            if new_items:
                forged_baskets.setdefault(what, {})[row] = [*basket, new_items[0]]
        if plain_items := [item for item in basket if item not in secrets]:
            missing_item = plain_items[0]
            forged_baskets.setdefault("an item is missing that the release had", {})[row] = [
                item for item in basket if item != missing_item
            ]
    for what, baskets in forged_baskets.items():
        for row in spread(list(baskets)):
            yield Forgery(f"{what}, in basket {row}", [*published[:row], baskets[row], *published[row + 1 :]])


def forge_baskets(made: Made) -> Iterator[Forgery]:
    """One basket less, one more, and two that changed places."""
    published = made.release.data.to_lists()
    yield Forgery("the last basket is missing", published[:-1])
    yield Forgery("an empty basket is added", [*published, []])
    for other in [row for row, basket in enumerate(published) if basket != published[0]][:1]:
        swapped = [published[other], *published[1:other], published[0], *published[other + 1 :]]
        yield Forgery(f"baskets 0 and {other} changed places", swapped)


def find_unnoticed(made: Made) -> list[str]:
    """The forgeries that no claim notices; one that cannot be measured is noticed."""
    unnoticed = []
    for forgery in (*forge_items(made), *forge_baskets(made)):
        forged = replace(made.release, data=sf.Baskets.of(forgery.lists))
        try:
            if all(finding.holds for finding in sf.check(forged, made.data)):
                unnoticed.append(forgery.what)
        except sf.SfumatoError:
            continue
    return unnoticed


@each
def test_claims_about_baskets_break_by_one_item(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if binds_items(made)]:
        unnoticed = find_unnoticed(made)
        assert not unnoticed, (
            f'{kind.__name__}, example "{made.example.name}": no claim notices that {"; that ".join(unnoticed)}. '
            "Claim which items stay, which are left out and how many baskets there are (claim_no_foreign_items, "
            "claim_all_baskets in protect/baskets/hiding_claims.py), and let the checks count every item of every "
            "basket, in both directions"
        )


@each
def test_checks_of_baskets_take_any_baskets(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if edits_baskets(kind)]:
        published = made.release.data.to_lists()
        odd_lists: dict[str, list[list[Any]]] = {
            "every basket is empty": [[] for _ in published],
            "items are numbers": [[number] for number, _ in enumerate(published)],
        }
        for what, lists in odd_lists.items():
            for claim in made.release.claims:
                forged = replace(made.release, data=sf.Baskets.of(lists), claims=(claim,))
                try:
                    sf.check(forged, made.data)
                except Exception as error:
                    pytest.fail(
                        f'{kind.__name__}: the check "{claim.measure}" in {CHECKS[claim.measure].measure.__module__} '
                        f"fails where {what} ({error}): count what there is; no items are 0 wrong ones"
                    )


@each
def test_baskets_without_items_are_protected_or_refused(kind: type[sf.Method]) -> None:
    for example in [made.example for made in make_all(kind) if edits_baskets(kind)]:
        try:
            release = released(example, sf.Baskets.of([[], [], []]))
        except sf.SfumatoError:
            continue
        except Exception as error:
            pytest.fail(
                f"{kind.__name__} crashes where every basket is empty ({type(error).__name__}: {error}): publish such "
                "baskets, or refuse them with an error of errors.py"
            )
        assert len(release.data) == 3, f"{kind.__name__} leaves out empty baskets: publish all, in their order"


@each
def test_methods_on_baskets_keep_what_earlier_ones_promise(kind: type[sf.Method], tmp_path: Path) -> None:
    for example in [made.example for made in make_all(kind) if edits_baskets(kind)]:
        for earlier in [other for other in METHOD_EXAMPLES if other.data is example.data]:
            methods = earlier.subject, example.subject
            if any(method.must_be_alone for method in methods) or example.subject.explain_misfit(earlier.subject):
                continue
            data = example.data()
            policy = policy_of(example, data, tmp_path).model_copy(update={"protect": methods})
            release = apply_methods(policy, data, Randomness.seeded(1)).release
            broken = [finding.property for finding in sf.check(release, data) if not finding.holds]
            assert not broken, (
                f"{kind.__name__} says that it may follow {earlier.name}, and then {', '.join(broken)} does not hold: "
                "let `explain_misfit` say why not, or keep `must_be_alone`"
            )


@each
def test_who_says_what_it_may_follow_is_not_always_alone(kind: type[sf.Method]) -> None:
    if kind.explain_misfit is not sf.Method.explain_misfit:
        assert not all(made.example.subject.must_be_alone for made in make_all(kind)), (
            f"{kind.__name__}: nobody asks its `explain_misfit`, because it must be alone in a policy: let "
            "`must_be_alone` be False where it may follow others, or leave `explain_misfit` out"
        )


def test_an_item_that_no_claim_binds_is_noticed() -> None:
    example = next(example for example in METHOD_EXAMPLES if example.name == "hide items")
    data = market()
    release = released(example, data)
    assert not find_unnoticed(Made(example, data, release))
    unbound_claims = tuple(claim for claim in release.claims if claim.property != "unnamed_changes")
    release = replace(release, claims=unbound_claims)
    unnoticed = find_unnoticed(Made(example, data, release))
    assert any(what.startswith("an item is missing") for what in unnoticed)
    assert not any("nobody had" in what or "last basket" in what for what in unnoticed)
    order = np.arange(len(data))[::-1]
    assert (
        list_originals(Made(example, data, replace(release, details=replace(release.details, rows=order))))[0]
        == (data.to_lists()[-1])
    )
