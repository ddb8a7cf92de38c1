# SPDX-License-Identifier: MIT
"""Methods that protect, one module each, and the models that classes of people must satisfy."""

from sfumato.protect.generalize import Generalize, minimal_nodes
from sfumato.protect.method import Method
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

METHODS: tuple[type[Method], ...] = (Generalize,)
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
    "LDiversity",
    "Method",
    "PrivacyModel",
    "TCloseness",
    "minimal_nodes",
]
