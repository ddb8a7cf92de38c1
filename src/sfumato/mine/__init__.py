# SPDX-License-Identifier: MIT
"""What an analyst or an adversary does with data: find rules and patterns in it, plain functions each.

A function has its line in `_HOME` and `__all__`, and in the typing block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

# At once, because the module has the function's name and would be found in its place; it loads no kernel.
from sfumato.mine.entries.adversarial_rules import AdversarialRule, adversarial_rules

if TYPE_CHECKING:
    from sfumato.mine.answers.proportions import estimate_joint, estimate_proportions, warner_estimate
    from sfumato.mine.answers.truthfulness import compare_truthfulness, simulate_truthfulness
    from sfumato.mine.baskets.itemsets import frequent_itemsets
    from sfumato.mine.baskets.pattern_files import read_itemsets, read_rules, save_itemsets, save_rules, write_itemsets
    from sfumato.mine.baskets.published_rules import individuals_behind, patterns_behind
    from sfumato.mine.baskets.rules import association_rules
    from sfumato.mine.codes.decoded_tree import decode_tree, tree_rules
    from sfumato.mine.codes.encoded_items import decode_itemsets, filter_requests, mine_filters
    from sfumato.mine.codes.tree_files import read_tree, write_tree
    from sfumato.mine.noise.reconstruction import Reconstruction, binned_em, channel_of, reconstruct_distribution
    from sfumato.mine.noise.tree_on_noise import TreeOnNoise, train_tree_on_noise
    from sfumato.mine.patterns.channels import inference_channels
    from sfumato.mine.patterns.derivability import forced_patterns, support_bounds
    from sfumato.public.noise_law import Noise, privacy_level

# Name → module, loaded on first use.
_HOME = {
    "association_rules": "baskets.rules",
    "decode_itemsets": "codes.encoded_items",
    "decode_tree": "codes.decoded_tree",
    "filter_requests": "codes.encoded_items",
    "mine_filters": "codes.encoded_items",
    "forced_patterns": "patterns.derivability",
    "frequent_itemsets": "baskets.itemsets",
    "individuals_behind": "baskets.published_rules",
    "inference_channels": "patterns.channels",
    "patterns_behind": "baskets.published_rules",
    "Noise": "sfumato.public.noise_law",
    "reconstruct_distribution": "noise.reconstruction",
    "Reconstruction": "noise.reconstruction",
    "binned_em": "noise.reconstruction",
    "channel_of": "noise.reconstruction",
    "privacy_level": "sfumato.public.noise_law",
    "estimate_proportions": "answers.proportions",
    "compare_truthfulness": "answers.truthfulness",
    "simulate_truthfulness": "answers.truthfulness",
    "estimate_joint": "answers.proportions",
    "warner_estimate": "answers.proportions",
    "train_tree_on_noise": "noise.tree_on_noise",
    "TreeOnNoise": "noise.tree_on_noise",
    "read_itemsets": "baskets.pattern_files",
    "read_rules": "baskets.pattern_files",
    "save_itemsets": "baskets.pattern_files",
    "save_rules": "baskets.pattern_files",
    "support_bounds": "patterns.derivability",
    "read_tree": "codes.tree_files",
    "tree_rules": "codes.decoded_tree",
    "write_tree": "codes.tree_files",
    "write_itemsets": "baskets.pattern_files",
}

__all__ = [
    "AdversarialRule",
    "Noise",
    "Reconstruction",
    "TreeOnNoise",
    "adversarial_rules",
    "association_rules",
    "binned_em",
    "channel_of",
    "compare_truthfulness",
    "decode_itemsets",
    "decode_tree",
    "estimate_joint",
    "estimate_proportions",
    "filter_requests",
    "forced_patterns",
    "frequent_itemsets",
    "individuals_behind",
    "inference_channels",
    "mine_filters",
    "patterns_behind",
    "privacy_level",
    "read_itemsets",
    "read_rules",
    "read_tree",
    "reconstruct_distribution",
    "save_itemsets",
    "save_rules",
    "simulate_truthfulness",
    "support_bounds",
    "train_tree_on_noise",
    "tree_rules",
    "warner_estimate",
    "write_itemsets",
    "write_tree",
]

__getattr__ = fetching(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
