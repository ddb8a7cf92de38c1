# SPDX-License-Identifier: MIT
"""What to do next: sentences at the end of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.details import AnonymityDetails, EntryDetails
from sfumato.release import Release


def list_advice(body: Mapping[str, Any], release: Release, *, in_order: bool = True) -> tuple[str, ...]:
    """What to do next."""
    sentences = list(_advise_on_levels(body, release))
    if body["data"]["shape"] == "table":
        sentences += _advise_on_rows(body, release)
    if body["data"]["shape"] == "table" and in_order and not release.are_rows_drawn:
        sentences.append(
            "Rows keep the order of the input. If that order reveals something (sorted by name, or by day of "
            'admission), set order = "shuffled" under [output].'
        )
    if release.details.get_family(EntryDetails) is not None:
        ran = any(attack["attack"] == "learned_inference" for attack in body["attacks"])
        sentences.append(
            "The promise is about rules; learners may guess more. "
            + ("Check the attack learned_inference" if ran else "Run the attack learned_inference")
            + " before the release leaves, and set learner_risk if its risk is too high."
        )
    sentences.append("Before you release the same data again, compare the two releases: together they may reveal more.")
    return tuple(sentences)


def _advise_on_levels(body: Mapping[str, Any], release: Release) -> list[str]:
    levels, heights = body["levels"], body["heights"]
    sentences = []
    names = [name for name in levels if levels[name] == heights[name] and heights[name] > 0]
    if names:
        sentences.append(
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} at the top of the hierarchy in every row: to "
            "keep some detail, add levels between the finest and the top, or allow more suppression."
        )
    anonymity = release.details.get_family(AnonymityDetails)
    if anonymity is not None and anonymity.without_hierarchy and anonymity.heights:
        sentences.append(
            f"No hierarchy was given for {', '.join(anonymity.without_hierarchy)}: such a column is published "
            'unchanged or as "*" only. With a hierarchy it can keep part of its detail.'
        )
    return sentences


def _advise_on_rows(body: Mapping[str, Any], release: Release) -> list[str]:
    sentences, method = [], release.method
    if body["suppression"]["rows"] == 0 and method.find_suppression_limit(method.describe()) == 0:
        sentences.append("A small suppression limit (0.01 to 0.05) often keeps the other rows much more precise.")
    if any(claim.property == "k_anonymity" for claim in release.claims):
        sentences.append(
            "k-anonymity limits linking to a row, not what the rows of a class have in common: check the sensitive "
            "columns before the release leaves."
        )
    return sentences
