# SPDX-License-Identifier: MIT
"""Measures: what a table gives away, and what a release costs; none of it shares code with a method.

A measure has its line in `_HOME` and `__all__`, and in the typing block for those who read types; one that checks
claims is named in `CHECKS` (`checks.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

# At once, because the module has a function's name and would be found in its place.
from sfumato.measure.moments import correlations, moments
from sfumato.measure.risk import Risk, Risks, Uniques, risk

if TYPE_CHECKING:
    from sfumato.measure.achieved import Anonymity, anonymity
    from sfumato.measure.checks import CHECKS, Evidence, measured
    from sfumato.measure.classes import crowds
    from sfumato.measure.classification import Accuracy, classification_accuracy
    from sfumato.measure.closeness import t_equal, t_hierarchical, t_ordered
    from sfumato.measure.closest_record import closest_records
    from sfumato.measure.distances import (
        NonUniformEntropy,
        c_avg,
        marginal_distance,
        non_uniform_entropy,
        pair_distance,
        precision,
    )
    from sfumato.measure.diversity import (
        alpha,
        basic_beta,
        delta_disclosure,
        distinct_l,
        enhanced_beta,
        entropy_l,
        recursive_c,
    )
    from sfumato.measure.hiding import SideEffects, exposed_item_rules, exposed_rules, side_effects
    from sfumato.measure.noise import noise_privacy
    from sfumato.measure.pattern_privacy import inferable_patterns
    from sfumato.measure.presence import delta_presence, k_map
    from sfumato.measure.privacy import class_size_counts, k_anonymity, suppressed_share, uniqueness
    from sfumato.measure.queries import QueryAccuracy, query_accuracy
    from sfumato.measure.rules_left import leftover_rules, visible_private_entries
    from sfumato.measure.swapping import identifiable_records, joint_total_variation
    from sfumato.measure.synthetic import against_holdout, exact_copies, pairwise_total_variation
    from sfumato.measure.tree_equality import same_tree, trees_that_differ
    from sfumato.measure.tree_risk import domain_risk, path_risk, shelter, subspace_risk
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
    "Anonymity": "achieved",
    "anonymity": "achieved",
    "CHECKS": "checks",
    "same_tree": "tree_equality",
    "trees_that_differ": "tree_equality",
    "shelter": "tree_risk",
    "domain_risk": "tree_risk",
    "subspace_risk": "tree_risk",
    "path_risk": "tree_risk",
    "joint_total_variation": "swapping",
    "identifiable_records": "swapping",
    "exact_copies": "synthetic",
    "against_holdout": "synthetic",
    "pairwise_total_variation": "synthetic",
    "closest_records": "closest_record",
    "noise_privacy": "noise",
    "SideEffects": "hiding",
    "side_effects": "hiding",
    "exposed_rules": "hiding",
    "exposed_item_rules": "hiding",
    "inferable_patterns": "pattern_privacy",
    "leftover_rules": "rules_left",
    "visible_private_entries": "rules_left",
    "Evidence": "checks",
    "measured": "checks",
    "crowds": "classes",
    "Accuracy": "classification",
    "classification_accuracy": "classification",
    "t_equal": "closeness",
    "t_hierarchical": "closeness",
    "t_ordered": "closeness",
    "NonUniformEntropy": "distances",
    "c_avg": "distances",
    "marginal_distance": "distances",
    "non_uniform_entropy": "distances",
    "pair_distance": "distances",
    "precision": "distances",
    "alpha": "diversity",
    "basic_beta": "diversity",
    "delta_disclosure": "diversity",
    "distinct_l": "diversity",
    "enhanced_beta": "diversity",
    "entropy_l": "diversity",
    "recursive_c": "diversity",
    "delta_presence": "presence",
    "k_map": "presence",
    "class_size_counts": "privacy",
    "k_anonymity": "privacy",
    "suppressed_share": "privacy",
    "uniqueness": "privacy",
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
