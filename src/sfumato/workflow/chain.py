# SPDX-License-Identifier: MIT
"""Apply the methods of a policy one after the other, and tell of them as of one.

Whoever checks the last release has its data and the first originals, and nothing of what was in between: so promises
are carried over, rows are followed, and what one method changed is left out of what the others promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sfumato.errors import PolicyError
from sfumato.key import Key
from sfumato.measure.checks import CHECKS
from sfumato.protect.method import KeyedMethod
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.table import Table
from sfumato.workflow.file_shapes import shape_of
from sfumato.workflow.policy import Policy


@dataclass(frozen=True)
class Protected:
    """What the methods of a policy made: the release, and the keys that stay home."""

    release: Release
    keys: Mapping[str, Key]
    """Method → its key; a release holds none."""


def protect(policy: Policy, original: Any, randomness: Randomness) -> Protected:
    """Apply the methods in order; the claims of all of them are claims of the last release."""
    release, keys = Release(original, None, (), {}), {}
    for method in policy.methods():
        _refuse_late_swaps(method, release)
        if isinstance(method, KeyedMethod):
            keys[method.model_dump()["method"]] = key = method.new_key(release.data, randomness)
            after = method.protect(release.data, key, randomness=randomness)
        else:
            after = method.protect(release.data, randomness=randomness)
        release = _after(release, after)
    return Protected(release, keys)


def _refuse_late_swaps(method: Any, release: Release) -> None:
    """Swapping promises something of records found by their originals, so nothing may have changed these before."""
    if not isinstance(method, SwapConfidential) or release.method is None:
        return
    pattern = method.pattern or release.data.quasi_identifying
    if changed := [name for name in release.details["changed_columns"] if name in pattern]:
        named = ", ".join(f"«{name}»" for name in changed)
        raise PolicyError(f"swap_confidential finds records by {named}, which another method changed; name it first")


def _after(first: Release, then: Release) -> Release:
    """Two releases in a row as one: whoever checks it has the last data only, and the first originals."""
    if first.method is None:
        return replace(then, details={**then.details, "changed_columns": _changed(first, then)})
    details = followed(first.details, then.details["rows"]) if "rows" in then.details else dict(first.details)
    claims = _beside(first.claims, _changed(first, then), then)
    if shape_of(first.data) is not shape_of(then.data):
        claims = ()  # what was in between is not published, and nobody could check it
    rows = {"rows": details["rows"]} if "rows" in details and "rows" in then.details else {}
    return Release(
        then.data,
        then.method,
        (*claims, *(c for c in _beside(then.claims, first.details["changed_columns"], then) if not _said(c, claims))),
        _together(first.losses, then.losses),
        {
            **details,
            **then.details,
            **rows,
            "public": _told_once(first, then),
            "changed_columns": (*first.details["changed_columns"], *_changed(first, then)),
        },
    )


def _together(first: Mapping[str, Number], then: Mapping[str, Number]) -> dict[str, Number]:
    """Losses of two methods: who is asked twice gives away both, and what is lost is at least the larger loss."""
    found = {**first, **then}
    if "loss" in first and "loss" in then:
        found["loss"] = max(first["loss"], then["loss"])
    for name in ("epsilon", "suppressed_rows", "dropped_rows"):
        if name in first and name in then:
            found[name] = first[name] + then[name]
    return found


def _changed(before: Release, after: Release) -> tuple[str, ...]:
    """The columns that a method changed.

    Of chance and of swaps, those it was to change: whether a draw came out as it was is what chance hides, and a
    sentence that depends on it tells. Of other methods, those in which a cell differs, which the release shows.
    """
    if not isinstance(before.data, Table) or not isinstance(after.data, Table):
        return ()
    one, two = before.data.frame, after.data.frame
    if after.method.by_chance:
        return tuple(name for name in two.columns if name in after.public)
    if isinstance(after.method, SwapConfidential):
        swapped = after.method.column
        return tuple(name for name in two.columns if name in ((swapped,) if isinstance(swapped, str) else swapped))
    if "rows" in after.details:
        one = one[after.details["rows"]]
    return tuple(name for name in two.columns if not two[name].equals(one[name]))


def _beside(claims: tuple[Claim, ...], changed: tuple[str, ...], last: Release) -> tuple[Claim, ...]:
    """Promises that nothing else was changed, where another method of the policy has changed something else."""
    if not changed:
        return claims
    if set(last.data.frame.columns) <= set(changed):  # there is nothing left to promise
        return tuple(claim for claim in claims if not CHECKS[claim.measure].of_the_rest)
    named = ", ".join(f"«{name}»" for name in changed)
    return tuple(
        claim.model_copy(
            update={
                "arguments": {**claim.arguments, "besides": (*_besides(claim), *changed)},
                "meaning": f"{claim.meaning} Another method of the policy changed {named}.",
            }
        )
        if CHECKS[claim.measure].of_the_rest
        else claim
        for claim in claims
    )


def _said(claim: Claim, already: tuple[Claim, ...]) -> bool:
    """Whether a promise adds nothing: the first method has taken out all names, and said so."""
    return claim.measure == "named_columns" and any(one.measure == claim.measure for one in already)


def _besides(claim: Claim) -> tuple[str, ...]:
    told = claim.arguments.get("besides", ())
    return told if isinstance(told, tuple) else ()


def _told_once(first: Release, then: Release) -> dict[str, Any]:
    """How chance changed each column; of two chances on one column nobody could tell what they did together."""
    if twice := first.public.keys() & then.public.keys():
        named = ", ".join(f"«{name}»" for name in sorted(twice))
        raise PolicyError(f"two methods change {named} by chance, and nobody could estimate anything; name it in one")
    return {**first.public, **then.public}


def followed(details: Mapping[str, Any], order: Any) -> dict[str, Any]:
    """What was decided about rows, once rows were left out or moved: `order` says where each row that is left was."""
    place = {int(row): at for at, row in enumerate(order)}
    moved = {**details, "rows": details["rows"][order]}
    for name in ("hidden", "reasons"):
        if isinstance(told := details.get(name), pl.DataFrame):
            there = pl.Series("row", [place.get(row) for row in told["row"]], dtype=pl.Int64)
            moved[name] = told.with_columns(there).drop_nulls("row")
    for name in ("private", "derived"):
        if name in details:
            moved[name] = [(place[row], column) for row, column in details[name] if row in place]
    return moved
