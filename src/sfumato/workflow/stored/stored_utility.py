# SPDX-License-Identifier: MIT
"""The utility of a release that stays in its file, counted or summed there."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.change_kinds import LossMeasure
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.entries.stored_entries import measure_blanked_share
from sfumato.measure.noise.stored_noise import StoredPairs, find_pairs, measure_interval_loss, measure_noise_loss
from sfumato.measure.stored_changes import find_domain, measure_stored_loss
from sfumato.measure.stored_claims import StoredEvidence
from sfumato.measure.utility.stored_moments import measure_stored_moments
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.workflow.summary.class_sizes import find_promised_k, measure_stored_class_sizes
from sfumato.workflow.summary.release_utility import count_left_out_rows
from sfumato.workflow.summary.suppression import get_starred_rows


def measure_stored_utility(release: Release, evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """What an analyst loses: detail and the sizes of classes, or what chance did to numbers."""
    report_progress("measuring what is left")
    kind = release.method.utility
    if kind == "blanks":
        figures = {"loss": measure_blanked_share(evidence.published_table, original)}
    elif kind == "chance":
        figures = _measure_chance(release, evidence)
    elif release.method.truthful:
        figures = {**_measure_labels(evidence, original), **_measure_sizes(release, evidence)}
        figures |= count_left_out_rows(figures["loss"], len(evidence.published_table), len(original))
    else:
        figures = {"loss": _measure_changed_share(release, evidence), **_measure_sizes(release, evidence)}
    return {name: round(value, 12) for name, value in figures.items()}


def _measure_labels(evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """How much detail labels leave open."""
    published_table = evidence.published_table
    names = published_table.quasi_identifying
    losses = [measure_stored_loss(published_table, name, find_domain(original, name)) for name in names]
    return {"loss": sum(losses) / len(names)}


def _measure_sizes(release: Release, evidence: StoredEvidence) -> dict[str, float]:
    promised_k = find_promised_k(claim.model_dump() for claim in release.claims)
    return measure_stored_class_sizes(evidence, get_starred_rows(release), promised_k)


def _measure_changed_share(release: Release, evidence: StoredEvidence) -> float:
    """The share of known cells of recoded columns that differ, as the comparison with the originals found them."""
    assert evidence.comparison is not None
    comparison = evidence.comparison
    shares = LossMeasure.CHANGED_KNOWN_CELLS
    names = [change.column for change in release.changes if change.kind.meaning.loss is shares]
    missing = comparison.original.rows.count_missing()
    known_count = sum(len(comparison.original) - missing[name] for name in names)
    return sum(comparison.differences[name].changed_count for name in names) / known_count if known_count else 0.0


_LOSSES: dict[LossMeasure, Callable[[StoredPairs], float]] = {
    LossMeasure.NOISE_SHARE: measure_noise_loss,
    LossMeasure.MIDPOINT_SHARE: measure_interval_loss,
}


def _measure_chance(release: Release, evidence: StoredEvidence) -> dict[str, float]:
    """How far numbers moved, and the share of what is published that is chance."""
    assert evidence.comparison is not None
    losses = []
    for change in release.changes:
        loss = change.kind.meaning.loss
        if loss in _LOSSES:
            losses.append(_LOSSES[loss](find_pairs(evidence, change.column)))
        elif loss is LossMeasure.PUBLISHED_LAW:
            law = release.public[change.column]
            losses.append(1 - abs(float(law["p"]) - float(law["q"])))
    return {**measure_stored_moments(evidence.comparison), "loss": sum(losses) / len(losses)}
