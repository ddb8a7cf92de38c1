# SPDX-License-Identifier: MIT
"""What an analyst or an adversary does with data: find rules and patterns in it, plain functions each.

A function has its line in `_HOME` and `__all__`, and in the typing block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

# At once, because the module has the function's name and would be found in its place; it loads no kernel.
from sfumato.mine.adversarial_rules import AdversarialRule, adversarial_rules

if TYPE_CHECKING:
    from sfumato.mine.channels import inference_channels
    from sfumato.mine.decoded_tree import decode_tree, tree_rules
    from sfumato.mine.derivability import forced_patterns, support_bounds
    from sfumato.mine.encoded_items import decode_itemsets, filter_requests, mine_filters
    from sfumato.mine.itemsets import frequent_itemsets
    from sfumato.mine.noises import Noise, privacy_level
    from sfumato.mine.pattern_files import read_itemsets, read_rules, save_itemsets, save_rules, write_itemsets
    from sfumato.mine.proportions import estimate_joint, estimate_proportions, warner_estimate
    from sfumato.mine.published_rules import individuals_behind, patterns_behind
    from sfumato.mine.reconstruction import Reconstruction, binned_em, channel_of, reconstruct_distribution
    from sfumato.mine.rules import association_rules
    from sfumato.mine.tree_files import read_tree, write_tree
    from sfumato.mine.tree_on_noise import TreeOnNoise, train_tree_on_noise
    from sfumato.mine.truthfulness import compare_truthfulness, simulate_truthfulness

# Name → module, loaded on first use.
_HOME = {
    "association_rules": "rules",
    "decode_itemsets": "encoded_items",
    "decode_tree": "decoded_tree",
    "filter_requests": "encoded_items",
    "mine_filters": "encoded_items",
    "forced_patterns": "derivability",
    "frequent_itemsets": "itemsets",
    "individuals_behind": "published_rules",
    "inference_channels": "channels",
    "patterns_behind": "published_rules",
    "Noise": "noises",
    "reconstruct_distribution": "reconstruction",
    "Reconstruction": "reconstruction",
    "binned_em": "reconstruction",
    "channel_of": "reconstruction",
    "privacy_level": "noises",
    "estimate_proportions": "proportions",
    "compare_truthfulness": "truthfulness",
    "simulate_truthfulness": "truthfulness",
    "estimate_joint": "proportions",
    "warner_estimate": "proportions",
    "train_tree_on_noise": "tree_on_noise",
    "TreeOnNoise": "tree_on_noise",
    "read_itemsets": "pattern_files",
    "read_rules": "pattern_files",
    "save_itemsets": "pattern_files",
    "save_rules": "pattern_files",
    "support_bounds": "derivability",
    "read_tree": "tree_files",
    "tree_rules": "decoded_tree",
    "write_tree": "tree_files",
    "write_itemsets": "pattern_files",
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
