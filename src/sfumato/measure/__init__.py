# SPDX-License-Identifier: MIT
"""Measures: what a table reveals, and what a release costs. No measure shares code with a method.

A measure that claims name (`@checks_claim("…")`) is registered automatically; public functions have a line in the
typing block.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato.measure.anonymity.anonymity_table import Anonymity as Anonymity
    from sfumato.measure.anonymity.anonymity_table import anonymity as anonymity
    from sfumato.measure.anonymity.closeness import t_equal as t_equal
    from sfumato.measure.anonymity.closeness import t_hierarchical as t_hierarchical
    from sfumato.measure.anonymity.closeness import t_ordered as t_ordered
    from sfumato.measure.anonymity.crowd_sizes import crowds as crowds
    from sfumato.measure.anonymity.diversity import alpha as alpha
    from sfumato.measure.anonymity.diversity import basic_beta as basic_beta
    from sfumato.measure.anonymity.diversity import delta_disclosure as delta_disclosure
    from sfumato.measure.anonymity.diversity import distinct_l as distinct_l
    from sfumato.measure.anonymity.diversity import enhanced_beta as enhanced_beta
    from sfumato.measure.anonymity.diversity import entropy_l as entropy_l
    from sfumato.measure.anonymity.diversity import recursive_c as recursive_c
    from sfumato.measure.anonymity.fitting_people import fitting_people as fitting_people
    from sfumato.measure.anonymity.k_anonymity import class_size_counts as class_size_counts
    from sfumato.measure.anonymity.k_anonymity import k_anonymity as k_anonymity
    from sfumato.measure.anonymity.k_anonymity import left_out_share as left_out_share
    from sfumato.measure.anonymity.k_anonymity import suppressed_share as suppressed_share
    from sfumato.measure.anonymity.k_anonymity import uniqueness as uniqueness
    from sfumato.measure.anonymity.presence import delta_presence as delta_presence
    from sfumato.measure.anonymity.presence import k_map as k_map
    from sfumato.measure.anonymity.risk import Risk as Risk
    from sfumato.measure.anonymity.risk import Risks as Risks
    from sfumato.measure.anonymity.risk import Uniques as Uniques
    from sfumato.measure.anonymity.risk import risk as risk
    from sfumato.measure.baskets.side_effects import SideEffects as SideEffects
    from sfumato.measure.baskets.side_effects import exposed_item_rules as exposed_item_rules
    from sfumato.measure.baskets.side_effects import exposed_rules as exposed_rules
    from sfumato.measure.baskets.side_effects import side_effects as side_effects
    from sfumato.measure.checks import CHECKS as CHECKS
    from sfumato.measure.checks import Evidence as Evidence
    from sfumato.measure.checks import measure_claim as measure_claim
    from sfumato.measure.codes.tree_equality import same_tree as same_tree
    from sfumato.measure.codes.tree_equality import trees_that_differ as trees_that_differ
    from sfumato.measure.codes.tree_risk import domain_risk as domain_risk
    from sfumato.measure.codes.tree_risk import path_risk as path_risk
    from sfumato.measure.codes.tree_risk import shelter as shelter
    from sfumato.measure.codes.tree_risk import subspace_risk as subspace_risk
    from sfumato.measure.entries.firing_rules import FiringRules as FiringRules
    from sfumato.measure.entries.firing_rules import firing_rules as firing_rules
    from sfumato.measure.entries.learner_success import learner_success as learner_success
    from sfumato.measure.entries.leftover_rules import leftover_rules as leftover_rules
    from sfumato.measure.entries.leftover_rules import visible_private_entries as visible_private_entries
    from sfumato.measure.noise.noise_checks import noise_privacy as noise_privacy
    from sfumato.measure.patterns.pattern_privacy import derivable_patterns as derivable_patterns
    from sfumato.measure.patterns.pattern_privacy import inferable_patterns as inferable_patterns
    from sfumato.measure.sequences.pattern_changes import PatternChanges as PatternChanges
    from sfumato.measure.sequences.pattern_changes import pattern_changes as pattern_changes
    from sfumato.measure.sequences.sequence_checks import sequence_anonymity as sequence_anonymity
    from sfumato.measure.sequences.support_optimum import SupportOptimum as SupportOptimum
    from sfumato.measure.sequences.support_optimum import support_optimum as support_optimum
    from sfumato.measure.sequences.visits import edit_distances as edit_distances
    from sfumato.measure.sequences.visits import flow_counts as flow_counts
    from sfumato.measure.sequences.visits import visit_counts as visit_counts
    from sfumato.measure.swapping.joint_divergence import JointDivergence as JointDivergence
    from sfumato.measure.swapping.joint_divergence import joint_divergence as joint_divergence
    from sfumato.measure.swapping.swap_checks import identifiable_records as identifiable_records
    from sfumato.measure.swapping.swap_checks import joint_total_variation as joint_total_variation
    from sfumato.measure.synthesis.closest_record import closest_records as closest_records
    from sfumato.measure.synthesis.synthesis_checks import compare_with_holdout as compare_with_holdout
    from sfumato.measure.synthesis.synthesis_checks import exact_copies as exact_copies
    from sfumato.measure.synthesis.synthesis_checks import pairwise_total_variation as pairwise_total_variation
    from sfumato.measure.truth import untrue_cells as untrue_cells
    from sfumato.measure.utility.class_entropy import ClassEntropy as ClassEntropy
    from sfumato.measure.utility.class_entropy import EntropyChange as EntropyChange
    from sfumato.measure.utility.class_entropy import class_entropy as class_entropy
    from sfumato.measure.utility.classification import Accuracy as Accuracy
    from sfumato.measure.utility.classification import classification_accuracy as classification_accuracy
    from sfumato.measure.utility.distances import NonUniformEntropy as NonUniformEntropy
    from sfumato.measure.utility.distances import c_avg as c_avg
    from sfumato.measure.utility.distances import marginal_distance as marginal_distance
    from sfumato.measure.utility.distances import non_uniform_entropy as non_uniform_entropy
    from sfumato.measure.utility.distances import pair_distance as pair_distance
    from sfumato.measure.utility.distances import precision as precision
    from sfumato.measure.utility.label_losses import average_class_size as average_class_size
    from sfumato.measure.utility.label_losses import blanked_share as blanked_share
    from sfumato.measure.utility.label_losses import column_loss as column_loss
    from sfumato.measure.utility.label_losses import discernibility as discernibility
    from sfumato.measure.utility.label_losses import distribution as distribution
    from sfumato.measure.utility.label_losses import loss as loss
    from sfumato.measure.utility.label_losses import read_domain as read_domain
    from sfumato.measure.utility.label_losses import suppressed_rows as suppressed_rows
    from sfumato.measure.utility.label_losses import total_variation as total_variation
    from sfumato.measure.utility.moments import correlations as correlations
    from sfumato.measure.utility.moments import moments as moments
    from sfumato.measure.utility.queries import QueryAccuracy as QueryAccuracy
    from sfumato.measure.utility.queries import query_accuracy as query_accuracy


def _adapt(measure: object) -> object:
    from sfumato.measure.given_tables import take_any_table

    return take_any_table(measure)


make_lazy(__name__)
