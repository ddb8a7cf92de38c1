# SPDX-License-Identifier: MIT
"""Methods that protect, one module each, and the models that classes of people must satisfy.

A method that a policy can name has its line in `_METHODS`, anything else in `_HOME`; then `__all__`, and the typing
block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

# At once, because the module has the function's name and would be found in its place; it loads nothing.
from sfumato.protect.anonymity.explain import Why, explain

if TYPE_CHECKING:
    from sfumato.protect.anonymity.generalize import Generalize, minimal_nodes
    from sfumato.protect.anonymity.k_optimize import KOptimize
    from sfumato.protect.anonymity.microaggregate import Microaggregate
    from sfumato.protect.anonymity.model import PrivacyModel
    from sfumato.protect.anonymity.models import (
        MODELS,
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        KAnonymity,
        KMap,
        LDiversity,
        TCloseness,
    )
    from sfumato.protect.anonymity.partition import Partition
    from sfumato.protect.answers.randomize_response import RandomizeResponse
    from sfumato.protect.baskets.hide_items import HideItems
    from sfumato.protect.baskets.hide_rules import HideRules
    from sfumato.protect.codes.encode_bloom import EncodeBloom
    from sfumato.protect.codes.encode_for_trees import EncodeForTrees
    from sfumato.protect.codes.encode_items import EncodeItems
    from sfumato.protect.entries.suppress_entries import SuppressEntries
    from sfumato.protect.method import Method
    from sfumato.protect.noise.add_noise import AddNoise
    from sfumato.protect.patterns.publish_patterns import PublishPatterns
    from sfumato.protect.swapping.swap_confidential import SwapConfidential
    from sfumato.protect.synthesis.synthesize import Synthesize

    METHODS: tuple[type[Method], ...]
    """Every method a policy can name."""

# Name → module. Modules are loaded on first use: each one builds its models, and most jobs need one or two.
_METHODS = {
    "Generalize": "anonymity.generalize",
    "Partition": "anonymity.partition",
    "KOptimize": "anonymity.k_optimize",
    "Microaggregate": "anonymity.microaggregate",
    "SuppressEntries": "entries.suppress_entries",
    "SwapConfidential": "swapping.swap_confidential",
    "AddNoise": "noise.add_noise",
    "RandomizeResponse": "answers.randomize_response",
    "Synthesize": "synthesis.synthesize",
    "EncodeForTrees": "codes.encode_for_trees",
    "EncodeItems": "codes.encode_items",
    "EncodeBloom": "codes.encode_bloom",
    "HideItems": "baskets.hide_items",
    "HideRules": "baskets.hide_rules",
    "PublishPatterns": "patterns.publish_patterns",
}
_HOME = {
    **_METHODS,
    "MODELS": "anonymity.models",
    "AlphaKAnonymity": "anonymity.models",
    "BetaLikeness": "anonymity.models",
    "DeltaDisclosure": "anonymity.models",
    "DeltaPresence": "anonymity.models",
    "KAnonymity": "anonymity.models",
    "KMap": "anonymity.models",
    "LDiversity": "anonymity.models",
    "TCloseness": "anonymity.models",
    "Method": "method",
    "PrivacyModel": "anonymity.model",
    "minimal_nodes": "anonymity.generalize",
}

__all__ = [
    "METHODS",
    "MODELS",
    "AddNoise",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "EncodeBloom",
    "EncodeForTrees",
    "EncodeItems",
    "Generalize",
    "HideItems",
    "HideRules",
    "KAnonymity",
    "KMap",
    "KOptimize",
    "LDiversity",
    "Method",
    "Microaggregate",
    "Partition",
    "PrivacyModel",
    "PublishPatterns",
    "RandomizeResponse",
    "SuppressEntries",
    "SwapConfidential",
    "Synthesize",
    "TCloseness",
    "Why",
    "explain",
    "minimal_nodes",
]

__getattr__ = fetching(__name__, _HOME, {"METHODS": _METHODS})


def __dir__() -> list[str]:
    return sorted(__all__)
