# SPDX-License-Identifier: MIT
"""What a run found out, in numbers and words: what is left of the data, whether suppressed rows are safe, the gate."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from sfumato import measure
from sfumato.attack import Attack, Linking, Outcome
from sfumato.policy import Policy
from sfumato.progress import tell
from sfumato.protect.explain import explain, lattice_nodes
from sfumato.release import Release
from sfumato.report.account import Account
from sfumato.table import Table


def starred(release: Release) -> Any:
    """Whether rows of stars are suppressed rows or a class, as the claims say."""
    return next((c.arguments["starred_rows"] for c in release.claims if "starred_rows" in c.arguments), "class")


def utility(policy: Policy, published: Table, original: Table, release: Release) -> dict[str, float]:
    """What the release is worth, measured on the written cells."""
    tell("measuring what is left")
    stars = starred(release)
    least = max((int(c.threshold) for c in release.claims if c.property == "k_anonymity"), default=1)
    moved = measure.marginal_distance(original, published)
    found = {
        "loss": measure.loss(published, original),
        "discernibility": measure.discernibility(published, stars),
        "average_class_size": measure.average_class_size(published, stars),
        "c_avg": measure.c_avg(published, least, stars),
        "precision": measure.precision(original, published),
        "non_uniform_entropy": measure.non_uniform_entropy(original, published).share,
        "total_variation": sum(moved.values()) / len(moved),
    }
    if policy.measure.queries:
        found["query_error"] = measure.query_accuracy(original, published, policy.measure.queries).count.median
    if policy.measure.classify:
        scores = measure.classification_accuracy(original, published, policy.measure.classify)
        for model, score in scores.items():
            found |= {f"{model}_accuracy": score.released, f"{model}_accuracy_original": score.original}
            found["zero_r_accuracy"] = score.zero_r
    return {name: round(value, 12) for name, value in found.items() if isfinite(value)}


def suppression(release: Release, suppressed: int) -> dict[str, Any]:
    """How many rows were suppressed, and whether they hide one another."""
    least = max((int(c.threshold) for c in release.claims if c.property == "k_anonymity"), default=1)
    if starred(release) != "suppressed":
        why = "No suppressed row is in the release." if suppressed else "No row was suppressed."
        return {"rows": suppressed, "safe": True, "why": why}
    if suppressed >= least:
        why = (
            f"The {suppressed} suppressed rows look alike in every quasi-identifying column: whoever is not found in "
            f"a published class is one of {suppressed}."
        )
        return {"rows": suppressed, "safe": True, "why": why}
    rows = "1 row is" if suppressed == 1 else f"{suppressed} rows are"
    why = (
        f"Only {rows} suppressed, fewer than k = {least}: whoever is not found in a published class must be "
        'among them. Leave them out (suppressed_rows = "drop") if that is too few.'
    )
    return {"rows": suppressed, "safe": False, "why": why}


def gate(policy: Policy, body: Mapping[str, Any], attacks: tuple[tuple[Attack, Outcome], ...]) -> list[dict[str, Any]]:
    """Each limit of the gate beside what was found: of a risk, the upper end of its interval."""
    linking = [outcome for attack, outcome in attacks if isinstance(attack, Linking)]
    found = {
        "max_linking_risk": max((outcome.high for outcome in linking), default=0.0),
        "max_record_risk": max((float(outcome.facts["highest_risk"]) for outcome in linking), default=0.0),
        "max_loss": float(body["utility"]["loss"]),
    }
    limits = policy.gate.model_dump(exclude_none=True)
    return [
        {"gate": name, "limit": limit, "found": found[name], "open": found[name] <= limit}
        for name, limit in limits.items()
    ]


def account(
    policy: Policy,
    original: Table,
    release: Release,
    published: Table,
    body: dict[str, Any],
    seconds: Mapping[str, float],
) -> Account:
    """Gather what a report tells."""
    tell("comparing before and after")
    names = published.quasi_identifying
    rows = release.details["rows"]
    before = Linking().run(Release(original, None, (), {}), original)
    stars = starred(release)
    return Account(
        title=policy.title,
        certificate=body,
        original=original,
        published=published,
        before=before,
        sizes_before=measure.class_size_counts(original),
        sizes_after=measure.class_size_counts(published, None, stars),
        distributions={
            name: measure.distribution(
                original.frame[name],
                published.frame[name],
                original.hierarchies.get(name) if name in names else None,
            )
            for name in published.frame.columns
        },
        column_loss={
            n: measure.column_loss(published.frame[n], measure.domain_of(published, n, original)) for n in names
        },
        details={**release.details, "rows_in_release": len(rows)},
        reasons=tuple(why.sentence() for why in explain(release, original)),
        lattice=lattice_nodes(release, original),
        advice=advice(body, release),
        seconds=seconds,
        source=original.source,
    )


def advice(body: Mapping[str, Any], release: Release) -> tuple[str, ...]:
    """What to do next."""
    said = []
    levels, heights = body["levels"], body["heights"]
    lost = [name for name in levels if levels[name] == heights[name] and heights[name] > 0]
    if lost:
        said.append(
            f"{', '.join(lost)} left nothing but «*»: add levels to the hierarchy between the finest and the top, or "
            "allow more suppression, to keep some of it."
        )
    if release.details.get("without_hierarchy"):
        said.append(
            f"No hierarchy was given for {', '.join(release.details['without_hierarchy'])}: such a column is kept as "
            "it is or starred whole. A hierarchy would keep part of it."
        )
    if not body["suppression"]["safe"]:
        said.append(body["suppression"]["why"])
    if body["suppression"]["rows"] == 0 and getattr(release.method, "suppression_limit", None) == 0:
        said.append("A small suppression limit (0.01 to 0.05) often keeps columns much more precise for the rest.")
    said.append(
        "k-anonymity bounds linking to a row, not what the rows of a class have in common: look at the sensitive "
        "columns before the release leaves."
    )
    said.append(
        "Rows keep the order they were read in. If that order says something (sorted by name, or by day of admission), "
        'set order = "shuffled" under [output].'
    )
    said.append("Before you release the same people again, compare the two releases: together they may say more.")
    return tuple(said)
