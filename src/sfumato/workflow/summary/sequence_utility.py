# SPDX-License-Identifier: MIT
"""What a release of sequences costs an analyst: elements that changed, and frequent patterns before and after."""

from __future__ import annotations

from sfumato.details import SequenceDetails
from sfumato.errors import PolicyError
from sfumato.measure.sequences.changed_elements import measure_changed_elements
from sfumato.measure.sequences.hidden_sequences import drop_mark
from sfumato.measure.sequences.pattern_changes import PatternSelection, compare_supports
from sfumato.public.marked_items import find_mark
from sfumato.public.thresholds import Support
from sfumato.release import Release
from sfumato.sequences import Sequences
from sfumato.workflow.policy import Policy

MOST_PATTERNS = 20_000
"""With more frequent patterns than this, they are not compared: that would take longer than the method."""


def choose_compared_support(policy: Policy, release: Release) -> Support:
    """The support from which patterns are compared: what was asked for, or that of a method which promises no ghost.

    At another support than the promised one there may be ghosts, and a report would seem to contradict the claim.
    """
    details = release.details.get_family(SequenceDetails)
    if details is None or details.min_support is None or "min_support" in policy.measure.model_fields_set:
        return policy.measure.min_support
    return details.min_support


def measure_sequence_utility(
    published_sequences: Sequences, original: Sequences, release: Release, min_support: Support
) -> dict[str, float]:
    """The loss, and the pattern measures of Pensa et al. (2008) and Abul et al. (2007) where they are defined."""
    mark = find_mark(release, original)
    unmarked_sequences = drop_mark(published_sequences, mark)
    figures = {"loss": measure_changed_elements(original, unmarked_sequences, release.details.rows)}
    hidden_patterns = tuple(pattern for pattern, _ in release.details.get("sensitive") or ())
    question = PatternSelection(min_support, hidden_patterns=hidden_patterns, at_most=MOST_PATTERNS, mark=mark)
    try:
        changes = compare_supports(original, published_sequences, question)
    except PolicyError:
        return figures
    pattern_figures = {
        "frequent_before": changes.before,
        "frequent_after": changes.after,
        "lost_patterns": changes.lost_patterns,
        "ghost_patterns": changes.ghosts,
        "support_distance": changes.support_distance,
        "support_similarity": changes.sup_sim,
        "f_measure": changes.f_measure,
        "pattern_distortion": changes.pattern_distortion,
        "support_distortion": changes.support_distortion,
    }
    return figures | {name: round(float(value), 12) for name, value in pattern_figures.items() if value is not None}
