# SPDX-License-Identifier: MIT
"""Measures: what a table gives away, and what a release costs; none of it shares code with a method.

A measure has its line in `_HOME` and `__all__`, and in the typing block for those who read types; one that checks
claims is named in `CHECKS` (`checks.py`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from sfumato.lazy import fetching
from sfumato.measure.anonymity.risk import Risk, Risks, Uniques, risk

# At once, because the module has a function's name and would be found in its place.
from sfumato.measure.moments import correlations, moments

if TYPE_CHECKING:
    from sfumato.measure.anonymity.achieved import Anonymity, anonymity
    from sfumato.measure.anonymity.classes import crowds
    from sfumato.measure.anonymity.closeness import t_equal, t_hierarchical, t_ordered
    from sfumato.measure.anonymity.diversity import (
        alpha,
        basic_beta,
        delta_disclosure,
        distinct_l,
        enhanced_beta,
        entropy_l,
        recursive_c,
    )
    from sfumato.measure.anonymity.presence import delta_presence, k_map
    from sfumato.measure.anonymity.privacy import class_size_counts, k_anonymity, suppressed_share, uniqueness
    from sfumato.measure.baskets.hiding import SideEffects, exposed_item_rules, exposed_rules, side_effects
    from sfumato.measure.checks import CHECKS, Evidence, measured
    from sfumato.measure.classification import Accuracy, classification_accuracy
    from sfumato.measure.codes.tree_equality import same_tree, trees_that_differ
    from sfumato.measure.codes.tree_risk import domain_risk, path_risk, shelter, subspace_risk
    from sfumato.measure.distances import (
        NonUniformEntropy,
        c_avg,
        marginal_distance,
        non_uniform_entropy,
        pair_distance,
        precision,
    )
    from sfumato.measure.entries.rules_left import leftover_rules, visible_private_entries
    from sfumato.measure.noise.noise import noise_privacy
    from sfumato.measure.patterns.pattern_privacy import inferable_patterns
    from sfumato.measure.queries import QueryAccuracy, query_accuracy
    from sfumato.measure.swapping.swapping import identifiable_records, joint_total_variation
    from sfumato.measure.synthesis.closest_record import closest_records
    from sfumato.measure.synthesis.synthetic import against_holdout, exact_copies, pairwise_total_variation
    from sfumato.measure.truth import untrue_cells
    from sfumato.measure.utility import (
        average_class_size,
        blanked_share,
        column_loss,
        discernibility,
        distribution,
        domain_of,
        loss,
        suppressed_rows,
        total_variation,
    )

# Name → module, loaded on first use.
_HOME = {
    "Anonymity": "anonymity.achieved",
    "anonymity": "anonymity.achieved",
    "CHECKS": "checks",
    "same_tree": "codes.tree_equality",
    "trees_that_differ": "codes.tree_equality",
    "shelter": "codes.tree_risk",
    "domain_risk": "codes.tree_risk",
    "subspace_risk": "codes.tree_risk",
    "path_risk": "codes.tree_risk",
    "joint_total_variation": "swapping.swapping",
    "identifiable_records": "swapping.swapping",
    "exact_copies": "synthesis.synthetic",
    "against_holdout": "synthesis.synthetic",
    "pairwise_total_variation": "synthesis.synthetic",
    "closest_records": "synthesis.closest_record",
    "noise_privacy": "noise.noise",
    "SideEffects": "baskets.hiding",
    "side_effects": "baskets.hiding",
    "exposed_rules": "baskets.hiding",
    "exposed_item_rules": "baskets.hiding",
    "inferable_patterns": "patterns.pattern_privacy",
    "leftover_rules": "entries.rules_left",
    "visible_private_entries": "entries.rules_left",
    "Evidence": "checks",
    "measured": "checks",
    "crowds": "anonymity.classes",
    "Accuracy": "classification",
    "classification_accuracy": "classification",
    "t_equal": "anonymity.closeness",
    "t_hierarchical": "anonymity.closeness",
    "t_ordered": "anonymity.closeness",
    "NonUniformEntropy": "distances",
    "c_avg": "distances",
    "marginal_distance": "distances",
    "non_uniform_entropy": "distances",
    "pair_distance": "distances",
    "precision": "distances",
    "alpha": "anonymity.diversity",
    "basic_beta": "anonymity.diversity",
    "delta_disclosure": "anonymity.diversity",
    "distinct_l": "anonymity.diversity",
    "enhanced_beta": "anonymity.diversity",
    "entropy_l": "anonymity.diversity",
    "recursive_c": "anonymity.diversity",
    "delta_presence": "anonymity.presence",
    "k_map": "anonymity.presence",
    "class_size_counts": "anonymity.privacy",
    "k_anonymity": "anonymity.privacy",
    "suppressed_share": "anonymity.privacy",
    "uniqueness": "anonymity.privacy",
    "QueryAccuracy": "queries",
    "query_accuracy": "queries",
    "untrue_cells": "truth",
    "average_class_size": "utility",
    "blanked_share": "utility",
    "column_loss": "utility",
    "discernibility": "utility",
    "distribution": "utility",
    "domain_of": "utility",
    "loss": "utility",
    "suppressed_rows": "utility",
    "total_variation": "utility",
}

__all__ = [
    "CHECKS",
    "Accuracy",
    "Anonymity",
    "Evidence",
    "NonUniformEntropy",
    "QueryAccuracy",
    "Risk",
    "Risks",
    "SideEffects",
    "Uniques",
    "against_holdout",
    "alpha",
    "anonymity",
    "average_class_size",
    "basic_beta",
    "blanked_share",
    "c_avg",
    "class_size_counts",
    "classification_accuracy",
    "closest_records",
    "column_loss",
    "correlations",
    "crowds",
    "delta_disclosure",
    "delta_presence",
    "discernibility",
    "distinct_l",
    "distribution",
    "domain_of",
    "domain_risk",
    "enhanced_beta",
    "entropy_l",
    "exact_copies",
    "exposed_item_rules",
    "exposed_rules",
    "identifiable_records",
    "inferable_patterns",
    "joint_total_variation",
    "k_anonymity",
    "k_map",
    "leftover_rules",
    "loss",
    "marginal_distance",
    "measured",
    "moments",
    "noise_privacy",
    "non_uniform_entropy",
    "pair_distance",
    "pairwise_total_variation",
    "path_risk",
    "precision",
    "query_accuracy",
    "recursive_c",
    "risk",
    "same_tree",
    "shelter",
    "side_effects",
    "subspace_risk",
    "suppressed_rows",
    "suppressed_share",
    "t_equal",
    "t_hierarchical",
    "t_ordered",
    "total_variation",
    "trees_that_differ",
    "uniqueness",
    "untrue_cells",
    "visible_private_entries",
]

__getattr__ = fetching(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Room(ModuleType):
    """This package, in which `anonymity` stays the function that a caller means when its package is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name; the import system would put the package of that name there."""
        if not (name == "anonymity" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room
vars(sys.modules[__name__]).pop("anonymity", None)  # the imports above have put the package there
