# SPDX-License-Identifier: MIT
"""Measures: what a table gives away, and what a release costs; none of it shares code with a method."""

from sfumato.measure.achieved import Anonymity, anonymity
from sfumato.measure.checks import CHECKS, Evidence, measured
from sfumato.measure.classes import crowds
from sfumato.measure.classification import Accuracy, classification_accuracy
from sfumato.measure.closeness import t_equal, t_hierarchical, t_ordered
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
from sfumato.measure.presence import delta_presence, k_map
from sfumato.measure.privacy import class_size_counts, k_anonymity, suppressed_share, uniqueness
from sfumato.measure.queries import QueryAccuracy, query_accuracy
from sfumato.measure.risk import Risk, Risks, Uniques, risk
from sfumato.measure.truth import untrue_cells
from sfumato.measure.utility import (
    average_class_size,
    column_loss,
    discernibility,
    distribution,
    domain_of,
    loss,
    suppressed_rows,
    total_variation,
)

__all__ = [
    "CHECKS",
    "Accuracy",
    "Anonymity",
    "Evidence",
    "NonUniformEntropy",
    "QueryAccuracy",
    "Risk",
    "Risks",
    "Uniques",
    "alpha",
    "anonymity",
    "average_class_size",
    "basic_beta",
    "c_avg",
    "class_size_counts",
    "classification_accuracy",
    "column_loss",
    "crowds",
    "delta_disclosure",
    "delta_presence",
    "discernibility",
    "distinct_l",
    "distribution",
    "domain_of",
    "enhanced_beta",
    "entropy_l",
    "k_anonymity",
    "k_map",
    "loss",
    "marginal_distance",
    "measured",
    "non_uniform_entropy",
    "pair_distance",
    "precision",
    "query_accuracy",
    "recursive_c",
    "risk",
    "suppressed_rows",
    "suppressed_share",
    "t_equal",
    "t_hierarchical",
    "t_ordered",
    "total_variation",
    "uniqueness",
    "untrue_cells",
]
