# SPDX-License-Identifier: MIT
"""Claims about randomized baskets."""

from __future__ import annotations

from collections import Counter
from math import exp
from typing import Any

from sfumato.bound_words import round_up, spell_at_most
from sfumato.protect.claims import claim_count, claim_with_originals
from sfumato.public.basket_distortion import BasketDistortion
from sfumato.release import Claim

ERRORS = 5.0
"""By how many standard errors the published baskets may differ from what the probabilities predict."""


def claim_distortion(distortion: BasketDistortion, baskets: int, *, has_given_items: bool) -> tuple[Claim, ...]:
    """Every claim; `has_given_items` is whether the custodian named the items."""
    is_cut_and_paste = distortion.kind == "cut_and_paste"
    return (
        *_claim_privacy(distortion, has_given_items),
        Claim(
            property="strange_items",
            threshold=0,
            bound="exactly",
            measure="strange_items",
            arguments={"items": distortion.categories},
            meaning="Every published item is one of those that a basket can hold.",
        ),
        claim_with_originals(
            "items_off_channel",
            ERRORS,
            "at_most",
            {"items": distortion.categories, **_list_probabilities(distortion)},
            "Items were kept and added as often as the probabilities say, and independently, within "
            f"{ERRORS:g} standard errors (an honest release fails less than once in a million times).",
        ),
        *(_claim_sizes(distortion) if is_cut_and_paste else ()),
        claim_count("baskets", "basket_count", baskets, "basket"),
    )


def _claim_privacy(distortion: BasketDistortion, has_given_items: bool) -> tuple[Claim, ...]:
    """ε and amplification; if the items are not given, they hold only if the list of items is public."""
    condition = "" if has_given_items else ", given that the list of items, which was taken from the data, is public"
    arguments = _list_distinct_probabilities(distortion)
    is_mask = distortion.kind == "mask"
    subject = "That an item is published, or is not," if is_mask else "Each published basket"
    truths = (
        "if the basket held it as if it did not, and the reverse"
        if is_mask
        else "under one true basket as under another of the same size"
    )
    epsilon = distortion.compute_epsilon()
    ratio = round_claimed(exp(epsilon))
    claims = [
        Claim(
            property="epsilon",
            threshold=round_claimed(epsilon),
            bound="at_most",
            measure="basket_epsilon",
            arguments=arguments,
            meaning=f"{subject} is at most e^{spell_at_most(epsilon)} times as likely {truths}{condition}.",
        ),
        Claim(
            property="amplification",
            threshold=ratio,
            bound="at_most",
            measure="basket_amplification",
            arguments=arguments,
            meaning=f"{subject} is at most {spell_at_most(ratio)} times as likely {truths}{condition}. "
            + ("Other items of the same basket can disclose more." if is_mask else "This bounds what can be inferred."),
        ),
    ]
    if is_mask:
        total = distortion.compute_epsilon_in_all()
        claims.append(
            Claim(
                property="epsilon_in_all",
                threshold=round_claimed(total),
                bound="at_most",
                measure="basket_epsilon_in_all",
                arguments=arguments,
                meaning=f"Each published basket as a whole is at most e^{spell_at_most(total)} times as likely under "
                f"one true basket as under another{condition}.",
            )
        )
    return tuple(claims)


def _claim_sizes(distortion: BasketDistortion) -> tuple[Claim, ...]:
    sizes = tuple(f"{size}:{count}" for size, count in distortion.sizes or ())
    return (
        claim_with_originals(
            "wrong_sizes", 0, "exactly", {"sizes": sizes}, "Every published size is that of its original basket."
        ),
    )


def round_claimed(value: float) -> float:
    """A threshold of nine digits, rounded up, so that the order of a sum does not matter."""
    return round_up(value, 9)


def _list_probabilities(distortion: BasketDistortion) -> dict[str, Any]:
    """The probabilities of every item in order, or one for all, as texts."""
    if distortion.kind == "cut_and_paste":
        return {"operator": distortion.kind, "cutoff": distortion.cutoff, "level": distortion.level}
    return {
        "operator": distortion.kind,
        **{
            name: tuple(map(repr, share)) if isinstance(share, tuple) else (repr(share),)
            for name, share in (("keep", distortion.keep), ("add", distortion.add))
        },
    }


def _list_distinct_probabilities(distortion: BasketDistortion) -> dict[str, Any]:
    """Each pair of probabilities once, and how many items have it."""
    if distortion.kind == "cut_and_paste":
        return _list_probabilities(distortion)
    pairs = Counter(zip(distortion.keeps.tolist(), distortion.adds.tolist(), strict=True))
    return {
        "operator": distortion.kind,
        "keep": tuple(repr(keep) for keep, _ in pairs),
        "add": tuple(repr(add) for _, add in pairs),
        "items": tuple(map(str, pairs.values())),
    }
