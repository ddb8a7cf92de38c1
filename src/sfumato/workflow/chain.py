# SPDX-License-Identifier: MIT
"""Apply the methods of a policy in order, and combine their releases into one.

Anyone who checks the last release has its data and the first originals, and nothing of what was in between: so promises
are carried over, rows are followed, and what one method changed is left out of what the others promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets
from sfumato.change import Change, ChangeKind
from sfumato.details import ChainDetails
from sfumato.errors import quote_names
from sfumato.key import Key
from sfumato.losses import combine_losses
from sfumato.measure.checks import CHECKS
from sfumato.protect.baskets.basket_columns import compute_change_losses
from sfumato.protect.claims import guard_blanks
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.table import Table
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.method_order import refuse_misfits

LEFT_OUT_ROWS = " Rows that another method of the policy leaves out do not count."
"""What is said of a share of suppressed rows if an earlier method leaves rows out."""


@dataclass(frozen=True)
class ProtectedData:
    """The result of the methods of a policy: the release, and the keys that stay."""

    release: Release
    keys: Mapping[str, Key]
    """Method → its key; a release holds none."""


def apply_methods(policy: Policy, original: Any, randomness: Randomness) -> ProtectedData:
    """Apply the methods in order; the claims of all of them are claims of the last release."""
    methods = policy.methods
    refuse_misfits(methods, original)
    for method in methods:
        method.refuse_undeclared(original)
    # Rows and conditions are about the originals: a later method must not look for them in what is left.
    settled_methods = [
        method.settle(original, randomness) if number else method for number, method in enumerate(methods)
    ]
    release: Release | None = None
    keys: dict[str, Key] = {}
    for method, settled_method in zip(methods, settled_methods, strict=True):
        step = method if release is None else settled_method.follow_rows(_require_rows(release))
        data = original if release is None else release.data
        if isinstance(step, KeyedMethod):
            keys[method.model_dump()["method"]] = key = step.new_key(data, randomness)
            next_release = step.protect(data, key, randomness=randomness)
        else:
            next_release = step.protect(data, randomness=randomness)
        stated_release = _state_unknown(replace(next_release, method=method))
        release = stated_release if release is None else _chain_releases(release, stated_release)
    assert release is not None  # a policy has at least one method
    return ProtectedData(_guard_blanked_crowds(_sum_basket_losses(release, original)), keys)


def _sum_basket_losses(release: Release, original: Any) -> Release:
    """What several methods changed in baskets, compared with the originals: each says only what it changed itself."""
    if not release.earlier_methods or not isinstance(release.data, Baskets):
        return release
    losses = compute_change_losses(original, release.data, release.details["changes"])
    return replace(release, losses={**release.losses, **losses})


def _guard_blanked_crowds(release: Release) -> Release:
    """A later method may have left cells empty: then what an earlier one says about crowds is no longer enough."""
    if not isinstance(release.data, Table):
        return release
    recoded_columns = {change.column for change in release.changes if change.kind is not ChangeKind.KEPT}
    return replace(release, claims=guard_blanks(release.claims, release.data, recoded_columns=recoded_columns))


def _require_rows(release: Release) -> Ints:
    rows = release.details.rows
    return np.arange(len(release.data), dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)


def _state_unknown(release: Release) -> Release:
    """A column about which a method states nothing counts as changed."""
    if not isinstance(release.data, Table):
        return release
    stated_columns = {change.column for change in release.changes}
    tag = release.method.model_dump()["method"]
    unknown = [Change(name, ChangeKind.OTHER, tag) for name in release.data.frame.columns if name not in stated_columns]
    return replace(release, changes=(*release.changes, *unknown)) if unknown else release


def _chain_releases(first: Release, second: Release) -> Release:
    """Combine two releases in a row: they are checked with the last data and the first originals only."""
    steps = first.details.steps if isinstance(first.details, ChainDetails) else (first.details,)
    claims = _merge_unchanged_claims(_name_step(first.claims, 0), _list_changed_columns(second), second)
    return Release(
        second.data,
        second.method,
        (
            *claims,
            *(
                c
                for c in _merge_unchanged_claims(
                    _name_step(_exempt_left_out_rows(first, second.claims), len(steps)),
                    _list_changed_columns(first),
                    second,
                )
                if not _is_already_claimed(c, claims)
            ),
        ),
        combine_losses(first.losses, second.losses),
        _chain_details(first, second),
        (*first.changes, *second.changes),
        (*first.earlier_methods, first.method),
        first.suppression.combine(second.suppression),
    )


def _exempt_left_out_rows(first: Release, claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """What a later method says of suppressed rows is about those that an earlier one did not leave out."""
    if not any(method.explain_left_out(method.describe()) for method in (*first.earlier_methods, first.method)):
        return claims
    return tuple(
        claim.model_copy(update={"meaning": f"{claim.meaning}{LEFT_OUT_ROWS}"})
        if claim.property == "suppressed_share"
        else claim
        for claim in claims
    )


def _name_step(claims: tuple[Claim, ...], step: int) -> tuple[Claim, ...]:
    """Claims about secrets, with the number of the method whose secrets they are about."""
    return tuple(
        claim.model_copy(update={"arguments": {**claim.arguments, "step": step}})
        if CHECKS[claim.measure].private is not None and "step" not in claim.arguments
        else claim
        for claim in claims
    )


def _chain_details(first: Release, second: Release) -> ChainDetails:
    """What both methods decided; the first one's rows are followed to where they are now."""
    order = second.details.rows
    earlier = first.details if order is None else first.details.follow(order)
    rows = None if order is None else earlier.rows
    steps = earlier.steps if isinstance(earlier, ChainDetails) else (earlier,)
    last = second.details if rows is None else replace(second.details, rows=rows)
    return ChainDetails(rows=rows, public={**first.public, **second.public}, steps=(*steps, last))


def _list_changed_columns(release: Release) -> tuple[str, ...]:
    """The columns that methods state to have changed, whether or not a draw came out as it was: that would tell."""
    return tuple(
        dict.fromkeys(change.column for change in release.changes if not change.trivial and not change.is_dropped)
    )


def _merge_unchanged_claims(
    claims: tuple[Claim, ...], changed_columns: tuple[str, ...], last: Release
) -> tuple[Claim, ...]:
    """Adapt claims that nothing else was changed to what other methods changed."""
    if not changed_columns:
        return claims
    if set(last.data.frame.columns) <= set(changed_columns):  # nothing is left to claim
        return tuple(claim for claim in claims if not CHECKS[claim.measure].of_the_rest)
    return tuple(
        claim.model_copy(
            update={
                "arguments": {**claim.arguments, "except_columns": (*_get_except_columns(claim), *changed_columns)},
                "meaning": _add_other_changes(claim.meaning, changed_columns),
            }
        )
        if CHECKS[claim.measure].of_the_rest
        else claim
        for claim in claims
    )


def _add_other_changes(meaning: str, columns: Sequence[str]) -> str:
    """A claim's sentence, and one that names all columns that other methods changed, each once."""
    _, begins, names_text = meaning.rpartition(word_other_changes(""))
    new_text = quote_names([name for name in columns if quote_names([name]) not in names_text or not begins])
    if not begins:
        return f"{meaning}{word_other_changes(new_text)}."
    return f"{meaning.removesuffix('.')}, {new_text}." if new_text else meaning


def word_other_changes(names_text: str) -> str:
    """What is said of a claim that other methods may have changed some columns, without the full stop."""
    return f" Another method of the policy may have changed {names_text}"


def _is_already_claimed(claim: Claim, earlier_claims: tuple[Claim, ...]) -> bool:
    """Whether a claim adds nothing: the first method already removed the identifying columns."""
    return claim.measure == "named_columns" and any(other.measure == claim.measure for other in earlier_claims)


def _get_except_columns(claim: Claim) -> tuple[str, ...]:
    names = claim.arguments.get("except_columns", ())
    return names if isinstance(names, tuple) else ()
