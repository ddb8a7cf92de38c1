# SPDX-License-Identifier: MIT
"""What an analyst or an adversary does with data: find rules, patterns and estimates in it, with plain functions.

The public names are those in the typing block.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato.mine.answers.proportions import estimate_joint as estimate_joint
    from sfumato.mine.answers.proportions import estimate_proportions as estimate_proportions
    from sfumato.mine.answers.proportions import warner_estimate as warner_estimate
    from sfumato.mine.answers.truthfulness import compare_truthfulness as compare_truthfulness
    from sfumato.mine.answers.truthfulness import simulate_truthfulness as simulate_truthfulness
    from sfumato.mine.baskets.association_rules import association_rules as association_rules
    from sfumato.mine.baskets.estimated_itemsets import estimate_itemsets as estimate_itemsets
    from sfumato.mine.baskets.estimated_rules import estimate_rules as estimate_rules
    from sfumato.mine.baskets.itemsets import frequent_itemsets as frequent_itemsets
    from sfumato.mine.baskets.mined_files import read_itemsets as read_itemsets
    from sfumato.mine.baskets.mined_files import read_rules as read_rules
    from sfumato.mine.baskets.mined_files import save_itemsets as save_itemsets
    from sfumato.mine.baskets.mined_files import save_rules as save_rules
    from sfumato.mine.baskets.mined_files import write_itemsets as write_itemsets
    from sfumato.mine.baskets.published_rules import count_rule_people as count_rule_people
    from sfumato.mine.baskets.published_rules import list_rule_patterns as list_rule_patterns
    from sfumato.mine.codes.bloom_filters import filter_requests as filter_requests
    from sfumato.mine.codes.bloom_filters import mine_filters as mine_filters
    from sfumato.mine.codes.c45 import C45Tree as C45Tree
    from sfumato.mine.codes.c45 import train_c45 as train_c45
    from sfumato.mine.codes.decoded_itemsets import decode_itemsets as decode_itemsets
    from sfumato.mine.codes.decoded_itemsets import decode_rules as decode_rules
    from sfumato.mine.codes.decoded_tree import decode_tree as decode_tree
    from sfumato.mine.codes.decoded_tree import tree_rules as tree_rules
    from sfumato.mine.codes.tree_files import read_tree as read_tree
    from sfumato.mine.codes.tree_files import write_tree as write_tree
    from sfumato.mine.entries.adversarial_rules import AdversarialRule as AdversarialRule
    from sfumato.mine.entries.adversarial_rules import adversarial_rules as adversarial_rules
    from sfumato.mine.noise.reconstruction import Reconstruction as Reconstruction
    from sfumato.mine.noise.reconstruction import binned_em as binned_em
    from sfumato.mine.noise.reconstruction import build_channel as build_channel
    from sfumato.mine.noise.reconstruction import reconstruct_distribution as reconstruct_distribution
    from sfumato.mine.noise.tree_on_noise import TreeOnNoise as TreeOnNoise
    from sfumato.mine.noise.tree_on_noise import train_tree_on_noise as train_tree_on_noise
    from sfumato.mine.patterns.derivability import forced_patterns as forced_patterns
    from sfumato.mine.patterns.derivability import support_bounds as support_bounds
    from sfumato.mine.patterns.inference_channels import inference_channels as inference_channels
    from sfumato.mine.patterns.rule_classifier import classify as classify
    from sfumato.mine.sequences.containment import contains as contains
    from sfumato.mine.sequences.containment import support as support
    from sfumato.mine.sequences.subsequence_files import read_subsequences as read_subsequences
    from sfumato.mine.sequences.subsequence_files import save_subsequences as save_subsequences
    from sfumato.mine.sequences.subsequences import frequent_subsequences as frequent_subsequences
    from sfumato.public.noise_law import Noise as Noise
    from sfumato.public.noise_law import privacy_level as privacy_level

make_lazy(__name__)
