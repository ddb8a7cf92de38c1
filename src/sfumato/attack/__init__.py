# SPDX-License-Identifier: MIT
"""Attacks, one module each."""

from sfumato.attack.attack import Attack, Outcome, wilson
from sfumato.attack.background import BackgroundKnowledge
from sfumato.attack.composition import Composition
from sfumato.attack.homogeneity import Homogeneity
from sfumato.attack.inference import Inference
from sfumato.attack.linkability import Linkability
from sfumato.attack.linking import Linking, Links, linked
from sfumato.attack.minimality import Minimality
from sfumato.attack.similarity import Similarity
from sfumato.attack.singling_out import SinglingOut

ATTACKS: tuple[type[Attack], ...] = (
    Linking,
    Homogeneity,
    Similarity,
    BackgroundKnowledge,
    Minimality,
    Composition,
    SinglingOut,
    Linkability,
    Inference,
)
"""Every attack a policy can name."""

__all__ = [
    "ATTACKS",
    "Attack",
    "BackgroundKnowledge",
    "Composition",
    "Homogeneity",
    "Inference",
    "Linkability",
    "Linking",
    "Links",
    "Minimality",
    "Outcome",
    "Similarity",
    "SinglingOut",
    "linked",
    "wilson",
]
