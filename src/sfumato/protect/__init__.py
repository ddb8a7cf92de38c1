# SPDX-License-Identifier: MIT
"""Methods that protect, one module each, and the models that classes of people must satisfy.

A method that a policy can name has its line in `_METHODS`, anything else in `_HOME`; then `__all__`, and the typing
block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

# At once, because the module has the function's name and would be found in its place; it loads nothing.
from sfumato.protect.explain import Why, explain

if TYPE_CHECKING:
    from sfumato.protect.add_noise import AddNoise
    from sfumato.protect.encode_bloom import EncodeBloom
    from sfumato.protect.encode_for_trees import EncodeForTrees
    from sfumato.protect.encode_items import EncodeItems
    from sfumato.protect.generalize import Generalize, minimal_nodes
    from sfumato.protect.hide_items import HideItems
    from sfumato.protect.hide_rules import HideRules
    from sfumato.protect.k_optimize import KOptimize
    from sfumato.protect.method import Method
    from sfumato.protect.microaggregate import Microaggregate
    from sfumato.protect.model import PrivacyModel
    from sfumato.protect.models import (
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
    from sfumato.protect.partition import Partition
    from sfumato.protect.publish_patterns import PublishPatterns
    from sfumato.protect.randomize_response import RandomizeResponse
    from sfumato.protect.suppress_entries import SuppressEntries
    from sfumato.protect.swap_confidential import SwapConfidential
    from sfumato.protect.synthesize import Synthesize

    METHODS: tuple[type[Method], ...]
    """Every method a policy can name."""

# Name → module. Modules are loaded on first use: each one builds its models, and most jobs need one or two.
_METHODS = {
    "Generalize": "generalize",
    "Partition": "partition",
    "KOptimize": "k_optimize",
    "Microaggregate": "microaggregate",
    "SuppressEntries": "suppress_entries",
    "SwapConfidential": "swap_confidential",
    "AddNoise": "add_noise",
    "RandomizeResponse": "randomize_response",
    "Synthesize": "synthesize",
    "EncodeForTrees": "encode_for_trees",
    "EncodeItems": "encode_items",
    "EncodeBloom": "encode_bloom",
    "HideItems": "hide_items",
    "HideRules": "hide_rules",
    "PublishPatterns": "publish_patterns",
}
_HOME = {
    **_METHODS,
    "MODELS": "models",
    "AlphaKAnonymity": "models",
    "BetaLikeness": "models",
    "DeltaDisclosure": "models",
    "DeltaPresence": "models",
    "KAnonymity": "models",
    "KMap": "models",
    "LDiversity": "models",
    "TCloseness": "models",
    "Method": "method",
    "PrivacyModel": "model",
    "minimal_nodes": "generalize",
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
