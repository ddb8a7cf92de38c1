# SPDX-License-Identifier: MIT
"""Methods that protect, one module each, and the models that classes of people must satisfy."""

from sfumato.protect.explain import Why, explain
from sfumato.protect.generalize import Generalize, minimal_nodes
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

METHODS: tuple[type[Method], ...] = (Generalize, Partition, KOptimize, Microaggregate)
"""Every method a policy can name."""

__all__ = [
    "METHODS",
    "MODELS",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "Generalize",
    "KAnonymity",
    "KMap",
    "KOptimize",
    "LDiversity",
    "Method",
    "Microaggregate",
    "Partition",
    "PrivacyModel",
    "TCloseness",
    "Why",
    "explain",
    "minimal_nodes",
]
