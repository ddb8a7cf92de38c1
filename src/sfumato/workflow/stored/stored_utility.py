# SPDX-License-Identifier: MIT
"""The utility of a release that stays in its file, counted or summed there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sfumato.change import Change
from sfumato.change_kinds import LossMeasure
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import PolicyError
from sfumato.measure.entries.stored_entries import measure_blanked_share
from sfumato.measure.noise.stored_noise import find_pairs, measure_interval_loss, measure_noise_loss
from sfumato.measure.stored_changes import find_domain, measure_stored_loss
from sfumato.measure.stored_claims import StoredEvidence
from sfumato.measure.utility.stored_moments import measure_stored_moments
from sfumato.public.answer_channel import get_channel
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.workflow.summary.class_sizes import find_promised_k, measure_stored_class_sizes
from sfumato.workflow.summary.release_utility import count_left_out_rows
from sfumato.workflow.summary.suppression_summary import classify_starred_rows
from sfumato.workflow.summary.value_columns import states_values_only


def refuse_unmeasured_losses(changes: Iterable[Change]) -> None:
    """Raise a `PolicyError` if a kind of change loses something that is not measured in files: it would read 0."""
    for change in changes:
        loss = change.kind.meaning.loss
        if loss is not None and loss not in _LOSSES:
            raise PolicyError(
                f'"{change.column}": the engines duckdb and spark do not measure what {change.method} loses there '
                f"({loss}); use --engine memory"
            )


def measure_stored_utility(release: Release, evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """What an analyst loses: detail and the sizes of classes, or what chance did to numbers."""
    report_progress("measuring what is left")
    kind = release.method.utility
    if kind == "blanks":
        figures = {"loss": measure_blanked_share(evidence.published_table, original)}
    elif kind == "chance":
        assert evidence.comparison is not None
        figures = {**measure_stored_moments(evidence.comparison), **_measure_largest_losses(release, evidence)}
    elif release.method.truthful:
        figures = {**_measure_labels(release, evidence, original), **_measure_sizes(release, evidence)}
        figures |= count_left_out_rows(figures["loss"], len(evidence.published_table), len(original))
    else:
        figures = {**_measure_largest_losses(release, evidence), **_measure_sizes(release, evidence)}
    return {name: round(value, 12) for name, value in figures.items()}


def _measure_labels(release: Release, evidence: StoredEvidence, original: StoredTable) -> dict[str, float]:
    """How much detail labels leave open; values leave nothing open, whatever they look like."""
    published_table = evidence.published_table
    names = published_table.quasi_identifying
    labelled_columns = [name for name in names if not states_values_only(release, name)]
    losses = [measure_stored_loss(published_table, name, find_domain(original, name)) for name in labelled_columns]
    return {"loss": sum(losses) / len(names)}


def _measure_sizes(release: Release, evidence: StoredEvidence) -> dict[str, float]:
    promised_k = find_promised_k(claim.model_dump() for claim in release.claims)
    return measure_stored_class_sizes(evidence, classify_starred_rows(release), promised_k)


def _measure_largest_losses(release: Release, evidence: StoredEvidence) -> dict[str, float]:
    """The largest loss of a kind of change, as in memory; absent if no kind has a measure, and then no limit opens."""
    refuse_unmeasured_losses(release.changes)
    kinds: dict[LossMeasure, list[str]] = {}
    for change in release.changes:
        if (loss := change.kind.meaning.loss) is not None:
            kinds.setdefault(loss, []).append(change.column)
    losses = [_LOSSES[loss](release, evidence, names) for loss, names in kinds.items()]
    return {"loss": max(losses)} if losses else {}


def _measure_changed_share(release: Release, evidence: StoredEvidence, names: Sequence[str]) -> float:
    """The share of all cells that differ, as the comparison with the originals found them."""
    assert evidence.comparison is not None
    differences = [evidence.comparison.differences[name] for name in names]
    cells = sum(difference.cells for difference in differences)
    return sum(difference.changed_count for difference in differences) / cells if cells else 0.0


def _measure_changed_known_share(release: Release, evidence: StoredEvidence, names: Sequence[str]) -> float:
    """The share of known cells that differ, as the comparison with the originals found them."""
    assert evidence.comparison is not None
    comparison = evidence.comparison
    missing = comparison.original.rows.count_missing()
    known_count = sum(len(comparison.original) - missing[name] for name in names)
    return sum(comparison.differences[name].changed_count for name in names) / known_count if known_count else 0.0


def _measure_noise(release: Release, evidence: StoredEvidence, names: Sequence[str]) -> float:
    return sum(measure_noise_loss(find_pairs(evidence, name)) for name in names) / len(names)


def _measure_intervals(release: Release, evidence: StoredEvidence, names: Sequence[str]) -> float:
    return sum(measure_interval_loss(find_pairs(evidence, name)) for name in names) / len(names)


def _measure_answers(release: Release, evidence: StoredEvidence, names: Sequence[str]) -> float:
    """How often chance answers, by the published laws, mean over columns."""
    return sum(get_channel(release, name).chance_share for name in names) / len(names)


_LOSSES: Mapping[LossMeasure, Callable[[Release, StoredEvidence, Sequence[str]], float]] = {
    LossMeasure.CHANGED_CELLS: _measure_changed_share,
    LossMeasure.CHANGED_KNOWN_CELLS: _measure_changed_known_share,
    LossMeasure.NOISE_SHARE: _measure_noise,
    LossMeasure.MIDPOINT_SHARE: _measure_intervals,
    LossMeasure.PUBLISHED_LAW: _measure_answers,
}
"""What is measured of changes in files; every other measure is refused."""
