# SPDX-License-Identifier: MIT
"""The utility of a release that stays in its file, counted or summed there."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.change import ChangeKind
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.anonymity.stored_claims import StoredEvidence, count_stored_sizes
from sfumato.measure.entries.stored_entries import measure_blanked_share
from sfumato.measure.noise.stored_noise import StoredPairs, find_pairs, measure_interval_loss, measure_noise_loss
from sfumato.measure.stored_changes import find_domain, measure_stored_loss
from sfumato.measure.stored_moments import measure_stored_moments
from sfumato.progress import report_progress
from sfumato.release import Release
from sfumato.workflow.run_summary import get_starred_rows


def measure_stored_utility(release: Release, evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """What an analyst loses: detail and the sizes of classes, or what chance did to numbers."""
    report_progress("measuring what is left")
    kind = release.method.utility
    if kind == "blanks":
        figures = {"loss": measure_blanked_share(evidence.published, original)}
    elif kind == "chance":
        figures = _measure_chance(release, evidence)
    else:
        figures = _measure_classes(release, evidence, original)
    return {name: round(value, 12) for name, value in figures.items()}


def _measure_classes(release: Release, evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """How much detail labels keep, and how large classes are."""
    published = evidence.published
    names, total = published.quasi_identifying, len(published)
    sizes = count_stored_sizes(evidence, {"starred_rows": get_starred_rows(release)})
    promised = max((int(c.threshold) for c in release.claims if c.property == "k_anonymity"), default=None)
    average = float(sizes.sum()) / len(sizes) if len(sizes) else 0.0
    losses = [measure_stored_loss(published, name, find_domain(original, name)) for name in names]
    return {
        "loss": sum(losses) / len(names),
        "discernibility": float((sizes * sizes).sum() + (total - int(sizes.sum())) * total),
        "average_class_size": average,
        **({} if promised is None else {"c_avg": average / promised}),
    }


_LOSSES: dict[ChangeKind, Callable[[StoredPairs], float]] = {
    ChangeKind.NOISE: measure_noise_loss,
    ChangeKind.INTERVALS: measure_interval_loss,
}


def _measure_chance(release: Release, evidence: StoredEvidence) -> dict[str, float]:
    """How far numbers moved, and the share of what is published that is chance."""
    assert evidence.comparison is not None
    losses = []
    for change in release.changes:
        if change.kind in _LOSSES:
            losses.append(_LOSSES[change.kind](find_pairs(evidence, change.column)))
        elif change.kind is ChangeKind.ANSWERED:
            law = release.public[change.column]
            losses.append(1 - abs(float(law["p"]) - float(law["q"])))
    return {**measure_stored_moments(evidence.comparison), "loss": sum(losses) / len(losses)}
